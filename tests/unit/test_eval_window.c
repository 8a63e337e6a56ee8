/*
 * Exact results of the reference: contractions, convolutions, pools and
 * resampling; the latter against their definitions.
 */
#include "ops.h"

#define NOT ((double)NAN)

/* ---- Contractions -------------------------------------------------------- */

/* B60 */
static void test_matmul_wide_sums(void **state)
{
	int64_t k;
	int i;

	(void)state;
	for (k = 2; k < 68; k++) {
		struct bench *b = bench_new();
		int64_t left[] = { 3, k }, right[] = { k, 9 };
		struct tn_tensor *x = give(b, TN_i32, 2, left, NULL);
		struct tn_tensor *y = give(b, TN_i32, 2, right, NULL);

		for (i = 0; i < 3 * k; i++)
			tn_tensor_set_i64(x, i, 255);
		for (i = 0; i < 9 * k; i++)
			tn_tensor_set_i64(y, i, 127);
		run(b, TN_OP_matmul);
		for (i = 0; i < 27; i++)
			assert_int_equal(tn_tensor_get_i64(&b->out[0], i),
					 32385 * k);
		bench_free(b);
	}
}

static void test_matmul_ranks(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(2), VALUES(1, 2));
	give(b, TN_f32, SHAPE(2), VALUES(3, 4));
	run(b, TN_OP_matmul);
	expect(b, 0, SCALAR, VALUES(11));
	next(b);
	give(b, TN_f32, SHAPE(2), VALUES(1, 2));
	give(b, TN_f32, SHAPE(2, 2, 1), VALUES(1, 2, 3, 4));
	run(b, TN_OP_matmul);
	expect(b, 0, SHAPE(2, 1), VALUES(5, 11));
	next(b);
	give(b, TN_f64, SHAPE(2, 1, 1, 2), VALUES(1, 2, 3, 4));
	give(b, TN_f64, SHAPE(2, 2, 1), VALUES(1, 1, 2, 2));
	run(b, TN_OP_matmul);
	expect(b, 0, SHAPE(2, 2, 1, 1), VALUES(3, 6, 7, 14));
	next(b);
	give(b, TN_f32, SHAPE(2, 0), NULL);
	give(b, TN_f32, SHAPE(0, 3), NULL);
	run(b, TN_OP_matmul);
	expect(b, 0, SHAPE(2, 3), VALUES(0, 0, 0, 0, 0, 0));
	bench_free(b);
}

static void test_einsum(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(2, 2), VALUES(1, 2, 3, 4));
	with(b, tn_attr_string("spec", "ii->i"));
	run(b, TN_OP_einsum);
	expect(b, 0, SHAPE(2), VALUES(1, 4));
	next(b);
	give(b, TN_f32, SHAPE(2, 3), VALUES(1, 2, 3, 4, 5, 6));
	with(b, tn_attr_string("spec", "ij -> ji"));
	run(b, TN_OP_einsum);
	expect(b, 0, SHAPE(3, 2), VALUES(1, 4, 2, 5, 3, 6));
	next(b);
	give(b, TN_f32, SHAPE(2), VALUES(1, 2));
	give(b, TN_f32, SHAPE(2), VALUES(3, 4));
	give(b, TN_f32, SHAPE(2), VALUES(5, 6));
	with(b, tn_attr_string("spec", "i,i,j->j"));
	run(b, TN_OP_einsum);
	expect(b, 0, SHAPE(2), VALUES(55, 66));
	next(b);
	give(b, TN_f32, SHAPE(2, 1, 2), VALUES(1, 2, 3, 4));
	give(b, TN_f32, SHAPE(2, 2), VALUES(1, 0, 0, 2));
	with(b, tn_attr_string("spec", "...k,nk->...n"));
	run(b, TN_OP_einsum);
	expect(b, 0, SHAPE(2, 1, 2), VALUES(1, 4, 3, 8));
	bench_free(b);
}

/* ---- Windows ------------------------------------------------------------- */

