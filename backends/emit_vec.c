/*
 * Vector loops as code: calls of the helpers of emit_vector.c.
 *
 * The loop's variable stands at the first lane; a loop over registers, or a
 * short one, is written out, others step by the number of lanes and end in a
 * plain loop over the rest.
 */
#include "backends/emit.h"

void tn_emit_vector_type(struct tn_buf *out, enum tn_dtype dtype, int lanes,
			 int width)
{
	if (dtype == TN_bool)
		tn_buf_putf(out, "tn_mask%d%s", lanes, width ? "n" : "");
	else
		tn_buf_putf(out, "tn_%sx%d",
			    tn_dtype_name(tn_emit_held(dtype)), lanes);
}

/* ---- Expressions ---- */

static enum tn_dtype element(const struct tn_emit *emit)
{
	return (emit->dialect->vector_bytes >> emit->width) / emit->nlanes == 8 ?
		TN_f64 : TN_f32;
}

/* "tn_NAME_f32x8(" */
static void open_call(struct tn_emit *emit, const char *name,
		      enum tn_dtype dtype)
{
	tn_buf_putf(emit->out, "tn_%s_%sx%d(", name, tn_dtype_name(dtype),
		    emit->nlanes);
}

static void put_args(struct tn_emit *emit, const struct tn_kexpr *e)
{
	int i;

	for (i = 0; i < e->nargs; i++) {
		if (i)
			tn_buf_put(emit->out, ", ");
		tn_emit_vec_expr(emit, e->args[i]);
	}
	tn_buf_putc(emit->out, ')');
}

static void put_splat(struct tn_emit *emit, const struct tn_kexpr *e)
{
	emit->need->vectors[emit->width][element(emit)] |= TN_PART_SPLAT;
	open_call(emit, "splat", element(emit));
	tn_emit_expr(emit, e, TN_LEVEL_ANY);
	tn_buf_putc(emit->out, ')');
}

static void put_load(struct tn_emit *emit, const struct tn_kexpr *e)
{
	const char *name = tn_emit_name(emit, e->buf, e->buf->name);

	if (tn_emit_form_of(emit, e->buf) == TN_FORM_VECTORS) {
		tn_buf_putf(emit->out, "%s_%lld", name, (long long)
			    (tn_emit_slot(emit, e->buf, e->nargs, e->args) /
			     emit->nlanes));
		return;
	}
	emit->need->vectors[emit->width][e->dtype] |= TN_PART_LOAD;
	open_call(emit, "load", e->dtype);
	tn_buf_putf(emit->out, "&%s[", name);
	tn_emit_index(emit, e->buf, e->nargs, e->args);
	tn_buf_put(emit->out, "])");
}

static void put_helper(struct tn_emit *emit, const struct tn_kexpr *e)
{
	emit->need->vector_ops[emit->width][e->code][element(emit)] = true;
	open_call(emit, tn_ops[e->code].id, element(emit));
	put_args(emit, e);
}

static void put_select(struct tn_emit *emit, const struct tn_kexpr *e)
{
	if (tn_emit_is_varying(emit, e->args[0])) {
		put_helper(emit, e);
		return;
	}
	tn_buf_putc(emit->out, '(');
	tn_emit_expr(emit, e->args[0], TN_LEVEL_OR);
	tn_buf_put(emit->out, " ? ");
	tn_emit_vec_expr(emit, e->args[1]);
	tn_buf_put(emit->out, " : ");
	tn_emit_vec_expr(emit, e->args[2]);
	tn_buf_putc(emit->out, ')');
}

/* A conversion has no helper here that would round what it is given. */
static bool rounds(const struct tn_emit *emit, const struct tn_kexpr *e)
{
	if (tn_ops[e->code].drule == TN_DRULE_ELEM)
		return tn_emit_held(e->dtype) != e->dtype &&
			e->args[0]->dtype != e->dtype;
	return tn_emit_rounds(emit, e);
}

static void put_op(struct tn_emit *emit, const struct tn_kexpr *e)
{
	enum tn_drule rule = tn_ops[e->code].drule;
	bool is_rounded = rounds(emit, e);

	if (is_rounded) {
		emit->need->vectors[emit->width][e->dtype] |= TN_PART_ROUND;
		open_call(emit, "round", e->dtype);
	}
	if (rule == TN_DRULE_ELEM)
		tn_emit_vec_expr(emit, e->args[0]);
	else if (rule == TN_DRULE_SELECT)
		put_select(emit, e);
	else
		put_helper(emit, e);
	if (is_rounded)
		tn_buf_putc(emit->out, ')');
}

