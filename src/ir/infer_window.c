/*
 * Shape rules of windows: convolutions, pools, resampling.
 *
 *   out = floor((X + lo + hi - dilation * (R - 1) - 1) / stride) + 1
 */
#include "ir/infer_rules.h"

/* One spatial axis. */
struct axis {
	const struct tn_dim *input, *lo, *hi, *size;
	int64_t stride, dilation;
};

/* dilation * (size - 1), the reach of a window behind its first element. */
static const struct tn_dim *reach_of(struct tn_infer *inf,
				     const struct axis *axis)
{
	struct tn_dim_pool *pool = &inf->module->dims;

	return tn_dim_mul(pool, tn_infer_const(inf, axis->dilation),
			  tn_dim_sub(pool, axis->size,
				     tn_infer_const(inf, 1)));
}

static bool too_large(struct tn_infer *inf, const struct axis *axis,
		      const struct tn_dim *padded)
{
	struct tn_diag *diag = tn_infer_report(inf, TN_E0320,
			"the window of '%s' is larger than its input: size %s, "
			"dilation %lld, on %s with padding", inf->info->name,
			tn_infer_dim_text(inf, axis->size),
			(long long)axis->dilation,
			tn_infer_dim_text(inf, padded));

	tn_infer_note_dim(inf, diag, axis->input);
	return false;
}

static bool push_window(struct tn_infer *inf, const struct axis *axis)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_dim *one = tn_infer_const(inf, 1);
	const struct tn_dim *reach = reach_of(inf, axis);
	const struct tn_dim *padded, *least, *last;

	padded = tn_dim_add(pool, tn_dim_add(pool, axis->input, axis->lo),
			    axis->hi);
	if (!tn_infer_made(inf, reach) || !tn_infer_made(inf, padded))
		return false;
	least = tn_dim_is(axis->input, 0) ? reach :
		tn_dim_add(pool, reach, one);
	if (!tn_dim_is_const(axis->input))
		least = reach;
	if (!tn_infer_made(inf, least))
		return false;
	if (!tn_infer_le(inf, least, padded))
		return too_large(inf, axis, padded);
	last = tn_dim_sub(pool, tn_dim_sub(pool, padded, reach), one);
	if (axis->stride != 1)
		last = tn_dim_floordiv(pool, last,
				       tn_infer_const(inf, axis->stride));
	return tn_infer_push(inf, tn_dim_add(pool, last, one));
}

/* Attributes of one spatial axis; `pad` may be NULL. */
static void read_axis(struct tn_infer *inf, int i, bool has_pad,
		      struct axis *axis)
{
	axis->stride = tn_infer_attr(inf, "stride")->u.ints[i];
	axis->dilation = tn_infer_attr(inf, "dilation")->u.ints[i];
	axis->lo = axis->hi = tn_infer_const(inf, 0);
	if (has_pad) {
		const struct tn_attr *pad = tn_infer_attr(inf, "pad");

		axis->lo = pad->u.dims[2 * i];
		axis->hi = pad->u.dims[2 * i + 1];
	}
}

static bool check_steps(struct tn_infer *inf, int count)
{
	return tn_infer_ints(inf, "stride", count, 1) &&
	       tn_infer_ints(inf, "dilation", count, 1);
}

