/*
 * Axes that are an operand at run time: the sets of axes with which an operator
 * gives the declared shape, and the test which of them run time brings. That it
 * is one of them is asserted.
 *
 *   f32[3, 2, 2] reduced to f32[3, 2]: by axis 1, or by axis 2
 */
#include "importers/onnx/onnx.h"

static bool gives(const struct tn_type *type, unsigned mask, bool keep,
		  int rank, const struct tn_dim *const *dims)
{
	int i, at = 0;

	for (i = 0; i < type->rank; i++) {
		bool gone = mask >> i & 1;

		if (gone && !keep)
			continue;
		if (at == rank ||
		    (gone ? !tn_dim_is(dims[at], 1) :
		     dims[at] != type->dims[i]))
			return false;
		at++;
	}
	return at == rank;
}

void tn_onnx_choose(const struct tn_type *type, bool keep, int rank,
		    const struct tn_dim *const *dims,
		    struct tn_onnx_choices *choices)
{
	unsigned mask;

	choices->count = 0;
	if (type->rank > ONNX_CHOICE_RANK)
		return;
	for (mask = 0; mask < 1u << type->rank; mask++)
		if (gives(type, mask, keep, rank, dims))
			choices->mask[choices->count++] = mask;
}

struct tn_value *tn_onnx_axes_are(struct tn_onnx *n, struct tn_value *axes,
				  unsigned mask, int rank)
{
	struct tn_value *ok = tn_onnx_text(n, "cast(true, bool)"), *one;
	int i;

	for (i = 0; ok && i < rank; i++) {
		one = tn_onnx_text(n, "any(%v == %i || %v == %i) == %s", axes,
				   (int64_t)i, axes, (int64_t)(i - rank),
				   mask >> i & 1 ? "true" : "false");
		ok = one ? tn_onnx_text(n, "%v && %v", ok, one) : NULL;
	}
	return ok;
}

/* There are some, whatever run time brings. */
static bool has_axes(const struct tn_value *axes)
{
	return axes->type->rank == 1 &&
	       tn_dim_is_const(axes->type->dims[0]) &&
	       axes->type->dims[0]->value > 0;
}

bool tn_onnx_axes_check(struct tn_onnx *n, struct tn_value *axes, int rank,
			const struct tn_onnx_choices *choices)
{
	struct tn_value *ok, *one;
	int i;

	if (!choices->count || !has_axes(axes))
		return false;
	ok = tn_onnx_axes_are(n, axes, choices->mask[0], rank);
	for (i = 1; ok && i < choices->count; i++) {
		one = tn_onnx_axes_are(n, axes, choices->mask[i], rank);
		ok = one ? tn_onnx_text(n, "%v || %v", ok, one) : NULL;
	}
	return ok && tn_onnx_text(n, "assert(%v, message=\"the axes do not "
				  "give the declared shape\"); return true",
				  ok);
}
