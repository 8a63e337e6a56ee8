/*
 * Views: results that are bytes of their operand and cost nothing.
 *
 * A reshape is one of row-major values, and whatever the layouts if only axes
 * of one element come or go; so is a slice that takes a stretch of the first axis
 * in memory (the first that is not 1), from a constant start by steps of 1, if
 * the sizes behind it are constants; so is a transpose between layouts that
 * differ by just that: from x as it stands to @layout(0, 2, 3, 1) by
 * perm=[0, 3, 1, 2]. A result of a launch that is an operand updated in
 * place is the operand's bytes too.
 *
 * A concatenation is the other way round: its parts may be written where they
 * lie in it, if its axis is the first in memory and all sizes are constants. Of
 * c = concat([a, b], axis=1), a: f32[1, 3, 4], b: f32[1, 2, 4], the first 48
 * bytes are a and the rest is b. It then is no kernel: each part that lies
 * elsewhere is copied by the host.
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
/* Most parts of such a concatenation, and most that lie in one another. */
#define TN_VIEW_PARTS 64
#define TN_VIEW_NESTED 64

/* True if the op is a concatenation whose parts lie in its result as they are,
 * one behind the other. */
bool tn_view_is_joined(const struct tn_op *op);
/* Bytes of a part, a constant. */
int64_t tn_view_part_bytes(const struct tn_op *concat, int k);
/* The value to write in place for part k: the part itself, or what it is a view
 * of, whole. NULL: it has no bytes of its own to be made there, as a weight, a
 * parameter, a result of flow, or what another block made. */
struct tn_value *tn_view_part(const struct tn_op *concat, int k);
/* The value whose bytes a placed value really is (itself if it is no alias),
 * and the distance in bytes. */
const struct tn_value *tn_place_root(const struct tn_value *value,
				     int64_t *offset);

#endif
