/*
 * Nests of element-wise groups, and the storing of results in all others.
 *
 * In: a group whose results are element expressions of what it reads. Out:
 * one nest for each iteration space among the results, so that several
 * results of one shape share a nest and what they have in common. One grid is
 * one nest: there a group with more is not one kernel.
 */
#include "passes/lower.h"

#include "ir/view.h"

static struct tn_lower_result *result_at(const struct tn_lower *lw, size_t i)
{
	return tn_vec_at(&lw->results, i);
}

bool tn_lower_is_permuted(const struct tn_op *op)
{
	return tn_ops[op->code].srule == TN_SRULE_TRANSPOSE;
}

bool tn_lower_is_made_at(const struct tn_value *value,
			 const struct tn_type *type)
{
	const struct tn_op *op = value->op;

	return tn_type_same_shape(value->type, type) ||
		(op && tn_lower_is_permuted(op) &&
		 tn_type_same_shape(tn_graph_in(op, 0)->type, type));
}

static void store_result(struct tn_lower *lw, struct tn_lower_result *result,
			 const struct tn_kexpr *const *index)
{
	const struct tn_kexpr *expr;

	expr = tn_lower_element(lw, result->value, index);
	result->is_done = true;
	if (expr)
		tn_lower_store(lw, result->buf, index, expr);
}

/* The result is a transpose: stores what it moves, which is at `index`. */
static void store_permuted(struct tn_lower *lw, struct tn_lower_result *result,
			   const struct tn_kexpr *const *index)
{
	const struct tn_op *op = result->value->op;
	const struct tn_kexpr *to[TN_MAX_RANK], *expr;
	int i;

	for (i = 0; i < result->value->type->rank; i++)
		to[i] = index[tn_view_axis(op, i)];
	expr = tn_lower_element(lw, tn_graph_in(op, 0), index);
	result->is_done = true;
	if (expr)
		tn_lower_store(lw, result->buf, to, expr);
}

void tn_lower_nest(struct tn_lower *lw, struct tn_lower_result *result)
{
	const struct tn_kexpr *index[TN_MAX_RANK];
	size_t mark = tn_lower_mark(lw);

	tn_lower_for_layout(lw, result->value->type,
			    result->buf ? result->buf->layout : NULL, index);
	store_result(lw, result, index);
	tn_lower_close(lw, mark);
}

void tn_lower_map(struct tn_lower *lw)
{
	size_t i, k;

	for (i = 0; i < lw->results.len && !lw->unfit; i++) {
		const struct tn_kexpr *index[TN_MAX_RANK];
		const struct tn_type *type = result_at(lw, i)->value->type;
		size_t mark = tn_lower_mark(lw);

		if (result_at(lw, i)->is_done)
			continue;
		if (tn_lower_is_grid(lw) && lw->kernel->body.first) {
			tn_lower_unfit(lw);
			return;
		}
		tn_lower_for_layout(lw, type, result_at(lw, i)->buf ?
				    result_at(lw, i)->buf->layout : NULL,
				    index);
		for (k = i; k < lw->results.len && !lw->unfit; k++)
			if (!result_at(lw, k)->is_done &&
			    tn_type_same_shape(result_at(lw, k)->value->type,
					       type))
				store_result(lw, result_at(lw, k), index);
		tn_lower_close(lw, mark);
	}
}

/* Marks in `seen` what follows from `value` in the group. */
static void mark_dependents(struct tn_lower *lw, struct tn_map *seen,
			    const struct tn_value *value)
{
	const struct tn_op *op;
	int i, k;

	if (!tn_map_set(seen, value, lw))
		lw->failed = true;
	if (!lw->group)
		return;
	for (op = value->op->next; op; op = op->next)
		for (i = 0; i < op->nin; i++) {
			if (!tn_map_has(seen, tn_graph_in(op, i)))
				continue;
			for (k = 0; k < op->nout; k++)
				if (!tn_map_set(seen, op->out[k], lw))
					lw->failed = true;
			break;
		}
}

void tn_lower_finish(struct tn_lower *lw, const struct tn_op *op, int n,
		     const struct tn_kexpr *const *index,
		     const struct tn_kexpr *value)
{
	const struct tn_type *type = op->out[n]->type;
	struct tn_map seen;
	size_t i;

	if (!value)
		return;
	if (tn_lower_is_shared(lw, op->out[n]))
		value = tn_lower_let(lw, op->out[n]->name, value);
	tn_map_init_ptr(&seen);
	mark_dependents(lw, &seen, op->out[n]);
	tn_lower_know(lw, op->out[n], index, value);
	for (i = 0; i < lw->results.len && !lw->unfit; i++) {
		struct tn_lower_result *result = result_at(lw, i);

		if (result->is_done || !tn_map_has(&seen, result->value))
			continue;
		if (tn_type_same_shape(result->value->type, type))
			store_result(lw, result, index);
		else if (tn_lower_is_made_at(result->value, type))
			store_permuted(lw, result, index);
		else
			tn_lower_unfit(lw);
	}
	tn_map_fini(&seen);
}

/* The order of the outer axes is no matter to memory, but it is to a
 * contraction: rows of one matrix follow each other. */
static bool has_inner(const struct tn_layout *layout)
{
	const struct tn_layout_part *last = &layout->parts[layout->nparts - 1];

	return last->piece == TN_LAYOUT_WHOLE && last->axis == layout->rank - 1;
}

void tn_lower_for_result(struct tn_lower *lw, const struct tn_op *op, int n,
			 const struct tn_kexpr **index)
{
	const struct tn_type *type = op->out[n]->type;
	const struct tn_layout *layout = NULL;
	size_t i;

	for (i = lw->results.len; i-- > 0;) {
		const struct tn_lower_result *result = result_at(lw, i);

		if (!result->is_done && result->buf &&
		    tn_type_same_shape(result->value->type, type))
			layout = result->buf->layout;
	}
	if (layout && tn_ops[op->code].op_class == TN_CLASS_CONTRACT &&
	    has_inner(layout))
		layout = NULL;
	tn_lower_for_layout(lw, type, layout, index);
}

struct tn_kbuf *tn_lower_out(struct tn_lower *lw, const struct tn_op *op,
			     int n)
{
	struct tn_kbuf *buf = NULL;
	size_t i;

	for (i = 0; i < lw->results.len; i++) {
		struct tn_lower_result *result = result_at(lw, i);

		if (result->value != op->out[n] || result->is_done)
			continue;
		if (buf) {
			tn_lower_unfit(lw);
			return NULL;
		}
		buf = result->buf;
		result->is_done = true;
	}
	if (!buf)
		tn_lower_unfit(lw);
	return buf;
}
