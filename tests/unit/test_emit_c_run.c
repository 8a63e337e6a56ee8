/*
 * What a run of emitted C does around its kernels: flags from threads, control
 * flow, thousands of launches and inputs, weights and constants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/emit_c_kit.h"

#include "ir/eval.h"

/* ---- Flags from threads, flow, width ---- */

/* y[i, j] = x[i, j] // z[i, j] over many rows, in threads. */
static void test_raise(void **unused)
{
	const struct tn_dim *dims[2];
	struct tn_value *in[2];
	const struct tn_type *type;
	const char *name = "y";
	int32_t *x = malloc(400 * 100 * 4), *z = malloc(400 * 100 * 4);
	void *data[] = { x, z };
	size_t bytes = 400 * 100 * 4;
	struct tn_kbuf *a, *b, *y;
	struct tn_op *op;
	struct kit kit;
	ex at[2], e;
	int i;

	(void)unused;
	for (i = 0; i < 400 * 100; i++) {
		x[i] = i - 12345;
		z[i] = i == 33333 ? 0 : i % 17 - 20;
	}
	kit_init(&kit);
	dims[0] = kit_dim(&kit, 400);
	dims[1] = kit_dim(&kit, 100);
	in[0] = kit_input(&kit, "x", TN_i32, 2, dims);
	in[1] = kit_input(&kit, "z", TN_i32, 2, dims);
	kit_kernel(&kit, "main__div");
	a = tn_kernel_param(kit.k, "x", TN_i32, 2, dims, TN_KBUF_IN);
	b = tn_kernel_param(kit.k, "z", TN_i32, 2, dims, TN_KBUF_IN);
	y = tn_kernel_param(kit.k, "y", TN_i32, 2, dims, TN_KBUF_OUT);
	(void)kit_loop(&kit, TN_LOOP_PAR, "i", kit_int(&kit, 0),
		       kit_int(&kit, 400), &at[0]);
	(void)kit_loop(&kit, TN_LOOP_VEC, "j", kit_int(&kit, 0),
		       kit_int(&kit, 100), &at[1]);
	e = kit_op(&kit, TN_OP_fdiv, TN_i32, 2,
		   tn_kexpr_load(kit.k, a, 2, at),
		   tn_kexpr_load(kit.k, b, 2, at), NULL);
	(void)tn_kstmt_store(kit.k, kit.block, y, 2, at, e, false);
	(void)tn_kstmt_raise(kit.k, kit.block,
			     kit_op(&kit, TN_OP_lt, TN_bool, 2,
				    tn_kexpr_load(kit.k, a, 2, at),
				    tn_kexpr_int(kit.k, TN_i32, -12344),
				    NULL), TN_RAISED_INDEX);
	type = in[0]->type;
	op = kit_launch(&kit, kit.fn->body, 2, in, 1, &name, &type);
	kit_return(&kit, 1, op->out);
	kit_compare(&kit, "avx2", 2, data, 1, &bytes, true, -1);
	kit_fini(&kit);
	free(x);
	free(z);
}

/* A kernel y = x OP literal on one i64. */
static struct tn_value *step(struct kit *kit, struct tn_block *block,
			     struct tn_value *x, enum tn_opcode code,
			     int64_t by)
{
	enum tn_dtype result = code == TN_OP_lt ? TN_bool : TN_i64;
	const struct tn_type *type = tn_type_get(kit->module, result, 0,
						 NULL);
	const char *name = "v";
	struct tn_kbuf *a, *y;

	kit_kernel(kit, "step");
	a = tn_kernel_param(kit->k, "x", TN_i64, 0, NULL, TN_KBUF_IN);
	y = tn_kernel_param(kit->k, "y", result, 0, NULL, TN_KBUF_OUT);
	(void)tn_kstmt_store(kit->k, kit->block, y, 0, NULL,
			     kit_op(kit, code, result, 2,
				    tn_kexpr_load(kit->k, a, 0, NULL),
				    kit_int(kit, by), NULL), false);
	return kit_launch(kit, block, 1, &x, 1, &name, &type)->out[0];
}

static void yield(struct kit *kit, struct tn_block *block,
		  struct tn_value *value)
{
	struct tn_span none = { 0, 0, 0 };

	tn_graph_insert(block, tn_graph_op(kit->fn, TN_OP_yield, 1, &value, 0,
					   none), NULL);
}

static struct tn_op *flow(struct kit *kit, enum tn_opcode code,
			  struct tn_value *in, int nregions)
{
	struct tn_span none = { 0, 0, 0 };
	struct tn_op *op = tn_graph_op(kit->fn, code, 1, &in, 1, none);
	int i;

	op->out[0]->type = tn_type_get(kit->module, TN_i64, 0, NULL);
	assert_true(tn_graph_name(kit->fn, op->out[0], "r"));
	for (i = 0; i < nregions; i++)
		assert_non_null(tn_graph_block(kit->fn, op));
	return op;
}

static struct tn_value *param(struct kit *kit, struct tn_block *block)
{
	struct tn_value *value = tn_graph_param(block, "p",
		tn_type_get(kit->module, TN_i64, 0, NULL));

