/*
 * What the stand-in does with programs that are wrong.  Without arguments: the
 * cases that end in an error code.  With the name of a kernel that leaves its
 * memory: that kernel, which AddressSanitizer must stop.
 */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void stuck(int *out);
void mixed_masks(int *out);
void mixed_operations(int *out);
void outside_mask(int *out);
void odd_width(int *out);
void absent_lane(float *out);
void unwritten(float *out);
void past_end(int *out, int n);
void past_shared(int *out, int n);
void past_local(int *out, int n);
void fill_slowly(int *out, int value);
void unlisted(void);

static dim3 line(unsigned x)
{
	dim3 d = { x, 1, 1 };

	return d;
}

/* The launch succeeds; every call after it fails until the reset. */
static int fails(const void *kernel, unsigned blocks, unsigned threads,
		 void *out, const char *cause)
{
	void *arguments[] = { &out };
	void *more = NULL;
	int good = cudaLaunchKernel(kernel, line(blocks), line(threads),
				    arguments, 0, NULL) == cudaSuccess;

	good &= cudaDeviceSynchronize() == cudaErrorLaunchFailure;
	good &= cudaGetLastError() == cudaErrorLaunchFailure;
	good &= cudaMalloc(&more, 4) == cudaErrorLaunchFailure;
	good &= cudaLaunchKernel(kernel, line(blocks), line(threads), arguments,
				 0, NULL) == cudaErrorLaunchFailure;
	good &= strstr(tn_emu_message(), cause) != NULL;
	if (!good)
		printf("# %s\n", tn_emu_message());
	return good;
}

static int test_stuck(void)
{
	int good = fails(KERNEL(stuck), 3, 64, check_put(NULL, 256),
			 "kernel stuck, block (0, 0, 0): threads wait for each "
			 "other for ever (48 threads at a barrier, 16 at a "
			 "warp operation, 0 returned)");

	cudaDeviceReset();
	return good;
}

static int test_mixed_masks(void)
{
	int good = fails(KERNEL(mixed_masks), 1, 32, check_put(NULL, 128),
			 "for ever (0 threads at a barrier, 32 at a warp "
			 "operation, 0 returned)");

	cudaDeviceReset();
	return good;
}

static int test_mixed_operations(void)
{
	int good = fails(KERNEL(mixed_operations), 1, 32, check_put(NULL, 128),
			 "for ever (0 threads at a barrier, 32 at a warp "
			 "operation, 0 returned)");

	cudaDeviceReset();
	return good;
}

static int test_outside_mask(void)
{
	int start[2] = { 5, 0 };
	int good = fails(KERNEL(outside_mask), 9, 32,
			 check_put(start, sizeof(start)),
			 "kernel outside_mask, block (5, 0, 0): a thread is "
			 "not in the mask");

	cudaDeviceReset();
	return good;
}

static int test_odd_width(void)
{
	int good = fails(KERNEL(odd_width), 1, 32, check_put(NULL, 128),
			 "the width of a shuffle");

	cudaDeviceReset();
	return good;
}

static int test_after_reset(void)
{
	float got[12];
	void *out = check_put(NULL, sizeof(got));
	void *arguments[] = { &out };
	int good = check_launch(KERNEL(absent_lane), line(1), line(12), 0,
				arguments) &&
		   check_take(got, out, sizeof(got));
	int i;

	for (i = 0; i < 12 && good; i++)
		good = i + 4 < 12 ? got[i] == 1.0f : isnan(got[i]) != 0;
	return good;
}

static int test_unwritten(void)
{
	float got[8], fresh = 0.0f;
	void *out = check_put(NULL, sizeof(got)), *new_one = NULL;
	void *arguments[] = { &out };
	int good = check_launch(KERNEL(unwritten), line(1), line(8), 32,
				arguments) &&
		   check_take(got, out, sizeof(got));
	int i;

	for (i = 0; i < 8 && good; i++)
		good = isnan(got[i]) != 0;
	return good && cudaMalloc(&new_one, 4) == cudaSuccess &&
	       check_take(&fresh, new_one, 4) && isnan(fresh);
}

