/*
 * What an importer is given, and what it does: a foreign file, mapped, becomes
 * the items and the function `main` of a module.
 *
 * Operators that the language has are said in the language: `text` reads a
 * few statements into the function at work (the elaborator, behind the
 * driver, does that), so that an importer knows neither grammar nor library.
 */
#ifndef TN_IMPORTERS_IMPORTER_H
#define TN_IMPORTERS_IMPORTER_H

#include "ir/builder.h"
#include "ir/graph.h"

/* What all that the user says of a model begins with: of which size or input
 * it is, and whether the model has such a one. */
struct tn_import_said {
	const char *name;
	bool is_used;
};

/* The bounds that the user gives to a symbolic size, or that it is another one
 * of the model: --bounds. */
struct tn_import_dim {
	struct tn_import_said said;
	int64_t lo, hi;
	const char *same;	/* or NULL */
};

/* An input that is a constant: --fix. */
struct tn_import_fix {
	struct tn_import_said said;
	struct tn_tensor value;
};

/* How many items a sequence has, or an optional value: --length. */
struct tn_import_length {
	struct tn_import_said said;
	int64_t length;
};

/* The sizes of an input; -1 is a free one: --shape. */
struct tn_import_shape {
	struct tn_import_said said;
	int rank;
	int64_t sizes[TN_MAX_RANK];
};

struct tn_import {
	struct tn_module *module;	/* empty, but for its tables */
	struct tn_sink *sink;
	const char *path;		/* as the user wrote it */
	const void *data;		/* of the file; outlives the module */
	size_t size;
	/* tn_elab_text. */
	int (*text)(void *host, struct tn_block *block,
		    const struct tn_text *text, int max,
		    struct tn_value **out, struct tn_buf *why);
	/* The bytes of a file beside the model, as long as the module lives;
	 * NULL with a line of reason. */
	const void *(*map)(void *host, const char *path, size_t *size,
			   struct tn_buf *why);
	void *host;
	int ndims;
	struct tn_import_dim *dims;
	int nfixes, nlengths, nshapes;
	struct tn_import_fix *fixes;
	struct tn_import_length *lengths;
	struct tn_import_shape *shapes;
};

/* Bounds of a symbolic size that nobody has given any. */
#define TN_IMPORT_LEAST 1
#define TN_IMPORT_MOST 4096

/* An ONNX model; *file is the number of a source that lists its nodes, for
 * messages. BAD_INPUT, UNSUPPORTED or IO after a report. */
enum tn_status tn_onnx_import(const struct tn_import *import, uint32_t *file);

#endif
