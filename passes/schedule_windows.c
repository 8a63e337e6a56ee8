/*
 * The plain schedule of windows on a CPU: rows of pixels x vectors of channels
 * in registers, for convolutions, depthwise ones, pools and whatever else sums
 * in a nest whose innermost loop, the channels, runs along memory.
 *
 * In: loops n, h, w, c around a body that sums, w and c of constant extents.
 * Out: the text of the steps.
 *
 *   reorder(c, h, w), split(c, 16), reorder(h, c__0, w, c__1), split(w, 6),
 *   peel(w__0, 1, 1), tile(w__1, c__1), stage(f, ci, c__1), unroll(s, w__1),
 *   vectorize(c__1)
 *
 * The tile is the one of least time by a model of a core with two FMAs and two
 * loads a cycle, whole tiles and what is left over added up. Tiles that the
 * border clips are peeled, so that their conditions are known when the code is
 * written. All weights pass for each row of pixels, unless they are more than
 * the second cache holds: then all pixels pass for each panel of weights, which
 * is copied to the stack first if it does not lie in one piece.
 */
#include "passes/schedule.h"

#include <string.h>

#include "base/num.h"
#include "ir/kernel_affine.h"

#define MOST_ROWS 28	/* pixels of a tile */
#define MOST_VECTORS 4	/* of channels */
#define CACHE_LINE 64
#define LINE_ROWS 7	/* pixels of a tile of lines */
#define MOST_CELLS 8	/* of a window that is written out */
#define LATENCY 4.0	/* cycles from one sum to the next */
#define START 0.25	/* cycles that a tile costs, over all its terms */
#define NEAR_BYTES (640 * 1024)	/* weights that stay near for every row */

#define SCATTERED 2.0	/* times slower: far weights in several pieces */
#define REGISTERS (16 * 1024)	/* of the stack, for tiles */

/* What the terms of the sums read: elements that stay for all channels, that
 * stay for all pixels, and that move with both. */
struct terms {
	struct tn_map by_w, by_c;	/* variables that move with them */
	struct tn_map lets;		/* var -> its value */
	int pixels, channels, both;
	const struct tn_kexpr *weights;	/* the read by channel alone */
	int nweights;
	int64_t group;		/* channels that read the same; 0: all */
	bool failed;
};

/* A loop of the window that pixels at a border clip. */
struct clipped {
	const struct tn_kstmt *loop;
	int64_t cells;		/* in the middle; -1: not known */
};

struct windows {
	struct tn_kernel *kernel;
	struct tn_schedule_nest nest;
	const struct tn_target *target;
	int lanes;
	const struct tn_kstmt *w, *c;	/* the last two */
	const struct tn_kstmt *b;	/* over blocks of channels, of which c
					 * runs over one; or NULL */
	struct terms terms;
	int nclipped;
	struct clipped clipped[4];
	int64_t lo, hi;		/* pixels that are clipped, at the ends */
	int64_t rows, columns;	/* of the tile: pixels, channels (blocks) */
	int64_t block;		/* channels of a block of the weights; 0: they
				 * lie side by side */
};

/* ---- What the body reads ------------------------------------------------- */

static bool is_in_map(void *data, const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_VAR && tn_map_has(data, e->var);
}

static bool moves(struct tn_map *with, const struct tn_kexpr *e)
{
	return tn_kexpr_find(e, is_in_map, with) != NULL;
}

static void note_let(void *data, const struct tn_kstmt *s)
{
	struct terms *t = data;
	void *value = (void *)(uintptr_t)s->value;

	if (s->kind != TN_KSTMT_LET || s->var->is_mutable)
		return;
	if (!tn_map_set(&t->lets, s->var, value) ||
	    (moves(&t->by_w, s->value) &&
	     !tn_map_set(&t->by_w, s->var, value)) ||
	    (moves(&t->by_c, s->value) &&
	     !tn_map_set(&t->by_c, s->var, value)))
		t->failed = true;
}

/* A quotient by a number of channels: the group that they are in, or a block
 * of weights. */
