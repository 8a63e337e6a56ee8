/*
 * Builders that only tests call for: one operand, a literal from a double.
 */
#ifndef TN_TESTS_BUILD_H
#define TN_TESTS_BUILD_H

#include "ir/builder.h"

static inline struct tn_value *build_unary(struct tn_builder *builder,
					   enum tn_opcode code,
					   struct tn_value *value,
					   struct tn_span span)
{
	struct tn_op *op;

	op = tn_build_op(builder, code, 1, &value, 0, NULL, span);
	return op ? op->out[0] : NULL;
}

static inline struct tn_value *build_scalar_f64(struct tn_builder *builder,
						enum tn_dtype dtype,
						double value,
						struct tn_span span)
{
	uint64_t room = 0;
	struct tn_tensor tensor;

	tn_tensor_view(&tensor, dtype, 0, NULL, &room);
	tn_tensor_set_f64(&tensor, 0, value);
	return tn_build_const(builder, &tensor, span);
}

#endif
