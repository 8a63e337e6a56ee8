/*
 * Handlers of resampling. Each axis is resampled by itself: elements are
 * looked up about the place that an element of the result comes from, and
 * weighed by their distance from it. What the operator `resize` means is said
 * by it.
 */
#include <math.h>
#include <string.h>

#include "importers/onnx/table.h"

/* Sizes beyond it are refused. */
#define LARGEST 0x1p31

struct resize {
	struct tn_value *x;
	const char *mode, *coord, *round;
	bool antialias, excludes;
	int count;			/* axes that are named */
	int64_t axes[TN_MAX_RANK];
	const struct tn_dim *size[TN_MAX_RANK];	/* of the result, each axis */
	double scale[TN_MAX_RANK];	/* 0: size over size */
	struct tn_value *scales;	/* of run time, or NULL */
	struct tn_value *one_scale;	/* for all axes, or NULL */
};

/* ---- Sizes and scales ------------------------------------------------------------- */

static bool read_axes(struct tn_onnx *n, struct resize *r)
{
	const int64_t *list;
	int i, axis, count = tn_onnx_list(n, "axes", &list);

	r->count = count < 0 ? r->x->type->rank : count;
	if (r->count > r->x->type->rank) {
		tn_onnx_report(n, TN_E1012, "%d axes of %d", count,
			       r->x->type->rank);
		return false;
	}
	for (i = 0; i < r->x->type->rank; i++) {
		r->size[i] = r->x->type->dims[i];
		r->scale[i] = 1;
	}
	for (i = 0; i < r->count; i++) {
		axis = tn_onnx_axis(n, count < 0 ? i : list[i],
				    r->x->type->rank);
		if (axis < 0)
			return false;
		r->axes[i] = axis;
	}
	return true;
}

/* floor(size * scale): of a symbol only where that is a whole multiple or
 * part. */
static const struct tn_dim *scaled(struct tn_onnx *n, const struct tn_dim *size,
				   double scale)
{
	double part = 1 / scale;

	if (!(scale < LARGEST) || !(part < LARGEST))
		return NULL;
	if (tn_dim_is_const(size))
		return (double)size->value * scale < LARGEST ?
			tn_onnx_number(n, (int64_t)floor((double)size->value *
							 scale)) : NULL;
	if (scale == floor(scale))
		return tn_dim_mul(tn_onnx_pool(n), size,
				  tn_onnx_number(n, (int64_t)scale));
	if (part == floor(part))
		return tn_dim_floordiv(tn_onnx_pool(n), size,
				       tn_onnx_number(n, (int64_t)part));
	return NULL;
}

static bool known_scales(struct tn_onnx *n, struct resize *r, int count,
			 const double *scales)
{
	int i, axis;

	if (count != r->count) {
		tn_onnx_report(n, TN_E1012, "%d scales for %d axes", count,
			       r->count);
		return false;
	}
	for (i = 0; i < count; i++) {
		axis = (int)r->axes[i];
		r->scale[axis] = scales[i];
		if (!(scales[i] > 0) || !(r->size[axis] = scaled(n,
				r->x->type->dims[axis], scales[i]))) {
			tn_onnx_refuse(n, "scale %g of axis %d", scales[i],
				       axis);
			return false;
		}
	}
	return true;
}

static bool declared_sizes(struct tn_onnx *n, struct resize *r)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int rank, i;

	if (!tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank != r->x->type->rank) {
		tn_onnx_unknown(n, "sizes that only run time knows");
		return false;
	}
	for (i = 0; i < rank; i++) {
		r->size[i] = dims[i];
		r->scale[i] = 0;
	}
	return true;
}

/* What run time gives is what is declared, of each axis that is named. */
static bool hold_sizes(struct tn_onnx *n, const struct resize *r, int input)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	int i;

	for (i = 0; i < r->count; i++)
		dims[i] = r->size[r->axes[i]];
	if (tn_onnx_hold(n, input, r->count, dims))
		return true;
	tn_onnx_unknown(n, "sizes that only run time knows");
	return false;
}

