/*
 * What is known when a program is built; see fixed.h.
 */
#include "ir/fixed.h"

/* True if the attribute means the same for all values of the dims. */
static bool is_static_attr(const struct tn_attr *attr)
{
	int i;

	if (!attr->is_set)
		return true;
	if (attr->kind == TN_ATTR_DIM)
		return tn_dim_is_const(attr->u.dim);
	if (attr->kind != TN_ATTR_DIMS && attr->kind != TN_ATTR_PAIRS)
		return true;
	for (i = 0; i < attr->count; i++)
		if (!tn_dim_is_const(attr->u.dims[i]))
			return false;
	return true;
}

bool tn_fixed_sizes(const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nout; i++)
		if (!tn_type_is_static(op->out[i]->type))
			return false;
	for (i = 0; i < op->nattrs; i++)
		if (!is_static_attr(&op->attrs[i]))
			return false;
	return true;
}

bool tn_fixed_op(const struct tn_op *op)
{
	return tn_ops[op->code].op_class != TN_CLASS_FLOW && op->nout == 1 &&
		!tn_op_has(op->code, TN_FLAG_EFFECT | TN_FLAG_SIZES |
			   TN_FLAG_RANDOM | TN_FLAG_RAISES) &&
		!op->annots.count && !op->out[0]->annots.count &&
		tn_fixed_sizes(op);
}

bool tn_fixed_is_weight(const struct tn_value *value)
{
	return !value->op && !value->block;
}

bool tn_fixed_value(const struct tn_value *value)
{
	const struct tn_value *list[TN_FIXED_WALK] = { value };
	int count = 1, at, i, k;

	for (at = 0; at < count; at++) {
		const struct tn_op *op = list[at]->op;

		if (tn_fixed_is_weight(list[at]))
			continue;
		if (!op || !tn_fixed_op(op))
			return false;
		for (i = 0; i < op->nin; i++) {
			for (k = 0; k < count; k++)
				if (list[k] == tn_graph_in(op, i))
					break;
			if (k == TN_FIXED_WALK)
				return false;
			if (k == count)
				list[count++] = tn_graph_in(op, i);
		}
	}
	return true;
}
