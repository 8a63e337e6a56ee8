/*
 * Windows: convolutions and pools.
 *
 * In: an anchor of class WINDOW (resize is in lower_resize.c). Out: loops over
 * the result and, in each, loops over the window. Padding is never read: the
 * bounds of each window loop are clamped to the cells inside the input, so
 * that the body has no conditions. Where channels of the input lie side by
 * side, sums run over them innermost.
 *
 *   y = conv(x, w, pad=[[1, 1]])  ->  for n { for m { for i {
 *     let mut acc = 0;
 *     for c { for r in max(1 - i, 0)..min(L + 1 - i, 3) {
 *       acc += x[n, c, i + r - 1] * w[m, c, r] } }
 *     y[n, m, i] = acc } } }
 */
#include "passes/lower.h"

#include "ir/kernel_walk.h"

/* One spatial axis of a window. */
struct axis {
	const struct tn_dim *in;	/* extent of the input */
	const struct tn_kexpr *size;	/* cells of the window */
	const struct tn_dim *lo, *hi;	/* padding */
	int64_t stride, dilation;
	const struct tn_kexpr *from, *to;	/* of the window loop */
	const struct tn_kexpr *start;	/* input place of cell 0 */
};

static int64_t entry(const struct tn_op *op, const char *name, int i)
{
	const struct tn_attr *attr = tn_graph_attr(op, name);

	if (!attr || !attr->is_set || attr->count == 0)
		return 1;
	return attr->u.ints[attr->count > i ? i : 0];
}

static void read_axis(struct tn_lower *lw, const struct tn_op *op, int i,
		      struct axis *axis)
{
	const struct tn_attr *pad = tn_graph_attr(op, "pad");
	const struct tn_dim *none = tn_lower_dim_int(lw, 0);
	bool has_pad = pad && pad->is_set && pad->count > 2 * i + 1;

	axis->in = tn_graph_in(op, 0)->type->dims[2 + i];
	axis->lo = has_pad ? pad->u.dims[2 * i] : none;
	axis->hi = has_pad ? pad->u.dims[2 * i + 1] : none;
	axis->stride = entry(op, "stride", i);
	axis->dilation = entry(op, "dilation", i);
	if (op->nin > 1)
		axis->size = tn_lower_dim(lw,
				tn_graph_in(op, 1)->type->dims[2 + i]);
	else
		axis->size = tn_lower_int(lw, entry(op, "size", i));
}

/* ceil(max(0, a) / d): non-negative, so floor division will do. */
static const struct tn_kexpr *ceil_div(struct tn_lower *lw,
				       const struct tn_kexpr *a, int64_t d)
{
	const struct tn_kexpr *zero = tn_lower_int(lw, 0);

	a = tn_lower_binary(lw, TN_OP_max, a, zero);
	a = tn_kexpr_add(lw->kernel, a, tn_lower_int(lw, d - 1));
	return tn_kexpr_fdiv(lw->kernel, a, tn_lower_int(lw, d));
}

/* Sets the cells from..to of the window at result place `o` that lie inside
 * the input: 0 <= start + r * dilation < in. */
static void clamp_axis(struct tn_lower *lw, struct axis *axis,
		       const struct tn_kexpr *o)
{
	struct tn_kernel *kernel = lw->kernel;
	const struct tn_kexpr *start, *room;

	start = tn_kexpr_mul(kernel, o, tn_lower_int(lw, axis->stride));
	axis->from = tn_lower_int(lw, 0);
	axis->to = axis->size;
	if (tn_dim_is(axis->lo, 0) && tn_dim_is(axis->hi, 0)) {
		axis->start = start;
		return;
	}
	start = tn_kexpr_sub(kernel, start, tn_lower_dim(lw, axis->lo));
	start = tn_lower_let(lw, "start", start);
	axis->start = start;
	if (!tn_dim_is(axis->lo, 0))
		axis->from = ceil_div(lw, tn_kexpr_sub(kernel,
						       tn_lower_int(lw, 0),
						       start), axis->dilation);
	room = tn_kexpr_sub(kernel, tn_lower_dim(lw, axis->in), start);
	axis->to = tn_lower_binary(lw, TN_OP_min, axis->size,
				   ceil_div(lw, room, axis->dilation));
	axis->from = tn_lower_let(lw, "from", axis->from);
	axis->to = tn_lower_let(lw, "to", axis->to);
}

