/*
 * Emitted C against the interpreter of kernels, bit by bit, under several
 * compilers with all warnings as errors, with and without vectors, as C++:
 * loops, guards, tiles, sizes that a run finds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/emit_c_kit.h"

#include "base/half.h"

/* ---- Elementwise, run-time dims, guards ---- */

/* y[i, j] = max(x[i, j] * w[j] + 0.5, -x[i, j]) over B rows of `n`. */
static void make_map(struct kit *kit, int64_t n, enum tn_dtype dtype)
{
	const struct tn_dim *dims[2];
	struct tn_value *in[2];
	const struct tn_type *type;
	const char *name = "y";
	struct tn_kbuf *x, *w, *y;
	struct tn_op *op;
	ex i, j, at[2], e, neg;

	dims[0] = kit_sym(kit, "B", 1, 64);
	dims[1] = kit_dim(kit, n);
	in[0] = kit_input(kit, "x", dtype, 2, dims);
	in[1] = kit_input(kit, "w", dtype, 1, dims + 1);
	kit_kernel(kit, "main__map");
	x = tn_kernel_param(kit->k, "x", dtype, 2, dims, TN_KBUF_IN);
	w = tn_kernel_param(kit->k, "w", dtype, 1, dims + 1, TN_KBUF_IN);
	y = tn_kernel_param(kit->k, "y", dtype, 2, dims, TN_KBUF_OUT);
	(void)kit_loop(kit, TN_LOOP_PAR, "i", kit_int(kit, 0),
		       tn_kexpr_dim(kit->k, dims[0]), &i);
	(void)kit_loop(kit, TN_LOOP_VEC, "j", kit_int(kit, 0),
		       kit_int(kit, n), &j);
	at[0] = i;
	at[1] = j;
	e = tn_kexpr_load(kit->k, x, 2, at);
	neg = kit_op(kit, TN_OP_neg, dtype, 1, e, NULL, NULL);
	e = kit_op(kit, TN_OP_mul, dtype, 2, e,
		   tn_kexpr_load(kit->k, w, 1, at + 1), NULL);
	e = kit_op(kit, TN_OP_add, dtype, 2, e,
		   tn_kexpr_float(kit->k, dtype, 0.5), NULL);
	e = kit_op(kit, TN_OP_max, dtype, 2, e, neg, NULL);
	assert_non_null(tn_kstmt_store(kit->k, kit->block, y, 2, at, e,
				       false));
	type = in[0]->type;
	op = kit_launch(kit, kit->fn->body, 2, in, 1, &name, &type);
	kit_return(kit, 1, op->out);
}

static void test_map(void **unused)
{
	static const int64_t widths[] = { 37, 64, 5 };
	float *x = malloc(7 * 64 * 4), *w = malloc(64 * 4);
	void *in[] = { x, w };
	uint64_t seed = 1;
	struct kit kit;
	size_t bytes;
	int i, n;

	(void)unused;
	for (i = 0; i < 7 * 64; i++)
		x[i] = kit_random(&seed);
	for (i = 0; i < 64; i++)
		w[i] = kit_random(&seed);
	x[3] = NAN;
	x[9] = INFINITY;
	w[4] = NAN;
	for (n = 0; n < 3; n++) {
		kit_init(&kit);
		make_map(&kit, widths[n], TN_f32);
		kit.dims[0] = 7;
		bytes = (size_t)(7 * widths[n] * 4);
		kit_compare(&kit, n ? "avx2" : "avx512", 2, in, 1, &bytes,
			    true, -1);
		kit_fini(&kit);
	}
	free(x);
	free(w);
}

static void test_map_half(void **unused)
{
	static const enum tn_dtype types[] = { TN_f16, TN_bf16 };
	uint16_t *x = malloc(7 * 37 * 2), *w = malloc(37 * 2);
	void *in[] = { x, w };
	uint64_t seed = 2;
	struct kit kit;
	size_t bytes = 7 * 37 * 2;
	int i, n;

	(void)unused;
	for (n = 0; n < 2; n++) {
		for (i = 0; i < 7 * 37; i++)
			x[i] = n ? tn_half_bf16_from_f32(kit_random(&seed)) :
				tn_half_f16_from_f32(kit_random(&seed));
		for (i = 0; i < 37; i++)
			w[i] = n ? tn_half_bf16_from_f32(kit_random(&seed)) :
				tn_half_f16_from_f32(kit_random(&seed));
		kit_init(&kit);
		make_map(&kit, 37, types[n]);
		kit.dims[0] = 7;
		kit_compare(&kit, "avx2", 2, in, 1, &bytes, true, -1);
		kit_fini(&kit);
	}
	free(x);
	free(w);
}

