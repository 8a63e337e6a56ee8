/*
 * The instruction sets that the C back end knows.
 *
 * The emitted text depends on the width of vectors and the number of
 * registers alone; every text compiles for every computer, since compilers
 * split vectors that they lack.
 */
#include "backends/c/c.h"

#include <string.h>

#define STACK (256 * 1024)

#define TARGET(isa, bytes, registers) \
	{ TN_TARGET_C, TN_PAR_THREADS, "c:" isa, isa, bytes, registers, 0, 0, \
	  STACK, NULL }

static const struct tn_target avx512 = TARGET("avx512", 64, 32);
static const struct tn_target avx2 = TARGET("avx2", 32, 16);
static const struct tn_target sse2 = TARGET("sse2", 16, 16);
static const struct tn_target neon = TARGET("neon", 16, 32);
static const struct tn_target generic = TARGET("generic", 16, 16);

const struct tn_target *const tn_targets_c[] = {
	&avx512, &avx2, &sse2, &neon, &generic, NULL
};

static const struct tn_target *detect(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") &&
	    __builtin_cpu_supports("avx512vl") &&
	    __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("fma"))
		return &avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return &avx2;
	return &sse2;
#elif defined(__aarch64__)
	return &neon;
#else
	return &generic;
#endif
}

const struct tn_target *tn_target_c(const char *isa)
{
	size_t i;

	if (!isa || !*isa)
		return detect();
	for (i = 0; tn_targets_c[i]; i++)
		if (!strcmp(tn_targets_c[i]->isa, isa))
			return tn_targets_c[i];
	return NULL;
}

/* By name: a caller's target is often a copy of a row above. */
const char *tn_target_c_flags(const struct tn_target *target)
{
	if (!strcmp(target->isa, "avx512"))
		return "-mavx512f -mavx512vl -mavx512bw -mavx512dq -mavx2 "
			"-mfma -mf16c -mprefer-vector-width=512";
	if (!strcmp(target->isa, "avx2"))
		return "-mavx2 -mfma -mf16c";
	if (!strcmp(target->isa, "sse2"))
		return "-msse2";
	return "";
}
