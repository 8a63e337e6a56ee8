/*
 * `print` in an emitted program: what a step hands to the caller's function,
 * and the text of what was handed over.
 *
 *   if (s->ctx->print != NULL) {
 *           static const char tn_label[] = "h";
 *           const int64_t tn_shape[] = { s->dims[m_DIM_B], 10 };
 *           const struct m_printed tn_value = { tn_label, "f32", 2, tn_shape,
 *                   s->work, (size_t)(40 * s->dims[m_DIM_B]) };
 *
 *           s->ctx->print(s->ctx->print_data, &tn_value);
 *   }
 *
 * N_print_text gives that value the text of src/driver/tensors.c, and is there
 * if a program prints.
 */
#ifndef TN_BACKENDS_EMIT_PRINT_H
#define TN_BACKENDS_EMIT_PRINT_H

#include "backends/emit_host.h"

/* The step of one `print`, into host->out. */
void tn_print_step(struct tn_host *host, const struct tn_op *op);
/* True if some step prints; known when the steps are printed. */
bool tn_print_is_used(const struct tn_host *host);
/* `struct N_printed` (for all programs). */
void tn_print_declare(const struct tn_host *host, struct tn_buf *out);
/* The declaration of N_print_text, or nothing. */
void tn_print_declare_text(const struct tn_host *host, struct tn_buf *out);
/* N_print_text and what it calls, or nothing: it needs float.h, math.h, stdio.h,
 * stdlib.h, string.h and the conversions that steps noted in host->need. */
void tn_print_text(const struct tn_host *host, struct tn_buf *out);

#endif
