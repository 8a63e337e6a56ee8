/*
 * The matcher: a discrimination tree over patterns in preorder.
 *
 * A pattern is a list of symbols, each an operator with its number of
 * operands, a number, or anything. Commuting operators give two lists. What
 * the tree finds is then bound: a parameter that stands twice must be the same
 * value both times, an attribute likewise.
 */
#include "passes/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ir/builder.h"

/* Commuting operators of one rule that are tried in both orders. */
#define MAX_SWAPS 8

struct symbol {
	enum tn_pattern_kind kind;
	enum tn_opcode code;
	const char *callee;
	int nargs;
};

/* A rule with its commuting operators in one order: bit i of `swaps` set, the
 * i-th of them in preorder has its operands exchanged. */
struct leaf {
	const struct tn_rule *rule;
	unsigned swaps;
	struct leaf *next;
};

struct tree {
	struct symbol symbol;	/* that leads here */
	struct tree *children, *next;
	struct leaf *leaves;
};

struct tn_matcher {
	struct tn_arena *arena;
	struct tree roots[TN_OP_COUNT];
	int nleaves[TN_OP_COUNT];	/* below each root */
	const struct leaf **found;	/* room for those of the root that has
					 * most */
};

/* ---- Building ---------------------------------------------------------- */

static bool same_symbol(const struct symbol *a, const struct symbol *b)
{
	return a->kind == b->kind && a->code == b->code &&
	       a->nargs == b->nargs && a->callee == b->callee;
}

static struct tree *child_of(struct tn_matcher *m, struct tree *tree,
			     const struct symbol *symbol)
{
	struct tree *child;

	for (child = tree->children; child; child = child->next)
		if (same_symbol(&child->symbol, symbol))
			return child;
	child = tn_arena_alloc(m->arena, sizeof(*child));
	if (!child)
		return NULL;
	child->symbol = *symbol;
	child->next = tree->children;
	tree->children = child;
	return child;
}

static bool commutes(const struct tn_pattern *node)
{
	return node->kind == TN_PATTERN_OP && node->nargs == 2 &&
	       (tn_ops[node->code].flags & TN_FLAG_COMMUTES);
}

static int count_commuting(const struct tn_pattern *node)
{
	int count = commutes(node), i;

	for (i = 0; i < node->nargs; i++)
		count += count_commuting(node->args[i]);
	return count;
}

/* Operand i of the node in an order. */
static const struct tn_pattern *arg_of(const struct tn_pattern *node, int i,
				       bool is_swapped)
{
	return node->args[is_swapped ? 1 - i : i];
}

/* Whether the next commuting operator of the walk is swapped. */
static bool take_swap(const struct tn_pattern *node, unsigned *swaps)
{
	bool swap = commutes(node) && (*swaps & 1);

	if (commutes(node))
		*swaps >>= 1;
	return swap;
}

static struct tree *insert(struct tn_matcher *m, struct tree *tree,
			   const struct tn_pattern *node, unsigned *swaps)
{
	struct symbol symbol = {.kind = node->kind, .code = TN_OP_none};
	bool swap = take_swap(node, swaps);
	int i;

	if (node->kind == TN_PATTERN_OP) {
		symbol.code = node->code;
		symbol.callee = node->callee;
		symbol.nargs = node->nargs;
	}
	tree = child_of(m, tree, &symbol);
	for (i = 0; tree && i < node->nargs; i++)
		tree = insert(m, tree, arg_of(node, i, swap), swaps);
	return tree;
}

static bool add_leaf(struct tn_matcher *m, struct tree *tree,
		     const struct tn_rule *rule, unsigned swaps)
{
	struct leaf *leaf = tn_arena_alloc(m->arena, sizeof(*leaf));

	if (!leaf)
		return false;
	leaf->rule = rule;
	leaf->swaps = swaps;
	leaf->next = tree->leaves;
	tree->leaves = leaf;
	return true;
}

