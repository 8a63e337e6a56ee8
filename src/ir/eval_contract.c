/*
 * Contractions, over the labels of their normal form.
 *
 * A row is all results that differ in the last result label alone. A row is
 * summed over the other labels in order, each result on its own in that same
 * order, in the compute type, and rounded once. Long rows run along the row
 * inside (i-k-j order), short ones along the last summed label.
 */
#include "ir/eval_impl.h"

#include "ir/infer.h"

#include <stdlib.h>

struct contraction {
	struct tn_einsum spec;
	const struct tn_eval_kind *kind;
	int64_t extent[32];
	int64_t step[8][32];		/* bytes, by operand and label */
	const char *data[8];
	int nouter, nsum;
	int outer[TN_MAX_RANK], sum[32];	/* labels */
	int64_t outer_size[TN_MAX_RANK], sum_size[32];
	int row;			/* label of the row, -1: none */
	int64_t width;			/* results in a row */
};

static void set_steps(struct contraction *c, int operand,
		      const struct tn_tensor *tensor)
{
	int64_t strides[TN_MAX_RANK];
	int i;

	tn_eval_strides(tensor, strides);
	c->data[operand] = tensor->data;
	for (i = 0; i < tensor->rank; i++) {
		int label = c->spec.index[operand][i];

		if (tensor->shape[i] != 1 || c->extent[label] == 1)
			c->step[operand][label] += strides[i];
	}
}

static bool prepare(struct tn_eval_job *job, struct contraction *c)
{
	bool is_out[32] = { false };
	const char *why;
	int i;

	if (!tn_einsum_of(job->op, &c->spec, &why))
		return false;
	for (i = 0; i < c->spec.nlabels; i++) {
		if (!tn_eval_dim(job->eval, c->spec.extent[i], &c->extent[i]))
			return false;
	}
	for (i = 0; i < c->spec.noperands; i++)
		set_steps(c, i, job->in[i]);
	c->row = -1;
	c->width = 1;
	for (i = 0; i < c->spec.out_rank; i++) {
		is_out[c->spec.out[i]] = true;
		if (i == c->spec.out_rank - 1) {
			c->row = c->spec.out[i];
			c->width = c->extent[c->row];
		} else {
			c->outer_size[c->nouter] = c->extent[c->spec.out[i]];
			c->outer[c->nouter++] = c->spec.out[i];
		}
	}
	for (i = 0; i < c->spec.nlabels; i++) {
		if (!is_out[i]) {
			c->sum_size[c->nsum] = c->extent[i];
			c->sum[c->nsum++] = i;
		}
	}
	return true;
}

static int64_t row_step(const struct contraction *c, int operand)
{
	return c->row < 0 ? 0 : c->step[operand][c->row];
}

static const char *place_of(const struct contraction *c, int operand,
			    const char *base, int count, const int *labels,
			    const int64_t *place)
{
	int i;

	for (i = 0; i < count; i++)
		base += place[i] * c->step[operand][labels[i]];
	return base;
}

/* Two operands, the row inside. */
static void by_row(const struct contraction *c, const char *const *base,
		   char *acc)
{
	int64_t place[32] = { 0 };
	bool swap = row_step(c, 0) != 0 && row_step(c, 1) == 0;
	int a = swap ? 1 : 0, b = swap ? 0 : 1;

	do {
		const char *left = place_of(c, a, base[a], c->nsum, c->sum,
					    place);
		const char *right = place_of(c, b, base[b], c->nsum, c->sum,
					     place);

		c->kind->axpy(c->width, acc, 1, left, row_step(c, a), right,
			      row_step(c, b));
	} while (tn_eval_next(c->nsum, c->sum_size, place));
}

/* Two operands, the last summed label inside. */
static void by_dot(const struct contraction *c, const char *const *base,
		   char *acc)
{
	int inner = c->nsum - 1;
	int64_t place[32] = { 0 };

	do {
		const char *a = place_of(c, 0, base[0], inner, c->sum, place);
		const char *b = place_of(c, 1, base[1], inner, c->sum, place);
		int64_t j;

		for (j = 0; j < c->width; j++)
			c->kind->dot(c->sum_size[inner],
				     acc + j * c->kind->acc_bytes,
				     a + j * row_step(c, 0),
				     c->step[0][c->sum[inner]],
				     b + j * row_step(c, 1),
				     c->step[1][c->sum[inner]]);
	} while (tn_eval_next(inner, c->sum_size, place));
}

/* Any number of operands, element by element. */
static void by_element(const struct contraction *c, const char *const *base,
		       char *acc)
{
	int64_t place[32] = { 0 };
	const char *at[8];

	do {
		int64_t j;

		for (j = 0; j < c->width; j++) {
			int i;

			for (i = 0; i < c->spec.noperands; i++)
				at[i] = place_of(c, i, base[i], c->nsum,
						 c->sum, place) +
					j * row_step(c, i);
			c->kind->product(c->spec.noperands, at,
					 acc + j * c->kind->acc_bytes);
		}
	} while (tn_eval_next(c->nsum, c->sum_size, place));
}

static bool prefers_dot(const struct contraction *c, int size)
{
	bool is_adjacent = row_step(c, 0) == size || row_step(c, 1) == size;

	return c->nsum > 0 && (c->width < 8 || !is_adjacent);
}

static void sum_row(const struct contraction *c, const char *const *base,
		    char *acc, int size)
{
	if (tn_eval_product(c->sum_size, 0, c->nsum) == 0)
		return;
	if (c->spec.noperands != 2)
		by_element(c, base, acc);
	else if (prefers_dot(c, size))
		by_dot(c, base, acc);
	else
		by_row(c, base, acc);
}

static void clear(char *acc, int64_t bytes)
{
	int64_t i;

	for (i = 0; i < bytes; i++)
		acc[i] = 0;
}

static void run(const struct contraction *c, char *out, char *acc, int size)
{
	int64_t place[TN_MAX_RANK] = { 0 };
	const char *base[8];

	do {
		int i;
		int64_t j;

		for (i = 0; i < c->spec.noperands; i++)
			base[i] = place_of(c, i, c->data[i], c->nouter,
					   c->outer, place);
		clear(acc, c->width * c->kind->acc_bytes);
		sum_row(c, base, acc, size);
		for (j = 0; j < c->width; j++, out += size)
			c->kind->store(acc + j * c->kind->acc_bytes, out);
	} while (tn_eval_next(c->nouter, c->outer_size, place));
}

bool tn_eval_class_contract(struct tn_eval_job *job)
{
	struct contraction *c = tn_eval_alloc(job->eval, 1, sizeof(*c));
	char *acc = NULL;
	bool ok = false;

	if (c && prepare(job, c)) {
		c->kind = tn_eval_kind_of(job->out->dtype);
		ok = c->kind != NULL;
	}
	if (ok && tn_tensor_count(job->out) > 0) {
		acc = tn_eval_alloc(job->eval, c->width, c->kind->acc_bytes);
		ok = acc != NULL;
		if (ok)
			run(c, job->out->data, acc,
			    tn_dtype_bytes(job->out->dtype));
	}
	free(acc);
	free(c);
	return ok;
}
