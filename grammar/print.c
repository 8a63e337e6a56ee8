/*
 * Canonical text of items and statements: one statement a line, two spaces
 * an indentation, no line breaks elsewhere. Comments are not in the tree and
 * so not in this text (fmt.c keeps them).
 *
 * Law: parsing what is printed gives an equal tree, and printing that gives
 * the same bytes.
 */
#include "grammar/print.h"

#include <inttypes.h>

#include "ir/print.h"

static void put_block(struct tn_buf *out, const struct tn_tree_block *block,
		      size_t indent);
static void put_kblock(struct tn_buf *out, const struct tn_tree_kblock *block,
		       size_t indent);

static void put_indent(struct tn_buf *out, size_t indent)
{
	tn_buf_pad(out, ' ', indent * 2);
}

static void put_string(struct tn_buf *out, const char *before,
		       const char *text)
{
	tn_buf_put(out, before);
	tn_print_string(out, text);
}

static void put_named(struct tn_buf *out, const char *before,
		      const struct tn_name *name)
{
	tn_buf_put(out, before);
	tn_name_put(out, name->text);
}

static void put_expr(struct tn_buf *out, const char *before,
		     const struct tn_expr *expr)
{
	tn_buf_put(out, before);
	tn_print_expr(out, expr);
}

/* `dim ...;` without indentation and line end */
static void put_dim(struct tn_buf *out, const struct tn_tree_dim *dim)
{
	put_named(out, "dim ", &dim->name);
	if (dim->value != NULL) {
		put_expr(out, " = ", dim->value);
	} else {
		put_expr(out, " in [", dim->low);
		put_expr(out, ", ", dim->high);
		tn_buf_putc(out, ']');
	}
	if (dim->opts.len > 0) {
		tn_buf_put(out, " opt ");
		tn_print_exprs(out, &dim->opts);
	}
	if (dim->mod != NULL)
		put_expr(out, " mod ", dim->mod);
	tn_buf_putc(out, ';');
}

/* ---- Regions and statements ------------------------------------------- */

static void put_carries(struct tn_buf *out, const struct tn_carries *carries)
{
	uint32_t i;

	if (carries->len == 0)
		return;
	tn_buf_put(out, "with (");
	for (i = 0; i < carries->len; i++) {
		const struct tn_carry *carry = carries->at[i];

		if (i > 0)
			tn_buf_put(out, ", ");
		tn_print_typed(out, carry->name.text, carry->type);
		put_expr(out, " = ", carry->init);
	}
	tn_buf_put(out, ") ");
}

static void put_options(struct tn_buf *out, const struct tn_args *options)
{
	if (options->len == 0)
		return;
	tn_buf_putc(out, '(');
	tn_print_args(out, options);
	tn_buf_putc(out, ')');
}

static void put_arms(struct tn_buf *out, const struct tn_arms *arms,
		     size_t indent)
{
	uint32_t i;

	for (i = 0; i < arms->len; i++) {
		const struct tn_arm *arm = arms->at[i];

		if (i > 0)
			tn_buf_put(out, " else ");
		if (arm->cond != NULL) {
			put_expr(out, "if ", arm->cond);
			tn_buf_putc(out, ' ');
		}
		put_block(out, &arm->body, indent);
	}
}

/* The condition of a loop: an expression, or a block before `do`. */
static void put_test(struct tn_buf *out, const struct tn_region *region,
		     size_t indent)
{
	tn_buf_putc(out, ' ');
	if (region->cond != NULL) {
		tn_print_expr(out, region->cond);
		return;
	}
	put_block(out, &region->test, indent);
	tn_buf_put(out, " do");
}

static void put_region(struct tn_buf *out, const struct tn_region *region,
		       size_t indent)
{
	uint32_t i;

	put_carries(out, &region->carries);
	switch (region->kind) {
	case TN_REGION_IF:
		put_arms(out, &region->arms, indent);
		return;
	case TN_REGION_FOR:
		put_named(out, "for ", &region->var);
		put_expr(out, " in ", region->low);
		put_expr(out, "..", region->high);
		break;
	case TN_REGION_WHILE:
		tn_buf_put(out, "while");
		put_options(out, &region->options);
		put_test(out, region, indent);
		break;
	case TN_REGION_SCAN:
		tn_buf_put(out, "scan");
		put_options(out, &region->options);
		for (i = 0; i < region->inputs.len; i++) {
			const struct tn_scan_in *in = region->inputs.at[i];

			put_named(out, i == 0 ? " " : ", ", &in->name);
			put_expr(out, " in ", in->value);
		}
		break;
	}
	tn_buf_putc(out, ' ');
	put_block(out, &region->body, indent);
}

