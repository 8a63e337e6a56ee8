/*
 * Copies of kernel bodies: the ground of unrolling, peeling and splitting.
 *
 * What is declared inside the copied block (lets, loop variables, allocs) gets
 * a fresh twin; what is declared outside stays shared. One variable may be
 * replaced by an expression, which index arithmetic then folds.
 */
#include "ir/kernel_map.h"

struct clone {
	struct tn_kmap map;
	struct tn_map vars;	/* old var -> new var */
	struct tn_map bufs;
	const struct tn_kvar *var;
	const struct tn_kexpr *with;
	bool failed;
};

static struct tn_kbuf *mapped_buf(const struct clone *c, struct tn_kbuf *buf)
{
	struct tn_kbuf *twin = buf ? tn_map_find(&c->bufs, buf) : NULL;

	return twin ? twin : buf;
}

static struct tn_kvar *mapped_var(const struct clone *c, struct tn_kvar *var)
{
	struct tn_kvar *twin = var ? tn_map_find(&c->vars, var) : NULL;

	return twin ? twin : var;
}

/* A node with the twins of what it names. */
static const struct tn_kexpr *change(struct tn_kmap *map,
				     const struct tn_kexpr *e)
{
	const struct clone *c = map->data;

	if (e->kind == TN_KEXPR_VAR && e->var == c->var)
		return c->with;
	if (e->kind == TN_KEXPR_VAR && mapped_var(c, e->var) != e->var)
		return tn_kexpr_var(map->kernel, mapped_var(c, e->var));
	if (e->kind == TN_KEXPR_LOAD && mapped_buf(c, e->buf) != e->buf)
		return tn_kexpr_load(map->kernel, mapped_buf(c, e->buf),
				     e->nargs, e->args);
	return e;
}

static struct tn_kvar *fresh_var(struct clone *c, const struct tn_kvar *var)
{
	struct tn_kvar *twin;

	twin = tn_arena_copy(&c->map.kernel->module->arena, var, sizeof *var);
	if (!twin || !tn_map_set(&c->vars, var, twin))
		c->failed = true;
	return twin;
}

static struct tn_kbuf *fresh_buf(struct clone *c, const struct tn_kbuf *buf)
{
	struct tn_kbuf *twin;

	twin = tn_arena_copy(&c->map.kernel->module->arena, buf, sizeof *buf);
	if (!twin || !tn_map_set(&c->bufs, buf, twin))
		c->failed = true;
	return twin;
}

static bool copy_block(struct clone *c, const struct tn_kblock *from,
		       struct tn_kblock *to);

static bool copy_stmt(struct clone *c, const struct tn_kstmt *s,
		      struct tn_kblock *to)
{
	struct tn_kstmt *twin;

	twin = tn_arena_copy(&c->map.kernel->module->arena, s, sizeof *s);
	if (!twin || !tn_kstmt_map(&c->map, twin))
		return false;
	twin->body.first = twin->body.last = NULL;
	twin->orelse.first = twin->orelse.last = NULL;
	if (s->kind == TN_KSTMT_ALLOC)
		twin->buf = fresh_buf(c, s->buf);
	else
		twin->buf = mapped_buf(c, s->buf);
	if (s->kind == TN_KSTMT_LET || s->kind == TN_KSTMT_LOOP)
		twin->var = fresh_var(c, s->var);
	else
		twin->var = mapped_var(c, s->var);
	if (c->failed)
		return false;
	tn_kstmt_insert(to, twin, NULL);
	return copy_block(c, &s->body, &twin->body) &&
		copy_block(c, &s->orelse, &twin->orelse);
}

static bool copy_block(struct clone *c, const struct tn_kblock *from,
		       struct tn_kblock *to)
{
	const struct tn_kstmt *s;

	for (s = from->first; s; s = s->next)
		if (!copy_stmt(c, s, to))
			return false;
	return true;
}

bool tn_kblock_clone(struct tn_kernel *kernel, const struct tn_kblock *from,
		     struct tn_kblock *to, const struct tn_kvar *var,
		     const struct tn_kexpr *with)
{
	struct clone c = { .map = { .kernel = kernel, .change = change },
			   .var = var, .with = with };
	bool good;

	c.map.data = &c;
	tn_map_init_ptr(&c.vars);
	tn_map_init_ptr(&c.bufs);
	good = copy_block(&c, from, to) && !c.failed;
	tn_map_fini(&c.vars);
	tn_map_fini(&c.bufs);
	if (!good)
		kernel->module->failed = true;
	return good;
}
