/*
 * Handlers of Loop and SequenceMap: a scan over the numbers of the turns, a while
 * with all that is carried, or turn by turn, written out.
 */
#include "importers/onnx/region.h"
#include "importers/onnx/table.h"
#include "ir/graph_edit.h"

/* A loop over what has no type of ours is written out so far. */
#define TURNS 64

struct loop {
	struct tn_onnx *n;
	const struct onnx_graph *graph;
	int ncarries, nscans;
	struct tn_value *carries[TN_REGION_MOST];
	const struct tn_dim *turns; /* or NULL: only run time knows */
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
	struct tn_onnx_value *carries[TN_REGION_MOST];
	struct tn_value *(*scans)[TURNS];
};

static bool keep_turn(struct turns *t, struct tn_region *r)
{
	struct tn_value *v;
	int i;

	for (i = 0; i < t->ncarries; i++)
		t->carries[i] = r->outs[i + 1];
	for (i = 0; i < t->nscans; i++) {
		v = tn_region_out(r, t->ncarries + 1 + i);
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
	struct tn_value *at =
		tn_onnx_text(n, "cast(%i, i64)", (int64_t)t->done);
	struct tn_value *yes = tn_onnx_text(n, "cast(true, bool)");
	struct tn_region r;
	int64_t known = 0;
	bool go;
	int i;

	go = tn_region_begin(&r, n, t->graph, n->scope->block) &&
	     tn_region_give_value(&r, 0, at) &&
	     tn_region_give_value(&r, 1, yes);
	for (i = 0; go && i < t->ncarries; i++)
		go = tn_region_give(&r, (size_t)i + 2, t->carries[i]);
	go = go && tn_region_finish(&r) && keep_turn(t, &r);
	if (go && !is_known(n, tn_region_out(&r, 0), &known))
		tn_onnx_unknown(n, "a condition that only run time knows");
	tn_region_end(&r);
	return go && !n->failed && known;
}

/* Turn by turn, where all that decides is known. */
static void written_out(struct tn_onnx *n, const struct onnx_graph *graph,
			int64_t most)
{
	struct turns t = {.n = n, .graph = graph, .ncarries = n->nin - 2};
	int i;

	t.nscans = (int)graph->outputs.len - 1 - t.ncarries;
	if (most > TURNS || t.ncarries > TN_REGION_MOST || t.nscans < 0 ||
	    (most == 0 && t.nscans)) {
		tn_onnx_refuse(n,
			       "a loop over sequences of %lld turns (at "
			       "most %d are written out)",
			       (long long)most, TURNS);
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
	for (i = 0; !n->failed && i < t.nscans && i + t.ncarries < n->nout; i++)
		tn_onnx_give(n, t.ncarries + i,
			     tn_onnx_concat(n, t.done, t.scans[i], 0));
}

/* Whether the first turn's condition is certain. */
static bool begins_true(struct tn_onnx *n)
{
	return !tn_onnx_has(n, 1) || is_true(n, tn_onnx_in(n, 1));
}

/* How often: known, or as long as a declared result is. */
static const struct tn_dim *turns_of(struct tn_onnx *n, int ncarries)
{
	const struct tn_dim *dims[TN_MAX_RANK], *turns;
	enum tn_dtype dtype;
	int count, rank, i;

	if (begins_true(n) && tn_onnx_has(n, 0) &&
	    tn_onnx_sizes(n, 0, 1, &turns, &count) && count == 1)
		return turns;
	for (i = ncarries; !n->failed && i < n->nout; i++)
		if (tn_onnx_result(n, i, &dtype, &rank, dims) && rank)
			return dims[0];
	return NULL;
}

/* As often as asked, or not at all. */
static struct tn_value *asked_turns(struct tn_onnx *n)
{
	struct tn_value *most = tn_onnx_in(n, 0), *first;

	most = most ? tn_onnx_text(n, "max(reshape(cast(%v, i64), []), 0)",
				   most) :
		      NULL;
	if (!most || !tn_onnx_has(n, 1))
		return most;
	first = tn_onnx_in(n, 1);
	return first ? tn_onnx_text(n, "select(reshape(%v, []), %v, 0)", first,
				    most) :
		       NULL;
}

/* A scan over the numbers of the turns, if the body always goes on. Of a loop
 * that nobody says the length of, they are as many as run time says. */
static bool as_scan(struct loop *loop)
{
	struct tn_onnx *n = loop->n;
	struct tn_value *in[TN_REGION_MOST + 1], *values[TN_REGION_MOST], *turn;
	const struct tn_type *scalar;
	struct tn_attr attrs[1];
	struct tn_region r;
	struct tn_op *op;
	bool ok;
	int i;

	scalar = tn_type_get(n->job->module, TN_i64, 0, NULL);
	ok = scalar && tn_region_begin(&r, n, loop->graph, tn_region_open(n)) &&
	     tn_region_give_value(&r, 1, tn_onnx_text(n, "cast(true, bool)"));
	for (i = 0; ok && i < loop->ncarries; i++)
		ok = tn_region_param(&r, (size_t)i + 2,
				     loop->carries[i]->type) != NULL;
	turn = ok ? tn_region_param(&r, 0, scalar) : NULL;
	ok = turn && tn_region_finish(&r) && r.nouts >= 1 &&
	     is_true(n, tn_region_out(&r, 0));
	for (i = 0; ok && i < r.nouts - 1; i++) {
		values[i] = tn_region_out(&r, i + 1);
		ok = values[i] != NULL;
	}
	ok = ok && tn_region_yield(&r, r.nouts - 1, values, loop->nscans);
	if (!ok && r.block)
		tn_region_drop(r.block);
	tn_region_end(&r);
	if (!ok)
		return false;
	for (i = 0; i < loop->ncarries; i++)
		in[i] = loop->carries[i];
	in[i] = loop->turns ?
			tn_onnx_text(n, "iota([%d], axis=0)", loop->turns) :
			tn_onnx_length(n, loop->ncarries, asked_turns(n));
	if (!in[i])
		return false;
	op = tn_region_op(n, TN_OP_scan,
			  &(struct tn_region_in){loop->ncarries + 1, in}, 1,
			  &r.block, loop->ncarries + loop->nscans);
	attrs[0] = tn_attr_int("carries", loop->ncarries);
	if (!op || !tn_region_infer(n, op, 1, attrs))
		return false;
	for (i = 0; i < n->nout; i++)
		tn_onnx_give(n, i, op->out[i]);
	return true;
}

/* Carries of the general loop: number of the turn, whether to go on, the
 * model's, and what the scan results are gathered in. */
struct general {
	int count;
	struct tn_value *in[2 * TN_REGION_MOST + 2],
		*params[2 * TN_REGION_MOST + 2];
};

/* The element type of scan result i: declared here or in the body. */
static enum tn_dtype scan_type(const struct loop *loop, int i,
			       enum tn_dtype declared)
{
	const struct onnx_type *type =
		loop->graph->outputs.at[loop->ncarries + 1 + i].type;

	if (declared != TN_POISON || !type || !type->tensor)
		return declared;
	return tn_onnx_dtype(type->tensor->elem.v);
}

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
		if (tn_onnx_result(n, loop->ncarries + i, &dtype, &rank,
				   dims))
			dtype = scan_type(loop, i, dtype);
		else
			dtype = TN_POISON;
		if (dtype == TN_POISON) {
			tn_onnx_unknown(n, "results of a length that only "
					  "run time knows");
			return false;
		}
		g->in[g->count++] =
			tn_onnx_text(n,
				     dtype == TN_bool ? "full(%D, false)" :
							"zeros(%D, elem=%t)",
				     rank, dims, dtype);
	}
	return !n->failed;
}

