/*
 * Canonical text of expressions, types and annotations.
 *
 * Parentheses stand only where the grammar needs them: each operand is
 * printed at the least level that its place accepts. Floats keep their
 * spelling, integers are decimal.
 */
#include "grammar/print.h"

#include <inttypes.h>

#include "ir/print.h"

/* Levels beyond the operators': a prefix operator, and what `.` and `[`
 * may follow. */
#define LEVEL_PREFIX 10
#define LEVEL_POSTFIX 12

static void put(struct tn_buf *out, const struct tn_expr *expr, int level);

static bool is_number(const struct tn_expr *expr)
{
	return expr->kind == TN_EXPR_INT || expr->kind == TN_EXPR_FLOAT;
}

static int level_of(const struct tn_expr *expr)
{
	if (expr->kind == TN_EXPR_UNARY ||
	    (is_number(expr) && expr->negative))
		return LEVEL_PREFIX;
	if (expr->kind == TN_EXPR_BINARY)
		return tn_infixes[expr->op].level;
	return LEVEL_POSTFIX;
}

static void put_suffix(struct tn_buf *out, const char *suffix)
{
	if (suffix == NULL)
		return;
	tn_buf_putc(out, '_');
	tn_buf_put(out, suffix);
}

static void put_number(struct tn_buf *out, const struct tn_expr *expr)
{
	if (expr->negative)
		tn_buf_putc(out, '-');
	if (expr->kind == TN_EXPR_INT) {
		tn_buf_putf(out, "%" PRIu64, expr->u.integer.value);
		put_suffix(out, expr->u.integer.suffix);
	} else {
		tn_buf_putn(out, expr->u.real.text, expr->len);
		put_suffix(out, expr->u.real.suffix);
	}
}

static void put_paren(struct tn_buf *out, const struct tn_expr *expr)
{
	tn_buf_putc(out, '(');
	put(out, expr, 0);
	tn_buf_putc(out, ')');
}

/* What `.` or `[` follows; `1.x` would read as a number. */
static void put_base(struct tn_buf *out, const struct tn_expr *base)
{
	if (is_number(base))
		put_paren(out, base);
	else
		put(out, base, LEVEL_POSTFIX);
}

/* `-(1)` keeps its parentheses: `-1` is one literal. */
static void put_unary(struct tn_buf *out, const struct tn_expr *expr)
{
	const struct tn_expr *operand = expr->u.binary.left;

	tn_buf_put(out, tn_infixes[expr->op].text);
	if (expr->op == TN_INFIX_NEG && is_number(operand) &&
	    !operand->negative)
		put_paren(out, operand);
	else
		put(out, operand, LEVEL_PREFIX);
}

/* Left-associative but for comparisons (none) and `**` (right). */
static void put_binary(struct tn_buf *out, const struct tn_expr *expr)
{
	const enum tn_infix op = (enum tn_infix)expr->op;
	const int level = tn_infixes[op].level;
	const bool none = level == tn_infixes[TN_INFIX_EQ].level;
	const bool right = tn_infix_has(op, TN_INFIX_RIGHT);

	put(out, expr->u.binary.left, none || right ? level + 1 : level);
	tn_buf_putf(out, " %s ", tn_infixes[op].text);
	put(out, expr->u.binary.right, right ? LEVEL_PREFIX : level + 1);
}

static void put_index(struct tn_buf *out, const struct tn_expr *expr)
{
	uint32_t i;

	put_base(out, expr->u.index.base);
	tn_buf_putc(out, '[');
	for (i = 0; i < expr->u.index.len; i++) {
		const struct tn_index *index = expr->u.index.at[i];

		if (i > 0)
			tn_buf_put(out, ", ");
		if (index->kind == TN_INDEX_ELLIPSIS)
			tn_buf_put(out, "...");
		if (index->first != NULL)
			put(out, index->first, 0);
		if (index->kind == TN_INDEX_RANGE)
			tn_buf_putc(out, ':');
		if (index->last != NULL)
			put(out, index->last, 0);
	}
	tn_buf_putc(out, ']');
}