static const char *cell_name(int i)
{
	static const char *const names[] = { "r", "s", "t", "u" };

	return names[i < 4 ? i : 3];
}

/* Opens the window loop of an axis; the place in the input. */
static const struct tn_kexpr *open_axis(struct tn_lower *lw, int i,
					const struct axis *axis,
					const struct tn_kexpr **cell)
{
	const struct tn_kexpr *step;

	*cell = tn_lower_for(lw, cell_name(i), axis->from, axis->to);
	step = tn_kexpr_mul(lw->kernel, *cell,
			    tn_lower_int(lw, axis->dilation));
	return tn_kexpr_add(lw->kernel, axis->start, step);
}

/* acc += x * w, in the wide type. */
static void accumulate(struct tn_lower *lw, struct tn_kvar *acc,
		       const struct tn_kexpr *x, const struct tn_kexpr *w)
{
	const struct tn_kexpr *value;

	if (!acc)
		return;
	value = tn_lower_binary(lw, TN_OP_mul,
				tn_lower_cast(lw, acc->dtype, x),
				tn_lower_cast(lw, acc->dtype, w));
	if (!tn_kstmt_set(lw->kernel, lw->block, acc, value, true))
		lw->failed = true;
}

/* Adds the bias, rounds, and hands the element on. */
static void close_conv(struct tn_lower *lw, const struct tn_op *op,
		       const struct tn_kexpr *const *out, struct tn_kvar *acc)
{
	enum tn_dtype dtype = op->out[0]->type->dtype;
	const struct tn_kexpr *value = tn_lower_get(lw, acc);

	if (op->nin > 2) {
		const struct tn_kexpr *bias;

		bias = tn_lower_element(lw, tn_graph_in(op, 2), &out[1]);
		bias = tn_lower_cast(lw, tn_lower_wide(dtype), bias);
		value = tn_lower_binary(lw, TN_OP_add, value, bias);
	}
	tn_lower_finish(lw, op, 0, out, tn_lower_cast(lw, dtype, value));
	tn_lower_may_contract(lw, op);
}

/* Channels of one group: the extent of dim over the number of groups. */
static const struct tn_dim *share(struct tn_lower *lw,
				  const struct tn_dim *dim, int64_t groups)
{
	return tn_dim_floordiv(&lw->module->dims, dim,
			       tn_lower_dim_int(lw, groups));
}

/* First input channel of the group that result channel m is in. */
static const struct tn_kexpr *group_base(struct tn_lower *lw,
					 const struct tn_kexpr *m,
					 const struct tn_dim *results,
					 const struct tn_dim *inputs)
{
	const struct tn_kexpr *group;

	group = tn_kexpr_fdiv(lw->kernel, m, tn_lower_dim(lw, results));
	return tn_kexpr_mul(lw->kernel, group, tn_lower_dim(lw, inputs));
}

static bool is_along(void *data, const struct tn_kexpr *e)
{
	return e->kind == TN_KEXPR_LOAD && e->nargs &&
		tn_kexpr_reads(e->args[e->nargs - 1], data);
}

static void swap_loops(struct tn_kstmt *a, struct tn_kstmt *b)
{
	struct tn_kvar *var = a->var;
	const struct tn_kexpr *from = a->from, *to = a->to;

	a->var = b->var;
	a->from = b->from;
	a->to = b->to;
	b->var = var;
	b->from = from;
	b->to = to;
}

/* The loop over input channels, the innermost, goes around those of the window,
 * unless channels of x lie side by side: what is read next is then near. */
static void order_sums(struct tn_lower *lw, struct tn_kstmt *outer,
		       const struct tn_kexpr *x, const struct tn_kexpr *c)
{
	struct tn_kstmt *loop;

	if (lw->failed || !x || c->kind != TN_KEXPR_VAR ||
	    tn_kexpr_find(x, is_along, c->var))
		return;
	for (loop = outer; loop->var != c->var; loop = loop->body.first)
		;
	for (; outer != loop; outer = outer->body.first)
		swap_loops(outer, loop);
}

