/*
 * Parts of the emitted interface that C and CUDA share: the signature as
 * text, names, sizes and places by number, comments and updates of launches.
 *
 * All print into `out`; identifiers begin with host->name.
 */
#ifndef TN_BACKENDS_EMIT_API_H
#define TN_BACKENDS_EMIT_API_H

#include "backends/emit_host.h"

/* `text` where each word N_.. or N... begins with the name instead. */
void tn_api_named(struct tn_buf *out, const char *text, const char *name);
/* The dims and the head of the entry, as Tenon text in lines of a block
 * comment. */
void tn_api_signature_comment(const struct tn_host *host,
			      struct tn_buf *out);
/* `TN_NAME_H` */
void tn_api_include_guard(const struct tn_host *host, struct tn_buf *out);
/* `enum { NAME_DIM_x .. }`, if there are dims. */
void tn_api_dims(struct tn_host *host, struct tn_buf *out);
/* `const char *NAME_describe(void)` */
void tn_api_describe(const struct tn_host *host, struct tn_buf *out);
/* NAME_dim_name, NAME_input_name, NAME_output_name */
void tn_api_names(const struct tn_host *host, struct tn_buf *out);
/* NAME_input_bytes, NAME_output_bytes */
void tn_api_sizes(struct tn_host *host, struct tn_buf *out);
/* NAME_place: of launches, by number; the number of all. */
int tn_api_places(const struct tn_host *host, struct tn_buf *out);
/* `tn_seal`, the first 48 bytes of the weights. */
void tn_api_seal(const struct tn_weights *weights, struct tn_buf *out);

/* Of one launch, into host->out: its comment; copies of buffers that are
 * updated but not in place yet. */
void tn_api_comment(struct tn_host *host, const struct tn_op *op);
void tn_api_updates(struct tn_host *host, const struct tn_op *op);
/* The value behind parameter `param` of the kernel. */
const struct tn_value *tn_api_argument(const struct tn_op *op, int param);
/* True if two of its buffers may overlap and one is written. */
bool tn_api_in_place(const struct tn_op *op);

#endif
