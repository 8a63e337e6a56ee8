/* Names of targets: "ref", "c:avx2", "cuda:sm_80". */
#ifndef TN_DRIVER_TARGET_H
#define TN_DRIVER_TARGET_H

#include "backends/backend.h"
#include "driver/context.h"

/* Back end `i` from 0, those of plug-ins last; NULL: no more. */
const struct tn_backend *tn_target_backend(const struct tenon_context *context,
					   int i);
/* The target of the interpreter. */
const struct tn_target *tn_target_interpreter(void);
/* The target that the settings name; BAD values are reported. */
enum tn_status tn_target_pick(struct tenon_context *context,
			      struct tn_target *out);
/* Whether this machine runs code of the target and instruction set; reports
 * if not, behind `subject`. TN_UNSUPPORTED. */
enum tn_status tn_target_check(struct tenon_context *context,
			       const char *target, const char *isa,
			       const char *subject);
/* One line a target. */
void tn_target_list(const struct tenon_context *context, struct tn_buf *out,
		    bool json);

#endif
