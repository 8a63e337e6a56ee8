/*
 * The lowering of groups, of control flow and of whole functions, and the exact
 * text of a few kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build.h"
#include "lowering.h"
#include "ir/graph_edit.h"

/* ---- Fused functions ---------------------------------------------------- */

/* Opens a fused function; the builder of the bench then writes into it. */
static struct tn_fn *open_fused(struct bench *t)
{
	struct tn_fn *fn = tn_graph_fn(t->module, tn_intern_text(
		&t->names, "main__f0"), TN_FN_FUSED);

	assert_non_null(fn);
	tn_builder_init(&t->b, fn->body);
	return fn;
}

static struct tn_value *inner_param(struct bench *t, struct tn_fn *fn,
				    const struct tn_value *like)
{
	struct tn_value *value = tn_graph_param(fn->body, like->name,
						like->type);

	(void)t;
	assert_non_null(value);
	return value;
}

/* Ends it, calls it from the entry and returns what it returns. */
static void close_fused(struct bench *t, struct tn_fn *fn, int nin,
			struct tn_value *const *in, int nout,
			struct tn_value *const *out)
{
	struct tn_op *call;
	int i;

	bench_return(t, nout, out);
	call = tn_graph_op(t->fn, TN_OP_call, nin, in, nout, nowhere);
	assert_non_null(call);
	call->callee = fn;
	tn_graph_insert(t->fn->body, call, NULL);
	for (i = 0; i < nout; i++) {
		call->out[i]->type = out[i]->type;
		assert_true(tn_graph_name(t->fn, call->out[i],
					  out[i]->name));
	}
	tn_builder_init(&t->b, t->fn->body);
	bench_return(t, nout, call->out);
}

/* Lowers and says how many kernels came of it. */
static void check_kernels(struct bench *t, size_t count)
{
	t->nkernels = count;
	bench_check(t);
}

/* Maps, a broadcast vector, a value used twice, two results, a constant. */
static void test_fused_maps(void **state)
{
	static const int64_t m[] = { 4, 6 }, v[] = { 6 };
	struct tn_value *in[2], *x, *b, *out[2], *two, *s;
	struct tn_fn *fn;
	struct bench t;

	(void)state;
	bench_open(&t);
	in[0] = bench_in(&t, "x", TN_f16, 2, m, 0, 2);
	in[1] = bench_in(&t, "b", TN_f16, 1, v, 0, 2);
	fn = open_fused(&t);
	x = inner_param(&t, fn, in[0]);
	b = inner_param(&t, fn, in[1]);
	two = build_scalar_f64(&t.b, TN_f16, 2.5, nowhere);
	s = bench_op2(&t, TN_OP_add, x, b, 0, NULL);
	out[0] = bench_op2(&t, TN_OP_mul, s, s, 0, NULL);
	out[1] = bench_op1(&t, TN_OP_exp, bench_op2(&t, TN_OP_mul, out[0], two,
						     0, NULL), 0, NULL);
	close_fused(&t, fn, 2, in, 2, out);
	check_kernels(&t, 1);
}

/* Movement before and after maps, inlined. */
static void test_fused_moves(void **state)
{
	static const int64_t m[] = { 4, 6 };
	struct tn_value *in[1], *x, *y, *both[2];
	const struct tn_dim *shape[3], *pad[6];
	struct tn_attr attr;
	struct tn_fn *fn;
	struct bench t;
	int i;

	(void)state;
	bench_open(&t);
	in[0] = bench_in(&t, "x", TN_f32, 2, m, 0, 2);
	fn = open_fused(&t);
	x = inner_param(&t, fn, in[0]);
	shape[0] = bench_int(&t, 3);
	shape[1] = bench_int(&t, 2);
	shape[2] = bench_int(&t, 4);
	for (i = 0; i < 6; i++)
		pad[i] = bench_int(&t, i % 3);
	y = bench_op1(&t, TN_OP_neg, bench_op1(&t, TN_OP_transpose, x, 0,
					       NULL), 0, NULL);
	attr = tn_attr_dims("shape", 3, shape);
	y = bench_op1(&t, TN_OP_reshape, y, 1, &attr);
	attr = tn_attr_int("axis", 1);
	both[0] = y;
	both[1] = bench_op1(&t, TN_OP_exp, y, 0, NULL);
	y = bench_op(&t, TN_OP_concat, 2, both, 1, &attr);
	attr = tn_attr_pairs("pad", 3, pad);
	y = bench_op1(&t, TN_OP_pad, y, 1, &attr);
	close_fused(&t, fn, 1, in, 1, &y);
	check_kernels(&t, 1);
}

