/*
 * Dependence: which loops of a nest have independent turns.
 *
 * In: a loop with all inside it, the nest. Two iterations of the nest conflict
 * if both write an element, or one writes what the other reads. A write tells
 * the turns of a loop v apart when, on some axis, its index is a sum c*v + ...
 * and c is larger than all that the terms of smaller factors add: equal
 * elements then mean equal v, and so on down to the smaller factors.
 *
 *   y[i * 6 + j, k]    j in 0..6: tells i, j and k apart
 *   y[j + k]           tells neither apart
 *
 * A loop that every write tells apart is free: iterations that differ in it
 * never conflict, whatever the order of the loops.
 */
#include "passes/schedule.h"

#include "base/num.h"

/* What is known of the nest under question. */
struct scope {
	struct tn_dim_pool *pool;
	struct tn_map extents;	/* loop variable of the nest -> its loop */
	struct tn_map locals;	/* vars and bufs declared in the nest */
	struct tn_vec writes;	/* struct tn_kstmt *, to outer buffers */
	bool good;
	bool failed;		/* out of memory */
};

/* factor * (loop variable), which adds at most `reach`; -1: not known. */
struct term {
	const struct tn_kvar *var;
	int64_t factor, reach;
};

/* An index as a sum of terms and of what is fixed in the nest. */
struct sum {
	int n;
	struct term terms[TN_AFFINE_TERMS];
};

/* Another value in each iteration of the nest, maybe. */
static bool is_loose(void *data, const struct tn_kexpr *e)
{
	const struct scope *s = data;

	if (e->kind == TN_KEXPR_VAR)
		return tn_map_has(&s->locals, e->var) || e->var->is_mutable;
	return e->kind == TN_KEXPR_LOAD;
}

static int64_t size_of(int64_t value)
{
	return value < 0 ? -value : value;
}

/* The most turns of a loop by 1, over all sizes; -1: not known. */
static int64_t most_turns(const struct tn_kstmt *loop)
{
	int64_t extent = tn_kloop_extent(loop), lo, hi;

	if (extent >= 0 || loop->step != 1)
		return extent;
	tn_kexpr_bounds(loop->from, &lo, &hi);
	extent = tn_kloop_most(loop);
	return lo == INT64_MIN || extent == INT64_MAX ? -1 : extent;
}

/* A loop of the nest by a number; what is fixed in the nest is left out. */
static bool add_term(const struct scope *s, const struct tn_affine_term *from,
		     struct sum *sum)
{
	const struct tn_kstmt *loop = from->of->kind == TN_KEXPR_VAR ?
		tn_map_find(&s->extents, from->of->var) : NULL;
	struct term *term = &sum->terms[sum->n];
	int64_t extent;

	if (!tn_kexpr_find(from->of, is_loose, (void *)(uintptr_t)s))
		return true;
	if (!loop || !tn_dim_is_const(from->coef) ||
	    from->coef->value == INT64_MIN)
		return false;
	sum->n++;
	term->var = loop->var;
	term->factor = from->coef->value;
	extent = most_turns(loop);
	if (extent < 0 || !tn_num_mul(size_of(term->factor),
				      extent ? extent - 1 : 0, &term->reach))
		term->reach = -1;
	return true;
}

/* The index as such a sum; false if it is none. */
static bool add_up(const struct scope *s, const struct tn_kexpr *e,
		   struct sum *sum)
{
	struct tn_affine_scope scope = { s->pool, NULL, NULL };
	struct tn_affine affine;
	int i;

	sum->n = 0;
	if (!tn_affine_make(&scope, e, &affine))
		return false;
	for (i = 0; i < affine.n; i++)
		if (!add_term(s, &affine.terms[i], sum))
			return false;
	return true;
}

/* True if equal sums mean equal turns of `var`: walks from the largest factor
 * down, as long as each is larger than all that the rest can add. */
