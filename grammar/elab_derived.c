/*
 * Derived weights: `weight scale: f32[16] = fold(c.var, c.gamma);`.
 *
 * In: the item, once functions have their types. Out: the weight's maker and
 * its sources. Sources are weights declared above it, and the maker reads
 * nothing but its parameters, so that weights can be computed in order.
 */
#include "grammar/elab.h"

struct derived {
	struct tn_elab *e;
	struct frame *frame;
	const struct tn_expr *call;
	struct tn_weight *weight;
	struct tn_vec sources;		/* struct tn_weight * */
};

static struct tn_diag *complain(const struct derived *d, struct tn_span span,
				const char *what)
{
	return tn_diag_report(d->e->sink, TN_E0229, span, "weight '%s': %s",
			      d->weight->name, what);
}

/* The function that the call names; NULL after a report. */
static struct tn_fn *find_maker(const struct derived *d)
{
	const struct decl *decl;
	struct tn_diag *diag;

	if (d->call->kind != TN_EXPR_CALL) {
		complain(d, d->call->span, "what makes it is a call of a "
			 "function, f(a, b)");
		return NULL;
	}
	decl = elab_find(d->e, d->call->u.call.name, false);
	if (!decl || decl->item->kind != TN_TREE_ITEM_FN) {
		diag = tn_diag_report(d->e->sink, TN_E0202,
				      tn_expr_callee(d->call),
				      "no function is named '%s'",
				      d->call->u.call.name);
		tn_diag_help(d->e->sink, diag, "a weight is made by a `fn` of "
			     "this module");
		return NULL;
	}
	if (decl->is_generic || elab_is_fused(decl->item)) {
		complain(d, d->call->span, "a generic function cannot make "
			 "it");
		return NULL;
	}
	return decl->fn;
}

static bool add_source(struct derived *d, const struct tn_value *value,
		       struct tn_span span)
{
	struct tn_weight *source = tn_map_find(&d->e->origins, value);
	struct tn_diag *diag;

	if (!source) {
		complain(d, span, "its operands are weights");
		return false;
	}
	if (source->number < d->weight->number)
		return elab_push_ptr(d->e, &d->sources, source);
	diag = tn_diag_report(d->e->sink, TN_E0204, span,
			      "'%s' is used before its declaration",
			      source->name);
	tn_diag_also(d->e->sink, diag, source->span, "declared here");
	tn_diag_help(d->e->sink, diag, "move the declaration up: a weight is "
		     "made of those above it");
	return false;
}

/* One argument: a weight, or a struct of them. */
static bool add_argument(struct derived *d, const struct tn_arg *arg)
{
	struct ev ev;
	int i;

	if (arg->kind != TN_ARG_POSITIONAL) {
		complain(d, arg->span, "its operands come by place");
		return false;
	}
	ev = elab_expr(d->frame, arg->value, ELAB_ANY);
	if (ev.kind == EV_STRUCT) {
		for (i = 0; i < ev.u.agg.type->nfields; i++)
			if (!add_source(d, ev.u.agg.fields[i], ev.span))
				return false;
		return true;
	}
	if (ev.kind == EV_VALUE)
		return add_source(d, ev.u.value, ev.span);
	if (!ev_is_poison(&ev))
		complain(d, arg->span, "its operands are weights");
	return false;
}

/* Types of operands and result are those of the function. */
static bool fits(const struct derived *d, const struct tn_fn *maker)
{
	const struct tn_weight *source;
	int i;

	if ((int)d->sources.len != maker->body->nparams ||
	    maker->nresults != 1) {
		complain(d, d->call->span, maker->nresults != 1 ?
			 "its function has other than one result" :
			 "its function has another number of parameters");
		return false;
	}
	for (i = 0; i < maker->body->nparams; i++) {
		source = tn_vec_ptr(&d->sources, (size_t)i);
		if (source->type == maker->body->params[i]->type)
			continue;
		tn_diag_report(d->e->sink, TN_E0282, d->call->span,
			       "'%s' is a %s, parameter '%s' a %s",
			       source->name, elab_type_text(d->e, source->type),
			       maker->body->params[i]->name,
			       elab_type_text(d->e,
					      maker->body->params[i]->type));
		return false;
	}
	if (maker->result_types[0] == d->weight->type)
		return true;
	tn_diag_report(d->e->sink, TN_E0283, d->call->span,
		       "weight '%s' is declared as a %s, '%s' gives a %s",
		       d->weight->name, elab_type_text(d->e, d->weight->type),
		       maker->name,
		       elab_type_text(d->e, maker->result_types[0]));
	return false;
}

