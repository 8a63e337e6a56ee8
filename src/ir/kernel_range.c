/*
 * Ranges: the facts, and the questions (see kernel_range.h; kernel_prove.c
 * proves).
 */
#include "ir/kernel_range_impl.h"

#include "ir/kernel_loop.h"
#include "ir/kernel_walk.h"

/* Sums looked at in all questions about one kernel. */
#define MAX_LEFT 200000

void tn_krange_init(struct tn_krange *r, struct tn_dim_pool *pool)
{
	r->pool = pool;
	r->steps = 0;
	r->left = MAX_LEFT;
	r->failed = r->nested = false;
	tn_arena_init(&r->arena);
	tn_vec_init(&r->facts, sizeof(struct tn_affine *), NULL);
	tn_map_init_ptr(&r->lets);
	tn_map_init_ptr(&r->defs);
	tn_map_init_ptr(&r->data);
	tn_map_init_ptr(&r->order);
}

void tn_krange_fini(struct tn_krange *r)
{
	tn_vec_fini(&r->facts);
	tn_map_fini(&r->lets);
	tn_map_fini(&r->defs);
	tn_map_fini(&r->data);
	tn_map_fini(&r->order);
	tn_arena_fini(&r->arena);
}

size_t tn_krange_mark(const struct tn_krange *r)
{
	return r->facts.len;
}

void tn_krange_forget(struct tn_krange *r, size_t mark)
{
	while (r->facts.len > mark)
		tn_vec_pop(&r->facts);
}

/* ---- Sums ---- */

bool tn_krange_make(struct tn_krange *r, const struct tn_kexpr *e,
		    struct tn_affine *out)
{
	struct tn_affine_scope scope = {r->pool, NULL, &r->lets};

	return e->dtype == TN_i64 && tn_affine_make(&scope, e, out);
}

/* a += b * factor. */
bool tn_krange_add(struct tn_krange *r, struct tn_affine *a,
		   const struct tn_affine *b, int64_t factor)
{
	return tn_affine_add(r->pool, a, b, tn_dim_const(r->pool, factor));
}

bool tn_krange_add_number(struct tn_krange *r, struct tn_affine *a,
			  int64_t number)
{
	struct tn_affine b;

	tn_affine_dim(tn_dim_const(r->pool, number), &b);
	return b.base && tn_krange_add(r, a, &b, 1);
}

/* b - a - less. */
static bool difference(struct tn_krange *r, const struct tn_affine *a,
		       const struct tn_affine *b, int64_t less,
		       struct tn_affine *out)
{
	*out = *b;
	return tn_krange_add(r, out, a, -1) &&
	       tn_krange_add_number(r, out, -less);
}

static bool is_steady(const struct tn_affine *a)
{
	int i;

	for (i = 0; i < a->n; i++)
		if (!tn_kexpr_is_steady(a->terms[i].of))
			return false;
	return true;
}

/* ---- Facts ---- */

static void keep(struct tn_krange *r, const struct tn_affine *fact)
{
	struct tn_affine *copy = tn_arena_copy(&r->arena, fact, sizeof *fact);

	if (!copy || !tn_vec_push_ptr(&r->facts, copy))
		r->failed = true;
}

/* The place is never reached, so all holds there: -1 >= 0. */
static void learn_never(struct tn_krange *r)
{
	struct tn_affine never;

	tn_affine_dim(tn_dim_const(r->pool, -1), &never);
	if (never.base)
		keep(r, &never);
}

static bool is_never(const struct tn_krange *r)
{
	const struct tn_affine *fact;
	size_t i;

	for (i = 0; i < r->facts.len; i++) {
		fact = tn_vec_ptr(&r->facts, i);
		if (fact->n == 0 && tn_dim_is(fact->base, -1))
			return true;
	}
	return false;
}

/* A question of its own. */
static bool ask(struct tn_krange *r, const struct tn_affine *a)
{
	bool overflowed = r->pool->overflowed, proved;

	r->steps = 0;
	proved = is_never(r) || tn_krange_proves(r, a, TN_KRANGE_DEPTH);
	r->pool->overflowed = overflowed;
	return proved;
}

static void learn(struct tn_krange *r, const struct tn_affine *a)
{
	if (is_steady(a))
		keep(r, a);
}

/* The same of what may not hold: the place is then never reached. Inside of a
 * proof that is not asked. */
static void learn_doubtful(struct tn_krange *r, const struct tn_affine *a)
{
	struct tn_affine never;

	tn_affine_dim(tn_dim_const(r->pool, -1), &never);
	if (!r->nested && never.base && difference(r, a, &never, 0, &never) &&
	    ask(r, &never))
		learn_never(r);
	learn(r, a);
}

