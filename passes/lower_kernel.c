/*
 * One group to one kernel and its launch.
 *
 * In: an operator or a call of a function @fused. Out: a launch that takes
 * over its results, names and all, and a kernel, shared with equal groups.
 * Parameters are the values read, in the order in which the group reads them,
 * then the results. One-element constants and dims are no parameters.
 */
#include <stdio.h>
#include <string.h>

#include "ir/print.h"
#include "passes/lower.h"

static void clear_kernel(struct tn_lower *lw)
{
	tn_map_fini(&lw->bufs);
	tn_map_fini(&lw->actuals);
	tn_map_fini(&lw->taken);
	tn_map_fini(&lw->latest);
	tn_map_init_ptr(&lw->bufs);
	tn_map_init_ptr(&lw->actuals);
	tn_map_init_text(&lw->taken);
	tn_map_init_ptr(&lw->latest);
	lw->known.len = lw->scopes.len = lw->splits.len = 0;
	lw->operands.len = lw->results.len = 0;
	lw->op = NULL;
	lw->group = NULL;
	lw->unfit = false;
}

bool tn_lower_begin(struct tn_lower *lw, const char *fn, const char *name)
{
	char text[128];
	const char *unique;

	clear_kernel(lw);
	snprintf(text, sizeof(text), "%.60s__%.60s", fn, name);
	unique = tn_lower_kernel_name(lw, text);
	lw->kernel = unique ? tn_kernel_new(lw->module, unique) : NULL;
	if (!lw->kernel) {
		lw->failed = true;
		return false;
	}
	lw->block = &lw->kernel->body;
	return true;
}

static struct tn_kbuf *param_in(struct tn_lower *lw, struct tn_value *value,
				const struct tn_layout *layout,
				enum tn_kbuf_role role)
{
	const char *name = tn_lower_name(lw, value->name);
	const struct tn_type *type;
	struct tn_kbuf *buf = NULL;

	type = tn_layout_physical(lw->module, layout, value->type);
	if (name && type)
		buf = tn_kernel_param(lw->kernel, name, type->dtype,
				      type->rank, type->dims, role);
	if (buf)
		buf->layout = layout;
	if (!buf)
		lw->failed = true;
	else if (role != TN_KBUF_OUT &&
		 (!tn_map_set(&lw->bufs, value, buf) ||
		  !tn_vec_push_ptr(&lw->operands, value)))
		lw->failed = true;
	return buf;
}

struct tn_kbuf *tn_lower_param(struct tn_lower *lw, struct tn_value *value,
			       enum tn_kbuf_role role)
{
	return param_in(lw, value, value->layout, role);
}

/* The last kernel, which is the one under construction, is taken back. */
static void drop_kernel(struct tn_lower *lw)
{
	tn_vec_pop(&lw->module->kernels);
	lw->kernel = NULL;
}

/* Ends the kernel: it, or an equal one made before; NULL: failed. */
static struct tn_kernel *end_kernel(struct tn_lower *lw)
{
	struct tn_kernel *kernel = lw->kernel, *other;
	const void *key;

	if (lw->failed || lw->module->arena.failed) {
		lw->failed = true;
		return NULL;
	}
	key = (const void *)(uintptr_t)(tn_lower_hash(kernel) | 1);
	other = tn_map_find(&lw->kernels, key);
	if (other && tn_kernel_same(kernel, other)) {
		drop_kernel(lw);
		return other;
	}
	if (!other && !tn_map_set(&lw->kernels, key, kernel)) {
		lw->failed = true;
		return NULL;
	}
	return kernel;
}

struct tn_op *tn_lower_launch(struct tn_lower *lw, struct tn_block *block,
			      struct tn_op *before, struct tn_span span)
{
	struct tn_kernel *kernel = end_kernel(lw);
	struct tn_rw_spot spot = { block, before };
	struct tn_op *launch = NULL;

	if (kernel)
		launch = tn_rw_launch(lw->rw, &spot, kernel,
				      (int)lw->operands.len,
				      lw->operands.data, span);
	if (!launch)
		lw->failed = true;
	return launch;
}

static bool is_external(const struct tn_lower *lw,
			const struct tn_value *value)
{
	return !tn_lower_in_group(lw, value->op) &&
		!tn_lower_is_literal(value);
}

static void read_operands(struct tn_lower *lw, const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nin; i++) {
		struct tn_value *value = tn_graph_in(op, i);

		value = tn_lower_actual(lw, value);
		if (is_external(lw, value) && !tn_map_has(&lw->bufs, value))
			tn_lower_param(lw, value, TN_KBUF_IN);
	}
}

/* A larger constant inside a fused fn is copied out, to be a parameter. */
static void hoist_const(struct tn_lower *lw, struct tn_op *call,
			const struct tn_op *op)
{
	struct tn_builder builder;
	struct tn_value *value;

	if (tn_lower_is_literal(op->out[0]))
		return;
	tn_rw_before(lw->rw, call, &builder);
	value = tn_build_const(&builder, op->literal, op->span);
	if (!value || !tn_map_set(&lw->actuals, op->out[0], value))
		lw->failed = true;
}