static bool is_quotient(void *data, const struct tn_kexpr *e)
{
	struct terms *t = data;

	return e->kind == TN_KEXPR_OP && e->code == TN_OP_fdiv &&
		e->args[1]->kind == TN_KEXPR_INT && e->args[1]->i > 0 &&
		moves(&t->by_c, e->args[0]);
}

/* Each channel reads another element: not those of a group the same one. */
static bool differs(struct terms *t, const struct tn_kexpr *e)
{
	int i;

	if (is_quotient(t, e))
		return false;
	if (e->kind == TN_KEXPR_VAR)
		return tn_map_has(&t->by_c, e->var);
	for (i = 0; i < e->nargs; i++)
		if (differs(t, e->args[i]))
			return true;
	return false;
}

static void count_read(void *data, const struct tn_kexpr *e)
{
	struct terms *t = data;
	const struct tn_kexpr *group;
	bool by_w, by_c;

	if (e->kind != TN_KEXPR_LOAD)
		return;
	by_w = moves(&t->by_w, e);
	by_c = differs(t, e);
	group = by_c ? NULL : tn_kexpr_find(e, is_quotient, t);
	if (group)
		t->group = group->args[1]->i;
	t->pixels += by_w && !by_c;
	t->channels += by_c && !by_w;
	t->both += by_c && by_w;
	if (by_c && !by_w) {
		t->weights = e;
		t->nweights++;
	}
}

static void count_sum(void *data, const struct tn_kstmt *s)
{
	struct tn_kvisitor visitor = { count_read, NULL, data };

	if (s->kind == TN_KSTMT_SET)
		tn_kexpr_visit(s->value, &visitor);
}

static void survey(struct windows *win)
{
	struct terms *t = &win->terms;
	struct tn_kvisitor lets = { NULL, note_let, t };
	struct tn_kvisitor sums = { NULL, count_sum, t };
	const struct tn_kexpr *block;

	if (!tn_map_set(&t->by_w, win->w->var, win) ||
	    !tn_map_set(&t->by_c, win->c->var, win))
		t->failed = true;
	tn_kblock_visit(win->nest.body, &lets);
	tn_kblock_visit(win->nest.body, &sums);
	block = t->weights ? tn_kexpr_find(t->weights, is_quotient, t) : NULL;
	win->block = block ? block->args[1]->i : 0;
}

static bool reads_pixel(void *data, const struct tn_kexpr *e)
{
	struct windows *win = data;

	return e->kind == TN_KEXPR_LOAD && moves(&win->terms.by_w, e) &&
		!differs(&win->terms, e) && tn_kexpr_reads(e, win->b->var);
}

static bool sums_pixel(void *data, const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_SET &&
		tn_kexpr_find(s->value, reads_pixel, data);
}

/* A loop around that chooses weights alone, for whole vectors of c. */
static void find_blocks(struct windows *win)
{
	const struct terms *t = &win->terms;
	int64_t each = tn_kloop_extent(win->c);
	int i;

	if (t->nweights != 1 || !t->pixels || win->block || each < 1 ||
	    each % win->lanes || each / win->lanes >= MOST_VECTORS)
		return;
	for (i = 0; i + 2 < win->nest.n; i++) {
		win->b = win->nest.loops[i];
		if (tn_kexpr_reads(t->weights, win->b->var) &&
		    !tn_kblock_find(win->nest.body, sums_pixel, win))
			return;
	}
	win->b = NULL;
}

/* ---- What borders clip --------------------------------------------------- */

