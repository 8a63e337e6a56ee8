/*
 * How much a parallel loop does, for the choice between one thread and all.
 *
 * In: loops of a nest whose other steps are done. Out: whether a team of
 * threads pays for them never, always, or from some number of turns on.
 *
 * The unit is one operation of a lane of a vector, about 20 ps: a fork, some
 * microseconds, is worth it from two millions of them. Not exact, and need not
 * be: one more or less counts for nothing where loops nest.
 *
 *   for i in 0..B { vec j in 0..768 { y[i, j] = exp(x[i, j]); } }
 *   a turn of i: 768 * (1 + 64 + ..); worth it from 40 turns on
 */
#include "passes/schedule.h"

#define WORTH 2e6	/* operations that pay for a fork */
#define SCALAR 8	/* of an operation outside of vectors */
#define CALL 64		/* more for a function of the C library */
#define DEEPEST 16	/* expressions below count as one operation */
#define UNKNOWN 64	/* turns that only run time knows */

/* Operations of an expression; calls count CALL. */
static double weigh_expr(const struct tn_kexpr *e, int depth)
{
	double sum = 0;
	int i;

	if (!e)
		return 0;
	if (e->kind == TN_KEXPR_OP && !e->is_index) {
		sum = 1;
		if (tn_dtype_is(e->dtype, TN_KIND_F) && tn_op_calls(e->code))
			sum = CALL;
	}
	for (i = 0; i < e->nargs && depth < DEEPEST &&
	     e->kind == TN_KEXPR_OP; i++)
		sum += weigh_expr(e->args[i], depth + 1);
	return sum;
}

static double turns_of(const struct tn_kstmt *loop)
{
	return tn_kloop_is_const(loop) ? (double)tn_kloop_turns(loop) :
		UNKNOWN;
}

static double weigh_block(const struct tn_kblock *block, bool in_vector);

static double weigh(const struct tn_kstmt *s, bool in_vector)
{
	double a, b, own;

	in_vector |= s->kind == TN_KSTMT_LOOP && s->loop == TN_LOOP_VEC;
	a = weigh_block(&s->body, in_vector);
	if (s->kind == TN_KSTMT_LOOP)
		return a * turns_of(s);
	b = weigh_block(&s->orelse, in_vector);
	own = 1 + weigh_expr(s->value, 0) + (s->accumulate ? 1 : 0);
	return own * (in_vector ? 1 : SCALAR) + (a > b ? a : b);
}

static double weigh_block(const struct tn_kblock *block, bool in_vector)
{
	const struct tn_kstmt *s;
	double sum = 0;

	for (s = block->first; s; s = s->next)
		sum += weigh(s, in_vector);
	return sum;
}

/* Turns that pay for a fork: what all does, over the turns that are counted
 * when it runs. At least two, to have something to share out. */
static int64_t paying_turns(const struct tn_kstmt *loop)
{
	const struct tn_kstmt *inner;
	double one = weigh_block(&loop->body, loop->loop == TN_LOOP_VEC);
	double turns;

	for (inner = tn_kloop_next_sized(loop); inner;
	     inner = tn_kloop_next_sized(inner))
		one /= UNKNOWN;
	turns = WORTH / (one > 1 ? one : 1);
	return turns < 2 ? 2 : (int64_t)turns + 1;
}

/* The counted turns at least and at most, over all sizes. */
static void bound_turns(const struct tn_kstmt *loop, double *least,
			double *most)
{
	int64_t lo, hi, from, to;

	*least = *most = 1;
	for (; loop; loop = tn_kloop_next_sized(loop)) {
		tn_kexpr_bounds(loop->from, &lo, &from);
		tn_kexpr_bounds(loop->to, &to, &hi);
		*least *= from < INT64_MAX && to > from ?
			((double)to - (double)from) / (double)loop->step : 0;
		*most *= (double)tn_kloop_most(loop);
	}
}

enum tn_worth tn_schedule_worth(const struct tn_vec *loops, int64_t *min)
{
	bool never = true, always = true;
	double least, most;
	size_t i;

	*min = 2;
	if (loops->len)
		*min = paying_turns(tn_vec_ptr(loops, 0));
	for (i = 0; i < loops->len; i++) {
		bound_turns(tn_vec_ptr(loops, i), &least, &most);
		never = never && most < (double)*min;
		always = always && least >= (double)*min;
	}
	return never ? TN_WORTH_NEVER : always ? TN_WORTH_ALWAYS :
		TN_WORTH_FROM;
}
