/*
 * Schedules: the text after each step, what is refused and why, and that no
 * sequence of steps changes what a kernel computes, bit by bit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "tests/unit/schedule_kernels.h"

/* ---- The text after a step ----------------------------------------------- */

static void expect_text(const char *maker, int64_t a, int64_t b, int64_t c,
			const char *steps, const char *expected)
{
	int64_t n[3];
	struct world w;
	const char *body;
	size_t i;

	n[0] = a;
	n[1] = b;
	n[2] = c;
	open_world(&w);
	for (i = 0; strcmp(makers[i].name, maker) != 0; i++)
		assert_true(i + 1 < NMAKERS);
	makers[i].make(&w, n);
	if (!tn_schedule_apply(w.kernel, steps, &w.why))
		fail_msg("%s", tn_buf_text(&w.why));
	verify(&w);
	tn_kernel_print(&w.text, w.kernel);
	body = strstr(tn_buf_text(&w.text), ") {\n");
	assert_non_null(body);
	assert_string_equal(body + 4, expected);
	close_world(&w);
}

static void test_split(void **state)
{
	(void)state;
	expect_text("map", 12, 7, 0, "split(i, 4)",
		    "  for i__0 in 0..3 {\n"
		    "    for i__1 in 0..4 {\n"
		    "      for j in 0..7 {\n"
		    "        y[i__0 * 4 + i__1, j] = "
		    "x[i__0 * 4 + i__1, j] * w[j];\n"
		    "      }\n    }\n  }\n}\n");
	expect_text("map", 7, 13, 0, "split(i, 4), parallel(i__0)",
		    "  par(threads) i__0 in 0..1 {\n"
		    "    for i__1 in 0..4 {\n"
		    "      for j in 0..13 {\n"
		    "        y[i__0 * 4 + i__1, j] = "
		    "x[i__0 * 4 + i__1, j] * w[j];\n"
		    "      }\n    }\n  }\n"
		    "  par(threads) i__0 in 1..2 {\n"
		    "    for i__1 in 0..3 {\n"
		    "      for j in 0..13 {\n"
		    "        y[i__0 * 4 + i__1, j] = "
		    "x[i__0 * 4 + i__1, j] * w[j];\n"
		    "      }\n    }\n  }\n}\n");
	expect_text("map", 1, 0, 0, "split(j, 8, tail=guard), split(i, 8)",
		    "  for i__0 in 0..1 {\n"
		    "    for i__1 in 0..1 {\n"
		    "      for j__0 in 0..(N + 7) // 8 {\n"
		    "        for j__1 in 0..8 {\n"
		    "          if j__0 * 8 + j__1 < N {\n"
		    "            y[i__0 * 8 + i__1, j__0 * 8 + j__1] = "
		    "x[i__0 * 8 + i__1, j__0 * 8 + j__1] * "
		    "w[j__0 * 8 + j__1];\n"
		    "          }\n        }\n      }\n    }\n  }\n}\n");
	expect_text("map", 0, 1, 0, "split(i, 6, tail=ones)",
		    "  for i__0 in 0..N // 6 {\n"
		    "    for i__1 in 0..6 {\n"
		    "      for j in 0..1 {\n"
		    "        y[i__0 * 6 + i__1, j] = "
		    "x[i__0 * 6 + i__1, j] * w[j];\n"
		    "      }\n    }\n  }\n"
		    "  for i__0 in 0..N % 6 {\n"
		    "    for i__1 in 0..1 {\n"
		    "      for j in 0..1 {\n"
		    "        y[(6*(N // 6)) + (i__0 + i__1), j] = "
		    "x[(6*(N // 6)) + (i__0 + i__1), j] * w[j];\n"
		    "      }\n    }\n  }\n}\n");
	expect_text("map", 0, 1, 0, "split(i, 6)",
		    "  for i__0 in 0..N // 6 {\n"
		    "    for i__1 in 0..6 {\n"
		    "      for j in 0..1 {\n"
		    "        y[i__0 * 6 + i__1, j] = "
		    "x[i__0 * 6 + i__1, j] * w[j];\n"
		    "      }\n    }\n  }\n"
		    "  for i__0 in N // 6..(N + 5) // 6 {\n"
		    "    for i__1 in 0..N % 6 {\n"
		    "      for j in 0..1 {\n"
		    "        y[i__0 * 6 + i__1, j] = "
		    "x[i__0 * 6 + i__1, j] * w[j];\n"
		    "      }\n    }\n  }\n}\n");
	expect_text("map", 8, 16, 0, "parallel(i), vectorize(j), split(i, 2), "
		    "split(j, 8)",
		    "  par(threads) i__0 in 0..4 {\n"
		    "    for i__1 in 0..2 {\n"
		    "      for j__0 in 0..2 {\n"
		    "        vec j__1 in 0..8 {\n"
		    "          y[i__0 * 2 + i__1, j__0 * 8 + j__1] = "
		    "x[i__0 * 2 + i__1, j__0 * 8 + j__1] * "
		    "w[j__0 * 8 + j__1];\n"
		    "        }\n      }\n    }\n  }\n}\n");
}

