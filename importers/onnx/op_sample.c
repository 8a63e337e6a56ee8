/*
 * Handlers that sample at places that are computed: GridSample, AffineGrid,
 * and windows of signals.
 */
#include <string.h>

#include "importers/onnx/table.h"

/* ---- Grids --------------------------------------------------------------------------- */

/* Elements about a place of one axis, with their weights: [N, O]. */
struct taps {
	int count;
	struct tn_value *at[4], *weight[4];
};

struct grid {
	struct tn_value *x;
	int axes;		/* spatial */
	const char *padding;
	bool aligned;
	const struct tn_dim *points;	/* places a batch, O */
	struct tn_value *flat;		/* x as [N, C, S] */
	struct taps taps[TN_MAX_RANK];
};

/* Back and forth between the borders; what lies within stays. */
static struct tn_value *reflected(struct tn_onnx *n, struct tn_value *at,
				  const struct tn_dim *size, bool aligned)
{
	return tn_onnx_text(n, aligned ?
		"x = %v; r = max(cast(%d - 1, f32), 0.5); l = 0.0; "
		"q = abs(x - l); m = rem(q, 2 * r); "
		"f = select(m > r, 2 * r - m, m) + l; "
		"return select(x < l || x > r + l, f, x)" :
		"x = %v; r = cast(%d, f32); l = -0.5; "
		"q = abs(x - l); m = rem(q, 2 * r); "
		"f = select(m > r, 2 * r - m, m) + l; "
		"return select(x < l || x > r + l, f, x)", at, size);
}

/* The place along spatial axis i, in elements: f32[N, O]. */
static struct tn_value *place(struct tn_onnx *n, const struct grid *g,
			      struct tn_value *grid, int i)
{
	const struct tn_dim *size = g->x->type->dims[i + 2];
	struct tn_value *at;

	at = tn_onnx_text(n, g->aligned ?
		"g = cast(%v, f32); return (g[..., %i] + 1) / 2 * (%d - 1)" :
		"g = cast(%v, f32); return ((g[..., %i] + 1) * %d - 1) / 2",
		grid, (int64_t)(g->axes - 1 - i), size);
	at = at ? tn_onnx_text(n, "reshape(%v, [%d, %d])", at,
			       g->x->type->dims[0], g->points) : NULL;
	return at;
}

static struct tn_value *bordered(struct tn_onnx *n, const struct grid *g,
				 struct tn_value *at, int i)
{
	const struct tn_dim *size = g->x->type->dims[i + 2];

	if (at && !strcmp(g->padding, "border"))
		return tn_onnx_text(n, "min(max(%v, 0), %d - 1)", at, size);
	if (at && !strcmp(g->padding, "reflection"))
		return reflected(n, at, size, g->aligned);
	return at;
}

static bool taps_of(struct tn_onnx *n, struct grid *g, int i,
		    struct tn_value *at, const char *mode)
{
	struct taps *t = &g->taps[i];
	struct tn_value *base, *f;
	int k;

	if (!strcmp(mode, "nearest")) {
		t->count = 1;
		t->at[0] = at;
		t->weight[0] = tn_onnx_text(n, "ones([1, 1])");
		return t->weight[0] != NULL;
	}
	base = tn_onnx_text(n, "floor(%v)", at);
	f = base ? tn_onnx_text(n, "%v - %v", at, base) : NULL;
	if (!f)
		return false;
	t->count = strcmp(mode, "cubic") ? 2 : 4;
	for (k = 0; k < t->count; k++) {
		int offset = t->count == 2 ? k : k - 1;

		t->at[k] = tn_onnx_text(n, "%v + %i", base, (int64_t)offset);
		t->weight[k] = t->count == 2 ?
			tn_onnx_text(n, k ? "%v + 0" : "1 - %v", f) :
			tn_onnx_text(n, "a = -0.75; d = abs(%v - %i); "
				"return select(d <= 1, ((a + 2) * d - (a + 3)) "
				"* d * d + 1, ((a * d - 5 * a) * d + 8 * a) * "
				"d - 4 * a)", f, (int64_t)offset);
		if (!t->at[k] || !t->weight[k])
			return false;
	}
	return true;
}

/* One of the combinations of taps: what is there, times all weights. */
static struct tn_value *corner(struct tn_onnx *n, struct grid *g, int number)
{
	struct tn_value *flat = NULL, *weight = NULL, *at, *in, *w, *inside =
		NULL;
	int i, k;

	for (i = 0; i < g->axes; i++) {
		const struct tn_dim *size = g->x->type->dims[i + 2];

		k = number % g->taps[i].count;
		number /= g->taps[i].count;
		at = g->taps[i].at[k];
		w = g->taps[i].weight[k];
		if (!strcmp(g->padding, "zeros")) {
			in = tn_onnx_text(n, "%v >= 0 && %v <= %d - 1", at, at,
					  size);
			inside = inside ? tn_onnx_text(n, "%v && %v", inside,
						       in) : in;
		} else {
			at = bordered(n, g, at, i);
		}
		at = tn_onnx_text(n, "min(max(cast(%v, i64), 0), %d - 1)", at,
				  size);
		flat = flat ? tn_onnx_text(n, "%v * %d + %v", flat, size, at) :
			at;
		weight = weight ? tn_onnx_text(n, "%v * %v", weight, w) : w;
	}
	if (inside)
		weight = tn_onnx_text(n, "select(%v, %v, 0)", inside, weight);
	return n->failed ? NULL : tn_onnx_text(n,
		"take_along(%v, broadcast(expand_dims(%v, axes=[1]), "
		"[%d, %d, %d]), axis=2) * expand_dims(%v, axes=[1])", g->flat,
		flat, g->x->type->dims[0], g->x->type->dims[1], g->points,
		weight);
}

