/*
 * Foreign arrays to tensors: alignment, byte order, index order, bools.
 * Comes in: a described stretch of bytes whose size was checked against its
 * shape. Goes out: the same array as our tensors are laid out.
 */
#include "driver/rawarray.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

bool tn_rawarray_sizes(const struct tn_rawarray *raw, int each,
		       int64_t *count, int64_t *bytes)
{
	struct tn_tensor shape;

	tn_tensor_view(&shape, raw->dtype, raw->rank, raw->shape, NULL);
	*count = tn_tensor_count(&shape);
	return *count >= 0 && tn_num_mul(*count, each, bytes);
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

	return !raw->swap && !raw->fortran &&
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

enum tn_status tn_rawarray_clean(struct tn_rawarray *raw, void **copy,
				 struct tn_buf *error)
{
	size_t each = (size_t)element_bytes(raw), i;
	unsigned char *to;

	*copy = NULL;
	if (each == 0 || raw->size == 0 || is_clean(raw))
		return TN_OK;
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
	return (want == TN_f8e4m3fn || want == TN_f8e5m2) && size == 1;
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
				    "f8e4m3fn or f8e5m2");
			return TN_BAD_INPUT;
		}
		dtype = want;
	}
	tn_tensor_view(out, dtype, raw->rank, raw->shape, raw->data);
	return TN_OK;
}
