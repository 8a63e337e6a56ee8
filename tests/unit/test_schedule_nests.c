/*
 * Schedules of several nests: join, part, shrink, lanes. The text after each,
 * what is refused and why, and made-up kernels under made-up steps, which must
 * compute what they did. The kernels come from text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "grammar/elaborate.h"
#include "grammar/syntax.h"
#include "ir/kernel_eval.h"
#include "passes/schedule.h"

/* ---- A kernel from its text ---------------------------------------------- */

struct world {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_arena arena;
	struct tn_elab *elab;
	struct tn_module *module;
	struct tn_kernel *kernel;
	struct tn_buf why;
};

static void open_world(struct world *w, const char *text)
{
	struct tn_elab_options options = { .names = &w->names,
					   .sink = &w->sink };
	struct tn_buf buf;
	struct tn_tree *tree;
	uint32_t file;

	tn_sink_init(&w->sink);
	tn_intern_init(&w->names);
	tn_arena_init(&w->arena);
	tn_buf_init(&w->why);
	file = tn_sink_add_source(&w->sink, "t.tn", text, strlen(text));
	tree = tn_parse(&w->sink, &w->names, &w->arena, file);
	w->elab = tn_elab_new(&options);
	assert_true(tree && w->elab);
	w->module = tn_elab_run(w->elab, tree);
	assert_non_null(w->module);
	if (w->sink.errors) {
		tn_buf_init(&buf);
		tn_sink_render(&w->sink, &buf, false);
		fail_msg("%s\n%s", tn_buf_text(&buf), text);
	}
	w->kernel = tn_vec_ptr(&w->module->kernels, 0);
}

static void close_world(struct world *w)
{
	tn_buf_fini(&w->why);
	tn_elab_free(w->elab);
	tn_module_free(w->module);
	tn_arena_fini(&w->arena);
	tn_intern_fini(&w->names);
	tn_sink_fini(&w->sink);
}

static void verify(const struct world *w)
{
	struct tn_buf faults, text;

	tn_buf_init(&faults);
	tn_buf_init(&text);
	tn_kernel_print(&text, w->kernel);
	if (!tn_kernel_verify(w->kernel, &faults))
		fail_msg("%s%s", tn_buf_text(&faults), tn_buf_text(&text));
	tn_buf_fini(&faults);
	tn_buf_fini(&text);
}

/* The text of the whole file, with a function that calls nothing. */
#define FILE_OF(params, body) "tenon 1.0;\ndim N in [0, 9];\n" \
	"dim M in [1, 7];\nkernel f(" params ") {\n" body "}\n" \
	"fn main(x: f32[1]) -> f32[1] { return x; }\n"

static void expect(const char *file, const char *steps, const char *expected)
{
	struct world w;
	struct tn_buf text;
	const char *body;

	open_world(&w, file);
	if (!tn_schedule_apply(w.kernel, steps, &w.why))
		fail_msg("%s", tn_buf_text(&w.why));
	verify(&w);
	tn_buf_init(&text);
	tn_kernel_print(&text, w.kernel);
	body = strstr(tn_buf_text(&text), ") {\n");
	assert_non_null(body);
	assert_string_equal(body + 4, expected);
	tn_buf_fini(&text);
	close_world(&w);
}

static void refuse(const char *file, const char *steps, const char *why)
{
	struct world w;

	open_world(&w, file);
	if (tn_schedule_apply(w.kernel, steps, &w.why))
		fail_msg("'%s' was not refused", steps);
	assert_string_equal(tn_buf_text(&w.why), why);
	assert_false(w.module->failed);
	close_world(&w);
}

/* ---- Kernels ------------------------------------------------------------- */

/* Rows less their means. */
static const char rows[] = FILE_OF(
	"x: f32[N, 8] @in, y: f32[N, 8] @out",
	"alloc m: f32[N] @arena;\n"
	"for i in 0..N { let mut acc: f32 = 0.0;\n"
	"  for r in 0..8 { acc += x[i, r]; } m[i] = acc / 8.0; }\n"
	"for k in 0..N { let acc: f32 = m[k];\n"
	"  for j in 0..8 { y[k, j] = x[k, j] - acc; } }\n");

