/*
 * TfIdfVectorizer: how often each n-gram of a pool stands in each row, by
 * `count_grams` of the library, once for each length and skip.
 *
 *   x [N, C] -> counts of each length [N, K] -> columns of the result [N, M]
 */
#include <string.h>

#include "importers/onnx/ml.h"
#include "importers/onnx/table.h"

/* Columns of the result are at most so many. */
#define MOST ((int64_t)1 << 24)

struct grams {
	struct tn_onnx *n;
	struct tn_value *x;		/* i64[N, C] */
	struct tn_ml_ints starts, pool, columns;
	struct tn_ml_reals weights;
	int64_t shortest, longest, skips, width;
	struct tn_value *y;		/* i64[N, width], so far; or NULL */
};

static bool read_grams(struct grams *g)
{
	struct tn_onnx *n = g->n;
	int64_t i;

	g->shortest = tn_onnx_int(n, "min_gram_length", 1);
	g->longest = tn_onnx_int(n, "max_gram_length", 1);
	g->skips = tn_onnx_int(n, "max_skip_count", 0);
	if (tn_onnx_attr(n, "pool_strings")) {
		tn_onnx_refuse(n, "a pool of strings");
		return false;
	}
	if (!tn_ml_read_ints(n, "ngram_counts", &g->starts) ||
	    !tn_ml_read_ints(n, "pool_int64s", &g->pool) ||
	    !tn_ml_read_ints(n, "ngram_indexes", &g->columns) ||
	    !tn_ml_read_reals(n, "weights", &g->weights))
		return false;
	for (i = 0; i < g->columns.count; i++) {
		if (g->columns.at[i] < 0 || g->columns.at[i] >= MOST) {
			tn_onnx_report(n, TN_E1012, "ngram_indexes has %lld",
				       (long long)g->columns.at[i]);
			return false;
		}
		if (g->columns.at[i] >= g->width)
			g->width = g->columns.at[i] + 1;
	}
	if (g->width && g->shortest >= 1 && g->skips >= 0 &&
	    g->skips <= ONNX_KNOWN &&
	    (!g->weights.count || g->weights.count == g->columns.count))
		return true;
	tn_onnx_report(n, TN_E1012, "%lld columns, %lld weights, lengths from "
		       "%lld, skips to %lld", (long long)g->width,
		       (long long)g->weights.count, (long long)g->shortest,
		       (long long)g->skips);
	return false;
}

/* An element that no gram has. */
static int64_t stranger(struct grams *g)
{
	int64_t lo = 0, hi = 0, i;

	for (i = 0; i < g->pool.count; i++) {
		lo = g->pool.at[i] < lo ? g->pool.at[i] : lo;
		hi = g->pool.at[i] > hi ? g->pool.at[i] : hi;
	}
	if (hi < INT64_MAX)
		return hi + 1;
	if (lo == INT64_MIN)
		tn_onnx_refuse(g->n, "a pool from the least number to the "
			       "greatest");
	return lo == INT64_MIN ? 0 : lo - 1;
}

/* Rows that a gram of this span may be longer than are made longer. */
static struct tn_value *long_enough(struct grams *g, int64_t span)
{
	int64_t lo, hi;

	tn_dim_bounds(g->x->type->dims[1], &lo, &hi);
	if (lo >= span)
		return g->x;
	return tn_onnx_text(g->n, "pad(%v, cast(%i, i64), pad=[[0, 0], "
			    "[0, %i]])", g->x, stranger(g), span - 1);
}

/* Counts of the grams of one length, all skips: i64[N, K]. */
static struct tn_value *counts_of(struct grams *g, int64_t length,
				  struct tn_value *pool)
{
	int64_t skips = length == 1 ? 0 : g->skips, skip;
	struct tn_value *sum = NULL, *x, *one;

	for (skip = 0; skip <= skips; skip++) {
		x = long_enough(g, (length - 1) * (skip + 1) + 1);
		one = x ? tn_onnx_text(g->n, "count_grams(%v, %v, skip=%i)", x,
				       pool, skip) : NULL;
		if (one && sum)
			one = tn_onnx_text(g->n, "%v + %v", sum, one);
		if (!one)
			return NULL;
		sum = one;
	}
	return sum;
}