static void test_bounds(void **unused)
{
	const void *in[2] = { NULL, NULL };
	void *out[1] = { NULL };
	struct tn_guard *guard;
	struct kit_run run;
	struct kit kit;

	(void)unused;
	kit_init(&kit);
	make_map(&kit, 5, TN_f32);
	guard = tn_vec_push(&kit.fn->guards);
	guard->kind = TN_GUARD_DIVIDES;
	guard->a = tn_vec_ptr(&kit.module->dims.syms, 0);
	guard->b = kit_dim(&kit, 4);
	kit.dims[0] = 65;
	assert_true(kit_run_c(&kit, "model", "generic", kit_compiler(0), 1,
			      in, out, &run));
	assert_int_equal(run.status, 1);
	assert_int_equal(run.fault, 0);
	kit.dims[0] = 6;
	assert_true(kit_run_c(&kit, "model", "generic", kit_compiler(0), 1,
			      in, out, &run));
	assert_int_equal(run.status, 1);
	assert_int_equal(run.fault, 1);
	kit_fini(&kit);
}

/* ---- A tile of a matrix product in registers ---- */

static ex product_row(struct kit *kit, ex outer, ex inner)
{
	return tn_kexpr_add(kit->k, tn_kexpr_mul(kit->k, outer,
						 kit_int(kit, 6)), inner);
}

static void make_matmul(struct kit *kit)
{
	const struct tn_dim *a_dims[2], *b_dims[2], *c_dims[2], *tile[2];
	struct tn_kblock *rows, *panels, *steps;
	const char *name = "c";
	struct tn_value *in[2];
	const struct tn_type *type;
	struct tn_kbuf *a, *b, *c, *acc, *stage;
	struct tn_op *op;
	ex i, j, k, ii, jj, at[2], col, value;

	a_dims[0] = c_dims[0] = kit_dim(kit, 12);
	a_dims[1] = b_dims[0] = kit_dim(kit, 33);
	b_dims[1] = c_dims[1] = kit_dim(kit, 64);
	tile[0] = kit_dim(kit, 6);
	tile[1] = kit_dim(kit, 16);
	in[0] = kit_input(kit, "a", TN_f32, 2, a_dims);
	in[1] = kit_input(kit, "b", TN_f32, 2, b_dims);
	kit_kernel(kit, "main__matmul");
	kit_annot(kit, "fp", "contract");
	a = tn_kernel_param(kit->k, "a", TN_f32, 2, a_dims, TN_KBUF_IN);
	b = tn_kernel_param(kit->k, "b", TN_f32, 2, b_dims, TN_KBUF_IN);
	c = tn_kernel_param(kit->k, "c", TN_f32, 2, c_dims, TN_KBUF_OUT);
	acc = tn_kernel_local(kit->k, "acc", TN_f32, 2, tile, TN_SPACE_REG);
	stage = tn_kernel_local(kit->k, "b__reg", TN_f32, 1, tile + 1,
				TN_SPACE_REG);
	(void)kit_loop(kit, TN_LOOP_PAR, "i__0", kit_int(kit, 0),
		       kit_int(kit, 2), &i);
	(void)kit_loop(kit, TN_LOOP_FOR, "j__0", kit_int(kit, 0),
		       kit_int(kit, 4), &j);
	assert_non_null(tn_kstmt_alloc(kit->k, kit->block, acc));
	rows = kit_loop(kit, TN_LOOP_UNROLL, "i__1", kit_int(kit, 0),
			kit_int(kit, 6), &ii);
	(void)kit_loop(kit, TN_LOOP_VEC, "j__1", kit_int(kit, 0),
		       kit_int(kit, 16), &jj);
	at[0] = ii;
	at[1] = jj;
	(void)tn_kstmt_store(kit->k, kit->block, acc, 2, at,
			     tn_kexpr_float(kit->k, TN_f32, 0), false);
	kit->block = rows;
	steps = kit_loop(kit, TN_LOOP_FOR, "k", kit_int(kit, 0),
			 kit_int(kit, 33), &k);
	(void)tn_kstmt_alloc(kit->k, kit->block, stage);
	panels = kit_loop(kit, TN_LOOP_VEC, "j__2", kit_int(kit, 0),
			  kit_int(kit, 16), &jj);
	col = tn_kexpr_add(kit->k, tn_kexpr_mul(kit->k, j, kit_int(kit, 16)),
			   jj);
	at[0] = k;
	at[1] = col;
	value = tn_kexpr_load(kit->k, b, 2, at);
	at[0] = jj;
	(void)tn_kstmt_store(kit->k, kit->block, stage, 1, at, value, false);
	kit->block = panels;
	(void)kit_loop(kit, TN_LOOP_UNROLL, "i__2", kit_int(kit, 0),
		       kit_int(kit, 6), &ii);
	(void)kit_loop(kit, TN_LOOP_VEC, "j__3", kit_int(kit, 0),
		       kit_int(kit, 16), &jj);
	at[0] = product_row(kit, i, ii);
	at[1] = k;
	value = tn_kexpr_load(kit->k, a, 2, at);
	at[0] = jj;
	value = kit_op(kit, TN_OP_mul, TN_f32, 2, value,
		       tn_kexpr_load(kit->k, stage, 1, at), NULL);
	at[0] = ii;
	at[1] = jj;
	(void)tn_kstmt_store(kit->k, kit->block, acc, 2, at, value, true);
	kit->block = steps;
	(void)kit_loop(kit, TN_LOOP_UNROLL, "i__3", kit_int(kit, 0),
		       kit_int(kit, 6), &ii);
	(void)kit_loop(kit, TN_LOOP_VEC, "j__4", kit_int(kit, 0),
		       kit_int(kit, 16), &jj);
	at[0] = ii;
	at[1] = jj;
	value = tn_kexpr_load(kit->k, acc, 2, at);
	at[0] = product_row(kit, i, ii);
	at[1] = tn_kexpr_add(kit->k, tn_kexpr_mul(kit->k, j,
						  kit_int(kit, 16)), jj);
	(void)tn_kstmt_store(kit->k, kit->block, c, 2, at, value, false);
	type = tn_type_get(kit->module, TN_f32, 2, c_dims);
	op = kit_launch(kit, kit->fn->body, 2, in, 1, &name, &type);
	kit_return(kit, 1, op->out);
}

