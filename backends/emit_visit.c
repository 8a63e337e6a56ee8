/*
 * What kernels use: symbols, sizes, flags.
 */
#include "backends/emit.h"

#include <stdlib.h>

static bool expr_raises(void *data, const struct tn_kexpr *e)
{
	(void)data;
	return e->kind == TN_KEXPR_OP && !e->is_index &&
		e->code != TN_OP_cast && e->code != TN_OP_bitcast &&
		tn_emit_raises(e->code, e->args[0]->dtype);
}

static bool stmt_raises(void *data, const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_RAISE ||
		tn_kstmt_find_expr(s, expr_raises, data);
}

bool tn_emit_may_raise(const struct tn_kernel *kernel)
{
	return tn_kblock_find(&kernel->body, stmt_raises, NULL) != NULL;
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
	struct tn_kvisitor visitor = { NULL, stmt_sizes, &sizes };

	tn_kblock_visit(&kernel->body, &visitor);
	if (syms->len > 1)
		qsort(syms->data, syms->len, sizeof(void *), by_number);
	return !sizes.failed;
}
