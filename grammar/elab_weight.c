/*
 * Weights: one of struct type becomes one weight a tensor in it,
 * `blk__ln1_g`, and a family one weight whose type has the family axis in
 * front.
 */
#include "grammar/elab.h"

#include <inttypes.h>
#include <string.h>

#include "ir/layout.h"

/* A weight, and what knows it again by its value. */
static struct tn_weight *make_weight(struct tn_elab *e, const char *name,
				     const struct tn_type *type,
				     struct tn_span span)
{
	struct tn_weight *weight = tn_graph_weight(e->module, name, type,
						   span);

	if (!weight || !tn_map_set(&e->origins, weight->value, weight)) {
		e->module->failed = true;
		return NULL;
	}
	return weight;
}

/* What the members of a weight item share. */
struct weight_item {
	struct tn_elab *e;
	struct decl *decl;
	struct frame *frame;
	bool is_family;
	int64_t low, high;
};

static const struct tn_type *stacked(struct weight_item *item,
				     const struct tn_type *type)
{
	const struct tn_dim *dims[TN_MAX_RANK + 1];
	struct tn_module *module = item->e->module;
	int i;

	if (!item->is_family || tn_type_is_poison(type))
		return type;
	if (type->rank == TN_MAX_RANK) {
		tn_diag_report(item->e->sink, TN_E0218,
			       item->decl->item->name.span,
			       "a family adds an axis, and there are %d "
			       "already", TN_MAX_RANK);
		return module->poison;
	}
	dims[0] = tn_dim_const(&module->dims, item->high - item->low);
	for (i = 0; i < type->rank; i++)
		dims[i + 1] = type->dims[i];
	if (type->dtype == TN_ENCODED)
		return tn_type_get_encoded(module, type->encoding,
					   type->rank + 1, dims);
	return tn_type_get(module, type->dtype, type->rank + 1, dims);
}

static const char *join(struct tn_elab *e, const char *a, const char *b)
{
	if (!a || !b)
		return a ? a : b;
	return tn_arena_printf(&e->module->arena, "%s%s", a, b);
}

/* What stands behind the type; the layout is that of one member. */
static void take_annots(struct weight_item *item,
			const struct tn_tree_annots *from,
			const struct tn_type *member,
			struct tn_weight *weight)
{
	const struct tn_layout *layout = NULL;
	struct tn_value bare = { .type = member, .annots = weight->annots };
	struct tn_module *module = item->e->module;

	if (member) {
		elab_value_annots(item->e, from, &bare);
		layout = bare.layout;
	}
	if (layout && item->is_family)
		layout = tn_layout_stacked(module, layout);
	weight->value->layout = layout;
	weight->annots = bare.annots;
}

static struct tn_value *make_member(struct weight_item *item,
				    const char *name,
				    const struct tn_type *type,
				    const char *key)
{
	const struct tn_tree_item *from = item->decl->item;
	const struct tn_type *member = type;
	struct tn_weight *weight;

	type = type ? stacked(item, type) : item->e->module->poison;
	if (!type)
		return NULL;
	weight = make_weight(item->e, name, type, from->name.span);
	if (!weight)
		return NULL;
	if (item->is_family) {
		weight->family = item->high - item->low;
		weight->family_from = item->low;
		weight->index_name = from->u.weight.var.text;
	}
	weight->file = from->u.weight.from.file.text;
	weight->key = weight->file ? key : NULL;
	elab_annots(item->e, &from->annots, &weight->annots);
	if (from->u.weight.type)
		take_annots(item, &from->u.weight.type->annots, member, weight);
	return weight->value;
}

