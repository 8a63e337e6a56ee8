/*
 * The front of tensor files: opens, tells the format, finds keys, writes.
 */
#include "driver/tensorfile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/unit.h"
#include "driver/npy.h"
#include "driver/tensorfile_impl.h"

enum tn_status tn_tensorfile_nomem(struct tn_buf *error)
{
	tn_buf_put(error, "out of memory");
	return TN_IO;
}

static void put_path(struct tn_buf *error, const char *path)
{
	tn_unit_put(error, path, strlen(path));
	tn_buf_put(error, ": ");
}

static void put_key(struct tn_buf *error, const char *key)
{
	tn_buf_putc(error, '\'');
	tn_unit_put(error, key, strlen(key));
	tn_buf_putc(error, '\'');
}

/* "FILE: 'KEY': REASON"; without the key if it is NULL or "". */
static void put_reason(struct tn_buf *error, const char *path,
		       const char *key, struct tn_buf *reason)
{
	put_path(error, path);
	if (key && key[0]) {
		put_key(error, key);
		tn_buf_put(error, ": ");
	}
	tn_unit_put(error, tn_buf_text(reason), reason->len);
	tn_buf_fini(reason);
}

struct tn_stored *tn_tensorfile_add(struct tn_tensorfile *file,
				    const char *key, size_t len,
				    enum tn_status *status,
				    struct tn_buf *error)
{
	struct tn_stored *stored = tn_arena_alloc(&file->arena,
						  sizeof(*stored));
	char *copy = tn_arena_strndup(&file->arena, key, len);

	*status = TN_IO;
	if (stored && copy && tn_map_has(&file->by_key, copy)) {
		put_key(error, copy);
		tn_buf_put(error, " is in it twice");
		*status = TN_BAD_INPUT;
		return NULL;
	}
	if (!stored || !copy || !tn_vec_push_ptr(&file->stored, stored) ||
	    !tn_vec_push_ptr(&file->keys, copy) ||
	    !tn_map_set(&file->by_key, copy, stored)) {
		tn_tensorfile_nomem(error);
		return NULL;
	}
	*status = TN_OK;
	stored->key = copy;
	stored->raw.dtype = TN_POISON;
	return stored;
}

static enum tn_status list_npy(struct tn_tensorfile *file,
			       struct tn_buf *error)
{
	enum tn_status status;
	struct tn_stored *stored = tn_tensorfile_add(file, "", 0, &status,
						     error);

	if (!stored)
		return status;
	stored->loaded = true;
	return tn_npy_parse(file->map.data, file->map.size, &file->arena,
			    &stored->raw, error);
}

static bool has_suffix(const char *path, const char *suffix)
{
	size_t len = strlen(path), end = strlen(suffix);

	return len > end && strcmp(path + len - end, suffix) == 0;
}

static enum tn_status refuse(const struct tn_tensorfile *file,
			     struct tn_buf *error)
{
	static const char *const suffixes[] = {".npy", ".npz", ".safetensors"};
	const void *data = file->map.data;
	size_t i;

	if (file->map.size >= 4 && memcmp(data, "GGUF", 4) == 0) {
		tn_buf_put(error, "GGUF files are not supported");
		return TN_UNSUPPORTED;
	}
	if (file->map.size == 0) {
		tn_buf_put(error, "the file is empty");
		return TN_BAD_INPUT;
	}
	for (i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (has_suffix(file->path, suffixes[i])) {
			tn_buf_putf(error, "it is not a %s file, in spite of "
				    "its name", suffixes[i]);
			return TN_BAD_INPUT;
		}
	}
	tn_buf_put(error, "it is neither .npy, .npz nor safetensors");
	return TN_BAD_INPUT;
}

static enum tn_status list(struct tn_tensorfile *file, struct tn_buf *error)
{
	const void *data = file->map.data;
	size_t size = file->map.size;

	if (tn_npy_is(data, size))
		return list_npy(file, error);
	if (tn_npz_is(data, size))
		return tn_npz_list(file, error);
	if (tn_safetensors_is(data, size))
		return tn_safetensors_list(file, error);
	return refuse(file, error);
}

static enum tn_status open_and_list(struct tn_tensorfile *file,
				    const char *path, struct tn_buf *error)
{
	int failed;

	tn_arena_init(&file->arena);
	tn_map_init_text(&file->by_key);
	tn_vec_init(&file->stored, sizeof(struct tn_stored *), NULL);
	tn_vec_init(&file->keys, sizeof(const char *), NULL);
	file->path = tn_arena_strndup(&file->arena, path, strlen(path));
	if (!file->path)
		return tn_tensorfile_nomem(error);
	failed = tn_file_map(path, &file->map);
	if (failed) {
		tn_buf_put(error, tn_file_error(failed));
		return TN_IO;
	}
	return list(file, error);
}

const char *tn_tensorfile_split(char *place)
{
	char *equals = strrchr(place, '=');

	if (!equals || !equals[1] || strchr(equals, '/'))
		return NULL;
	*equals = '\0';
	return equals + 1;
}

struct tn_tensorfile *tn_tensorfile_open(const char *path,
					 enum tn_status *status,
					 struct tn_buf *error)
{
	struct tn_tensorfile *file = calloc(1, sizeof(*file));
	struct tn_buf reason;

