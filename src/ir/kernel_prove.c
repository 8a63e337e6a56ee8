/*
 * Ranges: proofs by taking facts away.
 *
 * In: a sum, and the facts of its place. Terms go from the last declared to the
 * first, for bounds of inner loops name outer variables. Of a term with a
 * positive factor a fact that bounds it from below is taken, of one with a
 * negative factor one from above; an opaque term is bounded by its operator.
 */
#include "ir/kernel_range_impl.h"

#include "ir/dim_node.h"
#include "ir/kernel_walk.h"

/* Sums looked at in a question. */
#define MAX_STEPS 600

/* 1, -1, or 0 if the factor may be both. */
static int sign_of(const struct tn_dim *dim)
{
	int64_t lo, hi;

	tn_dim_bounds(dim, &lo, &hi);
	return lo >= 0 ? 1 : hi <= 0 ? -1 : 0;
}

/* Sizes alone, with what is known of sizes alone. */
static bool proves_size(struct tn_krange *r, const struct tn_dim *dim)
{
	bool overflowed = r->pool->overflowed, proved;
	const struct tn_affine *fact;
	int64_t lo, hi;
	size_t i;

	proved = tn_dim_proves_nonneg(r->pool, dim);
	for (i = r->facts.len; !proved && i > 0; i--) {
		fact = tn_vec_ptr(&r->facts, i - 1);
		if (fact->n)
			continue;
		tn_dim_bounds(fact->base, &lo, &hi);
		proved = hi < 0 || tn_dim_proves_le(r->pool, fact->base, dim);
	}
	r->pool->overflowed = overflowed;
	return proved;
}

/* Sizes alone, with a fact that ties a size to variables: k < P and 0 <= k
 * give 1 <= P. */
static bool proves_size_by_facts(struct tn_krange *r, const struct tn_affine *a,
				 int depth)
{
	const struct tn_affine *fact;
	struct tn_affine rest;
	size_t i;

	if (tn_dim_is_const(a->base))
		return false;
	for (i = r->facts.len; i > 0; i--) {
		fact = tn_vec_ptr(&r->facts, i - 1);
		rest = *a;
		if (fact->n && !tn_dim_is_const(fact->base) &&
		    tn_krange_add(r, &rest, fact, -1) &&
		    !(rest.n && rest.base == a->base) &&
		    tn_krange_proves(r, &rest, depth / 2))
			return true;
	}
	return false;
}

struct newest {
	const struct tn_krange *range;
	size_t order;
};

static bool is_newer(void *data, const struct tn_kexpr *e)
{
	struct newest *newest = data;
	size_t order =
		e->kind != TN_KEXPR_VAR ?
			0 :
			(size_t)tn_map_find(&newest->range->order, e->var);

	if (order > newest->order)
		newest->order = order;
	return false;
}

/* Declared last of what the term holds; opaque terms come before their
 * variables, divisions first, as they may meet their remainder. */
static size_t rank(const struct tn_krange *r, const struct tn_kexpr *e)
{
	struct newest newest = {r, 0};
	size_t kind = e->kind == TN_KEXPR_VAR			      ? 0 :
		      e->kind == TN_KEXPR_OP && e->code == TN_OP_fdiv ? 2 :
									1;

	tn_kexpr_find(e, is_newer, &newest);
	return newest.order * 3 + kind;
}

int tn_krange_newest(const struct tn_krange *r, const struct tn_affine *a)
{
	size_t best = 0, one;
	int i, at = 0;

	for (i = 0; i < a->n; i++) {
		one = rank(r, a->terms[i].of);
		if (i == 0 || one > best) {
			best = one;
			at = i;
		}
	}
	return at;
}

