/*
 * siblings: contractions of one value with several weights become one.
 *
 *   q = matmul(x, a);               z = matmul(x, concat(a, b, c, axis=1));
 *   k = matmul(x, b);       ->      q = slice(z, .., 0..N);
 *   v = matmul(x, c);               k = slice(z, .., N..2*N); ...
 *
 * The weights, and biases that are added to all of the results, are put
 * together when the program is built (`precompute`); x is read once. Every
 * element is the sum that it was, in the same order.
 *
 * Siblings have one axis of their own, the last of the result and of no other
 * operand. What reads the results must be able to read a part of a larger
 * value: maps, contractions, and movement.
 */
#include "passes/pass.h"

#include "base/vec.h"
#include "ir/fixed.h"
#include "ir/infer.h"

#define MAX_SIBLINGS 16

/* A contraction of the set. */
struct sibling {
	struct tn_op *op;
	struct tn_op *bias;	/* the `add` that alone reads it, or NULL */
	struct tn_value *result;	/* of the one or the other */
};

struct set {
	struct tn_pass_context *context;
	struct tn_einsum form;	/* of the first */
	int axis;		/* of the weights, along which they differ */
	int n;
	struct sibling list[MAX_SIBLINGS];	/* in order of the text */
	bool changed;
};

/* ---- Which are siblings -------------------------------------------------- */

/* The operand's axis with the last label of the result, if no other operand
 * has it; -1: there is none. */
static int own_axis(const struct tn_einsum *form)
{
	int label, axis = -1, i;

	if (form->noperands != 2 || !form->out_rank)
		return -1;
	label = form->out[form->out_rank - 1];
	for (i = 0; i < form->rank[0]; i++)
		if (form->index[0][i] == label)
			return -1;
	for (i = 0; i < form->rank[1]; i++)
		if (form->index[1][i] == label)
			axis = i;
	return axis;
}

static bool same_labels(const struct tn_einsum *a, const struct tn_einsum *b)
{
	int i, k;

	if (a->noperands != b->noperands || a->out_rank != b->out_rank)
		return false;
	for (k = 0; k < a->noperands; k++) {
		if (a->rank[k] != b->rank[k])
			return false;
		for (i = 0; i < a->rank[k]; i++)
			if (a->index[k][i] != b->index[k][i])
				return false;
	}
	for (i = 0; i < a->out_rank; i++)
		if (a->out[i] != b->out[i])
			return false;
	return true;
}

/* The weights agree but for the axis along which they are put together. */
static bool same_weight(const struct tn_value *a, const struct tn_value *b,
			int axis)
{
	int i;

	if (a->type->dtype != b->type->dtype || a->type->rank != b->type->rank)
		return false;
	for (i = 0; i < a->type->rank; i++)
		if (i != axis && a->type->dims[i] != b->type->dims[i])
			return false;
	return true;
}

static bool is_contract(const struct tn_op *op)
{
	return op->nout == 1 && op->nin == 2 &&
		tn_ops[op->code].op_class == TN_CLASS_CONTRACT;
}

/* True if a part of a larger value serves as well. */
static bool reads_parts(const struct tn_op *op)
{
	switch (tn_ops[op->code].op_class) {
	case TN_CLASS_MAP:
	case TN_CLASS_CONTRACT:
	case TN_CLASS_MOVE:
		return true;
	case TN_CLASS_REDUCE:
	case TN_CLASS_SCAN:
	case TN_CLASS_WINDOW:
	case TN_CLASS_ORDER:
	case TN_CLASS_INDEX:
	case TN_CLASS_SOURCE:
	case TN_CLASS_FLOW:
	case TN_CLASS_CUSTOM:
		break;
	}
	return false;
}

static bool is_read_in_parts(const struct tn_value *value)
{
	const struct tn_use *use;

	for (use = value->uses; use; use = use->next)
		if (!reads_parts(use->op))
			return false;
	return value->uses != NULL;
}

static bool is_ahead(const struct tn_value *value, const struct tn_op *op)
{
	return !value->op || value->op->number < op->number;
}

/* The add of a fixed vector along the last axis that alone reads the result. */
static struct tn_op *bias_of(const struct tn_op *op)
{
	const struct tn_use *use = op->out[0]->uses;
	const struct tn_value *other;
	struct tn_op *add = use ? use->op : NULL;

