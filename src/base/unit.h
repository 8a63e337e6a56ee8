/*
 * Text of a user as a terminal may see it, one display unit at a time.
 *
 * Tabs become spaces; control bytes and bytes that are not UTF-8 become
 * `\xNN`; line separators and marks that reverse the direction of writing
 * become `\u{NNNN}`, so that a file cannot make a message read as another.
 */
#ifndef TN_BASE_UNIT_H
#define TN_BASE_UNIT_H

#include <stddef.h>

#include "base/buf.h"

struct tn_unit {
	size_t bytes;		/* of the text */
	size_t width;		/* in columns */
	char shown[16];		/* NUL-terminated */
};

/* The unit at `text` (`len` > 0 bytes left), shown at `column` from 0. */
void tn_unit_next(const char *text, size_t len, size_t column,
		  struct tn_unit *unit);
/* Appends a text of `len` bytes; a newline shows as `\n`, a tab as a space. */
void tn_unit_put(struct tn_buf *out, const char *text, size_t len);

#endif
