/*
 * Shapes with symbolic dims: what is proved, what becomes a guard, what is
 * refused and with which code; attributes made whole.
 */
#include "build.h"
#include "ops.h"
#include "ir/graph_edit.h"

static const struct tn_span nowhere;

static const struct tn_dim *symbol(struct bench *b, const char *name,
				   int64_t lo, int64_t hi)
{
	struct tn_sym sym = { .name = tn_intern_text(&b->names, name),
			      .lo = lo, .hi = hi, .mod = 1 };
	const struct tn_dim *dim = tn_dim_new_sym(&b->module->dims, &sym);

	assert_non_null(dim);
	b->dims[dim->sym->number] = lo;
	return dim;
}

static const struct tn_dim *times(struct bench *b, const struct tn_dim *dim,
				  int64_t factor)
{
	return tn_dim_mul(&b->module->dims, dim, constant(b, factor));
}

static const struct tn_dim *over(struct bench *b, const struct tn_dim *dim,
				 int64_t divisor)
{
	return tn_dim_floordiv(&b->module->dims, dim, constant(b, divisor));
}

static const struct tn_dim *plus(struct bench *b, const struct tn_dim *dim,
				 int64_t more)
{
	return tn_dim_add(&b->module->dims, dim, constant(b, more));
}

#define GIVE(b, dtype, ...) \
	give_dims(b, dtype, (int)(sizeof((const struct tn_dim *[]) \
		  { __VA_ARGS__ }) / sizeof(void *)), \
		  (const struct tn_dim *[]){ __VA_ARGS__ })

static size_t guards(const struct bench *b)
{
	return b->builder.fn->guards.len;
}

static void expect_type(struct bench *b, int i, const char *want)
{
	struct tn_buf text;

	tn_buf_init(&text);
	tn_type_print(&text, b->op->out[i]->type);
	assert_string_equal(tn_buf_text(&text), want);
	tn_buf_fini(&text);
}

static void accept(struct bench *b, enum tn_opcode code, const char *want)
{
	if (!infer(b, code)) {
		struct tn_buf text;

		tn_buf_init(&text);
		tn_sink_render(&b->sink, &text, false);
		print_error("%s\n", tn_buf_text(&text));
		tn_buf_fini(&text);
		fail();
	}
	expect_type(b, 0, want);
}

/* Refused with the code, once; the result is poison and stays silent. */
static void refuse(struct bench *b, enum tn_opcode code, enum tn_code want)
{
	size_t before = b->sink.diags.len;
	const struct tn_diag *diag;
	struct tn_value *result;

	assert_false(infer(b, code));
	assert_int_equal(b->sink.diags.len, before + 1);
	diag = tn_vec_ptr(&b->sink.diags, before);
	assert_string_equal(tn_codes[diag->code].name, tn_codes[want].name);
	if (b->op->nout == 0)
		return;
	result = b->op->out[0];
	assert_true(tn_type_is_poison(result->type));
	result = build_unary(&b->builder, TN_OP_neg, result, nowhere);
	assert_true(tn_type_is_poison(result->type));
	assert_int_equal(b->sink.diags.len, before + 1);
}

static void test_broadcast(void **state)
{
	struct bench *b = bench_new();
	const struct tn_dim *n = symbol(b, "N", 1, 64);
	const struct tn_dim *m = symbol(b, "M", 1, 64);
	const struct tn_dim *one = constant(b, 1);

	(void)state;
	GIVE(b, TN_f32, n, one, m);
	GIVE(b, TN_f32, n, one);
	accept(b, TN_OP_add, "f32[N, N, M]");
	next(b);
	GIVE(b, TN_f32, n);
	GIVE(b, TN_f32, m);
	refuse(b, TN_OP_add, TN_E0312);
	next(b);
	GIVE(b, TN_f32, n);
	GIVE(b, TN_f32, constant(b, 8));
	refuse(b, TN_OP_add, TN_E0312);
	next(b);
	GIVE(b, TN_f32, n);
	GIVE(b, TN_f32, plus(b, n, 1));
	refuse(b, TN_OP_add, TN_E0312);
	next(b);
	GIVE(b, TN_f32, constant(b, 2));
	GIVE(b, TN_f32, constant(b, 3));
	refuse(b, TN_OP_add, TN_E0312);
	assert_int_equal(guards(b), 0);
	next(b);
	GIVE(b, TN_f32, n);
	GIVE(b, TN_f32, times(b, over(b, n, 2), 2));
	accept(b, TN_OP_add, "f32[N]");
	assert_int_equal(guards(b), 1);
	bench_free(b);
}

