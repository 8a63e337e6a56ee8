/*
 * What stands at the top of NAME.c: rounding, vectors, threads, spelling of
 * what C and C++ or compilers write differently.
 */
#include "backends/c/c_impl.h"

#include "backends/emit_print.h"

static const char head[] =
"\n"
"/* Products and sums round one by one, except where tn_mac_* says so. */\n"
"#if defined(__clang__)\n"
"#pragma STDC FP_CONTRACT OFF\n"
"#elif defined(__GNUC__) && !defined(__STRICT_ANSI__)\n"
"#pragma GCC optimize(\"fp-contract=off\")\n"
"#endif\n"
"/* gcc 12 drops elements where it makes masked loads of `m[i] ? k : v[i]`. */\n"
"#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)\n"
"#pragma GCC optimize(\"no-tree-loop-if-convert\")\n"
"#endif\n"
"#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)\n"
"#define TN_FMA\n"
"#endif\n"
"\n"
"#if defined(__GNUC__) || defined(__clang__)\n"
"#define TN_RESTRICT __restrict__\n"
"#define TN_INLINE static inline __attribute__((always_inline, unused))\n"
"#define TN_OPAQUE static __attribute__((noinline, unused))\n"
"#define TN_KERNEL static __attribute__((noinline))\n"
"#define TN_COLD static __attribute__((noinline, cold, unused))\n"
"#else\n"
"#define TN_RESTRICT\n"
"#define TN_INLINE static inline\n"
"#define TN_OPAQUE static\n"
"#define TN_KERNEL static\n"
"#define TN_COLD static\n"
"#endif\n"
"#define TN_GET(type, place) ((const type *)(const void *)(place))\n"
"#define TN_PUT(type, place) ((type *)(void *)(place))\n"
"\n"
"/* The turns of the loop below do not depend on one another. */\n"
"#if defined(__GNUC__) && !defined(__clang__)\n"
"#define TN_INDEPENDENT _Pragma(\"GCC ivdep\")\n"
"#else\n"
"#define TN_INDEPENDENT\n"
"#endif\n";

static const char threads[] =
"\n"
"/* Threads, where compiled with OpenMP and `pays`. */\n"
"#define TN_PRAGMA(text) _Pragma(#text)\n"
"#ifdef _OPENMP\n"
"#define TN_PARALLEL(pays) TN_PRAGMA(omp parallel for \\\n"
"	num_threads((pays) ? tn_threads : 1))\n"
"#define TN_PARALLEL_RAISING(pays) TN_PRAGMA(omp parallel for \\\n"
"	num_threads((pays) ? tn_threads : 1) reduction(|:tn_flags))\n"
"#else\n"
"#define TN_PARALLEL(pays) (void)(pays), (void)tn_threads;\n"
"#define TN_PARALLEL_RAISING(pays) (void)(pays), (void)tn_threads;\n"
"#endif\n";

static const char vectors[] =
"#define TN_VECTORS 1\n"
"#define TN_LANE(vector, i) ((vector)[i])\n"
"#if defined(__FMA__) || defined(__AVX512F__)\n"
"#include <immintrin.h>\n"
"#endif\n"
"#else\n"
"#define TN_VECTORS 0\n"
"#define TN_LANE(vector, i) ((vector).lane[i])\n"
"#endif\n"
"/* Keeps a loaded vector in a register: gcc would load it at each use. */\n"
"#if TN_VECTORS && !defined(__clang__) && defined(__SSE__)\n";

void tn_c_head(const struct tn_c *c, struct tn_buf *out)
{
	bool prints = tn_print_is_used(&c->host);
	int bytes = c->dialect.vector_bytes;

	tn_buf_putf(out, "#include \"%s.h\"\n\n%s#include <math.h>\n"
		    "#include <stddef.h>\n#include <stdint.h>\n%s"
		    "#include <string.h>\n", c->name, prints ?
		    "#include <float.h>\n" : "", prints ?
		    "#include <stdio.h>\n#include <stdlib.h>\n" : "");
	tn_buf_put(out, head);
	if (c->has_parallel)
		tn_buf_put(out, threads);
	if (!c->has_vectors)
		return;
	tn_buf_putf(out, "\n/* Vectors of the compiler, if the computer has them "
		    "this wide; else, and with TN_PLAIN,\n * loops. */\n"
		    "#if defined(__GNUC__) && !defined(TN_PLAIN) && \\\n"
		    "\t(!defined(__SSE__) || defined(%s))\n", bytes == 64 ?
		    "__AVX512F__" : bytes == 32 ? "__AVX__" : "__SSE__");
	tn_buf_put(out, vectors);
	tn_buf_putf(out, "#define TN_HOLD(vector) __asm__(\"\" : \"+%c\""
		    "(vector))\n#else\n#define TN_HOLD(vector) (void)(vector)\n"
		    "#endif\n", bytes == 64 ? 'v' : 'x');
}
