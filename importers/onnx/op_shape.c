/*
 * Handlers of shapes: what takes or gives sizes.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- Sizes as values -------------------------------------------------------------- */

/* i64[count] of sizes. */
static struct tn_value *vector(struct tn_onnx *n, int count,
			       const struct tn_dim *const *dims)
{
	struct tn_tensor tensor;
	int64_t shape[1] = { count };
	int i;

	for (i = 0; i < count && tn_dim_is_const(dims[i]); i++)
		;
	if (i < count)
		return tn_onnx_text(n, "stack(%D, axis=0)", count, dims);
	if (!tn_tensor_init(&tensor, TN_i64, 1, shape)) {
		n->job->module->failed = true;
		return NULL;
	}
	for (i = 0; i < count; i++)
		tn_tensor_set_i64(&tensor, i, dims[i]->value);
	return tn_onnx_literal(n->job, &tensor, NULL, n->span);
}

static int bound(int64_t at, int rank)
{
	if (at < 0)
		at += rank;
	return (int)(at < 0 ? 0 : at > rank ? rank : at);
}

void tn_onnx_do_shape(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int from, to, rank;

	if (!x)
		return;
	rank = x->type->rank;
	from = bound(tn_onnx_int(n, "start", 0), rank);
	to = tn_onnx_attr(n, "end") ?
		bound(tn_onnx_int(n, "end", rank), rank) : rank;
	tn_onnx_give(n, 0, vector(n, to > from ? to - from : 0,
				  x->type->dims + from));
}

void tn_onnx_do_size(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);

	if (x)
		tn_onnx_is(n, "cast(%d, i64)",
			   tn_type_count(n->job->module, x->type));
}

/* ---- Constants ----------------------------------------------------------------------- */

static void constant_list(struct tn_onnx *n, const struct onnx_attr *attr)
{
	bool floats = attr->floats.len > 0;
	int64_t shape[1], i;
	struct tn_tensor tensor;

	shape[0] = (int64_t)(floats ? attr->floats.len : attr->ints.len);
	if (!strcmp(attr->name, "value_floats"))
		floats = true;
	if (!tn_tensor_init(&tensor, floats ? TN_f32 : TN_i64, 1, shape)) {
		n->job->module->failed = true;
		return;
	}
	for (i = 0; i < shape[0]; i++)
		if (floats)
			tn_tensor_set_f64(&tensor, i,
					  (double)attr->floats.at[i]);
		else
			tn_tensor_set_i64(&tensor, i, attr->ints.at[i]);
	tn_onnx_give(n, 0, tn_onnx_literal(n->job, &tensor,
					   n->node->outputs.at[0], n->span));
}

static void constant_tensor(struct tn_onnx *n, const struct onnx_tensor *from)
{
	struct tn_onnx_value *value =
		tn_onnx_new(n->job, ONNX_TENSOR, n->node->outputs.at[0]);

	if (!value)
		return;
	value->source = from;
	value->span = n->span;
	n->out[0] = value;
}

void tn_onnx_do_constant(struct tn_onnx *n)
{
	static const char *const lists[] = { "value_ints", "value_floats" };
	const struct onnx_attr *attr = tn_onnx_attr(n, "value");
	size_t i;

	if (n->nout != 1)
		return;
	if (attr && attr->t) {
		constant_tensor(n, attr->t);
		return;
	}
	for (i = 0; i < 2; i++) {
		attr = tn_onnx_attr(n, lists[i]);
		if (attr) {
			constant_list(n, attr);
			return;
		}
	}
	if (tn_onnx_attr(n, "value_int"))
		tn_onnx_is(n, "cast(%i, i64)", tn_onnx_int(n, "value_int", 0));
	else if (tn_onnx_attr(n, "value_float"))
		tn_onnx_is(n, "cast(%f, f32)",
			   tn_onnx_float(n, "value_float", 0));
	else
		tn_onnx_refuse(n, "a constant that is no tensor");
}

