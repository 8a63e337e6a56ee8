/*
 * Scanner, parser, printer and formatter: shapes of trees, places, corners.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grammar/syntax.h"

static struct tn_sink sink;
static struct tn_intern intern;
static struct tn_arena arena;
static struct tn_buf out;

static int setup(void **state)
{
	(void)state;
	tn_sink_init(&sink);
	tn_intern_init(&intern);
	tn_arena_init(&arena);
	tn_buf_init(&out);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tn_buf_fini(&out);
	tn_arena_fini(&arena);
	tn_intern_fini(&intern);
	tn_sink_fini(&sink);
	return 0;
}

static struct tn_tree *parse_bytes(const char *text, size_t size)
{
	uint32_t file = tn_sink_add_source(&sink, "t.tn", text, size);
	const uint32_t before = sink.errors;
	struct tn_tree *tree;

	assert_int_not_equal(file, 0);
	tree = tn_parse(&sink, &intern, &arena, file);
	assert_non_null(tree);
	assert_int_equal(tree->errors, sink.errors - before);
	return tree;
}

static struct tn_tree *parse(const char *text)
{
	return parse_bytes(text, strlen(text));
}

/* The value of `const c = TEXT;`. */
static struct tn_expr *parse_expr(const char *text)
{
	struct tn_tree *tree;
	struct tn_buf whole;

	tn_buf_init(&whole);
	tn_buf_putf(&whole, "tenon 1.0;\nconst c = %s;\n", text);
	tree = parse(tn_buf_text(&whole));
	tn_buf_fini(&whole);
	assert_int_equal(tree->errors, 0);
	assert_int_equal(tree->len, 1);
	return tree->at[0]->u.constant.value;
}

/* The body of a function that holds `text`. */
static struct tn_tree_block *parse_body(const char *text)
{
	struct tn_tree *tree;
	struct tn_buf whole;

	tn_buf_init(&whole);
	tn_buf_putf(&whole, "tenon 1.0;\nfn f(x: f32) -> f32 {\n%s\n}\n",
		    text);
	tree = parse(tn_buf_text(&whole));
	tn_buf_fini(&whole);
	assert_int_equal(tree->errors, 0);
	return &tree->at[0]->u.sig->body;
}

static void expect_printed(const char *text, const char *want)
{
	struct tn_buf printed;

	tn_buf_init(&printed);
	tn_print_expr(&printed, parse_expr(text));
	assert_string_equal(tn_buf_text(&printed), want);
	tn_buf_fini(&printed);
}

/* Parsing `text` reports one error, `code`, at line:column. */
static void expect_error(const char *text, size_t size, enum tn_code code,
			 uint32_t line, uint32_t column)
{
	const struct tn_diag *diag;
	const struct tn_label *label;
	uint32_t at_line, at_column;

	tn_sink_fini(&sink);
	tn_sink_init(&sink);
	parse_bytes(text, size);
	assert_int_equal(sink.errors, 1);
	diag = tn_vec_ptr(&sink.diags, 0);
	assert_string_equal(tn_codes[diag->code].name, tn_codes[code].name);
	label = tn_vec_at(&diag->labels, 0);
	tn_sink_locate(&sink, label->span.file, label->span.begin, &at_line,
		       &at_column);
	assert_int_equal(at_line, line);
	assert_int_equal(at_column, column);
}

/* ---- Scanner ------------------------------------------------------------ */

static void integers(void **state)
{
	struct tn_expr *expr;

	(void)state;
	expr = parse_expr("18446744073709551615");
	assert_int_equal(expr->kind, TN_EXPR_INT);
	assert_true(expr->u.integer.value == UINT64_MAX);
	assert_null(expr->u.integer.suffix);
	expr = parse_expr("0xFf_u8");
	assert_int_equal(expr->u.integer.value, 255);
	assert_string_equal(expr->u.integer.suffix, "u8");
	expr = parse_expr("-128_i8");
	assert_int_equal(expr->kind, TN_EXPR_INT);
	assert_true(expr->negative);
	assert_int_equal(expr->u.integer.value, 128);
	expr = parse_expr("-(128_i8)");
	assert_int_equal(expr->kind, TN_EXPR_UNARY);
	expr = parse_expr("-2 ** 2");
	assert_int_equal(expr->kind, TN_EXPR_UNARY);
}

