/*
 * What the properties of a module promise of each operator; PLACED, which
 * speaks of whole functions, is verify_placed.c. All but TYPED and FUSED speak
 * of the entry, or of the plain functions among the items: what the passes have
 * not reached (library, instances) is left alone.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/infer.h"
#include "ir/kernel.h"
#include "ir/layout.h"
#include "ir/verify_inner.h"
#include "ir/view.h"

/* ---- TYPED: types are those that inference gives --------------------- */

/* Infers again with reports going to a sink of its own. */
static void infer_again(struct tn_verify *v, struct tn_op *op,
			const struct tn_type **types)
{
	struct tn_module *module = v->fn->module;
	struct tn_sink *sink = module->sink, scratch;
	int i;

	tn_sink_init(&scratch);
	module->sink = &scratch;
	for (i = 0; i < op->nout; i++)
		types[i] = op->out[i]->type;
	if (!tn_infer_op(op))
		tn_verify_fault(v, op, "does not check: %s", scratch.diags.len ?
				((struct tn_diag *)tn_vec_ptr(&scratch.diags,
							      0))->message :
				"no reason given");
	else
		for (i = 0; i < op->nout; i++)
			if (types[i] != op->out[i]->type)
				tn_verify_fault(v, op, "inference gives '%s' "
						"another type",
						op->out[i]->name);
	for (i = 0; i < op->nout; i++)
		op->out[i]->type = types[i];
	module->sink = sink;
	tn_sink_fini(&scratch);
}

static bool has_types(const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nin; i++)
		if (!tn_graph_in(op, i) || !tn_graph_in(op, i)->type ||
		    tn_type_is_poison(tn_graph_in(op, i)->type))
			return false;
	for (i = 0; i < op->nout; i++)
		if (!op->out[i]->type || tn_type_is_poison(op->out[i]->type))
			return false;
	return true;
}

/* The kind of ops whose row tells all: regions and calls are checked by the
 * structure, launches by their kernels. */
static bool is_inferred(const struct tn_op *op)
{
	return tn_ops[op->code].op_class != TN_CLASS_FLOW;
}

static void check_typed(struct tn_verify *v, const struct tn_op *op)
{
	const struct tn_type *few[16], **types = few;

	if (!is_inferred(op) || !has_types(op))
		return;
	if (op->nout > 16)
		types = malloc((size_t)op->nout * sizeof(*types));
	if (!types) {
		v->failed = true;
		return;
	}
	infer_again(v, (struct tn_op *)(uintptr_t)op, types);
	if (types != few)
		free(types);
}

/* ---- The later stages ------------------------------------------------ */

static void check_flat(struct tn_verify *v, const struct tn_op *op)
{
	if (op->code == TN_OP_call && op->callee &&
	    op->callee->kind == TN_FN_PLAIN)
		tn_verify_fault(v, op, "calls the function '%s' (flat)",
				op->callee->name);
}

static void check_core(struct tn_verify *v, const struct tn_op *op)
{
	if (op->code == TN_OP_call && op->callee &&
	    op->callee->kind == TN_FN_INSTANCE)
		tn_verify_fault(v, op, "'%s' is not a primitive (core)",
				op->callee->name);
}

static bool is_const(const struct tn_value *value)
{
	return value->op && value->op->code == TN_OP_const;
}

static void check_canonical(struct tn_verify *v, const struct tn_op *op)
{
	if (!(tn_ops[op->code].flags & TN_FLAG_COMMUTES) || op->nin != 2)
		return;
	if (is_const(tn_graph_in(op, 0)) && !is_const(tn_graph_in(op, 1)))
		tn_verify_fault(v, op, "a constant comes before the other "
				"operand (canonical)");
}

static void check_fused(struct tn_verify *v, const struct tn_op *op)
{
	if (v->fn->kind != TN_FN_FUSED || op->code == TN_OP_return)
		return;
	if (tn_ops[op->code].op_class == TN_CLASS_FLOW)
		tn_verify_fault(v, op, "control flow in a fused function "
				"(fused)");
}

/* What may stand beside launches: constants, views, flow,
 * concatenations of parts that lie in them. */
