/*
 * For the tests of schedules: a module with one kernel of several kinds, and
 * what it computes. Sizes are numbers; 0 stands for the symbol N.
 */
#ifndef TN_TESTS_SCHEDULE_KERNELS_H
#define TN_TESTS_SCHEDULE_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ir/kernel_eval.h"
#include "passes/schedule.h"

/* ---- A module and its kernels ------------------------------------------ */

struct world {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_module *module;
	const struct tn_dim *symbol;	/* N in [0, 64] */
	struct tn_kernel *kernel;
	struct tn_buf why, text;
};

static void open_world(struct world *w)
{
	struct tn_sym sym = { .lo = 0, .hi = 64, .mod = 1 };

	memset(w, 0, sizeof(*w));
	tn_intern_init(&w->names);
	tn_sink_init(&w->sink);
	w->module = tn_module_new(&w->names, &w->sink);
	assert_non_null(w->module);
	sym.name = tn_intern_text(&w->names, "N");
	w->symbol = tn_dim_new_sym(&w->module->dims, &sym);
	assert_non_null(w->symbol);
	tn_buf_init(&w->why);
	tn_buf_init(&w->text);
}

static void close_world(struct world *w)
{
	tn_buf_fini(&w->why);
	tn_buf_fini(&w->text);
	tn_module_free(w->module);
	tn_sink_fini(&w->sink);
	tn_intern_fini(&w->names);
}

/* A size; 0 stands for the symbol N. */
static const struct tn_dim *size(struct world *w, int64_t n)
{
	return n ? tn_dim_const(&w->module->dims, n) : w->symbol;
}

static struct tn_kbuf *param(struct world *w, const char *name,
			     enum tn_kbuf_role role, int rank,
			     const struct tn_dim *a, const struct tn_dim *b,
			     const struct tn_dim *c, const struct tn_dim *d)
{
	const struct tn_dim *dims[4];
	struct tn_kbuf *buf;

	dims[0] = a;
	dims[1] = b;
	dims[2] = c;
	dims[3] = d;
	buf = tn_kernel_param(w->kernel, name, TN_f32, rank, dims, role);
	assert_non_null(buf);
	return buf;
}

static struct tn_kvar *var(struct world *w, const char *name,
			   enum tn_dtype dtype)
{
	return tn_kernel_var(w->kernel, name, dtype);
}

static const struct tn_kexpr *get(struct world *w, struct tn_kvar *v)
{
	return tn_kexpr_var(w->kernel, v);
}

static const struct tn_kexpr *number(struct world *w, int64_t i)
{
	return tn_kexpr_int(w->kernel, TN_i64, i);
}

static const struct tn_kexpr *real(struct world *w, double f)
{
	return tn_kexpr_float(w->kernel, TN_f32, f);
}

static const struct tn_kexpr *op(struct world *w, enum tn_opcode code,
				 const struct tn_kexpr *a,
				 const struct tn_kexpr *b)
{
	const struct tn_kexpr *args[2];

	args[0] = a;
	args[1] = b;
	return tn_kexpr_op(w->kernel, code,
			   code == TN_OP_lt ? TN_bool : TN_f32, 2, args);
}

static const struct tn_kexpr *load(struct world *w, struct tn_kbuf *buf,
				   const struct tn_kexpr *a,
				   const struct tn_kexpr *b,
				   const struct tn_kexpr *c,
				   const struct tn_kexpr *d)
{
	const struct tn_kexpr *index[4];

	index[0] = a;
	index[1] = b;
	index[2] = c;
	index[3] = d;
	return tn_kexpr_load(w->kernel, buf, buf->rank, index);
}

static void store(struct world *w, struct tn_kblock *block,
		  struct tn_kbuf *buf, const struct tn_kexpr *a,
		  const struct tn_kexpr *b, const struct tn_kexpr *c,
		  const struct tn_kexpr *value, bool accumulate)
{
	const struct tn_kexpr *index[3];

	index[0] = a;
	index[1] = b;
	index[2] = c;
	assert_non_null(tn_kstmt_store(w->kernel, block, buf, buf->rank,
				       index, value, accumulate));
}

