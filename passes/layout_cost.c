/*
 * What operators ask of the order of their operands and results.
 *
 * In: an operator of the entry, or a call of a function @fused, which asks for
 * its members. Out: demands and clusters (layout.h). What a convolution likes
 * is asked of the target's table; all else follows from how lowering writes
 * loops: contractions run along the last axis, a reshape is free of row-major
 * values, a transpose is free between orders that differ by just that.
 */
#include "passes/layout.h"

#include "ir/view.h"

/* Percent of the bytes. */
#define INNER_READ 800		/* a contraction's operand, read many times */
#define INNER_WRITE 400
#define ROWS_READ 100		/* a reduction reads it once */
#define ROWS_ORDER 200		/* sorting, looking up, running sums */
#define ROWS_RESHAPE 150	/* on either side: else a kernel copies */
#define ROWS_VIEW 200		/* a slice that would be bytes of its operand */

/* ---- Orders ------------------------------------------------------------ */

enum form { FORM_ROWS, FORM_LAST, FORM_BLOCKS, FORM_OTHER };

/* Axes 0, 2, 3 .. and then the channels, or their lanes. */
static enum form form_of(int rank, int n, const struct tn_layout_part *parts)
{
	bool rows = n == rank;
	bool last = n == rank && rank > 2 && parts[rank - 1].axis == 1;
	bool blocks = n == rank + 1 && rank > 1 && parts[rank].axis == 1 &&
		parts[rank].piece == TN_LAYOUT_LANE &&
		parts[1].piece == TN_LAYOUT_BLOCK && parts[1].axis == 1;
	int i;

	for (i = 0; i < n; i++)
		rows = rows && parts[i].axis == i;
	for (i = 1; i + 1 < n; i++) {
		last = last && parts[i].axis == i + 1;
		blocks = blocks && (i == 1 || parts[i].axis == i);
	}
	if (rows)
		return FORM_ROWS;
	if (n == 0 || parts[0].axis != 0 || !(last || blocks))
		return FORM_OTHER;
	return last ? FORM_LAST : FORM_BLOCKS;
}

static int taste_of(const struct tn_layout_taste *taste, enum form form)
{
	int worst = taste->rows > taste->last ? taste->rows : taste->last;

	switch (form) {
	case FORM_ROWS:
		return taste->rows;
	case FORM_LAST:
		return taste->last;
	case FORM_BLOCKS:
		return taste->blocks;
	case FORM_OTHER:
		break;
	}
	return 2 * (worst > taste->blocks ? worst : taste->blocks);
}

/* Channels last, or behind each block of them. */
static const struct tn_layout *channels(struct tn_module *module, int rank,
					int64_t block)
{
	struct tn_layout_part parts[TN_MAX_RANK];
	int i, n = 0;

	parts[n++] = (struct tn_layout_part){ 0, TN_LAYOUT_WHOLE, 1 };
	if (block)
		parts[n++] = (struct tn_layout_part){ 1, TN_LAYOUT_BLOCK,
						      block };
	for (i = 2; i < rank; i++)
		parts[n++] = (struct tn_layout_part){ i, TN_LAYOUT_WHOLE, 1 };
	parts[n++] = block ?
		(struct tn_layout_part){ 1, TN_LAYOUT_LANE, block } :
		(struct tn_layout_part){ 1, TN_LAYOUT_WHOLE, 1 };
	return tn_layout_get(module, rank, n, parts);
}

/* Elements of a block of channels of the type; 0: there are none, or it would
 * be all of them. */
static int64_t block_of(const struct tn_layouter *l, const struct tn_type *type)
{
	const struct tn_target_layouts *layouts = l->context->target->layouts;
	int64_t n = layouts->block_bytes / tn_dtype_bytes(type->dtype);
	const struct tn_dim *rest;

	if (n < 2 || type->rank + 1 > TN_MAX_RANK ||
	    tn_dim_is(type->dims[1], n))
		return 0;
	rest = tn_dim_mod(&l->module->dims, type->dims[1],
			  tn_dim_const(&l->module->dims, n));
	return rest && tn_dim_is(rest, 0) ? n : 0;
}

/* Weights [M, C, H, W] as the kernel walks them for a result in this form:
 * H, W, C, and the channels of the result along the vector. */
