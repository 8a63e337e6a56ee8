/*
 * Statements of kernels as C: lets, stores, conditions, loops.
 *
 * `unroll` loops are written out: their variable is bound to each value in
 * turn (emit->consts), so that buffers in registers become variables. Loops
 * over threads and blocks are the dialect's.
 */
#include "backends/emit.h"

#include <string.h>

static void note_read(void *data, const struct tn_kexpr *e)
{
	struct tn_emit *emit = data;
	const void *key = e->kind == TN_KEXPR_VAR ? (const void *)e->var :
		e->kind == TN_KEXPR_LOAD ? (const void *)e->buf : NULL;

	if (key && !tn_map_set(&emit->reads, key, emit))
		emit->failed = true;
}

static void note_name(void *data, const struct tn_kstmt *s)
{
	struct tn_emit *emit = data;
	const void *key = NULL;
	const char *wish = "";
	char letter = 'b';

	if (s->kind == TN_KSTMT_ALLOC) {
		key = s->buf;
		wish = s->buf->name;
	} else if (s->kind == TN_KSTMT_LET || s->kind == TN_KSTMT_LOOP) {
		key = s->var;
		wish = s->var->name;
		letter = s->kind == TN_KSTMT_LET ? 't' : 'i';
	}
	if (key && !tn_names_make(&emit->names, key, letter, wish))
		emit->failed = true;
}

static bool annotated(const struct tn_kernel *kernel, const char *word)
{
	const struct tn_annot *fp = tn_annots_find(&kernel->annots, "fp");

	return fp && fp->args && strstr(fp->args, word);
}

static void name_params(struct tn_emit *emit)
{
	const struct tn_kernel *kernel = emit->kernel;
	const struct tn_vec *syms = &kernel->module->dims.syms;
	struct tn_kvisitor visitor = { note_read, note_name, emit };
	const struct tn_dim *dim;
	size_t k;
	int i;

	for (i = 0; i < kernel->nparams; i++)
		if (!tn_names_make(&emit->names, kernel->params[i], 'p',
				   kernel->params[i]->name))
			emit->failed = true;
	for (k = 0; k < syms->len; k++) {
		dim = tn_vec_ptr(syms, k);
		if (!tn_names_make(&emit->names, dim->sym, 'n',
				   dim->sym->name))
			emit->failed = true;
	}
	tn_kblock_visit(&kernel->body, &visitor);
}

void tn_emit_init(struct tn_emit *emit, const struct tn_dialect *dialect,
		  struct tn_prelude *need, struct tn_buf *out,
		  const struct tn_kernel *kernel)
{
	memset(emit, 0, sizeof *emit);
	emit->dialect = dialect;
	emit->need = need;
	emit->out = out;
	emit->kernel = kernel;
	emit->depth = 1;
	emit->wide = annotated(kernel, "wide");
	emit->contract = annotated(kernel, "contract");
	tn_arena_init(&emit->arena);
	tn_names_init(&emit->names, &emit->arena);
	emit->names.by_number = kernel->module->is_foreign;
	tn_map_init_ptr(&emit->used);
	tn_map_init_ptr(&emit->reads);
	tn_map_init_ptr(&emit->consts);
	tn_map_init_ptr(&emit->forms);
	tn_map_init_ptr(&emit->widths);
	tn_map_init_ptr(&emit->lanes);
	tn_map_init_ptr(&emit->vectors);
	tn_map_init_ptr(&emit->filled);
	name_params(emit);
	tn_emit_plan_vectors(emit);
}

void tn_emit_fini(struct tn_emit *emit)
{
	tn_names_fini(&emit->names);
	tn_map_fini(&emit->used);
	tn_map_fini(&emit->reads);
	tn_map_fini(&emit->consts);
	tn_map_fini(&emit->forms);
	tn_map_fini(&emit->widths);
	tn_map_fini(&emit->lanes);
	tn_map_fini(&emit->vectors);
	tn_map_fini(&emit->filled);
	tn_arena_fini(&emit->arena);
}

void tn_emit_indent(struct tn_emit *emit)
{
	tn_buf_pad(emit->out, '\t', (size_t)emit->depth);
}

void tn_emit_line(struct tn_emit *emit, const char *format, ...)
{
	va_list args;

	tn_emit_indent(emit);
	va_start(args, format);
	tn_buf_vputf(emit->out, format, args);
	va_end(args);
	tn_buf_putc(emit->out, '\n');
}

