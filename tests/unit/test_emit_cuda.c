/*
 * Emitted CUDA against the interpreter: every class of operators, control
 * flow, weights, sizes known at run time alone, odd sizes. The texts run on
 * the stand-in as gcc and clang build it, and are compiled by nvcc where there
 * is one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/emit_cuda_kit.h"

static const struct cuda_case maps = {
	"maps",
	"dim B in [1, 64];\n"
	"fn main(x: f32[B, 7], y: f32[7], i: i32[B, 7], p: bool[B, 7])\n"
	"  -> (a: f32[B, 7], b: f32[B, 7], c: i32[B, 7], d: bool[B, 7],\n"
	"      e: i64[B, 7], f: u8[B, 7], g: f64[B, 7]) {\n"
	"  a = max(x * y + 0.5, -x) - floor(x) / 3.0;\n"
	"  b = select(p, exp(x), tanh(y)) + sqrt(abs(x)) + erf(x);\n"
	"  c = i * 3 - min(i, 2) + shl(i, 2) + cast(p, i32);\n"
	"  d = (x < y) & p | !(i == 3);\n"
	"  e = cast(x * 4.0, i64) * 9;\n"
	"  f = cast(i * 100, u8);\n"
	"  g = log(cast(abs(x), f64) + 1.0);\n"
	"  return a, b, c, d, e, f, g;\n"
	"}\n",
	"B=13", 1e-6, 0, 0
};

static const struct cuda_case halves = {
	"halves",
	"dim B in [1, 64];\n"
	"fn main(x: f16[B, 17], y: bf16[17])\n"
	"  -> (a: f16[B, 17], b: bf16[B, 17], c: f16[B], d: f32[B, 17]) {\n"
	"  a = x * x + 0.125 - exp(x);\n"
	"  b = y / 3.0 + cast(x, bf16);\n"
	"  c = sum(x * x, axes=[1]);\n"
	"  d = cast(x, f32) + cast(y, f32);\n"
	"  return a, b, c, d;\n"
	"}\n",
	"B=3", 0, 0, 0
};

static const struct cuda_case divides = {
	"divides",
	"fn main(x: i32[17], y: i32[17]) -> (q: i32[17], r: i32[17]) {\n"
	"  q = x // y;\n"
	"  r = x % y;\n"
	"  return q, r;\n"
	"}\n",
	"", 0, 4, 1
};

static const struct cuda_case reductions = {
	"reductions",
	"dim B in [1, 64];\n"
	"fn main(x: f32[B, 13, 7], i: i32[B, 13])\n"
	"  -> (a: f32[B, 7], b: f32[B, 13], c: f32, d: i64[B, 7],\n"
	"      e: i32[13], f: f32[B, 13, 7], g: bool[B]) {\n"
	"  a = sum(x, axes=[1]);\n"
	"  b = reduce_max(x, axes=[2]);\n"
	"  c = mean(x);\n"
	"  d = argmax(x, axis=1);\n"
	"  e = prod(i, axes=[0]);\n"
	"  f = cumsum(x, axis=1, reverse=true);\n"
	"  g = any(i > 5, axes=[1]);\n"
	"  return a, b, c, d, e, f, g;\n"
	"}\n",
	"B=5", 1e-6, 0, 0
};

static const struct cuda_case products = {
	"products",
	"dim B in [1, 64];\n"
	"dim N in [0, 40];\n"
	"fn main(x: f32[B, 17], w: f32[17, N], t: f32[3, B, 7],\n"
	"        u: f32[3, 7, 13], i: i32[B, 17], h: f16[17, 7])\n"
	"  -> (a: f32[B, N], b: f32[3, B, 13], c: i32[B, B], d: f16[B, 7],\n"
	"      e: f32[3]) {\n"
	"  a = x @ w;\n"
	"  b = t @ u;\n"
	"  c = i @ transpose(i, perm=[1, 0]);\n"
	"  d = cast(x, f16) @ h;\n"
	"  e = einsum(\"abc,acd->a\", t, u);\n"
	"  return a, b, c, d, e;\n"
	"}\n",
	"B=3 N=31", 1e-5, 0, 0
};

static const struct cuda_case windows = {
	"windows",
	"dim B in [1, 8];\n"
	"fn main(x: f32[B, 4, 7, 6], w: f32[6, 2, 3, 3], b: f32[6],\n"
	"        v: f32[4, 3, 3, 2])\n"
	"  -> (y: f32[B, 6, 4, 6], p: f32[B, 4, 3, 3], q: f32[B, 4, 7, 6],\n"
	"      t: f32[B, 3, 15, 7]) {\n"
	"  y = relu(conv(x, w, b, stride=[2, 1], pad=[[1, 1], [1, 1]],\n"
	"                groups=2));\n"
	"  p = maxpool(x, size=2, stride=2);\n"
	"  q = avgpool(x, size=3, stride=1, pad=[[1, 1], [1, 1]]);\n"
	"  t = conv_transpose(x, v, stride=[2, 1]);\n"
	"  return y, p, q, t;\n"
	"}\n",
	"B=3", 1e-5, 0, 0
};

static const struct cuda_case gathers = {
	"gathers",
	"dim B in [1, 64];\n"
	"fn main(t: f32[5, 7], i: i32[B]) -> (y: f32[B, 7]) {\n"
	"  return gather(t, i, axis=0);\n"
	"}\n",
	"B=13", 0, 7, 2
};

static const struct cuda_case scatters = {
	"scatters",
	"fn main(x: f32[9, 7], i: i64[13], u: f32[13, 7])\n"
	"  -> (s: f32[9, 7], a: f32[9, 7]) {\n"
	"  s = scatter(x, i, u, axis=0);\n"
	"  a = scatter(x, i, u, axis=0, combine=\"add\");\n"
	"  return s, a;\n"
	"}\n",
	"", 1e-6, 9, 0
};

static const struct cuda_case sorts = {
	"sorts",
	"dim B in [1, 64];\n"
	"fn main(x: f32[B, 17], i: i32[13])\n"
	"  -> (a: f32[B, 17], b: i64[B, 17], c: f32[B, 3], d: i64[B, 3],\n"
	"      e: i32[13]) {\n"
	"  a = sort(x, axis=1);\n"
	"  b = argsort(x, axis=1, descending=true);\n"
	"  c, d = topk(x, k=3, axis=1);\n"
	"  e = sort(i, axis=0);\n"
	"  return a, b, c, d, e;\n"
	"}\n",
	"B=7", 0, 0, 0
};

static const struct cuda_case sizes = {
	"sizes",
	"dim N in [1, 40];\n"
	"fn main(x: i32[N], t: f32[N]) -> (y: f32, z: i64) {\n"
	"  dim Z in [0, 40];\n"
	"  i: i64[Z] = nonzero(x > 3);\n"
	"  y = sum(gather(t, i, axis=0) * 2.0);\n"
	"  z = sum(i);\n"
	"  return y, z;\n"
	"}\n",
	"N=31", 1e-6, 0, 0
};

static const struct cuda_case moves = {
	"moves",
	"dim B in [1, 64];\n"
	"fn main(x: f32[B, 3, 7], y: f32[B, 2, 7])\n"
	"  -> (a: f32[7, 3, B], b: f32[B, 5, 7], c: f32[B, 3, 10],\n"
	"      d: f32[B, 2, 3], e: f32[B, 21], f: f32[B, 3, 7]) {\n"
	"  a = transpose(x, perm=[2, 1, 0]);\n"
	"  b = concat(x, y, axis=1);\n"
	"  c = pad(x, pad=[[0, 0], [0, 0], [1, 2]]);\n"
	"  d = slice(x, [0, 1, 0], [B, 3, 7], step=[1, 1, 3]);\n"
	"  e = reshape(x, [B, 21]);\n"
	"  f = reverse(x, axes=[2]);\n"
	"  return a, b, c, d, e, f;\n"
	"}\n",
	"B=5", 0, 0, 0
};

static const struct cuda_case loops = {
	"loops",
	"dim B in [1, 64];\n"
	"fn main(x: f32[B, 7], n: i64) -> (a: f32[B, 7], b: f32[B, 7],\n"
	"                                  c: f32[B, 7], d: i64) {\n"
	"  a = with (h = x) for i in 0..30 {\n"
	"    yield h * 0.5 + cast(i, f32);\n"
	"  };\n"
	"  b, d = with (h = x, k = n) while k < 9 {\n"
	"    yield tanh(h), k + 2;\n"
	"  };\n"
	"  c = if n > 3 { yield x + 1.0; } else { yield x * 2.0; };\n"
	"  return a, b, c, d;\n"
	"}\n",
	"B=3", 1e-6, 0, 0
};

static const struct cuda_case scans = {
	"scans",
	"dim T in [1, 20];\n"
	"fn main(x: f32[T, 7], h0: f32[7]) -> (h: f32[7], y: f32[T, 7]) {\n"
	"  h, y = with (s = h0) scan t in x {\n"
	"    n = tanh(s + t);\n"
	"    emit n * 2.0;\n"
	"    yield n;\n"
	"  };\n"
	"  return h, y;\n"
	"}\n",
	"T=13", 1e-6, 0, 0
};

static const struct cuda_case constants = {
	"constants",
	"const w = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];\n"
	"dim B in [1, 64];\n"
	"fn main(x: f32[B, 2]) -> (y: f32[B, 3], z: f32[3]) {\n"
	"  y = x @ w;\n"
	"  z = sum(w, axes=[0]);\n"
	"  return y, z;\n"
	"}\n",
	"B=5", 1e-6, 0, 0
};

static const struct cuda_case attention = {
	"attention",
	"dim B in [1, 8];\n"
	"dim S in [1, 33];\n"
	"fn main(x: f32[B, S, 8], w: f32[8, 24], g: f32[8], b: f32[8])\n"
	"  -> (y: f32[B, S, 8]) {\n"
	"  n = layernorm(x, g, b);\n"
	"  q, k, v = split(n @ w, axis=-1, parts=3);\n"
	"  a = einsum(\"bsk,btk->bst\", q, k) * 0.35;\n"
	"  m = iota([S, S], axis=0) >= iota([S, S], axis=1);\n"
	"  p = softmax(select(m, a, -inf), axis=-1);\n"
	"  y = x + gelu(p @ v);\n"
	"  return y;\n"
	"}\n",
	"B=2 S=13", 2e-5, 0, 0
};

/* ---- Schedules by hand ---- */

