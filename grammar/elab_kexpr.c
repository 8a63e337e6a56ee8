/*
 * Scalar expressions of kernels. Infix on i64 is index arithmetic; calls are
 * the operators of the language, which wrap.
 */
#include "grammar/elab_kernel.h"

#include <math.h>
#include <string.h>

static struct kv make(const struct tn_kexpr *e, bool soft,
		      struct tn_span span)
{
	struct kv kv = {e, soft, span};

	return kv;
}

static struct kv failed(struct tn_span span)
{
	return make(NULL, false, span);
}

const struct tn_kexpr *elab_kexpr_retype(struct kctx *k, const struct kv *kv,
					 enum tn_dtype dtype)
{
	const struct tn_kexpr *e = kv->e;

	if (!e || e->dtype == dtype)
		return e;
	if (kv->soft && tn_dtype_is(dtype, TN_KIND_F))
		return tn_kexpr_float(k->kernel, dtype,
				      e->kind == TN_KEXPR_FLOAT ?
				      e->f : (double)e->i);
	if (kv->soft && e->kind == TN_KEXPR_INT &&
	    tn_dtype_is(dtype, TN_KIND_INT))
		return tn_kexpr_int(k->kernel, dtype, e->i);
	tn_diag_report(k->e->sink, TN_E0232, kv->span,
		       "this is %s, a %s is due", tn_dtype_name(e->dtype),
		       tn_dtype_name(dtype));
	return NULL;
}

const struct tn_kexpr *elab_kexpr_as(struct kctx *k,
				     const struct tn_expr *expr,
				     enum tn_dtype dtype)
{
	struct kv kv = elab_kexpr(k, expr);

	return elab_kexpr_retype(k, &kv, dtype);
}

/* Both operands in one type: a literal takes that of the other. */
static bool agree(struct kctx *k, struct kv *a, struct kv *b)
{
	if (!a->e || !b->e)
		return false;
	if (a->soft && (!b->soft || b->e->dtype == TN_f32))
		a->e = elab_kexpr_retype(k, a, b->e->dtype);
	else
		b->e = elab_kexpr_retype(k, b, a->e->dtype);
	return a->e && b->e;
}

/* ---- Leaves ------------------------------------------------------------ */

static struct kv literal(struct kctx *k, const struct tn_expr *expr)
{
	bool is_int = expr->kind == TN_EXPR_INT;
	const char *suffix = is_int ? expr->u.integer.suffix :
				      expr->u.real.suffix;
	enum tn_dtype dtype = is_int ? TN_i64 : TN_f32;
	struct ev number = {.kind = EV_FLOAT, .span = expr->span};
	int64_t value;

	if (suffix)
		dtype = tn_dtype_find(suffix);
	if (dtype == TN_DTYPE_COUNT)
		return failed(expr->span);
	if (is_int) {
		uint64_t bits = expr->u.integer.value;

		value = (int64_t)(expr->negative ? 0 - bits : bits);
		if (tn_dtype_is(dtype, TN_KIND_F))
			return make(tn_kexpr_float(k->kernel, dtype,
						   expr->negative ?
						   -(double)bits :
						   (double)bits),
				    false, expr->span);
		return make(tn_kexpr_int(k->kernel, dtype, value), !suffix,
			    expr->span);
	}
	number.u.real.value = expr->negative ? -expr->u.real.value :
					       expr->u.real.value;
	number.u.real.text = suffix ? expr : NULL;
	if (!tn_dtype_is(dtype, TN_KIND_F)) {
		tn_diag_report(k->e->sink, TN_E0232, expr->span,
			       "a fraction cannot be %s",
			       tn_dtype_name(dtype));
		return failed(expr->span);
	}
	return make(tn_kexpr_float(k->kernel, dtype,
				   ev_rounds_to(k->e, dtype, &number)),
		    !suffix, expr->span);
}

/* A constant of the file; ELAB_ANY: without a type of its own. */
static struct kv constant(struct kctx *k, const struct ev *ev,
			  enum tn_dtype dtype, struct tn_span span)
{
	bool soft = dtype == ELAB_ANY && ev->kind != EV_BOOL;
	int64_t value = 0;

