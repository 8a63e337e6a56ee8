/*
 * Handlers of ai.onnx.ml but for trees: linear models, support vectors, and
 * what prepares their features.
 */
#include <math.h>
#include <string.h>

#include "importers/onnx/ml.h"
#include "importers/onnx/table.h"

/* ---- Features ------------------------------------------------------------ */

void tn_onnx_do_array_feature(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *at = tn_onnx_in(n, 1);

	if (x && x->type->rank == 1)
		x = tn_onnx_text(n, "expand_dims(%v, axes=[0])", x);
	at = at ? tn_onnx_text(n, "reshape(%v, [%d])", at,
			       tn_type_count(n->job->module, at->type)) : NULL;
	if (x && at)
		tn_onnx_is(n, "gather(%v, %v, axis=-1)", x, at);
}

void tn_onnx_do_binarizer(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);

	if (x)
		tn_onnx_is(n, "x = %v; return cast(cast(x, f64) > %f, %t)", x,
			   tn_onnx_float(n, "threshold", 0), x->type->dtype);
}

void tn_onnx_do_feature_vectorizer(struct tn_onnx *n)
{
	struct tn_value *values[64];
	int i;

	if (n->nin < 1 || n->nin > 64) {
		tn_onnx_refuse(n, "%d inputs", n->nin);
		return;
	}
	for (i = 0; i < n->nin; i++) {
		values[i] = tn_onnx_in(n, i);
		if (values[i])
			values[i] = tn_onnx_text(n, values[i]->type->rank == 1 ?
				"expand_dims(cast(%v, f32), axes=[0])" :
				"cast(%v, f32)", values[i]);
		if (!values[i])
			return;
	}
	tn_onnx_give(n, 0, tn_onnx_concat(n, n->nin, values, 1));
}

/* A list of one for all features, or of one for each. */
static struct tn_value *per_feature(struct tn_onnx *n, const char *name,
				    double other, enum tn_dtype dtype)
{
	struct tn_ml_reals list;

	if (!tn_ml_read_reals(n, name, &list))
		return NULL;
	if (!list.count)
		list = (struct tn_ml_reals){ 1, &other };
	return tn_ml_vector(n, name, dtype, list.count, list.at);
}

void tn_onnx_do_scaler(struct tn_onnx *n)
{
	struct tn_value *x = tn_ml_rows(n), *offset, *scale;

	offset = x ? per_feature(n, "offset", 0, x->type->dtype) : NULL;
	scale = x ? per_feature(n, "scale", 1, x->type->dtype) : NULL;
	if (offset && scale)
		tn_onnx_is(n, "cast((%v - %v) * %v, f32)", x, offset, scale);
}

void tn_onnx_do_normalizer(struct tn_onnx *n)
{
	const char *norm = tn_onnx_string(n, "norm", "MAX");
	struct tn_value *x = tn_onnx_in(n, 0);
	const char *text =
		"x = cast(%v, f32); s = reduce_max(x, axes=[-1], keep=true); "
		"return x / select(s == 0, 1, s)";

	if (!strcmp(norm, "L1"))
		text = "x = cast(%v, f32); s = sum(abs(x), axes=[-1], "
			"keep=true); return x / select(s == 0, 1, s)";
	else if (!strcmp(norm, "L2"))
		text = "x = cast(%v, f32); s = sqrt(sum(x * x, axes=[-1], "
			"keep=true)); return x / select(s == 0, 1, s)";
	if (x)
		tn_onnx_is(n, text, x);
}

static void impute_ints(struct tn_onnx *n, struct tn_value *x)
{
	struct tn_ml_ints by;
	struct tn_value *to;

	if (!tn_ml_read_ints(n, "imputed_value_int64s", &by))
		return;
	to = by.count ? tn_ml_ints(n, "imputed", x->type->dtype, by.count,
				   by.at) : NULL;
	if (to)
		tn_onnx_is(n, "select(%v == %i, %v, %v)", x,
			   tn_onnx_int(n, "replaced_value_int64", 0), to, x);
	else
		tn_onnx_report(n, TN_E1012, "nothing to put in");
}

