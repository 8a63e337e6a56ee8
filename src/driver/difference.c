/*
 * How far two tensors are apart: absolutely, relatively, in steps of the
 * element type.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/tensors.h"

/* Bits of a float so that neighbours differ by 1 and order is kept. */
static int64_t ordered(const struct tn_tensor *t, int64_t at)
{
	int64_t bits = 0, sign;
	int width = tn_dtype_bytes(t->dtype), top = tn_dtype_bits(t->dtype) - 1;
	uint64_t raw = 0;

	memcpy(&raw, (const char *)t->data + at * width, (size_t)width);
	if (t->dtype == TN_f8e8m0)
		return (int64_t)raw;
	sign = (int64_t)(raw >> top) & 1;
	bits = (int64_t)(raw & ((UINT64_C(1) << top) - 1));
	return sign ? -bits : bits;
}

static double steps(const struct tn_tensor *a, const struct tn_tensor *b,
		    int64_t at)
{
	double x = (double)ordered(a, at), y = (double)ordered(b, at);

	if (fabs(x - y) < 0x1p52)
		return (double)llabs(ordered(a, at) - ordered(b, at));
	return fabs(x - y);
}

/* The distances at one element. */
struct gap {
	double absolute, relative, ulp;
};

static struct gap gap_int(const struct tn_tensor *a,
			  const struct tn_tensor *b, int64_t at)
{
	int64_t x = tn_tensor_get_i64(a, at), y = tn_tensor_get_i64(b, at);
	struct gap gap = {0};
	uint64_t d;

	if (tn_dtype_is(a->dtype, TN_KIND_U))
		d = (uint64_t)x > (uint64_t)y ? (uint64_t)x - (uint64_t)y :
			(uint64_t)y - (uint64_t)x;
	else
		d = x > y ? (uint64_t)x - (uint64_t)y :
			(uint64_t)y - (uint64_t)x;
	gap.absolute = (double)d;
	gap.relative = d && x ? (double)d / fabs((double)x) :
		d ? (double)INFINITY : 0;
	return gap;
}

static struct gap gap_float(const struct tn_tensor *a,
			    const struct tn_tensor *b, int64_t at)
{
	double x = tn_tensor_get_f64(a, at), y = tn_tensor_get_f64(b, at);
	double far = (double)INFINITY;
	struct gap gap = { far, far, far };

	if ((isnan(x) && isnan(y)) || x == y)
		return (struct gap){0};
	if (isnan(x) || isnan(y))
		return gap;
	gap.absolute = fabs(x - y);
	gap.relative = x != 0 ? gap.absolute / fabs(x) : far;
	gap.ulp = steps(a, b, at);
	return gap;
}

static bool same_bits(const struct tn_tensor *a, const struct tn_tensor *b,
		      int64_t at)
{
	size_t width = (size_t)tn_dtype_bytes(a->dtype);

	return !memcmp((const char *)a->data + (size_t)at * width,
		       (const char *)b->data + (size_t)at * width, width);
}

static bool is_within(const struct gap *gap, double left, double rtol,
		      double atol, double ulp)
{
	if (gap->absolute == 0)
		return true;
	return gap->absolute <= atol + rtol * fabs(left) ||
	       (ulp > 0 && gap->ulp > 0 && gap->ulp <= ulp);
}

/* The distances at element i, where the bits differ. */
static void add(struct tenon_difference *out, const struct gap *gap, int64_t i,
		double left, double right)
{
	out->count++;
	if (out->where_relative < 0 || gap->relative > out->relative) {
		out->relative = gap->relative;
		out->where_relative = i;
	}
	if (out->where_ulp < 0 || gap->ulp > out->ulp) {
		out->ulp = gap->ulp;
		out->where_ulp = i;
	}
	if (out->where >= 0 && gap->absolute <= out->absolute)
		return;
	out->absolute = gap->absolute;
	out->where = i;
	out->left = left;
	out->right = right;
}

/* Element i is past the tolerance. */
static void beyond(struct tenon_difference *out, int64_t i, double left,
		   double right)
{
	if (!out->beyond++) {
		out->first = i;
		out->first_left = left;
		out->first_right = right;
	}
}

bool tenon_tensor_compare(const struct tenon_tensor *a,
			  const struct tenon_tensor *b, double rtol,
			  double atol, double ulp,
			  struct tenon_difference *out)
{
	struct tn_tensor x = tn_tensors_in(a), y = tn_tensors_in(b);
	bool is_float = tn_dtype_holds(x.dtype, TN_KIND_F);
	int64_t count = tn_tensor_count(&x), i;
	struct gap gap;
	double left;

	*out = (struct tenon_difference){ .where = -1, .where_relative = -1,
					  .where_ulp = -1, .first = -1 };
	if (x.dtype != y.dtype || x.rank != y.rank ||
	    memcmp(x.shape, y.shape, (size_t)x.rank * sizeof(*x.shape)))
		return false;
	for (i = 0; i < count; i++) {
		if (same_bits(&x, &y, i))
			continue;
		gap = is_float ? gap_float(&x, &y, i) : gap_int(&x, &y, i);
		left = tn_tensor_get_f64(&x, i);
		add(out, &gap, i, left, tn_tensor_get_f64(&y, i));
		if (!is_within(&gap, left, rtol, atol, ulp))
			beyond(out, i, left, tn_tensor_get_f64(&y, i));
	}
	return true;
}
