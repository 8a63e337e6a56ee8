/*
 * fuse: chains and trees of maps become one function each.
 *
 *   t = add(z, b);                 fn main__f0(z, b) -> f32[B, 256] @fused
 *   h = max(t, 0.0);       ->      h = main__f0(z, b);
 *
 * A map joins the group of its readers when all of them are in one group and
 * work on the same shape, so nothing is computed twice. Scalar constants and
 * sizes are copied into the group. A group is closed under paths: a member
 * other than the last is read inside the group alone, and the group stands at
 * the place of its last member, after all its operands.
 */
#include "passes/pass.h"

#include <string.h>

enum tn_pass_result tn_pass_fuse(struct tn_pass_context *context);

#define MAX_MEMBERS 128
#define MAX_OPERANDS 48

struct member {
	struct tn_op *op;
	struct member *next;
};

struct group {
	struct tn_op *root;
	struct member *first;	/* in order of the text; root is the last */
	int members;
	int nin;		/* operands, at most */
};

struct fuser {
	struct tn_pass_context *context;
	struct tn_arena arena;	/* groups and members */
	struct tn_vec groups;	/* struct group * */
	struct tn_map of;	/* op -> group */
	int made;
};

static bool is_map(const struct tn_op *op)
{
	return tn_ops[op->code].op_class == TN_CLASS_MAP;
}

/* Constants that each group may hold a copy of. */
static bool is_scalar_source(const struct tn_value *value)
{
	return value->op && value->type->rank == 0 &&
		tn_op_has(value->op->code, TN_FLAG_LITERAL);
}

static bool same_space(const struct tn_op *a, const struct tn_op *b)
{
	const struct tn_type *s = a->out[0]->type, *t = b->out[0]->type;

	return s->rank == t->rank &&
		(s->rank == 0 || !memcmp(s->dims, t->dims, (size_t)s->rank *
					 sizeof(const struct tn_dim *)));
}

/* The one group that reads all of the op's result, or NULL. */
static struct group *group_of_readers(const struct fuser *f,
				      const struct tn_op *op)
{
	struct group *group = NULL, *other;
	const struct tn_use *use;

	for (use = op->out[0]->uses; use; use = use->next) {
		other = tn_map_find(&f->of, use->op);
		if (!other || use->op->block != op->block ||
		    (group && other != group))
			return NULL;
		group = other;
	}
	return group;
}

/* Adding `op` turns one operand into at most op->nin others. */
static bool has_room(const struct group *group, const struct tn_op *op)
{
	return group->members < MAX_MEMBERS &&
		group->nin + op->nin <= MAX_OPERANDS;
}

/* Ops join from the last to the first. */
static bool join(struct fuser *f, struct group *group, struct tn_op *op)
{
	struct member *member = tn_arena_alloc(&f->arena, sizeof *member);
	int i;

	if (!member)
		return false;
	member->op = op;
	member->next = group->first;
	group->first = member;
	group->nin -= group->members++ > 0;
	for (i = 0; i < op->nin; i++)
		group->nin += !is_scalar_source(tn_graph_in(op, i));
	return tn_map_set(&f->of, op, group);
}

static struct group *new_group(struct fuser *f, struct tn_op *root)
{
	struct group *group = tn_arena_alloc(&f->arena, sizeof *group);

	if (!group || !tn_vec_push_ptr(&f->groups, group))
		return NULL;
	group->root = root;
	return group;
}

static bool form_groups(struct fuser *f, struct tn_block *block)
{
	struct group *group;
	struct tn_op *op;
	int i;

	for (op = block->last; op; op = op->prev) {
		for (i = 0; i < op->nregions; i++)
			if (!form_groups(f, op->regions[i]))
				return false;
		if (!is_map(op))
			continue;
		group = group_of_readers(f, op);
		if (!group || !same_space(op, group->root) ||
		    !has_room(group, op))
			group = new_group(f, op);
		if (!group || !join(f, group, op))
			return false;
	}
	return true;
}

