/*
 * Contractions: matmul and einsum, through their common normal form.
 *
 * In: an anchor of class CONTRACT. Out: loops over the labels of the result,
 * an accumulator, loops over the labels that are summed, and the product of
 * the operands' elements. 16-bit floats multiply and add in f32 and round
 * once at the end.
 *
 *   y = a @ b  ->  for i { for j { let mut acc = 0;
 *                  for r { acc += a[i, r] * b[r, j] } y[i, j] = acc } }
 */
#include "passes/lower.h"

static bool is_outer(const struct tn_einsum *sum, int label)
{
	int i;

	for (i = 0; i < sum->out_rank; i++)
		if (sum->out[i] == label)
			return true;
	return false;
}

static const struct tn_kexpr *factor(struct tn_lower *lw,
				     const struct tn_op *op,
				     const struct tn_einsum *sum, int k,
				     const struct tn_kexpr *const *labels,
				     enum tn_dtype wide)
{
	const struct tn_kexpr *index[TN_MAX_RANK];
	const struct tn_type *type = tn_graph_in(op, k)->type;
	int i;

	for (i = 0; i < type->rank; i++)
		index[i] = tn_dim_is(type->dims[i], 1) ? tn_lower_int(lw, 0)
			: labels[sum->index[k][i]];
	return tn_lower_cast(lw, wide,
			     tn_lower_element(lw, tn_graph_in(op, k), index));
}

static const struct tn_kexpr *product(struct tn_lower *lw,
				      const struct tn_op *op,
				      const struct tn_einsum *sum,
				      const struct tn_kexpr *const *labels,
				      enum tn_dtype wide)
{
	const struct tn_kexpr *value = factor(lw, op, sum, 0, labels, wide);
	int k;

	for (k = 1; k < sum->noperands; k++)
		value = tn_lower_binary(lw, TN_OP_mul, value,
					factor(lw, op, sum, k, labels, wide));
	return value;
}

static void open_summed(struct tn_lower *lw, const struct tn_einsum *sum,
			const struct tn_kexpr **labels)
{
	static const char *const names[] = { "r", "s", "t", "u" };
	int i, n = 0;

	for (i = 0; i < sum->nlabels; i++)
		if (!is_outer(sum, i)) {
			labels[i] = tn_lower_for_dim(lw, names[n < 4 ? n : 3],
						     sum->extent[i]);
			n++;
		}
}

void tn_lower_contract(struct tn_lower *lw, const struct tn_op *op)
{
	enum tn_dtype dtype = op->out[0]->type->dtype;
	enum tn_dtype wide = tn_lower_wide(dtype);
	const struct tn_kexpr *out[TN_MAX_RANK], *labels[32], *value;
	size_t mark = tn_lower_mark(lw), inner;
	struct tn_einsum sum;
	struct tn_kvar *acc;
	const char *why;
	int i;

	if (!tn_einsum_of(op, &sum, &why)) {
		tn_lower_unfit(lw);
		return;
	}
	tn_lower_for_result(lw, op, 0, out);
	for (i = 0; i < sum.out_rank; i++)
		labels[sum.out[i]] = out[i];
	acc = tn_lower_mut(lw, "acc", tn_lower_number(lw, wide, 0));
	inner = tn_lower_mark(lw);
	open_summed(lw, &sum, labels);
	value = product(lw, op, &sum, labels, wide);
	if (!tn_kstmt_set(lw->kernel, lw->block, acc, value, true))
		lw->failed = true;
	tn_lower_close(lw, inner);
	value = tn_lower_cast(lw, dtype, tn_lower_get(lw, acc));
	tn_lower_finish(lw, op, 0, out, value);
	tn_lower_close(lw, mark);
	tn_lower_may_contract(lw, op);
}
