/*
 * The sink: sources, reports, and the table of codes.
 *
 * All of it lives in the sink's arena. What does not fit, because the limit
 * is reached or memory is out, goes to the scratch diagnostic, which drops
 * everything added to it; the counts stay right.
 */
#include "base/diag.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

const struct tn_code_info tn_codes[TN_CODE_COUNT] = {
#define DIAG(code, severity, title, text) {#code, severity, title, text},
#include "base/diag.def"
#undef DIAG
};

/* Longer texts are cut: a name of the input may be of any length. */
#define LONGEST_TEXT 1000

void tn_sink_init(struct tn_sink *sink)
{
	*sink = (struct tn_sink){0};
	tn_arena_init(&sink->arena);
	tn_vec_init(&sink->sources, sizeof(struct tn_source), NULL);
	tn_vec_init(&sink->diags, sizeof(struct tn_diag *), NULL);
	tn_vec_init(&sink->scratch.labels, sizeof(struct tn_label), NULL);
	tn_vec_init(&sink->scratch.notes, sizeof(const char *), NULL);
}

void tn_sink_fini(struct tn_sink *sink)
{
	tn_vec_fini(&sink->sources);
	tn_vec_fini(&sink->diags);
	tn_arena_fini(&sink->arena);
	tn_sink_init(sink);
}

