/*
 * Dims: what is known of their values. Bounds and divisors are computed once,
 * when a node is made, from those of its parts.
 *
 * The ends of the 64-bit range stand for infinity, so every step errs on the
 * wide side.
 */
#include "base/num.h"
#include "ir/dim.h"
#include "ir/dim_node.h"

struct range {
	int64_t lo, hi;
};

static int64_t add_sat(int64_t a, int64_t b)
{
	int64_t sum;

	if (tn_num_add(a, b, &sum))
		return sum;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

static bool is_infinite(int64_t value)
{
	return value == INT64_MIN || value == INT64_MAX;
}

/* Sum of two lower ends (or two upper ends, `worst` INT64_MAX). */
static int64_t add_ends(int64_t a, int64_t b, int64_t worst)
{
	if (a == worst || b == worst)
		return worst;
	return add_sat(a, b);
}

static int64_t mul_sat(int64_t a, int64_t b)
{
	int64_t product;

	if (a == 0 || b == 0)
		return 0;
	if (!is_infinite(a) && !is_infinite(b) && tn_num_mul(a, b, &product))
		return product;
	return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

/* Smallest range that holds the four. */
static struct range hull(int64_t a, int64_t b, int64_t c, int64_t d)
{
	struct range range = {a, a};
	const int64_t rest[] = {b, c, d};
	int i;

	for (i = 0; i < 3; i++) {
		if (rest[i] < range.lo)
			range.lo = rest[i];
		if (rest[i] > range.hi)
			range.hi = rest[i];
	}
	return range;
}

static struct range range_of(const struct tn_dim *dim)
{
	const struct tn_dim_node *node = tn_dim_node(dim);

	return (struct range){node->lo, node->hi};
}

static struct range mul_ranges(struct range a, struct range b)
{
	return hull(mul_sat(a.lo, b.lo), mul_sat(a.lo, b.hi),
		    mul_sat(a.hi, b.lo), mul_sat(a.hi, b.hi));
}

static struct range term_range(const struct tn_dim_term *term)
{
	struct range range = {term->coef, term->coef};
	int i;

	for (i = 0; i < term->natoms; i++)
		range = mul_ranges(range, range_of(term->atoms[i]));
	return range;
}

static struct range sum_range(const struct tn_dim *dim)
{
	struct range range = {0, 0};
	int i;

	for (i = 0; i < dim->nterms; i++) {
		struct range term = term_range(&dim->terms[i]);

		range.lo = add_ends(range.lo, term.lo, INT64_MIN);
		range.hi = add_ends(range.hi, term.hi, INT64_MAX);
	}
	return range;
}

/* Floor quotient of ends; dividing by infinity gives 0 or -1. */
static int64_t div_sat(int64_t a, int64_t b)
{
	if (is_infinite(b))
		return a == 0 ? 0 : (a < 0) == (b < 0) ? 0 : -1;
	if (is_infinite(a))
		return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
	return tn_num_floordiv(a, b);
}

static const struct range anything = {INT64_MIN, INT64_MAX};

/* The divisor is never 0 where the quotient is used. */
static struct range div_range(struct range a, struct range b)
{
	if (b.lo == 0 && b.hi > 0)
		b.lo = 1;
	if (b.lo <= 0 && b.hi >= 0)
		return anything;
	/* Between infinite ends the quotient reaches 0 and -1 as well. */
	if (is_infinite(a.lo) && is_infinite(a.hi))
		return anything;
	return hull(div_sat(a.lo, b.lo), div_sat(a.lo, b.hi),
		    div_sat(a.hi, b.lo), div_sat(a.hi, b.hi));
}

static struct range mod_range(const struct tn_dim *dim)
{
	struct range a = range_of(dim->a), b = range_of(dim->b);
	int64_t step = 1;

	if (b.lo <= 0)
		return b.hi < 0 ? (struct range){add_sat(b.lo, 1), 0} :
				  anything;
	if (tn_dim_is_const(dim->b))
		step = tn_dim_gcd(tn_dim_node(dim->a)->divisor, b.hi);
	b.hi = is_infinite(b.hi) ? b.hi : b.hi - step;
	if (a.lo >= 0 && a.hi < b.hi)
		b.hi = a.hi;
	return (struct range){0, b.hi};
}

static struct range range_of_new(const struct tn_dim *dim)
{
	struct range a, b;

	switch (dim->kind) {
	case TN_DIM_CONST:
		return (struct range){dim->value, dim->value};
	case TN_DIM_SYM:
		return (struct range){dim->sym->lo, dim->sym->hi};
	case TN_DIM_SUM:
		return sum_range(dim);
	case TN_DIM_MOD:
		return mod_range(dim);
	case TN_DIM_FLOORDIV:
	case TN_DIM_MIN:
	case TN_DIM_MAX:
		break;
	}
	a = range_of(dim->a);
	b = range_of(dim->b);
	if (dim->kind == TN_DIM_FLOORDIV)
		return div_range(a, b);
	if (dim->kind == TN_DIM_MIN)
		return (struct range){a.lo < b.lo ? a.lo : b.lo,
				      a.hi < b.hi ? a.hi : b.hi};
	return (struct range){a.lo > b.lo ? a.lo : b.lo,
			      a.hi > b.hi ? a.hi : b.hi};
}

int64_t tn_dim_term_divisor(const struct tn_dim_term *term)
{
	int64_t divisor = term->coef < 0 ? -term->coef : term->coef;
	int i;

	for (i = 0; i < term->natoms; i++) {
		int64_t factor = tn_dim_node(term->atoms[i])->divisor;

		if (!factor)
			return 0;
		if (!tn_num_mul(divisor, factor, &divisor))
			break;
	}
	return divisor;
}

static int64_t divisor_of_new(const struct tn_dim *dim)
{
	int64_t g = 0, divisor;
	int i;

	switch (dim->kind) {
	case TN_DIM_CONST:
		return tn_dim_gcd(dim->value, 0);
	case TN_DIM_SYM:
		return dim->sym->mod;
	case TN_DIM_SUM:
		for (i = 0; i < dim->nterms; i++)
			g = tn_dim_gcd(g, tn_dim_term_divisor(&dim->terms[i]));
		return g;
	case TN_DIM_FLOORDIV:
		divisor = tn_dim_node(dim->a)->divisor;
		if (!tn_dim_is_const(dim->b) || !dim->b->value ||
		    divisor % dim->b->value)
			return 1;
		return tn_dim_gcd(divisor / dim->b->value, 0);
	case TN_DIM_MOD:
	case TN_DIM_MIN:
	case TN_DIM_MAX:
		break;
	}
	return tn_dim_gcd(tn_dim_node(dim->a)->divisor,
			  tn_dim_node(dim->b)->divisor);
}

void tn_dim_measure(struct tn_dim_node *node)
{
	struct range range = range_of_new(&node->dim);

	node->lo = range.lo;
	node->hi = range.hi;
	node->divisor = divisor_of_new(&node->dim);
}

void tn_dim_bounds(const struct tn_dim *dim, int64_t *lo, int64_t *hi)
{
	*lo = tn_dim_node(dim)->lo;
	*hi = tn_dim_node(dim)->hi;
}
