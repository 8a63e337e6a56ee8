/*
 * NAME.h and NAME_host.c: the interface of the C back end, with all that
 * CUDA needs behind it.
 *
 * A workspace is device memory:
 *
 *   flags     a word a launch, if some kernel raises
 *   sizes     a word a dim, if the run sets some
 *   arena     at a multiple of 256: intermediate results
 *   staging   behind NAME_ARENA_BYTES, for NAME_run: inputs, then outputs
 */
#include "backends/cuda/cuda_impl.h"

#include "backends/emit_print.h"
#include "base/num.h"

#define ALIGN 256

/* ---- Sizes ---- */

static bool sets_sizes(const struct tn_cuda *c)
{
	const struct tn_launched *launched;
	size_t i;

	for (i = 0; i < c->kernels.list.len; i++) {
		launched = tn_vec_ptr(&c->kernels.list, i);
		if (launched->sizes.len)
			return true;
	}
	return false;
}

static int64_t sizes_at(const struct tn_cuda *c)
{
	return c->raises ? ((int64_t)c->host.nlaunches * 4 + 7) / 8 * 8 : 0;
}

static int64_t work_at(const struct tn_cuda *c)
{
	int64_t end = sizes_at(c) + (sets_sizes(c) ? 8 *
				     (int64_t)c->module->dims.syms.len : 0);

	return (end + ALIGN - 1) / ALIGN * ALIGN;
}

/* Adds the most that a type takes; false: no bound. */
static bool add_most(const struct tn_type *type, int64_t *end)
{
	int64_t bytes = tn_dtype_bytes(type->dtype), lo, hi;
	int i;

	for (i = 0; i < type->rank; i++) {
		tn_dim_bounds(type->dims[i], &lo, &hi);
		if (hi == INT64_MAX || !tn_num_mul(bytes, hi, &bytes))
			return false;
	}
	return tn_num_align(bytes, ALIGN, &bytes) &&
		tn_num_add(*end, bytes, end);
}

/* Bytes of a workspace with staging; 0: inputs may have any size. */
static int64_t workspace_bytes(const struct tn_cuda *c, int64_t arena)
{
	const struct tn_fn *fn = c->entry;
	int64_t end = arena;
	bool bounded = true;
	int i;

	for (i = 0; i < fn->body->nparams; i++)
		bounded = bounded &&
			add_most(fn->body->params[i]->type, &end);
	for (i = 0; i < fn->nresults; i++)
		bounded = bounded && add_most(fn->result_types[i], &end);
	return bounded ? end : 0;
}

static int64_t arena_bytes(const struct tn_cuda *c)
{
	int64_t bytes = work_at(c) + (c->entry->arena_bytes + ALIGN - 1) /
		ALIGN * ALIGN;

	return bytes ? bytes : ALIGN;
}

/* ---- NAME.h ---- */

static const char status[] =
"\tN_DEVICE = 4\t/* CUDA failed; outputs are worthless */\n";

static const char report[] =
"\tconst char *device;\t/* DEVICE: what CUDA says; else NULL */\n";

static const char context[] =
"\tconst unsigned char *weights;\t/* on the device, owned */\n"
"\tint threads;\t/* of no use here; as in the C program's context */\n";

static const char functions[] =
"/* Checks the bytes of N.weights and copies them to the device. */\n"
"int N_init(struct N_ctx *ctx, const void *weights, size_t size);\n"
"void N_fini(struct N_ctx *ctx);\n"
"/* One run on buffers of the host, row-major. The workspace is device memory\n"
" * of N_WORKSPACE_BYTES, or NULL: the run allocates what it needs and frees\n"
" * it. Concurrent runs need workspaces of their own. */\n"
"int N_run(const struct N_ctx *ctx, const void *const *inputs, int64_t *dims,\n"
"\t  void *const *outputs, void *workspace);\n"
"/* One run on buffers of the device, aligned for their elements; inputs,\n"
" * outputs and the workspace, of N_ARENA_BYTES, do not overlap. Allocates\n"
" * nothing, but room of the host for what is printed. `stream` is a\n"
" * cudaStream_t; the run waits for it at its end. */\n"
"int N_run_device(const struct N_ctx *ctx, const void *const *inputs,\n"
"\t\t int64_t *dims, void *const *outputs, void *workspace,\n"
"\t\t void *stream);\n";

