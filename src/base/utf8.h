/*
 * UTF-8 (RFC 3629): one code point at a time, never past the end.
 */
#ifndef TN_BASE_UTF8_H
#define TN_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

#define TN_UTF8_BAD UINT32_MAX

/* Reads the code point at `text`, of which `len` > 0 bytes are left. Gives
 * its length in bytes; a byte that starts no well-formed sequence (overlong,
 * surrogate, beyond U+10FFFF, cut off) has length 1 and is TN_UTF8_BAD. */
size_t tn_utf8_next(const char *text, size_t len, uint32_t *point);
/* Columns of a terminal that a printable code point takes: 0, 1 or 2. */
unsigned tn_utf8_width(uint32_t point);

#endif
