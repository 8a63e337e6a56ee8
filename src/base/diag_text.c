/*
 * Diagnostics as text: place, message, the lines with marks under them, then
 * notes, help and fix.
 *
 *   gpt2.tn:31:14: error[E0312]: 'add' cannot combine these shapes
 *     31 |   return a + (m @ p.fc_b);
 *        |          -   ^^^^^^^^^^^^ f32[B, S]
 *        |          f32[B, S, 768]
 *        = help: ...
 *
 * Everything from a user's file is made safe on its way out (base/unit.h). A
 * line wider than WINDOW is cut around its main mark. Columns in here count
 * terminal columns from 0; those in a place count code points from 1.
 */
#include "base/diag.h"

#include <string.h>

#include "base/excerpt.h"
#include "base/unit.h"

/* Bytes of replaced text that a fix shows. */
#define FIX_SHOWN 60

static void put_styled(struct tn_page *page, enum tn_style style,
		       const char *text)
{
	tn_page_style(page, style);
	tn_buf_put(page->out, text);
	tn_page_style(page, TN_STYLE_PLAIN);
}

static void put_place(struct tn_page *page, struct tn_span span)
{
	const struct tn_source *source = tn_page_source(page, span.file);
	uint32_t line, column;

	tn_sink_locate(page->sink, span.file, span.begin, &line, &column);
	tn_unit_put(page->out, source->name, strlen(source->name));
	tn_buf_putf(page->out, ":%u:%u", (unsigned)line, (unsigned)column);
}

static void put_severity(struct tn_page *page, enum tn_code code)
{
	const struct tn_code_info *info = &tn_codes[code];

	if (info->severity == TN_WARNING)
		tn_page_style(page, TN_STYLE_WARNING);
	else
		tn_page_style(page, TN_STYLE_ERROR);
	tn_buf_putf(page->out, "%s[%s]:", info->severity == TN_WARNING ?
		    "warning" : "error", info->name);
	tn_page_style(page, TN_STYLE_PLAIN);
}

static void put_head(struct tn_page *page, const struct tn_diag *diag,
		     struct tn_span span)
{
	if (tn_page_source(page, span.file)) {
		tn_page_style(page, TN_STYLE_STRONG);
		put_place(page, span);
		tn_buf_putc(page->out, ':');
		tn_page_style(page, TN_STYLE_PLAIN);
		tn_buf_putc(page->out, ' ');
	} else if (diag->file) {
		tn_page_style(page, TN_STYLE_STRONG);
		tn_unit_put(page->out, diag->file, strlen(diag->file));
		tn_buf_putf(page->out, ":%u:%u:", (unsigned)diag->line,
			    (unsigned)diag->column);
		tn_page_style(page, TN_STYLE_PLAIN);
		tn_buf_putc(page->out, ' ');
	}
	put_severity(page, diag->code);
	tn_buf_putc(page->out, ' ');
	tn_page_style(page, TN_STYLE_STRONG);
	tn_unit_put(page->out, diag->message, strlen(diag->message));
	tn_page_style(page, TN_STYLE_PLAIN);
	tn_buf_putc(page->out, '\n');
}

/* "= word: ", and the column at which the text after it starts. */
static size_t put_tag(struct tn_page *page, const char *word)
{
	tn_buf_pad(page->out, ' ', 3 + page->digits);
	tn_buf_put(page->out, "= ");
	put_styled(page, TN_STYLE_STRONG, word);
	tn_buf_put(page->out, ": ");
	return 7 + page->digits + strlen(word);
}

/* A text of one or more lines, later ones under the first. */
static void put_remark(struct tn_page *page, const char *word,
		       const char *text)
{
	size_t indent = put_tag(page, word), len;

	for (;;) {
		len = strcspn(text, "\n");
		tn_unit_put(page->out, text, len);
		tn_buf_putc(page->out, '\n');
		if (text[len] == '\0' || text[len + 1] == '\0')
			break;
		text += len + 1;
		tn_buf_pad(page->out, ' ', indent);
	}
}

static void put_quoted(struct tn_buf *out, const char *text, size_t len)
{
	size_t shown = len < FIX_SHOWN ? len : FIX_SHOWN;

	tn_buf_putc(out, '`');
	tn_unit_put(out, text, shown);
	tn_buf_put(out, shown < len ? "...`" : "`");
}