/* exp(a * 2) @ (b - 1) + c, the whole as one nest. */
static void test_fused_contraction(void **state)
{
	static const int64_t ma[] = { 5, 7 }, mb[] = { 7, 33 }, mc[] = { 33 };
	struct tn_value *in[3], *p[3], *y;
	struct tn_fn *fn;
	struct bench t;
	int i;

	(void)state;
	bench_open(&t);
	t.tolerance = 1e-5;
	in[0] = bench_in(&t, "a", TN_f32, 2, ma, -1, 1);
	in[1] = bench_in(&t, "b", TN_f32, 2, mb, -1, 1);
	in[2] = bench_in(&t, "c", TN_f32, 1, mc, -1, 1);
	fn = open_fused(&t);
	for (i = 0; i < 3; i++)
		p[i] = inner_param(&t, fn, in[i]);
	y = build_scalar_f64(&t.b, TN_f32, 2, nowhere);
	p[0] = bench_op1(&t, TN_OP_exp, bench_op2(&t, TN_OP_mul, p[0], y, 0,
						  NULL), 0, NULL);
	y = bench_op2(&t, TN_OP_matmul, p[0], p[1], 0, NULL);
	y = bench_op2(&t, TN_OP_add, y, p[2], 0, NULL);
	y = bench_op2(&t, TN_OP_max, y, bench_op1(&t, TN_OP_neg, y, 0, NULL),
		      0, NULL);
	close_fused(&t, fn, 3, in, 1, &y);
	check_kernels(&t, 1);
}

/* softmax in one function, of which the first `nresults` of y and the maxima are
 * handed out. */
static void check_softmax(int nresults, size_t kernels)
{
	static const int64_t m[] = { 4, 6 }, axis[] = { 1 };
	struct tn_value *in[1], *x, *out[2], *sum;
	struct tn_attr attrs[2];
	struct tn_fn *fn;
	struct bench t;

	bench_open(&t);
	t.tolerance = 1e-6;
	in[0] = bench_in(&t, "x", TN_f32, 2, m, 0, 2);
	fn = open_fused(&t);
	x = inner_param(&t, fn, in[0]);
	attrs[0] = tn_attr_ints("axes", 1, axis);
	attrs[1] = tn_attr_bool("keep", true);
	out[1] = bench_op1(&t, TN_OP_reduce_max, x, 2, attrs);
	x = bench_op1(&t, TN_OP_exp, bench_op2(&t, TN_OP_sub, x, out[1], 0,
					       NULL), 0, NULL);
	sum = bench_op1(&t, TN_OP_sum, x, 2, attrs);
	out[0] = bench_op2(&t, TN_OP_div, x, sum, 0, NULL);
	close_fused(&t, fn, 1, in, nresults, out);
	check_kernels(&t, kernels);
}

/* Several anchors, one result: a kernel of several nests. */
static void test_anchors(void **state)
{
	(void)state;
	check_softmax(1, 1);
}

/* With two results it is no kernel: the call is put back. */
static void test_unfit(void **state)
{
	(void)state;
	check_softmax(2, 5);
}