static struct ev struct_weight(struct weight_item *item,
			       const struct decl *type)
{
	const struct tn_from *from = &item->decl->item->u.weight.from;
	struct ev ev = ev_poison(item->decl->item->name.span);
	struct tn_elab *e = item->e;
	int i;

	ev.u.agg.fields = elab_array(e, (size_t)type->nfields,
				     sizeof(struct tn_value *));
	if (!ev.u.agg.fields)
		return ev;
	for (i = 0; i < type->nfields; i++) {
		const struct leaf *leaf = &type->leaves[i];
		const char *name;

		name = tn_arena_printf(&e->module->arena, "%s__%s",
				       item->decl->name, leaf->name);
		if (name && tn_map_has(&e->decls, name)) {
			tn_diag_report(e->sink, TN_E0203,
				       item->decl->item->name.span,
				       "field '%s' makes the name '%s', which "
				       "is bound already", leaf->name, name);
			return ev;
		}
		ev.u.agg.fields[i] = name ?
			make_member(item, name, leaf->type,
				    join(e, from->key.text, leaf->key)) : NULL;
		if (!ev.u.agg.fields[i])
			return ev;
	}
	ev.kind = EV_STRUCT;
	ev.u.agg.type = type;
	ev.u.agg.is_family = item->is_family;
	return ev;
}

static bool read_family(struct weight_item *item)
{
	const struct tn_tree_item *from = item->decl->item;

	if (!from->u.weight.low)
		return true;
	item->is_family = true;
	if (!elab_constant(item->frame, from->u.weight.low,
			   "a bound of a family", &item->low) ||
	    !elab_constant(item->frame, from->u.weight.high,
			   "a bound of a family", &item->high))
		return false;
	if (item->high >= item->low && item->low >= 0)
		return true;
	tn_diag_report(item->e->sink, TN_E0218, from->u.weight.low->span,
		       "a family counts from a number up to another: %" PRId64
		       "..%" PRId64, item->low, item->high);
	return false;
}

/* The key of a family names the member. */
static void check_key(struct weight_item *item)
{
	const struct tn_tree_item *from = item->decl->item;
	const struct tn_from *place = &from->u.weight.from;
	struct tn_diag *diag;
	const char *mark;

	if (!item->is_family || !place->key.text)
		return;
	mark = tn_arena_printf(&item->e->scratch, "{%s}",
			       from->u.weight.var.text);
	if (!mark || strstr(place->key.text, mark))
		return;
	diag = tn_diag_report(item->e->sink, TN_E0218, place->key.span,
			      "the key does not say where %s goes", mark);
	tn_diag_help(item->e->sink, diag, "write it into the key, as in "
		     "\"h.%s.\"", mark);
}

void elab_weight_item(struct tn_elab *e, struct decl *decl)
{
	struct weight_item item = {.e = e, .decl = decl};
	const struct tn_tree_item *from = decl->item;
	const struct decl *type;
	struct frame frame;

	decl->state = DECL_DONE;
	decl->ev = ev_poison(from->name.span);
	frame_init(&frame, e, NULL, decl, NULL);
	item.frame = &frame;
	if (read_family(&item)) {
		check_key(&item);
		type = elab_struct_type(&frame, from->u.weight.type);
		elab_struct_want_sizes(&frame, from->u.weight.type);
		if (type)
			decl->ev = struct_weight(&item, type);
		else
			decl->ev = ev_value(make_member(&item, decl->name,
				elab_type(&frame, from->u.weight.type),
				from->u.weight.from.key.text),
				from->name.span);
	}
	frame_fini(&frame);
}

/* ---- load -------------------------------------------------------------- */

struct ev elab_load(struct frame *frame, struct call *call)
{
	static const char *const known[] = {"file", "key"};
	struct actual *file = call_arg(call, "file", 0);
	struct actual *key = call_arg(call, "key", 1);
	struct tn_elab *e = frame->e;
	struct tn_value *value;
	struct tn_tensor tensor;

	if (!call_all_used(frame, call, known, 2))
		return ev_poison(call->span);
	if (!file || file->ev.kind != EV_STRING ||
	    (key && key->ev.kind != EV_STRING)) {
		tn_diag_report(e->sink, TN_E0210, call->span,
			       "'load' wants the name of a file and, for "
			       "some, a key");
		return ev_poison(call->span);
	}
	memset(&tensor, 0, sizeof(tensor));
	if (!e->options.load ||
	    !e->options.load(e->options.data, file->ev.u.string,
			     key ? key->ev.u.string : NULL, call->span.file,
			     &tensor)) {
		tn_diag_report(e->sink, TN_E0228, call->span,
			       "cannot load \"%s\"", file->ev.u.string);
		return ev_poison(call->span);
	}
	value = tn_build_const(&frame->b, &tensor, call->span);
	tn_tensor_fini(&tensor);
	return ev_value(value, call->span);
}
