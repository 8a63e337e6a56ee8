/*
 * Kernels: text of loops to struct tn_kernel, and calls of kernels in
 * functions, which launch them.
 */
#include "grammar/elab_kernel.h"

#include <string.h>

#include "ir/kernel_loop.h"

static void block(struct kctx *k, const struct tn_tree_kblock *from,
		  struct tn_kblock *to);

/* ---- Names ------------------------------------------------------------- */

static bool bind_name(struct kctx *k, struct tn_name name,
		      struct tn_kvar *var, struct tn_kbuf *buf)
{
	const struct kname *old = tn_map_find(&k->names, name.text);
	struct kname *kname;
	struct tn_diag *diag;

	if (old) {
		diag = tn_diag_report(k->e->sink, TN_E0203, name.span,
				      "'%s' is bound already", name.text);
		tn_diag_also(k->e->sink, diag, old->span, "first bound here");
		return false;
	}
	kname = tn_arena_alloc(&k->e->scratch, sizeof(*kname));
	if (!kname || !(var || buf))
		return false;
	kname->name = name.text;
	kname->span = name.span;
	kname->var = var;
	kname->buf = buf;
	return elab_map(k->e, &k->names, name.text, kname) &&
	       elab_push_ptr(k->e, &k->bound, kname);
}

static void release(struct kctx *k, size_t mark)
{
	while (k->bound.len > mark) {
		const struct kname *kname =
			tn_vec_ptr(&k->bound, k->bound.len - 1);

		tn_map_set(&k->names, kname->name, NULL);
		tn_vec_pop(&k->bound);
	}
}

/* ---- Buffers ----------------------------------------------------------- */

/* The one annotation among the names; its number, or -1. */
static int annotation(const struct tn_tree_type *type, const char *const *names,
		      int count)
{
	uint32_t i;
	int n;

	for (i = 0; i < type->annots.len; i++)
		for (n = 0; n < count; n++)
			if (strcmp(type->annots.at[i]->name.text,
				   names[n]) == 0)
				return n;
	return -1;
}

/* False after a report: its size is beyond numbers, or its space. */
static bool check_size(struct kctx *k, const struct tn_kbuf *buf,
		       struct tn_span span)
{
	struct tn_diag *diag;
	int64_t bytes;

	if (tn_kbuf_fits(buf))
		return true;
	if (!tn_kbuf_bytes(buf, &bytes)) {
		tn_diag_report(k->e->sink, TN_E0802, span,
			       "the bytes of '%s' do not fit in 64-bit sizes",
			       buf->name);
		return false;
	}
	diag = tn_diag_report(k->e->sink, TN_E0802, span,
			      "'%s' has %lld bytes, its place at most %lld",
			      buf->name, (long long)bytes,
			      (long long)TN_KBUF_LIMIT);
	tn_diag_help(k->e->sink, diag, "a buffer in @arena may be larger");
	return false;
}

static bool param(struct kctx *k, const struct tn_param *from)
{
	static const char *const names[] = {"in", "out", "inout"};
	static const enum tn_kbuf_role roles[] = {
		TN_KBUF_IN, TN_KBUF_OUT, TN_KBUF_INOUT
	};
	const struct tn_type *type = elab_type(&k->frame, from->type);
	int role = annotation(from->type, names, 3);
	struct tn_kbuf *buf;

	if (role < 0) {
		tn_diag_report(k->e->sink, TN_E0231, from->span,
			       "parameter '%s' is neither @in nor @out nor "
			       "@inout", from->name.text);
		return false;
	}
	if (!type)
		return false;
	buf = tn_kernel_param(k->kernel, from->name.text, type->dtype,
			      type->rank, type->dims, roles[role]);
	if (buf)
		buf->layout = elab_layout(k->e, &from->type->annots, type,
					  true);
	return buf && check_size(k, buf, from->span) &&
	       bind_name(k, from->name, NULL, buf);
}

