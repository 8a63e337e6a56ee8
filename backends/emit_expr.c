/*
 * Expressions of kernels as C.
 *
 * Arithmetic that is the same in C prints as C's operators; what wraps,
 * saturates, raises or rounds on the way prints as a call of a helper, which
 * is noted in emit->need. Values of 16-bit floats are floats, rounded after
 * each operator unless the kernel has @fp(wide).
 */
#include "backends/emit.h"

#include <string.h>

#include "base/half.h"
#include "base/num.h"
#include "ir/eval.h"

const char *tn_emit_name(struct tn_emit *emit, const void *key,
			 const char *wish)
{
	const char *name = tn_names_get(&emit->names, key, wish);

	if (!name || !tn_map_set(&emit->used, key, emit))
		emit->failed = true;
	return name ? name : "";
}

/* ---- Constants ---- */

bool tn_emit_const(const struct tn_emit *emit, const struct tn_kexpr *e,
		   int64_t *value)
{
	return tn_kexpr_known(e, &emit->consts, value);
}

/* An element of a type that is only stored, as it is held. */
static void put_stored(struct tn_emit *emit, enum tn_dtype dtype, uint8_t bits)
{
	if (tn_dtype_holds(dtype, TN_KIND_I))
		tn_buf_putf(emit->out, "(%d)", (int8_t)bits);
	else
		tn_buf_putf(emit->out, "%d", bits);
}

static void put_float(struct tn_emit *emit, enum tn_dtype dtype, double value)
{
	char text[40];
	float narrow = (float)value;
	uint64_t bits;
	uint32_t half;
	uint8_t byte;

	if (tn_dtype_is(dtype, TN_KIND_X)) {
		tn_eval_cast(TN_f64, &value, dtype, &byte);
		put_stored(emit, dtype, byte);
		return;
	}
	if (dtype == TN_f16)
		narrow = tn_half_f16_to_f32(tn_half_f16_from_f64(value));
	if (dtype == TN_bf16)
		narrow = tn_half_bf16_to_f32(tn_half_bf16_from_f64(value));
	if (dtype == TN_f64 && value - value != 0) {
		bits = value != value ? UINT64_C(0x7ff8000000000000) : 0;
		if (value == value)
			memcpy(&bits, &value, sizeof(bits));
		tn_buf_putf(emit->out, "tn_bits_f64(%lluu)",
			    (unsigned long long)bits);
		emit->need->parts |= TN_PART_BITS_F64;
	} else if (dtype == TN_f64) {
		tn_num_print_f64(value, text);
		tn_buf_put(emit->out, text);
	} else if (narrow - narrow != 0) {
		half = 0x7fc00000u;
		if (narrow == narrow)
			memcpy(&half, &narrow, sizeof(half));
		tn_buf_putf(emit->out, "tn_bits_f32(0x%08xu)",
			    (unsigned)half);
		emit->need->parts |= TN_PART_BITS_F32;
	} else {
		tn_num_print_f32(narrow, text);
		tn_buf_putf(emit->out, "%sf", text);
	}
}

/* ---- Accesses ---- */

static void spell_in_kernel(void *data, const struct tn_sym *sym,
			    struct tn_buf *out)
{
	tn_buf_put(out, tn_emit_name(data, sym, sym->name));
}

static void put_extent(struct tn_emit *emit, const struct tn_dim *dim)
{
	tn_emit_dim(emit->out, emit->need, dim, TN_LEVEL_MUL + 1,
		    spell_in_kernel, emit);
}

