/*
 * Literals: numbers without a type until something gives them one, and lists
 * of numbers as tensor constants.
 */
#include "grammar/elab.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/half.h"
#include "ir/small.h"

/* Least and greatest integer of the type; unsigned 64 bit by hand. */
static void int_range(enum tn_dtype dtype, int64_t *lo, int64_t *hi)
{
	int bits = tn_dtype_bits(dtype);

	if (tn_dtype_holds(dtype, TN_KIND_U)) {
		*lo = 0;
		*hi = bits == 64 ? INT64_MAX : ((int64_t)1 << bits) - 1;
	} else {
		*hi = (int64_t)(((uint64_t)1 << (bits - 1)) - 1);
		*lo = -*hi - 1;
	}
}

static bool is_float(enum tn_dtype dtype)
{
	return tn_dtype_holds(dtype, TN_KIND_F);
}

bool elab_fits(const struct ev *ev, enum tn_dtype dtype)
{
	int64_t lo, hi, value;

	switch (ev->kind) {
	case EV_BOOL:
		return dtype == TN_bool;
	case EV_FLOAT:
		return is_float(dtype);
	case EV_BIG:
		return is_float(dtype) || dtype == TN_u64;
	case EV_DIM:
		if (dtype == TN_bool)
			return false;
		if (is_float(dtype) || !ev_int(ev, &value))
			return true;
		int_range(dtype, &lo, &hi);
		return value >= lo && value <= hi;
	case EV_VALUE:
	case EV_POISON:
	case EV_STRING:
	case EV_ELEM:
	case EV_HOLE:
	case EV_NONE:
	case EV_LIST:
	case EV_TUPLE:
	case EV_STRUCT:
	case EV_CONST:
		break;
	}
	return false;
}

enum tn_dtype elab_default(const struct ev *ev)
{
	enum tn_dtype found = TN_i64;
	int i;

	switch (ev->kind) {
	case EV_BOOL:
		return TN_bool;
	case EV_FLOAT:
		return TN_f32;
	case EV_BIG:
		return TN_u64;
	case EV_VALUE:
		return ev->u.value->type->dtype;
	case EV_CONST:
		return ev->u.typed.type->dtype;
	case EV_LIST:
		for (i = 0; i < ev->u.list.len; i++) {
			enum tn_dtype at = elab_default(&ev->u.list.at[i]);

			if (at != TN_i64)
				found = at;
			if (at == TN_f32)
				break;
		}
		return found;
	case EV_DIM:
	case EV_POISON:
	case EV_STRING:
	case EV_ELEM:
	case EV_HOLE:
	case EV_NONE:
	case EV_TUPLE:
	case EV_STRUCT:
		break;
	}
	return TN_i64;
}

double ev_to_f64(const struct ev *ev)
{
	if (ev->kind == EV_FLOAT)
		return ev->u.real.value;
	if (ev->kind == EV_BIG)
		return (double)ev->u.big;
	if (ev->kind == EV_BOOL)
		return ev->u.truth ? 1.0 : 0.0;
	return ev->kind == EV_DIM && tn_dim_is_const(ev->u.dim) ?
		       (double)ev->u.dim->value : 0.0;
}

double ev_rounds_to(struct tn_elab *e, enum tn_dtype dtype,
		    const struct ev *ev)
{
	double value = ev->u.real.value, odd;
	bool minus;
	char *text;

	if (dtype == TN_f64 || !ev->u.real.text || !isfinite(value))
		return value;
	text = tn_expr_float_text(&e->scratch, ev->u.real.text);
	minus = text && *text == '-';
	if (!text || !tn_num_parse_odd(text + minus, &odd))
		return value;
	return minus ? -odd : odd;
}

/* Stores a number, rounded once. */
static void put_number(struct tn_elab *e, struct tn_tensor *tensor, int64_t at,
		       const struct ev *ev)
{
	if (ev->kind == EV_FLOAT)
		tn_tensor_set_f64(tensor, at,
				  ev_rounds_to(e, tensor->dtype, ev));
	else if (ev->kind == EV_DIM)
		tn_tensor_set_i64(tensor, at, ev->u.dim->value);
	else if (ev->kind == EV_BIG)
		tn_tensor_set_u64(tensor, at, ev->u.big);
	else if (ev->kind == EV_BOOL)
		tn_tensor_set_i64(tensor, at, ev->u.truth);
}

/* Whether a number is one as an element of the type: of floats of 8 bits and
 * fewer up to the greatest, of others what does not become infinite. */
static bool in_range(struct tn_elab *e, enum tn_dtype dtype,
		     const struct ev *ev)
{
	const struct tn_small *small = tn_small_of(dtype);
	double value = ev_to_f64(ev);
	struct tn_tensor narrow;
	double room = 0;

	if (small && isnan(value))
		return small->special != TN_SMALL_NONE;
	if (small && isfinite(value))
		return fabs(value) <= small->greatest &&
			(dtype != TN_f8e8m0 || value > 0);
	if (!is_float(dtype) || !isfinite(value))
		return true;
	tn_tensor_view(&narrow, dtype, 0, NULL, &room);
	put_number(e, &narrow, 0, ev);
	return isfinite(tn_tensor_get_f64(&narrow, 0));
}

