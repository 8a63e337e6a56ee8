/*
 * Handlers of windows: convolutions and pools. Pads, `auto_pad` and
 * `ceil_mode` become pads of each side.
 */
#include <string.h>

#include "importers/onnx/table.h"

#define SPATIAL (TN_MAX_RANK - 2)

/* A window over the spatial axes of x. */
struct window {
	int count;
	int64_t size[SPATIAL], stride[SPATIAL], dilation[SPATIAL];
	const struct tn_dim *lo[SPATIAL], *hi[SPATIAL];
	const struct tn_dim *in[SPATIAL];	/* sizes of x */
};

static bool read_ints(struct tn_onnx *n, const char *name, int count,
		      int64_t fallback, int64_t *out)
{
	const int64_t *list;
	int have = tn_onnx_list(n, name, &list), i;

	for (i = 0; i < count; i++)
		out[i] = have > i ? list[i] : fallback;
	if (have >= 0 && have != count) {
		tn_onnx_report(n, TN_E1012, "%s has %d entries for %d axes",
			       name, have, count);
		return false;
	}
	for (i = 0; i < count; i++)
		if (out[i] < 1 || out[i] > INT32_MAX) {
			tn_onnx_report(n, TN_E1012, "%s is %lld", name,
				       (long long)out[i]);
			return false;
		}
	return true;
}

static bool read_window(struct tn_onnx *n, const struct tn_value *x,
			struct window *w)
{
	int i;

	w->count = x->type->rank - 2;
	if (w->count < 1 || w->count > SPATIAL) {
		tn_onnx_report(n, TN_E1012, "an operand of %d axes",
			       x->type->rank);
		return false;
	}
	for (i = 0; i < w->count; i++)
		w->in[i] = x->type->dims[i + 2];
	return read_ints(n, "strides", w->count, 1, w->stride) &&
	       read_ints(n, "dilations", w->count, 1, w->dilation);
}

/* The size of a window with its holes. */
static int64_t extent(const struct window *w, int i)
{
	return w->dilation[i] * (w->size[i] - 1) + 1;
}

/* ---- Pads ------------------------------------------------------------------------ */

/* As many windows as strides fit, half of what they lack on each side. */
static bool pad_same(struct tn_onnx *n, struct window *w, bool upper)
{
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	const struct tn_dim *out, *need, *half;
	int i;

	for (i = 0; i < w->count; i++) {
		out = tn_dim_floordiv(pool, tn_dim_add(pool, w->in[i],
				tn_onnx_number(n, w->stride[i] - 1)),
			tn_onnx_number(n, w->stride[i]));
		need = tn_dim_mul(pool, tn_dim_sub(pool, out,
				tn_onnx_number(n, 1)),
			tn_onnx_number(n, w->stride[i]));
		need = tn_dim_add(pool, need, tn_onnx_number(n,
							     extent(w, i)));
		need = tn_dim_max(pool, tn_onnx_number(n, 0),
				  tn_dim_sub(pool, need, w->in[i]));
		half = tn_dim_floordiv(pool, need, tn_onnx_number(n, 2));
		if (!half)
			return false;
		w->lo[i] = upper ? half : tn_dim_sub(pool, need, half);
		w->hi[i] = upper ? tn_dim_sub(pool, need, half) : half;
	}
	return true;
}

static bool read_pads(struct tn_onnx *n, struct window *w)
{
	const char *how = tn_onnx_string(n, "auto_pad", "NOTSET");
	const int64_t *pads;
	int count = tn_onnx_list(n, "pads", &pads), i;
	bool is_set = strcmp(how, "NOTSET") != 0 && how[0];

	if (is_set && !strcmp(how, "SAME_UPPER"))
		return pad_same(n, w, true);
	if (is_set && !strcmp(how, "SAME_LOWER"))
		return pad_same(n, w, false);
	for (i = 0; i < w->count; i++)
		w->lo[i] = w->hi[i] = tn_onnx_number(n, 0);
	if (is_set || count < 0)
		return true;
	if (count != 2 * w->count) {
		tn_onnx_report(n, TN_E1012, "%d pads for %d axes", count,
			       w->count);
		return false;
	}
	for (i = 0; i < w->count; i++) {
		w->lo[i] = tn_onnx_number(n, pads[i]);
		w->hi[i] = tn_onnx_number(n, pads[i + w->count]);
	}
	return true;
}

