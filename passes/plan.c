/*
 * plan: every value gets a place.
 *
 * In: lifetimes (plan_live.c). Out: offsets in one arena, sized for the worst
 * case of all dims; the entry's arena_bytes.
 *
 * Buffers are placed in order of their first step: expired ones return to a
 * list of free ranges, kept sorted and merged, and the smallest range that
 * fits is taken. The peak of live bytes is the lower bound to compare with.
 */
#include "passes/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

enum tn_pass_result tn_pass_plan(struct tn_pass_context *context);

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
		(size_t)(r->nfree - i) * sizeof *r->free);
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
			(size_t)(r->nfree - i) * sizeof *r->free);
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
		give_range(r, top->offset, top->bytes);
		*alive -= top->bytes;
		r->heap[0] = r->heap[--r->nheap];
		if (r->nheap)
			sift_down(r, 0);
	}
}

static void set_place(struct tn_interval *interval)
{
	if (interval->value)
		interval->value->place.offset = interval->offset;
	else
		interval->launch->scratch = interval->offset;
}

static bool assign(struct tn_plan *plan, struct ranges *r)
{
	struct tn_interval *interval;
	int64_t alive = 0;
	size_t i;

	for (i = 0; i < plan->intervals.len; i++) {
		interval = tn_vec_at(&plan->intervals, i);
		expire(r, interval->first, &alive);
		if (!take_range(r, interval->bytes, &interval->offset) ||
		    !tn_num_add(alive, interval->bytes, &alive))
			return false;
		if (alive > plan->peak)
			plan->peak = alive;
		push_heap(r, interval);
		set_place(interval);
	}
	plan->size = r->end;
	return true;
}

bool tn_plan_assign(struct tn_plan *plan)
{
	struct ranges r = { 0 };
	size_t n = plan->intervals.len + 1;
	bool good;

	r.free = calloc(n, sizeof *r.free);
	r.heap = calloc(n, sizeof *r.heap);
	good = r.free && r.heap && assign(plan, &r);
	free(r.free);
	free(r.heap);
	return good;
}

/* What the checker says of the plan, or of its own end. */
static enum tn_pass_result verify(struct tn_pass_context *context)
{
	enum tn_pass_result result = TN_PASS_CHANGED;
	struct tn_span nowhere = { 0, 0, 0 };
	struct tn_buf faults;
	struct tn_diag *diag;

	tn_buf_init(&faults);
	if (!tn_plan_check(context->entry, &faults)) {
		result = TN_PASS_FAILED;
		if (faults.len) {
			diag = tn_diag_report(context->module->sink, TN_E0862,
					      nowhere, "the memory plan is "
					      "unsound");
			tn_diag_note(context->module->sink, diag, "%s",
				     tn_buf_text(&faults));
			result = TN_PASS_BUG;
		}
	}
	tn_buf_fini(&faults);
	return result;
}

static void write_event(const struct tn_plan *plan)
{
	if (plan->context->options->events)
		tn_buf_putf(plan->context->options->events,
			    "{\"event\":\"plan\",\"arena\":%lld,"
			    "\"peak\":%lld,\"buffers\":%zu}\n",
			    (long long)plan->size, (long long)plan->peak,
			    plan->intervals.len);
}

enum tn_pass_result tn_pass_plan(struct tn_pass_context *context)
{
	struct tn_plan plan = { .context = context };
	bool good;

	tn_vec_init(&plan.intervals, sizeof(struct tn_interval), NULL);
	good = tn_plan_collect(&plan) && tn_plan_assign(&plan);
	context->entry->arena_bytes = plan.size;
	if (good)
		write_event(&plan);
	tn_vec_fini(&plan.intervals);
	return good ? verify(context) : TN_PASS_FAILED;
}
