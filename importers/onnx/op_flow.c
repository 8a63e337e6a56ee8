/*
 * Handlers of graphs in graphs: If, Loop, Scan.
 */
#include <string.h>

#include "importers/onnx/table.h"
#include "ir/graph_edit.h"
#include "ir/infer.h"

/* Carries, inputs and results of a loop. */
#define MOST 64
/* A loop over what has no type of ours is written out so far. */
#define TURNS 64

/* ---- Regions --------------------------------------------------------------------- */

/* A graph at work in a block of its own. */
struct region {
	struct tn_onnx *n;
	const struct onnx_graph *graph;
	struct tn_onnx_scope scope;
	struct tn_block *block;
	int nouts;
	struct tn_onnx_value *outs[MOST];
};

static const struct onnx_graph *graph_of(struct tn_onnx *n, const char *name)
{
	const struct onnx_attr *attr = tn_onnx_attr(n, name);

	if (attr && attr->g)
		return attr->g;
	tn_onnx_report(n, TN_E1012, "graph '%s' is missing", name);
	return NULL;
}

/* A block that is not the body: its parent is set when the op is made. */
static struct tn_block *open_block(struct tn_onnx *n)
{
	struct tn_op *place = tn_graph_op(n->job->fn, TN_OP_yield, 0, NULL, 0,
					  n->span);

	return place ? tn_graph_block(n->job->fn, place) : NULL;
}

/* Begins in `block`; the caller binds the inputs. */
static bool begin(struct region *r, struct tn_onnx *n,
		  const struct onnx_graph *graph, struct tn_block *block)
{
	memset(r, 0, sizeof(*r));
	r->n = n;
	r->graph = graph;
	r->block = block;
	if (!block || n->job->depth >= ONNX_DEPTH || graph->outputs.len > MOST ||
	    graph->inputs.len > MOST) {
		tn_onnx_refuse(n, "graphs nested too deeply, or too wide");
		return false;
	}
	n->job->depth++;
	tn_onnx_scope_init(n->job, &r->scope, n->scope, block);
	return tn_onnx_enter(n->job, &r->scope, graph);
}

static bool give_input(struct region *r, size_t i, struct tn_onnx_value *value)
{
	const char *name = i < r->graph->inputs.len ?
		r->graph->inputs.at[i].name : NULL;

	return !name || !name[0] ||
	       tn_onnx_bind(r->n->job, &r->scope, name, value);
}

static bool give_value(struct region *r, size_t i, struct tn_value *v)
{
	struct tn_onnx_value *value = tn_onnx_new(r->n->job, ONNX_TENSOR,
						  NULL);

	if (!value || !v)
		return false;
	value->v = v;
	return give_input(r, i, value);
}

/* A parameter of the block for input i. */
static struct tn_value *param(struct region *r, size_t i,
			      const struct tn_type *type)
{
	const char *name = i < r->graph->inputs.len ?
		r->graph->inputs.at[i].name : NULL;
	struct tn_value *v;

	v = tn_graph_param(r->block, name && name[0] ? name : "carry", type);
	return v && give_value(r, i, v) ? v : NULL;
}

/* Runs the nodes; the results are found by name. */
static bool finish(struct region *r)
{
	struct tn_onnx_job *job = r->n->job;
	size_t i;

	tn_onnx_nodes(job, &r->scope, &r->graph->nodes);
	for (i = 0; i < r->graph->outputs.len; i++) {
		const char *name = r->graph->outputs.at[i].name;

		r->outs[i] = tn_onnx_find(&r->scope, name ? name : "");
		if (!r->outs[i])
			tn_onnx_report(r->n, TN_E1006, "nothing gives '%s'",
				       name ? name : "");
		if (!r->outs[i] || r->outs[i]->kind == ONNX_POISON)
			r->n->failed = true;
	}
	r->nouts = (int)r->graph->outputs.len;
	return !r->n->failed;
}

static void end(struct region *r)
{
	tn_onnx_scope_fini(&r->scope);
	r->n->job->depth--;
}

static struct tn_value *out_value(struct region *r, int i)
{
	struct tn_onnx_value *value = i < r->nouts ? r->outs[i] : NULL;

