/*
 * Lifetimes: which buffers the entry needs, and from when to when.
 *
 * In: launches, flow, constants, views. Out: a place for what lives outside
 * the arena, an alias for what is a view, an interval for the rest.
 *
 * A value that a loop reads from outside lives until the loop ends, since the
 * next turn reads it again. The carries of a loop live from before it to the
 * last use of its results, which are the same bytes.
 */
#include "passes/plan.h"

#include "base/num.h"
#include "ir/kernel.h"
#include "ir/view.h"

static struct tn_rw *rw_of(const struct tn_plan *plan)
{
	return plan->context->rw;
}

/* Outside of the arena: a buffer by its number. */
static void set_outside(const struct tn_plan *plan, struct tn_value *value,
			enum tn_place_kind kind, int number)
{
	struct tn_place place = { .kind = kind, .number = number };

	tn_rw_place(rw_of(plan), value, &place);
}

/* `of` has its place already; its root is named, so that chains of views
 * stay one step long. */
static void set_alias(const struct tn_plan *plan, struct tn_value *value,
		      struct tn_value *of, int64_t offset)
{
	struct tn_place place = { .kind = TN_PLACE_ALIAS, .alias = of,
				  .offset = offset };

	if (of->place.kind == TN_PLACE_ALIAS) {
		place.offset += of->place.offset;
		place.alias = of->place.alias;
	}
	tn_rw_place(rw_of(plan), value, &place);
}

static bool refuse(struct tn_plan *plan, const struct tn_value *value)
{
	tn_pass_too_large(plan->context->module, value);
	return false;
}

static bool add_interval(struct tn_plan *plan, struct tn_value *value,
			 int64_t first)
{
	struct tn_module *module = plan->context->module;
	struct tn_place place = { .kind = TN_PLACE_ARENA };
	struct tn_interval *interval;
	int64_t bytes = tn_type_max_bytes(module, value->type);

	if (bytes < 0 || !tn_num_align(bytes ? bytes : 1, TN_PLACE_ALIGN,
				       &bytes))
		return refuse(plan, value);
	interval = tn_vec_push(&plan->intervals);
	if (!interval)
		return false;
	interval->value = value;
	interval->first = first;
	interval->bytes = bytes;
	place.bytes = bytes;
	tn_rw_place(rw_of(plan), value, &place);
	value->number = (int)plan->intervals.len;
	return true;
}

static bool add_scratch(struct tn_plan *plan, struct tn_op *op, int64_t step)
{
	struct tn_interval *interval;
	int64_t bytes;

	if (op->code != TN_OP_launch || op->kernel->scratch_bytes == 0)
		return true;
	if (!tn_num_align(op->kernel->scratch_bytes, TN_PLACE_ALIGN, &bytes))
		return false;
	interval = tn_vec_push(&plan->intervals);
	if (!interval)
		return false;
	interval->launch = op;
	interval->first = interval->last = step;
	interval->bytes = bytes;
	return true;
}

/* Moves the end of the value's interval to `step`. */
static void extend(struct tn_plan *plan, struct tn_value *value, int64_t step)
{
	const struct tn_value *root;
	struct tn_interval *interval;
	int64_t offset;

	root = tn_place_root(value, &offset);
	if (root->place.kind != TN_PLACE_ARENA)
		return;
	interval = tn_vec_at(&plan->intervals,
			     (size_t)root->number - 1);
	if (interval->last < step)
		interval->last = step;
}

static bool is_loop(const struct tn_op *op)
{
	return op->code == TN_OP_for || op->code == TN_OP_while;
}

static const struct tn_position *position(const struct tn_plan *plan,
					  const struct tn_op *op)
{
	return &plan->order[op->id];
}

/* The value has its place: its bytes are kept until it is read last. */
static void keep(struct tn_plan *plan, struct tn_value *value)
{
	extend(plan, value, plan->life[value->id]);
}

static bool place_block(struct tn_plan *plan, struct tn_block *block);

static bool place_loop(struct tn_plan *plan, struct tn_op *op)
{
	struct tn_block *body = op->regions[op->nregions - 1];
	int64_t end = position(plan, op)->end;
	int i, skip = op->code == TN_OP_for;

	for (i = 0; i < body->nparams; i++) {
		if (!add_interval(plan, body->params[i],
				  position(plan, op)->step))
			return false;
		extend(plan, body->params[i], end);
	}
	for (i = 0; i < op->nout; i++)
		set_alias(plan, op->out[i], body->params[i + skip], 0);
	if (op->code == TN_OP_while)
		for (i = 0; i < body->nparams; i++)
			set_alias(plan, op->regions[0]->params[i],
				  body->params[i], 0);
	return true;
}

