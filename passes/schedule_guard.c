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

/* The number that e is never beyond: above (up) or below. */
static bool find_end(const struct tn_kexpr *e, bool up, int64_t *end);

/* Of a minimum from above, a maximum from below, either side will do. */
static bool find_either(const struct tn_kexpr *e, bool up, int64_t *end)
{
	int64_t a, b;
	bool has_a = find_end(e->args[0], up, &a);
	bool has_b = find_end(e->args[1], up, &b);

	if (!has_a && !has_b)
		return false;
	*end = !has_b || (has_a && (up ? a < b : a > b)) ? a : b;
	return true;
}

static bool find_both(const struct tn_kexpr *e, bool up, int64_t *end)
{
	int64_t a, b;

	if (!find_end(e->args[0], up, &a) || !find_end(e->args[1], up, &b))
		return false;
	*end = (up ? a > b : a < b) ? a : b;
	return true;
}

static bool find_end(const struct tn_kexpr *e, bool up, int64_t *end)
{
	const struct tn_kexpr *by;
	int64_t lo, hi, a;

	if (is_op(e, TN_OP_min) || is_op(e, TN_OP_max))
		return up == (e->code == TN_OP_min) ? find_either(e, up, end) :
			find_both(e, up, end);
	if (is_op(e, TN_OP_add) && e->is_index)
		return find_end(e->args[0], up, &lo) &&
			find_end(e->args[1], up, &hi) &&
			tn_num_add(lo, hi, end);
	by = e->nargs == 2 ? e->args[1] : e;
	if (is_op(e, TN_OP_fdiv) && e->is_index && by->kind == TN_KEXPR_INT &&
	    by->i > 0) {
		if (!find_end(e->args[0], up, &a))
			return false;
		*end = tn_num_floordiv(a, by->i);
		return true;
	}
	tn_kexpr_bounds(e, &lo, &hi);
	*end = up ? hi : lo;
	return up ? hi != INT64_MAX : lo != INT64_MIN;
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

/* What is left of a bound where the turn is known to be in lo..hi: all of
 * min(hi, max(x, lo)) but x. */
static const struct tn_kexpr *strip(const struct tn_kexpr *e, bool up,
				    int64_t lo, int64_t hi)
{
	e = up ? without(e, TN_OP_min, hi) : without(e, TN_OP_max, lo);
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
	int64_t lo, hi;

	if (loop->step != 1 || !find_end(loop->from, false, &lo) ||
	    !find_end(loop->to, true, &hi))
		return false;
	*from = tn_kexpr_int(k, TN_i64, lo);
	*to = tn_kexpr_int(k, TN_i64, hi);
	if (!tn_kexpr_is_int(loop->from, lo)) {
		args[0] = strip(loop->from, false, lo, hi);
		args[1] = var;
		above = tn_kexpr_op(k, TN_OP_le, TN_bool, 2, args);
	}
	if (!tn_kexpr_is_int(loop->to, hi)) {
		args[0] = var;
		args[1] = strip(loop->to, true, lo, hi);
		below = tn_kexpr_op(k, TN_OP_lt, TN_bool, 2, args);
	}
	*cond = both(k, above, below);
	return *from && *to && var && !k->module->arena.failed;
}
