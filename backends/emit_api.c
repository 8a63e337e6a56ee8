/*
 * The functions of the emitted interface but the run; see emit_api.h.
 */
#include "backends/emit_api.h"

#include <string.h>

#include "backends/emit_print.h"
#include "base/ascii.h"
#include "ir/print.h"

/* Longest name in a table; compilers may refuse long strings. */
#define TEXT_LIMIT 1000

/* Ends a text that was printed into `out`, which fails if the text did. */
static void end_text(struct tn_buf *text, struct tn_buf *out)
{
	if (text->failed)
		out->failed = true;
	tn_buf_fini(text);
}

/* ---- The signature as text ---- */

static void put_port(struct tn_buf *out, const char *name,
		     const struct tn_type *type,
		     const struct tn_layout *layout)
{
	if (name) {
		tn_print_name(out, name);
		tn_buf_put(out, ": ");
	}
	tn_type_print(out, type);
	tn_print_layout(out, layout);
}

void tn_api_signature(const struct tn_host *host, struct tn_buf *out)
{
	const struct tn_vec *syms = &host->module->dims.syms;
	const struct tn_fn *fn = host->entry;
	const struct tn_dim *dim;
	size_t k;
	int i;

	for (k = 0; k < syms->len; k++) {
		dim = tn_vec_ptr(syms, k);
		tn_buf_put(out, "dim ");
		tn_print_name(out, dim->sym->name);
		tn_buf_putf(out, " in [%lld, %lld]", (long long)dim->sym->lo,
			    (long long)dim->sym->hi);
		if (dim->sym->mod > 1)
			tn_buf_putf(out, " mod %lld",
				    (long long)dim->sym->mod);
		tn_buf_put(out, ";\n");
	}
	tn_buf_put(out, "fn ");
	tn_print_name(out, fn->name);
	tn_buf_putc(out, '(');
	for (i = 0; i < fn->body->nparams; i++) {
		tn_buf_put(out, i ? ", " : "");
		put_port(out, fn->body->params[i]->name,
			 fn->body->params[i]->type,
			 fn->body->params[i]->layout);
	}
	tn_buf_put(out, ") -> (");
	for (i = 0; i < fn->nresults; i++) {
		tn_buf_put(out, i ? ", " : "");
		put_port(out, fn->result_names ? fn->result_names[i] : NULL,
			 fn->result_types[i], tn_fn_result_layout(fn, i));
	}
	tn_buf_put(out, ");\n");
}

void tn_api_named(struct tn_buf *out, const char *text, const char *name)
{
	const char *begin = text;

	for (; *text; text++) {
		bool starts = text == begin ||
			!tn_ascii_is_word(text[-1]);

		if (*text == 'N' && starts &&
		    (text[1] == '_' || text[1] == '.'))
			tn_buf_put(out, name);
		else
			tn_buf_putc(out, *text);
	}
}

/* ---- Tables ---- */

/* C compilers need not take strings beyond 4095 characters. */
void tn_api_literal(struct tn_buf *out, const char *text)
{
	size_t len = strlen(text), i;

	if (len < 4000) {
		tn_emit_string(out, text);
		return;
	}
	tn_buf_put(out, "{");
	for (i = 0; i < len; i++)
		tn_buf_putf(out, (text[i] & 0x80) ? "%s(char)%d," : "%s%d,",
			    i % 16 ? " " : "\n\t\t",
			    (unsigned char)text[i]);
	tn_buf_put(out, " 0\n\t}");
}

static void put_describe(const struct tn_host *host, struct tn_buf *out)
{
	struct tn_buf text;

	tn_buf_init(&text);
	tn_api_signature(host, &text);
	tn_buf_putf(out, "const char *%s_describe(void)\n{\n\tstatic const "
		    "char text[] = ", host->name);
	tn_api_literal(out, tn_buf_text(&text));
	tn_buf_put(out, ";\n\n\treturn text;\n}\n\n");
	end_text(&text, out);
}

/* A function from numbers to texts. */
static void open_table(struct tn_buf *out, const struct tn_host *host,
		       const char *function, const char *argument)
{
	tn_buf_putf(out, "const char *%s_%s(int %s)\n{\n\tstatic const char "
		    "*const texts[] = {\n", host->name, function, argument);
}

static void close_table(struct tn_buf *out, const char *argument, int count)
{
	tn_buf_putf(out, "\t\tNULL\n\t};\n\n\treturn %s < 0 || %s > %d ? NULL "
		    ": texts[%s];\n}\n\n", argument, argument, count,
		    argument);
}

