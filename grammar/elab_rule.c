/*
 * Items that stay text: rules, generic functions, encodings, meshes. Their
 * names are resolved and their form is checked here, so that a mistake shows
 * before the first use.
 */
#include <string.h>

#include "grammar/elab_rule.h"

/* A walk through what was written, with the names in reach. */
struct checker {
	struct tn_elab *e;
	bool is_library;
	bool in_where;		/* calls are predicates */
	struct tn_map names;	/* in reach */
	struct tn_map used;	/* seen so far, if collecting */
	bool collects;
};

static void add_name(struct checker *c, const char *name)
{
	if (name && !tn_map_set(&c->names, name, c))
		c->e->module->failed = true;
}

static void check_expr(struct checker *c, const struct tn_expr *expr);

static void check_name(struct checker *c, const char *name,
		       struct tn_span span)
{
	struct tn_map *decls = c->is_library ? &c->e->library : &c->e->decls;
	struct tn_diag *diag;
	const char *near, **list;
	struct ev flat;
	size_t i;

	if (c->collects)
		elab_map(c->e, &c->used, name, c);
	if (tn_map_has(&c->names, name) || tn_map_has(decls, name) ||
	    strcmp(name, "_") == 0 || strcmp(name, "none") == 0 ||
	    c->e->broken || elab_flat_struct(c->e, name, span, &flat))
		return;
	diag = tn_diag_report(c->e->sink, TN_E0201, span,
			      "nothing here is named '%s'", name);
	list = tn_arena_array(&c->e->scratch, c->names.len + 1,
			      sizeof(*list));
	for (i = 0; list && i < c->names.len; i++)
		list[i] = c->names.entries[i].key;
	near = list ? tn_diag_nearest(name, list, c->names.len) : NULL;
	if (near) {
		tn_diag_help(c->e->sink, diag, "did you mean '%s'?", near);
		tn_diag_fix(c->e->sink, diag, span, near);
	}
}

static void check_args(struct checker *c, const struct tn_args *args)
{
	uint32_t i;

	for (i = 0; i < args->len; i++) {
		const struct tn_arg *arg = args->at[i];

		if (arg->kind != TN_ARG_REST) {
			check_expr(c, arg->value);
			continue;
		}
		if (c->collects)
			add_name(c, arg->name.text);
		else
			check_name(c, arg->name.text, arg->name.span);
	}
}

static void check_call(struct checker *c, const struct tn_expr *expr)
{
	const char *name = expr->u.call.name;
	struct frame frame;
	struct decl *decl;
	struct tn_diag *diag;
	bool is_fn;

	check_args(c, &expr->u.call.args);
	if (c->e->broken || (c->in_where && elab_fact_find(name) >= 0))
		return;
	decl = elab_find(c->e, name, c->is_library);
	is_fn = decl && (decl->item->kind == TN_TREE_ITEM_FN ||
			 decl->item->kind == TN_TREE_ITEM_OP);
	if (is_fn || elab_sugar_find(name) || tn_op_find(name) != TN_OP_none)
		return;
	frame_init(&frame, c->e, NULL, NULL, NULL);
	diag = tn_diag_report(c->e->sink, TN_E0202, tn_expr_callee(expr),
			      "no function or operator is named '%s'", name);
	elab_suggest(&frame, diag, tn_expr_callee(expr), name, true);
	frame_fini(&frame);
}

static void check_index(struct checker *c, const struct tn_expr *expr)
{
	uint32_t i;

	check_expr(c, expr->u.index.base);
	for (i = 0; i < expr->u.index.len; i++) {
		const struct tn_index *index = expr->u.index.at[i];

		if (index->first)
			check_expr(c, index->first);
		if (index->last)
			check_expr(c, index->last);
	}
}

