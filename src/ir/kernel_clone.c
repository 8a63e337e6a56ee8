/*
 * Copies of kernel bodies: the ground of unrolling, peeling and splitting.
 *
 * What is declared inside the copied block (lets, loop variables, allocs) gets
 * a fresh twin; what is declared outside stays shared. One variable may be
 * replaced by an expression, which index arithmetic then folds.
 */
#include "ir/kernel.h"

struct clone {
	struct tn_kernel *kernel;
	struct tn_map vars;	/* old var -> new var */
	struct tn_map bufs;
	const struct tn_kvar *var;
	const struct tn_kexpr *with;
	bool failed;
};

static const struct tn_kexpr *copy_expr(struct clone *c,
					const struct tn_kexpr *e);

static struct tn_kbuf *mapped_buf(struct clone *c, struct tn_kbuf *buf)
{
	struct tn_kbuf *twin = buf ? tn_map_find(&c->bufs, buf) : NULL;

	return twin ? twin : buf;
}

static struct tn_kvar *mapped_var(struct clone *c, struct tn_kvar *var)
{
	struct tn_kvar *twin = var ? tn_map_find(&c->vars, var) : NULL;

	return twin ? twin : var;
}

static const struct tn_kexpr *copy_index(struct clone *c,
					 const struct tn_kexpr *e)
{
	const struct tn_kexpr *a = copy_expr(c, e->args[0]);
	const struct tn_kexpr *b = copy_expr(c, e->args[1]);

	if (a == e->args[0] && b == e->args[1])
		return e;
	if (e->code == TN_OP_add)
		return tn_kexpr_add(c->kernel, a, b);
	if (e->code == TN_OP_sub)
		return tn_kexpr_sub(c->kernel, a, b);
	if (e->code == TN_OP_mul)
		return tn_kexpr_mul(c->kernel, a, b);
	if (e->code == TN_OP_fdiv)
		return tn_kexpr_fdiv(c->kernel, a, b);
	return tn_kexpr_mod(c->kernel, a, b);
}

static bool is_plain_index(const struct tn_kexpr *e)
{
	return e->is_index && e->nargs == 2 &&
		(e->code == TN_OP_add || e->code == TN_OP_sub ||
		 e->code == TN_OP_mul || e->code == TN_OP_fdiv ||
		 e->code == TN_OP_mod);
}

/* A node with changed arguments; the old one if nothing changed. */
static const struct tn_kexpr *copy_node(struct clone *c,
					const struct tn_kexpr *e)
{
	struct tn_arena *arena = &c->kernel->module->arena;
	struct tn_kbuf *buf = mapped_buf(c, e->buf);
	const struct tn_kexpr **args;
	struct tn_kexpr *node;
	bool changed = buf != e->buf;
	int i;

	args = tn_arena_array(arena, (size_t)e->nargs + 1, sizeof *args);
	if (!args)
		return NULL;
	for (i = 0; i < e->nargs; i++) {
		args[i] = copy_expr(c, e->args[i]);
		if (!args[i])
			return NULL;
		changed |= args[i] != e->args[i];
	}
	if (!changed)
		return e;
	node = tn_arena_copy(arena, e, sizeof *e);
	if (!node)
		return NULL;
	node->args = args;
	node->buf = buf;
	return node;
}

static const struct tn_kexpr *copy_expr(struct clone *c,
					const struct tn_kexpr *e)
{
	const struct tn_kexpr *copy = e;

	if (!e)
		return NULL;
	if (e->kind == TN_KEXPR_VAR) {
		if (e->var == c->var)
			return c->with;
		if (mapped_var(c, e->var) != e->var)
			copy = tn_kexpr_var(c->kernel, mapped_var(c, e->var));
	} else if (e->kind == TN_KEXPR_LOAD || e->kind == TN_KEXPR_OP) {
		copy = is_plain_index(e) ? copy_index(c, e) : copy_node(c, e);
	}
	if (!copy)
		c->failed = true;
	return copy;
}

static struct tn_kvar *fresh_var(struct clone *c, const struct tn_kvar *var)
{
	struct tn_kvar *twin;

	twin = tn_arena_copy(&c->kernel->module->arena, var, sizeof *var);
	if (!twin || !tn_map_set(&c->vars, var, twin))
		c->failed = true;
	return twin;
}

static struct tn_kbuf *fresh_buf(struct clone *c, const struct tn_kbuf *buf)
{
	struct tn_kbuf *twin;

	twin = tn_arena_copy(&c->kernel->module->arena, buf, sizeof *buf);
	if (!twin || !tn_map_set(&c->bufs, buf, twin))
		c->failed = true;
	return twin;
}

static bool copy_block(struct clone *c, const struct tn_kblock *from,
		       struct tn_kblock *to);

static bool copy_indices(struct clone *c, const struct tn_kstmt *s,
			 struct tn_kstmt *twin)
{
	const struct tn_kexpr **index;
	int i;

	if (s->nindex == 0)
		return true;
	index = tn_arena_array(&c->kernel->module->arena, (size_t)s->nindex,
			       sizeof *index);
	if (!index)
		return false;
	for (i = 0; i < s->nindex; i++)
		index[i] = copy_expr(c, s->index[i]);
	twin->index = index;
	return true;
}

static bool copy_stmt(struct clone *c, const struct tn_kstmt *s,
		      struct tn_kblock *to)
{
	struct tn_kstmt *twin;

	twin = tn_arena_copy(&c->kernel->module->arena, s, sizeof *s);
	if (!twin)
		return false;
	twin->body.first = twin->body.last = NULL;
	twin->orelse.first = twin->orelse.last = NULL;
	twin->from = copy_expr(c, s->from);
	twin->to = copy_expr(c, s->to);
	twin->value = copy_expr(c, s->value);
	if (!copy_indices(c, s, twin))
		return false;
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
	struct clone c = { .kernel = kernel, .var = var, .with = with };
	bool good;

	tn_map_init_ptr(&c.vars);
	tn_map_init_ptr(&c.bufs);
	good = copy_block(&c, from, to) && !c.failed;
	tn_map_fini(&c.vars);
	tn_map_fini(&c.bufs);
	if (!good)
		kernel->module->failed = true;
	return good;
}
