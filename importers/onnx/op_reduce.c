/*
 * Handlers of reductions and running reductions.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* The axes of a reduction, from 0, each once; -1: all. */
struct axes {
	int count;
	int64_t at[TN_MAX_RANK];
	bool is_none;		/* there are none: nothing is reduced */
	bool failed;
};

static void normalise(struct tn_onnx *n, struct axes *axes, int count,
		      const int64_t *list, int rank)
{
	bool seen[TN_MAX_RANK] = { false };
	int i, axis;

	axes->count = 0;
	for (i = 0; i < count; i++) {
		axis = tn_onnx_axis(n, list[i], rank);
		if (axis < 0) {
			axes->failed = true;
			return;
		}
		if (!seen[axis])
			axes->at[axes->count++] = axis;
		seen[axis] = true;
	}
}

/* From input 1 or, in older models, the attribute. */
static struct axes read_axes(struct tn_onnx *n, int rank)
{
	struct axes axes = { .count = -1 };
	const int64_t *list = NULL;
	int64_t known[ONNX_KNOWN];
	int count = -1;

	if (tn_onnx_has(n, 1)) {
		if (!tn_onnx_ints(n, 1, ONNX_KNOWN, known, &count)) {
			axes.failed = true;
			return axes;
		}
		list = known;
	} else {
		count = tn_onnx_list(n, "axes", &list);
	}
	if (count > 0)
		normalise(n, &axes, count, list, rank);
	else if (tn_onnx_int(n, "noop_with_empty_axes", 0))
		axes.is_none = true;
	return axes;
}

/* ---- Axes that only run time knows ------------------------------------------- */

/* One reduction of a value by axes that are known. */
typedef struct tn_value *reduce_fn(struct tn_onnx *n, struct tn_value *x,
				   const struct axes *axes, bool keep);

/* Reduced by each set of axes that gives the declared shape; run time picks
 * one of the results. */
static struct tn_value *reduce_at_run_time(struct tn_onnx *n,
					   struct tn_value *x, bool keep,
					   reduce_fn *reduce)
{
	struct tn_value *axes = tn_onnx_in(n, 1), *out = NULL, *one, *is;
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_onnx_choices choices = { .count = 0 };
	enum tn_dtype dtype;
	struct axes known;
	int i, k, rank;

	if (axes && tn_onnx_result(n, 0, &dtype, &rank, dims))
		tn_onnx_choose(x->type, keep, rank, dims, &choices);
	if (!choices.count || !tn_onnx_axes_check(n, axes, x->type->rank,
						  &choices)) {
		tn_onnx_unknown(n, "axes that only run time knows");
		return NULL;
	}
	for (i = choices.count - 1; i >= 0; i--) {
		memset(&known, 0, sizeof(known));
		for (k = 0; k < x->type->rank; k++)
			if (choices.mask[i] >> k & 1)
				known.at[known.count++] = k;
		known.is_none = !known.count;
		one = reduce(n, x, &known, keep);
		if (i == choices.count - 1 || !one) {
			out = one;
			continue;
		}
		is = tn_onnx_axes_are(n, axes, choices.mask[i],
				      x->type->rank);
		out = is ? tn_onnx_text(n, "select(%v, %v, %v)", is, one, out) :
			NULL;
	}
	return out;
}

/* ---- The reductions -------------------------------------------------------------- */

static struct tn_value *apply(struct tn_onnx *n, const char *name,
			      struct tn_value *x, const struct axes *axes,
			      bool keep)
{
	const char *kept = keep ? "true" : "false";

	if (!x || axes->is_none)
		return x;
	if (axes->count < 0)
		return tn_onnx_text(n, "%s(%v, keep=%s)", name, x, kept);
	return tn_onnx_text(n, "%s(%v, axes=%I, keep=%s)", name, x,
			    axes->count, axes->at, kept);
}

static bool is_bool(const struct tn_value *x)
{
	return x->type->dtype == TN_bool;
}

