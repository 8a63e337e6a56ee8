/*
 * Handlers of Fourier transforms: products with matrices of cosines and sines.
 */
#include <string.h>

#include "importers/onnx/table.h"

struct dft {
	bool inverse, onesided;
	const struct tn_dim *length;	/* of the transform; NULL: of the axis */
};

/* Parts of x, [.., n, ..], with `axis` moved to the end. */
static struct tn_value *part(struct tn_onnx *n, struct tn_value *x, int axis,
			     int which)
{
	int64_t perm[TN_MAX_RANK];
	int rank = x->type->rank - 1, i, k = 0;

	for (i = 0; i < rank; i++)
		if (i != axis)
			perm[k++] = i;
	perm[k] = axis;
	return tn_onnx_text(n, "x = %v; return transpose(x[..., %i], perm=%I)",
			    x, (int64_t)which, rank, perm);
}

/* The axis back in its place, behind it the parts. */
static struct tn_value *joined(struct tn_onnx *n, struct tn_value *re,
			       struct tn_value *im, int axis)
{
	int64_t perm[TN_MAX_RANK];
	int rank = re->type->rank, i;
	struct tn_value *y;

	for (i = 0; i < rank; i++)
		perm[i] = i < axis ? i : i == axis ? rank - 1 : i - 1;
	perm[rank] = rank;
	y = im ? tn_onnx_text(n, "stack([%v, %v], axis=-1)", re, im) :
		tn_onnx_text(n, "expand_dims(%v, axes=[-1])", re);
	return y ? tn_onnx_text(n, "transpose(%v, perm=%I)", y, rank + 1,
				perm) : NULL;
}

/* The last axis cut or filled up with zeros. */
static struct tn_value *fitted(struct tn_onnx *n, struct tn_value *x,
			       const struct tn_dim *length)
{
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK], *last;
	int rank = x->type->rank, i;

	last = x->type->dims[rank - 1];
	if (last == length)
		return x;
	for (i = 0; i < rank; i++) {
		start[i] = lo[i] = hi[i] = tn_onnx_number(n, 0);
		stop[i] = x->type->dims[i];
	}
	stop[rank - 1] = tn_dim_min(tn_onnx_pool(n), last, length);
	hi[rank - 1] = tn_dim_sub(tn_onnx_pool(n), length, stop[rank - 1]);
	return tn_onnx_text(n, "pad(slice(%v, start=%D, stop=%D), pad=%P)", x,
			    rank, start, rank, stop, rank, lo, hi);
}

/* [rows, columns]: the function of 2 pi i j / length. */
static struct tn_value *table(struct tn_onnx *n, const char *function,
			      const struct tn_dim *rows,
			      const struct tn_dim *columns,
			      const struct tn_dim *length, enum tn_dtype dtype)
{
	return tn_onnx_text(n, "i = iota([%d, %d], axis=0); "
		"j = iota([%d, %d], axis=1); "
		"t = cast(i * j %% cast(%d, i64), f64); "
		"return cast(%s(t * (0x1.921fb54442d18p+2 / "
		"cast(%d, f64))), %t)", rows, columns, rows, columns, length,
		function, length, dtype);
}

/* From half of the frequencies the real signal: inner ones count twice. */
static struct tn_value *real_inverse(struct tn_onnx *n, struct tn_value *re,
				     struct tn_value *im,
				     const struct tn_dim *length, int axis)
{
	const struct tn_dim *half = tn_dim_add(tn_onnx_pool(n),
		tn_dim_floordiv(tn_onnx_pool(n), length,
				tn_onnx_number(n, 2)), tn_onnx_number(n, 1));
	enum tn_dtype dtype = re->type->dtype;
	struct tn_value *c, *s, *y;

	re = fitted(n, re, half);
	im = im && re ? fitted(n, im, half) : NULL;
	c = re ? table(n, "cos", half, length, length, dtype) : NULL;
	s = c ? table(n, "sin", half, length, length, dtype) : NULL;
	if (!s)
		return NULL;
	y = tn_onnx_text(n, "k = iota([%d], axis=0); "
		"w = cast(select(k == 0 || 2 * k == cast(%d, i64), 1.0, 2.0), "
		"%t) / cast(%d, %t); return (%v * w) @ %v", half, length,
		dtype, length, dtype, re, c);
	if (y && im)
		y = tn_onnx_text(n, "k = iota([%d], axis=0); "
			"w = cast(select(k == 0 || 2 * k == cast(%d, i64), "
			"1.0, 2.0), %t) / cast(%d, %t); "
			"return %v - (%v * w) @ %v", half, length, dtype,
			length, dtype, y, im, s);
	return y ? joined(n, y, NULL, axis) : NULL;
}

