/*
 * Generic functions and operators defined in the language: each set of
 * operand types and attribute values has one body, an instance, elaborated
 * with its element types, dims, packs and attributes bound.
 *
 *   softmax(h, axis=1)  ->  call with callee softmax, an instance whose
 *                           parameter is f32[B, 10] and whose axis is 1
 */
#include "grammar/elab.h"

#include <inttypes.h>
#include <string.h>

#define MAX_PARAMS 256

/* ---- Arguments --------------------------------------------------------- */

struct instance {
	struct frame *caller;
	struct frame frame;		/* of the body */
	struct decl *decl;
	struct call *call;
	struct actual **actuals;	/* by parameter, or NULL */
	struct ev *attrs;		/* value of an attribute */
	struct tn_vec in;			/* struct tn_value * */
};

static const struct tn_sig *sig_of(const struct instance *inst)
{
	return inst->decl->item->u.sig;
}

/* A struct given as its fields, one after the other, as canonical text has
 * it: they are taken together. */
static struct actual *join_fields(struct instance *inst, int at,
				  const struct decl *type)
{
	struct call *call = inst->call;
	struct actual *actual;
	int i;

	if (call->at[at].ev.kind == EV_STRUCT || at + type->nfields > call->len)
		return NULL;
	actual = tn_arena_alloc(&inst->caller->e->scratch, sizeof(*actual));
	if (!actual)
		return NULL;
	actual->ev = ev_poison(call->at[at].ev.span);
	actual->ev.u.agg.fields =
		tn_arena_array(&inst->caller->e->scratch,
			       (size_t)type->nfields + 1,
			       sizeof(struct tn_value *));
	if (!actual->ev.u.agg.fields)
		return NULL;
	for (i = 0; i < type->nfields; i++) {
		struct actual *field = &call->at[at + i];

		if (field->name || field->ev.kind != EV_VALUE)
			return NULL;
		actual->ev.u.agg.fields[i] = field->ev.u.value;
		field->used = true;
	}
	actual->ev.kind = EV_STRUCT;
	actual->ev.u.agg.type = elab_struct_of(inst->caller->e, type,
					       actual->ev.u.agg.fields, 0);
	actual->ev.u.agg.is_family = false;
	return actual;
}

/* Which argument goes to which parameter. */
static bool match_args(struct instance *inst)
{
	const struct tn_params *params = &sig_of(inst)->params;
	struct tn_elab *e = inst->caller->e;
	const char *known[MAX_PARAMS];
	struct call *call = inst->call;
	const struct decl *type;
	uint32_t i, next = 0;
	int k;

	for (i = 0; i < params->len; i++)
		known[i] = params->at[i]->name.text;
	for (k = 0; k < call->len; k++) {
		struct actual *actual = &call->at[k];

		for (i = 0; actual->name && i < params->len; i++)
			if (strcmp(known[i], actual->name) == 0)
				break;
		if (!actual->name) {
			while (next < params->len && inst->actuals[next])
				next++;
			i = next;
		}
		if (i >= params->len)
			continue;
		if (inst->actuals[i]) {
			tn_diag_report(e->sink, TN_E0213, actual->ev.span,
				       "'%s' is given twice", known[i]);
			return false;
		}
		actual->used = true;
		inst->actuals[i] = actual;
		type = elab_struct_find(&inst->frame, params->at[i]->type);
		actual = type && !actual->name ? join_fields(inst, k, type) :
						 NULL;
		if (actual) {
			inst->actuals[i] = actual;
			k += type->nfields - 1;
		}
	}
	return call_all_used(inst->caller, call, known, (int)params->len);
}

static bool lacks(struct instance *inst, const struct tn_param *param)
{
	struct tn_elab *e = inst->caller->e;
	struct tn_diag *diag;

	diag = tn_diag_report(e->sink, TN_E0211, inst->call->span,
			      "'%s' needs '%s'", inst->decl->name,
			      param->name.text);
	tn_diag_also(e->sink, diag, param->span, "declared here");
	return false;
}

static void wrong_struct(const struct instance *inst, uint32_t i)
{
	const struct tn_param *param = sig_of(inst)->params.at[i];
	const struct ev *ev = &inst->actuals[i]->ev;
	struct tn_elab *e = inst->caller->e;
	struct tn_diag *diag;

	diag = tn_diag_report(e->sink, TN_E0282, ev->span,
			      "argument '%s' of '%s' is %s%s, not %s%s",
			      param->name.text, inst->decl->name,
			      ev->u.agg.is_family ? "a family of " : "",
			      ev_text(e, ev), param->type->name.text,
			      param->type->has_shape ? " of those sizes" : "");
	tn_diag_also(e->sink, diag, param->span, "declared here");
}

