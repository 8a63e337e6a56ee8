/*
 * NAME.h, and the functions of NAME.c that it declares.
 */
#include "backends/c/c_impl.h"

#include <ctype.h>
#include <string.h>

#include "ir/print.h"

/* Spare stack for calls and spilled registers. */
#define STACK_MARGIN 16384

/* ---- The signature as text ---- */

static void put_port(struct tn_buf *out, const char *name,
		     const struct tn_type *type)
{
	if (name) {
		tn_print_name(out, name);
		tn_buf_put(out, ": ");
	}
	tn_type_print(out, type);
}

static void put_signature(const struct tn_c *c, struct tn_buf *out)
{
	const struct tn_vec *syms = &c->module->dims.syms;
	const struct tn_fn *fn = c->entry;
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
			 fn->body->params[i]->type);
	}
	tn_buf_put(out, ") -> (");
	for (i = 0; i < fn->nresults; i++) {
		tn_buf_put(out, i ? ", " : "");
		put_port(out, fn->result_names ? fn->result_names[i] : NULL,
			 fn->result_types[i]);
	}
	tn_buf_put(out, ");\n");
}

/* ---- NAME.h ---- */

static void put_upper(struct tn_buf *out, const char *text)
{
	for (; *text; text++)
		tn_buf_putc(out, (char)toupper((unsigned char)*text));
}

static void put_comment_lines(struct tn_buf *out, const char *text)
{
	struct tn_buf copy;

	tn_buf_init(&copy);
	tn_buf_put(&copy, text);
	while (copy.len && copy.data[copy.len - 1] == '\n')
		copy.data[--copy.len] = 0;
	tn_buf_put(out, " * ");
	tn_emit_comment(out, tn_buf_text(&copy), " * ");
	tn_buf_put(out, "\n");
	tn_buf_fini(&copy);
}

static void put_dims(struct tn_c *c, struct tn_buf *out)
{
	const struct tn_vec *syms = &c->module->dims.syms;
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
		tn_buf_putf(out, "\t%s_DIM_%s = %d%s\t/* ", c->name,
			    tn_host_sym(&c->host, dim->sym), (int)i,
			    i + 1 < syms->len ? "," : "");
		tn_emit_comment(out, tn_buf_text(&text), "");
		tn_buf_put(out, " */\n");
		tn_buf_fini(&text);
	}
	tn_buf_put(out, "};\n\n");
}

static const char declarations[] =
"enum N_status {\n"
"\tN_OK = 0,\n"
"\tN_BAD_DIM = 1,\t/* a dim is out of bounds, or a guard is violated */\n"
"\tN_BAD_WEIGHTS = 2,\t/* not the weights of this program */\n"
"\tN_RAISED = 3\t/* outputs are written, but an index was out of range\n"
"\t\t\t * or an integer was divided by zero */\n"
"};\n"
"\n"
"/* What went wrong, for those who ask. */\n"
"struct N_report {\n"
"\tint fault;\t/* BAD_DIM: number of the dim, or N_DIMS + number of\n"
"\t\t\t * the guard; else -1 */\n"
"\tint op;\t\t/* RAISED: number of the launch, see N_place; else -1 */\n"
"\tuint32_t flags;\t/* 1 division, 2 index, 4 shift, 8 assertion */\n"
"};\n"
"\n"
"struct N_ctx {\n"
"\tconst unsigned char *weights;\n"
"\tint threads;\t/* at least 1; set to 1 by N_init */\n"
"\tstruct N_report *report;\t/* NULL, or one for each concurrent run */\n"
"};\n"
"\n"
"/* Checks the bytes of N.weights (they stay the caller's and must outlive the\n"
" * context) and fills the context. */\n"
"int N_init(struct N_ctx *ctx, const void *weights, size_t size);\n"
"/* One run. Buffers are row-major and aligned for their elements; inputs,\n"
" * outputs and the workspace do not overlap. The workspace has N_ARENA_BYTES\n"
" * and is aligned to 64. Allocates nothing; concurrent runs need workspaces of\n"
" * their own. */\n"
"int N_run(const struct N_ctx *ctx, const void *const *inputs, int64_t *dims,\n"
"\t  void *const *outputs, void *workspace);\n"
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
"const char *N_place(int op);\n";

/* A text in which each word that begins with `N_`, or the word N, becomes
 * NAME. */