/* The same of sizes that `how` makes of those of the operand and scales. */
static bool hold_scaled(struct tn_onnx *n, const struct resize *r,
			const char *how, struct tn_value *scale)
{
	const struct tn_dim *in[TN_MAX_RANK], *out[TN_MAX_RANK];
	struct tn_value *have, *want;
	int i;

	for (i = 0; i < r->count; i++) {
		in[i] = r->x->type->dims[r->axes[i]];
		out[i] = r->size[r->axes[i]];
	}
	if (!r->count)
		return true;
	have = tn_onnx_text(n, "stack(%D, axis=0)", r->count, in);
	want = tn_onnx_text(n, "stack(%D, axis=0)", r->count, out);
	have = have && want ? tn_onnx_text(n, how, have, scale) : NULL;
	return have && tn_onnx_text(n, "assert(all(%v == cast(%v, f64)), "
		"message=\"the sizes are not those declared\"); return true",
		have, want);
}

/* The one scale that keeps the aspect, of known sizes. */
static double kept_scale(const struct resize *r, const int64_t *sizes,
			 bool larger)
{
	double best = 0, one;
	int i;

	for (i = 0; i < r->count; i++) {
		const struct tn_dim *in = r->x->type->dims[r->axes[i]];

		if (!tn_dim_is_const(in) || !in->value)
			return 0;
		one = (double)sizes[i] / (double)in->value;
		if (!i || (larger ? one > best : one < best))
			best = one;
	}
	return best;
}

static bool keep_aspect(struct tn_onnx *n, struct resize *r,
			const int64_t *sizes, bool larger)
{
	double scale = kept_scale(r, sizes, larger);
	int i, axis;

	if (!(scale > 0)) {
		tn_onnx_refuse(n, "an aspect of unknown sizes");
		return false;
	}
	for (i = 0; i < r->count; i++) {
		axis = (int)r->axes[i];
		r->scale[axis] = scale;
		r->size[axis] = scaled(n, r->x->type->dims[axis], scale);
		if (r->size[axis])
			r->size[axis] = tn_onnx_number(n, (int64_t)floor(
				scale * (double)r->x->type->dims[axis]->value +
				0.5));
		if (!r->size[axis]) {
			tn_onnx_refuse(n, "scale %g", scale);
			return false;
		}
	}
	return true;
}

/* The same at run time; the sizes of the result are declared. */
static bool keep_aspect_later(struct tn_onnx *n, struct resize *r, int input,
			      bool larger)
{
	struct tn_value *sizes = tn_onnx_in(n, input);
	const struct tn_dim *in[TN_MAX_RANK];
	int i;

	for (i = 0; i < r->count; i++)
		in[i] = r->x->type->dims[r->axes[i]];
	if (!sizes || !declared_sizes(n, r))
		return false;
	r->one_scale = tn_onnx_text(n, "reduce_%s(cast(%v, f64) / "
		"cast(stack(%D, axis=0), f64))", larger ? "max" : "min",
		sizes, r->count, in);
	return r->one_scale && hold_scaled(n, r, "floor(cast(%v, f64) * %v "
					   "+ 0.5)", r->one_scale);
}

static bool read_sizes(struct tn_onnx *n, struct resize *r, int input)
{
	const char *policy = tn_onnx_string(n, "keep_aspect_ratio_policy",
					    "stretch");
	bool larger = !strcmp(policy, "not_smaller");
	const struct tn_dim *dims[TN_MAX_RANK];
	int64_t sizes[TN_MAX_RANK];
	int count, i;

	if (strcmp(policy, "stretch") != 0) {
		if (tn_onnx_ints(n, input, TN_MAX_RANK, sizes, &count) &&
		    count == r->count)
			return keep_aspect(n, r, sizes, larger);
		return keep_aspect_later(n, r, input, larger);
	}
	if (!tn_onnx_sizes(n, input, TN_MAX_RANK, dims, &count))
		return !n->failed && declared_sizes(n, r) &&
		       hold_sizes(n, r, input);
	for (i = 0; i < count && i < r->count; i++) {
		r->size[r->axes[i]] = dims[i];
		r->scale[r->axes[i]] = 0;
	}
	return true;
}

