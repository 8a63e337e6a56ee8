/*
 * The files of an emission, written to a folder; its weights in memory.
 */
#include "driver/toolchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* ---- Weights -------------------------------------------------------------------- */

struct copy {
	char *at;
	size_t left;
};

static bool put_bytes(void *data, const void *bytes, size_t size)
{
	struct copy *copy = data;

	if (size > copy->left)
		return false;
	memcpy(copy->at, bytes, size);
	copy->at += size;
	copy->left -= size;
	return true;
}

enum tn_status tn_toolchain_weights(struct tenon_context *context,
				    const struct tn_emission *emission,
				    void **bytes, size_t *size)
{
	struct copy copy;

	*bytes = NULL;
	*size = (size_t)emission->weights.size;
	if (!*size)
		return TN_OK;
	if (posix_memalign(bytes, 64, *size)) {
		*bytes = NULL;
		return tn_context_nomem(context);
	}
	copy = (struct copy){ *bytes, *size };
	if (tn_weights_write(&emission->weights, put_bytes, &copy))
		return TN_OK;
	free(*bytes);
	*bytes = NULL;
	return tn_context_nomem(context);
}

/* ---- Files ------------------------------------------------------------------------ */

enum tn_status tn_toolchain_put(struct tenon_context *context,
				const char *folder, const char *name,
				const void *data, size_t size)
{
	struct tn_buf path, parent;
	const char *slash = strrchr(name, '/');
	int error = 0;

	tn_buf_init(&path);
	tn_buf_init(&parent);
	tn_buf_putf(&path, "%s/%s", folder, name);
	if (slash)
		tn_buf_putf(&parent, "%s/%.*s", folder, (int)(slash - name),
			    name);
	if (path.failed || parent.failed)
		error = ENOMEM;
	if (!error && slash)
		error = tn_file_mkdirs(tn_buf_text(&parent));
	if (!error)
		error = tn_file_write(tn_buf_text(&path), data, size);
	if (error)
		tn_context_file(context, TN_E0023, tn_buf_text(&path),
				error);
	tn_buf_fini(&path);
	tn_buf_fini(&parent);
	return error ? TN_IO : TN_OK;
}

static enum tn_status write_emitted(struct tenon_context *context,
				    const struct tn_emission *emission,
				    const struct tn_emitted *file,
				    const char *folder)
{
	enum tn_status status;
	void *bytes;
	size_t size;

	if (!file->is_weights)
		return tn_toolchain_put(context, folder, file->name,
					tn_buf_text(&file->text),
					file->text.len);
	status = tn_toolchain_weights(context, emission, &bytes, &size);
	if (!status)
		status = tn_toolchain_put(context, folder, file->name, bytes,
					  size);
	free(bytes);
	return status;
}

enum tn_status tn_toolchain_write(struct tenon_context *context,
				  const struct tn_emission *emission,
				  const char *folder)
{
	enum tn_status status = TN_OK;
	int error = tn_file_mkdirs(folder), i;

	if (error)
		return tn_context_file(context, TN_E0023, folder, error);
	for (i = 0; i < emission->count && !status; i++)
		status = write_emitted(context, emission,
				       &emission->files[i], folder);
	return status;
}
