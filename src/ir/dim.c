/*
 * Dims: interning, sums and products.
 *
 * A dim is looked at as a sum of terms, each an integer times a product of
 * atoms. Terms stand in canonical order (degree falling, then atoms by
 * structure), atoms in a term likewise, so equal polynomials are equal arrays
 * and interning makes them one pointer.
 *
 *   (B + 2) * (B - 2)  ->  SUM [1 * B B] [-4 *]
 *
 * A multiple of k of `x // k` whose x is known to be divisible by k becomes a
 * multiple of x.
 */
#include "ir/dim.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ir/dim_node.h"

#define FEW 16

bool tn_dim_pool_init(struct tn_dim_pool *pool, struct tn_arena *arena)
{
	*pool = (struct tn_dim_pool){.arena = arena};
	tn_map_init_ptr(&pool->table);
	tn_vec_init(&pool->syms, sizeof(const struct tn_dim *), NULL);
	return true;
}

void tn_dim_pool_fini(struct tn_dim_pool *pool)
{
	tn_map_fini(&pool->table);
	tn_vec_fini(&pool->syms);
}

const struct tn_dim *tn_dim_overflow(struct tn_dim_pool *pool)
{
	pool->overflowed = true;
	return NULL;
}

struct tn_dim_poly tn_dim_poly(const struct tn_dim *dim)
{
	if (dim->kind == TN_DIM_SUM)
		return (struct tn_dim_poly){dim->terms, dim->nterms};
	if (tn_dim_is(dim, 0))
		return (struct tn_dim_poly){NULL, 0};
	return (struct tn_dim_poly){&tn_dim_node(dim)->unit, 1};
}

/* ---- Order ----------------------------------------------------------- */

