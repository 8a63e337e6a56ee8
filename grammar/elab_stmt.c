/*
 * Statements of bodies: bindings, sizes, ends.
 */
#include "grammar/elab.h"

#include <string.h>

/* ---- Names of values --------------------------------------------------- */

static bool is_result(const struct tn_value *value, const struct ev *evs,
		      uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++)
		if (evs[i].kind == EV_VALUE && evs[i].u.value == value)
			return true;
	return false;
}

/* A name that only a block which ended still holds, of its carry for one, is
 * taken from it: what can be seen keeps the name as it was written. */
static void give_name(struct frame *frame, struct tn_value *value,
		      const char *name)
{
	struct tn_fn *fn = frame->b.fn;
	struct tn_value *holder = tn_map_find(&fn->names, name);
	const char *other;

	if (holder && holder != value && !frame_find(frame, name)) {
		other = tn_arena_printf(&frame->e->scratch, "%s__0", name);
		if (other)
			tn_graph_name(fn, holder, other);
	}
	tn_graph_name(fn, value, name);
}

/* `h__0` for the values on the way to `h`. */
static void name_made(struct frame *frame, struct tn_op *op,
		      const char *wish, const struct ev *evs, uint32_t count)
{
	int i;

	for (i = 0; i < op->nout; i++)
		if (!op->out[i]->is_named &&
		    !is_result(op->out[i], evs, count))
			tn_graph_name(frame->b.fn, op->out[i], wish);
}

/* Names the results of a statement, and the values on the way to them. */
static void name_results(struct frame *frame, const struct tn_op *before,
			 const struct tn_binds *binds, const struct ev *evs)
{
	struct tn_block *block = frame->b.block;
	struct tn_op *first = before ? before->next : block->first, *op;
	const char *wish;
	uint32_t i;

	if (frame->is_text)
		return;
	for (op = block->last; op && op != before; op = op->prev)
		for (i = 0; i < binds->len; i++) {
			struct tn_value *value = evs[i].u.value;

			if (evs[i].kind == EV_VALUE && value->op == op &&
			    !value->is_named)
				give_name(frame, value,
					  binds->at[i]->name.text);
		}
	wish = tn_arena_printf(&frame->e->scratch, "%s__0",
			       binds->at[0]->name.text);
	for (op = first; wish && op; op = op->next)
		name_made(frame, op, wish, evs, binds->len);
}

/* ---- Bindings ---------------------------------------------------------- */

static void report_type(struct frame *frame, const struct tn_bind *bind,
			const struct tn_type *want, const struct ev *ev)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;

	diag = tn_diag_report(e->sink, TN_E0283, bind->type->span,
			      "'%s' is declared %s", bind->name.text,
			      elab_type_text(e, want));
	tn_diag_also(e->sink, diag, ev->span, "this is %s", ev_text(e, ev));
	elab_note_dims(e, diag, want);
	if (ev->kind == EV_VALUE && ev->u.value->type->dtype != want->dtype &&
	    want->dtype < TN_DTYPE_COUNT)
		tn_diag_help(e->sink, diag, "write cast(.., %s)",
			     tn_dtype_name(want->dtype));
	else if (ev->kind == EV_VALUE)
		elab_note_dims(e, diag, ev->u.value->type);
}