/* Thousands of maps in one function need no deep stack and no deep tree. */
static void test_deep(void **state)
{
	static const int64_t n[] = { 3 };
	struct tn_value *in[1], *y;
	struct tn_fn *fn;
	struct bench t;
	int i;

	(void)state;
	bench_open(&t);
	in[0] = bench_in(&t, "x", TN_i64, 1, n, 0, 2);
	fn = open_fused(&t);
	y = inner_param(&t, fn, in[0]);
	for (i = 0; i < 1500; i++)
		y = i % 3 ? bench_op1(&t, TN_OP_neg, y, 0, NULL)
			  : bench_op2(&t, TN_OP_add, y, y, 0, NULL);
	close_fused(&t, fn, 1, in, 1, &y);
	check_kernels(&t, 1);
}

/* The same layer twelve times is one set of kernels. */
static void test_shared_kernels(void **state)
{
	static const int64_t n[] = { 4, 4 };
	struct tn_value *x, *w;
	struct bench t;
	int i;

	(void)state;
	bench_open(&t);
	t.tolerance = 1e-5;
	x = bench_in(&t, "x", TN_f32, 2, n, 0, 1);
	w = bench_in(&t, "w", TN_f32, 2, n, 0, 1);
	for (i = 0; i < 12; i++)
		x = bench_op1(&t, TN_OP_tanh, bench_op2(
			&t, TN_OP_matmul, x, w, 0, NULL), 0, NULL);
	bench_return(&t, 1, &x);
	check_kernels(&t, 2);
}

/* A larger constant inside a group is handed to the kernel; one element is a
 * literal of it. */
static void test_constants(void **state)
{
	static const int64_t n[] = { 4 };
	static const float few[] = { 1.5f, -2, 0.25f, 8 };
	struct tn_tensor tensor;
	struct tn_value *in[1], *x, *y, *c;
	struct tn_fn *fn;
	struct bench t;

	(void)state;
	bench_open(&t);
	tn_tensor_view(&tensor, TN_f32, 1, n, few);
	in[0] = bench_in(&t, "x", TN_f32, 1, n, 0, 9);
	fn = open_fused(&t);
	x = inner_param(&t, fn, in[0]);
	c = tn_build_const(&t.b, &tensor, nowhere);
	y = bench_op2(&t, TN_OP_mul, x, c, 0, NULL);
	c = build_scalar_f64(&t.b, TN_f32, 3, nowhere);
	y = bench_op2(&t, TN_OP_sub, c, y, 0, NULL);
	close_fused(&t, fn, 1, in, 1, &y);
	check_kernels(&t, 1);
}

/* As many operators as deep networks have, in time that grows with them. */
static void test_long_chain(void **state)
{
	static const int64_t n[] = { 3 };
	struct tn_value *y;
	struct bench t;
	int i;

	(void)state;
	bench_open(&t);
	y = bench_in(&t, "x", TN_f32, 1, n, 0, 2);
	for (i = 0; i < 20000; i++)
		y = bench_op1(&t, i % 2 ? TN_OP_neg : TN_OP_exp, y, 0, NULL);
	bench_return(&t, 1, &y);
	bench_lower(&t);
	assert_int_equal(t.module->kernels.len, 2);
	bench_close(&t);
}

static void check_assert(int lo, uint32_t flags)
{
	static const int64_t n[] = { 5 };
	struct tn_value *x;
	struct bench t;

	bench_open(&t);
	x = bench_in(&t, "x", TN_bool, 1, n, lo, 1);
	bench_op(&t, TN_OP_assert, 1, &x, 0, NULL);
	bench_return(&t, 1, &x);
	bench_lower(&t);
	bench_run(&t, t.fn->body);
	assert_int_equal(t.flags, flags);
	bench_close(&t);
}

static void test_assert(void **state)
{
	(void)state;
	check_assert(1, 0);
	check_assert(0, TN_RAISED_ASSERT);
}

