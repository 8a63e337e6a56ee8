/*
 * Handlers of norms, of softmax and its kin.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- Softmax and its kin -------------------------------------------------------- */

static struct tn_value *hardmax(struct tn_onnx *n, struct tn_value *x,
				int axis)
{
	return tn_onnx_text(n, "cast(argmax(%v, axis=%i, keep=true) == "
			    "iota(%D, axis=%i), %t)", x, (int64_t)axis,
			    x->type->rank, x->type->dims, (int64_t)axis,
			    x->type->dtype);
}

static struct tn_value *along(struct tn_onnx *n, const char *name,
			      struct tn_value *x, int axis)
{
	if (!strcmp(name, "hardmax"))
		return hardmax(n, x, axis);
	return tn_onnx_text(n, "%s(%v, axis=%i)", name, x, (int64_t)axis);
}

/* Until operator set 13 all axes from `axis` on were one. */
static struct tn_value *flattened(struct tn_onnx *n, const char *name,
				  struct tn_value *x, int axis)
{
	const struct tn_dim *dims[2];
	struct tn_value *y;
	int i;

	dims[0] = dims[1] = tn_onnx_number(n, 1);
	for (i = 0; i < x->type->rank; i++)
		dims[i >= axis] = tn_dim_mul(tn_onnx_pool(n), dims[i >= axis],
					     x->type->dims[i]);
	if (!dims[0] || !dims[1]) {
		tn_onnx_refuse(n, "sizes too large");
		return NULL;
	}
	y = tn_onnx_text(n, "reshape(%v, %D)", x, 2, dims);
	y = y ? along(n, name, y, 1) : NULL;
	return y ? tn_onnx_text(n, "reshape(%v, %D)", y, x->type->rank,
				x->type->dims) : NULL;
}

static void soften(struct tn_onnx *n, const char *name)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	bool is_old = n->version < 13;
	int axis;

	if (!x)
		return;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", is_old ? 1 : -1),
			    x->type->rank);
	if (axis < 0)
		return;
	if (is_old && axis < x->type->rank - 1)
		tn_onnx_give(n, 0, flattened(n, name, x, axis));
	else
		tn_onnx_give(n, 0, along(n, name, x, axis));
}

void tn_onnx_do_softmax(struct tn_onnx *n) { soften(n, "softmax"); }
void tn_onnx_do_log_softmax(struct tn_onnx *n) { soften(n, "logsoftmax"); }
void tn_onnx_do_hardmax(struct tn_onnx *n) { soften(n, "hardmax"); }

/* ---- Norms ------------------------------------------------------------------------- */

/* The axes from `axis` on. */
static int axes_from(struct tn_onnx *n, const struct tn_value *x,
		     int64_t *axes)
{
	int axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", -1), x->type->rank);
	int count = 0;

	if (axis < 0)
		return -1;
	for (; axis < x->type->rank; axis++)
		axes[count++] = axis;
	return count;
}

/* Results beside the norm: mean, and one over the deviation. */
static void give_statistics(struct tn_onnx *n, struct tn_value *x, int count,
			    const int64_t *axes, double eps)
{
	struct tn_value *out[2];

	if (n->nout < 2 ||
	    !tn_onnx_texts(n, 2, out, "w = wide(%v); n = count(w, axes=%I); "
			   "m = sum(w, axes=%I, keep=true) / n; d = w - m; "
			   "v = sum(d * d, axes=%I, keep=true) / n; "
			   "return m, 1 / sqrt(v + %f)", x, count, axes, count,
			   axes, count, axes, eps))
		return;
	tn_onnx_give(n, 1, out[0]);
	tn_onnx_give(n, 2, out[1]);
}

void tn_onnx_do_layer_norm(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *scale = tn_onnx_in(n, 1), *y;
	double eps = tn_onnx_float(n, "epsilon", 1e-5);
	int64_t axes[TN_MAX_RANK];
	int count;

	if (!x || !scale)
		return;
	count = axes_from(n, x, axes);
	if (count < 0)
		return;
	if (tn_onnx_has(n, 2))
		y = tn_onnx_text(n, "layernorm(%v, %v, %v, axes=%I, eps=%f)",
				 x, scale, tn_onnx_in(n, 2), count, axes, eps);
	else
		y = tn_onnx_text(n, "layernorm(%v, %v, axes=%I, eps=%f)", x,
				 scale, count, axes, eps);
	tn_onnx_give(n, 0, y);
	give_statistics(n, x, count, axes, eps);
}

void tn_onnx_do_rms_norm(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *scale = tn_onnx_in(n, 1);
	int64_t axes[TN_MAX_RANK];
	int count = x && scale ? axes_from(n, x, axes) : -1;

	if (count >= 0)
		tn_onnx_is(n, "rmsnorm(%v, %v, axes=%I, eps=%f)", x, scale,
			   count, axes, tn_onnx_float(n, "epsilon", 1e-5));
}

/* Statistics of the batch; the running ones move towards them. */
static void batch_norm_training(struct tn_onnx *n, struct tn_value *const *in)
{
	double momentum = tn_onnx_float(n, "momentum", 0.9);
	struct tn_value *x = in[0], *out[3];
	int64_t axes[TN_MAX_RANK];
	int count = 0, i;

	for (i = 0; i < x->type->rank; i++)
		if (i != 1)
			axes[count++] = i;
	if (!tn_onnx_texts(n, 3, out, "x = %v; m = mean(x, axes=%I); "
		"v = var(x, axes=%I); return batchnorm(x, %v, %v, m, v, "
		"eps=%f), %v * %f + m * (1 - %f), %v * %f + v * (1 - %f)",
		x, count, axes, count, axes, in[1], in[2],
		tn_onnx_float(n, "epsilon", 1e-5), in[3], momentum, momentum,
		in[4], momentum, momentum))
		return;
	for (i = 0; i < 3; i++)
		tn_onnx_give(n, i, out[i]);
}