/* Adds the grams of a length, which are number `first` and on of all. */
static bool add_length(struct grams *g, int64_t length, int64_t from,
		       int64_t count, int64_t first)
{
	struct tn_onnx *n = g->n;
	struct tn_value *pool, *columns, *counts;

	if (first + count > g->columns.count) {
		tn_onnx_report(n, TN_E1012, "more n-grams than "
			       "ngram_indexes");
		return false;
	}
	pool = tn_ml_ints(n, "pool", TN_i64, count * length,
			  g->pool.at + from);
	columns = tn_ml_ints(n, "columns", TN_i64, count,
			     g->columns.at + first);
	pool = pool ? tn_onnx_text(n, "reshape(%v, [%i, %i])", pool, count,
				   length) : NULL;
	counts = pool && columns ? counts_of(g, length, pool) : NULL;
	if (counts && g->y)
		g->y = tn_onnx_text(n, "scatter(%v, %v, %v, axis=1, "
				    "combine=\"add\")", g->y, columns,
				    counts);
	return counts && g->y;
}

static bool add_all(struct grams *g)
{
	int64_t i, from, to, length, count, first = 0;

	g->y = tn_onnx_text(g->n, "zeros([%d, %i], elem=i64)",
			    g->x->type->dims[0], g->width);
	for (i = 0; g->y && i < g->starts.count; i++) {
		length = i + 1;
		from = g->starts.at[i];
		to = i + 1 < g->starts.count ? g->starts.at[i + 1] :
			g->pool.count;
		if (from < 0 || to > g->pool.count || length > ONNX_KNOWN) {
			tn_onnx_report(g->n, TN_E1012, "n-grams outside of "
				       "the pool");
			return false;
		}
		count = to > from ? (to - from) / length : 0;
		if (count && length >= g->shortest && length <= g->longest &&
		    !add_length(g, length, from, count, first))
			return false;
		first += count;
	}
	return g->y != NULL;
}

/* Weights are given by n-gram, and lie in its column. */
static struct tn_value *weights_of(struct grams *g)
{
	double *at = tn_ml_room(g->n, g->width, sizeof(*at));
	int64_t i;

	if (!at)
		return NULL;
	for (i = 0; i < g->weights.count; i++)
		at[g->columns.at[i]] = g->weights.at[i];
	return tn_ml_vector(g->n, "weights", TN_f32, g->width, at);
}

static struct tn_value *weighed(struct grams *g, const char *mode)
{
	struct tn_onnx *n = g->n;
	struct tn_value *w;

	w = g->weights.count ? weights_of(g) :
		tn_onnx_text(n, "cast(1, f32)");
	if (!strcmp(mode, "IDF"))
		return w ? tn_onnx_text(n, "select(%v > 0, %v, 0)", g->y, w) :
			NULL;
	return !strcmp(mode, "TF") ? tn_onnx_text(n, "cast(%v, f32)", g->y) :
		w ? tn_onnx_text(n, "cast(%v, f32) * %v", g->y, w) : NULL;
}

void tn_onnx_do_tf_idf(struct tn_onnx *n)
{
	const char *mode = tn_onnx_string(n, "mode", "TF");
	struct tn_value *x = tn_onnx_in(n, 0), *y;
	struct grams g = { .n = n };
	int rank;

	if (!x || !read_grams(&g))
		return;
	rank = x->type->rank;
	if (rank > 2) {
		tn_onnx_report(n, TN_E1012, "an operand of %d axes", rank);
		return;
	}
	g.x = tn_onnx_text(n, rank == 2 ? "cast(%v, i64)" :
			   "reshape(cast(%v, i64), [1, _])", x);
	y = g.x && add_all(&g) ? weighed(&g, mode) : NULL;
	if (y)
		tn_onnx_is(n, rank == 2 ? "%v" : "squeeze(%v, axes=[0])", y);
}
