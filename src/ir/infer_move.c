/* Shape rules of movement: the same elements in other places. */
#include "ir/infer_rules.h"

/* ---- reshape ------------------------------------------------------------- */

static bool not_inferred(struct tn_infer *inf, const struct tn_dim *count,
			 const struct tn_dim *known)
{
	struct tn_diag *diag = tn_infer_report(inf, TN_E0316,
			"'reshape' cannot infer the size `_`: %s elements in "
			"rows of %s", tn_infer_dim_text(inf, count),
			tn_infer_dim_text(inf, known));

	tn_infer_note_dim(inf, diag, count);
	return false;
}

/* One product: its coefficient and atoms; false for sums and others. */
static bool one_product(const struct tn_dim *dim, int64_t *coef,
			const struct tn_dim *const **atoms, int *natoms,
			const struct tn_dim **self)
{
	*self = dim;
	*coef = dim->kind == TN_DIM_CONST ? dim->value : 1;
	*atoms = self;
	*natoms = dim->kind != TN_DIM_CONST;
	if (dim->kind != TN_DIM_SUM)
		return true;
	*coef = dim->terms[0].coef;
	*atoms = dim->terms[0].atoms;
	*natoms = dim->terms[0].natoms;
	return dim->nterms == 1;
}

/* count / known where known is a factor of the product, such as 6*N / (3*N):
 * this is 2 even where N may be 0. NULL: it is not. */
static const struct tn_dim *cancelled(struct tn_dim_pool *pool,
				      const struct tn_dim *count,
				      const struct tn_dim *known)
{
	const struct tn_dim *const *a, *const *b, *self[2], *quotient;
	int64_t num, den;
	int na, nb, i, k = 0;

	if (!one_product(count, &num, &a, &na, &self[0]) ||
	    !one_product(known, &den, &b, &nb, &self[1]) ||
	    den <= 0 || num % den)
		return NULL;
	quotient = tn_dim_const(pool, num / den);
	for (i = 0; i < na; i++) {
		if (k < nb && a[i] == b[k])
			k++;
		else
			quotient = tn_dim_mul(pool, quotient, a[i]);
	}
	return k == nb ? quotient : NULL;
}

/* Replaces the one NULL of the shape by count // product of the others. */
static bool infer_hole(struct tn_infer *inf, const struct tn_dim *count,
		       const struct tn_dim *known, int hole)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	struct tn_attr *shape = tn_infer_attr(inf, "shape");
	const struct tn_dim **dims, *quotient;

	if (tn_dim_is(known, 0))
		return not_inferred(inf, count, known);
	quotient = cancelled(pool, count, known);
	if (!quotient && !tn_infer_divides(inf, count, known))
		return not_inferred(inf, count, known);
	if (!quotient)
		quotient = tn_dim_floordiv(pool, count, known);
	dims = tn_arena_copy(&inf->module->arena, shape->u.dims,
			     (size_t)shape->count * sizeof(*dims));
	if (!dims) {
		inf->module->failed = true;
		return false;
	}
	dims[hole] = quotient;
	shape->u.dims = dims;
	return tn_infer_made(inf, dims[hole]);
}

static bool same_count(struct tn_infer *inf, const struct tn_dim *have,
		       const struct tn_dim *want)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_dim *difference = tn_dim_sub(pool, have, want);
	struct tn_diag *diag;
	int64_t lo = 1, hi = 1;

	if (have == want)
		return true;
	if (difference)
		tn_dim_bounds(difference, &lo, &hi);
	if (lo == 0 && hi == 0)
		return true;
	if (lo <= 0 && hi >= 0)
		return tn_infer_guard(inf, TN_GUARD_EQ, have, want);
	diag = tn_infer_report(inf, TN_E0315, "'reshape' of %s elements into "
			       "%s", tn_infer_dim_text(inf, have),
			       tn_infer_dim_text(inf, want));
	tn_infer_note_dim(inf, diag, have);
	tn_infer_note_dim(inf, diag, want);
	if (tn_dim_is_const(want) && want->value < 0)
		tn_diag_help(inf->module->sink, diag, "one size may be `_`, "
			     "which stands for what is left");
	return false;
}

