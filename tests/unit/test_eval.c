/*
 * Exact results of the reference: faults that users of other systems
 * reported, every integer op against wide arithmetic, special floats.
 */
#include "ops.h"

#include <float.h>

#define INF ((double)INFINITY)
#define NOT ((double)NAN)

/* ---- Integer division ---------------------------------------------------- */

static void test_division_signs(void **state)
{
	static const struct {
		enum tn_opcode code;
		double values[5];
	} rows[] = {
		{ TN_OP_tdiv, { -3, -3, 3, 0, 0 } },
		{ TN_OP_rem, { -1, 1, -1, -1, 5 } },
		{ TN_OP_fdiv, { -4, -4, 3, -1, 0 } },
		{ TN_OP_mod, { 1, -1, -1, 2, 5 } },
	};
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct bench *b = bench_new();

		give(b, TN_i32, SHAPE(5), VALUES(-7, 7, -7, -1, 5));
		give(b, TN_i32, SHAPE(5), VALUES(2, -2, -2, 3, 0));
		run(b, rows[i].code);
		expect(b, 0, SHAPE(5), rows[i].values);
		assert_int_equal(b->eval.flags, TN_RAISED_DIVISION);
		assert_ptr_equal(b->eval.raised, b->op);
		bench_free(b);
	}
}

static void test_division_extremes(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_i32, SHAPE(1), VALUES(-2147483648.0));
	give(b, TN_i32, SHAPE(1), VALUES(-1));
	run(b, TN_OP_fdiv);
	expect(b, 0, SHAPE(1), VALUES(-2147483648.0));
	assert_int_equal(b->eval.flags, 0);
	next(b);
	give(b, TN_f32, SHAPE(2), VALUES(-5, 5));
	give(b, TN_f32, SHAPE(2), VALUES(3, 0));
	run(b, TN_OP_rem);
	expect(b, 0, SHAPE(2), VALUES(-2, NOT));
	assert_int_equal(b->eval.flags, 0);
	bench_free(b);
}

/* ---- Integer ops against wide arithmetic --------------------------------- */

__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 uwide;

struct range {
	enum tn_dtype dtype;
	int bits;
	bool is_signed;
};

static const struct range ranges[] = {
	{ TN_i8, 8, true }, { TN_i16, 16, true }, { TN_i32, 32, true },
	{ TN_i64, 64, true }, { TN_u8, 8, false }, { TN_u16, 16, false },
	{ TN_u32, 32, false }, { TN_u64, 64, false },
};

static wide least(const struct range *r)
{
	return r->is_signed ? -((wide)1 << (r->bits - 1)) : 0;
}

static wide wrap(const struct range *r, wide value)
{
	wide size = (wide)1 << r->bits;
	wide low = ((value % size) + size) % size;

	return r->is_signed && low >= size / 2 ? low - size : low;
}

static wide wrap_product(const struct range *r, wide a, wide b)
{
	uwide product = (uwide)a * (uwide)b;

	return wrap(r, (wide)(product & (((uwide)1 << r->bits) - 1)));
}

