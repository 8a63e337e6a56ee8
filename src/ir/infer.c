/*
 * Inference of one operator and of whole functions: operand counts, poison,
 * attributes, element types, then the shape rule of the row.
 */
#include "ir/infer_rules.h"

static bool poison_results(struct tn_infer *inf)
{
	const struct tn_type *poison = tn_type_poison(inf->module);
	int i;

	for (i = 0; i < inf->op->nout; i++)
		inf->op->out[i]->type = poison;
	return false;
}

static bool has_poison(const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nin; i++) {
		const struct tn_type *type = op->in[i].value->type;

		if (!type || tn_type_is_poison(type))
			return true;
	}
	return false;
}

static bool check_count(struct tn_infer *inf)
{
	int least = inf->info->nin_min, most = inf->info->nin_max;
	int have = inf->op->nin;

	if (have >= least && (most < 0 || have <= most))
		return true;
	if (most == least)
		return tn_infer_fail(inf, TN_E0501, "'%s' takes %d operand%s, "
				     "not %d", inf->info->name, least,
				     least == 1 ? "" : "s", have);
	if (most < 0)
		return tn_infer_fail(inf, TN_E0501, "'%s' takes at least %d "
				     "operand%s, not %d", inf->info->name,
				     least, least == 1 ? "" : "s", have);
	return tn_infer_fail(inf, TN_E0501, "'%s' takes %d to %d operands, "
			     "not %d", inf->info->name, least, most, have);
}

/* ---- Element types ------------------------------------------------------- */

static bool wrong_kind(struct tn_infer *inf, int i)
{
	enum tn_dtype have = tn_infer_in(inf, i)->dtype;
	struct tn_diag *diag =
		tn_infer_report(inf, TN_E0302, "'%s' is not defined for %s",
				inf->info->name,
				have == TN_ENCODED ?
				tn_infer_in(inf, i)->encoding :
				tn_dtype_name(have));
	struct tn_sink *sink = inf->module->sink;

	if (inf->op->code == TN_OP_div && tn_dtype_is(have, TN_KIND_INT))
		tn_diag_help(sink, diag, "`//` floors, `tdiv` truncates; or "
			     "cast(x, f32) for a float quotient");
	else if ((inf->op->code == TN_OP_fdiv || inf->op->code == TN_OP_mod) &&
		 tn_dtype_is(have, TN_KIND_F))
		tn_diag_help(sink, diag, "on floats write floor(a / b), or "
			     "`rem` for the truncated remainder");
	else if (have == TN_ENCODED || tn_dtype_is(have, TN_KIND_X))
		tn_diag_help(sink, diag, "cast it first: cast(x, f32)");
	return false;
}

static bool check_kind(struct tn_infer *inf, int i, unsigned kinds)
{
	enum tn_dtype have = tn_infer_in(inf, i)->dtype;

	return tn_dtype_is(have, (enum tn_kind)kinds) || wrong_kind(inf, i);
}

static bool check_like(struct tn_infer *inf, int i, int model)
{
	enum tn_dtype have = tn_infer_in(inf, i)->dtype;
	enum tn_dtype want = tn_infer_in(inf, model)->dtype;
	struct tn_diag *diag;

	if (have == want)
		return true;
	diag = tn_infer_report(inf, TN_E0301,
			       "'%s' needs one element type, not %s and %s",
			       inf->info->name, tn_dtype_name(want),
			       tn_dtype_name(have));
	tn_diag_help(inf->module->sink, diag, "write cast(.., %s) on one or "
		     "cast(.., %s) on the other", tn_dtype_name(want),
		     tn_dtype_name(have));
	return false;
}

static bool check_alike(struct tn_infer *inf)
{
	int i;

	for (i = 0; i < inf->op->nin; i++) {
		if (!check_kind(inf, i, inf->info->kinds) ||
		    !check_like(inf, i, 0))
			return false;
	}
	return true;
}

/* Operand 0 leads; indices are integers, updates and fillers are like it. */
static bool check_first(struct tn_infer *inf)
{
	bool is_index = inf->info->op_class == TN_CLASS_INDEX;
	int i;

	if (!check_kind(inf, 0, inf->info->kinds))
		return false;
	for (i = 1; i < inf->op->nin; i++) {
		if (is_index && i == 1) {
			if (!check_kind(inf, 1, TN_KIND_INT))
				return false;
		} else if (!check_like(inf, i, 0)) {
			return false;
		}
	}
	return true;
}

static bool check_select(struct tn_infer *inf)
{
	return check_kind(inf, 0, TN_KIND_B) &&
	       check_kind(inf, 1, inf->info->kinds) && check_like(inf, 2, 1);
}

