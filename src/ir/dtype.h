/* Element types of tensors; the table is dtype.def. */
#ifndef TN_IR_DTYPE_H
#define TN_IR_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tn_dtype {
#define DTYPE(id, name, bytes, bits, kind, holds, storage, compute) TN_##id,
#include "ir/dtype.def"
#undef DTYPE
	TN_DTYPE_COUNT,
	TN_ENCODED,	/* a declared block encoding: weights only */
	TN_POISON	/* the type of a value that failed to check */
};

/* Sets of element types, as masks. */
enum tn_kind {
	TN_KIND_F = 1,
	TN_KIND_I = 2,
	TN_KIND_U = 4,
	TN_KIND_B = 8,
	TN_KIND_X = 16,
	TN_KIND_INT = TN_KIND_I | TN_KIND_U,
	TN_KIND_NUM = TN_KIND_F | TN_KIND_INT,
	TN_KIND_ANY = TN_KIND_NUM | TN_KIND_B
};

struct tn_dtype_info {
	const char *name;
	int bytes;		/* of one stored element */
	int bits;		/* of its value */
	enum tn_kind kind;
	enum tn_kind holds;	/* F, I, U or B: what its elements are */
	const char *c_storage;	/* C type in memory */
	const char *c_compute;	/* C type in registers */
};

extern const struct tn_dtype_info tn_dtypes[TN_DTYPE_COUNT];

/* The type named so, or TN_DTYPE_COUNT. */
enum tn_dtype tn_dtype_find(const char *name);
/* Bytes of an element; 0 for encoded and poison. */
int tn_dtype_bytes(enum tn_dtype dtype);
/* Bits of its value, at most eight times the bytes; 0: as above. */
int tn_dtype_bits(enum tn_dtype dtype);
bool tn_dtype_is(enum tn_dtype dtype, enum tn_kind mask);
/* Whether elements are floats, integers.. of the mask, stored only or not. */
bool tn_dtype_holds(enum tn_dtype dtype, enum tn_kind mask);
const char *tn_dtype_name(enum tn_dtype dtype);

#endif
