/*
 * Checked arithmetic, floor division, and numbers to and from text.
 */
#include "base/num.h"

#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numloc.h"

bool tn_num_add(int64_t a, int64_t b, int64_t *out)
{
	if (b > 0 ? a > INT64_MAX - b : a < INT64_MIN - b)
		return false;
	*out = a + b;
	return true;
}

bool tn_num_sub(int64_t a, int64_t b, int64_t *out)
{
	if (b > 0 ? a < INT64_MIN + b : a > INT64_MAX + b)
		return false;
	*out = a - b;
	return true;
}

static bool mul_overflows(int64_t a, int64_t b)
{
	if (a == 0 || b == 0)
		return false;
	if (a > 0)
		return b > 0 ? a > INT64_MAX / b : b < INT64_MIN / a;
	return b > 0 ? a < INT64_MIN / b : b < INT64_MAX / a;
}

bool tn_num_mul(int64_t a, int64_t b, int64_t *out)
{
	if (mul_overflows(a, b))
		return false;
	*out = a * b;
	return true;
}

bool tn_num_mul_size(size_t a, size_t b, size_t *out)
{
	if (b && a > SIZE_MAX / b)
		return false;
	*out = a * b;
	return true;
}

int64_t tn_num_floordiv(int64_t a, int64_t b)
{
	int64_t quotient;

	if (b == -1)
		return a == INT64_MIN ? a : -a;
	quotient = a / b;
	return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

int64_t tn_num_floormod(int64_t a, int64_t b)
{
	int64_t rest;

	if (b == -1)
		return 0;
	rest = a % b;
	return rest && (rest < 0) != (b < 0) ? rest + b : rest;
}

bool tn_num_align(int64_t value, int64_t align, int64_t *out)
{
	int64_t up;

	if (align <= 0 || (align & (align - 1)) ||
	    !tn_num_add(value, align - 1, &up))
		return false;
	*out = up & ~(align - 1);
	return true;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static bool has_hex_prefix(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

bool tn_num_parse_u64(const char *text, uint64_t *out)
{
	unsigned base = has_hex_prefix(text) ? 16 : 10;
	uint64_t value = 0;

	if (base == 16)
		text += 2;
	if (!*text)
		return false;
	for (; *text; text++) {
		unsigned digit = (unsigned)digit_value(*text);

		if (digit >= base || value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	*out = value;
	return true;
}

/* Skips digits of `base`; the number of them. */
static size_t skip_digits(const char **at, int base)
{
	const char *start = *at;

	while (digit_value(**at) < base)
		++*at;
	return (size_t)(*at - start);
}

/* [+-] then inf, nan, or digits with an optional point and exponent; exponent
 * 'e' for decimal, 'p' for hex. strtod itself would take more. */
static bool is_float_text(const char *at)
{
	int base = 10;
	size_t digits;

	if (*at == '+' || *at == '-')
		at++;
	if (strcmp(at, "inf") == 0 || strcmp(at, "nan") == 0)
		return true;
	if (has_hex_prefix(at)) {
		base = 16;
		at += 2;
	}
	digits = skip_digits(&at, base);
	if (*at == '.') {
		at++;
		digits += skip_digits(&at, base);
	}
	if (!digits)
		return false;
	if (base == 10 ? *at == 'e' || *at == 'E' : *at == 'p' || *at == 'P') {
		at++;
		if (*at == '+' || *at == '-')
			at++;
		if (!skip_digits(&at, 10))
			return false;
	}
	return *at == '\0';
}

static bool is_inf_text(const char *text)
{
	return strcmp(text + strcspn(text, "i"), "inf") == 0;
}

bool tn_num_parse_f64(const char *text, double *out)
{
	struct tn_numloc loc;
	int saved = errno;
	double value;

	if (!is_float_text(text))
		return false;
	if (!tn_numloc_enter(&loc))
		return false;
	value = strtod(text, NULL);
	tn_numloc_leave(&loc);
	errno = saved;
	if (isinf(value) && !is_inf_text(text))
		return false;
	*out = value;
	return true;
}

/* What strtod gives under a rounding mode. */
static double read_rounded(const char *text, int mode)
{
	const int before = fegetround();
	double value;

	fesetround(mode);
	value = strtod(text, NULL);
	fesetround(before);
	return value;
}

bool tn_num_parse_odd(const char *text, double *out)
{
	struct tn_numloc loc;
	int saved = errno;
	uint64_t bits;
	double low, high;

	if (!is_float_text(text))
		return false;
	if (!tn_numloc_enter(&loc))
		return false;
	low = read_rounded(text, FE_DOWNWARD);
	high = read_rounded(text, FE_UPWARD);
	tn_numloc_leave(&loc);
	errno = saved;
	memcpy(&bits, &low, sizeof(bits));
	*out = (low < high || high < low) && !(bits & 1) ? high : low;
	return true;
}

/* "1e+07" to "1e7", "12" to "12.0": the language's spelling. */
static void tidy(char out[40])
{
	char *exp = strchr(out, 'e'), *digits;

	if (!exp) {
		if (!strchr(out, '.'))
			strcat(out, ".0");
		return;
	}
	exp++;
	digits = exp;
	if (*exp == '-')
		exp++;
	if (*digits == '-' || *digits == '+')
		digits++;
	while (*digits == '0' && digits[1])
		digits++;
	memmove(exp, digits, strlen(digits) + 1);
}

/* inf, nan and what needs no search; false for other values. */
static bool print_special(double value, char out[40])
{
	if (isnan(value))
		strcpy(out, "nan");
	else if (isinf(value))
		strcpy(out, value < 0 ? "-inf" : "inf");
	else if (value == 0)
		strcpy(out, signbit(value) ? "-0.0" : "0.0");
	else
		return false;
	return true;
}

/* A normal double that has a decimal of at most 15 digits gets it from
 * "%.15g", which drops trailing zeros; only subnormals need the search from
 * one digit (they hold fewer bits). Likewise 6 digits for float. */
void tn_num_print_f64(double value, char out[40])
{
	int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG;
	struct tn_numloc loc;
	int saved = errno;

	if (print_special(value, out))
		return;
	tn_numloc_enter(&loc);
	for (; digits <= DBL_DECIMAL_DIG; digits++) {
		snprintf(out, 40, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	tn_numloc_leave(&loc);
	errno = saved;
	tidy(out);
}

void tn_num_print_f32(float value, char out[40])
{
	int digits = fabsf(value) < FLT_MIN ? 1 : FLT_DIG;
	struct tn_numloc loc;
	int saved = errno;

	if (print_special((double)value, out))
		return;
	tn_numloc_enter(&loc);
	for (; digits <= FLT_DECIMAL_DIG; digits++) {
		snprintf(out, 40, "%.*g", digits, (double)value);
		if (strtof(out, NULL) == value)
			break;
	}
	tn_numloc_leave(&loc);
	errno = saved;
	tidy(out);
}
