/*
 * The formatter: the same tokens and comments in standard white space.
 *
 * One statement a line, two spaces an indentation. A block written on one
 * line stays on it if it fits in 100 columns, and so do dims and fields that
 * share a line. Line breaks that the author put inside a statement stay; the
 * next line is aligned with the open bracket. Columns of types, `from`, `=`
 * and comments that the author lined up stay. Of blank lines in a row one
 * stays.
 *
 * Laws: fmt(fmt(x)) == fmt(x), and the tokens and comments of fmt(x) are
 * those of x (checked here before the result is given out).
 */
#include <string.h>

#include "grammar/fmt.h"
#include "grammar/parse.h"
#include "grammar/syntax.h"

#define WIDTH 100

/* A comment after other text on its line. */
struct trailing {
	size_t at;		/* in the output: where its spaces begin */
	uint32_t column;
	uint32_t line;
	uint32_t gap;		/* spaces that the author put there */
};

struct layout {
	const char *text;
	const struct tn_fmt_token *tokens;
	size_t count;
	struct tn_buf *out;
	struct tn_vec *trailing;	/* struct trailing */
	/* The last two tokens written that are no comments, or NULL. */
	const struct tn_fmt_token *last, *last2;
	uint32_t line;
	uint32_t column;
	uint32_t line_indent;	/* of the line being written */
	uint32_t braces;
	uint32_t inside;	/* braces of the block kept on one line */
	uint32_t nopen;
	bool generics, expect;
	bool fields;		/* in a struct or encoding */
	struct tn_fmt_open open[TN_TREE_NESTING + 1];
};

static const struct tn_fmt_token *token_at(const struct layout *l, size_t i)
{
	return &l->tokens[i < l->count ? i : l->count - 1];
}

static const struct tn_fmt_open *innermost(const struct layout *l)
{
	return l->nopen > 0 && l->open[l->nopen - 1].bracket != '{' ?
	       &l->open[l->nopen - 1] : NULL;
}

/* Spaces in the source before token `i`, on the same line; 0 if it is not
 * on one line with the token before. */
static uint32_t gap_of(const struct layout *l, size_t i)
{
	const struct tn_fmt_token *token = &l->tokens[i];

	if (i == 0 || token->breaks > 0)
		return 0;
	return token->loc.begin - l->tokens[i - 1].loc.end;
}

/* Spaces to write before token `i` where one is due: columns that the author
 * lined up, of types, `from` and `=`, stay. */
static uint32_t spaces(const struct layout *l, size_t i)
{
	const uint32_t gap = gap_of(l, i);
	const bool lines_up = l->tokens[i - 1].kind == ':' ||
			      l->tokens[i - 1].kind == ';' ||
			      l->tokens[i].kind == T_FROM ||
			      l->tokens[i].kind == '=';

	return lines_up && gap > 1 && gap <= WIDTH ? gap : 1;
}

/* ---- Line breaks ------------------------------------------------------- */

/* The `do` after the condition block of a loop; it is a name elsewhere. */
static bool is_do(const struct layout *l, size_t i)
{
	return l->tokens[i].kind == T_DO && token_at(l, i + 1)->kind == '{';
}

/* Whether a statement or item begins at token `i`. */
static bool is_start(const struct layout *l, size_t i)
{
	const struct tn_fmt_token *last = l->last;
	const int kind = l->tokens[i].kind;

	if (last == NULL)
		return true;
	if (innermost(l) != NULL)
		return false;
	if (last->kind == ';' || last->kind == '{')
		return true;
	return last->kind == '}' && kind != ';' && kind != T_ELSE &&
	       kind != T_REWRITE && kind != T_WHERE && !is_do(l, i);
}

/* Whether the dim or field at `i` stays on the line of the one before, where
 * the author put it. The width counts a space between any two tokens, so it
 * is the same when the result is formatted again. */
static bool joins(const struct layout *l, size_t i)
{
	uint32_t width = l->column;

	if (l->tokens[i].breaks > 0 || l->tokens[i - 1].kind != ';' ||
	    !(l->braces == 0 ? l->tokens[i].kind == T_DIM : l->fields))
		return false;
	for (; width <= WIDTH; i++) {
		const struct tn_fmt_token *token = token_at(l, i);

		width += spaces(l, i) + token->loc.end - token->loc.begin;
		if (token->kind == ';')
			return width <= WIDTH;
		if (token->kind <= 0 || token_at(l, i + 1)->breaks > 0)
			return false;
	}
	return false;
}