/* The value of index arithmetic at a pixel; false: it needs more than that. */
static bool value_at(const struct windows *win, const struct tn_kexpr *e,
		     int64_t pixel, int64_t *value)
{
	const struct tn_kexpr *let;
	int64_t a, b;

	if (e->kind == TN_KEXPR_INT) {
		*value = e->i;
		return true;
	}
	if (e->kind == TN_KEXPR_VAR) {
		*value = pixel;
		let = tn_map_find(&win->terms.lets, e->var);
		return e->var == win->w->var ||
			(let && value_at(win, let, pixel, value));
	}
	if (e->kind != TN_KEXPR_OP || e->nargs != 2 || e->dtype != TN_i64 ||
	    !value_at(win, e->args[0], pixel, &a) ||
	    !value_at(win, e->args[1], pixel, &b))
		return false;
	if (e->code == TN_OP_min || e->code == TN_OP_max) {
		*value = (a < b) == (e->code == TN_OP_min) ? a : b;
		return true;
	}
	return e->is_index && tn_kexpr_fold(e->code, a, b, value);
}

static bool is_as(const struct windows *win, const struct tn_kstmt *loop,
		  int64_t pixel, int64_t from, int64_t to)
{
	int64_t a, b;

	return value_at(win, loop->from, pixel, &a) &&
		value_at(win, loop->to, pixel, &b) && a == from && b == to;
}

/* Turns of the whole window; -1: not known. */
static int64_t cells_of(const struct windows *win,
			const struct tn_kstmt *loop)
{
	const struct tn_kexpr *from, *to, *cond = NULL;

	if (!tn_schedule_enclose(win->kernel, loop, &from, &to, &cond))
		return -1;
	return to->i - from->i;
}

/* How many pixels at the ends are clipped, by the bounds in the middle. */
static void measure(struct windows *win, struct clipped *clipped)
{
	const struct tn_kstmt *loop = clipped->loop;
	int64_t all = tn_kloop_extent(win->w), from, to, lo = 0, hi = 0;

	clipped->cells = cells_of(win, loop);
	if (all < 1 || !value_at(win, loop->from, all / 2, &from) ||
	    !value_at(win, loop->to, all / 2, &to)) {
		lo = hi = 1;
	} else {
		while (lo < all / 2 && !is_as(win, loop, lo, from, to))
			lo++;
		while (hi < all / 2 &&
		       !is_as(win, loop, all - 1 - hi, from, to))
			hi++;
	}
	if (lo > win->lo)
		win->lo = lo;
	if (hi > win->hi)
		win->hi = hi;
}

static void note_clipped(void *data, const struct tn_kstmt *s)
{
	struct windows *win = data;

	if (!tn_kstmt_is_loop(s) || win->nclipped == 4 ||
	    (!moves(&win->terms.by_w, s->from) &&
	     !moves(&win->terms.by_w, s->to)))
		return;
	win->clipped[win->nclipped].loop = s;
	measure(win, &win->clipped[win->nclipped++]);
}

/* ---- The tile ------------------------------------------------------------ */

/* Cycles of one term of a tile of p pixels x v vectors. */
static double cycles(const struct terms *t, int64_t p, int64_t v)
{
	double sums = (double)(p * v) / 2;
	double loads = (double)(t->pixels * p + t->channels * v +
				t->both * p * v) / 2;
	double most = sums > loads ? sums : loads;

	return START + (most > LATENCY ? most : LATENCY);
}

/* Of all pixels or vectors of a loop in tiles of n: how many are whole, and
 * what is left over. Without a number of turns, per turn. */
static void divide(int64_t all, int64_t n, double *whole, int64_t *rest)
{
	*whole = all < 0 ? 1.0 / (double)n : (double)(all / n);
	*rest = all < 0 ? 0 : all % n;
}

static double row_cycles(const struct windows *win, int64_t pixels, int64_t p,
			 int64_t v)
{
	double whole;
	int64_t rest;

	divide(pixels, p, &whole, &rest);
	return whole * cycles(&win->terms, p, v) +
		(rest ? cycles(&win->terms, rest, v) : 0);
}

static double all_cycles(const struct windows *win, int64_t pixels, int64_t p,
			 int64_t v)
{
	int64_t vectors = tn_kloop_extent(win->c), rest;
	double whole, sum;

	if (vectors >= 0)
		vectors /= win->lanes;
	if (win->b)
		vectors = tn_kloop_extent(win->b) < 0 ? -1 :
			tn_kloop_extent(win->b) * vectors;
	divide(vectors, v, &whole, &rest);
	sum = whole * row_cycles(win, pixels, p, v);
	return sum + (rest ? row_cycles(win, pixels, p, rest) : 0);
}

