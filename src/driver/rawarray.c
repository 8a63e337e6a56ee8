/*
 * Foreign arrays to tensors: alignment, byte order, index order, bools.
 * Comes in: a described stretch of bytes whose size was checked against its
 * shape. Goes out: the same array as our tensors are laid out.
 */
#include "driver/rawarray.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ir/eval.h"

bool tn_rawarray_sizes(const struct tn_rawarray *raw, int each,
		       int64_t *count, int64_t *bytes)
{
	struct tn_tensor shape;

	tn_tensor_view(&shape, raw->dtype, raw->rank, raw->shape, NULL);
	*count = tn_tensor_count(&shape);
	*bytes = *count / 2 + *count % 2;
	return *count >= 0 && (raw->packed || tn_num_mul(*count, each, bytes));
}

static int element_bytes(const struct tn_rawarray *raw)
{
	return raw->opaque ? raw->opaque : tn_dtype_bytes(raw->dtype);
}

/* Bool elements other than 0 and 1 mean true to numpy. */
static bool has_odd_bool(const struct tn_rawarray *raw)
{
	const unsigned char *at = raw->data;
	unsigned char all = 0;
	size_t i;

	if (raw->dtype != TN_bool)
		return false;
	for (i = 0; i < raw->size; i++)
		all |= at[i];
	return all > 1;
}

static bool is_clean(const struct tn_rawarray *raw)
{
	size_t each = (size_t)element_bytes(raw);

	return !raw->swap && !raw->fortran && !raw->packed &&
		(uintptr_t)raw->data % each == 0 && !has_odd_bool(raw);
}

static void swap_bytes(unsigned char *data, size_t size, size_t each)
{
	size_t at, i;

	for (at = 0; at < size; at += each) {
		for (i = 0; i < each / 2; i++) {
			unsigned char low = data[at + i];

			data[at + i] = data[at + each - 1 - i];
			data[at + each - 1 - i] = low;
		}
	}
}

/* Walks the target in order and keeps the source offset beside the index. */
static void copy_fortran(const struct tn_rawarray *raw, unsigned char *to,
			 size_t each)
{
	size_t step[TN_MAX_RANK], from = 0, at;
	int64_t index[TN_MAX_RANK] = {0};
	int axis;

	step[0] = each;
	for (axis = 1; axis < raw->rank; axis++)
		step[axis] = step[axis - 1] * (size_t)raw->shape[axis - 1];
	for (at = 0; at < raw->size; at += each) {
		memcpy(to + at, (const char *)raw->data + from, each);
		for (axis = raw->rank - 1; axis >= 0; axis--) {
			from += step[axis];
			if (++index[axis] < raw->shape[axis])
				break;
			from -= step[axis] * (size_t)raw->shape[axis];
			index[axis] = 0;
		}
	}
}

static enum tn_status unpack(struct tn_rawarray *raw, void **copy,
			     struct tn_buf *error)
{
	const unsigned char *from = raw->data;
	unsigned char *to;
	int64_t count, bytes, i;

	if (!tn_rawarray_sizes(raw, 1, &count, &bytes) ||
	    (uint64_t)bytes != raw->size)
		return TN_BUG;
	to = malloc((size_t)count);
	if (!to) {
		tn_buf_put(error, "out of memory");
		return TN_IO;
	}
	for (i = 0; i < count; i++)
		to[i] = (from[i / 2] >> i % 2 * 4) & 15;
	raw->data = *copy = to;
	raw->size = (size_t)count;
	raw->packed = false;
	return TN_OK;
}

enum tn_status tn_rawarray_clean(struct tn_rawarray *raw, void **copy,
				 struct tn_buf *error)
{
	size_t each = (size_t)element_bytes(raw), i;
	unsigned char *to;

