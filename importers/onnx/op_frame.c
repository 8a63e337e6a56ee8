/*
 * Handlers that put things into frames: crops and pads about the centre,
 * images of columns, grids, sequences turned round.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- CenterCropPad ------------------------------------------------------------------ */

/* What the axis becomes: half of what is too much goes at either end. */
static struct tn_value *centred(struct tn_onnx *n, struct tn_value *x,
				int axis, const struct tn_dim *want)
{
	const struct tn_dim *a[TN_MAX_RANK], *b[TN_MAX_RANK];
	const struct tn_dim *have = x->type->dims[axis], *half;
	struct tn_dim_pool *pool = tn_onnx_pool(n);
	int rank = x->type->rank, i;

	if (want == have)
		return x;
	if (!tn_dim_is_const(want) || !tn_dim_is_const(have)) {
		tn_onnx_unknown(n, "sizes that only run time knows");
		return NULL;
	}
	for (i = 0; i < rank; i++) {
		a[i] = tn_onnx_number(n, 0);
		b[i] = want->value < have->value ? x->type->dims[i] : a[i];
	}
	if (want->value < have->value) {
		half = tn_onnx_number(n, (have->value - want->value) / 2);
		a[axis] = half;
		b[axis] = tn_dim_add(pool, half, want);
		return tn_onnx_text(n, "slice(%v, start=%D, stop=%D)", x, rank,
				    a, rank, b);
	}
	half = tn_onnx_number(n, (want->value - have->value) / 2);
	a[axis] = half;
	b[axis] = tn_dim_sub(pool, tn_dim_sub(pool, want, have), half);
	return tn_onnx_text(n, "pad(%v, pad=%P)", x, rank, a, b);
}

void tn_onnx_do_center_crop_pad(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	const struct tn_dim *want[TN_MAX_RANK], *dims[TN_MAX_RANK];
	const int64_t *axes;
	enum tn_dtype dtype;
	int count, rank, i, axis, naxes = tn_onnx_list(n, "axes", &axes);

	if (!x)
		return;
	if (!tn_onnx_sizes(n, 1, TN_MAX_RANK, want, &count)) {
		if (n->failed || !tn_onnx_result(n, 0, &dtype, &rank, dims) ||
		    rank != x->type->rank) {
			tn_onnx_unknown(n, "sizes that only run time knows");
			return;
		}
		count = naxes < 0 ? rank : naxes;
		for (i = 0; i < count && i < TN_MAX_RANK; i++) {
			axis = tn_onnx_axis(n, naxes < 0 ? i : axes[i], rank);
			want[i] = axis < 0 ? NULL : dims[axis];
		}
		if (n->failed || !tn_onnx_hold(n, 1, count, want)) {
			tn_onnx_unknown(n, "sizes that only run time knows");
			return;
		}
	}
	for (i = 0; x && i < count; i++) {
		axis = tn_onnx_axis(n, naxes < 0 ? i : axes[i],
				    x->type->rank);
		x = axis < 0 ? NULL : centred(n, x, axis, want[i]);
	}
	tn_onnx_give(n, 0, x);
}

/* ---- Col2Im --------------------------------------------------------------------------- */

/* `fallback` where there is none, which is also the least. */
static void read_list(struct tn_onnx *n, const char *name, int count,
		      int64_t fallback, int64_t *out)
{
	const int64_t *list;
	int have = tn_onnx_list(n, name, &list), i;

	for (i = 0; i < count; i++) {
		out[i] = i < have ? list[i] : fallback;
		if (out[i] >= fallback && out[i] <= INT32_MAX)
			continue;
		tn_onnx_report(n, TN_E1012, "%s is %lld", name,
			       (long long)out[i]);
		out[i] = fallback;
	}
}

/* Columns of blocks of an image. */
struct columns {
	int count;		/* of axes */
	int64_t image[TN_MAX_RANK], block[TN_MAX_RANK], stride[TN_MAX_RANK];
	int64_t dilation[TN_MAX_RANK], pads[2 * TN_MAX_RANK];
	struct tn_value *x;	/* [N, C * block, places] */
};

static bool are_small(int count, const int64_t *sizes)
{
	int i;

	for (i = 0; i < count; i++)
		if (sizes[i] < 1 || sizes[i] > INT32_MAX)
			return false;
	return true;
}

