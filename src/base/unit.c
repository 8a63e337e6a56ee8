/*
 * Display units: what of a text may reach the terminal as it is.
 */
#include "base/unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define TAB 8

static bool is_control(uint32_t point)
{
	return point < 0x20 || point == 0x7f || point == TN_UTF8_BAD;
}

/* C1 controls, zero-width and direction marks, separators, byte order mark. */
static bool is_deceptive(uint32_t point)
{
	return (point >= 0x80 && point <= 0x9f) ||
		(point >= 0x200b && point <= 0x200f) ||
		(point >= 0x2028 && point <= 0x202e) ||
		(point >= 0x2060 && point <= 0x2069) || point == 0xfeff ||
		point == 0x061c;
}

void tn_unit_next(const char *text, size_t len, size_t column,
		  struct tn_unit *unit)
{
	uint32_t point;

	*unit = (struct tn_unit){0};
	unit->bytes = tn_utf8_next(text, len, &point);
	if (point == '\t') {
		unit->width = TAB - column % TAB;
		memset(unit->shown, ' ', unit->width);
	} else if (is_control(point)) {
		snprintf(unit->shown, sizeof(unit->shown), "\\x%02x",
			 (unsigned)(unsigned char)text[0]);
		unit->width = strlen(unit->shown);
	} else if (is_deceptive(point)) {
		snprintf(unit->shown, sizeof(unit->shown), "\\u{%x}",
			 (unsigned)point);
		unit->width = strlen(unit->shown);
	} else {
		memcpy(unit->shown, text, unit->bytes);
		unit->width = tn_utf8_width(point);
	}
}

void tn_unit_put(struct tn_buf *out, const char *text, size_t len)
{
	while (len) {
		struct tn_unit unit;

		tn_unit_next(text, len, TAB - 1, &unit);
		tn_buf_put(out, text[0] == '\n' ? "\\n" : unit.shown);
		text += unit.bytes;
		len -= unit.bytes;
	}
}