/* Product of the sizes written; *hole is the place of `_` or -1. */
static bool known_product(struct tn_infer *inf, const struct tn_dim **product,
			  int *hole)
{
	const struct tn_attr *shape = tn_infer_attr(inf, "shape");
	int i;

	*hole = -1;
	*product = tn_infer_const(inf, 1);
	for (i = 0; i < shape->count; i++) {
		if (shape->u.dims[i])
			*product = tn_dim_mul(&inf->module->dims, *product,
					      shape->u.dims[i]);
		else if (*hole >= 0)
			return tn_infer_fail(inf, TN_E0316, "'reshape' can "
					     "infer one `_`, not several");
		else
			*hole = i;
	}
	return tn_infer_made(inf, *product);
}

TN_INFER_RULE(reshape)
{
	const struct tn_dim *count =
		tn_type_count(inf->module, tn_infer_in(inf, 0));
	const struct tn_dim *known;
	int hole;

	if (tn_infer_attr(inf, "shape")->count > TN_MAX_RANK)
		return tn_infer_fail(inf, TN_E0311, "the result of 'reshape' "
				     "would have more than %d axes",
				     TN_MAX_RANK);
	if (!tn_infer_made(inf, count) || !known_product(inf, &known, &hole))
		return false;
	if (hole >= 0 ? !infer_hole(inf, count, known, hole) :
	    !same_count(inf, count, known))
		return false;
	return tn_infer_push_shape(inf) && tn_infer_result(inf, 0, inf->dtype);
}

/* ---- transpose, broadcast, reverse --------------------------------------- */

static bool reversed_perm(struct tn_infer *inf, int rank)
{
	struct tn_attr *perm = tn_infer_attr(inf, "perm");
	int64_t *axes = tn_arena_array(&inf->module->arena, (size_t)rank + 1,
				       sizeof(*axes));
	int i;

	if (!axes) {
		inf->module->failed = true;
		return false;
	}
	for (i = 0; i < rank; i++)
		axes[i] = rank - 1 - i;
	perm->u.ints = axes;
	perm->count = rank;
	perm->is_set = true;
	return true;
}

TN_INFER_RULE(transpose)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	struct tn_attr *perm = tn_infer_attr(inf, "perm");
	int i;

	if (!perm->is_set && !reversed_perm(inf, type->rank))
		return false;
	if (perm->count != type->rank)
		return tn_infer_fail(inf, TN_E0506, "perm= of 'transpose' "
				     "names %d of %d axes", perm->count,
				     type->rank);
	if (!tn_infer_axes(inf, "perm", type->rank))
		return false;
	for (i = 0; i < perm->count; i++) {
		if (!tn_infer_push(inf, type->dims[perm->u.ints[i]]))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

TN_INFER_RULE(broadcast)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	int shift, i;

	if (!tn_infer_push_shape(inf))
		return false;
	shift = inf->rank - type->rank;
	if (shift < 0)
		return tn_infer_fail(inf, TN_E0310, "'broadcast' to %d axes "
				     "would lose some of %d", inf->rank,
				     type->rank);
	for (i = 0; i < type->rank; i++) {
		if (!tn_dim_is(type->dims[i], 1) &&
		    !tn_infer_match(inf, type->dims[i], inf->dims[shift + i],
				    "", i))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

TN_INFER_RULE(reverse)
{
	const struct tn_type *type = tn_infer_in(inf, 0);

	return tn_infer_axes(inf, "axes", type->rank) &&
	       tn_infer_push_axes(inf, type, 0, type->rank) &&
	       tn_infer_result(inf, 0, inf->dtype);
}

/* ---- slice --------------------------------------------------------------- */

static bool out_of_bounds(struct tn_infer *inf, int axis,
			  const struct tn_dim *start,
			  const struct tn_dim *stop)
{
	const struct tn_dim *size = tn_infer_in(inf, 0)->dims[axis];
	struct tn_sink *sink = inf->module->sink;
	struct tn_diag *diag = tn_infer_report(inf, TN_E0317,
			"slice %s:%s leaves axis %d of size %s",
			tn_infer_dim_text(inf, start),
			tn_infer_dim_text(inf, stop), axis,
			tn_infer_dim_text(inf, size));

	tn_infer_note_dim(inf, diag, size);
	if (tn_dim_is_const(start) && start->value < 0)
		tn_diag_help(sink, diag, "count from the end as %s - %lld",
			     tn_infer_dim_text(inf, size),
			     (long long)-(start->value + 1) + 1);
	return false;
}

/* ceil((stop - start) / step), after the bounds. */
static bool push_slice(struct tn_infer *inf, int axis,
		       const struct tn_dim *start, const struct tn_dim *stop,
		       int64_t step)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_dim *zero = tn_infer_const(inf, 0);
	const struct tn_dim *length;

	if (!tn_infer_made(inf, zero))
		return false;
	if (!tn_infer_le(inf, zero, start) ||
	    !tn_infer_le(inf, start, stop) ||
	    !tn_infer_le(inf, stop, tn_infer_in(inf, 0)->dims[axis]))
		return out_of_bounds(inf, axis, start, stop);
	length = tn_dim_sub(pool, stop, start);
	if (step > 1 && length) {
		length = tn_dim_is(length, 0) ? length :
			 tn_dim_add(pool, tn_dim_floordiv(pool,
				tn_dim_sub(pool, length,
					   tn_infer_const(inf, 1)),
				tn_infer_const(inf, step)),
				tn_infer_const(inf, 1));
	}
	return tn_infer_push(inf, length);
}

static bool fill_bounds(struct tn_infer *inf, const char *name, bool is_stop)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	struct tn_attr *attr = tn_infer_attr(inf, name);
	const struct tn_dim **dims;
	int i;

	if (attr->count != type->rank)
		return tn_infer_fail(inf, TN_E0506, "%s= of 'slice' has %d "
				     "entries for %d axes", name, attr->count,
				     type->rank);
	dims = tn_arena_array(&inf->module->arena, (size_t)type->rank + 1,
			      sizeof(*dims));
	if (!dims) {
		inf->module->failed = true;
		return false;
	}
	for (i = 0; i < type->rank; i++) {
		dims[i] = attr->u.dims[i];
		if (!dims[i])
			dims[i] = is_stop ? type->dims[i] :
				  tn_infer_const(inf, 0);
		if (!tn_infer_made(inf, dims[i]))
			return false;
	}
	attr->u.dims = dims;
	return true;
}

