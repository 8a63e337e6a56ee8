/*
 * Values that are sizes; see known.h.
 *
 * A budget of operators bounds the walk, and a limit its depth: what is deeper
 * is taken as not known.
 */
#include "ir/known.h"

/* Operators looked at for one value; how deep they may be. */
#define BUDGET 256
#define DEPTH 16

struct walk {
	struct tn_module *module;
	int left;
};

static bool look(struct walk *w, const struct tn_value *value, int depth,
		 struct tn_known *out);

/* ---- Ranges ------------------------------------------------------------- */

/* Whether the size is a number of the type for all values of its symbols. The
 * ends of the 64-bit range stand for infinity. */
static bool fits(enum tn_dtype dtype, const struct tn_dim *dim)
{
	int bits = 8 * tn_dtype_bytes(dtype);
	int64_t lo, hi, most;

	if (!dim)
		return false;
	tn_dim_bounds(dim, &lo, &hi);
	if (lo == INT64_MIN || hi == INT64_MAX)
		return false;
	if (tn_dtype_is(dtype, TN_KIND_B))
		return lo >= 0 && hi <= 1;
	if (bits == 64)
		return tn_dtype_is(dtype, TN_KIND_I) || lo >= 0;
	most = (int64_t)1 << (bits - tn_dtype_is(dtype, TN_KIND_I));
	return hi < most && lo >= (tn_dtype_is(dtype, TN_KIND_I) ? -most : 0);
}

static bool all_fit(enum tn_dtype dtype, const struct tn_known *known)
{
	int i;

	for (i = 0; i < known->count; i++)
		if (!fits(dtype, known->at[i]))
			return false;
	return true;
}

static bool is_above(const struct tn_dim *dim, int64_t least)
{
	int64_t lo, hi;

	tn_dim_bounds(dim, &lo, &hi);
	return lo >= least;
}

/* ---- Maps --------------------------------------------------------------- */

static const struct tn_dim *negated(struct tn_dim_pool *pool,
				    const struct tn_dim *a)
{
	return tn_dim_sub(pool, tn_dim_const(pool, 0), a);
}

/* Quotient and remainder of what is not negative; floor and truncation are one
 * there. */
static const struct tn_dim *divided(struct tn_dim_pool *pool,
				    enum tn_opcode code,
				    const struct tn_dim *a,
				    const struct tn_dim *b)
{
	bool is_floor = code == TN_OP_fdiv || code == TN_OP_mod;

	if (!is_above(b, 1) || (!is_floor && !is_above(a, 0)))
		return NULL;
	return code == TN_OP_fdiv || code == TN_OP_tdiv ?
		tn_dim_floordiv(pool, a, b) : tn_dim_mod(pool, a, b);
}

/* 1 or 0, if the comparison comes out the same for all sizes. */
static const struct tn_dim *compared(struct tn_dim_pool *pool,
				     enum tn_opcode code,
				     const struct tn_dim *a,
				     const struct tn_dim *b)
{
	const struct tn_dim *one = tn_dim_const(pool, 1);
	bool below = tn_dim_proves_le(pool, tn_dim_add(pool, a, one), b);
	bool above = tn_dim_proves_le(pool, tn_dim_add(pool, b, one), a);

	if (code == TN_OP_eq && (a == b || below || above))
		return tn_dim_const(pool, a == b);
	if (code == TN_OP_lt && (below || tn_dim_proves_le(pool, b, a)))
		return tn_dim_const(pool, below);
	if (code == TN_OP_le && (above || tn_dim_proves_le(pool, a, b)))
		return tn_dim_const(pool, !above);
	return NULL;
}

static const struct tn_dim *joined(struct tn_dim_pool *pool,
				   enum tn_opcode code,
				   const struct tn_dim *a,
				   const struct tn_dim *b)
{
	switch ((int)code) {
	case TN_OP_add:
		return tn_dim_add(pool, a, b);
	case TN_OP_sub:
		return tn_dim_sub(pool, a, b);
	case TN_OP_mul:
		return tn_dim_mul(pool, a, b);
	case TN_OP_max:
		return tn_dim_max(pool, a, b);
	case TN_OP_min:
		return tn_dim_min(pool, a, b);
	case TN_OP_fdiv:
	case TN_OP_tdiv:
	case TN_OP_mod:
	case TN_OP_rem:
		return divided(pool, code, a, b);
	case TN_OP_eq:
	case TN_OP_lt:
	case TN_OP_le:
		return compared(pool, code, a, b);
	default:
		return NULL;
	}
}

