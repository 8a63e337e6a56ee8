/*
 * NAME.h, and the functions of NAME.c that it declares.
 */
#include "backends/c/c_impl.h"

/* Spare stack for calls and spilled registers. */
#define STACK_MARGIN 16384

/* ---- NAME.h ---- */

static const char context[] =
"\tconst unsigned char *weights;\n"
"\tint threads;\t/* at least 1; set to 1 by N_init */\n";

static const char functions[] =
"/* Checks the bytes of N.weights (they stay the caller's and must outlive the\n"
" * context) and fills the context. */\n"
"int N_init(struct N_ctx *ctx, const void *weights, size_t size);\n"
"/* One run. Buffers are row-major and aligned for their elements; inputs,\n"
" * outputs and the workspace do not overlap. The workspace has N_ARENA_BYTES\n"
" * and is aligned to 64. Allocates nothing; concurrent runs need workspaces of\n"
" * their own. */\n"
"int N_run(const struct N_ctx *ctx, const void *const *inputs, int64_t *dims,\n"
"\t  void *const *outputs, void *workspace);\n";

void tn_c_header(struct tn_c *c, struct tn_buf *out)
{
	struct tn_buf sizes;
	struct tn_api_header api = {
		.target = "", .status = "", .report = "", .context = context,
		.functions = functions
	};

	tn_buf_init(&sizes);
	tn_buf_putf(&sizes, "/* Worst case over all dims. */\n"
		    "#define N_ARENA_BYTES INT64_C(%lld)\n"
		    "#define N_STACK_BYTES INT64_C(%lld)\n"
		    "/* Size of N.weights; 0: there is none. */\n"
		    "#define N_WEIGHTS_BYTES INT64_C(%lld)\n\n",
		    (long long)c->entry->arena_bytes,
		    (long long)(c->stack + STACK_MARGIN),
		    (long long)c->weights->size);
	api.sizes = tn_buf_text(&sizes);
	tn_api_header(&c->host, &api, out);
	out->failed = out->failed || sizes.failed;
	tn_buf_fini(&sizes);
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
"\tuint32_t flags;\n";

static const struct tn_api_helper helpers[] = {
	{ "tn_copy(",
"static void tn_copy(struct N_state *s, void *to, const void *from, size_t n)\n"
"{\n"
"\t(void)s;\n"
"\tif (n != 0)\n"
"\t\tmemcpy(to, from, n);\n"
"}\n\n" },
	{ "tn_note(",
"static void tn_note(struct N_state *s, uint32_t flags, int op)\n"
"{\n"
"\tif (flags != 0 && s->flags == 0)\n"
"\t\ts->op = op;\n"
"\ts->flags |= flags;\n"
"}\n\n" }
};

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
		    "\tctx->threads = 1;\n\tctx->report = NULL;\n"
		    "\tctx->print = NULL;\n\tctx->print_data = NULL;\n",
		    c->name, c->name);
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
	const struct tn_buf *texts[] = { &c->run, &c->host.functions };
	struct tn_buf check;

	tn_api_named(out, state, c->name);
	tn_api_context(&c->host, out);
	tn_buf_put(out, "};\n\n");
	tn_api_helpers(&c->host, sizeof(helpers) / sizeof(*helpers), helpers, 2,
		       texts, out);
	tn_buf_init(&check);
	c->host.out = &check;
	tn_host_check(&c->host);
	tn_buf_put(out, tn_buf_text(&check));
	if (check.failed)
		c->failed = true;
	tn_buf_fini(&check);
	tn_buf_put(out, tn_buf_text(&c->host.functions));
	tn_api_named(out, run_begin, c->name);
	tn_api_set_context(&c->host, out);
	tn_buf_put(out, tn_buf_text(&c->run));
	tn_api_named(out, run_end, c->name);
	put_init(c, out);
	tn_api_tables(&c->host, out);
}
