/*
 * 16-bit floats. One routine narrows a double to a smaller format with one
 * rounding; a float is a double exactly, so it serves both.
 */
#include "base/half.h"

#include <string.h>

static float f32_of_bits(uint32_t bits)
{
	float value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

/* Nearest even of `mant` / 2^shift; 1 <= shift <= 63. */
static uint64_t shift_round(uint64_t mant, unsigned shift)
{
	uint64_t half = (uint64_t)1 << (shift - 1);
	uint64_t rest = mant & (half * 2 - 1);
	uint64_t whole = mant >> shift;

	return whole + (rest > half || (rest == half && (whole & 1)));
}

/* The bits of `value` in a 16-bit format with `mbits` bits of fraction.
 * A carry out of the fraction steps the exponent, also into infinity and
 * from subnormal to normal, because the encodings follow one another. */
static uint16_t narrow(double value, unsigned mbits)
{
	const unsigned ebits = 15 - mbits;
	const int top = (1 << ebits) - 1, bias = top >> 1;
	const uint32_t inf = (uint32_t)top << mbits;
	unsigned shift = 52 - mbits;
	uint64_t bits, frac, out;
	uint32_t sign;
	int exp;

	memcpy(&bits, &value, sizeof(bits));
	sign = (uint32_t)(bits >> 63) << 15;
	exp = (int)(bits >> 52 & 0x7ff);
	frac = bits & (((uint64_t)1 << 52) - 1);
	if (exp == 0x7ff && frac)
		return (uint16_t)(sign | inf | 1u << (mbits - 1) |
				  (uint32_t)(frac >> shift));
	exp += bias - 1023;
	if (exp >= top)
		return (uint16_t)(sign | inf);
	frac |= (uint64_t)1 << 52;
	if (exp > 0) {
		out = ((uint64_t)(exp - 1) << mbits) +
			shift_round(frac, shift);
		return (uint16_t)(sign | (uint32_t)out);
	}
	if (exp < -63)
		return (uint16_t)sign;
	shift += (unsigned)(1 - exp);
	out = shift <= 63 ? shift_round(frac, shift) : 0;
	return (uint16_t)(sign | (uint32_t)out);
}

float tn_half_f16_to_f32(uint16_t bits)
{
	uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;
	uint32_t exp = bits >> 10 & 0x1fu, frac = bits & 0x3ffu;

	if (exp == 0x1f)
		return f32_of_bits(sign | 0x7f800000u | frac << 13);
	if (exp == 0) {
		float small = (float)frac * 0x1p-24f;

		return sign ? -small : small;
	}
	return f32_of_bits(sign | (exp + 112) << 23 | frac << 13);
}

uint16_t tn_half_f16_from_f64(double value)
{
	return narrow(value, 10);
}

uint16_t tn_half_f16_from_f32(float value)
{
	return narrow((double)value, 10);
}

float tn_half_bf16_to_f32(uint16_t bits)
{
	return f32_of_bits((uint32_t)bits << 16);
}

uint16_t tn_half_bf16_from_f64(double value)
{
	return narrow(value, 7);
}

uint16_t tn_half_bf16_from_f32(float value)
{
	return narrow((double)value, 7);
}