	if (dtype == ELAB_ANY)
		dtype = elab_default(ev);
	if (tn_dtype_is(dtype, TN_KIND_F))
		return make(tn_kexpr_float(k->kernel, dtype, ev_to_f64(ev)),
			    soft, span);
	if (ev->kind == EV_BOOL)
		value = ev->u.truth;
	else if (ev->kind == EV_BIG)
		value = (int64_t)ev->u.big;
	else
		ev_int(ev, &value);
	return make(tn_kexpr_int(k->kernel, dtype, value), soft, span);
}

static struct kv name(struct kctx *k, const struct tn_expr *expr)
{
	const struct kname *found = tn_map_find(&k->names, expr->u.name);
	struct tn_diag *diag;
	struct ev ev;

	if (found && found->var)
		return make(tn_kexpr_var(k->kernel, found->var), false,
			    expr->span);
	if (found && found->buf->rank == 0)
		return make(tn_kexpr_load(k->kernel, found->buf, 0, NULL),
			    false, expr->span);
	if (found) {
		diag = tn_diag_report(k->e->sink, TN_E0232, expr->span,
				      "'%s' is a buffer of %d axes",
				      found->name, found->buf->rank);
		tn_diag_help(k->e->sink, diag, "take an element: %s[i, ..]",
			     found->name);
		return failed(expr->span);
	}
	ev = elab_name(&k->frame, expr->u.name, expr->span);
	if (ev.kind == EV_CONST && ev.u.typed.type->rank == 0)
		return constant(k, ev.u.typed.of, ev.u.typed.type->dtype,
				expr->span);
	if (ev.kind == EV_FLOAT || ev.kind == EV_BOOL)
		return constant(k, &ev, ELAB_ANY, expr->span);
	if (ev.kind == EV_DIM && tn_dim_is_const(ev.u.dim))
		return make(tn_kexpr_int(k->kernel, TN_i64, ev.u.dim->value),
			    true, expr->span);
	if (ev.kind == EV_DIM)
		return make(tn_kexpr_dim(k->kernel, ev.u.dim), false,
			    expr->span);
	if (ev.kind != EV_POISON)
		tn_diag_report(k->e->sink, TN_E0232, expr->span,
			       "a kernel cannot use %s",
			       ev_text(k->e, &ev));
	return failed(expr->span);
}

bool elab_kexpr_index(struct kctx *k, const struct tn_expr *expr,
		      const struct tn_kbuf *buf,
		      const struct tn_kexpr *out[TN_MAX_RANK])
{
	uint32_t i;

	if (expr->u.index.len != (uint32_t)buf->rank) {
		tn_diag_report(k->e->sink, TN_E0232, expr->span,
			       "'%s' has %d axes, here are %u indices",
			       buf->name, buf->rank, expr->u.index.len);
		return false;
	}
	for (i = 0; i < expr->u.index.len; i++) {
		const struct tn_index *index = expr->u.index.at[i];

		if (index->kind != TN_INDEX_AT) {
			tn_diag_report(k->e->sink, TN_E0231, index->span,
				       "a kernel reads one element at a time");
			return false;
		}
		out[i] = elab_kexpr_as(k, index->first, TN_i64);
		if (!out[i])
			return false;
	}
	return true;
}

static struct kv load(struct kctx *k, const struct tn_expr *expr)
{
	const struct tn_kexpr *index[TN_MAX_RANK], *e;
	const struct tn_expr *base = expr->u.index.base;
	const struct kname *found = base->kind == TN_EXPR_NAME ?
				    tn_map_find(&k->names, base->u.name) :
				    NULL;

	if (!found || !found->buf) {
		tn_diag_report(k->e->sink, TN_E0231, base->span,
			       "only a buffer of the kernel can be indexed");
		return failed(expr->span);
	}
	if (!elab_kexpr_index(k, expr, found->buf, index))
		return failed(expr->span);
	e = tn_kexpr_load(k->kernel, found->buf, found->buf->rank, index);
	if (e)
		elab_map(k->e, &k->places, e, (void *)(uintptr_t)expr);
	return make(e, false, expr->span);
}

/* ---- Operators --------------------------------------------------------- */

static struct kv op(struct kctx *k, enum tn_opcode code, enum tn_dtype dtype,
		    int count, const struct tn_kexpr *const *args,
		    struct tn_span span)
{
	return make(tn_kexpr_op(k->kernel, code, dtype, count, args), false,
		    span);
}

static bool is_scalar(enum tn_opcode code)
{
	return code != TN_OP_none && tn_ops[code].op_class == TN_CLASS_MAP;
}

