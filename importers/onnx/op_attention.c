/*
 * Handlers of attention and what goes with it.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- Attention ------------------------------------------------------------------- */

/* [B, S, H * D] as [B, H, S, D]. */
static struct tn_value *to_heads(struct tn_onnx *n, struct tn_value *x,
				 int64_t heads)
{
	const struct tn_dim *shape[4];

	if (!x || x->type->rank != 3)
		return x;
	if (heads < 1) {
		tn_onnx_report(n, TN_E1012, "%lld heads", (long long)heads);
		return NULL;
	}
	shape[0] = x->type->dims[0];
	shape[1] = x->type->dims[1];
	shape[2] = tn_onnx_number(n, heads);
	shape[3] = tn_dim_floordiv(tn_onnx_pool(n), x->type->dims[2],
				   shape[2]);
	return tn_onnx_text(n, "transpose(reshape(%v, %D), perm=[0, 2, 1, 3])",
			    x, 4, shape);
}

/* [B, H, S, D] as [B, S, H * D]. */
static struct tn_value *from_heads(struct tn_onnx *n, struct tn_value *x)
{
	const struct tn_dim *shape[3];

	shape[0] = x->type->dims[0];
	shape[1] = x->type->dims[2];
	shape[2] = tn_dim_mul(tn_onnx_pool(n), x->type->dims[1],
			      x->type->dims[3]);
	return tn_onnx_text(n, "reshape(transpose(%v, perm=[0, 2, 1, 3]), %D)",
			    x, 3, shape);
}

/* Each head of keys or values for `times` heads of queries. */
static struct tn_value *repeated(struct tn_onnx *n, struct tn_value *x,
				 int64_t times)
{
	const struct tn_dim *const *d = x->type->dims;
	const struct tn_dim *apart[5], *shape[4];

	if (times == 1)
		return x;
	apart[0] = shape[0] = d[0];
	apart[1] = d[1];
	apart[2] = tn_onnx_number(n, times);
	apart[3] = shape[2] = d[2];
	apart[4] = shape[3] = d[3];
	shape[1] = tn_dim_mul(tn_onnx_pool(n), d[1], apart[2]);
	return tn_onnx_text(n, "reshape(broadcast(expand_dims(%v, axes=[2]), "
			    "%D), %D)", x, 5, apart, 4, shape);
}

struct attention {
	struct tn_value *q, *k, *v;
	struct tn_value *bias;		/* to be added, or NULL */
	const struct tn_dim *queries, *keys, *past;
	bool is_flat;			/* operands of rank 3 */
};

/* The mask as what is added, as long as the keys are. */
static bool add_mask(struct tn_onnx *n, struct attention *a)
{
	struct tn_value *mask = tn_onnx_in(n, 3);
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK], *last;
	enum tn_dtype dtype = a->q->type->dtype;
	int rank, i;

	if (!mask)
		return false;
	if (mask->type->dtype == TN_bool)
		mask = tn_onnx_text(n, "select(%v, cast(0, %t), "
				    "cast(-inf, %t))", mask, dtype, dtype);
	if (!mask || mask->type->rank < 1)
		return false;
	rank = mask->type->rank;
	last = mask->type->dims[rank - 1];
	if (last != a->keys) {
		for (i = 0; i < rank; i++)
			lo[i] = hi[i] = tn_onnx_number(n, 0);
		hi[rank - 1] = tn_dim_sub(tn_onnx_pool(n), a->keys, last);
		mask = tn_onnx_text(n, "pad(%v, cast(-inf, %t), pad=%P)", mask,
				    dtype, rank, lo, hi);
	}
	a->bias = mask;
	return mask != NULL;
}

static void plus(struct tn_onnx *n, struct attention *a, struct tn_value *more)
{
	a->bias = a->bias && more ? tn_onnx_text(n, "%v + %v", a->bias, more) :
		more;
}

/* Query i sees the keys up to i, and all of the past. */
static void add_causal(struct tn_onnx *n, struct attention *a)
{
	const struct tn_dim *shape[2];
	enum tn_dtype dtype = a->q->type->dtype;

	shape[0] = a->queries;
	shape[1] = a->keys;
	plus(n, a, tn_onnx_text(n, "select(iota(%D, axis=1) <= iota(%D, axis=0) "
		"+ %d, cast(0, %t), cast(-inf, %t))", 2, shape, 2, shape,
		a->past, dtype, dtype));
}