/* Whether token `i` must begin a line. */
static bool must_break(const struct layout *l, size_t i)
{
	const struct tn_fmt_token *token = &l->tokens[i];

	if (i == 0)
		return false;
	if (l->tokens[i - 1].kind == TN_FMT_COMMENT)
		return true;
	if (token->kind == TN_FMT_COMMENT)
		return token->breaks > 0;
	if (l->inside > 0)
		return false;
	return token->kind == '}' || (is_start(l, i) && !joins(l, i));
}

/* Whether the author's line break before token `i` stays. */
static bool may_break(const struct layout *l, size_t i)
{
	const struct tn_fmt_token *token = &l->tokens[i];
	const struct tn_fmt_open *open = innermost(l);

	if (token->breaks == 0 || l->inside > 0 || is_do(l, i))
		return false;
	switch (token->kind) {
	case ';':
	case ',':
	case '{':
	case T_ELSE:
	case T_REWRITE:
		return false;
	case ')':
	case ']':
		return open != NULL && open->hanging;
	default:
		return true;
	}
}

/* The column at which token `i` begins its line. */
static uint32_t indent_of(const struct layout *l, size_t i)
{
	const struct tn_fmt_open *open = innermost(l);
	const struct tn_fmt_token *token = &l->tokens[i];

	if (token->kind == '}')
		return l->braces > 0 ? (l->braces - 1) * 2 : 0;
	if (is_start(l, i) || (l->braces == 0 && l->nopen == 0 &&
			       (tn_lex_may_be_item(token->kind) ||
				token->annotation)))
		return l->braces * 2;
	if (open == NULL)
		return l->braces * 2 + 4;
	if (!open->hanging)
		return open->column;
	return token->kind == ')' || token->kind == ']' ? open->indent :
							   open->indent + 2;
}

static void break_line(struct layout *l, size_t i)
{
	const struct tn_fmt_token *token = &l->tokens[i];
	const struct tn_fmt_token *last = l->last;

	tn_buf_putc(l->out, '\n');
	if (token->breaks > 1 && token->kind != '}' &&
	    (l->tokens[i - 1].kind == TN_FMT_COMMENT || last == NULL ||
	     last->kind != '{')) {
		tn_buf_putc(l->out, '\n');
		l->line++;
	}
	l->line += 1;
	l->line_indent = indent_of(l, i);
	l->column = l->line_indent;
	tn_buf_pad(l->out, ' ', l->line_indent);
}

/* ---- State ------------------------------------------------------------- */

static void push(struct layout *l, size_t i)
{
	const struct tn_fmt_token *last = l->last;
	struct tn_fmt_open *open = &l->open[l->nopen++];

	memset(open, 0, sizeof(*open));
	open->bracket = (char)l->tokens[i].kind;
	open->with = last != NULL && last->kind == T_WITH;
	open->hanging = token_at(l, i + 1)->breaks > 0 ||
			token_at(l, i + 1)->kind == TN_FMT_COMMENT;
	open->column = l->column;
	open->indent = l->line_indent;
}

/* Whether a contextual word before a token of this kind is a name. */
static bool is_name_before(int kind)
{
	return kind == '=' || kind == ':' || kind == ',';
}

/* Follows what token `i`, just written, opens and closes. */
static void follow(struct layout *l, size_t i)
{
	const int kind = l->tokens[i].kind;

	if (kind == '(' || kind == '[' || kind == '{') {
		push(l, i);
		l->braces += kind == '{';
		l->generics = false;
	} else if (kind == ')' || kind == ']' || kind == '}') {
		l->nopen--;
		l->braces -= kind == '}';
	} else if (kind == ':' && l->nopen > 0) {
		l->open[l->nopen - 1].colon = true;
	} else if (kind == ',' && l->nopen > 0) {
		l->open[l->nopen - 1].colon = false;
	}
	if (l->nopen == 0 && tn_lex_may_be_item(kind))
		l->fields = kind == T_STRUCT || kind == T_ENCODING;
	if (kind == T_EXPECT && !is_name_before(token_at(l, i + 1)->kind))
		l->expect = true;
	else if (kind == ';' || kind == '{' || kind == '}')
		l->expect = false;
}

