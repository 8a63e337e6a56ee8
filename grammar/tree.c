/*
 * Small facts about the tree's words: names, literals, places.
 */
#include "grammar/tree.h"

#include <string.h>

#include "base/ascii.h"

static const char *const reserved[] = {
	"tenon", "include", "dim", "const", "struct", "weight", "fn", "if",
	"else", "for", "while", "scan", "with", "return", "yield", "emit",
	"in", "true", "false", "inf", "nan",
};

static bool is_among(const char *name, const char *const *words, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (strcmp(name, words[i]) == 0)
			return true;
	return false;
}

/* Whether `name` is an element word (f64 .. u4, bool). */
static bool is_elem(const char *name)
{
	return tn_dtype_find(name) != TN_DTYPE_COUNT;
}

/* Words that are keywords where a statement begins with an expression. */
static const char *const openers[] = { "expect", "par" };

/* `inf` and `nan` with an element suffix are numbers. */
static bool is_number_word(const char *name)
{
	return (strncmp(name, "inf_", 4) == 0 ||
		strncmp(name, "nan_", 4) == 0) && is_elem(name + 4);
}

/* Whether `name` reads back as that name without backquotes. */
static bool is_plain(const char *name)
{
	const char *at = name;

	for (;;) {
		if (!tn_ascii_is_head(*at))
			return false;
		while (tn_ascii_is_word(*at))
			at++;
		if (at[0] != ':' || at[1] != ':')
			break;
		at += 2;
	}
	return *at == '\0' && !is_elem(name) &&
	       !is_number_word(name) &&
	       !is_among(name, openers,
			 sizeof(openers) / sizeof(openers[0])) &&
	       !is_among(name, reserved,
			 sizeof(reserved) / sizeof(reserved[0]));
}

static void put_quoted(struct tn_buf *out, const char *text, char quote)
{
	tn_buf_putc(out, quote);
	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == (unsigned char)quote || c == '\\') {
			tn_buf_putc(out, '\\');
			tn_buf_putc(out, *text);
		} else if (c == '\n') {
			tn_buf_put(out, "\\n");
		} else if (c == '\t') {
			tn_buf_put(out, "\\t");
		} else if (c == '\r') {
			tn_buf_put(out, "\\r");
		} else if (c < 0x20 || c == 0x7f) {
			tn_buf_putf(out, "\\u{%x}", c);
		} else {
			tn_buf_putc(out, *text);
		}
	}
	tn_buf_putc(out, quote);
}

void tn_name_put(struct tn_buf *out, const char *name)
{
	if (is_plain(name))
		tn_buf_put(out, name);
	else
		put_quoted(out, name, '`');
}

void tn_word_put(struct tn_buf *out, const char *name)
{
	const bool is_literal = strcmp(name, "true") == 0 ||
				strcmp(name, "false") == 0 ||
				strcmp(name, "inf") == 0 ||
				strcmp(name, "nan") == 0;

	if (!is_literal && (is_elem(name) ||
			    is_among(name, openers,
				     sizeof(openers) / sizeof(openers[0])) ||
			    is_among(name, reserved,
				     sizeof(reserved) / sizeof(reserved[0]))))
		tn_buf_put(out, name);
	else
		tn_name_put(out, name);
}

void tn_string_put(struct tn_buf *out, const char *text)
{
	put_quoted(out, text, '"');
}

char *tn_expr_float_text(struct tn_arena *arena, const struct tn_expr *expr)
{
	char *text = tn_arena_alloc(arena, (size_t)expr->len + 2);

	if (text == NULL)
		return NULL;
	text[0] = '-';
	memcpy(text + expr->negative, expr->u.real.text, expr->len);
	text[expr->len + expr->negative] = '\0';
	return text;
}

struct tn_span tn_expr_callee(const struct tn_expr *expr)
{
	struct tn_span span = expr->span;

	span.begin += expr->skip;
	span.end = span.begin + expr->len;
	return span;
}

struct tn_span tn_span_join(struct tn_span a, struct tn_span b)
{
	struct tn_span span = { a.file, a.begin, b.end };

	return span;
}
