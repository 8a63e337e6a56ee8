/*
 * Dims: proofs, and the minimum and maximum that rest on them.
 *
 * A sum is shown not to be negative by its bounds, after atoms have been
 * replaced by what they cannot exceed or undercut:
 *
 *   S - S // 2 >= 0   since   2*S - (S - S % 2) >= 0   since   S >= 0
 */
#include "base/num.h"
#include "ir/dim.h"
#include "ir/dim_node.h"

/* Atoms replaced, one after another, in one proof. */
#define MAX_DEPTH 5
/* Sums looked at in one proof. */
#define MAX_STEPS 300
/* Operands of a nest of min (max) that are compared with one another. */
#define MAX_OPERANDS 16

struct proof {
	struct tn_dim_pool *pool;
	int steps;
};

static bool proves(struct proof *proof, const struct tn_dim *dim, int depth);

/* dim with term `at` (coefficient c, one atom) replaced by c * with. */
static const struct tn_dim *replace(struct tn_dim_pool *pool,
				    const struct tn_dim *dim,
				    const struct tn_dim_term *term,
				    const struct tn_dim *with)
{
	const struct tn_dim *rest =
		tn_dim_add_scaled(pool, dim, term->atoms[0], -term->coef);

	return tn_dim_add_scaled(pool, rest, with, term->coef);
}

/* k * dim with c * (x // k) replaced by its least: c * (x - x % k). */
static bool proves_floordiv(struct proof *proof, const struct tn_dim *dim,
			    const struct tn_dim_term *term, int depth)
{
	const struct tn_dim *atom = term->atoms[0], *scaled, *rest;
	struct tn_dim_pool *pool = proof->pool;
	int64_t k, c = term->coef, slack = 0;

	if (!tn_dim_is_const(atom->b)) {
		if (c > 0 || tn_dim_node(atom->a)->lo < 0 ||
		    tn_dim_node(atom->b)->lo <= 0)
			return false;
		return proves(proof, replace(pool, dim, term, atom->a), depth);
	}
	k = atom->b->value;
	if (k <= 0 || (c > 0 && !tn_num_mul(c, k - 1, &slack)))
		return false;
	rest = tn_dim_add_scaled(pool, dim, atom, -c);
	scaled = tn_dim_add_scaled(pool, tn_dim_const(pool, 0), rest, k);
	scaled = tn_dim_add_scaled(pool, scaled, atom->a, c);
	scaled = tn_dim_sub(pool, scaled, tn_dim_const(pool, slack));
	return proves(proof, scaled, depth);
}

/* True if the sum holds x // b beside x % b. */
static bool holds_quotient(const struct tn_dim *dim, const struct tn_dim *mod)
{
	struct tn_dim_poly poly = tn_dim_poly(dim);
	int i;

	for (i = 0; i < poly.count; i++) {
		const struct tn_dim_term *term = &poly.terms[i];

		if (term->natoms == 1 &&
		    term->atoms[0]->kind == TN_DIM_FLOORDIV &&
		    term->atoms[0]->a == mod->a && term->atoms[0]->b == mod->b)
			return true;
	}
	return false;
}

/* x % b with x // b beside it is x - b * (x // b). */
static bool proves_whole(struct proof *proof, const struct tn_dim *dim,
			 const struct tn_dim_term *term, int depth)
{
	const struct tn_dim *atom = term->atoms[0], *whole;
	struct tn_dim_pool *pool = proof->pool;

	if (!holds_quotient(dim, atom))
		return false;
	whole = tn_dim_mul(pool, tn_dim_floordiv(pool, atom->a, atom->b),
			   atom->b);
	whole = tn_dim_sub(pool, atom->a, whole);
	return proves(proof, replace(pool, dim, term, whole), depth);
}

/* x % b is at most x if that is not negative, and at most b - 1. */
static bool proves_mod(struct proof *proof, const struct tn_dim *dim,
		       const struct tn_dim_term *term, int depth)
{
	const struct tn_dim *atom = term->atoms[0], *most;
	struct tn_dim_pool *pool = proof->pool;

	if (term->coef > 0 || tn_dim_node(atom->b)->lo <= 0)
		return false;
	if (tn_dim_node(atom->a)->lo >= 0 &&
	    proves(proof, replace(pool, dim, term, atom->a), depth))
		return true;
	most = tn_dim_sub(pool, atom->b, tn_dim_const(pool, 1));
	return proves(proof, replace(pool, dim, term, most), depth);
}

static bool proves_minmax(struct proof *proof, const struct tn_dim *dim,
			  const struct tn_dim_term *term, int depth)
{
	const struct tn_dim *atom = term->atoms[0];
	bool either = (atom->kind == TN_DIM_MIN) == (term->coef < 0);
	bool a = proves(proof, replace(proof->pool, dim, term, atom->a), depth);

	if (a == either)
		return a;
	return proves(proof, replace(proof->pool, dim, term, atom->b), depth);
}

static bool proves_term(struct proof *proof, const struct tn_dim *dim,
			const struct tn_dim_term *term, int depth)
{
	if (term->natoms != 1)
		return false;
	switch (term->atoms[0]->kind) {
	case TN_DIM_FLOORDIV:
		return proves_floordiv(proof, dim, term, depth);
	case TN_DIM_MOD:
		return proves_whole(proof, dim, term, depth) ||
			proves_mod(proof, dim, term, depth);
	case TN_DIM_MIN:
	case TN_DIM_MAX:
		return proves_minmax(proof, dim, term, depth);
	case TN_DIM_CONST:
	case TN_DIM_SYM:
	case TN_DIM_SUM:
		break;
	}
	return false;
}

