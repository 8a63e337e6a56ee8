/*
 * Modules: what owns everything, its entry, and the list of its items.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/graph.h"
#include "ir/tensor.h"

static void init_tables(struct tn_module *module)
{
	tn_map_init_ptr(&module->types);
	tn_map_init_text(&module->layouts);
	tn_map_init_text(&module->fn_names);
	tn_map_init_text(&module->dim_names);
	tn_map_init_text(&module->weight_names);
	tn_vec_init(&module->items, sizeof(struct tn_item *), NULL);
	tn_vec_init(&module->fns, sizeof(struct tn_fn *), NULL);
	tn_vec_init(&module->weights, sizeof(struct tn_weight *), NULL);
	tn_vec_init(&module->kernels, sizeof(struct tn_kernel *), NULL);
}

struct tn_module *tn_module_new(struct tn_intern *names, struct tn_sink *sink)
{
	struct tn_module *module = calloc(1, sizeof(*module));

	if (!module)
		return NULL;
	tn_arena_init(&module->arena);
	module->names = names;
	module->sink = sink;
	init_tables(module);
	if (tn_dim_pool_init(&module->dims, &module->arena))
		module->poison = tn_type_get(module, TN_POISON, 0, NULL);
	if (!module->poison) {
		tn_module_free(module);
		return NULL;
	}
	return module;
}

void tn_module_free(struct tn_module *module)
{
	size_t i;

	if (!module)
		return;
	for (i = 0; i < module->weights.len; i++) {
		struct tn_weight *weight = tn_vec_ptr(&module->weights, i);

		tn_tensor_fini(&weight->data);
	}
	for (i = 0; i < module->fns.len; i++) {
		struct tn_fn *fn = tn_vec_ptr(&module->fns, i);

		tn_map_fini(&fn->names);
		tn_map_fini(&fn->name_counts);
	}
	tn_vec_fini(&module->items);
	tn_vec_fini(&module->fns);
	tn_vec_fini(&module->weights);
	tn_vec_fini(&module->kernels);
	tn_map_fini(&module->types);
	tn_map_fini(&module->layouts);
	tn_map_fini(&module->fn_names);
	tn_map_fini(&module->dim_names);
	tn_map_fini(&module->weight_names);
	tn_dim_pool_fini(&module->dims);
	tn_arena_fini(&module->arena);
	free(module);
}

bool tn_module_may_enter(const struct tn_fn *fn)
{
	return fn->kind == TN_FN_PLAIN && !fn->is_library &&
		!fn->makes_weight;
}

/* Counts a candidate: *entry is `main`, else the first; false once it is
 * certain. */
static bool consider(struct tn_fn *fn, struct tn_fn **entry, int *count)
{
	bool is_main = strcmp(fn->name, "main") == 0;

	if (tn_module_may_enter(fn) && (is_main || !(*count)++))
		*entry = fn;
	return !(tn_module_may_enter(fn) && is_main);
}

/* Functions that left the items (all was inlined) do not count. */
struct tn_fn *tn_module_entry(const struct tn_module *module,
			      const char *name)
{
	struct tn_fn *entry = NULL;
	int count = 0;
	bool listed;
	size_t i;

	if (name)
		return tn_map_find(&module->fn_names, name);
	for (i = 0; i < module->items.len; i++) {
		const struct tn_item *item = tn_vec_ptr(&module->items, i);

		if (item->kind == TN_ITEM_FN &&
		    !consider(item->u.fn, &entry, &count))
			return entry;
	}
	listed = entry != NULL;
	for (i = 0; !listed && i < module->fns.len; i++)
		if (!consider(tn_vec_ptr(&module->fns, i), &entry, &count))
			return entry;
	return count == 1 ? entry : NULL;
}

/* ---- The list of items ----------------------------------------------- */

static bool is_hidden(const struct tn_item *item)
{
	const struct tn_fn *fn;

	if (item->kind != TN_ITEM_FN)
		return false;
	fn = item->u.fn;
	return fn->is_library || fn->kind == TN_FN_INSTANCE;
}

/* What the item stands for, to know it again. */
static const void *key_of(const struct tn_item *item)
{
	switch (item->kind) {
	case TN_ITEM_DIM:
		return item->u.dim;
	case TN_ITEM_WEIGHT:
		return item->u.weight;
	case TN_ITEM_FN:
		return item->u.fn;
	case TN_ITEM_KERNEL:
		return item->u.kernel;
	case TN_ITEM_TEXT:
		break;
	}
	return item;
}

static bool add_item(struct tn_vec *list, struct tn_map *seen,
		     const struct tn_item *item)
{
	struct tn_item *copy;

	if (is_hidden(item) || tn_map_has(seen, key_of(item)))
		return true;
	copy = tn_vec_push(list);
	if (!copy)
		return false;
	*copy = *item;
	return tn_map_set(seen, key_of(item), list);
}

static bool add_items(const struct tn_module *module, struct tn_vec *list,
		      struct tn_map *seen)
{
	size_t i;

	for (i = 0; i < module->items.len; i++)
		if (!add_item(list, seen, tn_vec_ptr(&module->items, i)))
			return false;
	for (i = 0; i < module->weights.len; i++) {
		struct tn_weight *weight = tn_vec_ptr(&module->weights, i);
		struct tn_item item = {.kind = TN_ITEM_WEIGHT,
				       .name = weight->name,
				       .u.weight = weight};

		if (!add_item(list, seen, &item))
			return false;
	}
	for (i = 0; i < module->kernels.len; i++) {
		struct tn_item item = {.kind = TN_ITEM_KERNEL};

		item.u.kernel = tn_vec_ptr(&module->kernels, i);
		if (!add_item(list, seen, &item))
			return false;
	}
	return true;
}

bool tn_module_list(const struct tn_module *module, struct tn_vec *list)
{
	struct tn_map seen;
	bool ok;

	tn_map_init_ptr(&seen);
	ok = add_items(module, list, &seen);
	tn_map_fini(&seen);
	return ok;
}