/* A row of t for each row of y, which reads all of it. */
static const char chain[] = FILE_OF(
	"x: f32[8, 8] @in, w: f32[8, 4] @in, y: f32[8, 4] @out",
	"alloc t: f32[8, 8] @arena;\n"
	"for i in 0..8 { for j in 0..8 { t[i, j] = x[i, j] * 2.0; } }\n"
	"for h in 0..8 { for f in 0..4 { let mut acc: f32 = 0.0;\n"
	"  for k in 0..8 { acc += t[h, k] * w[k, f]; } y[h, f] = acc; } }\n");

/* The second loop reads what other turns of the first wrote. */
static const char turned[] = FILE_OF(
	"x: f32[6] @in, y: f32[6] @out",
	"alloc t: f32[6] @arena;\n"
	"for i in 0..6 { t[i] = x[i]; }\n"
	"for k in 0..6 { y[k] = t[5 - k]; }\n");

static const char copies[] = FILE_OF(
	"x: f32[N] @in, y: f32[N] @out",
	"alloc t: f32[N] @arena;\n"
	"for i in 0..N { t[i] = x[i]; }\n"
	"for k in 0..N { y[k] = t[k]; }\n");

/* M is at most 7. */
static const char wide[] = FILE_OF(
	"x: f32[N, M] @in, y: f32[N, M] @out",
	"alloc t: f32[N, M, 1] @arena;\n"
	"for i in 0..N { for j in 0..M { t[i, j, 0] = x[i, j]; } }\n"
	"for k in 0..N { for h in 0..M { y[k, h] = t[k, h, 0]; } }\n");

static const char greatest[] = FILE_OF(
	"x: f32[N] @in, y: f32 @out",
	"let mut best: f32 = -inf;\n"
	"let mut sum: f32 = 1.0;\n"
	"for r in 0..N { let v: f32 = x[r]; best = max(best, v);\n"
	"  sum += v * v; }\n"
	"y = best + sum;\n");

/* Columns of a row by all columns of it, as many as rows. */
static const char square[] = FILE_OF(
	"x: f32[5, 5] @in, y: f32[5, 5] @inout",
	"alloc t: f32[5, 5] @arena;\n"
	"for i in 0..5 { for j in 0..5 { t[i, j] = x[i, j]; } }\n"
	"for k in 0..5 { for h in 0..5 { y[k, h] = 0.0;\n"
	"  for r in 0..5 { y[k, h] += t[k, r]; }\n"
	"  for s in 0..5 { y[k, h] += y[k, s]; } } }\n");

/* Between the loops stands what the first makes. */
static const char between[] = FILE_OF(
	"x: f32[6] @in, y: f32[6] @out",
	"alloc t: f32[6] @arena;\n"
	"for i in 0..6 { t[i] = x[i]; }\n"
	"let first: f32 = t[0];\n"
	"for k in 0..6 { y[k] = x[k] + first; }\n");

static const char named[] = FILE_OF(
	"x: f32[6] @in, y: f32[6] @out, z: f32[6] @out",
	"for i in 0..6 { let v: f32 = x[i]; z[i] = v; }\n"
	"let v: f32 = x[0];\n"
	"for k in 0..6 { y[k] = x[k] + v; }\n");

static const char carried[] = FILE_OF(
	"x: f32[6] @in, y: f32[7] @inout",
	"for i in 0..6 { y[i + 1] = y[i] + x[i]; y[0] = x[0]; }\n");

/* Each turn writes the same row. */
static const char shared[] = FILE_OF(
	"x: f32[6, 8] @in, y: f32[6, 8] @out",
	"alloc t: f32[8] @arena;\n"
	"for i in 0..6 { for j in 0..8 { t[j] = x[i, j]; }\n"
	"  for k in 0..8 { y[i, k] = t[k]; } }\n");