static void check_expr(struct checker *c, const struct tn_expr *expr)
{
	uint32_t i;

	switch ((enum tn_expr_kind)expr->kind) {
	case TN_EXPR_NAME:
	case TN_EXPR_PACK:
		check_name(c, expr->u.name, expr->span);
		break;
	case TN_EXPR_TUPLE:
	case TN_EXPR_LIST:
		for (i = 0; i < expr->u.list.len; i++)
			check_expr(c, expr->u.list.at[i]);
		break;
	case TN_EXPR_CALL:
		check_call(c, expr);
		break;
	case TN_EXPR_FIELD:
		check_expr(c, expr->u.field.base);
		break;
	case TN_EXPR_INDEX:
		check_index(c, expr);
		break;
	case TN_EXPR_UNARY:
		check_expr(c, expr->u.binary.left);
		break;
	case TN_EXPR_BINARY:
		check_expr(c, expr->u.binary.left);
		check_expr(c, expr->u.binary.right);
		break;
	case TN_EXPR_ELEM:
	case TN_EXPR_INT:
	case TN_EXPR_FLOAT:
	case TN_EXPR_STRING:
	case TN_EXPR_BOOL:
		break;
	}
}

static void check_block(struct checker *c, const struct tn_tree_block *block);

static void check_region(struct checker *c, const struct tn_region *region)
{
	uint32_t i;

	for (i = 0; i < region->arms.len; i++) {
		if (region->arms.at[i]->cond)
			check_expr(c, region->arms.at[i]->cond);
		check_block(c, &region->arms.at[i]->body);
	}
	for (i = 0; i < region->carries.len; i++)
		check_expr(c, region->carries.at[i]->init);
	for (i = 0; i < region->inputs.len; i++)
		check_expr(c, region->inputs.at[i]->value);
	if (region->low)
		check_expr(c, region->low);
	if (region->high)
		check_expr(c, region->high);
	for (i = 0; i < region->carries.len; i++)
		add_name(c, region->carries.at[i]->name.text);
	for (i = 0; i < region->inputs.len; i++)
		add_name(c, region->inputs.at[i]->name.text);
	add_name(c, region->var.text);
	if (region->cond)
		check_expr(c, region->cond);
	if (region->kind != TN_REGION_IF)
		check_block(c, &region->body);
}

static void check_stmt(struct checker *c, const struct tn_stmt *stmt)
{
	uint32_t i;

	for (i = 0; i < stmt->values.len; i++)
		check_expr(c, stmt->values.at[i]);
	if (stmt->region)
		check_region(c, stmt->region);
	if (stmt->dim)
		add_name(c, stmt->dim->name.text);
	for (i = 0; i < stmt->binds.len; i++)
		add_name(c, stmt->binds.at[i]->name.text);
}

static void check_block(struct checker *c, const struct tn_tree_block *block)
{
	uint32_t i;

	for (i = 0; i < block->len; i++)
		check_stmt(c, block->at[i]);
}

/* ---- Signatures -------------------------------------------------------- */

static void add_shape(struct checker *c, const struct tn_tree_type *type)
{
	uint32_t i;

	for (i = 0; i < type->shape.len; i++) {
		const struct tn_extent *extent = type->shape.at[i];

		add_name(c, extent->pack.text);
		if (extent->size && extent->size->kind == TN_EXPR_NAME)
			add_name(c, extent->size->u.name);
	}
}

static void check_class(struct checker *c, const struct tn_generic *generic)
{
	static const char *const names[] = {"float", "int", "number", "any",
					    "signed", "unsigned", "bool"};
	struct tn_diag *diag;
	const char *near;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], generic->class_name.text) == 0)
			return;
	diag = tn_diag_report(c->e->sink, TN_E0215, generic->class_name.span,
			      "'%s' is no class of element types",
			      generic->class_name.text);
	near = tn_diag_nearest(generic->class_name.text, names,
			       sizeof(names) / sizeof(names[0]));
	if (near)
		tn_diag_help(c->e->sink, diag, "did you mean '%s'?", near);
	else
		tn_diag_help(c->e->sink, diag,
			     "one of float, int, number, any");
}

