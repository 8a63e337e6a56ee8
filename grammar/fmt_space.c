/*
 * Tokens for the formatter, and where a space stands between two of them.
 *
 *   op f<T: float>(x: T[*P, K], axis: int = -1) -> T[*P] @layout(0, 1//16)
 *   y[:, S - 1, :, 0:4] = g(-x, axis=1, ..a);
 */
#include <string.h>

#include "grammar/fmt.h"
#include "grammar/parse.h"

int tn_scan_lex(union tn_token_value *value, struct tn_loc *loc, void *flex);

static struct tn_fmt_token *add(struct tn_vec *tokens, int kind,
				struct tn_loc loc, const char *text,
				uint32_t from)
{
	struct tn_fmt_token *token = tn_vec_push(tokens);
	uint32_t i;

	if (token == NULL)
		return NULL;
	token->kind = kind;
	token->loc = loc;
	token->gap = loc.begin > from;
	for (i = from; i < loc.begin && token->breaks < 2; i++)
		token->breaks += text[i] == '\n';
	return token;
}

/* Adds the comments between the offsets; *from moves after the last. */
static bool add_comments(struct tn_vec *tokens, const char *text,
			 uint32_t *from, uint32_t end)
{
	uint32_t i;

	for (i = *from; i < end; i++) {
		struct tn_loc loc = { i, i };
		const char *stop;

		if (text[i] != '#')
			continue;
		stop = memchr(text + i, '\n', end - i);
		i = stop == NULL ? end : (uint32_t)(stop - text);
		loc.end = i;
		while (text[loc.end - 1] == ' ' || text[loc.end - 1] == '\t' ||
		       text[loc.end - 1] == '\r')
			loc.end--;
		if (add(tokens, TN_FMT_COMMENT, loc, text, *from) == NULL)
			return false;
		*from = i;
	}
	return true;
}

static bool scan_all(struct tn_scanner *scan, struct tn_vec *tokens,
		     const struct tn_vec *marks, uint32_t start)
{
	size_t mark = 0;
	uint32_t from = start;
	struct tn_fmt_token *token;
	union tn_token_value value;
	struct tn_loc loc;
	int kind;

	do {
		kind = tn_scan_lex(&value, &loc, scan->flex);
		if (kind == 0)
			loc.end = loc.begin;
		if (!add_comments(tokens, scan->source, &from, loc.begin))
			return false;
		token = add(tokens, kind, loc, scan->source, from);
		if (token == NULL)
			return false;
		from = loc.end;
		if (marks != NULL && mark < marks->len &&
		    *(uint32_t *)tn_vec_at(marks, mark) == loc.begin) {
			token->annotation = true;
			mark++;
		}
	} while (kind != 0);
	return !scan->arena->failed;
}

bool tn_fmt_scan(struct tn_sink *sink, uint32_t file, struct tn_vec *tokens,
		 const struct tn_vec *marks)
{
	const struct tn_source *source = tn_vec_at(&sink->sources, file - 1);
	const bool bom = source->size >= 3 &&
			 memcmp(source->text, "\xef\xbb\xbf", 3) == 0;
	struct tn_arena arena;
	struct tn_intern intern;
	struct tn_scanner scan = { 0 };
	bool ok;

	tn_arena_init(&arena);
	tn_intern_init(&intern);
	scan.sink = sink;
	scan.arena = &arena;
	scan.intern = &intern;
	scan.file = file;
	ok = tn_scan_open(&scan, bom ? 3 : 0) &&
	     scan_all(&scan, tokens, marks, bom ? 3 : 0);
	tn_scan_close(&scan);
	tn_intern_fini(&intern);
	tn_arena_fini(&arena);
	return ok;
}

static bool is_soft(int kind)
{
	return kind >= T_OPT && kind <= T_UNROLL;
}

static bool ends_operand(int kind)
{
	return kind == T_IDENT || is_soft(kind) || kind == ')' ||
	       kind == ']' || kind == T_INT || kind == T_FLOAT ||
	       kind == T_ELEM || kind == T_STRING || kind == T_TRUE ||
	       kind == T_FALSE || kind == T_ELLIPSIS;
}

static bool in_list(const struct tn_fmt_around *a)
{
	return a->open != NULL && a->open->bracket == '[';
}

/* Whether an operator token is a prefix: `-x`, `*P`, `..a`, `@reg`. */
static bool is_prefix(const struct tn_fmt_token *op,
		      const struct tn_fmt_token *before)
{
	switch (op->kind) {
	case '!':
	case '~':
		return true;
	case '@':
		return op->annotation;
	case '-':
	case '*':
	case T_DOTDOT:
		return before == NULL || !ends_operand(before->kind);
	default:
		return false;
	}
}

static bool is_named_equal(const struct tn_fmt_around *a)
{
	return a->open != NULL ? !a->open->with && !a->open->colon :
				 a->expect;
}

/* Before `(`. After a contextual word the author knows: `where (a)`. */
static bool is_paren_spaced(const struct tn_fmt_around *a)
{
	const int before = a->before->kind;

	if (before == T_IDENT || before == T_SCAN || before == T_PAR ||
	    before == ']' || before == ')' || (before == '>' && a->generics))
		return false;
	if (before == T_WHILE)
		return a->after2->kind != '=';
	if (is_soft(before))
		return a->token->gap;
	return a->before2 == NULL || a->before2->kind != '@' ||
	       !a->before2->annotation;
}

static bool is_colon_spaced(const struct tn_fmt_around *a)
{
	if (in_list(a))
		return a->before->kind == ',';
	return a->before->kind == T_STRING ||
	       (a->before->kind == ')' && a->open == NULL);
}

/* Products that the author wrote without spaces keep it: `3*D`, `1//16`. */
static bool is_tight(const struct tn_fmt_token *op,
		     const struct tn_fmt_token *after)
{
	switch (op->kind) {
	case '*':
	case '/':
	case '%':
	case T_FLOORDIV:
	case T_POW:
		return !op->gap && !after->gap;
	default:
		return false;
	}
}

/* What the token before allows. */
static bool allows_after(const struct tn_fmt_around *a)
{
	switch (a->before->kind) {
	case '(':
	case '[':
	case '.':
	case T_DOTDOT:
		return false;
	case '<':
		return !a->generics;
	case ':':
		return !in_list(a);
	case '=':
		return !is_named_equal(a);
	default:
		return !is_prefix(a->before, a->before2);
	}
}

bool tn_fmt_is_spaced(const struct tn_fmt_around *a)
{
	if (a->before == NULL || !allows_after(a) ||
	    is_tight(a->before, a->token) || is_tight(a->token, a->after))
		return false;
	switch (a->token->kind) {
	case ')':
	case ']':
	case ',':
	case ';':
	case '.':
		return false;
	case '<':
	case '>':
		return !a->generics;
	case ':':
		return is_colon_spaced(a);
	case '=':
		return !is_named_equal(a);
	case '(':
		return is_paren_spaced(a);
	case '[':
		return !ends_operand(a->before->kind) ||
		       (is_soft(a->before->kind) && a->token->gap);
	case T_DOTDOT:
		return is_prefix(a->token, a->before);
	default:
		return true;
	}
}
