/*
 * Tidying index arithmetic after loops were cut.
 *
 * In: a nest whose bounds are worked out in lets, by minima and maxima. Out:
 * the lets written where they are read, and of each minimum and maximum the
 * one side that it always is, where the prover (ir/kernel_range.h) knows it;
 * likewise quotients and remainders of what was split by the same number.
 *
 *   for w in 1..55 {                        for w in 1..55 {
 *     let start: i64 = w - 1;
 *     let from: i64 = max(0 - start, 0);
 *     let to: i64 = min(3, 56 - start);
 *     for s in from..to { .. x[start + s]     for s in 0..3 { .. x[w - 1 + s]
 */
#include "passes/schedule.h"

#include "base/num.h"
#include "ir/kernel_range.h"

/* Nodes of a value that is written more than once. */
#define MOST_NODES 64

struct inliner {
	bool (*wanted)(void *data, const struct tn_kstmt *let);
	void *data;
	struct tn_map values;	/* var -> what stands for it */
	bool failed;
};

static bool is_minmax(const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_OP && e->dtype == TN_i64 && e->nargs == 2 &&
		(e->code == TN_OP_min || e->code == TN_OP_max);
}

/* Nodes of arithmetic that may stand anywhere: it reads no memory, raises
 * nothing and is the same at every time. Above MOST_NODES: it is none. */
static int count_nodes(const struct tn_kexpr *e)
{
	int i, n = 1;

	if (e->kind == TN_KEXPR_VAR && !e->var->is_mutable)
		return 1;
	if (e->kind == TN_KEXPR_INT || e->kind == TN_KEXPR_DIM)
		return 1;
	if (e->kind != TN_KEXPR_OP || !(e->is_index || is_minmax(e)))
		return MOST_NODES + 1;
	for (i = 0; i < e->nargs && n <= MOST_NODES; i++)
		n += count_nodes(e->args[i]);
	return n;
}

static const struct tn_kexpr *stand_in(struct tn_kmap *map,
				       const struct tn_kexpr *e)
{
	struct inliner *in = map->data;
	const struct tn_kexpr *value = e->kind == TN_KEXPR_VAR ?
		tn_map_find(&in->values, e->var) : NULL;

	return value ? value : e;
}

static bool inline_block(struct inliner *in, struct tn_kernel *kernel,
			 struct tn_kblock *block)
{
	struct tn_kmap map = { .kernel = kernel, .change = stand_in,
			       .data = in };
	struct tn_kstmt *s, *next;

	for (s = block->first; s; s = next) {
		next = s->next;
		if (!tn_kstmt_map(&map, s) ||
		    !inline_block(in, kernel, &s->body) ||
		    !inline_block(in, kernel, &s->orelse))
			return false;
		if (s->kind != TN_KSTMT_LET || s->var->is_mutable ||
		    s->var->dtype != TN_i64 ||
		    count_nodes(s->value) > MOST_NODES ||
		    (in->wanted && !in->wanted(in->data, s)))
			continue;
		if (!tn_map_set(&in->values, s->var,
				(void *)(uintptr_t)s->value)) {
			kernel->module->failed = true;
			return false;
		}
		tn_kstmt_remove(s);
	}
	return true;
}

bool tn_schedule_inline(struct tn_kernel *kernel, struct tn_kblock *block,
			bool (*wanted)(void *data, const struct tn_kstmt *let),
			void *data)
{
	struct inliner in = { .wanted = wanted, .data = data };
	bool good;

	tn_map_init_ptr(&in.values);
	good = inline_block(&in, kernel, block);
	tn_map_fini(&in.values);
	return good;
}

/* ---- What the prover knows ----------------------------------------------- */

struct tidier {
	struct tn_kernel *kernel;
	struct tn_krange range;
	const struct tn_vec *nests;	/* the loops to tidy */
};

static bool is_most(struct tidier *t, const struct tn_kexpr *a,
		    const struct tn_kexpr *b)
{
	const struct tn_kexpr *room = tn_kexpr_sub(t->kernel, b, a);
	const struct tn_dim *zero = tn_dim_const(t->range.pool, 0);

	return room && zero && tn_krange_is_least(&t->range, room, zero);
}

/* A number stays beside what is never beyond it: it is a bound that other
 * steps (schedule_guard.c) look for. */
static const struct tn_kexpr *choose(struct tidier *t,
				     const struct tn_kexpr *e)
{
	const struct tn_kexpr *side, *other;
	int i, lesser;

	for (lesser = 0; lesser < 2; lesser++) {
		i = e->code == TN_OP_min ? lesser : 1 - lesser;
		side = e->args[i];
		other = e->args[1 - i];
		if ((side->kind == TN_KEXPR_INT ||
		     other->kind != TN_KEXPR_INT) &&
		    is_most(t, e->args[lesser], e->args[1 - lesser]))
			return side;
	}
	return e;
}

/* coef * term, of numbers divided by n; NULL: out of memory. */
static const struct tn_kexpr *times(struct tn_kernel *k,
				    const struct tn_affine_term *term,
				    int64_t n)
{
	return tn_kexpr_mul(k, term->of,
			    tn_kexpr_int(k, TN_i64, term->coef->value / n));
}

/* x = n * whole + rest, as far as the factors of the sum say; false: it has
 * factors that are no numbers. */