/* Arena buffers follow each other on multiples of 64 bytes. */
static bool place(struct kctx *k, struct tn_kbuf *buf,
		  const struct tn_type *type, struct tn_span span)
{
	int64_t bytes = tn_type_max_bytes(k->e->module, type), total;

	if (buf->space != TN_SPACE_ARENA)
		return true;
	buf->arena_offset = k->kernel->scratch_bytes;
	if (bytes >= 0 &&
	    tn_num_add(k->kernel->scratch_bytes, bytes, &total) &&
	    tn_num_align(total, 64, &k->kernel->scratch_bytes))
		return true;
	tn_diag_report(k->e->sink, TN_E0802, span,
		       "the @arena buffers up to '%s' are too large to place",
		       buf->name);
	return false;
}

static void alloc(struct kctx *k, const struct tn_tree_kstmt *stmt,
		  struct tn_kblock *to)
{
	static const char *const names[] = {"reg", "stack", "shared",
					    "arena"};
	static const enum tn_kspace spaces[] = {
		TN_SPACE_REG, TN_SPACE_STACK, TN_SPACE_SHARED, TN_SPACE_ARENA
	};
	const struct tn_type *type = elab_type(&k->frame, stmt->type);
	int space = annotation(stmt->type, names, 4);
	struct tn_kbuf *buf;

	if (space < 0)
		tn_diag_report(k->e->sink, TN_E0231, stmt->span,
			       "'%s' needs a place: @reg, @stack, @shared or "
			       "@arena", stmt->name.text);
	if (!type || space < 0)
		return;
	if (spaces[space] != TN_SPACE_ARENA && !tn_type_is_static(type)) {
		tn_diag_report(k->e->sink, TN_E0231, stmt->span,
			       "@%s needs constant sizes", names[space]);
		return;
	}
	buf = tn_kernel_local(k->kernel, stmt->name.text, type->dtype,
			      type->rank, type->dims, spaces[space]);
	if (buf && check_size(k, buf, stmt->span) &&
	    place(k, buf, type, stmt->span) &&
	    bind_name(k, stmt->name, NULL, buf))
		tn_kstmt_alloc(k->kernel, to, buf);
}

/* ---- Statements -------------------------------------------------------- */

static bool read_bind(struct kctx *k, const struct tn_tree_kstmt *stmt,
		      enum tn_kbind *out)
{
	static const struct {
		const char *base, *field;
		enum tn_kbind bind;
	} table[] = {
		{"threads", NULL, TN_BIND_THREADS},
		{"warp", NULL, TN_BIND_WARP},
		{"grid", "x", TN_BIND_GRID_X}, {"grid", "y", TN_BIND_GRID_Y},
		{"grid", "z", TN_BIND_GRID_Z},
		{"block", "x", TN_BIND_BLOCK_X},
		{"block", "y", TN_BIND_BLOCK_Y},
		{"block", "z", TN_BIND_BLOCK_Z},
	};
	const struct tn_expr *expr = NULL;
	const char *base = NULL, *field = NULL;
	size_t i;

	*out = TN_BIND_THREADS;
	if (stmt->args.len == 0)
		return true;
	if (stmt->args.at[0]->kind == TN_ARG_POSITIONAL)
		expr = stmt->args.at[0]->value;
	if (expr && expr->kind == TN_EXPR_FIELD) {
		field = expr->u.field.name.text;
		expr = expr->u.field.base;
	}
	if (expr && expr->kind == TN_EXPR_NAME)
		base = expr->u.name;
	for (i = 0; base && i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].base, base) != 0 ||
		    !table[i].field != !field ||
		    (field && strcmp(table[i].field, field) != 0))
			continue;
		*out = table[i].bind;
		return true;
	}
	tn_diag_report(k->e->sink, TN_E0231, stmt->args.at[0]->span,
		       "`par` is bound to threads, warp, grid.x .. grid.z or "
		       "block.x .. block.z");
	return false;
}

