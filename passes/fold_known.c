/*
 * fold: what is known without being constant.
 *
 *   gather(w, 3)                         ->  reshape(slice(w, 3..4))
 *   s = concat(reshape(dim(N)), [3, 4])
 *   prod(s)                              ->  dim(12*N)
 *
 * A lookup at a constant index in range becomes a slice, which is a view of
 * the same bytes. An integer scalar that is an expression over sizes becomes
 * that expression, a bool that is the same for all sizes a constant.
 */
#include "passes/fold.h"

#include "ir/known.h"

static bool is_const(const struct tn_value *value)
{
	return value->op && value->op->code == TN_OP_const;
}

static bool is_lookup(const struct tn_op *op)
{
	const struct tn_value *at;
	int64_t axis;

	if (op->code != TN_OP_gather)
		return false;
	at = tn_graph_in(op, 1);
	axis = tn_graph_attr(op, "axis")->u.i;
	return is_const(at) && at->type->rank == 0 &&
		tn_dim_is_const(tn_graph_in(op, 0)->type->dims[axis]);
}

static bool is_in_range(const struct tn_fold *f, const struct tn_op *op)
{
	int64_t axis = tn_graph_attr(op, "axis")->u.i;
	int64_t index = tn_tensor_get_i64(tn_graph_in(op, 1)->op->literal, 0);
	int64_t count = tn_graph_in(op, 0)->type->dims[axis]->value;

	if (index >= 0 && index < count)
		return true;
	tn_rw_miss(f->rw, "gather-to-slice", op, NULL, "index %lld is out of "
		   "range, 0 to %lld, which run time has to tell",
		   (long long)index, (long long)count - 1);
	return false;
}

/* What an expression over sizes may come of. */
static bool is_scalar(const struct tn_op *op)
{
	const struct tn_type *type;

	if (op->nout != 1 || op->nin == 0)
		return false;
	type = op->out[0]->type;
	if (type->rank != 0 ||
	    !tn_dtype_is(type->dtype, TN_KIND_INT | TN_KIND_B))
		return false;
	switch ((int)tn_ops[op->code].op_class) {
	case TN_CLASS_MAP:
	case TN_CLASS_MOVE:
	case TN_CLASS_REDUCE:
	case TN_CLASS_INDEX:
		return tn_graph_in(op, 0)->op != NULL;
	default:
		return false;
	}
}

bool tn_fold_may_know(const struct tn_op *op)
{
	return is_lookup(op) || is_scalar(op);
}

/* The row as a slice, in the shape of the lookup; NULL: out of memory. */
static struct tn_value *make_row(struct tn_fold *f, struct tn_op *op)
{
	struct tn_dim_pool *dims = &f->rw->module->dims;
	struct tn_value *in = tn_graph_in(op, 0);
	const struct tn_type *type = in->type, *to = op->out[0]->type;
	const struct tn_dim *start[TN_MAX_RANK], *stop[TN_MAX_RANK];
	int64_t axis = tn_graph_attr(op, "axis")->u.i, index;
	struct tn_attr attrs[2];
	struct tn_builder builder;
	struct tn_op *slice;
	int i;

	index = tn_tensor_get_i64(tn_graph_in(op, 1)->op->literal, 0);
	for (i = 0; i < type->rank; i++) {
		start[i] = tn_dim_const(dims, i == axis ? index : 0);
		stop[i] = i == axis ? tn_dim_const(dims, index + 1) :
			type->dims[i];
		if (!start[i] || !stop[i])
			return NULL;
	}
	tn_rw_before(f->rw, op, &builder);
	attrs[0] = tn_attr_dims("start", type->rank, start);
	attrs[1] = tn_attr_dims("stop", type->rank, stop);
	slice = tn_build_op(&builder, TN_OP_slice, 1, &in, 2, attrs,
			    op->span);
	return slice ? tn_build_reshape(&builder, slice->out[0], to->rank,
					to->dims, op->span) : NULL;
}

static struct tn_value *make_size(struct tn_fold *f, struct tn_op *op,
				  const struct tn_dim *size)
{
	enum tn_dtype dtype = op->out[0]->type->dtype;
	struct tn_attr attrs[2];
	struct tn_builder builder;
	struct tn_op *made;

	tn_rw_before(f->rw, op, &builder);
	if (tn_dim_is_const(size))
		return tn_build_scalar_i64(&builder, dtype, size->value,
					   op->span);
	attrs[0] = tn_attr_dim("value", size);
	attrs[1] = tn_attr_dtype("elem", dtype);
	made = tn_build_op(&builder, TN_OP_dim, 0, NULL, 2, attrs, op->span);
	return made ? made->out[0] : NULL;
}

struct tn_value *tn_fold_known(struct tn_fold *f, struct tn_op *op)
{
	struct tn_value *value = NULL;
	struct tn_known known;

	if (is_lookup(op)) {
		if (!is_in_range(f, op) ||
		    !tn_rw_spend(f->rw, "gather-to-slice", op))
			return NULL;
		value = make_row(f, op);
	} else {
		if (!tn_known_value(f->rw->module, op->out[0], &known) ||
		    known.count != 1 || !tn_rw_spend(f->rw, "size", op))
			return NULL;
		value = make_size(f, op, known.at[0]);
	}
	if (value)
		tn_rw_replace(f->rw, op, &value);
	f->changed |= value != NULL;
	f->failed |= !value;
	return value;
}