static struct tn_value *transform(struct tn_onnx *n, struct tn_value *x,
				  const struct dft *how, int axis)
{
	const struct tn_dim *last = x->type->dims[x->type->rank - 1];
	const struct tn_dim *length = how->length, *rows;
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	struct tn_value *re = part(n, x, axis, 0), *im = NULL, *c, *s, *a, *b;

	if (re && tn_dim_is(last, 2))
		im = part(n, x, axis, 1);
	if (!length && how->inverse && how->onesided)
		length = tn_dim_mul(pool, tn_onnx_number(n, 2),
				    tn_dim_sub(pool, x->type->dims[axis],
					       tn_onnx_number(n, 1)));
	if (!length)
		length = x->type->dims[axis];
	if (!re)
		return NULL;
	if (how->inverse && how->onesided)
		return real_inverse(n, re, im, length, axis);
	re = fitted(n, re, length);
	im = im && re ? fitted(n, im, length) : NULL;
	rows = !how->onesided ? length :
		tn_dim_add(pool, tn_dim_floordiv(pool, length,
				tn_onnx_number(n, 2)), tn_onnx_number(n, 1));
	c = re ? table(n, "cos", length, rows, length, x->type->dtype) : NULL;
	s = c ? table(n, how->inverse ? "sin" : "-sin", length, rows, length,
		      x->type->dtype) : NULL;
	if (!s)
		return NULL;
	a = im ? tn_onnx_text(n, "%v @ %v - %v @ %v", re, c, im, s) :
		tn_onnx_text(n, "%v @ %v", re, c);
	b = im ? tn_onnx_text(n, "%v @ %v + %v @ %v", re, s, im, c) :
		tn_onnx_text(n, "%v @ %v", re, s);
	if (a && b && how->inverse) {
		a = tn_onnx_text(n, "%v / cast(%d, %t)", a, length,
				 x->type->dtype);
		b = tn_onnx_text(n, "%v / cast(%d, %t)", b, length,
				 x->type->dtype);
	}
	return a && b ? joined(n, a, b, axis) : NULL;
}

/* ---- Axes that only run time knows ------------------------------------------------- */

static bool is_declared(struct tn_onnx *n, const struct tn_value *y)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int rank, i;

	if (!tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank != y->type->rank)
		return false;
	for (i = 0; i < rank; i++)
		if (dims[i] != y->type->dims[i])
			return false;
	return true;
}

/* The transforms along all axes that give the declared shape; run time picks
 * one. */
static void by_any_axis(struct tn_onnx *n, struct tn_value *x,
			const struct dft *how)
{
	struct tn_value *axis = tn_onnx_in(n, 2), *out = NULL, *one;
	struct tn_onnx_choices choices = { .count = 0 };
	int i, rank = x->type->rank;

	if (axis && axis->type->rank)
		axis = tn_onnx_text(n, "reshape(%v, [])", axis);
	for (i = 0; axis && i < rank - 1; i++) {
		one = transform(n, x, how, i);
		if (!one)
			return;
		if (!is_declared(n, one))
			continue;
		choices.mask[choices.count++] = 1u << i;
		out = out ? tn_onnx_text(n, "select(%v == %i || %v == %i, %v, "
					 "%v)", axis, (int64_t)i, axis,
					 (int64_t)(i - rank), one, out) : one;
	}
	axis = axis ? tn_onnx_text(n, "reshape(%v, [1])", axis) : NULL;
	if (out && axis && tn_onnx_axes_check(n, axis, rank, &choices))
		tn_onnx_give(n, 0, out);
	else
		tn_onnx_unknown(n, "an axis that only run time knows");
}

/* The length: known, or that of the declared result along the axis. */
static bool read_length(struct tn_onnx *n, struct dft *how, int axis)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int count, rank;

	if (!tn_onnx_has(n, 1) ||
	    (tn_onnx_sizes(n, 1, 1, &how->length, &count) && count == 1))
		return !n->failed;
	if (!n->failed && axis >= 0 &&
	    tn_onnx_result(n, 0, &dtype, &rank, dims) && axis < rank &&
	    (how->inverse || !how->onesided)) {
		how->length = dims[axis];
		if (tn_onnx_hold(n, 1, 1, &how->length))
			return true;
	}
	tn_onnx_unknown(n, "a length that only run time knows");
	return false;
}

