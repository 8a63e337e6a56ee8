/*
 * What to say about a token that does not fit, and how to go on.
 *
 * From the specific to the general: a closing brace that never comes, a
 * keyword with a typo (one token back: in `retrun z;` the fault shows at
 * `z`), a missing `;` (at the end of the token before), a reserved word as a
 * name, and else the token with at most five that would have fitted.
 */
#include <string.h>

#include "grammar/habit.h"
#include "grammar/lex.h"
#include "grammar/parse.h"

/* Lists of expected tokens longer than this help nobody. */
#define MOST_EXPECTED 5

static const char *const statement_words[] = {
	"return", "yield", "emit", "expect", "reject", "while", "scan", "with",
	"alloc", "unroll", "match", "rewrite", "where", "else",
};

static const char *const item_words[] = {
	"include", "dim", "const", "struct", "weight", "encoding", "mesh",
	"fn", "op", "rule", "test", "kernel", "tenon",
};

static struct tn_diag *report(struct tn_parser *p, enum tn_code code,
			      struct tn_loc loc, const char *message,
			      const char *text)
{
	p->scan.errors++;
	return tn_diag_report(p->scan.sink, code, tn_lex_span(p, loc), message,
			      text);
}

/* Whether something was already said about this place. */
static bool is_quiet(const struct tn_parser *p)
{
	uint32_t bad = p->scan.bad_end;

	return p->stop || p->scan.arena->failed ||
	       p->quiet == p->last.loc.begin + 1 ||
	       (p->headless &&
		p->last.loc.begin == p->start) ||
	       (bad != 0 && (bad == p->last.loc.end ||
			     bad == p->before.loc.end ||
			     (bad > p->before.loc.begin &&
			      bad <= p->last.loc.begin)));
}

static bool is_brief(struct tn_parser *p)
{
	struct tn_diag *diag;

	if (p->last.kind != T_BRIEF)
		return false;
	diag = report(p, TN_E0115, p->last.loc, "%s",
		      "this is abbreviated output, not a whole module");
	tn_diag_help(p->scan.sink, diag, "print it again without `--brief`");
	p->stop = true;
	return true;
}

/* A name that was meant to be one of `words`. */
static const char *nearest(struct tn_parser *p, const struct tn_token *token,
			   const char *const *words, size_t count)
{
	const char *found;

	if (token->kind != T_IDENT || token->loc.end <= token->loc.begin ||
	    p->scan.source[token->loc.begin] == '`')
		return NULL;
	found = tn_diag_nearest(token->value.name, words, count);
	return found == NULL || strcmp(found, token->value.name) == 0 ?
	       NULL : found;
}

static bool follows_break(int kind)
{
	return kind == ';' || kind == '{' || kind == '}' || kind == T_SYNC ||
	       kind == 0;
}

/* A misspelt keyword: the token before, or at an item the token itself. */
static bool is_typo(struct tn_parser *p)
{
	const size_t nitems = sizeof(item_words) / sizeof(item_words[0]);
	const size_t nstmts = sizeof(statement_words) /
			      sizeof(statement_words[0]);
	const struct tn_token *token = &p->before;
	const char *word = NULL;
	struct tn_diag *diag;

	if (p->braces_before > 0) {
		if (p->last.kind != '=' && p->last.kind != ';' &&
		    p->last.kind != '{' && p->last.kind != '}')
			word = nearest(p, token, statement_words, nstmts);
	} else {
		if (p->last.kind == T_IDENT && (follows_break(token->kind)))
			token = &p->last;
		word = nearest(p, token, item_words, nitems);
		if (word == NULL)
			word = nearest(p, token, statement_words, nstmts);
	}
	if (word == NULL)
		return false;
	diag = report(p, TN_E0102, token->loc, "unknown keyword `%s`",
		      token->value.name);
	tn_diag_help(p->scan.sink, diag, "did you mean `%s`?", word);
	tn_diag_fix(p->scan.sink, diag, tn_lex_span(p, token->loc), word);
	return true;
}

/* A `;` that is missing before a token on another line, or before one that
 * can only begin or end a statement. */
