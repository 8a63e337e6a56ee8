/*
 * The handler of If: the branch that is certain, or both in blocks of their own.
 */
#include "importers/onnx/region.h"
#include "importers/onnx/table.h"
#include "ir/graph_edit.h"

/* The branch that is certain, in place. */
static void inlined(struct tn_onnx *n, const struct onnx_graph *graph)
{
	struct tn_region r;
	int i;

	if (tn_region_begin(&r, n, graph, n->scope->block) &&
	    tn_region_finish(&r))
		for (i = 0; i < n->nout && i < r.nouts; i++)
			n->out[i] = r.outs[i];
	tn_region_end(&r);
}

/* One of two branches: its results, and the tensors that they are made of. */
struct branch {
	struct tn_block *block;
	struct tn_onnx_value *outs[TN_REGION_MOST];
	int count;
	struct tn_value *values[TN_REGION_MOST];
};

/* The tensors of a branch's results. */
static bool tensors(struct tn_onnx *n, struct branch *b)
{
	struct tn_onnx_leaf leaves[TN_REGION_MOST];
	int i, k, more;

	for (i = 0; i < n->nout; i++) {
		more = tn_onnx_leaves(n->job, b->outs[i], "",
				      TN_REGION_MOST - b->count, leaves);
		if (more < 0) {
			tn_onnx_refuse(n, "result %d of a graph is no tensor",
				       i);
			return false;
		}
		for (k = 0; k < more; k++) {
			b->values[b->count] =
				tn_onnx_make(n->job, leaves[k].value);
			if (!b->values[b->count++])
				return false;
		}
	}
	return true;
}

static bool branch(struct tn_onnx *n, const struct onnx_graph *graph,
		   struct branch *b)
{
	struct tn_region r;
	bool ok;
	int i;

	b->count = 0;
	ok = tn_region_begin(&r, n, graph, tn_region_open(n)) &&
	     tn_region_finish(&r);
	b->block = r.block;
	if (ok && r.nouts != n->nout) {
		tn_onnx_report(n, TN_E1012, "%d results of a branch for %d",
			       r.nouts, n->nout);
		ok = false;
	}
	for (i = 0; ok && i < r.nouts; i++)
		b->outs[i] = r.outs[i];
	ok = ok && tensors(n, b) && tn_region_yield(&r, b->count, b->values, 0);
	tn_region_end(&r);
	return ok;
}

static bool same_types(struct tn_onnx *n, const struct branch *a,
		       const struct branch *b)
{
	bool same = a->count == b->count;
	int i;

	for (i = 0; same && i < n->nout; i++)
		same = tn_onnx_alike(a->outs[i], b->outs[i]);
	for (i = 0; same && i < a->count; i++)
		same = a->values[i]->type == b->values[i]->type;
	return same;
}

/* Operators that a condition on sizes is made of, at most. */
#define OF_SIZES 64

/* Whether the value is made of sizes and constants alone. */
static bool is_of_sizes(const struct tn_value *value)
{
	const struct tn_op *list[OF_SIZES];
	int count = 0, at, i, k;

	if (!value->op)
		return false;
	list[count++] = value->op;
	for (at = 0; at < count; at++) {
		const struct tn_op *op = list[at];

		if (op->nregions || op->code == TN_OP_call)
			return false;
		for (i = 0; i < op->nin; i++) {
			value = tn_graph_in(op, i);
			for (k = 0; k < count && list[k] != value->op; k++)
				;
			if (!value->op || count == OF_SIZES)
				return false;
			if (k == count)
				list[count++] = value->op;
		}
	}
	return true;
}

/* Whether results have as many axes as the model says of the node's; of some it
 * says nothing. */
static bool are_as_declared(struct tn_onnx *n, const struct branch *b)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int i, rank;

	for (i = 0; i < n->nout; i++)
		if (b->outs[i]->kind == ONNX_TENSOR &&
		    tn_onnx_declared(n->job,
				     tn_map_find(&n->scope->infos,
						 n->node->outputs.at[i]),
				     &dtype, &rank, dims) &&
		    rank != b->outs[i]->v->type->rank)
			return false;
	return true;
}

/*
 * Branches of different types on a condition that sizes alone tell: exporters
 * write so what takes away an axis if its size is 1. No result has both types;
 * the one that is declared is meant, or else the first, and an assert holds the
 * sizes against it.
 */
static void assumed(struct tn_onnx *n, struct tn_value *condition,
		    const struct onnx_graph *yes, const struct onnx_graph *no,
		    const struct branch *b)
{
	bool first = are_as_declared(n, &b[0]) || !are_as_declared(n, &b[1]);

	tn_onnx_text(n,
		     "assert(%v == %s, message=\"the sizes take the other "
		     "branch, whose result has another type\"); return true",
		     condition, first ? "true" : "false");
	if (!n->failed)
		inlined(n, first ? yes : no);
}

/* Both branches in blocks of their own. */
static void chosen(struct tn_onnx *n, struct tn_value *condition,
		   const struct onnx_graph *yes, const struct onnx_graph *no)
{
	struct tn_value *const *next;
	struct tn_block *blocks[2];
	struct branch b[2];
	struct tn_op *op;
	int i;

	if (!branch(n, yes, &b[0]) || !branch(n, no, &b[1]))
		return;
	if (!same_types(n, &b[0], &b[1])) {
		if (is_of_sizes(condition))
			assumed(n, condition, yes, no, b);
		else
			tn_onnx_refuse(n, "branches of different types");
		tn_region_drop(b[0].block);
		tn_region_drop(b[1].block);
		return;
	}
	blocks[0] = b[0].block;
	blocks[1] = b[1].block;
	op = tn_region_op(n, TN_OP_if, &(struct tn_region_in){1, &condition}, 2,
			  blocks, b[0].count);
	if (!op || !tn_region_infer(n, op, 0, NULL))
		return;
	next = op->out;
	for (i = 0; i < n->nout; i++) {
		n->out[i] = tn_onnx_rebuild(n->job, b[0].outs[i], &next);
		n->failed |= !n->out[i];
	}
}

void tn_onnx_do_if(struct tn_onnx *n)
{
	const struct onnx_graph *yes = tn_region_graph(n, "then_branch");
	const struct onnx_graph *no = tn_region_graph(n, "else_branch");
	struct tn_value *condition = tn_onnx_in(n, 0);
	int64_t known;
	int count;

	if (!yes || !no || !condition)
		return;
	if (tn_onnx_ints(n, 0, 1, &known, &count) && count == 1) {
		inlined(n, known ? yes : no);
		return;
	}
	if (condition->type->rank)
		condition = tn_onnx_text(n, "reshape(%v, [])", condition);
	if (condition)
		chosen(n, condition, yes, no);
}