static struct tn_kblock *loop(struct world *w, struct tn_kblock *block,
			      struct tn_kvar *v, const struct tn_dim *to)
{
	struct tn_kstmt *s;

	s = tn_kstmt_loop(w->kernel, block, TN_LOOP_FOR, v, number(w, 0),
			  tn_kexpr_dim(w->kernel, to));
	assert_non_null(s);
	return &s->body;
}

static struct tn_kblock *begin(struct world *w)
{
	w->kernel = tn_kernel_new(w->module, "f");
	assert_non_null(w->kernel);
	return &w->kernel->body;
}

/* y[i, j] = sum(k, x[i, k] * w[k, j]) */
static void make_matmul(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w), *inner;
	const struct tn_dim *m = size(w, n[0]), *p = size(w, n[1]);
	const struct tn_dim *q = size(w, n[2]);
	struct tn_kbuf *x = param(w, "x", TN_KBUF_IN, 2, m, q, 0, 0);
	struct tn_kbuf *b = param(w, "w", TN_KBUF_IN, 2, q, p, 0, 0);
	struct tn_kbuf *y = param(w, "y", TN_KBUF_OUT, 2, m, p, 0, 0);
	struct tn_kvar *i = var(w, "i", TN_i64), *j = var(w, "j", TN_i64);
	struct tn_kvar *k = var(w, "k", TN_i64);
	struct tn_kvar *acc = var(w, "acc", TN_f32);

	at = loop(w, loop(w, at, i, m), j, p);
	tn_kstmt_let(w->kernel, at, acc, real(w, 0));
	inner = loop(w, at, k, q);
	tn_kstmt_set(w->kernel, inner, acc,
		     op(w, TN_OP_mul, load(w, x, get(w, i), get(w, k), 0, 0),
			load(w, b, get(w, k), get(w, j), 0, 0)), true);
	store(w, at, y, get(w, i), get(w, j), 0, get(w, acc), false);
}

/* y[h, o] = sum(r, c, x[h + r, c] * w[r, c, o]), one spatial axis. */
static void make_conv(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w), *inner;
	const struct tn_dim *h = size(w, n[0]), *o = size(w, n[1]);
	const struct tn_dim *c = size(w, n[2]), *three = size(w, 3);
	const struct tn_dim *wide;
	struct tn_kbuf *x, *b, *y;
	struct tn_kvar *i = var(w, "h", TN_i64), *j = var(w, "o", TN_i64);
	struct tn_kvar *r = var(w, "r", TN_i64), *k = var(w, "c", TN_i64);
	struct tn_kvar *acc = var(w, "acc", TN_f32);

	wide = tn_dim_add(&w->module->dims, h, size(w, 2));
	x = param(w, "x", TN_KBUF_IN, 2, wide, c, 0, 0);
	b = param(w, "w", TN_KBUF_IN, 3, three, c, o, 0);
	y = param(w, "y", TN_KBUF_OUT, 2, h, o, 0, 0);
	at = loop(w, loop(w, at, i, h), j, o);
	tn_kstmt_let(w->kernel, at, acc, real(w, 1));
	inner = loop(w, loop(w, at, r, three), k, c);
	tn_kstmt_set(w->kernel, inner, acc,
		     op(w, TN_OP_mul,
			load(w, x, tn_kexpr_add(w->kernel, get(w, i),
						get(w, r)), get(w, k), 0, 0),
			load(w, b, get(w, r), get(w, k), get(w, j), 0)),
		     true);
	store(w, at, y, get(w, i), get(w, j), 0, get(w, acc), false);
}

