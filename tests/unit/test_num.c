/*
 * Checked arithmetic, numbers to and from text, and half floats of src/base.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fenv.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/half.h"
#include "base/num.h"

/* xorshift64*, so that a failure repeats. */
static uint64_t random_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1du;
}

/* ---- Numbers --------------------------------------------------------- */

static void test_num_checked(void **state)
{
	static const int64_t corners[] = {
		INT64_MIN, INT64_MIN + 1, INT64_MIN / 2 - 1, INT64_MIN / 2,
		-4294967297, -4294967296, -3037000500, -3, -2, -1, 0, 1, 2,
		3, 3037000499, 3037000500, 4294967296, 4294967297,
		INT64_MAX / 2, INT64_MAX / 2 + 1, INT64_MAX - 1, INT64_MAX,
	};
	const size_t count = sizeof(corners) / sizeof(corners[0]);
	size_t i, j;

	(void)state;
	for (i = 0; i < count; i++) {
		for (j = 0; j < count; j++) {
			int64_t a = corners[i], b = corners[j], want;
			int64_t got = 42;
			bool over = __builtin_add_overflow(a, b, &want);

			assert_int_equal(tn_num_add(a, b, &got), !over);
			assert_true(got == (over ? 42 : want));
			got = 42;
			over = __builtin_sub_overflow(a, b, &want);
			assert_int_equal(tn_num_sub(a, b, &got), !over);
			assert_true(got == (over ? 42 : want));
			got = 42;
			over = __builtin_mul_overflow(a, b, &want);
			assert_int_equal(tn_num_mul(a, b, &got), !over);
			assert_true(got == (over ? 42 : want));
		}
	}
}

static void test_num_sizes(void **state)
{
	size_t out = 42;
	int64_t up = 42;

	(void)state;
	assert_true(tn_num_mul_size(SIZE_MAX, 1, &out));
	assert_true(out == SIZE_MAX);
	assert_true(tn_num_mul_size(SIZE_MAX, 0, &out));
	assert_true(out == 0);
	assert_false(tn_num_mul_size(SIZE_MAX / 2 + 1, 2, &out));
	assert_false(tn_num_mul_size((size_t)1 << 32, (size_t)1 << 32, &out));
	assert_true(tn_num_align(0, 64, &up) && up == 0);
	assert_true(tn_num_align(1, 64, &up) && up == 64);
	assert_true(tn_num_align(64, 64, &up) && up == 64);
	assert_true(tn_num_align(7, 1, &up) && up == 7);
	assert_true(tn_num_align(-63, 64, &up) && up == 0);
	assert_true(tn_num_align(INT64_MAX - 63, 64, &up));
	assert_true(up == INT64_MAX - 63);
	up = 42;
	assert_false(tn_num_align(INT64_MAX - 62, 64, &up));
	assert_false(tn_num_align(1, 0, &up));
	assert_false(tn_num_align(1, 3, &up));
	assert_true(up == 42);
}

static void test_num_floor(void **state)
{
	int64_t a, b;

	(void)state;
	for (a = -30; a <= 30; a++) {
		for (b = -7; b <= 7; b++) {
			int64_t want;

			if (b == 0)
				continue;
			want = (int64_t)floor((double)a / (double)b);
			assert_true(tn_num_floordiv(a, b) == want);
			assert_true(tn_num_floormod(a, b) == a - want * b);
		}
	}
	assert_true(tn_num_floordiv(INT64_MIN, -1) == INT64_MIN);
	assert_true(tn_num_floormod(INT64_MIN, -1) == 0);
	assert_true(tn_num_floordiv(INT64_MIN, 1) == INT64_MIN);
	assert_true(tn_num_floordiv(INT64_MAX, -1) == -INT64_MAX);
	assert_true(tn_num_floordiv(INT64_MIN, INT64_MAX) == -2);
	assert_true(tn_num_floormod(INT64_MIN, INT64_MAX) == INT64_MAX - 1);
	assert_true(tn_num_floordiv(INT64_MAX, INT64_MIN) == -1);
	assert_true(tn_num_floormod(INT64_MAX, INT64_MIN) == -1);
	assert_true(tn_num_floordiv(INT64_MIN, INT64_MIN) == 1);
}

