/*
 * What a signature says of its calls: which parameters are attributes, and
 * whether a function has one body or one for each set of arguments.
 */
#include "grammar/elab.h"

#include <string.h>

bool elab_is_attribute(const struct tn_param *param)
{
	static const char *const words[] = {
		"int", "ints", "float", "floats", "string", "perm", "dim",
		"dims", "pairs", "elem", "dtype", "flag"
	};
	size_t i;

	if (param->type->has_shape)
		return false;
	if (param->init && param->type->is_elem)
		return true;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!param->type->has_shape && !param->type->is_elem &&
		    strcmp(words[i], param->type->name.text) == 0)
			return true;
	return false;
}

bool elab_is_fused(const struct tn_tree_item *item)
{
	uint32_t i;

	for (i = 0; i < item->annots.len; i++)
		if (strcmp(item->annots.at[i]->name.text, "fused") == 0)
			return item->kind == TN_TREE_ITEM_FN &&
			       item->u.sig->generics.len == 0;
	return false;
}

/* A struct whose sizes are those of the argument. */
static bool is_open_struct(struct tn_elab *e, const struct tn_tree_type *type)
{
	const struct decl *decl;

	if (type->is_elem || type->has_shape)
		return false;
	decl = tn_map_find(&e->decls, type->name.text);
	return decl && decl->item->kind == TN_TREE_ITEM_STRUCT &&
	       decl->item->u.fields.sizes.len;
}

bool elab_is_generic(struct tn_elab *e, const struct decl *decl)
{
	const struct tn_sig *sig = decl->item->u.sig;
	uint32_t i;

	if (decl->item->kind == TN_TREE_ITEM_OP || sig->generics.len > 0)
		return true;
	if (elab_is_fused(decl->item))
		return decl->is_library;
	for (i = 0; i < sig->params.len; i++)
		if (elab_is_attribute(sig->params.at[i]) ||
		    is_open_struct(e, sig->params.at[i]->type) ||
		    elab_type_is_open(e, sig->params.at[i]->type,
				      decl->is_library))
			return true;
	return decl->is_library;
}