static void test_element_types(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	give(b, TN_f32, SCALAR, NULL);
	give(b, TN_f16, SCALAR, NULL);
	refuse(b, TN_OP_add, TN_E0301);
	next(b);
	give(b, TN_i32, SCALAR, NULL);
	give(b, TN_i32, SCALAR, NULL);
	refuse(b, TN_OP_div, TN_E0302);
	next(b);
	give(b, TN_f32, SCALAR, NULL);
	give(b, TN_f32, SCALAR, NULL);
	refuse(b, TN_OP_mod, TN_E0302);
	next(b);
	give(b, TN_i4, SHAPE(2), NULL);
	refuse(b, TN_OP_neg, TN_E0302);
	next(b);
	give(b, TN_f32, SCALAR, NULL);
	refuse(b, TN_OP_add, TN_E0501);
	next(b);
	give(b, TN_f32, SHAPE(2), NULL);
	with(b, tn_attr_dtype("elem", TN_i64));
	refuse(b, TN_OP_bitcast, TN_E0303);
	bench_free(b);
}

static void test_attributes(void **state)
{
	struct bench *b = bench_new();
	const struct tn_attr *axes;

	(void)state;
	give(b, TN_f32, SHAPE(2, 3), NULL);
	with(b, INTS("axis", 1));
	refuse(b, TN_OP_sum, TN_E0502);
	next(b);
	give(b, TN_f32, SHAPE(2, 3), NULL);
	with(b, tn_attr_string("axes", "all"));
	refuse(b, TN_OP_sum, TN_E0503);
	next(b);
	give(b, TN_f32, SHAPE(2, 3), NULL);
	refuse(b, TN_OP_argmax, TN_E0504);
	next(b);
	give(b, TN_f32, SHAPE(2, 3), NULL);
	with(b, tn_attr_int("axis", 2));
	refuse(b, TN_OP_argmax, TN_E0314);
	next(b);
	give(b, TN_f32, SHAPE(2, 3), NULL);
	with(b, tn_attr_int("axes", -1));
	accept(b, TN_OP_sum, "f32[2]");
	axes = tn_graph_attr(b->op, "axes");
	assert_int_equal(axes->count, 1);
	assert_int_equal(axes->u.ints[0], 1);
	next(b);
	give(b, TN_f32, SHAPE(1, 1, 4, 4), NULL);
	with(b, INTS("size", 2, 2, 2));
	refuse(b, TN_OP_maxpool, TN_E0506);
	next(b);
	give(b, TN_f32, SHAPE(1, 1, 4, 4), NULL);
	with(b, tn_attr_int("size", 0));
	refuse(b, TN_OP_maxpool, TN_E0505);
	next(b);
	give(b, TN_f32, SHAPE(4), NULL);
	with_dims(b, "pad", true, 2, (const int64_t[]){ -1, 0 });
	refuse(b, TN_OP_pad, TN_E0505);
	bench_free(b);
}

static void reshape_to(struct bench *b, const struct tn_dim *first,
		       const struct tn_dim *second)
{
	const struct tn_dim *dims[] = { first, second };

	with(b, tn_attr_dims("shape", 2,
			     tn_arena_copy(&b->module->arena, dims,
					   sizeof(dims))));
}

static void test_reshape(void **state)
{
	struct bench *b = bench_new();
	const struct tn_dim *n = symbol(b, "N", 4, 64);
	const struct tn_dim *m = symbol(b, "M", 2, 64);

	(void)state;
	GIVE(b, TN_f32, n, constant(b, 6));
	reshape_to(b, NULL, constant(b, 3));
	accept(b, TN_OP_reshape, "f32[2*N, 3]");
	assert_int_equal(guards(b), 0);
	next(b);
	GIVE(b, TN_f32, n);
	reshape_to(b, NULL, constant(b, 4));
	accept(b, TN_OP_reshape, "f32[N // 4, 4]");
	assert_int_equal(guards(b), 1);
	next(b);
	GIVE(b, TN_f32, n, m);
	reshape_to(b, m, n);
	accept(b, TN_OP_reshape, "f32[M, N]");
	assert_int_equal(guards(b), 1);
	next(b);
	GIVE(b, TN_f32, n, m);
	reshape_to(b, m, NULL);
	accept(b, TN_OP_reshape, "f32[M, N]");
	next(b);
	give(b, TN_f32, SHAPE(4), NULL);
	reshape_to(b, NULL, NULL);
	refuse(b, TN_OP_reshape, TN_E0316);
	next(b);
	give(b, TN_f32, SHAPE(4), NULL);
	reshape_to(b, NULL, constant(b, 3));
	refuse(b, TN_OP_reshape, TN_E0316);
	next(b);
	give(b, TN_f32, SHAPE(4), NULL);
	reshape_to(b, constant(b, 3), constant(b, 2));
	refuse(b, TN_OP_reshape, TN_E0315);
	bench_free(b);
}

