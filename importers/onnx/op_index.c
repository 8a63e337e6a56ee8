/*
 * Handlers of lookups and of what puts elements at places.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- Indices that may count from the end --------------------------------------- */

static bool is_known_from_zero(struct tn_onnx *n, const struct tn_value *at)
{
	const struct tn_onnx_known *k = tn_onnx_known(n->job, at);
	int64_t i;

	if (!k || !k->tensor)
		return false;
	for (i = 0; i < k->count; i++)
		if (tn_tensor_get_i64(k->tensor, i) < 0)
			return false;
	return true;
}

/* Negative ones count from the end of `size`. */
static struct tn_value *wrapped(struct tn_onnx *n, struct tn_value *at,
				const struct tn_dim *size)
{
	if (!at || is_known_from_zero(n, at) ||
	    tn_dtype_is(at->type->dtype, TN_KIND_U))
		return at;
	return tn_onnx_text(n, "select(%v < 0, %v + cast(%d, %t), %v)", at,
			    at, size, at->type->dtype, at);
}

/* Tuples of indices, of which each counts in an axis of `dims`. */
static struct tn_value *wrapped_tuples(struct tn_onnx *n, struct tn_value *at,
				       int count,
				       const struct tn_dim *const *dims)
{
	if (!at || is_known_from_zero(n, at) || !count)
		return at;
	return tn_onnx_text(n, "select(%v < 0, %v + cast(stack(%D, axis=0), "
			    "%t), %v)", at, at, count, dims, at->type->dtype,
			    at);
}

static int axis_of(struct tn_onnx *n, const struct tn_value *x, int64_t other)
{
	return tn_onnx_axis(n, tn_onnx_int(n, "axis", other), x->type->rank);
}

/* ---- Lookups ----------------------------------------------------------------------- */

void tn_onnx_do_gather(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *at = tn_onnx_in(n, 1);
	int axis = x && at ? axis_of(n, x, 0) : -1;

	if (axis < 0)
		return;
	at = wrapped(n, at, x->type->dims[axis]);
	if (at)
		tn_onnx_is(n, "gather(%v, %v, axis=%i)", x, at,
			   (int64_t)axis);
}

/* The part of x that an index of this shape reaches, but along `axis`. */
static struct tn_value *cropped(struct tn_onnx *n, struct tn_value *x,
				const struct tn_type *to, int axis)
{
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	bool same = true;
	int i;

	for (i = 0; i < x->type->rank; i++) {
		start[i] = tn_onnx_number(n, 0);
		stop[i] = i == axis ? x->type->dims[i] : to->dims[i];
		same &= stop[i] == x->type->dims[i];
	}
	return same ? x : tn_onnx_text(n, "slice(%v, start=%D, stop=%D)", x,
				       x->type->rank, start, x->type->rank,
				       stop);
}

/* The axis, and indices counted from its start; -1: there are none. */
static int elements(struct tn_onnx *n, const struct tn_value *x,
		    struct tn_value **at)
{
	int axis = x && *at ? axis_of(n, x, 0) : -1;

	if (axis < 0)
		return -1;
	if ((*at)->type->rank != x->type->rank) {
		tn_onnx_report(n, TN_E1012, "indices of another rank");
		return -1;
	}
	*at = wrapped(n, *at, x->type->dims[axis]);
	return *at ? axis : -1;
}

void tn_onnx_do_gather_elements(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *at = tn_onnx_in(n, 1);
	int axis = elements(n, x, &at);

	if (axis < 0)
		return;
	x = cropped(n, x, at->type, axis);
	if (x)
		tn_onnx_is(n, "take_along(%v, %v, axis=%i)", x, at,
			   (int64_t)axis);
}

/* The numbers of the axes before `count`, as further parts of the tuples. */
static struct tn_value *with_batch(struct tn_onnx *n, struct tn_value *at,
				   int count)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_value *own;
	int rank = at->type->rank, i;

	for (i = 0; i < rank; i++)
		dims[i] = at->type->dims[i];
	dims[rank - 1] = tn_onnx_number(n, 1);
	for (i = count - 1; at && i >= 0; i--) {
		own = tn_onnx_text(n, "iota(%D, axis=%i, elem=%t)", rank, dims,
				   (int64_t)i, at->type->dtype);
		at = own ? tn_onnx_text(n, "concat(%v, %v, axis=-1)", own,
					at) : NULL;
	}
	return at;
}

