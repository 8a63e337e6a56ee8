/*
 * canonical: one form of what can be written in several.
 *
 *   add(2.0, x)                    ->  add(x, 2.0)
 *   transpose(x, perm=[0, 1])      ->  x
 *   reshape(reshape(x, a), b)      ->  reshape(x, b)
 *   gather(w, 3)                   ->  reshape(slice(w, 3..4))
 *
 * Operands of commuting operators come in order of definition, constants
 * last. Movements that move nothing go; a lookup at a constant index in range
 * becomes a slice, which is a view of the same bytes.
 */
#include "passes/pass.h"

struct canonical {
	struct tn_rw *rw;
	int count;		/* numbers values in order */
	bool changed;
};

static bool is_const(const struct tn_value *value)
{
	return value->op && value->op->code == TN_OP_const;
}

static void number_op(struct canonical *c, const struct tn_op *op)
{
	int i, k;

	for (i = 0; i < op->nout; i++)
		op->out[i]->number = c->count++;
	for (k = 0; k < op->nregions; k++)
		for (i = 0; i < op->regions[k]->nparams; i++)
			op->regions[k]->params[i]->number = c->count++;
}

/* Weights, then parameters, before all results. */
static void number_outer(struct canonical *c, const struct tn_fn *entry)
{
	const struct tn_vec *weights = &c->rw->module->weights;
	const struct tn_weight *weight;
	size_t i;
	int k;

	for (i = 0; i < weights->len; i++) {
		weight = tn_vec_ptr(weights, i);
		if (weight->value)
			weight->value->number = c->count++;
	}
	for (k = 0; k < entry->body->nparams; k++)
		entry->body->params[k]->number = c->count++;
}

/* In order of definition, constants last. */
static int64_t rank_of(const struct tn_value *value)
{
	return value->number + (is_const(value) ? (int64_t)1 << 40 : 0);
}

static void order_operands(struct canonical *c, struct tn_op *op)
{
	struct tn_value *a, *b;

	if (!tn_op_has(op->code, TN_FLAG_COMMUTES) || op->nin != 2)
		return;
	a = tn_graph_in(op, 0);
	b = tn_graph_in(op, 1);
	if (rank_of(a) <= rank_of(b) || !tn_rw_spend(c->rw, "order", op))
		return;
	tn_rw_set_operand(c->rw, op, 0, b);
	tn_rw_set_operand(c->rw, op, 1, a);
	c->changed = true;
}

static bool is_identity_perm(const struct tn_op *op)
{
	const struct tn_attr *perm = tn_graph_attr(op, "perm");
	int i;

	for (i = 0; perm && i < perm->count; i++)
		if (perm->u.ints[i] != i)
			return false;
	return true;
}

static bool has_unit_steps(const struct tn_op *op)
{
	const struct tn_attr *step = tn_graph_attr(op, "step");
	int i;

	for (i = 0; step && step->is_set && i < step->count; i++)
		if (step->u.ints[i] != 1)
			return false;
	return true;
}

/* A movement whose result is its operand. */
static bool moves_nothing(const struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];

	if (!(info->flags & TN_FLAG_STILL) ||
	    op->out[0]->type != tn_graph_in(op, 0)->type)
		return false;
	return has_unit_steps(op) && is_identity_perm(op) &&
		(op->nin == 1 || info->nin_max > 0);
}

static void replace(struct canonical *c, struct tn_op *op,
		    struct tn_value *with)
{
	tn_rw_replace(c->rw, op, &with);
	c->changed = true;
}

static void merge_reshapes(struct canonical *c, struct tn_op *op)
{
	struct tn_value *value = tn_graph_in(op, 0);

	if (!value->op || value->op->code != TN_OP_reshape ||
	    !tn_rw_spend(c->rw, "merge-reshape", op))
		return;
	tn_rw_set_operand(c->rw, op, 0, tn_graph_in(value->op, 0));
	c->changed = true;
}

/* The constant index of a gather, if it is one and in range. */
static bool constant_index(const struct tn_op *op, int64_t axis,
			   int64_t *index)
{
	const struct tn_value *value = tn_graph_in(op, 1);
	const struct tn_dim *extent = tn_graph_in(op, 0)->type->dims[axis];

	if (!is_const(value) || value->type->rank != 0 ||
	    !tn_dim_is_const(extent))
		return false;
	*index = tn_tensor_get_i64(value->op->literal, 0);
	return *index >= 0 && *index < extent->value;
}

static bool gather_to_slice(struct canonical *c, struct tn_op *op)
{
	struct tn_dim_pool *dims = &c->rw->module->dims;
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	int64_t axis = tn_graph_attr(op, "axis")->u.i, index;
	struct tn_attr attrs[2];
	struct tn_builder builder;
	struct tn_value *in, *view;
	struct tn_op *slice;
	int i;

	if (!constant_index(op, axis, &index) ||
	    !tn_rw_spend(c->rw, "gather-to-slice", op))
		return true;
	for (i = 0; i < type->rank; i++) {
		start[i] = tn_dim_const(dims, i == axis ? index : 0);
		stop[i] = i == axis ? tn_dim_const(dims, index + 1) :
			type->dims[i];
		if (!start[i] || !stop[i])
			return false;
	}
	tn_rw_before(c->rw, op, &builder);
	attrs[0] = tn_attr_dims("start", type->rank, start);
	attrs[1] = tn_attr_dims("stop", type->rank, stop);
	in = tn_graph_in(op, 0);
	slice = tn_build_op(&builder, TN_OP_slice, 1, &in, 2, attrs,
			    op->span);
	if (!slice)
		return false;
	number_op(c, slice);
	view = tn_build_reshape(&builder, slice->out[0],
				op->out[0]->type->rank,
				op->out[0]->type->dims, op->span);
	if (!view)
		return false;
	if (view != slice->out[0])
		number_op(c, view->op);
	replace(c, op, view);
	return true;
}

static bool visit(void *data, struct tn_op *op)
{
	struct canonical *c = data;

	number_op(c, op);
	order_operands(c, op);
	if (op->code == TN_OP_reshape)
		merge_reshapes(c, op);
	if (op->code == TN_OP_gather)
		return gather_to_slice(c, op);
	if (moves_nothing(op) && tn_rw_spend(c->rw, "identity", op))
		replace(c, op, tn_graph_in(op, 0));
	return true;
}

enum tn_pass_result tn_pass_canonical(struct tn_pass_context *context)
{
	struct canonical c = { .rw = context->rw };

	number_outer(&c, context->entry);
	if (!tn_pass_walk(context->entry->body, visit, &c)) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return c.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