void tn_onnx_do_imputer(struct tn_onnx *n)
{
	double from = tn_onnx_float(n, "replaced_value_float", 0);
	struct tn_value *x = tn_onnx_in(n, 0), *to;
	struct tn_ml_reals by;

	if (!x)
		return;
	if (!tn_dtype_is(x->type->dtype, TN_KIND_F)) {
		impute_ints(n, x);
		return;
	}
	if (!tn_ml_read_reals(n, "imputed_value_floats", &by))
		return;
	to = by.count ? tn_ml_vector(n, "imputed", x->type->dtype, by.count,
				     by.at) : NULL;
	if (!to)
		tn_onnx_report(n, TN_E1012, "nothing to put in");
	else if (isnan(from))
		tn_onnx_is(n, "x = %v; return select(x != x, %v, x)", x, to);
	else
		tn_onnx_is(n, "x = %v; return select(x == %f, %v, x)", x,
			   from, to);
}

/* ---- Labels -------------------------------------------------------------- */

/* Keys or values of a LabelEncoder: of whole numbers or of reals. */
struct entries {
	struct tn_ml_ints ints;
	struct tn_ml_reals reals;
	int64_t count;
	enum tn_dtype dtype;
};

static bool is_text(struct tn_onnx *n, const char *prefix)
{
	const struct onnx_attr *attr = tn_onnx_attr(n, tn_arena_printf(
		&n->job->arena, "%s_strings", prefix));
	const struct onnx_attr *tensor = tn_onnx_attr(n, tn_arena_printf(
		&n->job->arena, "%s_tensor", prefix));

	return (attr && attr->strings.len) ||
		(tensor && tensor->t && tensor->t->strings.len);
}

static bool read_entries(struct tn_onnx *n, const char *prefix,
			 struct entries *e)
{
	struct tn_arena *arena = &n->job->arena;
	const char *tensor = tn_arena_printf(arena, "%s_tensor", prefix);
	const struct onnx_attr *attr;

	if (is_text(n, prefix)) {
		tn_onnx_refuse(n, "%s that are strings", prefix);
		return false;
	}
	memset(e, 0, sizeof(*e));
	attr = tensor ? tn_onnx_attr(n, tensor) : NULL;
	e->dtype = attr && attr->t ? tn_onnx_dtype(attr->t->type.v) : TN_i64;
	if (attr && attr->t && tn_dtype_is(e->dtype, TN_KIND_F)) {
		if (!tn_ml_read_reals(n, tensor, &e->reals))
			return false;
	} else if (attr && attr->t) {
		if (!tn_ml_read_ints(n, tensor, &e->ints))
			return false;
	} else if (!tn_ml_read_ints(n, tn_arena_printf(arena, "%s_int64s",
						       prefix), &e->ints) ||
		   !tn_ml_read_reals(n, tn_arena_printf(arena, "%s_floats",
							prefix), &e->reals)) {
		return false;
	} else if (e->reals.count) {
		e->dtype = TN_f32;
	}
	e->count = e->reals.count ? e->reals.count : e->ints.count;
	if (!e->count)
		tn_onnx_report(n, TN_E1012, "there are no %s", prefix);
	return e->count > 0;
}

static struct tn_value *put_entries(struct tn_onnx *n, const char *prefix,
				    const struct entries *e)
{
	return e->reals.count ?
		tn_ml_vector(n, prefix, e->dtype, e->count, e->reals.at) :
		tn_ml_ints(n, prefix, e->dtype, e->count, e->ints.at);
}

/* What stands for an element that is no key. */
static struct tn_value *label_default(struct tn_onnx *n, enum tn_dtype dtype)
{
	const struct onnx_attr *attr = tn_onnx_attr(n, "default_tensor");
	struct tn_ml_reals real;
	struct tn_ml_ints whole;