/* The size of the image: known, or declared. */
static bool image_sizes(struct tn_onnx *n, int64_t *sizes, int *count)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	enum tn_dtype dtype;
	int rank, i;

	if (tn_onnx_ints(n, 1, TN_MAX_RANK, sizes, count))
		return true;
	if (n->failed || !tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank < 3)
		return false;
	*count = rank - 2;
	for (i = 2; i < rank; i++) {
		if (!tn_dim_is_const(dims[i]))
			return false;
		sizes[i - 2] = dims[i]->value;
	}
	return tn_onnx_hold(n, 1, *count, dims + 2);
}

/* How far a block reaches. */
static int64_t reach(const struct columns *c, int i)
{
	return c->dilation[i] * (c->block[i] - 1) + 1;
}

/* Places of the block along an axis, and what is left behind the last. */
static int64_t places(const struct columns *c, int i, int64_t *left)
{
	int64_t room = c->image[i] + c->pads[i] + c->pads[i + c->count] -
		reach(c, i);

	*left = room < 0 ? 0 : room % c->stride[i];
	return room < 0 ? 0 : room / c->stride[i] + 1;
}

/* Columns added up where they come from: the transposed convolution of each
 * block with the places of its elements. */
static struct tn_value *image_of(struct tn_onnx *n, const struct columns *c)
{
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK];
	const struct tn_dim *in[TN_MAX_RANK], *eye[TN_MAX_RANK];
	const struct tn_dim *const *dims = c->x->type->dims, *channels;
	int64_t extra[TN_MAX_RANK], all = 1;
	struct tn_value *y;
	int i, count = c->count;

	for (i = 0; i < count; i++) {
		if (all > INT32_MAX / c->block[i]) {
			tn_onnx_refuse(n, "blocks as large as these");
			return NULL;
		}
		all *= c->block[i];
		in[i + 2] = tn_onnx_number(n, places(c, i, &extra[i]));
		eye[i + 2] = tn_onnx_number(n, c->block[i]);
		lo[i] = tn_onnx_number(n, c->pads[i]);
		hi[i] = tn_onnx_number(n, c->pads[i + count]);
	}
	channels = tn_dim_floordiv(tn_onnx_pool(n), dims[1],
				   tn_onnx_number(n, all));
	in[0] = tn_dim_mul(tn_onnx_pool(n), dims[0], channels);
	in[1] = eye[0] = tn_onnx_number(n, all);
	eye[1] = tn_onnx_number(n, 1);
	y = tn_onnx_text(n, "conv_transpose(reshape(%v, %D), reshape(cast("
		"iota([%i, %i], axis=0) == iota([%i, %i], axis=1), %t), %D), "
		"stride=%I, dilation=%I, pad=%P, output_pad=%I)", c->x,
		count + 2, in, all, all, all, all, c->x->type->dtype,
		count + 2, eye, count, c->stride, count, c->dilation, count,
		lo, hi, count, extra);
	in[0] = dims[0];
	in[1] = channels;
	for (i = 0; i < count; i++)
		in[i + 2] = tn_onnx_number(n, c->image[i]);
	return y ? tn_onnx_text(n, "reshape(%v, %D)", y, count + 2, in) : NULL;
}

/* ---- Blocks that only run time knows ---------------------------------------------------- */

/* More blocks that would fit are refused. */
#define BLOCKS 16
/* And more that are looked at. */
#define TRIED 100000

/* The next block of not more than `most` elements an axis; false: none. */
static bool next_block(struct columns *c, int64_t most)
{
	int i;

	for (i = c->count - 1; i >= 0; i--) {
		if (++c->block[i] <= most)
			return true;
		c->block[i] = 1;
	}
	return false;
}

static bool fits(const struct columns *c, int64_t block, int64_t count)
{
	int64_t all = 1, at = 1, left;
	int i;

	for (i = 0; i < c->count; i++) {
		if (all > block / c->block[i])
			return false;
		all *= c->block[i];
		left = places(c, i, &left);
		if (!left || at > count / left)
			return false;
		at *= left;
	}
	return all == block && at == count;
}

/* Elements of a block and number of places, from the declared channels. */
static bool block_facts(struct tn_onnx *n, const struct columns *c,
			int64_t *block, int64_t *count)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	const struct tn_dim *const *have = c->x->type->dims;
	enum tn_dtype dtype;
	int rank;

	if (!tn_onnx_result(n, 0, &dtype, &rank, dims) ||
	    rank != c->count + 2 || !tn_dim_is_const(dims[1]) ||
	    !tn_dim_is_const(have[1]) || !tn_dim_is_const(have[2]) ||
	    dims[1]->value < 1 || have[1]->value % dims[1]->value)
		return false;
	*block = have[1]->value / dims[1]->value;
	*count = have[2]->value;
	return *block > 0;
}