/* Beyond a border that is repeated, cubics run on: their elements alone are
 * those of the border. */
static void sample(struct tn_onnx *n, struct grid *g, struct tn_value *grid,
		   const char *mode)
{
	const struct tn_dim *shape[TN_MAX_RANK];
	struct tn_value *y = NULL, *one, *at;
	bool runs_on = !strcmp(mode, "cubic") && !strcmp(g->padding, "border");
	int i, corners = 1;

	for (i = 0; i < g->axes; i++) {
		at = place(n, g, grid, i);
		if (at && !strcmp(mode, "nearest"))
			at = tn_onnx_text(n, "round(%v)", at);
		at = runs_on ? at : bordered(n, g, at, i);
		if (at && !strcmp(mode, "nearest"))
			at = tn_onnx_text(n, "trunc(%v)", at);
		if (!at || !taps_of(n, g, i, at, mode))
			return;
		corners *= g->taps[i].count;
	}
	for (i = 0; i < corners; i++) {
		one = corner(n, g, i);
		y = y && one ? tn_onnx_text(n, "%v + %v", y, one) : one;
		if (!y)
			return;
	}
	shape[0] = g->x->type->dims[0];
	shape[1] = g->x->type->dims[1];
	for (i = 0; i < g->axes; i++)
		shape[i + 2] = grid->type->dims[i + 1];
	tn_onnx_is(n, "cast(reshape(%v, %D), %t)", y, g->axes + 2, shape,
		   g->x->type->dtype);
}

void tn_onnx_do_grid_sample(struct tn_onnx *n)
{
	const char *mode = tn_onnx_string(n, "mode", "linear");
	struct tn_value *grid = tn_onnx_in(n, 1);
	struct grid g = { .x = tn_onnx_in(n, 0) };
	int i;

	if (!g.x || !grid)
		return;
	g.axes = g.x->type->rank - 2;
	if (g.axes < 1 || g.axes > 4 || grid->type->rank != g.axes + 2) {
		tn_onnx_report(n, TN_E1012, "a grid of %d axes for %d",
			       grid->type->rank, g.x->type->rank);
		return;
	}
	if (!strcmp(mode, "bilinear"))
		mode = "linear";
	if (!strcmp(mode, "bicubic"))
		mode = "cubic";
	g.padding = tn_onnx_string(n, "padding_mode", "zeros");
	g.aligned = tn_onnx_int(n, "align_corners", 0) != 0;
	g.points = tn_onnx_number(n, 1);
	for (i = 0; i < g.axes; i++)
		g.points = tn_dim_mul(tn_onnx_pool(n), g.points,
				      grid->type->dims[i + 1]);
	g.flat = tn_onnx_text(n, "reshape(cast(%v, f32), [%d, %d, _])", g.x,
			      g.x->type->dims[0], g.x->type->dims[1]);
	if (g.flat && g.points)
		sample(n, &g, grid, mode);
}

/* ---- Windows of signals ---------------------------------------------------------------- */

static void signal_window(struct tn_onnx *n, const char *text)
{
	const struct tn_dim *dims[TN_MAX_RANK], *size;
	int64_t type = tn_onnx_int(n, "output_datatype", 1);
	bool periodic = tn_onnx_int(n, "periodic", 1) != 0;
	enum tn_dtype dtype;
	int count;

	if (!tn_onnx_sizes(n, 0, 1, &size, &count)) {
		if (n->failed ||
		    !tn_onnx_result(n, 0, &dtype, &count, dims) ||
		    count != 1) {
			tn_onnx_unknown(n, "a length that only run time knows");
			return;
		}
		size = dims[0];
		tn_onnx_text(n, "assert(cast(%v, i64) == cast(%d, i64), "
			     "message=\"the window is not as long as "
			     "declared\"); return true", tn_onnx_in(n, 0),
			     size);
	}
	tn_onnx_is(n, text, size, size, (int64_t)!periodic,
		   tn_onnx_dtype(type));
}

#define TURN "x = iota([%d], axis=0, elem=f64) * (0x1.921fb54442d18p+2 / " \
	"cast(%d - %i, f64)); "

void tn_onnx_do_hann_window(struct tn_onnx *n)
{
	signal_window(n, TURN "return cast(0.5 - 0.5 * cos(x), %t)");
}

void tn_onnx_do_hamming_window(struct tn_onnx *n)
{
	signal_window(n, TURN "return cast(0x1.1642c8590b216p-1 - "
		      "0x1.d37a6f4de9bd4p-2 * cos(x), %t)");
}

void tn_onnx_do_blackman_window(struct tn_onnx *n)
{
	signal_window(n, TURN "return cast(0.42 - 0.5 * cos(x) + "
		      "0.08 * cos(2 * x), %t)");
}
