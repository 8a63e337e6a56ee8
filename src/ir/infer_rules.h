/*
 * What the files of shape rules share: the op in hand, reports that show all
 * operand types, dims compared with guards, attributes made whole.
 * Private to src/ir/infer*.c.
 */
#ifndef TN_IR_INFER_RULES_H
#define TN_IR_INFER_RULES_H

#include "ir/graph.h"
#include "ir/infer.h"

struct tn_infer {
	struct tn_op *op;
	struct tn_fn *fn;
	struct tn_module *module;
	const struct tn_op_info *info;
	enum tn_dtype dtype;	/* of the result, by the drule */
	int rank;		/* result in the making */
	const struct tn_dim *dims[TN_MAX_RANK];
};

/* ---- infer_report.c: reports ------------------------------------------ */

/* Reports at the op, with the types of its operands; for more notes. */
struct tn_diag *tn_infer_report(struct tn_infer *inf, enum tn_code code,
				const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same; always false. */
bool tn_infer_fail(struct tn_infer *inf, enum tn_code code,
		   const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds where the symbols of a dim were declared. */
void tn_infer_note_dim(struct tn_infer *inf, struct tn_diag *diag,
		       const struct tn_dim *dim);
/* Text of a dim or a type in the module's arena; never NULL. */
const char *tn_infer_dim_text(struct tn_infer *inf,
			      const struct tn_dim *dim);
const char *tn_infer_type_text(struct tn_module *module,
			       const struct tn_type *type);

/* ---- infer_dims.c: dims ------------------------------------------------ */

enum tn_infer_relation { TN_DIMS_SAME, TN_DIMS_MAYBE, TN_DIMS_DIFFER };

static inline const struct tn_type *tn_infer_in(const struct tn_infer *inf,
						int i)
{
	return inf->op->in[i].value->type;
}
const struct tn_dim *tn_infer_const(struct tn_infer *inf, int64_t value);
/* Equal, if need be by a guard; false without a report. */
bool tn_infer_same(struct tn_infer *inf, const struct tn_dim *a,
		   const struct tn_dim *b);
/* Equal, or E0312 that says which axis (from the left) of what. */
bool tn_infer_match(struct tn_infer *inf, const struct tn_dim *a,
		    const struct tn_dim *b, const char *what, int axis);
/* Broadcasts dim b into *a, right-aligned axis `from_right`. */
bool tn_infer_stretch(struct tn_infer *inf, const struct tn_dim **a,
		      const struct tn_dim *b, int from_right);
/* a <= b, proved or guarded; false if it never holds (no report). */
bool tn_infer_le(struct tn_infer *inf, const struct tn_dim *a,
		 const struct tn_dim *b);
/* b divides a, proved or guarded; false if it never does (no report). */
bool tn_infer_divides(struct tn_infer *inf, const struct tn_dim *a,
		      const struct tn_dim *b);
bool tn_infer_guard(struct tn_infer *inf, enum tn_guard_kind kind,
		    const struct tn_dim *a, const struct tn_dim *b);
/* False: NULL, reported as E0319 (or out of memory). */
bool tn_infer_made(struct tn_infer *inf, const struct tn_dim *dim);
/* Appends to inf->dims; E0311 beyond TN_MAX_RANK, E0319 when NULL. */
bool tn_infer_push(struct tn_infer *inf, const struct tn_dim *dim);
/* Appends axes [from, to) of a type. */
bool tn_infer_push_axes(struct tn_infer *inf, const struct tn_type *type,
			int from, int to);
/* Appends the sizes of DIMS attribute `shape`. */
bool tn_infer_push_shape(struct tn_infer *inf);
/* Gives result `index` the dims in the making; E0318, E0319. */
bool tn_infer_result(struct tn_infer *inf, int index, enum tn_dtype dtype);
/* Operand i has this rank (E0310). */
bool tn_infer_rank(struct tn_infer *inf, int i, int rank);
bool tn_infer_rank_min(struct tn_infer *inf, int i, int rank);

/* ---- infer_attrs.c: attributes ----------------------------------------- */

/* The attribute of the row; never NULL for a name that the row has. */
struct tn_attr *tn_infer_attr(struct tn_infer *inf, const char *name);
/* Makes INT attribute `name` an axis in [0, rank). */
bool tn_infer_axis(struct tn_infer *inf, const char *name, int rank,
		   int *axis);
/* Makes INTS `name` distinct axes in [0, rank); absent: all. */
bool tn_infer_axes(struct tn_infer *inf, const char *name, int rank);
/* Makes INTS `name` `count` long, each at least `least`. */
bool tn_infer_ints(struct tn_infer *inf, const char *name, int count,
		   int64_t least);
/* Makes PAIRS `name` 2 * count dims, none negative. */
bool tn_infer_pairs(struct tn_infer *inf, const char *name, int count);
/* STRING `name` is one of the words, a list that ends with NULL. */
bool tn_infer_word(struct tn_infer *inf, const char *name,
		   const char *const *words);

/* The result is of integer type `elem` (E0303). infer.c */
bool tn_infer_index_type(struct tn_infer *inf);

/* ---- the rules, by file ------------------------------------------------ */

#define TN_INFER_RULE(name) bool tn_infer_rule_##name(struct tn_infer *inf)
TN_INFER_RULE(bcast);		/* infer_map.c */
TN_INFER_RULE(same);
TN_INFER_RULE(reduce);
TN_INFER_RULE(argreduce);
TN_INFER_RULE(reshape);		/* infer_move.c */
TN_INFER_RULE(transpose);
TN_INFER_RULE(broadcast);
TN_INFER_RULE(slice);
TN_INFER_RULE(pad);
TN_INFER_RULE(concat);
TN_INFER_RULE(reverse);
TN_INFER_RULE(gather);		/* infer_index.c */
TN_INFER_RULE(gather_nd);
TN_INFER_RULE(take_along);
TN_INFER_RULE(scatter);
TN_INFER_RULE(scatter_nd);
TN_INFER_RULE(scatter_along);
TN_INFER_RULE(topk);
TN_INFER_RULE(nonzero);
TN_INFER_RULE(matmul);		/* infer_contract.c */
TN_INFER_RULE(einsum);
TN_INFER_RULE(window);		/* infer_window.c */
TN_INFER_RULE(conv);
TN_INFER_RULE(conv_transpose);
TN_INFER_RULE(pool);
TN_INFER_RULE(resize);
TN_INFER_RULE(const);		/* infer_source.c */
TN_INFER_RULE(iota);
TN_INFER_RULE(iota_shape);
TN_INFER_RULE(dim);
TN_INFER_RULE(flow);		/* infer_flow.c */

/* Types of region parameters from the op's operands. */
void tn_infer_region_params(struct tn_op *op);

#endif
