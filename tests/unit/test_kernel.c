/*
 * The library of kernels: walks, maps, turns of loops, sums of indices, ranges
 * and witnesses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "ir/kernel_affine.h"
#include "ir/kernel_check.h"
#include "ir/kernel_loop.h"
#include "ir/kernel_map.h"
#include "ir/kernel_range.h"
#include "ir/kernel_walk.h"

/* A kernel over x[N], data k[N] and y[N], N in [1, 64], Q in [4, 64] mod 4. */
struct world {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_module *module;
	struct tn_dim_pool *dims;
	const struct tn_dim *n, *q;
	struct tn_kernel *k;
	struct tn_kbuf *x, *data, *y;
	struct tn_kvar *i, *j;
};

static const struct tn_dim *symbol(struct world *w, const char *name,
				   int64_t lo, int64_t mod)
{
	struct tn_sym sym = { .lo = lo, .hi = 64, .mod = mod };

	sym.name = tn_intern_text(&w->names, name);
	return tn_dim_new_sym(w->dims, &sym);
}

static void open_world(struct world *w)
{
	memset(w, 0, sizeof *w);
	tn_intern_init(&w->names);
	tn_sink_init(&w->sink);
	w->module = tn_module_new(&w->names, &w->sink);
	assert_non_null(w->module);
	w->dims = &w->module->dims;
	w->n = symbol(w, "N", 1, 1);
	w->q = symbol(w, "Q", 4, 4);
	w->k = tn_kernel_new(w->module, "k");
	w->x = tn_kernel_param(w->k, "x", TN_f32, 1, &w->n, TN_KBUF_IN);
	w->data = tn_kernel_param(w->k, "data", TN_i64, 1, &w->n, TN_KBUF_IN);
	w->y = tn_kernel_param(w->k, "y", TN_f32, 1, &w->n, TN_KBUF_OUT);
	w->i = tn_kernel_var(w->k, "i", TN_i64);
	w->j = tn_kernel_var(w->k, "j", TN_i64);
	assert_non_null(w->y);
}

static void close_world(struct world *w)
{
	tn_module_free(w->module);
	tn_sink_fini(&w->sink);
	tn_intern_fini(&w->names);
}

static const struct tn_kexpr *num(struct world *w, int64_t value)
{
	return tn_kexpr_int(w->k, TN_i64, value);
}

static const struct tn_kexpr *get(struct world *w, struct tn_kvar *var)
{
	return tn_kexpr_var(w->k, var);
}

static const struct tn_kexpr *size(struct world *w, const struct tn_dim *dim)
{
	return tn_kexpr_dim(w->k, dim);
}

static const struct tn_kexpr *op(struct world *w, enum tn_opcode code,
				 enum tn_dtype dtype,
				 const struct tn_kexpr *a,
				 const struct tn_kexpr *b)
{
	const struct tn_kexpr *args[2];

	args[0] = a;
	args[1] = b;
	return tn_kexpr_op(w->k, code, dtype, 2, args);
}

/* a * i + b. */
static const struct tn_kexpr *line(struct world *w, int64_t a,
				   struct tn_kvar *var, int64_t b)
{
	return tn_kexpr_add(w->k, tn_kexpr_mul(w->k, get(w, var), num(w, a)),
			    num(w, b));
}

/* y[at] = x[from], at the end of the block. */
static struct tn_kstmt *copy(struct world *w, struct tn_kblock *block,
			     const struct tn_kexpr *at,
			     const struct tn_kexpr *from)
{
	return tn_kstmt_store(w->k, block, w->y, 1, &at,
			      tn_kexpr_load(w->k, w->x, 1, &from), false);
}

/* ---- Walks ---- */

static bool is_store(void *data, const struct tn_kstmt *s)
{
	++*(int *)data;
	return s->kind == TN_KSTMT_STORE;
}

static void count_expr(void *data, const struct tn_kexpr *e)
{
	(void)e;
	++*(int *)data;
}

