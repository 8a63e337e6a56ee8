/*
 * Parameters of `main`: the inputs of the graph that have no initialiser. Those
 * that the user fixes at import are constants. A sequence becomes a parameter an
 * item, and so does an optional value that is there; how many, the user says.
 *
 *   x: seq(f32[N]), --length=x=2     is     x_0: f32[N], x_1: f32[N]
 */
#include <string.h>

#include "importers/onnx/onnx.h"
#include "ir/graph_edit.h"

/* Types of inputs nest at most so deep. */
#define DEPTH 8

/* The first node that reads each name. */
static bool note_readers(struct tn_onnx_job *job)
{
	const struct onnx_node_list *nodes = &job->model.graph->nodes;
	size_t i, k;

	for (i = 0; i < nodes->len; i++)
		for (k = 0; k < nodes->at[i].inputs.len; k++)
			if (!tn_map_has(&job->readers,
					nodes->at[i].inputs.at[k]) &&
			    !tn_map_set(&job->readers,
					nodes->at[i].inputs.at[k],
					&nodes->at[i]))
				return false;
	return true;
}

/* A node that reads the input at work: messages show it. */
static struct tn_span place(struct tn_onnx_job *job)
{
	struct tn_span nowhere = { job->file, 0, 0 };
	const struct tn_span *span = NULL;
	const struct onnx_node *node;

	if (job->readers.len || note_readers(job)) {
		node = tn_map_find(&job->readers, job->input);
		span = node ? tn_map_find(&job->lines, node) : NULL;
	}
	return span ? *span : nowhere;
}

static struct tn_diag *refuse(struct tn_onnx_job *job, const char *name,
			      const char *what)
{
	job->is_unsupported = true;
	return tn_diag_report(job->host->sink, TN_E1015, place(job),
			      "input '%s' is %s", name, what);
}

static struct tn_onnx_value *poison(struct tn_onnx_job *job, const char *name)
{
	return tn_onnx_new(job, ONNX_POISON, name);
}

/* ---- Tensors --------------------------------------------------------------- */

/* What the user says of the sizes: of the input, or of all items of `whole`. */
static const struct tn_import_shape *find_shape(struct tn_onnx_job *job,
						const char *name,
						const char *whole)
{
	struct tn_import_shape *found = NULL, *shape;
	int i;

	for (i = 0; i < job->host->nshapes; i++) {
		shape = &job->host->shapes[i];
		if (!strcmp(shape->said.name, name))
			found = shape;
		else if (!found && !strcmp(shape->said.name, whole))
			found = shape;
	}
	if (found)
		found->said.is_used = true;
	return found;
}

static const struct tn_dim *free_size(struct tn_onnx_job *job,
				      const char *name, int axis)
{
	name = tn_arena_printf(&job->arena, "%s_%d", name, axis);
	return name ? tn_onnx_symbol(job, name) : NULL;
}

/* The size of an axis as declared; those without a name are called after it. */
static const struct tn_dim *declared_size(struct tn_onnx_job *job,
					  const struct onnx_dim *dim,
					  const char *name, int axis)
{
	if (dim->value.is_set && dim->value.v >= 0)
		return tn_dim_const(&job->module->dims, dim->value.v);
	return tn_onnx_names_size(dim->param) ?
		tn_onnx_symbol(job, dim->param) : free_size(job, name, axis);
}

/* A size that is given must be the declared one, if that is a number. */
static const struct tn_dim *size_of(struct tn_onnx_job *job,
				    const struct onnx_shape *declared,
				    const struct tn_import_shape *given,
				    const char *name, int axis)
{
	const struct onnx_dim *dim = declared ? &declared->dims.at[axis] :
		NULL;

	if (!given || given->sizes[axis] < 0)
		return dim ? declared_size(job, dim, name, axis) :
			free_size(job, name, axis);
	if (dim && dim->value.is_set && dim->value.v >= 0 &&
	    dim->value.v != given->sizes[axis]) {
		refuse(job, name, "of another size than given");
		return NULL;
	}
	return tn_dim_const(&job->module->dims, given->sizes[axis]);
}