static void slice_to(struct bench *b, const struct tn_dim *start,
		     const struct tn_dim *stop, int64_t step)
{
	const struct tn_dim **list = tn_arena_array(&b->module->arena, 2,
						    sizeof(*list));

	list[0] = start;
	list[1] = stop;
	with(b, tn_attr_dims("start", 1, list));
	with(b, tn_attr_dims("stop", 1, list + 1));
	with(b, tn_attr_ints("step", 1, (const int64_t[]){ step }));
}

static void test_slice(void **state)
{
	struct bench *b = bench_new();
	const struct tn_dim *n = symbol(b, "N", 4, 64);

	(void)state;
	GIVE(b, TN_f32, n);
	slice_to(b, constant(b, 1), n, 1);
	accept(b, TN_OP_slice, "f32[N - 1]");
	assert_int_equal(guards(b), 0);
	next(b);
	GIVE(b, TN_f32, n);
	slice_to(b, NULL, constant(b, 10), 1);
	accept(b, TN_OP_slice, "f32[10]");
	assert_int_equal(guards(b), 1);
	next(b);
	GIVE(b, TN_f32, n);
	slice_to(b, constant(b, -1), n, 1);
	refuse(b, TN_OP_slice, TN_E0317);
	next(b);
	GIVE(b, TN_f32, n);
	slice_to(b, constant(b, 0), constant(b, INT64_MAX), 1);
	refuse(b, TN_OP_slice, TN_E0317);
	next(b);
	GIVE(b, TN_f32, n);
	slice_to(b, plus(b, n, -3), n, 2);
	accept(b, TN_OP_slice, "f32[2]");
	bench_free(b);
}

static void test_contractions(void **state)
{
	struct bench *b = bench_new();
	const struct tn_dim *n = symbol(b, "N", 1, 64);
	const struct tn_dim *m = symbol(b, "M", 1, 64);
	const struct tn_dim *four = constant(b, 4);

	(void)state;
	GIVE(b, TN_f32, n, m, four);
	GIVE(b, TN_f32, four, constant(b, 5));
	accept(b, TN_OP_matmul, "f32[N, M, 5]");
	next(b);
	GIVE(b, TN_f32, n, four);
	GIVE(b, TN_f32, constant(b, 5), four);
	refuse(b, TN_OP_matmul, TN_E0312);
	next(b);
	GIVE(b, TN_f32, constant(b, 1), n);
	GIVE(b, TN_f32, four, n);
	with(b, tn_attr_string("spec", "ai,ai->i"));
	refuse(b, TN_OP_einsum, TN_E0312);
	next(b);
	GIVE(b, TN_f32, n, m);
	with(b, tn_attr_string("spec", "ij->jj"));
	refuse(b, TN_OP_einsum, TN_E0507);
	next(b);
	GIVE(b, TN_f32, n, m);
	with(b, tn_attr_string("spec", "ijk->j"));
	refuse(b, TN_OP_einsum, TN_E0507);
	next(b);
	give(b, TN_f32, SCALAR, NULL);
	GIVE(b, TN_f32, n);
	refuse(b, TN_OP_matmul, TN_E0310);
	bench_free(b);
}

