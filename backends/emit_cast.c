/*
 * Helper functions for conversions: casts, reinterpretation, and the 16-bit
 * floats, which are held as float and stored as bits. Floats of 8 bits and
 * fewer are bits everywhere; casts go through float.
 *
 * Every conversion rounds once and none has undefined behaviour: floats are
 * compared with the range of an integer before they become one.
 */
#include "backends/emit.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "ir/small.h"

/* ---- What calls what ---- */

static bool is_half(enum tn_dtype dtype)
{
	return tn_emit_held(dtype) == TN_f32 && dtype != TN_f32;
}

static bool is_float(enum tn_dtype dtype)
{
	return dtype == TN_f64 || tn_emit_held(dtype) == TN_f32;
}

static void close_cast(struct tn_prelude *need, enum tn_dtype from,
		       enum tn_dtype to)
{
	if (tn_small_of(from)) {
		need->of[from] |= TN_PART_LOAD;
		return;
	}
	if (tn_small_of(to)) {
		need->of[to] |= TN_PART_STORE;
	} else if (is_half(to)) {
		need->of[to] |= TN_PART_LOAD;
		if (tn_emit_held(from) == TN_f32)
			need->of[to] |= TN_PART_STORE;
		else
			need->parts |= TN_PART_NARROW;
	} else {
		return;
	}
	if (from == TN_i64 || from == TN_u64)
		need->parts |= TN_PART_ODD;
}

/* What loads and stores of the small floats call. */
static void close_formats(struct tn_prelude *need)
{
	int to;

	for (to = 0; to < TN_DTYPE_COUNT; to++) {
		if (!is_half((enum tn_dtype)to) &&
		    !tn_small_of((enum tn_dtype)to))
			continue;
		if (need->of[to] & TN_PART_ROUND)
			need->of[to] |= TN_PART_LOAD | TN_PART_STORE;
		if (need->of[to] & TN_PART_LOAD)
			need->parts |= TN_PART_BITS_F32;
		if (!(need->of[to] & TN_PART_STORE))
			continue;
		if (to == TN_f8e8m0)
			need->parts |= TN_PART_F64_BITS;
		else if (tn_small_of((enum tn_dtype)to))
			need->parts |= TN_PART_NARROW;
		else
			need->parts |= TN_PART_F32_BITS | TN_PART_BITS_F32;
	}
}

/* From what is bits alone, a cast goes through float. */
static void close_through(struct tn_prelude *need)
{
	int from, to;

	for (from = 0; from < TN_DTYPE_COUNT; from++)
		for (to = 0; to < TN_DTYPE_COUNT; to++)
			if (need->casts[from][to] && to != TN_f32 &&
			    tn_small_of((enum tn_dtype)from))
				need->casts[TN_f32][to] = true;
}

void tn_prelude_close_casts(struct tn_prelude *need)
{
	int from, to;

	close_through(need);
	for (from = 0; from < TN_DTYPE_COUNT; from++)
		for (to = 0; to < TN_DTYPE_COUNT; to++) {
			if (need->casts[from][to])
				close_cast(need, (enum tn_dtype)from,
					   (enum tn_dtype)to);
			if (!need->bitcasts[from][to])
				continue;
			if (is_half((enum tn_dtype)from))
				need->of[from] |= TN_PART_STORE;
			if (is_half((enum tn_dtype)to))
				need->of[to] |= TN_PART_LOAD;
			need->parts |= from == TN_f32 ? TN_PART_F32_BITS :
				from == TN_f64 ? TN_PART_F64_BITS : 0u;
			need->parts |= to == TN_f32 ? TN_PART_BITS_F32 :
				to == TN_f64 ? TN_PART_BITS_F64 : 0u;
		}
	close_formats(need);
	if (need->parts & TN_PART_NARROW)
		need->parts |= TN_PART_F64_BITS;
}

/* ---- Bits ---- */