static void put_bind(struct tn_buf *out, const struct tn_stmt *stmt,
		     size_t indent)
{
	uint32_t i;

	for (i = 0; i < stmt->binds.len; i++) {
		if (i > 0)
			tn_buf_put(out, ", ");
		tn_print_typed(out, stmt->binds.at[i]->name.text,
			       stmt->binds.at[i]->type);
	}
	tn_buf_put(out, " = ");
	if (stmt->region != NULL)
		put_region(out, stmt->region, indent);
	else
		tn_print_exprs(out, &stmt->values);
	tn_buf_putc(out, ';');
}

static void put_values(struct tn_buf *out, const char *word,
		       const struct tn_stmt *stmt)
{
	tn_buf_put(out, word);
	tn_print_exprs(out, &stmt->values);
	if (stmt->args.len > 0) {
		tn_buf_put(out, ", ");
		tn_print_args(out, &stmt->args);
	}
	tn_buf_putc(out, ';');
}

static void put_stmt(struct tn_buf *out, const struct tn_stmt *stmt,
		     size_t indent)
{
	switch (stmt->kind) {
	case TN_STMT_BIND:
		put_bind(out, stmt, indent);
		break;
	case TN_STMT_DIM:
		put_dim(out, stmt->dim);
		break;
	case TN_STMT_EXPR:
		put_values(out, "", stmt);
		break;
	case TN_STMT_RETURN:
		put_values(out, "return ", stmt);
		break;
	case TN_STMT_YIELD:
		put_values(out, "yield ", stmt);
		break;
	case TN_STMT_EMIT:
		put_values(out, "emit ", stmt);
		break;
	case TN_STMT_EXPECT:
		put_values(out, "expect ", stmt);
		break;
	case TN_STMT_REJECT:
		put_string(out, "reject ", stmt->code.text);
		tn_buf_putc(out, ' ');
		put_block(out, &stmt->block, indent);
		break;
	}
}

static void put_block(struct tn_buf *out, const struct tn_tree_block *block,
		      size_t indent)
{
	uint32_t i;

	tn_buf_put(out, "{\n");
	for (i = 0; i < block->len; i++) {
		put_indent(out, indent + 1);
		put_stmt(out, block->at[i], indent + 1);
		tn_buf_putc(out, '\n');
	}
	put_indent(out, indent);
	tn_buf_putc(out, '}');
}

/* ---- Kernels ----------------------------------------------------------- */

static void put_loop(struct tn_buf *out, const struct tn_tree_kstmt *stmt,
		     size_t indent)
{
	static const char *const words[] = {
		[TN_TREE_LOOP_FOR] = "for", [TN_TREE_LOOP_PAR] = "par",
		[TN_TREE_LOOP_VEC] = "vec", [TN_TREE_LOOP_UNROLL] = "unroll",
	};

	tn_buf_put(out, words[stmt->loop]);
	put_options(out, &stmt->args);
	put_named(out, " ", &stmt->name);
	put_expr(out, " in ", stmt->low);
	put_expr(out, "..", stmt->high);
	if (stmt->step != NULL)
		put_expr(out, " step ", stmt->step);
	tn_buf_putc(out, ' ');
	put_kblock(out, &stmt->body, indent);
}

static void put_karms(struct tn_buf *out, const struct tn_karms *arms,
		      size_t indent)
{
	uint32_t i;

	for (i = 0; i < arms->len; i++) {
		const struct tn_karm *arm = arms->at[i];

		if (i > 0)
			tn_buf_put(out, " else ");
		if (arm->cond != NULL) {
			put_expr(out, "if ", arm->cond);
			tn_buf_putc(out, ' ');
		}
		put_kblock(out, &arm->body, indent);
	}
}

