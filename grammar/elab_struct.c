/*
 * Structs: aggregates end here, flattened to the tensors in them. A struct may
 * hold others, and have sizes of its own; each set of sizes is an instance,
 * with types of its own.
 *
 *   struct Norm[C] { g: f32[C] from "weight"; b: f32[C] from "bias"; }
 *   struct Unit[I, C] { w: f32[C, I]; norm: Norm[C] from "bn."; }
 *
 *   Unit[3, 8]  ->  w: f32[8, 3] "w"; norm__g: f32[8] "bn.weight"; ..
 */
#include "grammar/elab.h"

#include <string.h>

#define MOST_LEAVES 4096

static const struct tn_fields *fields_of(const struct decl *decl)
{
	return &decl->item->u.fields;
}

static void malformed(struct tn_elab *e, struct tn_span span,
		      const char *format, const char *name)
{
	tn_diag_report(e->sink, TN_E0225, span, format, name);
}

/* ---- Fields -------------------------------------------------------------- */

static const struct tn_field *find_old(const struct tn_fields *fields,
				       uint32_t at)
{
	uint32_t i;

	for (i = 0; i < at; i++)
		if (fields->at[i]->name.text == fields->at[at]->name.text)
			return fields->at[i];
	return NULL;
}

static void check_repeated(struct tn_elab *e, const struct decl *decl)
{
	const struct tn_fields *fields = fields_of(decl);
	const struct tn_field *old;
	struct tn_diag *diag;
	uint32_t i;

	for (i = 0; i < fields->len; i++) {
		old = find_old(fields, i);
		if (!old)
			continue;
		diag = tn_diag_report(e->sink, TN_E0203,
				      fields->at[i]->name.span,
				      "struct '%s' has a field '%s' already",
				      decl->name, old->name.text);
		tn_diag_also(e->sink, diag, old->name.span, "first here");
	}
}

/* The structs among the fields, and how many tensors there are; -1 after a
 * report. */
static int find_members(struct frame *frame, struct decl *decl)
{
	const struct tn_fields *fields = fields_of(decl);
	struct member *member;
	int count = 0;
	uint32_t i;

	for (i = 0; i < fields->len; i++) {
		member = &decl->members[i];
		member->first = count;
		member->type = elab_struct_type(frame, fields->at[i]->type);
		if (member->type && member->type->state != DECL_DONE) {
			malformed(frame->e, fields->at[i]->type->span,
				  "struct '%s' would hold itself",
				  member->type->name);
			return -1;
		}
		elab_struct_want_sizes(frame, fields->at[i]->type);
		count += member->type ? member->type->nfields : 1;
		if (count > MOST_LEAVES) {
			malformed(frame->e, fields->at[i]->span,
				  "struct '%s' holds more than 4096 tensors",
				  decl->name);
			return -1;
		}
	}
	return count;
}

static const char *join(struct tn_elab *e, const char *a, const char *between,
			const char *b)
{
	return tn_arena_printf(&e->module->arena, "%s%s%s", a, between, b);
}

static void put_leaves(struct frame *frame, struct decl *decl, uint32_t at)
{
	const struct tn_field *field = fields_of(decl)->at[at];
	const char *key = field->from.file.text ? field->from.file.text :
		field->name.text;
	const struct member *member = &decl->members[at];
	struct leaf *leaf = &decl->leaves[member->first];
	const struct leaf *inner;
	int i;

	if (!member->type) {
		leaf->name = field->name.text;
		leaf->key = key;
		leaf->type = elab_type(frame, field->type);
		if (!leaf->type)
			leaf->type = frame->e->module->poison;
		return;
	}
	if (!field->from.file.text)
		key = "";
	for (i = 0; i < member->type->nfields; i++) {
		inner = &member->type->leaves[i];
		leaf[i].name = join(frame->e, field->name.text, "__",
				    inner->name);
		leaf[i].key = join(frame->e, key, "", inner->key);
		leaf[i].type = inner->type;
		if (!leaf[i].name || !leaf[i].key)
			leaf[i].name = leaf[i].key = "";
	}
}

/* The names that the fields make are distinct: `a__b` beside a struct `a`. */
static void check_leaves(struct tn_elab *e, const struct decl *decl)
{
	struct tn_map seen;
	int i;

	tn_map_init_text(&seen);
	for (i = 0; i < decl->nfields; i++) {
		if (strstr(decl->leaves[i].name, "__") &&
		    tn_map_has(&seen, decl->leaves[i].name))
			tn_diag_report(e->sink, TN_E0203,
				       decl->item->name.span,
				       "struct '%s' makes the name '%s' twice",
				       decl->name, decl->leaves[i].name);
		elab_map(e, &seen, decl->leaves[i].name, (void *)decl);
	}
	tn_map_fini(&seen);
}

