/*
 * Names, strings and literals as the language writes them.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/num.h"
#include "ir/print.h"

/* ---- Names and strings ----------------------------------------------- */

static const char *const reserved[] = {
	"tenon", "include", "dim", "const", "struct", "weight", "fn", "if",
	"else", "for", "while", "scan", "with", "return", "yield", "emit",
	"in", "true", "false", "inf", "nan",
};

static bool is_elem(const char *name)
{
	return tn_dtype_find(name) != TN_DTYPE_COUNT;
}

bool tn_print_is_reserved(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (strcmp(name, reserved[i]) == 0)
			return true;
	return is_elem(name);
}

/* `inf_f16` and `nan_f16` are numbers. */
static bool is_number(const char *name)
{
	return (strncmp(name, "inf_", 4) == 0 ||
		strncmp(name, "nan_", 4) == 0) && is_elem(name + 4);
}

/* One or several identifiers joined by `::`. */
static bool is_identifier(const char *name)
{
	for (;;) {
		if (!tn_ascii_is_head(*name))
			return false;
		while (tn_ascii_is_word(*name))
			name++;
		if (name[0] != ':' || name[1] != ':')
			return *name == '\0';
		name += 2;
	}
}

static void put_quoted(struct tn_buf *buf, const char *text, char quote)
{
	tn_buf_putc(buf, quote);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (*text == quote || c == '\\')
			tn_buf_putf(buf, "\\%c", c);
		else if (c == '\n')
			tn_buf_put(buf, "\\n");
		else if (c == '\t')
			tn_buf_put(buf, "\\t");
		else if (c == '\r')
			tn_buf_put(buf, "\\r");
		else if (c < 0x20 || c == 0x7f)
			tn_buf_putf(buf, "\\u{%x}", c);
		else
			tn_buf_putc(buf, *text);
	}
	tn_buf_putc(buf, quote);
}

void tn_print_name(struct tn_buf *buf, const char *name)
{
	if (is_identifier(name) && !is_number(name) &&
	    !tn_print_is_reserved(name))
		tn_buf_put(buf, name);
	else
		put_quoted(buf, name, '`');
}

void tn_print_string(struct tn_buf *buf, const char *text)
{
	put_quoted(buf, text, '"');
}

/* ---- Literals -------------------------------------------------------- */

/* The bits of an element. */
static uint64_t bits_at(const struct tn_tensor *tensor, int64_t at)
{
	size_t size = (size_t)tn_dtype_bytes(tensor->dtype), i;
	const unsigned char *data = tensor->data;
	uint64_t bits = 0;
	uint32_t word;
	uint16_t half;

	data += (size_t)at * size;
	if (size == 8) {
		memcpy(&bits, data, 8);
	} else if (size == 4) {
		memcpy(&word, data, 4);
		bits = word;
	} else if (size == 2) {
		memcpy(&half, data, 2);
		bits = half;
	} else {
		for (i = 0; i < size; i++)
			bits = data[i];
	}
	return bits;
}

/* Bits of the NaN that `nan` stands for; *infinity: of inf. */
static uint64_t nan_bits(enum tn_dtype dtype, uint64_t *infinity)
{
	switch ((int)dtype) {
	case TN_f64:
		*infinity = 0x7ff0000000000000u;
		return 0x7ff8000000000000u;
	case TN_f32:
		*infinity = 0x7f800000u;
		return 0x7fc00000u;
	case TN_f16:
		*infinity = 0x7c00u;
		return 0x7e00u;
	case TN_bf16:
		*infinity = 0x7f80u;
		return 0x7fc0u;
	default:
		*infinity = UINT64_MAX;
		return UINT64_MAX;
	}
}

