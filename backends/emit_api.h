/*
 * The emitted interface, which is the same for every back end that prints C:
 * the header; the signature as text; names, sizes and places by number.
 *
 * All print into `out`; identifiers begin with host->name.
 */
#ifndef TN_BACKENDS_EMIT_API_H
#define TN_BACKENDS_EMIT_API_H

#include "backends/emit_host.h"

/* What one back end's header says in words of its own. Texts may use N_ for
 * the name. */
struct tn_api_header {
	const char *target;	/* " for cuda:sm_80", or "" */
	const char *sizes;	/* macros behind INPUTS, OUTPUTS, DIMS */
	const char *status;	/* further values of the enum, or "" */
	const char *report;	/* further fields, or "" */
	const char *context;	/* the fields weights and threads */
	const char *functions;	/* N_init to N_run */
};

/* Functions that are printed only if a text calls them. */
struct tn_api_helper {
	const char *call;	/* "tn_copy(" */
	const char *text;
};

/* The dialect of plain C, for what a host program calls. */
void tn_api_dialect(struct tn_dialect *dialect);
/* `text` where each word N_.. or N... begins with the name instead. */
void tn_api_named(struct tn_buf *out, const char *text, const char *name);
/* An initialiser of a char array, of any length: a string, or its bytes. */
void tn_api_literal(struct tn_buf *out, const char *text);
/* The dims and the head of the entry, as Tenon text. */
void tn_api_signature(const struct tn_host *host, struct tn_buf *out);
/* NAME.h (emit_header.c) */
void tn_api_header(struct tn_host *host, const struct tn_api_header *api,
		   struct tn_buf *out);
/* The helpers that one of the texts calls. */
void tn_api_helpers(const struct tn_host *host, int count,
		    const struct tn_api_helper *helpers, int ntexts,
		    const struct tn_buf *const *texts, struct tn_buf *out);
/* Of a run that prints: the field `ctx` of its state; the statement that sets
 * it. */
void tn_api_context(const struct tn_host *host, struct tn_buf *out);
void tn_api_set_context(const struct tn_host *host, struct tn_buf *out);
/* The functions behind N_run in NAME.h: descriptions and tables, to the end
 * of the file. */
void tn_api_tables(struct tn_host *host, struct tn_buf *out);
/* Statements: the dims that a run sets, at their most, in `dims`. */
void tn_api_most(struct tn_host *host, struct tn_buf *out);
/* `tn_seal`, the first 48 bytes of the weights. */
void tn_api_seal(const struct tn_weights *weights, struct tn_buf *out);

#endif
