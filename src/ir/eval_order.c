/*
 * Order: stable merge sort of positions, and the places of what is not zero.
 * NaN is the greatest; descending order keeps equal elements in place too.
 */
#include "ir/eval_impl.h"

#include <stdlib.h>
#include <string.h>

/* One row to sort: elements at `step` bytes. */
struct row {
	const struct tn_eval_kind *kind;
	const char *data;
	int64_t count, step;
	bool descending;
};

static bool comes_after(const struct row *row, int64_t a, int64_t b)
{
	int order = row->kind->compare(row->data + a * row->step,
				       row->data + b * row->step);

	return row->descending ? order < 0 : order > 0;
}

static void merge(const struct row *row, const int64_t *from, int64_t *to,
		  int64_t lo, int64_t mid, int64_t hi)
{
	int64_t a = lo, b = mid;
	int64_t i;

	for (i = lo; i < hi; i++) {
		if (a < mid && (b >= hi || !comes_after(row, from[a],
							from[b])))
			to[i] = from[a++];
		else
			to[i] = from[b++];
	}
}

/* Positions in order, in `places`; `spare` has as much room. */
static void sort_row(const struct row *row, int64_t *places, int64_t *spare)
{
	int64_t *from = places, *to = spare, n = row->count;
	int64_t i, width;

	for (i = 0; i < n; i++)
		places[i] = i;
	for (width = 1; width < n; width *= 2) {
		int64_t *swap = from;
		int64_t lo;

		for (lo = 0; lo < n; lo += 2 * width) {
			int64_t mid = lo + width < n ? lo + width : n;
			int64_t hi = mid + width < n ? mid + width : n;

			merge(row, from, to, lo, mid, hi);
		}
		from = to;
		to = swap;
	}
	if (from != places)
		memcpy(places, from, (size_t)n * sizeof(*places));
}

/* Rows of all ops here: values to out[v] or indices to out[i], or both. */
struct sorting {
	int values, indices;	/* result numbers, -1: none */
	bool descending;
	int64_t keep;		/* results of a row */
	int axis;
};

static void emit_row(struct tn_eval_job *job, const struct sorting *what,
		     const struct row *row, const int64_t *places,
		     int64_t outer, int64_t inner, int64_t ninner)
{
	int size = tn_dtype_bytes(job->in[0]->dtype);
	int64_t k;

	for (k = 0; k < what->keep; k++) {
		int64_t at = (outer * what->keep + k) * ninner + inner;

		if (what->values >= 0)
			memcpy((char *)job->out[what->values].data + at * size,
			       row->data + places[k] * row->step,
			       (size_t)size);
		if (what->indices >= 0)
			tn_tensor_set_i64(&job->out[what->indices], at,
					  places[k]);
	}
}

static bool sort_rows(struct tn_eval_job *job, const struct sorting *what)
{
	const struct tn_tensor *in = job->in[0];
	int64_t n = in->shape[what->axis];
	int64_t nouter = tn_eval_product(in->shape, 0, what->axis);
	int64_t ninner = tn_eval_product(in->shape, what->axis + 1, in->rank);
	int64_t *places = tn_eval_alloc(job->eval, n, 2 * sizeof(*places));
	int size = tn_dtype_bytes(in->dtype);
	struct row row = {
		.kind = tn_eval_kind_of(in->dtype), .count = n,
		.step = ninner * size, .descending = what->descending,
	};
	bool ok = places && row.kind && what->keep <= n;
	int64_t outer;

	for (outer = 0; ok && outer < nouter; outer++) {
		int64_t inner;

		for (inner = 0; inner < ninner; inner++) {
			row.data = (const char *)in->data +
				   (outer * n * ninner + inner) * size;
			sort_row(&row, places, places + n);
			emit_row(job, what, &row, places, outer, inner,
				 ninner);
		}
	}
	free(places);
	return ok;
}

static bool nonzero(struct tn_eval_job *job)
{
	const struct tn_tensor *in = job->in[0];
	const struct tn_eval_kind *kind = tn_eval_kind_of(in->dtype);
	int size = tn_dtype_bytes(in->dtype);
	int64_t count = in->shape[0], found = 0;
	int64_t i;

	if (!kind)
		return false;
	for (i = 0; i < count; i++)
		found += !kind->is_zero((const char *)in->data + i * size);
	if (!tn_eval_tensor(job->eval, job->out,
			    job->op->out[0]->type->dtype, 1, &found))
		return false;
	found = 0;
	for (i = 0; i < count; i++) {
		if (!kind->is_zero((const char *)in->data + i * size))
			tn_tensor_set_i64(job->out, found++, i);
	}
	return true;
}

bool tn_eval_class_order(struct tn_eval_job *job)
{
	const struct tn_op *op = job->op;
	struct sorting what = { .values = -1, .indices = -1 };

	if (op->code == TN_OP_nonzero)
		return nonzero(job);
	what.axis = (int)tn_eval_attr(op, "axis")->u.i;
	what.keep = job->out[0].shape[what.axis];
	if (op->code == TN_OP_topk) {
		what.values = 0;
		what.indices = 1;
		what.descending = tn_eval_attr(op, "largest")->u.b;
	} else {
		what.descending = tn_eval_attr(op, "descending")->u.b;
		if (op->code == TN_OP_sort)
			what.values = 0;
		else
			what.indices = 0;
	}
	return sort_rows(job, &what);
}
