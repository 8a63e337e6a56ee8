/*
 * What plug-ins read of a graph; see tenon-plugin.h.
 */
#include <string.h>

#include "driver/plugin.h"
#include "ir/kernel.h"
#include "ir/print.h"

/* The text of a buffer, which is ended; NULL: no memory. */
static char *take(struct tn_buf *buf)
{
	char *text;

	tn_buf_put(buf, "");
	text = buf->failed ? NULL : tn_buf_take(buf);
	tn_buf_fini(buf);
	return text;
}

/* ---- Operators ---------------------------------------------------------- */

struct tenon_op *tenon_op_next(const struct tenon_op *op)
{
	return op ? tn_plugin_out_op(tn_plugin_op(op)->next) : NULL;
}

int tenon_op_regions(const struct tenon_op *op)
{
	return op ? tn_plugin_op(op)->nregions : 0;
}

static const struct tn_block *region(const struct tenon_op *op, int i)
{
	return i >= 0 && i < tenon_op_regions(op) ?
		tn_plugin_op(op)->regions[i] : NULL;
}

struct tenon_op *tenon_op_region(const struct tenon_op *op, int i)
{
	const struct tn_block *block = region(op, i);

	return block ? tn_plugin_out_op(block->first) : NULL;
}

int tenon_op_region_inputs(const struct tenon_op *op, int i)
{
	const struct tn_block *block = region(op, i);

	return block ? block->nparams : 0;
}

struct tenon_value *tenon_op_region_input(const struct tenon_op *op, int i,
					  int k)
{
	return k >= 0 && k < tenon_op_region_inputs(op, i) ?
		tn_plugin_out(region(op, i)->params[k]) : NULL;
}

const char *tenon_op_name(const struct tenon_op *op)
{
	const struct tn_op *node = tn_plugin_op(op);

	if (!op)
		return NULL;
	return node->callee ? node->callee->name : tn_ops[node->code].name;
}

bool tenon_op_is(const struct tenon_op *op, const char *name)
{
	return op && name && !strcmp(tenon_op_name(op), name);
}

bool tenon_op_is_call(const struct tenon_op *op)
{
	return op && tn_plugin_op(op)->callee;
}

const char *tenon_op_kernel(const struct tenon_op *op)
{
	return op && tn_plugin_op(op)->kernel ?
		tn_plugin_op(op)->kernel->name : NULL;
}

char *tenon_op_kernel_print(const struct tenon_op *op)
{
	struct tn_buf buf;

	if (!tenon_op_kernel(op))
		return NULL;
	tn_buf_init(&buf);
	tn_kernel_print(&buf, tn_plugin_op(op)->kernel);
	return take(&buf);
}

int tenon_op_inputs(const struct tenon_op *op)
{
	return op ? tn_plugin_op(op)->nin : 0;
}

struct tenon_value *tenon_op_input(const struct tenon_op *op, int i)
{
	return i >= 0 && i < tenon_op_inputs(op) ?
		tn_plugin_out(tn_graph_in(tn_plugin_op(op), i)) : NULL;
}

int tenon_op_outputs(const struct tenon_op *op)
{
	return op ? tn_plugin_op(op)->nout : 0;
}

struct tenon_value *tenon_op_output(const struct tenon_op *op, int i)
{
	return i >= 0 && i < tenon_op_outputs(op) ?
		tn_plugin_out(tn_plugin_op(op)->out[i]) : NULL;
}

char *tenon_op_print(const struct tenon_op *op)
{
	struct tn_buf buf;

	if (!op)
		return NULL;
	tn_buf_init(&buf);
	tn_print_op_line(&buf, tn_plugin_op(op));
	return take(&buf);
}

/* ---- Attributes --------------------------------------------------------- */

static const struct tn_attr *attr(const struct tenon_op *op, const char *name)
{
	const struct tn_attr *found = op && name ?
		tn_graph_attr(tn_plugin_op(op), name) : NULL;

	return found && found->is_set ? found : NULL;
}

bool tenon_op_int(const struct tenon_op *op, const char *name, int64_t *out)
{
	const struct tn_attr *a = attr(op, name);

	if (a && a->kind == TN_ATTR_INT)
		*out = a->u.i;
	else if (a && a->kind == TN_ATTR_BOOL)
		*out = a->u.b;
	else if (a && a->kind == TN_ATTR_DIM && tn_dim_is_const(a->u.dim))
		*out = a->u.dim->value;
	else
		return false;
	return true;
}

