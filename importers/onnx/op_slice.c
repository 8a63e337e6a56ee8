/*
 * Handlers that cut and frame: Slice, Split, Pad.
 */
#include <limits.h>
#include <string.h>

#include "importers/onnx/table.h"

/* ---- Slice: bounds that are known ------------------------------------------------ */

/* What is cut of each axis, all resolved: start <= stop, step not 0. */
struct cut {
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	int64_t step[TN_MAX_RANK];
	int nreversed;
	int64_t reversed[TN_MAX_RANK];
};

/* A bound as ONNX has it, from 0 and within [lo, hi]. */
static const struct tn_dim *within(struct tn_dim_pool *pool,
				   const struct tn_dim *at,
				   const struct tn_dim *size,
				   const struct tn_dim *lo,
				   const struct tn_dim *hi)
{
	int64_t least, most;

	if (tn_dim_is_const(at)) {
		if (at->value > INT_MAX - 1)
			return hi;
		if (at->value < -INT_MAX)
			return lo;
	}
	tn_dim_bounds(at, &least, &most);
	if (least < 0 && most >= 0)
		return NULL;
	if (most < 0)
		at = tn_dim_add(pool, at, size);
	return tn_dim_max(pool, lo, tn_dim_min(pool, at, hi));
}

static bool cut_forward(struct tn_onnx *n, struct cut *cut, int axis,
			const struct tn_dim *size, const struct tn_dim *from,
			const struct tn_dim *to)
{
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	const struct tn_dim *zero = tn_onnx_number(n, 0);

	cut->start[axis] = within(pool, from, size, zero, size);
	cut->stop[axis] = within(pool, to, size, zero, size);
	cut->stop[axis] = tn_dim_max(pool, cut->start[axis],
				     cut->stop[axis]);
	return cut->start[axis] && cut->stop[axis];
}

/* From `from` down to but without `to`: the same elements upwards, turned. The
 * first lies within the axis, whatever `from`; there may be none. */
static bool cut_backward(struct tn_onnx *n, struct cut *cut, int axis,
			 const struct tn_dim *size, const struct tn_dim *from,
			 const struct tn_dim *to)
{
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	const struct tn_dim *one = tn_onnx_number(n, 1);
	const struct tn_dim *zero = tn_onnx_number(n, 0);
	const struct tn_dim *least = tn_onnx_number(n, -1), *high, *low;
	const struct tn_dim *last = tn_dim_sub(pool, size, one), *count;
	int64_t step = -cut->step[axis], fewest, most;

	high = within(pool, from, size, tn_dim_min(pool, zero, last), last);
	low = within(pool, to, size, least, last);
	count = tn_dim_sub(pool, high, low);
	count = tn_dim_add(pool, count, tn_onnx_number(n, step - 1));
	count = tn_dim_floordiv(pool, count, tn_onnx_number(n, step));
	count = tn_dim_max(pool, zero, count);
	if (!count)
		return false;
	cut->stop[axis] = tn_dim_add(pool, high, one);
	cut->start[axis] = tn_dim_sub(pool, cut->stop[axis],
		tn_dim_add(pool, tn_dim_mul(pool, tn_dim_sub(pool, count, one),
			tn_onnx_number(n, step)), one));
	tn_dim_bounds(count, &fewest, &most);
	if (fewest < 1)
		cut->start[axis] = tn_dim_min(pool, cut->start[axis],
					      cut->stop[axis]);
	if (most < 1)
		cut->start[axis] = cut->stop[axis] = zero;
	cut->step[axis] = step;
	cut->reversed[cut->nreversed++] = axis;
	return cut->start[axis] && cut->stop[axis];
}

static void give_cut(struct tn_onnx *n, struct tn_value *x,
		     const struct cut *cut)
{
	int rank = x->type->rank;
	struct tn_value *out;

	out = tn_onnx_text(n, "slice(%v, start=%D, stop=%D, step=%I)", x, rank,
			   cut->start, rank, cut->stop, rank, cut->step);
	if (out && cut->nreversed)
		out = tn_onnx_text(n, "reverse(%v, axes=%I)", out,
				   cut->nreversed, cut->reversed);
	tn_onnx_give(n, 0, out);
}