static bool has_elements(struct tn_onnx *n, int i)
{
	struct tn_value *v = tn_onnx_has(n, i) ? tn_onnx_in(n, i) : NULL;

	return v && !(v->type->rank == 1 && tn_dim_is(v->type->dims[0], 0));
}

static bool read_scales(struct tn_onnx *n, struct resize *r, int input)
{
	double scales[TN_MAX_RANK];
	int count;

	if (tn_onnx_floats(n, input, TN_MAX_RANK, scales, &count))
		return known_scales(n, r, count, scales);
	if (n->failed || !declared_sizes(n, r))
		return false;
	r->scales = tn_onnx_text(n, "cast(%v, f64)", tn_onnx_in(n, input));
	return r->scales && hold_scaled(n, r, "floor(cast(%v, f64) * %v)",
					r->scales);
}

/* ---- What `resize` means ------------------------------------------------------------ */

/* Whether the scale is that of the sizes. */
static bool is_exact(const struct resize *r, int axis)
{
	const struct tn_dim *in = r->x->type->dims[axis];
	const struct tn_dim *out = r->size[axis];
	int64_t lo, hi;

	if (r->scale[axis] == 0 || in == out)
		return r->scale[axis] == 0 || r->scale[axis] == 1;
	if (tn_dim_is_const(in) && tn_dim_is_const(out))
		return (double)in->value * r->scale[axis] ==
		       (double)out->value;
	tn_dim_bounds(in, &lo, &hi);
	return r->scale[axis] == floor(r->scale[axis]) && lo > 0;
}

static bool is_whole(const struct resize *r)
{
	static const char *const coords[] = { "half_pixel", "asymmetric",
					      "align_corners" };
	bool known = false;
	size_t k;
	int i;

	for (k = 0; k < 3; k++)
		known |= !strcmp(r->coord, coords[k]);
	if (!known || r->antialias || r->excludes || r->scales ||
	    r->one_scale || !strcmp(r->mode, "cubic") ||
	    !strcmp(r->round, "simple"))
		return false;
	for (i = 0; i < r->x->type->rank; i++)
		if (!is_exact(r, i) || (i < 2 && r->size[i] !=
					r->x->type->dims[i]))
			return false;
	return r->x->type->rank > 2;
}

/* ---- One axis -------------------------------------------------------------------------- */

/* The scale of the axis as a scalar of f64. */
static struct tn_value *scale_of(struct tn_onnx *n, const struct resize *r,
				 int axis)
{
	int i, k = -1;

	for (i = 0; i < r->count; i++)
		if (r->axes[i] == axis)
			k = i;
	if (r->one_scale && k >= 0)
		return r->one_scale;
	if (r->scales && k >= 0)
		return tn_onnx_text(n, "s = %v; return s[%i]", r->scales,
				    (int64_t)k);
	if (r->scale[axis] != 0)
		return tn_onnx_text(n, "cast(%f, f64)", r->scale[axis]);
	return tn_onnx_text(n, "cast(%d, f64) / cast(%d, f64)", r->size[axis],
			    r->x->type->dims[axis]);
}

/* The region of the axis, for tf_crop_and_resize: its two ends. */
static bool ends_of(struct tn_onnx *n, const struct resize *r, int axis,
		    struct tn_value **ends)
{
	int i, k = -1;

