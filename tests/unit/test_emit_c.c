/*
 * Emitted C against the interpreter of kernels, bit by bit, under several
 * compilers with all warnings as errors, with and without vectors, as C++.
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
#include "ir/eval.h"
#include "ir/kernel_eval.h"

static float random_float(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (float)(int32_t)(*state >> 32) / 536870912.0f;
}

/* Runs the kernel of the only launch both ways; results must be the same
 * bits, or close where a sum of products may contract. `share` not negative:
 * with a third of the compilers. */
static void compare(struct kit *kit, const char *isa, int nin,
		    void *const *in, int nout, const size_t *bytes,
		    bool is_exact, int share)
{
	const struct tn_op *op = kit->fn->body->first;
	void *want[100], *got[100], *buffers[104];
	struct kit_run run;
	struct tn_buf why;
	uint32_t flags = 0;
	int i, k, ran = 0;
	float a, b;

	while (op->code != TN_OP_launch)
		op = op->next;
	for (i = 0; i < nin; i++)
		buffers[i] = in[i];
	for (i = 0; i < nout; i++) {
		want[i] = calloc(bytes[i] + 1, 1);
		got[i] = calloc(bytes[i] + 1, 1);
		buffers[nin + i] = want[i];
	}
	tn_buf_init(&why);
	if (!tn_kernel_eval(op->kernel, kit->dims, buffers, &flags, &why))
		fail_msg("%s", tn_buf_text(&why));
	for (k = 0; kit_compiler(k); k++) {
		if (share >= 0 && k % 3 != share % 3)
			continue;
		for (i = 0; i < nout; i++)
			memset(got[i], 0xee, bytes[i]);
		if (!kit_run_c(kit, "model", isa, kit_compiler(k), 2,
			       (const void *const *)(void *)in, got, &run))
			continue;
		ran++;
		assert_int_equal(run.flags, flags);
		assert_int_equal(run.status, flags ? 3 : 0);
		for (i = 0; i < nout && is_exact; i++)
			assert_memory_equal(got[i], want[i], bytes[i]);
		for (i = 0; i < nout && !is_exact; i++)
			for (size_t at = 0; at < bytes[i]; at += 4) {
				memcpy(&a, (char *)got[i] + at, 4);
				memcpy(&b, (char *)want[i] + at, 4);
				assert_true(fabsf(a - b) <=
					    1e-5f * (1 + fabsf(b)));
			}
	}
	assert_true(ran > 0);
	tn_buf_fini(&why);
	for (i = 0; i < nout; i++) {
		free(want[i]);
		free(got[i]);
	}
}

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
		x[i] = random_float(&seed);
	for (i = 0; i < 64; i++)
		w[i] = random_float(&seed);
	x[3] = NAN;
	x[9] = INFINITY;
	w[4] = NAN;
	for (n = 0; n < 3; n++) {
		kit_init(&kit);
		make_map(&kit, widths[n], TN_f32);
		kit.dims[0] = 7;
		bytes = (size_t)(7 * widths[n] * 4);
		compare(&kit, n ? "avx2" : "avx512", 2, in, 1, &bytes, true, -1);
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
			x[i] = n ? tn_half_bf16_from_f32(random_float(&seed)) :
				tn_half_f16_from_f32(random_float(&seed));
		for (i = 0; i < 37; i++)
			w[i] = n ? tn_half_bf16_from_f32(random_float(&seed)) :
				tn_half_f16_from_f32(random_float(&seed));
		kit_init(&kit);
		make_map(&kit, 37, types[n]);
		kit.dims[0] = 7;
		compare(&kit, "avx2", 2, in, 1, &bytes, true, -1);
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
		a[i] = random_float(&seed);
	for (i = 0; i < 33 * 64; i++)
		b[i] = random_float(&seed);
	for (i = 0; i < 3; i++) {
		kit_init(&kit);
		make_matmul(&kit);
		compare(&kit, isas[i], 2, in, 1, &bytes, false, -1);
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

/* ---- Every scalar operator on every type ---- */

enum { SAMPLES = 64 };

static const double specials[] = {
	0, -0.0, 1, -1, 2, 3, 7, -7, 127, 128, 255, 0.5, -0.5, 1.5, 2.5, 1e-45,
	3.4e38, 1e300, -1e300, 65504, 65520, 2147483647.0, 4294967296.0, 9.3e18
};

static void fill(enum tn_dtype dtype, unsigned char *data, int salt)
{
	const int count = (int)(sizeof specials / sizeof *specials);
	size_t size = (size_t)tn_dtype_bytes(dtype);
	double value;
	int i;

	for (i = 0; i < SAMPLES; i++) {
		value = specials[(i * (2 * salt + 1) + salt * 5) % count];
		if (i == 40 + salt)
			value = NAN;
		if (i == 50 + salt)
			value = -INFINITY;
		tn_eval_cast(TN_f64, &value, dtype, data + (size_t)i * size);
	}
}

static bool defined_for(enum tn_opcode code, enum tn_dtype dtype)
{
	const struct tn_op_info *row = &tn_ops[code];
	const char *text = tn_dtype_is(dtype, TN_KIND_B) ? row->bexpr :
		tn_dtype_is(dtype, TN_KIND_F) ? row->fexpr : row->iexpr;

	return row->op_class == TN_CLASS_MAP && strcmp(text, "NA") &&
		tn_dtype_is(dtype, row->kinds);
}

/* One element of each operator of the type, yN = op(a, b, c), and the casts
 * to all types. select's first operand is a test. */
struct all {
	struct kit kit;
	enum tn_dtype dtype;
	int count;
	const char *names[100];
	const struct tn_type *types[100];
	size_t bytes[100];
	ex at, args[3];
	const struct tn_dim *dim;
};

static void add_result(struct all *all, enum tn_dtype result, ex value)
{
	struct kit *kit = &all->kit;
	char name[16];
	struct tn_kbuf *y;
	int n = all->count++;

	(void)snprintf(name, sizeof name, "y%d", n);
	y = tn_kernel_param(kit->k, name, result, 1, &all->dim, TN_KBUF_OUT);
	all->names[n] = y->name;
	all->types[n] = tn_type_get(kit->module, result, 1, &all->dim);
	all->bytes[n] = (size_t)(SAMPLES * tn_dtype_bytes(result));
	assert_non_null(tn_kstmt_store(kit->k, kit->block, y, 1, &all->at,
				       value, false));
}

static void add_ops(struct all *all)
{
	struct kit *kit = &all->kit;
	enum tn_dtype result;
	int code;
	ex test;

	for (code = 0; code < TN_OP_COUNT; code++) {
		if (!defined_for((enum tn_opcode)code, all->dtype))
			continue;
		result = tn_ops[code].drule == TN_DRULE_BOOL ? TN_bool :
			all->dtype;
		test = kit_op(kit, TN_OP_eq, TN_bool, 2, all->args[0],
			      all->args[1], NULL);
		add_result(all, result,
			   kit_op(kit, (enum tn_opcode)code, result,
				  tn_ops[code].nin_min,
				  code == TN_OP_select ? test : all->args[0],
				  all->args[1], all->args[2]));
	}
}

static void add_casts(struct all *all)
{
	struct kit *kit = &all->kit;
	int to;

	for (to = 0; to < TN_DTYPE_COUNT; to++) {
		add_result(all, (enum tn_dtype)to,
			   kit_op(kit, TN_OP_cast, (enum tn_dtype)to, 1,
				  all->args[0], NULL, NULL));
		if (tn_dtype_bytes((enum tn_dtype)to) ==
		    tn_dtype_bytes(all->dtype) &&
		    tn_dtype_is((enum tn_dtype)to, TN_KIND_NUM) &&
		    tn_dtype_is(all->dtype, TN_KIND_NUM))
			add_result(all, (enum tn_dtype)to,
				   kit_op(kit, TN_OP_bitcast,
					  (enum tn_dtype)to, 1, all->args[0],
					  NULL, NULL));
	}
}

static void run_all(enum tn_dtype dtype, enum tn_kloop_kind kind,
		    bool is_ops)
{
	static const char *const names[] = { "a", "b", "c" };
	struct all *all = calloc(1, sizeof *all);
	struct kit *kit = &all->kit;
	struct tn_value *in[3];
	struct tn_kbuf *bufs[3];
	unsigned char data[3][8 * SAMPLES];
	void *pointers[3];
	struct tn_op *op;
	int k;

	kit_init(kit);
	all->dtype = dtype;
	all->dim = kit_dim(kit, SAMPLES);
	for (k = 0; k < 3; k++) {
		in[k] = kit_input(kit, names[k], dtype, 1, &all->dim);
		fill(dtype, data[k], k);
		pointers[k] = data[k];
	}
	kit_kernel(kit, "main__all");
	for (k = 0; k < 3; k++)
		bufs[k] = tn_kernel_param(kit->k, names[k], dtype, 1,
					  &all->dim, TN_KBUF_IN);
	(void)kit_loop(kit, kind, "i", kit_int(kit, 0),
		       kit_int(kit, SAMPLES), &all->at);
	for (k = 0; k < 3; k++)
		all->args[k] = tn_kexpr_load(kit->k, bufs[k], 1, &all->at);
	if (is_ops)
		add_ops(all);
	else
		add_casts(all);
	op = kit_launch(kit, kit->fn->body, 3, in, all->count, all->names,
			all->types);
	kit_return(kit, all->count, op->out);
	compare(kit, "avx2", 3, pointers, all->count, all->bytes, true,
		(int)dtype);
	kit_fini(kit);
	free(all);
}

static void test_ops(void **unused)
{
	int dtype;

	(void)unused;
	for (dtype = 0; dtype <= TN_bool; dtype++)
		run_all((enum tn_dtype)dtype, TN_LOOP_FOR, true);
	run_all(TN_f32, TN_LOOP_VEC, true);
	run_all(TN_f64, TN_LOOP_VEC, true);
	run_all(TN_f16, TN_LOOP_VEC, true);
}

static void test_casts(void **unused)
{
	int dtype;

	(void)unused;
	for (dtype = 0; dtype < TN_DTYPE_COUNT; dtype++)
		run_all((enum tn_dtype)dtype, TN_LOOP_FOR, false);
}

/* ---- Names and literals ---- */

static const char *const odd_names[] = {
	"gpu_0/data_0", "1234", "a-b", "x:0", "int", "main", "restrict", "__x",
	"NULL", "I", "errno", "linux", "\xc3\xa9", "", "*/ int x; /*",
	"?\?/", "a\nb", "say \"hi\"", "a_b", "tn_max_f32", "class", "uint8_t",
	"new", "threadIdx", "\\", "exp", "memcpy", "%s%n", "s", "dims", "B",
	"and", "float"
};

enum { ODD = sizeof odd_names / sizeof *odd_names };

/* One input, one output and one dim of each odd name: y = x + x. */
static void test_names(void **unused)
{
	float data[ODD][2], got[ODD][2];
	const void *in[ODD + 1];
	void *out[ODD + 1];
	struct tn_value *values[ODD + 1], *results[ODD + 1];
	const struct tn_dim *dim;
	char *longest = malloc(5001);
	struct kit_run run;
	struct kit kit;
	const char *name;
	struct tn_kbuf *x, *y;
	int i, k;
	ex at, e;

	(void)unused;
	memset(longest, 'x', 5000);
	longest[5000] = 0;
	kit_init(&kit);
	for (i = 0; i < ODD; i++) {
		if (i < 16)
			dim = kit_sym(&kit, odd_names[i], 0, 9);
		else
			dim = kit_dim(&kit, 2);
		kit.dims[i < 16 ? i : 15] = 2;
		values[i] = kit_input(&kit, i == 3 ? longest : odd_names[i],
				      TN_f32, 1, &dim);
		kit_kernel(&kit, odd_names[i]);
		kit.k->comment = odd_names[i];
		x = tn_kernel_param(kit.k, odd_names[i], TN_f32, 1, &dim,
				    TN_KBUF_IN);
		y = tn_kernel_param(kit.k, odd_names[(i + 1) % ODD], TN_f32,
				    1, &dim, TN_KBUF_OUT);
		(void)kit_loop(&kit, TN_LOOP_FOR, odd_names[(i + 2) % ODD],
			       kit_int(&kit, 0), tn_kexpr_dim(kit.k, dim),
			       &at);
		e = tn_kexpr_load(kit.k, x, 1, &at);
		e = kit_op(&kit, TN_OP_add, TN_f32, 2, e, e, NULL);
		(void)tn_kstmt_store(kit.k, kit.block, y, 1, &at, e, false);
		name = odd_names[i];
		results[i] = kit_launch(&kit, kit.fn->body, 1, &values[i], 1,
					&name, &values[i]->type)->out[0];
		data[i][0] = (float)i;
		data[i][1] = 0.5f;
		in[i] = data[i];
		out[i] = got[i];
	}
	kit_return(&kit, ODD, results);
	for (k = 0; kit_compiler(k); k++) {
		memset(got, 0, sizeof got);
		if (!kit_run_c(&kit, odd_names[k], "avx2", kit_compiler(k), 1,
			       in, out, &run))
			continue;
		assert_int_equal(run.status, 0);
		for (i = 0; i < ODD; i++) {
			assert_true(got[i][0] == 2 * (float)i);
			assert_true(got[i][1] == 1);
		}
	}
	kit_fini(&kit);
	free(longest);
}

static const double odd_floats[] = {
	0, -0.0, 1e-45, -1e-45, 3.4028234663852886e38, 1.17549435e-38, 0.1,
	16777217, 1e10, 6.103515625e-05, 65504
};

static const int64_t odd_ints[] = {
	INT64_MIN, INT64_MAX, INT32_MIN, INT32_MAX, INT32_MIN - INT64_C(1),
	-1, 0, -128, UINT32_MAX, 127
};

static void store_literal(struct kit *kit, struct tn_kbuf *y, int64_t at,
			  ex value)
{
	ex index = kit_int(kit, at);

	(void)tn_kstmt_store(kit->k, kit->block, y, 1, &index, value, false);
}

static void test_literals(void **unused)
{
	static const enum tn_dtype types[] = { TN_f32, TN_f64, TN_f16,
		TN_bf16, TN_i64, TN_i32, TN_i8, TN_u64, TN_u32, TN_u8,
		TN_bool };
	static const char *const names[] = { "a", "b", "c", "d", "e", "f",
		"g", "h", "i", "j", "k" };
	const struct tn_type *out[11];
	const struct tn_dim *dim;
	struct tn_kbuf *y;
	size_t bytes[11];
	struct tn_op *op;
	struct kit kit;
	int t, n;

	(void)unused;
	kit_init(&kit);
	dim = kit_dim(&kit, 16);
	kit_kernel(&kit, "main__literals");
	for (t = 0; t < 11; t++) {
		y = tn_kernel_param(kit.k, names[t], types[t], 1, &dim,
				    TN_KBUF_OUT);
		out[t] = tn_type_get(kit.module, types[t], 1, &dim);
		bytes[t] = (size_t)(16 * tn_dtype_bytes(types[t]));
		for (n = 0; n < (t < 4 ? 11 : 10); n++)
			store_literal(&kit, y, n, t < 4 ?
				tn_kexpr_float(kit.k, types[t],
					       odd_floats[n]) :
				tn_kexpr_int(kit.k, types[t],
					types[t] == TN_bool ? n & 1 :
					types[t] == TN_i8 ?
					(int8_t)odd_ints[n] :
					types[t] == TN_i32 ?
					(int32_t)odd_ints[n] :
					types[t] == TN_u32 ?
					(int64_t)(uint32_t)odd_ints[n] :
					types[t] == TN_u8 ?
					(int64_t)(uint8_t)odd_ints[n] :
					odd_ints[n]));
		for (n = 11; t < 4 && n < 14; n++)
			store_literal(&kit, y, n,
				      tn_kexpr_float(kit.k, types[t],
						     n == 11 ? NAN :
						     n == 12 ? INFINITY :
						     -INFINITY));
		for (n = 10; n < 16; n++)
			if (t >= 4 || n >= 14)
				store_literal(&kit, y, n, t < 4 ?
					tn_kexpr_float(kit.k, types[t], 0) :
					tn_kexpr_int(kit.k, types[t], 0));
	}
	op = kit_launch(&kit, kit.fn->body, 0, NULL, 11, names, out);
	kit_return(&kit, 11, op->out);
	compare(&kit, "generic", 0, NULL, 11, bytes, true, -1);
	kit_fini(&kit);
}

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
	compare(&kit, "avx2", 2, data, 1, &bytes, true, -1);
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
		(void)snprintf(text, sizeof text, "x%d", i);
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
	assert_memory_equal(joined, data, sizeof data);
	assert_memory_equal(single, data, sizeof data);
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
	weight = tn_arena_alloc(&kit.module->arena, sizeof *weight);
	weight->name = "w";
	weight->type = type;
	weight->family = -1;
	tn_tensor_view(&weight->data, TN_f32, 1, shape, values);
	weight->value = tn_arena_alloc(&kit.module->arena,
				       sizeof *weight->value);
	weight->value->type = type;
	weight->value->name = "w";
	weight->value->place.kind = TN_PLACE_WEIGHT;
	assert_true(tn_vec_push_ptr(&kit.module->weights, weight));
	args[1] = weight->value;
	op = tn_graph_op(kit.fn, TN_OP_const, 0, NULL, 1, none);
	literal = tn_arena_alloc(&kit.module->arena, sizeof *literal);
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
		x[i] = random_float(&seed);
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
	compare(&kit, "avx2", 1, in, 1, &bytes, true, -1);
	assert_int_equal(kit.dims[1], (int64_t)(bytes / 8));
	kit_fini(&kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_map_half),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_matmul),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_literals),
		cmocka_unit_test(test_raise),
		cmocka_unit_test(test_flow),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_casts),
	};
	const char *only = getenv("ONLY");

	if (only)
		cmocka_set_test_filter(only);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