static void test_walk(void **state)
{
	struct tn_kstmt *outer, *inner, *store;
	const struct tn_kexpr *a, *b;
	int seen = 0;
	struct tn_kvisitor visitor = { count_expr, NULL, &seen };
	struct world w;

	(void)state;
	open_world(&w);
	outer = tn_kstmt_loop(w.k, &w.k->body, TN_LOOP_FOR, w.i, num(&w, 0),
			      size(&w, w.n));
	inner = tn_kstmt_loop(w.k, &outer->body, TN_LOOP_FOR, w.j, num(&w, 0),
			      num(&w, 4));
	store = copy(&w, &inner->body, get(&w, w.i), line(&w, 1, w.j, 2));
	assert_ptr_equal(tn_kblock_find(&w.k->body, is_store, &seen), store);
	assert_int_equal(seen, 3);
	assert_ptr_equal(tn_kstmt_around(w.k, store), inner);
	assert_ptr_equal(tn_kstmt_around(w.k, inner), outer);
	assert_null(tn_kstmt_around(w.k, outer));
	seen = 0;
	tn_kblock_visit(&w.k->body, &visitor);
	assert_int_equal(seen, 9);
	assert_true(tn_kexpr_reads(store->value, w.j));
	assert_false(tn_kexpr_reads(store->value, w.i));
	assert_true(tn_kexpr_loads(store->value));
	assert_false(tn_kexpr_loads(store->index[0]));
	assert_true(tn_kblock_declares(&w.k->body, w.j));
	assert_false(tn_kblock_declares(&inner->body, w.j));
	assert_true(tn_kblock_touches(&outer->body, w.y));
	assert_false(tn_kblock_touches(&outer->body, w.x));
	a = line(&w, 2, w.i, 1);
	b = line(&w, 2, tn_kernel_var(w.k, "i", TN_i64), 1);
	assert_true(tn_kexpr_same(a, b));
	assert_false(tn_kexpr_equal(a, b));
	assert_true(tn_kexpr_equal(a, line(&w, 2, w.i, 1)));
	assert_false(tn_kexpr_same(a, line(&w, 2, w.i, 2)));
	close_world(&w);
}

/* ---- Maps ---- */

static const struct tn_kexpr *put_three(struct tn_kmap *map,
					const struct tn_kexpr *e)
{
	const struct world *w = map->data;

	return e->kind == TN_KEXPR_VAR && e->var == w->i ?
		tn_kexpr_int(map->kernel, TN_i64, 3) : e;
}

static void test_map(void **state)
{
	const struct tn_kexpr *e, *other;
	struct tn_kmap map = { .change = put_three };
	struct world w;

	(void)state;
	open_world(&w);
	map.kernel = w.k;
	map.data = &w;
	e = tn_kexpr_map(&map, line(&w, 4, w.i, 1));
	assert_true(tn_kexpr_is_int(e, 13));
	other = line(&w, 4, w.j, 1);
	assert_ptr_equal(tn_kexpr_map(&map, other), other);
	close_world(&w);
}

/* ---- Turns ---- */

static void test_turns(void **state)
{
	struct tn_kstmt *s;
	struct world w;

	(void)state;
	open_world(&w);
	s = tn_kstmt_loop(w.k, &w.k->body, TN_LOOP_FOR, w.i, num(&w, 2),
			  num(&w, 9));
	assert_int_equal(tn_kloop_extent(s), 7);
	assert_true(tn_kloop_runs(s));
	s->step = 3;
	assert_int_equal(tn_kloop_turns(s), 3);
	assert_int_equal(tn_kloop_extent(s), -1);
	assert_int_equal(tn_kloop_most(s), 3);
	s->to = size(&w, w.n);
	assert_int_equal(tn_kloop_turns(s), -1);
	assert_int_equal(tn_kloop_most(s), 21);
	assert_false(tn_kloop_runs(s));
	s->from = num(&w, 0);
	s->step = 1;
	assert_true(tn_kloop_runs(s));
	assert_true(tn_kloop_is_plain(s));
	assert_ptr_equal(tn_kloop_distance(w.k, s)->dim, w.n);
	s->to = get(&w, w.j);
	assert_int_equal(tn_kloop_most(s), INT64_MAX);
	assert_int_equal(tn_kloop_count(5, 5, 1), 0);
	assert_int_equal(tn_kloop_count(7, 5, 1), 0);
	assert_int_equal(tn_kloop_count(-5, 5, 4), 3);
	close_world(&w);
}