/* `min=W` behind `threads`: the turns that pay for them. */
static bool read_min(struct kctx *k, const struct tn_tree_kstmt *stmt,
		     enum tn_kbind bind, int64_t *min)
{
	const struct tn_arg *arg;

	*min = 0;
	if (stmt->args.len < 2)
		return true;
	arg = stmt->args.at[1];
	if (stmt->args.len > 2 || arg->kind != TN_ARG_NAMED ||
	    strcmp(arg->name.text, "min") != 0 || bind != TN_BIND_THREADS) {
		tn_diag_report(k->e->sink, TN_E0231, stmt->args.at[1]->span,
			       "only par(threads, min=..) takes more");
		return false;
	}
	if (!elab_constant(&k->frame, arg->value, "the least number of turns",
			   min))
		return false;
	if (*min < 1)
		tn_diag_report(k->e->sink, TN_E0231, arg->span,
			       "the least number of turns is at least 1");
	return *min >= 1;
}

/* An `unroll` loop has constant bounds and not too many turns. */
static bool check_unroll(struct kctx *k, const struct tn_tree_kstmt *stmt,
			 const struct tn_kexpr *low,
			 const struct tn_kexpr *high, int64_t step)
{
	struct tn_diag *diag;
	int64_t turns;

	if (low->kind != TN_KEXPR_INT || high->kind != TN_KEXPR_INT) {
		tn_diag_report(k->e->sink, TN_E0231, stmt->span,
			       "`unroll` needs constant bounds");
		return false;
	}
	turns = step > 0 ? tn_kloop_count(low->i, high->i, step) : 0;
	if (turns <= TN_KLOOP_WRITTEN)
		return true;
	diag = tn_diag_report(k->e->sink, TN_E0231, stmt->span,
			      "%lld turns are too many to write out",
			      (long long)turns);
	tn_diag_help(k->e->sink, diag, "`unroll` takes %d at most: nest it in "
		     "a `for`", TN_KLOOP_WRITTEN);
	return false;
}

static void loop(struct kctx *k, const struct tn_tree_kstmt *stmt,
		 struct tn_kblock *to)
{
	static const enum tn_kloop_kind kinds[] = {
		[TN_TREE_LOOP_FOR] = TN_LOOP_FOR,
		[TN_TREE_LOOP_PAR] = TN_LOOP_PAR,
		[TN_TREE_LOOP_VEC] = TN_LOOP_VEC,
		[TN_TREE_LOOP_UNROLL] = TN_LOOP_UNROLL
	};
	const struct tn_kexpr *low = elab_kexpr_as(k, stmt->low, TN_i64);
	const struct tn_kexpr *high = elab_kexpr_as(k, stmt->high, TN_i64);
	size_t mark = k->bound.len;
	struct tn_kstmt *made;
	struct tn_kvar *var;
	enum tn_kbind bind;
	int64_t step = 1, min;

	if (stmt->step &&
	    !elab_constant(&k->frame, stmt->step, "a step", &step))
		return;
	if (step < 1)
		tn_diag_report(k->e->sink, TN_E0231, stmt->step->span,
			       "a step is at least 1");
	if (!low || !high || !read_bind(k, stmt, &bind) ||
	    !read_min(k, stmt, bind, &min))
		return;
	if (step > 0 && !tn_kloop_fits(low, high, step)) {
		tn_diag_report(k->e->sink, TN_E0231, stmt->span,
			       "the range of '%s' leaves the 64-bit numbers",
			       stmt->name.text);
		return;
	}
	if (stmt->loop == TN_TREE_LOOP_UNROLL &&
	    !check_unroll(k, stmt, low, high, step))
		return;
	var = tn_kernel_var(k->kernel, stmt->name.text, TN_i64);
	if (!bind_name(k, stmt->name, var, NULL))
		return;
	made = tn_kstmt_loop(k->kernel, to, kinds[stmt->loop], var, low,
			     high);
	if (made) {
		made->step = step;
		made->bind = bind;
		made->min = min;
		block(k, &stmt->body, &made->body);
	}
	release(k, mark);
}

