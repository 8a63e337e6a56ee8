/*
 * Graphs in graphs as regions: the nodes of such a graph in a block, and the
 * operators over blocks.
 */
#include "importers/onnx/region.h"

#include <string.h>

#include "ir/graph_edit.h"
#include "ir/infer.h"

const struct onnx_graph *tn_region_graph(struct tn_onnx *n, const char *name)
{
	const struct onnx_attr *attr = tn_onnx_attr(n, name);

	if (attr && attr->g)
		return attr->g;
	tn_onnx_report(n, TN_E1012, "graph '%s' is missing", name);
	return NULL;
}

struct tn_block *tn_region_open(struct tn_onnx *n)
{
	struct tn_op *place =
		tn_graph_op(n->job->fn, TN_OP_yield, 0, NULL, 0, n->span);

	return place ? tn_graph_block(n->job->fn, place) : NULL;
}

bool tn_region_begin(struct tn_region *r, struct tn_onnx *n,
		     const struct onnx_graph *graph, struct tn_block *block)
{
	memset(r, 0, sizeof(*r));
	r->n = n;
	r->graph = graph;
	r->block = block;
	tn_onnx_scope_init(n->job, &r->scope, n->scope, block);
	if (n->job->depth++ >= ONNX_DEPTH || !block ||
	    graph->outputs.len > TN_REGION_MOST ||
	    graph->inputs.len > TN_REGION_MOST) {
		tn_onnx_refuse(n, "graphs nested too deeply, or too wide");
		return false;
	}
	return tn_onnx_enter(n->job, &r->scope, graph);
}

bool tn_region_give(struct tn_region *r, size_t i, struct tn_onnx_value *value)
{
	const char *name =
		i < r->graph->inputs.len ? r->graph->inputs.at[i].name : NULL;

	return !name || !name[0] ||
	       tn_onnx_bind(r->n->job, &r->scope, name, value);
}

bool tn_region_give_value(struct tn_region *r, size_t i, struct tn_value *v)
{
	struct tn_onnx_value *value = tn_onnx_new(r->n->job, ONNX_TENSOR, NULL);

	if (!value || !v)
		return false;
	value->v = v;
	return tn_region_give(r, i, value);
}

struct tn_value *tn_region_param(struct tn_region *r, size_t i,
				 const struct tn_type *type)
{
	const char *name =
		i < r->graph->inputs.len ? r->graph->inputs.at[i].name : NULL;
	struct tn_value *v;

	v = tn_graph_param(r->block, name && name[0] ? name : "carry", type);
	return v && tn_region_give_value(r, i, v) ? v : NULL;
}

bool tn_region_finish(struct tn_region *r)
{
	struct tn_onnx_job *job = r->n->job;
	size_t i;

	tn_onnx_nodes(job, &r->scope, &r->graph->nodes);
	for (i = 0; i < r->graph->outputs.len; i++) {
		const char *name = r->graph->outputs.at[i].name;

		r->outs[i] = tn_onnx_find(&r->scope, name ? name : "");
		if (!r->outs[i])
			tn_onnx_report(r->n, TN_E1006, "nothing gives '%s'",
				       name ? name : "");
		if (!r->outs[i] || r->outs[i]->kind == ONNX_POISON)
			r->n->failed = true;
	}
	r->nouts = (int)r->graph->outputs.len;
	return !r->n->failed;
}

void tn_region_end(struct tn_region *r)
{
	tn_onnx_scope_fini(&r->scope);
	r->n->job->depth--;
}

struct tn_value *tn_region_out(struct tn_region *r, int i)
{
	struct tn_onnx_value *value = i < r->nouts ? r->outs[i] : NULL;

	if (value && value->kind == ONNX_TENSOR)
		return tn_onnx_make(r->n->job, value);
	tn_onnx_refuse(r->n, "result %d of a graph is no tensor", i);
	return NULL;
}

bool tn_region_yield(struct tn_region *r, int count,
		     struct tn_value *const *values, int nemits)
{
	struct tn_attr attr = tn_attr_int("emits", nemits);
	struct tn_builder b;

	tn_builder_init(&b, r->block);
	return tn_build_op(&b, TN_OP_yield, count, values, 1, &attr,
			   r->n->span) != NULL;
}

void tn_region_drop(struct tn_block *block)
{
	int i;

	while (block->last) {
		for (i = 0; i < block->last->nregions; i++)
			tn_region_drop(block->last->regions[i]);
		tn_graph_remove(block->last);
	}
}

struct tn_op *tn_region_op(struct tn_onnx *n, enum tn_opcode code,
			   const struct tn_region_in *in, int nregions,
			   struct tn_block *const *regions, int nout)
{
	struct tn_op *op =
		tn_graph_op(n->job->fn, code, in->count, in->at, nout, n->span);

	return op && tn_graph_set_regions(op, nregions, regions) ? op : NULL;
}

bool tn_region_infer(struct tn_onnx *n, struct tn_op *op, int nattrs,
		     const struct tn_attr *attrs)
{
	struct tn_attr *to;
	int i;

	for (i = 0; i < nattrs; i++) {
		to = tn_graph_attr(op, attrs[i].name);
		if (!to)
			return false;
		*to = attrs[i];
		to->is_set = true;
	}
	tn_graph_insert(n->scope->block, op, NULL);
	if (tn_infer_op(op))
		return true;
	n->job->is_bad = true;
	n->failed = true;
	return false;
}

struct tn_value *tn_onnx_apply(struct tn_onnx *n, const char *name,
			       struct tn_value *x)
{
	const struct onnx_graph *graph = tn_region_graph(n, name);
	struct tn_value *y = NULL;
	struct tn_region r;

	if (!graph)
		return NULL;
	if (graph->inputs.len != 1 || graph->outputs.len != 1) {
		tn_onnx_report(n, TN_E1012,
			       "graph '%s' has %d inputs and %d "
			       "results, not one",
			       name, (int)graph->inputs.len,
			       (int)graph->outputs.len);
		return NULL;
	}
	if (tn_region_begin(&r, n, graph, n->scope->block) &&
	    tn_region_give_value(&r, 0, x) && tn_region_finish(&r))
		y = tn_region_out(&r, 0);
	tn_region_end(&r);
	return y;
}

struct tn_onnx tn_region_elsewhere(struct tn_onnx *n,
				   struct tn_onnx_scope *scope,
				   struct tn_block *block)
{
	struct tn_onnx other = *n;

	*scope = *n->scope;
	scope->block = block;
	other.scope = scope;
	return other;
}
