/*
 * Reductions and running reductions. Elements of one result are joined in
 * row-major order of the reduced axes, in the compute type, rounded once.
 */
#include "ir/eval_impl.h"

#include <string.h>

/* Axes of operand 0 parted in those kept and those reduced. */
struct split {
	int nkept, ngone;
	int64_t kept[TN_MAX_RANK], gone[TN_MAX_RANK];	/* sizes */
	int64_t kept_step[TN_MAX_RANK], gone_step[TN_MAX_RANK];
};

static void part(struct split *split, const struct tn_tensor *in,
		 const bool *is_gone)
{
	int64_t strides[TN_MAX_RANK];
	int i;

	tn_eval_strides(in, strides);
	split->nkept = split->ngone = 0;
	for (i = 0; i < in->rank; i++) {
		if (is_gone[i]) {
			split->gone[split->ngone] = in->shape[i];
			split->gone_step[split->ngone++] = strides[i];
		} else {
			split->kept[split->nkept] = in->shape[i];
			split->kept_step[split->nkept++] = strides[i];
		}
	}
}

static int64_t offset_of(int rank, const int64_t *place, const int64_t *step)
{
	int64_t offset = 0;
	int i;

	for (i = 0; i < rank; i++)
		offset += place[i] * step[i];
	return offset;
}

static void fold_all(const struct split *split, const char *in,
		     tn_eval_fold_fn *fold, void *acc)
{
	int64_t place[TN_MAX_RANK] = { 0 };
	int last = split->ngone - 1;

	if (split->ngone == 0) {
		fold(1, in, 0, acc);
		return;
	}
	if (tn_eval_product(split->gone, 0, split->ngone) == 0)
		return;
	do {
		fold(split->gone[last], in + offset_of(last, place,
						       split->gone_step),
		     split->gone_step[last], acc);
	} while (tn_eval_next(last, split->gone, place));
}

static bool reduce(struct tn_eval_job *job)
{
	const struct tn_op_info *info = &tn_ops[job->op->code];
	const struct tn_tensor *in = job->in[0];
	const struct tn_eval_kind *kind = tn_eval_kind_of(in->dtype);
	tn_eval_fold_fn *fold = tn_eval_fold_of(info->combine, in->dtype);
	const struct tn_attr *axes = tn_eval_attr(job->op, "axes");
	bool is_gone[TN_MAX_RANK] = { false };
	int64_t place[TN_MAX_RANK] = { 0 }, start = 0, acc = 0;
	char *out = job->out->data;
	struct split split;
	int i;

	if (!fold || !kind)
		return false;
	for (i = 0; i < axes->count; i++)
		is_gone[axes->u.ints[i]] = true;
	part(&split, in, is_gone);
	if (tn_tensor_count(job->out) == 0)
		return true;
	tn_eval_identity(info->identity, in->dtype, &start);
	do {
		kind->load(&start, &acc);
		fold_all(&split, (const char *)in->data +
			 offset_of(split.nkept, place, split.kept_step),
			 fold, &acc);
		kind->store(&acc, out);
		out += tn_dtype_bytes(in->dtype);
	} while (tn_eval_next(split.nkept, split.kept, place));
	return true;
}

static bool argreduce(struct tn_eval_job *job)
{
	const struct tn_tensor *in = job->in[0];
	const struct tn_eval_kind *kind = tn_eval_kind_of(in->dtype);
	bool is_gone[TN_MAX_RANK] = { false };
	bool last = tn_eval_attr(job->op, "last")->u.b;
	int64_t place[TN_MAX_RANK] = { 0 }, at = 0;
	struct split split;

	if (!kind)
		return false;
	is_gone[tn_eval_attr(job->op, "axis")->u.i] = true;
	part(&split, in, is_gone);
	if (tn_tensor_count(job->out) == 0)
		return true;
	if (split.gone[0] == 0)
		return false;
	do {
		const char *row = (const char *)in->data +
			offset_of(split.nkept, place, split.kept_step);

		tn_tensor_set_i64(job->out, at++,
				  kind->arg(split.gone[0], row,
					    split.gone_step[0],
					    job->op->code == TN_OP_argmax,
					    last));
	} while (tn_eval_next(split.nkept, split.kept, place));
	return true;
}

bool tn_eval_class_reduce(struct tn_eval_job *job)
{
	return tn_ops[job->op->code].flags & TN_FLAG_ARG ? argreduce(job) :
	       reduce(job);
}

bool tn_eval_class_scan(struct tn_eval_job *job)
{
	const struct tn_op_info *info = &tn_ops[job->op->code];
	const struct tn_tensor *in = job->in[0];
	const struct tn_eval_kind *kind = tn_eval_kind_of(in->dtype);
	tn_eval_scan_fn *scan = tn_eval_scan_of(info->combine, in->dtype);
	bool is_gone[TN_MAX_RANK] = { false };
	bool exclusive = tn_eval_attr(job->op, "exclusive")->u.b;
	bool reverse = tn_eval_attr(job->op, "reverse")->u.b;
	int64_t place[TN_MAX_RANK] = { 0 }, start = 0, acc = 0, step, back;
	struct split split;

	if (!scan || !kind)
		return false;
	is_gone[tn_eval_attr(job->op, "axis")->u.i] = true;
	part(&split, in, is_gone);
	if (tn_tensor_count(job->out) == 0)
		return true;
	tn_eval_identity(info->identity, in->dtype, &start);
	step = reverse ? -split.gone_step[0] : split.gone_step[0];
	back = reverse ? split.gone_step[0] * (split.gone[0] - 1) : 0;
	do {
		int64_t offset = back +
			offset_of(split.nkept, place, split.kept_step);

		kind->load(&start, &acc);
		scan(split.gone[0], (const char *)in->data + offset, step,
		     (char *)job->out->data + offset, step, exclusive, &acc);
	} while (tn_eval_next(split.nkept, split.kept, place));
	return true;
}