/* An atom, not negative, that all terms share is left out. */
static bool proves_factor(struct proof *proof, const struct tn_dim *dim,
			  int depth)
{
	struct tn_dim_poly poly = tn_dim_poly(dim);
	int i;

	for (i = 0; i < poly.terms[0].natoms; i++) {
		const struct tn_dim *atom = poly.terms[0].atoms[i];
		const struct tn_dim *rest;

		if (tn_dim_node(atom)->lo < 0)
			continue;
		rest = tn_dim_exact(proof->pool, dim, atom);
		if (rest)
			return proves(proof, rest, depth);
	}
	return false;
}

static bool proves(struct proof *proof, const struct tn_dim *dim,
		   int depth)
{
	struct tn_dim_poly poly;
	int i;

	if (!dim || proof->steps++ > MAX_STEPS)
		return false;
	if (tn_dim_node(dim)->lo >= 0)
		return true;
	if (depth == 0 || tn_dim_node(dim)->hi < 0)
		return false;
	poly = tn_dim_poly(dim);
	for (i = 0; i < poly.count; i++)
		if (proves_term(proof, dim, &poly.terms[i], depth - 1))
			return true;
	return poly.count > 1 && proves_factor(proof, dim, depth - 1);
}

bool tn_dim_proves_nonneg(struct tn_dim_pool *pool, const struct tn_dim *dim)
{
	struct proof proof = {.pool = pool};
	bool overflowed = pool->overflowed, proved;

	proved = proves(&proof, dim, MAX_DEPTH);
	pool->overflowed = overflowed;
	return proved;
}

bool tn_dim_proves_le(struct tn_dim_pool *pool, const struct tn_dim *a,
		      const struct tn_dim *b)
{
	bool overflowed = pool->overflowed, proved;

	if (!a || !b)
		return false;
	proved = tn_dim_node(a)->hi <= tn_dim_node(b)->lo ||
		 tn_dim_proves_nonneg(pool, tn_dim_sub(pool, b, a));
	pool->overflowed = overflowed;
	return proved;
}

bool tn_dim_proves_divides(struct tn_dim_pool *pool, const struct tn_dim *a,
			   const struct tn_dim *b)
{
	bool overflowed = pool->overflowed;
	const struct tn_dim *rest;

	if (!a || !b || tn_dim_is(b, 0))
		return false;
	rest = tn_dim_mod(pool, a, b);
	pool->overflowed = overflowed;
	return rest && tn_dim_is(rest, 0);
}

/* ---- Minimum and maximum --------------------------------------------- */

struct operands {
	const struct tn_dim *at[MAX_OPERANDS];
	int count;
};

/* True if `a` makes `b` superfluous. */
static bool dominates(struct tn_dim_pool *pool, enum tn_dim_kind kind,
		      const struct tn_dim *a, const struct tn_dim *b)
{
	return kind == TN_DIM_MIN ? tn_dim_proves_le(pool, a, b) :
				    tn_dim_proves_le(pool, b, a);
}

/* Puts dim in its place among the operands unless it is superfluous. */
static bool operands_add(struct tn_dim_pool *pool, enum tn_dim_kind kind,
			 struct operands *list, const struct tn_dim *dim)
{
	int i, kept = 0;

	for (i = 0; i < list->count; i++)
		if (dominates(pool, kind, list->at[i], dim))
			return true;
	for (i = 0; i < list->count; i++)
		if (!dominates(pool, kind, dim, list->at[i]))
			list->at[kept++] = list->at[i];
	if (kept == MAX_OPERANDS)
		return false;
	for (i = kept; i > 0 && tn_dim_compare(dim, list->at[i - 1]) < 0; i--)
		list->at[i] = list->at[i - 1];
	list->at[i] = dim;
	list->count = kept + 1;
	return true;
}

/* Adds the operands of a left-leaning nest. */
static bool operands_add_nest(struct tn_dim_pool *pool, enum tn_dim_kind kind,
			      struct operands *list, const struct tn_dim *dim)
{
	while (dim->kind == kind) {
		if (!operands_add_nest(pool, kind, list, dim->b))
			return false;
		dim = dim->a;
	}
	return operands_add(pool, kind, list, dim);
}

static const struct tn_dim *choose(struct tn_dim_pool *pool,
				   enum tn_dim_kind kind,
				   const struct tn_dim *a,
				   const struct tn_dim *b)
{
	struct operands list = {.count = 0};
	const struct tn_dim *result;
	int i;

	if (!a || !b)
		return NULL;
	if (!operands_add_nest(pool, kind, &list, a) ||
	    !operands_add_nest(pool, kind, &list, b))
		return tn_dim_compare(a, b) < 0 ?
			       tn_dim_atom(pool, kind, a, b) :
			       tn_dim_atom(pool, kind, b, a);
	result = list.at[0];
	for (i = 1; i < list.count; i++)
		result = tn_dim_atom(pool, kind, result, list.at[i]);
	return result;
}

const struct tn_dim *tn_dim_min(struct tn_dim_pool *pool,
				const struct tn_dim *a, const struct tn_dim *b)
{
	return choose(pool, TN_DIM_MIN, a, b);
}

const struct tn_dim *tn_dim_max(struct tn_dim_pool *pool,
				const struct tn_dim *a, const struct tn_dim *b)
{
	return choose(pool, TN_DIM_MAX, a, b);
}
