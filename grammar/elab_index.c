/*
 * Indexing and fields. `x[i, 0:4, ..., :]` is at most one slice, one reshape
 * that drops the axes of constant indices, and one gather for each index
 * that only run time knows.
 */
#include "grammar/elab.h"
#include "grammar/habit.h"

#include <inttypes.h>
#include <string.h>

/* What one axis of the operand undergoes. */
struct axis {
	const struct tn_dim *start, *stop;	/* slice */
	bool drop;				/* constant index */
	struct tn_value *at;			/* run-time index */
	struct tn_span span;
};

struct indexing {
	struct frame *frame;
	struct tn_value *value;
	struct tn_span span;
	struct axis axes[TN_MAX_RANK];
	int64_t from;		/* index of the first element of axis 0 */
};

static bool not_negative(struct frame *frame, const struct tn_dim *dim,
			 struct tn_span span)
{
	struct tn_diag *diag;
	int64_t lo, hi;

	tn_dim_bounds(dim, &lo, &hi);
	if (hi >= 0)
		return true;
	diag = tn_diag_report(frame->e->sink, TN_E0286, span,
			      "an index counts from the start, it cannot be "
			      "negative");
	tn_diag_help(frame->e->sink, diag,
		     "write the size: x[S - 1] is the last of S");
	return false;
}

/* An index; a constant integer of any type is known as a dim is. */
static struct ev index_of(struct frame *frame, const struct tn_expr *expr)
{
	struct ev ev = elab_expr(frame, expr, ELAB_ANY);

	if (ev.kind == EV_CONST && ev.u.typed.type->rank == 0 &&
	    ev.u.typed.of->kind == EV_DIM)
		return *ev.u.typed.of;
	return ev;
}

static bool bound(struct frame *frame, const struct tn_expr *expr,
		  const struct tn_dim **out)
{
	struct tn_diag *diag;
	struct ev ev;

	if (!expr)
		return true;
	ev = index_of(frame, expr);
	if (ev.kind == EV_POISON)
		return false;
	if (ev.kind != EV_DIM) {
		diag = tn_diag_report(frame->e->sink, TN_E0286, expr->span,
				      "a bound of a slice is a number or a "
				      "dim, not %s", ev_text(frame->e, &ev));
		tn_diag_help(frame->e->sink, diag,
			     "gather(x, index, axis=..) takes what run time "
			     "alone knows");
		return false;
	}
	*out = ev.u.dim;
	return not_negative(frame, ev.u.dim, expr->span);
}

/* A single index: constant or not. */
static bool read_at(struct indexing *ix, struct axis *axis, bool is_first,
		    const struct tn_expr *expr)
{
	struct frame *frame = ix->frame;
	struct tn_dim_pool *pool = &frame->e->module->dims;
	struct ev ev = index_of(frame, expr);
	const struct tn_dim *from = tn_dim_const(pool, ix->from);
	struct tn_value *two[2];
	struct tn_diag *diag;

	if (ev.kind == EV_POISON)
		return false;
	if (ev.kind == EV_DIM) {
		const struct tn_dim *at = ev.u.dim;

		if (is_first && ix->from)
			at = tn_dim_sub(pool, at, from);
		if (!at || !not_negative(frame, at, expr->span))
			return false;
		axis->start = at;
		axis->stop = tn_dim_add(pool, at, tn_dim_const(pool, 1));
		axis->drop = true;
		return axis->stop != NULL;
	}
	if (ev.kind != EV_VALUE ||
	    !tn_dtype_is(ev.u.value->type->dtype, TN_KIND_INT)) {
		diag = tn_diag_report(frame->e->sink, TN_E0286, expr->span,
				      "an index is an integer, not %s",
				      ev_text(frame->e, &ev));
		if (elab_default(&ev) == TN_bool)
			tn_diag_help(frame->e->sink, diag, "the places where "
				     "a vector is true are nonzero(x); of two "
				     "values select(condition, a, b) takes one");
		return false;
	}
	axis->at = ev.u.value;
	if (is_first && ix->from) {
		two[0] = ev.u.value;
		two[1] = tn_build_scalar_i64(&frame->b,
					     ev.u.value->type->dtype,
					     ix->from, expr->span);
		if (!two[1])
			return false;
		axis->at = tn_build_binary(&frame->b, TN_OP_sub, two[0],
					   two[1], expr->span);
	}
	return axis->at != NULL;
}