/* The borders apart, the middle has the bounds of the whole window. */
static void test_peel(void **state)
{
	(void)state;
	expect_text("map", 4, 2, 0, "peel(i, 1, 2)",
		    "  for i in 0..1 {\n"
		    "    for j in 0..2 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n"
		    "  for i in 1..2 {\n"
		    "    for j in 0..2 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n"
		    "  for i in 2..4 {\n"
		    "    for j in 0..2 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n}\n");
	expect_text("map", 2, 2, 0, "peel(i, 3, 1)",
		    "  for i in 0..2 {\n"
		    "    for j in 0..2 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n}\n");
	expect_text("map", 0, 2, 0, "peel(i, 1, 1)",
		    "  for i in 0..min(N, 1) {\n"
		    "    for j in 0..2 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n"
		    "  for i in 1..N - 1 {\n"
		    "    for j in 0..2 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n"
		    "  for i in max(N - 1, min(N, 1))..N {\n"
		    "    for j in 0..2 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n}\n");
	expect_text("window", 9, 4, 3, "peel(h, 1, 0)",
		    "  for h in 0..1 {\n"
		    "    for o in 0..4 {\n"
		    "      let mut acc: f32 = 1.0;\n"
		    "      for r in max(0 - (h * 2 - 1), 0)..3 {\n"
		    "        for k in 0..3 {\n"
		    "          acc += x[h * 2 - 1 + r, k] * w[r, k, o];\n"
		    "        }\n      }\n"
		    "      y[h, o] = acc;\n"
		    "    }\n  }\n"
		    "  for h in 1..9 {\n"
		    "    for o in 0..4 {\n"
		    "      let mut acc: f32 = 1.0;\n"
		    "      for r in 0..3 {\n"
		    "        for k in 0..3 {\n"
		    "          acc += x[h * 2 - 1 + r, k] * w[r, k, o];\n"
		    "        }\n      }\n"
		    "      y[h, o] = acc;\n"
		    "    }\n  }\n}\n");
	expect_text("window", 0, 4, 3, "peel(h, 1, 0)",
		    "  for h in 0..min(N, 1) {\n"
		    "    for o in 0..4 {\n"
		    "      let mut acc: f32 = 1.0;\n"
		    "      for r in max(0 - (h * 2 - 1), 0)..3 {\n"
		    "        for k in 0..3 {\n"
		    "          acc += x[h * 2 - 1 + r, k] * w[r, k, o];\n"
		    "        }\n      }\n"
		    "      y[h, o] = acc;\n"
		    "    }\n  }\n"
		    "  for h in 1..N {\n"
		    "    for o in 0..4 {\n"
		    "      let mut acc: f32 = 1.0;\n"
		    "      for r in 0..3 {\n"
		    "        for k in 0..3 {\n"
		    "          acc += x[h * 2 - 1 + r, k] * w[r, k, o];\n"
		    "        }\n      }\n"
		    "      y[h, o] = acc;\n"
		    "    }\n  }\n}\n");
}

/* A loop that the tile clips runs over the whole window, under a condition. */
static void test_guard(void **state)
{
	(void)state;
	expect_text("window", 5, 4, 1, "split(h, 5), tile(h__1)",
		    "  for h__0 in 0..1 {\n"
		    "    alloc acc: f32[5] @reg;\n"
		    "    for o in 0..4 {\n"
		    "      for h__1 in 0..5 {\n"
		    "        acc[h__1] = 1.0;\n"
		    "      }\n"
		    "      for r in 0..3 {\n"
		    "        for k in 0..1 {\n"
		    "          for h__1 in 0..5 {\n"
		    "            if 0 - ((h__0 * 5 + h__1) * 2 - 1) <= r {\n"
		    "              acc[h__1] += x[(h__0 * 5 + h__1) * 2 - 1 + r, "
		    "k] * w[r, k, o];\n"
		    "            }\n          }\n        }\n      }\n"
		    "      for h__1 in 0..5 {\n"
		    "        y[h__0 * 5 + h__1, o] = acc[h__1];\n"
		    "      }\n    }\n  }\n}\n");
}

