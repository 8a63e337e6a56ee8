/* Element types: the rows of dtype.def as data. */
#include "ir/dtype.h"

#include <string.h>

const struct tn_dtype_info tn_dtypes[TN_DTYPE_COUNT] = {
#define DTYPE(id, name, bytes, bits, kind, holds, storage, compute) \
	{ name, bytes, bits, TN_KIND_##kind, TN_KIND_##holds, storage, \
	  compute },
#include "ir/dtype.def"
#undef DTYPE
};

enum tn_dtype tn_dtype_find(const char *name)
{
	int i = 0;

	while (i < TN_DTYPE_COUNT && strcmp(tn_dtypes[i].name, name) != 0)
		i++;
	return (enum tn_dtype)i;
}

int tn_dtype_bytes(enum tn_dtype dtype)
{
	return dtype < TN_DTYPE_COUNT ? tn_dtypes[dtype].bytes : 0;
}

int tn_dtype_bits(enum tn_dtype dtype)
{
	return dtype < TN_DTYPE_COUNT ? tn_dtypes[dtype].bits : 0;
}

bool tn_dtype_is(enum tn_dtype dtype, enum tn_kind mask)
{
	return dtype < TN_DTYPE_COUNT && (tn_dtypes[dtype].kind & mask) != 0;
}

bool tn_dtype_holds(enum tn_dtype dtype, enum tn_kind mask)
{
	return dtype < TN_DTYPE_COUNT && (tn_dtypes[dtype].holds & mask) != 0;
}

const char *tn_dtype_name(enum tn_dtype dtype)
{
	if (dtype < TN_DTYPE_COUNT)
		return tn_dtypes[dtype].name;
	return dtype == TN_ENCODED ? "encoded" : "poison";
}