static void test_conv(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_i32, SHAPE(1, 1, 3, 3), VALUES(-4, -3, -2, -1, 0, 1, 2, 3,
						 4));
	give(b, TN_i32, SHAPE(1, 1, 2, 2), VALUES(1, 1, 1, 1));
	run(b, TN_OP_conv);
	expect(b, 0, SHAPE(1, 1, 2, 2), VALUES(-8, -4, 4, 8));
	next(b);
	give(b, TN_f32, SHAPE(1, 2, 4), VALUES(1, 2, 3, 4, 5, 6, 7, 8));
	give(b, TN_f32, SHAPE(2, 1, 2), VALUES(1, 10, 1, -1));
	give(b, TN_f32, SHAPE(2), VALUES(100, 200));
	with(b, tn_attr_int("groups", 2));
	with_dims(b, "pad", true, 2, (const int64_t[]){ 1, 2 });
	with(b, INTS("stride", 2));
	with(b, INTS("dilation", 2));
	run(b, TN_OP_conv);
	expect(b, 0, SHAPE(1, 2, 3), VALUES(120, 142, 104, 194, 198, 208));
	bench_free(b);
}

/* B31 */
static void test_conv_transpose(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(1, 1, 2, 2), VALUES(2, 3, 4, 5));
	give(b, TN_f32, SHAPE(1, 1, 3, 3), VALUES(2, 3, 4, 5, 6, 7, 8, 9, 10));
	with_dims(b, "pad", true, 4, (const int64_t[]){ 1, 1, 1, 1 });
	run(b, TN_OP_conv_transpose);
	expect(b, 0, SHAPE(1, 1, 2, 2), VALUES(49, 63, 91, 105));
	next(b);
	give(b, TN_f32, SHAPE(1, 1, 2, 2), VALUES(1, 2, 3, 4));
	give(b, TN_f32, SHAPE(1, 1, 2, 2), VALUES(1, 1, 1, 1));
	with(b, INTS("stride", 3));
	with(b, INTS("output_pad", 1));
	run(b, TN_OP_conv_transpose);
	expect(b, 0, SHAPE(1, 1, 6, 6),
	       VALUES(1, 1, 0, 2, 2, 0, 1, 1, 0, 2, 2, 0, 0, 0, 0, 0, 0, 0,
		      3, 3, 0, 4, 4, 0, 3, 3, 0, 4, 4, 0, 0, 0, 0, 0, 0, 0));
	bench_free(b);
}

/* ---- Convolutions of random geometry ------------------------------------- */

/* Sizes of one trial in two spatial axes. */
struct geometry {
	int64_t n, groups, in, out;	/* channels of a group */
	int64_t size[2], taps[2], stride[2], dilation[2], pad[4], result[2];
};

static int64_t pick(uint64_t *state, int64_t lo, int64_t hi)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return lo + (int64_t)((*state >> 33) % (uint64_t)(hi - lo + 1));
}

static void pick_geometry(uint64_t *state, struct geometry *g)
{
	int i;

	g->n = pick(state, 1, 2);
	g->groups = pick(state, 1, 3);
	g->in = pick(state, 1, 3);
	g->out = pick(state, 1, 3);
	for (i = 0; i < 2; i++) {
		g->taps[i] = pick(state, 1, 4);
		g->stride[i] = pick(state, 1, 3);
		g->dilation[i] = pick(state, 1, 3);
		g->pad[2 * i] = pick(state, 0, 4);
		g->pad[2 * i + 1] = pick(state, 0, 4);
		g->size[i] = (g->taps[i] - 1) * g->dilation[i] + 1 +
			     pick(state, 0, 6);
		g->result[i] = (g->size[i] + g->pad[2 * i] +
				g->pad[2 * i + 1] - g->dilation[i] *
				(g->taps[i] - 1) - 1) / g->stride[i] + 1;
	}
}

static struct tn_tensor *give_random(struct bench *b, uint64_t *state,
				     int rank, const int64_t *shape)
{
	struct tn_tensor *tensor = give(b, TN_i32, rank, shape, NULL);
	int64_t count = tn_tensor_count(tensor);
	int64_t i;

	for (i = 0; i < count; i++)
		tn_tensor_set_i64(tensor, i, pick(state, -9, 9));
	return tensor;
}

static void with_geometry(struct bench *b, const struct geometry *g)
{
	with(b, tn_attr_ints("stride", 2, g->stride));
	with(b, tn_attr_ints("dilation", 2, g->dilation));
	with_dims(b, "pad", true, 4, g->pad);
}

static int64_t at4(const struct tn_tensor *t, int64_t a, int64_t b, int64_t c,
		   int64_t d)
{
	return tn_tensor_get_i64(t, ((a * t->shape[1] + b) * t->shape[2] + c) *
				    t->shape[3] + d);
}

