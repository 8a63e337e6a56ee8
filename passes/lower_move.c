/*
 * Movement: index maps, and the nests of pad and concat.
 *
 * In: the index of a result's element. Out: the index of the operand's
 * element that it is. All other movement is a map with such an index. pad and
 * concat alone are a nest for each part, which need no conditions; inlined
 * they select, with indices clamped so that either side could be read.
 */
#include "passes/lower.h"

#include "ir/view.h"

static const struct tn_kexpr *scaled(struct tn_lower *lw,
				     const struct tn_kexpr *i, int64_t by)
{
	return tn_kexpr_mul(lw->kernel, i, tn_lower_int(lw, by));
}

static void slice_index(struct tn_lower *lw, const struct tn_op *op,
			const struct tn_kexpr *const *index,
			const struct tn_kexpr **out)
{
	const struct tn_attr *start = tn_graph_attr(op, "start");
	const struct tn_attr *steps = tn_graph_attr(op, "step");
	int i;

	for (i = 0; i < op->out[0]->type->rank; i++) {
		int64_t step = steps->is_set && steps->count ?
			steps->u.ints[i] : 1;

		out[i] = tn_kexpr_add(lw->kernel, scaled(lw, index[i], step),
				      tn_lower_dim(lw, start->u.dims[i]));
	}
}

static void transpose_index(const struct tn_op *op,
			    const struct tn_kexpr *const *index,
			    const struct tn_kexpr **out)
{
	int i;

	for (i = 0; i < op->out[0]->type->rank; i++)
		out[tn_view_axis(op, i)] = index[i];
}

static void broadcast_index(struct tn_lower *lw, const struct tn_op *op,
			    const struct tn_kexpr *const *index,
			    const struct tn_kexpr **out)
{
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	int skip = op->out[0]->type->rank - type->rank;
	int i;

	for (i = 0; i < type->rank; i++)
		out[i] = tn_dim_is(type->dims[i], 1) ? tn_lower_int(lw, 0)
						     : index[skip + i];
}

static void reverse_index(struct tn_lower *lw, const struct tn_op *op,
			  const struct tn_kexpr *const *index,
			  const struct tn_kexpr **out)
{
	const struct tn_attr *axes = tn_graph_attr(op, "axes");
	const struct tn_type *type = op->out[0]->type;
	int i;

	for (i = 0; i < type->rank; i++)
		out[i] = index[i];
	for (i = 0; i < axes->count; i++) {
		int64_t axis = axes->u.ints[i];
		const struct tn_kexpr *last;

		last = tn_kexpr_sub(lw->kernel,
				    tn_lower_dim(lw, type->dims[axis]),
				    tn_lower_int(lw, 1));
		out[axis] = tn_kexpr_sub(lw->kernel, last, index[axis]);
	}
}

static int64_t entry(const struct tn_attr *attr, int i)
{
	if (!attr->is_set || attr->count == 0)
		return 1;
	return attr->u.ints[attr->count > i ? i : 0];
}

static void window_index(struct tn_lower *lw, const struct tn_op *op,
			 const struct tn_kexpr *const *index,
			 const struct tn_kexpr **out)
{
	const struct tn_attr *axes = tn_graph_attr(op, "axes");
	const struct tn_attr *stride = tn_graph_attr(op, "stride");
	const struct tn_attr *dilation = tn_graph_attr(op, "dilation");
	int rank = tn_graph_in(op, 0)->type->rank;
	int i;

	for (i = 0; i < rank; i++)
		out[i] = index[i];
	for (i = 0; i < axes->count; i++) {
		const struct tn_kexpr *at, *in;
		int64_t axis = axes->u.ints[i];

		at = scaled(lw, index[axis], entry(stride, i));
		in = scaled(lw, index[rank + i], entry(dilation, i));
		out[axis] = tn_kexpr_add(lw->kernel, at, in);
	}
}


static const struct tn_kexpr *both(struct tn_lower *lw,
				   const struct tn_kexpr *a,
				   const struct tn_kexpr *b)
{
	return a ? tn_lower_binary(lw, TN_OP_and, a, b) : b;
}

