/*
 * Guards: a loop whose bounds move with a nest, as one with fixed bounds and a
 * condition, so that the nest can go inside it.
 *
 *   for s in max(1 - w, 0)..min(3, 57 - w) { .. }
 *   ->  for s in 0..3 { if 1 - w <= s and s < 57 - w { .. } }
 *
 * The turns and their order stay; those outside do nothing.
 */
#include "passes/schedule.h"

#include "base/num.h"

static bool is_op(const struct tn_kexpr *e, enum tn_opcode code)
{
	return e->kind == TN_KEXPR_OP && e->code == code &&
		e->dtype == TN_i64 && e->nargs == 2;
}

/* The question: a number that e is never above (up) or below, at a place. */
struct ends {
	const struct tn_kernel *kernel;
	const struct tn_kstmt *at;
	bool up;
};

/* The value of an immutable let in front of the place; NULL: none. */
static const struct tn_kexpr *let_of(const struct ends *ends,
				     const struct tn_kvar *var)
{
	const struct tn_kstmt *at, *s;

	for (at = ends->at; at; at = tn_kstmt_around(ends->kernel, at))
		for (s = at->prev; s; s = s->prev)
			if (s->kind == TN_KSTMT_LET && s->var == var)
				return var->is_mutable ? NULL : s->value;
	return NULL;
}

static bool find_end(const struct ends *ends, const struct tn_kexpr *e,
		     int64_t *end);

/* Of a minimum from above, a maximum from below, either side will do. */
static bool find_either(const struct ends *ends, const struct tn_kexpr *e,
			int64_t *end)
{
	int64_t a, b;
	bool has_a = find_end(ends, e->args[0], &a);
	bool has_b = find_end(ends, e->args[1], &b);

	if (!has_a && !has_b)
		return false;
	*end = !has_b || (has_a && (ends->up ? a < b : a > b)) ? a : b;
	return true;
}

static bool find_both(const struct ends *ends, const struct tn_kexpr *e,
		      int64_t *end)
{
	int64_t a, b;

	if (!find_end(ends, e->args[0], &a) || !find_end(ends, e->args[1], &b))
		return false;
	*end = (ends->up ? a > b : a < b) ? a : b;
	return true;
}

static bool find_quotient(const struct ends *ends, const struct tn_kexpr *e,
			  int64_t *end)
{
	int64_t a;

	if (!e->is_index || e->args[1]->kind != TN_KEXPR_INT ||
	    e->args[1]->i < 1 || !find_end(ends, e->args[0], &a))
		return false;
	*end = tn_num_floordiv(a, e->args[1]->i);
	return true;
}

static bool find_end(const struct ends *ends, const struct tn_kexpr *e,
		     int64_t *end)
{
	const struct tn_kexpr *let = e->kind == TN_KEXPR_VAR ?
		let_of(ends, e->var) : NULL;
	int64_t lo, hi;

	if (let)
		return find_end(ends, let, end);
	if (is_op(e, TN_OP_min) || is_op(e, TN_OP_max))
		return ends->up == (e->code == TN_OP_min) ?
			find_either(ends, e, end) : find_both(ends, e, end);
	if (is_op(e, TN_OP_add) && e->is_index)
		return find_end(ends, e->args[0], &lo) &&
			find_end(ends, e->args[1], &hi) &&
			tn_num_add(lo, hi, end);
	if (is_op(e, TN_OP_fdiv))
		return find_quotient(ends, e, end);
	tn_kexpr_bounds(e, &lo, &hi);
	*end = ends->up ? hi : lo;
	return ends->up ? hi != INT64_MAX : lo != INT64_MIN;
}

/* The other side of a minimum or maximum with a number. */
static const struct tn_kexpr *without(const struct tn_kexpr *e,
				      enum tn_opcode code, int64_t number)
{
	if (!is_op(e, code))
		return e;
	if (tn_kexpr_is_int(e->args[1], number))
		return e->args[0];
	return tn_kexpr_is_int(e->args[0], number) ? e->args[1] : e;
}

/* a of (a + d - 1) // d, the quotient rounded up; NULL: e is none. */
static const struct tn_kexpr *dividend(const struct tn_kexpr *e, int64_t *d)
{
	const struct tn_kexpr *sum;

	if (!is_op(e, TN_OP_fdiv) || !e->is_index ||
	    e->args[1]->kind != TN_KEXPR_INT || e->args[1]->i < 2)
		return NULL;
	*d = e->args[1]->i;
	sum = e->args[0];
	return is_op(sum, TN_OP_add) && sum->is_index &&
		tn_kexpr_is_int(sum->args[1], *d - 1) ? sum->args[0] : NULL;
}

/* What is left of a bound where the turn is known to be in lo..hi: of
 * min(hi, max(x, lo)) x. Of (max(x, 0) + d - 1) // d, with lo = 0, it is x as
 * well, for *by = d times the turn. */
static const struct tn_kexpr *strip(const struct tn_kexpr *e, bool up,
				    int64_t lo, int64_t hi, int64_t *by)
{
	const struct tn_kexpr *whole;

	*by = 1;
	e = up ? without(e, TN_OP_min, hi) : without(e, TN_OP_max, lo);
	whole = dividend(e, by);
	if (whole)
		return without(whole, TN_OP_max, lo ? INT64_MIN : 0);
	*by = 1;
	return up ? without(e, TN_OP_max, lo) : without(e, TN_OP_min, hi);
}

/* a and b; either may be NULL. */
static const struct tn_kexpr *both(struct tn_kernel *k,
				   const struct tn_kexpr *a,
				   const struct tn_kexpr *b)
{
	const struct tn_kexpr *args[2];

	args[0] = a;
	args[1] = b;
	return a && b ? tn_kexpr_op(k, TN_OP_and, TN_bool, 2, args) :
		a ? a : b;
}

bool tn_schedule_enclose(struct tn_kernel *k, const struct tn_kstmt *loop,
			 const struct tn_kexpr **from,
			 const struct tn_kexpr **to,
			 const struct tn_kexpr **cond)
{
	const struct tn_kexpr *args[2], *above = NULL, *below = NULL;
	const struct tn_kexpr *var = tn_kexpr_var(k, loop->var);
	struct ends least = { k, loop, false }, most = { k, loop, true };
	int64_t lo, hi, by;

	if (loop->step != 1 || !find_end(&least, loop->from, &lo) ||
	    !find_end(&most, loop->to, &hi))
		return false;
	*from = tn_kexpr_int(k, TN_i64, lo);
	*to = tn_kexpr_int(k, TN_i64, hi);
	if (!tn_kexpr_is_int(loop->from, lo)) {
		args[0] = strip(loop->from, false, lo, hi, &by);
		args[1] = tn_kexpr_mul(k, var, tn_kexpr_int(k, TN_i64, by));
		above = tn_kexpr_op(k, TN_OP_le, TN_bool, 2, args);
	}
	if (!tn_kexpr_is_int(loop->to, hi)) {
		args[1] = strip(loop->to, true, lo, hi, &by);
		args[0] = tn_kexpr_mul(k, var, tn_kexpr_int(k, TN_i64, by));
		below = tn_kexpr_op(k, TN_OP_lt, TN_bool, 2, args);
	}
	*cond = both(k, above, below);
	return *from && *to && var && !k->module->arena.failed;
}
