/*
 * Functions that are not generic: signatures first, then bodies, so that
 * they may call each other in any order; and call operators.
 */
#include "grammar/elab.h"

#include <string.h>

bool elab_param(struct frame *frame, const struct tn_param *param,
		const struct tn_type *type)
{
	struct tn_value *value;

	value = tn_graph_param(frame->b.fn->body, param->name.text, type);
	if (!value)
		return false;
	value->span = param->name.span;
	elab_value_annots(frame->e, &param->type->annots, value);
	if (!frame_find(frame, param->name.text))
		frame_bind(frame, param->name,
			   ev_value(value, param->name.span));
	return true;
}

/* ---- Signatures -------------------------------------------------------- */

/* Names of a signature are distinct, results from parameters too. */
void elab_check_names(struct tn_elab *e, const struct tn_sig *sig)
{
	struct tn_diag *diag;
	struct tn_map seen;
	uint32_t i, count = sig->params.len + sig->results.len;

	tn_map_init_text(&seen);
	for (i = 0; i < count; i++) {
		const struct tn_param *param = i < sig->params.len ?
			sig->params.at[i] :
			sig->results.at[i - sig->params.len];
		const struct tn_param *old;

		if (!param->name.text)
			continue;
		old = tn_map_find(&seen, param->name.text);
		if (old) {
			diag = tn_diag_report(e->sink, TN_E0203,
					      param->name.span,
					      "'%s' is bound already",
					      param->name.text);
			tn_diag_also(e->sink, diag, old->name.span,
				     "first bound here");
		}
		elab_map(e, &seen, param->name.text, (void *)param);
	}
	tn_map_fini(&seen);
}

static void struct_params(struct frame *frame, const struct tn_param *param,
			  const struct decl *type)
{
	int i;

	for (i = 0; i < type->nfields; i++) {
		const struct leaf *leaf = &type->leaves[i];
		const char *name = tn_arena_printf(&frame->e->scratch,
						   "%s__%s", param->name.text,
						   leaf->name);
		struct tn_value *value;

		value = name ? tn_graph_param(frame->b.fn->body, name,
					      leaf->type) : NULL;
		if (value)
			value->span = param->name.span;
	}
}

static void one_param(struct frame *frame, const struct tn_param *param)
{
	const struct decl *type = elab_struct_type(frame, param->type);
	struct tn_module *module = frame->e->module;
	const struct tn_type *made;
	struct tn_value *value;

	if (type) {
		elab_struct_want_sizes(frame, param->type);
		struct_params(frame, param, type);
		return;
	}
	made = elab_type(frame, param->type);
	value = tn_graph_param(frame->b.fn->body, param->name.text,
			       made ? made : module->poison);
	if (!value)
		return;
	value->span = param->name.span;
	elab_value_annots(frame->e, &param->type->annots, value);
}

static void set_results(struct frame *frame, const struct tn_sig *sig)
{
	struct tn_elab *e = frame->e;
	struct tn_fn *fn = frame->b.fn;
	uint32_t i;

	fn->result_names = elab_array(e, sig->results.len,
				      sizeof(*fn->result_names));
	fn->result_types = elab_array(e, sig->results.len,
				      sizeof(*fn->result_types));
	fn->result_layouts = elab_array(e, sig->results.len,
					sizeof(*fn->result_layouts));
	if (!fn->result_names || !fn->result_types || !fn->result_layouts)
		return;
	for (i = 0; i < sig->results.len; i++) {
		const struct tn_type *type;

		type = elab_type(frame, sig->results.at[i]->type);
		fn->result_names[i] = sig->results.at[i]->name.text;
		fn->result_types[i] = type ? type : e->module->poison;
		fn->result_layouts[i] = elab_layout(
			e, &sig->results.at[i]->type->annots,
			fn->result_types[i], false);
	}
	fn->nresults = (int)sig->results.len;
}

void elab_signature(struct tn_elab *e, struct decl *decl)
{
	const struct tn_sig *sig = decl->item->u.sig;
	struct frame frame;
	uint32_t i;

	elab_check_names(e, sig);
	decl->fn = tn_graph_fn(e->module, decl->name,
			       elab_is_fused(decl->item) ? TN_FN_FUSED :
							   TN_FN_PLAIN);
	if (!decl->fn)
		return;
	decl->fn->span = decl->item->name.span;
	elab_annots(e, &decl->item->annots, &decl->fn->annots);
	frame_init(&frame, e, NULL, decl, decl->fn);
	frame.sees_runtime = decl->fn->kind == TN_FN_FUSED;
	frame.b.block = NULL;
	for (i = 0; i < sig->params.len; i++)
		one_param(&frame, sig->params.at[i]);
	frame.results_of = sig;
	set_results(&frame, sig);
	frame_fini(&frame);
}

