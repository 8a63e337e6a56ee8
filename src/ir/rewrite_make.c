/*
 * The rewriter: making flow, results, parameters, and functions of groups.
 */
#include <string.h>

#include "ir/graph_edit.h"
#include "ir/rewrite.h"

static void *failed(struct tn_rw *rw)
{
	rw->failed = true;
	return NULL;
}

void tn_rw_before(struct tn_rw *rw, struct tn_op *op,
		  struct tn_builder *builder)
{
	tn_builder_init(builder, op->block);
	builder->before = op;
	builder->origin = rw->pass;
}

struct tn_op *tn_rw_flow(struct tn_rw *rw, const struct tn_rw_spot *spot,
			 enum tn_opcode code, int nin,
			 struct tn_value *const *in, struct tn_span span)
{
	struct tn_op *op;

	op = tn_graph_op(spot->block->fn, code, nin, in, 0, span);
	if (!op)
		return failed(rw);
	op->origin = rw->pass;
	tn_graph_insert(spot->block, op, spot->before);
	return op;
}

struct tn_op *tn_rw_launch(struct tn_rw *rw, const struct tn_rw_spot *spot,
			   struct tn_kernel *kernel, int nin,
			   struct tn_value *const *in, struct tn_span span)
{
	struct tn_op *launch = tn_rw_flow(rw, spot, TN_OP_launch, nin, in,
					  span);

	if (launch)
		launch->kernel = kernel;
	return launch;
}

/* ---- Results and parameters -------------------------------------------- */

/* Room for one more result. */
static bool grow_results(struct tn_rw *rw, struct tn_op *op)
{
	size_t n = (size_t)op->nout;
	struct tn_value **out;

	out = tn_arena_array(&rw->module->arena, n + 1, sizeof(*out));
	if (!out)
		return false;
	if (n)
		memcpy(out, op->out, n * sizeof(*out));
	op->out = out;
	return true;
}

static void add_result(struct tn_op *op, struct tn_value *value)
{
	value->op = op;
	value->block = NULL;
	value->index = op->nout;
	op->out[op->nout++] = value;
}

struct tn_value *tn_rw_result(struct tn_rw *rw, struct tn_op *op,
			      const struct tn_type *type, const char *wish)
{
	struct tn_value *value;

	value = tn_arena_alloc(&rw->module->arena, sizeof(*value));
	if (!value || !grow_results(rw, op))
		return failed(rw);
	value->id = ++rw->module->nvalues;
	value->type = type;
	value->span = op->span;
	add_result(op, value);
	if (!tn_graph_name(op->block->fn, value, wish))
		return failed(rw);
	return value;
}

/* Moves the parameter at `from` to `to`, those between by one. */
static void shift_param(struct tn_block *block, int from, int to)
{
	struct tn_value *param = block->params[from];
	int i, step = from < to ? 1 : -1;

	for (i = from; i != to; i += step)
		block->params[i] = block->params[i + step];
	block->params[to] = param;
	for (i = 0; i < block->nparams; i++)
		block->params[i]->index = i;
}

struct tn_value *tn_rw_param(struct tn_rw *rw, struct tn_block *block,
			     int index, const struct tn_type *type,
			     const char *wish)
{
	struct tn_value *param = tn_graph_param(block, wish, type);

	if (!param)
		return failed(rw);
	shift_param(block, block->nparams - 1, index);
	return param;
}

bool tn_rw_define(struct tn_rw *rw, struct tn_value *param, struct tn_op *op)
{
	struct tn_block *block = param->block;

	if (!grow_results(rw, op)) {
		rw->failed = true;
		return false;
	}
	rw->module->epoch++;
	shift_param(block, param->index, block->nparams - 1);
	block->nparams--;
	add_result(op, param);
	return true;
}

void tn_rw_move_results(struct tn_rw *rw, struct tn_op *from,
			struct tn_op *to)
{
	int i;

	rw->module->epoch++;
	to->out = from->out;
	to->nout = from->nout;
	for (i = 0; i < to->nout; i++)
		to->out[i]->op = to;
	from->out = NULL;
	from->nout = 0;
}

void tn_rw_move_regions(struct tn_rw *rw, struct tn_op *from,
			struct tn_op *to)
{
	int i;

	rw->module->epoch++;
	to->regions = from->regions;
	to->nregions = from->nregions;
	for (i = 0; i < to->nregions; i++)
		to->regions[i]->parent = to;
	from->regions = NULL;
	from->nregions = 0;
}

