/*
 * Dims under inference: compared, stretched, bounded, collected to results.
 *
 * Two dims are the same when their difference is 0, differ when it cannot be
 * 0 or when they speak of dims declared apart, and are guarded at entry when
 * one expression over the same dims may equal the other: S // 2 * 2 and S.
 */
#include "ir/infer_rules.h"

#include <stdint.h>

const struct tn_dim *tn_infer_const(struct tn_infer *inf, int64_t value)
{
	return tn_dim_const(&inf->module->dims, value);
}

bool tn_infer_made(struct tn_infer *inf, const struct tn_dim *dim)
{
	if (dim)
		return true;
	if (inf->module->arena.failed) {
		inf->module->failed = true;
		return false;
	}
	return tn_infer_fail(inf, TN_E0319,
			     "sizes of '%s' leave the 64-bit range",
			     inf->info->name);
}

/* Whether a symbol of one dim occurs in another, and run-time symbols. */
struct meet {
	const struct tn_dim *other;
	const struct tn_sym *wanted;
	bool found, missing, runtime;
};

static void see_wanted(void *data, const struct tn_dim *dim)
{
	struct meet *meet = data;

	meet->found = meet->found || dim->sym == meet->wanted;
}

static void see_symbol(void *data, const struct tn_dim *dim)
{
	struct meet *meet = data;
	struct meet inner = { .wanted = dim->sym };

	meet->runtime = meet->runtime || dim->sym->is_runtime;
	tn_dim_each_sym(meet->other, see_wanted, &inner);
	if (inner.found)
		meet->found = true;
	else
		meet->missing = true;
}

static bool is_atom_fixed(const struct tn_dim *atom)
{
	return atom->kind == TN_DIM_SYM;
}

/* No division, remainder, minimum or maximum anywhere at the top level. */
static bool is_polynomial(const struct tn_dim *dim)
{
	int i;

	if (dim->kind == TN_DIM_CONST || dim->kind == TN_DIM_SYM)
		return true;
	if (dim->kind != TN_DIM_SUM)
		return false;
	for (i = 0; i < dim->nterms; i++) {
		int j;

		for (j = 0; j < dim->terms[i].natoms; j++) {
			if (!is_atom_fixed(dim->terms[i].atoms[j]))
				return false;
		}
	}
	return true;
}

static enum tn_infer_relation relate(struct tn_infer *inf,
				     const struct tn_dim *a,
				     const struct tn_dim *b)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	struct meet left = { .other = b }, right = { .other = a };
	const struct tn_dim *difference;
	int64_t lo, hi;

	if (a == b)
		return TN_DIMS_SAME;
	difference = tn_dim_sub(pool, a, b);
	if (!difference)
		return TN_DIMS_DIFFER;
	if (tn_dim_is(difference, 0))
		return TN_DIMS_SAME;
	tn_dim_bounds(difference, &lo, &hi);
	if (lo > 0 || hi < 0)
		return TN_DIMS_DIFFER;
	if (lo == 0 && hi == 0)
		return TN_DIMS_SAME;
	tn_dim_each_sym(a, see_symbol, &left);
	tn_dim_each_sym(b, see_symbol, &right);
	if (left.runtime || right.runtime || !(left.found || right.found) ||
	    (left.missing && right.missing) || is_polynomial(difference))
		return TN_DIMS_DIFFER;
	return TN_DIMS_MAYBE;
}

bool tn_infer_guard(struct tn_infer *inf, enum tn_guard_kind kind,
		    const struct tn_dim *a, const struct tn_dim *b)
{
	struct tn_vec *guards = &inf->fn->guards;
	struct tn_guard *guard;
	size_t i;

	for (i = 0; i < guards->len; i++) {
		guard = tn_vec_at(guards, i);
		if (guard->kind == kind && guard->a == a && guard->b == b)
			return true;
	}
	guard = tn_vec_push(guards);
	if (!guard) {
		inf->module->failed = true;
		return false;
	}
	guard->kind = kind;
	guard->a = a;
	guard->b = b;
	guard->span = inf->op->span;
	return true;
}

bool tn_infer_same(struct tn_infer *inf, const struct tn_dim *a,
		   const struct tn_dim *b)
{
	switch (relate(inf, a, b)) {
	case TN_DIMS_SAME:
		return true;
	case TN_DIMS_MAYBE:
		return tn_infer_guard(inf, TN_GUARD_EQ, a, b);
	case TN_DIMS_DIFFER:
		break;
	}
	return false;
}

static bool mismatch(struct tn_infer *inf, const struct tn_dim *a,
		     const struct tn_dim *b, const char *what, int axis,
		     const char *from)
{
	struct tn_sink *sink = inf->module->sink;
	struct tn_diag *diag = tn_infer_report(inf, TN_E0312,
			"'%s' cannot combine these shapes", inf->info->name);
	const char *left = tn_infer_dim_text(inf, a);
	const char *right = tn_infer_dim_text(inf, b);

	tn_diag_note(sink, diag, "%saxis %d%s: %s against %s", what, axis,
		     from, left, right);
	tn_infer_note_dim(inf, diag, a);
	tn_infer_note_dim(inf, diag, b);
	if (a->kind == TN_DIM_SYM && b->kind == TN_DIM_SYM)
		tn_diag_help(sink, diag, "dims declared apart never combine; "
			     "use one dim for both: %s", left);
	else if (tn_dim_is_const(a) != tn_dim_is_const(b))
		tn_diag_help(sink, diag, "a dim stretches only where its type "
			     "is the literal 1; give both the same size");
	return false;
}

