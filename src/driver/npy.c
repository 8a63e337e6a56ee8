/*
 * The .npy format: magic, version, length, a Python dict, the data.
 *
 *   \x93NUMPY 1 0 <u16> {'descr': '<f4', 'fortran_order': False,
 *   'shape': (2, 3), } <blanks> \n <24 bytes>
 *
 * The dict is read by a small parser of just the literals that numpy writes;
 * keys may come in any order. Bytes after the array are refused: such a file
 * holds more than one tensor.
 */
#include "driver/npy.h"

#include <string.h>

#include "base/num.h"
#include "base/unit.h"

#define MAGIC "\x93NUMPY"
#define MAGIC_SIZE 6
#define PADDING 64
/* Longest element type and dict key that make sense. */
#define WORD_SIZE 32

/* What is left of the header. */
struct text {
	const char *at, *end;
};

struct header {
	char descr[WORD_SIZE];
	bool has_descr, has_order, has_shape;
};

bool tn_npy_is(const void *bytes, size_t size)
{
	return size >= MAGIC_SIZE && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0;
}

static enum tn_status bad(struct tn_buf *error, const char *why)
{
	tn_buf_put(error, why);
	return TN_BAD_INPUT;
}

static void skip_blanks(struct text *text)
{
	while (text->at < text->end && *text->at &&
	       strchr(" \t\r\n", *text->at))
		text->at++;
}

static bool take(struct text *text, char c)
{
	skip_blanks(text);
	if (text->at == text->end || *text->at != c)
		return false;
	text->at++;
	return true;
}

static bool take_word(struct text *text, const char *word)
{
	size_t len = strlen(word);

	skip_blanks(text);
	if ((size_t)(text->end - text->at) < len ||
	    memcmp(text->at, word, len) != 0)
		return false;
	text->at += len;
	return true;
}

/* A quoted string without escapes. */
static bool take_string(struct text *text, char word[WORD_SIZE])
{
	const char *close;
	size_t len;
	char quote;

	skip_blanks(text);
	if (text->at == text->end || (*text->at != '\'' && *text->at != '"'))
		return false;
	quote = *text->at++;
	close = memchr(text->at, quote, (size_t)(text->end - text->at));
	if (!close)
		return false;
	len = (size_t)(close - text->at);
	if (len >= WORD_SIZE || memchr(text->at, '\\', len) ||
	    memchr(text->at, '\0', len))
		return false;
	memcpy(word, text->at, len);
	word[len] = '\0';
	text->at = close + 1;
	return true;
}

/* Digits, and the L of Python 2; no sign, so no negative size. */
static bool take_size(struct text *text, int64_t *out)
{
	const char *start;
	int64_t value = 0;

	skip_blanks(text);
	start = text->at;
	for (; text->at < text->end; text->at++) {
		char c = *text->at;

		if (c < '0' || c > '9')
			break;
		if (!tn_num_mul(value, 10, &value) ||
		    !tn_num_add(value, c - '0', &value))
			return false;
	}
	if (text->at == start)
		return false;
	if (text->at < text->end && *text->at == 'L')
		text->at++;
	*out = value;
	return true;
}

static enum tn_status take_shape(struct text *text, struct tn_rawarray *raw,
				 struct tn_buf *error)
{
	if (!take(text, '('))
		return bad(error, "its shape is not a tuple");
	while (!take(text, ')')) {
		if (raw->rank == TN_MAX_RANK) {
			tn_buf_putf(error, "it has more than %d axes",
				    TN_MAX_RANK);
			return TN_UNSUPPORTED;
		}
		if (!take_size(text, &raw->shape[raw->rank]))
			return bad(error, "its shape holds something that is "
				   "no size");
		raw->rank++;
		if (!take(text, ',')) {
			if (!take(text, ')'))
				return bad(error, "its shape is not closed");
			return TN_OK;
		}
	}
	return TN_OK;
}

