/*
 * The tokens as the parser sees them: contextual words, bracket counting, and
 * the way out of a syntax error. See lex.h.
 *
 * After an error in
 *
 *     a = f(x y { z; } );
 *     b = g(a);
 *
 * the text is skipped to the `;` at the depth of the error and T_SYNC given,
 * so `b = ...` is read as usual. An item keyword at the start of a line while
 * braces are open means that a brace was forgotten: it is reported once, and
 * the parser is led out of the open blocks by pairs of T_SYNC and `}`.
 *
 * Every recovery consumes a token or lets a token pass that was not let pass
 * before (`held`), so it ends.
 */
#include "grammar/lex.h"

#include <string.h>

#include "grammar/parse.h"

/* How far back the begin of a line is looked for. */
#define LONG_LINE 1000

int tn_scan_lex(union tn_token_value *value, struct tn_loc *loc, void *flex);

struct tn_span tn_lex_span(const struct tn_parser *p, struct tn_loc loc)
{
	struct tn_span span = { p->scan.file, loc.begin, loc.end };

	return span;
}

bool tn_lex_is_first(const struct tn_parser *p, uint32_t offset,
		     uint32_t *indent)
{
	uint32_t i = offset;

	while (i > p->start && (p->scan.source[i - 1] == ' ' ||
				p->scan.source[i - 1] == '\t'))
		i--;
	if (indent != NULL)
		*indent = offset - i;
	return i == p->start || p->scan.source[i - 1] == '\n';
}

static struct tn_token scan(struct tn_parser *p)
{
	struct tn_token token = { 0 };

	if (p->stop || p->scan.arena->failed) {
		token.loc = p->last.loc;
		return token;
	}
	token.kind = tn_scan_lex(&token.value, &token.loc, p->scan.flex);
	if (token.kind == 0)
		token.loc.end = token.loc.begin;
	return token;
}

const struct tn_token *tn_lex_peek(struct tn_parser *p)
{
	if (!p->has_ahead) {
		p->ahead = scan(p);
		p->has_ahead = true;
	}
	return &p->ahead;
}

/* The next token as scanned, or the one held back. */
static struct tn_token next(struct tn_parser *p)
{
	struct tn_token token;

	if (!p->has_ahead)
		return scan(p);
	token = p->ahead;
	p->ahead = p->behind;
	p->has_ahead = p->has_behind;
	p->has_behind = false;
	return token;
}

void tn_lex_too_deep(struct tn_parser *p, struct tn_loc loc)
{
	struct tn_diag *diag;

	if (p->stop)
		return;
	p->stop = true;
	p->scan.errors++;
	diag = tn_diag_report(p->scan.sink, TN_E0104, tn_lex_span(p, loc),
			      "nested too deep");
	tn_diag_note(p->scan.sink, diag,
		     "at most %d brackets or prefix operators, and %d "
		     "operators in one expression", TN_TREE_NESTING,
		     TN_TREE_DEPTH);
	tn_diag_help(p->scan.sink, diag, "give a part a name of its own");
}

/* ---- Brackets --------------------------------------------------------- */

static void push(struct tn_parser *p, char bracket, struct tn_loc loc)
{
	if (p->nopen == TN_TREE_NESTING) {
		tn_lex_too_deep(p, loc);
		return;
	}
	p->open[p->nopen].bracket = bracket;
	p->open[p->nopen].at = loc.begin;
	p->nopen++;
	if (bracket == '{')
		p->braces++;
}

/* Forgets ( and [ that were not closed before `;` or `}`. */
static void drop_parens(struct tn_parser *p)
{
	while (p->nopen > 0 && p->open[p->nopen - 1].bracket != '{')
		p->nopen--;
}

static void close_brace(struct tn_parser *p, struct tn_loc loc)
{
	uint32_t here, there, line;
	const char *text = p->scan.source;

	drop_parens(p);
	if (p->nopen == 0)
		return;
	p->closed = p->open[--p->nopen];
	p->braces--;
	if (p->has_doubtful || !tn_lex_is_first(p, loc.begin, &here))
		return;
	line = p->closed.at;
	while (line > p->start && text[line - 1] != '\n' &&
	       p->closed.at - line < LONG_LINE)
		line--;
	for (there = 0; text[line + there] == ' ' ||
	     text[line + there] == '\t'; there++)
		;
	if (here < there) {
		p->has_doubtful = true;
		p->doubtful = p->closed.at;
	}
}