/* ---- What the maker reads ---------------------------------------------- */

/* A weight that the block reads by its name, or NULL; functions that it calls
 * are added to the list. Regions nest little. */
static const struct tn_weight *find_read(struct derived *d,
					 const struct tn_block *block,
					 struct tn_vec *fns)
{
	const struct tn_weight *weight;
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		for (i = 0; i < op->nin; i++) {
			weight = tn_map_find(&d->e->origins,
					     tn_graph_in(op, i));
			if (weight)
				return weight;
		}
		for (i = 0; i < op->nregions; i++) {
			weight = find_read(d, op->regions[i], fns);
			if (weight)
				return weight;
		}
		if (op->callee)
			elab_push_ptr(d->e, fns, op->callee);
	}
	return NULL;
}

static bool reads_parameters_alone(struct derived *d, struct tn_fn *maker)
{
	const struct tn_weight *read = NULL;
	struct tn_map seen;
	struct tn_vec fns;
	struct tn_fn *fn;
	struct tn_diag *diag;

	tn_map_init_ptr(&seen);
	tn_vec_init(&fns, sizeof(struct tn_fn *), NULL);
	elab_push_ptr(d->e, &fns, maker);
	while (fns.len && !read) {
		fn = tn_vec_ptr(&fns, fns.len - 1);
		tn_vec_pop(&fns);
		if (tn_map_has(&seen, fn) || !elab_map(d->e, &seen, fn, d))
			continue;
		read = find_read(d, fn->body, &fns);
	}
	tn_vec_fini(&fns);
	tn_map_fini(&seen);
	if (!read)
		return true;
	diag = complain(d, d->call->span, "its function reads a weight that "
			"is no operand");
	tn_diag_help(d->e->sink, diag, "hand '%s' over as a parameter",
		     read->name);
	return false;
}

static void derive(struct derived *d)
{
	const struct tn_args *args = &d->call->u.call.args;
	struct tn_fn *maker = find_maker(d);
	uint32_t i;

	if (!maker || tn_type_is_poison(d->weight->type))
		return;
	if (!tn_type_is_static(d->weight->type)) {
		complain(d, d->weight->span, "its sizes must be known");
		return;
	}
	for (i = 0; i < args->len; i++)
		if (!add_argument(d, args->at[i]))
			return;
	if (fits(d, maker) && reads_parameters_alone(d, maker) &&
	    !tn_graph_derive(d->weight, maker, d->sources.data))
		d->e->module->failed = true;
}

void elab_derived_item(struct tn_elab *e, struct decl *decl)
{
	struct derived d = {.e = e, .call = decl->item->u.weight.made};
	struct frame frame;

	if (!d.call)
		return;
	if (decl->ev.kind == EV_STRUCT) {
		tn_diag_report(e->sink, TN_E0229, decl->item->name.span,
			       "weight '%s': a struct is made field by field",
			       decl->name);
		return;
	}
	if (decl->ev.kind != EV_VALUE)
		return;
	d.weight = tn_map_find(&e->origins, decl->ev.u.value);
	if (!d.weight)
		return;
	frame_init(&frame, e, NULL, decl, NULL);
	d.frame = &frame;
	tn_vec_init(&d.sources, sizeof(struct tn_weight *), NULL);
	derive(&d);
	tn_vec_fini(&d.sources);
	frame_fini(&frame);
}