void tn_onnx_do_dft(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	struct dft how = { .length = NULL };
	int64_t known = tn_onnx_int(n, "axis", 1);
	int axis = -1, count;

	if (!x)
		return;
	how.inverse = tn_onnx_int(n, "inverse", 0) != 0;
	how.onesided = tn_onnx_int(n, "onesided", 0) != 0;
	if (n->version >= 20) {
		known = -2;
		if (tn_onnx_has(n, 2) &&
		    !tn_onnx_ints(n, 2, 1, &known, &count)) {
			if (!n->failed && read_length(n, &how, -1))
				by_any_axis(n, x, &how);
			return;
		}
	}
	axis = tn_onnx_axis(n, known, x->type->rank);
	if (axis < 0 || !read_length(n, &how, axis))
		return;
	tn_onnx_give(n, 0, transform(n, x, &how, axis));
}

/* ---- Of stretches of a signal --------------------------------------------------------- */

struct stft {
	struct tn_value *x, *window;
	struct dft how;
};

/* [N, frames, length, 1] of the signal. */
static struct tn_value *frames_of(struct tn_onnx *n, const struct stft *s,
				  const struct tn_dim *length)
{
	const struct tn_dim *dims[TN_MAX_RANK], *step;
	struct tn_value *by;
	enum tn_dtype dtype;
	int count, rank;

	if (tn_onnx_sizes(n, 1, 1, &step, &count) && tn_dim_is_const(step) &&
	    step->value > 0)
		return tn_onnx_text(n, "w = window(%v, axes=[1], size=[%i], "
			"stride=[%i]); return transpose(w, perm=[0, 1, 3, "
			"2])", s->x, length->value, step->value);
	by = tn_onnx_in(n, 1);
	if (!by || !tn_onnx_result(n, 0, &dtype, &rank, dims) || rank != 4) {
		tn_onnx_unknown(n, "a step that only run time knows");
		return NULL;
	}
	return tn_onnx_text(n, "s = reshape(cast(%v, i64), []); "
		"i = iota([%d, 1], axis=0) * s + iota([1, %d], axis=1); "
		"return gather(%v, min(max(i, 0), %d - 1), axis=1)", by,
		dims[1], length, s->x, s->x->type->dims[1]);
}

/* That there are as many frames as the result has. */
static bool check_frames(struct tn_onnx *n, const struct stft *s,
			 struct tn_value *length, const struct tn_dim *frames)
{
	struct tn_value *by = tn_onnx_in(n, 1);

	return by && tn_onnx_text(n, "s = reshape(cast(%v, i64), []); "
		"l = reshape(cast(%v, i64), []); "
		"assert(s > 0 && (cast(%d, i64) - l) // max(s, 1) + 1 == "
		"cast(%d, i64), message=\"the frames are not as many as "
		"declared\"); return true", by, length, s->x->type->dims[1],
		frames);
}

static struct tn_value *stft_of(struct tn_onnx *n, struct stft *s,
				const struct tn_dim *length)
{
	struct tn_value *frames = frames_of(n, s, length);

	if (frames && s->window)
		frames = tn_onnx_text(n, "%v * reshape(%v, [1, 1, %d, 1])",
				      frames, s->window, length);
	return frames ? transform(n, frames, &s->how, 2) : NULL;
}

static bool step_is_known(struct tn_onnx *n)
{
	const struct tn_dim *step;
	int count;

	return tn_onnx_sizes(n, 1, 1, &step, &count) &&
	       tn_dim_is_const(step) && step->value > 0;
}

/* Lengths that give as many frequencies as are declared: two with one side. */
static int lengths_of(const struct stft *s,
		      const struct tn_dim *const *dims, int64_t *lengths)
{
	if (!tn_dim_is_const(dims[2]) || dims[2]->value < 1 ||
	    dims[2]->value > INT32_MAX)
		return 0;
	if (!s->how.onesided) {
		lengths[0] = dims[2]->value;
		return 1;
	}
	lengths[0] = 2 * dims[2]->value - 1;
	lengths[1] = 2 * dims[2]->value - 2;
	return lengths[1] ? 2 : 1;
}

