/* The row of the interpreter in the table of back ends. */
#include "backends/backend.h"

static const struct tn_target target = {
	.backend = &tn_backend_ref, .name = "ref", .isa = ""
};

static const struct tn_target *const targets[] = { &target, NULL };

static void describe(const struct tn_target *which, struct tn_buf *out)
{
	(void)which;
	tn_buf_put(out, "the interpreter");
}

const struct tn_backend tn_backend_ref = {
	.name = "ref", .stage = TN_STAGE_TEXT, .is_interpreter = true,
	.has_weights = true, .targets = targets, .describe = describe
};
