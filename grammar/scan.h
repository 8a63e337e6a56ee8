/*
 * The scanner's state and what its rules call.
 *
 * Comes in: a private copy of the text. Goes out: tokens with byte offsets.
 * Lexical faults are reported here and mended (a broken string is still a
 * string token), so the parser never sees them; `bad_end` tells the parser
 * where the last one ended.
 */
#ifndef TN_GRAMMAR_SCAN_H
#define TN_GRAMMAR_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/intern.h"

/* A stretch of the text: what the parser keeps as a token's location. */
struct tn_loc {
	uint32_t begin, end;
};

/* Room for all that flex allocates when it reads from memory: its state, one
 * buffer record, a stack of one pointer. */
#define TN_SCAN_POOL 64

/* Bytes that a name or a string may hold, and a number as it is written.
 * What is longer is refused, and a piece of it stands in its place. */
#define TN_SCAN_TEXT 65536
#define TN_SCAN_NUMBER 4096

struct tn_scanner {
	struct tn_sink *sink;
	struct tn_intern *intern;
	struct tn_arena *arena;
	const char *source;	/* the sink's copy of the text */
	char *buffer;		/* our copy, two NUL bytes at its end */
	uint32_t file;
	uint32_t bad_end;	/* end of the last faulty token, or 0 */
	uint32_t bad_line;	/* where a line with a bad character ends */
	uint32_t errors;
	void *flex;		/* yyscan_t */
	size_t pool_used;	/* elements of pool */
	uint64_t pool[TN_SCAN_POOL];
	uint64_t scratch[64];	/* a node when the arena is exhausted */
};

/* Prepares reading of source `file`; false: no memory. `skip` bytes at the
 * start (a byte order mark) are left out. */
bool tn_scan_open(struct tn_scanner *scanner, size_t skip);
void tn_scan_close(struct tn_scanner *scanner);

/* ---- Called by the rules (literal.c) ---------------------------------- */

struct tn_expr;

/* Reports a lexical fault in `loc`. */
struct tn_diag *tn_scan_fault(struct tn_scanner *scanner, enum tn_code code,
			      struct tn_loc loc, const char *message);
/* Interned text of `text[0..len)`; never NULL ("" without memory). */
const char *tn_scan_intern(struct tn_scanner *scanner, const char *text,
			   size_t len);
/* The name in `loc`, as it stands there. */
const char *tn_scan_word(struct tn_scanner *scanner, struct tn_loc loc);
/* The first bytes behind the quote at `loc.begin`, of what has no end. */
const char *tn_scan_start(struct tn_scanner *scanner, struct tn_loc loc);
/* The contents of a string or of a quoted name between `loc.begin` and
 * `loc.end`, without its quotes: escapes replaced, interned. */
const char *tn_scan_unquote(struct tn_scanner *scanner, struct tn_loc loc,
			    char quote);
/* `size` zeroed bytes for a node. Never NULL: when the arena has failed it is
 * a shared scratch node, good for writing and worth nothing. */
void *tn_scan_node(struct tn_scanner *scanner, size_t size);
/* The literal in `loc`; `text` is writable and NUL-terminated. */
struct tn_expr *tn_scan_integer(struct tn_scanner *scanner, char *text,
				struct tn_loc loc);
struct tn_expr *tn_scan_real(struct tn_scanner *scanner, char *text,
			     struct tn_loc loc);
/* Reports a character that the language does not have, once a line. */
void tn_scan_character(struct tn_scanner *scanner, struct tn_loc loc);
/* Reports what is wrong with a number and how it is written; a literal. */
struct tn_expr *tn_scan_bad_number(struct tn_scanner *scanner,
				   struct tn_loc loc, const char *message,
				   const char *help);

#endif
