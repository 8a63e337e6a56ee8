/*
 * Launches and the other callbacks of the run's steps.
 *
 *   launch_mul(s, 3, s->dims[m_DIM_B], TN_GET(float, s->in[0]),
 *              TN_PUT(float, s->work));
 */
#include "backends/cuda/cuda_impl.h"

static void put_call(struct tn_host *host, const struct tn_op *op,
		     const struct tn_cuda_kernel *info)
{
	struct tn_params p = { host->out, "", ", ", false, true };
	struct tn_buf line;

	tn_host_indent(host);
	tn_buf_putf(host->out, "%s(s, %d", info->base.name, host->nlaunches);
	tn_launch_dims(host, op, &info->base, &p);
	tn_buf_init(&line);
	tn_buf_put(&line, ",\n");
	tn_buf_pad(&line, '\t', (size_t)host->depth + 1);
	p.between = tn_buf_text(&line);
	tn_launch_buffers(host, op, &p);
	tn_buf_put(host->out, ");\n");
	host->out->failed = host->out->failed || line.failed;
	tn_buf_fini(&line);
}

static void put_launch(struct tn_host *host, const struct tn_op *op)
{
	struct tn_cuda *c = host->data;
	const struct tn_cuda_kernel *info = tn_launch_find(&c->kernels, op);
	const struct tn_sym *sym;
	size_t i;

	if (!info || !info->base.name) {
		c->failed = true;
		return;
	}
	tn_launch_begin(host, op);
	put_call(host, op, info);
	for (i = 0; i < info->base.sizes.len; i++) {
		sym = tn_vec_ptr(&info->base.sizes, i);
		tn_host_indent(host);
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
	tn_host_indent(host);
	tn_buf_putf(host->out, "tn_write_index(s, %s, %s);\n", place,
		    variable);
}

const struct tn_host_dialect tn_cuda_host_dialect = {
	put_launch, put_test, put_index, "s->sizes + ", "",
	"tn_print(s, &tn_value);\n"
};
