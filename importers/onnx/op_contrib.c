/*
 * Handlers of com.microsoft: what the optimiser of ONNX Runtime makes of
 * models, quantised and fused operators.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- Quantised elements -------------------------------------------------- */

/* Operand i, one element, as a scalar in f32; where it is absent, 0. */
static struct tn_value *number(struct tn_onnx *n, int i)
{
	struct tn_value *v;

	if (!tn_onnx_has(n, i))
		return tn_onnx_text(n, "cast(0, f32)");
	v = tn_onnx_in(n, i);
	if (!v || v->type->rank == 0 ||
	    (v->type->rank == 1 && tn_dim_is(v->type->dims[0], 1)))
		return v ? tn_onnx_text(n, "reshape(cast(%v, f32), [])", v) :
			NULL;
	tn_onnx_refuse(n, "scales or zero points of channels");
	return NULL;
}

/* Operand i with the scale and zero point behind it, in f32. */
static struct tn_value *opened(struct tn_onnx *n, int i)
{
	struct tn_value *x = tn_onnx_in(n, i), *s = number(n, i + 1);
	struct tn_value *z = number(n, i + 2);

	return x && s && z ? tn_onnx_text(n, "(cast(%v, f32) - %v) * %v", x, z,
					  s) : NULL;
}

/* The result, of f32, by the scale and zero point i and i + 1, as `like`. */
static void give_closed(struct tn_onnx *n, struct tn_value *y, int i,
			const struct tn_value *like)
{
	struct tn_value *s = number(n, i), *z = number(n, i + 1);

	if (y && s && z)
		tn_onnx_is(n, "cast(round(%v / %v) + %v, %t)", y, s, z,
			   like->type->dtype);
}

static void two(struct tn_onnx *n, const char *text)
{
	struct tn_value *a = opened(n, 0), *b = a ? opened(n, 3) : NULL;

	if (b)
		give_closed(n, tn_onnx_text(n, text, a, b), 6,
			    tn_onnx_in(n, 0));
}

void tn_onnx_do_qlinear_add(struct tn_onnx *n) { two(n, "%v + %v"); }
void tn_onnx_do_qlinear_mul(struct tn_onnx *n) { two(n, "%v * %v"); }

static void one(struct tn_onnx *n, const char *text)
{
	struct tn_value *x = opened(n, 0);

	if (x)
		give_closed(n, tn_onnx_text(n, text, x), 3,
			    tn_onnx_in(n, 0));
}

void tn_onnx_do_qlinear_sigmoid(struct tn_onnx *n) { one(n, "sigmoid(%v)"); }

void tn_onnx_do_qlinear_leaky_relu(struct tn_onnx *n)
{
	struct tn_value *x = opened(n, 0);

	if (x)
		give_closed(n, tn_onnx_text(n, "leaky_relu(%v, alpha=%f)", x,
				tn_onnx_float(n, "alpha", 0.01)), 3,
			    tn_onnx_in(n, 0));
}

void tn_onnx_do_qlinear_softmax(struct tn_onnx *n)
{
	struct tn_value *x = opened(n, 0);
	bool is_old = tn_onnx_int(n, "opset", 0) < 13;
	int axis = x ? tn_onnx_axis(n, tn_onnx_int(n, "axis", is_old ? 1 : -1),
				    x->type->rank) : -1;

	if (axis < 0)
		return;
	if (is_old && axis != x->type->rank - 1) {
		tn_onnx_refuse(n, "a softmax over several axes");
		return;
	}
	give_closed(n, tn_onnx_text(n, "softmax(%v, axis=%i)", x,
				    (int64_t)axis), 3, tn_onnx_in(n, 0));
}

