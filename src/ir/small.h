/*
 * Floats of 8 bits and fewer: what their bits mean, and rounding to them.
 *
 *   f8e4m3fn    s eeee mmm   1 to 15 of the exponent are numbers; all ones NaN
 *   f8e5m2      s eeeee mm   as IEEE 754: infinities, NaNs
 *   f8e4m3fnuz, f8e5m2fnuz   no infinity and no -0, whose pattern is NaN
 *   f8e8m0      eeeeeeee     2 to the power e - 127; 255 is NaN
 *   f4e2m1      s ee m       numbers alone: 0, 0.5, 1, 1.5, 2, 3, 4, 6
 *
 * Source: OCP 8-bit Floating Point 1.0, OCP Microscaling Formats 1.0, and the
 * tables of the operator Cast of ONNX for fnuz.
 */
#ifndef TN_IR_SMALL_H
#define TN_IR_SMALL_H

#include "ir/dtype.h"

/* Which patterns are no numbers. */
enum tn_small_special {
	TN_SMALL_IEEE,	/* those of the greatest exponent: inf, NaN */
	TN_SMALL_LAST,	/* all ones behind the sign: NaN */
	TN_SMALL_MINUS,	/* what would be -0: NaN */
	TN_SMALL_NONE
};

struct tn_small {
	int ebits, mbits, bias;	/* one bit more is the sign; f8e8m0 has none */
	enum tn_small_special special;
	double greatest;	/* finite value */
	uint8_t nan;		/* its pattern; 0 where there is none */
};

/* NULL: no such float. */
const struct tn_small *tn_small_of(enum tn_dtype dtype);
/* The value of a pattern, exactly; bits above those of the type are ignored. */
double tn_small_to_f64(enum tn_dtype dtype, uint8_t bits);
/*
 * Rounded once to nearest even, beyond the greatest finite value that value,
 * with its sign; NaN stays NaN, of f4e2m1 it becomes 0. To f8e8m0 halves go
 * up, what is less than the least power becomes that, and what is less than 0
 * NaN.
 */
uint8_t tn_small_from_f64(enum tn_dtype dtype, double value);

#endif
