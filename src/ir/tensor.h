/*
 * A concrete tensor: element type, sizes and row-major data.
 * The interpreter, the folder, weight files and the driver exchange these.
 */
#ifndef TN_IR_TENSOR_H
#define TN_IR_TENSOR_H

#include "ir/dtype.h"

#define TN_MAX_RANK 16

struct tn_tensor {
	enum tn_dtype dtype;
	int rank;
	int64_t shape[TN_MAX_RANK];
	void *data;	/* row-major, elements adjacent; may be NULL if empty */
	bool owned;	/* data is heap memory of this tensor */
};

/* An owned, zeroed tensor; false: size overflow or out of memory. */
bool tn_tensor_init(struct tn_tensor *tensor, enum tn_dtype dtype, int rank,
		    const int64_t *shape);
/* A view on memory of somebody else. */
void tn_tensor_view(struct tn_tensor *tensor, enum tn_dtype dtype, int rank,
		    const int64_t *shape, const void *data);
void tn_tensor_fini(struct tn_tensor *tensor);
/* Number of elements, or -1 on overflow or a negative size. */
int64_t tn_tensor_count(const struct tn_tensor *tensor);
/* Bytes of data, or -1 on overflow. */
int64_t tn_tensor_bytes(const struct tn_tensor *tensor);
/* Element at a flat position: as double (exact for what fits), as int64
 * (unsigned wraps), and the setters, which convert as `cast` does. */
double tn_tensor_get_f64(const struct tn_tensor *tensor, int64_t at);
int64_t tn_tensor_get_i64(const struct tn_tensor *tensor, int64_t at);
void tn_tensor_set_f64(struct tn_tensor *tensor, int64_t at, double value);
void tn_tensor_set_i64(struct tn_tensor *tensor, int64_t at, int64_t value);
void tn_tensor_set_u64(struct tn_tensor *tensor, int64_t at, uint64_t value);

#endif
