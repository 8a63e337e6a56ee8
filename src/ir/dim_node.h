/* What the files dim*.c share: the interned node and polynomial views. */
#ifndef TN_IR_DIM_NODE_H
#define TN_IR_DIM_NODE_H

#include "ir/dim.h"

/* No dim grows beyond this many nodes: bounds the time of everything. */
#define TN_DIM_MAX_SIZE 1024

/* A dim with what is known of it; made once, never changed. */
struct tn_dim_node {
	struct tn_dim dim;		/* first: a dim is its node */
	const struct tn_dim *self;	/* &dim, the atom of `unit` */
	struct tn_dim_term unit;	/* the dim as one term, unless a SUM */
	int64_t lo, hi;			/* bounds; the 64-bit ends: infinite */
	int64_t divisor;		/* divides every value; 0: value is 0 */
	int size;			/* nodes, shared ones counted again */
	struct tn_dim_node *next;	/* of equal hash */
};

/* A dim seen as a sum of terms in canonical order. */
struct tn_dim_poly {
	const struct tn_dim_term *terms;
	int count;
};

static inline const struct tn_dim_node *tn_dim_node(const struct tn_dim *dim)
{
	return (const struct tn_dim_node *)dim;
}

struct tn_dim_poly tn_dim_poly(const struct tn_dim *dim);
/* Total orders that do not depend on the order of creation. */
int tn_dim_compare(const struct tn_dim *a, const struct tn_dim *b);
/* The dim of terms in canonical order, no two alike, none zero. */
const struct tn_dim *tn_dim_sum(struct tn_dim_pool *pool,
				const struct tn_dim_term *terms, int count);
/* The atom as it stands, without simplification. */
const struct tn_dim *tn_dim_atom(struct tn_dim_pool *pool,
				 enum tn_dim_kind kind, const struct tn_dim *a,
				 const struct tn_dim *b);
/* a + b * factor. */
const struct tn_dim *tn_dim_add_scaled(struct tn_dim_pool *pool,
				       const struct tn_dim *a,
				       const struct tn_dim *b,
				       int64_t factor);
/* q with q * b == a as polynomials, or NULL; never sets `overflowed`. */
const struct tn_dim *tn_dim_exact(struct tn_dim_pool *pool,
				  const struct tn_dim *a,
				  const struct tn_dim *b);
/* Known divisor of a term. */
int64_t tn_dim_term_divisor(const struct tn_dim_term *term);
int64_t tn_dim_gcd(int64_t a, int64_t b);
/* Fills lo, hi and divisor of a new node. */
void tn_dim_measure(struct tn_dim_node *node);
/* True if dim >= 0 for all values of the symbols. */
bool tn_dim_proves_nonneg(struct tn_dim_pool *pool, const struct tn_dim *dim);
/* NULL, with `overflowed` set. */
const struct tn_dim *tn_dim_overflow(struct tn_dim_pool *pool);

#endif