/* Threads over two axes, copies by other loops than the sums. */
static const struct cuda_case tiles = {
	"tiles",
	"dim M in [1, 64];\n"
	"dim N in [1, 64];\n"
	"@fp(contract)\n"
	"@scheduled(hand)\n"
	"kernel k(a: f32[M, 33] @in, b: f32[33, N] @in, c: f32[M, N] @out) {\n"
	"  par(grid.y) p in 0..(M + 7) // 8 {\n"
	"    par(grid.x) q in 0..(N + 15) // 16 {\n"
	"      alloc s: f32[8, 33] @shared;\n"
	"      alloc t: f32[33, 16] @shared;\n"
	"      par(block.x) u in 0..128 {\n"
	"        for v in 0..3 {\n"
	"          if v * 128 + u < 264 && p * 8 + (v * 128 + u) // 33 < M {\n"
	"            s[(v * 128 + u) // 33, (v * 128 + u) % 33] =\n"
	"              a[p * 8 + (v * 128 + u) // 33, (v * 128 + u) % 33];\n"
	"          }\n"
	"        }\n"
	"      }\n"
	"      par(block.y) w in 0..3 {\n"
	"        for z in w * 11..w * 11 + 11 {\n"
	"          for y in 0..16 {\n"
	"            if q * 16 + y < N { t[z, y] = b[z, q * 16 + y]; }\n"
	"          }\n"
	"        }\n"
	"      }\n"
	"      par(block.y) i in 0..8 {\n"
	"        par(block.x) j in 0..16 {\n"
	"          if p * 8 + i < M && q * 16 + j < N {\n"
	"            let mut sum: f32 = 0.0;\n"
	"            for r in 0..33 { sum += s[i, r] * t[r, j]; }\n"
	"            c[p * 8 + i, q * 16 + j] = sum;\n"
	"          }\n"
	"        }\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"}\n"
	"fn main(a: f32[M, 33], b: f32[33, N]) -> (c: f32[M, N]) {\n"
	"  return k(a, b);\n"
	"}\n",
	"M=13 N=31", 1e-5, 0, 0
};

