/*
 * The proof that a kernel may write a result over an operand.
 *
 * In: a kernel, a buffer that it reads and one that it writes, which shall be
 * the same bytes. Out: true if that changes nothing it computes. Shares no code
 * with the planner, which asks for a form (passes/plan_reuse.c); here the order
 * of accesses is followed and an equation solved:
 *
 *   - there is one store; nothing reads the result;
 *   - a load of the operand is in the loop right around the store, ahead of it,
 *     and has the same index: so it meets in its turn what the turn writes, and
 *     what other turns write only if they write the same element;
 *   - they do not: from the index all loop variables around the store can be
 *     computed, so no two turns have the same index.
 */
#include "ir/kernel.h"
#include "ir/verify.h"

#define MAX_LOOPS 32
#define MAX_KNOWN 64

struct proof {
	const struct tn_kbuf *in, *out;
	const struct tn_kstmt *store;
	int stores;
	const struct tn_kstmt *loops[MAX_LOOPS];	/* around the store */
	int nloops;
	const struct tn_kstmt *path[MAX_LOOPS];	/* of the walk */
	int depth;
	bool is_inside, is_behind;	/* the store's loop, the store */
	bool good;
};

/* ---- The order of accesses --------------------------------------------- */

/* First walk: the store and the loops around it. */
static void find_stores(struct proof *p, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;
	int i;

	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_STORE && s->buf == p->out) {
			p->stores++;
			p->store = s;
			p->nloops = p->depth;
			for (i = 0; i < p->depth; i++)
				p->loops[i] = p->path[i];
		}
		if (s->kind == TN_KSTMT_LOOP) {
			if (p->depth == MAX_LOOPS) {
				p->good = false;
				return;
			}
			p->path[p->depth++] = s;
		}
		find_stores(p, &s->body);
		find_stores(p, &s->orelse);
		p->depth -= s->kind == TN_KSTMT_LOOP;
	}
}

/* Equal values wherever both are computed in one turn of the loops around. */
static bool is_equal(const struct tn_kexpr *a, const struct tn_kexpr *b)
{
	int i;

	if (a->kind != b->kind || a->nargs != b->nargs || a->code != b->code ||
	    a->kind == TN_KEXPR_LOAD || a->kind == TN_KEXPR_FLOAT)
		return false;
	if (a->kind == TN_KEXPR_INT && a->i != b->i)
		return false;
	if (a->kind == TN_KEXPR_DIM && a->dim != b->dim)
		return false;
	if (a->kind == TN_KEXPR_VAR &&
	    (a->var != b->var || a->var->is_mutable))
		return false;
	for (i = 0; i < a->nargs; i++)
		if (!is_equal(a->args[i], b->args[i]))
			return false;
	return true;
}

static void check_loads(struct proof *p, const struct tn_kexpr *e)
{
	int i;

	if (!e || !p->good)
		return;
	if (e->kind == TN_KEXPR_LOAD && e->buf == p->out)
		p->good = false;
	if (e->kind == TN_KEXPR_LOAD && e->buf == p->in) {
		if (!p->is_inside || p->is_behind ||
		    e->nargs != p->store->nindex)
			p->good = false;
		for (i = 0; p->good && i < e->nargs; i++)
			p->good = is_equal(e->args[i], p->store->index[i]);
	}
	for (i = 0; i < e->nargs; i++)
		check_loads(p, e->args[i]);
}

/* Second walk: each load, in the order of the text. */
static void check_block(struct proof *p, const struct tn_kblock *block)
{
	const struct tn_kstmt *inner, *s;
	bool was;
	int i;

	inner = p->nloops ? p->loops[p->nloops - 1] : NULL;
	for (s = block->first; s && p->good; s = s->next) {
		check_loads(p, s->from);
		check_loads(p, s->to);
		check_loads(p, s->value);
		for (i = 0; i < s->nindex; i++)
			check_loads(p, s->index[i]);
		if (s == p->store)
			p->is_behind = true;
		was = p->is_inside;
		p->is_inside = was || s == inner;
		check_block(p, &s->body);
		check_block(p, &s->orelse);
		p->is_inside = was;
	}
}

/* ---- The equation ------------------------------------------------------ */

/* Expressions whose values follow from the index. */
struct known {
	const struct proof *proof;
	const struct tn_kexpr *list[MAX_KNOWN];
	int count;
};

