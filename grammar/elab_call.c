/*
 * Calls: who is meant, and the operands and attributes of primitives.
 *
 * A name in a call is looked for among the user's items, the short forms
 * (elab_sugar.c), the primitives and the library, in this order.
 */
#include "grammar/elab.h"
#include "grammar/habit.h"

#include <stdlib.h>
#include <string.h>

#define MAX_ATTRS 8

struct actual *call_arg(struct call *call, const char *name, int place)
{
	int at = 0, i;

	for (i = 0; i < call->len; i++) {
		struct actual *actual = &call->at[i];

		if (actual->name ? strcmp(actual->name, name) == 0 :
				   at++ == place) {
			actual->used = true;
			return actual;
		}
	}
	return NULL;
}

/* max and min take two tensors; over axes it is another operator. */
static bool suggest_reduce(struct tn_elab *e, struct tn_diag *diag,
			   const char *name)
{
	if (strcmp(name, "max") != 0 && strcmp(name, "min") != 0)
		return false;
	tn_diag_help(e->sink, diag, "over axes of one tensor it is "
		     "reduce_%s(x, axes=[..])", name);
	return true;
}

bool call_all_used(struct frame *frame, const struct call *call,
		   const char *const *known, int nknown)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;
	const char *near;
	int i;

	for (i = 0; i < call->len; i++) {
		const struct actual *actual = &call->at[i];

		if (actual->used)
			continue;
		if (!actual->name) {
			tn_diag_report(e->sink, TN_E0209, actual->ev.span,
				       "'%s' has no place for this argument",
				       call->name);
			return false;
		}
		diag = tn_diag_report(e->sink, TN_E0208, actual->name_span,
				      "'%s' has no argument '%s'", call->name,
				      actual->name);
		if (suggest_reduce(e, diag, call->name))
			return false;
		near = tn_diag_nearest(actual->name, known, (size_t)nknown);
		if (near) {
			tn_diag_help(e->sink, diag, "did you mean '%s'?",
				     near);
			tn_diag_fix(e->sink, diag, actual->name_span, near);
		} else if (tn_habit_argument(actual->name)) {
			tn_diag_help(e->sink, diag, "%s",
				     tn_habit_argument(actual->name));
		} else if (nknown > 0) {
			struct tn_buf names;
			int k;

			tn_buf_init(&names);
			for (k = 0; k < nknown; k++)
				tn_buf_putf(&names, "%s%s", k ? ", " : "",
					    known[k]);
			tn_diag_help(e->sink, diag, "it has: %s",
				     tn_buf_text(&names));
			tn_buf_fini(&names);
		}
		return false;
	}
	return true;
}

struct ev elab_make(struct frame *frame, enum tn_opcode code, int nin,
		    struct tn_value *const *in, int nattrs,
		    const struct tn_attr *attrs, struct tn_span span)
{
	struct tn_op *op;

	op = tn_build_op(&frame->b, code, nin, in, nattrs, attrs, span);
	if (op)
		return elab_results(frame, op);
	frame->e->module->failed = true;
	return ev_poison(span);
}

/* ---- Primitives -------------------------------------------------------- */

struct prim {
	struct frame *frame;
	const struct tn_op_info *info;
	struct call *call;
	struct tn_vec in;		/* struct ev */
	int nattrs;
	struct tn_attr attrs[MAX_ATTRS];
};

static bool is_tensor_like(const struct ev *ev)
{
	return ev->kind == EV_VALUE || ev->kind == EV_CONST ||
	       ev_is_literal(ev) || ev->kind == EV_POISON;
}

static int find_attr(const struct tn_op_info *info, const char *name)
{
	int i;

	for (i = 0; i < info->nattrs; i++)
		if (strcmp(info->attrs[i].name, name) == 0)
			return i;
	return -1;
}

static bool has_attr(const struct prim *prim, const char *name)
{
	int i;

	for (i = 0; i < prim->nattrs; i++)
		if (strcmp(prim->attrs[i].name, name) == 0)
			return true;
	return false;
}

/* `_` is a size that only reshape can find. */
static bool has_hole(const struct prim *prim, const struct ev *ev)
{
	int i;

	if (prim->info == &tn_ops[TN_OP_reshape] || ev->kind != EV_LIST)
		return false;
	for (i = 0; i < ev->u.list.len; i++)
		if (ev->u.list.at[i].kind == EV_HOLE)
			return true;
	return false;
}

