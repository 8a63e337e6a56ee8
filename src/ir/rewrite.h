/*
 * The rewriter: the only way a pass changes the graph. It records what made
 * each op, counts rewrites against the fuel, writes an event for each, and
 * moves the module's epoch.
 *
 *   if (!tn_rw_spend(rw, "fold", op))	a unit of fuel, and the event
 *           return;
 *   tn_rw_before(rw, op, &builder);	what is made stands before op
 *   value = tn_build_const(&builder, ..);
 *   tn_rw_replace(rw, op, &value);	op goes, its name stays
 *
 * A want of memory sets `failed`; what returns a pointer gives NULL then.
 */
#ifndef TN_IR_REWRITE_H
#define TN_IR_REWRITE_H

#include "ir/builder.h"
#include "ir/graph.h"

/* What the last unit of fuel went to. Texts live as long as the module. */
struct tn_rw_last {
	const char *pass, *rule, *fn, *op, *value;	/* or NULL */
	struct tn_span span;
};

struct tn_rw {
	struct tn_module *module;
	const char *pass;	/* origin of what is made */
	int64_t fuel;		/* optional rewrites left, -1: unlimited */
	int64_t count;		/* rewrites done */
	int64_t spent;		/* units of fuel */
	struct tn_rw_last last;
	bool failed;		/* sticky: out of memory */
};

/* ---- One rewrite ---- */

/* An optional one spends one unit; false when fuel is out: the caller must not
 * rewrite. `op` is what the rule met. */
bool tn_rw_spend(struct tn_rw *rw, const char *rule, const struct tn_op *op);
/* One that back ends need: counted and told, but done whatever the fuel, and
 * the fuel is left to the optional ones. */
void tn_rw_note(struct tn_rw *rw, const char *rule, const struct tn_op *op);
/* What a pass left as it was: `rule` would have done it to `op`, with `other`
 * or NULL. The reason is a sentence without its point: "the score matrix, 64
 * elements, fits". An event `miss`; when nobody listens nothing is formatted
 * and it costs a test. */
