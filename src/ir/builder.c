/*
 * The builder: an op is made, its attributes copied, linked at the insertion
 * point, and inferred there.
 */
#include "ir/builder.h"

#include <string.h>

#include "ir/graph_edit.h"
#include "ir/infer.h"
#include "ir/print.h"

void tn_builder_init(struct tn_builder *builder, struct tn_block *block)
{
	*builder = (struct tn_builder){
		.module = block->fn->module,
		.fn = block->fn,
		.block = block,
	};
}

/* ---- Attributes ------------------------------------------------------ */

/* Copies what the attribute's value points to into the module. */
static bool keep_attr(struct tn_module *module, struct tn_attr *attr)
{
	size_t count = (size_t)attr->count;

	switch (attr->kind) {
	case TN_ATTR_STRING:
		if (!attr->u.s)
			break;
		attr->u.s = tn_intern_text(module->names, attr->u.s);
		return attr->u.s != NULL;
	case TN_ATTR_INTS:
		attr->u.ints = tn_arena_copy(&module->arena, attr->u.ints,
					     count * sizeof(*attr->u.ints));
		return attr->u.ints != NULL;
	case TN_ATTR_DIMS:
	case TN_ATTR_PAIRS:
		attr->u.dims = tn_arena_copy(&module->arena, attr->u.dims,
					     count * sizeof(*attr->u.dims));
		return attr->u.dims != NULL;
	case TN_ATTR_INT:
	case TN_ATTR_FLOAT:
	case TN_ATTR_BOOL:
	case TN_ATTR_DTYPE:
	case TN_ATTR_DIM:
		break;
	}
	return true;
}

/* An attribute of the row takes its place; others (of calls, or mistaken
 * ones, which inference reports) are put at the end. */
static bool set_attrs(struct tn_module *module, struct tn_op *op, int nattrs,
		      const struct tn_attr *attrs)
{
	struct tn_attr *list;
	int i, count = op->nattrs;

	if (!nattrs)
		return true;
	list = tn_arena_array(&module->arena, (size_t)(count + nattrs),
			      sizeof(*list));
	if (!list)
		return false;
	if (count)
		memcpy(list, op->attrs, (size_t)count * sizeof(*list));
	op->attrs = list;
	for (i = 0; i < nattrs; i++) {
		struct tn_attr *to = tn_graph_attr(op, attrs[i].name);

		if (!to)
			to = &list[op->nattrs++];
		*to = attrs[i];
		to->is_set = true;
		to->name = tn_intern_text(module->names, attrs[i].name);
		if (!to->name || !keep_attr(module, to))
			return false;
	}
	return true;
}

static struct tn_attr attr_of(const char *name, enum tn_attr_kind kind)
{
	return (struct tn_attr){.name = name, .kind = kind, .is_set = true};
}

struct tn_attr tn_attr_int(const char *name, int64_t value)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_INT);

	attr.u.i = value;
	return attr;
}

struct tn_attr tn_attr_float(const char *name, double value)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_FLOAT);

	attr.u.f = value;
	return attr;
}

struct tn_attr tn_attr_bool(const char *name, bool value)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_BOOL);

	attr.u.b = value;
	return attr;
}

struct tn_attr tn_attr_string(const char *name, const char *value)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_STRING);

	attr.u.s = value;
	return attr;
}

struct tn_attr tn_attr_dtype(const char *name, enum tn_dtype value)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_DTYPE);

	attr.u.dtype = value;
	return attr;
}

struct tn_attr tn_attr_ints(const char *name, int count, const int64_t *values)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_INTS);

	attr.count = count;
	attr.u.ints = values;
	return attr;
}

struct tn_attr tn_attr_dim(const char *name, const struct tn_dim *value)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_DIM);

	attr.u.dim = value;
	return attr;
}

struct tn_attr tn_attr_dims(const char *name, int count,
			    const struct tn_dim *const *values)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_DIMS);

	attr.count = count;
	attr.u.dims = values;
	return attr;
}

struct tn_attr tn_attr_pairs(const char *name, int npairs,
			     const struct tn_dim *const *values)
{
	struct tn_attr attr = attr_of(name, TN_ATTR_PAIRS);

	attr.count = npairs * 2;
	attr.u.dims = values;
	return attr;
}

/* ---- Operators ------------------------------------------------------- */

static void *out_of_memory(struct tn_builder *builder)
{
	builder->module->failed = true;
	builder->failed = true;
	return NULL;
}

/* Types the results, or completes the attributes of ops whose results are
 * typed by the caller. */
