/*
 * Handlers of the attention of com.microsoft: Attention, MultiHeadAttention,
 * and EmbedLayerNormalization, which stands before them.
 *
 *   [B, S, H * D] -> heads [B, H, S, D] -> softmax(q k + masks) v -> [B, S, ..]
 */
#include "importers/onnx/table.h"

struct mha {
	struct tn_onnx *n;
	int64_t heads;
	struct tn_value *q, *k, *v;	/* [B, H, S, D], [B, H, L, D] */
	struct tn_value *added;		/* to the scores, or NULL */
	const struct tn_dim *past;	/* keys that were there before */
};

/* [B, S, H * D] as [B, H, S, D]; of four axes it is so already. */
static struct tn_value *split(struct mha *m, struct tn_value *x)
{
	const struct tn_dim *const *d;

	if (!x || x->type->rank == 4)
		return x;
	d = x->type->dims;
	if (x->type->rank != 3 || m->heads < 1) {
		tn_onnx_refuse(m->n, "operands of %d axes, %lld heads",
			       x->type->rank, (long long)m->heads);
		return NULL;
	}
	return tn_onnx_text(m->n, "transpose(reshape(%v, [%d, %d, %i, _]), "
			    "perm=[0, 2, 1, 3])", x, d[0], d[1], m->heads);
}

static void add(struct mha *m, struct tn_value *more)
{
	m->added = m->added && more ?
		tn_onnx_text(m->n, "%v + %v", m->added, more) : more;
}

/* A mask of keys that are any, [B, L] or [B, S, L], or how many are, [B]. */
static void add_mask(struct mha *m, int i)
{
	struct tn_onnx *n = m->n;
	double off = tn_onnx_float(n, "mask_filter_value", -10000);
	enum tn_dtype dtype = m->q->type->dtype;
	struct tn_value *mask = tn_onnx_in(n, i);
	const struct tn_dim *keys = m->k->type->dims[2];
	int rank = mask ? mask->type->rank : 0;

	if (!mask)
		return;
	if (rank == 1 && mask->type->dims[0] == m->q->type->dims[0])
		mask = tn_onnx_text(n, "iota([1, 1, 1, %d], axis=3) < "
				    "reshape(cast(%v, i64), [_, 1, 1, 1])",
				    keys, mask);
	else if (rank == 2 && mask->type->dims[1] == keys)
		mask = tn_onnx_text(n, "expand_dims(%v, axes=[1, 2]) != 0",
				    mask);
	else if (rank == 3 && mask->type->dims[2] == keys)
		mask = tn_onnx_text(n, "expand_dims(%v, axes=[1]) != 0",
				    mask);
	else
		tn_onnx_refuse(n, "this form of mask");
	if (mask && !n->failed)
		add(m, tn_onnx_text(n, "select(%v, cast(0, %t), cast(%f, %t))",
				    mask, dtype, off, dtype));
}

/* Query i sees the keys up to i, and all of the past. */
static void add_order(struct mha *m)
{
	const struct tn_dim *s = m->q->type->dims[2], *l = m->k->type->dims[2];
	enum tn_dtype dtype = m->q->type->dtype;

	if (tn_onnx_int(m->n, "unidirectional", 0))
		add(m, tn_onnx_text(m->n, "select(iota([%d, %d], axis=1) <= "
			"iota([%d, %d], axis=0) + %d, cast(0, %t), "
			"cast(-inf, %t))", s, l, s, l, m->past, dtype, dtype));
}

static void give_heads(struct mha *m)
{
	struct tn_onnx *n = m->n;
	double scale = tn_onnx_float(n, "scale", 0);
	struct tn_value *s, *y;

	s = tn_onnx_text(n, "einsum(\"bhsd,bhld->bhsl\", %v, %v)", m->q, m->k);
	if (s && scale == 0)
		s = tn_onnx_text(n, "x = %v; return x * cast(1 / "
				 "sqrt(cast(%d, f64)), elem(x))", s,
				 m->q->type->dims[3]);
	else if (s)
		s = tn_onnx_text(n, "%v * %f", s, scale);
	if (s && m->added)
		s = tn_onnx_text(n, "%v + %v", s, m->added);
	y = s ? tn_onnx_text(n, "softmax(%v) @ %v", s, m->v) : NULL;
	if (y)
		tn_onnx_is(n, "reshape(transpose(%v, perm=[0, 2, 1, 3]), "
			   "[%d, %d, _])", y, m->q->type->dims[0],
			   m->q->type->dims[2]);
}

/* Result 0, with the mask that is operand `mask` and the bias that is operand
 * 5. */
static void attend(struct mha *m, int mask)
{
	struct tn_onnx *n = m->n;

	if (tn_onnx_has(n, mask))
		add_mask(m, mask);
	if (tn_onnx_has(n, 5))
		add(m, tn_onnx_in(n, 5));
	if (!n->failed)
		add_order(m);
	if (!n->failed)
		give_heads(m);
}

/* Keys and values behind those of the past, operands i and i + 1. */
static bool join_past(struct mha *m, int i)
{
	struct tn_onnx *n = m->n;
	struct tn_value *k, *v;

	m->past = tn_onnx_number(n, 0);
	if (!tn_onnx_has(n, i))
		return true;
	k = tn_onnx_in(n, i);
	v = tn_onnx_in(n, i + 1);
	if (!k || !v || k->type->rank != 4)
		return false;
	m->past = k->type->dims[2];
	m->k = tn_onnx_text(n, "concat(%v, %v, axis=2)", k, m->k);
	m->v = tn_onnx_text(n, "concat(%v, %v, axis=2)", v, m->v);
	return m->k && m->v;
}

