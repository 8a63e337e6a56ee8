/*
 * The rewriter: fuel, events, and changes of what is there.
 */
#include "ir/rewrite.h"

#include <assert.h>
#include <string.h>

#include "ir/graph_edit.h"
#include "ir/layout.h"

/* ---- Fuel and events ------------------------------------------------- */

/* Names of the members that say where in the source an op comes from. */
struct place_names {
	const char *file, *line, *begin, *end;
};

static const struct place_names own = { "file", "line", "begin", "end" };
static const struct place_names other_own = {
	"other_file", "other_line", "other_begin", "other_end"
};

static void put_span(const struct tn_module *module, struct tn_span span,
		     const struct place_names *names)
{
	const struct tn_sink *sink = module->sink;
	const struct tn_source *source;

	if (!sink || !span.file || span.file > sink->sources.len)
		return;
	source = tn_vec_at(&sink->sources, span.file - 1);
	tn_event_text(module->events, names->file, source->name);
	tn_event_int(module->events, names->line,
		     tn_sink_line(sink, span.file, span.begin));
	tn_event_int(module->events, names->begin, span.begin);
	tn_event_int(module->events, names->end, span.end);
}

static void note_last(struct tn_rw *rw, const char *rule,
		      const struct tn_op *op)
{
	rw->last = (struct tn_rw_last){
		.pass = rw->pass, .rule = rule, .op = tn_ops[op->code].name,
		.span = op->span
	};
	if (op->block)
		rw->last.fn = op->block->fn->name;
	if (op->nout)
		rw->last.value = op->out[0]->name;
}

/* The members that a rewrite and a miss have in common. */
static void begin_event(const struct tn_rw *rw, const char *kind,
			const char *rule, const struct tn_op *op)
{
	struct tn_events *events = rw->module->events;

	tn_event_begin(events, kind);
	tn_event_text(events, "pass", rw->pass);
	tn_event_text(events, "rule", rule);
	if (op->block)
		tn_event_text(events, "fn", op->block->fn->name);
	tn_event_text(events, "op", tn_ops[op->code].name);
	if (op->nout)
		tn_event_text(events, "value", op->out[0]->name);
	tn_event_text(events, "origin", op->origin);
	put_span(rw->module, op->span, &own);
}

/* `spent`: of an optional rewrite, which says what fuel it leaves. */
static void write_event(const struct tn_rw *rw, const char *rule,
			const struct tn_op *op, bool spent)
{
	struct tn_events *events = rw->module->events;

	if (!events)
		return;
	begin_event(rw, "rewrite", rule, op);
	if (spent && rw->fuel >= 0)
		tn_event_int(events, "fuel", rw->fuel);
	tn_event_end(events);
}

bool tn_rw_spend(struct tn_rw *rw, const char *rule, const struct tn_op *op)
{
	if (rw->fuel == 0)
		return false;
	if (rw->fuel > 0)
		rw->fuel--;
	rw->spent++;
	note_last(rw, rule, op);
	rw->count++;
	write_event(rw, rule, op, true);
	return true;
}

void tn_rw_note(struct tn_rw *rw, const char *rule, const struct tn_op *op)
{
	rw->count++;
	write_event(rw, rule, op, false);
}

void tn_rw_tell_place(const struct tn_rw *rw, struct tn_span span)
{
	put_span(rw->module, span, &own);
}

bool tn_rw_is_heard(const struct tn_rw *rw)
{
	return rw->module->events != NULL;
}

void tn_rw_miss(struct tn_rw *rw, const char *rule, const struct tn_op *op,
		const struct tn_op *other, const char *format, ...)
{
	struct tn_events *events = rw->module->events;
	struct tn_buf reason;
	va_list args;

	if (!events)
		return;
	tn_buf_init(&reason);
	va_start(args, format);
	tn_buf_vputf(&reason, format, args);
	va_end(args);
	begin_event(rw, "miss", rule, op);
	if (other) {
		tn_event_text(events, "other_op", tn_ops[other->code].name);
		if (other->nout)
			tn_event_text(events, "other", other->out[0]->name);
		put_span(rw->module, other->span, &other_own);
	}
	tn_event_text(events, "reason", tn_buf_text(&reason));
	events->failed |= reason.failed;
	tn_event_end(events);
	tn_buf_fini(&reason);
}

/* ---- Single changes -------------------------------------------------- */

/* True for names that the builder makes when nobody wishes: t__n. */
static bool is_makeshift(const struct tn_value *value)
{
	return !value->is_named && strncmp(value->name, "t__", 3) == 0;
}

/* `to` takes the name of `from` if that is the better one. */
static void move_name(struct tn_rw *rw, struct tn_value *from,
		      struct tn_value *to)
{
	struct tn_fn *fn;
	const char *name = from->name;

