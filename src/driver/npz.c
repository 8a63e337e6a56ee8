/*
 * .npz: a zip archive whose entries NAME.npy hold the tensors, by libzip.
 *
 * An entry is unpacked when it is asked for. What an archive says about the
 * size of an entry is believed only within what deflate can do (1032 to 1),
 * so that memory stays bounded by the file's size. Times in what we write are
 * fixed: the same tensors give the same bytes.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "driver/tensorfile_impl.h"

#include <stdlib.h>
#include <string.h>

#include "driver/npy.h"

bool tn_npz_is(const void *bytes, size_t size)
{
	return size >= 4 && (memcmp(bytes, "PK\3\4", 4) == 0 ||
			     memcmp(bytes, "PK\5\6", 4) == 0);
}

#ifdef HAVE_ZIP

#include <zip.h>

/* Most bytes that one byte of a deflate stream can stand for. */
#define DEFLATE_RATIO 1032
/* 1980-01-01, the first day that zip knows. */
#define FIRST_DAY 0x21

static enum tn_status bad(struct tn_buf *error, const char *why)
{
	tn_buf_put(error, why);
	return TN_BAD_INPUT;
}

static enum tn_status zip_bad(struct tn_buf *error, zip_error_t *why)
{
	int code = zip_error_code_zip(why);
	/* Without memory libzip may also leave its error unset. */
	bool nomem = code == ZIP_ER_MEMORY || code == ZIP_ER_OK;

	tn_buf_putf(error, "%s%s", nomem ? "" : "zip: ",
		    zip_error_strerror(why));
	return nomem ? TN_IO : TN_BAD_INPUT;
}

static enum tn_status archive_open(struct tn_tensorfile *file,
				   struct tn_buf *error)
{
	zip_source_t *source;
	enum tn_status status = TN_OK;
	zip_error_t why;

	zip_error_init(&why);
	source = zip_source_buffer_create(file->map.data, file->map.size, 0,
					  &why);
	if (source) {
		file->archive = zip_open_from_source(source, ZIP_RDONLY, &why);
		if (!file->archive)
			zip_source_free(source);
	}
	if (!file->archive)
		status = zip_bad(error, &why);
	zip_error_fini(&why);
	return status;
}

enum tn_status tn_npz_list(struct tn_tensorfile *file, struct tn_buf *error)
{
	enum tn_status status = archive_open(file, error);
	zip_int64_t count, i;

	if (status)
		return status;
	count = zip_get_num_entries(file->archive, 0);
	for (i = 0; i < count; i++) {
		const char *name = zip_get_name(file->archive, (zip_uint64_t)i,
						0);
		size_t len = name ? strlen(name) : 0;
		struct tn_stored *stored;

		if (len < 4 || memcmp(name + len - 4, ".npy", 4) != 0)
			continue;
		stored = tn_tensorfile_add(file, name, len - 4, &status,
					   error);
		if (!stored)
			return status;
		stored->index = (uint64_t)i;
	}
	return TN_OK;
}

/* Refuses sizes that the packed bytes cannot give. */
static enum tn_status check_stat(const struct tn_tensorfile *file,
				 const zip_stat_t *stat, struct tn_buf *error)
{
	const zip_uint64_t need = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE |
		ZIP_STAT_COMP_METHOD;

	if ((stat->valid & need) != need)
		return bad(error, "zip: an entry without sizes");
	if (stat->comp_size > file->map.size)
		return bad(error, "zip: an entry larger than the file");
	if (stat->comp_method == ZIP_CM_STORE) {
		if (stat->size != stat->comp_size)
			return bad(error, "zip: a stored entry with two "
				   "sizes");
		return TN_OK;
	}
	if (stat->comp_method != ZIP_CM_DEFLATE) {
		tn_buf_putf(error, "zip: packing method %u is not supported",
			    (unsigned)stat->comp_method);
		return TN_UNSUPPORTED;
	}
	if (stat->size / DEFLATE_RATIO > stat->comp_size)
		return bad(error, "zip: an entry that cannot be as large as "
			   "it says");
	return TN_OK;
}