	if (!attr || !attr->t)
		return tn_dtype_is(dtype, TN_KIND_F) ?
			tn_onnx_text(n, "cast(%f, %t)",
				     tn_onnx_float(n, "default_float", -0.0),
				     dtype) :
			tn_onnx_text(n, "cast(%i, %t)",
				     tn_onnx_int(n, "default_int64", -1),
				     dtype);
	if (tn_dtype_is(dtype, TN_KIND_F))
		return tn_ml_read_reals(n, "default_tensor", &real) ?
			tn_ml_vector(n, "default", dtype, real.count,
				     real.at) : NULL;
	return tn_ml_read_ints(n, "default_tensor", &whole) ?
		tn_ml_ints(n, "default", dtype, whole.count, whole.at) : NULL;
}

void tn_onnx_do_label_encoder(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *k, *v, *other;
	struct entries keys, values;

	if (!x || !read_entries(n, "keys", &keys) ||
	    !read_entries(n, "values", &values))
		return;
	if (keys.count != values.count) {
		tn_onnx_report(n, TN_E1012, "%lld keys for %lld values",
			       (long long)keys.count,
			       (long long)values.count);
		return;
	}
	k = put_entries(n, "keys", &keys);
	v = put_entries(n, "values", &values);
	other = label_default(n, values.dtype);
	if (!k || !v || !other)
		return;
	/* NaN is a key from version 4 on. */
	tn_onnx_is(n, n->version < 4 ?
		   "k = %v; x = expand_dims(%v, axes=[-1]); h = x == k; "
		   "v = gather(%v, argmax(cast(h, u8), axis=-1)); "
		   "return select(any(h, axes=[-1]), v, %v)" :
		   "k = %v; x = expand_dims(%v, axes=[-1]); "
		   "h = x == k || x != x && k != k; "
		   "v = gather(%v, argmax(cast(h, u8), axis=-1)); "
		   "return select(any(h, axes=[-1]), v, %v)", k, x, v, other);
}

void tn_onnx_do_one_hot_encoder(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0), *labels, *y;
	int64_t count;

	if (!x)
		return;
	labels = tn_ml_labels(n, "cats_int64s", "cats_strings", &count);
	y = labels ? tn_onnx_text(n, "expand_dims(cast(%v, i64), axes=[-1]) "
				  "== %v", x, labels) : NULL;
	if (!y)
		return;
	if (!tn_onnx_int(n, "zeros", 1))
		tn_onnx_text(n, "assert(all(any(%v, axes=[-1])), "
			     "message=\"an element is of no category\"); "
			     "return true", y);
	tn_onnx_is(n, "cast(%v, f32)", y);
}

/* ---- Linear models ------------------------------------------------------- */

/* x w + b in [N, targets]; weights are stored a row a target. */
static struct tn_value *linear(struct tn_onnx *n, struct tn_value *x,
			       int64_t targets)
{
	struct tn_ml_reals w, b;
	struct tn_value *m, *v, *y;

	if (!tn_ml_read_reals(n, "coefficients", &w) ||
	    !tn_ml_read_reals(n, "intercepts", &b))
		return NULL;
	if (targets < 1 || !w.count || w.count % targets ||
	    (b.count && b.count != targets)) {
		tn_onnx_report(n, TN_E1012, "%lld coefficients, %lld "
			       "intercepts for %lld targets",
			       (long long)w.count, (long long)b.count,
			       (long long)targets);
		return NULL;
	}
	m = tn_ml_matrix(n, "coefficients", TN_f32, targets,
			 w.count / targets, w.at);
	y = m ? tn_onnx_text(n, "cast(%v, f32) @ transpose(%v)", x, m) : NULL;
	if (!y || !b.count)
		return y;
	v = tn_ml_vector(n, "intercepts", TN_f32, b.count, b.at);
	return v ? tn_onnx_text(n, "%v + %v", y, v) : NULL;
}

void tn_onnx_do_linear_regressor(struct tn_onnx *n)
{
	int64_t targets = tn_onnx_int(n, "targets", 1);
	struct tn_value *x = tn_ml_rows(n);
	struct tn_value *y = x ? linear(n, x, targets) : NULL;

	if (y)
		tn_onnx_give(n, 0, tn_ml_transform(n, y, tn_onnx_string(n,
			"post_transform", "NONE"), targets));
}