void tn_cuda_header(struct tn_cuda *c, struct tn_buf *out)
{
	int64_t arena = arena_bytes(c);
	struct tn_buf sizes, target;
	struct tn_api_header api = {
		.status = status, .report = report, .context = context,
		.functions = functions
	};

	tn_buf_init(&target);
	tn_buf_putf(&target, " for %s", c->target->name);
	api.target = tn_buf_text(&target);
	tn_buf_init(&sizes);
	tn_buf_putf(&sizes, "/* Of the device, worst case over all dims. */\n"
		    "#define N_ARENA_BYTES INT64_C(%lld)\n"
		    "/* The same with room for inputs and outputs; 0: they "
		    "have no bound. */\n#define N_WORKSPACE_BYTES "
		    "INT64_C(%lld)\n/* Size of N.weights; 0: there is none. "
		    "*/\n#define N_WEIGHTS_BYTES INT64_C(%lld)\n\n",
		    (long long)arena, (long long)workspace_bytes(c, arena),
		    (long long)c->weights->size);
	api.sizes = tn_buf_text(&sizes);
	tn_api_header(&c->host, &api, out);
	out->failed = out->failed || sizes.failed || target.failed;
	tn_buf_fini(&sizes);
	tn_buf_fini(&target);
}

/* ---- NAME_host.c ---- */

static const char state[] =
"#define TN_GET(type, place) ((const type *)(const void *)(place))\n"
"#define TN_PUT(type, place) ((type *)(void *)(place))\n"
"\n"
"/* One run. All pointers but `dims` and the tables are the device's. */\n"
"struct N_state {\n"
"\tconst unsigned char *weights;\n"
"\tunsigned char *work;\n"
"\tconst void *const *in;\n"
"\tvoid *const *out;\n"
"\tint64_t *dims;\n"
"\tuint32_t *flags;\t/* a word a launch */\n"
"\tint64_t *sizes;\t\t/* a word a dim */\n"
"\tcudaStream_t stream;\n"
"\tcudaError_t error;\t/* the first; nothing is done after it */\n";