static void put_narrow(struct tn_buf *out, const char *function)
{
	tn_buf_putf(out,
"/* The bits of `v` in a float of 1 + ebits + mbits bits, rounded once to\n"
" * nearest even; a carry out of the fraction steps the exponent. */\n"
"%s uint32_t tn_narrow(double v, int ebits, int mbits)\n"
"{\n"
"\tconst int top = (1 << ebits) - 1;\n"
"\tconst uint32_t inf = (uint32_t)top << mbits;\n"
"\tuint64_t bits = tn_f64_bits(v), frac = bits & 0xfffffffffffffu, half;\n"
"\tuint32_t sign = (uint32_t)(bits >> 63) << (ebits + mbits);\n"
"\tint exp = (int)(bits >> 52 & 0x7ffu), shift = 52 - mbits;\n"
"\tuint64_t whole, rest;\n"
"\n"
"\tif (exp == 0x7ff && frac != 0)\n"
"\t\treturn sign | inf | 1u << (mbits - 1) | (uint32_t)(frac >> shift);\n"
"\texp += (top >> 1) - 1023;\n"
"\tif (exp >= top)\n"
"\t\treturn sign | inf;\n"
"\tfrac |= 0x10000000000000u;\n"
"\tif (exp < -62)\n"
"\t\treturn sign;\n"
"\tif (exp <= 0)\n"
"\t\tshift += 1 - exp;\n"
"\tif (shift > 63)\n"
"\t\treturn sign;\n"
"\thalf = (uint64_t)1 << (shift - 1);\n"
"\trest = frac & (half * 2 - 1);\n"
"\twhole = frac >> shift;\n"
"\twhole += rest > half || (rest == half && (whole & 1u) != 0);\n"
"\tif (exp > 0)\n"
"\t\twhole += (uint64_t)(exp - 1) << mbits;\n"
"\treturn sign | (uint32_t)whole;\n"
"}\n\n", function);
}

/* A 64-bit integer as a double that rounds on to a small float correctly. */
static void put_odd(struct tn_buf *out, const char *function)
{
	tn_buf_putf(out,
"/* Rounded to odd, so that rounding again to few bits is exact. */\n"
"%s double tn_odd(uint64_t u)\n"
"{\n"
"\tif (u >> 53 != 0)\n"
"\t\tu = (u & ~(uint64_t)0x7ff) | ((u & 0x7ffu) != 0 ? 0x800u : 0u);\n"
"\treturn (double)u;\n"
"}\n\n", function);
}

void tn_prelude_bits(struct tn_buf *out, struct tn_prelude *need,
		     const struct tn_dialect *dialect)
{
	const struct { unsigned part; const char *head, *body; } list[] = {
		{ TN_PART_BITS_F32, "float tn_bits_f32(uint32_t a)",
		  dialect->bits_f32 },
		{ TN_PART_F32_BITS, "uint32_t tn_f32_bits(float a)",
		  dialect->f32_bits },
		{ TN_PART_BITS_F64, "double tn_bits_f64(uint64_t a)",
		  dialect->bits_f64 },
		{ TN_PART_F64_BITS, "uint64_t tn_f64_bits(double a)",
		  dialect->f64_bits }
	};
	size_t i;

	for (i = 0; i < sizeof(list) / sizeof(*list); i++)
		if (need->parts & list[i].part)
			tn_buf_putf(out, "%s %s\n{\n%s}\n\n",
				    dialect->function, list[i].head,
				    list[i].body);
	if (need->parts & TN_PART_NARROW)
		put_narrow(out, dialect->function);
	if (need->parts & TN_PART_ODD)
		put_odd(out, dialect->function);
}

/* ---- Loads and stores of 16-bit floats ---- */

static void put_load_half(struct tn_buf *out, const char *function,
			  enum tn_dtype dtype)
{
	static const struct tn_small f16 = { .ebits = 5, .mbits = 10,
					     .bias = 15 };

	tn_buf_putf(out, "%s float tn_load_%s(uint16_t a)\n{\n", function,
		    tn_dtype_name(dtype));
	if (dtype == TN_bf16)
		tn_buf_put(out, "\treturn tn_bits_f32((uint32_t)a << 16);\n"
			   "}\n\n");
	else
		tn_prelude_load_body(out, &f16);
}

static const char store_f16[] =
"\tuint32_t bits = tn_f32_bits(a), x = bits & 0x7fffffffu;\n"
"\tuint32_t sign = bits >> 16 & 0x8000u;\n"
"\n"
"\tif (x > 0x7f800000u)\n"
"\t\treturn (uint16_t)(sign | 0x7e00u | (x >> 13 & 0x3ffu));\n"
"\tif (x >= 0x477ff000u)\n"
"\t\treturn (uint16_t)(sign | 0x7c00u);\n"
"\tif (x >= 0x38800000u)\n"
"\t\treturn (uint16_t)(sign | (x - 0x38000000u + 0xfffu +\n"
"\t\t\t\t(x >> 13 & 1u)) >> 13);\n"
"\tx = tn_f32_bits(tn_bits_f32(x) + 0.5f);\n"
"\treturn (uint16_t)(sign | (x - 0x3f000000u));\n";