static void test_conv(void **state)
{
	struct bench *b = bench_new();
	const struct tn_dim *n = symbol(b, "N", 1, 64);
	const struct tn_dim *h = symbol(b, "H", 8, 512);
	const struct tn_dim *three = constant(b, 3);

	(void)state;
	GIVE(b, TN_f32, n, three, h, h);
	GIVE(b, TN_f32, constant(b, 16), three, three, three);
	with(b, tn_attr_int("pad", 1));
	accept(b, TN_OP_conv, "f32[N, 16, H, H]");
	assert_int_equal(guards(b), 0);
	next(b);
	GIVE(b, TN_f32, n, constant(b, 4), h, h);
	GIVE(b, TN_f32, constant(b, 16), three, three, three);
	refuse(b, TN_OP_conv, TN_E0312);
	next(b);
	GIVE(b, TN_f32, n, constant(b, 4), h, h);
	GIVE(b, TN_f32, constant(b, 6), constant(b, 1), three, three);
	with(b, tn_attr_int("groups", 4));
	refuse(b, TN_OP_conv, TN_E0326);
	next(b);
	give(b, TN_f32, SHAPE(1, 1, 2), NULL);
	give(b, TN_f32, SHAPE(1, 1, 3), NULL);
	refuse(b, TN_OP_conv, TN_E0320);
	next(b);
	GIVE(b, TN_f32, n, three, h);
	GIVE(b, TN_f32, three, constant(b, 2), constant(b, 4));
	with(b, tn_attr_int("stride", 2));
	with(b, tn_attr_int("pad", 1));
	accept(b, TN_OP_conv_transpose, "f32[N, 2, 2*H]");
	bench_free(b);
}

static void test_indices(void **state)
{
	struct bench *b = bench_new();
	const struct tn_dim *n = symbol(b, "N", 0, 64);
	const struct tn_dim *v = constant(b, 100), *d = constant(b, 8);

	(void)state;
	GIVE(b, TN_f32, v, d);
	GIVE(b, TN_u8, n, n);
	accept(b, TN_OP_gather, "f32[N, N, 8]");
	next(b);
	GIVE(b, TN_f32, v, d);
	GIVE(b, TN_f32, n);
	refuse(b, TN_OP_gather, TN_E0302);
	next(b);
	GIVE(b, TN_f32, v, d);
	GIVE(b, TN_i64, n, n);
	refuse(b, TN_OP_gather_nd, TN_E0310);
	next(b);
	GIVE(b, TN_f32, v, d);
	GIVE(b, TN_i64, n);
	GIVE(b, TN_f32, n, n);
	refuse(b, TN_OP_scatter, TN_E0312);
	next(b);
	GIVE(b, TN_f32, n);
	with(b, tn_attr_int("axis", 0));
	accept(b, TN_OP_argmax, "i64");
	assert_int_equal(guards(b), 1);
	next(b);
	give(b, TN_f32, SHAPE(0), NULL);
	with(b, tn_attr_int("axis", 0));
	refuse(b, TN_OP_argmax, TN_E0328);
	next(b);
	GIVE(b, TN_bool, n);
	refuse(b, TN_OP_nonzero, TN_E0324);
	bench_free(b);
}

static void test_too_much(void **state)
{
	struct bench *b = bench_new();
	const struct tn_dim *big = constant(b, INT64_C(1) << 40);
	int64_t ones[TN_MAX_RANK];
	int i;

	(void)state;
	reshape_to(b, big, big);
	refuse(b, TN_OP_iota, TN_E0319);
	next(b);
	for (i = 0; i < TN_MAX_RANK; i++)
		ones[i] = 1;
	give(b, TN_f32, TN_MAX_RANK, ones, NULL);
	with(b, tn_attr_int("axes", 0));
	with(b, tn_attr_int("size", 1));
	refuse(b, TN_OP_window, TN_E0311);
	next(b);
	reshape_to(b, constant(b, -1), constant(b, 2));
	refuse(b, TN_OP_iota, TN_E0318);
	bench_free(b);
}

/* ---- Calls and regions --------------------------------------------------- */

/* fn g(x: f32[K, 2*K]) -> f32[K] */
static struct tn_fn *callee(struct bench *b, const struct tn_dim *k)
{
	struct tn_fn *fn = tn_graph_fn(b->module, "g", TN_FN_PLAIN);
	const struct tn_dim *dims[] = { k, times(b, k, 2) };
	const struct tn_type **types =
		tn_arena_array(&b->module->arena, 1, sizeof(*types));

	tn_graph_param(fn->body, "x",
		       tn_type_get(b->module, TN_f32, 2, dims));
	types[0] = tn_type_get(b->module, TN_f32, 1, dims);
	fn->nresults = 1;
	fn->result_types = types;
	return fn;
}

