/*
 * Writes doc/operators.md: the rows of the operator table with their signs, the
 * short forms, and the operators of the library, whose text is the argument.
 *
 *   operators grammar/std.tn > doc/operators.md
 *
 * Nothing is described here but the short forms, and of these none may be
 * left out: the program fails if one has no row.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "grammar/elab.h"
#include "ir/infix.h"

static const char *const class_names[] = {
	[TN_CLASS_MAP] = "Element by element",
	[TN_CLASS_REDUCE] = "Reductions",
	[TN_CLASS_SCAN] = "Running reductions",
	[TN_CLASS_CONTRACT] = "Products",
	[TN_CLASS_WINDOW] = "Windows",
	[TN_CLASS_MOVE] = "Moves",
	[TN_CLASS_INDEX] = "Indexing",
	[TN_CLASS_ORDER] = "Order",
	[TN_CLASS_SOURCE] = "Sources",
	[TN_CLASS_FLOW] = "Control flow",
	[TN_CLASS_CUSTOM] = "Others",
};

static const struct {
	const char *name, *usage, *meaning;
} forms[] = {
	{"expand_dims", "x, axes=[..]",
	 "adds axes of size 1, placed as in the result"},
	{"squeeze", "x, axes=[..]", "drops axes of size 1"},
	{"per_channel", "v, like=x, axis=1",
	 "a vector shaped to broadcast along that axis of x"},
	{"stack", "[a, b, ..], axis=0", "joins along a new axis"},
	{"split", "x, axis=, parts=n` or `x, axis=, sizes=[..]",
	 "as many results as pieces"},
	{"full", "[shape], value, elem=", "one value everywhere"},
	{"zeros", "[shape], elem=", "0 everywhere"},
	{"ones", "[shape], elem=", "1 everywhere"},
	{"reduce", "x, \"max\", axes=[..], keep=",
	 "reduction by name: sum prod max min all any"},
	{"argreduce", "x, \"max\", axis=, keep=, last=",
	 "argmax or argmin by name"},
	{"rank", "x", "the number of axes, known when the text is read"},
	{"size", "x, axis", "the size of one axis, a dim expression"},
	{"shape", "x", "the list of sizes"},
	{"elem", "x", "the element type"},
	{"len", "[list]", "the number of entries of a list"},
	{"count", "x, axes=[..]",
	 "the number of elements along axes, a dim expression"},
	{"wide", "x",
	 "in f32 if it is f16 or bf16, else x; of a type, that type"},
	{"load", "\"file.npy\", key=\"name\"",
	 "a constant out of a tensor file"},
	{"run", "f, ..", "calls a function; in a test"},
	{"permute", "[list], p", "the list with entry p[i] at place i"},
	{"inverse", "p", "the order that undoes p"},
	{"take", "[list], n", "the first n entries"},
	{"drop", "[list], n", "all but the first n entries"},
	{"lows", "[[lo, hi], ..]", "the first of each pair"},
	{"highs", "[[lo, hi], ..]", "the second of each pair"},
	{"union", "[a, ..], [b, ..]", "the axes in either, in order"},
};

static const char *kind_text(enum tn_attr_kind kind)
{
	static const char *const names[] = {
		[TN_ATTR_INT] = "int", [TN_ATTR_FLOAT] = "float",
		[TN_ATTR_BOOL] = "bool", [TN_ATTR_STRING] = "string",
		[TN_ATTR_DTYPE] = "elem", [TN_ATTR_INTS] = "ints",
		[TN_ATTR_DIM] = "dim", [TN_ATTR_DIMS] = "dims",
		[TN_ATTR_PAIRS] = "pairs",
	};

	return names[kind];
}

static void put_kinds(unsigned kinds)
{
	static const struct {
		unsigned kind;
		const char *name;
	} table[] = {
		{TN_KIND_F, "float"}, {TN_KIND_I, "signed"},
		{TN_KIND_U, "unsigned"}, {TN_KIND_B, "bool"},
		{TN_KIND_X, "stored"},
	};
	const unsigned all = TN_KIND_F | TN_KIND_I | TN_KIND_U | TN_KIND_B;
	const char *comma = "";
	size_t i;

	if ((kinds & all) == all || !(kinds & all)) {
		fputs(kinds & TN_KIND_X ? "any, stored" : "any", stdout);
		return;
	}
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (kinds & table[i].kind) {
			printf("%s%s", comma, table[i].name);
			comma = ", ";
		}
}

/* `f(a, b, axis: int = -1)` */
static void put_usage(const struct tn_op_info *op)
{
	static const char letters[] = "abcdef";
	int i, least = op->nin_max < 0 ? op->nin_min : op->nin_max;

	printf("%s(", op->name);
	for (i = 0; i < least && i < 6; i++)
		printf("%s%c%s", i ? ", " : "", letters[i],
		       i >= op->nin_min ? "?" : "");
	if (op->nin_max < 0)
		printf("%s..", i ? ", " : "");
	for (i = 0; i < op->nattrs; i++) {
		const struct tn_attr_info *attr = &op->attrs[i];
		bool first = i == 0 && op->nin_max == 0;

		printf("%s%s: %s", first ? "" : ", ", attr->name,
		       kind_text(attr->kind));
		if (attr->fallback)
			printf(attr->kind == TN_ATTR_STRING &&
			       *attr->fallback ? " = \"%s\"" : " = %s",
			       *attr->fallback ? attr->fallback : "none");
	}
	putchar(')');
}

