/*
 * The rewriter: weights that functions make of other weights.
 */
#include <string.h>

#include "ir/graph_edit.h"
#include "ir/rewrite.h"

/* Values of a function may not hide a weight. */
static bool is_in_use(const struct tn_module *module, const char *name)
{
	const struct tn_item *item;
	size_t i;

	if (tn_map_has(&module->fn_names, name) ||
	    tn_map_has(&module->weight_names, name) ||
	    tn_map_has(&module->dim_names, name))
		return true;
	for (i = 0; i < module->items.len; i++) {
		item = tn_vec_ptr(&module->items, i);
		if ((item->name && !strcmp(item->name, name)) ||
		    (item->kind == TN_ITEM_FN &&
		     tn_map_find(&item->u.fn->names, name)))
			return true;
	}
	return false;
}

/* FN__NAME, or FN__NAME__n. */
static const char *make_name(struct tn_module *module, const char *fn,
			     const char *base)
{
	const char *name = tn_arena_printf(&module->arena, "%s__%s", fn, base);
	int number;

	for (number = 1; name && is_in_use(module, name); number++)
		name = tn_arena_printf(&module->arena, "%s__%s__%d", fn, base,
				       number);
	return name;
}

/* Behind the last weight: what it is made of stands before it. A module
 * without items shows weights in their order. */
static bool enter_item(struct tn_module *module, struct tn_weight *weight)
{
	struct tn_vec *items = &module->items;
	struct tn_item *item, **list;
	size_t at = items->len;

	while (at > 0 && ((struct tn_item *)tn_vec_ptr(items, at - 1))->kind !=
	       TN_ITEM_WEIGHT)
		at--;
	if (at == 0)
		return true;
	item = tn_arena_alloc(&module->arena, sizeof(*item));
	if (!item || !tn_vec_push_ptr(items, item))
		return false;
	list = items->data;
	memmove(list + at + 1, list + at,
		(items->len - 1 - at) * sizeof(*list));
	list[at] = item;
	item->kind = TN_ITEM_WEIGHT;
	item->name = weight->name;
	item->span = weight->span;
	item->u.weight = weight;
	return true;
}

struct tn_value *tn_rw_weight(struct tn_rw *rw, const struct tn_value *like,
			      struct tn_fn *maker,
			      struct tn_weight *const *sources)
{
	struct tn_module *module = rw->module;
	struct tn_weight *weight = NULL;
	const char *name;

	name = make_name(module, like->op->block->fn->name, like->name);
	if (name)
		weight = tn_graph_weight(module, name, like->type, like->span);
	if (weight && tn_graph_derive(weight, maker, sources) &&
	    enter_item(module, weight))
		return weight->value;
	rw->failed = true;
	return NULL;
}
