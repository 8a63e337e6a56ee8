/*
 * Source excerpts. The labels of a file become marks, sorted by line and
 * column; each line with marks is shown once, followed by a row of carets
 * and dashes and by one row for each label text that does not fit on it:
 *
 *   3 | a + b + c
 *     | -   ^   - right
 *     | |   middle
 *     | left
 *
 * A label over several lines is marked to the end of its first line.
 */
#include "base/excerpt.h"

#include <stdlib.h>
#include <string.h>

#include "base/unit.h"

/* Columns shown of a longer line, and those before its anchor. */
#define WINDOW 120
#define BEFORE 60

struct mark {
	uint32_t line;		/* from 0 */
	size_t from, to;	/* columns; from < to */
	bool main;
	const char *text;	/* or NULL */
};

/* A line without its end, and the columns [from, to) of it to show. */
struct line {
	const char *text;
	size_t len;
	size_t width;		/* in columns */
	size_t from, to;
	size_t shift;		/* columns of the "..." before */
};

/* Marks of one row with their styles, byte for column. */
struct row {
	struct tn_buf chars, styles;
};

void tn_page_style(struct tn_page *page, enum tn_style style)
{
	static const char *const codes[] = {
		[TN_STYLE_PLAIN] = "\033[0m",
		[TN_STYLE_STRONG] = "\033[1m",
		[TN_STYLE_ERROR] = "\033[1;31m",
		[TN_STYLE_WARNING] = "\033[1;35m",
		[TN_STYLE_GUTTER] = "\033[1;34m",
		[TN_STYLE_SECOND] = "\033[1;36m",
	};

	if (page->colour)
		tn_buf_put(page->out, codes[style]);
}

const struct tn_source *tn_page_source(const struct tn_page *page,
				       uint32_t file)
{
	if (file == 0 || file > page->sink->sources.len)
		return NULL;
	return tn_vec_at(&page->sink->sources, file - 1);
}

/* Columns before byte `offset`; inside a unit: before it, or with `up`
 * after it. */
static size_t column_of(const struct line *line, size_t offset, bool up)
{
	size_t at = 0, column = 0;
	struct tn_unit unit;

	while (at < offset && at < line->len) {
		tn_unit_next(line->text + at, line->len - at, column, &unit);
		at += unit.bytes;
		if (at > offset && !up)
			break;
		column += unit.width;
	}
	return column;
}

static struct line line_of(const struct tn_source *source, uint32_t number)
{
	size_t begin = source->lines[number], end = source->size;
	struct line line = {0};

	if (number + 1 < source->nlines)
		end = source->lines[number + 1] - 1;
	if (end > begin && source->text[end - 1] == '\r')
		end--;
	line.text = source->text + begin;
	line.len = end - begin;
	line.width = column_of(&line, line.len, true);
	line.to = line.width;
	return line;
}

static void line_window(struct line *line, size_t anchor)
{
	if (line->width <= WINDOW)
		return;
	line->from = anchor > BEFORE ? anchor - BEFORE : 0;
	if (line->from > line->width - WINDOW)
		line->from = line->width - WINDOW;
	line->to = line->from + WINDOW;
	line->shift = line->from ? 3 : 0;
}

/* A column of the line as a column of the page, held inside the window. */
static size_t column_shown(const struct line *line, size_t column)
{
	if (line->width <= WINDOW)
		return column;
	if (column < line->from)
		column = line->from;
	if (column > line->to)
		column = line->to;
	return column - line->from + line->shift;
}

static struct mark mark_of(const struct tn_sink *sink,
			   const struct tn_source *source,
			   const struct tn_label *label)
{
	struct mark mark = {.text = label->text};
	uint32_t number, column;
	struct line line;
	size_t begin = label->span.begin, end = label->span.end, start;

	tn_sink_locate(sink, label->span.file, label->span.begin, &number,
		       &column);
	mark.line = number - 1;
	line = line_of(source, mark.line);
	start = source->lines[mark.line];
	mark.from = column_of(&line, begin - start, false);
	mark.to = end > start ? column_of(&line, end - start, true) : 0;
	if (mark.to <= mark.from)
		mark.to = mark.from + 1;
	if (mark.text && !mark.text[0])
		mark.text = NULL;
	return mark;
}

