/*
 * inline: bodies of functions and composites take the place of calls.
 *
 *   h = relu(z);            ->    h__1 = 0.0;  h = max(z, h__1);
 *
 * In: an entry whose calls go to plain functions and instances. Out: an entry
 * of primitives; other functions are dropped from the module, since nothing
 * calls them. Composites that the target claims stay calls. The callee's
 * declared sizes are bound to the argument's shapes at each call.
 */
#include "passes/pass.h"

#include <string.h>

enum tn_pass_result tn_pass_inline(struct tn_pass_context *context);

struct inliner {
	struct tn_pass_context *context;
	const struct tn_dim **dims;	/* by symbol number */
	struct tn_op *next;		/* where the walk goes on */
	int64_t count;
};

static bool is_kept(const struct inliner *in, const struct tn_op *op)
{
	const struct tn_target *target = in->context->target;

	if (op->code != TN_OP_call || op->callee->kind == TN_FN_FUSED)
		return true;
	return target && target->claims && op->callee->kind ==
		TN_FN_INSTANCE && target->claims(op->callee->name);
}

static bool bind_dims(struct inliner *in, const struct tn_op *op)
{
	struct tn_module *module = in->context->module;
	const struct tn_block *body = op->callee->body;
	const struct tn_type *param, *arg;
	int i, k;

	memset(in->dims, 0,
	       (size_t)module->dims.nsyms * sizeof *in->dims);
	for (i = 0; i < body->nparams; i++) {
		param = body->params[i]->type;
		arg = tn_graph_in(op, i)->type;
		for (k = 0; k < param->rank; k++)
			tn_dim_unify(&module->dims, param->dims[k],
				     arg->dims[k], in->dims);
	}
	return true;
}

/* Guards of the callee hold for the caller, with its sizes. */
static bool copy_guards(struct inliner *in, const struct tn_fn *callee)
{
	struct tn_dim_pool *pool = &in->context->module->dims;
	struct tn_fn *entry = in->context->entry;
	struct tn_guard *from, *to;
	size_t i;

	for (i = 0; i < callee->guards.len; i++) {
		from = tn_vec_at(&callee->guards, i);
		to = tn_vec_push(&entry->guards);
		if (!to)
			return false;
		*to = *from;
		to->a = tn_dim_subst(pool, from->a, in->dims);
		to->b = tn_dim_subst(pool, from->b, in->dims);
		if (!to->a || !to->b)
			return false;
	}
	return true;
}

static bool map_params(struct tn_map *map, const struct tn_op *op)
{
	const struct tn_block *body = op->callee->body;
	int i;

	for (i = 0; i < body->nparams; i++)
		if (!tn_map_set(map, body->params[i], tn_graph_in(op, i)))
			return false;
	return true;
}

/* The copied `return` names the results; then it goes. */
static bool finish(struct inliner *in, struct tn_op *op)
{
	struct tn_rw *rw = in->context->rw;
	struct tn_op *ret = op->prev;
	struct tn_value **with;
	int i;

	with = tn_arena_array(&rw->module->arena, (size_t)ret->nin + 1,
			      sizeof *with);
	if (!with)
		return false;
	for (i = 0; i < ret->nin; i++)
		with[i] = tn_graph_in(ret, i);
	tn_rw_erase(rw, ret);
	tn_rw_replace(rw, op, with);
	return !rw->failed;
}

static bool inline_call(struct inliner *in, struct tn_op *op)
{
	struct tn_rw *rw = in->context->rw;
	struct tn_block *block = op->block;
	struct tn_op *before = op->prev;
	struct tn_map map;
	bool good;

	if (!tn_rw_spend(rw, "inline", op)) {
		in->next = op->next;
		return true;
	}
	tn_map_init_ptr(&map);
	good = bind_dims(in, op) && map_params(&map, op) &&
		copy_guards(in, op->callee) &&
		tn_rw_clone(rw, op->callee->body, block, op, &map, in->dims);
	tn_map_fini(&map);
	if (!good || !finish(in, op))
		return false;
	in->count++;
	in->next = before ? before->next : block->first;
	return true;
}

static bool inline_block(struct inliner *in, struct tn_block *block)
{
	struct tn_op *op = block->first;
	int i;

	while (op) {
		if (is_kept(in, op)) {
			for (i = 0; i < op->nregions; i++)
				if (!inline_block(in, op->regions[i]))
					return false;
			op = op->next;
			continue;
		}
		if (!inline_call(in, op))
			return false;
		op = in->next;
	}
	return true;
}

/* Items of functions that nothing calls any more leave the module. */
static void drop_functions(struct tn_pass_context *context)
{
	struct tn_vec *items = &context->module->items;
	struct tn_item *item;
	size_t i, n = 0;

	for (i = 0; i < items->len; i++) {
		item = tn_vec_ptr(items, i);
		if (item->kind == TN_ITEM_FN &&
		    item->u.fn != context->entry &&
		    item->u.fn->kind == TN_FN_PLAIN)
			continue;
		*(struct tn_item **)tn_vec_at(items, n++) = item;
	}
	items->len = n;
}

enum tn_pass_result tn_pass_inline(struct tn_pass_context *context)
{
	struct inliner in = { .context = context };

	in.dims = tn_arena_array(&context->module->arena,
				 (size_t)context->module->dims.nsyms + 1,
				 sizeof *in.dims);
	if (!in.dims || !inline_block(&in, context->entry->body)) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	drop_functions(context);
	return in.count ? TN_PASS_CHANGED : TN_PASS_SAME;
}
