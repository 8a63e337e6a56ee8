/*
 * What the handlers of ai.onnx.ml share: attributes of any length, as lists of
 * numbers and as values of the graph, and what is done with scores.
 */
#include <string.h>

#include "importers/onnx/ml.h"

/* ---- Attributes ---------------------------------------------------------- */

static bool no_memory(struct tn_onnx *n)
{
	n->job->module->failed = true;
	n->failed = true;
	return false;
}

void *tn_ml_room(struct tn_onnx *n, int64_t count, size_t size)
{
	void *made = tn_arena_array(&n->job->arena, (size_t)count + 1, size);

	if (!made)
		no_memory(n);
	return made;
}

/* The elements of the attribute's tensor: one list is filled. */
static bool of_tensor(struct tn_onnx *n, const struct onnx_attr *attr,
		      struct tn_ml_ints *ints, struct tn_ml_reals *reals)
{
	struct tn_tensor tensor;
	int64_t count, i, *whole;
	double *real;

	if (!tn_onnx_tensor(n->job, attr->t, n->span, &tensor)) {
		n->failed = true;
		return false;
	}
	count = tn_tensor_count(&tensor);
	if (ints) {
		whole = tn_ml_room(n, count, sizeof(*whole));
		for (i = 0; whole && i < count; i++)
			whole[i] = tn_tensor_get_i64(&tensor, i);
		*ints = (struct tn_ml_ints){ count, whole };
	} else {
		real = tn_ml_room(n, count, sizeof(*real));
		for (i = 0; real && i < count; i++)
			real[i] = tn_tensor_get_f64(&tensor, i);
		*reals = (struct tn_ml_reals){ count, real };
	}
	tn_tensor_fini(&tensor);
	return !n->failed;
}

bool tn_ml_read_ints(struct tn_onnx *n, const char *name,
		     struct tn_ml_ints *out)
{
	const struct onnx_attr *attr = name ? tn_onnx_attr(n, name) : NULL;

	out->count = attr ? (int64_t)attr->ints.len : 0;
	out->at = attr ? attr->ints.at : NULL;
	return attr && attr->t ? of_tensor(n, attr, out, NULL) : !n->failed;
}

bool tn_ml_read_reals(struct tn_onnx *n, const char *name,
		      struct tn_ml_reals *out)
{
	const struct onnx_attr *attr = name ? tn_onnx_attr(n, name) : NULL;
	const char *other;
	double *at;
	size_t i;

	out->count = 0;
	out->at = NULL;
	if (!attr && name) {
		other = tn_arena_printf(&n->job->arena, "%s_as_tensor", name);
		attr = other ? tn_onnx_attr(n, other) : NULL;
	}
	if (!attr)
		return !n->failed;
	if (attr->t)
		return of_tensor(n, attr, NULL, out);
	out->count = (int64_t)attr->floats.len;
	at = tn_ml_room(n, out->count, sizeof(*at));
	for (i = 0; at && i < attr->floats.len; i++)
		at[i] = (double)attr->floats.at[i];
	out->at = at;
	return at != NULL;
}

/* ---- Tables -------------------------------------------------------------- */

static struct tn_value *table(struct tn_onnx *n, const char *name,
			      struct tn_tensor *tensor)
{
	const char *result = n->node->outputs.len ? n->node->outputs.at[0] :
		"";
	struct tn_value *value;

	name = tn_arena_printf(&n->job->arena, "%s_%s", result, name);
	value = tn_onnx_literal(n->job, tensor, name, n->span);
	n->failed |= !value;
	return value;
}

static bool init(struct tn_onnx *n, struct tn_tensor *tensor,
		 enum tn_dtype dtype, int rank, const int64_t *shape)
{
	return tn_tensor_init(tensor, dtype, rank, shape) || no_memory(n);
}

struct tn_value *tn_ml_ints(struct tn_onnx *n, const char *name,
			    enum tn_dtype dtype, int64_t count,
			    const int64_t *at)
{
	struct tn_tensor tensor;
	int64_t i;

	if (n->failed || !init(n, &tensor, dtype, 1, &count))
		return NULL;
	for (i = 0; i < count; i++)
		tn_tensor_set_i64(&tensor, i, at[i]);
	return table(n, name, &tensor);
}

