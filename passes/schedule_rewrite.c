/*
 * Rewriting the expressions of a block in place.
 *
 * Expressions are shared and never change; a changed one is a new node, index
 * arithmetic goes through the makers and folds.
 */
#include "passes/schedule.h"

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

static const struct tn_kexpr *rewrite_expr(struct tn_rewrite *r,
					   const struct tn_kexpr *e)
{
	struct tn_arena *arena = &r->kernel->module->arena;
	const struct tn_kexpr **args;
	bool changed = false, is_branch;
	int i;

	if (e->nargs == 0)
		return r->change(r, e);
	args = tn_arena_array(arena, (size_t)e->nargs, sizeof *args);
	if (!args)
		return NULL;
	for (i = 0; i < e->nargs; i++) {
		is_branch = e->kind == TN_KEXPR_OP &&
			e->code == TN_OP_select && i > 0;
		r->nconditions += is_branch;
		args[i] = rewrite_expr(r, e->args[i]);
		r->nconditions -= is_branch;
		if (!args[i])
			return NULL;
		changed |= args[i] != e->args[i];
	}
	if (changed)
		e = remake(r->kernel, e, args);
	return e ? r->change(r, e) : NULL;
}

static bool rewrite_slot(struct tn_rewrite *r, const struct tn_kexpr **slot)
{
	const struct tn_kexpr *changed;

	if (!*slot)
		return true;
	changed = rewrite_expr(r, *slot);
	if (changed)
		*slot = changed;
	return changed != NULL;
}

static bool rewrite_index(struct tn_rewrite *r, struct tn_kstmt *s)
{
	const struct tn_kexpr **index;
	int i;

	if (s->nindex == 0)
		return true;
	index = tn_arena_copy(&r->kernel->module->arena, s->index,
			      (size_t)s->nindex * sizeof *index);
	if (!index)
		return false;
	for (i = 0; i < s->nindex; i++)
		if (!rewrite_slot(r, &index[i]))
			return false;
	s->index = index;
	return true;
}

bool tn_schedule_rewrite(struct tn_rewrite *r, struct tn_kblock *block)
{
	struct tn_kstmt *s;
	bool is_loop, is_if, good;

	for (s = block->first; s; s = s->next) {
		if (!rewrite_slot(r, &s->from) || !rewrite_slot(r, &s->to) ||
		    !rewrite_slot(r, &s->value) || !rewrite_index(r, s))
			return false;
		is_loop = s->kind == TN_KSTMT_LOOP;
		is_if = s->kind == TN_KSTMT_IF;
		if (is_loop && r->nloops == 64)
			return false;
		if (is_loop)
			r->loops[r->nloops++] = s;
		r->nconditions += is_if;
		good = tn_schedule_rewrite(r, &s->body) &&
			tn_schedule_rewrite(r, &s->orelse);
		r->nloops -= is_loop;
		r->nconditions -= is_if;
		if (!good)
			return false;
	}
	return true;
}
