/*
 * The checks at the entry of a run: bounds of dims, and the guards that only
 * run time can decide.
 */
#include "backends/emit_host.h"

struct search {
	const struct tn_sym *sym;
	bool found;
};

static void compare_sym(void *data, const struct tn_dim *dim)
{
	struct search *search = data;

	if (dim->sym == search->sym)
		search->found = true;
}

static void search_dim(struct search *search, const struct tn_dim *dim)
{
	if (dim)
		tn_dim_each_sym(dim, compare_sym, search);
}

static void search_type(struct search *search, const struct tn_type *type)
{
	int i;

	for (i = 0; i < type->rank; i++)
		search_dim(search, type->dims[i]);
}

static void search_block(struct search *search, const struct tn_block *block)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op && !search->found; op = op->next) {
		for (i = 0; i < op->nout; i++)
			search_type(search, op->out[i]->type);
		for (i = 0; i < op->nattrs; i++)
			if (op->attrs[i].kind == TN_ATTR_DIM &&
			    op->attrs[i].is_set)
				search_dim(search, op->attrs[i].u.dim);
		for (i = 0; i < op->nregions; i++)
			search_block(search, op->regions[i]);
	}
}

/* True if a symbol occurs in the signature, a guard or a kernel. */
static bool uses_sym(const struct tn_fn *entry, const struct tn_sym *sym)
{
	struct search search = { sym, false };
	const struct tn_guard *guard;
	size_t k;
	int i;

	for (i = 0; i < entry->body->nparams; i++)
		search_type(&search, entry->body->params[i]->type);
	for (i = 0; i < entry->nresults; i++)
		search_type(&search, entry->result_types[i]);
	for (k = 0; k < entry->guards.len; k++) {
		guard = tn_vec_at(&entry->guards, k);
		search_dim(&search, guard->a);
		search_dim(&search, guard->b);
	}
	search_block(&search, entry->body);
	return search.found;
}

static void put_bounds(struct tn_host *host, const struct tn_sym *sym)
{
	struct tn_buf *out = host->out;

	tn_buf_put(out, "\tif (");
	tn_host_spell(host, sym, out);
	tn_buf_putf(out, " < %lld", (long long)(sym->lo < 0 ? 0 : sym->lo));
	if (sym->hi < INT64_MAX) {
		tn_buf_put(out, " || ");
		tn_host_spell(host, sym, out);
		tn_buf_putf(out, " > %lld", (long long)sym->hi);
	}
	if (sym->mod > 1) {
		tn_buf_put(out, " || ");
		tn_host_spell(host, sym, out);
		tn_buf_putf(out, " %% %lld != 0", (long long)sym->mod);
	}
	tn_buf_putf(out, ")\n\t\treturn %d;\n", sym->number + 1);
}

static void put_side(struct tn_host *host, const struct tn_dim *dim,
		     int level)
{
	tn_emit_dim(host->out, host->need, dim, level, tn_host_spell, host);
}

/* Text that is true if b does not divide a; -1, which C may not take a
 * remainder of, divides all. */
static void put_indivisible(struct tn_host *host,
			    const struct tn_guard *guard)
{
	struct tn_buf *out = host->out;
	int64_t lo, hi;

	tn_dim_bounds(guard->b, &lo, &hi);
	put_side(host, guard->b, TN_LEVEL_ADD);
	tn_buf_put(out, " == 0 || ");
	if (lo < 0) {
		tn_buf_putc(out, '(');
		put_side(host, guard->b, TN_LEVEL_ADD);
		tn_buf_put(out, " != -1 && ");
	}
	put_side(host, guard->a, TN_LEVEL_MUL);
	tn_buf_put(out, " % ");
	put_side(host, guard->b, TN_LEVEL_MUL + 1);
	tn_buf_put(out, lo < 0 ? " != 0)" : " != 0");
}

static void put_guard(struct tn_host *host, const struct tn_guard *guard,
		      int number)
{
	struct tn_buf *out = host->out;

	tn_buf_put(out, "\tif (");
	switch (guard->kind) {
	case TN_GUARD_EQ:
		put_side(host, guard->a, TN_LEVEL_ADD);
		tn_buf_put(out, " != ");
		put_side(host, guard->b, TN_LEVEL_ADD);
		break;
	case TN_GUARD_LE:
		put_side(host, guard->a, TN_LEVEL_ADD);
		tn_buf_put(out, " > ");
		put_side(host, guard->b, TN_LEVEL_ADD);
		break;
	case TN_GUARD_DIVIDES:
		put_indivisible(host, guard);
		break;
	}
	tn_buf_putf(out, ")\n\t\treturn %d;\n", number);
}

static void note_runtime(void *data, const struct tn_dim *dim)
{
	bool *found = data;

	if (dim->sym->is_runtime)
		*found = true;
}

void tn_host_check(struct tn_host *host)
{
	const struct tn_vec *syms = &host->module->dims.syms;
	const struct tn_guard *guard;
	const struct tn_dim *dim;
	bool is_late, any = false;
	size_t i;

	tn_buf_putf(host->out, "/* 0, or 1 + the number of the dim or guard "
		    "that is violated. */\nstatic int %s_check(const int64_t "
		    "*dims)\n{\n", host->name);
	for (i = 0; i < syms->len; i++) {
		dim = tn_vec_ptr(syms, i);
		if (dim->sym->is_runtime ||
		    !uses_sym(host->entry, dim->sym))
			continue;
		put_bounds(host, dim->sym);
		any = true;
	}
	for (i = 0; i < host->entry->guards.len; i++) {
		guard = tn_vec_at(&host->entry->guards, i);
		is_late = false;
		tn_dim_each_sym(guard->a, note_runtime, &is_late);
		tn_dim_each_sym(guard->b, note_runtime, &is_late);
		if (is_late)
			continue;
		put_guard(host, guard, (int)(syms->len + i) + 1);
		any = true;
	}
	if (!any)
		tn_buf_put(host->out, "\t(void)dims;\n");
	tn_buf_put(host->out, "\treturn 0;\n}\n\n");
}
