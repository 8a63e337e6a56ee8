/*
 * The side file of weights and constants that an emitted program maps.
 *
 *   0    magic "TNWGHT1\0"        8   size of the file, little-endian
 *   16   SHA-256 of all from 64   48  zeros
 *   64   weights in order of number, then constants in order of the text,
 *        each at a multiple of 64
 */
#ifndef TN_BACKENDS_EMIT_WEIGHTS_H
#define TN_BACKENDS_EMIT_WEIGHTS_H

#include "ir/graph.h"

#define TN_WEIGHTS_ALIGN 64

struct tn_weights_part {
	const struct tn_value *value;
	const struct tn_tensor *tensor;	/* borrowed; row-major */
	int64_t offset, bytes;
};

struct tn_weights {
	struct tn_vec parts;	/* struct tn_weights_part */
	struct tn_map offsets;	/* value -> part number + 1 */
	int64_t size;		/* of the file; 0: nothing in it, no file */
	unsigned char digest[32];
};

/* Lays out what `entry` uses and digests it. False: a weight is not loaded
 * (reported) or no memory; fini is due in any case. */
bool tn_weights_init(struct tn_weights *weights, const struct tn_fn *entry);
void tn_weights_fini(struct tn_weights *weights);
/* Position of a value in the file; -1: not in it. */
int64_t tn_weights_offset(const struct tn_weights *weights,
			  const struct tn_value *value);
/* Hands the file's bytes to `put` in pieces, in order, until it says false;
 * the result of the last call. */
bool tn_weights_write(const struct tn_weights *weights,
		      bool (*put)(void *data, const void *bytes, size_t size),
		      void *data);

#endif
