/*
 * The builder: makes checked operators at a place. Types are inferred; a
 * mistake is reported to the module's sink at the given span and gives a
 * poison value, which later operators accept in silence. Errors are sticky.
 *
 *   struct tn_value *y = tn_build_binary(&b, TN_OP_add, x, w, span);
 */
#ifndef TN_IR_BUILDER_H
#define TN_IR_BUILDER_H

#include "ir/graph.h"

struct tn_builder {
	struct tn_module *module;
	struct tn_fn *fn;
	struct tn_block *block;
	struct tn_op *before;	/* insertion point, NULL: end of the block */
	const char *origin;	/* given to every op made */
	bool failed;		/* sticky: an error was reported */
};

/* What a name in a text stands for: a value, or else a size. */
struct tn_given {
	const char *name;
	struct tn_value *value;
	const struct tn_dim *dim;
};

/* Statements in the language, for those who build with the help of who reads
 * it. */
struct tn_text {
	const char *text;
	int ngiven;
	const struct tn_given *given;
};

void tn_builder_init(struct tn_builder *builder, struct tn_block *block);

/* An op with given attributes (those not named take their defaults). The
 * types of results are inferred, except of FLOW ops and `const`. NULL only
 * when out of memory. */
struct tn_op *tn_build_op(struct tn_builder *builder, enum tn_opcode code,
			  int nin, struct tn_value *const *in, int nattrs,
			  const struct tn_attr *attrs, struct tn_span span);
/* First result of tn_build_op; NULL: out of memory. */
struct tn_value *tn_build_binary(struct tn_builder *, enum tn_opcode,
				 struct tn_value *, struct tn_value *,
				 struct tn_span);
struct tn_value *tn_build_cast(struct tn_builder *, struct tn_value *,
			       enum tn_dtype, struct tn_span);
struct tn_value *tn_build_reshape(struct tn_builder *, struct tn_value *,
				  int rank, const struct tn_dim *const *dims,
				  struct tn_span);
/* A literal; the tensor's data is copied into the module. */
struct tn_value *tn_build_const(struct tn_builder *, const struct tn_tensor *,
				struct tn_span);
/* A scalar literal of the type. */
struct tn_value *tn_build_scalar_i64(struct tn_builder *, enum tn_dtype,
				     int64_t, struct tn_span);

/* Attribute values for the calls above. */
struct tn_attr tn_attr_int(const char *name, int64_t value);
struct tn_attr tn_attr_float(const char *name, double value);
struct tn_attr tn_attr_bool(const char *name, bool value);
struct tn_attr tn_attr_string(const char *name, const char *value);
struct tn_attr tn_attr_dtype(const char *name, enum tn_dtype value);
struct tn_attr tn_attr_ints(const char *name, int count,
			    const int64_t *values);
struct tn_attr tn_attr_dim(const char *name, const struct tn_dim *value);
struct tn_attr tn_attr_dims(const char *name, int count,
			    const struct tn_dim *const *values);
struct tn_attr tn_attr_pairs(const char *name, int npairs,
			     const struct tn_dim *const *values);

#endif