/* The offsets at which lines start; a text has at least one line. */
static const uint32_t *lines_make(struct tn_arena *arena, const char *text,
				  size_t size, uint32_t *nlines)
{
	const char *at, *end = text + size;
	uint32_t count = 1, *lines;

	for (at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		count++;
	lines = tn_arena_array(arena, count, sizeof(*lines));
	if (!lines)
		return NULL;
	*nlines = count;
	count = 1;
	for (at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		lines[count++] = (uint32_t)(at + 1 - text);
	return lines;
}

uint32_t tn_sink_add_source(struct tn_sink *sink, const char *name,
			    const char *text, size_t size)
{
	struct tn_source source = {.size = size}, *at;

	if (size >= UINT32_MAX || sink->sources.len >= UINT32_MAX - 1) {
		sink->failed = true;
		return 0;
	}
	source.name = tn_arena_strndup(&sink->arena, name, strlen(name));
	source.text = tn_arena_strndup(&sink->arena, text, size);
	if (source.text)
		source.lines = lines_make(&sink->arena, source.text, size,
					  &source.nlines);
	at = source.name && source.lines ? tn_vec_push(&sink->sources) : NULL;
	if (!at) {
		sink->failed = true;
		return 0;
	}
	*at = source;
	return (uint32_t)sink->sources.len;
}

static uint32_t line_find(const struct tn_source *source, uint32_t offset)
{
	uint32_t low = 0, high = source->nlines;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (source->lines[mid] <= offset)
			low = mid;
		else
			high = mid;
	}
	return low;
}

void tn_sink_locate(const struct tn_sink *sink, uint32_t file,
		    uint32_t offset, uint32_t *line, uint32_t *column)
{
	const struct tn_source *source;
	uint32_t at;

	*line = *column = 0;
	if (file == 0 || file > sink->sources.len)
		return;
	source = tn_vec_at(&sink->sources, file - 1);
	if (offset > source->size)
		offset = (uint32_t)source->size;
	*line = line_find(source, offset) + 1;
	*column = 1;
	for (at = source->lines[*line - 1]; at < offset; ) {
		uint32_t point;

		at += (uint32_t)tn_utf8_next(source->text + at,
					     source->size - at, &point);
		if (at <= offset)
			++*column;
	}
}

const char *tn_sink_place(const struct tn_sink *sink, struct tn_span span,
			  uint32_t *line, uint32_t *column)
{
	const struct tn_source *source;

	if (!span.file || span.file > sink->sources.len)
		return NULL;
	source = tn_vec_at(&sink->sources, span.file - 1);
	tn_sink_locate(sink, span.file, span.begin, line, column);
	return source->name;
}

uint32_t tn_sink_line(const struct tn_sink *sink, uint32_t file,
		      uint32_t offset)
{
	if (file == 0 || file > sink->sources.len)
		return 0;
	return line_find(tn_vec_at(&sink->sources, file - 1), offset) + 1;
}

static bool is_scratch(const struct tn_sink *sink, const struct tn_diag *diag)
{
	return diag == &sink->scratch;
}

static struct tn_diag *diag_new(struct tn_sink *sink, enum tn_code code,
				struct tn_span span)
{
	struct tn_diag *diag = tn_arena_alloc(&sink->arena, sizeof(*diag));
	struct tn_label *label;

	if (!diag)
		return NULL;
	diag->code = code;
	tn_vec_init(&diag->labels, sizeof(struct tn_label), &sink->arena);
	tn_vec_init(&diag->notes, sizeof(const char *), &sink->arena);
	label = tn_vec_push(&diag->labels);
	if (!label)
		return NULL;
	label->span = span;
	return diag;
}

/* Formatted text of bounded length, whatever names the input has. */
static const char *text_format(struct tn_arena *arena, const char *format,
			       va_list args)
	__attribute__((format(printf, 2, 0)));

static const char *text_format(struct tn_arena *arena, const char *format,
			       va_list args)
{
	char *text = tn_arena_vprintf(arena, format, args);
	size_t end = LONGEST_TEXT;

	if (!text || strnlen(text, LONGEST_TEXT + 4) < LONGEST_TEXT + 4)
		return text;
	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	strcpy(text + end, "...");
	return text;
}

struct tn_diag *tn_diag_report(struct tn_sink *sink, enum tn_code code,
			       struct tn_span span, const char *format, ...)
{
	bool warn = tn_codes[code].severity == TN_WARNING;
	uint32_t *count = warn ? &sink->warnings : &sink->errors;
	struct tn_diag *diag;
	va_list args;

	if (*count < UINT32_MAX)
		++*count;
	if (*count > TN_DIAG_LIMIT)
		return &sink->scratch;
	diag = diag_new(sink, code, span);
	if (diag) {
		va_start(args, format);
		diag->message = text_format(&sink->arena, format, args);
		va_end(args);
	}
	if (!diag || !diag->message || !tn_vec_push_ptr(&sink->diags, diag)) {
		sink->failed = true;
		return &sink->scratch;
	}
	return diag;
}

/* Formatted text for `diag`; NULL for the scratch one or without memory. */
static const char *text_make(struct tn_sink *sink, const struct tn_diag *diag,
			     const char *format, va_list args)
	__attribute__((format(printf, 3, 0)));

static const char *text_make(struct tn_sink *sink, const struct tn_diag *diag,
			     const char *format, va_list args)
{
	const char *text;

	if (is_scratch(sink, diag))
		return NULL;
	text = text_format(&sink->arena, format, args);
	if (!text)
		sink->failed = true;
	return text;
}

void tn_diag_label(struct tn_sink *sink, struct tn_diag *diag,
		   const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = text_make(sink, diag, format, args);
	va_end(args);
	if (text) {
		struct tn_label *label = tn_vec_at(&diag->labels, 0);

		label->text = text;
	}
}

/* The file's name may hold colons: the first two numbers between colons end
 * it. */
void tn_diag_place(struct tn_sink *sink, struct tn_diag *diag,
		   const char *place)
{
	unsigned line, column;
	const char *at;
	int used;

	for (at = strchr(place, ':'); at; at = strchr(at + 1, ':')) {
		used = 0;
		if (sscanf(at, ":%9u:%9u%n", &line, &column, &used) < 2 ||
		    (at[used] && at[used] != ':'))
			continue;
		if (is_scratch(sink, diag))
			return;
		diag->file = tn_arena_strndup(&sink->arena, place,
					      (size_t)(at - place));
		diag->line = line;
		diag->column = column;
		sink->failed = sink->failed || !diag->file;
		return;
	}
}

static bool has_label(const struct tn_diag *diag, struct tn_span span,
		      const char *text)
{
	size_t i;

	for (i = 0; i < diag->labels.len; i++) {
		const struct tn_label *label = tn_vec_at(&diag->labels, i);

		if (label->span.file == span.file &&
		    label->span.begin == span.begin &&
		    label->span.end == span.end && label->text &&
		    !strcmp(label->text, text))
			return true;
	}
	return false;
}

void tn_diag_also(struct tn_sink *sink, struct tn_diag *diag,
		  struct tn_span span, const char *format, ...)
{
	struct tn_label *label;
	const char *text;
	va_list args;

	va_start(args, format);
	text = text_make(sink, diag, format, args);
	va_end(args);
	if (!text || has_label(diag, span, text))
		return;
	label = tn_vec_push(&diag->labels);
	if (label)
		*label = (struct tn_label){span, text};
	else
		sink->failed = true;
}

void tn_diag_note(struct tn_sink *sink, struct tn_diag *diag,
		  const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = text_make(sink, diag, format, args);
	va_end(args);
	if (text && !tn_vec_push_ptr(&diag->notes, text))
		sink->failed = true;
}

void tn_diag_help(struct tn_sink *sink, struct tn_diag *diag,
		  const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = text_make(sink, diag, format, args);
	va_end(args);
	if (text)
		diag->help = text;
}

void tn_diag_fix(struct tn_sink *sink, struct tn_diag *diag,
		 struct tn_span span, const char *text)
{
	char *copy;

	if (is_scratch(sink, diag))
		return;
	copy = tn_arena_strndup(&sink->arena, text, strlen(text));
	if (!copy) {
		sink->failed = true;
		return;
	}
	diag->edit = span;
	diag->insert = copy;
}

enum tn_code tn_code_find(const char *name)
{
	int code;

	for (code = 0; code < TN_CODE_COUNT; code++)
		if (strcmp(tn_codes[code].name, name) == 0)
			break;
	return (enum tn_code)code;
}