/* ---- Bodies ------------------------------------------------------------ */

/* Binds the parameters; those of a struct are consecutive. */
static void bind_params(struct frame *frame, const struct tn_sig *sig)
{
	struct tn_block *body = frame->b.fn->body;
	int at = 0;
	uint32_t i;

	for (i = 0; i < sig->params.len; i++) {
		const struct tn_param *param = sig->params.at[i];
		const struct decl *type = elab_struct_type(frame, param->type);
		struct ev ev = ev_poison(param->name.span);

		if (at >= body->nparams && !type)
			return;
		if (frame_find(frame, param->name.text)) {
			at += type ? type->nfields : 1;
			continue;
		}
		if (!type) {
			frame_bind(frame, param->name,
				   ev_value(body->params[at++],
					    param->name.span));
			continue;
		}
		if (at + type->nfields > body->nparams)
			return;
		ev.kind = EV_STRUCT;
		ev.u.agg.type = type;
		ev.u.agg.fields = body->params + at;
		ev.u.agg.is_family = false;
		at += type->nfields;
		frame_bind(frame, param->name, ev);
	}
}

static bool make_return(struct frame *frame, int count,
			struct tn_value *const *values, struct tn_span span)
{
	struct tn_fn *fn = frame->b.fn;
	struct tn_op *op;

	op = tn_graph_op(fn, TN_OP_return, count, values, 0, span);
	if (!op)
		return false;
	tn_graph_insert(frame->b.block, op, NULL);
	return tn_infer_op(op);
}

/* The declared types of an instance's results, completed by its body; of a
 * rule's side none is declared. */
static bool unify_results(struct frame *frame, const struct tn_sig *sig,
			  const struct tn_generics *generics,
			  struct tn_value *const *values)
{
	struct tn_fn *fn = frame->b.fn;
	struct tn_elab *e = frame->e;
	uint32_t i;

	fn->result_names = elab_array(e, sig->results.len,
				      sizeof(*fn->result_names));
	fn->result_types = elab_array(e, sig->results.len,
				      sizeof(*fn->result_types));
	if (!fn->result_names || !fn->result_types)
		return false;
	for (i = 0; i < sig->results.len; i++) {
		const struct tn_param *result = sig->results.at[i];
		const char *what = tn_arena_printf(&e->scratch,
			"result %u of '%s'", i + 1, fn->name);

		fn->result_names[i] = result->name.text;
		fn->result_types[i] = values[i]->type;
		if (result->type &&
		    !elab_unify(frame, generics, result->type,
				values[i]->type, values[i]->span.file ?
				values[i]->span : result->span,
				what ? what : "the result"))
			return false;
	}
	fn->nresults = (int)sig->results.len;
	return true;
}

static enum tn_dtype result_elem(struct frame *frame, const struct ev *ev,
				 const struct tn_tree_type *type)
{
	const struct bind *bind;

	if (!type || (!ev_is_literal(ev) && ev->kind != EV_LIST))
		return ELAB_ANY;
	if (type->is_elem)
		return tn_dtype_find(type->name.text);
	bind = frame_find(frame, type->name.text);
	return bind && bind->ev.kind == EV_ELEM ? bind->ev.u.elem : ELAB_ANY;
}

bool elab_finish(struct frame *frame, const struct tn_sig *sig,
		 const struct tn_generics *generics, int nresults,
		 const struct ev *results, struct tn_span span)
{
	struct tn_elab *e = frame->e;
	struct tn_value **values;
	struct tn_diag *diag;
	int i;

	if (nresults != (int)sig->results.len) {
		diag = tn_diag_report(e->sink, TN_E0212, nresults ?
				      results[0].span : span,
				      "'%s' declares %u result%s, not %d",
				      frame->b.fn->name, sig->results.len,
				      sig->results.len == 1 ? "" : "s",
				      nresults);
		tn_diag_also(e->sink, diag, frame->decl->item->name.span,
			     "declared here");
		return false;
	}
	values = tn_arena_array(&e->scratch, (size_t)nresults + 1,
				sizeof(*values));
	if (!values)
		return false;
	for (i = 0; i < nresults; i++) {
		values[i] = elab_to_value(frame, &results[i],
					  result_elem(frame, &results[i],
						sig->results.at[i]->type));
		if (!values[i] || tn_type_is_poison(values[i]->type))
			return false;
	}
	if (frame->b.fn->kind == TN_FN_INSTANCE &&
	    !unify_results(frame, sig, generics, values))
		return false;
	return make_return(frame, nresults, values,
			   nresults ? results[0].span : span);
}