/* A length that only run time knows: one of those, and it picks. */
static void any_length(struct tn_onnx *n, struct stft *s)
{
	struct tn_value *length = tn_onnx_in(n, 3), *out = NULL, *one, *ok;
	const struct tn_dim *dims[TN_MAX_RANK];
	int64_t lengths[2];
	enum tn_dtype dtype;
	int i, count, rank;

	if (!length || !tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank != 4 || !check_frames(n, s, length, dims[1])) {
		tn_onnx_unknown(n, "frames of unknown length");
		return;
	}
	length = tn_onnx_text(n, "reshape(%v, [])", length);
	ok = tn_onnx_text(n, "cast(false, bool)");
	count = lengths_of(s, dims, lengths);
	for (i = 0; ok && i < count; i++) {
		if (tn_dim_is_const(s->x->type->dims[1]) &&
		    lengths[i] > s->x->type->dims[1]->value)
			continue;
		one = stft_of(n, s, tn_onnx_number(n, lengths[i]));
		if (!one || !is_declared(n, one))
			continue;
		ok = tn_onnx_text(n, "%v || %v == %i", ok, length, lengths[i]);
		out = out ? tn_onnx_text(n, "select(%v == %i, %v, %v)", length,
					 lengths[i], one, out) : one;
	}
	if (out && ok && tn_onnx_text(n, "assert(%v, message=\"the frames "
				      "are not of the declared length\"); "
				      "return true", ok))
		tn_onnx_give(n, 0, out);
	else
		tn_onnx_unknown(n, "frames of unknown length");
}

void tn_onnx_do_stft(struct tn_onnx *n)
{
	struct stft s = { .x = tn_onnx_in(n, 0) };
	const struct tn_dim *dims[TN_MAX_RANK], *length = NULL;
	struct tn_value *number;
	enum tn_dtype dtype;
	int count, rank;

	if (!s.x || s.x->type->rank != 3)
		return;
	s.how.onesided = tn_onnx_int(n, "onesided", 1) != 0;
	if (tn_onnx_has(n, 2)) {
		s.window = tn_onnx_in(n, 2);
		if (!s.window || s.window->type->rank != 1)
			return;
		length = s.window->type->dims[0];
	}
	if (tn_onnx_has(n, 3))
		tn_onnx_sizes(n, 3, 1, &length, &count);
	if (n->failed)
		return;
	if (!length && tn_onnx_has(n, 3)) {
		any_length(n, &s);
		return;
	}
	if (!length || !tn_dim_is_const(length)) {
		tn_onnx_unknown(n, "frames of unknown length");
		return;
	}
	if (!step_is_known(n) && tn_onnx_result(n, 0, &dtype, &rank, dims) &&
	    rank == 4) {
		number = tn_onnx_text(n, "cast(%d, i64)", length);
		if (!number || !check_frames(n, &s, number, dims[1]))
			return;
	}
	tn_onnx_give(n, 0, stft_of(n, &s, length));
}

/* ---- Bands of pitch ---------------------------------------------------------------------- */

/* Sizes of the result: of known operands, else the declared ones. */
static bool bands_of(struct tn_onnx *n, const struct tn_dim **bins,
		     const struct tn_dim **bands)
{
	const struct tn_dim *dims[TN_MAX_RANK], *length, *two;
	enum tn_dtype dtype;
	int count, rank;

	if (tn_onnx_sizes(n, 0, 1, bands, &count) && count == 1 &&
	    tn_onnx_sizes(n, 1, 1, &length, &count) && count == 1) {
		two = tn_onnx_number(n, 2);
		*bins = tn_dim_add(tn_onnx_pool(n),
				   tn_dim_floordiv(tn_onnx_pool(n), length,
						   two),
				   tn_onnx_number(n, 1));
		return true;
	}
	if (n->failed || !tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank != 2) {
		tn_onnx_unknown(n, "sizes that only run time knows");
		return false;
	}
	*bins = dims[0];
	*bands = dims[1];
	tn_onnx_text(n, "assert(cast(%v, i64) == cast(%d, i64) && "
		     "cast(%v, i64) // 2 + 1 == cast(%d, i64), "
		     "message=\"the bands are not as many as declared\"); "
		     "return true", tn_onnx_in(n, 0), *bands,
		     tn_onnx_in(n, 1), *bins);
	return !n->failed;
}

void tn_onnx_do_mel_weights(struct tn_onnx *n)
{
	const struct tn_dim *bins, *bands;

	if (bands_of(n, &bins, &bands))
		tn_onnx_is(n, "cast(mel_weights(cast(%v, i64), cast(%v, i64), "
			   "cast(%v, f64), cast(%v, f64), bins=%d, bands=%d), "
			   "%t)", tn_onnx_in(n, 1), tn_onnx_in(n, 2),
			   tn_onnx_in(n, 3), tn_onnx_in(n, 4), bins, bands,
			   tn_onnx_dtype(tn_onnx_int(n, "output_datatype",
						     1)));
}
