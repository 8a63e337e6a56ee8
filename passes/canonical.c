/*
 * canonical: one order of what may stand in several.
 *
 *   add(2.0, x)   ->   add(x, 2.0)
 *   mul(y, x)     ->   mul(x, y)
 *
 * Operands of commuting operators come in order of definition: weights,
 * parameters, results; constants last. So equal operators look alike.
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

static bool visit(void *data, struct tn_op *op)
{
	struct canonical *c = data;

	number_op(c, op);
	order_operands(c, op);
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