static bool put_element(struct frame *frame, struct tn_tensor *tensor,
			int64_t at, const struct ev *ev)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;

	if (ev_is_poison(ev))
		return false;
	if (ev->kind == EV_CONST && ev->u.typed.type->rank == 0 &&
	    ev->u.typed.type->dtype == tensor->dtype)
		ev = ev->u.typed.of;
	if (!elab_fits(ev, tensor->dtype)) {
		diag = tn_diag_report(e->sink, TN_E0281, ev->span,
				      "%s cannot be a %s", ev_text(e, ev),
				      tn_dtype_name(tensor->dtype));
		if (ev->kind == EV_FLOAT)
			tn_diag_help(e->sink, diag,
				     "write a whole number, or cast the other "
				     "operand to a float type");
		else if (ev->kind == EV_DIM || ev->kind == EV_BIG)
			tn_diag_help(e->sink, diag,
				     "literals never wrap: take a wider type");
		return false;
	}
	if (ev->kind == EV_DIM && !tn_dim_is_const(ev->u.dim)) {
		tn_diag_report(e->sink, TN_E0281, ev->span,
			       "%s has no fixed value, a constant tensor needs "
			       "one", ev_text(e, ev));
		return false;
	}
	if (!in_range(e, tensor->dtype, ev)) {
		diag = tn_diag_report(e->sink, TN_E0281, ev->span,
				      "%s leaves the range of %s",
				      ev_text(e, ev),
				      tn_dtype_name(tensor->dtype));
		tn_diag_help(e->sink, diag, tn_small_of(tensor->dtype) ?
			     "take a wider type" :
			     "take a wider type, or write inf");
		return false;
	}
	put_number(e, tensor, at, ev);
	return true;
}

/* Shape of a nested list by its first entries; false if too deep. */
static bool list_shape(const struct ev *ev, int *rank,
		       int64_t shape[TN_MAX_RANK])
{
	*rank = 0;
	while (ev->kind == EV_LIST) {
		if (*rank == TN_MAX_RANK)
			return false;
		shape[(*rank)++] = ev->u.list.len;
		if (ev->u.list.len == 0)
			break;
		ev = &ev->u.list.at[0];
	}
	return true;
}

static bool put_list(struct frame *frame, struct tn_tensor *tensor,
		     const struct ev *ev, int depth, int64_t *at)
{
	int i;

	if (depth == tensor->rank)
		return put_element(frame, tensor, (*at)++, ev);
	if (ev->kind != EV_LIST || ev->u.list.len != tensor->shape[depth]) {
		tn_diag_report(frame->e->sink, TN_E0288, ev->span,
			       "expected a list of %" PRId64 ", as the first "
			       "of its neighbours is", tensor->shape[depth]);
		return false;
	}
	for (i = 0; i < ev->u.list.len; i++)
		if (!put_list(frame, tensor, &ev->u.list.at[i], depth + 1, at))
			return false;
	return true;
}

/* `[]` is any tensor without elements, if its type is written. */
static bool is_empty(const struct tn_tensor *tensor, const struct ev *ev)
{
	return ev->kind == EV_LIST && ev->u.list.len == 0 &&
	       tn_tensor_count(tensor) == 0;
}

/* A constant of numbers alone. */
static struct tn_value *make_const(struct frame *frame, const struct ev *ev,
				   enum tn_dtype dtype,
				   const struct tn_type *type)
{
	struct tn_value *value = NULL;
	struct tn_tensor tensor;
	int64_t shape[TN_MAX_RANK] = {0};
	int64_t at = 0;
	int rank, i;

	if (!list_shape(ev, &rank, shape)) {
		tn_diag_report(frame->e->sink, TN_E0288, ev->span,
			       "lists nest at most %d deep", TN_MAX_RANK);
		return NULL;
	}
	if (type) {
		rank = type->rank;
		for (i = 0; i < rank; i++)
			shape[i] = type->dims[i]->value;
	}
	if (!tn_tensor_init(&tensor, dtype, rank, shape)) {
		frame->e->module->failed = true;
		return NULL;
	}
	if (is_empty(&tensor, ev) || put_list(frame, &tensor, ev, 0, &at))
		value = tn_build_const(&frame->b, &tensor, ev->span);
	tn_tensor_fini(&tensor);
	return value;
}

struct ev elab_bitcast(struct frame *frame, const struct ev *ev,
		       enum tn_dtype dtype, struct tn_span span)
{
	struct tn_value *bits = elab_to_value(frame, ev, ELAB_ANY), *value;
	struct tn_tensor tensor;

	if (!bits)
		return ev_poison(span);
	tensor = *bits->op->literal;
	tensor.dtype = dtype;
	tensor.owned = false;
	tn_graph_remove(bits->op);
	value = tn_build_const(&frame->b, &tensor, span);
	return ev_value(value, span);
}