/* ---- Control flow ------------------------------------------------------- */

static struct tn_op *flow_op(struct bench *t, enum tn_opcode code, int nin,
			     struct tn_value *const *in, int nout,
			     int nregions)
{
	struct tn_op *op = tn_graph_op(t->fn, code, nin, in, nout, nowhere);
	int i;

	assert_non_null(op);
	for (i = 0; i < nregions; i++)
		assert_non_null(tn_graph_block(t->fn, op));
	for (i = 0; i < nout; i++) {
		op->out[i]->type = in[i < nin ? i : 0]->type;
		assert_true(tn_graph_name(t->fn, op->out[i], "r"));
	}
	tn_graph_insert(t->fn->body, op, NULL);
	return op;
}

static struct tn_value *region_param(struct bench *t, struct tn_block *block,
				     const char *name,
				     const struct tn_type *type)
{
	struct tn_value *value = tn_graph_param(
		block, tn_intern_text(&t->names, name), type);

	assert_non_null(value);
	return value;
}

static double result_at(struct bench *t, int i, int64_t at)
{
	struct tn_op *end = t->fn->body->last;

	return tn_tensor_get_f64(bench_of(t, tn_graph_in(end, i)), at);
}

/* a, b = b, a + b: carries exchanged, so one needs a copy. */
static void test_for(void **state)
{
	struct tn_value *in[2], *a, *b, *next[2];
	struct tn_block *body;
	struct tn_attr *attr;
	struct tn_op *loop;
	struct bench t;

	(void)state;
	bench_open(&t);
	in[0] = bench_in(&t, "x", TN_i64, 0, NULL, 0, 0);
	in[1] = bench_in(&t, "y", TN_i64, 0, NULL, 1, 1);
	loop = flow_op(&t, TN_OP_for, 2, in, 2, 1);
	attr = tn_graph_attr(loop, "from");
	attr->kind = TN_ATTR_DIM;
	attr->is_set = true;
	attr->u.dim = bench_int(&t, 0);
	attr = tn_graph_attr(loop, "to");
	attr->kind = TN_ATTR_DIM;
	attr->is_set = true;
	attr->u.dim = bench_int(&t, 10);
	body = loop->regions[0];
	region_param(&t, body, "k", in[0]->type);
	a = region_param(&t, body, "a", in[0]->type);
	b = region_param(&t, body, "b", in[0]->type);
	tn_builder_init(&t.b, body);
	next[0] = b;
	next[1] = bench_op2(&t, TN_OP_add, a, b, 0, NULL);
	bench_op(&t, TN_OP_yield, 2, next, 0, NULL);
	tn_builder_init(&t.b, t.fn->body);
	bench_return(&t, 2, loop->out);
	bench_lower(&t);
	assert_int_equal(t.module->kernels.len, 2);
	bench_run(&t, t.fn->body);
	assert_true(result_at(&t, 0, 0) == 55);
	assert_true(result_at(&t, 1, 0) == 89);
	bench_close(&t);
}