	if (value && value->kind == ONNX_TENSOR)
		return tn_onnx_make(r->n->job, value);
	tn_onnx_refuse(r->n, "result %d of a graph is no tensor", i);
	return NULL;
}

static bool yield(struct region *r, int count, struct tn_value *const *values,
		  int nemits)
{
	struct tn_attr attr = tn_attr_int("emits", nemits);
	struct tn_builder b;

	tn_builder_init(&b, r->block);
	return tn_build_op(&b, TN_OP_yield, count, values, 1, &attr,
			   r->n->span) != NULL;
}

static void drop_block(struct tn_block *block)
{
	int i;

	while (block->last) {
		for (i = 0; i < block->last->nregions; i++)
			drop_block(block->last->regions[i]);
		tn_graph_remove(block->last);
	}
}

/* The operator over finished regions, at the end of the block. */
static struct tn_op *flow(struct tn_onnx *n, enum tn_opcode code, int nin,
			  struct tn_value *const *in, int nregions,
			  struct tn_block *const *regions, int nout)
{
	struct tn_op *op = tn_graph_op(n->job->fn, code, nin, in, nout,
				       n->span);

	return op && tn_graph_set_regions(op, nregions, regions) ? op : NULL;
}

/* Sets attributes by place in the row, and types the results. */
static bool infer(struct tn_onnx *n, struct tn_op *op, int nattrs,
		  const struct tn_attr *attrs)
{
	struct tn_attr *to;
	int i;

	for (i = 0; i < nattrs; i++) {
		to = tn_graph_attr(op, attrs[i].name);
		if (!to)
			return false;
		*to = attrs[i];
		to->is_set = true;
	}
	tn_graph_insert(n->scope->block, op, NULL);
	if (tn_infer_op(op))
		return true;
	n->job->is_bad = true;
	n->failed = true;
	return false;
}

struct tn_value *tn_onnx_apply(struct tn_onnx *n, const char *name,
			       struct tn_value *x)
{
	const struct onnx_graph *graph = graph_of(n, name);
	struct tn_value *y = NULL;
	struct region r;

	if (!graph)
		return NULL;
	if (graph->inputs.len != 1 || graph->outputs.len != 1) {
		tn_onnx_report(n, TN_E1012, "graph '%s' has %d inputs and %d "
			       "results, not one", name,
			       (int)graph->inputs.len,
			       (int)graph->outputs.len);
		return NULL;
	}
	if (begin(&r, n, graph, n->scope->block) && give_value(&r, 0, x) &&
	    finish(&r))
		y = out_value(&r, 0);
	end(&r);
	return y;
}

/* ---- If ------------------------------------------------------------------------------- */

/* The branch that is certain, in place. */
static void inlined(struct tn_onnx *n, const struct onnx_graph *graph)
{
	struct region r;
	int i;

	if (begin(&r, n, graph, n->scope->block) && finish(&r))
		for (i = 0; i < n->nout && i < r.nouts; i++)
			n->out[i] = r.outs[i];
	end(&r);
}

/* One of two branches: its results, and the tensors that they are made of. */
struct branch {
	struct tn_block *block;
	struct tn_onnx_value *outs[MOST];
	int count;
	struct tn_value *values[MOST];
};

/* The tensors of a branch's results. */
static bool tensors(struct tn_onnx *n, struct branch *b)
{
	struct tn_onnx_leaf leaves[MOST];
	int i, k, more;

	for (i = 0; i < n->nout; i++) {
		more = tn_onnx_leaves(n->job, b->outs[i], "", MOST - b->count,
				      leaves);
		if (more < 0) {
			tn_onnx_refuse(n, "result %d of a graph is no tensor",
				       i);
			return false;
		}
		for (k = 0; k < more; k++) {
			b->values[b->count] = tn_onnx_make(n->job,
							   leaves[k].value);
			if (!b->values[b->count++])
				return false;
		}
	}
	return true;
}

static bool branch(struct tn_onnx *n, const struct onnx_graph *graph,
		   struct branch *b)
{
	struct region r;
	bool ok;
	int i;

