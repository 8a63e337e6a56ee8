/*
 * Dimensions: integer expressions over declared symbols, in normal form.
 *
 * Every expression is interned in its pool, so two dims are provably equal
 * exactly when their pointers are. A dim is a constant, a symbol, a sum of
 * integer multiples of products of atoms (TN_DIM_SUM), or an atom of floor
 * division, floor modulo, minimum or maximum.
 *
 *   (B * 2 + 4) // 2  ->  B + 2        S * 3 - S  ->  2*S
 */
#ifndef TN_IR_DIM_H
#define TN_IR_DIM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/map.h"

enum tn_dim_kind {
	TN_DIM_CONST,
	TN_DIM_SYM,
	TN_DIM_SUM,
	TN_DIM_FLOORDIV,
	TN_DIM_MOD,
	TN_DIM_MIN,
	TN_DIM_MAX
};

/* One product: coefficient times atoms, sorted by id, repeats allowed. */
struct tn_dim_term {
	int64_t coef;
	int natoms;		/* 0: the constant term */
	const struct tn_dim *const *atoms;
};

/* A declared size. Bounds are closed; `hi` may be INT64_MAX / 2^31-ish. */
struct tn_sym {
	const char *name;	/* interned */
	int64_t lo, hi;
	int64_t mod;		/* divisibility, at least 1 */
	int nopt;
	const int64_t *opt;	/* tuning points */
	struct tn_span span;	/* the declaration */
	bool is_runtime;	/* set by an op of the function body (nonzero) */
	int number;		/* order of declaration in the pool */
};

struct tn_dim {
	enum tn_dim_kind kind;
	int id;			/* order of creation, for sorting */
	int64_t value;		/* CONST */
	const struct tn_sym *sym;	/* SYM */
	int nterms;		/* SUM: at least two, or one that is not 1*atom */
	const struct tn_dim_term *terms;
	const struct tn_dim *a, *b;	/* FLOORDIV MOD MIN MAX */
};

/* All dims and symbols of a module. */
struct tn_dim_pool {
	struct tn_arena *arena;	/* borrowed */
	struct tn_map table;	/* by structural hash; see dim.c */
	struct tn_vec syms;	/* const struct tn_dim *, by number */
	int count, nsyms;
	bool overflowed;	/* sticky: a result left the 64-bit range or grew
				 * beyond any use (1024 nodes) */
};

bool tn_dim_pool_init(struct tn_dim_pool *pool, struct tn_arena *arena);
void tn_dim_pool_fini(struct tn_dim_pool *pool);

/* Constructors return NULL on overflow or out of memory, and pass NULL on. */
const struct tn_dim *tn_dim_const(struct tn_dim_pool *pool, int64_t value);
/* A new symbol; `sym` is copied, its number set. */
const struct tn_dim *tn_dim_new_sym(struct tn_dim_pool *pool,
				    const struct tn_sym *sym);
const struct tn_dim *tn_dim_add(struct tn_dim_pool *, const struct tn_dim *,
				const struct tn_dim *);
const struct tn_dim *tn_dim_sub(struct tn_dim_pool *, const struct tn_dim *,
				const struct tn_dim *);
const struct tn_dim *tn_dim_mul(struct tn_dim_pool *, const struct tn_dim *,
				const struct tn_dim *);
/* Divisor must not be the constant 0 (NULL). */
const struct tn_dim *tn_dim_floordiv(struct tn_dim_pool *,
				     const struct tn_dim *,
				     const struct tn_dim *);
const struct tn_dim *tn_dim_mod(struct tn_dim_pool *, const struct tn_dim *,
				const struct tn_dim *);
const struct tn_dim *tn_dim_min(struct tn_dim_pool *, const struct tn_dim *,
				const struct tn_dim *);
const struct tn_dim *tn_dim_max(struct tn_dim_pool *, const struct tn_dim *,
				const struct tn_dim *);

static inline bool tn_dim_is_const(const struct tn_dim *dim)
{
	return dim->kind == TN_DIM_CONST;
}
bool tn_dim_is(const struct tn_dim *dim, int64_t value);
/* Interval of values, saturating at the 64-bit range. */
void tn_dim_bounds(const struct tn_dim *dim, int64_t *lo, int64_t *hi);
/* True if a <= b (a == b) for all values of the symbols; pool for a - b. */
bool tn_dim_proves_le(struct tn_dim_pool *pool, const struct tn_dim *a,
		      const struct tn_dim *b);
/* True if a is a multiple of b for all values of the symbols. */
bool tn_dim_proves_divides(struct tn_dim_pool *pool, const struct tn_dim *a,
			   const struct tn_dim *b);
/* Value with `values[sym->number]` for each symbol; false on overflow or
 * division by zero. */
bool tn_dim_eval(const struct tn_dim *dim, const int64_t *values,
		 int64_t *out);
/* Each symbol with map[sym->number] != NULL replaced. The values put in lie
 * within the bounds of the symbol: the normal form has made use of them. */
const struct tn_dim *tn_dim_subst(struct tn_dim_pool *pool,
				  const struct tn_dim *dim,
				  const struct tn_dim *const *map);
/* Solves the one equation pattern == value for the only unbound symbol of
 * pattern (linear, coefficient 1 or exact); binds map[number]. False if the
 * pattern holds other unbound symbols or no solution exists. */
bool tn_dim_unify(struct tn_dim_pool *pool, const struct tn_dim *pattern,
		  const struct tn_dim *value, const struct tn_dim **map);
/* As the language writes it: "2*B + S // 4". */
void tn_dim_print(struct tn_buf *buf, const struct tn_dim *dim);
/* Calls once for each symbol in the dim, in order of first occurrence. */
void tn_dim_each_sym(const struct tn_dim *dim,
		     void (*visit)(void *data, const struct tn_dim *sym),
		     void *data);
/* Whether a symbol in it is a size that only the data tell. */
bool tn_dim_has_runtime(const struct tn_dim *dim);

#endif