/* The turns that pay for threads follow what a turn does. */
static void test_threads(void **state)
{
	(void)state;
	expect_text("map", 12, 7, 0, "parallel(i, min=9), split(i, 4)",
		    "  par(threads, min=3) i__0 in 0..3 {\n"
		    "    for i__1 in 0..4 {\n"
		    "      for j in 0..7 {\n"
		    "        y[i__0 * 4 + i__1, j] = "
		    "x[i__0 * 4 + i__1, j] * w[j];\n"
		    "      }\n    }\n  }\n}\n");
	expect_text("map", 3, 7, 0, "parallel(i, min=2), parallel(j), "
		    "fuse(i, j)",
		    "  par(threads, min=14) i__j in 0..21 {\n"
		    "    y[i__j // 7, i__j % 7] = "
		    "x[i__j // 7, i__j % 7] * w[i__j % 7];\n"
		    "  }\n}\n");
	expect_text("map", 3, 7, 0, "parallel(i, min=2), unroll(i)",
		    "  unroll i in 0..3 {\n"
		    "    for j in 0..7 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n}\n");
	expect_text("map", 3, 7, 0, "parallel(i, min=2), bind(i, grid.x)",
		    "  par(grid.x) i in 0..3 {\n"
		    "    for j in 0..7 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n}\n");
	expect_text("map", 3, 7, 0, "parallel(i, min=2), pack(w, j), "
		    "parallel(i)",
		    "  alloc w__packed: f32[7] @arena;\n"
		    "  for j in 0..7 {\n"
		    "    w__packed[j] = w[j];\n"
		    "  }\n"
		    "  par(threads) i in 0..3 {\n"
		    "    for j in 0..7 {\n"
		    "      y[i, j] = x[i, j] * w__packed[j];\n"
		    "    }\n  }\n}\n");
}

static void test_order(void **state)
{
	(void)state;
	expect_text("blocks", 3, 4, 4, "parallel(i)",
		    "  par(threads) i in 0..3 {\n"
		    "    for t in 0..4 {\n"
		    "      y[i * 4 + t] += x[i * 4 + t];\n"
		    "    }\n"
		    "    for u in 0..4 {\n"
		    "      z[i, u] = y[i * 4 + u];\n"
		    "    }\n  }\n}\n");
	expect_text("map", 3, 7, 0, "parallel(i, min=3), reorder(j, i)",
		    "  for j in 0..7 {\n"
		    "    par(threads, min=3) i in 0..3 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n}\n");
	expect_text("map", 3, 7, 0, "reorder(j, i)",
		    "  for j in 0..7 {\n"
		    "    for i in 0..3 {\n"
		    "      y[i, j] = x[i, j] * w[j];\n"
		    "    }\n  }\n}\n");
	expect_text("scan", 3, 7, 0, "reorder(j, i), parallel(j)",
		    "  par(threads) j in 0..7 {\n"
		    "    for i in 0..3 {\n"
		    "      y[i + 1, j] += y[i, j] * x[j];\n"
		    "    }\n  }\n}\n");
	expect_text("map", 3, 7, 0, "fuse(i, j), split(i__j, 7), "
		    "bind(i__j__0, grid.x), bind(i__j__1, block.x)",
		    "  par(grid.x) i__j__0 in 0..3 {\n"
		    "    par(block.x) i__j__1 in 0..7 {\n"
		    "      y[i__j__0, i__j__1] = x[i__j__0, i__j__1] * "
		    "w[i__j__1];\n"
		    "    }\n  }\n}\n");
}