static const struct tn_type *param_type(struct tn_onnx_job *job,
					const char *name, const char *whole,
					const struct onnx_tensortype *tensor)
{
	const struct tn_import_shape *given = find_shape(job, name, whole);
	enum tn_dtype dtype = tn_onnx_dtype(tensor->elem.v);
	const struct onnx_shape *shape = tensor->shape;
	const struct tn_dim *dims[TN_MAX_RANK];
	int i, rank;

	if (dtype == TN_POISON) {
		refuse(job, name, "of an element type that is not supported");
		return NULL;
	}
	if ((!shape && !given) || (shape && shape->dims.len > TN_MAX_RANK)) {
		tn_diag_help(job->host->sink,
			     refuse(job, name, "of unknown rank"),
			     "give its sizes, `?` for a free one: "
			     "--shape=%s=2x?", name);
		return NULL;
	}
	rank = shape ? (int)shape->dims.len : given->rank;
	if (given && given->rank != rank) {
		refuse(job, name, "of another rank than given");
		return NULL;
	}
	for (i = 0; i < rank; i++) {
		dims[i] = size_of(job, shape, given, name, i);
		if (!dims[i])
			return NULL;
	}
	return tn_type_get(job->module, dtype, rank, dims);
}

static struct tn_onnx_value *tensor_param(struct tn_onnx_job *job,
					  const char *name, const char *whole,
					  const struct onnx_tensortype *tensor)
{
	const struct tn_type *type = param_type(job, name, whole, tensor);
	struct tn_onnx_value *value;

	if (!type)
		return poison(job, name);
	value = tn_onnx_new(job, ONNX_TENSOR, name);
	if (!value)
		return NULL;
	value->v = tn_graph_param(job->fn->body, name, type);
	if (!value->v)
		return NULL;
	value->v->is_named = true;
	return value;
}

/* ---- Fixed at import ---------------------------------------------------------- */

static struct tn_import_fix *find_fix(struct tn_onnx_job *job,
				      const char *name)
{
	struct tn_import_fix *fix = NULL;
	int i;

	for (i = 0; i < job->host->nfixes; i++)
		if (!strcmp(job->host->fixes[i].said.name, name))
			fix = &job->host->fixes[i];
	return fix;
}

static bool is_of(const struct tn_tensor *value,
		  const struct onnx_tensortype *type)
{
	const struct onnx_shape *shape = type->shape;
	size_t i;

	if (value->dtype != tn_onnx_dtype(type->elem.v))
		return false;
	if (!shape)
		return true;
	if (shape->dims.len != (size_t)value->rank)
		return false;
	for (i = 0; i < shape->dims.len; i++)
		if (shape->dims.at[i].value.is_set &&
		    shape->dims.at[i].value.v != value->shape[i])
			return false;
	return true;
}

static struct tn_onnx_value *fixed(struct tn_onnx_job *job,
				   struct tn_import_fix *fix,
				   const struct onnx_type *type)
{
	struct tn_onnx_value *value;
	struct tn_tensor copy;

	fix->said.is_used = true;
	if (!type || !type->tensor || !is_of(&fix->value, type->tensor)) {
		tn_diag_report(job->host->sink, TN_E1016, place(job),
			       "the value that --fix gives for '%s' is not of "
			       "its type", fix->said.name);
		job->is_bad = true;
		return poison(job, fix->said.name);
	}
	value = tn_onnx_new(job, ONNX_TENSOR, fix->said.name);
	if (!value || !tn_tensor_init(&copy, fix->value.dtype,
				      fix->value.rank, fix->value.shape))
		return NULL;
	if (tn_tensor_bytes(&copy))
		memcpy(copy.data, fix->value.data,
		       (size_t)tn_tensor_bytes(&copy));
	value->v = tn_onnx_literal(job, &copy, fix->said.name, place(job));
	return value->v ? value : NULL;
}

