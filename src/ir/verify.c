/*
 * The verifier. All faults are collected, one line each:
 *
 *   mlp: h: f32[B, 4] = relu(x);: operand 0 is not defined before its use
 *
 * Values get numbers in the order of their definition and lose them at the end
 * of their block; a use is right if its value has one. Each use is compared
 * with its neighbours, so the whole is linear. The rules of the single stages
 * are in verify_props.c.
 */
#include "ir/verify.h"

#include <string.h>

#include "ir/kernel.h"
#include "ir/print.h"
#include "ir/verify_inner.h"

void tn_verify_fault(struct tn_verify *v, const struct tn_op *op,
		     const char *format, ...)
{
	va_list args;

	v->good = false;
	if (v->fn)
		tn_buf_putf(v->faults, "%s: ", v->fn->name);
	if (op) {
		tn_print_op_line(v->faults, op);
		tn_buf_put(v->faults, ": ");
	}
	va_start(args, format);
	tn_buf_vputf(v->faults, format, args);
	va_end(args);
	tn_buf_putc(v->faults, '\n');
}

/* Number of a defined value, in order of definition from 1; else 0. */
static int64_t number_of(const struct tn_verify *v,
			 const struct tn_value *value)
{
	return (int64_t)(intptr_t)tn_map_find(&v->numbers, value);
}

/* ---- Values ---------------------------------------------------------- */

static void check_uses(struct tn_verify *v, const struct tn_value *value)
{
	const struct tn_use *use = value->uses;

	if (use && use->prev)
		tn_verify_fault(v, use->op, "first use of '%s' is linked to "
				"another", value->name ? value->name : "?");
}

static void define(struct tn_verify *v, const struct tn_op *op,
		   const struct tn_value *value)
{
	const char *name = value->name;

	if (!tn_map_set(&v->numbers, value, (void *)(intptr_t)++v->count))
		v->failed = true;
	check_uses(v, value);
	if (!name) {
		tn_verify_fault(v, op, "a value has no name");
		name = "?";
	} else if (tn_map_find(&v->names, name)) {
		tn_verify_fault(v, op, "the name '%s' is given twice", name);
	} else if (!tn_map_set(&v->names, name, v)) {
		v->failed = true;
	}
	if (!value->type)
		tn_verify_fault(v, op, "'%s' has no type", name);
	else if ((v->props & TN_PROP_TYPED) && tn_type_is_poison(value->type))
		tn_verify_fault(v, op, "'%s' has failed to check", name);
	else if (value->layout)
		tn_verify_layout(v, op, value);
}

static void forget(struct tn_verify *v, const struct tn_value *value)
{
	if (!tn_map_set(&v->numbers, value, NULL))
		v->failed = true;
}

static void check_operand(struct tn_verify *v, const struct tn_op *op, int i)
{
	const struct tn_use *use = &op->in[i];
	bool linked;

	if (!use->value) {
		tn_verify_fault(v, op, "operand %d is missing", i);
		return;
	}
	linked = use->prev ? use->prev->next == use : use->value->uses == use;
	if (use->next)
		linked = linked && use->next->prev == use;
	if (!linked || use->op != op || use->index != i)
		tn_verify_fault(v, op, "operand %d is not among the uses of "
				"its value", i);
	if (!number_of(v, use->value) &&
	    !tn_map_has(&v->weights, use->value))
		tn_verify_fault(v, op, "operand %d is not defined before its "
				"use", i);
}

/* ---- Operators ------------------------------------------------------- */

static bool is_terminator(const struct tn_op *op)
{
	return op->code == TN_OP_yield || op->code == TN_OP_return;
}

static void check_row(struct tn_verify *v, const struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	int i;

	if (op->nin < info->nin_min ||
	    (info->nin_max >= 0 && op->nin > info->nin_max))
		tn_verify_fault(v, op, "%d operands", op->nin);
	if (info->nout >= 0 && op->nout != info->nout)
		tn_verify_fault(v, op, "%d results", op->nout);
	if (op->code == TN_OP_call || op->code == TN_OP_launch)
		return;
	if (op->nattrs != info->nattrs) {
		tn_verify_fault(v, op, "%d attributes", op->nattrs);
		return;
	}
	for (i = 0; i < op->nattrs; i++) {
		const struct tn_attr *attr = &op->attrs[i];

		if (!attr->name || strcmp(attr->name, info->attrs[i].name) != 0)
			tn_verify_fault(v, op, "attribute %d is not '%s'", i,
					info->attrs[i].name);
		else if (attr->is_set && attr->kind != info->attrs[i].kind)
			tn_verify_fault(v, op, "'%s' is of another kind",
					attr->name);
		else if (!attr->is_set && !info->attrs[i].fallback)
			tn_verify_fault(v, op, "'%s' is missing", attr->name);
	}
}

