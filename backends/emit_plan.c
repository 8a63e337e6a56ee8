/*
 * Which loops become vector code, and which buffers become variables.
 *
 * A `vec` loop is vectorised if all that differs from lane to lane is float
 * arithmetic of one width on elements that lie side by side. A @reg buffer
 * becomes variables if all its positions are literals once `unroll` loops are
 * written out; vector variables if vector loops use it.
 */
#include "backends/emit.h"

#include "base/num.h"

/* Most variables that a buffer becomes. */
#define VARIABLES_LIMIT 64

struct use {
	bool by_lanes, is_bad;
	int width;		/* of its vectors, if by_lanes */
};

struct plan {
	struct tn_emit *emit;
	struct tn_map unrolled;		/* open loops: var -> stmt */
	struct tn_map uses;		/* @reg buf -> struct use * */
	const struct tn_kstmt *vec;	/* open vectorised loop */
	enum tn_dtype held;		/* of its elements */
	int lanes, width;		/* of its vectors */
	bool fits;
};

int tn_emit_lanes(const struct tn_dialect *dialect, enum tn_dtype dtype)
{
	enum tn_dtype held = tn_emit_held(dtype);

	if (held != TN_f32 && held != TN_f64)
		return 0;
	return dialect->vector_bytes / tn_dtype_bytes(held);
}

static bool is_varying(void *data, const struct tn_kexpr *e)
{
	const struct tn_emit *emit = data;

	return e->kind == TN_KEXPR_VAR &&
		(e->var == emit->lane_var ||
		 tn_map_has(&emit->vectors, e->var));
}

bool tn_emit_is_varying(const struct tn_emit *emit, const struct tn_kexpr *e)
{
	return tn_kexpr_find(e, is_varying, (void *)(uintptr_t)emit);
}

static bool sum_of(const struct tn_emit *emit, const struct tn_kexpr *e,
		   struct tn_affine *sum)
{
	struct tn_affine_scope scope = { &emit->kernel->module->dims,
					 &emit->consts, NULL };

	return tn_affine_make(&scope, e, sum);
}

/* The step of index arithmetic from lane to lane; false: not even. */
static bool stride(const struct tn_emit *emit, const struct tn_kexpr *e,
		   int64_t *step)
{
	struct tn_affine sum;
	int i;

	if (!sum_of(emit, e, &sum) ||
	    !tn_affine_coef(&sum, emit->lane_var, step))
		return false;
	for (i = 0; i < sum.n; i++)
		if ((sum.terms[i].of->kind != TN_KEXPR_VAR ||
		     sum.terms[i].of->var != emit->lane_var) &&
		    tn_emit_is_varying(emit, sum.terms[i].of))
			return false;
	return true;
}

/* ---- Does a vec loop fit? ---- */

/* Axes of length 1 behind the one that varies are no step: [c, 0, 0] of
 * f32[64, 1, 1]. */
static bool is_side_by_side(const struct plan *plan, const struct tn_kbuf *buf,
			    int n, const struct tn_kexpr *const *index)
{
	int64_t step;
	int i;

	while (n > 1 && tn_dim_is_const(buf->dims[n - 1]) &&
	       buf->dims[n - 1]->value == 1 &&
	       !tn_emit_is_varying(plan->emit, index[n - 1]))
		n--;
	for (i = 0; i + 1 < n; i++)
		if (tn_emit_is_varying(plan->emit, index[i]))
			return false;
	return n > 0 && stride(plan->emit, index[n - 1], &step) && step == 1;
}

/* Floats of one width in all of the loop; POISON: none seen yet. */
static bool take_dtype(struct plan *plan, enum tn_dtype dtype)
{
	enum tn_dtype held = tn_emit_held(dtype);

	if (!tn_dtype_is(dtype, TN_KIND_F))
		return false;
	if (plan->held == TN_POISON)
		plan->held = held;
	return plan->held == held;
}

static bool expr_fits(struct plan *plan, const struct tn_kexpr *e);

static bool op_fits(struct plan *plan, const struct tn_kexpr *e)
{
	bool is_mask = e->dtype == TN_bool;
	int i;

	if (e->is_index || e->code == TN_OP_bitcast || e->nargs > 3)
		return false;
	for (i = 0; i < e->nargs; i++)
		if (!expr_fits(plan, e->args[i]))
			return false;
	if (e->code == TN_OP_select)
		return take_dtype(plan, e->dtype);
	if (e->code == TN_OP_cast)
		return take_dtype(plan, e->dtype) &&
			take_dtype(plan, e->args[0]->dtype);
	if (is_mask && e->args[0]->dtype == TN_bool) {
		for (i = 0; i < e->nargs; i++)
			if (!tn_emit_is_varying(plan->emit, e->args[i]))
				return false;
		return e->code == TN_OP_and || e->code == TN_OP_or ||
			e->code == TN_OP_not || e->code == TN_OP_xor;
	}
	return take_dtype(plan, e->args[0]->dtype);
}

