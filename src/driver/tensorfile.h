/*
 * Files of tensors: .npy, .npz and safetensors behind one front.
 *
 * The format is told by content. A file is mapped read-only; tensors whose
 * bytes lie as ours do are views on the map, others are copied once. Memory
 * stays within a fixed multiple of the file's size, whatever its headers say.
 * Nobody may shorten the file while it is open (base/file.h).
 * Where a function fails it appends one line of reason to `error`, without a
 * newline, naming the file and the key.
 */
#ifndef TN_DRIVER_TENSORFILE_H
#define TN_DRIVER_TENSORFILE_H

#include "base/buf.h"
#include "base/status.h"
#include "ir/tensor.h"

struct tn_tensorfile;

/* A tensor with the name it has, or gets, in a file. */
struct tn_tensorfile_item {
	const char *key;
	const struct tn_tensor *tensor;
};

/* "PATH=KEY" cut at its last '=': the key; NULL: there is none. */
const char *tn_tensorfile_split(char *place);
/* Opens and checks a file; NULL with *status: TN_IO (no file, no memory),
 * TN_BAD_INPUT (malformed), TN_UNSUPPORTED (a format not built in). */
struct tn_tensorfile *tn_tensorfile_open(const char *path,
					 enum tn_status *status,
					 struct tn_buf *error);
/* Closes; views taken from it end. NULL is allowed. */
void tn_tensorfile_close(struct tn_tensorfile *file);
/* Number of tensors, and their keys in the file's order (borrowed). A .npy
 * has one, with the key "". */
size_t tn_tensorfile_count(const struct tn_tensorfile *file);
const char *tn_tensorfile_key(const struct tn_tensorfile *file, size_t i);
/* The tensor of `key` as a view until close. `want` is the declared element
 * type: numpy's void elements of its size are taken for it; TN_POISON where
 * none is declared. No other conversion is made, and a type that differs from
 * `want` is returned as it is. A missing key gives TN_BAD_INPUT and, in the
 * message, the nearest one. */
enum tn_status tn_tensorfile_find(struct tn_tensorfile *file, const char *key,
				  enum tn_dtype want, struct tn_tensor *out,
				  struct tn_buf *error);
/* Writes tensors as safetensors, those of wide elements first. */
enum tn_status
tn_tensorfile_write_safetensors(const char *path,
				const struct tn_tensorfile_item *items,
				size_t count, struct tn_buf *error);
/* Write one tensor as .npy, several as .npz (stored, not compressed; keys
 * distinct). The file appears whole or not at all. */
enum tn_status tn_tensorfile_write_npy(const char *path,
				       const struct tn_tensor *tensor,
				       struct tn_buf *error);
enum tn_status tn_tensorfile_write_npz(const char *path,
				       const struct tn_tensorfile_item *items,
				       size_t count, struct tn_buf *error);

#endif