static const struct tn_layout *
weights_for(struct tn_layouter *l, int node, const struct tn_demand *demand)
{
	const struct tn_type *type = tn_layout_at(l, node)->value->type;
	const struct tn_layout *layout = demand->result->layout;
	struct tn_layout_part parts[TN_MAX_RANK], *lane;
	int i, n = 0, rank = type->rank;

	if (!layout)
		return NULL;
	lane = (struct tn_layout_part *)(uintptr_t)
		&layout->parts[layout->nparts - 1];
	if (lane->axis != 1 || rank + 1 > TN_MAX_RANK)
		return NULL;
	if (lane->piece == TN_LAYOUT_LANE)
		parts[n++] = (struct tn_layout_part){ 0, TN_LAYOUT_BLOCK,
						      lane->n };
	for (i = 2; i < rank; i++)
		parts[n++] = (struct tn_layout_part){ i, TN_LAYOUT_WHOLE, 1 };
	parts[n++] = (struct tn_layout_part){ 1, TN_LAYOUT_WHOLE, 1 };
	parts[n++] = (struct tn_layout_part){ 0, lane->piece, lane->n };
	return tn_layout_get(l->module, rank, n, parts);
}

bool tn_layout_wish(struct tn_layouter *l, int node,
		    const struct tn_demand *demand,
		    const struct tn_layout **layout)
{
	const struct tn_layout_node *at = tn_layout_at(l, node);
	const struct tn_type *type = at->value->type;
	const struct tn_layout_taste *taste = demand->taste;
	int64_t block;

	*layout = NULL;
	switch (demand->kind) {
	case TN_DEMAND_FIXED:
		*layout = at->fixed;
		return true;
	case TN_DEMAND_ROWS:
	case TN_DEMAND_INNER:
		return true;
	case TN_DEMAND_WEIGHT:
		*layout = weights_for(l, node, demand);
		return true;
	case TN_DEMAND_TASTE:
		break;
	}
	block = block_of(l, type);
	if (block && taste->blocks < taste->last &&
	    taste->blocks < taste->rows)
		*layout = channels(l->module, type->rank, block);
	else if (taste->last < taste->rows && type->rank > 2)
		*layout = channels(l->module, type->rank, 0);
	return true;
}

static bool is_as(const struct tn_layout *layout, int rank, int n,
		  const struct tn_layout_part *parts)
{
	int i;

	if (n != (layout ? layout->nparts : rank))
		return false;
	for (i = 0; i < n; i++) {
		struct tn_layout_part part = { i, TN_LAYOUT_WHOLE, 1 };

		if (layout)
			part = layout->parts[i];
		if (!tn_layout_part_same(&parts[i], &part))
			return false;
	}
	return true;
}

double tn_layout_price(const struct tn_layouter *l, int node,
		       const struct tn_demand *demand, int nparts,
		       const struct tn_layout_part *parts)
{
	const struct tn_layout_node *at = tn_layout_at(l, node);
	int rank = at->value->type->rank;
	bool fits = false;

	switch (demand->kind) {
	case TN_DEMAND_FIXED:
		fits = is_as(at->fixed, rank, nparts, parts);
		break;
	case TN_DEMAND_ROWS:
		fits = form_of(rank, nparts, parts) == FORM_ROWS;
		break;
	case TN_DEMAND_INNER:
		fits = parts[nparts - 1].axis == rank - 1 &&
			parts[nparts - 1].piece == TN_LAYOUT_WHOLE;
		break;
	case TN_DEMAND_TASTE:
		return demand->weight / 100 *
			taste_of(demand->taste, form_of(rank, nparts, parts));
	case TN_DEMAND_WEIGHT:
		fits = is_as(weights_for((struct tn_layouter *)(uintptr_t)l,
					 node, demand), rank, nparts, parts);
		break;
	}
	return fits ? 0 : demand->weight;
}

/* ---- Operators --------------------------------------------------------- */

/* An op, or the body of a fused function with the call's operands. */
struct unit {
	struct tn_layouter *l;
	struct tn_op *op;		/* of the entry */
	const struct tn_block *body;	/* or NULL */
	bool has_stages;		/* what its anchors make may be kept */
	struct tn_value *result;	/* of the member at hand: that of the
					 * op, or its own in stages */
};

/* The value that lies in memory for one of a member; NULL: none does. */
static struct tn_value *actual(const struct unit *unit,
			       struct tn_value *value)
{
	const struct tn_op *end = unit->body ? unit->body->last : NULL;
	int i;

	if (!unit->body)
		return value;
	if (value->block == unit->body)
		return tn_graph_in(unit->op, value->index);
	for (i = 0; i < end->nin; i++)
		if (tn_graph_in(end, i) == value)
			return unit->op->out[i];
	return unit->has_stages ? value : NULL;
}

static int node_of(const struct unit *unit, struct tn_value *value)
{
	struct tn_layout_node *node = tn_layout_node(unit->l, value, unit->op);

	return node ? node->value->number : -1;
}