/* Only the first keys of each batch are any. */
static void add_padding(struct tn_onnx *n, struct attention *a)
{
	struct tn_value *lengths = tn_onnx_in(n, 6);
	enum tn_dtype dtype = a->q->type->dtype;

	if (lengths)
		plus(n, a, tn_onnx_text(n, "select(iota([1, 1, 1, %d], axis=3) "
			"< reshape(cast(%v, i64), [%d, 1, 1, 1]), cast(0, %t), "
			"cast(-inf, %t))", a->keys, lengths,
			a->q->type->dims[0], dtype, dtype));
}

static bool read_attention(struct tn_onnx *n, struct attention *a)
{
	struct tn_value *past;

	a->q = tn_onnx_in(n, 0);
	a->k = tn_onnx_in(n, 1);
	a->v = tn_onnx_in(n, 2);
	if (!a->q || !a->k || !a->v)
		return false;
	a->is_flat = a->q->type->rank == 3;
	a->q = to_heads(n, a->q, tn_onnx_int(n, "q_num_heads", 0));
	a->k = to_heads(n, a->k, tn_onnx_int(n, "kv_num_heads", 0));
	a->v = to_heads(n, a->v, tn_onnx_int(n, "kv_num_heads", 0));
	if (!a->q || !a->k || !a->v || a->q->type->rank != 4 ||
	    a->k->type->rank != 4 || a->v->type->rank != 4)
		return false;
	a->past = tn_onnx_number(n, 0);
	if (tn_onnx_has(n, 4)) {
		past = tn_onnx_in(n, 4);
		if (!past || past->type->rank != 4)
			return false;
		a->past = past->type->dims[2];
		a->k = tn_onnx_text(n, "concat(%v, %v, axis=2)", past, a->k);
	}
	if (tn_onnx_has(n, 5))
		a->v = tn_onnx_text(n, "concat(%v, %v, axis=2)",
				    tn_onnx_in(n, 5), a->v);
	if (!a->k || !a->v)
		return false;
	a->queries = a->q->type->dims[2];
	a->keys = a->k->type->dims[2];
	return true;
}

static bool bias_of(struct tn_onnx *n, struct attention *a)
{
	if (tn_onnx_has(n, 3) && !add_mask(n, a))
		return false;
	if (tn_onnx_int(n, "is_causal", 0))
		add_causal(n, a);
	if (tn_onnx_has(n, 6))
		add_padding(n, a);
	return !n->failed;
}

/* How many heads of queries there are for one of keys; 0 after a report. */
static int64_t group_of(struct tn_onnx *n, const struct attention *a)
{
	const struct tn_dim *q = a->q->type->dims[1], *k = a->k->type->dims[1];

	if (q == k)
		return 1;
	if (tn_dim_is_const(q) && tn_dim_is_const(k) && k->value &&
	    q->value % k->value == 0)
		return q->value / k->value;
	tn_onnx_refuse(n, "heads of queries and keys");
	return 0;
}

/* Both sides are scaled by the root of the scale. */
static struct tn_value *scores(struct tn_onnx *n, const struct attention *a,
			       struct tn_value *keys)
{
	enum tn_dtype dtype = a->q->type->dtype;
	struct tn_value *scale;

	scale = tn_onnx_attr(n, "scale") ?
		tn_onnx_text(n, "cast(sqrt(cast(%f, f64)), %t)",
			     tn_onnx_float(n, "scale", 1), dtype) :
		tn_onnx_text(n, "cast(sqrt(1 / sqrt(cast(%d, f64))), %t)",
			     a->q->type->dims[3], dtype);
	return scale ? tn_onnx_text(n, "(%v * %v) @ "
		"(transpose(%v, perm=[0, 1, 3, 2]) * %v)", a->q, scale, keys,
		scale) : NULL;
}

static struct tn_value *soften(struct tn_onnx *n, struct tn_value *x)
{
	int64_t dtype = tn_onnx_int(n, "softmax_precision", 0);

	if (dtype && tn_onnx_dtype(dtype) != TN_POISON)
		x = tn_onnx_text(n, "cast(%v, %t)", x, tn_onnx_dtype(dtype));
	return x ? tn_onnx_text(n, "softmax(%v, axis=-1)", x) : NULL;
}

