/*
 * layout: how each value of the entry lies in memory.
 *
 * In: operators and calls of functions @fused. Out: the same, with a @layout on
 * results, constants and weights where another order than row-major is cheaper;
 * lowering writes kernels for it, so no operator is added. What the user has
 * written stays; parameters and results of the function are row-major unless
 * the text says otherwise, and so is what control flow carries.
 *
 *   c: f32[N, 64, H, W] = conv(x, w);
 *   ->  c: f32[N, 64, H, W] @layout(0, 2, 3, 1) = conv(x, w);
 *       with w @layout(2, 3, 1, 0), written so into the file of weights
 *
 * Values are joined to clusters that want one order, operators say what each
 * order costs them (layout_cost.c), each cluster takes the cheapest. Those of
 * weights come last: they lie as the result that they make does. A transpose
 * inside a cluster is bytes of its operand and no kernel; where that costs its
 * readers more than a copy would, the result leaves the cluster.
 */
#include "passes/layout.h"

#include <float.h>
#include <string.h>

/* Percent of the bytes: a transpose that is a kernel reads and writes. */
#define TRANSPOSE 300

/* ---- Nodes and clusters ------------------------------------------------ */

struct tn_layout_node *tn_layout_at(const struct tn_layouter *l, int i)
{
	return tn_vec_at(&l->nodes, (size_t)i);
}

static double bytes_of(struct tn_layouter *l, const struct tn_type *type)
{
	int64_t bytes = tn_type_max_bytes(l->module, type);

	return bytes < 0 ? 1e18 : (double)bytes;
}

struct tn_layout_node *tn_layout_node(struct tn_layouter *l,
				      struct tn_value *value,
				      const struct tn_op *op)
{
	size_t at = (size_t)value->number;
	struct tn_layout_node *node;
	int i;

	if (value->number >= 0 && at < l->nodes.len &&
	    tn_layout_at(l, value->number)->value == value) {
		node = tn_layout_at(l, value->number);
		if (!node->op)
			node->op = op;
		return node;
	}
	value->number = (int)l->nodes.len;
	node = tn_vec_push(&l->nodes);
	if (!node) {
		l->failed = true;
		return NULL;
	}
	memset(node, 0, sizeof(*node));
	node->value = value;
	node->op = value->op ? value->op : op;
	node->fixed = value->layout;
	node->is_fixed = value->layout != NULL || value->type->rank < 2 ||
		value->type->dtype == TN_ENCODED;
	node->bytes = bytes_of(l, value->type);
	node->up = value->number;
	node->size = 1;
	node->demands = -1;
	for (i = 0; i < TN_MAX_RANK; i++)
		node->axes[i] = (signed char)i;
	return node;
}

/* The root of a node's cluster; `axes` gets, for each axis of the node, that of
 * the root. */
static int root_of(struct tn_layouter *l, int i, signed char *axes)
{
	struct tn_layout_node *node = tn_layout_at(l, i), *from = node;
	int k;

	memcpy(axes, node->axes, TN_MAX_RANK);
	while (tn_layout_at(l, node->up) != node) {
		node = tn_layout_at(l, node->up);
		for (k = 0; k < TN_MAX_RANK; k++)
			axes[k] = node->axes[axes[k]];
	}
	from->up = node->value->number;
	memcpy(from->axes, axes, TN_MAX_RANK);
	return from->up;
}

/* The root of `small` hangs below that of `big`: x are the axes of small's
 * member in its root, y those of the same axes in big's root. */
static void hang(struct tn_layouter *l, int small, int big,
		 const signed char *x, const signed char *y)
{
	struct tn_layout_node *node = tn_layout_at(l, small);
	int k;

	for (k = 0; k < node->value->type->rank; k++)
		node->axes[x[k]] = y[k];
	node->up = big;
	tn_layout_at(l, big)->size += node->size;
}

void tn_layout_join(struct tn_layouter *l, int a, int b,
		    const signed char *axes)
{
	signed char x[TN_MAX_RANK], y[TN_MAX_RANK], z[TN_MAX_RANK];
	int rank = tn_layout_at(l, a)->value->type->rank;
	int i = root_of(l, a, x), j = root_of(l, b, y), k;

	if (i == j || rank < 2)
		return;
	for (k = 0; k < rank; k++)
		z[k] = y[axes ? axes[k] : k];
	if (tn_layout_at(l, i)->size > tn_layout_at(l, j)->size)
		hang(l, j, i, z, x);
	else
		hang(l, i, j, x, z);
}