/* The value as declared; `want` NULL: no type was written. */
static struct ev as_declared(struct frame *frame, const struct tn_bind *bind,
			     const struct tn_type *want, const struct ev *ev)
{
	struct tn_value *value;
	struct ev out = *ev;

	if (ev_is_poison(ev))
		return ev_poison(bind->name.span);
	if (ev->kind == EV_LIST && !want) {
		value = NULL;
		if (ev->u.list.len == 0 ||
		    ev->u.list.at[0].kind == EV_VALUE ||
		    ev->u.list.at[0].kind == EV_DIM ||
		    ev->u.list.at[0].kind == EV_STRING)
			return out;
		value = elab_to_value(frame, ev, ELAB_ANY);
		return ev_value(value, ev->span);
	}
	if (!want && ev->kind == EV_CONST)
		return ev_value(elab_to_value(frame, ev, ELAB_ANY), ev->span);
	if (!want)
		return out;
	if (ev->kind == EV_LIST && tn_type_is_static(want)) {
		out.kind = EV_CONST;
		out.u.typed.of = ev;
		out.u.typed.type = want;
		out = ev_value(elab_to_value(frame, &out, ELAB_ANY),
			       ev->span);
		if (out.kind == EV_VALUE)
			elab_value_annots(frame->e, &bind->type->annots,
					  out.u.value);
		return out;
	}
	value = elab_to_value(frame, ev, ev->kind == EV_VALUE && !ev->soft ?
			      ELAB_ANY : want->dtype);
	if (!value || tn_type_is_poison(value->type))
		return ev_poison(bind->name.span);
	out = ev_value(value, ev->span);
	if (value->type != want) {
		report_type(frame, bind, want, &out);
		return ev_poison(bind->name.span);
	}
	elab_value_annots(frame->e, &bind->type->annots, value);
	return out;
}

/* A result's name, if bound, has the result's type. */
static void check_port(struct frame *frame, const struct tn_bind *bind,
		       const struct ev *ev)
{
	const struct tn_fn *fn = frame->b.fn;
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;
	int i;

	if (fn->kind == TN_FN_INSTANCE || ev->kind != EV_VALUE)
		return;
	for (i = 0; i < fn->nresults; i++) {
		const struct tn_type *type = fn->result_types[i];

		if (fn->result_names[i] != bind->name.text ||
		    type == ev->u.value->type || tn_type_is_poison(type))
			continue;
		diag = tn_diag_report(e->sink, TN_E0283, bind->name.span,
				      "'%s' names a result of type %s",
				      bind->name.text,
				      elab_type_text(e, type));
		tn_diag_also(e->sink, diag, ev->span, "this is %s",
			     ev_text(e, ev));
		elab_note_dims(e, diag, type);
	}
}

static bool is_call_of(const struct tn_stmt *stmt, const char *name)
{
	return stmt->values.len == 1 &&
	       stmt->values.at[0]->kind == TN_EXPR_CALL &&
	       strcmp(stmt->values.at[0]->u.call.name, name) == 0;
}

/* i: i64[Z] = nonzero(x): the declared type sets the size. */
static struct ev nonzero(struct frame *frame, const struct tn_expr *expr,
			 const struct tn_type *type)
{
	const struct tn_args *args = &expr->u.call.args;
	struct tn_value *value;
	struct tn_op *op;

	value = elab_expr_value(frame, args->at[0]->value, ELAB_ANY);
	if (!value || tn_type_is_poison(value->type))
		return ev_poison(expr->span);
	op = tn_graph_op(frame->b.fn, TN_OP_nonzero, 1, &value, 1,
			 expr->span);
	if (!op || !elab_set_attr(frame->e, op,
				  tn_attr_dtype("elem", type->dtype)))
		return ev_poison(expr->span);
	op->out[0]->type = type;
	tn_graph_insert(frame->b.block, op, NULL);
	if (!tn_infer_op(op))
		return ev_poison(expr->span);
	return ev_value(op->out[0], expr->span);
}

static struct ev right_side(struct frame *frame, const struct tn_stmt *stmt,
			    const struct tn_type *const *types,
			    const enum tn_dtype *wants)
{
	if (stmt->region)
		return elab_region(frame, stmt->region, wants,
				   (int)stmt->binds.len);
	if (types[0] && is_call_of(stmt, "nonzero") &&
	    stmt->values.at[0]->u.call.args.len >= 1 &&
	    stmt->values.at[0]->u.call.args.at[0]->value)
		return nonzero(frame, stmt->values.at[0], types[0]);
	return elab_expr(frame, stmt->values.at[0], wants[0]);
}

