/*
 * Dims: floor division and floor modulo.
 *
 * A dividend is split into what the divisor divides and the rest; the rest is
 * freed of common factors and of known constants.
 *
 *   (4*S + B + 6) // 4  ->  S + (B + 2) // 4 + 1
 *   ((S + 1) // 2 + 1) // 2  ->  (S + 3) // 4
 *   (B*S*768) // (12*B)  ->  64*S        if B is never 0
 */
#include <stdlib.h>

#include "base/num.h"
#include "ir/dim.h"
#include "ir/dim_node.h"

#define FEW 16
/* Steps of an exact division of polynomials. */
#define MAX_STEPS 64

int64_t tn_dim_gcd(int64_t a, int64_t b)
{
	while (b) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a == INT64_MIN ? 1 : a < 0 ? -a : a;
}

/* ---- Lists of terms -------------------------------------------------- */

/* Terms that are put together; atoms are borrowed. */
struct terms {
	struct tn_dim_term *at;
	int count;
	struct tn_dim_term few[FEW];
};

static bool terms_init(struct tn_dim_pool *pool, struct terms *terms, int room)
{
	terms->count = 0;
	terms->at = terms->few;
	if (room > FEW)
		terms->at = malloc((size_t)room * sizeof(*terms->at));
	if (!terms->at)
		pool->arena->failed = true;
	return terms->at != NULL;
}

static void terms_fini(struct terms *terms)
{
	if (terms->at != terms->few)
		free(terms->at);
}

static void terms_add(struct terms *terms, const struct tn_dim_term *term,
		      int64_t coef)
{
	if (!coef)
		return;
	terms->at[terms->count] = *term;
	terms->at[terms->count++].coef = coef;
}

static const struct tn_dim *terms_sum(struct tn_dim_pool *pool,
				      const struct terms *terms)
{
	return tn_dim_sum(pool, terms->at, terms->count);
}

/* ---- By a constant k > 1 --------------------------------------------- */

static const struct tn_dim *div_const(struct tn_dim_pool *pool,
				      const struct tn_dim *a, int64_t k);

/* Greatest common divisor of k and all coefficients but the constant's. */
static int64_t common_factor(const struct tn_dim *dim, int64_t k)
{
	struct tn_dim_poly poly = tn_dim_poly(dim);
	int i;

	for (i = 0; i < poly.count; i++)
		if (poly.terms[i].natoms)
			k = tn_dim_gcd(k, poly.terms[i].coef);
	return k;
}

/* The sum with coefficients divided by g, the constant rounded down; *rest
 * gets what is lost of the constant. */
static const struct tn_dim *divide_coefs(struct tn_dim_pool *pool,
					 const struct tn_dim *dim, int64_t g,
					 int64_t *rest)
{
	struct tn_dim_poly poly = tn_dim_poly(dim);
	const struct tn_dim *result;
	struct terms terms;
	int i;

	*rest = 0;
	if (g == 1)
		return dim;
	if (!terms_init(pool, &terms, poly.count))
		return NULL;
	for (i = 0; i < poly.count; i++) {
		const struct tn_dim_term *term = &poly.terms[i];

		if (!term->natoms)
			*rest = tn_num_floormod(term->coef, g);
		terms_add(&terms, term, tn_num_floordiv(term->coef, g));
	}
	result = terms_sum(pool, &terms);
	terms_fini(&terms);
	return result;
}

/* If dim is x // c + d with constants c > 0 and d: x + c * d, and *c. */
static const struct tn_dim *inner_dividend(struct tn_dim_pool *pool,
					   const struct tn_dim *dim,
					   int64_t *c)
{
	struct tn_dim_poly poly = tn_dim_poly(dim);
	const struct tn_dim *atom;
	int64_t shift = 0;

	if (poly.count < 1 || poly.count > 2 || poly.terms[0].natoms != 1 ||
	    poly.terms[0].coef != 1)
		return NULL;
	atom = poly.terms[0].atoms[0];
	if (atom->kind != TN_DIM_FLOORDIV || !tn_dim_is_const(atom->b) ||
	    atom->b->value <= 0)
		return NULL;
	*c = atom->b->value;
	if (poly.count == 2 && (poly.terms[1].natoms ||
				!tn_num_mul(poly.terms[1].coef, *c, &shift)))
		return NULL;
	return tn_dim_add(pool, atom->a, tn_dim_const(pool, shift));
}

