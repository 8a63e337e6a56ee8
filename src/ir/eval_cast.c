/*
 * Conversion of one element, rounded once.
 *
 * Whatever comes in is held exactly: floats as double, signed integers as
 * int64, unsigned ones and bools as uint64. Going out each type rounds from
 * that, so i64 to bf16 rounds once too. Floats to integers truncate and
 * saturate, NaN gives 0; integers wrap; floats of 8 bits and fewer saturate
 * (small.h); to bool everything but zero is true, NaN too.
 */
#include "ir/eval_impl.h"

#include "base/half.h"
#include "ir/small.h"

#include <math.h>
#include <string.h>

enum form { FORM_FLOAT, FORM_SIGNED, FORM_UNSIGNED };

struct number {
	enum form form;
	double f;
	int64_t i;
	uint64_t u;
};

static struct number of_float(double value)
{
	return (struct number){ .form = FORM_FLOAT, .f = value };
}

static struct number of_signed(int64_t value)
{
	return (struct number){ .form = FORM_SIGNED, .i = value };
}

static struct number of_unsigned(uint64_t value)
{
	return (struct number){ .form = FORM_UNSIGNED, .u = value };
}

/* The low `width` bits, at most 8, as a signed number. */
static int low_signed(int64_t bits, int width)
{
	int sign = 1 << (width - 1);

	return (((int)(bits & 0xff) & (2 * sign - 1)) ^ sign) - sign;
}

#define READ(type, make) \
	do { \
		type value; \
		memcpy(&value, in, sizeof(value)); \
		return make; \
	} while (0)

static struct number read_number(enum tn_dtype dtype, const void *in)
{
	switch (dtype) {
	case TN_f64: READ(double, of_float(value));
	case TN_f32: READ(float, of_float((double)value));
	case TN_f16:
		READ(uint16_t, of_float((double)tn_half_f16_to_f32(value)));
	case TN_bf16:
		READ(uint16_t, of_float((double)tn_half_bf16_to_f32(value)));
	case TN_i64: READ(int64_t, of_signed(value));
	case TN_i32: READ(int32_t, of_signed(value));
	case TN_i16: READ(int16_t, of_signed(value));
	case TN_i8: READ(int8_t, of_signed(value));
	case TN_u64: READ(uint64_t, of_unsigned(value));
	case TN_u32: READ(uint32_t, of_unsigned(value));
	case TN_u16: READ(uint16_t, of_unsigned(value));
	case TN_u8: READ(uint8_t, of_unsigned(value));
	case TN_bool: READ(uint8_t, of_unsigned(value != 0));
	case TN_f8e4m3fn:
	case TN_f8e5m2:
	case TN_f8e4m3fnuz:
	case TN_f8e5m2fnuz:
	case TN_f8e8m0:
	case TN_f4e2m1:
		READ(uint8_t, of_float(tn_small_to_f64(dtype, value)));
	case TN_i4: READ(uint8_t, of_signed(low_signed(value, 4)));
	case TN_i2: READ(uint8_t, of_signed(low_signed(value, 2)));
	case TN_u4: READ(uint8_t, of_unsigned(value & 15));
	case TN_u2: READ(uint8_t, of_unsigned(value & 3));
	case TN_DTYPE_COUNT:
	case TN_ENCODED:
	case TN_POISON:
		break;
	}
	return of_unsigned(0);
}

/* Double that rounds to fewer than 53 bits as the integer itself does: what
 * is cut off stays visible in the last bit. */
static double sticky(const struct number *number)
{
	bool is_negative = number->form == FORM_SIGNED && number->i < 0;
	uint64_t size = number->u;

	if (number->form == FORM_FLOAT)
		return number->f;
	if (number->form == FORM_SIGNED)
		size = is_negative ? 0 - (uint64_t)number->i :
		       (uint64_t)number->i;
	if (size >> 53)
		size = (size >> 11 | ((size & 0x7ff) != 0)) << 11;
	return is_negative ? -(double)size : (double)size;
}

static int64_t to_signed(const struct number *number, int width)
{
	int64_t most = INT64_MAX >> (64 - width);
	double limit = ldexp(1.0, width - 1);

	if (number->form == FORM_SIGNED)
		return number->i;
	if (number->form == FORM_UNSIGNED)
		return (int64_t)number->u;
	if (number->f != number->f)
		return 0;
	if (number->f >= limit)
		return most;
	if (number->f <= -limit)
		return -most - 1;
	return (int64_t)number->f;
}

static uint64_t to_unsigned(const struct number *number, int width)
{
	if (number->form == FORM_SIGNED)
		return (uint64_t)number->i;
	if (number->form == FORM_UNSIGNED)
		return number->u;
	if (!(number->f > -1.0))
		return 0;
	if (number->f >= ldexp(1.0, width))
		return UINT64_MAX >> (64 - width);
	return number->f <= 0 ? 0 : (uint64_t)number->f;
}

