/*
 * What C cannot spell as it stands: names of any text, and constants.
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

/* ---- Names and literals ---- */

static const char *const odd_names[] = {
	"gpu_0/data_0", "1234", "a-b", "x:0", "int", "main", "restrict", "__x",
	"NULL", "I", "errno", "linux", "\xc3\xa9", "", "*/ int x; /*",
	"?\?/", "a\nb", "say \"hi\"", "a_b", "tn_max_f32", "class", "uint8_t",
	"new", "threadIdx", "\\", "exp", "memcpy", "%s%n", "s", "dims", "B",
	"and", "float"
};

enum { ODD = sizeof(odd_names) / sizeof(*odd_names) };

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
		memset(got, 0, sizeof(got));
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
	kit_compare(&kit, "generic", 0, NULL, 11, bytes, true, -1);
	kit_fini(&kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_literals),
	};
	const char *only = getenv("ONLY");

	if (only)
		cmocka_set_test_filter(only);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