	if (!to->op || !to->op->block || to == from || to->is_named)
		return;
	if (!from->is_named && (!is_makeshift(to) || is_makeshift(from)))
		return;
	fn = to->op->block->fn;
	if (!from->op->block || from->op->block->fn != fn ||
	    tn_map_find(&fn->names, name) != from)
		return;
	if (!tn_map_set(&fn->names, name, NULL) ||
	    !tn_graph_name(fn, to, name))
		rw->failed = true;
}

void tn_rw_name_like(struct tn_rw *rw, struct tn_value *value,
		     const struct tn_value *model)
{
	struct tn_module *module = rw->module;
	const char *wish = model->name;

	if (!value->op || !value->op->block || !is_makeshift(value) ||
	    is_makeshift(model))
		return;
	if (model->is_named)
		wish = tn_arena_printf(&module->arena, "%s__0", wish);
	if (!wish || !tn_graph_name(value->op->block->fn, value, wish))
		rw->failed = true;
}

void tn_rw_replace(struct tn_rw *rw, struct tn_op *op,
		   struct tn_value *const *with)
{
	int i;

	for (i = 0; i < op->nout; i++) {
		struct tn_value *from = op->out[i];

		move_name(rw, from, with[i]);
		if (with[i]->op && !with[i]->annots.count)
			with[i]->annots = from->annots;
		if (with[i]->op && !with[i]->layout &&
		    with[i]->type == from->type)
			with[i]->layout = from->layout;
		tn_graph_replace_uses(from, with[i]);
	}
	tn_graph_remove(op);
}

void tn_rw_erase(struct tn_rw *rw, struct tn_op *op)
{
	(void)rw;
	tn_graph_remove(op);
}

void tn_rw_set_operand(struct tn_rw *rw, struct tn_op *op, int index,
		       struct tn_value *value)
{
	(void)rw;
	tn_graph_set_operand(op, index, value);
}

void tn_rw_set_attr(struct tn_rw *rw, struct tn_op *op, struct tn_attr attr)
{
	struct tn_attr *to = tn_graph_attr(op, attr.name);

	assert(to);
	rw->module->epoch++;
	attr.name = to->name;
	attr.is_set = true;
	*to = attr;
}

void tn_rw_set_kernel(struct tn_rw *rw, struct tn_op *launch,
		      struct tn_kernel *kernel)
{
	rw->module->epoch++;
	launch->kernel = kernel;
}

void tn_rw_set_span(struct tn_rw *rw, struct tn_op *op, struct tn_span span)
{
	int i;

	(void)rw;
	op->span = span;
	for (i = 0; i < op->nout; i++)
		op->out[i]->span = span;
}

void tn_rw_set_layout(struct tn_rw *rw, struct tn_value *value,
		      const struct tn_layout *layout)
{
	assert(!layout ||
	       !tn_layout_misfit(rw->module, layout, value->type));
	rw->module->epoch++;
	value->layout = layout;
}

bool tn_rw_annotate(struct tn_rw *rw, struct tn_op *op, const char *name,
		    const char *args)
{
	rw->module->epoch++;
	if (tn_annots_add(rw->module, &op->annots, name, args, op->span))
		return true;
	rw->failed = true;
	return false;
}

void tn_rw_copy_annots(struct tn_rw *rw, struct tn_op *to,
		       const struct tn_op *from)
{
	rw->module->epoch++;
	to->annots = from->annots;
}

/* ---- Functions and the module ----------------------------------------- */

bool tn_rw_guard(struct tn_rw *rw, struct tn_fn *fn,
		 const struct tn_guard *guard)
{
	struct tn_guard *to = tn_vec_push(&fn->guards);

	rw->module->epoch++;
	if (to)
		*to = *guard;
	else
		rw->failed = true;
	return to != NULL;
}

size_t tn_rw_drop_items(struct tn_rw *rw,
			bool (*is_dropped)(void *data,
					   const struct tn_item *item),
			void *data)
{
	struct tn_vec *items = &rw->module->items;
	size_t i, n = 0, before = items->len;
	struct tn_item *item;

	for (i = 0; i < before; i++) {
		item = tn_vec_ptr(items, i);
		if (!is_dropped(data, item))
			*(struct tn_item **)tn_vec_at(items, n++) = item;
	}
	items->len = n;
	if (n < before)
		rw->module->epoch++;
	return before - n;
}

/* ---- Places ------------------------------------------------------------ */

void tn_rw_place(struct tn_rw *rw, struct tn_value *value,
		 const struct tn_place *place)
{
	rw->module->epoch++;
	value->place = *place;
}

void tn_rw_scratch(struct tn_rw *rw, struct tn_op *launch, int64_t offset)
{
	rw->module->epoch++;
	launch->scratch = offset;
}

void tn_rw_arena(struct tn_rw *rw, struct tn_fn *fn, int64_t bytes)
{
	rw->module->epoch++;
	fn->arena_bytes = bytes;
}
