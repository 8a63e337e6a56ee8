/*
 * Handlers of ensembles of trees: TreeEnsemble and the two older forms of it.
 * The trees become tables of their nodes, which `tree_leaves` of the library
 * walks for all rows and trees at once; what the leaves say is then looked up
 * and summed.
 *
 *   x, tables -> leaf [N, trees] -> weights[leaf] [N, trees, K] -> [N, K]
 */
#include <math.h>
#include <string.h>

#include "importers/onnx/forest.h"
#include "importers/onnx/table.h"

static const char *const modes[] = { "leq", "lt", "geq", "gt", "eq", "ne" };

/* A table of one byte a node. */
static struct tn_value *bytes(struct tn_forest *f, const char *name,
			      const unsigned char *from, enum tn_dtype dtype)
{
	int64_t *wide = tn_ml_room(f->n, f->count, sizeof(*wide)), i;

	if (!wide)
		return NULL;
	for (i = 0; i < f->count; i++)
		wide[i] = from[i] == FOREST_LEAF ? 0 : from[i];
	return tn_ml_ints(f->n, name, dtype, f->count, wide);
}

/* ---- The graph ----------------------------------------------------------- */

/* The mode of all nodes between, "each" if they differ. */
static const char *mode_name(const struct tn_forest *f)
{
	int64_t i;

	for (i = f->leaves; i < f->count; i++)
		if (f->how[i] != f->how[f->leaves])
			return "each";
	return f->count > f->leaves ? modes[f->how[f->leaves]] : "leq";
}

/* Which leaf each row comes to in each tree. */
static struct tn_value *leaves_of(struct tn_forest *f, struct tn_value *x)
{
	struct tn_onnx *n = f->n;
	const char *mode = mode_name(f);
	struct tn_value *root, *feature, *bound, *yes, *no, *how, *missing;
	int64_t i, any = 0;

	for (i = 0; i < f->count; i++)
		any |= f->missing[i];
	root = tn_ml_ints(n, "root", TN_i32, f->roots, f->root);
	feature = tn_ml_ints(n, "feature", TN_i32, f->count, f->feature);
	bound = tn_ml_vector(n, "bound", x->type->dtype, f->count, f->bound);
	yes = tn_ml_ints(n, "yes", TN_i32, f->count, f->yes);
	no = tn_ml_ints(n, "no", TN_i32, f->count, f->no);
	how = strcmp(mode, "each") ? tn_onnx_text(n, "cast(0, u8)") :
		bytes(f, "how", f->how, TN_u8);
	missing = any ? bytes(f, "missing", f->missing, TN_bool) :
		tn_onnx_text(n, "cast(false, bool)");
	if (!root || !feature || !bound || !yes || !no || !how || !missing)
		return NULL;
	return tn_onnx_text(n, "tree_leaves(%v, %v, %v, %v, %v, %v, %v, %v, "
			    "depth=%i, mode=\"%s\")", x, root, feature, bound,
			    yes, no, how, missing, (int64_t)f->depth, mode);
}

/* The weights, with what wins against none in the place of those not set. */
static struct tn_value *weights_of(struct tn_forest *f, enum tn_dtype dtype,
				   const char *how)
{
	double other = !strcmp(how, "MIN") ? INFINITY :
		!strcmp(how, "MAX") ? -INFINITY : 0;
	int64_t i;

	for (i = 0; i < f->leaves * f->targets; i++)
		if (!f->is_set[i])
			f->weight[i] = other;
	return tn_ml_matrix(f->n, "weights", dtype, f->leaves, f->targets,
			f->weight);
}

/* What the trees say together, [N, K], before base values. */
static struct tn_value *scores_of(struct tn_forest *f, struct tn_value *x,
				  const char *how)
{
	struct tn_value *leaf = leaves_of(f, x);
	struct tn_value *w = leaf ? weights_of(f, x->type->dtype, how) : NULL;
	const char *text = "sum(gather(%v, %v), axes=[1]) / %i";

	if (!w)
		return NULL;
	if (!strcmp(how, "MIN") || !strcmp(how, "MAX"))
		text = !strcmp(how, "MIN") ?
			"r = reduce_min(gather(%v, %v), axes=[1]); "
			"return select(r == inf, 0, r)" :
			"r = reduce_max(gather(%v, %v), axes=[1]); "
			"return select(r == -inf, 0, r)";
	else if (strcmp(how, "AVERAGE") != 0)
		text = "sum(gather(%v, %v), axes=[1])";
	return tn_onnx_text(f->n, text, w, leaf, f->roots);
}

/* With base values: one for all, or one for each target. */
static struct tn_value *based(struct tn_onnx *n, struct tn_value *s,
			      int64_t targets)
{
	struct tn_ml_reals base;
	struct tn_value *b;

	if (!s || !tn_ml_read_reals(n, "base_values", &base) || !base.count)
		return n->failed ? NULL : s;
	if (base.count != targets && base.count != 1) {
		tn_onnx_refuse(n, "%lld base values for %lld targets",
			       (long long)base.count, (long long)targets);
		return NULL;
	}
	b = tn_ml_matrix(n, "base", s->type->dtype, 1, base.count, base.at);
	return b ? tn_onnx_text(n, "%v + %v", s, b) : NULL;
}

