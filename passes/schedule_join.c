/*
 * join: neighbouring loops of equal bounds become one.
 *
 *   for i in 0..N { m[i] = .. }              for i in 0..N { m[i] = ..
 *   for k in 0..N { y[k] = x[k] - m[k]; } ->   y[i] = x[i] - m[i]; }
 *
 * In: loops that follow one another, with nothing but lets and allocs between;
 * these move up. The first may have twins (the pieces that split leaves), then
 * the second has as many, and piece joins piece, past the others. Legal if
 * what one of the loops writes and the other touches meets only in turns of
 * the same number, and if what is passed touches other elements.
 */
#include "passes/schedule.h"

struct joiner {
	const struct tn_step *step;
	struct tn_kstmt *first, *second;
	const char *name;	/* of the second */
};

static bool refuse_neighbours(const struct joiner *j)
{
	return tn_step_refuse(j->step, "'%s' is not followed by '%s'",
			      j->first->var->name, j->name);
}

/* ---- Where the second loop is, and what moves ---------------------------- */

static bool is_twin(const struct joiner *j, const struct tn_kstmt *s)
{
	return tn_kstmt_is_loop(s) && s != j->first &&
		s->var->name == j->first->var->name;
}

/* Behind the first, past lets, allocs and the first's twins. */
static bool find_second(struct joiner *j)
{
	struct tn_kstmt *s = j->first->next;

	while (s && (s->kind == TN_KSTMT_LET || s->kind == TN_KSTMT_ALLOC ||
		     is_twin(j, s)))
		s = s->next;
	if (!tn_kstmt_is_loop(s) || s->var->name != j->name)
		return refuse_neighbours(j);
	j->second = s;
	return true;
}

static bool same_bound(struct tn_dim_pool *pool, const struct tn_kexpr *a,
		       const struct tn_kexpr *b)
{
	const struct tn_dim *x = tn_kexpr_as_dim(pool, a);
	const struct tn_dim *y = tn_kexpr_as_dim(pool, b);

	return x || y ? x == y : tn_kexpr_equal(a, b) &&
		tn_kexpr_is_steady(a);
}

static bool fit_headers(const struct joiner *j)
{
	struct tn_dim_pool *pool = &j->step->kernel->module->dims;
	const struct tn_kstmt *a = j->first, *b = j->second;

	if (!same_bound(pool, a->from, b->from) ||
	    !same_bound(pool, a->to, b->to) || a->step != b->step)
		return tn_step_refuse(j->step, "'%s' and '%s' have different "
				      "bounds", a->var->name, b->var->name);
	if (a->loop != b->loop || a->bind != b->bind)
		return tn_step_refuse(j->step, "the loops are of two kinds");
	return true;
}

/* ---- Statements that are passed ------------------------------------------ */

/* Sets a variable of outside, a size, or waits. */
static bool is_ordered(void *data, const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_BARRIER || s->kind == TN_KSTMT_SIZE ||
		(s->kind == TN_KSTMT_SET && !tn_kblock_declares(data, s->var));
}

/* The second loop may stand before the twin. */
static bool may_pass(const struct joiner *j, struct tn_kstmt *twin)
{
	const struct tn_kbuf *where;

	if (tn_kblock_find(&twin->body, is_ordered, &twin->body) ||
	    tn_kblock_find(&j->second->body, is_ordered, &j->second->body))
		return tn_step_refuse(j->step, "the pieces of '%s' and '%s' "
				      "must keep their order",
				      twin->var->name, j->name);
	return tn_schedule_are_apart(j->step->kernel, twin, j->second, NULL,
				     &where) ||
		tn_step_refuse(j->step, "the pieces of '%s' and '%s' meet in "
			       "'%s'", twin->var->name, j->name,
			       where->name);
}

/* Reads what changes while the loops run. */
static bool changes(void *data, const struct tn_kexpr *e)
{
	const struct tn_kstmt *loop = data;

	if (e->kind == TN_KEXPR_VAR)
		return e->var->is_mutable;
	return e->kind == TN_KEXPR_LOAD &&
		tn_kblock_touches(&loop->body, e->buf);
}

static bool is_declared(void *data, const struct tn_kstmt *s)
{
	return tn_schedule_declares(s, data);
}

