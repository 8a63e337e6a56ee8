/*
 * Resampling, axis by axis.
 *
 * The place in the input that result o of n sees is the exact fraction
 *   half_pixel     ((2o + 1) * m - n) / (2n)
 *   asymmetric     o * m / n
 *   align_corners  o * (m - 1) / (n - 1), 0 if n is 1
 * for an input of m, so that halves are halves: nearest rounds the fraction,
 * linear takes floor and remainder from it. Places outside are moved to the
 * edge. Linear runs in f32 (f64 on f64) and rounds to f16 and bf16 once.
 */
#include "ir/eval_impl.h"

#include "base/num.h"

#include <stdlib.h>
#include <string.h>

enum coord { HALF_PIXEL, ASYMMETRIC, ALIGN_CORNERS };

struct fraction {
	int64_t num, den;
};

static struct fraction source_of(enum coord coord, int64_t o, int64_t m,
				 int64_t n)
{
	switch (coord) {
	case HALF_PIXEL:
		return (struct fraction){ (2 * o + 1) * m - n, 2 * n };
	case ASYMMETRIC:
		return (struct fraction){ o * m, n };
	case ALIGN_CORNERS:
		break;
	}
	if (n == 1)
		return (struct fraction){ 0, 1 };
	return (struct fraction){ o * (m - 1), n - 1 };
}

static int64_t bound(int64_t at, int64_t size)
{
	if (at < 0)
		return 0;
	return at < size ? at : size - 1;
}

static int64_t ceil_of(int64_t num, int64_t den)
{
	return -tn_num_floordiv(-num, den);
}

/* `round` is one of the words of the operator table. */
static int64_t nearest(struct fraction at, const char *round)
{
	if (strcmp(round, "floor") == 0)
		return tn_num_floordiv(at.num, at.den);
	if (strcmp(round, "ceil") == 0)
		return ceil_of(at.num, at.den);
	if (strcmp(round, "prefer_ceil") == 0)
		return tn_num_floordiv(2 * at.num + at.den, 2 * at.den);
	return ceil_of(2 * at.num - at.den, 2 * at.den);
}

static enum coord coord_of(const struct tn_op *op)
{
	const char *word = tn_eval_attr(op, "coord")->u.s;

	if (word[0] == 'h')
		return HALF_PIXEL;
	return strcmp(word, "asymmetric") == 0 ? ASYMMETRIC : ALIGN_CORNERS;
}

/* Whether 4 * m * n stays in range for every axis. */
static bool is_small(const struct tn_eval_job *job)
{
	int64_t product;
	int i;

	for (i = 0; i < job->out->rank; i++) {
		if (!tn_num_mul(job->in[0]->shape[i], job->out->shape[i],
				&product) ||
		    !tn_num_mul(product, 8, &product) ||
		    job->in[0]->shape[i] == 0)
			return false;
	}
	return true;
}

static bool resize_nearest(struct tn_eval_job *job)
{
	const struct tn_tensor *in = job->in[0];
	const char *round = tn_eval_attr(job->op, "round")->u.s;
	enum coord coord = coord_of(job->op);
	int64_t strides[TN_MAX_RANK], place[TN_MAX_RANK] = { 0 };
	int size = tn_dtype_bytes(in->dtype);
	char *out = job->out->data;

	tn_eval_strides(in, strides);
	do {
		int64_t offset = 0;
		int i;

		for (i = 0; i < in->rank; i++) {
			int64_t at = place[i];

			if (in->shape[i] != job->out->shape[i])
				at = nearest(source_of(coord, at, in->shape[i],
						       job->out->shape[i]),
					     round);
			offset += bound(at, in->shape[i]) * strides[i];
		}
		memcpy(out, (const char *)in->data + offset, (size_t)size);
		out += size;
	} while (tn_eval_next(in->rank, job->out->shape, place));
	return true;
}

static double mix(enum tn_dtype dtype, double a, double b, struct fraction at)
{
	int64_t rest = tn_num_floormod(at.num, at.den);
	double part = (double)rest / (double)at.den;

	if (dtype == TN_f64)
		return a * (1 - part) + b * part;
	return (double)((float)a * (1 - (float)part) +
			(float)b * (float)part);
}

/* Resamples one axis; both tensors are f32 or f64. */
static void linear_axis(const struct tn_tensor *in, struct tn_tensor *out,
			int axis, enum coord coord)
{
	int64_t m = in->shape[axis], n = out->shape[axis];
	int64_t nouter = tn_eval_product(in->shape, 0, axis);
	int64_t ninner = tn_eval_product(in->shape, axis + 1, in->rank);
	int64_t o;

	for (o = 0; o < n; o++) {
		struct fraction at = source_of(coord, o, m, n);
		int64_t below = tn_num_floordiv(at.num, at.den);
		int64_t a = bound(below, m), b = bound(below + 1, m);
		int64_t k;

		for (k = 0; k < nouter * ninner; k++) {
			int64_t outer = k / ninner, inner = k % ninner;
			int64_t base = outer * m * ninner + inner;

			tn_tensor_set_f64(out, (outer * n + o) * ninner + inner,
				mix(in->dtype,
				    tn_tensor_get_f64(in, base + a * ninner),
				    tn_tensor_get_f64(in, base + b * ninner),
				    at));
		}
	}
}

static bool resize_linear(struct tn_eval_job *job)
{
	const struct tn_tensor *in = job->in[0];
	enum tn_dtype wide = in->dtype == TN_f64 ? TN_f64 : TN_f32;
	struct tn_tensor now, next;
	bool ok = tn_eval_tensor(job->eval, &now, wide, in->rank,
				 in->shape) &&
		  tn_eval_cast_all(in, &now);
	int axis;

	for (axis = 0; ok && axis < in->rank; axis++) {
		if (now.shape[axis] == job->out->shape[axis])
			continue;
		now.shape[axis] = job->out->shape[axis];
		ok = tn_eval_tensor(job->eval, &next, wide, now.rank,
				    now.shape);
		now.shape[axis] = in->shape[axis];
		if (!ok)
			break;
		linear_axis(&now, &next, axis, coord_of(job->op));
		tn_tensor_fini(&now);
		now = next;
	}
	ok = ok && tn_eval_cast_all(&now, job->out);
	tn_tensor_fini(&now);
	return ok;
}

bool tn_eval_resize(struct tn_eval_job *job)
{
	if (tn_tensor_count(job->out) == 0)
		return true;
	if (!is_small(job))
		return false;
	return tn_eval_attr(job->op, "mode")->u.s[0] == 'n' ?
	       resize_nearest(job) : resize_linear(job);
}
