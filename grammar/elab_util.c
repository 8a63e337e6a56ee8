/*
 * Small things of the elaborator: making and describing `ev`s.
 */
#include "grammar/elab.h"

#include <inttypes.h>
#include <string.h>

#include "ir/layout.h"

struct ev ev_poison(struct tn_span span)
{
	struct ev ev = {.kind = EV_POISON, .span = span};

	return ev;
}

struct ev ev_value(struct tn_value *value, struct tn_span span)
{
	struct ev ev = {.kind = EV_VALUE, .span = span};

	if (!value || tn_type_is_poison(value->type))
		return ev_poison(span);
	ev.u.value = value;
	return ev;
}

struct ev ev_dim(const struct tn_dim *dim, struct tn_span span)
{
	struct ev ev = {.kind = EV_DIM, .span = span};

	if (!dim)
		return ev_poison(span);
	ev.u.dim = dim;
	return ev;
}

struct ev ev_list(struct tn_elab *e, const struct ev *at, int len,
		  struct tn_span span)
{
	struct ev ev = {.kind = EV_LIST, .span = span};

	ev.u.list.len = len;
	if (len > 0) {
		ev.u.list.at = tn_arena_copy(&e->scratch, at,
					     (size_t)len * sizeof(*at));
		if (!ev.u.list.at)
			return ev_poison(span);
	}
	return ev;
}

bool ev_is_poison(const struct ev *ev)
{
	int i;

	if (ev->kind == EV_POISON)
		return true;
	if (ev->kind != EV_LIST && ev->kind != EV_TUPLE)
		return false;
	for (i = 0; i < ev->u.list.len; i++)
		if (ev_is_poison(&ev->u.list.at[i]))
			return true;
	return false;
}

bool ev_is_literal(const struct ev *ev)
{
	return ev->kind == EV_DIM || ev->kind == EV_BIG ||
	       ev->kind == EV_FLOAT || ev->kind == EV_BOOL ||
	       (ev->kind == EV_VALUE && ev->soft);
}

bool ev_int(const struct ev *ev, int64_t *out)
{
	if (ev->kind != EV_DIM || !tn_dim_is_const(ev->u.dim))
		return false;
	*out = ev->u.dim->value;
	return true;
}

const char *elab_type_text(struct tn_elab *e, const struct tn_type *type)
{
	struct tn_buf buf;
	const char *text;

	tn_buf_init(&buf);
	tn_type_print(&buf, type);
	text = tn_arena_strndup(&e->scratch, tn_buf_text(&buf), buf.len);
	tn_buf_fini(&buf);
	return text ? text : "?";
}

const char *elab_dim_text(struct tn_elab *e, const struct tn_dim *dim)
{
	struct tn_buf buf;
	const char *text;

	tn_buf_init(&buf);
	tn_dim_print(&buf, dim);
	text = tn_arena_strndup(&e->scratch, tn_buf_text(&buf), buf.len);
	tn_buf_fini(&buf);
	return text ? text : "?";
}

static const char *format(struct tn_elab *e, const char *before,
			  const char *text)
{
	const char *made = tn_arena_printf(&e->scratch, "%s%s", before, text);

	return made ? made : before;
}

const char *ev_text(struct tn_elab *e, const struct ev *ev)
{
	char number[40];

	switch (ev->kind) {
	case EV_POISON:
		return "nothing";
	case EV_VALUE:
		return elab_type_text(e, ev->u.value->type);
	case EV_DIM:
		return format(e, tn_dim_is_const(ev->u.dim) ? "the number " :
							      "the dim ",
			      elab_dim_text(e, ev->u.dim));
	case EV_BIG:
		return format(e, "the number ", tn_arena_printf(&e->scratch,
				"%" PRIu64, ev->u.big));
	case EV_FLOAT:
		tn_num_print_f64(ev->u.real.value, number);
		return format(e, "the number ", number);
	case EV_BOOL:
		return ev->u.truth ? "true" : "false";
	case EV_STRING:
		return "a string";
	case EV_ELEM:
		return format(e, "the element type ",
			      tn_dtype_name(ev->u.elem));
	case EV_HOLE:
		return "`_`";
	case EV_NONE:
		return "none";
	case EV_LIST:
		return "a list";
	case EV_TUPLE:
		return format(e, "", tn_arena_printf(&e->scratch, "%d results",
						     ev->u.list.len));
	case EV_STRUCT:
		return format(e, "a struct ", ev->u.agg.type->name);
	case EV_CONST:
		return elab_type_text(e, ev->u.typed.type);
	}
	return "?";
}

const char *elab_intern(struct tn_elab *e, const char *text)
{
	const char *name = text ? tn_intern_text(e->names, text) : NULL;

	if (!name)
		e->module->failed = true;
	return name;
}

void *elab_push(struct tn_elab *e, struct tn_vec *vec)
{
	void *at = tn_vec_push(vec);

	if (!at)
		e->module->failed = true;
	return at;
}

bool elab_push_ptr(struct tn_elab *e, struct tn_vec *vec, const void *pointer)
{
	bool ok = tn_vec_push_ptr(vec, pointer);

	if (!ok)
		e->module->failed = true;
	return ok;
}