static void add_result(struct tn_lower *lw, const struct tn_value *value,
		       struct tn_value *outer)
{
	struct tn_lower_result *result = tn_vec_push(&lw->results);
	struct tn_kbuf *buf = tn_lower_param(lw, outer, TN_KBUF_OUT);

	if (!result) {
		lw->failed = true;
		return;
	}
	result->value = value;
	result->buf = buf;
}

/* The group of a call: the callee's body, its parameters bound. */
static void open_fused(struct tn_lower *lw, struct tn_op *call)
{
	struct tn_block *body = call->callee->body;
	const struct tn_op *op;
	int i;

	lw->group = body;
	for (i = 0; i < call->nin; i++)
		if (!tn_map_set(&lw->actuals, body->params[i],
				tn_graph_in(call, i)))
			lw->failed = true;
	for (op = body->first; op && !lw->failed; op = op->next)
		if (op->literal)
			hoist_const(lw, call, op);
	for (op = body->first; op && !lw->failed; op = op->next)
		read_operands(lw, op);
	for (i = 0; i < call->nout; i++)
		add_result(lw, tn_graph_in(body->last, i), call->out[i]);
}

bool tn_lower_is_grid(const struct tn_lower *lw)
{
	return lw->target && lw->target->par == TN_PAR_GRID;
}

/* The data of a scatter, already copied, are updated in place. */
static void open_update(struct tn_lower *lw, struct tn_op *op)
{
	struct tn_lower_result *result = tn_vec_push(&lw->results);

	if (!result) {
		lw->failed = true;
		return;
	}
	result->value = op->out[0];
	result->buf = tn_lower_param(lw, tn_graph_in(op, 0), TN_KBUF_INOUT);
	read_operands(lw, op);
}

static void open_single(struct tn_lower *lw, struct tn_op *op)
{
	int i;

	if (tn_op_has(op->code, TN_FLAG_SCATTERS) && tn_lower_is_grid(lw)) {
		open_update(lw, op);
		return;
	}
	read_operands(lw, op);
	for (i = 0; i < op->nout; i++)
		add_result(lw, op->out[i], op->out[i]);
}

/* pad and concat alone are several nests, but one grid is one nest. */
static bool is_parts(const struct tn_lower *lw, const struct tn_op *op)
{
	return !lw->group && !tn_lower_is_grid(lw) &&
		tn_op_has(op->code, TN_FLAG_PARTS);
}

bool tn_lower_is_anchor(const struct tn_lower *lw, const struct tn_op *op)
{
	switch (tn_ops[op->code].op_class) {
	case TN_CLASS_REDUCE:
	case TN_CLASS_SCAN:
	case TN_CLASS_CONTRACT:
	case TN_CLASS_WINDOW:
	case TN_CLASS_ORDER:
		return true;
	case TN_CLASS_INDEX:
		return tn_op_has(op->code, TN_FLAG_SCATTERS);
	case TN_CLASS_MOVE:
		return is_parts(lw, op);
	case TN_CLASS_MAP:
	case TN_CLASS_SOURCE:
	case TN_CLASS_FLOW:
	case TN_CLASS_CUSTOM:
		break;
	}
	return false;
}

/* The nest of the anchor can store all results. */
static bool is_one_nest(const struct tn_lower *lw, const struct tn_op *anchor)
{
	const struct tn_lower_result *result = tn_vec_at(&lw->results, 0);

	return lw->results.len != 1 ||
		tn_lower_is_made_at(result->value, anchor->out[0]->type);
}

/* The nests of the group's anchors, of which there may be none. */
static void lower_anchors(struct tn_lower *lw)
{
	const struct tn_op *op, *anchor = NULL;
	int anchors = 0;

	if (!lw->group && tn_lower_is_anchor(lw, lw->op))
		tn_lower_anchor(lw, lw->op);
	for (op = lw->group ? lw->group->first : NULL; op; op = op->next) {
		if (!tn_lower_is_anchor(lw, op))
			continue;
		if (tn_lower_is_half_scatter(op)) {
			tn_lower_unfit(lw);
			return;
		}
		anchor = op;
		anchors++;
	}
	if (anchors == 1 && is_one_nest(lw, anchor))
		tn_lower_anchor(lw, anchor);
	else if (anchors)
		tn_lower_stages(lw);
}

