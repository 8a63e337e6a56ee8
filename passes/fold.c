/*
 * fold: operators on constants become constants.
 *
 * The value comes from the reference evaluation, so folder and run time agree
 * to the bit. Not folded: results above `limit` elements (4096) unless they
 * are no larger than their operands together, random numbers, and what would
 * raise the sticky flag.
 */
#include "passes/pass.h"

#include "ir/eval.h"

enum tn_pass_result tn_pass_fold(struct tn_pass_context *context);

#define MAX_OPERANDS 64

struct folder {
	struct tn_pass_context *context;
	int64_t limit;
	bool changed;
};

static bool is_static(const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nout; i++)
		if (!tn_type_is_static(op->out[i]->type))
			return false;
	for (i = 0; i < op->nattrs; i++)
		if (op->attrs[i].is_set && op->attrs[i].kind == TN_ATTR_DIM &&
		    !tn_dim_is_const(op->attrs[i].u.dim))
			return false;
	return true;
}

static bool is_candidate(const struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	int i;

	if (info->op_class == TN_CLASS_FLOW || op->code == TN_OP_const ||
	    op->code == TN_OP_random || op->nout != 1 ||
	    (info->flags & (TN_FLAG_EFFECT | TN_FLAG_SIZES)) ||
	    op->nin > MAX_OPERANDS || !is_static(op))
		return false;
	for (i = 0; i < op->nin; i++)
		if (!tn_graph_in(op, i)->op ||
		    tn_graph_in(op, i)->op->code != TN_OP_const)
			return false;
	return true;
}

static bool is_small(const struct folder *f, const struct tn_op *op)
{
	int64_t shape[TN_MAX_RANK], operands = 0, count;
	struct tn_tensor result;
	int i;

	for (i = 0; i < op->out[0]->type->rank; i++)
		shape[i] = op->out[0]->type->dims[i]->value;
	tn_tensor_view(&result, op->out[0]->type->dtype,
		       op->out[0]->type->rank, shape, NULL);
	count = tn_tensor_count(&result);
	for (i = 0; i < op->nin; i++)
		operands += tn_tensor_count(tn_graph_in(op, i)->op->literal);
	return count >= 0 && (count <= f->limit || count <= operands);
}

static bool fold_op(struct folder *f, struct tn_op *op)
{
	struct tn_eval eval = { 0 };
	const struct tn_tensor *in[MAX_OPERANDS];
	struct tn_tensor out = { 0 };
	struct tn_builder builder;
	struct tn_value *value = NULL;
	bool good;
	int i;

	for (i = 0; i < op->nin; i++)
		in[i] = tn_graph_in(op, i)->op->literal;
	good = tn_eval_op(&eval, op, in, &out);
	if (good && eval.flags == 0 &&
	    tn_rw_spend(f->context->rw, "fold", op)) {
		tn_rw_before(f->context->rw, op, &builder);
		value = tn_build_const(&builder, &out, op->span);
		good = value != NULL;
		if (good)
			tn_rw_replace(f->context->rw, op, &value);
		f->changed = true;
	}
	tn_tensor_fini(&out);
	return good;
}

static bool visit(void *data, struct tn_op *op)
{
	struct folder *f = data;

	if (!is_candidate(op) || !is_small(f, op))
		return true;
	return fold_op(f, op);
}

enum tn_pass_result tn_pass_fold(struct tn_pass_context *context)
{
	struct folder f = { .context = context };
	int64_t limit = context->options->fold_limit;

	f.limit = tn_pass_option(context, "limit", limit > 0 ? limit : 4096);
	if (!tn_pass_walk(context->entry->body, visit, &f)) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return f.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