static bool knows(const struct known *k, const struct tn_kexpr *e)
{
	int i;

	for (i = 0; i < k->count; i++)
		if (is_equal(k->list[i], e))
			return true;
	return false;
}

static bool learn(struct known *k, const struct tn_kexpr *e)
{
	if (k->count == MAX_KNOWN || knows(k, e))
		return false;
	k->list[k->count++] = e;
	return true;
}

static bool is_fixed(const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_INT || e->kind == TN_KEXPR_DIM;
}

/* The largest value of a loop variable that begins at 0; -1: not known. */
static int64_t most_of(const struct known *k, const struct tn_kexpr *e)
{
	const struct tn_kstmt *loop;
	int i;

	for (i = 0; i < k->proof->nloops; i++) {
		loop = k->proof->loops[i];
		if (e->kind == TN_KEXPR_VAR && e->var == loop->var &&
		    tn_kexpr_is_int(loop->from, 0) &&
		    loop->to->kind == TN_KEXPR_INT)
			return loop->to->i - 1;
	}
	return -1;
}

/* a + b: with one part fixed the other follows; x * c + w with w in [0, c)
 * gives both. */
static bool learn_sum(struct known *k, const struct tn_kexpr *a,
		      const struct tn_kexpr *b)
{
	int64_t most = most_of(k, b);
	bool more = false;

	if (is_fixed(a) || knows(k, a))
		more |= learn(k, b);
	if (is_fixed(b) || knows(k, b))
		more |= learn(k, a);
	if (a->kind == TN_KEXPR_OP && a->code == TN_OP_mul && a->is_index &&
	    a->args[1]->kind == TN_KEXPR_INT && most >= 0 &&
	    most < a->args[1]->i) {
		more |= learn(k, a->args[0]);
		more |= learn(k, b);
	}
	return more;
}

/* x // c and x % c give x; the one is known, the other is sought. */
static bool learn_quotient(struct known *k, const struct tn_kexpr *div)
{
	const struct tn_kexpr *e;
	int i;

	for (i = 0; i < k->count; i++) {
		e = k->list[i];
		if (e->kind == TN_KEXPR_OP && e->is_index &&
		    e->code == TN_OP_mod &&
		    is_equal(e->args[0], div->args[0]) &&
		    is_equal(e->args[1], div->args[1]))
			return learn(k, div->args[0]);
	}
	return false;
}

/* What follows from the i-th; true if that was news. */
static bool follow(struct known *k, int i)
{
	const struct tn_kexpr *e = k->list[i];

	if (e->kind != TN_KEXPR_OP || !e->is_index)
		return false;
	if (e->code == TN_OP_add)
		return learn_sum(k, e->args[0], e->args[1]);
	if (e->code == TN_OP_mul && e->args[1]->kind == TN_KEXPR_INT &&
	    e->args[1]->i != 0)
		return learn(k, e->args[0]);
	if (e->code == TN_OP_fdiv)
		return learn_quotient(k, e);
	return false;
}

/* True if the index of the store tells the turn. */
static bool is_solved(const struct proof *p)
{
	struct known k = {.proof = p};
	struct tn_kexpr var = {.kind = TN_KEXPR_VAR};
	bool more = true;
	int i;

	for (i = 0; i < p->store->nindex; i++)
		learn(&k, p->store->index[i]);
	while (more)
		for (more = false, i = 0; i < k.count; i++)
			more |= follow(&k, i);
	for (i = 0; i < p->nloops; i++) {
		var.var = p->loops[i]->var;
		if (!knows(&k, &var))
			return false;
	}
	return true;
}

static bool is_one_shape(const struct tn_kbuf *a, const struct tn_kbuf *b)
{
	int i;

	if (a->dtype != b->dtype || a->rank != b->rank)
		return false;
	for (i = 0; i < a->rank; i++)
		if (a->dims[i] != b->dims[i])
			return false;
	return true;
}

bool tn_verify_inplace(const struct tn_kernel *kernel,
		       const struct tn_kbuf *in, const struct tn_kbuf *out)
{
	struct proof p = {.in = in, .out = out, .good = true};

	if (in->role != TN_KBUF_IN || out->role != TN_KBUF_OUT ||
	    !is_one_shape(in, out))
		return false;
	find_stores(&p, &kernel->body);
	if (!p.good || p.stores != 1 || p.store->accumulate)
		return false;
	p.is_inside = p.nloops == 0;
	check_block(&p, &kernel->body);
	return p.good && is_solved(&p);
}