/* Reads `size` bytes and the end, at which libzip compares the checksum. */
static bool read_entry(zip_file_t *entry, char *data, size_t size)
{
	size_t got = 0;
	zip_int64_t n;
	char more;

	while (got < size) {
		n = zip_fread(entry, data + got, size - got);
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return zip_fread(entry, &more, 1) == 0;
}

static enum tn_status unpack(struct tn_tensorfile *file,
			     const struct tn_stored *stored, char *data,
			     size_t size, struct tn_buf *error)
{
	zip_file_t *entry = zip_fopen_index(file->archive, stored->index, 0);
	bool ok;

	if (!entry)
		return zip_bad(error, zip_get_error(file->archive));
	ok = read_entry(entry, data, size);
	zip_fclose(entry);
	return ok ? TN_OK : bad(error, "zip: the entry is damaged");
}

enum tn_status tn_npz_load(struct tn_tensorfile *file,
			   struct tn_stored *stored, struct tn_buf *error)
{
	enum tn_status status;
	zip_stat_t stat;
	void *block;

	if (zip_stat_index(file->archive, stored->index, 0, &stat) != 0)
		return zip_bad(error, zip_get_error(file->archive));
	status = check_stat(file, &stat, error);
	if (status)
		return status;
	block = malloc(stat.size ? (size_t)stat.size : 1);
	if (!block)
		return tn_tensorfile_nomem(error);
	status = unpack(file, stored, block, (size_t)stat.size, error);
	if (!status)
		status = tn_npy_parse(block, (size_t)stat.size, &file->arena,
				      &stored->raw, error);
	if (status) {
		free(block);
		return status;
	}
	stored->block = block;
	return TN_OK;
}

void tn_npz_close(struct tn_tensorfile *file)
{
	if (file->archive)
		zip_discard(file->archive);
	file->archive = NULL;
}

/* Adds one tensor; its header goes to the arena, its data stays in place,
 * both until the archive is closed. */
static enum tn_status item_add(zip_t *archive, struct tn_arena *arena,
			       const struct tn_tensorfile_item *item,
			       struct tn_buf *error)
{
	int64_t size = tn_tensor_bytes(item->tensor), index;
	zip_buffer_fragment_t parts[2] = {{0}};
	char *name = tn_arena_printf(arena, "%s.npy", item->key);
	enum tn_status status;
	zip_source_t *source;
	struct tn_buf header;
	zip_error_t why;

	tn_buf_init(&header);
	status = tn_npy_header(item->tensor, &header, error);
	if (!status) {
		parts[0].length = header.len;
		parts[0].data = tn_arena_copy(arena, header.data, header.len);
		parts[1].length = size > 0 ? (zip_uint64_t)size : 0;
		parts[1].data = item->tensor->data;
	}
	tn_buf_fini(&header);
	if (status)
		return status;
	if (!name || !parts[0].data || size < 0)
		return tn_tensorfile_nomem(error);
	zip_error_init(&why);
	source = zip_source_buffer_fragment_create(parts, size > 0 ? 2 : 1, 0,
						   &why);
	if (!source)
		status = zip_bad(error, &why);
	zip_error_fini(&why);
	if (status)
		return status;
	index = zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8);
	if (index < 0) {
		zip_source_free(source);
		return zip_bad(error, zip_get_error(archive));
	}
	if (zip_set_file_compression(archive, (zip_uint64_t)index,
				     ZIP_CM_STORE, 0) != 0 ||
	    zip_file_set_dostime(archive, (zip_uint64_t)index, 0, FIRST_DAY,
				 0) != 0)
		return zip_bad(error, zip_get_error(archive));
	return TN_OK;
}

static enum tn_status copy_out(zip_source_t *source, struct tn_buf *out,
			       struct tn_buf *error)
{
	char block[4096];
	zip_int64_t n;

	if (zip_source_open(source) != 0)
		return zip_bad(error, zip_source_error(source));
	while ((n = zip_source_read(source, block, sizeof(block))) > 0)
		tn_buf_putn(out, block, (size_t)n);
	zip_source_close(source);
	if (n < 0)
		return zip_bad(error, zip_source_error(source));
	return out->failed ? tn_tensorfile_nomem(error) : TN_OK;
}

/* Fills `archive`, which writes to `source` when it is closed. */
static enum tn_status make(zip_t *archive, zip_source_t *source,
			   const struct tn_tensorfile_item *items,
			   size_t count, struct tn_buf *out,
			   struct tn_buf *error)
{
	enum tn_status status = TN_OK;
	struct tn_arena arena;
	size_t i;

	tn_arena_init(&arena);
	for (i = 0; i < count && !status; i++)
		status = item_add(archive, &arena, &items[i], error);
	if (!status && zip_close(archive) != 0)
		status = zip_bad(error, zip_get_error(archive));
	else if (!status)
		archive = NULL;
	if (archive)
		zip_discard(archive);
	if (!status)
		status = copy_out(source, out, error);
	tn_arena_fini(&arena);
	return status;
}

/* What zip_close leaves for an archive without entries: nothing. */
static const char empty_archive[22] = "PK\5\6";

enum tn_status tn_npz_make(const struct tn_tensorfile_item *items,
			   size_t count, struct tn_buf *out,
			   struct tn_buf *error)
{
	zip_source_t *source;
	enum tn_status status;
	zip_t *archive = NULL;
	zip_error_t why;

	if (count == 0) {
		tn_buf_putn(out, empty_archive, sizeof(empty_archive));
		return out->failed ? tn_tensorfile_nomem(error) : TN_OK;
	}
	zip_error_init(&why);
	source = zip_source_buffer_create(NULL, 0, 0, &why);
	if (source) {
		zip_source_keep(source);
		archive = zip_open_from_source(source, ZIP_CREATE |
					       ZIP_TRUNCATE, &why);
		if (!archive)
			zip_source_free(source);
	}
	status = archive ? make(archive, source, items, count, out, error) :
		zip_bad(error, &why);
	zip_source_free(source);
	zip_error_fini(&why);
	return status;
}

#else

static enum tn_status not_built(struct tn_buf *error)
{
	tn_buf_put(error, "this build has no .npz; configure it with "
		   "--with-libzip");
	return TN_UNSUPPORTED;
}

enum tn_status tn_npz_list(struct tn_tensorfile *file, struct tn_buf *error)
{
	(void)file;
	return not_built(error);
}

enum tn_status tn_npz_load(struct tn_tensorfile *file,
			   struct tn_stored *stored, struct tn_buf *error)
{
	(void)file;
	(void)stored;
	return not_built(error);
}

void tn_npz_close(struct tn_tensorfile *file)
{
	(void)file;
}

enum tn_status tn_npz_make(const struct tn_tensorfile_item *items,
			   size_t count, struct tn_buf *out,
			   struct tn_buf *error)
{
	(void)items;
	(void)count;
	(void)out;
	return not_built(error);
}

#endif