/* One result of conv by its definition. */
static int64_t naive(const struct geometry *g, const struct tn_tensor *x,
		     const struct tn_tensor *w, const int64_t *at)
{
	int64_t sum = 0, group = at[1] / g->out;
	int64_t c, k;

	for (c = 0; c < g->in; c++) {
		for (k = 0; k < g->taps[0] * g->taps[1]; k++) {
			int64_t ky = k / g->taps[1], kx = k % g->taps[1];
			int64_t y = at[2] * g->stride[0] - g->pad[0] +
				    ky * g->dilation[0];
			int64_t z = at[3] * g->stride[1] - g->pad[2] +
				    kx * g->dilation[1];

			if (y >= 0 && y < g->size[0] && z >= 0 &&
			    z < g->size[1])
				sum += at4(x, at[0], group * g->in + c, y, z) *
				       at4(w, at[1], c, ky, kx);
		}
	}
	return sum;
}

static int64_t inner_product(const struct tn_tensor *a,
			     const struct tn_tensor *b)
{
	int64_t count = tn_tensor_count(a), sum = 0;
	int64_t i;

	assert_int_equal(tn_tensor_count(b), count);
	for (i = 0; i < count; i++)
		sum += tn_tensor_get_i64(a, i) * tn_tensor_get_i64(b, i);
	return sum;
}

/* conv by its definition; conv_transpose is its adjoint: <conv(x), y> equals
 * <x, conv_transpose(y)>. */
static void check_geometry(uint64_t *state, const struct geometry *g)
{
	int64_t m = g->groups * g->out, c = g->groups * g->in;
	int64_t xs[] = { g->n, c, g->size[0], g->size[1] };
	int64_t ws[] = { m, g->in, g->taps[0], g->taps[1] };
	int64_t ys[] = { g->n, m, g->result[0], g->result[1] };
	int64_t output_pad[2], place[4] = { 0 }, at = 0;
	struct bench *b = bench_new(), *t = bench_new();
	struct tn_tensor *x = give_random(b, state, 4, xs);
	struct tn_tensor *w = give_random(b, state, 4, ws), *y, *v;
	int i;

	with_geometry(b, g);
	with(b, tn_attr_int("groups", g->groups));
	run(b, TN_OP_conv);
	expect_shape(b, 0, 4, ys);
	for (place[0] = 0; place[0] < ys[0]; place[0]++)
		for (place[1] = 0; place[1] < ys[1]; place[1]++)
			for (place[2] = 0; place[2] < ys[2]; place[2]++)
				for (place[3] = 0; place[3] < ys[3];
				     place[3]++)
					assert_int_equal(naive(g, x, w, place),
						tn_tensor_get_i64(&b->out[0],
								  at++));
	y = give_random(t, state, 4, ys);
	v = give(t, TN_i32, 4, ws, NULL);
	memcpy(v->data, w->data, (size_t)tn_tensor_bytes(w));
	for (i = 0; i < 2; i++)
		output_pad[i] = g->size[i] - ((g->result[i] - 1) *
			g->stride[i] - g->pad[2 * i] - g->pad[2 * i + 1] +
			g->dilation[i] * (g->taps[i] - 1) + 1);
	with_geometry(t, g);
	with(t, tn_attr_int("groups", g->groups));
	with(t, tn_attr_ints("output_pad", 2, output_pad));
	run(t, TN_OP_conv_transpose);
	expect_shape(t, 0, 4, xs);
	assert_int_equal(inner_product(&b->out[0], y),
			 inner_product(x, &t->out[0]));
	bench_free(b);
	bench_free(t);
}

static void test_conv_geometry(void **state)
{
	uint64_t seed = 7;
	struct geometry g;
	int i;

	(void)state;
	for (i = 0; i < 150; i++) {
		pick_geometry(&seed, &g);
		check_geometry(&seed, &g);
	}
}

