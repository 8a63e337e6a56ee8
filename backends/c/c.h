/*
 * The C back end: a lowered, placed entry as C11 text that is C++ too.
 *
 * In: launches, constants, views, flow (see backends/README.md). Out: a
 * folder of files: NAME.h, NAME.c, NAME_main.c, Makefile, README and, if the
 * entry uses weights or constants, NAME.weights. The same input gives the
 * same bytes on every run and host.
 */
#ifndef TN_BACKENDS_C_H
#define TN_BACKENDS_C_H

#include "backends/emission.h"
#include "base/status.h"
#include "ir/graph.h"
#include "ir/target.h"

/* Emits `entry` under `name` (any text; made an identifier). Reports to the
 * module's sink. `out` is fresh memory; tn_emission_fini is due in any case.
 * TN_UNSUPPORTED, TN_BAD_INPUT (a weight without data), TN_IO (memory). */
enum tn_status tn_emit_c(const struct tn_module *module,
			 const struct tn_fn *entry, const char *name,
			 const struct tn_target *target,
			 struct tn_emission *out);

/* Targets: "avx512", "avx2", "sse2", "neon", "generic"; NULL, "",
 * "native": what this computer has. NULL: no such instruction set. Static. */
const struct tn_target *tn_target_c(const char *isa);
/* Whether this CPU runs code for the instruction set; if not, what it lacks. */
bool tn_target_c_runs(const char *isa, const char **lacks);
/* Flags for gcc and clang that choose the target's instruction set, as words
 * separated by blanks; "" for generic. */
const char *tn_target_c_flags(const struct tn_target *target);
/* All targets, ends with NULL. */
extern const struct tn_target *const tn_targets_c[];

#endif
