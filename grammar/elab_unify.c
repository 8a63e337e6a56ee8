/*
 * Unification: a written type against the type of a value. What the written
 * one leaves open (element types, dims, packs) is bound in the frame.
 *
 *   x: T[*P, K]  against  f32[B, 4, 768]   binds T = f32, P = [B, 4], K = 768
 */
#include "grammar/elab.h"

#include <string.h>

static const struct {
	const char *name;
	unsigned kinds;
} classes[] = {
	{"float", TN_KIND_F}, {"int", TN_KIND_INT}, {"number", TN_KIND_NUM},
	{"any", TN_KIND_ANY}, {"signed", TN_KIND_I}, {"unsigned", TN_KIND_U},
	{"bool", TN_KIND_B},
};

bool elab_class_has(const char *class_name, enum tn_dtype dtype)
{
	size_t i;

	for (i = 0; i < sizeof(classes) / sizeof(classes[0]); i++)
		if (strcmp(classes[i].name, class_name) == 0)
			return tn_dtype_is(dtype,
					   (enum tn_kind)classes[i].kinds);
	return false;
}

const struct tn_generic *elab_find_generic(const struct tn_generics *list,
					   const char *name)
{
	uint32_t i;

	for (i = 0; list && i < list->len; i++)
		if (list->at[i]->name.text == name)
			return list->at[i];
	return NULL;
}

static struct ev ev_elem(enum tn_dtype dtype, struct tn_span span)
{
	struct ev ev = ev_poison(span);

	ev.kind = EV_ELEM;
	ev.u.elem = dtype;
	return ev;
}

static bool unify_elem(struct frame *frame, const struct tn_generics *generics,
		       const struct tn_tree_type *pattern,
		       const struct tn_type *type, struct tn_span span,
		       const char *what)
{
	struct tn_elab *e = frame->e;
	const struct tn_generic *generic;
	struct tn_diag *diag;
	enum tn_dtype want;

	generic = elab_find_generic(generics, pattern->name.text);
	if (generic && !frame_find(frame, generic->name.text)) {
		if (elab_class_has(generic->class_name.text, type->dtype)) {
			frame_bind(frame, generic->name,
				   ev_elem(type->dtype, span));
			return true;
		}
		diag = tn_diag_report(e->sink, TN_E0285, span,
				      "%s is %s, but %s must be of class '%s'",
				      what, elab_type_text(e, type),
				      generic->name.text,
				      generic->class_name.text);
		tn_diag_also(e->sink, diag, generic->name.span,
			     "declared here");
		return false;
	}
	want = elab_elem(frame, pattern);
	if (want == TN_POISON)
		return false;
	if (want == type->dtype &&
	    (want != TN_ENCODED || type->encoding == pattern->name.text))
		return true;
	diag = tn_diag_report(e->sink, TN_E0282, span,
			      "%s is %s, a %s is due", what,
			      elab_type_text(e, type),
			      tn_dtype_name(want));
	tn_diag_also(e->sink, diag, pattern->span, "declared here");
	tn_diag_help(e->sink, diag, "write cast(.., %s)", tn_dtype_name(want));
	return false;
}

static bool differs(struct frame *frame, const struct tn_tree_type *pattern,
		    const struct tn_type *type, struct tn_span span,
		    const char *what, const char *detail)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;

	diag = tn_diag_report(e->sink, TN_E0282, span, "%s is %s: %s", what,
			      elab_type_text(e, type), detail);
	tn_diag_also(e->sink, diag, pattern->span, "declared here");
	elab_note_dims(e, diag, type);
	return false;
}

/* Whether all names of the expression are bound, so that it has a value. */
static bool is_ready(struct frame *frame, const struct tn_expr *expr)
{
	uint32_t i;

	switch ((enum tn_expr_kind)expr->kind) {
	case TN_EXPR_NAME:
		return frame_find(frame, expr->u.name) ||
		       (frame->is_library ?
			tn_map_find(&frame->e->library, expr->u.name) :
			tn_map_find(&frame->e->decls, expr->u.name));
	case TN_EXPR_UNARY:
		return is_ready(frame, expr->u.binary.left);
	case TN_EXPR_BINARY:
		return is_ready(frame, expr->u.binary.left) &&
		       is_ready(frame, expr->u.binary.right);
	case TN_EXPR_CALL:
		for (i = 0; i < expr->u.call.args.len; i++) {
			const struct tn_arg *arg = expr->u.call.args.at[i];

			if (arg->value && !is_ready(frame, arg->value))
				return false;
		}
		return true;
	case TN_EXPR_ELEM:
	case TN_EXPR_INT:
	case TN_EXPR_FLOAT:
	case TN_EXPR_STRING:
	case TN_EXPR_BOOL:
	case TN_EXPR_TUPLE:
	case TN_EXPR_LIST:
	case TN_EXPR_PACK:
	case TN_EXPR_FIELD:
	case TN_EXPR_INDEX:
		break;
	}
	return true;
}

