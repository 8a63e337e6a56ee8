/*
 * What the files of the pass `layout` share: values, and what reads and writes
 * them would pay for each order.
 *
 * Values that one operator reads and makes element by element, and values that
 * are one another's transposes, want one order in memory: they are a cluster.
 * An order is a layout of the cluster's root; a member has it in its own axes.
 * Demands say what an order costs a member. A cluster takes the cheapest of the
 * few orders that its demands name: time is linear in operators.
 */
#ifndef TN_PASSES_LAYOUT_H
#define TN_PASSES_LAYOUT_H

#include "ir/kernel.h"
#include "ir/layout.h"
#include "ir/rewrite.h"
#include "passes/pass.h"

/* Orders that a cluster weighs; NULL is that of the root as it is. */
#define TN_LAYOUT_ORDERS 6

enum tn_demand_kind {
	TN_DEMAND_FIXED,	/* as it lies already */
	TN_DEMAND_ROWS,		/* row-major */
	TN_DEMAND_INNER,	/* the last axis innermost */
	TN_DEMAND_TASTE,	/* what the target says of a convolution */
	TN_DEMAND_WEIGHT	/* as the result of a convolution lies */
};

struct tn_demand {
	enum tn_demand_kind kind;
	const struct tn_layout_taste *taste;	/* TASTE */
	const struct tn_value *result;		/* WEIGHT: of the convolution */
	bool is_depthwise;			/* WEIGHT */
	double weight;		/* bytes that a misfit costs */
	int next;		/* of the same value, or -1 */
};

struct tn_layout_node {
	struct tn_value *value;
	const struct tn_op *op;	/* that makes it, or the first that reads it */
	const struct tn_layout *fixed;
	bool is_fixed;		/* stays as `fixed` says */
	bool is_late;		/* root: has a WEIGHT demand */
	double bytes;
	int up, size;		/* of the tree of a cluster; root: itself */
	signed char axes[TN_MAX_RANK];	/* own axis -> that of `up` */
	int demands;		/* first, or -1 */
	int norders;		/* root */
	const struct tn_layout *orders[TN_LAYOUT_ORDERS];
	double costs[TN_LAYOUT_ORDERS];
};

struct tn_layouter {
	struct tn_pass_context *context;
	struct tn_module *module;
	struct tn_vec nodes;	/* struct tn_layout_node, by value->number */
	struct tn_vec demands;	/* struct tn_demand */
	bool failed;		/* out of memory */
};

/* ---- layout.c ---- */

/* The node of a value, made when it is first met; NULL: out of memory. */
struct tn_layout_node *tn_layout_node(struct tn_layouter *l,
				      struct tn_value *value,
				      const struct tn_op *op);
struct tn_layout_node *tn_layout_at(const struct tn_layouter *l, int i);
/* Two values of one rank are to lie alike: axis i of `a` as axis axes[i] of `b`
 * (NULL: as axis i). */
void tn_layout_join(struct tn_layouter *l, int a, int b,
		    const signed char *axes);
void tn_layout_want(struct tn_layouter *l, int node,
		    const struct tn_demand *demand);

/* ---- layout_cost.c ---- */

/* Notes what an op of the entry, flow apart, asks of operands and results. */
void tn_layout_ask(struct tn_layouter *l, struct tn_op *op);
/* The order that the demand would like best, in the axes of the node's value;
 * false: none. */
bool tn_layout_wish(struct tn_layouter *l, int node,
		    const struct tn_demand *demand,
		    const struct tn_layout **layout);
/* What the parts, in the axes of the node's value, cost the demand: bytes. */
double tn_layout_price(const struct tn_layouter *l, int node,
		       const struct tn_demand *demand, int nparts,
		       const struct tn_layout_part *parts);

/* ---- layout_random.c ---- */

/* Layouts at random for all values that have none: a test of what reads and
 * writes them. */
enum tn_pass_result tn_layout_random(struct tn_pass_context *context,
				     int64_t seed);

#endif
