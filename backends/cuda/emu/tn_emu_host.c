/*
 * The host side of the stand-in: the functions of include/cuda_runtime.h over
 * plain memory.  A device allocation is a heap block of its exact size, so
 * AddressSanitizer sees a kernel leave it; the table of allocations lets copies
 * be checked without it.
 *
 * One device serves the process: its allocations and its sticky error stand
 * behind one lock.  The last error of a call belongs to the calling thread.
 */
#include "tn_emu_fiber.h"
#include "tn_emu_grid.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 256, MESSAGE_MAX = 256 };

struct allocation {
	struct allocation *next;
	unsigned char *start;
	size_t size;
};

struct CUstream_st {
	int unused;
};

struct device {
	pthread_mutex_t lock;
	struct allocation *allocations;
	cudaError_t sticky;
};

static struct device device = { .lock = PTHREAD_MUTEX_INITIALIZER };
static _Thread_local cudaError_t last_error;
static _Thread_local char message[MESSAGE_MAX];

/*
 * Every TN_EMU_KERNEL line of the program leaves a pointer in this section; the
 * linker names its ends.  A program without kernels has no section.
 */
extern const struct tn_emu_kernel *const __start_tn_emu_kernels[]
	__attribute__((weak, visibility("hidden")));
extern const struct tn_emu_kernel *const __stop_tn_emu_kernels[]
	__attribute__((weak, visibility("hidden")));

static cudaError_t note(cudaError_t error)
{
	if (error != cudaSuccess)
		last_error = error;
	return error;
}

/* Takes the device unless an earlier kernel broke it. */
static cudaError_t lock_device(void)
{
	pthread_mutex_lock(&device.lock);
	if (device.sticky == cudaSuccess)
		return cudaSuccess;
	pthread_mutex_unlock(&device.lock);
	return device.sticky;
}

static cudaError_t unlock_device(cudaError_t error)
{
	pthread_mutex_unlock(&device.lock);
	return error;
}

static int is_on_device(const void *address, size_t size)
{
	const uintptr_t at = (uintptr_t)address;

	for (const struct allocation *a = device.allocations; a; a = a->next) {
		const uintptr_t start = (uintptr_t)a->start;
		if (at >= start && at - start <= a->size &&
		    size <= a->size - (at - start))
			return 1;
	}
	return 0;
}

cudaError_t cudaGetDeviceCount(int *count)
{
	*count = 1;
	return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void)
{
	cudaError_t error = lock_device();

	return note(error == cudaSuccess ? unlock_device(error) : error);
}

cudaError_t cudaDeviceReset(void)
{
	struct allocation *next;

	pthread_mutex_lock(&device.lock);
	for (struct allocation *a = device.allocations; a; a = next) {
		next = a->next;
		free(a->start);
		free(a);
	}
	device.allocations = NULL;
	device.sticky = cudaSuccess;
	last_error = cudaSuccess;
	tn_emu_fiber_drop_stacks();
	return unlock_device(cudaSuccess);
}

cudaError_t cudaGetLastError(void)
{
	cudaError_t error = last_error;

	last_error = cudaSuccess;
	return error;
}

const char *cudaGetErrorString(cudaError_t error)
{
	switch (error) {
	case cudaSuccess: return "no error";
	case cudaErrorInvalidValue: return "invalid argument";
	case cudaErrorMemoryAllocation: return "out of memory";
	case cudaErrorInvalidConfiguration:
		return "invalid configuration argument";
	case cudaErrorInvalidMemcpyDirection:
		return "invalid copy direction for memcpy";
	case cudaErrorInvalidDeviceFunction: return "invalid device function";
	case cudaErrorInvalidResourceHandle: return "invalid resource handle";
	case cudaErrorLaunchFailure: return "unspecified launch failure";
	}
	return "unrecognized error code";
}

const char *tn_emu_message(void)
{
	return message;
}

static cudaError_t allocate(void **address, size_t size)
{
	struct allocation *a = malloc(sizeof *a);
	void *start = NULL;

	if (a == NULL || posix_memalign(&start, ALIGNMENT, size) != 0) {
		free(a);
		return cudaErrorMemoryAllocation;
	}
	memset(start, 0xff, size);
	a->start = start;
	a->size = size;
	a->next = device.allocations;
	device.allocations = a;
	*address = start;
	return cudaSuccess;
}

cudaError_t cudaMalloc(void **address, size_t size)
{
	cudaError_t error;

	if (address == NULL)
		return note(cudaErrorInvalidValue);
	*address = NULL;
	error = lock_device();
	if (error != cudaSuccess)
		return note(error);
	if (size > 0)
		error = allocate(address, size);
	return note(unlock_device(error));
}