static wide floor_div(wide a, wide b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static wide wide_power(const struct range *r, wide a, wide b)
{
	wide result = 1;

	if (b < 0)
		return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
	for (; b > 0; b--)
		result = wrap_product(r, result, a);
	return result;
}

/* What the op says of a and b; *raised if it must raise. */
static wide oracle(const struct range *r, enum tn_opcode code, wide a, wide b,
		   bool *raised)
{
	bool zero = b == 0;

	*raised = false;
	switch ((int)code) {
	case TN_OP_add: return wrap(r, a + b);
	case TN_OP_sub: return wrap(r, a - b);
	case TN_OP_mul: return wrap_product(r, a, b);
	case TN_OP_max: return a > b ? a : b;
	case TN_OP_min: return a < b ? a : b;
	case TN_OP_and: return wrap(r, a & b);
	case TN_OP_or: return wrap(r, a | b);
	case TN_OP_xor: return wrap(r, a ^ b);
	case TN_OP_eq: return a == b;
	case TN_OP_lt: return a < b;
	case TN_OP_le: return a <= b;
	case TN_OP_neg: return wrap(r, -a);
	case TN_OP_abs: return wrap(r, a < 0 ? -a : a);
	case TN_OP_sign: return (a > 0) - (a < 0);
	case TN_OP_not: return wrap(r, ~a);
	case TN_OP_pow: return wide_power(r, a, b);
	case TN_OP_shl:
		*raised = b < 0;
		return b < 0 || b >= r->bits ? 0 :
		       wrap_product(r, a, (wide)1 << b);
	case TN_OP_shr:
		*raised = b < 0;
		return b < 0 || b >= r->bits ? (a < 0 ? -1 : 0) :
		       floor_div(a, (wide)1 << b);
	}
	*raised = zero;
	if (code == TN_OP_fdiv)
		return zero ? 0 : wrap(r, floor_div(a, b));
	if (code == TN_OP_mod)
		return zero ? a : a - floor_div(a, b) * b;
	if (code == TN_OP_tdiv)
		return zero ? 0 : wrap(r, a / b);
	assert_int_equal(code, TN_OP_rem);
	return zero ? a : a % b;
}

static void store(const struct range *r, wide value, void *out)
{
	uint64_t bits = (uint64_t)value;

	tn_eval_cast(TN_u64, &bits, r->dtype, out);
}

static wide load(const struct range *r, enum tn_dtype dtype, const void *in)
{
	int64_t s;
	uint64_t u;

	if (dtype == TN_bool)
		return *(const uint8_t *)in;
	tn_eval_cast(dtype, in, TN_i64, &s);
	tn_eval_cast(dtype, in, TN_u64, &u);
	return r->is_signed ? (wide)s : (wide)u;
}

static int samples(const struct range *r, wide *out)
{
	static const int small[] = { -9, -3, -2, -1, 0, 1, 2, 3, 7, 8, 9, 31,
				     32, 63, 64, 65, 100 };
	wide lo = least(r), hi = lo + ((wide)1 << r->bits) - 1;
	int count = 0;
	size_t i;

	for (i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		if (small[i] >= lo && small[i] <= hi)
			out[count++] = small[i];
	}
	out[count++] = lo;
	out[count++] = lo + 1;
	out[count++] = hi;
	out[count++] = hi - 1;
	out[count++] = hi / 2 + 1;
	out[count++] = hi / 3;
	return count;
}

static void check_pair(const struct range *r, enum tn_opcode code, wide a,
		       wide b)
{
	uint64_t in[2] = { 0, 0 }, out = 0;
	const void *list[2] = { &in[0], &in[1] };
	enum tn_dtype result = tn_ops[code].drule == TN_DRULE_BOOL ? TN_bool :
			       r->dtype;
	uint32_t flags = 0;
	bool raised;
	wide want = oracle(r, code, a, b, &raised);

	store(r, a, &in[0]);
	store(r, b, &in[1]);
	tn_eval_scalar(code, r->dtype, list, &out, &flags);
	if (load(r, result, &out) != want || (flags != 0) != raised) {
		print_error("%s %s %lld %lld\n", tn_ops[code].name,
			    tn_dtype_name(r->dtype), (long long)a,
			    (long long)b);
		fail();
	}
}

static void test_integers(void **state)
{
	static const enum tn_opcode codes[] = {
		TN_OP_add, TN_OP_sub, TN_OP_mul, TN_OP_max, TN_OP_min,
		TN_OP_and, TN_OP_or, TN_OP_xor, TN_OP_eq, TN_OP_lt, TN_OP_le,
		TN_OP_neg, TN_OP_abs, TN_OP_sign, TN_OP_not, TN_OP_shl,
		TN_OP_shr, TN_OP_fdiv, TN_OP_mod, TN_OP_tdiv, TN_OP_rem,
	};
	wide values[32];
	size_t k, c;
	int i, e;

	(void)state;
	for (k = 0; k < sizeof(ranges) / sizeof(ranges[0]); k++) {
		int count = samples(&ranges[k], values);

		for (c = 0; c < sizeof(codes) / sizeof(codes[0]); c++) {
			for (i = 0; i < count * count; i++)
				check_pair(&ranges[k], codes[c],
					   values[i / count],
					   values[i % count]);
		}
		for (i = 0; i < count; i++) {
			for (e = -3; e < 70; e++) {
				if (ranges[k].is_signed || e >= 0)
					check_pair(&ranges[k], TN_OP_pow,
						   values[i], e);
			}
		}
	}
}

/* B43: what C would promote wraps in its own type. */
static void test_small_integers(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_u8, SHAPE(2), VALUES(128, 200));
	give(b, TN_u8, SHAPE(2), VALUES(128, 100));
	run(b, TN_OP_add);
	expect(b, 0, SHAPE(2), VALUES(0, 44));
	next(b);
	give(b, TN_u8, SHAPE(1), VALUES(1));
	give(b, TN_u8, SHAPE(1), VALUES(2));
	run(b, TN_OP_sub);
	expect(b, 0, SHAPE(1), VALUES(255));
	next(b);
	give(b, TN_i8, SHAPE(1), VALUES(-128));
	run(b, TN_OP_abs);
	expect(b, 0, SHAPE(1), VALUES(-128));
	bench_free(b);
}

