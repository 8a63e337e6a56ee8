/*
 * Index arithmetic as a sum of terms.
 *
 * Dims are interned, so coefficients are compared by pointer; one that leaves
 * the 64-bit range makes the sum fail, without a mark on the pool.
 */
#include "ir/kernel_affine.h"

#include "base/num.h"
#include "ir/kernel_walk.h"

bool tn_kexpr_fold(enum tn_opcode code, int64_t a, int64_t b, int64_t *value)
{
	if (code == TN_OP_add)
		return tn_num_add(a, b, value);
	if (code == TN_OP_sub)
		return tn_num_sub(a, b, value);
	if (code == TN_OP_mul)
		return tn_num_mul(a, b, value);
	if ((code != TN_OP_fdiv && code != TN_OP_mod) || b < 1)
		return false;
	*value = code == TN_OP_fdiv ? tn_num_floordiv(a, b) :
		tn_num_floormod(a, b);
	return true;
}

bool tn_kexpr_known(const struct tn_kexpr *e, const struct tn_map *consts,
		    int64_t *value)
{
	const int64_t *bound;
	int64_t a, b;

	if (e->dtype != TN_i64)
		return false;
	if (e->kind == TN_KEXPR_INT) {
		*value = e->i;
		return true;
	}
	if (e->kind == TN_KEXPR_VAR) {
		bound = consts ? tn_map_find(consts, e->var) : NULL;
		if (bound)
			*value = *bound;
		return bound != NULL;
	}
	return e->kind == TN_KEXPR_OP && e->is_index && e->nargs == 2 &&
		tn_kexpr_known(e->args[0], consts, &a) &&
		tn_kexpr_known(e->args[1], consts, &b) &&
		tn_kexpr_fold(e->code, a, b, value);
}

static bool is_unsteady(void *data, const struct tn_kexpr *e)
{
	(void)data;
	if (e->kind == TN_KEXPR_VAR)
		return e->var->is_mutable;
	return e->kind == TN_KEXPR_LOAD && e->buf->role != TN_KBUF_IN;
}

bool tn_kexpr_is_steady(const struct tn_kexpr *expr)
{
	return !tn_kexpr_find(expr, is_unsteady, NULL);
}

/* ---- Sums ---- */

void tn_affine_dim(const struct tn_dim *base, struct tn_affine *out)
{
	out->base = base;
	out->n = 0;
}

int tn_affine_find(const struct tn_affine *a, const struct tn_kexpr *of)
{
	int i;

	if (!tn_kexpr_is_steady(of))
		return -1;
	for (i = 0; i < a->n; i++)
		if (tn_kexpr_equal(a->terms[i].of, of))
			return i;
	return -1;
}

static int find_var(const struct tn_affine *a, const struct tn_kvar *var)
{
	int i;

	for (i = 0; i < a->n; i++)
		if (a->terms[i].of->kind == TN_KEXPR_VAR &&
		    a->terms[i].of->var == var)
			return i;
	return -1;
}

void tn_affine_drop(struct tn_affine *a, int term)
{
	int i;

	for (i = term; i + 1 < a->n; i++)
		a->terms[i] = a->terms[i + 1];
	a->n--;
}

static bool add_term(struct tn_dim_pool *pool, struct tn_affine *a,
		     const struct tn_kexpr *of, const struct tn_dim *coef)
{
	int at = tn_affine_find(a, of);

	if (!coef)
		return false;
	if (tn_dim_is(coef, 0))
		return true;
	if (at < 0) {
		if (a->n == TN_AFFINE_TERMS)
			return false;
		a->terms[a->n].of = of;
		a->terms[a->n++].coef = coef;
		return true;
	}
	coef = tn_dim_add(pool, a->terms[at].coef, coef);
	a->terms[at].coef = coef;
	if (coef && tn_dim_is(coef, 0))
		tn_affine_drop(a, at);
	return coef != NULL;
}

static bool add_scaled(struct tn_dim_pool *pool, struct tn_affine *a,
		       const struct tn_affine *b, const struct tn_dim *factor)
{
	int i;

	a->base = tn_dim_add(pool, a->base, tn_dim_mul(pool, b->base, factor));
	for (i = 0; a->base && i < b->n; i++)
		if (!add_term(pool, a, b->terms[i].of,
			      tn_dim_mul(pool, b->terms[i].coef, factor)))
			return false;
	return a->base != NULL;
}

bool tn_affine_add(struct tn_dim_pool *pool, struct tn_affine *a,
		   const struct tn_affine *b, const struct tn_dim *factor)
{
	bool overflowed = pool->overflowed;
	bool good = add_scaled(pool, a, b, factor);

	pool->overflowed = overflowed;
	return good;
}

bool tn_affine_scale(struct tn_dim_pool *pool, struct tn_affine *a,
		     const struct tn_dim *factor)
{
	struct tn_affine sum;

	tn_affine_dim(tn_dim_const(pool, 0), &sum);
	if (!sum.base || !tn_affine_add(pool, &sum, a, factor))
		return false;
	*a = sum;
	return true;
}

/* ---- Making ---- */

static bool make(const struct tn_affine_scope *scope,
		 const struct tn_kexpr *expr, struct tn_affine *out);

/* An affine under construction; each call adds scale * expression. */
struct maker {
	const struct tn_affine_scope *scope;
	struct tn_affine *sum;
};

