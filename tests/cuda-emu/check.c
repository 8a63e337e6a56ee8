#include "check.h"

#include <stdio.h>
#include <string.h>

void *check_put(const void *from, size_t size)
{
	void *device = NULL;

	if (cudaMalloc(&device, size) != cudaSuccess)
		return NULL;
	if (from != NULL)
		cudaMemcpy(device, from, size, cudaMemcpyHostToDevice);
	else
		cudaMemset(device, 0, size);
	return device;
}

int check_take(void *to, void *device, size_t size)
{
	cudaError_t error =
		cudaMemcpy(to, device, size, cudaMemcpyDeviceToHost);

	if (error != cudaSuccess)
		printf("# copy: %s\n", cudaGetErrorString(error));
	return cudaFree(device) == cudaSuccess && error == cudaSuccess;
}

int check_launch(const void *kernel, dim3 grid, dim3 block, size_t shared,
		 void **arguments)
{
	cudaStream_t stream = NULL;
	cudaError_t error = cudaStreamCreate(&stream);

	if (error == cudaSuccess)
		error = cudaLaunchKernel(kernel, grid, block, arguments, shared,
					 stream);
	if (error == cudaSuccess)
		error = cudaStreamSynchronize(stream);
	if (stream != NULL)
		cudaStreamDestroy(stream);
	if (error != cudaSuccess)
		printf("# launch: %s\n", cudaGetErrorString(error));
	return error == cudaSuccess;
}

void check_fill(float *x, int n, unsigned seed)
{
	int i;

	for (i = 0; i < n; i++) {
		seed = seed * 1664525u + 1013904223u;
		x[i] = (float)((int)(seed >> 24) - 128) * 0.5f;
	}
}

int check_main(const struct check_case *cases, int count)
{
	int failed = 0, devices = 0;
	int i;

	if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
		printf("# no device\n");
		return 77;
	}
	for (i = 0; i < count; i++) {
		int good = cases[i].run();
		printf("%s %s\n", good ? "ok" : "not ok", cases[i].name);
		failed += !good;
	}
	return failed > 0;
}
