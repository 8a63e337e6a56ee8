/*
 * What an engine takes and gives: names and types over the dims of a module.
 *
 * Inside a process it is read off the function. In an engine file it stands as
 * Tenon text, one function whose parameters are the inputs, the outputs, and
 * one matrix [a, b] for each guard, so that the language's own parser brings
 * it back:
 *
 *   tenon 1.0;
 *   dim B in [1, 64];
 *   fn mlp(x: f32[B, 64], p: f32[B, 10]) -> i64 { return 0; }
 */
#ifndef TN_DRIVER_SIGNATURE_H
#define TN_DRIVER_SIGNATURE_H

#include "ir/graph.h"

struct tn_port {
	const char *name;
	const struct tn_type *type;
	const struct tn_layout *layout;	/* of the bytes that compiled code
					 * takes and gives; or NULL */
};

struct tn_signature {
	struct tn_module *ir;		/* borrowed: dims and types */
	const char *name;
	int ninputs, noutputs, nguards;
	struct tn_port *inputs, *outputs;
	struct tn_guard *guards;
	bool *runtime;			/* by symbol: known after a run only */
};

/* All in `arena`. False: no memory. */
bool tn_signature_of(struct tn_arena *arena, const struct tn_fn *fn,
		     struct tn_signature *out);
/* For people: dims, then the head of the function. */
void tn_signature_print(const struct tn_signature *signature,
			struct tn_buf *out);
/* The text above; and back, given the numbers that are not in the text. */
void tn_signature_write(const struct tn_signature *signature,
			struct tn_buf *out);
struct tn_signature_counts {
	int ninputs, noutputs, nguards;
	const unsigned char *guards;	/* kinds */
	const unsigned char *runtime;	/* by symbol, 0 or 1 */
	int nsyms;
};
bool tn_signature_read(struct tn_arena *arena, struct tn_module *ir,
		       const struct tn_signature_counts *counts,
		       struct tn_signature *out);

#endif