/* Steps that all threads of a block take together; one thread's work between
 * them; a flag raised by it. */
static const struct cuda_case steps = {
	"steps",
	"dim B in [1, 64];\n"
	"@scheduled(hand)\n"
	"kernel k(x: f32[B, 40] @in, y: f32[B, 8] @out) {\n"
	"  par(grid.x) b in 0..B {\n"
	"    alloc s: f32[8] @shared;\n"
	"    alloc t: f32[8] @stack;\n"
	"    let most: f32 = x[b, 0] + 1.0;\n"
	"    par(block.x) i in 0..8 { t[i] = most; }\n"
	"    for r in 0..5 {\n"
	"      par(block.x) i in 0..8 { s[7 - i] = x[b, r * 8 + i]; }\n"
	"      s[r] = s[r] + 0.5;\n"
	"      if r < 4 {\n"
	"        par(block.x) i in 0..8 { t[i] += s[i] * s[7 - i]; }\n"
	"      } else {\n"
	"        par(block.x) i in 0..8 { t[i] += s[(i + 3) % 8]; }\n"
	"        raise(b == 2, 8);\n"
	"      }\n"
	"    }\n"
	"    par(block.x) i in 0..8 step 2 {\n"
	"      y[b, i] = t[7 - i];\n"
	"      y[b, i + 1] = t[6 - i];\n"
	"    }\n"
	"  }\n"
	"}\n"
	"fn main(x: f32[B, 40]) -> (y: f32[B, 8]) { return k(x); }\n",
	"B=5", 0, 0, 8
};

