/*
 * Helper functions for scalar operators, from the rows of ops.def.
 *
 * In: which operators a text calls, on which types. Out: their definitions,
 * whose bodies are the table's own expressions with T, U, W, F(..), NEG(..),
 * RAISE, IPOW replaced, so that emitted code and reference cannot drift apart.
 *
 *   static inline float tn_max_f32(float a, float b)
 *   {
 *           return a > b || a != a ? a : b;
 *   }
 */
#include "backends/emit.h"

#include <string.h>

#include "base/ascii.h"
#include "ir/eval.h"

enum tn_dtype tn_emit_held(enum tn_dtype dtype)
{
	switch (tn_dtypes[dtype].c_compute[0]) {
	case 'f':
		return TN_f32;
	default:
		return dtype;
	}
}

const char *tn_emit_ctype(enum tn_dtype dtype)
{
	return tn_dtypes[dtype].c_compute;
}

/* Text of the operator for the dtype: fexpr, iexpr or bexpr. */
static const char *row_of(enum tn_opcode code, enum tn_dtype dtype)
{
	const struct tn_op_info *row = &tn_ops[code];

	if (tn_dtype_is(dtype, TN_KIND_B))
		return row->bexpr;
	return tn_dtype_is(dtype, TN_KIND_F | TN_KIND_X) ? row->fexpr :
		row->iexpr;
}

bool tn_emit_raises(enum tn_opcode code, enum tn_dtype dtype)
{
	return strstr(row_of(code, dtype), "RAISE") != NULL;
}

static bool is_signed(enum tn_dtype dtype)
{
	return tn_dtype_is(dtype, TN_KIND_I);
}

static void put_unsigned(struct tn_buf *out, enum tn_dtype dtype)
{
	tn_buf_putf(out, "uint%d_t", 8 * tn_dtypes[dtype].bytes);
}

static void put_least(struct tn_buf *out, enum tn_dtype dtype)
{
	if (is_signed(dtype))
		tn_buf_putf(out, "INT%d_MIN", 8 * tn_dtypes[dtype].bytes);
	else
		tn_buf_putc(out, '0');
}

static void put_most(struct tn_buf *out, enum tn_dtype dtype)
{
	tn_buf_putf(out, "%sINT%d_MAX", is_signed(dtype) ? "" : "U",
		    8 * tn_dtypes[dtype].bytes);
}

/* Copies the bracketed argument at *at, with `before` and `after` around
 * it, and steps over it. */
static void put_argument(struct tn_buf *out, const char **at,
			 const char *before, const char *after)
{
	const char *begin = *at + 1, *end = strchr(begin, ')');

	tn_buf_put(out, before);
	tn_buf_putn(out, begin, (size_t)(end - begin));
	tn_buf_put(out, after);
	*at = end + 1;
}

static bool word_is(const char *word, size_t len, const char *text)
{
	return strlen(text) == len && !strncmp(word, text, len);
}

/* One word of a row's expression; *at is behind it. */
static void put_word(struct tn_buf *out, const struct tn_dialect *dialect,
		     enum tn_opcode code, enum tn_dtype dtype,
		     const char *word, const char **at)
{
	size_t len = (size_t)(*at - word);

	if (word_is(word, len, "T"))
		tn_buf_put(out, tn_emit_ctype(dtype));
	else if (word_is(word, len, "U"))
		put_unsigned(out, dtype);
	else if (word_is(word, len, "W"))
		tn_buf_putf(out, "%d", 8 * tn_dtypes[dtype].bytes);
	else if (word_is(word, len, "MINV"))
		put_least(out, dtype);
	else if (word_is(word, len, "MAXV"))
		put_most(out, dtype);
	else if (word_is(word, len, "F"))
		put_argument(out, at, "", dtype == TN_f64 ? "" : "f");
	else if (word_is(word, len, "NEG"))
		put_argument(out, at, "(", is_signed(dtype) ? " < 0)" :
			     " != 0 && 0)");
	else if (word_is(word, len, "RAISE"))
		tn_buf_putf(out, dialect->raise,
			    (unsigned)tn_eval_raised_by(code));
	else if (word_is(word, len, "IPOW"))
		tn_buf_putf(out, "tn_ipow_%s", tn_dtype_name(dtype));
	else
		tn_buf_putn(out, word, len);
}

static void put_body(struct tn_buf *out, const struct tn_dialect *dialect,
		     enum tn_opcode code, enum tn_dtype dtype)
{
	const char *at = row_of(code, dtype), *word;

	while (*at) {
		word = at;
		while (tn_ascii_is_word(*at))
			at++;
		if (at == word)
			tn_buf_putc(out, *at++);
		else if (tn_ascii_is_digit(*word))
			tn_buf_putn(out, word, (size_t)(at - word));
		else
			put_word(out, dialect, code, dtype, word, &at);
	}
}

/* a to the power b by squaring, wrapping. */
static void put_ipow(struct tn_buf *out, const struct tn_dialect *dialect,
		     enum tn_dtype dtype)
{
	const char *type = tn_emit_ctype(dtype), *name = tn_dtype_name(dtype);

