/*
 * Diagnostics as JSON lines: one object a diagnostic, for editors and tests.
 *
 *   {"code":"E0101","severity":"error","message":"...","file":"a.tn",
 *    "line":1,"column":5,"end_line":1,"end_column":6,"label":null,
 *    "labels":[],"notes":[],"help":null,"edit":null}
 *
 * Columns count code points from 1. What the limit left out is one last line,
 * {"more_errors":N,"more_warnings":M}.
 */
#include "base/diag.h"

static void put_text(struct tn_buf *out, const char *text)
{
	if (text)
		tn_buf_put_json(out, text);
	else
		tn_buf_put(out, "null");
}

/* The five fields of a place, without braces. */
static void put_span(const struct tn_sink *sink, struct tn_buf *out,
		     struct tn_span span)
{
	uint32_t line, column, end_line, end_column;
	const struct tn_source *source;

	if (span.file == 0 || span.file > sink->sources.len) {
		tn_buf_put(out, "\"file\":null,\"line\":null,\"column\":null,"
			   "\"end_line\":null,\"end_column\":null");
		return;
	}
	source = tn_vec_at(&sink->sources, span.file - 1);
	tn_sink_locate(sink, span.file, span.begin, &line, &column);
	tn_sink_locate(sink, span.file, span.end, &end_line, &end_column);
	tn_buf_put(out, "\"file\":");
	tn_buf_put_json(out, source->name);
	tn_buf_putf(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,"
		    "\"end_column\":%u", (unsigned)line, (unsigned)column,
		    (unsigned)end_line, (unsigned)end_column);
}

/* The main place; one without text is a point. */
static void put_place(const struct tn_sink *sink, struct tn_buf *out,
		      const struct tn_diag *diag)
{
	const struct tn_label *main = tn_vec_at(&diag->labels, 0);

	if (main->span.file || !diag->file) {
		put_span(sink, out, main->span);
		return;
	}
	tn_buf_put(out, "\"file\":");
	tn_buf_put_json(out, diag->file);
	tn_buf_putf(out, ",\"line\":%u,\"column\":%u,\"end_line\":%u,"
		    "\"end_column\":%u", (unsigned)diag->line,
		    (unsigned)diag->column, (unsigned)diag->line,
		    (unsigned)diag->column);
}

static void put_labels(const struct tn_sink *sink, struct tn_buf *out,
		       const struct tn_diag *diag)
{
	size_t i;

	tn_buf_put(out, ",\"labels\":[");
	for (i = 1; i < diag->labels.len; i++) {
		const struct tn_label *label = tn_vec_at(&diag->labels, i);

		tn_buf_put(out, i > 1 ? ",{" : "{");
		put_span(sink, out, label->span);
		tn_buf_put(out, ",\"text\":");
		put_text(out, label->text);
		tn_buf_putc(out, '}');
	}
	tn_buf_putc(out, ']');
}

static void put_notes(struct tn_buf *out, const struct tn_diag *diag)
{
	size_t i;

	tn_buf_put(out, ",\"notes\":[");
	for (i = 0; i < diag->notes.len; i++) {
		if (i)
			tn_buf_putc(out, ',');
		tn_buf_put_json(out, tn_vec_ptr(&diag->notes, i));
	}
	tn_buf_putc(out, ']');
}

static void put_edit(const struct tn_sink *sink, struct tn_buf *out,
		     const struct tn_diag *diag)
{
	tn_buf_put(out, ",\"edit\":");
	if (!diag->insert) {
		tn_buf_put(out, "null");
		return;
	}
	tn_buf_putc(out, '{');
	put_span(sink, out, diag->edit);
	tn_buf_putf(out, ",\"begin\":%u,\"end\":%u,\"insert\":",
		    (unsigned)diag->edit.begin, (unsigned)diag->edit.end);
	tn_buf_put_json(out, diag->insert);
	tn_buf_putc(out, '}');
}

static void put_head(struct tn_buf *out, enum tn_code code,
		     const char *message)
{
	const struct tn_code_info *info = &tn_codes[code];

	tn_buf_putf(out, "{\"code\":\"%s\",\"severity\":\"%s\",\"message\":",
		    info->name,
		    info->severity == TN_WARNING ? "warning" : "error");
	tn_buf_put_json(out, message);
	tn_buf_putc(out, ',');
}

static void put_diag(const struct tn_sink *sink, struct tn_buf *out,
		     const struct tn_diag *diag)
{
	const struct tn_label *main = tn_vec_at(&diag->labels, 0);

	put_head(out, diag->code, diag->message);
	put_place(sink, out, diag);
	tn_buf_put(out, ",\"label\":");
	put_text(out, main->text);
	put_labels(sink, out, diag);
	put_notes(out, diag);
	tn_buf_put(out, ",\"help\":");
	put_text(out, diag->help);
	put_edit(sink, out, diag);
	tn_buf_put(out, "}\n");
}

static void put_out_of_memory(const struct tn_sink *sink, struct tn_buf *out)
{
	put_head(out, TN_E0001, tn_codes[TN_E0001].title);
	put_span(sink, out, (struct tn_span){0});
	tn_buf_put(out, ",\"label\":null,\"labels\":[],\"notes\":[],"
		   "\"help\":null,\"edit\":null}\n");
}

void tn_sink_render_json(const struct tn_sink *sink, struct tn_buf *out)
{
	uint32_t errors = sink->errors, warnings = sink->warnings;
	size_t i;

	for (i = 0; i < sink->diags.len; i++)
		put_diag(sink, out, tn_vec_ptr(&sink->diags, i));
	if (sink->failed)
		put_out_of_memory(sink, out);
	errors = errors > TN_DIAG_LIMIT ? errors - TN_DIAG_LIMIT : 0;
	warnings = warnings > TN_DIAG_LIMIT ? warnings - TN_DIAG_LIMIT : 0;
	if (errors || warnings)
		tn_buf_putf(out, "{\"more_errors\":%u,\"more_warnings\":%u}\n",
			    (unsigned)errors, (unsigned)warnings);
}