static void put_kstmt(struct tn_buf *out, const struct tn_tree_kstmt *stmt,
		      size_t indent)
{
	switch (stmt->kind) {
	case TN_TREE_KSTMT_LOOP:
		put_loop(out, stmt, indent);
		return;
	case TN_TREE_KSTMT_IF:
		put_karms(out, &stmt->arms, indent);
		return;
	case TN_TREE_KSTMT_LET:
		tn_buf_put(out, stmt->is_mutable ? "let mut " : "let ");
		tn_print_typed(out, stmt->name.text, stmt->type);
		put_expr(out, " = ", stmt->value);
		break;
	case TN_TREE_KSTMT_ALLOC:
		tn_buf_put(out, "alloc ");
		tn_print_typed(out, stmt->name.text, stmt->type);
		break;
	case TN_TREE_KSTMT_STORE:
		tn_print_expr(out, stmt->target);
		put_expr(out, stmt->add ? " += " : " = ", stmt->value);
		break;
	case TN_TREE_KSTMT_EXPR:
		tn_print_expr(out, stmt->value);
		break;
	}
	tn_buf_putc(out, ';');
}

static void put_kblock(struct tn_buf *out, const struct tn_tree_kblock *block,
		       size_t indent)
{
	uint32_t i;

	tn_buf_put(out, "{\n");
	for (i = 0; i < block->len; i++) {
		put_indent(out, indent + 1);
		put_kstmt(out, block->at[i], indent + 1);
		tn_buf_putc(out, '\n');
	}
	put_indent(out, indent);
	tn_buf_putc(out, '}');
}

/* ---- Items -------------------------------------------------------------- */

static void put_from(struct tn_buf *out, const struct tn_from *from)
{
	if (from->file.text != NULL)
		put_string(out, " from ", from->file.text);
	if (from->key.text != NULL)
		put_string(out, " : ", from->key.text);
}

static void put_fields(struct tn_buf *out, const struct tn_fields *fields)
{
	uint32_t i;

	for (i = 0; i < fields->len; i++) {
		const struct tn_field *field = fields->at[i];

		tn_buf_put(out, "  ");
		tn_print_typed(out, field->name.text, field->type);
		put_from(out, &field->from);
		tn_buf_put(out, ";\n");
	}
}

static void put_params(struct tn_buf *out, const struct tn_params *params)
{
	uint32_t i;

	tn_buf_putc(out, '(');
	for (i = 0; i < params->len; i++) {
		const struct tn_param *param = params->at[i];

		if (i > 0)
			tn_buf_put(out, ", ");
		tn_print_typed(out, param->name.text, param->type);
		if (param->init != NULL)
			put_expr(out, " = ", param->init);
	}
	tn_buf_putc(out, ')');
}

static void put_head(struct tn_buf *out, const char *word,
		     const struct tn_tree_item *item, const struct tn_sig *sig)
{
	uint32_t i;

	put_named(out, word, &item->name);
	for (i = 0; i < sig->generics.len; i++) {
		put_named(out, i == 0 ? "<" : ", ",
			  &sig->generics.at[i]->name);
		put_named(out, ": ", &sig->generics.at[i]->class_name);
	}
	if (sig->generics.len > 0)
		tn_buf_putc(out, '>');
	put_params(out, &sig->params);
}

/* fn and op */
static void put_fn(struct tn_buf *out, const char *word,
		   const struct tn_tree_item *item)
{
	const struct tn_sig *sig = item->u.sig;

	put_head(out, word, item, sig);
	tn_buf_put(out, " -> ");
	if (sig->results.len == 1 && sig->results.at[0]->name.text == NULL)
		tn_print_type(out, sig->results.at[0]->type);
	else
		put_params(out, &sig->results);
	if (!sig->has_body) {
		tn_buf_putc(out, ';');
		return;
	}
	tn_buf_putc(out, ' ');
	put_block(out, &sig->body, 0);
}

static void put_rule(struct tn_buf *out, const struct tn_tree_item *item)
{
	put_head(out, "rule ", item, item->u.rule.sig);
	if (item->u.rule.before != NULL) {
		put_expr(out, " : ", item->u.rule.before);
		put_expr(out, " => ", item->u.rule.after);
	} else {
		tn_buf_put(out, " match ");
		put_block(out, &item->u.rule.match, 0);
		tn_buf_put(out, " rewrite ");
		put_block(out, &item->u.rule.rewrite, 0);
	}
	if (item->u.rule.where != NULL)
		put_expr(out, " where ", item->u.rule.where);
	tn_buf_putc(out, ';');
}