/* Scalar of the tensor attribute `value`, or of `fallback`. */
static struct tn_value *fill_value(struct tn_onnx *n, const char *fallback)
{
	const struct onnx_attr *attr = tn_onnx_attr(n, "value");
	struct tn_onnx_value *value;
	struct tn_value *v;

	if (!attr || !attr->t)
		return tn_onnx_text(n, "%s", fallback);
	value = tn_onnx_new(n->job, ONNX_TENSOR, NULL);
	if (!value)
		return NULL;
	value->source = attr->t;
	value->span = n->span;
	v = tn_onnx_make(n->job, value);
	return v && v->type->rank ? tn_onnx_text(n, "reshape(%v, [])", v) : v;
}

void tn_onnx_do_constant_of_shape(struct tn_onnx *n)
{
	struct tn_value *value = fill_value(n, "cast(0, f32)");
	const struct tn_dim *dims[TN_MAX_RANK];
	int count;

	if (!value)
		n->failed = true;
	else if (tn_onnx_shape(n, 0, dims, &count))
		tn_onnx_is(n, "broadcast(%v, %D)", value, count, dims);
}

/* ---- A shape given as operand --------------------------------------------------------- */

bool tn_onnx_hold(struct tn_onnx *n, int i, int count,
		  const struct tn_dim *const *dims)
{
	struct tn_value *v = tn_onnx_in(n, i), *want;

	if (!v || v->type->rank > 1 ||
	    tn_type_count(n->job->module, v->type) != tn_onnx_number(n, count))
		return false;
	if (!count)
		return true;
	want = vector(n, count, dims);
	return want && tn_onnx_text(n, "assert(all(cast(%v, i64) == %v), "
		"message=\"the sizes are not those declared\"); return true",
		v, want);
}

/* An operand that only run time knows is held against the declared type of
 * the result. */
static bool declared_shape(struct tn_onnx *n, int i,
			   const struct tn_dim **dims, int *count)
{
	enum tn_dtype dtype;

	if (tn_onnx_result(n, 0, &dtype, count, dims) &&
	    tn_onnx_hold(n, i, *count, dims))
		return true;
	tn_onnx_unknown(n, "a shape that only run time knows");
	return false;
}

bool tn_onnx_shape(struct tn_onnx *n, int i, const struct tn_dim **dims,
		   int *count)
{
	if (tn_onnx_sizes(n, i, TN_MAX_RANK, dims, count))
		return true;
	return !n->failed && declared_shape(n, i, dims, count);
}

/* 0 stands for the size that was, -1 for what is left. */
static bool resolve(struct tn_onnx *n, const struct tn_type *type, int count,
		    const struct tn_dim **dims)
{
	bool allow_zero = tn_onnx_int(n, "allowzero", 0) != 0;
	int i;

	for (i = 0; i < count; i++) {
		if (tn_dim_is(dims[i], -1))
			dims[i] = NULL;
		else if (tn_dim_is(dims[i], 0) && !allow_zero) {
			if (i >= type->rank) {
				tn_onnx_report(n, TN_E1012, "size 0 of axis "
					       "%d, which the operand does "
					       "not have", i);
				return false;
			}
			dims[i] = type->dims[i];
		}
	}
	return true;
}

static void reshape_as_declared(struct tn_onnx *n, struct tn_value *x)
{
	struct tn_value *shape = tn_onnx_in(n, 1), *want;
	const struct tn_dim *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int rank;

	if (!shape)
		return;
	if (!tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    shape->type->rank != 1 ||
	    shape->type->dims[0] != tn_onnx_number(n, rank)) {
		tn_onnx_unknown(n, "a shape that only run time knows");
		return;
	}
	want = vector(n, rank, dims);
	if (want && rank)
		tn_onnx_text(n, "assert(all(%v == %v || %v == -1 || %v == 0), "
			     "message=\"the shape is not the declared one\"); "
			     "return true", shape, want, shape, shape);
	tn_onnx_is(n, "reshape(%v, %D)", x, rank, dims);
}