/* True if some element can only be written by its bits. */
static bool needs_bits(const struct tn_tensor *tensor, int64_t count)
{
	uint64_t infinity, nan = nan_bits(tensor->dtype, &infinity), sign;
	int64_t i;

	if (tn_dtype_is(tensor->dtype, TN_KIND_X) &&
	    tn_dtype_holds(tensor->dtype, TN_KIND_F))
		return true;
	if (!tn_dtype_is(tensor->dtype, TN_KIND_F))
		return false;
	sign = (uint64_t)1 << (tn_dtype_bytes(tensor->dtype) * 8 - 1);
	for (i = 0; i < count; i++) {
		uint64_t bits = bits_at(tensor, i);

		if ((bits & ~sign) > infinity && bits != nan)
			return true;
	}
	return false;
}

/* A double of few digits that rounds to the same half as `value` does. */
static double shorten(enum tn_dtype dtype, double value)
{
	uint16_t want = 0, have = 0;
	struct tn_tensor half;
	struct tn_buf text;
	double found = value;
	int digits;

	tn_tensor_view(&half, dtype, 0, NULL, &want);
	tn_tensor_set_f64(&half, 0, value);
	tn_tensor_view(&half, dtype, 0, NULL, &have);
	tn_buf_init(&text);
	for (digits = 0; digits < 9; digits++) {
		tn_buf_clear(&text);
		tn_buf_putf(&text, "%.*e", digits, value);
		if (!tn_num_parse_f64(tn_buf_text(&text), &found))
			break;
		tn_tensor_set_f64(&half, 0, found);
		if (have == want)
			break;
	}
	tn_buf_fini(&text);
	return have == want ? found : value;
}

static void put_float(struct tn_buf *buf, const struct tn_tensor *tensor,
		      int64_t at)
{
	double value = tn_tensor_get_f64(tensor, at);
	char text[40];

	if (tensor->dtype == TN_f16 || tensor->dtype == TN_bf16)
		value = shorten(tensor->dtype, value);
	if (tensor->dtype != TN_f32)
		tn_num_print_f64(value, text);
	else
		tn_num_print_f32((float)value, text);
	tn_buf_put(buf, text);
}

static void put_element(struct tn_buf *buf, const struct tn_tensor *tensor,
			int64_t at, bool as_bits)
{
	if (as_bits)
		tn_buf_putf(buf, "0x%llx_u%d",
			    (unsigned long long)bits_at(tensor, at),
			    tn_dtype_bits(tensor->dtype));
	else if (tn_dtype_is(tensor->dtype, TN_KIND_F))
		put_float(buf, tensor, at);
	else if (tensor->dtype == TN_bool)
		tn_buf_put(buf, bits_at(tensor, at) ? "true" : "false");
	else if (tn_dtype_is(tensor->dtype, TN_KIND_U))
		tn_buf_putf(buf, "%llu",
			    (unsigned long long)bits_at(tensor, at));
	else
		tn_buf_putf(buf, "%lld",
			    (long long)tn_tensor_get_i64(tensor, at));
}

/* Elements from *at on along `axis`. */
static void put_axis(struct tn_buf *buf, const struct tn_tensor *tensor,
		     int axis, int64_t *at, bool as_bits)
{
	int64_t i;

	if (axis == tensor->rank) {
		put_element(buf, tensor, (*at)++, as_bits);
		return;
	}
	tn_buf_putc(buf, '[');
	for (i = 0; i < tensor->shape[axis]; i++) {
		if (i)
			tn_buf_put(buf, ", ");
		put_axis(buf, tensor, axis + 1, at, as_bits);
	}
	tn_buf_putc(buf, ']');
}

void tn_print_literal(struct tn_buf *buf, const struct tn_tensor *tensor)
{
	int64_t count = tn_tensor_count(tensor), at = 0;
	bool as_bits;

	if (count <= 0) {
		tn_buf_put(buf, "[]");
		return;
	}
	as_bits = needs_bits(tensor, count);
	if (as_bits)
		tn_buf_put(buf, "bitcast(");
	put_axis(buf, tensor, 0, &at, as_bits);
	if (as_bits)
		tn_buf_putf(buf, ", elem=%s)", tn_dtype_name(tensor->dtype));
}