static void check_callee(struct tn_verify *v, const struct tn_op *op)
{
	if (op->code == TN_OP_const && !op->literal)
		tn_verify_fault(v, op, "no literal");
	if (op->code == TN_OP_launch && !op->kernel)
		tn_verify_fault(v, op, "no kernel");
	if (op->code != TN_OP_call)
		return;
	if (!op->callee || !op->callee->body) {
		tn_verify_fault(v, op, "no callee");
		return;
	}
	if (op->nin != op->callee->body->nparams)
		tn_verify_fault(v, op, "'%s' has %d parameters",
				op->callee->name, op->callee->body->nparams);
	if (op->nout != op->callee->nresults)
		tn_verify_fault(v, op, "'%s' has %d results", op->callee->name,
				op->callee->nresults);
}

/* What the region `number` of a flow op has: parameters and yielded values;
 * -1: the op has no such region. */
struct region_shape {
	int params, yields;
};

static struct region_shape region_shape(const struct tn_op *op, int number)
{
	const struct region_shape none = {-1, -1};
	const struct tn_attr *carries = tn_graph_attr(op, "carries");
	struct region_shape loop = {op->nin + 1, op->nin};

	switch ((int)op->code) {
	case TN_OP_if:
		return number < 2 ? (struct region_shape){0, op->nout} : none;
	case TN_OP_for:
		return number < 1 ? loop : none;
	case TN_OP_while:
		if (number == 0)
			return (struct region_shape){op->nin, 1};
		return number == 1 ? (struct region_shape){op->nin, op->nin} :
				     none;
	case TN_OP_scan:
		if (number > 0 || !carries || !carries->is_set)
			return none;
		return (struct region_shape){op->nin, op->nout};
	default:
		return none;
	}
}

static void check_region(struct tn_verify *v, const struct tn_op *op,
			 int number)
{
	struct region_shape shape = region_shape(op, number);
	const struct tn_block *block = op->regions[number];

	if (shape.params < 0) {
		tn_verify_fault(v, op, "region %d is one too many", number);
		return;
	}
	if (block->parent != op || block->fn != v->fn)
		tn_verify_fault(v, op, "region %d belongs elsewhere", number);
	if (block->nparams != shape.params)
		tn_verify_fault(v, op, "region %d has %d parameters instead "
				"of %d", number, block->nparams, shape.params);
	if (!block->last || block->last->code != TN_OP_yield)
		tn_verify_fault(v, op, "region %d does not end in yield",
				number);
	else if (block->last->nin != shape.yields)
		tn_verify_fault(v, op, "region %d yields %d values instead "
				"of %d", number, block->last->nin,
				shape.yields);
}

static void check_regions(struct tn_verify *v, const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nregions; i++)
		check_region(v, op, i);
	if (region_shape(op, op->nregions).params >= 0)
		tn_verify_fault(v, op, "a region is missing");
}

static void check_block(struct tn_verify *v, const struct tn_block *block);

static void check_op(struct tn_verify *v, const struct tn_op *op)
{
	int i;

	check_row(v, op);
	check_callee(v, op);
	for (i = 0; i < op->nin; i++)
		check_operand(v, op, i);
	check_regions(v, op);
	tn_verify_op_props(v, op);
	for (i = 0; i < op->nregions; i++)
		check_block(v, op->regions[i]);
	for (i = 0; i < op->nout; i++) {
		if (op->out[i]->op != op || op->out[i]->index != i ||
		    op->out[i]->block)
			tn_verify_fault(v, op, "result %d is of another op", i);
		define(v, op, op->out[i]);
	}
}

/* ---- Blocks, functions, modules -------------------------------------- */

static bool check_links(struct tn_verify *v, const struct tn_block *block,
			const struct tn_op *op)
{
	bool ok = op->block == block;

	ok = ok && (op->prev ? op->prev->next == op : block->first == op);
	ok = ok && (op->next ? op->next->prev == op : block->last == op);
	if (!ok)
		tn_verify_fault(v, op, "is not linked into its block");
	if (is_terminator(op) != (op->next == NULL))
		tn_verify_fault(v, op, op->next ? "stands before the end of "
				"its block" : "does not end its block");
	if (op->code == TN_OP_return && block->parent)
		tn_verify_fault(v, op, "returns from a region");
	return ok;
}

static void check_block(struct tn_verify *v, const struct tn_block *block)
{
	const struct tn_op *op;
	int i;

	for (i = 0; i < block->nparams; i++) {
		const struct tn_value *param = block->params[i];

		if (param->block != block || param->index != i || param->op)
			tn_verify_fault(v, block->parent, "parameter %d is of "
					"another block", i);
		define(v, block->parent, param);
	}
	for (op = block->first; op; op = op->next) {
		if (!check_links(v, block, op))
			return;
		check_op(v, op);
	}
	for (op = block->first; op; op = op->next)
		for (i = 0; i < op->nout; i++)
			forget(v, op->out[i]);
	for (i = 0; i < block->nparams; i++)
		forget(v, block->params[i]);
}

