/*
 * Is index arithmetic plain: in 64 bits, with divisors above 0?
 *
 * In: an operator of index arithmetic, the facts of its place. Out: true if it
 * is proved that its value is that of mathematics. What is made of sizes and
 * turns of loops alone never leaves 64 bits, as buffers have no such sizes; of
 * what is read from data the range is asked for.
 *
 *   let at: i64 = k[i];
 *   if at + 5 < N { .. }                          not plain
 *   if 0 <= at && at < N { .. at + 5 .. }         plain
 */
#include "ir/kernel_range_impl.h"

#include "base/num.h"
#include "ir/dim_node.h"
#include "ir/kernel_walk.h"

/* What operands are asked to stay within: of sums, of products. */
#define MOST_OF_SUM (INT64_C(1) << 61)
#define MOST_OF_PRODUCT (INT64_C(1) << 31)

struct tn_kspan {
	int64_t lo, hi;
};

static struct tn_kspan span_of(struct tn_krange *r, const struct tn_kexpr *e);

/* ---- Data -------------------------------------------------------------- */

static bool is_data(void *data, const struct tn_kexpr *e)
{
	const struct tn_krange *r = data;

	if (e->kind == TN_KEXPR_VAR)
		return e->var->is_mutable || tn_map_has(&r->data, e->var);
	if (e->kind == TN_KEXPR_OP)
		return !e->is_index && e->code != TN_OP_min &&
			e->code != TN_OP_max && e->code != TN_OP_select;
	return e->kind == TN_KEXPR_LOAD;
}

static bool has_data(struct tn_krange *r, const struct tn_kexpr *e)
{
	return tn_kexpr_find(e, is_data, r) != NULL;
}

static void keep_span(struct tn_krange *r, const struct tn_kvar *var,
		      struct tn_kspan span)
{
	struct tn_kspan *copy = tn_arena_copy(&r->arena, &span, sizeof span);

	if (!copy || !tn_map_set(&r->data, var, copy))
		r->failed = true;
}

void tn_krange_note_let(struct tn_krange *r, const struct tn_kstmt *let)
{
	if (let->var->dtype == TN_i64 && !let->var->is_mutable &&
	    has_data(r, let->value))
		keep_span(r, let->var, span_of(r, let->value));
}

void tn_krange_note_loop(struct tn_krange *r, const struct tn_kstmt *loop)
{
	struct tn_kspan from, to;

	if (!has_data(r, loop->from) && !has_data(r, loop->to))
		return;
	from = span_of(r, loop->from);
	to = span_of(r, loop->to);
	from.hi = to.hi > from.lo ? to.hi - 1 : from.lo;
	keep_span(r, loop->var, from);
}

bool tn_krange_steps_over(struct tn_krange *r, const struct tn_kstmt *loop)
{
	struct tn_kspan to;
	int64_t end;

	if (loop->step == 1 || !has_data(r, loop->to))
		return false;
	to = span_of(r, loop->to);
	return !tn_num_add(to.hi, loop->step, &end);
}

/* ---- Spans ------------------------------------------------------------- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* The span of a product; false: it leaves 64 bits. */
static bool multiply(struct tn_kspan a, struct tn_kspan b, struct tn_kspan *out)
{
	int64_t p, q, s, t;

	if (!tn_num_mul(a.lo, b.lo, &p) || !tn_num_mul(a.lo, b.hi, &q) ||
	    !tn_num_mul(a.hi, b.lo, &s) || !tn_num_mul(a.hi, b.hi, &t))
		return false;
	out->lo = least(least(p, q), least(s, t));
	out->hi = most(most(p, q), most(s, t));
	return true;
}

/* The span of an operator of index arithmetic; false: it may not be plain. */
static bool apply(enum tn_opcode code, struct tn_kspan a, struct tn_kspan b,
		  struct tn_kspan *out)
{
	switch ((int)code) {
	case TN_OP_add:
		return tn_num_add(a.lo, b.lo, &out->lo) &&
			tn_num_add(a.hi, b.hi, &out->hi);
	case TN_OP_sub:
		return tn_num_sub(a.lo, b.hi, &out->lo) &&
			tn_num_sub(a.hi, b.lo, &out->hi);
	case TN_OP_mul:
		return multiply(a, b, out);
	case TN_OP_fdiv:
	case TN_OP_mod:
		out->lo = 0;
		out->hi = code == TN_OP_fdiv ? a.hi : least(a.hi, b.hi - 1);
		return a.lo >= 0 && b.lo >= 1;
	default:
		return false;
	}
}

/* Of a narrower integer or a bool. */
static struct tn_kspan span_of_cast(const struct tn_kexpr *e)
{
	struct tn_kspan span = {INT64_MIN, INT64_MAX};
	enum tn_dtype dtype = e->args[0]->dtype;
	int bits = tn_dtype_bytes(dtype) * 8;

	if (dtype == TN_bool) {
		span.lo = 0;
		span.hi = 1;
	} else if (tn_dtype_is(dtype, TN_KIND_INT) && bits < 64) {
		bool is_signed = !tn_dtype_is(dtype, TN_KIND_U);

		span.hi = (INT64_C(1) << (bits - is_signed)) - 1;
		span.lo = is_signed ? -span.hi - 1 : 0;
	}
	return span;
}