void tn_emit_vec_expr(struct tn_emit *emit, const struct tn_kexpr *e)
{
	if (!tn_emit_is_varying(emit, e))
		put_splat(emit, e);
	else if (e->kind == TN_KEXPR_LOAD)
		put_load(emit, e);
	else if (e->kind == TN_KEXPR_VAR)
		tn_buf_put(emit->out,
			   tn_emit_name(emit, e->var, e->var->name));
	else
		put_op(emit, e);
}

/* ---- Statements ---- */

static void put_sum(struct tn_emit *emit, const struct tn_kexpr *place,
		    const struct tn_kexpr *value)
{
	const struct tn_kexpr *args[2];
	struct tn_kexpr sum;

	args[0] = place;
	args[1] = value;
	if (tn_emit_contracts(emit, place->dtype, value)) {
		emit->need->vectors[emit->width][place->dtype] |= TN_PART_MAC;
		open_call(emit, "mac", place->dtype);
		tn_emit_vec_expr(emit, place);
		tn_buf_put(emit->out, ", ");
		put_args(emit, value);
		return;
	}
	sum = tn_emit_sum(args);
	tn_emit_vec_expr(emit, &sum);
}

static void put_value(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct tn_kexpr place = tn_emit_place(s);

	if (s->accumulate)
		put_sum(emit, &place, s->value);
	else
		tn_emit_vec_expr(emit, s->value);
}

/* A vector register loaded to be used often stays one: gcc would fold the
 * load into each use. */
static bool is_stage(const struct tn_kstmt *s)
{
	return !s->accumulate && s->value->kind == TN_KEXPR_LOAD &&
		s->value->buf->space != TN_SPACE_REG;
}

static void put_store(struct tn_emit *emit, const struct tn_kstmt *s)
{
	const char *name = tn_emit_name(emit, s->buf, s->buf->name);
	long long slot;

	tn_emit_indent(emit);
	if (tn_emit_form_of(emit, s->buf) == TN_FORM_VECTORS) {
		slot = tn_emit_slot(emit, s->buf, s->nindex, s->index) /
			emit->nlanes;
		tn_buf_putf(emit->out, "%s_%lld = ", name, slot);
		put_value(emit, s);
		tn_buf_put(emit->out, ";\n");
		if (is_stage(s))
			tn_emit_line(emit, "TN_HOLD(%s_%lld);", name, slot);
		return;
	}
	emit->need->vectors[emit->width][s->buf->dtype] |= TN_PART_STORE;
	open_call(emit, "store", s->buf->dtype);
	tn_buf_putf(emit->out, "&%s[", name);
	tn_emit_index(emit, s->buf, s->nindex, s->index);
	tn_buf_put(emit->out, "], ");
	put_value(emit, s);
	tn_buf_put(emit->out, ");\n");
}

static void put_let(struct tn_emit *emit, const struct tn_kstmt *s)
{
	bool is_vector = tn_map_has(&emit->vectors, s->var);
	enum tn_dtype dtype = s->var->dtype;

	if (!tn_map_has(&emit->reads, s->var))
		return;
	tn_emit_indent(emit);
	if (!s->var->is_mutable)
		tn_buf_put(emit->out, "const ");
	if (!is_vector)
		tn_buf_put(emit->out, tn_emit_ctype(dtype));
	else if (dtype == TN_bool)
		tn_emit_vector_type(emit->out, TN_bool, emit->nlanes,
				    emit->width);
	else
		tn_emit_vector_type(emit->out, element(emit), emit->nlanes,
				    emit->width);
	tn_buf_putf(emit->out, " %s = ",
		    tn_emit_name(emit, s->var, s->var->name));
	if (is_vector)
		tn_emit_vec_expr(emit, s->value);
	else
		tn_emit_expr(emit, s->value, TN_LEVEL_ANY);
	tn_buf_put(emit->out, ";\n");
}