/* A let or alloc goes before the first loop and the twins. */
static bool may_rise(const struct joiner *j, struct tn_kstmt *s)
{
	const char *name = s->kind == TN_KSTMT_ALLOC ? s->buf->name :
		s->var->name;
	const struct tn_kstmt *at;

	for (at = j->first; at != s; at = at->next) {
		if (!tn_kstmt_is_loop(at))
			continue;
		if (s->kind == TN_KSTMT_LET &&
		    tn_kexpr_find(s->value, changes, (void *)(uintptr_t)at))
			return tn_step_refuse(j->step, "'%s' stands between "
				"and depends on '%s'", name, at->var->name);
		if (tn_schedule_declares(at, name) ||
		    tn_kblock_find(&at->body, is_declared,
				   (void *)(uintptr_t)name))
			return tn_step_refuse(j->step, "'%s' stands between, "
				"and '%s' holds one of that name", name,
				at->var->name);
	}
	return true;
}

/* Whatever stands between the loops may be passed, or moves up. */
static bool clear_way(const struct joiner *j)
{
	struct tn_kstmt *s, *next;

	for (s = j->first->next; s != j->second; s = s->next)
		if (is_twin(j, s) ? !may_pass(j, s) : !may_rise(j, s))
			return false;
	for (s = j->first->next; s != j->second; s = next) {
		next = s->next;
		if (tn_kstmt_is_loop(s))
			continue;
		tn_kstmt_remove(s);
		tn_kstmt_insert(j->first->parent, s, j->first);
	}
	return true;
}

/* ---- Joining ------------------------------------------------------------- */

struct renaming {
	const struct tn_step *step;
	const char *name;
	bool failed;
};

/* Another name for what is declared under this one. */
static void rename_twin(void *data, const struct tn_kstmt *s)
{
	struct renaming *r = data;
	const char *fresh;

	if (!tn_schedule_declares(s, r->name))
		return;
	fresh = tn_step_fresh(r->step, r->name);
	if (!fresh)
		r->failed = true;
	else if (s->kind == TN_KSTMT_ALLOC)
		s->buf->name = fresh;
	else
		s->var->name = fresh;
}

/* A name that the body declares stands for one thing in what is added. */
static bool part_names(const struct joiner *j, const struct tn_kblock *added)
{
	struct renaming r = { j->step, NULL, false };
	struct tn_kvisitor visitor = { NULL, rename_twin, &r };
	const struct tn_kstmt *s;

	for (s = j->first->body.first; s; s = s->next) {
		if (s->kind != TN_KSTMT_LET && s->kind != TN_KSTMT_ALLOC)
			continue;
		r.name = s->kind == TN_KSTMT_LET ? s->var->name :
			s->buf->name;
		tn_kblock_visit(added, &visitor);
	}
	if (r.failed)
		j->step->kernel->module->failed = true;
	return !r.failed;
}

/* The loop for both: as free as both are, for threads from the fewer turns. */
static void merge_headers(struct joiner *j, bool independent)
{
	if (j->second->min < j->first->min)
		j->first->min = j->second->min;
	j->first->is_independent = independent;
}

static bool refuse_meeting(const struct joiner *j, const struct tn_kbuf *where)
{
	if (where)
		return tn_step_refuse(j->step, "turns of '%s' and '%s' meet "
				      "in '%s'", j->first->var->name, j->name,
				      where->name);
	return tn_step_refuse(j->step, "'%s' and '%s' must run one after the "
			      "other", j->first->var->name, j->name);
}

static bool merge(struct joiner *j)
{
	struct tn_kernel *k = j->step->kernel;
	struct tn_kblock added = { NULL, NULL };
	const struct tn_kbuf *where;
	struct tn_kstmt *s;
	bool independent;

	independent = tn_schedule_is_independent(k->module, j->first) &&
		tn_schedule_is_independent(k->module, j->second);
	if (!tn_kblock_clone(k, &j->second->body, &added, j->second->var,
			     tn_kexpr_var(k, j->first->var)))
		return false;
	if (!tn_schedule_may_join(k->module, j->first, &added, &where))
		return refuse_meeting(j, where);
	if (!part_names(j, &added))
		return false;
	merge_headers(j, independent);
	while ((s = added.first)) {
		tn_kstmt_remove(s);
		tn_kstmt_insert(&j->first->body, s, NULL);
	}
	tn_kstmt_remove(j->second);
	return true;
}

static bool join_loop(const struct tn_step *step, struct tn_kstmt *loop)
{
	struct joiner j = { step, loop, NULL, NULL };
	int i, n = tn_step_positional(step);

	for (i = 1; i < n; i++) {
		j.name = step->args[i];
		if (!find_second(&j) || !fit_headers(&j) || !clear_way(&j) ||
		    !merge(&j))
			return false;
	}
	return true;
}

bool tn_step_join(const struct tn_step *step)
{
	return tn_step_names_once(step, 0) &&
		tn_step_each(step, 0, join_loop);
}