void tn_onnx_do_gather_nd(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *at = tn_onnx_in(n, 1);
	int batch = tn_onnx_small(n, "batch_dims", 0), width;

	if (!x || !at)
		return;
	if (at->type->rank < 1 ||
	    !tn_dim_is_const(at->type->dims[at->type->rank - 1])) {
		tn_onnx_unknown(n, "tuples of unknown length");
		return;
	}
	if (at->type->dims[at->type->rank - 1]->value > x->type->rank) {
		tn_onnx_report(n, TN_E1012, "tuples longer than the operand "
			       "has axes");
		return;
	}
	width = (int)at->type->dims[at->type->rank - 1]->value;
	if (batch < 0 || batch >= at->type->rank ||
	    batch > x->type->rank - width) {
		tn_onnx_report(n, TN_E1012, "batch_dims %d", batch);
		return;
	}
	at = wrapped_tuples(n, at, width, x->type->dims + batch);
	if (at && batch)
		at = with_batch(n, at, batch);
	if (at)
		tn_onnx_is(n, "gather_nd(%v, %v)", x, at);
}

/* ---- Scatter ------------------------------------------------------------------------ */

static const char *combine_of(struct tn_onnx *n)
{
	const char *how = tn_onnx_string(n, "reduction", "none");

	return !strcmp(how, "none") ? "set" : how;
}

void tn_onnx_do_scatter_nd(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *at = tn_onnx_in(n, 1);
	struct tn_value *update = tn_onnx_in(n, 2);
	const struct tn_dim *width;

	if (!x || !at || !update)
		return;
	width = at->type->rank ? at->type->dims[at->type->rank - 1] : NULL;
	if (!width || !tn_dim_is_const(width) || width->value > x->type->rank) {
		tn_onnx_unknown(n, "tuples of unknown length");
		return;
	}
	at = wrapped_tuples(n, at, (int)width->value, x->type->dims);
	if (at)
		tn_onnx_is(n, "scatter_nd(%v, %v, %v, combine=\"%s\")", x, at,
			   update, combine_of(n));
}

static bool agrees(const struct tn_type *a, const struct tn_type *b, int axis)
{
	int i;

	for (i = 0; i < a->rank; i++)
		if (i != axis && a->dims[i] != b->dims[i])
			return false;
	return true;
}

/* Index tuples of all axes, of which `axis` is looked up. */
static struct tn_value *tuples(struct tn_onnx *n, struct tn_value *at,
			       int axis)
{
	struct tn_value *parts[TN_MAX_RANK];
	int rank = at->type->rank, i;

	for (i = 0; i < rank; i++) {
		parts[i] = i == axis ?
			tn_onnx_text(n, "expand_dims(%v, axes=[-1])", at) :
			tn_onnx_text(n, "expand_dims(iota(%D, axis=%i, "
				     "elem=%t), axes=[-1])", rank,
				     at->type->dims, (int64_t)i,
				     at->type->dtype);
		if (!parts[i])
			return NULL;
	}
	return tn_onnx_concat(n, rank, parts, rank);
}

void tn_onnx_do_scatter_elements(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *at = tn_onnx_in(n, 1);
	struct tn_value *update = tn_onnx_in(n, 2);
	int axis = update ? elements(n, x, &at) : -1;

	if (axis < 0)
		return;
	if (agrees(at->type, x->type, axis)) {
		tn_onnx_is(n, "scatter_along(%v, %v, %v, axis=%i, "
			   "combine=\"%s\")", x, at, update, (int64_t)axis,
			   combine_of(n));
		return;
	}
	at = tuples(n, at, axis);
	if (at)
		tn_onnx_is(n, "scatter_nd(%v, %v, %v, combine=\"%s\")", x, at,
			   update, combine_of(n));
}

/* ---- Places of what is looked for ------------------------------------------------------ */

/* A size that is an operand: known, or that of an axis of the result. */
static const struct tn_dim *size_of(struct tn_onnx *n, int i, int axis)
{
	const struct tn_dim *dims[TN_MAX_RANK], *size;
	enum tn_dtype dtype;
	int count, rank;

	if (tn_onnx_sizes(n, i, 1, &size, &count) && count == 1)
		return size;
	if (!n->failed && tn_onnx_result(n, 0, &dtype, &rank, dims)) {
		if (axis < 0)
			axis += rank;
		if (axis >= 0 && axis < rank &&
		    tn_onnx_hold(n, i, 1, &dims[axis]))
			return dims[axis];
	}
	tn_onnx_unknown(n, "a size that only run time knows");
	return NULL;
}

