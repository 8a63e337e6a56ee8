/*
 * Host program for kernels.cu, as plain C as the back end's: launches by the
 * address of the kernel, each result against a loop.  Links with cudart and a
 * .cu compiled by nvcc, or with the stand-in.
 */
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void map_tail(const float *x, float *y, int64_t n);
void map_vector(const void *x, void *y, int n);
void map_place(unsigned *out);
void map_bf16(const float *x, uint16_t *y, int n);
void map_rounded(const float *a, float *twice, float *once, int n);
void reduce_rows(const float *x, float *y, int columns);
void warp_rows(const float *x, float *y, int rows);
void warp_segments(int *out);
void warp_half(double *out);
void scan_block(const int *x, int *y, int n);
void matmul_static(const float *a, const float *b, float *c, int m, int n,
		   int k);
void matmul_dynamic(const float *a, const float *b, float *c, int m, int n,
		    int k, int tile);
void histogram(const int *x, int *count, unsigned *flags, int *low, int *high,
	       int n);
void sum_atomic(const float *x, float *sum, int n);
void exit_early(const int *x, int *y, int n);
void math(const float *x, float *y, int n);
void nothing(void);

enum { MANY = 1 << 20, SIDE = 70 };

static dim3 shape(unsigned x, unsigned y, unsigned z)
{
	dim3 d = { x, y, z };

	return d;
}

static dim3 line(int n, int block)
{
	return shape((unsigned)((n + block - 1) / block), 1, 1);
}

static int map_tail_of(int n)
{
	const float scale[4] = { 1.0f, 0.5f, -2.0f, 3.0f };
	float *x = malloc((size_t)n * 4), *y = malloc((size_t)n * 4);
	float *got = malloc((size_t)n * 4);
	void *dx, *dy;
	int64_t count = n;
	void *arguments[] = { &dx, &dy, &count };
	int good;
	int i;

	check_fill(x, n, 1);
	check_fill(y, n, 2);
	dx = check_put(x, (size_t)n * 4);
	dy = check_put(y, (size_t)n * 4);
	good = check_launch(KERNEL(map_tail), line(n, 128), shape(128, 1, 1), 0,
			    arguments) &&
	       check_take(got, dy, (size_t)n * 4) && cudaFree(dx) == 0;
	for (i = 0; i < n && good; i++)
		good = got[i] == fmaf(scale[i % 4], x[i], y[i]);
	free(x);
	free(y);
	free(got);
	return good;
}

static int test_map_tail(void)
{
	static const int sizes[] = { 1, 3, 7, 13, 17, 127, 128, 129, 1000 };
	int good = 1;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		good &= map_tail_of(sizes[i]);
	return good;
}

static int test_map_many(void)
{
	return map_tail_of(MANY);
}

static int test_map_vector(void)
{
	float x[400], got[400];
	void *dx, *dy;
	int n = 100, good;
	void *arguments[] = { &dx, &dy, &n };
	int i;

	check_fill(x, 400, 3);
	dx = check_put(x, sizeof(x));
	dy = check_put(NULL, sizeof(x));
	good = check_launch(KERNEL(map_vector), line(n, 64), shape(64, 1, 1), 0,
			    arguments) &&
	       check_take(got, dy, sizeof(got)) && cudaFree(dx) == 0;
	for (i = 0; i < 400 && good; i++)
		good = got[i] == x[i / 4 * 4 + 3 - i % 4];
	return good;
}

static int test_map_place(void)
{
	enum { X = 3 * 5, Y = 2 * 7, Z = 4 * 3 };
	unsigned got[X * Y * Z];
	void *out = check_put(NULL, sizeof(got));
	void *arguments[] = { &out };
	int good = check_launch(KERNEL(map_place), shape(3, 2, 4),
				shape(5, 7, 3), 0, arguments) &&
		   check_take(got, out, sizeof(got));
	unsigned i;

	for (i = 0; i < X * Y * Z && good; i++)
		good = got[i] == (i % X | i / X % Y << 8 | i / X / Y << 16);
	return good;
}

static int test_map_bf16(void)
{
	static const float x[] = { 1.0f,	  -2.0f,
				   1.00390625f,	  1.01171875f,
				   3.3895314e38f, 0.0f,
				   INFINITY,	  NAN };
	static const uint16_t want[] = { 0x3f80, 0xc000, 0x3f80, 0x3f82,
					 0x7f7f, 0,	 0x7f80, 0x7fc0 };
	uint16_t got[8];
	void *dx = check_put(x, sizeof(x)), *dy = check_put(NULL, sizeof(got));
	int n = 8;
	void *arguments[] = { &dx, &dy, &n };

	return check_launch(KERNEL(map_bf16), line(n, 32), shape(32, 1, 1), 0,
			    arguments) &&
	       check_take(got, dy, sizeof(got)) && cudaFree(dx) == 0 &&
	       memcmp(got, want, sizeof(got)) == 0;
}