/* Copies a scalar source to the front of the function, once. */
static bool copy_source(struct fuser *f, struct tn_fn *fn,
			struct tn_value *value, struct tn_map *map)
{
	struct tn_module *module = f->context->module;
	struct tn_op *copy;

	if (!is_scalar_source(value) || tn_map_has(map, value))
		return true;
	copy = tn_graph_op(fn, value->op->code, 0, NULL, 1, value->op->span);
	if (!copy)
		return false;
	copy->literal = value->op->literal;
	copy->attrs = tn_arena_copy(&module->arena, value->op->attrs,
				    (size_t)value->op->nattrs *
				    sizeof *copy->attrs);
	copy->nattrs = value->op->nattrs;
	copy->out[0]->type = value->type;
	tn_graph_insert(fn->body, copy, NULL);
	return tn_graph_name(fn, copy->out[0], value->name) &&
		tn_map_set(map, value, copy->out[0]);
}

static bool copy_member(struct fuser *f, struct tn_fn *fn,
			const struct tn_op *op, struct tn_map *map)
{
	struct tn_module *module = f->context->module;
	struct tn_value *in[3];
	struct tn_op *copy;
	int i;

	for (i = 0; i < op->nin; i++) {
		if (!copy_source(f, fn, tn_graph_in(op, i), map))
			return false;
		in[i] = tn_map_find(map, tn_graph_in(op, i));
	}
	copy = tn_graph_op(fn, op->code, op->nin, in, 1, op->span);
	if (!copy)
		return false;
	copy->attrs = tn_arena_copy(&module->arena, op->attrs,
				    (size_t)op->nattrs * sizeof *copy->attrs);
	copy->nattrs = op->nattrs;
	copy->origin = op->origin;
	copy->annots = op->annots;
	copy->out[0]->annots = op->out[0]->annots;
	copy->out[0]->type = op->out[0]->type;
	tn_graph_insert(fn->body, copy, NULL);
	return tn_graph_name(fn, copy->out[0], op->out[0]->name) &&
		tn_map_set(map, op->out[0], copy->out[0]);
}

static bool finish_fn(struct fuser *f, struct tn_fn *fn,
		      const struct group *group, struct tn_map *map)
{
	struct tn_module *module = f->context->module;
	struct tn_value *result = tn_map_find(map, group->root->out[0]);
	struct tn_item *item;
	struct tn_op *ret;

	ret = tn_graph_op(fn, TN_OP_return, 1, &result, 0,
			  group->root->span);
	item = tn_arena_alloc(&module->arena, sizeof *item);
	fn->result_names = tn_arena_array(&module->arena, 1,
					  sizeof *fn->result_names);
	fn->result_types = tn_arena_array(&module->arena, 1,
					  sizeof *fn->result_types);
	if (!ret || !item || !fn->result_names || !fn->result_types)
		return false;
	tn_graph_insert(fn->body, ret, NULL);
	fn->nresults = 1;
	fn->result_types[0] = result->type;
	item->kind = TN_ITEM_FN;
	item->name = fn->name;
	item->u.fn = fn;
	return tn_annots_add(module, &fn->annots, "fused", "map", fn->span) &&
		tn_vec_push_ptr(&module->items, item);
}

static const char *fresh_name(struct fuser *f)
{
	struct tn_module *module = f->context->module;
	const char *name, *text;

	do {
		text = tn_arena_printf(&module->arena, "%s__f%d",
				       f->context->entry->name, f->made++);
		name = text ? tn_intern_text(module->names, text) : NULL;
	} while (name && (tn_map_has(&module->fn_names, name) ||
			  tn_map_has(&module->weight_names, name) ||
			  tn_map_has(&module->dim_names, name)));
	return name;
}

/* What the members read from outside, in order; `map` then holds a parameter
 * for each. Groups outlined before have changed operands, so this is found
 * anew. */
