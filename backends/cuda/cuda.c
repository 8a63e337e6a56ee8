/*
 * The CUDA back end: kernels, then the steps of a run, joined into the files
 * of the emitted folder.
 */
#include "backends/cuda/cuda_impl.h"

static void add_stand_in(struct tn_emission *out)
{
	const char *name, *text;
	size_t size;
	int i;

	for (i = 0; (name = tn_cuda_stand_in(i, &text, &size)); i++)
		tn_buf_putn(tn_emission_add(out, name, false), text, size);
}

/* The host file comes first: its dims may call for helpers. */
static void put_files(struct tn_cuda *c, struct tn_emission *out)
{
	tn_cuda_kernels(c);
	if (c->failed || c->status != TN_OK)
		return;
	tn_cuda_host_file(c, tn_emission_file(out, "_host.c"));
	tn_cuda_header(c, tn_emission_file(out, ".h"));
	tn_cuda_device_file(c, tn_emission_file(out, ".cu"));
	tn_cuda_side_file(c, tn_emission_file(out, "_emu.cpp"));
	tn_cuda_main(c, tn_emission_file(out, "_main.c"));
	tn_cuda_makefile(c, tn_emission_add(out, "Makefile", false));
	tn_cuda_readme(c, tn_emission_add(out, "README", false));
	add_stand_in(out);
	if (!tn_emission_end(out))
		c->failed = true;
}

static void init(struct tn_cuda *c, struct tn_emission *out)
{
	tn_cuda_dialect(&c->device);
	tn_api_dialect(&c->plain);
	tn_launch_init(&c->kernels, &out->arena,
		       sizeof(struct tn_cuda_kernel));
	tn_buf_init(&c->text);
	tn_buf_init(&c->launchers);
	tn_buf_init(&c->run);
	tn_host_init(&c->host, &tn_cuda_host_dialect, c->entry, &out->weights,
		     c->name, &c->host_need);
	c->host.data = c;
}

static void fini(struct tn_cuda *c)
{
	tn_host_fini(&c->host);
	tn_launch_fini(&c->kernels);
	tn_buf_fini(&c->text);
	tn_buf_fini(&c->launchers);
	tn_buf_fini(&c->run);
}

enum tn_status tn_emit_cuda(const struct tn_module *module,
			    const struct tn_fn *entry, const char *name,
			    const struct tn_target *target,
			    struct tn_emission *out)
{
	struct tn_cuda c = { .module = module, .entry = entry,
			     .target = target, .arena = &out->arena,
			     .weights = &out->weights };
	enum tn_status status = tn_emission_begin(out, entry, name);

	if (status != TN_OK)
		return status;
	c.name = out->name;
	init(&c, out);
	put_files(&c, out);
	status = c.host.status;
	if (c.status != TN_OK)
		status = c.status;
	if (c.failed || c.kernels.failed || c.text.failed ||
	    c.launchers.failed || c.run.failed)
		status = TN_IO;
	fini(&c);
	return status;
}