static void result_wants(const struct tn_fn *fn, enum tn_dtype *wants)
{
	int i;

	for (i = 0; i < fn->nresults; i++)
		wants[i] = tn_type_is_poison(fn->result_types[i]) ?
			   ELAB_ANY : fn->result_types[i]->dtype;
}

void elab_fn_body(struct tn_elab *e, struct decl *decl)
{
	const struct tn_sig *sig = decl->item->u.sig;
	struct outcome out = {0};
	enum tn_dtype *wants;
	struct frame frame;

	if (!decl->fn || !decl->fn->result_types)
		return;
	frame_init(&frame, e, NULL, decl, decl->fn);
	frame.is_broken = sig->body.broken;
	frame.sees_runtime = decl->fn->kind == TN_FN_FUSED;
	bind_params(&frame, sig);
	wants = tn_arena_array(&e->scratch, sig->results.len + 1,
			       sizeof(*wants));
	if (wants) {
		result_wants(decl->fn, wants);
		if (elab_block(&frame, &sig->body, BLOCK_FN, wants,
			       decl->fn->nresults, &out))
			elab_finish(&frame, sig, NULL, out.nvalues, out.values,
				    sig->body.span);
	}
	frame_fini(&frame);
}

/* ---- Calls ------------------------------------------------------------- */

static bool add_edge(struct tn_elab *e, const struct tn_fn *from,
		     const struct tn_fn *to, struct tn_op *op)
{
	struct edge *edge;

	if (e->is_dry)
		return true;
	edge = elab_push(e, &e->edges);
	if (!edge)
		return false;
	edge->from = from;
	edge->to = to;
	edge->op = op;
	return true;
}

bool elab_set_attr(struct tn_elab *e, struct tn_op *op, struct tn_attr attr)
{
	struct tn_attr *old = tn_graph_attr(op, attr.name);
	struct tn_attr *attrs;

	attr.is_set = true;
	if (attr.kind == TN_ATTR_STRING)
		attr.u.s = elab_intern(e, attr.u.s);
	if (old) {
		*old = attr;
		return true;
	}
	attrs = elab_array(e, (size_t)op->nattrs + 1, sizeof(*attrs));
	if (!attrs)
		return false;
	if (op->nattrs)
		memcpy(attrs, op->attrs, (size_t)op->nattrs * sizeof(*attrs));
	attr.name = elab_intern(e, attr.name);
	attrs[op->nattrs++] = attr;
	op->attrs = attrs;
	return true;
}

struct ev elab_results(struct frame *frame, struct tn_op *op)
{
	struct tn_span span = op->span;
	struct ev out = ev_poison(span);
	int i;

	if (op->nout == 1)
		return ev_value(op->out[0], span);
	out.kind = EV_TUPLE;
	out.u.list.len = op->nout;
	out.u.list.at = tn_arena_array(&frame->e->scratch,
				       (size_t)op->nout + 1,
				       sizeof(struct ev));
	if (!out.u.list.at)
		return ev_poison(span);
	for (i = 0; i < op->nout; i++)
		out.u.list.at[i] = ev_value(op->out[i], span);
	return out;
}

struct ev elab_call_op(struct frame *frame, struct tn_fn *callee, int nin,
		       struct tn_value *const *in, int nattrs,
		       const struct tn_attr *attrs,
		       struct tn_span span)
{
	struct tn_op *op;
	int i;

	op = tn_graph_op(frame->b.fn, TN_OP_call, nin, in, callee->nresults,
			 span);
	if (!op || !add_edge(frame->e, frame->b.fn, callee, op))
		return ev_poison(span);
	op->callee = callee;
	for (i = 0; i < nattrs; i++)
		if (!elab_set_attr(frame->e, op, attrs[i]))
			return ev_poison(span);
	tn_graph_insert(frame->b.block, op, NULL);
	tn_infer_op(op);
	return elab_results(frame, op);
}

/* Appends the values of an argument; a struct has several. */
static bool put_argument(struct frame *frame, const struct decl *decl,
			 const struct tn_param *param, const struct ev *ev,
			 struct tn_vec *in)
{
	const struct decl *type = elab_struct_type(frame, param->type);
	const struct tn_fn *fn = decl->fn;
	struct tn_elab *e = frame->e;
	struct tn_value *value;
	enum tn_dtype want;
	int i;

