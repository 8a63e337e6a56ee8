/*
 * Modules that show what they compute: every value of the entry becomes a
 * result, so that two ways to run it can be held against each other operator
 * by operator.
 *
 *   fn f(x: f32[4]) -> f32[4] { y = exp(x); return sqrt(y); }
 *   fn f(x: f32[4]) -> (f32[4], y: f32[4]) { y = exp(x); z = ..; return z, y; }
 *
 * In: a module as it was read. Out: calls are inlined, results stay the first
 * and are followed by the other values of the body, in its order. What loops
 * and branches hold inside is theirs: their results stand for it.
 */
#include "driver/module.h"
#include "driver/target.h"
#include "ir/graph_edit.h"
#include "ir/kernel.h"
#include "ir/op.h"

/* ---- What is shown ------------------------------------------------------- */

/* Constants are what both sides were given. */
static bool is_shown(const struct tn_op *op)
{
	return op->nout > 0 && op->code != TN_OP_const;
}

static int result_of(const struct tn_op *end, const struct tn_value *value)
{
	int i;

	for (i = 0; i < end->nin; i++)
		if (tn_graph_in(end, i) == value)
			return i;
	return -1;
}

/* Values of the body that may be shown, results among them. */
static size_t count_values(const struct tn_fn *entry)
{
	const struct tn_op *op;
	size_t count = 0;

	for (op = entry->body->first; op; op = op->next)
		if (is_shown(op))
			count += (size_t)op->nout;
	return count;
}

static const char *place_of(struct tenon_module *module, struct tn_span span)
{
	uint32_t line, column;
	const char *name = tn_sink_place(&module->context->sink, span, &line,
					 &column);

	if (!name)
		return NULL;
	return tn_arena_printf(&module->arena, "%s:%u:%u", name,
			       (unsigned)line, (unsigned)column);
}

static void describe(struct tenon_module *module, const struct tn_op *op,
		     const struct tn_value *value, struct tenon_value *out)
{
	out->name = value->name;
	out->op = op->callee ? op->callee->name :
		op->kernel ? op->kernel->name : tn_ops[op->code].name;
	out->place = place_of(module, op->span);
}

/* ---- Results ------------------------------------------------------------- */

/* The results of the entry under construction. */
struct results {
	struct tenon_module *module;
	struct tn_fn *fn;
	struct tn_value **values;
	const char **names;
	const struct tn_layout **layouts;
	struct tenon_value *shown;
	int count, nshown;
};

static bool is_taken(const struct results *r, const char *name)
{
	int i;

	for (i = 0; i < r->count; i++)
		if (r->names[i] == name)
			return true;
	return false;
}

static void add_old(struct results *r, const struct tn_op *end)
{
	int i;

	for (i = 0; i < end->nin; i++) {
		r->values[i] = tn_graph_in(end, i);
		r->names[i] = r->fn->result_names[i];
		r->layouts[i] = tn_fn_result_layout(r->fn, i);
	}
	r->count = end->nin;
}

static void add_op(struct results *r, const struct tn_op *op,
		   const struct tn_op *end)
{
	int i, at;

	for (i = 0; i < op->nout; i++) {
		struct tenon_value *shown = &r->shown[r->nshown++];

		describe(r->module, op, op->out[i], shown);
		at = result_of(end, op->out[i]);
		if (at < 0) {
			at = r->count;
			r->values[at] = op->out[i];
			r->layouts[at] = op->out[i]->layout;
			r->names[at] = is_taken(r, op->out[i]->name) ? NULL :
				op->out[i]->name;
			r->count++;
		}
		shown->output = at;
	}
}

/* The return of all of them in place of the one that there is. */
static bool replace_end(struct results *r, struct tn_op *end)
{
	struct tn_arena *arena = &r->module->ir->arena;
	size_t n = (size_t)r->count;
	struct tn_op *op;
	int i;

	r->fn->result_types = tn_arena_array(arena, n + 1,
					     sizeof(*r->fn->result_types));
	if (!r->fn->result_types)
		return false;
	for (i = 0; i < r->count; i++)
		r->fn->result_types[i] = r->values[i]->type;
	r->fn->result_names = r->names;
	r->fn->result_layouts = r->layouts;
	r->fn->nresults = r->count;
	op = tn_graph_op(r->fn, TN_OP_return, r->count, r->values, 0,
			 end->span);
	if (!op)
		return false;
	tn_graph_remove(end);
	tn_graph_insert(r->fn->body, op, NULL);
	return true;
}

static bool make_room(struct results *r, size_t most)
{
	struct tn_arena *arena = &r->module->ir->arena;

	r->values = tn_arena_array(arena, most, sizeof(struct tn_value *));
	r->names = tn_arena_array(arena, most, sizeof(*r->names));
	r->layouts = tn_arena_array(arena, most, sizeof(*r->layouts));
	r->shown = tn_arena_array(arena, most, sizeof(*r->shown));
	return r->values && r->names && r->layouts && r->shown;
}

static enum tn_status reveal(struct results *r)
{
	struct tn_op *end = r->fn->body->last;
	const struct tn_op *op;

	if (!end || end->code != TN_OP_return)
		return TN_OK;
	if (!make_room(r, count_values(r->fn) + (size_t)end->nin + 1))
		return TN_IO;
	add_old(r, end);
	for (op = r->fn->body->first; op; op = op->next)
		if (is_shown(op))
			add_op(r, op, end);
	return replace_end(r, end) ? TN_OK : TN_IO;
}

enum tenon_status tenon_module_reveal(struct tenon_module *module,
				      const struct tenon_value **values,
				      size_t *count)
{
	struct results r = { .module = module };
	enum tn_status status;

	*values = NULL;
	*count = 0;
	if (!module)
		return TENON_USAGE;
	r.fn = tn_module_pick(module);
	if (!r.fn)
		return tn_context_end(module->context, TN_BAD_INPUT);
	status = tn_module_pipeline(module, &r.fn, tn_target_interpreter(),
				    "infer,inline,unroll");
	if (!status)
		status = reveal(&r);
	if (!status) {
		*values = r.shown;
		*count = (size_t)r.nshown;
	}
	return tn_context_end(module->context, status);
}