/* The bounds of slice, by operand or attribute. */
struct bounds {
	int count;
	const struct tn_dim *from[TN_MAX_RANK], *to[TN_MAX_RANK];
	int64_t axes[TN_MAX_RANK], steps[TN_MAX_RANK];
};

static bool of_attributes(struct tn_onnx *n, struct bounds *b)
{
	const int64_t *from, *to, *axes;
	int count = tn_onnx_list(n, "starts", &from), i;
	bool has_axes = tn_onnx_list(n, "axes", &axes) == count;

	if (count > TN_MAX_RANK || tn_onnx_list(n, "ends", &to) != count)
		return false;
	b->count = count;
	for (i = 0; i < count; i++) {
		b->from[i] = tn_onnx_number(n, from[i]);
		b->to[i] = tn_onnx_number(n, to[i]);
		b->axes[i] = has_axes ? axes[i] : i;
		b->steps[i] = 1;
	}
	return count >= 0;
}

/* False: something is known at run time alone. */
static bool of_operands(struct tn_onnx *n, struct bounds *b)
{
	int count, i;

	if (!tn_onnx_sizes(n, 1, TN_MAX_RANK, b->from, &b->count) ||
	    !tn_onnx_sizes(n, 2, TN_MAX_RANK, b->to, &count) ||
	    count != b->count)
		return false;
	for (i = 0; i < count; i++) {
		b->axes[i] = i;
		b->steps[i] = 1;
	}
	if (tn_onnx_has(n, 3) &&
	    (!tn_onnx_ints(n, 3, TN_MAX_RANK, b->axes, &count) ||
	     count != b->count))
		return false;
	return !tn_onnx_has(n, 4) ||
	       (tn_onnx_ints(n, 4, TN_MAX_RANK, b->steps, &count) &&
		count == b->count);
}

static bool cut_axis(struct tn_onnx *n, const struct tn_value *x,
		     const struct bounds *b, int i, struct cut *cut)
{
	int axis = tn_onnx_axis(n, b->axes[i], x->type->rank);
	const struct tn_dim *size;

	if (axis < 0)
		return false;
	if (!b->steps[i]) {
		tn_onnx_report(n, TN_E1012, "a step of 0");
		return false;
	}
	size = x->type->dims[axis];
	cut->step[axis] = b->steps[i];
	if (b->steps[i] > 0 ?
	    cut_forward(n, cut, axis, size, b->from[i], b->to[i]) :
	    cut_backward(n, cut, axis, size, b->from[i], b->to[i]))
		return true;
	tn_onnx_refuse(n, "bounds of axis %d", axis);
	return false;
}

static void slice_known(struct tn_onnx *n, struct tn_value *x,
			const struct bounds *b)
{
	struct cut cut = { .nreversed = 0 };
	int i;

	for (i = 0; i < x->type->rank; i++) {
		cut.start[i] = tn_onnx_number(n, 0);
		cut.stop[i] = x->type->dims[i];
		cut.step[i] = 1;
	}
	for (i = 0; i < b->count; i++)
		if (!cut_axis(n, x, b, i, &cut))
			return;
	give_cut(n, x, &cut);
}

/* ---- Slice: bounds at run time ---------------------------------------------------- */

/* Operand i, or what stands for it. */
static struct tn_value *or_else(struct tn_onnx *n, int i, const char *text,
				const struct tn_value *like)
{
	struct tn_value *x = tn_onnx_has(n, i) ? tn_onnx_in(n, i) :
		tn_onnx_text(n, text, like->type->rank, like->type->dims);

	return x ? tn_onnx_text(n, "cast(%v, i64)", x) : NULL;
}

/* The indices of one axis: start + iota * step, of bounds that are looked up
 * by the axis. */
