/*
 * pack and stage: what the body reads is copied first, in the order in which
 * it is read.
 *
 *   pack(w, j__0, k, j__1)      alloc w__packed: f32[12, 768, 64] @arena;
 *                           ->  for j__0 { for k { for j__1 {
 *   .. w[k, j__0 * 64 + j__1]     w__packed[j__0, k, j__1] = w[..]; } } }
 *                               .. w__packed[j__0, k, j__1] ..
 *
 * pack copies at the top of the kernel, stage at the start of each turn of a
 * loop, once for each loop of that name whose body reads the buffer. All reads
 * of the buffer in that scope must be at one index, made of the listed loops
 * and of what is fixed in the scope. Where a read stands under a condition or
 * in another loop that may have no turns, the index must be in bounds whatever
 * they do, for the copy is made in any case. A listed loop that is clipped is
 * copied over all that it may run over.
 */
#include "passes/schedule.h"

#include <string.h>

#include "base/num.h"
#include "ir/kernel_range.h"

#define MAX_LOOPS 8

struct packer {
	const struct tn_step *step;
	struct tn_kblock *block;	/* the scope */
	struct tn_kbuf *buf, *copy;
	int first;		/* argument number of the first loop */
	int n;
	const struct tn_kstmt *loops[MAX_LOOPS];	/* of the first read */
	const struct tn_kstmt *ranges[MAX_LOOPS];	/* the same, from 0 */
	struct tn_kstmt wide[MAX_LOOPS];	/* where it is clipped */
	bool is_clipped;
	struct tn_kvar *vars[MAX_LOOPS];	/* of the copying nest */
	const struct tn_kexpr *read;	/* the first read */
	bool refused;
};

static bool is_read(void *data, const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_LOAD && e->buf->name == data;
}

/* The buffer of the name that the block reads, or NULL. */
static struct tn_kbuf *read_by(const struct tn_kblock *block,
			       const char *name)
{
	const struct tn_kexpr *read;

	read = tn_kblock_find_expr(block, is_read, (void *)(uintptr_t)name);
	return read ? read->buf : NULL;
}

/* Something of the name stands in the block, inside or around it. */
static bool is_taken(const struct tn_kernel *kernel,
		     const struct tn_kblock *block, const char *name)
{
	const struct tn_kstmt *at, *s;

	for (at = block->first; at; at = tn_kstmt_around(kernel, at))
		for (s = at->parent->first; s; s = s->next)
			if (tn_schedule_declares(s, name))
				return true;
	return tn_schedule_is_taken(kernel, block, name);
}

/* The listed loop number i among those around the expression. */
static const struct tn_kstmt *around(const struct packer *p,
				     const struct tn_kmap *r, int i)
{
	int k;

	for (k = r->nloops - 1; k >= 0; k--)
		if (r->loops[k]->var->name == p->step->args[p->first + i])
			return r->loops[k];
	return NULL;
}

static const struct tn_kexpr *refuse(struct packer *p, const char *text,
				     const char *name)
{
	if (!p->refused)
		tn_step_refuse(p->step, text, name);
	p->refused = true;
	return NULL;
}

/* Its number among the listed loops, or -1. */
static int listed(const struct packer *p, const struct tn_kmap *r,
		  const struct tn_kstmt *loop)
{
	int i;

	for (i = 0; i < p->n; i++)
		if (around(p, r, i) == loop)
			return i;
	return -1;
}

static bool is_listed(const struct packer *p, const struct tn_kmap *r,
		      const struct tn_kstmt *loop)
{
	return listed(p, r, loop) >= 0;
}

/* What the index is made of: listed loops, and what is fixed in the scope. */
static bool is_covered(struct packer *p, const struct tn_kmap *r,
		       const struct tn_kexpr *e)
{
	int i, k;

	if (e->kind == TN_KEXPR_LOAD && e->buf->role != TN_KBUF_IN)
		return refuse(p, "its index reads '%s'", e->buf->name) != NULL;
	for (k = 0; e->kind == TN_KEXPR_VAR && k < r->nloops; k++)
		if (r->loops[k]->var == e->var)
			return is_listed(p, r, r->loops[k]) ||
				refuse(p, "the reads also depend on loop '%s'",
				       e->var->name) != NULL;
	if (e->kind == TN_KEXPR_VAR &&
	    (e->var->is_mutable || tn_kblock_declares(p->block, e->var)))
		return refuse(p, "the reads depend on '%s'", e->var->name) !=
			NULL;
	for (i = 0; i < e->nargs; i++)
		if (!is_covered(p, r, e->args[i]))
			return false;
	return true;
}