static void test_num_parse_u64(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {
		{"0", 0}, {"007", 7}, {"18446744073709551615", UINT64_MAX},
		{"0x0", 0}, {"0XfF", 255}, {"0xffffffffffffffff", UINT64_MAX},
		{"00000000000000000000000000000000001", 1},
	};
	static const char *const bad[] = {
		"", "-1", "+1", " 1", "1 ", "1.0", "0x", "x", "ff", "0xg",
		"1e3", "18446744073709551616", "99999999999999999999",
		"0x10000000000000000",
	};
	uint64_t out = 42;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(tn_num_parse_u64(bad[i], &out));
	assert_true(out == 42);
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		assert_true(tn_num_parse_u64(good[i].text, &out));
		assert_true(out == good[i].value);
	}
}

static void test_num_parse_float(void **state)
{
	static const char *const bad[] = {
		"", "-", ".", "e5", "1e", "1e+", "1.5x", " 1", "1 ", "1,5",
		"0x", "0x.p1", "0x1p", "1p3", "1e1.5", "infinity", "INF",
		"nan(1)", "--1", "1e999", "-1e999", "1_000",
	};
	double d = 42;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(tn_num_parse_f64(bad[i], &d));
	}
	assert_true(d == 42);
	assert_true(tn_num_parse_f64("3.5e38", &d) && d == 3.5e38);
	assert_true(tn_num_parse_f64("1", &d) && d == 1);
	assert_true(tn_num_parse_f64(".5", &d) && d == 0.5);
	assert_true(tn_num_parse_f64("5.", &d) && d == 5);
	assert_true(tn_num_parse_f64("-0.0", &d) && signbit(d));
	assert_true(tn_num_parse_f64("0x1.8p1", &d) && d == 3);
	assert_true(tn_num_parse_f64("0xEp-1", &d) && d == 7);
	assert_true(tn_num_parse_f64("inf", &d) && d == HUGE_VAL);
	assert_true(tn_num_parse_f64("-inf", &d) && d == -HUGE_VAL);
	assert_true(tn_num_parse_f64("nan", &d) && isnan(d));
	assert_true(tn_num_parse_f64("1e-400", &d) && d == 0);
	assert_true(tn_num_parse_f64("5e-324", &d) && d > 0);
}

/* Just beside a tie of float: by way of double it would round twice. */
static void test_num_parse_once(void **state)
{
	double d;

	(void)state;
	assert_true(tn_num_parse_odd("1.00000017881393432617187499999999", &d));
	assert_true((float)d == 1 + 0x1p-23f);
	assert_true(tn_num_parse_odd("1.00000005960464477539062500000001", &d));
	assert_true((float)d == 1 + 0x1p-23f);
	assert_true(tn_num_parse_odd("1.000000059604644775390625", &d));
	assert_true((float)d == 1);
}

/* Just beside ties of the narrow types, and numbers that doubles hold. */
static void test_num_parse_odd(void **state)
{
	static const struct {
		const char *text;
		uint16_t f16, bf16;
	} cases[] = {
		{"1.00048828125", 0x3c00, 0x3f80},
		{"1.00048828125000000000000000001", 0x3c01, 0x3f80},
		{"1.00048828124999999999999999999", 0x3c00, 0x3f80},
		{"1.00146484375", 0x3c02, 0x3f80},
		{"1.00146484374999999999999999999", 0x3c01, 0x3f80},
		{"1.00390625", 0x3c04, 0x3f80},
		{"1.00390625000000000000000000001", 0x3c04, 0x3f81},
		{"-1.00048828125000000000000000001", 0xbc01, 0xbf80},
		{"65519.9999999999999999999", 0x7bff, 0x4780},
		{"65520", 0x7c00, 0x4780},
		{"2.98023223876953125e-8", 0x0000, 0x3300},
		{"2.98023223876953125000000000001e-8", 0x0001, 0x3300},
		{"0x1.002p0", 0x3c00, 0x3f80},
		{"0x1.00200000000000000001p0", 0x3c01, 0x3f80},
		{"1e-400", 0x0000, 0x0000},
	};
	double d;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(tn_num_parse_odd(cases[i].text, &d));
		assert_int_equal(tn_half_f16_from_f64(d), cases[i].f16);
		assert_int_equal(tn_half_bf16_from_f64(d), cases[i].bf16);
	}
	assert_true(tn_num_parse_odd("1e999", &d) && d == DBL_MAX);
	assert_true(tn_num_parse_odd("-1e999", &d) && d == -DBL_MAX);
	assert_true(tn_num_parse_odd("-0.0", &d) && d == 0 && signbit(d));
	assert_true(tn_num_parse_odd("0.1", &d) && d != 0.25);
	assert_true(tn_num_parse_odd("-inf", &d) && d == -HUGE_VAL);
	assert_true(tn_num_parse_odd("nan", &d) && isnan(d));
	assert_false(tn_num_parse_odd("1.5x", &d));
	assert_int_equal(fegetround(), FE_TONEAREST);
}

