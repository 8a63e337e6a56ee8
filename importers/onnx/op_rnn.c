/*
 * Handlers of recurrent layers: the operands times their weights at once, then
 * a scan over time with the state.
 */
#include <string.h>

#include "importers/onnx/table.h"

struct rnn {
	struct tn_onnx *n;
	struct tn_value *x;		/* [T, B, I] */
	struct tn_value *lengths;	/* i64[B], or NULL */
	const struct tn_dim *time, *batch;
	int64_t hidden;
	int gates, directions;
	bool batch_first;
	double clip;			/* 0: none */
	const char *f[6];		/* activations, three a direction */
};

/* ---- Activations -------------------------------------------------------------------- */

static const char *activation(const char *name)
{
	static const char *const names[][2] = {
		{ "sigmoid", "sigmoid" }, { "tanh", "tanh" },
		{ "relu", "relu" }, { "softsign", "softsign" },
		{ "softplus", "softplus" }, { "hardsigmoid", "hard_sigmoid" },
		{ "leakyrelu", "leaky_relu" }, { "elu", "elu" },
	};
	size_t i, k;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		for (k = 0; name[k] && (name[k] | 0x20) == names[i][0][k]; k++)
			;
		if (!name[k] && !names[i][0][k])
			return names[i][1];
	}
	return NULL;
}

static bool read_activations(struct rnn *r, int each,
			     const char *const *usual)
{
	const struct onnx_attr *attr = tn_onnx_attr(r->n, "activations");
	const char *name;
	int i;

	for (i = 0; i < each * r->directions; i++) {
		r->f[i] = usual[i % each];
		if (!attr || attr->strings.len <= (size_t)i)
			continue;
		name = tn_arena_strndup(&r->n->job->arena,
			(const char *)attr->strings.at[i].at,
			wire_size(&attr->strings.at[i]));
		r->f[i] = name ? activation(name) : NULL;
		if (!r->f[i]) {
			tn_onnx_refuse(r->n, "activation '%s'",
				       name ? name : "");
			return false;
		}
	}
	if (tn_onnx_attr(r->n, "activation_alpha") ||
	    tn_onnx_attr(r->n, "activation_beta")) {
		tn_onnx_refuse(r->n, "parameters of activations");
		return false;
	}
	return true;
}

/* ---- Operands --------------------------------------------------------------------------- */

static bool read_rnn(struct rnn *r, struct tn_onnx *n, int gates)
{
	const char *way = tn_onnx_string(n, "direction", "forward");
	struct tn_value *w = tn_onnx_in(n, 1);

	r->n = n;
	r->gates = gates;
	r->x = tn_onnx_in(n, 0);
	r->batch_first = tn_onnx_int(n, "layout", 0) != 0;
	r->clip = tn_onnx_float(n, "clip", 0);
	r->directions = strcmp(way, "bidirectional") ? 1 : 2;
	if (!r->x || !w || r->x->type->rank != 3 || w->type->rank != 3)
		return false;
	if (r->batch_first)
		r->x = tn_onnx_text(n, "transpose(%v, perm=[1, 0, 2])", r->x);
	if (!r->x || !tn_dim_is_const(w->type->dims[1]))
		return false;
	r->hidden = tn_onnx_int(n, "hidden_size",
				w->type->dims[1]->value / gates);
	r->time = r->x->type->dims[0];
	r->batch = r->x->type->dims[1];
	if (tn_onnx_has(n, 4)) {
		r->lengths = tn_onnx_in(n, 4);
		r->lengths = r->lengths ? tn_onnx_text(n, "cast(%v, i64)",
						       r->lengths) : NULL;
	}
	return !n->failed;
}

static bool is_backward(const struct rnn *r, int direction)
{
	const char *way = tn_onnx_string(r->n, "direction", "forward");

	return direction == 1 || !strcmp(way, "reverse");
}

/* The direction's part of input i, or zeros: the state at the beginning. */
static struct tn_value *state(struct rnn *r, int i, int direction)
{
	struct tn_value *v;

	if (!tn_onnx_has(r->n, i))
		return tn_onnx_text(r->n, "zeros([%d, %i], elem=%t)", r->batch,
				    r->hidden, r->x->type->dtype);
	v = tn_onnx_in(r->n, i);
	v = v ? tn_onnx_text(r->n, r->batch_first ?
			     "x = %v; return x[:, %i]" :
			     "x = %v; return x[%i]", v,
			     (int64_t)direction) : NULL;
	if (v && v->type->rank == 2 && tn_dim_is(v->type->dims[0], 1) &&
	    !tn_dim_is(r->batch, 1))
		v = tn_onnx_text(r->n, "broadcast(%v, [%d, %d])", v, r->batch,
				 v->type->dims[1]);
	return v;
}

