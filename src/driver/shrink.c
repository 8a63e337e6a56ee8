/*
 * The changes that reduction tries. None of them keeps the meaning; each makes
 * the text shorter or its numbers smaller, and what no longer checks is thrown
 * away by who tries it.
 */
#include "driver/shrink.h"

#include <string.h>

#include "driver/target.h"
#include "ir/builder.h"
#include "ir/graph_edit.h"
#include "ir/infer.h"

/* Elements of a constant that may take the place of a value. */
#define CONST_LIMIT 64

/* ---- Walking ------------------------------------------------------------- */

/* Counts down to a value or an op, in order of the text. */
struct finder {
	int left;
	struct tn_op *op;
	struct tn_value *value;
};

static bool count_op(void *data, struct tn_op *op)
{
	struct finder *f = data;

	if (f->left-- > 0)
		return true;
	f->op = op;
	return false;
}

static bool count_value(void *data, struct tn_op *op)
{
	struct finder *f = data;

	if (f->left >= op->nout) {
		f->left -= op->nout;
		return true;
	}
	f->value = op->out[f->left];
	return false;
}

static struct tn_op *nth_op(struct tn_fn *fn, int number)
{
	struct finder f = { .left = number };

	tn_pass_walk(fn->body, count_op, &f);
	return f.op;
}

/* The n-th result of an op, from the first on; */
static struct tn_value *nth_value(struct tn_fn *fn, int number)
{
	struct finder f = { .left = number };

	tn_pass_walk(fn->body, count_value, &f);
	return f.value;
}

static bool add_values(void *data, struct tn_op *op)
{
	*(int *)data += op->nout;
	return true;
}

/* or from the last. */
static struct tn_value *nth_last_value(struct tn_fn *fn, int number)
{
	int count = 0;

	tn_pass_walk(fn->body, add_values, &count);
	return number < count ? nth_value(fn, count - 1 - number) : NULL;
}

/* ---- Settling ------------------------------------------------------------ */

static void drop_unread(struct tn_block *block)
{
	struct tn_op *op, *prev;
	bool read;
	int i;

	for (op = block->last; op; op = prev) {
		prev = op->prev;
		read = op->nout == 0;
		for (i = 0; i < op->nout; i++)
			read |= op->out[i]->uses != NULL;
		if (!read) {
			tn_graph_remove(op);
			continue;
		}
		for (i = 0; i < op->nregions; i++)
			drop_unread(op->regions[i]);
	}
}

void tn_shrink_settle(struct tn_fn *entry)
{
	struct tn_op *end;
	int i;

	drop_unread(entry->body);
	(void)tn_infer_fn(entry);
	end = entry->body->last;
	if (!end || end->code != TN_OP_return)
		return;
	entry->nresults = end->nin;
	for (i = 0; i < end->nin; i++)
		entry->result_types[i] = tn_graph_in(end, i)->type;
	tn_vec_fini(&entry->guards);
	tn_vec_init(&entry->guards, sizeof(struct tn_guard), NULL);
}

/* ---- Items --------------------------------------------------------------- */

static enum tn_shrink drop_item(struct tenon_module *module,
				struct tn_fn *entry, int number)
{
	struct tn_vec *items = &module->ir->items;
	const struct tn_item *item;
	size_t at, i;

	if ((size_t)number >= items->len)
		return TN_SHRINK_END;
	at = items->len - 1 - (size_t)number;
	item = tn_vec_ptr(items, at);
	if (item->kind == TN_ITEM_FN && item->u.fn == entry)
		return TN_SHRINK_NOTHING;
	for (i = at; i + 1 < items->len; i++)
		((void **)items->data)[i] = ((void **)items->data)[i + 1];
	tn_vec_pop(items);
	return TN_SHRINK_DONE;
}

static enum tn_shrink inline_calls(struct tenon_module *module,
				   struct tn_fn *entry, int number)
{
	struct tn_pass_options options = { .entry = entry, .fuel = -1 };
	struct tn_target target;

	if (number > 0)
		return TN_SHRINK_END;
	if (tn_target_pick(module->context, &target))
		return TN_SHRINK_NOTHING;
	options.target = &target;
	return tn_pipeline_run(module->ir, "infer,inline", &options) ?
		TN_SHRINK_NOTHING : TN_SHRINK_DONE;
}