static void reals(void **state)
{
	struct tn_expr *expr;
	char *text;

	(void)state;
	expr = parse_expr("-0x1.8p-3_bf16");
	assert_int_equal(expr->kind, TN_EXPR_FLOAT);
	assert_true(expr->u.real.value == 0.1875);
	assert_string_equal(expr->u.real.suffix, "bf16");
	text = tn_expr_float_text(&arena, expr);
	assert_string_equal(text, "-0x1.8p-3");
	assert_true(parse_expr("1e-3")->u.real.value == 1e-3);
	assert_true(isinf(parse_expr("inf")->u.real.value));
	assert_true(isnan(parse_expr("nan_f16")->u.real.value));
	assert_string_equal(parse_expr("nan_f16")->u.real.suffix, "f16");
}

static void words(void **state)
{
	struct tn_expr *expr;

	(void)state;
	expr = parse_expr("`x`");
	assert_int_equal(expr->kind, TN_EXPR_NAME);
	assert_ptr_equal(expr->u.name, parse_expr("x")->u.name);
	assert_string_equal(parse_expr("`if`")->u.name, "if");
	assert_string_equal(parse_expr("`a\\u{e9}\\`\\\\b`")->u.name,
			    "a\xc3\xa9`\\b");
	assert_string_equal(parse_expr("std::gelu")->u.name, "std::gelu");
	assert_int_equal(parse_expr("f32")->kind, TN_EXPR_ELEM);
	assert_int_equal(parse_expr("`f32`")->kind, TN_EXPR_NAME);
	assert_string_equal(parse_expr("\"a\\n\\t\\\"\\u{1f600}\"")->u.name,
			    "a\n\t\"\xf0\x9f\x98\x80");
}

static void contextual_words(void **state)
{
	static const char *const names[] = {
		"step", "value", "block", "test", "op", "mod", "opt", "from",
		"mesh", "match", "let", "par", "vec", "encoding", "rule",
		"kernel", "expect", "reject", "alloc", "unroll", "where",
		"rewrite",
	};
	char text[200];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *n = names[i];
		struct tn_tree_block *body;

		snprintf(text, sizeof(text),
			 "%s = x + %s;\ny: f32, %s: f32 = f(%s, %s=1);\n"
			 "z = %s.%s[%s:];", n, n, n, n, n, n, n, n);
		body = parse_body(text);
		assert_int_equal(body->len, 3);
		assert_string_equal(body->at[0]->binds.at[0]->name.text, n);
	}
}

static void byte_order_mark_and_crlf(void **state)
{
	struct tn_tree *tree;

	(void)state;
	tree = parse("\xef\xbb\xbftenon 1.0;\r\n# c\r\nconst c = 1;\r\n");
	assert_int_equal(tree->errors, 0);
	assert_int_equal(tree->len, 1);
	assert_int_equal(tree->at[0]->span.begin, 20);
}

#define TEXT(text) text, sizeof(text) - 1