/* y[i, j] = x[i, j] * w[j] */
static void make_map(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w);
	const struct tn_dim *m = size(w, n[0]), *p = size(w, n[1]);
	struct tn_kbuf *x = param(w, "x", TN_KBUF_IN, 2, m, p, 0, 0);
	struct tn_kbuf *b = param(w, "w", TN_KBUF_IN, 1, p, 0, 0, 0);
	struct tn_kbuf *y = param(w, "y", TN_KBUF_OUT, 2, m, p, 0, 0);
	struct tn_kvar *i = var(w, "i", TN_i64), *j = var(w, "j", TN_i64);

	at = loop(w, loop(w, at, i, m), j, p);
	store(w, at, y, get(w, i), get(w, j), 0,
	      op(w, TN_OP_mul, load(w, x, get(w, i), get(w, j), 0, 0),
		 load(w, b, get(w, j), 0, 0, 0)), false);
}

/* Each row by its sum; lets live across loops. */
static void make_rows(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w), *row, *inner;
	const struct tn_dim *m = size(w, n[0]), *p = size(w, n[1]);
	struct tn_kbuf *x = param(w, "x", TN_KBUF_IN, 2, m, p, 0, 0);
	struct tn_kbuf *y = param(w, "y", TN_KBUF_OUT, 2, m, p, 0, 0);
	struct tn_kvar *i = var(w, "i", TN_i64), *j = var(w, "j", TN_i64);
	struct tn_kvar *k = var(w, "k", TN_i64);
	struct tn_kvar *acc = var(w, "acc", TN_f32);
	struct tn_kvar *inv = var(w, "inv", TN_f32);

	row = loop(w, at, i, m);
	tn_kstmt_let(w->kernel, row, acc, real(w, 1));
	inner = loop(w, row, k, p);
	tn_kstmt_set(w->kernel, inner, acc,
		     load(w, x, get(w, i), get(w, k), 0, 0), true);
	tn_kstmt_let(w->kernel, row, inv,
		     op(w, TN_OP_div, real(w, 1), get(w, acc)));
	inner = loop(w, row, j, p);
	store(w, inner, y, get(w, i), get(w, j), 0,
	      op(w, TN_OP_mul, load(w, x, get(w, i), get(w, j), 0, 0),
		 get(w, inv)), false);
}

/* y[j + k] = x[k, j], later turns of k win: neither loop is free. */
static void make_skew(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w);
	const struct tn_dim *m = size(w, n[0]), *p = size(w, n[1]);
	const struct tn_dim *both = tn_dim_add(&w->module->dims, m, p);
	struct tn_kbuf *x = param(w, "x", TN_KBUF_IN, 2, m, p, 0, 0);
	struct tn_kbuf *y = param(w, "y", TN_KBUF_OUT, 1, both, 0, 0, 0);
	struct tn_kvar *k = var(w, "k", TN_i64), *j = var(w, "j", TN_i64);

	at = loop(w, loop(w, at, k, m), j, p);
	store(w, at, y, tn_kexpr_add(w->kernel, get(w, j), get(w, k)), 0, 0,
	      load(w, x, get(w, k), get(w, j), 0, 0), false);
}

/* y[i + 1, j] += y[i, j] * x[j]: only j is free. */
static void make_scan(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w);
	const struct tn_dim *m = size(w, n[0]), *p = size(w, n[1]);
	const struct tn_dim *more = tn_dim_add(&w->module->dims, m,
					       size(w, 1));
	struct tn_kbuf *x = param(w, "x", TN_KBUF_IN, 1, p, 0, 0, 0);
	struct tn_kbuf *y = param(w, "y", TN_KBUF_INOUT, 2, more, p, 0, 0);
	struct tn_kvar *i = var(w, "i", TN_i64), *j = var(w, "j", TN_i64);

	at = loop(w, loop(w, at, i, m), j, p);
	store(w, at, y, tn_kexpr_add(w->kernel, get(w, i), number(w, 1)),
	      get(w, j), 0,
	      op(w, TN_OP_mul, load(w, y, get(w, i), get(w, j), 0, 0),
		 load(w, x, get(w, j), 0, 0, 0)), true);
}

/* Adds to y[i * 4 + t] for t in 0..n[2], then reads y[i * 4 + u] for n[1] turns
 * of u from `first`: i is free only if all that stays within four. */
