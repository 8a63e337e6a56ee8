/*
 * The device side of CUDA C, for a host C++11 compiler: a side file includes
 * this, then the emitted .cu text as it is, then names each kernel once:
 *
 *	#include "tn_emu.h"
 *	#include "model.cu"
 *	TN_EMU_KERNEL(model_matmul)
 *	TN_EMU_KERNEL(model_relu)
 *
 * What is here is what emitted device code may use; README.md lists it.  A
 * function of CUDA's that C libraries may also declare is a macro over one of
 * ours, so that the two never clash.
 *
 * __shared__ becomes thread_local: that makes an array inside a function static
 * and keeps `extern __shared__ unsigned char tn_smem[];` a declaration, defined
 * in tn_emu_grid.c.  One block runs at a time on an operating system's thread,
 * so its blocks share the memory one after another.
 */
#ifndef TN_EMU_H
#define TN_EMU_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tn_emu_grid.h"

#define __global__ __attribute__((noinline))
#define __device__
#define __host__
#define __constant__
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

#define threadIdx tn_emu_thread
#define blockIdx tn_emu_block
#define blockDim tn_emu_block_dim
#define gridDim tn_emu_grid_dim
#define warpSize 32

/* Vectors, aligned as on the device so that one access moves the whole. */

#define TN_EMU_VECTOR2(name, type)                           \
	struct __align__(2 * sizeof(type)) name##2           \
	{                                                    \
		type x, y;                                   \
	};                                                   \
	static inline name##2 make_##name##2(type x, type y) \
	{                                                    \
		name##2 v = { x, y };                        \
		return v;                                    \
	}
#define TN_EMU_VECTOR4(name, type)                                           \
	struct __align__(16) name##4                                         \
	{                                                                    \
		type x, y, z, w;                                             \
	};                                                                   \
	static inline name##4 make_##name##4(type x, type y, type z, type w) \
	{                                                                    \
		name##4 v = { x, y, z, w };                                  \
		return v;                                                    \
	}

TN_EMU_VECTOR2(int, int)
TN_EMU_VECTOR2(uint, unsigned int)
TN_EMU_VECTOR2(float, float)
TN_EMU_VECTOR2(double, double)
TN_EMU_VECTOR4(int, int)
TN_EMU_VECTOR4(uint, unsigned int)
TN_EMU_VECTOR4(float, float)

/* Waiting for other threads. */

static inline void __syncthreads(void)
{
	tn_emu_barrier();
}

static inline void __syncwarp(unsigned mask = 0xffffffffu)
{
	tn_emu_warp(TN_EMU_WARP_SYNC, mask, 0, 0, 32);
}

static inline unsigned __ballot_sync(unsigned mask, int predicate)
{
	return (unsigned)tn_emu_warp(TN_EMU_WARP_BALLOT, mask, predicate != 0,
				     0, 32);
}

static inline int __any_sync(unsigned mask, int predicate)
{
	return __ballot_sync(mask, predicate) != 0;
}

static inline int __all_sync(unsigned mask, int predicate)
{
	return __ballot_sync(mask, !predicate) == 0;
}

template <class T>
static inline T tn_emu_shuffle(enum tn_emu_warp_op op, unsigned mask, T value,
			       int argument, int width)
{
	static_assert(sizeof(T) == 4 || sizeof(T) == 8,
		      "a shuffle moves 4 or 8 bytes");
	unsigned long long bits = 0;

	memcpy(&bits, &value, sizeof value);
	bits = tn_emu_warp(op, mask, bits, argument, width);
	memcpy(&value, &bits, sizeof value);
	return value;
}

template <class T>
static inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32)
{
	return tn_emu_shuffle(TN_EMU_WARP_INDEX, mask, value, lane, width);
}

template <class T>
static inline T __shfl_up_sync(unsigned mask, T value, unsigned by,
			       int width = 32)
{
	return tn_emu_shuffle(TN_EMU_WARP_UP, mask, value, (int)by, width);
}

template <class T>
static inline T __shfl_down_sync(unsigned mask, T value, unsigned by,
				 int width = 32)
{
	return tn_emu_shuffle(TN_EMU_WARP_DOWN, mask, value, (int)by, width);
}

template <class T>
static inline T __shfl_xor_sync(unsigned mask, T value, int lanes,
				int width = 32)
{
	return tn_emu_shuffle(TN_EMU_WARP_XOR, mask, value, lanes, width);
}

static inline void __threadfence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static inline void __threadfence_block(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Atomics: each returns what was there before. */

#define TN_EMU_ATOMIC(name, builtin, type)                  \
	static inline type name(type *p, type value)        \
	{                                                   \
		return builtin(p, value, __ATOMIC_RELAXED); \
	}

TN_EMU_ATOMIC(atomicAdd, __atomic_fetch_add, int)
TN_EMU_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned)
TN_EMU_ATOMIC(atomicAdd, __atomic_fetch_add, unsigned long long)
TN_EMU_ATOMIC(atomicOr, __atomic_fetch_or, int)
TN_EMU_ATOMIC(atomicOr, __atomic_fetch_or, unsigned)
TN_EMU_ATOMIC(atomicExch, __atomic_exchange_n, int)
TN_EMU_ATOMIC(atomicExch, __atomic_exchange_n, unsigned)

