/*
 * Reference evaluation of one op: makes the results by their types, then
 * hands over to the file of the op's class.
 */
#include "ir/eval_impl.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>

const struct tn_attr *tn_eval_attr(const struct tn_op *op, const char *name)
{
	int i;

	for (i = 0; i < op->nattrs; i++) {
		if (op->attrs[i].name && strcmp(op->attrs[i].name, name) == 0)
			return &op->attrs[i];
	}
	return NULL;
}

void tn_eval_raise(struct tn_eval *eval, const struct tn_op *op,
		   uint32_t flag)
{
	eval->flags |= flag;
	if (!eval->raised)
		eval->raised = op;
}

bool tn_eval_dim(struct tn_eval *eval, const struct tn_dim *dim, int64_t *out)
{
	if (dim && tn_dim_eval(dim, eval->dims, out))
		return true;
	eval->failed = true;
	return false;
}

void *tn_eval_alloc(struct tn_eval *eval, int64_t count, int64_t size)
{
	int64_t bytes;
	void *memory = NULL;

	if (count >= 0 && tn_num_mul(count, size, &bytes) &&
	    (uint64_t)bytes < SIZE_MAX / 2) {
		memory = calloc((size_t)bytes + 1, 1);
		eval->no_memory = eval->no_memory || !memory;
	}
	if (!memory)
		eval->failed = true;
	return memory;
}

bool tn_eval_tensor(struct tn_eval *eval, struct tn_tensor *out,
		    enum tn_dtype dtype, int rank, const int64_t *shape)
{
	if (tn_tensor_init(out, dtype, rank, shape))
		return true;
	if (tn_tensor_bytes(out) >= 0)
		eval->no_memory = true;
	eval->failed = true;
	return false;
}

void tn_eval_strides(const struct tn_tensor *tensor,
		     int64_t strides[TN_MAX_RANK])
{
	int64_t step = tn_dtype_bytes(tensor->dtype);
	int i;

	for (i = tensor->rank - 1; i >= 0; i--) {
		strides[i] = step;
		step *= tensor->shape[i] > 0 ? tensor->shape[i] : 1;
	}
}

bool tn_eval_next(int rank, const int64_t *shape, int64_t *place)
{
	int i;

	for (i = rank - 1; i >= 0; i--) {
		if (++place[i] < shape[i])
			return true;
		place[i] = 0;
	}
	return false;
}

int64_t tn_eval_product(const int64_t *shape, int from, int to)
{
	int64_t product = 1;
	int i;

	for (i = from; i < to; i++)
		product *= shape[i];
	return product;
}

static void copy_row(int size, int64_t count, char *to, int64_t to_step,
		     const char *from, int64_t from_step)
{
	int64_t i;

	if (to_step == size && from_step == size) {
		memcpy(to, from, (size_t)count * (size_t)size);
		return;
	}
	for (i = 0; i < count; i++)
		memcpy(to + i * to_step, from + i * from_step, (size_t)size);
}

void tn_eval_copy(int size, int rank, const int64_t *shape, char *to,
		  const int64_t *to_step, const char *from,
		  const int64_t *from_step)
{
	int64_t place[TN_MAX_RANK] = { 0 };
	int last = rank - 1;
	int i;

	for (i = 0; i < rank; i++) {
		if (shape[i] == 0)
			return;
	}
	if (rank == 0) {
		memcpy(to, from, (size_t)size);
		return;
	}
	do {
		int64_t a = 0, b = 0;

		for (i = 0; i < last; i++) {
			a += place[i] * to_step[i];
			b += place[i] * from_step[i];
		}
		copy_row(size, shape[last], to + a, to_step[last], from + b,
			 from_step[last]);
	} while (tn_eval_next(last, shape, place));
}

int64_t tn_eval_index(const struct tn_tensor *tensor, int64_t at)
{
	int64_t index = tn_tensor_get_i64(tensor, at);

	return tensor->dtype == TN_u64 && index < 0 ? INT64_MAX : index;
}

bool tn_eval_shape(const struct tn_eval *eval, const struct tn_type *type,
		   int64_t shape[TN_MAX_RANK])
{
	int i;

	for (i = 0; i < type->rank; i++) {
		if (!tn_dim_eval(type->dims[i], eval->dims, &shape[i]) ||
		    shape[i] < 0)
			return false;
	}
	return true;
}

/* `nonzero` makes its own result: its size is what it finds out. */
static bool make_results(struct tn_eval *eval, const struct tn_op *op,
			 struct tn_tensor *out)
{
	int64_t shape[TN_MAX_RANK];
	int i;

	for (i = 0; i < op->nout; i++)
		memset(&out[i], 0, sizeof(out[i]));
	if (op->code == TN_OP_nonzero)
		return true;
	for (i = 0; i < op->nout; i++) {
		const struct tn_type *type = op->out[i]->type;

		if (!tn_eval_shape(eval, type, shape) ||
		    !tn_eval_tensor(eval, &out[i], type->dtype, type->rank,
				    shape))
			return false;
	}
	return true;
}

static bool run_class(struct tn_eval_job *job)
{
	switch (tn_ops[job->op->code].op_class) {
	case TN_CLASS_MAP:
		return tn_eval_class_map(job);
	case TN_CLASS_REDUCE:
		return tn_eval_class_reduce(job);
	case TN_CLASS_SCAN:
		return tn_eval_class_scan(job);
	case TN_CLASS_CONTRACT:
		return tn_eval_class_contract(job);
	case TN_CLASS_WINDOW:
		return job->op->code == TN_OP_resize ? tn_eval_resize(job) :
		       tn_eval_class_window(job);
	case TN_CLASS_MOVE:
		return tn_eval_class_move(job);
	case TN_CLASS_INDEX:
		return tn_eval_class_index(job);
	case TN_CLASS_ORDER:
		return tn_eval_class_order(job);
	case TN_CLASS_SOURCE:
		return tn_eval_class_source(job);
	case TN_CLASS_FLOW:
	case TN_CLASS_CUSTOM:
		break;
	}
	return false;
}

bool tn_eval_op(struct tn_eval *eval, const struct tn_op *op,
		const struct tn_tensor *const *in, struct tn_tensor *out)
{
	struct tn_eval_job job = { eval, op, in, out };
	int i;

	if (make_results(eval, op, out) && run_class(&job) && !eval->failed)
		return true;
	for (i = 0; i < op->nout; i++)
		tn_tensor_fini(&out[i]);
	eval->failed = true;
	return false;
}
