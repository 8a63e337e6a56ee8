/*
 * Exact results of the reference: lookups, scatters, movement, order, random
 * numbers; and that every row of the tables is complete.
 */
#include "ops.h"

#define INF ((double)INFINITY)
#define NOT ((double)NAN)

/* ---- Indices ------------------------------------------------------------- */

/* B52: out of range is clamped and raises the flag. */
static void test_gather(void **state)
{
	static const enum tn_dtype types[] = { TN_i32, TN_i64, TN_u64 };
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct bench *b = bench_new();
		struct tn_tensor *index;

		give(b, TN_f32, SHAPE(3, 2), VALUES(1, 2, 3, 4, 5, 6));
		index = give(b, types[i], SHAPE(3), VALUES(0, 2, 3));
		if (types[i] != TN_u64)
			tn_tensor_set_i64(index, 0, -4);
		else
			tn_tensor_set_i64(index, 2, -1);
		run(b, TN_OP_gather);
		expect(b, 0, SHAPE(3, 2), VALUES(1, 2, 5, 6, 5, 6));
		assert_int_equal(b->eval.flags, TN_RAISED_INDEX);
		bench_free(b);
	}
}

static void test_gather_forms(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_i32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
	give(b, TN_i64, SHAPE(2, 2), VALUES(1, 2, 0, 1));
	run(b, TN_OP_gather_nd);
	expect(b, 0, SHAPE(2), VALUES(6, 2));
	next(b);
	give(b, TN_i32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
	give(b, TN_i64, SHAPE(2, 1), VALUES(2, 0));
	with(b, tn_attr_int("axis", -1));
	run(b, TN_OP_take_along);
	expect(b, 0, SHAPE(2, 1), VALUES(3, 4));
	next(b);
	give(b, TN_i32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
	give(b, TN_u8, SCALAR, VALUES(1));
	with(b, tn_attr_int("axis", 1));
	run(b, TN_OP_gather);
	expect(b, 0, SHAPE(2), VALUES(2, 5));
	assert_int_equal(b->eval.flags, 0);
	bench_free(b);
}

static void test_scatter(void **state)
{
	static const struct {
		const char *combine;
		double values[3];
	} rows[] = {
		{ "set", { 30, 1, 20 } }, { "add", { 41, 1, 21 } },
		{ "max", { 30, 1, 20 } }, { "mul", { 300, 1, 20 } },
		{ "min", { 1, 1, 1 } },
	};
	static const enum tn_dtype types[] = { TN_f32, TN_f16, TN_i16 };
	int i;

	(void)state;
	for (i = 0; i < 15; i++) {
		struct bench *b = bench_new();

		give(b, types[i % 3], SHAPE(3), VALUES(1, 1, 1));
		give(b, TN_i32, SHAPE(4), VALUES(0, 2, 0, 3));
		give(b, types[i % 3], SHAPE(4), VALUES(10, 20, 30, 40));
		with(b, tn_attr_string("combine", rows[i / 3].combine));
		run(b, TN_OP_scatter);
		expect(b, 0, SHAPE(3), rows[i / 3].values);
		assert_int_equal(b->eval.flags, TN_RAISED_INDEX);
		bench_free(b);
	}
}

static void test_scatter_forms(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(2, 2), VALUES(0, 0, 0, 0));
	give(b, TN_i64, SHAPE(2, 2), VALUES(0, 1, 1, 0));
	give(b, TN_f32, SHAPE(2), VALUES(5, 6));
	run(b, TN_OP_scatter_nd);
	expect(b, 0, SHAPE(2, 2), VALUES(0, 5, 6, 0));
	next(b);
	give(b, TN_f32, SHAPE(2, 2), VALUES(0, 0, 0, 0));
	give(b, TN_i64, SHAPE(2, 1), VALUES(1, 0));
	give(b, TN_f32, SHAPE(2, 1), VALUES(5, 6));
	with(b, tn_attr_int("axis", 1));
	run(b, TN_OP_scatter_along);
	expect(b, 0, SHAPE(2, 2), VALUES(0, 5, 6, 0));
	bench_free(b);
}

/* ---- Movement ------------------------------------------------------------ */

static void slice_of(struct bench *b, int64_t start, int64_t stop,
		     int64_t step)
{
	give(b, TN_i32, SHAPE(10), VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
	with_dims(b, "start", false, 1, &start);
	with_dims(b, "stop", false, 1, &stop);
	with(b, tn_attr_ints("step", 1, &step));
}

/* B54: what a negative step becomes, and steps beyond the end */
static void test_slice(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	slice_of(b, 0, 10, 3);
	run(b, TN_OP_slice);
	expect(b, 0, SHAPE(4), VALUES(0, 3, 6, 9));
	next(b);
	slice_of(b, 2, 10, INT64_C(1) << 40);
	run(b, TN_OP_slice);
	expect(b, 0, SHAPE(1), VALUES(2));
	next(b);
	slice_of(b, 5, 5, 1);
	run(b, TN_OP_slice);
	expect_shape(b, 0, SHAPE(0));
	next(b);
	give(b, TN_i32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
	with(b, INTS("axes", -1, 0));
	run(b, TN_OP_reverse);
	expect(b, 0, SHAPE(2, 3), VALUES(6, 5, 4, 3, 2, 1));
	bench_free(b);
}

static void test_movement(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_i16, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
	run(b, TN_OP_transpose);
	expect(b, 0, SHAPE(3, 2), VALUES(1, 4, 2, 5, 3, 6));
	next(b);
	give(b, TN_f32, SHAPE(2, 1), VALUES(1, 2));
	give(b, TN_f32, SCALAR, VALUES(9));
	with_dims(b, "pad", true, 4, (const int64_t[]){ 0, 1, 1, 0 });
	run(b, TN_OP_pad);
	expect(b, 0, SHAPE(3, 2), VALUES(9, 1, 9, 2, 9, 9));
	next(b);
	give(b, TN_f32, SHAPE(2, 1), VALUES(1, 2));
	give(b, TN_f32, SHAPE(2, 2), VALUES(3, 4, 5, 6));
	with(b, tn_attr_int("axis", 1));
	run(b, TN_OP_concat);
	expect(b, 0, SHAPE(2, 3), VALUES(1, 3, 4, 2, 5, 6));
	next(b);
	give(b, TN_f32, SHAPE(2, 1), VALUES(1, 2));
	with_dims(b, "shape", false, 3, (const int64_t[]){ 2, 2, 2 });
	run(b, TN_OP_broadcast);
	expect(b, 0, SHAPE(2, 2, 2), VALUES(1, 1, 2, 2, 1, 1, 2, 2));
	next(b);
	give(b, TN_f32, SHAPE(5), VALUES(1, 2, 3, 4, 5));
	with(b, INTS("axes", 0));
	with(b, INTS("size", 2));
	with(b, INTS("dilation", 2));
	run(b, TN_OP_window);
	expect(b, 0, SHAPE(3, 2), VALUES(1, 3, 2, 4, 3, 5));
	bench_free(b);
}

/* ---- Order and sources --------------------------------------------------- */

static void test_sort(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(5), VALUES(3, NOT, 1, 3, -INF));
	run(b, TN_OP_argsort);
	expect(b, 0, SHAPE(5), VALUES(4, 2, 0, 3, 1));
	next(b);
	give(b, TN_f32, SHAPE(5), VALUES(3, NOT, 1, 3, -INF));
	with(b, tn_attr_bool("descending", true));
	run(b, TN_OP_argsort);
	expect(b, 0, SHAPE(5), VALUES(1, 0, 3, 2, 4));
	next(b);
	give(b, TN_i8, SHAPE(3, 2), VALUES(3, 1, 2, 5, 1, 0));
	with(b, tn_attr_int("axis", 0));
	run(b, TN_OP_sort);
	expect(b, 0, SHAPE(3, 2), VALUES(1, 0, 2, 1, 3, 5));
	next(b);
	give(b, TN_f32, SHAPE(4), VALUES(2, 7, 7, 1));
	with(b, tn_attr_dim("k", constant(b, 3)));
	run(b, TN_OP_topk);
	expect(b, 0, SHAPE(3), VALUES(7, 7, 2));
	expect(b, 1, SHAPE(3), VALUES(1, 2, 0));
	bench_free(b);
}

static void test_sources(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	with_dims(b, "shape", false, 2, (const int64_t[]){ 2, 3 });
	with(b, tn_attr_int("axis", 1));
	run(b, TN_OP_iota);
	expect(b, 0, SHAPE(2, 3), VALUES(0, 1, 2, 0, 1, 2));
	next(b);
	with(b, tn_attr_dim("value", constant(b, 7)));
	with(b, tn_attr_dtype("elem", TN_f32));
	run(b, TN_OP_dim);
	expect(b, 0, SCALAR, VALUES(7));
	bench_free(b);
}

/* The first numbers of SplitMix64 from seed 0 are published. */
static void test_random(void **state)
{
	static const uint64_t known[] = {
		UINT64_C(0xe220a8397b1dcdaf), UINT64_C(0x6e789e6aa1b965f4),
		UINT64_C(0x06c45d188009454f),
	};
	static const enum tn_dtype types[] = {TN_f64, TN_f32, TN_f16, TN_bf16};
	int t, i;

	(void)state;
	for (t = 0; t < 4; t++) {
		struct bench *b = bench_new();

		with_dims(b, "shape", false, 1, (const int64_t[]){ 3000 });
		with(b, tn_attr_dtype("elem", types[t]));
		run(b, TN_OP_random);
		for (i = 0; i < 3000; i++) {
			double x = tn_tensor_get_f64(&b->out[0], i);

			assert_true(x >= -1 && x < 1);
			if (t == 0 && i < 3)
				assert_true(x == ldexp((double)(known[i] >>
							11), -53) * 2 - 1);
		}
		bench_free(b);
	}
}

static void test_table_defaults(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < TN_OP_COUNT; i++) {
		const struct tn_op_info *info = &tn_ops[i];

		assert_int_equal(tn_op_find(info->name), i);
		assert_true(info->doc[0] != '\0');
		assert_null(info->attrs[info->nattrs].name);
		assert_true(info->identity == TN_IDENTITY_NONE ||
			    info->combine != TN_OP_none);
	}
	assert_int_equal(tn_op_find("no such op"), TN_OP_none);
	for (i = 0; i < TN_DTYPE_COUNT; i++)
		assert_int_equal(tn_dtype_find(tn_dtypes[i].name), i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_gather),
		cmocka_unit_test(test_gather_forms),
		cmocka_unit_test(test_scatter),
		cmocka_unit_test(test_scatter_forms),
		cmocka_unit_test(test_slice),
		cmocka_unit_test(test_movement),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_table_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