static bool read_axes(struct indexing *ix, const struct tn_expr *expr)
{
	struct frame *frame = ix->frame;
	int rank = ix->value->type->rank;
	int given = 0, at = 0;
	struct tn_diag *diag;
	uint32_t i;

	for (i = 0; i < expr->u.index.len; i++)
		given += expr->u.index.at[i]->kind != TN_INDEX_ELLIPSIS;
	if (given > rank || expr->u.index.len > (uint32_t)given + 1) {
		diag = tn_diag_report(frame->e->sink, TN_E0286, expr->span,
				      "%d indices for %d axes", given, rank);
		tn_diag_also(frame->e->sink, diag, expr->u.index.base->span,
			     "%s", elab_type_text(frame->e, ix->value->type));
		return false;
	}
	for (i = 0; i < expr->u.index.len; i++) {
		const struct tn_index *index = expr->u.index.at[i];
		struct axis *axis = &ix->axes[at];

		if (index->kind == TN_INDEX_ELLIPSIS) {
			at += rank - given;
			continue;
		}
		axis->span = index->span;
		if (index->kind == TN_INDEX_AT) {
			if (!read_at(ix, axis, at == 0, index->first))
				return false;
		} else if (!bound(frame, index->first, &axis->start) ||
			   !bound(frame, index->last, &axis->stop)) {
			return false;
		}
		at++;
	}
	return true;
}

static struct tn_value *slice_axes(struct indexing *ix, struct tn_value *value)
{
	struct tn_dim_pool *pool = &ix->frame->e->module->dims;
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	const struct tn_type *type = value->type;
	struct tn_attr attrs[2];
	bool any = false;
	struct ev ev;
	int i;

	for (i = 0; i < type->rank; i++) {
		start[i] = ix->axes[i].start;
		stop[i] = ix->axes[i].stop;
		if (!start[i])
			start[i] = tn_dim_const(pool, 0);
		if (!stop[i])
			stop[i] = type->dims[i];
		any |= ix->axes[i].start || ix->axes[i].stop;
	}
	if (!any)
		return value;
	attrs[0] = tn_attr_dims("start", type->rank, start);
	attrs[1] = tn_attr_dims("stop", type->rank, stop);
	ev = elab_make(ix->frame, TN_OP_slice, 1, &value, 2, attrs, ix->span);
	return ev.kind == EV_VALUE ? ev.u.value : NULL;
}

static struct tn_value *drop_axes(struct indexing *ix, struct tn_value *value)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	const struct tn_type *type = value->type;
	int rank = 0, i;

	for (i = 0; i < type->rank; i++)
		if (!ix->axes[i].drop)
			dims[rank++] = type->dims[i];
	if (rank == type->rank)
		return value;
	return tn_build_reshape(&ix->frame->b, value, rank, dims, ix->span);
}

static struct tn_value *gather_axes(struct indexing *ix,
				    struct tn_value *value, int rank)
{
	int at = 0, i;

	for (i = 0; i < rank; i++)
		at += !ix->axes[i].drop;
	for (i = rank - 1; i >= 0; i--) {
		struct tn_attr attr;
		struct tn_value *in[2];
		struct ev ev;

		if (ix->axes[i].drop)
			continue;
		at--;
		if (!ix->axes[i].at)
			continue;
		in[0] = value;
		in[1] = ix->axes[i].at;
		attr = tn_attr_int("axis", at);
		ev = elab_make(ix->frame, TN_OP_gather, 2, in, 1, &attr,
			       ix->span);
		if (ev.kind != EV_VALUE)
			return NULL;
		value = ev.u.value;
	}
	return value;
}

