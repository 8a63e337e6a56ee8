/*
 * Short forms: calls that are not operators but stand for a few of them, and
 * questions that are answered at once. Add one: a function and a row.
 */
#include "grammar/elab.h"

#include <inttypes.h>
#include <string.h>

static struct ev missing(struct frame *frame, const struct call *call,
			 const char *what)
{
	tn_diag_report(frame->e->sink, TN_E0211, call->span,
		       "'%s' needs %s", call->name, what);
	return ev_poison(call->span);
}

static struct ev wrong(struct frame *frame, const struct call *call,
		       const struct ev *ev, const char *what)
{
	if (!ev_is_poison(ev))
		tn_diag_report(frame->e->sink, TN_E0210, ev->span,
			       "'%s' wants %s here, not %s", call->name, what,
			       ev_text(frame->e, ev));
	return ev_poison(call->span);
}

/* The operand at the place, as a value; NULL after a report. */
static struct tn_value *operand(struct frame *frame, struct call *call,
				const char *name, int place)
{
	struct actual *actual = call_arg(call, name, place);
	struct tn_value *value;

	if (!actual) {
		missing(frame, call, "an operand");
		return NULL;
	}
	value = elab_to_value(frame, &actual->ev, ELAB_ANY);
	return value && !tn_type_is_poison(value->type) ? value : NULL;
}

/* Counts an axis from 0; false after a report. */
static bool fit_axis(struct frame *frame, const struct ev *ev, int rank,
		     int64_t *axis)
{
	int64_t given = *axis;

	if (given < 0)
		*axis += rank;
	if (*axis >= 0 && *axis < rank)
		return true;
	if (rank == 0)
		tn_diag_report(frame->e->sink, TN_E0287, ev->span,
			       "there is no axis %" PRId64 ": a scalar has "
			       "none", given);
	else
		tn_diag_report(frame->e->sink, TN_E0287, ev->span,
			       "axis %" PRId64 " is not in [%d, %d]", given,
			       -rank, rank - 1);
	return false;
}

/* An axis in [0, rank). */
static bool get_axis(struct frame *frame, struct call *call, const char *name,
		     int place, int rank, int64_t *out)
{
	struct actual *actual = call_arg(call, name, place);

	if (!actual) {
		missing(frame, call, "axis=");
		return false;
	}
	if (!ev_int(&actual->ev, out)) {
		wrong(frame, call, &actual->ev, "an axis");
		return false;
	}
	return fit_axis(frame, &actual->ev, rank, out);
}

/* A set of axes as flags; a number is a list of one. */
static bool get_axes(struct frame *frame, struct call *call,
		     const struct ev *ev, int rank, bool flags[TN_MAX_RANK])
{
	int count = ev->kind == EV_LIST ? ev->u.list.len : 1;
	int64_t axis;
	int i;

	for (i = 0; i < count; i++) {
		const struct ev *at = ev->kind == EV_LIST ?
				      &ev->u.list.at[i] : ev;

		if (!ev_int(at, &axis)) {
			wrong(frame, call, at, "an axis");
			return false;
		}
		if (!fit_axis(frame, at, rank, &axis))
			return false;
		if (flags[axis]) {
			tn_diag_report(frame->e->sink, TN_E0287, at->span,
				       "axis %" PRId64 " is named twice",
				       axis);
			return false;
		}
		flags[axis] = true;
	}
	return true;
}

static const struct tn_dim *one(struct frame *frame)
{
	return tn_dim_const(&frame->e->module->dims, 1);
}

static struct ev reshaped(struct frame *frame, struct call *call,
			  struct tn_value *value, int rank,
			  const struct tn_dim *const *dims)
{
	return ev_value(tn_build_reshape(&frame->b, value, rank, dims,
					 call->span), call->span);
}

static struct ev done(struct frame *frame, struct call *call, struct ev ev,
		      const char *const *known, int nknown)
{
	return call_all_used(frame, call, known, nknown) ? ev :
				  ev_poison(call->span);
}

/* ---- Axes of size 1 ---------------------------------------------------- */