	for (i = 0; i < r->count; i++)
		if (r->axes[i] == axis)
			k = i;
	if (k < 0 || !tn_onnx_has(n, 1)) {
		tn_onnx_report(n, TN_E1012, "a region is missing");
		return false;
	}
	return tn_onnx_texts(n, 2, ends, "r = cast(%v, f64); "
			     "return r[%i], r[%i]", tn_onnx_in(n, 1),
			     (int64_t)k, (int64_t)(k + r->count));
}

/* Where each element of the result comes from: f64[O]. */
static struct tn_value *origins(struct tn_onnx *n, const struct resize *r,
				int axis, struct tn_value *scale)
{
	const struct tn_dim *in = r->x->type->dims[axis], *out = r->size[axis];
	struct tn_value *y, *ends[2];

	y = tn_onnx_text(n, "iota([%d], axis=0, elem=f64)", out);
	if (!y)
		return NULL;
	if (!strcmp(r->coord, "asymmetric"))
		return tn_onnx_text(n, "%v / %v", y, scale);
	if (!strcmp(r->coord, "half_pixel"))
		return tn_onnx_text(n, "(%v + 0.5) / %v - 0.5", y, scale);
	if (!strcmp(r->coord, "pytorch_half_pixel"))
		return tn_onnx_text(n, "select(%v * %d == 1, 0, "
			"(%v + 0.5) / %v - 0.5)", scale, in, y, scale);
	if (!strcmp(r->coord, "align_corners"))
		return tn_onnx_text(n, "w = %v * %d - 1; return select(w == 0, "
			"0, %v * (%d - 1) / select(w == 0, 1, w))", scale, in,
			y, in);
	if (!strcmp(r->coord, "half_pixel_symmetric"))
		return tn_onnx_text(n, "i = cast(%d, f64); "
			"return (i / 2) * (1 - %d / (%v * i)) + (%v + 0.5) / %v - 0.5",
			in, out, scale, y, scale);
	if (!strcmp(r->coord, "tf_crop_and_resize") &&
	    ends_of(n, r, axis, ends))
		return tn_onnx_text(n, "w = %v * %d - 1; p = select(w == 0, "
			"(%v - %v) * (%d - 1) / 2, %v * (%v - %v) * (%d - 1) / "
			"select(w == 0, 1, w)); return p + %v * (%d - 1)",
			scale, in, ends[1], ends[0], in, y, ends[1], ends[0],
			in, ends[0], in);
	tn_onnx_refuse(n, "coordinates '%s'", r->coord);
	return NULL;
}

/* A place as an element's. Operator set 10 goes up where the axis shrinks. */
static struct tn_value *rounded(struct tn_onnx *n, const struct resize *r,
				int axis, struct tn_value *at)
{
	const char *how = !strcmp(r->round, "floor") ? "floor(%v)" :
		!strcmp(r->round, "ceil") ? "ceil(%v)" :
		!strcmp(r->round, "round_prefer_ceil") ? "floor(%v + 0.5)" :
		"ceil(%v - 0.5)";

	if (!strcmp(r->round, "simple"))
		return tn_onnx_text(n, "p = %v; return select(cast(%d, i64) < "
				    "cast(%d, i64), ceil(p), floor(p))", at,
				    r->size[axis], r->x->type->dims[axis]);
	return tn_onnx_text(n, how, at);
}

static struct tn_value *nearest(struct tn_onnx *n, const struct resize *r,
				struct tn_value *x, int axis,
				struct tn_value *at)
{
	at = rounded(n, r, axis, at);
	return at ? tn_onnx_text(n, "gather(%v, min(max(cast(%v, i64), 0), "
				 "%d - 1), axis=%i)", x, at,
				 r->x->type->dims[axis], (int64_t)axis) : NULL;
}