	if (ev_is_poison(ev))
		return false;
	if (type && ev->kind == EV_STRUCT &&
	    elab_struct_fits(type, ev->u.agg.type) &&
	    !ev->u.agg.is_family) {
		for (i = 0; i < type->nfields; i++)
			elab_push_ptr(e, in, ev->u.agg.fields[i]);
		return true;
	}
	if (type || ev->kind == EV_STRUCT) {
		tn_diag_report(e->sink, TN_E0282, ev->span,
			       "argument '%s' of '%s' is %s%s, not %s",
			       param->name.text, decl->name,
			       ev->kind == EV_STRUCT && ev->u.agg.is_family ?
			       "a family of " : "", ev_text(e, ev),
			       type ? type->name : param->type->name.text);
		return false;
	}
	if ((int)in->len >= fn->body->nparams)
		return false;
	want = fn->body->params[in->len]->type->dtype;
	if (want >= TN_DTYPE_COUNT)
		want = ELAB_ANY;
	value = elab_to_value(frame, ev, ev_is_literal(ev) ||
			      ev->kind == EV_LIST ? want : ELAB_ANY);
	return value && !tn_type_is_poison(value->type) &&
	       elab_push_ptr(frame->e, in, value);
}

/* Canonical text has functions with flat parameters, `p__w`, but leaves tests
 * as they were written: a struct for such parameters is given as fields. */
static bool flatten_call(struct frame *frame, const struct decl *decl,
			 struct call *call)
{
	const struct tn_params *params = &decl->item->u.sig->params;
	struct actual *at;
	int count = call->len, len = 0, i, k;
	bool any = false;

	for (i = 0; i < call->len; i++) {
		const struct ev *ev = &call->at[i].ev;

		if (ev->kind != EV_STRUCT || call->at[i].name ||
		    ev->u.agg.is_family || i >= (int)params->len ||
		    !strstr(params->at[i]->name.text, "__"))
			continue;
		count += ev->u.agg.type->nfields;
		any = true;
	}
	if (!any)
		return true;
	at = tn_arena_array(&frame->e->scratch, (size_t)count + 1,
			    sizeof(*at));
	if (!at)
		return false;
	for (i = 0; i < call->len; i++) {
		const struct ev *ev = &call->at[i].ev;

		if (ev->kind != EV_STRUCT || call->at[i].name ||
		    ev->u.agg.is_family) {
			at[len++] = call->at[i];
			continue;
		}
		for (k = 0; k < ev->u.agg.type->nfields; k++)
			at[len++].ev = ev_value(ev->u.agg.fields[k],
						ev->span);
	}
	call->at = at;
	call->len = len;
	return true;
}

/* Whether the callee may be called: a size that its own body tells is known to
 * its caller if that is the program alone. */
static bool is_callable(struct tn_elab *e, const struct tn_fn *fn,
			struct tn_span span)
{
	struct tn_diag *diag;
	int i = 0;

	while (i < fn->nresults && !tn_type_has_runtime(fn->result_types[i]))
		i++;
	if (i == fn->nresults || fn->kind != TN_FN_PLAIN)
		return true;
	diag = tn_diag_report(e->sink, TN_E0324, span, "'%s' gives sizes that "
			      "its own body tells: it cannot be called",
			      fn->name);
	tn_diag_also(e->sink, diag, fn->span, "declared here");
	tn_diag_help(e->sink, diag, "write here what it does");
	return false;
}

struct ev elab_call_plain(struct frame *frame, struct decl *decl,
			  struct call *call)
{
	const struct tn_params *params = &decl->item->u.sig->params;
	struct ev out = ev_poison(call->span);
	struct tn_elab *e = frame->e;
	const char **known;
	struct tn_vec in;
	uint32_t i;
	bool ok;