static bool add_rule(struct tn_matcher *m, const struct tn_rule *rule)
{
	int count = count_commuting(rule->root);
	unsigned orders = 1u << (count < MAX_SWAPS ? count : MAX_SWAPS);
	unsigned swaps, rest;
	struct tree *tree;

	for (swaps = 0; swaps < orders; swaps++) {
		rest = swaps;
		tree = insert(m, &m->roots[rule->root->code], rule->root,
			      &rest);
		if (!tree || !add_leaf(m, tree, rule, swaps))
			return false;
		m->nleaves[rule->root->code]++;
	}
	return true;
}

struct tn_matcher *tn_matcher_new(struct tn_arena *arena,
				  const struct tn_rule_set *set,
				  const char *group)
{
	struct tn_matcher *m = tn_arena_alloc(arena, sizeof(*m));
	int code, most = 0;
	size_t i;

	if (!m)
		return NULL;
	m->arena = arena;
	for (i = 0; i < set->rules.len; i++) {
		const struct tn_rule *rule = tn_vec_ptr(&set->rules, i);

		if (group && (!rule->group || strcmp(rule->group, group)))
			continue;
		if (!add_rule(m, rule))
			return NULL;
	}
	for (code = 0; code < TN_OP_COUNT; code++)
		most = m->nleaves[code] > most ? m->nleaves[code] : most;
	m->found = tn_arena_array(arena, (size_t)most + 1, sizeof(*m->found));
	return m->found ? m : NULL;
}

/* ---- Finding ----------------------------------------------------------- */

/* Values still to be looked at, the next one first. */
struct pending {
	const struct tn_use *uses;	/* operands of an op */
	int at, count;
	const struct pending *rest;
};

/* Leaves that the walk came to: room for each there is. */
struct finder {
	const struct leaf **found;
	int count;
};

static void note(struct finder *f, const struct tree *tree)
{
	const struct leaf *leaf;

	for (leaf = tree->leaves; leaf; leaf = leaf->next)
		f->found[f->count++] = leaf;
}

static void descend(struct finder *f, const struct tree *tree,
		    const struct pending *todo);

/* The operands of `op` come before what is pending. */
static void enter(struct finder *f, const struct tree *tree,
		  const struct tn_op *op, const struct pending *rest)
{
	struct pending operands = {.uses = op->in, .count = op->nin,
				   .rest = rest};

	descend(f, tree, &operands);
}

static bool is_op(const struct symbol *symbol, const struct tn_op *op)
{
	return op && symbol->code == op->code && symbol->nargs == op->nin &&
	       (!symbol->callee ||
		(op->callee && op->callee->name == symbol->callee));
}

static void descend(struct finder *f, const struct tree *tree,
		    const struct pending *todo)
{
	const struct tn_value *value;
	const struct tree *child;
	struct pending next;

	while (todo && todo->at == todo->count)
		todo = todo->rest;
	if (!todo) {
		note(f, tree);
		return;
	}
	value = todo->uses[todo->at].value;
	next = *todo;
	next.at++;
	for (child = tree->children; child; child = child->next) {
		if (child->symbol.kind == TN_PATTERN_OP) {
			if (is_op(&child->symbol, value->op))
				enter(f, child, value->op, &next);
		} else if (child->symbol.kind == TN_PATTERN_VAR ||
			   (value->op && value->op->literal)) {
			descend(f, child, &next);
		}
	}
}

static int by_priority(const void *a, const void *b)
{
	const struct leaf *x = *(const struct leaf *const *)a;
	const struct leaf *y = *(const struct leaf *const *)b;

	if (x->rule->priority != y->rule->priority)
		return x->rule->priority > y->rule->priority ? -1 : 1;
	if (x->rule->number != y->rule->number)
		return x->rule->number - y->rule->number;
	return (x->swaps > y->swaps) - (x->swaps < y->swaps);
}

bool tn_matcher_is_idle(const struct tn_matcher *m, const struct tn_op *op)
{
	return !m->roots[op->code].children;
}

/* ---- Binding ----------------------------------------------------------- */

static bool bind_attrs(const struct tn_pattern *node, const struct tn_op *op,
		       struct tn_rule_match *match)
{
	const struct tn_attr *attr, *old;
	int i;

