/*
 * Launches and the other callbacks of the run's steps.
 *
 *   launch_mul(s, 3, s->dims[m_DIM_B], TN_GET(float, s->in[0]),
 *              TN_PUT(float, s->work));
 */
#include "backends/cuda/cuda_impl.h"

static void indent(struct tn_host *host)
{
	tn_buf_pad(host->out, '\t', (size_t)host->depth);
}

static void put_buffers(struct tn_host *host, const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	const struct tn_kbuf *param;
	int i;

	for (i = 0; i < kernel->nparams; i++) {
		param = kernel->params[i];
		tn_buf_putf(host->out, ",\n");
		indent(host);
		tn_buf_putf(host->out, "\t%s(%s, %s)",
			    param->role == TN_KBUF_IN ? "TN_GET" : "TN_PUT",
			    tn_dtypes[param->dtype].c_storage,
			    tn_host_place(host, tn_api_argument(op, i)));
	}
}

static void put_call(struct tn_host *host, const struct tn_op *op,
		     const struct tn_cuda_kernel *info)
{
	struct tn_buf *out = host->out;
	const struct tn_sym *sym;
	size_t i;

	indent(host);
	tn_buf_putf(out, "%s(s, %d", info->name, host->nlaunches);
	for (i = 0; i < info->syms.len; i++) {
		sym = tn_vec_ptr(&info->syms, i);
		tn_buf_putf(out, ", s->dims[%s_DIM_%s]", host->name,
			    tn_host_sym(host, sym));
	}
	for (i = 0; i < info->sizes.len; i++) {
		sym = tn_vec_ptr(&info->sizes, i);
		tn_buf_putf(out, ", s->sizes + %s_DIM_%s", host->name,
			    tn_host_sym(host, sym));
	}
	if (info->has_scratch)
		tn_buf_putf(out, ", s->work + %lld", (long long)op->scratch);
	put_buffers(host, op);
	tn_buf_put(out, ");\n");
}

static void put_launch(struct tn_host *host, const struct tn_op *op)
{
	struct tn_cuda *c = host->data;
	const struct tn_cuda_kernel *info = tn_map_find(&c->by_kernel,
							op->kernel);
	const struct tn_sym *sym;
	size_t i;

	if (!info || !info->name) {
		c->failed = true;
		return;
	}
	tn_api_comment(host, op);
	tn_api_updates(host, op);
	put_call(host, op, info);
	for (i = 0; i < info->sizes.len; i++) {
		sym = tn_vec_ptr(&info->sizes, i);
		indent(host);
		tn_buf_putf(host->out, "tn_read_size(s, %s_DIM_%s);\n",
			    host->name, tn_host_sym(host, sym));
	}
}

static void put_test(struct tn_host *host, const char *place)
{
	tn_buf_putf(host->out, "tn_test(s, %s)", place);
}

static void put_index(struct tn_host *host, const char *place,
		      const char *variable)
{
	indent(host);
	tn_buf_putf(host->out, "tn_write_index(s, %s, %s);\n", place,
		    variable);
}

const struct tn_host_dialect tn_cuda_host_dialect = {
	put_launch, put_test, put_index
};