	tn_buf_init(&reason);
	*status = file ? open_and_list(file, path, &reason) :
		tn_tensorfile_nomem(&reason);
	if (*status) {
		put_reason(error, path, NULL, &reason);
		tn_tensorfile_close(file);
		return NULL;
	}
	tn_buf_fini(&reason);
	return file;
}

void tn_tensorfile_close(struct tn_tensorfile *file)
{
	size_t i;

	if (!file)
		return;
	for (i = 0; i < file->stored.len; i++) {
		struct tn_stored *stored = tn_vec_ptr(&file->stored, i);

		free(stored->block);
		free(stored->i4);
		free(stored->i2);
		free(stored->copy);
	}
	tn_npz_close(file);
	tn_file_unmap(&file->map);
	tn_map_fini(&file->by_key);
	tn_vec_fini(&file->stored);
	tn_vec_fini(&file->keys);
	tn_arena_fini(&file->arena);
	free(file);
}

size_t tn_tensorfile_count(const struct tn_tensorfile *file)
{
	return file->keys.len;
}

const char *tn_tensorfile_key(const struct tn_tensorfile *file, size_t i)
{
	return tn_vec_ptr(&file->keys, i);
}

static void put_missing(const struct tn_tensorfile *file, const char *key,
			struct tn_buf *error)
{
	const char *near = NULL;
	size_t i;

	put_path(error, file->path);
	if (file->by_key.len == 1 && tn_map_has(&file->by_key, "")) {
		tn_buf_put(error, "a .npy holds one tensor without a key, "
			   "so there is no ");
		put_key(error, key);
		return;
	}
	if (file->keys.len)
		near = tn_diag_nearest(key, file->keys.data, file->keys.len);
	tn_buf_put(error, "there is no tensor ");
	put_key(error, key);
	if (near) {
		tn_buf_put(error, "; did you mean ");
		put_key(error, near);
		tn_buf_putc(error, '?');
	} else if (file->keys.len == 1) {
		tn_buf_put(error, "; the only one is ");
		put_key(error, tn_tensorfile_key(file, 0));
	} else if (file->keys.len > 1) {
		tn_buf_put(error, "; it has ");
		for (i = 0; i < file->keys.len && i < 4; i++) {
			tn_buf_put(error, i ? ", " : "");
			put_key(error, tn_tensorfile_key(file, i));
		}
		tn_buf_put(error, i < file->keys.len ? ", .." : "");
	}
}

static enum tn_status load(struct tn_tensorfile *file,
			   struct tn_stored *stored, struct tn_buf *error)
{
	enum tn_status status;

	if (!stored->loaded) {
		status = tn_npz_load(file, stored, error);
		if (status)
			return status;
		stored->loaded = true;
	}
	if (!stored->clean) {
		status = tn_rawarray_clean(&stored->raw, &stored->copy, error);
		if (status)
			return status;
		stored->clean = true;
		if (stored->copy) {
			free(stored->block);
			stored->block = NULL;
		}
	}
	return TN_OK;
}

enum tn_status tn_tensorfile_find(struct tn_tensorfile *file, const char *key,
				  enum tn_dtype want, struct tn_tensor *out,
				  struct tn_buf *error)
{
	struct tn_stored *stored = tn_map_find(&file->by_key, key);
	enum tn_status status;
	struct tn_buf reason;

	if (!stored) {
		put_missing(file, key, error);
		return TN_BAD_INPUT;
	}
	tn_buf_init(&reason);
	status = load(file, stored, &reason);
	if (!status)
		status = tn_rawarray_view(&stored->raw, want, out, &reason);
	if (!status)
		status = tn_rawarray_settle(out, want == TN_i2 ? &stored->i2 :
					    &stored->i4, &reason);
	if (status)
		put_reason(error, file->path, key, &reason);
	tn_buf_fini(&reason);
	return status;
}

static enum tn_status write_whole(const char *path, const struct tn_buf *bytes,
				  enum tn_status made, struct tn_buf *reason,
				  struct tn_buf *error)
{
	int failed;

	if (!made) {
		failed = tn_file_write(path, bytes->data, bytes->len);
		if (!failed)
			return TN_OK;
		tn_buf_put(reason, strerror(failed));
		made = TN_IO;
	}
	put_reason(error, path, NULL, reason);
	return made;
}

enum tn_status tn_tensorfile_write_npy(const char *path,
				       const struct tn_tensor *tensor,
				       struct tn_buf *error)
{
	int64_t size = tn_tensor_bytes(tensor);
	struct tn_buf bytes, reason;
	enum tn_status status;

	tn_buf_init(&bytes);
	tn_buf_init(&reason);
	status = tn_npy_header(tensor, &bytes, &reason);
	if (!status && size > 0)
		tn_buf_putn(&bytes, tensor->data, (size_t)size);
	if (!status && (bytes.failed || size < 0))
		status = tn_tensorfile_nomem(&reason);
	status = write_whole(path, &bytes, status, &reason, error);
	tn_buf_fini(&reason);
	tn_buf_fini(&bytes);
	return status;
}

enum tn_status tn_tensorfile_write_npz(const char *path,
				       const struct tn_tensorfile_item *items,
				       size_t count, struct tn_buf *error)
{
	struct tn_buf bytes, reason;
	enum tn_status status;

	tn_buf_init(&bytes);
	tn_buf_init(&reason);
	status = tn_npz_make(items, count, &bytes, &reason);
	status = write_whole(path, &bytes, status, &reason, error);
	tn_buf_fini(&reason);
	tn_buf_fini(&bytes);
	return status;
}