/* Position in the first `n` axes; *value is set instead if constant. */
static bool put_position(struct tn_emit *emit, const struct tn_kbuf *buf,
			 int n, const struct tn_kexpr *const *index,
			 int level, int64_t *value)
{
	struct tn_buf *out = emit->out, outer, *old = out;
	int64_t left = 0, right, extent;
	bool is_const, brackets;

	if (n == 0) {
		*value = 0;
		return true;
	}
	tn_buf_init(&outer);
	emit->out = &outer;
	is_const = put_position(emit, buf, n - 1, index, TN_LEVEL_MUL, &left);
	emit->out = old;
	if (outer.failed)
		emit->failed = true;
	if (is_const && left != 0 && tn_dim_is_const(buf->dims[n - 1]) &&
	    tn_num_mul(left, buf->dims[n - 1]->value, &extent))
		left = extent;
	else if (is_const && left != 0)
		is_const = false;
	if (is_const && tn_emit_const(emit, index[n - 1], &right) &&
	    tn_num_add(left, right, value)) {
		tn_buf_fini(&outer);
		return true;
	}
	if (is_const && left == 0) {
		tn_emit_expr(emit, index[n - 1], level);
		tn_buf_fini(&outer);
		return false;
	}
	right = -1;
	(void)tn_emit_const(emit, index[n - 1], &right);
	brackets = level > (right == 0 ? TN_LEVEL_MUL : TN_LEVEL_ADD);
	if (brackets)
		tn_buf_putc(out, '(');
	if (is_const) {
		tn_emit_int(out, TN_i64, left);
	} else {
		if (outer.len)
			tn_buf_putn(out, outer.data, outer.len);
		else
			tn_emit_int(out, TN_i64, left);
		if (!tn_dim_is(buf->dims[n - 1], 1)) {
			tn_buf_put(out, " * ");
			put_extent(emit, buf->dims[n - 1]);
		}
	}
	if (right != 0) {
		tn_buf_put(out, " + ");
		tn_emit_expr(emit, index[n - 1], TN_LEVEL_ADD + 1);
	}
	if (brackets)
		tn_buf_putc(out, ')');
	tn_buf_fini(&outer);
	return false;
}

void tn_emit_index(struct tn_emit *emit, const struct tn_kbuf *buf, int n,
		   const struct tn_kexpr *const *index)
{
	const struct tn_kexpr *rest[TN_MAX_RANK];
	int64_t value, offset;

	if (n > TN_MAX_RANK ||
	    !tn_emit_offset(emit, buf, n, index, rest, &offset)) {
		if (put_position(emit, buf, n, index, TN_LEVEL_ANY, &value))
			tn_emit_int(emit->out, TN_i64, value);
		return;
	}
	if (put_position(emit, buf, n, rest, TN_LEVEL_ADD, &value))
		tn_emit_int(emit->out, TN_i64, value);
	tn_buf_put(emit->out, offset < 0 ? " - " : " + ");
	tn_emit_int(emit->out, TN_i64, offset < 0 ? -offset : offset);
}

bool tn_emit_variable(struct tn_emit *emit, const struct tn_kbuf *buf, int n,
		      const struct tn_kexpr *const *index)
{
	const char *name = tn_emit_name(emit, buf, buf->name);
	enum tn_emit_form form = tn_emit_form_of(emit, buf);
	int lanes = tn_emit_lanes_of(emit, buf);
	long long slot;

	if (form == TN_FORM_ARRAY)
		return false;
	slot = tn_emit_slot(emit, buf, n, index);
	if (form == TN_FORM_SCALARS)
		tn_buf_putf(emit->out, "%s_%lld", name, slot);
	else
		tn_buf_putf(emit->out, "TN_LANE(%s_%lld, %lld)", name,
			    slot / lanes, slot % lanes);
	return true;
}

static void put_load(struct tn_emit *emit, const struct tn_kexpr *e)
{
	const char *name = tn_emit_name(emit, e->buf, e->buf->name);
	bool is_small = tn_emit_held(e->dtype) != e->dtype;

	if (tn_emit_variable(emit, e->buf, e->nargs, e->args))
		return;
	if (is_small) {
		emit->need->of[e->dtype] |= TN_PART_LOAD;
		tn_buf_putf(emit->out, "tn_load_%s(",
			    tn_dtype_name(e->dtype));
	}
	tn_buf_putf(emit->out, "%s[", name);
	tn_emit_index(emit, e->buf, e->nargs, e->args);
	tn_buf_put(emit->out, is_small ? "])" : "]");
}

/* ---- Operators ---- */

/* C's sign of an operator. */
struct sign {
	enum tn_opcode code;
	const char *text;	/* "": none */
	int level;
	unsigned kinds;		/* of the operands: where C means the same */
};

enum { TN_KIND_NOTHING = 0 };

