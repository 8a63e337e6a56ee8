/*
 * Tree to graph: names, instances, structs, tests, files, kernels, and the
 * way back through canonical text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/elaborate.h"
#include "grammar/syntax.h"
#include "ir/builder.h"
#include "ir/print.h"
#include "ir/verify.h"

static const char std_text[] = {
#include "grammar/std.tn.inc"
};

static struct tn_sink sink;
static struct tn_intern names;
static struct tn_arena arena;
static struct tn_elab *elab;
static struct tn_module *module;
static const char *included;	/* text of other.tn */
static uint32_t included_file;	/* its number once read */

static int setup(void **state)
{
	(void)state;
	tn_sink_init(&sink);
	tn_intern_init(&names);
	tn_arena_init(&arena);
	elab = NULL;
	module = NULL;
	included = NULL;
	included_file = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tn_elab_free(elab);
	tn_module_free(module);
	tn_arena_fini(&arena);
	tn_intern_fini(&names);
	tn_sink_fini(&sink);
	return 0;
}

static struct tn_tree *parse(const char *text)
{
	uint32_t file = tn_sink_add_source(&sink, "t.tn", text, strlen(text));

	return tn_parse(&sink, &names, &arena, file);
}

static uint32_t include(void *data, const char *path, uint32_t from,
			struct tn_span span)
{
	(void)data;
	assert_string_equal(path, "other.tn");
	assert_int_equal(from, span.file);
	if (included && !included_file)
		included_file = tn_sink_add_source(&sink, path, included,
						   strlen(included));
	return included_file;
}

/* x.npy is f32[2], 1 and 2. */
static bool load(void *data, const char *file, const char *key, uint32_t from,
		 struct tn_tensor *out)
{
	int64_t shape[1] = {2};

	(void)data;
	(void)key;
	(void)from;
	if (strcmp(file, "x.npy") != 0 ||
	    !tn_tensor_init(out, TN_f32, 1, shape))
		return false;
	tn_tensor_set_f64(out, 0, 1.0);
	tn_tensor_set_f64(out, 1, 2.0);
	return true;
}

static void run(const char *text)
{
	struct tn_elab_options options = {
		.names = &names, .sink = &sink, .std_text = std_text,
		.std_size = sizeof(std_text) - 1, .include = include,
		.load = load
	};
	struct tn_tree *tree = parse(text);

	assert_non_null(tree);
	elab = tn_elab_new(&options);
	assert_non_null(elab);
	module = tn_elab_run(elab, tree);
	assert_non_null(module);
}

static void show_errors(void)
{
	struct tn_buf buf;

	if (sink.errors == 0)
		return;
	tn_buf_init(&buf);
	tn_sink_render(&sink, &buf, false);
	print_error("%s", tn_buf_text(&buf));
	tn_buf_fini(&buf);
}

/* Elaborates without errors and with a sound graph. */
static void accept(const char *text)
{
	struct tn_buf faults;
	bool sound;

	run(text);
	show_errors();
	assert_int_equal(sink.errors, 0);
	assert_true(module->props & TN_PROP_TYPED);
	tn_buf_init(&faults);
	sound = tn_verify_module(module, TN_PROP_TYPED, &faults);
	if (!sound)
		print_error("%s", tn_buf_text(&faults));
	tn_buf_fini(&faults);
	assert_true(sound);
}

static bool has_code(const char *code)
{
	size_t i;

	for (i = 0; i < sink.diags.len; i++) {
		const struct tn_diag *diag = tn_vec_ptr(&sink.diags, i);

		if (strcmp(tn_codes[diag->code].name, code) == 0)
			return true;
	}
	return false;
}

static struct tn_fn *fn(const char *name)
{
	struct tn_fn *found = tn_map_find(&module->fn_names, name);

	assert_non_null(found);
	return found;
}

/* Number of ops of the kind in the body of the function itself. */
static int count(const struct tn_fn *of, enum tn_opcode code)
{
	const struct tn_op *op;
	int n = 0;

	for (op = of->body->first; op; op = op->next)
		n += op->code == code;
	return n;
}