/* Results of an `if` live from the end of its first branch, whose `yield` is
 * given, on. */
static bool place_if(struct tn_plan *plan, const struct tn_op *yield)
{
	struct tn_op *op = yield->block->parent;
	int i;

	for (i = 0; i < op->nout; i++) {
		if (!add_interval(plan, op->out[i],
				  position(plan, yield)->step))
			return false;
		extend(plan, op->out[i], position(plan, op)->end);
		keep(plan, op->out[i]);
	}
	return true;
}

/* A result that the kernel updates in place is its operand's bytes. */
static struct tn_value *updated_operand(const struct tn_op *op, int result)
{
	int k = tn_view_updated(op, result);

	return k < 0 ? NULL : tn_graph_in(op, k);
}

/* A part of a concatenation lies in it: that is alive from here on. */
static bool open_home(struct tn_plan *plan, const struct tn_value *part,
		      int64_t step)
{
	struct tn_value *home = part->place.alias;

	return part->place.kind != TN_PLACE_ALIAS ||
		home->place.kind != TN_PLACE_NONE ||
		add_interval(plan, home, step);
}

static bool place_launch(struct tn_plan *plan, struct tn_op *op)
{
	int64_t step = position(plan, op)->step;
	struct tn_value *operand;
	int i;

	for (i = 0; i < op->nout; i++) {
		operand = updated_operand(op, i);
		if (operand)
			set_alias(plan, op->out[i], operand, 0);
		else if (op->out[i]->place.kind == TN_PLACE_NONE ?
			 !add_interval(plan, op->out[i], step) :
			 !open_home(plan, op->out[i], step))
			return false;
		extend(plan, op->out[i], step);
	}
	return add_scratch(plan, op, step);
}

/* Its parts come before it, but they may all lie elsewhere. */
static bool place_concat(struct tn_plan *plan, struct tn_op *op)
{
	int64_t step = position(plan, op)->step;

	if (op->out[0]->place.kind == TN_PLACE_NONE ?
	    !add_interval(plan, op->out[0], step) :
	    !open_home(plan, op->out[0], step))
		return false;
	extend(plan, op->out[0], step);
	return true;
}

static bool place_op(struct tn_plan *plan, struct tn_op *op)
{
	int64_t offset;

	if (tn_view_of(op, &offset))
		set_alias(plan, op->out[0], tn_graph_in(op, 0), offset);
	else if (op->code == TN_OP_const)
		set_outside(plan, op->out[0], TN_PLACE_WEIGHT, 0);
	else if (op->code == TN_OP_launch)
		return place_launch(plan, op);
	else if (tn_view_is_joined(op))
		return place_concat(plan, op);
	else if (is_loop(op))
		return place_loop(plan, op);
	else if (op->code == TN_OP_yield &&
		 op->block->parent->code == TN_OP_if &&
		 op->block->parent->regions[0] == op->block)
		return place_if(plan, op);
	return true;
}

static bool place_block(struct tn_plan *plan, struct tn_block *block)
{
	struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		if (!place_op(plan, op))
			return false;
		for (i = 0; i < op->nout; i++)
			keep(plan, op->out[i]);
		for (i = 0; i < op->nregions; i++)
			if (!place_block(plan, op->regions[i]))
				return false;
	}
	return true;
}

static bool place_params(struct tn_plan *plan)
{
	struct tn_module *module = plan->context->module;
	struct tn_block *body = plan->context->entry->body;
	struct tn_weight *weight;
	size_t i;
	int k;

	for (k = 0; k < body->nparams; k++) {
		set_outside(plan, body->params[k], TN_PLACE_INPUT, k);
		if (tn_type_max_bytes(module, body->params[k]->type) < 0)
			return refuse(plan, body->params[k]);
	}
	for (i = 0; i < module->weights.len; i++) {
		weight = tn_vec_ptr(&module->weights, i);
		set_outside(plan, weight->value, TN_PLACE_WEIGHT,
			    weight->number);
	}
	return true;
}

/* The value whose buffer this one is, whole: through views of all of it and
 * updates in place. */