/* Sums, a row of weights, and what else an operation needs; panels are whole
 * blocks of the weights or whole parts of one, and of one group. */
static bool fits(const struct windows *win, int64_t p, int64_t v)
{
	const struct terms *t = &win->terms;
	int64_t spare = t->channels ? v : 3, panel = v * win->lanes;

	if (t->both)
		spare += 5;
	if (t->pixels && win->target->vector_registers < 32)
		spare++;
	if ((win->block && ((panel % win->block && win->block % panel) ||
			    win->block % win->lanes)) ||
	    (t->group && t->group % panel))
		return false;
	return p * v + spare <= win->target->vector_registers;
}

/* Weights that all pixels pass before the next panel comes. */
static bool is_far(const struct windows *win)
{
	const struct tn_kexpr *read = win->terms.weights;
	int64_t bytes;

	return read && tn_kbuf_bytes(read->buf, &bytes) && bytes > NEAR_BYTES;
}

/* A panel of so many channels is in several pieces, and its copies, that of the
 * last channels too, fit the stack. */
static bool wants_copy(const struct windows *win, int64_t panel)
{
	const struct tn_kbuf *buf = win->terms.weights->buf;
	const struct tn_dim *last = buf->dims[buf->rank - 1];
	int64_t all = tn_kloop_extent(win->c), bytes, columns;

	if (all < panel || !tn_dim_is_const(last) ||
	    last->value <= panel || !tn_kbuf_bytes(buf, &bytes))
		return false;
	columns = panel + all % panel;
	return bytes / all * columns + REGISTERS <= win->target->stack_bytes;
}

/* How much slower a tile is for far weights of which there is no copy. */
static double slowness(const struct windows *win, int64_t panel)
{
	const struct tn_kbuf *buf;
	const struct tn_dim *last;

	if (!is_far(win) || wants_copy(win, panel))
		return 1;
	buf = win->terms.weights->buf;
	last = buf->dims[buf->rank - 1];
	return tn_dim_is_const(last) && last->value <= panel ? 1 : SCATTERED;
}

/* Where nothing but weights stays, memory is what bounds the speed: a tile is
 * as wide as a line of the cache. Its vectors; 0: not so. */
static int64_t vectors_of_line(const struct windows *win)
{
	if (!win->terms.both || win->terms.pixels)
		return 0;
	return win->target->vector_bytes >= CACHE_LINE ? 1 :
		CACHE_LINE / win->target->vector_bytes;
}

/* The best tile for rows of so many pixels (-1: any number); its cycles. */
static double choose_tile(struct windows *win, int64_t pixels)
{
	int64_t most = tn_kloop_most(win->c) / win->lanes, each = 1, p, v;
	int64_t line = vectors_of_line(win), last = MOST_VECTORS, first;
	int64_t rows = line ? LINE_ROWS : MOST_ROWS;
	double best = -1, time;

	if (win->b) {
		each = most;
		most = INT32_MAX;
	}
	if (line && line <= most)
		last = line;
	first = line && line <= most ? line : each;
	for (v = first; v <= last && v <= most; v += each)
		for (p = 1; p <= rows; p++) {
			if (!fits(win, p, v) || (pixels >= 0 && p > pixels))
				continue;
			time = all_cycles(win, pixels, p, v) *
				slowness(win, v * win->lanes);
			if (best >= 0 && time >= 0.995 * best)
				continue;
			best = time;
			win->rows = p;
			win->columns = win->b ? v / each : v * win->lanes;
		}
	return best;
}

/* ---- The steps ----------------------------------------------------------- */

static const char *tail_of(const struct tn_kstmt *loop)
{
	return tn_kloop_extent(loop) >= 0 ? "" : ", tail=ones";
}

