/*
 * May a result take the bytes of an operand that dies?
 *
 *   for i in 0..B {                      y may lie where a does: what is read
 *     vec j in 0..64 {                   of a in a turn is the element that it
 *       y[i, j] = exp(a[i, j]) + b[j];   writes, and no other turn writes it.
 *     }                                  It may not lie where b does.
 *   }
 *
 * In: a kernel, two of its buffers of one shape. Out: a yes to kernels of one
 * form, that of maps, scheduled or not: one store, last in its nest, whose
 * index is the loop variables themselves, or one number made of them and taken
 * apart again by `//` and `%`; every load of the operand has that same index.
 * What stands before it, loops too, may do as it likes with other buffers.
 * All else is a no. That a yes is right is proved elsewhere, in another way
 * (src/ir/verify_inplace.c).
 */
#include "passes/plan.h"

#include <string.h>

#include "ir/kernel.h"
#include "ir/kernel_walk.h"
#include "ir/view.h"

#define MAX_LOOPS 24

/* The nest around the one store. */
struct nest {
	const struct tn_kbuf *in, *out;
	const struct tn_kstmt *store;
	const struct tn_kstmt *loops[MAX_LOOPS];
	int nloops;
	bool used[MAX_LOOPS];	/* by the index */
};

/* ---- Expressions ------------------------------------------------------- */

static bool same(const struct tn_kexpr *a, const struct tn_kexpr *b)
{
	int i;

	if (a == b)
		return true;
	if (a->kind != b->kind || a->dtype != b->dtype || a->nargs != b->nargs)
		return false;
	switch (a->kind) {
	case TN_KEXPR_INT:
		return a->i == b->i;
	case TN_KEXPR_VAR:
		return a->var == b->var && !a->var->is_mutable;
	case TN_KEXPR_DIM:
		return a->dim == b->dim;
	case TN_KEXPR_FLOAT:
	case TN_KEXPR_LOAD:
		return false;
	case TN_KEXPR_OP:
		break;
	}
	for (i = 0; i < a->nargs; i++)
		if (!same(a->args[i], b->args[i]))
			return false;
	return a->code == b->code && a->is_index == b->is_index;
}

static bool is_op(const struct tn_kexpr *e, enum tn_opcode code)
{
	return e->kind == TN_KEXPR_OP && e->is_index && e->code == code;
}

/* True if `in` is read nowhere in the expression but at the store's index, and
 * `out` not at all. */
static bool reads_well(const struct nest *nest, const struct tn_kexpr *e)
{
	int i;

	if (e->kind == TN_KEXPR_LOAD && e->buf == nest->out)
		return false;
	if (e->kind == TN_KEXPR_LOAD && e->buf == nest->in)
		for (i = 0; i < e->nargs; i++)
			if (!same(e->args[i], nest->store->index[i]))
				return false;
	for (i = 0; i < e->nargs; i++)
		if (!reads_well(nest, e->args[i]))
			return false;
	return true;
}

/* ---- The index --------------------------------------------------------- */

/* The variable is that of a loop not met before. */
static bool use_var(struct nest *nest, const struct tn_kexpr *e)
{
	int i;

	for (i = 0; i < nest->nloops; i++) {
		if (e->kind != TN_KEXPR_VAR || nest->loops[i]->var != e->var ||
		    nest->used[i])
			continue;
		nest->used[i] = true;
		return true;
	}
	return false;
}

/* The loop of the variable runs from 0 to at most `limit`. */
static bool is_below(const struct nest *nest, const struct tn_kexpr *e,
		     int64_t limit)
{
	const struct tn_kstmt *loop;
	int i;

	for (i = 0; i < nest->nloops; i++) {
		loop = nest->loops[i];
		if (e->kind == TN_KEXPR_VAR && loop->var == e->var)
			return tn_kexpr_is_int(loop->from, 0) &&
				loop->to->kind == TN_KEXPR_INT &&
				loop->to->i <= limit;
	}
	return false;
}

/* One number of loop variables: v, or (..v.. * c) + w with w below c. */
static bool is_number(struct nest *nest, const struct tn_kexpr *e)
{
	const struct tn_kexpr *high, *low;

	while (is_op(e, TN_OP_add)) {
		high = e->args[0];
		low = e->args[1];
		if (!is_op(high, TN_OP_mul) ||
		    high->args[1]->kind != TN_KEXPR_INT ||
		    !is_below(nest, low, high->args[1]->i) ||
		    !use_var(nest, low))
			return false;
		e = high->args[0];
	}
	return use_var(nest, e);
}

/* From the last axis to the first: `% c` of a number whose `// c` the axis
 * before takes further; or a number of its own. */
