/*
 * Changing expressions of kernels, in a block in place.
 */
#include "ir/kernel_map.h"
#include "ir/kernel_walk.h"

static const struct tn_kexpr *remake(struct tn_kernel *k,
				     const struct tn_kexpr *e,
				     const struct tn_kexpr **args)
{
	struct tn_kexpr *node;

	if (e->is_index && e->nargs == 2) {
		if (e->code == TN_OP_add)
			return tn_kexpr_add(k, args[0], args[1]);
		if (e->code == TN_OP_sub)
			return tn_kexpr_sub(k, args[0], args[1]);
		if (e->code == TN_OP_mul)
			return tn_kexpr_mul(k, args[0], args[1]);
		if (e->code == TN_OP_fdiv)
			return tn_kexpr_fdiv(k, args[0], args[1]);
		if (e->code == TN_OP_mod)
			return tn_kexpr_mod(k, args[0], args[1]);
	}
	node = tn_arena_copy(&k->module->arena, e, sizeof *e);
	if (node)
		node->args = args;
	return node;
}

const struct tn_kexpr *tn_kexpr_map(struct tn_kmap *map,
				    const struct tn_kexpr *e)
{
	struct tn_arena *arena = &map->kernel->module->arena;
	const struct tn_kexpr **args;
	bool changed = false, is_branch;
	int i;

	if (e->nargs == 0)
		return map->change(map, e);
	args = tn_arena_array(arena, (size_t)e->nargs, sizeof *args);
	if (!args)
		return NULL;
	for (i = 0; i < e->nargs; i++) {
		is_branch = tn_kexpr_is_branch(e, i);
		map->nconditions += is_branch;
		args[i] = tn_kexpr_map(map, e->args[i]);
		map->nconditions -= is_branch;
		if (!args[i])
			return NULL;
		changed |= args[i] != e->args[i];
	}
	if (changed)
		e = remake(map->kernel, e, args);
	return e ? map->change(map, e) : NULL;
}

static bool map_slot(struct tn_kmap *map, const struct tn_kexpr **slot)
{
	const struct tn_kexpr *changed;

	if (!*slot)
		return true;
	changed = tn_kexpr_map(map, *slot);
	if (changed)
		*slot = changed;
	return changed != NULL;
}

static bool map_index(struct tn_kmap *map, struct tn_kstmt *s)
{
	const struct tn_kexpr **index;
	int i;

	if (s->nindex == 0)
		return true;
	index = tn_arena_copy(&map->kernel->module->arena, s->index,
			      (size_t)s->nindex * sizeof *index);
	if (!index)
		return false;
	for (i = 0; i < s->nindex; i++)
		if (!map_slot(map, &index[i]))
			return false;
	s->index = index;
	return true;
}

bool tn_kstmt_map(struct tn_kmap *map, struct tn_kstmt *s)
{
	return map_slot(map, &s->from) && map_slot(map, &s->to) &&
		map_slot(map, &s->value) && map_index(map, s);
}

bool tn_kblock_map(struct tn_kmap *map, struct tn_kblock *block)
{
	struct tn_kstmt *s;
	bool is_loop, is_if, good;

	for (s = block->first; s; s = s->next) {
		if (!tn_kstmt_map(map, s))
			return false;
		is_loop = s->kind == TN_KSTMT_LOOP;
		is_if = s->kind == TN_KSTMT_IF;
		if (is_loop && map->nloops == TN_KMAP_LOOPS)
			return false;
		if (is_loop)
			map->loops[map->nloops++] = s;
		map->nconditions += is_if;
		good = tn_kblock_map(map, &s->body) &&
			tn_kblock_map(map, &s->orelse);
		map->nloops -= is_loop;
		map->nconditions -= is_if;
		if (!good)
			return false;
	}
	return true;
}