static struct tn_block *params_of(struct tn_onnx *n, struct general *g)
{
	struct tn_block *block = tn_region_open(n);
	int i;

	for (i = 0; block && i < g->count; i++) {
		g->params[i] = tn_graph_param(block, "carry", g->in[i]->type);
		if (!g->params[i])
			return NULL;
	}
	return block;
}

/* Goes on while the condition holds and turns are left. */
static struct tn_block *test_block(struct loop *loop, struct general *g)
{
	struct tn_onnx *n = loop->n, other;
	struct tn_block *block = params_of(n, g);
	struct tn_onnx_scope scope;
	struct tn_region r = {.n = n, .block = block};
	struct tn_value *go, *most;

	if (!block)
		return NULL;
	go = g->params[1];
	most = tn_onnx_has(n, 0) ? tn_onnx_in(n, 0) : NULL;
	if (most && most->type->rank)
		most = tn_onnx_text(n, "reshape(%v, [])", most);
	other = tn_region_elsewhere(n, &scope, block);
	if (most)
		go = tn_onnx_text(&other, "%v && %v < cast(%v, i64)", go,
				  g->params[0], most);
	return go && tn_region_yield(&r, 1, &go, 0) ? block : NULL;
}

static bool body_values(struct loop *loop, struct general *g,
			struct tn_region *r, struct tn_value **values)
{
	struct tn_onnx *n = loop->n, other;
	struct tn_onnx_scope scope;
	struct tn_value *emit;
	int i, at;