static bool set_attr(struct prim *prim, int i, const struct actual *actual)
{
	const struct tn_attr_info *info = &prim->info->attrs[i];

	if (has_attr(prim, info->name)) {
		tn_diag_report(prim->frame->e->sink, TN_E0213,
			       actual->ev.span, "'%s' is given twice",
			       info->name);
		return false;
	}
	if (has_hole(prim, &actual->ev)) {
		tn_diag_report(prim->frame->e->sink, TN_E0222,
			       actual->ev.span,
			       "'%s' cannot infer a size from `_`",
			       prim->info->name);
		return false;
	}
	if (prim->nattrs == MAX_ATTRS ||
	    !elab_attr(prim->frame, info, &actual->ev,
		       &prim->attrs[prim->nattrs]))
		return false;
	prim->nattrs++;
	return true;
}

static bool put_operand(struct prim *prim, const struct ev *ev)
{
	struct ev *slot = elab_push(prim->frame->e, &prim->in);

	if (slot)
		*slot = *ev;
	return slot != NULL;
}

/* concat([a, b]) as concat(a, b); a list inside is a tensor. */
static bool put_operands(struct prim *prim, const struct ev *list)
{
	int i;

	for (i = 0; i < list->u.list.len; i++)
		if (!put_operand(prim, &list->u.list.at[i]))
			return false;
	return true;
}

/* The first attribute that is not given, by place or by name. */
static int next_attr(const struct prim *prim)
{
	int i, k;

	for (i = 0; i < prim->info->nattrs; i++) {
		const char *name = prim->info->attrs[i].name;
		bool named = false;

		for (k = 0; k < prim->call->len; k++)
			named |= prim->call->at[k].name &&
				 strcmp(prim->call->at[k].name, name) == 0;
		if (!named && !has_attr(prim, name))
			return i;
	}
	return -1;
}

static bool read_positional(struct prim *prim, struct actual *actual)
{
	const struct tn_op_info *info = prim->info;
	bool room = info->nin_max < 0 ||
		    prim->in.len < (size_t)info->nin_max;
	bool is_due = prim->in.len < (size_t)info->nin_min;
	bool is_list = info->nin_max < 0 && actual->ev.kind == EV_LIST &&
		       prim->in.len == 0;
	int next;

	actual->used = true;
	if (is_due && info->nin_max < 0 && actual->ev.kind == EV_STRING)
		is_due = false;
	if (room && is_list)
		return put_operands(prim, &actual->ev);
	if (room && (is_due || is_tensor_like(&actual->ev)))
		return put_operand(prim, &actual->ev);
	next = next_attr(prim);
	if (next >= 0)
		return set_attr(prim, next, actual);
	if (room)
		return put_operand(prim, &actual->ev);
	actual->used = false;
	return true;
}

static bool read_args(struct prim *prim)
{
	struct call *call = prim->call;
	bool ok = true;
	int i, at;

	for (i = 0; i < call->len; i++) {
		struct actual *actual = &call->at[i];

		if (!actual->name) {
			ok &= read_positional(prim, actual);
			continue;
		}
		at = find_attr(prim->info, actual->name);
		if (at < 0)
			continue;
		actual->used = true;
		ok &= set_attr(prim, at, actual);
	}
	return ok;
}

static bool check_count(struct prim *prim)
{
	const struct tn_op_info *info = prim->info;
	size_t least = (size_t)info->nin_min;
	int i;

	if (prim->in.len < least) {
		struct tn_elab *e = prim->frame->e;

		suggest_reduce(e, tn_diag_report(e->sink, TN_E0209,
			       prim->call->span,
			       "'%s' takes %s%d operand%s, not %zu",
			       info->name,
			       info->nin_max == info->nin_min ? "" :
								"at least ",
			       info->nin_min, info->nin_min == 1 ? "" : "s",
			       prim->in.len), info->name);
		return false;
	}
	for (i = 0; i < info->nattrs; i++) {
		if (info->attrs[i].fallback || has_attr(prim,
							info->attrs[i].name))
			continue;
		tn_diag_report(prim->frame->e->sink, TN_E0211,
			       prim->call->span, "'%s' needs '%s', %s",
			       info->name, info->attrs[i].name,
			       elab_attr_kind(info->attrs[i].kind));
		return false;
	}
	return true;
}

static bool is_index_op(enum tn_srule rule)
{
	return rule == TN_SRULE_GATHER || rule == TN_SRULE_GATHER_ND ||
	       rule == TN_SRULE_TAKE_ALONG || rule == TN_SRULE_SCATTER ||
	       rule == TN_SRULE_SCATTER_ND || rule == TN_SRULE_SCATTER_ALONG;
}