static void put_set(struct tn_emit *emit, const struct tn_kstmt *s)
{
	if (!tn_map_has(&emit->reads, s->var))
		return;
	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "%s = ",
		    tn_emit_name(emit, s->var, s->var->name));
	put_value(emit, s);
	tn_buf_put(emit->out, ";\n");
}

void tn_emit_vec_stmt(struct tn_emit *emit, const struct tn_kstmt *s)
{
	int64_t from, to, *value;

	if (s->kind == TN_KSTMT_LET) {
		put_let(emit, s);
	} else if (s->kind == TN_KSTMT_SET) {
		put_set(emit, s);
	} else if (s->kind == TN_KSTMT_STORE) {
		put_store(emit, s);
	} else if (s->kind == TN_KSTMT_IF) {
		tn_emit_if(emit, s);
	} else if (tn_emit_is_unrolled(s, &from, &to)) {
		value = tn_arena_alloc(&emit->arena, sizeof(*value));
		if (!value || !tn_map_set(&emit->consts, s->var, value)) {
			emit->failed = true;
			return;
		}
		for (*value = from; *value < to; *value += s->step) {
			tn_emit_line(emit, "{");
			emit->depth++;
			tn_emit_block(emit, &s->body);
			emit->depth--;
			tn_emit_line(emit, "}");
		}
		(void)tn_map_set(&emit->consts, s->var, NULL);
	} else {
		tn_emit_plain_loop(emit, s);
	}
}

/* ---- Loops ---- */

static void put_lanes(struct tn_emit *emit, const struct tn_kstmt *s,
		      int64_t from, int64_t to)
{
	emit->lane_var = s->var;
	tn_emit_written_out(emit, s, from, to, emit->nlanes);
	emit->lane_var = NULL;
}

static void put_vectors(struct tn_emit *emit, const struct tn_kstmt *s)
{
	emit->depth++;
	emit->lane_var = s->var;
	tn_emit_block(emit, &s->body);
	emit->lane_var = NULL;
	emit->depth--;
	tn_emit_line(emit, "}");
}

/* for (j = 0; j < 256; j += 8) vectors. */
static void put_even(struct tn_emit *emit, const struct tn_kstmt *s)
{
	const char *var = tn_emit_name(emit, s->var, s->var->name);

	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "for (int64_t %s = ", var);
	tn_emit_expr(emit, s->from, TN_LEVEL_OR);
	tn_buf_putf(emit->out, "; %s < ", var);
	tn_emit_expr(emit, s->to, TN_LEVEL_ADD);
	tn_buf_putf(emit->out, "; %s += %d) {\n", var, emit->nlanes);
	put_vectors(emit, s);
}

/* for (; j + 8 <= n; j += 8) vectors; for (; j < n; j++) elements. */
static void put_uneven(struct tn_emit *emit, const struct tn_kstmt *s)
{
	const char *var = tn_emit_name(emit, s->var, s->var->name);

	tn_emit_line(emit, "{");
	emit->depth++;
	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "int64_t %s = ", var);
	tn_emit_expr(emit, s->from, TN_LEVEL_OR);
	tn_buf_put(emit->out, ";\n\n");
	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "for (; %s + %d <= ", var, emit->nlanes);
	tn_emit_expr(emit, s->to, TN_LEVEL_ADD);
	tn_buf_putf(emit->out, "; %s += %d) {\n", var, emit->nlanes);
	put_vectors(emit, s);
	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "for (; %s < ", var);
	tn_emit_expr(emit, s->to, TN_LEVEL_ADD);
	tn_buf_putf(emit->out, "; %s++) {\n", var);
	emit->depth++;
	tn_emit_block(emit, &s->body);
	emit->depth--;
	tn_emit_line(emit, "}");
	emit->depth--;
	tn_emit_line(emit, "}");
}

void tn_emit_vec_loop(struct tn_emit *emit, const struct tn_kstmt *s)
{
	int lanes = emit->nlanes;
	int64_t from, to;
	bool is_const = tn_emit_const(emit, s->from, &from) &&
		tn_emit_const(emit, s->to, &to);
	bool is_even = is_const && (to - from) % lanes == 0;

	if (is_even && (to - from) / lanes <= 32 &&
	    (emit->forms.len || (to - from) / lanes <= 2))
		put_lanes(emit, s, from, to);
	else if (is_even)
		put_even(emit, s);
	else
		put_uneven(emit, s);
}