/* Scores of two classes of which one is told: s is in favour of the second. */
static struct tn_value *two_scores(struct tn_onnx *n, struct tn_value *s,
				   const char *post)
{
	if (!strcmp(post, "NONE"))
		return tn_onnx_text(n, "concat(1 - %v, %v, axis=1)", s, s);
	if (!strcmp(post, "LOGISTIC"))
		return tn_onnx_text(n, "sigmoid(concat(-%v, %v, axis=1))", s,
				    s);
	tn_onnx_refuse(n, "post_transform %s of a single score", post);
	return NULL;
}

void tn_onnx_do_linear_classifier(struct tn_onnx *n)
{
	const char *post = tn_onnx_string(n, "post_transform", "NONE");
	struct tn_value *x = tn_ml_rows(n), *labels, *s;
	struct tn_ml_reals b, w;
	int64_t classes, targets;

	labels = x ? tn_ml_labels(n, "classlabels_ints",
				  "classlabels_strings", &classes) : NULL;
	if (!labels || !tn_ml_read_reals(n, "intercepts", &b) ||
	    !tn_ml_read_reals(n, "coefficients", &w))
		return;
	targets = b.count ? b.count : classes;
	if (classes < 2 || (targets != classes &&
			    (targets != 1 || classes != 2))) {
		tn_onnx_refuse(n, "%lld scores for %lld classes",
			       (long long)targets, (long long)classes);
		return;
	}
	s = linear(n, x, targets);
	if (!s)
		return;
	tn_onnx_give(n, 0, targets == 1 ?
		     tn_onnx_text(n, "gather(%v, cast(%v[:, 0] > 0, i64))",
				  labels, s) :
		     tn_onnx_text(n, "gather(%v, argmax(%v, axis=1))", labels,
				  s));
	tn_onnx_give(n, 1, targets == 1 ?
		     two_scores(n, s, post) :
		     tn_ml_transform(n, s, post, targets));
}

/* ---- Support vectors ----------------------------------------------------- */

/* Of each row with each vector, [N, S]. */
static struct tn_value *kernel(struct tn_onnx *n, struct tn_value *x,
			       struct tn_value *vectors)
{
	const char *kind = tn_onnx_string(n, "kernel_type", "LINEAR");
	struct tn_ml_reals p;
	struct tn_value *dot;

	if (!tn_ml_read_reals(n, "kernel_params", &p))
		return NULL;
	if (p.count < 3 && strcmp(kind, "LINEAR") != 0) {
		tn_onnx_report(n, TN_E1012, "kernel_params has %lld numbers, "
			       "not 3", (long long)p.count);
		return NULL;
	}
	if (!strcmp(kind, "RBF"))
		return tn_onnx_text(n, "d = expand_dims(%v, axes=[1]) - "
			"expand_dims(%v, axes=[0]); "
			"return exp(sum(d * d, axes=[2]) * -%f)", x, vectors,
			p.at[0]);
	dot = tn_onnx_text(n, "%v @ transpose(%v)", x, vectors);
	if (!dot || !strcmp(kind, "LINEAR"))
		return dot;
	if (!strcmp(kind, "POLY"))
		return tn_onnx_text(n, "(%v * %f + %f) ** %f", dot, p.at[0],
				    p.at[1], p.at[2]);
	if (!strcmp(kind, "SIGMOID"))
		return tn_onnx_text(n, "tanh(%v * %f + %f)", dot, p.at[0],
				    p.at[1]);
	tn_onnx_report(n, TN_E1012, "kernel_type '%s'", kind);
	return NULL;
}

/* The vectors, a row each; `count` of them. */
static struct tn_value *vectors_of(struct tn_onnx *n, int64_t count)
{
	struct tn_ml_reals v;

	if (!tn_ml_read_reals(n, "support_vectors", &v))
		return NULL;
	if (count > 0 && v.count && v.count % count == 0)
		return tn_ml_matrix(n, "vectors", TN_f32, count,
				    v.count / count, v.at);
	tn_onnx_report(n, TN_E1012, "%lld numbers for %lld vectors",
		       (long long)v.count, (long long)count);
	return NULL;
}

