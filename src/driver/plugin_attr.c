/*
 * Attributes as plug-ins write them: `axes=[0, 1], keep=true, mode="linear"`.
 *
 *   attrs = name "=" value { "," name "=" value }
 *   value = whole | real | true | false | "text" | element type
 *         | "[" wholes "]"
 *
 * Brackets inside of a list are left out: pads are a flat list here. The row
 * of the operator tells a list of nothing from other values; inference checks
 * the rest.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"
#include "driver/plugin.h"
#include "ir/builder.h"

#define MOST_INTS 64

struct reader {
	struct tn_arena *arena;
	const char *at;
};

static void skip(struct reader *r)
{
	while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n')
		r->at++;
}

static bool eat(struct reader *r, char c)
{
	skip(r);
	if (*r->at != c)
		return false;
	r->at++;
	skip(r);
	return true;
}

/* A word, copied; NULL: there is none. */
static const char *word(struct reader *r)
{
	size_t n = 0;

	skip(r);
	if (!tn_ascii_is_letter(*r->at))
		return NULL;
	while (tn_ascii_is_word(r->at[n]))
		n++;
	r->at += n;
	return tn_arena_strndup(r->arena, r->at - n, n);
}

static bool whole(struct reader *r, int64_t *out)
{
	char *end;

	skip(r);
	errno = 0;
	*out = strtoll(r->at, &end, 10);
	if (end == r->at || errno)
		return false;
	r->at = end;
	return true;
}

static bool list(struct reader *r, const char *name, struct tn_attr *out)
{
	int64_t ints[MOST_INTS];
	int depth = 1, n = 0;

	while (depth > 0) {
		skip(r);
		if (eat(r, '['))
			depth++;
		else if (eat(r, ']'))
			depth--;
		else if (n == MOST_INTS || !whole(r, &ints[n++]))
			return false;
		if (depth > 0)
			eat(r, ',');
	}
	*out = tn_attr_ints(name, n, tn_arena_copy(r->arena, ints,
			    (size_t)n * sizeof(*ints) + !n));
	return out->u.ints != NULL;
}

/* Signs and digits up to what cannot be part of a number. */
static bool number(struct reader *r, const char *name, struct tn_attr *out)
{
	size_t n = strspn(r->at, "+-.0123456789eE");
	const char *text = tn_arena_strndup(r->arena, r->at, n);
	bool is_negative = *r->at == '-';
	double real;

	if (!text || !n)
		return false;
	if (!strpbrk(text, ".eE")) {
		*out = tn_attr_int(name, 0);
		return whole(r, &out->u.i);
	}
	if (!tn_num_parse_f64(text + is_negative, &real))
		return false;
	*out = tn_attr_float(name, is_negative ? -real : real);
	r->at += n;
	return true;
}

static bool string(struct reader *r, const char *name, struct tn_attr *out)
{
	size_t n = strcspn(r->at, "\"");

	if (!r->at[n])
		return false;
	*out = tn_attr_string(name, tn_arena_strndup(r->arena, r->at, n));
	r->at += n + 1;
	return out->u.s != NULL;
}

static bool value(struct reader *r, const char *name, struct tn_attr *out)
{
	const char *text;

	if (eat(r, '['))
		return list(r, name, out);
	if (eat(r, '"'))
		return string(r, name, out);
	if (!tn_ascii_is_letter(*r->at))
		return number(r, name, out);
	text = word(r);
	if (!text)
		return false;
	if (!strcmp(text, "true") || !strcmp(text, "false")) {
		*out = tn_attr_bool(name, text[0] == 't');
		return true;
	}
	*out = tn_attr_dtype(name, tn_dtype_find(text));
	return out->u.dtype != TN_DTYPE_COUNT;
}

static bool has(const struct tn_op_info *info, const char *name)
{
	int i;

	for (i = 0; i < info->nattrs; i++)
		if (!strcmp(info->attrs[i].name, name))
			return true;
	return false;
}

int tn_plugin_attrs(struct tn_arena *arena, const struct tn_op_info *info,
		    const char *text, struct tn_attr *out)
{
	struct reader r = { arena, text ? text : "" };
	const char *name;
	int n = 0;

	for (skip(&r); *r.at; n++) {
		if (n > 0 && !eat(&r, ','))
			return -1;
		name = word(&r);
		if (n == TN_PLUGIN_ATTRS || !name || !has(info, name) ||
		    !eat(&r, '=') || !value(&r, name, &out[n]))
			return -1;
		skip(&r);
	}
	return n;
}