void tn_onnx_do_reshape(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *dims[TN_MAX_RANK];
	const int64_t *list;
	int count, i;

	if (!x)
		return;
	if (n->version < 5) {
		count = tn_onnx_list(n, "shape", &list);
		for (i = 0; i < count && i < TN_MAX_RANK; i++)
			dims[i] = tn_onnx_number(n, list[i]);
	} else if (!tn_onnx_sizes(n, 1, TN_MAX_RANK, dims, &count)) {
		if (!n->failed)
			reshape_as_declared(n, x);
		return;
	}
	if (count >= 0 && count <= TN_MAX_RANK &&
	    resolve(n, x->type, count, dims))
		tn_onnx_is(n, "reshape(%v, %D)", x, count, dims);
	else
		tn_onnx_report(n, TN_E1012, "the shape is missing");
}

void tn_onnx_do_flatten(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *dims[2];
	int64_t axis = tn_onnx_int(n, "axis", 1);
	int i;

	if (!x)
		return;
	if (axis < 0)
		axis += x->type->rank;
	if (axis < 0 || axis > x->type->rank) {
		tn_onnx_report(n, TN_E1012, "axis %lld", (long long)axis);
		return;
	}
	dims[0] = dims[1] = tn_onnx_number(n, 1);
	for (i = 0; i < x->type->rank; i++)
		dims[i >= axis] = tn_dim_mul(tn_onnx_pool(n), dims[i >= axis],
					     x->type->dims[i]);
	if (!dims[0] || !dims[1])
		tn_onnx_refuse(n, "sizes too large");
	else
		tn_onnx_is(n, "reshape(%v, %D)", x, 2, dims);
}

/* ---- Axes of size 1 --------------------------------------------------------------------- */

/* The axes: an operand, or in older models an attribute. -1: none are given,
 * -2: only run time knows them. */
static int axes_of(struct tn_onnx *n, int64_t *axes)
{
	const int64_t *list;
	int count, i;

	if (tn_onnx_has(n, 1))
		return tn_onnx_ints(n, 1, TN_MAX_RANK, axes, &count) ? count :
			-2;
	count = tn_onnx_list(n, "axes", &list);
	for (i = 0; i < count && i < TN_MAX_RANK; i++)
		axes[i] = list[i];
	return count > TN_MAX_RANK ? -1 : count;
}

/* Without the sets in which an axis is not of size 1. */
static void keep_ones(const struct tn_type *type,
		      struct tn_onnx_choices *choices)
{
	int i, k, count = 0;

	for (i = 0; i < choices->count; i++) {
		for (k = 0; k < type->rank; k++)
			if (choices->mask[i] >> k & 1 &&
			    !tn_dim_is(type->dims[k], 1))
				break;
		if (k == type->rank)
			choices->mask[count++] = choices->mask[i];
	}
	choices->count = count;
}

/* What run time does not change but the number of axes: those that are more in
 * one of the two types are of size 1. */
static void as_declared(struct tn_onnx *n, struct tn_value *x, bool more)
{
	struct tn_onnx_choices choices = { .count = 0 };
	const struct tn_dim *dims[TN_MAX_RANK];
	const struct tn_type *wide = x->type;
	enum tn_dtype dtype;
	int rank;

	if (!tn_onnx_result(n, 0, &dtype, &rank, dims)) {
		tn_onnx_unknown(n, "axes that only run time knows");
		return;
	}
	if (more)
		wide = tn_type_get(n->job->module, x->type->dtype, rank, dims);
	if (wide)
		tn_onnx_choose(wide, false, more ? x->type->rank : rank,
			       more ? x->type->dims : dims, &choices);
	keep_ones(wide, &choices);
	if (tn_onnx_axes_check(n, tn_onnx_in(n, 1), wide->rank, &choices))
		tn_onnx_is(n, "reshape(%v, %D)", x, rank, dims);
	else
		tn_onnx_unknown(n, "axes that only run time knows");
}