/* A name of what the loop does not change goes with each part that uses it. */
static const char lets[] = FILE_OF(
	"x: f32[6, 8] @in, y: f32[6, 8] @out, z: f32[6] @out",
	"for i in 0..6 { let a: f32 = x[i, 0]; let b: f32 = a + 1.0;\n"
	"  for j in 0..8 { y[i, j] = x[i, j] + b; }\n"
	"  z[i] = a; let c: f32 = y[i, 0]; if c > 0.0 { z[i] = c; } }\n");

/* A sum that each turn reads. */
static const char running[] = FILE_OF(
	"x: f32[6] @in, y: f32 @out",
	"let mut a: f32 = 0.0;\n"
	"let mut b: f32 = 0.0;\n"
	"for r in 0..6 { a += x[r]; b += a; }\n"
	"y = a + b;\n");

/* ---- The text after a step ----------------------------------------------- */

static void test_join(void **state)
{
	(void)state;
	expect(rows, "join(i, k)",
	       "  alloc m: f32[N] @arena;\n"
	       "  for i in 0..N {\n"
	       "    let mut acc: f32 = 0.0;\n"
	       "    for r in 0..8 {\n"
	       "      acc += x[i, r];\n"
	       "    }\n"
	       "    m[i] = acc / 8.0;\n"
	       "    let acc__1: f32 = m[i];\n"
	       "    for j in 0..8 {\n"
	       "      y[i, j] = x[i, j] - acc__1;\n"
	       "    }\n  }\n}\n");
	expect(chain, "split(i, 4), split(h, 4), join(i__0, h__0), shrink(t)",
	       "  for i__0 in 0..2 {\n"
	       "    alloc t: f32[4, 8] @stack;\n"
	       "    for i__1 in 0..4 {\n"
	       "      for j in 0..8 {\n"
	       "        t[i__1, j] = x[i__0 * 4 + i__1, j] * 2.0;\n"
	       "      }\n    }\n"
	       "    for h__1 in 0..4 {\n"
	       "      for f in 0..4 {\n"
	       "        let mut acc: f32 = 0.0;\n"
	       "        for k in 0..8 {\n"
	       "          acc += t[h__1, k] * w[k, f];\n"
	       "        }\n"
	       "        y[i__0 * 4 + h__1, f] = acc;\n"
	       "      }\n    }\n  }\n}\n");
}

/* Piece joins piece, and each gets a buffer of its own. */
static void test_pieces(void **state)
{
	(void)state;
	expect(copies, "split(i, 6, tail=ones), split(k, 6, tail=ones), "
	       "join(i__0, k__0), shrink(t)",
	       "  for i__0 in 0..N // 6 {\n"
	       "    alloc t: f32[6] @stack;\n"
	       "    for i__1 in 0..6 {\n"
	       "      t[i__1] = x[i__0 * 6 + i__1];\n"
	       "    }\n"
	       "    for k__1 in 0..6 {\n"
	       "      y[i__0 * 6 + k__1] = t[k__1];\n"
	       "    }\n  }\n"
	       "  for i__0 in 0..N % 6 {\n"
	       "    alloc t: f32 @reg;\n"
	       "    for i__1 in 0..1 {\n"
	       "      t = x[(6*(N // 6)) + (i__0 + i__1)];\n"
	       "    }\n"
	       "    for k__1 in 0..1 {\n"
	       "      y[(6*(N // 6)) + (i__0 + k__1)] = t;\n"
	       "    }\n  }\n}\n");
}

