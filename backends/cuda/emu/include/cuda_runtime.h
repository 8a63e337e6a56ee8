/*
 * The CUDA runtime API, as far as emitted host programs may use it, for
 * machines without CUDA.  This folder goes first on the include path; the text
 * of the host program stays as it is and links with tn_emu_*.c in place of
 * cudart.  Names, argument order and numbers are those of NVIDIA's
 * cuda_runtime_api.h, so that what compiles here compiles there.
 *
 * Everything runs at once on the calling thread: streams only keep order.  A
 * kernel that fails leaves an error that sticks to the device, as on a GPU: the
 * launch itself succeeds, the next call reports it, and so does each call after
 * that until cudaDeviceReset.
 */
#ifndef TN_EMU_CUDA_RUNTIME_H
#define TN_EMU_CUDA_RUNTIME_H

#include <stddef.h>

#define TN_EMU 1

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cudaError {
	cudaSuccess = 0,
	cudaErrorInvalidValue = 1,
	cudaErrorMemoryAllocation = 2,
	cudaErrorInvalidConfiguration = 9,
	cudaErrorInvalidMemcpyDirection = 21,
	cudaErrorInvalidDeviceFunction = 98,
	cudaErrorInvalidResourceHandle = 400,
	cudaErrorLaunchFailure = 719
} cudaError_t;

enum cudaMemcpyKind {
	cudaMemcpyHostToHost = 0,
	cudaMemcpyHostToDevice = 1,
	cudaMemcpyDeviceToHost = 2,
	cudaMemcpyDeviceToDevice = 3
};

typedef struct uint3 {
	unsigned int x, y, z;
} uint3;

typedef struct dim3 {
	unsigned int x, y, z;
} dim3;

typedef struct CUstream_st *cudaStream_t;

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaDeviceSynchronize(void);
/* Frees all device memory and forgets the sticky error. */
cudaError_t cudaDeviceReset(void);

cudaError_t cudaGetLastError(void);
const char *cudaGetErrorString(cudaError_t error);

/* Aligned to 256 bytes and filled with 0xff, a NaN for every float type. */
cudaError_t cudaMalloc(void **address, size_t size);
cudaError_t cudaFree(void *address);

/*
 * The device side of a copy must lie in one allocation, whole: a range that
 * leaves it, or a host address in its place, is cudaErrorInvalidValue.
 */
cudaError_t cudaMemcpy(void *to, const void *from, size_t size,
		       enum cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
			    enum cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemset(void *to, int value, size_t size);
cudaError_t cudaMemsetAsync(void *to, int value, size_t size,
			    cudaStream_t stream);

cudaError_t cudaStreamCreate(cudaStream_t *stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);

/*
 * kernel is the address of a __global__ function with a TN_EMU_KERNEL line;
 * arguments[i] points at its i-th argument, each of the exact parameter type.
 */
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
			     void **arguments, size_t shared,
			     cudaStream_t stream);

/* What went wrong in the last kernel that failed on this thread, or "". */
const char *tn_emu_message(void);

#ifdef __cplusplus
}
#endif

#endif