/* ---- Casts --------------------------------------------------------------- */

/* B16 */
static void test_cast_saturates(void **state)
{
	static const struct {
		enum tn_dtype dtype;
		double values[7];
	} rows[] = {
		{ TN_i32, { -3, 2147483647, 0, 2147483647, -2147483648.0, 300,
			    0 } },
		{ TN_u32, { 0, 3e9, 0, 4294967295.0, 0, 300, 0 } },
		{ TN_u8, { 0, 255, 0, 255, 0, 255, 0 } },
		{ TN_bool, { 1, 1, 1, 1, 1, 1, 1 } },
	};
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		struct bench *b = bench_new();

		give(b, TN_f32, SHAPE(7),
		     VALUES(-3.7, 3e9, NOT, INF, -INF, 300, -0.5));
		with(b, tn_attr_dtype("elem", rows[i].dtype));
		run(b, TN_OP_cast);
		expect(b, 0, SHAPE(7), rows[i].values);
		bench_free(b);
	}
}

static double cast_f64(enum tn_dtype from, enum tn_dtype to, double value)
{
	uint64_t in = 0, out = 0;
	double result;

	tn_eval_cast(TN_f64, &value, from, &in);
	tn_eval_cast(from, &in, to, &out);
	tn_eval_cast(to, &out, TN_f64, &result);
	return result;
}

static void test_cast_rounds_once(void **state)
{
	int64_t i = (INT64_C(1) << 62) + (INT64_C(1) << 54) + 1;
	uint16_t bf;
	double d;

	(void)state;
	tn_eval_cast(TN_i64, &i, TN_bf16, &bf);
	tn_eval_cast(TN_bf16, &bf, TN_f64, &d);
	assert_true(d == ldexp(1, 62) + ldexp(1, 55));
	d = 1 + ldexp(1, -11) + ldexp(1, -30);
	assert_true(cast_f64(TN_f64, TN_f16, d) == 1 + ldexp(1, -10));
	assert_true(cast_f64(TN_f64, TN_f16, 65520) == INF);
	assert_true(cast_f64(TN_f64, TN_f8e4m3fn, 1e9) == 448);
	assert_true(cast_f64(TN_f64, TN_f8e4m3fn, -INF) == -448);
	assert_true(isnan(cast_f64(TN_f64, TN_f8e4m3fn, NOT)));
	assert_true(cast_f64(TN_f64, TN_f8e5m2, 57345) == 57344);
	assert_true(cast_f64(TN_f64, TN_f8e4m3fn, 1.0625) == 1);
	assert_true(cast_f64(TN_f64, TN_f8e4m3fn, 1.1875) == 1.25);
	assert_true(cast_f64(TN_f64, TN_f8e4m3fn, ldexp(1, -9)) ==
		    ldexp(1, -9));
	assert_true(cast_f64(TN_f64, TN_i4, -9) == -8);
	assert_true(cast_f64(TN_f64, TN_u4, 99) == 15);
	assert_true(cast_f64(TN_i32, TN_i4, 9) == -7);
	assert_true(cast_f64(TN_i32, TN_u8, -1) == 255);
}