/* ---- Sums ---- */

static int64_t residue_of(void *data, const struct tn_kexpr *e, int64_t n)
{
	const struct world *w = data;

	return e->kind == TN_KEXPR_VAR && e->var == w->i ? 3 % n : -1;
}

static void test_affine(void **state)
{
	struct tn_affine a, b;
	struct tn_affine_scope scope = { 0 };
	struct tn_map consts;
	const struct tn_kexpr *e;
	int64_t value = 5, coef;
	struct world w;

	(void)state;
	open_world(&w);
	scope.pool = w.dims;
	/* (4i + 1) * 2 - N * j + 8i // 3 + i * j */
	e = tn_kexpr_mul(w.k, line(&w, 4, w.i, 1), num(&w, 2));
	e = tn_kexpr_sub(w.k, e, tn_kexpr_mul(w.k, get(&w, w.j),
					      size(&w, w.n)));
	e = tn_kexpr_add(w.k, e, tn_kexpr_fdiv(w.k, line(&w, 8, w.i, 0),
					       num(&w, 3)));
	e = tn_kexpr_add(w.k, e, tn_kexpr_mul(w.k, get(&w, w.i),
					      get(&w, w.j)));
	assert_true(tn_affine_make(&scope, e, &a));
	assert_int_equal(a.n, 4);
	assert_true(tn_dim_is(a.base, 2));
	assert_true(tn_affine_coef(&a, w.i, &coef));
	assert_int_equal(coef, 8);
	assert_false(tn_affine_coef(&a, w.j, &coef));
	assert_true(tn_affine_make(&scope, e, &b));
	assert_true(tn_affine_add(w.dims, &a, &b, tn_dim_const(w.dims, -1)));
	assert_int_equal(a.n, 0);
	assert_true(tn_dim_is(a.base, 0));
	/* j known: 8i//3 and i stay, i * j is 5i, N * j is 5N. */
	tn_map_init_ptr(&consts);
	assert_true(tn_map_set(&consts, w.j, &value));
	scope.consts = &consts;
	assert_true(tn_affine_make(&scope, e, &a));
	assert_int_equal(a.n, 2);
	assert_true(tn_affine_coef(&a, w.i, &coef));
	assert_int_equal(coef, 13);
	assert_true(tn_kexpr_known(line(&w, 3, w.j, 1), &consts, &coef));
	assert_int_equal(coef, 16);
	assert_false(tn_kexpr_known(line(&w, 3, w.i, 1), &consts, &coef));
	tn_map_fini(&consts);
	scope.consts = NULL;
	assert_true(tn_affine_make(&scope, line(&w, 4, w.i, 7), &a));
	assert_int_equal(tn_affine_residue(&a, 8, residue_of, &w), 3);
	assert_int_equal(tn_affine_residue(&a, 4, residue_of, &w), 3);
	assert_true(tn_affine_make(&scope, line(&w, 4, w.j, 7), &a));
	assert_int_equal(tn_affine_residue(&a, 8, residue_of, &w), -1);
	assert_int_equal(tn_affine_residue(&a, 4, residue_of, &w), 3);
	close_world(&w);
}

/* Elements of what is written are not one term: they may change. */
static void test_steady(void **state)
{
	struct tn_affine_scope scope = { 0 };
	const struct tn_kexpr *at, *e;
	struct tn_affine a;
	struct tn_kbuf *out;
	struct world w;

	(void)state;
	open_world(&w);
	scope.pool = w.dims;
	at = num(&w, 0);
	out = tn_kernel_param(w.k, "out", TN_i64, 1, &w.n, TN_KBUF_OUT);
	e = tn_kexpr_sub(w.k, tn_kexpr_load(w.k, w.data, 1, &at),
			 tn_kexpr_load(w.k, w.data, 1, &at));
	assert_true(tn_affine_make(&scope, e, &a));
	assert_int_equal(a.n, 0);
	e = tn_kexpr_sub(w.k, tn_kexpr_load(w.k, out, 1, &at),
			 tn_kexpr_load(w.k, out, 1, &at));
	assert_true(tn_affine_make(&scope, e, &a));
	assert_int_equal(a.n, 2);
	w.i->is_mutable = true;
	assert_false(tn_kexpr_is_steady(line(&w, 2, w.i, 1)));
	close_world(&w);
}