/* The first element along each axis that goes, for what is no 1: inside of a
 * branch, which other sizes may not take, no guard at the entry may say so. */
static struct tn_value *first_of(struct tn_onnx *n, struct tn_value *x,
				 const bool *gone)
{
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	int i;

	for (i = 0; i < x->type->rank; i++) {
		start[i] = tn_onnx_number(n, 0);
		stop[i] = x->type->dims[i];
		if (!gone[i] || tn_dim_is_const(stop[i]))
			continue;
		tn_onnx_text(n, "assert(cast(%d, i64) == 1, message=\"an axis "
			     "that is taken away is longer than 1\"); "
			     "return true", stop[i]);
		stop[i] = tn_onnx_number(n, 1);
	}
	return tn_onnx_text(n, "slice(%v, start=%D, stop=%D)", x,
			    x->type->rank, start, x->type->rank, stop);
}

/* Axes go whose size is 1 at run time; the entry of the function sees to it. */
static void squeeze(struct tn_onnx *n, struct tn_value *x, int count,
		    const int64_t *axes)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	bool gone[TN_MAX_RANK] = { false }, sure = true;
	int i, axis, rank = 0;

	for (i = 0; i < count; i++) {
		axis = tn_onnx_axis(n, axes[i], x->type->rank);
		if (axis < 0)
			return;
		gone[axis] = true;
		sure &= tn_dim_is_const(x->type->dims[axis]);
	}
	for (i = 0; i < x->type->rank; i++)
		if (!gone[i])
			dims[rank++] = x->type->dims[i];
	if (!sure && n->scope->block != n->job->fn->body)
		x = first_of(n, x, gone);
	if (sure)
		tn_onnx_is(n, "squeeze(%v, axes=%I)", x, count, axes);
	else if (x)
		tn_onnx_is(n, "reshape(%v, %D)", x, rank, dims);
}

void tn_onnx_do_squeeze(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int64_t axes[TN_MAX_RANK];
	int count, i;

	if (!x)
		return;
	count = axes_of(n, axes);
	if (count == -2) {
		if (!n->failed)
			as_declared(n, x, false);
		return;
	}
	if (count == -1)
		for (i = count = 0; i < x->type->rank; i++)
			if (tn_dim_is(x->type->dims[i], 1))
				axes[count++] = i;
	squeeze(n, x, count, axes);
}

void tn_onnx_do_unsqueeze(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int64_t axes[TN_MAX_RANK];
	int count;

	if (!x)
		return;
	count = axes_of(n, axes);
	if (count >= 0)
		tn_onnx_is(n, "expand_dims(%v, axes=%I)", x, count, axes);
	else if (!n->failed && count == -2)
		as_declared(n, x, true);
	else
		tn_onnx_report(n, TN_E1012, "the axes are missing");
}

/* ---- Stretching ----------------------------------------------------------------------------- */

/* The longer of two sizes of which one may be 1. */
static const struct tn_dim *wider(const struct tn_dim *a,
				  const struct tn_dim *b)
{
	return tn_dim_is(b, 1) ? a : b;
}

/* The shape at run time has the sizes of the result, or 1 where the operand has
 * them. */
