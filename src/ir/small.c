/* Floats of 8 bits and fewer: their formats as data, and conversion. */
#include "ir/small.h"

#include <math.h>

static const struct tn_small smalls[TN_DTYPE_COUNT] = {
	[TN_f8e4m3fn] = { 4, 3, 7, TN_SMALL_LAST, 448.0, 0x7f },
	[TN_f8e5m2] = { 5, 2, 15, TN_SMALL_IEEE, 57344.0, 0x7e },
	[TN_f8e4m3fnuz] = { 4, 3, 8, TN_SMALL_MINUS, 240.0, 0x80 },
	[TN_f8e5m2fnuz] = { 5, 2, 16, TN_SMALL_MINUS, 57344.0, 0x80 },
	[TN_f8e8m0] = { 8, 0, 127, TN_SMALL_LAST, 0x1p127, 0xff },
	[TN_f4e2m1] = { 2, 1, 1, TN_SMALL_NONE, 6.0, 0 }
};

const struct tn_small *tn_small_of(enum tn_dtype dtype)
{
	return dtype < TN_DTYPE_COUNT && smalls[dtype].ebits ?
		&smalls[dtype] : NULL;
}

double tn_small_to_f64(enum tn_dtype dtype, uint8_t bits)
{
	const struct tn_small *type = &smalls[dtype];
	int width = type->ebits + type->mbits;
	int fields = bits & ((1 << width) - 1);
	int exponent = fields >> type->mbits;
	int fraction = fields & ((1 << type->mbits) - 1);
	int top = (1 << type->ebits) - 1;
	bool is_minus = width < 8 && (bits >> width & 1);
	double value;

	if (dtype == TN_f8e8m0)
		return bits == type->nan ? (double)NAN :
			ldexp(1.0, bits - type->bias);
	if (type->special == TN_SMALL_MINUS && is_minus && fields == 0)
		return (double)NAN;
	if (type->special == TN_SMALL_IEEE && exponent == top)
		value = fraction ? (double)NAN : (double)INFINITY;
	else if (type->special == TN_SMALL_LAST && fields == type->nan)
		value = (double)NAN;
	else if (exponent == 0)
		value = ldexp(fraction, 1 - type->bias - type->mbits);
	else
		value = ldexp(fraction + (1 << type->mbits),
			      exponent - type->bias - type->mbits);
	return is_minus ? -value : value;
}

/* The power of two that is nearest, halves up. */
static uint8_t to_power(const struct tn_small *type, double value)
{
	int exponent;

	if (!(value >= 0))
		return type->nan;
	if (value > type->greatest)
		return (uint8_t)(type->nan - 1);
	if (value == 0)
		return 0;
	exponent = ilogb(value);
	if (value >= ldexp(1.5, exponent))
		exponent++;
	return (uint8_t)(exponent < -type->bias ? 0 : exponent + type->bias);
}

/* Exponent and fraction of a size that is not beyond the greatest. */
static int to_fields(const struct tn_small *type, double size)
{
	int exponent, least = 1 - type->bias, units;

	if (size == 0)
		return 0;
	exponent = ilogb(size);
	if (exponent < least)
		exponent = least;
	units = (int)rint(ldexp(size, type->mbits - exponent));
	return ((exponent - least) << type->mbits) + units;
}

uint8_t tn_small_from_f64(enum tn_dtype dtype, double value)
{
	const struct tn_small *type = &smalls[dtype];
	int sign = signbit(value) ? 1 << (type->ebits + type->mbits) : 0;
	int fields;

	if (dtype == TN_f8e8m0)
		return to_power(type, value);
	if (value != value)
		return (uint8_t)(type->special == TN_SMALL_MINUS ||
				 type->special == TN_SMALL_NONE ? type->nan :
				 sign | type->nan);
	fields = to_fields(type, fmin(fabs(value), type->greatest));
	if (fields == 0 && type->special == TN_SMALL_MINUS)
		return 0;
	return (uint8_t)(sign | fields);
}