static bool check_elem(struct tn_infer *inf)
{
	enum tn_dtype elem = tn_infer_attr(inf, "elem")->u.dtype;

	if (inf->op->nin > 0 && !check_kind(inf, 0, inf->info->kinds))
		return false;
	if (elem >= TN_DTYPE_COUNT)
		return tn_infer_fail(inf, TN_E0505, "elem= of '%s' is no "
				     "element type", inf->info->name);
	if (inf->op->code != TN_OP_cast &&
	    !tn_dtype_is(elem, (enum tn_kind)inf->info->kinds))
		return tn_infer_fail(inf, TN_E0302, "'%s' cannot make %s",
				     inf->info->name, tn_dtype_name(elem));
	if (inf->op->code == TN_OP_bitcast && tn_dtype_bits(elem) !=
	    tn_dtype_bits(tn_infer_in(inf, 0)->dtype))
		return tn_infer_fail(inf, TN_E0303, "'bitcast' cannot turn %s "
				     "into %s: their sizes differ",
				     tn_dtype_name(tn_infer_in(inf, 0)->dtype),
				     tn_dtype_name(elem));
	inf->dtype = elem;
	return true;
}

bool tn_infer_index_type(struct tn_infer *inf)
{
	enum tn_dtype elem = tn_infer_attr(inf, "elem")->u.dtype;

	if (!tn_dtype_is(elem, TN_KIND_INT))
		return tn_infer_fail(inf, TN_E0303, "indices of '%s' must be "
				     "integers, not %s", inf->info->name,
				     tn_dtype_name(elem));
	inf->dtype = elem;
	return true;
}

static bool check_dtypes(struct tn_infer *inf)
{
	inf->dtype = inf->op->nin ? tn_infer_in(inf, 0)->dtype :
		     TN_DTYPE_COUNT;
	switch (inf->info->drule) {
	case TN_DRULE_SAME:
		return check_alike(inf);
	case TN_DRULE_BOOL:
		inf->dtype = TN_bool;
		return check_alike(inf);
	case TN_DRULE_ELEM:
		return check_elem(inf);
	case TN_DRULE_I64:
		return check_kind(inf, 0, inf->info->kinds) &&
		       tn_infer_index_type(inf);
	case TN_DRULE_FIRST:
		return check_first(inf);
	case TN_DRULE_SELECT:
		inf->dtype = tn_infer_in(inf, 1)->dtype;
		return check_select(inf);
	case TN_DRULE_NONE:
		if (inf->info->op_class == TN_CLASS_FLOW ||
		    inf->op->nin == 0)
			return true;
		return check_kind(inf, 0, inf->info->kinds);
	}
	return false;
}

/* ---- Shapes -------------------------------------------------------------- */

static bool apply_rule(struct tn_infer *inf)
{
	switch (inf->info->srule) {
#define RULE(upper, lower) \
	case TN_SRULE_##upper: \
		return tn_infer_rule_##lower(inf);
	RULE(BCAST, bcast)
	RULE(SAME, same)
	RULE(RESHAPE, reshape)
	RULE(TRANSPOSE, transpose)
	RULE(BROADCAST, broadcast)
	RULE(SLICE, slice)
	RULE(PAD, pad)
	RULE(CONCAT, concat)
	RULE(REVERSE, reverse)
	RULE(WINDOW, window)
	RULE(GATHER, gather)
	RULE(GATHER_ND, gather_nd)
	RULE(TAKE_ALONG, take_along)
	RULE(SCATTER, scatter)
	RULE(SCATTER_ND, scatter_nd)
	RULE(SCATTER_ALONG, scatter_along)
	RULE(REDUCE, reduce)
	RULE(ARGREDUCE, argreduce)
	RULE(MATMUL, matmul)
	RULE(EINSUM, einsum)
	RULE(CONV, conv)
	RULE(CONV_TRANSPOSE, conv_transpose)
	RULE(POOL, pool)
	RULE(RESIZE, resize)
	RULE(TOPK, topk)
	RULE(NONZERO, nonzero)
	RULE(CONST, const)
	RULE(IOTA, iota)
	RULE(IOTA_SHAPE, iota_shape)
	RULE(DIM, dim)
	RULE(FLOW, flow)
#undef RULE
	}
	return false;
}

bool tn_infer_op(struct tn_op *op)
{
	struct tn_infer inf = {
		.op = op, .fn = op->block->fn, .module = op->block->fn->module,
		.info = &tn_ops[op->code],
	};

	if (has_poison(op))
		return poison_results(&inf);
	if (!check_count(&inf) || !tn_infer_attrs(op) || !check_dtypes(&inf))
		return poison_results(&inf);
	return apply_rule(&inf) || poison_results(&inf);
}

static bool infer_block(struct tn_block *block)
{
	bool ok = true;
	struct tn_op *op;

	for (op = block->first; op; op = op->next) {
		int i;

		if (op->nregions)
			tn_infer_region_params(op);
		for (i = 0; i < op->nregions; i++)
			ok = infer_block(op->regions[i]) && ok;
		ok = tn_infer_op(op) && ok;
	}
	return ok;
}

bool tn_infer_fn(struct tn_fn *fn)
{
	return infer_block(fn->body);
}