/* The loops of the tile's channels: two where blocks of weights are smaller. */
static void put_inner(struct tn_buf *out, const struct windows *win)
{
	const char *c = win->c->var->name;

	if (win->b)
		tn_buf_putf(out, "%s__1, %s", win->b->var->name, c);
	else if (win->block && win->block < win->columns)
		tn_buf_putf(out, "%s__1__0, %s__1__1", c, c);
	else
		tn_buf_putf(out, "%s__1", c);
}

/* The loops outside w, c and b, each with ", " behind. */
static void put_outer(struct tn_buf *out, const struct windows *win)
{
	int i;

	for (i = 0; i + 2 < win->nest.n; i++)
		if (win->nest.loops[i] != win->b)
			tn_buf_putf(out, "%s, ",
				    win->nest.loops[i]->var->name);
}

/* Tiles that hold so many clipped pixels, after `spare` that stand apart. */
static int64_t tiles_of(const struct windows *win, int64_t pixels,
			int64_t spare)
{
	return pixels <= spare ? 0 :
		(pixels - spare + win->rows - 1) / win->rows;
}

/* The tiles at the borders, if there are others. */
static void put_peel(struct tn_buf *out, const struct windows *win)
{
	int64_t all = tn_kloop_extent(win->w);
	int64_t rest = all < 0 ? 0 : all % win->rows;
	int64_t lo = tiles_of(win, win->lo, 0);
	int64_t hi = tiles_of(win, win->hi, rest);

	if ((lo || hi) && (all < 0 || all / win->rows > 1))
		tn_buf_putf(out, "peel(%s__0, %lld, %lld), ",
			    win->w->var->name, (long long)lo, (long long)hi);
}

static bool is_this(void *data, const struct tn_kexpr *e)
{
	return e == data;
}

/* The loops around the weights' read, outermost first; false: none. */
static bool find_around(const struct windows *win,
			const struct tn_kblock *block,
			const struct tn_kstmt **around, int *n)
{
	const struct tn_kexpr *read = win->terms.weights;
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next) {
		if (!tn_kstmt_is_loop(s) || *n == 4)
			continue;
		around[(*n)++] = s;
		if (find_around(win, &s->body, around, n))
			return true;
		--*n;
	}
	for (s = block->first; s; s = s->next)
		if (s->kind == TN_KSTMT_SET && tn_kstmt_find_expr(
			s, is_this, (void *)(uintptr_t)read))
			return *n > 0;
	return false;
}

/* Clipped loops of few cells are written out: conditions become known. */
static void put_unroll(struct tn_buf *out, const struct windows *win)
{
	int i;

	tn_buf_put(out, "unroll(");
	for (i = 0; i < win->nclipped; i++)
		if (win->clipped[i].cells > 0 &&
		    win->clipped[i].cells <= MOST_CELLS)
			tn_buf_putf(out, "%s, ",
				    win->clipped[i].loop->var->name);
	if (win->b)
		tn_buf_putf(out, "%s__1, ", win->b->var->name);
	else if (win->block && win->block < win->columns)
		tn_buf_putf(out, "%s__1__0, ", win->c->var->name);
	tn_buf_putf(out, "%s__1), ", win->w->var->name);
}

/* The weights of a panel to the stack, those of a term to registers. */
static void put_stages(struct tn_buf *out, const struct windows *win)
{
	const struct terms *t = &win->terms;
	const struct tn_kstmt *around[4];
	const char *c = win->c->var->name, *name;
	bool copies;
	int i, n = 0;

	if (t->nweights != 1 || !t->pixels ||
	    !find_around(win, win->nest.body, around, &n))
		return;
	name = t->weights->buf->name;
	copies = !win->b && is_far(win) && wants_copy(win, win->columns);
	if (copies) {
		tn_buf_putf(out, "stage(%s, %s__0, ", name, c);
		for (i = 0; i < n; i++)
			tn_buf_putf(out, "%s, ", around[i]->var->name);
		put_inner(out, win);
		tn_buf_put(out, ", space=stack), ");
	}
	tn_buf_putf(out, "stage(%s%s, %s, ", name, copies ? "__staged" : "",
		    around[n - 1]->var->name);
	put_inner(out, win);
	tn_buf_put(out, "), ");
}