static struct tn_value *dim_value(struct frame *frame, const struct ev *ev,
				  enum tn_dtype dtype)
{
	struct tn_attr attrs[2] = {tn_attr_dim("value", ev->u.dim),
				   tn_attr_dtype("elem", dtype)};
	struct tn_op *op;

	op = tn_build_op(&frame->b, TN_OP_dim, 0, NULL, 2, attrs, ev->span);
	return op && op->nout ? op->out[0] : NULL;
}

static bool has_value(const struct ev *ev)
{
	int i;

	if (ev->kind == EV_VALUE)
		return true;
	for (i = 0; ev->kind == EV_LIST && i < ev->u.list.len; i++)
		if (has_value(&ev->u.list.at[i]))
			return true;
	return false;
}

struct tn_value *elab_to_value(struct frame *frame, const struct ev *ev,
			       enum tn_dtype want)
{
	enum tn_dtype dtype = want != ELAB_ANY ? want : elab_default(ev);
	struct tn_elab *e = frame->e;

	if (ev_is_poison(ev))
		return NULL;
	if (!frame->b.block) {
		tn_diag_report(e->sink, TN_E0222, ev->span,
			       "this cannot be computed here, where a "
			       "constant is due");
		return NULL;
	}
	switch (ev->kind) {
	case EV_VALUE:
		if (!ev->soft || want == ELAB_ANY ||
		    ev->u.value->type->dtype == want)
			return ev->u.value;
		return tn_build_cast(&frame->b, ev->u.value, want, ev->span);
	case EV_DIM:
		if (!tn_dim_is_const(ev->u.dim))
			return dim_value(frame, ev, dtype);
		return make_const(frame, ev, dtype, NULL);
	case EV_BIG:
	case EV_FLOAT:
	case EV_BOOL:
		return make_const(frame, ev, dtype, NULL);
	case EV_LIST:
		if (!has_value(ev))
			return make_const(frame, ev, dtype, NULL);
		break;
	case EV_CONST:
		return make_const(frame, ev->u.typed.of,
				  ev->u.typed.type->dtype, ev->u.typed.type);
	case EV_TUPLE:
		tn_diag_report(e->sink, TN_E0212, ev->span,
			       "%d results where one value is due",
			       ev->u.list.len);
		return NULL;
	case EV_POISON:
		return NULL;
	case EV_STRING:
	case EV_ELEM:
	case EV_HOLE:
	case EV_NONE:
	case EV_STRUCT:
		break;
	}
	tn_diag_report(e->sink, TN_E0206, ev->span,
		       "%s is not a tensor", ev_text(e, ev));
	return NULL;
}

/* A literal with a suffix has its type at once. */
static struct ev suffixed(struct frame *frame, const struct ev *ev,
			  const char *suffix, struct tn_span span)
{
	enum tn_dtype dtype = tn_dtype_find(suffix);
	struct ev typed, *of;

	if (dtype == TN_DTYPE_COUNT) {
		tn_diag_report(frame->e->sink, TN_E0215, span,
			       "'%s' is no element type", suffix);
		return ev_poison(span);
	}
	if (!elab_fits(ev, dtype)) {
		tn_diag_report(frame->e->sink, TN_E0281, span,
			       "%s cannot be a %s", ev_text(frame->e, ev),
			       suffix);
		return ev_poison(span);
	}
	typed = *ev;
	of = tn_arena_copy(&frame->e->scratch, ev, sizeof(*ev));
	typed.kind = EV_CONST;
	typed.u.typed.of = of;
	typed.u.typed.type = tn_type_get(frame->e->module, dtype, 0, NULL);
	return of && typed.u.typed.type ? typed : ev_poison(span);
}

static struct ev integer(struct frame *frame, const struct tn_expr *expr)
{
	uint64_t value = expr->u.integer.value;
	struct ev ev = {.kind = EV_BIG, .span = expr->span};
	int64_t number;

	ev.u.big = value;
	if (expr->negative) {
		if (value > (uint64_t)INT64_MAX + 1) {
			tn_diag_report(frame->e->sink, TN_E0281, expr->span,
				       "the number is below the least i64");
			return ev_poison(expr->span);
		}
		number = value == 0 ? 0 : -(int64_t)(value - 1) - 1;
		return ev_dim(tn_dim_const(&frame->e->module->dims, number),
			      expr->span);
	}
	if (value > INT64_MAX)
		return ev;
	return ev_dim(tn_dim_const(&frame->e->module->dims, (int64_t)value),
		      expr->span);
}

struct ev elab_literal(struct frame *frame, const struct tn_expr *expr)
{
	struct ev ev = {.kind = EV_FLOAT, .span = expr->span};

	if (expr->kind == TN_EXPR_INT) {
		ev = integer(frame, expr);
		if (expr->u.integer.suffix && ev.kind != EV_POISON)
			return suffixed(frame, &ev, expr->u.integer.suffix,
					expr->span);
		return ev;
	}
	ev.u.real.value = expr->negative ? -expr->u.real.value :
					   expr->u.real.value;
	ev.u.real.text = expr;
	if (expr->u.real.suffix)
		return suffixed(frame, &ev, expr->u.real.suffix, expr->span);
	return ev;
}