	if (!add || use->next || add->code != TN_OP_add ||
	    add->block != op->block)
		return NULL;
	other = tn_graph_in(add, tn_graph_in(add, 0) == op->out[0]);
	if (other->type->rank != 1 || !tn_fixed_value(other) ||
	    other->type->dims[0] !=
	    op->out[0]->type->dims[op->out[0]->type->rank - 1])
		return NULL;
	return add;
}

static struct tn_value *bias_value(const struct sibling *sibling)
{
	return tn_graph_in(sibling->bias, tn_graph_in(sibling->bias, 0) ==
			   sibling->op->out[0]);
}

static bool fits(const struct set *set, struct tn_op *op)
{
	const struct tn_op *first = set->list[0].op;
	const struct tn_value *weight = tn_graph_in(op, 1);
	struct tn_einsum form;
	const char *why;

	return is_contract(op) && op->block == first->block &&
		op->code == first->code &&
		tn_graph_in(op, 0) == tn_graph_in(first, 0) &&
		tn_einsum_of(op, &form, &why) &&
		same_labels(&form, &set->form) && tn_fixed_value(weight) &&
		same_weight(weight, tn_graph_in(first, 1), set->axis);
}

/* Into its place in the order of the text. */
static void add(struct set *set, struct tn_op *op)
{
	int i = set->n++;

	for (; i > 0 && set->list[i - 1].op->number > op->number; i--)
		set->list[i] = set->list[i - 1];
	set->list[i].op = op;
	set->list[i].bias = NULL;
	set->list[i].result = op->out[0];
}

/* Those of the set that are where the first is, with or without bias. */
static bool settle(struct set *set)
{
	const struct tn_op *first = set->list[0].op;
	struct sibling *s;
	bool biased = true;
	int i;

	for (i = 0; i < set->n; i++) {
		s = &set->list[i];
		s->bias = bias_of(s->op);
		biased = biased && s->bias && is_ahead(bias_value(s), first);
	}
	for (i = 0; i < set->n; i++) {
		s = &set->list[i];
		if (!biased)
			s->bias = NULL;
		s->result = s->bias ? s->bias->out[0] : s->op->out[0];
		if (!is_read_in_parts(s->result)) {
			tn_rw_miss(set->context->rw, "siblings", s->op,
				   s->op == first ? NULL : first,
				   "'%s' is read whole, not in parts of a "
				   "larger value", s->result->name);
			return false;
		}
		if (!is_ahead(tn_graph_in(s->op, 1), first)) {
			tn_rw_miss(set->context->rw, "siblings", s->op, first,
				   "its weight is made behind the first");
			return false;
		}
	}
	return set->n > 1;
}

/* All siblings of the op, which is the first of them. */
static bool gather(struct set *set, struct tn_op *op)
{
	const struct tn_use *use;
	const char *why;

	set->n = 0;
	if (!is_contract(op) || !tn_fixed_value(tn_graph_in(op, 1)) ||
	    tn_fixed_value(tn_graph_in(op, 0)) ||
	    !tn_einsum_of(op, &set->form, &why))
		return false;
	set->axis = own_axis(&set->form);
	if (set->axis < 0)
		return false;
	add(set, op);
	for (use = tn_graph_in(op, 0)->uses; use && set->n < MAX_SIBLINGS;
	     use = use->next)
		if (use->op->number > op->number && fits(set, use->op))
			add(set, use->op);
	return set->n > 1 && settle(set);
}

/* ---- One for all --------------------------------------------------------- */

static struct tn_value *put_together(struct tn_builder *b, int n,
				     struct tn_value *const *parts, int axis,
				     struct tn_span span)
{
	struct tn_attr attr = tn_attr_int("axis", axis);
	struct tn_op *op;

	op = tn_build_op(b, TN_OP_concat, n, parts, 1, &attr, span);
	return op ? op->out[0] : NULL;
}

/* The contraction of all, and the bias; NULL: failed. */
static struct tn_value *make_whole(struct set *set, struct tn_builder *b)
{
	struct tn_op *first = set->list[0].op, *op;
	struct tn_value *parts[MAX_SIBLINGS], *in[2];
	int i;

