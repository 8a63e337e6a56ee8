/*
 * Products that had better not be joined with what makes their rows.
 *
 * Rows that are joined go in small blocks, and a product reads its other
 * operand again for each block. What stays near a core may be read as often as
 * one likes; a matrix of weights that does not is better read once, panel after
 * panel, for all rows.
 *
 *   for i { for k { for r { acc += n[i, r] * w[r, k] } } }
 *   768 x 2304 weights: far; 64 x 1024 keys of one head: near
 */
#include "passes/schedule_plan.h"

#include "base/num.h"

#define MOST_LOOPS 16

/* A nest, and how many of its outer loops go over rows. */
struct far {
	int64_t near_bytes;
	const struct tn_kstmt *loops[MOST_LOOPS];	/* outermost first */
	int n, rows;
	bool found;
};

static bool same_turns(const struct tn_kstmt *a, const struct tn_kstmt *b)
{
	return a->step == b->step && tn_kexpr_equal(a->from, b->from) &&
		tn_kexpr_equal(a->to, b->to);
}

/* Loops tightly nested, from the outside, that go over the same turns. */
static int common_loops(const struct tn_kstmt *a, const struct tn_kstmt *b)
{
	int n = 0;

	for (; a && b && n < MOST_LOOPS && same_turns(a, b); n++) {
		a = tn_splan_only_loop(a);
		b = tn_splan_only_loop(b);
	}
	return n;
}

static void note_loop(void *data, const struct tn_kstmt *s)
{
	struct far *far = data;

	if (tn_kstmt_is_loop(s) && far->n < MOST_LOOPS)
		far->loops[far->n++] = s;
}

/* Bytes that a read goes over while the rows stand still; 0: it goes with the
 * rows. */
static int64_t reach(const struct far *far, const struct tn_kexpr *e)
{
	int64_t bytes = tn_dtype_bytes(e->dtype);
	int i;

	if (tn_kexpr_reads(e, far->loops[far->rows - 1]->var))
		return 0;
	for (i = far->rows; i < far->n; i++)
		if (tn_kexpr_reads(e, far->loops[i]->var) &&
		    !tn_num_mul(bytes, tn_kloop_most(far->loops[i]), &bytes))
			return INT64_MAX;
	return bytes;
}

static void look(void *data, const struct tn_kexpr *e)
{
	struct far *far = data;

	if (e->kind == TN_KEXPR_LOAD && reach(far, e) > far->near_bytes)
		far->found = true;
}

static void look_at_sum(void *data, const struct tn_kstmt *s)
{
	struct far *far = data;
	struct tn_kvisitor visitor = { look, NULL, far };

	if (s->kind == TN_KSTMT_SET && s->accumulate &&
	    s->value->kind == TN_KEXPR_OP && s->value->code == TN_OP_mul)
		tn_kexpr_visit(s->value, &visitor);
}

bool tn_splan_is_far(const struct tn_splan *plan,
		     const struct tn_kstmt *nest,
		     const struct tn_kstmt *other)
{
	struct far far = { .near_bytes = plan->target->near_bytes };
	struct tn_kvisitor loops = { NULL, note_loop, &far };
	struct tn_kvisitor sums = { NULL, look_at_sum, &far };

	far.rows = common_loops(nest, other);
	if (!far.rows)
		return false;
	far.loops[far.n++] = nest;
	tn_kblock_visit(&nest->body, &loops);
	tn_kblock_visit(&nest->body, &sums);
	return far.found;
}