static struct tn_value *reals(struct tn_onnx *n, const char *name,
			      struct tn_tensor *tensor, const double *at)
{
	int64_t count = tn_tensor_count(tensor), i;

	for (i = 0; i < count; i++)
		tn_tensor_set_f64(tensor, i, at[i]);
	return table(n, name, tensor);
}

struct tn_value *tn_ml_vector(struct tn_onnx *n, const char *name,
			      enum tn_dtype dtype, int64_t count,
			      const double *at)
{
	struct tn_tensor tensor;

	if (n->failed || !init(n, &tensor, dtype, 1, &count))
		return NULL;
	return reals(n, name, &tensor, at);
}

struct tn_value *tn_ml_matrix(struct tn_onnx *n, const char *name,
			      enum tn_dtype dtype, int64_t rows,
			      int64_t columns, const double *at)
{
	struct tn_tensor tensor;
	int64_t shape[2];

	shape[0] = rows;
	shape[1] = columns;
	if (n->failed || !init(n, &tensor, dtype, 2, shape))
		return NULL;
	return reals(n, name, &tensor, at);
}

/* ---- Rows and scores ----------------------------------------------------- */

struct tn_value *tn_ml_rows(struct tn_onnx *n)
{
	struct tn_value *x = tn_onnx_in(n, 0);

	if (x && !tn_dtype_is(x->type->dtype, TN_KIND_F))
		x = tn_onnx_text(n, "cast(%v, f32)", x);
	if (x && x->type->rank == 1)
		x = tn_onnx_text(n, "expand_dims(%v, axes=[0])", x);
	if (!x || x->type->rank == 2)
		return x;
	tn_onnx_report(n, TN_E1012, "an operand of %d axes, not of 2",
		       x->type->rank);
	return NULL;
}

struct tn_value *tn_ml_labels(struct tn_onnx *n, const char *ints,
			      const char *strings, int64_t *count)
{
	const struct onnx_attr *names = tn_onnx_attr(n, strings);
	struct tn_ml_ints labels;

	if (names && names->strings.len) {
		tn_onnx_refuse(n, "labels that are strings");
		return NULL;
	}
	if (!tn_ml_read_ints(n, ints, &labels))
		return NULL;
	*count = labels.count;
	if (labels.count)
		return tn_ml_ints(n, "labels", TN_i64, labels.count,
				  labels.at);
	tn_onnx_report(n, TN_E1012, "there are no labels");
	return NULL;
}

/* The inverse of the normal distribution as onnxruntime computes it: from
 * S. Winitzki's approximation of erf. */
static const char probit[] =
	"x = 2 * %v - 1; l = log((1 - x) * (1 + x)); "
	"v = 2 / (3.14159 * 0.147) + 0.5 * l; "
	"r = sqrt(sqrt(v * v - l / 0.147) - v); "
	"return 1.41421356 * select(x < 0, -r, r)";

/* A softmax over those that are not 0; those stay. */
static const char softmax_zero[] =
	"s = %v; z = abs(s) <= 1e-7; m = reduce_max(s, axes=[1], keep=true); "
	"e = select(z, 0, exp(s - m)); n = sum(e, axes=[1], keep=true); "
	"return select(z, s * exp(-m), e) / n";

struct tn_value *tn_ml_transform(struct tn_onnx *n, struct tn_value *scores,
				 const char *post, int64_t targets)
{
	if (!strcmp(post, "NONE"))
		return scores;
	if (!strcmp(post, "PROBIT"))
		return tn_onnx_text(n, probit, scores);
	if (targets == 1) {
		tn_onnx_refuse(n, "post_transform %s of one target, about "
			       "which runtimes differ", post);
		return NULL;
	}
	if (!strcmp(post, "LOGISTIC"))
		return tn_onnx_text(n, "sigmoid(%v)", scores);
	if (!strcmp(post, "SOFTMAX"))
		return tn_onnx_text(n, "softmax(%v, axis=1)", scores);
	if (!strcmp(post, "SOFTMAX_ZERO"))
		return tn_onnx_text(n, softmax_zero, scores);
	tn_onnx_report(n, TN_E1012, "post_transform '%s'", post);
	return NULL;
}