	other = tn_region_elsewhere(n, &scope, r->block);
	values[0] = tn_onnx_text(&other, "%v + 1", g->params[0]);
	values[1] = tn_region_out(r, 0);
	if (values[1] && values[1]->type->rank)
		values[1] = tn_onnx_text(&other, "reshape(%v, [])", values[1]);
	for (i = 0; i < loop->ncarries; i++)
		values[i + 2] = tn_region_out(r, i + 1);
	for (i = 0; i < loop->nscans; i++) {
		at = loop->ncarries + i;
		emit = tn_region_out(r, at + 1);
		values[at + 2] =
			emit ? tn_onnx_text(
				       &other,
				       "scatter(%v, expand_dims(%v, axes=[0]), "
				       "expand_dims(%v, axes=[0]), axis=0)",
				       g->params[at + 2], g->params[0], emit) :
			       NULL;
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
	struct tn_value *values[2 * TN_REGION_MOST + 2];
	struct tn_region r;
	bool ok;
	int i;

	ok = tn_region_begin(&r, loop->n, loop->graph, block) &&
	     tn_region_give_value(&r, 0, g->params[0]) &&
	     tn_region_give_value(&r, 1, g->params[1]);
	for (i = 0; ok && i < loop->ncarries; i++)
		ok = tn_region_give_value(&r, (size_t)i + 2, g->params[i + 2]);
	ok = ok && tn_region_finish(&r) &&
	     r.nouts == 1 + loop->ncarries + loop->nscans &&
	     body_values(loop, g, &r, values) &&
	     tn_region_yield(&r, g->count, values, 0);
	tn_region_end(&r);
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
	op = tn_region_op(n, TN_OP_while, &(struct tn_region_in){g.count, g.in},
			  2, blocks, g.count);
	if (!op || !tn_region_infer(n, op, 0, NULL))
		return;
	for (i = 0; i < n->nout; i++)
		tn_onnx_give(n, i, op->out[i + 2]);
	if (loop->nscans)
		tn_onnx_text(n,
			     "assert(%v == %d, message=\"the loop ran not "
			     "as often as declared\"); return true",
			     op->out[0],
			     op->out[loop->ncarries + 2]->type->dims[0]);
}

static bool read_loop(struct tn_onnx *n, struct loop *loop)
{
	int i;

	loop->n = n;
	loop->ncarries = n->nin > 2 ? n->nin - 2 : 0;
	loop->nscans = (int)loop->graph->outputs.len - 1 - loop->ncarries;
	if (loop->ncarries > TN_REGION_MOST || loop->nscans < 0 ||
	    loop->graph->outputs.len > TN_REGION_MOST ||
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

/* That it ran as often as is declared. */
static void check_turns(struct loop *loop)
{
	struct tn_onnx *n = loop->n;
	struct tn_value *asked = asked_turns(n);

	if (asked)
		tn_onnx_text(n,
			     "assert(%v == cast(%d, i64), message=\"the loop "
			     "ran not as often as declared\"); return true",
			     asked, loop->turns);
}

void tn_onnx_do_loop(struct tn_onnx *n)
{
	struct loop loop = {.graph = tn_region_graph(n, "body")};
	int64_t turns, first = 1;
	int count;

	if (!loop.graph)
		return;
	if (!is_plain(n)) {
		if (tn_onnx_has(n, 0) &&
		    tn_onnx_ints(n, 0, 1, &turns, &count) &&
		    (!tn_onnx_has(n, 1) ||
		     is_known(n, tn_onnx_in(n, 1), &first)))
			written_out(n, loop.graph, first ? turns : 0);
		else
			tn_onnx_unknown(n, "a loop over sequences of a length "
					  "that only run time knows");
		return;
	}
	if (!read_loop(n, &loop))
		return;
	loop.turns = turns_of(n, loop.ncarries);
	if (tn_onnx_has(n, 0) && (loop.nscans ||
				  (loop.turns && begins_true(n))) &&
	    as_scan(&loop)) {
		if (loop.turns)
			check_turns(&loop);
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
	struct tn_region r;
	bool ok;
	int i;

	ok = tn_region_begin(&r, n, graph, n->scope->block);
	for (i = 0; ok && i < n->nin; i++)
		ok = tn_region_give(&r, (size_t)i,
				    n->in[i]->kind == ONNX_SEQUENCE ?
					    n->in[i]->items[at] :
					    n->in[i]);
	ok = ok && tn_region_finish(&r);
	if (ok && r.nouts < n->nout) {
		tn_onnx_report(n, TN_E1012, "the body does not fit");
		ok = false;
	}
	for (i = 0; ok && i < n->nout; i++)
		outs[i]->items[at] = r.outs[i];
	tn_region_end(&r);
	return ok;
}

void tn_onnx_do_sequence_map(struct tn_onnx *n)
{
	const struct onnx_graph *graph = tn_region_graph(n, "body");
	struct tn_onnx_value *outs[TN_REGION_MOST];
	int i, len;

	if (!graph)
		return;
	if (!n->nin || n->in[0]->kind != ONNX_SEQUENCE ||
	    n->nout > TN_REGION_MOST) {
		tn_onnx_report(n, TN_E1012, "input 0 is no sequence");
		return;
	}
	len = n->in[0]->len;
	for (i = 1; i < n->nin; i++)
		if (n->in[i]->kind == ONNX_SEQUENCE && n->in[i]->len != len) {
			tn_onnx_report(n, TN_E1012,
				       "sequences of different "
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