/* Element i of an operand that may stretch. */
static const struct tn_dim *at(const struct tn_known *known, int i)
{
	return known->at[known->count == 1 ? 0 : i];
}

/* A number as a truth value. */
static const struct tn_dim *truth(struct tn_dim_pool *pool,
				  const struct tn_dim *a)
{
	if (tn_dim_is_const(a))
		return tn_dim_const(pool, a->value != 0);
	return is_above(a, 1) ? tn_dim_const(pool, 1) : NULL;
}

const struct tn_dim *tn_known_map(struct tn_module *module,
				  const struct tn_op *op,
				  const struct tn_dim *const *in)
{
	struct tn_dim_pool *pool = &module->dims;
	bool is_bool = tn_dtype_is(op->out[0]->type->dtype, TN_KIND_B);

	if (op->code == TN_OP_neg)
		return negated(pool, in[0]);
	if (op->code == TN_OP_cast)
		return is_bool ? truth(pool, in[0]) : in[0];
	if (op->code == TN_OP_abs)
		return is_above(in[0], 0) ? in[0] : NULL;
	if (op->code == TN_OP_not)
		return is_bool ? tn_dim_sub(pool, tn_dim_const(pool, 1),
					    in[0]) : NULL;
	if (op->code == TN_OP_select)
		return tn_dim_is(in[0], 1) ? in[1] :
			tn_dim_is(in[0], 0) ? in[2] : NULL;
	return op->nin == 2 ? joined(pool, op->code, in[0], in[1]) : NULL;
}

static bool map(struct walk *w, const struct tn_op *op, int depth,
		struct tn_known *out)
{
	const struct tn_type *type = op->out[0]->type;
	struct tn_known in[3];
	const struct tn_dim *one[3];
	int i, k;

	if (op->nin > 3)
		return false;
	for (i = 0; i < op->nin; i++)
		if (!look(w, tn_graph_in(op, i), depth, &in[i]))
			return false;
	out->count = type->rank ? (int)type->dims[0]->value : 1;
	for (i = 0; i < out->count; i++) {
		for (k = 0; k < op->nin; k++)
			one[k] = at(&in[k], i);
		out->at[i] = tn_known_map(w->module, op, one);
		if (!out->at[i])
			return false;
	}
	return true;
}

/* ---- Movement, lookups, reductions -------------------------------------- */

static bool slice(struct walk *w, const struct tn_op *op, int depth,
		  struct tn_known *out)
{
	const struct tn_dim *start = tn_graph_attr(op, "start")->u.dims[0];
	const struct tn_attr *steps = tn_graph_attr(op, "step");
	int64_t step = steps->is_set ? steps->u.ints[0] : 1;
	struct tn_known in;
	int i;

	if (!tn_dim_is_const(start) ||
	    !look(w, tn_graph_in(op, 0), depth, &in))
		return false;
	out->count = (int)op->out[0]->type->dims[0]->value;
	for (i = 0; i < out->count; i++)
		out->at[i] = in.at[start->value + i * step];
	return true;
}

static bool concat(struct walk *w, const struct tn_op *op, int depth,
		   struct tn_known *out)
{
	struct tn_known in;
	int i, k;

	out->count = 0;
	for (i = 0; i < op->nin; i++) {
		if (!look(w, tn_graph_in(op, i), depth, &in))
			return false;
		for (k = 0; k < in.count; k++)
			out->at[out->count++] = in.at[k];
	}
	return true;
}

static bool gather(struct walk *w, const struct tn_op *op, int depth,
		   struct tn_known *out)
{
	struct tn_known in, index;
	int i;

	if (!look(w, tn_graph_in(op, 0), depth, &in) || in.rank != 1 ||
	    !look(w, tn_graph_in(op, 1), depth, &index))
		return false;
	out->count = index.count;
	for (i = 0; i < index.count; i++) {
		if (!tn_dim_is_const(index.at[i]) ||
		    index.at[i]->value < 0 || index.at[i]->value >= in.count)
			return false;
		out->at[i] = in.at[index.at[i]->value];
	}
	return true;
}