/* A member of a family bears its name: w__3, not t__148. */
static void name_member(struct frame *frame, const struct tn_weight *weight,
			struct tn_value *value)
{
	const char *wish;

	if (!value->op || value->is_named || weight->value == value)
		return;
	wish = tn_arena_printf(&frame->e->scratch, "%s__0", weight->name);
	if (wish)
		tn_graph_name(frame->b.fn, value, wish);
}

static struct tn_value *index_value(struct frame *frame,
				    struct tn_value *value,
				    const struct tn_expr *expr)
{
	struct indexing ix = {.frame = frame, .value = value};
	const struct tn_weight *weight;
	struct tn_value *out;

	ix.span = expr->span;
	weight = tn_map_find(&frame->e->origins, value);
	if (weight && weight->family >= 0)
		ix.from = weight->family_from;
	if (!read_axes(&ix, expr))
		return NULL;
	out = slice_axes(&ix, value);
	if (out)
		out = drop_axes(&ix, out);
	if (out)
		out = gather_axes(&ix, out, value->type->rank);
	if (out && weight && weight->family >= 0)
		name_member(frame, weight, out);
	return out;
}

/* A member of a family of structs: each field is indexed. */
static struct ev index_struct(struct frame *frame, const struct ev *base,
			      const struct tn_expr *expr)
{
	int count = base->u.agg.type->nfields;
	struct ev out = *base;
	int i;

	if (!base->u.agg.is_family) {
		tn_diag_report(frame->e->sink, TN_E0286, expr->span,
			       "%s is not a family, it cannot be indexed",
			       ev_text(frame->e, base));
		return ev_poison(expr->span);
	}
	out.span = expr->span;
	out.u.agg.is_family = false;
	out.u.agg.fields = tn_arena_array(&frame->e->scratch,
					  (size_t)count + 1,
					  sizeof(struct tn_value *));
	if (!out.u.agg.fields)
		return ev_poison(expr->span);
	for (i = 0; i < count; i++) {
		out.u.agg.fields[i] = index_value(frame,
						  base->u.agg.fields[i], expr);
		if (!out.u.agg.fields[i])
			return ev_poison(expr->span);
	}
	return out;
}

static struct ev index_list(struct frame *frame, const struct ev *base,
			    const struct tn_expr *expr)
{
	struct ev at;
	int64_t i;

	if (expr->u.index.len == 1 &&
	    expr->u.index.at[0]->kind == TN_INDEX_AT) {
		at = elab_expr(frame, expr->u.index.at[0]->first, ELAB_ANY);
		if (at.kind == EV_POISON)
			return at;
		if (ev_int(&at, &i)) {
			if (i < 0)
				i += base->u.list.len;
			if (i >= 0 && i < base->u.list.len)
				return base->u.list.at[i];
		}
	}
	tn_diag_report(frame->e->sink, TN_E0286, expr->span,
		       "this list of %d has no such element",
		       base->u.list.len);
	return ev_poison(expr->span);
}

static struct ev index_ev(struct frame *frame, struct ev base,
			  const struct tn_expr *expr)
{
	struct tn_value *value;

	if (ev_is_poison(&base))
		return ev_poison(expr->span);
	if (base.kind == EV_STRUCT)
		return index_struct(frame, &base, expr);
	if (base.kind == EV_LIST)
		return index_list(frame, &base, expr);
	value = elab_to_value(frame, &base, ELAB_ANY);
	if (!value)
		return ev_poison(expr->span);
	return ev_value(index_value(frame, value, expr), expr->span);
}

struct ev elab_index(struct frame *frame, const struct tn_expr *expr)
{
	return index_ev(frame, elab_expr(frame, expr->u.index.base, ELAB_ANY),
			expr);
}