static bool is_true(const struct number *number)
{
	switch (number->form) {
	case FORM_FLOAT:
		return number->f != 0;
	case FORM_SIGNED:
		return number->i != 0;
	case FORM_UNSIGNED:
		break;
	}
	return number->u != 0;
}

static float to_f32(const struct number *number)
{
	switch (number->form) {
	case FORM_FLOAT:
		return (float)number->f;
	case FORM_SIGNED:
		return (float)number->i;
	case FORM_UNSIGNED:
		break;
	}
	return (float)number->u;
}

static double to_f64(const struct number *number)
{
	switch (number->form) {
	case FORM_FLOAT:
		return number->f;
	case FORM_SIGNED:
		return (double)number->i;
	case FORM_UNSIGNED:
		break;
	}
	return (double)number->u;
}

#define WRITE(type, expr) \
	do { \
		type value = (type)(expr); \
		memcpy(out, &value, sizeof(value)); \
		return; \
	} while (0)

static void write_number(const struct number *number, enum tn_dtype dtype,
			 void *out)
{
	switch (dtype) {
	case TN_f64: WRITE(double, to_f64(number));
	case TN_f32: WRITE(float, to_f32(number));
	case TN_f16: WRITE(uint16_t, tn_half_f16_from_f64(sticky(number)));
	case TN_bf16: WRITE(uint16_t, tn_half_bf16_from_f64(sticky(number)));
	case TN_i64: WRITE(int64_t, to_signed(number, 64));
	case TN_i32: WRITE(int32_t, to_signed(number, 32));
	case TN_i16: WRITE(int16_t, to_signed(number, 16));
	case TN_i8: WRITE(int8_t, to_signed(number, 8));
	case TN_u64: WRITE(uint64_t, to_unsigned(number, 64));
	case TN_u32: WRITE(uint32_t, to_unsigned(number, 32));
	case TN_u16: WRITE(uint16_t, to_unsigned(number, 16));
	case TN_u8: WRITE(uint8_t, to_unsigned(number, 8));
	case TN_bool: WRITE(uint8_t, is_true(number));
	case TN_f8e4m3fn:
	case TN_f8e5m2:
	case TN_f8e4m3fnuz:
	case TN_f8e5m2fnuz:
	case TN_f8e8m0:
	case TN_f4e2m1:
		WRITE(uint8_t, tn_small_from_f64(dtype, sticky(number)));
	case TN_i4: WRITE(int8_t, low_signed(to_signed(number, 4), 4));
	case TN_i2: WRITE(int8_t, low_signed(to_signed(number, 2), 2));
	case TN_u4: WRITE(uint8_t, to_unsigned(number, 4) & 15);
	case TN_u2: WRITE(uint8_t, to_unsigned(number, 2) & 3);
	case TN_DTYPE_COUNT:
	case TN_ENCODED:
	case TN_POISON:
		break;
	}
}

void tn_eval_cast(enum tn_dtype from, const void *in, enum tn_dtype to,
		  void *out)
{
	struct number number = read_number(from, in);

	write_number(&number, to, out);
}

void tn_eval_bitcast(const void *in, enum tn_dtype to, void *out)
{
	int width = tn_dtype_bits(to);
	uint8_t bits;

	memcpy(out, in, (size_t)tn_dtype_bytes(to));
	if (width >= 8)
		return;
	memcpy(&bits, in, 1);
	bits = (uint8_t)(tn_dtype_holds(to, TN_KIND_I) ?
			 low_signed(bits, width) : bits & ((1 << width) - 1));
	memcpy(out, &bits, 1);
}

bool tn_eval_cast_all(const struct tn_tensor *from, struct tn_tensor *to)
{
	int64_t count = tn_tensor_count(from);
	int from_size = tn_dtype_bytes(from->dtype);
	int to_size = tn_dtype_bytes(to->dtype);
	const char *in = from->data;
	char *out = to->data;
	int64_t i;

	if (count < 0 || tn_tensor_count(to) != count)
		return false;
	if (from->dtype == to->dtype && from->dtype != TN_bool) {
		if (count > 0)
			memcpy(out, in, (size_t)count * (size_t)to_size);
		return true;
	}
	for (i = 0; i < count; i++)
		tn_eval_cast(from->dtype, in + i * from_size, to->dtype,
			     out + i * to_size);
	return true;
}

void tn_eval_identity(enum tn_identity identity, enum tn_dtype dtype,
		      void *out)
{
	struct number number = of_unsigned(0);

	switch (identity) {
	case TN_IDENTITY_NONE:
	case TN_IDENTITY_0:
		break;
	case TN_IDENTITY_1:
		number = of_unsigned(1);
		break;
	case TN_IDENTITY_LOWEST:
		number = of_float(-(double)INFINITY);
		break;
	case TN_IDENTITY_HIGHEST:
		number = of_float((double)INFINITY);
		break;
	}
	if (dtype == TN_bool && number.form == FORM_FLOAT)
		number = of_unsigned(number.f > 0);
	write_number(&number, dtype, out);
}
