/*
 * Layouts: the order in which the elements of a value lie in memory.
 *
 * A layout lists physical axes, major to minor. Each is an axis of the value,
 * `1`, or one of the two pieces that an axis is cut into: `1//16`, the number
 * of the block, and `1%16`, the place in the block. It is a bijection: every
 * axis occurs once as a whole, or once as each of its pieces. What it says of
 * f32[N, 64, H, W]:
 *
 *   @layout(0, 2, 3, 1)             bytes of f32[N, H, W, 64]
 *   @layout(0, 1 // 16, 2, 3, 1 % 16)   of f32[N, 4, H, W, 16]
 *
 * Types and indices of the graph stay those of the value: a layout never
 * changes meaning. Only buffers of kernels, files of weights and the bytes that
 * a caller hands over have the physical extents. No layout, NULL, is row-major.
 * A block must divide its axis, so nothing is padded. Layouts are immutable and
 * interned in their module: equal ones are one pointer.
 */
#ifndef TN_IR_LAYOUT_H
#define TN_IR_LAYOUT_H

#include "base/buf.h"
#include "ir/graph.h"

enum tn_layout_piece {
	TN_LAYOUT_WHOLE,	/* a */
	TN_LAYOUT_BLOCK,	/* a // n */
	TN_LAYOUT_LANE		/* a % n */
};

struct tn_layout_part {
	int axis;
	enum tn_layout_piece piece;
	int64_t n;		/* 1 of a whole axis */
};

struct tn_layout {
	int rank;		/* axes of the value */
	int nparts;		/* physical axes */
	const struct tn_layout_part *parts;
	const char *text;	/* "0, 1 // 16, 1 % 16" */
};

/* NULL: out of memory, the module has failed. The parts have no fault. */
const struct tn_layout *tn_layout_get(struct tn_module *module, int rank,
				      int nparts,
				      const struct tn_layout_part *parts);
/* The layout of values that have one more axis in front. */
const struct tn_layout *tn_layout_stacked(struct tn_module *module,
					  const struct tn_layout *layout);
/* The parts as they are written, `shift` added to their axes. */
void tn_layout_print(struct tn_buf *buf, int nparts,
		     const struct tn_layout_part *parts, int shift);
/* Reads what stands in the brackets; NULL: *why says what is wrong with it, or
 * the module has failed. */
const struct tn_layout *tn_layout_parse(struct tn_module *module,
					const char *text, const char **why);
/* Why a value of the type cannot lie so; NULL: it can. */
const char *tn_layout_misfit(struct tn_module *module,
			     const struct tn_layout *layout,
			     const struct tn_type *type);

/* The type of the bytes; NULL: out of memory. */
const struct tn_type *tn_layout_physical(struct tn_module *module,
					 const struct tn_layout *layout,
					 const struct tn_type *type);
/* The inverse: the type of the value whose bytes have this type. NULL: the
 * layout has another number of physical axes, or out of memory. */
const struct tn_type *tn_layout_logical(struct tn_module *module,
					const struct tn_layout *layout,
					const struct tn_type *physical);
/* True if both put the elements of such a value into one order. Axes of one
 * element do not count. */
bool tn_layout_same(const struct tn_type *type, const struct tn_layout *a,
		    const struct tn_layout *b);
bool tn_layout_part_same(const struct tn_layout_part *a,
			 const struct tn_layout_part *b);
/* The physical axes that count, those of one element left out, and a block that
 * is all of its axis taken for the axis; how many. */
int tn_layout_parts(const struct tn_layout *layout,
		    const struct tn_type *type, struct tn_layout_part *parts);

/* ---- Data (layout_data.c) ---- */

/* A copy of the value's elements in physical order, of the physical shape.
 * False: out of memory, or the shape does not fit. */
bool tn_layout_pack(const struct tn_layout *layout,
		    const struct tn_tensor *from, struct tn_tensor *to);
/* The way back: `to` has its shape and memory already. */
bool tn_layout_unpack(const struct tn_layout *layout, const void *from,
		      struct tn_tensor *to);
/* Hands the bytes out in physical order, piece by piece; `put` may refuse. */
bool tn_layout_stream(const struct tn_layout *layout,
		      const struct tn_tensor *from,
		      bool (*put)(void *data, const void *bytes, size_t size),
		      void *data);

#endif