void tn_onnx_do_attention(struct tn_onnx *n)
{
	struct attention a = { .q = NULL };
	struct tn_value *raw, *capped, *biased, *soft, *y, *keys, *values;
	double cap = tn_onnx_float(n, "softcap", 0);
	int64_t mode = tn_onnx_int(n, "qk_matmul_output_mode", 0), group;
	enum tn_dtype dtype;

	if (!read_attention(n, &a) || !bias_of(n, &a))
		return;
	group = group_of(n, &a);
	keys = group ? repeated(n, a.k, group) : NULL;
	values = keys ? repeated(n, a.v, group) : NULL;
	raw = values ? scores(n, &a, keys) : NULL;
	if (!raw)
		return;
	dtype = a.q->type->dtype;
	capped = cap > 0 ? tn_onnx_text(n, "tanh(%v / %f) * %f", raw, cap,
					cap) : raw;
	biased = a.bias ? tn_onnx_text(n, "%v + %v", capped, a.bias) : capped;
	soft = biased ? soften(n, biased) : NULL;
	if (!soft)
		return;
	y = tn_onnx_text(n, "cast(%v @ cast(%v, %t), %t)", soft, values,
			 soft->type->dtype, dtype);
	if (y && a.is_flat)
		y = from_heads(n, y);
	tn_onnx_give(n, 0, y);
	if (n->nout > 1)
		tn_onnx_give(n, 1, a.k);
	if (n->nout > 2)
		tn_onnx_give(n, 2, a.v);
	if (n->nout > 3)
		tn_onnx_give(n, 3, mode == 3 ? tn_onnx_text(n, "cast(%v, %t)",
							    soft, dtype) :
			     mode == 2 ? biased : capped);
}

/* ---- FlexAttention ------------------------------------------------------------------ */

/* Values that a graph of the node may change; they keep their type. */
static struct tn_value *modified(struct tn_onnx *n, const char *name,
				 struct tn_value *x)
{
	struct tn_value *y;

	if (!x || !tn_onnx_attr(n, name))
		return x;
	y = tn_onnx_apply(n, name, x);
	if (y && y->type != x->type) {
		tn_onnx_report(n, TN_E1012, "graph '%s' gives another type "
			       "than it takes", name);
		return NULL;
	}
	return y;
}

void tn_onnx_do_flex_attention(struct tn_onnx *n)
{
	struct attention a = { .q = NULL };
	int64_t precision = tn_onnx_int(n, "softmax_precision", 0), group;
	struct tn_value *keys, *values, *x;
	enum tn_dtype dtype, wide;

	if (!read_attention(n, &a))
		return;
	dtype = a.q->type->dtype;
	wide = precision ? tn_onnx_dtype(precision) :
		dtype == TN_f64 ? TN_f64 : TN_f32;
	group = group_of(n, &a);
	keys = group ? repeated(n, a.k, group) : NULL;
	values = keys ? repeated(n, a.v, group) : NULL;
	x = values ? scores(n, &a, keys) : NULL;
	x = x ? tn_onnx_text(n, "cast(%v, %t)", x, wide) : NULL;
	x = modified(n, "score_mod", x);
	x = x ? tn_onnx_text(n, "softmax(%v, axis=-1)", x) : NULL;
	x = modified(n, "prob_mod", x);
	if (x)
		tn_onnx_is(n, "cast(%v @ cast(%v, %t), %t)", x, values, wide,
			   dtype);
}

/* ---- Rotary embedding --------------------------------------------------------------- */

/* [B, S, 1, K] of the table, by position or in order. */
static struct tn_value *angles(struct tn_onnx *n, int i)
{
	struct tn_value *table = tn_onnx_in(n, i);

	if (table && tn_onnx_has(n, 3))
		table = tn_onnx_text(n, "gather(%v, %v, axis=0)", table,
				     tn_onnx_in(n, 3));
	return table ? tn_onnx_text(n, "expand_dims(%v, axes=[2])", table) :
		NULL;
}

