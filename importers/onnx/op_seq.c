/*
 * Handlers of sequences and optional values: their length is known at import,
 * so that nothing of them is left in the graph.
 */
#include <limits.h>
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

/* The place that input i names is not known at import. */
#define LATER (-2)

/* The place that input i names, from 0: of `len`, or behind them; LATER, or -1
 * after a report. */
static int place(struct tn_onnx *n, int i, int len, int fallback)
{
	int64_t at;
	int count;

	if (!tn_onnx_has(n, i))
		return fallback;
	if (!tn_onnx_ints(n, i, 1, &at, &count) || count != 1)
		return n->failed ? -1 : LATER;
	if (at < 0)
		at += len;
	if (at >= 0 && at <= len)
		return (int)at;
	tn_onnx_report(n, TN_E1012, "place %lld of %d", (long long)at, len);
	return -1;
}

/* ---- Places that only run time knows ---------------------------------------------- */

/* Tensors of one type, of which run time picks; false after a report. */
static bool are_alike(struct tn_onnx *n, int count,
		      struct tn_onnx_value *const *items)
{
	int i;

	for (i = 0; i < count; i++)
		if (items[i]->kind != ONNX_TENSOR ||
		    !tn_onnx_make(n->job, items[i]) ||
		    items[i]->v->type != items[0]->v->type) {
			tn_onnx_unknown(n, "a place that only run time knows, "
					"among items of different types");
			return false;
		}
	return true;
}

/* The place that input i names as a scalar, from 0 to `most`, counted from the
 * end of `len` if it is negative. */
static struct tn_value *later_place(struct tn_onnx *n, int i, int len,
				    int most)
{
	return tn_onnx_text(n, "p = reshape(cast(%v, i64), []); "
		"w = select(p < 0, p + %i, p); assert(w >= 0 && w <= %i, "
		"message=\"the place is not in the sequence\"); return w",
		tn_onnx_in(n, i), (int64_t)len, (int64_t)most);
}

/* `before` up to the place, `here` at it, `behind` from there on; NULL: never. */
static struct tn_onnx_value *around(struct tn_onnx *n, struct tn_value *place,
				    int64_t i, struct tn_onnx_value *before,
				    struct tn_onnx_value *here,
				    struct tn_onnx_value *behind)
{
	struct tn_value *v = behind ? behind->v : NULL;

	if (here)
		v = v ? tn_onnx_text(n, "select(%v == %i, %v, %v)", place, i,
				     here->v, v) : here->v;
	if (before)
		v = v ? tn_onnx_text(n, "select(%v > %i, %v, %v)", place, i,
				     before->v, v) : before->v;
	return wrap(n, v);
}

static void insert_later(struct tn_onnx *n, const struct tn_onnx_value *in)
{
	struct tn_onnx_value *out = tn_onnx_sequence(n, in->len + 1), *x;
	struct tn_value *at;
	int i;

	if (!out)
		return;
	x = n->in[1];
	memcpy(out->items, in->items, (size_t)in->len * sizeof(*in->items));
	out->items[in->len] = x;
	if (!are_alike(n, out->len, out->items))
		return;
	at = later_place(n, 2, in->len, in->len);
	for (i = 0; at && i < out->len; i++)
		out->items[i] = around(n, at, i, i < in->len ? in->items[i] :
				       NULL, x, i ? in->items[i - 1] : NULL);
	n->out[0] = at ? out : NULL;
}

static void erase_later(struct tn_onnx *n, const struct tn_onnx_value *in)
{
	struct tn_onnx_value *out = in->len ?
		tn_onnx_sequence(n, in->len - 1) : NULL;
	struct tn_value *at;
	int i;

	if (!out || !are_alike(n, in->len, in->items))
		return;
	at = later_place(n, 1, in->len, in->len - 1);
	for (i = 0; at && i < out->len; i++)
		out->items[i] = around(n, at, i, in->items[i], NULL,
				       in->items[i + 1]);
	n->out[0] = at ? out : NULL;
}

static void pick_later(struct tn_onnx *n, const struct tn_onnx_value *in)
{
	struct tn_value *at, *out;
	int i;

	if (!in->len || !are_alike(n, in->len, in->items))
		return;
	at = later_place(n, 1, in->len, in->len - 1);
	out = in->items[0]->v;
	for (i = 1; at && out && i < in->len; i++)
		out = tn_onnx_text(n, "select(%v == %i, %v, %v)", at,
				   (int64_t)i, in->items[i]->v, out);
	tn_onnx_give(n, 0, at ? out : NULL);
}

/* ---- Sequences ---------------------------------------------------------------------- */

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

	if (at == LATER && tn_onnx_has(n, 1))
		insert_later(n, in);
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

	if (at == LATER)
		erase_later(n, in);
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

	if (at == LATER)
		pick_later(n, in);
	else if (at >= 0 && at < in->len)
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