/* Operands of which each has its own type: index operands, conditions. */
static bool own_operands(struct prim *prim, struct tn_value **out)
{
	struct frame *frame = prim->frame;
	const struct tn_op_info *info = prim->info;
	const struct ev *in = prim->in.data;
	struct ev pair[2];
	struct tn_value *values[2];

	if (info->drule == TN_DRULE_SELECT) {
		out[0] = elab_to_value(frame, &in[0], TN_bool);
		return out[0] && elab_adopt(frame, 2, in + 1, out + 1,
					    prim->call->want, prim->call->span,
					    info->name);
	}
	out[1] = elab_to_value(frame, &in[1], ELAB_ANY);
	if (!out[1])
		return false;
	if (prim->in.len == 2) {
		out[0] = elab_to_value(frame, &in[0], ELAB_ANY);
		return out[0] != NULL;
	}
	pair[0] = in[0];
	pair[1] = in[2];
	if (!elab_adopt(frame, 2, pair, values, prim->call->want,
			prim->call->span, info->name))
		return false;
	out[0] = values[0];
	out[2] = values[1];
	return true;
}

static bool operands(struct prim *prim, struct tn_value **out)
{
	const struct tn_op_info *info = prim->info;
	const struct ev *in = prim->in.data;
	enum tn_dtype want = prim->call->want;
	size_t i;

	for (i = 0; i < prim->in.len; i++)
		if (ev_is_poison(&in[i]))
			return false;
	if (prim->in.len >= 2 &&
	    (info->drule == TN_DRULE_SELECT || is_index_op(info->srule)))
		return own_operands(prim, out);
	if (info->drule == TN_DRULE_BOOL || info->drule == TN_DRULE_ELEM ||
	    info->drule == TN_DRULE_I64)
		want = ELAB_ANY;
	return elab_adopt(prim->frame, (int)prim->in.len, in, out, want,
			  prim->call->span, info->name);
}

/* cast(K, f32): a literal takes the type at once, if it can; and a value of
 * that type is itself. */
static bool cast_literal(struct prim *prim, struct ev *out)
{
	const struct ev *in = prim->in.data;

	if (prim->info == &tn_ops[TN_OP_bitcast] && prim->in.len == 1 &&
	    (in->kind == EV_CONST ||
	     (in->kind == EV_LIST && in->u.list.len > 0)) &&
	    tn_dtype_bits(elab_default(in)) ==
	    tn_dtype_bits(prim->attrs[0].u.dtype)) {
		*out = elab_bitcast(prim->frame, in, prim->attrs[0].u.dtype,
				    prim->call->span);
		return true;
	}
	if (prim->info != &tn_ops[TN_OP_cast] || prim->in.len != 1)
		return false;
	if (in->kind == EV_VALUE && !tn_type_is_poison(in->u.value->type) &&
	    in->u.value->type->dtype == prim->attrs[0].u.dtype) {
		*out = *in;
		out->soft = false;
		return true;
	}
	if (in->kind == EV_VALUE || !ev_is_literal(in) ||
	    !elab_fits(in, prim->attrs[0].u.dtype))
		return false;
	*out = ev_value(elab_to_value(prim->frame, in,
				      prim->attrs[0].u.dtype),
			prim->call->span);
	return true;
}

struct ev elab_primitive(struct frame *frame, enum tn_opcode code,
			 struct call *call)
{
	struct prim prim = {.frame = frame, .info = &tn_ops[code]};
	struct ev out = ev_poison(call->span);
	const char *known[MAX_ATTRS];
	struct tn_value **in;
	int i;

	prim.call = call;
	tn_vec_init(&prim.in, sizeof(struct ev), NULL);
	for (i = 0; i < prim.info->nattrs && i < MAX_ATTRS; i++)
		known[i] = prim.info->attrs[i].name;
	if (read_args(&prim) && call_all_used(frame, call, known, i) &&
	    check_count(&prim) && !cast_literal(&prim, &out)) {
		in = tn_arena_array(&frame->e->scratch, prim.in.len + 1,
				    sizeof(*in));
		if (in && operands(&prim, in))
			out = elab_make(frame, code, (int)prim.in.len, in,
					prim.nattrs, prim.attrs, call->span);
	}
	tn_vec_fini(&prim.in);
	return out;
}

/* ---- Any call ---------------------------------------------------------- */

/* min and max of sizes are sizes. */
static bool fold_min_max(struct frame *frame, const struct call *call,
			 struct ev *out)
{
	struct tn_dim_pool *pool = &frame->e->module->dims;
	const struct tn_dim *a, *b;
	bool is_min = strcmp(call->name, "min") == 0;

