/*
 * Names: frames of functions, items of files, and what a name means in an
 * expression. A name is bound once; blocks that ended give theirs back.
 */
#include "grammar/elab.h"
#include "grammar/habit.h"

#include <stdlib.h>
#include <string.h>

void frame_init(struct frame *frame, struct tn_elab *e, struct frame *up,
		const struct decl *decl, struct tn_fn *fn)
{
	memset(frame, 0, sizeof(*frame));
	frame->e = e;
	frame->up = up;
	frame->decl = decl;
	frame->is_library = decl && decl->is_library;
	tn_map_init_text(&frame->names);
	tn_vec_init(&frame->bound, sizeof(struct bind *), NULL);
	if (fn)
		tn_builder_init(&frame->b, fn->body);
}

void frame_fini(struct frame *frame)
{
	tn_map_fini(&frame->names);
	tn_vec_fini(&frame->bound);
}

struct bind *frame_find(const struct frame *frame, const char *name)
{
	return tn_map_find(&frame->names, name);
}

void frame_bind(struct frame *frame, struct tn_name name, struct ev ev)
{
	struct tn_elab *e = frame->e;
	struct bind *old = frame_find(frame, name.text);
	struct bind *bind;

	if (strcmp(name.text, "_") == 0)
		return;
	if (old) {
		struct tn_diag *diag;

		diag = tn_diag_report(e->sink, TN_E0203, name.span,
				      "'%s' is bound already", name.text);
		tn_diag_also(e->sink, diag, old->span, "first bound here");
		tn_diag_help(e->sink, diag,
			     "choose another name: a name is bound once in a "
			     "function, and inner blocks cannot rebind it");
		return;
	}
	bind = tn_arena_alloc(&e->scratch, sizeof(*bind));
	if (!bind)
		return;
	bind->name = name.text;
	bind->span = name.span;
	bind->ev = ev;
	if (!tn_map_set(&frame->names, name.text, bind) ||
	    !tn_vec_push_ptr(&frame->bound, bind))
		e->module->failed = true;
}

size_t frame_mark(const struct frame *frame)
{
	return frame->bound.len;
}

void frame_release(struct frame *frame, size_t mark)
{
	while (frame->bound.len > mark) {
		const struct bind *bind =
			tn_vec_ptr(&frame->bound, frame->bound.len - 1);

		tn_map_set(&frame->names, bind->name, NULL);
		tn_vec_pop(&frame->bound);
	}
}

struct decl *elab_find(struct tn_elab *e, const char *name, bool in_library)
{
	struct decl *decl;

	if (!in_library) {
		decl = tn_map_find(&e->decls, name);
		if (decl)
			return decl;
	}
	if (strncmp(name, "std::", 5) == 0)
		name += 5;
	if (!elab_load_library(e))
		return NULL;
	return tn_map_find(&e->library, name);
}

/* Appends the names that the map holds and the table of calls or not. */
static void gather_names(const struct tn_map *map, bool calls,
			 struct tn_vec *out)
{
	size_t i;

	for (i = 0; i < map->len; i++) {
		const struct decl *decl = map->entries[i].value;
		enum tn_tree_item_kind kind = decl->item->kind;
		bool is_call = kind == TN_TREE_ITEM_FN ||
			       kind == TN_TREE_ITEM_OP;

		if (is_call == calls)
			tn_vec_push_ptr(out, decl->name);
	}
}

void elab_suggest(struct frame *frame, struct tn_diag *diag,
		  struct tn_span span, const char *name, bool calls)
{
	struct tn_elab *e = frame->e;
	struct tn_vec names;
	const char *near;
	size_t i;

	/* Nobody sees what is said of errors beyond the limit. */
	if (frame->e->sink->errors > TN_DIAG_LIMIT)
		return;