void tn_onnx_do_rotary(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *c, *s, *y;
	int64_t width = tn_onnx_int(n, "rotary_embedding_dim", 0);
	const struct tn_dim *size, *half, *shape[4];
	bool is_flat;

	if (!x)
		return;
	is_flat = x->type->rank == 3;
	x = to_heads(n, x, tn_onnx_int(n, "num_heads", 0));
	x = x ? tn_onnx_text(n, "transpose(%v, perm=[0, 2, 1, 3])", x) : NULL;
	c = angles(n, 1);
	s = angles(n, 2);
	if (!x || !c || !s)
		return;
	size = width ? tn_onnx_number(n, width) : x->type->dims[3];
	half = tn_dim_floordiv(tn_onnx_pool(n), size, tn_onnx_number(n, 2));
	shape[0] = x->type->dims[0];
	shape[1] = x->type->dims[1];
	shape[2] = x->type->dims[2];
	shape[3] = size;
	if (tn_onnx_int(n, "interleaved", 0))
		y = tn_onnx_text(n, "x = %v; r = reshape(x[..., 0:%d], "
			"[%d, %d, %d, %d, 2]); a = r[..., 0]; b = r[..., 1]; "
			"y = stack([%v * a - %v * b, %v * a + %v * b], "
			"axis=-1); return concat(reshape(y, %D), "
			"x[..., %d:], axis=-1)", x, size, shape[0], shape[1],
			shape[2], half, c, s, s, c, 4, shape, size);
	else
		y = tn_onnx_text(n, "x = %v; a = x[..., 0:%d]; "
			"b = x[..., %d:%d]; return concat(%v * a - %v * b, "
			"%v * a + %v * b, x[..., %d:], axis=-1)", x, half,
			half, size, c, s, s, c, size);
	if (y && is_flat) {
		shape[2] = tn_dim_mul(tn_onnx_pool(n), x->type->dims[2],
				      x->type->dims[3]);
		tn_onnx_is(n, "reshape(%v, %D)", y, 3, shape);
	} else if (y) {
		tn_onnx_is(n, "transpose(%v, perm=[0, 2, 1, 3])", y);
	}
}

/* ---- Caches and states ----------------------------------------------------------------- */

void tn_onnx_do_causal_conv(struct tn_onnx *n)
{
	const char *how = tn_onnx_string(n, "activation", "none");
	struct tn_value *x = tn_onnx_in(n, 0), *w = tn_onnx_in(n, 1);
	struct tn_value *all, *y, *bias = NULL;
	const struct tn_dim *past;

	if (!x || !w)
		return;
	if (x->type->rank != 3 || w->type->rank != 3) {
		tn_onnx_report(n, TN_E1012, "operands of %d and %d axes",
			       x->type->rank, w->type->rank);
		return;
	}
	past = tn_dim_sub(tn_onnx_pool(n), w->type->dims[2],
			  tn_onnx_number(n, 1));
	all = tn_onnx_has(n, 3) ?
		tn_onnx_text(n, "concat(%v, %v, axis=2)", tn_onnx_in(n, 3),
			     x) :
		tn_onnx_text(n, "pad(%v, pad=[[0, 0], [0, 0], [%d, 0]])", x,
			     past);
	if (!all || !tn_dim_is_const(x->type->dims[1]))
		return;
	if (tn_onnx_has(n, 2))
		bias = tn_onnx_in(n, 2);
	y = bias ? tn_onnx_text(n, "conv(%v, %v, %v, groups=%d)", all, w, bias,
				x->type->dims[1]) :
		tn_onnx_text(n, "conv(%v, %v, groups=%d)", all, w,
			     x->type->dims[1]);
	if (y && strcmp(how, "none") != 0)
		y = tn_onnx_text(n, "silu(%v)", y);
	tn_onnx_give(n, 0, y);
	if (n->nout > 1)
		tn_onnx_give(n, 1, tn_onnx_text(n, "x = %v; "
			"return x[:, :, %d:]", all, x->type->dims[2]));
}

/* The update at its place along `axis` in each batch. */
void tn_onnx_do_tensor_scatter(struct tn_onnx *n)
{
	const char *mode = tn_onnx_string(n, "mode", "linear");
	struct tn_value *x = tn_onnx_in(n, 0), *update = tn_onnx_in(n, 1);
	const struct tn_dim *ones[TN_MAX_RANK];
	struct tn_value *from;
	const char *text;
	int axis, i;

	if (!x || !update)
		return;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", -2), x->type->rank);
	if (axis < 0)
		return;
	for (i = 0; i < x->type->rank; i++)
		ones[i] = i ? tn_onnx_number(n, 1) : x->type->dims[0];
	from = tn_onnx_has(n, 2) ? tn_onnx_in(n, 2) :
		tn_onnx_text(n, "zeros([%d], elem=i64)", x->type->dims[0]);
	text = !strcmp(mode, "circular") ?
		"scatter_along(%v, (iota(%D, axis=%i) + reshape(cast(%v, i64), "
		"%D)) %% cast(%d, i64), %v, axis=%i)" :
		"scatter_along(%v, iota(%D, axis=%i) + reshape(cast(%v, i64), "
		"%D) + 0 * %d, %v, axis=%i)";
	if (from)
		tn_onnx_is(n, text, x, update->type->rank, update->type->dims,
			   (int64_t)axis, from, x->type->rank, ones,
			   x->type->dims[axis], update, (int64_t)axis);
}

/* ---- Linear attention -------------------------------------------------------------------- */

