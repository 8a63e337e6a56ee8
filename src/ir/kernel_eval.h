/*
 * An interpreter of kernels, statement by statement: slow, plain, and strict.
 * Tests compare it with tn_eval_op, so that a lowering or a schedule is
 * checked without a compiler.
 */
#ifndef TN_IR_KERNEL_EVAL_H
#define TN_IR_KERNEL_EVAL_H

#include "ir/kernel.h"

/* Runs the kernel on `buffers`, the data of each parameter in order. `dims`
 * holds the value of each symbol by number; SIZE statements write it. Sets
 * tn_eval_flag bits in *flags. False, with the reason in `why`: an index was
 * out of bounds, index arithmetic overflowed or had a negative dividend, or
 * memory ran out. Iterations of `par` and `vec` loops run last to first, so
 * that a false claim of independence shows. */
bool tn_kernel_eval(const struct tn_kernel *kernel, int64_t *dims,
		    void *const *buffers, uint32_t *flags,
		    struct tn_buf *why);

#endif