/* The operands of all times as rows, [T * B, I]: one product for them all. */
static struct tn_value *rows_of(struct rnn *r)
{
	const struct tn_dim *rows = tn_dim_mul(tn_onnx_pool(r->n), r->time,
					       r->batch);

	if (!rows)
		tn_onnx_refuse(r->n, "sizes too large");
	return rows ? tn_onnx_text(r->n, "reshape(%v, [%d, %d])", r->x, rows,
				   r->x->type->dims[2]) : NULL;
}

/* What was made of the rows, by time: [T, B, G * H]. */
static struct tn_value *by_time(struct rnn *r, struct tn_value *y)
{
	return y ? tn_onnx_text(r->n, "reshape(%v, [%d, %d, %i])", y, r->time,
				r->batch, r->gates * r->hidden) : NULL;
}

/* What both biases come to, [G * H]; NULL: there is none, or it failed. The
 * recurrent bias of the last gate stays out if `apart`. */
static struct tn_value *biases(struct rnn *r, int direction, bool apart)
{
	struct tn_onnx *n = r->n;
	int64_t wide = r->gates * r->hidden, split = wide - r->hidden;
	struct tn_value *b;

	if (!tn_onnx_has(n, 3))
		return NULL;
	b = tn_onnx_text(n, "b = %v; return b[%i]", tn_onnx_in(n, 3),
			 (int64_t)direction);
	if (b && apart)
		return tn_onnx_text(n, "b = %v; return b[0:%i] + "
			"concat(b[%i:%i], zeros([%i], elem=%t), axis=0)", b,
			wide, wide, wide + split, r->hidden,
			r->x->type->dtype);
	return b ? tn_onnx_text(n, "b = %v; return b[0:%i] + b[%i:%i]", b,
				wide, wide, 2 * wide) : NULL;
}

/* x times the weights, with the biases; [T, B, G * H]. */
static struct tn_value *inputs(struct rnn *r, int direction, bool apart)
{
	struct tn_onnx *n = r->n;
	struct tn_value *x = rows_of(r), *y, *b;

	y = x ? tn_onnx_text(n, "w = %v; return %v @ transpose(w[%i])",
			     tn_onnx_in(n, 1), x, (int64_t)direction) : NULL;
	b = y ? biases(r, direction, apart) : NULL;
	if (b)
		y = tn_onnx_text(n, "%v + %v", y, b);
	return n->failed ? NULL : by_time(r, y);
}

static struct tn_value *recurrent(struct rnn *r, int direction)
{
	struct tn_value *v = tn_onnx_in(r->n, 2);

	return v ? tn_onnx_text(r->n, "r = %v; return transpose(r[%i])", v,
				(int64_t)direction) : NULL;
}

/* An activation of the text, clipped before. */
static const char *call(struct rnn *r, int f, const char *of)
{
	struct tn_arena *arena = &r->n->job->arena;
	const char *text = r->clip > 0 ?
		tn_arena_printf(arena, "%s(min(max(%s, %.9g), %.9g))",
				r->f[f], of, -r->clip, r->clip) :
		tn_arena_printf(arena, "%s(%s)", r->f[f], of);

	return text ? text : "";
}

/* ---- The scan ------------------------------------------------------------------------------ */

/* What the step text makes: the state `m` (and `k`, the cell) from h (and c).
 * Where the time of a batch is over nothing changes, and 0 comes out. */
static const char *scan_text(struct rnn *r, const char *step, bool has_cell,
			     bool back)
{
	const char *way = back ? ", reverse=true" : "";
	const char *cell = has_cell ? ", c = %v" : "";

	if (r->lengths)
		return tn_arena_printf(&r->n->job->arena,
			"h%s, y = with (h = %%v%s) scan(axis=0%s) g in %%v, "
			"t in %%v { %s on = expand_dims(t < %%v, axes=[1]); "
			"emit select(on, m, 0); yield select(on, m, h)%s; }; "
			"return y, h%s", has_cell ? ", c" : "", cell, way,
			step, has_cell ? ", select(on, k, c)" : "",
			has_cell ? ", c" : "");
	return tn_arena_printf(&r->n->job->arena,
		"h%s, y = with (h = %%v%s) scan(axis=0%s) g in %%v { %s "
		"emit m; yield m%s; }; return y, h%s", has_cell ? ", c" : "",
		cell, way, step, has_cell ? ", k" : "",
		has_cell ? ", c" : "");
}