static struct ev expand_like(struct frame *frame, struct call *call,
			     struct tn_value *value, const struct ev *like)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_value *model = elab_to_value(frame, like, ELAB_ANY);
	int i;

	if (!model)
		return ev_poison(call->span);
	if (model->type->rank < value->type->rank)
		return wrong(frame, call, like, "a tensor of no fewer axes");
	for (i = 0; i < model->type->rank; i++)
		dims[i] = i < value->type->rank ? value->type->dims[i] :
						  one(frame);
	return reshaped(frame, call, value, i, dims);
}

static struct ev expand_dims(struct frame *frame, struct call *call)
{
	static const char *const known[] = {"axes", "like"};
	struct tn_value *value = operand(frame, call, "x", 0);
	struct actual *like = call_arg(call, "like", 99);
	struct actual *axes = call_arg(call, "axes", 1);
	const struct tn_dim *dims[2 * TN_MAX_RANK];
	bool flags[TN_MAX_RANK] = {false};
	int rank, from = 0, i;

	if (!value || !call_all_used(frame, call, known, 2))
		return ev_poison(call->span);
	if (like)
		return expand_like(frame, call, value, &like->ev);
	if (!axes)
		return missing(frame, call, "axes=[..] or like=x");
	rank = value->type->rank +
	       (axes->ev.kind == EV_LIST ? axes->ev.u.list.len : 1);
	if (rank > TN_MAX_RANK) {
		tn_diag_report(frame->e->sink, TN_E0287, axes->ev.span,
			       "the result would have %d axes, a tensor has at "
			       "most %d", rank, TN_MAX_RANK);
		return ev_poison(call->span);
	}
	if (!get_axes(frame, call, &axes->ev, rank, flags))
		return ev_poison(call->span);
	for (i = 0; i < rank; i++)
		dims[i] = flags[i] ? one(frame) : value->type->dims[from++];
	return reshaped(frame, call, value, rank, dims);
}

static struct ev squeeze(struct frame *frame, struct call *call)
{
	static const char *const known[] = {"axes"};
	struct tn_value *value = operand(frame, call, "x", 0);
	struct actual *axes = call_arg(call, "axes", 1);
	const struct tn_dim *dims[TN_MAX_RANK];
	bool flags[TN_MAX_RANK] = {false};
	int rank = 0, i;

	if (!value || !call_all_used(frame, call, known, 1) ||
	    (axes && !get_axes(frame, call, &axes->ev, value->type->rank,
			       flags)))
		return ev_poison(call->span);
	for (i = 0; i < value->type->rank; i++) {
		const struct tn_dim *dim = value->type->dims[i];

		if (!axes ? tn_dim_is(dim, 1) : flags[i]) {
			if (tn_dim_is(dim, 1))
				continue;
			tn_diag_report(frame->e->sink, TN_E0287, call->span,
				       "axis %d has size %s, not 1", i,
				       elab_dim_text(frame->e, dim));
			return ev_poison(call->span);
		}
		dims[rank++] = dim;
	}
	return reshaped(frame, call, value, rank, dims);
}

static struct ev per_channel(struct frame *frame, struct call *call)
{
	static const char *const known[] = {"like", "axis"};
	struct tn_value *value = operand(frame, call, "x", 0);
	struct actual *like = call_arg(call, "like", 1);
	struct actual *at = call_arg(call, "axis", 2);
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_value *model;
	int64_t axis = 1;
	int rank, i;

	if (!value)
		return ev_poison(call->span);
	if (value->type->rank == 0)
		return ev_value(value, call->span);
	if (!like)
		return missing(frame, call, "like=x");
	model = elab_to_value(frame, &like->ev, ELAB_ANY);
	if (!model || !call_all_used(frame, call, known, 2))
		return ev_poison(call->span);
	rank = model->type->rank;
	if (at && !get_axis(frame, call, "axis", 2, rank, &axis))
		return ev_poison(call->span);
	if (axis >= rank || value->type->rank != 1) {
		tn_diag_report(frame->e->sink, TN_E0287, call->span,
			       "%s does not lie along axis %" PRId64 " of %s",
			       elab_type_text(frame->e, value->type), axis,
			       elab_type_text(frame->e, model->type));
		return ev_poison(call->span);
	}
	rank -= (int)axis;
	for (i = 0; i < rank; i++)
		dims[i] = i ? one(frame) : value->type->dims[0];
	return reshaped(frame, call, value, rank, dims);
}

