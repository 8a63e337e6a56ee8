/*
 * Handlers of quantised operators.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- Scales ------------------------------------------------------------------------ */

/* A block of elements along the axis shares one entry. */
static struct tn_value *unblocked(struct tn_onnx *n, struct tn_value *s,
				  const struct tn_type *like, int axis,
				  int64_t block)
{
	const struct tn_dim *apart[TN_MAX_RANK], *all[TN_MAX_RANK];
	const struct tn_dim *joined[TN_MAX_RANK], *start[TN_MAX_RANK];
	int i, at = 0, rank = s->type->rank;

	if (rank == TN_MAX_RANK)
		return NULL;
	for (i = 0; i < rank; i++) {
		apart[at] = all[at] = joined[i] = s->type->dims[i];
		start[i] = tn_onnx_number(n, 0);
		at++;
		if (i != axis)
			continue;
		apart[at] = tn_onnx_number(n, 1);
		all[at++] = tn_onnx_number(n, block);
		joined[i] = tn_dim_mul(tn_onnx_pool(n), s->type->dims[i],
				       tn_onnx_number(n, block));
	}
	return tn_onnx_text(n, "slice(reshape(broadcast(reshape(%v, %D), %D), "
			    "%D), start=%D, stop=%D)", s, at, apart, at, all,
			    rank, joined, rank, start, rank, like->dims);
}

/* Scale or zero point i in f32, shaped to go along the axis. */
static struct tn_value *along(struct tn_onnx *n, int i,
			      const struct tn_value *x)
{
	struct tn_value *s = tn_onnx_in(n, i);
	int64_t block = tn_onnx_int(n, "block_size", 0);
	const struct tn_dim *shape[TN_MAX_RANK];
	int axis, k;

	if (s && s->type->dtype != TN_f32 && s->type->dtype != TN_f64)
		s = tn_onnx_text(n, "cast(%v, f32)", s);
	if (!s || s->type->rank == 0)
		return s;
	if (s->type->rank == 1 && tn_dim_is(s->type->dims[0], 1) && !block)
		return tn_onnx_text(n, "reshape(%v, [])", s);
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 1), x->type->rank);
	if (axis < 0)
		return NULL;
	if (block)
		return unblocked(n, s, x->type, axis, block);
	for (k = 0; k < x->type->rank; k++)
		shape[k] = k == axis ? s->type->dims[0] :
			tn_onnx_number(n, 1);
	return tn_onnx_text(n, "reshape(%v, %D)", s, x->type->rank, shape);
}

static enum tn_dtype target_of(struct tn_onnx *n)
{
	int64_t dtype = tn_onnx_int(n, "output_dtype", 0);
	struct tn_value *zero = tn_onnx_has(n, 2) ? tn_onnx_in(n, 2) : NULL;

	if (zero)
		return zero->type->dtype;
	return dtype ? tn_onnx_dtype(dtype) : TN_u8;
}

void tn_onnx_do_quantize(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *scale, *zero = NULL, *y;
	enum tn_dtype to;

	if (!x)
		return;
	scale = along(n, 1, x);
	to = target_of(n);
	if (scale && tn_onnx_has(n, 2))
		zero = along(n, 2, x);
	if (n->failed)
		return;
	if (to == TN_POISON) {
		tn_onnx_refuse(n, "an element type that the language does "
			       "not have");
		return;
	}
	y = tn_onnx_text(n, "cast(%v, f32) / %v", x, scale);
	if (y && tn_dtype_holds(to, TN_KIND_INT))
		y = tn_onnx_text(n, "round(%v)", y);
	if (y && zero)
		y = tn_onnx_text(n, "%v + %v", y, zero);
	tn_onnx_give(n, 0, tn_onnx_convert(n, y, to));
}

void tn_onnx_do_dequantize(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *scale, *zero = NULL, *y;
	enum tn_dtype to;

	if (!x)
		return;
	scale = tn_onnx_in(n, 1);
	if (!scale)
		return;
	to = tn_onnx_int(n, "output_dtype", 0) ?
		tn_onnx_dtype(tn_onnx_int(n, "output_dtype", 0)) :
		scale->type->dtype;
	scale = along(n, 1, x);
	if (scale && tn_onnx_has(n, 2))
		zero = along(n, 2, x);
	if (n->failed)
		return;
	y = tn_onnx_text(n, "cast(%v, f32)", x);
	if (y && zero)
		y = tn_onnx_text(n, "%v - %v", y, zero);
	if (y)
		tn_onnx_is(n, "cast(%v * %v, %t)", y, scale, to);
}

void tn_onnx_do_dynamic_quantize(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *out[3];
	int i;

	if (!x || !tn_onnx_texts(n, 3, out, "x = %v; " ONNX_TO_BYTES("x")
		"return cast(round(x / d) + z, u8), s, cast(z, u8)", x))
		return;
	for (i = 0; i < 3; i++)
		tn_onnx_give(n, i, out[i]);
}

/* ---- Products ------------------------------------------------------------------------ */

/* Operand i less its zero point, in i32. `zero` goes along rows (a) or
 * columns (b) if it is a vector. */
static struct tn_value *centred(struct tn_onnx *n, int i, int zero, bool rows)
{
	struct tn_value *x = tn_onnx_in(n, i), *z;

