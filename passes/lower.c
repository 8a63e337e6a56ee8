/*
 * The pass `lower`: operators become kernels and launches of them.
 *
 * In: a flat module of primitives, maps perhaps outlined into functions
 * @fused. Out: functions that hold launches, control flow in the form of
 * lower_flow.c, constants, reshapes, which are the same bytes under another
 * shape, and concatenations whose parts are made in place. Values keep their
 * names; equal groups share a kernel.
 *
 *   y: f32[4] = exp(x);   ->   y: f32[4] = launch main__y(x);
 */
#include "base/num.h"
#include "passes/lower.h"

#include "base/diag.h"
#include "ir/kernel_check.h"
#include "ir/view.h"

static bool lower_block(struct tn_lower *lw, struct tn_block *block);

/* A fused fn that is not one kernel is put back in place of its call; what it
 * returns lies as the results did. */
static struct tn_op *unfuse(struct tn_lower *lw, struct tn_op *call)
{
	const struct tn_op *ret = call->callee->body->last;
	struct tn_block *block = call->block;
	struct tn_op *before = call->prev;
	int i;

	tn_rw_note(lw->rw, "open-group", call);
	for (i = 0; i < call->nout; i++)
		if (tn_graph_in(ret, i)->op)
			tn_rw_set_layout(lw->rw, tn_graph_in(ret, i),
					 call->out[i]->layout);
	if (!tn_rw_open(lw->rw, call, NULL) || !tn_rw_close(lw->rw, call))
		lw->failed = true;
	return before ? before->next : block->first;
}

/* True if the parts of a concatenation go to their places in it, at least half
 * of its bytes: the rest is copied by the host, one part after another. */
static bool joins_parts(struct tn_lower *lw, const struct tn_op *op)
{
	int64_t bytes, made = 0, copied = 0;
	int k;

	if (tn_ops[op->code].srule != TN_SRULE_CONCAT)
		return false;
	if (!tn_view_is_joined(op)) {
		tn_rw_miss(lw->rw, "in-place", op, NULL,
			   "the parts are copied: its axis is not the first "
			   "in memory, or a size is no constant");
		return false;
	}
	for (k = 0; k < op->nin; k++) {
		bytes = tn_view_part_bytes(op, k);
		if (tn_view_part(op, k))
			made += bytes;
		else
			copied += bytes;
	}
	if (made >= copied)
		return true;
	tn_rw_miss(lw->rw, "in-place", op, NULL,
		   "the parts are copied: most are made elsewhere");
	return false;
}

static bool is_kept(struct tn_lower *lw, const struct tn_op *op)
{
	int64_t offset;

	return tn_op_has(op->code, TN_FLAG_LITERAL) ||
		tn_view_of(op, &offset) || joins_parts(lw, op);
}

static bool lower_regions(struct tn_lower *lw, struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nregions; i++)
		if (!lower_block(lw, op->regions[i]))
			return false;
	if (op->code == TN_OP_for)
		return tn_lower_ends(lw, op->regions[0]->last,
				     op->regions[0]->params + 1);
	if (op->code == TN_OP_while)
		return tn_lower_ends(lw, op->regions[1]->last,
				     op->regions[1]->params);
	return true;
}

static bool refuse(struct tn_lower *lw, const struct tn_op *op,
		   const char *why)
{
	lw->where = op;
	lw->why = why;
	return false;
}

static bool lower_flow(struct tn_lower *lw, struct tn_op *op)
{
	if (op->code == TN_OP_scan) {
		op = tn_lower_scan_loop(lw, op);
		if (!op) {
			lw->failed = true;
			return false;
		}
	}
	if (op->code == TN_OP_assert)
		return tn_lower_assert(lw, op);
	if (op->code == TN_OP_return)
		return tn_lower_ends(lw, op, NULL);
	if (op->code == TN_OP_launch)
		return tn_lower_updates(lw, op);
	if (op->code == TN_OP_call) {
		lw->is_bug = true;
		return refuse(lw, op, "a call is left that is not fused");
	}
	return lower_regions(lw, op);
}

static bool is_fused_call(const struct tn_op *op)
{
	return op->code == TN_OP_call && op->callee &&
		op->callee->kind == TN_FN_FUSED;
}

static bool lower_block(struct tn_lower *lw, struct tn_block *block)
{
	struct tn_op *op, *next;

	tn_lower_number_ops(block);
	for (op = block->first; op; op = next) {
		bool is_call = is_fused_call(op);

		next = op->next;
		if (is_kept(lw, op))
			continue;
		if (!is_call && tn_ops[op->code].op_class == TN_CLASS_FLOW) {
			if (!lower_flow(lw, op))
				return false;
			continue;
		}
		if (!is_call && tn_lower_is_half_scatter(op)) {
			struct tn_op *before = op->prev;

			tn_rw_note(lw->rw, "widen-scatter", op);
			tn_lower_widen_scatter(lw, op);
			if (lw->failed)
				return false;
			next = before ? before->next : block->first;
			continue;
		}
		if (!tn_lower_op(lw, op))
			return false;
		if (lw->unfit && !is_call)
			return refuse(lw, op, "no kernel for this operator");
		if (lw->unfit)
			next = unfuse(lw, op);
		if (lw->failed)
			return false;
	}
	return true;
}

/* Literals that nobody reads any more go; dims that flow, returns and
 * reshapes read become kernels. */
