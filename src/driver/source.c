/*
 * Source texts: reading, including, parsing, formatting.
 */
#include "driver/source.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "grammar/syntax.h"

/* Largest text that spans can address. */
#define TEXT_LIMIT ((size_t)UINT32_MAX - 2)

static uint32_t add(struct tenon_context *context, const char *name,
		    const char *text, size_t size, enum tn_status *status)
{
	uint32_t file;

	if (size > TEXT_LIMIT) {
		tn_context_report(context, TN_E0002,
				  "%s: texts are at most 4 GB", name);
		*status = TN_BAD_INPUT;
		return 0;
	}
	file = tn_sink_add_source(&context->sink, name, text, size);
	*status = file ? TN_OK : TN_IO;
	return file;
}

uint32_t tn_source_read(struct tenon_context *context, const char *path,
			enum tn_status *status)
{
	bool is_stdin = !strcmp(path, "-");
	char *text;
	size_t size;
	uint32_t file;
	int error = tn_file_read(is_stdin ? "/dev/stdin" : path, &text,
				 &size);

	if (error) {
		*status = tn_context_file(context, TN_E0002, path, error);
		return 0;
	}
	file = add(context, is_stdin ? "<stdin>" : path, text, size, status);
	free(text);
	return file;
}

struct tn_tree *tn_source_parse(struct tenon_context *context,
				struct tn_arena *arena, uint32_t file)
{
	return tn_parse(&context->sink, &context->names, arena, file);
}

char *tn_source_beside(struct tenon_context *context,
		       struct tn_arena *arena, uint32_t file,
		       const char *path)
{
	const struct tn_source *source;
	char *folder;

	if (!file)
		return tn_arena_strndup(arena, path, strlen(path));
	source = tn_vec_at(&context->sink.sources, file - 1);
	folder = tn_file_dirname(arena, source->name);
	return folder ? tn_file_join(arena, folder, path) : NULL;
}

/* The number of a file that the sink has already, or 0. */
static uint32_t find(const struct tenon_context *context, const char *path)
{
	const struct tn_vec *sources = &context->sink.sources;
	struct stat want, have;
	bool is_file = stat(path, &want) == 0;
	size_t i;

	for (i = 0; i < sources->len; i++) {
		const struct tn_source *source = tn_vec_at(sources, i);

		if (!strcmp(source->name, path) ||
		    (is_file && stat(source->name, &have) == 0 &&
		     want.st_dev == have.st_dev &&
		     want.st_ino == have.st_ino))
			return (uint32_t)i + 1;
	}
	return 0;
}

uint32_t tn_source_include(struct tenon_context *context,
			   struct tn_arena *arena, const char *path,
			   uint32_t from, struct tn_span span)
{
	struct tn_diag *diag;
	char *full, *text;
	size_t size;
	uint32_t file;
	enum tn_status status;
	int error;

	if (!tn_file_is_inside(path) && !context->settings.allow_outside) {
		diag = tn_diag_report(&context->sink, TN_E0003, span,
				      "'%s' leads out of the folder", path);
		tn_diag_help(&context->sink, diag,
			     "--allow-outside permits it");
		return 0;
	}
	full = tn_source_beside(context, arena, from, path);
	if (!full)
		return 0;
	file = find(context, full);
	if (file)
		return file;
	error = tn_file_exists(full) && !tn_file_is_regular(full) ? ENODEV :
		tn_file_read(full, &text, &size);
	if (error) {
		tn_diag_report(&context->sink, TN_E0002, span, "%s: %s", full,
			       tn_file_error(error));
		return 0;
	}
	file = add(context, full, text, size, &status);
	free(text);
	return file;
}

enum tenon_status tenon_format(struct tenon_context *context,
			       const char *name, const char *text,
			       size_t size, char **out)
{
	enum tn_status status;
	struct tn_buf buf;
	uint32_t file;

	*out = NULL;
	if (!context || !name || !text)
		return TENON_USAGE;
	file = add(context, name, text, size, &status);
	if (!file)
		return tn_context_end(context, status);
	tn_buf_init(&buf);
	if (!tn_fmt(&context->sink, file, &buf)) {
		tn_buf_fini(&buf);
		return tn_context_end(context, TN_BAD_INPUT);
	}
	return tn_context_text(context, &buf, out);
}