/* The images of all blocks that fit; run time picks one. */
static void any_block(struct tn_onnx *n, struct columns *c)
{
	struct tn_value *block = tn_onnx_in(n, 2), *out = NULL, *ok = NULL;
	struct tn_value *one, *is;
	int64_t most, count;
	int i, found = 0, tried = 0;

	for (i = 0; i < c->count; i++)
		c->block[i] = 1;
	if (!block || !block_facts(n, c, &most, &count) ||
	    tn_type_count(n->job->module, block->type) !=
	    tn_onnx_number(n, c->count)) {
		tn_onnx_unknown(n, "sizes that only run time knows");
		return;
	}
	do {
		if (++tried > TRIED || found > BLOCKS)
			break;
		if (!fits(c, most, count))
			continue;
		found++;
		is = tn_onnx_text(n, "all(cast(%v, i64) == cast(%I, i64))",
				  block, c->count, c->block);
		one = is ? image_of(n, c) : NULL;
		if (!one)
			return;
		ok = ok ? tn_onnx_text(n, "%v || %v", ok, is) : is;
		out = out ? tn_onnx_text(n, "select(%v, %v, %v)", is, one,
					 out) : one;
	} while (out ? !n->failed && next_block(c, most) :
		 next_block(c, most));
	if (!out || found > BLOCKS || tried > TRIED)
		tn_onnx_unknown(n, "sizes that only run time knows");
	else if (tn_onnx_text(n, "assert(%v, message=\"the block does not "
			      "give the declared shape\"); return true", ok))
		tn_onnx_give(n, 0, out);
}

void tn_onnx_do_col2im(struct tn_onnx *n)
{
	struct columns c = { .x = tn_onnx_in(n, 0) };
	int have;

	if (!c.x || c.x->type->rank != 3)
		return;
	if (!image_sizes(n, c.image, &c.count) || c.count < 1 ||
	    c.count > TN_MAX_RANK - 2 || !are_small(c.count, c.image)) {
		tn_onnx_unknown(n, "sizes that only run time knows");
		return;
	}
	read_list(n, "strides", c.count, 1, c.stride);
	read_list(n, "dilations", c.count, 1, c.dilation);
	read_list(n, "pads", 2 * c.count, 0, c.pads);
	if (n->failed)
		return;
	if (!tn_onnx_ints(n, 2, TN_MAX_RANK, c.block, &have))
		any_block(n, &c);
	else if (have == c.count && are_small(have, c.block))
		tn_onnx_give(n, 0, image_of(n, &c));
	else
		tn_onnx_report(n, TN_E1012, "the block does not fit");
}

/* ---- AffineGrid -------------------------------------------------------------------------- */

/* The sizes at run time are [N, C, ..], the declared ones [N, .., k]. */
static bool hold_grid(struct tn_onnx *n, const struct tn_value *theta,
		      int rank, const struct tn_dim *const *dims)
{
	struct tn_value *v = tn_onnx_in(n, 1);
	int i;

	if (!v || rank < 3 || v->type->rank != 1 ||
	    v->type->dims[0] != tn_onnx_number(n, rank))
		return false;
	for (i = 0; i < rank - 1; i++)
		if (!tn_onnx_text(n, "s = %v; assert(s[%i] == cast(%d, i64), "
				  "message=\"the sizes are not those "
				  "declared\"); return true", v,
				  (int64_t)(i ? i + 1 : 0),
				  i ? dims[i] : theta->type->dims[0]))
			return false;
	return true;
}