/* One ev for each name, or a report. */
static bool spread(struct frame *frame, const struct tn_stmt *stmt,
		   const struct ev *ev, struct ev *out)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;
	uint32_t i, have = 1;
	struct tn_span span;

	span = tn_span_join(stmt->binds.at[0]->name.span,
			    stmt->binds.at[stmt->binds.len - 1]->name.span);
	if (ev->kind == EV_TUPLE)
		have = (uint32_t)ev->u.list.len;
	if (ev->kind != EV_POISON && have != stmt->binds.len) {
		diag = tn_diag_report(e->sink, TN_E0212, span,
				      "%u name%s for %u value%s",
				      stmt->binds.len,
				      stmt->binds.len == 1 ? "" : "s", have,
				      have == 1 ? "" : "s");
		tn_diag_also(e->sink, diag, ev->span, "%s", ev_text(e, ev));
		return false;
	}
	for (i = 0; i < stmt->binds.len; i++) {
		if (ev->kind == EV_POISON)
			out[i] = *ev;
		else
			out[i] = ev->kind == EV_TUPLE ? ev->u.list.at[i] : *ev;
	}
	return true;
}

static void bind_stmt(struct frame *frame, const struct tn_stmt *stmt)
{
	uint32_t count = stmt->binds.len, i;
	struct tn_op *before = frame->b.block->last;
	const struct tn_type **types;
	struct tn_elab *e = frame->e;
	enum tn_dtype *wants;
	struct ev *evs, ev;

	types = tn_arena_array(&e->scratch, count + 1, sizeof(*types));
	wants = tn_arena_array(&e->scratch, count + 1, sizeof(*wants));
	evs = tn_arena_array(&e->scratch, count + 1, sizeof(*evs));
	if (!types || !wants || !evs)
		return;
	for (i = 0; i < count; i++) {
		const struct tn_bind *bind = stmt->binds.at[i];

		types[i] = bind->type ? elab_type(frame, bind->type) : NULL;
		wants[i] = types[i] && types[i]->dtype < TN_DTYPE_COUNT ?
			   types[i]->dtype : ELAB_ANY;
	}
	ev = right_side(frame, stmt, types, wants);
	if (!spread(frame, stmt, &ev, evs))
		ev = ev_poison(stmt->span);
	for (i = 0; i < count; i++) {
		const struct tn_bind *bind = stmt->binds.at[i];

		if (ev.kind == EV_POISON)
			evs[i] = ev_poison(bind->name.span);
		evs[i] = as_declared(frame, bind, types[i], &evs[i]);
	}
	name_results(frame, before, &stmt->binds, evs);
	for (i = 0; i < count; i++) {
		check_port(frame, stmt->binds.at[i], &evs[i]);
		frame_bind(frame, stmt->binds.at[i]->name, evs[i]);
	}
}

/* ---- Blocks ------------------------------------------------------------ */

static void values_of(struct frame *frame, const struct tn_exprs *exprs,
		      const enum tn_dtype *wants, int nwants, int *count,
		      struct ev **out)
{
	struct tn_elab *e = frame->e;
	int old = *count, i;
	struct ev *all;

	all = tn_arena_array(&e->scratch, (size_t)old + exprs->len + 1,
			     sizeof(*all));
	if (!all)
		return;
	if (old)
		memcpy(all, *out, (size_t)old * sizeof(*all));
	for (i = 0; i < (int)exprs->len; i++)
		all[old + i] = elab_expr(frame, exprs->at[i],
					 i < nwants ? wants[i] : ELAB_ANY);
	if (exprs->len == 1 && old == 0 && all[0].kind == EV_TUPLE) {
		*out = all[0].u.list.at;
		*count = all[0].u.list.len;
		return;
	}
	*out = all;
	*count = old + (int)exprs->len;
}

static bool misplaced(struct frame *frame, const struct tn_stmt *stmt,
		      const char *what, const char *where)
{
	tn_diag_report(frame->e->sink, TN_E0704, stmt->span,
		       "`%s` belongs into %s", what, where);
	return false;
}