static void read_fields(struct frame *frame, struct decl *decl)
{
	const struct tn_fields *fields = fields_of(decl);
	struct tn_elab *e = frame->e;
	int count;
	uint32_t i;

	decl->members = elab_array(e, fields->len, sizeof(*decl->members));
	count = decl->members ? find_members(frame, decl) : -1;
	decl->leaves = count < 0 ? NULL :
		elab_array(e, (size_t)count, sizeof(*decl->leaves));
	if (!decl->leaves) {
		decl->members = NULL;
		decl->nfields = 0;
		return;
	}
	for (i = 0; i < fields->len; i++)
		put_leaves(frame, decl, i);
	decl->nfields = count;
}

/* ---- Sizes of its own ---------------------------------------------------- */

static const char *size_name(const struct decl *decl, uint32_t i)
{
	const struct tn_extent *extent = fields_of(decl)->sizes.at[i];

	return extent->size && extent->size->kind == TN_EXPR_NAME ?
		extent->size->u.name : NULL;
}

static bool check_size_name(struct tn_elab *e, const struct decl *decl,
			    uint32_t at)
{
	const struct tn_extent *extent = fields_of(decl)->sizes.at[at];
	const char *name = size_name(decl, at);
	const struct decl *other;
	struct tn_diag *diag;
	uint32_t i;

	if (!name) {
		malformed(e, extent->span, "a size of struct '%s' is a name, "
			  "which its fields use", decl->name);
		return false;
	}
	for (i = 0; i < at; i++)
		if (size_name(decl, i) == name)
			break;
	other = tn_map_find(&e->decls, name);
	if (i == at && !(other && (other->item->kind == TN_TREE_ITEM_DIM ||
				   other->item->kind == TN_TREE_ITEM_CONST)))
		return true;
	diag = tn_diag_report(e->sink, TN_E0203, extent->span,
			      "'%s' is bound already", name);
	tn_diag_also(e->sink, diag, other ? other->item->name.span :
		     fields_of(decl)->sizes.at[i]->span, "first bound here");
	return false;
}

/* Binds the sizes; NULL: to poison, so that the text alone is checked. */
static void bind_sizes(struct frame *frame, const struct decl *decl,
		       const struct tn_dim *const *sizes)
{
	const struct tn_extents *extents = &fields_of(decl)->sizes;
	struct tn_name name;
	uint32_t i;

	for (i = 0; i < extents->len; i++) {
		name.text = size_name(decl, i);
		name.span = extents->at[i]->span;
		frame_bind(frame, name, sizes ? ev_dim(sizes[i], name.span) :
			   ev_poison(name.span));
	}
}

void elab_struct_item(struct tn_elab *e, struct decl *decl)
{
	uint32_t i, errors = e->sink->errors;
	struct frame frame;

	if (decl->state != DECL_NEW)
		return;
	if (e->depth >= ELAB_DEPTH) {
		malformed(e, decl->item->name.span, "struct '%s' lies in too "
			  "many others", decl->name);
		decl->state = DECL_DONE;
		return;
	}
	decl->state = DECL_ACTIVE;
	e->depth++;
	check_repeated(e, decl);
	frame_init(&frame, e, NULL, decl, NULL);
	for (i = 0; i < fields_of(decl)->sizes.len; i++)
		if (!check_size_name(e, decl, i))
			break;
	if (i == fields_of(decl)->sizes.len) {
		bind_sizes(&frame, decl, NULL);
		read_fields(&frame, decl);
		check_leaves(e, decl);
	}
	frame_fini(&frame);
	e->depth--;
	decl->state = DECL_DONE;
	decl->is_broken = e->sink->errors != errors;
}

static const char *instance_name(struct tn_elab *e, const struct decl *base,
				 const struct tn_dim *const *sizes)
{
	const char *text;
	struct tn_buf buf;
	uint32_t i;

	tn_buf_init(&buf);
	tn_buf_put(&buf, base->name);
	for (i = 0; i < fields_of(base)->sizes.len; i++) {
		tn_buf_put(&buf, i ? ", " : "[");
		tn_dim_print(&buf, sizes[i]);
	}
	tn_buf_putc(&buf, ']');
	text = buf.failed ? NULL : elab_intern(e, tn_buf_text(&buf));
	tn_buf_fini(&buf);
	return text;
}

