/* Names of targets: "ref", "c:avx2", "cuda:sm_80". */
#ifndef TN_DRIVER_TARGET_H
#define TN_DRIVER_TARGET_H

#include "driver/context.h"
#include "ir/target.h"

/* In place of a GPU's: CUDA code that runs on a CPU. */
#define TN_ISA_EMULATED "emulated"

/* The target that the settings name; BAD values are reported. */
enum tn_status tn_target_pick(struct tenon_context *context,
			      struct tn_target *out);
/* gpu.c: whether there is a GPU for the architecture "sm_NN"; if not, why. */
bool tn_target_has_gpu(const char *arch, struct tn_buf *why);
/* Whether this machine runs code of the target and instruction set; reports
 * if not, behind `subject`. TN_UNSUPPORTED. */
enum tn_status tn_target_check(struct tenon_context *context,
			       const char *target, const char *isa,
			       const char *subject);
/* One line a target. */
void tn_target_list(struct tn_buf *out, bool json);

#endif
