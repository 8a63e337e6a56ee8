/*
 * The laws of the text, over every .tn file of the sources:
 *
 *   print   parse(print(m)) is m, and prints to the same bytes
 *   passes  so it is after each pass of the pipeline, for each function that
 *           may be an entry and for each target
 *   tree    so it is for the syntax tree of whatever parses
 *   fmt     fmt(fmt(x)) is fmt(x), and the tokens and comments of fmt(x) are
 *           those of x
 *
 * Files that state an error (`#! error`) may fail to check, and those in
 * folders named data, inputs or plugins; no others. A file is one case of the
 * output (TAP). Arguments: files in place of all, for use by hand. -v shows
 * texts that do not parse.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "driver/module.h"
#include "driver/target.h"
#include "grammar/fmt.h"
#include "grammar/syntax.h"
#include "ir/print.h"

struct run {
	int count, failed;
	bool is_verbose;
	const char *top;	/* of the sources */
	const char *file;	/* at work, below top */
	struct tn_buf why;	/* what failed in it, a line each */
};

static void fault(struct run *run, const char *law, const char *stage,
		  const char *text)
{
	tn_buf_putf(&run->why, "#   %s%s%s: %s\n", law, *stage ? " after " : "",
		    stage, text);
}

/* ---- Print ------------------------------------------------------------- */

