/*
 * Texts and integers that are safe to print into C: comments, strings,
 * constants. And what is told of a kernel that was printed.
 */
#include "backends/emit.h"

#include <string.h>

#include "base/utf8.h"

void tn_emit_comment(struct tn_buf *out, const char *text,
		     const char *indent)
{
	size_t left = strlen(text), step;
	uint32_t point;
	char last = 0;

	for (; left; text += step, left -= step) {
		step = tn_utf8_next(text, left, &point);
		if (point == '\n') {
			if (last == '\\')
				tn_buf_putc(out, '.');
			tn_buf_putf(out, "\n%s", indent);
		} else if (point == TN_UTF8_BAD || point < 32 ||
			   point == 127) {
			tn_buf_putf(out, "\\x%02x", (unsigned char)*text);
		} else if (point > 127) {
			tn_buf_putf(out, "\\u{%x}", (unsigned)point);
		} else {
			if ((last == '*' && *text == '/') ||
			    (last == '/' && *text == '*') ||
			    (last == '?' && *text == '?'))
				tn_buf_putc(out, ' ');
			tn_buf_putc(out, *text);
		}
		last = point < 128 ? *text : 0;
	}
	if (last == '\\' || last == '*' || last == '/')
		tn_buf_putc(out, ' ');
}

void tn_emit_string(struct tn_buf *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	tn_buf_putc(out, '"');
	for (; *at; at++) {
		if (*at == '\n')
			tn_buf_put(out, "\\n");
		else if (*at < 32 || *at > 126 || *at == '?')
			tn_buf_putf(out, "\\%03o", *at);
		else if (*at == '"' || *at == '\\')
			tn_buf_putf(out, "\\%c", *at);
		else
			tn_buf_putc(out, (char)*at);
	}
	tn_buf_putc(out, '"');
}

void tn_emit_int(struct tn_buf *out, enum tn_dtype dtype, int64_t value)
{
	if (tn_dtype_is(dtype, TN_KIND_U))
		tn_buf_putf(out, "%lluu", (unsigned long long)value);
	else if (value == INT64_MIN)
		tn_buf_put(out, "INT64_MIN");
	else if (dtype == TN_i32 && value == INT32_MIN)
		tn_buf_put(out, "INT32_MIN");
	else
		tn_buf_putf(out, "%lld", (long long)value);
}

void tn_emit_tell(const struct tn_kernel *kernel,
		  const struct tn_target *target, const char *function,
		  size_t bytes)
{
	struct tn_events *events = kernel->module->events;

	tn_event_begin(events, "kernel");
	tn_event_text(events, "target", target->name);
	tn_event_text(events, "kernel", kernel->name);
	tn_event_text(events, "function", function);
	tn_event_int(events, "params", kernel->nparams);
	tn_event_int(events, "scratch", kernel->scratch_bytes);
	tn_event_int(events, "bytes", (int64_t)bytes);
	tn_event_end(events);
}