static bool check_kind(struct kctx *k, enum tn_opcode code,
		       const struct kv *kv)
{
	enum tn_dtype dtype = kv->e->dtype;

	if (tn_dtype_is(dtype, (enum tn_kind)tn_ops[code].kinds) ||
	    tn_ops[code].drule == TN_DRULE_ELEM)
		return true;
	tn_diag_report(k->e->sink, TN_E0232, kv->span,
		       "'%s' is not defined for %s", tn_ops[code].name,
		       tn_dtype_name(dtype));
	return false;
}

/* Index arithmetic on i64; NULL: not this operator. */
static const struct tn_kexpr *index_binary(struct kctx *k,
					   enum tn_infix sign,
					   const struct tn_kexpr *a,
					   const struct tn_kexpr *b)
{
	if (sign == TN_INFIX_ADD)
		return tn_kexpr_add(k->kernel, a, b);
	if (sign == TN_INFIX_SUB)
		return tn_kexpr_sub(k->kernel, a, b);
	if (sign == TN_INFIX_MUL)
		return tn_kexpr_mul(k->kernel, a, b);
	if (sign == TN_INFIX_FLOORDIV)
		return tn_kexpr_fdiv(k->kernel, a, b);
	return sign == TN_INFIX_MOD ? tn_kexpr_mod(k->kernel, a, b) : NULL;
}

static struct kv binary(struct kctx *k, const struct tn_expr *expr)
{
	const struct tn_infix_info *sign = &tn_infixes[expr->op];
	struct kv a = elab_kexpr(k, expr->u.binary.left), b, out;
	bool swaps = sign->how & TN_INFIX_SWAPS, soft;
	const struct tn_kexpr *args[2], *index;
	enum tn_dtype dtype;

	b = elab_kexpr(k, expr->u.binary.right);
	soft = a.soft && b.soft;
	if (!agree(k, &a, &b))
		return failed(expr->span);
	if (!is_scalar(sign->op)) {
		tn_diag_report(k->e->sink, TN_E0231, expr->span,
			       "a kernel has no operator `%s`", sign->text);
		return failed(expr->span);
	}
	if (a.e->dtype == TN_i64) {
		index = index_binary(k, expr->op, a.e, b.e);
		if (index)
			return make(index, soft &&
				    index->kind == TN_KEXPR_INT, expr->span);
	}
	if (!check_kind(k, sign->op, &a))
		return failed(expr->span);
	args[0] = swaps ? b.e : a.e;
	args[1] = swaps ? a.e : b.e;
	dtype = tn_ops[sign->op].drule == TN_DRULE_BOOL ? TN_bool : a.e->dtype;
	out = op(k, sign->op, dtype, 2, args, expr->span);
	if (sign->how & TN_INFIX_NEGATES)
		out = op(k, TN_OP_not, TN_bool, 1, &out.e, expr->span);
	return out;
}

static struct kv unary(struct kctx *k, const struct tn_expr *expr)
{
	enum tn_opcode code = tn_infixes[expr->op].op;
	struct kv in = elab_kexpr(k, expr->u.binary.left);

	if (!in.e)
		return in;
	if (expr->op == TN_INFIX_NEG && in.e->dtype == TN_i64)
		return make(tn_kexpr_sub(k->kernel,
					 tn_kexpr_int(k->kernel, TN_i64, 0),
					 in.e), in.soft, expr->span);
	if (!check_kind(k, code, &in))
		return failed(expr->span);
	return op(k, code, in.e->dtype, 1, &in.e, expr->span);
}

/* cast(x, f32), bitcast(x, i32); of inf and nan a literal. */
static struct kv cast(struct kctx *k, const struct tn_expr *expr,
		      enum tn_opcode code)
{
	const struct tn_args *args = &expr->u.call.args;
	enum tn_dtype dtype;
	struct kv in;

