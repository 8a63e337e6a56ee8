/*
 * Layouts in kernels: indices of values become indices of bytes.
 *
 * A kernel is written in the indices of values; only here are they mapped to
 * the physical axes of a buffer. So any kernel reads and writes any layout, and
 * no operator that changes one is needed. Loops over a result run in its
 * physical order. An axis in blocks is two loops, and what it reads in the same
 * blocks needs no division:
 *
 *   y @layout(0, 1 // 8, 1 % 8) = -x   ->
 *   for i { for j_block in 0..C / 8 { for j_lane in 0..8 {
 *     y[i, j_block, j_lane] = -x[i, j_block * 8 + j_lane] } } }
 *
 * What flow carries, prints or hands out is row-major, or as the signature of
 * the function says: the copies that this takes are made first.
 */
#include "passes/lower.h"

/* ---- Indices ----------------------------------------------------------- */

/* The blocks that an index runs in; *shift: whole blocks that it is ahead. */
static const struct tn_lower_split *find_split(const struct tn_lower *lw,
					       const struct tn_kexpr *index,
					       int64_t n, int64_t *shift)
{
	const struct tn_lower_split *split;
	size_t i;

	*shift = 0;
	if (index && index->kind == TN_KEXPR_OP && index->is_index &&
	    index->code == TN_OP_add &&
	    index->args[1]->kind == TN_KEXPR_INT &&
	    index->args[1]->i % n == 0) {
		*shift = index->args[1]->i / n;
		index = index->args[0];
	}
	for (i = 0; i < lw->splits.len; i++) {
		split = tn_vec_at(&lw->splits, i);
		if (split->index == index && split->n == n)
			return split;
	}
	return NULL;
}

/* index // n or index % n */
static const struct tn_kexpr *piece(struct tn_lower *lw,
				    const struct tn_layout_part *part,
				    const struct tn_kexpr *index)
{
	const struct tn_kexpr *n = tn_lower_int(lw, part->n);
	bool is_lane = part->piece == TN_LAYOUT_LANE;
	const struct tn_lower_split *split;
	int64_t shift;

	split = find_split(lw, index, part->n, &shift);
	if (split && is_lane)
		return split->lane;
	if (split)
		return tn_kexpr_add(lw->kernel, split->block,
				    tn_lower_int(lw, shift));
	return is_lane ? tn_kexpr_mod(lw->kernel, index, n)
		       : tn_kexpr_fdiv(lw->kernel, index, n);
}

void tn_lower_place(struct tn_lower *lw, const struct tn_kbuf *buf,
		    const struct tn_kexpr *const *index,
		    const struct tn_kexpr **at)
{
	int i;

	for (i = 0; i < buf->rank; i++) {
		const struct tn_layout_part *part;

		part = buf->layout ? &buf->layout->parts[i] : NULL;
		if (!part || part->piece == TN_LAYOUT_WHOLE)
			at[i] = index[part ? part->axis : i];
		else
			at[i] = piece(lw, part, index[part->axis]);
	}
}

const struct tn_kexpr *tn_lower_load(struct tn_lower *lw, struct tn_kbuf *buf,
				     const struct tn_kexpr *const *index)
{
	const struct tn_kexpr *at[TN_MAX_RANK];

	tn_lower_place(lw, buf, index, at);
	return tn_kexpr_load(lw->kernel, buf, buf->rank, at);
}

/* ---- Loops ------------------------------------------------------------- */

#define NAMES 8

static const char *const names[NAMES] = {
	"i", "j", "k", "l", "m", "n", "p", "q"
};

static const char *const block_names[NAMES] = {
	"i_block", "j_block", "k_block", "l_block",
	"m_block", "n_block", "p_block", "q_block"
};

static const char *const lane_names[NAMES] = {
	"i_lane", "j_lane", "k_lane", "l_lane",
	"m_lane", "n_lane", "p_lane", "q_lane"
};

/* The loops over the blocks and over the lanes of an axis, in either order. */
struct halves {
	const struct tn_kexpr *block[TN_MAX_RANK], *lane[TN_MAX_RANK];
};

static void note_split(struct tn_lower *lw, const struct tn_kexpr *block,
		       const struct tn_kexpr *lane, int64_t n,
		       const struct tn_kexpr **index)
{
	struct tn_lower_split *split = tn_vec_push(&lw->splits);

	*index = tn_kexpr_add(lw->kernel, tn_kexpr_mul(lw->kernel, block,
						       tn_lower_int(lw, n)),
			      lane);
	if (!split) {
		lw->failed = true;
		return;
	}
	*split = (struct tn_lower_split){ *index, block, lane, n };
}

static void open_piece(struct tn_lower *lw, const struct tn_type *type,
		       const struct tn_layout_part *part,
		       struct halves *halves, const struct tn_kexpr **index)
{
	int axis = part->axis, at = axis < NAMES ? axis : NAMES - 1;
	const struct tn_dim *n = tn_lower_dim_int(lw, part->n);

