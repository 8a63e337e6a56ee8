/*
 * The rewriter: copies of blocks, and functions opened in place of calls.
 *
 * In: a block, what its values and sizes stand for. Out: its operators once
 * more, with fresh names, and fresh symbols for the sizes that they set.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/graph_edit.h"
#include "ir/rewrite.h"

struct cloner {
	struct tn_rw *rw;
	struct tn_fn *fn;
	struct tn_map *map;
	const struct tn_dim **dims;	/* by symbol number, or NULL */
	int ndims;
};

static const struct tn_dim *clone_dim(const struct cloner *cloner,
				      const struct tn_dim *dim)
{
	if (!cloner->dims || !dim)
		return dim;
	return tn_dim_subst(&cloner->rw->module->dims, dim, cloner->dims);
}

static bool clone_dims(struct cloner *cloner, struct tn_attr *attr)
{
	const struct tn_dim **dims;
	int i;

	if (!cloner->dims)
		return true;
	dims = tn_arena_array(&cloner->rw->module->arena,
			      (size_t)attr->count, sizeof(*dims));
	for (i = 0; dims && i < attr->count; i++) {
		dims[i] = clone_dim(cloner, attr->u.dims[i]);
		if (attr->u.dims[i] && !dims[i])
			return false;
	}
	attr->u.dims = dims;
	return dims != NULL;
}

static bool clone_attrs(struct cloner *cloner, const struct tn_op *from,
			struct tn_op *to)
{
	int i;

	to->nattrs = from->nattrs;
	to->attrs = tn_arena_copy(&cloner->rw->module->arena, from->attrs,
				  (size_t)from->nattrs * sizeof(*from->attrs));
	for (i = 0; to->attrs && i < to->nattrs; i++) {
		struct tn_attr *attr = &to->attrs[i];

		if (!attr->is_set)
			continue;
		if (attr->kind == TN_ATTR_DIM) {
			attr->u.dim = clone_dim(cloner, attr->u.dim);
			if (!attr->u.dim)
				return false;
		}
		if ((attr->kind == TN_ATTR_DIMS ||
		     attr->kind == TN_ATTR_PAIRS) && !clone_dims(cloner, attr))
			return false;
	}
	return to->attrs != NULL;
}

/* Type, name and annotations of a value in the copy. */
static bool clone_value(struct cloner *cloner, const struct tn_value *from,
			struct tn_value *to)
{
	to->type = from->type;
	if (cloner->dims)
		to->type = tn_type_subst(cloner->rw->module, from->type,
					 cloner->dims);
	to->span = from->span;
	to->layout = from->layout;
	to->annots = from->annots;
	return to->type && tn_graph_name(cloner->fn, to, from->name) &&
	       tn_map_set(cloner->map, from, to);
}

static struct tn_value *mapped(const struct cloner *cloner,
			       struct tn_value *value)
{
	struct tn_value *to = tn_map_find(cloner->map, value);

	return to ? to : value;
}

/* ---- Fresh run-time dims: one copy may not set the symbol of another - */

static bool is_sym_taken(const struct cloner *cloner, const char *name)
{
	const struct tn_module *module = cloner->rw->module;
	size_t i;

	if (tn_map_find(&cloner->fn->names, name) ||
	    tn_map_has(&module->dim_names, name))
		return true;
	for (i = 0; i < module->dims.syms.len; i++) {
		const struct tn_dim *sym = tn_vec_ptr(&module->dims.syms, i);

		if (strcmp(sym->sym->name, name) == 0)
			return true;
	}
	return false;
}

static const char *fresh_sym_name(const struct cloner *cloner,
				  const char *base)
{
	struct tn_module *module = cloner->rw->module;
	const char *name = NULL;
	struct tn_buf text;
	int number = 0;

	tn_buf_init(&text);
	do {
		tn_buf_clear(&text);
		tn_buf_putf(&text, "%s__%d", base, ++number);
	} while (!text.failed && is_sym_taken(cloner, tn_buf_text(&text)));
	if (!text.failed)
		name = tn_intern_text(module->names, tn_buf_text(&text));
	tn_buf_fini(&text);
	return name;
}

struct fresh {
	struct cloner *cloner;
	bool failed;
};

static void fresh_visit(void *data, const struct tn_dim *dim)
{
	struct fresh *fresh = data;
	struct cloner *cloner = fresh->cloner;
	struct tn_sym sym = *dim->sym;

	if (!sym.is_runtime || sym.number >= cloner->ndims ||
	    cloner->dims[sym.number])
		return;
	sym.name = fresh_sym_name(cloner, sym.name);
	if (sym.name)
		cloner->dims[dim->sym->number] =
			tn_dim_new_sym(&cloner->rw->module->dims, &sym);
	if (!cloner->dims[dim->sym->number])
		fresh->failed = true;
}

static bool fresh_syms(struct cloner *cloner, const struct tn_op *op)
{
	struct fresh fresh = {.cloner = cloner};
	int i, j;

	if (!(tn_ops[op->code].flags & TN_FLAG_SIZES))
		return true;
	for (i = 0; i < op->nout; i++)
		for (j = 0; j < op->out[i]->type->rank; j++)
			tn_dim_each_sym(op->out[i]->type->dims[j], fresh_visit,
					&fresh);
	return !fresh.failed;
}