static enum tn_status take_descr(struct text *text, struct header *header,
				 struct tn_buf *error)
{
	if (take(text, '[')) {
		tn_buf_put(error, "records (structured element types) are "
			   "not supported");
		return TN_UNSUPPORTED;
	}
	if (!take_string(text, header->descr))
		return bad(error, "its element type is not a string");
	header->has_descr = true;
	return TN_OK;
}

static enum tn_status take_order(struct text *text, struct tn_rawarray *raw,
				 struct tn_buf *error)
{
	if (take_word(text, "True"))
		raw->fortran = true;
	else if (!take_word(text, "False"))
		return bad(error, "its fortran_order is neither True nor "
			   "False");
	return TN_OK;
}

static enum tn_status take_item(struct text *text, struct header *header,
				struct tn_rawarray *raw, struct tn_buf *error)
{
	char key[WORD_SIZE];

	if (!take_string(text, key) || !take(text, ':'))
		return bad(error, "its header is not a dict of names");
	if (strcmp(key, "descr") == 0 && !header->has_descr)
		return take_descr(text, header, error);
	if (strcmp(key, "fortran_order") == 0 && !header->has_order) {
		header->has_order = true;
		return take_order(text, raw, error);
	}
	if (strcmp(key, "shape") == 0 && !header->has_shape) {
		header->has_shape = true;
		return take_shape(text, raw, error);
	}
	tn_buf_put(error, "its header has an unexpected key '");
	tn_unit_put(error, key, strlen(key));
	tn_buf_putc(error, '\'');
	return TN_BAD_INPUT;
}

static enum tn_status take_dict(struct text *text, struct header *header,
				struct tn_rawarray *raw, struct tn_buf *error)
{
	if (!take(text, '{'))
		return bad(error, "its header is not a dict");
	while (!take(text, '}')) {
		enum tn_status status = take_item(text, header, raw, error);

		if (status)
			return status;
		if (take(text, ','))
			continue;
		if (!take(text, '}'))
			return bad(error, "its header is not closed");
		break;
	}
	skip_blanks(text);
	if (text->at != text->end)
		return bad(error, "its header goes on after the dict");
	if (!header->has_descr || !header->has_order || !header->has_shape)
		return bad(error, "its header lacks descr, fortran_order or "
			   "shape");
	return TN_OK;
}

struct descr {
	const char *text;	/* kind and bytes, as numpy writes them */
	enum tn_dtype dtype;
};

static const struct descr descrs[] = {
	{"f8", TN_f64}, {"f4", TN_f32}, {"f2", TN_f16},
	{"i8", TN_i64}, {"i4", TN_i32}, {"i2", TN_i16}, {"i1", TN_i8},
	{"u8", TN_u64}, {"u4", TN_u32}, {"u2", TN_u16}, {"u1", TN_u8},
	{"b1", TN_bool},
};

#define DESCRS (sizeof(descrs) / sizeof(descrs[0]))

/* The size of an element of void type V1 or V2, which is how numpy writes
 * types that it does not know (bf16, f8, i4); 0 for others. */
static int opaque_size(const char *kind)
{
	if (strcmp(kind, "V1") == 0)
		return 1;
	return strcmp(kind, "V2") == 0 ? 2 : 0;
}

static enum tn_status type_set(const char *descr, struct tn_arena *arena,
			       struct tn_rawarray *raw, struct tn_buf *error)
{
	const char *kind = descr;
	struct tn_buf shown;
	size_t i;

	if (*kind && strchr("<>|=", *kind))
		kind++;
	raw->swap = descr[0] == '>';
	raw->dtype = TN_POISON;
	raw->opaque = opaque_size(kind);
	if (raw->opaque)
		return TN_OK;
	for (i = 0; i < DESCRS; i++) {
		if (strcmp(kind, descrs[i].text) == 0) {
			raw->dtype = descrs[i].dtype;
			return TN_OK;
		}
	}
	tn_buf_init(&shown);
	tn_unit_put(&shown, descr, strlen(descr));
	raw->foreign = tn_arena_printf(arena, "elements of type '%s'",
				       tn_buf_text(&shown));
	tn_buf_fini(&shown);
	if (!raw->foreign) {
		tn_buf_put(error, "out of memory");
		return TN_IO;
	}
	return TN_OK;
}

