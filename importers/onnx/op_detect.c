/*
 * Handlers of what detectors need: NonMaxSuppression, RoiAlign, DeformConv; and
 * Unique, whose results are as long as the data tell, too.
 *
 *   nms: which of the sorted boxes stay; their places, as triples
 *   Unique: a sort, and where it goes on to another element
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- NonMaxSuppression --------------------------------------------------- */

/* Operand i as a scalar of this type; `other` where it is absent. */
static struct tn_value *scalar(struct tn_onnx *n, int i, enum tn_dtype dtype,
			       const char *other)
{
	if (!tn_onnx_has(n, i))
		return tn_onnx_text(n, "cast(%s, %t)", other, dtype);
	return tn_onnx_text(n, "reshape(cast(%v, %t), [])", tn_onnx_in(n, i),
			    dtype);
}

/* Boxes as corners: [x, y, width, height] are about a middle. */
static struct tn_value *corners(struct tn_onnx *n, struct tn_value *boxes)
{
	if (!boxes || !tn_onnx_int(n, "center_point_box", 0))
		return boxes;
	return tn_onnx_text(n, "b = %v; x = b[..., 0:1]; y = b[..., 1:2]; "
		"w = b[..., 2:3] / 2; h = b[..., 3:4] / 2; "
		"return concat(y - h, x - w, y + h, x + w, axis=-1)", boxes);
}

void tn_onnx_do_nms(struct tn_onnx *n)
{
	struct tn_value *boxes = tn_onnx_in(n, 0), *scores = tn_onnx_in(n, 1);
	struct tn_value *out[2], *keep, *at;
	const struct tn_dim *all, *each;

	if (!boxes || !scores)
		return;
	if (boxes->type->rank != 3 || scores->type->rank != 3) {
		tn_onnx_report(n, TN_E1012, "boxes of %d axes, scores of %d",
			       boxes->type->rank, scores->type->rank);
		return;
	}
	boxes = corners(n, boxes);
	if (!boxes || !tn_onnx_texts(n, 2, out,
			"return nms(%v, %v, %v, %v, %v)", boxes, scores, scalar(n, 2, TN_i64, "0"),
			scalar(n, 3, boxes->type->dtype, "0"),
			scalar(n, 4, boxes->type->dtype, "-inf")))
		return;
	all = tn_type_count(n->job->module, scores->type);
	each = tn_dim_mul(tn_onnx_pool(n), scores->type->dims[1],
			  scores->type->dims[2]);
	keep = tn_onnx_text(n, "reshape(%v, [%d])", out[1], all);
	at = keep ? tn_onnx_places(n, keep, all) : NULL;
	if (at)
		tn_onnx_is(n, "z = %v; return stack([z // cast(%d, i64), "
			"z // cast(%d, i64) %% cast(%d, i64), "
			"gather(reshape(%v, [%d]), z)], axis=1)", at, each,
			scores->type->dims[2], scores->type->dims[1], out[0],
			all);
}

/* ---- Regions ------------------------------------------------------------- */

void tn_onnx_do_roi_align(struct tn_onnx *n)
{
	const char *how = tn_onnx_string(n, "coordinate_transformation_mode",
					 n->version < 16 ?
					 "output_half_pixel" : "half_pixel");
	const char *mode = tn_onnx_string(n, "mode", "avg");
	struct tn_value *x = tn_onnx_in(n, 0), *rois = tn_onnx_in(n, 1);
	struct tn_value *batch = tn_onnx_in(n, 2);

	if (!x || !rois || !batch)
		return;
	if (strcmp(mode, "avg") != 0 && strcmp(mode, "max") != 0) {
		tn_onnx_report(n, TN_E1012, "mode '%s'", mode);
		return;
	}
	tn_onnx_is(n, "roi_align(%v, %v, %v, height=%i, width=%i, scale=%f, "
		   "samples=%i, half=%s, mode=\"%s\")", x, rois, batch,
		   tn_onnx_int(n, "output_height", 1),
		   tn_onnx_int(n, "output_width", 1),
		   tn_onnx_float(n, "spatial_scale", 1),
		   tn_onnx_int(n, "sampling_ratio", 0),
		   strcmp(how, "half_pixel") ? "false" : "true", mode);
}

/* Entry i of a list attribute. */
static int64_t entry(struct tn_onnx *n, const char *name, int i,
		     int64_t fallback)
{
	const int64_t *list;

	return tn_onnx_list(n, name, &list) > i ? list[i] : fallback;
}

void tn_onnx_do_deform_conv(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *w = tn_onnx_in(n, 1);
	struct tn_value *offset = tn_onnx_in(n, 2), *bias, *mask;
	const char *text = "deform_conv(%v, %v, %v, %v, %v, stride_y=%i, "
		"stride_x=%i, pad_y=%i, pad_x=%i, dilation_y=%i, "
		"dilation_x=%i, groups=%i, shares=%i)";

	if (!x || !w || !offset)
		return;
	if (x->type->rank != 4) {
		tn_onnx_refuse(n, "%d spatial axes", x->type->rank - 2);
		return;
	}
	bias = tn_onnx_has(n, 3) ? tn_onnx_in(n, 3) :
		tn_onnx_text(n, "cast(0, %t)", x->type->dtype);
	mask = tn_onnx_has(n, 4) ? tn_onnx_in(n, 4) :
		tn_onnx_text(n, "cast(1, %t)", x->type->dtype);
	if (bias && mask)
		tn_onnx_is(n, text, x, w, offset, bias, mask,
			   entry(n, "strides", 0, 1), entry(n, "strides", 1, 1),
			   entry(n, "pads", 0, 0), entry(n, "pads", 1, 0),
			   entry(n, "dilations", 0, 1),
			   entry(n, "dilations", 1, 1),
			   tn_onnx_int(n, "group", 1),
			   tn_onnx_int(n, "offset_group", 1));
}