/* ---- Blocks ---------------------------------------------------------- */

static bool clone_block(struct cloner *cloner, const struct tn_block *from,
			struct tn_block *to, struct tn_op *before);

static bool clone_region(struct cloner *cloner, const struct tn_block *from,
			 struct tn_op *op)
{
	struct tn_block *block = tn_graph_block(cloner->fn, op);
	int i;

	if (!block)
		return false;
	for (i = 0; i < from->nparams; i++) {
		struct tn_value *param =
			tn_graph_param(block, from->params[i]->name,
				       from->params[i]->type);

		if (!param || !clone_value(cloner, from->params[i], param))
			return false;
	}
	return clone_block(cloner, from, block, NULL);
}

static struct tn_op *clone_op(struct cloner *cloner, const struct tn_op *from)
{
	struct tn_value *few[16], **in = few;
	struct tn_op *op = NULL;
	int i;

	if (from->nin > 16)
		in = malloc((size_t)from->nin * sizeof(*in));
	for (i = 0; in && i < from->nin; i++)
		in[i] = mapped(cloner, from->in[i].value);
	if (in)
		op = tn_graph_op(cloner->fn, from->code, from->nin, in,
				 from->nout, from->span);
	if (in != few)
		free(in);
	if (!op || !clone_attrs(cloner, from, op))
		return NULL;
	op->callee = from->callee;
	op->kernel = from->kernel;
	op->literal = from->literal;
	op->annots = from->annots;
	op->origin = cloner->rw->pass ? cloner->rw->pass : from->origin;
	return op;
}

static bool clone_into(struct cloner *cloner, const struct tn_op *from,
		       struct tn_block *to, struct tn_op *before)
{
	struct tn_op *op;
	int i;

	if (!fresh_syms(cloner, from))
		return false;
	op = clone_op(cloner, from);
	if (!op)
		return false;
	for (i = 0; i < op->nout; i++)
		if (!clone_value(cloner, from->out[i], op->out[i]))
			return false;
	tn_graph_insert(to, op, before);
	for (i = 0; i < from->nregions; i++)
		if (!clone_region(cloner, from->regions[i], op))
			return false;
	return true;
}

static bool clone_block(struct cloner *cloner, const struct tn_block *from,
			struct tn_block *to, struct tn_op *before)
{
	const struct tn_op *op, *last = from->last;

	for (op = from->first; op; op = op == last ? NULL : op->next)
		if (!clone_into(cloner, op, to, before))
			return false;
	return true;
}

static bool sets_dims(const struct tn_block *block)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		if (tn_ops[op->code].flags & TN_FLAG_SIZES)
			return true;
		for (i = 0; i < op->nregions; i++)
			if (sets_dims(op->regions[i]))
				return true;
	}
	return false;
}

bool tn_rw_clone(struct tn_rw *rw, const struct tn_block *from,
		 struct tn_block *block, struct tn_op *before,
		 struct tn_map *map, const struct tn_dim *const *dims)
{
	struct cloner cloner = {.rw = rw, .fn = block->fn, .map = map};
	size_t nsyms = (size_t)rw->module->dims.nsyms;
	bool done;

	if (dims || sets_dims(from)) {
		cloner.dims = calloc(nsyms + 1, sizeof(*cloner.dims));
		if (cloner.dims && dims)
			memcpy(cloner.dims, dims,
			       nsyms * sizeof(*cloner.dims));
		cloner.ndims = (int)nsyms;
	}
	done = (cloner.dims || !cloner.ndims) &&
	       clone_block(&cloner, from, block, before);
	if (!done)
		rw->failed = true;
	free(cloner.dims);
	return done;
}

/* ---- Calls ------------------------------------------------------------ */

bool tn_rw_open(struct tn_rw *rw, struct tn_op *call,
		const struct tn_dim *const *dims)
{
	const struct tn_block *body = call->callee->body;
	struct tn_map map;
	bool good = true;
	int i;

	tn_map_init_ptr(&map);
	for (i = 0; good && i < body->nparams; i++)
		good = tn_map_set(&map, body->params[i], tn_graph_in(call, i));
	good = good && tn_rw_clone(rw, body, call->block, call, &map, dims);
	tn_map_fini(&map);
	if (!good)
		rw->failed = true;
	return good;
}

bool tn_rw_close(struct tn_rw *rw, struct tn_op *call)
{
	struct tn_op *ret = call->prev;
	struct tn_value **with;
	int i;

	with = tn_arena_array(&rw->module->arena, (size_t)ret->nin + 1,
			      sizeof(*with));
	if (!with) {
		rw->failed = true;
		return false;
	}
	for (i = 0; i < ret->nin; i++)
		with[i] = tn_graph_in(ret, i);
	tn_rw_erase(rw, ret);
	tn_rw_replace(rw, call, with);
	return !rw->failed;
}
