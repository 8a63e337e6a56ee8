/*
 * Maps: broadcast operands, merge axes that lie together, run the loop of the
 * element type along the last.
 */
#include "ir/eval_impl.h"

#include <string.h>

/* An iteration over the result; steps in bytes, 0 where stretched. */
struct walk {
	int rank;
	int64_t shape[TN_MAX_RANK];
	int64_t step[3][TN_MAX_RANK];
};

uint32_t tn_eval_raised_by(enum tn_opcode code)
{
	return tn_op_has(code, TN_FLAG_SHIFTS) ? TN_RAISED_SHIFT :
	       TN_RAISED_DIVISION;
}

static void set_steps(struct walk *walk, int operand,
		      const struct tn_tensor *tensor)
{
	int64_t strides[TN_MAX_RANK];
	int shift = walk->rank - tensor->rank;
	int i;

	tn_eval_strides(tensor, strides);
	for (i = 0; i < walk->rank; i++)
		walk->step[operand][i] =
			i < shift || tensor->shape[i - shift] == 1 ? 0 :
			strides[i - shift];
}

static bool can_merge(const struct walk *walk, int outer, int inner)
{
	int k;

	for (k = 0; k < 3; k++) {
		if (walk->step[k][outer] !=
		    walk->step[k][inner] * walk->shape[inner])
			return false;
	}
	return true;
}

/* Joins neighbouring axes that are one run in all operands. */
static void merge(struct walk *walk)
{
	int kept = 0;
	int i;

	for (i = 1; i < walk->rank; i++) {
		int k;

		if (can_merge(walk, kept, i)) {
			walk->shape[kept] *= walk->shape[i];
		} else {
			kept++;
			walk->shape[kept] = walk->shape[i];
		}
		for (k = 0; k < 3; k++)
			walk->step[k][kept] = walk->step[k][i];
	}
	if (walk->rank > 0)
		walk->rank = kept + 1;
}

static void run_walk(const struct walk *walk, tn_eval_map_fn *fn,
		     const struct tn_tensor *const *in, int nin, char *out,
		     int size, bool *raised)
{
	int last = walk->rank - 1;
	int64_t place[TN_MAX_RANK] = { 0 };
	struct tn_eval_run run = { .count = 1, .out = out };

	if (walk->rank > 0)
		run.count = walk->shape[last];
	do {
		int k;

		for (k = 0; k < 3; k++) {
			int i;

			run.in[k] = in[k < nin ? k : 0]->data;
			for (i = 0; i < last; i++)
				run.in[k] += place[i] * walk->step[k][i];
			run.step[k] = walk->rank ? walk->step[k][last] : 0;
		}
		fn(&run);
		run.out += run.count * size;
	} while (last > 0 && tn_eval_next(last, walk->shape, place));
	*raised = run.raised;
}

static bool convert(struct tn_eval_job *job)
{
	int64_t bytes = tn_tensor_bytes(job->out), i;

	if (job->op->code == TN_OP_cast)
		return tn_eval_cast_all(job->in[0], job->out);
	if (bytes > 0 && tn_dtype_bits(job->out->dtype) >= 8)
		memcpy(job->out->data, job->in[0]->data, (size_t)bytes);
	else
		for (i = 0; i < bytes; i++)
			tn_eval_bitcast((const char *)job->in[0]->data + i,
					job->out->dtype,
					(char *)job->out->data + i);
	return bytes >= 0;
}

bool tn_eval_class_map(struct tn_eval_job *job)
{
	enum tn_opcode code = job->op->code;
	int nin = job->op->nin;
	enum tn_dtype dtype = job->in[code == TN_OP_select]->dtype;
	tn_eval_map_fn *fn = tn_eval_map_of(code, dtype);
	struct walk walk = { .rank = job->out->rank };
	bool raised = false;
	int k;

	if (code == TN_OP_cast || code == TN_OP_bitcast)
		return convert(job);
	if (!fn)
		return false;
	if (tn_tensor_count(job->out) == 0)
		return true;
	memcpy(walk.shape, job->out->shape, sizeof(walk.shape));
	for (k = 0; k < 3; k++)
		set_steps(&walk, k, job->in[k < nin ? k : 0]);
	merge(&walk);
	run_walk(&walk, fn, job->in, nin, job->out->data,
		 tn_dtype_bytes(job->out->dtype), &raised);
	if (raised)
		tn_eval_raise(job->eval, job->op, tn_eval_raised_by(code));
	return true;
}

void tn_eval_scalar(enum tn_opcode code, enum tn_dtype dtype,
		    const void *const *in, void *out, uint32_t *flags)
{
	tn_eval_map_fn *fn = tn_eval_map_of(code, dtype);
	int nin = tn_ops[code].nin_max;
	struct tn_eval_run run = { .count = 1, .out = out };
	int k;

	if (!fn)
		return;
	for (k = 0; k < 3; k++)
		run.in[k] = in[k < nin ? k : nin - 1];
	fn(&run);
	if (run.raised && flags)
		*flags |= tn_eval_raised_by(code);
}