static int test_map_rounded(void)
{
	float x[64], twice[64], once[64];
	void *dx, *dt = check_put(NULL, sizeof(x)),
		  *d1 = check_put(NULL, sizeof(x));
	int n = 64, good, differ = 0;
	void *arguments[] = { &dx, &dt, &d1, &n };
	int i;

	for (i = 0; i < n; i++)
		x[i] = 1.0f + (float)(2 * i + 1) / 8388608.0f;
	dx = check_put(x, sizeof(x));
	good = check_launch(KERNEL(map_rounded), line(n, 32), shape(32, 1, 1),
			    0, arguments) &&
	       check_take(twice, dt, sizeof(x)) &&
	       check_take(once, d1, sizeof(x));
	for (i = 0; i < n && good; i++) {
		volatile float square = x[i] * x[i];
		good = twice[i] == square - 1.0f &&
		       once[i] == fmaf(x[i], x[i], -1.0f);
		differ += twice[i] != once[i];
	}
	return cudaFree(dx) == 0 && good && differ > 0;
}

/* Whole numbers and halves of this size add up exactly in any order. */
static int reduce_of(int rows, int columns)
{
	size_t count = (size_t)rows * (size_t)columns;
	float *x = malloc(count * 4), *got = malloc((size_t)rows * 4);
	void *dx, *dy;
	void *arguments[] = { &dx, &dy, &columns };
	int good;
	int i, j;

	check_fill(x, (int)count, 4);
	dx = check_put(x, count * 4);
	dy = check_put(NULL, (size_t)rows * 4);
	good = check_launch(KERNEL(reduce_rows), shape((unsigned)rows, 1, 1),
			    shape(256, 1, 1), 0, arguments) &&
	       check_take(got, dy, (size_t)rows * 4) && cudaFree(dx) == 0;
	for (i = 0; i < rows && good; i++) {
		float sum = 0.0f;
		for (j = 0; j < columns; j++)
			sum += x[i * columns + j];
		good = got[i] == sum;
	}
	free(x);
	free(got);
	return good;
}

static int test_reduce_rows(void)
{
	return reduce_of(1, 1) && reduce_of(3, 17) && reduce_of(5, 256) &&
	       reduce_of(40, 1000);
}

static int test_warp_rows(void)
{
	enum { ROWS = 13 };
	float x[ROWS * 32], got[ROWS * 32];
	void *dx, *dy = check_put(NULL, sizeof(got));
	int rows = ROWS, good;
	void *arguments[] = { &dx, &dy, &rows };
	int i, j;

	check_fill(x, ROWS * 32, 5);
	dx = check_put(x, sizeof(x));
	good = check_launch(KERNEL(warp_rows), line(rows, 4), shape(128, 1, 1),
			    0, arguments) &&
	       check_take(got, dy, sizeof(got)) && cudaFree(dx) == 0;
	for (i = 0; i < ROWS * 32 && good; i++) {
		float sum = 0.0f;
		for (j = 0; j < 32; j++)
			sum += x[i / 32 * 32 + j];
		good = got[i] == x[i] / sum;
	}
	return good;
}

static int test_warp_segments(void)
{
	int got[192], good;
	void *out = check_put(NULL, sizeof(got));
	void *arguments[] = { &out };
	int i;

	good = check_launch(KERNEL(warp_segments), shape(1, 1, 1),
			    shape(32, 1, 1), 0, arguments) &&
	       check_take(got, out, sizeof(got));
	for (i = 0; i < 32 && good; i++)
		good = got[i] == (i ^ 5) && got[32 + i] == i / 8 * 8 + 3 &&
		       got[64 + i] == (i % 8 >= 3 ? i - 3 : i) &&
		       got[96 + i] == (i % 8 < 5 ? i + 3 : i) &&
		       got[128 + i] == 0x49249249 && got[160 + i] == 5;
	return good;
}

