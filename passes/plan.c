/*
 * plan: every value gets a place.
 *
 * In: lifetimes (plan_live.c). Out: offsets in one arena, sized for the worst
 * case of all dims; the entry's arena_bytes.
 *
 * A result that may be written over an operand that dies takes its bytes
 * (plan_reuse.c); a chain of such results is one buffer. Buffers get offsets in
 * plan_place.c. The peak of live bytes is the lower bound to compare with.
 */
#include "passes/plan.h"

#include <stdlib.h>

#include "ir/kernel.h"
#include "ir/view.h"

static void set_place(const struct tn_plan *plan,
		      const struct tn_interval *interval)
{
	struct tn_rw *rw = plan->context->rw;
	struct tn_place place;

	if (!interval->value) {
		tn_rw_scratch(rw, interval->launch, interval->offset);
		return;
	}
	place = interval->value->place;
	place.offset = interval->offset;
	tn_rw_place(rw, interval->value, &place);
}

/* Why the result is not written over this operand, which is as large; NULL: it
 * may be. */
static const char *objection(const struct tn_interval *interval,
			     const struct tn_interval *operand,
			     const struct tn_value *root)
{
	if (operand->last != interval->first || operand->is_taken)
		return "it is read again later";
	if (!tn_plan_may_take(interval->value->op, root))
		return "the kernel reads other elements of it than the one "
			"that it writes in the same turn";
	return NULL;
}

/* The buffer of an operand that dies with the launch of this result and may be
 * written in place, or NULL. */
static struct tn_interval *find_dying(const struct tn_plan *plan,
				      const struct tn_interval *interval)
{
	const struct tn_op *op = interval->value ? interval->value->op : NULL;
	struct tn_interval *dying;
	const struct tn_value *root;
	const char *why;
	int64_t offset;
	int i;

	for (i = 0; op && op->code == TN_OP_launch && i < op->nin; i++) {
		root = tn_place_root(tn_graph_in(op, i), &offset);
		if (root->place.kind != TN_PLACE_ARENA)
			continue;
		dying = tn_vec_at(&plan->intervals, (size_t)root->number - 1);
		if (dying->bytes != interval->bytes)
			continue;
		why = objection(interval, dying, root);
		if (!why)
			return dying;
		tn_rw_miss(plan->context->rw, "in-place", op, root->op,
			   "%s is not written over: %s", root->name, why);
	}
	return NULL;
}

/* Which results take the bytes of an operand, and how long bytes are in use
 * that way: in order, so that a chain's first buffer lives to its end. */
static void join_buffers(struct tn_plan *plan)
{
	struct tn_interval *interval, *first;
	size_t i;

	for (i = 0; i < plan->intervals.len; i++) {
		interval = tn_vec_at(&plan->intervals, i);
		interval->until = interval->last;
		interval->over = find_dying(plan, interval);
		if (!interval->over)
			continue;
		interval->over->is_taken = true;
		first = interval->over->home ? interval->over->home :
					       interval->over;
		interval->home = first;
		first->until = interval->last;
	}
}

/* Sums modulo 2^64 are right wherever the sum itself fits. */
bool tn_plan_find_peak(const struct tn_plan *plan, const int64_t *sizes,
		       int64_t *peak, int64_t *step)
{
	size_t steps = (size_t)plan->steps + 2, i;
	uint64_t *change = calloc(steps, sizeof(*change)), alive = 0, bytes;
	const struct tn_interval *interval;
	bool good = change != NULL;

	*peak = *step = 0;
	for (i = 0; good && i < plan->intervals.len; i++) {
		interval = tn_vec_at(&plan->intervals, i);
		if (interval->over)
			continue;
		bytes = (uint64_t)(sizes ? sizes[i] : interval->bytes);
		change[interval->first] += bytes;
		change[interval->until + 1] -= bytes;
	}
	for (i = 0; good && i < steps; i++) {
		alive += change[i];
		good = alive <= INT64_MAX;
		if (good && (int64_t)alive > *peak) {
			*peak = (int64_t)alive;
			*step = (int64_t)i;
		}
	}
	free(change);
	return good;
}

bool tn_plan_assign(struct tn_plan *plan)
{
	size_t i;

	join_buffers(plan);
	if (!tn_plan_find_peak(plan, NULL, &plan->peak, &plan->peak_step) ||
	    !tn_plan_place(plan))
		return false;
	for (i = 0; i < plan->intervals.len; i++)
		set_place(plan, tn_vec_at(&plan->intervals, i));
	return true;
}

enum tn_pass_result tn_pass_plan(struct tn_pass_context *context)
{
	struct tn_plan plan = { .context = context };
	bool good;

	tn_vec_init(&plan.intervals, sizeof(struct tn_interval), NULL);
	tn_pass_part(context, "lifetimes");
	good = tn_plan_collect(&plan);
	tn_pass_part_end(context);
	tn_pass_part(context, "places");
	good = good && tn_plan_assign(&plan);
	tn_pass_part_end(context);
	tn_rw_arena(context->rw, context->entry, plan.size);
	if (good)
		tn_plan_tell(&plan);
	tn_vec_fini(&plan.intervals);
	return good ? TN_PASS_CHANGED : TN_PASS_FAILED;
}