static void blocks_from(struct world *w, const int64_t *n, int64_t first)
{
	struct tn_kblock *at = begin(w), *row, *inner;
	struct tn_dim_pool *pool = &w->module->dims;
	const struct tn_dim *m = size(w, n[0]), *reach = size(w, n[1]);
	const struct tn_dim *turns = size(w, n[2]), *all;
	struct tn_kbuf *x, *y, *z;
	struct tn_kvar *i = var(w, "i", TN_i64), *t = var(w, "t", TN_i64);
	struct tn_kvar *u = var(w, "u", TN_i64);
	const struct tn_kexpr *base, *from = number(w, first), *to;
	struct tn_kstmt *reads;

	all = tn_dim_add(pool, tn_dim_mul(pool, m, size(w, 4)),
			 tn_dim_add(pool, tn_dim_add(pool, reach, turns),
				    size(w, 1)));
	x = param(w, "x", TN_KBUF_IN, 1, all, 0, 0, 0);
	y = param(w, "y", TN_KBUF_INOUT, 1, all, 0, 0, 0);
	z = param(w, "z", TN_KBUF_OUT, 2, m, tn_dim_add(pool, reach,
							size(w, 1)), 0, 0);
	row = loop(w, at, i, m);
	base = tn_kexpr_mul(w->kernel, get(w, i), number(w, 4));
	inner = loop(w, row, t, turns);
	store(w, inner, y, tn_kexpr_add(w->kernel, base, get(w, t)), 0, 0,
	      load(w, x, tn_kexpr_add(w->kernel, base, get(w, t)), 0, 0, 0),
	      true);
	to = tn_kexpr_add(w->kernel, tn_kexpr_dim(w->kernel, reach), from);
	reads = tn_kstmt_loop(w->kernel, row, TN_LOOP_FOR, u, from, to);
	assert_non_null(reads);
	store(w, &reads->body, z, get(w, i), get(w, u), 0,
	      load(w, y, tn_kexpr_add(w->kernel, base, get(w, u)), 0, 0, 0),
	      false);
}

static void make_blocks(struct world *w, const int64_t *n)
{
	blocks_from(w, n, 0);
}

static void make_shifted(struct world *w, const int64_t *n)
{
	blocks_from(w, n, 1);
}

/* y[i, k, r] = x[i, k] * w[r], element and index held in lets of the k loop. */
static void make_spread(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w), *inner;
	const struct tn_dim *m = size(w, n[0]), *p = size(w, n[1]);
	const struct tn_dim *q = size(w, n[2]);
	struct tn_kbuf *x = param(w, "x", TN_KBUF_IN, 2, m, p, 0, 0);
	struct tn_kbuf *b = param(w, "w", TN_KBUF_IN, 1, q, 0, 0, 0);
	struct tn_kbuf *y = param(w, "y", TN_KBUF_OUT, 3, m, p, q, 0);
	struct tn_kvar *i = var(w, "i", TN_i64), *k = var(w, "k", TN_i64);
	struct tn_kvar *r = var(w, "r", TN_i64), *t = var(w, "t", TN_f32);
	struct tn_kvar *column = var(w, "column", TN_i64);

	at = loop(w, loop(w, at, i, m), k, p);
	tn_kstmt_let(w->kernel, at, column, get(w, k));
	tn_kstmt_let(w->kernel, at, t,
		     load(w, x, get(w, i), get(w, column), 0, 0));
	inner = loop(w, at, r, q);
	store(w, inner, y, get(w, i), get(w, k), get(w, r),
	      op(w, TN_OP_mul, get(w, t), load(w, b, get(w, r), 0, 0, 0)),
	      false);
}

