/*
 * Literals: numbers, strings and quoted names from their spelling.
 *
 *   0x1.8p-3_f16   FLOAT 0.1875, suffix "f16", text "0x1.8p-3"
 *   "a\u{e9}\n"    the five bytes 61 c3 a9 0a and their end
 *
 * Faults (E0110 to E0113, E0119) are reported at the bytes that are wrong; the
 * literal is mended so that the parser goes on.
 */
#include "grammar/scan.h"

#include <assert.h>
#include <string.h>

#include "base/num.h"
#include "grammar/habit.h"
#include "grammar/tree.h"

static struct tn_span span_of(const struct tn_scanner *scanner,
			      struct tn_loc loc)
{
	struct tn_span span = { scanner->file, loc.begin, loc.end };

	return span;
}

struct tn_diag *tn_scan_fault(struct tn_scanner *scanner, enum tn_code code,
			      struct tn_loc loc, const char *message)
{
	if (loc.end > scanner->bad_end)
		scanner->bad_end = loc.end;
	scanner->errors++;
	return tn_diag_report(scanner->sink, code, span_of(scanner, loc),
			      "%s", message);
}

void tn_scan_character(struct tn_scanner *scanner, struct tn_loc loc)
{
	const char *text = scanner->source + loc.begin, *end, *help = NULL;
	size_t len = loc.end - loc.begin;
	struct tn_diag *diag;
	char one[5] = "";

	if (loc.begin < scanner->bad_line) {
		scanner->bad_end = loc.end;
		return;
	}
	end = strchr(text, '\n');
	scanner->bad_line = end ? loc.begin + (uint32_t)(end - text) :
		UINT32_MAX;
	diag = tn_scan_fault(scanner, TN_E0108, loc, "invalid character");
	memcpy(one, text, len < sizeof(one) ? len : 0);
	help = tn_habit_character(one);
	if (!help && (text[0] & 0x80))
		help = "a name that is not ASCII is written in backquotes";
	if (help)
		tn_diag_help(scanner->sink, diag, "%s", help);
}

const char *tn_scan_intern(struct tn_scanner *scanner, const char *text,
			   size_t len)
{
	const char *name = tn_intern_add(scanner->intern, text, len);

	if (name == NULL) {
		scanner->arena->failed = true;
		return "";
	}
	return name;
}

void *tn_scan_node(struct tn_scanner *scanner, size_t size)
{
	void *node = tn_arena_alloc(scanner->arena, size);

	assert(size <= sizeof(scanner->scratch));
	if (node != NULL)
		return node;
	memset(scanner->scratch, 0, sizeof(scanner->scratch));
	return scanner->scratch;
}