static void expand_as_declared(struct tn_onnx *n, struct tn_value *x)
{
	const struct tn_dim *dims[TN_MAX_RANK], *own[TN_MAX_RANK];
	struct tn_value *shape = tn_onnx_in(n, 1), *want, *have;
	int rank, count, i, k;
	enum tn_dtype dtype;

	if (!shape || shape->type->rank != 1 ||
	    !tn_dim_is_const(shape->type->dims[0]) ||
	    !tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    shape->type->dims[0]->value > rank) {
		tn_onnx_unknown(n, "a shape that only run time knows");
		return;
	}
	count = (int)shape->type->dims[0]->value;
	for (i = 0; i < count; i++) {
		k = i + x->type->rank - count;
		own[i] = k < 0 ? tn_onnx_number(n, 1) : x->type->dims[k];
	}
	want = vector(n, count, dims + rank - count);
	have = vector(n, count, own);
	if (want && have && count)
		tn_onnx_text(n, "assert(all(%v == %v || %v == 1 && %v == %v), "
			     "message=\"the shape is not the declared one\"); "
			     "return true", shape, want, shape, have, want);
	tn_onnx_is(n, "broadcast(%v, %D)", x, rank, dims);
}

void tn_onnx_do_expand(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *dims[TN_MAX_RANK], *out[TN_MAX_RANK];
	int count, rank, i;

	if (!x)
		return;
	if (!tn_onnx_sizes(n, 1, TN_MAX_RANK, dims, &count)) {
		if (!n->failed)
			expand_as_declared(n, x);
		return;
	}
	rank = count > x->type->rank ? count : x->type->rank;
	for (i = 1; i <= rank; i++)
		out[rank - i] = i > count ? x->type->dims[x->type->rank - i] :
			i > x->type->rank ? dims[count - i] :
			wider(x->type->dims[x->type->rank - i],
			      dims[count - i]);
	tn_onnx_is(n, "broadcast(%v, %D)", x, rank, out);
}

/* Each axis repeated: an axis of its own before it, then joined. */
static void tile(struct tn_onnx *n, struct tn_value *x,
		 const struct tn_dim *const *repeats)
{
	const struct tn_dim *apart[2 * TN_MAX_RANK], *all[2 * TN_MAX_RANK];
	const struct tn_dim *dims[TN_MAX_RANK];
	int rank = x->type->rank, i;

	if (rank > TN_MAX_RANK / 2) {
		tn_onnx_refuse(n, "more than %d axes", TN_MAX_RANK / 2);
		return;
	}
	for (i = 0; i < rank; i++) {
		apart[2 * i] = tn_onnx_number(n, 1);
		apart[2 * i + 1] = all[2 * i + 1] = x->type->dims[i];
		all[2 * i] = repeats[i];
		dims[i] = tn_dim_mul(tn_onnx_pool(n), repeats[i],
				     x->type->dims[i]);
		if (!dims[i]) {
			tn_onnx_refuse(n, "sizes too large");
			return;
		}
	}
	tn_onnx_is(n, "reshape(broadcast(reshape(%v, %D), %D), %D)", x,
		   2 * rank, apart, 2 * rank, all, rank, dims);
}

void tn_onnx_do_tile(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *repeats[TN_MAX_RANK], *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int count, rank, i;

	if (!x)
		return;
	if (tn_onnx_sizes(n, 1, TN_MAX_RANK, repeats, &count)) {
		if (count == x->type->rank)
			tile(n, x, repeats);
		else
			tn_onnx_report(n, TN_E1012, "%d repeats for %d axes",
				       count, x->type->rank);
		return;
	}
	if (n->failed || !tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank != x->type->rank) {
		tn_onnx_unknown(n, "repeats that only run time knows");
		return;
	}
	for (i = 0; i < rank; i++) {
		if (tn_dim_is(x->type->dims[i], 0)) {
			tn_onnx_unknown(n, "repeats that only run time knows");
			return;
		}
		repeats[i] = tn_dim_floordiv(tn_onnx_pool(n), dims[i],
					     x->type->dims[i]);
	}
	tn_onnx_text(n, "assert(all(%v == %v), message=\"the repeats are not "
		     "those declared\"); return true", tn_onnx_in(n, 1),
		     vector(n, rank, repeats));
	tile(n, x, repeats);
}

/* ---- Order and joining --------------------------------------------------------------------------- */

