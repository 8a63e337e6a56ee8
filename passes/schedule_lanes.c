/*
 * lanes: a loop that sums becomes as many sums at once as a vector has lanes,
 * or several vectors.
 *
 *                                  alloc acc__lanes: f32[8] @reg;
 *                                  vec r__1 in 0..8 { acc__lanes[..] = 0; }
 *   for r in 0..N {                  for r__0 in 0..N // 8 { vec r__1 in 0..8 {
 *     acc += x[r]; }            ->   acc__lanes[r__1] += x[r__0 * 8 + r__1]; } }
 *                                  acc += (acc__lanes[0] + acc__lanes[4]) + ..
 *                                  for r in 8*(N // 8)..N { acc += x[r]; }
 *
 * In: a loop of nothing but names and accumulations by an operator that some
 * reduction joins with. Lanes join in halves, in an order that the step alone
 * decides, so that results are the same bits for any number of threads; but a
 * sum of floats is rounded otherwise than in the order of the loop. This is
 * the only step that changes a result.
 */
#include "passes/schedule.h"

#include <stdlib.h>

#define MOST_LANES 256
#define MOST_SUMS 8
#define WIDTH 8

/* One accumulation: var = code(var, value). */
struct sum {
	struct tn_kstmt *set;
	enum tn_opcode code;
	const struct tn_kexpr *value;
	struct tn_kbuf *lanes;
};

struct laner {
	const struct tn_step *step;
	struct tn_kstmt *loop;
	int64_t n, width;
	int nsums;
	struct sum sums[MOST_SUMS];
	const struct tn_kexpr *whole, *rest;
	struct tn_kvar *outer;
};

/* ---- What it sums -------------------------------------------------------- */

/* The reduction that joins elements by the operator, or NULL. */
static const struct tn_op_info *reduction_of(enum tn_opcode code)
{
	int i;

	for (i = 0; i < TN_OP_COUNT; i++)
		if (tn_ops[i].op_class == TN_CLASS_REDUCE &&
		    !tn_op_has((enum tn_opcode)i, TN_FLAG_ARG) &&
		    tn_ops[i].combine == code &&
		    tn_ops[i].identity != TN_IDENTITY_NONE)
			return &tn_ops[i];
	return NULL;
}

static bool is_var(const struct tn_kexpr *e, const struct tn_kvar *var)
{
	return e->kind == TN_KEXPR_VAR && e->var == var;
}

/* Takes var = code(var, value) apart. */
static bool take_sum(struct sum *sum, struct tn_kstmt *set)
{
	const struct tn_kexpr *e = set->value;
	int i;

	sum->set = set;
	if (set->accumulate) {
		sum->code = TN_OP_add;
		sum->value = e;
		return true;
	}
	if (e->kind != TN_KEXPR_OP || e->nargs != 2 || e->is_index ||
	    !tn_op_has(e->code, TN_FLAG_COMMUTES))
		return false;
	i = is_var(e->args[0], set->var) ? 1 : 0;
	sum->code = e->code;
	sum->value = e->args[i];
	return is_var(e->args[1 - i], set->var);
}

static bool refuse_body(const struct laner *l)
{
	return tn_step_refuse(l->step, "'%s' does more than name and sum up",
			      l->loop->var->name);
}

static bool find_sums(struct laner *l)
{
	struct tn_kstmt *s;

	for (s = l->loop->body.first; s; s = s->next) {
		if (s->kind == TN_KSTMT_LET && !s->var->is_mutable)
			continue;
		if (s->kind != TN_KSTMT_SET ||
		    tn_kblock_declares(&l->loop->body, s->var))
			return refuse_body(l);
		if (l->nsums == MOST_SUMS ||
		    !take_sum(&l->sums[l->nsums], s) ||
		    !reduction_of(l->sums[l->nsums].code))
			return tn_step_refuse(l->step, "'%s' is not summed up "
				"in any order", s->var->name);
		l->nsums++;
	}
	return l->nsums > 0 || refuse_body(l);
}

