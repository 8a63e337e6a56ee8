/*
 * Files: their items are collected by name, then given their meaning in an
 * order in which each finds what it needs: dims and consts as they stand,
 * structs, weights, signatures, bodies and the rest.
 */
#include "grammar/elab.h"

#include <string.h>

/* ---- Collecting -------------------------------------------------------- */

static void report_twice(struct tn_elab *e, const struct decl *old,
			 const struct tn_tree_item *item)
{
	struct tn_diag *diag;

	diag = tn_diag_report(e->sink, TN_E0203, item->name.span,
			      "'%s' is declared already", item->name.text);
	tn_diag_also(e->sink, diag, old->item->name.span, "first here");
}

static void warn_hidden(struct tn_elab *e, const struct tn_tree_item *item)
{
	const char *name = item->name.text;
	struct tn_diag *diag;

	if (item->kind != TN_TREE_ITEM_FN && item->kind != TN_TREE_ITEM_OP)
		return;
	if (tn_op_find(name) == TN_OP_none && !elab_sugar_find(name) &&
	    !elab_find(e, name, true))
		return;
	diag = tn_diag_report(e->sink, TN_W0216, item->name.span,
			      "'%s' hides the library's operator of that name",
			      name);
	tn_diag_help(e->sink, diag, "std::%s is the library's still", name);
}

static bool collect_item(struct tn_elab *e, const struct tn_tree_item *item,
			 bool is_library)
{
	struct tn_map *map = is_library ? &e->library : &e->decls;
	struct decl *decl, *old;

	decl = tn_arena_alloc(&e->scratch, sizeof(*decl));
	if (!decl)
		return false;
	decl->name = item->name.text;
	decl->item = item;
	decl->is_library = is_library;
	decl->ev = ev_poison(item->name.span);
	if (!is_library && !elab_push_ptr(e, &e->order, decl))
		return false;
	if (item->kind == TN_TREE_ITEM_TEST ||
	    item->kind == TN_TREE_ITEM_INCLUDE)
		return true;
	old = tn_map_find(map, decl->name);
	if (old) {
		report_twice(e, old, item);
		return true;
	}
	return elab_map(e, map, decl->name, decl);
}

static const void *file_key(uint32_t file)
{
	return (const void *)(uintptr_t)file;
}

/* A file is read once, however often and by whatever path it is named; one
 * that includes what includes it finds the items there already. */
static bool include(struct tn_elab *e, const struct tn_tree_item *item,
		    bool is_library)
{
	struct tn_tree *tree;
	uint32_t file;

	if (!item->name.text[0] && e->broken)
		return true;
	if (!e->options.include || !item->name.text[0]) {
		tn_diag_report(e->sink, TN_E0214, item->name.span,
			       item->name.text[0] ?
			       "nothing can be included here" :
			       "this names no file");
		return true;
	}
	file = e->options.include(e->options.data, item->name.text,
				  item->name.span.file, item->name.span);
	if (!file) {
		e->broken = true;
		return true;
	}
	if (tn_map_has(&e->included, file_key(file)))
		return true;
	tree = tn_parse(e->options.sink, e->names, &e->scratch, file);
	return tree && elab_collect(e, tree, is_library);
}

bool elab_collect(struct tn_elab *e, struct tn_tree *tree, bool is_library)
{
	uint32_t i;

	if (tree->file && !elab_map(e, &e->included, file_key(tree->file), e))
		return false;
	if (tree->broken || tree->errors > 0)
		e->broken = true;
	for (i = 0; i < tree->len; i++) {
		const struct tn_tree_item *item = tree->at[i];

		if (item->kind == TN_TREE_ITEM_INCLUDE &&
		    !include(e, item, is_library))
			return false;
		if (!collect_item(e, item, is_library))
			return false;
	}
	return true;
}

/* Items of the library know each other; generics are all it has, and consts.
 * Its text is read when the first name is asked for. */
static void const_item(struct tn_elab *e, struct decl *decl)
{
	const struct tn_tree_item *item = decl->item;
	const struct tn_type *type = NULL;
	struct tn_diag *diag;
	struct frame frame;
	struct ev ev, *of;

	frame_init(&frame, e, NULL, decl, NULL);
	ev = elab_expr(&frame, item->u.constant.value, ELAB_ANY);
	if (item->u.constant.type)
		type = elab_type(&frame, item->u.constant.type);
	frame_fini(&frame);
	decl->state = DECL_DONE;
	decl->ev = ev;
	if (ev_is_poison(&ev) || !item->u.constant.type)
		return;
	decl->ev = ev_poison(item->name.span);
	if (!type)
		return;
	if (!tn_type_is_static(type)) {
		diag = tn_diag_report(e->sink, TN_E0222,
				      item->u.constant.type->span,
				      "a constant has a fixed size");
		elab_note_dims(e, diag, type);
		return;
	}
	if (ev.kind == EV_CONST)
		ev = *ev.u.typed.of;
	of = tn_arena_copy(&e->scratch, &ev, sizeof(ev));
	if (!of)
		return;
	if ((ev.kind != EV_LIST || type->rank == 0) &&
	    (!ev_is_literal(&ev) || type->rank != 0 ||
	     !elab_fits(&ev, type->dtype))) {
		tn_diag_report(e->sink, TN_E0281, ev.span,
			       "%s cannot be a %s", ev_text(e, &ev),
			       elab_type_text(e, type));
		return;
	}
	decl->ev = ev;
	decl->ev.kind = EV_CONST;
	decl->ev.u.typed.of = of;
	decl->ev.u.typed.type = type;
}