static void test_num_print_known(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {
		{0, "0.0"}, {-0.0, "-0.0"}, {1, "1.0"}, {-2.5, "-2.5"},
		{0.1, "0.1"}, {100000, "100000.0"}, {1e15, "1e15"},
		{1e22, "1e22"}, {1e-7, "1e-7"}, {1.5e-10, "1.5e-10"},
		{5e-324, "5e-324"}, {DBL_MAX, "1.7976931348623157e308"},
		{DBL_MIN, "2.2250738585072014e-308"},
		{0.1 + 0.2, "0.30000000000000004"},
		{HUGE_VAL, "inf"}, {-HUGE_VAL, "-inf"},
		{123456789012345680.0, "1.2345678901234568e17"},
	};
	char out[40];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		tn_num_print_f64(cases[i].value, out);
		assert_string_equal(out, cases[i].text);
	}
	tn_num_print_f64(-(double)NAN, out);
	assert_string_equal(out, "nan");
	tn_num_print_f32(0.1f, out);
	assert_string_equal(out, "0.1");
	tn_num_print_f32(16777216.0f, out);
	assert_string_equal(out, "16777216.0");
	tn_num_print_f32(1e-45f, out);
	assert_string_equal(out, "1e-45");
	tn_num_print_f32(FLT_MAX, out);
	assert_string_equal(out, "3.4028235e38");
	tn_num_print_f32(-0.0f, out);
	assert_string_equal(out, "-0.0");
}

static void test_num_print_random(void **state)
{
	uint64_t seed = 0x7e0a;
	char out[40];
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		uint64_t bits = random_next(&seed);
		uint32_t low = (uint32_t)bits;
		double d, back_d;
		float f, back_f;

		if (i % 16 == 0)
			bits &= 0x800fffffffffffffu;
		if (i % 16 == 1)
			low &= 0x807fffffu;
		memcpy(&d, &bits, sizeof(d));
		memcpy(&f, &low, sizeof(f));
		tn_num_print_f64(d, out);
		assert_true(tn_num_parse_f64(out, &back_d));
		assert_true(isnan(d) ? isnan(back_d) :
			    memcmp(&d, &back_d, sizeof(d)) == 0);
		assert_non_null(strpbrk(out, ".ein"));
		tn_num_print_f32(f, out);
		assert_true(tn_num_parse_odd(out, &back_d));
		back_f = (float)back_d;
		assert_true(isnan(f) ? isnan(back_f) :
			    memcmp(&f, &back_f, sizeof(f)) == 0);
	}
}

static int count_digits(const char *text)
{
	int digits = 0, zeros = 0;

	for (; *text && *text != 'e'; text++) {
		if (*text == '0')
			zeros += digits > 0;
		else if (*text >= '1' && *text <= '9')
			digits += 1 + zeros, zeros = 0;
	}
	return digits;
}

/* No shorter decimal may read back as the same float. */
static void test_num_print_shortest(void **state)
{
	uint64_t seed = 99;
	char out[40], shorter[400];
	int i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		uint32_t bits = (uint32_t)random_next(&seed);
		float f;
		int digits;

		memcpy(&f, &bits, sizeof(f));
		if (!isfinite(f) || f == 0)
			continue;
		tn_num_print_f32(f, out);
		digits = count_digits(out);
		if (digits < 2)
			continue;
		snprintf(shorter, sizeof(shorter), "%.*g", digits - 1,
			 (double)f);
		assert_true(strtof(shorter, NULL) != f);
	}
}

