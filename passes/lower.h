/*
 * What the files of the pass `lower` share: the state of one kernel under
 * construction, and the generator of element expressions.
 *
 * A group is one operator, or the body of a function @fused. Its kernel is a
 * loop nest made by the class of its anchor (the operator that is not an
 * element-wise map, or the first result), in which tn_lower_element writes an
 * element of any value of the group: maps and movement are inlined, values
 * from outside are loaded. What the anchor computed is known to the generator
 * by tn_lower_know, so an epilogue is written the same way as a prologue.
 */
#ifndef TN_PASSES_LOWER_H
#define TN_PASSES_LOWER_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/eval.h"
#include "ir/infer.h"
#include "ir/kernel.h"
#include "ir/layout.h"
#include "passes/pass.h"

/* A value at an index, as an expression that holds in the open scopes. */
struct tn_lower_known {
	const struct tn_value *value;
	int nindex;
	const struct tn_kexpr *index[TN_MAX_RANK];
	const struct tn_kexpr *expr;
	struct tn_lower_known *before;	/* of the same value */
};

/* An axis that runs in blocks: block * n + lane is the index. */
struct tn_lower_split {
	const struct tn_kexpr *index, *block, *lane;
	int64_t n;
};

/* What the group returns, and whether a nest stores it already. */
struct tn_lower_result {
	const struct tn_value *value;
	struct tn_kbuf *buf;
	bool is_done;
};

struct tn_lower_scope {
	struct tn_kblock *block;
	size_t nknown;
};

struct tn_lower {
	struct tn_module *module;
	struct tn_rw *rw;
	const struct tn_target *target;
	struct tn_map kernel_names;	/* name -> the map itself */
	struct tn_map kernels;		/* hash -> struct tn_kernel list */
	bool failed;			/* out of memory */
	const char *why;		/* the first reason not to lower */
	bool is_bug;			/* that reason is our own fault */
	const struct tn_op *where;

	/* of the kernel under construction */
	const struct tn_op *op;		/* the op or the call */
	const struct tn_block *group;	/* body of the fused fn, or NULL */
	struct tn_kernel *kernel;
	struct tn_kblock *block;	/* statements go here */
	struct tn_map bufs;		/* value -> struct tn_kbuf * */
	struct tn_map actuals;		/* param of the fused fn -> operand */
	struct tn_map taken;		/* names of the kernel */
	struct tn_map latest;		/* value -> struct tn_lower_known * */
	struct tn_vec known;		/* struct tn_lower_known * */
	struct tn_vec scopes;		/* struct tn_lower_scope */
	struct tn_vec splits;		/* struct tn_lower_split */
	struct tn_vec operands;		/* struct tn_value *: of the launch */
	struct tn_vec results;		/* struct tn_lower_result */
	bool unfit;			/* the group is not one kernel */
	const struct tn_map *homes;	/* of a group of several nests: op ->
					 * mark of its nest, none: many; or
					 * NULL */
	const void *home;		/* the mark of the nest being made */
};


/* lower_kit.c: names, loops, small expressions */

/* A name not yet used in the kernel: plain letters, digits, underscores. */
const char *tn_lower_name(struct tn_lower *lw, const char *wish);
/* Opens `for wish in from..to`; statements go into it. The index. */
const struct tn_kexpr *tn_lower_for(struct tn_lower *lw, const char *wish,
				    const struct tn_kexpr *from,
				    const struct tn_kexpr *to);
/* Loop over a dim; the literal 1 needs none. */
const struct tn_kexpr *tn_lower_for_dim(struct tn_lower *lw,
					const char *wish,
					const struct tn_dim *dim);
/* Loops over all dims of a type. */
void tn_lower_for_type(struct tn_lower *lw, const struct tn_type *type,
		       const struct tn_kexpr **index);
/* Loops over a value of the type in the order of a layout: the innermost one
 * over what lies side by side. `index` gets the axes of the value. */
void tn_lower_for_layout(struct tn_lower *lw, const struct tn_type *type,
			 const struct tn_layout *layout,
			 const struct tn_kexpr **index);