static void test_part(void **state)
{
	(void)state;
	expect(rows, "join(i, k), shrink(m), split(i, 4), part(i__1)",
	       "  for i__0 in 0..N // 4 {\n"
	       "    alloc m: f32[4] @stack;\n"
	       "    for i__1__0 in 0..4 {\n"
	       "      let mut acc: f32 = 0.0;\n"
	       "      for r in 0..8 {\n"
	       "        acc += x[i__0 * 4 + i__1__0, r];\n"
	       "      }\n"
	       "      m[i__1__0] = acc / 8.0;\n"
	       "    }\n"
	       "    for i__1__1 in 0..4 {\n"
	       "      let acc__1: f32 = m[i__1__1];\n"
	       "      for j in 0..8 {\n"
	       "        y[i__0 * 4 + i__1__1, j] = x[i__0 * 4 + i__1__1, j] - acc__1;\n"
	       "      }\n"
	       "    }\n"
	       "  }\n"
	       "  for i__0 in N // 4..(N + 3) // 4 {\n"
	       "    alloc m: f32[3] @stack;\n"
	       "    for i__1__0 in 0..N % 4 {\n"
	       "      let mut acc: f32 = 0.0;\n"
	       "      for r in 0..8 {\n"
	       "        acc += x[i__0 * 4 + i__1__0, r];\n"
	       "      }\n"
	       "      m[i__1__0] = acc / 8.0;\n"
	       "    }\n"
	       "    for i__1__1 in 0..N % 4 {\n"
	       "      let acc__1: f32 = m[i__1__1];\n"
	       "      for j in 0..8 {\n"
	       "        y[i__0 * 4 + i__1__1, j] = x[i__0 * 4 + i__1__1, j] - acc__1;\n"
	       "      }\n"
	       "    }\n"
	       "  }\n"
	       "}\n");
	expect(lets, "part(i)",
	       "  for i__0 in 0..6 {\n"
	       "    let a: f32 = x[i__0, 0];\n"
	       "    let b: f32 = a + 1.0;\n"
	       "    for j in 0..8 {\n"
	       "      y[i__0, j] = x[i__0, j] + b;\n"
	       "    }\n"
	       "  }\n"
	       "  for i__1 in 0..6 {\n"
	       "    let a: f32 = x[i__1, 0];\n"
	       "    z[i__1] = a;\n"
	       "  }\n"
	       "  for i__2 in 0..6 {\n"
	       "    let c: f32 = y[i__2, 0];\n"
	       "    if 0.0 < c {\n"
	       "      z[i__2] = c;\n"
	       "    }\n"
	       "  }\n"
	       "}\n");
}

static void test_shrink(void **state)
{
	(void)state;
	expect(rows, "join(i, k), shrink(m)",
	       "  for i in 0..N {\n"
	       "    alloc m: f32 @reg;\n"
	       "    let mut acc: f32 = 0.0;\n"
	       "    for r in 0..8 {\n"
	       "      acc += x[i, r];\n"
	       "    }\n"
	       "    m = acc / 8.0;\n"
	       "    let acc__1: f32 = m;\n"
	       "    for j in 0..8 {\n"
	       "      y[i, j] = x[i, j] - acc__1;\n"
	       "    }\n  }\n}\n");
	expect(wide, "join(i, k), shrink(t)",
	       "  for i in 0..N {\n"
	       "    alloc t: f32[7] @stack;\n"
	       "    for j in 0..M {\n"
	       "      t[j] = x[i, j];\n"
	       "    }\n"
	       "    for h in 0..M {\n"
	       "      y[i, h] = t[h];\n"
	       "    }\n"
	       "  }\n"
	       "}\n");
}