/* A further text of the library adds operators that nothing hides. */
static bool may_join(struct tn_elab *e, const struct tn_tree_item *item)
{
	const char *name = item->name.text;

	if (item->kind != TN_TREE_ITEM_OP && item->kind != TN_TREE_ITEM_FN &&
	    item->kind != TN_TREE_ITEM_CONST) {
		tn_diag_report(e->sink, TN_E0041, item->name.span,
			       "a plug-in adds `op`, `fn` and `const`, nothing "
			       "else");
		return false;
	}
	if (tn_op_find(name) == TN_OP_none && !elab_sugar_find(name))
		return true;
	tn_diag_report(e->sink, TN_E0203, item->name.span,
		       "'%s' is an operator of the language already", name);
	return false;
}

static bool load_text(struct tn_elab *e, const struct tn_elab_text *text,
		      bool is_more)
{
	struct tn_tree *tree = NULL;
	uint32_t file, i;

	file = tn_sink_add_source(e->options.sink, text->name, text->text,
				  strlen(text->text));
	if (file)
		tree = tn_parse(e->options.sink, e->names, &e->scratch, file);
	for (i = 0; tree && is_more && i < tree->len; i++)
		if (!may_join(e, tree->at[i]))
			return true;
	return tree && elab_collect(e, tree, true);
}

bool elab_load_library(struct tn_elab *e)
{
	const struct tn_elab_text std = { "std.tn", e->options.std_text };
	bool good;
	size_t i;
	int k;

	if (e->has_library)
		return true;
	e->has_library = true;
	if (!e->options.std_text)
		return true;
	good = load_text(e, &std, false);
	for (k = 0; k < e->options.nmore && good; k++)
		good = load_text(e, &e->options.more[k], true);
	if (!good) {
		e->module->failed = true;
		return false;
	}
	for (i = 0; i < e->library.len; i++) {
		struct decl *decl = e->library.entries[i].value;

		decl->is_generic = true;
		if (decl->item->kind == TN_TREE_ITEM_CONST)
			const_item(e, decl);
	}
	return true;
}

/* ---- Meaning ----------------------------------------------------------- */

static struct decl *at(const struct tn_elab *e, size_t i)
{
	return tn_vec_ptr(&e->order, i);
}

static bool is_main(const struct tn_elab *e, const struct decl *decl)
{
	return decl->item->kind == TN_TREE_ITEM_TEST ||
	       decl->item->kind == TN_TREE_ITEM_INCLUDE ||
	       tn_map_find(&e->decls, decl->name) == decl;
}

static void first_round(struct tn_elab *e)
{
	size_t i;

	for (i = 0; i < e->order.len; i++) {
		struct decl *decl = at(e, i);

		if (!is_main(e, decl))
			continue;
		if (decl->item->kind == TN_TREE_ITEM_DIM)
			elab_dim_item(e, decl);
		else if (decl->item->kind == TN_TREE_ITEM_CONST)
			const_item(e, decl);
	}
	for (i = 0; i < e->order.len; i++)
		if (at(e, i)->item->kind == TN_TREE_ITEM_STRUCT)
			elab_struct_item(e, at(e, i));
	for (i = 0; i < e->order.len; i++)
		if (at(e, i)->item->kind == TN_TREE_ITEM_WEIGHT &&
		    is_main(e, at(e, i)))
			elab_weight_item(e, at(e, i));
}

static void fused_item(struct tn_elab *e, struct decl *decl)
{
	if (!decl->fn)
		elab_signature(e, decl);
	elab_fn_body(e, decl);
}

static void second_round(struct tn_elab *e)
{
	size_t i;

	for (i = 0; i < e->order.len; i++) {
		struct decl *decl = at(e, i);
		enum tn_tree_item_kind kind = decl->item->kind;

		if (kind != TN_TREE_ITEM_FN && kind != TN_TREE_ITEM_OP)
			continue;
		warn_hidden(e, decl->item);
		decl->is_generic = elab_is_generic(e, decl);
		if (!decl->is_generic && !elab_is_fused(decl->item) &&
		    is_main(e, decl))
			elab_signature(e, decl);
	}
	for (i = 0; i < e->order.len; i++)
		if ((at(e, i)->item->kind == TN_TREE_ITEM_FN ||
		     at(e, i)->item->kind == TN_TREE_ITEM_OP) &&
		    at(e, i)->is_generic)
			elab_generic_item(e, at(e, i));
	for (i = 0; i < e->order.len; i++)
		if (at(e, i)->item->kind == TN_TREE_ITEM_FN &&
		    !at(e, i)->is_generic && !elab_is_fused(at(e, i)->item))
			elab_fn_body(e, at(e, i));
	for (i = 0; i < e->order.len; i++)
		if (elab_is_fused(at(e, i)->item) && is_main(e, at(e, i)))
			fused_item(e, at(e, i));
	for (i = 0; i < e->order.len; i++)
		if (at(e, i)->item->kind == TN_TREE_ITEM_WEIGHT &&
		    is_main(e, at(e, i)))
			elab_derived_item(e, at(e, i));
}

