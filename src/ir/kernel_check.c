/*
 * Checking accesses: a walk that tells the prover what it passes.
 *
 * In: a kernel. Out: a verdict on every index. What stands to the right of
 * `and`, `or` and in the branches of `select` is computed under their
 * condition.
 */
#include "ir/kernel_check.h"

#include "ir/kernel_range.h"
#include "ir/kernel_walk.h"

/* Statements run through in search of witnesses, in all of a kernel. */
#define WITNESS_BUDGET 400000

struct checker {
	const struct tn_kernel *kernel;
	struct tn_krange range;
	struct tn_vec open;	/* struct tn_kopen */
	int64_t budget;
	void (*report)(void *data, const struct tn_kaccess *access);
	void (*unplain)(void *data, const struct tn_kexpr *expr);
	void *data;
};

static void check_expr(struct checker *c, const struct tn_kexpr *e);
static void check_block(struct checker *c, const struct tn_kblock *block);

static void open_place(struct checker *c, const struct tn_kstmt *stmt,
		       const struct tn_kexpr *cond, bool holds)
{
	struct tn_kopen *open = tn_vec_push(&c->open);

	if (!open) {
		c->range.failed = true;
		return;
	}
	open->stmt = stmt;
	open->cond = cond;
	open->holds = holds;
	if (!stmt)
		tn_krange_assume(&c->range, cond, holds);
	else if (stmt->kind == TN_KSTMT_LOOP)
		tn_krange_loop(&c->range, stmt);
	else
		tn_krange_let(&c->range, stmt);
}

static void close_to(struct checker *c, size_t open, size_t mark)
{
	while (c->open.len > open)
		tn_vec_pop(&c->open);
	tn_krange_forget(&c->range, mark);
}

static void check_index(struct checker *c, const void *where,
			const struct tn_kbuf *buf, int axis,
			const struct tn_kexpr *index)
{
	struct tn_kaccess access = { .where = where, .buf = buf, .axis = axis,
				     .index = index };
	const struct tn_dim *extent = buf->dims[axis];

	if (!c->report)
		return;
	if (tn_krange_is_inside(&c->range, index, extent)) {
		c->report(c->data, &access);
		return;
	}
	access.verdict = TN_KACCESS_UNKNOWN;
	if (c->budget > 0 &&
	    tn_kwitness_find(c->kernel, &c->open, index, extent,
			     &c->budget, &access.witness))
		access.verdict = TN_KACCESS_OUTSIDE;
	tn_krange_ends(&c->range, index, &access.lo, &access.hi);
	c->report(c->data, &access);
}

static void check_access(struct checker *c, const void *where,
			 const struct tn_kbuf *buf, int n,
			 const struct tn_kexpr *const *index)
{
	int i;

	for (i = 0; i < n && i < buf->rank && !c->range.failed; i++) {
		check_expr(c, index[i]);
		check_index(c, where, buf, i, index[i]);
	}
}

/* Operand i of select, and, or, under operand 0. */
static void check_branch(struct checker *c, const struct tn_kexpr *e, int i)
{
	size_t open = c->open.len, mark = tn_krange_mark(&c->range);
	bool holds = e->code == TN_OP_select ? i == 1 : e->code == TN_OP_and;

	open_place(c, NULL, e->args[0], holds);
	check_expr(c, e->args[i]);
	close_to(c, open, mark);
}

static bool is_checked(void *data, const struct tn_kexpr *e)
{
	(void)data;
	return e->kind == TN_KEXPR_LOAD || e->is_index;
}

static void check_expr(struct checker *c, const struct tn_kexpr *e)
{
	int i;

	if (!e)
		return;
	if (e->kind == TN_KEXPR_LOAD) {
		check_access(c, e, e->buf, e->nargs, e->args);
		return;
	}
	for (i = 0; i < e->nargs; i++)
		if (!tn_kexpr_is_branch(e, i))
			check_expr(c, e->args[i]);
		else if (tn_kexpr_find(e->args[i], is_checked, NULL))
			check_branch(c, e, i);
	if (e->kind == TN_KEXPR_OP && e->is_index && c->unplain &&
	    !tn_krange_is_plain(&c->range, e))
		c->unplain(c->data, e);
}

static void check_if(struct checker *c, const struct tn_kstmt *s)
{
	size_t open = c->open.len, mark = tn_krange_mark(&c->range);

	open_place(c, NULL, s->value, true);
	check_block(c, &s->body);
	close_to(c, open, mark);
	if (!s->orelse.first)
		return;
	open_place(c, NULL, s->value, false);
	check_block(c, &s->orelse);
	close_to(c, open, mark);
}

static void check_stmt(struct checker *c, const struct tn_kstmt *s)
{
	size_t open = c->open.len, mark = tn_krange_mark(&c->range);

	check_expr(c, s->from);
	check_expr(c, s->to);
	check_expr(c, s->value);
	if (s->kind == TN_KSTMT_STORE)
		check_access(c, s, s->buf, s->nindex, s->index);
	if (s->kind == TN_KSTMT_LET)
		open_place(c, s, NULL, false);
	if (s->kind == TN_KSTMT_LOOP) {
		open_place(c, s, NULL, false);
		check_block(c, &s->body);
		close_to(c, open, mark);
	}
	if (s->kind == TN_KSTMT_IF)
		check_if(c, s);
}

static void check_block(struct checker *c, const struct tn_kblock *block)
{
	size_t open = c->open.len, mark = tn_krange_mark(&c->range);
	const struct tn_kstmt *s;

	for (s = block->first; s && !c->range.failed; s = s->next)
		check_stmt(c, s);
	close_to(c, open, mark);
}

static bool check(struct checker *c, const struct tn_kernel *kernel)
{
	bool good;

	c->kernel = kernel;
	c->budget = WITNESS_BUDGET;
	tn_krange_init(&c->range, &kernel->module->dims);
	tn_vec_init(&c->open, sizeof(struct tn_kopen), NULL);
	check_block(c, &kernel->body);
	good = !c->range.failed && !kernel->module->arena.failed;
	tn_vec_fini(&c->open);
	tn_krange_fini(&c->range);
	return good;
}

bool tn_kernel_check(const struct tn_kernel *kernel,
		     void (*report)(void *data,
				    const struct tn_kaccess *access),
		     void *data)
{
	struct checker c = { .report = report, .data = data };

	return check(&c, kernel);
}

/* From here on it is an operator as all others are. */
static void make_wrapping(void *data, const struct tn_kexpr *expr)
{
	(void)data;
	((struct tn_kexpr *)(uintptr_t)expr)->is_index = false;
}

bool tn_kernel_settle(struct tn_kernel *kernel)
{
	struct checker c = { .unplain = make_wrapping };

	return check(&c, kernel);
}

static void note_unproved(void *data, const struct tn_kaccess *access)
{
	bool *unproved = data;

	*unproved = *unproved || access->verdict != TN_KACCESS_INSIDE;
}

static void note_unplain(void *data, const struct tn_kexpr *expr)
{
	bool *unproved = data;

	*unproved = *unproved || expr->is_index;
}

bool tn_kernel_mark_unchecked(struct tn_kernel *kernel)
{
	bool marked = tn_annots_find(&kernel->annots, "unchecked") != NULL;
	bool unproved = false;
	struct checker c = { .report = note_unproved, .unplain = note_unplain,
			     .data = &unproved };

	if (!check(&c, kernel)) {
		kernel->module->failed = true;
		return false;
	}
	return !unproved || marked ||
		tn_annots_add(kernel->module, &kernel->annots, "unchecked",
			      NULL, kernel->span);
}