bool tenon_op_real(const struct tenon_op *op, const char *name, double *out)
{
	const struct tn_attr *a = attr(op, name);

	if (!a || a->kind != TN_ATTR_FLOAT)
		return false;
	*out = a->u.f;
	return true;
}

int tenon_op_ints(const struct tenon_op *op, const char *name, int64_t *out,
		  int most)
{
	const struct tn_attr *a = attr(op, name);
	bool is_dims = a && (a->kind == TN_ATTR_DIMS ||
			     a->kind == TN_ATTR_PAIRS);
	int i;

	if (!a || (a->kind != TN_ATTR_INTS && !is_dims))
		return -1;
	for (i = 0; i < a->count; i++) {
		if (is_dims && !tn_dim_is_const(a->u.dims[i]))
			return -1;
		if (i < most)
			out[i] = is_dims ? a->u.dims[i]->value : a->u.ints[i];
	}
	return a->count;
}

const char *tenon_op_text(const struct tenon_op *op, const char *name)
{
	const struct tn_attr *a = attr(op, name);

	if (a && a->kind == TN_ATTR_STRING)
		return a->u.s;
	return a && a->kind == TN_ATTR_DTYPE ? tn_dtype_name(a->u.dtype) :
		NULL;
}

/* ---- Values ------------------------------------------------------------- */

const char *tenon_value_name(const struct tenon_value *value)
{
	return value ? tn_plugin_value(value)->name : NULL;
}

const char *tenon_value_dtype(const struct tenon_value *value)
{
	return value ? tn_dtype_name(tn_plugin_value(value)->type->dtype) :
		NULL;
}

int tenon_value_rank(const struct tenon_value *value)
{
	return value ? tn_plugin_value(value)->type->rank : 0;
}

int64_t tenon_value_size(const struct tenon_value *value, int axis)
{
	const struct tn_dim *dim;

	if (axis < 0 || axis >= tenon_value_rank(value))
		return -1;
	dim = tn_plugin_value(value)->type->dims[axis];
	return tn_dim_is_const(dim) ? dim->value : -1;
}

char *tenon_value_print_type(const struct tenon_value *value)
{
	struct tn_buf buf;

	if (!value)
		return NULL;
	tn_buf_init(&buf);
	tn_type_print(&buf, tn_plugin_value(value)->type);
	return take(&buf);
}

bool tenon_value_is_same_type(const struct tenon_value *a,
			      const struct tenon_value *b)
{
	return a && b && tn_plugin_value(a)->type == tn_plugin_value(b)->type;
}

struct tenon_op *tenon_value_op(const struct tenon_value *value)
{
	return value ? tn_plugin_out_op(tn_plugin_value(value)->op) : NULL;
}

/* The weight whose value it is, or NULL. */
static const struct tn_weight *weight_of(const struct tn_value *value)
{
	const struct tn_weight *weight;
	const struct tn_module *module;
	const struct tn_use *use = value->uses;
	size_t i;

	if (value->op || value->block || !use)
		return NULL;
	module = use->op->block->fn->module;
	for (i = 0; i < module->weights.len; i++) {
		weight = tn_vec_ptr(&module->weights, i);
		if (weight->value == value)
			return weight;
	}
	return NULL;
}

bool tenon_value_is_weight(const struct tenon_value *value)
{
	return value && weight_of(tn_plugin_value(value));
}

int tenon_value_uses(const struct tenon_value *value)
{
	const struct tn_use *use;
	int n = 0;

	for (use = value ? tn_plugin_value(value)->uses : NULL; use;
	     use = use->next)
		n++;
	return n;
}

struct tenon_op *tenon_value_user(const struct tenon_value *value, int i)
{
	const struct tn_use *use;

	for (use = value ? tn_plugin_value(value)->uses : NULL; use && i > 0;
	     use = use->next)
		i--;
	return use && i == 0 ? tn_plugin_out_op(use->op) : NULL;
}

static const struct tn_tensor *elements(const struct tenon_value *value)
{
	const struct tn_value *node = tn_plugin_value(value);
	const struct tn_weight *weight;

	if (!value)
		return NULL;
	if (node->op)
		return node->op->literal;
	weight = weight_of(node);
	return weight && weight->data.data ? &weight->data : NULL;
}

int64_t tenon_value_elements(const struct tenon_value *value)
{
	const struct tn_tensor *tensor = elements(value);

	return tensor ? tn_tensor_count(tensor) : -1;
}

double tenon_value_element(const struct tenon_value *value, int64_t i)
{
	const struct tn_tensor *tensor = elements(value);

	return tensor && i >= 0 && i < tn_tensor_count(tensor) ?
		tn_tensor_get_f64(tensor, i) : 0;
}