/* ---- Convolutions ------------------------------------------------------------------ */

/* The kernel's size is that of the weights. */
static bool read_kernel(struct tn_onnx *n, const struct tn_value *weights,
			struct window *w)
{
	int i;

	if (weights->type->rank != w->count + 2) {
		tn_onnx_report(n, TN_E1012, "weights of %d axes",
			       weights->type->rank);
		return false;
	}
	for (i = 0; i < w->count; i++) {
		const struct tn_dim *dim = weights->type->dims[i + 2];

		if (!tn_dim_is_const(dim) || dim->value > INT32_MAX) {
			tn_onnx_unknown(n, "a kernel of unknown size");
			return false;
		}
		w->size[i] = dim->value;
	}
	return true;
}

struct tn_value *tn_onnx_conv(struct tn_onnx *n, struct tn_value *x,
			      struct tn_value *weights, struct tn_value *bias)
{
	struct window w;

	if (!read_window(n, x, &w) || !read_kernel(n, weights, &w) ||
	    !read_pads(n, &w))
		return NULL;
	if (bias)
		return tn_onnx_text(n, "conv(%v, %v, %v, stride=%I, pad=%P, "
				    "dilation=%I, groups=%i)", x, weights,
				    bias, w.count, w.stride, w.count, w.lo,
				    w.hi, w.count, w.dilation,
				    tn_onnx_int(n, "group", 1));
	return tn_onnx_text(n, "conv(%v, %v, stride=%I, pad=%P, dilation=%I, "
			    "groups=%i)", x, weights, w.count, w.stride,
			    w.count, w.lo, w.hi, w.count, w.dilation,
			    tn_onnx_int(n, "group", 1));
}

void tn_onnx_do_conv(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *weights = tn_onnx_in(n, 1);
	struct tn_value *bias = NULL;

	if (!x || !weights)
		return;
	if (tn_onnx_has(n, 2)) {
		bias = tn_onnx_in(n, 2);
		if (!bias)
			return;
	}
	tn_onnx_give(n, 0, tn_onnx_conv(n, x, weights, bias));
}

/* What is cropped of the full result, or with a minus added. */
static bool crop_to(struct tn_onnx *n, struct window *w,
		    const int64_t *extra, const int64_t *shape)
{
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	const char *how = tn_onnx_string(n, "auto_pad", "NOTSET");
	const struct tn_dim *full, *half, *want;
	int i;

	for (i = 0; i < w->count; i++) {
		full = tn_dim_mul(pool, tn_dim_sub(pool, w->in[i],
				tn_onnx_number(n, 1)),
			tn_onnx_number(n, w->stride[i]));
		full = tn_dim_add(pool, full, tn_onnx_number(n,
				  extent(w, i) + extra[i]));
		want = shape ? tn_onnx_number(n, shape[i]) :
			tn_dim_mul(pool, w->in[i],
				   tn_onnx_number(n, w->stride[i]));
		full = tn_dim_sub(pool, full, want);
		half = tn_dim_floordiv(pool, full, tn_onnx_number(n, 2));
		if (!half)
			return false;
		w->lo[i] = half;
		w->hi[i] = tn_dim_sub(pool, full, half);
		if (strcmp(how, "SAME_UPPER") != 0) {
			w->hi[i] = half;
			w->lo[i] = tn_dim_sub(pool, full, half);
		}
	}
	return true;
}

static bool read_crops(struct tn_onnx *n, struct window *w,
		       const int64_t *extra)
{
	const char *how = tn_onnx_string(n, "auto_pad", "NOTSET");
	const int64_t *shape;
	int count = tn_onnx_list(n, "output_shape", &shape);

	if (count >= w->count)
		return crop_to(n, w, extra, shape + (count - w->count));
	if (!strncmp(how, "SAME", 4))
		return crop_to(n, w, extra, NULL);
	return read_pads(n, w);
}