/* Running sums of rows, stacked, from the front or the back. */
static void check_scan(bool reverse)
{
	static const int64_t sizes[] = { 3, 4 }, row[] = { 4 };
	struct tn_value *in[2], *h, *slice, *next[2];
	struct tn_block *body;
	struct tn_attr attr;
	struct tn_tensor *x;
	struct tn_op *loop;
	struct bench t;
	int i, k;

	bench_open(&t);
	in[0] = bench_in(&t, "h0", TN_f32, 1, row, 0, 0);
	in[1] = bench_in(&t, "x", TN_f32, 2, sizes, 0, 9);
	loop = flow_op(&t, TN_OP_scan, 2, in, 2, 1);
	*tn_graph_attr(loop, "carries") = tn_attr_int("carries", 1);
	*tn_graph_attr(loop, "axis") = tn_attr_int("axis", 0);
	*tn_graph_attr(loop, "out_axis") = tn_attr_int("out_axis", 0);
	*tn_graph_attr(loop, "reverse") = tn_attr_bool("reverse", reverse);
	body = loop->regions[0];
	h = region_param(&t, body, "h", in[0]->type);
	slice = region_param(&t, body, "xt", in[0]->type);
	tn_builder_init(&t.b, body);
	next[0] = next[1] = bench_op2(&t, TN_OP_add, h, slice, 0, NULL);
	attr = tn_attr_int("emits", 1);
	bench_op(&t, TN_OP_yield, 2, next, 1, &attr);
	tn_builder_init(&t.b, t.fn->body);
	bench_return(&t, 2, loop->out);
	bench_lower(&t);
	bench_run(&t, t.fn->body);
	x = bench_of(&t, in[1]);
	for (k = 0; k < 4; k++) {
		double sum = 0;

		for (i = 0; i < 3; i++) {
			int at = (reverse ? 2 - i : i) * 4 + k;

			sum += tn_tensor_get_f64(x, at);
			assert_true(result_at(&t, 1, at) == sum);
		}
		assert_true(result_at(&t, 0, k) == sum);
	}
	bench_close(&t);
}

static void test_scan(void **state)
{
	(void)state;
	check_scan(false);
	check_scan(true);
}

/* while k < 100 { k = k + k }, then an if on what came out. */
static void test_while_if(void **state)
{
	struct tn_value *in[1], *k, *limit, *sum, *test, *out;
	struct tn_op *loop, *branch;
	struct bench t;
	int i;

	(void)state;
	bench_open(&t);
	in[0] = bench_in(&t, "x", TN_i32, 0, NULL, 3, 3);
	loop = flow_op(&t, TN_OP_while, 1, in, 1, 2);
	for (i = 0; i < 2; i++) {
		k = region_param(&t, loop->regions[i], "k", in[0]->type);
		tn_builder_init(&t.b, loop->regions[i]);
		limit = tn_build_scalar_i64(&t.b, TN_i32, 100, nowhere);
		out = i ? bench_op2(&t, TN_OP_add, k, k, 0, NULL)
			: bench_op2(&t, TN_OP_lt, k, limit, 0, NULL);
		bench_op(&t, TN_OP_yield, 1, &out, 0, NULL);
	}
	tn_builder_init(&t.b, t.fn->body);
	limit = tn_build_scalar_i64(&t.b, TN_i32, 192, nowhere);
	test = bench_op2(&t, TN_OP_eq, loop->out[0], limit, 0, NULL);
	branch = flow_op(&t, TN_OP_if, 1, &test, 1, 2);
	branch->out[0]->type = in[0]->type;
	for (i = 0; i < 2; i++) {
		tn_builder_init(&t.b, branch->regions[i]);
		sum = i ? in[0] : tn_build_scalar_i64(&t.b, TN_i32, 7, nowhere);
		bench_op(&t, TN_OP_yield, 1, &sum, 0, NULL);
	}
	tn_builder_init(&t.b, t.fn->body);
	bench_return(&t, 1, branch->out);
	bench_lower(&t);
	bench_run(&t, t.fn->body);
	assert_true(result_at(&t, 0, 0) == 7);
	bench_close(&t);
}

/* Inputs, constants, dims and one value twice have buffers of their own when
 * they are returned. */
static void test_returns(void **state)
{
	static const int64_t n[] = { 3 };
	const struct tn_dim *shape[2];
	struct tn_value *out[6];
	struct tn_attr attrs[2];
	struct bench t;

	(void)state;
	bench_open(&t);
	shape[0] = bench_int(&t, 3);
	shape[1] = bench_int(&t, 1);
	attrs[0] = tn_attr_dims("shape", 2, shape);
	out[0] = bench_in(&t, "x", TN_f32, 1, n, 0, 9);
	out[1] = bench_op1(&t, TN_OP_neg, out[0], 0, NULL);
	out[2] = out[1];
	out[3] = bench_op1(&t, TN_OP_reshape, out[1], 1, attrs);
	out[4] = build_scalar_f64(&t.b, TN_f64, 0.1, nowhere);
	attrs[0] = tn_attr_dim("value", bench_sym(&t, "N", 1, 9, 4));
	attrs[1] = tn_attr_dtype("elem", TN_i32);
	out[5] = bench_op(&t, TN_OP_dim, 0, NULL, 2, attrs);
	bench_return(&t, 6, out);
	check_kernels(&t, 5);
}

