/*
 * Values that are sizes: what a small integer value is, element by element, as
 * expressions over dims, where the operators that make it tell.
 *
 *   s = concat(reshape(cast(N), [1]), [3, 4]);  gather(s, 1)   ->   3
 *   prod(s)                                                    ->   12*N
 */
#ifndef TN_IR_KNOWN_H
#define TN_IR_KNOWN_H

#include "ir/graph.h"

/* Most elements of a value that is looked at. */
#define TN_KNOWN_MAX 32

struct tn_known {
	int rank;		/* 0 or 1 */
	int count;
	const struct tn_dim *at[TN_KNOWN_MAX];
};

/* True if every element of the integer or bool value is an expression over
 * dims, for all sizes that the dims may have: nothing wraps, and nothing raises
 * the flag. Of bools those that are the same for all sizes are known, as 0 and
 * 1. Walks back over few operators. */
bool tn_known_value(struct tn_module *module, const struct tn_value *value,
		    struct tn_known *out);

/* The element that a map of at most three operands makes of these elements, for
 * all sizes, if nothing wraps; NULL: that is no expression over dims, or out of
 * memory. */
const struct tn_dim *tn_known_map(struct tn_module *module,
				  const struct tn_op *op,
				  const struct tn_dim *const *in);

#endif