/* The loop that is cut into panels goes outside, its turns of a panel inside
 * of w. */
static void put_panels(struct tn_buf *out, const struct windows *win)
{
	const struct tn_kstmt *cut = win->b ? win->b : win->c;
	const char *w = win->w->var->name, *q = cut->var->name;
	const char *lane = win->b ? win->c->var->name : NULL;
	bool far = is_far(win);

	tn_buf_putf(out, "reorder(%s, ", q);
	put_outer(out, win);
	tn_buf_putf(out, "%s%s%s), split(%s, %lld%s), reorder(", w,
		    lane ? ", " : "", lane ? lane : "", q,
		    (long long)win->columns, tail_of(cut));
	if (far)
		tn_buf_putf(out, "%s__0, ", q);
	put_outer(out, win);
	if (!far)
		tn_buf_putf(out, "%s__0, ", q);
	tn_buf_putf(out, "%s, %s__1%s%s), ", w, q, lane ? ", " : "",
		    lane ? lane : "");
}

/* Panels of one loop for threads, or what is around. */
static void put_parallel(struct tn_buf *out, const struct windows *win)
{
	const struct tn_kstmt *cut = win->b ? win->b : win->c;
	int i;

	for (i = 0; i + 2 < win->nest.n && win->nest.loops[i] == win->b; i++)
		;
	if (is_far(win) || i + 2 >= win->nest.n)
		tn_buf_putf(out, "%s__0", cut->var->name);
	else
		tn_buf_put(out, win->nest.loops[i]->var->name);
}

static void put_steps(struct tn_buf *out, struct tn_buf *parallel,
		      const struct windows *win, bool stages)
{
	const char *w = win->w->var->name, *c = win->c->var->name;
	bool blocks = win->block && win->block < win->columns;

	put_panels(out, win);
	tn_buf_putf(out, "split(%s, %lld%s), ", w, (long long)win->rows,
		    tail_of(win->w));
	if (blocks)
		tn_buf_putf(out, "split(%s__1, %lld), ", c,
			    (long long)win->block);
	put_peel(out, win);
	tn_buf_putf(out, "tile(%s__1, ", w);
	put_inner(out, win);
	tn_buf_put(out, "), ");
	if (stages)
		put_stages(out, win);
	put_unroll(out, win);
	tn_buf_putf(out, "vectorize(%s%s)", c, win->b ? "" : blocks ?
		    "__1__1" : "__1");
	put_parallel(parallel, win);
}

bool tn_schedule_windows(struct tn_kernel *kernel, struct tn_kstmt *loop,
			 const struct tn_target *target, bool stages,
			 struct tn_buf *steps, struct tn_buf *parallel)
{
	struct windows win = { .kernel = kernel, .target = target };
	struct tn_kvisitor clips = { NULL, note_clipped, &win };
	bool good = false;
	int n;

	win.lanes = tn_schedule_nest_of(kernel->module, loop, target,
					&win.nest);
	n = win.nest.n;
	if (!win.lanes || n < 2)
		return false;
	win.w = win.nest.loops[n - 2];
	win.c = win.nest.loops[n - 1];
	tn_map_init_ptr(&win.terms.by_w);
	tn_map_init_ptr(&win.terms.by_c);
	tn_map_init_ptr(&win.terms.lets);
	survey(&win);
	find_blocks(&win);
	tn_kblock_visit(win.nest.body, &clips);
	if (win.nclipped || (n > 2 && tn_kloop_extent(win.w) > 0))
		good = choose_tile(&win, tn_kloop_extent(win.w)) >= 0;
	if (good)
		put_steps(steps, parallel, &win, stages);
	if (win.terms.failed)
		kernel->module->failed = true;
	tn_map_fini(&win.terms.by_w);
	tn_map_fini(&win.terms.by_c);
	tn_map_fini(&win.terms.lets);
	return good && !kernel->module->failed;
}
