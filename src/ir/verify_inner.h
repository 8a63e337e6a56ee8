/* What verify.c and verify_props.c share. */
#ifndef TN_IR_VERIFY_INNER_H
#define TN_IR_VERIFY_INNER_H

#include "ir/graph.h"

struct tn_verify {
	unsigned props;
	struct tn_buf *faults;
	const struct tn_fn *fn;
	struct tn_map weights;	/* values of weights */
	struct tn_map live;	/* plain functions that are items */
	struct tn_map numbers;	/* value -> number, while it may be used */
	struct tn_map names;	/* of the function so far */
	int64_t count;
	bool good, failed;
};

/* One line; op NULL: of the function or the module. */
void tn_verify_fault(struct tn_verify *v, const struct tn_op *op,
		     const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The layout of a value fits its type. */
void tn_verify_layout(struct tn_verify *v, const struct tn_op *op,
		      const struct tn_value *value);
/* What the properties promise of one op. */
void tn_verify_op_props(struct tn_verify *v, const struct tn_op *op);

#endif