/* ---- Regressors ---------------------------------------------------------- */

static void regress(struct tn_forest *f, struct tn_value *x, const char *how,
		    const char *post, enum tn_dtype to)
{
	struct tn_onnx *n = f->n;
	struct tn_value *y;

	y = tn_forest_check(f, x) ? scores_of(f, x, how) : NULL;
	y = y ? based(n, y, f->targets) : NULL;
	y = y ? tn_ml_transform(n, y, post, f->targets) : NULL;
	if (y)
		tn_onnx_is(n, "cast(%v, %t)", y, to);
}

void tn_onnx_do_tree_regressor(struct tn_onnx *n)
{
	struct tn_forest f = { .n = n,
			       .targets = tn_onnx_int(n, "n_targets", 1) };
	struct tn_value *x = tn_ml_rows(n);

	if (x && tn_forest_older(&f, "target"))
		regress(&f, x, tn_onnx_string(n, "aggregate_function", "SUM"),
			tn_onnx_string(n, "post_transform", "NONE"), TN_f32);
}

void tn_onnx_do_tree_ensemble(struct tn_onnx *n)
{
	static const char *const hows[] = { "AVERAGE", "SUM", "MIN", "MAX" };
	static const char *const posts[] = { "NONE", "SOFTMAX", "LOGISTIC",
					     "SOFTMAX_ZERO", "PROBIT" };
	int64_t how = tn_onnx_int(n, "aggregate_function", 1);
	int64_t post = tn_onnx_int(n, "post_transform", 0);
	struct tn_forest f = { .n = n,
			       .targets = tn_onnx_int(n, "n_targets", 1) };
	struct tn_value *x = tn_ml_rows(n);

	if (!x)
		return;
	if (how < 0 || how > 3 || post < 0 || post > 4) {
		tn_onnx_report(n, TN_E1012, "aggregate_function %lld, "
			       "post_transform %lld", (long long)how,
			       (long long)post);
		return;
	}
	if (tn_forest_newer(&f))
		regress(&f, x, hows[how], posts[post], x->type->dtype);
}

/* ---- Classifiers --------------------------------------------------------- */

/* Two classes, of which only the first has weights: s is in favour of the
 * second. Weights that are all positive are its probability. */
static void one_of_two(struct tn_forest *f, struct tn_value *s,
		       const char *post, struct tn_value *labels)
{
	struct tn_onnx *n = f->n;
	const char *text = f->is_negative ? "concat(-%v, %v, axis=1)" :
		"concat(1 - %v, %v, axis=1)";
	struct tn_value *y;

	if (!strcmp(post, "PROBIT")) {
		tn_onnx_refuse(n, "post_transform PROBIT of two classes of "
			       "which one has weights");
		return;
	}
	if (!strcmp(post, "LOGISTIC"))
		text = "sigmoid(concat(-%v, %v, axis=1))";
	tn_onnx_give(n, 0, tn_onnx_text(n, "gather(%v, cast(%v[:, 0] > %f, "
					"i64))", labels, s,
					f->is_negative ? 0.0 : 0.5));
	y = tn_onnx_text(n, text, s, s);
	tn_onnx_give(n, 1, y ? tn_onnx_text(n, "cast(%v, f32)", y) : NULL);
}

/* How many classes have weights, of which the first. */
static int64_t voted(const struct tn_forest *f, int64_t *first)
{
	int64_t count = 0, i, k;

	for (k = 0; k < f->targets; k++) {
		for (i = 0; i < f->leaves; i++)
			if (f->is_set[i * f->targets + k])
				break;
		if (i < f->leaves && !count++)
			*first = k;
	}
	return count;
}

static void classify(struct tn_forest *f, struct tn_value *x,
		     struct tn_value *labels)
{
	struct tn_onnx *n = f->n;
	const char *post = tn_onnx_string(n, "post_transform", "NONE");
	int64_t targets = f->targets, first = 0, i;
	bool one;
	struct tn_value *s;

	one = targets == 2 && voted(f, &first) == 1;
	if (one)
		for (i = 0; i < f->leaves; i++) {
			f->weight[i] = f->weight[2 * i + first];
			f->is_set[i] = f->is_set[2 * i + first];
		}
	if (one)
		f->targets = 1;
	s = tn_forest_check(f, x) ? scores_of(f, x, "SUM") : NULL;
	s = s ? based(n, s, f->targets) : NULL;
	if (!s)
		return;
	if (one) {
		one_of_two(f, s, post, labels);
		return;
	}
	tn_onnx_give(n, 0, tn_onnx_text(n, "gather(%v, argmax(%v, axis=1))",
					labels, s));
	s = tn_ml_transform(n, s, post, targets);
	tn_onnx_give(n, 1, s ? tn_onnx_text(n, "cast(%v, f32)", s) : NULL);
}

void tn_onnx_do_tree_classifier(struct tn_onnx *n)
{
	struct tn_forest f = { .n = n };
	struct tn_value *x = tn_ml_rows(n), *labels;

	labels = x ? tn_ml_labels(n, "classlabels_int64s",
				  "classlabels_strings", &f.targets) : NULL;
	if (labels && f.targets < 2)
		tn_onnx_refuse(n, "a single class");
	else if (labels && tn_forest_older(&f, "class"))
		classify(&f, x, labels);
}