/* The results of the directions, joined. */
static void give(struct rnn *r, int count,
		 struct tn_value *(*parts)[3])
{
	struct tn_onnx *n = r->n;
	struct tn_value *one[2];
	int i, d, axis;

	for (i = 0; i < count && i < n->nout; i++) {
		axis = i == 0 ? 1 : 0;
		for (d = 0; d < r->directions; d++) {
			one[d] = parts[d][i] ? tn_onnx_text(n,
				"expand_dims(%v, axes=[%i])", parts[d][i],
				(int64_t)axis) : NULL;
			if (!one[d])
				return;
		}
		one[0] = tn_onnx_concat(n, r->directions, one, axis);
		if (one[0] && r->batch_first)
			one[0] = tn_onnx_text(n, i == 0 ?
				"transpose(%v, perm=[2, 0, 1, 3])" :
				"transpose(%v, perm=[1, 0, 2])", one[0]);
		tn_onnx_give(n, i, one[0]);
	}
}

static struct tn_value *clock(struct rnn *r)
{
	return r->lengths ? tn_onnx_text(r->n, "iota([%d], axis=0)",
					 r->time) : NULL;
}

/* ---- RNN ------------------------------------------------------------------------------------- */

void tn_onnx_do_rnn(struct tn_onnx *n)
{
	static const char *const usual[] = { "tanh" };
	struct tn_value *parts[2][3], *h, *g, *rec;
	struct rnn r = { .n = n };
	const char *text;
	int d;

	if (!read_rnn(&r, n, 1) || !read_activations(&r, 1, usual))
		return;
	for (d = 0; d < r.directions; d++) {
		h = state(&r, 5, d);
		g = inputs(&r, d, false);
		rec = recurrent(&r, d);
		text = scan_text(&r, tn_arena_printf(&n->job->arena,
			"m = %s;", call(&r, d, "g + h @ %v")), false,
			is_backward(&r, d));
		if (!h || !g || !rec || !text)
			return;
		if (r.lengths ? !tn_onnx_texts(n, 2, parts[d], text, h, g,
					       clock(&r), rec, r.lengths) :
		    !tn_onnx_texts(n, 2, parts[d], text, h, g, rec))
			return;
	}
	give(&r, 2, parts);
}

/* ---- GRU ------------------------------------------------------------------------------------- */

static const char *gru_step(struct rnn *r, int d, bool before)
{
	const char *z = call(r, 2 * d, "gz + hz");
	const char *q = call(r, 2 * d, "gr + hr");
	const char *n = before ? call(r, 2 * d + 1, "gh + q * (hh + %v)") :
		call(r, 2 * d + 1, "gh + (q * h) @ %v + %v");

	if (before)
		return tn_arena_printf(&r->n->job->arena,
			"gz, gr, gh = split(g, axis=1, parts=3); "
			"hz, hr, hh = split(h @ %%v, axis=1, parts=3); "
			"z = %s; q = %s; u = %s; m = (1 - z) * u + z * h;", z,
			q, n);
	return tn_arena_printf(&r->n->job->arena,
		"gz, gr, gh = split(g, axis=1, parts=3); "
		"hz, hr = split(h @ %%v, axis=1, parts=2); "
		"z = %s; q = %s; u = %s; m = (1 - z) * u + z * h;", z, q, n);
}

/* The recurrent bias of the last gate. */
static struct tn_value *last_bias(struct rnn *r, int d)
{
	if (!tn_onnx_has(r->n, 3))
		return tn_onnx_text(r->n, "zeros([%i], elem=%t)", r->hidden,
				    r->x->type->dtype);
	return tn_onnx_text(r->n, "b = %v; return b[%i, %i:%i]",
			    tn_onnx_in(r->n, 3), (int64_t)d, 5 * r->hidden,
			    6 * r->hidden);
}

static bool gru_direction(struct rnn *r, int d, struct tn_value **out)
{
	bool before = tn_onnx_int(r->n, "linear_before_reset", 0) != 0;
	struct tn_value *h = state(r, 5, d), *g = inputs(r, d, true);
	struct tn_value *rec = recurrent(r, d), *b = last_bias(r, d);
	struct tn_value *first = rec, *last = b;
	const char *text = scan_text(r, gru_step(r, d, before), false,
				     is_backward(r, d));

	if (!h || !g || !rec || !b || !text)
		return false;
	if (!before) {
		first = tn_onnx_text(r->n, "r = %v; return r[:, 0:%i]", rec,
				     2 * r->hidden);
		last = tn_onnx_text(r->n, "r = %v; return r[:, %i:%i]", rec,
				    2 * r->hidden, 3 * r->hidden);
		if (r->lengths)
			return tn_onnx_texts(r->n, 2, out, text, h, g,
					     clock(r), first, last, b,
					     r->lengths);
		return tn_onnx_texts(r->n, 2, out, text, h, g, first, last,
				     b);
	}
	if (r->lengths)
		return tn_onnx_texts(r->n, 2, out, text, h, g, clock(r), first,
				     last, r->lengths);
	return tn_onnx_texts(r->n, 2, out, text, h, g, first, last);
}