	b->count = 0;
	ok = begin(&r, n, graph, open_block(n)) && finish(&r);
	b->block = r.block;
	if (ok && r.nouts != n->nout) {
		tn_onnx_report(n, TN_E1012, "%d results of a branch for %d",
			       r.nouts, n->nout);
		ok = false;
	}
	for (i = 0; ok && i < r.nouts; i++)
		b->outs[i] = r.outs[i];
	ok = ok && tensors(n, b) && yield(&r, b->count, b->values, 0);
	end(&r);
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
		    tn_onnx_declared(n->job, tn_map_find(&n->scope->infos,
				n->node->outputs.at[i]), &dtype, &rank, dims) &&
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

	tn_onnx_text(n, "assert(%v == %s, message=\"the sizes take the other "
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
		drop_block(b[0].block);
		drop_block(b[1].block);
		return;
	}
	blocks[0] = b[0].block;
	blocks[1] = b[1].block;
	op = flow(n, TN_OP_if, 1, &condition, 2, blocks, b[0].count);
	if (!op || !infer(n, op, 0, NULL))
		return;
	next = op->out;
	for (i = 0; i < n->nout; i++) {
		n->out[i] = tn_onnx_rebuild(n->job, b[0].outs[i], &next);
		n->failed |= !n->out[i];
	}
}

