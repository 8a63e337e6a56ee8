/*
 * shrink: a buffer of the workspace becomes what one turn touches of it.
 *
 *   alloc d: f32[N, 768] @arena;         for i in 0..N {
 *   for i in 0..N {                        alloc d: f32[768] @stack;
 *     for j { d[i, j] = .. }         ->    for j { d[j] = .. }
 *     for k { .. d[i, k] .. } }            for k { .. d[k] .. } }
 *
 * In: a buffer all of whose accesses lie in one loop, or in one loop of that
 * loop, and so on. It moves into the innermost of them whose turns, as those of
 * all around it, touch elements of their own: then what a turn reads it has
 * written itself. Of every index what these loops add goes away: the axis, or
 * all but a window of it (i__0 * 8 + i__1 leaves i__1). An extent that only run
 * time knows becomes the largest that it may be. Pieces of a loop, side by
 * side, get a buffer each.
 */
#include "passes/schedule.h"

#include <string.h>

#include "base/num.h"

struct access {
	int n;
	const struct tn_kexpr *const *index;
};

struct shrinker {
	const struct tn_step *step;
	struct tn_kstmt *alloc;
	struct tn_kbuf *buf, *small;
	enum tn_kspace space;
	bool is_given;		/* the space was asked for */
	int nchain;
	struct tn_kstmt *chain[TN_KMAP_LOOPS];	/* around all accesses */
	int depth;		/* of these, whose turns are told apart */
	struct tn_vec accesses;	/* struct access */
	struct tn_map loops;	/* loop variable -> its loop */
	int rank;
	bool gone[TN_MAX_RANK];
	bool cut[TN_MAX_RANK];	/* what the chain adds goes away */
	const struct tn_dim *dims[TN_MAX_RANK];
	bool failed;		/* out of memory */
};

/* ---- Where it is used ---------------------------------------------------- */

static void note_access(struct shrinker *s, int n,
			const struct tn_kexpr *const *index)
{
	struct access *access = tn_vec_push(&s->accesses);

	if (!access) {
		s->failed = true;
		return;
	}
	access->n = n;
	access->index = index;
}

static void note_load(void *data, const struct tn_kexpr *e)
{
	struct shrinker *s = data;

	if (e->kind == TN_KEXPR_LOAD && e->buf == s->buf)
		note_access(s, e->nargs, e->args);
}

static void note_stmt(void *data, const struct tn_kstmt *st)
{
	struct shrinker *s = data;

	if (st->kind == TN_KSTMT_STORE && st->buf == s->buf)
		note_access(s, st->nindex, st->index);
	if (st->kind == TN_KSTMT_LOOP &&
	    !tn_map_set(&s->loops, st->var, (void *)(uintptr_t)st))
		s->failed = true;
}

static bool is_load(void *data, const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_LOAD && e->buf == data;
}

static bool is_store(void *data, const struct tn_kstmt *st)
{
	return (st->kind == TN_KSTMT_STORE && st->buf == data) ||
		tn_kstmt_find_expr(st, is_load, data);
}

/* The only statement of the block that uses the buffer, if it is a loop. */
static struct tn_kstmt *loop_of(struct shrinker *s,
				const struct tn_kblock *block)
{
	struct tn_kstmt *st, *only = NULL;

	for (st = block->first; st; st = st->next) {
		if (!is_store(s->buf, st) &&
		    !tn_kblock_find(&st->body, is_store, s->buf) &&
		    !tn_kblock_find(&st->orelse, is_store, s->buf))
			continue;
		if (only || !tn_kstmt_is_loop(st) || is_store(s->buf, st))
			return NULL;
		only = st;
	}
	return only;
}

static bool find_chain(struct shrinker *s)
{
	struct tn_kvisitor visitor = { note_load, note_stmt, s };
	const struct tn_kblock *block = s->alloc->parent;
	struct tn_kstmt *loop;

	while (s->nchain < TN_KMAP_LOOPS && (loop = loop_of(s, block))) {
		s->chain[s->nchain++] = loop;
		block = &loop->body;
	}
	if (!s->nchain)
		return tn_step_refuse(s->step, "its uses do not lie in one "
				      "loop");
	tn_kblock_visit(s->alloc->parent, &visitor);
	while (s->depth < s->nchain &&
	       tn_schedule_is_private(s->step->kernel->module, s->chain[0],
				      s->chain[s->depth], s->buf))
		s->depth++;
	return s->depth > 0 ||
		tn_step_refuse(s->step, "turns of '%s' share elements of it",
			       s->chain[0]->var->name);
}

/* ---- What is left of an axis --------------------------------------------- */

static bool is_outer(const struct shrinker *s, const struct tn_kvar *var)
{
	int i;

	for (i = 0; i < s->depth; i++)
		if (s->chain[i]->var == var)
			return true;
	return false;
}