static int mark_order(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (int)y->main - (int)x->main;
}

static void put_gutter(struct tn_page *page, uint32_t number)
{
	tn_page_style(page, TN_STYLE_GUTTER);
	if (number)
		tn_buf_putf(page->out, "  %*u |", (int)page->digits,
			    (unsigned)number);
	else
		tn_buf_putf(page->out, "  %*s |", (int)page->digits, "");
	tn_page_style(page, TN_STYLE_PLAIN);
}

static void put_line(struct tn_page *page, const struct line *line,
		     uint32_t number)
{
	size_t at, column = 0;
	struct tn_unit unit;

	put_gutter(page, number + 1);
	if (line->len)
		tn_buf_putc(page->out, ' ');
	if (line->shift)
		tn_buf_put(page->out, "...");
	for (at = 0; at < line->len && column < line->to; at += unit.bytes) {
		tn_unit_next(line->text + at, line->len - at, column, &unit);
		column += unit.width;
		if (column > line->to || column <= line->from)
			continue;
		if (column - line->from >= unit.width)
			tn_buf_put(page->out, unit.shown);
		else
			tn_buf_pad(page->out, ' ', column - line->from);
	}
	tn_buf_put(page->out, line->to < line->width ? "...\n" : "\n");
}

static void row_set(struct row *row, size_t column, char c, bool main)
{
	if (row->chars.len <= column) {
		size_t more = column + 1 - row->chars.len;

		tn_buf_pad(&row->chars, ' ', more);
		tn_buf_pad(&row->styles, ' ', more);
	}
	if (row->chars.failed || row->styles.failed)
		return;
	row->chars.data[column] = c;
	if (c != ' ')
		row->styles.data[column] = main ? 'm' : 's';
}

static enum tn_style style_of(const struct tn_diag *diag, bool main)
{
	if (!main)
		return TN_STYLE_SECOND;
	return tn_codes[diag->code].severity == TN_WARNING ?
		TN_STYLE_WARNING : TN_STYLE_ERROR;
}

/* Puts the row, then `text` in the style of the mark it belongs to. */
static void row_put(struct tn_page *page, const struct tn_diag *diag,
		    const struct row *row, const struct mark *mark)
{
	char style = ' ';
	size_t i;

	put_gutter(page, 0);
	tn_buf_putc(page->out, ' ');
	for (i = 0; i < row->chars.len && !row->styles.failed; i++) {
		if (row->styles.data[i] != style) {
			tn_page_style(page, TN_STYLE_PLAIN);
			style = row->styles.data[i];
			if (style != ' ')
				tn_page_style(page,
					      style_of(diag, style == 'm'));
		}
		tn_buf_putc(page->out, row->chars.data[i]);
	}
	if (style != ' ')
		tn_page_style(page, TN_STYLE_PLAIN);
	if (mark) {
		tn_page_style(page, style_of(diag, mark->main));
		tn_unit_put(page->out, mark->text, strlen(mark->text));
		tn_page_style(page, TN_STYLE_PLAIN);
	}
	tn_buf_putc(page->out, '\n');
	if (row->chars.failed || row->styles.failed)
		page->out->failed = true;
}

static void row_fini(struct row *row)
{
	tn_buf_fini(&row->chars);
	tn_buf_fini(&row->styles);
}

static void row_fill(struct row *row, const struct mark *mark)
{
	size_t column;

	for (column = mark->from; column < mark->to; column++)
		row_set(row, column, mark->main ? '^' : '-', mark->main);
}

