/*
 * Handlers of sequences and optional values: their length is known at import,
 * so that nothing of them is left in the graph.
 */
#include <string.h>

#include "importers/onnx/table.h"

struct tn_onnx_value *tn_onnx_sequence(struct tn_onnx *n, int len)
{
	struct tn_onnx_value *value = tn_onnx_new(n->job, ONNX_SEQUENCE, NULL);

	if (len > ONNX_ITEMS) {
		tn_onnx_refuse(n, "a sequence of %d", len);
		return NULL;
	}
	if (value)
		value->items = tn_arena_array(&n->job->arena, (size_t)len + 1,
					      sizeof(*value->items));
	if (!value || !value->items) {
		n->failed = true;
		return NULL;
	}
	value->len = len;
	return value;
}

static struct tn_onnx_value *wrap(struct tn_onnx *n, struct tn_value *v)
{
	struct tn_onnx_value *value = tn_onnx_new(n->job, ONNX_TENSOR, NULL);

	if (value)
		value->v = v;
	n->failed |= !value || !v;
	return value;
}

/* Input 0 as a sequence. */
static const struct tn_onnx_value *in_sequence(struct tn_onnx *n)
{
	if (n->nin && n->in[0]->kind == ONNX_SEQUENCE)
		return n->in[0];
	tn_onnx_report(n, TN_E1012, "input 0 is no sequence");
	return NULL;
}

/* The place that input i names, from 0: of `len`, or behind them. */
static int place(struct tn_onnx *n, int i, int len, int fallback)
{
	int64_t at;
	int count;

	if (!tn_onnx_has(n, i))
		return fallback;
	if (!tn_onnx_ints(n, i, 1, &at, &count) || count != 1) {
		tn_onnx_refuse(n, "a place that only run time knows");
		return -1;
	}
	if (at < 0)
		at += len;
	if (at >= 0 && at <= len)
		return (int)at;
	tn_onnx_report(n, TN_E1012, "place %lld of %d", (long long)at, len);
	return -1;
}

void tn_onnx_do_identity(struct tn_onnx *n)
{
	if (n->nin == 1 && n->nout == 1 && n->in[0]->kind != ONNX_TENSOR)
		n->out[0] = n->in[0];
	else
		tn_onnx_give(n, 0, tn_onnx_in(n, 0));
}

void tn_onnx_do_sequence_construct(struct tn_onnx *n)
{
	struct tn_onnx_value *out = tn_onnx_sequence(n, n->nin);
	int i;

	for (i = 0; out && i < n->nin; i++)
		out->items[i] = n->in[i];
	n->out[0] = out;
}

void tn_onnx_do_sequence_empty(struct tn_onnx *n)
{
	n->out[0] = tn_onnx_sequence(n, 0);
}

void tn_onnx_do_sequence_insert(struct tn_onnx *n)
{
	const struct tn_onnx_value *in = in_sequence(n);
	int at = in ? place(n, 2, in->len, in->len) : -1, i;
	struct tn_onnx_value *out;

	if (at < 0 || !tn_onnx_has(n, 1))
		return;
	out = tn_onnx_sequence(n, in->len + 1);
	for (i = 0; out && i < out->len; i++)
		out->items[i] = i < at ? in->items[i] : i == at ? n->in[1] :
			in->items[i - 1];
	n->out[0] = out;
}

void tn_onnx_do_sequence_erase(struct tn_onnx *n)
{
	const struct tn_onnx_value *in = in_sequence(n);
	int at = in ? place(n, 1, in->len, in->len - 1) : -1, i;
	struct tn_onnx_value *out;

	if (at < 0 || at >= in->len)
		return;
	out = tn_onnx_sequence(n, in->len - 1);
	for (i = 0; out && i < out->len; i++)
		out->items[i] = in->items[i < at ? i : i + 1];
	n->out[0] = out;
}

void tn_onnx_do_sequence_at(struct tn_onnx *n)
{
	const struct tn_onnx_value *in = in_sequence(n);
	int at = in ? place(n, 1, in->len, -1) : -1;

	if (at >= 0 && at < in->len)
		n->out[0] = in->items[at];
}

void tn_onnx_do_sequence_length(struct tn_onnx *n)
{
	const struct tn_onnx_value *in = in_sequence(n);

	if (in)
		tn_onnx_is(n, "cast(%i, i64)", (int64_t)in->len);
}