static bool is_semicolon(struct tn_parser *p, const struct tn_syntax_error *e)
{
	struct tn_loc loc = { p->before.loc.end, p->before.loc.end };
	struct tn_diag *diag;

	if (!e->semicolon || p->before.kind == T_SYNC)
		return false;
	if (p->last.kind != '}' && p->last.kind != 0 &&
	    p->last.kind != T_RETURN && p->last.kind != T_YIELD &&
	    p->last.kind != T_EMIT &&
	    !tn_lex_is_first(p, p->last.loc.begin, NULL))
		return false;
	diag = report(p, TN_E0103, loc, "%s", "`;` is missing here");
	tn_diag_fix(p->scan.sink, diag, tn_lex_span(p, loc), ";");
	p->sync = TN_SYNC_HOLD;
	return true;
}

static bool is_reserved(int kind)
{
	return (kind >= T_TENON && kind <= T_FALSE) || kind == T_ELEM;
}

/* The reserved word or element type that was meant as a name: `last`, or in
 * `i8 = 1;` the one before it. NULL if there is none. */
static const struct tn_token *reserved_name(struct tn_parser *p,
					    const struct tn_syntax_error *e)
{
	int next;

	if (p->before.kind == T_ELEM &&
	    (p->last.kind == '=' || p->last.kind == ':'))
		return &p->before;
	if (!is_reserved(p->last.kind) || !e->name)
		return NULL;
	next = tn_lex_peek(p)->kind;
	if (next == '(' && (p->last.kind == T_IF || p->last.kind == T_WHILE ||
			    p->last.kind == T_FOR))
		return NULL;
	return next == '=' || next == ':' || next == ',' || next == T_IN ||
	       next == '(' || next == ')' ? &p->last : NULL;
}

static bool is_reserved_name(struct tn_parser *p,
			     const struct tn_syntax_error *e)
{
	const struct tn_token *word = reserved_name(p, e);
	const char *text;
	struct tn_diag *diag;
	int len;

	if (word == NULL)
		return false;
	text = p->scan.source + word->loc.begin;
	len = (int)(word->loc.end - word->loc.begin);
	p->scan.errors++;
	diag = tn_diag_report(p->scan.sink, TN_E0116,
			      tn_lex_span(p, word->loc), "`%.*s` is %s", len,
			      text, word->kind == T_ELEM ? "an element type" :
			      "a reserved word");
	tn_diag_help(p->scan.sink, diag,
		     "as a name it is written in backquotes: `` `%.*s` ``",
		     len, text);
	return true;
}

/* ", expected a, b or c" if the list is short. */
static void put_expected(struct tn_buf *out, const struct tn_syntax_error *e)
{
	uint32_t i;

	if (e->nexpected == 0 || e->nexpected > MOST_EXPECTED)
		return;
	for (i = 0; i < e->nexpected; i++) {
		tn_buf_put(out, i == 0 ? ", expected " :
			   i + 1 == e->nexpected ? " or " : ", ");
		tn_buf_put(out, e->expected[i]);
	}
}

/* Shows the ( or [ that is open where a statement ends. */
static void show_open(struct tn_parser *p, struct tn_diag *diag)
{
	struct tn_loc loc;

	if (p->parens == 0 || (p->last.kind != ';' && p->last.kind != '}' &&
			       p->last.kind != '{'))
		return;
	loc.begin = p->parens - 1;
	loc.end = p->parens;
	tn_diag_also(p->scan.sink, diag, tn_lex_span(p, loc), "opened here");
}

/* Whether the text goes on with `text` at the offset. */
static bool stands(const struct tn_parser *p, uint32_t at, const char *text)
{
	return !strncmp(p->scan.source + at, text, strlen(text));
}

