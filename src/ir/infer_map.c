/* Shape rules of maps, running and plain reductions. */
#include "ir/infer_rules.h"

/* Right-aligned; a literal 1 stretches. */
TN_INFER_RULE(bcast)
{
	int rank = 0;
	int i, at;

	for (i = 0; i < inf->op->nin; i++) {
		if (tn_infer_in(inf, i)->rank > rank)
			rank = tn_infer_in(inf, i)->rank;
	}
	inf->rank = rank;
	for (at = 0; at < rank; at++)
		inf->dims[at] = NULL;
	for (i = 0; i < inf->op->nin; i++) {
		const struct tn_type *type = tn_infer_in(inf, i);
		int shift = rank - type->rank;

		for (at = shift; at < rank; at++) {
			const struct tn_dim *dim = type->dims[at - shift];

			if (!inf->dims[at])
				inf->dims[at] = dim;
			else if (!tn_infer_stretch(inf, &inf->dims[at], dim,
						   rank - 1 - at))
				return false;
		}
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

/* As operand 0, along one axis. */
TN_INFER_RULE(same)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	int axis;

	return tn_infer_axis(inf, "axis", type->rank, &axis) &&
	       tn_infer_push_axes(inf, type, 0, type->rank) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

static bool push_reduced(struct tn_infer *inf, const struct tn_type *type,
			 const bool *gone, bool keep)
{
	const struct tn_dim *one = tn_infer_const(inf, 1);
	int i;

	for (i = 0; i < type->rank; i++) {
		if (gone[i] && !keep)
			continue;
		if (!tn_infer_push(inf, gone[i] ? one : type->dims[i]))
			return false;
	}
	return true;
}

TN_INFER_RULE(reduce)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	bool gone[TN_MAX_RANK] = { false };
	const struct tn_attr *axes;
	int i;

	if (!tn_infer_axes(inf, "axes", type->rank))
		return false;
	axes = tn_infer_attr(inf, "axes");
	for (i = 0; i < axes->count; i++)
		gone[axes->u.ints[i]] = true;
	return push_reduced(inf, type, gone, tn_infer_attr(inf, "keep")->u.b) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

static bool check_some(struct tn_infer *inf, int axis,
		       const struct tn_dim *dim)
{
	const struct tn_dim *one = tn_infer_const(inf, 1);
	struct tn_diag *diag;

	if (!tn_infer_made(inf, one))
		return false;
	if (tn_infer_le(inf, one, dim))
		return true;
	diag = tn_infer_report(inf, TN_E0328, "'%s' of nothing: axis %d has "
			       "size %s", inf->info->name, axis,
			       tn_infer_dim_text(inf, dim));
	tn_diag_help(inf->module->sink, diag, "nothing has no place to name: "
		     "give the axis an element, or take reduce_max or "
		     "reduce_min, which have a value for nothing");
	return false;
}

TN_INFER_RULE(argreduce)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	bool gone[TN_MAX_RANK] = { false };
	int axis;

	if (!tn_infer_axis(inf, "axis", type->rank, &axis) ||
	    !check_some(inf, axis, type->dims[axis]))
		return false;
	gone[axis] = true;
	return push_reduced(inf, type, gone, tn_infer_attr(inf, "keep")->u.b) &&
	       tn_infer_result(inf, 0, inf->dtype);
}