static void lexical_faults(void **state)
{
	(void)state;
	expect_error(TEXT("tenon 1.0;\nconst c\0 = 1;"), TN_E0108, 2, 8);
	expect_error(TEXT("tenon 1.0;\nconst c = $1;"), TN_E0108, 2, 11);
	expect_error(TEXT("tenon 1.0;\nconst \xc3\xa9 = 1;"), TN_E0108, 2, 7);
	expect_error(TEXT("tenon 1.0;\nconst `` = 1;"), TN_E0108, 2, 7);
	expect_error(TEXT("tenon 1.0;\ninclude \"a;\n"), TN_E0109, 2, 9);
	expect_error(TEXT("tenon 1.0;\nconst `a = 1;\n"), TN_E0109, 2, 7);
	expect_error(TEXT("tenon 1.0;\ninclude \"a\\q\";"), TN_E0110, 2, 11);
	expect_error(TEXT("tenon 1.0;\ninclude \"\\u{0}\";"), TN_E0110, 2, 10);
	expect_error(TEXT("tenon 1.0;\ninclude \"\\u{d800}\";"), TN_E0110, 2,
		     10);
	expect_error(TEXT("tenon 1.0;\ninclude \"a\xff\";"), TN_E0111, 2, 11);
	expect_error(TEXT("tenon 1.0;\ninclude \"\xc0\x80\";"), TN_E0111, 2,
		     10);
	expect_error(TEXT("tenon 1.0;\nconst c = 12ab;"), TN_E0112, 2, 11);
	expect_error(TEXT("tenon 1.0;\nconst c = 1e-;"), TN_E0112, 2, 11);
	expect_error(TEXT("tenon 1.0;\nconst c = 18446744073709551616;"),
		     TN_E0113, 2, 11);
}

static void too_large(void **state)
{
	struct tn_source *source;
	uint32_t file = tn_sink_add_source(&sink, "t.tn", "tenon 1.0;", 10);
	const struct tn_diag *diag;

	(void)state;
	source = tn_vec_at(&sink.sources, file - 1);
	source->size = (size_t)1 << 31;
	tn_parse(&sink, &intern, &arena, file);
	assert_int_equal(sink.errors, 1);
	diag = tn_vec_ptr(&sink.diags, 0);
	assert_int_equal(diag->code, TN_E0118);
	source->size = 10;
}

/* ---- Parser ------------------------------------------------------------- */

static void precedence(void **state)
{
	(void)state;
	expect_printed("a || b && c == d | e ^ f & g << h + i * -j ** k",
		       "a || b && c == d | e ^ f & g << h + i * -j ** k");
	expect_printed("((((((((a || b) && c) == d) | e) ^ f) & g) << h) + i)"
		       " * j",
		       "((((((((a || b) && c) == d) | e) ^ f) & g) << h) + i)"
		       " * j");
	expect_printed("(a - b) - c", "a - b - c");
	expect_printed("a - (b - c)", "a - (b - c)");
	expect_printed("a ** b ** c", "a ** b ** c");
	expect_printed("(a ** b) ** c", "(a ** b) ** c");
	expect_printed("(-1) ** 2", "(-1) ** 2");
	expect_printed("2 ** -x", "2 ** -x");
	expect_printed("(a < b) < c", "(a < b) < c");
	expect_printed("x @ w + b", "x @ w + b");
	expect_printed("(x @ w).f[(1)]", "(x @ w).f[1]");
	expect_printed("- -1", "--1");
	expect_printed("-(1)", "-(1)");
	expect_printed("(1)[0]", "(1)[0]");
	expect_printed("x[:, ..., 1:, :2, i]", "x[:, ..., 1:, :2, i]");
	expect_printed("f(x, in=1, f32=2, ..a)", "f(x, in=1, f32=2, ..a)");
	expect_printed("[[0, 1], []]", "[[0, 1], []]");
}

/* What `a FIRST b SECOND c` is by the rows: whether SECOND is the root. */
static bool second_is_root(enum tn_infix first, enum tn_infix second)
{
	int a = tn_infixes[first].level, b = tn_infixes[second].level;

	return a == b ? !tn_infix_has(first, TN_INFIX_RIGHT) : b < a;
}