static const char store_bf16[] =
"\tuint32_t x = tn_f32_bits(a);\n"
"\n"
"\tif ((x & 0x7fffffffu) > 0x7f800000u)\n"
"\t\treturn (uint16_t)(x >> 16 | 0x40u);\n"
"\treturn (uint16_t)((x + 0x7fffu + (x >> 16 & 1u)) >> 16);\n";

static void put_store_half(struct tn_buf *out, const char *function,
			   enum tn_dtype dtype)
{
	tn_buf_putf(out, "%s uint16_t tn_store_%s(float a)\n{\n%s}\n\n",
		    function, tn_dtype_name(dtype),
		    dtype == TN_f16 ? store_f16 : store_bf16);
}

/* ---- Casts ---- */

/* Least value above the range of an integer, as text. */
static const char *above(enum tn_dtype dtype)
{
	switch ((int)dtype) {
	case TN_i8: return "128.0";
	case TN_u8: return "256.0";
	case TN_i16: return "32768.0";
	case TN_u16: return "65536.0";
	case TN_i32: return "2147483648.0";
	case TN_u32: return "4294967296.0";
	case TN_i64: return "9223372036854775808.0";
	case TN_u64: return "18446744073709551616.0";
	case TN_i4: return "8.0";
	case TN_u4: return "16.0";
	case TN_u2: return "4.0";
	default: return "2.0";
	}
}

static void put_to_int(struct tn_buf *out, enum tn_dtype from,
		       enum tn_dtype to)
{
	bool is_signed = tn_dtype_holds(to, TN_KIND_I);
	const char *suffix = from == TN_f64 ? "" : "f";
	const char *type = tn_emit_ctype(to);
	char least[24], most[24];
	int bits = tn_dtype_bits(to), span = 1 << (bits < 8 ? bits : 8);

	(void)strcpy(least, "0");
	if (is_signed && bits < 8)
		snprintf(least, sizeof(least), "-%d", span / 2);
	else if (is_signed)
		snprintf(least, sizeof(least), "INT%d_MIN", bits);
	if (bits < 8)
		snprintf(most, sizeof(most), "%d",
			 (is_signed ? span / 2 : span) - 1);
	else
		snprintf(most, sizeof(most), "%sINT%d_MAX",
			 is_signed ? "" : "U", bits);
	tn_buf_putf(out, "\tif (a != a)\n\t\treturn 0;\n"
		    "\tif (a >= %s%s)\n\t\treturn %s;\n", above(to), suffix,
		    most);
	if (is_signed)
		tn_buf_putf(out, "\tif (a <= -%s%s)\n\t\treturn %s;\n",
			    above(to), suffix, least);
	else
		tn_buf_putf(out, "\tif (a <= 0)\n\t\treturn 0;\n");
	tn_buf_putf(out, "\treturn (%s)a;\n", type);
}

/* To f16 and bf16, held as float, and to smaller floats, held as bits. */
static void put_to_small(struct tn_buf *out, enum tn_dtype from,
			 enum tn_dtype to)
{
	const char *name = tn_dtype_name(to);
	const char *value = from == TN_i64 ?
		"(a < 0 ? -tn_odd((uint64_t)0 - (uint64_t)a) : "
		"tn_odd((uint64_t)a))" :
		from == TN_u64 ? "tn_odd(a)" : "(double)a";

	if (tn_small_of(to))
		tn_buf_putf(out, "\treturn tn_narrow_%s(%s);\n", name, value);
	else if (is_float(from) && from != TN_f64)
		tn_buf_putf(out, "\treturn tn_load_%s(tn_store_%s(a));\n",
			    name, name);
	else
		tn_buf_putf(out, "\treturn tn_load_%s((%s)tn_narrow(%s, %d, "
			    "%d));\n", name, tn_dtypes[to].c_storage, value,
			    to == TN_f16 ? 5 : 8, to == TN_f16 ? 10 : 7);
}

/* An integer of fewer than 8 bits, wrapped. */
static void put_wrapped(struct tn_buf *out, enum tn_dtype to)
{
	unsigned span = 1u << tn_dtype_bits(to);

	if (tn_dtype_holds(to, TN_KIND_U))
		tn_buf_putf(out, "\treturn (uint8_t)((uint64_t)a & %uu);\n",
			    span - 1);
	else
		tn_buf_putf(out, "\tuint64_t x = (uint64_t)a & %uu;\n\n"
			    "\treturn (int8_t)(x >= %uu ? (int)x - %u : (int)x"
			    ");\n", span - 1, span / 2, span);
}

static void put_cast(struct tn_buf *out, const char *function,
		     enum tn_dtype from, enum tn_dtype to)
{
	const char *type = tn_emit_ctype(to);