static bool expr_fits(struct plan *plan, const struct tn_kexpr *e)
{
	if (!tn_emit_is_varying(plan->emit, e))
		return true;
	switch (e->kind) {
	case TN_KEXPR_VAR:
		return e->var != plan->emit->lane_var;
	case TN_KEXPR_LOAD:
		return take_dtype(plan, e->dtype) &&
			is_side_by_side(plan, e->buf, e->nargs, e->args);
	case TN_KEXPR_OP:
		return op_fits(plan, e);
	case TN_KEXPR_INT:
	case TN_KEXPR_FLOAT:
	case TN_KEXPR_DIM:
		return true;
	}
	return false;
}

static void block_fits(struct plan *plan, const struct tn_kblock *block);

/* A let that varies, or may do so later, is a vector. */
static void let_fits(struct plan *plan, const struct tn_kstmt *s)
{
	bool is_float = tn_dtype_is(s->var->dtype, TN_KIND_F);
	bool varies = tn_emit_is_varying(plan->emit, s->value);

	if (!expr_fits(plan, s->value) ||
	    (varies && !is_float && s->var->dtype != TN_bool) ||
	    (varies && !is_float && s->var->is_mutable)) {
		plan->fits = false;
		return;
	}
	if (!varies && !(s->var->is_mutable && is_float))
		return;
	if (is_float && !take_dtype(plan, s->var->dtype))
		plan->fits = false;
	if (!tn_map_set(&plan->emit->vectors, s->var, plan))
		plan->emit->failed = true;
}

static void stmt_fits(struct plan *plan, const struct tn_kstmt *s)
{
	struct tn_emit *emit = plan->emit;

	switch (s->kind) {
	case TN_KSTMT_LET:
		let_fits(plan, s);
		break;
	case TN_KSTMT_SET:
		plan->fits = plan->fits && expr_fits(plan, s->value) &&
			tn_map_has(&emit->vectors, s->var);
		break;
	case TN_KSTMT_STORE:
		plan->fits = plan->fits && expr_fits(plan, s->value) &&
			take_dtype(plan, s->buf->dtype) &&
			is_side_by_side(plan, s->buf, s->nindex,
					s->index);
		break;
	case TN_KSTMT_LOOP:
		plan->fits = plan->fits && (s->loop == TN_LOOP_FOR ||
					    s->loop == TN_LOOP_UNROLL) &&
			!tn_emit_is_varying(emit, s->from) &&
			!tn_emit_is_varying(emit, s->to);
		block_fits(plan, &s->body);
		break;
	case TN_KSTMT_IF:
		plan->fits = plan->fits &&
			!tn_emit_is_varying(emit, s->value);
		block_fits(plan, &s->body);
		block_fits(plan, &s->orelse);
		break;
	case TN_KSTMT_ALLOC:
	case TN_KSTMT_BARRIER:
	case TN_KSTMT_RAISE:
	case TN_KSTMT_SIZE:
		plan->fits = false;
		break;
	}
}

static void block_fits(struct plan *plan, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	for (s = block->first; s && plan->fits; s = s->next)
		stmt_fits(plan, s);
}

/* Chooses the width with the fewest steps over n elements, those of the rest
 * included; the wider of two. False: n is less than any. */
static bool choose_width(struct plan *plan, int64_t n)
{
	int whole = tn_emit_lanes(plan->emit->dialect, plan->held), lanes, w;
	int64_t steps, least = n;

	plan->lanes = 0;
	for (w = 0; w < (plan->held == TN_f32 ? TN_WIDTHS : 1); w++) {
		lanes = whole >> w;
		if (lanes > n || (w && lanes < TN_LEAST_LANES))
			continue;
		steps = n / lanes + n % lanes;
		if (steps >= least && plan->lanes)
			continue;
		least = steps;
		plan->lanes = lanes;
		plan->width = w;
	}
	return plan->lanes != 0;
}