/* The first line in which the texts differ, from both. */
static void show_difference(struct run *run, const char *law,
			    const char *stage, const char *a, const char *b)
{
	const char *x = a, *y = b;
	struct tn_buf text;
	int line = 1;

	while (*x && *x == *y) {
		if (*x == '\n') {
			a = x + 1;
			b = y + 1;
			line++;
		}
		x++;
		y++;
	}
	tn_buf_init(&text);
	tn_buf_putf(&text, "line %d is `%.*s`, then `%.*s`", line,
		    (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
	fault(run, law, stage, tn_buf_text(&text));
	tn_buf_fini(&text);
}

static void show_messages(struct run *run, const char *stage,
			  struct tenon_context *context)
{
	char *text = NULL;
	enum tenon_status status;

	status = tenon_context_messages(context, TENON_PLAIN, &text);
	if (status == TENON_OK)
		text[strcspn(text, "\n")] = '\0';
	fault(run, "its text does not parse", stage, text ? text : "");
	tenon_text_free(text);
}

/* The law of the printer for a module as it is now. */
static void check_print(struct run *run, struct tenon_module *module,
			const char *stage)
{
	struct tenon_context *context = tenon_context_new();
	struct tenon_module *again = NULL;
	struct tn_buf why;
	char *first = NULL, *second = NULL;

	tn_buf_init(&why);
	tenon_context_set(context, "allow-outside", "yes");
	tenon_module_print(module, &first);
	tenon_parse_text(context, module->path, first, strlen(first), &again);
	if (!again) {
		show_messages(run, stage, context);
		if (run->is_verbose)
			fputs(first, stderr);
	} else {
		tenon_module_print(again, &second);
		if (strcmp(first, second) != 0)
			show_difference(run, "print", stage, first, second);
		else if (!tn_module_equal(module->ir, again->ir, &why))
			fault(run, "equality", stage, tn_buf_text(&why));
	}
	tenon_text_free(first);
	tenon_text_free(second);
	tenon_module_free(again);
	tenon_context_free(context);
	tn_buf_fini(&why);
}

/* ---- Passes ------------------------------------------------------------ */

/* Runs the default pipeline step by step on a fresh module. */
static void check_passes(struct run *run, const char *path, const char *fn,
			 const char *target_name)
{
	struct tenon_context *context = tenon_context_new();
	struct tenon_module *module = NULL;
	char list[256], stage[400], *pass, *rest = list;
	struct tn_target target;
	struct tn_fn *entry;

	snprintf(list, sizeof(list), "%s", tn_pipeline_default(true));
	tenon_context_set(context, "allow-outside", "yes");
	tenon_context_set(context, "target", target_name);
	tenon_parse_file(context, path, &module);
	entry = module ? tn_module_entry(module->ir, fn) : NULL;
	if (!entry || tn_target_pick(context, &target) != TN_OK)
		fault(run, "passes", fn, "cannot begin");
	while (entry && (pass = strtok_r(rest, ",", &rest))) {
		snprintf(stage, sizeof(stage), "%s of %s for %s", pass, fn,
			 target_name);
		if (tn_module_pipeline(module, &entry, &target, pass)) {
			fault(run, "passes", stage, "fails");
			break;
		}
		check_print(run, module, stage);
		if (run->why.len > 2000)
			break;
	}
	tenon_module_free(module);
	tenon_context_free(context);
}

static bool is_entry(const struct tn_fn *fn)
{
	return fn->kind == TN_FN_PLAIN && !fn->is_library;
}

static void check_all_passes(struct run *run, const char *path,
			     const struct tenon_module *module)
{
	static const char *const targets[] = {"c:generic", "cuda:sm_80"};
	size_t i, t;

	for (i = 0; i < module->ir->fns.len; i++) {
		const struct tn_fn *fn = tn_vec_ptr(&module->ir->fns, i);

		for (t = 0; t < 2 && is_entry(fn); t++)
			check_passes(run, path, fn->name, targets[t]);
	}
}

/* ---- Format ------------------------------------------------------------ */

/* Tokens and comments, one a line. */
static bool put_tokens(struct tn_buf *out, const char *text)
{
	struct tn_sink sink;
	struct tn_vec tokens;
	uint32_t file;
	bool ok;
	size_t i;

	tn_sink_init(&sink);
	tn_vec_init(&tokens, sizeof(struct tn_fmt_token), NULL);
	file = tn_sink_add_source(&sink, "f", text, strlen(text));
	ok = file && tn_fmt_scan(&sink, file, &tokens, NULL);
	for (i = 0; ok && i < tokens.len; i++) {
		const struct tn_fmt_token *token = tn_vec_at(&tokens, i);

		tn_buf_putn(out, text + token->loc.begin,
			    token->loc.end - token->loc.begin);
		tn_buf_putc(out, '\n');
	}
	tn_vec_fini(&tokens);
	tn_sink_fini(&sink);
	return ok;
}

static void check_fmt(struct run *run, const char *text)
{
	struct tenon_context *context = tenon_context_new();
	struct tn_buf before, after;
	char *first = NULL, *second = NULL;

	tn_buf_init(&before);
	tn_buf_init(&after);
	tenon_format(context, "f", text, strlen(text), &first);
	if (first)
		tenon_format(context, "f", first, strlen(first), &second);
	if (!second)
		fault(run, "fmt", "", "is refused");
	else if (strcmp(first, second) != 0)
		show_difference(run, "fmt again", "", first, second);
	else if (!put_tokens(&before, text) || !put_tokens(&after, first))
		fault(run, "fmt", "", "cannot be scanned");
	else if (strcmp(tn_buf_text(&before), tn_buf_text(&after)) != 0)
		show_difference(run, "fmt tokens", "", tn_buf_text(&before),
				tn_buf_text(&after));
	tn_buf_fini(&before);
	tn_buf_fini(&after);
	tenon_text_free(first);
	tenon_text_free(second);
	tenon_context_free(context);
}

/* ---- Files ------------------------------------------------------------- */

static bool has_error(const char *text)
{
	return strstr(text, "#! error") || strstr(text, "#! exit:");
}

/* What tests read need not be right, nor what is written for plug-ins. */
static bool is_material(const char *file)
{
	return strstr(file, "/data/") || strstr(file, "/inputs/") ||
		strstr(file, "/plugins/");
}

/* Examples, operators and texts of the language go through the passes. */
static bool goes_on(const struct run *run, const char *file)
{
	return strncmp(file, "tests/", 6) != 0 || !run->top ||
	       strncmp(file, "tests/ops/", 10) == 0 ||
	       strncmp(file, "tests/lang/", 11) == 0 ||
	       strncmp(file, "tests/cli/", 10) == 0;
}

/* The syntax tree as text; false: it does not parse. */
static bool print_tree(const char *text, struct tn_buf *out)
{
	struct tn_sink sink;
	struct tn_intern intern;
	struct tn_arena arena;
	struct tn_tree *tree;
	uint32_t file;
	bool ok;

	tn_sink_init(&sink);
	tn_intern_init(&intern);
	tn_arena_init(&arena);
	file = tn_sink_add_source(&sink, "f", text, strlen(text));
	tree = tn_parse(&sink, &intern, &arena, file);
	ok = tree && tree->errors == 0;
	if (ok)
		tn_print_tree(out, tree);
	tn_arena_fini(&arena);
	tn_intern_fini(&intern);
	tn_sink_fini(&sink);
	return ok;
}

/* The law of the tree's printer; false: the text does not parse. */
static bool check_tree(struct run *run, const char *text)
{
	struct tn_buf first, second;
	bool ok;

	tn_buf_init(&first);
	tn_buf_init(&second);
	ok = print_tree(text, &first);
	if (ok && !print_tree(tn_buf_text(&first), &second))
		fault(run, "tree", "", "its text does not parse");
	else if (ok && strcmp(tn_buf_text(&first), tn_buf_text(&second)) != 0)
		show_difference(run, "tree", "", tn_buf_text(&first),
				tn_buf_text(&second));
	tn_buf_fini(&first);
	tn_buf_fini(&second);
	return ok;
}

/* The laws of the module; false: it does not parse. */
static bool check_module(struct run *run, const char *path, bool all)
{
	struct tenon_context *context = tenon_context_new();
	struct tenon_module *module = NULL;

	tenon_context_set(context, "allow-outside", "yes");
	tenon_parse_file(context, path, &module);
	if (module) {
		check_print(run, module, "");
		if (all)
			check_all_passes(run, path, module);
	}
	tenon_module_free(module);
	tenon_context_free(context);
	return module != NULL;
}

static void check_file(struct run *run, const char *path, const char *file)
{
	const char *skip = "";
	char *text;
	size_t size;

	run->file = file;
	tn_buf_init(&run->why);
	if (tn_file_read(path, &text, &size)) {
		fault(run, "file", "", "cannot be read");
		text = NULL;
	} else if (strlen(text) == size && check_tree(run, text)) {
		check_fmt(run, text);
		if (!check_module(run, path, goes_on(run, file))) {
			skip = " # SKIP no module";
			if (!has_error(text) && !is_material(file))
				fault(run, "check", "", "fails");
		}
	} else if (has_error(text) || is_material(file)) {
		skip = " # SKIP no module";
	} else {
		fault(run, "parse", "", "fails");
	}
	free(text);
	run->failed += run->why.len > 0;
	printf("%sok %d - %s%s\n%s", run->why.len ? "not " : "", ++run->count,
	       file, run->why.len ? "" : skip, tn_buf_text(&run->why));
	fflush(stdout);
	tn_buf_fini(&run->why);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_tn(const char *name)
{
	size_t len = strlen(name);

	return len > 3 && strcmp(name + len - 3, ".tn") == 0;
}

/* All files below top/folder. */
static void check_folder(struct run *run, const char *folder)
{
	struct dirent **entries = NULL;
	char path[4096];
	struct stat info;
	int count, i;

	snprintf(path, sizeof(path), "%s/%s", run->top, folder);
	count = scandir(path, &entries, NULL, by_name);
	for (i = 0; i < count; i++) {
		const char *name = entries[i]->d_name;
		char file[2048];

		snprintf(file, sizeof(file), "%s/%s", folder, name);
		snprintf(path, sizeof(path), "%s/%s", run->top, file);
		if (name[0] != '.' && stat(path, &info) == 0) {
			if (S_ISDIR(info.st_mode))
				check_folder(run, file);
			else if (is_tn(name))
				check_file(run, path, file);
		}
		free(entries[i]);
	}
	free(entries);
}

int main(int argc, char **argv)
{
	static const char *const folders[] = {
		"grammar", "passes", "examples", "tests", "bench",
	};
	struct run run = {0};
	size_t f;
	int i = 1;

	if (i < argc && strcmp(argv[i], "-v") == 0) {
		run.is_verbose = true;
		i++;
	}
	if (i < argc) {
		for (; i < argc; i++)
			check_file(&run, argv[i], argv[i]);
	} else {
		run.top = getenv("SRCDIR") ? getenv("SRCDIR") : ".";
		for (f = 0; f < sizeof(folders) / sizeof(folders[0]); f++)
			check_folder(&run, folders[f]);
	}
	printf("1..%d\n", run.count);
	return run.failed > 0;
}