static bool make_params(struct tn_fn *fn, const struct group *group,
			struct tn_map *map, struct tn_vec *operands)
{
	struct tn_value *value, *param;
	const struct member *member;
	const struct tn_op *op;
	int k;

	for (member = group->first; member; member = member->next) {
		op = member->op;
		for (k = 0; k < op->nin; k++) {
			value = tn_graph_in(op, k);
			if (is_scalar_source(value) || tn_map_has(map, value))
				continue;
			param = tn_graph_param(fn->body, value->name,
					       value->type);
			if (!param || !tn_map_set(map, value, param) ||
			    !tn_vec_push_ptr(operands, value))
				return false;
		}
		if (!tn_map_set(map, op->out[0], op->out[0]))
			return false;
	}
	return true;
}

/* The group as a function of its operands. */
static struct tn_fn *make_fn(struct fuser *f, const struct group *group,
			     struct tn_vec *operands)
{
	const char *name = fresh_name(f);
	const struct member *member;
	struct tn_fn *fn = NULL;
	struct tn_map map;
	bool good;

	if (name)
		fn = tn_graph_fn(f->context->module, name, TN_FN_FUSED);
	if (!fn)
		return NULL;
	tn_map_init_ptr(&map);
	good = tn_map_set(&f->context->module->fn_names, name, fn) &&
		make_params(fn, group, &map, operands);
	for (member = group->first; good && member; member = member->next)
		good = copy_member(f, fn, member->op, &map);
	good = good && finish_fn(f, fn, group, &map);
	tn_map_fini(&map);
	return good ? fn : NULL;
}

static struct tn_op *make_call(struct fuser *f, const struct group *group)
{
	struct tn_op *root = group->root, *call = NULL;
	struct tn_vec operands;
	struct tn_fn *fn;

	tn_vec_init(&operands, sizeof(struct tn_value *), NULL);
	fn = make_fn(f, group, &operands);
	if (fn)
		call = tn_graph_op(f->context->entry, TN_OP_call,
				   (int)operands.len, operands.data, 1,
				   root->span);
	tn_vec_fini(&operands);
	if (!call)
		return NULL;
	call->callee = fn;
	call->origin = "fuse";
	call->out[0]->type = root->out[0]->type;
	return call;
}

/* All but the root, which went with its uses: the last ones first, so that
 * none is read any more. */
static void erase_members(struct tn_rw *rw, const struct group *group)
{
	const struct member *member;
	struct tn_op *list[MAX_MEMBERS];
	int n = 0;

	for (member = group->first; member->op != group->root;
	     member = member->next)
		list[n++] = member->op;
	while (n-- > 0)
		tn_rw_erase(rw, list[n]);
}

static bool outline(struct fuser *f, struct group *group)
{
	struct tn_rw *rw = f->context->rw;
	struct tn_op *root = group->root, *call;

	if (group->members < 2 || !tn_rw_spend(rw, "fuse", root))
		return true;
	call = make_call(f, group);
	if (!call)
		return false;
	tn_graph_insert(root->block, call, root);
	if (!tn_graph_name(f->context->entry, call->out[0],
			   root->out[0]->name))
		return false;
	tn_rw_replace(rw, root, call->out);
	erase_members(rw, group);
	return !rw->failed;
}

enum tn_pass_result tn_pass_fuse(struct tn_pass_context *context)
{
	struct fuser f = { .context = context };
	bool good;
	size_t i;

	tn_arena_init(&f.arena);
	tn_vec_init(&f.groups, sizeof(struct group *), NULL);
	tn_map_init_ptr(&f.of);
	good = form_groups(&f, context->entry->body);
	for (i = f.groups.len; good && i-- > 0;)
		good = outline(&f, tn_vec_ptr(&f.groups, i));
	tn_vec_fini(&f.groups);
	tn_map_fini(&f.of);
	tn_arena_fini(&f.arena);
	if (!good) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return f.made ? TN_PASS_CHANGED : TN_PASS_SAME;
}