static bool sweep(struct tn_lower *lw, struct tn_block *block)
{
	struct tn_op *op, *next;
	int i;

	for (op = block->first; op; op = next) {
		next = op->next;
		for (i = 0; i < op->nregions; i++)
			if (!sweep(lw, op->regions[i]))
				return false;
		if (!tn_op_has(op->code, TN_FLAG_LITERAL))
			continue;
		if (!op->out[0]->uses) {
			tn_rw_note(lw->rw, "unread", op);
			tn_rw_erase(lw->rw, op);
		} else if (!op->literal && !tn_lower_op(lw, op)) {
			return false;
		}
	}
	return true;
}

static void lower_init(struct tn_lower *lw, struct tn_pass_context *context)
{
	*lw = (struct tn_lower){ .module = context->module,
				 .rw = context->rw,
				 .target = context->target };
	tn_map_init_text(&lw->kernel_names);
	tn_map_init_ptr(&lw->kernels);
	tn_map_init_ptr(&lw->bufs);
	tn_map_init_ptr(&lw->actuals);
	tn_map_init_text(&lw->taken);
	tn_map_init_ptr(&lw->latest);
	tn_vec_init(&lw->known, sizeof(void *), NULL);
	tn_vec_init(&lw->scopes, sizeof(struct tn_lower_scope), NULL);
	tn_vec_init(&lw->splits, sizeof(struct tn_lower_split), NULL);
	tn_vec_init(&lw->operands, sizeof(void *), NULL);
	tn_vec_init(&lw->results, sizeof(struct tn_lower_result), NULL);
}

static void lower_fini(struct tn_lower *lw)
{
	tn_map_fini(&lw->kernel_names);
	tn_map_fini(&lw->kernels);
	tn_map_fini(&lw->bufs);
	tn_map_fini(&lw->actuals);
	tn_map_fini(&lw->taken);
	tn_map_fini(&lw->latest);
	tn_vec_fini(&lw->known);
	tn_vec_fini(&lw->scopes);
	tn_vec_fini(&lw->splits);
	tn_vec_fini(&lw->operands);
	tn_vec_fini(&lw->results);
}

static void take_keys(struct tn_lower *lw, const struct tn_map *names)
{
	size_t i;

	for (i = 0; i < names->len; i++)
		if (!tn_map_set(&lw->kernel_names, names->entries[i].key,
				(void *)1))
			lw->failed = true;
}

/* A kernel is named as nothing else in the module is. */
static void take_names(struct tn_lower *lw)
{
	const struct tn_module *module = lw->module;
	const struct tn_kernel *kernel;
	const struct tn_item *item;
	size_t i;

	take_keys(lw, &module->fn_names);
	take_keys(lw, &module->weight_names);
	take_keys(lw, &module->dim_names);
	for (i = 0; i < module->items.len; i++) {
		item = tn_vec_ptr(&module->items, i);
		if (item->name &&
		    !tn_map_set(&lw->kernel_names, item->name, (void *)1))
			lw->failed = true;
	}
	for (i = 0; i < module->kernels.len; i++) {
		kernel = tn_vec_ptr(&module->kernels, i);
		if (!tn_map_set(&lw->kernel_names, kernel->name, (void *)1))
			lw->failed = true;
	}
}

/* Indices of made kernels are right by construction, for sizes that the entry
 * lets in; where the prover does not see it, the text says so. */
static bool mark_unchecked(struct tn_module *module, const struct tn_fn *entry)
{
	struct tn_kernel *kernel;
	size_t i;

	for (i = 0; i < module->kernels.len; i++) {
		kernel = tn_vec_ptr(&module->kernels, i);
		if (kernel->comment)
			kernel->guards = &entry->guards;
		if (kernel->comment && !tn_kernel_mark_unchecked(kernel))
			return false;
	}
	return true;
}

/* The bytes that the known sizes alone make must be a number. */
static bool can_address(const struct tn_type *type)
{
	int64_t bytes = tn_dtype_bytes(type->dtype);
	int i;

	for (i = 0; i < type->rank; i++)
		if (tn_dim_is_const(type->dims[i]) &&
		    !tn_num_mul(bytes, type->dims[i]->value, &bytes))
			return false;
	return true;
}

static bool check_values(struct tn_module *module,
			 struct tn_value *const *values, int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (!can_address(values[i]->type)) {
			tn_pass_too_large(module, values[i]);
			return false;
		}
	return true;
}

static bool check_op(void *data, struct tn_op *op)
{
	return check_values(data, op->out, op->nout);
}

enum tn_pass_result tn_pass_lower(struct tn_pass_context *context)
{
	struct tn_module *module = context->module;
	struct tn_lower lw;
	struct tn_block *body = context->entry->body;
	enum tn_pass_result result = TN_PASS_FAILED;
	bool good;

	if (!check_values(module, body->params, body->nparams) ||
	    !tn_pass_walk(body, check_op, module))
		return TN_PASS_FAILED;
	lower_init(&lw, context);
	take_names(&lw);
	good = tn_lower_layouts(&lw, body) && lower_block(&lw, body) &&
		sweep(&lw, body) &&
		mark_unchecked(module, context->entry);
	if (lw.failed || lw.rw->failed || module->arena.failed) {
		module->failed = true;
		good = false;
	} else if (!good && lw.why) {
		tn_diag_report(module->sink, lw.is_bug ? TN_E0853 : TN_E0855,
			       lw.where->span, "lower: %s: %s",
			       tn_ops[lw.where->code].name, lw.why);
		result = lw.is_bug ? TN_PASS_BUG : TN_PASS_UNSUPPORTED;
	}
	lower_fini(&lw);
	return good ? TN_PASS_CHANGED : result;
}