/* Loops over result n of an anchor, in the order in which the first result of
 * the group that has its shape lies. */
void tn_lower_for_result(struct tn_lower *lw, const struct tn_op *op, int n,
			 const struct tn_kexpr **index);
/* The one map from an index of a value to that of the bytes in its buffer. */
void tn_lower_place(struct tn_lower *lw, const struct tn_kbuf *buf,
		    const struct tn_kexpr *const *index,
		    const struct tn_kexpr **at);
/* The element of a buffer at an index of the value that it holds. */
const struct tn_kexpr *tn_lower_load(struct tn_lower *lw, struct tn_kbuf *buf,
				     const struct tn_kexpr *const *index);
/* Opens `if cond`. */
struct tn_kstmt *tn_lower_if(struct tn_lower *lw,
			     const struct tn_kexpr *cond);
/* Goes on in the other branch of the `if`, which must be the open scope. */
void tn_lower_else(struct tn_lower *lw, struct tn_kstmt *stmt);
/* Open scopes; close down to that many. */
size_t tn_lower_mark(const struct tn_lower *lw);
void tn_lower_close(struct tn_lower *lw, size_t mark);

/* `let wish = value`; leaves and variables are returned as they are. */
const struct tn_kexpr *tn_lower_let(struct tn_lower *lw, const char *wish,
				    const struct tn_kexpr *value);
/* `let mut wish = value`. */
struct tn_kvar *tn_lower_mut(struct tn_lower *lw, const char *wish,
			     const struct tn_kexpr *value);
void tn_lower_set(struct tn_lower *lw, struct tn_kvar *var,
		  const struct tn_kexpr *value);
void tn_lower_store(struct tn_lower *lw, struct tn_kbuf *buf,
		    const struct tn_kexpr *const *index,
		    const struct tn_kexpr *value);
void tn_lower_raise(struct tn_lower *lw, const struct tn_kexpr *cond,
		    uint32_t flags);

const struct tn_kexpr *tn_lower_int(struct tn_lower *lw, int64_t value);
const struct tn_kexpr *tn_lower_dim(struct tn_lower *lw,
				    const struct tn_dim *dim);
const struct tn_kexpr *tn_lower_get(struct tn_lower *lw,
				    struct tn_kvar *var);
/* A literal of any type: 0, 1, ... */
const struct tn_kexpr *tn_lower_number(struct tn_lower *lw,
				       enum tn_dtype dtype, int64_t value);
/* The start of a reduction. */
const struct tn_kexpr *tn_lower_identity(struct tn_lower *lw,
					 enum tn_identity identity,
					 enum tn_dtype dtype);
const struct tn_kexpr *tn_lower_unary(struct tn_lower *lw, enum tn_opcode,
				      const struct tn_kexpr *a);
/* Result type of a, bool for comparisons. */
const struct tn_kexpr *tn_lower_binary(struct tn_lower *lw, enum tn_opcode,
				       const struct tn_kexpr *a,
				       const struct tn_kexpr *b);
const struct tn_kexpr *tn_lower_select(struct tn_lower *lw,
				       const struct tn_kexpr *cond,
				       const struct tn_kexpr *a,
				       const struct tn_kexpr *b);
/* Conversion; nothing if it is the type already. */
const struct tn_kexpr *tn_lower_cast(struct tn_lower *lw, enum tn_dtype,
				     const struct tn_kexpr *a);
/* f32 for the 16-bit floats, else the type itself. */
enum tn_dtype tn_lower_wide(enum tn_dtype dtype);
/* max(0, min(i, n - 1)). */
const struct tn_kexpr *tn_lower_clamp(struct tn_lower *lw,
				      const struct tn_kexpr *i,
				      const struct tn_dim *n);
/* 0 <= i < n */
const struct tn_kexpr *tn_lower_within(struct tn_lower *lw,
				       const struct tn_kexpr *i,
				       const struct tn_dim *n);
