/*
 * numpy's .npy format, versions 1 to 3 (numpy/lib/_format_impl.py).
 */
#ifndef TN_DRIVER_NPY_H
#define TN_DRIVER_NPY_H

#include "base/arena.h"
#include "driver/rawarray.h"

/* True if the bytes start as a .npy file does. */
bool tn_npy_is(const void *bytes, size_t size);
/* Describes the array of a whole file in memory, in place. Names of foreign
 * types go to the arena. On failure the reason is appended to `error`. */
enum tn_status tn_npy_parse(const void *bytes, size_t size,
			    struct tn_arena *arena, struct tn_rawarray *raw,
			    struct tn_buf *error);
/* The header (magic to padding) that stands before the tensor's data. */
enum tn_status tn_npy_header(const struct tn_tensor *tensor,
			     struct tn_buf *out, struct tn_buf *error);

#endif