/* The struct with these sizes. */
static const struct decl *instance(struct tn_elab *e, const struct decl *base,
				   const struct tn_dim **sizes)
{
	const char *name = instance_name(e, base, sizes);
	struct decl *made;
	struct frame frame;

	if (!name || base->is_broken || base->state != DECL_DONE)
		return base;
	made = tn_map_find(&e->structs, name);
	if (made)
		return made;
	made = elab_array(e, 1, sizeof(*made));
	if (!made)
		return base;
	*made = *base;
	made->name = name;
	made->of = base;
	made->sizes = sizes;
	frame_init(&frame, e, NULL, base, NULL);
	bind_sizes(&frame, base, sizes);
	read_fields(&frame, made);
	frame_fini(&frame);
	elab_map(e, &e->structs, name, made);
	return made;
}

/* ---- Types --------------------------------------------------------------- */

const struct decl *elab_struct_find(struct frame *frame,
				    const struct tn_tree_type *type)
{
	struct decl *decl;

	if (type->is_elem)
		return NULL;
	decl = tn_map_find(frame->is_library ? &frame->e->library :
					       &frame->e->decls,
			   type->name.text);
	if (!decl || decl->item->kind != TN_TREE_ITEM_STRUCT ||
	    (type->has_shape && !fields_of(decl)->sizes.len))
		return NULL;
	elab_struct_item(frame->e, decl);
	return decl;
}

const struct decl *elab_struct_type(struct frame *frame,
				    const struct tn_tree_type *type)
{
	const struct decl *base = elab_struct_find(frame, type);
	const struct tn_dim **sizes;
	const struct tn_extents *wants;
	uint32_t i;

	if (!base || !type->has_shape)
		return base;
	wants = &fields_of(base)->sizes;
	if (type->shape.len != wants->len) {
		tn_diag_report(frame->e->sink, TN_E0225, type->span,
			       "sizes of struct '%s': %u, given: %u",
			       base->name, wants->len, type->shape.len);
		return base;
	}
	sizes = elab_array(frame->e, wants->len, sizeof(*sizes));
	for (i = 0; sizes && i < wants->len; i++) {
		if (!type->shape.at[i]->size) {
			malformed(frame->e, type->shape.at[i]->span,
				  "a pack is no size of struct '%s'",
				  base->name);
			return base;
		}
		sizes[i] = elab_dim(frame, type->shape.at[i]->size);
		if (!sizes[i])
			return base;
	}
	return sizes ? instance(frame->e, base, sizes) : base;
}

void elab_struct_want_sizes(struct frame *frame,
			    const struct tn_tree_type *type)
{
	const struct decl *base = elab_struct_find(frame, type);
	struct tn_diag *diag;

	if (!base || type->has_shape || !fields_of(base)->sizes.len)
		return;
	diag = tn_diag_report(frame->e->sink, TN_E0225, type->span,
			      "struct '%s' has sizes of its own", base->name);
	tn_diag_also(frame->e->sink, diag, base->item->name.span,
		     "declared here");
	tn_diag_help(frame->e->sink, diag, "write %s[..]", base->name);
}

bool elab_struct_fits(const struct decl *want, const struct decl *have)
{
	return want == have || want == have->of;
}

/* ---- Sizes of values ----------------------------------------------------- */

/* Notes what the extents, where they are plain names of sizes, are. */
static void note_sizes(const struct decl *base,
		       const struct tn_extents *extents,
		       const struct tn_dim *const *dims,
		       const struct tn_dim **sizes)
{
	const struct tn_expr *size;
	uint32_t i, k;

	for (i = 0; i < extents->len; i++) {
		size = extents->at[i]->size;
		if (!size)
			return;
		for (k = 0; k < fields_of(base)->sizes.len; k++)
			if (size->kind == TN_EXPR_NAME &&
			    size->u.name == size_name(base, k))
				sizes[k] = dims[i];
	}
}

const struct decl *elab_struct_of(struct tn_elab *e, const struct decl *base,
				  struct tn_value *const *fields, int skip)
{
	const struct tn_fields *list = fields_of(base);
	const struct tn_dim **sizes;
	const struct decl *inner;
	const struct member *m;
	uint32_t i;

	if (!list->sizes.len || base->is_broken)
		return base;
	sizes = elab_array(e, list->sizes.len, sizeof(*sizes));
	for (i = 0; sizes && i < list->len; i++) {
		const struct tn_extents *extents = &list->at[i]->type->shape;

		m = &base->members[i];
		if (!m->type) {
			const struct tn_type *type = fields[m->first]->type;

			if (type->rank == (int)extents->len + skip)
				note_sizes(base, extents, type->dims + skip,
					   sizes);
			continue;
		}
		inner = elab_struct_of(e, m->type->of ? m->type->of : m->type,
				       fields + m->first, skip);
		if (inner->of)
			note_sizes(base, extents, inner->sizes, sizes);
	}
	for (i = 0; sizes && i < list->sizes.len; i++)
		if (!sizes[i])
			return base;
	return sizes ? instance(e, base, sizes) : base;
}