/* The rows of infix.def bind as the parser does, all pairs of signs. */
static void signs(void **state)
{
	int first, second, comparison = tn_infixes[TN_INFIX_EQ].level;
	struct tn_expr *expr;
	char text[64];

	(void)state;
	for (first = TN_INFIX_OR; first < TN_INFIX_COUNT; first++)
		for (second = TN_INFIX_OR; second < TN_INFIX_COUNT; second++) {
			if (tn_infixes[first].level == comparison &&
			    tn_infixes[second].level == comparison)
				continue;
			(void)snprintf(text, sizeof(text), "a %s b %s c",
				       tn_infixes[first].text,
				       tn_infixes[second].text);
			expr = parse_expr(text);
			assert_int_equal(expr->kind, TN_EXPR_BINARY);
			assert_int_equal(expr->op, second_is_root(
				(enum tn_infix)first, (enum tn_infix)second) ?
				second : first);
			expect_printed(text, text);
		}
	for (first = 0; first < TN_INFIX_OR; first++)
		for (second = TN_INFIX_OR; second < TN_INFIX_COUNT; second++) {
			(void)snprintf(text, sizeof(text), "%sa %s b",
				       tn_infixes[first].text,
				       tn_infixes[second].text);
			expr = parse_expr(text);
			assert_int_equal(expr->op, tn_infixes[second].level <
					 tn_infixes[first].level ?
					 second : first);
		}
}

static void calls_and_spans(void **state)
{
	struct tn_expr *expr = parse_expr("( g(x, axis=-1, ..a) )");
	struct tn_span callee = tn_expr_callee(expr);
	const struct tn_args *args = &expr->u.call.args;

	(void)state;
	assert_int_equal(expr->kind, TN_EXPR_CALL);
	assert_true(expr->paren);
	assert_int_equal(expr->span.begin, 21);
	assert_int_equal(callee.begin, 23);
	assert_int_equal(callee.end, 24);
	assert_int_equal(args->len, 3);
	assert_int_equal(args->at[0]->kind, TN_ARG_POSITIONAL);
	assert_int_equal(args->at[1]->kind, TN_ARG_NAMED);
	assert_string_equal(args->at[1]->name.text, "axis");
	assert_true(args->at[1]->value->negative);
	assert_int_equal(args->at[2]->kind, TN_ARG_REST);
	assert_string_equal(args->at[2]->name.text, "a");
}

static void regions(void **state)
{
	struct tn_tree_block *body = parse_body(
		"a = if x > 0.0 { yield 1; } else if x < 0.0 { yield 2; }"
		" else { yield 3; };\n"
		"b, n = with (h = x, k: i32 = 0) while(max=9) k < 3 {"
		" yield h, k + 1; };\n"
		"c = with (h = x) for i in 0..3 { yield h; };\n"
		"d, e = with (s = x) scan(axis=1) u in x, v in y {"
		" emit u; yield s; };\n"
		"dim Z in [0, 64] opt 1, 8 mod 4;\n"
		"return c;");
	const struct tn_region *region;

	(void)state;
	assert_int_equal(body->len, 6);
	region = body->at[0]->region;
	assert_int_equal(region->kind, TN_REGION_IF);
	assert_int_equal(region->arms.len, 3);
	assert_null(region->arms.at[2]->cond);
	region = body->at[1]->region;
	assert_int_equal(region->kind, TN_REGION_WHILE);
	assert_int_equal(region->carries.len, 2);
	assert_non_null(region->carries.at[1]->type);
	assert_string_equal(region->options.at[0]->name.text, "max");
	region = body->at[2]->region;
	assert_int_equal(region->kind, TN_REGION_FOR);
	assert_string_equal(region->var.text, "i");
	region = body->at[3]->region;
	assert_int_equal(region->kind, TN_REGION_SCAN);
	assert_int_equal(region->inputs.len, 2);
	assert_int_equal(body->at[4]->kind, TN_STMT_DIM);
	assert_int_equal(body->at[4]->dim->opts.len, 2);
	assert_int_equal(body->at[4]->dim->mod->u.integer.value, 4);
	assert_false(body->broken);
}

