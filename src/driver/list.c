/*
 * Tables of what there is, as lines or JSON; long texts of codes.
 */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "driver/external.h"
#include "driver/target.h"
#include "grammar/elaborate.h"
#include "ir/op.h"
#include "passes/pass.h"

struct row {
	const char *name, *summary, *extra_name, *extra;
};

/* Where a table goes, and of whom. */
struct listing {
	const struct tenon_context *context;
	struct tn_buf *out;
	bool json;
};

static void put_row(const struct listing *to, const struct row *row)
{
	struct tn_buf *out = to->out;

	if (!to->json) {
		tn_buf_putf(out, "%-14s %s\n", row->name, row->summary);
		return;
	}
	tn_buf_put(out, "{\"name\":");
	tn_buf_put_json(out, row->name);
	tn_buf_put(out, ",\"summary\":");
	tn_buf_put_json(out, row->summary);
	if (row->extra) {
		tn_buf_putf(out, ",\"%s\":", row->extra_name);
		tn_buf_put_json(out, row->extra);
	}
	tn_buf_put(out, "}\n");
}

static void list_passes(const struct listing *to)
{
	const struct tn_pass *pass;
	size_t k;
	int i;

	for (i = 0; i < tn_npasses; i++)
		put_row(to, &(struct row){ tn_passes[i].name,
						  tn_passes[i].summary,
						  NULL, NULL });
	put_row(to, &(struct row){ TN_EXTERNAL, "a program reads the module's "
				   "text and writes one", NULL, NULL });
	for (k = 0; k < to->context->passes.len; k++) {
		pass = tn_vec_ptr(&to->context->passes, k);
		put_row(to, &(struct row){ pass->name, pass->summary,
					   "plugin", pass->owner });
	}
}

static const char *const class_names[] = {
	"map", "reduce", "scan", "contract", "window", "move", "index",
	"order", "source", "flow", "custom"
};

static void list_ops(const struct listing *to)
{
	int i;

	for (i = 0; i < TN_OP_COUNT; i++)
		put_row(to, &(struct row){
			tn_ops[i].name, tn_ops[i].doc, "class",
			class_names[tn_ops[i].op_class] });
}

static void list_codes(const struct listing *to)
{
	int i;

	for (i = 0; i < TN_CODE_COUNT; i++)
		put_row(to, &(struct row){
			tn_codes[i].name, tn_codes[i].title, "severity",
			tn_codes[i].severity == TN_ERROR ? "error" :
			"warning" });
}

static void list_dtypes(const struct listing *to)
{
	char text[80];
	int i;

	for (i = 0; i < TN_DTYPE_COUNT; i++) {
		const struct tn_dtype_info *info = &tn_dtypes[i];

		snprintf(text, sizeof(text), "%d byte%s, %s", info->bytes,
			 info->bytes == 1 ? "" : "s",
			 info->kind == TN_KIND_F ? "float" :
			 info->kind == TN_KIND_I ? "signed integer" :
			 info->kind == TN_KIND_U ? "unsigned integer" :
			 info->kind == TN_KIND_B ? "truth value" :
			 "stored only: `cast` reads it");
		put_row(to, &(struct row){ info->name, text, NULL,
						  NULL });
	}
}

static void list_facts(const struct listing *to)
{
	struct row row = {NULL, NULL, NULL, NULL};
	int i;

	for (i = 0; (row.name = tn_elab_fact(i, &row.summary)); i++)
		put_row(to, &row);
}

static void list_targets(const struct listing *to)
{
	tn_target_list(to->context, to->out, to->json);
}

static const struct {
	const char *name;
	void (*put)(const struct listing *to);
} tables[] = {
	{ "passes", list_passes }, { "ops", list_ops },
	{ "targets", list_targets }, { "codes", list_codes },
	{ "dtypes", list_dtypes }, { "facts", list_facts }
};
#define NTABLES (sizeof(tables) / sizeof(*tables))

enum tenon_status tenon_list(struct tenon_context *context, const char *what,
			     bool json, char **out)
{
	const char *names[NTABLES];
	struct tn_buf buf;
	size_t i;

	*out = NULL;
	if (!context || !what)
		return TENON_USAGE;
	for (i = 0; i < NTABLES; i++) {
		names[i] = tables[i].name;
		if (strcmp(names[i], what))
			continue;
		tn_buf_init(&buf);
		tables[i].put(&(struct listing){ context, &buf, json });
		return tn_context_text(context, &buf, out);
	}
	tn_context_suggest(context,
			   tn_context_report(context, TN_E0004,
					     "there is no table '%s'", what),
			   what, names, NTABLES,
			   "there are passes, ops, targets, codes, dtypes, "
			   "facts");
	return tn_context_end(context, TN_USAGE);
}

/* Wraps at 78 columns; line breaks of the text stay. */
static void put_wrapped(struct tn_buf *out, const char *text)
{
	size_t column = 0, len;

	while (*text) {
		len = strcspn(text, " \n");
		if (column && column + 1 + len > 78) {
			tn_buf_putc(out, '\n');
			column = 0;
		} else if (column) {
			tn_buf_putc(out, ' ');
			column++;
		}
		tn_buf_putn(out, text, len);
		column += len;
		text += len;
		if (*text == '\n') {
			tn_buf_putc(out, '\n');
			column = 0;
		}
		if (*text)
			text++;
	}
	tn_buf_putc(out, '\n');
}

enum tenon_status tenon_explain_code(struct tenon_context *context,
				     const char *code, char **out)
{
	const char *names[TN_CODE_COUNT + 1];
	enum tn_code found;
	struct tn_buf buf;
	char upper[16];
	int i;

	*out = NULL;
	if (!context || !code)
		return TENON_USAGE;
	snprintf(upper, sizeof(upper), "%s", code);
	upper[0] = tn_ascii_upper(upper[0]);
	found = tn_code_find(upper);
	if (found < TN_CODE_COUNT) {
		tn_buf_init(&buf);
		tn_buf_putf(&buf, "%s: %s\n\n", tn_codes[found].name,
			    tn_codes[found].title);
		put_wrapped(&buf, tn_codes[found].text);
		return tn_context_text(context, &buf, out);
	}
	for (i = 0; i < TN_CODE_COUNT; i++)
		names[i] = tn_codes[i].name;
	tn_context_suggest(context,
			   tn_context_report(context, TN_E0004,
					     "there is no code '%s'", code),
			   upper, names, TN_CODE_COUNT,
			   "`tenon list codes` names them");
	return tn_context_end(context, TN_USAGE);
}