/* ---- Ranges ---- */

static void test_ranges(void **state)
{
	const struct tn_dim *lo, *hi;
	struct tn_krange r;
	struct tn_kstmt *s;
	struct world w;
	size_t mark;

	(void)state;
	open_world(&w);
	tn_krange_init(&r, w.dims);
	s = tn_kstmt_loop(w.k, &w.k->body, TN_LOOP_FOR, w.i, num(&w, 0),
			  size(&w, w.n));
	mark = tn_krange_mark(&r);
	tn_krange_loop(&r, s);
	assert_true(tn_krange_is_inside(&r, get(&w, w.i), w.n));
	assert_false(tn_krange_is_inside(&r, line(&w, 1, w.i, 1), w.n));
	assert_false(tn_krange_is_inside(&r, line(&w, 1, w.i, -1), w.n));
	assert_true(tn_krange_is_inside(&r, tn_kexpr_mod(w.k, line(&w, 3, w.i,
				        1), num(&w, 5)),
					tn_dim_const(w.dims, 5)));
	tn_krange_ends(&r, line(&w, 2, w.i, 1), &lo, &hi);
	assert_true(tn_dim_is(lo, 1));
	assert_ptr_equal(hi, tn_dim_sub(w.dims, tn_dim_add(w.dims, w.n, w.n),
					tn_dim_const(w.dims, 1)));
	tn_krange_assume(&r, op(&w, TN_OP_lt, TN_bool, num(&w, 0),
				get(&w, w.i)), true);
	assert_true(tn_krange_is_inside(&r, line(&w, 1, w.i, -1), w.n));
	/* Where i >= N, which is nowhere, all holds. */
	tn_krange_assume(&r, op(&w, TN_OP_lt, TN_bool, get(&w, w.i),
				size(&w, w.n)), false);
	assert_true(tn_krange_is_inside(&r, num(&w, 99), w.n));
	tn_krange_forget(&r, mark);
	assert_false(tn_krange_is_inside(&r, get(&w, w.i), w.n));
	s->to = size(&w, w.q);
	s->step = 4;
	tn_krange_loop(&r, s);
	assert_true(tn_krange_is_inside(&r, line(&w, 1, w.i, 3), w.q));
	assert_false(tn_krange_is_inside(&r, line(&w, 1, w.i, 4), w.q));
	assert_false(r.failed);
	tn_krange_fini(&r);
	close_world(&w);
}

/* ---- Verdicts ---- */

static void take(void *data, const struct tn_kaccess *access)
{
	struct tn_kaccess *last = data;

	if (access->verdict != TN_KACCESS_INSIDE)
		*last = *access;
}

