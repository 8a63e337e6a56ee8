/*
 * The interpreter: dims from shapes, guards, calls, branches, loops, scans,
 * sizes found at run time, ports that share a value, flags with a place.
 */
#include "build.h"
#include "ops.h"

#include "backends/ref/ref.h"
#include "ir/graph_edit.h"

static const struct tn_span nowhere;

static const struct tn_dim *symbol(struct bench *b, const char *name,
				   int64_t lo, int64_t hi)
{
	struct tn_sym sym = { .name = tn_intern_text(&b->names, name),
			      .lo = lo, .hi = hi, .mod = 1 };

	return tn_dim_new_sym(&b->module->dims, &sym);
}

static struct tn_value *param(struct bench *b, struct tn_block *block,
			      enum tn_dtype dtype, const struct tn_dim *dim)
{
	return tn_graph_param(block, NULL,
			      tn_type_get(b->module, dtype, dim ? 1 : 0,
					  &dim));
}

static struct tn_value *binary(struct bench *b, struct tn_block *block,
			       enum tn_opcode code, struct tn_value *x,
			       struct tn_value *y)
{
	struct tn_builder builder;
	struct tn_value *value;

	tn_builder_init(&builder, block);
	value = tn_build_binary(&builder, code, x, y, nowhere);
	assert_false(builder.failed);
	(void)b;
	return value;
}

static struct tn_value *number(struct tn_block *block, enum tn_dtype dtype,
			       double value)
{
	struct tn_builder builder;

	tn_builder_init(&builder, block);
	return build_scalar_f64(&builder, dtype, value, nowhere);
}

/* An op with regions or a terminator, appended to the block. */
static struct tn_op *flow(struct tn_block *block, enum tn_opcode code, int nin,
			  struct tn_value *const *in, int nout)
{
	struct tn_op *op = tn_graph_op(block->fn, code, nin, in, nout, nowhere);

	assert_non_null(op);
	tn_graph_insert(block, op, NULL);
	return op;
}

static struct tn_block *region(struct tn_op *op)
{
	struct tn_block *block = tn_graph_block(op->block->fn, op);

	assert_non_null(block);
	return block;
}

static void give_back(struct tn_block *block, enum tn_opcode code, int count,
		      struct tn_value *const *values)
{
	struct tn_op *op = flow(block, code, count, values, 0);

	assert_true(tn_infer_op(op));
}

static void set_attr(struct tn_op *op, struct tn_attr attr)
{
	struct tn_attr *to = tn_graph_attr(op, attr.name);

	assert_non_null(to);
	attr.name = to->name;
	attr.is_set = true;
	*to = attr;
}

/* Runs on one f32 vector; results in `out`. */
static enum tn_status run_on(struct bench *b, struct tn_fn *fn, int64_t count,
			     const double *values, int64_t *dims,
			     struct tn_tensor *out,
			     struct tn_ref_result *result)
{
	struct tn_tensor in;
	enum tn_status status;
	int64_t i;

	assert_true(tn_tensor_init(&in, TN_f32, 1, &count));
	for (i = 0; i < count; i++)
		tn_tensor_set_f64(&in, i, values[i]);
	status = tn_ref_run(b->module, fn, 1, &in, dims, out, result);
	for (i = 0; i < count; i++)
		assert_true(tn_tensor_get_f64(&in, i) == values[i]);
	tn_tensor_fini(&in);
	return status;
}

static void expect_vector(struct tn_tensor *out, int64_t count,
			  const double *values)
{
	int64_t i;

	assert_int_equal(tn_tensor_count(out), count);
	for (i = 0; i < count; i++)
		assert_true(tn_tensor_get_f64(out, i) == values[i]);
	tn_tensor_fini(out);
}

/* B39: an input as output, one value as two, all of their own. */
static void test_ports(void **state)
{
	struct bench *b = bench_new();
	struct tn_block *body = b->builder.fn->body;
	struct tn_value *x = param(b, body, TN_f32, symbol(b, "N", 0, 4));
	struct tn_value *a = binary(b, body, TN_OP_add, x,
				    number(body, TN_f32, 1));
	struct tn_value *list[] = { x, a, a, x };
	struct tn_tensor out[4];
	struct tn_ref_result result = { 0 };
	int64_t dims[1] = { -1 };
	int i, j;

	(void)state;
	give_back(body, TN_OP_return, 4, list);
	assert_int_equal(run_on(b, b->builder.fn, 2, VALUES(1, 2), dims, out,
				&result), TN_OK);
	assert_int_equal(dims[0], 2);
	for (i = 0; i < 4; i++) {
		for (j = 0; j < i; j++)
			assert_ptr_not_equal(out[i].data, out[j].data);
	}
	expect_vector(&out[0], 2, VALUES(1, 2));
	expect_vector(&out[1], 2, VALUES(2, 3));
	expect_vector(&out[2], 2, VALUES(2, 3));
	expect_vector(&out[3], 2, VALUES(1, 2));
	assert_int_equal(run_on(b, b->builder.fn, 0, VALUES(0), NULL, out,
				&result), TN_OK);
	for (i = 0; i < 4; i++)
		expect_vector(&out[i], 0, VALUES(0));
	bench_free(b);
}

