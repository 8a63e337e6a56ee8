/*
 * Diagnostics of src/base: exact text, JSON, limits, places, near names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/unit.h"

static struct tn_sink sink;
static struct tn_buf out;

static int setup(void **state)
{
	(void)state;
	tn_sink_init(&sink);
	tn_buf_init(&out);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tn_sink_fini(&sink);
	tn_buf_fini(&out);
	return 0;
}

static uint32_t source_add(const char *name, const char *text)
{
	uint32_t file = tn_sink_add_source(&sink, name, text, strlen(text));

	assert_int_not_equal(file, 0);
	return file;
}

/* The first occurrence of `word` in the source. */
static struct tn_span span_of(uint32_t file, const char *word)
{
	const struct tn_source *source = tn_vec_at(&sink.sources, file - 1);
	const char *at = strstr(source->text, word);
	struct tn_span span = {.file = file};

	assert_non_null(at);
	span.begin = (uint32_t)(at - source->text);
	span.end = span.begin + (uint32_t)strlen(word);
	return span;
}

static void expect(const char *want)
{
	tn_buf_clear(&out);
	tn_sink_render(&sink, &out, false);
	assert_false(out.failed);
	assert_string_equal(tn_buf_text(&out), want);
}

static void expect_json(const char *want)
{
	tn_buf_clear(&out);
	tn_sink_render_json(&sink, &out);
	assert_false(out.failed);
	assert_string_equal(tn_buf_text(&out), want);
}

static void test_empty(void **state)
{
	(void)state;
	expect("");
	expect_json("");
}

/* The example that heads diag.h. */
static void test_one_line(void **state)
{
	uint32_t file = source_add("gpt2.tn",
		"1\n2\n  return a + (m @ p.fc_b);\n");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(file, "(m @ p.fc_b)"), "'%s' cannot combine these "
		"shapes", "add");

	(void)state;
	tn_diag_label(&sink, diag, "f32[%s]", "B, S");
	tn_diag_also(&sink, diag, span_of(file, "a"), "f32[B, S, 768]");
	tn_diag_note(&sink, diag, "first\nand second line");
	tn_diag_help(&sink, diag, "name one dim");
	expect("gpt2.tn:3:14: error[E0101]: 'add' cannot combine these shapes\n"
	       "  3 |   return a + (m @ p.fc_b);\n"
	       "    |          -   ^^^^^^^^^^^^ f32[B, S]\n"
	       "    |          f32[B, S, 768]\n"
	       "    = note: first\n"
	       "            and second line\n"
	       "    = help: name one dim\n");
}

static void test_hanging(void **state)
{
	uint32_t file = source_add("a.tn", "a + b + c");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(file, "b"), "three");

	(void)state;
	tn_diag_label(&sink, diag, "middle");
	tn_diag_also(&sink, diag, span_of(file, "c"), "right");
	tn_diag_also(&sink, diag, span_of(file, "a"), "left");
	expect("a.tn:1:5: error[E0101]: three\n"
	       "  1 | a + b + c\n"
	       "    | -   ^   - right\n"
	       "    | |   middle\n"
	       "    | left\n");
}

/* The main mark lies on top; a text never stands on another's marks. */
static void test_overlap(void **state)
{
	uint32_t file = source_add("a.tn", "abcdefgh");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(file, "cd"), "inner");

	(void)state;
	tn_diag_label(&sink, diag, "here");
	tn_diag_also(&sink, diag, span_of(file, "abcdefgh"), "all");
	expect("a.tn:1:3: error[E0101]: inner\n"
	       "  1 | abcdefgh\n"
	       "    | --^^----\n"
	       "    | | here\n"
	       "    | all\n");
}

static void test_same_place(void **state)
{
	uint32_t file = source_add("a.tn", "x = y");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(file, "y"), "twice");

	(void)state;
	tn_diag_label(&sink, diag, "one");
	tn_diag_also(&sink, diag, span_of(file, "y"), "two");
	expect("a.tn:1:5: error[E0101]: twice\n"
	       "  1 | x = y\n"
	       "    |     ^\n"
	       "    |     two\n"
	       "    |     one\n");
}