/* A crop below 0 is a row more at that end: of zeros, and the bias. */
static bool is_plain(const struct window *w)
{
	int64_t lo, hi;
	int i;

	for (i = 0; i < 2 * w->count; i++) {
		tn_dim_bounds(i < w->count ? w->lo[i] : w->hi[i - w->count],
			      &lo, &hi);
		if (lo < 0)
			return false;
	}
	return true;
}

/* What is missing goes to `lo` and `hi`, what is cropped stays. */
static void widen(struct tn_onnx *n, struct window *w,
		  const struct tn_dim **lo, const struct tn_dim **hi)
{
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	const struct tn_dim *zero = tn_onnx_number(n, 0);
	int i;

	lo[0] = lo[1] = hi[0] = hi[1] = zero;
	for (i = 0; i < w->count; i++) {
		lo[i + 2] = tn_dim_max(pool, zero,
				       tn_dim_sub(pool, zero, w->lo[i]));
		hi[i + 2] = tn_dim_max(pool, zero,
				       tn_dim_sub(pool, zero, w->hi[i]));
		w->lo[i] = tn_dim_max(pool, zero, w->lo[i]);
		w->hi[i] = tn_dim_max(pool, zero, w->hi[i]);
	}
}

void tn_onnx_do_conv_transpose(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *weights = tn_onnx_in(n, 1), *y;
	const int64_t *list;
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK];
	int64_t extra[SPATIAL] = { 0 };
	struct window w;
	int i, count;
	bool plain;

	if (!x || !weights || !read_window(n, x, &w) ||
	    !read_kernel(n, weights, &w))
		return;
	count = tn_onnx_list(n, "output_padding", &list);
	for (i = 0; i < count && i < w.count; i++) {
		extra[i] = list[i];
		if (extra[i] < 0 || extra[i] > INT32_MAX) {
			tn_onnx_report(n, TN_E1012, "output_padding is %lld",
				       (long long)extra[i]);
			return;
		}
	}
	if (!read_crops(n, &w, extra))
		return;
	plain = is_plain(&w);
	if (!plain)
		widen(n, &w, lo, hi);
	y = tn_onnx_text(n, "conv_transpose(%v, %v, stride=%I, pad=%P, "
			 "dilation=%I, output_pad=%I, groups=%i)", x, weights,
			 w.count, w.stride, w.count, w.lo, w.hi, w.count,
			 w.dilation, w.count, extra,
			 tn_onnx_int(n, "group", 1));
	if (y && !plain)
		y = tn_onnx_text(n, "pad(%v, pad=%P)", y, w.count + 2, lo, hi);
	if (y && tn_onnx_has(n, 2))
		y = tn_onnx_text(n, "%v + per_channel(%v, like=%v, axis=1)", y,
				 tn_onnx_in(n, 2), y);
	tn_onnx_give(n, 0, y);
}

/* ---- Pools ---------------------------------------------------------------------------- */

static bool read_pool(struct tn_onnx *n, const struct tn_value *x,
		      struct window *w)
{
	if (!tn_onnx_attr(n, "kernel_shape")) {
		tn_onnx_report(n, TN_E1012, "kernel_shape is missing");
		return false;
	}
	return read_window(n, x, w) &&
	       read_ints(n, "kernel_shape", w->count, 1, w->size) &&
	       read_pads(n, w);
}