/* Barriers that the text states itself. */
static const struct cuda_case stated = {
	"stated",
	"dim B in [1, 64];\n"
	"@scheduled(hand)\n"
	"kernel k(x: i32[B, 64] @in, y: i32[B, 64] @out) {\n"
	"  par(grid.x) b in 0..B {\n"
	"    alloc s: i32[64] @shared;\n"
	"    par(block.x) i in 0..64 { s[i] = x[b, i]; }\n"
	"    barrier();\n"
	"    par(block.x) i in 0..64 { y[b, i] = s[63 - i]; }\n"
	"  }\n"
	"}\n"
	"fn main(x: i32[B, 64]) -> (y: i32[B, 64]) { return k(x); }\n",
	"B=3", 0, 0, 0
};

/* Several nests: each is a launch of its own, with a serial one between. */
static const struct cuda_case phases = {
	"phases",
	"dim B in [1, 64];\n"
	"@scheduled(hand)\n"
	"kernel k(x: f32[B, 7] @in, y: f32[B, 7] @out, z: f32[2] @out) {\n"
	"  alloc t: f32[B] @arena;\n"
	"  par(grid.x) i in 0..B {\n"
	"    let mut most: f32 = x[i, 0];\n"
	"    for j in 1..7 { most = max(most, x[i, j]); }\n"
	"    t[i] = most;\n"
	"  }\n"
	"  z[0] = 0.0;\n"
	"  for i in 0..B { z[0] = z[0] + t[i]; }\n"
	"  z[1] = t[B - 1];\n"
	"  par(grid.x) p in 0..(B + 3) // 4 {\n"
	"    par(block.x) q in 0..4 {\n"
	"      if p * 4 + q < B {\n"
	"        for j in 0..7 {\n"
	"          y[p * 4 + q, j] = x[p * 4 + q, j] - t[p * 4 + q];\n"
	"        }\n"
	"      }\n"
	"    }\n"
	"  }\n"
	"}\n"
	"fn main(x: f32[B, 7]) -> (y: f32[B, 7], z: f32[2]) {\n"
	"  y, z = k(x);\n"
	"  return y, z;\n"
	"}\n",
	"B=13", 0, 0, 0
};

/* More blocks than a grid has on its second axis, more threads than a block
 * has: loops take several turns. */
static const struct cuda_case turns = {
	"turns",
	"dim N in [1, 70000];\n"
	"@scheduled(hand)\n"
	"kernel k(x: i32[N] @in, y: i32[N] @out, z: i32[3000] @out) {\n"
	"  par(grid.y) i in 0..N { y[i] = add(x[i], x[N - 1 - i]); }\n"
	"  par(block.x) i in 0..3000 { z[i] = cast(i, i32); }\n"
	"}\n"
	"fn main(x: i32[N]) -> (y: i32[N], z: i32[3000]) {\n"
	"  y, z = k(x);\n"
	"  return y, z;\n"
	"}\n",
	"N=69001", 0, 0, 0
};