/* Every f8 pattern comes back as itself. */
static void test_f8_round_trip(void **state)
{
	static const enum tn_dtype types[] = { TN_f8e4m3fn, TN_f8e5m2 };
	int t, i;

	(void)state;
	for (t = 0; t < 2; t++) {
		for (i = 0; i < 256; i++) {
			uint8_t bits = (uint8_t)i, back;
			float f;

			tn_eval_cast(types[t], &bits, TN_f32, &f);
			tn_eval_cast(TN_f32, &f, types[t], &back);
			if (!isnan(f) && !isinf(f))
				assert_int_equal(bits, back);
		}
	}
}

/* ---- Floats -------------------------------------------------------------- */

/* B17 */
static void test_float_algebra(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(6), VALUES(1, -1, INF, -INF, NOT, -0.0));
	give(b, TN_f32, SCALAR, VALUES(0));
	run(b, TN_OP_mul);
	expect_all(b, 0, SHAPE(6), VALUES(0, -0.0, NOT, NOT, NOT, -0.0), true);
	next(b);
	give(b, TN_f32, SHAPE(6), VALUES(1, -1, INF, -INF, NOT, -0.0));
	give(b, TN_f32, SHAPE(6), VALUES(1, -1, INF, -INF, NOT, -0.0));
	run(b, TN_OP_div);
	expect(b, 0, SHAPE(6), VALUES(1, 1, NOT, NOT, NOT, NOT));
	bench_free(b);
}

static void test_nan_wins(void **state)
{
	static const enum tn_opcode codes[] = { TN_OP_max, TN_OP_min };
	static const enum tn_dtype types[] = {TN_f64, TN_f32, TN_f16, TN_bf16};
	int i;

	(void)state;
	for (i = 0; i < 8; i++) {
		struct bench *b = bench_new();

		give(b, types[i / 2], SHAPE(2), VALUES(NOT, 1));
		give(b, types[i / 2], SHAPE(2), VALUES(1, NOT));
		run(b, codes[i % 2]);
		expect(b, 0, SHAPE(2), VALUES(NOT, NOT));
		bench_free(b);
	}
}

static void test_round_and_pow(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(6), VALUES(0.5, 1.5, 2.5, -0.5, -1.5, NOT));
	run(b, TN_OP_round);
	expect(b, 0, SHAPE(6), VALUES(0, 2, 2, 0, -2, NOT));
	next(b);
	give(b, TN_f64, SHAPE(3), VALUES(NOT, 1, 2));
	give(b, TN_f64, SHAPE(3), VALUES(0, NOT, 0.5));
	run(b, TN_OP_pow);
	expect(b, 0, SHAPE(3), VALUES(1, 1, sqrt(2)));
	bench_free(b);
}

/* f16 accumulates in f32 and rounds once: 4096 times 100 is too large for
 * f16, and 2049 ones are 2048 in it. */
static void test_half_accumulates_wide(void **state)
{
	struct bench *b = bench_new();
	struct tn_tensor *x = give(b, TN_f16, SHAPE(2049), NULL);
	int i;

	(void)state;
	for (i = 0; i < 2049; i++)
		tn_tensor_set_f64(x, i, i == 0 ? 2.0 : 1.0);
	run(b, TN_OP_sum);
	expect(b, 0, SCALAR, VALUES(2050));
	bench_free(b);
}