/* Where the dict lies: 2 bytes of length in version 1, 4 in 2 and 3. */
static enum tn_status find_header(const unsigned char *bytes, size_t size,
				  struct text *text, struct tn_buf *error)
{
	size_t start, len;

	if (!tn_npy_is(bytes, size))
		return bad(error, "it does not start as a .npy file");
	if (size < MAGIC_SIZE + 2)
		return bad(error, "it ends inside its header");
	if (bytes[6] < 1 || bytes[6] > 3) {
		tn_buf_putf(error, "its format version %d is unknown",
			    bytes[6]);
		return TN_UNSUPPORTED;
	}
	start = bytes[6] == 1 ? 10 : 12;
	if (size < start)
		return bad(error, "it ends inside its header");
	len = bytes[8] | (size_t)bytes[9] << 8;
	if (bytes[6] > 1)
		len |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if (len > size - start)
		return bad(error, "it ends inside its header");
	text->at = (const char *)bytes + start;
	text->end = text->at + len;
	return TN_OK;
}

static enum tn_status check_size(const struct tn_rawarray *raw,
				 struct tn_buf *error)
{
	int each = raw->opaque ? raw->opaque : tn_dtype_bytes(raw->dtype);
	int64_t count, bytes;

	if (raw->foreign)
		return TN_OK;
	if (!tn_rawarray_sizes(raw, each, &count, &bytes))
		return bad(error, "its shape overflows");
	if ((uint64_t)bytes != raw->size) {
		tn_buf_putf(error, "its shape asks for %lld bytes of data, "
			    "but it holds %zu", (long long)bytes, raw->size);
		return TN_BAD_INPUT;
	}
	return TN_OK;
}

enum tn_status tn_npy_parse(const void *bytes, size_t size,
			    struct tn_arena *arena, struct tn_rawarray *raw,
			    struct tn_buf *error)
{
	struct header header = {.has_descr = false};
	struct text text = {0};
	enum tn_status status;

	*raw = (struct tn_rawarray){.dtype = TN_POISON};
	status = find_header(bytes, size, &text, error);
	if (status)
		return status;
	raw->data = text.end;
	raw->size = size - (size_t)(text.end - (const char *)bytes);
	status = take_dict(&text, &header, raw, error);
	if (!status)
		status = type_set(header.descr, arena, raw, error);
	return status ? status : check_size(raw, error);
}

/* "<f4" and the like. */
static const char *descr_of(enum tn_dtype dtype)
{
	size_t i;

	if (dtype == TN_bf16)
		return "V2";
	for (i = 0; i < DESCRS; i++)
		if (descrs[i].dtype == dtype)
			return descrs[i].text;
	return "V1";
}

enum tn_status tn_npy_header(const struct tn_tensor *tensor,
			     struct tn_buf *out, struct tn_buf *error)
{
	const char *descr = descr_of(tensor->dtype);
	size_t start = out->len, len;
	int axis;

	tn_buf_putn(out, MAGIC "\1\0\0\0", MAGIC_SIZE + 4);
	tn_buf_putf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
		    descr[1] == '1' || descr[0] == 'V' ? '|' : '<', descr);
	for (axis = 0; axis < tensor->rank; axis++)
		tn_buf_putf(out, axis ? ", %lld" : "%lld",
			    (long long)tensor->shape[axis]);
	tn_buf_put(out, tensor->rank == 1 ? ",), }" : "), }");
	len = out->len - start;
	tn_buf_pad(out, ' ', PADDING - 1 - len % PADDING);
	tn_buf_putc(out, '\n');
	if (out->failed) {
		tn_buf_put(error, "out of memory");
		return TN_IO;
	}
	len = out->len - start - MAGIC_SIZE - 4;
	out->data[start + 8] = (char)(unsigned char)(len & 255);
	out->data[start + 9] = (char)(unsigned char)(len >> 8);
	return TN_OK;
}