static bool is_float(const struct tn_value *x)
{
	return x->type->dtype < TN_DTYPE_COUNT &&
	       tn_dtype_is(x->type->dtype, TN_KIND_F);
}

static struct tn_value *do_sum(struct tn_onnx *n, struct tn_value *x,
			       const struct axes *axes, bool keep)
{
	return apply(n, "sum", x, axes, keep);
}

static struct tn_value *do_prod(struct tn_onnx *n, struct tn_value *x,
				const struct axes *axes, bool keep)
{
	return apply(n, "prod", x, axes, keep);
}

static struct tn_value *do_max(struct tn_onnx *n, struct tn_value *x,
			       const struct axes *axes, bool keep)
{
	return apply(n, is_bool(x) ? "any" : "reduce_max", x, axes, keep);
}

static struct tn_value *do_min(struct tn_onnx *n, struct tn_value *x,
			       const struct axes *axes, bool keep)
{
	return apply(n, is_bool(x) ? "all" : "reduce_min", x, axes, keep);
}

/* Of integers the quotient towards 0. */
static struct tn_value *do_mean(struct tn_onnx *n, struct tn_value *x,
				const struct axes *axes, bool keep)
{
	struct tn_value *sum;

	if (is_float(x))
		return apply(n, "mean", x, axes, keep);
	if (axes->is_none)
		return x;
	sum = apply(n, "sum", x, axes, keep);
	if (!sum)
		return NULL;
	if (axes->count < 0)
		return tn_onnx_text(n, "tdiv(%v, cast(count(%v), %t))", sum, x,
				    x->type->dtype);
	return tn_onnx_text(n, "tdiv(%v, cast(count(%v, axes=%I), %t))", sum,
			    x, axes->count, axes->at, x->type->dtype);
}

static struct tn_value *do_l1(struct tn_onnx *n, struct tn_value *x,
			      const struct axes *axes, bool keep)
{
	return apply(n, "sum", tn_onnx_text(n, "abs(%v)", x), axes, keep);
}

static struct tn_value *do_sum_square(struct tn_onnx *n, struct tn_value *x,
				      const struct axes *axes, bool keep)
{
	return apply(n, "sum", tn_onnx_text(n, "%v * %v", x, x), axes, keep);
}

/* Functions of a sum, in f32 for half types. */
static struct tn_value *of_sum(struct tn_onnx *n, struct tn_value *x,
			       const struct axes *axes, bool keep,
			       const char *before, const char *after)
{
	enum tn_dtype dtype = x->type->dtype;
	struct tn_value *sum;

	if (!is_float(x))
		x = tn_onnx_text(n, "cast(%v, f64)", x);
	else
		x = tn_onnx_text(n, "wide(%v)", x);
	if (x && before)
		x = tn_onnx_text(n, before, x, x);
	sum = apply(n, "sum", x, axes, keep);
	return sum ? tn_onnx_text(n, after, sum, dtype) : NULL;
}

static struct tn_value *do_l2(struct tn_onnx *n, struct tn_value *x,
			      const struct axes *axes, bool keep)
{
	return of_sum(n, x, axes, keep, "%v * %v", "cast(sqrt(%v), %t)");
}

static struct tn_value *do_log_sum(struct tn_onnx *n, struct tn_value *x,
				   const struct axes *axes, bool keep)
{
	return of_sum(n, x, axes, keep, NULL, "cast(log(%v), %t)");
}

static struct tn_value *do_log_sum_exp(struct tn_onnx *n, struct tn_value *x,
				       const struct axes *axes, bool keep)
{
	if (!is_float(x))
		return of_sum(n, x, axes, keep, "exp(%v)",
			      "cast(log(%v), %t)");
	return apply(n, "logsumexp", x, axes, keep);
}