void tn_onnx_do_svm_regressor(struct tn_onnx *n)
{
	int64_t count = tn_onnx_int(n, "n_supports", 0);
	const char *post = tn_onnx_string(n, "post_transform", "NONE");
	struct tn_value *x = tn_ml_rows(n), *k, *w, *y;
	struct tn_ml_reals c, rho;

	if (!x || !tn_ml_read_reals(n, "coefficients", &c) ||
	    !tn_ml_read_reals(n, "rho", &rho))
		return;
	if (!rho.count || !c.count || (count && c.count != count)) {
		tn_onnx_report(n, TN_E1012, "%lld coefficients for %lld "
			       "vectors", (long long)c.count,
			       (long long)count);
		return;
	}
	x = tn_onnx_text(n, "cast(%v, f32)", x);
	k = x && count ? vectors_of(n, count) : NULL;
	k = k ? kernel(n, x, k) : count ? NULL : x;
	w = tn_ml_matrix(n, "coefficients", TN_f32, c.count, 1, c.at);
	y = k && w ? tn_onnx_text(n, "%v @ %v + %f", k, w, rho.at[0]) : NULL;
	if (y && tn_onnx_int(n, "one_class", 0))
		y = tn_onnx_text(n, "select(%v > 0, 1.0, -1.0)", y);
	if (y)
		tn_onnx_give(n, 0, tn_ml_transform(n, y, post, 1));
}

/* The coefficients of the decisions between two classes each, [vectors,
 * pairs]: those of class i against j are in row j - 1, of j against i in row i
 * of the attribute. */
static struct tn_value *decisions(struct tn_onnx *n,
				  const struct tn_ml_ints *per,
				  const struct tn_ml_reals *c,
				  int64_t vectors)
{
	int64_t classes = per->count, pairs = classes * (classes - 1) / 2;
	int64_t i, j, k, from_i, from_j, pair = 0;
	double *w = tn_ml_room(n, vectors * pairs, sizeof(*w));

	if (!w)
		return NULL;
	for (i = 0, from_i = 0; i < classes; from_i += per->at[i++])
		for (j = i + 1, from_j = from_i + per->at[i]; j < classes;
		     from_j += per->at[j++], pair++) {
			for (k = 0; k < per->at[i]; k++)
				w[(from_i + k) * pairs + pair] =
					c->at[(j - 1) * vectors + from_i + k];
			for (k = 0; k < per->at[j]; k++)
				w[(from_j + k) * pairs + pair] =
					c->at[i * vectors + from_j + k];
		}
	return tn_ml_matrix(n, "decisions", TN_f32, vectors, pairs, w);
}

/* The attributes of an SVMClassifier that decides between support vectors. */
struct svc {
	struct tn_ml_ints per;
	struct tn_ml_reals c, rho, a, b;
	int64_t classes, vectors, pairs;
	struct tn_value *labels;
};

static bool read_svc(struct tn_onnx *n, struct svc *s)
{
	int64_t i;

	s->labels = tn_ml_labels(n, "classlabels_ints", "classlabels_strings",
				 &s->classes);
	if (!s->labels || !tn_ml_read_ints(n, "vectors_per_class", &s->per) ||
	    !tn_ml_read_reals(n, "coefficients", &s->c) ||
	    !tn_ml_read_reals(n, "rho", &s->rho) ||
	    !tn_ml_read_reals(n, "prob_a", &s->a) ||
	    !tn_ml_read_reals(n, "prob_b", &s->b))
		return false;
	if (!s->per.count) {
		tn_onnx_refuse(n, "a linear model without support vectors");
		return false;
	}
	s->vectors = 0;
	for (i = 0; i < s->per.count; i++) {
		if (s->per.at[i] < 0 || s->per.at[i] > INT32_MAX)
			s->vectors = INT32_MIN;
		else
			s->vectors += s->per.at[i];
	}
	s->pairs = s->classes * (s->classes - 1) / 2;
	if (s->classes >= 2 && s->classes <= 1024 &&
	    s->per.count == s->classes && s->vectors > 0 &&
	    s->c.count == s->vectors * (s->classes - 1) &&
	    s->rho.count == s->pairs && s->a.count == s->b.count &&
	    (!s->a.count || s->a.count == s->pairs))
		return true;
	tn_onnx_report(n, TN_E1012, "the attributes do not fit one another");
	return false;
}