static void test_bounds_and_guards(void **state)
{
	struct bench *b = bench_new();
	struct tn_block *body = b->builder.fn->body;
	const struct tn_dim *n = symbol(b, "N", 2, 8);
	struct tn_value *x = param(b, body, TN_f32, n);
	const struct tn_dim *shape[] = { NULL, constant(b, 2) };
	struct tn_value *y;
	struct tn_tensor out = { 0 };
	struct tn_ref_result result = { 0 };
	int64_t wrong[1] = { 5 };

	(void)state;
	y = tn_build_reshape(&b->builder, x, 2, shape, nowhere);
	give_back(body, TN_OP_return, 1, &y);
	assert_int_equal(run_on(b, b->builder.fn, 4, VALUES(1, 2, 3, 4), NULL,
				&out, &result), TN_OK);
	assert_int_equal(out.shape[0], 2);
	tn_tensor_fini(&out);
	assert_int_equal(run_on(b, b->builder.fn, 3, VALUES(1, 2, 3), NULL,
				&out, &result), TN_BAD_INPUT);
	assert_string_equal(result.message,
			    "N = 3 must be a multiple of 2 = 2");
	assert_int_equal(run_on(b, b->builder.fn, 1, VALUES(1), NULL, &out,
				&result), TN_BAD_INPUT);
	assert_string_equal(result.message,
			    "N is 1, but is declared in [2, 8]");
	assert_int_equal(run_on(b, b->builder.fn, 4, VALUES(1, 2, 3, 4), wrong,
				&out, &result), TN_BAD_INPUT);
	assert_null(out.data);
	bench_free(b);
}

/* B41: (x, y) = (y, x + inv) three times; inv lives through the loop. */
static void test_for(void **state)
{
	struct bench *b = bench_new();
	struct tn_block *body = b->builder.fn->body, *inner;
	const struct tn_dim *n = symbol(b, "N", 1, 4);
	struct tn_value *x = param(b, body, TN_f32, n), *in[2], *next[2];
	struct tn_value *inv = binary(b, body, TN_OP_add, x, x);
	struct tn_tensor out[2];
	struct tn_ref_result result = { 0 };
	struct tn_op *op;

	(void)state;
	in[0] = x;
	in[1] = inv;
	op = flow(body, TN_OP_for, 2, in, 2);
	set_attr(op, tn_attr_dim("from", constant(b, 0)));
	set_attr(op, tn_attr_dim("to", constant(b, 3)));
	inner = region(op);
	param(b, inner, TN_i64, NULL);
	next[1] = param(b, inner, TN_f32, n);
	next[0] = param(b, inner, TN_f32, n);
	next[1] = binary(b, inner, TN_OP_add, next[1], inv);
	give_back(inner, TN_OP_yield, 2, next);
	assert_true(tn_infer_op(op));
	give_back(body, TN_OP_return, 2, op->out);
	assert_int_equal(run_on(b, b->builder.fn, 1, VALUES(1), NULL, out,
				&result), TN_OK);
	/* (1, 2) -> (2, 3) -> (3, 4) -> (4, 5) */
	expect_vector(&out[0], 1, VALUES(4));
	expect_vector(&out[1], 1, VALUES(5));
	bench_free(b);
}

/* Doubles while the sum is below 10, at most `max` times. */
static void check_while(int64_t max, double start, double want)
{
	struct bench *b = bench_new();
	struct tn_block *body = b->builder.fn->body, *test, *inner;
	const struct tn_dim *n = symbol(b, "N", 1, 4);
	struct tn_value *x = param(b, body, TN_f32, n), *value;
	struct tn_builder builder;
	struct tn_tensor out;
	struct tn_ref_result result = { 0 };
	struct tn_op *op = flow(body, TN_OP_while, 1, &x, 1);

	if (max >= 0)
		set_attr(op, tn_attr_dim("max", constant(b, max)));
	test = region(op);
	value = param(b, test, TN_f32, n);
	tn_builder_init(&builder, test);
	value = build_unary(&builder, TN_OP_sum, value, nowhere);
	value = binary(b, test, TN_OP_lt, value, number(test, TN_f32, 10));
	give_back(test, TN_OP_yield, 1, &value);
	inner = region(op);
	value = param(b, inner, TN_f32, n);
	value = binary(b, inner, TN_OP_add, value, value);
	give_back(inner, TN_OP_yield, 1, &value);
	assert_true(tn_infer_op(op));
	give_back(body, TN_OP_return, 1, op->out);
	assert_int_equal(run_on(b, b->builder.fn, 1, &start, NULL, &out,
				&result), TN_OK);
	expect_vector(&out, 1, &want);
	bench_free(b);
}