static void check_kernels(struct tn_verify *v, const struct tn_op *op)
{
	int64_t offset;

	if (op->code == TN_OP_const || tn_view_of(op, &offset) ||
	    tn_view_is_joined(op))
		return;
	if (tn_ops[op->code].op_class != TN_CLASS_FLOW ||
	    op->code == TN_OP_call)
		tn_verify_fault(v, op, "is not a launch (kernels)");
}

/* ---- Layouts --------------------------------------------------------- */

void tn_verify_layout(struct tn_verify *v, const struct tn_op *op,
		      const struct tn_value *value)
{
	const char *why;

	if (!value->layout || !value->type || tn_type_is_poison(value->type))
		return;
	why = tn_layout_misfit(v->fn->module, value->layout, value->type);
	if (why)
		tn_verify_fault(v, op, "'%s' has a layout, but %s",
				value->name, why);
}

static void check_buffer(struct tn_verify *v, const struct tn_op *op,
			 const struct tn_value *value,
			 const struct tn_kbuf *buf)
{
	if (tn_type_is_poison(value->type))
		return;
	if (tn_kbuf_value_type(v->fn->module, buf) != value->type)
		tn_verify_fault(v, op, "'%s' has another type than '%s' of "
				"the kernel", value->name, buf->name);
	else if (!tn_layout_same(value->type, value->layout, buf->layout))
		tn_verify_fault(v, op, "'%s' lies otherwise than '%s' of the "
				"kernel (kernels)", value->name, buf->name);
}

static void check_launch(struct tn_verify *v, const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	int i, in = 0, out = 0;

	for (i = 0; kernel && i < kernel->nparams; i++) {
		const struct tn_kbuf *buf = kernel->params[i];

		if (buf->role != TN_KBUF_OUT && in < op->nin)
			check_buffer(v, op, tn_graph_in(op, in++), buf);
		if (buf->role != TN_KBUF_IN && out < op->nout)
			check_buffer(v, op, op->out[out++], buf);
	}
}

static bool is_row_major(const struct tn_value *value)
{
	return tn_layout_same(value->type, value->layout, NULL);
}

/* What flow copies as bytes is row-major on both sides, or as the function says
 * that it hands it out. */
static void check_bytes(struct tn_verify *v, const struct tn_op *op)
{
	int i, k;

	for (i = 0; i < op->nin; i++) {
		const struct tn_value *value = tn_graph_in(op, i);
		const struct tn_layout *layout = NULL;

		if (op->code == TN_OP_return && i < op->block->fn->nresults)
			layout = tn_fn_result_layout(op->block->fn, i);
		if (!tn_layout_same(value->type, value->layout, layout))
			tn_verify_fault(v, op, "'%s' is handed on in another "
					"layout (kernels)", value->name);
	}
	for (i = 0; i < op->nout; i++)
		if (!is_row_major(op->out[i]))
			tn_verify_fault(v, op, "'%s' of control flow has a "
					"layout (kernels)", op->out[i]->name);
	for (k = 0; k < op->nregions; k++)
		for (i = 0; i < op->regions[k]->nparams; i++)
			if (!is_row_major(op->regions[k]->params[i]))
				tn_verify_fault(v, op, "a parameter of region "
						"%d has a layout (kernels)", k);
}

static void check_layouts(struct tn_verify *v, const struct tn_op *op)
{
	if (op->code == TN_OP_launch)
		check_launch(v, op);
	else if (tn_ops[op->code].op_class == TN_CLASS_FLOW &&
		 op->code != TN_OP_call)
		check_bytes(v, op);
}

void tn_verify_op_props(struct tn_verify *v, const struct tn_op *op)
{
	bool live = tn_map_has(&v->live, v->fn);

	if (v->props & TN_PROP_TYPED)
		check_typed(v, op);
	if (v->props & TN_PROP_FUSED)
		check_fused(v, op);
	if (!live)
		return;
	if (v->props & TN_PROP_FLAT)
		check_flat(v, op);
	if (v->props & TN_PROP_CORE)
		check_core(v, op);
	if (v->props & TN_PROP_CANONICAL)
		check_canonical(v, op);
	if (v->props & TN_PROP_KERNELS) {
		check_kernels(v, op);
		check_layouts(v, op);
	}
}
