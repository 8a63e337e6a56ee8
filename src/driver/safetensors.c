/*
 * safetensors: u64 length of the header, the header in JSON, the data.
 *
 *   {"fc1.weight": {"dtype": "F32", "shape": [2, 3],
 *                   "data_offsets": [0, 24]}, "__metadata__": {..}}
 *
 * Offsets count from the end of the header. As the format demands, the
 * stretches of data must fill the rest of the file without gap or overlap;
 * each must be as long as its shape and type say.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif
#include "base/file.h"
#include "driver/tensorfile.h"
#include "driver/tensorfile_impl.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH_SIZE 8

bool tn_safetensors_is(const void *bytes, size_t size)
{
	return size > LENGTH_SIZE && ((const char *)bytes)[LENGTH_SIZE] == '{';
}

/* Two elements a byte. It is read, and written as U8, an element a byte, as
 * are integers of fewer than 8 bits, which the format does not have. */
#define PACKED "F4"

struct stored_type {
	const char *name;
	enum tn_dtype dtype;
};

static const struct stored_type types[] = {
	{"F64", TN_f64}, {"F32", TN_f32}, {"F16", TN_f16},
	{"BF16", TN_bf16}, {"I64", TN_i64}, {"I32", TN_i32},
	{"I16", TN_i16}, {"I8", TN_i8}, {"U64", TN_u64}, {"U32", TN_u32},
	{"U16", TN_u16}, {"U8", TN_u8}, {"BOOL", TN_bool},
	{"F8_E4M3", TN_f8e4m3fn}, {"F8_E5M2", TN_f8e5m2},
	{"F8_E4M3FNUZ", TN_f8e4m3fnuz}, {"F8_E5M2FNUZ", TN_f8e5m2fnuz},
	{"F8_E8M0", TN_f8e8m0}, {PACKED, TN_f4e2m1},
};

/* ---- Writing ------------------------------------------------------------ */

static const char *type_name(enum tn_dtype dtype)
{
	size_t i;

	if (tn_dtype_bits(dtype) < 8)
		dtype = tn_dtype_holds(dtype, TN_KIND_I) ? TN_i8 : TN_u8;
	for (i = 0; types[i].dtype != dtype; i++)
		;
	return types[i].name;
}

/* An entry of the header, for data from `begin` on. */
static void put_entry(struct tn_buf *head,
		      const struct tn_tensorfile_item *item, int64_t begin)
{
	const struct tn_tensor *t = item->tensor;
	int i;

	tn_buf_put(head, head->len > 1 ? "," : "");
	tn_buf_put_json(head, item->key);
	tn_buf_putf(head, ":{\"dtype\":\"%s\",\"shape\":[",
		    type_name(t->dtype));
	for (i = 0; i < t->rank; i++)
		tn_buf_putf(head, "%s%lld", i ? "," : "",
			    (long long)t->shape[i]);
	tn_buf_putf(head, "],\"data_offsets\":[%lld,%lld]}",
		    (long long)begin,
		    (long long)(begin + tn_tensor_bytes(t)));
}

/* Header and data in order: elements of 8 bytes, 4, 2, 1, so that each lies at
 * a multiple of its size. */
static size_t arrange(const struct tn_tensorfile_item *items, size_t count,
		      struct tn_buf *head, struct tn_file_part *parts)
{
	size_t used = 2, i;
	int64_t begin = 0;
	int each;

	tn_buf_putc(head, '{');
	for (each = 8; each; each /= 2)
		for (i = 0; i < count; i++) {
			const struct tn_tensor *t = items[i].tensor;

			if (tn_dtype_bytes(t->dtype) != each)
				continue;
			put_entry(head, &items[i], begin);
			parts[used].data = t->data;
			parts[used].size = (size_t)tn_tensor_bytes(t);
			begin += tn_tensor_bytes(t);
			used++;
		}
	tn_buf_putc(head, '}');
	tn_buf_pad(head, ' ', (8 - head->len % 8) % 8);
	return used;
}