static int instances(const char *name)
{
	size_t i;
	int n = 0;

	for (i = 0; i < module->fns.len; i++) {
		const struct tn_fn *at = tn_vec_ptr(&module->fns, i);

		n += at->kind == TN_FN_INSTANCE && !strcmp(at->name, name);
	}
	return n;
}

static const struct tn_op *op_of(const char *name, const char *value)
{
	const struct tn_value *found = tn_map_find(&fn(name)->names, value);

	assert_non_null(found);
	assert_non_null(found->op);
	return found->op;
}

static void assert_type(const struct tn_type *type, const char *text)
{
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_type_print(&buf, type);
	assert_string_equal(tn_buf_text(&buf), text);
	tn_buf_fini(&buf);
}

/* ---- Values ------------------------------------------------------------ */

static void names_survive(void **state)
{
	(void)state;
	accept("tenon 1.0;\ndim B in [1, 64];\n"
	       "fn f(x: f32[B, 4], w: f32[4, 3]) -> (y: f32[B, 3]) {\n"
	       "  h = x @ w * 2;\n  y = max(h, 0);\n  return y;\n}\n");
	assert_int_equal(op_of("f", "h")->code, TN_OP_mul);
	assert_int_equal(op_of("f", "h__0")->code, TN_OP_matmul);
	assert_int_equal(op_of("f", "y")->code, TN_OP_max);
	assert_type(op_of("f", "h")->out[0]->type, "f32[B, 3]");
	assert_string_equal(fn("f")->result_names[0], "y");
}

static void literals_adopt(void **state)
{
	(void)state;
	accept("tenon 1.0;\ndim B in [1, 64];\n"
	       "fn f(x: f16[B], n: u8) -> (a: f16[B], b: u8, c: f64, d: f32,"
	       " e: i64) {\n"
	       "  a = x * B + 1;\n  b = n + 255;\n  c = 1;\n"
	       "  d = cast(B, f32);\n  return a, b, c, d, 3;\n}\n");
	assert_type(op_of("f", "a")->out[0]->type, "f16[B]");
	assert_type(op_of("f", "b")->out[0]->type, "u8");
	assert_type(op_of("f", "d")->out[0]->type, "f32");
	assert_int_equal(op_of("f", "d")->code, TN_OP_dim);
}

static void one_rounding(void **state)
{
	const struct tn_tensor *literal;

	(void)state;
	accept("tenon 1.0;\nfn f(x: f32) -> f32 {\n"
	       "  c: f32 = 1.00000005960464477540;\n"
	       "  d: f32 = -1.00000005960464477540;\n"
	       "  return x + c + d;\n}\n");
	literal = op_of("f", "c")->literal;
	assert_true(((const float *)literal->data)[0] == 1.0f + 0x1p-23f);
	literal = op_of("f", "d")->literal;
	assert_true(((const float *)literal->data)[0] == -1.0f - 0x1p-23f);
}

static void carry_takes_its_type_from_the_body(void **state)
{
	(void)state;
	accept("tenon 1.0;\nfn f(x: f64[4]) -> f64 {\n"
	       "  s, n = with (s = 0, n = 0) for i in 0..4 {\n"
	       "    yield s + sum(x), n + 1;\n  };\n  return s;\n}\n");
	assert_type(op_of("f", "s")->out[0]->type, "f64");
	assert_type(op_of("f", "s")->out[1]->type, "i64");
}

static void branches_share_a_type(void **state)
{
	(void)state;
	accept("tenon 1.0;\nfn f(c: bool, x: f64) -> f64 {\n"
	       "  y = if c { yield 1; } else if !c { yield 2.5; }"
	       " else { yield x; };\n  return y;\n}\n");
	assert_type(op_of("f", "y")->out[0]->type, "f64");
	assert_int_equal(op_of("f", "y")->nregions, 2);
}

/* ---- Generics ---------------------------------------------------------- */