TN_INFER_RULE(window)
{
	const struct tn_type *type = tn_infer_in(inf, 0);
	const struct tn_attr *axes, *size;
	int i;

	if (!tn_infer_axes(inf, "axes", type->rank))
		return false;
	axes = tn_infer_attr(inf, "axes");
	size = tn_infer_attr(inf, "size");
	if (!tn_infer_ints(inf, "size", axes->count, 1) ||
	    !check_steps(inf, axes->count))
		return false;
	for (i = 0; i < type->rank; i++) {
		struct axis axis = { .input = type->dims[i] };
		int at = 0;

		while (at < axes->count && axes->u.ints[at] != i)
			at++;
		if (at == axes->count) {
			if (!tn_infer_push(inf, type->dims[i]))
				return false;
			continue;
		}
		read_axis(inf, at, false, &axis);
		axis.size = tn_infer_const(inf, size->u.ints[at]);
		if (!push_window(inf, &axis))
			return false;
	}
	for (i = 0; i < axes->count; i++) {
		if (!tn_infer_push(inf, tn_infer_const(inf, size->u.ints[i])))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

TN_INFER_RULE(pool)
{
	static const char *const counts[] = { "valid", "pad", NULL };
	const struct tn_type *type = tn_infer_in(inf, 0);
	int spatial = type->rank - 2;
	int i;

	if (!tn_infer_rank_min(inf, 0, 3))
		return false;
	if (!tn_infer_ints(inf, "size", spatial, 1) ||
	    !check_steps(inf, spatial) || !tn_infer_pairs(inf, "pad", spatial))
		return false;
	if (inf->op->code == TN_OP_avgpool &&
	    !tn_infer_word(inf, "count", counts))
		return false;
	if (!tn_infer_push_axes(inf, type, 0, 2))
		return false;
	for (i = 0; i < spatial; i++) {
		struct axis axis = { .input = type->dims[2 + i] };

		read_axis(inf, i, true, &axis);
		axis.size = tn_infer_const(inf,
				tn_infer_attr(inf, "size")->u.ints[i]);
		if (!push_window(inf, &axis))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

/* ---- Convolutions -------------------------------------------------------- */

static bool check_conv(struct tn_infer *inf, int64_t *groups)
{
	int rank = tn_infer_in(inf, 0)->rank;

	*groups = tn_infer_attr(inf, "groups")->u.i;
	if (!tn_infer_rank_min(inf, 0, 3) || !tn_infer_rank(inf, 1, rank))
		return false;
	if (*groups < 1)
		return tn_infer_fail(inf, TN_E0505, "groups= of '%s' must be "
				     "at least 1", inf->info->name);
	if (inf->op->nin > 2 && !tn_infer_rank(inf, 2, 1))
		return false;
	return check_steps(inf, rank - 2) &&
	       tn_infer_pairs(inf, "pad", rank - 2);
}

static bool check_groups(struct tn_infer *inf, const struct tn_dim *channels,
			 int64_t groups)
{
	const struct tn_dim *count = tn_infer_const(inf, groups);
	struct tn_diag *diag;

	if (!tn_infer_made(inf, count))
		return false;
	if (groups == 1 || tn_infer_divides(inf, channels, count))
		return true;
	diag = tn_infer_report(inf, TN_E0326, "%lld groups of '%s' do not "
			       "divide %s channels", (long long)groups,
			       inf->info->name,
			       tn_infer_dim_text(inf, channels));
	tn_infer_note_dim(inf, diag, channels);
	return false;
}

static bool check_bias(struct tn_infer *inf, const struct tn_dim *channels)
{
	return inf->op->nin < 3 ||
	       tn_infer_match(inf, channels, tn_infer_in(inf, 2)->dims[0],
			      "bias against output channels, ", 0);
}

TN_INFER_RULE(conv)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_type *x = tn_infer_in(inf, 0);
	const struct tn_type *w = tn_infer_in(inf, 1);
	const struct tn_dim *channels;
	int64_t groups;
	int i;

	if (!check_conv(inf, &groups))
		return false;
	channels = tn_dim_mul(pool, w->dims[1], tn_infer_const(inf, groups));
	if (!tn_infer_made(inf, channels) ||
	    !tn_infer_match(inf, x->dims[1], channels,
			    "input against weight channels, ", 1) ||
	    !check_groups(inf, w->dims[0], groups) ||
	    !check_bias(inf, w->dims[0]))
		return false;
	if (!tn_infer_push(inf, x->dims[0]) || !tn_infer_push(inf, w->dims[0]))
		return false;
	for (i = 0; i < x->rank - 2; i++) {
		struct axis axis = {
			.input = x->dims[2 + i], .size = w->dims[2 + i]
		};

		read_axis(inf, i, true, &axis);
		if (!push_window(inf, &axis))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

/* (X - 1) * stride - lo - hi + dilation * (R - 1) + 1 + output_pad */
static bool push_transposed(struct tn_infer *inf, const struct axis *axis,
			    int64_t output_pad)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_dim *one = tn_infer_const(inf, 1);
	const struct tn_dim *size;

	size = tn_dim_mul(pool, tn_dim_sub(pool, axis->input, one),
			  tn_infer_const(inf, axis->stride));
	size = tn_dim_add(pool, size, reach_of(inf, axis));
	size = tn_dim_add(pool, size, tn_infer_const(inf, output_pad));
	size = tn_dim_add(pool, size, one);
	size = tn_dim_sub(pool, tn_dim_sub(pool, size, axis->lo), axis->hi);
	return tn_infer_push(inf, size);
}

TN_INFER_RULE(conv_transpose)
{
	struct tn_dim_pool *pool = &inf->module->dims;
	const struct tn_type *x = tn_infer_in(inf, 0);
	const struct tn_type *w = tn_infer_in(inf, 1);
	const struct tn_dim *channels;
	int64_t groups;
	int i;

	if (!check_conv(inf, &groups) ||
	    !tn_infer_ints(inf, "output_pad", x->rank - 2, 0))
		return false;
	channels = tn_dim_mul(pool, w->dims[1], tn_infer_const(inf, groups));
	if (!tn_infer_made(inf, channels) ||
	    !tn_infer_match(inf, x->dims[1], w->dims[0],
			    "input channels against weight ", 0) ||
	    !check_groups(inf, w->dims[0], groups) ||
	    !check_bias(inf, channels))
		return false;
	if (!tn_infer_push(inf, x->dims[0]) || !tn_infer_push(inf, channels))
		return false;
	for (i = 0; i < x->rank - 2; i++) {
		struct axis axis = {
			.input = x->dims[2 + i], .size = w->dims[2 + i]
		};

		read_axis(inf, i, true, &axis);
		if (!push_transposed(inf, &axis, tn_infer_attr(inf,
				"output_pad")->u.ints[i]))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}

/* ---- Resampling ---------------------------------------------------------- */

TN_INFER_RULE(resize)
{
	static const char *const modes[] = { "nearest", "linear", NULL };
	static const char *const coords[] = {
		"half_pixel", "asymmetric", "align_corners", NULL
	};
	static const char *const rounds[] = {
		"prefer_floor", "prefer_ceil", "floor", "ceil", NULL
	};
	const struct tn_type *type = tn_infer_in(inf, 0);
	const struct tn_attr *shape = tn_infer_attr(inf, "shape");
	int i;

	if (!tn_infer_word(inf, "mode", modes) ||
	    !tn_infer_word(inf, "coord", coords) ||
	    !tn_infer_word(inf, "round", rounds))
		return false;
	if (tn_infer_attr(inf, "mode")->u.s[0] == 'l' &&
	    !tn_dtype_is(type->dtype, TN_KIND_F))
		return tn_infer_fail(inf, TN_E0302, "'resize' with mode="
				     "\"linear\" is not defined for %s",
				     tn_dtype_name(type->dtype));
	if (shape->count != type->rank)
		return tn_infer_fail(inf, TN_E0506, "shape= of 'resize' has "
				     "%d entries for %d axes", shape->count,
				     type->rank);
	for (i = 0; i < type->rank; i++) {
		if (!tn_infer_push(inf, shape->u.dims[i]))
			return false;
	}
	return tn_infer_result(inf, 0, inf->dtype);
}