enum tn_status
tn_tensorfile_write_safetensors(const char *path,
				const struct tn_tensorfile_item *items,
				size_t count, struct tn_buf *error)
{
	struct tn_file_part *parts = calloc(count + 2, sizeof(*parts));
	unsigned char length[LENGTH_SIZE];
	struct tn_buf head;
	size_t i, used;
	int code = 0;

	tn_buf_init(&head);
	used = parts ? arrange(items, count, &head, parts) : 0;
	for (i = 0; i < LENGTH_SIZE; i++)
		length[i] = (unsigned char)(head.len >> 8 * i);
	if (parts && !head.failed) {
		parts[0] = (struct tn_file_part){ length, LENGTH_SIZE };
		parts[1] = (struct tn_file_part){ head.data, head.len };
		code = tn_file_write_parts(path, parts, used);
	}
	if (!parts || head.failed)
		tn_buf_put(error, "out of memory");
	else if (code)
		tn_buf_putf(error, "%s: %s", path, tn_file_error(code));
	code |= !parts || head.failed;
	tn_buf_fini(&head);
	free(parts);
	return code ? TN_IO : TN_OK;
}

/* ---- Reading ------------------------------------------------------------ */

#ifdef HAVE_JSON

#include <jansson.h>

/* The format's own limit. */
#define LONGEST_HEADER 100000000

static uint64_t header_length(const void *bytes)
{
	const unsigned char *at = bytes;
	uint64_t len = 0;
	unsigned i;

	for (i = 0; i < LENGTH_SIZE; i++)
		len |= (uint64_t)at[i] << 8 * i;
	return len;
}

/* A stretch of the data. */
struct stretch {
	uint64_t begin, end;
	const struct tn_stored *stored;
};

static enum tn_status bad(struct tn_buf *error, const struct tn_stored *stored,
			  const char *why)
{
	if (stored)
		tn_buf_putf(error, "'%s': ", stored->key);
	tn_buf_put(error, why);
	return TN_BAD_INPUT;
}

static enum tn_status parse_type(struct tn_tensorfile *file,
				 struct tn_stored *stored, const json_t *entry,
				 struct tn_buf *error)
{
	const char *name = json_string_value(json_object_get(entry, "dtype"));
	size_t i;

	if (!name)
		return bad(error, stored, "no dtype");
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (strcmp(types[i].name, name) == 0) {
			stored->raw.dtype = types[i].dtype;
			stored->raw.packed = !strcmp(name, PACKED);
			return TN_OK;
		}
	}
	stored->raw.foreign = tn_arena_printf(&file->arena,
					      "elements of type %s", name);
	return stored->raw.foreign ? TN_OK : tn_tensorfile_nomem(error);
}

static enum tn_status parse_shape(struct tn_stored *stored,
				  const json_t *entry, struct tn_buf *error)
{
	const json_t *shape = json_object_get(entry, "shape");
	size_t rank = json_array_size(shape), i;

	if (!json_is_array(shape))
		return bad(error, stored, "no shape");
	if (rank > TN_MAX_RANK) {
		stored->raw.foreign = "tensors of more than 16 axes";
		return TN_OK;
	}
	stored->raw.rank = (int)rank;
	for (i = 0; i < rank; i++) {
		const json_t *size = json_array_get(shape, i);

		if (!json_is_integer(size) || json_integer_value(size) < 0)
			return bad(error, stored, "its shape holds something "
				   "that is no size");
		stored->raw.shape[i] = json_integer_value(size);
	}
	return TN_OK;
}

/* Sets the data of `stored`, which lies in the `room` bytes at `data`. */
static enum tn_status parse_offsets(struct tn_stored *stored,
				    const json_t *entry, const char *data,
				    uint64_t room, struct stretch *stretch,
				    struct tn_buf *error)
{
	const json_t *pair = json_object_get(entry, "data_offsets");
	const json_t *begin = json_array_get(pair, 0);
	const json_t *end = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_integer(begin) ||
	    !json_is_integer(end))
		return bad(error, stored, "no data_offsets");
	if (json_integer_value(begin) < 0 ||
	    json_integer_value(end) < json_integer_value(begin) ||
	    (uint64_t)json_integer_value(end) > room)
		return bad(error, stored, "its data lies outside the file");
	stretch->begin = (uint64_t)json_integer_value(begin);
	stretch->end = (uint64_t)json_integer_value(end);
	stretch->stored = stored;
	stored->raw.data = data + stretch->begin;
	stored->raw.size = (size_t)(stretch->end - stretch->begin);
	return TN_OK;
}

static enum tn_status check_size(const struct tn_stored *stored,
				 struct tn_buf *error)
{
	const struct tn_rawarray *raw = &stored->raw;
	int64_t count, bytes;