#define TN_EMU_ATOMIC_CAS(type)                                          \
	static inline type atomicCAS(type *p, type expected, type value) \
	{                                                                \
		__atomic_compare_exchange_n(p, &expected, value, false,  \
					    __ATOMIC_RELAXED,            \
					    __ATOMIC_RELAXED);           \
		return expected;                                         \
	}

TN_EMU_ATOMIC_CAS(int)
TN_EMU_ATOMIC_CAS(unsigned)
TN_EMU_ATOMIC_CAS(unsigned long long)

#define TN_EMU_ATOMIC_PICK(name, type, better)                              \
	static inline type name(type *p, type value)                        \
	{                                                                   \
		type seen = __atomic_load_n(p, __ATOMIC_RELAXED);           \
                                                                            \
		while (value better seen &&                                 \
		       !__atomic_compare_exchange_n(p, &seen, value, false, \
						    __ATOMIC_RELAXED,       \
						    __ATOMIC_RELAXED))      \
			;                                                   \
		return seen;                                                \
	}

TN_EMU_ATOMIC_PICK(atomicMin, int, <)
TN_EMU_ATOMIC_PICK(atomicMin, unsigned, <)
TN_EMU_ATOMIC_PICK(atomicMax, int, >)
TN_EMU_ATOMIC_PICK(atomicMax, unsigned, >)

#define TN_EMU_ATOMIC_FLOAT(type)                                        \
	static inline type atomicAdd(type *p, type value)                \
	{                                                                \
		type seen, sum;                                          \
                                                                         \
		__atomic_load(p, &seen, __ATOMIC_RELAXED);               \
		do                                                       \
			sum = seen + value;                              \
		while (!__atomic_compare_exchange(p, &seen, &sum, false, \
						  __ATOMIC_RELAXED,      \
						  __ATOMIC_RELAXED));    \
		return seen;                                             \
	}

TN_EMU_ATOMIC_FLOAT(float)
TN_EMU_ATOMIC_FLOAT(double)

/*
 * Arithmetic rounded once and never contracted.  The host compiler may contract
 * too, hence -ffp-contract=off for the side file.
 */

#define TN_EMU_ROUNDED(prefix, suffix, type)                   \
	static inline type prefix##add##suffix(type a, type b) \
	{                                                      \
		return a + b;                                  \
	}                                                      \
	static inline type prefix##sub##suffix(type a, type b) \
	{                                                      \
		return a - b;                                  \
	}                                                      \
	static inline type prefix##mul##suffix(type a, type b) \
	{                                                      \
		return a * b;                                  \
	}                                                      \
	static inline type prefix##div##suffix(type a, type b) \
	{                                                      \
		return a / b;                                  \
	}

TN_EMU_ROUNDED(__f, _rn, float)
TN_EMU_ROUNDED(__d, _rn, double)

static inline float __fmaf_rn(float a, float b, float c)
{
	return fmaf(a, b, c);
}

static inline double __fma_rn(double a, double b, double c)
{
	return fma(a, b, c);
}

static inline float __fsqrt_rn(float x)
{
	return sqrtf(x);
}

static inline double __dsqrt_rn(double x)
{
	return sqrt(x);
}

static inline float tn_emu_rsqrtf(float x)
{
	return (float)(1.0 / sqrt((double)x));
}

static inline double tn_emu_rsqrt(double x)
{
	return 1.0 / sqrt(x);
}

#define rsqrtf tn_emu_rsqrtf
#define rsqrt tn_emu_rsqrt

/* The same bits as another type. */

#define TN_EMU_BITS(name, from, to)       \
	static inline to name(from x)     \
	{                                 \
		to y;                     \
                                          \
		memcpy(&y, &x, sizeof y); \
		return y;                 \
	}

TN_EMU_BITS(__float_as_int, float, int)
TN_EMU_BITS(__float_as_uint, float, unsigned)
TN_EMU_BITS(__int_as_float, int, float)
TN_EMU_BITS(__uint_as_float, unsigned, float)
TN_EMU_BITS(__double_as_longlong, double, long long)
TN_EMU_BITS(__longlong_as_double, long long, double)

/* Kernels: the parameter types unpack the argument pointers of a launch. */

template <size_t... I> struct tn_emu_indices {
};

template <size_t N, size_t... I>
struct tn_emu_count : tn_emu_count<N - 1, N - 1, I...> {
};

template <size_t... I> struct tn_emu_count<0, I...> {
	typedef tn_emu_indices<I...> type;
};

template <class F> struct tn_emu_caller;

template <class... A> struct tn_emu_caller<void(A...)> {
	template <size_t... I>
	static void unpack(void (*kernel)(A...), void **arguments,
			   tn_emu_indices<I...>)
	{
		(void)arguments;
		kernel(*static_cast<A *>(arguments[I])...);
	}

	static void call(void (*kernel)(void), void **arguments)
	{
		unpack(reinterpret_cast<void (*)(A...)>(kernel), arguments,
		       typename tn_emu_count<sizeof...(A)>::type());
	}
};

/* One pointer a kernel in a section of its own; see tn_emu_host.c. */
#define TN_EMU_KERNEL(function)                                          \
	static const struct tn_emu_kernel tn_emu_kernel_##function = {   \
		#function, reinterpret_cast<void (*)(void)>(function),   \
		tn_emu_caller<decltype(function)>::call                  \
	};                                                               \
	static const struct tn_emu_kernel *const tn_emu_entry_##function \
		__attribute__((used, section("tn_emu_kernels"))) =       \
			&tn_emu_kernel_##function;

#endif