static void test_lanes(void **state)
{
	(void)state;
	expect(greatest, "lanes(r, 4, width=2)",
	       "  let mut best: f32 = -inf;\n"
	       "  let mut sum: f32 = 1.0;\n"
	       "  alloc best__lanes: f32[4] @reg;\n"
	       "  alloc sum__lanes: f32[4] @reg;\n"
	       "  vec r__1 in 0..4 {\n"
	       "    best__lanes[r__1] = best;\n"
	       "    sum__lanes[r__1] = 0.0;\n"
	       "  }\n"
	       "  for r__0 in 0..N // 4 {\n"
	       "    vec r__1 in 0..4 {\n"
	       "      let v: f32 = x[r__0 * 4 + r__1];\n"
	       "      best__lanes[r__1] = max(best__lanes[r__1], v);\n"
	       "      sum__lanes[r__1] += v * v;\n"
	       "    }\n"
	       "  }\n"
	       "  vec r__1 in 0..2 {\n"
	       "    best__lanes[r__1] = max(best__lanes[r__1], best__lanes[r__1 + 2]);\n"
	       "    sum__lanes[r__1] = sum__lanes[r__1] + sum__lanes[r__1 + 2];\n"
	       "  }\n"
	       "  best = max(best, max(best__lanes[0], best__lanes[1]));\n"
	       "  sum += sum__lanes[0] + sum__lanes[1];\n"
	       "  for r in 4*(N // 4)..N {\n"
	       "    let v: f32 = x[r];\n"
	       "    best = max(best, v);\n"
	       "    sum += v * v;\n"
	       "  }\n"
	       "  y = best + sum;\n"
	       "}\n");
	expect(rows, "lanes(r, 2)",
	       "  alloc m: f32[N] @arena;\n"
	       "  for i in 0..N {\n"
	       "    let mut acc: f32 = 0.0;\n"
	       "    alloc acc__lanes: f32[2] @reg;\n"
	       "    vec r__1 in 0..2 {\n"
	       "      acc__lanes[r__1] = 0.0;\n"
	       "    }\n"
	       "    for r__0 in 0..4 {\n"
	       "      vec r__1 in 0..2 {\n"
	       "        acc__lanes[r__1] += x[i, r__0 * 2 + r__1];\n"
	       "      }\n"
	       "    }\n"
	       "    acc += acc__lanes[0] + acc__lanes[1];\n"
	       "    m[i] = acc / 8.0;\n"
	       "  }\n"
	       "  for k in 0..N {\n"
	       "    let acc: f32 = m[k];\n"
	       "    for j in 0..8 {\n"
	       "      y[k, j] = x[k, j] - acc;\n"
	       "    }\n"
	       "  }\n"
	       "}\n");
}

/* ---- What is refused ----------------------------------------------------- */

static void test_refusals(void **state)
{
	(void)state;
	refuse(rows, "join(i)", "join(i): needs at least 2 arguments");
	refuse(rows, "join(i, z)", "join(i): 'i' is not followed by 'z'");
	refuse(rows, "join(z, i)", "join(z): there is no loop 'z'");
	refuse(rows, "join(i, i)", "join(i): 'i' is named twice");
	refuse(rows, "join(k, i)", "join(k): 'k' is not followed by 'i'");
	refuse(rows, "join(i, j)", "join(i): 'i' is not followed by 'j'");
	refuse(rows, "split(i, 2), join(i__0, k)",
	       "join(i__0): 'i__0' and 'k' have different bounds");
	refuse(chain, "parallel(i), join(i, h)",
	       "join(i): the loops are of two kinds");
	refuse(turned, "join(i, k)",
	       "join(i): turns of 'i' and 'k' meet in 't'");
	refuse(turned, "split(i, 4), split(k, 4), join(i__0, k__0)",
	       "join(i__0): the pieces of 'i__0' and 'k__0' meet in 't'");
	refuse(square, "join(i, k), join(j, h)",
	       "join(j): turns of 'j' and 'h' meet in 't'");
	refuse(square, "vectorize(h)",
	       "vectorize(h): the turns of 'h' depend on one another");
	refuse(between, "join(i, k)",
	       "join(i): 'first' stands between and depends on 'i'");
	refuse(named, "join(i, k)",
	       "join(i): 'v' stands between, and 'i' holds one of that name");
	refuse(carried, "part(i)",
	       "part(i): the turns of 'i' depend on one another");
	refuse(rows, "part(i)", "part(i): its body is one part");
	refuse(rows, "part(z)", "part(z): there is no loop 'z'");
	refuse(rows, "parallel(i), part(i)",
	       "part(i): 'i' is par, vec or unroll already: part first");
	refuse(rows, "shrink(z)",
	       "shrink(z): there is no such buffer in the kernel");
	refuse(rows, "shrink(x)",
	       "shrink(x): there is no such buffer in the kernel");
	refuse(rows, "shrink(m)", "shrink(m): its uses do not lie in one loop");
	refuse(rows, "join(i, k), shrink(m, space=arena)",
	       "shrink(m): space is reg or stack");
	refuse(rows, "join(i, k), shrink(m, depth=2)",
	       "shrink(m): there is no option 'depth'");
	refuse(shared, "shrink(t)",
	       "shrink(t): turns of 'i' share elements of it");
	refuse(rows, "lanes(r, 3)",
	       "lanes(r): needs a power of two from 2 to 256");
	refuse(rows, "lanes(r, 512)",
	       "lanes(r): needs a power of two from 2 to 256");
	refuse(rows, "lanes(r, 4, width=3)",
	       "lanes(r): width is a power of two up to 256");
	refuse(rows, "lanes(r, 16)",
	       "lanes(r): 'r' has fewer turns than lanes");
	refuse(rows, "lanes(j, 4)",
	       "lanes(j): 'j' does more than name and sum up");
	refuse(rows, "lanes(i, 4)",
	       "lanes(i): 'i' does more than name and sum up");
	refuse(carried, "lanes(i, 2)",
	       "lanes(i): 'i' does more than name and sum up");
	refuse(running, "lanes(r, 2)",
	       "lanes(r): 'r' does more than name and sum up");
}