/* Printed if the text calls them. */
static const struct tn_api_helper helpers[] = {
	{ "tn_copy(",
"static void tn_copy(struct N_state *s, void *to, const void *from, size_t n)\n"
"{\n"
"\tif (s->error == cudaSuccess && n != 0)\n"
"\t\ts->error = cudaMemcpyAsync(to, from, n,\n"
"\t\t\t\t\t   cudaMemcpyDeviceToDevice,\n"
"\t\t\t\t\t   s->stream);\n"
"}\n\n" },
	{ "tn_read_size(",
"/* A dim that a kernel has set. */\n"
"static void tn_read_size(struct N_state *s, int dim)\n"
"{\n"
"\tif (s->error == cudaSuccess)\n"
"\t\ts->error = cudaMemcpyAsync(&s->dims[dim], s->sizes + dim,\n"
"\t\t\t\t\t   sizeof(int64_t),\n"
"\t\t\t\t\t   cudaMemcpyDeviceToHost, s->stream);\n"
"\tif (s->error == cudaSuccess)\n"
"\t\ts->error = cudaStreamSynchronize(s->stream);\n"
"}\n\n" },
	{ "tn_test(",
"/* A condition; false after a failure. */\n"
"static int tn_test(struct N_state *s, const void *place)\n"
"{\n"
"\tuint8_t value = 0;\n"
"\n"
"\tif (s->error == cudaSuccess)\n"
"\t\ts->error = cudaMemcpyAsync(&value, place, 1,\n"
"\t\t\t\t\t   cudaMemcpyDeviceToHost, s->stream);\n"
"\tif (s->error == cudaSuccess)\n"
"\t\ts->error = cudaStreamSynchronize(s->stream);\n"
"\treturn s->error == cudaSuccess && value != 0;\n"
"}\n\n" },
	{ "tn_write_index(",
"/* The turn of a loop. The copy is made from pageable memory, so it has been\n"
" * read when the call returns. */\n"
"static void tn_write_index(struct N_state *s, void *place, int64_t value)\n"
"{\n"
"\tif (s->error == cudaSuccess)\n"
"\t\ts->error = cudaMemcpyAsync(place, &value, sizeof value,\n"
"\t\t\t\t\t   cudaMemcpyHostToDevice, s->stream);\n"
"}\n\n" },
	{ "tn_print(",
"/* Hands a value over, from memory of the host. */\n"
"static void tn_print(struct N_state *s, const struct N_printed *value)\n"
"{\n"
"\tstruct N_printed copy = *value;\n"
"\tvoid *data = malloc(value->size + 1);\n"
"\n"
"\tif (s->error == cudaSuccess && data == NULL)\n"
"\t\ts->error = cudaErrorMemoryAllocation;\n"
"\tif (s->error == cudaSuccess && value->size != 0)\n"
"\t\ts->error = cudaMemcpyAsync(data, value->data, value->size,\n"
"\t\t\t\t\t   cudaMemcpyDeviceToHost, s->stream);\n"
"\tif (s->error == cudaSuccess)\n"
"\t\ts->error = cudaStreamSynchronize(s->stream);\n"
"\tcopy.data = data;\n"
"\tif (s->error == cudaSuccess)\n"
"\t\ts->ctx->print(s->ctx->print_data, &copy);\n"
"\tfree(data);\n"
"}\n\n" },
	{ "tn_turns(",
"/* Blocks for from, from + step, .. below to; the kernel takes what is beyond\n"
" * `most` in further turns. */\n"
"static unsigned tn_turns(int64_t from, int64_t to, int64_t step, int most)\n"
"{\n"
"\tint64_t turns = to <= from ? 0 : (to - from - 1) / step + 1;\n"
"\n"
"\treturn (unsigned)(turns < most ? turns : most);\n"
"}\n\n" },
	{ "tn_launch(",
"static dim3 tn_extent(unsigned x, unsigned y, unsigned z)\n"
"{\n"
"\tdim3 extent;\n"
"\n"
"\textent.x = x;\n"
"\textent.y = y;\n"
"\textent.z = z;\n"
"\treturn extent;\n"
"}\n\n"
"static void tn_launch(struct N_state *s, const void *kernel, dim3 grid,\n"
"\t\t      dim3 block, void **arguments)\n"
"{\n"
"\tif (s->error == cudaSuccess && grid.x != 0 && grid.y != 0 &&\n"
"\t    grid.z != 0)\n"
"\t\ts->error = cudaLaunchKernel(kernel, grid, block, arguments, 0,\n"
"\t\t\t\t\t    s->stream);\n"
"}\n\n" },
};

static const char end_plain[] =
"/* Waits for all of the run. */\n"
"static int tn_end(struct N_state *s, struct N_report *report)\n"
"{\n"
"\tif (s->error == cudaSuccess)\n"
"\t\ts->error = cudaStreamSynchronize(s->stream);\n"
"\tif (s->error == cudaSuccess)\n"
"\t\treturn N_OK;\n"
"\tif (report != NULL)\n"
"\t\treport->device = cudaGetErrorString(s->error);\n"
"\treturn N_DEVICE;\n"
"}\n\n";