static struct tn_value *places(struct tn_onnx *n, struct tn_value **in,
			       int axis, int rank, const struct tn_dim *size,
			       const struct tn_dim *count)
{
	struct tn_value *is, *from, *to, *step;

	is = tn_onnx_text(n, "%v == %i || %v == %i", in[2], (int64_t)axis,
			  in[2], (int64_t)(axis - rank));
	step = is ? tn_onnx_text(n, "select(any(%v), sum(select(%v, %v, 0)), "
				 "1)", is, is, in[3]) : NULL;
	from = step ? tn_onnx_text(n, "f = sum(select(%v, %v, 0)); "
		"w = select(f < 0, f + %d, f); return min(max(w, 0), "
		"select(%v < 0, %d - 1, %d))", is, in[0], size, step, size,
		size) : NULL;
	to = from ? tn_onnx_text(n, "t = select(any(%v), sum(select(%v, %v, "
		"0)), %d); w = select(t < 0, t + %d, t); "
		"return min(max(w, select(%v < 0, -1, 0)), %d)", is, is, in[1],
		size, size, step, size) : NULL;
	if (!to)
		return NULL;
	tn_onnx_text(n, "s = select(%v == 0, 1, %v); q = (%v - %v + s - "
		     "sign(s)) // s; assert(max(q, 0) == %d, message=\"the "
		     "slice is not of the declared size\"); return true",
		     step, step, to, from, count);
	return tn_onnx_text(n, "%v + iota([%d], axis=0) * %v", from, count,
			    step);
}

static void slice_at_run_time(struct tn_onnx *n, struct tn_value *x)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_value *in[4], *at, *out = x;
	enum tn_dtype dtype;
	int rank, i;

	if (n->version < 10 ||
	    !tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank != x->type->rank) {
		tn_onnx_unknown(n, "bounds that only run time knows");
		return;
	}
	in[0] = or_else(n, 1, "", x);
	if (!in[0] || in[0]->type->rank != 1)
		return;
	in[1] = or_else(n, 2, "", x);
	in[2] = or_else(n, 3, "iota(%D)", in[0]);
	in[3] = or_else(n, 4, "ones(%D, elem=i64)", in[0]);
	if (n->failed)
		return;
	for (i = 0; out && i < rank; i++) {
		at = places(n, in, i, rank, x->type->dims[i], dims[i]);
		out = at ? tn_onnx_text(n, "gather(%v, %v, axis=%i)", out, at,
					(int64_t)i) : NULL;
	}
	tn_onnx_give(n, 0, out);
}

void tn_onnx_do_slice(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	struct bounds bounds;

	if (!x)
		return;
	if (n->version < 10 && !of_attributes(n, &bounds))
		tn_onnx_report(n, TN_E1012, "starts and ends do not fit");
	else if (n->version < 10 || of_operands(n, &bounds))
		slice_known(n, x, &bounds);
	else if (!n->failed)
		slice_at_run_time(n, x);
}

/* ---- Split --------------------------------------------------------------------------- */

/* Sizes of the parts: given, or as equal as can be, or as declared. */
static bool part_sizes(struct tn_onnx *n, const struct tn_dim *size,
		       int axis, const struct tn_dim **parts)
{
	const struct tn_dim *dims[TN_MAX_RANK], *each;
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	const int64_t *list;
	enum tn_dtype dtype;
	int count, i, rank;

	count = tn_onnx_list(n, "split", &list);
	if (count == n->nout) {
		for (i = 0; i < count; i++)
			parts[i] = tn_onnx_number(n, list[i]);
		return true;
	}
	if (tn_onnx_has(n, 1)) {
		if (tn_onnx_sizes(n, 1, ONNX_RESULTS, parts, &count))
			return count == n->nout;
		for (i = 0; i < n->nout; i++) {
			if (!tn_onnx_result(n, i, &dtype, &rank, dims) ||
			    axis >= rank)
				return false;
			parts[i] = dims[axis];
		}
		return tn_onnx_hold(n, 1, n->nout, parts);
	}
	each = tn_dim_floordiv(pool, tn_dim_add(pool, size,
				tn_onnx_number(n, n->nout - 1)),
			       tn_onnx_number(n, n->nout));
	for (i = 0; i < n->nout - 1; i++)
		parts[i] = each;
	parts[i] = tn_dim_sub(pool, size, tn_dim_mul(pool, each,
			      tn_onnx_number(n, n->nout - 1)));
	return each && parts[i];
}

