/*
 * What the test programs share: a device buffer beside its copy on the host, a
 * launch, and the report.  Each case prints "ok NAME" or "not ok NAME".
 */
#ifndef CHECK_H
#define CHECK_H

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

/* ISO C has no conversion from a function to const void *; this has two. */
#define KERNEL(function) ((const void *)(uintptr_t)(function))

struct check_case {
	const char *name;
	int (*run)(void);
};

/* A buffer on the device with these bytes, or all zero for NULL. */
void *check_put(const void *from, size_t size);
/* Copies to the host and frees the device buffer. */
int check_take(void *to, void *device, size_t size);

int check_launch(const void *kernel, dim3 grid, dim3 block, size_t shared,
		 void **arguments);

/* Small whole numbers and halves, different for each seed. */
void check_fill(float *x, int n, unsigned seed);

/* Runs the cases; returns the exit status of the program. */
int check_main(const struct check_case *cases, int count);

#endif