/* ---- Loops ---- */

bool tn_emit_is_unrolled(const struct tn_kstmt *s, int64_t *from,
			 int64_t *to)
{
	if (s->kind != TN_KSTMT_LOOP || s->loop != TN_LOOP_UNROLL ||
	    !tn_kloop_is_const(s))
		return false;
	*from = s->from->i;
	*to = s->to->i;
	return true;
}

static bool has_scope(const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		if (s->kind == TN_KSTMT_LET || s->kind == TN_KSTMT_ALLOC)
			return true;
	return false;
}

void tn_emit_written_out(struct tn_emit *emit, const struct tn_kstmt *s,
			 int64_t from, int64_t to, int64_t step)
{
	int64_t *value = tn_arena_alloc(&emit->arena, sizeof *value);
	bool braces = has_scope(&s->body);

	if (!value || !tn_map_set(&emit->consts, s->var, value)) {
		emit->failed = true;
		return;
	}
	for (*value = from; *value < to; *value += step) {
		if (braces) {
			tn_emit_line(emit, "{");
			emit->depth++;
		}
		tn_emit_block(emit, &s->body);
		if (braces) {
			emit->depth--;
			tn_emit_line(emit, "}");
		}
	}
	(void)tn_map_set(&emit->consts, s->var, NULL);
}

void tn_emit_plain_loop(struct tn_emit *emit, const struct tn_kstmt *s)
{
	const char *var = tn_emit_name(emit, s->var, s->var->name);

	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "for (int64_t %s = ", var);
	tn_emit_expr(emit, s->from, TN_LEVEL_OR);
	tn_buf_putf(emit->out, "; %s < ", var);
	tn_emit_expr(emit, s->to, TN_LEVEL_ADD);
	if (s->step == 1)
		tn_buf_putf(emit->out, "; %s++) {\n", var);
	else
		tn_buf_putf(emit->out, "; %s += %lld) {\n", var,
			    (long long)s->step);
	emit->depth++;
	tn_emit_block(emit, &s->body);
	emit->depth--;
	tn_emit_line(emit, "}");
}

static void put_loop(struct tn_emit *emit, const struct tn_kstmt *s)
{
	int lanes = (int)(intptr_t)tn_map_find(&emit->lanes, s);
	int64_t from, to;

	if (emit->dialect->loop && emit->dialect->loop(emit, s))
		return;
	if (tn_emit_is_unrolled(s, &from, &to)) {
		tn_emit_written_out(emit, s, from, to, s->step);
	} else if (lanes) {
		emit->nlanes = lanes % 256;
		emit->width = lanes / 256;
		tn_emit_vec_loop(emit, s);
	} else {
		tn_emit_plain_loop(emit, s);
	}
}

/* ---- Allocations ---- */

/* The variables of a buffer: with what fills it, else with zeros. */
static void put_variables(struct tn_emit *emit, const struct tn_kstmt *s,
			  int64_t count, int lanes)
{
	const char *name = tn_emit_name(emit, s->buf, s->buf->name);
	enum tn_dtype held = tn_emit_held(s->buf->dtype);
	const struct tn_kexpr *value = NULL;
	const struct tn_kstmt *fill = tn_emit_fill(s, &value);
	int width = (int)(intptr_t)tn_map_find(&emit->widths, s->buf);
	int64_t i;

	if (fill && !tn_map_set(&emit->filled, fill, emit))
		emit->failed = true;
	for (i = 0; i < count; i++) {
		tn_emit_indent(emit);
		if (lanes)
			tn_emit_vector_type(emit->out, held, lanes, width);
		else
			tn_buf_put(emit->out, tn_emit_ctype(s->buf->dtype));
		tn_buf_putf(emit->out, " %s_%lld = ", name, (long long)i);
		if (lanes) {
			emit->need->vectors[width][held] |= TN_PART_SPLAT;
			tn_buf_putf(emit->out, "tn_splat_%sx%d(",
				    tn_dtype_name(held), lanes);
		}
		if (value)
			tn_emit_expr(emit, value, TN_LEVEL_ANY);
		else
			tn_buf_putc(emit->out, '0');
		tn_buf_put(emit->out, lanes ? ");\n" : ";\n");
	}
}

