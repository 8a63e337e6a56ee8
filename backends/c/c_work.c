/*
 * How much a parallel loop does, for the choice between one thread and all.
 *
 * The unit is one operation of a lane of a vector, about 20 ps: a fork, some
 * microseconds, is worth it from two millions of them. Not exact, and need not
 * be: one more or less counts for nothing where loops nest.
 */
#include "backends/c/c_impl.h"

#include <string.h>

#define SCALAR 8	/* of an operation outside of vectors */
#define CALL 64		/* more for a function of the C library */
#define DEEPEST 16	/* expressions below count as one operation */

/* Operations of an expression; calls count CALL. */
static double weigh_expr(const struct tn_kexpr *e, int depth)
{
	double sum = 0;
	int i;

	if (!e)
		return 0;
	if (e->kind == TN_KEXPR_OP && !e->is_index) {
		sum = 1;
		if (tn_dtype_is(e->dtype, TN_KIND_F) &&
		    strstr(tn_ops[e->code].fexpr, "F("))
			sum = CALL;
	}
	for (i = 0; i < e->nargs && depth < DEEPEST &&
	     e->kind == TN_KEXPR_OP; i++)
		sum += weigh_expr(e->args[i], depth + 1);
	return sum;
}

/* Turns of a loop, a run-time size counting as 64. */
static double turns(const struct tn_kstmt *s)
{
	if (s->from->kind == TN_KEXPR_INT && s->to->kind == TN_KEXPR_INT)
		return ((double)s->to->i - (double)s->from->i) /
			(double)s->step;
	return 64;
}

static double weigh_block(const struct tn_kblock *block, bool in_vector,
			  const struct tn_kstmt **heaviest);

static double weigh(const struct tn_kstmt *s, bool in_vector)
{
	const struct tn_kstmt *inner;
	double a, b, own;

	in_vector |= s->kind == TN_KSTMT_LOOP && s->loop == TN_LOOP_VEC;
	a = weigh_block(&s->body, in_vector, &inner);
	if (s->kind == TN_KSTMT_LOOP)
		return a * turns(s);
	b = weigh_block(&s->orelse, in_vector, &inner);
	own = 1 + weigh_expr(s->value, 0) + (s->accumulate ? 1 : 0);
	return own * (in_vector ? 1 : SCALAR) + (a > b ? a : b);
}

static double weigh_block(const struct tn_kblock *block, bool in_vector,
			  const struct tn_kstmt **heaviest)
{
	const struct tn_kstmt *s;
	double sum = 0, most = 0, one;

	*heaviest = NULL;
	for (s = block->first; s; s = s->next) {
		one = weigh(s, in_vector);
		sum += one;
		if (one > most) {
			most = one;
			*heaviest = s;
		}
	}
	return sum;
}

/* The turns of the loop times those of its heaviest inner loops times the
 * statements there, as an expression of what the function gets. */
void tn_c_put_work(struct tn_emit *emit, const struct tn_kstmt *s)
{
	double fixed = 1, inside = 1;
	const struct tn_kstmt *next;
	bool in_vector = false;

	for (; s && s->kind == TN_KSTMT_LOOP; s = next) {
		if (s->to->kind == TN_KEXPR_DIM && s->step == 1) {
			tn_buf_put(emit->out, "(double)");
			tn_emit_expr(emit, s->to, TN_LEVEL_UNARY);
			tn_buf_put(emit->out, " * ");
		} else {
			fixed *= turns(s) < 1 ? 1 : turns(s);
		}
		in_vector |= s->loop == TN_LOOP_VEC;
		inside = weigh_block(&s->body, in_vector, &next);
		if (next && next->kind != TN_KSTMT_LOOP)
			next = NULL;
	}
	fixed *= inside < 1 ? 1 : inside;
	tn_buf_putf(emit->out, "%.0f", fixed > 1e15 ? 1e15 : fixed);
}