/* The register tile of a matrix product, as in bench/kernels. */
static void test_tile(void **state)
{
	(void)state;
	expect_text("matmul", 6, 8, 13, "split(i, 3), split(j, 4), "
		    "reorder(j__0, i__0, i__1, j__1), tile(i__1, j__1), "
		    "stage(w, j__0, k, j__1, space=stack), "
		    "stage(w__staged, k, j__1), unroll(i__1), "
		    "vectorize(j__1), parallel(j__0)",
		    "  par(threads) j__0 in 0..2 {\n"
		    "    alloc w__staged: f32[13, 4] @stack;\n"
		    "    for k in 0..13 {\n"
		    "      vec j__1 in 0..4 {\n"
		    "        w__staged[k, j__1] = w[k, j__0 * 4 + j__1];\n"
		    "      }\n    }\n"
		    "    for i__0 in 0..2 {\n"
		    "      alloc acc: f32[3, 4] @reg;\n"
		    "      unroll i__1 in 0..3 {\n"
		    "        vec j__1 in 0..4 {\n"
		    "          acc[i__1, j__1] = 0.0;\n"
		    "        }\n      }\n"
		    "      for k in 0..13 {\n"
		    "        alloc w__staged__staged: f32[4] @reg;\n"
		    "        vec j__1 in 0..4 {\n"
		    "          w__staged__staged[j__1] = w__staged[k, j__1];\n"
		    "        }\n"
		    "        unroll i__1 in 0..3 {\n"
		    "          vec j__1 in 0..4 {\n"
		    "            acc[i__1, j__1] += x[i__0 * 3 + i__1, k] * "
		    "w__staged__staged[j__1];\n"
		    "          }\n        }\n      }\n"
		    "      unroll i__1 in 0..3 {\n"
		    "        vec j__1 in 0..4 {\n"
		    "          y[i__0 * 3 + i__1, j__0 * 4 + j__1] = "
		    "acc[i__1, j__1];\n"
		    "        }\n      }\n    }\n  }\n}\n");
	expect_text("rows", 4, 7, 0, "split(i, 4), tile(i__1)",
		    "  for i__0 in 0..1 {\n"
		    "    alloc acc: f32[4] @reg;\n"
		    "    alloc inv: f32[4] @reg;\n"
		    "    for i__1 in 0..4 {\n"
		    "      acc[i__1] = 1.0;\n"
		    "    }\n"
		    "    for k in 0..7 {\n"
		    "      for i__1 in 0..4 {\n"
		    "        acc[i__1] += x[i__0 * 4 + i__1, k];\n"
		    "      }\n    }\n"
		    "    for i__1 in 0..4 {\n"
		    "      inv[i__1] = 1.0 / acc[i__1];\n"
		    "    }\n"
		    "    for j in 0..7 {\n"
		    "      for i__1 in 0..4 {\n"
		    "        y[i__0 * 4 + i__1, j] = "
		    "x[i__0 * 4 + i__1, j] * inv[i__1];\n"
		    "      }\n    }\n  }\n}\n");
}

static void test_pack(void **state)
{
	(void)state;
	expect_text("matmul", 0, 8, 13, "split(j, 4), pack(w, j__0, k, j__1)",
		    "  alloc w__packed: f32[2, 13, 4] @arena;\n"
		    "  for j__0 in 0..2 {\n"
		    "    for k in 0..13 {\n"
		    "      for j__1 in 0..4 {\n"
		    "        w__packed[j__0, k, j__1] = "
		    "w[k, j__0 * 4 + j__1];\n"
		    "      }\n    }\n  }\n"
		    "  for i in 0..N {\n"
		    "    for j__0 in 0..2 {\n"
		    "      for j__1 in 0..4 {\n"
		    "        let mut acc: f32 = 0.0;\n"
		    "        for k in 0..13 {\n"
		    "          acc += x[i, k] * w__packed[j__0, k, j__1];\n"
		    "        }\n"
		    "        y[i, j__0 * 4 + j__1] = acc;\n"
		    "      }\n    }\n  }\n}\n");
	expect_text("if", 3, 7, 0, "pack(w, j, space=stack)",
		    "  alloc w__staged: f32[7] @stack;\n"
		    "  for j in 0..7 {\n"
		    "    w__staged[j] = w[j];\n"
		    "  }\n"
		    "  for i in 0..3 {\n"
		    "    for j in 0..7 {\n"
		    "      if x[i] < 0.0 {\n"
		    "        y[i, j] = w__staged[j];\n"
		    "      } else {\n"
		    "        y[i, j] = x[i];\n"
		    "      }\n    }\n  }\n}\n");
	expect_text("if", 3, 0, 0, "pack(w, j)",
		    "  alloc w__packed: f32[N] @arena;\n"
		    "  for j in 0..N {\n"
		    "    w__packed[j] = w[j];\n"
		    "  }\n"
		    "  for i in 0..3 {\n"
		    "    for j in 0..N {\n"
		    "      if x[i] < 0.0 {\n"
		    "        y[i, j] = w__packed[j];\n"
		    "      } else {\n"
		    "        y[i, j] = x[i];\n"
		    "      }\n    }\n  }\n}\n");
	expect_text("map", 3, 7, 0, "bind(i, block.x), "
		    "stage(w, i, j, space=shared)",
		    "  par(block.x) i in 0..3 {\n"
		    "    alloc w__staged: f32[7] @shared;\n"
		    "    barrier();\n"
		    "    for j in 0..7 {\n"
		    "      w__staged[j] = w[j];\n"
		    "    }\n"
		    "    barrier();\n"
		    "    for j in 0..7 {\n"
		    "      y[i, j] = x[i, j] * w__staged[j];\n"
		    "    }\n  }\n}\n");
}