	tn_buf_putf(out, "%s %s tn_cast_%s_%s(%s a)\n{\n", function, type,
		    tn_dtype_name(from), tn_dtype_name(to),
		    tn_emit_ctype(from));
	if (tn_small_of(from) && to == TN_f32)
		tn_buf_putf(out, "\treturn tn_load_%s(a);\n",
			    tn_dtype_name(from));
	else if (tn_small_of(from))
		tn_buf_putf(out, "\treturn tn_cast_f32_%s(tn_load_%s(a));\n",
			    tn_dtype_name(to), tn_dtype_name(from));
	else if (to == TN_bool)
		tn_buf_put(out, "\treturn (uint8_t)(a != 0);\n");
	else if (is_half(to) || tn_small_of(to))
		put_to_small(out, from, to);
	else if (is_float(from) && !is_float(to))
		put_to_int(out, from, to);
	else if (tn_dtype_bits(to) < 8)
		put_wrapped(out, to);
	else
		tn_buf_putf(out, "\treturn (%s)a;\n", type);
	tn_buf_put(out, "}\n\n");
}

static void put_low_bits(struct tn_buf *out, enum tn_dtype to)
{
	int span = 1 << tn_dtype_bits(to);

	if (tn_dtype_holds(to, TN_KIND_I))
		tn_buf_putf(out, "(int8_t)((((int)a & %d) ^ %d) - %d);\n}\n\n",
			    span - 1, span / 2, span / 2);
	else
		tn_buf_putf(out, "(uint8_t)((unsigned)a & %uu);\n}\n\n",
			    (unsigned)span - 1u);
}

static void put_bitcast(struct tn_buf *out, const char *function,
			enum tn_dtype from, enum tn_dtype to)
{
	const char *get = from == TN_f32 ? "tn_f32_bits(a)" :
		from == TN_f64 ? "tn_f64_bits(a)" : NULL;

	tn_buf_putf(out, "%s %s tn_bitcast_%s_%s(%s a)\n{\n\treturn ",
		    function, tn_emit_ctype(to), tn_dtype_name(from),
		    tn_dtype_name(to), tn_emit_ctype(from));
	if (tn_dtype_bits(to) < 8) {
		put_low_bits(out, to);
		return;
	}
	if (to == TN_f32 || to == TN_f64)
		tn_buf_putf(out, "tn_bits_%s((uint%d_t)", tn_dtype_name(to),
			    8 * tn_dtypes[to].bytes);
	else if (is_half(to))
		tn_buf_putf(out, "tn_load_%s((%s)", tn_dtype_name(to),
			    tn_dtypes[to].c_storage);
	else
		tn_buf_putf(out, "(%s)(", tn_emit_ctype(to));
	if (get)
		tn_buf_put(out, get);
	else if (is_half(from))
		tn_buf_putf(out, "tn_store_%s(a)", tn_dtype_name(from));
	else
		tn_buf_put(out, "a");
	tn_buf_put(out, ");\n}\n\n");
}

void tn_prelude_casts(struct tn_buf *out, struct tn_prelude *need,
		      const struct tn_dialect *dialect)
{
	const char *function = dialect->function;
	int from, to;

	for (to = 0; to < TN_DTYPE_COUNT; to++) {
		if (tn_small_of((enum tn_dtype)to) &&
		    need->of[to] & TN_PART_LOAD)
			tn_prelude_small_load(out, function,
					      (enum tn_dtype)to);
		if (tn_small_of((enum tn_dtype)to) &&
		    need->of[to] & TN_PART_STORE)
			tn_prelude_small_narrow(out, function,
						(enum tn_dtype)to);
		if (!is_half((enum tn_dtype)to))
			continue;
		if (need->of[to] & TN_PART_LOAD)
			put_load_half(out, function, (enum tn_dtype)to);
		if (need->of[to] & TN_PART_STORE)
			put_store_half(out, function, (enum tn_dtype)to);
		if (need->of[to] & TN_PART_ROUND)
			tn_buf_putf(out, "%s float tn_round_%s(float a)\n{\n"
				    "\treturn tn_load_%s(tn_store_%s(a));\n"
				    "}\n\n", function, tn_dtypes[to].name,
				    tn_dtypes[to].name, tn_dtypes[to].name);
	}
	for (from = 0; from < TN_DTYPE_COUNT; from++)
		for (to = 0; to < TN_DTYPE_COUNT; to++) {
			if (need->casts[from][to])
				put_cast(out, function, (enum tn_dtype)from,
					 (enum tn_dtype)to);
			if (need->bitcasts[from][to])
				put_bitcast(out, function,
					    (enum tn_dtype)from,
					    (enum tn_dtype)to);
		}
}