#define INFIX(id, text, level, op, how, ctext, clevel, ckinds) \
	{ TN_OP_##op, ctext, TN_LEVEL_##clevel, TN_KIND_##ckinds },

static const struct sign signs[] = {
#include "ir/infix.def"
};

#undef INFIX

static const struct sign *find_sign(const struct tn_kexpr *e)
{
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (signs[i].code == e->code && *signs[i].text)
			return e->is_index ||
				tn_dtype_is(e->args[0]->dtype,
					    signs[i].kinds) ?
				&signs[i] : NULL;
	return NULL;
}

/* gcc and clang warn of `a || b && c`, `a < b == c` and their like. */
static int inner_level(const struct sign *sign)
{
	if (sign->level == TN_LEVEL_OR || sign->level == TN_LEVEL_AND)
		return TN_LEVEL_EQ;
	if (sign->level == TN_LEVEL_EQ || sign->level == TN_LEVEL_LESS)
		return TN_LEVEL_ADD;
	return sign->level;
}

static void put_side(struct tn_emit *emit, const struct sign *sign,
		     const struct tn_kexpr *side, bool is_right)
{
	int level = inner_level(sign);

	if (is_right && sign->level >= TN_LEVEL_ADD)
		level++;
	if (side->kind == TN_KEXPR_OP && side->code == sign->code &&
	    sign->level <= TN_LEVEL_AND)
		level = TN_LEVEL_OR;
	tn_emit_expr(emit, side, level);
}

static void put_infix(struct tn_emit *emit, const struct sign *sign,
		      const struct tn_kexpr *e, int level)
{
	if (sign->level < level)
		tn_buf_putc(emit->out, '(');
	put_side(emit, sign, e->args[0], false);
	tn_buf_putf(emit->out, " %s ", sign->text);
	put_side(emit, sign, e->args[1], true);
	if (sign->level < level)
		tn_buf_putc(emit->out, ')');
}

static void put_helper(struct tn_emit *emit, const struct tn_kexpr *e)
{
	enum tn_dtype dtype = tn_emit_held(e->args[0]->dtype);
	int i;

	emit->need->ops[e->code][dtype] = true;
	tn_buf_putf(emit->out, "tn_%s_%s(", tn_ops[e->code].id,
		    tn_dtype_name(dtype));
	if (tn_emit_raises(e->code, dtype))
		tn_buf_putf(emit->out, "%s, ", emit->dialect->flags);
	for (i = 0; i < e->nargs; i++) {
		if (i)
			tn_buf_put(emit->out, ", ");
		tn_emit_expr(emit, e->args[i], TN_LEVEL_ANY);
	}
	tn_buf_putc(emit->out, ')');
}

static void put_select(struct tn_emit *emit, const struct tn_kexpr *e)
{
	const char *type = tn_emit_ctype(e->dtype);
	bool is_narrow = !tn_dtype_is(e->dtype, TN_KIND_F) &&
		tn_dtype_bytes(e->dtype) < 4;

	if (is_narrow)
		tn_buf_putf(emit->out, "(%s)", type);
	tn_buf_putc(emit->out, '(');
	tn_emit_expr(emit, e->args[0], TN_LEVEL_OR);
	tn_buf_put(emit->out, " ? ");
	tn_emit_expr(emit, e->args[1], TN_LEVEL_OR);
	tn_buf_put(emit->out, " : ");
	tn_emit_expr(emit, e->args[2], TN_LEVEL_OR);
	tn_buf_putc(emit->out, ')');
}

static void put_cast(struct tn_emit *emit, const struct tn_kexpr *e)
{
	enum tn_dtype from = e->args[0]->dtype, to = e->dtype;
	bool is_bits = e->code == TN_OP_bitcast;

	if (from == to ||
	    (!is_bits && to == TN_f32 && tn_emit_held(from) == TN_f32)) {
		tn_emit_expr(emit, e->args[0], TN_LEVEL_UNARY);
		return;
	}
	if (is_bits)
		emit->need->bitcasts[from][to] = true;
	else
		emit->need->casts[from][to] = true;
	tn_buf_putf(emit->out, "tn_%s_%s_%s(", is_bits ? "bitcast" : "cast",
		    tn_dtype_name(from), tn_dtype_name(to));
	tn_emit_expr(emit, e->args[0], TN_LEVEL_ANY);
	tn_buf_putc(emit->out, ')');
}

static void put_prefix(struct tn_emit *emit, const struct sign *sign,
		       const struct tn_kexpr *e, int level)
{
	if (level > TN_LEVEL_MUL)
		tn_buf_putc(emit->out, '(');
	tn_buf_put(emit->out, sign->text);
	tn_emit_expr(emit, e->args[0], TN_LEVEL_UNARY);
	if (level > TN_LEVEL_MUL)
		tn_buf_putc(emit->out, ')');
}

/* x + 0, x * 1 of index arithmetic under written-out loops. */
static const struct tn_kexpr *simplify(const struct tn_emit *emit,
				       const struct tn_kexpr *e)
{
	int64_t value;

	if (!e->is_index || e->nargs != 2)
		return NULL;
	if (tn_emit_const(emit, e->args[1], &value) &&
	    ((value == 0 && (e->code == TN_OP_add || e->code == TN_OP_sub)) ||
	     (value == 1 && (e->code == TN_OP_mul || e->code == TN_OP_fdiv))))
		return e->args[0];
	if (tn_emit_const(emit, e->args[0], &value) &&
	    ((value == 0 && e->code == TN_OP_add) ||
	     (value == 1 && e->code == TN_OP_mul)))
		return e->args[1];
	return NULL;
}

static void put_op(struct tn_emit *emit, const struct tn_kexpr *e, int level)
{
	const struct tn_kexpr *simple = simplify(emit, e);
	const struct sign *sign = find_sign(e);
	enum tn_drule rule = tn_ops[e->code].drule;

	if (simple)
		tn_emit_expr(emit, simple, level);
	else if (sign && e->nargs == 1)
		put_prefix(emit, sign, e, level);
	else if (sign)
		put_infix(emit, sign, e, level);
	else if (rule == TN_DRULE_SELECT)
		put_select(emit, e);
	else if (rule == TN_DRULE_ELEM)
		put_cast(emit, e);
	else
		put_helper(emit, e);
}

bool tn_emit_rounds(const struct tn_emit *emit, const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_OP && !emit->wide &&
		tn_emit_held(e->dtype) != e->dtype &&
		!tn_op_has(e->code, TN_FLAG_EXACT);
}

static void put_int(struct tn_emit *emit, const struct tn_kexpr *e,
		    int64_t value)
{
	uint8_t byte;

	if (tn_dtype_is(e->dtype, TN_KIND_X)) {
		tn_eval_cast(TN_i64, &value, e->dtype, &byte);
		put_stored(emit, e->dtype, byte);
		return;
	}
	if (tn_dtype_is(e->dtype, TN_KIND_F)) {
		put_float(emit, e->dtype, (double)value);
		return;
	}
	if (value < 0 && !tn_dtype_is(e->dtype, TN_KIND_U))
		tn_buf_putc(emit->out, '(');
	tn_emit_int(emit->out, e->dtype, value);
	if (value < 0 && !tn_dtype_is(e->dtype, TN_KIND_U))
		tn_buf_putc(emit->out, ')');
}

static void put_node(struct tn_emit *emit, const struct tn_kexpr *e,
		     int level)
{
	switch (e->kind) {
	case TN_KEXPR_INT:
		put_int(emit, e, e->i);
		break;
	case TN_KEXPR_FLOAT:
		if (e->f < 0)
			tn_buf_putc(emit->out, '(');
		put_float(emit, e->dtype, e->f);
		if (e->f < 0)
			tn_buf_putc(emit->out, ')');
		break;
	case TN_KEXPR_VAR:
		tn_buf_put(emit->out,
			   tn_emit_name(emit, e->var, e->var->name));
		break;
	case TN_KEXPR_DIM:
		tn_emit_dim(emit->out, emit->need, e->dim, level,
			    spell_in_kernel, emit);
		break;
	case TN_KEXPR_LOAD:
		put_load(emit, e);
		break;
	case TN_KEXPR_OP:
		put_op(emit, e, level);
		break;
	}
}

void tn_emit_expr(struct tn_emit *emit, const struct tn_kexpr *e, int level)
{
	int64_t value;

	if (tn_emit_const(emit, e, &value)) {
		put_int(emit, e, value);
		return;
	}
	if (!tn_emit_rounds(emit, e)) {
		put_node(emit, e, level);
		return;
	}
	emit->need->of[e->dtype] |= TN_PART_ROUND;
	tn_buf_putf(emit->out, "tn_round_%s(", tn_dtype_name(e->dtype));
	put_node(emit, e, TN_LEVEL_ANY);
	tn_buf_putc(emit->out, ')');
}
