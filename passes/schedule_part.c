/*
 * part: a loop becomes several, one behind the other, each with a part of the
 * body; the reverse of join.
 *
 *   for i in 0..32 {                      alloc t__i: f32[32, 768] @stack;
 *     alloc t: f32[768] @stack;           for i__0 in 0..32 { for j {
 *     for j { t[j] = .. }              ->   t[i__0, j] = .. } }
 *     for k { y[i, k] = .. t[..] .. }     for i__1 in 0..32 { for k {
 *   }                                       y[i__1, k] = .. t[i__1, ..] } }
 *
 * In: a loop of independent turns; its turns may then run in any order, and
 * so may what they hold as long as each keeps its own order. A name of the
 * body that is made of what the loop does not change is made again in each
 * part; statements that share any other name stay together. A buffer of the
 * body that several parts use gets an axis for the turns.
 */
#include "passes/schedule.h"

#include <stdio.h>

/* Most parts: their names end in a number. */
#define MOST_PARTS 64

struct parter {
	const struct tn_step *step;
	struct tn_kstmt *loop;
	struct tn_map names;	/* what each part makes again: var -> its let */
	struct tn_kblock lets;	/* these, in their order */
	struct tn_kblock allocs;
	int n;
	struct tn_kblock parts[MOST_PARTS];
};

/* ---- What a statement uses ----------------------------------------------- */

struct use {
	const void *what;	/* a variable or a buffer */
	bool found;
};

static bool is_use(void *data, const struct tn_kexpr *e)
{
	const struct use *use = data;

	return (e->kind == TN_KEXPR_VAR && e->var == use->what) ||
		(e->kind == TN_KEXPR_LOAD && e->buf == use->what);
}

static void note_use(void *data, const struct tn_kstmt *s)
{
	struct use *use = data;

	if ((s->kind == TN_KSTMT_SET && s->var == use->what) ||
	    (s->kind == TN_KSTMT_STORE && s->buf == use->what) ||
	    tn_kstmt_find_expr(s, is_use, use))
		use->found = true;
}

static bool uses(const struct tn_kstmt *s, const void *what)
{
	struct use use = { what, false };
	struct tn_kvisitor visitor = { NULL, note_use, &use };

	tn_kstmt_visit(s, &visitor);
	return use.found;
}

static bool block_uses(const struct tn_kblock *block, const void *what)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		if (uses(s, what))
			return true;
	return false;
}

/* ---- The parts ----------------------------------------------------------- */

/* Reads what the body may change, or a name that is not made again. */
static bool is_tied(void *data, const struct tn_kexpr *e)
{
	const struct parter *p = data;

	if (e->kind == TN_KEXPR_LOAD)
		return tn_kblock_touches(&p->loop->body, e->buf) ||
			tn_kblock_touches(&p->allocs, e->buf);
	return e->kind == TN_KEXPR_VAR &&
		(e->var->is_mutable ||
		 (tn_kblock_declares(&p->loop->body, e->var) &&
		  !tn_map_has(&p->names, e->var)));
}

static void move(struct tn_kblock *to, struct tn_kstmt *s)
{
	tn_kstmt_remove(s);
	tn_kstmt_insert(to, s, NULL);
}

/* Takes what belongs to no part out of the body. */
static bool take_names(struct parter *p)
{
	struct tn_kstmt *s, *next;

	for (s = p->loop->body.first; s; s = next) {
		next = s->next;
		if (s->kind != TN_KSTMT_LET || s->var->is_mutable ||
		    tn_kexpr_find(s->value, is_tied, p))
			continue;
		if (!tn_map_set(&p->names, s->var, s)) {
			p->step->kernel->module->failed = true;
			return false;
		}
	}
	for (s = p->loop->body.first; s; s = next) {
		next = s->next;
		if (s->kind == TN_KSTMT_ALLOC)
			move(&p->allocs, s);
		else if (s->kind == TN_KSTMT_LET &&
			 tn_map_has(&p->names, s->var))
			move(&p->lets, s);
	}
	return true;
}

/* The last statement that uses the name of `s`, or `last` if that is further
 * down; NULL: there is none yet. */