/* An operand left out is the literal that the parameter names. */
static struct actual *add_default(struct instance *inst, uint32_t i)
{
	struct actual *actual;

	actual = tn_arena_alloc(&inst->caller->e->scratch, sizeof(*actual));
	if (!actual)
		return NULL;
	actual->used = true;
	actual->ev = elab_expr(&inst->frame, sig_of(inst)->params.at[i]->init,
			       ELAB_ANY);
	actual->ev.span = inst->call->span;
	inst->actuals[i] = actual;
	return actual;
}

/* Binds the sizes that the parameter gives names to. */
static bool unify_struct(struct instance *inst, uint32_t i)
{
	const struct tn_param *param = sig_of(inst)->params.at[i];
	const struct actual *actual = inst->actuals[i];

	if (elab_unify_struct(&inst->frame, param->type,
			      actual->ev.u.agg.type))
		return true;
	wrong_struct(inst, i);
	return false;
}

/* Types of operands that are values; literals wait. */
static bool bind_values(struct instance *inst, bool literals)
{
	const struct tn_params *params = &sig_of(inst)->params;
	struct frame *caller = inst->caller;
	uint32_t i;

	for (i = 0; i < params->len; i++) {
		const struct tn_param *param = params->at[i];
		struct tn_value **in = tn_vec_at(&inst->in, i);
		struct actual *actual = inst->actuals[i];
		enum tn_dtype want = ELAB_ANY;
		const struct bind *bind;
		const char *what;

		if (elab_is_attribute(param) || *in)
			continue;
		if (!actual && param->init && literals)
			actual = add_default(inst, i);
		if (!actual && param->init)
			continue;
		if (!actual)
			return lacks(inst, param);
		if (ev_is_poison(&actual->ev))
			return false;
		if (actual->ev.kind == EV_STRUCT) {
			if (!unify_struct(inst, i))
				return false;
			continue;
		}
		if (ev_is_literal(&actual->ev) != literals)
			continue;
		if (literals) {
			bind = frame_find(&inst->frame, param->type->name.text);
			if (param->type->is_elem)
				want = elab_elem(&inst->frame, param->type);
			else if (bind && bind->ev.kind == EV_ELEM)
				want = bind->ev.u.elem;
			else if (actual->ev.kind == EV_DIM &&
				 elab_find_generic(&sig_of(inst)->generics,
					      param->type->name.text) &&
				 !elab_class_has(elab_find_generic(
					&sig_of(inst)->generics,
					param->type->name.text)
						->class_name.text, TN_i64))
				want = TN_f32;
		}
		*in = elab_to_value(caller, &actual->ev, want);
		what = tn_arena_printf(&caller->e->scratch,
				       "argument '%s' of '%s'",
				       param->name.text, inst->decl->name);
		if (!*in || tn_type_is_poison((*in)->type) ||
		    !elab_unify(&inst->frame, &sig_of(inst)->generics,
				param->type, (*in)->type, actual->ev.span,
				what ? what : "this"))
			return false;
	}
	return true;
}

/* Sizes that were not ready the first time round. */
static bool check_sizes(struct instance *inst)
{
	const struct tn_params *params = &sig_of(inst)->params;
	uint32_t i;

	for (i = 0; i < params->len; i++) {
		struct tn_value **in = tn_vec_at(&inst->in, i);

		if (!*in && inst->actuals[i] &&
		    inst->actuals[i]->ev.kind == EV_STRUCT &&
		    !unify_struct(inst, i))
			return false;
		if (*in && !elab_unify(&inst->frame, &sig_of(inst)->generics,
				       params->at[i]->type, (*in)->type,
				       inst->actuals[i]->ev.span,
				       "this argument"))
			return false;
	}
	return true;
}

/* A default or an argument as the kind that the parameter declares. */
static bool check_attr(struct instance *inst, const struct tn_param *param,
		       struct ev *ev)
{
	static const struct {
		const char *name;
		enum tn_attr_kind kind;
	} kinds[] = {
		{"int", TN_ATTR_INT}, {"ints", TN_ATTR_INTS},
		{"perm", TN_ATTR_INTS}, {"float", TN_ATTR_FLOAT},
		{"string", TN_ATTR_STRING}, {"bool", TN_ATTR_BOOL},
		{"flag", TN_ATTR_BOOL}, {"dim", TN_ATTR_DIM},
		{"dims", TN_ATTR_DIMS}, {"pairs", TN_ATTR_PAIRS},
		{"elem", TN_ATTR_DTYPE}, {"dtype", TN_ATTR_DTYPE},
	};
	struct tn_attr_info info = {param->name.text, TN_ATTR_INT, NULL};
	struct tn_attr attr;
	size_t i;