static void put_weight(struct tn_buf *out, const struct tn_tree_item *item)
{
	put_named(out, "weight ", &item->name);
	if (item->u.weight.low != NULL) {
		put_named(out, "[", &item->u.weight.var);
		put_expr(out, " in ", item->u.weight.low);
		put_expr(out, "..", item->u.weight.high);
		tn_buf_putc(out, ']');
	}
	tn_buf_put(out, ": ");
	tn_print_type(out, item->u.weight.type);
	put_from(out, &item->u.weight.from);
	if (item->u.weight.made != NULL)
		put_expr(out, " = ", item->u.weight.made);
	tn_buf_putc(out, ';');
}

static void put_encoding(struct tn_buf *out, const struct tn_tree_item *item)
{
	put_named(out, "encoding ", &item->name);
	tn_buf_putf(out, " block %" PRIu64 " {\n", item->u.encoding.block);
	put_fields(out, &item->u.encoding.fields);
	if (item->u.encoding.value != NULL) {
		put_expr(out, "  value = ", item->u.encoding.value);
		tn_buf_put(out, ";\n");
	}
	tn_buf_putc(out, '}');
}

static void put_bare_item(struct tn_buf *out, const struct tn_tree_item *item)
{
	switch (item->kind) {
	case TN_TREE_ITEM_INCLUDE:
		put_string(out, "include ", item->name.text);
		tn_buf_putc(out, ';');
		break;
	case TN_TREE_ITEM_DIM:
		put_dim(out, item->u.dim);
		break;
	case TN_TREE_ITEM_CONST:
		tn_buf_put(out, "const ");
		tn_print_typed(out, item->name.text, item->u.constant.type);
		put_expr(out, " = ", item->u.constant.value);
		tn_buf_putc(out, ';');
		break;
	case TN_TREE_ITEM_STRUCT:
		put_named(out, "struct ", &item->name);
		if (item->u.fields.sizes.len)
			tn_print_shape(out, &item->u.fields.sizes);
		tn_buf_put(out, " {\n");
		put_fields(out, &item->u.fields);
		tn_buf_putc(out, '}');
		break;
	case TN_TREE_ITEM_WEIGHT:
		put_weight(out, item);
		break;
	case TN_TREE_ITEM_ENCODING:
		put_encoding(out, item);
		break;
	case TN_TREE_ITEM_MESH:
		put_named(out, "mesh ", &item->name);
		tn_buf_put(out, " = [");
		tn_print_args(out, &item->u.mesh);
		tn_buf_put(out, "];");
		break;
	case TN_TREE_ITEM_FN:
		put_fn(out, "fn ", item);
		break;
	case TN_TREE_ITEM_OP:
		put_fn(out, "op ", item);
		break;
	case TN_TREE_ITEM_RULE:
		put_rule(out, item);
		break;
	case TN_TREE_ITEM_TEST:
		put_string(out, "test ", item->name.text);
		tn_buf_putc(out, ' ');
		put_block(out, &item->u.test.body, 0);
		break;
	case TN_TREE_ITEM_KERNEL:
		put_head(out, "kernel ", item, item->u.sig);
		tn_buf_putc(out, ' ');
		put_kblock(out, &item->u.sig->kernel, 0);
		break;
	}
}

void tn_print_item(struct tn_buf *out, const struct tn_tree_item *item)
{
	uint32_t i;

	for (i = 0; i < item->annots.len; i++) {
		tn_print_annot(out, item->annots.at[i]);
		tn_buf_putc(out, i + 1 < item->annots.len ? ' ' : '\n');
	}
	put_bare_item(out, item);
	tn_buf_putc(out, '\n');
}

void tn_print_tree(struct tn_buf *out, const struct tn_tree *tree)
{
	uint32_t i;

	tn_buf_putf(out, "tenon %u.%u;\n", tree->major, tree->minor);
	for (i = 0; i < tree->len; i++)
		tn_print_item(out, tree->at[i]);
}
