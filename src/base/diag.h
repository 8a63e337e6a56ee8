/*
 * Diagnostics: what is wrong, where, and the way out.
 *
 * Stages append to a sink and go on where they can; the driver renders the
 * sink as text (clang/rustc style) or JSON. Nothing here prints.
 *
 *   gpt2.tn:31:14: error[E0312]: 'add' cannot combine these shapes
 *     31 |   return a + (m @ p.fc_b);
 *        |          -   ^^^^^^^^^^^^ f32[B, S]
 *        |          f32[B, S, 768]
 *        = note: ...
 *        = help: ...
 *
 * Codes live in diag.def: DIAG(code, title, explanation). Every code has a
 * test. At most TN_DIAG_LIMIT errors are kept, and as many warnings; the rest
 * are counted.
 */
#ifndef TN_BASE_DIAG_H
#define TN_BASE_DIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/vec.h"

#define TN_DIAG_LIMIT 20

/* A source text known to the sink. */
struct tn_source {
	const char *name;	/* as the user wrote the path */
	const char *text;	/* NUL-terminated; may hold inner NULs */
	size_t size;
	const uint32_t *lines;	/* start offset of each line */
	uint32_t nlines;
};

/* A stretch of source; file 0 means "no place". */
struct tn_span {
	uint32_t file;		/* number of the source + 1 */
	uint32_t begin, end;	/* byte offsets, end exclusive */
};

enum tn_severity { TN_ERROR, TN_WARNING };

enum tn_code {
#define DIAG(code, severity, title, text) TN_##code,
#include "base/diag.def"
#undef DIAG
	TN_CODE_COUNT
};

struct tn_code_info {
	const char *name;	/* "E0312" */
	enum tn_severity severity;
	const char *title;
	const char *text;	/* for `tenon explain` */
};

extern const struct tn_code_info tn_codes[TN_CODE_COUNT];

/* A place with a short label under it; the first is the main one. */
struct tn_label {
	struct tn_span span;
	const char *text;	/* may be NULL */
};

struct tn_diag {
	enum tn_code code;
	const char *message;
	struct tn_vec labels;	/* struct tn_label; [0] is the primary */
	struct tn_vec notes;	/* const char * */
	const char *help;	/* or NULL */
	struct tn_span edit;	/* with `insert`: a machine-made fix */
	const char *insert;	/* replacement for `edit`, or NULL */
	const char *file;	/* of a main place whose text is not here: */
	uint32_t line, column;	/* from 1; or NULL */
};

struct tn_sink {
	struct tn_arena arena;
	struct tn_vec sources;	/* struct tn_source */
	struct tn_vec diags;	/* struct tn_diag * in order of report */
	uint32_t errors;	/* also those beyond the limit */
	uint32_t warnings;
	bool failed;		/* out of memory while reporting */
	struct tn_diag scratch;	/* takes what the limit or memory refuses */
};

void tn_sink_init(struct tn_sink *sink);
void tn_sink_fini(struct tn_sink *sink);
/* Registers a text (copied into the sink); its file number, 0: no memory, or
 * 4 GiB and more. */
uint32_t tn_sink_add_source(struct tn_sink *sink, const char *name,
			    const char *text, size_t size);
/* Line and column (from 1, in code points) of an offset. */
void tn_sink_locate(const struct tn_sink *sink, uint32_t file,
		    uint32_t offset, uint32_t *line, uint32_t *column);

/* The file of a span, and where it begins there; NULL: it is in no text. */
const char *tn_sink_place(const struct tn_sink *sink, struct tn_span span,
			  uint32_t *line, uint32_t *column);
/* Its line, from 1, in time that does not depend on the line's length; 0: no
 * such file. */
uint32_t tn_sink_line(const struct tn_sink *sink, uint32_t file,
		      uint32_t offset);

/* Reports; the returned diag may be given labels, notes and help. It is never
 * NULL: beyond the limit or without memory it is a scratch object. */
struct tn_diag *tn_diag_report(struct tn_sink *sink, enum tn_code code,
			       struct tn_span span, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Label of the primary place. */
void tn_diag_label(struct tn_sink *sink, struct tn_diag *diag,
		   const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The main place, where the sink has no text of it: "file:line:column", and
 * what may follow a colon. */
void tn_diag_place(struct tn_sink *sink, struct tn_diag *diag,
		   const char *place);
/* A further place with a label. */
void tn_diag_also(struct tn_sink *sink, struct tn_diag *diag,
		  struct tn_span span, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void tn_diag_note(struct tn_sink *sink, struct tn_diag *diag,
		  const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void tn_diag_help(struct tn_sink *sink, struct tn_diag *diag,
		  const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A fix: replace `span` by `text`. */
void tn_diag_fix(struct tn_sink *sink, struct tn_diag *diag,
		 struct tn_span span, const char *text);
/* All of the sink as text; `colour` adds ANSI escapes. */
void tn_sink_render(const struct tn_sink *sink, struct tn_buf *out,
		    bool colour);
/* All of the sink as JSON lines. */
void tn_sink_render_json(const struct tn_sink *sink, struct tn_buf *out);
/* The code named "E0312", or TN_CODE_COUNT. */
enum tn_code tn_code_find(const char *name);
/* The candidate nearest to `name` (edit distance with transposition, at most
 * 2 and a third of the length), or NULL. */
const char *tn_diag_nearest(const char *name, const char *const *candidates,
			    size_t count);

#endif
