/*
 * Helper functions on vectors: the compiler's vector types where it has them,
 * else a struct and a loop over its lanes. Both give the same bits.
 *
 * TN_PLAIN, defined by the user, chooses the plain spelling.
 */
#include "backends/emit.h"

#include <string.h>

#include "base/ascii.h"

static const enum tn_dtype elements[] = { TN_f32, TN_f64 };

static void close_width(struct tn_prelude *need,
			unsigned vectors[TN_DTYPE_COUNT],
			bool ops[TN_OP_COUNT][TN_DTYPE_COUNT])
{
	int dtype, code;
	enum tn_dtype held;

	for (dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
		held = tn_emit_held((enum tn_dtype)dtype);
		if (vectors[dtype] & TN_PART_MAC)
			need->of[dtype] |= TN_PART_MAC;
		if (vectors[dtype])
			vectors[held] |= TN_PART_MASK;
		if (held != (enum tn_dtype)dtype)
			need->of[dtype] |= vectors[dtype] &
				(TN_PART_LOAD | TN_PART_STORE |
				 TN_PART_ROUND);
	}
	for (code = 0; code < TN_OP_COUNT; code++)
		for (dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
			if (!ops[code][dtype])
				continue;
			vectors[dtype] |= TN_PART_MASK;
			if (strcmp(tn_ops[code].fexpr, "NA") &&
			    tn_ops[code].drule != TN_DRULE_SELECT)
				need->ops[code][dtype] = true;
			if (strstr(tn_ops[code].vexpr, "SELECT"))
				ops[TN_OP_select][dtype] = true;
		}
}

void tn_prelude_close_vectors(struct tn_prelude *need)
{
	int width;

	for (width = 0; width < TN_WIDTHS; width++)
		close_width(need, need->vectors[width],
			    need->vector_ops[width]);
}

struct printer {
	struct tn_buf *out;
	const char *function;
	enum tn_dtype dtype;	/* f32, f64 */
	const char *name;	/* of it */
	const char *type;	/* in C */
	int lanes, bytes, width;
	const struct tn_dialect *dialect;
};

static void put_types(const struct printer *p)
{
	int bits = p->dtype == TN_f64 ? 64 : 32;
	const char *n = p->width ? "n" : "";

	tn_buf_putf(p->out, "#if TN_VECTORS\n"
		    "typedef %s tn_%sx%d __attribute__((vector_size(%d)));\n"
		    "typedef int%d_t tn_mask%d%s __attribute__((vector_size(%d)"
		    "));\n#else\n"
		    "typedef struct { %s lane[%d]; } tn_%sx%d;\n"
		    "typedef struct { int%d_t lane[%d]; } tn_mask%d%s;\n"
		    "#endif\n\n", p->type, p->name, p->lanes, p->bytes, bits,
		    p->lanes, n, p->bytes, p->type, p->lanes, p->name,
		    p->lanes, bits, p->lanes, p->lanes, n);
}

static void put_splat(const struct printer *p)
{
	int i;

	tn_buf_putf(p->out, "%s tn_%sx%d tn_splat_%sx%d(%s a)\n{\n"
		    "#if TN_VECTORS\n\ttn_%sx%d r = {", p->function, p->name,
		    p->lanes, p->name, p->lanes, p->type, p->name, p->lanes);
	for (i = 0; i < p->lanes; i++)
		tn_buf_putf(p->out, "%sa", i ? ", " : "");
	tn_buf_put(p->out, "};\n\n\treturn r;\n#else\n");
	tn_buf_putf(p->out, "\ttn_%sx%d r = {0};\n\n"
		    "\tfor (int i = 0; i < %d; i++)\n\t\tTN_LANE(r, i) = a;\n"
		    "\treturn r;\n#endif\n}\n\n", p->name, p->lanes,
		    p->lanes);
}

/* What turns vectors of f16 and f32 into each other. */
static const struct half {
	int bytes;		/* of the f32 */
	const char *guard, *load, *store;
} halves[] = {
	{ 64, "defined(__AVX512F__)",
	  "_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p))",
	  "_mm256_storeu_si256((__m256i *)(void *)p, "
	  "_mm512_cvtps_ph((__m512)a, 8))" },
	{ 32, "defined(__F16C__) && defined(__FMA__)",
	  "_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p))",
	  "_mm_storeu_si128((__m128i *)(void *)p, "
	  "_mm256_cvtps_ph((__m256)a, 0))" },
	{ 16, "defined(__F16C__) && defined(__FMA__)",
	  "_mm_cvtph_ps(_mm_loadl_epi64((const __m128i *)(const void *)p))",
	  "_mm_storel_epi64((__m128i *)(void *)p, "
	  "_mm_cvtps_ph((__m128)a, 0))" }
};