static void lower_conv(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_type *type = op->out[0]->type;
	const struct tn_type *weight = tn_graph_in(op, 1)->type;
	int64_t groups = tn_lower_attr_int(op, "groups");
	const struct tn_kexpr *out[TN_MAX_RANK];
	const struct tn_kexpr *in[TN_MAX_RANK], *w[TN_MAX_RANK], *base, *x;
	struct axis axes[TN_MAX_RANK];
	size_t mark = tn_lower_mark(lw), inner;
	struct tn_kblock *block;
	struct tn_kvar *acc;
	int i, n = type->rank - 2;

	tn_lower_for_result(lw, op, 0, out);
	for (i = 0; i < n; i++) {
		read_axis(lw, op, i, &axes[i]);
		clamp_axis(lw, &axes[i], out[2 + i]);
	}
	base = groups > 1 ? group_base(lw, out[1],
				       share(lw, type->dims[1], groups),
				       weight->dims[1]) : tn_lower_int(lw, 0);
	acc = tn_lower_mut(lw, "acc", tn_lower_number(
		lw, tn_lower_wide(type->dtype), 0));
	inner = tn_lower_mark(lw);
	block = lw->block;
	in[0] = out[0];
	w[0] = out[1];
	for (i = 0; i < n; i++)
		in[2 + i] = open_axis(lw, i, &axes[i], &w[2 + i]);
	w[1] = tn_lower_for_dim(lw, "c", weight->dims[1]);
	in[1] = tn_kexpr_add(lw->kernel, base, w[1]);
	x = tn_lower_element(lw, tn_graph_in(op, 0), in);
	accumulate(lw, acc, x, tn_lower_element(lw, tn_graph_in(op, 1), w));
	tn_lower_close(lw, inner);
	if (block->last && w[1])
		order_sums(lw, block->last, x, w[1]);
	close_conv(lw, op, out, acc);
	tn_lower_close(lw, mark);
}

/* Opens the loop over an axis of the weights in which the input place, if
 * there is one, is (o + pad - r * dilation) / stride; returns it. */
static const struct tn_kexpr *open_source(struct tn_lower *lw, int i,
					  const struct axis *axis,
					  const struct tn_kexpr *o,
					  const struct tn_kexpr **cell)
{
	struct tn_kernel *kernel = lw->kernel;
	const struct tn_kexpr *stride = tn_lower_int(lw, axis->stride);
	const struct tn_kexpr *at, *step, *end;

	*cell = tn_lower_for(lw, cell_name(i), tn_lower_int(lw, 0),
			     axis->size);
	step = tn_kexpr_mul(kernel, *cell, tn_lower_int(lw, axis->dilation));
	at = tn_kexpr_add(kernel, o, tn_lower_dim(lw, axis->lo));
	at = tn_lower_let(lw, "at", tn_kexpr_sub(kernel, at, step));
	end = tn_kexpr_mul(kernel, tn_lower_dim(lw, axis->in), stride);
	tn_lower_if(lw, tn_lower_binary(lw, TN_OP_and,
		tn_lower_binary(lw, TN_OP_le, tn_lower_int(lw, 0), at),
		tn_lower_binary(lw, TN_OP_lt, at, end)));
	if (axis->stride != 1)
		tn_lower_if(lw, tn_lower_binary(lw, TN_OP_eq,
			tn_kexpr_mod(kernel, at, stride),
			tn_lower_int(lw, 0)));
	return tn_kexpr_fdiv(kernel, at, stride);
}