static void test_while(void **state)
{
	(void)state;
	check_while(-1, 3, 12);
	check_while(1, 3, 6);
	check_while(0, 3, 3);
	check_while(-1, 11, 11);
}

/* Running sums by scan, in both directions, also over nothing (B63). */
static void check_scan(bool reverse, int64_t count, const double *values,
		       const double *want, double total)
{
	struct bench *b = bench_new();
	struct tn_block *body = b->builder.fn->body, *inner;
	struct tn_value *in[2], *sum, *list[2];
	struct tn_tensor out[2];
	struct tn_ref_result result = { 0 };
	struct tn_op *op;

	in[1] = param(b, body, TN_f32, symbol(b, "N", 0, 9));
	in[0] = number(body, TN_f32, 0);
	op = flow(body, TN_OP_scan, 2, in, 2);
	set_attr(op, tn_attr_int("carries", 1));
	set_attr(op, tn_attr_bool("reverse", reverse));
	inner = region(op);
	sum = param(b, inner, TN_f32, NULL);
	sum = binary(b, inner, TN_OP_add, sum, param(b, inner, TN_f32, NULL));
	list[0] = list[1] = sum;
	give_back(inner, TN_OP_yield, 2, list);
	assert_true(tn_infer_op(op));
	assert_int_equal(op->out[1]->type->rank, 1);
	give_back(body, TN_OP_return, 2, op->out);
	assert_int_equal(run_on(b, b->builder.fn, count, values, NULL, out,
				&result), TN_OK);
	expect_vector(&out[0], 1, &total);
	expect_vector(&out[1], count, want);
	bench_free(b);
}

static void test_scan(void **state)
{
	(void)state;
	check_scan(false, 3, VALUES(1, 2, 3), VALUES(1, 3, 6), 6);
	check_scan(true, 3, VALUES(1, 2, 3), VALUES(6, 5, 3), 6);
	check_scan(false, 0, VALUES(0), VALUES(0), 0);
}

/* if all(x < 0) { -x } else { x // 0 ... } only raises in the branch taken. */
static void check_if(double value, double want, uint32_t flags)
{
	struct bench *b = bench_new();
	struct tn_block *body = b->builder.fn->body, *yes, *no;
	const struct tn_dim *n = symbol(b, "N", 1, 4);
	struct tn_value *x = param(b, body, TN_f32, n), *test, *result_value;
	struct tn_tensor out;
	struct tn_ref_result result = { 0 };
	struct tn_value *zero, *index;
	struct tn_builder builder;
	struct tn_op *op, *bad;

	test = binary(b, body, TN_OP_lt, x, number(body, TN_f32, 0));
	tn_builder_init(&builder, body);
	test = build_unary(&builder, TN_OP_all, test, nowhere);
	op = flow(body, TN_OP_if, 1, &test, 1);
	yes = region(op);
	tn_builder_init(&builder, yes);
	result_value = build_unary(&builder, TN_OP_neg, x, nowhere);
	give_back(yes, TN_OP_yield, 1, &result_value);
	no = region(op);
	tn_builder_init(&builder, no);
	zero = number(no, TN_i64, 0);
	index = binary(b, no, TN_OP_fdiv, number(no, TN_i64, 1), zero);
	bad = index->op;
	index = tn_build_cast(&builder, index, TN_f32, nowhere);
	result_value = binary(b, no, TN_OP_add, x, index);
	give_back(no, TN_OP_yield, 1, &result_value);
	assert_true(tn_infer_op(op));
	give_back(body, TN_OP_return, 1, op->out);
	assert_int_equal(run_on(b, b->builder.fn, 1, &value, NULL, &out,
				&result), TN_OK);
	assert_int_equal(result.flags, flags);
	assert_ptr_equal(result.raised, flags ? bad : NULL);
	expect_vector(&out, 1, &want);
	bench_free(b);
}

static void test_if(void **state)
{
	(void)state;
	check_if(-2, 2, 0);
	check_if(2, 2, TN_RAISED_DIVISION);
}