static void want(const struct unit *unit, struct tn_value *value,
		 enum tn_demand_kind kind, int percent)
{
	struct tn_demand demand = { .kind = kind };
	int node = node_of(unit, value);

	if (node < 0 || value->type->rank < 2)
		return;
	demand.weight = tn_layout_at(unit->l, node)->bytes * percent / 100;
	tn_layout_want(unit->l, node, &demand);
}

/* The value lies as the result does. */
static void follow(const struct unit *unit, struct tn_value *value)
{
	int a = node_of(unit, value), b = node_of(unit, unit->result);

	if (a >= 0 && b >= 0 &&
	    value->type->rank == unit->result->type->rank)
		tn_layout_join(unit->l, a, b, NULL);
}

/* ---- Convolutions ------------------------------------------------------ */

static bool is_less(const struct tn_dim *dim, int64_t n)
{
	return tn_dim_is_const(dim) && dim->value < n;
}

static int64_t groups_of(const struct tn_op *conv)
{
	const struct tn_attr *groups = tn_graph_attr(conv, "groups");

	return groups && groups->is_set ? groups->u.i : 1;
}

/* A channel of the result for each of the input. */
static bool is_depthwise(const struct tn_op *conv)
{
	const struct tn_dim *inputs = tn_graph_in(conv, 0)->type->dims[1];

	return groups_of(conv) > 1 && tn_dim_is(inputs, groups_of(conv)) &&
		conv->out[0]->type->dims[1] == inputs;
}

static void taste(const struct unit *unit, struct tn_value *value,
		  const struct tn_layout_taste *of)
{
	struct tn_demand demand = { .kind = TN_DEMAND_TASTE, .taste = of };
	int node = node_of(unit, value);

	if (node < 0)
		return;
	demand.weight = tn_layout_at(unit->l, node)->bytes;
	tn_layout_want(unit->l, node, &demand);
}

/* Too few channels fill no vector: either order will do. */
static void ask_data(const struct unit *unit, const struct tn_op *conv, int k,
		     struct tn_value *value)
{
	const struct tn_target_layouts *layouts = unit->l->context->target ?
		unit->l->context->target->layouts : NULL;
	int64_t groups = groups_of(conv);

	if (!layouts)
		return;
	if (is_depthwise(conv))
		taste(unit, value, k < 0 ? &layouts->depthwise_out :
		      &layouts->depthwise_in);
	else if (groups > 1)
		want(unit, value, TN_DEMAND_ROWS, ROWS_ORDER);
	else if (!is_less(conv->out[0]->type->dims[1], 4) &&
		 !(k == 0 && is_less(value->type->dims[1], 5)))
		taste(unit, value, k < 0 ? &layouts->dense_out :
		      &layouts->dense_in);
}

static void ask_weights(const struct unit *unit, const struct tn_op *conv,
			struct tn_value *value)
{
	const struct tn_target *target = unit->l->context->target;
	struct tn_demand demand = { .kind = TN_DEMAND_WEIGHT,
				    .result = unit->result };
	int node = node_of(unit, value);

	if (node < 0 || !target || !target->layouts ||
	    !tn_type_same_shape(conv->out[0]->type, unit->result->type) ||
	    (groups_of(conv) > 1 && !is_depthwise(conv)))
		return;
	demand.weight = tn_layout_at(unit->l, node)->bytes *
		target->layouts->weights / 100;
	tn_layout_want(unit->l, node, &demand);
}

/* ---- All --------------------------------------------------------------- */

static void ask_transpose(const struct unit *unit, struct tn_value *value)
{
	int a = node_of(unit, value), b = node_of(unit, unit->result);
	signed char axes[TN_MAX_RANK];
	int i;

	if (unit->body || a < 0 || b < 0)
		return;
	for (i = 0; i < value->type->rank; i++)
		axes[i] = (signed char)tn_view_axis(unit->op, i);
	tn_layout_join(unit->l, b, a, axes);
}

static void ask_move(const struct unit *unit, const struct tn_op *member,
		     struct tn_value *value, int k)
{
	int64_t offset;

