/*
 * Reference evaluation of one operator on tensors: the meaning of the
 * language for everything but control flow. The interpreter, the folder and
 * the checks use these same functions.
 */
#ifndef TN_IR_EVAL_H
#define TN_IR_EVAL_H

#include "ir/graph.h"

struct tn_eval {
	const int64_t *dims;	/* value of each symbol, by number */
	uint32_t flags;		/* sticky: tn_eval_flag */
	bool failed;		/* out of memory or overflow */
	bool no_memory;		/* that it was memory */
	const struct tn_op *raised;	/* first op that set a flag */
};

enum tn_eval_flag {
	TN_RAISED_DIVISION = 1,
	TN_RAISED_INDEX = 2,
	TN_RAISED_SHIFT = 4,
	TN_RAISED_ASSERT = 8
};

/* Evaluates `op` (not FLOW). `out` tensors are made here (owned by the
 * caller). False: failed. */
bool tn_eval_op(struct tn_eval *eval, const struct tn_op *op,
		const struct tn_tensor *const *in, struct tn_tensor *out);
/* One element of a MAP op: operands and result are in compute form, i.e. the
 * storage of the dtype. Rounds f16 and bf16 once. */
void tn_eval_scalar(enum tn_opcode code, enum tn_dtype dtype,
		    const void *const *in, void *out, uint32_t *flags);
/* The bit that a MAP op raises, if it raises one. */
uint32_t tn_eval_raised_by(enum tn_opcode code);
/* Converts one element as `cast` does. */
void tn_eval_cast(enum tn_dtype from, const void *in, enum tn_dtype to,
		  void *out);
/* One element's bits as an element of another type of as many bits. */
void tn_eval_bitcast(const void *in, enum tn_dtype to, void *out);
/* Concrete shape of a type; false on overflow or a negative size. */
bool tn_eval_shape(const struct tn_eval *eval, const struct tn_type *type,
		   int64_t shape[TN_MAX_RANK]);
/* Start value of a reduction in storage form. */
void tn_eval_identity(enum tn_identity identity, enum tn_dtype dtype,
		      void *out);

#endif