/* True if dim // k is the same for all values; both ends finite. */
static bool has_one_quotient(const struct tn_dim *dim, int64_t k, int64_t *q)
{
	int64_t lo, hi;

	tn_dim_bounds(dim, &lo, &hi);
	if (lo == INT64_MIN || hi == INT64_MAX)
		return false;
	*q = tn_num_floordiv(lo, k);
	return *q == tn_num_floordiv(hi, k);
}

/* `rest // k` where no term of rest is a multiple of k. */
static const struct tn_dim *div_rest(struct tn_dim_pool *pool,
				     const struct tn_dim *rest, int64_t k)
{
	int64_t g = common_factor(rest, k), c, q, lost;
	const struct tn_dim *inner;

	rest = divide_coefs(pool, rest, g, &lost);
	k /= g;
	if (!rest || k == 1)
		return rest;
	if (has_one_quotient(rest, k, &q))
		return tn_dim_const(pool, q);
	inner = inner_dividend(pool, rest, &c);
	if (inner && tn_num_mul(c, k, &c))
		return div_const(pool, inner, c);
	return tn_dim_atom(pool, TN_DIM_FLOORDIV, rest, tn_dim_const(pool, k));
}

/* Adds the quotients of those terms known to be multiples of k although
 * their coefficients are not. */
static const struct tn_dim *add_known(struct tn_dim_pool *pool,
				      const struct tn_dim *sum,
				      const struct terms *known, int64_t k)
{
	int i;

	for (i = 0; i < known->count; i++)
		sum = tn_dim_add(pool, sum,
				 div_rest(pool,
					  tn_dim_sum(pool, &known->at[i], 1),
					  k));
	return sum;
}

static void split_div(const struct tn_dim *a, int64_t k, struct terms *whole,
		      struct terms *known, struct terms *rest)
{
	struct tn_dim_poly poly = tn_dim_poly(a);
	int i;

	for (i = 0; i < poly.count; i++) {
		const struct tn_dim_term *term = &poly.terms[i];
		int64_t coef = term->coef;

		if (!term->natoms) {
			terms_add(whole, term, tn_num_floordiv(coef, k));
			terms_add(rest, term, tn_num_floormod(coef, k));
		} else if (coef % k == 0) {
			terms_add(whole, term, coef / k);
		} else if (tn_dim_term_divisor(term) % k == 0) {
			terms_add(known, term, coef);
		} else {
			terms_add(rest, term, coef);
		}
	}
}

static const struct tn_dim *div_split(struct tn_dim_pool *pool,
				      const struct tn_dim *a, int64_t k)
{
	int room = tn_dim_poly(a).count;
	const struct tn_dim *result = NULL;
	struct terms whole, known, rest;
	bool ok = terms_init(pool, &whole, room);

	ok &= terms_init(pool, &known, room);
	ok &= terms_init(pool, &rest, room);
	if (ok) {
		split_div(a, k, &whole, &known, &rest);
		result = terms_sum(pool, &whole);
		result = add_known(pool, result, &known, k);
		if (rest.count && rest.at[0].natoms)
			result = tn_dim_add(pool, result,
					    div_rest(pool,
						     terms_sum(pool, &rest),
						     k));
	}
	terms_fini(&whole);
	terms_fini(&known);
	terms_fini(&rest);
	return result;
}

static const struct tn_dim *negate(struct tn_dim_pool *pool,
				   const struct tn_dim *a)
{
	return tn_dim_add_scaled(pool, tn_dim_const(pool, 0), a, -1);
}

