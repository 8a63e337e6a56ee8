/*
 * NAME.h, the same for every back end but for some words of its own.
 */
#include "backends/emit_api.h"

#include "backends/emit_print.h"
#include "base/ascii.h"

/* `TN_NAME_H` */
static void put_include_guard(const struct tn_host *host, struct tn_buf *out)
{
	const char *at;

	tn_buf_put(out, "TN_");
	for (at = host->name; *at; at++)
		tn_buf_putc(out, tn_ascii_upper(*at));
	tn_buf_put(out, "_H");
}

/* In lines of a block comment. */
static void put_signature_comment(const struct tn_host *host,
				  struct tn_buf *out)
{
	struct tn_buf text;

	tn_buf_init(&text);
	tn_api_signature(host, &text);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = 0;
	tn_buf_put(out, " * ");
	tn_emit_comment(out, tn_buf_text(&text), " * ");
	tn_buf_putc(out, '\n');
	out->failed = out->failed || text.failed;
	tn_buf_fini(&text);
}

/* `enum { NAME_DIM_x .. }`, if there are dims. */
static void put_dims(struct tn_host *host, struct tn_buf *out)
{
	const struct tn_vec *syms = &host->module->dims.syms;
	const struct tn_dim *dim;
	struct tn_buf text;
	size_t i;

	if (!syms->len)
		return;
	tn_buf_put(out, "/* Slots of `dims`. */\nenum {\n");
	for (i = 0; i < syms->len; i++) {
		dim = tn_vec_ptr(syms, i);
		tn_buf_init(&text);
		tn_buf_putf(&text, "%s in [%lld, %lld]%s", dim->sym->name,
			    (long long)dim->sym->lo, (long long)dim->sym->hi,
			    dim->sym->is_runtime ? ", set by the run" : "");
		tn_buf_putf(out, "\t%s_DIM_%s = %d%s\t/* ", host->name,
			    tn_host_sym(host, dim->sym), (int)i,
			    i + 1 < syms->len ? "," : "");
		tn_emit_comment(out, tn_buf_text(&text), "");
		tn_buf_put(out, " */\n");
		out->failed = out->failed || text.failed;
		tn_buf_fini(&text);
	}
	tn_buf_put(out, "};\n\n");
}

static const char raised[] =
"\t/* outputs are written, but an index was out of range\n"
"\t\t\t * or an integer was divided by zero */\n";

static void put_status(const struct tn_host *host,
		       const struct tn_api_header *api, struct tn_buf *out)
{
	tn_api_named(out, "enum N_status {\n"
		     "\tN_OK = 0,\n"
		     "\tN_BAD_DIM = 1,\t/* a dim is out of bounds, or a guard "
		     "is violated */\n"
		     "\tN_BAD_WEIGHTS = 2,\t/* not the weights of this "
		     "program */\n", host->name);
	tn_api_named(out, *api->status ? "\tN_RAISED = 3," :
		     "\tN_RAISED = 3", host->name);
	tn_buf_put(out, raised);
	tn_api_named(out, api->status, host->name);
	tn_buf_put(out, "};\n\n");
}

static const char report[] =
"/* What went wrong, for those who ask. */\n"
"struct N_report {\n"
"\tint fault;\t/* BAD_DIM: number of the dim, or N_DIMS + number of\n"
"\t\t\t * the guard; else -1 */\n"
"\tint op;\t\t/* RAISED: number of the launch, see N_place; else -1 */\n"
"\tuint32_t flags;\t/* 1 division, 2 index, 4 shift, 8 assertion */\n";

static const char tables[] =
"/* The signature as Tenon text. */\n"
"const char *N_describe(void);\n"
"/* Names (their first 1000 bytes) and sizes in bytes by number; NULL and 0 if\n"
" * there is none. */\n"
"const char *N_dim_name(int number);\n"
"const char *N_input_name(int number);\n"
"const char *N_output_name(int number);\n"
"size_t N_input_bytes(int number, const int64_t *dims);\n"
"size_t N_output_bytes(int number, const int64_t *dims);\n"
"/* The place in the source of launch `op` of a report, \"file:line:column: "
"name\". */\n"
"const char *N_place(int op);\n"
"/* What the assertion of launch `op` of a report says; NULL: nothing. */\n"
"const char *N_reason(int op);\n";

static void put_declarations(const struct tn_host *host,
			     const struct tn_api_header *api,
			     struct tn_buf *out)
{
	const char *name = host->name;

	put_status(host, api, out);
	tn_api_named(out, report, name);
	tn_api_named(out, api->report, name);
	tn_api_named(out, "};\n\n", name);
	tn_print_declare(host, out);
	tn_api_named(out, "struct N_ctx {\n", name);
	tn_api_named(out, api->context, name);
	tn_api_named(out, "\tstruct N_report *report;\t/* NULL, or one for "
		     "each concurrent run */\n"
		     "\t/* Gets what the program prints, in order; NULL, as "
		     "N_init sets it: nothing\n\t * is printed. */\n"
		     "\tvoid (*print)(void *data, const struct N_printed "
		     "*value);\n\tvoid *print_data;\n};\n\n", name);
	tn_api_named(out, api->functions, name);
	tn_api_named(out, tables, name);
	tn_print_declare_text(host, out);
}

void tn_api_header(struct tn_host *host, const struct tn_api_header *api,
		   struct tn_buf *out)
{
	tn_buf_putf(out, "/*\n * %s, written by Tenon%s.\n *\n", host->name,
		    api->target);
	put_signature_comment(host, out);
	tn_buf_put(out, " */\n#ifndef ");
	put_include_guard(host, out);
	tn_buf_put(out, "\n#define ");
	put_include_guard(host, out);
	tn_buf_put(out, "\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
		   "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
	tn_buf_putf(out, "#define %s_INPUTS %d\n#define %s_OUTPUTS %d\n"
		    "#define %s_DIMS %d\n"
		    "/* Whether there is a `print`, and so %s_print_text. */\n"
		    "#define %s_PRINTS %d\n", host->name,
		    host->entry->body->nparams, host->name,
		    host->entry->nresults, host->name,
		    (int)host->module->dims.syms.len, host->name, host->name,
		    tn_print_is_used(host));
	tn_api_named(out, api->sizes, host->name);
	put_dims(host, out);
	put_declarations(host, api, out);
	tn_buf_put(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
}