static cudaError_t release(const void *address)
{
	struct allocation **link = &device.allocations;
	struct allocation *a;

	while (*link != NULL && (*link)->start != address)
		link = &(*link)->next;
	if (*link == NULL)
		return cudaErrorInvalidValue;
	a = *link;
	*link = a->next;
	free(a->start);
	free(a);
	return cudaSuccess;
}

cudaError_t cudaFree(void *address)
{
	cudaError_t error = lock_device();

	if (error != cudaSuccess)
		return note(error);
	if (address != NULL)
		error = release(address);
	return note(unlock_device(error));
}

static cudaError_t check_copy(const void *to, const void *from, size_t size,
			      enum cudaMemcpyKind kind)
{
	if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDeviceToDevice)
		return cudaErrorInvalidMemcpyDirection;
	if (kind & cudaMemcpyHostToDevice && !is_on_device(to, size))
		return cudaErrorInvalidValue;
	if (kind & cudaMemcpyDeviceToHost && !is_on_device(from, size))
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

cudaError_t cudaMemcpy(void *to, const void *from, size_t size,
		       enum cudaMemcpyKind kind)
{
	cudaError_t error = lock_device();

	if (error != cudaSuccess)
		return note(error);
	if (size > 0)
		error = check_copy(to, from, size, kind);
	if (size > 0 && error == cudaSuccess)
		memmove(to, from, size);
	return note(unlock_device(error));
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size,
			    enum cudaMemcpyKind kind, cudaStream_t stream)
{
	(void)stream;
	return cudaMemcpy(to, from, size, kind);
}

cudaError_t cudaMemset(void *to, int value, size_t size)
{
	cudaError_t error = lock_device();

	if (error != cudaSuccess)
		return note(error);
	if (size > 0 && !is_on_device(to, size))
		error = cudaErrorInvalidValue;
	else if (size > 0)
		memset(to, value, size);
	return note(unlock_device(error));
}

cudaError_t cudaMemsetAsync(void *to, int value, size_t size,
			    cudaStream_t stream)
{
	(void)stream;
	return cudaMemset(to, value, size);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	if (stream == NULL)
		return note(cudaErrorInvalidValue);
	*stream = calloc(1, sizeof **stream);
	return note(*stream != NULL ? cudaSuccess : cudaErrorMemoryAllocation);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	if (stream == NULL)
		return note(cudaErrorInvalidResourceHandle);
	free(stream);
	return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	(void)stream;
	return cudaDeviceSynchronize();
}

static const struct tn_emu_kernel *find_kernel(const void *address)
{
	const struct tn_emu_kernel *const *k = __start_tn_emu_kernels;

	for (; k != __stop_tn_emu_kernels; k++)
		if ((uintptr_t)(*k)->kernel == (uintptr_t)address)
			return *k;
	return NULL;
}

/* The limits of compute capability 8.0 and 9.0. */
static cudaError_t check_shape(dim3 grid, dim3 block, size_t shared)
{
	if (grid.x == 0 || grid.y == 0 || grid.z == 0 || grid.x > 0x7fffffff ||
	    grid.y > 65535 || grid.z > 65535)
		return cudaErrorInvalidConfiguration;
	if (block.x == 0 || block.y == 0 || block.z == 0 ||
	    block.x > TN_EMU_BLOCK_MAX || block.y > TN_EMU_BLOCK_MAX ||
	    block.z > 64 || block.x * block.y * block.z > TN_EMU_BLOCK_MAX)
		return cudaErrorInvalidConfiguration;
	if (shared > TN_EMU_SHARED_MAX)
		return cudaErrorInvalidValue;
	return cudaSuccess;
}

/*
 * The device is not locked while a grid runs: host threads may launch at once,
 * each on its own data.
 */
cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
			     void **arguments, size_t shared,
			     cudaStream_t stream)
{
	struct tn_emu_launch launch = { find_kernel(kernel), arguments, grid,
					block, shared };
	cudaError_t error = lock_device();

	(void)stream;
	if (error != cudaSuccess)
		return note(error);
	unlock_device(cudaSuccess);
	if (launch.kernel == NULL)
		return note(cudaErrorInvalidDeviceFunction);
	error = check_shape(grid, block, shared);
	if (error == cudaSuccess)
		error = tn_emu_run(&launch, message, sizeof message);
	if (error != cudaErrorLaunchFailure)
		return note(error);
	pthread_mutex_lock(&device.lock);
	device.sticky = error;
	return unlock_device(cudaSuccess);
}