/* ---- Joining and cutting ----------------------------------------------- */

static struct ev stack(struct frame *frame, struct call *call)
{
	static const char *const known[] = {"axis"};
	struct actual *list = call_arg(call, "values", 0);
	const struct tn_dim *dims[TN_MAX_RANK + 1];
	struct tn_value **in;
	struct tn_attr attr;
	int64_t axis;
	int count, rank, i, k;

	if (!list || list->ev.kind != EV_LIST || list->ev.u.list.len == 0)
		return missing(frame, call, "a list of tensors");
	count = list->ev.u.list.len;
	in = tn_arena_array(&frame->e->scratch, (size_t)count, sizeof(*in));
	if (!in || !elab_adopt(frame, count, list->ev.u.list.at, in,
			       call->want, call->span, "stack"))
		return ev_poison(call->span);
	rank = in[0]->type->rank + 1;
	if (rank > TN_MAX_RANK ||
	    !get_axis(frame, call, "axis", 1, rank, &axis) ||
	    !call_all_used(frame, call, known, 1))
		return ev_poison(call->span);
	for (i = 0; i < count; i++) {
		const struct tn_type *type = in[i]->type;
		int from = 0;

		if (type->rank != rank - 1) {
			tn_diag_report(frame->e->sink, TN_E0287, call->span,
				       "'stack' joins tensors of one shape, "
				       "not %s and %s",
				       elab_type_text(frame->e, in[0]->type),
				       elab_type_text(frame->e, type));
			return ev_poison(call->span);
		}
		for (k = 0; k < rank; k++)
			dims[k] = k == axis ? one(frame) : type->dims[from++];
		in[i] = tn_build_reshape(&frame->b, in[i], rank, dims,
					 call->span);
		if (!in[i])
			return ev_poison(call->span);
	}
	attr = tn_attr_int("axis", axis);
	return elab_make(frame, TN_OP_concat, count, in, 1, &attr, call->span);
}

static struct tn_value *cut(struct frame *frame, struct tn_value *value,
			    int64_t axis, const struct tn_dim *from,
			    const struct tn_dim *to, struct tn_span span)
{
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	const struct tn_type *type = value->type;
	struct tn_attr attrs[2];
	struct ev ev;
	int i;

	for (i = 0; i < type->rank; i++) {
		start[i] = i == axis ? from :
			   tn_dim_const(&frame->e->module->dims, 0);
		stop[i] = i == axis ? to : type->dims[i];
	}
	attrs[0] = tn_attr_dims("start", type->rank, start);
	attrs[1] = tn_attr_dims("stop", type->rank, stop);
	ev = elab_make(frame, TN_OP_slice, 1, &value, 2, attrs, span);
	return ev.kind == EV_VALUE ? ev.u.value : NULL;
}

/* `split` makes at most as many pieces as anybody would name. */
#define MOST_PIECES 4096

/* The size of each of `n` equal pieces; NULL after a report. */
static const struct tn_dim *equal_piece(struct frame *frame,
					struct call *call, const struct ev *ev,
					const struct tn_dim *whole, int64_t *n)
{
	struct tn_dim_pool *pool = &frame->e->module->dims;
	const struct tn_dim *piece;
	struct tn_diag *diag;

	if (!ev_int(ev, n)) {
		wrong(frame, call, ev, "the number of pieces");
		return NULL;
	}
	if (*n < 1 || *n > MOST_PIECES) {
		diag = tn_diag_report(frame->e->sink, TN_E0287, ev->span,
				      "'split' cannot make %" PRId64 " pieces",
				      *n);
		tn_diag_help(frame->e->sink, diag, "it makes from 1 to %d; a "
			     "tensor with an axis for the pieces comes from "
			     "reshape", MOST_PIECES);
		return NULL;
	}
	piece = tn_dim_floordiv(pool, whole, tn_dim_const(pool, *n));
	if (piece && tn_dim_mul(pool, piece, tn_dim_const(pool, *n)) == whole)
		return piece;
	diag = tn_diag_report(frame->e->sink, TN_E0287, call->span,
			      "%s is not known to be a multiple of %" PRId64,
			      elab_dim_text(frame->e, whole), *n);
	tn_diag_help(frame->e->sink, diag, "sizes=[..] gives each piece its "
		     "own; a dim is a multiple if `mod` says so");
	return NULL;
}

