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

#include <string.h>

#include "base/num.h"

#define MAX_TERMS 16

/* What is known of the nest under question. */
struct scope {
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
	struct term terms[MAX_TERMS];
};

bool tn_schedule_reads(const struct tn_kexpr *expr,
		       const struct tn_kvar *var)
{
	int i;

	if (!expr)
		return false;
	if (expr->kind == TN_KEXPR_VAR)
		return expr->var == var;
	for (i = 0; i < expr->nargs; i++)
		if (tn_schedule_reads(expr->args[i], var))
			return true;
	return false;
}

bool tn_schedule_reads_data(const struct tn_kexpr *expr)
{
	int i;

	if (expr->kind == TN_KEXPR_LOAD)
		return true;
	for (i = 0; i < expr->nargs; i++)
		if (tn_schedule_reads_data(expr->args[i]))
			return true;
	return false;
}

static bool same_node(const struct tn_kexpr *a, const struct tn_kexpr *b)
{
	return a->kind == b->kind && a->dtype == b->dtype &&
		a->nargs == b->nargs && a->code == b->code && a->i == b->i &&
		!memcmp(&a->f, &b->f, sizeof a->f) && a->dim == b->dim;
}

bool tn_schedule_same_expr(const struct tn_kexpr *a,
			   const struct tn_kexpr *b)
{
	int i;

	if (a == b)
		return true;
	if (!same_node(a, b))
		return false;
	if (a->kind == TN_KEXPR_VAR && a->var->name != b->var->name)
		return false;
	if (a->kind == TN_KEXPR_LOAD && a->buf->name != b->buf->name)
		return false;
	for (i = 0; i < a->nargs; i++)
		if (!tn_schedule_same_expr(a->args[i], b->args[i]))
			return false;
	return true;
}

/* The same value in every iteration of the nest. */
static bool is_fixed(const struct scope *s, const struct tn_kexpr *e)
{
	int i;

	if (e->kind == TN_KEXPR_LOAD)
		return false;
	if (e->kind == TN_KEXPR_VAR)
		return !tn_map_has(&s->locals, e->var) && !e->var->is_mutable;
	for (i = 0; i < e->nargs; i++)
		if (!is_fixed(s, e->args[i]))
			return false;
	return true;
}

static int64_t size_of(int64_t value)
{
	return value < 0 ? -value : value;
}

/* Joins the term with an earlier one of the same variable. */
static bool add_term(const struct scope *s, struct sum *sum,
		     const struct tn_kvar *var, int64_t factor)
{
	const struct tn_kstmt *loop = tn_map_find(&s->extents, var);
	struct term *term = sum->terms;
	int64_t extent;

	if (!loop)
		return false;
	while (term < sum->terms + sum->n && term->var != var)
		term++;
	if (term == sum->terms + MAX_TERMS)
		return false;
	if (term == sum->terms + sum->n) {
		sum->n++;
		term->factor = 0;
	}
	term->var = var;
	if (!tn_num_add(term->factor, factor, &term->factor) ||
	    term->factor == INT64_MIN)
		return false;
	extent = tn_schedule_extent(loop);
	if (extent < 0 || !tn_num_mul(size_of(term->factor),
				      extent ? extent - 1 : 0, &term->reach))
		term->reach = -1;
	return true;
}

/* Adds `scale` times the expression; false if it is no such sum. */
static bool add_up(const struct scope *s, const struct tn_kexpr *e,
		   int64_t scale, struct sum *sum)
{
	if (is_fixed(s, e))
		return true;
	if (e->kind == TN_KEXPR_VAR)
		return add_term(s, sum, e->var, scale);
	if (e->kind != TN_KEXPR_OP || !e->is_index)
		return false;
	if (e->code == TN_OP_add)
		return add_up(s, e->args[0], scale, sum) &&
			add_up(s, e->args[1], scale, sum);
	if (e->code == TN_OP_sub)
		return add_up(s, e->args[0], scale, sum) &&
			scale > INT64_MIN &&
			add_up(s, e->args[1], -scale, sum);
	if (e->code == TN_OP_mul && e->args[1]->kind == TN_KEXPR_INT)
		return tn_num_mul(scale, e->args[1]->i, &scale) &&
			add_up(s, e->args[0], scale, sum);
	return false;
}

/* True if equal sums mean equal turns of `var`: walks from the largest factor
 * down, as long as each is larger than all that the rest can add. */
static bool tells(const struct sum *sum, const struct tn_kvar *var)
{
	bool done[MAX_TERMS] = { false };
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
		sum.n = 0;
		if (add_up(s, write->index[i], 1, &sum) && tells(&sum, var))
			return i;
	}
	return -1;
}