	if (args->len != 2 || !args->at[0]->value || !args->at[1]->value ||
	    args->at[1]->value->kind != TN_EXPR_ELEM) {
		tn_diag_report(k->e->sink, TN_E0231, expr->span,
			       "write %s(x, type)", tn_ops[code].name);
		return failed(expr->span);
	}
	in = elab_kexpr(k, args->at[0]->value);
	dtype = tn_dtype_find(args->at[1]->value->u.name);
	if (!in.e || dtype == TN_DTYPE_COUNT)
		return failed(expr->span);
	if (code == TN_OP_cast && in.e->kind == TN_KEXPR_FLOAT && in.soft &&
	    !isfinite(in.e->f) && tn_dtype_is(dtype, TN_KIND_F))
		return make(tn_kexpr_float(k->kernel, dtype, in.e->f), false,
			    expr->span);
	if (code == TN_OP_bitcast &&
	    tn_dtype_bits(dtype) != tn_dtype_bits(in.e->dtype)) {
		tn_diag_report(k->e->sink, TN_E0232, expr->span,
			       "%s and %s differ in size",
			       tn_dtype_name(in.e->dtype),
			       tn_dtype_name(dtype));
		return failed(expr->span);
	}
	return op(k, code, dtype, 1, &in.e, expr->span);
}

/* The element type that all operands from `from` on have. */
static bool unite(struct kctx *k, struct kv *in, int from, int count)
{
	int lead = from, i;

	for (i = from; i < count; i++)
		if (!in[i].soft) {
			lead = i;
			break;
		} else if (in[i].e->dtype == TN_f32) {
			lead = i;
		}
	for (i = from; i < count; i++) {
		in[i].e = elab_kexpr_retype(k, &in[i], in[lead].e->dtype);
		if (!in[i].e)
			return false;
	}
	return true;
}

static struct kv call(struct kctx *k, const struct tn_expr *expr)
{
	const struct tn_args *list = &expr->u.call.args;
	enum tn_opcode code = tn_op_find(expr->u.call.name);
	const struct tn_kexpr *args[4];
	const struct tn_op_info *info;
	enum tn_dtype dtype;
	struct kv in[4] = {{0}};
	int from, i;

	if (is_scalar(code) && tn_ops[code].drule == TN_DRULE_ELEM)
		return cast(k, expr, code);
	if (!is_scalar(code)) {
		tn_diag_report(k->e->sink, TN_E0202, tn_expr_callee(expr),
			       "no operator of scalars is named '%s'",
			       expr->u.call.name);
		return failed(expr->span);
	}
	info = &tn_ops[code];
	if (list->len != (uint32_t)info->nin_min || list->len > 4) {
		tn_diag_report(k->e->sink, TN_E0209, expr->span,
			       "'%s' takes %d operands, not %u", info->name,
			       info->nin_min, list->len);
		return failed(expr->span);
	}
	for (i = 0; i < (int)list->len; i++) {
		if (!list->at[i]->value)
			return failed(expr->span);
		in[i] = elab_kexpr(k, list->at[i]->value);
		if (!in[i].e)
			return failed(expr->span);
	}
	from = info->drule == TN_DRULE_SELECT;
	if (from)
		in[0].e = elab_kexpr_retype(k, &in[0], TN_bool);
	if (!in[0].e || !unite(k, in, from, i) ||
	    !check_kind(k, code, &in[from]))
		return failed(expr->span);
	dtype = info->drule == TN_DRULE_BOOL ? TN_bool : in[from].e->dtype;
	for (i = 0; i < (int)list->len; i++)
		args[i] = in[i].e;
	return op(k, code, dtype, i, args, expr->span);
}

struct kv elab_kexpr(struct kctx *k, const struct tn_expr *expr)
{
	switch ((enum tn_expr_kind)expr->kind) {
	case TN_EXPR_NAME:
		return name(k, expr);
	case TN_EXPR_INT:
	case TN_EXPR_FLOAT:
		return literal(k, expr);
	case TN_EXPR_BOOL:
		return make(tn_kexpr_int(k->kernel, TN_bool, expr->u.truth),
			    false, expr->span);
	case TN_EXPR_CALL:
		return call(k, expr);
	case TN_EXPR_INDEX:
		return load(k, expr);
	case TN_EXPR_UNARY:
		return unary(k, expr);
	case TN_EXPR_BINARY:
		return binary(k, expr);
	case TN_EXPR_ELEM:
	case TN_EXPR_STRING:
	case TN_EXPR_TUPLE:
	case TN_EXPR_LIST:
	case TN_EXPR_PACK:
	case TN_EXPR_FIELD:
		break;
	}
	tn_diag_report(k->e->sink, TN_E0231, expr->span,
		       "this is no scalar of a kernel");
	return failed(expr->span);
}