/* Whether a `vec` loop becomes vectors, and which; else it stays plain. */
static bool measure(struct plan *plan, const struct tn_kstmt *s)
{
	struct tn_emit *emit = plan->emit;
	int64_t from, to;

	emit->lane_var = s->var;
	plan->held = TN_POISON;
	plan->fits = s->step == 1;
	block_fits(plan, &s->body);
	emit->lane_var = NULL;
	if (!plan->fits || plan->held == TN_POISON)
		return false;
	if (tn_emit_const(emit, s->from, &from) &&
	    tn_emit_const(emit, s->to, &to))
		return choose_width(plan, to - from);
	plan->lanes = tn_emit_lanes(emit->dialect, plan->held);
	plan->width = 0;
	return true;
}

/* ---- Buffers in registers ---- */

/* The same of a term: that of a written-out loop whose steps keep it. */
static int64_t residue_of(void *data, const struct tn_kexpr *e, int64_t lanes)
{
	const struct plan *plan = data;
	const struct tn_kstmt *loop;
	int64_t from;

	if (e->kind != TN_KEXPR_VAR)
		return -1;
	loop = plan->vec && e->var == plan->vec->var ? plan->vec :
		tn_map_find(&plan->unrolled, e->var);
	if (!loop || !tn_emit_const(plan->emit, loop->from, &from) ||
	    (loop != plan->vec && loop->step % lanes != 0))
		return -1;
	return tn_num_floormod(from, lanes);
}

/* e modulo `lanes` with the vector variable at its start; -1: unknown. */
static int64_t residue(struct plan *plan, const struct tn_kexpr *e,
		       int64_t lanes)
{
	struct tn_affine sum;

	return sum_of(plan->emit, e, &sum) ?
		tn_affine_residue(&sum, lanes, residue_of, plan) : -1;
}

/* Stays when written-out loops are: no literal. */
static bool remains(void *data, const struct tn_kexpr *e)
{
	const struct plan *plan = data;

	if (e->kind == TN_KEXPR_VAR)
		return !(plan->vec && e->var == plan->vec->var) &&
			!tn_map_find(&plan->unrolled, e->var);
	return e->kind != TN_KEXPR_INT &&
		(e->kind != TN_KEXPR_OP || !e->is_index || e->nargs != 2);
}

static bool lanes_fit(struct plan *plan, const struct tn_kbuf *buf,
		      int n, const struct tn_kexpr *const *index)
{
	const struct tn_emit *emit = plan->emit;
	int64_t lanes = plan->lanes, from, to;

	return n > 0 && tn_emit_held(buf->dtype) == buf->dtype &&
		buf->dims[n - 1]->value % lanes == 0 &&
		tn_emit_const(emit, plan->vec->from, &from) &&
		tn_emit_const(emit, plan->vec->to, &to) &&
		(to - from) % lanes == 0 && to - from <= 32 * lanes &&
		residue(plan, index[n - 1], lanes) == 0;
}

static void note_access(struct plan *plan, const struct tn_kbuf *buf, int n,
			const struct tn_kexpr *const *index)
{
	struct use *use = tn_map_find(&plan->uses, buf);
	struct tn_emit *emit = plan->emit;
	bool varies = false;
	int i;

	if (!use)
		return;
	emit->lane_var = plan->vec ? plan->vec->var : NULL;
	for (i = 0; i < n; i++) {
		varies = varies || tn_emit_is_varying(emit, index[i]);
		if (tn_kexpr_find(index[i], remains, plan))
			use->is_bad = true;
	}
	emit->lane_var = NULL;
	if (!varies)
		return;
	if (!lanes_fit(plan, buf, n, index) ||
	    (use->by_lanes && use->width != plan->width))
		use->is_bad = true;
	use->by_lanes = true;
	use->width = plan->width;
}

static void note_expr(void *data, const struct tn_kexpr *e)
{
	if (e->kind == TN_KEXPR_LOAD)
		note_access(data, e->buf, e->nargs, e->args);
}

static void note_alloc(struct plan *plan, const struct tn_kbuf *buf)
{
	struct use *use = tn_arena_alloc(&plan->emit->arena, sizeof *use);
	int64_t count;

	if (buf->space != TN_SPACE_REG || !tn_kbuf_count(buf, &count) ||
	    count > 1 << 20)
		return;
	if (!use || !tn_map_set(&plan->uses, buf, use))
		plan->emit->failed = true;
}

static void note_block(struct plan *plan, const struct tn_kblock *block);

