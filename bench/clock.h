/*
 * What the timers of emitted code share: the clock, made-up data, the order of
 * times and, where -DISA says how wide, the FMA peak of this CPU. To be included
 * behind _POSIX_C_SOURCE.
 */
#ifndef TN_BENCH_CLOCK_H
#define TN_BENCH_CLOCK_H

#include <stdlib.h>
#include <time.h>

/* Seconds of this thread's CPU time. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Numbers around 0, `width` from the least to the greatest, in whole pages. */
static float *fresh(size_t count, float width)
{
	float *data = aligned_alloc(64, (4 * count + 4095) / 4096 * 4096);
	size_t i;

	if (!data)
		exit(6);
	for (i = 0; i < count; i++)
		data[i] = width * (float)rand() / (float)RAND_MAX - width / 2;
	return data;
}

/* For qsort. */
static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

#ifdef ISA
enum { PROBE_TURNS = 100000 };

/* Sixteen (eight-lane: twelve) chains of FMAs in one asm block; operands in an
 * array would land on the stack. Gives the operations done. */
static double probe(void)
{
	long n = PROBE_TURNS;

#if ISA == 512
#define FMA(i) "vfmadd231ps %%zmm30, %%zmm31, %%zmm" #i "\n\t"
	__asm__ volatile(
		"1:\n\t" FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6)
		FMA(7) FMA(8) FMA(9) FMA(10) FMA(11) FMA(12) FMA(13) FMA(14)
		FMA(15) "dec %0\n\tjnz 1b"
		: "+r"(n) : : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
		"xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
		"xmm12", "xmm13", "xmm14", "xmm15");
	return 2.0 * 16 * 16 * PROBE_TURNS;
#else
#define FMA(i) "vfmadd231ps %%ymm14, %%ymm15, %%ymm" #i "\n\t"
	__asm__ volatile(
		"1:\n\t" FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6)
		FMA(7) FMA(8) FMA(9) FMA(10) FMA(11) "dec %0\n\tjnz 1b"
		: "+r"(n) : : "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
		"xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11");
	return 2.0 * 8 * 12 * PROBE_TURNS;
#endif
}
#endif

#endif