void tn_onnx_do_batch_norm(struct tn_onnx *n)
{
	struct tn_value *in[5];
	int i;

	for (i = 0; i < 5; i++) {
		in[i] = tn_onnx_in(n, i);
		if (!in[i])
			return;
		if (i && in[i]->type->dtype != in[0]->type->dtype)
			in[i] = tn_onnx_text(n, "cast(%v, %t)", in[i],
					     in[0]->type->dtype);
	}
	if (n->failed)
		return;
	if (n->version < 9 && !tn_onnx_int(n, "spatial", 1)) {
		tn_onnx_refuse(n, "statistics of each element");
		return;
	}
	if (tn_onnx_int(n, "training_mode", 0))
		batch_norm_training(n, in);
	else
		tn_onnx_is(n, "batchnorm(%v, %v, %v, %v, %v, eps=%f)", in[0],
			   in[1], in[2], in[3], in[4],
			   tn_onnx_float(n, "epsilon", 1e-5));
}

void tn_onnx_do_instance_norm(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *a = tn_onnx_in(n, 1);
	struct tn_value *b = tn_onnx_in(n, 2);

	if (x && a && b)
		tn_onnx_is(n, "instancenorm(%v, %v, %v, eps=%f)", x, a, b,
			   tn_onnx_float(n, "epsilon", 1e-5));
}

/* One value a channel, of one a group. */
static struct tn_value *per_channel(struct tn_onnx *n, struct tn_value *v,
				    const struct tn_dim *channels,
				    int64_t groups)
{
	const struct tn_dim *each = tn_dim_floordiv(tn_onnx_pool(n), channels,
					tn_onnx_number(n, groups));

	if (!v || n->version >= 21)
		return v;
	return tn_onnx_text(n, "reshape(broadcast(reshape(%v, [%i, 1]), "
			    "[%i, %d]), [%d])", v, groups, groups, each,
			    channels);
}

void tn_onnx_do_group_norm(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *a = tn_onnx_in(n, 1);
	struct tn_value *b = tn_onnx_in(n, 2);
	int64_t groups = tn_onnx_int(n, "num_groups", 1);

	if (!x || !a || !b)
		return;
	if (x->type->rank < 2 || groups < 1) {
		tn_onnx_report(n, TN_E1012, "%lld groups", (long long)groups);
		return;
	}
	a = per_channel(n, a, x->type->dims[1], groups);
	b = per_channel(n, b, x->type->dims[1], groups);
	if (a && b)
		tn_onnx_is(n, "groupnorm(%v, %v, %v, groups=%i, eps=%f)", x, a,
			   b, groups, tn_onnx_float(n, "epsilon", 1e-5));
}

void tn_onnx_do_lp_norm(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int64_t p = tn_onnx_int(n, "p", 2);
	int axis;

	if (!x)
		return;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", -1), x->type->rank);
	if (axis >= 0 && (p < 1 || p > 2))
		tn_onnx_report(n, TN_E1012, "p is %lld", (long long)p);
	else if (axis >= 0)
		tn_onnx_is(n, p == 1 ?
			   "w = wide(%v); s = sum(abs(w), axes=[%i], "
			   "keep=true); return cast(select(s == 0, 0, w / s), "
			   "%t)" :
			   "w = wide(%v); s = sqrt(sum(w * w, axes=[%i], "
			   "keep=true)); return cast(select(s == 0, 0, w / s), "
			   "%t)", x, (int64_t)axis, x->type->dtype);
}

void tn_onnx_do_mean_variance_norm(struct tn_onnx *n)
{
	static const int64_t usual[] = { 0, 2, 3 };
	struct tn_value *x = tn_onnx_in(n, 0);
	const int64_t *axes;
	int count = tn_onnx_list(n, "axes", &axes);

	if (count < 0) {
		axes = usual;
		count = 3;
	}
	if (x)
		tn_onnx_is(n, "w = wide(%v); m = mean(w, axes=%I, keep=true); "
			   "v = mean(w * w, axes=%I, keep=true) - m * m; "
			   "return cast((w - m) / (sqrt(v) + 1e-9), %t)", x,
			   count, axes, count, axes, x->type->dtype);
}

/* Over `size` channels around each. */
void tn_onnx_do_lrn(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *s;
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK];
	int64_t size = tn_onnx_int(n, "size", 1);
	int i;

	if (!x)
		return;
	if (size < 1 || x->type->rank < 2) {
		tn_onnx_report(n, TN_E1012, "size %lld", (long long)size);
		return;
	}
	for (i = 0; i < x->type->rank; i++)
		lo[i] = hi[i] = tn_onnx_number(n, 0);
	lo[1] = tn_onnx_number(n, (size - 1) / 2);
	hi[1] = tn_onnx_number(n, size / 2);
	s = tn_onnx_text(n, "sum(window(pad(%v * %v, pad=%P), axes=[1], "
			 "size=[%i]), axes=[-1])", x, x, x->type->rank, lo, hi,
			 size);
	if (s)
		tn_onnx_is(n, "%v / (%f + %v * (%f / %i.0)) ** %f", x,
			   tn_onnx_float(n, "bias", 1), s,
			   tn_onnx_float(n, "alpha", 1e-4), size,
			   tn_onnx_float(n, "beta", 0.75));
}
