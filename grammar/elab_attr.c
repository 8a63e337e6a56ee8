/*
 * Attributes: what is written in a call becomes an attribute of the kind
 * that the operator's row asks for.
 */
#include "grammar/elab.h"
#include "ir/known.h"

#include <string.h>

const char *elab_attr_kind(enum tn_attr_kind kind)
{
	switch (kind) {
	case TN_ATTR_INT:
		return "a whole number";
	case TN_ATTR_FLOAT:
		return "a number";
	case TN_ATTR_BOOL:
		return "true or false";
	case TN_ATTR_STRING:
		return "a string";
	case TN_ATTR_DTYPE:
		return "an element type";
	case TN_ATTR_INTS:
		return "a whole number or a list of them";
	case TN_ATTR_DIM:
		return "a size";
	case TN_ATTR_DIMS:
		return "a list of sizes";
	case TN_ATTR_PAIRS:
		return "a list of pairs [lo, hi]";
	}
	return "something else";
}

static bool get_ints(struct tn_elab *e, const struct ev *ev,
		     struct tn_attr *out)
{
	int count = ev->kind == EV_LIST ? ev->u.list.len : 1;
	int64_t *ints = elab_array(e, (size_t)count, sizeof(*ints));
	int i;

	if (!ints)
		return false;
	for (i = 0; i < count; i++)
		if (!ev_int(ev->kind == EV_LIST ? &ev->u.list.at[i] : ev,
			    &ints[i]))
			return false;
	*out = tn_attr_ints(out->name, count, ints);
	return true;
}

/* The size that an integer scalar of the graph is, or NULL. */
static const struct tn_dim *size_of(struct tn_elab *e, const struct ev *ev)
{
	struct tn_known known;

	if (ev->kind == EV_DIM)
		return ev->u.dim;
	if (ev->kind != EV_VALUE ||
	    !tn_known_value(e->module, ev->u.value, &known) || known.rank)
		return NULL;
	return known.at[0];
}

/* An integer vector of the graph: the sizes that its elements are. */
static bool get_vector(struct tn_elab *e, const struct ev *ev,
		       struct tn_attr *out)
{
	const struct tn_dim **dims;
	struct tn_known known;
	int i;

	if (!tn_known_value(e->module, ev->u.value, &known) || !known.rank)
		return false;
	dims = elab_array(e, (size_t)known.count + 1, sizeof(*dims));
	if (!dims)
		return false;
	for (i = 0; i < known.count; i++)
		dims[i] = known.at[i];
	*out = tn_attr_dims(out->name, known.count, dims);
	return true;
}

static bool get_dims(struct tn_elab *e, const struct ev *ev,
		     struct tn_attr *out)
{
	const struct tn_dim **dims;
	int count = ev->kind == EV_LIST ? ev->u.list.len : 1;
	int i;

	if (ev->kind == EV_VALUE && ev->u.value->type->rank == 1)
		return get_vector(e, ev, out);
	dims = elab_array(e, (size_t)count, sizeof(*dims));
	if (!dims)
		return false;
	for (i = 0; i < count; i++) {
		const struct ev *at = ev->kind == EV_LIST ?
				      &ev->u.list.at[i] : ev;

		dims[i] = size_of(e, at);
		if (!dims[i] && at->kind != EV_HOLE)
			return false;
	}
	*out = tn_attr_dims(out->name, count, dims);
	return true;
}

/* [[1, 2], [3, 4]]; one number stands for both sides of every axis. */
static bool get_pairs(struct tn_elab *e, const struct ev *ev,
		      struct tn_attr *out)
{
	const struct tn_dim **dims;
	int count = ev->kind == EV_LIST ? ev->u.list.len : 1;
	int i;

