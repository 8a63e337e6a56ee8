/*
 * Walks over kernels: which symbols, variables and flags they use.
 */
#include "backends/emit.h"

#include <stdlib.h>

static void visit_expr(const struct tn_emit_visitor *visitor,
		       const struct tn_kexpr *e)
{
	int i;

	if (visitor->expr)
		visitor->expr(visitor->data, e);
	for (i = 0; i < e->nargs; i++)
		visit_expr(visitor, e->args[i]);
}

void tn_emit_visit(const struct tn_kblock *block,
		   const struct tn_emit_visitor *visitor)
{
	const struct tn_kstmt *s;
	int i;

	for (s = block->first; s; s = s->next) {
		if (visitor->stmt)
			visitor->stmt(visitor->data, s);
		if (s->from)
			visit_expr(visitor, s->from);
		if (s->to)
			visit_expr(visitor, s->to);
		for (i = 0; i < s->nindex; i++)
			visit_expr(visitor, s->index[i]);
		if (s->value)
			visit_expr(visitor, s->value);
		tn_emit_visit(&s->body, visitor);
		tn_emit_visit(&s->orelse, visitor);
	}
}

static void expr_raises(void *data, const struct tn_kexpr *e)
{
	bool *raises = data;

	if (e->kind == TN_KEXPR_OP && !e->is_index &&
	    e->code != TN_OP_cast && e->code != TN_OP_bitcast &&
	    tn_emit_raises(e->code, e->args[0]->dtype))
		*raises = true;
}

static void stmt_raises(void *data, const struct tn_kstmt *s)
{
	bool *raises = data;

	if (s->kind == TN_KSTMT_RAISE)
		*raises = true;
}

bool tn_emit_may_raise(const struct tn_kernel *kernel)
{
	bool raises = false;
	struct tn_emit_visitor visitor = { expr_raises, stmt_raises,
					   &raises };

	tn_emit_visit(&kernel->body, &visitor);
	return raises;
}

bool tn_emit_syms(const struct tn_emit *emit, struct tn_vec *syms)
{
	const struct tn_vec *all = &emit->kernel->module->dims.syms;
	const struct tn_dim *dim;
	size_t i;

	for (i = 0; i < all->len; i++) {
		dim = tn_vec_ptr(all, i);
		if (tn_map_has(&emit->used, dim->sym) &&
		    !tn_vec_push_ptr(syms, dim->sym))
			return false;
	}
	return true;
}

struct sizes {
	struct tn_vec *syms;
	bool failed;
};

static void stmt_sizes(void *data, const struct tn_kstmt *s)
{
	struct sizes *sizes = data;
	size_t i;

	if (s->kind != TN_KSTMT_SIZE)
		return;
	for (i = 0; i < sizes->syms->len; i++)
		if (tn_vec_ptr(sizes->syms, i) == s->sym)
			return;
	if (!tn_vec_push_ptr(sizes->syms, s->sym))
		sizes->failed = true;
}

static int by_number(const void *a, const void *b)
{
	const struct tn_sym *const *x = a, *const *y = b;

	return ((*x)->number > (*y)->number) - ((*x)->number < (*y)->number);
}

bool tn_emit_sizes(const struct tn_kernel *kernel, struct tn_vec *syms)
{
	struct sizes sizes = { syms, false };
	struct tn_emit_visitor visitor = { NULL, stmt_sizes, &sizes };

	tn_emit_visit(&kernel->body, &visitor);
	if (syms->len > 1)
		qsort(syms->data, syms->len, sizeof(void *), by_number);
	return !sizes.failed;
}
