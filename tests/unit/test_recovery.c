/*
 * How well the parser mends: each token of some files is left out once and
 * doubled once, and the errors of each mutant are counted.
 *
 * Of the mutants that are not valid, MOST_SINGLE per cent give exactly one
 * error, and none gives more than the limit of a run. Each also goes through
 * the printer or the formatter: what parses must print, read back the same
 * and format.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "grammar/fmt.h"
#include "grammar/syntax.h"

#define MOST_SINGLE 90

struct counts {
	uint32_t invalid, single, most;
};

static const char *const files[] = {
	"examples/gpt2/gpt2.tn", "examples/digits/digits.tn",
	"examples/03-conv-bn-relu/stem.tn", "tests/recovery/data/forms.tn",
};

/* Canonical text of a tree reads back as that text. */
static void check_print(const struct tn_tree *tree)
{
	struct tn_sink sink;
	struct tn_intern intern;
	struct tn_arena arena;
	struct tn_buf first, second;
	struct tn_tree *again;

	tn_sink_init(&sink);
	tn_intern_init(&intern);
	tn_arena_init(&arena);
	tn_buf_init(&first);
	tn_buf_init(&second);
	tn_print_tree(&first, tree);
	again = tn_parse(&sink, &intern, &arena,
			 tn_sink_add_source(&sink, "p", tn_buf_text(&first),
					    first.len));
	assert_non_null(again);
	assert_int_equal(again->errors, 0);
	tn_print_tree(&second, again);
	assert_string_equal(tn_buf_text(&first), tn_buf_text(&second));
	tn_buf_fini(&second);
	tn_buf_fini(&first);
	tn_arena_fini(&arena);
	tn_intern_fini(&intern);
	tn_sink_fini(&sink);
}

static uint32_t count_errors(const char *text, size_t size)
{
	struct tn_sink sink;
	struct tn_intern intern;
	struct tn_arena arena;
	struct tn_buf formatted;
	struct tn_tree *tree;
	uint32_t file, errors;

	tn_sink_init(&sink);
	tn_intern_init(&intern);
	tn_arena_init(&arena);
	tn_buf_init(&formatted);
	file = tn_sink_add_source(&sink, "mutant", text, size);
	tree = tn_parse(&sink, &intern, &arena, file);
	assert_non_null(tree);
	errors = sink.errors;
	if (errors == 0) {
		check_print(tree);
		assert_true(tn_fmt(&sink, file, &formatted));
	}
	tn_buf_fini(&formatted);
	tn_arena_fini(&arena);
	tn_intern_fini(&intern);
	tn_sink_fini(&sink);
	return errors;
}

/* The text with bytes from `begin` to `end` replaced by `put`. */
static void try_mutant(struct counts *counts, const char *text, size_t size,
		       struct tn_loc cut, const char *put, size_t len)
{
	struct tn_buf mutant;
	uint32_t errors;

	tn_buf_init(&mutant);
	tn_buf_putn(&mutant, text, cut.begin);
	tn_buf_putn(&mutant, put, len);
	tn_buf_putn(&mutant, text + cut.end, size - cut.end);
	assert_false(mutant.failed);
	errors = count_errors(mutant.data, mutant.len);
	counts->invalid += errors > 0;
	counts->single += errors == 1;
	if (errors > counts->most)
		counts->most = errors;
	tn_buf_fini(&mutant);
}

static void measure(struct counts *deleted, struct counts *doubled,
		    const char *text, size_t size)
{
	struct tn_sink sink;
	struct tn_vec tokens;
	uint32_t file;
	size_t i;

	tn_sink_init(&sink);
	tn_vec_init(&tokens, sizeof(struct tn_fmt_token), NULL);
	file = tn_sink_add_source(&sink, "whole", text, size);
	assert_true(tn_fmt_scan(&sink, file, &tokens, NULL));
	for (i = 0; i < tokens.len; i++) {
		const struct tn_fmt_token *token = tn_vec_at(&tokens, i);
		struct tn_loc after = { token->loc.end, token->loc.end };
		char twice[300];
		int len = (int)(token->loc.end - token->loc.begin);

		if (token->kind <= 0 || len > 250)
			continue;
		try_mutant(deleted, text, size, token->loc, "", 0);
		snprintf(twice, sizeof(twice), " %.*s", len,
			 text + token->loc.begin);
		try_mutant(doubled, text, size, after, twice, strlen(twice));
	}
	tn_vec_fini(&tokens);
	tn_sink_fini(&sink);
}

static void check(const char *what, const struct counts *counts)
{
	print_message("%s: %u of %u invalid mutants give one error, most %u\n",
		      what, counts->single, counts->invalid, counts->most);
	assert_true(counts->invalid > 1500);
	assert_true(counts->single * 100 >= counts->invalid * MOST_SINGLE);
	assert_true(counts->most <= TN_DIAG_LIMIT);
}

static void mutants(void **state)
{
	const char *top = getenv("SRCDIR");
	struct counts deleted = { 0 }, doubled = { 0 };
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		char path[1000];
		char *text;
		size_t size;

		snprintf(path, sizeof(path), "%s/%s", top == NULL ? "." : top,
			 files[i]);
		assert_int_equal(tn_file_read(path, &text, &size), 0);
		assert_int_equal(count_errors(text, size), 0);
		measure(&deleted, &doubled, text, size);
		free(text);
	}
	check("deleted", &deleted);
	check("doubled", &doubled);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(mutants) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