	if (raw->foreign)
		return TN_OK;
	if (!tn_rawarray_sizes(raw, tn_dtype_bytes(raw->dtype), &count,
			       &bytes))
		return bad(error, stored, "its shape overflows");
	if ((uint64_t)bytes == raw->size)
		return TN_OK;
	tn_buf_putf(error, "'%s': its shape asks for %lld bytes of data, but "
		    "its offsets give %zu", stored->key, (long long)bytes,
		    raw->size);
	return TN_BAD_INPUT;
}

static enum tn_status parse_entry(struct tn_tensorfile *file,
				  const char *key, const json_t *entry,
				  const char *data, uint64_t room,
				  struct stretch *stretch,
				  struct tn_buf *error)
{
	enum tn_status status;
	struct tn_stored *stored = tn_tensorfile_add(file, key, strlen(key),
						     &status, error);

	if (!stored)
		return status;
	stored->loaded = true;
	if (!json_is_object(entry))
		return bad(error, stored, "its entry is not an object");
	status = parse_type(file, stored, entry, error);
	if (!status)
		status = parse_shape(stored, entry, error);
	if (!status)
		status = parse_offsets(stored, entry, data, room, stretch,
				       error);
	return status ? status : check_size(stored, error);
}

static int stretch_order(const void *a, const void *b)
{
	const struct stretch *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Laid end to end the stretches must give all of the data, once. */
static enum tn_status check_cover(struct stretch *stretches, size_t count,
				  uint64_t room, struct tn_buf *error)
{
	uint64_t at = 0;
	size_t i;

	qsort(stretches, count, sizeof(*stretches), stretch_order);
	for (i = 0; i < count; i++) {
		if (stretches[i].begin < at)
			return bad(error, stretches[i].stored,
				   "its data overlaps that of another tensor");
		if (stretches[i].begin > at)
			return bad(error, stretches[i].stored,
				   "there is a gap before its data");
		at = stretches[i].end;
	}
	if (at != room)
		return bad(error, NULL, "there are bytes after the data that "
			   "no tensor has");
	return TN_OK;
}

static enum tn_status parse_entries(struct tn_tensorfile *file, json_t *root,
				    const char *data, uint64_t room,
				    struct tn_buf *error)
{
	size_t most = json_object_size(root), count = 0;
	struct stretch *stretches = calloc(most + 1, sizeof(*stretches));
	enum tn_status status = TN_OK;
	void *at;

	if (!stretches)
		return tn_tensorfile_nomem(error);
	for (at = json_object_iter(root); at && !status;
	     at = json_object_iter_next(root, at)) {
		const char *key = json_object_iter_key(at);

		if (strcmp(key, "__metadata__") == 0)
			continue;
		status = parse_entry(file, key, json_object_iter_value(at),
				     data, room, &stretches[count++], error);
	}
	if (!status)
		status = check_cover(stretches, count, room, error);
	free(stretches);
	return status;
}

enum tn_status tn_safetensors_list(struct tn_tensorfile *file,
				   struct tn_buf *error)
{
	const char *bytes = file->map.data;
	uint64_t len = header_length(bytes);
	uint64_t left = file->map.size - LENGTH_SIZE;
	enum tn_status status;
	json_error_t why;
	json_t *root;

	if (len > LONGEST_HEADER)
		return bad(error, NULL, "its header is longer than 100 MB");
	if (len > left)
		return bad(error, NULL, "it ends inside its header");
	root = json_loadb(bytes + LENGTH_SIZE, (size_t)len,
			  JSON_REJECT_DUPLICATES, &why);
	if (!root && json_error_code(&why) == json_error_out_of_memory)
		return tn_tensorfile_nomem(error);
	if (!root) {
		tn_buf_putf(error, "its header is not JSON: %s", why.text);
		return TN_BAD_INPUT;
	}
	if (json_is_object(root))
		status = parse_entries(file, root, bytes + LENGTH_SIZE + len,
				       left - len, error);
	else
		status = bad(error, NULL, "its header is not an object");
	json_decref(root);
	return status;
}

#else

enum tn_status tn_safetensors_list(struct tn_tensorfile *file,
				   struct tn_buf *error)
{
	(void)file;
	tn_buf_put(error, "this build has no safetensors; configure it with "
		   "--with-jansson");
	return TN_UNSUPPORTED;
}

#endif