static void check(struct tn_builder *builder, struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];
	bool by_caller = op->code == TN_OP_const ||
			 (info->op_class == TN_CLASS_FLOW &&
			  !(info->flags & TN_FLAG_EFFECT));

	if (!(by_caller ? tn_infer_attrs(op) : tn_infer_op(op)))
		builder->failed = true;
}

/* `print` shows a value under its name, which it keeps whatever passes make of
 * the value. */
static bool set_label(struct tn_module *module, struct tn_op *op)
{
	const struct tn_attr *label = tn_graph_attr(op, "label");
	const char *name = tn_print_value_name(tn_graph_in(op, 0));
	struct tn_attr attr;

	if (!name || (label && label->is_set && label->u.s[0]))
		return true;
	attr = tn_attr_string("label", name);
	return set_attrs(module, op, 1, &attr);
}

struct tn_op *tn_build_op(struct tn_builder *builder, enum tn_opcode code,
			  int nin, struct tn_value *const *in, int nattrs,
			  const struct tn_attr *attrs, struct tn_span span)
{
	int i, nout = tn_ops[code].nout;
	struct tn_op *op;

	for (i = 0; i < nin; i++)
		if (!in[i])
			return out_of_memory(builder);
	op = tn_graph_op(builder->fn, code, nin, in, nout < 0 ? 0 : nout, span);
	if (!op)
		return out_of_memory(builder);
	if (!set_attrs(builder->module, op, nattrs, attrs) ||
	    (code == TN_OP_print && !set_label(builder->module, op))) {
		tn_graph_remove(op);
		return out_of_memory(builder);
	}
	op->origin = builder->origin;
	tn_graph_insert(builder->block, op, builder->before);
	check(builder, op);
	if (builder->module->failed)
		return out_of_memory(builder);
	return op;
}

static struct tn_value *first_result(struct tn_op *op)
{
	return op ? op->out[0] : NULL;
}

struct tn_value *tn_build_binary(struct tn_builder *builder,
				 enum tn_opcode code, struct tn_value *a,
				 struct tn_value *b, struct tn_span span)
{
	struct tn_value *in[] = {a, b};

	return first_result(tn_build_op(builder, code, 2, in, 0, NULL, span));
}

struct tn_value *tn_build_cast(struct tn_builder *builder,
			       struct tn_value *value, enum tn_dtype dtype,
			       struct tn_span span)
{
	struct tn_attr attr = tn_attr_dtype("elem", dtype);

	return first_result(tn_build_op(builder, TN_OP_cast, 1, &value, 1,
					&attr, span));
}

struct tn_value *tn_build_reshape(struct tn_builder *builder,
				  struct tn_value *value, int rank,
				  const struct tn_dim *const *dims,
				  struct tn_span span)
{
	struct tn_attr attr = tn_attr_dims("shape", rank, dims);

	return first_result(tn_build_op(builder, TN_OP_reshape, 1, &value, 1,
					&attr, span));
}

/* ---- Literals -------------------------------------------------------- */

static const struct tn_tensor *keep_tensor(struct tn_module *module,
					   const struct tn_tensor *tensor)
{
	struct tn_tensor *copy =
		tn_arena_copy(&module->arena, tensor, sizeof(*tensor));
	int64_t bytes = tn_tensor_bytes(tensor);

	if (!copy || bytes < 0)
		return NULL;
	copy->owned = false;
	copy->data = NULL;
	if (!bytes)
		return copy;
	copy->data = tn_arena_copy(&module->arena, tensor->data,
				   (size_t)bytes);
	return copy->data ? copy : NULL;
}

struct tn_value *tn_build_const(struct tn_builder *builder,
				const struct tn_tensor *tensor,
				struct tn_span span)
{
	const struct tn_tensor *copy = keep_tensor(builder->module, tensor);
	const struct tn_type *type = tn_tensor_type(builder->module, tensor);
	struct tn_op *op;

	if (!copy || !type)
		return out_of_memory(builder);
	op = tn_build_op(builder, TN_OP_const, 0, NULL, 0, NULL, span);
	if (!op)
		return NULL;
	op->literal = copy;
	op->out[0]->type = type;
	return op->out[0];
}

struct tn_value *tn_build_scalar_i64(struct tn_builder *builder,
				     enum tn_dtype dtype, int64_t value,
				     struct tn_span span)
{
	uint64_t room = 0;
	struct tn_tensor tensor;

	tn_tensor_view(&tensor, dtype, 0, NULL, &room);
	tn_tensor_set_i64(&tensor, 0, value);
	return tn_build_const(builder, &tensor, span);
}