static void note_loop(struct plan *plan, const struct tn_kstmt *s)
{
	struct tn_emit *emit = plan->emit;
	int64_t from, to;
	bool fits;

	if (tn_emit_is_unrolled(s, &from, &to)) {
		if (!tn_map_set(&plan->unrolled, s->var, (void *)(uintptr_t)s))
			emit->failed = true;
		note_block(plan, &s->body);
		(void)tn_map_set(&plan->unrolled, s->var, NULL);
		return;
	}
	fits = s->loop == TN_LOOP_VEC && !plan->vec &&
		emit->dialect->vector_bytes && measure(plan, s);
	if (fits && !tn_map_set(&emit->lanes, s, (void *)(intptr_t)
				(plan->lanes + 256 * plan->width)))
		emit->failed = true;
	if (fits)
		plan->vec = s;
	note_block(plan, &s->body);
	if (fits)
		plan->vec = NULL;
}

static void note_block(struct plan *plan, const struct tn_kblock *block)
{
	struct tn_kvisitor visitor = { note_expr, NULL, plan };
	const struct tn_kstmt *s;
	int i;

	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_ALLOC)
			note_alloc(plan, s->buf);
		if (s->kind == TN_KSTMT_STORE)
			note_access(plan, s->buf, s->nindex, s->index);
		for (i = 0; i < s->nindex; i++)
			tn_kexpr_visit(s->index[i], &visitor);
		tn_kexpr_visit(s->value, &visitor);
		if (s->kind == TN_KSTMT_LOOP)
			note_loop(plan, s);
		if (s->kind == TN_KSTMT_IF) {
			note_block(plan, &s->body);
			note_block(plan, &s->orelse);
		}
	}
}

/* Reserves NAME_0, NAME_1, ..; another NAME if one of them is taken. */
static bool reserve(struct tn_emit *emit, const struct tn_kbuf *buf,
		    int64_t count)
{
	const char *name = tn_names_get(&emit->names, buf, buf->name);
	const char *text;
	int64_t i;

	for (i = 0; name && i < count; i++) {
		text = tn_arena_printf(&emit->arena, "%s_%lld", name,
				       (long long)i);
		if (text && tn_map_has(&emit->names.taken, text)) {
			name = tn_arena_printf(&emit->arena, "%s_r", name);
			i = -1;
		} else if (!text) {
			name = NULL;
		}
	}
	for (i = 0; name && i < count; i++) {
		text = tn_arena_printf(&emit->arena, "%s_%lld", name,
				       (long long)i);
		if (!text || !tn_map_set(&emit->names.taken, text, emit))
			return false;
	}
	return name && tn_map_set(&emit->names.of, buf,
				  (void *)(uintptr_t)name);
}

static void settle(struct tn_emit *emit, const struct tn_kbuf *buf,
		   const struct use *use)
{
	enum tn_emit_form form = use->by_lanes ? TN_FORM_VECTORS :
		TN_FORM_SCALARS;
	int64_t count;

	if (use->is_bad || !tn_kbuf_count(buf, &count))
		return;
	if (use->by_lanes)
		count /= tn_emit_lanes(emit->dialect, buf->dtype) >> use->width;
	if (count > VARIABLES_LIMIT)
		return;
	if (!tn_map_set(&emit->forms, buf, (void *)(intptr_t)form) ||
	    !tn_map_set(&emit->widths, buf, (void *)(intptr_t)use->width) ||
	    !reserve(emit, buf, count))
		emit->failed = true;
}

void tn_emit_plan_vectors(struct tn_emit *emit)
{
	struct plan plan = { .emit = emit };
	size_t i;

	tn_map_init_ptr(&plan.unrolled);
	tn_map_init_ptr(&plan.uses);
	note_block(&plan, &emit->kernel->body);
	for (i = 0; i < plan.uses.len; i++)
		settle(emit, plan.uses.entries[i].key,
		       plan.uses.entries[i].value);
	tn_map_fini(&plan.unrolled);
	tn_map_fini(&plan.uses);
}

int tn_emit_lanes_of(const struct tn_emit *emit, const struct tn_kbuf *buf)
{
	return tn_emit_lanes(emit->dialect, buf->dtype) >>
		(int)(intptr_t)tn_map_find(&emit->widths, buf);
}

enum tn_emit_form tn_emit_form_of(const struct tn_emit *emit,
				  const struct tn_kbuf *buf)
{
	return (enum tn_emit_form)(intptr_t)tn_map_find(&emit->forms, buf);
}

int64_t tn_emit_slot(const struct tn_emit *emit, const struct tn_kbuf *buf,
		     int n, const struct tn_kexpr *const *index)
{
	int64_t slot = 0, value;
	int i;

	for (i = 0; i < n; i++) {
		if (!tn_emit_const(emit, index[i], &value))
			value = 0;
		if (value < 0 || value >= buf->dims[i]->value)
			return 0;
		slot = slot * buf->dims[i]->value + value;
	}
	return slot;
}
