/*
 * Files of other systems as modules: mapped for the life of the module, then
 * given to their importer, whose statements the elaborator reads.
 */
#include "driver/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "driver/composites.h"
#include "driver/given.h"
#include "driver/source.h"
#include "importers/importer.h"

bool tn_foreign_is(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && !strcmp(path + len - 5, ".onnx");
}

void tn_foreign_close(struct tenon_module *module)
{
	struct tn_mapping *mapping;
	size_t i;

	for (i = 0; i < module->mappings.len; i++) {
		mapping = tn_vec_at(&module->mappings, i);
		tn_file_unmap(&mapping->map);
	}
	tn_vec_fini(&module->mappings);
}

/* The file, mapped once; an errno value. */
static int map(struct tenon_module *module, const char *path,
	       struct tn_file_map *out)
{
	struct tn_mapping *mapping;
	int error;
	size_t i;

	for (i = 0; i < module->mappings.len; i++) {
		mapping = tn_vec_at(&module->mappings, i);
		if (strcmp(mapping->path, path) != 0)
			continue;
		*out = mapping->map;
		return 0;
	}
	error = tn_file_map(path, out);
	if (error)
		return error;
	mapping = tn_vec_push(&module->mappings);
	if (!mapping) {
		tn_file_unmap(out);
		return -1;
	}
	mapping->path = tn_arena_strndup(&module->arena, path, strlen(path));
	mapping->map = *out;
	return mapping->path ? 0 : -1;
}

static const void *map_beside(void *host, const char *path, size_t *size,
			      struct tn_buf *why)
{
	struct tn_file_map out;
	int error = map(host, path, &out);

	if (error) {
		tn_buf_putf(why, "%s: %s", path, error < 0 ? "out of memory" :
			    tn_file_error(error));
		return NULL;
	}
	*size = out.size;
	return out.data;
}

static int text(void *host, struct tn_block *block,
		const struct tn_text *statements, int max,
		struct tn_value **out, struct tn_buf *why)
{
	struct tenon_module *module = host;

	return tn_elab_text(module->elab, block, statements, max, out, why);
}

/* ---- Reading ------------------------------------------------------------- */

/* A module without items, for the importer to fill. */
static enum tn_status begin(struct tenon_module *module)
{
	static const char empty[] = "tenon 1.0;\n";
	uint32_t file = tn_sink_add_source(&module->context->sink,
					   module->path, empty,
					   sizeof(empty) - 1);

	return file ? tn_module_read(module, file) : TN_IO;
}

enum tn_status tn_foreign_read(struct tenon_module *module, const char *path)
{
	struct tn_import import = {
		.path = path, .text = text, .map = map_beside, .host = module
	};
	struct tn_file_map mapped;
	struct tn_given_lists given;
	enum tn_status status;
	int error = map(module, path, &mapped);

	if (error > 0)
		return tn_context_file(module->context, TN_E0002, path, error);
	status = error ? TN_IO : begin(module);
	if (!status)
		status = tn_given_read(module, &import, &given);
	if (status)
		return status;
	import.module = module->ir;
	import.sink = &module->context->sink;
	import.data = mapped.data;
	import.size = mapped.size;
	status = tn_onnx_import(&import, &module->file);
	module->has_weights = true;
	tn_given_fini(&import);
	if (!status)
		status = tn_given_check(module, &import);
	return status || module->context->settings.no_composites ? status :
		tn_composites_find(module);
}