/* `a + b` of the rows of infix.def; a bar would end the cell. */
static void put_signs(enum tn_opcode code)
{
	const char *before = "; written `", *at;
	int i;

	for (i = 0; i < TN_INFIX_COUNT; i++) {
		if (tn_infixes[i].op != code)
			continue;
		fputs(before, stdout);
		if (tn_ops[code].nin_min == 2)
			fputs("a ", stdout);
		for (at = tn_infixes[i].text; *at; at++)
			printf("%s%c", *at == '|' ? "\\" : "", *at);
		fputs(tn_ops[code].nin_min == 2 ? " b`" : "a`", stdout);
		before = ", `";
	}
}

static void put_flags(const struct tn_op_info *op)
{
	if (op->flags & TN_FLAG_ULP2)
		fputs("; within 2 ulp", stdout);
	if (op->onnx && op->onnx[0])
		printf("; ONNX %s", op->onnx);
}

static void put_class(enum tn_op_class class)
{
	int i;

	printf("\n### %s\n\n| operator | types | meaning |\n|---|---|---|\n",
	       class_names[class]);
	for (i = 0; i < TN_OP_COUNT; i++) {
		const struct tn_op_info *op = &tn_ops[i];

		if (op->op_class != class)
			continue;
		fputs("| `", stdout);
		put_usage(op);
		fputs("` | ", stdout);
		put_kinds(op->kinds);
		printf(" | %s", op->doc);
		put_signs((enum tn_opcode)i);
		put_flags(op);
		fputs(" |\n", stdout);
	}
}

static bool put_forms(void)
{
	const size_t count = sizeof(forms) / sizeof(forms[0]);
	const char *name;
	size_t i, k;

	puts("\n## Short forms\n\n| form | meaning |\n|---|---|");
	for (i = 0; i < count; i++)
		printf("| `%s(%s)` | %s |\n", forms[i].name, forms[i].usage,
		       forms[i].meaning);
	for (i = 0; (name = elab_sugar_name(i)); i++) {
		for (k = 0; k < count && strcmp(forms[k].name, name); k++)
			;
		if (k < count)
			continue;
		fprintf(stderr, "operators: '%s' has no row\n", name);
		return false;
	}
	return true;
}

/* The comment right above offset `at`, without marks; NULL: none. */
static char *comment_above(const char *text, size_t at)
{
	size_t begin = at, from = at;
	struct tn_buf buf;

	while (begin > 0) {
		size_t line = begin - 1;

		while (line > 0 && text[line - 1] != '\n')
			line--;
		if (text[line] != '#' || strncmp(text + line, "# ----", 6) == 0)
			break;
		begin = line;
	}
	tn_buf_init(&buf);
	for (from = begin; from < at; from++) {
		size_t len = strcspn(text + from, "\n");

		if (buf.len)
			tn_buf_putc(&buf, ' ');
		if (len > 2)
			tn_buf_putn(&buf, text + from + 2, len - 2);
		from += len;
	}
	return tn_buf_take(&buf);
}

static void put_library_op(const char *text, const struct tn_tree_item *item)
{
	const struct tn_sig *sig = item->u.sig;
	size_t begin = item->span.begin, end = sig->body.span.begin;
	char *comment = comment_above(text, begin);
	size_t i;

	fputs("| `", stdout);
	for (i = begin + 3; i + 1 < end; i++) {
		if (text[i] == '\n')
			putchar(' ');
		else if (text[i] != ' ' || text[i - 1] != ' ')
			putchar(text[i]);
	}
	printf("` | %s |\n", comment ? comment : "");
	free(comment);
}

/* The section, `# ---- Name ----`, that begins between the offsets. */
static void put_section(const char *text, size_t from, size_t to)
{
	const char *at = strstr(text + from, "# ---- ");
	size_t len;

	if (!at || (size_t)(at - text) >= to)
		return;
	len = strcspn(at + 7, "-\n");
	printf("\n### %.*s\n\n| operator | |\n|---|---|\n", (int)len - 1,
	       at + 7);
}

static bool put_library(const char *path)
{
	struct tn_sink sink;
	struct tn_intern names;
	struct tn_arena arena;
	struct tn_tree *tree = NULL;
	char *text = NULL;
	size_t size = 0, done = 0;
	uint32_t file, i;

	tn_sink_init(&sink);
	tn_intern_init(&names);
	tn_arena_init(&arena);
	if (tn_file_read(path, &text, &size) == 0) {
		file = tn_sink_add_source(&sink, path, text, size);
		tree = tn_parse(&sink, &names, &arena, file);
	}
	puts("\n## The library, std.tn");
	for (i = 0; tree && i < tree->len; i++) {
		const struct tn_tree_item *item = tree->at[i];

		if (item->kind != TN_TREE_ITEM_OP)
			continue;
		put_section(text, done, item->span.begin);
		put_library_op(text, item);
		done = item->span.end;
	}
	free(text);
	tn_arena_fini(&arena);
	tn_intern_fini(&names);
	tn_sink_fini(&sink);
	return tree && tree->errors == 0;
}

int main(int argc, char **argv)
{
	static const enum tn_op_class classes[] = {
		TN_CLASS_MAP, TN_CLASS_REDUCE, TN_CLASS_SCAN,
		TN_CLASS_CONTRACT, TN_CLASS_WINDOW, TN_CLASS_MOVE,
		TN_CLASS_INDEX, TN_CLASS_ORDER, TN_CLASS_SOURCE,
		TN_CLASS_FLOW,
	};
	size_t i;

	if (argc != 2)
		return 2;
	puts("# Operators\n\nMade by `make doc/operators.md` from the operator "
	     "table (src/ir/ops.def) and\nthe library (grammar/std.tn). `?` "
	     "marks an operand that may be left out, `none`\nan attribute "
	     "that may be absent. What holds for all of them stands in\n"
	     "[language.md](language.md).\n\n## Primitives");
	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		put_class(classes[i]);
	return put_forms() && put_library(argv[1]) ? 0 : 1;
}