	if (ev_is_poison(ev))
		return false;
	if (ev->kind == EV_NONE)
		return true;
	if (param->type->has_shape)
		return true;
	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, param->type->name.text) != 0)
			continue;
		info.kind = kinds[i].kind;
		if (!elab_attr(inst->caller, &info, ev, &attr))
			return false;
		if (info.kind == TN_ATTR_FLOAT)
			*ev = elab_attr_ev(inst->caller->e, &attr, ev->span);
		if (info.kind == TN_ATTR_INTS && ev->kind == EV_DIM)
			*ev = ev_list(inst->caller->e, ev, 1, ev->span);
		return true;
	}
	return true;
}

static bool bind_attrs(struct instance *inst)
{
	const struct tn_params *params = &sig_of(inst)->params;
	uint32_t i;

	for (i = 0; i < params->len; i++) {
		const struct tn_param *param = params->at[i];

		if (!elab_is_attribute(param))
			continue;
		if (inst->actuals[i])
			inst->attrs[i] = inst->actuals[i]->ev;
		else if (param->init)
			inst->attrs[i] = elab_expr(&inst->frame, param->init,
						   ELAB_ANY);
		else
			return lacks(inst, param);
		if (!check_attr(inst, param, &inst->attrs[i]))
			return false;
		frame_bind(&inst->frame, param->name, inst->attrs[i]);
	}
	return true;
}

/* ---- Key and attributes of the call ------------------------------------ */

static void key_ev(struct tn_buf *key, const struct ev *ev)
{
	int i;

	switch (ev->kind) {
	case EV_DIM:
		tn_buf_putf(key, "d%d", ev->u.dim->id);
		break;
	case EV_BIG:
		tn_buf_putf(key, "b%" PRIu64, ev->u.big);
		break;
	case EV_FLOAT:
		tn_buf_putf(key, "%a", ev->u.real.value);
		break;
	case EV_BOOL:
		tn_buf_put(key, ev->u.truth ? "t" : "f");
		break;
	case EV_STRING:
		tn_buf_put_json(key, ev->u.string);
		break;
	case EV_ELEM:
		tn_buf_put(key, tn_dtype_name(ev->u.elem));
		break;
	case EV_LIST:
	case EV_TUPLE:
		tn_buf_putc(key, '[');
		for (i = 0; i < ev->u.list.len; i++) {
			key_ev(key, &ev->u.list.at[i]);
			tn_buf_putc(key, ',');
		}
		tn_buf_putc(key, ']');
		break;
	case EV_POISON:
	case EV_VALUE:
	case EV_HOLE:
	case EV_NONE:
	case EV_STRUCT:
	case EV_CONST:
		tn_buf_putf(key, "?%d", (int)ev->kind);
		break;
	}
}

static const char *instance_key(struct instance *inst)
{
	const struct tn_params *params = &sig_of(inst)->params;
	struct tn_elab *e = inst->caller->e;
	struct tn_buf key;
	const char *text;
	uint32_t i;
	int k;

	tn_buf_init(&key);
	tn_buf_putf(&key, "%s%s", inst->decl->is_library ? "std::" : "",
		    inst->decl->name);
	for (i = 0; i < params->len; i++) {
		struct tn_value **in = tn_vec_at(&inst->in, i);
		struct actual *actual = inst->actuals[i];

		tn_buf_putc(&key, '|');
		if (*in) {
			tn_buf_putf(&key, "%p", (const void *)(*in)->type);
		} else if (actual && actual->ev.kind == EV_STRUCT) {
			const struct ev *ev = &actual->ev;

			tn_buf_putf(&key, "%p:",
				    (const void *)ev->u.agg.type);
			for (k = 0; k < ev->u.agg.type->nfields; k++)
				tn_buf_putf(&key, "%p,", (const void *)
					    ev->u.agg.fields[k]->type);
		} else {
			key_ev(&key, &inst->attrs[i]);
		}
	}
	text = tn_arena_strndup(&e->scratch, tn_buf_text(&key), key.len);
	if (key.failed)
		e->module->failed = true;
	tn_buf_fini(&key);
	return text;
}

