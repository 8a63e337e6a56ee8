/*
 * Floats of 8 bits and fewer against what their formats say: every pattern
 * against a list of values made by doubling and halving, every rounding against
 * a search for the nearest in that list.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "ir/eval.h"
#include "ir/small.h"

/* A format as its specification tells it. */
struct format {
	enum tn_dtype dtype;
	int exponents, fractions;	/* how many patterns of each */
	double least;			/* step of the least exponent */
	int numbers;			/* patterns from 0 on that are finite */
	bool minus_zero;
};

static const struct format formats[] = {
	{ TN_f8e4m3fn, 16, 8, 0x1p-9, 127, true },
	{ TN_f8e5m2, 32, 4, 0x1p-16, 124, true },
	{ TN_f8e4m3fnuz, 16, 8, 0x1p-10, 128, false },
	{ TN_f8e5m2fnuz, 32, 4, 0x1p-17, 128, false },
	{ TN_f4e2m1, 4, 2, 0.5, 8, true },
};

enum { FORMATS = sizeof(formats) / sizeof(*formats) };

/* The finite values that are not negative, in order of their patterns. */
static int list_values(const struct format *f, double values[128])
{
	double start = 0, step = f->least;
	int count = 0, e, m;

	for (e = 0; e < f->exponents; e++) {
		for (m = 0; m < f->fractions; m++)
			if (count < f->numbers)
				values[count++] = start + m * step;
		start += f->fractions * step;
		if (e > 0)
			step *= 2;
	}
	return count;
}

static void test_patterns(void **state)
{
	double values[128], value;
	int k, i, count, half, size;

	(void)state;
	for (k = 0; k < FORMATS; k++) {
		count = list_values(&formats[k], values);
		half = formats[k].exponents * formats[k].fractions;
		size = 2 * half;
		assert_int_equal(count, formats[k].numbers);
		for (i = 0; i < size; i++) {
			value = tn_small_to_f64(formats[k].dtype, (uint8_t)i);
			if (i % half < count &&
			    (i != half || formats[k].minus_zero)) {
				assert_true(fabs(value) == values[i % half]);
				assert_int_equal(!!signbit(value), i >= half);
			} else if (formats[k].dtype == TN_f8e5m2 &&
				   i % half == 124) {
				assert_true(isinf(value));
				assert_int_equal(value < 0, i >= half);
			} else {
				assert_true(isnan(value));
			}
		}
	}
}

/* The pattern of the nearest value, of two the even one, signed. */
static int nearest(const struct format *f, const double *values, int count,
		   double value)
{
	int half = f->exponents * f->fractions, best = 0, i;
	double size = fmin(fabs(value), values[count - 1]);

	for (i = 1; i < count; i++) {
		double near = fabs(size - values[i]);
		double so_far = fabs(size - values[best]);

		if (near < so_far || (near <= so_far && i % 2 == 0))
			best = i;
	}
	if (best == 0 && !f->minus_zero)
		return 0;
	return best + (signbit(value) ? half : 0);
}

static void check(const struct format *f, const double *values, int count,
		  double value)
{
	int sign, want;

	for (sign = 0; sign < 2; sign++) {
		want = nearest(f, values, count, value);
		assert_int_equal(tn_small_from_f64(f->dtype, value), want);
		value = -value;
	}
}

static void test_rounding(void **state)
{
	double values[128], middle;
	int k, i, count;

	(void)state;
	for (k = 0; k < FORMATS; k++) {
		count = list_values(&formats[k], values);
		for (i = 0; i < count; i++) {
			middle = i + 1 < count ?
				(values[i] + values[i + 1]) / 2 :
				2 * values[i];
			check(&formats[k], values, count, values[i]);
			check(&formats[k], values, count, middle);
			check(&formats[k], values, count,
			      nextafter(middle, 0));
			check(&formats[k], values, count,
			      nextafter(middle, INFINITY));
		}
		check(&formats[k], values, count, DBL_MAX);
		check(&formats[k], values, count, (double)INFINITY);
		check(&formats[k], values, count, DBL_TRUE_MIN);
	}
}

static void test_nan(void **state)
{
	double nan = (double)NAN;

	(void)state;
	nan = copysign(nan, 1);
	assert_int_equal(tn_small_from_f64(TN_f8e4m3fn, nan), 0x7f);
	assert_int_equal(tn_small_from_f64(TN_f8e4m3fn, -nan), 0xff);
	assert_int_equal(tn_small_from_f64(TN_f8e5m2, nan), 0x7e);
	assert_int_equal(tn_small_from_f64(TN_f8e4m3fnuz, -nan), 0x80);
	assert_int_equal(tn_small_from_f64(TN_f8e5m2fnuz, nan), 0x80);
	assert_int_equal(tn_small_from_f64(TN_f8e8m0, nan), 0xff);
	assert_int_equal(tn_small_from_f64(TN_f4e2m1, nan), 0);
}

/* Powers of two: exact ones, and the values about the middle of two. */
static void test_powers(void **state)
{
	double power = 0x1p-127, middle;
	int i;

	(void)state;
	for (i = 0; i < 255; i++, power *= 2) {
		middle = 1.5 * power;
		assert_true(tn_small_to_f64(TN_f8e8m0, (uint8_t)i) == power);
		assert_int_equal(tn_small_from_f64(TN_f8e8m0, power), i);
		assert_int_equal(tn_small_from_f64(TN_f8e8m0,
						   nextafter(middle, 0)), i);
		assert_int_equal(tn_small_from_f64(TN_f8e8m0, middle),
				 i < 254 ? i + 1 : 254);
	}
	assert_true(isnan(tn_small_to_f64(TN_f8e8m0, 255)));
	assert_int_equal(tn_small_from_f64(TN_f8e8m0, 0), 0);
	assert_int_equal(tn_small_from_f64(TN_f8e8m0, -0.0), 0);
	assert_int_equal(tn_small_from_f64(TN_f8e8m0, 1e-300), 0);
	assert_int_equal(tn_small_from_f64(TN_f8e8m0, -1e-300), 255);
	assert_int_equal(tn_small_from_f64(TN_f8e8m0, (double)INFINITY), 254);
	assert_int_equal(tn_small_from_f64(TN_f8e8m0, -(double)INFINITY), 255);
}

/* Integers of 2 and 4 bits: floats truncate and saturate, integers wrap. */
static void test_integers(void **state)
{
	static const struct {
		enum tn_dtype dtype;
		int least, most;
	} rows[] = {
		{ TN_i2, -2, 1 }, { TN_u2, 0, 3 }, { TN_i4, -8, 7 },
		{ TN_u4, 0, 15 }
	};
	int64_t i, back;
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
		int span = rows[k].most - rows[k].least + 1;

		for (i = -40; i <= 40; i++) {
			double value = (double)i + (i < 0 ? -0.75 : 0.75);
			int8_t byte = 0;
			int64_t want = i < rows[k].least ? rows[k].least :
				i > rows[k].most ? rows[k].most : i;

			tn_eval_cast(TN_f64, &value, rows[k].dtype, &byte);
			assert_int_equal(byte, want);
			tn_eval_cast(TN_i64, &i, rows[k].dtype, &byte);
			tn_eval_cast(rows[k].dtype, &byte, TN_i64, &back);
			assert_int_equal(back, byte);
			assert_true(back >= rows[k].least &&
				    back <= rows[k].most);
			assert_int_equal((back - i) % span, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_patterns),
		cmocka_unit_test(test_rounding),
		cmocka_unit_test(test_nan),
		cmocka_unit_test(test_powers),
		cmocka_unit_test(test_integers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