void tn_onnx_do_transpose(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const int64_t *perm;
	int count = tn_onnx_list(n, "perm", &perm);

	if (!x)
		return;
	if (count < 0)
		tn_onnx_is(n, "transpose(%v)", x);
	else
		tn_onnx_is(n, "transpose(%v, perm=%I)", x, count, perm);
}

void tn_onnx_do_concat(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *next;
	struct tn_value *values[32];
	int i, count = 0, axis;

	if (x && n->version >= 4 && !tn_onnx_attr(n, "axis"))
		tn_onnx_report(n, TN_E1012, "attribute 'axis' is missing");
	if (!x || n->failed)
		return;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 1),
			    x->type->rank);
	if (axis < 0)
		return;
	for (i = 0; i < n->nin; i++) {
		next = tn_onnx_in(n, i);
		if (!next)
			return;
		if (count == 32) {
			values[0] = tn_onnx_concat(n, count, values, axis);
			count = 1;
		}
		values[count++] = next;
	}
	tn_onnx_give(n, 0, tn_onnx_concat(n, count, values, axis));
}

struct tn_value *tn_onnx_concat(struct tn_onnx *n, int count,
				struct tn_value *const *values, int axis)
{
	struct tn_builder b;
	struct tn_attr attr = tn_attr_int("axis", axis);
	struct tn_op *op;

	if (count == 1 || n->failed)
		return n->failed ? NULL : values[0];
	tn_builder_init(&b, n->scope->block);
	op = tn_build_op(&b, TN_OP_concat, count, values, 1, &attr, n->span);
	if (!op || tn_type_is_poison(op->out[0]->type)) {
		n->job->is_bad = true;
		n->failed = true;
		return NULL;
	}
	tn_onnx_note(n->job, op);
	return op->out[0];
}

void tn_onnx_do_depth_to_space(struct tn_onnx *n)
{
	const char *mode = tn_onnx_string(n, "mode", "DCR");
	struct tn_value *x = tn_onnx_in(n, 0);

	if (x)
		tn_onnx_is(n, "depth_to_space(%v, block=%i, mode=\"%s\")", x,
			   tn_onnx_int(n, "blocksize", 1),
			   !strcmp(mode, "CRD") ? "crd" : "dcr");
}

/* ---- Sources --------------------------------------------------------------------------------------- */

static const struct tn_dim *range_count(struct tn_onnx *n,
					const struct tn_dim *from,
					const struct tn_dim *to, int64_t step)
{
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	const struct tn_dim *zero = tn_onnx_number(n, 0), *span;

	span = step > 0 ? tn_dim_sub(pool, to, from) :
		tn_dim_sub(pool, from, to);
	if (step < 0)
		step = -step;
	span = tn_dim_add(pool, span, tn_onnx_number(n, step - 1));
	return tn_dim_max(pool, zero, tn_dim_floordiv(pool, span,
					tn_onnx_number(n, step)));
}

/* What is no integer counts as numpy counts: the ceiling of the quotient. */
static const struct tn_dim *float_count(struct tn_onnx *n)
{
	double from, to, step, count;
	int k;

	if (!tn_onnx_floats(n, 0, 1, &from, &k) ||
	    !tn_onnx_floats(n, 1, 1, &to, &k) ||
	    !tn_onnx_floats(n, 2, 1, &step, &k) || step == 0)
		return NULL;
	count = (to - from) / step;
	if (!(count < 1e15))
		return NULL;
	return tn_onnx_number(n, count <= 0 ? 0 : (int64_t)count +
			      ((double)(int64_t)count < count));
}

/* That the declared length is what run time brings. */
static bool check_count(struct tn_onnx *n, const struct tn_dim *count)
{
	struct tn_value *from = tn_onnx_in(n, 0), *to = tn_onnx_in(n, 1);
	struct tn_value *step = tn_onnx_in(n, 2);

	return from && to && step && tn_onnx_text(n,
		"s = reshape(cast(%v, f64), []); q = ceil((reshape(cast(%v, "
		"f64), []) - reshape(cast(%v, f64), [])) / s); "
		"assert(max(q, 0.0) == cast(%d, f64), message=\"the range is "
		"not as long as declared\"); return true", step, to, from,
		count);
}

