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

/* The ends of a region are read if its operator is. */
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
			mark(reads, op->regions[i], sure);
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
