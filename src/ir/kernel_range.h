/*
 * Ranges: what holds of index arithmetic at a place of a kernel.
 *
 * The walk over a kernel tells what it passes: loops, lets, conditions. Each
 * becomes facts, sums that are not negative; a question is proved by taking
 * multiples of facts away until only sizes are left:
 *
 *   for i in 0..N { for j in 0..4 { x[i * 4 + j] } }       x: f32[4*N]
 *   4*N - 1 - 4*i - j >= 0   since   3 - j >= 0   leaves
 *   4*N - 4 - 4*i >= 0       since   N - 1 - i >= 0   leaves   0 >= 0
 *
 * Modulo, division, min, max, select and narrow casts are bounded by what they
 * are. A false answer means "not proved". Time is bounded for each question and
 * for all of them; when it is used up nothing more is proved.
 */
#ifndef TN_IR_KERNEL_RANGE_H
#define TN_IR_KERNEL_RANGE_H

#include "ir/kernel_affine.h"

struct tn_krange {
	struct tn_dim_pool *pool;
	struct tn_arena arena;
	struct tn_vec facts;	/* struct tn_affine *, none below 0 */
	struct tn_map lets;	/* tn_kvar -> its struct tn_affine * */
	struct tn_map defs;	/* immutable tn_kvar -> its value */
	struct tn_map data;	/* tn_kvar made of data -> its tn_kspan */
	struct tn_map order;	/* tn_kvar -> order of declaration + 1 */
	int steps;		/* spent on the open question */
	int left;		/* that all questions together may still take */
	bool nested;		/* learning inside of a proof */
	bool failed;		/* out of memory */
};

void tn_krange_init(struct tn_krange *range, struct tn_dim_pool *pool);
void tn_krange_fini(struct tn_krange *range);
/* Facts from here on are forgotten by tn_krange_forget. */
size_t tn_krange_mark(const struct tn_krange *range);
void tn_krange_forget(struct tn_krange *range, size_t mark);
/* Inside of the loop; behind the let; where the condition is as said. */
void tn_krange_loop(struct tn_krange *range, const struct tn_kstmt *loop);
void tn_krange_let(struct tn_krange *range, const struct tn_kstmt *let);
void tn_krange_assume(struct tn_krange *range, const struct tn_kexpr *cond,
		      bool holds);

/* True if expr >= least, expr <= most, wherever the place is reached. */
bool tn_krange_is_least(struct tn_krange *range, const struct tn_kexpr *expr,
			const struct tn_dim *least);
bool tn_krange_is_most(struct tn_krange *range, const struct tn_kexpr *expr,
		       const struct tn_dim *most);
/* True if lo <= expr < size. */
bool tn_krange_is_inside(struct tn_krange *range, const struct tn_kexpr *expr,
			 const struct tn_dim *size);
/* True if the operator of index arithmetic is proved not to leave 64 bits nor
 * to divide by what is not above 0 (kernel_plain.c). */
bool tn_krange_is_plain(struct tn_krange *range, const struct tn_kexpr *expr);
/* The range as sizes, for messages: sound, and NULL where none is found. */
void tn_krange_ends(struct tn_krange *range, const struct tn_kexpr *expr,
		    const struct tn_dim **lo, const struct tn_dim **hi);

#endif
