/*
 * The plain schedule of sums on a CPU: tiles of accumulators in registers.
 *
 * In: a nest of independent loops around a body that sums. Out: the text of
 * the steps, for tn_schedule_default to try, and which loop is for threads.
 *
 * If the innermost loop runs along memory, rows x vectors of sums are kept,
 * so that each vector read serves all rows (4 x 3 vectors of the 16 registers
 * of AVX2, 8 x 3 of the 32 of AVX-512; measured best or close to it in
 * bench/kernels). Else eight scalar sums at once hide the latency of the one
 * before, over the loop whose turns share most reads.
 */
#include "passes/schedule.h"

#include "passes/lower.h"

#define MAX_LOOPS 8
#define SCALAR_SUMS 8

static bool find_nest(struct tn_module *module, struct tn_schedule_nest *nest,
		      struct tn_kstmt *loop)
{
	nest->n = 0;
	while (tn_kstmt_is_loop(loop)) {
		if (nest->n == MAX_LOOPS ||
		    !tn_schedule_is_independent(module, loop))
			return false;
		nest->loops[nest->n++] = loop;
		nest->body = &loop->body;
		loop = loop->body.first;
		if (loop && loop->next)
			break;
	}
	return nest->n > 0;
}

/* lets, one of them mutable, loops that sum, stores. */
static bool is_sum_body(const struct tn_kblock *block)
{
	const struct tn_kstmt *s;
	bool has_sum = false, has_loop = false;

	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_LET)
			has_sum |= s->var->is_mutable;
		else if (tn_kstmt_is_loop(s))
			has_loop = true;
		else if (s->kind != TN_KSTMT_STORE)
			return false;
	}
	return has_sum && has_loop;
}

/* Bounds of loops in the block follow from the variable, also through lets. */
static bool shapes_loops(const struct tn_kblock *block,
			 const struct tn_kvar *var)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_LET && s->var != var &&
		    tn_kexpr_reads(s->value, var) &&
		    shapes_loops(block, s->var))
			return true;
		if (tn_kstmt_is_loop(s) && (tn_kexpr_reads(s->from, var) ||
				   tn_kexpr_reads(s->to, var) ||
				   shapes_loops(&s->body, var)))
			return true;
	}
	return false;
}

/* Reads in summing loops: those that stay while the variable moves, and those
 * whose last index moves with it. */
struct reads {
	const struct tn_kvar *var;
	int fixed, along;
};

static void count_read(void *data, const struct tn_kexpr *e)
{
	struct reads *reads = data;

	if (e->kind != TN_KEXPR_LOAD)
		return;
	reads->fixed += !tn_kexpr_reads(e, reads->var);
	reads->along += e->nargs &&
		tn_kexpr_reads(e->args[e->nargs - 1], reads->var);
}

static void count_sum(void *data, const struct tn_kstmt *s)
{
	struct tn_kvisitor visitor = { count_read, NULL, data };

	if (s->kind == TN_KSTMT_SET)
		tn_kexpr_visit(s->value, &visitor);
}

static struct reads count_body(const struct tn_kblock *block,
			       const struct tn_kvar *var)
{
	struct reads reads = { var, 0, 0 };
	struct tn_kvisitor visitor = { NULL, count_sum, &reads };

	tn_kblock_visit(block, &visitor);
	return reads;
}

static const struct tn_kbuf *stored_along(const struct tn_kblock *body,
					  const struct tn_kvar *var)
{
	const struct tn_kbuf *buf = NULL;
	const struct tn_kstmt *s;

	for (s = body->first; s; s = s->next) {
		if (s->kind != TN_KSTMT_STORE)
			continue;
		if (!s->nindex ||
		    !tn_kexpr_reads(s->index[s->nindex - 1], var))
			return NULL;
		buf = s->buf;
	}
	return buf;
}

/* Lanes of a vector of what is summed along the loop, of half or a quarter of
 * one of f32 where the loop is as short as that; 0: not along. */
static int lanes_along(const struct tn_schedule_nest *nest,
		       const struct tn_kstmt *loop,
		       const struct tn_target *target)
{
	const struct tn_kbuf *buf = stored_along(nest->body, loop->var);
	struct reads reads = count_body(nest->body, loop->var);
	int bytes, lanes;

	if (!buf || !reads.along || shapes_loops(nest->body, loop->var))
		return 0;
	bytes = tn_dtype_bytes(tn_lower_wide(buf->dtype));
	lanes = bytes ? target->vector_bytes / bytes : 0;
	while (bytes == 4 && lanes > TN_LEAST_LANES &&
	       tn_kloop_most(loop) < lanes)
		lanes /= 2;
	return tn_kloop_most(loop) >= lanes ? lanes : 0;
}

/* ", name" for the loops other than these two. */
static void put_others(struct tn_buf *out, const struct tn_schedule_nest *nest,
		       const struct tn_kstmt *a, const struct tn_kstmt *b)
{
	int i;

	for (i = 0; i < nest->n; i++)
		if (nest->loops[i] != a && nest->loops[i] != b)
			tn_buf_putf(out, "%s, ", nest->loops[i]->var->name);
}

static const char *first_other(const struct tn_schedule_nest *nest,
			       const struct tn_kstmt *a,
			       const struct tn_kstmt *b)
{
	int i;

	for (i = 0; i < nest->n; i++)
		if (nest->loops[i] != a && nest->loops[i] != b)
			return nest->loops[i]->var->name;
	return NULL;
}

/* What is split into a nest and its remainder stands outermost, so that both
 * stay perfect nests. */