static bool is_one_to_one(struct nest *nest)
{
	const struct tn_kstmt *store = nest->store;
	const struct tn_kexpr *e, *rest, *number = NULL;
	const struct tn_kexpr *whole = NULL, *by = NULL;
	int i;

	for (i = store->nindex - 1; i >= 0; i--) {
		e = store->index[i];
		if (e->kind == TN_KEXPR_INT)
			continue;
		rest = is_op(e, TN_OP_mod) ? e->args[0] : e;
		if (whole && (!is_op(rest, TN_OP_fdiv) ||
			      !same(rest->args[0], whole) ||
			      !same(rest->args[1], by)))
			return false;
		if (!whole)
			number = rest;
		whole = by = NULL;
		if (rest != e) {
			whole = rest;
			by = e->args[1];
		} else if (!is_number(nest, number)) {
			return false;
		}
	}
	for (i = 0; i < nest->nloops; i++)
		if (!nest->used[i])
			return false;
	return !whole;
}

/* ---- The nest ---------------------------------------------------------- */

/* What may stand before the store in a block, reading well. */
static bool is_harmless(const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_LET || s->kind == TN_KSTMT_SET ||
		s->kind == TN_KSTMT_RAISE;
}

/* Goes down along the last statements to the one store. */
static bool find_store(struct nest *nest, const struct tn_kblock *block)
{
	const struct tn_kstmt *s = block->last;

	while (s && s->kind != TN_KSTMT_STORE) {
		if (s->kind == TN_KSTMT_LOOP) {
			if (nest->nloops == MAX_LOOPS)
				return false;
			nest->loops[nest->nloops++] = s;
		} else if (s->kind != TN_KSTMT_IF || s->orelse.first) {
			return false;
		}
		s = s->body.last;
	}
	nest->store = s;
	return s && s->buf == nest->out && !s->accumulate;
}

struct meeting {
	const struct nest *nest;
	bool met;
};

static void meet_expr(void *data, const struct tn_kexpr *e)
{
	struct meeting *m = data;

	m->met |= e->kind == TN_KEXPR_LOAD &&
		(e->buf == m->nest->in || e->buf == m->nest->out);
}

static void meet_stmt(void *data, const struct tn_kstmt *s)
{
	struct meeting *m = data;

	m->met |= s->kind == TN_KSTMT_BARRIER || s->kind == TN_KSTMT_SIZE ||
		(s->kind == TN_KSTMT_STORE &&
		 (s->buf == m->nest->in || s->buf == m->nest->out));
}

/* True if nothing in the statement has to do with the two buffers, as a nest
 * that sums another operand up. */
static bool is_apart(const struct nest *nest, const struct tn_kstmt *s)
{
	struct meeting m = { nest, false };
	const struct tn_kvisitor visitor = { meet_expr, meet_stmt, &m };

	tn_kstmt_visit(s, &visitor);
	return !m.met;
}

/* Along the same way: what stands before reads well and writes nothing, or has
 * to do with other buffers alone. */
static bool is_clean(const struct nest *nest, const struct tn_kblock *block)
{
	const struct tn_kstmt *s = block->first;

	for (; s; s = s->next ? s->next : s->body.first) {
		if (s->next && is_apart(nest, s))
			continue;
		if (s->next && !is_harmless(s))
			return false;
		if (s->kind == TN_KSTMT_LOOP ?
		    !reads_well(nest, s->from) || !reads_well(nest, s->to) :
		    !reads_well(nest, s->value))
			return false;
	}
	return true;
}

static bool is_one_shape(const struct tn_kbuf *a, const struct tn_kbuf *b)
{
	return a->dtype == b->dtype && a->rank == b->rank &&
		(!a->rank || !memcmp(a->dims, b->dims, (size_t)a->rank *
				     sizeof(*a->dims)));
}

bool tn_plan_is_pointwise(const struct tn_kernel *kernel,
			  const struct tn_kbuf *in, const struct tn_kbuf *out)
{
	struct nest nest = { .in = in, .out = out };

	return is_one_shape(in, out) && find_store(&nest, &kernel->body) &&
		is_clean(&nest, &kernel->body) && is_one_to_one(&nest);
}

/* Each parameter that is read from these bytes has to be read pointwise, and to
 * lie as the result does. */
bool tn_plan_may_take(const struct tn_op *launch, const struct tn_value *root)
{
	const struct tn_kernel *kernel = launch->kernel;
	const struct tn_kbuf *out = NULL;
	int64_t offset;
	int i;

	for (i = 0; i < kernel->nparams; i++) {
		if (kernel->params[i]->role == TN_KBUF_IN)
			continue;
		if (kernel->params[i]->role != TN_KBUF_OUT || out)
			return false;
		out = kernel->params[i];
	}
	for (i = 0; i < launch->nin; i++) {
		if (tn_place_root(tn_graph_in(launch, i), &offset) != root)
			continue;
		if (!out || offset ||
		    tn_graph_in(launch, i)->layout != launch->out[0]->layout ||
		    !tn_plan_is_pointwise(kernel, kernel->params[i], out))
			return false;
	}
	return true;
}