/* Needs a locale with a decimal comma; hosts without one skip. */
static void test_num_locale(void **state)
{
	static const char *const names[] = {
		"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8",
		"de_DE", "cs_CZ.UTF-8", "pl_PL.UTF-8", "ru_RU.UTF-8",
	};
	const char *set = NULL;
	struct tn_buf buf;
	char out[40];
	double d = 0, odd = 0;
	size_t i;

	(void)state;
	for (i = 0; !set && i < sizeof(names) / sizeof(names[0]); i++)
		set = setlocale(LC_ALL, names[i]);
	if (!set || strcmp(localeconv()->decimal_point, ",") != 0) {
		setlocale(LC_ALL, "C");
		skip();
	}
	tn_buf_init(&buf);
	tn_num_print_f64(1.5, out);
	tn_buf_putf(&buf, "%g,%.1f", 2.5, 3.5);
	i = tn_num_parse_f64("0.25", &d) + tn_num_parse_odd("0.75", &odd);
	snprintf(out + 20, 20, "%g", 0.5);
	setlocale(LC_ALL, "C");
	assert_int_equal(i, 2);
	assert_true(d == 0.25 && odd == 0.75);
	assert_string_equal(out, "1.5");
	assert_string_equal(out + 20, "0,5");
	assert_string_equal(tn_buf_text(&buf), "2.5,3.5");
	tn_buf_fini(&buf);
}

/* ---- Half floats ----------------------------------------------------- */

struct half_format {
	unsigned mbits;
	float (*to_f32)(uint16_t bits);
	uint16_t (*from_f32)(float value);
	uint16_t (*from_f64)(double value);
};

static const struct half_format f16 = {
	10, tn_half_f16_to_f32, tn_half_f16_from_f32, tn_half_f16_from_f64,
};
static const struct half_format bf16 = {
	7, tn_half_bf16_to_f32, tn_half_bf16_from_f32, tn_half_bf16_from_f64,
};

/* What a pattern stands for, by the definition of the format. */
static double half_value(const struct half_format *format, uint16_t bits)
{
	int top = (1 << (15 - format->mbits)) - 1, bias = top >> 1;
	int mbits = (int)format->mbits;
	int exp = bits >> mbits & top, frac = bits & ((1 << mbits) - 1);
	double value;

	if (exp == top)
		value = frac ? (double)NAN : HUGE_VAL;
	else if (exp == 0)
		value = ldexp(frac, 1 - bias - mbits);
	else
		value = ldexp(frac + (1 << mbits), exp - bias - mbits);
	return bits & 0x8000 ? -value : value;
}

static void half_patterns(const struct half_format *format)
{
	uint32_t i;

	for (i = 0; i <= 0xffff; i++) {
		uint16_t bits = (uint16_t)i, back, back64;
		double want = half_value(format, bits);
		float got = format->to_f32(bits);

		back = format->from_f32(got);
		back64 = format->from_f64((double)got);
		assert_int_equal(back, back64);
		if (isnan(want)) {
			assert_true(isnan(got));
			assert_true(isnan(format->to_f32(back)));
			assert_int_equal(back | 1 << (format->mbits - 1),
					 back);
			assert_int_equal(back & 0x8000, bits & 0x8000);
		} else {
			assert_true((double)got == want);
			assert_int_equal(back, bits);
		}
	}
}

/* Between each pair of neighbours, the tie and its two sides, both signs. */
static void half_ties(const struct half_format *format)
{
	uint16_t inf = (uint16_t)(((1 << (15 - format->mbits)) - 1)
				  << format->mbits);
	uint16_t p;

	for (p = 0; p < inf; p++) {
		uint16_t next = (uint16_t)(p + 1);
		uint16_t even = p & 1 ? next : p;
		double low = half_value(format, p), high, tie;

		if (next == inf)
			high = 2 * low - half_value(format,
						    (uint16_t)(p - 1));
		else
			high = half_value(format, next);
		tie = (low + high) / 2;
		assert_int_equal(format->from_f64(tie), even);
		assert_int_equal(format->from_f64(nextafter(tie, 0)), p);
		assert_int_equal(format->from_f64(nextafter(tie, HUGE_VAL)),
				 next);
		assert_int_equal(format->from_f64(-tie), even | 0x8000);
		if (fabs(tie) <= (double)FLT_MAX &&
		    (double)(float)tie == tie) {
			float f = (float)tie;

			assert_int_equal(format->from_f32(f), even);
			assert_int_equal(format->from_f32(nextafterf(f, 0)),
					 p);
			assert_int_equal(format->from_f32(
				nextafterf(f, HUGE_VALF)), next);
		}
	}
}