/* ---- Refusals ---------------------------------------------------------- */

static const struct {
	const char *maker;
	int64_t n[3];
	const char *steps, *why;
} refusals[] = {
	{ "map", { 3, 7, 0 }, "splot(i, 2)",
	  "splot(i): there is no such step; did you mean split" },
	{ "map", { 3, 7, 0 }, "split(i)", "split(i): needs 2 arguments" },
	{ "map", { 3, 7, 0 }, "split(i, 2, 3)",
	  "split(i): takes 2 arguments" },
	{ "map", { 3, 7, 0 }, "unroll()",
	  "unroll(): needs at least 1 argument" },
	{ "map", { 3, 7, 0 }, "split(i, 2", "split(i): a closing ')' is "
	  "missing" },
	{ "map", { 3, 7, 0 }, "split", "a step is written name(arguments)" },
	{ "map", { 3, 7, 0 }, "split(i, 2, tail=cut)",
	  "split(i): tail is peel, guard or ones" },
	{ "map", { 3, 7, 0 }, "split(i, 2, tale=peel)",
	  "split(i): there is no option 'tale'" },
	{ "map", { 3, 7, 0 }, "split(i, tail=peel, 2)",
	  "split(i): needs 2 arguments" },
	{ "map", { 3, 7, 0 }, "split(i, tail=)",
	  "split(i): an argument is missing" },
	{ "map", { 3, 7, 0 }, "split(z, 2)",
	  "split(z): there is no loop 'z'" },
	{ "map", { 3, 7, 0 }, "split(i, 0)",
	  "split(i): needs a size from 1 to 2147483647 and a loop of step 1" },
	{ "map", { 3, 7, 0 }, "split(i, 2x)",
	  "split(i): needs a size from 1 to 2147483647 and a loop of step 1" },
	{ "map", { 3, 7, 0 }, "split(i, 99999999999999999999)",
	  "split(i): needs a size from 1 to 2147483647 and a loop of step 1" },
	{ "map", { 3, 7, 0 }, "reorder(j, z)",
	  "reorder(j): the loops are not one perfect nest" },
	{ "map", { 3, 7, 0 }, "reorder(i, j, i)",
	  "reorder(i): 'i' is named twice" },
	{ "map", { 3, 7, 0 }, "pack(w, j, j)",
	  "pack(w): 'j' is named twice" },
	{ "rows", { 3, 7, 0 }, "reorder(k, i)",
	  "reorder(k): 'i' holds more than the next loop" },
	{ "skew", { 3, 7, 0 }, "reorder(j, k)",
	  "reorder(j): 'k' and 'j' carry dependences and must keep their "
	  "order" },
	{ "map", { 3, 7, 0 }, "fuse(j, i)",
	  "fuse(j): 'i' is not the only statement of 'j'" },
	{ "map", { 3, 7, 0 }, "vectorize(j), fuse(i, j)",
	  "fuse(i): the loops are of two kinds" },
	{ "map", { 0, 7, 0 }, "unroll(i)",
	  "unroll(i): the number of turns of 'i' is not a constant (split it "
	  "with tail=ones if its size is a dim)" },
	{ "map", { 300, 7, 0 }, "unroll(i)",
	  "unroll(i): 300 turns are too many to write out (at most 64: split "
	  "it)" },
	{ "map", { 65, 7, 0 }, "unroll(i)",
	  "unroll(i): 65 turns are too many to write out (at most 64: split "
	  "it)" },
	{ "map", { 13, 5, 0 }, "unroll(i, j), fuse(i, j)",
	  "fuse(i): 65 turns are too many to write out (at most 64)" },
	{ "matmul", { 3, 7, 7 }, "vectorize(k)",
	  "vectorize(k): the turns of 'k' depend on one another" },
	{ "scan", { 3, 7, 7 }, "parallel(j, i)",
	  "parallel(j): the turns of 'i' depend on one another" },
	{ "map", { 3, 7, 0 }, "parallel(i, min=0)",
	  "parallel(i): min is a number of turns, at least 1" },
	{ "map", { 3, 7, 0 }, "parallel(i, min=9223372036854775808)",
	  "parallel(i): min is a number of turns, at least 1" },
	{ "map", { 3, 7, 0 }, "vectorize(j, min=2)",
	  "vectorize(j): there is no option 'min'" },
	{ "skew", { 3, 7, 0 }, "parallel(k)",
	  "parallel(k): the turns of 'k' depend on one another" },
	{ "blocks", { 3, 5, 4 }, "parallel(i)",
	  "parallel(i): the turns of 'i' depend on one another" },
	{ "blocks", { 3, 4, 5 }, "parallel(i)",
	  "parallel(i): the turns of 'i' depend on one another" },
	{ "blocks", { 3, 5, 5 }, "parallel(i)",
	  "parallel(i): the turns of 'i' depend on one another" },
	{ "triangle", { 3, 0, 0 }, "tile(i)",
	  "tile(i): the bounds of 'k' are not the same for the whole nest" },
	{ "triangle", { 3, 0, 0 }, "peel(k, 1, 1)",
	  "peel(k): the bounds of 'k' depend on other loops" },
	{ "map", { 3, 7, 0 }, "peel(i, 0, 0)",
	  "peel(i): no turns are to be peeled" },
	{ "map", { 3, 7, 0 }, "peel(i, one, 0)",
	  "peel(i): 'one' is not a number of turns" },
	{ "map", { 3, 7, 0 }, "peel(z, 1, 0)",
	  "peel(z): there is no loop 'z'" },
	{ "map", { 3, 7, 0 }, "peel(i, 1)", "peel(i): needs 3 arguments" },
	{ "triangle", { 3, 0, 0 }, "split(k, 2)",
	  "split(k): the bounds of 'k' depend on other loops" },
	{ "triangle", { 3, 0, 0 }, "pack(x, k)",
	  "pack(x): loop 'k' must run from 0 by 1" },
	{ "shifted", { 3, 4, 4 }, "parallel(i)",
	  "parallel(i): the turns of 'i' depend on one another" },
	{ "spread", { 2, 8, 3 }, "split(k, 4), split(i, 2), "
	  "reorder(i__0, i__1, k__0, k__1), tile(i__1), vectorize(k__1)",
	  "vectorize(k__1): the turns of 'k__1' depend on one another" },
	{ "map", { 3, 7, 0 }, "bind(i, grid.w)",
	  "bind(i): 'grid.w' is not an axis: grid.x to block.z, warp or "
	  "threads" },
	{ "matmul", { 3, 8, 4 }, "tile(i, j), parallel(i)",
	  "parallel(i): 'i' writes 'acc', which stands outside it and "
	  "belongs to one thread" },
	{ "matmul", { 3, 8, 4 }, "parallel(i), tile(i, j)",
	  "tile(i): 'i' is par already: tile first" },
	{ "matmul", { 0, 8, 4 }, "tile(i, j)",
	  "tile(i): 'i' has no constant number of turns (split it with "
	  "tail=ones if its size is a dim)" },
	{ "matmul", { 3, 8, 4 }, "tile(j, i)",
	  "tile(j): 'j' holds more than the next loop" },
	{ "scan", { 3, 8, 4 }, "tile(i)",
	  "tile(i): the turns of 'i' depend on one another" },
	{ "matmul", { 300, 300, 4 }, "tile(i, j)",
	  "tile(i): the tile is empty or has more than 16384 elements" },
	{ "rows", { 3, 8, 4 }, "vectorize(j), tile(i)",
	  "tile(i): 'j' is par or vec already: tile first" },
	{ "matmul", { 3, 8, 4 }, "stage(w, i, j, k), tile(i)",
	  "tile(i): the body allocates 'w__staged'" },
	{ "matmul", { 3, 8, 4 }, "pack(y, i, j)", "pack(y): it is not read" },
	{ "scan", { 3, 8, 4 }, "pack(y, i, j)",
	  "pack(y): it is an output of the kernel" },
	{ "matmul", { 3, 8, 4 }, "pack(w, k)",
	  "pack(w): the reads also depend on loop 'j'" },
	{ "matmul", { 3, 8, 4 }, "pack(w, k, z)",
	  "pack(w): loop 'z' is not around every read" },
	{ "matmul", { 3, 8, 4 }, "pack(w, k, j), pack(w, k, j)",
	  "pack(w): the name 'w__packed' is taken" },
	{ "matmul", { 3, 8, 4 }, "stage(w, k, j, space=arena)",
	  "stage(w): space is reg, stack, shared" },
	{ "matmul", { 3, 8, 4 }, "stage(w, k, j)",
	  "stage(w): loop 'j' is not around every read" },
	{ "map", { 3, 0, 0 }, "stage(w, i, j)",
	  "stage(w): loop 'j' has no fixed number of turns" },
	{ "matmul", { 3, 8, 4 }, "stage(x, z, k)",
	  "stage(x): there is no loop 'z'" },
	{ "rows", { 3, 8, 4 }, "pack(x, i, k)",
	  "pack(x): the reads also depend on loop 'j'" },
	{ "if", { 3, 7, -4 }, "pack(w, j)",
	  "pack(w): 'w' is read under a condition, and not proved in "
	  "bounds" }
};