	tn_vec_init(&names, sizeof(const char *), NULL);
	for (i = 0; !calls && i < frame->bound.len; i++) {
		const struct bind *bind = tn_vec_ptr(&frame->bound, i);

		tn_vec_push_ptr(&names, bind->name);
	}
	gather_names(&e->decls, calls, &names);
	if (calls) {
		for (i = 0; i < TN_OP_COUNT; i++)
			if (tn_ops[i].op_class != TN_CLASS_FLOW)
				tn_vec_push_ptr(&names, tn_ops[i].name);
		for (i = 0; elab_sugar_name(i); i++)
			tn_vec_push_ptr(&names, elab_sugar_name(i));
		gather_names(&e->library, true, &names);
	}
	near = tn_diag_nearest(name, names.data, names.len);
	if (near) {
		tn_diag_help(e->sink, diag, "did you mean '%s'?", near);
		tn_diag_fix(e->sink, diag, span, near);
	}
	tn_vec_fini(&names);
}

static struct ev unknown_name(struct frame *frame, const char *name,
			      struct tn_span span)
{
	struct tn_elab *e = frame->e;
	const char *help = tn_habit_name(name);
	struct tn_diag *diag;

	if (!frame->is_broken && !e->broken) {
		diag = tn_diag_report(e->sink, TN_E0201, span,
				      "nothing here is named '%s'", name);
		if (help)
			tn_diag_help(e->sink, diag, "%s", help);
		else
			elab_suggest(frame, diag, span, name, false);
	}
	return ev_poison(span);
}

/* A weight of struct type that canonical text has flattened, `blk__w`: put
 * together again for what was left as it was written. */
bool elab_flat_struct(struct tn_elab *e, const char *name,
		      struct tn_span span, struct ev *out)
{
	const struct tn_weight *weight;
	size_t i;
	int k;

	for (i = 0; i < e->order.len; i++) {
		const struct decl *type = tn_vec_ptr(&e->order, i);
		struct tn_value **fields;

		if (type->item->kind != TN_TREE_ITEM_STRUCT || !type->nfields)
			continue;
		fields = tn_arena_array(&e->scratch, (size_t)type->nfields,
					sizeof(*fields));
		for (k = 0; fields && k < type->nfields; k++) {
			const char *full = tn_arena_printf(&e->scratch,
				"%s__%s", name,
				type->leaves[k].name);

			weight = full ? tn_map_find(&e->module->weight_names,
						    full) : NULL;
			if (!weight)
				break;
			fields[k] = weight->value;
			out->u.agg.is_family = weight->family >= 0;
		}
		if (!fields || k < type->nfields)
			continue;
		out->kind = EV_STRUCT;
		out->span = span;
		out->u.agg.type = elab_struct_of(e, type, fields,
						 out->u.agg.is_family);
		out->u.agg.fields = fields;
		return true;
	}
	return false;
}

struct sizes {
	struct frame *frame;
	const struct tn_dim **map;	/* by number of the symbol */
	bool any;
};

/* The size that a declared dim has in this call, if it has one. */
static void bind_size(void *data, const struct tn_dim *dim)
{
	struct sizes *sizes = data;
	const struct bind *bind = frame_find(sizes->frame, dim->sym->name);
	int64_t lo, hi;

	if (!bind || bind->ev.kind != EV_DIM || bind->ev.u.dim == dim)
		return;
	tn_dim_bounds(bind->ev.u.dim, &lo, &hi);
	if (lo < dim->sym->lo || hi > dim->sym->hi)
		return;
	sizes->map[dim->sym->number] = bind->ev.u.dim;
	sizes->any = true;
}

/* `dim H = N // 2;` where a generic function is called with another N. */
static const struct tn_dim *derived(struct frame *frame,
				    const struct tn_dim *dim)
{
	struct tn_dim_pool *pool = &frame->e->module->dims;
	struct sizes sizes = { .frame = frame };

	if (tn_dim_is_const(dim) || dim->kind == TN_DIM_SYM)
		return dim;
	sizes.map = elab_array(frame->e, (size_t)pool->nsyms + 1,
			       sizeof(*sizes.map));
	if (!sizes.map)
		return dim;
	tn_dim_each_sym(dim, bind_size, &sizes);
	return sizes.any ? tn_dim_subst(pool, dim, sizes.map) : dim;
}