static void put_text(struct tn_buf *out, const char *text)
{
	size_t len = strlen(text);
	struct tn_buf start;

	tn_buf_init(&start);
	tn_buf_putn(&start, text, len < TEXT_LIMIT ? len : TEXT_LIMIT);
	if (len > TEXT_LIMIT)
		tn_buf_put(&start, "..");
	tn_buf_put(out, "\t\t");
	tn_emit_string(out, tn_buf_text(&start));
	tn_buf_put(out, ",\n");
	end_text(&start, out);
}

static void put_names(const struct tn_host *host, struct tn_buf *out)
{
	const struct tn_vec *syms = &host->module->dims.syms;
	const struct tn_fn *fn = host->entry;
	const struct tn_dim *dim;
	size_t k;
	int i;

	open_table(out, host, "dim_name", "number");
	for (k = 0; k < syms->len; k++) {
		dim = tn_vec_ptr(syms, k);
		put_text(out, dim->sym->name);
	}
	close_table(out, "number", (int)syms->len);
	open_table(out, host, "input_name", "number");
	for (i = 0; i < fn->body->nparams; i++)
		put_text(out, fn->body->params[i]->name);
	close_table(out, "number", fn->body->nparams);
	open_table(out, host, "output_name", "number");
	for (i = 0; i < fn->nresults; i++)
		put_text(out, fn->result_names && fn->result_names[i] ?
			 fn->result_names[i] : "");
	close_table(out, "number", fn->nresults);
}

static void put_bytes(struct tn_host *host, struct tn_buf *out,
		      const struct tn_type *type, int number)
{
	int i;

	tn_buf_putf(out, "\tcase %d:\n\t\treturn (size_t)(%d", number,
		    tn_dtype_bytes(type->dtype));
	for (i = 0; i < type->rank; i++) {
		tn_buf_put(out, " * ");
		tn_emit_dim(out, host->need, type->dims[i], TN_LEVEL_MUL + 1,
			    tn_host_spell, host);
	}
	tn_buf_put(out, ");\n");
}

static void put_size(struct tn_host *host, struct tn_buf *out, bool is_input)
{
	const struct tn_fn *fn = host->entry;
	int i, n = is_input ? fn->body->nparams : fn->nresults;

	tn_buf_putf(out, "size_t %s_%s_bytes(int number, const int64_t "
		    "*dims)\n{\n\t(void)dims;\n\tswitch (number) {\n",
		    host->name, is_input ? "input" : "output");
	for (i = 0; i < n; i++)
		put_bytes(host, out, is_input ? fn->body->params[i]->type :
			  fn->result_types[i], i);
	tn_buf_put(out, "\tdefault:\n\t\treturn 0;\n\t}\n}\n\n");
}

/* Without folders: the text must not depend on where the module lies. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_block_places(const struct tn_host *host,
			     const struct tn_block *block,
			     struct tn_buf *out, int *count)
{
	const struct tn_op *op;
	struct tn_buf text;
	uint32_t row, column;
	const char *file;
	int i;

	for (op = block->first; op; op = op->next) {
		for (i = 0; i < op->nregions; i++)
			put_block_places(host, op->regions[i], out, count);
		if (op->code != TN_OP_launch)
			continue;
		tn_buf_init(&text);
		file = tn_sink_place(host->module->sink, op->span, &row,
				     &column);
		if (file)
			tn_buf_putf(&text, "%s:%u:%u: ", base_name(file),
				    (unsigned)row, (unsigned)column);
		tn_buf_put(&text, op->nout ? op->out[0]->name :
			   op->kernel->name);
		put_text(out, tn_buf_text(&text));
		end_text(&text, out);
		(*count)++;
	}
}

static void put_places(const struct tn_host *host, struct tn_buf *out)
{
	int count = 0;

	open_table(out, host, "place", "op");
	put_block_places(host, host->entry->body, out, &count);
	close_table(out, "op", count);
}

void tn_api_seal(const struct tn_weights *weights, struct tn_buf *out)
{
	int i;

	tn_buf_put(out, "/* The first bytes of the weights: magic, size, "
		   "digest. */\nstatic const unsigned char tn_seal[48] = {\n"
		   "\t0x54, 0x4e, 0x57, 0x47, 0x48, 0x54, 0x31, 0x00");
	for (i = 0; i < 8; i++)
		tn_buf_putf(out, ",%s0x%02x", i ? " " : "\n\t",
			    (unsigned)((uint64_t)weights->size >> 8 * i &
				       0xff));
	for (i = 0; i < 32; i++)
		tn_buf_putf(out, ",%s0x%02x", i % 8 ? " " : "\n\t",
			    weights->digest[i]);
	tn_buf_put(out, "\n};\n\n");
}