static bool reads_outer(void *data, const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_VAR && is_outer(data, e->var);
}

/* The index without what the chain adds, which is put in *outer; false: it is
 * no such sum. */
static bool take_apart(struct shrinker *s, const struct tn_kexpr *index,
		       struct tn_affine *inner, struct tn_affine *outer)
{
	struct tn_dim_pool *pool = &s->step->kernel->module->dims;
	struct tn_affine_scope scope = { pool, NULL, NULL };
	int i;

	if (!tn_affine_make(&scope, index, inner))
		return false;
	tn_affine_dim(inner->base, outer);
	inner->base = tn_dim_const(pool, 0);
	for (i = 0; i < inner->n; i++) {
		if (!tn_kexpr_find(inner->terms[i].of, reads_outer, s))
			continue;
		if (inner->terms[i].of->kind != TN_KEXPR_VAR)
			return false;
		outer->terms[outer->n++] = inner->terms[i];
		tn_affine_drop(inner, i--);
	}
	return inner->base != NULL;
}

static bool same_sum(const struct tn_affine *a, const struct tn_affine *b)
{
	int i, at;

	if (a->base != b->base || a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		at = tn_affine_find(b, a->terms[i].of);
		if (at < 0 || b->terms[at].coef != a->terms[i].coef)
			return false;
	}
	return true;
}

/* Values from 0 to below *extent; false: they may be others. */
static bool bound(const struct shrinker *s, const struct tn_affine *sum,
		  int64_t *extent)
{
	const struct tn_kstmt *loop;
	int64_t from, to, unused, most;
	int i;

	*extent = 1;
	for (i = 0; i < sum->n; i++) {
		loop = sum->terms[i].of->kind == TN_KEXPR_VAR ?
			tn_map_find(&s->loops, sum->terms[i].of->var) : NULL;
		if (!loop || !tn_dim_is_const(sum->terms[i].coef) ||
		    sum->terms[i].coef->value < 0)
			return false;
		tn_kexpr_bounds(loop->from, &from, &unused);
		tn_kexpr_bounds(loop->to, &unused, &to);
		if (from < 0 || to == INT64_MAX)
			return false;
		to = to > 0 ? to - 1 : 0;
		if (!tn_num_mul(to, sum->terms[i].coef->value, &most) ||
		    !tn_num_add(*extent, most, extent))
			return false;
	}
	return true;
}

/* True if what the chain adds to the axis is the same in all accesses and
 * leaves a window; *extent is the window's. */
static bool find_window(struct shrinker *s, int axis, int64_t *extent)
{
	struct tn_affine first, inner, outer;
	const struct access *access;
	int64_t one;
	size_t i;

	*extent = 1;
	first.n = 0;
	for (i = 0; i < s->accesses.len; i++) {
		access = tn_vec_at(&s->accesses, i);
		if (!take_apart(s, access->index[axis], &inner, &outer) ||
		    !bound(s, &inner, &one))
			return false;
		if (i == 0)
			first = outer;
		else if (!same_sum(&first, &outer))
			return false;
		*extent = one > *extent ? one : *extent;
	}
	return first.n > 0;
}

static bool choose_axis(struct shrinker *s, int axis)
{
	struct tn_dim_pool *pool = &s->step->kernel->module->dims;
	const struct tn_dim *dim = s->buf->dims[axis];
	int64_t extent, lo, hi;

	if (tn_dim_is(dim, 1)) {
		s->gone[axis] = true;
	} else if (find_window(s, axis, &extent)) {
		s->cut[axis] = true;
		s->gone[axis] = extent == 1;
	} else {
		tn_dim_bounds(dim, &lo, &hi);
		extent = hi;
	}
	if (s->gone[axis])
		return true;
	if (extent == INT64_MAX)
		return tn_step_refuse(s->step, "axis %d has no largest size",
				      axis);
	s->dims[s->rank] = tn_dim_const(pool, extent);
	return s->dims[s->rank++] != NULL;
}

static bool choose_axes(struct shrinker *s)
{
	int i;

	for (i = 0; i < s->buf->rank; i++)
		if (!choose_axis(s, i))
			return false;
	return true;
}

/* ---- The small buffer ---------------------------------------------------- */

/* The sum as an expression. */
static const struct tn_kexpr *sum_up(struct tn_kernel *k,
				     const struct tn_affine *sum)
{
	const struct tn_kexpr *all = tn_kexpr_dim(k, sum->base), *term;
	int i;

	for (i = 0; i < sum->n; i++) {
		term = tn_kexpr_mul(k, sum->terms[i].of,
				    tn_kexpr_dim(k, sum->terms[i].coef));
		all = tn_kexpr_add(k, all, term);
	}
	return all;
}