/* ---- Sizes that are worth threads and vectors --------------------------- */

static void test_large(void **state)
{
	static const int64_t a[] = { 33, 40 }, b[] = { 40, 50 };
	static const int64_t x[] = { 1, 4, 20, 21 }, w[] = { 6, 4, 3, 3 };
	static const int64_t axis[] = { 0 };
	struct tn_value *y[6], *m, *at;
	struct tn_attr attrs[2];
	struct bench t;

	(void)state;
	bench_open(&t);
	t.tolerance = 1e-4;
	m = bench_op2(&t, TN_OP_matmul, bench_in(&t, "a", TN_f32, 2, a, -1, 1),
		      bench_in(&t, "b", TN_f32, 2, b, -1, 1), 0, NULL);
	y[0] = m;
	y[1] = bench_op1(&t, TN_OP_exp, bench_in(&t, "e", TN_f32, 4, x, -1, 1),
			 0, NULL);
	attrs[0] = tn_attr_ints("axes", 1, axis);
	y[2] = bench_op1(&t, TN_OP_sum, m, 1, attrs);
	attrs[0] = tn_attr_int("axis", 0);
	y[3] = bench_op1(&t, TN_OP_argsort, m, 1, attrs);
	at = bench_in(&t, "at", TN_i64, 1, b, 0, 32);
	y[4] = bench_op2(&t, TN_OP_gather, m, at, 1, attrs);
	y[5] = bench_op2(&t, TN_OP_conv, y[1], bench_in(
		&t, "w", TN_f32, 4, w, -1, 1), 0, NULL);
	bench_return(&t, 6, y);
	bench_check(&t);
}

/* ---- Text ------------------------------------------------------------ */

static void expect_kernel(struct bench *t, const char *want)
{
	struct tn_buf text;

	bench_lower(t);
	assert_int_equal(t->module->kernels.len, 1);
	tn_buf_init(&text);
	tn_kernel_print(&text, tn_vec_ptr(&t->module->kernels, 0));
	assert_string_equal(tn_buf_text(&text), want);
	tn_buf_fini(&text);
	bench_close(t);
}

static void test_text_map(void **state)
{
	static const int64_t m[] = { 4, 6 }, v[] = { 6 };
	struct tn_value *y;
	struct bench t;

	(void)state;
	bench_open(&t);
	y = bench_op2(&t, TN_OP_add, bench_in(&t, "x", TN_f32, 2, m, 0, 1),
		      bench_in(&t, "b", TN_f32, 1, v, 0, 1), 0, NULL);
	bench_return(&t, 1, &y);
	expect_kernel(&t,
"kernel main__t__0(x: f32[4, 6] @in, b: f32[6] @in, t__0: f32[4, 6] @out) {\n"
"  for i in 0..4 {\n"
"    for j in 0..6 {\n"
"      t__0[i, j] = x[i, j] + b[j];\n"
"    }\n"
"  }\n"
"}\n");
}

