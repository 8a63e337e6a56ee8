/*
 * The C back end: kernels, then the run function, joined with what they need
 * into the files of the emitted folder.
 */
#include "backends/c/c_impl.h"

static void put_test(struct tn_host *host, const char *place)
{
	tn_buf_putf(host->out, "*TN_GET(uint8_t, %s) != 0", place);
}

static void put_index(struct tn_host *host, const char *place,
		      const char *variable)
{
	tn_host_indent(host);
	tn_buf_putf(host->out, "*TN_PUT(int64_t, %s) = %s;\n", place,
		    variable);
}

static const struct tn_host_dialect host_dialect = {
	tn_c_launch, put_test, put_index, "&s->dims[", "]",
	"s->ctx->print(s->ctx->print_data, &tn_value);\n"
};

static bool uses_vectors(const struct tn_prelude *need)
{
	int i, width;

	for (width = 0; width < TN_WIDTHS; width++)
		for (i = 0; i < TN_DTYPE_COUNT; i++)
			if (need->vectors[width][i])
				return true;
	return false;
}

/* NAME.c: what comes last decides what must stand in front. */
static void join(struct tn_c *c, struct tn_buf *out)
{
	struct tn_buf api;

	tn_buf_init(&api);
	c->host.out = &c->run;
	tn_host_body(&c->host);
	tn_c_api(c, &api);
	c->has_vectors = uses_vectors(&c->need);
	tn_c_head(c, out);
	tn_buf_putc(out, '\n');
	tn_prelude_print(out, &c->need, &c->dialect);
	tn_buf_put(out, tn_buf_text(&c->text));
	tn_buf_put(out, tn_buf_text(&api));
	if (api.failed || c->text.failed || c->run.failed)
		c->failed = true;
	tn_buf_fini(&api);
}

static void put_files(struct tn_c *c, struct tn_emission *out)
{
	tn_c_kernels(c);
	join(c, tn_emission_file(out, ".c"));
	tn_c_header(c, tn_emission_file(out, ".h"));
	tn_c_main(c, tn_emission_file(out, "_main.c"));
	tn_c_makefile(c, tn_emission_add(out, "Makefile", false));
	tn_c_readme(c, tn_emission_add(out, "README", false));
	if (!tn_emission_end(out) || c->kernels.failed)
		c->failed = true;
}

static enum tn_status check_stack(const struct tn_c *c)
{
	struct tn_diag *diag;

	if (c->stack <= c->target->stack_bytes)
		return TN_OK;
	diag = tn_diag_report(c->module->sink, TN_E0905, c->entry->span,
			      "a kernel of '%s' needs %lld bytes of stack, "
			      "the target allows %lld", c->entry->name,
			      (long long)c->stack,
			      (long long)c->target->stack_bytes);
	tn_diag_help(c->module->sink, diag,
		     "use smaller tiles in its @schedule");
	return TN_UNSUPPORTED;
}

enum tn_status tn_emit_c(const struct tn_module *module,
			 const struct tn_fn *entry, const char *name,
			 const struct tn_target *target,
			 struct tn_emission *out)
{
	struct tn_c c = { .module = module, .entry = entry,
			  .target = target, .arena = &out->arena,
			  .weights = &out->weights };
	enum tn_status status = tn_emission_begin(out, entry, name);

	if (status != TN_OK)
		return status;
	c.name = out->name;
	tn_c_dialect(&c.dialect, target);
	tn_launch_init(&c.kernels, &out->arena, sizeof(struct tn_c_kernel));
	tn_buf_init(&c.text);
	tn_buf_init(&c.run);
	tn_host_init(&c.host, &host_dialect, entry, &out->weights, c.name,
		     &c.need);
	c.host.data = &c;
	put_files(&c, out);
	status = c.failed ? TN_IO : c.host.status;
	if (status == TN_OK)
		status = check_stack(&c);
	tn_host_fini(&c.host);
	tn_launch_fini(&c.kernels);
	tn_buf_fini(&c.text);
	tn_buf_fini(&c.run);
	return status;
}
