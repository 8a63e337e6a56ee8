/*
 * Dims: giving values to symbols, putting dims for symbols, solving for one
 * symbol.
 */
#include <stdlib.h>

#include "base/num.h"
#include "ir/dim.h"
#include "ir/dim_node.h"

/* ---- Evaluation ------------------------------------------------------ */

static bool eval_sum(const struct tn_dim *dim, const int64_t *values,
		     int64_t *out)
{
	int64_t sum = 0;
	int i, j;

	for (i = 0; i < dim->nterms; i++) {
		const struct tn_dim_term *term = &dim->terms[i];
		int64_t product = term->coef, factor;

		for (j = 0; j < term->natoms; j++)
			if (!tn_dim_eval(term->atoms[j], values, &factor) ||
			    !tn_num_mul(product, factor, &product))
				return false;
		if (!tn_num_add(sum, product, &sum))
			return false;
	}
	*out = sum;
	return true;
}

static bool eval_pair(enum tn_dim_kind kind, int64_t a, int64_t b,
		      int64_t *out)
{
	if (kind == TN_DIM_MIN) {
		*out = a < b ? a : b;
		return true;
	}
	if (kind == TN_DIM_MAX) {
		*out = a > b ? a : b;
		return true;
	}
	if (b == 0 || (a == INT64_MIN && b == -1))
		return false;
	*out = kind == TN_DIM_MOD ? tn_num_floormod(a, b) :
				    tn_num_floordiv(a, b);
	return true;
}

bool tn_dim_eval(const struct tn_dim *dim, const int64_t *values, int64_t *out)
{
	int64_t a, b;

	switch (dim->kind) {
	case TN_DIM_CONST:
		*out = dim->value;
		return true;
	case TN_DIM_SYM:
		*out = values[dim->sym->number];
		return true;
	case TN_DIM_SUM:
		return eval_sum(dim, values, out);
	case TN_DIM_FLOORDIV:
	case TN_DIM_MOD:
	case TN_DIM_MIN:
	case TN_DIM_MAX:
		break;
	}
	return tn_dim_eval(dim->a, values, &a) &&
	       tn_dim_eval(dim->b, values, &b) &&
	       eval_pair(dim->kind, a, b, out);
}

/* ---- Substitution ---------------------------------------------------- */

static const struct tn_dim *pair(struct tn_dim_pool *pool,
				 enum tn_dim_kind kind, const struct tn_dim *a,
				 const struct tn_dim *b)
{
	switch (kind) {
	case TN_DIM_FLOORDIV:
		return tn_dim_floordiv(pool, a, b);
	case TN_DIM_MOD:
		return tn_dim_mod(pool, a, b);
	case TN_DIM_MIN:
		return tn_dim_min(pool, a, b);
	case TN_DIM_MAX:
		return tn_dim_max(pool, a, b);
	case TN_DIM_CONST:
	case TN_DIM_SYM:
	case TN_DIM_SUM:
		break;
	}
	return NULL;
}

static const struct tn_dim *subst_term(struct tn_dim_pool *pool,
				       const struct tn_dim_term *term,
				       const struct tn_dim *const *map)
{
	const struct tn_dim *product = tn_dim_const(pool, term->coef);
	int i;

	for (i = 0; i < term->natoms; i++)
		product = tn_dim_mul(pool, product,
				     tn_dim_subst(pool, term->atoms[i], map));
	return product;
}

const struct tn_dim *tn_dim_subst(struct tn_dim_pool *pool,
				  const struct tn_dim *dim,
				  const struct tn_dim *const *map)
{
	const struct tn_dim *sum;
	int i;

	if (!dim)
		return NULL;
	if (dim->kind == TN_DIM_CONST)
		return dim;
	if (dim->kind == TN_DIM_SYM)
		return map[dim->sym->number] ? map[dim->sym->number] : dim;
	if (dim->kind != TN_DIM_SUM)
		return pair(pool, dim->kind, tn_dim_subst(pool, dim->a, map),
			    tn_dim_subst(pool, dim->b, map));
	sum = tn_dim_const(pool, 0);
	for (i = 0; i < dim->nterms; i++)
		sum = tn_dim_add(pool, sum,
				 subst_term(pool, &dim->terms[i], map));
	return sum;
}

/* ---- Symbols --------------------------------------------------------- */