	if ((!is_min && strcmp(call->name, "max") != 0) || call->len != 2 ||
	    call->at[0].ev.kind != EV_DIM || call->at[1].ev.kind != EV_DIM)
		return false;
	a = call->at[0].ev.u.dim;
	b = call->at[1].ev.u.dim;
	*out = ev_dim(is_min ? tn_dim_min(pool, a, b) : tn_dim_max(pool, a, b),
		      call->span);
	return true;
}

static struct ev unknown_call(struct frame *frame, const struct call *call)
{
	struct tn_elab *e = frame->e;
	const char *help = tn_habit_call(call->name);
	struct tn_diag *diag;

	if (e->broken)
		return ev_poison(call->span);
	diag = tn_diag_report(e->sink, TN_E0202, call->name_span,
			      "no function or operator is named '%s'",
			      call->name);
	if (help)
		tn_diag_help(e->sink, diag, "%s", help);
	else
		elab_suggest(frame, diag, call->name_span, call->name, true);
	return ev_poison(call->span);
}

static bool is_callable(const struct decl *decl)
{
	return decl && (decl->item->kind == TN_TREE_ITEM_FN ||
			decl->item->kind == TN_TREE_ITEM_OP);
}

static struct ev dispatch(struct frame *frame, struct call *call)
{
	struct tn_elab *e = frame->e;
	const char *name = call->name;
	bool is_std = strncmp(name, "std::", 5) == 0;
	struct decl *decl = NULL;
	enum tn_opcode code;
	elab_sugar_fn sugar;
	struct ev out;

	if (!frame->is_library && !is_std)
		decl = tn_map_find(&e->decls, name);
	if (is_callable(decl))
		return elab_call_decl(frame, decl, call);
	if (decl && decl->item->kind == TN_TREE_ITEM_KERNEL && frame->b.block)
		return elab_launch(frame, decl, call);
	if (fold_min_max(frame, call, &out))
		return out;
	if (is_std)
		name += 5;
	sugar = elab_sugar_find(name);
	if (sugar)
		return sugar(frame, call);
	if (!frame->b.block) {
		tn_diag_report(e->sink, TN_E0222, call->span,
			       "a call of '%s' is not constant", call->name);
		return ev_poison(call->span);
	}
	code = tn_op_find(name);
	if (code != TN_OP_none && (tn_ops[code].op_class != TN_CLASS_FLOW ||
				   tn_op_has(code, TN_FLAG_EFFECT)))
		return elab_primitive(frame, code, call);
	decl = elab_find(e, name, true);
	if (is_callable(decl))
		return elab_call_decl(frame, decl, call);
	return unknown_call(frame, call);
}

/* `..a` stands for all attributes that rules capture; elsewhere an error. */
static bool read_actual(struct frame *frame, const struct tn_arg *arg,
			struct actual *out)
{
	if (arg->kind == TN_ARG_REST) {
		tn_diag_report(frame->e->sink, TN_E0208, arg->span,
			       "`..%s` belongs into a rule", arg->name.text);
		return false;
	}
	out->name = arg->kind == TN_ARG_NAMED ? arg->name.text : NULL;
	out->name_span = arg->name.span;
	return true;
}

/* Functions are named, not valued, in run(f, ..). */
static bool names_function(const struct call *call, uint32_t i)
{
	return i == 0 && strcmp(call->name, "run") == 0;
}

struct ev elab_call(struct frame *frame, const struct tn_expr *expr,
		    enum tn_dtype want)
{
	const struct tn_args *args = &expr->u.call.args;
	struct call call = {.name = expr->u.call.name, .span = expr->span};
	bool ok = true;
	uint32_t i;

	call.name_span = tn_expr_callee(expr);
	call.want = want;
	call.at = tn_arena_array(&frame->e->scratch, args->len + 1,
				 sizeof(*call.at));
	if (!call.at)
		return ev_poison(expr->span);
	for (i = 0; i < args->len; i++) {
		struct actual *actual = &call.at[call.len];

		if (!read_actual(frame, args->at[i], actual)) {
			ok = false;
			continue;
		}
		call.len++;
		if (names_function(&call, i) &&
		    args->at[i]->value->kind == TN_EXPR_NAME) {
			actual->ev = ev_poison(args->at[i]->span);
			actual->ev.kind = EV_STRING;
			actual->ev.u.string = args->at[i]->value->u.name;
			continue;
		}
		actual->ev = elab_expr(frame, args->at[i]->value, ELAB_ANY);
		call.len -= actual->ev.kind == EV_NONE;
	}
	return ok ? dispatch(frame, &call) : ev_poison(expr->span);
}
