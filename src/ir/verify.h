/*
 * The verifier: collects every fault of a module, and what each property
 * promises. Faults are our bugs, so it returns text, not diagnostics.
 */
#ifndef TN_IR_VERIFY_H
#define TN_IR_VERIFY_H

#include "ir/graph.h"

/* Checks structure (links, definitions before uses, types as inferred, names
 * unique, regions closed) and the properties in `props`. Appends one line a
 * fault; returns true if there was none. */
bool tn_verify_module(const struct tn_module *module, unsigned props,
		      struct tn_buf *faults);

#endif