/* The carets and dashes; tells whether the last mark's text went there. */
static bool put_underline(struct tn_page *page, const struct tn_diag *diag,
			  const struct mark *marks, size_t count)
{
	const struct mark *last = &marks[count - 1];
	struct row row = {0};
	bool beside = last->text != NULL;
	size_t i;

	for (i = 0; i < count; i++)
		if (!marks[i].main)
			row_fill(&row, &marks[i]);
	for (i = 0; i < count; i++)
		if (marks[i].main)
			row_fill(&row, &marks[i]);
	for (i = 0; i + 1 < count; i++)
		if (marks[i].to > last->to || (marks[i].text &&
					       marks[i].from == last->from))
			beside = false;
	if (beside)
		row_set(&row, last->to, ' ', false);
	row_put(page, diag, &row, beside ? last : NULL);
	row_fini(&row);
	return beside;
}

/* One row for the text of marks[at]: bars of those to its left, then it. */
static void put_hanging(struct tn_page *page, const struct tn_diag *diag,
			const struct mark *marks, size_t at)
{
	struct row row = {0};
	size_t i;

	if (marks[at].from)
		row_set(&row, marks[at].from - 1, ' ', false);
	for (i = 0; i < at; i++)
		if (marks[i].text && marks[i].from < marks[at].from)
			row_set(&row, marks[i].from, '|', marks[i].main);
	row_put(page, diag, &row, &marks[at]);
	row_fini(&row);
}

/* The column to keep in view: that of the main mark, else of the first. */
static size_t anchor_of(const struct mark *marks, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (marks[i].main)
			return marks[i].from;
	return marks[0].from;
}

static void put_marked_line(struct tn_page *page, const struct tn_diag *diag,
			    const struct tn_source *source,
			    struct mark *marks, size_t count)
{
	struct line line = line_of(source, marks[0].line);
	size_t i;

	line_window(&line, anchor_of(marks, count));
	put_line(page, &line, marks[0].line);
	for (i = 0; i < count; i++) {
		marks[i].from = column_shown(&line, marks[i].from);
		marks[i].to = column_shown(&line, marks[i].to);
		if (marks[i].to <= marks[i].from)
			marks[i].to = marks[i].from + 1;
	}
	if (put_underline(page, diag, marks, count))
		count--;
	while (count-- > 0)
		if (marks[count].text)
			put_hanging(page, diag, marks, count);
}

/* What lies between two marked lines: nothing, the one line, or dots. */
static void put_between(struct tn_page *page, const struct tn_source *source,
			uint32_t before, uint32_t after)
{
	if (after - before == 2) {
		struct line line = line_of(source, before + 1);

		line_window(&line, 0);
		put_line(page, &line, before + 1);
	} else if (after - before > 2) {
		tn_page_style(page, TN_STYLE_GUTTER);
		tn_buf_put(page->out, "  ...");
		tn_page_style(page, TN_STYLE_PLAIN);
		tn_buf_putc(page->out, '\n');
	}
}

static size_t collect(const struct tn_page *page, const struct tn_diag *diag,
		      uint32_t file, struct mark *marks)
{
	const struct tn_source *source = tn_page_source(page, file);
	size_t i, count = 0;

	for (i = 0; i < diag->labels.len; i++) {
		const struct tn_label *label = tn_vec_at(&diag->labels, i);

		if (label->span.file != file)
			continue;
		marks[count] = mark_of(page->sink, source, label);
		marks[count++].main = i == 0;
	}
	qsort(marks, count, sizeof(*marks), mark_order);
	return count;
}

void tn_excerpt_put(struct tn_page *page, const struct tn_diag *diag,
		    uint32_t file)
{
	const struct tn_source *source = tn_page_source(page, file);
	struct mark *marks = calloc(diag->labels.len, sizeof(*marks));
	size_t count, i, next;

	if (!marks) {
		page->out->failed = true;
		return;
	}
	count = collect(page, diag, file, marks);
	for (i = 0; i < count; i = next) {
		for (next = i + 1; next < count; next++)
			if (marks[next].line != marks[i].line)
				break;
		if (i)
			put_between(page, source, marks[i - 1].line,
				    marks[i].line);
		put_marked_line(page, diag, source, marks + i, next - i);
	}
	free(marks);
}
