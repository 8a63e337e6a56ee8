/*
 * Values of several tensors: sequences, optional values, and these in one
 * another. Their tensors in a row, and such a value of other tensors.
 *
 *   y: sequence of a, optional of b     y_0: a, y_1_0: b
 */
#include <string.h>

#include "importers/onnx/onnx.h"

/* Values nest at most so deep. */
#define DEPTH 8

struct row {
	struct tn_onnx_job *job;
	struct tn_onnx_leaf *out;
	int count, max;
};

static bool add(struct row *row, struct tn_onnx_value *value,
		const char *name, int depth)
{
	const char *part;
	int i;

	if (value->kind == ONNX_TENSOR) {
		if (row->count == row->max)
			return false;
		row->out[row->count].name = name;
		row->out[row->count++].value = value;
		return true;
	}
	if (depth == DEPTH || (value->kind != ONNX_SEQUENCE &&
			       value->kind != ONNX_OPTIONAL))
		return false;
	for (i = 0; i < value->len; i++) {
		part = tn_arena_printf(&row->job->arena, "%s_%d", name, i);
		if (!part || !add(row, value->items[i], part, depth + 1))
			return false;
	}
	return true;
}

int tn_onnx_leaves(struct tn_onnx_job *job, struct tn_onnx_value *value,
		   const char *name, int max, struct tn_onnx_leaf *out)
{
	struct row row = { job, out, 0, max };

	return add(&row, value, name, 0) ? row.count : -1;
}

/* As deep as tn_onnx_leaves went. */
struct tn_onnx_value *tn_onnx_rebuild(struct tn_onnx_job *job,
				      const struct tn_onnx_value *like,
				      struct tn_value *const **next)
{
	struct tn_onnx_value *value = tn_onnx_new(job, like->kind, NULL);
	int i;

	if (!value)
		return NULL;
	if (like->kind == ONNX_TENSOR) {
		value->v = *(*next)++;
		return value;
	}
	value->elem = like->elem;
	value->len = like->len;
	value->items = tn_arena_array(&job->arena, (size_t)like->len + 1,
				      sizeof(*value->items));
	for (i = 0; value->items && i < like->len; i++) {
		value->items[i] = tn_onnx_rebuild(job, like->items[i], next);
		if (!value->items[i])
			return NULL;
	}
	return value->items ? value : NULL;
}

bool tn_onnx_alike(const struct tn_onnx_value *a,
		   const struct tn_onnx_value *b)
{
	int i;

	if (a->kind != b->kind || a->len != b->len)
		return false;
	for (i = 0; i < a->len; i++)
		if (!tn_onnx_alike(a->items[i], b->items[i]))
			return false;
	return true;
}
