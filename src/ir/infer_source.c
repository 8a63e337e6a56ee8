/* Shape rules of operators without operands. */
#include "ir/infer_rules.h"

#include <math.h>

TN_INFER_RULE(const)
{
	const struct tn_tensor *literal = inf->op->literal;
	int i;

	if (!literal)
		return tn_infer_fail(inf, TN_E0501, "'const' has no value");
	for (i = 0; i < literal->rank; i++) {
		if (!tn_infer_push(inf, tn_infer_const(inf,
						       literal->shape[i])))
			return false;
	}
	return tn_infer_result(inf, 0, literal->dtype);
}

TN_INFER_RULE(iota)
{
	int axis;

	return tn_infer_push_shape(inf) &&
	       tn_infer_axis(inf, "axis", inf->rank, &axis) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

TN_INFER_RULE(iota_shape)
{
	double lo = tn_infer_attr(inf, "lo")->u.f;
	double hi = tn_infer_attr(inf, "hi")->u.f;

	if (!(lo <= hi) || isinf(lo) || isinf(hi))
		return tn_infer_fail(inf, TN_E0505, "'%s' needs lo <= hi, "
				     "both finite", inf->info->name);
	return tn_infer_push_shape(inf) && tn_infer_result(inf, 0, inf->dtype);
}

TN_INFER_RULE(dim)
{
	return tn_infer_made(inf, tn_infer_attr(inf, "value")->u.dim) &&
	       tn_infer_result(inf, 0, inf->dtype);
}