/* The size in a list of them; NULL after a report. */
static const struct tn_dim *listed_piece(struct frame *frame,
					 struct call *call,
					 const struct ev *ev)
{
	if (ev->kind != EV_DIM) {
		wrong(frame, call, ev, "a size");
		return NULL;
	}
	if (!tn_dim_is_const(ev->u.dim) || ev->u.dim->value >= 0)
		return ev->u.dim;
	tn_diag_report(frame->e->sink, TN_E0287, ev->span,
		       "a piece cannot have %" PRId64 " elements",
		       ev->u.dim->value);
	return NULL;
}

static const struct tn_dim **listed_pieces(struct frame *frame,
					   struct call *call,
					   const struct ev *list,
					   const struct tn_dim *whole)
{
	struct tn_dim_pool *pool = &frame->e->module->dims;
	const struct tn_dim *sum = tn_dim_const(pool, 0), **out;
	int count = list->u.list.len, i;

	out = tn_arena_array(&frame->e->scratch, (size_t)count + 1,
			     sizeof(*out));
	for (i = 0; out && i < count; i++) {
		out[i] = listed_piece(frame, call, &list->u.list.at[i]);
		if (!out[i])
			return NULL;
		sum = sum ? tn_dim_add(pool, sum, out[i]) : NULL;
	}
	if (!out || sum == whole)
		return out;
	tn_diag_report(frame->e->sink, TN_E0287, list->span,
		       "these sizes sum to %s, the axis has %s",
		       sum ? elab_dim_text(frame->e, sum) : "too much",
		       elab_dim_text(frame->e, whole));
	return NULL;
}

/* Sizes of the pieces: `parts` equal ones, or as listed. */
static const struct tn_dim **pieces(struct frame *frame, struct call *call,
				    const struct tn_dim *whole, int *count)
{
	struct actual *parts = call_arg(call, "parts", 2);
	struct actual *sizes = call_arg(call, "sizes", 99);
	const struct tn_dim **out, *piece;
	int64_t n, i;

	if ((parts && sizes) || (!parts && !sizes)) {
		missing(frame, call, parts ? "either parts= or sizes=, not both"
					   : "parts=n or sizes=[..]");
		return NULL;
	}
	if (sizes && sizes->ev.kind != EV_LIST) {
		wrong(frame, call, &sizes->ev, "a list of sizes");
		return NULL;
	}
	if (sizes) {
		*count = sizes->ev.u.list.len;
		return listed_pieces(frame, call, &sizes->ev, whole);
	}
	piece = equal_piece(frame, call, &parts->ev, whole, &n);
	if (!piece)
		return NULL;
	out = tn_arena_array(&frame->e->scratch, (size_t)n, sizeof(*out));
	for (i = 0; out && i < n; i++)
		out[i] = piece;
	*count = (int)n;
	return out;
}

static struct ev split(struct frame *frame, struct call *call)
{
	static const char *const known[] = {"axis", "parts", "sizes"};
	struct tn_dim_pool *pool = &frame->e->module->dims;
	struct tn_value *value = operand(frame, call, "x", 0);
	const struct tn_dim **sizes, *from, *to;
	struct ev *at, out;
	int64_t axis;
	int count, i;