static void test_refusals(void **state)
{
	struct world w;
	size_t i, m;

	(void)state;
	for (i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		open_world(&w);
		for (m = 0; strcmp(makers[m].name, refusals[i].maker); m++)
			assert_true(m + 1 < NMAKERS);
		makers[m].make(&w, refusals[i].n);
		if (tn_schedule_apply(w.kernel, refusals[i].steps, &w.why))
			fail_msg("'%s' was not refused", refusals[i].steps);
		assert_string_equal(tn_buf_text(&w.why), refusals[i].why);
		assert_false(w.module->failed);
		close_world(&w);
	}
}

/* ---- Any sequence of steps keeps the meaning ------------------------- */

static const int64_t sizes[] = { 1, 3, 7, 13, 17, 0 };

struct fuzz {
	struct world w;
	uint32_t state;
	const struct maker *maker;
	int64_t n[3];
	struct tn_buf steps;	/* accepted so far */
	int accepted[9];
};

static const char *const kinds[] = {
	"split", "reorder", "fuse", "vectorize", "unroll", "parallel", "tile",
	"pack", "peel"
};

#define NKINDS ((int)(sizeof(kinds) / sizeof(*kinds)))

static int pick(struct fuzz *f, int n)
{
	return (int)(noise(&f->state) % (uint32_t)n);
}