void tn_layout_want(struct tn_layouter *l, int node,
		    const struct tn_demand *demand)
{
	struct tn_layout_node *at = tn_layout_at(l, node);
	struct tn_demand *to = tn_vec_push(&l->demands);

	if (!to) {
		l->failed = true;
		return;
	}
	*to = *demand;
	to->next = at->demands;
	at->demands = (int)l->demands.len - 1;
}

static void fix(struct tn_layouter *l, struct tn_value *value,
		const struct tn_op *op, const struct tn_layout *layout)
{
	struct tn_layout_node *node = tn_layout_node(l, value, op);

	if (!node || node->is_fixed)
		return;
	node->is_fixed = true;
	node->fixed = layout;
}

/* ---- Flow -------------------------------------------------------------- */

/* Operands and results of a kernel that is there already lie as it says. */
static void fix_launch(struct tn_layouter *l, struct tn_op *op)
{
	int i, in = 0, out = 0;

	for (i = 0; i < op->kernel->nparams; i++) {
		const struct tn_kbuf *buf = op->kernel->params[i];

		if (buf->role != TN_KBUF_OUT)
			fix(l, tn_graph_in(op, in++), op, buf->layout);
		if (buf->role != TN_KBUF_IN)
			fix(l, op->out[out++], op, buf->layout);
	}
}

static void fix_flow(struct tn_layouter *l, struct tn_op *op)
{
	bool is_return = op->code == TN_OP_return;
	int i, k;

	for (i = 0; i < op->nin && op->code != TN_OP_assert; i++)
		fix(l, tn_graph_in(op, i), op, is_return ?
		    tn_fn_result_layout(op->block->fn, i) : NULL);
	for (i = 0; i < op->nout && (tn_op_is_loop(op->code) ||
				     op->code == TN_OP_if); i++)
		fix(l, op->out[i], op, NULL);
	for (k = 0; k < op->nregions; k++)
		for (i = 0; i < op->regions[k]->nparams; i++)
			fix(l, op->regions[k]->params[i], op, NULL);
}

static bool collect_flow(void *data, struct tn_op *op)
{
	struct tn_layouter *l = data;

	if (tn_ops[op->code].op_class != TN_CLASS_FLOW ||
	    op->code == TN_OP_call)
		return true;
	if (op->code == TN_OP_launch)
		fix_launch(l, op);
	else
		fix_flow(l, op);
	return !l->failed;
}

static bool collect_op(void *data, struct tn_op *op)
{
	struct tn_layouter *l = data;

	if (tn_ops[op->code].op_class != TN_CLASS_FLOW ||
	    op->code == TN_OP_call)
		tn_layout_ask(l, op);
	return !l->failed;
}

static bool collect(struct tn_layouter *l)
{
	struct tn_block *body = l->context->entry->body;
	int i;

	for (i = 0; i < body->nparams; i++)
		fix(l, body->params[i], NULL, NULL);
	return tn_pass_walk(body, collect_flow, l) &&
		tn_pass_walk(body, collect_op, l);
}

/* ---- Choosing ---------------------------------------------------------- */

/* The layout's parts with other axes; how many. */
static int mapped(const struct tn_layout *layout, int rank,
		  const signed char *axes, struct tn_layout_part *parts)
{
	int i, n = layout ? layout->nparts : rank;

	for (i = 0; i < n; i++) {
		if (layout)
			parts[i] = layout->parts[i];
		else
			parts[i] = (struct tn_layout_part){ i,
							    TN_LAYOUT_WHOLE,
							    1 };
		parts[i].axis = axes[parts[i].axis];
	}
	return n;
}

/* An order of the root in the axes of a member: the inverse of its map. */
static int seen_by(const struct tn_layout *order, int rank,
		   const signed char *axes, struct tn_layout_part *parts)
{
	signed char back[TN_MAX_RANK] = {0};
	int i;

	for (i = 0; i < rank; i++)
		back[axes[i]] = (signed char)i;
	return mapped(order, rank, back, parts);
}

static bool is_identity(int rank, int n, const struct tn_layout_part *parts)
{
	int i;

	for (i = 0; i < n; i++)
		if (parts[i].axis != i || parts[i].piece != TN_LAYOUT_WHOLE)
			return false;
	return n == rank;
}

