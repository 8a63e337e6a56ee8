/* Movement: blocks of elements copied between strided places. */
#include "ir/eval_impl.h"

#include <string.h>

static int size_of(const struct tn_eval_job *job)
{
	return tn_dtype_bytes(job->out->dtype);
}

/* Copies the whole result from operand 0 by strides of each result axis. */
static bool pull(struct tn_eval_job *job, int64_t offset,
		 const int64_t *from_step)
{
	int64_t to_step[TN_MAX_RANK];

	tn_eval_strides(job->out, to_step);
	tn_eval_copy(size_of(job), job->out->rank, job->out->shape,
		     job->out->data, to_step,
		     (const char *)job->in[0]->data + offset, from_step);
	return true;
}

static bool reshape(struct tn_eval_job *job)
{
	int64_t bytes = tn_tensor_bytes(job->out);

	if (bytes < 0 || bytes != tn_tensor_bytes(job->in[0]))
		return false;
	if (bytes > 0)
		memcpy(job->out->data, job->in[0]->data, (size_t)bytes);
	return true;
}

static bool transpose(struct tn_eval_job *job)
{
	const struct tn_attr *perm = tn_eval_attr(job->op, "perm");
	int64_t strides[TN_MAX_RANK], step[TN_MAX_RANK];
	int i;

	tn_eval_strides(job->in[0], strides);
	for (i = 0; i < job->out->rank; i++)
		step[i] = strides[perm->u.ints[i]];
	return pull(job, 0, step);
}

static bool broadcast(struct tn_eval_job *job)
{
	int shift = job->out->rank - job->in[0]->rank;
	int64_t strides[TN_MAX_RANK], step[TN_MAX_RANK];
	int i;

	tn_eval_strides(job->in[0], strides);
	for (i = 0; i < job->out->rank; i++)
		step[i] = i < shift || job->in[0]->shape[i - shift] == 1 ? 0 :
			  strides[i - shift];
	return pull(job, 0, step);
}

static bool slice(struct tn_eval_job *job)
{
	const struct tn_attr *start = tn_eval_attr(job->op, "start");
	const struct tn_attr *steps = tn_eval_attr(job->op, "step");
	int64_t strides[TN_MAX_RANK], step[TN_MAX_RANK], offset = 0;
	int i;

	tn_eval_strides(job->in[0], strides);
	for (i = 0; i < job->out->rank; i++) {
		int64_t from, count = job->out->shape[i];

		if (!tn_eval_dim(job->eval, start->u.dims[i], &from))
			return false;
		if (count == 0)
			return true;
		if (from < 0 || from >= job->in[0]->shape[i] ||
		    (job->in[0]->shape[i] - 1 - from) / steps->u.ints[i] <
		    count - 1)
			return false;
		offset += from * strides[i];
		step[i] = count > 1 ? steps->u.ints[i] * strides[i] :
			  strides[i];
	}
	return pull(job, offset, step);
}

static bool reverse(struct tn_eval_job *job)
{
	const struct tn_attr *axes = tn_eval_attr(job->op, "axes");
	int64_t step[TN_MAX_RANK], offset = 0;
	int i;

	if (tn_tensor_count(job->out) == 0)
		return true;
	tn_eval_strides(job->in[0], step);
	for (i = 0; i < axes->count; i++) {
		int64_t axis = axes->u.ints[i];

		offset += (job->in[0]->shape[axis] - 1) * step[axis];
		step[axis] = -step[axis];
	}
	return pull(job, offset, step);
}

static bool window(struct tn_eval_job *job)
{
	const struct tn_attr *axes = tn_eval_attr(job->op, "axes");
	const struct tn_attr *stride = tn_eval_attr(job->op, "stride");
	const struct tn_attr *dilation = tn_eval_attr(job->op, "dilation");
	int64_t strides[TN_MAX_RANK], step[TN_MAX_RANK];
	int i;

	tn_eval_strides(job->in[0], strides);
	memcpy(step, strides, sizeof(step));
	for (i = 0; i < axes->count; i++) {
		int64_t axis = axes->u.ints[i];

		step[axis] = strides[axis] * stride->u.ints[i];
		step[job->in[0]->rank + i] =
			strides[axis] * dilation->u.ints[i];
	}
	return pull(job, 0, step);
}

static void fill(struct tn_tensor *tensor, const void *element)
{
	int64_t count = tn_tensor_count(tensor);
	size_t size = (size_t)tn_dtype_bytes(tensor->dtype);
	char *at = tensor->data;
	int64_t i;

	for (i = 0; i < count; i++, at += size)
		memcpy(at, element, size);
}

static bool pad(struct tn_eval_job *job)
{
	const struct tn_attr *pads = tn_eval_attr(job->op, "pad");
	int64_t to[TN_MAX_RANK], from[TN_MAX_RANK], offset = 0;
	int i;

	if (job->op->nin > 1)
		fill(job->out, job->in[1]->data);
	tn_eval_strides(job->out, to);
	tn_eval_strides(job->in[0], from);
	for (i = 0; i < job->out->rank; i++) {
		int64_t lo;

		if (!tn_eval_dim(job->eval, pads->u.dims[2 * i], &lo))
			return false;
		if (lo < 0 || lo + job->in[0]->shape[i] > job->out->shape[i])
			return false;
		offset += lo * to[i];
	}
	if (tn_tensor_count(job->in[0]) == 0)
		return true;
	tn_eval_copy(size_of(job), job->out->rank, job->in[0]->shape,
		     (char *)job->out->data + offset, to, job->in[0]->data,
		     from);
	return true;
}

static bool concat(struct tn_eval_job *job)
{
	int64_t axis = tn_eval_attr(job->op, "axis")->u.i;
	int64_t to[TN_MAX_RANK], from[TN_MAX_RANK], at = 0;
	int i;

	tn_eval_strides(job->out, to);
	for (i = 0; i < job->op->nin; i++) {
		const struct tn_tensor *part = job->in[i];

		if (part->shape[axis] > job->out->shape[axis] - at)
			return false;
		tn_eval_strides(part, from);
		tn_eval_copy(size_of(job), job->out->rank, part->shape,
			     (char *)job->out->data + at * to[axis], to,
			     part->data, from);
		at += part->shape[axis];
	}
	return at == job->out->shape[axis];
}

bool tn_eval_class_move(struct tn_eval_job *job)
{
	enum tn_opcode code = job->op->code;

	if (code == TN_OP_reshape)
		return reshape(job);
	if (code == TN_OP_transpose)
		return transpose(job);
	if (code == TN_OP_broadcast)
		return broadcast(job);
	if (code == TN_OP_slice)
		return slice(job);
	if (code == TN_OP_pad)
		return pad(job);
	if (code == TN_OP_concat)
		return concat(job);
	if (code == TN_OP_reverse)
		return reverse(job);
	return code == TN_OP_window && window(job);
}
