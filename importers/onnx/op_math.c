/*
 * Handlers of maps: arithmetic, comparison, conversion.
 */
#include <string.h>

#include "importers/onnx/table.h"

static enum tn_dtype dtype_of(const struct tn_value *value)
{
	return value->type->dtype;
}

static bool is_kind(const struct tn_value *value, enum tn_kind mask)
{
	return dtype_of(value) < TN_DTYPE_COUNT &&
	       tn_dtype_is(dtype_of(value), mask);
}

/* ---- Two operands ------------------------------------------------------------ */

/* Until operator set 7 the second operand stretched only if `broadcast` said
 * so, from `axis` on. */
static struct tn_value *second(struct tn_onnx *n)
{
	struct tn_value *a = tn_onnx_in(n, 0), *b = tn_onnx_in(n, 1);
	const struct tn_dim *dims[TN_MAX_RANK];
	int64_t axis;
	int i, rank;

	if (!a || !b || n->version >= 7 || !tn_onnx_int(n, "broadcast", 0) ||
	    !tn_onnx_attr(n, "axis"))
		return b;
	rank = a->type->rank;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 0), rank);
	if (axis < 0 || axis + b->type->rank > rank)
		return b;
	for (i = 0; i < rank - axis; i++)
		dims[i] = i < b->type->rank ? b->type->dims[i] :
			tn_onnx_number(n, 1);
	return tn_onnx_text(n, "reshape(%v, %D)", b, (int)(rank - axis), dims);
}

static void binary(struct tn_onnx *n, const char *text)
{
	struct tn_value *a = tn_onnx_in(n, 0), *b = second(n);

	if (a && b)
		tn_onnx_is(n, text, a, b);
}

void tn_onnx_do_add(struct tn_onnx *n) { binary(n, "%v + %v"); }
void tn_onnx_do_sub(struct tn_onnx *n) { binary(n, "%v - %v"); }
void tn_onnx_do_mul(struct tn_onnx *n) { binary(n, "%v * %v"); }
void tn_onnx_do_and(struct tn_onnx *n) { binary(n, "%v && %v"); }
void tn_onnx_do_or(struct tn_onnx *n) { binary(n, "%v || %v"); }
void tn_onnx_do_xor(struct tn_onnx *n) { binary(n, "%v ^ %v"); }
void tn_onnx_do_equal(struct tn_onnx *n) { binary(n, "%v == %v"); }
void tn_onnx_do_greater(struct tn_onnx *n) { binary(n, "%v > %v"); }
void tn_onnx_do_less(struct tn_onnx *n) { binary(n, "%v < %v"); }

void tn_onnx_do_greater_or_equal(struct tn_onnx *n)
{
	binary(n, "%v >= %v");
}

void tn_onnx_do_less_or_equal(struct tn_onnx *n)
{
	binary(n, "%v <= %v");
}

/* Of integers the quotient towards 0. */
void tn_onnx_do_div(struct tn_onnx *n)
{
	struct tn_value *a = tn_onnx_in(n, 0);

	if (a)
		binary(n, is_kind(a, TN_KIND_F) ? "%v / %v" :
		       "tdiv(%v, %v)");
}

void tn_onnx_do_mod(struct tn_onnx *n)
{
	struct tn_value *a = tn_onnx_in(n, 0);
	bool truncates = tn_onnx_int(n, "fmod", 0) != 0;

	if (a && !truncates && is_kind(a, TN_KIND_F))
		tn_onnx_report(n, TN_E1012, "floats want fmod=1");
	else if (a)
		binary(n, truncates ? "rem(%v, %v)" : "%v %% %v");
}

/* The result has the type of the base. */
void tn_onnx_do_pow(struct tn_onnx *n)
{
	struct tn_value *a = tn_onnx_in(n, 0), *b = second(n);

	if (!a || !b)
		return;
	if (is_kind(a, TN_KIND_F) || is_kind(b, TN_KIND_INT))
		tn_onnx_is(n, "%v ** cast(%v, %t)", a, b, dtype_of(a));
	else
		tn_onnx_is(n, "cast(cast(%v, f64) ** cast(%v, f64), %t)", a, b,
			   dtype_of(a));
}

void tn_onnx_do_bit_shift(struct tn_onnx *n)
{
	const char *way = tn_onnx_string(n, "direction", "");

	if (!strcmp(way, "LEFT"))
		binary(n, "%v << %v");
	else if (!strcmp(way, "RIGHT"))
		binary(n, "%v >> %v");
	else
		tn_onnx_report(n, TN_E1012, "direction '%s'", way);
}

