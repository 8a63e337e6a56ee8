/*
 * Launches in the run function, and the other callbacks of the host program.
 *
 *   tn_note(s, k_main__mul(s->threads, s->dims[m_DIM_B], TN_GET(float,
 *           (const unsigned char *)s->in[0]), TN_PUT(float, s->work)), 3);
 */
#include "backends/c/c_impl.h"

/* Entries of a table that one function fills: compilers need more than linear
 * time for long functions. */
#define FILL 128

/* Table entries from `*at`, as a function that is called here. */
static void put_fill(struct tn_host *host, const struct tn_value **values,
		     int count, int begin, bool is_in)
{
	struct tn_buf *out = &host->functions;
	int i, end = begin + FILL < count ? begin + FILL : count;
	int number = host->nfunctions++;

	tn_buf_putf(out, "TN_COLD void %s_fill_%d(const struct %s_state *s, "
		    "%svoid **table)\n{\n", host->name, number, host->name,
		    is_in ? "const " : "");
	tn_buf_put(out, "\t(void)s;\n");
	for (i = begin; i < end; i++)
		tn_buf_putf(out, "\ttable[%d] = %s;\n", i,
			    tn_host_place(host, values[i]));
	tn_buf_put(out, "}\n\n");
	tn_host_indent(host);
	tn_buf_putf(host->out, "%s_fill_%d(s, tn_%s);\n", host->name, number,
		    is_in ? "in" : "out");
}

static void put_table(struct tn_host *host, const struct tn_op *op,
		      bool is_in)
{
	const struct tn_kernel *kernel = op->kernel;
	const struct tn_value **values;
	int i, nin = 0, nout = 0, count = 0;

	values = tn_arena_array(&host->arena, (size_t)kernel->nparams,
				sizeof(*values));
	if (!values) {
		host->status = TN_IO;
		return;
	}
	for (i = 0; i < kernel->nparams; i++) {
		if ((kernel->params[i]->role == TN_KBUF_IN) == is_in)
			values[count++] = is_in ? tn_graph_in(op, nin) :
				op->out[nout];
		nin += kernel->params[i]->role != TN_KBUF_OUT;
		nout += kernel->params[i]->role != TN_KBUF_IN;
	}
	for (i = 0; i < count; i += FILL)
		put_fill(host, values, count, i, is_in);
}

static void put_call(struct tn_host *host, const struct tn_op *op,
		     const struct tn_c_kernel *info)
{
	struct tn_params p = { host->out, "", ", ", false, false };

	tn_buf_putf(host->out, "%s(", info->base.name);
	if (info->is_parallel)
		tn_params_put(&p, "", "s->", "threads");
	tn_launch_dims(host, op, &info->base, &p);
	if (info->is_wide)
		tn_params_put(&p, "", "(const void *const *)tn_in, ",
			      "tn_out");
	else
		tn_launch_buffers(host, op, &p);
	tn_buf_putc(host->out, ')');
}

void tn_c_launch(struct tn_host *host, const struct tn_op *op)
{
	struct tn_c *c = host->data;
	const struct tn_c_kernel *info = tn_launch_find(&c->kernels, op);

	if (!info) {
		c->failed = true;
		return;
	}
	tn_launch_begin(host, op);
	if (info->is_wide) {
		tn_host_indent(host);
		tn_buf_put(host->out, "{\n");
		host->depth++;
		tn_host_indent(host);
		tn_buf_putf(host->out, "const void *tn_in[%d];\n",
			    op->kernel->nparams);
		tn_host_indent(host);
		tn_buf_putf(host->out, "void *tn_out[%d];\n\n",
			    op->kernel->nparams);
		put_table(host, op, true);
		put_table(host, op, false);
	}
	tn_host_indent(host);
	if (info->base.raises)
		tn_buf_put(host->out, "tn_note(s, ");
	put_call(host, op, info);
	if (info->base.raises)
		tn_buf_putf(host->out, ", %d)", host->nlaunches);
	tn_buf_put(host->out, ";\n");
	if (info->is_wide) {
		host->depth--;
		tn_host_indent(host);
		tn_buf_put(host->out, "}\n");
	}
}