static const struct tn_dim *div_const(struct tn_dim_pool *pool,
				      const struct tn_dim *a, int64_t k)
{
	if (!a || k == 0)
		return NULL;
	if (k == INT64_MIN)
		return tn_dim_overflow(pool);
	if (k < 0) {
		a = negate(pool, a);
		k = -k;
	}
	if (!a || k == 1)
		return a;
	if (tn_dim_is_const(a))
		return tn_dim_const(pool, tn_num_floordiv(a->value, k));
	return div_split(pool, a, k);
}

/* The coefficient modulo k, the representative nearest to 0. */
static int64_t centred(int64_t coef, int64_t k)
{
	int64_t rest = tn_num_floormod(coef, k);

	return rest > k / 2 ? rest - k : rest;
}

/* a without what k divides, coefficients reduced. */
static const struct tn_dim *reduce_mod(struct tn_dim_pool *pool,
				       const struct tn_dim *a, int64_t k)
{
	struct tn_dim_poly poly = tn_dim_poly(a);
	const struct tn_dim *result;
	struct terms rest;
	int i;

	if (!terms_init(pool, &rest, poly.count))
		return NULL;
	for (i = 0; i < poly.count; i++) {
		const struct tn_dim_term *term = &poly.terms[i];

		if (!term->natoms)
			terms_add(&rest, term, tn_num_floormod(term->coef, k));
		else if (tn_dim_term_divisor(term) % k != 0)
			terms_add(&rest, term, centred(term->coef, k));
	}
	result = terms_sum(pool, &rest);
	terms_fini(&rest);
	return result;
}

static const struct tn_dim *mod_rest(struct tn_dim_pool *pool,
				     const struct tn_dim *rest, int64_t k);

static const struct tn_dim *mod_const(struct tn_dim_pool *pool,
				      const struct tn_dim *a, int64_t k)
{
	if (!a || k == 0)
		return NULL;
	if (k == INT64_MIN)
		return tn_dim_overflow(pool);
	if (k < 0)
		return negate(pool, mod_const(pool, negate(pool, a), -k));
	if (k == 1)
		return tn_dim_const(pool, 0);
	a = reduce_mod(pool, a, k);
	return a ? mod_rest(pool, a, k) : NULL;
}

static const struct tn_dim *mod_rest(struct tn_dim_pool *pool,
				     const struct tn_dim *rest, int64_t k)
{
	int64_t g = common_factor(rest, k), lost, q;
	const struct tn_dim *result;

	if (tn_dim_is_const(rest))
		return rest;
	if (g > 1) {
		result = divide_coefs(pool, rest, g, &lost);
		result = mod_const(pool, result, k / g);
		return tn_dim_add_scaled(pool, tn_dim_const(pool, lost),
					 result, g);
	}
	if (has_one_quotient(rest, k, &q) && tn_num_mul(q, k, &q))
		return tn_dim_sub(pool, rest, tn_dim_const(pool, q));
	if (rest->kind == TN_DIM_MOD && tn_dim_is_const(rest->b) &&
	    rest->b->value % k == 0)
		return mod_const(pool, rest->a, k);
	return tn_dim_atom(pool, TN_DIM_MOD, rest, tn_dim_const(pool, k));
}

/* ---- By any dim that is never 0 -------------------------------------- */

/* The term divided by another, atoms to `out` (room for term->natoms). False:
 * not exact. */
static bool term_divide(const struct tn_dim_term *term,
			const struct tn_dim_term *by,
			const struct tn_dim **out, struct tn_dim_term *result)
{
	int i, j = 0, count = 0;

	if (term->coef % by->coef || term->natoms < by->natoms)
		return false;
	for (i = 0; i < term->natoms; i++) {
		if (j < by->natoms && term->atoms[i] == by->atoms[j])
			j++;
		else
			out[count++] = term->atoms[i];
	}
	*result = (struct tn_dim_term){term->coef / by->coef, count, out};
	return j == by->natoms;
}