/* ---- Results ------------------------------------------------------------- */

/* A new `return` of these values in place of the old one. */
static enum tn_shrink give_back(struct tn_fn *entry, int count,
				struct tn_value *const *values)
{
	struct tn_op *old = entry->body->last, *op;
	int i;

	op = tn_graph_op(entry, TN_OP_return, count, values, 0, old->span);
	if (!op)
		return TN_SHRINK_NOTHING;
	for (i = 0; i < count; i++)
		entry->result_types[i] = values[i]->type;
	entry->nresults = count;
	tn_graph_remove(old);
	tn_graph_insert(entry->body, op, NULL);
	return TN_SHRINK_DONE;
}

/* One value of the function's own block is all that it gives: the earliest
 * that will do. */
static enum tn_shrink give_early(struct tenon_module *module,
				 struct tn_fn *entry, int number)
{
	struct tn_value *value = nth_value(entry, number);
	const struct tn_op *end = entry->body->last;

	(void)module;
	if (!value)
		return TN_SHRINK_END;
	if (value->op->block != entry->body || end->nin == 0 ||
	    (end->nin == 1 && tn_graph_in(end, 0) == value))
		return TN_SHRINK_NOTHING;
	entry->result_names[0] = NULL;
	return give_back(entry, 1, &value);
}

static enum tn_shrink drop_result(struct tenon_module *module,
				  struct tn_fn *entry, int number)
{
	const struct tn_op *end = entry->body->last;
	struct tn_value *kept[64];
	int i, n = 0;

	(void)module;
	if (number >= end->nin)
		return TN_SHRINK_END;
	if (end->nin < 2 || end->nin > 64)
		return TN_SHRINK_NOTHING;
	for (i = 0; i < end->nin; i++) {
		if (i == number)
			continue;
		entry->result_names[n] = entry->result_names[i];
		kept[n++] = tn_graph_in(end, i);
	}
	return give_back(entry, n, kept);
}

/* ---- Values -------------------------------------------------------------- */

/* A value comes from outside instead: what made it is not needed. */
static enum tn_shrink make_param(struct tenon_module *module,
				 struct tn_fn *entry, int number)
{
	struct tn_value *value = nth_last_value(entry, number), *param;

	(void)module;
	if (!value)
		return TN_SHRINK_END;
	if (!value->uses || (value->op->nin == 0 && !value->op->nregions))
		return TN_SHRINK_NOTHING;
	param = tn_graph_param(entry->body, NULL, value->type);
	if (!param || !tn_graph_name(entry, param, "p"))
		return TN_SHRINK_NOTHING;
	tn_graph_replace_uses(value, param);
	return TN_SHRINK_DONE;
}

/* Number 8 * v + k: value v is its operand k. */
static enum tn_shrink take_operand(struct tenon_module *module,
				   struct tn_fn *entry, int number)
{
	struct tn_value *value = nth_last_value(entry, number / 8), *other;
	int k = number % 8;

	(void)module;
	if (!value)
		return TN_SHRINK_END;
	if (!value->uses || k >= value->op->nin)
		return TN_SHRINK_NOTHING;
	other = tn_graph_in(value->op, k);
	if (other->type != value->type)
		return TN_SHRINK_NOTHING;
	tn_graph_replace_uses(value, other);
	return TN_SHRINK_DONE;
}

/* Of one value for all elements. */
static struct tn_value *constant(struct tn_fn *entry,
				 const struct tn_type *type)
{
	int64_t shape[TN_MAX_RANK], count, i;
	struct tn_builder builder;
	struct tn_value *made;
	struct tn_tensor one;

	if (!tn_type_is_static(type) || type->dtype >= TN_DTYPE_COUNT)
		return NULL;
	for (i = 0; i < type->rank; i++)
		shape[i] = type->dims[i]->value;
	if (!tn_tensor_init(&one, type->dtype, type->rank, shape))
		return NULL;
	count = tn_tensor_count(&one);
	for (i = 0; i < count && i < CONST_LIMIT; i++)
		tn_tensor_set_f64(&one, i, 1);
	tn_builder_init(&builder, entry->body);
	builder.before = entry->body->first;
	made = count <= CONST_LIMIT ?
		tn_build_const(&builder, &one, entry->span) : NULL;
	tn_tensor_fini(&one);
	return made;
}

