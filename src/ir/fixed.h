/*
 * What is known when a program is built: weights, constants, and what is made
 * of these alone. `precompute` computes it then, so rules count it as free.
 */
#ifndef TN_IR_FIXED_H
#define TN_IR_FIXED_H

#include "ir/graph.h"

/* Values that tn_fixed_value looks at before it says no. */
#define TN_FIXED_WALK 32

/* No type and no attribute of it depends on a size of run time. */
bool tn_fixed_sizes(const struct tn_op *op);
/* Its result is the same each time if its operands are, and nothing else comes
 * of it: no flag, no effect. */
bool tn_fixed_op(const struct tn_op *op);
bool tn_fixed_is_weight(const struct tn_value *value);
/* The value is a weight, a constant, or made of these by few operators. */
bool tn_fixed_value(const struct tn_value *value);

#endif