static void pad_index(struct tn_lower *lw, const struct tn_op *op,
		      const struct tn_kexpr *const *index,
		      const struct tn_kexpr **out,
		      const struct tn_kexpr **cond)
{
	const struct tn_attr *pad = tn_graph_attr(op, "pad");
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	int i;

	for (i = 0; i < type->rank; i++) {
		const struct tn_kexpr *at;

		out[i] = index[i];
		if (tn_dim_is(pad->u.dims[2 * i], 0) &&
		    tn_dim_is(pad->u.dims[2 * i + 1], 0))
			continue;
		at = tn_kexpr_sub(lw->kernel, index[i],
				  tn_lower_dim(lw, pad->u.dims[2 * i]));
		at = tn_lower_let(lw, "at", at);
		*cond = both(lw, *cond,
			     tn_lower_within(lw, at, type->dims[i]));
		out[i] = tn_lower_clamp(lw, at, type->dims[i]);
	}
}

static const struct tn_dim *concat_offset(struct tn_lower *lw,
					  const struct tn_op *op, int k)
{
	int64_t axis = tn_lower_attr_int(op, "axis");
	const struct tn_dim *sum = tn_lower_dim_int(lw, 0);
	int i;

	for (i = 0; i < k; i++)
		sum = tn_dim_add(&lw->module->dims, sum,
				 tn_graph_in(op, i)->type->dims[axis]);
	return sum;
}

static void concat_index(struct tn_lower *lw, const struct tn_op *op, int k,
			 const struct tn_kexpr *const *index,
			 const struct tn_kexpr **out,
			 const struct tn_kexpr **cond)
{
	int64_t axis = tn_lower_attr_int(op, "axis");
	const struct tn_type *type = tn_graph_in(op, k)->type;
	const struct tn_kexpr *at;
	int i;

	for (i = 0; i < type->rank; i++)
		out[i] = index[i];
	if (op->nin == 1)
		return;
	at = tn_kexpr_sub(lw->kernel, index[axis],
			  tn_lower_dim(lw, concat_offset(lw, op, k)));
	at = tn_lower_let(lw, "at", at);
	out[axis] = tn_lower_clamp(lw, at, type->dims[axis]);
	*cond = tn_lower_binary(lw, TN_OP_lt, at,
				tn_lower_dim(lw, type->dims[axis]));
}

/*
 * reshape. The dims of both sides are cut into the smallest runs of equal
 * product; a run of one dim on each side is the same index.
 */
struct run {
	int from, to;	/* axes of the operand */
	int begin, end;	/* axes of the result */
};

static const struct tn_dim *times(struct tn_lower *lw,
				  const struct tn_dim *a,
				  const struct tn_dim *b)
{
	return tn_dim_mul(&lw->module->dims, a, b);
}

/* The next run after the one given; all the rest if no shorter one. */
static void next_run(struct tn_lower *lw, const struct tn_type *a,
		     const struct tn_type *b, struct run *run)
{
	const struct tn_dim *one = tn_lower_dim_int(lw, 1);
	int width, i;

	run->from = run->to;
	run->begin = run->end;
	for (width = 1; width <= a->rank - run->from; width++) {
		const struct tn_dim *left = one, *right = one;

		for (i = 0; i < width; i++)
			left = times(lw, left, a->dims[run->from + i]);
		for (i = run->begin; i < b->rank; i++) {
			right = times(lw, right, b->dims[i]);
			if (left && left == right) {
				run->to = run->from + width;
				run->end = i + 1;
				return;
			}
		}
	}
	run->to = a->rank;
	run->end = b->rank;
}

/* Row-major position in axes begin..end of the type. */
static const struct tn_kexpr *flatten(struct tn_lower *lw,
				      const struct tn_type *type, int begin,
				      int end,
				      const struct tn_kexpr *const *index)
{
	const struct tn_kexpr *flat = tn_lower_int(lw, 0);
	int i;

	for (i = begin; i < end; i++) {
		flat = tn_kexpr_mul(lw->kernel, flat,
				    tn_lower_dim(lw, type->dims[i]));
		flat = tn_kexpr_add(lw->kernel, flat, index[i]);
	}
	return flat;
}

/* The inverse, into axes from..to. */
static void unflatten(struct tn_lower *lw, const struct tn_type *type,
		      int from, int to, const struct tn_kexpr *flat,
		      const struct tn_kexpr **out)
{
	int i, first = from;

	while (first < to && tn_dim_is(type->dims[first], 1))
		out[first++] = tn_lower_int(lw, 0);
	for (i = to - 1; i >= first; i--) {
		const struct tn_kexpr *n = tn_lower_dim(lw, type->dims[i]);

		if (i > first) {
			flat = tn_lower_let(lw, "flat", flat);
			out[i] = tn_kexpr_mod(lw->kernel, flat, n);
			flat = tn_kexpr_fdiv(lw->kernel, flat, n);
		} else {
			out[i] = flat;
		}
	}
}

