/*
 * A growing text buffer. Failure is sticky: after a failed append the buffer
 * stays as it was, further appends do nothing, `failed` tells.
 */
#ifndef TN_BASE_BUF_H
#define TN_BASE_BUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tn_buf {
	char *data;	/* NUL-terminated once anything was appended */
	size_t len, cap;
	bool failed;
};

void tn_buf_init(struct tn_buf *buf);
void tn_buf_fini(struct tn_buf *buf);
void tn_buf_clear(struct tn_buf *buf);
void tn_buf_put(struct tn_buf *buf, const char *text);
void tn_buf_putn(struct tn_buf *buf, const char *text, size_t len);
void tn_buf_putc(struct tn_buf *buf, char c);
void tn_buf_pad(struct tn_buf *buf, char c, size_t count);
void tn_buf_putf(struct tn_buf *buf, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void tn_buf_vputf(struct tn_buf *buf, const char *format, va_list args)
	__attribute__((format(printf, 2, 0)));
/* Appends `text` as a JSON string with quotes. */
void tn_buf_put_json(struct tn_buf *buf, const char *text);
/* The text, never NULL; borrowed. */
const char *tn_buf_text(const struct tn_buf *buf);
/* Gives the text away (caller frees with free); NULL if failed. */
char *tn_buf_take(struct tn_buf *buf);

#endif
