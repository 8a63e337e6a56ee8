/*
 * Times one emitted convolution or pool beside the FMA peak of this CPU, on
 * one thread.
 *
 * Built by conv.sh with the folder that `tenon emit` wrote:
 *   -DHEADER='"NAME.h"' -DNAME=NAME -DISA=512 (or 256: width of the probe)
 *   -DH -DW -DCI -DCO    the input's rows, columns, channels; the result's
 *   -DK -DSTRIDE -DPAD   the window, K x K cells
 *   -DKIND               0: convolution, 1: depthwise, 2: max pool, 3: average
 *   -DBLOCK              channels of a block of the weights, or 0
 * x is [H, W, CI], the weights [K, K, CI, CO] or [CO/BLOCK, K, K, CI, BLOCK]
 * ([K, K, CI] depthwise), the result [OH, OW, CO]. Prints "peak median best
 * bytes bandwidth us": GF/s, the kernel's from the work of its definition
 * without the padding's share, over thread CPU time; GB/s of the bytes that it
 * must read and write, and of reading and writing no more than x and the
 * result; the median's time. Rounds of
 * probes and kernel take turns. Checks sampled results against sums in double.
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

enum { ROUNDS = 40 };
enum { OH = (H + 2 * PAD - K) / STRIDE + 1, OW = (W + 2 * PAD - K) / STRIDE + 1 };
enum { X = H * W * CI, F = KIND ? K * K * CI : K * K * CI * CO };
enum { Y = OH * OW * CO };

typedef float lanes __attribute__((vector_size(ISA / 8)));

/* Reads all of x, in four streams, and writes all of y: the time of it. */
static double pass(const float *x, float *y)
{
	enum { LANES = ISA / 32, N = X / LANES / 4, M = Y / LANES };
	const lanes *p = (const lanes *)(const void *)x;
	lanes a = { 0 }, b = a, c = a, d = a;
	double start = now();
	int turn, turns = 1000000 / (X + Y) + 1, i;

	for (turn = 0; turn < turns; turn++) {
		__asm__ volatile("" : : "r"(x) : "memory");
		for (i = 0; i < N; i++) {
			a += p[i];
			b += p[N + i];
			c += p[2 * N + i];
			d += p[3 * N + i];
		}
		a += b + c + d;
		for (i = 0; i < M; i++)
			memcpy(y + i * LANES, &a, sizeof(a));
		__asm__ volatile("" : : "r"(y) : "memory");
	}
	return (now() - start) / turns;
}

/* Input place of cell r of the window at o, or -1 in the padding. */
static int place(int o, int r, int size)
{
	int at = o * STRIDE + r - PAD;

	return at >= 0 && at < size ? at : -1;
}

static double expected(const float *x, const float *f, int at)
{
	int o = at % CO, q = at / CO % OW, h = at / (CO * OW), r, s, c;
	double sum = KIND == 2 ? -INFINITY : 0, value;
	int cells = 0, i, j;

	for (r = 0; r < K; r++)
		for (s = 0; s < K; s++) {
			i = place(h, r, H);
			j = place(q, s, W);
			if (i < 0 || j < 0)
				continue;
			cells++;
			if (KIND) {
				value = x[(i * W + j) * CI + o];
				if (KIND == 1)
					sum += value * f[(r * K + s) * CI + o];
				else if (KIND == 2)
					sum = value > sum ? value : sum;
				else
					sum += value;
				continue;
			}
			for (c = 0; c < CI; c++)
				sum += (double)x[(i * W + j) * CI + c] *
#if BLOCK
					f[(((o / BLOCK * K + r) * K + s) * CI +
					   c) * BLOCK + o % BLOCK];
#else
					f[((r * K + s) * CI + c) * CO + o];
#endif
		}
	return KIND == 3 ? sum / cells : sum;
}

/* Cells of windows that lie inside the input, over one axis. */
static double inside(int out, int size)
{
	double cells = 0;
	int o, r;

	for (o = 0; o < out; o++)
		for (r = 0; r < K; r++)
			cells += place(o, r, size) >= 0;
	return cells;
}

static int check(const float *x, const float *f, const float *y)
{
	int i, at;

	for (i = 0; i < 3000; i++) {
		at = i < 1000 ? (int)((long)i * Y / 1000) : rand() % Y;
		if (!(fabs(y[at] - expected(x, f, at)) <
		      3e-5 * K * sqrt(KIND ? 1 : CI))) {
			fprintf(stderr, "element %d is %g, not %g\n", at,
				(double)y[at], expected(x, f, at));
			return 1;
		}
	}
	return 0;
}

int main(void)
{
	static double time_of[ROUNDS];
	float *x = fresh(X, 1), *f = fresh(F, 1), *y = fresh(Y, 1);
	double work = 2 * inside(OH, H) * inside(OW, W) * (KIND ? 1 : CI) * CO;
	double bytes = 4.0 * X + 4.0 * Y + (KIND < 2 ? 4.0 * F : 0);
	float *z = fresh(Y, 1);
	double peak = 0, start, done, passes[ROUNDS];
	const void *inputs[2];
	void *outputs[1], *space;
	int64_t dims[1] = { 0 };
	struct OF(_ctx) ctx;
	int i, k, calls = (int)(2e6 / work) + 1;

	inputs[0] = x;
	inputs[1] = f;
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
		for (k = 0; k < calls; k++)
			if (OF(_run)(&ctx, inputs, dims, outputs, space))
				return 1;
		time_of[i] = (now() - start) / calls;
		passes[i] = pass(x, z);
	}
	if (check(x, f, y))
		return 1;
	qsort(time_of, ROUNDS, sizeof(*time_of), by_value);
	qsort(passes, ROUNDS, sizeof(*passes), by_value);
	printf("%.1f %.1f %.1f %.1f %.1f %.1f\n", peak / 1e9,
	       work / time_of[ROUNDS / 2] / 1e9, work / time_of[0] / 1e9,
	       bytes / time_of[ROUNDS / 2] / 1e9,
	       4.0 * (X + Y) / passes[ROUNDS / 2] / 1e9,
	       time_of[ROUNDS / 2] * 1e6);
	return 0;
}