static void put_fix(struct tn_page *page, const struct tn_diag *diag)
{
	const struct tn_source *source = tn_page_source(page, diag->edit.file);
	uint32_t line, column, begin = diag->edit.begin, end = diag->edit.end;

	if (!source)
		return;
	if (end > source->size)
		end = (uint32_t)source->size;
	tn_sink_locate(page->sink, diag->edit.file, begin, &line, &column);
	put_tag(page, "fix");
	tn_buf_putf(page->out, "at %u:%u ", (unsigned)line, (unsigned)column);
	if (begin >= end)
		tn_buf_put(page->out, "insert ");
	else
		tn_buf_put(page->out, diag->insert[0] ? "replace " :
			   "remove ");
	if (begin < end)
		put_quoted(page->out, source->text + begin, end - begin);
	if (begin < end && diag->insert[0])
		tn_buf_put(page->out, " by ");
	if (diag->insert[0])
		put_quoted(page->out, diag->insert, strlen(diag->insert));
	tn_buf_putc(page->out, '\n');
}

/* Digits of the greatest line number that will be shown. */
static unsigned digits_of(const struct tn_sink *sink,
			  const struct tn_diag *diag)
{
	uint32_t most = 0, line, column;
	unsigned digits = 0;
	size_t i;

	for (i = 0; i < diag->labels.len; i++) {
		const struct tn_label *label = tn_vec_at(&diag->labels, i);

		tn_sink_locate(sink, label->span.file, label->span.begin,
			       &line, &column);
		if (line > most)
			most = line;
	}
	for (; most; most /= 10)
		digits++;
	return digits;
}

static uint32_t file_of(const struct tn_diag *diag, size_t i)
{
	const struct tn_label *label = tn_vec_at(&diag->labels, i);

	return label->span.file;
}

static bool is_first_of_file(const struct tn_diag *diag, size_t i)
{
	size_t j;

	for (j = 0; j < i; j++)
		if (file_of(diag, j) == file_of(diag, i))
			return false;
	return true;
}

/* The excerpt of each file that has a label, the main one first. */
static void put_excerpts(struct tn_page *page, const struct tn_diag *diag)
{
	size_t i;

	for (i = 0; i < diag->labels.len; i++) {
		const struct tn_label *label = tn_vec_at(&diag->labels, i);

		if (!tn_page_source(page, label->span.file) ||
		    !is_first_of_file(diag, i))
			continue;
		if (i > 0) {
			tn_buf_pad(page->out, ' ', 2 + page->digits);
			put_styled(page, TN_STYLE_GUTTER, "::: ");
			put_place(page, label->span);
			tn_buf_putc(page->out, '\n');
		}
		tn_excerpt_put(page, diag, label->span.file);
	}
}

static void put_diag(struct tn_page *page, const struct tn_diag *diag)
{
	const struct tn_label *main = tn_vec_at(&diag->labels, 0);
	size_t i;

	page->digits = digits_of(page->sink, diag);
	put_head(page, diag, main->span);
	put_excerpts(page, diag);
	for (i = 0; i < diag->notes.len; i++)
		put_remark(page, "note", tn_vec_ptr(&diag->notes, i));
	if (diag->help)
		put_remark(page, "help", diag->help);
	if (diag->insert)
		put_fix(page, diag);
}

static void put_rest(struct tn_page *page, uint32_t count, const char *word)
{
	if (count > TN_DIAG_LIMIT)
		tn_buf_putf(page->out, "... and %u more %s%s\n",
			    (unsigned)(count - TN_DIAG_LIMIT), word,
			    count - TN_DIAG_LIMIT > 1 ? "s" : "");
}

void tn_sink_render(const struct tn_sink *sink, struct tn_buf *out,
		    bool colour)
{
	struct tn_page page = {.sink = sink, .out = out, .colour = colour};
	size_t i;

	for (i = 0; i < sink->diags.len; i++) {
		if (i)
			tn_buf_putc(out, '\n');
		put_diag(&page, tn_vec_ptr(&sink->diags, i));
	}
	if (sink->failed) {
		put_severity(&page, TN_E0001);
		tn_buf_putf(out, " %s\n", tn_codes[TN_E0001].title);
	}
	put_rest(&page, sink->errors, "error");
	put_rest(&page, sink->warnings, "warning");
}
