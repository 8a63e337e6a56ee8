/* The difference of two texts, line by line, as `diff -u` writes it. */
#ifndef TN_DRIVER_DIFF_H
#define TN_DRIVER_DIFF_H

#include "base/buf.h"

/* Appends nothing if the texts are equal. False: out of memory. */
bool tn_diff(struct tn_buf *out, const char *before, const char *after);

#endif