/* With ceil_mode a last window may reach over the pad, but begins before it. */
static bool grow(struct tn_onnx *n, const struct window *w,
		 const struct tn_dim **more)
{
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	const struct tn_dim *room, *count, *need, *stride, *last;
	int i;

	for (i = 0; i < w->count; i++) {
		more[i] = tn_onnx_number(n, 0);
		if (!tn_onnx_int(n, "ceil_mode", 0))
			continue;
		stride = tn_onnx_number(n, w->stride[i]);
		room = tn_dim_add(pool, w->in[i],
				  tn_dim_add(pool, w->lo[i], w->hi[i]));
		count = tn_dim_sub(pool, room, tn_onnx_number(n,
							extent(w, i) + 1));
		count = tn_dim_floordiv(pool, tn_dim_add(pool, count, stride),
					stride);
		count = tn_dim_add(pool, count, tn_onnx_number(n, 1));
		last = tn_dim_add(pool, w->in[i], w->lo[i]);
		last = tn_dim_sub(pool, last, tn_onnx_number(n, 1));
		last = tn_dim_add(pool, tn_dim_floordiv(pool, last, stride),
				  tn_onnx_number(n, 1));
		count = tn_dim_min(pool, count, last);
		need = tn_dim_add(pool, tn_dim_mul(pool, tn_dim_sub(pool,
				count, tn_onnx_number(n, 1)), stride),
			tn_onnx_number(n, extent(w, i)));
		more[i] = tn_dim_max(pool, tn_onnx_number(n, 0),
				     tn_dim_sub(pool, need, room));
		if (!more[i])
			return false;
	}
	return true;
}

static void add_all(struct tn_onnx *n, struct window *w,
		    const struct tn_dim *const *more)
{
	int i;

	for (i = 0; i < w->count; i++)
		w->hi[i] = tn_dim_add(tn_onnx_pool(n), w->hi[i], more[i]);
}

/* x with the pads of the window around it, of zeros. */
static struct tn_value *framed(struct tn_onnx *n, struct tn_value *x,
			       const struct window *w)
{
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK];
	int i;

	lo[0] = lo[1] = hi[0] = hi[1] = tn_onnx_number(n, 0);
	for (i = 0; i < w->count; i++) {
		lo[i + 2] = w->lo[i];
		hi[i + 2] = w->hi[i];
	}
	return tn_onnx_text(n, "pad(%v, pad=%P)", x, x->type->rank, lo, hi);
}

void tn_onnx_do_average_pool(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *more[SPATIAL];
	struct window w;
	int i;

	if (!x || !read_pool(n, x, &w) || !grow(n, &w, more))
		return;
	if (tn_onnx_int(n, "count_include_pad", 0)) {
		x = framed(n, x, &w);
		for (i = 0; i < w.count; i++)
			w.lo[i] = w.hi[i] = tn_onnx_number(n, 0);
	}
	add_all(n, &w, more);
	if (x)
		tn_onnx_is(n, "avgpool(%v, size=%I, stride=%I, pad=%P, "
			   "dilation=%I)", x, w.count, w.size, w.count,
			   w.stride, w.count, w.lo, w.hi, w.count,
			   w.dilation);
}