	tn_buf_putf(out, "%s %s tn_ipow_%s(%s a, %s b)\n{\n", dialect->function,
		    type, name, type, type);
	tn_buf_put(out, "\t");
	put_unsigned(out, dtype);
	tn_buf_put(out, " r = 1, x = (");
	put_unsigned(out, dtype);
	tn_buf_put(out, ")a;\n\n");
	if (is_signed(dtype))
		tn_buf_putf(out, "\tif (b < 0)\n\t\treturn (%s)(a == 1 ? 1 : "
			    "a == -1 ? (b %% 2 != 0 ? -1 : 1) : 0);\n", type);
	tn_buf_put(out, "\twhile (b != 0) {\n\t\tif (b % 2 != 0)\n\t\t\tr = (");
	put_unsigned(out, dtype);
	tn_buf_put(out, ")(1u * r * x);\n\t\tx = (");
	put_unsigned(out, dtype);
	tn_buf_putf(out, ")(1u * x * x);\n\t\tb = (%s)(b / 2);\n\t}\n"
		    "\treturn (%s)r;\n}\n\n", type, type);
}

/* gcc 12, told that mathematics sets no errno, makes algebra of sin(atan(x)),
 * cos(atan(x)), sinh(atanh(x)) and cosh(atanh(x)), and 1 of sin(atan(NaN)). */
static const char *qualifiers(const struct tn_dialect *dialect,
			      enum tn_opcode code, enum tn_dtype dtype)
{
	bool is_folded = strstr(row_of(code, dtype), "F(atan") != NULL;

	return is_folded && dialect->opaque ? dialect->opaque :
		dialect->function;
}

static void put_op(struct tn_buf *out, const struct tn_dialect *dialect,
		   enum tn_opcode code, enum tn_dtype dtype)
{
	static const char *const names[] = { "a", "b", "c" };
	const char *type = tn_emit_ctype(dtype);
	const char *result = tn_ops[code].drule == TN_DRULE_BOOL ?
		"uint8_t" : type;
	const char *own = tn_emit_function(dialect, code, dtype, false);
	int i;

	if (strstr(row_of(code, dtype), "IPOW"))
		put_ipow(out, dialect, dtype);
	tn_buf_putf(out, "%s %s tn_%s_%s(",
		    qualifiers(dialect, code, dtype), result,
		    tn_ops[code].id, tn_dtype_name(dtype));
	if (tn_emit_raises(code, dtype))
		tn_buf_put(out, "uint32_t *tn_f, ");
	for (i = 0; i < tn_ops[code].nin_min; i++)
		tn_buf_putf(out, "%s%s %s", i ? ", " : "", type, names[i]);
	if (own) {
		tn_buf_putf(out, ")\n{\n%s}\n\n", own);
		return;
	}
	tn_buf_putf(out, ")\n{\n\treturn (%s)(", result);
	put_body(out, dialect, code, dtype);
	tn_buf_put(out, ");\n}\n\n");
}

static void put_ops(struct tn_buf *out, const struct tn_prelude *need,
		    const struct tn_dialect *dialect)
{
	int code, dtype;

	for (code = 0; code < TN_OP_COUNT; code++)
		for (dtype = 0; dtype < TN_DTYPE_COUNT; dtype++)
			if (need->ops[code][dtype])
				put_op(out, dialect, (enum tn_opcode)code,
				       (enum tn_dtype)dtype);
}

static void put_division(struct tn_buf *out, const struct tn_prelude *need,
			 const struct tn_dialect *dialect)
{
	if (need->parts & TN_PART_FLOOR)
		tn_buf_putf(out, "%s int64_t tn_floor(int64_t a, int64_t b)\n"
			    "{\n\treturn a / b - (a %% b != 0 && "
			    "(a < 0) != (b < 0));\n}\n\n", dialect->function);
	if (need->parts & TN_PART_MOD)
		tn_buf_putf(out, "%s int64_t tn_modulo(int64_t a, int64_t b)\n"
			    "{\n\treturn a %% b + (a %% b != 0 && "
			    "(a < 0) != (b < 0) ? b : 0);\n}\n\n",
			    dialect->function);
}

static void put_macs(struct tn_buf *out, const struct tn_prelude *need,
		     const struct tn_dialect *dialect)
{
	if (need->of[TN_f32] & TN_PART_MAC)
		tn_buf_putf(out, "/* One step of a sum of products; may "
			    "contract. */\n%s float tn_mac_f32(float acc, "
			    "float a, float b)\n{\n%s}\n\n",
			    dialect->function, dialect->mac_f32);
	if (need->of[TN_f64] & TN_PART_MAC)
		tn_buf_putf(out, "/* One step of a sum of products; may "
			    "contract. */\n%s double tn_mac_f64(double acc, "
			    "double a, double b)\n{\n%s}\n\n",
			    dialect->function, dialect->mac_f64);
}

void tn_prelude_print(struct tn_buf *out, struct tn_prelude *need,
		      const struct tn_dialect *dialect)
{
	tn_prelude_close_functions(need, dialect);
	tn_prelude_close_vectors(need);
	tn_prelude_close_casts(need);
	tn_prelude_bits(out, need, dialect);
	put_division(out, need, dialect);
	tn_prelude_casts(out, need, dialect);
	put_macs(out, need, dialect);
	put_ops(out, need, dialect);
	tn_prelude_vectors(out, need, dialect);
}