static void test_lines(void **state)
{
	uint32_t file = source_add("a.tn",
		"dim B;\nl2\ndim C;\nl4\nl5\nl6\nl7\nl8\nl9\nuse\nnext\n");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(file, "use"), "far");

	(void)state;
	tn_diag_also(&sink, diag, span_of(file, "B"), "declared");
	tn_diag_also(&sink, diag, span_of(file, "C"), "and here");
	tn_diag_also(&sink, diag, span_of(file, "next"), "%s", "");
	expect("a.tn:10:1: error[E0101]: far\n"
	       "   1 | dim B;\n"
	       "     |     - declared\n"
	       "   2 | l2\n"
	       "   3 | dim C;\n"
	       "     |     - and here\n"
	       "  ...\n"
	       "  10 | use\n"
	       "     | ^^^\n"
	       "  11 | next\n"
	       "     | ----\n");
}

static void test_files(void **state)
{
	uint32_t a = source_add("a.tn", "aaa\n"), b = source_add("b.tn",
		"\n\nbbb\n");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(a, "aa"), "two files");

	(void)state;
	tn_diag_also(&sink, diag, span_of(b, "bb"), "there");
	expect("a.tn:1:1: error[E0101]: two files\n"
	       "  1 | aaa\n"
	       "    | ^^\n"
	       "   ::: b.tn:3:1\n"
	       "  3 | bbb\n"
	       "    | -- there\n");
}

/* Ends of lines and of the text, empty spans, spans over lines, beyond. */
static void test_ends(void **state)
{
	uint32_t file = source_add("a.tn", "one\r\n\nlast");

	(void)state;
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 3, 3}, "a");
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 5, 5}, "b");
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 10, 10}, "c");
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 1, 9}, "d");
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 90, 99}, "e");
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 8, 2}, "f");
	expect("a.tn:1:4: error[E0101]: a\n"
	       "  1 | one\n"
	       "    |    ^\n"
	       "\n"
	       "a.tn:2:1: error[E0101]: b\n"
	       "  2 |\n"
	       "    | ^\n"
	       "\n"
	       "a.tn:3:5: error[E0101]: c\n"
	       "  3 | last\n"
	       "    |     ^\n"
	       "\n"
	       "a.tn:1:2: error[E0101]: d\n"
	       "  1 | one\n"
	       "    |  ^^\n"
	       "\n"
	       "a.tn:3:5: error[E0101]: e\n"
	       "  3 | last\n"
	       "    |     ^\n"
	       "\n"
	       "a.tn:3:3: error[E0101]: f\n"
	       "  3 | last\n"
	       "    |   ^\n");
}

static void test_no_place(void **state)
{
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0002,
		(struct tn_span){0}, "no \x1b[31m%s", "file");

	(void)state;
	tn_diag_label(&sink, diag, "unseen");
	tn_diag_note(&sink, diag, "why");
	expect("error[E0002]: no \\x1b[31mfile\n"
	       "   = note: why\n");
}

static void test_unsafe(void **state)
{
	uint32_t file = source_add("a\x1b.tn",
		"\tx\x01\xff\xe2\x80\xae y \xc3\xa9\xe4\xb8\xad z\n");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(file, "y"), "tab\tand\x07");

	(void)state;
	tn_diag_label(&sink, diag, "a\nb\x7f");
	tn_diag_also(&sink, diag, span_of(file, "z"), "\xc2\x9b");
	expect("a\\x1b.tn:1:7: error[E0101]: tab and\\x07\n"
	       "  1 |         x\\x01\\xff\\u{202e} y \xc3\xa9\xe4\xb8\xad z\n"
	       "    |                           ^     - \\u{9b}\n"
	       "    |                           a\\nb\\x7f\n");
}