/* ---- Any kernel, any steps ----------------------------------------------- */

#define CASES 400
#define MOST_PARAMS 4

struct fuzz {
	uint32_t state;
	struct tn_buf file, steps;	/* the kernel; steps so far */
	int nests;
	const char *rows;		/* how many, as text */
	bool whole;			/* sums are exact in any order */
	int accepted[8], joined;
};

static int pick(struct fuzz *f, int n)
{
	f->state = f->state * 1664525u + 1013904223u;
	return (int)((f->state >> 8) % (uint32_t)n);
}

/* An element of x or of an earlier temporary, in a turn of i and j, mostly of
 * the same row and column. */
static void put_read(struct fuzz *f, int nest)
{
	int from = pick(f, nest + 1), kind = pick(f, 8);
	struct tn_buf row;

	tn_buf_init(&row);
	if (kind == 0)
		tn_buf_putf(&row, "%s - 1 - row%d", f->rows, nest);
	else if (kind == 2 && f->rows[0] == '5')
		tn_buf_putf(&row, "j%d", nest);
	else
		tn_buf_putf(&row, "row%d", nest);
	if (from == nest)
		tn_buf_putf(&f->file, "x[%s, j%d]", tn_buf_text(&row), nest);
	else if (from % 2)
		tn_buf_putf(&f->file, "t%d[%s]", from, tn_buf_text(&row));
	else
		tn_buf_putf(&f->file, "t%d[%s, %s%d]", from,
			    tn_buf_text(&row), kind == 1 ? "0 * j" :
			    kind == 3 && f->rows[0] == '5' ? "row" : "j",
			    nest);
	tn_buf_fini(&row);
}

static void put_value(struct fuzz *f, int nest)
{
	static const char *const forms[] = { "max(", "", "min(" };
	static const char *const signs[] = { ", ", " - ", ", " };
	int form = pick(f, 3);

	tn_buf_put(&f->file, forms[form]);
	put_read(f, nest);
	tn_buf_put(&f->file, signs[form]);
	put_read(f, nest);
	tn_buf_put(&f->file, form == 1 ? "" : ")");
}