/* Names that CUDA, the emitted host program or the stand-in use. */
static const struct cuda_case names = {
	"names",
	"fn main(threadIdx: i32[5], atomicOr: i32[5], names_k_main__r: i32[5],\n"
	"        tn_flags: i32[5], s: i32[5], tn_s: i32[5])\n"
	"  -> (r: i32[5], int: i32[5]) {\n"
	"  r = threadIdx // atomicOr + names_k_main__r + tn_flags;\n"
	"  blockIdx = s - tn_s;\n"
	"  int = blockIdx * 2;\n"
	"  return r, int;\n"
	"}\n",
	"", 0, 4, 1
};

/* ---- Interface ---- */

static void test_texts(void **state)
{
	char *header = cuda_text(maps.text, ".h");
	char *side = cuda_text(maps.text, ".cpp");
	char *again = cuda_text(maps.text, ".cpp");

	(void)state;
	assert_non_null(strstr(header, "#define model_INPUTS 4\n"));
	assert_non_null(strstr(header, "int model_run_device("));
	assert_non_null(strstr(header, " * dim B in [1, 64];"));
	assert_non_null(strstr(side, "TN_EMU_KERNEL(model_k_"));
	assert_string_equal(side, again);
	free(header);
	free(side);
	free(again);
}

static void test_targets(void **state)
{
	(void)state;
	assert_string_equal(tn_target_cuda(NULL)->name, "cuda:sm_80");
	assert_string_equal(tn_target_cuda("sm_90")->isa, "sm_90");
	assert_null(tn_target_cuda("sm_20"));
}

#define KERNEL(body) \
	"dim B in [1, 64];\n" \
	"@scheduled(hand)\n" \
	"kernel k(x: f32[B, 64] @in, y: f32[B, 64] @out) {\n" \
	"  par(grid.x) b in 0..B {\n" body "  }\n" \
	"}\n" \
	"fn main(x: f32[B, 64]) -> (y: f32[B, 64]) { return k(x); }\n"

static void test_refusals(void **state)
{
	(void)state;
	cuda_refuses(KERNEL("par(block.x) i in 0..64 { y[b, i] = 0.0; }\n"
			    "par(block.x) i in 0..32 {\n"
			    "  barrier();\n  y[b, i] = x[b, i];\n}\n"),
		     "not all threads of the block share");
	cuda_refuses(KERNEL("unroll r in 0..2 {\n"
			    "  par(block.x) i in 0..32 {\n"
			    "    y[b, r * 32 + i] = x[b, i];\n  }\n}\n"),
		     "an unrolled loop is around its threads");
	cuda_refuses(KERNEL("alloc s: f32[200, 64] @shared;\n"
			    "par(block.x) i in 0..64 {\n"
			    "  s[0, i] = x[b, i];\n  y[b, i] = s[0, i];\n"
			    "}\n"),
		     "larger than a block may have");
	cuda_refuses(KERNEL("alloc t: f32[2] @reg;\n"
			    "t[0] = x[b, 0];\n"
			    "par(block.x) i in 0..64 { y[b, i] = t[0]; }\n"),
		     "a @reg buffer is outside of its threads");
}

/* ---- Every scalar operator on every type ---- */

static bool defined_for(enum tn_opcode code, enum tn_dtype dtype)
{
	const struct tn_op_info *row = &tn_ops[code];
	const char *text = tn_dtype_is(dtype, TN_KIND_B) ? row->bexpr :
		tn_dtype_is(dtype, TN_KIND_F) ? row->fexpr : row->iexpr;

	return row->op_class == TN_CLASS_MAP && strcmp(text, "NA") &&
		tn_dtype_is(dtype, row->kinds);
}

struct program_text {
	struct tn_buf in, out, body, result;
	int count;
};

static void add_result(struct program_text *t, enum tn_dtype dtype)
{
	const char *comma = t->count ? ", " : "";

	tn_buf_putf(&t->out, "%sy%d: %s[23]", comma, t->count,
		    tn_dtype_name(dtype));
	tn_buf_putf(&t->result, "%sy%d", comma, t->count);
	tn_buf_putf(&t->body, "  y%d = ", t->count);
	t->count++;
}

