/*
 * Modules to files: large constants in side files, named by content, and paths
 * of weights that hold from the new place.
 */
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700	/* realpath */
#endif
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sha256.h"
#include "driver/module.h"
#include "driver/source.h"
#include "driver/tensorfile.h"
#include "ir/print.h"

struct saving {
	struct tenon_module *module;
	const char *folder;	/* where the module goes */
	enum tn_status status;
};

/* "const-<16 hex digits>.npy", written beside the module. */
static const char *side_file(void *data, const struct tn_tensor *tensor)
{
	struct saving *s = data;
	struct tn_arena *arena = &s->module->arena;
	unsigned char digest[32];
	struct tn_sha256 sha;
	struct tn_buf why;
	char hex[65], *name, *path;

	tn_sha256_init(&sha);
	tn_sha256_add(&sha, &tensor->dtype, sizeof(tensor->dtype));
	tn_sha256_add(&sha, tensor->shape,
		      (size_t)tensor->rank * sizeof(*tensor->shape));
	tn_sha256_add(&sha, tensor->data, (size_t)tn_tensor_bytes(tensor));
	tn_sha256_end(&sha, digest);
	tn_sha256_hex(digest, hex);
	name = tn_arena_printf(arena, "const-%.16s.npy", hex);
	path = name ? tn_file_join(arena, s->folder, name) : NULL;
	if (!path) {
		s->status = TN_IO;
		return NULL;
	}
	tn_buf_init(&why);
	if (!s->status)
		s->status = tn_tensorfile_write_npy(path, tensor, &why);
	if (s->status)
		tn_context_report(s->module->context, TN_E0023, "%s",
				  tn_buf_text(&why));
	tn_buf_fini(&why);
	return name;
}

/* How to name absolute path `to` from absolute folder `from`. */
static char *relative(struct tn_arena *arena, const char *from,
		      const char *to)
{
	size_t same = 0, i;
	struct tn_buf buf;
	char *out = NULL;

	for (i = 0; from[i] && from[i] == to[i]; i++)
		if (from[i] == '/')
			same = i;
	if (!from[i] && to[i] == '/')
		same = i;
	tn_buf_init(&buf);
	for (i = same; from[i]; i++)
		if (from[i] == '/' && from[i + 1])
			tn_buf_put(&buf, "../");
	tn_buf_put(&buf, to + same + (to[same] == '/'));
	if (!buf.failed)
		out = tn_arena_strndup(arena, tn_buf_text(&buf), buf.len);
	tn_buf_fini(&buf);
	return out;
}

/* The path of a weight file as seen from the new folder; unchanged if it is
 * absolute or not there. */
static const char *moved(struct saving *s, const struct tn_weight *weight)
{
	struct tn_arena *arena = &s->module->arena;
	const char *file = weight->file;
	char *path, *to, *from;

	if (file[0] == '/')
		return file;
	path = tn_source_beside(s->module->context, arena,
				weight->span.file, file);
	if (!path)
		return NULL;
	to = realpath(path, NULL);
	from = realpath(s->folder, NULL);
	if (to && from)
		file = relative(arena, from, to);
	free(to);
	free(from);
	return file;
}

static void move_weights(struct saving *s, const char **kept)
{
	const struct tn_vec *weights = &s->module->ir->weights;
	struct tn_weight *weight;
	size_t i;

	for (i = 0; i < weights->len; i++) {
		weight = tn_vec_ptr(weights, i);
		kept[i] = weight->file;
		if (weight->file)
			weight->file = moved(s, weight);
	}
}

static void put_back(struct saving *s, const char *const *kept)
{
	const struct tn_vec *weights = &s->module->ir->weights;
	struct tn_weight *weight;
	size_t i;

	for (i = 0; i < weights->len; i++) {
		weight = tn_vec_ptr(weights, i);
		weight->file = kept[i];
	}
}

/* ---- Weights without a file ---------------------------------------------- */

static bool has_data_alone(const struct tn_weight *weight)
{
	return !weight->file && (weight->data.data ||
				 !tn_tensor_count(&weight->data));
}

/* NAME.safetensors for NAME.tn. */
static const char *side_name(struct saving *s, const char *path)
{
	const char *base = strrchr(path, '/');
	const char *dot;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	return tn_arena_printf(&s->module->arena, "%.*s.safetensors",
			       (int)(dot ? dot - base : (long)strlen(base)),
			       base);
}

/* Weights that came with the graph go to a file beside the text; they are
 * read from there as long as this is being saved. */
static void write_weights(struct saving *s, const char *path)
{
	const struct tn_vec *weights = &s->module->ir->weights;
	const char *name = side_name(s, path), *full;
	struct tn_tensorfile_item *items;
	struct tn_weight *weight;
	struct tn_buf why;
	size_t count = 0, i;

	items = tn_arena_array(&s->module->arena, weights->len + 1,
			       sizeof(*items));
	full = name ? tn_file_join(&s->module->arena, s->folder, name) : NULL;
	if (!items || !full) {
		s->status = TN_IO;
		return;
	}
	for (i = 0; i < weights->len; i++) {
		weight = tn_vec_ptr(weights, i);
		if (!has_data_alone(weight))
			continue;
		items[count].key = weight->name;
		items[count++].tensor = &weight->data;
		weight->file = name;
		weight->key = weight->name;
	}
	tn_buf_init(&why);
	if (count)
		s->status = tn_tensorfile_write_safetensors(full, items,
							    count, &why);
	if (s->status)
		tn_context_report(s->module->context, TN_E0023, "%s",
				  tn_buf_text(&why));
	tn_buf_fini(&why);
}

enum tenon_status tenon_module_save(struct tenon_module *module,
				    const char *path)
{
	struct saving s = { .module = module };
	struct tn_print_options options = { .side_file = side_file,
					    .data = &s };
	const char **kept;
	struct tn_buf text;
	int error = 0;

	if (!module || !path)
		return TENON_USAGE;
	s.folder = tn_file_dirname(&module->arena, path);
	kept = tn_arena_array(&module->arena, module->ir->weights.len + 1,
			      sizeof(*kept));
	if (!s.folder || !kept)
		return tn_context_end(module->context, TN_IO);
	move_weights(&s, kept);
	if (module->has_weights)
		write_weights(&s, path);
	tn_buf_init(&text);
	tn_print_module(&text, module->ir, &options);
	put_back(&s, kept);
	if (text.failed)
		error = ENOMEM;
	else if (!s.status)
		error = tn_file_write(path, tn_buf_text(&text), text.len);
	tn_buf_fini(&text);
	if (error)
		s.status = tn_context_file(module->context, TN_E0023, path,
					   error);
	return tn_context_end(module->context, s.status);
}