/* How many elements to each side have weight, at most. */
static int64_t reach(const struct resize *r, int axis)
{
	const struct tn_dim *in = r->x->type->dims[axis], *out = r->size[axis];
	int64_t support = !strcmp(r->mode, "cubic") ? 2 : 1;

	if (!r->antialias)
		return support;
	if (!tn_dim_is_const(in) || !tn_dim_is_const(out) || !out->value ||
	    in->value > INT32_MAX || out->value > INT32_MAX)
		return -1;
	return support * ((in->value + out->value - 1) / out->value + 1);
}

/* The weight at distance d. */
static struct tn_value *weight(struct tn_onnx *n, const struct resize *r,
			       struct tn_value *d)
{
	double a = tn_onnx_float(n, "cubic_coeff_a", -0.75);

	if (strcmp(r->mode, "cubic") != 0)
		return tn_onnx_text(n, "max(1 - %v, 0)", d);
	return tn_onnx_text(n, "a = cast(%f, f64); d = %v; "
		"near = ((a + 2) * d - (a + 3)) * d * d + 1; "
		"far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; "
		"return select(d <= 1, near, select(d < 2, far, 0))", a, d);
}

static struct tn_value *weighed(struct tn_onnx *n, const struct resize *r,
				struct tn_value *x, int axis,
				struct tn_value *at, struct tn_value *scale)
{
	const struct tn_dim *in = r->x->type->dims[axis], *out = r->size[axis];
	const struct tn_dim *shape[TN_MAX_RANK];
	int64_t side = reach(r, axis);
	struct tn_value *i, *d, *w;
	int k;

	if (side < 0 || x->type->rank == TN_MAX_RANK) {
		tn_onnx_unknown(n, "antialias of sizes that only run time "
			       "knows");
		return NULL;
	}
	i = tn_onnx_text(n, "expand_dims(floor(%v), axes=[1]) + "
			 "iota([1, %i], axis=1, elem=f64) - %i", at, 2 * side,
			 side - 1);
	d = i ? tn_onnx_text(n, "abs(%v - expand_dims(%v, axes=[1]))", i, at) :
		NULL;
	if (d && r->antialias)
		d = tn_onnx_text(n, "%v * min(%v, 1)", d, scale);
	w = d ? weight(n, r, d) : NULL;
	if (w && r->excludes)
		w = tn_onnx_text(n, "select(%v < 0 || %v > %d - 1, 0, %v)", i,
				 i, in, w);
	if (w && (r->excludes || r->antialias))
		w = tn_onnx_text(n, "%v / sum(%v, axes=[1], keep=true)", w, w);
	if (!w)
		return NULL;
	for (k = 0; k <= x->type->rank; k++)
		shape[k] = tn_onnx_number(n, 1);
	shape[axis] = out;
	shape[axis + 1] = tn_onnx_number(n, 2 * side);
	return tn_onnx_text(n, "g = gather(%v, cast(min(max(%v, 0), %d - 1), "
		"i64), axis=%i); return cast(sum(cast(g, f64) * "
		"reshape(%v, %D), axes=[%i]), %t)", x, i, in, (int64_t)axis, w,
		x->type->rank + 1, shape, (int64_t)(axis + 1),
		x->type->dtype);
}

/* What comes from outside of the operand has a value of its own. */
static struct tn_value *extrapolated(struct tn_onnx *n, const struct resize *r,
				     struct tn_value *y, int axis,
				     struct tn_value *at)
{
	const struct tn_dim *shape[TN_MAX_RANK];
	int k;

	for (k = 0; k < y->type->rank; k++)
		shape[k] = k == axis ? r->size[axis] : tn_onnx_number(n, 1);
	return tn_onnx_text(n, "select(reshape(%v < 0 || %v > %d - 1, %D), "
			    "cast(%f, %t), %v)", at, at,
			    r->x->type->dims[axis], y->type->rank, shape,
			    tn_onnx_float(n, "extrapolation_value", 0),
			    y->type->dtype, y);
}