static void instances_are_shared(void **state)
{
	const struct tn_op *call;

	(void)state;
	accept("tenon 1.0;\ndim B in [1, 64];\n"
	       "fn f(x: f32[B, 4]) -> f32[B, 4] {\n"
	       "  a = softmax(x);\n  b = softmax(a, axis=-1);\n"
	       "  c = softmax(b, axis=0);\n  return c;\n}\n");
	assert_int_equal(instances("softmax"), 2);
	call = op_of("f", "a");
	assert_int_equal(call->code, TN_OP_call);
	assert_ptr_equal(call->callee, op_of("f", "b")->callee);
	assert_int_equal(op_of("f", "b")->nattrs, 0);
	assert_int_equal(op_of("f", "c")->nattrs, 1);
	assert_true(call->callee->is_library);
}

static void conditions_resolve(void **state)
{
	const struct tn_fn *body;

	(void)state;
	accept("tenon 1.0;\n"
	       "fn f(x: f32[4]) -> f32[4] { y = gelu(x, approx=\"tanh\");"
	       " return y; }\n");
	body = op_of("f", "y")->callee;
	assert_int_equal(count(body, TN_OP_if), 0);
	assert_int_equal(count(body, TN_OP_tanh), 1);
	assert_int_equal(count(body, TN_OP_erf), 0);
}

static void generic_binds_dims(void **state)
{
	(void)state;
	accept("tenon 1.0;\ndim B in [1, 64];\n"
	       "fn g(x: f32[B, I, R, R], w: f32[O, I]) -> f32[B, O, R, R] {\n"
	       "  return einsum(\"birs,oi->bors\", x, w);\n}\n"
	       "fn f(x: f32[B, 3, 8, 8], w: f32[5, 3]) -> f32[B, 5, 8, 8] {\n"
	       "  return g(x, w);\n}\n"
	       "test \"t\" { y = g(zeros([2, 3, 4, 4], f32),"
	       " zeros([5, 3], f32)); expect y == y; }\n");
	assert_int_equal(instances("g"), 1);
}

static void instances_on_demand(void **state)
{
	struct tn_attr attr = tn_attr_int("axis", 0);
	struct tn_span nowhere = {0, 0, 0};
	const struct tn_type *type;
	const struct tn_fn *found;
	size_t before;

	(void)state;
	accept("tenon 1.0;\ndim B in [1, 64];\n"
	       "fn f(x: f32[B, 4]) -> f32[B, 4] {\n"
	       "  a = softmax(x, axis=0);\n  return a;\n}\n");
	before = module->fns.len;
	type = fn("f")->body->params[0]->type;
	found = tn_elab_instance(elab, "softmax", 1, &type, 1, &attr, nowhere);
	assert_ptr_equal(found, op_of("f", "a")->callee);
	assert_int_equal(module->fns.len, before);
	found = tn_elab_instance(elab, "relu", 1, &type, 0, NULL, nowhere);
	assert_non_null(found);
	assert_type(found->result_types[0], "f32[B, 4]");
	assert_null(tn_elab_instance(elab, "nothing", 1, &type, 0, NULL,
				     nowhere));
	assert_true(has_code("E0202"));
}

/* ---- Weights ----------------------------------------------------------- */

static void structs_flatten(void **state)
{
	const struct tn_weight *weight;

	(void)state;
	accept("tenon 1.0;\ndim L = 3;\n"
	       "struct P { w: f32[4] from \"w.x\"; b: f32; }\n"
	       "weight p[i in 1..L]: P from \"a.npz\" : \"h.{i}.\";\n"
	       "fn f(x: f32[4]) -> f32[4] {\n"
	       "  y = with (h = x) for i in 1..3 { yield g(h, p[i]); };\n"
	       "  return y + p[2].b;\n}\n"
	       "fn g(x: f32[4], q: P) -> f32[4] { return x * q.w; }\n");
	weight = tn_map_find(&module->weight_names, "p__w");
	assert_non_null(weight);
	assert_int_equal(weight->family, 2);
	assert_int_equal(weight->family_from, 1);
	assert_string_equal(weight->key, "h.{i}.w.x");
	assert_type(weight->type, "f32[2, 4]");
	weight = tn_map_find(&module->weight_names, "p__b");
	assert_string_equal(weight->key, "h.{i}.b");
	assert_int_equal(fn("g")->body->nparams, 3);
	assert_string_equal(fn("g")->body->params[1]->name, "q__w");
}

/* ---- Tests ------------------------------------------------------------- */