static int test_warp_half(void)
{
	double got[16], sum = 0.0;
	void *out = check_put(NULL, sizeof(got));
	void *arguments[] = { &out };
	int good = check_launch(KERNEL(warp_half), shape(1, 1, 1),
				shape(32, 1, 1), 0, arguments) &&
		   check_take(got, out, sizeof(got));
	int i;

	for (i = 0; i < 16; i++)
		sum += 1.0 / (1 + i);
	for (i = 0; i < 16 && good; i++)
		good = fabs(got[i] - sum) <= 16 * 2.3e-16 * sum;
	return good;
}

static int test_scan_block(void)
{
	int x[777], got[777], sum = 0, n = 777, good;
	void *dx, *dy = check_put(NULL, sizeof(got));
	void *arguments[] = { &dx, &dy, &n };
	int i;

	for (i = 0; i < n; i++)
		x[i] = i * i % 101 - 50;
	dx = check_put(x, sizeof(x));
	good = check_launch(KERNEL(scan_block), shape(1, 1, 1),
			    shape(1024, 1, 1), 0, arguments) &&
	       check_take(got, dy, sizeof(got)) && cudaFree(dx) == 0;
	for (i = 0; i < n && good; i++) {
		sum += x[i];
		good = got[i] == sum;
	}
	return good;
}

static int is_product(const float *a, const float *b, const float *c, int m,
		      int n, int k)
{
	int i, j;

	for (i = 0; i < m * n; i++) {
		float sum = 0.0f;
		for (j = 0; j < k; j++)
			sum = fmaf(a[i / n * k + j], b[j * n + i % n], sum);
		if (c[i] != sum)
			return 0;
	}
	return 1;
}

/* tile 0 takes the kernel with static tiles of 16. */
static int matmul_of(int m, int n, int k, int tile)
{
	float a[SIDE * SIDE], b[SIDE * SIDE], c[SIDE * SIDE];
	int t = tile > 0 ? tile : 16;
	size_t shared = 2 * (size_t)tile * (size_t)tile * sizeof(float);
	dim3 grid = shape(line(n, t).x, line(m, t).x, 1);
	dim3 block = shape((unsigned)t, (unsigned)t, 1);
	void *da, *db, *dc;
	void *arguments[] = { &da, &db, &dc, &m, &n, &k, &tile };
	const void *kernel =
		tile > 0 ? KERNEL(matmul_dynamic) : KERNEL(matmul_static);

	check_fill(a, m * k, 6);
	check_fill(b, k * n, 7);
	da = check_put(a, (size_t)(m * k) * 4);
	db = check_put(b, (size_t)(k * n) * 4);
	dc = check_put(NULL, (size_t)(m * n) * 4);
	return check_launch(kernel, grid, block, shared, arguments) &&
	       check_take(c, dc, (size_t)(m * n) * 4) && cudaFree(da) == 0 &&
	       cudaFree(db) == 0 && is_product(a, b, c, m, n, k);
}

static int test_matmul_static(void)
{
	return matmul_of(1, 1, 1, 0) && matmul_of(16, 16, 16, 0) &&
	       matmul_of(17, 13, 7, 0) && matmul_of(SIDE, 33, SIDE, 0);
}

static int test_matmul_dynamic(void)
{
	return matmul_of(1, 3, 7, 4) && matmul_of(17, 13, 31, 8) &&
	       matmul_of(SIDE, SIDE, SIDE, 32);
}

static int test_histogram(void)
{
	enum { COUNT = 5000 };
	int x[COUNT], got[16], want[16] = { 0 }, limit[2] = { 0, 0 };
	unsigned flags = 0, want_flags = 0;
	int n = COUNT, low = 0, high = 0, good;
	void *dx, *dc = check_put(NULL, sizeof(got));
	void *df = check_put(NULL, sizeof(flags));
	void *dl = check_put(NULL, 4), *dh = check_put(NULL, 4);
	void *arguments[] = { &dx, &dc, &df, &dl, &dh, &n };
	int i;

	for (i = 0; i < n; i++) {
		x[i] = i * 7 % 19 - 1;
		if (x[i] >= 0 && x[i] < 16)
			want[x[i]]++;
		else
			want_flags |= x[i] < 0 ? 1u : 2u;
		low = x[i] < low ? x[i] : low;
		high = x[i] > high ? x[i] : high;
	}
	dx = check_put(x, sizeof(x));
	good = check_launch(KERNEL(histogram), line(n, 96), shape(96, 1, 1), 0,
			    arguments) &&
	       check_take(got, dc, sizeof(got)) &&
	       check_take(&flags, df, sizeof(flags)) &&
	       check_take(&limit[0], dl, 4) && check_take(&limit[1], dh, 4) &&
	       cudaFree(dx) == 0;
	return good && memcmp(got, want, sizeof(got)) == 0 &&
	       flags == want_flags && limit[0] == low && limit[1] == high;
}