static void test_broadcast_map(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(2, 1, 3), VALUES(1, 2, 3, 4, 5, 6));
	give(b, TN_f32, SHAPE(2, 1), VALUES(10, 20));
	run(b, TN_OP_add);
	expect(b, 0, SHAPE(2, 2, 3), VALUES(11, 12, 13, 21, 22, 23, 14, 15, 16,
					    24, 25, 26));
	next(b);
	give(b, TN_bool, SHAPE(3), VALUES(1, 0, 1));
	give(b, TN_i8, SCALAR, VALUES(7));
	give(b, TN_i8, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
	run(b, TN_OP_select);
	expect(b, 0, SHAPE(2, 3), VALUES(7, 2, 7, 7, 5, 7));
	bench_free(b);
}

/* ---- Reductions ---------------------------------------------------------- */

/* B48 */
static void test_reduce_axes(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(1, 2, 3), VALUES(0, 1, 2, 3, 4, 5));
	with(b, INTS("axes", -1, 0));
	with(b, tn_attr_bool("keep", true));
	run(b, TN_OP_sum);
	expect(b, 0, SHAPE(1, 2, 1), VALUES(3, 12));
	next(b);
	give(b, TN_f32, SHAPE(1, 2, 3), VALUES(0, 1, 2, 3, 4, 5));
	run(b, TN_OP_sum);
	expect(b, 0, SCALAR, VALUES(15));
	next(b);
	give(b, TN_f32, SHAPE(1, 2, 3), VALUES(0, 1, 2, 3, 4, 5));
	with(b, tn_attr_ints("axes", 0, (const int64_t[]){ 0 }));
	run(b, TN_OP_sum);
	expect(b, 0, SHAPE(1, 2, 3), VALUES(0, 1, 2, 3, 4, 5));
	next(b);
	give(b, TN_f32, SHAPE(1, 2, 3), NULL);
	with(b, INTS("axes", -1, 2));
	assert_false(infer(b, TN_OP_sum));
	bench_free(b);
}

static void test_reduce_nothing(void **state)
{
	static const struct {
		enum tn_opcode code;
		enum tn_dtype dtype;
		double value;
	} rows[] = {
		{ TN_OP_sum, TN_f32, 0 }, { TN_OP_prod, TN_i8, 1 },
		{ TN_OP_reduce_max, TN_f16, -INF },
		{ TN_OP_reduce_max, TN_i8, -128 },
		{ TN_OP_reduce_min, TN_u16, 65535 },
		{ TN_OP_reduce_min, TN_f64, INF },
		{ TN_OP_all, TN_bool, 1 }, { TN_OP_any, TN_bool, 0 },
	};
	int i;

	(void)state;
	for (i = 0; i < 8; i++) {
		struct bench *b = bench_new();

		give(b, rows[i].dtype, SHAPE(2, 0), NULL);
		with(b, INTS("axes", 1));
		run(b, rows[i].code);
		expect(b, 0, SHAPE(2), VALUES(rows[i].value, rows[i].value));
		bench_free(b);
	}
}

static void expect_arg(enum tn_opcode code, bool last, int64_t count,
		       const double *values, double want)
{
	struct bench *b = bench_new();

	give(b, TN_f32, 1, &count, values);
	with(b, tn_attr_int("axis", 0));
	with(b, tn_attr_bool("last", last));
	run(b, code);
	expect(b, 0, SCALAR, &want);
	bench_free(b);
}