	kit_place(kit, value);
	return value;
}

static void alias(struct tn_value *value, struct tn_value *of)
{
	value->place.kind = TN_PLACE_ALIAS;
	value->place.alias = of;
	value->place.offset = 0;
}

/* r = while (p < 1000) p * 3; s = for 0..5: s - 7; if s < LIMIT: + 1 else
 * * 2. */
static int64_t run_flow(int64_t start)
{
	struct tn_value *x, *p, *c, *r;
	struct tn_op *loop, *count, *branch;
	int64_t got = 0;
	const void *in[] = { &start };
	void *out[] = { &got };
	struct kit_run run;
	struct kit kit;

	kit_init(&kit);
	x = kit_input(&kit, "x", TN_i64, 0, NULL);
	loop = flow(&kit, TN_OP_while, x, 2);
	p = param(&kit, loop->regions[0]);
	yield(&kit, loop->regions[0], step(&kit, loop->regions[0], p,
					   TN_OP_lt, 1000));
	c = param(&kit, loop->regions[1]);
	alias(c, p);
	yield(&kit, loop->regions[1], step(&kit, loop->regions[1], c,
					   TN_OP_mul, 3));
	alias(p, p);
	p->place.kind = TN_PLACE_ARENA;
	alias(loop->out[0], p);
	tn_graph_insert(kit.fn->body, loop, NULL);
	count = flow(&kit, TN_OP_for, loop->out[0], 1);
	count->attrs[0].is_set = count->attrs[1].is_set = true;
	count->attrs[0].u.dim = kit_dim(&kit, 0);
	count->attrs[1].u.dim = kit_dim(&kit, 5);
	c = param(&kit, count->regions[0]);
	p = param(&kit, count->regions[0]);
	yield(&kit, count->regions[0], step(&kit, count->regions[0], p,
					    TN_OP_sub, 7));
	alias(count->out[0], p);
	tn_graph_insert(kit.fn->body, count, NULL);
	c = step(&kit, kit.fn->body, count->out[0], TN_OP_lt, 1500);
	branch = flow(&kit, TN_OP_if, c, 2);
	kit_place(&kit, branch->out[0]);
	yield(&kit, branch->regions[0], step(&kit, branch->regions[0],
					     count->out[0], TN_OP_add, 1));
	yield(&kit, branch->regions[1], step(&kit, branch->regions[1],
					     count->out[0], TN_OP_mul, 2));
	tn_graph_insert(kit.fn->body, branch, NULL);
	r = branch->out[0];
	kit_return(&kit, 1, &r);
	assert_true(kit_run_c(&kit, "flow", "generic", kit_compiler(0), 1, in,
			      out, &run));
	assert_int_equal(run.status, 0);
	kit_fini(&kit);
	return got;
}

static void test_flow(void **unused)
{
	(void)unused;
	assert_int_equal(run_flow(1), 2187 * 2 - 70);
	assert_int_equal(run_flow(40), 1080 - 35 + 1);
	assert_int_equal(run_flow(5000), 2 * (5000 - 35));
}

/* concat of 2000 inputs by one kernel, and 2000 launches with as many
 * outputs; compiled within 10 s. */
static void test_wide(void **unused)
{
	enum { N = 2000 };
	static float data[N][3], joined[N][3], single[N][3];
	static const void *in[N];
	static void *out[N + 1];
	static struct tn_value *values[N], *results[N + 1];
	const struct tn_dim *dim, *dims[2];
	const struct tn_type *type;
	struct tn_kbuf *x, *y;
	struct kit_run run;
	struct kit kit;
	const char *name;
	char text[16];
	double begin;
	int i, k;
	ex at[2];

	(void)unused;
	kit_init(&kit);
	dim = kit_dim(&kit, 3);
	for (i = 0; i < N; i++) {
		(void)snprintf(text, sizeof(text), "x%d", i);
		values[i] = kit_input(&kit, text, TN_f32, 1, &dim);
		for (k = 0; k < 3; k++)
			data[i][k] = (float)(3 * i + k);
		in[i] = data[i];
		out[i + 1] = single[i];
	}
	out[0] = joined;
	dims[0] = kit_dim(&kit, N);
	dims[1] = dim;
	kit_kernel(&kit, "main__concat");
	for (i = 0; i < N; i++)
		(void)tn_kernel_param(kit.k, values[i]->name, TN_f32, 1, &dim,
				      TN_KBUF_IN);
	y = tn_kernel_param(kit.k, "y", TN_f32, 2, dims, TN_KBUF_OUT);
	for (i = 0; i < N; i++) {
		(void)kit_loop(&kit, TN_LOOP_FOR, "j", kit_int(&kit, 0),
			       kit_int(&kit, 3), &at[1]);
		at[0] = kit_int(&kit, i);
		(void)tn_kstmt_store(kit.k, kit.block, y, 2, at,
				     tn_kexpr_load(kit.k, kit.k->params[i], 1,
						   at + 1), false);
		kit.block = &kit.k->body;
	}
	name = "joined";
	type = tn_type_get(kit.module, TN_f32, 2, dims);
	results[0] = kit_launch(&kit, kit.fn->body, N, values, 1, &name,
				&type)->out[0];
	kit_kernel(&kit, "main__copy");
	x = tn_kernel_param(kit.k, "x", TN_f32, 1, &dim, TN_KBUF_IN);
	y = tn_kernel_param(kit.k, "y", TN_f32, 1, &dim, TN_KBUF_OUT);
	(void)kit_loop(&kit, TN_LOOP_FOR, "j", kit_int(&kit, 0),
		       kit_int(&kit, 3), &at[0]);
	(void)tn_kstmt_store(kit.k, kit.block, y, 1, at,
			     tn_kexpr_load(kit.k, x, 1, at), false);
	name = "y";
	for (i = 0; i < N; i++)
		results[i + 1] = kit_launch(&kit, kit.fn->body, 1, &values[i],
					    1, &name,
					    &values[i]->type)->out[0];
	kit_return(&kit, N + 1, results);
	begin = kit_seconds();
	assert_true(kit_run_c(&kit, "wide", "avx2", kit_compiler(0), 2, in,
			      out, &run));
	assert_true(kit_seconds() - begin < 10);
	assert_int_equal(run.status, 0);
	assert_memory_equal(joined, data, sizeof(data));
	assert_memory_equal(single, data, sizeof(data));
	kit_fini(&kit);
}

