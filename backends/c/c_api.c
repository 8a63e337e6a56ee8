/*
 * NAME.h, and the functions of NAME.c that it declares.
 */
#include "backends/c/c_impl.h"

#include <string.h>

/* Spare stack for calls and spilled registers. */
#define STACK_MARGIN 16384

/* ---- NAME.h ---- */

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

void tn_c_header(struct tn_c *c, struct tn_buf *out)
{
	size_t ndims = c->module->dims.syms.len;

	tn_buf_putf(out, "/*\n * %s, written by Tenon.\n *\n", c->name);
	tn_api_signature_comment(&c->host, out);
	tn_buf_put(out, " */\n#ifndef ");
	tn_api_include_guard(&c->host, out);
	tn_buf_put(out, "\n#define ");
	tn_api_include_guard(&c->host, out);
	tn_buf_put(out, "\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
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
	tn_api_dims(&c->host, out);
	tn_api_named(out, declarations, c->name);
	tn_buf_put(out, "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n");
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
	if (c->weights->size)
		tn_api_seal(c->weights, out);
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

void tn_c_api(struct tn_c *c, struct tn_buf *out)
{
	struct tn_buf check;

	tn_api_named(out, state, c->name);
	if (strstr(tn_buf_text(&c->run), "tn_copy(") ||
	    strstr(tn_buf_text(&c->host.functions), "tn_copy("))
		tn_api_named(out, copy, c->name);
	if (strstr(tn_buf_text(&c->run), "tn_note(") ||
	    strstr(tn_buf_text(&c->host.functions), "tn_note("))
		tn_api_named(out, note, c->name);
	tn_buf_init(&check);
	c->host.out = &check;
	tn_host_check(&c->host);
	tn_buf_put(out, tn_buf_text(&check));
	if (check.failed)
		c->failed = true;
	tn_buf_fini(&check);
	tn_buf_put(out, tn_buf_text(&c->host.functions));
	tn_api_named(out, run_begin, c->name);
	tn_buf_put(out, tn_buf_text(&c->run));
	tn_api_named(out, run_end, c->name);
	put_init(c, out);
	tn_api_describe(&c->host, out);
	tn_api_names(&c->host, out);
	tn_api_sizes(&c->host, out);
	(void)tn_api_places(&c->host, out);
	while (out->len > 1 && out->data[out->len - 2] == '\n')
		out->data[--out->len] = 0;
}
