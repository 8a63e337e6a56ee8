/*
 * Sources: literals, indices, dims, random numbers.
 *
 * random: element i is SplitMix64 of the seed, z(i), cut to as many leading
 * bits as the type holds exactly (53 for f64 and integers, 24 for f32, 11 for
 * f16, 8 for bf16): u in [0, 1); the value is lo + u * (hi - lo) in double,
 * rounded once, for integers its floor.
 *   z = seed + (i + 1) * 0x9e3779b97f4a7c15
 *   z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9
 *   z = (z ^ z >> 27) * 0x94d049bb133111eb
 *   z = z ^ z >> 31
 */
#include "ir/eval_impl.h"

#include <math.h>
#include <string.h>

static uint64_t split_mix(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static int random_bits(enum tn_dtype dtype)
{
	if (dtype == TN_f32)
		return 24;
	if (dtype == TN_f16)
		return 11;
	return dtype == TN_bf16 ? 8 : 53;
}

static bool random_numbers(struct tn_eval_job *job)
{
	uint64_t seed = (uint64_t)tn_eval_attr(job->op, "seed")->u.i;
	double lo = tn_eval_attr(job->op, "lo")->u.f;
	double hi = tn_eval_attr(job->op, "hi")->u.f;
	int bits = random_bits(job->out->dtype);
	bool is_float = tn_dtype_is(job->out->dtype, TN_KIND_F);
	int64_t count = tn_tensor_count(job->out);
	int64_t i;

	for (i = 0; i < count; i++) {
		uint64_t z = split_mix(seed, (uint64_t)i) >> (64 - bits);
		double value = lo + ldexp((double)z, -bits) * (hi - lo);

		tn_tensor_set_f64(job->out, i,
				  is_float ? value : floor(value));
	}
	return true;
}

static bool iota(struct tn_eval_job *job)
{
	int axis = (int)tn_eval_attr(job->op, "axis")->u.i;
	int64_t inner = tn_eval_product(job->out->shape, axis + 1,
					job->out->rank);
	int64_t count = tn_tensor_count(job->out);
	int64_t i;

	for (i = 0; i < count; i++)
		tn_tensor_set_i64(job->out, i,
				  i / inner % job->out->shape[axis]);
	return true;
}

static bool literal(struct tn_eval_job *job)
{
	int64_t bytes = tn_tensor_bytes(job->out);

	if (!job->op->literal || bytes < 0 ||
	    bytes != tn_tensor_bytes(job->op->literal))
		return false;
	if (bytes > 0)
		memcpy(job->out->data, job->op->literal->data, (size_t)bytes);
	return true;
}

static bool dim(struct tn_eval_job *job)
{
	int64_t value;

	if (!tn_eval_dim(job->eval, tn_eval_attr(job->op, "value")->u.dim,
			 &value))
		return false;
	tn_tensor_set_i64(job->out, 0, value);
	return true;
}

bool tn_eval_class_source(struct tn_eval_job *job)
{
	enum tn_opcode code = job->op->code;

	if (code == TN_OP_const)
		return literal(job);
	if (code == TN_OP_iota)
		return iota(job);
	if (code == TN_OP_dim)
		return dim(job);
	return code == TN_OP_random && random_numbers(job);
}
