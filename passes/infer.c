/*
 * infer: types and shapes of every value of the entry again.
 *
 * The builder has typed everything already; this proves it, after text that
 * was edited by hand or by a pass of somebody else.
 */
#include "passes/pass.h"

#include "ir/infer.h"

enum tn_pass_result tn_pass_infer(struct tn_pass_context *context)
{
	return tn_infer_fn(context->entry) ? TN_PASS_SAME : TN_PASS_FAILED;
}