	dims = elab_array(e, 2 * (size_t)count, sizeof(*dims));
	if (!dims)
		return false;
	for (i = 0; i < count; i++) {
		const struct ev *at = ev->kind == EV_LIST ?
				      &ev->u.list.at[i] : ev;
		const struct ev *lo = at, *hi = at;

		if (at->kind == EV_LIST) {
			if (at->u.list.len != 2)
				return false;
			lo = &at->u.list.at[0];
			hi = &at->u.list.at[1];
		}
		if (lo->kind != EV_DIM || hi->kind != EV_DIM)
			return false;
		dims[2 * i] = lo->u.dim;
		dims[2 * i + 1] = hi->u.dim;
	}
	*out = tn_attr_pairs(out->name, count, dims);
	if (ev->kind == EV_DIM)
		out->count = 1;
	return true;
}

static bool convert(struct tn_elab *e, enum tn_attr_kind kind,
		    const struct ev *ev, struct tn_attr *out)
{
	const char *name = out->name;
	int64_t i;

	switch (kind) {
	case TN_ATTR_INT:
		if (!ev_int(ev, &i))
			return false;
		*out = tn_attr_int(name, i);
		return true;
	case TN_ATTR_FLOAT:
		if (ev->kind != EV_FLOAT && ev->kind != EV_BIG &&
		    !ev_int(ev, &i))
			return false;
		*out = tn_attr_float(name, ev_to_f64(ev));
		return true;
	case TN_ATTR_BOOL:
		if (ev->kind != EV_BOOL)
			return false;
		*out = tn_attr_bool(name, ev->u.truth);
		return true;
	case TN_ATTR_STRING:
		if (ev->kind != EV_STRING)
			return false;
		*out = tn_attr_string(name, ev->u.string);
		return true;
	case TN_ATTR_DTYPE:
		if (ev->kind != EV_ELEM)
			return false;
		*out = tn_attr_dtype(name, ev->u.elem);
		return true;
	case TN_ATTR_INTS:
		return get_ints(e, ev, out);
	case TN_ATTR_DIM:
		*out = tn_attr_dim(name, size_of(e, ev));
		return out->u.dim != NULL;
	case TN_ATTR_DIMS:
		return get_dims(e, ev, out);
	case TN_ATTR_PAIRS:
		return get_pairs(e, ev, out);
	}
	return false;
}

/* The entry of a list for which the whole was refused, else the whole. */
static const struct ev *culprit(enum tn_attr_kind kind, const struct ev *ev)
{
	bool is_list = kind == TN_ATTR_INTS || kind == TN_ATTR_DIMS ||
		       kind == TN_ATTR_PAIRS;
	int64_t value;
	int i;

	if (!is_list || ev->kind != EV_LIST)
		return ev;
	for (i = 0; i < ev->u.list.len; i++) {
		const struct ev *at = &ev->u.list.at[i];

		if (at->kind == EV_LIST && kind == TN_ATTR_PAIRS &&
		    at->u.list.len == 2)
			at = culprit(TN_ATTR_DIMS, at);
		if (kind == TN_ATTR_INTS ? !ev_int(at, &value) :
		    at->kind != EV_DIM &&
		    (at->kind != EV_HOLE || kind != TN_ATTR_DIMS) &&
		    (at->kind != EV_LIST || kind != TN_ATTR_PAIRS ||
		     at->u.list.len != 2))
			return at;
	}
	return ev;
}

static void refuse(struct frame *frame, const struct tn_attr_info *info,
		   const struct ev *ev)
{
	const struct ev *bad = culprit(info->kind, ev);
	struct tn_diag *diag;

	diag = tn_diag_report(frame->e->sink, TN_E0210, bad->span,
			      "'%s' must be %s, known before run time, not %s",
			      info->name, elab_attr_kind(info->kind),
			      ev_text(frame->e, bad));
	if (bad->kind == EV_BIG && info->kind != TN_ATTR_BOOL &&
	    info->kind != TN_ATTR_STRING && info->kind != TN_ATTR_DTYPE)
		tn_diag_help(frame->e->sink, diag, "whole numbers here are "
			     "less than 2^63");
	if (bad->kind == EV_TUPLE)
		tn_diag_help(frame->e->sink, diag, "a list stands in "
			     "brackets: [1, 2]");
}