void tn_rw_miss(struct tn_rw *rw, const char *rule, const struct tn_op *op,
		const struct tn_op *other, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Members file, line, begin and end of the event that is being written; none
 * if the place is in no text. */
void tn_rw_tell_place(const struct tn_rw *rw, struct tn_span span);
/* Whether anybody listens: what a reason needs may be worked out then. */
bool tn_rw_is_heard(const struct tn_rw *rw);

/* ---- Making (rewrite_make.c) ---- */

/* Where an op is put: before `before`, or at the end of `block` when NULL. */
struct tn_rw_spot {
	struct tn_block *block;
	struct tn_op *before;
};

/* A builder that makes checked ops before `op`. */
void tn_rw_before(struct tn_rw *rw, struct tn_op *op,
		  struct tn_builder *builder);
/* A flow op, linked, without results, regions and attributes yet. */
struct tn_op *tn_rw_flow(struct tn_rw *rw, const struct tn_rw_spot *spot,
			 enum tn_opcode code, int nin,
			 struct tn_value *const *in, struct tn_span span);
/* A launch without results yet. */
struct tn_op *tn_rw_launch(struct tn_rw *rw, const struct tn_rw_spot *spot,
			   struct tn_kernel *kernel, int nin,
			   struct tn_value *const *in, struct tn_span span);
/* One more result, named as wished or nearly (NULL: a made name). */
struct tn_value *tn_rw_result(struct tn_rw *rw, struct tn_op *op,
			      const struct tn_type *type, const char *wish);
/* A new parameter of the block at `index`. */
struct tn_value *tn_rw_param(struct tn_rw *rw, struct tn_block *block,
			     int index, const struct tn_type *type,
			     const char *wish);
/* The parameter leaves its block and is the next result of `op`, which stands
 * in that block; name and uses stay. */
bool tn_rw_define(struct tn_rw *rw, struct tn_value *param,
		  struct tn_op *op);
/* The results, the regions of `from` become those of `to`, which has none;
 * names and uses stay. */
void tn_rw_move_results(struct tn_rw *rw, struct tn_op *from,
			struct tn_op *to);
void tn_rw_move_regions(struct tn_rw *rw, struct tn_op *from,
			struct tn_op *to);

/* Operators that leave their function for one of their own. */
struct tn_rw_group {
	const char *name;	/* of the function: `name__f0`, if free */
	int *number;		/* where to look for a free one; moves on */
	const char *kind;	/* of @fused(kind); NULL: what makes a weight,
				 * `name__w0`, a plain function */
	int nops;
	struct tn_op *const *ops;	/* of one block in order; results of
					 * all but the last are read by others
					 * of them alone */
	/* True for a value whose op is copied in, not passed in. */
	bool (*is_source)(const struct tn_value *value);
};

/* Outlines the group: a call of a new function @fused stands in place of the
 * last op, whose results it has. */
struct tn_op *tn_rw_outline(struct tn_rw *rw,
			    const struct tn_rw_group *group);
/* The function alone: the ops stay. Appends what it reads from outside
 * (struct tn_value *), one a parameter, to `operands`. */
struct tn_fn *tn_rw_outline_fn(struct tn_rw *rw,
			       const struct tn_rw_group *group,
			       struct tn_vec *operands);
/* The value of a new weight that `maker` makes of `sources`, one a parameter.
 * It is named `FN__NAME` after the value whose place it takes, or nearly, and
 * stands behind the other weights. (rewrite_weight.c) */
struct tn_value *tn_rw_weight(struct tn_rw *rw, const struct tn_value *like,
			      struct tn_fn *maker,
			      struct tn_weight *const *sources);

/* ---- Changing ---- */

/* Results of `op` become `with` (as many), and the op is erased. Names of the
 * user move to the new values. */
void tn_rw_replace(struct tn_rw *rw, struct tn_op *op,
		   struct tn_value *const *with);
void tn_rw_erase(struct tn_rw *rw, struct tn_op *op);
/* A value whose name says nothing, t__3, is named for `model`, which it stands
 * for or leads to: y__3. */
void tn_rw_name_like(struct tn_rw *rw, struct tn_value *value,
		     const struct tn_value *model);
void tn_rw_set_operand(struct tn_rw *rw, struct tn_op *op, int index,
		       struct tn_value *value);
/* An attribute that the op's row has. */
void tn_rw_set_attr(struct tn_rw *rw, struct tn_op *op, struct tn_attr attr);
void tn_rw_set_kernel(struct tn_rw *rw, struct tn_op *launch,
		      struct tn_kernel *kernel);
/* Of the op and its results. */
void tn_rw_set_span(struct tn_rw *rw, struct tn_op *op, struct tn_span span);
/* How a value lies in memory, NULL: row-major. It must fit the type. */
void tn_rw_set_layout(struct tn_rw *rw, struct tn_value *value,
		      const struct tn_layout *layout);
bool tn_rw_annotate(struct tn_rw *rw, struct tn_op *op, const char *name,
		    const char *args);
void tn_rw_copy_annots(struct tn_rw *rw, struct tn_op *to,
		       const struct tn_op *from);
/* What run time asks at entry of the function. */
bool tn_rw_guard(struct tn_rw *rw, struct tn_fn *fn,
		 const struct tn_guard *guard);
/* Items leave the module; how many. */
size_t tn_rw_drop_items(struct tn_rw *rw,
			bool (*is_dropped)(void *data,
					   const struct tn_item *item),
			void *data);

/* ---- Copying (rewrite_copy.c) ---- */

/* Copies the ops of `from` (with regions) before `before` in `block`, values
 * mapped through `map` (struct tn_map by pointer, params set by the caller),
 * dims through `dims` (by symbol number, may be NULL). */
bool tn_rw_clone(struct tn_rw *rw, const struct tn_block *from,
		 struct tn_block *block, struct tn_op *before,
		 struct tn_map *map, const struct tn_dim *const *dims);
/* A call is opened in two steps. The callee's body is copied before it, up to
 * and with its `return`; */
bool tn_rw_open(struct tn_rw *rw, struct tn_op *call,
		const struct tn_dim *const *dims);
/* then what that `return`, which stands before the call, hands out takes the
 * place of the call's results, and both go. */
bool tn_rw_close(struct tn_rw *rw, struct tn_op *call);

/* ---- Places ---- */

void tn_rw_place(struct tn_rw *rw, struct tn_value *value,
		 const struct tn_place *place);
/* Where the kernel's own buffers begin. */
void tn_rw_scratch(struct tn_rw *rw, struct tn_op *launch, int64_t offset);
void tn_rw_arena(struct tn_rw *rw, struct tn_fn *fn, int64_t bytes);

#endif