static struct tn_kstmt *last_use(struct tn_kstmt *s, struct tn_kstmt *last)
{
	struct tn_kstmt *at;
	bool behind = !last;

	for (at = s; at; at = at->next) {
		if (behind && (at == s || uses(at, s->var)))
			last = at;
		behind = behind || at == last;
	}
	return last;
}

/* Cuts the body where no name lives. */
static bool cut(struct parter *p)
{
	struct tn_kstmt *s, *next, *last = NULL;

	for (s = p->loop->body.first; s; s = next) {
		next = s->next;
		if (!last && p->n == MOST_PARTS)
			return tn_step_refuse(p->step, "it has more than %d "
					      "parts", MOST_PARTS);
		p->n += !last;
		if (s->kind == TN_KSTMT_LET)
			last = last_use(s, last);
		if (last == s)
			last = NULL;
		move(&p->parts[p->n - 1], s);
	}
	return p->n > 1 ||
		tn_step_refuse(p->step, "its body is one part");
}

/* ---- Buffers that parts share -------------------------------------------- */

struct widening {
	struct tn_kbuf *old, *wide;
	const struct tn_kexpr *turn;
};

static const struct tn_kexpr *const *wide_index(struct tn_kernel *k,
						const struct widening *w,
						int n,
						const struct tn_kexpr *const *in)
{
	const struct tn_kexpr **index;
	int i;

	index = tn_arena_array(&k->module->arena, (size_t)n + 1,
			       sizeof *index);
	if (!index)
		return NULL;
	index[0] = w->turn;
	for (i = 0; i < n; i++)
		index[i + 1] = in[i];
	return index;
}

static const struct tn_kexpr *widen_load(struct tn_kmap *map,
					 const struct tn_kexpr *e)
{
	const struct widening *w = map->data;
	const struct tn_kexpr *const *index;

	if (e->kind != TN_KEXPR_LOAD || e->buf != w->old)
		return e;
	index = wide_index(map->kernel, w, e->nargs, e->args);
	return index ? tn_kexpr_load(map->kernel, w->wide, e->nargs + 1,
				     index) : NULL;
}

static bool widen_stores(struct tn_kernel *k, const struct widening *w,
			 struct tn_kblock *block)
{
	struct tn_kstmt *s;

	for (s = block->first; s; s = s->next) {
		if (!widen_stores(k, w, &s->body) ||
		    !widen_stores(k, w, &s->orelse))
			return false;
		if (s->kind != TN_KSTMT_STORE || s->buf != w->old)
			continue;
		s->index = wide_index(k, w, s->nindex, s->index);
		s->nindex++;
		s->buf = w->wide;
		if (!s->index)
			return false;
	}
	return true;
}

/* The buffer with an axis of all turns in front. */
static struct tn_kbuf *make_wide(const struct parter *p,
				 const struct tn_kbuf *old)
{
	struct tn_kernel *k = p->step->kernel;
	const struct tn_dim *dims[TN_MAX_RANK];
	int64_t turns = tn_kloop_most(p->loop);
	struct tn_kbuf *wide;
	int i;

	if (old->rank + 1 > TN_MAX_RANK || turns == INT64_MAX) {
		tn_step_refuse(p->step, "the turns have no largest number, or "
			       "'%s' too many axes", old->name);
		return NULL;
	}
	dims[0] = tn_dim_const(&k->module->dims, turns);
	for (i = 0; i < old->rank; i++)
		dims[i + 1] = old->dims[i];
	wide = dims[0] ? tn_kernel_local(k, old->name, old->dtype,
					 old->rank + 1, dims, TN_SPACE_STACK)
		: NULL;
	if (wide && !tn_kbuf_fits(wide)) {
		tn_step_refuse(p->step, "'%s' is too large for all turns",
			       old->name);
		return NULL;
	}
	return wide;
}

static bool widen(struct parter *p, struct tn_kstmt *alloc)
{
	struct tn_kernel *k = p->step->kernel;
	struct widening w = { alloc->buf, make_wide(p, alloc->buf), NULL };
	struct tn_kmap map = { .kernel = k, .change = widen_load,
			       .data = &w };
	int i;

	w.turn = tn_kexpr_sub(k, tn_kexpr_var(k, p->loop->var),
			      p->loop->from);
	if (!w.wide || !w.turn)
		return false;
	for (i = 0; i < p->n; i++)
		if (!tn_kblock_map(&map, &p->parts[i]) ||
		    !widen_stores(k, &w, &p->parts[i]))
			return false;
	alloc->buf = w.wide;
	return true;
}