static bool is_sum(void *data, const struct tn_kexpr *e)
{
	const struct laner *l = data;
	int i;

	for (i = 0; i < l->nsums; i++)
		if (is_var(e, l->sums[i].set->var))
			return true;
	return false;
}

/* A sum is read by nothing but its own accumulation, once. */
static bool are_apart(struct laner *l)
{
	struct tn_kstmt *s;
	int i, k;

	for (s = l->loop->body.first; s; s = s->next)
		if (s->kind == TN_KSTMT_LET &&
		    tn_kexpr_find(s->value, is_sum, l))
			return refuse_body(l);
	for (i = 0; i < l->nsums; i++) {
		if (tn_kexpr_find(l->sums[i].value, is_sum, l))
			return refuse_body(l);
		for (k = 0; k < i; k++)
			if (l->sums[k].set->var == l->sums[i].set->var)
				return refuse_body(l);
	}
	return true;
}

/* ---- The loops ----------------------------------------------------------- */

static bool read_size(struct laner *l)
{
	char *end;
	const char *width = tn_step_option(l->step, "width", NULL);

	l->n = strtoll(l->step->args[1], &end, 10);
	if (*end || l->n < 2 || l->n > MOST_LANES || (l->n & (l->n - 1)))
		return tn_step_refuse(l->step, "needs a power of two from 2 "
				      "to %d", MOST_LANES);
	l->width = width ? strtoll(width, &end, 10) : WIDTH;
	if (width && (*end || l->width < 1 || l->width > MOST_LANES ||
		      (l->width & (l->width - 1))))
		return tn_step_refuse(l->step, "width is a power of two up "
				      "to %d", MOST_LANES);
	return true;
}

static bool measure(struct laner *l)
{
	struct tn_kernel *k = l->step->kernel;
	const struct tn_kexpr *turns = tn_kloop_distance(k, l->loop);
	const struct tn_kexpr *n = tn_kexpr_int(k, TN_i64, l->n);
	int64_t lo, hi;

	if (!turns || !n)
		return false;
	tn_kexpr_bounds(turns, &lo, &hi);
	if (lo < 0 || hi == INT64_MAX || l->loop->step != 1 ||
	    l->loop->loop != TN_LOOP_FOR)
		return tn_step_refuse(l->step, "'%s' must be a loop by 1 of a "
				      "known size, and no more than that",
				      l->loop->var->name);
	l->whole = tn_kexpr_fdiv(k, turns, n);
	l->rest = tn_kexpr_mod(k, turns, n);
	if (l->whole && tn_kexpr_is_int(l->whole, 0))
		return tn_step_refuse(l->step, "'%s' has fewer turns than "
				      "lanes", l->loop->var->name);
	return l->whole && l->rest;
}

static bool make_lanes(struct laner *l, struct tn_kblock *out)
{
	struct tn_kernel *k = l->step->kernel;
	const struct tn_dim *n = tn_dim_const(&k->module->dims, l->n);
	struct tn_kvar *var;
	const char *name;
	int i;

	for (i = 0; n && i < l->nsums; i++) {
		var = l->sums[i].set->var;
		name = tn_arena_printf(&k->module->arena, "%s__lanes",
				       var->name);
		name = name ? tn_step_fresh(l->step, name) : NULL;
		if (!name)
			return false;
		l->sums[i].lanes = tn_kernel_local(k, name, var->dtype, 1, &n,
						   TN_SPACE_REG);
		if (!l->sums[i].lanes ||
		    !tn_kstmt_alloc(k, out, l->sums[i].lanes))
			return false;
	}
	return n != NULL;
}

/* An empty loop over n lanes. */
static struct tn_kstmt *lane_loop(struct laner *l, struct tn_kblock *out,
				  int64_t n)
{
	struct tn_kernel *k = l->step->kernel;
	struct tn_kvar *var = tn_step_derive(l->step, l->loop->var, "1");
	struct tn_kstmt *loop;

	loop = var ? tn_kstmt_loop(k, out, TN_LOOP_VEC, var,
				   tn_kexpr_int(k, TN_i64, 0),
				   tn_kexpr_int(k, TN_i64, n)) : NULL;
	if (loop)
		loop->is_independent = true;
	return loop;
}

