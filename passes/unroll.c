/*
 * unroll: loops with few constant turns are written out.
 *
 *   x = with (h = x0) for i in 0..2 { yield f(h, i); };
 *     ->  h__1 = f(x0, 0);  x = f(h__1, 1);
 *
 * A loop over layers becomes straight-line code whose equal kernels are
 * emitted once. Loops with more than `limit` turns (64) stay loops, and so do
 * those that would take the function past a fixed number of operators.
 */
#include "passes/pass.h"

#include "base/num.h"

/* Operators that all copies may have together. */
#define MAX_COPIED (1 << 17)

struct unroller {
	struct tn_pass_context *context;
	int64_t limit;
	int64_t copied;
	bool changed;
};

static bool turns(const struct tn_op *op, int64_t *from, int64_t *to)
{
	const struct tn_dim *a = tn_graph_attr(op, "from")->u.dim;
	const struct tn_dim *b = tn_graph_attr(op, "to")->u.dim;

	if (!tn_dim_is_const(a) || !tn_dim_is_const(b))
		return false;
	*from = a->value;
	*to = b->value;
	return true;
}

/* True if `turns` copies of the body leave the function of bearable size. */
static bool is_affordable(struct unroller *u, const struct tn_op *op,
			  int64_t turns)
{
	int64_t size;

	if (turns > u->limit) {
		tn_rw_miss(u->context->rw, "unroll", op, NULL,
			   "it has %lld turns; the limit is %lld",
			   (long long)turns, (long long)u->limit);
		return false;
	}
	if (turns <= 0)
		return true;
	size = 1 + tn_pass_count(op->regions[0]);
	if (size > (MAX_COPIED - u->copied) / turns) {
		tn_rw_miss(u->context->rw, "unroll", op, NULL,
			   "%lld turns of %lld operators would take the "
			   "copies of all loops past %d operators",
			   (long long)turns, (long long)size, MAX_COPIED);
		return false;
	}
	u->copied += size * turns;
	return true;
}

/* One turn: a copy of the body before the loop; carries move on. */
static bool one_turn(struct unroller *u, struct tn_op *op, int64_t index,
		     struct tn_value **carries)
{
	struct tn_rw *rw = u->context->rw;
	const struct tn_block *body = op->regions[0];
	struct tn_builder builder;
	struct tn_value *number;
	struct tn_map map;
	struct tn_op *end;
	bool good;
	int i;

	tn_rw_before(rw, op, &builder);
	number = tn_build_scalar_i64(&builder, TN_i64, index, op->span);
	tn_map_init_ptr(&map);
	good = number && tn_map_set(&map, body->params[0], number);
	for (i = 0; good && i < op->nin; i++)
		good = tn_map_set(&map, body->params[i + 1], carries[i]);
	good = good && tn_rw_clone(rw, body, op->block, op, &map, NULL);
	tn_map_fini(&map);
	if (!good)
		return false;
	end = op->prev;
	for (i = 0; i < op->nin; i++) {
		carries[i] = tn_graph_in(end, i);
		tn_rw_name_like(rw, carries[i], op->out[i]);
	}
	tn_rw_erase(rw, end);
	return !rw->failed;
}

static bool unroll_loop(struct unroller *u, struct tn_op *op)
{
	struct tn_rw *rw = u->context->rw;
	struct tn_value **carries;
	int64_t from, to, count, i;
	int k;

	if (!turns(op, &from, &to) || !tn_num_sub(to, from, &count)) {
		tn_rw_miss(rw, "unroll", op, NULL,
			   "how many turns it has is known at run time only");
		return true;
	}
	if (!is_affordable(u, op, count))
		return true;
	if (!tn_rw_spend(rw, "unroll", op))
		return true;
	carries = tn_arena_array(&rw->module->arena, (size_t)op->nin + 1,
				 sizeof(*carries));
	if (!carries)
		return false;
	for (k = 0; k < op->nin; k++)
		carries[k] = tn_graph_in(op, k);
	for (i = from; i < to; i++)
		if (!one_turn(u, op, i, carries))
			return false;
	tn_rw_replace(rw, op, carries);
	u->changed = true;
	return !rw->failed;
}

/* Inner loops first, so that a copy is already straight. */
static bool unroll_block(struct unroller *u, struct tn_block *block)
{
	struct tn_op *op, *next;
	int i;

	for (op = block->first; op; op = next) {
		next = op->next;
		for (i = 0; i < op->nregions; i++)
			if (!unroll_block(u, op->regions[i]))
				return false;
		if (op->code == TN_OP_for && !unroll_loop(u, op))
			return false;
	}
	return true;
}

enum tn_pass_result tn_pass_unroll(struct tn_pass_context *context)
{
	struct unroller u = { .context = context };

	u.limit = tn_pass_option(context, "limit", 64);
	if (!unroll_block(&u, context->entry->body)) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return u.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
