/*
 * Inference: checks an op's operands and attributes by its row of ops.def,
 * completes attributes (defaults, replicated scalars, non-negative axes) and
 * sets the types of its results. What only run time can know becomes a guard
 * of the function.
 *
 * A NULL among the sizes of `reshape` is `_`: it is inferred and replaced. In
 * `start` and `stop` of `slice` it stands for 0 and for the size of the axis.
 * Attributes may come in any order and as a number where a list is due. An op
 * must be in its block.
 */
#ifndef TN_IR_INFER_H
#define TN_IR_INFER_H

#include "ir/graph.h"

/* False after a report; results are then poison. An op with a poison operand
 * gets poison results without a report. */
bool tn_infer_op(struct tn_op *op);
/* Fills absent attributes with their defaults; false after a report. */
bool tn_infer_attrs(struct tn_op *op);
/* Infers all ops of the function again, in order (after a substitution). */
bool tn_infer_fn(struct tn_fn *fn);

/*
 * A contraction in its normal form: index letters of each operand and of the
 * result. matmul and einsum are read through it by reference and lowering.
 */
struct tn_einsum {
	int noperands;
	int rank[8];
	int index[8][TN_MAX_RANK];	/* label number of each axis */
	int out_rank;
	int out[TN_MAX_RANK];
	int nlabels;
	const struct tn_dim *extent[32];
	/* An axis whose type is the literal 1 stretches to an extent that is
	 * not 1: batch axes of matmul alone. */
};
/* False if the spec is malformed for these operands; *why says so. At most 8
 * operands and 32 labels. */
bool tn_einsum_of(const struct tn_op *op, struct tn_einsum *out,
		  const char **why);

#endif