	if (!value || !get_axis(frame, call, "axis", 1, value->type->rank,
				&axis))
		return ev_poison(call->span);
	sizes = pieces(frame, call, value->type->dims[axis], &count);
	if (!sizes || !call_all_used(frame, call, known, 3))
		return ev_poison(call->span);
	at = tn_arena_array(&frame->e->scratch, (size_t)count + 1,
			    sizeof(*at));
	from = tn_dim_const(pool, 0);
	for (i = 0; at && i < count; i++) {
		to = tn_dim_add(pool, from, sizes[i]);
		at[i] = ev_value(cut(frame, value, axis, from, to, call->span),
				 call->span);
		from = to;
	}
	if (!at)
		return ev_poison(call->span);
	if (count == 1)
		return at[0];
	out = ev_list(frame->e, at, count, call->span);
	if (out.kind == EV_LIST)
		out.kind = EV_TUPLE;
	return out;
}

/* ---- Constant tensors -------------------------------------------------- */

static struct ev filled(struct frame *frame, struct call *call,
			const struct ev *value, enum tn_dtype dtype,
			const struct ev *shape)
{
	struct tn_attr_info info = {"shape", TN_ATTR_DIMS, NULL};
	struct tn_value *scalar;
	struct tn_attr attr;

	if (!elab_attr(frame, &info, shape, &attr))
		return ev_poison(call->span);
	scalar = elab_to_value(frame, value, dtype);
	if (!scalar)
		return ev_poison(call->span);
	if (attr.count == 0)
		return ev_value(scalar, call->span);
	return elab_make(frame, TN_OP_broadcast, 1, &scalar, 1, &attr,
			 call->span);
}

/* Shape and element type in either order, the value (of full) besides. */
static struct ev fill(struct frame *frame, struct call *call,
		      const struct ev *given)
{
	static const char *const known[] = {"shape", "value", "elem"};
	enum tn_dtype dtype = call->want;
	const struct ev *value = given, *shape = NULL;
	int i;

	for (i = 0; i < call->len; i++) {
		struct actual *actual = &call->at[i];
		const char *name = actual->name;

		if (ev_is_poison(&actual->ev))
			return ev_poison(call->span);
		if (name && strcmp(name, "elem") == 0 &&
		    actual->ev.kind != EV_ELEM)
			return wrong(frame, call, &actual->ev,
				     "an element type");
		if (actual->ev.kind == EV_ELEM &&
		    (!name || strcmp(name, "elem") == 0))
			dtype = actual->ev.u.elem;
		else if (!shape && (name ? strcmp(name, "shape") == 0 :
				    actual->ev.kind == EV_LIST))
			shape = &actual->ev;
		else if (!value && (!name || strcmp(name, "value") == 0))
			value = &actual->ev;
		else
			continue;
		actual->used = true;
	}
	if (!call_all_used(frame, call, known, given ? 1 : 3))
		return ev_poison(call->span);
	if (!shape)
		return missing(frame, call, "a shape, [..]");
	if (!value)
		return missing(frame, call, "a value");
	if (dtype == ELAB_ANY && given)
		dtype = TN_f32;
	return filled(frame, call, value, dtype, shape);
}

static struct ev number(struct frame *frame, struct call *call, int64_t value)
{
	return ev_dim(tn_dim_const(&frame->e->module->dims, value),
		      call->span);
}

static struct ev full(struct frame *frame, struct call *call)
{
	return fill(frame, call, NULL);
}

static struct ev zeros(struct frame *frame, struct call *call)
{
	struct ev zero = number(frame, call, 0);

	return fill(frame, call, &zero);
}

static struct ev ones(struct frame *frame, struct call *call)
{
	struct ev value = number(frame, call, 1);

	return fill(frame, call, &value);
}

/* ---- Reductions by name ------------------------------------------------ */

static struct ev by_name(struct frame *frame, struct call *call,
			 const char *const (*table)[2])
{
	struct actual *kind = call_arg(call, "kind", 1);
	struct call inner = *call;
	int i, k = 0;

	if (!kind || kind->ev.kind != EV_STRING)
		return missing(frame, call, "the kind, a string");
	for (i = 0; table[i][0]; i++)
		if (strcmp(table[i][0], kind->ev.u.string) == 0)
			break;
	if (!table[i][0])
		return wrong(frame, call, &kind->ev,
			     "\"sum\", \"prod\", \"max\", \"min\", \"all\" or "
			     "\"any\"");
	inner.at = tn_arena_array(&frame->e->scratch, (size_t)call->len,
				  sizeof(*inner.at));
	if (!inner.at)
		return ev_poison(call->span);
	inner.len = 0;
	for (k = 0; k < call->len; k++)
		if (&call->at[k] != kind)
			inner.at[inner.len++] = call->at[k];
	return elab_primitive(frame, tn_op_find(table[i][1]), &inner);
}