static int test_sum_atomic(void)
{
	float x[1000], got = -1.0f, sum = 0.0f;
	void *dx, *ds = check_put(NULL, 4);
	int n = 1000, good;
	void *arguments[] = { &dx, &ds, &n };
	int i;

	check_fill(x, n, 8);
	dx = check_put(x, sizeof(x));
	good = check_launch(KERNEL(sum_atomic), line(n, 256), shape(256, 1, 1),
			    0, arguments) &&
	       check_take(&got, ds, 4) && cudaFree(dx) == 0;
	for (i = 0; i < n; i++)
		sum += x[i];
	return good && got == sum;
}

static int test_exit_early(void)
{
	int x[64], got[64], n = 41, good;
	void *dx, *dy = check_put(NULL, sizeof(got));
	void *arguments[] = { &dx, &dy, &n };
	int i;

	for (i = 0; i < 64; i++)
		x[i] = i * 3;
	dx = check_put(x, sizeof(x));
	good = check_launch(KERNEL(exit_early), shape(1, 1, 1), shape(64, 1, 1),
			    0, arguments) &&
	       check_take(got, dy, sizeof(got)) && cudaFree(dx) == 0;
	for (i = 0; i < 64 && good; i++)
		good = got[i] == (i < n ? x[n - 1 - i] : 0);
	return good;
}

/* Seven terms, each within 2 ulp of at most 8 by magnitude. */
static int test_math(void)
{
	float x[101], got[101];
	void *dx, *dy = check_put(NULL, sizeof(got));
	int n = 101, good;
	void *arguments[] = { &dx, &dy, &n };
	int i;

	for (i = 0; i < n; i++)
		x[i] = (float)(i - 50) / 25.0f;
	dx = check_put(x, sizeof(x));
	good = check_launch(KERNEL(math), line(n, 64), shape(64, 1, 1), 0,
			    arguments) &&
	       check_take(got, dy, sizeof(got)) && cudaFree(dx) == 0;
	for (i = 0; i < n && good; i++) {
		double v = x[i];
		double want = erf(v) + exp(-v) + tanh(v) +
			      1.0 / sqrt(1.0 + v * v) + fmax(v, 0.0) +
			      sqrt(fabs(v)) + log1p(fabs(v));
		good = fabs(got[i] - want) <= 14 * 4.8e-7;
	}
	return good;
}

static int test_nothing(void)
{
	return check_launch(KERNEL(nothing), shape(2, 2, 2), shape(1024, 1, 1),
			    0, NULL);
}

/* A launch that the device refuses runs nothing and is reported once. */
static int test_refused_shape(void)
{
	dim3 one = shape(1, 1, 1);
	int good = 1;

	good &= cudaLaunchKernel(KERNEL(nothing), one, shape(1025, 1, 1), NULL,
				 0, NULL) != cudaSuccess;
	good &= cudaGetLastError() != cudaSuccess;
	good &= cudaGetLastError() == cudaSuccess;
	good &= cudaLaunchKernel(KERNEL(nothing), shape(0, 1, 1), one, NULL, 0,
				 NULL) == cudaErrorInvalidConfiguration;
	good &= cudaLaunchKernel(KERNEL(nothing), shape(1, 65536, 1), one, NULL,
				 0, NULL) != cudaSuccess;
	cudaGetLastError();
	return good && cudaDeviceSynchronize() == cudaSuccess;
}

static const struct check_case cases[] = {
	{ "map_tail", test_map_tail },
	{ "map_many", test_map_many },
	{ "map_vector", test_map_vector },
	{ "map_place", test_map_place },
	{ "map_bf16", test_map_bf16 },
	{ "map_rounded", test_map_rounded },
	{ "reduce_rows", test_reduce_rows },
	{ "warp_rows", test_warp_rows },
	{ "warp_segments", test_warp_segments },
	{ "warp_half", test_warp_half },
	{ "scan_block", test_scan_block },
	{ "matmul_static", test_matmul_static },
	{ "matmul_dynamic", test_matmul_dynamic },
	{ "histogram", test_histogram },
	{ "sum_atomic", test_sum_atomic },
	{ "exit_early", test_exit_early },
	{ "math", test_math },
	{ "nothing", test_nothing },
	{ "refused_shape", test_refused_shape },
};

int main(void)
{
	return check_main(cases, (int)(sizeof(cases) / sizeof(*cases)));
}
