/* Folding of one operator: of the pass `fold`, and of others as they go. */
#ifndef TN_PASSES_FOLD_H
#define TN_PASSES_FOLD_H

#include "passes/pass.h"

/* Most elements of a constant that folding makes. */
#define TN_FOLD_LIMIT 65536

struct tn_fold {
	struct tn_rw *rw;
	int64_t limit;
	int64_t bytes;		/* of all constants made */
	bool changed;
	bool failed;		/* sticky: out of memory */
};

/* Elements that evaluating the operator makes and reads, of contractions those
 * of each operand with those of each other; -1: too many to tell. */
int64_t tn_fold_steps(const struct tn_op *op);
/* All its operands are constants, and its value is the same each time. */
bool tn_fold_is_constant(const struct tn_op *op);
/* Whether the operator is one to look at: it is constant, or may be known. */
bool tn_fold_is_due(const struct tn_op *op);
/* What has taken the operator's place; NULL: it stays, being not due, too
 * large, or one that raises the flag. */
struct tn_value *tn_fold_op(struct tn_fold *fold, struct tn_op *op);

/* fold_known.c: lookups at constants, and expressions over sizes. */
bool tn_fold_may_know(const struct tn_op *op);
struct tn_value *tn_fold_known(struct tn_fold *fold, struct tn_op *op);

#endif
