/*
 * Handlers of conversions: Cast, CastLike, BitCast, and what quantised operators
 * share with them.
 *
 * `cast` saturates and rounds to nearest. Where the model asks otherwise of
 * floats of 8 bits, `cast_overflow` and `cast_scale` of the library do it.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* As a float: an operator of floats alone reads it. */
static struct tn_value *real(struct tn_onnx *n, struct tn_value *x)
{
	return tn_dtype_is(x->type->dtype, TN_KIND_F) ? x :
		tn_onnx_text(n, "cast(%v, f32)", x);
}

static struct tn_value *to_scale(struct tn_onnx *n, struct tn_value *x)
{
	const char *round = tn_onnx_string(n, "round_mode", "up");

	if (strcmp(round, "up") && strcmp(round, "down") &&
	    strcmp(round, "nearest")) {
		tn_onnx_refuse(n, "a rounding that is neither up, down nor "
			       "nearest");
		return NULL;
	}
	x = real(n, x);
	return x ? tn_onnx_text(n, "cast_scale(%v, round=\"%s\", saturate=%s)",
				x, round, tn_onnx_int(n, "saturate", 1) ?
				"true" : "false") : NULL;
}

static bool is_f8(enum tn_dtype dtype)
{
	return tn_dtype_is(dtype, TN_KIND_X) && tn_dtype_bits(dtype) == 8;
}

struct tn_value *tn_onnx_convert(struct tn_onnx *n, struct tn_value *x,
				 enum tn_dtype to)
{
	if (!x)
		return NULL;
	if (to == TN_POISON) {
		tn_onnx_refuse(n, "conversion to an element type that the "
			       "language does not have");
		return NULL;
	}
	if (to == TN_f8e8m0)
		return to_scale(n, x);
	if (is_f8(to) && !tn_onnx_int(n, "saturate", 1)) {
		x = real(n, x);
		return x ? tn_onnx_text(n, "cast_overflow(%v, elem=%t)", x,
					to) : NULL;
	}
	return tn_onnx_text(n, "cast(%v, %t)", x, to);
}

/* Floats to integers of fewer than 8 bits: beyond their range the operator is
 * undefined; its reference drops the high bits of the whole number, so it is
 * made first. */
static void convert(struct tn_onnx *n, enum tn_dtype to)
{
	struct tn_value *x = tn_onnx_in(n, 0);

	if (x && tn_dtype_bits(to) < 8 && tn_dtype_holds(to, TN_KIND_INT) &&
	    tn_dtype_holds(x->type->dtype, TN_KIND_F))
		x = tn_onnx_text(n, "cast(%v, i32)", x);
	tn_onnx_give(n, 0, tn_onnx_convert(n, x, to));
}

void tn_onnx_do_cast(struct tn_onnx *n)
{
	if (!tn_onnx_attr(n, "to"))
		tn_onnx_report(n, TN_E1012, "attribute 'to' is missing");
	else
		convert(n, tn_onnx_dtype(tn_onnx_int(n, "to", 0)));
}

void tn_onnx_do_cast_like(struct tn_onnx *n)
{
	struct tn_value *like = tn_onnx_in(n, 1);

	if (like)
		convert(n, like->type->dtype);
}

static const char *const bits_of[] = { "", "u8", "u16", "", "u32", "", "", "",
				       "u64" };

void tn_onnx_do_bit_cast(struct tn_onnx *n)
{
	enum tn_dtype to = tn_onnx_dtype(tn_onnx_int(n, "to", 0));
	struct tn_value *x = tn_onnx_in(n, 0);

	if (!x)
		return;
	if (to == TN_POISON || tn_dtype_bits(to) != tn_dtype_bits(x->type->dtype))
		tn_onnx_refuse(n, "element types of different sizes");
	else if (to == TN_bool)
		tn_onnx_is(n, "cast(bitcast(%v, elem=u8), bool)", x);
	else if (x->type->dtype == TN_bool)
		tn_onnx_is(n, "bitcast(cast(%v, %s), elem=%t)", x,
			   bits_of[tn_dtype_bytes(to)], to);
	else
		tn_onnx_is(n, "bitcast(%v, elem=%t)", x, to);
}

