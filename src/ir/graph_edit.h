/*
 * Writing the graph, without checks: making, linking and unlinking nodes.
 *
 * builder.h (checked operators), rewrite.h (all changes of passes) and the
 * elaborator sit on top of these; passes may not include this. Each call that
 * changes a function moves the module's epoch. All that return a pointer return
 * NULL when out of memory (module->failed is set).
 */
#ifndef TN_IR_GRAPH_EDIT_H
#define TN_IR_GRAPH_EDIT_H

#include "ir/graph.h"

/* With an empty body, entered into module->fns and, if plain, fn_names; it is
 * not made an item. */
struct tn_fn *tn_graph_fn(struct tn_module *module, const char *name,
			  enum tn_fn_kind kind);
/* Entered into module->weights and weight_names; its value is what functions
 * read. It has no origin yet, and is not made an item. */
struct tn_weight *tn_graph_weight(struct tn_module *module, const char *name,
				  const struct tn_type *type,
				  struct tn_span span);
/* The weight is what `maker` makes of its sources, one a parameter. */
bool tn_graph_derive(struct tn_weight *weight, struct tn_fn *maker,
		     struct tn_weight *const *sources);
/* The next region of `parent`; without parent, a block of its own. */
struct tn_block *tn_graph_block(struct tn_fn *fn, struct tn_op *parent);
struct tn_value *tn_graph_param(struct tn_block *block, const char *name,
				const struct tn_type *type);
/* A detached op; attrs are zeroed and named from its row, results untyped. */
struct tn_op *tn_graph_op(struct tn_fn *fn, enum tn_opcode code, int nin,
			  struct tn_value *const *in, int nout,
			  struct tn_span span);
/* Gives the op, which has none, finished regions. False: out of memory. */
bool tn_graph_set_regions(struct tn_op *op, int nregions,
			  struct tn_block *const *regions);
/* Links the op before `before`, or at the end of the block when NULL. Results
 * without a name get a made one. */
void tn_graph_insert(struct tn_block *block, struct tn_op *op,
		     struct tn_op *before);
/* Unlinks the op and its uses and gives its names free; its results must be
 * unused. */
void tn_graph_remove(struct tn_op *op);
void tn_graph_set_operand(struct tn_op *op, int index,
			  struct tn_value *value);
/* All uses of `from` become uses of `to`. */
void tn_graph_replace_uses(struct tn_value *from, struct tn_value *to);
/* Names a value: `wish` or, if taken, `wish__n`; wish NULL: a made name. Of
 * `base__n` the number is free to change. A name of the form `base__n`, or
 * other than wished, does not count as the user's. */
bool tn_graph_name(struct tn_fn *fn, struct tn_value *value,
		   const char *wish);

#endif