	*copy = NULL;
	if (each == 0 || raw->size == 0 || is_clean(raw))
		return TN_OK;
	if (raw->packed)
		return unpack(raw, copy, error);
	to = malloc(raw->size);
	if (!to) {
		tn_buf_put(error, "out of memory");
		return TN_IO;
	}
	if (raw->fortran && raw->rank > 1)
		copy_fortran(raw, to, each);
	else
		memcpy(to, raw->data, raw->size);
	if (raw->swap)
		swap_bytes(to, raw->size, each);
	for (i = 0; raw->dtype == TN_bool && i < raw->size; i++)
		to[i] = to[i] != 0;
	raw->data = *copy = to;
	raw->swap = raw->fortran = false;
	return TN_OK;
}

/* Types of ours that numpy can hold as raw bytes only; a bool or an integer
 * has a name of its own there. */
static bool is_for_opaque(enum tn_dtype want, int size)
{
	if (want == TN_bf16 || want == TN_f16)
		return size == 2;
	return tn_dtype_is(want, TN_KIND_X) && size == 1;
}

/* Elements of fewer than 8 bits may lie in bytes that have a type: those of
 * signed integers in i8, others in u8. */
static bool is_for_bytes(enum tn_dtype want, enum tn_dtype have)
{
	return tn_dtype_is(want, TN_KIND_X) && tn_dtype_bits(want) < 8 &&
		have == (tn_dtype_holds(want, TN_KIND_I) ? TN_i8 : TN_u8);
}

enum tn_status tn_rawarray_view(const struct tn_rawarray *raw,
				enum tn_dtype want, struct tn_tensor *out,
				struct tn_buf *error)
{
	enum tn_dtype dtype = raw->dtype;

	if (raw->foreign) {
		tn_buf_putf(error, "%s are not supported", raw->foreign);
		return TN_UNSUPPORTED;
	}
	if (raw->opaque) {
		if (!is_for_opaque(want, raw->opaque)) {
			tn_buf_putf(error, "elements are raw bytes (V%d), "
				    "which are taken for %s only where that "
				    "is the declared type", raw->opaque,
				    raw->opaque == 2 ? "bf16 or f16" :
				    "an f8, f4, i4, u4, i2 or u2");
			return TN_BAD_INPUT;
		}
		dtype = want;
	}
	if (is_for_bytes(want, dtype))
		dtype = want;
	tn_tensor_view(out, dtype, raw->rank, raw->shape, raw->data);
	return TN_OK;
}

/* The number of a byte that holds an element of fewer than 8 bits: those bits,
 * or of a signed integer the sign spread over the byte; -1: neither. */
static int low_bits(enum tn_dtype dtype, unsigned char byte)
{
	int bits = tn_dtype_bits(dtype), span = 1 << bits;

	if (byte < span)
		return byte;
	return tn_dtype_holds(dtype, TN_KIND_I) && byte >= 256 - span / 2 ?
		byte & (span - 1) : -1;
}

enum tn_status tn_rawarray_settle(struct tn_tensor *view, void **copy,
				  struct tn_buf *error)
{
	const unsigned char *from = view->data;
	int64_t count = tn_tensor_count(view), i;
	bool is_settled = true;
	unsigned char *to;
	int bits;

	if (tn_dtype_bits(view->dtype) >= 8)
		return TN_OK;
	for (i = 0; i < count; i++) {
		bits = low_bits(view->dtype, from[i]);
		if (bits < 0) {
			tn_buf_putf(error, "element %lld is the byte 0x%02x, "
				    "which is no %s", (long long)i, from[i],
				    tn_dtype_name(view->dtype));
			return TN_BAD_INPUT;
		}
		is_settled = is_settled && tn_tensor_get_i64(view, i) ==
			(int8_t)from[i];
	}
	if (is_settled || !tn_dtype_holds(view->dtype, TN_KIND_I))
		return TN_OK;
	to = *copy ? *copy : malloc((size_t)count);
	if (!to) {
		tn_buf_put(error, "out of memory");
		return TN_IO;
	}
	for (i = 0; i < count; i++)
		tn_eval_bitcast(from + i, view->dtype, to + i);
	view->data = *copy = to;
	return TN_OK;
}
