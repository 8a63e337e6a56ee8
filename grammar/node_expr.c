/*
 * Making the nodes of expressions; see node.h.
 *
 * A minus in front of a literal becomes part of it (-128 is one INT node
 * with `negative`), unless the literal stands in parentheses.
 */
#include "grammar/node.h"

static struct tn_expr *new_expr(struct tn_parser *p, enum tn_expr_kind kind,
				struct tn_loc loc)
{
	struct tn_expr *expr = tn_node_new(p, sizeof(*expr));

	expr->kind = (uint8_t)kind;
	expr->span = tn_lex_span(p, loc);
	return expr;
}

/* Makes `expr` at least one level deeper than `child`. */
static void deepen(struct tn_parser *p, struct tn_expr *expr,
		   const struct tn_expr *child)
{
	struct tn_loc loc = { child->span.end - 1, child->span.end };

	if (child->depth < expr->depth)
		return;
	expr->depth = (uint16_t)(child->depth + 1);
	if (expr->depth >= TN_TREE_DEPTH)
		tn_lex_too_deep(p, loc);
}

struct tn_expr *tn_node_word(struct tn_parser *p, enum tn_expr_kind kind,
			      const char *name, struct tn_loc loc)
{
	struct tn_expr *expr = new_expr(p, kind, loc);

	expr->u.name = name;
	return expr;
}

struct tn_expr *tn_node_truth(struct tn_parser *p, bool truth,
			       struct tn_loc loc)
{
	struct tn_expr *expr = new_expr(p, TN_EXPR_BOOL, loc);

	expr->u.truth = truth;
	return expr;
}

struct tn_expr *tn_node_list(struct tn_parser *p, enum tn_expr_kind kind,
			      struct tn_vec *list, struct tn_loc loc)
{
	struct tn_expr *expr = new_expr(p, kind, loc);
	uint32_t i;

	TN_TAKE(expr->u.list, list);
	if (!p->scan.arena->failed)
		for (i = 0; i < expr->u.list.len; i++)
			deepen(p, expr, expr->u.list.at[i]);
	return expr;
}

struct tn_expr *tn_node_tuple(struct tn_parser *p, struct tn_expr *first,
			       struct tn_vec *others, struct tn_loc loc)
{
	struct tn_vec *list = tn_node_add(p, NULL, first);
	size_t i;

	for (i = 0; others != NULL && i < others->len; i++)
		tn_node_add(p, list, tn_vec_ptr(others, i));
	return tn_node_list(p, TN_EXPR_TUPLE, list, loc);
}

struct tn_expr *tn_node_call(struct tn_parser *p, const char *name,
			      struct tn_loc name_loc, struct tn_vec *args,
			      struct tn_loc loc)
{
	struct tn_expr *expr = new_expr(p, TN_EXPR_CALL, loc);
	struct tn_args list;
	uint32_t i;

	TN_TAKE(list, args);
	expr->u.call.name = name;
	expr->u.call.args = list;
	expr->len = name_loc.end - name_loc.begin;
	if (!p->scan.arena->failed)
		for (i = 0; i < list.len; i++)
			if (list.at[i]->value != NULL)
				deepen(p, expr, list.at[i]->value);
	return expr;
}

struct tn_expr *tn_node_field(struct tn_parser *p, struct tn_expr *base,
			       struct tn_name name, struct tn_loc loc)
{
	struct tn_expr *expr = new_expr(p, TN_EXPR_FIELD, loc);

	expr->u.field.base = base;
	expr->u.field.name = name;
	deepen(p, expr, base);
	return expr;
}

struct tn_expr *tn_node_index(struct tn_parser *p, struct tn_expr *base,
			       struct tn_vec *list, struct tn_loc loc)
{
	struct tn_expr *expr = new_expr(p, TN_EXPR_INDEX, loc);
	uint32_t i;

	expr->u.index.base = base;
	TN_TAKE(expr->u.index, list);
	deepen(p, expr, base);
	if (p->scan.arena->failed)
		return expr;
	for (i = 0; i < expr->u.index.len; i++) {
		const struct tn_index *index = expr->u.index.at[i];

		if (index->first != NULL)
			deepen(p, expr, index->first);
		if (index->last != NULL)
			deepen(p, expr, index->last);
	}
	return expr;
}

static bool is_number(const struct tn_expr *expr)
{
	return expr->kind == TN_EXPR_INT || expr->kind == TN_EXPR_FLOAT;
}

struct tn_expr *tn_node_unary(struct tn_parser *p, enum tn_infix op,
			       struct tn_expr *operand, struct tn_loc loc)
{
	struct tn_expr *expr;

	if (op == TN_INFIX_NEG && is_number(operand) && !operand->paren &&
	    !operand->negative) {
		operand->negative = true;
		operand->span = tn_lex_span(p, loc);
		return operand;
	}
	expr = new_expr(p, TN_EXPR_UNARY, loc);
	expr->op = (uint8_t)op;
	expr->u.binary.left = operand;
	deepen(p, expr, operand);
	return expr;
}

struct tn_expr *tn_node_binary(struct tn_parser *p, enum tn_infix op,
				struct tn_expr *left, struct tn_expr *right)
{
	struct tn_loc loc = { left->span.begin, right->span.end };
	struct tn_expr *expr = new_expr(p, TN_EXPR_BINARY, loc);

	expr->op = (uint8_t)op;
	expr->u.binary.left = left;
	expr->u.binary.right = right;
	deepen(p, expr, left);
	deepen(p, expr, right);
	return expr;
}

struct tn_expr *tn_node_paren(struct tn_parser *p, struct tn_expr *inner,
			       struct tn_loc loc)
{
	const uint32_t skip = inner->span.begin - loc.begin + inner->skip;

	inner->paren = true;
	inner->skip = (uint16_t)(skip < UINT16_MAX ? skip : UINT16_MAX);
	inner->span = tn_lex_span(p, loc);
	return inner;
}

struct tn_index *tn_node_range(struct tn_parser *p, enum tn_index_kind kind,
				struct tn_expr *first, struct tn_expr *last,
				struct tn_loc loc)
{
	struct tn_index *index = tn_node_new(p, sizeof(*index));

	index->kind = kind;
	index->first = first;
	index->last = last;
	index->span = tn_lex_span(p, loc);
	return index;
}

struct tn_arg *tn_node_arg(struct tn_parser *p, enum tn_arg_kind kind,
			    struct tn_name name, struct tn_expr *value,
			    struct tn_loc loc)
{
	struct tn_arg *arg = tn_node_new(p, sizeof(*arg));

	arg->kind = kind;
	arg->name = name;
	arg->value = value;
	arg->span = tn_lex_span(p, loc);
	return arg;
}
