/* What print.c and print_op.c share. */
#ifndef TN_IR_PRINT_INNER_H
#define TN_IR_PRINT_INNER_H

#include "ir/print.h"

struct tn_printer {
	struct tn_buf *buf;
	const struct tn_print_options *options;	/* never NULL */
	struct tn_map *syms;	/* run-time dims declared; NULL: not shown */
	const struct tn_map *items;	/* names that hide operators, or NULL */
	int depth;		/* of blocks */
	bool one_line;		/* regions are left out */
};

/* ` @name(args)` for each. */
void tn_printer_annots(struct tn_printer *p, const struct tn_annots *annots);
/* ` @layout(..)` of a value of a family, whose first axis the text does not
 * show. */
void tn_print_member_layout(struct tn_buf *buf,
			    const struct tn_layout *layout);
/* `name: type @annots`. */
void tn_printer_value(struct tn_printer *p, const struct tn_value *value);
void tn_printer_op(struct tn_printer *p, const struct tn_op *op);
/* ` {`, the ops and `}`. */
void tn_printer_block(struct tn_printer *p, const struct tn_block *block);

#endif