void tn_onnx_do_prelu(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *slope = tn_onnx_in(n, 1);

	if (!x || !slope)
		return;
	if (n->version < 7 && slope->type->rank == 1 && x->type->rank > 2 &&
	    !tn_dim_is(slope->type->dims[0], 1))
		slope = tn_onnx_text(n, "per_channel(%v, like=%v, axis=1)",
				     slope, x);
	if (!slope)
		return;
	if (is_kind(x, TN_KIND_F))
		tn_onnx_is(n, "prelu(%v, %v)", x, slope);
	else
		tn_onnx_is(n, "select(%v < 0, %v * %v, %v)", x, x, slope, x);
}

/* ---- Any number of operands ------------------------------------------------------ */

static struct tn_value *joined(struct tn_onnx *n, const char *text)
{
	struct tn_value *out = tn_onnx_in(n, 0), *next;
	int i;

	for (i = 1; out && i < n->nin; i++) {
		next = tn_onnx_in(n, i);
		out = next ? tn_onnx_text(n, text, out, next) : NULL;
	}
	return out;
}

void tn_onnx_do_max(struct tn_onnx *n)
{
	tn_onnx_give(n, 0, joined(n, "max(%v, %v)"));
}

void tn_onnx_do_min(struct tn_onnx *n)
{
	tn_onnx_give(n, 0, joined(n, "min(%v, %v)"));
}

void tn_onnx_do_sum(struct tn_onnx *n)
{
	tn_onnx_give(n, 0, joined(n, "%v + %v"));
}

void tn_onnx_do_mean(struct tn_onnx *n)
{
	struct tn_value *sum = joined(n, "%v + %v");

	if (sum)
		tn_onnx_is(n, "%v / %i", sum, (int64_t)n->nin);
}

/* ---- Special values ---------------------------------------------------------------- */

void tn_onnx_do_gelu(struct tn_onnx *n)
{
	const char *how = tn_onnx_string(n, "approximate", "none");
	struct tn_value *x = tn_onnx_in(n, 0);

	if (x)
		tn_onnx_is(n, "gelu(%v, approx=\"%s\")", x,
			   !strcmp(how, "tanh") ? "tanh" : "erf");
}

void tn_onnx_do_is_inf(struct tn_onnx *n)
{
	bool low = tn_onnx_int(n, "detect_negative", 1) != 0;
	bool high = tn_onnx_int(n, "detect_positive", 1) != 0;
	struct tn_value *x = tn_onnx_in(n, 0);

	if (!x)
		return;
	if (low && high)
		tn_onnx_is(n, "isinf(%v)", x);
	else if (low || high)
		tn_onnx_is(n, high ? "%v == inf" : "%v == -inf", x);
	else
		tn_onnx_is(n, "%v != %v && false", x, x);
}

/* ---- Clip and dropout ---------------------------------------------------------------- */

static void clip_by_attributes(struct tn_onnx *n, struct tn_value *x)
{
	if (tn_onnx_attr(n, "min"))
		x = tn_onnx_text(n, "max(%v, %f)", x,
				 tn_onnx_float(n, "min", 0));
	if (x && tn_onnx_attr(n, "max"))
		x = tn_onnx_text(n, "min(%v, %f)", x,
				 tn_onnx_float(n, "max", 0));
	tn_onnx_give(n, 0, x);
}

void tn_onnx_do_clip(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *bound;

	if (x && n->version < 11) {
		clip_by_attributes(n, x);
		return;
	}
	if (x && tn_onnx_has(n, 1)) {
		bound = tn_onnx_in(n, 1);
		x = bound ? tn_onnx_text(n, "max(%v, %v)", x, bound) : NULL;
	}
	if (x && tn_onnx_has(n, 2)) {
		bound = tn_onnx_in(n, 2);
		x = bound ? tn_onnx_text(n, "min(%v, %v)", x, bound) : NULL;
	}
	tn_onnx_give(n, 0, x);
}

static void give_all(struct tn_onnx *n, struct tn_value *x)
{
	tn_onnx_give(n, 0, x);
	if (n->nout > 1 && n->version >= 10)
		tn_onnx_give(n, 1, tn_onnx_text(n, "full(%D, true)",
						x->type->rank, x->type->dims));
	else if (n->nout > 1)
		tn_onnx_give(n, 1, tn_onnx_text(n, "ones(%D, elem=%t)",
						x->type->rank, x->type->dims,
						dtype_of(x)));
}