static void test_matmul(void **unused)
{
	static const char *const isas[] = { "avx512", "avx2", "sse2" };
	float *a = malloc(12 * 33 * 4), *b = malloc(33 * 64 * 4);
	void *in[] = { a, b };
	uint64_t seed = 3;
	size_t bytes = 12 * 64 * 4;
	struct tn_emission emission;
	struct kit kit;
	int i;

	(void)unused;
	for (i = 0; i < 12 * 33; i++)
		a[i] = kit_random(&seed);
	for (i = 0; i < 33 * 64; i++)
		b[i] = kit_random(&seed);
	for (i = 0; i < 3; i++) {
		kit_init(&kit);
		make_matmul(&kit);
		kit_compare(&kit, isas[i], 2, in, 1, &bytes, false, -1);
		assert_int_equal(tn_emit_c(kit.module, kit.fn, "m",
					   tn_target_c(isas[i]), &emission),
				 TN_OK);
		assert_null(strstr(tn_buf_text(&emission.files[0].text),
				   "float acc["));
		assert_non_null(strstr(tn_buf_text(&emission.files[0].text),
				       "TN_HOLD(b__reg_0)"));
		tn_emission_fini(&emission);
		kit_fini(&kit);
	}
	free(a);
	free(b);
}

/* ---- Sizes that a run finds ---- */

/* The places of what is above 0, by way of a copy in the arena; their number
 * is a dim that the run sets. */