static bool same_ev(struct tn_elab *e, const struct ev *a,
		    const struct ev *b)
{
	struct tn_buf x, y;
	bool same;

	tn_buf_init(&x);
	tn_buf_init(&y);
	key_ev(&x, a);
	key_ev(&y, b);
	if (x.failed || y.failed)
		e->module->failed = true;
	same = !x.failed && !y.failed &&
	       strcmp(tn_buf_text(&x), tn_buf_text(&y)) == 0;
	tn_buf_fini(&x);
	tn_buf_fini(&y);
	return same;
}

/* Attributes that differ from their defaults, as the call op keeps them. */
static int call_attrs(struct instance *inst, struct tn_attr *out)
{
	const struct tn_params *params = &sig_of(inst)->params;
	int count = 0;
	uint32_t i;

	for (i = 0; i < params->len; i++) {
		const struct tn_param *param = params->at[i];

		if (!elab_is_attribute(param) || !inst->actuals[i])
			continue;
		if (param->init) {
			struct ev given = elab_expr(&inst->frame, param->init,
						    ELAB_ANY);

			if (!check_attr(inst, param, &given) ||
			    same_ev(inst->caller->e, &given,
				    &inst->attrs[i]))
				continue;
		}
		if (inst->attrs[i].kind != EV_NONE &&
		    elab_attr_any(inst->caller, param->name.text,
				  &inst->attrs[i], &out[count]))
			count++;
	}
	return count;
}

/* ---- Bodies ------------------------------------------------------------ */

/* Faults inside a library body are shown at the call; those of a body of the
 * user's name it, for they may lie in the types it was called with. */
static void move_reports(struct instance *inst, size_t mark)
{
	struct tn_elab *e = inst->caller->e;
	size_t i;

	for (i = mark; !inst->decl->is_library && i < e->sink->diags.len;
	     i++) {
		struct tn_diag *diag = tn_vec_ptr(&e->sink->diags, i);

		if (diag->labels.len < 6)
			tn_diag_also(e->sink, diag, inst->call->span,
				     "called here");
	}
	if (!inst->decl->is_library || inst->caller->is_library)
		return;
	for (i = mark; i < e->sink->diags.len; i++) {
		struct tn_diag *diag = tn_vec_ptr(&e->sink->diags, i);
		struct tn_label *label = diag->labels.len ?
					 tn_vec_at(&diag->labels, 0) : NULL;
		struct tn_span inside;

		if (!label || label->span.file == inst->call->span.file)
			continue;
		inside = label->span;
		label->span = inst->call->span;
		label->text = NULL;
		tn_diag_also(e->sink, diag, inside, "in the body of '%s'",
			     inst->decl->name);
	}
}

static bool add_param(struct instance *inst, uint32_t i)
{
	const struct tn_param *param = sig_of(inst)->params.at[i];
	struct tn_value **in = tn_vec_at(&inst->in, i);
	struct actual *actual = inst->actuals[i];
	struct ev ev;
	int k;

	if (*in)
		return elab_param(&inst->frame, param, (*in)->type);
	if (!actual || actual->ev.kind != EV_STRUCT)
		return true;
	ev = actual->ev;
	ev.u.agg.fields = tn_arena_array(&inst->caller->e->scratch,
					 (size_t)ev.u.agg.type->nfields + 1,
					 sizeof(struct tn_value *));
	for (k = 0; ev.u.agg.fields && k < ev.u.agg.type->nfields; k++) {
		const char *name = tn_arena_printf(&inst->caller->e->scratch,
			"%s__%s", param->name.text,
			ev.u.agg.type->leaves[k].name);

		ev.u.agg.fields[k] = name ?
			tn_graph_param(inst->frame.b.fn->body, name,
				       actual->ev.u.agg.fields[k]->type) :
			NULL;
		if (!ev.u.agg.fields[k])
			return false;
	}
	frame_bind(&inst->frame, param->name, ev);
	return ev.u.agg.fields != NULL;
}

static bool fill_body(struct instance *inst, struct tn_fn *fn)
{
	const struct tn_sig *sig = sig_of(inst);
	struct outcome out = {0};
	uint32_t i;

	tn_builder_init(&inst->frame.b, fn->body);
	for (i = 0; i < sig->params.len; i++)
		if (!add_param(inst, i))
			return false;
	return elab_block(&inst->frame, &sig->body, BLOCK_FN, NULL, 0, &out) &&
	       elab_finish(&inst->frame, sig, &sig->generics, out.nvalues,
			   out.values, sig->body.span);
}