void tn_onnx_do_split(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *parts[ONNX_RESULTS];
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	int axis, i;

	if (!x)
		return;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 0), x->type->rank);
	if (axis < 0 || n->nout < 1 || n->nout > ONNX_RESULTS ||
	    !part_sizes(n, x->type->dims[axis], axis, parts)) {
		tn_onnx_refuse(n, "sizes of the parts");
		return;
	}
	for (i = 0; i < x->type->rank; i++) {
		start[i] = tn_onnx_number(n, 0);
		stop[i] = x->type->dims[i];
	}
	stop[axis] = start[axis];
	for (i = 0; i < n->nout; i++) {
		start[axis] = stop[axis];
		stop[axis] = tn_dim_add(tn_onnx_pool(n), start[axis],
					parts[i]);
		tn_onnx_give(n, i, tn_onnx_text(n, "slice(%v, start=%D, "
						"stop=%D)", x, x->type->rank,
						start, x->type->rank, stop));
	}
}

/* ---- Pad ------------------------------------------------------------------------------- */

struct frame {
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK];
};

static bool is_negative(const struct tn_dim *dim)
{
	int64_t lo, hi;

	tn_dim_bounds(dim, &lo, &hi);
	return lo < 0;
}

/* Negative pads crop. */
static struct tn_value *crop(struct tn_onnx *n, struct tn_value *x,
			     struct frame *frame)
{
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	const struct tn_dim *zero = tn_onnx_number(n, 0);
	bool any = false;
	int i, rank = x->type->rank;

	for (i = 0; i < rank; i++) {
		start[i] = zero;
		stop[i] = x->type->dims[i];
		if (is_negative(frame->lo[i])) {
			start[i] = tn_dim_sub(tn_onnx_pool(n), zero,
					      frame->lo[i]);
			frame->lo[i] = zero;
			any = true;
		}
		if (is_negative(frame->hi[i])) {
			stop[i] = tn_dim_add(tn_onnx_pool(n), stop[i],
					     frame->hi[i]);
			frame->hi[i] = zero;
			any = true;
		}
	}
	return any ? tn_onnx_text(n, "slice(%v, start=%D, stop=%D)", x, rank,
				  start, rank, stop) : x;
}

/* The elements of an axis that a frame repeats: indices into the axis. */
static struct tn_value *mirrored(struct tn_onnx *n, const char *mode,
				 const struct tn_dim *size,
				 const struct tn_dim *lo,
				 const struct tn_dim *hi)
{
	const struct tn_dim *all = tn_dim_add(tn_onnx_pool(n), size,
				tn_dim_add(tn_onnx_pool(n), lo, hi));

	if (!all)
		return NULL;
	if (!strcmp(mode, "edge"))
		return tn_onnx_text(n, "min(max(iota([%d], axis=0) - %d, 0), "
				    "%d - 1)", all, lo, size);
	if (!strcmp(mode, "wrap"))
		return tn_onnx_text(n, "(iota([%d], axis=0) - %d) %% "
				    "cast(%d, i64)", all, lo, size);
	if (!strcmp(mode, "reflect"))
		return tn_onnx_text(n, "p = max(2 * %d - 2, 1); m = "
			"(iota([%d], axis=0) - %d) %% cast(p, i64); "
			"return select(m < %d, m, p - m)", size, all, lo,
			size);
	tn_onnx_refuse(n, "mode '%s'", mode);
	return NULL;
}

/* The slice of the axis at `at`, as often as `times` says. */
static struct tn_value *repeated(struct tn_onnx *n, struct tn_value *x,
				 int axis, const struct tn_dim *at,
				 const struct tn_dim *times)
{
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	int i, rank = x->type->rank;

	for (i = 0; i < rank; i++) {
		start[i] = tn_onnx_number(n, 0);
		stop[i] = x->type->dims[i];
	}
	start[axis] = at;
	stop[axis] = tn_dim_add(tn_onnx_pool(n), at, tn_onnx_number(n, 1));
	if (!stop[axis])
		return NULL;
	x = tn_onnx_text(n, "slice(%v, start=%D, stop=%D)", x, rank, start,
			 rank, stop);
	stop[axis] = times;
	return !x || tn_dim_is(times, 1) ? x :
		tn_onnx_text(n, "broadcast(%v, %D)", x, rank, stop);
}

/* The first and the last slice of an axis that has any, repeated: no indices, so
 * that it may lie in any order of memory. */
