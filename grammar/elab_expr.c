/*
 * Expressions: infix operators, literals and what they adopt. Nothing is
 * promoted: operands of two types are an error that offers a cast.
 */
#include "grammar/elab.h"

#include <math.h>
#include <string.h>

static struct ev ev_float(double value, struct tn_span span)
{
	struct ev ev = {.kind = EV_FLOAT, .span = span};

	ev.u.real.value = value;
	return ev;
}

static struct ev ev_bool(bool truth, struct tn_span span)
{
	struct ev ev = {.kind = EV_BOOL, .span = span};

	ev.u.truth = truth;
	return ev;
}

static bool is_compare(enum tn_infix op)
{
	return tn_infix_has(op, TN_INFIX_COMPARES);
}

static bool compare(enum tn_infix op, int order)
{
	if (op == TN_INFIX_EQ)
		return order == 0;
	if (op == TN_INFIX_NE)
		return order != 0;
	if (op == TN_INFIX_LT)
		return order < 0;
	if (op == TN_INFIX_GT)
		return order > 0;
	return op == TN_INFIX_LE ? order <= 0 : order >= 0;
}

static bool fold_ints(struct frame *frame, enum tn_infix op, int64_t a,
		      int64_t b, struct tn_span span, struct ev *out)
{
	struct tn_dim_pool *pool = &frame->e->module->dims;
	int64_t value = 1;

	if (is_compare(op)) {
		*out = ev_bool(compare(op, (a > b) - (a < b)), span);
		return true;
	}
	if (op == TN_INFIX_POW && b >= 0 && b < 64) {
		while (b-- > 0)
			if (!tn_num_mul(value, a, &value))
				return false;
	} else if (op == TN_INFIX_BITAND) {
		value = a & b;
	} else if (op == TN_INFIX_BITOR) {
		value = a | b;
	} else if (op == TN_INFIX_BITXOR) {
		value = a ^ b;
	} else if (op == TN_INFIX_SHL && a >= 0 && b >= 0 && b < 62 &&
		   a <= INT64_MAX >> b) {
		value = a << b;
	} else if (op == TN_INFIX_SHR && b >= 0 && b < 63) {
		value = a >= 0 ? a >> b : -1 - ((-1 - a) >> b);
	} else {
		return false;
	}
	*out = ev_dim(tn_dim_const(pool, value), span);
	return true;
}

static bool fold_floats(enum tn_infix op, double a, double b,
			struct tn_span span, struct ev *out)
{
	if (is_compare(op)) {
		*out = ev_bool(op == TN_INFIX_NE ? a != b :
			       op == TN_INFIX_EQ ? a == b :
			       op == TN_INFIX_LT ? a < b :
			       op == TN_INFIX_GT ? a > b :
			       op == TN_INFIX_LE ? a <= b : a >= b, span);
		return true;
	}
	if (op == TN_INFIX_ADD)
		*out = ev_float(a + b, span);
	else if (op == TN_INFIX_SUB)
		*out = ev_float(a - b, span);
	else if (op == TN_INFIX_MUL)
		*out = ev_float(a * b, span);
	else if (op == TN_INFIX_DIV)
		*out = ev_float(a / b, span);
	else if (op == TN_INFIX_POW)
		*out = ev_float(pow(a, b), span);
	else
		return false;
	return true;
}

static bool is_number(const struct ev *ev)
{
	return ev->kind == EV_FLOAT || ev->kind == EV_BIG ||
	       (ev->kind == EV_DIM && tn_dim_is_const(ev->u.dim));
}

static bool same_lists(const struct ev *a, const struct ev *b)
{
	int i;

	if (a->u.list.len != b->u.list.len)
		return false;
	for (i = 0; i < a->u.list.len; i++) {
		int64_t x, y;

		if (!ev_int(&a->u.list.at[i], &x) ||
		    !ev_int(&b->u.list.at[i], &y) || x != y)
			return false;
	}
	return true;
}

/* Operators on what is known now; false: make it at run time. */
static bool fold(struct frame *frame, enum tn_infix op,
		 const struct ev *a, const struct ev *b, struct tn_span span,
		 struct ev *out)
{
	bool equal = op == TN_INFIX_EQ || op == TN_INFIX_NE;
	int64_t x, y;

