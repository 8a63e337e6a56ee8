/*
 * The rewriter: the only way a pass changes the graph. It records what made
 * each op, counts rewrites against the fuel and, if asked, writes events.
 */
#ifndef TN_IR_REWRITE_H
#define TN_IR_REWRITE_H

#include "ir/builder.h"
#include "ir/graph.h"

struct tn_rw {
	struct tn_module *module;
	const char *pass;	/* origin of what is made */
	int64_t fuel;		/* rewrites left, -1: unlimited; borrowed view */
	int64_t count;		/* rewrites done */
	struct tn_buf *events;	/* JSON lines, or NULL */
	bool failed;		/* sticky: out of memory */
};

/* Spends one unit; false when fuel is out: the caller must not rewrite. */
bool tn_rw_spend(struct tn_rw *rw, const char *rule, const struct tn_op *op);
/* A builder that makes ops before `op`. */
void tn_rw_before(struct tn_rw *rw, struct tn_op *op,
		  struct tn_builder *builder);
/* Results of `op` become `with` (as many), and the op is erased. Names of the
 * user move to the new values. */
void tn_rw_replace(struct tn_rw *rw, struct tn_op *op,
		   struct tn_value *const *with);
void tn_rw_erase(struct tn_rw *rw, struct tn_op *op);
void tn_rw_set_operand(struct tn_rw *rw, struct tn_op *op, int index,
		       struct tn_value *value);
/* Copies the ops of `from` (with regions) before `before` in `block`, values
 * mapped through `map` (struct tn_map by pointer, params set by the caller),
 * dims through `dims` (by symbol number, may be NULL). */
bool tn_rw_clone(struct tn_rw *rw, const struct tn_block *from,
		 struct tn_block *block, struct tn_op *before,
		 struct tn_map *map, const struct tn_dim *const *dims);

#endif
