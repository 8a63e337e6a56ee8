/*
 * The CUDA back end: kernels, then the steps of a run, joined into the files
 * of the emitted folder.
 */
#include "backends/cuda/cuda_impl.h"

#include <string.h>

static struct tn_buf *add_file(struct tn_cuda *c, struct tn_emission *out,
			       const char *name)
{
	struct tn_emitted *file;

	if (out->count == TN_EMISSION_FILES || !name)
		c->failed = true;
	if (out->count == TN_EMISSION_FILES)
		return &out->files[0].text;
	file = &out->files[out->count++];
	file->name = name;
	tn_buf_init(&file->text);
	return &file->text;
}

static struct tn_buf *add_named(struct tn_cuda *c, struct tn_emission *out,
				const char *ending)
{
	return add_file(c, out, tn_arena_printf(&out->arena, "%s%s",
						out->name, ending));
}

static void add_stand_in(struct tn_cuda *c, struct tn_emission *out)
{
	const char *name, *text;
	struct tn_buf *file;
	size_t size;
	int i;

	for (i = 0; (name = tn_cuda_stand_in(i, &text, &size)); i++) {
		file = add_file(c, out, name);
		tn_buf_putn(file, text, size);
	}
}

/* The host file comes first: its dims may call for helpers. */
static void put_files(struct tn_cuda *c, struct tn_emission *out)
{
	int i;

	tn_cuda_kernels(c);
	if (c->failed || c->status != TN_OK)
		return;
	tn_cuda_host_file(c, add_named(c, out, "_host.c"));
	tn_cuda_header(c, add_named(c, out, ".h"));
	tn_cuda_device_file(c, add_named(c, out, ".cu"));
	tn_cuda_side_file(c, add_named(c, out, "_emu.cpp"));
	tn_cuda_makefile(c, add_file(c, out, "Makefile"));
	tn_cuda_readme(c, add_file(c, out, "README"));
	add_stand_in(c, out);
	if (out->weights.size) {
		(void)add_named(c, out, ".weights");
		out->files[out->count - 1].is_weights = true;
	}
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