static void put_alloc(struct tn_emit *emit, const struct tn_kstmt *s)
{
	const struct tn_kbuf *buf = s->buf;
	int64_t count;
	int lanes;

	if (emit->dialect->alloc && emit->dialect->alloc(emit, s))
		return;
	if (!tn_kbuf_count(buf, &count)) {
		emit->failed = true;
		return;
	}
	switch (tn_emit_form_of(emit, buf)) {
	case TN_FORM_SCALARS:
		put_variables(emit, s, count, 0);
		break;
	case TN_FORM_VECTORS:
		lanes = tn_emit_lanes_of(emit, buf);
		put_variables(emit, s, count / lanes, lanes);
		break;
	case TN_FORM_ARRAY:
		tn_emit_line(emit, "%s %s[%lld];",
			     tn_dtypes[buf->dtype].c_storage,
			     tn_emit_name(emit, buf, buf->name),
			     (long long)(count ? count : 1));
		break;
	}
}

/* ---- Assignments ---- */

struct tn_kexpr tn_emit_place(const struct tn_kstmt *s)
{
	struct tn_kexpr place;

	memset(&place, 0, sizeof place);
	if (s->kind == TN_KSTMT_SET) {
		place.kind = TN_KEXPR_VAR;
		place.dtype = s->var->dtype;
		place.var = s->var;
		return place;
	}
	place.kind = TN_KEXPR_LOAD;
	place.dtype = s->buf->dtype;
	place.buf = s->buf;
	place.nargs = s->nindex;
	place.args = s->index;
	return place;
}

struct tn_kexpr tn_emit_sum(const struct tn_kexpr *const args[2])
{
	struct tn_kexpr sum;

	memset(&sum, 0, sizeof sum);
	sum.kind = TN_KEXPR_OP;
	sum.code = TN_OP_add;
	sum.dtype = args[0]->dtype;
	sum.nargs = 2;
	sum.args = args;
	return sum;
}

bool tn_emit_contracts(const struct tn_emit *emit, enum tn_dtype dtype,
		       const struct tn_kexpr *value)
{
	return emit->contract && value->kind == TN_KEXPR_OP &&
		value->code == TN_OP_mul && tn_emit_held(dtype) == dtype &&
		tn_dtype_is(dtype, TN_KIND_F);
}

/* The sum of a place and a value: contracted if it may be. */
static void put_sum(struct tn_emit *emit, const struct tn_kexpr *place,
		    const struct tn_kexpr *value)
{
	const struct tn_kexpr *args[2];
	struct tn_kexpr sum;

	args[0] = place;
	args[1] = value;
	if (tn_emit_contracts(emit, place->dtype, value)) {
		emit->need->of[place->dtype] |= TN_PART_MAC;
		tn_buf_putf(emit->out, "tn_mac_%s(",
			    tn_dtype_name(place->dtype));
		tn_emit_expr(emit, place, TN_LEVEL_ANY);
		tn_buf_put(emit->out, ", ");
		tn_emit_expr(emit, value->args[0], TN_LEVEL_ANY);
		tn_buf_put(emit->out, ", ");
		tn_emit_expr(emit, value->args[1], TN_LEVEL_ANY);
		tn_buf_putc(emit->out, ')');
		return;
	}
	sum = tn_emit_sum(args);
	tn_emit_expr(emit, &sum, TN_LEVEL_ANY);
}

static void put_let(struct tn_emit *emit, const struct tn_kstmt *s)
{
	tn_emit_indent(emit);
	if (!tn_map_has(&emit->reads, s->var))
		tn_buf_put(emit->out, "(void)(");
	else
		tn_buf_putf(emit->out, "%s%s %s = ",
			    s->var->is_mutable ? "" : "const ",
			    tn_emit_ctype(s->var->dtype),
			    tn_emit_name(emit, s->var, s->var->name));
	tn_emit_expr(emit, s->value, TN_LEVEL_ANY);
	tn_buf_put(emit->out, tn_map_has(&emit->reads, s->var) ? ";\n" :
		   ");\n");
}

static void put_set(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct tn_kexpr place;

	if (!tn_map_has(&emit->reads, s->var) && !s->accumulate) {
		tn_emit_indent(emit);
		tn_buf_put(emit->out, "(void)(");
		tn_emit_expr(emit, s->value, TN_LEVEL_ANY);
		tn_buf_put(emit->out, ");\n");
		return;
	}
	if (!tn_map_has(&emit->reads, s->var))
		return;
	place = tn_emit_place(s);
	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "%s = ",
		    tn_emit_name(emit, s->var, s->var->name));
	if (s->accumulate)
		put_sum(emit, &place, s->value);
	else
		tn_emit_expr(emit, s->value, TN_LEVEL_ANY);
	tn_buf_put(emit->out, ";\n");
}

