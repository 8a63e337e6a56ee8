/*
 * Sizes as C.
 *
 * In: a dim, whose symbols the caller spells. Out: an expression on int64_t.
 * Divisions that may meet a negative number call a helper that rounds down,
 * which is noted in `need`, as are those of min and max.
 *
 *   (2*B + 1) // 4   ->   (2 * B + 1) / 4
 */
#include "backends/emit.h"

static void put_term(struct tn_buf *out, struct tn_prelude *need,
		     const struct tn_dim_term *term, int64_t coef,
		     tn_emit_spell *spell, void *data)
{
	bool first = true;
	int i;

	if (coef != 1 || term->natoms == 0) {
		tn_emit_int(out, TN_i64, coef);
		first = false;
	}
	for (i = 0; i < term->natoms; i++) {
		if (!first)
			tn_buf_put(out, " * ");
		tn_emit_dim(out, need, term->atoms[i], TN_LEVEL_MUL + 1, spell,
			    data);
		first = false;
	}
}

static void put_sum(struct tn_buf *out, struct tn_prelude *need,
		    const struct tn_dim *dim, int level, tn_emit_spell *spell,
		    void *data)
{
	bool brackets = level > (dim->nterms > 1 ? TN_LEVEL_ADD :
				 TN_LEVEL_MUL) || dim->terms[0].coef < 0;
	int64_t coef;
	int i;

	if (brackets)
		tn_buf_putc(out, '(');
	for (i = 0; i < dim->nterms; i++) {
		coef = dim->terms[i].coef;
		if (i > 0)
			tn_buf_put(out, coef < 0 && coef != INT64_MIN ?
				   " - " : " + ");
		put_term(out, need, &dim->terms[i],
			 i > 0 && coef < 0 && coef != INT64_MIN ? -coef : coef,
			 spell, data);
	}
	if (brackets)
		tn_buf_putc(out, ')');
}

static void put_call(struct tn_buf *out, struct tn_prelude *need,
		     const struct tn_dim *dim, const char *name,
		     tn_emit_spell *spell, void *data)
{
	tn_buf_putf(out, "%s(", name);
	tn_emit_dim(out, need, dim->a, TN_LEVEL_ANY, spell, data);
	tn_buf_put(out, ", ");
	tn_emit_dim(out, need, dim->b, TN_LEVEL_ANY, spell, data);
	tn_buf_putc(out, ')');
}

static void put_division(struct tn_buf *out, struct tn_prelude *need,
			 const struct tn_dim *dim, int level,
			 tn_emit_spell *spell, void *data)
{
	bool is_mod = dim->kind == TN_DIM_MOD;
	int64_t lo, hi, blo, bhi;

	tn_dim_bounds(dim->a, &lo, &hi);
	tn_dim_bounds(dim->b, &blo, &bhi);
	if (lo < 0 || blo < 1) {
		need->parts |= is_mod ? TN_PART_MOD : TN_PART_FLOOR;
		put_call(out, need, dim, is_mod ? "tn_modulo" : "tn_floor",
			 spell, data);
		return;
	}
	if (level > TN_LEVEL_MUL)
		tn_buf_putc(out, '(');
	tn_emit_dim(out, need, dim->a, TN_LEVEL_MUL, spell, data);
	tn_buf_put(out, is_mod ? " % " : " / ");
	tn_emit_dim(out, need, dim->b, TN_LEVEL_MUL + 1, spell, data);
	if (level > TN_LEVEL_MUL)
		tn_buf_putc(out, ')');
}

void tn_emit_dim(struct tn_buf *out, struct tn_prelude *need,
		 const struct tn_dim *dim, int level, tn_emit_spell *spell,
		 void *data)
{
	switch (dim->kind) {
	case TN_DIM_CONST:
		if (dim->value < 0)
			tn_buf_putc(out, '(');
		tn_emit_int(out, TN_i64, dim->value);
		if (dim->value < 0)
			tn_buf_putc(out, ')');
		break;
	case TN_DIM_SYM:
		spell(data, dim->sym, out);
		break;
	case TN_DIM_SUM:
		put_sum(out, need, dim, level, spell, data);
		break;
	case TN_DIM_FLOORDIV:
	case TN_DIM_MOD:
		put_division(out, need, dim, level, spell, data);
		break;
	case TN_DIM_MIN:
		need->ops[TN_OP_min][TN_i64] = true;
		put_call(out, need, dim, "tn_min_i64", spell, data);
		break;
	case TN_DIM_MAX:
		need->ops[TN_OP_max][TN_i64] = true;
		put_call(out, need, dim, "tn_max_i64", spell, data);
		break;
	}
}
