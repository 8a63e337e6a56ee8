/*
 * What the three parts of the stand-in agree on: the kernels a program has (the
 * side file lists them), how a grid runs, and what device code calls when it
 * must wait for other threads.  Read as C and as C++.
 */
#ifndef TN_EMU_GRID_H
#define TN_EMU_GRID_H

#include <stddef.h>

#include "include/cuda_runtime.h"

#ifdef __cplusplus
#define TN_EMU_THREAD_LOCAL __thread
extern "C" {
#else
#define TN_EMU_THREAD_LOCAL _Thread_local
#endif

enum {
	TN_EMU_WARP = 32,
	TN_EMU_BLOCK_MAX = 1024,
	TN_EMU_SHARED_MAX = 48 << 10
};

/* call takes the arguments from memory by the kernel's own types. */
struct tn_emu_kernel {
	const char *name;
	void (*kernel)(void);
	void (*call)(void (*kernel)(void), void **arguments);
};

enum tn_emu_warp_op {
	TN_EMU_WARP_SYNC,
	TN_EMU_WARP_BALLOT,
	TN_EMU_WARP_INDEX,
	TN_EMU_WARP_UP,
	TN_EMU_WARP_DOWN,
	TN_EMU_WARP_XOR
};

struct tn_emu_launch {
	const struct tn_emu_kernel *kernel;
	void **arguments;
	dim3 grid, block;
	size_t shared;
};

/* threadIdx, blockIdx, blockDim, gridDim of the device thread that runs. */
extern TN_EMU_THREAD_LOCAL uint3 tn_emu_thread, tn_emu_block;
extern TN_EMU_THREAD_LOCAL dim3 tn_emu_block_dim, tn_emu_grid_dim;

/* Waits until every thread of the block that has not returned is here. */
void tn_emu_barrier(void);
/*
 * Waits until every thread of the mask that has not returned is at the same
 * operation with the same mask, then gives each its result.  Shuffles follow
 * PTX shfl.sync; a source that takes no part gives all ones.
 */
unsigned long long tn_emu_warp(enum tn_emu_warp_op op, unsigned mask,
			       unsigned long long value, int argument,
			       int width);

/*
 * Runs every block of a checked launch, one after another.  Returns
 * cudaSuccess, cudaErrorMemoryAllocation, or cudaErrorLaunchFailure with the
 * cause in message.
 */
cudaError_t tn_emu_run(const struct tn_emu_launch *launch, char *message,
		       size_t message_size);

#ifdef __cplusplus
}
#endif

#endif