static int test_copies(void)
{
	char host[64] = { 0 };
	char *device = check_put(NULL, 64);
	int good = device != NULL;

	good &= cudaMemcpy(device + 32, host, 32, cudaMemcpyHostToDevice) ==
		cudaSuccess;
	good &= cudaMemcpy(device + 33, host, 32, cudaMemcpyHostToDevice) ==
		cudaErrorInvalidValue;
	good &= cudaMemcpy(host, device, 65, cudaMemcpyDeviceToHost) ==
		cudaErrorInvalidValue;
	good &= cudaMemcpy(host, host + 32, 8, cudaMemcpyDeviceToHost) ==
		cudaErrorInvalidValue;
	good &= cudaMemcpy(host, device, 8, (enum cudaMemcpyKind)7) ==
		cudaErrorInvalidMemcpyDirection;
	good &= cudaMemset(device, 0, 65) == cudaErrorInvalidValue;
	good &= cudaFree(device + 8) == cudaErrorInvalidValue;
	good &= cudaFree(device) == cudaSuccess;
	good &= cudaFree(device) == cudaErrorInvalidValue;
	good &= cudaFree(NULL) == cudaSuccess;
	good &= cudaGetLastError() == cudaErrorInvalidValue;
	return good && cudaDeviceSynchronize() == cudaSuccess;
}

static int test_launches(void)
{
	int good = cudaLaunchKernel(KERNEL(unlisted), line(1), line(1), NULL, 0,
				    NULL) == cudaErrorInvalidDeviceFunction;

	good &= cudaLaunchKernel(KERNEL(stuck), line(1), line(1), NULL,
				 (48 << 10) + 1, NULL) == cudaErrorInvalidValue;
	good &= strcmp(cudaGetErrorString(cudaGetLastError()),
		       "invalid argument") == 0;
	return good;
}

struct job {
	int value, good;
};

static void *run_job(void *argument)
{
	enum { COUNT = 64 * 64 };
	struct job *job = argument;
	int *got = malloc(COUNT * sizeof(*got));
	void *out = check_put(NULL, COUNT * sizeof(*got));
	void *arguments[] = { &out, &job->value };
	int i;

	job->good = got != NULL &&
		    check_launch(KERNEL(fill_slowly), line(64), line(64), 0,
				 arguments) &&
		    check_take(got, out, COUNT * sizeof(*got));
	for (i = 0; i < COUNT && job->good; i++)
		job->good = got[i] == job->value + 19;
	free(got);
	return NULL;
}

static int test_host_threads(void)
{
	struct job jobs[4];
	pthread_t threads[4];
	int good = 1, started = 0;
	int i;

	for (; started < 4; started++) {
		jobs[started].value = started * 1000;
		if (pthread_create(&threads[started], NULL, run_job,
				   &jobs[started]) != 0)
			break;
	}
	for (i = 0; i < started; i++) {
		pthread_join(threads[i], NULL);
		good &= jobs[i].good;
	}
	return good && started == 4;
}

/* Runs the kernel that is named; to return at all is the fault. */
static int run_wild(const char *name)
{
	int n = 8;
	void *out = check_put(NULL, 8 * sizeof(n));
	void *arguments[] = { &out, &n };
	const void *kernel = strcmp(name, "past_end") == 0 ? KERNEL(past_end)
			     : strcmp(name, "past_shared") == 0
				     ? KERNEL(past_shared)
				     : KERNEL(past_local);

	check_launch(kernel, line(1), line(2), 8 * sizeof(n), arguments);
	return 0;
}

static const struct check_case cases[] = {
	{ "stuck", test_stuck },
	{ "mixed_masks", test_mixed_masks },
	{ "mixed_operations", test_mixed_operations },
	{ "outside_mask", test_outside_mask },
	{ "odd_width", test_odd_width },
	{ "after_reset", test_after_reset },
	{ "unwritten", test_unwritten },
	{ "copies", test_copies },
	{ "launches", test_launches },
	{ "host_threads", test_host_threads },
};

int main(int argc, char **argv)
{
	if (argc > 1)
		return run_wild(argv[1]);
	return check_main(cases, (int)(sizeof(cases) / sizeof(*cases)));
}