	if (!decl->fn && elab_is_fused(decl->item))
		elab_signature(e, decl);
	ok = decl->fn && decl->fn->result_types &&
		is_callable(e, decl->fn, call->span);
	known = tn_arena_array(&e->scratch, params->len + 1, sizeof(*known));
	if (!known || !flatten_call(frame, decl, call))
		return out;
	tn_vec_init(&in, sizeof(struct tn_value *), NULL);
	for (i = 0; i < params->len; i++) {
		const struct tn_param *param = params->at[i];
		struct actual *actual;

		known[i] = param->name.text;
		actual = call_arg(call, param->name.text, (int)i);
		if (!actual && ok) {
			struct tn_diag *diag;

			diag = tn_diag_report(e->sink, TN_E0209, call->span,
					      "'%s' needs '%s'", decl->name,
					      param->name.text);
			tn_diag_also(e->sink, diag, param->span,
				     "declared here");
			ok = false;
		}
		ok = ok && put_argument(frame, decl, param, &actual->ev, &in);
	}
	if (ok && call_all_used(frame, call, known, (int)params->len))
		out = elab_call_op(frame, decl->fn, (int)in.len, in.data, 0,
				   NULL, call->span);
	tn_vec_fini(&in);
	return out;
}

/* ---- Recursion --------------------------------------------------------- */

struct walk {
	struct tn_elab *e;
	struct tn_map first;	/* fn -> first edge number + 1 */
	uint32_t *next;		/* edge -> next edge of the same fn + 1 */
	struct tn_map colour;	/* fn -> 1 open, 2 done */
	struct tn_vec stack;	/* struct step */
};

struct step {
	const struct tn_fn *fn;
	uint32_t edge;		/* to look at next, + 1 */
};

static void push(struct walk *walk, const struct tn_fn *fn)
{
	struct step *step = elab_push(walk->e, &walk->stack);

	if (!step)
		return;
	step->fn = fn;
	step->edge = (uint32_t)(uintptr_t)tn_map_find(&walk->first, fn);
	elab_map(walk->e, &walk->colour, fn, (void *)1);
}

/* A body that was made after its callers has told them no guards yet. */
static void inherit(struct walk *walk, const struct tn_fn *fn)
{
	uint32_t at = (uint32_t)(uintptr_t)tn_map_find(&walk->first, fn);

	while (at) {
		const struct edge *edge = tn_vec_at(&walk->e->edges, at - 1);
		struct tn_op *op = edge->op;

		if (edge->to->guards.len > 0 && op->block && op->nout > 0 &&
		    !tn_type_is_poison(op->out[0]->type))
			tn_infer_op(op);
		at = walk->next[at - 1];
	}
}

static void follow(struct walk *walk, const struct tn_fn *root)
{
	push(walk, root);
	while (walk->stack.len > 0) {
		struct step *step = tn_vec_at(&walk->stack,
					      walk->stack.len - 1);
		const struct edge *edge;
		uintptr_t colour;

		if (step->edge == 0) {
			inherit(walk, step->fn);
			elab_map(walk->e, &walk->colour, step->fn, (void *)2);
			tn_vec_pop(&walk->stack);
			continue;
		}
		edge = tn_vec_at(&walk->e->edges, step->edge - 1);
		step->edge = walk->next[step->edge - 1];
		colour = (uintptr_t)tn_map_find(&walk->colour, edge->to);
		if (colour == 0) {
			push(walk, edge->to);
		} else if (colour == 1) {
			struct tn_diag *diag;

			diag = tn_diag_report(walk->e->sink, TN_E0207,
					      edge->op->span,
					      "'%s' calls itself",
					      edge->to->name);
			tn_diag_also(walk->e->sink, diag, edge->to->span,
				     "declared here");
			tn_diag_help(walk->e->sink, diag,
				     "use `for`, `while` or `scan`");
		}
	}
}

void elab_check_recursion(struct tn_elab *e)
{
	struct walk walk = {.e = e};
	size_t i;

	walk.next = tn_arena_array(&e->scratch, e->edges.len + 1,
				   sizeof(*walk.next));
	if (!walk.next)
		return;
	tn_map_init_ptr(&walk.first);
	tn_map_init_ptr(&walk.colour);
	tn_vec_init(&walk.stack, sizeof(struct step), NULL);
	for (i = e->edges.len; i > 0; i--) {
		const struct edge *edge = tn_vec_at(&e->edges, i - 1);

		walk.next[i - 1] = (uint32_t)(uintptr_t)
				   tn_map_find(&walk.first, edge->from);
		elab_map(e, &walk.first, edge->from,
			 (void *)(uintptr_t)i);
	}
	for (i = 0; i < e->edges.len; i++) {
		const struct edge *edge = tn_vec_at(&e->edges, i);

		if (!tn_map_find(&walk.colour, edge->from))
			follow(&walk, edge->from);
	}
	tn_map_fini(&walk.first);
	tn_map_fini(&walk.colour);
	tn_vec_fini(&walk.stack);
}