	for (i = 0; i < set->n; i++)
		parts[i] = tn_graph_in(set->list[i].op, 1);
	in[0] = tn_graph_in(first, 0);
	in[1] = put_together(b, set->n, parts, set->axis, first->span);
	if (!in[1])
		return NULL;
	op = tn_build_op(b, first->code, 2, in, first->nattrs, first->attrs,
			 first->span);
	if (!op || !set->list[0].bias)
		return op ? op->out[0] : NULL;
	for (i = 0; i < set->n; i++)
		parts[i] = bias_value(&set->list[i]);
	in[1] = put_together(b, set->n, parts, 0, first->span);
	return in[1] ? tn_build_binary(b, TN_OP_add, op->out[0], in[1],
				       set->list[0].bias->span) : NULL;
}

/* The part of the whole from `at` on that is the sibling's. */
static struct tn_value *part_of(struct tn_builder *b, struct tn_value *whole,
				const struct sibling *sibling,
				const struct tn_dim *at,
				const struct tn_dim *to)
{
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	int rank = whole->type->rank, i;
	struct tn_attr attrs[2];
	struct tn_op *op;

	for (i = 0; i < rank; i++) {
		start[i] = tn_dim_const(&b->module->dims, 0);
		stop[i] = whole->type->dims[i];
	}
	start[rank - 1] = at;
	stop[rank - 1] = to;
	if (!start[0] || !at || !to)
		return NULL;
	attrs[0] = tn_attr_dims("start", rank, start);
	attrs[1] = tn_attr_dims("stop", rank, stop);
	op = tn_build_op(b, TN_OP_slice, 1, &whole, 2, attrs,
			 sibling->op->span);
	return op ? op->out[0] : NULL;
}

static bool make_parts(const struct set *set, struct tn_builder *b,
		       struct tn_value *whole, struct tn_value **parts)
{
	const struct tn_dim *at = tn_dim_const(&b->module->dims, 0), *to;
	int i, last = whole->type->rank - 1;

	for (i = 0; i < set->n; i++, at = to) {
		to = tn_dim_add(&b->module->dims, at,
				set->list[i].result->type->dims[last]);
		parts[i] = part_of(b, whole, &set->list[i], at, to);
		if (!parts[i])
			return false;
	}
	return true;
}

static bool replace(struct set *set, struct tn_builder *b,
		    struct tn_value *whole)
{
	struct tn_rw *rw = set->context->rw;
	struct tn_value *parts[MAX_SIBLINGS];
	const struct sibling *s;
	int i;

	if (!make_parts(set, b, whole, parts))
		return false;
	for (i = 0; i < set->n; i++) {
		s = &set->list[i];
		tn_rw_replace(rw, s->bias ? s->bias : s->op, &parts[i]);
		if (s->bias)
			tn_rw_erase(rw, s->op);
	}
	return !rw->failed;
}

static bool join(struct set *set)
{
	struct tn_op *first = set->list[0].op;
	struct tn_builder builder;
	struct tn_value *whole;

	if (!tn_rw_spend(set->context->rw, "siblings", first))
		return true;
	tn_rw_before(set->context->rw, first, &builder);
	whole = make_whole(set, &builder);
	set->changed = true;
	return whole && replace(set, &builder, whole);
}

/* ---- The pass ------------------------------------------------------------ */

/* True if the op reads something that another op reads too: else it cannot
 * have siblings. */
static bool may_have(const struct tn_op *op)
{
	return is_contract(op) && tn_graph_in(op, 0)->uses &&
		tn_graph_in(op, 0)->uses->next;
}

static bool walk(struct set *set, struct tn_block *block)
{
	struct tn_op *op, *next;
	int i;

	for (op = block->first; op; op = next) {
		for (i = 0; i < op->nregions; i++)
			if (!walk(set, op->regions[i]))
				return false;
		next = op->next;
		if (!may_have(op) || !gather(set, op))
			continue;
		next = op->prev;
		if (!join(set))
			return false;
		next = next ? next->next : block->first;
	}
	return true;
}

static bool number_op(void *data, struct tn_op *op)
{
	int *count = data;

	op->number = (*count)++;
	return true;
}

enum tn_pass_result tn_pass_siblings(struct tn_pass_context *context)
{
	struct set set = { .context = context };
	int count = 0;

	tn_pass_walk(context->entry->body, number_op, &count);
	if (!walk(&set, context->entry->body)) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return set.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