static void put_named(struct tn_buf *out, const char *text, const char *name)
{
	const char *begin = text;

	for (; *text; text++) {
		bool starts = text == begin ||
			!(isalnum((unsigned char)text[-1]) ||
			  text[-1] == '_');

		if (*text == 'N' && starts &&
		    (text[1] == '_' || text[1] == '.'))
			tn_buf_put(out, name);
		else
			tn_buf_putc(out, *text);
	}
}

void tn_c_header(struct tn_c *c, struct tn_buf *out)
{
	struct tn_buf text;
	size_t ndims = c->module->dims.syms.len;

	tn_buf_init(&text);
	put_signature(c, &text);
	tn_buf_putf(out, "/*\n * %s, written by Tenon.\n *\n", c->name);
	put_comment_lines(out, tn_buf_text(&text));
	tn_buf_put(out, " */\n#ifndef TN_");
	put_upper(out, c->name);
	tn_buf_put(out, "_H\n#define TN_");
	put_upper(out, c->name);
	tn_buf_put(out, "_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
		   "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n");
	tn_buf_putf(out, "#define %s_INPUTS %d\n#define %s_OUTPUTS %d\n"
		    "#define %s_DIMS %d\n", c->name, c->entry->body->nparams,
		    c->name, c->entry->nresults, c->name, (int)ndims);
	tn_buf_putf(out, "/* Worst case over all dims. */\n"
		    "#define %s_ARENA_BYTES INT64_C(%lld)\n"
		    "#define %s_STACK_BYTES INT64_C(%lld)\n"
		    "/* Size of %s.weights; 0: there is none. */\n"
		    "#define %s_WEIGHTS_BYTES INT64_C(%lld)\n\n", c->name,
		    (long long)c->entry->arena_bytes, c->name,
		    (long long)(c->stack + STACK_MARGIN), c->name, c->name,
		    (long long)c->weights->size);
	put_dims(c, out);
	put_named(out, declarations, c->name);
	tn_buf_put(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
	tn_buf_fini(&text);
}

/* ---- NAME.c: the functions ---- */

static const char state[] =
"/* One run. */\n"
"struct N_state {\n"
"\tconst unsigned char *weights;\n"
"\tunsigned char *work;\n"
"\tconst void *const *in;\n"
"\tvoid *const *out;\n"
"\tint64_t *dims;\n"
"\tint threads, op;\n"
"\tuint32_t flags;\n"
"};\n\n";

static const char copy[] =
"static void tn_copy(struct N_state *s, void *to, const void *from, size_t n)\n"
"{\n"
"\t(void)s;\n"
"\tif (n != 0)\n"
"\t\tmemcpy(to, from, n);\n"
"}\n\n";

static const char note[] =
"static void tn_note(struct N_state *s, uint32_t flags, int op)\n"
"{\n"
"\tif (flags != 0 && s->flags == 0)\n"
"\t\ts->op = op;\n"
"\ts->flags |= flags;\n"
"}\n\n";

static const char run_begin[] =
"int N_run(const struct N_ctx *ctx, const void *const *inputs, int64_t *dims,\n"
"\t  void *const *outputs, void *workspace)\n"
"{\n"
"\tconst int fault = N_check(dims);\n"
"\tstruct N_state state, *s = &state;\n"
"\n"
"\tif (ctx->report != NULL) {\n"
"\t\tctx->report->fault = fault - 1;\n"
"\t\tctx->report->op = -1;\n"
"\t\tctx->report->flags = 0;\n"
"\t}\n"
"\tif (fault != 0)\n"
"\t\treturn N_BAD_DIM;\n"
"\ts->weights = ctx->weights;\n"
"\ts->work = (unsigned char *)workspace;\n"
"\ts->in = inputs;\n"
"\ts->out = outputs;\n"
"\ts->dims = dims;\n"
"\ts->threads = ctx->threads < 1 ? 1 : ctx->threads;\n"
"\ts->op = -1;\n"
"\ts->flags = 0;\n";

static const char run_end[] =
"\tif (ctx->report != NULL) {\n"
"\t\tctx->report->op = s->op;\n"
"\t\tctx->report->flags = s->flags;\n"
"\t}\n"
"\treturn s->flags != 0 ? N_RAISED : N_OK;\n"
"}\n\n";

static void put_init(const struct tn_c *c, struct tn_buf *out)
{
	int i;

	if (c->weights->size) {
		tn_buf_put(out, "/* The first bytes of the weights: magic, "
			   "size, digest. */\nstatic const unsigned char "
			   "tn_seal[48] = {\n\t0x54, 0x4e, 0x57, 0x47, 0x48, "
			   "0x54, 0x31, 0x00");
		for (i = 0; i < 8; i++)
			tn_buf_putf(out, ",%s0x%02x", i ? " " : "\n\t",
				    (unsigned)((uint64_t)c->weights->size >>
					       8 * i & 0xff));
		for (i = 0; i < 32; i++)
			tn_buf_putf(out, ",%s0x%02x", i % 8 ? " " : "\n\t",
				    c->weights->digest[i]);
		tn_buf_put(out, "\n};\n\n");
	}
	tn_buf_putf(out, "int %s_init(struct %s_ctx *ctx, const void "
		    "*weights, size_t size)\n{\n"
		    "\tctx->weights = (const unsigned char *)weights;\n"
		    "\tctx->threads = 1;\n\tctx->report = NULL;\n", c->name,
		    c->name);
	if (c->weights->size)
		tn_buf_putf(out, "\tif (weights == NULL || size != (size_t)"
			    "%s_WEIGHTS_BYTES ||\n\t    memcmp(weights, "
			    "tn_seal, sizeof tn_seal) != 0)\n\t\treturn "
			    "%s_BAD_WEIGHTS;\n", c->name, c->name);
	else
		tn_buf_put(out, "\t(void)size;\n");
	tn_buf_putf(out, "\treturn %s_OK;\n}\n\n", c->name);
}

/* C compilers need not take strings beyond 4095 characters. */
static void put_describe(const struct tn_c *c, struct tn_buf *out)
{
	struct tn_buf text;
	size_t i;

	tn_buf_init(&text);
	put_signature(c, &text);
	tn_buf_putf(out, "const char *%s_describe(void)\n{\n\tstatic const "
		    "char text[] = ", c->name);
	if (text.len < 4000) {
		tn_emit_string(out, tn_buf_text(&text));
	} else {
		tn_buf_put(out, "{");
		for (i = 0; i < text.len; i++)
			tn_buf_putf(out, "%s%d,", i % 16 ? " " : "\n\t\t",
				    text.data[i]);
		tn_buf_put(out, " 0\n\t}");
	}
	tn_buf_put(out, ";\n\n\treturn text;\n}\n\n");
	tn_buf_fini(&text);
}

/* A function from numbers to texts. */
static void open_table(struct tn_buf *out, const struct tn_c *c,
		       const char *function, const char *argument)
{
	tn_buf_putf(out, "const char *%s_%s(int %s)\n{\n\tstatic const char "
		    "*const texts[] = {\n", c->name, function, argument);
}

static void close_table(struct tn_buf *out, const char *argument, int count)
{
	tn_buf_putf(out, "\t\tNULL\n\t};\n\n\treturn %s < 0 || %s > %d ? NULL "
		    ": texts[%s];\n}\n\n", argument, argument, count,
		    argument);
}

/* Longest text in a table; C compilers need not take much more. */
#define TEXT_LIMIT 1000

static void put_text(struct tn_buf *out, const char *text)
{
	struct tn_buf start;

	tn_buf_init(&start);
	tn_buf_putn(&start, text, strlen(text) < TEXT_LIMIT ? strlen(text) :
		    TEXT_LIMIT);
	if (strlen(text) > TEXT_LIMIT)
		tn_buf_put(&start, "..");
	tn_buf_put(out, "\t\t");
	tn_emit_string(out, tn_buf_text(&start));
	tn_buf_put(out, ",\n");
	tn_buf_fini(&start);
}

static void put_names(const struct tn_c *c, struct tn_buf *out)
{
	const struct tn_vec *syms = &c->module->dims.syms;
	const struct tn_fn *fn = c->entry;
	const struct tn_dim *dim;
	size_t k;
	int i;

	open_table(out, c, "dim_name", "number");
	for (k = 0; k < syms->len; k++) {
		dim = tn_vec_ptr(syms, k);
		put_text(out, dim->sym->name);
	}
	close_table(out, "number", (int)syms->len);
	open_table(out, c, "input_name", "number");
	for (i = 0; i < fn->body->nparams; i++)
		put_text(out, fn->body->params[i]->name);
	close_table(out, "number", fn->body->nparams);
	open_table(out, c, "output_name", "number");
	for (i = 0; i < fn->nresults; i++)
		put_text(out, fn->result_names && fn->result_names[i] ?
			 fn->result_names[i] : "");
	close_table(out, "number", fn->nresults);
}

static void spell(void *data, const struct tn_sym *sym, struct tn_buf *out)
{
	struct tn_c *c = data;

	tn_buf_putf(out, "dims[%s_DIM_%s]", c->name,
		    tn_host_sym(&c->host, sym));
}

static void put_bytes(struct tn_c *c, struct tn_buf *out,
		      const struct tn_type *type, int number)
{
	int i;

	tn_buf_putf(out, "\tcase %d:\n\t\treturn (size_t)(%d", number,
		    tn_dtype_bytes(type->dtype));
	for (i = 0; i < type->rank; i++) {
		tn_buf_put(out, " * ");
		tn_emit_dim(out, &c->need, type->dims[i], TN_LEVEL_MUL + 1,
			    spell, c);
	}
	tn_buf_put(out, ");\n");
}

static void put_sizes(struct tn_c *c, struct tn_buf *out, bool is_input)
{
	const struct tn_fn *fn = c->entry;
	int i, n = is_input ? fn->body->nparams : fn->nresults;

	tn_buf_putf(out, "size_t %s_%s_bytes(int number, const int64_t "
		    "*dims)\n{\n\t(void)dims;\n\tswitch (number) {\n",
		    c->name, is_input ? "input" : "output");
	for (i = 0; i < n; i++)
		put_bytes(c, out, is_input ? fn->body->params[i]->type :
			  fn->result_types[i], i);
	tn_buf_put(out, "\tdefault:\n\t\treturn 0;\n\t}\n}\n\n");
}

static void put_places(const struct tn_c *c, const struct tn_block *block,
		       struct tn_buf *out, int *count)
{
	const struct tn_sink *sink = c->module->sink;
	const struct tn_source *source;
	const struct tn_op *op;
	struct tn_buf text;
	uint32_t row, column;
	int i;

	for (op = block->first; op; op = op->next) {
		for (i = 0; i < op->nregions; i++)
			put_places(c, op->regions[i], out, count);
		if (op->code != TN_OP_launch)
			continue;
		tn_buf_init(&text);
		if (op->span.file && op->span.file <= sink->sources.len) {
			source = tn_vec_at(&sink->sources, op->span.file - 1);
			tn_sink_locate(sink, op->span.file, op->span.begin,
				       &row, &column);
			tn_buf_putf(&text, "%s:%u:%u: ", source->name,
				    (unsigned)row, (unsigned)column);
		}
		tn_buf_put(&text, op->nout ? op->out[0]->name :
			   op->kernel->name);
		put_text(out, tn_buf_text(&text));
		tn_buf_fini(&text);
		(*count)++;
	}
}

void tn_c_api(struct tn_c *c, struct tn_buf *out)
{
	struct tn_buf check;
	int count = 0;

	put_named(out, state, c->name);
	if (strstr(tn_buf_text(&c->run), "tn_copy(") ||
	    strstr(tn_buf_text(&c->host.functions), "tn_copy("))
		put_named(out, copy, c->name);
	if (strstr(tn_buf_text(&c->run), "tn_note(") ||
	    strstr(tn_buf_text(&c->host.functions), "tn_note("))
		put_named(out, note, c->name);
	tn_buf_init(&check);
	c->host.out = &check;
	tn_host_check(&c->host);
	tn_buf_put(out, tn_buf_text(&check));
	if (check.failed)
		c->failed = true;
	tn_buf_fini(&check);
	tn_buf_put(out, tn_buf_text(&c->host.functions));
	put_named(out, run_begin, c->name);
	tn_buf_put(out, tn_buf_text(&c->run));
	put_named(out, run_end, c->name);
	put_init(c, out);
	put_describe(c, out);
	put_names(c, out);
	put_sizes(c, out, true);
	put_sizes(c, out, false);
	open_table(out, c, "place", "op");
	put_places(c, c->entry->body, out, &count);
	close_table(out, "op", count);
	while (out->len > 1 && out->data[out->len - 2] == '\n')
		out->data[--out->len] = 0;
}
