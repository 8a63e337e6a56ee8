/*
 * Resampling.
 *
 * In: an anchor resize. Out: a nest over the result; the place in the input
 * is an exact fraction, as the reference has it, made non-negative where only
 * a clamped place is wanted, so that floor division is plain division.
 * Linear mixes the first axis innermost, in f32 (f64 on f64), and rounds once.
 */
#include "passes/lower.h"

#include <string.h>

/* num / den, the place that a result index sees along an axis. */
struct fraction {
	const struct tn_kexpr *num, *den;
	bool may_be_negative;	/* then num > -den */
};

static const struct tn_kexpr *times(struct tn_lower *lw, int64_t factor,
				    const struct tn_kexpr *a)
{
	return tn_kexpr_mul(lw->kernel, a, tn_lower_int(lw, factor));
}

static const struct tn_kexpr *less_one(struct tn_lower *lw,
				       const struct tn_kexpr *a)
{
	return tn_kexpr_sub(lw->kernel, a, tn_lower_int(lw, 1));
}

static const struct tn_kexpr *at_least(struct tn_lower *lw,
				       const struct tn_kexpr *a,
				       int64_t least)
{
	if (a && a->kind == TN_KEXPR_INT)
		return tn_lower_int(lw, a->i < least ? least : a->i);
	return tn_lower_binary(lw, TN_OP_max, a, tn_lower_int(lw, least));
}

static struct fraction source_of(struct tn_lower *lw, const struct tn_op *op,
				 int axis, const struct tn_kexpr *o)
{
	const char *coord = tn_lower_attr_text(op, "coord");
	const struct tn_kexpr *m, *n, *odd;
	struct tn_kernel *kernel = lw->kernel;
	struct fraction at = { NULL, NULL, false };

	m = tn_lower_dim(lw, tn_graph_in(op, 0)->type->dims[axis]);
	n = tn_lower_dim(lw, op->out[0]->type->dims[axis]);
	if (coord[0] == 'h') {
		odd = tn_kexpr_add(kernel, times(lw, 2, o),
				   tn_lower_int(lw, 1));
		at.num = tn_kexpr_sub(kernel, tn_kexpr_mul(kernel, odd, m), n);
		at.den = times(lw, 2, n);
		at.may_be_negative = true;
	} else if (strcmp(coord, "asymmetric") == 0) {
		at.num = tn_kexpr_mul(kernel, o, m);
		at.den = n;
	} else {
		at.num = tn_kexpr_mul(kernel, o, less_one(lw, m));
		at.den = at_least(lw, less_one(lw, n), 1);
	}
	at.num = tn_lower_let(lw, "at", at.num);
	return at;
}

/* floor(max(0, num) / den), at most the last place. */
static const struct tn_kexpr *place(struct tn_lower *lw,
				    const struct tn_kexpr *num,
				    const struct tn_kexpr *den,
				    const struct tn_dim *size)
{
	const struct tn_kexpr *at;

	at = tn_kexpr_fdiv(lw->kernel, at_least(lw, num, 0), den);
	return tn_lower_binary(lw, TN_OP_min, at,
			       less_one(lw, tn_lower_dim(lw, size)));
}

/* The same rounded up. */
static const struct tn_kexpr *place_up(struct tn_lower *lw,
				       const struct tn_kexpr *num,
				       const struct tn_kexpr *den,
				       const struct tn_dim *size)
{
	num = tn_kexpr_add(lw->kernel, at_least(lw, num, 0),
			   less_one(lw, den));
	return place(lw, num, den, size);
}

static const struct tn_kexpr *nearest(struct tn_lower *lw,
				      const struct tn_op *op, int axis,
				      const struct tn_kexpr *o)
{
	const char *round = tn_lower_attr_text(op, "round");
	struct fraction at = source_of(lw, op, axis, o);
	const struct tn_dim *size = tn_graph_in(op, 0)->type->dims[axis];
	const struct tn_kexpr *twice = times(lw, 2, at.num);
	const struct tn_kexpr *both = times(lw, 2, at.den);

	if (strcmp(round, "floor") == 0)
		return place(lw, at.num, at.den, size);
	if (strcmp(round, "ceil") == 0)
		return place_up(lw, at.num, at.den, size);
	if (strcmp(round, "prefer_ceil") == 0)
		return place(lw, tn_kexpr_add(lw->kernel, twice, at.den), both,
			     size);
	return place_up(lw, tn_kexpr_sub(lw->kernel, twice, at.den), both,
			size);
}