static void number(struct tn_krange *r, const struct tn_kvar *var)
{
	size_t next = r->order.len + 1;

	if (!tn_map_set(&r->order, var, (void *)next))
		r->failed = true;
}

/* The last turn of a loop in steps, if its bounds are sizes. */
static void learn_last(struct tn_krange *r, const struct tn_kstmt *loop,
		       const struct tn_affine *var,
		       const struct tn_affine *from, const struct tn_affine *to)
{
	struct tn_dim_pool *pool = r->pool;
	bool overflowed = pool->overflowed;
	struct tn_affine last, fact;
	const struct tn_dim *step = tn_dim_const(pool, loop->step), *turns;

	if (loop->step == 1 || from->n || to->n)
		return;
	turns = tn_dim_sub(pool, to->base, from->base);
	turns = tn_dim_sub(pool, turns, tn_dim_const(pool, 1));
	turns = tn_dim_floordiv(pool, turns, step);
	tn_affine_dim(
		tn_dim_add(pool, from->base, tn_dim_mul(pool, turns, step)),
		&last);
	pool->overflowed = overflowed;
	if (last.base && difference(r, var, &last, 0, &fact))
		learn(r, &fact);
}

void tn_krange_loop(struct tn_krange *r, const struct tn_kstmt *loop)
{
	const struct tn_kexpr self = {
		.kind = TN_KEXPR_VAR, .dtype = TN_i64, .var = loop->var};
	struct tn_kexpr *of = tn_arena_copy(&r->arena, &self, sizeof self);
	struct tn_affine var, from, to, fact;
	bool has_from, has_to;

	number(r, loop->var);
	if (!of || !tn_krange_make(r, of, &var)) {
		r->failed = !of;
		return;
	}
	tn_krange_note_loop(r, loop);
	has_from = !tn_krange_steps_over(r, loop) &&
		tn_krange_make(r, loop->from, &from);
	has_to = tn_krange_make(r, loop->to, &to);
	if (has_from && has_to && difference(r, &from, &to, 1, &fact))
		learn_doubtful(r, &fact);
	if (has_to && difference(r, &var, &to, 1, &fact))
		learn(r, &fact);
	if (has_from && difference(r, &from, &var, 0, &fact))
		learn(r, &fact);
	if (has_from && has_to)
		learn_last(r, loop, &var, &from, &to);
}

void tn_krange_let(struct tn_krange *r, const struct tn_kstmt *let)
{
	struct tn_affine sum, *copy;

	number(r, let->var);
	if (let->var->is_mutable)
		return;
	tn_krange_note_let(r, let);
	if (!tn_map_set(&r->defs, let->var, (void *)(uintptr_t)let->value))
		r->failed = true;
	if (!tn_krange_make(r, let->value, &sum) || !is_steady(&sum))
		return;
	copy = tn_arena_copy(&r->arena, &sum, sizeof sum);
	if (!copy || !tn_map_set(&r->lets, let->var, copy))
		r->failed = true;
}

/* a < b (less 1) or a <= b (less 0). */
static void assume_order(struct tn_krange *r, const struct tn_kexpr *a,
			 const struct tn_kexpr *b, int64_t less)
{
	struct tn_affine x, y, fact;

	if (tn_krange_make(r, a, &x) && tn_krange_make(r, b, &y) &&
	    difference(r, &x, &y, less, &fact))
		learn_doubtful(r, &fact);
}

/* a != b, of which one side is known not to be below the other. */
static void assume_apart(struct tn_krange *r, const struct tn_kexpr *a,
			 const struct tn_kexpr *b)
{
	struct tn_affine x, y, up, down;

	if (r->nested || !tn_krange_make(r, a, &x) ||
	    !tn_krange_make(r, b, &y) || !difference(r, &x, &y, 0, &up) ||
	    !difference(r, &y, &x, 0, &down))
		return;
	if (ask(r, &up) && tn_krange_add_number(r, &up, -1))
		learn_doubtful(r, &up);
	if (ask(r, &down) && tn_krange_add_number(r, &down, -1))
		learn_doubtful(r, &down);
}

static void assume_compare(struct tn_krange *r, const struct tn_kexpr *cond,
			   bool holds)
{
	const struct tn_kexpr *a = cond->args[0], *b = cond->args[1];

	if (cond->code == TN_OP_lt)
		assume_order(r, holds ? a : b, holds ? b : a, holds);
	if (cond->code == TN_OP_le)
		assume_order(r, holds ? a : b, holds ? b : a, !holds);
	if (cond->code != TN_OP_eq)
		return;
	if (!holds) {
		assume_apart(r, a, b);
		return;
	}
	assume_order(r, a, b, 0);
	assume_order(r, b, a, 0);
}

