/*
 * Concrete tensors: memory, sizes, and single elements by flat position.
 * Comes in: sizes from anywhere, so every product is checked.
 */
#include "ir/tensor.h"

#include "base/num.h"
#include "ir/eval.h"

#include <stdlib.h>
#include <string.h>

int64_t tn_tensor_count(const struct tn_tensor *tensor)
{
	int64_t count = 1;
	bool is_empty = false;
	int i;

	for (i = 0; i < tensor->rank; i++) {
		if (tensor->shape[i] < 0)
			return -1;
		is_empty = is_empty || tensor->shape[i] == 0;
	}
	if (is_empty)
		return 0;
	for (i = 0; i < tensor->rank; i++) {
		if (!tn_num_mul(count, tensor->shape[i], &count))
			return -1;
	}
	return count;
}

int64_t tn_tensor_bytes(const struct tn_tensor *tensor)
{
	int64_t bytes, count = tn_tensor_count(tensor);

	if (count < 0 ||
	    !tn_num_mul(count, tn_dtype_bytes(tensor->dtype), &bytes))
		return -1;
	return bytes;
}

static void set_shape(struct tn_tensor *tensor, enum tn_dtype dtype, int rank,
		      const int64_t *shape)
{
	int i;

	memset(tensor, 0, sizeof(*tensor));
	tensor->dtype = dtype;
	tensor->rank = rank;
	for (i = 0; i < rank; i++)
		tensor->shape[i] = shape[i];
}

bool tn_tensor_init(struct tn_tensor *tensor, enum tn_dtype dtype, int rank,
		    const int64_t *shape)
{
	int64_t bytes;

	if (rank < 0 || rank > TN_MAX_RANK) {
		memset(tensor, 0, sizeof(*tensor));
		return false;
	}
	set_shape(tensor, dtype, rank, shape);
	bytes = tn_tensor_bytes(tensor);
	if (bytes < 0 || (uint64_t)bytes > SIZE_MAX)
		return false;
	tensor->data = calloc(bytes > 0 ? (size_t)bytes : 1, 1);
	tensor->owned = tensor->data != NULL;
	return tensor->owned;
}

void tn_tensor_view(struct tn_tensor *tensor, enum tn_dtype dtype, int rank,
		    const int64_t *shape, const void *data)
{
	set_shape(tensor, dtype, rank, shape);
	tensor->data = (void *)(uintptr_t)data;
}

void tn_tensor_fini(struct tn_tensor *tensor)
{
	if (tensor->owned)
		free(tensor->data);
	tensor->data = NULL;
	tensor->owned = false;
}

static char *element(const struct tn_tensor *tensor, int64_t at)
{
	return (char *)tensor->data + at * tn_dtype_bytes(tensor->dtype);
}

double tn_tensor_get_f64(const struct tn_tensor *tensor, int64_t at)
{
	double value;

	tn_eval_cast(tensor->dtype, element(tensor, at), TN_f64, &value);
	return value;
}

int64_t tn_tensor_get_i64(const struct tn_tensor *tensor, int64_t at)
{
	int64_t value;

	tn_eval_cast(tensor->dtype, element(tensor, at), TN_i64, &value);
	return value;
}

void tn_tensor_set_f64(struct tn_tensor *tensor, int64_t at, double value)
{
	tn_eval_cast(TN_f64, &value, tensor->dtype, element(tensor, at));
}

void tn_tensor_set_i64(struct tn_tensor *tensor, int64_t at, int64_t value)
{
	tn_eval_cast(TN_i64, &value, tensor->dtype, element(tensor, at));
}

void tn_tensor_set_u64(struct tn_tensor *tensor, int64_t at, uint64_t value)
{
	tn_eval_cast(TN_u64, &value, tensor->dtype, element(tensor, at));
}
