/*
 * An array as a foreign file stores it, and its way to a tensor.
 *
 * The readers of .npy, .npz and safetensors describe what they found as a
 * tn_rawarray; here it becomes a row-major tensor in host byte order, in place
 * where the bytes allow it, else as a copy.
 */
#ifndef TN_DRIVER_RAWARRAY_H
#define TN_DRIVER_RAWARRAY_H

#include "base/buf.h"
#include "base/status.h"
#include "ir/tensor.h"

struct tn_rawarray {
	enum tn_dtype dtype;	/* TN_POISON: see the next two */
	int opaque;		/* bytes of a numpy void element, or 0 */
	const char *foreign;	/* what we do not have, in the plural */
	bool swap;		/* stored big-endian */
	bool fortran;		/* first index fastest */
	bool packed;		/* two elements a byte, the lower first */
	int rank;
	int64_t shape[TN_MAX_RANK];
	const void *data;
	size_t size;		/* bytes at `data` */
};

/* Elements of `raw`, and its bytes with elements of `each` bytes, of packed
 * ones half a byte; false: a size is negative or the product overflows. */
bool tn_rawarray_sizes(const struct tn_rawarray *raw, int each,
		       int64_t *count, int64_t *bytes);
/* Makes `raw` row-major, aligned, in host order, an element a byte or more. If that took a copy, *copy
 * is it (the caller frees) and raw->data points there; else NULL. */
enum tn_status tn_rawarray_clean(struct tn_rawarray *raw, void **copy,
				 struct tn_buf *error);
/* A view of a clean array. Void elements are taken for `want`, which may be
 * TN_POISON where no type was declared; so are bytes, i8 or u8, for one of
 * fewer bits. */
enum tn_status tn_rawarray_view(const struct tn_rawarray *raw,
				enum tn_dtype want, struct tn_tensor *out,
				struct tn_buf *error);
/* Checks the elements of a view that have fewer than 8 bits. Signed ones that
 * lie as those bits alone, as ml_dtypes writes them, become numbers, in a copy
 * (the caller frees; one that *copy has already is filled again). */
enum tn_status tn_rawarray_settle(struct tn_tensor *view, void **copy,
				  struct tn_buf *error);

#endif