static struct ev reduce(struct frame *frame, struct call *call)
{
	static const char *const table[][2] = {
		{"sum", "sum"}, {"add", "sum"}, {"prod", "prod"},
		{"mul", "prod"}, {"max", "reduce_max"},
		{"min", "reduce_min"}, {"all", "all"}, {"and", "all"},
		{"any", "any"}, {"or", "any"}, {NULL, NULL}
	};

	return by_name(frame, call, table);
}

static struct ev argreduce(struct frame *frame, struct call *call)
{
	static const char *const table[][2] = {
		{"max", "argmax"}, {"min", "argmin"}, {NULL, NULL}
	};

	return by_name(frame, call, table);
}

/* ---- Questions --------------------------------------------------------- */

static const struct tn_type *type_of(struct frame *frame, struct call *call)
{
	struct tn_value *value = operand(frame, call, "x", 0);

	return value ? value->type : NULL;
}

static struct ev rank(struct frame *frame, struct call *call)
{
	const struct tn_type *type = type_of(frame, call);

	if (!type)
		return ev_poison(call->span);
	return done(frame, call, number(frame, call, type->rank), NULL, 0);
}

static struct ev size(struct frame *frame, struct call *call)
{
	static const char *const known[] = {"axis"};
	const struct tn_type *type = type_of(frame, call);
	int64_t axis;

	if (!type || !get_axis(frame, call, "axis", 1, type->rank, &axis))
		return ev_poison(call->span);
	return done(frame, call, ev_dim(type->dims[axis], call->span), known,
		    1);
}

static struct ev shape(struct frame *frame, struct call *call)
{
	const struct tn_type *type = type_of(frame, call);
	struct ev dims[TN_MAX_RANK];
	int i;

	if (!type)
		return ev_poison(call->span);
	for (i = 0; i < type->rank; i++)
		dims[i] = ev_dim(type->dims[i], call->span);
	return done(frame, call, ev_list(frame->e, dims, type->rank,
					 call->span), NULL, 0);
}

static struct ev elem(struct frame *frame, struct call *call)
{
	const struct tn_type *type = type_of(frame, call);
	struct ev ev = ev_poison(call->span);

	if (!type)
		return ev;
	ev.kind = EV_ELEM;
	ev.u.elem = type->dtype;
	return done(frame, call, ev, NULL, 0);
}

/* The number of elements along axes, of all without them. */
static struct ev count(struct frame *frame, struct call *call)
{
	static const char *const known[] = {"axes"};
	struct tn_dim_pool *pool = &frame->e->module->dims;
	const struct tn_type *type = type_of(frame, call);
	struct actual *axes = call_arg(call, "axes", 1);
	bool flags[TN_MAX_RANK] = {false};
	const struct tn_dim *product = tn_dim_const(pool, 1);
	int i;

	if (!type || !call_all_used(frame, call, known, 1) ||
	    (axes && !get_axes(frame, call, &axes->ev, type->rank, flags)))
		return ev_poison(call->span);
	for (i = 0; i < type->rank; i++)
		if (!axes || flags[i])
			product = tn_dim_mul(pool, product, type->dims[i]);
	return ev_dim(product, call->span);
}

/* f16 and bf16, values or types, as f32; others as they are. */
static struct ev wide(struct frame *frame, struct call *call)
{
	struct actual *actual = call_arg(call, "x", 0);
	struct tn_value *value;
	enum tn_dtype dtype;
	struct ev out;

	if (!actual)
		return missing(frame, call, "an operand");
	if (!call_all_used(frame, call, NULL, 0))
		return ev_poison(call->span);
	out = actual->ev;
	if (out.kind == EV_ELEM) {
		if (out.u.elem == TN_f16 || out.u.elem == TN_bf16)
			out.u.elem = TN_f32;
		return out;
	}
	value = elab_to_value(frame, &actual->ev, ELAB_ANY);
	if (!value)
		return ev_poison(call->span);
	dtype = value->type->dtype;
	if (dtype == TN_f16 || dtype == TN_bf16)
		value = tn_build_cast(&frame->b, value, TN_f32, call->span);
	return ev_value(value, call->span);
}