static void half_extremes(const struct half_format *format)
{
	uint16_t inf = format->from_f64(HUGE_VAL);

	assert_int_equal(inf, ((1 << (15 - format->mbits)) - 1)
			 << format->mbits);
	assert_int_equal(format->from_f64(-HUGE_VAL), inf | 0x8000);
	assert_int_equal(format->from_f64(DBL_MAX), inf);
	assert_int_equal(format->from_f64(-DBL_MAX), inf | 0x8000);
	assert_int_equal(format->from_f64(DBL_MIN), 0);
	assert_int_equal(format->from_f64(5e-324), 0);
	assert_int_equal(format->from_f64(-5e-324), 0x8000);
	assert_int_equal(format->from_f64(-0.0), 0x8000);
	assert_int_equal(format->from_f32(-0.0f), 0x8000);
}

static void test_half_f16(void **state)
{
	(void)state;
	half_patterns(&f16);
	half_ties(&f16);
	half_extremes(&f16);
	assert_int_equal(tn_half_f16_from_f32(65504.0f), 0x7bff);
	assert_int_equal(tn_half_f16_from_f32(65520.0f), 0x7c00);
	assert_int_equal(tn_half_f16_from_f64(65519.999999), 0x7bff);
	assert_int_equal(tn_half_f16_from_f64(0x1p-25), 0);
	assert_int_equal(tn_half_f16_from_f64(0x1.0000000000001p-25), 1);
}

static void test_half_bf16(void **state)
{
	(void)state;
	half_patterns(&bf16);
	half_ties(&bf16);
	half_extremes(&bf16);
	assert_int_equal(tn_half_bf16_from_f32(FLT_MAX), 0x7f80);
	assert_int_equal(tn_half_bf16_from_f32(1.0f), 0x3f80);
}

/* A hair over a tie that a float cannot hold: rounding twice goes down. */
static void test_half_once(void **state)
{
	double over = 1 + 0x1p-11 + 0x1p-40, under = 1 + 3 * 0x1p-11 - 0x1p-40;

	(void)state;
	assert_int_equal(tn_half_f16_from_f64(over), 0x3c01);
	assert_int_equal(tn_half_f16_from_f32((float)over), 0x3c00);
	assert_int_equal(tn_half_f16_from_f64(under), 0x3c01);
	assert_int_equal(tn_half_f16_from_f32((float)under), 0x3c02);
	over = 1 + 0x1p-8 + 0x1p-40;
	under = 1 + 3 * 0x1p-8 - 0x1p-40;
	assert_int_equal(tn_half_bf16_from_f64(over), 0x3f81);
	assert_int_equal(tn_half_bf16_from_f32((float)over), 0x3f80);
	assert_int_equal(tn_half_bf16_from_f64(under), 0x3f81);
	assert_int_equal(tn_half_bf16_from_f32((float)under), 0x3f82);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_num_checked),
		cmocka_unit_test(test_num_sizes),
		cmocka_unit_test(test_num_floor),
		cmocka_unit_test(test_num_parse_u64),
		cmocka_unit_test(test_num_parse_float),
		cmocka_unit_test(test_num_parse_once),
		cmocka_unit_test(test_num_parse_odd),
		cmocka_unit_test(test_num_print_known),
		cmocka_unit_test(test_num_print_random),
		cmocka_unit_test(test_num_print_shortest),
		cmocka_unit_test(test_num_locale),
		cmocka_unit_test(test_half_f16),
		cmocka_unit_test(test_half_bf16),
		cmocka_unit_test(test_half_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
