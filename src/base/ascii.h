/*
 * Letters and digits of ASCII, whatever the locale: what names are made of.
 * Bytes above 127 are neither.
 */
#ifndef TN_BASE_ASCII_H
#define TN_BASE_ASCII_H

#include <stdbool.h>

static inline bool tn_ascii_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool tn_ascii_is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What an identifier begins with. */
static inline bool tn_ascii_is_head(char c)
{
	return tn_ascii_is_letter(c) || c == '_';
}

/* What an identifier goes on with. */
static inline bool tn_ascii_is_word(char c)
{
	return tn_ascii_is_head(c) || tn_ascii_is_digit(c);
}

static inline char tn_ascii_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

#endif
