/*
 * Surely read operators, found from the last of a function to the first: a
 * reader comes before what it reads, an operator before its regions.
 */
#include "driver/reads.h"

void tn_reads_init(struct tn_reads *reads)
{
	tn_map_init_ptr(&reads->sure);
	reads->failed = false;
}

void tn_reads_fini(struct tn_reads *reads)
{
	tn_map_fini(&reads->sure);
}

static bool is_read(const struct tn_reads *reads, const struct tn_op *op)
{
	const struct tn_use *use;
	int i;

	if (tn_op_has(op->code, TN_FLAG_EFFECT | TN_FLAG_SIZES) ||
	    op->nout == 0)
		return true;
	for (i = 0; i < op->nout; i++)
		for (use = op->out[i]->uses; use; use = use->next)
			if (tn_map_has(&reads->sure, use->op) &&
			    (use->index == 0 ||
			     !tn_op_has(use->op->code, TN_FLAG_LAZY)))
				return true;
	return false;
}

static bool is_above_zero(const struct tn_dim *dim)
{
	int64_t lo, hi;

	tn_dim_bounds(dim, &lo, &hi);
	return lo > 0;
}

/* Whether region i runs whenever its operator does: a loop may have no turns,
 * and of branches one is taken. */
static bool runs(const struct tn_op *op, int i)
{
	struct tn_dim_pool *pool = &op->block->fn->module->dims;
	const struct tn_dim *from, *to;
	const struct tn_type *type;
	int64_t carries, axis;

	switch ((int)op->code) {
	case TN_OP_if:
		return false;
	case TN_OP_while:
		return i == 0;
	case TN_OP_for:
		from = tn_graph_attr(op, "from")->u.dim;
		to = tn_graph_attr(op, "to")->u.dim;
		return tn_dim_proves_le(pool, tn_dim_add(pool, from,
					tn_dim_const(pool, 1)), to);
	case TN_OP_scan:
		carries = tn_graph_attr(op, "carries")->u.i;
		axis = tn_graph_attr(op, "axis")->u.i;
		type = carries < op->nin ?
			tn_graph_in(op, (int)carries)->type : NULL;
		return type && is_above_zero(type->dims[axis]);
	default:
		return true;
	}
}

/* The ends of a region are read if its operator is, and runs it. */
static void mark(struct tn_reads *reads, const struct tn_block *block,
		 bool outer)
{
	const struct tn_op *op;
	bool sure;
	int i;

	for (op = block->last; op; op = op->prev) {
		sure = op == block->last ? outer : is_read(reads, op);
		if (sure && !tn_map_set(&reads->sure, op, reads))
			reads->failed = true;
		for (i = 0; i < op->nregions; i++)
			mark(reads, op->regions[i], sure && runs(op, i));
	}
}

bool tn_reads_is_sure(struct tn_reads *reads, const struct tn_op *op)
{
	const struct tn_fn *fn = op->block->fn;

	if (!tn_map_has(&reads->sure, fn)) {
		mark(reads, fn->body, true);
		if (!tn_map_set(&reads->sure, fn, reads))
			reads->failed = true;
	}
	return tn_map_has(&reads->sure, op);
}
