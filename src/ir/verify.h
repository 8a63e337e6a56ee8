/*
 * The verifier: collects every fault of a module, and what each property
 * promises. Faults are our bugs, so it returns text, not diagnostics.
 */
#ifndef TN_IR_VERIFY_H
#define TN_IR_VERIFY_H

#include "base/status.h"
#include "ir/graph.h"

struct tn_kbuf;

/* Checks structure (links, definitions before uses, types as inferred, names
 * unique, regions closed) and the properties in `props`. Appends one line a
 * fault; returns true if there was none. */
bool tn_verify_module(const struct tn_module *module, unsigned props,
		      struct tn_buf *faults);
/* The same, but what goes beyond TYPED and FUSED is asked of `entry` alone:
 * passes leave other functions as they are. TN_BUG: faults; TN_IO: out of
 * memory. */
enum tn_status tn_verify_entry(const struct tn_module *module,
			       const struct tn_fn *entry, unsigned props,
			       struct tn_buf *faults);
/* The property PLACED of a function of sound structure: runs it in the abstract
 * and appends one line for each fault: a read of bytes that another value
 * took, a place outside the arena. True if there is none; false without a
 * line: out of memory. */
bool tn_verify_placed(const struct tn_fn *fn, struct tn_buf *faults);
/* True if the kernel computes the same when `out`, a result, is written over
 * the bytes of `in`, an operand: proved from its text. */
bool tn_verify_inplace(const struct tn_kernel *kernel,
		       const struct tn_kbuf *in, const struct tn_kbuf *out);

#endif
