/*
 * layout{seed=N}: layouts at random, to test what reads and writes them.
 *
 * Any layout gives the same values, so a function must compute the same bits
 * with any of them on its inner values, constants and weights. The order comes
 * from the seed and the values in the order of the text alone.
 */
#include "passes/layout.h"

#include "base/random.h"

struct dice {
	struct tn_pass_context *context;
	uint64_t state;
	bool failed;
};

static int below(struct dice *dice, int n)
{
	return (int)(tn_random(&dice->state) % (uint64_t)n);
}

/* An axis is cut in two pieces, which go to places of their own. */
static int cut(struct dice *dice, struct tn_layout_part *parts, int n)
{
	static const int64_t sizes[] = { 2, 3, 4, 8 };
	int at = below(dice, n), to, i;

	parts[at].piece = TN_LAYOUT_BLOCK;
	parts[at].n = sizes[below(dice, 4)];
	to = below(dice, n + 1);
	for (i = n; i > to; i--)
		parts[i] = parts[i - 1];
	at += at >= to;
	parts[to] = parts[at];
	parts[to].piece = TN_LAYOUT_LANE;
	return n + 1;
}

static const struct tn_layout *draw(struct dice *dice,
				    const struct tn_type *type, bool is_cut)
{
	struct tn_layout_part parts[TN_MAX_RANK + 1], part;
	int i, k, n = type->rank;

	for (i = 0; i < n; i++)
		parts[i] = (struct tn_layout_part){ i, TN_LAYOUT_WHOLE, 1 };
	for (i = n - 1; i > 0; i--) {
		k = below(dice, i + 1);
		part = parts[i];
		parts[i] = parts[k];
		parts[k] = part;
	}
	if (is_cut && n < TN_MAX_RANK)
		n = cut(dice, parts, n);
	return tn_layout_get(dice->context->module, type->rank, n, parts);
}

static void set(struct dice *dice, struct tn_value *value,
		const struct tn_op *op)
{
	struct tn_module *module = dice->context->module;
	const struct tn_layout *layout;
	int tries = 4;

	if (value->layout || value->type->rank == 0 ||
	    value->type->dtype == TN_ENCODED || below(dice, 4) == 0)
		return;
	do
		layout = draw(dice, value->type, tries > 1);
	while (layout && tn_layout_misfit(module, layout, value->type) &&
	       --tries > 0);
	if (!layout)
		dice->failed = true;
	else if (!tn_layout_misfit(module, layout, value->type) &&
		 tn_rw_spend(dice->context->rw, "layout", op))
		tn_rw_set_layout(dice->context->rw, value, layout);
}

/* What a group keeps in a buffer of its own has an order, too. */
static void set_inner(struct dice *dice, const struct tn_block *body)
{
	const struct tn_op *op;
	int i;

	for (op = body->first; op; op = op->next)
		for (i = 0; i < op->nout && !dice->failed; i++)
			set(dice, op->out[i], op);
}

/* Results, and what comes from outside the function: a weight. */
static bool visit(void *data, struct tn_op *op)
{
	struct dice *dice = data;
	struct tn_value *value;
	int i;

	for (i = 0; i < op->nin && !dice->failed; i++) {
		value = tn_graph_in(op, i);
		if (!value->op && !value->block && op->code != TN_OP_launch)
			set(dice, value, op);
	}
	for (i = 0; i < op->nout && !dice->failed; i++)
		if (op->code != TN_OP_launch)
			set(dice, op->out[i], op);
	if (op->code == TN_OP_call)
		set_inner(dice, op->callee->body);
	return !dice->failed;
}

enum tn_pass_result tn_layout_random(struct tn_pass_context *context,
				     int64_t seed)
{
	uint64_t epoch = context->module->epoch;
	struct dice dice = { .context = context, .state = (uint64_t)seed };

	tn_pass_walk(context->entry->body, visit, &dice);
	if (dice.failed) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return context->module->epoch == epoch ? TN_PASS_SAME :
		TN_PASS_CHANGED;
}