static void let(struct kctx *k, const struct tn_tree_kstmt *stmt,
		struct tn_kblock *to)
{
	struct kv value = elab_kexpr(k, stmt->value);
	enum tn_dtype dtype;
	struct tn_kvar *var;

	if (!value.e)
		return;
	dtype = value.e->dtype;
	if (stmt->type) {
		dtype = elab_elem(&k->frame, stmt->type);
		if (dtype >= TN_DTYPE_COUNT || stmt->type->shape.len > 0) {
			tn_diag_report(k->e->sink, TN_E0232,
				       stmt->type->span,
				       "`let` names a scalar; `alloc` makes "
				       "buffers");
			return;
		}
		value.e = elab_kexpr_retype(k, &value, dtype);
	}
	var = tn_kernel_var(k->kernel, stmt->name.text, dtype);
	if (!value.e || !var)
		return;
	var->is_mutable = stmt->is_mutable;
	tn_kstmt_let(k->kernel, to, var, value.e);
	bind_name(k, stmt->name, var, NULL);
}

static void set(struct kctx *k, const struct tn_tree_kstmt *stmt,
		struct tn_kvar *var, struct tn_kblock *to)
{
	const struct tn_kexpr *value = elab_kexpr_as(k, stmt->value,
						     var->dtype);
	struct tn_diag *diag;

	if (!var->is_mutable) {
		diag = tn_diag_report(k->e->sink, TN_E0231,
				      stmt->target->span,
				      "'%s' cannot be assigned", var->name);
		tn_diag_help(k->e->sink, diag, "declare it `let mut %s`",
			     var->name);
		return;
	}
	if (value)
		tn_kstmt_set(k->kernel, to, var, value, stmt->add);
}

static void store(struct kctx *k, const struct tn_tree_kstmt *stmt,
		  struct tn_kblock *to)
{
	const struct tn_kexpr *index[TN_MAX_RANK], *value;
	const struct tn_expr *target = stmt->target, *base = target;
	const struct kname *found;
	struct tn_kstmt *made;
	struct tn_diag *diag;

	if (target->kind == TN_EXPR_INDEX)
		base = target->u.index.base;
	found = base->kind == TN_EXPR_NAME ?
		tn_map_find(&k->names, base->u.name) : NULL;
	if (found && found->var && base == target) {
		set(k, stmt, found->var, to);
		return;
	}
	if (!found || !found->buf || (base == target && found->buf->rank)) {
		diag = tn_diag_report(k->e->sink, TN_E0231, target->span,
				      "this is no element of a buffer of the "
				      "kernel");
		if (!found && base == target && base->kind == TN_EXPR_NAME)
			tn_diag_help(k->e->sink, diag, "a variable is declared "
				     "first: `let mut %s: f32 = 0.0;`",
				     base->u.name);
		return;
	}
	if (found->buf->role == TN_KBUF_IN) {
		tn_diag_report(k->e->sink, TN_E0231, target->span,
			       "'%s' is @in and cannot be written",
			       found->name);
		return;
	}
	if (base != target &&
	    !elab_kexpr_index(k, target, found->buf, index))
		return;
	value = elab_kexpr_as(k, stmt->value, found->buf->dtype);
	made = !value ? NULL :
		tn_kstmt_store(k->kernel, to, found->buf, found->buf->rank,
			       index, value, stmt->add);
	if (made && base != target)
		elab_map(k->e, &k->places, made, (void *)(uintptr_t)target);
}

static void raise_stmt(struct kctx *k, const struct tn_args *args,
		       struct tn_span span, struct tn_kblock *to)
{
	const struct tn_kexpr *cond;
	int64_t flags;