/* The quotient of two terms as a dim, or NULL if not exact. */
static const struct tn_dim *divide_terms(struct tn_dim_pool *pool,
					 const struct tn_dim_term *term,
					 const struct tn_dim_term *by)
{
	const struct tn_dim *few[FEW], **atoms = few, *result = NULL;
	struct tn_dim_term quotient;

	if (term->natoms < by->natoms)
		return NULL;
	if (term->natoms > FEW)
		atoms = malloc((size_t)term->natoms * sizeof(*atoms));
	if (!atoms) {
		pool->arena->failed = true;
		return NULL;
	}
	if (term_divide(term, by, atoms, &quotient))
		result = tn_dim_sum(pool, &quotient, 1);
	if (atoms != few)
		free(atoms);
	return result;
}

/* Splits a into quotient * b + rest by terms, for b of one term. Dividing by
 * one term keeps the order of terms. */
static bool split_by_term(struct tn_dim_pool *pool, const struct tn_dim *a,
			  const struct tn_dim_term *b,
			  const struct tn_dim **quotient,
			  const struct tn_dim **rest)
{
	struct tn_dim_poly poly = tn_dim_poly(a);
	const struct tn_dim **atoms = malloc(TN_DIM_MAX_SIZE * sizeof(*atoms));
	const struct tn_dim **free_atoms = atoms;
	struct terms whole, left;
	bool ok = terms_init(pool, &whole, poly.count);
	int i;

	ok &= terms_init(pool, &left, poly.count);
	*quotient = *rest = NULL;
	for (i = 0; ok && atoms && i < poly.count; i++) {
		struct tn_dim_term part;

		if (term_divide(&poly.terms[i], b, free_atoms, &part)) {
			terms_add(&whole, &part, part.coef);
			free_atoms += part.natoms;
		} else {
			terms_add(&left, &poly.terms[i], poly.terms[i].coef);
		}
	}
	if (ok && atoms) {
		*quotient = terms_sum(pool, &whole);
		*rest = terms_sum(pool, &left);
	} else {
		pool->arena->failed = true;
	}
	terms_fini(&whole);
	terms_fini(&left);
	free(atoms);
	return *quotient && *rest;
}

/* Division of polynomials, leading term by leading term. */
static const struct tn_dim *divide_long(struct tn_dim_pool *pool,
					const struct tn_dim *a,
					const struct tn_dim *b)
{
	const struct tn_dim *quotient = tn_dim_const(pool, 0), *part;
	struct tn_dim_poly by = tn_dim_poly(b);
	int step;

	for (step = 0; a && quotient && step < MAX_STEPS; step++) {
		struct tn_dim_poly poly = tn_dim_poly(a);

		if (!poly.count)
			return quotient;
		part = divide_terms(pool, &poly.terms[0], &by.terms[0]);
		quotient = tn_dim_add(pool, quotient, part);
		a = tn_dim_sub(pool, a, tn_dim_mul(pool, part, b));
	}
	return NULL;
}

const struct tn_dim *tn_dim_exact(struct tn_dim_pool *pool,
				  const struct tn_dim *a,
				  const struct tn_dim *b)
{
	struct tn_dim_poly by = tn_dim_poly(b);
	const struct tn_dim *quotient = NULL, *rest;
	bool overflowed = pool->overflowed;

	if (by.count == 1) {
		if (!split_by_term(pool, a, &by.terms[0], &quotient, &rest) ||
		    !tn_dim_is(rest, 0))
			quotient = NULL;
	} else if (by.count > 1) {
		quotient = divide_long(pool, a, b);
	}
	pool->overflowed = overflowed;
	return quotient;
}

static bool is_never_zero(const struct tn_dim *dim)
{
	int64_t lo, hi;

	tn_dim_bounds(dim, &lo, &hi);
	return lo > 0 || hi < 0;
}

static bool is_positive(const struct tn_dim *dim)
{
	return tn_dim_node(dim)->lo > 0;
}

/* Greatest common divisor of all coefficients, the constant's too. */
static int64_t content(const struct tn_dim *dim)
{
	struct tn_dim_poly poly = tn_dim_poly(dim);
	int64_t g = 0;
	int i;

	for (i = 0; i < poly.count; i++)
		g = tn_dim_gcd(g, poly.terms[i].coef);
	return g;
}

/* Divides a and b by the positive integers and the atoms, never 0, that all
 * their terms share. */