static void items(void **state)
{
	struct tn_tree *tree = parse(
		"tenon 1.0;\n"
		"include \"a.tn\";\n"
		"weight b[i in 0..L]: Block from \"f\" : \"h.{i}.\";\n"
		"struct S { w: f32[2] from \"w\"; value: f32; }\n"
		"encoding q block 32 { d: f16; value = d; }\n"
		"mesh pod = [data=2, model=4];\n"
		"@a @in(1) op g<T: float>(x: T[*P, K], a: int = -1) -> T[];\n"
		"rule r(x: f32, n: dim) match { yield x; } rewrite { yield x; }"
		" where uses(x) == 1;\n"
		"test \"t\" { expect a ~= b, atol=1e-6; reject \"E0312\" {} }\n"
		"kernel k(x: f32[4] @in) { par(threads) i in 0..4 step 2"
		" { x[i] += 1.0; } if x[0] > 0.0 { barrier(); } }\n");
	const struct tn_sig *sig;

	(void)state;
	assert_int_equal(tree->errors, 0);
	assert_int_equal(tree->len, 9);
	assert_string_equal(tree->at[1]->u.weight.var.text, "i");
	assert_string_equal(tree->at[1]->u.weight.from.key.text, "h.{i}.");
	assert_int_equal(tree->at[2]->u.fields.len, 2);
	assert_null(tree->at[2]->u.fields.at[1]->from.file.text);
	assert_int_equal(tree->at[3]->u.encoding.block, 32);
	assert_int_equal(tree->at[4]->u.mesh.len, 2);
	assert_int_equal(tree->at[5]->annots.len, 2);
	sig = tree->at[5]->u.sig;
	assert_false(sig->has_body);
	assert_string_equal(sig->params.at[0]->type->shape.at[0]->pack.text,
			    "P");
	assert_true(sig->results.at[0]->type->has_shape);
	assert_int_equal(sig->results.at[0]->type->shape.len, 0);
	assert_null(sig->results.at[0]->name.text);
	assert_non_null(tree->at[6]->u.rule.where);
	assert_string_equal(tree->at[7]->name.text, "t");
	assert_int_equal(tree->at[7]->u.test.body.at[0]->args.len, 1);
	sig = tree->at[8]->u.sig;
	assert_int_equal(sig->kernel.len, 2);
	assert_int_equal(sig->kernel.at[0]->loop, TN_TREE_LOOP_PAR);
	assert_true(sig->kernel.at[0]->body.at[0]->add);
}

static void headers(void **state)
{
	(void)state;
	expect_error(TEXT(""), TN_E0106, 1, 1);
	expect_error(TEXT("fn f() -> f32 { return 1.0; }\n"), TN_E0106, 1, 1);
	expect_error(TEXT("tenon 2.0;\nfn ???"), TN_E0107, 1, 7);
	expect_error(TEXT("tenon 1.1;\n"), TN_E0107, 1, 7);
	expect_error(TEXT("@@brief\ntenon 1.0;\n"), TN_E0115, 1, 1);
}

/* A text of `count` times `piece` between two others. */
static const char *repeat(const char *before, const char *piece, size_t count,
			  const char *after)
{
	tn_buf_clear(&out);
	tn_buf_put(&out, before);
	while (count-- > 0)
		tn_buf_put(&out, piece);
	tn_buf_put(&out, after);
	assert_false(out.failed);
	return tn_buf_text(&out);
}

static void expect_too_deep(const char *text)
{
	const struct tn_diag *diag;

	tn_sink_fini(&sink);
	tn_sink_init(&sink);
	parse(text);
	assert_int_equal(sink.errors, 1);
	diag = tn_vec_ptr(&sink.diags, 0);
	assert_int_equal(diag->code, TN_E0104);
}

