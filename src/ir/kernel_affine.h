/*
 * Index arithmetic as a sum: base + coef * term + ..
 *
 *   (q * 6 + j) * N + 1   ->   1 + 6*N * q + N * j
 *
 * Base and coefficients are dims. A term is a variable or, opaque, whatever
 * else the arithmetic holds: i * j, i // 2, min(i, 3), x[i]. Equal terms are
 * one, provided that their value cannot change between two readings.
 */
#ifndef TN_IR_KERNEL_AFFINE_H
#define TN_IR_KERNEL_AFFINE_H

#include "ir/kernel.h"

#define TN_AFFINE_TERMS 24

struct tn_affine_term {
	const struct tn_kexpr *of;	/* i64, no sum and no size */
	const struct tn_dim *coef;	/* not 0 */
};

struct tn_affine {
	const struct tn_dim *base;
	int n;
	struct tn_affine_term terms[TN_AFFINE_TERMS];
};

/* What is known outside of the expression; both maps may be NULL. */
struct tn_affine_scope {
	struct tn_dim_pool *pool;
	const struct tn_map *consts;	/* tn_kvar -> int64_t *, its value */
	const struct tn_map *lets;	/* tn_kvar -> struct tn_affine * */
};

/* Value of index arithmetic where `consts` (tn_kvar -> int64_t *) says what
 * variables are; false: not known, or no plain arithmetic. */
bool tn_kexpr_known(const struct tn_kexpr *expr, const struct tn_map *consts,
		    int64_t *value);
/* One step of it: add, sub, mul, fdiv, mod; false: another operator, overflow
 * or a divisor below 1. */
bool tn_kexpr_fold(enum tn_opcode code, int64_t a, int64_t b, int64_t *value);

/* The sum of an i64 expression. False: it has too many terms, or numbers or
 * sizes beyond 64 bits; all that is not a sum becomes an opaque term. */
bool tn_affine_make(const struct tn_affine_scope *scope,
		    const struct tn_kexpr *expr, struct tn_affine *out);
void tn_affine_dim(const struct tn_dim *base, struct tn_affine *out);
/* a += b * factor; false as above, `a` is then undefined. */
bool tn_affine_add(struct tn_dim_pool *pool, struct tn_affine *a,
		   const struct tn_affine *b, const struct tn_dim *factor);
bool tn_affine_scale(struct tn_dim_pool *pool, struct tn_affine *a,
		     const struct tn_dim *factor);
/* Term number of an expression; -1: not among them. */
int tn_affine_find(const struct tn_affine *a, const struct tn_kexpr *of);
/* Removes a term. */
void tn_affine_drop(struct tn_affine *a, int term);
/* The coefficient of a variable if it is a number (0: no such term); false:
 * a size. */
bool tn_affine_coef(const struct tn_affine *a, const struct tn_kvar *var,
		    int64_t *coef);
/* The sum modulo n >= 1, in 0..n; `residue` gives that of a term, or -1. -1:
 * not known. */
int64_t tn_affine_residue(const struct tn_affine *a, int64_t n,
			  int64_t (*residue)(void *data,
					     const struct tn_kexpr *term,
					     int64_t n),
			  void *data);
/* True if a reading of it gives the same at every time in one turn: it reads
 * only inputs and variables that are not assigned. */
bool tn_kexpr_is_steady(const struct tn_kexpr *expr);

#endif