static void names_in(const struct tn_kblock *block, const char **names,
		     int *n)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_LOOP && *n < 64)
			names[(*n)++] = s->var->name;
		names_in(&s->body, names, n);
		names_in(&s->orelse, names, n);
	}
}

/* Two loop names, mostly of a nest: neighbours in the text. */
static void random_step(struct fuzz *f, int kind, struct tn_buf *out)
{
	static const char *const bufs[] = { "w", "x", "w__staged" };
	static const char *const tails[] = {
		"", ", tail=peel", ", tail=guard", ", tail=ones"
	};
	const char *names[64], *a, *b, *c;
	int n = 0, at;

	names_in(&f->w.kernel->body, names, &n);
	at = pick(f, n);
	a = names[at];
	b = names[at + 1 < n && pick(f, 4) ? at + 1 : pick(f, n)];
	c = names[pick(f, n)];
	tn_buf_putf(out, "%s(", pick(f, 2) && kind == 7 ? "stage"
		    : kinds[kind]);
	switch (kind) {
	case 0:
		tn_buf_putf(out, "%s, %d%s)", a, 1 + pick(f, 6),
			    tails[pick(f, 4)]);
		break;
	case 1:
		tn_buf_putf(out, pick(f, 2) ? "%s, %s)" : "%s, %s, %s)", b, a,
			    c);
		break;
	case 2:
		tn_buf_putf(out, "%s, %s)", a, b);
		break;
	case 6:
		tn_buf_putf(out, pick(f, 2) ? "%s, %s)" : "%s)", a, b);
		break;
	case 7:
		tn_buf_putf(out, pick(f, 2) ? "%s, %s, %s)" : "%s, %s, %s, "
			    "%s)", bufs[pick(f, 3)], a, b, c);
		break;
	case 8:
		tn_buf_putf(out, "%s, %d, %d)", a, pick(f, 3), pick(f, 3));
		break;
	default:
		tn_buf_putf(out, "%s)", a);
		break;
	}
}

static void rebuild(struct fuzz *f)
{
	tn_buf_fini(&f->w.why);
	tn_buf_init(&f->w.why);
	f->maker->make(&f->w, f->n);
}

static void compare(struct fuzz *f, const struct tn_buf *before,
		    const struct tn_buf *after, int64_t n)
{
	if (before->len == after->len &&
	    !memcmp(before->data, after->data, before->len))
		return;
	tn_kernel_print(&f->w.text, f->w.kernel);
	fail_msg("%s, N = %d: '%s' changes the result\n%s", f->maker->name,
		 (int)n, tn_buf_text(&f->steps), tn_buf_text(&f->w.text));
}