static void test_verdicts(void **state)
{
	struct tn_kaccess last = { 0 };
	const struct tn_kexpr *at;
	struct tn_kstmt *s;
	struct tn_buf faults;
	struct world w;

	(void)state;
	open_world(&w);
	tn_buf_init(&faults);
	s = tn_kstmt_loop(w.k, &w.k->body, TN_LOOP_FOR, w.i, num(&w, 0),
			  size(&w, w.n));
	copy(&w, &s->body, get(&w, w.i), get(&w, w.i));
	assert_true(tn_kernel_check(w.k, take, &last));
	assert_null(last.where);
	assert_true(tn_kernel_mark_unchecked(w.k));
	assert_null(tn_annots_find(&w.k->annots, "unchecked"));
	at = get(&w, w.i);
	at = tn_kexpr_load(w.k, w.data, 1, &at);
	s = copy(&w, &s->body, get(&w, w.i), at);
	assert_true(tn_kernel_check(w.k, take, &last));
	assert_ptr_equal(last.where, s->value);
	assert_int_equal(last.verdict, TN_KACCESS_UNKNOWN);
	assert_true(tn_kernel_verify(w.k, &faults));
	s->value = tn_kexpr_load(w.k, w.x, 1, &s->index[0]);
	at = line(&w, 1, w.i, 1);
	s->index = &at;
	assert_true(tn_kernel_check(w.k, take, &last));
	assert_ptr_equal(last.where, s);
	assert_int_equal(last.verdict, TN_KACCESS_OUTSIDE);
	assert_string_equal(last.witness.text, "N = 1, i = 0");
	assert_int_equal(last.witness.value, 1);
	assert_false(tn_kernel_verify(w.k, &faults));
	assert_non_null(strstr(tn_buf_text(&faults), "out of bounds"));
	assert_true(tn_kernel_mark_unchecked(w.k));
	assert_non_null(tn_annots_find(&w.k->annots, "unchecked"));
	assert_true(tn_kernel_verify(w.k, &faults));
	tn_buf_fini(&faults);
	close_world(&w);
}

/* ---- Loops ---- */

/* The verifier's words on the loop; NULL: it takes it. */
static void expect_loop(const struct world *w, const char *word)
{
	struct tn_buf faults;

	tn_buf_init(&faults);
	assert_int_equal(tn_kernel_verify(w->k, &faults), !word);
	if (word)
		assert_non_null(strstr(tn_buf_text(&faults), word));
	tn_buf_fini(&faults);
}

static void test_loops(void **state)
{
	struct tn_kstmt *s, *first, *second, *inner;
	struct world w;

	(void)state;
	open_world(&w);
	s = tn_kstmt_loop(w.k, &w.k->body, TN_LOOP_PAR, w.i, num(&w, 0),
			  size(&w, w.n));
	s->min = 7;
	expect_loop(&w, NULL);
	s->bind = TN_BIND_GRID_X;
	expect_loop(&w, "has a least number of turns and no threads");
	s->bind = TN_BIND_THREADS;
	s->loop = TN_LOOP_FOR;
	expect_loop(&w, "has a least number of turns and no threads");
	s->loop = TN_LOOP_PAR;
	s->min = -7;
	expect_loop(&w, "has a least number of turns and no threads");
	s->min = 0;
	assert_true(tn_kloop_is_sized(s));
	assert_null(tn_kloop_next_sized(s));
	s->loop = TN_LOOP_UNROLL;
	s->to = num(&w, 64);
	expect_loop(&w, NULL);
	s->to = num(&w, 65);
	expect_loop(&w, "is unrolled with too many turns");
	s->loop = TN_LOOP_FOR;
	first = tn_kstmt_loop(w.k, &s->body, TN_LOOP_FOR,
			      tn_kernel_var(w.k, "a", TN_i64), num(&w, 0),
			      size(&w, w.n));
	assert_ptr_equal(tn_kloop_next_sized(s), first);
	second = tn_kstmt_loop(w.k, &s->body, TN_LOOP_FOR,
			       tn_kernel_var(w.k, "b", TN_i64), num(&w, 0),
			       num(&w, 9));
	inner = tn_kstmt_loop(w.k, &second->body, TN_LOOP_FOR,
			      tn_kernel_var(w.k, "c", TN_i64), num(&w, 0),
			      size(&w, w.n));
	assert_ptr_equal(tn_kloop_next_sized(s), first);
	tn_kstmt_loop(w.k, &inner->body, TN_LOOP_FOR,
		      tn_kernel_var(w.k, "d", TN_i64), num(&w, 0),
		      size(&w, w.q));
	assert_ptr_equal(tn_kloop_next_sized(s), inner);
	inner->step = 2;
	assert_ptr_equal(tn_kloop_next_sized(s), first);
	expect_loop(&w, NULL);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk),
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_affine),
		cmocka_unit_test(test_steady),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_verdicts),
		cmocka_unit_test(test_loops)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