/* ---- SplitToSequence ------------------------------------------------------------------ */

/* The parts of a value along an axis. */
struct parts {
	struct tn_value *x;
	int axis, count;
	bool keep;
	const struct tn_dim *sizes[ONNX_ITEMS];
};

/* Of one size but for the last: false after a report. */
static bool even_parts(struct tn_onnx *n, struct parts *p, int64_t each)
{
	const struct tn_dim *size = p->x->type->dims[p->axis];
	int64_t left;

	if (!tn_dim_is_const(size)) {
		tn_onnx_unknown(n, "an axis of unknown size");
		return false;
	}
	if (each < 1 || size->value / each >= ONNX_ITEMS) {
		tn_onnx_refuse(n, "that many parts");
		return false;
	}
	for (left = size->value; left > 0; left -= each)
		p->sizes[p->count++] = tn_onnx_number(n, left < each ? left :
						      each);
	return true;
}

/* False: only run time knows them, or after a report. */
static bool known_parts(struct tn_onnx *n, struct parts *p)
{
	struct tn_value *v;
	int64_t each;

	if (!tn_onnx_has(n, 1))
		return even_parts(n, p, 1);
	v = tn_onnx_in(n, 1);
	if (!v)
		return false;
	if (v->type->rank)
		return tn_onnx_sizes(n, 1, ONNX_ITEMS, p->sizes, &p->count);
	return tn_onnx_ints(n, 1, 1, &each, &p->count) &&
	       (p->count = 0, even_parts(n, p, each));
}

static struct tn_value *without_axis(struct tn_onnx *n, const struct parts *p,
				     struct tn_value *part)
{
	return part && !p->keep ? tn_onnx_text(n, "squeeze(%v, axes=[%i])",
					       part, (int64_t)p->axis) : part;
}

static void cut_known(struct tn_onnx *n, const struct parts *p)
{
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	const struct tn_type *type = p->x->type;
	struct tn_onnx_value *out = tn_onnx_sequence(n, p->count);
	int i;

	for (i = 0; i < type->rank; i++) {
		start[i] = tn_onnx_number(n, 0);
		stop[i] = type->dims[i];
	}
	stop[p->axis] = start[p->axis];
	for (i = 0; out && i < p->count; i++) {
		start[p->axis] = stop[p->axis];
		stop[p->axis] = tn_dim_add(tn_onnx_pool(n), start[p->axis],
					   p->sizes[i]);
		out->items[i] = wrap(n, without_axis(n, p, tn_onnx_text(n,
			"slice(%v, start=%D, stop=%D)", p->x, type->rank,
			start, type->rank, stop)));
	}
	n->out[0] = out;
}

/* As many parts as the operand has elements, of sizes that the data tell. */
static void cut_at_run_time(struct tn_onnx *n, const struct parts *p)
{
	const struct tn_dim *size = p->x->type->dims[p->axis];
	struct tn_value *by = tn_onnx_in(n, 1), *from, *part;
	struct tn_onnx_value *out;
	int64_t i, count;

	if (!by || by->type->rank != 1 ||
	    !tn_dim_is_const(by->type->dims[0])) {
		tn_onnx_unknown(n, "parts that only run time knows");
		return;
	}
	count = by->type->dims[0]->value;
	out = tn_onnx_sequence(n, count > ONNX_ITEMS ? INT_MAX : (int)count);
	by = tn_onnx_text(n, "p = cast(%v, i64); assert(all(p >= 0) && "
			  "sum(p) == %d, message=\"the parts are not the "
			  "whole\"); return p", by, size);
	from = tn_onnx_text(n, "cast(0, i64)");
	for (i = 0; out && by && from && i < count; i++) {
		part = tn_onnx_counted(n, tn_onnx_text(n, "p = %v; "
						       "return p[%i]", by, i),
				       size);
		part = part ? tn_onnx_text(n, "gather(%v, %v + %v, axis=%i)",
					   p->x, part, from,
					   (int64_t)p->axis) : NULL;
		out->items[i] = wrap(n, without_axis(n, p, part));
		from = tn_onnx_text(n, "p = %v; return %v + p[%i]", by, from,
				    i);
	}
	n->out[0] = out;
}

void tn_onnx_do_split_to_sequence(struct tn_onnx *n)
{
	struct parts p = { .x = tn_onnx_in(n, 0) };

	if (!p.x)
		return;
	p.keep = tn_onnx_int(n, "keepdims", 1) || tn_onnx_has(n, 1);
	p.axis = tn_onnx_axis(n, tn_onnx_int(n, "axis", 0), p.x->type->rank);
	if (p.axis < 0)
		return;
	if (known_parts(n, &p))
		cut_known(n, &p);
	else if (!n->failed)
		cut_at_run_time(n, &p);
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