static void test_text_matmul(void **state)
{
	static const int64_t m[] = { 4, 4 };
	struct tn_value *x, *y;
	struct bench t;

	(void)state;
	bench_open(&t);
	x = bench_in(&t, "x", TN_f16, 2, m, 0, 1);
	y = bench_op2(&t, TN_OP_matmul, x, x, 0, NULL);
	bench_return(&t, 1, &y);
	expect_kernel(&t,
"@fp(contract)\n"
"kernel main__t__0(x: f16[4, 4] @in, t__0: f16[4, 4] @out) {\n"
"  for i in 0..4 {\n"
"    for j in 0..4 {\n"
"      let mut acc: f32 = 0.0;\n"
"      for r in 0..4 {\n"
"        let x__1: f16 = x[i, r];\n"
"        let x__2: f16 = x[r, j];\n"
"        acc += cast(x__1, f32) * cast(x__2, f32);\n"
"      }\n"
"      t__0[i, j] = cast(acc, f16);\n"
"    }\n"
"  }\n"
"}\n");
}

static void test_text_reshape(void **state)
{
	struct tn_value *in[1], *y;
	const struct tn_dim *dims[3];
	struct tn_attr attr;
	struct tn_fn *fn;
	struct bench t;

	(void)state;
	bench_open(&t);
	dims[0] = bench_sym(&t, "B", 1, 8, 3);
	dims[1] = bench_int(&t, 12);
	in[0] = bench_param(&t, "x", TN_f32, 2, dims);
	fn = open_fused(&t);
	y = inner_param(&t, fn, in[0]);
	dims[1] = bench_int(&t, 3);
	dims[2] = bench_int(&t, 4);
	attr = tn_attr_dims("shape", 3, dims);
	y = bench_op1(&t, TN_OP_neg, bench_op1(&t, TN_OP_reshape, y, 1, &attr),
		      0, NULL);
	close_fused(&t, fn, 1, in, 1, &y);
	expect_kernel(&t,
"kernel main__t__1(x: f32[B, 12] @in, t__1: f32[B, 3, 4] @out) {\n"
"  for i in 0..B {\n"
"    for j in 0..3 {\n"
"      for k in 0..4 {\n"
"        t__1[i, j, k] = neg(x[i, j * 4 + k]);\n"
"      }\n"
"    }\n"
"  }\n"
"}\n");
}

static void test_text_gather(void **state)
{
	static const int64_t m[] = { 5, 2 }, v[] = { 3 };
	struct tn_value *y;
	struct bench t;

	(void)state;
	bench_open(&t);
	y = bench_op2(&t, TN_OP_gather, bench_in(&t, "x", TN_i8, 2, m, 0, 1),
		      bench_in(&t, "at", TN_i32, 1, v, 0, 1), 0, NULL);
	bench_return(&t, 1, &y);
	expect_kernel(&t,
"kernel main__t__0(x: i8[5, 2] @in, at: i32[3] @in, t__0: i8[3, 2] @out) {\n"
"  for i in 0..3 {\n"
"    for j in 0..2 {\n"
"      let at__1: i64 = cast(at[i], i64);\n"
"      raise(not(0 <= at__1 && at__1 < 5), 2);\n"
"      let row: i64 = max(min(at__1, 4), 0);\n"
"      t__0[i, j] = x[row, j];\n"
"    }\n"
"  }\n"
"}\n");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fused_maps),
		cmocka_unit_test(test_fused_moves),
		cmocka_unit_test(test_fused_contraction),
		cmocka_unit_test(test_anchors),
		cmocka_unit_test(test_unfit),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_shared_kernels),
		cmocka_unit_test(test_constants),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_assert),
		cmocka_unit_test(test_for),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_while_if),
		cmocka_unit_test(test_returns),
		cmocka_unit_test(test_large),
		cmocka_unit_test(test_text_map),
		cmocka_unit_test(test_text_matmul),
		cmocka_unit_test(test_text_reshape),
		cmocka_unit_test(test_text_gather),
	};

	int failed;

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	failed = cmocka_run_group_tests_name("c", tests, NULL, NULL);
	bench_par = TN_PAR_GRID;
	failed += cmocka_run_group_tests_name("cuda", tests, NULL, NULL);
	return failed;
}