/* Even nests make a matrix, odd ones reduce rows; the last makes y. */
static void put_nest(struct fuzz *f, int n)
{
	static const char *const sums[] = { "acc += ", "acc = max(acc, " };
	bool last = n == f->nests - 1, reduces = n % 2 && !last;
	int sum = pick(f, 2);

	if (!last)
		tn_buf_putf(&f->file, reduces ? "alloc t%d: f32[%s] @arena;\n"
			    : "alloc t%d: f32[%s, 5] @arena;\n", n, f->rows);
	tn_buf_putf(&f->file, "for row%d in 0..%s {\n", n, f->rows);
	if (reduces)
		tn_buf_put(&f->file, "let mut acc: f32 = 1.0;\n");
	tn_buf_putf(&f->file, "for j%d in 0..5 { ", n);
	if (reduces)
		tn_buf_put(&f->file, sums[sum]);
	else if (last)
		tn_buf_putf(&f->file, "y[row%d, j%d] = ", n, n);
	else
		tn_buf_putf(&f->file, "t%d[row%d, j%d] = ", n, n, n);
	put_value(f, n);
	tn_buf_put(&f->file, reduces && sum ? "); }\n" : "; }\n");
	if (reduces)
		tn_buf_putf(&f->file, "t%d[row%d] = acc;\n", n, n);
	tn_buf_put(&f->file, "}\n");
}

static void make_file(struct fuzz *f)
{
	static const char *const counts[] = { "N", "5", "5", "7" };
	int i;

	tn_buf_clear(&f->file);
	f->rows = counts[pick(f, 4)];
	f->nests = 2 + pick(f, 3);
	tn_buf_putf(&f->file, "tenon 1.0;\ndim N in [0, 9];\nkernel f("
		    "x: f32[%s, 5] @in, y: f32[%s, 5] @out) {\n", f->rows,
		    f->rows);
	for (i = 0; i < f->nests; i++)
		put_nest(f, i);
	tn_buf_put(&f->file, "}\nfn main(x: f32[1]) -> f32[1] { return x; "
		   "}\n");
}

static void names_in(const struct tn_kblock *block, const char **names, int *n)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_LOOP && *n < 64)
			names[(*n)++] = s->var->name;
		names_in(&s->body, names, n);
		names_in(&s->orelse, names, n);
	}
}

static void put_step(struct fuzz *f, const struct world *w, int kind)
{
	static const char *const tails[] = {
		"", ", tail=guard", ", tail=ones"
	};
	const char *names[64], *a, *b;
	int n = 0, at;

	names_in(&w->kernel->body, names, &n);
	at = pick(f, n);
	a = names[at];
	b = names[at + 1 < n ? at + 1 + pick(f, n - at - 1) : 0];
	switch (kind) {
	case 0:
	case 1:
		tn_buf_putf(&f->steps, "join(%s, %s)", a, b);
		break;
	case 2:
		tn_buf_putf(&f->steps, "part(%s)", a);
		break;
	case 3:
		tn_buf_putf(&f->steps, "shrink(t%d)", pick(f, f->nests));
		break;
	case 4:
		tn_buf_putf(&f->steps, "split(%s, %d%s)", a, 2 + pick(f, 2),
			    tails[pick(f, 3)]);
		break;
	case 5:
		tn_buf_putf(&f->steps, f->whole ? "lanes(%s, 2)" :
			    "unroll(%s)", a);
		break;
	case 6:
		tn_buf_putf(&f->steps, "parallel(%s)", a);
		break;
	default:
		tn_buf_putf(&f->steps, "vectorize(%s)", a);
		break;
	}
}

/* Joins all rows ahead of the rest, in half of the cases. */
static void put_start(struct fuzz *f)
{
	int i;

	tn_buf_clear(&f->steps);
	if (pick(f, 2))
		return;
	tn_buf_put(&f->steps, "join(row0");
	for (i = 1; i < f->nests; i++)
		tn_buf_putf(&f->steps, ", row%d", i);
	tn_buf_put(&f->steps, ")");
}