/* The two neighbours along an axis and the part of the second. */
struct blend {
	const struct tn_kexpr *below, *above, *part;
};

static struct blend blend_of(struct tn_lower *lw, const struct tn_op *op,
			     int axis, const struct tn_kexpr *o,
			     enum tn_dtype wide)
{
	struct fraction at = source_of(lw, op, axis, o);
	const struct tn_dim *size = tn_graph_in(op, 0)->type->dims[axis];
	const struct tn_kexpr *rest, *below;
	struct tn_kernel *kernel = lw->kernel;
	struct blend blend;

	if (at.may_be_negative)
		at.num = tn_kexpr_add(kernel, at.num, at.den);
	rest = tn_kexpr_mod(kernel, at.num, at.den);
	below = tn_kexpr_fdiv(kernel, at.num, at.den);
	if (at.may_be_negative)
		below = less_one(lw, below);
	below = tn_lower_let(lw, "below", below);
	blend.below = tn_lower_let(lw, "a", tn_lower_clamp(lw, below, size));
	blend.above = tn_kexpr_add(kernel, below, tn_lower_int(lw, 1));
	blend.above = tn_lower_let(lw, "b", tn_lower_clamp(lw, blend.above,
							   size));
	blend.part = tn_lower_binary(lw, TN_OP_div,
				     tn_lower_cast(lw, TN_f64, rest),
				     tn_lower_cast(lw, TN_f64, at.den));
	blend.part = tn_lower_let(lw, "part",
				  tn_lower_cast(lw, wide, blend.part));
	return blend;
}

static bool is_resized(const struct tn_op *op, int axis)
{
	return tn_graph_in(op, 0)->type->dims[axis] !=
		op->out[0]->type->dims[axis];
}

/* The mixture over axes 0..axis, the others being fixed in `index`. */
static const struct tn_kexpr *mixture(struct tn_lower *lw,
				      const struct tn_op *op, int axis,
				      const struct blend *blends,
				      const struct tn_kexpr **index,
				      enum tn_dtype wide)
{
	const struct tn_kexpr *a, *b, *part, *rest;

	while (axis >= 0 && !is_resized(op, axis))
		axis--;
	if (axis < 0) {
		a = tn_lower_element(lw, tn_graph_in(op, 0), index);
		return tn_lower_let(lw, "x", tn_lower_cast(lw, wide, a));
	}
	part = blends[axis].part;
	index[axis] = blends[axis].below;
	a = mixture(lw, op, axis - 1, blends, index, wide);
	index[axis] = blends[axis].above;
	b = mixture(lw, op, axis - 1, blends, index, wide);
	rest = tn_lower_binary(lw, TN_OP_sub, tn_lower_number(lw, wide, 1),
			       part);
	a = tn_lower_binary(lw, TN_OP_mul, a, rest);
	b = tn_lower_binary(lw, TN_OP_mul, b, part);
	return tn_lower_let(lw, "x", tn_lower_binary(lw, TN_OP_add, a, b));
}

static const struct tn_kexpr *linear(struct tn_lower *lw,
				     const struct tn_op *op,
				     const struct tn_kexpr *const *out)
{
	const struct tn_kexpr *index[TN_MAX_RANK];
	struct blend blends[TN_MAX_RANK];
	const struct tn_type *type = op->out[0]->type;
	enum tn_dtype wide = type->dtype == TN_f64 ? TN_f64 : TN_f32;
	int i;

	for (i = 0; i < type->rank; i++) {
		index[i] = out[i];
		if (is_resized(op, i))
			blends[i] = blend_of(lw, op, i, out[i], wide);
	}
	return tn_lower_cast(lw, type->dtype, mixture(
		lw, op, type->rank - 1, blends, index, wide));
}

void tn_lower_resize(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_kexpr *out[TN_MAX_RANK], *in[TN_MAX_RANK], *value;
	const struct tn_type *type = op->out[0]->type;
	size_t mark = tn_lower_mark(lw);
	int i;

	tn_lower_for_result(lw, op, 0, out);
	if (tn_lower_attr_text(op, "mode")[0] == 'n') {
		for (i = 0; i < type->rank; i++)
			in[i] = !is_resized(op, i) ? out[i] : tn_lower_let(
				lw, "row", nearest(lw, op, i, out[i]));
		value = tn_lower_element(lw, tn_graph_in(op, 0), in);
	} else {
		value = linear(lw, op, out);
	}
	tn_lower_finish(lw, op, 0, out, value);
	tn_lower_close(lw, mark);
}
