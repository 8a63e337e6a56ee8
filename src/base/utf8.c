/*
 * UTF-8 decoding and the width of a code point on a terminal.
 */
#include "base/utf8.h"

#include <stdbool.h>

/* Length a lead byte announces, and the payload it carries; 0: no lead. */
static size_t lead(unsigned char byte, uint32_t *point)
{
	if (byte < 0x80) {
		*point = byte;
		return 1;
	}
	if (byte >= 0xc2 && byte <= 0xdf) {
		*point = byte & 0x1fu;
		return 2;
	}
	if (byte >= 0xe0 && byte <= 0xef) {
		*point = byte & 0x0fu;
		return 3;
	}
	if (byte >= 0xf0 && byte <= 0xf4) {
		*point = byte & 0x07u;
		return 4;
	}
	return 0;
}

static bool is_well_formed(uint32_t point, size_t len)
{
	if (len == 3)
		return point >= 0x800 && !(point >= 0xd800 && point <= 0xdfff);
	if (len == 4)
		return point >= 0x10000 && point <= 0x10ffff;
	return true;
}

size_t tn_utf8_next(const char *text, size_t len, uint32_t *point)
{
	uint32_t value = 0;
	size_t need = lead((unsigned char)text[0], &value), i;

	*point = TN_UTF8_BAD;
	if (need == 0 || need > len)
		return 1;
	for (i = 1; i < need; i++) {
		unsigned char byte = (unsigned char)text[i];

		if ((byte & 0xc0) != 0x80)
			return 1;
		value = value << 6 | (byte & 0x3fu);
	}
	if (!is_well_formed(value, need))
		return 1;
	*point = value;
	return need;
}

struct range {
	uint32_t first, last;
};

static bool is_in(uint32_t point, const struct range *ranges, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (point >= ranges[i].first && point <= ranges[i].last)
			return true;
	return false;
}

/* The blocks of Unicode 15 that matter in source text; not every character. */
unsigned tn_utf8_width(uint32_t point)
{
	static const struct range combining[] = {
		{0x0300, 0x036f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
		{0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f},
	};
	static const struct range wide[] = {
		{0x1100, 0x115f}, {0x2e80, 0x303e}, {0x3041, 0xa4cf},
		{0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f},
		{0xff00, 0xff60}, {0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
		{0x1f680, 0x1f6ff}, {0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
	};

	if (is_in(point, combining, sizeof(combining) / sizeof(combining[0])))
		return 0;
	return is_in(point, wide, sizeof(wide) / sizeof(wide[0])) ? 2 : 1;
}