/* [B, T, H * D] as [T, B, H, D] in f32; of width H it is [T, B, H, 1]. */
static struct tn_value *by_time(struct tn_onnx *n, struct tn_value *x,
				int64_t heads)
{
	const struct tn_dim *shape[4];

	if (!x || x->type->rank != 3) {
		tn_onnx_report(n, TN_E1012, "operands want 3 axes");
		return NULL;
	}
	shape[0] = x->type->dims[0];
	shape[1] = x->type->dims[1];
	shape[2] = tn_dim_is(x->type->dims[2], 1) ? x->type->dims[2] :
		tn_onnx_number(n, heads);
	shape[3] = tn_dim_floordiv(tn_onnx_pool(n), x->type->dims[2],
				   shape[2]);
	return tn_onnx_text(n, "transpose(reshape(cast(%v, f32), %D), "
			    "perm=[1, 0, 2, 3])", x, 4, shape);
}

/* The steps of the recurrence as a scan over time. */
void tn_onnx_do_linear_attention(struct tn_onnx *n)
{
	const char *rule = tn_onnx_string(n, "update_rule", "gated_delta");
	bool gated = strstr(rule, "gated") != NULL;
	bool delta = strstr(rule, "delta") != NULL;
	int64_t qh = tn_onnx_int(n, "q_num_heads", 0);
	int64_t kh = tn_onnx_int(n, "kv_num_heads", 0);
	struct tn_value *q, *k, *v, *g = NULL, *b = NULL, *state, *out[2];
	double scale = tn_onnx_float(n, "scale", 0);
	struct tn_value *query = tn_onnx_in(n, 0);
	enum tn_dtype dtype, kept;
	const char *text;

	if (!query || qh < 1 || kh < 1 || qh % kh) {
		tn_onnx_report(n, TN_E1012, "heads of queries and keys");
		return;
	}
	dtype = kept = query->type->dtype;
	q = by_time(n, query, qh);
	k = by_time(n, tn_onnx_in(n, 1), kh);
	v = by_time(n, tn_onnx_in(n, 2), kh);
	if (gated)
		g = by_time(n, tn_onnx_in(n, 4), kh);
	if (delta)
		b = by_time(n, tn_onnx_in(n, 5), kh);
	if (n->failed)
		return;
	if (tn_onnx_has(n, 3)) {
		state = tn_onnx_in(n, 3);
		if (!state)
			return;
		kept = state->type->dtype;
		state = tn_onnx_text(n, "cast(%v, f32)", state);
	} else {
		state = tn_onnx_text(n, "zeros([%d, %d, %d, %d])",
				     k->type->dims[1], k->type->dims[2],
				     k->type->dims[3], v->type->dims[3]);
	}
	if (!state)
		return;
	if (!g)
		g = k;
	if (!b)
		b = v;
	text = tn_arena_printf(&n->job->arena,
		"s, y = with (s = %%v) scan(axis=0) q in %%v, k in %%v, "
		"v in %%v, g in %%v, b in %%v { "
		"t = %s; u = %s; "
		"w = t + expand_dims(k, axes=[3]) * expand_dims(u, axes=[2]); "
		"r = reshape(broadcast(expand_dims(w, axes=[2]), "
		"[%%d, %%d, %%i, %%d, %%d]), [%%d, %%i, %%d, %%d]); "
		"emit einsum(\"bhd,bhdm->bhm\", q, r); yield w; }; "
		"return y, s", gated ? "s * expand_dims(exp(g), axes=[3])" :
		"s", delta ? "b * (v - einsum(\"bhdm,bhd->bhm\", t, k))" : "v");
	if (!text || !tn_onnx_texts(n, 2, out, text, state, q, k, v, g, b,
		k->type->dims[1], k->type->dims[2], qh / kh, k->type->dims[3],
		v->type->dims[3], k->type->dims[1], qh, k->type->dims[3],
		v->type->dims[3]))
		return;
	if (scale == 0)
		out[0] = tn_onnx_text(n, "%v * (1 / sqrt(cast(%d, f32)))",
				      out[0], k->type->dims[3]);
	else
		out[0] = tn_onnx_text(n, "%v * %f", out[0], scale);
	if (out[0])
		tn_onnx_is(n, "cast(reshape(transpose(%v, perm=[1, 0, 2, 3]), "
			   "[%d, %d, _]), %t)", out[0], q->type->dims[1],
			   q->type->dims[0], dtype);
	if (n->nout > 1)
		tn_onnx_give(n, 1, tn_onnx_text(n, "cast(%v, %t)", out[1],
						kept));
}