static const struct half *half_of(const struct printer *p,
				  enum tn_dtype stored)
{
	size_t i;

	for (i = 0; stored == TN_f16 && i < sizeof halves / sizeof *halves; i++)
		if (halves[i].bytes == p->bytes)
			return &halves[i];
	return NULL;
}

/* Loads and stores; 16-bit floats change form on the way. */
static void put_memory(const struct printer *p, enum tn_dtype stored,
		       unsigned parts)
{
	const char *sname = tn_dtype_name(stored);
	const char *stype = tn_dtypes[stored].c_storage;
	bool is_same = stored == p->dtype;
	const struct half *half = half_of(p, stored);

	if (parts & TN_PART_LOAD) {
		tn_buf_putf(p->out, "%s tn_%sx%d tn_load_%sx%d(const %s *p)\n"
			    "{\n", p->function, p->name, p->lanes, sname,
			    p->lanes, stype);
		if (half)
			tn_buf_putf(p->out, "#if TN_VECTORS && %s\n"
				    "\treturn (tn_%sx%d)%s;\n#else\n",
				    half->guard, p->name, p->lanes, half->load);
		tn_buf_putf(p->out, "\ttn_%sx%d r%s;\n\n", p->name, p->lanes,
			    is_same ? "" : " = {0}");
		if (is_same)
			tn_buf_put(p->out, "\tmemcpy(&r, p, sizeof r);\n");
		else
			tn_buf_putf(p->out, "\tfor (int i = 0; i < %d; i++)\n"
				    "\t\tTN_LANE(r, i) = tn_load_%s(p[i]);\n",
				    p->lanes, sname);
		tn_buf_putf(p->out, "\treturn r;\n%s}\n\n",
			    half ? "#endif\n" : "");
	}
	if (!(parts & TN_PART_STORE))
		return;
	tn_buf_putf(p->out, "%s void tn_store_%sx%d(%s *p, tn_%sx%d a)\n{\n",
		    p->function, sname, p->lanes, stype, p->name, p->lanes);
	if (half)
		tn_buf_putf(p->out, "#if TN_VECTORS && %s\n\t%s;\n"
			    "#else\n", half->guard, half->store);
	if (is_same)
		tn_buf_put(p->out, "\tmemcpy(p, &a, sizeof a);\n");
	else
		tn_buf_putf(p->out, "\tfor (int i = 0; i < %d; i++)\n"
			    "\t\tp[i] = tn_store_%s(TN_LANE(a, i));\n",
			    p->lanes, sname);
	tn_buf_putf(p->out, "%s}\n\n", half ? "#endif\n" : "");
}

/* By a store and a load where the computer does them; else lane by lane. */
static void put_round(const struct printer *p, enum tn_dtype stored)
{
	const struct half *half = half_of(p, stored);
	const char *sname = tn_dtype_name(stored);

	tn_buf_putf(p->out, "%s tn_%sx%d tn_round_%sx%d(tn_%sx%d a)\n{\n",
		    p->function, p->name, p->lanes, sname, p->lanes, p->name,
		    p->lanes);
	if (half)
		tn_buf_putf(p->out, "#if TN_VECTORS && %s\n"
			    "\tuint16_t p[%d];\n\n\t%s;\n"
			    "\treturn (tn_%sx%d)%s;\n#else\n", half->guard,
			    p->lanes, half->store, p->name, p->lanes,
			    half->load);
	tn_buf_putf(p->out, "\ttn_%sx%d r = {0};\n\n"
		    "\tfor (int i = 0; i < %d; i++)\n"
		    "\t\tTN_LANE(r, i) = tn_round_%s(TN_LANE(a, i));\n"
		    "\treturn r;\n%s}\n\n", p->name, p->lanes, p->lanes, sname,
		    half ? "#endif\n" : "");
}

/* Intrinsics for acc + a * b where the instruction set has one; lanes by
 * `fma` where it has none for this width. */
