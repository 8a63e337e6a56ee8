/*
 * What an emission gives: the files of a folder, not written yet.
 */
#ifndef TN_BACKENDS_EMISSION_H
#define TN_BACKENDS_EMISSION_H

#include "backends/emit_weights.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"

/* A file: its text, or the weights. */
struct tn_emitted {
	const char *name;	/* relative to the folder */
	struct tn_buf text;
	bool is_weights;	/* bytes come from tn_weights_write */
};

#define TN_EMISSION_FILES 24

struct tn_emission {
	struct tn_arena arena;	/* names */
	const char *name;	/* prefix of the emitted API */
	int count;
	bool failed;		/* sticky: out of memory or room */
	struct tn_emitted files[TN_EMISSION_FILES];
	struct tn_weights weights;	/* data borrowed from the module */
};

/* Starts an emission of `entry` under `name` (any text; made an identifier) in
 * fresh memory; tn_emission_fini is due in any case. TN_BAD_INPUT: a weight
 * without data, reported; TN_IO: out of memory. */
enum tn_status tn_emission_begin(struct tn_emission *emission,
				 const struct tn_fn *entry, const char *name);
/* The same without weights: their values need not be there. */
enum tn_status tn_emission_open(struct tn_emission *emission,
				const char *name);
/* The text of a new, empty file. Without room, or with NULL, for want of memory,
 * as its name, the emission has failed, and the text is of no use. */
struct tn_buf *tn_emission_add(struct tn_emission *emission, const char *name,
			       bool is_weights);
/* The same for the file of the emission's name and that ending. */
struct tn_buf *tn_emission_file(struct tn_emission *emission,
				const char *ending);
/* Adds the side file of weights, if there is anything to put there. False:
 * something has failed for want of memory. */
bool tn_emission_end(struct tn_emission *emission);
void tn_emission_fini(struct tn_emission *emission);

/* `text` where @ stands for the name, and `at`, unless it is 0, for @. */
void tn_emission_text(struct tn_buf *out, const char *text, const char *name,
		      char at);

#endif
