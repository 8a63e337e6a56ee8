/* Names of targets: "ref", "c:avx2", "cuda:sm_80". */
#ifndef TN_DRIVER_TARGET_H
#define TN_DRIVER_TARGET_H

#include "driver/context.h"
#include "ir/target.h"

/* The target that the settings name; BAD values are reported. */
enum tn_status tn_target_pick(struct tenon_context *context,
			      struct tn_target *out);
/* Whether this CPU runs code for the instruction set; if not, what it lacks. */
bool tn_target_runs(const char *isa, const char **lacks);
/* One line a target. */
void tn_target_list(struct tn_buf *out, bool json);

#endif