/* All elements joined by the operator of the reduction. */
static bool reduce(struct walk *w, const struct tn_op *op, int depth,
		   struct tn_known *out)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	enum tn_dtype dtype = op->out[0]->type->dtype;
	const struct tn_attr *axes = tn_graph_attr(op, "axes");
	struct tn_known in;
	int i;

	if (!axes || !look(w, tn_graph_in(op, 0), depth, &in) || in.count < 1)
		return false;
	if (in.rank && axes->is_set && axes->count == 0) {
		*out = in;
		return true;
	}
	out->count = 1;
	out->at[0] = in.at[0];
	for (i = 1; i < in.count; i++) {
		out->at[0] = joined(&w->module->dims, info->combine,
				    out->at[0], in.at[i]);
		if (!fits(dtype, out->at[0]))
			return false;
	}
	return true;
}

static bool move(struct walk *w, const struct tn_op *op, int depth,
		 struct tn_known *out)
{
	int count, i;

	switch ((int)op->code) {
	case TN_OP_reshape:
	case TN_OP_transpose:
		return look(w, tn_graph_in(op, 0), depth, out);
	case TN_OP_broadcast:
		if (!look(w, tn_graph_in(op, 0), depth, out))
			return false;
		count = op->out[0]->type->rank ?
			(int)op->out[0]->type->dims[0]->value : 1;
		for (i = out->count; i < count; i++)
			out->at[i] = out->at[0];
		out->count = count;
		return true;
	case TN_OP_slice:
		return op->out[0]->type->rank == 1 &&
			slice(w, op, depth, out);
	case TN_OP_concat:
		return op->out[0]->type->rank == 1 &&
			concat(w, op, depth, out);
	default:
		return false;
	}
}

/* ---- Values ------------------------------------------------------------- */

static bool literal(struct walk *w, const struct tn_op *op,
		    struct tn_known *out)
{
	int64_t count = tn_tensor_count(op->literal), i;

	out->count = (int)count;
	for (i = 0; i < count; i++)
		out->at[i] = tn_dim_const(&w->module->dims,
					  tn_tensor_get_i64(op->literal, i));
	return true;
}

static bool compute(struct walk *w, const struct tn_op *op, int depth,
		    struct tn_known *out)
{
	if (op->literal)
		return literal(w, op, out);
	if (op->code == TN_OP_dim) {
		out->count = 1;
		out->at[0] = tn_graph_attr(op, "value")->u.dim;
		return true;
	}
	switch ((int)tn_ops[op->code].op_class) {
	case TN_CLASS_MAP:
		return map(w, op, depth, out);
	case TN_CLASS_MOVE:
		return move(w, op, depth, out);
	case TN_CLASS_REDUCE:
		return reduce(w, op, depth, out);
	case TN_CLASS_INDEX:
		return op->code == TN_OP_gather && gather(w, op, depth, out);
	default:
		return false;
	}
}

/* A scalar or vector of few integers or bools, of a known length. */
static bool is_small(const struct tn_type *type)
{
	return tn_dtype_is(type->dtype, TN_KIND_INT | TN_KIND_B) &&
		(type->rank == 0 ||
		 (type->rank == 1 && tn_dim_is_const(type->dims[0]) &&
		  type->dims[0]->value <= TN_KNOWN_MAX));
}

static bool look(struct walk *w, const struct tn_value *value, int depth,
		 struct tn_known *out)
{
	if (!value->op || value->op->nout != 1 || depth == DEPTH ||
	    w->left-- == 0 || !is_small(value->type))
		return false;
	if (!compute(w, value->op, depth + 1, out) ||
	    !all_fit(value->type->dtype, out))
		return false;
	out->rank = value->type->rank;
	return true;
}

bool tn_known_value(struct tn_module *module, const struct tn_value *value,
		    struct tn_known *out)
{
	struct walk w = { .module = module, .left = BUDGET };
	bool overflowed = module->dims.overflowed, known;

	known = look(&w, value, 0, out);
	module->dims.overflowed = overflowed;
	return known;
}
