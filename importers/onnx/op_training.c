/*
 * Handlers of steps of training: new values of parameters and their momentums.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* How many parameters there are: each has `each` inputs. */
static int parameters(struct tn_onnx *n, int each)
{
	int count = (n->nin - 2) / each;

	if (n->nin > 2 && (n->nin - 2) % each == 0)
		return count;
	tn_onnx_report(n, TN_E1012, "%d inputs", n->nin);
	return 0;
}

/* Input `group` of parameter i. */
static struct tn_value *of(struct tn_onnx *n, int i, int count, int group)
{
	return tn_onnx_in(n, 2 + group * count + i);
}

void tn_onnx_do_momentum(struct tn_onnx *n)
{
	bool nesterov = !strcmp(tn_onnx_string(n, "mode", ""), "nesterov");
	int count = parameters(n, 3), i;
	struct tn_value *out[2];

	for (i = 0; i < count; i++) {
		struct tn_value *x = of(n, i, count, 0);
		struct tn_value *g = of(n, i, count, 1);
		struct tn_value *v = of(n, i, count, 2);

		if (!x || !g || !v || !tn_onnx_texts(n, 2, out, nesterov ?
			"x = %v; g = %f * x + %v; a = %f; "
			"v = a * %v + select(%v > 0, %f, 1.0) * g; "
			"return x - %v * (g + a * v), v" :
			"x = %v; g = %f * x + %v; a = %f; "
			"v = a * %v + select(%v > 0, %f, 1.0) * g; "
			"return x - %v * v, v", x,
			tn_onnx_float(n, "norm_coefficient", 0), g,
			tn_onnx_float(n, "alpha", 0), v, tn_onnx_in(n, 1),
			tn_onnx_float(n, "beta", 0), tn_onnx_in(n, 0)))
			return;
		tn_onnx_give(n, i, out[0]);
		tn_onnx_give(n, i + count, out[1]);
	}
}

void tn_onnx_do_adagrad(struct tn_onnx *n)
{
	int count = parameters(n, 3), i;
	struct tn_value *out[2];

	for (i = 0; i < count; i++) {
		struct tn_value *x = of(n, i, count, 0);
		struct tn_value *g = of(n, i, count, 1);
		struct tn_value *h = of(n, i, count, 2);

		if (!x || !g || !h || !tn_onnx_texts(n, 2, out,
			"r = %v / (1 + cast(%v, f32) * %f); x = %v; "
			"g = %f * x + %v; h = %v + g * g; "
			"return x - r * g / (sqrt(h) + %f), h",
			tn_onnx_in(n, 0), tn_onnx_in(n, 1),
			tn_onnx_float(n, "decay_factor", 0), x,
			tn_onnx_float(n, "norm_coefficient", 0), g, h,
			tn_onnx_float(n, "epsilon", 1e-6)))
			return;
		tn_onnx_give(n, i, out[0]);
		tn_onnx_give(n, i + count, out[1]);
	}
}

void tn_onnx_do_adam(struct tn_onnx *n)
{
	double alpha = tn_onnx_float(n, "alpha", 0.9);
	double beta = tn_onnx_float(n, "beta", 0.999);
	int count = parameters(n, 4), i;
	struct tn_value *out[3];

	for (i = 0; i < count; i++) {
		struct tn_value *x = of(n, i, count, 0);
		struct tn_value *g = of(n, i, count, 1);
		struct tn_value *v = of(n, i, count, 2);
		struct tn_value *h = of(n, i, count, 3);

		if (!x || !g || !v || !h || !tn_onnx_texts(n, 3, out,
			"r = %v; t = cast(%v, f32); a = %f; b = %f; x = %v; "
			"g = %f * x + %v; v = a * %v + (1 - a) * g; "
			"h = b * %v + (1 - b) * (g * g); "
			"s = select(t > 0, r * sqrt(1 - cast(b, f32) ** t) / "
			"(1 - cast(a, f32) ** t), r); "
			"return (1 - %f) * (x - s * (v / (sqrt(h) + %f))), "
			"v, h", tn_onnx_in(n, 0), tn_onnx_in(n, 1), alpha,
			beta, x, tn_onnx_float(n, "norm_coefficient", 0), g, v,
			h, tn_onnx_float(n, "norm_coefficient_post", 0),
			tn_onnx_float(n, "epsilon", 1e-6)))
			return;
		tn_onnx_give(n, i, out[0]);
		tn_onnx_give(n, i + count, out[1]);
		tn_onnx_give(n, i + 2 * count, out[2]);
	}
}
