/*
 * The parser's state, and the tokens it sees.
 *
 * Between scanner and parser stands tn_parse_lex. It decides which contextual
 * words are keywords here, counts brackets, and after a syntax error skips to
 * where reading can go on: to the `;` or closing brace at the depth of the
 * error. Then the parser gets T_SYNC, which only `... error T_SYNC` accepts.
 */
#ifndef TN_GRAMMAR_LEX_H
#define TN_GRAMMAR_LEX_H

#include <stdbool.h>
#include <stdint.h>

#include "grammar/scan.h"
#include "grammar/tree.h"

/* What a symbol of the grammar carries. */
union tn_token_value {
	const char *name;
	struct tn_expr *expr;
	struct tn_tree_type *type;
	struct tn_extent *extent;
	struct tn_arg *arg;
	struct tn_tree_annot *annot;
	struct tn_index *index;
	struct tn_bind *bind;
	struct tn_carry *carry;
	struct tn_scan_in *scan_in;
	struct tn_param *param;
	struct tn_generic *generic;
	struct tn_field *field;
	struct tn_from *from;
	struct tn_tree_dim *dim;
	struct tn_tree_block *block;
	struct tn_tree_kblock *kblock;
	struct tn_stmt *stmt;
	struct tn_tree_kstmt *kstmt;
	struct tn_region *region;
	struct tn_sig *sig;
	struct tn_tree_item *item;
	struct tn_vec *list;	/* of pointers; NULL: empty */
	struct tn_list *stmts;	/* a list in which errors are mended */
	uintptr_t number;
};

/* Statements or fields, and whether some were skipped. */
struct tn_list {
	struct tn_vec vec;
	bool broken;
};

struct tn_token {
	int kind;		/* 0: end of text */
	struct tn_loc loc;
	union tn_token_value value;
};

/* An open bracket: its character and place. */
struct tn_open {
	char bracket;
	uint32_t at;
};

/* How to go on after a syntax error. */
enum tn_sync {
	TN_SYNC_NONE,
	TN_SYNC_SKIP,		/* to the end of the statement or item */
	TN_SYNC_HOLD,		/* read the faulty token again */
	TN_SYNC_DROP,		/* the faulty token was one too many */
	TN_SYNC_OPEN		/* skip; an opening brace was missing */
};

struct tn_parser {
	struct tn_scanner scan;
	struct tn_tree *tree;
	struct tn_vec items;	/* struct tn_tree_item * */
	struct tn_vec *marks;	/* takes offsets of annotations; or NULL */
	struct tn_token last;	/* given to the parser last */
	struct tn_token before;	/* the one before it */
	struct tn_token ahead;	/* read but not given, if has_ahead */
	struct tn_token behind;	/* read after `ahead`, if has_behind */
	bool has_ahead, has_behind;
	bool in_kernel;		/* the last item keyword was `kernel` */
	bool stop;		/* give up: only end of text from now on */
	bool headless;		/* the missing header was reported */
	uint32_t start;		/* offset of the text after a byte order mark */
	enum tn_sync sync;
	uint32_t braces;	/* open `{` before the next token */
	uint32_t braces_before;	/* the same before `last` */
	struct tn_open closed;	/* what `last` closed if it is `}` */
	uint32_t held;		/* begin + 1 of the token last read again */
	uint32_t quiet;		/* begin + 1 of a token not to complain about */
	uint32_t prefix;	/* pending prefix operators and `**` */
	uint32_t closing;	/* braces still to be closed for the parser */
	int closing_step;
	uint32_t parens;	/* ( or [ open before `last`: offset + 1 */
	uint32_t doubtful;	/* a brace whose `}` is indented otherwise */
	bool has_doubtful;
	uint32_t nopen;
	struct tn_open open[TN_TREE_NESTING + 1];
};

/* A failed parse as the grammar's report hook sees it. */
struct tn_syntax_error {
	const char *found;	/* display name of the unexpected token */
	const char *const *expected;
	uint32_t nexpected;
	bool semicolon, name, brace;	/* among those expected */
};

/* The stretch of file `parser` at `loc`. */
struct tn_span tn_lex_span(const struct tn_parser *parser, struct tn_loc loc);
/* Whether the token at `offset` is the first on its line; its column - 1 in
 * bytes goes to *indent, which may be NULL. */
bool tn_lex_is_first(const struct tn_parser *parser, uint32_t offset,
		     uint32_t *indent);
/* Whether an item may begin with a token of this kind. */
bool tn_lex_may_be_item(int kind);
/* The token after `last`, without giving it to the parser. */
const struct tn_token *tn_lex_peek(struct tn_parser *parser);
/* Reports "nested too deep" at `loc`, once, and ends the parse. */
void tn_lex_too_deep(struct tn_parser *parser, struct tn_loc loc);
/* Reports the unclosed brace to blame. */
void tn_lex_unclosed(struct tn_parser *parser);

/* tn_parse; `marks` (uint32_t, or NULL) gets the offset of each annotation's
 * `@` in the order of the text. */
struct tn_tree *tn_parse_marking(struct tn_sink *sink,
				 struct tn_intern *intern,
				 struct tn_arena *arena, uint32_t file,
				 struct tn_vec *marks);

/* Reports that token `last` does not fit, and sets how to go on (error.c). */
void tn_error_report(struct tn_parser *parser,
		     const struct tn_syntax_error *error);

#endif