/* `x.T` of other languages, and `1.f`. */
static void suggest_field(struct frame *frame, const struct ev *base,
			  const struct tn_expr *expr, struct tn_diag *diag)
{
	const char *help = tn_habit_field(expr->u.field.name.text);

	if (base->kind == EV_DIM || base->kind == EV_BIG ||
	    base->kind == EV_FLOAT)
		help = tn_habit_token("0.");
	if (help)
		tn_diag_help(frame->e->sink, diag, "%s", help);
}

/* The number of the field, or -1 after a report. */
static int find_field(struct frame *frame, const struct ev *base,
		      const struct tn_expr *expr)
{
	const struct tn_fields *fields;
	const char *near, **names;
	struct tn_diag *diag;
	uint32_t i;

	if (base->kind != EV_STRUCT) {
		if (!ev_is_poison(base))
			suggest_field(frame, base, expr, tn_diag_report(
				frame->e->sink, TN_E0205, expr->span,
				"%s has no fields", ev_text(frame->e, base)));
		return -1;
	}
	fields = &base->u.agg.type->item->u.fields;
	for (i = 0; i < fields->len; i++)
		if (fields->at[i]->name.text == expr->u.field.name.text)
			return base->u.agg.type->members ? (int)i : -1;
	diag = tn_diag_report(frame->e->sink, TN_E0205,
			      expr->u.field.name.span,
			      "struct '%s' has no field '%s'",
			      base->u.agg.type->name,
			      expr->u.field.name.text);
	tn_diag_also(frame->e->sink, diag,
		     base->u.agg.type->item->name.span, "declared here");
	names = tn_arena_array(&frame->e->scratch, fields->len + 1,
			       sizeof(*names));
	for (i = 0; names && i < fields->len; i++)
		names[i] = fields->at[i]->name.text;
	near = names ? tn_diag_nearest(expr->u.field.name.text, names,
				       fields->len) : NULL;
	if (near) {
		tn_diag_help(frame->e->sink, diag, "did you mean '%s'?", near);
		tn_diag_fix(frame->e->sink, diag, expr->u.field.name.span,
			    near);
	}
	return -1;
}

/* A tensor, or the struct inside. */
static struct ev field_of(const struct ev *base, int at, struct tn_span span)
{
	const struct member *member = &base->u.agg.type->members[at];
	struct ev out = *base;

	if (!member->type)
		return ev_value(base->u.agg.fields[member->first], span);
	out.span = span;
	out.u.agg.type = member->type;
	out.u.agg.fields = base->u.agg.fields + member->first;
	return out;
}

/* blk[i].w: of a member of a family only the field that is asked for. */
static struct ev member_field(struct frame *frame, const struct tn_expr *expr)
{
	const struct tn_expr *member = expr->u.field.base;
	struct ev family = elab_expr(frame, member->u.index.base, ELAB_ANY);
	struct ev base;
	int at;

	if (family.kind != EV_STRUCT || !family.u.agg.is_family) {
		base = index_ev(frame, family, member);
		at = find_field(frame, &base, expr);
		return at < 0 ? ev_poison(expr->span) :
				field_of(&base, at, expr->span);
	}
	at = find_field(frame, &family, expr);
	if (at < 0)
		return ev_poison(expr->span);
	base = field_of(&family, at, expr->span);
	return base.kind == EV_STRUCT ? index_struct(frame, &base, member) :
		ev_value(index_value(frame, base.u.value, member), expr->span);
}

struct ev elab_field(struct frame *frame, const struct tn_expr *expr)
{
	struct ev base;
	int at;

	if (expr->u.field.base->kind == TN_EXPR_INDEX)
		return member_field(frame, expr);
	base = elab_expr(frame, expr->u.field.base, ELAB_ANY);
	at = find_field(frame, &base, expr);
	return at < 0 ? ev_poison(expr->span) :
			field_of(&base, at, expr->span);
}