/* Whether it is training, run time says; it may not draw at random. */
static void dropout_later(struct tn_onnx *n, struct tn_value *x)
{
	struct tn_value *training = tn_onnx_in(n, 2), *ratio;

	if (!training || n->failed)
		return;
	ratio = tn_onnx_has(n, 1) ? tn_onnx_in(n, 1) : NULL;
	if (ratio)
		tn_onnx_text(n, "assert(all(!%v || %v == 0), message=\"dropout "
			     "does not draw at random\"); return true",
			     training, ratio);
	else
		tn_onnx_text(n, "assert(all(!%v), message=\"dropout does not "
			     "draw at random\"); return true", training);
	give_all(n, x);
}

/* At inference nothing is dropped. */
void tn_onnx_do_dropout(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int64_t training = 0;
	double ratio[1] = { 0.5 };
	int count;

	if (!x)
		return;
	if (tn_onnx_has(n, 2) &&
	    !tn_onnx_ints(n, 2, 1, &training, &count)) {
		dropout_later(n, x);
		return;
	}
	if (tn_onnx_has(n, 1))
		tn_onnx_floats(n, 1, 1, ratio, &count);
	if (training && ratio[0] != 0) {
		tn_onnx_refuse(n, "training_mode draws at random");
		return;
	}
	give_all(n, x);
}

/* ---- Products ----------------------------------------------------------------------- */

/* Without blanks, and with a right side: letters that occur once, in
 * alphabetical order, behind the ellipsis. */
static const char *spec_of(struct tn_onnx *n, const char *spec)
{
	int seen[128] = { 0 }, c;
	bool has_dots = strchr(spec, '.') != NULL;
	struct tn_buf out;
	const char *text = NULL;

	tn_buf_init(&out);
	for (; *spec; spec++) {
		c = (unsigned char)*spec;
		if (c == ' ')
			continue;
		tn_buf_putc(&out, (char)c);
		if (c < 128)
			seen[c]++;
	}
	if (!strstr(tn_buf_text(&out), "->")) {
		tn_buf_put(&out, has_dots ? "->..." : "->");
		for (c = 'A'; c <= 'z'; c++)
			if (seen[c] == 1)
				tn_buf_putc(&out, (char)c);
	}
	if (!out.failed)
		text = tn_arena_strndup(&n->job->arena, tn_buf_text(&out),
					out.len);
	tn_buf_fini(&out);
	return text;
}

void tn_onnx_do_einsum(struct tn_onnx *n)
{
	const char *spec = tn_onnx_string(n, "equation", "");
	struct tn_attr attr;
	struct tn_value *in[8];
	struct tn_builder b;
	struct tn_op *op;
	int i;

	if (n->nin < 1 || n->nin > 8) {
		tn_onnx_refuse(n, "%d operands", n->nin);
		return;
	}
	for (i = 0; i < n->nin; i++) {
		in[i] = tn_onnx_in(n, i);
		if (!in[i])
			return;
	}
	spec = spec_of(n, spec);
	if (!spec)
		return;
	attr = tn_attr_string("spec", spec);
	tn_builder_init(&b, n->scope->block);
	op = tn_build_op(&b, TN_OP_einsum, n->nin, in, 1, &attr, n->span);
	n->failed = !op || tn_type_is_poison(op->out[0]->type);
	n->job->is_bad |= n->failed;
	if (!n->failed)
		tn_onnx_give(n, 0, op->out[0]);
}

/* alpha * a @ b + beta * c */
void tn_onnx_do_gemm(struct tn_onnx *n)
{
	double alpha = tn_onnx_float(n, "alpha", 1);
	double beta = tn_onnx_float(n, "beta", 1);
	struct tn_value *a = tn_onnx_in(n, 0), *b = tn_onnx_in(n, 1), *c, *y;

	if (a && tn_onnx_int(n, "transA", 0))
		a = tn_onnx_text(n, "transpose(%v)", a);
	if (b && tn_onnx_int(n, "transB", 0))
		b = tn_onnx_text(n, "transpose(%v)", b);
	if (!a || !b)
		return;
	y = tn_onnx_text(n, "%v @ %v", a, b);
	if (y && alpha != 1)
		y = tn_onnx_text(n, "%v * %f", y, alpha);
	if (y && tn_onnx_has(n, 2) && beta != 0) {
		c = tn_onnx_in(n, 2);
		if (c && beta != 1)
			c = tn_onnx_text(n, "%v * %f", c, beta);
		y = c ? tn_onnx_text(n, "%v + %v", y, c) : NULL;
	}
	tn_onnx_give(n, 0, y);
}
