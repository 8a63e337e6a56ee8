/*
 * Walks over kernels: the one recursion over blocks and expressions, and the
 * questions asked everywhere.
 */
#include "ir/kernel_walk.h"

#include <string.h>

const struct tn_kexpr *tn_kexpr_find(const struct tn_kexpr *expr,
				     tn_kexpr_test *test, void *data)
{
	const struct tn_kexpr *found = NULL;
	int i;

	if (!expr)
		return NULL;
	if (test(data, expr))
		return expr;
	for (i = 0; !found && i < expr->nargs; i++)
		found = tn_kexpr_find(expr->args[i], test, data);
	return found;
}

const struct tn_kexpr *tn_kstmt_find_expr(const struct tn_kstmt *stmt,
					  tn_kexpr_test *test, void *data)
{
	const struct tn_kexpr *found;
	int i;

	found = tn_kexpr_find(stmt->from, test, data);
	if (!found)
		found = tn_kexpr_find(stmt->to, test, data);
	for (i = 0; !found && i < stmt->nindex; i++)
		found = tn_kexpr_find(stmt->index[i], test, data);
	return found ? found : tn_kexpr_find(stmt->value, test, data);
}

struct tn_kstmt *tn_kblock_find(const struct tn_kblock *block,
				tn_kstmt_test *test, void *data)
{
	struct tn_kstmt *s, *found = NULL;

	for (s = block->first; s && !found; s = s->next) {
		if (test(data, s))
			return s;
		found = tn_kblock_find(&s->body, test, data);
		if (!found)
			found = tn_kblock_find(&s->orelse, test, data);
	}
	return found;
}

/* A search for an expression, run as one for its statement. */
struct search {
	tn_kexpr_test *test;
	void *data;
	const struct tn_kexpr *found;
};

static bool holds_expr(void *data, const struct tn_kstmt *stmt)
{
	struct search *search = data;

	search->found = tn_kstmt_find_expr(stmt, search->test, search->data);
	return search->found != NULL;
}

const struct tn_kexpr *tn_kblock_find_expr(const struct tn_kblock *block,
					   tn_kexpr_test *test, void *data)
{
	struct search search = { test, data, NULL };

	tn_kblock_find(block, holds_expr, &search);
	return search.found;
}

static bool visit_expr(void *data, const struct tn_kexpr *expr)
{
	const struct tn_kvisitor *visitor = *(const struct tn_kvisitor **)data;

	visitor->expr(visitor->data, expr);
	return false;
}

void tn_kexpr_visit(const struct tn_kexpr *expr,
		    const struct tn_kvisitor *visitor)
{
	if (visitor->expr)
		tn_kexpr_find(expr, visit_expr, &visitor);
}

static bool visit_stmt(void *data, const struct tn_kstmt *stmt)
{
	const struct tn_kvisitor *visitor = *(const struct tn_kvisitor **)data;

	if (visitor->stmt)
		visitor->stmt(visitor->data, stmt);
	if (visitor->expr)
		tn_kstmt_find_expr(stmt, visit_expr, data);
	return false;
}

void tn_kblock_visit(const struct tn_kblock *block,
		     const struct tn_kvisitor *visitor)
{
	tn_kblock_find(block, visit_stmt, &visitor);
}

void tn_kstmt_visit(const struct tn_kstmt *stmt,
		    const struct tn_kvisitor *visitor)
{
	visit_stmt(&visitor, stmt);
	tn_kblock_visit(&stmt->body, visitor);
	tn_kblock_visit(&stmt->orelse, visitor);
}

/* ---- Questions ---- */

static bool is_read(void *data, const struct tn_kexpr *expr)
{
	const struct tn_kvar **var = data;

	return expr->kind == TN_KEXPR_VAR && expr->var == *var;
}

bool tn_kexpr_reads(const struct tn_kexpr *expr, const struct tn_kvar *var)
{
	return tn_kexpr_find(expr, is_read, &var) != NULL;
}

static bool is_load(void *data, const struct tn_kexpr *expr)
{
	(void)data;
	return expr->kind == TN_KEXPR_LOAD;
}

bool tn_kexpr_loads(const struct tn_kexpr *expr)
{
	return tn_kexpr_find(expr, is_load, NULL) != NULL;
}

bool tn_kexpr_is_branch(const struct tn_kexpr *expr, int i)
{
	return expr->kind == TN_KEXPR_OP && i > 0 &&
		tn_op_has(expr->code, TN_FLAG_LAZY) &&
		(expr->nargs == 3 || expr->dtype == TN_bool);
}

bool tn_kexpr_same_node(const struct tn_kexpr *a, const struct tn_kexpr *b)
{
	return a->kind == b->kind && a->dtype == b->dtype &&
		a->nargs == b->nargs && a->code == b->code && a->i == b->i &&
		!memcmp(&a->f, &b->f, sizeof a->f) && a->dim == b->dim;
}

bool tn_kexpr_same(const struct tn_kexpr *a, const struct tn_kexpr *b)
{
	int i;

	if (a == b)
		return true;
	if (!tn_kexpr_same_node(a, b))
		return false;
	if (a->kind == TN_KEXPR_VAR && a->var->name != b->var->name)
		return false;
	if (a->kind == TN_KEXPR_LOAD && a->buf->name != b->buf->name)
		return false;
	for (i = 0; i < a->nargs; i++)
		if (!tn_kexpr_same(a->args[i], b->args[i]))
			return false;
	return true;
}

bool tn_kexpr_equal(const struct tn_kexpr *a, const struct tn_kexpr *b)
{
	int i;

	if (a == b)
		return true;
	if (!tn_kexpr_same_node(a, b) || a->var != b->var || a->buf != b->buf)
		return false;
	for (i = 0; i < a->nargs; i++)
		if (!tn_kexpr_equal(a->args[i], b->args[i]))
			return false;
	return true;
}

static bool is_declaration(void *data, const struct tn_kstmt *stmt)
{
	const void **what = data;

	if (stmt->kind == TN_KSTMT_ALLOC)
		return stmt->buf == *what;
	return (stmt->kind == TN_KSTMT_LOOP || stmt->kind == TN_KSTMT_LET) &&
		stmt->var == *what;
}

bool tn_kblock_declares(const struct tn_kblock *block, const void *what)
{
	return tn_kblock_find(block, is_declaration, &what) != NULL;
}

static bool is_touch(void *data, const struct tn_kstmt *stmt)
{
	const struct tn_kbuf **buf = data;

	return stmt->buf == *buf;
}

bool tn_kblock_touches(const struct tn_kblock *block,
		       const struct tn_kbuf *buf)
{
	return tn_kblock_find(block, is_touch, &buf) != NULL;
}

static bool is_owner(void *data, const struct tn_kstmt *stmt)
{
	const struct tn_kblock **wanted = data;

	return &stmt->body == *wanted || &stmt->orelse == *wanted;
}

struct tn_kstmt *tn_kstmt_around(const struct tn_kernel *kernel,
				 const struct tn_kstmt *stmt)
{
	const struct tn_kblock *wanted = stmt->parent;

	return tn_kblock_find(&kernel->body, is_owner, &wanted);
}