/* The parts as a layout, row-major as NULL. */
static const struct tn_layout *intern(struct tn_layouter *l, int rank, int n,
				      const struct tn_layout_part *parts)
{
	const struct tn_layout *layout;

	if (is_identity(rank, n, parts))
		return NULL;
	layout = tn_layout_get(l->module, rank, n, parts);
	l->failed = l->failed || !layout;
	return layout;
}

static void add_order(struct tn_layout_node *root,
		      const struct tn_layout *order)
{
	int i;

	for (i = 0; i < root->norders; i++)
		if (root->orders[i] == order)
			return;
	if (root->norders < TN_LAYOUT_ORDERS)
		root->orders[root->norders++] = order;
}

/* What a member wishes becomes an order of its root. */
static void propose(struct tn_layouter *l, int i,
		    const struct tn_demand *demand)
{
	int rank = tn_layout_at(l, i)->value->type->rank, n;
	struct tn_layout_part parts[TN_MAX_RANK];
	const struct tn_layout *layout;
	signed char axes[TN_MAX_RANK];
	int root = root_of(l, i, axes);

	if (!tn_layout_wish(l, i, demand, &layout))
		return;
	n = mapped(layout, rank, axes, parts);
	add_order(tn_layout_at(l, root), intern(l, rank, n, parts));
}

static bool fits(struct tn_layouter *l, const struct tn_type *type, int n,
		 const struct tn_layout_part *parts)
{
	const struct tn_dim *rest;
	int i;

	for (i = 0; i < n; i++) {
		if (parts[i].piece != TN_LAYOUT_BLOCK)
			continue;
		rest = tn_dim_mod(&l->module->dims, type->dims[parts[i].axis],
				  tn_dim_const(&l->module->dims, parts[i].n));
		if (!rest || !tn_dim_is(rest, 0))
			return false;
	}
	return true;
}

/* What all demands of a node pay for the parts, in its own axes. */
static double price(const struct tn_layouter *l, int i, int n,
		    const struct tn_layout_part *parts)
{
	const struct tn_demand *demand;
	double sum = 0;
	int at;

	for (at = tn_layout_at(l, i)->demands; at >= 0; at = demand->next) {
		demand = tn_vec_at(&l->demands, (size_t)at);
		sum += tn_layout_price(l, i, demand, n, parts);
	}
	return sum;
}

/* Adds what a member pays to each order of its root. */
static void charge(struct tn_layouter *l, int i)
{
	struct tn_layout_node *node = tn_layout_at(l, i), *root;
	int rank = node->value->type->rank, k, n;
	struct tn_layout_part parts[TN_MAX_RANK];
	signed char axes[TN_MAX_RANK];

	root = tn_layout_at(l, root_of(l, i, axes));
	for (k = 0; k < root->norders; k++) {
		n = seen_by(root->orders[k], rank, axes, parts);
		if (fits(l, node->value->type, n, parts))
			root->costs[k] += price(l, i, n, parts);
		else
			root->costs[k] = DBL_MAX;
	}
}

static const struct tn_layout *cheapest(const struct tn_layout_node *root)
{
	int i, best = 0;

	for (i = 1; i < root->norders; i++)
		if (root->costs[i] < root->costs[best])
			best = i;
	return root->norders ? root->orders[best] : NULL;
}

/* Fixed values ask to be as they are; a WEIGHT demand makes a cluster late. */
static void start(struct tn_layouter *l)
{
	struct tn_layout_node *node;
	struct tn_demand fixed = { .kind = TN_DEMAND_FIXED };
	const struct tn_demand *demand;
	signed char axes[TN_MAX_RANK];
	int i, at, root;

	for (i = 0; i < (int)l->nodes.len && !l->failed; i++) {
		node = tn_layout_at(l, i);
		if (node->value->type->rank < 2)
			continue;
		fixed.weight = 2 * node->bytes;
		if (node->is_fixed)
			tn_layout_want(l, i, &fixed);
		root = root_of(l, i, axes);
		for (at = node->demands; at >= 0; at = demand->next) {
			demand = tn_vec_at(&l->demands, (size_t)at);
			if (demand->kind == TN_DEMAND_WEIGHT)
				tn_layout_at(l, root)->is_late = true;
		}
	}
}