/* A buffer of one part goes with it, of several before the loops. */
static bool place_allocs(struct parter *p)
{
	struct tn_kstmt *s, *next;
	int i, first, n;

	for (s = p->allocs.first; s; s = next) {
		next = s->next;
		for (first = n = i = 0; i < p->n; i++)
			if (block_uses(&p->parts[i], s->buf))
				first = n++ ? first : i;
		tn_kstmt_remove(s);
		if (n == 1) {
			tn_kstmt_insert(&p->parts[first], s,
					p->parts[first].first);
			continue;
		}
		if (n > 1 && !widen(p, s))
			return false;
		if (n > 1)
			tn_kstmt_insert(p->loop->parent, s, p->loop);
	}
	return true;
}

/* ---- The loops ----------------------------------------------------------- */

/* Copies of the names that nothing in the part uses go away. */
static void drop_unused(struct tn_kblock *block, int names)
{
	struct tn_kstmt *s = block->first, *at, *prev;
	bool used;
	int i;

	for (i = 1; i < names; i++)
		s = s->next;
	for (; names > 0; names--, s = prev) {
		prev = s->prev;
		used = false;
		for (at = s->next; at && !used; at = at->next)
			used = uses(at, s->var);
		if (!used)
			tn_kstmt_remove(s);
	}
}

/* Loop number i, with the names that it uses. */
static bool make_loop(struct parter *p, int i)
{
	struct tn_kernel *k = p->step->kernel;
	struct tn_kstmt *loop, *s, *last = p->lets.last;
	struct tn_kvar *var;
	char suffix[16];
	int names = 0;

	(void)snprintf(suffix, sizeof suffix, "%d", i);
	var = tn_step_derive(p->step, p->loop->var, suffix);
	loop = var ? tn_kstmt_loop(k, p->loop->parent, p->loop->loop, var,
				   p->loop->from, p->loop->to) : NULL;
	if (!loop)
		return false;
	loop->step = p->loop->step;
	loop->is_independent = true;
	for (s = p->lets.first; s; s = s->next)
		names++;
	tn_kstmt_remove(loop);
	tn_kstmt_insert(p->loop->parent, loop, p->loop);
	while ((s = p->parts[i].first))
		move(&p->lets, s);
	if (!tn_kblock_clone(k, &p->lets, &loop->body, p->loop->var,
			     tn_kexpr_var(k, var)))
		return false;
	drop_unused(&loop->body, names);
	while (p->lets.last != last)
		tn_kstmt_remove(p->lets.last);
	return true;
}

static bool apply(struct parter *p)
{
	int i;

	if (!take_names(p) || !cut(p) || !place_allocs(p))
		return false;
	for (i = 0; i < p->n; i++)
		if (!make_loop(p, i))
			return false;
	tn_kstmt_remove(p->loop);
	return true;
}

static bool part_loop(const struct tn_step *step, struct tn_kstmt *loop)
{
	struct parter p = { .step = step, .loop = loop };
	bool good;

	if (loop->loop != TN_LOOP_FOR)
		return tn_step_refuse(step, "'%s' is par, vec or unroll "
				      "already: part first", loop->var->name);
	if (!tn_schedule_is_independent(step->kernel->module, loop))
		return tn_step_refuse(step, "the turns of '%s' depend on one "
				      "another", loop->var->name);
	tn_map_init_ptr(&p.names);
	good = apply(&p);
	tn_map_fini(&p.names);
	return good;
}

bool tn_step_part(const struct tn_step *step)
{
	char suffix[16];
	int i;

	for (i = 0; i < MOST_PARTS; i++) {
		(void)snprintf(suffix, sizeof suffix, "%d", i);
		if (!tn_step_may_derive(step, step->args[0], suffix))
			return false;
	}
	return tn_step_each(step, 0, part_loop);
}
