/*
 * Kernels as the back end may emit them: one for each thing that the stand-in
 * must do.  This text is compiled by nvcc and, unchanged, by a C++ compiler.
 */
#include <stdint.h>

__constant__ float scale[4] = { 1.0f, 0.5f, -2.0f, 3.0f };

static __device__ __forceinline__ uint16_t bf16_of_f32(float x)
{
	uint32_t bits = __float_as_uint(x);

	if ((bits & 0x7fffffffu) > 0x7f800000u)
		return 0x7fc0;
	return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* y = scale[i % 4] * x + y, the last block ragged. */
extern "C" __global__ void __launch_bounds__(128)
map_tail(const float *__restrict__ x, float *__restrict__ y, int64_t n)
{
	int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		y[i] = fmaf(scale[i % 4], x[i], y[i]);
}

extern "C" __global__ void map_vector(const float4 *x, float4 *y, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n) {
		float4 v = x[i];
		y[i] = make_float4(v.w, v.z, v.y, v.x);
	}
}

/* Every coordinate of a grid and a block of three axes, written where it is. */
extern "C" __global__ void map_place(unsigned *out)
{
	unsigned x = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
	unsigned z = blockIdx.z * blockDim.z + threadIdx.z;
	unsigned nx = gridDim.x * blockDim.x, ny = gridDim.y * blockDim.y;

	out[(z * ny + y) * nx + x] = x | y << 8 | z << 16;
}

extern "C" __global__ void map_bf16(const float *x, uint16_t *y, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		y[i] = bf16_of_f32(x[i]);
}

/* Rounded twice, then once: the two must not be merged. */
extern "C" __global__ void map_rounded(const float *a, float *twice,
				       float *once, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n) {
		twice[i] = __fadd_rn(__fmul_rn(a[i], a[i]), -1.0f);
		once[i] = __fmaf_rn(a[i], a[i], -1.0f);
	}
}

/* One row a block: a tree in shared memory. */
extern "C" __global__ void __launch_bounds__(256)
reduce_rows(const float *x, float *y, int columns)
{
	__shared__ float part[256];
	const float *row = x + (size_t)blockIdx.x * columns;
	float sum = 0.0f;

	for (int j = (int)threadIdx.x; j < columns; j += 256)
		sum += row[j];
	part[threadIdx.x] = sum;
	__syncthreads();
	for (unsigned s = 128; s > 0; s >>= 1) {
		if (threadIdx.x < s)
			part[threadIdx.x] += part[threadIdx.x + s];
		__syncthreads();
	}
	if (threadIdx.x == 0)
		y[blockIdx.x] = part[0];
}

/* One row a warp: shuffles down, then the first lane's sum to all. */
extern "C" __global__ void warp_rows(const float *x, float *y, int rows)
{
	int row = (int)(blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32);
	int lane = (int)(threadIdx.x % 32);

	if (row >= rows)
		return;
	float mine = x[row * 32 + lane], sum = mine;
	for (int by = 16; by > 0; by >>= 1)
		sum += __shfl_down_sync(0xffffffffu, sum, by);
	sum = __shfl_sync(0xffffffffu, sum, 0);
	y[row * 32 + lane] = mine / sum;
}

/* Segments of 8 lanes: xor, index, up, down, and what stays at an edge. */
extern "C" __global__ void warp_segments(int *out)
{
	int lane = (int)threadIdx.x;

	out[lane] = __shfl_xor_sync(0xffffffffu, lane, 5, 8);
	out[32 + lane] = __shfl_sync(0xffffffffu, lane, 11, 8);
	out[64 + lane] = __shfl_up_sync(0xffffffffu, lane, 3, 8);
	out[96 + lane] = __shfl_down_sync(0xffffffffu, lane, 3, 8);
	out[128 + lane] = (int)__ballot_sync(0xffffffffu, lane % 3 == 0);
	out[160 + lane] = (__all_sync(0xffffffffu, lane < 32) != 0) * 1 +
			  (__all_sync(0xffffffffu, lane < 31) != 0) * 2 +
			  (__any_sync(0xffffffffu, lane == 31) != 0) * 4 +
			  (__any_sync(0xffffffffu, lane == 32) != 0) * 8;
}

/* Half a warp talks while the other half, though in the mask, has returned. */
extern "C" __global__ void warp_half(double *out)
{
	int lane = (int)threadIdx.x;
	double v = 1.0 / (1 + lane);

	if (lane >= 16)
		return;
	for (int by = 8; by > 0; by >>= 1)
		v += __shfl_xor_sync(0x0000ffffu, v, by);
	__syncwarp();
	out[lane] = v;
}