/* y[i] = sum of x[k] for k in i..m. */
static void make_triangle(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w);
	const struct tn_dim *m = size(w, n[0]);
	struct tn_kbuf *x = param(w, "x", TN_KBUF_IN, 1, m, 0, 0, 0);
	struct tn_kbuf *y = param(w, "y", TN_KBUF_OUT, 1, m, 0, 0, 0);
	struct tn_kvar *i = var(w, "i", TN_i64), *k = var(w, "k", TN_i64);
	struct tn_kvar *acc = var(w, "acc", TN_f32);
	struct tn_kstmt *sum;

	at = loop(w, at, i, m);
	tn_kstmt_let(w->kernel, at, acc, real(w, 0));
	sum = tn_kstmt_loop(w->kernel, at, TN_LOOP_FOR, k, get(w, i),
			    tn_kexpr_dim(w->kernel, m));
	assert_non_null(sum);
	tn_kstmt_set(w->kernel, &sum->body, acc,
		     load(w, x, get(w, k), 0, 0, 0), true);
	store(w, at, y, get(w, i), 0, 0, get(w, acc), false);
}

/* y[i, j] = x[i] < 0 ? w[j] : x[i], under an if. */
static void make_if(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w);
	const struct tn_dim *m = size(w, n[0]), *p = size(w, n[1]);
	const struct tn_dim *q = n[2] < 0 ? size(w, -n[2]) : p;
	struct tn_kbuf *x = param(w, "x", TN_KBUF_IN, 1, m, 0, 0, 0);
	struct tn_kbuf *b = param(w, "w", TN_KBUF_IN, 1, q, 0, 0, 0);
	struct tn_kbuf *y = param(w, "y", TN_KBUF_OUT, 2, m, p, 0, 0);
	struct tn_kvar *i = var(w, "i", TN_i64), *j = var(w, "j", TN_i64);
	const struct tn_kexpr *xi;
	struct tn_kstmt *s;

	at = loop(w, loop(w, at, i, m), j, p);
	xi = load(w, x, get(w, i), 0, 0, 0);
	s = tn_kstmt_if(w->kernel, at, op(w, TN_OP_lt, xi, real(w, 0)));
	assert_non_null(s);
	store(w, &s->body, y, get(w, i), get(w, j), 0,
	      load(w, b, get(w, j), 0, 0, 0), false);
	store(w, &s->orelse, y, get(w, i), get(w, j), 0, xi, false);
}

static const struct tn_kexpr *bound(struct world *w, enum tn_opcode code,
				    const struct tn_kexpr *a,
				    const struct tn_kexpr *b)
{
	const struct tn_kexpr *args[2];

	args[0] = a;
	args[1] = b;
	return tn_kexpr_op(w->kernel, code, TN_i64, 2, args);
}

/* Cells from..to of a window of three at 2 * v - 1 that lie in 0..in, as lets
 * of the block; the start. */
static const struct tn_kexpr *clip(struct world *w, struct tn_kblock *at,
				   struct tn_kvar *v,
				   const struct tn_dim *in,
				   const struct tn_kexpr **from,
				   const struct tn_kexpr **to)
{
	struct tn_kvar *start = var(w, "start", TN_i64);
	struct tn_kvar *f = var(w, "from", TN_i64), *t = var(w, "to", TN_i64);
	const struct tn_kexpr *begin, *room;

	tn_kstmt_let(w->kernel, at, start, tn_kexpr_sub(w->kernel,
		tn_kexpr_mul(w->kernel, get(w, v), number(w, 2)),
		number(w, 1)));
	begin = get(w, start);
	tn_kstmt_let(w->kernel, at, f, bound(w, TN_OP_max,
		tn_kexpr_sub(w->kernel, number(w, 0), begin), number(w, 0)));
	room = tn_kexpr_sub(w->kernel, tn_kexpr_dim(w->kernel, in), begin);
	tn_kstmt_let(w->kernel, at, t, bound(w, TN_OP_min, number(w, 3),
		bound(w, TN_OP_max, room, number(w, 0))));
	*from = get(w, f);
	*to = get(w, t);
	return begin;
}

/* y[h, o] = sum(r, k, x[2 * h + r - 1, k] * w[r, k, o]), clipped at the ends
 * of x, which has as many rows as y or twice as many. */