	if (part->piece == TN_LAYOUT_LANE)
		halves->lane[axis] = tn_lower_for_dim(lw, lane_names[at], n);
	else
		halves->block[axis] = tn_lower_for_dim(
			lw, block_names[at], tn_dim_floordiv(
				&lw->module->dims, type->dims[axis], n));
	if (halves->block[axis] && halves->lane[axis])
		note_split(lw, halves->block[axis], halves->lane[axis],
			   part->n, &index[axis]);
}

/* A part of a value, of which a block may not divide the axis, runs over whole
 * axes. */
void tn_lower_for_layout(struct tn_lower *lw, const struct tn_type *type,
			 const struct tn_layout *layout,
			 const struct tn_kexpr **index)
{
	bool is_cut = layout && !tn_layout_misfit(lw->module, layout, type);
	struct halves halves = { .block = { NULL } };
	int i, count = layout ? layout->nparts : type->rank;

	for (i = 0; i < count; i++) {
		struct tn_layout_part part = { i, TN_LAYOUT_WHOLE, 1 };
		int axis;

		if (layout)
			part = layout->parts[i];
		axis = part.axis;
		if (!is_cut && part.piece == TN_LAYOUT_LANE)
			continue;
		if (!is_cut || part.piece == TN_LAYOUT_WHOLE)
			index[axis] = tn_lower_for_dim(
				lw, names[axis < NAMES ? axis : NAMES - 1],
				type->dims[axis]);
		else
			open_piece(lw, type, &part, &halves, index);
	}
}

/* ---- What cannot have a layout ------------------------------------------ */

static void set(struct tn_lower *lw, struct tn_value *value,
		const struct tn_layout *layout)
{
	if (value->layout != layout)
		tn_rw_set_layout(lw->rw, value, layout);
}

/* Results of flow and parameters of regions are row-major, those of launches
 * as their kernel has them. */
static void settle_results(struct tn_lower *lw, struct tn_op *op)
{
	int i, k, at = 0;

	for (k = 0; k < op->nregions; k++)
		for (i = 0; i < op->regions[k]->nparams; i++)
			set(lw, op->regions[k]->params[i], NULL);
	for (i = 0; i < op->nout && (tn_op_is_loop(op->code) ||
				     op->code == TN_OP_if); i++)
		set(lw, op->out[i], NULL);
	for (i = 0; op->code == TN_OP_launch && i < op->kernel->nparams; i++)
		if (op->kernel->params[i]->role != TN_KBUF_IN)
			set(lw, op->out[at++], op->kernel->params[i]->layout);
}

/* The parameter of a kernel that operand k of its launch is. */
static const struct tn_kbuf *param_of(const struct tn_op *launch, int k)
{
	int i;

	for (i = 0; i < launch->kernel->nparams; i++)
		if (launch->kernel->params[i]->role != TN_KBUF_OUT && k-- == 0)
			return launch->kernel->params[i];
	return NULL;
}

/* True if the op reads operand k as it lies; *layout: as it must lie. */
static bool wants(const struct tn_op *op, int k,
		  const struct tn_layout **layout)
{
	const struct tn_kbuf *buf;

	*layout = NULL;
	switch ((int)op->code) {
	case TN_OP_for:
	case TN_OP_while:
	case TN_OP_yield:
	case TN_OP_print:
		return true;
	case TN_OP_scan:
		return k < tn_lower_attr_int(op, "carries");
	case TN_OP_return:
		*layout = tn_fn_result_layout(op->block->fn, k);
		return true;
	case TN_OP_launch:
		buf = param_of(op, k);
		*layout = buf ? buf->layout : NULL;
		return buf != NULL;
	default:
		return false;
	}
}

static bool settle_operands(struct tn_lower *lw, struct tn_op *op)
{
	const struct tn_layout *layout;
	struct tn_value *value;
	int k;

	for (k = 0; k < op->nin; k++) {
		value = tn_graph_in(op, k);
		if (!wants(op, k, &layout) ||
		    tn_layout_same(value->type, value->layout, layout))
			continue;
		value = tn_lower_copy(lw, value, layout, op);
		if (!value)
			return false;
		tn_rw_set_operand(lw->rw, op, k, value);
	}
	return true;
}

bool tn_lower_layouts(struct tn_lower *lw, struct tn_block *block)
{
	struct tn_op *op;
	int k;

	for (op = block->first; op; op = op->next) {
		settle_results(lw, op);
		for (k = 0; k < op->nregions; k++)
			if (!tn_lower_layouts(lw, op->regions[k]))
				return false;
		if (!settle_operands(lw, op))
			return false;
	}
	return !lw->failed;
}