/* Part i of three of the bias of queries, keys and values. */
static struct tn_value *biased(struct mha *m, struct tn_value *x, int i,
			       const struct tn_dim *from)
{
	struct tn_onnx *n = m->n;
	struct tn_value *b;
	const struct tn_dim *to;

	if (!x || !tn_onnx_has(n, i))
		return x;
	b = tn_onnx_in(n, i);
	if (x->type->rank != 3) {
		tn_onnx_refuse(n, "a bias of heads");
		return NULL;
	}
	to = tn_dim_add(tn_onnx_pool(n), from, x->type->dims[2]);
	return b ? tn_onnx_text(n, "b = %v; return %v + b[%d:%d]", b, x, from,
				to) : NULL;
}

void tn_onnx_do_multi_head(struct tn_onnx *n)
{
	struct mha m = { .n = n, .heads = tn_onnx_int(n, "num_heads", 0) };
	struct tn_value *q = tn_onnx_in(n, 0), *k = NULL, *v = NULL;
	const struct tn_dim *at = tn_onnx_number(n, 0);

	if (!tn_onnx_has(n, 1) || !tn_onnx_has(n, 2)) {
		tn_onnx_refuse(n, "queries, keys and values in one");
		return;
	}
	k = tn_onnx_in(n, 1);
	v = tn_onnx_in(n, 2);
	if (!q || !k || !v)
		return;
	m.q = split(&m, biased(&m, q, 3, at));
	at = tn_dim_add(tn_onnx_pool(n), at, q->type->dims[2]);
	m.k = split(&m, biased(&m, k, 3, at));
	at = k->type->rank == 3 ?
		tn_dim_add(tn_onnx_pool(n), at, k->type->dims[2]) : at;
	m.v = split(&m, biased(&m, v, 3, at));
	if (!m.q || !m.k || !m.v || !join_past(&m, 6))
		return;
	attend(&m, 4);
	if (n->nout > 1)
		tn_onnx_give(n, 1, m.k);
	if (n->nout > 2)
		tn_onnx_give(n, 2, m.v);
}

/* The past and the present of Attention hold keys and values in one. */
void tn_onnx_do_ms_attention(struct tn_onnx *n)
{
	struct mha m = { .n = n, .heads = tn_onnx_int(n, "num_heads", 0) };
	struct tn_value *x = tn_onnx_in(n, 0), *w = tn_onnx_in(n, 1), *out[3];

	if (!x || !w)
		return;
	if (tn_onnx_attr(n, "qkv_hidden_sizes") || tn_onnx_has(n, 6) ||
	    tn_onnx_int(n, "do_rotary", 0)) {
		tn_onnx_refuse(n, "sizes of their own, shared buffers or "
			       "rotation");
		return;
	}
	x = tn_onnx_text(n, "%v @ %v", x, w);
	if (x && tn_onnx_has(n, 2))
		x = tn_onnx_text(n, "%v + %v", x, tn_onnx_in(n, 2));
	if (!x || !tn_onnx_texts(n, 3, out, "a, b, c = split(%v, axis=2, "
				 "parts=3); return a, b, c", x))
		return;
	m.q = split(&m, out[0]);
	m.k = split(&m, out[1]);
	m.v = split(&m, out[2]);
	m.past = tn_onnx_number(n, 0);
	if (!m.q || !m.k || !m.v)
		return;
	if (tn_onnx_has(n, 4)) {
		struct tn_value *past = tn_onnx_in(n, 4);

		if (!past || past->type->rank != 5)
			return;
		m.past = past->type->dims[3];
		m.k = tn_onnx_text(n, "p = %v; return concat(p[0], %v, "
				   "axis=2)", past, m.k);
		m.v = tn_onnx_text(n, "p = %v; return concat(p[1], %v, "
				   "axis=2)", past, m.v);
	}
	if (!m.k || !m.v)
		return;
	attend(&m, 3);
	if (n->nout > 1)
		tn_onnx_give(n, 1, tn_onnx_text(n, "stack([%v, %v], axis=0)",
						m.k, m.v));
}

/* ---- Embedding ----------------------------------------------------------- */

/* The sum of the rows that stand for words, places and segments, its norm, and
 * how many words there are. */
void tn_onnx_do_embed_norm(struct tn_onnx *n)
{
	double eps = tn_onnx_float(n, "epsilon", 1e-12);
	struct tn_value *ids = tn_onnx_in(n, 0), *words = tn_onnx_in(n, 2);
	struct tn_value *places = tn_onnx_in(n, 3), *at, *s;
	struct tn_value *gamma = tn_onnx_in(n, 5), *beta = tn_onnx_in(n, 6);

	if (!ids || !words || !places || !gamma || !beta)
		return;
	at = tn_onnx_has(n, 8) ? tn_onnx_in(n, 8) :
		tn_onnx_text(n, "iota([1, %d], axis=1)", ids->type->dims[1]);
	s = at ? tn_onnx_text(n, "gather(%v, %v) + gather(%v, %v)", words, ids,
			      places, at) : NULL;
	if (s && tn_onnx_has(n, 1) && tn_onnx_has(n, 4))
		s = tn_onnx_text(n, "%v + gather(%v, %v)", s,
				 tn_onnx_in(n, 4), tn_onnx_in(n, 1));
	if (!s)
		return;
	tn_onnx_is(n, "layernorm(%v, %v, %v, eps=%f)", s, gamma, beta, eps);
	if (n->nout > 1)
		tn_onnx_give(n, 1, tn_onnx_has(n, 7) ?
			tn_onnx_text(n, "cast(sum(cast(%v, i32), axes=[1]), "
				     "i32)", tn_onnx_in(n, 7)) :
			tn_onnx_text(n, "zeros([%d], elem=i32)",
				     ids->type->dims[0]));
	if (n->nout > 2)
		tn_onnx_give(n, 2, s);
}