static const char end_raising[] =
"#define TN_CHUNK 256\n"
"\n"
"/* Waits for all of the run, and looks for the first launch that raised. */\n"
"static int tn_end(struct N_state *s, struct N_report *report)\n"
"{\n"
"\tuint32_t words[TN_CHUNK], flags = 0;\n"
"\tint i, k, n, op = -1;\n"
"\n"
"\tfor (i = 0; i < TN_LAUNCHES; i += n) {\n"
"\t\tn = TN_LAUNCHES - i < TN_CHUNK ? TN_LAUNCHES - i : TN_CHUNK;\n"
"\t\tif (s->error == cudaSuccess)\n"
"\t\t\ts->error = cudaMemcpyAsync(words, s->flags + i,\n"
"\t\t\t\t\t\t   (size_t)n * sizeof *words,\n"
"\t\t\t\t\t\t   cudaMemcpyDeviceToHost,\n"
"\t\t\t\t\t\t   s->stream);\n"
"\t\tif (s->error == cudaSuccess)\n"
"\t\t\ts->error = cudaStreamSynchronize(s->stream);\n"
"\t\tfor (k = 0; k < n && s->error == cudaSuccess; k++) {\n"
"\t\t\tif (words[k] != 0 && op < 0)\n"
"\t\t\t\top = i + k;\n"
"\t\t\tflags |= words[k];\n"
"\t\t}\n"
"\t}\n"
"\tif (report != NULL && s->error != cudaSuccess)\n"
"\t\treport->device = cudaGetErrorString(s->error);\n"
"\tif (s->error != cudaSuccess)\n"
"\t\treturn N_DEVICE;\n"
"\tif (report != NULL) {\n"
"\t\treport->op = op;\n"
"\t\treport->flags = flags;\n"
"\t}\n"
"\treturn flags != 0 ? N_RAISED : N_OK;\n"
"}\n\n";

static const char begin[] =
"static void tn_begin(struct N_report *report, int fault)\n"
"{\n"
"\tif (report == NULL)\n"
"\t\treturn;\n"
"\treport->fault = fault - 1;\n"
"\treport->op = -1;\n"
"\treport->flags = 0;\n"
"\treport->device = NULL;\n"
"}\n\n";

static const char run_device_begin[] =
"int N_run_device(const struct N_ctx *ctx, const void *const *inputs,\n"
"\t\t int64_t *dims, void *const *outputs, void *workspace,\n"
"\t\t void *stream)\n"
"{\n"
"\tconst int fault = N_check(dims);\n"
"\tstruct N_state state, *s = &state;\n"
"\n"
"\ttn_begin(ctx->report, fault);\n"
"\tif (fault != 0)\n"
"\t\treturn N_BAD_DIM;\n"
"\ts->weights = ctx->weights;\n"
"\ts->flags = (uint32_t *)workspace;\n"
"\ts->sizes = TN_PUT(int64_t, (unsigned char *)workspace + TN_SIZES_AT);\n"
"\ts->work = (unsigned char *)workspace + TN_WORK_AT;\n"
"\ts->in = inputs;\n"
"\ts->out = outputs;\n"
"\ts->dims = dims;\n"
"\ts->stream = (cudaStream_t)stream;\n"
"\ts->error = cudaSuccess;\n";

static const char clear_flags[] =
"\ts->error = cudaMemsetAsync(s->flags, 0, TN_LAUNCHES * sizeof *s->flags,\n"
"\t\t\t\t   s->stream);\n";

/* ---- The run on buffers of the host ---- */