static void put_mac(const struct printer *p)
{
	char letter = p->dtype == TN_f64 ? 'd' : 's';
	const char *reg = p->dtype == TN_f64 ? "d" : "";
	const char *guard = p->bytes == 64 ? "defined(__AVX512F__)" :
		"defined(__FMA__)";
	int bits = 8 * p->bytes;

	tn_buf_putf(p->out, "%s tn_%sx%d tn_mac_%sx%d(tn_%sx%d acc, "
		    "tn_%sx%d a, tn_%sx%d b)\n{\n", p->function, p->name,
		    p->lanes, p->name, p->lanes, p->name, p->lanes, p->name,
		    p->lanes, p->name, p->lanes);
	tn_buf_putf(p->out, "#if TN_VECTORS && %s\n"
		    "\treturn (tn_%sx%d)_mm%s_fmadd_p%c((__m%d%s)a, (__m%d%s)"
		    "b, (__m%d%s)acc);\n", guard, p->name, p->lanes,
		    bits == 512 ? "512" : bits == 256 ? "256" : "", letter,
		    bits, reg, bits, reg, bits, reg);
	tn_buf_putf(p->out, "#elif TN_VECTORS && !defined(TN_FMA)\n"
		    "\treturn acc + a * b;\n#else\n\ttn_%sx%d r = {0};\n\n"
		    "\tfor (int i = 0; i < %d; i++)\n\t\tTN_LANE(r, i) = "
		    "tn_mac_%s(TN_LANE(acc, i), TN_LANE(a, i),\n"
		    "\t\t\t\t\tTN_LANE(b, i));\n\treturn r;\n#endif\n}\n\n",
		    p->name, p->lanes, p->lanes, p->name);
}

/* One word of a row's vexpr; of single lanes if `lanes`. */
static void put_word(const struct printer *p, const char *word, size_t len,
		     bool lanes)
{
	if (len == 4 && !strncmp(word, "MASK", len))
		tn_emit_vector_type(p->out, TN_bool, p->lanes, p->width);
	else if (len == 3 && !strncmp(word, "VEC", len))
		tn_buf_putf(p->out, "tn_%sx%d", p->name, p->lanes);
	else if (len == 6 && !strncmp(word, "SELECT", len))
		tn_buf_putf(p->out, "tn_select_%sx%d", p->name, p->lanes);
	else if (len == 5 && !strncmp(word, "SPLAT", len))
		tn_buf_putf(p->out, "tn_splat_%sx%d", p->name, p->lanes);
	else if (len == 3 && !strncmp(word, "MAC", len))
		tn_buf_putf(p->out, "tn_mac_%sx%d", p->name, p->lanes);
	else if (len > 5 && !strncmp(word, "CALL_", 5))
		tn_buf_putf(p->out, "tn_%.*s_%sx%d", (int)len - 5, word + 5,
			    p->name, p->lanes);
	else if (lanes)
		tn_buf_putf(p->out, "TN_LANE(%.*s, i)", (int)len, word);
	else
		tn_buf_putn(p->out, word, len);
}

static void put_vexpr(const struct printer *p, const char *at, bool lanes)
{
	const char *word;

	while (*at) {
		word = at;
		while (tn_ascii_is_word(*at))
			at++;
		if (at == word)
			tn_buf_putc(p->out, *at++);
		else
			put_word(p, word, (size_t)(at - word), lanes);
	}
}

/* On masks alone: of floats there is no such operator. */
static bool is_logic(enum tn_opcode code)
{
	return !strcmp(tn_ops[code].fexpr, "NA");
}

static void put_lane_value(const struct printer *p, enum tn_opcode code)
{
	static const char *const names[] = { "a", "b", "c" };
	bool is_test = tn_ops[code].drule == TN_DRULE_BOOL;
	int i;

	if (tn_ops[code].drule == TN_DRULE_SELECT) {
		tn_buf_put(p->out, "TN_LANE(a, i) != 0 ? TN_LANE(b, i) : "
			   "TN_LANE(c, i)");
		return;
	}
	if (is_logic(code)) {
		put_vexpr(p, tn_ops[code].vexpr, true);
		return;
	}
	tn_buf_putf(p->out, "%stn_%s_%s(", is_test ? "-" : "",
		    tn_ops[code].id, p->name);
	for (i = 0; i < tn_ops[code].nin_min; i++)
		tn_buf_putf(p->out, "%sTN_LANE(%s, i)", i ? ", " : "",
			    names[i]);
	tn_buf_putc(p->out, ')');
}