/* What is not whole does not stay in the module: where a rule is tried, it
 * lives on. */
static struct tn_fn *make_body(struct instance *inst)
{
	struct tn_elab *e = inst->caller->e;
	const char *name;
	struct tn_fn *fn;

	name = inst->decl->name;
	if (inst->decl->is_library && tn_map_has(&e->decls, name))
		name = tn_arena_printf(&e->scratch, "std::%s", name);
	fn = name ? tn_graph_fn(e->module, name, TN_FN_INSTANCE) : NULL;
	if (!fn)
		return NULL;
	fn->is_library = inst->decl->is_library;
	fn->span = inst->decl->item->name.span;
	elab_annots(e, &inst->decl->item->annots, &fn->annots);
	if (fill_body(inst, fn))
		return fn;
	elab_drop_fn(e, fn);
	return NULL;
}

static bool may_enter(struct instance *inst)
{
	struct tn_elab *e = inst->caller->e;
	struct tn_diag *diag;

	if (inst->decl->state == DECL_ACTIVE) {
		diag = tn_diag_report(e->sink, TN_E0207, inst->call->span,
				      "'%s' calls itself", inst->decl->name);
		tn_diag_also(e->sink, diag, inst->decl->item->name.span,
			     "declared here");
		tn_diag_help(e->sink, diag,
			     "use `for`, `while` or `scan`");
		return false;
	}
	if (e->depth >= ELAB_DEPTH) {
		tn_diag_report(e->sink, TN_E0219, inst->call->span,
			       "more than %d generic calls inside each other",
			       ELAB_DEPTH);
		return false;
	}
	if (!sig_of(inst)->has_body) {
		diag = tn_diag_report(e->sink, TN_E0226, inst->call->span,
				      "operator '%s' has no body",
				      inst->decl->name);
		tn_diag_also(e->sink, diag, inst->decl->item->name.span,
			     "declared here");
		return false;
	}
	return true;
}

/* A body with errors is reported once; but where nobody listens, or at the
 * call as those of the library are, it must be tried again. */
static bool may_keep(const struct instance *inst, uint32_t errors)
{
	const struct tn_elab *e = inst->caller->e;

	return e->sink->errors == errors ||
	       (!e->is_dry && !inst->decl->is_library);
}

static struct tn_fn *get_body(struct instance *inst)
{
	struct tn_elab *e = inst->caller->e;
	const char *key = instance_key(inst);
	struct tn_fn *fn;
	size_t mark = e->sink->diags.len;
	uint32_t errors = e->sink->errors;

	if (!key)
		return NULL;
	if (tn_map_has(&e->instances, key))
		return tn_map_find(&e->instances, key);
	if (!may_enter(inst))
		return NULL;
	inst->decl->state = DECL_ACTIVE;
	e->depth++;
	fn = make_body(inst);
	e->depth--;
	inst->decl->state = DECL_NEW;
	move_reports(inst, mark);
	if (may_keep(inst, errors) && !tn_map_set(&e->instances, key, fn))
		e->module->failed = true;
	return fn;
}

/* Operands in the order of the flattened parameters. */
static struct ev call_body(struct instance *inst, struct tn_fn *fn)
{
	const struct tn_params *params = &sig_of(inst)->params;
	struct tn_attr attrs[MAX_PARAMS];
	struct tn_vec in;
	struct ev out;
	uint32_t i;
	int k, nattrs;

	tn_vec_init(&in, sizeof(struct tn_value *), NULL);
	for (i = 0; i < params->len; i++) {
		struct tn_value **value = tn_vec_at(&inst->in, i);
		const struct actual *actual = inst->actuals[i];

		if (*value)
			elab_push_ptr(inst->caller->e, &in, *value);
		else if (actual && actual->ev.kind == EV_STRUCT)
			for (k = 0; k < actual->ev.u.agg.type->nfields; k++)
				elab_push_ptr(inst->caller->e, &in,
					      actual->ev.u.agg.fields[k]);
	}
	nattrs = call_attrs(inst, attrs);
	out = elab_call_op(inst->caller, fn, (int)in.len, in.data, nattrs,
			   attrs, inst->call->span);
	tn_vec_fini(&in);
	return out;
}