static bool is_type_word(struct checker *c, const struct tn_sig *sig,
			 const struct tn_param *param)
{
	const struct tn_tree_type *type = param->type;
	struct decl *decl;
	uint32_t i;

	if (type->is_elem || elab_is_attribute(param))
		return true;
	for (i = 0; i < sig->generics.len; i++)
		if (sig->generics.at[i]->name.text == type->name.text)
			return true;
	for (i = 0; i < sig->params.len; i++)
		if (sig->params.at[i]->name.text == type->name.text &&
		    elab_is_attribute(sig->params.at[i]))
			return true;
	decl = elab_find(c->e, type->name.text, c->is_library);
	return decl && (decl->item->kind == TN_TREE_ITEM_STRUCT ||
			decl->item->kind == TN_TREE_ITEM_ENCODING);
}

static void add_signature(struct checker *c, const struct tn_sig *sig)
{
	uint32_t i;

	elab_check_names(c->e, sig);
	for (i = 0; i < sig->generics.len; i++) {
		check_class(c, sig->generics.at[i]);
		add_name(c, sig->generics.at[i]->name.text);
	}
	for (i = 0; i < sig->params.len + sig->results.len; i++) {
		const struct tn_param *param = i < sig->params.len ?
			sig->params.at[i] :
			sig->results.at[i - sig->params.len];

		add_shape(c, param->type);
		if (i < sig->params.len)
			add_name(c, param->name.text);
		if (!is_type_word(c, sig, param))
			tn_diag_report(c->e->sink, TN_E0215,
				       param->type->name.span,
				       "'%s' is no type here",
				       param->type->name.text);
	}
}

static void init_checker(struct checker *c, struct tn_elab *e,
			 const struct decl *decl)
{
	memset(c, 0, sizeof(*c));
	c->e = e;
	c->is_library = decl->is_library;
	tn_map_init_text(&c->names);
	tn_map_init_text(&c->used);
}

static void fini_checker(struct checker *c)
{
	tn_map_fini(&c->names);
	tn_map_fini(&c->used);
}

void elab_generic_item(struct tn_elab *e, struct decl *decl)
{
	const struct tn_sig *sig = decl->item->u.sig;
	uint32_t errors = e->sink->errors;
	struct checker c;

	init_checker(&c, e, decl);
	add_signature(&c, sig);
	if (sig->has_body && !sig->body.broken)
		check_block(&c, &sig->body);
	fini_checker(&c);
	decl->is_broken = e->sink->errors != errors;
}

/* ---- Rules ------------------------------------------------------------- */

/* Parameters that `before` does not hold cannot be known in `after`. */
static void check_bound(struct checker *c, const struct decl *decl,
			const struct tn_map *after)
{
	const struct tn_params *params = &decl->item->u.rule.sig->params;
	uint32_t i;

	for (i = 0; i < params->len; i++) {
		const struct tn_param *param = params->at[i];
		struct tn_diag *diag;

		if (tn_map_has(&c->used, param->name.text) ||
		    !tn_map_has(after, param->name.text))
			continue;
		diag = tn_diag_report(c->e->sink, TN_E0217, param->span,
				      "rule '%s' uses '%s' on the right, but "
				      "nothing on the left binds it",
				      decl->name, param->name.text);
		tn_diag_help(c->e->sink, diag,
			     "a rule may only use what it has matched");
	}
}

static bool is_pattern(const struct tn_expr *expr)
{
	return expr->kind == TN_EXPR_CALL || expr->kind == TN_EXPR_BINARY ||
	       expr->kind == TN_EXPR_UNARY || expr->kind == TN_EXPR_INDEX;
}

static void check_sides(struct checker *c, const struct decl *decl)
{
	const struct tn_tree_item *item = decl->item;
	struct tn_map before, empty;

	c->collects = true;
	if (item->u.rule.before)
		check_expr(c, item->u.rule.before);
	else
		check_block(c, &item->u.rule.match);
	before = c->used;
	tn_map_init_text(&empty);
	c->used = empty;
	if (item->u.rule.after)
		check_expr(c, item->u.rule.after);
	else
		check_block(c, &item->u.rule.rewrite);
	empty = c->used;
	c->used = before;
	check_bound(c, decl, &empty);
	tn_map_fini(&empty);
	c->collects = false;
}

