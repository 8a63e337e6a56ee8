/*
 * Files of other systems as modules: mapped for the life of the module, then
 * given to their importer, whose statements the elaborator reads.
 */
#include "driver/foreign.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
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

/* ---- Bounds -------------------------------------------------------------- */

#define NBOUNDS 64

static bool number(struct tenon_module *module, const char *text, size_t len,
		   int64_t *out)
{
	const char *copy = tn_arena_strndup(&module->arena, text, len);
	uint64_t value;

	if (!copy || !tn_num_parse_u64(copy, &value) || value > INT32_MAX)
		return false;
	*out = (int64_t)value;
	return true;
}

/* "N=1:8", "N=4", or "N=M", the same size. */
static bool bound(struct tenon_module *module, const char *text, size_t len,
		  struct tn_import_dim *dim)
{
	const char *equal = memchr(text, '=', len), *colon;
	size_t left;

	if (!equal || equal == text)
		return false;
	dim->is_used = false;
	dim->same = NULL;
	dim->name = tn_arena_strndup(&module->arena, text,
				     (size_t)(equal - text));
	left = len - (size_t)(++equal - text);
	colon = memchr(equal, ':', left);
	if (!colon && left && (*equal < '0' || *equal > '9')) {
		dim->lo = dim->hi = 0;
		dim->same = tn_arena_strndup(&module->arena, equal, left);
		return dim->name && dim->same;
	}
	if (!colon)
		return dim->name && number(module, equal, left, &dim->lo) &&
		       (dim->hi = dim->lo, true);
	return dim->name &&
	       number(module, equal, (size_t)(colon - equal), &dim->lo) &&
	       number(module, colon + 1, left - (size_t)(colon + 1 - equal),
		      &dim->hi) && dim->lo <= dim->hi;
}

static enum tn_status read_bounds(struct tenon_module *module,
				  struct tn_import *import,
				  struct tn_import_dim *dims)
{
	const char *text = module->context->settings.bounds;
	size_t len;

	import->dims = dims;
	for (; text && *text; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		if (import->ndims < NBOUNDS &&
		    bound(module, text, len, &dims[import->ndims])) {
			import->ndims++;
			continue;
		}
		tn_diag_help(&module->context->sink,
			     tn_context_report(module->context, TN_E0004,
				"'%.*s' is no value of bounds", (int)len,
				text), "it takes NAME=LOW:HIGH, NAME=SIZE or "
			     "NAME=OTHER");
		return TN_USAGE;
	}
	return TN_OK;
}

/* Bounds of a size that the model has not would be without effect. */
static enum tn_status bounds_are_of(struct tenon_module *module,
				    const struct tn_import *import)
{
	const char *names[NBOUNDS] = {0}, *name;
	const struct tn_dim *dim;
	int i, k, n = module->ir->dims.nsyms;

	for (k = 0; k < import->ndims; k++) {
		if (import->dims[k].is_used)
			continue;
		name = import->dims[k].name;
		for (i = 0; i < n; i++) {
			dim = tn_vec_ptr(&module->ir->dims.syms, (size_t)i);
			names[i % NBOUNDS] = dim->sym->name;
		}
		tn_context_suggest(module->context,
				   tn_context_report(module->context, TN_E0011,
						     "--bounds: there is no "
						     "dim '%s'", name), name,
				   names, (size_t)(n < NBOUNDS ? n : NBOUNDS),
				   "`tenon import` shows them");
		return TN_USAGE;
	}
	return TN_OK;
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
	struct tn_import_dim dims[NBOUNDS];
	struct tn_file_map mapped;
	struct tn_given_lists given;
	enum tn_status status;
	int error = map(module, path, &mapped);

	if (error > 0)
		return tn_context_file(module->context, TN_E0002, path, error);
	status = error ? TN_IO : read_bounds(module, &import, dims);
	if (!status)
		status = begin(module);
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
		status = bounds_are_of(module, &import);
	if (!status)
		status = tn_given_check(module, &import);
	return status || module->context->settings.no_composites ? status :
		tn_composites_find(module);
}