static struct ev item_value(struct frame *frame, struct decl *decl,
			    struct tn_span span)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;
	struct ev ev;

	switch (decl->item->kind) {
	case TN_TREE_ITEM_DIM:
	case TN_TREE_ITEM_CONST:
		if (decl->state == DECL_DONE)
			break;
		diag = tn_diag_report(e->sink, TN_E0204, span,
				      "'%s' is used before its declaration",
				      decl->name);
		tn_diag_also(e->sink, diag, decl->item->name.span,
			     "declared here");
		tn_diag_help(e->sink, diag,
			     "move the declaration up: dims and consts refer "
			     "backwards only");
		return ev_poison(span);
	case TN_TREE_ITEM_WEIGHT:
		break;
	case TN_TREE_ITEM_FN:
	case TN_TREE_ITEM_OP:
		diag = tn_diag_report(e->sink, TN_E0206, span,
				      "'%s' is a function, not a value",
				      decl->name);
		tn_diag_help(e->sink, diag, "call it: %s(..)", decl->name);
		return ev_poison(span);
	case TN_TREE_ITEM_INCLUDE:
	case TN_TREE_ITEM_STRUCT:
	case TN_TREE_ITEM_ENCODING:
	case TN_TREE_ITEM_MESH:
	case TN_TREE_ITEM_RULE:
	case TN_TREE_ITEM_TEST:
	case TN_TREE_ITEM_KERNEL:
		diag = tn_diag_report(e->sink, TN_E0206, span,
				      "'%s' is not a value", decl->name);
		tn_diag_also(e->sink, diag, decl->item->name.span,
			     "declared here");
		return ev_poison(span);
	}
	ev = decl->ev;
	ev.span = span;
	if (ev.kind == EV_DIM)
		ev = ev_dim(derived(frame, ev.u.dim), span);
	if (frame->test && ev.kind == EV_DIM && !tn_dim_is_const(ev.u.dim)) {
		diag = tn_diag_report(e->sink, TN_E0222, span,
				      "'%s' has no size in a test",
				      decl->name);
		tn_diag_also(e->sink, diag, decl->item->name.span,
			     "declared here");
		tn_diag_help(e->sink, diag, "write a number");
		return ev_poison(span);
	}
	return ev;
}

struct ev elab_name(struct frame *frame, const char *name,
		    struct tn_span span)
{
	const struct bind *bind = frame_find(frame, name);
	const struct tn_dim *dim;
	struct decl *decl;
	struct ev ev;

	if (bind) {
		ev = bind->ev;
		ev.span = span;
		return ev;
	}
	if (strcmp(name, "_") == 0) {
		ev = ev_poison(span);
		ev.kind = EV_HOLE;
		return ev;
	}
	decl = tn_map_find(frame->is_library ? &frame->e->library :
					       &frame->e->decls, name);
	if (!decl && frame->sees_runtime &&
	    tn_map_has(&frame->e->runtime, name))
		return ev_dim(tn_map_find(&frame->e->runtime, name), span);
	if (!decl && frame->results_of && elab_dim_ahead(frame, name, &dim))
		return dim ? ev_dim(dim, span) : ev_poison(span);
	if (!decl && strcmp(name, "none") == 0) {
		ev = ev_poison(span);
		ev.kind = EV_NONE;
		return ev;
	}
	if (!decl && !frame->is_library && frame->b.block &&
	    elab_flat_struct(frame->e, name, span, &ev))
		return ev;
	if (!decl)
		return unknown_name(frame, name, span);
	return item_value(frame, decl, span);
}
