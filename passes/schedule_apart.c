/*
 * Apart: two loops that stand side by side and never touch the same element.
 *
 *   for i in 0..N // 8 { for j in 0..8 { t[i * 8 + j] = .. } }
 *   for i in N // 8..(N + 7) // 8 { for j in 0..N % 8 { t[i * 8 + j] = .. } }
 *
 * In: the loops. Every access of one is held against every access of the other
 * to the same buffer, if one of them writes: on some axis its index must be
 * proved to be above, or below, whatever turns the two are in.
 */
#include "passes/schedule.h"

#include "ir/kernel_range.h"

/* An access that would meet the one in question. */
struct passing {
	struct tn_krange *range;
	struct tn_kernel *kernel;
	const struct tn_kblock *other;
	const struct tn_kbuf *only;	/* NULL: any buffer */
	const struct tn_kbuf *buf;
	bool writes;
	int n;
	const struct tn_kexpr *const *index;
	const struct tn_kbuf *where;
};

/* Some axis of the first is always above, or always below the second. */
static bool is_apart(const struct passing *p,
		     const struct tn_kexpr *const *index)
{
	struct tn_kernel *k = p->kernel;
	const struct tn_dim *one = tn_dim_const(&k->module->dims, 1);
	const struct tn_kexpr *up, *down;
	int i;

	for (i = 0; one && i < p->n; i++) {
		up = tn_kexpr_sub(k, index[i], p->index[i]);
		down = tn_kexpr_sub(k, p->index[i], index[i]);
		if (up && down &&
		    (tn_krange_is_least(p->range, up, one) ||
		     tn_krange_is_least(p->range, down, one)))
			return true;
	}
	return false;
}

static bool is_met_by_load(void *data, const struct tn_kexpr *e)
{
	struct passing *p = data;

	if (e->kind != TN_KEXPR_LOAD || e->buf != p->buf || !p->writes ||
	    is_apart(p, e->args))
		return false;
	p->where = e->buf;
	return true;
}

/* Walks `block` with all that it tells the prover. */
static bool is_met_in(struct passing *p, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;
	bool met = false;
	size_t mark;

	for (s = block->first; s && !met; s = s->next) {
		met = tn_kstmt_find_expr(s, is_met_by_load, p) != NULL;
		if (s->kind == TN_KSTMT_STORE && s->buf == p->buf &&
		    !is_apart(p, s->index)) {
			p->where = s->buf;
			met = true;
		}
		mark = tn_krange_mark(p->range);
		if (s->kind == TN_KSTMT_LOOP)
			tn_krange_loop(p->range, s);
		met = met || is_met_in(p, &s->body) ||
			is_met_in(p, &s->orelse);
		tn_krange_forget(p->range, mark);
	}
	return met;
}

/* One access of the moving loop against all of the loop that it passes. */
static bool access_meets(struct passing *p, const struct tn_kbuf *buf, int n,
			 const struct tn_kexpr *const *index, bool writes)
{
	if (p->only && buf != p->only)
		return false;
	p->buf = buf;
	p->n = n;
	p->index = index;
	p->writes = writes;
	return is_met_in(p, p->other);
}

static bool load_meets(void *data, const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_LOAD &&
		access_meets(data, e->buf, e->nargs, e->args, false);
}

static bool block_meets(struct passing *p, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;
	bool met = false;
	size_t mark;

	for (s = block->first; s && !met; s = s->next) {
		met = tn_kstmt_find_expr(s, load_meets, p) ||
			(s->kind == TN_KSTMT_STORE &&
			 access_meets(p, s->buf, s->nindex, s->index, true));
		mark = tn_krange_mark(p->range);
		if (s->kind == TN_KSTMT_LOOP)
			tn_krange_loop(p->range, s);
		met = met || block_meets(p, &s->body) ||
			block_meets(p, &s->orelse);
		tn_krange_forget(p->range, mark);
	}
	return met;
}

bool tn_schedule_are_apart(struct tn_kernel *kernel, const struct tn_kstmt *a,
			   const struct tn_kstmt *b,
			   const struct tn_kbuf *only,
			   const struct tn_kbuf **where)
{
	struct tn_krange range;
	struct passing p = { .range = &range, .kernel = kernel,
			     .other = &a->body, .only = only };
	bool met;

	tn_krange_init(&range, &kernel->module->dims);
	tn_krange_loop(&range, a);
	tn_krange_loop(&range, b);
	met = block_meets(&p, &b->body);
	if (range.failed)
		kernel->module->failed = true;
	tn_krange_fini(&range);
	*where = p.where;
	return !met;
}