/* The indices into the small buffer, in memory of their own. */
static const struct tn_kexpr **small_index(struct shrinker *s,
					   const struct tn_kexpr *const *index)
{
	struct tn_kernel *k = s->step->kernel;
	struct tn_affine inner, outer;
	const struct tn_kexpr **out;
	int i, n = 0;

	out = tn_arena_array(&k->module->arena, (size_t)s->rank + 1,
			     sizeof *out);
	for (i = 0; out && i < s->buf->rank; i++) {
		if (s->gone[i])
			continue;
		out[n] = index[i];
		if (s->cut[i])
			out[n] = take_apart(s, index[i], &inner, &outer) ?
				sum_up(k, &inner) : NULL;
		if (!out[n++])
			return NULL;
	}
	return out;
}

static const struct tn_kexpr *shrink_load(struct tn_kmap *map,
					  const struct tn_kexpr *e)
{
	struct shrinker *s = map->data;
	const struct tn_kexpr **index;

	if (e->kind != TN_KEXPR_LOAD || e->buf != s->buf)
		return e;
	index = small_index(s, e->args);
	return index ? tn_kexpr_load(map->kernel, s->small, s->rank, index) :
		NULL;
}

static bool shrink_stores(struct shrinker *s, struct tn_kblock *block)
{
	struct tn_kstmt *st;

	for (st = block->first; st; st = st->next) {
		if (!shrink_stores(s, &st->body) ||
		    !shrink_stores(s, &st->orelse))
			return false;
		if (st->kind != TN_KSTMT_STORE || st->buf != s->buf)
			continue;
		st->index = small_index(s, st->index);
		st->nindex = s->rank;
		st->buf = s->small;
		if (!st->index)
			return false;
	}
	return true;
}

static bool make_small(struct shrinker *s)
{
	struct tn_kernel *k = s->step->kernel;
	struct tn_kstmt *inside = s->chain[s->depth - 1];
	struct tn_kmap map = { .kernel = k, .change = shrink_load,
			       .data = s };
	enum tn_kspace space = s->is_given ? s->space :
		s->rank ? TN_SPACE_STACK : TN_SPACE_REG;

	s->small = tn_kernel_local(k, s->buf->name, s->buf->dtype, s->rank,
				   s->dims, space);
	if (!s->small)
		return false;
	if (!tn_kbuf_fits(s->small))
		return tn_step_refuse(s->step, "what a turn of '%s' touches "
				      "is too large", inside->var->name);
	if (!tn_kblock_map(&map, &inside->body) ||
	    !shrink_stores(s, &inside->body))
		return false;
	tn_kstmt_remove(s->alloc);
	s->alloc->buf = s->small;
	tn_kstmt_insert(&inside->body, s->alloc, inside->body.first);
	return true;
}

/* ---- The workspace ------------------------------------------------------- */

static void place_again(void *data, const struct tn_kstmt *st)
{
	struct shrinker *s = data;
	struct tn_kernel *k = s->step->kernel;
	int64_t bytes, lo, hi;
	int i;

	if (st->kind != TN_KSTMT_ALLOC || st->buf->space != TN_SPACE_ARENA)
		return;
	bytes = tn_dtype_bytes(st->buf->dtype);
	for (i = 0; i < st->buf->rank; i++) {
		tn_dim_bounds(st->buf->dims[i], &lo, &hi);
		s->failed |= !tn_num_mul(bytes, hi, &bytes);
	}
	st->buf->arena_offset = k->scratch_bytes;
	s->failed |= !tn_num_align(bytes, 64, &bytes) ||
		!tn_num_add(k->scratch_bytes, bytes, &k->scratch_bytes);
}

/* What is left of the workspace moves together. */
static bool pack_workspace(struct shrinker *s)
{
	struct tn_kvisitor visitor = { NULL, place_again, s };

	s->step->kernel->scratch_bytes = 0;
	tn_kblock_visit(&s->step->kernel->body, &visitor);
	return !s->failed;
}

/* ---- Pieces -------------------------------------------------------------- */

struct replacing {
	struct tn_kbuf *old, *twin;
};

static const struct tn_kexpr *replace_load(struct tn_kmap *map,
					   const struct tn_kexpr *e)
{
	const struct replacing *r = map->data;

	if (e->kind != TN_KEXPR_LOAD || e->buf != r->old)
		return e;
	return tn_kexpr_load(map->kernel, r->twin, e->nargs, e->args);
}

static void replace_store(void *data, const struct tn_kstmt *st)
{
	const struct replacing *r = data;

	if (st->kind == TN_KSTMT_STORE && st->buf == r->old)
		((struct tn_kstmt *)(uintptr_t)st)->buf = r->twin;
}

