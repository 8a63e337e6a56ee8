/* What the files of the pass `inline` share. */
#ifndef TN_PASSES_INLINE_H
#define TN_PASSES_INLINE_H

#include "ir/kernel.h"
#include "passes/pass.h"

/* A kernel of the module like this one, its symbols replaced as `dims` says
 * (by number; NULL: kept). NULL: out of memory. */
struct tn_kernel *tn_inline_kernel(struct tn_kernel *kernel,
				   const struct tn_dim *const *dims);

#endif
