/* Public tensors and ours: the same layout under two names. */
#ifndef TN_DRIVER_TENSORS_H
#define TN_DRIVER_TENSORS_H

#include "driver/context.h"
#include "ir/tensor.h"

/* A borrowed copy of the description. */
struct tn_tensor tn_tensors_in(const struct tenon_tensor *tensor);
struct tenon_tensor tn_tensors_out(const struct tn_tensor *tensor);
/* "f32[2, 3]" */
void tn_tensors_put_type(struct tn_buf *buf, const struct tn_tensor *tensor);
/* An owned copy; false: no memory. */
bool tn_tensors_copy(const struct tn_tensor *from, struct tn_tensor *to);

#endif
