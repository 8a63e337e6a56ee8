/* Kernels that are wrong, each in one way that the stand-in must survive. */

/* The first half of a warp waits for the second, which waits for the first. */
extern "C" __global__ void stuck(int *out)
{
	if (threadIdx.x < 16)
		__syncwarp(0xffffffffu);
	else
		__syncthreads();
	out[threadIdx.x] = 1;
}

/* The last lane names all lanes, the first ones name only it and themselves. */
extern "C" __global__ void mixed_masks(int *out)
{
	if (threadIdx.x < 16)
		__syncwarp(0x8000ffffu);
	else
		__syncwarp(0xffffffffu);
	out[threadIdx.x] = 1;
}

/* Two halves of a warp name all lanes, at two operations. */
extern "C" __global__ void mixed_operations(int *out)
{
	if (threadIdx.x < 16)
		__syncwarp(0xffffffffu);
	else
		out[threadIdx.x] = __shfl_sync(0xffffffffu, 1, 0);
}

/* Only the block whose number is in out[0] is wrong. */
extern "C" __global__ void outside_mask(int *out)
{
	if ((int)blockIdx.x == out[0])
		__syncwarp(1u);
	else
		__syncthreads();
	atomicAdd(&out[1], 1);
}

extern "C" __global__ void odd_width(int *out)
{
	out[threadIdx.x] = __shfl_sync(0xffffffffu, (int)threadIdx.x, 0, 12);
}

/* With fewer than 32 threads the last lanes read from lanes that are not. */
extern "C" __global__ void absent_lane(float *out)
{
	out[threadIdx.x] = __shfl_down_sync(0xffffffffu, 1.0f, 4);
}

/* What was never written, in dynamic shared memory. */
extern "C" __global__ void unwritten(float *out)
{
	extern __shared__ unsigned char tn_smem[];

	out[threadIdx.x] = ((const float *)tn_smem)[threadIdx.x];
}

extern "C" __global__ void past_end(int *out, int n)
{
	out[n + (int)threadIdx.x] = 1;
}

extern "C" __global__ void past_shared(int *out, int n)
{
	extern __shared__ unsigned char tn_smem[];

	((int *)tn_smem)[n + (int)threadIdx.x] = 1;
	__syncthreads();
	out[0] = ((const int *)tn_smem)[n];
}

extern "C" __global__ void past_local(int *out, int n)
{
	int local[8], *p = local;

	for (int i = 0; i < 8; i++)
		local[i] = i;
	__syncthreads();
	p[n] = n;
	out[threadIdx.x] = p[n / 2];
}

/* A kernel for two host threads at once. */
extern "C" __global__ void fill_slowly(int *out, int value)
{
	__shared__ int seen;

	for (int i = 0; i < 20; i++) {
		if (threadIdx.x == 0)
			seen = value + i;
		__syncthreads();
		out[blockIdx.x * blockDim.x + threadIdx.x] = seen;
		__syncthreads();
	}
}

extern "C" __global__ void unlisted(void)
{
}