static struct ev no_list(struct frame *frame, struct call *call,
			 const struct ev *ev)
{
	struct tn_diag *diag;

	if (ev_is_poison(ev))
		return ev_poison(call->span);
	diag = tn_diag_report(frame->e->sink, TN_E0210, ev->span,
			      "'len' counts the entries of a list, not of %s",
			      ev_text(frame->e, ev));
	tn_diag_help(frame->e->sink, diag, "size(x, 0) is the size of an "
		     "axis, rank(x) the number of axes");
	return ev_poison(call->span);
}

static struct ev len(struct frame *frame, struct call *call)
{
	struct actual *list = call_arg(call, "list", 0);

	if (!list)
		return missing(frame, call, "a list");
	if (list->ev.kind != EV_LIST)
		return no_list(frame, call, &list->ev);
	return done(frame, call, number(frame, call, list->ev.u.list.len),
		    NULL, 0);
}

/* ---- Tests ------------------------------------------------------------- */

/* run(f, args.., passes=".."): a call that goes through the passes. */
static struct ev run(struct frame *frame, struct call *call)
{
	struct actual *fn = call_arg(call, "fn", 0);
	struct actual *passes = call_arg(call, "passes", 9999);
	struct call inner = *call;
	struct decl *decl;
	struct tn_op *op;
	struct ev out;

	if (!frame->test) {
		tn_diag_report(frame->e->sink, TN_E0223, call->span,
			       "`run` belongs into a test");
		return ev_poison(call->span);
	}
	if (!fn || fn->ev.kind != EV_STRING)
		return missing(frame, call, "the name of a function");
	if (passes && passes->ev.kind != EV_STRING)
		return wrong(frame, call, &passes->ev, "a string");
	decl = elab_find(frame->e, fn->ev.u.string, false);
	if (!decl || (decl->item->kind != TN_TREE_ITEM_FN &&
		      decl->item->kind != TN_TREE_ITEM_OP)) {
		tn_diag_report(frame->e->sink, TN_E0202, fn->ev.span,
			       "no function is named '%s'", fn->ev.u.string);
		return ev_poison(call->span);
	}
	inner.name = decl->name;
	inner.at++;
	inner.len -= passes ? 2 : 1;
	if (passes && passes != &call->at[call->len - 1])
		return wrong(frame, call, &passes->ev,
			     "`passes` at the end, not");
	out = elab_call_decl(frame, decl, &inner);
	op = frame->b.block->last;
	if (!ev_is_poison(&out) && op && op->code == TN_OP_call &&
	    !elab_set_attr(frame->e, op,
			   tn_attr_string("passes", passes ?
					  passes->ev.u.string : "default")))
		return ev_poison(call->span);
	return out;
}

static const struct {
	const char *name;
	elab_sugar_fn make;
} table[] = {
	{"expand_dims", expand_dims}, {"squeeze", squeeze},
	{"per_channel", per_channel}, {"stack", stack}, {"split", split},
	{"full", full}, {"zeros", zeros}, {"ones", ones},
	{"reduce", reduce}, {"argreduce", argreduce}, {"rank", rank},
	{"size", size}, {"shape", shape}, {"elem", elem}, {"len", len},
	{"count", count}, {"wide", wide},
	{"load", elab_load}, {"run", run},
	{"permute", elab_permute}, {"inverse", elab_inverse},
	{"take", elab_take}, {"drop", elab_drop}, {"lows", elab_lows},
	{"highs", elab_highs}, {"union", elab_union},
};

elab_sugar_fn elab_sugar_find(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		if (strcmp(table[i].name, name) == 0)
			return table[i].make;
	return NULL;
}

const char *elab_sugar_name(size_t i)
{
	return i < sizeof(table) / sizeof(table[0]) ? table[i].name : NULL;
}