static void put_bare(struct tn_buf *out, const struct tn_expr *expr)
{
	switch ((enum tn_expr_kind)expr->kind) {
	case TN_EXPR_NAME:
		tn_name_put(out, expr->u.name);
		break;
	case TN_EXPR_ELEM:
		tn_buf_put(out, expr->u.name);
		break;
	case TN_EXPR_PACK:
		tn_buf_putc(out, '*');
		tn_name_put(out, expr->u.name);
		break;
	case TN_EXPR_STRING:
		tn_print_string(out, expr->u.name);
		break;
	case TN_EXPR_BOOL:
		tn_buf_put(out, expr->u.truth ? "true" : "false");
		break;
	case TN_EXPR_INT:
	case TN_EXPR_FLOAT:
		put_number(out, expr);
		break;
	case TN_EXPR_TUPLE:
		tn_buf_putc(out, '(');
		tn_print_exprs(out, &expr->u.list);
		tn_buf_putc(out, ')');
		break;
	case TN_EXPR_LIST:
		tn_buf_putc(out, '[');
		tn_print_exprs(out, &expr->u.list);
		tn_buf_putc(out, ']');
		break;
	case TN_EXPR_CALL:
		tn_name_put(out, expr->u.call.name);
		tn_buf_putc(out, '(');
		tn_print_args(out, &expr->u.call.args);
		tn_buf_putc(out, ')');
		break;
	case TN_EXPR_FIELD:
		put_base(out, expr->u.field.base);
		tn_buf_putc(out, '.');
		tn_word_put(out, expr->u.field.name.text);
		break;
	case TN_EXPR_INDEX:
		put_index(out, expr);
		break;
	case TN_EXPR_UNARY:
		put_unary(out, expr);
		break;
	case TN_EXPR_BINARY:
		put_binary(out, expr);
		break;
	}
}

static void put(struct tn_buf *out, const struct tn_expr *expr, int level)
{
	if (level_of(expr) < level)
		put_paren(out, expr);
	else
		put_bare(out, expr);
}

void tn_print_expr(struct tn_buf *out, const struct tn_expr *expr)
{
	put(out, expr, 0);
}

void tn_print_exprs(struct tn_buf *out, const struct tn_exprs *exprs)
{
	uint32_t i;

	for (i = 0; i < exprs->len; i++) {
		if (i > 0)
			tn_buf_put(out, ", ");
		put(out, exprs->at[i], 0);
	}
}

void tn_print_args(struct tn_buf *out, const struct tn_args *args)
{
	uint32_t i;

	for (i = 0; i < args->len; i++) {
		const struct tn_arg *arg = args->at[i];

		if (i > 0)
			tn_buf_put(out, ", ");
		if (arg->kind == TN_ARG_REST) {
			tn_buf_put(out, "..");
			tn_name_put(out, arg->name.text);
			continue;
		}
		if (arg->kind == TN_ARG_NAMED) {
			tn_word_put(out, arg->name.text);
			tn_buf_putc(out, '=');
		}
		put(out, arg->value, 0);
	}
}

void tn_print_annot(struct tn_buf *out, const struct tn_tree_annot *annot)
{
	tn_buf_putc(out, '@');
	tn_word_put(out, annot->name.text);
	if (!annot->has_args)
		return;
	tn_buf_putc(out, '(');
	tn_print_args(out, &annot->args);
	tn_buf_putc(out, ')');
}

void tn_print_annots(struct tn_buf *out, const struct tn_tree_annots *annots)
{
	uint32_t i;

	for (i = 0; i < annots->len; i++) {
		tn_buf_putc(out, ' ');
		tn_print_annot(out, annots->at[i]);
	}
}

void tn_print_shape(struct tn_buf *out, const struct tn_extents *shape)
{
	uint32_t i;

	tn_buf_putc(out, '[');
	for (i = 0; i < shape->len; i++) {
		const struct tn_extent *extent = shape->at[i];

		if (i > 0)
			tn_buf_put(out, ", ");
		if (extent->size != NULL) {
			put(out, extent->size, 0);
			continue;
		}
		tn_buf_putc(out, '*');
		tn_name_put(out, extent->pack.text);
	}
	tn_buf_putc(out, ']');
}

void tn_print_type(struct tn_buf *out, const struct tn_tree_type *type)
{
	if (type->is_elem)
		tn_buf_put(out, type->name.text);
	else
		tn_name_put(out, type->name.text);
	if (type->has_shape)
		tn_print_shape(out, &type->shape);
	tn_print_annots(out, &type->annots);
}

void tn_print_typed(struct tn_buf *out, const char *name,
		    const struct tn_tree_type *type)
{
	tn_name_put(out, name);
	if (type == NULL)
		return;
	tn_buf_put(out, ": ");
	tn_print_type(out, type);
}
