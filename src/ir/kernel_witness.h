/*
 * Witnesses: sizes and turns of loops at which an index leaves its axis.
 */
#ifndef TN_IR_KERNEL_WITNESS_H
#define TN_IR_KERNEL_WITNESS_H

#include "ir/kernel.h"

/* What a place stands in, in the order of the text: a loop, a let, or a
 * condition (no statement). */
struct tn_kopen {
	const struct tn_kstmt *stmt;
	const struct tn_kexpr *cond;
	bool holds;
};

struct tn_kwitness {
	int64_t value;		/* of the index */
	const char *text;	/* "N = 1, i = 0", in the arena; maybe empty */
};

/* Looks at least and largest sizes that the guards of the kernel let in, and at
 * first and last turns. `open` holds struct tn_kopen; *budget is what may still
 * be tried and goes down. False: none is found, which says nothing. */
bool tn_kwitness_find(const struct tn_kernel *kernel,
		      const struct tn_vec *open, const struct tn_kexpr *index,
		      const struct tn_dim *extent, int64_t *budget,
		      struct tn_kwitness *out);

#endif