static void add_ops(struct program_text *t, enum tn_dtype dtype)
{
	const char *name = tn_dtype_name(dtype);
	int code, k;

	tn_buf_putf(&t->in, ", %s_a: %s[23], %s_b: %s[23], %s_c: %s[23]",
		    name, name, name, name, name, name);
	for (code = 0; code < TN_OP_COUNT; code++) {
		if (!defined_for((enum tn_opcode)code, dtype) ||
		    code == TN_OP_cast || code == TN_OP_bitcast)
			continue;
		add_result(t, tn_ops[code].drule == TN_DRULE_BOOL ? TN_bool :
			   dtype);
		tn_buf_putf(&t->body, "%s(%s", tn_ops[code].name,
			    code == TN_OP_select ? "p, " : "");
		for (k = code == TN_OP_select; k < tn_ops[code].nin_min; k++)
			tn_buf_putf(&t->body, "%s%s_%c", k >
				    (code == TN_OP_select) ? ", " : "", name,
				    "abc"[k]);
		tn_buf_put(&t->body, ");\n");
	}
}

static void add_casts(struct program_text *t, enum tn_dtype from)
{
	int to;

	for (to = 0; to <= TN_bool; to++) {
		if ((enum tn_dtype)to == from)
			continue;
		add_result(t, (enum tn_dtype)to);
		tn_buf_putf(&t->body, "cast(%s_a, %s);\n",
			    tn_dtype_name(from),
			    tn_dtype_name((enum tn_dtype)to));
	}
}

static void check_types(const enum tn_dtype *dtypes, int count,
			uint32_t flags)
{
	struct cuda_case c = { .name = "scalars", .dims = "", .range = -1,
			       .flags = flags };
	struct program_text t = { .count = 0 };
	struct tn_buf text;
	int i;

	tn_buf_init(&t.in);
	tn_buf_init(&t.out);
	tn_buf_init(&t.body);
	tn_buf_init(&t.result);
	tn_buf_init(&text);
	for (i = 0; i < count; i++) {
		add_ops(&t, dtypes[i]);
		add_casts(&t, dtypes[i]);
	}
	tn_buf_putf(&text, "fn main(p: bool[23]%s) -> (%s) {\n%s  return "
		    "%s;\n}\n", tn_buf_text(&t.in), tn_buf_text(&t.out),
		    tn_buf_text(&t.body), tn_buf_text(&t.result));
	c.text = tn_buf_text(&text);
	cuda_check(&c);
	tn_buf_fini(&t.in);
	tn_buf_fini(&t.out);
	tn_buf_fini(&t.body);
	tn_buf_fini(&t.result);
	tn_buf_fini(&text);
}

static void test_floats(void **state)
{
	static const enum tn_dtype types[] = { TN_f64, TN_f32, TN_f16,
					       TN_bf16 };

	(void)state;
	check_types(types, 4, 0);
}

static void test_signed(void **state)
{
	static const enum tn_dtype types[] = { TN_i64, TN_i32, TN_i16,
					       TN_i8 };

	(void)state;
	check_types(types, 4, 5);
}

static void test_unsigned(void **state)
{
	static const enum tn_dtype types[] = { TN_u64, TN_u32, TN_u16, TN_u8,
					       TN_bool };

	(void)state;
	check_types(types, 5, 1);
}

/* ---- Cases ---- */

static void check(void **state)
{
	cuda_check(*state);
}

static void test_nvcc(void **state)
{
	static const struct cuda_case *const chosen[] = {
		&maps, &halves, &sorts, &steps
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(chosen) / sizeof(*chosen); i++)
		if (!cuda_nvcc(chosen[i]))
			skip();
}

#define CASE(name) \
	{ #name, check, NULL, NULL, (void *)(uintptr_t)&name }

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_refusals),
		CASE(maps),
		CASE(halves),
		CASE(divides),
		CASE(reductions),
		CASE(products),
		CASE(windows),
		CASE(gathers),
		CASE(scatters),
		CASE(sorts),
		CASE(sizes),
		CASE(moves),
		CASE(loops),
		CASE(scans),
		CASE(constants),
		CASE(attention),
		CASE(tiles),
		CASE(steps),
		CASE(stated),
		CASE(phases),
		CASE(turns),
		CASE(names),
		cmocka_unit_test(test_floats),
		cmocka_unit_test(test_signed),
		cmocka_unit_test(test_unsigned),
		cmocka_unit_test(test_nvcc),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, cuda_setup, cuda_teardown);
}