static bool tells(const struct sum *sum, const struct tn_kvar *var)
{
	bool done[TN_AFFINE_TERMS] = { false };
	int64_t rest;
	int i, top, turn;

	for (turn = 0; turn < sum->n; turn++) {
		for (top = -1, i = 0; i < sum->n; i++)
			if (!done[i] &&
			    (top < 0 || size_of(sum->terms[i].factor) >
			     size_of(sum->terms[top].factor)))
				top = i;
		done[top] = true;
		for (rest = 0, i = 0; i < sum->n; i++)
			if (!done[i] && (sum->terms[i].reach < 0 ||
					 !tn_num_add(rest, sum->terms[i].reach,
						     &rest)))
				return false;
		if (size_of(sum->terms[top].factor) <= rest)
			return false;
		if (sum->terms[top].var == var)
			return true;
	}
	return false;
}

/* The axis of the write whose index tells turns of `var` apart, or -1. */
static int telling_axis(const struct scope *s, const struct tn_kstmt *write,
			const struct tn_kvar *var)
{
	struct sum sum;
	int i;

	for (i = 0; i < write->nindex; i++) {
		if (add_up(s, write->index[i], &sum) && tells(&sum, var))
			return i;
	}
	return -1;
}

/* Loops over the same values: bounds are numbers or sizes. */
static bool same_range(const struct scope *s, const struct tn_kstmt *x,
		       const struct tn_kstmt *y)
{
	const struct tn_dim *from = tn_kexpr_as_dim(s->pool, x->from);
	const struct tn_dim *to = tn_kexpr_as_dim(s->pool, x->to);

	return from && to && x->step == y->step &&
		from == tn_kexpr_as_dim(s->pool, y->from) &&
		to == tn_kexpr_as_dim(s->pool, y->to);
}

/* The same index, up to variables of loops with equal bounds; but where one has
 * `var`, whose turns are told apart, the other must have it too. */
static bool same_index(const struct scope *s, const struct tn_kvar *var,
		       const struct tn_kexpr *a, const struct tn_kexpr *b)
{
	const struct tn_kstmt *x, *y;
	int i;

	if (!tn_kexpr_same_node(a, b) || a->buf != b->buf)
		return false;
	if (a->kind == TN_KEXPR_VAR && a->var != b->var) {
		if (a->var == var || b->var == var)
			return false;
		x = tn_map_find(&s->extents, a->var);
		y = tn_map_find(&s->extents, b->var);
		return x && y && same_range(s, x, y);
	}
	for (i = 0; i < a->nargs; i++)
		if (!same_index(s, var, a->args[i], b->args[i]))
			return false;
	return true;
}

static void collect(void *data, const struct tn_kstmt *st)
{
	struct scope *s = data;
	void *it = (void *)(uintptr_t)st;

	if (st->kind == TN_KSTMT_LOOP)
		s->failed |= !tn_map_set(&s->extents, st->var, it);
	if (st->kind == TN_KSTMT_LOOP || st->kind == TN_KSTMT_LET)
		s->failed |= !tn_map_set(&s->locals, st->var, it);
	if (st->kind == TN_KSTMT_ALLOC && st->buf->space == TN_SPACE_ARENA)
		s->good = false;
	if (st->kind == TN_KSTMT_ALLOC)
		s->failed |= !tn_map_set(&s->locals, st->buf, it);
	if (st->kind == TN_KSTMT_SET && !tn_map_has(&s->locals, st->var))
		s->good = false;
	if (st->kind == TN_KSTMT_STORE && !tn_map_has(&s->locals, st->buf))
		s->failed |= !tn_vec_push_ptr(&s->writes, st);
	if (st->kind == TN_KSTMT_BARRIER || st->kind == TN_KSTMT_SIZE)
		s->good = false;
}

/* An access that no write of another turn of `var` meets. */
static bool agrees(const struct scope *s, const struct tn_kvar *var,
		   const struct tn_kbuf *buf, int n,
		   const struct tn_kexpr *const *index)
{
	const struct tn_kstmt *write;
	size_t i;
	int axis;

	for (i = 0; i < s->writes.len; i++) {
		write = tn_vec_ptr(&s->writes, i);
		if (write->buf != buf)
			continue;
		axis = telling_axis(s, write, var);
		if (axis < 0 || axis >= n ||
		    !same_index(s, var, write->index[axis], index[axis]))
			return false;
	}
	return true;
}

