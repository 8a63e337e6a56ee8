/*
 * dce: what nothing reads is dropped.
 *
 * Operators are visited from the last to the first, so one sweep removes
 * whole chains. Effects, terminators and operators that set a run-time size
 * stay; so does what may raise the sticky flag only if it is read, since the
 * flag reports results that were used.
 */
#include "passes/pass.h"

static bool sweep(struct tn_rw *rw, struct tn_block *block)
{
	struct tn_op *op, *prev;
	bool changed = false;
	int i;

	for (op = block->last; op; op = prev) {
		prev = op->prev;
		if (!tn_graph_is_dead(op)) {
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