static void tests_become_functions(void **state)
{
	const struct tn_expect *expect;
	const struct tn_test *test;
	struct tn_vec tests;

	(void)state;
	accept("tenon 1.0;\ndim B in [1, 64];\n"
	       "fn f(x: f32[B]) -> f32[B] { return x + 1.0; }\n"
	       "@weights(random, seed=7)\ntest \"t\" {\n"
	       "  x = load(\"x.npy\");\n"
	       "  expect f(x) ~= [2.0, 3.0], rtol=1e-3, atol=1e-5;\n"
	       "  expect f(x) == run(f, x, passes=\"default\");\n"
	       "  expect all(x > 0);\n"
	       "  reject \"E0280\" { y = x + 1_i32; }\n}\n");
	tn_vec_init(&tests, sizeof(struct tn_test), NULL);
	assert_true(tn_elab_tests(elab, &tests));
	show_errors();
	assert_int_equal(sink.errors, 0);
	assert_int_equal(tests.len, 1);
	test = tn_vec_at(&tests, 0);
	assert_non_null(test->fn);
	assert_non_null(tn_annots_find(&test->annots, "weights"));
	assert_int_equal(test->expects.len, 3);
	expect = tn_vec_at(&test->expects, 0);
	assert_int_equal(expect->kind, TN_EXPECT_APPROX);
	assert_true(expect->rtol == 1e-3 && expect->atol == 1e-5);
	assert_type(test->fn->result_types[expect->left], "f32[2]");
	expect = tn_vec_at(&test->expects, 1);
	assert_int_equal(expect->kind, TN_EXPECT_EQ);
	expect = tn_vec_at(&test->expects, 2);
	assert_int_equal(expect->kind, TN_EXPECT_TRUE);
	assert_int_equal(test->fn->body->nparams, 0);
	tn_vec_fini(&tests);
}

static void refuse_test(const char *body, const char *code)
{
	char text[512];
	struct tn_vec tests;

	snprintf(text, sizeof(text), "tenon 1.0;\ntest \"t\" { %s }\n", body);
	run(text);
	assert_int_equal(sink.errors, 0);
	tn_vec_init(&tests, sizeof(struct tn_test), NULL);
	assert_true(tn_elab_tests(elab, &tests));
	assert_true(has_code(code));
	assert_null(((struct tn_test *)tn_vec_at(&tests, 0))->fn);
	tn_vec_fini(&tests);
}

static void reject_must_hold(void **state)
{
	(void)state;
	refuse_test("reject \"E0312\" { y = exp(1.0); }", "E0227");
}

static void load_must_work(void **state)
{
	(void)state;
	refuse_test("x = load(\"absent.npy\"); expect x == x;", "E0228");
}

static void sides_must_agree(void **state)
{
	(void)state;
	refuse_test("expect zeros([2], f32) == zeros([3], f32);", "E0283");
}

/* ---- Files ------------------------------------------------------------- */

static void includes_are_used(void **state)
{
	(void)state;
	included = "tenon 1.0;\ndim D = 4;\n"
		   "fn g(x: f32[D]) -> f32[D] { return x; }\n";
	accept("tenon 1.0;\ninclude \"other.tn\";\ninclude \"other.tn\";\n"
	       "fn f(x: f32[D]) -> f32[D] { return g(x); }\n");
}

static void include_needs_a_host(void **state)
{
	struct tn_elab_options options = {.names = &names, .sink = &sink};
	struct tn_tree *tree = parse("tenon 1.0;\ninclude \"a.tn\";\n");

	(void)state;
	elab = tn_elab_new(&options);
	assert_non_null(elab);
	module = tn_elab_run(elab, tree);
	assert_non_null(module);
	assert_true(has_code("E0214"));
}

static void hidden_operator_stays(void **state)
{
	(void)state;
	run("tenon 1.0;\n"
	    "op relu<T: float>(x: T[*P]) -> T[*P] { return x; }\n"
	    "fn f(x: f32[4]) -> f32[4] {\n"
	    "  a = relu(x);\n  b = std::relu(x);\n  return a + b;\n}\n");
	assert_int_equal(sink.errors, 0);
	assert_true(has_code("W0216"));
	assert_false(op_of("f", "a")->callee->is_library);
	assert_true(op_of("f", "b")->callee->is_library);
}

