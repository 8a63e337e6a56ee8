/*
 * Times one emitted function over rows on one thread, beside a copy of the same
 * elements.
 *
 * Built by rows.sh with the folder that `tenon emit` wrote:
 *   -DHEADER='"NAME.h"' -DNAME=NAME -DROWS=1536 -DCOLUMNS=128
 *   -DNORM (layernorm with its gain and bias) or not (softmax)
 * Prints "copy median best" in 1e9 elements a second of thread CPU time, rounds
 * of both taking turns. Checks every result against sums in double.
 */
#define _POSIX_C_SOURCE 200809L

#include HEADER

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "clock.h"

#define PASTE(a, b) a##b
#define JOIN(a, b) PASTE(a, b)
#define OF(suffix) JOIN(NAME, suffix)

enum { ROUNDS = 60, ELEMENTS = ROWS * COLUMNS, TURNS = 400000 / ELEMENTS + 1 };

#ifdef NORM
static double expected(const float *x, const float *g, const float *b, int at)
{
	double mean = 0, square = 0;
	int j;

	for (j = 0; j < COLUMNS; j++)
		mean += (double)x[j] / COLUMNS;
	for (j = 0; j < COLUMNS; j++)
		square += (x[j] - mean) * (x[j] - mean) / COLUMNS;
	return (x[at] - mean) / sqrt(square + 1e-5) * g[at] + b[at];
}
#else
static double expected(const float *x, const float *g, const float *b, int at)
{
	double sum = 0;
	int j;

	(void)g;
	(void)b;
	for (j = 0; j < COLUMNS; j++)
		sum += exp((double)x[j]);
	return exp((double)x[at]) / sum;
}
#endif

static int check(const float *x, const float *g, const float *b,
		 const float *y)
{
	double right;
	int i, at, row;

	for (i = 0; i < 2000; i++) {
		at = rand() % ELEMENTS;
		row = at / COLUMNS * COLUMNS;
		right = expected(x + row, g, b, at - row);
		if (!(fabs(y[at] - right) < 2e-6 + 2e-5 * fabs(right))) {
			fprintf(stderr, "element %d is %g, not %g\n", at,
				(double)y[at], right);
			return 1;
		}
	}
	return 0;
}

int main(void)
{
	static double time_of[ROUNDS];
	float *x = fresh(ELEMENTS, 8), *g = fresh(COLUMNS, 8), *b = fresh(COLUMNS, 8);
	float *y = fresh(ELEMENTS, 8), *z = fresh(ELEMENTS, 8);
	const void *inputs[3];
	void *outputs[1], *space;
	double copy = 0, start, done;
	int64_t dims[1] = { 0 };
	struct OF(_ctx) ctx;
	int i, k;

	inputs[0] = x;
	inputs[1] = g;
	inputs[2] = b;
	outputs[0] = y;
	space = fresh((size_t)OF(_ARENA_BYTES) / 4 + 16, 8);
	memset(&ctx, 0, sizeof(ctx));
	if (OF(_init)(&ctx, NULL, 0))
		return 1;
	ctx.threads = 1;
	for (i = 0; i < ROUNDS; i++) {
		start = now();
		for (k = 0; k < TURNS; k++) {
			memcpy(z, x, ELEMENTS * sizeof(*x));
			__asm__ volatile("" : : "r"(z) : "memory");
		}
		done = 1e-9 * TURNS * ELEMENTS / (now() - start);
		copy = done > copy ? done : copy;
		start = now();
		for (k = 0; k < TURNS; k++)
			if (OF(_run)(&ctx, inputs, dims, outputs, space))
				return 1;
		time_of[i] = (now() - start) / TURNS;
	}
	qsort(time_of, ROUNDS, sizeof(*time_of), by_value);
	printf("%.2f %.2f %.2f\n", copy, 1e-9 * ELEMENTS / time_of[ROUNDS / 2],
	       1e-9 * ELEMENTS / time_of[0]);
	return check(x, g, b, y);
}