static void nesting(void **state)
{
	(void)state;
	expect_too_deep(repeat("tenon 1.0; const c = ", "(", 100000, ";"));
	expect_too_deep(repeat("tenon 1.0; const c = ", "f([", 100000, ";"));
	expect_too_deep(repeat("tenon 1.0; const c = ", "-", 100000, "x;"));
	expect_too_deep(repeat("tenon 1.0; const c = ", "!~", 100000, "x;"));
	expect_too_deep(repeat("tenon 1.0; const c = ", "x**", 100000, "x;"));
	expect_too_deep(repeat("tenon 1.0; const c = ", "x+", 100000, "x;"));
	expect_too_deep(repeat("tenon 1.0; const c = x", "[0]", 100000, ";"));
	expect_too_deep(repeat("tenon 1.0; fn f() -> f32 {",
			       "x = if c {", 100000, "}"));
	parse_expr(repeat("", "-x -", 400, " x"));
	parse_expr(repeat("[", "-1, ", 100000, "-1]"));
	parse_body(repeat("a = if x { yield x; }",
			  " else if x { yield x; }", 5000,
			  " else { yield x; };"));
}

static void long_lists(void **state)
{
	struct tn_tree_block *body;

	(void)state;
	body = parse_body(repeat("", "v = add(v, x);\n", 300000, ""));
	assert_int_equal(body->len, 300000);
	assert_int_equal(parse_expr(repeat("[1.5", ", 2.5", 1999999, "]"))
			 ->u.list.len, 2000000);
}

/* ---- Recovery ----------------------------------------------------------- */

static void recovery(void **state)
{
	struct tn_tree *tree;

	(void)state;
	tree = parse("tenon 1.0;\n"
		     "fn f(x: f32) -> f32 {\n"
		     "  a = g(x x { y; });\n"
		     "  b = x\n"
		     "  return b;\n"
		     "}\n"
		     "fn g(x: f32 -> f32 { return x; }\n"
		     "fn h(x: f32) -> f32 { return x; }\n");
	assert_int_equal(tree->errors, 3);
	assert_true(tree->broken);
	assert_int_equal(tree->len, 2);
	assert_true(tree->at[0]->u.sig->body.broken);
	assert_int_equal(tree->at[0]->u.sig->body.len, 1);
	assert_string_equal(tree->at[1]->name.text, "h");
}

static void missing_parts(void **state)
{
	(void)state;
	expect_error(TEXT("tenon 1.0;\nfn f() -> f32 {\n  a = 1\n"
			  "  b = 2;\n}\n"), TN_E0103, 3, 8);
	expect_error(TEXT("tenon 1.0;\nfn f() -> f32 {\n  a = if c {\n"
			  "    yield 1;\n  return a;\n}\n"
			  "fn g() -> f32 { return 1; }\n"), TN_E0105, 3, 12);
	expect_error(TEXT("tenon 1.0;\nfn f() -> f32 {\n  a = 1;\n"
			  "fn g() -> f32 { return 1; }\n"), TN_E0105, 2, 15);
	expect_error(TEXT("tenon 1.0;\nfn f() -> f32 {\n  a = 1;\n"),
		     TN_E0105, 2, 15);
	expect_error(TEXT("tenon 1.0;\nfn f() -> f32 {\n  a = 1;\n} }\n"),
		     TN_E0105, 4, 3);
	expect_error(TEXT("tenon 1.0;\nfn f() -> f32 {\n  retrun z;\n}\n"),
		     TN_E0102, 3, 3);
	expect_error(TEXT("tenon 1.0;\nwieght w: f32 from \"a\";\n"), TN_E0102,
		     2, 1);
	expect_error(TEXT("tenon 1.0;\ndim B in 1..64 opt 1;\n"), TN_E0114, 2,
		     10);
	expect_error(TEXT("tenon 1.0;\nencoding q block 2 { d: f16; }\n"),
		     TN_E0117, 2, 10);
	expect_error(TEXT("tenon 1.0;\nfn f(in: f32) -> f32 { return 1; }\n"),
		     TN_E0116, 2, 6);
	expect_error(TEXT("tenon 1.0;\nfn f() -> f32 { i8 = 1; return i; }\n"),
		     TN_E0116, 2, 17);
}

