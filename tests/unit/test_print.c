/*
 * Printing: modules, flow, names that need quotes, literals of every type.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "build.h"
#include "ir/print.h"
#include "tests/unit/ir_kit.h"

/* ---- Modules ---------------------------------------------------------- */

static const char mlp_text[] =
	"tenon 1.0;\n"
	"\n"
	"dim B in [1, 256];\n"
	"\n"
	"weight w1: f32[4, 4] from \"mlp.safetensors\" : \"fc1.\\\"w\\\"\";\n"
	"\n"
	"fn mlp(x: f32[B, 4]) -> (p: f32[B, 4]) {\n"
	"  h: f32[B, 4] = matmul(x, w1);\n"
	"  t__0: f32 = 1.5;\n"
	"  t__1: f32[B, 4] = add(h, t__0);\n"
	"  `in`: f32[B, 4] @layout(0, 1) = sort(t__1);\n"
	"  return `in`;\n"
	"}\n";

static void test_print(void **state)
{
	struct ir_fixture *f = *state;

	ir_make_mlp(f->module);
	assert_module(f->module, mlp_text);
	assert_valid(f->module, TN_PROP_TYPED | TN_PROP_FLAT | TN_PROP_CORE |
				TN_PROP_CANONICAL);
	assert_ptr_equal(tn_module_entry(f->module, NULL),
			 tn_module_entry(f->module, "mlp"));
	assert_null(tn_module_entry(f->module, "other"));
}

static void test_print_options(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_print_options options = {.brief = true, .places = true};
	struct tn_fn *fn = ir_make_mlp(f->module);
	struct tn_buf buf;

	fn->body->first->out[0]->place = (struct tn_place){
		.kind = TN_PLACE_ARENA, .offset = 64, .bytes = 4096};
	tn_buf_init(&buf);
	tn_print_module(&buf, f->module, &options);
	assert_int_equal(strncmp(tn_buf_text(&buf), "@@brief\n", 8), 0);
	assert_non_null(strstr(tn_buf_text(&buf), "h: f32[B, 4] @at(arena, "
			       "offset=64, bytes=4096) = matmul"));
	tn_buf_fini(&buf);
}