/* Runs the plain kernel and the scheduled one. */
static void check_meaning(struct fuzz *f)
{
	struct tn_kernel *scheduled = f->w.kernel;
	struct tn_buf before, after;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		if (i && f->n[0] && f->n[1] && f->n[2])
			break;
		tn_buf_init(&before);
		tn_buf_init(&after);
		run(&f->w, sizes[i], &after);
		rebuild(f);
		run(&f->w, sizes[i], &before);
		f->w.kernel = scheduled;
		compare(f, &before, &after, sizes[i]);
		tn_buf_fini(&before);
		tn_buf_fini(&after);
	}
}

/* Schedules of clipped windows, of numbers and of N rows. */
static void test_windows(void **state)
{
	/* The even ones need a number of rows. */
	static const char *const steps[] = {
		"split(h, 4), peel(h__0, 1, 1), tile(h__1, o), unroll(h__1)",
		"split(h, 4, tail=ones), peel(h__0, 2, 1), tile(h__1, o), "
		"unroll(r, h__1)",
		"peel(h, 1, 1), split(h, 3, tail=ones), reorder(h__0, o, h__1), "
		"tile(o, h__1), stage(w, k, o)",
		"reorder(o, h), split(h, 2, tail=ones), tile(h__1)",
		"peel(h, 1, 2), peel(h, 1, 1), tile(o)",
		"peel(h, 1, 1)"
	};
	static const int64_t rows[] = { 1, 2, 5, 9, 17, 0 };
	struct fuzz f = { .state = 1 };
	size_t i, k, n;

	(void)state;
	for (i = 0; strcmp(makers[i].name, "window") != 0; i++)
		assert_true(i + 1 < NMAKERS);
	f.maker = &makers[i];
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		for (k = 0; k < 2 * sizeof(rows) / sizeof(*rows); k++) {
			n = k / 2;
			f.n[0] = rows[n];
			f.n[1] = 4;
			f.n[2] = 2 + (int64_t)(k % 2);
			if (i % 2 == 0 && !rows[n])
				continue;
			open_world(&f.w);
			tn_buf_init(&f.steps);
			rebuild(&f);
			if (!tn_schedule_apply(f.w.kernel, steps[i],
					       &f.w.why))
				fail_msg("%s", tn_buf_text(&f.w.why));
			verify(&f.w);
			tn_buf_put(&f.steps, steps[i]);
			check_meaning(&f);
			tn_buf_fini(&f.steps);
			close_world(&f.w);
		}
}

static void fuzz_case(struct fuzz *f)
{
	struct tn_buf trial;
	int turn, kind, i;

	open_world(&f->w);
	tn_buf_init(&f->steps);
	f->maker = &makers[pick(f, NMAKERS)];
	for (i = 0; i < 3; i++)
		f->n[i] = sizes[pick(f, 6)];
	rebuild(f);
	for (turn = 0; turn < 12; turn++) {
		tn_buf_init(&trial);
		kind = pick(f, NKINDS);
		tn_buf_putf(&trial, "%s%s", tn_buf_text(&f->steps),
			    f->steps.len ? ", " : "");
		random_step(f, kind, &trial);
		rebuild(f);
		if (tn_schedule_apply(f->w.kernel, tn_buf_text(&trial),
				      &f->w.why)) {
			verify(&f->w);
			f->accepted[kind]++;
			tn_buf_fini(&f->steps);
			f->steps = trial;
			continue;
		}
		assert_false(f->w.module->failed);
		assert_true(f->w.why.len > 0);
		tn_buf_fini(&trial);
		rebuild(f);
		assert_true(tn_schedule_apply(f->w.kernel,
					      tn_buf_text(&f->steps),
					      &f->w.why));
	}
	check_meaning(f);
	tn_buf_fini(&f->steps);
	close_world(&f->w);
}

static void test_random_steps(void **state)
{
	struct fuzz f = { .state = 1 };
	int i;

	(void)state;
	for (i = 0; i < 500; i++)
		fuzz_case(&f);
	for (i = 0; i < NKINDS; i++)
		assert_true(f.accepted[i] > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_split), cmocka_unit_test(test_threads),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_peel), cmocka_unit_test(test_guard),
		cmocka_unit_test(test_tile), cmocka_unit_test(test_pack),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_random_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