bool tn_infer_match(struct tn_infer *inf, const struct tn_dim *a,
		    const struct tn_dim *b, const char *what, int axis)
{
	return tn_infer_same(inf, a, b) ||
	       mismatch(inf, a, b, what, axis, "");
}

bool tn_infer_stretch(struct tn_infer *inf, const struct tn_dim **a,
		      const struct tn_dim *b, int from_right)
{
	if (*a == b || tn_dim_is(b, 1))
		return true;
	if (tn_dim_is(*a, 1)) {
		*a = b;
		return true;
	}
	return tn_infer_same(inf, *a, b) ||
	       mismatch(inf, *a, b, "", from_right, " from the right");
}

bool tn_infer_le(struct tn_infer *inf, const struct tn_dim *a,
		 const struct tn_dim *b)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_dim *slack;
	int64_t lo, hi;

	if (tn_dim_proves_le(pool, a, b))
		return true;
	slack = tn_dim_sub(pool, b, a);
	if (!slack)
		return false;
	tn_dim_bounds(slack, &lo, &hi);
	if (hi < 0 || tn_dim_has_runtime(slack))
		return false;
	return tn_infer_guard(inf, TN_GUARD_LE, a, b);
}

bool tn_infer_divides(struct tn_infer *inf, const struct tn_dim *a,
		      const struct tn_dim *b)
{
	struct tn_dim_pool *pool = &inf->module->dims;

	if (tn_dim_proves_divides(pool, a, b))
		return true;
	if ((tn_dim_is_const(a) && tn_dim_is_const(b)) ||
	    tn_dim_has_runtime(a) || tn_dim_has_runtime(b))
		return false;
	return tn_infer_guard(inf, TN_GUARD_DIVIDES, a, b);
}

bool tn_infer_push(struct tn_infer *inf, const struct tn_dim *dim)
{
	if (!tn_infer_made(inf, dim))
		return false;
	if (inf->rank == TN_MAX_RANK)
		return tn_infer_fail(inf, TN_E0311,
				     "the result of '%s' would have more than "
				     "%d axes", inf->info->name, TN_MAX_RANK);
	inf->dims[inf->rank++] = dim;
	return true;
}

bool tn_infer_push_axes(struct tn_infer *inf, const struct tn_type *type,
			int from, int to)
{
	int i;

	for (i = from; i < to; i++) {
		if (!tn_infer_push(inf, type->dims[i]))
			return false;
	}
	return true;
}

static bool check_size(struct tn_infer *inf, const struct tn_dim *dim)
{
	const struct tn_dim *zero;
	struct tn_diag *diag;
	int64_t lo, hi;

	if (dim->kind == TN_DIM_SYM)
		return true;
	tn_dim_bounds(dim, &lo, &hi);
	if (lo >= 0)
		return true;
	zero = tn_infer_const(inf, 0);
	if (zero && tn_infer_le(inf, zero, dim))
		return true;
	diag = tn_infer_report(inf, TN_E0318,
			       "'%s' would have an axis of negative size: %s",
			       inf->info->name, tn_infer_dim_text(inf, dim));
	tn_infer_note_dim(inf, diag, dim);
	return false;
}

bool tn_infer_push_shape(struct tn_infer *inf)
{
	const struct tn_attr *shape = tn_infer_attr(inf, "shape");
	int i;

	for (i = 0; i < shape->count; i++) {
		if (!tn_infer_push(inf, shape->u.dims[i]))
			return false;
	}
	return true;
}

bool tn_infer_result(struct tn_infer *inf, int index, enum tn_dtype dtype)
{
	const struct tn_type *type;
	int i;

	for (i = 0; i < inf->rank; i++) {
		if (!check_size(inf, inf->dims[i]))
			return false;
	}
	type = tn_type_get(inf->module, dtype, inf->rank, inf->dims);
	if (!type) {
		inf->module->failed = true;
		return false;
	}
	if (inf->rank > 1 && !tn_infer_made(inf,
			tn_type_count(inf->module, type)))
		return false;
	inf->op->out[index]->type = type;
	return true;
}

bool tn_infer_rank(struct tn_infer *inf, int i, int rank)
{
	if (tn_infer_in(inf, i)->rank == rank)
		return true;
	return tn_infer_fail(inf, TN_E0310, "operand %d of '%s' must have "
			     "%d axes, not %d", i + 1, inf->info->name, rank,
			     tn_infer_in(inf, i)->rank);
}

bool tn_infer_rank_min(struct tn_infer *inf, int i, int rank)
{
	if (tn_infer_in(inf, i)->rank >= rank)
		return true;
	return tn_infer_fail(inf, TN_E0310, "operand %d of '%s' must have at "
			     "least %d axes, not %d", i + 1, inf->info->name,
			     rank, tn_infer_in(inf, i)->rank);
}