/* Tells the prover of the loops and lets around the statement, outermost
 * first. */
static void open_around(struct packer *p, struct tn_krange *range,
			const struct tn_kstmt *at)
{
	const struct tn_kstmt *around, *s;

	around = tn_kstmt_around(p->step->kernel, at);
	if (around)
		open_around(p, range, around);
	if (tn_kstmt_is_loop(around))
		tn_krange_loop(range, around);
	for (s = at->parent->first; s != at; s = s->next)
		if (s->kind == TN_KSTMT_LET)
			tn_krange_let(range, s);
}

/* In bounds for the loops that the copy runs over, whatever conditions and
 * other loops do. */
static bool is_inside(struct packer *p, const struct tn_kmap *r,
		      const struct tn_kexpr *read)
{
	struct tn_krange range;
	struct tn_kstmt loop;
	bool good = true;
	int i, k;

	tn_krange_init(&range, &r->kernel->module->dims);
	open_around(p, &range, p->block->first);
	for (i = 0; i < r->nloops; i++) {
		k = listed(p, r, r->loops[i]);
		if (k < 0)
			continue;
		loop = *r->loops[i];
		loop.from = p->ranges[k]->from;
		loop.to = p->ranges[k]->to;
		tn_krange_loop(&range, &loop);
	}
	for (i = 0; i < read->nargs && good; i++)
		good = tn_krange_is_inside(&range, read->args[i],
					   read->buf->dims[i]);
	if (range.failed)
		r->kernel->module->failed = true;
	tn_krange_fini(&range);
	return good;
}

/* The copy reads what the body may not. */
static bool is_certain(struct packer *p, const struct tn_kmap *r,
		       const struct tn_kexpr *read)
{
	int k;

	if (r->nconditions && !is_inside(p, r, read))
		return refuse(p, "'%s' is read under a condition, "
			      "and not proved in bounds", p->buf->name) != NULL;
	if (p->is_clipped && !is_inside(p, r, read))
		return refuse(p, "'%s' is read in a loop that is clipped, and "
			      "not proved in bounds without that",
			      p->buf->name) != NULL;
	for (k = 0; k < r->nloops; k++)
		if (!is_listed(p, r, r->loops[k]) &&
		    !tn_kloop_runs(r->loops[k]) && !is_inside(p, r, read))
			return refuse(p, "loop '%s' may have no turns, and "
				      "the reads are not proved in bounds",
				      r->loops[k]->var->name) != NULL;
	return true;
}

static bool same_bounds(const struct tn_kstmt *a, const struct tn_kstmt *b)
{
	return tn_kexpr_same(a->from, b->from) &&
		tn_kexpr_same(a->to, b->to) && a->step == b->step;
}

/* All that the listed loop may run over, from 0. */
static bool widen(struct packer *p, int i)
{
	const struct tn_kexpr *from, *to, *cond = NULL;

	p->ranges[i] = p->loops[i];
	if (tn_kloop_is_plain(p->loops[i]))
		return true;
	if (!tn_schedule_enclose(p->step->kernel, p->loops[i], &from, &to,
				 &cond) || !tn_kexpr_is_int(from, 0))
		return refuse(p, "loop '%s' must run from 0 by 1",
			      p->loops[i]->var->name) != NULL;
	p->wide[i] = *p->loops[i];
	p->wide[i].from = from;
	p->wide[i].to = to;
	p->ranges[i] = &p->wide[i];
	p->is_clipped = true;
	return true;
}

static bool first_read(struct packer *p, const struct tn_kmap *r,
		       const struct tn_kexpr *e)
{
	int i;

	for (i = 0; i < p->n; i++) {
		p->loops[i] = around(p, r, i);
		if (!p->loops[i])
			return refuse(p, "loop '%s' is not around every read",
				      p->step->args[p->first + i]) != NULL;
		if (!widen(p, i))
			return false;
	}
	p->read = e;
	return true;
}

/* Checks a read and remembers the first. */
static const struct tn_kexpr *note(struct tn_kmap *r,
				   const struct tn_kexpr *e)
{
	struct packer *p = r->data;
	int i;

	if (e->kind != TN_KEXPR_LOAD || e->buf != p->buf)
		return e;
	if (!p->read && !first_read(p, r, e))
		return NULL;
	for (i = 0; i < e->nargs; i++)
		if (!is_covered(p, r, e->args[i]))
			return NULL;
	if (!is_certain(p, r, e))
		return NULL;
	if (!tn_kexpr_same(p->read, e))
		return refuse(p, "'%s' is read at more than one index",
			      p->buf->name);
	for (i = 0; i < p->n; i++)
		if (!around(p, r, i) ||
		    !same_bounds(around(p, r, i), p->loops[i]))
			return refuse(p, "loop '%s' has different bounds "
				      "around the reads",
				      p->step->args[p->first + i]);
	return e;
}