/* How many of its pairs each class wins, [N, classes]. */
static struct tn_value *votes(struct tn_onnx *n, const struct svc *s,
			      struct tn_value *d)
{
	double *yes = tn_ml_room(n, s->pairs * s->classes, sizeof(*yes));
	double *no = tn_ml_room(n, s->pairs * s->classes, sizeof(*no));
	struct tn_value *y, *z;
	int64_t i, j, pair = 0;

	if (!yes || !no)
		return NULL;
	for (i = 0; i < s->classes; i++)
		for (j = i + 1; j < s->classes; j++, pair++) {
			yes[pair * s->classes + i] = 1;
			no[pair * s->classes + j] = 1;
		}
	y = tn_ml_matrix(n, "won", TN_f32, s->pairs, s->classes, yes);
	z = tn_ml_matrix(n, "lost", TN_f32, s->pairs, s->classes, no);
	return y && z ? tn_onnx_text(n, "w = cast(%v > 0, f32); "
				     "return w @ %v + (1 - w) @ %v", d, y, z) :
		NULL;
}

/* The probability of each class against each other, [N, C, C], and of those
 * the probability of each: Platt's sigmoid of the decisions. */
static struct tn_value *probabilities(struct tn_onnx *n, const struct svc *s,
				      struct tn_value *d)
{
	int64_t c = s->classes, i, j, pair = 0;
	struct tn_value *a, *b, *y, *z;
	double *up = tn_ml_room(n, s->pairs * c * c, sizeof(*up));
	double *low = tn_ml_room(n, s->pairs * c * c, sizeof(*low));

	if (!up || !low)
		return NULL;
	for (i = 0; i < c; i++)
		for (j = i + 1; j < c; j++, pair++) {
			up[pair * c * c + i * c + j] = 1;
			low[pair * c * c + j * c + i] = 1;
		}
	a = tn_ml_vector(n, "prob_a", TN_f32, s->a.count, s->a.at);
	b = tn_ml_vector(n, "prob_b", TN_f32, s->b.count, s->b.at);
	y = tn_ml_matrix(n, "above", TN_f32, s->pairs, c * c, up);
	z = tn_ml_matrix(n, "below", TN_f32, s->pairs, c * c, low);
	if (!a || !b || !y || !z)
		return NULL;
	return tn_onnx_text(n, "p = clamp(1 - sigmoid(%v * %v + %v), 1e-7, "
		"1 - 1e-7); return couple(reshape(p @ %v + (1 - p) @ %v, "
		"[_, %i, %i]))", d, a, b, y, z, c, c);
}

void tn_onnx_do_svm_classifier(struct tn_onnx *n)
{
	const char *post = tn_onnx_string(n, "post_transform", "NONE");
	struct tn_value *x = tn_ml_rows(n), *v, *w, *k, *rho, *d, *won;
	struct svc s;

	if (!x || !read_svc(n, &s))
		return;
	if (strcmp(post, "NONE") != 0 || (s.a.count && s.classes > 64)) {
		tn_onnx_refuse(n, "post_transform %s of %lld classes", post,
			       (long long)s.classes);
		return;
	}
	x = tn_onnx_text(n, "cast(%v, f32)", x);
	v = x ? vectors_of(n, s.vectors) : NULL;
	k = v ? kernel(n, x, v) : NULL;
	w = k ? decisions(n, &s.per, &s.c, s.vectors) : NULL;
	rho = w ? tn_ml_vector(n, "rho", TN_f32, s.rho.count, s.rho.at) : NULL;
	d = rho ? tn_onnx_text(n, "%v @ %v + %v", k, w, rho) : NULL;
	won = !d ? NULL : s.a.count ? probabilities(n, &s, d) :
		votes(n, &s, d);
	if (!won)
		return;
	tn_onnx_give(n, 0, tn_onnx_text(n, "gather(%v, argmax(%v, axis=1))",
					s.labels, won));
	tn_onnx_give(n, 1, s.a.count ? won : s.pairs > 1 ? d :
		     tn_onnx_text(n, "concat(-%v, %v, axis=1)", d, d));
}
