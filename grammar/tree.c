/*
 * Small facts about the tree's words: names, literals, places.
 */
#include "grammar/tree.h"

#include <string.h>

#include "ir/print.h"

/* Words that are keywords where a statement begins with an expression. */
static bool is_opener(const char *name)
{
	return strcmp(name, "expect") == 0 || strcmp(name, "par") == 0;
}

void tn_name_put(struct tn_buf *out, const char *name)
{
	if (is_opener(name))
		tn_buf_putf(out, "`%s`", name);
	else
		tn_print_name(out, name);
}

void tn_word_put(struct tn_buf *out, const char *name)
{
	const bool is_literal = strcmp(name, "true") == 0 ||
				strcmp(name, "false") == 0 ||
				strcmp(name, "inf") == 0 ||
				strcmp(name, "nan") == 0;

	if (!is_literal && (is_opener(name) || tn_print_is_reserved(name)))
		tn_buf_put(out, name);
	else
		tn_name_put(out, name);
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