	if (args->len != 2 || !args->at[0]->value || !args->at[1]->value) {
		tn_diag_report(k->e->sink, TN_E0209, span,
			       "write raise(condition, flags)");
		return;
	}
	cond = elab_kexpr_as(k, args->at[0]->value, TN_bool);
	if (cond && elab_constant(&k->frame, args->at[1]->value, "a flag",
				  &flags))
		tn_kstmt_raise(k->kernel, to, cond, (uint32_t)flags);
}

static void size_stmt(struct kctx *k, const struct tn_args *args,
		      struct tn_span span, struct tn_kblock *to)
{
	const struct tn_kexpr *value;
	const struct tn_dim *dim;

	if (args->len != 2 || !args->at[0]->value || !args->at[1]->value) {
		tn_diag_report(k->e->sink, TN_E0209, span,
			       "write size(dim, value)");
		return;
	}
	dim = elab_dim(&k->frame, args->at[0]->value);
	value = elab_kexpr_as(k, args->at[1]->value, TN_i64);
	if (!dim || !value)
		return;
	if (dim->kind != TN_DIM_SYM)
		tn_diag_report(k->e->sink, TN_E0231, span,
			       "`size` sets a declared dim");
	else
		tn_kstmt_size(k->kernel, to, dim->sym, value);
}

static void call_stmt(struct kctx *k, const struct tn_tree_kstmt *stmt,
		      struct tn_kblock *to)
{
	const struct tn_expr *expr = stmt->value;
	const char *name;

	name = expr->kind == TN_EXPR_CALL ? expr->u.call.name : "";
	if (strcmp(name, "barrier") == 0 && expr->u.call.args.len == 0)
		tn_kstmt_barrier(k->kernel, to);
	else if (strcmp(name, "raise") == 0)
		raise_stmt(k, &expr->u.call.args, stmt->span, to);
	else if (strcmp(name, "size") == 0)
		size_stmt(k, &expr->u.call.args, stmt->span, to);
	else
		tn_diag_report(k->e->sink, TN_E0231, stmt->span,
			       "only barrier(), raise(..) and size(..) stand "
			       "alone in a kernel");
}

/* else-if chains nest. */
static void if_stmt(struct kctx *k, const struct tn_karms *arms, uint32_t at,
		    struct tn_kblock *to)
{
	const struct tn_karm *arm = arms->at[at];
	const struct tn_kexpr *cond;
	struct tn_kstmt *made;

	if (!arm->cond) {
		block(k, &arm->body, to);
		return;
	}
	cond = elab_kexpr_as(k, arm->cond, TN_bool);
	if (!cond)
		return;
	made = tn_kstmt_if(k->kernel, to, cond);
	if (!made)
		return;
	block(k, &arm->body, &made->body);
	if (at + 1 < arms->len)
		if_stmt(k, arms, at + 1, &made->orelse);
}

static void statement(struct kctx *k, const struct tn_tree_kstmt *stmt,
		      struct tn_kblock *to)
{
	switch (stmt->kind) {
	case TN_TREE_KSTMT_LOOP:
		loop(k, stmt, to);
		break;
	case TN_TREE_KSTMT_LET:
		let(k, stmt, to);
		break;
	case TN_TREE_KSTMT_ALLOC:
		alloc(k, stmt, to);
		break;
	case TN_TREE_KSTMT_STORE:
		store(k, stmt, to);
		break;
	case TN_TREE_KSTMT_EXPR:
		call_stmt(k, stmt, to);
		break;
	case TN_TREE_KSTMT_IF:
		if_stmt(k, &stmt->arms, 0, to);
		break;
	}
}

static void block(struct kctx *k, const struct tn_tree_kblock *from,
		  struct tn_kblock *to)
{
	size_t mark = k->bound.len;
	uint32_t i;

	for (i = 0; i < from->len; i++)
		statement(k, from->at[i], to);
	release(k, mark);
}