/* Inclusive sum of a block: scan in each warp, then over the warps. */
extern "C" __global__ void scan_block(const int *x, int *y, int n)
{
	__shared__ int total[32];
	int i = (int)threadIdx.x, lane = i % 32, warp = i / 32;
	int sum = i < n ? x[i] : 0;

	for (int by = 1; by < 32; by <<= 1) {
		int left = __shfl_up_sync(0xffffffffu, sum, by);
		if (lane >= by)
			sum += left;
	}
	if (lane == 31)
		total[warp] = sum;
	__syncthreads();
	for (int w = 0; w < warp; w++)
		sum += total[w];
	if (i < n)
		y[i] = sum;
}

extern "C" __global__ void __launch_bounds__(256)
matmul_static(const float *a, const float *b, float *c, int m, int n, int k)
{
	__shared__ float left[16][17], right[16][17];
	int x = (int)threadIdx.x, y = (int)threadIdx.y;
	int row = (int)blockIdx.y * 16 + y, column = (int)blockIdx.x * 16 + x;
	float sum = 0.0f;

	for (int first = 0; first < k; first += 16) {
		left[y][x] = row < m && first + x < k ?
				     a[row * k + first + x] : 0.0f;
		right[y][x] = first + y < k && column < n ?
				      b[(first + y) * n + column] : 0.0f;
		__syncthreads();
		for (int i = 0; i < 16; i++)
			sum = fmaf(left[y][i], right[i][x], sum);
		__syncthreads();
	}
	if (row < m && column < n)
		c[row * n + column] = sum;
}

/* The same product, its tiles in shared memory sized by the launch. */
extern "C" __global__ void matmul_dynamic(const float *a, const float *b,
					  float *c, int m, int n, int k,
					  int tile)
{
	extern __shared__ unsigned char tn_smem[];
	float *left = (float *)tn_smem, *right = left + tile * tile;
	int x = (int)threadIdx.x, y = (int)threadIdx.y;
	int row = (int)blockIdx.y * tile + y;
	int column = (int)blockIdx.x * tile + x;
	float sum = 0.0f;

	for (int first = 0; first < k; first += tile) {
		left[y * tile + x] = row < m && first + x < k ?
					     a[row * k + first + x] : 0.0f;
		right[y * tile + x] = first + y < k && column < n ?
					      b[(first + y) * n + column] :
					      0.0f;
		__syncthreads();
		for (int i = 0; i < tile; i++)
			sum = fmaf(left[y * tile + i], right[i * tile + x],
				   sum);
		__syncthreads();
	}
	if (row < m && column < n)
		c[row * n + column] = sum;
}

/* Counts in shared memory, then over blocks; flags what is out of range. */
extern "C" __global__ void histogram(const int *x, int *count, unsigned *flags,
				     int *low, int *high, int n)
{
	__shared__ int mine[16];
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (threadIdx.x < 16)
		mine[threadIdx.x] = 0;
	__syncthreads();
	if (i < n && x[i] >= 0 && x[i] < 16)
		atomicAdd(&mine[x[i]], 1);
	else if (i < n)
		atomicOr(flags, x[i] < 0 ? 1u : 2u);
	if (i < n) {
		atomicMin(low, x[i]);
		atomicMax(high, x[i]);
	}
	__syncthreads();
	if (threadIdx.x < 16)
		atomicAdd(&count[threadIdx.x], mine[threadIdx.x]);
}

/* Whole numbers, so that the order of the additions does not show. */
extern "C" __global__ void sum_atomic(const float *x, float *sum, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		atomicAdd(sum, x[i]);
}

/* Threads past n have returned when the others meet at the barrier. */
extern "C" __global__ void exit_early(const int *x, int *y, int n)
{
	__shared__ int copy[64];
	int i = (int)threadIdx.x;

	if (i >= n)
		return;
	copy[i] = x[i];
	__syncthreads();
	y[i] = copy[n - 1 - i];
}

extern "C" __global__ void math(const float *x, float *y, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		y[i] = erff(x[i]) + expf(-x[i]) + tanhf(x[i]) +
		       rsqrtf(1.0f + x[i] * x[i]) + fmaxf(x[i], 0.0f) +
		       sqrtf(fabsf(x[i])) + log1pf(fabsf(x[i]));
}

extern "C" __global__ void nothing(void)
{
}