/* `<` right after the name of fn, op or rule opens generics. */
static void note_generics(struct layout *l, size_t i)
{
	const struct tn_fmt_token *word = l->last2;

	if (l->tokens[i].kind == '<' && l->braces == 0 && word != NULL &&
	    (word->kind == T_FN || word->kind == T_OP || word->kind == T_RULE))
		l->generics = true;
}

static bool is_spaced(const struct layout *l, size_t i)
{
	struct tn_fmt_around around = {
		l->last2, l->last, &l->tokens[i],
		token_at(l, i + 1), token_at(l, i + 2), innermost(l),
		l->generics, l->expect,
	};

	return tn_fmt_is_spaced(&around);
}

/* ---- Writing ----------------------------------------------------------- */

/* Columns of the text, counting code points. */
static uint32_t width_of(const char *text, uint32_t len)
{
	uint32_t width = 0;
	uint32_t i;

	for (i = 0; i < len; i++)
		width += ((unsigned char)text[i] & 0xc0) != 0x80;
	return width;
}

static void note_trailing(struct layout *l, size_t i)
{
	struct trailing *note = tn_vec_push(l->trailing);

	if (note == NULL) {
		l->out->failed = true;
		return;
	}
	note->at = l->out->len;
	note->column = l->column;
	note->line = l->line;
	note->gap = gap_of(l, i);
	if (note->gap < 2 || note->gap > WIDTH)
		note->gap = 2;
}

static void put_token(struct layout *l, size_t i)
{
	const struct tn_fmt_token *token = &l->tokens[i];
	const char *text = l->text + token->loc.begin;
	const uint32_t len = token->loc.end - token->loc.begin;

	note_generics(l, i);
	if (must_break(l, i) || may_break(l, i)) {
		break_line(l, i);
	} else if (i > 0 && token->kind == TN_FMT_COMMENT) {
		note_trailing(l, i);
	} else if (i > 0 && is_spaced(l, i)) {
		tn_buf_pad(l->out, ' ', spaces(l, i));
		l->column += spaces(l, i);
	}
	tn_buf_putn(l->out, text, len);
	l->column += width_of(text, len);
	if (token->kind == TN_FMT_COMMENT)
		return;
	follow(l, i);
	l->last2 = l->last;
	l->last = token;
}

/* The `}` of the `{` at `i` if both are on one line without a comment
 * between, or `i`. */
static size_t line_end(const struct layout *l, size_t i)
{
	uint32_t depth = 1;
	size_t end = i;

	while (depth > 0) {
		const struct tn_fmt_token *token = token_at(l, ++end);

		if (token->breaks > 0 || token->kind <= 0 ||
		    end - i > WIDTH)
			return i;
		depth += token->kind == '{';
		depth -= token->kind == '}';
	}
	return end;
}

/* Writes the block at `i` on one line if it was and fits; the number of its
 * last token, or `i` if nothing was written. */
static size_t put_one_line(struct layout *l, size_t i)
{
	const size_t end = line_end(l, i);
	const size_t len = l->out->len;
	struct layout saved;
	size_t k;

	if (end == i)
		return i;
	saved = *l;
	l->inside++;
	for (k = i; k <= end && l->column <= WIDTH; k++)
		put_token(l, k);
	l->inside--;
	if (l->column + (token_at(l, end + 1)->kind == ';') <= WIDTH)
		return end;
	*l = saved;
	l->out->len = len;
	return i;
}

static void put_all(struct layout *l)
{
	size_t i;

	for (i = 0; i + 1 < l->count; i++) {
		size_t end = i;

		if (l->tokens[i].kind == '{')
			end = put_one_line(l, i);
		if (end == i)
			put_token(l, i);
		i = end;
	}
	if (l->count > 1)
		tn_buf_putc(l->out, '\n');
}

/* ---- Comments in a column ---------------------------------------------- */

/* End of the run of trailing comments on adjacent lines that begins at `i`,
 * and the column of its comments: the longest line keeps its gap. */
static size_t run_end(const struct tn_vec *notes, size_t first,
		      uint32_t *column)
{
	size_t i = first;
	const struct trailing *note = tn_vec_at(notes, i);
	uint32_t line = note->line;
	uint32_t longest = 0;

	for (; i < notes->len; i++, line++) {
		note = tn_vec_at(notes, i);
		if (note->line != line)
			break;
		if (i == first || note->column > longest) {
			longest = note->column;
			*column = longest + note->gap;
		}
	}
	return i;
}

