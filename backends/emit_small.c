/*
 * Helper functions of the floats of 8 bits and fewer: tn_load_TYPE, bits to
 * float, and tn_narrow_TYPE, double to bits; and the body of the former, which
 * f16 shares.
 *
 * In: a format, ir/small.h. tn_narrow(v, ebits, mbits) cuts a double to a float
 * as IEEE 754 lays it out, with the greatest exponent for infinity. The other
 * formats are that one moved by a power of two, with numbers where infinity is:
 *
 *   static inline uint8_t tn_narrow_f4e2m1(double v)
 *   {
 *           ..
 *           x = x > 6.0 ? 6.0 : x;
 *           if (x >= 4.0)
 *                   return (uint8_t)(sign |
 *                                    ((tn_narrow(x / 2, 2, 1) & 0x7u) + 2u));
 *           return (uint8_t)(sign | (tn_narrow(x, 2, 1) & 0x7u));
 *   }
 */
#include "backends/emit.h"

#include <math.h>

#include "base/num.h"
#include "ir/small.h"

/* What patterns that are no numbers turn to. */
static void put_specials(struct tn_buf *out, const struct tn_small *type)
{
	unsigned top = (1u << type->ebits) - 1u;
	unsigned fraction = (1u << type->mbits) - 1u;

	switch (type->special) {
	case TN_SMALL_IEEE:
		tn_buf_putf(out, "\tif (exp == %uu)\n\t\treturn tn_bits_f32("
			    "sign | 0x7f800000u | frac << %d);\n", top,
			    23 - type->mbits);
		break;
	case TN_SMALL_LAST:
		tn_buf_putf(out, "\tif (exp == %uu && frac == %uu)\n"
			    "\t\treturn tn_bits_f32(sign | 0x7fc00000u);\n",
			    top, fraction);
		break;
	case TN_SMALL_MINUS:
		tn_buf_putf(out, "\tif (a == 0x%xu)\n"
			    "\t\treturn tn_bits_f32(0x7fc00000u);\n",
			    (unsigned)type->nan);
		break;
	case TN_SMALL_NONE:
		break;
	}
}

void tn_prelude_load_body(struct tn_buf *out, const struct tn_small *type)
{
	uint32_t top = (1u << type->ebits) - 1u;
	uint32_t fraction = (1u << type->mbits) - 1u;
	char text[40];

	tn_num_print_f64(ldexp(1.0, 1 - type->bias - type->mbits), text);
	tn_buf_putf(out, "\tuint32_t sign = (uint32_t)a >> %d << 31;\n"
		    "\tuint32_t exp = (uint32_t)a >> %d & %uu, "
		    "frac = (uint32_t)a & %uu;\n\tfloat small;\n\n",
		    type->ebits + type->mbits, type->mbits, top, fraction);
	put_specials(out, type);
	tn_buf_putf(out, "\tif (exp == 0) {\n\t\tsmall = (float)frac * %sf;\n"
		    "\t\treturn sign != 0 ? -small : small;\n\t}\n"
		    "\treturn tn_bits_f32(sign | (exp + %du) << 23 | "
		    "frac << %d);\n}\n\n", text, 127 - type->bias,
		    23 - type->mbits);
}

void tn_prelude_small_load(struct tn_buf *out, const char *function,
			   enum tn_dtype dtype)
{
	tn_buf_putf(out, "%s float tn_load_%s(uint8_t a)\n{\n", function,
		    tn_dtype_name(dtype));
	if (dtype == TN_f8e8m0)
		tn_buf_put(out, "\treturn tn_bits_f32(a == 255u ? 0x7fc00000u :"
			   "\n\t\ta == 0u ? 0x400000u : (uint32_t)a << 23);\n"
			   "}\n\n");
	else
		tn_prelude_load_body(out, tn_small_of(dtype));
}

/* The nearest power of two, halves up. */
static void put_narrow_power(struct tn_buf *out, const char *function,
			     enum tn_dtype dtype)
{
	tn_buf_putf(out,
"%s uint8_t tn_narrow_%s(double v)\n"
"{\n"
"\tuint64_t exp = ((tn_f64_bits(v) & 0x7fffffffffffffffu) +\n"
"\t\t\t0x8000000000000u) >> 52;\n"
"\n"
"\tif (!(v >= 0))\n"
"\t\treturn 255u;\n"
"\treturn (uint8_t)(exp < 896u ? 0u : exp > 1150u ? 254u : exp - 896u);\n"
"}\n\n", function, tn_dtype_name(dtype));
}

static void put_nan(struct tn_buf *out, const struct tn_small *type)
{
	bool is_signed = type->special == TN_SMALL_IEEE ||
		type->special == TN_SMALL_LAST;

	if (is_signed)
		tn_buf_putf(out, "\tif (v != v)\n\t\treturn (uint8_t)(sign | "
			    "0x%xu);\n", (unsigned)type->nan);
	else
		tn_buf_putf(out, "\tif (v != v)\n\t\treturn 0x%xu;\n",
			    (unsigned)type->nan);
}

void tn_prelude_small_narrow(struct tn_buf *out, const char *function,
			     enum tn_dtype dtype)
{
	const struct tn_small *type = tn_small_of(dtype);
	int width = type->ebits + type->mbits;
	int moved = type->bias - ((1 << (type->ebits - 1)) - 1);
	unsigned mask = (1u << width) - 1u;
	char most[40], from[40];

	if (dtype == TN_f8e8m0) {
		put_narrow_power(out, function, dtype);
		return;
	}
	tn_num_print_f64(type->greatest, most);
	tn_num_print_f64(ldexp(1.0, 1 << (type->ebits - 1)), from);
	tn_buf_putf(out, "%s uint8_t tn_narrow_%s(double v)\n{\n"
		    "\tuint32_t sign = (uint32_t)(tn_f64_bits(v) >> 63) << %d;"
		    "\n\tdouble x = v < 0 ? -v : v;\n\n", function,
		    tn_dtype_name(dtype), width);
	put_nan(out, type);
	tn_buf_putf(out, "\tx = x > %s ? %s : x;\n", most, most);
	if (moved)
		tn_buf_putf(out, "\tx *= %d;\n", 1 << moved);
	if (type->special == TN_SMALL_MINUS)
		tn_buf_putf(out, "\tsign = (tn_narrow(x, %d, %d) & 0x%xu) == 0 "
			    "? 0 : sign;\n", type->ebits, type->mbits, mask);
	if (type->special != TN_SMALL_IEEE)
		tn_buf_putf(out, "\tif (x >= %s)\n\t\treturn (uint8_t)(sign "
			    "| ((tn_narrow(x / 2, %d, %d) & 0x%xu) + %uu));\n",
			    from, type->ebits, type->mbits, mask,
			    1u << type->mbits);
	tn_buf_putf(out, "\treturn (uint8_t)(sign | (tn_narrow(x, %d, %d) & "
		    "0x%xu));\n}\n\n", type->ebits, type->mbits, mask);
}