/* A declared dim in a signature stands for the size of this call. */
static bool is_declared(struct frame *frame, const struct tn_expr *size,
			const struct tn_dim *dim, bool *fits)
{
	const struct decl *decl;
	const struct tn_sym *sym;
	int64_t lo, hi;

	if (frame_find(frame, size->u.name) || frame->is_library)
		return false;
	decl = tn_map_find(&frame->e->decls, size->u.name);
	if (!decl || decl->ev.kind != EV_DIM ||
	    decl->ev.u.dim->kind != TN_DIM_SYM)
		return false;
	sym = decl->ev.u.dim->sym;
	tn_dim_bounds(dim, &lo, &hi);
	*fits = hi >= sym->lo && lo <= sym->hi &&
		(!tn_dim_is_const(dim) || dim->value % sym->mod == 0);
	return true;
}

static bool unify_size(struct frame *frame, const struct tn_expr *size,
		       const struct tn_dim *dim, bool *ok)
{
	const struct tn_dim *want;
	struct tn_name name;
	bool fits = true;

	if (size->kind == TN_EXPR_NAME &&
	    (is_declared(frame, size, dim, &fits) || !is_ready(frame, size))) {
		if (!fits)
			return false;
		name.text = size->u.name;
		name.span = size->span;
		frame_bind(frame, name, ev_dim(dim, size->span));
		return true;
	}
	if (!is_ready(frame, size))
		return true;
	want = elab_dim(frame, size);
	*ok = want != NULL;
	return want == dim;
}

static bool unify_pack(struct frame *frame, const struct tn_name *pack,
		       const struct tn_type *type, int from, int count)
{
	const struct bind *bind = frame_find(frame, pack->text);
	struct ev dims[TN_MAX_RANK];
	int i;

	if (bind && bind->ev.kind == EV_LIST) {
		if (bind->ev.u.list.len != count)
			return false;
		for (i = 0; i < count; i++)
			if (bind->ev.u.list.at[i].u.dim !=
			    type->dims[from + i])
				return false;
		return true;
	}
	for (i = 0; i < count; i++)
		dims[i] = ev_dim(type->dims[from + i], pack->span);
	frame_bind(frame, *pack, ev_list(frame->e, dims, count, pack->span));
	return true;
}

static bool unify_shape(struct frame *frame, const struct tn_tree_type *pattern,
			const struct tn_type *type, struct tn_span span,
			const char *what)
{
	int packs = 0, at = 0, spread;
	bool ok = true, fits;
	uint32_t i;

	for (i = 0; i < pattern->shape.len; i++)
		packs += pattern->shape.at[i]->size == NULL;
	spread = type->rank - ((int)pattern->shape.len - packs);
	if (spread < 0 || (packs == 0 && spread != 0) || packs > 1)
		return differs(frame, pattern, type, span, what,
			       "the number of axes differs");
	for (i = 0; i < pattern->shape.len; i++) {
		const struct tn_extent *extent = pattern->shape.at[i];

		if (extent->size) {
			fits = unify_size(frame, extent->size, type->dims[at],
					  &ok);
			at++;
		} else {
			fits = unify_pack(frame, &extent->pack, type, at,
					  spread);
			at += spread;
		}
		if (!ok)
			return false;
		if (!fits)
			return differs(frame, pattern, type, span, what,
				       "its sizes do not fit");
	}
	return true;
}

bool elab_unify_struct(struct frame *frame,
		       const struct tn_tree_type *pattern,
		       const struct decl *type)
{
	bool ok = true;
	uint32_t i;

	if (!pattern->has_shape || !type->sizes)
		return true;
	if (pattern->shape.len != type->item->u.fields.sizes.len)
		return false;
	for (i = 0; i < pattern->shape.len; i++)
		if (!pattern->shape.at[i]->size ||
		    !unify_size(frame, pattern->shape.at[i]->size,
				type->sizes[i], &ok) || !ok)
			return false;
	return true;
}

bool elab_unify(struct frame *frame, const struct tn_generics *generics,
		const struct tn_tree_type *pattern, const struct tn_type *type,
		struct tn_span span, const char *what)
{
	return unify_elem(frame, generics, pattern, type, span, what) &&
	       unify_shape(frame, pattern, type, span, what);
}