	x = x ? tn_onnx_text(n, "cast(%v, i32)", x) : NULL;
	if (!x || zero < 0 || !tn_onnx_has(n, zero))
		return x;
	z = tn_onnx_in(n, zero);
	if (z && z->type->rank == 1 && tn_dim_is(z->type->dims[0], 1))
		z = tn_onnx_text(n, "reshape(%v, [])", z);
	else if (z && rows && z->type->rank == 1)
		z = tn_onnx_text(n, "expand_dims(%v, axes=[-1])", z);
	return z ? tn_onnx_text(n, "%v - cast(%v, i32)", x, z) : NULL;
}

void tn_onnx_do_matmul_integer(struct tn_onnx *n)
{
	struct tn_value *a = centred(n, 0, 2, true);
	struct tn_value *b = a ? centred(n, 1, 3, false) : NULL;

	if (b)
		tn_onnx_is(n, "%v @ %v", a, b);
}

/* Scale i in f32, for rows if it is a vector. */
static struct tn_value *scale_of(struct tn_onnx *n, int i, bool rows)
{
	struct tn_value *s = tn_onnx_in(n, i);

	s = s ? tn_onnx_text(n, "cast(%v, f32)", s) : NULL;
	if (s && s->type->rank == 1 && tn_dim_is(s->type->dims[0], 1))
		return tn_onnx_text(n, "reshape(%v, [])", s);
	if (s && rows && s->type->rank == 1)
		return tn_onnx_text(n, "expand_dims(%v, axes=[-1])", s);
	return s;
}

/* Sums to the quantised result: scaled, rounded, shifted, saturated. */
static void give_scaled(struct tn_onnx *n, struct tn_value *sum,
			struct tn_value *by, int out_zero)
{
	struct tn_value *zero = tn_onnx_in(n, out_zero);

	if (!sum || !by || !zero)
		return;
	if (zero->type->rank)
		zero = tn_onnx_text(n, "reshape(%v, [])", zero);
	if (zero)
		tn_onnx_is(n, "cast(round(cast(%v, f32) * %v) + "
			   "cast(%v, f32), %t)", sum, by, zero,
			   zero->type->dtype);
}

void tn_onnx_do_qlinear_matmul(struct tn_onnx *n)
{
	struct tn_value *a = centred(n, 0, 2, true);
	struct tn_value *b = a ? centred(n, 3, 5, false) : NULL;
	struct tn_value *sa = scale_of(n, 1, true);
	struct tn_value *sb = scale_of(n, 4, false);
	struct tn_value *sy = scale_of(n, 6, false);

	if (n->failed || !b)
		return;
	give_scaled(n, tn_onnx_text(n, "%v @ %v", a, b),
		    tn_onnx_text(n, "%v * %v / %v", sa, sb, sy), 7);
}

/* A vector for the output channels of weights [M, ..]. */
static struct tn_value *per_output(struct tn_onnx *n, struct tn_value *z,
				   int rank)
{
	const struct tn_dim *shape[TN_MAX_RANK];
	int i;

	if (!z || z->type->rank != 1)
		return z;
	for (i = 0; i < rank; i++)
		shape[i] = i ? tn_onnx_number(n, 1) : z->type->dims[0];
	return tn_onnx_text(n, "reshape(%v, %D)", z, rank, shape);
}

static struct tn_value *centred_weights(struct tn_onnx *n, int i, int zero)
{
	struct tn_value *w = tn_onnx_in(n, i), *z = NULL;

	if (w && tn_onnx_has(n, zero))
		z = per_output(n, tn_onnx_in(n, zero), w->type->rank);
	if (n->failed || !w)
		return NULL;
	w = tn_onnx_text(n, "cast(%v, i32)", w);
	return w && z ? tn_onnx_text(n, "%v - cast(%v, i32)", w, z) : w;
}

void tn_onnx_do_conv_integer(struct tn_onnx *n)
{
	struct tn_value *x = centred(n, 0, 2, false);
	struct tn_value *w = x ? centred_weights(n, 1, 3) : NULL;

	if (w)
		tn_onnx_give(n, 0, tn_onnx_conv(n, x, w, NULL));
}

void tn_onnx_do_qlinear_conv(struct tn_onnx *n)
{
	struct tn_value *x = centred(n, 0, 2, false);
	struct tn_value *w = x ? centred_weights(n, 3, 5) : NULL;
	struct tn_value *sx = scale_of(n, 1, false), *sw = tn_onnx_in(n, 4);
	struct tn_value *sy = scale_of(n, 6, false), *bias = NULL, *y;

	if (n->failed || !w)
		return;
	if (tn_onnx_has(n, 8)) {
		bias = tn_onnx_in(n, 8);
		if (!bias)
			return;
	}
	y = tn_onnx_conv(n, x, w, bias);
	if (y && sw->type->rank == 1)
		sw = tn_dim_is(sw->type->dims[0], 1) ?
			tn_onnx_text(n, "reshape(%v, [])", sw) :
			tn_onnx_text(n, "per_channel(%v, like=%v, axis=1)",
				     sw, y);
	if (y && sw)
		give_scaled(n, y, tn_onnx_text(n, "%v * %v / %v", sx, sw, sy),
			    7);
}