/* Keeps the stack of open brackets up to date with a token. */
static void count(struct tn_parser *p, const struct tn_token *token)
{
	p->braces_before = p->braces;
	p->parens = p->nopen > 0 && p->open[p->nopen - 1].bracket != '{' ?
		    p->open[p->nopen - 1].at + 1 : 0;
	switch (token->kind) {
	case '(':
	case '[':
	case '{':
		push(p, (char)token->kind, token->loc);
		break;
	case ')':
	case ']':
		if (p->nopen > 0 && p->open[p->nopen - 1].bracket != '{')
			p->nopen--;
		break;
	case ';':
		drop_parens(p);
		break;
	case '}':
		close_brace(p, token->loc);
		break;
	default:
		break;
	}
}

/* Undoes `count` for the token in `last`, which is to be read again. */
static void uncount(struct tn_parser *p)
{
	if (p->last.kind == '{') {
		p->nopen--;
		p->braces--;
	} else if (p->last.kind == '}') {
		p->open[p->nopen++] = p->closed;
		p->braces++;
	} else if (p->last.kind == '(' || p->last.kind == '[') {
		p->nopen--;
	}
}

/* ---- Contextual words ------------------------------------------------- */

static bool is_word(int kind)
{
	return kind == T_IDENT || (kind >= T_OPT && kind <= T_UNROLL);
}

static bool begins_statement(const struct tn_parser *p)
{
	return p->last.kind == '{' || p->last.kind == '}' ||
	       p->last.kind == ';' || p->last.kind == T_SYNC;
}

/* Whether the word `kind` is a keyword before the token `next`. */
static bool is_keyword(const struct tn_parser *p, int kind, int next)
{
	switch (kind) {
	case T_EXPECT:
		return next != '=' && next != ':' && next != ',';
	case T_REJECT:
		return next == T_STRING;
	case T_PAR:
		return p->in_kernel && (is_word(next) || next == '(');
	default:
		return p->in_kernel && is_word(next);
	}
}

/* Turns let alloc par vec unroll expect reject into names where they are not
 * the first word of a statement. */
static void settle_word(struct tn_parser *p, struct tn_token *token)
{
	if (token->kind < T_EXPECT || token->kind > T_UNROLL)
		return;
	if (begins_statement(p) &&
	    is_keyword(p, token->kind, tn_lex_peek(p)->kind))
		return;
	token->kind = T_IDENT;
	token->value.name = tn_scan_intern(&p->scan,
		p->scan.source + token->loc.begin,
		token->loc.end - token->loc.begin);
}

/* Whether a token of this kind, followed by `next`, begins an item. */
static bool is_item_word(int kind, int next)
{
	switch (kind) {
	case T_INCLUDE:
	case T_DIM:
	case T_CONST:
	case T_STRUCT:
	case T_WEIGHT:
	case T_FN:
		return true;
	case T_OP:
	case T_RULE:
	case T_KERNEL:
	case T_ENCODING:
	case T_MESH:
		return is_word(next);
	case T_TEST:
		return next == T_STRING;
	default:
		return false;
	}
}

bool tn_lex_may_be_item(int kind)
{
	return (kind >= T_INCLUDE && kind <= T_FN) ||
	       (kind >= T_MESH && kind <= T_RULE) || kind == T_TEST ||
	       kind == T_KERNEL;
}

/* Whether `token`, the last one read, begins an item. */
static bool begins_item(struct tn_parser *p, const struct tn_token *token)
{
	return tn_lex_may_be_item(token->kind) &&
	       is_item_word(token->kind, tn_lex_peek(p)->kind);
}

/* An item at the start of a line. `dim` may also stand in a block. */
static bool begins_item_line(struct tn_parser *p, const struct tn_token *token)
{
	uint32_t indent = 0;

	return tn_lex_may_be_item(token->kind) &&
	       (token->kind != T_DIM || p->braces == 0) &&
	       tn_lex_is_first(p, token->loc.begin, &indent) && indent == 0 &&
	       begins_item(p, token);
}