static void lower_conv_transpose(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_type *type = op->out[0]->type;
	const struct tn_type *weight = tn_graph_in(op, 1)->type;
	int64_t groups = tn_lower_attr_int(op, "groups");
	const struct tn_dim *inputs = share(lw, weight->dims[0], groups);
	const struct tn_kexpr *out[TN_MAX_RANK], *c;
	const struct tn_kexpr *in[TN_MAX_RANK], *w[TN_MAX_RANK], *base;
	struct axis axis;
	size_t mark = tn_lower_mark(lw), inner;
	struct tn_kvar *acc;
	int i;

	tn_lower_for_result(lw, op, 0, out);
	base = groups > 1 ? group_base(lw, out[1], weight->dims[1], inputs)
			  : tn_lower_int(lw, 0);
	acc = tn_lower_mut(lw, "acc", tn_lower_number(
		lw, tn_lower_wide(type->dtype), 0));
	inner = tn_lower_mark(lw);
	c = tn_lower_for_dim(lw, "c", inputs);
	in[0] = out[0];
	in[1] = w[0] = tn_kexpr_add(lw->kernel, base, c);
	w[1] = groups > 1 ? tn_kexpr_mod(lw->kernel, out[1],
					 tn_lower_dim(lw, weight->dims[1]))
			  : out[1];
	for (i = 0; i < type->rank - 2; i++) {
		read_axis(lw, op, i, &axis);
		in[2 + i] = open_source(lw, i, &axis, out[2 + i], &w[2 + i]);
	}
	accumulate(lw, acc, tn_lower_element(lw, tn_graph_in(op, 0), in),
		   tn_lower_element(lw, tn_graph_in(op, 1), w));
	tn_lower_close(lw, inner);
	close_conv(lw, op, out, acc);
	tn_lower_close(lw, mark);
}

/* Cells of the window that an average divides by. */
static const struct tn_kexpr *cells(struct tn_lower *lw,
				    const struct tn_op *op,
				    const struct axis *axes, int n,
				    enum tn_dtype wide)
{
	bool valid = tn_lower_attr_text(op, "count")[0] == 'v';
	const struct tn_kexpr *count = tn_lower_int(lw, 1);
	int i;

	for (i = 0; i < n; i++) {
		const struct tn_kexpr *here = axes[i].size;

		if (valid && axes[i].to != axes[i].size)
			here = tn_lower_binary(lw, TN_OP_max,
				tn_kexpr_sub(lw->kernel, axes[i].to,
					     axes[i].from),
				tn_lower_int(lw, 0));
		count = tn_kexpr_mul(lw->kernel, count, here);
	}
	if (count && count->kind == TN_KEXPR_INT)
		return tn_lower_number(lw, wide, count->i);
	return tn_lower_cast(lw, wide, count);
}

static void lower_pool(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	const struct tn_type *type = op->out[0]->type;
	enum tn_dtype wide = tn_lower_wide(type->dtype);
	const struct tn_kexpr *out[TN_MAX_RANK], *in[TN_MAX_RANK];
	const struct tn_kexpr *cell, *value;
	struct axis axes[TN_MAX_RANK];
	size_t mark = tn_lower_mark(lw), inner;
	struct tn_kvar *acc;
	int i, n = type->rank - 2;

	tn_lower_for_result(lw, op, 0, out);
	for (i = 0; i < n; i++) {
		read_axis(lw, op, i, &axes[i]);
		clamp_axis(lw, &axes[i], out[2 + i]);
	}
	acc = tn_lower_mut(lw, "acc",
			   tn_lower_identity(lw, info->identity, wide));
	inner = tn_lower_mark(lw);
	in[0] = out[0];
	in[1] = out[1];
	for (i = 0; i < n; i++)
		in[2 + i] = open_axis(lw, i, &axes[i], &cell);
	value = tn_lower_element(lw, tn_graph_in(op, 0), in);
	value = tn_lower_cast(lw, wide, value);
	tn_lower_set(lw, acc, tn_lower_binary(lw, info->combine,
					      tn_lower_get(lw, acc), value));
	tn_lower_close(lw, inner);
	value = tn_lower_get(lw, acc);
	if (tn_op_has(op->code, TN_FLAG_MEAN))
		value = tn_lower_binary(lw, TN_OP_div, value,
					cells(lw, op, axes, n, wide));
	value = tn_lower_cast(lw, type->dtype, value);
	tn_lower_finish(lw, op, 0, out, value);
	tn_lower_close(lw, mark);
}

void tn_lower_window(struct tn_lower *lw, const struct tn_op *op)
{
	enum tn_srule rule = tn_ops[op->code].srule;

	if (rule == TN_SRULE_CONV)
		lower_conv(lw, op);
	else if (rule == TN_SRULE_CONV_TRANSPOSE)
		lower_conv_transpose(lw, op);
	else if (rule == TN_SRULE_POOL)
		lower_pool(lw, op);
	else
		tn_lower_resize(lw, op);
}
