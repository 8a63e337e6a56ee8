/*
 * Which operators are surely read: by a result or an effect, not through
 * operands alone that may not count (LAZY in ops.def: the sides of `select`).
 * What others raise, a pass may drop.
 */
#ifndef TN_DRIVER_READS_H
#define TN_DRIVER_READS_H

#include "ir/graph.h"

struct tn_reads {
	struct tn_map sure;	/* ops; functions that were looked through */
	bool failed;		/* out of memory */
};

void tn_reads_init(struct tn_reads *reads);
void tn_reads_fini(struct tn_reads *reads);
bool tn_reads_is_sure(struct tn_reads *reads, const struct tn_op *op);

#endif