/* Takes the fact away as often as cancels the term. */
bool tn_krange_take_away(struct tn_krange *r, struct tn_affine *a, int term,
			 const struct tn_affine *fact)
{
	int at = tn_affine_find(fact, a->terms[term].of);
	int sign = sign_of(a->terms[term].coef);
	const struct tn_dim *coef, *times;
	int64_t d;

	if (at < 0 || sign == 0 || !tn_dim_is_const(fact->terms[at].coef))
		return false;
	d = fact->terms[at].coef->value;
	if ((d > 0) != (sign > 0) || d == INT64_MIN)
		return false;
	coef = a->terms[term].coef;
	times = tn_dim_mul(r->pool, coef, tn_dim_const(r->pool, -sign));
	return tn_affine_scale(r->pool, a,
			       tn_dim_const(r->pool, d < 0 ? -d : d)) &&
	       tn_affine_add(r->pool, a, fact, times);
}

/* By numbers that bound the term alone. */
static bool proves_by_numbers(struct tn_krange *r, const struct tn_affine *a,
			      int term, int depth)
{
	const struct tn_affine *fact;
	struct tn_affine rest;
	size_t i;

	for (i = r->facts.len; i > 0; i--) {
		fact = tn_vec_ptr(&r->facts, i - 1);
		rest = *a;
		if (fact->n == 1 && tn_dim_is_const(fact->base) &&
		    tn_krange_take_away(r, &rest, term, fact) &&
		    tn_krange_proves(r, &rest, depth - 1))
			return true;
	}
	return false;
}

/* Of a sum of one term the plain bounds are asked first: others lead away. */
static bool proves_by_facts(struct tn_krange *r, const struct tn_affine *a,
			    int term, int depth)
{
	struct tn_affine rest;
	size_t i;

	if (a->n == 1 && tn_dim_is_const(a->base) &&
	    proves_by_numbers(r, a, term, depth))
		return true;
	for (i = r->facts.len; i > 0; i--) {
		rest = *a;
		if (tn_krange_take_away(r, &rest, term,
					tn_vec_ptr(&r->facts, i - 1)) &&
		    tn_krange_proves(r, &rest, depth - 1))
			return true;
	}
	return false;
}

/* The sum with `with` for the term. */
static bool proves_with(struct tn_krange *r, const struct tn_affine *a,
			int term, const struct tn_affine *with, int depth)
{
	const struct tn_dim *coef = a->terms[term].coef;
	struct tn_affine rest = *a;

	tn_affine_drop(&rest, term);
	return tn_affine_add(r->pool, &rest, with, coef) &&
	       tn_krange_proves(r, &rest, depth - 1);
}

static bool proves_with_number(struct tn_krange *r, const struct tn_affine *a,
			       int term, int64_t value, int depth)
{
	struct tn_affine with;

	tn_affine_dim(tn_dim_const(r->pool, value), &with);
	return with.base && proves_with(r, a, term, &with, depth);
}

/* min and max: one side will do, or both must. */
static bool proves_minmax(struct tn_krange *r, const struct tn_affine *a,
			  int term, const struct tn_kexpr *e, int depth)
{
	bool up = sign_of(a->terms[term].coef) < 0;
	bool either = up == (e->code == TN_OP_min), one;
	struct tn_affine with;

	one = tn_krange_make(r, e->args[0], &with) &&
	      proves_with(r, a, term, &with, depth);
	if (one == either)
		return one;
	return tn_krange_make(r, e->args[1], &with) &&
	       proves_with(r, a, term, &with, depth);
}

static bool proves_select(struct tn_krange *r, const struct tn_affine *a,
			  int term, const struct tn_kexpr *e, int depth)
{
	struct tn_affine with;
	bool good = true;
	size_t mark;
	int i;

	for (i = 1; i <= 2 && good; i++) {
		mark = tn_krange_mark(r);
		r->nested = true;
		tn_krange_assume(r, e->args[0], i == 1);
		r->nested = false;
		good = tn_krange_make(r, e->args[i], &with) &&
		       proves_with(r, a, term, &with, depth);
		tn_krange_forget(r, mark);
	}
	return good;
}

/* x // w and x % w with a size w that is above 0, and x not negative where
 * the arithmetic asks for that. */
