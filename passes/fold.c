/*
 * fold: operators on constants become constants.
 *
 *   n: i64 = 3;  m: i64 = mul(n, n);   ->   m: i64 = 9;
 *
 * and what is known otherwise, see fold_known.c.
 *
 * The value comes from the reference evaluation, so folder and run time agree
 * to the bit. Not folded: results above `limit` elements (TN_FOLD_LIMIT), or above
 * MAX_GROWN if they are larger than their operands together (a loop that
 * makes them is shorter than they are), unless they are no larger than one
 * operand; what takes more than MAX_WORK steps; random numbers; what would
 * raise the sticky flag; what evaluation cannot size. MAX_BYTES bounds the
 * sum, so that no text, however written, makes a constant of every line.
 */
#include "passes/fold.h"

#include "base/num.h"
#include "ir/eval.h"
#include "ir/fixed.h"

#define MAX_OPERANDS 64
#define MAX_GROWN 1024
#define MAX_WORK (1 << 22)
#define MAX_BYTES (1 << 26)

bool tn_fold_is_constant(const struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	int i;

	if (info->op_class == TN_CLASS_FLOW || op->literal || op->nout != 1 ||
	    tn_op_has(op->code, TN_FLAG_EFFECT | TN_FLAG_SIZES |
		      TN_FLAG_RANDOM) ||
	    op->nin > MAX_OPERANDS || !tn_fixed_sizes(op))
		return false;
	for (i = 0; i < op->nin; i++)
		if (!tn_graph_in(op, i)->op ||
		    tn_graph_in(op, i)->op->code != TN_OP_const)
			return false;
	return true;
}

bool tn_fold_is_due(const struct tn_op *op)
{
	return tn_fold_is_constant(op) || tn_fold_may_know(op);
}

static int64_t count_of(const struct tn_type *type)
{
	int64_t count = 1;
	int i;

	for (i = 0; i < type->rank; i++)
		if (!tn_num_mul(count, type->dims[i]->value, &count))
			return -1;
	return count;
}

/* Cells of a window that stands still; -1: too many to tell. */
static int64_t window_size(const struct tn_op *op)
{
	const struct tn_attr *size = tn_graph_attr(op, "size");
	int64_t count = 1;
	int i;

	if (op->nin > 1)
		return count_of(tn_graph_in(op, 1)->type);
	for (i = 0; size && size->is_set && i < size->count; i++)
		if (!tn_num_mul(count, size->u.ints[i], &count))
			return -1;
	return count;
}

int64_t tn_fold_steps(const struct tn_op *op)
{
	enum tn_op_class op_class = tn_ops[op->code].op_class;
	int64_t work = count_of(op->out[0]->type), cells;
	int i;

	if (work < 0)
		return -1;
	if (op_class == TN_CLASS_CONTRACT)
		for (i = 0, work = 1; i < op->nin; i++)
			if (!tn_num_mul(work,
					count_of(tn_graph_in(op, i)->type),
					&work))
				return -1;
	if (op_class == TN_CLASS_WINDOW) {
		cells = window_size(op);
		if (cells < 0 || !tn_num_mul(work, cells, &work))
			return -1;
	}
	return work;
}

/* True if evaluation takes a bearable number of steps. */
static bool is_quick(const struct tn_op *op)
{
	int64_t steps = tn_fold_steps(op);

	return steps >= 0 && steps <= MAX_WORK;
}

/* Why the constant would be too much; NULL: it is not. */
static const char *excess(const struct tn_fold *f, const struct tn_op *op,
			  int64_t count, int64_t *bytes)
{
	const struct tn_type *type = op->out[0]->type;
	int64_t largest = 0, operands = 0, n;
	int i;

	for (i = 0; i < op->nin; i++) {
		n = tn_tensor_count(tn_graph_in(op, i)->op->literal);
		largest = n > largest ? n : largest;
		operands += n;
	}
	if (count < 0 || !is_quick(op))
		return "computing it takes too many steps";
	if (!tn_num_mul(count, tn_dtype_bytes(type->dtype), bytes) ||
	    *bytes > MAX_BYTES - f->bytes)
		return "with it all constants that were computed would be too "
			"large";
	if (count > largest && count > f->limit)
		return "that is above the limit";
	if (count > largest && count > operands && count > MAX_GROWN)
		return "its operands have fewer together, and a loop that "
			"makes them is shorter";
	return NULL;
}

static bool is_small(struct tn_fold *f, const struct tn_op *op)
{
	int64_t count = count_of(op->out[0]->type), bytes = 0;
	const char *why = excess(f, op, count, &bytes);

	if (!why) {
		f->bytes += bytes;
		return true;
	}
	tn_rw_miss(f->rw, "fold", op, NULL,
		   "the constant would have %lld elements: %s",
		   (long long)count, why);
	return false;
}

/* The op's value in `out`; false after the reason was told. */
static bool evaluate(struct tn_fold *f, const struct tn_op *op,
		     struct tn_tensor *out)
{
	struct tn_eval eval = { 0 };
	const struct tn_tensor *in[MAX_OPERANDS];
	bool good;
	int i;

	for (i = 0; i < op->nin; i++)
		in[i] = tn_graph_in(op, i)->op->literal;
	good = tn_eval_op(&eval, op, in, out);
	f->failed |= eval.no_memory;
	if (!good && !eval.no_memory)
		tn_rw_miss(f->rw, "fold", op, NULL,
			   "its size cannot be told");
	else if (good && eval.flags)
		tn_rw_miss(f->rw, "fold", op, NULL, "run time has to raise "
			   "the flag for it: it divides an integer by zero or "
			   "has an index out of range");
	return good && !eval.flags;
}

static struct tn_value *fold_constant(struct tn_fold *f, struct tn_op *op)
{
	struct tn_tensor out = { 0 };
	struct tn_builder builder;
	struct tn_value *value = NULL;

	if (!is_small(f, op))
		return NULL;
	if (evaluate(f, op, &out) && tn_rw_spend(f->rw, "fold", op)) {
		tn_rw_before(f->rw, op, &builder);
		value = tn_build_const(&builder, &out, op->span);
		if (value)
			tn_rw_replace(f->rw, op, &value);
		f->changed |= value != NULL;
		f->failed |= !value;
	}
	tn_tensor_fini(&out);
	return value;
}

struct tn_value *tn_fold_op(struct tn_fold *f, struct tn_op *op)
{
	if (tn_fold_is_constant(op))
		return fold_constant(f, op);
	return tn_fold_may_know(op) ? tn_fold_known(f, op) : NULL;
}

static bool visit(void *data, struct tn_op *op)
{
	struct tn_fold *f = data;

	tn_fold_op(f, op);
	return !f->failed;
}

enum tn_pass_result tn_pass_fold(struct tn_pass_context *context)
{
	struct tn_fold f = { .rw = context->rw };

	f.limit = tn_pass_option(context, "limit", TN_FOLD_LIMIT);
	if (!tn_pass_walk(context->entry->body, visit, &f)) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return f.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