static void put_block_reasons(struct tn_host *host,
			      const struct tn_block *block,
			      struct tn_buf *out, int *count)
{
	const struct tn_op *op;
	const char *message;
	int i;

	for (op = block->first; op; op = op->next) {
		for (i = 0; i < op->nregions; i++)
			put_block_reasons(host, op->regions[i], out, count);
		if (op->code != TN_OP_launch)
			continue;
		message = tn_message_of(&host->arena, op);
		if (message) {
			tn_buf_putf(out, "\tcase %d: {\n\t\tstatic const char "
				    "text[] = ", *count);
			tn_api_literal(out, message);
			tn_buf_put(out, ";\n\n\t\treturn text;\n\t}\n");
		}
		(*count)++;
	}
}

static void put_reasons(struct tn_host *host, struct tn_buf *out)
{
	struct tn_buf cases;
	int count = 0;

	tn_buf_init(&cases);
	put_block_reasons(host, host->entry->body, &cases, &count);
	out->failed = out->failed || host->arena.failed;
	tn_buf_putf(out, "const char *%s_reason(int op)\n{\n", host->name);
	if (cases.len)
		tn_buf_putf(out, "\tswitch (op) {\n%s\tdefault:\n"
			    "\t\treturn NULL;\n\t}\n}\n\n",
			    tn_buf_text(&cases));
	else
		tn_buf_put(out, "\t(void)op;\n\treturn NULL;\n}\n\n");
	end_text(&cases, out);
}

/* ---- Functions and statements ---- */

void tn_api_dialect(struct tn_dialect *dialect)
{
	memset(dialect, 0, sizeof(*dialect));
	dialect->function = "static inline";
	dialect->raise = dialect->flags = dialect->raise_here = "";
	dialect->bits_f32 = "\tfloat r;\n\n\tmemcpy(&r, &a, sizeof r);\n"
		"\treturn r;\n";
	dialect->f32_bits = "\tuint32_t r;\n\n\tmemcpy(&r, &a, sizeof r);\n"
		"\treturn r;\n";
	dialect->bits_f64 = "\tdouble r;\n\n\tmemcpy(&r, &a, sizeof r);\n"
		"\treturn r;\n";
	dialect->f64_bits = "\tuint64_t r;\n\n\tmemcpy(&r, &a, sizeof r);\n"
		"\treturn r;\n";
	dialect->mac_f32 = dialect->mac_f64 = "\treturn acc + a * b;\n";
}

void tn_api_helpers(const struct tn_host *host, int count,
		    const struct tn_api_helper *helpers, int ntexts,
		    const struct tn_buf *const *texts, struct tn_buf *out)
{
	bool is_called;
	int i, k;

	for (i = 0; i < count; i++) {
		is_called = false;
		for (k = 0; k < ntexts && !is_called; k++)
			is_called = strstr(tn_buf_text(texts[k]),
					   helpers[i].call) != NULL;
		if (is_called)
			tn_api_named(out, helpers[i].text, host->name);
	}
}

void tn_api_context(const struct tn_host *host, struct tn_buf *out)
{
	if (tn_print_is_used(host))
		tn_buf_putf(out, "\tconst struct %s_ctx *ctx;\n", host->name);
}

void tn_api_set_context(const struct tn_host *host, struct tn_buf *out)
{
	if (tn_print_is_used(host))
		tn_buf_put(out, "\ts->ctx = ctx;\n");
}

void tn_api_most(struct tn_host *host, struct tn_buf *out)
{
	const struct tn_vec *syms = &host->module->dims.syms;
	const struct tn_dim *dim;
	size_t i;

	for (i = 0; i < syms->len; i++) {
		dim = tn_vec_ptr(syms, i);
		if (dim->sym->is_runtime)
			tn_buf_putf(out, "\tdims[%s_DIM_%s] = "
				    "INT64_C(%lld);\n", host->name,
				    tn_host_sym(host, dim->sym),
				    (long long)dim->sym->hi);
	}
}

void tn_api_tables(struct tn_host *host, struct tn_buf *out)
{
	put_describe(host, out);
	put_names(host, out);
	put_size(host, out, true);
	put_size(host, out, false);
	put_places(host, out);
	put_reasons(host, out);
	tn_print_text(host, out);
	while (out->len > 1 && out->data[out->len - 2] == '\n')
		out->data[--out->len] = 0;
}