static void test_inner_nul(void **state)
{
	uint32_t file = tn_sink_add_source(&sink, "a.tn", "a\0b\nc", 5);

	(void)state;
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 1, 2}, "nul");
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 4, 5}, "c");
	expect("a.tn:1:2: error[E0101]: nul\n"
	       "  1 | a\\x00b\n"
	       "    |  ^^^^\n"
	       "\n"
	       "a.tn:2:1: error[E0101]: c\n"
	       "  2 | c\n"
	       "    | ^\n");
}

/* A line of 1000 columns is cut around the mark, at either end too. */
static void test_long_line(void **state)
{
	char text[1001], line[121], want[1000];
	uint32_t file;
	struct tn_diag *diag;

	(void)state;
	memset(text, 'a', 1000);
	text[1000] = '\0';
	text[500] = 'X';
	file = source_add("a.tn", text);
	diag = tn_diag_report(&sink, TN_E0101, span_of(file, "X"), "far");
	tn_diag_also(&sink, diag, (struct tn_span){file, 0, 2}, "%s", "");
	memset(line, 'a', 120);
	line[120] = '\0';
	line[60] = 'X';
	snprintf(want, sizeof(want),
		 "a.tn:1:501: error[E0101]: far\n"
		 "  1 | ...%s...\n"
		 "    |    -%59s^\n", line, "");
	expect(want);
}

static void test_long_line_ends(void **state)
{
	char text[1001], line[121], want[1000];
	uint32_t file;

	(void)state;
	memset(text, 'a', 1000);
	text[1000] = '\0';
	file = source_add("a.tn", text);
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 0, 1000}, "w");
	tn_diag_report(&sink, TN_E0101, (struct tn_span){file, 1000, 1000},
		       "e");
	memset(line, 'a', 120);
	line[120] = '\0';
	snprintf(want, sizeof(want),
		 "a.tn:1:1: error[E0101]: w\n"
		 "  1 | %s...\n    | ", line);
	memset(line, '^', 120);
	snprintf(want + strlen(want), sizeof(want) - strlen(want), "%s\n\n",
		 line);
	memset(line, 'a', 120);
	snprintf(want + strlen(want), sizeof(want) - strlen(want),
		 "a.tn:1:1001: error[E0101]: e\n"
		 "  1 | ...%s\n    | %123s^\n", line, "");
	expect(want);
}

static void test_fix(void **state)
{
	uint32_t file = source_add("a.tn", "dim B in 1..64;\nx");
	struct tn_diag *diag;

	(void)state;
	diag = tn_diag_report(&sink, TN_E0101, span_of(file, "1..64"), "r");
	tn_diag_fix(&sink, diag, span_of(file, "1..64"), "[1, 64]");
	diag = tn_diag_report(&sink, TN_E0101, span_of(file, "x"), "i");
	tn_diag_fix(&sink, diag, (struct tn_span){file, 17, 17}, ";\n");
	diag = tn_diag_report(&sink, TN_E0101, span_of(file, "x"), "d");
	tn_diag_fix(&sink, diag, span_of(file, "x"), "");
	expect("a.tn:1:10: error[E0101]: r\n"
	       "  1 | dim B in 1..64;\n"
	       "    |          ^^^^^\n"
	       "    = fix: at 1:10 replace `1..64` by `[1, 64]`\n"
	       "\n"
	       "a.tn:2:1: error[E0101]: i\n"
	       "  2 | x\n"
	       "    | ^\n"
	       "    = fix: at 2:2 insert `;\\n`\n"
	       "\n"
	       "a.tn:2:1: error[E0101]: d\n"
	       "  2 | x\n"
	       "    | ^\n"
	       "    = fix: at 2:1 remove `x`\n");
}

static void test_colour(void **state)
{
	uint32_t file = source_add("a.tn", "a b");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(file, "b"), "m");

	(void)state;
	tn_diag_label(&sink, diag, "t");
	tn_diag_also(&sink, diag, span_of(file, "a"), "%s", "");
	tn_buf_clear(&out);
	tn_sink_render(&sink, &out, true);
	assert_string_equal(tn_buf_text(&out),
		"\033[1ma.tn:1:3:\033[0m \033[1;31merror[E0101]:\033[0m "
		"\033[1mm\033[0m\n"
		"\033[1;34m  1 |\033[0m a b\n"
		"\033[1;34m    |\033[0m \033[0m\033[1;36m-\033[0m "
		"\033[0m\033[1;31m^\033[0m \033[1;31mt\033[0m\n");
}