/* The sum is exact, and scaled once. */
void tn_onnx_do_qlinear_average(struct tn_onnx *n)
{
	bool last = tn_onnx_int(n, "channels_last", 0) != 0;
	struct tn_value *x = tn_onnx_in(n, 0), *y;
	struct tn_value *by = number(n, 1), *zero = number(n, 2);
	struct tn_value *to = number(n, 3), *shift = number(n, 4);
	int64_t axes[TN_MAX_RANK];
	int i, count = 0;

	if (n->failed)
		return;
	for (i = last ? 1 : 2; i < x->type->rank - last; i++)
		axes[count++] = i;
	y = tn_onnx_text(n, "x = cast(%v, i32) - cast(%v, i32); "
		"s = %v / (%v * count(x, axes=%I)); "
		"return cast(sum(x, axes=%I, keep=true), f32) * s", x, zero,
		by, to, count, axes, count, axes);
	if (y)
		tn_onnx_is(n, "cast(round(%v) + %v, %t)", y, shift,
			   x->type->dtype);
}

void tn_onnx_do_qlinear_concat(struct tn_onnx *n)
{
	struct tn_value *values[64], *y;
	int i, count = (n->nin - 2) / 3, axis;

	if (n->nin < 5 || count > 64 || n->nin != 2 + 3 * count) {
		tn_onnx_report(n, TN_E1012, "%d inputs", n->nin);
		return;
	}
	for (i = 0; i < count; i++) {
		values[i] = opened(n, 2 + 3 * i);
		if (!values[i])
			return;
	}
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 0),
			    values[0]->type->rank);
	y = axis < 0 ? NULL : tn_onnx_concat(n, count, values, axis);
	give_closed(n, y, 0, tn_onnx_in(n, 2));
}

void tn_onnx_do_qlinear_where(struct tn_onnx *n)
{
	struct tn_value *is = tn_onnx_in(n, 0);
	struct tn_value *a = is ? opened(n, 1) : NULL;
	struct tn_value *b = a ? opened(n, 4) : NULL;

	if (b)
		give_closed(n, tn_onnx_text(n, "select(%v, %v, %v)", is, a, b),
			    7, tn_onnx_in(n, 1));
}

/* ---- Products ------------------------------------------------------------ */

/* Operand i as whole numbers less its zero point, which may be one a column. */
static struct tn_value *centred(struct tn_onnx *n, struct tn_value *x,
				int zero)
{
	struct tn_value *z;

	if (!x || !tn_onnx_has(n, zero))
		return x ? tn_onnx_text(n, "cast(%v, i32)", x) : NULL;
	z = tn_onnx_in(n, zero);
	return z ? tn_onnx_text(n, "cast(%v, i32) - cast(%v, i32)", x, z) :
		NULL;
}

/* a b of whole numbers, scaled, and the bias. */
static void give_product(struct tn_onnx *n, struct tn_value *a,
			 struct tn_value *b, struct tn_value *scale, int bias)
{
	struct tn_value *y;

	if (!a || !b || !scale)
		return;
	y = tn_onnx_text(n, "cast(%v @ %v, f32) * %v", a, b, scale);
	if (y && tn_onnx_has(n, bias))
		y = tn_onnx_text(n, "%v + %v", y, tn_onnx_in(n, bias));
	tn_onnx_give(n, 0, y);
}

void tn_onnx_do_matmul_to_float(struct tn_onnx *n)
{
	struct tn_value *sa = tn_onnx_in(n, 2), *sb = tn_onnx_in(n, 3);

	if (sa && sb)
		give_product(n, centred(n, tn_onnx_in(n, 0), 4),
			     centred(n, tn_onnx_in(n, 1), 5),
			     tn_onnx_text(n, "%v * %v", sa, sb), 6);
}

void tn_onnx_do_dynamic_matmul(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *sb = tn_onnx_in(n, 2);
	struct tn_value *out[2];

	if (!x || !sb || !tn_onnx_texts(n, 2, out,
		"x = %v; " ONNX_TO_BYTES("x") "q = cast(round(x / d) + z, u8); "
		"return cast(q, i32) - cast(z, i32), s", x))
		return;
	give_product(n, out[0], centred(n, tn_onnx_in(n, 1), 3),
		     tn_onnx_text(n, "%v * %v", out[1], sb), 4);
}

