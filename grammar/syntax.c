/*
 * The whole way from a source to its tree; see syntax.h.
 */
#include "grammar/syntax.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "grammar/lex.h"
#include "grammar/parse.h"

/* Reports texts that the scanner must not see; false if there is a fault. */
static bool is_readable(struct tn_parser *p, const struct tn_source *source)
{
	struct tn_loc loc = { 0, 0 };
	const char *nul;

	if (source->size > INT_MAX - 2) {
		tn_scan_fault(&p->scan, TN_E0118, loc,
			      "the text is larger than 2 GiB");
		return false;
	}
	nul = memchr(source->text, '\0', source->size);
	if (nul == NULL)
		return true;
	loc.begin = (uint32_t)(nul - source->text);
	loc.end = loc.begin + 1;
	tn_scan_fault(&p->scan, TN_E0108, loc, "NUL byte in the text");
	return false;
}

static void parse(struct tn_parser *p, const struct tn_source *source)
{
	if (source->size >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0)
		p->start = 3;
	p->last.loc.begin = p->last.loc.end = p->start;
	if (!tn_scan_open(&p->scan, p->start) || tn_parse_parse(p) == 2)
		p->scan.arena->failed = true;
	tn_scan_close(&p->scan);
}

struct tn_tree *tn_parse_marking(struct tn_sink *sink,
				 struct tn_intern *intern,
				 struct tn_arena *arena, uint32_t file,
				 struct tn_vec *marks)
{
	const struct tn_source *source = tn_vec_at(&sink->sources, file - 1);
	struct tn_parser *p = calloc(1, sizeof(*p));
	struct tn_span none = { 0, 0, 0 };
	struct tn_tree *tree = tn_arena_alloc(arena, sizeof(*tree));

	if (p != NULL && tree != NULL) {
		p->scan.sink = sink;
		p->scan.intern = intern;
		p->scan.arena = arena;
		p->scan.file = file;
		p->tree = tree;
		p->marks = marks;
		tree->file = file;
		tn_vec_init(&p->items, sizeof(void *), arena);
		if (is_readable(p, source))
			parse(p, source);
		tree->at = p->items.data;
		tree->len = (uint32_t)p->items.len;
		tree->errors = p->scan.errors;
	}
	if (p == NULL || tree == NULL || arena->failed) {
		tn_diag_report(sink, TN_E0001, none, "out of memory");
		tree = NULL;
	}
	free(p);
	return tree;
}

struct tn_tree *tn_parse(struct tn_sink *sink, struct tn_intern *intern,
			 struct tn_arena *arena, uint32_t file)
{
	return tn_parse_marking(sink, intern, arena, file, NULL);
}