static bool call(struct bench *b, struct tn_fn *fn)
{
	b->op = tn_graph_op(b->builder.fn, TN_OP_call, b->nin, b->in, 1,
			    nowhere);
	b->op->callee = fn;
	tn_graph_insert(b->builder.block, b->op, NULL);
	return tn_infer_op(b->op);
}

static void test_calls(void **state)
{
	struct bench *b = bench_new();
	const struct tn_dim *n = symbol(b, "N", 1, 8);
	struct tn_fn *fn = callee(b, symbol(b, "K", 1, 16));

	(void)state;
	GIVE(b, TN_f32, plus(b, n, 1), plus(b, times(b, n, 2), 2));
	assert_true(call(b, fn));
	expect_type(b, 0, "f32[N + 1]");
	assert_int_equal(guards(b), 0);
	next(b);
	give(b, TN_f32, SHAPE(3, 7), NULL);
	assert_false(call(b, fn));
	next(b);
	give(b, TN_f32, SHAPE(17, 34), NULL);
	assert_false(call(b, fn));
	next(b);
	GIVE(b, TN_f32, times(b, n, 4), times(b, n, 8));
	assert_true(call(b, fn));
	assert_int_equal(guards(b), 1);
	bench_free(b);
}

/* `if` on a vector; branches of two types; a return of another type. */
static void test_regions(void **state)
{
	struct bench *b = bench_new();
	struct tn_value *in[2], *number;
	struct tn_op *op, *end;
	struct tn_block *region;
	int test, i;

	(void)state;
	give(b, TN_bool, SHAPE(2), NULL);
	give(b, TN_bool, SCALAR, NULL);
	give(b, TN_f32, SHAPE(2), NULL);
	give(b, TN_f32, SCALAR, NULL);
	for (test = 0; test < 3; test++) {
		static const enum tn_code codes[] = {
			TN_E0327, TN_E0323, TN_E0325
		};
		const struct tn_diag *diag;

		in[0] = b->in[test > 0];
		op = tn_graph_op(b->builder.fn, TN_OP_if, 1, in, 1, nowhere);
		tn_graph_insert(b->builder.block, op, NULL);
		for (i = 0; i < 2; i++) {
			region = tn_graph_block(b->builder.fn, op);
			number = b->in[test == 1 ? 2 + i : 3];
			end = tn_graph_op(b->builder.fn, TN_OP_yield, 1,
					  &number, 0, nowhere);
			tn_graph_insert(region, end, NULL);
		}
		assert_int_equal(tn_infer_op(op), test == 2);
		if (test == 2) {
			b->builder.fn->nresults = 1;
			b->builder.fn->result_types = &b->in[2]->type;
			end = tn_graph_op(b->builder.fn, TN_OP_return, 1,
					  op->out, 0, nowhere);
			tn_graph_insert(b->builder.block, end, NULL);
			assert_false(tn_infer_op(end));
		}
		diag = tn_vec_ptr(&b->sink.diags, (size_t)test);
		assert_int_equal(diag->code, codes[test]);
	}
	bench_free(b);
}

/* Every default of the operator table reads as its kind. */
static void test_defaults(void **state)
{
	struct bench *b = bench_new();
	int code, i;

	(void)state;
	for (code = 0; code < TN_OP_COUNT; code++) {
		const struct tn_op_info *info = &tn_ops[code];
		struct tn_op *op = tn_graph_op(b->builder.fn,
					       (enum tn_opcode)code, 0, NULL,
					       0, nowhere);

		tn_graph_insert(b->builder.block, op, NULL);
		for (i = 0; i < info->nattrs; i++) {
			op->attrs[i].kind = info->attrs[i].kind;
			op->attrs[i].is_set = !info->attrs[i].fallback;
		}
		assert_true(tn_infer_attrs(op));
		for (i = 0; i < info->nattrs; i++)
			assert_int_equal(op->attrs[i].kind,
					 info->attrs[i].kind);
	}
	assert_int_equal(b->sink.diags.len, 0);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_element_types),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_reshape),
		cmocka_unit_test(test_slice),
		cmocka_unit_test(test_contractions),
		cmocka_unit_test(test_conv),
		cmocka_unit_test(test_indices),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_regions),
		cmocka_unit_test(test_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