/* ---- Groups become functions -------------------------------------------- */

struct outliner {
	struct tn_rw *rw;
	const struct tn_rw_group *group;
	struct tn_fn *fn;
	struct tn_map map;	/* value outside -> in the function */
	struct tn_vec *operands;	/* struct tn_value *: of the call */
};

static bool is_taken(const struct tn_module *module, const char *name)
{
	return tn_map_has(&module->fn_names, name) ||
	       tn_map_has(&module->weight_names, name) ||
	       tn_map_has(&module->dim_names, name);
}

static const char *fresh_name(const struct outliner *o)
{
	struct tn_module *module = o->rw->module;
	const char *name, *text;

	do {
		text = tn_arena_printf(&module->arena, "%s__%c%d",
				       o->group->name,
				       o->group->kind ? 'f' : 'w',
				       (*o->group->number)++);
		name = text ? tn_intern_text(module->names, text) : NULL;
	} while (name && is_taken(module, name));
	return name;
}

/* What the group reads from outside, in order, becomes parameters. */
static bool make_params(struct outliner *o)
{
	struct tn_value *value, *param;
	const struct tn_op *op;
	int i, k;

	for (i = 0; i < o->group->nops; i++) {
		op = o->group->ops[i];
		for (k = 0; k < op->nin; k++) {
			value = tn_graph_in(op, k);
			if (o->group->is_source(value) ||
			    tn_map_has(&o->map, value))
				continue;
			param = tn_graph_param(o->fn->body, value->name,
					       value->type);
			if (!param || !tn_map_set(&o->map, value, param) ||
			    !tn_vec_push_ptr(o->operands, value))
				return false;
		}
		for (k = 0; k < op->nout; k++)
			if (!tn_map_set(&o->map, op->out[k], op->out[k]))
				return false;
	}
	return true;
}

static bool copy_attrs(struct tn_module *module, const struct tn_op *from,
		       struct tn_op *to)
{
	to->attrs = tn_arena_copy(&module->arena, from->attrs,
				  (size_t)from->nattrs * sizeof(*to->attrs));
	to->nattrs = from->nattrs;
	return to->attrs != NULL;
}

/* The op once more, at the end of the function, reading what `in` holds. */
static struct tn_op *copy_op(struct outliner *o, const struct tn_op *from,
			     struct tn_value *const *in)
{
	struct tn_op *to;
	int i;

	to = tn_graph_op(o->fn, from->code, from->nin, in, from->nout,
			 from->span);
	if (!to || !copy_attrs(o->rw->module, from, to))
		return NULL;
	to->literal = from->literal;
	to->origin = from->origin;
	to->annots = from->annots;
	for (i = 0; i < to->nout; i++) {
		to->out[i]->type = from->out[i]->type;
		to->out[i]->annots = from->out[i]->annots;
	}
	tn_graph_insert(o->fn->body, to, NULL);
	for (i = 0; i < to->nout; i++)
		if (!tn_graph_name(o->fn, to->out[i], from->out[i]->name) ||
		    !tn_map_set(&o->map, from->out[i], to->out[i]))
			return NULL;
	return to;
}

static bool copy_member(struct outliner *o, const struct tn_op *op)
{
	struct tn_value *value, **in;
	int i;

	in = tn_arena_array(&o->rw->module->arena, (size_t)op->nin + 1,
			    sizeof(*in));
	for (i = 0; in && i < op->nin; i++) {
		value = tn_graph_in(op, i);
		if (!tn_map_has(&o->map, value) &&
		    !copy_op(o, value->op, NULL))
			return false;
		in[i] = tn_map_find(&o->map, value);
	}
	return in && copy_op(o, op, in) != NULL;
}

/* The function returns what the last op makes. */
static bool finish_fn(struct outliner *o, const struct tn_op *root)
{
	struct tn_arena *arena = &o->rw->module->arena;
	size_t n = (size_t)root->nout;
	struct tn_value **results = tn_arena_array(arena, n,
						   sizeof(*results));
	struct tn_fn *fn = o->fn;
	struct tn_op *ret;
	int i;

	fn->result_names = tn_arena_array(arena, n, sizeof(*fn->result_names));
	fn->result_types = tn_arena_array(arena, n, sizeof(*fn->result_types));
	if (!results || !fn->result_names || !fn->result_types)
		return false;
	for (i = 0; i < root->nout; i++) {
		results[i] = tn_map_find(&o->map, root->out[i]);
		fn->result_types[i] = results[i]->type;
	}
	fn->nresults = root->nout;
	ret = tn_graph_op(fn, TN_OP_return, root->nout, results, 0,
			  root->span);
	if (ret)
		tn_graph_insert(fn->body, ret, NULL);
	return ret != NULL;
}

