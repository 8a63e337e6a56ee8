/*
 * The text buffer: doubles from 64 bytes, always leaves room for a NUL.
 */
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numloc.h"
#include "base/utf8.h"

void tn_buf_init(struct tn_buf *buf)
{
	*buf = (struct tn_buf){0};
}

void tn_buf_fini(struct tn_buf *buf)
{
	free(buf->data);
	tn_buf_init(buf);
}

void tn_buf_clear(struct tn_buf *buf)
{
	buf->len = 0;
	buf->failed = false;
	if (buf->data)
		buf->data[0] = '\0';
}

/* Where `extra` more bytes and a NUL may be written; NULL once failed. */
static char *room(struct tn_buf *buf, size_t extra)
{
	size_t cap = buf->cap ? buf->cap : 64;
	char *data;

	if (buf->failed)
		return NULL;
	if (extra >= PTRDIFF_MAX / 2 - buf->len) {
		buf->failed = true;
		return NULL;
	}
	if (!buf->data || buf->len + extra >= buf->cap) {
		while (cap <= buf->len + extra)
			cap *= 2;
		data = realloc(buf->data, cap);
		if (!data) {
			buf->failed = true;
			return NULL;
		}
		buf->data = data;
		buf->cap = cap;
	}
	return buf->data + buf->len;
}

void tn_buf_putn(struct tn_buf *buf, const char *text, size_t len)
{
	char *at = room(buf, len);

	if (!at)
		return;
	if (len)
		memcpy(at, text, len);
	at[len] = '\0';
	buf->len += len;
}

void tn_buf_put(struct tn_buf *buf, const char *text)
{
	tn_buf_putn(buf, text, strlen(text));
}

void tn_buf_putc(struct tn_buf *buf, char c)
{
	tn_buf_putn(buf, &c, 1);
}

void tn_buf_pad(struct tn_buf *buf, char c, size_t count)
{
	char *at = room(buf, count);

	if (!at)
		return;
	memset(at, c, count);
	at[count] = '\0';
	buf->len += count;
}

void tn_buf_putf(struct tn_buf *buf, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tn_buf_vputf(buf, format, args);
	va_end(args);
}

void tn_buf_vputf(struct tn_buf *buf, const char *format, va_list args)
{
	struct tn_numloc loc;
	va_list again;
	char *at = NULL;
	int len = -1;

	va_copy(again, args);
	if (tn_numloc_enter(&loc))
		len = vsnprintf(NULL, 0, format, again);
	va_end(again);
	if (len < 0)
		buf->failed = true;
	else
		at = room(buf, (size_t)len);
	if (at) {
		vsnprintf(at, (size_t)len + 1, format, args);
		buf->len += (size_t)len;
	}
	tn_numloc_leave(&loc);
}

static void put_json_char(struct tn_buf *buf, const char *at, size_t len,
			  uint32_t point)
{
	if (point == '"' || point == '\\') {
		tn_buf_putc(buf, '\\');
		tn_buf_putc(buf, (char)point);
	} else if (point == '\n') {
		tn_buf_put(buf, "\\n");
	} else if (point == '\t') {
		tn_buf_put(buf, "\\t");
	} else if (point == '\r') {
		tn_buf_put(buf, "\\r");
	} else if (point < 0x20 || point == 0x7f) {
		tn_buf_putf(buf, "\\u%04x", (unsigned)point);
	} else if (point == TN_UTF8_BAD) {
		tn_buf_put(buf, "\\ufffd");
	} else {
		tn_buf_putn(buf, at, len);
	}
}

void tn_buf_put_json(struct tn_buf *buf, const char *text)
{
	size_t left = strlen(text);

	tn_buf_putc(buf, '"');
	while (left) {
		uint32_t point;
		size_t len = tn_utf8_next(text, left, &point);

		put_json_char(buf, text, len, point);
		text += len;
		left -= len;
	}
	tn_buf_putc(buf, '"');
}

const char *tn_buf_text(const struct tn_buf *buf)
{
	return buf->data ? buf->data : "";
}

char *tn_buf_take(struct tn_buf *buf)
{
	char *text;

	tn_buf_putn(buf, "", 0);
	if (buf->failed)
		return NULL;
	text = buf->data;
	tn_buf_init(buf);
	return text;
}