/* fn g(x: f32[K]) { return x + dim(K) } called with N and with 2 * N. */
static void test_call(void **state)
{
	struct bench *b = bench_new();
	struct tn_fn *g = tn_graph_fn(b->module, "g", TN_FN_PLAIN);
	struct tn_block *body = b->builder.fn->body;
	const struct tn_dim *k = symbol(b, "K", 1, 8);
	const struct tn_dim *n = symbol(b, "N", 1, 4);
	const struct tn_type **types =
		tn_arena_array(&b->module->arena, 1, sizeof(*types));
	struct tn_attr attrs[2];
	struct tn_value *x = param(b, g->body, TN_f32, k), *twice[2];
	struct tn_builder builder;
	struct tn_op *op;
	struct tn_tensor out;
	struct tn_ref_result result = { 0 };

	(void)state;
	tn_builder_init(&builder, g->body);
	attrs[0] = tn_attr_dim("value", k);
	attrs[1] = tn_attr_dtype("elem", TN_f32);
	op = tn_build_op(&builder, TN_OP_dim, 0, NULL, 2, attrs, nowhere);
	x = binary(b, g->body, TN_OP_add, x, op->out[0]);
	types[0] = x->type;
	g->result_types = types;
	g->nresults = 1;
	give_back(g->body, TN_OP_return, 1, &x);

	x = param(b, body, TN_f32, n);
	tn_builder_init(&builder, body);
	twice[0] = twice[1] = x;
	attrs[0] = tn_attr_int("axis", 0);
	op = tn_build_op(&builder, TN_OP_concat, 2, twice, 1, attrs, nowhere);
	op = flow(body, TN_OP_call, 1, op->out, 1);
	op->callee = g;
	assert_true(tn_infer_op(op));
	give_back(body, TN_OP_return, 1, op->out);
	assert_int_equal(run_on(b, b->builder.fn, 2, VALUES(1, 2), NULL, &out,
				&result), TN_OK);
	expect_vector(&out, 4, VALUES(5, 6, 5, 6));
	bench_free(b);
}

static void test_nonzero(void **state)
{
	struct bench *b = bench_new();
	struct tn_block *body = b->builder.fn->body;
	struct tn_sym sym = { .name = tn_intern_text(&b->names, "Z"),
			      .hi = 2, .mod = 1, .is_runtime = true };
	const struct tn_dim *z = tn_dim_new_sym(&b->module->dims, &sym);
	struct tn_value *x = param(b, body, TN_f32, symbol(b, "N", 0, 9));
	struct tn_op *op = flow(body, TN_OP_nonzero, 1, &x, 1);
	struct tn_value *y;
	struct tn_tensor out = { 0 };
	struct tn_ref_result result = { 0 };

	(void)state;
	op->out[0]->type = tn_type_get(b->module, TN_i64, 1, &z);
	assert_true(tn_infer_op(op));
	y = binary(b, body, TN_OP_add, op->out[0], op->out[0]);
	give_back(body, TN_OP_return, 1, &y);
	assert_int_equal(run_on(b, b->builder.fn, 4, VALUES(0, 5, 0, -1),
				NULL, &out, &result), TN_OK);
	expect_vector(&out, 2, VALUES(2, 6));
	assert_int_equal(run_on(b, b->builder.fn, 3, VALUES(1, 1, 1), NULL,
				&out, &result), TN_BAD_INPUT);
	assert_string_equal(result.message,
			    "Z is 3, but is declared in [0, 2]");
	bench_free(b);
}

/* B66: a chain does not recurse and keeps two tensors alive, not all. */
static void test_deep_chain(void **state)
{
	struct bench *b = bench_new();
	struct tn_block *body = b->builder.fn->body;
	struct tn_value *x = param(b, body, TN_i32, constant(b, 1000));
	struct tn_value *one = number(body, TN_i32, 1);
	struct tn_ref_result result = { 0 };
	struct tn_tensor in, out;
	int64_t count = 1000;
	int i;

	(void)state;
	for (i = 0; i < 20000; i++)
		x = binary(b, body, TN_OP_add, x, one);
	give_back(body, TN_OP_return, 1, &x);
	assert_true(tn_infer_fn(b->builder.fn));
	assert_true(tn_tensor_init(&in, TN_i32, 1, &count));
	assert_int_equal(tn_ref_run(b->module, b->builder.fn, 1, &in, NULL,
				    &out, &result), TN_OK);
	assert_int_equal(tn_tensor_get_i64(&out, 999), 20000);
	tn_tensor_fini(&in);
	tn_tensor_fini(&out);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_bounds_and_guards),
		cmocka_unit_test(test_for),
		cmocka_unit_test(test_while),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_if),
		cmocka_unit_test(test_call),
		cmocka_unit_test(test_nonzero),
		cmocka_unit_test(test_deep_chain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