static void put_type(const struct printer *p, bool is_mask)
{
	tn_emit_vector_type(p->out, is_mask ? TN_bool : p->dtype, p->lanes,
			    p->width);
}

static void put_op(const struct printer *p, enum tn_opcode code)
{
	static const char *const names[] = { "a", "b", "c" };
	bool logic = is_logic(code);
	bool is_mask = logic || tn_ops[code].drule == TN_DRULE_BOOL;
	bool selects = tn_ops[code].drule == TN_DRULE_SELECT;
	const char *own = tn_emit_function(p->dialect, code, p->dtype, true);
	bool is_native = own || strcmp(tn_ops[code].vexpr, "NA") != 0;
	int i;

	tn_buf_putf(p->out, "%s ", p->function);
	put_type(p, is_mask);
	tn_buf_putf(p->out, " tn_%s_%sx%d(", tn_ops[code].id, p->name,
		    p->lanes);
	for (i = 0; i < tn_ops[code].nin_min; i++) {
		tn_buf_put(p->out, i ? ", " : "");
		put_type(p, logic || (selects && i == 0));
		tn_buf_putf(p->out, " %s", names[i]);
	}
	tn_buf_put(p->out, ")\n{\n");
	if (is_native)
		tn_buf_put(p->out, own ? "#if TN_VECTORS\n" :
			   "#if TN_VECTORS\n\treturn ");
	if (is_native)
		put_vexpr(p, own ? own : tn_ops[code].vexpr, false);
	if (is_native)
		tn_buf_put(p->out, own ? "#else\n" : ";\n#else\n");
	tn_buf_put(p->out, "\t");
	put_type(p, is_mask);
	tn_buf_putf(p->out, " r = {0};\n\n\tfor (int i = 0; i < %d; i++)\n"
		    "\t\tTN_LANE(r, i) = ", p->lanes);
	put_lane_value(p, code);
	tn_buf_putf(p->out, ";\n\treturn r;\n%s}\n\n",
		    is_native ? "#endif\n" : "");
}

static void put_element(const struct printer *p, const struct tn_prelude *need)
{
	const unsigned *parts = need->vectors[p->width];
	const bool (*ops)[TN_DTYPE_COUNT] = need->vector_ops[p->width];
	int dtype, code;

	put_types(p);
	if (parts[p->dtype] & TN_PART_SPLAT)
		put_splat(p);
	for (dtype = 0; dtype < TN_DTYPE_COUNT; dtype++) {
		if (tn_emit_held((enum tn_dtype)dtype) != p->dtype)
			continue;
		put_memory(p, (enum tn_dtype)dtype, parts[dtype]);
		if (parts[dtype] & TN_PART_ROUND)
			put_round(p, (enum tn_dtype)dtype);
	}
	if (parts[p->dtype] & TN_PART_MAC)
		put_mac(p);
	if (ops[TN_OP_select][p->dtype])
		put_op(p, TN_OP_select);
	for (code = 0; code < TN_OP_COUNT; code++)
		if (ops[code][p->dtype] && code != TN_OP_select)
			put_op(p, (enum tn_opcode)code);
}

/* The vectors of an element, whole ones first. */
static void put_widths(struct printer *p, const struct tn_prelude *need)
{
	int whole = tn_emit_lanes(p->dialect, p->dtype);

	for (p->width = 0; p->width < TN_WIDTHS; p->width++) {
		if (!need->vectors[p->width][p->dtype])
			continue;
		p->lanes = whole >> p->width;
		p->bytes = p->dialect->vector_bytes >> p->width;
		put_element(p, need);
	}
}

void tn_prelude_vectors(struct tn_buf *out, struct tn_prelude *need,
			const struct tn_dialect *dialect)
{
	struct printer p = { .out = out, .function = dialect->function,
			     .dialect = dialect };
	size_t i;

	if (!dialect->vector_bytes)
		return;
	for (i = 0; i < 2; i++) {
		p.dtype = elements[i];
		p.name = tn_dtype_name(p.dtype);
		p.type = tn_emit_ctype(p.dtype);
		put_widths(&p, need);
	}
}