static void test_json(void **state)
{
	uint32_t file = source_add("a \"q\".tn", "x = \xc3\xa9y;\nz");
	struct tn_diag *diag = tn_diag_report(&sink, TN_E0101,
		span_of(file, "y"), "say \"%s\"", "no\n");

	(void)state;
	tn_diag_label(&sink, diag, "l");
	tn_diag_also(&sink, diag, span_of(file, "z"), "also");
	tn_diag_also(&sink, diag, (struct tn_span){0}, "nowhere");
	tn_diag_note(&sink, diag, "n1");
	tn_diag_note(&sink, diag, "n2");
	tn_diag_help(&sink, diag, "h");
	tn_diag_fix(&sink, diag, span_of(file, "y"), "w");
	tn_diag_report(&sink, TN_E0002, (struct tn_span){0}, "bare");
	expect_json(
		"{\"code\":\"E0101\",\"severity\":\"error\",\"message\":"
		"\"say \\\"no\\n\\\"\",\"file\":\"a \\\"q\\\".tn\","
		"\"line\":1,\"column\":6,\"end_line\":1,\"end_column\":7,"
		"\"label\":\"l\",\"labels\":[{\"file\":\"a \\\"q\\\".tn\","
		"\"line\":2,\"column\":1,\"end_line\":2,\"end_column\":2,"
		"\"text\":\"also\"},{\"file\":null,\"line\":null,"
		"\"column\":null,\"end_line\":null,\"end_column\":null,"
		"\"text\":\"nowhere\"}],\"notes\":[\"n1\",\"n2\"],"
		"\"help\":\"h\",\"edit\":{\"file\":\"a \\\"q\\\".tn\","
		"\"line\":1,\"column\":6,\"end_line\":1,\"end_column\":7,"
		"\"begin\":6,\"end\":7,\"insert\":\"w\"}}\n"
		"{\"code\":\"E0002\",\"severity\":\"error\",\"message\":"
		"\"bare\",\"file\":null,\"line\":null,\"column\":null,"
		"\"end_line\":null,\"end_column\":null,\"label\":null,"
		"\"labels\":[],\"notes\":[],\"help\":null,\"edit\":null}\n");
}

static void test_limit(void **state)
{
	struct tn_diag *diag = NULL;
	const char *text;
	int i;

	(void)state;
	for (i = 0; i < TN_DIAG_LIMIT + 5; i++) {
		diag = tn_diag_report(&sink, TN_E0002, (struct tn_span){0},
				      "number %d", i);
		assert_non_null(diag);
		assert_int_equal(diag == &sink.scratch, i >= TN_DIAG_LIMIT);
		tn_diag_label(&sink, diag, "l");
		tn_diag_also(&sink, diag, (struct tn_span){0}, "a");
		tn_diag_note(&sink, diag, "n");
		tn_diag_help(&sink, diag, "h");
		tn_diag_fix(&sink, diag, (struct tn_span){0}, "f");
	}
	assert_int_equal(sink.errors, TN_DIAG_LIMIT + 5);
	assert_int_equal(sink.diags.len, TN_DIAG_LIMIT);
	assert_int_equal(sink.scratch.labels.len, 0);
	assert_int_equal(sink.scratch.notes.len, 0);
	tn_sink_render(&sink, &out, false);
	text = tn_buf_text(&out);
	assert_non_null(strstr(text, "number 19\n"));
	assert_null(strstr(text, "number 20"));
	assert_non_null(strstr(text, "\n... and 5 more errors\n"));
	tn_buf_clear(&out);
	tn_sink_render_json(&sink, &out);
	assert_non_null(strstr(tn_buf_text(&out),
			       "{\"more_errors\":5,\"more_warnings\":0}\n"));
}