static const struct tn_kexpr *redirect(struct tn_kmap *r,
				       const struct tn_kexpr *e)
{
	struct packer *p = r->data;
	const struct tn_kexpr *index[MAX_LOOPS];
	int i;

	if (e->kind != TN_KEXPR_LOAD || e->buf != p->buf)
		return e;
	for (i = 0; i < p->n; i++)
		index[i] = tn_kexpr_var(r->kernel, around(p, r, i)->var);
	return tn_kexpr_load(r->kernel, p->copy, p->n, index);
}

/* In the copying nest the loops' variables are its own. */
static const struct tn_kexpr *rename_vars(struct tn_kmap *r,
					  const struct tn_kexpr *e)
{
	struct packer *p = r->data;
	int i;

	for (i = 0; e->kind == TN_KEXPR_VAR && i < p->n; i++)
		if (e->var == p->loops[i]->var)
			return tn_kexpr_var(r->kernel, p->vars[i]);
	return e;
}

/* Room in the kernel's scratch for the worst case of the extents. */
static bool reserve(struct packer *p)
{
	struct tn_kernel *k = p->step->kernel;
	int64_t bytes = tn_dtype_bytes(p->copy->dtype), lo, hi;
	int i;

	for (i = 0; i < p->n; i++) {
		tn_dim_bounds(p->copy->dims[i], &lo, &hi);
		if (!tn_num_mul(bytes, hi, &bytes))
			return refuse(p, "the copy of '%s' has no largest "
				      "size", p->buf->name) != NULL;
	}
	p->copy->arena_offset = k->scratch_bytes;
	if (tn_num_align(bytes, 64, &bytes) &&
	    tn_num_add(k->scratch_bytes, bytes, &k->scratch_bytes))
		return true;
	return refuse(p, "the copy of '%s' has no largest size",
		      p->buf->name) != NULL;
}

static bool make_copy(struct packer *p, enum tn_kspace space)
{
	struct tn_kernel *k = p->step->kernel;
	const struct tn_dim *dims[MAX_LOOPS];
	const char *name;
	int i;

	for (i = 0; i < p->n; i++) {
		dims[i] = tn_kexpr_as_dim(&k->module->dims, p->ranges[i]->to);
		if (!dims[i] && p->ranges[i]->to->kind == TN_KEXPR_INT)
			return false;
		if (!dims[i] || (space != TN_SPACE_ARENA &&
				 !tn_dim_is_const(dims[i])))
			return refuse(p, "loop '%s' has no fixed number of "
				      "turns", p->loops[i]->var->name) !=
				NULL;
	}
	name = tn_arena_printf(&k->module->arena, "%s__%s", p->buf->name,
			       space == TN_SPACE_ARENA ? "packed" : "staged");
	if (name)
		name = tn_intern_text(k->module->names, name);
	if (!name)
		return false;
	if (is_taken(k, p->block, name))
		return refuse(p, "the name '%s' is taken", name) != NULL;
	p->copy = tn_kernel_local(k, name, p->buf->dtype, p->n, dims, space);
	return p->copy && (space != TN_SPACE_ARENA || reserve(p));
}

/* What a copying loop is; only a copy for the whole kernel is shared out. */
static enum tn_kloop_kind copy_kind(const struct packer *p, int i)
{
	const struct tn_kstmt *loop = p->loops[i];

	if (loop->loop != TN_LOOP_PAR)
		return loop->loop;
	return p->copy->space == TN_SPACE_ARENA &&
		loop->bind == TN_BIND_THREADS ? TN_LOOP_PAR : TN_LOOP_FOR;
}

/* The loops that copy, appended to `at`. */
static bool make_nest(struct packer *p, struct tn_kblock *at)
{
	struct tn_kernel *k = p->step->kernel;
	struct tn_kmap rewrite = { .kernel = k, .change = rename_vars,
				      .data = p };
	const struct tn_kexpr *index[MAX_LOOPS];
	struct tn_kstmt *s;
	int i;

	for (i = 0; i < p->n; i++) {
		p->vars[i] = tn_kernel_var(k, p->loops[i]->var->name,
					   TN_i64);
		s = tn_kstmt_loop(k, at, copy_kind(p, i), p->vars[i],
				  p->ranges[i]->from, p->ranges[i]->to);
		if (!s)
			return false;
		s->is_independent = true;
		s->min = s->loop == TN_LOOP_PAR ? p->loops[i]->min : 0;
		index[i] = tn_kexpr_var(k, p->vars[i]);
		at = &s->body;
	}
	return tn_kstmt_store(k, at, p->copy, p->n, index, p->read, false) &&
		tn_kblock_map(&rewrite, at);
}