static const struct tn_value *buffer_of(const struct tn_value *value)
{
	const struct tn_value *before = value;
	int64_t offset;

	while (before) {
		value = before;
		before = NULL;
		if (value->op && value->op->code != TN_OP_slice &&
		    tn_view_of(value->op, &offset))
			before = tn_graph_in(value->op, 0);
		else if (value->op && value->op->code == TN_OP_launch)
			before = updated_operand(value->op, value->index);
	}
	return value;
}

static bool is_made(const struct tn_op *op)
{
	return op->code == TN_OP_launch || tn_view_is_joined(op);
}

/* A result made by a launch or put together of parts in the function's own
 * block goes straight to the caller's buffer. One that is returned twice is
 * copied by the return, and so is a part. */
static void place_results(struct tn_plan *plan)
{
	const struct tn_op *ret = plan->context->entry->body->last;
	struct tn_value *value;
	const struct tn_value *buffer;
	int i;

	for (i = 0; i < ret->nin; i++) {
		buffer = buffer_of(tn_graph_in(ret, i));
		if (!buffer->op || !is_made(buffer->op) ||
		    buffer->op->block != ret->block ||
		    buffer->place.kind != TN_PLACE_NONE)
			continue;
		value = buffer->op->out[buffer->index];
		set_outside(plan, value, TN_PLACE_OUTPUT, i);
	}
}

static bool clear_place(void *data, struct tn_op *op)
{
	struct tn_place none = { 0 };
	struct tn_rw *rw = data;
	int i, k;

	for (i = 0; i < op->nout; i++)
		tn_rw_place(rw, op->out[i], &none);
	for (k = 0; k < op->nregions; k++)
		for (i = 0; i < op->regions[k]->nparams; i++)
			tn_rw_place(rw, op->regions[k]->params[i], &none);
	return true;
}

/* ---- Concatenations ---------------------------------------------------- */

/* True if all parts lie already one behind the other in a larger one: then the
 * result is there too. */
static bool find_whole(const struct tn_op *concat, struct tn_place *place)
{
	const struct tn_value *part;
	int64_t at = 0;
	int k;

	for (k = 0; k < concat->nin; k++) {
		part = tn_view_part(concat, k);
		if (!part || part->place.kind != TN_PLACE_ALIAS)
			return false;
		if (k == 0)
			*place = part->place;
		if (part->place.alias != place->alias ||
		    part->place.offset != place->offset + at)
			return false;
		at += tn_view_part_bytes(concat, k);
	}
	return true;
}

/* Its number is how many it lies in. A part that lies in another already, or
 * elsewhere in this one, is copied. */
static void home_parts(struct tn_plan *plan, struct tn_op *concat)
{
	struct tn_value *whole = concat->out[0], *part;
	struct tn_place place;
	int64_t at = 0;
	int k;

	if (whole->place.kind == TN_PLACE_NONE)
		whole->number = 0;
	if (whole->place.kind == TN_PLACE_NONE && find_whole(concat, &place)) {
		tn_rw_place(rw_of(plan), whole, &place);
		return;
	}
	for (k = 0; k < concat->nin; k++) {
		part = tn_view_part(concat, k);
		if (part && part->place.kind == TN_PLACE_NONE &&
		    (part->op->code == TN_OP_launch ||
		     whole->number < TN_VIEW_NESTED)) {
			set_alias(plan, part, whole, at);
			part->number = whole->number + 1;
		}
		at += tn_view_part_bytes(concat, k);
	}
}

/* From the last to the first: what lies in another knows where that lies. */
static void home_block(struct tn_plan *plan, struct tn_block *block)
{
	struct tn_op *op;
	int i;

	for (op = block->last; op; op = op->prev) {
		for (i = 0; i < op->nregions; i++)
			home_block(plan, op->regions[i]);
		if (tn_view_is_joined(op))
			home_parts(plan, op);
	}
}

bool tn_plan_collect(struct tn_plan *plan)
{
	struct tn_analyses *analyses = plan->context->analyses;
	struct tn_block *body = plan->context->entry->body;
	bool good;

	plan->life = tn_analyses_life(analyses);
	plan->order = tn_analyses_order(analyses);
	plan->steps = tn_analyses_steps(analyses);
	if (!plan->life || !plan->order)
		return false;
	tn_pass_walk(body, clear_place, rw_of(plan));
	good = place_params(plan);
	home_block(plan, body);
	place_results(plan);
	return good && place_block(plan, body);
}