void elab_rule_item(struct tn_elab *e, struct decl *decl)
{
	const struct tn_tree_item *item = decl->item;
	uint32_t errors = e->sink->errors;
	struct checker c;

	init_checker(&c, e, decl);
	add_signature(&c, item->u.rule.sig);
	if (item->u.rule.before && !is_pattern(item->u.rule.before))
		tn_diag_report(e->sink, TN_E0217, item->u.rule.before->span,
			       "the left of rule '%s' is no operator",
			       decl->name);
	if (e->sink->errors == errors)
		check_sides(&c, decl);
	if (item->u.rule.where) {
		c.in_where = true;
		check_expr(&c, item->u.rule.where);
	}
	fini_checker(&c);
	if (e->sink->errors == errors && !e->broken)
		decl->rule = elab_rule_compile(e, decl);
}

static bool add_rule(const struct decl *decl, struct tn_rule_set *set)
{
	if (!decl->rule)
		return true;
	decl->rule->number = (int)set->rules.len;
	return tn_vec_push_ptr(&set->rules, decl->rule);
}

bool tn_elab_rules(struct tn_elab *e, struct tn_rule_set *set)
{
	size_t i;

	set->instance = elab_rule_instance;
	set->data = e;
	for (i = 0; i < e->order.len; i++)
		if (!add_rule(tn_vec_ptr(&e->order, i), set))
			return false;
	return true;
}

/* A rule of a text of its own. */
static bool text_item(struct tn_elab *e, const struct tn_tree_item *item,
		      struct tn_rule_set *set)
{
	struct decl *decl = tn_arena_alloc(&e->scratch, sizeof(*decl));

	if (!decl)
		return false;
	if (item->kind != TN_TREE_ITEM_RULE) {
		tn_diag_report(e->sink, TN_E0217, item->span,
			       "a file of rules has rules alone");
		return true;
	}
	decl->name = item->name.text;
	decl->item = item;
	decl->is_library = true;
	elab_rule_item(e, decl);
	return add_rule(decl, set);
}

bool tn_elab_rule_source(struct tn_elab *e, uint32_t file,
			 struct tn_rule_set *set)
{
	struct tn_tree *tree;
	uint32_t i;

	set->instance = elab_rule_instance;
	set->data = e;
	tree = tn_parse(e->options.sink, e->names, &e->scratch, file);
	if (!tree || !elab_load_library(e))
		return false;
	for (i = 0; i < tree->len && !tree->broken; i++)
		if (!text_item(e, tree->at[i], set))
			return false;
	return true;
}

/* ---- Encodings and meshes ---------------------------------------------- */

void elab_encoding_item(struct tn_elab *e, struct decl *decl)
{
	const struct tn_tree_item *item = decl->item;
	const struct tn_fields *fields = &item->u.encoding.fields;
	struct checker c;
	uint32_t i;

	init_checker(&c, e, decl);
	if (item->u.encoding.block == 0 || item->u.encoding.block > 65536)
		tn_diag_report(e->sink, TN_E0224, item->name.span,
			       "a block has from 1 to 65536 elements");
	for (i = 0; i < fields->len; i++) {
		const struct tn_field *field = fields->at[i];

		if (!field->type->is_elem)
			tn_diag_report(e->sink, TN_E0224, field->type->span,
				       "a field of an encoding has an element "
				       "type, '%s' is none",
				       field->type->name.text);
		add_name(&c, field->name.text);
	}
	if (item->u.encoding.value)
		check_expr(&c, item->u.encoding.value);
	fini_checker(&c);
}

void elab_mesh_item(struct tn_elab *e, struct decl *decl)
{
	const struct tn_args *args = &decl->item->u.mesh;
	struct frame frame;
	int64_t size;
	uint32_t i;

	frame_init(&frame, e, NULL, decl, NULL);
	for (i = 0; i < args->len; i++) {
		const struct tn_arg *arg = args->at[i];

		if (arg->kind != TN_ARG_NAMED ||
		    !elab_constant(&frame, arg->value, "an axis", &size))
			continue;
		if (size < 1)
			tn_diag_report(e->sink, TN_E0224, arg->span,
				       "an axis of a mesh has at least one "
				       "device");
	}
	frame_fini(&frame);
}