/* Functions that passes make are items, so that the text shows them. */
static bool enter_item(struct outliner *o)
{
	struct tn_module *module = o->rw->module;
	struct tn_item *item = tn_arena_alloc(&module->arena, sizeof(*item));

	if (!item)
		return false;
	item->kind = TN_ITEM_FN;
	item->name = o->fn->name;
	item->u.fn = o->fn;
	return tn_map_set(&module->fn_names, o->fn->name, o->fn) &&
	       (!o->group->kind ||
		tn_annots_add(module, &o->fn->annots, "fused", o->group->kind,
			      o->fn->span)) &&
	       tn_vec_push_ptr(&module->items, item);
}

static bool make_fn(struct outliner *o, const struct tn_op *root)
{
	const char *name = fresh_name(o);
	bool good;
	int i;

	o->fn = name ? tn_graph_fn(o->rw->module, name, o->group->kind ?
				   TN_FN_FUSED : TN_FN_PLAIN) : NULL;
	good = o->fn && make_params(o);
	for (i = 0; good && i < o->group->nops; i++)
		good = copy_member(o, o->group->ops[i]);
	return good && finish_fn(o, root) && enter_item(o);
}

/* Which operators are one from here on. */
static void tell_members(const struct outliner *o, const struct tn_op *root)
{
	struct tn_events *events = o->rw->module->events;
	const struct tn_op *op;
	int i;

	for (i = 0; events && i < o->group->nops; i++) {
		op = o->group->ops[i];
		tn_event_begin(events, "member");
		tn_event_text(events, "pass", o->rw->pass);
		tn_event_text(events, "group", o->fn->name);
		tn_event_text(events, "kind", o->group->kind ?
			      o->group->kind : "weight");
		tn_event_text(events, "root", root->out[0]->name);
		tn_event_text(events, "op", tn_ops[op->code].name);
		tn_event_text(events, "value", op->out[0]->name);
		tn_rw_tell_place(o->rw, op->span);
		tn_event_end(events);
	}
}

/* The call in place of the last op, which goes; then the others, the last ones
 * first, so that none is read any more. */
static struct tn_op *put_call(struct tn_rw *rw,
			      const struct tn_rw_group *group,
			      struct tn_fn *fn, const struct tn_vec *operands)
{
	struct tn_op *root = group->ops[group->nops - 1], *call;
	struct tn_rw_spot spot = {root->block, root};
	int i;

	call = tn_rw_flow(rw, &spot, TN_OP_call, (int)operands->len,
			  operands->data, root->span);
	if (!call)
		return NULL;
	call->callee = fn;
	for (i = 0; i < root->nout; i++)
		if (!tn_rw_result(rw, call, root->out[i]->type,
				  root->out[i]->name))
			return NULL;
	tn_rw_replace(rw, root, call->out);
	for (i = group->nops - 1; i-- > 0;)
		tn_rw_erase(rw, group->ops[i]);
	return call;
}

struct tn_fn *tn_rw_outline_fn(struct tn_rw *rw,
			       const struct tn_rw_group *group,
			       struct tn_vec *operands)
{
	struct outliner o = {.rw = rw, .group = group, .operands = operands};
	bool good;

	tn_map_init_ptr(&o.map);
	good = make_fn(&o, group->ops[group->nops - 1]);
	tn_map_fini(&o.map);
	if (!good || rw->failed)
		return failed(rw);
	tell_members(&o, group->ops[group->nops - 1]);
	return o.fn;
}

struct tn_op *tn_rw_outline(struct tn_rw *rw, const struct tn_rw_group *group)
{
	struct tn_op *call = NULL;
	struct tn_vec operands;
	struct tn_fn *fn;

	tn_vec_init(&operands, sizeof(struct tn_value *), NULL);
	fn = tn_rw_outline_fn(rw, group, &operands);
	if (fn)
		call = put_call(rw, group, fn, &operands);
	tn_vec_fini(&operands);
	return call && !rw->failed ? call : failed(rw);
}