static const struct tn_dim *count_of(struct tn_onnx *n)
{
	const struct tn_dim *from, *to, *step, *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int k;

	if (tn_onnx_sizes(n, 0, 1, &from, &k) &&
	    tn_onnx_sizes(n, 1, 1, &to, &k) &&
	    tn_onnx_sizes(n, 2, 1, &step, &k) && tn_dim_is_const(step) &&
	    step->value)
		return range_count(n, from, to, step->value);
	from = n->failed ? NULL : float_count(n);
	if (from || n->failed)
		return from;
	if (!tn_onnx_result(n, 0, &dtype, &k, dims) || k != 1)
		return NULL;
	return check_count(n, dims[0]) ? dims[0] : NULL;
}

/* A length that nothing declares is a new size. */
static void range_at_run_time(struct tn_onnx *n, struct tn_value *from,
			      struct tn_value *step)
{
	struct tn_value *to = tn_onnx_in(n, 1), *at;

	if (n->failed || !to)
		return;
	at = tn_onnx_length(n, 0, tn_onnx_text(n,
		"max(ceil((reshape(cast(%v, f64), []) - reshape(cast(%v, f64), "
		"[])) / reshape(cast(%v, f64), [])), 0)", to, from, step));
	if (at)
		tn_onnx_is(n, "reshape(%v, []) + cast(%v, %t) * "
			   "reshape(%v, [])", from, at, from->type->dtype,
			   step);
}

void tn_onnx_do_range(struct tn_onnx *n)
{
	const struct tn_dim *count = count_of(n);
	struct tn_value *from = tn_onnx_in(n, 0), *step = tn_onnx_in(n, 2);

	if (!from || !step)
		return;
	if (!count)
		range_at_run_time(n, from, step);
	else
		tn_onnx_is(n, "reshape(%v, []) + iota([%d], axis=0, elem=%t) * "
			   "reshape(%v, [])", from, count, from->type->dtype,
			   step);
}

static enum tn_dtype wanted(struct tn_onnx *n, enum tn_dtype fallback)
{
	const struct onnx_attr *attr = tn_onnx_attr(n, "dtype");

	return attr ? tn_onnx_dtype(attr->i.v) : fallback;
}

void tn_onnx_do_eye_like(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);

	if (!x)
		return;
	if (x->type->rank != 2)
		tn_onnx_report(n, TN_E1012, "wants a matrix");
	else
		tn_onnx_is(n, "cast(iota(%D, axis=1) == iota(%D, axis=0) + %i, "
			   "%t)", 2, x->type->dims, 2, x->type->dims,
			   tn_onnx_int(n, "k", 0),
			   wanted(n, x->type->dtype));
}

void tn_onnx_do_trilu(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *k = NULL;
	bool upper = tn_onnx_int(n, "upper", 1) != 0;
	const struct tn_dim *const *dims;

	if (!x)
		return;
	if (x->type->rank < 2) {
		tn_onnx_report(n, TN_E1012, "wants a matrix");
		return;
	}
	dims = x->type->dims + x->type->rank - 2;
	k = tn_onnx_has(n, 1) ? tn_onnx_in(n, 1) :
		tn_onnx_text(n, "cast(0, i64)");
	if (k)
		tn_onnx_is(n, upper ? "select(iota(%D, axis=1) >= iota(%D, "
			   "axis=0) + %v, %v, cast(0, %t))" :
			   "select(iota(%D, axis=1) <= iota(%D, axis=0) + %v, "
			   "%v, cast(0, %t))", 2, dims, 2, dims, k, x,
			   x->type->dtype);
}