/* Bytes of the UTF-8 sequence at `text`, or 0 if it is not one. */
static size_t utf8_len(const unsigned char *text, size_t room)
{
	size_t len = text[0] < 0x80 ? 1 : text[0] < 0xc2 ? 0 :
		     text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 :
		     text[0] < 0xf5 ? 4 : 0;
	size_t i;

	if (len > room)
		return 0;
	for (i = 1; i < len; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((text[0] == 0xe0 && text[1] < 0xa0) ||
	    (text[0] == 0xed && text[1] > 0x9f) ||
	    (text[0] == 0xf0 && text[1] < 0x90) ||
	    (text[0] == 0xf4 && text[1] > 0x8f))
		return 0;
	return len;
}

/* Writes code point `c` at `out`; the number of bytes. */
static size_t utf8_put(char *out, uint32_t c)
{
	if (c < 0x80) {
		out[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		out[0] = (char)(0xc0 | c >> 6);
		out[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		out[0] = (char)(0xe0 | c >> 12);
		out[1] = (char)(0x80 | (c >> 6 & 0x3f));
		out[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | c >> 18);
	out[1] = (char)(0x80 | (c >> 12 & 0x3f));
	out[2] = (char)(0x80 | (c >> 6 & 0x3f));
	out[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 0x20);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads `{1F600}` at `text`, within `room` bytes. Sets *used to the bytes
 * read; the code point, or 0 if it is none that a text may hold. */
static uint32_t code_point(const char *text, size_t room, size_t *used)
{
	uint32_t value = 0;
	size_t i = 1;

	*used = 0;
	if (room == 0 || text[0] != '{')
		return 0;
	for (; i < room && i <= 6 && hex_digit(text[i]) >= 0; i++)
		value = value * 16 + (uint32_t)hex_digit(text[i]);
	if (i >= room || text[i] != '}' || value > 0x10ffff ||
	    (value >= 0xd800 && value < 0xe000))
		return 0;
	*used = i + 1;
	return value;
}

/* Writes what the escape at `text` (after the backslash) stands for; bytes
 * written, or 0 if it is unknown. *used: bytes read. */
static size_t escape(const char *text, size_t room, char *out, size_t *used)
{
	uint32_t point;

	*used = 1;
	switch (text[0]) {
	case 'n':
		out[0] = '\n';
		return 1;
	case 't':
		out[0] = '\t';
		return 1;
	case 'r':
		out[0] = '\r';
		return 1;
	case '\\':
	case '"':
	case '`':
		out[0] = text[0];
		return 1;
	case 'u':
		point = code_point(text + 1, room - 1, used);
		*used += 1;
		return point == 0 ? 0 : utf8_put(out, point);
	default:
		return 0;
	}
}

/* Copies text[0..len) to `out` with escapes replaced, or reports. The bytes
 * written; `at` is the offset of text[0] in the source. */
static size_t unescape(struct tn_scanner *scanner, const char *text,
		       size_t len, char *out, uint32_t at)
{
	size_t n = 0, i = 0;
	bool told = false;

	while (i < len) {
		struct tn_loc loc = { at + (uint32_t)i, at + (uint32_t)i + 1 };
		size_t used, wrote;

		if (text[i] == '\\') {
			wrote = escape(text + i + 1, len - i - 1, out + n,
				       &used);
			loc.end += (uint32_t)used;
			if (wrote == 0)
				tn_diag_help(scanner->sink, tn_scan_fault(
					scanner, TN_E0110, loc,
					"unknown escape"),
					"escapes are \\n \\t \\r \\\\ \\\" "
					"\\` and \\u{...}, a code point in "
					"hex that is not 0");
			n += wrote;
			i += used + 1;
			continue;
		}
		used = utf8_len((const unsigned char *)text + i, len - i);
		if (used == 0) {
			if (!told)
				tn_scan_fault(scanner, TN_E0111, loc,
					      "this is not UTF-8");
			told = true;
			i++;
			continue;
		}
		memmove(out + n, text + i, used);
		n += used;
		i += used;
	}
	return n;
}

/* Whether the text holds neither escapes nor bytes outside ASCII. */
static bool is_plain(const char *text, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (text[i] == '\\' || (unsigned char)text[i] >= 0x80)
			return false;
	return true;
}

/* Refuses `len` bytes of a token where `most` may stand. */
static bool is_too_long(struct tn_scanner *scanner, struct tn_loc loc,
			size_t len, size_t most)
{
	struct tn_diag *diag;

	if (len <= most)
		return false;
	diag = tn_scan_fault(scanner, TN_E0119, loc, "this is too long");
	tn_diag_note(scanner->sink, diag, "%zu bytes, where at most %zu may "
		     "stand", len, most);
	tn_diag_help(scanner->sink, diag, "data belongs into weight files, "
		     "and remarks into comments, which may be of any length");
	return true;
}

/* What stands for a text of `len` bytes in messages about it. */
static size_t piece(size_t len)
{
	return len < 64 ? len : 64;
}

const char *tn_scan_word(struct tn_scanner *scanner, struct tn_loc loc)
{
	size_t len = loc.end - loc.begin;

	if (is_too_long(scanner, loc, len, TN_SCAN_TEXT))
		len = piece(len);
	return tn_scan_intern(scanner, scanner->source + loc.begin, len);
}

const char *tn_scan_start(struct tn_scanner *scanner, struct tn_loc loc)
{
	return tn_scan_intern(scanner, scanner->source + loc.begin + 1,
			      piece(loc.end - loc.begin - 1));
}

const char *tn_scan_unquote(struct tn_scanner *scanner, struct tn_loc loc,
			    char quote)
{
	const char *text = scanner->source + loc.begin + 1;
	size_t len = loc.end - loc.begin - 2;
	char *room;

	if (len == 0 && quote == '`')
		tn_scan_fault(scanner, TN_E0108, loc, "a name cannot be empty");
	if (is_plain(text, len)) {
		if (is_too_long(scanner, loc, len, TN_SCAN_TEXT))
			len = quote == '`' ? piece(len) : 0;
		return tn_scan_intern(scanner, text, len);
	}
	room = tn_arena_alloc(scanner->arena, len + 1);
	if (room == NULL)
		return "";
	len = unescape(scanner, text, len, room, loc.begin + 1);
	if (is_too_long(scanner, loc, len, TN_SCAN_TEXT))
		len = 0;
	return tn_scan_intern(scanner, room, len);
}

/* Cuts a suffix `_f16` off `text`; its element word, or NULL. */
static const char *cut_suffix(struct tn_scanner *scanner, char *text,
			      size_t *len)
{
	size_t i;

	for (i = *len; i > 0 && *len - i < 10; i--) {
		if (text[i - 1] != '_')
			continue;
		text[i - 1] = '\0';
		const char *suffix = tn_scan_intern(scanner, text + i,
						    *len - i);
		*len = i - 1;
		return suffix;
	}
	return NULL;
}

static struct tn_expr *literal(struct tn_scanner *scanner, uint8_t kind,
			       struct tn_loc loc)
{
	struct tn_expr *expr = tn_scan_node(scanner, sizeof(*expr));

	expr->kind = kind;
	expr->span = span_of(scanner, loc);
	return expr;
}

struct tn_expr *tn_scan_integer(struct tn_scanner *scanner, char *text,
				struct tn_loc loc)
{
	size_t len = strlen(text);
	struct tn_expr *expr = literal(scanner, TN_EXPR_INT, loc);

	if (is_too_long(scanner, loc, len, TN_SCAN_NUMBER))
		return expr;
	expr->u.integer.suffix = cut_suffix(scanner, text, &len);
	if (!tn_num_parse_u64(text, &expr->u.integer.value))
		tn_scan_fault(scanner, TN_E0113, loc,
			      "this integer does not fit 64 bits");
	return expr;
}

struct tn_expr *tn_scan_bad_number(struct tn_scanner *scanner,
				   struct tn_loc loc, const char *message,
				   const char *help)
{
	struct tn_diag *diag = tn_scan_fault(scanner, TN_E0112, loc, message);

	tn_diag_help(scanner->sink, diag, "%s", help);
	return literal(scanner, TN_EXPR_INT, loc);
}

struct tn_expr *tn_scan_real(struct tn_scanner *scanner, char *text,
			     struct tn_loc loc)
{
	size_t len = strlen(text);
	struct tn_expr *expr = literal(scanner, TN_EXPR_FLOAT, loc);

	if (is_too_long(scanner, loc, len, TN_SCAN_NUMBER)) {
		expr->u.real.text = "0.0";
		expr->len = 3;
		return expr;
	}
	expr->u.real.suffix = cut_suffix(scanner, text, &len);
	expr->u.real.text = scanner->source + loc.begin;
	expr->len = (uint32_t)len;
	if (!tn_num_parse_f64(text, &expr->u.real.value))
		tn_scan_fault(scanner, TN_E0113, loc,
			      "this number is greater than any f64");
	return expr;
}