static void test_failed(void **state)
{
	(void)state;
	sink.failed = true;
	expect("error[E0001]: out of memory\n");
	expect_json("{\"code\":\"E0001\",\"severity\":\"error\",\"message\":"
		"\"out of memory\",\"file\":null,\"line\":null,\"column\":"
		"null,\"end_line\":null,\"end_column\":null,\"label\":null,"
		"\"labels\":[],\"notes\":[],\"help\":null,\"edit\":null}\n");
}

static void test_locate(void **state)
{
	uint32_t file = source_add("a", "ab\n\xc3\xa9x\xff\n\n");
	static const uint32_t want[][3] = {
		{0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 2, 1}, {4, 2, 1},
		{5, 2, 2}, {6, 2, 3}, {7, 2, 4}, {8, 3, 1}, {9, 4, 1},
		{100, 4, 1}, {UINT32_MAX, 4, 1},
	};
	uint32_t line, column;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		tn_sink_locate(&sink, file, want[i][0], &line, &column);
		assert_int_equal(line, want[i][1]);
		assert_int_equal(column, want[i][2]);
	}
	tn_sink_locate(&sink, 0, 0, &line, &column);
	assert_int_equal(line, 0);
	tn_sink_locate(&sink, file + 1, 0, &line, &column);
	assert_int_equal(line, 0);
	file = source_add("empty", "");
	tn_sink_locate(&sink, file, 0, &line, &column);
	assert_int_equal(line, 1);
	assert_int_equal(column, 1);
}

static void test_codes(void **state)
{
	int i;

	(void)state;
	assert_int_equal(tn_code_find("E0101"), TN_E0101);
	assert_int_equal(tn_code_find("E9999"), TN_CODE_COUNT);
	assert_int_equal(tn_code_find(""), TN_CODE_COUNT);
	for (i = 0; i < TN_CODE_COUNT; i++) {
		const struct tn_code_info *info = &tn_codes[i];

		assert_int_equal(tn_code_find(info->name), i);
		assert_int_equal(info->name[0],
				 info->severity == TN_ERROR ? 'E' : 'W');
		assert_int_equal(strspn(info->name + 1, "0123456789"), 4);
		assert_int_equal(strlen(info->name), 5);
		assert_true(strlen(info->title) > 0);
		assert_true(strlen(info->text) > 0);
	}
}

static void test_nearest(void **state)
{
	static const char *const names[] = {
		"softmax", "sigmoid", "relu", "gelu", "conv2d", "ab",
	};
	static const char *const pairs[][2] = {
		{"softmxa", "softmax"}, {"sofmax", "softmax"},
		{"softtmax", "softmax"}, {"sigmoit", "sigmoid"},
		{"rleu", "relu"}, {"xelu", "relu"}, {"conv", NULL},
		{"conv3", NULL}, {"conv1d", "conv2d"}, {"cnov3d", "conv2d"},
		{"abc", "ab"}, {"a", NULL}, {"", NULL}, {"tanh", NULL},
		{"relu", "relu"}, {"softmaxxxx", NULL},
	};
	char longest[400];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		const char *got = tn_diag_nearest(pairs[i][0], names, 6);

		if (pairs[i][1])
			assert_string_equal(got, pairs[i][1]);
		else
			assert_null(got);
	}
	memset(longest, 'x', sizeof(longest));
	longest[399] = '\0';
	assert_null(tn_diag_nearest(longest, names, 6));
	assert_null(tn_diag_nearest("relu", NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		CASE(test_empty),
		CASE(test_one_line),
		CASE(test_hanging),
		CASE(test_overlap),
		CASE(test_same_place),
		CASE(test_lines),
		CASE(test_files),
		CASE(test_ends),
		CASE(test_no_place),
		CASE(test_unsafe),
		CASE(test_inner_nul),
		CASE(test_long_line),
		CASE(test_long_line_ends),
		CASE(test_fix),
		CASE(test_colour),
		CASE(test_json),
		CASE(test_limit),
		CASE(test_failed),
		CASE(test_locate),
		CASE(test_codes),
		CASE(test_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
