/*
 * Every scalar operator and cast on every type, as emitted C and as the
 * interpreter of kernels has it, bit by bit.
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

enum { SAMPLES = 64 };

static const double specials[] = {
	0, -0.0, 1, -1, 2, 3, 7, -7, 127, 128, 255, 0.5, -0.5, 1.5, 2.5, 1e-45,
	3.4e38, 1e300, -1e300, 65504, 65520, 2147483647.0, 4294967296.0, 9.3e18
};

static void fill(enum tn_dtype dtype, unsigned char *data, int salt)
{
	const int count = (int)(sizeof(specials) / sizeof(*specials));
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

/* Bits are compared: what f32 has within 2 ulp alone is held to that by
 * tests/ops/functions.py. */
static bool defined_for(enum tn_opcode code, enum tn_dtype dtype)
{
	const struct tn_op_info *row = &tn_ops[code];
	const char *text = tn_dtype_is(dtype, TN_KIND_B) ? row->bexpr :
		tn_dtype_is(dtype, TN_KIND_F) ? row->fexpr : row->iexpr;

	return row->op_class == TN_CLASS_MAP && strcmp(text, "NA") &&
		tn_dtype_is(dtype, row->kinds) &&
		(dtype == TN_f64 || !tn_op_has(code, TN_FLAG_ULP2));
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

	(void)snprintf(name, sizeof(name), "y%d", n);
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
	struct all *all = calloc(1, sizeof(*all));
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
	kit_compare(kit, "avx2", 3, pointers, all->count, all->bytes, true,
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ops),
		cmocka_unit_test(test_casts),
	};
	const char *only = getenv("ONLY");

	if (only)
		cmocka_set_test_filter(only);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