/* ---- Weights and constants ---- */

static void test_weights(void **unused)
{
	static float values[5] = { 1, 2, 3, 4, 5 };
	float x[5] = { 10, 20, 30, 40, 50 }, got[5];
	const void *in[] = { x };
	void *out[] = { got };
	struct tn_weight *weight;
	struct tn_tensor *literal;
	struct tn_span none = { 0, 0, 0 };
	const struct tn_type *type;
	const struct tn_dim *dim;
	struct tn_value *args[3];
	struct tn_kbuf *a, *b, *c, *y;
	const char *name = "y";
	int64_t shape[1] = { 5 };
	float three = 3;
	struct kit_run run;
	struct tn_op *op;
	struct kit kit;
	ex at, e;
	int k;

	(void)unused;
	kit_init(&kit);
	dim = kit_dim(&kit, 5);
	type = tn_type_get(kit.module, TN_f32, 1, &dim);
	args[0] = kit_input(&kit, "x", TN_f32, 1, &dim);
	weight = tn_arena_alloc(&kit.module->arena, sizeof(*weight));
	weight->name = "w";
	weight->type = type;
	weight->family = -1;
	tn_tensor_view(&weight->data, TN_f32, 1, shape, values);
	weight->value = tn_arena_alloc(&kit.module->arena,
				       sizeof(*weight->value));
	weight->value->type = type;
	weight->value->name = "w";
	weight->value->place.kind = TN_PLACE_WEIGHT;
	assert_true(tn_vec_push_ptr(&kit.module->weights, weight));
	args[1] = weight->value;
	op = tn_graph_op(kit.fn, TN_OP_const, 0, NULL, 1, none);
	literal = tn_arena_alloc(&kit.module->arena, sizeof(*literal));
	tn_tensor_view(literal, TN_f32, 0, shape, &three);
	op->literal = literal;
	op->out[0]->type = tn_type_get(kit.module, TN_f32, 0, NULL);
	op->out[0]->place.kind = TN_PLACE_WEIGHT;
	assert_true(tn_graph_name(kit.fn, op->out[0], "c"));
	tn_graph_insert(kit.fn->body, op, NULL);
	args[2] = op->out[0];
	kit_kernel(&kit, "main__sum");
	a = tn_kernel_param(kit.k, "x", TN_f32, 1, &dim, TN_KBUF_IN);
	b = tn_kernel_param(kit.k, "w", TN_f32, 1, &dim, TN_KBUF_IN);
	c = tn_kernel_param(kit.k, "c", TN_f32, 0, NULL, TN_KBUF_IN);
	y = tn_kernel_param(kit.k, "y", TN_f32, 1, &dim, TN_KBUF_OUT);
	(void)kit_loop(&kit, TN_LOOP_VEC, "i", kit_int(&kit, 0),
		       kit_int(&kit, 5), &at);
	e = kit_op(&kit, TN_OP_mul, TN_f32, 2,
		   tn_kexpr_load(kit.k, b, 1, &at),
		   tn_kexpr_load(kit.k, c, 0, NULL), NULL);
	e = kit_op(&kit, TN_OP_add, TN_f32, 2, e,
		   tn_kexpr_load(kit.k, a, 1, &at), NULL);
	(void)tn_kstmt_store(kit.k, kit.block, y, 1, &at, e, false);
	op = kit_launch(&kit, kit.fn->body, 3, args, 1, &name, &type);
	kit_return(&kit, 1, op->out);
	assert_true(kit_run_c(&kit, "weighed", "sse2", kit_compiler(0), 1, in,
			      out, &run));
	assert_int_equal(run.status, 0);
	for (k = 0; k < 5; k++)
		assert_true(got[k] == x[k] + 3 * values[k]);
	kit_fini(&kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_raise),
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_weights),
	};
	const char *only = getenv("ONLY");

	if (only)
		cmocka_set_test_filter(only);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