static void check_results(struct tn_verify *v)
{
	const struct tn_op *last = v->fn->body->last;
	int i;

	if (!last || last->code != TN_OP_return) {
		tn_verify_fault(v, NULL, "the body does not end in return");
		return;
	}
	if (last->nin != v->fn->nresults) {
		tn_verify_fault(v, last, "the function has %d results",
				v->fn->nresults);
		return;
	}
	for (i = 0; i < last->nin; i++) {
		const struct tn_type *type = tn_graph_in(last, i)->type;

		if ((v->props & TN_PROP_TYPED) &&
		    type != v->fn->result_types[i])
			tn_verify_fault(v, last, "result %d has another type "
					"than declared", i);
	}
}

static void check_fn(struct tn_verify *v, const struct tn_fn *fn)
{
	v->fn = fn;
	v->count = 0;
	tn_map_init_ptr(&v->numbers);
	tn_map_init_text(&v->names);
	if (fn->body) {
		check_block(v, fn->body);
		check_results(v);
	} else {
		tn_verify_fault(v, NULL, "no body");
	}
	tn_map_fini(&v->numbers);
	tn_map_fini(&v->names);
	v->fn = NULL;
}

/* A no without a line is a want of memory. */
static void check_kernels(struct tn_verify *v, const struct tn_module *module)
{
	size_t i, before;

	for (i = 0; i < module->kernels.len; i++) {
		before = v->faults->len;
		if (tn_kernel_verify(tn_vec_ptr(&module->kernels, i),
				     v->faults))
			continue;
		v->good = false;
		v->failed = v->failed || v->faults->len == before;
	}
}

static void add_weights(struct tn_verify *v, const struct tn_module *module)
{
	const struct tn_weight *weight;
	size_t i;

	for (i = 0; i < module->weights.len; i++) {
		weight = tn_vec_ptr(&module->weights, i);
		if (weight->value && !tn_map_set(&v->weights, weight->value, v))
			v->failed = true;
	}
}

/* The functions that the later properties speak of: the entry, or without one
 * what the user wrote. */
static void add_live(struct tn_verify *v, const struct tn_module *module,
		     const struct tn_fn *entry)
{
	const struct tn_item *item;
	size_t i;

	if (entry && !tn_map_set(&v->live, entry, v))
		v->failed = true;
	for (i = 0; i < module->items.len && !entry; i++) {
		item = tn_vec_ptr(&module->items, i);
		if (item->kind == TN_ITEM_FN &&
		    tn_module_may_enter(item->u.fn) &&
		    !tn_map_set(&v->live, item->u.fn, v))
			v->failed = true;
	}
}

/* Places are checked last: that walk believes in the structure. */
static void check_places(struct tn_verify *v, const struct tn_module *module)
{
	const struct tn_fn *fn;
	size_t i, before = v->faults->len;

	if (!(v->props & TN_PROP_PLACED) || !v->good)
		return;
	for (i = 0; i < module->fns.len; i++) {
		fn = tn_vec_ptr(&module->fns, i);
		if (!tn_map_has(&v->live, fn) ||
		    tn_verify_placed(fn, v->faults))
			continue;
		v->good = false;
		v->failed = v->failed || v->faults->len == before;
	}
}

/* A derived weight is what its maker gives for weights before it. */
static void check_derived(struct tn_verify *v, const struct tn_weight *weight)
{
	const struct tn_fn *maker = weight->maker;
	bool good;
	int i;

	if (!maker)
		return;
	v->fn = maker;
	good = maker->body && maker->makes_weight && maker->nresults == 1 &&
		maker->body->nparams == weight->nsources &&
		maker->result_types[0] == weight->type;
	for (i = 0; good && i < weight->nsources; i++)
		good = weight->sources[i]->number < weight->number &&
			weight->sources[i]->type ==
			maker->body->params[i]->type;
	if (!good)
		tn_verify_fault(v, NULL, "does not make weight '%s'",
				weight->name);
	v->fn = NULL;
}

static void check_module(struct tn_verify *v, const struct tn_module *module)
{
	size_t i;

	for (i = 0; i < module->weights.len; i++)
		check_derived(v, tn_vec_ptr(&module->weights, i));
	for (i = 0; i < module->fns.len; i++)
		check_fn(v, tn_vec_ptr(&module->fns, i));
	check_kernels(v, module);
	check_places(v, module);
}

enum tn_status tn_verify_entry(const struct tn_module *module,
			       const struct tn_fn *entry, unsigned props,
			       struct tn_buf *faults)
{
	struct tn_verify v = {.props = props, .faults = faults, .good = true};

	tn_map_init_ptr(&v.weights);
	tn_map_init_ptr(&v.live);
	add_weights(&v, module);
	add_live(&v, module, entry);
	check_module(&v, module);
	tn_map_fini(&v.weights);
	tn_map_fini(&v.live);
	if (v.failed || module->failed || faults->failed)
		return TN_IO;
	return v.good ? TN_OK : TN_BUG;
}

bool tn_verify_module(const struct tn_module *module, unsigned props,
		      struct tn_buf *faults)
{
	return tn_verify_entry(module, NULL, props, faults) == TN_OK;
}