/* Calls `visit` for each occurrence of a symbol until it returns false. */
static bool walk(const struct tn_dim *dim,
		 bool (*visit)(void *data, const struct tn_dim *sym),
		 void *data)
{
	int i, j;

	if (dim->kind == TN_DIM_SYM)
		return visit(data, dim);
	for (i = 0; i < dim->nterms; i++)
		for (j = 0; j < dim->terms[i].natoms; j++)
			if (!walk(dim->terms[i].atoms[j], visit, data))
				return false;
	if (!dim->a)
		return true;
	return walk(dim->a, visit, data) && walk(dim->b, visit, data);
}

/* Counts occurrences before the first one of `sym`. */
struct search {
	const struct tn_dim *sym;
	int passed;
};

static bool search_visit(void *data, const struct tn_dim *sym)
{
	struct search *search = data;

	if (sym == search->sym)
		return false;
	search->passed++;
	return true;
}

struct each {
	const struct tn_dim *dim;
	int passed;
	void (*visit)(void *data, const struct tn_dim *sym);
	void *data;
};

static bool each_visit(void *data, const struct tn_dim *sym)
{
	struct each *each = data;
	struct search search = {.sym = sym};

	walk(each->dim, search_visit, &search);
	if (search.passed == each->passed++)
		each->visit(each->data, sym);
	return true;
}

void tn_dim_each_sym(const struct tn_dim *dim,
		     void (*visit)(void *data, const struct tn_dim *sym),
		     void *data)
{
	struct each each = {.dim = dim, .visit = visit, .data = data};

	walk(dim, each_visit, &each);
}

static bool is_bound_before(void *data, const struct tn_dim *sym)
{
	(void)data;
	return !sym->sym->is_runtime;
}

bool tn_dim_has_runtime(const struct tn_dim *dim)
{
	return !walk(dim, is_bound_before, NULL);
}

/* ---- Solving --------------------------------------------------------- */

struct unbound {
	const struct tn_dim *const *map;
	const struct tn_dim *sym;
	bool several;
};

static bool unbound_visit(void *data, const struct tn_dim *sym)
{
	struct unbound *unbound = data;

	if (unbound->map[sym->sym->number] || sym == unbound->sym)
		return true;
	unbound->several = unbound->sym != NULL;
	unbound->sym = sym;
	return !unbound->several;
}

static bool has_sym(const struct tn_dim *dim, const struct tn_dim *sym)
{
	struct search search = {.sym = sym};

	return !walk(dim, search_visit, &search);
}

/* The pattern as factor * sym + rest, bound symbols replaced. False if sym
 * stands elsewhere than as a plain factor. */
static bool split_linear(struct tn_dim_pool *pool,
			 const struct tn_dim *pattern,
			 const struct tn_dim *sym,
			 const struct tn_dim *const *map,
			 const struct tn_dim **factor,
			 const struct tn_dim **rest)
{
	struct tn_dim_poly poly = tn_dim_poly(pattern);
	int i;

	*factor = *rest = tn_dim_const(pool, 0);
	for (i = 0; i < poly.count; i++) {
		const struct tn_dim *term = tn_dim_sum(pool, &poly.terms[i], 1);
		const struct tn_dim **to = rest;

		if (!term)
			return false;
		if (has_sym(term, sym)) {
			term = tn_dim_exact(pool, term, sym);
			to = factor;
		}
		if (!term || has_sym(term, sym))
			return false;
		*to = tn_dim_add(pool, *to, tn_dim_subst(pool, term, map));
	}
	return *factor && *rest;
}

static const struct tn_dim *solve(struct tn_dim_pool *pool,
				  const struct tn_dim *factor,
				  const struct tn_dim *rest,
				  const struct tn_dim *value)
{
	const struct tn_dim *right = tn_dim_sub(pool, value, rest);

	if (!right || tn_dim_is(factor, 0))
		return NULL;
	if (tn_dim_proves_divides(pool, right, factor))
		return tn_dim_floordiv(pool, right, factor);
	return tn_dim_exact(pool, right, factor);
}

bool tn_dim_unify(struct tn_dim_pool *pool, const struct tn_dim *pattern,
		  const struct tn_dim *value, const struct tn_dim **map)
{
	struct unbound unbound = {.map = map};
	const struct tn_dim *factor, *rest, *solution;
	int64_t lo, hi;

	walk(pattern, unbound_visit, &unbound);
	if (unbound.several)
		return false;
	if (!unbound.sym)
		return tn_dim_subst(pool, pattern, map) == value;
	if (!split_linear(pool, pattern, unbound.sym, map, &factor, &rest))
		return false;
	solution = solve(pool, factor, rest, value);
	if (!solution)
		return false;
	tn_dim_bounds(solution, &lo, &hi);
	if (hi < unbound.sym->sym->lo || lo > unbound.sym->sym->hi)
		return false;
	map[unbound.sym->sym->number] = solution;
	return true;
}
