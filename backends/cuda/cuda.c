/*
 * The CUDA back end: kernels, then the steps of a run, joined into the files
 * of the emitted folder.
 */
#include "backends/cuda/cuda_impl.h"

#include <string.h>

static const char *name_of(struct tn_emission *out, const char *ending)
{
	return tn_arena_printf(&out->arena, "%s%s", out->name, ending);
}

static struct tn_buf *add_file(struct tn_emission *out, const char *ending)
{
	return tn_emission_add(out, name_of(out, ending), false);
}

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
	int i;

	tn_cuda_kernels(c);
	if (c->failed || c->status != TN_OK)
		return;
	tn_cuda_host_file(c, add_file(out, "_host.c"));
	tn_cuda_header(c, add_file(out, ".h"));
	tn_cuda_device_file(c, add_file(out, ".cu"));
	tn_cuda_side_file(c, add_file(out, "_emu.cpp"));
	tn_cuda_makefile(c, tn_emission_add(out, "Makefile", false));
	tn_cuda_readme(c, tn_emission_add(out, "README", false));
	add_stand_in(out);
	if (out->weights.size)
		(void)tn_emission_add(out, name_of(out, ".weights"), true);
	if (out->failed)
		c->failed = true;
	for (i = 0; i < out->count; i++)
		if (out->files[i].text.failed)
			c->failed = true;
}

/* Host code calls nothing but the arithmetic of dims. */
static void plain_dialect(struct tn_dialect *dialect)
{
	memset(dialect, 0, sizeof *dialect);
	dialect->function = "static inline";
	dialect->restricted = "";
	dialect->raise = dialect->flags = dialect->raise_here = "";
	dialect->bits_f32 = dialect->f32_bits = "";
	dialect->bits_f64 = dialect->f64_bits = "";
	dialect->mac_f32 = dialect->mac_f64 = "";
}

static void init(struct tn_cuda *c, struct tn_emission *out)
{
	tn_cuda_dialect(&c->device);
	plain_dialect(&c->plain);
	tn_names_init(&c->functions, &out->arena);
	tn_vec_init(&c->kernels, sizeof(void *), &out->arena);
	tn_map_init_ptr(&c->by_kernel);
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
	tn_names_fini(&c->functions);
	tn_vec_fini(&c->kernels);
	tn_map_fini(&c->by_kernel);
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
	enum tn_status status;

	memset(out, 0, sizeof *out);
	tn_arena_init(&out->arena);
	c.name = out->name = tn_names_clean(&out->arena, name);
	if (!tn_weights_init(&out->weights, entry))
		return module->sink->errors ? TN_BAD_INPUT : TN_IO;
	if (!out->name)
		return TN_IO;
	init(&c, out);
	put_files(&c, out);
	status = c.host.status;
	if (c.status != TN_OK)
		status = c.status;
	if (c.failed || c.text.failed || c.launchers.failed || c.run.failed ||
	    out->arena.failed)
		status = TN_IO;
	fini(&c);
	return status;
}