/* The places of the greatest elements, as numbers in all of x. */
static void give_places(struct tn_onnx *n, struct tn_value *x,
			const struct window *w)
{
	bool columns = tn_onnx_int(n, "storage_order", 0) != 0;
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK];
	const struct tn_dim *shape[2 * TN_MAX_RANK];
	struct tn_value *at, *numbers, *windows, *best;
	int64_t axes[SPATIAL], perm[TN_MAX_RANK];
	int i, rank = x->type->rank;

	if (!tn_type_is_static(x->type)) {
		tn_onnx_unknown(n, "indices of a size that only run time "
			       "knows");
		return;
	}
	for (i = 0; i < rank; i++) {
		lo[i] = i < 2 ? tn_onnx_number(n, 0) : w->lo[i - 2];
		hi[i] = i < 2 ? tn_onnx_number(n, 0) : w->hi[i - 2];
		shape[i] = x->type->dims[i];
		perm[i] = i < 2 ? i : rank + 1 - i;
	}
	for (i = 0; i < w->count; i++)
		axes[i] = i + 2;
	at = tn_onnx_text(n, "iota([%d], axis=0)",
			  tn_type_count(n->job->module, x->type));
	for (i = 2; columns && i < rank; i++)
		shape[i] = x->type->dims[rank + 1 - i];
	at = at ? tn_onnx_text(n, "reshape(%v, %D)", at, rank, shape) : NULL;
	if (at && columns)
		at = tn_onnx_text(n, "transpose(%v, perm=%I)", at, rank, perm);
	windows = at ? tn_onnx_text(n, "window(pad(%v, cast(-inf, %t), "
		"pad=%P), axes=%I, size=%I, stride=%I, dilation=%I)", x,
		x->type->dtype, rank, lo, hi, w->count, axes, w->count,
		w->size, w->count, w->stride, w->count, w->dilation) : NULL;
	numbers = windows ? tn_onnx_text(n, "window(pad(%v, cast(0, i64), "
		"pad=%P), axes=%I, size=%I, stride=%I, dilation=%I)", at,
		rank, lo, hi, w->count, axes, w->count, w->size, w->count,
		w->stride, w->count, w->dilation) : NULL;
	if (!numbers)
		return;
	for (i = 0; i < rank; i++)
		shape[i] = windows->type->dims[i];
	shape[rank] = NULL;
	best = tn_onnx_text(n, "argmax(reshape(%v, %D), axis=-1, keep=true)",
			    windows, rank + 1, shape);
	if (best)
		tn_onnx_give(n, 1, tn_onnx_text(n, "squeeze(take_along("
			"reshape(%v, %D), %v, axis=-1), axes=[-1])", numbers,
			rank + 1, shape, best));
}

void tn_onnx_do_max_pool(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *more[SPATIAL];
	struct window w;

	if (!x || !read_pool(n, x, &w) || !grow(n, &w, more))
		return;
	add_all(n, &w, more);
	tn_onnx_is(n, "maxpool(%v, size=%I, stride=%I, pad=%P, dilation=%I)",
		   x, w.count, w.size, w.count, w.stride, w.count, w.lo, w.hi,
		   w.count, w.dilation);
	if (n->nout > 1 && !n->failed)
		give_places(n, x, &w);
}

void tn_onnx_do_lp_pool(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *y;
	const struct tn_dim *more[SPATIAL];
	int64_t p = tn_onnx_int(n, "p", 2), axes[SPATIAL], last[SPATIAL];
	struct window w;
	int i;

	if (!x || !read_pool(n, x, &w) || !grow(n, &w, more))
		return;
	add_all(n, &w, more);
	for (i = 0; i < w.count; i++) {
		axes[i] = i + 2;
		last[i] = x->type->rank + i;
	}
	y = framed(n, x, &w);
	y = y ? tn_onnx_text(n, "window(abs(%v), axes=%I, size=%I, stride=%I, "
			     "dilation=%I)", y, w.count, axes, w.count, w.size,
			     w.count, w.stride, w.count, w.dilation) : NULL;
	if (y)
		tn_onnx_is(n, "sum(%v ** %i, axes=%I) ** (1.0 / %i.0)", y, p,
			   w.count, last, p);
}

/* ---- Of all there is -------------------------------------------------------------------- */

static void global(struct tn_onnx *n, const char *name)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int64_t axes[TN_MAX_RANK];
	int i, count = 0;

	if (!x)
		return;
	for (i = 2; i < x->type->rank; i++)
		axes[count++] = i;
	tn_onnx_is(n, "%s(%v, axes=%I, keep=true)", name, x, count, axes);
}

void tn_onnx_do_global_average_pool(struct tn_onnx *n) { global(n, "mean"); }
void tn_onnx_do_global_max_pool(struct tn_onnx *n) { global(n, "reduce_max"); }

void tn_onnx_do_global_lp_pool(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int64_t axes[TN_MAX_RANK], p = tn_onnx_int(n, "p", 2);
	int i, count = 0;

	if (!x)
		return;
	for (i = 2; i < x->type->rank; i++)
		axes[count++] = i;
	tn_onnx_is(n, "sum(abs(%v) ** %i, axes=%I, keep=true) ** (1.0 / "
		   "%i.0)", x, p, count, axes, p);
}
