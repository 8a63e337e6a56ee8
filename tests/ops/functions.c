/*
 * Holds one emitted function of f32 against the C library in double, over all
 * floats in steps. Built by functions.py with
 *   -DHEADER='"f.h"' -DEXACT=exp -DBOUND=1.0 -DSTEP=97
 * and the emitted f.c, which maps f32[1024] to f32[1024]. Prints the greatest
 * error in ulps and a sum over the bits of all results; exit 1 beyond BOUND.
 */
#include HEADER

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1024 };

static double worst;
static float where;
static uint64_t sum;

/* Infinities, NaN and zeros must be met, with their signs. */
static double error(float x, float y)
{
	double exact = EXACT((double)x);
	int exponent;

	if (exact != exact)
		return y != y ? 0 : INFINITY;
	if (isinf((float)exact) && isinf(y))
		return !signbit(exact) == !signbit(y) ? 0 : INFINITY;
	if (exact == 0)
		return y == 0 && !signbit(exact) == !signbit(y) ? 0 : INFINITY;
	frexp(exact, &exponent);
	if (exponent < -125)
		exponent = -125;
	return fabs((double)y - exact) / ldexp(1, exponent - 24);
}

static void hold(const float *x, const float *y)
{
	uint32_t bits;
	double off;
	int i;

	for (i = 0; i < N; i++) {
		off = error(x[i], y[i]);
		if (off > worst) {
			worst = off;
			where = x[i];
		}
		memcpy(&bits, &y[i], 4);
		sum = sum * 31 + (y[i] == y[i] ? bits : 1);
	}
}

int main(void)
{
	static float x[N], y[N];
	static const float special[] = { 0.0f, -0.0f, INFINITY, -INFINITY, NAN,
		88.7228394f, 88.72284f, -103.97f, -103.98f, -87.4f, 0.625f };
	const void *inputs[1];
	void *outputs[1], *space = malloc(f_ARENA_BYTES + 64);
	int64_t dims[1] = { 0 };
	struct f_ctx ctx;
	uint64_t at = 0;
	uint32_t bits;
	size_t i;

	inputs[0] = x;
	outputs[0] = y;
	memset(&ctx, 0, sizeof(ctx));
	if (!space || f_init(&ctx, NULL, 0))
		return 2;
	memcpy(x, special, sizeof(special));
	i = sizeof(special) / sizeof(*special);
	while (at >> 32 == 0) {
		for (; i < N; i++, at += STEP) {
			bits = (uint32_t)at;
			memcpy(&x[i], &bits, 4);
		}
		if (f_run(&ctx, inputs, dims, outputs, space))
			return 2;
		hold(x, y);
		i = 0;
	}
	printf("%.4f ulp at %a, bits %016llx\n", worst, (double)where,
	       (unsigned long long)sum);
	return worst < BOUND ? 0 : 1;
}