bool elab_map(struct tn_elab *e, struct tn_map *map, const void *key,
	      void *value)
{
	bool ok = tn_map_set(map, key, value);

	if (!ok)
		e->module->failed = true;
	return ok;
}

void *elab_array(struct tn_elab *e, size_t count, size_t size)
{
	void *at = tn_arena_array(&e->module->arena, count ? count : 1, size);

	if (!at)
		e->module->failed = true;
	return at;
}

struct noting {
	struct tn_elab *e;
	struct tn_diag *diag;
};

static void note_sym(void *data, const struct tn_dim *dim)
{
	struct noting *noting = data;
	const struct tn_sym *sym = dim->sym;
	size_t i;

	if (!sym->span.file)
		return;
	for (i = 0; i < noting->diag->labels.len; i++) {
		const struct tn_label *label =
			tn_vec_at(&noting->diag->labels, i);

		if (label->span.file == sym->span.file &&
		    label->span.begin == sym->span.begin)
			return;
	}
	tn_diag_also(noting->e->sink, noting->diag, sym->span,
		     "%s is in [%" PRId64 ", %" PRId64 "]", sym->name, sym->lo,
		     sym->hi);
}

void elab_note_dims(struct tn_elab *e, struct tn_diag *diag,
		    const struct tn_type *type)
{
	struct noting noting = {e, diag};
	int i;

	for (i = 0; i < type->rank; i++)
		tn_dim_each_sym(type->dims[i], note_sym, &noting);
}

/* The text between the brackets of a printed annotation, or NULL. */
static const char *args_text(struct tn_elab *e,
			     const struct tn_tree_annot *annot)
{
	struct tn_buf buf;
	const char *text = NULL;
	const char *open;

	if (!annot->has_args)
		return NULL;
	tn_buf_init(&buf);
	tn_print_annot(&buf, annot);
	open = strchr(tn_buf_text(&buf), '(');
	if (buf.failed || !open) {
		e->module->failed = true;
	} else {
		size_t skip = (size_t)(open - buf.data) + 1;

		text = tn_arena_strndup(&e->module->arena, open + 1,
					buf.len - skip - 1);
	}
	tn_buf_fini(&buf);
	return text;
}

static bool is_layout(const struct tn_tree_annot *annot)
{
	return strcmp(annot->name.text, "layout") == 0;
}

void elab_annots(struct tn_elab *e, const struct tn_tree_annots *from,
		 struct tn_annots *to)
{
	uint32_t i;

	for (i = 0; i < from->len; i++)
		tn_annots_add(e->module, to, from->at[i]->name.text,
			      args_text(e, from->at[i]), from->at[i]->span);
}

static const struct tn_layout *no_layout(struct tn_elab *e,
					 const struct tn_tree_annot *annot,
					 const struct tn_type *type,
					 const char *why)
{
	struct tn_diag *diag;

	if (type) {
		diag = tn_diag_report(e->sink, TN_E0329, annot->span,
				      "%s cannot lie in this layout: %s",
				      elab_type_text(e, type), why);
		elab_note_dims(e, diag, type);
		return NULL;
	}
	diag = tn_diag_report(e->sink, TN_E0329, annot->span,
			      "this is no layout: %s", why);
	tn_diag_help(e->sink, diag, "list every axis once, major to minor: "
		     "@layout(0, 2, 3, 1)");
	return NULL;
}

static const struct tn_layout *read_layout(struct tn_elab *e,
					   const struct tn_tree_annot *annot,
					   const struct tn_type *type,
					   bool is_physical)
{
	const struct tn_layout *layout;
	const char *why;

	layout = tn_layout_parse(e->module, args_text(e, annot), &why);
	if (!layout && why)
		return no_layout(e, annot, NULL, why);
	if (!layout || !type || tn_type_is_poison(type))
		return NULL;
	why = is_physical ? "the bytes have other axes" :
	      tn_layout_misfit(e->module, layout, type);
	if (is_physical && tn_layout_logical(e->module, layout, type))
		why = NULL;
	return why ? no_layout(e, annot, type, why) : layout;
}

const struct tn_layout *elab_layout(struct tn_elab *e,
				    const struct tn_tree_annots *from,
				    const struct tn_type *type,
				    bool is_physical)
{
	const struct tn_layout *layout = NULL;
	uint32_t i;

	for (i = 0; i < from->len; i++)
		if (is_layout(from->at[i]))
			layout = read_layout(e, from->at[i], type,
					     is_physical);
	return layout;
}

void elab_value_annots(struct tn_elab *e, const struct tn_tree_annots *from,
		       struct tn_value *value)
{
	const struct tn_layout *layout = elab_layout(e, from, value->type,
						     false);
	uint32_t i;

	if (layout)
		value->layout = layout;
	for (i = 0; i < from->len; i++)
		if (!is_layout(from->at[i]))
			tn_annots_add(e->module, &value->annots,
				      from->at[i]->name.text,
				      args_text(e, from->at[i]),
				      from->at[i]->span);
}