void tn_onnx_do_one_hot(struct tn_onnx *n)
{
	struct tn_value *at = tn_onnx_in(n, 0), *values = tn_onnx_in(n, 2);
	const struct tn_dim *shape[TN_MAX_RANK], *depth;
	int axis, i;

	if (!at || !values || at->type->rank == TN_MAX_RANK)
		return;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", -1), at->type->rank + 1);
	depth = axis < 0 ? NULL : size_of(n, 1, axis);
	if (!depth)
		return;
	for (i = 0; i <= at->type->rank; i++)
		shape[i] = tn_onnx_number(n, 1);
	shape[axis] = depth;
	tn_onnx_is(n, "i = cast(%v, i64); "
		   "w = select(i < 0, i + cast(%d, i64), i); "
		   "return select(expand_dims(w, axes=[%i]) == "
		   "iota(%D, axis=%i), %v[1], %v[0])", at, depth,
		   (int64_t)axis, at->type->rank + 1, shape, (int64_t)axis,
		   values, values);
}

void tn_onnx_do_top_k(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *out[2];
	const struct tn_dim *k;
	int axis;

	if (!x)
		return;
	axis = axis_of(n, x, -1);
	if (axis < 0)
		return;
	k = n->version < 10 ? tn_onnx_number(n, tn_onnx_int(n, "k", 0)) :
		size_of(n, 1, axis);
	if (!k || !tn_onnx_texts(n, 2, out, "return topk(%v, k=%d, axis=%i, "
				 "largest=%s)", x, k, (int64_t)axis,
				 tn_onnx_int(n, "largest", 1) ? "true" :
								"false"))
		return;
	tn_onnx_give(n, 0, out[0]);
	tn_onnx_give(n, 1, out[1]);
}

/* ---- Sizes that the data tell -------------------------------------------------------------- */

struct tn_value *tn_onnx_places(struct tn_onnx *n, struct tn_value *x,
				const struct tn_dim *most)
{
	const char *name = tn_onnx_fresh(n);
	int64_t lo, hi;

	tn_dim_bounds(most, &lo, &hi);
	return tn_onnx_text(n, "dim %s in [0, %i]; i: i64[%s] = nonzero(%v); "
			    "return i", name, hi, name, x);
}

void tn_onnx_do_non_zero(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *at, *parts[TN_MAX_RANK];
	const struct tn_dim *count, *steps[TN_MAX_RANK];
	int i;

	if (!x)
		return;
	count = tn_type_count(n->job->module, x->type);
	if (!count || x->type->rank == 0) {
		tn_onnx_refuse(n, "a scalar");
		return;
	}
	steps[x->type->rank - 1] = tn_onnx_number(n, 1);
	for (i = x->type->rank - 1; i > 0; i--)
		steps[i - 1] = tn_dim_mul(tn_onnx_pool(n), steps[i],
					  x->type->dims[i]);
	at = tn_onnx_places(n, tn_onnx_text(n, "reshape(%v, [%d])", x, count),
			    count);
	for (i = 0; at && i < x->type->rank; i++) {
		parts[i] = tn_onnx_text(n, "expand_dims(%v // cast(%d, i64) %% "
					"cast(%d, i64), axes=[0])", at, steps[i],
					x->type->dims[i]);
		if (!parts[i])
			return;
	}
	if (at)
		tn_onnx_give(n, 0, tn_onnx_concat(n, i, parts, 0));
}

void tn_onnx_do_compress(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *is = tn_onnx_in(n, 1), *at;
	int axis = 0;

	if (!x || !is)
		return;
	if (is->type->rank != 1) {
		tn_onnx_report(n, TN_E1012, "a condition of %d axes, not of 1",
			       is->type->rank);
		return;
	}
	if (tn_onnx_attr(n, "axis"))
		axis = axis_of(n, x, 0);
	else
		x = tn_onnx_text(n, "reshape(%v, [%d])", x,
				 tn_type_count(n->job->module, x->type));
	if (!x || axis < 0)
		return;
	at = tn_onnx_places(n, is, is->type->dims[0]);
	if (at)
		tn_onnx_is(n, "gather(%v, %v, axis=%i)", x, at,
			   (int64_t)axis);
}
