/*
 * The instruction sets that the C back end knows.
 *
 * The emitted text depends on the width of vectors and the number of
 * registers alone; every text compiles for every computer, since compilers
 * split vectors that they lack.
 */
#include "backends/c/c.h"

#include "backends/backend.h"

#include <string.h>

#define STACK (256 * 1024)
#define NEAR (512 * 1024)	/* of a second-level cache */

/* A target, and what compilers must be told. */
struct isa {
	struct tn_target target;
	const char *flags;
};

/* Measured with AVX2: a dense convolution runs along the channels of its
 * result, and reads one channel after the other; one of a channel at a time wants a
 * vector of channels and then the row. */
#define LAYOUTS(bytes) { \
	.block_bytes = bytes, \
	.dense_in = { 100, 0, 10 }, .dense_out = { 400, 0, 20 }, \
	.depthwise_in = { 300, 100, 0 }, .depthwise_out = { 300, 100, 0 }, \
	.weights = 400 \
}

static const struct tn_target_layouts layouts_16 = LAYOUTS(16);
static const struct tn_target_layouts layouts_32 = LAYOUTS(32);
static const struct tn_target_layouts layouts_64 = LAYOUTS(64);

#define ISA(isa, bytes, registers, flags) \
	{ { &tn_backend_c, TN_PAR_THREADS, "c:" isa, isa, bytes, registers, 0, \
	    0, STACK, NEAR, &layouts_##bytes, NULL }, flags }

/* The best one first. */
static const struct isa isas[] = {
	ISA("avx512", 64, 32, "-mavx512f -mavx512vl -mavx512bw -mavx512dq "
	    "-mavx2 -mfma -mf16c -mprefer-vector-width=512"),
	ISA("avx2", 32, 16, "-mavx2 -mfma -mf16c"),
	ISA("sse2", 16, 16, "-msse2"),
	ISA("neon", 16, 32, ""),
	ISA("generic", 16, 16, ""),
};

#define COUNT (sizeof(isas) / sizeof(isas[0]))

const struct tn_target *const tn_targets_c[] = {
	&isas[0].target, &isas[1].target, &isas[2].target, &isas[3].target,
	&isas[4].target, NULL
};

_Static_assert(sizeof(tn_targets_c) / sizeof(tn_targets_c[0]) == COUNT + 1,
	       "every instruction set is a target");

#if defined(__x86_64__) && defined(__GNUC__)
#define HAS(feature) (__builtin_cpu_supports(feature) != 0)
#define IS_X86 true
#else
#define HAS(feature) false
#define IS_X86 false
#endif
#if defined(__aarch64__)
#define IS_ARM true
#else
#define IS_ARM false
#endif

bool tn_target_c_runs(const char *isa, const char **lacks)
{
	*lacks = NULL;
	if (!strcmp(isa, "sse2") && !IS_X86)
		*lacks = "SSE2";
	if (!strcmp(isa, "neon") && !IS_ARM)
		*lacks = "NEON";
	if (!strcmp(isa, "avx2") || !strcmp(isa, "avx512")) {
		if (!HAS("avx2"))
			*lacks = "AVX2";
		else if (!HAS("fma"))
			*lacks = "FMA";
	}
	if (!*lacks && !strcmp(isa, "avx512")) {
		if (!HAS("avx512f"))
			*lacks = "AVX-512F";
		else if (!HAS("avx512vl"))
			*lacks = "AVX-512VL";
		else if (!HAS("avx512bw"))
			*lacks = "AVX-512BW";
		else if (!HAS("avx512dq"))
			*lacks = "AVX-512DQ";
	}
	return !*lacks;
}

/* The row of an instruction set by name, or NULL. */
static const struct isa *find(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT; i++)
		if (!strcmp(isas[i].target.isa, name))
			return &isas[i];
	return NULL;
}

const struct tn_target *tn_target_c(const char *isa)
{
	const struct isa *found = NULL;
	const char *lacks;
	size_t i;

	if (isa && *isa && strcmp(isa, "native")) {
		found = find(isa);
		return found ? &found->target : NULL;
	}
	for (i = 0; i + 1 < COUNT; i++)
		if (tn_target_c_runs(isas[i].target.isa, &lacks))
			break;
	return &isas[i].target;
}

/* By name: a caller's target is often a copy of a row above. */
const char *tn_target_c_flags(const struct tn_target *target)
{
	const struct isa *found = find(target->isa);

	return found ? found->flags : "";
}

/* ---- The row ------------------------------------------------------------ */

static void describe(const struct tn_target *target, struct tn_buf *out)
{
	tn_buf_putf(out, "C, vectors of %d bytes", target->vector_bytes);
}

static bool runs(const char *isa, struct tn_buf *why)
{
	const char *lacks;

	if (tn_target_c_runs(isa, &lacks))
		return true;
	tn_buf_putf(why, "this CPU lacks %s", lacks);
	return false;
}

static const char *const sources[] = { ".h", ".c", NULL };
static const char *const products[] = { NULL };

static const struct tn_build native = {
	"$cc -std=c11 -O3 -fPIC -shared -w -ffp-contract=off -fno-math-errno & "
	TN_BUILD_OPENMP TN_BUILD_STAY " %/@.c %/" TN_BUILD_GLUE
	" -o %/" TN_BUILD_OBJECT " -lm\n",
	sources, products,
	"#define WHY(report) 0\n"
	"#define FINI(ctx) (void)(ctx)\n",
	"C",
	"name one with --cc, or use --target=ref, which needs none"
};

const struct tn_backend tn_backend_c = {
	.name = "c", .stage = TN_STAGE_PLACED, .has_weights = true,
	.targets = tn_targets_c, .find = tn_target_c, .describe = describe,
	.runs = runs,
	.elsewhere = "build it here, or anywhere with --target=c:generic",
	.flags = tn_target_c_flags, .native = &native, .emit = tn_emit_c
};