static bool end_stmt(struct frame *frame, const struct tn_stmt *stmt,
		     enum block_role role, const enum tn_dtype *wants,
		     int nwants, struct outcome *out)
{
	bool is_fn = role == BLOCK_FN || role == BLOCK_TEST;

	if (stmt->kind == TN_STMT_RETURN && role != BLOCK_FN)
		return misplaced(frame, stmt, "return",
				 "the body of a function itself; a region "
				 "ends with `yield`");
	if (stmt->kind == TN_STMT_YIELD && is_fn)
		return misplaced(frame, stmt, "yield",
				 "if, for, while and scan");
	if (stmt->kind == TN_STMT_EMIT) {
		if (role != BLOCK_SCAN)
			return misplaced(frame, stmt, "emit", "a scan");
		values_of(frame, &stmt->values, NULL, 0, &out->nemits,
			  &out->emits);
		return true;
	}
	out->ended = true;
	values_of(frame, &stmt->values, wants, nwants, &out->nvalues,
		  &out->values);
	return true;
}

static bool one_stmt(struct frame *frame, const struct tn_stmt *stmt,
		     enum block_role role, const enum tn_dtype *wants,
		     int nwants, struct outcome *out)
{
	switch (stmt->kind) {
	case TN_STMT_BIND:
		bind_stmt(frame, stmt);
		return true;
	case TN_STMT_DIM:
		elab_dim_stmt(frame, stmt->dim);
		return true;
	case TN_STMT_EXPR:
		elab_expr(frame, stmt->values.at[0], ELAB_ANY);
		return true;
	case TN_STMT_RETURN:
	case TN_STMT_YIELD:
	case TN_STMT_EMIT:
		return end_stmt(frame, stmt, role, wants, nwants, out);
	case TN_STMT_EXPECT:
	case TN_STMT_REJECT:
		if (role != BLOCK_TEST) {
			tn_diag_report(frame->e->sink, TN_E0223, stmt->span,
				       "this belongs into a test");
			return false;
		}
		if (stmt->kind == TN_STMT_EXPECT)
			elab_expect(frame, stmt);
		else
			elab_reject(frame, stmt);
		return true;
	}
	return false;
}

/* A scan that carries nothing needs no `yield`. */
static bool check_end(struct frame *frame, const struct tn_tree_block *block,
		      enum block_role role, int ncarries,
		      const struct outcome *out)
{
	struct tn_diag *diag;
	struct tn_span brace = block->span;

	if (out->ended || role == BLOCK_TEST)
		return true;
	if (role == BLOCK_SCAN && ncarries == 0 && out->nemits > 0)
		return true;
	if (block->broken)
		return false;
	brace.begin = brace.end > 0 ? brace.end - 1 : 0;
	diag = tn_diag_report(frame->e->sink, TN_E0701, brace,
			      "this block ends without `%s`",
			      role == BLOCK_FN ? "return" : "yield");
	tn_diag_help(frame->e->sink, diag, "end it with `%s ..;`",
		     role == BLOCK_FN ? "return" : "yield");
	return false;
}

/* In the library one fault is enough: it is shown where the user called. */
bool elab_block(struct frame *frame, const struct tn_tree_block *block,
		enum block_role role, const enum tn_dtype *wants, int nwants,
		struct outcome *out)
{
	size_t mark = frame_mark(frame);
	bool was_broken = frame->is_broken, ok = true;
	uint32_t errors = frame->e->sink->errors, i;

	frame->is_broken |= block->broken;
	for (i = 0; ok && i < block->len; i++) {
		if (out->ended) {
			tn_diag_report(frame->e->sink, TN_E0706,
				       block->at[i]->span,
				       "nothing follows `return` or `yield`");
			ok = false;
			break;
		}
		ok = one_stmt(frame, block->at[i], role, wants, nwants, out);
		ok &= !frame->is_library || frame->e->sink->errors == errors;
		out->span = block->at[i]->span;
	}
	ok = ok && check_end(frame, block, role, nwants, out);
	if (role != BLOCK_FN)
		frame_release(frame, mark);
	frame->is_broken = was_broken;
	return ok;
}
