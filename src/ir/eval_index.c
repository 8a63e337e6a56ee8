/*
 * Lookups and scatters. Every form is one list of pairs: a slice of the big
 * tensor and a slice of the small one, in row-major order of the small.
 * Lookups clamp an index that is out of range, scatters drop the slice; both
 * raise the flag. A lookup of slices without elements looks at no index.
 */
#include "ir/eval_impl.h"

#include <stdlib.h>
#include <string.h>

/* What happens to a pair of slices. */
struct pairs {
	struct tn_eval_job *job;
	const struct tn_tensor *index;
	bool is_scatter;
	char *big, *small;	/* data */
	int64_t slice;		/* bytes */
	int size;		/* bytes of an element */
	tn_eval_map_fn *combine;	/* NULL: copy */
};

static void join(const struct pairs *pairs, int64_t big, int64_t small)
{
	char *at = pairs->big + big;
	char *other = pairs->small + small;

	if (pairs->slice == 0)
		return;
	if (!pairs->is_scatter) {
		memcpy(other, at, (size_t)pairs->slice);
	} else if (!pairs->combine) {
		memcpy(at, other, (size_t)pairs->slice);
	} else {
		struct tn_eval_run run = {
			.count = pairs->slice / pairs->size, .out = at,
			.in = { at, other, at },
			.step = { pairs->size, pairs->size, pairs->size },
		};

		pairs->combine(&run);
	}
}

/* The index in range; false: the pair is to be left out. */
static bool fit(const struct pairs *pairs, int64_t *index, int64_t size)
{
	if (*index >= 0 && *index < size)
		return true;
	tn_eval_raise(pairs->job->eval, pairs->job->op, TN_RAISED_INDEX);
	if (pairs->is_scatter || size == 0)
		return false;
	*index = *index < 0 ? 0 : size - 1;
	return true;
}

/* gather, scatter: small[o.., k.., i..] is big[o.., index[k..], i..] */
static void along_axis(struct pairs *pairs, const struct tn_tensor *big)
{
	int axis = (int)tn_eval_attr(pairs->job->op, "axis")->u.i;
	int64_t outer = tn_eval_product(big->shape, 0, axis);
	int64_t size = big->shape[axis];
	int64_t count = tn_tensor_count(pairs->index);
	int64_t o;

	pairs->slice = tn_eval_product(big->shape, axis + 1, big->rank) *
		       pairs->size;
	if (pairs->slice == 0 && !pairs->is_scatter)
		return;
	for (o = 0; o < outer; o++) {
		int64_t k;

		for (k = 0; k < count; k++) {
			int64_t index = tn_eval_index(pairs->index, k);

			if (fit(pairs, &index, size))
				join(pairs, (o * size + index) * pairs->slice,
				     (o * count + k) * pairs->slice);
		}
	}
}

/* gather_nd, scatter_nd: the last axis of the index holds tuples. */
static void by_tuples(struct pairs *pairs, const struct tn_tensor *big)
{
	int last = pairs->index->rank - 1;
	int64_t length = pairs->index->shape[last];
	int64_t count = tn_eval_product(pairs->index->shape, 0, last);
	int64_t strides[TN_MAX_RANK];
	int64_t k;

	tn_eval_strides(big, strides);
	pairs->slice = tn_eval_product(big->shape, (int)length, big->rank) *
		       pairs->size;
	if (pairs->slice == 0 && !pairs->is_scatter)
		return;
	for (k = 0; k < count; k++) {
		int64_t offset = 0;
		bool is_in = true;
		int64_t j;

		for (j = 0; j < length; j++) {
			int64_t index =
				tn_eval_index(pairs->index, k * length + j);

			if (fit(pairs, &index, big->shape[j]))
				offset += index * strides[j];
			else
				is_in = false;
		}
		if (is_in)
			join(pairs, offset, k * pairs->slice);
	}
}

/* take_along, scatter_along: one index for each element. */
static void by_elements(struct pairs *pairs, const struct tn_tensor *big)
{
	int axis = (int)tn_eval_attr(pairs->job->op, "axis")->u.i;
	int64_t strides[TN_MAX_RANK], place[TN_MAX_RANK] = { 0 }, at = 0;

	if (tn_tensor_count(pairs->index) == 0)
		return;
	tn_eval_strides(big, strides);
	pairs->slice = pairs->size;
	do {
		int64_t index = tn_eval_index(pairs->index, at), offset = 0;

		if (fit(pairs, &index, big->shape[axis])) {
			int i;

			for (i = 0; i < big->rank; i++)
				offset += (i == axis ? index : place[i]) *
					  strides[i];
			join(pairs, offset, at * pairs->size);
		}
		at++;
	} while (tn_eval_next(big->rank, pairs->index->shape, place));
}