/* What y is for the rows n; the kernel's own sizes if they are fixed. */
static void compute(const struct fuzz *f, const struct world *w, int64_t n,
		    float *y)
{
	int64_t count = f->rows[0] == 'N' ? n : f->rows[0] - '0';
	int64_t dims[2];
	float x[9 * 5 + 1];
	void *buffers[2];
	uint32_t flags = 0, state = 9;
	struct tn_buf why;
	int64_t i;

	dims[0] = n;
	dims[1] = 1;
	for (i = 0; i < count * 5; i++) {
		state = state * 1664525u + 1013904223u;
		x[i] = f->whole ? (float)(state >> 8) / 1048576.0f :
			(float)(state >> 8) / 3e6f - 2;
		if (f->whole)
			x[i] = (float)((int)x[i] - 8);
		y[i] = -77;
	}
	buffers[0] = x;
	buffers[1] = y;
	tn_buf_init(&why);
	if (!tn_kernel_eval(w->kernel, dims, buffers, &flags, &why))
		fail_msg("%s\n%s\n%s", tn_buf_text(&why),
			 tn_buf_text(&f->steps), tn_buf_text(&f->file));
	tn_buf_fini(&why);
}

static void check_meaning(const struct fuzz *f, const struct world *after)
{
	float was[9 * 5 + 1] = { 0 }, is[9 * 5 + 1] = { 0 };
	struct tn_buf text;
	struct world before;
	int64_t n;

	open_world(&before, tn_buf_text(&f->file));
	for (n = 0; n <= 9; n++) {
		compute(f, &before, n, was);
		compute(f, after, n, is);
		if (!memcmp(was, is, sizeof(was)))
			continue;
		tn_buf_init(&text);
		tn_kernel_print(&text, after->kernel);
		fail_msg("N = %d: '%s' changes the result of\n%s\n%s", (int)n,
			 tn_buf_text(&f->steps), tn_buf_text(&f->file),
			 tn_buf_text(&text));
	}
	close_world(&before);
}

static void fuzz_case(struct fuzz *f)
{
	struct world w;
	size_t good;
	int turn, kind;

	make_file(f);
	put_start(f);
	open_world(&w, tn_buf_text(&f->file));
	if (tn_schedule_apply(w.kernel, tn_buf_text(&f->steps), &w.why))
		f->joined += f->steps.len > 0;
	else
		tn_buf_clear(&f->steps);
	for (turn = 0; turn < 8; turn++) {
		close_world(&w);
		open_world(&w, tn_buf_text(&f->file));
		assert_true(tn_schedule_apply(w.kernel,
					      tn_buf_text(&f->steps),
					      &w.why));
		good = f->steps.len;
		kind = pick(f, 8);
		tn_buf_put(&f->steps, good ? ", " : "");
		put_step(f, &w, kind);
		close_world(&w);
		open_world(&w, tn_buf_text(&f->file));
		if (tn_schedule_apply(w.kernel, tn_buf_text(&f->steps),
				      &w.why)) {
			f->accepted[kind]++;
			verify(&w);
			check_meaning(f, &w);
			continue;
		}
		assert_false(w.module->failed);
		assert_true(w.why.len > 0);
		f->steps.len = good;
		f->steps.data[good] = '\0';
	}
	close_world(&w);
}

static void run_cases(uint32_t seed, bool whole)
{
	struct fuzz f = { .state = seed, .whole = whole };
	int i;

	tn_buf_init(&f.file);
	tn_buf_init(&f.steps);
	for (i = 0; i < CASES; i++)
		fuzz_case(&f);
	for (i = 0; i < 8; i++)
		assert_true(f.accepted[i] > 8);
	assert_true(f.joined > CASES / 8);
	tn_buf_fini(&f.file);
	tn_buf_fini(&f.steps);
}

static void test_random(void **state)
{
	(void)state;
	run_cases(1, false);
}

/* Of whole numbers lanes give the same sums. */
static void test_random_lanes(void **state)
{
	(void)state;
	run_cases(2, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join), cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_part), cmocka_unit_test(test_shrink),
		cmocka_unit_test(test_lanes), cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_random_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
