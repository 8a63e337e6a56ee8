/*
 * What an emission gives: the files of a folder, not written yet.
 */
#ifndef TN_BACKENDS_EMISSION_H
#define TN_BACKENDS_EMISSION_H

#include "backends/emit_weights.h"
#include "base/arena.h"
#include "base/buf.h"

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

/* The text of a new, empty file. Without room, or with NULL, for want of memory,
 * as its name, the emission has failed, and the text is of no use. */
struct tn_buf *tn_emission_add(struct tn_emission *emission, const char *name,
			       bool is_weights);
void tn_emission_fini(struct tn_emission *emission);

#endif