	for (i = 0; i < node->nattrs; i++) {
		attr = tn_graph_attr(op, node->attrs[i].name);
		old = match->attrs[node->attrs[i].var];
		if (!attr || (old && !tn_attr_same(old, attr)))
			return false;
		match->attrs[node->attrs[i].var] = attr;
	}
	return true;
}

/* A literal's value is compared exactly when the left side is made; here in
 * double, which tells most apart. */
static bool is_number(const struct tn_pattern *node,
		      const struct tn_value *value)
{
	const struct tn_tensor *literal = value->op ? value->op->literal :
						      NULL;

	return literal && tn_tensor_count(literal) > 0 &&
	       (literal->dtype == TN_f16 || literal->dtype == TN_bf16 ||
		literal->dtype == TN_f32 ||
		tn_tensor_get_f64(literal, 0) == node->value);
}

/* The number that all elements are, as it would be written: the least digits
 * that tell an f32 from others. */
static bool number_of(const struct tn_tensor *literal, double *out)
{
	int64_t count = literal ? tn_tensor_count(literal) : 0, i;
	char text[40];
	double least;

	for (i = 1; i < count; i++)
		if (tn_tensor_get_f64(literal, i) !=
		    tn_tensor_get_f64(literal, 0))
			return false;
	if (count < 1 || !tn_dtype_is(literal->dtype, TN_KIND_F))
		return false;
	*out = tn_tensor_get_f64(literal, 0);
	if (!isfinite(*out))
		return false;
	if (literal->dtype == TN_f64)
		return true;
	tn_num_print_f32(fabsf((float)*out), text);
	if (!tn_num_parse_f64(text, &least))
		return false;
	*out = *out < 0 ? -least : least;
	return true;
}

/* A parameter that is a number of the left side: the same one everywhere. */
static bool bind_number(const struct tn_pattern *node,
			const struct tn_value *value,
			struct tn_rule_match *match)
{
	const struct tn_attr *old = match->attrs[node->var];
	struct tn_attr *attr;
	double number;

	if (!value->op || !number_of(value->op->literal, &number))
		return false;
	if (old)
		return old->kind == TN_ATTR_FLOAT && old->u.f == number;
	if (match->nnumbers == TN_RULE_NUMBERS)
		return false;
	attr = &match->numbers[match->nnumbers++];
	*attr = tn_attr_float("", number);
	match->attrs[node->var] = attr;
	return true;
}

static bool bind(const struct tn_pattern *node, struct tn_value *value,
		 unsigned *swaps, struct tn_rule_match *match)
{
	bool swap = take_swap(node, swaps);
	struct tn_value **slot = &match->nodes[node->number];
	int i;

	if (*slot && *slot != value)
		return false;
	*slot = value;
	if (node->kind == TN_PATTERN_NUMBER)
		return node->var < 0 ? is_number(node, value) :
			bind_number(node, value, match);
	if (node->kind == TN_PATTERN_VAR) {
		match->values[node->var] = value;
		return true;
	}
	if (!bind_attrs(node, value->op, match))
		return false;
	for (i = 0; i < node->nargs; i++)
		if (!bind(arg_of(node, i, swap), tn_graph_in(value->op, i),
			  swaps, match))
			return false;
	return true;
}

bool tn_matcher_find(const struct tn_matcher *m, struct tn_op *op,
		     bool (*visit)(void *data, const struct tn_rule *rule,
				   const struct tn_rule_match *match),
		     void *data)
{
	const struct tree *root = &m->roots[op->code], *child;
	struct finder f = {.found = m->found};
	struct tn_rule_match match;
	unsigned swaps;
	int i;

	for (child = root->children; child; child = child->next)
		if (is_op(&child->symbol, op))
			enter(&f, child, op, NULL);
	qsort(f.found, (size_t)f.count, sizeof(f.found[0]), by_priority);
	for (i = 0; i < f.count; i++) {
		memset(&match, 0, sizeof(match));
		match.root = op;
		swaps = f.found[i]->swaps;
		if (bind(f.found[i]->rule->root, op->out[0], &swaps, &match) &&
		    !visit(data, f.found[i]->rule, &match))
			return false;
	}
	return true;
}
