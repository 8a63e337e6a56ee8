/*
 * Handlers of losses.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* The loss of each target, of log-probabilities with classes on axis 1, and
 * what it weighs. What is ignored weighs nothing. */
static bool each_loss(struct tn_onnx *n, struct tn_value *logs,
		      struct tn_value **out)
{
	struct tn_value *target = tn_onnx_in(n, 1), *valid, *at, *weight;
	bool ignores = tn_onnx_attr(n, "ignore_index") != NULL;
	int64_t ignored = tn_onnx_int(n, "ignore_index", 0);

	if (!target || !logs)
		return false;
	valid = ignores ? tn_onnx_text(n, "%v != %i", target, ignored) : NULL;
	at = valid ? tn_onnx_text(n, "select(%v, %v, 0)", valid, target) :
		target;
	weight = tn_onnx_has(n, 2) ?
		tn_onnx_text(n, "gather(%v, %v, axis=0)", tn_onnx_in(n, 2),
			     at) :
		tn_onnx_text(n, "ones(%D, elem=%t)", target->type->rank,
			     target->type->dims, logs->type->dtype);
	if (weight && valid)
		weight = tn_onnx_text(n, "select(%v, %v, 0)", valid, weight);
	out[1] = weight;
	out[0] = weight ? tn_onnx_text(n, "-squeeze(take_along(%v, "
		"expand_dims(%v, axes=[1]), axis=1), axes=[1]) * %v", logs, at,
		weight) : NULL;
	return out[0] != NULL;
}

/* Losses of a batch are many: in f32 their sum would lose three digits. */
static void give_loss(struct tn_onnx *n, struct tn_value *logs)
{
	const char *how = tn_onnx_string(n, "reduction", "mean");
	struct tn_value *each[2];

	if (!each_loss(n, logs, each))
		return;
	if (!strcmp(how, "none"))
		tn_onnx_give(n, 0, each[0]);
	else if (!strcmp(how, "sum"))
		tn_onnx_is(n, "cast(sum(cast(%v, f64)), %t)", each[0],
			   logs->type->dtype);
	else
		tn_onnx_is(n, "cast(sum(cast(%v, f64)) / sum(cast(%v, f64)), "
			   "%t)", each[0], each[1], logs->type->dtype);
}

void tn_onnx_do_nll_loss(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);

	if (x && x->type->rank >= 2)
		give_loss(n, x);
	else if (x)
		tn_onnx_report(n, TN_E1012, "an operand of %d axes",
			       x->type->rank);
}

void tn_onnx_do_cross_entropy_loss(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *logs;

	if (!x)
		return;
	logs = tn_onnx_text(n, "logsoftmax(%v, axis=1)", x);
	if (!logs)
		return;
	give_loss(n, logs);
	tn_onnx_give(n, 1, logs);
}