struct quotient {
	struct tn_affine x;
	const struct tn_dim *w;
};

static bool read_quotient(struct tn_krange *r, const struct tn_kexpr *e,
			  struct quotient *q, int depth)
{
	struct tn_affine w;
	int64_t lo, hi;

	if (!tn_krange_make(r, e->args[0], &q->x) ||
	    !tn_krange_make(r, e->args[1], &w) || w.n)
		return false;
	q->w = w.base;
	tn_dim_bounds(w.base, &lo, &hi);
	if (lo < (e->is_index ? 0 : 1))
		return false;
	return tn_krange_proves(r, &q->x, depth - 1);
}

/* The other of x // w and x % w. */
static bool make_other(struct tn_krange *r, const struct tn_kexpr *e,
		       struct tn_affine *out)
{
	struct tn_kexpr *other = tn_arena_copy(&r->arena, e, sizeof *e);

	if (!other) {
		r->failed = true;
		return false;
	}
	other->code = e->code == TN_OP_fdiv ? TN_OP_mod : TN_OP_fdiv;
	return tn_krange_make(r, other, out);
}

/* c * w * (x // w) is c * (x - x % w). */
static bool proves_product(struct tn_krange *r, const struct tn_affine *a,
			   int term, const struct tn_kexpr *e,
			   const struct quotient *q, int depth)
{
	bool overflowed = r->pool->overflowed;
	struct tn_affine rest = *a, with, mod;
	const struct tn_dim *c =
		tn_dim_exact(r->pool, a->terms[term].coef, q->w);

	r->pool->overflowed = overflowed;
	if (!c || !make_other(r, e, &mod))
		return false;
	with = q->x;
	tn_affine_drop(&rest, term);
	return tn_krange_add(r, &with, &mod, -1) &&
	       tn_affine_add(r->pool, &rest, &with, c) &&
	       tn_krange_proves(r, &rest, depth - 1);
}

/* rest + c * (x // w): w * rest + c * x is as much or more, less the most of a
 * remainder. With c = 1 or -1 nothing is lost: q <= rest if x < (rest+1) * w. */
static bool proves_fdiv(struct tn_krange *r, const struct tn_affine *a,
			int term, const struct tn_kexpr *e, int depth)
{
	const struct tn_dim *c = a->terms[term].coef, *slack;
	struct tn_affine rest = *a, lost;
	struct quotient q;

	if (!read_quotient(r, e, &q, depth))
		return false;
	if (proves_product(r, a, term, e, &q, depth) ||
	    (sign_of(c) > 0 && proves_with_number(r, a, term, 0, depth)))
		return true;
	tn_affine_drop(&rest, term);
	if (!tn_affine_scale(r->pool, &rest, q.w) ||
	    !tn_affine_add(r->pool, &rest, &q.x, c))
		return false;
	slack = tn_dim_sub(r->pool, q.w, tn_dim_const(r->pool, 1));
	tn_affine_dim(slack, &lost);
	if (!slack)
		return false;
	if (tn_dim_is(c, -1) && !tn_krange_add(r, &rest, &lost, 1))
		return false;
	if (sign_of(c) > 0 && !tn_dim_is(c, 1) &&
	    !tn_affine_add(r->pool, &rest, &lost,
			   tn_dim_mul(r->pool, c, tn_dim_const(r->pool, -1))))
		return false;
	return tn_krange_proves(r, &rest, depth - 1);
}

/* Of anything the operator that rounds down leaves 0 .. w - 1. */
static bool proves_mod_of_all(struct tn_krange *r, const struct tn_affine *a,
			      int term, const struct tn_kexpr *e, int depth)
{
	struct tn_affine w;
	int64_t lo, hi;

	if (!tn_krange_make(r, e->args[1], &w) || w.n)
		return false;
	tn_dim_bounds(w.base, &lo, &hi);
	if (lo < 1)
		return false;
	if (sign_of(a->terms[term].coef) > 0)
		return proves_with_number(r, a, term, 0, depth);
	return tn_krange_add_number(r, &w, -1) &&
	       proves_with(r, a, term, &w, depth);
}