void tn_krange_assume(struct tn_krange *r, const struct tn_kexpr *cond,
		      bool holds)
{
	const struct tn_kexpr *def;

	if (cond->kind == TN_KEXPR_VAR) {
		def = tn_map_find(&r->defs, cond->var);
		if (def && tn_kexpr_is_steady(def))
			tn_krange_assume(r, def, holds);
	} else if (cond->kind == TN_KEXPR_INT && !cond->i != !holds) {
		learn_never(r);
	} else if (cond->kind == TN_KEXPR_OP && cond->code == TN_OP_not) {
		tn_krange_assume(r, cond->args[0], !holds);
	} else if (cond->kind == TN_KEXPR_OP && cond->nargs == 2 &&
		   cond->code == (holds ? TN_OP_and : TN_OP_or)) {
		tn_krange_assume(r, cond->args[0], holds);
		tn_krange_assume(r, cond->args[1], holds);
	} else if (cond->kind == TN_KEXPR_OP && cond->nargs == 2) {
		assume_compare(r, cond, holds);
	}
}

/* ---- Questions ---- */

bool tn_krange_is_least(struct tn_krange *r, const struct tn_kexpr *expr,
			const struct tn_dim *least)
{
	struct tn_affine a, b;

	tn_affine_dim(least, &b);
	return tn_krange_make(r, expr, &a) && difference(r, &b, &a, 0, &a) &&
	       ask(r, &a);
}

bool tn_krange_is_most(struct tn_krange *r, const struct tn_kexpr *expr,
		       const struct tn_dim *most)
{
	struct tn_affine a, b;

	tn_affine_dim(most, &b);
	return tn_krange_make(r, expr, &a) && difference(r, &a, &b, 0, &b) &&
	       ask(r, &b);
}

bool tn_krange_is_inside(struct tn_krange *r, const struct tn_kexpr *expr,
			 const struct tn_dim *size)
{
	const struct tn_dim *zero = tn_dim_const(r->pool, 0);
	const struct tn_dim *last =
		tn_dim_sub(r->pool, size, tn_dim_const(r->pool, 1));

	return zero && last && tn_krange_is_least(r, expr, zero) &&
	       tn_krange_is_most(r, expr, last);
}

/* ---- Ends ---- */

/* The fact's factor of the term is 1 or -1. */
static bool is_simple(const struct tn_affine *fact, const struct tn_kexpr *of)
{
	int at = tn_affine_find(fact, of);

	return at >= 0 && (tn_dim_is(fact->terms[at].coef, 1) ||
			   tn_dim_is(fact->terms[at].coef, -1));
}

/* A size that the sum does not exceed, found by the first facts that fit; of
 * a remainder and a division nothing is told. NULL: none found. */
static const struct tn_dim *most_of(struct tn_krange *r, struct tn_affine a)
{
	const struct tn_affine *fact;
	struct tn_affine next = a;
	int term, step;
	size_t i;

	for (step = 0; a.n > 0; step++) {
		term = tn_krange_newest(r, &a);
		for (i = r->facts.len; i > 0; i--) {
			fact = tn_vec_ptr(&r->facts, i - 1);
			next = a;
			if (is_simple(fact, a.terms[term].of) &&
			    tn_affine_scale(r->pool, &next,
					    tn_dim_const(r->pool, -1)) &&
			    tn_krange_take_away(r, &next, term, fact) &&
			    next.n < a.n)
				break;
		}
		if (i == 0 || step == TN_KRANGE_DEPTH ||
		    !tn_affine_scale(r->pool, &next, tn_dim_const(r->pool, -1)))
			return NULL;
		a = next;
	}
	return a.base;
}

void tn_krange_ends(struct tn_krange *r, const struct tn_kexpr *expr,
		    const struct tn_dim **lo, const struct tn_dim **hi)
{
	struct tn_dim_pool *pool = r->pool;
	bool overflowed = pool->overflowed;
	struct tn_affine a;

	*lo = *hi = NULL;
	if (!tn_krange_make(r, expr, &a))
		return;
	*hi = most_of(r, a);
	if (tn_affine_scale(pool, &a, tn_dim_const(pool, -1)))
		*lo = most_of(r, a);
	if (*lo)
		*lo = tn_dim_mul(pool, *lo, tn_dim_const(pool, -1));
	pool->overflowed = overflowed;
}