TN_INFER_RULE(slice)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	struct tn_attr *step = tn_infer_attr(inf, "step");
	static const int64_t one = 1;
	int i;

	if (!step->is_set) {
		step->u.ints = &one;
		step->count = 1;
	}
	if (!fill_bounds(inf, "start", false) ||
	    !fill_bounds(inf, "stop", true) ||
	    !tn_infer_ints(inf, "step", type->rank, 1))
		return false;
	for (i = 0; i < type->rank; i++) {
		if (!push_slice(inf, i,
				tn_infer_attr(inf, "start")->u.dims[i],
				tn_infer_attr(inf, "stop")->u.dims[i],
				step->u.ints[i]))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

/* ---- pad, concat --------------------------------------------------------- */

TN_INFER_RULE(pad)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_type *type = tn_infer_in(inf, 0);
	const struct tn_attr *pad = tn_infer_attr(inf, "pad");
	int i;

	if (inf->op->nin > 1 && !tn_infer_rank(inf, 1, 0))
		return false;
	if (!tn_infer_pairs(inf, "pad", type->rank))
		return false;
	for (i = 0; i < type->rank; i++) {
		const struct tn_dim *size =
			tn_dim_add(pool, type->dims[i], pad->u.dims[2 * i]);

		size = tn_dim_add(pool, size, pad->u.dims[2 * i + 1]);
		if (!tn_infer_push(inf, size))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

static bool join(struct tn_infer *inf, int i, int axis)
{
	const struct tn_type *type = tn_infer_in(inf, i);
	int at;

	if (!tn_infer_rank(inf, i, inf->rank))
		return false;
	for (at = 0; at < inf->rank; at++) {
		if (at != axis && !tn_infer_match(inf, inf->dims[at],
						  type->dims[at], "", at))
			return false;
	}
	inf->dims[axis] = tn_dim_add(&inf->module->dims, inf->dims[axis],
				     type->dims[axis]);
	return tn_infer_made(inf, inf->dims[axis]);
}

TN_INFER_RULE(concat)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	int axis, i;

	if (!tn_infer_axis(inf, "axis", type->rank, &axis) ||
	    !tn_infer_push_axes(inf, type, 0, type->rank))
		return false;
	for (i = 1; i < inf->op->nin; i++) {
		if (!join(inf, i, axis))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}
