/*
 * The host program that C and CUDA share: the run function's checks, its
 * steps in order, views, control flow, copies of results.
 *
 * A back end gives four callbacks; everything is printed into host->out.
 * Emitted names used here: `s`, a pointer to the state of the run with the
 * fields work, weights, in, out, dims, and ctx if there is a `print`;
 * tn_copy(s, to, from, bytes) copies between places.
 */
#ifndef TN_BACKENDS_EMIT_HOST_H
#define TN_BACKENDS_EMIT_HOST_H

#include "backends/emit.h"
#include "backends/emit_weights.h"

struct tn_host;

struct tn_host_dialect {
	/* One launch, as statements. */
	void (*launch)(struct tn_host *host, const struct tn_op *op);
	/* An expression: the bool at a place (text of a byte pointer). */
	void (*test)(struct tn_host *host, const char *place);
	/* A statement: the i64 at a place becomes the variable. */
	void (*set_index)(struct tn_host *host, const char *place,
			  const char *variable);
	/* Around NAME_DIM_x, the pointer by which a launch sets a dim. */
	const char *size, *size_end;
	/* The statement that hands tn_value over, with its new line. */
	const char *print;
};

struct tn_host {
	const struct tn_host_dialect *dialect;
	const struct tn_module *module;
	const struct tn_fn *entry;
	const struct tn_weights *weights;
	const char *name;	/* prefix of the emitted API */
	struct tn_prelude *need;
	struct tn_names dims;	/* tn_sym -> identifier, NAME_DIM_x without
				 * the prefix */
	struct tn_arena arena;
	struct tn_buf *out;
	struct tn_buf functions;	/* long blocks, one function a piece */
	int depth, nfunctions, nloops, nlaunches;
	bool printed[TN_DTYPE_COUNT];	/* dtypes of what the steps print */
	enum tn_status status;
	void *data;		/* of the back end */
};

void tn_host_init(struct tn_host *host, const struct tn_host_dialect *dialect,
		  const struct tn_fn *entry, const struct tn_weights *weights,
		  const char *name, struct tn_prelude *need);
void tn_host_fini(struct tn_host *host);
/* The statements of the entry; functions that they call come into
 * host->functions. */
void tn_host_body(struct tn_host *host);
/* `static int NAME_check(const int64_t *dims)`: 0, or 1 + the number of the
 * dim, or of the guard after all dims, that is violated. */
void tn_host_check(struct tn_host *host);
/* Text of an `unsigned char *` (const for what is only read). */
const char *tn_host_place(struct tn_host *host, const struct tn_value *value);
/* Text of the size in bytes at run time, a size_t. */
const char *tn_host_bytes(struct tn_host *host, const struct tn_type *type);
/* A dim, reading s->dims. */
void tn_host_dim(struct tn_host *host, const struct tn_dim *dim, int level);
/* A symbol in the parameter `dims`: a tn_emit_spell of a tn_host. */
void tn_host_spell(void *host, const struct tn_sym *sym, struct tn_buf *out);
/* Begins a line, at the depth. */
void tn_host_indent(struct tn_host *host);
const char *tn_host_sym(struct tn_host *host, const struct tn_sym *sym);

#endif