/* Weights of 4 or 8 bits in blocks, [N, blocks, bytes], as [N, K]. */
static struct tn_value *unpacked(struct tn_onnx *n, struct tn_value *b,
				 int64_t bits, enum tn_dtype dtype)
{
	const struct tn_dim *rows = b->type->dims[0];
	const struct tn_dim *blocks = b->type->dims[1];
	struct tn_value *q = b, *z, *s = tn_onnx_in(n, 2);

	if (bits == 4)
		q = tn_onnx_text(n, "b = %v; return reshape(stack([b & 15, "
				 "b >> 4], axis=-1), [%d, %d, _])", b, rows,
				 blocks);
	if (!tn_onnx_has(n, 3)) {
		z = tn_onnx_text(n, bits == 4 ? "cast(8, %t)" :
				 "cast(128, %t)", dtype);
	} else {
		z = tn_onnx_in(n, 3);
		if (z && z->type->dtype == TN_u8 && bits == 4)
			z = tn_onnx_text(n, "z = reshape(%v, [%d, _]); "
				"a = reshape(stack([z & 15, z >> 4], axis=-1), "
				"[%d, _]); return reshape(cast(a[:, :%d], %t), "
				"[%d, %d, 1])", z, rows, rows, blocks, dtype,
				rows, blocks);
		else
			z = z ? tn_onnx_text(n, "reshape(cast(%v, %t), "
				"[%d, %d, 1])", z, dtype, rows, blocks) : NULL;
	}
	return q && z && s ? tn_onnx_text(n, "w = (cast(%v, %t) - %v) * "
		"reshape(%v, [%d, %d, 1]); return reshape(w, [%d, _])", q,
		dtype, z, s, rows, blocks, rows) : NULL;
}

void tn_onnx_do_matmul_nbits(struct tn_onnx *n)
{
	int64_t bits = tn_onnx_int(n, "bits", 4);
	struct tn_value *a = tn_onnx_in(n, 0), *b = tn_onnx_in(n, 1), *w, *y;

	if (!a || !b)
		return;
	if ((bits != 4 && bits != 8) || tn_onnx_has(n, 4) ||
	    b->type->rank != 3) {
		tn_onnx_refuse(n, "%lld bits, or an order of columns",
			       (long long)bits);
		return;
	}
	w = unpacked(n, b, bits, a->type->dtype);
	y = w ? tn_onnx_text(n, "w = %v; return %v @ transpose(w[:, :%i])", w,
			     a, tn_onnx_int(n, "K", 0)) : NULL;
	if (y && tn_onnx_has(n, 5))
		y = tn_onnx_text(n, "%v + %v", y, tn_onnx_in(n, 5));
	tn_onnx_give(n, 0, y);
}

static struct tn_value *turned(struct tn_onnx *n, struct tn_value *x,
			       const char *name)
{
	int64_t perm[TN_MAX_RANK];
	int i, rank = x ? x->type->rank : 0;

	if (!x || !tn_onnx_int(n, name, 0) || rank < 2)
		return x;
	for (i = 0; i < rank; i++)
		perm[i] = i;
	perm[rank - 1] = rank - 2;
	perm[rank - 2] = rank - 1;
	return tn_onnx_text(n, "transpose(%v, perm=%I)", x, rank, perm);
}

void tn_onnx_do_fused_matmul(struct tn_onnx *n)
{
	struct tn_value *a = tn_onnx_in(n, 0), *b = tn_onnx_in(n, 1), *y;

	if (tn_onnx_int(n, "transBatchA", 0) ||
	    tn_onnx_int(n, "transBatchB", 0)) {
		tn_onnx_refuse(n, "batches that are transposed");
		return;
	}
	a = turned(n, a, "transA");
	b = turned(n, b, "transB");
	y = a && b ? tn_onnx_text(n, "%v @ %v", a, b) : NULL;
	if (y)
		tn_onnx_is(n, "%v * %f", y, tn_onnx_float(n, "alpha", 1));
}

/* ---- What follows in the same operator ----------------------------------- */