static void reduce(struct tn_onnx *n, reduce_fn *fn)
{
	bool keep = tn_onnx_int(n, "keepdims", 1) != 0;
	struct tn_value *x = tn_onnx_in(n, 0);
	struct axes axes;

	if (!x)
		return;
	axes = read_axes(n, x->type->rank);
	if (n->failed)
		return;
	tn_onnx_give(n, 0, axes.failed ?
		     reduce_at_run_time(n, x, keep, fn) :
		     fn(n, x, &axes, keep));
}

void tn_onnx_do_reduce_sum(struct tn_onnx *n) { reduce(n, do_sum); }
void tn_onnx_do_reduce_prod(struct tn_onnx *n) { reduce(n, do_prod); }
void tn_onnx_do_reduce_max(struct tn_onnx *n) { reduce(n, do_max); }
void tn_onnx_do_reduce_min(struct tn_onnx *n) { reduce(n, do_min); }
void tn_onnx_do_reduce_mean(struct tn_onnx *n) { reduce(n, do_mean); }
void tn_onnx_do_reduce_l1(struct tn_onnx *n) { reduce(n, do_l1); }
void tn_onnx_do_reduce_l2(struct tn_onnx *n) { reduce(n, do_l2); }
void tn_onnx_do_reduce_log_sum(struct tn_onnx *n) { reduce(n, do_log_sum); }

void tn_onnx_do_reduce_sum_square(struct tn_onnx *n)
{
	reduce(n, do_sum_square);
}

void tn_onnx_do_reduce_log_sum_exp(struct tn_onnx *n)
{
	reduce(n, do_log_sum_exp);
}

/* ---- Places ------------------------------------------------------------------------ */

static void arg(struct tn_onnx *n, const char *name)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int axis;

	if (!x)
		return;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 0), x->type->rank);
	if (axis >= 0)
		tn_onnx_is(n, "%s(%v, axis=%i, keep=%s, last=%s)", name, x,
			   (int64_t)axis,
			   tn_onnx_int(n, "keepdims", 1) ? "true" : "false",
			   tn_onnx_int(n, "select_last_index", 0) ? "true" :
								    "false");
}

void tn_onnx_do_arg_max(struct tn_onnx *n) { arg(n, "argmax"); }
void tn_onnx_do_arg_min(struct tn_onnx *n) { arg(n, "argmin"); }

/* ---- Running ------------------------------------------------------------------------ */

static struct tn_value *running(struct tn_onnx *n, const char *name,
				struct tn_value *x, int64_t axis)
{
	return tn_onnx_text(n, "%s(%v, axis=%i, exclusive=%s, reverse=%s)",
			    name, x, axis,
			    tn_onnx_int(n, "exclusive", 0) ? "true" : "false",
			    tn_onnx_int(n, "reverse", 0) ? "true" : "false");
}

static void run_along(struct tn_onnx *n, const char *name)
{
	struct tn_value *x = tn_onnx_in(n, 0), *axis, *out, *one;
	int64_t known;
	int count, i;

	if (!x)
		return;
	if (tn_onnx_ints(n, 1, 1, &known, &count) && count == 1) {
		i = tn_onnx_axis(n, known, x->type->rank);
		if (i >= 0)
			tn_onnx_give(n, 0, running(n, name, x, i));
		return;
	}
	axis = tn_onnx_in(n, 1);
	out = axis ? running(n, name, x, 0) : NULL;
	if (axis && axis->type->rank)
		axis = tn_onnx_text(n, "reshape(%v, [])", axis);
	for (i = 1; out && i < x->type->rank; i++) {
		one = running(n, name, x, i);
		out = tn_onnx_text(n, "select(%v == %i || %v == %i, %v, %v)",
				   axis, (int64_t)i, axis,
				   (int64_t)(i - x->type->rank), one, out);
	}
	tn_onnx_give(n, 0, out);
}

void tn_onnx_do_cum_sum(struct tn_onnx *n) { run_along(n, "cumsum"); }
void tn_onnx_do_cum_prod(struct tn_onnx *n) { run_along(n, "cumprod"); }
