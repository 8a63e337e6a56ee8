/*
 * dce: what nothing reads is dropped.
 *
 * Operators are visited from the last to the first, so one sweep removes
 * whole chains. Effects, terminators and operators that set a run-time size
 * stay; so does what may raise the sticky flag only if it is read, since the
 * flag reports results that were used.
 */
#include "passes/pass.h"

static void note_size(void *data, const struct tn_dim *sym)
{
	bool *has = data;

	*has = *has || sym->sym->is_runtime;
}

/* A launch that only raises, or whose result has a size that it sets. */
static bool is_needed_launch(const struct tn_op *op)
{
	bool sets = op->nout == 0;
	int i, k;

	for (i = 0; i < op->nout; i++)
		for (k = 0; k < op->out[i]->type->rank; k++)
			tn_dim_each_sym(op->out[i]->type->dims[k], note_size,
					&sets);
	return sets;
}

static bool is_effect(const struct tn_op *op)
{
	if (op->code == TN_OP_launch)
		return is_needed_launch(op);
	return tn_op_has(op->code, TN_FLAG_EFFECT | TN_FLAG_SIZES);
}

static bool is_needed(const struct tn_op *op)
{
	int i;

	if (is_effect(op))
		return true;
	if (op->code == TN_OP_yield || op->code == TN_OP_return)
		return true;
	for (i = 0; i < op->nout; i++)
		if (op->out[i]->uses)
			return true;
	return false;
}

/* A region with an effect or a run-time size inside keeps its operator. */
static bool has_effect(void *data, struct tn_op *op)
{
	(void)data;
	return !is_effect(op);
}

static bool keeps_effects(const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nregions; i++)
		if (!tn_pass_walk(op->regions[i], has_effect, NULL))
			return true;
	return false;
}

static bool sweep(struct tn_rw *rw, struct tn_block *block)
{
	struct tn_op *op, *prev;
	bool changed = false;
	int i;

	for (op = block->last; op; op = prev) {
		prev = op->prev;
		if (is_needed(op) || keeps_effects(op)) {
			for (i = 0; i < op->nregions; i++)
				changed |= sweep(rw, op->regions[i]);
			continue;
		}
		if (!tn_rw_spend(rw, "dce", op))
			continue;
		tn_rw_erase(rw, op);
		changed = true;
	}
	return changed;
}

enum tn_pass_result tn_pass_dce(struct tn_pass_context *context)
{
	return sweep(context->rw, context->entry->body) ? TN_PASS_CHANGED :
		TN_PASS_SAME;
}