static double param(struct tn_onnx *n, size_t i, double fallback)
{
	const struct onnx_attr *attr = tn_onnx_attr(n, "activation_params");

	return attr && attr->floats.len > i ? (double)attr->floats.at[i] :
		fallback;
}

static struct tn_value *activated(struct tn_onnx *n, struct tn_value *x)
{
	const char *name = tn_onnx_string(n, "activation", "");

	if (!x || !name[0])
		return x;
	if (!strcmp(name, "Relu"))
		return tn_onnx_text(n, "relu(%v)", x);
	if (!strcmp(name, "Tanh"))
		return tn_onnx_text(n, "tanh(%v)", x);
	if (!strcmp(name, "Sigmoid"))
		return tn_onnx_text(n, "sigmoid(%v)", x);
	if (!strcmp(name, "LeakyRelu"))
		return tn_onnx_text(n, "leaky_relu(%v, alpha=%f)", x,
				    param(n, 0, 0.01));
	if (!strcmp(name, "Clip"))
		return tn_onnx_text(n, "clamp(%v, %f, %f)", x,
				    param(n, 0, 0), param(n, 1, 0));
	if (!strcmp(name, "HardSigmoid"))
		return tn_onnx_text(n, "hard_sigmoid(%v, alpha=%f, beta=%f)",
				    x, param(n, 0, 0.2), param(n, 1, 0.5));
	tn_onnx_refuse(n, "activation '%s'", name);
	return NULL;
}

void tn_onnx_do_fused_conv(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *w = tn_onnx_in(n, 1);
	struct tn_value *bias = tn_onnx_has(n, 2) ? tn_onnx_in(n, 2) : NULL;
	struct tn_value *y = x && w ? tn_onnx_conv(n, x, w, bias) : NULL;

	if (y && tn_onnx_has(n, 3))
		y = tn_onnx_text(n, "%v + %v", y, tn_onnx_in(n, 3));
	tn_onnx_give(n, 0, activated(n, y));
}

void tn_onnx_do_bias_gelu(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);

	if (x && tn_onnx_has(n, 1))
		x = tn_onnx_text(n, "%v + %v", x, tn_onnx_in(n, 1));
	if (x)
		tn_onnx_is(n, !strcmp(n->node->op, "FastGelu") ?
			   "gelu(%v, approx=\"tanh\")" : "gelu(%v)", x);
}

/* ---- Norms of sums ------------------------------------------------------- */

/* Operands 0, 1 and `bias` added up; that is result 3. */
static struct tn_value *summed(struct tn_onnx *n, int bias)
{
	struct tn_value *x = tn_onnx_in(n, 0), *y = tn_onnx_in(n, 1), *s;

	s = x && y ? tn_onnx_text(n, "%v + %v", x, y) : NULL;
	if (s && tn_onnx_has(n, bias))
		s = tn_onnx_text(n, "%v + %v", s, tn_onnx_in(n, bias));
	if (s && n->nout > 3)
		tn_onnx_give(n, 3, s);
	return s;
}

void tn_onnx_do_skip_layer_norm(struct tn_onnx *n)
{
	double eps = tn_onnx_float(n, "epsilon", 1e-12);
	struct tn_value *x = summed(n, 4), *gamma = tn_onnx_in(n, 2);

	if (!x || !gamma)
		return;
	if (tn_onnx_has(n, 3))
		tn_onnx_is(n, "layernorm(%v, %v, %v, eps=%f)", x, gamma,
			   tn_onnx_in(n, 3), eps);
	else
		tn_onnx_is(n, "layernorm(%v, %v, eps=%f)", x, gamma, eps);
}

void tn_onnx_do_skip_rms_norm(struct tn_onnx *n)
{
	double eps = tn_onnx_float(n, "epsilon", 1e-12);
	struct tn_value *x = summed(n, 3), *gamma = tn_onnx_in(n, 2);

	if (x && gamma)
		tn_onnx_is(n, "rmsnorm(%v, %v, eps=%f)", x, gamma, eps);
}