static bool part(struct tidier *t, const struct tn_kexpr *x, int64_t n,
		 const struct tn_kexpr **whole, const struct tn_kexpr **rest)
{
	struct tn_affine_scope scope = { t->range.pool, NULL, NULL };
	struct tn_kernel *k = t->kernel;
	struct tn_affine sum;
	int64_t base;
	bool is_whole;
	int i;

	if (!tn_affine_make(&scope, x, &sum) || !tn_dim_is_const(sum.base))
		return false;
	base = tn_num_floormod(sum.base->value, n);
	*whole = tn_kexpr_int(k, TN_i64, (sum.base->value - base) / n);
	*rest = tn_kexpr_int(k, TN_i64, base);
	for (i = 0; i < sum.n; i++) {
		if (!tn_dim_is_const(sum.terms[i].coef))
			return false;
		is_whole = sum.terms[i].coef->value % n == 0;
		if (is_whole)
			*whole = tn_kexpr_add(k, *whole,
					      times(k, &sum.terms[i], n));
		else
			*rest = tn_kexpr_add(k, *rest,
					     times(k, &sum.terms[i], 1));
	}
	return *whole && *rest;
}

/* The largest number that divides n and the factors of the sum, apart from
 * those that are 1. */
static int64_t common_factor(struct tidier *t, const struct tn_kexpr *x,
			     int64_t n)
{
	struct tn_affine_scope scope = { t->range.pool, NULL, NULL };
	struct tn_affine sum;
	int64_t a, b;
	int i;

	if (!tn_affine_make(&scope, x, &sum))
		return 1;
	for (i = 0; i < sum.n; i++) {
		if (!tn_dim_is_const(sum.terms[i].coef))
			return 1;
		b = sum.terms[i].coef->value;
		if (b <= 1)
			continue;
		for (; b; n = b, b = a)
			a = n % b;
	}
	return n;
}

/* (q * 16 + j) // 16 is q and the remainder j, for j in 0..16; by 64 they are
 * q // 4 and q % 4 * 16 + j. */
static const struct tn_kexpr *divide(struct tidier *t,
				     const struct tn_kexpr *e)
{
	const struct tn_kexpr *whole, *rest, *by;
	struct tn_kernel *k = t->kernel;
	const struct tn_dim *size;
	int64_t n, d;

	if (e->args[1]->kind != TN_KEXPR_INT || e->args[1]->i < 1)
		return e;
	n = e->args[1]->i;
	d = common_factor(t, e->args[0], n);
	size = tn_dim_const(t->range.pool, d);
	if (d < 2 || !size || !part(t, e->args[0], d, &whole, &rest) ||
	    !tn_krange_is_inside(&t->range, rest, size))
		return e;
	by = tn_kexpr_int(k, TN_i64, n / d);
	if (e->code == TN_OP_fdiv)
		return tn_kexpr_fdiv(k, whole, by);
	whole = tn_kexpr_mul(k, tn_kexpr_mod(k, whole, by),
			     tn_kexpr_int(k, TN_i64, d));
	return tn_kexpr_add(k, whole, rest);
}

static const struct tn_kexpr *tidy_node(struct tn_kmap *map,
					const struct tn_kexpr *e)
{
	if (is_minmax(e))
		return choose(map->data, e);
	if (e->kind == TN_KEXPR_OP && e->is_index &&
	    (e->code == TN_OP_fdiv || e->code == TN_OP_mod))
		return divide(map->data, e);
	return e;
}

static bool is_nest(const struct tidier *t, const struct tn_kstmt *s)
{
	size_t i;

	for (i = 0; i < t->nests->len; i++)
		if (tn_vec_ptr(t->nests, i) == s)
			return true;
	return false;
}

static bool tidy_block(struct tidier *t, struct tn_kblock *block, bool inside);

/* The statement is behind, or around what comes: its facts. */
static bool tidy_inner(struct tidier *t, struct tn_kstmt *s, bool inside)
{
	size_t mark = tn_krange_mark(&t->range);
	bool good;

	if (s->kind == TN_KSTMT_LET)
		tn_krange_let(&t->range, s);
	if (s->kind == TN_KSTMT_LOOP)
		tn_krange_loop(&t->range, s);
	if (s->kind == TN_KSTMT_IF)
		tn_krange_assume(&t->range, s->value, true);
	good = tidy_block(t, &s->body, inside);
	if (s->kind == TN_KSTMT_LET)
		return good;
	tn_krange_forget(&t->range, mark);
	if (s->kind != TN_KSTMT_IF)
		return good;
	tn_krange_assume(&t->range, s->value, false);
	good = good && tidy_block(t, &s->orelse, inside);
	tn_krange_forget(&t->range, mark);
	return good;
}

static bool tidy_block(struct tidier *t, struct tn_kblock *block, bool inside)
{
	struct tn_kmap map = { .kernel = t->kernel, .change = tidy_node,
			       .data = t };
	struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		if ((inside && !tn_kstmt_map(&map, s)) ||
		    !tidy_inner(t, s, inside || is_nest(t, s)))
			return false;
	return true;
}

static bool is_number(void *data, const struct tn_kstmt *let)
{
	(void)data;
	return let->value->kind == TN_KEXPR_INT;
}

bool tn_schedule_tidy(struct tn_kernel *kernel, const struct tn_vec *nests)
{
	struct tidier t = { .kernel = kernel, .nests = nests };
	struct tn_kstmt *loop;
	bool good;
	size_t i;

	tn_krange_init(&t.range, &kernel->module->dims);
	good = tidy_block(&t, &kernel->body, false);
	for (i = 0; i < nests->len && good; i++) {
		loop = tn_vec_ptr(nests, i);
		good = tn_schedule_inline(kernel, &loop->body, is_number,
					  NULL);
	}
	if (t.range.failed)
		kernel->module->failed = true;
	tn_krange_fini(&t.range);
	return good && !kernel->module->failed;
}
