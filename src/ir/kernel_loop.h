/*
 * Turns of loops: how often `for v in from..to step s` runs.
 */
#ifndef TN_IR_KERNEL_LOOP_H
#define TN_IR_KERNEL_LOOP_H

#include "ir/kernel.h"

static inline bool tn_kstmt_is_loop(const struct tn_kstmt *stmt)
{
	return stmt && stmt->kind == TN_KSTMT_LOOP;
}

/* True if both bounds are numbers. */
bool tn_kloop_is_const(const struct tn_kstmt *loop);
/* From 0 up by 1, whatever its end. */
bool tn_kloop_is_plain(const struct tn_kstmt *loop);
/* Turns from..to in steps, none if to <= from; the caller has seen to it that
 * the distance fits (tn_kloop_fits). */
int64_t tn_kloop_count(int64_t from, int64_t to, int64_t step);
/* Turns if the bounds are numbers, else -1. */
int64_t tn_kloop_turns(const struct tn_kstmt *loop);
/* The same of a loop by 1; any other step gives -1. */
int64_t tn_kloop_extent(const struct tn_kstmt *loop);
/* The most turns over all sizes that a loop from a number or more may have;
 * INT64_MAX: no bound is known. */
int64_t tn_kloop_most(const struct tn_kstmt *loop);
/* True if it runs from 0 by 1 up to a size. */
bool tn_kloop_is_sized(const struct tn_kstmt *loop);
/* Of the loops inside that stand directly in one another, the outermost on the
 * way to the most that run to a size, the first of equal ways; NULL: none. */
const struct tn_kstmt *tn_kloop_next_sized(const struct tn_kstmt *loop);
/* True if the loop has a turn whatever the sizes are. */
bool tn_kloop_runs(const struct tn_kstmt *loop);
/* Distance of the bounds, a number or a dim where it can be one; NULL: out of
 * memory. */
const struct tn_kexpr *tn_kloop_distance(struct tn_kernel *kernel,
					 const struct tn_kstmt *loop);
/* A number or a size as a dim; NULL: neither, or out of memory. */
const struct tn_dim *tn_kexpr_as_dim(struct tn_dim_pool *pool,
				     const struct tn_kexpr *expr);
/* Bounds of a number or a size; anything else has all the 64-bit range. */
void tn_kexpr_bounds(const struct tn_kexpr *expr, int64_t *lo, int64_t *hi);

#endif