static bool proves_mod(struct tn_krange *r, const struct tn_affine *a, int term,
		       const struct tn_kexpr *e, int depth)
{
	struct tn_affine most;
	struct quotient q;

	if (!e->is_index && proves_mod_of_all(r, a, term, e, depth))
		return true;
	if (!read_quotient(r, e, &q, depth))
		return false;
	if (sign_of(a->terms[term].coef) > 0)
		return proves_with_number(r, a, term, 0, depth);
	if (proves_with(r, a, term, &q.x, depth))
		return true;
	tn_affine_dim(q.w, &most);
	return tn_krange_add_number(r, &most, -1) &&
	       proves_with(r, a, term, &most, depth);
}

/* Of a narrower integer, of a mask: numbers. */
static bool proves_number(struct tn_krange *r, const struct tn_affine *a,
			  int term, const struct tn_kexpr *e, int depth)
{
	bool up = sign_of(a->terms[term].coef) < 0, is_signed;
	enum tn_dtype dtype = e->args[0]->dtype;
	int bits = tn_dtype_bytes(dtype) * 8;
	int64_t most, least = 0;

	if (e->code == TN_OP_and) {
		if (e->args[1]->kind != TN_KEXPR_INT || e->args[1]->i < 0)
			return false;
		most = e->args[1]->i;
	} else {
		if (!tn_dtype_is(dtype, TN_KIND_INT) || bits >= 64)
			return false;
		is_signed = !tn_dtype_is(dtype, TN_KIND_U);
		most = (INT64_C(1) << (bits - is_signed)) - 1;
		least = is_signed ? -most - 1 : 0;
	}
	return proves_with_number(r, a, term, up ? most : least, depth);
}

/* x * y of two that are not negative. */
static bool proves_mul(struct tn_krange *r, const struct tn_affine *a, int term,
		       const struct tn_kexpr *e, int depth)
{
	struct tn_affine x, y;

	return sign_of(a->terms[term].coef) > 0 &&
	       tn_krange_make(r, e->args[0], &x) &&
	       tn_krange_make(r, e->args[1], &y) &&
	       tn_krange_proves(r, &x, depth - 1) &&
	       tn_krange_proves(r, &y, depth - 1) &&
	       proves_with_number(r, a, term, 0, depth);
}

/* What the term is made of bounds it. */
static bool proves_opaque(struct tn_krange *r, const struct tn_affine *a,
			  int term, int depth)
{
	const struct tn_kexpr *e = a->terms[term].of;

	if (e->kind == TN_KEXPR_VAR)
		e = tn_map_find(&r->defs, e->var);
	if (!e || e->kind != TN_KEXPR_OP)
		return false;
	switch ((int)e->code) {
	case TN_OP_min:
	case TN_OP_max: return proves_minmax(r, a, term, e, depth);
	case TN_OP_select: return proves_select(r, a, term, e, depth);
	case TN_OP_fdiv: return proves_fdiv(r, a, term, e, depth);
	case TN_OP_mod: return proves_mod(r, a, term, e, depth);
	case TN_OP_mul: return e->is_index && proves_mul(r, a, term, e, depth);
	case TN_OP_cast:
	case TN_OP_and: return proves_number(r, a, term, e, depth);
	default: return false;
	}
}

/* True if the sum is not negative. */
bool tn_krange_proves(struct tn_krange *r, const struct tn_affine *a, int depth)
{
	int term;

	if (r->failed || depth <= 0 || r->steps++ > MAX_STEPS || r->left <= 0)
		return false;
	r->left--;
	if (a->n == 0)
		return proves_size(r, a->base) ||
		       proves_size_by_facts(r, a, depth);
	term = tn_krange_newest(r, a);
	if (sign_of(a->terms[term].coef) == 0)
		return false;
	return proves_by_facts(r, a, term, depth) ||
	       proves_opaque(r, a, term, depth);
}