static struct tn_value *pad_edge(struct tn_onnx *n, struct tn_value *x, int axis,
				 const struct frame *frame)
{
	const struct tn_dim *last = tn_dim_sub(tn_onnx_pool(n),
		x->type->dims[axis], tn_onnx_number(n, 1));
	const struct tn_dim *first = tn_onnx_number(n, 0);
	struct tn_value *lo = NULL, *hi = NULL;

	if (last && !tn_dim_is(frame->lo[axis], 0))
		lo = repeated(n, x, axis, first, frame->lo[axis]);
	if (last && !tn_dim_is(frame->hi[axis], 0))
		hi = repeated(n, x, axis, last, frame->hi[axis]);
	if (lo && hi)
		return tn_onnx_text(n, "concat([%v, %v, %v], axis=%i)", lo, x,
				    hi, (int64_t)axis);
	return !lo && !hi ? NULL :
		tn_onnx_text(n, "concat([%v, %v], axis=%i)", lo ? lo : x,
			     lo ? x : hi, (int64_t)axis);
}

static void pad_by_index(struct tn_onnx *n, struct tn_value *x,
			 const char *mode, const struct frame *frame)
{
	struct tn_value *at;
	int64_t least, most;
	int i;

	for (i = 0; x && i < x->type->rank; i++) {
		if (tn_dim_is(frame->lo[i], 0) && tn_dim_is(frame->hi[i], 0))
			continue;
		tn_dim_bounds(x->type->dims[i], &least, &most);
		if (!strcmp(mode, "edge") && least > 0) {
			x = pad_edge(n, x, i, frame);
			continue;
		}
		at = mirrored(n, mode, x->type->dims[i], frame->lo[i],
			      frame->hi[i]);
		x = at ? tn_onnx_text(n, "gather(%v, %v, axis=%i)", x, at,
				      (int64_t)i) : NULL;
	}
	tn_onnx_give(n, 0, x);
}

static struct tn_value *pad_value(struct tn_onnx *n, const struct tn_value *x)
{
	struct tn_value *value;

	if (n->version < 11 && tn_onnx_attr(n, "value"))
		return tn_onnx_text(n, "cast(%f, %t)",
				    tn_onnx_float(n, "value", 0),
				    x->type->dtype);
	if (n->version < 11 || !tn_onnx_has(n, 2))
		return x->type->dtype == TN_bool ?
			tn_onnx_text(n, "cast(false, bool)") :
			tn_onnx_text(n, "cast(0, %t)", x->type->dtype);
	value = tn_onnx_in(n, 2);
	return value && value->type->rank ?
		tn_onnx_text(n, "reshape(%v, [])", value) : value;
}

static void pad_constant(struct tn_onnx *n, struct tn_value *x,
			 const struct frame *frame)
{
	struct tn_value *value = pad_value(n, x);
	const struct tn_dim *pairs[2 * TN_MAX_RANK];
	struct tn_builder b;
	struct tn_attr attr;
	struct tn_value *in[2];
	struct tn_op *op;
	int i;

	if (!value)
		return;
	for (i = 0; i < x->type->rank; i++) {
		pairs[2 * i] = frame->lo[i];
		pairs[2 * i + 1] = frame->hi[i];
	}
	in[0] = x;
	in[1] = value;
	attr = tn_attr_pairs("pad", x->type->rank, pairs);
	tn_builder_init(&b, n->scope->block);
	op = tn_build_op(&b, TN_OP_pad, 2, in, 1, &attr, n->span);
	if (op && !tn_type_is_poison(op->out[0]->type)) {
		tn_onnx_note(n->job, op);
		tn_onnx_give(n, 0, op->out[0]);
	} else {
		n->job->is_bad = true;
		n->failed = true;
	}
}

/* Pads of the axes named, in the order of ONNX: all begins, then all ends. */
static bool frame_of(struct tn_onnx *n, int rank, int count,
		     const struct tn_dim *const *pads, struct frame *frame)
{
	int64_t axes[TN_MAX_RANK];
	int naxes = rank, i, axis;

	for (i = 0; i < rank; i++) {
		frame->lo[i] = frame->hi[i] = tn_onnx_number(n, 0);
		axes[i] = i;
	}
	if (tn_onnx_has(n, 3) &&
	    !tn_onnx_ints(n, 3, TN_MAX_RANK, axes, &naxes)) {
		tn_onnx_unknown(n, "axes that only run time knows");
		return false;
	}
	if (count != 2 * naxes) {
		tn_onnx_report(n, TN_E1012, "%d pads for %d axes", count,
			       naxes);
		return false;
	}
	for (i = 0; i < naxes; i++) {
		axis = tn_onnx_axis(n, axes[i], rank);
		if (axis < 0)
			return false;
		frame->lo[axis] = pads[i];
		frame->hi[axis] = pads[i + naxes];
	}
	return true;
}