const struct tn_dim *tn_lower_dim_int(struct tn_lower *lw, int64_t value);
/* A buffer of the kernel's own in the arena, declared ahead of all else. NULL:
 * unfit or failed. */
struct tn_kbuf *tn_lower_scratch(struct tn_lower *lw, const char *wish,
				 enum tn_dtype dtype, int rank,
				 const struct tn_dim *const *dims);
/* Products that are summed may become FMA in this kernel. */
void tn_lower_may_contract(struct tn_lower *lw, const struct tn_op *op);
/* A transpose. */
bool tn_lower_is_permuted(const struct tn_op *op);
/* The value has those dims, or is a transpose of one that has. */
bool tn_lower_is_made_at(const struct tn_value *value,
			 const struct tn_type *type);
/* Gives up this group as one kernel. */
void tn_lower_unfit(struct tn_lower *lw);

/* Attributes of a checked op. */
int64_t tn_lower_attr_int(const struct tn_op *op, const char *name);
bool tn_lower_attr_bool(const struct tn_op *op, const char *name);
const char *tn_lower_attr_text(const struct tn_op *op, const char *name);

/* lower_element.c */

/* The element of `value` at `index`, one entry an axis. */
const struct tn_kexpr *tn_lower_element(struct tn_lower *lw,
					const struct tn_value *value,
					const struct tn_kexpr *const *index);
/* Tells that `value` at `index` is `expr` while the open scope lasts. */
void tn_lower_know(struct tn_lower *lw, const struct tn_value *value,
		   const struct tn_kexpr *const *index,
		   const struct tn_kexpr *expr);
/* The value itself, or the operand behind a parameter of the group. */
struct tn_value *tn_lower_actual(const struct tn_lower *lw,
				 const struct tn_value *value);
/* True for a one-element constant or a dim: a literal in kernels. */
bool tn_lower_is_literal(const struct tn_value *value);
/* True if the nest uses the value more than once: worth a `let`. */
bool tn_lower_is_shared(const struct tn_lower *lw,
			const struct tn_value *value);
/* True if the op defines its value inside the group. */
bool tn_lower_in_group(const struct tn_lower *lw, const struct tn_op *op);

/* lower_layout.c */

/* Layouts where nothing can keep them, on what flow carries, are dropped; what
 * `print` and flow read in another layout is copied. */
bool tn_lower_layouts(struct tn_lower *lw, struct tn_block *block);

/* lower_move.c: the index of operand k that gives the result at `index`;
 * *cond, if not NULL afterwards, says where operand k is meant at all. */
void tn_lower_move_index(struct tn_lower *lw, const struct tn_op *op, int k,
			 const struct tn_kexpr *const *index,
			 const struct tn_kexpr **out,
			 const struct tn_kexpr **cond);

/* lower_index.c: requests of the gathers (see lower_element.c). */
int tn_lower_gather_requests(const struct tn_op *op);
const struct tn_value *tn_lower_gather_request(
	struct tn_lower *lw, const struct tn_op *op, int q,
	const struct tn_kexpr *const *index,
	const struct tn_kexpr *const *got, const struct tn_kexpr **out);
/* Non-NULL: the data are there at all. */
const struct tn_kexpr *tn_lower_gather_finish(
	struct tn_lower *lw, const struct tn_op *op,
	const struct tn_kexpr *const *got);
/* lower_source.c */
const struct tn_kexpr *tn_lower_source(struct tn_lower *lw,
				       const struct tn_op *op,
				       const struct tn_kexpr *const *index);

/* The nests of the classes: for an anchor of the group. Each writes what the
 * group returns of it through tn_lower_finish. */