/* The loop gets a buffer of its own, allocated before the first. */
static bool give_twin(const struct tn_step *step, struct tn_kstmt *alloc,
		      struct tn_kstmt *loop)
{
	struct tn_kernel *k = step->kernel;
	struct tn_kblock fresh = { NULL, NULL };
	struct replacing r = { alloc->buf, NULL };
	struct tn_kmap map = { .kernel = k, .change = replace_load,
			       .data = &r };
	struct tn_kvisitor visitor = { NULL, replace_store, &r };
	struct tn_kstmt *twin;

	r.twin = tn_kernel_local(k, alloc->buf->name, alloc->buf->dtype,
				 alloc->buf->rank, alloc->buf->dims,
				 alloc->buf->space);
	twin = r.twin ? tn_kstmt_alloc(k, &fresh, r.twin) : NULL;
	if (!twin || !tn_kblock_map(&map, &loop->body))
		return false;
	tn_kblock_visit(&loop->body, &visitor);
	tn_kstmt_remove(twin);
	tn_kstmt_insert(alloc->parent, twin, alloc);
	return true;
}

/* Uses of the buffer in loops side by side that never meet are uses of as many
 * buffers. */
static bool divide(const struct tn_step *step, struct tn_kstmt *alloc)
{
	struct tn_kstmt *st, *first = NULL, *at;
	const struct tn_kbuf *where;
	void *buf = alloc->buf;

	for (st = alloc->parent->first; st; st = st->next) {
		if (!tn_kstmt_is_loop(st) || is_store(buf, st) ||
		    !tn_kblock_find(&st->body, is_store, buf))
			continue;
		for (at = first; at && at != st; at = at->next)
			if (tn_kstmt_is_loop(at) &&
			    !tn_schedule_are_apart(step->kernel, at, st, buf,
						   &where))
				return true;
		first = first ? first : st;
	}
	for (st = first ? first->next : NULL; st; st = st->next)
		if (tn_kstmt_is_loop(st) && !is_store(buf, st) &&
		    tn_kblock_find(&st->body, is_store, buf) &&
		    !give_twin(step, alloc, st))
			return false;
	return true;
}

/* ---- The step ------------------------------------------------------------ */

static bool find_space(struct shrinker *s)
{
	const char *text = tn_step_option(s->step, "space", NULL);

	s->is_given = text != NULL;
	s->space = TN_SPACE_STACK;
	if (text && !strcmp(text, "reg"))
		s->space = TN_SPACE_REG;
	else if (text && strcmp(text, "stack") != 0)
		return tn_step_refuse(s->step, "space is reg or stack");
	return true;
}

static bool shrink_alloc(const struct tn_step *step, struct tn_kstmt *alloc)
{
	struct shrinker s = { .step = step, .alloc = alloc,
			      .buf = alloc->buf };
	bool good;

	tn_vec_init(&s.accesses, sizeof(struct access), NULL);
	tn_map_init_ptr(&s.loops);
	good = find_space(&s) && find_chain(&s) && choose_axes(&s) &&
		!s.failed && make_small(&s) && pack_workspace(&s);
	if (s.failed)
		step->kernel->module->failed = true;
	tn_vec_fini(&s.accesses);
	tn_map_fini(&s.loops);
	return good;
}

struct finding {
	const char *name;
	struct tn_vec allocs;
	bool failed;
};

static void find_alloc(void *data, const struct tn_kstmt *st)
{
	struct finding *f = data;

	if (st->kind == TN_KSTMT_ALLOC && st->buf->name == f->name &&
	    !tn_vec_push_ptr(&f->allocs, st))
		f->failed = true;
}

bool tn_step_shrink(const struct tn_step *step)
{
	struct finding f = { .name = step->args[0] };
	struct tn_kvisitor visitor = { NULL, find_alloc, &f };
	bool good = true;
	size_t i;

	tn_vec_init(&f.allocs, sizeof(struct tn_kstmt *), NULL);
	tn_kblock_visit(&step->kernel->body, &visitor);
	for (i = 0; good && !f.failed && i < f.allocs.len; i++)
		good = divide(step, tn_vec_ptr(&f.allocs, i));
	f.allocs.len = 0;
	tn_kblock_visit(&step->kernel->body, &visitor);
	good = good && !f.failed;
	if (f.failed)
		step->kernel->module->failed = true;
	if (good && !f.allocs.len)
		good = tn_step_refuse(step, "there is no such buffer in the "
				      "kernel");
	for (i = 0; good && i < f.allocs.len; i++)
		good = shrink_alloc(step, tn_vec_ptr(&f.allocs, i));
	tn_vec_fini(&f.allocs);
	return good;
}