static void put_outermost(struct tn_buf *out,
			  const struct tn_schedule_nest *nest,
			  const struct tn_kstmt *loop)
{
	struct tn_buf others;

	if (nest->n < 2)
		return;
	tn_buf_init(&others);
	put_others(&others, nest, loop, NULL);
	tn_buf_putf(out, "reorder(%s, %.*s), ", loop->var->name,
		    (int)others.len - 2, tn_buf_text(&others));
	tn_buf_fini(&others);
}

/* Its two loops go back to the inside. */
static void put_innermost(struct tn_buf *out,
			  const struct tn_schedule_nest *nest,
			  const struct tn_kstmt *loop)
{
	if (nest->n < 2)
		return;
	tn_buf_put(out, ", reorder(");
	put_others(out, nest, loop, NULL);
	tn_buf_putf(out, "%s__0, %s__1)", loop->var->name, loop->var->name);
}

static const char *tail_of(const struct tn_kstmt *loop)
{
	return tn_kloop_extent(loop) >= 0 ? "" : ", tail=ones";
}

/* Rows x vectors: i rows, or none, of j. */
static void put_vectors(struct tn_buf *out, struct tn_buf *parallel,
			const struct tn_schedule_nest *nest, int lanes,
			const struct tn_target *target)
{
	const struct tn_kstmt *across = nest->loops[nest->n - 1];
	const struct tn_kstmt *down = nest->n > 1 ?
		nest->loops[nest->n - 2] : NULL;
	const char *j = across->var->name, *other;
	const char *i = down ? down->var->name : NULL;
	int rows = target->vector_registers >= 32 ? 8 : 4;
	int width = lanes * (tn_kloop_most(across) >= 3 * lanes ? 3 : 1);
	bool is_wide = tn_kloop_most(across) >= 2 * width;

	if (down && (shapes_loops(nest->body, down->var) ||
		     (!is_wide && tn_kloop_most(across) % width)))
		i = NULL;
	put_outermost(out, nest, across);
	tn_buf_putf(out, "split(%s, %d%s)", j, width, tail_of(across));
	if (!i) {
		put_innermost(out, nest, across);
		tn_buf_putf(out, ", tile(%s__1), vectorize(%s__1)", j, j);
		tn_buf_putf(parallel, "%s%s",
			    nest->n > 1 ? nest->loops[0]->var->name : j,
			    nest->n > 1 ? "" : "__0");
		return;
	}
	other = first_other(nest, across, down);
	tn_buf_putf(out, ", reorder(%s, %s__0, ", i, j);
	put_others(out, nest, across, down);
	tn_buf_putf(out, "%s__1), split(%s, %d, tail=ones), reorder(", j, i,
		    rows);
	if (is_wide)
		tn_buf_putf(out, "%s__0, ", j);
	put_others(out, nest, across, down);
	tn_buf_putf(out, "%s__0, ", i);
	if (!is_wide)
		tn_buf_putf(out, "%s__0, ", j);
	tn_buf_putf(out, "%s__1, %s__1), tile(%s__1, %s__1), unroll(%s__1), "
		    "vectorize(%s__1)", i, j, i, j, i, j);
	tn_buf_putf(parallel, "%s%s", is_wide ? j : other ? other : i,
		    is_wide || !other ? "__0" : "");
}

/* The loop to keep several sums of: it must not shape the summing loops. */
static const struct tn_kstmt *best_shared(const struct tn_schedule_nest *nest)
{
	const struct tn_kstmt *best = NULL;
	struct reads reads;
	int i, most = -1;

	for (i = 0; i < nest->n; i++) {
		if (shapes_loops(nest->body, nest->loops[i]->var) ||
		    tn_kloop_most(nest->loops[i]) < 2)
			continue;
		reads = count_body(nest->body, nest->loops[i]->var);
		if (reads.fixed >= most) {
			most = reads.fixed;
			best = nest->loops[i];
		}
	}
	return best;
}

static void put_scalars(struct tn_buf *out, struct tn_buf *parallel,
			const struct tn_schedule_nest *nest,
			const struct tn_kstmt *loop)
{
	const char *j = loop->var->name, *other;

	other = first_other(nest, loop, NULL);
	put_outermost(out, nest, loop);
	tn_buf_putf(out, "split(%s, %d%s)", j, SCALAR_SUMS, tail_of(loop));
	put_innermost(out, nest, loop);
	tn_buf_putf(out, ", tile(%s__1), unroll(%s__1)", j, j);
	tn_buf_putf(parallel, "%s%s", other ? other : j, other ? "" : "__0");
}

bool tn_schedule_sums(struct tn_module *module, struct tn_kstmt *loop,
		      const struct tn_target *target,
		      struct tn_buf *steps, struct tn_buf *parallel)
{
	const struct tn_kstmt *shared;
	struct tn_schedule_nest nest;
	int lanes;

	if (!find_nest(module, &nest, loop) || !is_sum_body(nest.body))
		return false;
	lanes = lanes_along(&nest, nest.loops[nest.n - 1], target);
	if (lanes) {
		put_vectors(steps, parallel, &nest, lanes, target);
		return true;
	}
	shared = best_shared(&nest);
	if (!shared)
		return false;
	put_scalars(steps, parallel, &nest, shared);
	return true;
}

int tn_schedule_nest_of(struct tn_module *module, struct tn_kstmt *loop,
			const struct tn_target *target,
			struct tn_schedule_nest *nest)
{
	return find_nest(module, nest, loop) && is_sum_body(nest->body) ?
		lanes_along(nest, nest->loops[nest->n - 1], target) : 0;
}