/* The question whether turns of a loop meet, and where. */
struct question {
	const struct scope *scope;
	const struct tn_kvar *var;
	const struct tn_kbuf *only;	/* NULL: in any buffer */
	const struct tn_kbuf *where;
};

static bool meet_at(struct question *q, const struct tn_kbuf *buf, int n,
		    const struct tn_kexpr *const *index)
{
	if ((q->only && buf != q->only) ||
	    agrees(q->scope, q->var, buf, n, index))
		return false;
	q->where = buf;
	return true;
}

static bool meets(void *data, const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_LOAD &&
		meet_at(data, e->buf, e->nargs, e->args);
}

static bool stmt_meets(void *data, const struct tn_kstmt *st)
{
	if (tn_kstmt_find_expr(st, meets, data))
		return true;
	return st->kind == TN_KSTMT_STORE &&
		meet_at(data, st->buf, st->nindex, st->index);
}

static void open_scope(struct scope *s, struct tn_module *module,
		       const struct tn_kstmt *nest)
{
	s->pool = &module->dims;
	s->good = true;
	tn_map_init_ptr(&s->extents);
	tn_map_init_ptr(&s->locals);
	tn_vec_init(&s->writes, sizeof(struct tn_kstmt *), NULL);
	s->failed = !tn_map_set(&s->extents, nest->var, (void *)nest) ||
		!tn_map_set(&s->locals, nest->var, (void *)nest);
}

static void close_scope(struct scope *s, struct tn_module *module)
{
	if (s->failed)
		module->failed = true;
	tn_map_fini(&s->extents);
	tn_map_fini(&s->locals);
	tn_vec_fini(&s->writes);
}

bool tn_schedule_is_free(struct tn_module *module,
			 const struct tn_kstmt *nest,
			 const struct tn_kstmt *loop)
{
	struct scope s;
	struct tn_kvisitor visitor = { NULL, collect, &s };
	struct question q = { &s, loop->var, NULL, NULL };
	bool good;

	open_scope(&s, module, nest);
	tn_kblock_visit(&nest->body, &visitor);
	good = s.good && !s.failed &&
		!tn_kblock_find(&nest->body, stmt_meets, &q);
	close_scope(&s, module);
	return good;
}

bool tn_schedule_is_private(struct tn_module *module,
			    const struct tn_kstmt *nest,
			    const struct tn_kstmt *loop,
			    const struct tn_kbuf *buf)
{
	struct scope s;
	struct tn_kvisitor visitor = { NULL, collect, &s };
	struct question q = { &s, loop->var, buf, NULL };
	bool good;

	open_scope(&s, module, nest);
	tn_kblock_visit(&nest->body, &visitor);
	good = !s.failed && !tn_kblock_find(&nest->body, stmt_meets, &q);
	close_scope(&s, module);
	return good;
}

/* What `from` writes, met in another turn by what `to` does. */
static bool crosses(struct scope *s, struct question *q,
		    const struct tn_kblock *from, const struct tn_kblock *to)
{
	struct tn_kvisitor visitor = { NULL, collect, s };

	tn_kblock_visit(to, &visitor);
	s->writes.len = 0;
	tn_kblock_visit(from, &visitor);
	return !s->good || s->failed || tn_kblock_find(to, stmt_meets, q);
}

bool tn_schedule_may_join(struct tn_module *module,
			  const struct tn_kstmt *loop,
			  const struct tn_kblock *second,
			  const struct tn_kbuf **where)
{
	struct scope s;
	struct question q = { &s, loop->var, NULL, NULL };
	bool good;

	open_scope(&s, module, loop);
	good = !crosses(&s, &q, &loop->body, second) &&
		!crosses(&s, &q, second, &loop->body);
	close_scope(&s, module);
	*where = q.where;
	return good;
}

bool tn_schedule_is_independent(struct tn_module *module,
				const struct tn_kstmt *loop)
{
	return loop->loop == TN_LOOP_PAR || loop->loop == TN_LOOP_VEC ||
		loop->is_independent ||
		tn_schedule_is_free(module, loop, loop);
}
