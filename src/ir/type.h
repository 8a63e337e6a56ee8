/*
 * Types of values: element type and dims, interned per module, so equal types
 * are one pointer.
 */
#ifndef TN_IR_TYPE_H
#define TN_IR_TYPE_H

#include "ir/dim.h"
#include "ir/dtype.h"
#include "ir/tensor.h"

struct tn_type {
	enum tn_dtype dtype;
	int rank;			/* 0 to TN_MAX_RANK */
	const char *encoding;		/* name, for TN_ENCODED */
	const struct tn_dim *const *dims;
};

struct tn_module;
struct tn_tensor;

/* The interned type; NULL: out of memory. */
const struct tn_type *tn_type_get(struct tn_module *module,
				  enum tn_dtype dtype, int rank,
				  const struct tn_dim *const *dims);
const struct tn_type *tn_type_get_encoded(struct tn_module *module,
					  const char *encoding, int rank,
					  const struct tn_dim *const *dims);
/* The type of failed values. */
const struct tn_type *tn_type_poison(struct tn_module *module);
bool tn_type_is_poison(const struct tn_type *type);
const struct tn_type *tn_type_subst(struct tn_module *module,
				    const struct tn_type *type,
				    const struct tn_dim *const *map);
/* The type of a tensor's values. */
const struct tn_type *tn_tensor_type(struct tn_module *module,
				     const struct tn_tensor *tensor);
/* Product of dims; NULL on overflow. */
const struct tn_dim *tn_type_count(struct tn_module *module,
				   const struct tn_type *type);
/* Largest number of bytes over all dim values; -1 on overflow. */
int64_t tn_type_max_bytes(struct tn_module *module,
			  const struct tn_type *type);
bool tn_type_is_static(const struct tn_type *type);
/* Whether a size is one that only the data tell. */
bool tn_type_has_runtime(const struct tn_type *type);
/* Leading axes that are the same dims; whether all are, element types apart. */
int tn_type_common_axes(const struct tn_type *a, const struct tn_type *b);
bool tn_type_same_shape(const struct tn_type *a, const struct tn_type *b);
/* "f32[B, 784]"; a scalar is "f32". */
void tn_type_print(struct tn_buf *buf, const struct tn_type *type);

#endif