/* ---- Printer and formatter ---------------------------------------------- */

static void names_put(void **state)
{
	(void)state;
	tn_name_put(&out, "a1");
	tn_name_put(&out, "std::x");
	tn_name_put(&out, "/m/l.0");
	tn_name_put(&out, "if");
	tn_name_put(&out, "f32");
	tn_name_put(&out, "nan_f32");
	tn_name_put(&out, "a`\\\n\x01");
	tn_word_put(&out, "in");
	tn_word_put(&out, "true");
	assert_string_equal(tn_buf_text(&out),
			    "a1std::x`/m/l.0``if``f32``nan_f32`"
			    "`a\\`\\\\\\n\\u{1}`in`true`");
}

/* `text` formats to `want`, and that to itself. */
static void expect_format(const char *text, const char *want)
{
	int i;

	for (i = 0; i < 2; i++) {
		uint32_t file = tn_sink_add_source(&sink, "t.tn", text,
						   strlen(text));

		tn_buf_clear(&out);
		assert_true(tn_fmt(&sink, file, &out));
		assert_string_equal(tn_buf_text(&out), want);
		text = want;
	}
}

static void format(void **state)
{
	(void)state;
	expect_format("tenon 1.0;\r\n\r\n\r\ndim B in[1,8]opt 1;# b\n"
		      "dim Seq in [1, 8];   # s\n",
		      "tenon 1.0;\n\ndim B in [1, 8] opt 1;  # b\n"
		      "dim Seq in [1, 8];      # s\n");
	expect_format("tenon 1.0;fn f<T:float>(x:T[*P]@x(1//2),a:int=-1)->f32"
		      "{y=f(x@w,a = -1,..r)[0 : 4,:];# c\n"
		      "# own\n\n\n  return y;}",
		      "tenon 1.0;\n"
		      "fn f<T: float>(x: T[*P] @x(1//2), a: int = -1) -> f32"
		      " {\n"
		      "  y = f(x @ w, a=-1, ..r)[0:4, :];  # c\n"
		      "  # own\n\n"
		      "  return y;\n}\n");
	expect_format("tenon 1.0;\nfn f(x: f32,\n y: f32) -> f32 {\n"
		      "  z = with (h = x) for i in 0..3 { yield h; };\n"
		      "  return if_(\n x,\n -y\n );\n}\n",
		      "tenon 1.0;\nfn f(x: f32,\n     y: f32) -> f32 {\n"
		      "  z = with (h = x) for i in 0..3 { yield h; };\n"
		      "  return if_(\n    x,\n    -y\n  );\n}\n");
	expect_format("tenon 1.0;\ntest \"t\" { expect a~=b,atol = 1e-3; }\n",
		      "tenon 1.0;\ntest \"t\" { expect a ~= b, atol=1e-3; }\n");
}

static void format_refuses(void **state)
{
	uint32_t file = tn_sink_add_source(&sink, "t.tn", "tenon 1.0; fn", 13);

	(void)state;
	assert_false(tn_fmt(&sink, file, &out));
	assert_int_equal(out.len, 0);
	assert_int_equal(sink.errors, 1);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(integers), CASE(reals), CASE(words),
		CASE(contextual_words), CASE(byte_order_mark_and_crlf),
		CASE(lexical_faults), CASE(too_large), CASE(precedence),
		CASE(signs),
		CASE(calls_and_spans), CASE(regions), CASE(items),
		CASE(headers), CASE(nesting), CASE(long_lists),
		CASE(recovery), CASE(missing_parts), CASE(names_put),
		CASE(format), CASE(format_refuses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
