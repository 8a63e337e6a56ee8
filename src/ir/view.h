/*
 * Views: results that are bytes of their operand and cost nothing.
 *
 * A reshape is one; so is a slice that takes a stretch of the first axis (the
 * first that is not 1), from a constant start by steps of 1, if the sizes
 * behind it are constants. A result of a launch that is an operand updated in
 * place is the operand's bytes too.
 */
#ifndef TN_IR_VIEW_H
#define TN_IR_VIEW_H

#include "ir/graph.h"

/* True if the op's result is a view of operand 0; *offset is the distance of
 * its first byte. */
bool tn_view_of(const struct tn_op *op, int64_t *offset);
/* The operand of a launch whose bytes its kernel updates to be result `result`;
 * -1: the result has bytes of its own, or the op is no launch. */
int tn_view_updated(const struct tn_op *op, int result);
/* The value whose bytes a placed value really is (itself if it is no alias),
 * and the distance in bytes. */
const struct tn_value *tn_place_root(const struct tn_value *value,
				     int64_t *offset);

#endif
