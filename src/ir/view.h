/*
 * Views: results that are bytes of their operand and cost nothing.
 *
 * A reshape is one of row-major values, and whatever the layouts if only axes of
 * one element come or go; so is a slice that takes a stretch of the first axis
 * in memory (the first that is not 1), from a constant start by steps of 1, if
 * the sizes behind it are constants; so is a transpose between layouts that
 * differ by just that: from x as it stands to @layout(0, 2, 3, 1) by
 * perm=[0, 3, 1, 2]. A result of a launch that is an operand updated in
 * place is the operand's bytes too.
 */
#ifndef TN_IR_VIEW_H
#define TN_IR_VIEW_H

#include "ir/graph.h"

/* True if the op's result is a view of operand 0; *offset is the distance of
 * its first byte. */
bool tn_view_of(const struct tn_op *op, int64_t *offset);
/* The axis of the operand that is axis `axis` of a transpose's result. */
int tn_view_axis(const struct tn_op *transpose, int axis);
/* The operand of a launch whose bytes its kernel updates to be result `result`;
 * -1: the result has bytes of its own, or the op is no launch. */
int tn_view_updated(const struct tn_op *op, int result);
/* The value whose bytes a placed value really is (itself if it is no alias),
 * and the distance in bytes. */
const struct tn_value *tn_place_root(const struct tn_value *value,
				     int64_t *offset);

#endif