	if (a->kind == EV_STRING && b->kind == EV_STRING && equal) {
		*out = ev_bool((a->u.string == b->u.string) ==
			       (op == TN_INFIX_EQ), span);
		return true;
	}
	if (a->kind == EV_ELEM && b->kind == EV_ELEM && equal) {
		*out = ev_bool((a->u.elem == b->u.elem) == (op == TN_INFIX_EQ),
			       span);
		return true;
	}
	if (a->kind == EV_LIST && b->kind == EV_LIST && equal) {
		*out = ev_bool(same_lists(a, b) == (op == TN_INFIX_EQ), span);
		return true;
	}
	if (a->kind == EV_BOOL && b->kind == EV_BOOL) {
		bool p = a->u.truth, q = b->u.truth;

		if (op == TN_INFIX_AND || op == TN_INFIX_BITAND)
			*out = ev_bool(p && q, span);
		else if (op == TN_INFIX_OR || op == TN_INFIX_BITOR)
			*out = ev_bool(p || q, span);
		else if (op == TN_INFIX_BITXOR || op == TN_INFIX_NE)
			*out = ev_bool(p != q, span);
		else if (op == TN_INFIX_EQ)
			*out = ev_bool(p == q, span);
		else
			return false;
		return true;
	}
	if (ev_int(a, &x) && ev_int(b, &y) &&
	    fold_ints(frame, op, x, y, span, out))
		return true;
	if (a->kind == EV_DIM && b->kind == EV_DIM &&
	    (op == TN_INFIX_ADD || op == TN_INFIX_SUB || op == TN_INFIX_MUL ||
	     op == TN_INFIX_FLOORDIV || op == TN_INFIX_MOD)) {
		*out = ev_dim(elab_dim_binary(frame, op, a->u.dim, b->u.dim,
					      span), span);
		return true;
	}
	if (elab_list_binary(frame, op, a, b, span, out))
		return true;
	if (is_number(a) && is_number(b) &&
	    (a->kind == EV_FLOAT || b->kind == EV_FLOAT))
		return fold_floats(op, ev_to_f64(a), ev_to_f64(b), span, out);
	return false;
}

/* The types of all operands, for a message. */
static void operand_labels(struct tn_elab *e, struct tn_diag *diag, int count,
			   const struct ev *in)
{
	int i;

	for (i = 0; i < count; i++)
		tn_diag_also(e->sink, diag, in[i].span, "%s",
			     ev_text(e, &in[i]));
}

static void report_mixed(struct frame *frame, int count, const struct ev *in,
			 enum tn_dtype first, const struct ev *other,
			 struct tn_span span, const char *what)
{
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;

	diag = tn_diag_report(e->sink, TN_E0280, span,
			      "'%s' takes operands of one type, not %s and "
			      "%s", what, tn_dtype_name(first),
			      tn_dtype_name(elab_default(other)));
	operand_labels(e, diag, count, in);
	tn_diag_help(e->sink, diag,
		     "nothing is converted silently: write cast(.., %s)",
		     tn_dtype_name(first));
}

bool elab_adopt(struct frame *frame, int count, const struct ev *in,
		struct tn_value **out, enum tn_dtype want,
		struct tn_span span, const char *what)
{
	enum tn_dtype dtype = ELAB_ANY, fallback = ELAB_ANY;
	int i;

	for (i = 0; i < count; i++) {
		enum tn_dtype at;

		if (ev_is_poison(&in[i]))
			return false;
		if (in[i].kind != EV_VALUE && in[i].kind != EV_CONST)
			continue;
		if (in[i].soft) {
			fallback = in[i].u.value->type->dtype;
			continue;
		}
		at = elab_default(&in[i]);
		if (dtype == ELAB_ANY) {
			dtype = at;
		} else if (at != dtype) {
			report_mixed(frame, count, in, dtype, &in[i], span,
				     what);
			return false;
		}
	}
	for (i = 0; dtype == ELAB_ANY && i < count; i++) {
		enum tn_dtype at = elab_default(&in[i]);

		if (at == TN_f32)
			fallback = TN_f32;
		else if (fallback == ELAB_ANY || at == TN_u64)
			fallback = at;
	}
	if (dtype == ELAB_ANY)
		dtype = want != ELAB_ANY ? want : fallback;
	for (i = 0; i < count; i++) {
		out[i] = elab_to_value(frame, &in[i], dtype);
		if (!out[i] || tn_type_is_poison(out[i]->type))
			return false;
	}
	return true;
}