/* The same index, up to the variables of inner loops with equal bounds. */
static bool same_index(const struct scope *s, const struct tn_kexpr *a,
		       const struct tn_kexpr *b)
{
	const struct tn_kstmt *x, *y;
	int i;

	if (!same_node(a, b) || a->buf != b->buf)
		return false;
	if (a->kind == TN_KEXPR_VAR && a->var != b->var) {
		x = tn_map_find(&s->extents, a->var);
		y = tn_map_find(&s->extents, b->var);
		return x && y && tn_schedule_extent(x) >= 0 &&
			tn_schedule_extent(x) == tn_schedule_extent(y) &&
			x->from->i == y->from->i;
	}
	for (i = 0; i < a->nargs; i++)
		if (!same_index(s, a->args[i], b->args[i]))
			return false;
	return true;
}

static void collect(struct scope *s, const struct tn_kblock *block)
{
	struct tn_kstmt *st;

	for (st = block->first; st; st = st->next) {
		if (st->kind == TN_KSTMT_LOOP)
			s->failed |= !tn_map_set(&s->extents, st->var, st);
		if (st->kind == TN_KSTMT_LOOP || st->kind == TN_KSTMT_LET)
			s->failed |= !tn_map_set(&s->locals, st->var, st);
		if (st->kind == TN_KSTMT_ALLOC &&
		    st->buf->space == TN_SPACE_ARENA)
			s->good = false;
		if (st->kind == TN_KSTMT_ALLOC)
			s->failed |= !tn_map_set(&s->locals, st->buf, st);
		if (st->kind == TN_KSTMT_SET &&
		    !tn_map_has(&s->locals, st->var))
			s->good = false;
		if (st->kind == TN_KSTMT_STORE &&
		    !tn_map_has(&s->locals, st->buf))
			s->failed |= !tn_vec_push_ptr(&s->writes, st);
		if (st->kind == TN_KSTMT_BARRIER || st->kind == TN_KSTMT_SIZE)
			s->good = false;
		collect(s, &st->body);
		collect(s, &st->orelse);
	}
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
		    !same_index(s, write->index[axis], index[axis]))
			return false;
	}
	return true;
}

static bool reads_agree(const struct scope *s, const struct tn_kvar *var,
			const struct tn_kexpr *e)
{
	int i;

	if (!e)
		return true;
	if (e->kind == TN_KEXPR_LOAD &&
	    !agrees(s, var, e->buf, e->nargs, e->args))
		return false;
	for (i = 0; i < e->nargs; i++)
		if (!reads_agree(s, var, e->args[i]))
			return false;
	return true;
}

static bool block_agrees(const struct scope *s, const struct tn_kvar *var,
			 const struct tn_kblock *block)
{
	const struct tn_kstmt *st;
	int i;

	for (st = block->first; st; st = st->next) {
		if (!reads_agree(s, var, st->value) ||
		    !reads_agree(s, var, st->from) ||
		    !reads_agree(s, var, st->to))
			return false;
		for (i = 0; i < st->nindex; i++)
			if (!reads_agree(s, var, st->index[i]))
				return false;
		if (st->kind == TN_KSTMT_STORE &&
		    !agrees(s, var, st->buf, st->nindex, st->index))
			return false;
		if (!block_agrees(s, var, &st->body) ||
		    !block_agrees(s, var, &st->orelse))
			return false;
	}
	return true;
}

bool tn_schedule_is_free(struct tn_module *module,
			 const struct tn_kstmt *nest,
			 const struct tn_kstmt *loop)
{
	struct scope s = { .good = true };
	bool good;

	tn_map_init_ptr(&s.extents);
	tn_map_init_ptr(&s.locals);
	tn_vec_init(&s.writes, sizeof(struct tn_kstmt *), NULL);
	s.failed = !tn_map_set(&s.extents, nest->var, (void *)nest) ||
		!tn_map_set(&s.locals, nest->var, (void *)nest);
	collect(&s, &nest->body);
	good = s.good && !s.failed && block_agrees(&s, loop->var, &nest->body);
	if (s.failed)
		module->failed = true;
	tn_map_fini(&s.extents);
	tn_map_fini(&s.locals);
	tn_vec_fini(&s.writes);
	return good;
}

bool tn_schedule_is_independent(struct tn_module *module,
				const struct tn_kstmt *loop)
{
	return loop->loop == TN_LOOP_PAR || loop->loop == TN_LOOP_VEC ||
		loop->is_independent ||
		tn_schedule_is_free(module, loop, loop);
}