/* Calls `visit` for each member of an early or late cluster. */
static void each(struct tn_layouter *l, bool late,
		 void (*visit)(struct tn_layouter *l, int i))
{
	signed char axes[TN_MAX_RANK];
	int i, root;

	for (i = 0; i < (int)l->nodes.len && !l->failed; i++) {
		if (tn_layout_at(l, i)->value->type->rank < 2)
			continue;
		root = root_of(l, i, axes);
		if (tn_layout_at(l, root)->is_late == late)
			visit(l, i);
	}
}

static void propose_all(struct tn_layouter *l, int i)
{
	const struct tn_demand *demand;
	int at;

	for (at = tn_layout_at(l, i)->demands; at >= 0; at = demand->next) {
		demand = tn_vec_at(&l->demands, (size_t)at);
		propose(l, i, demand);
	}
}

/* A transpose whose readers would rather have it copied. */
static bool leaves(struct tn_layouter *l, int i, int n,
		   const struct tn_layout_part *parts)
{
	const struct tn_layout_node *node = tn_layout_at(l, i);
	int rank = node->value->type->rank, k;
	struct tn_layout_part rows[TN_MAX_RANK];

	if (!node->value->op ||
	    tn_ops[node->value->op->code].srule != TN_SRULE_TRANSPOSE ||
	    is_identity(rank, n, parts))
		return false;
	for (k = 0; k < rank; k++)
		rows[k] = (struct tn_layout_part){ k, TN_LAYOUT_WHOLE, 1 };
	return price(l, i, n, parts) > price(l, i, rank, rows) +
		node->bytes * TRANSPOSE / 100;
}

/* Why a value does not lie as its cluster does. */
static void tell(struct tn_layouter *l, const struct tn_layout_node *node,
		 const struct tn_layout *wanted)
{
	struct tn_rw *rw = l->context->rw;

	if (!node->op || tn_layout_same(node->value->type, wanted,
					node->fixed))
		return;
	if (node->is_fixed)
		tn_rw_miss(rw, "layout", node->op, NULL, "'%s' lies as the "
			   "text, its caller or control flow has it; what "
			   "reads and makes it would like %s%s%s",
			   node->value->name, wanted ? "@layout(" :
			   "it row-major", wanted ? wanted->text : "",
			   wanted ? ")" : "");
	else
		tn_rw_miss(rw, "layout", node->op, NULL, "what reads '%s' runs "
			   "along another axis than lies innermost in what it "
			   "transposes, so that a copy costs less",
			   node->value->name);
}

static void apply(struct tn_layouter *l, int i)
{
	struct tn_layout_node *node = tn_layout_at(l, i);
	struct tn_value *value = node->value;
	struct tn_layout_part parts[TN_MAX_RANK];
	const struct tn_layout *layout;
	signed char axes[TN_MAX_RANK];
	int n, rank = value->type->rank;

	layout = cheapest(tn_layout_at(l, root_of(l, i, axes)));
	n = seen_by(layout, rank, axes, parts);
	layout = intern(l, rank, n, parts);
	if (node->is_fixed || leaves(l, i, n, parts)) {
		tell(l, node, layout);
		layout = node->fixed;
	}
	if (layout == value->layout || l->failed ||
	    (layout && tn_layout_misfit(l->module, layout, value->type)) ||
	    tn_layout_same(value->type, layout, value->layout))
		return;
	if (tn_rw_spend(l->context->rw, "layout", node->op))
		tn_rw_set_layout(l->context->rw, value, layout);
}

static void choose(struct tn_layouter *l, bool late)
{
	each(l, late, propose_all);
	each(l, late, charge);
	each(l, late, apply);
}

enum tn_pass_result tn_pass_layout(struct tn_pass_context *context)
{
	uint64_t epoch = context->module->epoch;
	int64_t seed = tn_pass_option(context, "seed", 0);
	struct tn_layouter l = { .context = context,
				 .module = context->module };
	bool good;

	if (context->module->props & TN_PROP_KERNELS)
		return TN_PASS_SAME;
	if (seed)
		return tn_layout_random(context, seed);
	tn_vec_init(&l.nodes, sizeof(struct tn_layout_node), NULL);
	tn_vec_init(&l.demands, sizeof(struct tn_demand), NULL);
	good = collect(&l);
	start(&l);
	if (good)
		choose(&l, false);
	if (good)
		choose(&l, true);
	tn_vec_fini(&l.nodes);
	tn_vec_fini(&l.demands);
	if (l.failed || context->module->failed) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return context->module->epoch == epoch ? TN_PASS_SAME :
		TN_PASS_CHANGED;
}