/* What a lane begins with: what changes nothing. */
static const struct tn_kexpr *neutral(struct laner *l, const struct sum *sum)
{
	struct tn_kernel *k = l->step->kernel;
	enum tn_dtype dtype = sum->set->var->dtype;
	int64_t value = 0;

	switch (reduction_of(sum->code)->identity) {
	case TN_IDENTITY_1:
		value = 1;
		break;
	case TN_IDENTITY_LOWEST:
	case TN_IDENTITY_HIGHEST:
		return tn_kexpr_var(k, sum->set->var);
	case TN_IDENTITY_0:
	case TN_IDENTITY_NONE:
		break;
	}
	return tn_dtype_is(dtype, TN_KIND_F) ?
		tn_kexpr_float(k, dtype, (double)value) :
		tn_kexpr_int(k, dtype, value);
}

static bool fill(struct laner *l, struct tn_kblock *out)
{
	struct tn_kernel *k = l->step->kernel;
	const struct tn_kexpr *lane;
	struct tn_kstmt *loop = lane_loop(l, out, l->n);
	int i;

	lane = loop ? tn_kexpr_var(k, loop->var) : NULL;
	for (i = 0; lane && i < l->nsums; i++)
		if (!tn_kstmt_store(k, &loop->body, l->sums[i].lanes, 1, &lane,
				    neutral(l, &l->sums[i]), false))
			return false;
	return lane != NULL;
}

static const struct tn_kexpr *join_by(struct tn_kernel *k, enum tn_opcode code,
				      const struct tn_kexpr *a,
				      const struct tn_kexpr *b)
{
	const struct tn_kexpr *args[2];

	args[0] = a;
	args[1] = b;
	return a && b ? tn_kexpr_op(k, code, a->dtype, 2, args) : NULL;
}

/* An accumulation of the body becomes one to its lane. */
static bool to_lane(struct laner *l, struct tn_kstmt *s,
		    const struct tn_kexpr *lane)
{
	struct tn_kernel *k = l->step->kernel;
	struct sum sum = { 0 };
	int i;

	for (i = 0; l->sums[i].set->var != s->var; )
		i++;
	if (!take_sum(&sum, s))
		return false;
	if (!s->accumulate)
		s->value = join_by(k, sum.code,
				   tn_kexpr_load(k, l->sums[i].lanes, 1,
						 &lane), sum.value);
	s->kind = TN_KSTMT_STORE;
	s->var = NULL;
	s->buf = l->sums[i].lanes;
	s->nindex = 1;
	s->index = tn_arena_copy(&k->module->arena, &lane, sizeof lane);
	return s->value && s->index;
}

static bool sum_lanes(struct laner *l, struct tn_kblock *out)
{
	struct tn_kernel *k = l->step->kernel;
	const struct tn_kexpr *index, *lane;
	struct tn_kstmt *outer, *inner, *s;

	l->outer = tn_step_derive(l->step, l->loop->var, "0");
	outer = l->outer ? tn_kstmt_loop(k, out, TN_LOOP_FOR, l->outer,
					 tn_kexpr_int(k, TN_i64, 0),
					 l->whole) : NULL;
	inner = outer ? lane_loop(l, &outer->body, l->n) : NULL;
	lane = inner ? tn_kexpr_var(k, inner->var) : NULL;
	if (!lane)
		return false;
	index = tn_kexpr_mul(k, tn_kexpr_var(k, l->outer),
			     tn_kexpr_int(k, TN_i64, l->n));
	index = tn_kexpr_add(k, l->loop->from, tn_kexpr_add(k, index, lane));
	if (!index || !tn_kblock_clone(k, &l->loop->body, &inner->body,
				       l->loop->var, index))
		return false;
	for (s = inner->body.first; s; s = s->next)
		if (s->kind == TN_KSTMT_SET && !to_lane(l, s, lane))
			return false;
	return true;
}

