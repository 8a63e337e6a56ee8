/*
 * Times one emitted kernel beside the FMA peak of this CPU, on one thread.
 *
 * Built by kernels.sh with the folder that `tenon emit` wrote:
 *   -DHEADER='"NAME.h"' -DNAME=NAME -DISA=512 (or 256: width of the probe)
 *   -DCONV (3x3 convolution) or not (matrix product)
 * Prints "peak median best" in GF/s, each the work of the kernel's definition
 * over thread CPU time, rounds of probe and kernel taking turns. Checks sampled
 * results against sums in double.
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

enum { ROUNDS = 60 };

#ifdef CONV
enum { X = 58 * 58 * 64, W = 9 * 64 * 64, Y = 56 * 56 * 64 };
static const double work = 2.0 * 9 * 64 * Y;

static double expected(const float *x, const float *w, int at)
{
	int o = at % 64, q = at / 64 % 56, h = at / (64 * 56), r, s, c;
	double sum = 0;

	for (r = 0; r < 3; r++)
		for (s = 0; s < 3; s++)
			for (c = 0; c < 64; c++)
				sum += (double)x[((h + r) * 58 + q + s) * 64
						 + c] *
					w[((r * 3 + s) * 64 + c) * 64 + o];
	return sum;
}
#else
enum { X = 128 * 768, W = 768 * 768, Y = 128 * 768 };
static const double work = 2.0 * 768 * Y;

static double expected(const float *x, const float *w, int at)
{
	double sum = 0;
	int k;

	for (k = 0; k < 768; k++)
		sum += (double)x[at / 768 * 768 + k] * w[k * 768 + at % 768];
	return sum;
}
#endif

static int check(const float *x, const float *w, const float *y)
{
	int i, at;

	for (i = 0; i < 5000; i++) {
		at = i < 2000 ? i : rand() % Y;
		if (!(fabs(y[at] - expected(x, w, at)) < 2e-4)) {
			fprintf(stderr, "element %d is %g, not %g\n", at,
				(double)y[at], expected(x, w, at));
			return 1;
		}
	}
	return 0;
}

int main(void)
{
	static double time_of[ROUNDS];
	float *x = fresh(X, 1), *w = fresh(W, 1), *y = fresh(Y, 1);
	const void *inputs[2];
	void *outputs[1], *space;
	double peak = 0, start, done;
	int64_t dims[1] = { 0 };
	struct OF(_ctx) ctx;
	int i;

	inputs[0] = x;
	inputs[1] = w;
	outputs[0] = y;
	space = fresh((size_t)OF(_ARENA_BYTES) / 4 + 16, 1);
	memset(&ctx, 0, sizeof(ctx));
	if (OF(_init)(&ctx, NULL, 0))
		return 1;
	ctx.threads = 1;
	for (i = 0; i < ROUNDS; i++) {
		start = now();
		done = probe();
		done /= now() - start;
		peak = done > peak ? done : peak;
		start = now();
		if (OF(_run)(&ctx, inputs, dims, outputs, space))
			return 1;
		time_of[i] = now() - start;
	}
	qsort(time_of, ROUNDS, sizeof(*time_of), by_value);
	printf("%.1f %.1f %.1f\n", 1e-9 * peak,
	       1e-9 * work / time_of[ROUNDS / 2], 1e-9 * work / time_of[0]);
	return check(x, w, y);
}