static enum tn_shrink param_to_constant(struct tenon_module *module,
					struct tn_fn *entry, int number)
{
	struct tn_value *param, *made;

	(void)module;
	if (number >= entry->body->nparams)
		return TN_SHRINK_END;
	param = entry->body->params[number];
	made = param->uses ? constant(entry, param->type) : NULL;
	if (!made)
		return TN_SHRINK_NOTHING;
	tn_graph_replace_uses(param, made);
	return TN_SHRINK_DONE;
}

static enum tn_shrink drop_param(struct tenon_module *module,
				 struct tn_fn *entry, int number)
{
	struct tn_block *body = entry->body;
	int i;

	(void)module;
	if (number >= body->nparams)
		return TN_SHRINK_END;
	if (body->params[number]->uses)
		return TN_SHRINK_NOTHING;
	for (i = number; i + 1 < body->nparams; i++) {
		body->params[i] = body->params[i + 1];
		body->params[i]->index = i;
	}
	body->nparams--;
	return TN_SHRINK_DONE;
}

/* ---- Attributes ---------------------------------------------------------- */

/* Number 16 * op + k: attribute k of the op is not given. */
static enum tn_shrink drop_attr(struct tenon_module *module,
				struct tn_fn *entry, int number)
{
	struct tn_op *op = nth_op(entry, number / 16);
	int k = number % 16;

	(void)module;
	if (!op)
		return TN_SHRINK_END;
	if (k >= op->nattrs || !op->attrs[k].is_set ||
	    op->code == TN_OP_call || k >= tn_ops[op->code].nattrs ||
	    !tn_ops[op->code].attrs[k].fallback)
		return TN_SHRINK_NOTHING;
	op->attrs[k].is_set = false;
	return TN_SHRINK_DONE;
}

static enum tn_shrink drop_annots(struct tenon_module *module,
				  struct tn_fn *entry, int number)
{
	(void)module;
	if (number > 0)
		return TN_SHRINK_END;
	if (!entry->annots.count)
		return TN_SHRINK_NOTHING;
	entry->annots.count = 0;
	return TN_SHRINK_DONE;
}

/* ---- Sizes --------------------------------------------------------------- */

/* What a change of sizes does to one dim. */
struct resize {
	struct tn_module *ir;
	const struct tn_dim **syms;	/* by symbol, or NULL: */
	int64_t from, to;		/* of a constant */
};

static const struct tn_dim *resized(const struct resize *r,
				    const struct tn_dim *dim)
{
	if (!dim)
		return dim;
	if (r->syms)
		return tn_dim_subst(&r->ir->dims, dim, r->syms);
	return tn_dim_is(dim, r->from) ? tn_dim_const(&r->ir->dims, r->to) :
		dim;
}

static void resize_attr(const struct resize *r, struct tn_attr *attr)
{
	const struct tn_dim **dims;
	int i;

	if (attr->is_set && attr->kind == TN_ATTR_DIM)
		attr->u.dim = resized(r, attr->u.dim);
	if (!attr->is_set ||
	    (attr->kind != TN_ATTR_DIMS && attr->kind != TN_ATTR_PAIRS))
		return;
	dims = tn_arena_array(&r->ir->arena, (size_t)attr->count + 1,
			      sizeof(*dims));
	if (!dims)
		return;
	for (i = 0; i < attr->count; i++)
		dims[i] = resized(r, attr->u.dims[i]);
	attr->u.dims = dims;
}

static bool resize_op(void *data, struct tn_op *op)
{
	const struct resize *r = data;
	int i;

	for (i = 0; i < op->nattrs; i++)
		resize_attr(r, &op->attrs[i]);
	return true;
}

static void resize_all(const struct resize *r, struct tn_fn *entry)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	int i, k;

	for (i = 0; i < entry->body->nparams; i++) {
		struct tn_value *param = entry->body->params[i];

		for (k = 0; k < param->type->rank; k++)
			dims[k] = resized(r, param->type->dims[k]);
		param->type = tn_type_get(r->ir, param->type->dtype,
					  param->type->rank, dims);
	}
	tn_pass_walk(entry->body, resize_op, (void *)(uintptr_t)r);
}