	switch ((int)tn_ops[member->code].srule) {
	case TN_SRULE_TRANSPOSE:
		ask_transpose(unit, value);
		break;
	case TN_SRULE_RESHAPE:
		want(unit, value, TN_DEMAND_ROWS, ROWS_RESHAPE);
		if (!unit->body)
			want(unit, member->out[0], TN_DEMAND_ROWS,
			     ROWS_RESHAPE);
		break;
	case TN_SRULE_SLICE:
		if (!unit->body && tn_view_of(member, &offset))
			want(unit, member->out[0], TN_DEMAND_ROWS, ROWS_VIEW);
		follow(unit, value);
		break;
	case TN_SRULE_PAD:
	case TN_SRULE_CONCAT:
	case TN_SRULE_REVERSE:
		if (k == 0 || tn_ops[member->code].srule == TN_SRULE_CONCAT)
			follow(unit, value);
		break;
	default:
		break;
	}
}

static void ask_window(const struct unit *unit, const struct tn_op *member,
		       struct tn_value *value, int k)
{
	enum tn_srule rule = tn_ops[member->code].srule;

	if (rule == TN_SRULE_CONV && k == 0)
		ask_data(unit, member, 0, value);
	else if (rule == TN_SRULE_CONV && k == 1)
		ask_weights(unit, member, value);
	else if (rule == TN_SRULE_CONV_TRANSPOSE)
		want(unit, value, TN_DEMAND_ROWS, ROWS_ORDER);
	else if (k == 0)
		follow(unit, value);
}

static void ask_operand(const struct unit *unit, const struct tn_op *member,
			struct tn_value *value, int k)
{
	switch (tn_ops[member->code].op_class) {
	case TN_CLASS_MAP:
		if (tn_type_same_shape(value->type, unit->result->type))
			follow(unit, value);
		break;
	case TN_CLASS_REDUCE:
		want(unit, value, TN_DEMAND_ROWS, ROWS_READ);
		break;
	case TN_CLASS_CONTRACT:
		want(unit, value, TN_DEMAND_INNER, INNER_READ);
		break;
	case TN_CLASS_WINDOW:
		ask_window(unit, member, value, k);
		break;
	case TN_CLASS_MOVE:
		ask_move(unit, member, value, k);
		break;
	case TN_CLASS_SCAN:
	case TN_CLASS_ORDER:
	case TN_CLASS_INDEX:
		want(unit, value, TN_DEMAND_ROWS, ROWS_ORDER);
		break;
	case TN_CLASS_SOURCE:
	case TN_CLASS_FLOW:
	case TN_CLASS_CUSTOM:
		break;
	}
}

/* What the nest of an anchor makes, and what follows it. */
static void ask_result(const struct unit *unit, const struct tn_op *member)
{
	struct tn_value *value = unit->result;
	enum tn_op_class op_class = tn_ops[member->code].op_class;

	if (!tn_type_same_shape(member->out[0]->type, value->type))
		return;
	if (op_class == TN_CLASS_CONTRACT)
		want(unit, value, TN_DEMAND_INNER, INNER_WRITE);
	else if (op_class == TN_CLASS_SCAN || op_class == TN_CLASS_ORDER ||
		 op_class == TN_CLASS_INDEX)
		want(unit, value, TN_DEMAND_ROWS, ROWS_ORDER);
	else if (tn_ops[member->code].srule == TN_SRULE_CONV)
		ask_data(unit, member, -1, value);
}

static void ask_member(struct unit *unit, const struct tn_op *member)
{
	struct tn_value *value;
	int k;

	if (member->nout == 0 || unit->op->nout == 0)
		return;
	unit->result = unit->has_stages ? actual(unit, member->out[0]) :
		unit->op->out[0];
	for (k = 0; k < member->nin && !unit->l->failed; k++) {
		value = actual(unit, tn_graph_in(member, k));
		if (value && value->type->rank > 0)
			ask_operand(unit, member, value, k);
	}
	ask_result(unit, member);
}

static bool is_anchor(const struct tn_op *op)
{
	enum tn_op_class op_class = tn_ops[op->code].op_class;

	return op_class == TN_CLASS_REDUCE || op_class == TN_CLASS_SCAN ||
		op_class == TN_CLASS_CONTRACT || op_class == TN_CLASS_WINDOW ||
		op_class == TN_CLASS_ORDER;
}

void tn_layout_ask(struct tn_layouter *l, struct tn_op *op)
{
	struct unit unit = { .l = l, .op = op };
	const struct tn_op *member;
	int i, anchors = 0;

	for (i = 0; i < op->nout; i++)
		tn_layout_node(l, op->out[i], op);
	if (op->code != TN_OP_call) {
		ask_member(&unit, op);
		return;
	}
	unit.body = op->callee->body;
	for (member = unit.body->first; member; member = member->next)
		anchors += is_anchor(member);
	unit.has_stages = anchors > 1;
	for (member = unit.body->first; member; member = member->next)
		if (member->code != TN_OP_return)
			ask_member(&unit, member);
}