static void test_sizes(void **unused)
{
	float x[40];
	void *in[] = { x };
	struct tn_sym late = { .lo = 0, .hi = 40, .mod = 1,
			       .is_runtime = true };
	const struct tn_dim *n, *z;
	const struct tn_type *type;
	struct tn_value *input;
	const char *name = "y";
	struct tn_kbuf *a, *copy, *y;
	struct tn_kvar *count;
	struct tn_kblock *outer;
	struct tn_kstmt *let, *branch;
	size_t bytes = 40 * 8;
	uint64_t seed = 9;
	struct tn_op *op;
	struct kit kit;
	ex at, here;
	int i;

	(void)unused;
	for (i = 0; i < 40; i++)
		x[i] = kit_random(&seed);
	kit_init(&kit);
	n = kit_sym(&kit, "N", 1, 40);
	late.name = tn_intern_text(&kit.names, "Z");
	z = tn_dim_new_sym(&kit.module->dims, &late);
	kit.dims[0] = 40;
	input = kit_input(&kit, "x", TN_f32, 1, &n);
	kit_kernel(&kit, "main__nonzero");
	kit.k->scratch_bytes = 64 + 40 * 4;
	a = tn_kernel_param(kit.k, "x", TN_f32, 1, &n, TN_KBUF_IN);
	y = tn_kernel_param(kit.k, "y", TN_i64, 1, &z, TN_KBUF_OUT);
	copy = tn_kernel_local(kit.k, "copy", TN_f32, 1, &n, TN_SPACE_ARENA);
	copy->arena_offset = 64;
	(void)tn_kstmt_alloc(kit.k, kit.block, copy);
	outer = kit_loop(&kit, TN_LOOP_VEC, "i", kit_int(&kit, 0),
			 tn_kexpr_dim(kit.k, n), &at);
	(void)tn_kstmt_store(kit.k, kit.block, copy, 1, &at,
			     tn_kexpr_load(kit.k, a, 1, &at), false);
	kit.block = outer;
	count = tn_kernel_var(kit.k, "count", TN_i64);
	count->is_mutable = true;
	let = tn_kstmt_let(kit.k, kit.block, count, kit_int(&kit, 0));
	assert_non_null(let);
	outer = kit_loop(&kit, TN_LOOP_FOR, "i", kit_int(&kit, 0),
			 tn_kexpr_dim(kit.k, n), &at);
	branch = tn_kstmt_if(kit.k, kit.block,
			     kit_op(&kit, TN_OP_lt, TN_bool, 2,
				    tn_kexpr_float(kit.k, TN_f32, 0),
				    tn_kexpr_load(kit.k, copy, 1, &at),
				    NULL));
	here = tn_kexpr_var(kit.k, count);
	(void)tn_kstmt_store(kit.k, &branch->body, y, 1, &here, at, false);
	(void)tn_kstmt_set(kit.k, &branch->body, count, kit_int(&kit, 1),
			   true);
	kit.block = outer;
	(void)tn_kstmt_size(kit.k, kit.block, z->sym,
			    tn_kexpr_var(kit.k, count));
	type = tn_type_get(kit.module, TN_i64, 1, &z);
	op = kit_launch(&kit, kit.fn->body, 1, &input, 1, &name, &type);
	kit_return(&kit, 1, op->out);
	for (i = 0, bytes = 0; i < 40; i++)
		bytes += x[i] > 0 ? 8u : 0u;
	kit.dims[1] = 40;
	kit_compare(&kit, "avx2", 1, in, 1, &bytes, true, -1);
	assert_int_equal(kit.dims[1], (int64_t)(bytes / 8));
	kit_fini(&kit);
}

/* An operator that lowering should have taken. */
static void test_left(void **state)
{
	struct tn_span none = { 0, 0, 0 };
	struct tn_emission emission;
	const struct tn_dim *dims[1];
	struct tn_value *x;
	struct tn_buf said;
	struct tn_op *op;
	struct kit kit;

	(void)state;
	kit_init(&kit);
	dims[0] = kit_dim(&kit, 3);
	x = kit_input(&kit, "x", TN_f32, 1, dims);
	op = tn_graph_op(kit.fn, TN_OP_neg, 1, &x, 1, none);
	assert_non_null(op);
	op->out[0]->type = x->type;
	assert_true(tn_graph_name(kit.fn, op->out[0], "y"));
	kit_place(&kit, op->out[0]);
	tn_graph_insert(kit.fn->body, op, NULL);
	kit_return(&kit, 1, op->out);
	assert_int_equal(tn_emit_c(kit.module, kit.fn, "left",
				   tn_target_c("generic"), &emission),
			 TN_UNSUPPORTED);
	tn_buf_init(&said);
	tn_sink_render(&kit.sink, &said, false);
	assert_non_null(strstr(tn_buf_text(&said), tn_codes[TN_E0901].name));
	assert_int_equal(kit.sink.errors, 1);
	tn_buf_fini(&said);
	tn_emission_fini(&emission);
	kit_fini(&kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_map_half),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_matmul),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_left),
	};
	const char *only = getenv("ONLY");

	if (only)
		cmocka_set_test_filter(only);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