static bool add_up(const struct maker *m, const struct tn_kexpr *e,
		   const struct tn_dim *scale);

static bool add_leaf(const struct maker *m, const struct tn_kexpr *e,
		     const struct tn_dim *scale)
{
	struct tn_dim_pool *pool = m->scope->pool;
	const struct tn_affine *let = NULL;
	const int64_t *value = NULL;
	const struct tn_dim *dim = NULL;
	struct tn_affine size;

	if (e->kind == TN_KEXPR_INT)
		dim = tn_dim_const(pool, e->i);
	else if (e->kind == TN_KEXPR_DIM)
		dim = e->dim;
	else if (e->kind == TN_KEXPR_VAR && m->scope->consts)
		value = tn_map_find(m->scope->consts, e->var);
	if (value)
		dim = tn_dim_const(pool, *value);
	if (dim) {
		tn_affine_dim(dim, &size);
		return add_scaled(pool, m->sum, &size, scale);
	}
	if (e->kind == TN_KEXPR_VAR && m->scope->lets)
		let = tn_map_find(m->scope->lets, e->var);
	if (let)
		return add_scaled(pool, m->sum, let, scale);
	return add_term(pool, m->sum, e, scale);
}

/* A side of a product that is a size alone is a factor of the other. */
static bool add_product(const struct maker *m, const struct tn_kexpr *e,
			const struct tn_dim *scale)
{
	struct tn_dim_pool *pool = m->scope->pool;
	struct tn_affine a, b;

	if (!make(m->scope, e->args[0], &a) || !make(m->scope, e->args[1], &b))
		return add_term(pool, m->sum, e, scale);
	if (b.n == 0)
		return add_scaled(pool, m->sum, &a,
				  tn_dim_mul(pool, scale, b.base));
	if (a.n == 0)
		return add_scaled(pool, m->sum, &b,
				  tn_dim_mul(pool, scale, a.base));
	return add_term(pool, m->sum, e, scale);
}

/* Division and modulo of sizes alone are a size. */
static bool add_division(const struct maker *m, const struct tn_kexpr *e,
			 const struct tn_dim *scale)
{
	struct tn_dim_pool *pool = m->scope->pool;
	const struct tn_dim *dim = NULL;
	struct tn_affine a, b;

	if (make(m->scope, e->args[0], &a) && a.n == 0 &&
	    make(m->scope, e->args[1], &b) && b.n == 0 &&
	    !tn_dim_is(b.base, 0))
		dim = e->code == TN_OP_fdiv ?
			tn_dim_floordiv(pool, a.base, b.base) :
			tn_dim_mod(pool, a.base, b.base);
	if (!dim)
		return add_term(pool, m->sum, e, scale);
	tn_affine_dim(dim, &a);
	return add_scaled(pool, m->sum, &a, scale);
}

static bool add_up(const struct maker *m, const struct tn_kexpr *e,
		   const struct tn_dim *scale)
{
	struct tn_dim_pool *pool = m->scope->pool;

	if (!scale || !m->sum->base)
		return false;
	if (e->kind != TN_KEXPR_OP || !e->is_index || e->nargs != 2)
		return add_leaf(m, e, scale);
	if (e->code == TN_OP_add)
		return add_up(m, e->args[0], scale) &&
			add_up(m, e->args[1], scale);
	if (e->code == TN_OP_sub)
		return add_up(m, e->args[0], scale) &&
			add_up(m, e->args[1],
			       tn_dim_mul(pool, scale,
					  tn_dim_const(pool, -1)));
	return e->code == TN_OP_mul ? add_product(m, e, scale) :
		add_division(m, e, scale);
}

static bool make(const struct tn_affine_scope *scope,
		 const struct tn_kexpr *expr, struct tn_affine *out)
{
	struct maker maker = { scope, out };

	tn_affine_dim(tn_dim_const(scope->pool, 0), out);
	return add_up(&maker, expr, tn_dim_const(scope->pool, 1));
}

bool tn_affine_make(const struct tn_affine_scope *scope,
		    const struct tn_kexpr *expr, struct tn_affine *out)
{
	bool overflowed = scope->pool->overflowed;
	bool good = make(scope, expr, out);

	scope->pool->overflowed = overflowed;
	return good;
}

/* ---- Questions ---- */

bool tn_affine_coef(const struct tn_affine *a, const struct tn_kvar *var,
		    int64_t *coef)
{
	int at = find_var(a, var);

	*coef = 0;
	if (at < 0)
		return true;
	if (!tn_dim_is_const(a->terms[at].coef))
		return false;
	*coef = a->terms[at].coef->value;
	return true;
}

int64_t tn_affine_residue(const struct tn_affine *a, int64_t n,
			  int64_t (*residue)(void *data,
					     const struct tn_kexpr *term,
					     int64_t n),
			  void *data)
{
	int64_t sum, part, coef;
	int i;

	if (!tn_dim_is_const(a->base))
		return -1;
	sum = tn_num_floormod(a->base->value, n);
	for (i = 0; i < a->n; i++) {
		if (!tn_dim_is_const(a->terms[i].coef))
			return -1;
		coef = tn_num_floormod(a->terms[i].coef->value, n);
		if (coef == 0)
			continue;
		part = residue(data, a->terms[i].of, n);
		if (part < 0 || !tn_num_mul(coef, part, &part) ||
		    !tn_num_add(sum, part, &sum))
			return -1;
		sum %= n;
	}
	return sum;
}
