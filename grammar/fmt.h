/*
 * The formatter's view of a text: tokens and comments in one row, with the
 * line breaks before each.
 */
#ifndef TN_GRAMMAR_FMT_H
#define TN_GRAMMAR_FMT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "grammar/lex.h"

#define TN_FMT_COMMENT (-1)

struct tn_fmt_token {
	int kind;		/* of parse.h, TN_FMT_COMMENT, 0: the end */
	struct tn_loc loc;
	uint32_t breaks;	/* line breaks before it, at most 2 */
	bool gap;		/* white space before it */
	bool annotation;	/* an `@` that begins an annotation */
};

/* An open ( or [ while the text is laid out. */
struct tn_fmt_open {
	char bracket;
	bool with;		/* of `with ( )` */
	bool colon;		/* a `:` came since the last comma */
	bool hanging;		/* nothing follows it on its line */
	uint32_t column;	/* after the bracket */
	uint32_t indent;	/* of the line it is on */
};

/* What the spacing of a token depends on. */
struct tn_fmt_around {
	const struct tn_fmt_token *before2, *before, *token, *after, *after2;
	const struct tn_fmt_open *open;	/* innermost ( or [, or NULL */
	bool generics;		/* between < and > of a head */
	bool expect;		/* in the tolerances of `expect` */
};

/* Splits source `file` into `tokens` (struct tn_fmt_token), the last of kind
 * 0. False: no memory. `marks`: offsets of annotations, or NULL. */
bool tn_fmt_scan(struct tn_sink *sink, uint32_t file, struct tn_vec *tokens,
		 const struct tn_vec *marks);
/* Whether a space stands between `before` and `token` on one line. */
bool tn_fmt_is_spaced(const struct tn_fmt_around *around);

#endif
