/*
 * Making the nodes of the tree; called by the actions of parse.y.
 *
 * None of these fails: without memory they give a scratch node and the
 * arena's `failed` flag ends the parse at the next token.
 */
#ifndef TN_GRAMMAR_NODE_H
#define TN_GRAMMAR_NODE_H

#include "grammar/lex.h"

/* Moves list `list` (struct tn_vec *, may be NULL) into an array of the tree
 * such as struct tn_exprs. */
#define TN_TAKE(array, list) do { \
	const struct tn_vec *taken = (list); \
	(array).at = taken == NULL ? NULL : taken->data; \
	(array).len = taken == NULL ? 0 : (uint32_t)taken->len; \
} while (0)

void *tn_node_new(struct tn_parser *p, size_t size);
/* The list with `node` at its end; a new list if it was NULL. */
struct tn_vec *tn_node_add(struct tn_parser *p, struct tn_vec *list,
			    void *node);
struct tn_list *tn_node_stmts(struct tn_parser *p, struct tn_list *list,
			       void *node);
struct tn_name tn_node_name(struct tn_parser *p, const char *text,
			     struct tn_loc loc);

struct tn_expr *tn_node_word(struct tn_parser *p, enum tn_expr_kind kind,
			      const char *name, struct tn_loc loc);
struct tn_expr *tn_node_truth(struct tn_parser *p, bool truth,
			       struct tn_loc loc);
struct tn_expr *tn_node_list(struct tn_parser *p, enum tn_expr_kind kind,
			      struct tn_vec *list, struct tn_loc loc);
struct tn_expr *tn_node_tuple(struct tn_parser *p, struct tn_expr *first,
			       struct tn_vec *others, struct tn_loc loc);
struct tn_expr *tn_node_call(struct tn_parser *p, const char *name,
			      struct tn_loc name_loc, struct tn_vec *args,
			      struct tn_loc loc);
struct tn_expr *tn_node_field(struct tn_parser *p, struct tn_expr *base,
			       struct tn_name name, struct tn_loc loc);
struct tn_expr *tn_node_index(struct tn_parser *p, struct tn_expr *base,
			       struct tn_vec *list, struct tn_loc loc);
struct tn_expr *tn_node_unary(struct tn_parser *p, enum tn_infix op,
			       struct tn_expr *operand, struct tn_loc loc);
struct tn_expr *tn_node_binary(struct tn_parser *p, enum tn_infix op,
				struct tn_expr *left, struct tn_expr *right);
struct tn_expr *tn_node_paren(struct tn_parser *p, struct tn_expr *inner,
			       struct tn_loc loc);
struct tn_index *tn_node_range(struct tn_parser *p, enum tn_index_kind kind,
				struct tn_expr *first, struct tn_expr *last,
				struct tn_loc loc);
struct tn_arg *tn_node_arg(struct tn_parser *p, enum tn_arg_kind kind,
			    struct tn_name name, struct tn_expr *value,
			    struct tn_loc loc);

struct tn_tree_type *tn_node_type(struct tn_parser *p, struct tn_name name,
			      struct tn_vec *shape, struct tn_vec *annots,
			      struct tn_loc loc);
struct tn_tree_annot *tn_node_annot(struct tn_parser *p, struct tn_name name,
				struct tn_loc loc);
struct tn_extent *tn_node_extent(struct tn_parser *p, struct tn_expr *size,
				  struct tn_name pack, struct tn_loc loc);
struct tn_param *tn_node_param(struct tn_parser *p, struct tn_name name,
				struct tn_tree_type *type, struct tn_expr *init,
				struct tn_loc loc);
struct tn_from *tn_node_from(struct tn_parser *p, struct tn_name file,
			      struct tn_name key);
struct tn_tree_dim *tn_node_dim(struct tn_parser *p, struct tn_name name,
			    struct tn_loc loc);
/* Sets the bounds from `bounds`, which must be written `[low, high]`. */
void tn_node_bounds(struct tn_parser *p, struct tn_tree_dim *dim,
		     struct tn_expr *bounds);
/* Sets the bounds of the old form `low..high` and reports it. */
void tn_node_old_bounds(struct tn_parser *p, struct tn_tree_dim *dim,
			 struct tn_expr *low, struct tn_expr *high,
			 struct tn_loc loc);

struct tn_tree_block *tn_node_block(struct tn_parser *p, struct tn_list *list,
				struct tn_loc loc);
struct tn_tree_kblock *tn_node_kblock(struct tn_parser *p, struct tn_list *list,
				  struct tn_loc loc);
struct tn_stmt *tn_node_stmt(struct tn_parser *p, enum tn_stmt_kind kind,
			      struct tn_vec *values, struct tn_loc loc);
/* The same with one value. */
struct tn_stmt *tn_node_stmt_of(struct tn_parser *p, enum tn_stmt_kind kind,
				 struct tn_expr *value, struct tn_loc loc);