static void make_window(struct world *w, const int64_t *n)
{
	struct tn_kblock *at = begin(w), *inner;
	const struct tn_dim *h = size(w, n[0]), *o = size(w, n[1]);
	const struct tn_dim *c = size(w, n[2]), *in = h, *two = size(w, 2);
	struct tn_kvar *i = var(w, "h", TN_i64), *j = var(w, "o", TN_i64);
	struct tn_kvar *r = var(w, "r", TN_i64), *k = var(w, "k", TN_i64);
	struct tn_kvar *acc = var(w, "acc", TN_f32);
	const struct tn_kexpr *from, *to, *start;
	struct tn_kbuf *x, *b, *y;
	struct tn_kstmt *cells;

	if (n[2] % 2)
		in = tn_dim_mul(&w->module->dims, h, two);
	x = param(w, "x", TN_KBUF_IN, 2, in, c, 0, 0);
	b = param(w, "w", TN_KBUF_IN, 3, size(w, 3), c, o, 0);
	y = param(w, "y", TN_KBUF_OUT, 2, h, o, 0, 0);
	at = loop(w, loop(w, at, i, h), j, o);
	start = clip(w, at, i, in, &from, &to);
	tn_kstmt_let(w->kernel, at, acc, real(w, 1));
	cells = tn_kstmt_loop(w->kernel, at, TN_LOOP_FOR, r, from, to);
	assert_non_null(cells);
	inner = loop(w, &cells->body, k, c);
	tn_kstmt_set(w->kernel, inner, acc,
		     op(w, TN_OP_mul,
			load(w, x, tn_kexpr_add(w->kernel, start, get(w, r)),
			     get(w, k), 0, 0),
			load(w, b, get(w, r), get(w, k), get(w, j), 0)),
		     true);
	store(w, at, y, get(w, i), get(w, j), 0, get(w, acc), false);
}

static const struct maker {
	const char *name;
	void (*make)(struct world *w, const int64_t *n);
} makers[] = {
	{ "matmul", make_matmul }, { "conv", make_conv },
	{ "map", make_map }, { "rows", make_rows }, { "skew", make_skew },
	{ "scan", make_scan }, { "blocks", make_blocks },
	{ "triangle", make_triangle }, { "shifted", make_shifted },
	{ "spread", make_spread }, { "window", make_window },
	{ "if", make_if }
};

#define NMAKERS (sizeof(makers) / sizeof(*makers))

/* ---- Running a kernel ---------------------------------------------------- */

static uint32_t noise(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* The bytes of all parameters after a run with N = n, appended to `out`. */
static void run(const struct world *w, int64_t n, struct tn_buf *out)
{
	const struct tn_kernel *k = w->kernel;
	float *data[4] = { NULL, NULL, NULL, NULL };
	size_t count[4];
	uint32_t state = 7, flags = 0;
	struct tn_buf why;
	int64_t extent;
	size_t i;
	int p, d;

	for (p = 0; p < k->nparams; p++) {
		count[p] = 1;
		for (d = 0; d < k->params[p]->rank; d++) {
			assert_true(tn_dim_eval(k->params[p]->dims[d], &n,
						&extent));
			count[p] *= (size_t)extent;
		}
		data[p] = malloc((count[p] + 1) * sizeof(float));
		assert_non_null(data[p]);
		for (i = 0; i < count[p]; i++)
			data[p][i] = (float)noise(&state) / 8e6f - 1;
	}
	tn_buf_init(&why);
	if (!tn_kernel_eval(k, &n, (void *const *)data, &flags, &why))
		fail_msg("%s", tn_buf_text(&why));
	tn_buf_fini(&why);
	for (p = 0; p < k->nparams; p++) {
		tn_buf_putn(out, (const char *)data[p],
			     count[p] * sizeof(float));
		free(data[p]);
	}
}

static void verify(const struct world *w)
{
	struct tn_buf faults;

	tn_buf_init(&faults);
	if (!tn_kernel_verify(w->kernel, &faults))
		fail_msg("%s", tn_buf_text(&faults));
	tn_buf_fini(&faults);
}

#endif