/* ---- Of several tensors ------------------------------------------------------- */

/* How many items; -1 after a report. */
static int64_t length_of(struct tn_onnx_job *job, const char *name,
			 bool optional)
{
	struct tn_import_length *found = NULL;
	int64_t most = optional ? 1 : ONNX_ITEMS;
	int i;

	for (i = 0; i < job->host->nlengths; i++)
		if (!strcmp(job->host->lengths[i].said.name, name))
			found = &job->host->lengths[i];
	if (!found) {
		tn_diag_help(job->host->sink, refuse(job, name, optional ?
				"an optional value" : "a sequence"),
			     optional ? "say whether it is there: "
			     "--length=%s=1, or 0" : "say how many items it "
			     "has: --length=%s=N", name);
		return -1;
	}
	found->said.is_used = true;
	if (found->length <= most)
		return found->length;
	refuse(job, name, optional ? "an optional value: of length 0 or 1" :
	       "too long a sequence");
	return -1;
}

static struct tn_onnx_value *make(struct tn_onnx_job *job, const char *name,
				  const char *whole,
				  const struct onnx_type *type, int depth);

static struct tn_onnx_value *several(struct tn_onnx_job *job,
				     const char *name,
				     const struct onnx_type *type,
				     const struct onnx_type *item, int depth)
{
	int64_t len = length_of(job, name, type->optional != NULL), i;
	struct tn_onnx_value *value;
	const char *part;

	if (len < 0)
		return poison(job, name);
	value = tn_onnx_new(job, type->optional ? ONNX_OPTIONAL :
			    ONNX_SEQUENCE, name);
	if (!value)
		return NULL;
	value->len = (int)len;
	value->elem = item && item->tensor ?
		tn_onnx_dtype(item->tensor->elem.v) : TN_POISON;
	value->items = tn_arena_array(&job->arena, (size_t)len + 1,
				      sizeof(*value->items));
	for (i = 0; value->items && i < len; i++) {
		part = tn_arena_printf(&job->arena, "%s_%d", name, (int)i);
		value->items[i] = part ? make(job, part, name, item,
					      depth + 1) : NULL;
		if (!value->items[i])
			return NULL;
		if (value->items[i]->kind == ONNX_POISON)
			return poison(job, name);
	}
	return value->items ? value : NULL;
}

/* NULL without memory; poison after a report. */
static struct tn_onnx_value *make(struct tn_onnx_job *job, const char *name,
				  const char *whole,
				  const struct onnx_type *type, int depth)
{
	struct tn_import_fix *fix = find_fix(job, name);

	if (fix)
		return fixed(job, fix, type);
	if (type && type->tensor)
		return tensor_param(job, name, whole, type->tensor);
	if (type && depth < DEPTH && (type->sequence || type->optional))
		return several(job, name, type, type->sequence ?
			       type->sequence->type : type->optional->type,
			       depth);
	refuse(job, name, "no tensor");
	return poison(job, name);
}

/* An input whose initialiser is but what it is by default. */
static bool fix_initial(struct tn_onnx_job *job, struct tn_onnx_value *value,
			const struct onnx_info *info)
{
	struct tn_onnx_value *made = fixed(job, find_fix(job, info->name),
					   info->type);

	if (!made)
		return false;
	*value = *made;
	return true;
}

bool tn_onnx_param(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		   const struct onnx_info *info)
{
	struct tn_span nowhere = { job->file, 0, 0 };
	struct tn_onnx_value *value;

	if (!info->name || !info->name[0]) {
		tn_diag_report(job->host->sink, TN_E1012, nowhere,
			       "an input of the graph has no name");
		job->is_bad = true;
		return false;
	}
	job->input = info->name;
	value = tn_map_find(&scope->values, info->name);
	if (value && value->source)
		return find_fix(job, info->name) ? fix_initial(job, value, info) :
			true;
	value = make(job, info->name, info->name, info->type, 0);
	return value && tn_onnx_bind(job, scope, info->name, value);
}