struct tn_bind *tn_node_bind(struct tn_parser *p, struct tn_name name,
			      struct tn_tree_type *type);
struct tn_carry *tn_node_carry(struct tn_parser *p, struct tn_name name,
				struct tn_tree_type *type,
				struct tn_expr *init);
struct tn_scan_in *tn_node_scan_in(struct tn_parser *p, struct tn_name name,
				    struct tn_expr *value);
struct tn_tree_kstmt *tn_node_kstmt(struct tn_parser *p,
				     enum tn_tree_kstmt_kind kind,
				     struct tn_expr *value, struct tn_loc loc);
struct tn_tree_kstmt *tn_node_let(struct tn_parser *p, struct tn_name name,
				   struct tn_tree_type *type,
				   struct tn_expr *value, struct tn_loc loc);
struct tn_tree_kstmt *tn_node_alloc(struct tn_parser *p, struct tn_name name,
				     struct tn_tree_type *type,
				     struct tn_loc loc);
struct tn_tree_kstmt *tn_node_kif(struct tn_parser *p, struct tn_vec *arms,
				   struct tn_loc loc);
struct tn_tree_kstmt *tn_node_store(struct tn_parser *p,
				     struct tn_expr *target,
				     struct tn_expr *value, bool add,
				     struct tn_loc loc);
/* The head of a loop; its name, ends and body follow. */
struct tn_tree_kstmt *tn_node_loop(struct tn_parser *p,
				    enum tn_tree_loop_kind loop,
				    struct tn_vec *args, struct tn_loc loc);
/* Makes a `let` mutable; `word` must be `mut`. */
void tn_node_mutable(struct tn_parser *p, struct tn_tree_kstmt *let,
		     struct tn_name word);
/* The list of arms with one more; `cond` NULL: else. */
struct tn_vec *tn_node_arm(struct tn_parser *p, struct tn_vec *arms,
			    struct tn_expr *cond, struct tn_tree_block *body);
struct tn_vec *tn_node_karm(struct tn_parser *p, struct tn_vec *arms,
			     struct tn_expr *cond, struct tn_tree_kblock *body);
struct tn_region *tn_node_region(struct tn_parser *p,
				  enum tn_region_kind kind,
				  struct tn_tree_block *body,
				  struct tn_loc loc);
struct tn_region *tn_node_while(struct tn_parser *p, struct tn_vec *carries,
				 struct tn_vec *options,
				 struct tn_tree_block *body,
				 struct tn_loc loc);
struct tn_tree_item *tn_node_item(struct tn_parser *p,
				   enum tn_tree_item_kind kind,
				   struct tn_name name, struct tn_loc loc);
/* from NULL: it says nothing of a file. */
struct tn_tree_item *tn_node_weight(struct tn_parser *p, struct tn_name name,
				     struct tn_tree_type *type,
				     const struct tn_from *from,
				     struct tn_loc loc);
/* A weight that `made`, a call, makes of others. */
struct tn_tree_item *tn_node_derived(struct tn_parser *p, struct tn_name name,
				      struct tn_tree_type *type,
				      struct tn_expr *made,
				      struct tn_loc loc);
/* The weight is a family, `var` in low..high. */
void tn_node_family(struct tn_tree_item *item, struct tn_name var,
		    struct tn_expr *low, struct tn_expr *high);
/* A function or an operator; `body` NULL: without one. */
struct tn_tree_item *tn_node_def(struct tn_parser *p,
				  enum tn_tree_item_kind kind,
				  struct tn_name name, struct tn_sig *sig,
				  struct tn_tree_block *body,
				  struct tn_loc loc);
struct tn_tree_item *tn_node_kernel(struct tn_parser *p, struct tn_name name,
				     struct tn_vec *params,
				     struct tn_tree_kblock *body,
				     struct tn_loc loc);
/* Its two sides follow. */
struct tn_tree_item *tn_node_rule(struct tn_parser *p, struct tn_name name,
				   struct tn_sig *sig, struct tn_expr *where,
				   struct tn_loc loc);
struct tn_generic *tn_node_generic(struct tn_parser *p, struct tn_name name,
				    struct tn_name class_name);
struct tn_field *tn_node_struct_field(struct tn_parser *p,
				       struct tn_name name,
				       struct tn_tree_type *type,
				       struct tn_from *from,
				       struct tn_loc loc);
struct tn_sig *tn_node_sig(struct tn_parser *p, struct tn_vec *generics,
			    struct tn_vec *params, struct tn_vec *results);
/* Fields of an encoding and its value; reports a missing value. */
void tn_node_encoding(struct tn_parser *p, struct tn_tree_item *item,
		       struct tn_expr *block, struct tn_list *fields,
		       struct tn_expr *value);
void tn_node_fields(struct tn_fields *fields, struct tn_list *list);

/* The header: `number` is NULL if there was none. */
void tn_node_header(struct tn_parser *p, struct tn_expr *number,
		     struct tn_loc loc);

#endif