/* B50 */
static void test_argmax(void **state)
{
	double many[1000] = { 0 };
	int i;

	(void)state;
	expect_arg(TN_OP_argmax, false, 4, VALUES(1, 5, 5, 2), 1);
	expect_arg(TN_OP_argmax, true, 4, VALUES(1, 5, 5, 2), 2);
	expect_arg(TN_OP_argmax, false, 5, VALUES(2, NOT, 7, 4, 1), 1);
	expect_arg(TN_OP_argmax, false, 3, VALUES(NOT, 2, 7), 0);
	expect_arg(TN_OP_argmin, false, 5, VALUES(8, NOT, 3, 1, 5), 1);
	expect_arg(TN_OP_argmax, true, 3, VALUES(NOT, NOT, NOT), 0);
	expect_arg(TN_OP_argmax, false, 2, VALUES(-0.0, 0.0), 0);
	for (i = 0; i < 1000; i += 37) {
		many[i] = NOT;
		expect_arg(TN_OP_argmax, false, 1000, many, i);
		many[i] = 0;
	}
}

static void test_running(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
	with(b, tn_attr_int("axis", -1));
	with(b, tn_attr_bool("exclusive", true));
	with(b, tn_attr_bool("reverse", true));
	run(b, TN_OP_cumsum);
	expect(b, 0, SHAPE(2, 3), VALUES(5, 3, 0, 11, 6, 0));
	next(b);
	give(b, TN_i32, SHAPE(2, 2), VALUES(3, 1, 2, 5));
	with(b, tn_attr_int("axis", 0));
	run(b, TN_OP_cummax);
	expect(b, 0, SHAPE(2, 2), VALUES(3, 1, 3, 5));
	bench_free(b);
}

static bool mentions(const struct tn_op_info *row, const char *word)
{
	return strstr(row->fexpr, word) || strstr(row->iexpr, word) ||
		strstr(row->bexpr, word);
}

/* The columns of a row of ops.def agree with each other. */
static void test_rows(void **state)
{
	const struct tn_op_info *row;
	unsigned how;
	int i;

	(void)state;
	for (i = 0; i < TN_OP_COUNT; i++) {
		row = &tn_ops[i];
		how = row->flags;
		if (row->op_class == TN_CLASS_MAP)
			assert_int_equal((how & TN_FLAG_RAISES) != 0,
					 mentions(row, "RAISE"));
		if (how & TN_FLAG_SHIFTS)
			assert_true(how & TN_FLAG_RAISES);
		assert_int_equal(row->op_class == TN_CLASS_INDEX,
				 !(how & TN_FLAG_GATHERS) !=
				 !(how & TN_FLAG_SCATTERS));
		if (how & (TN_FLAG_TUPLES | TN_FLAG_ALONG))
			assert_int_equal(row->op_class, TN_CLASS_INDEX);
		if ((how & (TN_FLAG_EXACT | TN_FLAG_LAZY)) ||
		    strcmp(row->vexpr, "NA") != 0)
			assert_int_equal(row->op_class, TN_CLASS_MAP);
		if (how & (TN_FLAG_STILL | TN_FLAG_VIEW))
			assert_true(row->nin_min > 0 && row->nout == 1);
		if (how & (TN_FLAG_LITERAL | TN_FLAG_RANDOM))
			assert_int_equal(row->op_class, TN_CLASS_SOURCE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_division_signs),
		cmocka_unit_test(test_division_extremes),
		cmocka_unit_test(test_integers),
		cmocka_unit_test(test_small_integers),
		cmocka_unit_test(test_cast_saturates),
		cmocka_unit_test(test_cast_rounds_once),
		cmocka_unit_test(test_f8_round_trip),
		cmocka_unit_test(test_float_algebra),
		cmocka_unit_test(test_nan_wins),
		cmocka_unit_test(test_round_and_pow),
		cmocka_unit_test(test_half_accumulates_wide),
		cmocka_unit_test(test_broadcast_map),
		cmocka_unit_test(test_reduce_axes),
		cmocka_unit_test(test_reduce_nothing),
		cmocka_unit_test(test_argmax),
		cmocka_unit_test(test_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