/* Number 3 * symbol + k: it is the least it may be, 1 or 2. */
static enum tn_shrink fix_dim(struct tenon_module *module,
			      struct tn_fn *entry, int number)
{
	struct tn_module *ir = module->ir;
	struct resize r = { .ir = ir };
	const struct tn_sym *sym;
	int64_t to;

	if ((size_t)number / 3 >= ir->dims.syms.len)
		return TN_SHRINK_END;
	sym = ((const struct tn_dim *)
	       tn_vec_ptr(&ir->dims.syms, (size_t)number / 3))->sym;
	to = number % 3 ? number % 3 : sym->lo;
	if (sym->is_runtime || to < sym->lo || to > sym->hi ||
	    (sym->mod > 1 && to % sym->mod))
		return TN_SHRINK_NOTHING;
	r.syms = tn_arena_array(&ir->arena, ir->dims.syms.len + 1,
				sizeof(*r.syms));
	if (!r.syms)
		return TN_SHRINK_NOTHING;
	r.syms[sym->number] = tn_dim_const(&ir->dims, to);
	resize_all(&r, entry);
	return TN_SHRINK_DONE;
}

/* The n-th constant size above 1 of the parameters. */
static int64_t nth_size(const struct tn_fn *entry, int number)
{
	const struct tn_type *type;
	int i, k;

	for (i = 0; i < entry->body->nparams; i++) {
		type = entry->body->params[i]->type;
		for (k = 0; k < type->rank; k++)
			if (tn_dim_is_const(type->dims[k]) &&
			    type->dims[k]->value > 1 && number-- == 0)
				return type->dims[k]->value;
	}
	return -1;
}

/* Number 4 * size + k: everywhere 1, 2, 3, or half of it. */
static enum tn_shrink shrink_size(struct tenon_module *module,
				  struct tn_fn *entry, int number)
{
	struct resize r = { .ir = module->ir,
			    .from = nth_size(entry, number / 4) };

	if (r.from < 0)
		return TN_SHRINK_END;
	r.to = number % 4 == 3 ? r.from / 2 : number % 4 + 1;
	if (r.to >= r.from)
		return TN_SHRINK_NOTHING;
	resize_all(&r, entry);
	return TN_SHRINK_DONE;
}

/* The same of one parameter's axes alone. Number 4 * size + k. */
static enum tn_shrink shrink_axis(struct tenon_module *module,
				  struct tn_fn *entry, int number)
{
	int left = number / 4, i, k, m;

	for (i = 0; i < entry->body->nparams; i++) {
		struct tn_value *param = entry->body->params[i];
		const struct tn_dim *dims[TN_MAX_RANK];
		int64_t from, to;

		for (k = 0; k < param->type->rank; k++) {
			if (!tn_dim_is_const(param->type->dims[k]) ||
			    param->type->dims[k]->value < 2 || left-- > 0)
				continue;
			from = param->type->dims[k]->value;
			to = number % 4 == 3 ? from / 2 : number % 4 + 1;
			if (to >= from)
				return TN_SHRINK_NOTHING;
			for (m = 0; m < param->type->rank; m++)
				dims[m] = param->type->dims[m];
			dims[k] = tn_dim_const(&module->ir->dims, to);
			param->type = tn_type_get(module->ir,
						  param->type->dtype,
						  param->type->rank, dims);
			return TN_SHRINK_DONE;
		}
	}
	return TN_SHRINK_END;
}

const struct tn_shrink_way tn_shrink_ways[] = {
	{ "give an early value", give_early },
	{ "drop an item", drop_item },
	{ "drop a result", drop_result },
	{ "inline", inline_calls },
	{ "value to parameter", make_param },
	{ "value to operand", take_operand },
	{ "drop a parameter", drop_param },
	{ "fix a dim", fix_dim },
	{ "smaller size", shrink_size },
	{ "smaller axis", shrink_axis },
	{ "drop an attribute", drop_attr },
	{ "drop annotations", drop_annots },
	{ "parameter to constant", param_to_constant }
};
const int tn_shrink_nways = (int)(sizeof(tn_shrink_ways) /
				  sizeof(*tn_shrink_ways));
