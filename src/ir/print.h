/*
 * The canonical printer and structural equality.
 *
 * Laws: parse(print(m)) equals m; print(parse(print(m))) is byte-equal.
 */
#ifndef TN_IR_PRINT_H
#define TN_IR_PRINT_H

#include "base/buf.h"
#include "ir/graph.h"

struct tn_print_options {
	bool brief;	/* lossy: constants over 8 elements are left out; a
			 * module begins with a token the parser refuses */
	bool places;	/* show the memory plan as @at(..) */
	bool alone;	/* a function without its module: operators that an
			 * item's name hides are not marked `std::` */
	/* Called for a constant over 64 elements: returns the name of the side
	 * file to print (and stores the data), or NULL to print it inline. */
	const char *(*side_file)(void *data, const struct tn_tensor *tensor);
	void *data;
};

void tn_print_module(struct tn_buf *buf, const struct tn_module *module,
		     const struct tn_print_options *options);
void tn_print_fn(struct tn_buf *buf, const struct tn_fn *fn,
		 const struct tn_print_options *options);
/* The statement of the op, its regions included, without a last newline. */
void tn_print_op(struct tn_buf *buf, const struct tn_op *op,
		 const struct tn_print_options *options);
/* The same in one line: regions are left out. */
void tn_print_op_line(struct tn_buf *buf, const struct tn_op *op);
void tn_print_attr(struct tn_buf *buf, const struct tn_attr *attr);
/* Whether the word is a name only in backquotes, wherever it stands: reserved,
 * or an element type. */
bool tn_print_is_reserved(const char *name);
/* A name, in backquotes if it is not a plain identifier or is reserved. */
void tn_print_name(struct tn_buf *buf, const char *name);
/* A string literal with its quotes. */
void tn_print_string(struct tn_buf *buf, const char *text);
/* A tensor literal that a typed binding reads: `1.5`, `[[1, 2], [3, 4]]`,
 * shortest round trip; `[]` if empty. NaN other than the plain one, and
 * elements that are only stored, as `bitcast([0x7fc00001_u32], elem=f32)`. */
void tn_print_literal(struct tn_buf *buf, const struct tn_tensor *tensor);
/* The name under which the text shows a value: a carry of `while` is a value
 * of the condition and one of the body, and has the name of the former. */
const char *tn_print_value_name(const struct tn_value *value);
/* The attribute has the value that its absence means. */
bool tn_print_is_default(const struct tn_op *op, int attr);

/* ` @layout(..)`, if there is one. */
void tn_print_layout(struct tn_buf *buf, const struct tn_layout *layout);
/* Same items, names, types, attributes, annotations, literals by bits. On a
 * difference, `why` (may be NULL) gets a line that says where. */
bool tn_module_equal(const struct tn_module *a, const struct tn_module *b,
		     struct tn_buf *why);

#endif