/* ---- Ways out of an error ---------------------------------------------- */

/* Puts `token` back, before one that was peeked at. */
static void hold(struct tn_parser *p, const struct tn_token *token)
{
	p->behind = p->ahead;
	p->has_behind = p->has_ahead;
	p->ahead = *token;
	p->has_ahead = true;
	p->held = token->loc.begin + 1;
}

/* Gives `last` again after T_SYNC, unless that was done before. */
static bool hold_last(struct tn_parser *p)
{
	if (p->held == p->last.loc.begin + 1)
		return false;
	uncount(p);
	hold(p, &p->last);
	return true;
}

/* Whether the statement goes on after the `}` in `last`. */
static bool goes_on(struct tn_parser *p)
{
	const struct tn_token *ahead = tn_lex_peek(p);

	if (ahead->kind == ';') {
		p->last = next(p);
		return false;
	}
	return !tn_lex_is_first(p, ahead->loc.begin, NULL) ||
	       ahead->kind == T_ELSE || ahead->kind == T_REWRITE ||
	       ahead->kind == T_DO;
}

static void advance(struct tn_parser *p)
{
	p->last = next(p);
	count(p, &p->last);
}

/* Whether `last` ends all skipping: it is read again. */
static bool ends_skip(struct tn_parser *p, bool first)
{
	if (p->last.kind != 0 && (first || !begins_item_line(p, &p->last)))
		return false;
	uncount(p);
	hold(p, &p->last);
	return true;
}

/* Skips to the next item; `last` is the first token of the fault. */
static void skip_item(struct tn_parser *p)
{
	for (bool first = true; !ends_skip(p, first); first = false) {
		uint32_t indent = 1;

		tn_lex_is_first(p, p->last.loc.begin, &indent);
		if ((p->last.kind == '}' || p->last.kind == ';') &&
		    p->braces == 0) {
			const struct tn_token *ahead = tn_lex_peek(p);

			if (ahead->kind == 0 || ahead->kind == '@' ||
			    tn_lex_may_be_item(ahead->kind) ||
			    (p->last.kind == '}' && indent == 0 &&
			     ahead->kind != T_REWRITE &&
			     ahead->kind != T_WHERE))
				return;
		}
		advance(p);
	}
}

/* Skips to the end of the statement at depth `depth`. */
static void skip_statement(struct tn_parser *p, uint32_t depth)
{
	for (bool first = true; !ends_skip(p, first); first = false) {
		if (p->last.kind == '}' && p->braces < depth) {
			if (hold_last(p) || p->braces == 0)
				return;
			depth = p->braces;
		} else if (p->last.kind == '}' && p->braces == depth) {
			if (!goes_on(p))
				return;
		} else if (p->last.kind == ';' && p->braces <= depth) {
			return;
		}
		advance(p);
	}
}

/* Skips a block whose `{` is missing, or has other text before it. */
static void skip_block(struct tn_parser *p, uint32_t depth)
{
	bool first = true;

	for (; p->last.kind != ';' && p->last.kind != '}'; first = false) {
		if (p->last.kind == '{') {
			if (depth == 0)
				skip_item(p);
			else
				skip_statement(p, depth);
			return;
		}
		if (ends_skip(p, first))
			return;
		advance(p);
	}
	if (p->last.kind == '}') {
		if (depth > 0)
			uncount(p);
		return;
	}
	push(p, '{', p->last.loc);
	while (!ends_skip(p, false)) {
		if (p->last.kind == '}' && p->braces == depth)
			return;
		advance(p);
	}
}

static void resync(struct tn_parser *p)
{
	enum tn_sync sync = p->sync;

	p->sync = TN_SYNC_NONE;
	if (sync == TN_SYNC_DROP) {
		if (p->last.kind == '{')
			uncount(p);
		return;
	}
	if ((sync == TN_SYNC_HOLD || begins_item_line(p, &p->last)) &&
	    hold_last(p))
		return;
	if (sync == TN_SYNC_OPEN)
		skip_block(p, p->braces_before);
	else if (p->braces_before == 0)
		skip_item(p);
	else
		skip_statement(p, p->braces_before);
}

