/*
 * What the memory plan is, as events: launches, places, the plan, its peak.
 */
#include "passes/plan.h"

#include <stdlib.h>

#include "base/num.h"
#include "ir/kernel.h"
#include "ir/kernel_walk.h"

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

/* ---- The peak ----------------------------------------------------------- */

/* Most buffers that are named at the peak. */
#define MAX_NAMED 10

static int by_bytes(const void *a, const void *b)
{
	const struct tn_interval *x = *(const struct tn_interval *const *)a;
	const struct tn_interval *y = *(const struct tn_interval *const *)b;

	if (x->bytes != y->bytes)
		return x->bytes > y->bytes ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Whether these bytes are the interval's at the step: of a chain, the one that
 * has them last. */
static bool is_live(const struct tn_interval *interval, int64_t step)
{
	return interval->first <= step && step <= interval->last &&
		!(interval->is_taken && interval->last == step);
}

/* The largest buffers at the peak. */
static void tell_live(const struct tn_plan *plan, struct tn_events *events)
{
	const struct tn_interval **list, *interval;
	size_t i, n = 0;

	list = calloc(plan->intervals.len + 1, sizeof(*list));
	for (i = 0; list && i < plan->intervals.len; i++) {
		interval = tn_vec_at(&plan->intervals, i);
		if (is_live(interval, plan->peak_step))
			list[n++] = interval;
	}
	if (list)
		qsort(list, n, sizeof(*list), by_bytes);
	else
		events->failed = true;
	for (i = 0; i < n && i < MAX_NAMED; i++) {
		tn_event_begin(events, "live");
		if (list[i]->launch)
			tn_event_text(events, "scratch",
				      list[i]->launch->kernel->name);
		else
			tn_event_text(events, "value", list[i]->value->name);
		tn_event_int(events, "bytes", list[i]->bytes);
		tn_event_int(events, "first", list[i]->first);
		tn_event_int(events, "last", list[i]->last);
		tn_event_end(events);
	}
	free(list);
}

/* ---- Sizes that are tuned for -------------------------------------------- */

static const struct tn_sym *sym_at(const struct tn_module *module, int i)
{
	const struct tn_dim *dim = tn_vec_ptr(&module->dims.syms, (size_t)i);

	return dim->sym;
}

/* How many points the symbol with most of them has. */
static int count_points(const struct tn_module *module)
{
	int i, n, most = 0;

	for (i = 0; i < module->dims.nsyms; i++) {
		n = sym_at(module, i)->nopt;
		most = n > most ? n : most;
	}
	return most;
}

/* The values at a point, and as text "B=1, S=64"; symbols without points, and
 * those of run time, have their upper bound. */
static void choose(const struct tn_module *module, int point, int64_t *values,
		   struct tn_buf *text)
{
	const struct tn_sym *sym;
	int i, at;

	for (i = 0; i < module->dims.nsyms; i++) {
		sym = sym_at(module, i);
		at = point < sym->nopt ? point : sym->nopt - 1;
		values[i] = sym->nopt ? sym->opt[at] : sym->hi;
		if (sym->nopt)
			tn_buf_putf(text, "%s%s=%lld", text->len ? ", " : "",
				    sym->name, (long long)values[i]);
	}
}

/* Bytes of an array with these sizes, aligned; false: it cannot be told. */
static bool array_bytes(enum tn_dtype dtype, int rank,
			const struct tn_dim *const *dims,
			const int64_t *values, int64_t *bytes)
{
	int64_t side;
	int i;

	*bytes = tn_dtype_bytes(dtype);
	for (i = 0; i < rank; i++)
		if (!tn_dim_eval(dims[i], values, &side) || side < 0 ||
		    !tn_num_mul(*bytes, side, bytes))
			return false;
	return tn_num_align(*bytes ? *bytes : 1, TN_PLACE_ALIGN, bytes);
}

/* The buffers of a kernel, added up. */
struct scratch {
	const int64_t *values;
	int64_t bytes;
	bool good;
};

static void add_scratch(void *data, const struct tn_kstmt *stmt)
{
	struct scratch *s = data;
	const struct tn_kbuf *buf = stmt->buf;
	int64_t bytes;

	if (stmt->kind != TN_KSTMT_ALLOC || buf->space != TN_SPACE_ARENA)
		return;
	s->good = s->good &&
		array_bytes(buf->dtype, buf->rank, buf->dims, s->values,
			    &bytes) &&
		tn_num_add(s->bytes, bytes, &s->bytes);
}

/* Bytes of the buffer with these sizes; what cannot be told is the worst. */
static int64_t size_at(const struct tn_interval *interval,
		       const int64_t *values)
{
	struct scratch scratch = { values, 0, true };
	const struct tn_kvisitor visitor = { NULL, add_scratch, &scratch };
	const struct tn_type *type;

	if (interval->value) {
		type = interval->value->type;
		scratch.good = array_bytes(type->dtype, type->rank,
					   type->dims, values,
					   &scratch.bytes);
	} else {
		tn_kblock_visit(&interval->launch->kernel->body, &visitor);
	}
	return scratch.good && scratch.bytes < interval->bytes ?
		scratch.bytes : interval->bytes;
}

static bool tell_point(const struct tn_plan *plan, int point, int64_t *values,
		       int64_t *sizes)
{
	struct tn_module *module = plan->context->module;
	struct tn_events *events = module->events;
	int64_t peak, step;
	struct tn_buf text;
	size_t i;

	tn_buf_init(&text);
	choose(module, point, values, &text);
	for (i = 0; i < plan->intervals.len; i++)
		sizes[i] = size_at(tn_vec_at(&plan->intervals, i), values);
	if (text.failed || !tn_plan_find_peak(plan, sizes, &peak, &step)) {
		tn_buf_fini(&text);
		return false;
	}
	tn_event_begin(events, "peak");
	tn_event_text(events, "fn", plan->context->entry->name);
	tn_event_text(events, "dims", tn_buf_text(&text));
	tn_event_int(events, "bytes", peak);
	tn_event_int(events, "step", step);
	tn_event_end(events);
	tn_buf_fini(&text);
	return true;
}

/* What is alive with the sizes of each point. */
static void tell_points(const struct tn_plan *plan, struct tn_events *events)
{
	const struct tn_module *module = plan->context->module;
	int64_t *values, *sizes;
	int point, n = count_points(module);

	values = calloc((size_t)module->dims.nsyms + 1, sizeof(*values));
	sizes = calloc(plan->intervals.len + 1, sizeof(*sizes));
	for (point = 0; values && sizes && point < n; point++)
		if (!tell_point(plan, point, values, sizes))
			events->failed = true;
	events->failed |= !values || !sizes;
	free(values);
	free(sizes);
}

/* ---- The whole ----------------------------------------------------------- */

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
	tn_event_int(events, "step", plan->peak_step);
	tn_event_int(events, "buffers", (int64_t)plan->intervals.len);
	tn_event_int(events, "steps", plan->steps);
	tn_event_end(events);
	tell_live(plan, events);
	tell_points(plan, events);
}
