/*
 * Kernels written by hand that update an operand in place.
 *
 * In: a launch of a kernel with @inout parameters. In the language its operand
 * is a value like any other, which others may read. Out: the same launch, each
 * such operand a value whose bytes may be written over: made in this block, or
 * a carry of the loop of this block, and read by nothing behind the launch.
 * Else a launch ahead of it copies.
 *
 *   y = bump(x);            ->   x__1 = copy(x); y = bump(x__1);
 *   t = exp(y); u = bump(t);     stays
 */
#include "passes/lower.h"

#include "ir/view.h"

/* The op of `block` that is `op` or holds it. */
static const struct tn_op *in_block(const struct tn_op *op,
				    const struct tn_block *block)
{
	while (op && op->block != block)
		op = op->block->parent;
	return op;
}

/* One that is left holds its parts, or is them. */
static bool is_concat(const struct tn_op *op)
{
	return tn_ops[op->code].srule == TN_SRULE_CONCAT;
}

/* True if the use of `value` is over when `op` runs: it stands ahead of it and
 * gives no other name to the bytes. What stands ahead has a lower number
 * (tn_lower_number_ops), or 0 if it was made since. */
static bool is_over(const struct tn_use *use, const struct tn_op *op)
{
	const struct tn_op *reader = in_block(use->op, op->block);
	int64_t offset;

	return reader && reader != op && reader->number < op->number &&
		!tn_view_of(use->op, &offset) && !is_concat(use->op);
}

/* True if nothing but operand `use` of `op` still reads the value. */
static bool is_last(const struct tn_value *value, const struct tn_op *op,
		    const struct tn_use *use)
{
	const struct tn_use *other;

	for (other = value->uses; other; other = other->next)
		if (other != use && !is_over(other, op))
			return false;
	return true;
}

/* A carry of the loop whose body is the block; not the index of a `for`, and
 * not in the condition of a `while`, whose body reads it. */
static bool is_carry(const struct tn_value *value, const struct tn_block *block)
{
	const struct tn_op *loop = block->parent;

	if (value->block != block || !loop)
		return false;
	return loop->code == TN_OP_for ? value->index > 0 :
	       loop->code == TN_OP_while && loop->regions[1] == block;
}

/* True if operand k of the launch may be written over. */
static bool may_update(const struct tn_op *launch, int k)
{
	const struct tn_op *op = launch;
	const struct tn_value *value;
	int64_t offset;
	int from = k;

	for (;;) {
		value = op->in[from].value;
		if (!is_last(value, launch, &op->in[from]))
			return false;
		op = value->op;
		if (!op)
			return is_carry(value, launch->block);
		if (op->block != launch->block || is_concat(op))
			return false;
		from = tn_view_of(op, &offset) ? 0 :
			tn_view_updated(op, value->index);
		if (from < 0)
			return !tn_op_has(op->code, TN_FLAG_LITERAL);
	}
}

void tn_lower_number_ops(struct tn_block *block)
{
	struct tn_op *op;
	int number = 0;

	for (op = block->first; op; op = op->next)
		op->number = ++number;
}

bool tn_lower_updates(struct tn_lower *lw, struct tn_op *launch)
{
	int r, k;

	for (r = 0; r < launch->nout; r++) {
		struct tn_value *copy;

		k = tn_view_updated(launch, r);
		if (k < 0 || may_update(launch, k))
			continue;
		copy = tn_lower_copy(lw, tn_graph_in(launch, k),
				     tn_graph_in(launch, k)->layout, launch);
		if (!copy)
			return false;
		tn_rw_set_operand(lw->rw, launch, k, copy);
	}
	return true;
}