void tn_lex_unclosed(struct tn_parser *p)
{
	struct tn_loc loc = { 0, 1 };
	struct tn_diag *diag;

	drop_parens(p);
	if (p->nopen > 0)
		loc.begin = p->open[p->nopen - 1].at;
	if (p->has_doubtful)
		loc.begin = p->doubtful;
	loc.end = loc.begin + 1;
	p->scan.errors++;
	p->has_doubtful = false;
	diag = tn_diag_report(p->scan.sink, TN_E0105, tn_lex_span(p, loc),
			      "this brace is not closed");
	tn_diag_label(p->scan.sink, diag, "unclosed brace opened here");
}

/* One step of leading the parser out of `closing` open blocks. */
static int close_blocks(struct tn_parser *p)
{
	switch (p->closing_step++) {
	case 0:
		return TN_PARSE_error;
	case 1:
		return T_SYNC;
	default:
		p->closing_step = 0;
		p->closing--;
		return '}';
	}
}

/* Starts leading the parser out; `token` is read again after that. */
static int begin_closing(struct tn_parser *p, const struct tn_token *token)
{
	hold(p, token);
	p->held = 0;
	p->quiet = token->loc.begin + 1;
	p->closing = p->braces;
	p->closing_step = 0;
	p->nopen = 0;
	p->braces = p->braces_before = 0;
	return close_blocks(p);
}

/* A `}` where none is open: reported and left out. */
static void stray_brace(struct tn_parser *p, struct tn_loc loc)
{
	p->scan.errors++;
	tn_diag_report(p->scan.sink, TN_E0105, tn_lex_span(p, loc),
		       "this brace closes nothing");
}

static bool ends_operand(int kind)
{
	return is_word(kind) || kind == ')' || kind == ']' ||
	       kind == T_INT || kind == T_FLOAT || kind == T_ELEM ||
	       kind == T_STRING || kind == T_TRUE || kind == T_FALSE;
}

/* Counts prefix operators that wait for their operand, which lie on the
 * parser's stack. */
static void count_prefix(struct tn_parser *p, const struct tn_token *token)
{
	switch (token->kind) {
	case '-':
		if (ends_operand(p->last.kind)) {
			p->prefix = 0;
			break;
		}
		/* fall through */
	case '~':
	case '!':
	case T_POW:
		if (++p->prefix > TN_TREE_NESTING)
			tn_lex_too_deep(p, token->loc);
		break;
	case T_IDENT:
	case T_INT:
	case T_FLOAT:
	case '(':
	case ')':
	case '[':
	case ']':
	case '.':
		break;
	default:
		p->prefix = 0;
	}
}

/* Words such as `op` are names too, of parameters for one. */
static void note_item(struct tn_parser *p, const struct tn_token *token)
{
	if (p->braces == 0 && p->nopen == 0 && begins_item(p, token))
		p->in_kernel = token->kind == T_KERNEL;
}

int tn_parse_lex(union tn_token_value *value, struct tn_loc *loc,
		 struct tn_parser *p)
{
	struct tn_token token;

	*loc = p->last.loc;
	if (p->sync != TN_SYNC_NONE) {
		resync(p);
		p->before = p->last;
		p->last.kind = T_SYNC;
		return T_SYNC;
	}
	if (p->closing > 0)
		return close_blocks(p);
	token = next(p);
	while (token.kind == '}' && p->braces == 0) {
		stray_brace(p, token.loc);
		token = next(p);
	}
	if (p->braces > 0 && begins_item_line(p, &token)) {
		tn_lex_unclosed(p);
		*loc = token.loc;
		return begin_closing(p, &token);
	}
	settle_word(p, &token);
	note_item(p, &token);
	count(p, &token);
	count_prefix(p, &token);
	if (p->stop)
		token.kind = 0;
	p->before = p->last;
	p->last = token;
	*value = token.value;
	*loc = token.loc;
	return token.kind;
}