void tn_onnx_do_gru(struct tn_onnx *n)
{
	static const char *const usual[] = { "sigmoid", "tanh" };
	struct tn_value *parts[2][3];
	struct rnn r = { .n = n };
	int d;

	if (!read_rnn(&r, n, 3) || !read_activations(&r, 2, usual))
		return;
	for (d = 0; d < r.directions; d++)
		if (!gru_direction(&r, d, parts[d]))
			return;
	give(&r, 2, parts);
}

/* ---- LSTM ------------------------------------------------------------------------------------ */

/* Gates i, o, f, c, what `gates` makes; each sees the cell through its own
 * peephole. */
static const char *lstm_step(struct rnn *r, int d, const char *gates)
{
	bool coupled = tn_onnx_int(r->n, "input_forget", 0) != 0;
	const char *i = call(r, 3 * d, "gi + pi * c");
	const char *f = coupled ? "1 - i" : call(r, 3 * d, "gf + pf * c");
	const char *u = call(r, 3 * d + 1, "gc");
	const char *o = call(r, 3 * d, "go + po * k");

	return tn_arena_printf(&r->n->job->arena,
		"gi, go, gf, gc = split(%s, axis=1, parts=4); "
		"p = %%v; pi = p[0]; po = p[1]; pf = p[2]; "
		"i = %s; f = %s; u = %s; k = f * c + i * u; o = %s; "
		"m = o * %s(k);", gates, i, f, u, o, r->f[3 * d + 2]);
}

static struct tn_value *peepholes(struct rnn *r, int d)
{
	if (!tn_onnx_has(r->n, 7))
		return tn_onnx_text(r->n, "zeros([3, %i], elem=%t)", r->hidden,
				    r->x->type->dtype);
	return tn_onnx_text(r->n, "p = %v; return reshape(p[%i], [3, %i])",
			    tn_onnx_in(r->n, 7), (int64_t)d, r->hidden);
}

static bool lstm_direction(struct rnn *r, int d, struct tn_value **out)
{
	struct tn_value *h = state(r, 5, d), *c = state(r, 6, d);
	struct tn_value *g = inputs(r, d, false), *rec = recurrent(r, d);
	struct tn_value *p = peepholes(r, d);
	const char *text = scan_text(r, lstm_step(r, d, "g + h @ %v"), true,
				     is_backward(r, d));

	if (!h || !c || !g || !rec || !p || !text)
		return false;
	if (r->lengths)
		return tn_onnx_texts(r->n, 3, out, text, h, c, g, clock(r),
				     rec, p, r->lengths);
	return tn_onnx_texts(r->n, 3, out, text, h, c, g, rec, p);
}

void tn_onnx_do_lstm(struct tn_onnx *n)
{
	static const char *const usual[] = { "sigmoid", "tanh", "tanh" };
	struct tn_value *parts[2][3];
	struct rnn r = { .n = n };
	int d;

	if (!read_rnn(&r, n, 4) || !read_activations(&r, 3, usual))
		return;
	for (d = 0; d < r.directions; d++)
		if (!lstm_direction(&r, d, parts[d]))
			return;
	give(&r, 3, parts);
}

/* ---- LSTM over integers ---------------------------------------------------------------------- */

/*
 * DynamicQuantizeLSTM of ONNX Runtime: weights are integers [D, in, 4 * H] with
 * scales and zero points, one a direction or one a column; what is multiplied
 * with them, all operands of the layer and the state of all batches at each
 * step, is brought to integers from 0 to 255 by its own least and greatest
 * element. Products are sums of integers, in f32 where that holds them all; the
 * scales and then the biases follow.
 */

/* q, d: x is d * q, nearly, q an integer less its zero point. */
#define QUANTISED(x) ONNX_TO_BYTES(x) \
	"q = cast(min(max(round(" x " / d) + z, 0), 255) - z, %t); "

/* The direction's part of scales or zero points, input i: a scalar, or [4 * H];
 * of a missing zero point, 0. */
static struct tn_value *quantum(struct rnn *r, int i, int d, enum tn_dtype to)
{
	struct tn_value *v;

