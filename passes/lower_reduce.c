/*
 * Reductions and running reductions.
 *
 * In: an anchor of class REDUCE or SCAN. Out: a nest over the axes kept, in
 * it an accumulator and a nest over the axes that go, in row-major order.
 * 16-bit floats accumulate in f32 and round once at the end.
 *
 *   s = sum(x, axes=[1])  ->  for i { let mut acc = 0; for r { acc += x[i, r] }
 *                             s[i] = acc }
 *
 * A long sum of floats along an axis that is not the last is one of sums, so
 * that its error grows with the root of the length and not with the length
 * (along the last, vectors do that: schedule_lanes.c):
 *
 *   for r in 0..8 { let mut part = 0; for s in 0..64 { part += x[r * 64 + s, j] }
 *   acc += part }
 */
#include "passes/lower.h"

/* Elements of a sum that is a part of another, and how long the whole is. */
#define PART_LEAST 32
#define PART_MOST 64
#define LONG_SUM 256

/* A product among others, whose sum may be contracted, is rounded first. */
static void combine(struct tn_lower *lw, enum tn_opcode code,
		    struct tn_kvar *acc, const struct tn_kexpr *value)
{
	const struct tn_kexpr *now = tn_lower_get(lw, acc);

	if (lw->homes && value && value->kind == TN_KEXPR_OP)
		value = tn_lower_let(lw, "x", value);

	if (code == TN_OP_add) {
		if (!tn_kstmt_set(lw->kernel, lw->block, acc, value, true))
			lw->failed = true;
		return;
	}
	tn_lower_set(lw, acc, tn_lower_binary(lw, code, now, value));
}

static bool is_reduced(const struct tn_op *op, int axis)
{
	const struct tn_attr *axes = tn_graph_attr(op, "axes");
	int i;

	if (!axes)
		return tn_lower_attr_int(op, "axis") == axis;
	if (!axes->is_set)
		return true;
	for (i = 0; i < axes->count; i++)
		if (axes->u.ints[i] == axis)
			return true;
	return false;
}

/* Opens the loops over the result; `in` gets the kept axes of the operand. */
static void open_kept(struct tn_lower *lw, const struct tn_op *op,
		      const struct tn_kexpr **out, const struct tn_kexpr **in)
{
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	bool keep = tn_lower_attr_bool(op, "keep");
	int i, n = 0;

	tn_lower_for_result(lw, op, 0, out);
	for (i = 0; i < type->rank; i++) {
		bool gone = is_reduced(op, i);

		in[i] = gone ? NULL : out[n];
		n += keep || !gone;
	}
}

static void open_reduced(struct tn_lower *lw, const struct tn_op *op,
			 const struct tn_kexpr **in)
{
	static const char *const names[] = { "r", "s", "t", "u" };
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	int i, n = 0;

	for (i = 0; i < type->rank; i++)
		if (!in[i]) {
			in[i] = tn_lower_for_dim(lw, names[n < 4 ? n : 3],
						 type->dims[i]);
			n++;
		}
}

/* The axis of a long sum that is taken in parts, of *part elements each; -1:
 * it is not. */
static int axis_in_parts(const struct tn_op *op, int64_t *part)
{
	const struct tn_type *type = tn_graph_in(op, 0)->type;
	const struct tn_dim *dim = NULL;
	int i, axis = -1;

	if (tn_ops[op->code].combine != TN_OP_add ||
	    !tn_dtype_is(type->dtype, TN_KIND_F))
		return -1;
	for (i = 0; i < type->rank; i++) {
		if (!is_reduced(op, i))
			continue;
		if (axis >= 0)
			return -1;
		axis = i;
		dim = type->dims[i];
	}
	if (axis < 0 || axis == type->rank - 1 || !tn_dim_is_const(dim) ||
	    dim->value < LONG_SUM)
		return -1;
	for (*part = PART_MOST; *part >= PART_LEAST; --*part)
		if (dim->value % *part == 0)
			return axis;
	return -1;
}

/* acc += the sum of each part of the axis. */
static void sum_parts(struct tn_lower *lw, const struct tn_op *op,
		      const struct tn_kexpr **in, int axis, int64_t part,
		      struct tn_kvar *acc)
{
	const struct tn_value *x = tn_graph_in(op, 0);
	int64_t parts = x->type->dims[axis]->value / part;
	size_t mark = tn_lower_mark(lw), inner;
	const struct tn_kexpr *r, *s, *value;
	struct tn_kvar *sum;

	r = tn_lower_for(lw, "r", tn_lower_int(lw, 0),
			 tn_lower_int(lw, parts));
	sum = tn_lower_mut(lw, "part", tn_lower_identity(
		lw, tn_ops[op->code].identity, acc->dtype));
	inner = tn_lower_mark(lw);
	s = tn_lower_for(lw, "s", tn_lower_int(lw, 0),
			 tn_lower_int(lw, part));
	in[axis] = tn_kexpr_add(lw->kernel, tn_kexpr_mul(
		lw->kernel, r, tn_lower_int(lw, part)), s);
	value = tn_lower_element(lw, x, in);
	combine(lw, TN_OP_add, sum, tn_lower_cast(lw, acc->dtype, value));
	tn_lower_close(lw, inner);
	combine(lw, TN_OP_add, acc, tn_lower_get(lw, sum));
	tn_lower_close(lw, mark);
}