static bool cancel(struct tn_dim_pool *pool, const struct tn_dim **a,
		   const struct tn_dim **b)
{
	int64_t g = tn_dim_gcd(content(*a), content(*b)), lost;
	struct tn_dim_poly by;
	int i;

	if (g > 1) {
		*a = divide_coefs(pool, *a, g, &lost);
		*b = divide_coefs(pool, *b, g, &lost);
	}
	if (!*a || !*b)
		return false;
	by = tn_dim_poly(*b);
	for (i = 0; by.count == 1 && i < by.terms[0].natoms; i++) {
		const struct tn_dim *atom = by.terms[0].atoms[i];
		const struct tn_dim *shorter = tn_dim_exact(pool, *a, atom);

		if (!shorter || !is_positive(atom))
			continue;
		*a = shorter;
		*b = tn_dim_exact(pool, *b, atom);
	}
	return *a && *b;
}

/* True if 0 <= a < b is known. */
static bool is_below(struct tn_dim_pool *pool, const struct tn_dim *a,
		     const struct tn_dim *b)
{
	bool overflowed = pool->overflowed, below;

	below = tn_dim_node(a)->lo >= 0 &&
		tn_dim_proves_le(pool,
				 tn_dim_add_scaled(pool, a,
						   tn_dim_const(pool, 1), 1),
				 b);
	pool->overflowed = overflowed;
	return below;
}

/* The part of a that b divides goes to *quotient, the rest to *rest. */
static bool split_by_dim(struct tn_dim_pool *pool, const struct tn_dim *a,
			 const struct tn_dim *b,
			 const struct tn_dim **quotient,
			 const struct tn_dim **rest)
{
	struct tn_dim_poly by = tn_dim_poly(b);

	if (by.count == 1)
		return split_by_term(pool, a, &by.terms[0], quotient, rest);
	*quotient = tn_dim_exact(pool, a, b);
	*rest = *quotient ? tn_dim_const(pool, 0) : a;
	if (!*quotient)
		*quotient = tn_dim_const(pool, 0);
	return *quotient && *rest;
}

static const struct tn_dim *div_dim_rest(struct tn_dim_pool *pool,
					 const struct tn_dim *a,
					 const struct tn_dim *b)
{
	if (tn_dim_is(a, 0))
		return a;
	if (!cancel(pool, &a, &b))
		return NULL;
	if (tn_dim_is_const(b))
		return div_const(pool, a, b->value);
	if (is_below(pool, a, b))
		return tn_dim_const(pool, 0);
	if (a->kind == TN_DIM_FLOORDIV && is_positive(a->b) && is_positive(b))
		return tn_dim_floordiv(pool, a->a, tn_dim_mul(pool, a->b, b));
	return tn_dim_atom(pool, TN_DIM_FLOORDIV, a, b);
}

const struct tn_dim *tn_dim_floordiv(struct tn_dim_pool *pool,
				     const struct tn_dim *a,
				     const struct tn_dim *b)
{
	const struct tn_dim *quotient, *rest;

	if (!a || !b)
		return NULL;
	if (tn_dim_is_const(b))
		return div_const(pool, a, b->value);
	if (!is_never_zero(b))
		return tn_dim_atom(pool, TN_DIM_FLOORDIV, a, b);
	if (!split_by_dim(pool, a, b, &quotient, &rest))
		return NULL;
	return tn_dim_add(pool, quotient, div_dim_rest(pool, rest, b));
}

const struct tn_dim *tn_dim_mod(struct tn_dim_pool *pool,
				const struct tn_dim *a, const struct tn_dim *b)
{
	const struct tn_dim *quotient, *rest;

	if (!a || !b)
		return NULL;
	if (tn_dim_is_const(b))
		return mod_const(pool, a, b->value);
	if (!is_never_zero(b))
		return tn_dim_atom(pool, TN_DIM_MOD, a, b);
	if (!split_by_dim(pool, a, b, &quotient, &rest))
		return NULL;
	if (tn_dim_is(rest, 0) || is_below(pool, rest, b))
		return rest;
	return tn_dim_atom(pool, TN_DIM_MOD, rest, b);
}
