/*
 * Graphs in graphs, for the handlers of If, Loop, Scan and SequenceMap: the
 * nodes go into a block, their own or that of the node at work.
 */
#ifndef TN_IMPORTERS_ONNX_REGION_H
#define TN_IMPORTERS_ONNX_REGION_H

#include "importers/onnx/onnx.h"

/* Inputs and results of a graph, at most. */
#define TN_REGION_MOST 64

/* A graph at work in a block. */
struct tn_region {
	struct tn_onnx *n;
	const struct onnx_graph *graph;
	struct tn_onnx_scope scope;
	struct tn_block *block;
	int nouts;
	struct tn_onnx_value *outs[TN_REGION_MOST];
};

/* Operands of an operator over blocks. */
struct tn_region_in {
	int count;
	struct tn_value *const *at;
};

/* The graph that is an attribute; NULL after a report. */
const struct onnx_graph *tn_region_graph(struct tn_onnx *n, const char *name);
/* A block that is not the body: its parent is set when the op is made. */
struct tn_block *tn_region_open(struct tn_onnx *n);

/* Begins in `block`; the caller binds the inputs. Ends with tn_region_end, also
 * where it fails. */
bool tn_region_begin(struct tn_region *r, struct tn_onnx *n,
		     const struct onnx_graph *graph, struct tn_block *block);
void tn_region_end(struct tn_region *r);
/* Binds input i. */
bool tn_region_give(struct tn_region *r, size_t i,
		    struct tn_onnx_value *value);
bool tn_region_give_value(struct tn_region *r, size_t i, struct tn_value *v);
/* A parameter of the block for input i. */
struct tn_value *tn_region_param(struct tn_region *r, size_t i,
				 const struct tn_type *type);
/* Runs the nodes; the results are found by name. */
bool tn_region_finish(struct tn_region *r);
/* Result i as a tensor; NULL after a report. */
struct tn_value *tn_region_out(struct tn_region *r, int i);
bool tn_region_yield(struct tn_region *r, int count,
		     struct tn_value *const *values, int nemits);
/* Removes all operators of a block that stays unused. */
void tn_region_drop(struct tn_block *block);

/* The operator over finished blocks, yet to be placed and typed. */
struct tn_op *tn_region_op(struct tn_onnx *n, enum tn_opcode code,
			   const struct tn_region_in *in, int nregions,
			   struct tn_block *const *regions, int nout);
/* Sets attributes by place in the row, and types the results. */
bool tn_region_infer(struct tn_onnx *n, struct tn_op *op, int nattrs,
		     const struct tn_attr *attrs);
/* A node that works in another block. */
struct tn_onnx tn_region_elsewhere(struct tn_onnx *n,
				   struct tn_onnx_scope *scope,
				   struct tn_block *block);

#endif