	if (!tn_onnx_has(r->n, i))
		return tn_onnx_text(r->n, "cast(0, %t)", to);
	v = tn_onnx_in(r->n, i);
	if (!v || v->type->rank < 1 || v->type->rank > 2) {
		tn_onnx_refuse(r->n, "scales or zero points of this rank");
		return NULL;
	}
	return tn_onnx_text(r->n, "v = cast(%v, %t); return v[%i]", v, to,
			    (int64_t)d);
}

/* Whether the zero points, input i, are 0. */
static bool are_zero(struct rnn *r, int i)
{
	int64_t list[ONNX_KNOWN];
	int count, k;

	if (!tn_onnx_has(r->n, i))
		return true;
	if (!tn_onnx_ints(r->n, i, ONNX_KNOWN, list, &count))
		return false;
	for (k = 0; k < count && list[k] == 0; k++)
		;
	return k == count;
}

/* The type in which products with the weights, input i, are summed: in f32 all
 * whole numbers to 2^24 are themselves. */
static enum tn_dtype sum_type(struct rnn *r, int i, int zero)
{
	const struct tn_value *w = tn_onnx_in(r->n, i);
	int64_t most = w && w->type->dtype == TN_i8 && are_zero(r, zero) ?
		128 : 255;

	return w && w->type->rank == 3 && tn_dim_is_const(w->type->dims[1]) &&
	       w->type->dims[1]->value <= ((int64_t)1 << 24) / (255 * most) ?
		TN_f32 : TN_i32;
}

/* The direction's weights, input i, less their zero points. */
static struct tn_value *whole_weights(struct rnn *r, int i, int zero, int d)
{
	enum tn_dtype to = sum_type(r, i, zero);
	struct tn_value *z = quantum(r, zero, d, to);

	return z ? tn_onnx_text(r->n, "w = %v; return cast(w[%i], %t) - %v",
				tn_onnx_in(r->n, i), (int64_t)d, to, z) : NULL;
}

static struct tn_value *both_biases(struct rnn *r, int d)
{
	int64_t wide = 4 * r->hidden;

	if (!tn_onnx_has(r->n, 3))
		return tn_onnx_text(r->n, "zeros([%i], elem=f32)", wide);
	return tn_onnx_text(r->n, "b = %v; return b[%i, 0:%i] + b[%i, %i:%i]",
			    tn_onnx_in(r->n, 3), (int64_t)d, wide, (int64_t)d,
			    wide, 2 * wide);
}

static bool whole_direction(struct rnn *r, int d, struct tn_value **out)
{
	struct tn_value *h = state(r, 5, d), *c = state(r, 6, d);
	struct tn_value *w = whole_weights(r, 1, 9, d), *g;
	struct tn_value *rec = whole_weights(r, 2, 11, d);
	struct tn_value *by = quantum(r, 10, d, TN_f32);
	struct tn_value *b = both_biases(r, d), *p = peepholes(r, d);
	const char *step = lstm_step(r, d, "g + cast(q @ %v, f32) * (d * %v) "
				     "+ %v");
	const char *text;

	g = tn_onnx_text(r->n, "x = %v; " QUANTISED("x")
			 "return cast(q @ %v, f32) * (d * %v)", rows_of(r),
			 sum_type(r, 1, 9), w, quantum(r, 8, d, TN_f32));
	g = by_time(r, g);
	text = step ? scan_text(r, tn_arena_printf(&r->n->job->arena,
				"%s%s", QUANTISED("h"), step), true,
				is_backward(r, d)) : NULL;
	if (!h || !c || !g || !rec || !by || !b || !p || !text)
		return false;
	return tn_onnx_texts(r->n, 3, out, text, h, c, g, sum_type(r, 2, 11),
			     rec, by, b, p);
}

void tn_onnx_do_dynamic_quantize_lstm(struct tn_onnx *n)
{
	static const char *const usual[] = { "sigmoid", "tanh", "tanh" };
	struct tn_value *parts[2][3];
	struct rnn r = { .n = n };
	int d;

	if (!tn_onnx_attr(n, "hidden_size")) {
		tn_onnx_report(n, TN_E1012, "hidden_size is missing");
		return;
	}
	if (!read_rnn(&r, n, 4) || !read_activations(&r, 3, usual))
		return;
	if (r.lengths || r.x->type->dtype != TN_f32) {
		tn_onnx_refuse(n, r.lengths ? "lengths of sequences" :
			       "operands that are not f32");
		return;
	}
	for (d = 0; d < r.directions; d++)
		if (!whole_direction(&r, d, parts[d]))
			return;
	give(&r, 3, parts);
}