/* ---- Joining the lanes --------------------------------------------------- */

/* lanes[i] joins lanes[i + n], for i in 0..n. */
static bool halve(struct laner *l, struct tn_kblock *out, int64_t n)
{
	struct tn_kernel *k = l->step->kernel;
	struct tn_kstmt *loop = lane_loop(l, out, n);
	const struct tn_kexpr *a, *b;
	const struct sum *sum;
	int i;

	a = loop ? tn_kexpr_var(k, loop->var) : NULL;
	b = a ? tn_kexpr_add(k, a, tn_kexpr_int(k, TN_i64, n)) : NULL;
	for (i = 0; b && i < l->nsums; i++) {
		sum = &l->sums[i];
		if (!tn_kstmt_store(k, &loop->body, sum->lanes, 1, &a,
				    join_by(k, sum->code,
					    tn_kexpr_load(k, sum->lanes, 1,
							  &a),
					    tn_kexpr_load(k, sum->lanes, 1,
							  &b)), false))
			return false;
	}
	return b != NULL;
}

/* The first n lanes as one expression, joined in halves. */
static const struct tn_kexpr *tree(struct laner *l, const struct sum *sum,
				   int64_t n)
{
	struct tn_kernel *k = l->step->kernel;
	const struct tn_kexpr *terms[MOST_LANES], *at;
	int64_t i;

	for (i = 0; i < n; i++) {
		at = tn_kexpr_int(k, TN_i64, i);
		terms[i] = at ? tn_kexpr_load(k, sum->lanes, 1, &at) : NULL;
	}
	for (n /= 2; n > 0; n /= 2)
		for (i = 0; i < n; i++)
			terms[i] = join_by(k, sum->code, terms[i],
					   terms[i + n]);
	return terms[0];
}

static bool finish(struct laner *l, struct tn_kblock *out)
{
	struct tn_kernel *k = l->step->kernel;
	const struct tn_kexpr *all;
	const struct sum *sum;
	int64_t n = l->n;
	int i;

	for (n /= 2; n >= l->width; n /= 2)
		if (!halve(l, out, n))
			return false;
	n = l->n < l->width ? l->n : l->width;
	for (i = 0; i < l->nsums; i++) {
		sum = &l->sums[i];
		all = tree(l, sum, n);
		if (all && !sum->set->accumulate)
			all = join_by(k, sum->code,
				      tn_kexpr_var(k, sum->set->var), all);
		if (!all || !tn_kstmt_set(k, out, sum->set->var, all,
					  sum->set->accumulate))
			return false;
	}
	return true;
}

/* The loop goes on where the lanes end, or away. */
static bool leave_rest(struct laner *l)
{
	struct tn_kernel *k = l->step->kernel;
	const struct tn_kexpr *done;

	if (tn_kexpr_is_int(l->rest, 0)) {
		tn_kstmt_remove(l->loop);
		return true;
	}
	done = tn_kexpr_mul(k, l->whole, tn_kexpr_int(k, TN_i64, l->n));
	l->loop->from = tn_kexpr_add(k, l->loop->from, done);
	return l->loop->from != NULL;
}

static bool lane(const struct tn_step *step, struct tn_kstmt *loop)
{
	struct laner l = { .step = step, .loop = loop };
	struct tn_kblock out = { NULL, NULL };
	struct tn_kstmt *s;

	if (!read_size(&l) || !find_sums(&l) || !are_apart(&l) ||
	    !measure(&l))
		return false;
	if (!make_lanes(&l, &out) || !fill(&l, &out) ||
	    !sum_lanes(&l, &out) || !finish(&l, &out))
		return false;
	while ((s = out.first)) {
		tn_kstmt_remove(s);
		tn_kstmt_insert(loop->parent, s, loop);
	}
	return leave_rest(&l);
}

bool tn_step_lanes(const struct tn_step *step)
{
	return tn_step_may_derive(step, step->args[0], "0") &&
		tn_step_may_derive(step, step->args[0], "1") &&
		tn_step_each(step, 0, lane);
}