static bool check_struct_args(struct instance *inst)
{
	const struct tn_params *params = &sig_of(inst)->params;
	uint32_t i;

	for (i = 0; i < params->len; i++) {
		const struct tn_param *param = params->at[i];
		const struct actual *actual = inst->actuals[i];
		const struct decl *want;

		if (!actual || actual->ev.kind != EV_STRUCT)
			continue;
		want = elab_struct_find(&inst->frame, param->type);
		if (want && elab_struct_fits(want, actual->ev.u.agg.type) &&
		    !actual->ev.u.agg.is_family)
			continue;
		wrong_struct(inst, i);
		return false;
	}
	return true;
}

static struct tn_fn *instance(struct instance *inst)
{
	struct tn_elab *e = inst->caller->e;
	uint32_t count = sig_of(inst)->params.len, i;

	if (count > MAX_PARAMS) {
		tn_diag_report(e->sink, TN_E0219, inst->call->span,
			       "more than %d parameters", MAX_PARAMS);
		return NULL;
	}
	inst->actuals = tn_arena_array(&e->scratch, count + 1,
				       sizeof(*inst->actuals));
	inst->attrs = tn_arena_array(&e->scratch, count + 1,
				     sizeof(*inst->attrs));
	if (!inst->actuals || !inst->attrs)
		return NULL;
	for (i = 0; i < count; i++)
		if (!elab_push_ptr(inst->caller->e, &inst->in, NULL))
			return NULL;
	if (!match_args(inst) || !check_struct_args(inst) ||
	    !bind_values(inst, false) || !bind_values(inst, true) ||
	    !check_sizes(inst) || !bind_attrs(inst))
		return NULL;
	return get_body(inst);
}

struct ev elab_call_decl(struct frame *frame, struct decl *decl,
			 struct call *call)
{
	struct ev out = ev_poison(call->span);
	struct instance *inst;
	struct tn_fn *fn;

	if (!frame->b.block) {
		tn_diag_report(frame->e->sink, TN_E0222, call->span,
			       "a call of '%s' is not constant", call->name);
		return out;
	}
	if (!decl->is_generic)
		return elab_call_plain(frame, decl, call);
	if (decl->is_broken)
		return out;
	inst = tn_arena_alloc(&frame->e->scratch, sizeof(*inst));
	if (!inst)
		return out;
	inst->caller = frame;
	inst->decl = decl;
	inst->call = call;
	tn_vec_init(&inst->in, sizeof(struct tn_value *), NULL);
	frame_init(&inst->frame, frame->e, frame, decl, NULL);
	fn = instance(inst);
	if (fn)
		out = call_body(inst, fn);
	frame_fini(&inst->frame);
	tn_vec_fini(&inst->in);
	return out;
}

struct tn_fn *tn_elab_instance(struct tn_elab *e, const char *name, int nin,
			       const struct tn_type *const *in, int nattrs,
			       const struct tn_attr *attrs,
			       struct tn_span span)
{
	struct decl *decl = e->module ? elab_find(e, name, false) : NULL;
	struct call call = {.name = name, .span = span, .name_span = span,
			    .want = ELAB_ANY};
	struct tn_fn *trial, *found = NULL;
	struct frame frame;
	struct ev out;
	int i;

	if (!decl || (decl->item->kind != TN_TREE_ITEM_FN &&
		      decl->item->kind != TN_TREE_ITEM_OP)) {
		tn_diag_report(e->sink, TN_E0202, span,
			       "no function or operator is named '%s'", name);
		return NULL;
	}
	call.len = nin + nattrs;
	call.at = tn_arena_array(&e->scratch, (size_t)call.len + 1,
				 sizeof(*call.at));
	trial = tn_graph_fn(e->module, "trial", TN_FN_INSTANCE);
	if (!call.at || !trial)
		return NULL;
	for (i = 0; i < nin; i++)
		call.at[i].ev = ev_value(tn_graph_param(trial->body, "x",
							in[i]), span);
	for (i = 0; i < nattrs; i++) {
		call.at[nin + i].name = elab_intern(e, attrs[i].name);
		call.at[nin + i].name_span = span;
		call.at[nin + i].ev = elab_attr_ev(e, &attrs[i], span);
	}
	frame_init(&frame, e, NULL, NULL, trial);
	e->is_dry = true;
	out = elab_call_decl(&frame, decl, &call);
	e->is_dry = false;
	if (out.kind != EV_POISON && trial->body->last &&
	    trial->body->last->code == TN_OP_call)
		found = trial->body->last->callee;
	frame_fini(&frame);
	elab_drop_fn(e, trial);
	return found;
}