static void put_stored(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct tn_kexpr place;

	if (!s->accumulate) {
		tn_emit_expr(emit, s->value, TN_LEVEL_ANY);
		return;
	}
	place = tn_emit_place(s);
	put_sum(emit, &place, s->value);
}

static void put_store(struct tn_emit *emit, const struct tn_kstmt *s)
{
	const char *name = tn_emit_name(emit, s->buf, s->buf->name);
	bool is_small = tn_emit_held(s->buf->dtype) != s->buf->dtype;

	tn_emit_indent(emit);
	if (tn_emit_variable(emit, s->buf, s->nindex, s->index)) {
		tn_buf_put(emit->out, " = ");
		put_stored(emit, s);
		tn_buf_put(emit->out, ";\n");
		return;
	}
	tn_buf_putf(emit->out, "%s[", name);
	tn_emit_index(emit, s->buf, s->nindex, s->index);
	tn_buf_put(emit->out, "] = ");
	if (is_small) {
		emit->need->of[s->buf->dtype] |= TN_PART_STORE;
		tn_buf_putf(emit->out, "tn_store_%s(",
			    tn_dtype_name(s->buf->dtype));
	}
	put_stored(emit, s);
	tn_buf_put(emit->out, is_small ? ");\n" : ";\n");
}

/* ---- The rest ---- */

void tn_emit_if(struct tn_emit *emit, const struct tn_kstmt *s)
{
	tn_emit_indent(emit);
	tn_buf_put(emit->out, "if (");
	tn_emit_expr(emit, s->value, TN_LEVEL_OR);
	tn_buf_put(emit->out, ") {\n");
	emit->depth++;
	tn_emit_block(emit, &s->body);
	emit->depth--;
	if (s->orelse.first) {
		tn_emit_line(emit, "} else {");
		emit->depth++;
		tn_emit_block(emit, &s->orelse);
		emit->depth--;
	}
	tn_emit_line(emit, "}");
}

static void put_raise(struct tn_emit *emit, const struct tn_kstmt *s)
{
	tn_emit_indent(emit);
	tn_buf_put(emit->out, "if (");
	tn_emit_expr(emit, s->value, TN_LEVEL_OR);
	tn_buf_put(emit->out, ")\n");
	tn_buf_pad(emit->out, '\t', (size_t)emit->depth + 1);
	tn_buf_putf(emit->out, emit->dialect->raise_here,
		    (unsigned)s->flags);
	tn_buf_put(emit->out, ";\n");
}

static void put_size(struct tn_emit *emit, const struct tn_kstmt *s)
{
	const char *name = tn_names_get(&emit->names, s->sym, s->sym->name);

	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "*tn_set_%s = ", name ? name : "");
	tn_emit_expr(emit, s->value, TN_LEVEL_ANY);
	tn_buf_put(emit->out, ";\n");
}

static void put_stmt(struct tn_emit *emit, const struct tn_kstmt *s)
{
	switch (s->kind) {
	case TN_KSTMT_LOOP:
		put_loop(emit, s);
		break;
	case TN_KSTMT_LET:
		put_let(emit, s);
		break;
	case TN_KSTMT_SET:
		put_set(emit, s);
		break;
	case TN_KSTMT_ALLOC:
		put_alloc(emit, s);
		break;
	case TN_KSTMT_STORE:
		put_store(emit, s);
		break;
	case TN_KSTMT_IF:
		tn_emit_if(emit, s);
		break;
	case TN_KSTMT_BARRIER:
		if (emit->dialect->barrier)
			emit->dialect->barrier(emit);
		break;
	case TN_KSTMT_RAISE:
		put_raise(emit, s);
		break;
	case TN_KSTMT_SIZE:
		put_size(emit, s);
		break;
	}
}

void tn_emit_stmt(struct tn_emit *emit, const struct tn_kstmt *stmt)
{
	if (tn_map_has(&emit->filled, stmt))
		return;
	if (emit->lane_var)
		tn_emit_vec_stmt(emit, stmt);
	else
		put_stmt(emit, stmt);
}

void tn_emit_block(struct tn_emit *emit, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		tn_emit_stmt(emit, s);
}
