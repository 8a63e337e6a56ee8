/*
 * What the memory plan is, as events: launches, places, the plan, its peak.
 */
#include "passes/plan.h"

#include <stdlib.h>

#include "base/num.h"
#include "ir/kernel.h"

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

void tn_plan_tell(const struct tn_plan *plan)
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

