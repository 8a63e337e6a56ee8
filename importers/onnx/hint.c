/*
 * Shapes that declared ones ask for. Exporters often declare the results of the
 * graph alone; what lies before them has the same shape as far as maps lead
 * back. Nodes whose shape only run time knows take such a hint for what it may
 * be, and assert it.
 *
 *   s = ReduceSum(x, axes); r = Sqrt(s)     with r declared f32[3, 1]
 *                                           s is hinted [3, 1]
 *
 * A map of several operands may stretch one of size 1: then the hint is wrong,
 * and so is the assert.
 */
#include <string.h>

#include "importers/onnx/onnx.h"

/* Maps, and how many of their first operands have the shape of the result; 0:
 * all. */
static const struct {
	const char *op;
	size_t operands;
} maps[] = {
	{ "Abs", 1 }, { "Add", 0 }, { "And", 0 }, { "Cast", 1 },
	{ "CastLike", 1 }, { "Ceil", 1 }, { "Clip", 1 }, { "Cos", 1 },
	{ "Div", 0 }, { "Equal", 0 }, { "Erf", 1 }, { "Exp", 1 },
	{ "Floor", 1 }, { "Greater", 0 }, { "GreaterOrEqual", 0 },
	{ "Identity", 1 }, { "Less", 0 }, { "LessOrEqual", 0 }, { "Log", 1 },
	{ "Max", 0 }, { "Min", 0 }, { "Mod", 0 }, { "Mul", 0 }, { "Neg", 1 },
	{ "Not", 1 }, { "Or", 0 }, { "Pow", 0 }, { "Reciprocal", 1 },
	{ "Relu", 1 }, { "Round", 1 }, { "Sigmoid", 1 }, { "Sin", 1 },
	{ "Sqrt", 1 }, { "Sub", 0 }, { "Sum", 0 }, { "Tanh", 1 },
	{ "Where", 0 }, { "Xor", 0 },
};

/* Of readers that ask for different shapes: none has that many axes. */
static const struct onnx_shape conflict = {
	.dims = { .len = TN_MAX_RANK + 1 }
};

const struct onnx_shape *tn_onnx_shape_of(const struct tn_onnx_scope *scope,
					  const char *name)
{
	const struct onnx_type *type = tn_map_find(&scope->infos, name);
	const struct onnx_shape *shape;

	if (type && type->tensor && type->tensor->shape)
		return type->tensor->shape;
	shape = tn_map_find(&scope->hints, name);
	return shape == &conflict ? NULL : shape;
}

static bool same_size(const struct onnx_dim *a, const struct onnx_dim *b)
{
	if (a->value.is_set || b->value.is_set)
		return a->value.is_set && b->value.is_set &&
		       a->value.v == b->value.v;
	return a->param && b->param && !strcmp(a->param, b->param);
}

static bool same_shape(const struct onnx_shape *a, const struct onnx_shape *b)
{
	size_t i;

	if (a->dims.len != b->dims.len)
		return false;
	for (i = 0; i < a->dims.len; i++)
		if (!same_size(&a->dims.at[i], &b->dims.at[i]))
			return false;
	return true;
}

static bool hint(struct tn_onnx_scope *scope, const char *name,
		 const struct onnx_shape *shape)
{
	const struct onnx_shape *had = tn_map_find(&scope->hints, name);

	if (had && (had == &conflict || !same_shape(had, shape)))
		shape = &conflict;
	return tn_map_set(&scope->hints, name, (void *)(uintptr_t)shape);
}

static bool hint_operands(struct tn_onnx_scope *scope,
			  const struct onnx_node *node, size_t operands)
{
	const struct onnx_shape *shape = node->outputs.len ?
		tn_onnx_shape_of(scope, node->outputs.at[0]) : NULL;
	size_t i;

	if (!operands)
		operands = node->inputs.len;
	for (i = 0; shape && i < operands && i < node->inputs.len; i++)
		if (node->inputs.at[i][0] &&
		    !hint(scope, node->inputs.at[i], shape))
			return false;
	return true;
}

bool tn_onnx_hint(struct tn_onnx_scope *scope,
		  const struct onnx_node_list *nodes)
{
	const struct onnx_node *node;
	size_t i, k;

	for (i = nodes->len; i-- > 0;) {
		node = &nodes->at[i];
		for (k = 0; k < sizeof(maps) / sizeof(maps[0]); k++)
			if (node->op && !tn_onnx_domain(node->domain)[0] &&
			    !strcmp(node->op, maps[k].op) &&
			    !hint_operands(scope, node, maps[k].operands))
				return false;
	}
	return true;
}
