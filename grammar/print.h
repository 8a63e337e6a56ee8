/* Pieces of canonical text, shared by print.c and print_expr.c. */
#ifndef TN_GRAMMAR_PRINT_H
#define TN_GRAMMAR_PRINT_H

#include "grammar/syntax.h"

/* `a, b` */
void tn_print_exprs(struct tn_buf *out, const struct tn_exprs *exprs);
/* `x, axis=1, ..rest` */
void tn_print_args(struct tn_buf *out, const struct tn_args *args);
/* ` @name(args)` for each */
void tn_print_annots(struct tn_buf *out, const struct tn_tree_annots *annots);
/* `name: type`, or the name alone */
void tn_print_shape(struct tn_buf *out, const struct tn_extents *shape);
void tn_print_typed(struct tn_buf *out, const char *name,
		    const struct tn_tree_type *type);

#endif