void tn_onnx_do_concat_from_sequence(struct tn_onnx *n)
{
	const struct tn_onnx_value *in = in_sequence(n);
	bool fresh = tn_onnx_int(n, "new_axis", 0) != 0;
	struct tn_value *values[ONNX_ITEMS];
	int i, axis = -1;

	if (!in || !in->len) {
		tn_onnx_refuse(n, "an empty sequence");
		return;
	}
	for (i = 0; i < in->len; i++) {
		values[i] = in->items[i]->kind == ONNX_TENSOR ?
			tn_onnx_make(n->job, in->items[i]) : NULL;
		if (!values[i]) {
			tn_onnx_refuse(n, "an element that is no tensor");
			return;
		}
		if (!i)
			axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 0),
					    values[0]->type->rank + fresh);
		if (axis < 0)
			return;
		if (fresh)
			values[i] = tn_onnx_text(n, "expand_dims(%v, "
				"axes=[%i])", values[i], (int64_t)axis);
		if (!values[i])
			return;
	}
	tn_onnx_give(n, 0, tn_onnx_concat(n, in->len, values, axis));
}

/* Sizes of the parts along the axis: -1 after a report. */
static int part_sizes(struct tn_onnx *n, int64_t size, int64_t *parts)
{
	int64_t each = 1, left = size;
	int count = 0;

	if (tn_onnx_has(n, 1)) {
		struct tn_value *v = tn_onnx_in(n, 1);

		if (!v || !tn_onnx_ints(n, 1, ONNX_ITEMS, parts, &count)) {
			tn_onnx_refuse(n, "parts that only run time knows");
			return -1;
		}
		if (v->type->rank)
			return count;
		each = parts[0];
	}
	if (each < 1 || size / each >= ONNX_ITEMS) {
		tn_onnx_refuse(n, "that many parts");
		return -1;
	}
	for (count = 0; left > 0; left -= each)
		parts[count++] = left < each ? left : each;
	return count;
}

void tn_onnx_do_split_to_sequence(struct tn_onnx *n)
{
	bool keep = tn_onnx_int(n, "keepdims", 1) || tn_onnx_has(n, 1);
	struct tn_value *x = tn_onnx_in(n, 0), *part;
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	struct tn_onnx_value *out;
	int64_t parts[ONNX_ITEMS], at = 0;
	int axis, count, i;

	if (!x)
		return;
	axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 0), x->type->rank);
	if (axis < 0 || !tn_dim_is_const(x->type->dims[axis])) {
		tn_onnx_refuse(n, "an axis of unknown size");
		return;
	}
	count = part_sizes(n, x->type->dims[axis]->value, parts);
	out = count < 0 ? NULL : tn_onnx_sequence(n, count);
	for (i = 0; i < x->type->rank; i++) {
		start[i] = tn_onnx_number(n, 0);
		stop[i] = x->type->dims[i];
	}
	for (i = 0; out && i < count; i++) {
		start[axis] = tn_onnx_number(n, at);
		at += parts[i];
		stop[axis] = tn_onnx_number(n, at);
		part = tn_onnx_text(n, "slice(%v, start=%D, stop=%D)", x,
				    x->type->rank, start, x->type->rank, stop);
		if (part && !keep)
			part = tn_onnx_text(n, "squeeze(%v, axes=[%i])", part,
					    (int64_t)axis);
		out->items[i] = wrap(n, part);
	}
	n->out[0] = out;
}

/* ---- Optional values ----------------------------------------------------------------- */

void tn_onnx_do_optional(struct tn_onnx *n)
{
	struct tn_onnx_value *out = tn_onnx_new(n->job, ONNX_OPTIONAL, NULL);

	if (!out)
		return;
	out->items = tn_arena_array(&n->job->arena, 1, sizeof(*out->items));
	if (!out->items)
		return;
	if (tn_onnx_has(n, 0)) {
		out->len = 1;
		out->items[0] = n->in[0];
	}
	n->out[0] = out;
}

static bool is_there(const struct tn_onnx *n)
{
	return tn_onnx_has(n, 0) &&
	       (n->in[0]->kind != ONNX_OPTIONAL || n->in[0]->len);
}

void tn_onnx_do_optional_has_element(struct tn_onnx *n)
{
	tn_onnx_is(n, is_there(n) ? "cast(true, bool)" :
		   "cast(false, bool)");
}

void tn_onnx_do_optional_get_element(struct tn_onnx *n)
{
	if (!is_there(n))
		tn_onnx_refuse(n, "an optional value without element");
	else
		n->out[0] = n->in[0]->kind == ONNX_OPTIONAL ?
			n->in[0]->items[0] : n->in[0];
}
