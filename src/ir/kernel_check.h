/*
 * Checking accesses of a kernel: is every index inside of its buffer?
 */
#ifndef TN_IR_KERNEL_CHECK_H
#define TN_IR_KERNEL_CHECK_H

#include "ir/kernel_witness.h"

enum tn_kverdict {
	TN_KACCESS_INSIDE,	/* proved, for all sizes in their bounds */
	TN_KACCESS_OUTSIDE,	/* there is a witness */
	TN_KACCESS_UNKNOWN
};

/* One index of one access. */
struct tn_kaccess {
	const void *where;	/* the load or the statement that stores */
	const struct tn_kbuf *buf;
	int axis;
	const struct tn_kexpr *index;
	enum tn_kverdict verdict;
	struct tn_kwitness witness;	/* OUTSIDE */
	const struct tn_dim *lo, *hi;	/* where known; not of INSIDE */
};

/* Calls for every index of every access, in the order of the text. False: out
 * of memory. */
bool tn_kernel_check(const struct tn_kernel *kernel,
		     void (*report)(void *data,
				    const struct tn_kaccess *access),
		     void *data);
/* Index arithmetic that is not proved to be plain becomes the operators that
 * wrap, so that all that is left of it means what it says. Before the check. */
bool tn_kernel_settle(struct tn_kernel *kernel);
/* Annotates a kernel that holds an index which is not proved as @unchecked,
 * so that its text is accepted, and unchanged, when it is read again. False: out of memory. */
bool tn_kernel_mark_unchecked(struct tn_kernel *kernel);

#endif
