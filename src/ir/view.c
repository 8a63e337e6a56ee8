/*
 * Views: which ops move nothing; see view.h.
 */
#include "ir/view.h"

#include "base/num.h"
#include "ir/kernel.h"
#include "ir/layout.h"

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

static struct tn_layout_part part_at(const struct tn_layout *layout, int i)
{
	struct tn_layout_part part = { i, TN_LAYOUT_WHOLE, 1 };

	return layout ? layout->parts[i] : part;
}

/* The extent of a physical axis that is all taken, a constant. */
static bool whole_extent(const struct tn_op *op, struct tn_layout_part part,
			 int64_t *extent)
{
	const struct tn_dim *dim = tn_graph_in(op, 0)->type->dims[part.axis];

	if (!takes_all(op, part.axis) || !tn_dim_is_const(dim))
		return false;
	*extent = part.piece == TN_LAYOUT_LANE ? part.n : dim->value / part.n;
	return true;
}

/* Along the physical axes: a stretch of the first, and all of those behind. */
static bool slice_view(const struct tn_op *op, int64_t *offset)
{
	const struct tn_value *in = tn_graph_in(op, 0);
	const struct tn_layout *layout = in->layout;
	const struct tn_attr *start = tn_graph_attr(op, "start");
	int64_t bytes = tn_dtype_bytes(in->type->dtype), extent;
	int n = layout ? layout->nparts : in->type->rank;
	int i, first = 0;

	if (!has_unit_steps(op) || op->out[0]->layout != layout)
		return false;
	while (first + 1 < n &&
	       whole_extent(op, part_at(layout, first), &extent) && extent == 1)
		first++;
	for (i = first + 1; i < n; i++)
		if (!whole_extent(op, part_at(layout, i), &extent) ||
		    !tn_num_mul(bytes, extent, &bytes))
			return false;
	i = part_at(layout, first).axis;
	return part_at(layout, first).piece == TN_LAYOUT_WHOLE &&
		tn_dim_is_const(start->u.dims[i]) &&
		tn_num_mul(bytes, start->u.dims[i]->value, offset);
}

/* Axes of one element are counted out: the number of an axis among the rest. */
static int compact(const struct tn_type *type, int axis)
{
	int i, n = 0;

	for (i = 0; i < axis; i++)
		n += !tn_dim_is(type->dims[i], 1);
	return n;
}

static bool same_sizes(const struct tn_type *a, const struct tn_type *b)
{
	int i, k = 0;

	for (i = 0; i < a->rank; i++) {
		if (tn_dim_is(a->dims[i], 1))
			continue;
		while (k < b->rank && tn_dim_is(b->dims[k], 1))
			k++;
		if (k == b->rank || a->dims[i] != b->dims[k++])
			return false;
	}
	while (k < b->rank && tn_dim_is(b->dims[k], 1))
		k++;
	return k == b->rank;
}

/* Row-major on both sides, or only axes of one element come and go. */
static bool reshape_view(const struct tn_value *in, const struct tn_value *out)
{
	struct tn_layout_part a[TN_MAX_RANK], b[TN_MAX_RANK];
	int i, n;

	if (tn_layout_same(in->type, in->layout, NULL) &&
	    tn_layout_same(out->type, out->layout, NULL))
		return true;
	n = tn_layout_parts(in->layout, in->type, a);
	if (tn_layout_parts(out->layout, out->type, b) != n ||
	    !same_sizes(in->type, out->type))
		return false;
	for (i = 0; i < n; i++) {
		a[i].axis = compact(in->type, a[i].axis);
		b[i].axis = compact(out->type, b[i].axis);
		if (!tn_layout_part_same(&a[i], &b[i]))
			return false;
	}
	return true;
}

/* The layouts differ by just what the axes are exchanged by. */
static bool transpose_view(const struct tn_op *op)
{
	const struct tn_value *in = tn_graph_in(op, 0), *out = op->out[0];
	struct tn_layout_part a[TN_MAX_RANK], b[TN_MAX_RANK];
	int i, n;

	n = tn_layout_parts(in->layout, in->type, a);
	if (tn_layout_parts(out->layout, out->type, b) != n)
		return false;
	for (i = 0; i < n; i++) {
		b[i].axis = tn_view_axis(op, b[i].axis);
		if (!tn_layout_part_same(&a[i], &b[i]))
			return false;
	}
	return true;
}

int tn_view_axis(const struct tn_op *transpose, int axis)
{
	const struct tn_attr *perm = tn_graph_attr(transpose, "perm");

	if (!perm || !perm->is_set || perm->count == 0)
		return transpose->out[0]->type->rank - 1 - axis;
	return (int)perm->u.ints[axis];
}

bool tn_view_of(const struct tn_op *op, int64_t *offset)
{
	*offset = 0;
	switch ((int)tn_ops[op->code].srule) {
	case TN_SRULE_RESHAPE:
		return reshape_view(tn_graph_in(op, 0), op->out[0]);
	case TN_SRULE_TRANSPOSE:
		return transpose_view(op);
	case TN_SRULE_SLICE:
		return tn_graph_in(op, 0)->type->rank > 0 &&
			slice_view(op, offset);
	default:
		return false;
	}
}

/* ---- Concatenations --------------------------------------------------- */

/* Bytes of a type of constant sizes; 0: it has others, or none. */
static int64_t fixed_bytes(const struct tn_type *type)
{
	int64_t bytes = tn_type_is_static(type) ?
		tn_type_max_bytes(NULL, type) : 0;

	return bytes > 0 ? bytes : 0;
}

static int64_t concat_axis(const struct tn_op *op)
{
	return tn_graph_attr(op, "axis")->u.i;
}

bool tn_view_is_joined(const struct tn_op *op)
{
	struct tn_layout_part parts[TN_MAX_RANK];
	const struct tn_value *in, *out;
	int i;

	if (tn_ops[op->code].srule != TN_SRULE_CONCAT || op->nin < 2 ||
	    op->nin > TN_VIEW_PARTS)
		return false;
	out = op->out[0];
	if (fixed_bytes(out->type) == 0 ||
	    tn_layout_parts(out->layout, out->type, parts) == 0 ||
	    parts[0].axis != concat_axis(op) ||
	    parts[0].piece == TN_LAYOUT_LANE)
		return false;
	for (i = 0; i < op->nin; i++) {
		in = tn_graph_in(op, i);
		if (fixed_bytes(in->type) == 0 ||
		    in->type->dims[parts[0].axis]->value % parts[0].n ||
		    !tn_layout_same(in->type, in->layout, out->layout))
			return false;
	}
	return true;
}

int64_t tn_view_part_bytes(const struct tn_op *concat, int k)
{
	return fixed_bytes(tn_graph_in(concat, k)->type);
}

struct tn_value *tn_view_part(const struct tn_op *concat, int k)
{
	struct tn_value *value = tn_graph_in(concat, k);
	int64_t offset;

	while (value->op && tn_ops[value->op->code].srule != TN_SRULE_SLICE &&
	       tn_view_of(value->op, &offset))
		value = tn_graph_in(value->op, 0);
	if (!value->op || value->op->block != concat->block)
		return NULL;
	if (value->op->code == TN_OP_launch)
		return tn_view_updated(value->op, value->index) < 0 ? value :
			NULL;
	return tn_view_is_joined(value->op) ? value : NULL;
}

/* ---- Updates ---------------------------------------------------------- */

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
