/*
 * Views: which ops move nothing; see view.h.
 */
#include "ir/view.h"

#include "base/num.h"
#include "ir/kernel.h"

static bool takes_all(const struct tn_op *op, int axis)
{
	const struct tn_attr *start = tn_graph_attr(op, "start");
	const struct tn_attr *stop = tn_graph_attr(op, "stop");

	return tn_dim_is(start->u.dims[axis], 0) &&
		stop->u.dims[axis] ==
		tn_graph_in(op, 0)->type->dims[axis];
}

static bool has_unit_steps(const struct tn_op *op)
{
	const struct tn_attr *step = tn_graph_attr(op, "step");
	int i;

	for (i = 0; step->is_set && i < step->count; i++)
		if (step->u.ints[i] != 1)
			return false;
	return true;
}

static bool slice_view(const struct tn_op *op, int64_t *offset)
{
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	const struct tn_attr *start = tn_graph_attr(op, "start");
	int64_t bytes = tn_dtype_bytes(type->dtype);
	int i, axis = 0;

	if (!has_unit_steps(op))
		return false;
	while (axis + 1 < type->rank && tn_dim_is(type->dims[axis], 1) &&
	       takes_all(op, axis))
		axis++;
	if (!tn_dim_is_const(start->u.dims[axis]))
		return false;
	for (i = axis + 1; i < type->rank; i++)
		if (!takes_all(op, i) || !tn_dim_is_const(type->dims[i]) ||
		    !tn_num_mul(bytes, type->dims[i]->value, &bytes))
			return false;
	return tn_num_mul(bytes, start->u.dims[axis]->value, offset);
}

bool tn_view_of(const struct tn_op *op, int64_t *offset)
{
	*offset = 0;
	if (op->code == TN_OP_reshape)
		return true;
	return op->code == TN_OP_slice &&
		tn_graph_in(op, 0)->type->rank > 0 && slice_view(op, offset);
}

int tn_view_updated(const struct tn_op *op, int result)
{
	const struct tn_kernel *kernel = op->kernel;
	int i, in = 0, out = 0;

	for (i = 0; op->code == TN_OP_launch && i < kernel->nparams; i++) {
		enum tn_kbuf_role role = kernel->params[i]->role;

		if (role != TN_KBUF_IN && out++ == result)
			return role == TN_KBUF_INOUT ? in : -1;
		in += role != TN_KBUF_OUT;
	}
	return -1;
}

const struct tn_value *tn_place_root(const struct tn_value *value,
				     int64_t *offset)
{
	*offset = 0;
	while (value->place.kind == TN_PLACE_ALIAS) {
		*offset += value->place.offset;
		value = value->place.alias;
	}
	return value;
}