static void reduce_values(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	enum tn_dtype dtype = op->out[0]->type->dtype;
	enum tn_dtype wide = tn_lower_wide(dtype);
	const struct tn_kexpr *out[TN_MAX_RANK], *in[TN_MAX_RANK], *value;
	size_t mark = tn_lower_mark(lw), inner;
	struct tn_kvar *acc;
	int64_t part;
	int axis = axis_in_parts(op, &part);

	open_kept(lw, op, out, in);
	acc = tn_lower_mut(lw, "acc",
			   tn_lower_identity(lw, info->identity, wide));
	inner = tn_lower_mark(lw);
	if (axis >= 0) {
		sum_parts(lw, op, in, axis, part, acc);
	} else {
		open_reduced(lw, op, in);
		value = tn_lower_element(lw, tn_graph_in(op, 0), in);
		combine(lw, info->combine, acc,
			tn_lower_cast(lw, wide, value));
	}
	tn_lower_close(lw, inner);
	value = tn_lower_cast(lw, dtype, tn_lower_get(lw, acc));
	tn_lower_finish(lw, op, 0, out, value);
	tn_lower_close(lw, mark);
}

/* x wins over best; of floats also the first NaN. `or equal` for the last. */
static const struct tn_kexpr *is_better(struct tn_lower *lw,
					const struct tn_op *op,
					const struct tn_kexpr *x,
					const struct tn_kexpr *best)
{
	bool last = tn_lower_attr_bool(op, "last");
	bool greatest = tn_ops[op->code].identity ==
		TN_IDENTITY_LOWEST;
	enum tn_opcode code = last ? TN_OP_le : TN_OP_lt;
	const struct tn_kexpr *wins, *is_nan, *was_number;

	if (!x)
		return NULL;
	wins = tn_lower_binary(lw, code, greatest ? best : x,
			       greatest ? x : best);
	if (!tn_dtype_is(x->dtype, TN_KIND_F))
		return wins;
	is_nan = tn_lower_unary(lw, TN_OP_not,
				tn_lower_binary(lw, TN_OP_eq, x, x));
	was_number = tn_lower_binary(lw, TN_OP_eq, best, best);
	return tn_lower_binary(lw, TN_OP_or, wins,
			       tn_lower_binary(lw, TN_OP_and, is_nan,
					       was_number));
}

static void reduce_places(struct tn_lower *lw, const struct tn_op *op)
{
	enum tn_dtype dtype = tn_graph_in(op, 0)->type->dtype;
	int64_t axis = tn_lower_attr_int(op, "axis");
	const struct tn_kexpr *out[TN_MAX_RANK], *in[TN_MAX_RANK], *x;
	size_t mark = tn_lower_mark(lw), inner;
	struct tn_kvar *best, *place;

	open_kept(lw, op, out, in);
	best = tn_lower_mut(lw, "best",
			    tn_lower_identity(lw, tn_ops[op->code].identity,
					      dtype));
	place = tn_lower_mut(lw, "place", tn_lower_int(lw, 0));
	inner = tn_lower_mark(lw);
	open_reduced(lw, op, in);
	x = tn_lower_element(lw, tn_graph_in(op, 0), in);
	x = tn_lower_let(lw, "x", x);
	tn_lower_if(lw, is_better(lw, op, x, tn_lower_get(lw, best)));
	tn_lower_set(lw, best, x);
	tn_lower_set(lw, place, in[axis]);
	tn_lower_close(lw, inner);
	x = tn_lower_cast(lw, op->out[0]->type->dtype,
			  tn_lower_get(lw, place));
	tn_lower_finish(lw, op, 0, out, x);
	tn_lower_close(lw, mark);
}

void tn_lower_reduce(struct tn_lower *lw, const struct tn_op *op)
{
	if (tn_op_has(op->code, TN_FLAG_ARG))
		reduce_places(lw, op);
	else
		reduce_values(lw, op);
}

/* The running axis goes innermost, the others around it. */
static const struct tn_kexpr *open_running(struct tn_lower *lw,
					   const struct tn_op *op,
					   const struct tn_kexpr **index)
{
	static const char *const names[] = { "i", "j", "k", "l", "m", "n" };
	const struct tn_type *type = op->out[0]->type;
	int64_t axis = tn_lower_attr_int(op, "axis");
	int i;

	for (i = 0; i < type->rank; i++)
		if (i != axis)
			index[i] = tn_lower_for_dim(lw, names[i < 6 ? i : 5],
						    type->dims[i]);
	return tn_lower_dim(lw, type->dims[axis]);
}

void tn_lower_scan(struct tn_lower *lw, const struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	enum tn_dtype dtype = op->out[0]->type->dtype;
	enum tn_dtype wide = tn_lower_wide(dtype);
	bool exclusive = tn_lower_attr_bool(op, "exclusive");
	int64_t axis = tn_lower_attr_int(op, "axis");
	const struct tn_kexpr *index[TN_MAX_RANK], *n, *r, *value, *stored;
	size_t mark = tn_lower_mark(lw);
	struct tn_kvar *acc;

	n = open_running(lw, op, index);
	acc = tn_lower_mut(lw, "acc",
			   tn_lower_identity(lw, info->identity, wide));
	r = tn_lower_for(lw, "r", tn_lower_int(lw, 0), n);
	index[axis] = r;
	if (tn_lower_attr_bool(op, "reverse"))
		index[axis] = tn_lower_let(lw, "at", tn_kexpr_sub(
			lw->kernel, tn_kexpr_sub(lw->kernel, n,
						 tn_lower_int(lw, 1)), r));
	value = tn_lower_element(lw, tn_graph_in(op, 0), index);
	value = tn_lower_let(lw, "x", tn_lower_cast(lw, wide, value));
	stored = tn_lower_get(lw, acc);
	if (exclusive)
		stored = tn_lower_let(lw, "sum", stored);
	combine(lw, info->combine, acc, value);
	tn_lower_finish(lw, op, 0, index, tn_lower_cast(lw, dtype, stored));
	tn_lower_close(lw, mark);
}
