/*
 * Turns of loops, as numbers, bounds and sizes.
 */
#include "ir/kernel_loop.h"

#include "base/num.h"

bool tn_kloop_is_const(const struct tn_kstmt *loop)
{
	return loop->from->kind == TN_KEXPR_INT &&
		loop->to->kind == TN_KEXPR_INT;
}

bool tn_kloop_is_plain(const struct tn_kstmt *loop)
{
	return tn_kexpr_is_int(loop->from, 0) && loop->step == 1;
}

int64_t tn_kloop_count(int64_t from, int64_t to, int64_t step)
{
	return to <= from ? 0 : (to - from - 1) / step + 1;
}

int64_t tn_kloop_turns(const struct tn_kstmt *loop)
{
	if (!tn_kloop_is_const(loop))
		return -1;
	return tn_kloop_count(loop->from->i, loop->to->i, loop->step);
}

int64_t tn_kloop_extent(const struct tn_kstmt *loop)
{
	return loop->step == 1 ? tn_kloop_turns(loop) : -1;
}

void tn_kexpr_bounds(const struct tn_kexpr *expr, int64_t *lo, int64_t *hi)
{
	*lo = INT64_MIN;
	*hi = INT64_MAX;
	if (expr->kind == TN_KEXPR_INT)
		*lo = *hi = expr->i;
	if (expr->kind == TN_KEXPR_DIM)
		tn_dim_bounds(expr->dim, lo, hi);
}

int64_t tn_kloop_most(const struct tn_kstmt *loop)
{
	int64_t least, most, unused;

	tn_kexpr_bounds(loop->from, &least, &unused);
	tn_kexpr_bounds(loop->to, &unused, &most);
	if (least == INT64_MIN)
		least = 0;
	if (most == INT64_MAX || !tn_num_sub(most, least, &unused))
		return INT64_MAX;
	return tn_kloop_count(least, most, loop->step);
}

bool tn_kloop_is_sized(const struct tn_kstmt *loop)
{
	return tn_kloop_is_plain(loop) && loop->to->kind == TN_KEXPR_DIM;
}

/* The sized loops on the longest way into the block; `first` is the outermost
 * one on it. */
static int sized_inside(const struct tn_kblock *block,
			const struct tn_kstmt **first)
{
	const struct tn_kstmt *s, *inner;
	int most = 0, n;

	*first = NULL;
	for (s = block->first; s; s = s->next) {
		if (!tn_kstmt_is_loop(s))
			continue;
		n = sized_inside(&s->body, &inner) + tn_kloop_is_sized(s);
		if (n > most) {
			most = n;
			*first = tn_kloop_is_sized(s) ? s : inner;
		}
	}
	return most;
}

const struct tn_kstmt *tn_kloop_next_sized(const struct tn_kstmt *loop)
{
	const struct tn_kstmt *first;

	sized_inside(&loop->body, &first);
	return first;
}

bool tn_kloop_runs(const struct tn_kstmt *loop)
{
	int64_t least, most, unused;

	tn_kexpr_bounds(loop->from, &unused, &most);
	tn_kexpr_bounds(loop->to, &least, &unused);
	return most != INT64_MAX && least > most;
}

const struct tn_kexpr *tn_kloop_distance(struct tn_kernel *kernel,
					 const struct tn_kstmt *loop)
{
	return tn_kexpr_sub(kernel, loop->to, loop->from);
}

const struct tn_dim *tn_kexpr_as_dim(struct tn_dim_pool *pool,
				     const struct tn_kexpr *expr)
{
	if (expr->kind == TN_KEXPR_INT)
		return tn_dim_const(pool, expr->i);
	return expr->kind == TN_KEXPR_DIM ? expr->dim : NULL;
}