/* `/` on integers and `//`, `%` on floats have an own answer. */
static bool check_division(struct frame *frame, enum tn_infix op,
			   const struct tn_value *const *in, const struct ev *a,
			   const struct ev *b, struct tn_span span)
{
	enum tn_dtype dtype = in[0]->type->dtype;
	struct tn_elab *e = frame->e;
	struct tn_diag *diag;
	struct ev both[2];

	both[0] = *a;
	both[1] = *b;
	if (op == TN_INFIX_DIV && tn_dtype_is(dtype, TN_KIND_INT)) {
		diag = tn_diag_report(e->sink, TN_E0284, span,
				      "`/` is for floats, these are %s",
				      tn_dtype_name(dtype));
		operand_labels(e, diag, 2, both);
		tn_diag_help(e->sink, diag,
			     "write `//` for the floor quotient, tdiv(a, b) "
			     "for the truncated one, or cast to a float");
		return false;
	}
	if ((op == TN_INFIX_FLOORDIV || op == TN_INFIX_MOD) &&
	    tn_dtype_is(dtype, TN_KIND_F)) {
		diag = tn_diag_report(e->sink, TN_E0284, span,
				      "`%s` is for integers, these are %s",
				      tn_infixes[op].text,
				      tn_dtype_name(dtype));
		operand_labels(e, diag, 2, both);
		tn_diag_help(e->sink, diag, op == TN_INFIX_MOD ?
			     "write rem(a, b) for the remainder of floats" :
			     "write floor(a / b) for floats");
		return false;
	}
	return true;
}

/* `&&`, `||` and `!` are for bools. */
static bool check_logical(struct frame *frame, enum tn_infix op,
			  const struct tn_value *value, struct tn_span span)
{
	bool logical = tn_infix_has(op, TN_INFIX_LOGICAL);
	bool bits = tn_infix_has(op, TN_INFIX_BITS);
	bool is_bool = value->type->dtype == TN_bool;
	struct tn_diag *diag;

	if ((!logical || is_bool) && (!bits || !is_bool))
		return true;
	diag = tn_diag_report(frame->e->sink, TN_E0285, span,
			      "`%s` is for %s, not for %s",
			      tn_infixes[op].text,
			      logical ? "bools" : "integers",
			      tn_dtype_name(value->type->dtype));
	tn_diag_help(frame->e->sink, diag, "%s",
		     logical ? "write `&`, `|` or `~` for the bits of integers"
			       : "write `!` for bools");
	return false;
}

struct ev elab_binary(struct frame *frame, enum tn_infix op,
		      const struct ev *left, const struct ev *right,
		      enum tn_dtype want, struct tn_span span)
{
	struct tn_value *in[2], *swapped[2];
	struct ev both[2], out;
	bool swap, soft;

	if (ev_is_poison(left) || ev_is_poison(right))
		return ev_poison(span);
	if (fold(frame, op, left, right, span, &out))
		return out;
	if (op == TN_INFIX_APPROX) {
		tn_diag_report(frame->e->sink, TN_E0223, span,
			       "`~=` belongs into an `expect` of a test");
		return ev_poison(span);
	}
	both[0] = *left;
	both[1] = *right;
	if (is_compare(op))
		want = ELAB_ANY;
	if (!elab_adopt(frame, 2, both, in, want, span, tn_infixes[op].text))
		return ev_poison(span);
	if (!check_division(frame, op, (const struct tn_value *const *)in,
			    left, right, span) ||
	    !check_logical(frame, op, in[0], span))
		return ev_poison(span);
	swap = tn_infix_has(op, TN_INFIX_SWAPS);
	soft = ev_is_literal(left) && ev_is_literal(right);
	swapped[0] = in[swap];
	swapped[1] = in[!swap];
	out = elab_make(frame, tn_infixes[op].op, 2, swapped, 0, NULL, span);
	if (tn_infix_has(op, TN_INFIX_NEGATES) && out.kind == EV_VALUE)
		out = elab_make(frame, TN_OP_not, 1, &out.u.value, 0, NULL,
				span);
	out.soft = soft && out.kind == EV_VALUE && !is_compare(op);
	return out;
}

static struct ev unary(struct frame *frame, const struct tn_expr *expr,
		       enum tn_dtype want)
{
	enum tn_infix op = expr->op;
	struct ev in = elab_expr(frame, expr->u.binary.left, want);
	struct tn_value *value;
	const struct tn_dim *zero;
	struct ev out;

	if (ev_is_poison(&in))
		return in;
	if (op == TN_INFIX_NOT && in.kind == EV_BOOL)
		return ev_bool(!in.u.truth, expr->span);
	if (op == TN_INFIX_NEG && in.kind == EV_FLOAT)
		return ev_float(-in.u.real.value, expr->span);
	if (op == TN_INFIX_NEG && in.kind == EV_DIM) {
		zero = tn_dim_const(&frame->e->module->dims, 0);
		return ev_dim(zero ? elab_dim_binary(frame, TN_INFIX_SUB, zero,
						     in.u.dim, expr->span) :
				     NULL, expr->span);
	}
	if (op == TN_INFIX_NEG && in.kind == EV_BIG) {
		tn_diag_report(frame->e->sink, TN_E0281, expr->span,
			       "the number is below the least i64");
		return ev_poison(expr->span);
	}
	value = elab_to_value(frame, &in,
			      in.kind == EV_VALUE ? ELAB_ANY : want);
	if (!value || !check_logical(frame, op, value, expr->span))
		return ev_poison(expr->span);
	out = elab_make(frame, tn_infixes[op].op, 1, &value, 0, NULL,
			expr->span);
	out.soft = in.soft && out.kind == EV_VALUE;
	return out;
}

