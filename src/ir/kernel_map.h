/*
 * Expressions of kernels changed: new nodes where something changes, index
 * arithmetic through the makers, which fold. Expressions are shared and never
 * change themselves.
 */
#ifndef TN_IR_KERNEL_MAP_H
#define TN_IR_KERNEL_MAP_H

#include "ir/kernel.h"

/* Deepest nest of loops that is rewritten. */
#define TN_KMAP_LOOPS 64

/* Inner nodes first, `change` returns the node to stand in the place of
 * another (or that node itself); NULL: no memory, or refused. Over a block,
 * the loops inside it around the expression are loops[0..nloops);
 * nconditions of `if` statements and branches of `select` decide whether it
 * is computed. */
struct tn_kmap {
	struct tn_kernel *kernel;
	const struct tn_kexpr *(*change)(struct tn_kmap *map,
					 const struct tn_kexpr *node);
	void *data;
	int nconditions;
	int nloops;
	const struct tn_kstmt *loops[TN_KMAP_LOOPS];
};

/* The expression changed; NULL as `change` says. */
const struct tn_kexpr *tn_kexpr_map(struct tn_kmap *map,
				    const struct tn_kexpr *expr);
/* The expressions of the statement itself, in place (NULL: none). */
bool tn_kstmt_map(struct tn_kmap *map, struct tn_kstmt *stmt);
/* Every expression of the block, in place. */
bool tn_kblock_map(struct tn_kmap *map, struct tn_kblock *block);

#endif