/* Nests for all results that are not stored yet. */
void tn_lower_map(struct tn_lower *lw);
/* A nest that makes one result element by element. */
void tn_lower_nest(struct tn_lower *lw, struct tn_lower_result *result);
void tn_lower_reduce(struct tn_lower *lw, const struct tn_op *op);
void tn_lower_scan(struct tn_lower *lw, const struct tn_op *op);
void tn_lower_contract(struct tn_lower *lw, const struct tn_op *op);
void tn_lower_window(struct tn_lower *lw, const struct tn_op *op);
void tn_lower_resize(struct tn_lower *lw, const struct tn_op *op);
void tn_lower_move(struct tn_lower *lw, const struct tn_op *op);
void tn_lower_index(struct tn_lower *lw, const struct tn_op *op);
/* A scatter that adds or multiplies halves; it becomes one of f32. */
bool tn_lower_is_half_scatter(const struct tn_op *op);
void tn_lower_widen_scatter(struct tn_lower *lw, struct tn_op *op);
void tn_lower_order(struct tn_lower *lw, const struct tn_op *op);
/* Inside the anchor's nest: `value` is its result `n` at `index`. Stores all
 * results of the group that follow from it. */
void tn_lower_finish(struct tn_lower *lw, const struct tn_op *op, int n,
		     const struct tn_kexpr *const *index,
		     const struct tn_kexpr *value);
/* The output buffer of an anchor that writes it directly; NULL (and the group
 * unfit) if the group does not return result n itself. */
struct tn_kbuf *tn_lower_out(struct tn_lower *lw, const struct tn_op *op,
			     int n);

/* A kernel name not yet used in the module. */
const char *tn_lower_kernel_name(struct tn_lower *lw, const char *wish);

/* lower_stage.c: the nests of a group with several anchors. */
void tn_lower_stages(struct tn_lower *lw);

/* lower_kernel.c */

/* True if the op needs a nest of its own kind. */
bool tn_lower_is_anchor(const struct tn_lower *lw, const struct tn_op *op);
/* The nest of an anchor, and of what the group returns of it. */
void tn_lower_anchor(struct tn_lower *lw, const struct tn_op *op);
/* The target runs one grid a kernel: no order between nests. */
bool tn_lower_is_grid(const struct tn_lower *lw);

/* Replaces an op or a call of a fused fn by a launch of its kernel. If the
 * group is not one kernel `lw->unfit` is set and nothing changed. */
bool tn_lower_op(struct tn_lower *lw, struct tn_op *op);
/* Starts a kernel made by hand, with no group. */
bool tn_lower_begin(struct tn_lower *lw, const char *fn, const char *name);
/* A parameter for a value; its role decides operands and results. It has the
 * extents of the value's layout. */
struct tn_kbuf *tn_lower_param(struct tn_lower *lw, struct tn_value *value,
			       enum tn_kbuf_role role);
/* Ends the kernel: a launch of it before `before` in `block`, with the operands
 * gathered by tn_lower_param and no results yet. NULL: failed. */
struct tn_op *tn_lower_launch(struct tn_lower *lw, struct tn_block *block,
			      struct tn_op *before, struct tn_span span);
/* A copy of `value` in a layout by a kernel, before `before` in its block. */
struct tn_value *tn_lower_copy(struct tn_lower *lw, struct tn_value *value,
			       const struct tn_layout *layout,
			       struct tn_op *before);
/* A hash of a kernel without its names (lower_hash.c). */
uint64_t tn_lower_hash(const struct tn_kernel *kernel);

/* lower_flow.c */

/* A scan becomes a `for`: the op that stands in its place. NULL: failed. */
struct tn_op *tn_lower_scan_loop(struct tn_lower *lw, struct tn_op *op);
/* Copies what a loop yields or a function returns where its buffer is not its
 * own; `params` are those of the carries, NULL for a return. */
bool tn_lower_ends(struct tn_lower *lw, struct tn_op *end,
		   struct tn_value *const *params);
/* An assert becomes a launch that raises the flag. */
bool tn_lower_assert(struct tn_lower *lw, struct tn_op *op);

/* lower_update.c */

/* Numbers the ops of a block from 1, in order, before it is lowered. */
void tn_lower_number_ops(struct tn_block *block);
/* Copies, ahead of a launch of a kernel that was there before, the operands
 * that it updates but that are not its own. */
bool tn_lower_updates(struct tn_lower *lw, struct tn_op *launch);

#endif