/* Pads at run time: each element of the result is looked up, or the value. */
static void pad_at_run_time(struct tn_onnx *n, struct tn_value *x,
			    const char *mode)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_value *pads = tn_onnx_in(n, 1), *axes, *at, *in, *out = x;
	struct tn_value *value = pad_value(n, x);
	const char *wrapped = !strcmp(mode, "wrap") ?
		"return m %% cast(%d, i64), m == m" :
		!strcmp(mode, "edge") ?
		"return min(max(m, 0), %d - 1), m == m" :
		!strcmp(mode, "reflect") ?
		"p = max(2 * %d - 2, 1); r = m %% cast(p, i64); "
		"return min(r, p - r), m == m" :
		"return min(max(m, 0), max(%d - 1, 0)), m >= 0 && m < %d";
	const struct tn_dim *ones[TN_MAX_RANK];
	enum tn_dtype dtype;
	struct tn_value *pair[2];
	const char *text;
	int rank, i;

	for (i = 1; i < TN_MAX_RANK; i++)
		ones[i] = tn_onnx_number(n, 1);
	if (!pads || !value || pads->type->rank != 1 ||
	    !tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank != x->type->rank) {
		tn_onnx_unknown(n, "pads that only run time knows");
		return;
	}
	axes = tn_onnx_has(n, 3) ? tn_onnx_in(n, 3) :
		tn_onnx_text(n, "iota([%d], axis=0)", tn_onnx_number(n, rank));
	for (i = 0; axes && out && i < rank; i++) {
		text = tn_arena_printf(&n->job->arena, "a = cast(%%v, i64); "
			"k = a == %d || a == %d; l = reshape(%%v, [2, _]); "
			"lo = sum(select(k, l[0], 0)); "
			"hi = sum(select(k, l[1], 0)); "
			"assert(lo + hi + %%d == %%d, message=\"the pads do "
			"not give the declared size\"); "
			"m = iota([%%d], axis=0) - lo; %s", i, i - rank,
			wrapped);
		if (!text || !tn_onnx_texts(n, 2, pair, text, axes, pads,
					    x->type->dims[i], dims[i], dims[i],
					    x->type->dims[i],
					    x->type->dims[i]))
			return;
		at = pair[0];
		ones[0] = dims[i];
		in = tn_onnx_text(n, "reshape(%v, %D)", pair[1], rank - i,
				  ones);
		out = tn_onnx_text(n, "gather(%v, %v, axis=%i)", out, at,
				   (int64_t)i);
		if (out && in && strcmp(mode, "constant") == 0)
			out = tn_onnx_text(n, "select(%v, %v, %v)", in, out,
					   value);
	}
	tn_onnx_give(n, 0, out);
}

void tn_onnx_do_pad(struct tn_onnx *n)
{
	const char *mode = tn_onnx_string(n, "mode", "constant");
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *pads[2 * TN_MAX_RANK];
	struct frame frame;
	const int64_t *list;
	int count, i;

	if (!x)
		return;
	if (n->version >= 11) {
		if (!tn_onnx_sizes(n, 1, 2 * TN_MAX_RANK, pads, &count)) {
			if (!n->failed)
				pad_at_run_time(n, x, mode);
			return;
		}
	} else {
		count = tn_onnx_list(n, n->version < 2 ? "paddings" : "pads",
				     &list);
		for (i = 0; i < count && i < 2 * TN_MAX_RANK; i++)
			pads[i] = tn_onnx_number(n, list[i]);
	}
	if (count > 2 * TN_MAX_RANK ||
	    !frame_of(n, x->type->rank, count, pads, &frame))
		return;
	x = crop(n, x, &frame);
	if (!x)
		return;
	if (!strcmp(mode, "constant"))
		pad_constant(n, x, &frame);
	else
		pad_by_index(n, x, mode, &frame);
}