/* Copies `from` to `out`, the trailing comments of a run aligned. */
static void align_comments(const struct tn_buf *from,
			   const struct tn_vec *notes, struct tn_buf *out)
{
	size_t done = 0, end = 0;
	uint32_t column = 0;
	size_t i;

	for (i = 0; i < notes->len; i++) {
		const struct trailing *note = tn_vec_at(notes, i);

		if (i == end)
			end = run_end(notes, i, &column);
		tn_buf_putn(out, from->data + done, note->at - done);
		tn_buf_pad(out, ' ', column - note->column);
		done = note->at;
	}
	if (from->len > done)
		tn_buf_putn(out, from->data + done, from->len - done);
}

/* ---- The check ----------------------------------------------------------- */

static bool is_same(const char *a, const struct tn_vec *as, const char *b,
		    const struct tn_vec *bs)
{
	size_t i;

	if (as->len != bs->len)
		return false;
	for (i = 0; i < as->len; i++) {
		const struct tn_fmt_token *x = tn_vec_at(as, i);
		const struct tn_fmt_token *y = tn_vec_at(bs, i);
		const uint32_t len = x->loc.end - x->loc.begin;

		if (x->kind != y->kind || len != y->loc.end - y->loc.begin ||
		    memcmp(a + x->loc.begin, b + y->loc.begin, len) != 0)
			return false;
	}
	return true;
}

/* Reports that memory was refused; false. */
static bool no_memory(struct tn_sink *sink)
{
	struct tn_span none = { 0, 0, 0 };

	tn_diag_report(sink, TN_E0001, none, "out of memory");
	return false;
}

/* Whether `out` holds the tokens of the source and no others. */
static bool is_kept(struct tn_sink *user, const char *text,
		    const struct tn_vec *tokens, const struct tn_buf *out)
{
	struct tn_sink sink;
	struct tn_vec again;
	uint32_t file;
	bool ok;

	tn_sink_init(&sink);
	tn_vec_init(&again, sizeof(struct tn_fmt_token), NULL);
	file = tn_sink_add_source(&sink, "", tn_buf_text(out), out->len);
	if (file != 0 && tn_fmt_scan(&sink, file, &again, NULL))
		ok = is_same(text, tokens, tn_buf_text(out), &again);
	else
		ok = no_memory(user);
	tn_vec_fini(&again);
	tn_sink_fini(&sink);
	return ok;
}

static bool lay_out(struct tn_sink *sink, uint32_t file,
		    const struct tn_vec *tokens, struct tn_buf *out)
{
	const struct tn_source *source = tn_vec_at(&sink->sources, file - 1);
	struct layout l = { 0 };
	struct tn_vec notes;
	struct tn_buf text;
	bool ok;

	tn_vec_init(&notes, sizeof(struct trailing), NULL);
	tn_buf_init(&text);
	l.text = source->text;
	l.tokens = tokens->data;
	l.count = tokens->len;
	l.out = &text;
	l.trailing = &notes;
	put_all(&l);
	if (!text.failed)
		align_comments(&text, &notes, out);
	if (text.failed || out->failed)
		ok = no_memory(sink);
	else
		ok = is_kept(sink, source->text, tokens, out);
	tn_buf_fini(&text);
	tn_vec_fini(&notes);
	return ok;
}

/* Parses for the diagnostics and for the places of annotations. */
static bool is_sound(struct tn_sink *sink, uint32_t file,
		     struct tn_vec *marks)
{
	struct tn_arena arena;
	struct tn_intern intern;
	struct tn_tree *tree;
	bool ok;

	tn_arena_init(&arena);
	tn_intern_init(&intern);
	tree = tn_parse_marking(sink, &intern, &arena, file, marks);
	ok = tree != NULL && tree->errors == 0;
	tn_intern_fini(&intern);
	tn_arena_fini(&arena);
	return ok;
}

bool tn_fmt(struct tn_sink *sink, uint32_t file, struct tn_buf *out)
{
	struct tn_vec marks, tokens;
	bool ok = false;

	tn_vec_init(&marks, sizeof(uint32_t), NULL);
	tn_vec_init(&tokens, sizeof(struct tn_fmt_token), NULL);
	if (is_sound(sink, file, &marks))
		ok = tn_fmt_scan(sink, file, &tokens, &marks) ?
		     lay_out(sink, file, &tokens, out) : no_memory(sink);
	if (!ok)
		tn_buf_clear(out);
	tn_vec_fini(&tokens);
	tn_vec_fini(&marks);
	return ok;
}