static bool run_pairs(struct pairs *pairs, const struct tn_tensor *big)
{
	switch (tn_ops[pairs->job->op->code].srule) {
	case TN_SRULE_GATHER:
	case TN_SRULE_SCATTER:
		along_axis(pairs, big);
		return true;
	case TN_SRULE_GATHER_ND:
	case TN_SRULE_SCATTER_ND:
		by_tuples(pairs, big);
		return true;
	case TN_SRULE_TAKE_ALONG:
	case TN_SRULE_SCATTER_ALONG:
		by_elements(pairs, big);
		return true;
	case TN_SRULE_BCAST: case TN_SRULE_SAME: case TN_SRULE_RESHAPE:
	case TN_SRULE_TRANSPOSE: case TN_SRULE_BROADCAST:
	case TN_SRULE_SLICE: case TN_SRULE_PAD: case TN_SRULE_CONCAT:
	case TN_SRULE_REVERSE: case TN_SRULE_WINDOW: case TN_SRULE_REDUCE:
	case TN_SRULE_ARGREDUCE: case TN_SRULE_MATMUL: case TN_SRULE_EINSUM:
	case TN_SRULE_CONV: case TN_SRULE_CONV_TRANSPOSE: case TN_SRULE_POOL:
	case TN_SRULE_RESIZE: case TN_SRULE_TOPK: case TN_SRULE_NONZERO:
	case TN_SRULE_CONST: case TN_SRULE_IOTA: case TN_SRULE_IOTA_SHAPE:
	case TN_SRULE_DIM: case TN_SRULE_FLOW:
		break;
	}
	return false;
}

static enum tn_opcode combine_of(const char *word)
{
	static const enum tn_opcode codes[] = {
		TN_OP_add, TN_OP_mul, TN_OP_max, TN_OP_min
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
		if (strcmp(tn_ops[codes[i]].name, word) == 0)
			return codes[i];
	}
	return TN_OP_none;
}

/* `big` and `update` in one type; big is changed. */
static bool scatter_into(struct tn_eval_job *job, struct tn_tensor *big,
			 const struct tn_tensor *update)
{
	enum tn_opcode code = combine_of(tn_eval_attr(job->op,
						      "combine")->u.s);
	struct pairs pairs = {
		.job = job, .index = job->in[1], .is_scatter = true,
		.big = big->data, .small = update->data,
		.size = tn_dtype_bytes(big->dtype),
	};

	if (code != TN_OP_none) {
		pairs.combine = tn_eval_map_of(code, big->dtype);
		if (!pairs.combine)
			return false;
	}
	return run_pairs(&pairs, big);
}

/* f16 and bf16 accumulate in f32 and round once. */
static bool scatter_wide(struct tn_eval_job *job)
{
	struct tn_tensor big, update;
	bool ok = false;

	memset(&update, 0, sizeof(update));
	if (tn_eval_tensor(job->eval, &big, TN_f32, job->in[0]->rank,
			   job->in[0]->shape) &&
	    tn_eval_tensor(job->eval, &update, TN_f32, job->in[2]->rank,
			   job->in[2]->shape))
		ok = tn_eval_cast_all(job->in[0], &big) &&
		     tn_eval_cast_all(job->in[2], &update) &&
		     scatter_into(job, &big, &update) &&
		     tn_eval_cast_all(&big, job->out);
	tn_tensor_fini(&big);
	tn_tensor_fini(&update);
	return ok;
}

static bool scatter(struct tn_eval_job *job)
{
	enum tn_dtype dtype = job->out->dtype;
	int64_t bytes = tn_tensor_bytes(job->out);

	if (dtype == TN_f16 || dtype == TN_bf16)
		return scatter_wide(job);
	if (bytes > 0)
		memcpy(job->out->data, job->in[0]->data, (size_t)bytes);
	return scatter_into(job, job->out, job->in[2]);
}

bool tn_eval_class_index(struct tn_eval_job *job)
{
	struct pairs pairs = {
		.job = job, .index = job->in[1], .big = job->in[0]->data,
		.small = job->out->data,
		.size = tn_dtype_bytes(job->out->dtype),
	};

	if (job->op->nin == 3)
		return scatter(job);
	return run_pairs(&pairs, job->in[0]);
}