bool elab_attr(struct frame *frame, const struct tn_attr_info *info,
	       const struct ev *ev, struct tn_attr *out)
{
	if (ev_is_poison(ev))
		return false;
	if (ev->kind == EV_CONST)
		ev = ev->u.typed.of;
	out->name = info->name;
	if (convert(frame->e, info->kind, ev, out))
		return true;
	refuse(frame, info, ev);
	return false;
}

static enum tn_attr_kind list_kind(const struct ev *ev)
{
	bool ints = true, pairs = ev->u.list.len > 0;
	int64_t value;
	int i;

	for (i = 0; i < ev->u.list.len; i++) {
		ints &= ev_int(&ev->u.list.at[i], &value);
		pairs &= ev->u.list.at[i].kind == EV_LIST;
	}
	return pairs ? TN_ATTR_PAIRS : ints ? TN_ATTR_INTS : TN_ATTR_DIMS;
}

bool elab_attr_any(struct frame *frame, const char *name,
		   const struct ev *ev, struct tn_attr *out)
{
	struct tn_attr_info info = {name, TN_ATTR_INT, NULL};
	int64_t value;

	if (ev->kind == EV_CONST)
		ev = ev->u.typed.of;
	if (ev->kind == EV_DIM && !ev_int(ev, &value))
		info.kind = TN_ATTR_DIM;
	else if (ev->kind == EV_FLOAT || ev->kind == EV_BIG)
		info.kind = TN_ATTR_FLOAT;
	else if (ev->kind == EV_BOOL)
		info.kind = TN_ATTR_BOOL;
	else if (ev->kind == EV_STRING)
		info.kind = TN_ATTR_STRING;
	else if (ev->kind == EV_ELEM)
		info.kind = TN_ATTR_DTYPE;
	else if (ev->kind == EV_LIST)
		info.kind = list_kind(ev);
	return elab_attr(frame, &info, ev, out);
}

static struct ev ev_ints(struct tn_elab *e, const struct tn_attr *attr,
			 struct tn_span span)
{
	struct ev at[TN_MAX_RANK];
	int i;

	for (i = 0; i < attr->count && i < TN_MAX_RANK; i++)
		at[i] = ev_dim(attr->kind == TN_ATTR_INTS ?
			       tn_dim_const(&e->module->dims,
					    attr->u.ints[i]) :
			       attr->u.dims[i], span);
	return ev_list(e, at, i, span);
}

struct ev elab_attr_ev(struct tn_elab *e, const struct tn_attr *attr,
		       struct tn_span span)
{
	struct ev ev = ev_poison(span);
	struct ev pairs[TN_MAX_RANK], two[2];
	int i;

	switch (attr->kind) {
	case TN_ATTR_INT:
		return ev_dim(tn_dim_const(&e->module->dims, attr->u.i), span);
	case TN_ATTR_FLOAT:
		ev.kind = EV_FLOAT;
		ev.u.real.value = attr->u.f;
		ev.u.real.text = NULL;
		return ev;
	case TN_ATTR_BOOL:
		ev.kind = EV_BOOL;
		ev.u.truth = attr->u.b;
		return ev;
	case TN_ATTR_STRING:
		ev.kind = EV_STRING;
		ev.u.string = elab_intern(e, attr->u.s);
		return ev;
	case TN_ATTR_DTYPE:
		ev.kind = EV_ELEM;
		ev.u.elem = attr->u.dtype;
		return ev;
	case TN_ATTR_DIM:
		return ev_dim(attr->u.dim, span);
	case TN_ATTR_INTS:
	case TN_ATTR_DIMS:
		return ev_ints(e, attr, span);
	case TN_ATTR_PAIRS:
		for (i = 0; i < attr->count / 2 && i < TN_MAX_RANK; i++) {
			two[0] = ev_dim(attr->u.dims[2 * i], span);
			two[1] = ev_dim(attr->u.dims[2 * i + 1], span);
			pairs[i] = ev_list(e, two, 2, span);
		}
		return ev_list(e, pairs, i, span);
	}
	return ev;
}