/* A function of the file hides the operator of its name. */
static void test_hidden(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = ir_add_fn(m, "neg", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x", ir_f32_of(m, NULL));
	struct tn_builder b;

	tn_builder_init(&b, fn->body);
	ir_finish(fn, &b, build_unary(&b, TN_OP_neg, x, nowhere));
	assert_module(m, "tenon 1.0;\n\nfn neg(x: f32) -> f32 {\n"
		      "  t__0: f32 = std::neg(x);\n  return t__0;\n}\n");
}

static const char flow_text[] =
	"tenon 1.0;\n"
	"\n"
	"dim S in [1, 9];\n"
	"\n"
	"fn flow(x: f32, xs: f32[3, S]) -> f32 {\n"
	"  t__0: f32 = with (h = x) for i in 0..S {\n"
	"    t__1: f32 = neg(h);\n"
	"    yield t__1;\n"
	"  };\n"
	"  w: f32 = with (k = t__0) while(max=20) {\n"
	"    t__3: bool = lt(k, t__0);\n"
	"    yield t__3;\n"
	"  } do {\n"
	"    t__4: f32 = exp(k);\n"
	"    yield t__4;\n"
	"  };\n"
	"  t__5: bool = eq(w, w);\n"
	"  t__6: f32 = if t__5 {\n"
	"    yield w;\n"
	"  } else {\n"
	"    t__7: f32 = abs(w);\n"
	"    yield t__7;\n"
	"  };\n"
	"  t__8: f32, ys: f32[S, 3] = with (s = t__6) scan(axis=1) xt in xs {\n"
	"    t__9: f32[3] = add(xt, s);\n"
	"    emit t__9;\n"
	"    yield s;\n"
	"  };\n"
	"  t__10: i64 = 2*S;\n"
	"  return t__6;\n"
	"}\n";

static void test_flow(void **state)
{
	struct ir_fixture *f = *state;

	ir_make_flow(f->module);
	assert_module(f->module, flow_text);
	assert_valid(f->module, TN_PROP_TYPED);
}

/* Copies flow's body into another function with S = 5. */
/* ---- Names ----------------------------------------------------------- */

static void put_quoted(const char *name, const char *want)
{
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_print_name(&buf, name);
	assert_text(&buf, want);
	tn_buf_fini(&buf);
}

static void test_quoting(void **state)
{
	(void)state;
	put_quoted("x_1", "x_1");
	put_quoted("std::gelu", "std::gelu");
	put_quoted("block", "block");
	put_quoted("yield", "`yield`");
	put_quoted("f32", "`f32`");
	put_quoted("inf_f16", "`inf_f16`");
	put_quoted("", "``");
	put_quoted("1x", "`1x`");
	put_quoted("/model/layers.0/Mul_3", "`/model/layers.0/Mul_3`");
	put_quoted("a`b\\c\x01", "`a\\`b\\\\c\\u{1}`");
	put_quoted("\xc3\xa4", "`\xc3\xa4`");
}

/* ---- Literals -------------------------------------------------------- */

static void literal(enum tn_dtype dtype, int rank, const int64_t *shape,
		    const void *data, const char *want)
{
	struct tn_tensor tensor;
	struct tn_buf buf;

	tn_tensor_view(&tensor, dtype, rank, shape, data);
	tn_buf_init(&buf);
	tn_print_literal(&buf, &tensor);
	assert_text(&buf, want);
	tn_buf_fini(&buf);
}

/* Every finite half and infinity reads back from its text, rounded once. */
static void test_halves(enum tn_dtype dtype, uint32_t infinity)
{
	uint16_t bits = 0, again = 0;
	struct tn_tensor from, to;
	struct tn_buf buf;
	uint32_t i;
	double value;

	tn_tensor_view(&from, dtype, 0, NULL, &bits);
	tn_tensor_view(&to, dtype, 0, NULL, &again);
	tn_buf_init(&buf);
	for (i = 0; i < infinity; i++) {
		bits = (uint16_t)i;
		tn_buf_clear(&buf);
		tn_print_literal(&buf, &from);
		assert_true(tn_num_parse_f64(tn_buf_text(&buf), &value));
		tn_tensor_set_f64(&to, 0, value);
		assert_int_equal(again, bits);
		assert_true(buf.len <= 22);
	}
	tn_buf_fini(&buf);
}

static void test_literals(void **state)
{
	const float f32s[] = {1.0f, -0.0f, 0.1f, INFINITY, -INFINITY, 3e20f};
	const uint32_t quiet = 0x7fc00000, payload = 0x7fc00001;
	const uint32_t minus = 0xffc00000;
	const int64_t least = INT64_MIN;
	const uint64_t most = UINT64_MAX;
	const uint16_t halves[] = {0x3c00, 0x2e66};
	const uint8_t bools[] = {1, 0};
	const int64_t two_three[] = {2, 3}, none[] = {3, 0}, two[] = {2};
	const double third = 1.0 / 3;

	(void)state;
	test_halves(TN_f16, 0x7c00);
	test_halves(TN_bf16, 0x7f80);
	literal(TN_f32, 2, two_three, f32s,
		"[[1.0, -0.0, 0.1], [inf, -inf, 3e20]]");
	literal(TN_f64, 0, NULL, &third, "0.3333333333333333");
	literal(TN_f32, 0, NULL, &quiet, "nan");
	literal(TN_f32, 0, NULL, &payload,
		"bitcast(0x7fc00001_u32, elem=f32)");
	literal(TN_f32, 0, NULL, &minus, "bitcast(0xffc00000_u32, elem=f32)");
	literal(TN_i64, 0, NULL, &least, "-9223372036854775808");
	literal(TN_u64, 0, NULL, &most, "18446744073709551615");
	literal(TN_f16, 1, two, halves, "[1.0, 0.1]");
	literal(TN_bool, 1, two, bools, "[true, false]");
	literal(TN_f32, 2, none, NULL, "[]");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ir_setup, ir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_print),
		TEST(test_print_options),
		TEST(test_hidden),
		TEST(test_flow),
		TEST(test_quoting),
		TEST(test_literals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
