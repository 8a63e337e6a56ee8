/*
 * plan: every value gets a place.
 *
 * In: lifetimes (plan_live.c). Out: offsets in one arena, sized for the worst
 * case of all dims; the entry's arena_bytes.
 *
 * Buffers are placed in order of their first step. A result that may be
 * written over an operand that dies takes its bytes (plan_reuse.c). Else
 * expired buffers return to a list of free ranges, kept sorted and merged, and
 * the smallest range that fits is taken. The peak of live bytes is the lower
 * bound to compare with.
 */
#include "passes/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ir/kernel.h"
#include "ir/view.h"

struct range {
	int64_t offset, bytes;
};

/* Free ranges by offset, and the buffers alive, as a heap by last step. */
struct ranges {
	struct range *free;
	int nfree, cap;
	struct tn_interval **heap;
	int nheap;
	int64_t end;		/* of the arena so far */
};

static void drop_range(struct ranges *r, int i)
{
	r->nfree--;
	memmove(r->free + i, r->free + i + 1,
		(size_t)(r->nfree - i) * sizeof(*r->free));
}

/* First range whose offset is above `offset`. */
static int find_range(const struct ranges *r, int64_t offset)
{
	int lo = 0, hi = r->nfree, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (r->free[mid].offset > offset)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void give_range(struct ranges *r, int64_t offset, int64_t bytes)
{
	int i = find_range(r, offset);

	if (i > 0 && r->free[i - 1].offset + r->free[i - 1].bytes == offset) {
		i--;
		r->free[i].bytes += bytes;
	} else {
		memmove(r->free + i + 1, r->free + i,
			(size_t)(r->nfree - i) * sizeof(*r->free));
		r->free[i].offset = offset;
		r->free[i].bytes = bytes;
		r->nfree++;
	}
	if (i + 1 < r->nfree && r->free[i].offset + r->free[i].bytes ==
	    r->free[i + 1].offset) {
		r->free[i].bytes += r->free[i + 1].bytes;
		drop_range(r, i + 1);
	}
}

/* The smallest free range that fits; else the arena grows, from its last
 * free range if that touches the end. */
static bool take_range(struct ranges *r, int64_t bytes, int64_t *offset)
{
	int i, best = -1;

	for (i = 0; i < r->nfree; i++)
		if (r->free[i].bytes >= bytes &&
		    (best < 0 || r->free[i].bytes < r->free[best].bytes))
			best = i;
	if (best < 0) {
		best = r->nfree - 1;
		if (best < 0 || r->free[best].offset + r->free[best].bytes !=
		    r->end) {
			*offset = r->end;
			return tn_num_add(r->end, bytes, &r->end);
		}
		*offset = r->free[best].offset;
		drop_range(r, best);
		return tn_num_add(*offset, bytes, &r->end);
	}
	*offset = r->free[best].offset;
	r->free[best].offset += bytes;
	r->free[best].bytes -= bytes;
	if (r->free[best].bytes == 0)
		drop_range(r, best);
	return true;
}

static void sift_down(struct ranges *r, int i)
{
	struct tn_interval *moved = r->heap[i];
	int child;

	while ((child = 2 * i + 1) < r->nheap) {
		if (child + 1 < r->nheap &&
		    r->heap[child + 1]->last < r->heap[child]->last)
			child++;
		if (moved->last <= r->heap[child]->last)
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = moved;
}

static void push_heap(struct ranges *r, struct tn_interval *interval)
{
	int i = r->nheap++;

	while (i > 0 && r->heap[(i - 1) / 2]->last > interval->last) {
		r->heap[i] = r->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	r->heap[i] = interval;
}

/* Returns what ended before `step`; its bytes leave *alive. */
static void expire(struct ranges *r, int64_t step, int64_t *alive)
{
	struct tn_interval *top;

	while (r->nheap && r->heap[0]->last < step) {
		top = r->heap[0];
		if (!top->is_taken) {
			give_range(r, top->offset, top->bytes);
			*alive -= top->bytes;
		}
		r->heap[0] = r->heap[--r->nheap];
		if (r->nheap)
			sift_down(r, 0);
	}
}

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

/* Why the result is not written over this operand; NULL: it may be. */
static const char *objection(const struct tn_interval *interval,
			     const struct tn_interval *operand,
			     const struct tn_value *root)
{
	if (operand->bytes != interval->bytes)
		return "it takes another number of bytes";
	if (operand->last != interval->first)
		return "it is read again later";
	if (operand->is_taken)
		return "another result is written over it";
	if (!tn_plan_may_take(interval->value->op, root))
		return "the kernel reads other elements of it than the one "
			"that it writes in the same turn";
	return NULL;
}

/* Told of operands that are as large. */
static void miss(const struct tn_plan *plan,
		 const struct tn_interval *interval,
		 const struct tn_value *root, const char *why)
{
	const struct tn_op *op = interval->value->op;

	if (root->place.bytes == interval->bytes)
		tn_rw_miss(plan->context->rw, "in-place", op, root->op,
			   "%s is not written over: %s", root->name, why);
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
		why = objection(interval, dying, root);
		if (!why)
			return dying;
		miss(plan, interval, root, why);
	}
	return NULL;
}

/* The result's buffer: that of an operand, or a range of its own. */
static bool find_bytes(const struct tn_plan *plan, struct ranges *r,
		       struct tn_interval *interval, int64_t *alive)
{
	interval->over = find_dying(plan, interval);
	if (interval->over) {
		interval->over->is_taken = true;
		interval->offset = interval->over->offset;
		return true;
	}
	return take_range(r, interval->bytes, &interval->offset) &&
		tn_num_add(*alive, interval->bytes, alive);
}

static bool assign(struct tn_plan *plan, struct ranges *r)
{
	struct tn_interval *interval;
	int64_t alive = 0;
	size_t i;

	for (i = 0; i < plan->intervals.len; i++) {
		interval = tn_vec_at(&plan->intervals, i);
		expire(r, interval->first, &alive);
		if (!find_bytes(plan, r, interval, &alive))
			return false;
		if (alive > plan->peak)
			plan->peak = alive;
		push_heap(r, interval);
		set_place(plan, interval);
	}
	plan->size = r->end;
	return true;
}

bool tn_plan_assign(struct tn_plan *plan)
{
	struct ranges r = { 0 };
	size_t n = plan->intervals.len + 1;
	bool good;

	r.free = calloc(n, sizeof(*r.free));
	r.heap = calloc(n, sizeof(*r.heap));
	good = r.free && r.heap && assign(plan, &r);
	free(r.free);
	free(r.heap);
	return good;
}

/* Where one buffer went, and for how long it is kept. */
static void tell_interval(struct tn_events *events,
			  const struct tn_interval *interval)
{
	const struct tn_op *launch = interval->launch;

	tn_event_begin(events, "place");
	if (launch)
		tn_event_text(events, "scratch", launch->kernel->name);
	else
		tn_event_text(events, "value", interval->value->name);
	tn_event_int(events, "offset", interval->offset);
	tn_event_int(events, "bytes", interval->bytes);
	tn_event_int(events, "first", interval->first);
	tn_event_int(events, "last", interval->last);
	if (interval->over)
		tn_event_text(events, "over", interval->over->value->name);
	tn_event_end(events);
}

/* Where a value is that has no bytes of its own in the arena. */
static void tell_outside(struct tn_events *events,
			 const struct tn_value *value)
{
	static const char *const kinds[] = {
		"none", "arena", "input", "result", "weight", "view"
	};
	const struct tn_place *place = &value->place;

	if (place->kind == TN_PLACE_NONE || place->kind == TN_PLACE_ARENA)
		return;
	tn_event_begin(events, "outside");
	tn_event_text(events, "value", value->name);
	tn_event_text(events, "in", kinds[place->kind]);
	if (place->kind == TN_PLACE_ALIAS) {
		tn_event_text(events, "of", place->alias->name);
		tn_event_int(events, "offset", place->offset);
	} else if (place->kind != TN_PLACE_WEIGHT) {
		tn_event_int(events, "number", place->number);
	}
	tn_event_end(events);
}

/* What the operators of the function became, in order. */
static bool tell_op(void *data, struct tn_op *op)
{
	const struct tn_rw *rw = data;
	struct tn_events *events = rw->module->events;
	const struct tn_annot *layout;
	int i;

	for (i = 0; i < op->nout; i++)
		tell_outside(events, op->out[i]);
	if (op->code != TN_OP_launch || !op->nout)
		return true;
	layout = tn_annots_find(&op->out[0]->annots, "layout");
	tn_event_begin(events, "launch");
	tn_event_text(events, "kernel", op->kernel->name);
	tn_event_text(events, "value", op->out[0]->name);
	tn_event_text(events, "layout", layout ? layout->args : NULL);
	tn_rw_tell_place(rw, op->span);
	tn_event_end(events);
	return true;
}

static void tell(const struct tn_plan *plan)
{
	struct tn_events *events = plan->context->module->events;
	size_t i;

	if (!events)
		return;
	tn_pass_walk(plan->context->entry->body, tell_op, plan->context->rw);
	for (i = 0; i < plan->intervals.len; i++)
		tell_interval(events, tn_vec_at(&plan->intervals, i));
	tn_event_begin(events, "plan");
	tn_event_text(events, "fn", plan->context->entry->name);
	tn_event_int(events, "arena", plan->size);
	tn_event_int(events, "peak", plan->peak);
	tn_event_int(events, "buffers", (int64_t)plan->intervals.len);
	tn_event_int(events, "steps", plan->steps);
	tn_event_end(events);
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
		tell(&plan);
	tn_vec_fini(&plan.intervals);
	return good ? TN_PASS_CHANGED : TN_PASS_FAILED;
}