/* Alloc and nest go to the start of the block; of a buffer that threads share,
 * between barriers. */
static bool put_nest(struct packer *p)
{
	struct tn_kernel *k = p->step->kernel;
	struct tn_kblock fresh = { NULL, NULL };
	struct tn_kstmt *s, *before = p->block->first;
	bool shared = p->copy->space == TN_SPACE_SHARED;

	if (!tn_kstmt_alloc(k, &fresh, p->copy) ||
	    (shared && !tn_kstmt_barrier(k, &fresh)) ||
	    !make_nest(p, &fresh) ||
	    (shared && !tn_kstmt_barrier(k, &fresh)))
		return false;
	while ((s = fresh.first)) {
		tn_kstmt_remove(s);
		tn_kstmt_insert(p->block, s, before);
	}
	return true;
}

static bool pack_block(struct packer *p, struct tn_kblock *block,
		       enum tn_kspace space)
{
	struct tn_kmap rewrite = { .kernel = p->step->kernel,
				      .change = note, .data = p };

	p->block = block;
	p->read = NULL;
	p->is_clipped = false;
	if (p->buf->role != TN_KBUF_IN && p->buf->role != TN_KBUF_LOCAL)
		return tn_step_refuse(p->step, "it is an output of the "
				      "kernel");
	if (tn_kblock_touches(block, p->buf))
		return tn_step_refuse(p->step, "it is written there");
	if (!tn_kblock_map(&rewrite, block) || !make_copy(p, space))
		return false;
	rewrite.change = redirect;
	return tn_kblock_map(&rewrite, block) && put_nest(p);
}

static bool find_space(const struct tn_step *step, bool stage,
		       enum tn_kspace *space)
{
	const char *text = tn_step_option(step, "space",
					  stage ? "reg" : "arena");

	if (!strcmp(text, "reg"))
		*space = TN_SPACE_REG;
	else if (!strcmp(text, "stack"))
		*space = TN_SPACE_STACK;
	else if (!strcmp(text, "shared"))
		*space = TN_SPACE_SHARED;
	else if (!strcmp(text, "arena") && !stage)
		*space = TN_SPACE_ARENA;
	else
		return tn_step_refuse(step, "space is reg, stack, shared%s",
				      stage ? "" : " or arena");
	return true;
}

/* In the body of each loop of the name that reads the buffer. */
static bool stage_loops(struct packer *p, enum tn_kspace space)
{
	struct tn_vec loops;
	struct tn_kstmt *loop;
	bool good, found = false;
	size_t i;

	tn_vec_init(&loops, sizeof(struct tn_kstmt *), NULL);
	good = tn_step_find(p->step, p->step->args[1],
				&loops);
	if (good && loops.len == 0)
		good = tn_step_refuse(p->step, "there is no loop '%s'",
				      p->step->args[1]);
	for (i = 0; good && i < loops.len; i++) {
		loop = tn_vec_ptr(&loops, i);
		p->buf = read_by(&loop->body, p->step->args[0]);
		found |= p->buf != NULL;
		good = !p->buf || pack_block(p, &loop->body, space);
	}
	tn_vec_fini(&loops);
	if (good && !found)
		return tn_step_refuse(p->step, "it is not read in '%s'",
				      p->step->args[1]);
	return good;
}

bool tn_step_pack(const struct tn_step *step)
{
	bool stage = !strcmp(step->name, "stage");
	struct packer p = { .step = step, .first = stage ? 2 : 1 };
	enum tn_kspace space = TN_SPACE_REG;

	p.n = tn_step_positional(step) - p.first;
	if (p.n < 1 || p.n > MAX_LOOPS)
		return tn_step_refuse(step, "name 1 to %d loops to copy over",
				      MAX_LOOPS);
	if (!tn_step_names_once(step, p.first) ||
	    !find_space(step, stage, &space))
		return false;
	if (stage)
		return stage_loops(&p, space);
	p.buf = read_by(&step->kernel->body, step->args[0]);
	if (!p.buf)
		return tn_step_refuse(step, "it is not read");
	return pack_block(&p, &step->kernel->body, space);
}
