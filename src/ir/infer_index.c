/* Shape rules of lookups, scatters, order and data-dependent sizes. */
#include "ir/infer_rules.h"

static const char *const combines[] = {
	"set", "add", "mul", "max", "min", NULL
};

TN_INFER_RULE(gather)
{
	const struct tn_type *data = tn_infer_in(inf, 0);
	const struct tn_type *index = tn_infer_in(inf, 1);
	int axis;

	return tn_infer_axis(inf, "axis", data->rank, &axis) &&
	       tn_infer_push_axes(inf, data, 0, axis) &&
	       tn_infer_push_axes(inf, index, 0, index->rank) &&
	       tn_infer_push_axes(inf, data, axis + 1, data->rank) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

/* Length of the index tuples: the last size of operand 1. */
static bool tuple_length(struct tn_infer *inf, int *length)
{
	const struct tn_type *data = tn_infer_in(inf, 0);
	const struct tn_type *index = tn_infer_in(inf, 1);
	const struct tn_dim *last;

	if (!tn_infer_rank_min(inf, 1, 1))
		return false;
	last = index->dims[index->rank - 1];
	if (!tn_dim_is_const(last) || last->value > data->rank)
		return tn_infer_fail(inf, TN_E0310, "the last axis of the "
				     "indices of '%s' must be a constant of "
				     "at most %d, not %s", inf->info->name,
				     data->rank, tn_infer_dim_text(inf, last));
	*length = (int)last->value;
	return true;
}

TN_INFER_RULE(gather_nd)
{
	const struct tn_type *data = tn_infer_in(inf, 0);
	const struct tn_type *index = tn_infer_in(inf, 1);
	int length;

	return tuple_length(inf, &length) &&
	       tn_infer_push_axes(inf, index, 0, index->rank - 1) &&
	       tn_infer_push_axes(inf, data, length, data->rank) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

/* Operand 1 is like operand 0 but along the axis. */
static bool check_along(struct tn_infer *inf)
{
	const struct tn_type *data = tn_infer_in(inf, 0);
	const struct tn_type *index = tn_infer_in(inf, 1);
	int axis, i;

	if (!tn_infer_axis(inf, "axis", data->rank, &axis) ||
	    !tn_infer_rank(inf, 1, data->rank))
		return false;
	for (i = 0; i < data->rank; i++) {
		if (i != axis && !tn_infer_match(inf, data->dims[i],
						 index->dims[i], "", i))
			return false;
	}
	return true;
}

TN_INFER_RULE(take_along)
{
	const struct tn_type *index = tn_infer_in(inf, 1);

	return check_along(inf) &&
	       tn_infer_push_axes(inf, index, 0, index->rank) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

/* Operand 2 has the shape collected in inf->dims. */
static bool check_update(struct tn_infer *inf)
{
	const struct tn_type *update = tn_infer_in(inf, 2);
	int i;

	if (!tn_infer_rank(inf, 2, inf->rank))
		return false;
	for (i = 0; i < inf->rank; i++) {
		if (!tn_infer_match(inf, inf->dims[i], update->dims[i],
				    "updates, ", i))
			return false;
	}
	return true;
}

static bool like_first(struct tn_infer *inf)
{
	const struct tn_type *data = tn_infer_in(inf, 0);

	inf->rank = 0;
	return tn_infer_word(inf, "combine", combines) &&
	       tn_infer_push_axes(inf, data, 0, data->rank) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

static bool check_bool_combine(struct tn_infer *inf)
{
	const char *combine = tn_infer_attr(inf, "combine")->u.s;

	if (inf->dtype != TN_bool || combine[0] == 's')
		return true;
	return tn_infer_fail(inf, TN_E0302, "'%s' can only \"set\" bools",
			     inf->info->name);
}

TN_INFER_RULE(scatter)
{
	const struct tn_type *data = tn_infer_in(inf, 0);
	const struct tn_type *index = tn_infer_in(inf, 1);
	int axis;

	return tn_infer_axis(inf, "axis", data->rank, &axis) &&
	       tn_infer_push_axes(inf, data, 0, axis) &&
	       tn_infer_push_axes(inf, index, 0, index->rank) &&
	       tn_infer_push_axes(inf, data, axis + 1, data->rank) &&
	       check_update(inf) && like_first(inf) &&
	       check_bool_combine(inf);
}

TN_INFER_RULE(scatter_nd)
{
	const struct tn_type *data = tn_infer_in(inf, 0);
	const struct tn_type *index = tn_infer_in(inf, 1);
	int length;

	return tuple_length(inf, &length) &&
	       tn_infer_push_axes(inf, index, 0, index->rank - 1) &&
	       tn_infer_push_axes(inf, data, length, data->rank) &&
	       check_update(inf) && like_first(inf) &&
	       check_bool_combine(inf);
}

TN_INFER_RULE(scatter_along)
{
	const struct tn_type *index = tn_infer_in(inf, 1);

	return check_along(inf) &&
	       tn_infer_push_axes(inf, index, 0, index->rank) &&
	       check_update(inf) && like_first(inf) &&
	       check_bool_combine(inf);
}

TN_INFER_RULE(topk)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	const struct tn_dim *k = tn_infer_attr(inf, "k")->u.dim;
	const struct tn_dim *zero = tn_infer_const(inf, 0);
	enum tn_dtype values = type->dtype;
	int axis;

	if (!tn_infer_axis(inf, "axis", type->rank, &axis) ||
	    !tn_infer_made(inf, k) || !tn_infer_made(inf, zero))
		return false;
	if (!tn_infer_le(inf, zero, k) ||
	    !tn_infer_le(inf, k, type->dims[axis]))
		return tn_infer_fail(inf, TN_E0505, "k=%s of 'topk' is not in "
				     "[0, %s], the size of the axis",
				     tn_infer_dim_text(inf, k),
				     tn_infer_dim_text(inf, type->dims[axis]));
	if (inf->op->nout != 2)
		return tn_infer_fail(inf, TN_E0501, "'topk' gives 2 results");
	return tn_infer_push_axes(inf, type, 0, axis) &&
	       tn_infer_push(inf, k) &&
	       tn_infer_push_axes(inf, type, axis + 1, type->rank) &&
	       tn_infer_index_type(inf) &&
	       tn_infer_result(inf, 0, values) &&
	       tn_infer_result(inf, 1, inf->dtype);
}

/* The declared type names the size; it must hold every element. */
TN_INFER_RULE(nonzero)
{
	const struct tn_type *have = inf->op->out[0]->type;
	const struct tn_type *type = tn_infer_in(inf, 0);
	const struct tn_dim *size;
	struct tn_diag *diag;

	if (!tn_infer_rank(inf, 0, 1))
		return false;
	if (have && !tn_type_is_poison(have) && have->rank == 1) {
		size = have->dims[0];
		if (have->dtype != inf->dtype)
			return tn_infer_fail(inf, TN_E0301, "'nonzero' gives "
					     "%s, not %s",
					     tn_dtype_name(inf->dtype),
					     tn_dtype_name(have->dtype));
		if (size->kind == TN_DIM_SYM && size->sym->is_runtime)
			return true;
	}
	diag = tn_infer_report(inf, TN_E0324, "the size of the result of "
			       "'nonzero' is known at run time only");
	tn_diag_help(inf->module->sink, diag, "declare it: "
		     "dim Z in [0, %s]; i: %s[Z] = nonzero(..);",
		     tn_infer_dim_text(inf, type->dims[0]),
		     tn_dtype_name(inf->dtype));
	return false;
}