void tn_onnx_do_if(struct tn_onnx *n)
{
	const struct onnx_graph *yes = graph_of(n, "then_branch");
	const struct onnx_graph *no = graph_of(n, "else_branch");
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

/* ---- Loop ------------------------------------------------------------------------------- */

struct loop {
	struct tn_onnx *n;
	const struct onnx_graph *graph;
	int ncarries, nscans;
	struct tn_value *carries[MOST];
	const struct tn_dim *turns;	/* or NULL: only run time knows */
};

static bool is_known(struct tn_onnx *n, const struct tn_value *value,
		     int64_t *out)
{
	const struct tn_onnx_known *k = tn_onnx_known(n->job, value);

	if (!k || !k->tensor || k->count != 1)
		return false;
	*out = tn_tensor_get_i64(k->tensor, 0);
	return true;
}

static bool is_true(struct tn_onnx *n, const struct tn_value *value)
{
	int64_t known;

	return is_known(n, value, &known) && known;
}

static bool is_plain(const struct tn_onnx *n)
{
	int i;

	for (i = 2; i < n->nin; i++)
		if (n->in[i]->kind != ONNX_TENSOR)
			return false;
	return true;
}

/* A loop that is written out: what is carried, and what each turn gave. */
struct turns {
	struct tn_onnx *n;
	const struct onnx_graph *graph;
	int ncarries, nscans, done;
	struct tn_onnx_value *carries[MOST];
	struct tn_value *(*scans)[TURNS];
};

static bool keep_turn(struct turns *t, struct region *r)
{
	struct tn_value *v;
	int i;

	for (i = 0; i < t->ncarries; i++)
		t->carries[i] = r->outs[i + 1];
	for (i = 0; i < t->nscans; i++) {
		v = out_value(r, t->ncarries + 1 + i);
		v = v ? tn_onnx_text(t->n, "expand_dims(%v, axes=[0])", v) :
			NULL;
		t->scans[i][t->done] = v;
		if (!v)
			return false;
	}
	t->done++;
	return true;
}

/* One turn; false: it was the last, or failed. */
static bool turn(struct turns *t)
{
	struct tn_onnx *n = t->n;
	struct tn_value *at = tn_onnx_text(n, "cast(%i, i64)",
					   (int64_t)t->done);
	struct tn_value *yes = tn_onnx_text(n, "cast(true, bool)");
	struct region r;
	int64_t known = 0;
	bool go;
	int i;

	go = begin(&r, n, t->graph, n->scope->block) &&
	     give_value(&r, 0, at) && give_value(&r, 1, yes);
	for (i = 0; go && i < t->ncarries; i++)
		go = give_input(&r, (size_t)i + 2, t->carries[i]);
	go = go && finish(&r) && keep_turn(t, &r);
	if (go && !is_known(n, out_value(&r, 0), &known))
		tn_onnx_refuse(n, "a condition that only run time knows");
	end(&r);
	return go && !n->failed && known;
}

/* Turn by turn, where all that decides is known. */
static void written_out(struct tn_onnx *n, const struct onnx_graph *graph,
			int64_t most)
{
	struct turns t = { .n = n, .graph = graph, .ncarries = n->nin - 2 };
	int i;

	t.nscans = (int)graph->outputs.len - 1 - t.ncarries;
	if (most > TURNS || t.ncarries > MOST || t.nscans < 0 ||
	    (most == 0 && t.nscans)) {
		tn_onnx_refuse(n, "a loop over sequences of %lld turns (at "
			       "most %d are written out)", (long long)most,
			       TURNS);
		return;
	}
	t.scans = tn_arena_array(&n->job->arena, (size_t)t.nscans + 1,
				 sizeof(*t.scans));
	if (!t.scans) {
		n->failed = true;
		return;
	}
	for (i = 0; i < t.ncarries; i++)
		t.carries[i] = n->in[i + 2];
	while (t.done < most && turn(&t))
		;
	for (i = 0; !n->failed && i < t.ncarries && i < n->nout; i++)
		n->out[i] = t.carries[i];
	for (i = 0; !n->failed && i < t.nscans && i + t.ncarries < n->nout;
	     i++)
		tn_onnx_give(n, t.ncarries + i, tn_onnx_concat(n, t.done,
							t.scans[i], 0));
}

/* How often: known, or as long as a declared result is. */
static const struct tn_dim *turns_of(struct tn_onnx *n, int ncarries)
{
	const struct tn_dim *dims[TN_MAX_RANK], *turns;
	enum tn_dtype dtype;
	int count, rank, i;

	if (tn_onnx_has(n, 0) && tn_onnx_sizes(n, 0, 1, &turns, &count) &&
	    count == 1)
		return turns;
	for (i = ncarries; !n->failed && i < n->nout; i++)
		if (tn_onnx_result(n, i, &dtype, &rank, dims) && rank)
			return dims[0];
	return NULL;
}

/* A scan over the numbers of the turns, if the body always goes on. */
static bool as_scan(struct loop *loop)
{
	struct tn_onnx *n = loop->n;
	struct tn_value *in[MOST + 1], *values[MOST], *turn;
	const struct tn_type *scalar;
	struct tn_attr attrs[1];
	struct region r;
	struct tn_op *op;
	bool ok;
	int i;

	scalar = tn_type_get(n->job->module, TN_i64, 0, NULL);
	ok = scalar && begin(&r, n, loop->graph, open_block(n)) &&
	     give_value(&r, 1, tn_onnx_text(n, "cast(true, bool)"));
	for (i = 0; ok && i < loop->ncarries; i++)
		ok = param(&r, (size_t)i + 2, loop->carries[i]->type) != NULL;
	turn = ok ? param(&r, 0, scalar) : NULL;
	ok = turn && finish(&r) && r.nouts >= 1 &&
	     is_true(n, out_value(&r, 0));
	for (i = 0; ok && i < r.nouts - 1; i++) {
		values[i] = out_value(&r, i + 1);
		ok = values[i] != NULL;
	}
	ok = ok && yield(&r, r.nouts - 1, values, loop->nscans);
	if (!ok && r.block)
		drop_block(r.block);
	end(&r);
	if (!ok)
		return false;
	for (i = 0; i < loop->ncarries; i++)
		in[i] = loop->carries[i];
	in[i] = tn_onnx_text(n, "iota([%d], axis=0)", loop->turns);
	if (!in[i])
		return false;
	op = flow(n, TN_OP_scan, loop->ncarries + 1, in, 1, &r.block,
		  loop->ncarries + loop->nscans);
	attrs[0] = tn_attr_int("carries", loop->ncarries);
	if (!op || !infer(n, op, 1, attrs))
		return false;
	for (i = 0; i < n->nout; i++)
		tn_onnx_give(n, i, op->out[i]);
	return true;
}

/* Carries of the general loop: number of the turn, whether to go on, the
 * model's, and what the scan results are gathered in. */
struct general {
	int count;
	struct tn_value *in[2 * MOST + 2], *params[2 * MOST + 2];
};

static bool begin_general(struct loop *loop, struct general *g)
{
	struct tn_onnx *n = loop->n;
	const struct tn_dim *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int rank, i;

	g->in[0] = tn_onnx_text(n, "cast(0, i64)");
	g->in[1] = tn_onnx_has(n, 1) ? tn_onnx_in(n, 1) :
		tn_onnx_text(n, "cast(true, bool)");
	if (g->in[1] && g->in[1]->type->rank)
		g->in[1] = tn_onnx_text(n, "reshape(%v, [])", g->in[1]);
	g->count = 2;
	for (i = 0; i < loop->ncarries; i++)
		g->in[g->count++] = loop->carries[i];
	for (i = 0; i < loop->nscans; i++) {
		if (!tn_onnx_result(n, loop->ncarries + i, &dtype, &rank,
				    dims)) {
			tn_onnx_refuse(n, "results of a length that only "
				       "run time knows");
			return false;
		}
		g->in[g->count++] = tn_onnx_text(n, dtype == TN_bool ?
			"full(%D, false)" : "zeros(%D, elem=%t)", rank, dims,
			dtype);
	}
	return !n->failed;
}

static struct tn_block *params_of(struct tn_onnx *n, struct general *g)
{
	struct tn_block *block = open_block(n);
	int i;

	for (i = 0; block && i < g->count; i++) {
		g->params[i] = tn_graph_param(block, "carry", g->in[i]->type);
		if (!g->params[i])
			return NULL;
	}
	return block;
}

/* A node that works in another block. */
static struct tn_onnx elsewhere(struct tn_onnx *n, struct tn_onnx_scope *scope,
				struct tn_block *block)
{
	struct tn_onnx other = *n;

	*scope = *n->scope;
	scope->block = block;
	other.scope = scope;
	return other;
}

/* Goes on while the condition holds and turns are left. */
static struct tn_block *test_block(struct loop *loop, struct general *g)
{
	struct tn_onnx *n = loop->n, other;
	struct tn_block *block = params_of(n, g);
	struct tn_onnx_scope scope;
	struct region r = { .n = n, .block = block };
	struct tn_value *go, *most;

	if (!block)
		return NULL;
	go = g->params[1];
	most = tn_onnx_has(n, 0) ? tn_onnx_in(n, 0) : NULL;
	if (most && most->type->rank)
		most = tn_onnx_text(n, "reshape(%v, [])", most);
	other = elsewhere(n, &scope, block);
	if (most)
		go = tn_onnx_text(&other, "%v && %v < cast(%v, i64)", go,
				  g->params[0], most);
	return go && yield(&r, 1, &go, 0) ? block : NULL;
}

static bool body_values(struct loop *loop, struct general *g,
			struct region *r, struct tn_value **values)
{
	struct tn_onnx *n = loop->n, other;
	struct tn_onnx_scope scope;
	struct tn_value *emit;
	int i, at;

	other = elsewhere(n, &scope, r->block);
	values[0] = tn_onnx_text(&other, "%v + 1", g->params[0]);
	values[1] = out_value(r, 0);
	if (values[1] && values[1]->type->rank)
		values[1] = tn_onnx_text(&other, "reshape(%v, [])", values[1]);
	for (i = 0; i < loop->ncarries; i++)
		values[i + 2] = out_value(r, i + 1);
	for (i = 0; i < loop->nscans; i++) {
		at = loop->ncarries + i;
		emit = out_value(r, at + 1);
		values[at + 2] = emit ? tn_onnx_text(&other,
			"scatter(%v, expand_dims(%v, axes=[0]), "
			"expand_dims(%v, axes=[0]), axis=0)",
			g->params[at + 2], g->params[0], emit) : NULL;
	}
	n->failed |= other.failed;
	for (i = 0; i < g->count; i++)
		if (!values[i])
			return false;
	return true;
}

static struct tn_block *body_block(struct loop *loop, struct general *g)
{
	struct tn_block *block = params_of(loop->n, g);
	struct tn_value *values[2 * MOST + 2];
	struct region r;
	bool ok;
	int i;

	ok = block && begin(&r, loop->n, loop->graph, block);
	if (!ok)
		return NULL;
	ok = give_value(&r, 0, g->params[0]) &&
	     give_value(&r, 1, g->params[1]);
	for (i = 0; ok && i < loop->ncarries; i++)
		ok = give_value(&r, (size_t)i + 2, g->params[i + 2]);
	ok = ok && finish(&r) &&
	     r.nouts == 1 + loop->ncarries + loop->nscans &&
	     body_values(loop, g, &r, values) &&
	     yield(&r, g->count, values, 0);
	end(&r);
	return ok ? block : NULL;
}

static void as_while(struct loop *loop)
{
	struct tn_onnx *n = loop->n;
	struct tn_block *blocks[2];
	struct general g;
	struct tn_op *op;
	int i;

	if (!begin_general(loop, &g))
		return;
	blocks[0] = test_block(loop, &g);
	blocks[1] = blocks[0] ? body_block(loop, &g) : NULL;
	if (!blocks[1]) {
		tn_onnx_refuse(n, "the body of the loop");
		return;
	}
	op = flow(n, TN_OP_while, g.count, g.in, 2, blocks, g.count);
	if (!op || !infer(n, op, 0, NULL))
		return;
	for (i = 0; i < n->nout; i++)
		tn_onnx_give(n, i, op->out[i + 2]);
	if (loop->nscans)
		tn_onnx_text(n, "assert(%v == %d, message=\"the loop ran not "
			     "as often as declared\"); return true",
			     op->out[0], op->out[loop->ncarries + 2]
						->type->dims[0]);
}

static bool read_loop(struct tn_onnx *n, struct loop *loop)
{
	int i;

	loop->n = n;
	loop->ncarries = n->nin > 2 ? n->nin - 2 : 0;
	loop->nscans = (int)loop->graph->outputs.len - 1 - loop->ncarries;
	if (loop->ncarries > MOST || loop->nscans < 0 ||
	    loop->graph->outputs.len > MOST ||
	    n->nout > loop->ncarries + loop->nscans) {
		tn_onnx_report(n, TN_E1012, "the body does not fit");
		return false;
	}
	for (i = 0; i < loop->ncarries; i++) {
		loop->carries[i] = tn_onnx_in(n, i + 2);
		if (!loop->carries[i])
			return false;
	}
	return true;
}

/* As often as asked, or not at all. */
static void check_turns(struct loop *loop, struct tn_value *most)
{
	struct tn_onnx *n = loop->n;
	struct tn_value *first;

	if (tn_onnx_has(n, 1)) {
		first = tn_onnx_in(n, 1);
		if (first && first->type->rank)
			first = tn_onnx_text(n, "reshape(%v, [])", first);
		most = first ? tn_onnx_text(n, "select(%v, %v, 0)", first,
					    most) : NULL;
	}
	if (most)
		tn_onnx_text(n, "assert(all(%v == cast(%d, i64)), "
			     "message=\"the loop ran not as often as "
			     "declared\"); return true", most, loop->turns);
}

/* Whether the first turn's condition is certain. */
static bool begins_true(struct tn_onnx *n)
{
	return !tn_onnx_has(n, 1) || is_true(n, tn_onnx_in(n, 1));
}

void tn_onnx_do_loop(struct tn_onnx *n)
{
	struct loop loop = { .graph = graph_of(n, "body") };
	struct tn_value *most;
	int64_t turns, first = 1;
	int count;

	if (!loop.graph)
		return;
	if (!is_plain(n)) {
		if (tn_onnx_has(n, 0) &&
		    tn_onnx_ints(n, 0, 1, &turns, &count) &&
		    (!tn_onnx_has(n, 1) || is_known(n, tn_onnx_in(n, 1),
						    &first)))
			written_out(n, loop.graph, first ? turns : 0);
		else
			tn_onnx_refuse(n, "a loop over sequences of a length "
				       "that only run time knows");
		return;
	}
	if (!read_loop(n, &loop))
		return;
	loop.turns = turns_of(n, loop.ncarries);
	most = tn_onnx_has(n, 0) ? tn_onnx_in(n, 0) : NULL;
	if (loop.turns && most && (begins_true(n) || loop.nscans) &&
	    as_scan(&loop)) {
		check_turns(&loop, most);
		return;
	}
	if (!n->failed)
		as_while(&loop);
}

/* ---- SequenceMap --------------------------------------------------------------------------- */

/* The graph for item `at` of the sequences; other inputs are the same for all. */
static bool map_item(struct tn_onnx *n, const struct onnx_graph *graph, int at,
		     struct tn_onnx_value **outs)
{
	struct region r;
	bool ok;
	int i;

	ok = begin(&r, n, graph, n->scope->block);
	for (i = 0; ok && i < n->nin; i++)
		ok = give_input(&r, (size_t)i, n->in[i]->kind == ONNX_SEQUENCE ?
				n->in[i]->items[at] : n->in[i]);
	ok = ok && finish(&r);
	if (ok && r.nouts < n->nout) {
		tn_onnx_report(n, TN_E1012, "the body does not fit");
		ok = false;
	}
	for (i = 0; ok && i < n->nout; i++)
		outs[i]->items[at] = r.outs[i];
	end(&r);
	return ok;
}

void tn_onnx_do_sequence_map(struct tn_onnx *n)
{
	const struct onnx_graph *graph = graph_of(n, "body");
	struct tn_onnx_value *outs[MOST];
	int i, len;

	if (!graph)
		return;
	if (!n->nin || n->in[0]->kind != ONNX_SEQUENCE || n->nout > MOST) {
		tn_onnx_report(n, TN_E1012, "input 0 is no sequence");
		return;
	}
	len = n->in[0]->len;
	for (i = 1; i < n->nin; i++)
		if (n->in[i]->kind == ONNX_SEQUENCE && n->in[i]->len != len) {
			tn_onnx_report(n, TN_E1012, "sequences of different "
				       "lengths");
			return;
		}
	for (i = 0; i < n->nout; i++) {
		outs[i] = tn_onnx_sequence(n, len);
		if (!outs[i])
			return;
	}
	for (i = 0; i < len; i++)
		if (!map_item(n, graph, i, outs))
			return;
	for (i = 0; i < n->nout; i++)
		n->out[i] = outs[i];
}

/* ---- Scan ------------------------------------------------------------------------------- */

static int64_t entry(const int64_t *list, int count, int i)
{
	return i < count ? list[i] : 0;
}

/* An input with the axis to scan in front, in the order of the turns. */
static struct tn_value *in_front(struct tn_onnx *n, struct tn_value *x,
				 int64_t at, bool back)
{
	int64_t perm[TN_MAX_RANK];
	int axis = tn_onnx_axis(n, at, x->type->rank), i, k = 1;

	if (axis < 0)
		return NULL;
	if (axis) {
		perm[0] = axis;
		for (i = 0; i < x->type->rank; i++)
			if (i != axis)
				perm[k++] = i;
		x = tn_onnx_text(n, "transpose(%v, perm=%I)", x,
				 x->type->rank, perm);
	}
	return x && back ? tn_onnx_text(n, "reverse(%v, axes=[0])", x) : x;
}

static struct tn_value *to_place(struct tn_onnx *n, struct tn_value *x,
				 int64_t at, bool back)
{
	int64_t perm[TN_MAX_RANK];
	int axis, i;

	x = back ? tn_onnx_text(n, "reverse(%v, axes=[0])", x) : x;
	axis = x ? tn_onnx_axis(n, at, x->type->rank) : -1;
	if (axis <= 0)
		return axis ? NULL : x;
	for (i = 0; i < x->type->rank; i++)
		perm[i] = i < axis ? i + 1 : i == axis ? 0 : i;
	return tn_onnx_text(n, "transpose(%v, perm=%I)", x, x->type->rank,
			    perm);
}

static struct tn_op *scan(struct tn_onnx *n, const struct onnx_graph *graph,
			  int ncarries, struct tn_value *const *in)
{
	const struct tn_type *type;
	struct tn_value *values[MOST];
	struct tn_attr attrs[1];
	struct region r;
	bool ok;
	int i;

	ok = begin(&r, n, graph, open_block(n));
	for (i = 0; ok && i < n->nin; i++) {
		type = in[i]->type;
		if (i >= ncarries)
			type = tn_type_get(n->job->module, type->dtype,
					   type->rank - 1, type->dims + 1);
		ok = type && param(&r, (size_t)i, type);
	}
	ok = ok && finish(&r) && r.nouts >= ncarries;
	for (i = 0; ok && i < r.nouts; i++) {
		values[i] = out_value(&r, i);
		ok = values[i] != NULL;
	}
	ok = ok && yield(&r, r.nouts, values, r.nouts - ncarries);
	end(&r);
	if (!ok)
		return NULL;
	attrs[0] = tn_attr_int("carries", ncarries);
	{
		struct tn_op *op = flow(n, TN_OP_scan, n->nin, in, 1,
					&r.block, r.nouts);

		return op && infer(n, op, 1, attrs) ? op : NULL;
	}
}

/* What the batched form scans of one of the batch: a scan in a scan. */
static struct tn_op *scan_one(struct tn_onnx *n,
			      const struct onnx_graph *graph,
			      struct tn_block *block, struct tn_value **in)
{
	struct tn_onnx_scope scope;
	struct tn_onnx other = elsewhere(n, &scope, block);
	const struct tn_type *type;
	const int64_t *ways;
	int count = tn_onnx_list(n, "directions", &ways);
	int nscans = (int)tn_onnx_int(n, "num_scan_inputs", 0);
	int i, ncarries = n->nin - nscans;
	struct tn_op *op;

	for (i = 0; i < n->nin; i++) {
		type = tn_type_get(n->job->module, in[i]->type->dtype,
				   in[i]->type->rank - 1,
				   in[i]->type->dims + 1);
		in[i] = type ? tn_graph_param(block, "one", type) : NULL;
		if (in[i] && i >= ncarries)
			in[i] = in_front(&other, in[i], 0,
					 entry(ways, count, i - ncarries));
		if (!in[i])
			return NULL;
	}
	op = scan(&other, graph, ncarries, in);
	n->failed |= other.failed;
	return op;
}

/* Of operator set 8: all inputs have an axis for the batch in front. */
static void scan_batch(struct tn_onnx *n, const struct onnx_graph *graph)
{
	struct tn_block *block = open_block(n);
	struct region r = { .n = n, .block = block };
	struct tn_value *all[MOST], *in[MOST];
	struct tn_attr attrs[1];
	struct tn_op *op;
	int i;

	if (tn_onnx_has(n, 0)) {
		tn_onnx_refuse(n, "lengths of sequences");
		return;
	}
	n->in++;
	n->nin--;
	for (i = 0; i < n->nin; i++) {
		all[i] = in[i] = tn_onnx_in(n, i);
		if (!in[i])
			return;
		if (!in[i]->type->rank) {
			tn_onnx_report(n, TN_E1012, "input %d has no batch",
				       i + 1);
			return;
		}
	}
	op = block ? scan_one(n, graph, block, in) : NULL;
	if (!op || !yield(&r, op->nout, op->out, op->nout))
		return;
	attrs[0] = tn_attr_int("carries", 0);
	op = flow(n, TN_OP_scan, n->nin, all, 1, &block, op->nout);
	if (!op || !infer(n, op, 1, attrs))
		return;
	for (i = 0; i < n->nout && i < op->nout; i++)
		tn_onnx_give(n, i, op->out[i]);
}

void tn_onnx_do_scan(struct tn_onnx *n)
{
	const struct onnx_graph *graph = graph_of(n, "body");
	int count = (int)tn_onnx_int(n, "num_scan_inputs", 0), i;
	const int64_t *axes, *ways, *out_axes, *out_ways;
	int naxes = tn_onnx_list(n, "scan_input_axes", &axes);
	int nways = tn_onnx_list(n, "scan_input_directions", &ways);
	int nouts = tn_onnx_list(n, "scan_output_axes", &out_axes);
	int noways = tn_onnx_list(n, "scan_output_directions", &out_ways);
	struct tn_value *in[MOST], *out;
	struct tn_op *op;
	int ncarries = n->nin - count;

	if (!graph)
		return;
	if (n->nin > MOST || count < 1 || ncarries < (n->version < 9)) {
		tn_onnx_report(n, TN_E1012, "%d inputs to scan of %d", count,
			       n->nin);
		return;
	}
	if (n->version < 9) {
		scan_batch(n, graph);
		return;
	}
	for (i = 0; i < n->nin; i++) {
		in[i] = tn_onnx_in(n, i);
		if (in[i] && i >= ncarries)
			in[i] = in_front(n, in[i], entry(axes, naxes,
							 i - ncarries),
					 entry(ways, nways, i - ncarries));
		if (!in[i])
			return;
	}
	op = scan(n, graph, ncarries, in);
	for (i = 0; op && i < n->nout && i < op->nout; i++) {
		out = op->out[i];
		if (i >= ncarries)
			out = to_place(n, out, entry(out_axes, nouts,
						     i - ncarries),
				       entry(out_ways, noways, i - ncarries));
		tn_onnx_give(n, i, out);
	}
}