static const char staging[] =
"/* Room for `bytes` at the end of a block. */\n"
"static size_t tn_room(size_t *end, size_t bytes)\n"
"{\n"
"\tsize_t at = *end;\n"
"\n"
"\t*end += (bytes + 255) / 256 * 256;\n"
"\treturn at;\n"
"}\n"
"\n"
"static cudaError_t tn_move(void *to, const void *from, size_t bytes,\n"
"\t\t\t   enum cudaMemcpyKind kind, cudaError_t error)\n"
"{\n"
"\tif (error != cudaSuccess || bytes == 0)\n"
"\t\treturn error;\n"
"\treturn cudaMemcpy(to, from, bytes, kind);\n"
"}\n"
"\n"
"static int tn_staged(const struct N_ctx *ctx, const void *const *inputs,\n"
"\t\t     int64_t *dims, void *const *outputs,\n"
"\t\t     unsigned char *block, const size_t *at)\n"
"{\n"
"\tconst void *in[N_INPUTS + 1];\n"
"\tvoid *out[N_OUTPUTS + 1];\n"
"\tcudaError_t error = cudaSuccess;\n"
"\tint i, status;\n"
"\n"
"\tfor (i = 0; i < N_INPUTS; i++) {\n"
"\t\tin[i] = block + at[i];\n"
"\t\terror = tn_move(block + at[i], inputs[i],\n"
"\t\t\t\tN_input_bytes(i, dims),\n"
"\t\t\t\tcudaMemcpyHostToDevice, error);\n"
"\t}\n"
"\tin[N_INPUTS] = NULL;\n"
"\tfor (i = 0; i < N_OUTPUTS; i++)\n"
"\t\tout[i] = block + at[N_INPUTS + i];\n"
"\tout[N_OUTPUTS] = NULL;\n"
"\tif (error == cudaSuccess) {\n"
"\t\tstatus = N_run_device(ctx, in, dims, out, block, NULL);\n"
"\t\tif (status != N_OK && status != N_RAISED)\n"
"\t\t\treturn status;\n"
"\t\tfor (i = 0; i < N_OUTPUTS; i++)\n"
"\t\t\terror = tn_move(outputs[i], out[i],\n"
"\t\t\t\t\tN_output_bytes(i, dims),\n"
"\t\t\t\t\tcudaMemcpyDeviceToHost, error);\n"
"\t\tif (error == cudaSuccess)\n"
"\t\t\treturn status;\n"
"\t}\n"
"\tif (ctx->report != NULL)\n"
"\t\tctx->report->device = cudaGetErrorString(error);\n"
"\treturn N_DEVICE;\n"
"}\n"
"\n"
"int N_run(const struct N_ctx *ctx, const void *const *inputs, int64_t *dims,\n"
"\t  void *const *outputs, void *workspace)\n"
"{\n"
"\tconst int fault = N_check(dims);\n"
"\tsize_t at[N_INPUTS + N_OUTPUTS + 1], end = (size_t)N_ARENA_BYTES;\n"
"\tvoid *block = workspace;\n"
"\tcudaError_t error;\n"
"\tint i, status;\n"
"\n"
"\ttn_begin(ctx->report, fault);\n"
"\tif (fault != 0)\n"
"\t\treturn N_BAD_DIM;\n";

static const char run_end[] =
"\tfor (i = 0; i < N_INPUTS; i++)\n"
"\t\tat[i] = tn_room(&end, N_input_bytes(i, dims));\n"
"\tfor (i = 0; i < N_OUTPUTS; i++)\n"
"\t\tat[N_INPUTS + i] = tn_room(&end, N_output_bytes(i, dims));\n"
"\tif (workspace == NULL) {\n"
"\t\terror = cudaMalloc(&block, end);\n"
"\t\tif (error != cudaSuccess) {\n"
"\t\t\tif (ctx->report != NULL)\n"
"\t\t\t\tctx->report->device =\n"
"\t\t\t\t\tcudaGetErrorString(error);\n"
"\t\t\treturn N_DEVICE;\n"
"\t\t}\n"
"\t}\n"
"\tstatus = tn_staged(ctx, inputs, dims, outputs,\n"
"\t\t\t   (unsigned char *)block, at);\n"
"\tif (workspace == NULL)\n"
"\t\t(void)cudaFree(block);\n"
"\treturn status;\n"
"}\n\n";

static const char init_weights[] =
"int N_init(struct N_ctx *ctx, const void *weights, size_t size)\n"
"{\n"
"\tvoid *copy = NULL;\n"
"\n"
"\tctx->weights = NULL;\n"
"\tctx->threads = 1;\n"
"\tctx->report = NULL;\n"
"\tctx->print = NULL;\n"
"\tctx->print_data = NULL;\n"
"\tif (weights == NULL || size != (size_t)N_WEIGHTS_BYTES ||\n"
"\t    memcmp(weights, tn_seal, sizeof tn_seal) != 0)\n"
"\t\treturn N_BAD_WEIGHTS;\n"
"\tif (cudaMalloc(&copy, size) != cudaSuccess)\n"
"\t\treturn N_DEVICE;\n"
"\tctx->weights = (const unsigned char *)copy;\n"
"\tif (cudaMemcpy(copy, weights, size, cudaMemcpyHostToDevice) ==\n"
"\t    cudaSuccess)\n"
"\t\treturn N_OK;\n"
"\tN_fini(ctx);\n"
"\treturn N_DEVICE;\n"
"}\n\n";