void elab_kernel_item(struct tn_elab *e, struct decl *decl)
{
	const struct tn_sig *sig = decl->item->u.sig;
	uint32_t errors = e->sink->errors;
	struct kctx k;
	uint32_t i;

	if (decl->state == DECL_DONE)
		return;
	decl->state = DECL_DONE;
	memset(&k, 0, sizeof(k));
	k.e = e;
	k.kernel = tn_kernel_new(e->module, decl->name);
	if (!k.kernel)
		return;
	decl->kernel = k.kernel;
	k.kernel->span = decl->item->name.span;
	elab_annots(e, &decl->item->annots, &k.kernel->annots);
	frame_init(&k.frame, e, NULL, decl, NULL);
	k.frame.sees_runtime = true;
	tn_map_init_text(&k.names);
	tn_map_init_ptr(&k.places);
	tn_vec_init(&k.bound, sizeof(struct kname *), NULL);
	for (i = 0; i < sig->params.len; i++)
		param(&k, sig->params.at[i]);
	block(&k, &sig->kernel, &k.kernel->body);
	if (e->sink->errors == errors &&
	    !tn_annots_find(&k.kernel->annots, "unchecked"))
		elab_kernel_check(&k);
	tn_map_fini(&k.places);
	tn_map_fini(&k.names);
	tn_vec_fini(&k.bound);
	frame_fini(&k.frame);
}

/* ---- Launches ---------------------------------------------------------- */

static bool launch_operands(struct frame *frame, const struct decl *decl,
			    struct call *call, struct tn_vec *in)
{
	const struct tn_kernel *kernel = decl->kernel;
	struct tn_elab *e = frame->e;
	int i;

	for (i = 0; i < kernel->nparams; i++) {
		const struct tn_kbuf *buf = kernel->params[i];
		const struct tn_type *type;
		struct actual *actual;
		struct tn_value *value;

		if (buf->role == TN_KBUF_OUT)
			continue;
		type = tn_kbuf_value_type(e->module, buf);
		actual = call_arg(call, buf->name, (int)in->len);
		if (!actual) {
			tn_diag_report(e->sink, TN_E0209, call->span,
				       "'%s' needs '%s'", decl->name,
				       buf->name);
			return false;
		}
		value = elab_to_value(frame, &actual->ev, buf->dtype);
		if (!value || tn_type_is_poison(value->type))
			return false;
		if (value->type != type) {
			tn_diag_report(e->sink, TN_E0282, actual->ev.span,
				       "'%s' of kernel '%s' is %s, this is "
				       "%s", buf->name, decl->name,
				       elab_type_text(e, type),
				       elab_type_text(e, value->type));
			return false;
		}
		if (!elab_push_ptr(e, in, value))
			return false;
	}
	return call_all_used(frame, call, NULL, 0);
}

struct ev elab_launch(struct frame *frame, struct decl *decl,
		      struct call *call)
{
	struct ev out = ev_poison(call->span);
	struct tn_elab *e = frame->e;
	struct tn_vec in;
	struct tn_op *op;
	int i, nout = 0, at = 0;

	elab_kernel_item(e, decl);
	if (!decl->kernel)
		return out;
	for (i = 0; i < decl->kernel->nparams; i++)
		nout += decl->kernel->params[i]->role != TN_KBUF_IN;
	tn_vec_init(&in, sizeof(struct tn_value *), NULL);
	if (!launch_operands(frame, decl, call, &in)) {
		tn_vec_fini(&in);
		return out;
	}
	op = tn_graph_op(frame->b.fn, TN_OP_launch, (int)in.len, in.data,
			 nout, call->span);
	tn_vec_fini(&in);
	if (!op)
		return out;
	op->kernel = decl->kernel;
	for (i = 0; i < decl->kernel->nparams; i++) {
		const struct tn_kbuf *buf = decl->kernel->params[i];

		if (buf->role == TN_KBUF_IN)
			continue;
		op->out[at]->layout = buf->layout;
		op->out[at++]->type = tn_kbuf_value_type(e->module, buf);
	}
	tn_graph_insert(frame->b.block, op, NULL);
	return elab_results(frame, op);
}
