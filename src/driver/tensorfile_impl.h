/*
 * What the readers behind tensorfile.h share.
 *
 * A reader lists the stored tensors of a mapped file with tn_tensorfile_add;
 * it fills `raw` at once (.npy, safetensors) or when asked (.npz). It gives
 * reasons without file and key; the front puts those before.
 */
#ifndef TN_DRIVER_TENSORFILE_IMPL_H
#define TN_DRIVER_TENSORFILE_IMPL_H

#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "driver/rawarray.h"
#include "driver/tensorfile.h"

struct tn_stored {
	const char *key;
	struct tn_rawarray raw;
	bool loaded;		/* raw is filled */
	bool clean;		/* raw went through tn_rawarray_clean */
	uint64_t index;		/* of the entry in an archive */
	void *block, *copy;	/* heap memory behind raw.data, or NULL */
	void *i4, *i2;		/* the same as elements of these, or NULL */
};

struct tn_tensorfile {
	struct tn_arena arena;
	const char *path;
	struct tn_file_map map;
	struct tn_map by_key;	/* to struct tn_stored */
	struct tn_vec stored;	/* struct tn_stored * */
	struct tn_vec keys;	/* const char * */
	void *archive;		/* zip_t of a .npz, or NULL */
};

/* A new entry for a key of `len` bytes; NULL with *status and a reason if the
 * key is there already or memory is out. */
struct tn_stored *tn_tensorfile_add(struct tn_tensorfile *file,
				    const char *key, size_t len,
				    enum tn_status *status,
				    struct tn_buf *error);
/* Appends "out of memory"; TN_IO. */
enum tn_status tn_tensorfile_nomem(struct tn_buf *error);

/* safetensors: length of the header, header in JSON, data. */
bool tn_safetensors_is(const void *bytes, size_t size);
enum tn_status tn_safetensors_list(struct tn_tensorfile *file,
				   struct tn_buf *error);

/* .npz: a zip archive of .npy files. */
bool tn_npz_is(const void *bytes, size_t size);
enum tn_status tn_npz_list(struct tn_tensorfile *file, struct tn_buf *error);
enum tn_status tn_npz_load(struct tn_tensorfile *file,
			   struct tn_stored *stored, struct tn_buf *error);
void tn_npz_close(struct tn_tensorfile *file);
/* The whole archive as bytes in `out`. */
enum tn_status tn_npz_make(const struct tn_tensorfile_item *items,
			   size_t count, struct tn_buf *out,
			   struct tn_buf *error);

#endif