static const char init_none[] =
"int N_init(struct N_ctx *ctx, const void *weights, size_t size)\n"
"{\n"
"\t(void)weights;\n"
"\t(void)size;\n"
"\tctx->weights = NULL;\n"
"\tctx->threads = 1;\n"
"\tctx->report = NULL;\n"
"\tctx->print = NULL;\n"
"\tctx->print_data = NULL;\n"
"\treturn N_OK;\n"
"}\n\n";

static const char fini[] =
"void N_fini(struct N_ctx *ctx)\n"
"{\n"
"\tif (ctx->weights != NULL)\n"
"\t\t(void)cudaFree((void *)(uintptr_t)ctx->weights);\n"
"\tctx->weights = NULL;\n"
"}\n\n";

static void put_run(struct tn_cuda *c, struct tn_buf *out)
{
	c->host.out = out;
	tn_host_check(&c->host);
	tn_api_named(out, begin, c->name);
	tn_api_named(out, c->raises ? end_raising : end_plain, c->name);
	tn_buf_put(out, tn_buf_text(&c->host.functions));
	tn_api_named(out, run_device_begin, c->name);
	tn_api_set_context(&c->host, out);
	if (c->raises)
		tn_buf_put(out, clear_flags);
	tn_buf_put(out, tn_buf_text(&c->run));
	tn_buf_put(out, "\treturn tn_end(s, ctx->report);\n}\n\n");
	tn_api_named(out, staging, c->name);
	tn_api_most(&c->host, out);
	tn_api_named(out, run_end, c->name);
}

static void put_tables(struct tn_cuda *c, struct tn_buf *out)
{
	tn_api_named(out, fini, c->name);
	if (c->weights->size)
		tn_api_seal(c->weights, out);
	tn_api_named(out, c->weights->size ? init_weights : init_none,
		     c->name);
	tn_api_tables(&c->host, out);
}

static void put_head(struct tn_cuda *c, struct tn_buf *out)
{
	tn_buf_putf(out, "/*\n * The host program of %s, written by Tenon: "
		    "checks, launches in order, copies.\n */\n"
		    "#include \"%s.h\"\n\n%s#include <string.h>\n\n"
		    "#include <cuda_runtime.h>\n\n", c->name, c->name,
		    tn_print_is_used(&c->host) ? "#include <float.h>\n"
		    "#include <math.h>\n#include <stdio.h>\n"
		    "#include <stdlib.h>\n" : "");
	if (c->raises)
		tn_buf_putf(out, "#define TN_LAUNCHES %d\n",
			    c->host.nlaunches);
	tn_buf_putf(out, "/* Places in a workspace. */\n#define TN_SIZES_AT "
		    "%lld\n#define TN_WORK_AT %lld\n", (long long)sizes_at(c),
		    (long long)work_at(c));
}

void tn_cuda_host_file(struct tn_cuda *c, struct tn_buf *out)
{
	const struct tn_buf *texts[] = {
		&c->run, &c->host.functions, &c->launchers
	};
	struct tn_buf api;

	tn_buf_init(&api);
	c->host.out = &c->run;
	tn_host_body(&c->host);
	put_run(c, &api);
	put_tables(c, &api);
	put_head(c, out);
	tn_api_named(out, state, c->name);
	tn_api_context(&c->host, out);
	tn_buf_put(out, "};\n\n");
	tn_prelude_print(out, &c->host_need, &c->plain);
	tn_api_helpers(&c->host, sizeof(helpers) / sizeof(*helpers), helpers, 3,
		       texts, out);
	tn_buf_put(out, tn_buf_text(&c->launchers));
	tn_buf_put(out, tn_buf_text(&api));
	if (api.failed)
		c->failed = true;
	tn_buf_fini(&api);
}