/* B29: what an importer makes of ceil mode. */
static void test_avgpool(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(1, 1, 6), VALUES(1, 2, 3, 4, 5, 6));
	with(b, INTS("size", 3));
	with(b, INTS("stride", 2));
	with_dims(b, "pad", true, 2, (const int64_t[]){ 1, 2 });
	run(b, TN_OP_avgpool);
	expect(b, 0, SHAPE(1, 1, 4), VALUES(1.5, 3, 5, 6));
	next(b);
	give(b, TN_f32, SHAPE(1, 1, 8), VALUES(0, 1, 2, 3, 4, 5, 6, 0));
	with(b, INTS("size", 3));
	with(b, INTS("stride", 2));
	with_dims(b, "pad", true, 2, (const int64_t[]){ 0, 1 });
	run(b, TN_OP_avgpool);
	expect(b, 0, SHAPE(1, 1, 4), VALUES(1, 3, 5, 3));
	next(b);
	give(b, TN_f32, SHAPE(1, 1, 1), VALUES(4));
	with(b, INTS("size", 2));
	with(b, INTS("stride", 2));
	with_dims(b, "pad", true, 2, (const int64_t[]){ 2, 1 });
	run(b, TN_OP_avgpool);
	expect(b, 0, SHAPE(1, 1, 2), VALUES(NOT, 4));
	next(b);
	give(b, TN_f32, SHAPE(1, 1, 1), VALUES(4));
	with(b, INTS("size", 2));
	with(b, INTS("stride", 2));
	with_dims(b, "pad", true, 2, (const int64_t[]){ 2, 1 });
	with(b, tn_attr_string("count", "pad"));
	run(b, TN_OP_avgpool);
	expect(b, 0, SHAPE(1, 1, 2), VALUES(0, 2));
	bench_free(b);
}

/* B33, and NaN in a window */
static void test_maxpool(void **state)
{
	static const enum tn_dtype types[] = { TN_f32, TN_f16, TN_i8 };
	int i;

	(void)state;
	for (i = 0; i < 3; i++) {
		struct bench *b = bench_new();

		give(b, types[i], SHAPE(1, 1, 4), VALUES(-5, -3, -7, -2));
		with(b, INTS("size", 3));
		with(b, INTS("stride", 2));
		with_dims(b, "pad", true, 2, (const int64_t[]){ 1, 1 });
		run(b, TN_OP_maxpool);
		expect(b, 0, SHAPE(1, 1, 2), VALUES(-3, -2));
		next(b);
		give(b, types[i], SHAPE(2), VALUES(-5, -3));
		run(b, TN_OP_reduce_max);
		expect(b, 0, SCALAR, VALUES(-3));
		bench_free(b);
	}
}

static void test_maxpool_nan(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SHAPE(1, 1, 2, 3), VALUES(1, NOT, 3, 4, 5, 6));
	with(b, INTS("size", 2, 2));
	run(b, TN_OP_maxpool);
	expect(b, 0, SHAPE(1, 1, 1, 2), VALUES(NOT, NOT));
	bench_free(b);
}

static void expect_resize(const char *mode, const char *coord,
			  const char *round, int64_t m, int64_t n,
			  const double *want)
{
	struct bench *b = bench_new();
	struct tn_tensor *x = give(b, TN_f32, 1, &m, NULL);
	int64_t i;

	for (i = 0; i < m; i++)
		tn_tensor_set_i64(x, i, i);
	with_dims(b, "shape", false, 1, &n);
	with(b, tn_attr_string("mode", mode));
	with(b, tn_attr_string("coord", coord));
	with(b, tn_attr_string("round", round));
	run(b, TN_OP_resize);
	expect(b, 0, 1, &n, want);
	bench_free(b);
}

/* B56 */
static void test_resize(void **state)
{
	(void)state;
	expect_resize("nearest", "half_pixel", "prefer_ceil", 20, 6,
		      VALUES(1, 5, 8, 11, 15, 18));
	expect_resize("nearest", "half_pixel", "prefer_floor", 20, 6,
		      VALUES(1, 4, 8, 11, 14, 18));
	expect_resize("nearest", "align_corners", "floor", 20, 1, VALUES(0));
	expect_resize("nearest", "asymmetric", "floor", 2, 4,
		      VALUES(0, 0, 1, 1));
	expect_resize("linear", "half_pixel", "floor", 2, 4,
		      VALUES(0, 0.25, 0.75, 1));
	expect_resize("linear", "align_corners", "floor", 3, 5,
		      VALUES(0, 0.5, 1, 1.5, 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_matmul_wide_sums),
		cmocka_unit_test(test_matmul_ranks),
		cmocka_unit_test(test_einsum),
		cmocka_unit_test(test_conv),
		cmocka_unit_test(test_conv_transpose),
		cmocka_unit_test(test_conv_geometry),
		cmocka_unit_test(test_avgpool),
		cmocka_unit_test(test_maxpool),
		cmocka_unit_test(test_maxpool_nan),
		cmocka_unit_test(test_resize),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