static void errors_do_not_cascade(void **state)
{
	(void)state;
	run("tenon 1.0;\nfn f(x: f32[4]) -> f32[4] {\n"
	    "  a = x + nothing;\n  b = a * 2;\n  c, d = topk(b, 2);\n"
	    "  e = if all(c > 0) { yield c; } else { yield d; };\n"
	    "  return softmax(e);\n}\n");
	assert_int_equal(sink.errors, 1);
}

/* ---- Round trips ------------------------------------------------------- */

static void round_trip(const char *text)
{
	struct tn_print_options options = {0};
	struct tn_module *first;
	struct tn_elab *old;
	struct tn_buf one, two, why;

	accept(text);
	first = module;
	old = elab;
	tn_buf_init(&one);
	tn_buf_init(&two);
	tn_buf_init(&why);
	tn_print_module(&one, first, &options);
	accept(tn_buf_text(&one));
	tn_print_module(&two, module, &options);
	assert_string_equal(tn_buf_text(&one), tn_buf_text(&two));
	if (!tn_module_equal(first, module, &why))
		fail_msg("%s", tn_buf_text(&why));
	tn_buf_fini(&one);
	tn_buf_fini(&two);
	tn_buf_fini(&why);
	tn_elab_free(old);
	tn_module_free(first);
}

static void graph_round_trip(void **state)
{
	(void)state;
	round_trip("tenon 1.0;\ndim B in [1, 64] opt 1, 8 mod 1;\n"
		   "const eps = 1e-5;\n"
		   "weight w[i in 0..3]: f32[4, 4] from \"w.npz\" : \"{i}\";\n"
		   "fn f(x: f32[B, 4], c: bool) -> (y: f32[B, 4], z: f16) {\n"
		   "  a = with (h = x) for i in 0..3 { yield h @ w[i]; };\n"
		   "  y = if c { yield a + eps; } else { yield -a; };\n"
		   "  s, e = with (s = a[0]) scan r in a"
		   " { emit r * s; yield s + r; };\n"
		   "  n: f32 = bitcast(0x7fc12345_u32, f32);\n"
		   "  m: f32[0, 3] = [];\n"
		   "  q = [[1.5, inf], [-2.0, nan]] * 2_f32;\n"
		   "  z = cast(sum(s) + sum(e) + n + sum(m) + sum(q), f16)"
		   " + 0.1;\n"
		   "  return y, z;\n}\n");
}

static void kernel_round_trip(void **state)
{
	(void)state;
	round_trip("tenon 1.0;\ndim B in [1, 64];\n"
		   "@schedule(vectorize(j))\n"
		   "kernel k(x: f32[B, 8] @in, y: f32[B] @out) {\n"
		   "  alloc t: f32[2*B + 4] @arena;\n"
		   "  par(grid.x) i in 0..B // 2 {\n"
		   "    let mut s: f32 = 0;\n"
		   "    vec j in 0..8 step 2 { s += x[i, j] * 2; }\n"
		   "    if s > 1 && i < B - 1 { t[i] = inf; }"
		   " else { t[i] = select(s != 0, exp(s), 1); }\n"
		   "    barrier();\n    raise(i % 3 == 1, 2);\n"
		   "    y[i] = t[i] + cast(i, f32);\n  }\n}\n"
		   "fn f(x: f32[B, 8]) -> f32[B] { return k(x); }\n");
	assert_int_equal(count(fn("f"), TN_OP_launch), 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(names_survive), TEST(literals_adopt), TEST(one_rounding),
		TEST(carry_takes_its_type_from_the_body),
		TEST(branches_share_a_type), TEST(instances_are_shared),
		TEST(conditions_resolve), TEST(generic_binds_dims),
		TEST(instances_on_demand),
		TEST(structs_flatten), TEST(tests_become_functions),
		TEST(reject_must_hold), TEST(load_must_work),
		TEST(sides_must_agree), TEST(includes_are_used),
		TEST(include_needs_a_host), TEST(hidden_operator_stays),
		TEST(errors_do_not_cascade), TEST(graph_round_trip),
		TEST(kernel_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