/* Of min, max and select, and of a mask. */
static struct tn_kspan join(const struct tn_kexpr *e, struct tn_kspan a,
			    struct tn_kspan b)
{
	struct tn_kspan span = {INT64_MIN, INT64_MAX};

	switch ((int)e->code) {
	case TN_OP_min:
		span.lo = least(a.lo, b.lo);
		span.hi = least(a.hi, b.hi);
		break;
	case TN_OP_max:
		span.lo = most(a.lo, b.lo);
		span.hi = most(a.hi, b.hi);
		break;
	case TN_OP_select:
		span.lo = least(a.lo, b.lo);
		span.hi = most(a.hi, b.hi);
		break;
	case TN_OP_and:
		if (b.lo >= 0) {
			span.lo = 0;
			span.hi = b.hi;
		}
		break;
	default:
		break;
	}
	return span;
}

static struct tn_kspan span_of_op(struct tn_krange *r, const struct tn_kexpr *e)
{
	struct tn_kspan span = {INT64_MIN, INT64_MAX}, a, b, value;
	int first = e->code == TN_OP_select;

	if (e->code == TN_OP_cast)
		return span_of_cast(e);
	if (e->nargs - first != 2 || e->args[first]->dtype != TN_i64)
		return span;
	a = span_of(r, e->args[first]);
	b = span_of(r, e->args[first + 1]);
	if (!e->is_index)
		return join(e, a, b);
	return apply(e->code, a, b, &value) ? value : span;
}

static struct tn_kspan span_of(struct tn_krange *r, const struct tn_kexpr *e)
{
	struct tn_kspan span = {INT64_MIN, INT64_MAX};
	const struct tn_kspan *kept;

	switch (e->kind) {
	case TN_KEXPR_INT:
		span.lo = span.hi = e->i;
		break;
	case TN_KEXPR_DIM:
		tn_dim_bounds(e->dim, &span.lo, &span.hi);
		break;
	case TN_KEXPR_VAR:
		kept = tn_map_find(&r->data, e->var);
		if (kept)
			span = *kept;
		break;
	case TN_KEXPR_OP:
		return span_of_op(r, e);
	case TN_KEXPR_FLOAT:
	case TN_KEXPR_LOAD:
		break;
	}
	return span;
}

/* ---- Questions --------------------------------------------------------- */

/* Narrows the span by what is proved, where it is wider than `limit`. */
static void narrow(struct tn_krange *r, const struct tn_kexpr *e,
		   int64_t limit, struct tn_kspan *span)
{
	const struct tn_dim *zero = tn_dim_const(r->pool, 0);
	const struct tn_dim *lo = tn_dim_const(r->pool, -limit);
	const struct tn_dim *hi = tn_dim_const(r->pool, limit);

	if (!zero || !lo || !hi)
		return;
	if (span->lo < 0 && tn_krange_is_least(r, e, zero))
		span->lo = 0;
	if (span->lo < -limit && tn_krange_is_least(r, e, lo))
		span->lo = -limit;
	if (span->hi > limit && tn_krange_is_most(r, e, hi))
		span->hi = limit;
}

/* True if the divisor is a size above 0, perhaps because some loop around that
 * runs over a multiple of it has a turn. */
static bool is_divisor(struct tn_krange *r, const struct tn_kexpr *e)
{
	const struct tn_dim *one = tn_dim_const(r->pool, 1), *more;
	bool overflowed = r->pool->overflowed, found = false;
	const struct tn_affine *fact;
	struct tn_affine size;
	size_t i;

	if (!one || tn_krange_is_least(r, e, one))
		return one != NULL;
	if (!tn_krange_make(r, e, &size) || size.n ||
	    !tn_dim_proves_nonneg(r->pool, size.base))
		return false;
	for (i = 0; i < r->facts.len && !found; i++) {
		fact = tn_vec_ptr(&r->facts, i);
		more = fact->n ? NULL : tn_dim_add(r->pool, fact->base, one);
		found = more && tn_dim_exact(r->pool, more, size.base);
	}
	r->pool->overflowed = overflowed;
	return found;
}

bool tn_krange_is_plain(struct tn_krange *r, const struct tn_kexpr *e)
{
	bool is_mul = e->code == TN_OP_mul;
	int64_t limit = is_mul ? MOST_OF_PRODUCT : MOST_OF_SUM;
	struct tn_kspan a, b, unused;

	if (e->code == TN_OP_fdiv || e->code == TN_OP_mod)
		return tn_krange_is_least(r, e->args[0],
					  tn_dim_const(r->pool, 0)) &&
			is_divisor(r, e->args[1]);
	if (!has_data(r, e))
		return true;
	a = span_of(r, e->args[0]);
	b = span_of(r, e->args[1]);
	if (apply(e->code, a, b, &unused))
		return true;
	narrow(r, e->args[0], limit, &a);
	narrow(r, e->args[1], limit, &b);
	return apply(e->code, a, b, &unused);
}