static struct ev list(struct frame *frame, const struct tn_expr *expr,
		      enum tn_dtype want)
{
	struct tn_vec at;
	struct ev out, *slot;
	const struct bind *bind;
	uint32_t i;
	int j;

	tn_vec_init(&at, sizeof(struct ev), NULL);
	for (i = 0; i < expr->u.list.len; i++) {
		const struct tn_expr *item = expr->u.list.at[i];

		if (item->kind != TN_EXPR_PACK) {
			struct ev ev = elab_expr(frame, item, want);

			slot = elab_push(frame->e, &at);
			if (slot)
				*slot = ev;
			continue;
		}
		bind = frame_find(frame, item->u.name);
		if (!bind || bind->ev.kind != EV_LIST) {
			tn_diag_report(frame->e->sink, TN_E0201, item->span,
				       "no pack or list is named '%s' here",
				       item->u.name);
			tn_vec_fini(&at);
			return ev_poison(expr->span);
		}
		for (j = 0; j < bind->ev.u.list.len; j++) {
			slot = elab_push(frame->e, &at);
			if (slot)
				*slot = bind->ev.u.list.at[j];
		}
	}
	out = ev_list(frame->e, at.data, (int)at.len, expr->span);
	tn_vec_fini(&at);
	if (expr->kind == TN_EXPR_TUPLE && out.kind == EV_LIST)
		out.kind = EV_TUPLE;
	return out;
}

/* The type that literals on the other side of an operator take: that of the
 * value if it has one of its own, else `hint`. */
static enum tn_dtype type_or(const struct ev *ev, enum tn_dtype hint)
{
	bool is_own = (ev->kind == EV_VALUE && !ev->soft &&
		       !tn_type_is_poison(ev->u.value->type)) ||
		      ev->kind == EV_CONST;

	return is_own ? elab_default(ev) : hint;
}

/* The same for an operand that was not evaluated yet, if it is a name. */
static enum tn_dtype known_type(const struct frame *frame,
				const struct tn_expr *expr,
				enum tn_dtype hint)
{
	const struct bind *bind = expr->kind == TN_EXPR_NAME ?
				  frame_find(frame, expr->u.name) : NULL;

	return bind ? type_or(&bind->ev, hint) : hint;
}

struct ev elab_expr(struct frame *frame, const struct tn_expr *expr,
		    enum tn_dtype want)
{
	struct ev left, right;
	enum tn_dtype hint;

	left.span = expr->span;
	switch ((enum tn_expr_kind)expr->kind) {
	case TN_EXPR_NAME:
		return elab_name(frame, expr->u.name, expr->span);
	case TN_EXPR_ELEM:
		left = ev_poison(expr->span);
		left.u.elem = tn_dtype_find(expr->u.name);
		left.kind = EV_ELEM;
		return left;
	case TN_EXPR_INT:
	case TN_EXPR_FLOAT:
		return elab_literal(frame, expr);
	case TN_EXPR_STRING:
		left = ev_poison(expr->span);
		left.u.string = expr->u.name;
		left.kind = EV_STRING;
		return left;
	case TN_EXPR_BOOL:
		return ev_bool(expr->u.truth, expr->span);
	case TN_EXPR_TUPLE:
	case TN_EXPR_LIST:
		return list(frame, expr, want);
	case TN_EXPR_PACK:
		tn_diag_report(frame->e->sink, TN_E0206, expr->span,
			       "a pack stands in lists only");
		return ev_poison(expr->span);
	case TN_EXPR_CALL:
		return elab_call(frame, expr, want);
	case TN_EXPR_FIELD:
		return elab_field(frame, expr);
	case TN_EXPR_INDEX:
		return elab_index(frame, expr);
	case TN_EXPR_UNARY:
		return unary(frame, expr, want);
	case TN_EXPR_BINARY:
		hint = is_compare(expr->op) ? ELAB_ANY : want;
		left = elab_expr(frame, expr->u.binary.left,
				 known_type(frame, expr->u.binary.right,
					    hint));
		right = elab_expr(frame, expr->u.binary.right,
				  type_or(&left, hint));
		return elab_binary(frame, expr->op, &left, &right, want,
				   expr->span);
	}
	return ev_poison(expr->span);
}

struct tn_value *elab_expr_value(struct frame *frame,
				 const struct tn_expr *expr,
				 enum tn_dtype want)
{
	struct ev ev = elab_expr(frame, expr, want);

	return elab_to_value(frame, &ev, want);
}