void tn_lower_anchor(struct tn_lower *lw, const struct tn_op *op)
{
	switch (tn_ops[op->code].op_class) {
	case TN_CLASS_REDUCE:
		tn_lower_reduce(lw, op);
		break;
	case TN_CLASS_SCAN:
		tn_lower_scan(lw, op);
		break;
	case TN_CLASS_CONTRACT:
		tn_lower_contract(lw, op);
		break;
	case TN_CLASS_WINDOW:
		tn_lower_window(lw, op);
		break;
	case TN_CLASS_ORDER:
		tn_lower_order(lw, op);
		break;
	case TN_CLASS_INDEX:
		tn_lower_index(lw, op);
		break;
	case TN_CLASS_MOVE:
		tn_lower_move(lw, op);
		break;
	case TN_CLASS_MAP:
	case TN_CLASS_SOURCE:
	case TN_CLASS_FLOW:
	case TN_CLASS_CUSTOM:
		break;
	}
}

/* Canonical text of the group, for readers of what is emitted. */
static const char *comment_of(struct tn_lower *lw, const struct tn_op *op)
{
	struct tn_print_options options = { .alone = true };
	struct tn_buf text;
	const char *comment = NULL;

	tn_buf_init(&text);
	if (op->code == TN_OP_call)
		tn_print_fn(&text, op->callee, &options);
	else
		tn_print_op(&text, op, &options);
	while (text.len && text.data[text.len - 1] == '\n')
		text.len--;
	if (!text.failed)
		comment = tn_arena_strndup(&lw->module->arena,
					   tn_buf_text(&text), text.len);
	tn_buf_fini(&text);
	return comment;
}

/* What the fused fn may do beyond strict floats, its kernel may do too. */
static void inherit_licence(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_annot *fp;
	struct tn_annots *annots = &lw->kernel->annots;
	int i;

	fp = op->code == TN_OP_call
		? tn_annots_find(&op->callee->annots, "fp") : NULL;
	if (!fp || !fp->args)
		return;
	for (i = 0; i < annots->count; i++)
		if (strcmp(annots->list[i].name, "fp") == 0) {
			annots->list[i].args = tn_arena_printf(
				&lw->module->arena, "%s, %s",
				annots->list[i].args, fp->args);
			return;
		}
	if (!tn_annots_add(lw->module, annots, "fp", fp->args, op->span))
		lw->failed = true;
}

static const char *base_name(const struct tn_op *op)
{
	return op->nout ? op->out[0]->name : tn_ops[op->code].name;
}

/* One grid cannot copy and then update: a launch of its own copies. */
static bool copy_first(struct tn_lower *lw, struct tn_op *op)
{
	struct tn_value *copy;

	copy = tn_lower_copy(lw, tn_graph_in(op, 0), op->out[0]->layout, op);
	if (!copy)
		return false;
	tn_rw_set_operand(lw->rw, op, 0, copy);
	return true;
}

bool tn_lower_op(struct tn_lower *lw, struct tn_op *op)
{
	bool in_place = tn_op_has(op->code, TN_FLAG_SCATTERS) &&
		tn_lower_is_grid(lw);
	struct tn_op *launch;

	if (in_place && !copy_first(lw, op))
		return false;
	if (!tn_lower_begin(lw, op->block->fn->name, base_name(op)))
		return false;
	lw->op = op;
	if (op->code == TN_OP_call)
		open_fused(lw, op);
	else
		open_single(lw, op);
	if (!lw->failed)
		lower_anchors(lw);
	if (!lw->unfit && !lw->failed)
		tn_lower_map(lw);
	if (lw->unfit) {
		drop_kernel(lw);
		return !lw->failed;
	}
	inherit_licence(lw, op);
	lw->kernel->comment = comment_of(lw, op);
	lw->kernel->span = op->span;
	tn_rw_note(lw->rw, "kernel", op);
	launch = tn_lower_launch(lw, op->block, op, op->span);
	if (!launch)
		return false;
	tn_rw_move_results(lw->rw, op, launch);
	tn_rw_erase(lw->rw, op);
	return !in_place || tn_rw_annotate(lw->rw, launch, "inplace", "0, 0");
}

struct tn_value *tn_lower_copy(struct tn_lower *lw, struct tn_value *value,
			       const struct tn_layout *layout,
			       struct tn_op *before)
{
	const struct tn_kexpr *index[TN_MAX_RANK];
	struct tn_block *block = before->block;
	struct tn_value *copy = NULL;
	struct tn_kbuf *out;
	struct tn_op *launch;

	if (!tn_lower_begin(lw, block->fn->name, value->name))
		return NULL;
	tn_rw_note(lw->rw, "copy", before);
	if (!tn_lower_is_literal(value))
		tn_lower_param(lw, value, TN_KBUF_IN);
	out = param_in(lw, value, layout, TN_KBUF_OUT);
	tn_lower_for_layout(lw, value->type, layout, index);
	tn_lower_store(lw, out, index, tn_lower_element(lw, value, index));
	tn_lower_close(lw, 0);
	lw->kernel->comment = "a copy";
	launch = tn_lower_launch(lw, block, before, value->span);
	if (launch)
		copy = tn_rw_result(lw->rw, launch, value->type, value->name);
	if (copy && layout)
		tn_rw_set_layout(lw->rw, copy, layout);
	if (!copy)
		lw->failed = true;
	return copy;
}