static int sign_of(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_atoms(const struct tn_dim *a, const struct tn_dim *b)
{
	int order;

	if (a == b)
		return 0;
	if (a->kind != b->kind)
		return sign_of(a->kind, b->kind);
	if (a->kind == TN_DIM_SYM)
		return sign_of(a->sym->number, b->sym->number);
	order = tn_dim_compare(a->a, b->a);
	return order ? order : tn_dim_compare(a->b, b->b);
}

/* Of products: higher degree first, then by atoms; coefficients ignored. */
static int compare_terms(const struct tn_dim_term *a,
			 const struct tn_dim_term *b)
{
	int i, order = sign_of(b->natoms, a->natoms);

	for (i = 0; !order && i < a->natoms; i++)
		order = compare_atoms(a->atoms[i], b->atoms[i]);
	return order;
}

int tn_dim_compare(const struct tn_dim *a, const struct tn_dim *b)
{
	struct tn_dim_poly p = tn_dim_poly(a), q = tn_dim_poly(b);
	int i, order = 0;

	if (a == b)
		return 0;
	for (i = 0; !order && i < p.count && i < q.count; i++) {
		order = compare_terms(&p.terms[i], &q.terms[i]);
		if (!order)
			order = sign_of(p.terms[i].coef, q.terms[i].coef);
	}
	return order ? order : sign_of(p.count, q.count);
}

static int compare_terms_void(const void *a, const void *b)
{
	return compare_terms(a, b);
}

static int compare_atoms_void(const void *a, const void *b)
{
	return compare_atoms(*(const struct tn_dim *const *)a,
			     *(const struct tn_dim *const *)b);
}

/* ---- Interning ------------------------------------------------------- */

static uint64_t hash_dim(const struct tn_dim *dim)
{
	uint64_t hash = tn_hash_mix(dim->kind, (uint64_t)dim->value);
	int i, j;

	for (i = 0; i < dim->nterms; i++) {
		const struct tn_dim_term *term = &dim->terms[i];

		hash = tn_hash_mix(hash, (uint64_t)term->coef);
		for (j = 0; j < term->natoms; j++)
			hash = tn_hash_mix(hash, (uint64_t)term->atoms[j]->id);
	}
	if (dim->a) {
		hash = tn_hash_mix(hash, (uint64_t)dim->a->id);
		hash = tn_hash_mix(hash, (uint64_t)dim->b->id);
	}
	return hash;
}

static bool is_same(const struct tn_dim *a, const struct tn_dim *b)
{
	int i;

	if (a->kind != b->kind || a->value != b->value || a->a != b->a ||
	    a->b != b->b || a->nterms != b->nterms)
		return false;
	for (i = 0; i < a->nterms; i++) {
		const struct tn_dim_term *s = &a->terms[i], *t = &b->terms[i];

		if (s->coef != t->coef || s->natoms != t->natoms)
			return false;
		if (s->natoms && memcmp(s->atoms, t->atoms,
					(size_t)s->natoms *
						sizeof(*s->atoms)) != 0)
			return false;
	}
	return true;
}

static int size_of(const struct tn_dim *dim)
{
	int64_t size = 1;
	int i, j;

	for (i = 0; i < dim->nterms; i++) {
		size++;
		for (j = 0; j < dim->terms[i].natoms; j++)
			size += tn_dim_node(dim->terms[i].atoms[j])->size;
	}
	if (dim->a)
		size += tn_dim_node(dim->a)->size + tn_dim_node(dim->b)->size;
	return size > TN_DIM_MAX_SIZE ? TN_DIM_MAX_SIZE + 1 : (int)size;
}

/* Copies the terms of a dim, whose arrays are scratch, to the arena. */
static bool keep_terms(struct tn_dim_pool *pool, struct tn_dim *dim)
{
	struct tn_dim_term *terms;
	int i;

	if (!dim->nterms)
		return true;
	terms = tn_arena_copy(pool->arena, dim->terms,
			      (size_t)dim->nterms * sizeof(*terms));
	if (!terms)
		return false;
	for (i = 0; i < dim->nterms; i++) {
		if (!terms[i].natoms)
			continue;
		terms[i].atoms = tn_arena_copy(
			pool->arena, terms[i].atoms,
			(size_t)terms[i].natoms * sizeof(*terms[i].atoms));
		if (!terms[i].atoms)
			return false;
	}
	dim->terms = terms;
	return true;
}

static struct tn_dim_node *node_new(struct tn_dim_pool *pool,
				    const struct tn_dim *like, int size)
{
	struct tn_dim_node *node = tn_arena_alloc(pool->arena, sizeof(*node));

	if (!node)
		return NULL;
	node->dim = *like;
	if (!keep_terms(pool, &node->dim))
		return NULL;
	node->dim.id = pool->count++;
	node->self = &node->dim;
	node->size = size;
	if (like->kind == TN_DIM_CONST)
		node->unit = (struct tn_dim_term){.coef = like->value};
	else
		node->unit = (struct tn_dim_term){1, 1, &node->self};
	tn_dim_measure(node);
	return node;
}

static const struct tn_dim *intern(struct tn_dim_pool *pool,
				   const struct tn_dim *like)
{
	const void *key = (const void *)(uintptr_t)hash_dim(like);
	struct tn_dim_node *first = tn_map_find(&pool->table, key), *node;
	int size = size_of(like);

	for (node = first; node; node = node->next)
		if (is_same(&node->dim, like))
			return &node->dim;
	if (size > TN_DIM_MAX_SIZE)
		return tn_dim_overflow(pool);
	node = node_new(pool, like, size);
	if (!node)
		return NULL;
	node->next = first;
	if (!tn_map_set(&pool->table, key, node)) {
		pool->arena->failed = true;
		return NULL;
	}
	return &node->dim;
}

const struct tn_dim *tn_dim_const(struct tn_dim_pool *pool, int64_t value)
{
	struct tn_dim like = {.kind = TN_DIM_CONST, .value = value};

	return intern(pool, &like);
}

const struct tn_dim *tn_dim_atom(struct tn_dim_pool *pool,
				 enum tn_dim_kind kind, const struct tn_dim *a,
				 const struct tn_dim *b)
{
	struct tn_dim like = {.kind = kind, .a = a, .b = b};

	if (!a || !b)
		return NULL;
	return intern(pool, &like);
}

const struct tn_dim *tn_dim_new_sym(struct tn_dim_pool *pool,
				    const struct tn_sym *sym)
{
	struct tn_sym *copy = tn_arena_copy(pool->arena, sym, sizeof(*sym));
	struct tn_dim like = {.kind = TN_DIM_SYM, .sym = copy};
	struct tn_dim_node *node;

	if (!copy)
		return NULL;
	if (sym->nopt) {
		copy->opt = tn_arena_copy(pool->arena, sym->opt,
					  (size_t)sym->nopt *
						  sizeof(*sym->opt));
		if (!copy->opt)
			return NULL;
	}
	if (copy->mod < 1)
		copy->mod = 1;
	copy->number = pool->nsyms;
	node = node_new(pool, &like, 1);
	if (!node)
		return NULL;
	if (!tn_vec_push_ptr(&pool->syms, &node->dim)) {
		pool->arena->failed = true;
		return NULL;
	}
	pool->nsyms++;
	return &node->dim;
}

/* ---- Sums ------------------------------------------------------------ */

/* The number of an atom `x // k` of the term that may be multiplied out, or
 * -1. */
static int reducible_atom(const struct tn_dim_term *term)
{
	int i;

	for (i = 0; i < term->natoms; i++) {
		const struct tn_dim *atom = term->atoms[i];

		if (atom->kind == TN_DIM_FLOORDIV && tn_dim_is_const(atom->b) &&
		    term->coef % atom->b->value == 0 &&
		    tn_dim_node(atom->a)->divisor % atom->b->value == 0)
			return i;
	}
	return -1;
}

/* The term with `x // k` at `at` multiplied out. */
static const struct tn_dim *reduce_term(struct tn_dim_pool *pool,
					const struct tn_dim_term *term, int at)
{
	const struct tn_dim *atom = term->atoms[at], *result;
	int i;

	result = tn_dim_const(pool, term->coef / atom->b->value);
	result = tn_dim_mul(pool, result, atom->a);
	for (i = 0; i < term->natoms; i++)
		if (i != at)
			result = tn_dim_mul(pool, result, term->atoms[i]);
	return result;
}

/* The sum of the terms with number `at` replaced by `reduced`. */
static const struct tn_dim *sum_around(struct tn_dim_pool *pool,
				       const struct tn_dim_term *terms,
				       int count, int at,
				       const struct tn_dim *reduced)
{
	const struct tn_dim *before = tn_dim_sum(pool, terms, at);
	const struct tn_dim *after =
		tn_dim_sum(pool, terms + at + 1, count - at - 1);

	return tn_dim_add(pool, tn_dim_add(pool, before, after), reduced);
}

const struct tn_dim *tn_dim_sum(struct tn_dim_pool *pool,
				const struct tn_dim_term *terms, int count)
{
	struct tn_dim like = {.kind = TN_DIM_SUM, .nterms = count,
			      .terms = terms};
	int i;

	if (count == 0)
		return tn_dim_const(pool, 0);
	if (count == 1 && terms[0].natoms == 0)
		return tn_dim_const(pool, terms[0].coef);
	if (count == 1 && terms[0].natoms == 1 && terms[0].coef == 1)
		return terms[0].atoms[0];
	for (i = 0; i < count; i++) {
		int at = reducible_atom(&terms[i]);

		if (at >= 0)
			return sum_around(pool, terms, count, i,
					  reduce_term(pool, &terms[i], at));
	}
	return intern(pool, &like);
}

static bool mul_coef(int64_t a, int64_t b, int64_t *out)
{
	return tn_num_mul(a, b, out) && *out != INT64_MIN;
}

static bool add_coef(int64_t a, int64_t b, int64_t *out)
{
	return tn_num_add(a, b, out) && *out != INT64_MIN;
}

/* Merges a and b * factor into `out`; the count, or -1 on overflow. */
static int merge(struct tn_dim_poly a, struct tn_dim_poly b, int64_t factor,
		 struct tn_dim_term *out)
{
	int i = 0, j = 0, count = 0;

	while (i < a.count || j < b.count) {
		int order = i == a.count ? 1 : j == b.count ? -1 :
			compare_terms(&a.terms[i], &b.terms[j]);
		struct tn_dim_term term;

		if (order < 0) {
			out[count++] = a.terms[i++];
			continue;
		}
		term = b.terms[j++];
		if (!mul_coef(term.coef, factor, &term.coef))
			return -1;
		if (order == 0 &&
		    !add_coef(a.terms[i++].coef, term.coef, &term.coef))
			return -1;
		if (term.coef)
			out[count++] = term;
	}
	return count;
}

const struct tn_dim *tn_dim_add_scaled(struct tn_dim_pool *pool,
				       const struct tn_dim *a,
				       const struct tn_dim *b, int64_t factor)
{
	struct tn_dim_term few[FEW], *terms = few;
	const struct tn_dim *result;
	struct tn_dim_poly p, q;
	int count;

	if (!a || !b)
		return NULL;
	p = tn_dim_poly(a);
	q = tn_dim_poly(b);
	if (!q.count || !factor)
		return a;
	if (p.count + q.count > FEW)
		terms = malloc((size_t)(p.count + q.count) * sizeof(*terms));
	if (!terms) {
		pool->arena->failed = true;
		return NULL;
	}
	count = merge(p, q, factor, terms);
	result = count < 0 ? tn_dim_overflow(pool) :
			     tn_dim_sum(pool, terms, count);
	if (terms != few)
		free(terms);
	return result;
}

const struct tn_dim *tn_dim_add(struct tn_dim_pool *pool,
				const struct tn_dim *a, const struct tn_dim *b)
{
	return tn_dim_add_scaled(pool, a, b, 1);
}

const struct tn_dim *tn_dim_sub(struct tn_dim_pool *pool,
				const struct tn_dim *a, const struct tn_dim *b)
{
	return tn_dim_add_scaled(pool, a, b, -1);
}

/* ---- Products -------------------------------------------------------- */

static int64_t atoms_in(struct tn_dim_poly poly)
{
	int64_t sum = 0;
	int i;

	for (i = 0; i < poly.count; i++)
		sum += poly.terms[i].natoms;
	return sum;
}

/* The product of two terms; its atoms to `atoms`. */
static bool multiply_terms(const struct tn_dim_term *a,
			   const struct tn_dim_term *b,
			   const struct tn_dim **atoms,
			   struct tn_dim_term *out)
{
	size_t i, count = (size_t)a->natoms + (size_t)b->natoms;

	for (i = 0; i < (size_t)a->natoms; i++)
		atoms[i] = a->atoms[i];
	for (; i < count; i++)
		atoms[i] = b->atoms[i - (size_t)a->natoms];
	if (a->natoms && b->natoms)
		qsort(atoms, count, sizeof(*atoms), compare_atoms_void);
	out->natoms = (int)count;
	out->atoms = atoms;
	return mul_coef(a->coef, b->coef, &out->coef);
}

/* Sorts and merges like terms; the new count, or -1 on overflow. */
static int collect(struct tn_dim_term *terms, int count)
{
	int i, kept = 0;

	qsort(terms, (size_t)count, sizeof(*terms), compare_terms_void);
	for (i = 0; i < count; i++) {
		struct tn_dim_term *last = &terms[kept - 1];

		if (kept && compare_terms(last, &terms[i]) == 0) {
			if (!add_coef(last->coef, terms[i].coef, &last->coef))
				return -1;
		} else {
			if (kept && !last->coef)
				kept--;
			terms[kept++] = terms[i];
		}
	}
	if (kept && !terms[kept - 1].coef)
		kept--;
	return kept;
}

static const struct tn_dim *multiply_into(struct tn_dim_pool *pool,
					  struct tn_dim_poly p,
					  struct tn_dim_poly q,
					  struct tn_dim_term *terms,
					  const struct tn_dim **atoms)
{
	int i, j, count = 0;

	for (i = 0; i < p.count; i++) {
		for (j = 0; j < q.count; j++) {
			if (!multiply_terms(&p.terms[i], &q.terms[j], atoms,
					    &terms[count]))
				return tn_dim_overflow(pool);
			atoms += terms[count++].natoms;
		}
	}
	count = collect(terms, count);
	if (count < 0)
		return tn_dim_overflow(pool);
	return tn_dim_sum(pool, terms, count);
}

static const struct tn_dim *multiply(struct tn_dim_pool *pool,
				     struct tn_dim_poly p,
				     struct tn_dim_poly q)
{
	int64_t count = (int64_t)p.count * q.count;
	int64_t natoms = atoms_in(p) * q.count + atoms_in(q) * p.count;
	const struct tn_dim *result = NULL;
	struct tn_dim_term *terms;
	const struct tn_dim **atoms;

	if (count + natoms > 4 * TN_DIM_MAX_SIZE)
		return tn_dim_overflow(pool);
	terms = malloc((size_t)count * sizeof(*terms));
	atoms = malloc((size_t)(natoms + 1) * sizeof(*atoms));
	if (terms && atoms)
		result = multiply_into(pool, p, q, terms, atoms);
	else
		pool->arena->failed = true;
	free(terms);
	free(atoms);
	return result;
}

const struct tn_dim *tn_dim_mul(struct tn_dim_pool *pool,
				const struct tn_dim *a, const struct tn_dim *b)
{
	if (!a || !b)
		return NULL;
	if (tn_dim_is_const(a)) {
		const struct tn_dim *other = a;

		a = b;
		b = other;
	}
	if (tn_dim_is(b, 1))
		return a;
	if (tn_dim_is(a, 0) || tn_dim_is(b, 0))
		return tn_dim_const(pool, 0);
	if (tn_dim_is_const(b))
		return tn_dim_add_scaled(pool, tn_dim_const(pool, 0), a,
					 b->value);
	return multiply(pool, tn_dim_poly(a), tn_dim_poly(b));
}

bool tn_dim_is(const struct tn_dim *dim, int64_t value)
{
	return dim->kind == TN_DIM_CONST && dim->value == value;
}