/* Help for two tokens that touch, such as `+=`, or NULL. */
static const char *pair_habit(const struct tn_parser *p)
{
	static const char *const pairs[] = {
		"/*", ":=", "-=", "*=", "/=", "++", "--", "::", "][", ";;",
	};
	size_t i;

	if (p->before.kind == 0 || p->before.loc.end != p->last.loc.begin)
		return NULL;
	for (i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		if (stands(p, p->before.loc.begin, pairs[i]))
			return tn_habit_token(pairs[i]);
	return NULL;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* `1. * x` and `.5 * x`. */
static bool is_half_number(const struct tn_parser *p)
{
	const char *text = p->scan.source;
	uint32_t last = p->last.loc.begin, dot = p->before.loc.begin;

	return (p->last.kind == '.' && is_digit(text[last + 1])) ||
	       (p->before.kind == '.' && dot > 0 && is_digit(text[dot - 1]));
}

/* What a token stands for in the table of habits, in `word`. */
static const char *token_habit(const struct tn_parser *p,
			       const struct tn_token *token)
{
	char word[12];
	size_t len = token->loc.end - token->loc.begin;

	if (len == 0 || len >= sizeof(word))
		return NULL;
	memcpy(word, p->scan.source + token->loc.begin, len);
	word[len] = '\0';
	return tn_habit_token(word);
}

static bool ends_operand(int kind)
{
	return kind == T_IDENT || kind == T_INT || kind == T_FLOAT ||
	       kind == ')' || kind == ']';
}

/* `x.exp()` and `np.exp(x)`: there are neither methods nor modules. */
static bool add_method(struct tn_parser *p, struct tn_diag *diag)
{
	const struct tn_token *name = &p->before;
	const char *help;

	if (p->last.kind != '(' || name->kind != T_IDENT ||
	    name->loc.begin == 0 ||
	    p->scan.source[name->loc.begin - 1] != '.')
		return false;
	tn_diag_note(p->scan.sink, diag, "operators belong to no module, and "
		     "values have no methods");
	help = tn_habit_call(name->value.name);
	if (help)
		tn_diag_help(p->scan.sink, diag, "%s", help);
	else
		tn_diag_help(p->scan.sink, diag, "write %s(x)",
			     name->loc.end - name->loc.begin < 40 ?
			     name->value.name : "NAME");
	return true;
}

/* Says what to write if the token, or a name before it, is such a habit. */
static void add_habit(struct tn_parser *p, struct tn_diag *diag)
{
	const char *help = pair_habit(p);
	int last = p->last.kind, before = p->before.kind;

	if (add_method(p, diag))
		return;
	if (!help && is_half_number(p))
		help = tn_habit_token("0.");
	if (!help && last == ';' && before == ';')
		help = tn_habit_token(";;");
	if (!help && last == T_IDENT && before == ')')
		help = token_habit(p, &p->last);
	if (!help && (last == T_IDENT || last == T_INT) && before == ')')
		help = tn_habit_token(")");
	if (!help && (last != '{' || before == '=' || before == ',') &&
	    last != ')')
		help = token_habit(p, &p->last);
	if (!help && before == T_IDENT)
		help = token_habit(p, &p->before);
	if (help && (last == T_IF || last == T_FOR) && p->in_kernel &&
	    !ends_operand(before))
		return;
	if (help)
		tn_diag_help(p->scan.sink, diag, "%s", help);
}

static void unexpected(struct tn_parser *p, const struct tn_syntax_error *e)
{
	struct tn_diag *diag;
	struct tn_buf text;
	int len = (int)(p->last.loc.end - p->last.loc.begin);

	tn_buf_init(&text);
	if (p->last.kind == T_IDENT && len <= 60)
		tn_buf_putf(&text, "unexpected name `%.*s`", len,
			    p->scan.source + p->last.loc.begin);
	else
		tn_buf_putf(&text, "unexpected %s",
			    strncmp(e->found, "a name", 6) == 0 ? "name" :
			    e->found[0] == 'a' && e->found[1] == 'n' ?
			    e->found + 3 : e->found[0] == 'a' ? e->found + 2 :
			    e->found);
	put_expected(&text, e);
	diag = report(p, TN_E0101, p->last.loc, "%s", tn_buf_text(&text));
	show_open(p, diag);
	add_habit(p, diag);
	tn_buf_fini(&text);
}

/* Chooses how to go on after an unexpected token. */
static enum tn_sync way_out(const struct tn_parser *p,
			    const struct tn_syntax_error *e)
{
	if (p->last.kind == '{' && p->before.kind == '{')
		return TN_SYNC_DROP;
	if (p->last.kind == ';' && (p->before.kind == ';' ||
				    p->before.kind == '}'))
		return TN_SYNC_DROP;
	if (e->brace && p->last.kind != ';' && p->last.kind != '{')
		return TN_SYNC_OPEN;
	return TN_SYNC_SKIP;
}

void tn_error_report(struct tn_parser *p, const struct tn_syntax_error *e)
{
	p->sync = way_out(p, e);
	if (is_quiet(p) || is_brief(p))
		return;
	if (p->last.kind == 0 && p->nopen > 0 && p->braces > 0) {
		tn_lex_unclosed(p);
		return;
	}
	if (is_typo(p) || is_semicolon(p, e) || is_reserved_name(p, e))
		return;
	unexpected(p, e);
}