static bool is_same(const struct resize *r, int axis)
{
	return r->size[axis] == r->x->type->dims[axis] && !r->scales &&
	       !r->one_scale && (r->scale[axis] == 1 || r->scale[axis] == 0) &&
	       strcmp(r->coord, "tf_crop_and_resize") != 0;
}

static void by_axis(struct tn_onnx *n, struct resize *r)
{
	struct tn_value *y = r->x, *scale, *at;
	int i, axis;

	for (i = 0; y && i < r->count; i++) {
		axis = (int)r->axes[i];
		if (is_same(r, axis))
			continue;
		scale = scale_of(n, r, axis);
		at = scale ? origins(n, r, axis, scale) : NULL;
		if (!at)
			return;
		y = !strcmp(r->mode, "nearest") ? nearest(n, r, y, axis, at) :
			weighed(n, r, y, axis, at, scale);
		if (y && !strcmp(r->coord, "tf_crop_and_resize"))
			y = extrapolated(n, r, y, axis, at);
	}
	tn_onnx_give(n, 0, y);
}

static void resize(struct tn_onnx *n, struct resize *r)
{
	const char *round = !strncmp(r->round, "round_", 6) ? r->round + 6 :
		r->round;

	if (is_whole(r))
		tn_onnx_is(n, "resize(%v, shape=%D, mode=\"%s\", "
			   "coord=\"%s\", round=\"%s\")", r->x,
			   r->x->type->rank, r->size, r->mode, r->coord,
			   round);
	else
		by_axis(n, r);
}

static bool may_shrink(const struct resize *r)
{
	const struct tn_dim *in, *out;
	int i;

	for (i = 0; i < r->x->type->rank; i++) {
		in = r->x->type->dims[i];
		out = r->size[i];
		if (r->scale[i] > 0 ? r->scale[i] < 1 :
		    !tn_dim_is_const(in) || !tn_dim_is_const(out) ||
		    out->value < in->value)
			return true;
	}
	return false;
}

void tn_onnx_do_resize(struct tn_onnx *n)
{
	struct resize r = { .x = tn_onnx_in(n, 0) };
	bool is_old = n->version < 11;

	if (!r.x)
		return;
	r.mode = tn_onnx_string(n, "mode", "nearest");
	r.coord = is_old ? "asymmetric" :
		tn_onnx_string(n, "coordinate_transformation_mode",
			       "half_pixel");
	r.round = is_old ? "floor" :
		tn_onnx_string(n, "nearest_mode", "round_prefer_floor");
	r.antialias = tn_onnx_int(n, "antialias", 0) != 0 &&
		strcmp(r.mode, "nearest") != 0;
	r.excludes = tn_onnx_int(n, "exclude_outside", 0) != 0;
	if (!read_axes(n, &r))
		return;
	if (is_old ? !read_scales(n, &r, 1) :
	    has_elements(n, 3) ? !read_sizes(n, &r, 3) :
				 !read_scales(n, &r, 2))
		return;
	if (is_old && !strcmp(r.mode, "nearest") && may_shrink(&r))
		r.round = "simple";
	resize(n, &r);
}

void tn_onnx_do_upsample(struct tn_onnx *n)
{
	struct resize r = { .x = tn_onnx_in(n, 0) };
	const struct onnx_attr *attr = tn_onnx_attr(n, "scales");
	double scales[TN_MAX_RANK];
	size_t i;

	if (!r.x || !read_axes(n, &r))
		return;
	r.mode = tn_onnx_string(n, "mode", "nearest");
	r.coord = "asymmetric";
	r.round = "floor";
	if (n->version >= 9) {
		if (read_scales(n, &r, 1))
			resize(n, &r);
		return;
	}
	for (i = 0; attr && i < attr->floats.len && i < TN_MAX_RANK; i++)
		scales[i] = (double)attr->floats.at[i];
	if (!attr)
		tn_onnx_report(n, TN_E1012, "scales are missing");
	else if (known_scales(n, &r, (int)i, scales))
		resize(n, &r);
}