void tn_onnx_do_affine_grid(struct tn_onnx *n)
{
	bool aligned = tn_onnx_int(n, "align_corners", 0) != 0;
	struct tn_value *theta = tn_onnx_in(n, 0), *axes[4], *all;
	const struct tn_dim *dims[TN_MAX_RANK], *sizes[TN_MAX_RANK];
	enum tn_dtype dtype;
	int rank, i, count = 0;

	if (!theta)
		return;
	if (tn_onnx_sizes(n, 1, TN_MAX_RANK, sizes, &count)) {
		for (i = 2; i < count; i++)
			sizes[i - 2] = sizes[i];
		count -= 2;
	} else if (!n->failed && tn_onnx_result(n, 0, &dtype, &rank, dims)) {
		count = hold_grid(n, theta, rank, dims) ? rank - 2 : 0;
		for (i = 0; i < count; i++)
			sizes[i] = dims[i + 1];
	}
	if (count < 1 || count > 3 || n->failed) {
		tn_onnx_unknown(n, "sizes that only run time knows");
		return;
	}
	for (i = 0; i < count; i++)
		axes[count - 1 - i] = tn_onnx_text(n, aligned ?
			"i = iota(%D, axis=%i, elem=f64); "
			"return expand_dims(i * 2 / (%d - 1) - 1, axes=[-1])" :
			"i = iota(%D, axis=%i, elem=f64); "
			"return expand_dims((2 * i + 1) / %d - 1, axes=[-1])",
			count, sizes, (int64_t)i, sizes[i]);
	axes[count] = tn_onnx_text(n, "expand_dims(ones(%D, elem=f64), "
				   "axes=[-1])", count, sizes);
	if (n->failed)
		return;
	all = tn_onnx_concat(n, count + 1, axes, count);
	all = all ? tn_onnx_text(n, "g = reshape(%v, [_, %i]); "
		"return cast(einsum(\"sk,nok->nso\", g, cast(%v, f64)), %t)",
		all, (int64_t)count + 1, theta, theta->type->dtype) : NULL;
	if (!all)
		return;
	dims[0] = theta->type->dims[0];
	for (i = 0; i < count; i++)
		dims[i + 1] = sizes[i];
	dims[count + 1] = tn_onnx_number(n, count);
	tn_onnx_is(n, "reshape(%v, %D)", all, count + 2, dims);
}

/* ---- Turned round, put back ------------------------------------------------------------- */

void tn_onnx_do_reverse_sequence(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *lengths = tn_onnx_in(n, 1);
	int64_t batch = tn_onnx_int(n, "batch_axis", 1);
	int64_t time = tn_onnx_int(n, "time_axis", 0);
	const struct tn_dim *shape[TN_MAX_RANK];
	int i;

	if (!x || !lengths || batch < 0 || batch >= x->type->rank || time < 0 ||
	    time >= x->type->rank)
		return;
	for (i = 0; i < x->type->rank; i++)
		shape[i] = i == batch ? x->type->dims[i] :
			tn_onnx_number(n, 1);
	tn_onnx_is(n, "t = iota(%D, axis=%i); l = reshape(cast(%v, i64), %D); "
		   "return take_along(%v, select(t < l, l - 1 - t, t), "
		   "axis=%i)", x->type->rank, x->type->dims, time, lengths,
		   x->type->rank, shape, x, time);
}

/* Elements at their places in all of the result. */
void tn_onnx_do_max_unpool(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *at = tn_onnx_in(n, 1), *y;
	int64_t size[TN_MAX_RANK], stride[TN_MAX_RANK], pads[2 * TN_MAX_RANK];
	const struct tn_dim *inner[TN_MAX_RANK], *dims[TN_MAX_RANK];
	const struct tn_dim *lo[TN_MAX_RANK], *hi[TN_MAX_RANK], *all;
	int count, i;

	if (!x || !at || x->type->rank < 3)
		return;
	count = x->type->rank - 2;
	read_list(n, "kernel_shape", count, 1, size);
	read_list(n, "strides", count, 1, stride);
	read_list(n, "pads", 2 * count, 0, pads);
	if (n->failed)
		return;
	all = tn_dim_mul(tn_onnx_pool(n), x->type->dims[0], x->type->dims[1]);
	inner[0] = x->type->dims[0];
	inner[1] = x->type->dims[1];
	for (i = 0; i < count; i++) {
		inner[i + 2] = tn_dim_add(tn_onnx_pool(n), tn_dim_mul(
			tn_onnx_pool(n), tn_dim_sub(tn_onnx_pool(n),
				x->type->dims[i + 2], tn_onnx_number(n, 1)),
			tn_onnx_number(n, stride[i])), tn_onnx_number(n,
			size[i] - pads[i] - pads[i + count]));
		all = tn_dim_mul(tn_onnx_pool(n), all, inner[i + 2]);
	}
	y = all ? tn_onnx_text(n, "reshape(scatter(zeros([%d], elem=%t), "
		"reshape(%v, [_]), reshape(%v, [_]), axis=0), %D)", all,
		x->type->dtype, at, x, count + 2, inner) : NULL;
	if (!y || !tn_onnx_has(n, 2)) {
		tn_onnx_give(n, 0, y);
		return;
	}
	if (!tn_onnx_shape(n, 2, dims, &i) || i != count + 2)
		return;
	for (i = 0; i < count + 2; i++) {
		lo[i] = tn_onnx_number(n, 0);
		hi[i] = tn_dim_sub(tn_onnx_pool(n), dims[i], inner[i]);
	}
	tn_onnx_is(n, "pad(%v, pad=%P)", y, count + 2, lo, hi);
}