static void third_round(struct tn_elab *e)
{
	size_t i;

	for (i = 0; i < e->order.len; i++) {
		struct decl *decl = at(e, i);

		switch (decl->item->kind) {
		case TN_TREE_ITEM_RULE:
			elab_rule_item(e, decl);
			break;
		case TN_TREE_ITEM_ENCODING:
			elab_encoding_item(e, decl);
			break;
		case TN_TREE_ITEM_MESH:
			elab_mesh_item(e, decl);
			break;
		case TN_TREE_ITEM_KERNEL:
			elab_kernel_item(e, decl);
			break;
		case TN_TREE_ITEM_FN:
		case TN_TREE_ITEM_OP:
		case TN_TREE_ITEM_INCLUDE:
		case TN_TREE_ITEM_DIM:
		case TN_TREE_ITEM_CONST:
		case TN_TREE_ITEM_STRUCT:
		case TN_TREE_ITEM_WEIGHT:
		case TN_TREE_ITEM_TEST:
			break;
		}
	}
}

/* ---- The module's list ------------------------------------------------- */

static struct tn_item *put_item(struct tn_elab *e, enum tn_item_kind kind,
				const struct decl *decl)
{
	struct tn_item *item = elab_array(e, 1, sizeof(*item));

	if (!item || !tn_vec_push_ptr(&e->module->items, item)) {
		e->module->failed = true;
		return NULL;
	}
	item->kind = kind;
	item->name = decl->name;
	item->span = decl->item->span;
	return item;
}

static void put_text(struct tn_elab *e, const struct decl *decl)
{
	struct tn_item *item = put_item(e, TN_ITEM_TEXT, decl);
	struct tn_buf buf;

	if (!item)
		return;
	tn_buf_init(&buf);
	tn_print_item(&buf, decl->item);
	item->u.text = tn_arena_strndup(&e->module->arena, tn_buf_text(&buf),
					buf.len);
	if (!item->u.text)
		item->u.text = "";
	if (!item->u.text[0] || buf.failed)
		e->module->failed = true;
	tn_buf_fini(&buf);
}

static void put_weights(struct tn_elab *e, const struct decl *decl)
{
	const struct ev *ev = &decl->ev;
	struct tn_item *item;
	int i, count = 1;

	if (ev->kind == EV_STRUCT)
		count = ev->u.agg.type->nfields;
	else if (ev->kind != EV_VALUE)
		return;
	for (i = 0; i < count; i++) {
		const struct tn_value *value = ev->kind == EV_VALUE ?
			ev->u.value : ev->u.agg.fields[i];

		item = put_item(e, TN_ITEM_WEIGHT, decl);
		if (!item)
			return;
		item->u.weight = tn_map_find(&e->origins, value);
		item->name = value->name;
	}
}

static void put_decl(struct tn_elab *e, const struct decl *decl)
{
	struct tn_item *item;

	switch (decl->item->kind) {
	case TN_TREE_ITEM_DIM:
		if (decl->ev.kind != EV_DIM || decl->item->u.dim->value) {
			put_text(e, decl);
			return;
		}
		item = put_item(e, TN_ITEM_DIM, decl);
		if (item)
			item->u.dim = decl->ev.u.dim;
		return;
	case TN_TREE_ITEM_WEIGHT:
		put_weights(e, decl);
		return;
	case TN_TREE_ITEM_FN:
	case TN_TREE_ITEM_OP:
		if (decl->is_generic) {
			put_text(e, decl);
			return;
		}
		if (!decl->fn)
			return;
		item = put_item(e, TN_ITEM_FN, decl);
		if (item)
			item->u.fn = decl->fn;
		return;
	case TN_TREE_ITEM_KERNEL:
		if (!decl->kernel)
			return;
		item = put_item(e, TN_ITEM_KERNEL, decl);
		if (item)
			item->u.kernel = decl->kernel;
		return;
	case TN_TREE_ITEM_INCLUDE:
		return;
	case TN_TREE_ITEM_CONST:
	case TN_TREE_ITEM_STRUCT:
	case TN_TREE_ITEM_ENCODING:
	case TN_TREE_ITEM_MESH:
	case TN_TREE_ITEM_RULE:
	case TN_TREE_ITEM_TEST:
		put_text(e, decl);
		return;
	}
}

void elab_items(struct tn_elab *e)
{
	size_t i;

	first_round(e);
	second_round(e);
	third_round(e);
	elab_check_recursion(e);
	for (i = 0; i < e->order.len; i++)
		if (is_main(e, at(e, i)))
			put_decl(e, at(e, i));
}