/* ---- Unique -------------------------------------------------------------- */

/* What is compared: elements [N], or the slices along an axis as rows [N, M],
 * and how they come back. */
struct unique {
	struct tn_value *rows;
	const struct tn_dim *count;		/* N */
	int axis;				/* or -1 */
	int64_t perm[TN_MAX_RANK];	/* that brings it to the front */
	const struct tn_dim *slice[TN_MAX_RANK];	/* their sizes */
	struct tn_value *order, *sorted, *fresh;
};

static bool read_rows(struct tn_onnx *n, struct unique *u)
{
	struct tn_value *x = tn_onnx_in(n, 0);
	int i, k = 1;

	if (x && x->type->dtype == TN_bool)
		x = tn_onnx_text(n, "cast(%v, u8)", x);
	if (!x)
		return false;
	u->axis = -1;
	if (!tn_onnx_attr(n, "axis")) {
		u->count = tn_type_count(n->job->module, x->type);
		u->rows = tn_onnx_text(n, "reshape(%v, [%d])", x, u->count);
		return u->rows != NULL;
	}
	u->axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 0), x->type->rank);
	if (u->axis < 0)
		return false;
	u->count = x->type->dims[u->axis];
	u->perm[0] = u->axis;
	for (i = 0; i < x->type->rank; i++)
		if (i != u->axis) {
			u->slice[k] = x->type->dims[i];
			u->perm[k++] = i;
		}
	u->rows = tn_onnx_text(n, "reshape(transpose(%v, perm=%I), [%d, _])",
			       x, x->type->rank, u->perm, u->count);
	return u->rows != NULL;
}

/* The order that sorts, and whether each differs from the one before. */
static bool sort_rows(struct tn_onnx *n, struct unique *u)
{
	u->order = tn_onnx_text(n, u->axis < 0 ? "argsort(%v)" : "lexsort(%v)",
				u->rows);
	u->sorted = u->order ? tn_onnx_text(n, "gather(%v, %v)", u->rows,
					    u->order) : NULL;
	u->fresh = !u->sorted ? NULL : tn_onnx_text(n, u->axis < 0 ?
		"s = %v; return concat(full([1], true), s[1:] != s[:%d - 1], "
		"axis=0)" :
		"s = %v; return concat(full([1], true), any(s[1:] != "
		"s[:%d - 1], axes=[1]), axis=0)", u->sorted, u->count);
	return u->fresh != NULL;
}

/* Slices [Z, M] as they were, along their axis. */
static struct tn_value *put_back(struct tn_onnx *n, const struct unique *u,
				 struct tn_value *rows, int rank)
{
	const struct tn_dim *shape[TN_MAX_RANK];
	int64_t back[TN_MAX_RANK];
	int i;

	if (u->axis < 0 || !rows)
		return rows;
	for (i = 0; i < rank; i++) {
		shape[i] = i ? u->slice[i] : rows->type->dims[0];
		back[u->perm[i]] = i;
	}
	return tn_onnx_text(n, "transpose(reshape(%v, %D), perm=%I)", rows,
			    rank, shape, rank, back);
}

/* First places, numbers for all elements, and counts, by value; or, `!sorted`,
 * in the order in which they come. */
static bool number_rows(struct tn_onnx *n, const struct unique *u,
			struct tn_value *at, bool sorted,
			struct tn_value **out)
{
	const struct tn_dim *found = at->type->dims[0];

	if (!tn_onnx_texts(n, 4, out, "z = %v; o = %v; "
			"g = cumsum(cast(%v, i64), axis=0) - 1; "
			"return z, gather(o, z), "
			"scatter(zeros([%d], elem=i64), o, g), "
			"scatter(zeros([%d], elem=i64), g, ones([%d], "
			"elem=i64), combine=\"add\")", at, u->order, u->fresh,
			u->count, found, u->count))
		return false;
	return sorted || tn_onnx_texts(n, 4, out, "i = %v; b = argsort(i); "
		"r = scatter(zeros([%d], elem=i64), b, iota([%d])); "
		"return gather(%v, b), gather(i, b), gather(r, %v), "
		"gather(%v, b)", out[1], found, found, out[0], out[2], out[3]);
}

void tn_onnx_do_unique(struct tn_onnx *n)
{
	bool sorted = tn_onnx_int(n, "sorted", 1) != 0;
	struct tn_value *out[4], *at, *y;
	struct unique u;
	int i;

	if (!read_rows(n, &u))
		return;
	if (tn_dim_is(u.count, 0)) {
		tn_onnx_refuse(n, "nothing to look through");
		return;
	}
	at = sort_rows(n, &u) ? tn_onnx_places(n, u.fresh, u.count) : NULL;
	if (!at || !number_rows(n, &u, at, sorted, out))
		return;
	y = tn_onnx_text(n, "gather(%v, %v)", u.sorted, out[0]);
	y = put_back(n, &u, y, tn_onnx_in(n, 0)->type->rank);
	if (y && tn_onnx_in(n, 0)->type->dtype == TN_bool)
		y = tn_onnx_text(n, "%v != 0", y);
	tn_onnx_give(n, 0, y);
	for (i = 1; i < 4 && i < n->nout; i++)
		tn_onnx_give(n, i, out[i]);
}