static void reshape_index(struct tn_lower *lw, const struct tn_op *op,
			  const struct tn_kexpr *const *index,
			  const struct tn_kexpr **out)
{
	const struct tn_type *a = tn_graph_in(op, 0)->type;
	const struct tn_type *b = op->out[0]->type;
	struct run run = { 0, 0, 0, 0 };

	while (run.to < a->rank) {
		next_run(lw, a, b, &run);
		unflatten(lw, a, run.from, run.to,
			  flatten(lw, b, run.begin, run.end, index), out);
	}
}

void tn_lower_move_index(struct tn_lower *lw, const struct tn_op *op, int k,
			 const struct tn_kexpr *const *index,
			 const struct tn_kexpr **out,
			 const struct tn_kexpr **cond)
{
	enum tn_srule rule = tn_ops[op->code].srule;

	if (rule == TN_SRULE_RESHAPE)
		reshape_index(lw, op, index, out);
	else if (rule == TN_SRULE_TRANSPOSE)
		transpose_index(op, index, out);
	else if (rule == TN_SRULE_BROADCAST)
		broadcast_index(lw, op, index, out);
	else if (rule == TN_SRULE_SLICE)
		slice_index(lw, op, index, out);
	else if (rule == TN_SRULE_PAD && k == 0)
		pad_index(lw, op, index, out, cond);
	else if (rule == TN_SRULE_CONCAT)
		concat_index(lw, op, k, index, out, cond);
	else if (rule == TN_SRULE_REVERSE)
		reverse_index(lw, op, index, out);
	else if (rule == TN_SRULE_WINDOW)
		window_index(lw, op, index, out);
	else if (rule != TN_SRULE_PAD)
		tn_lower_unfit(lw);
}

static void lower_concat(struct tn_lower *lw, const struct tn_op *op,
			 struct tn_kbuf *out)
{
	int64_t axis = tn_lower_attr_int(op, "axis");
	int k;

	for (k = 0; k < op->nin; k++) {
		const struct tn_kexpr *index[TN_MAX_RANK], *value, *offset;
		struct tn_value *operand = tn_graph_in(op, k);
		size_t mark = tn_lower_mark(lw);

		tn_lower_for_layout(lw, operand->type, out->layout, index);
		value = tn_lower_element(lw, operand, index);
		offset = tn_lower_dim(lw, concat_offset(lw, op, k));
		index[axis] = tn_kexpr_add(lw->kernel, index[axis], offset);
		tn_lower_store(lw, out, index, value);
		tn_lower_close(lw, mark);
	}
}

static void lower_pad(struct tn_lower *lw, const struct tn_op *op,
		      struct tn_kbuf *out)
{
	const struct tn_attr *pad = tn_graph_attr(op, "pad");
	const struct tn_kexpr *index[TN_MAX_RANK], *value;
	struct tn_value *operand = tn_graph_in(op, 0);
	size_t mark = tn_lower_mark(lw);
	int i;

	value = op->nin > 1 ? tn_lower_element(lw, tn_graph_in(op, 1), index)
			    : tn_lower_number(lw, out->dtype, 0);
	value = tn_lower_let(lw, "fill", value);
	tn_lower_for_layout(lw, op->out[0]->type, out->layout, index);
	tn_lower_store(lw, out, index, value);
	tn_lower_close(lw, mark);
	tn_lower_for_layout(lw, operand->type, out->layout, index);
	value = tn_lower_element(lw, operand, index);
	for (i = 0; i < operand->type->rank; i++)
		index[i] = tn_kexpr_add(lw->kernel, index[i],
					tn_lower_dim(lw, pad->u.dims[2 * i]));
	tn_lower_store(lw, out, index, value);
	tn_lower_close(lw, mark);
}

/* pad or concat as the only operator of its group. */
void tn_lower_move(struct tn_lower *lw, const struct tn_op *op)
{
	struct tn_kbuf *out = tn_lower_out(lw, op, 0);

	if (!out)
		return;
	if (tn_ops[op->code].srule == TN_SRULE_CONCAT)
		lower_concat(lw, op, out);
	else
		lower_pad(lw, op, out);
}
