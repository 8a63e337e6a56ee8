/*
 * The model as a whole: operator sets, functions, parameters and results of
 * `main`; and what has no reader in the end goes.
 */
#include <string.h>

#include "importers/onnx/onnx.h"
#include "importers/onnx/survey.h"
#include "ir/graph_edit.h"
#include "ir/infer.h"

/* The operator sets that are known. */
#define OLDEST 1
#define NEWEST 28

static bool fail(struct tn_onnx_job *job, enum tn_code code, const char *what)
{
	struct tn_span nowhere = { job->file, 0, 0 };

	tn_diag_report(job->host->sink, code, nowhere, "%s", what);
	job->is_bad = true;
	return false;
}

/* ---- The file ------------------------------------------------------------------ */

static bool read_model(struct tn_onnx_job *job)
{
	struct wire wire = wire_of(job->host->data, job->host->size);
	struct tn_span nowhere = { 0, 0, 0 };
	struct tn_buf why;
	bool ok;

	tn_buf_init(&why);
	ok = onnx_schema_read(&job->arena, ONNX_model, wire, &job->model,
			      &why);
	if (ok && !job->model.graph) {
		tn_buf_put(&why, "there is no graph");
		ok = false;
	}
	if (!ok) {
		tn_diag_report(job->host->sink, TN_E1001, nowhere, "%s: %s",
			       job->host->path, tn_buf_text(&why));
		job->is_bad = true;
	}
	tn_buf_fini(&why);
	return ok;
}

static bool check_opsets(struct tn_onnx_job *job)
{
	const struct onnx_opset_list *sets = &job->model.opsets;
	const char *text;
	size_t i;

	for (i = 0; i < sets->len; i++) {
		const char *domain = sets->at[i].domain;

		if (domain && domain[0] && strcmp(domain, "ai.onnx") != 0)
			continue;
		if (sets->at[i].version.v >= OLDEST &&
		    sets->at[i].version.v <= NEWEST)
			return true;
		text = tn_arena_printf(&job->arena, "operator set %lld is not "
				       "supported",
				       (long long)sets->at[i].version.v);
		fail(job, TN_E1002, text ? text : "operator set");
		job->is_bad = false;
		job->is_unsupported = true;
		return false;
	}
	return sets->len > 0 ||
	       fail(job, TN_E1002, "the model imports no operator set");
}

static bool note_functions(struct tn_onnx_job *job)
{
	size_t i;

	for (i = 0; i < job->model.functions.len; i++) {
		struct onnx_function *f = &job->model.functions.at[i];
		const char *key = tn_arena_printf(&job->arena, "%s:%s:%s",
			f->domain ? f->domain : "", f->name ? f->name : "",
			f->overload ? f->overload : "");

		if (!key || !tn_map_set(&job->functions, key, f))
			return false;
	}
	return true;
}

/* ---- Parameters ------------------------------------------------------------------ */

/* The size of an axis of an input; those without a name are called after it. */
static const struct tn_dim *size_of(struct tn_onnx_job *job,
				    const struct onnx_info *info, int axis)
{
	const struct onnx_dim *dim =
		&info->type->tensor->shape->dims.at[axis];
	const char *name = dim->param;

	if (dim->value.is_set && dim->value.v >= 0)
		return tn_dim_const(&job->module->dims, dim->value.v);
	if (!tn_onnx_names_size(name))
		name = tn_arena_printf(&job->arena, "%s_%d", info->name, axis);
	return name ? tn_onnx_symbol(job, name) : NULL;
}

static const struct tn_type *param_type(struct tn_onnx_job *job,
					const struct onnx_info *info)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	const struct onnx_type *type = info->type;
	enum tn_dtype dtype;
	const char *text;
	int i, rank;

	if (!tn_onnx_declared(job, type, &dtype, &rank, dims) ||
	    dtype == TN_POISON) {
		text = tn_arena_printf(&job->arena, "input '%s' is %s",
			info->name, !type || !type->tensor ? "no tensor" :
			tn_onnx_dtype(type->tensor->elem.v) == TN_POISON ?
			"of an element type that is not supported" :
			"of unknown rank");
		fail(job, TN_E1015, text ? text : "input");
		job->is_unsupported = true;
		return NULL;
	}
	for (i = 0; i < rank; i++) {
		dims[i] = size_of(job, info, i);
		if (!dims[i])
			return NULL;
	}
	return tn_type_get(job->module, dtype, rank, dims);
}

static bool add_param(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		      const struct onnx_info *info)
{
	struct tn_onnx_value *value;
	const struct tn_type *type;

	if (!info->name || !info->name[0])
		return fail(job, TN_E1012, "an input of the graph has no "
			    "name");
	value = tn_map_find(&scope->values, info->name);
	if (value && value->source)
		return true;
	type = param_type(job, info);
	value = tn_onnx_new(job, type ? ONNX_TENSOR : ONNX_POISON, info->name);
	if (!value)
		return false;
	if (type) {
		value->v = tn_graph_param(job->fn->body, info->name, type);
		if (!value->v)
			return false;
		value->v->is_named = true;
	}
	return tn_onnx_bind(job, scope, info->name, value);
}

/* ---- Results ---------------------------------------------------------------------- */

/* A result may not have a name that stands for another value. */
static const char *result_name(struct tn_onnx_job *job, const char *name,
			       const struct tn_value *value)
{
	const struct tn_value *holder = tn_map_find(&job->fn->names, name);

	if ((holder && holder != value) || (value && !value->op) ||
	    tn_map_has(&job->module->weight_names, name) ||
	    tn_map_has(&job->module->dim_names, name))
		return NULL;
	return tn_intern_text(job->module->names, name);
}

static bool is_taken(const struct tn_fn *fn, int count, const char *name)
{
	int i;

	for (i = 0; i < count; i++)
		if (fn->result_names[i] == name)
			return true;
	return false;
}

static struct tn_value *result(struct tn_onnx_job *job,
			       struct tn_onnx_scope *scope, const char *name)
{
	struct tn_onnx_value *value = tn_onnx_find(scope, name);
	const char *text;

	if (value && value->kind == ONNX_TENSOR)
		return tn_onnx_make(job, value);
	text = tn_arena_printf(&job->arena, value ? "result '%s' is no tensor" :
			       "nothing gives the result '%s'", name);
	if (!value) {
		fail(job, TN_E1006, text ? text : name);
	} else if (value->kind != ONNX_POISON) {
		fail(job, TN_E1015, text ? text : name);
		job->is_unsupported = true;
	}
	return NULL;
}

static bool add_results(struct tn_onnx_job *job, struct tn_onnx_scope *scope)
{
	const struct onnx_info_list *outputs = &job->model.graph->outputs;
	struct tn_module *module = job->module;
	struct tn_span span = { job->file, 0, 0 };
	struct tn_fn *fn = job->fn;
	struct tn_value **values;
	struct tn_op *op;
	const char *name;
	int i, count = (int)outputs->len;

	values = tn_arena_array(&job->arena, outputs->len + 1,
				sizeof(*values));
	fn->result_names = tn_arena_array(&module->arena, outputs->len + 1,
					  sizeof(*fn->result_names));
	fn->result_types = tn_arena_array(&module->arena, outputs->len + 1,
					  sizeof(*fn->result_types));
	if (!values || !fn->result_names || !fn->result_types)
		return false;
	for (i = 0; i < count; i++) {
		name = outputs->at[i].name ? outputs->at[i].name : "";
		values[i] = result(job, scope, name);
		if (!values[i])
			return false;
		name = result_name(job, name, values[i]);
		if (name && !is_taken(fn, i, name))
			fn->result_names[i] = name;
		fn->result_types[i] = values[i]->type;
	}
	fn->nresults = count;
	op = tn_graph_op(fn, TN_OP_return, count, values, 0, span);
	if (!op)
		return false;
	tn_graph_insert(fn->body, op, NULL);
	return tn_infer_op(op);
}

/* ---- What has no reader -------------------------------------------------------------- */

static bool is_used(const struct tn_op *op)
{
	int i;

	if (op->code == TN_OP_return || op->code == TN_OP_yield ||
	    tn_op_has(op->code, TN_FLAG_EFFECT))
		return true;
	for (i = 0; i < op->nout; i++)
		if (op->out[i]->uses)
			return true;
	return false;
}

static bool has_effect(const struct tn_block *block)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		if (tn_op_has(op->code, TN_FLAG_EFFECT))
			return true;
		for (i = 0; i < op->nregions; i++)
			if (has_effect(op->regions[i]))
				return true;
	}
	return false;
}

/* From the end, so that what only dead ones read is dead when it comes. */
static void clean(struct tn_block *block, bool all)
{
	struct tn_op *op, *before;
	bool keep;
	int i;

	for (op = block->last; op; op = before) {
		before = op->prev;
		keep = !all && is_used(op);
		for (i = 0; !keep && !all && i < op->nregions; i++)
			keep = has_effect(op->regions[i]);
		for (i = 0; i < op->nregions; i++)
			clean(op->regions[i], !keep);
		if (!keep)
			tn_graph_remove(op);
	}
}

/* Weights that nothing reads go, too. */
static bool drop_weights(struct tn_module *module)
{
	struct tn_vec *weights = &module->weights;
	struct tn_vec *items = &module->items;
	struct tn_weight **list = weights->data;
	struct tn_item **all = items->data;
	size_t i, kept = 0;

	for (i = 0; i < items->len; i++)
		if (all[i]->kind != TN_ITEM_WEIGHT ||
		    all[i]->u.weight->value->uses)
			all[kept++] = all[i];
	items->len = kept;
	for (i = kept = 0; i < weights->len; i++) {
		struct tn_weight *weight = list[i];

		if (weight->value->uses) {
			weight->number = (int)kept;
			list[kept++] = weight;
			continue;
		}
		tn_tensor_fini(&weight->data);
		if (!tn_map_set(&module->weight_names, weight->name, NULL))
			return false;
	}
	weights->len = kept;
	return true;
}

/* ---- The whole -------------------------------------------------------------------------- */

/* `main`, behind the dims and weights. */
static bool add_main_item(struct tn_onnx_job *job)
{
	struct tn_module *module = job->module;
	struct tn_item *item = tn_arena_alloc(&module->arena, sizeof(*item));

	if (!item)
		return false;
	item->kind = TN_ITEM_FN;
	item->name = job->fn->name;
	item->u.fn = job->fn;
	return tn_vec_push_ptr(&module->items, item);
}

static bool run(struct tn_onnx_job *job, struct tn_onnx_scope *scope)
{
	const struct onnx_graph *graph = job->model.graph;
	size_t i;

	scope->opsets = &job->model.opsets;
	if (!tn_onnx_enter(job, scope, graph))
		return false;
	for (i = 0; i < graph->inputs.len; i++)
		if (!add_param(job, scope, &graph->inputs.at[i]) &&
		    job->module->failed)
			return false;
	tn_onnx_nodes(job, scope, &graph->nodes);
	if (job->is_bad || job->is_unsupported || job->module->failed)
		return false;
	if (!add_results(job, scope))
		return false;
	clean(job->fn->body, false);
	return drop_weights(job->module) && add_main_item(job);
}

static enum tn_status outcome(const struct tn_onnx_job *job, bool ok)
{
	if (job->module->failed || job->arena.failed || job->host->sink->failed)
		return TN_IO;
	if (job->is_unsupported)
		return TN_UNSUPPORTED;
	return ok && !job->is_bad ? TN_OK : TN_BAD_INPUT;
}

static void init(struct tn_onnx_job *job, const struct tn_import *host)
{
	memset(job, 0, sizeof(*job));
	job->host = host;
	job->module = host->module;
	tn_arena_init(&job->arena);
	tn_map_init_ptr(&job->known);
	tn_map_init_text(&job->dims);
	tn_map_init_text(&job->functions);
	tn_map_init_ptr(&job->lines);
}

static void fini(struct tn_onnx_job *job)
{
	tn_map_fini(&job->known);
	tn_map_fini(&job->dims);
	tn_map_fini(&job->functions);
	tn_map_fini(&job->lines);
	tn_arena_fini(&job->arena);
}

enum tn_status tn_onnx_import(const struct tn_import *import, uint32_t *file)
{
	struct tn_onnx_scope scope;
	struct tn_onnx_job job;
	enum tn_status status;
	bool ok = false;

	init(&job, import);
	*file = 0;
	if (read_model(&job) && note_functions(&job)) {
		tn_onnx_survey(&job);
		*file = job.file;
		job.fn = tn_graph_fn(job.module, tn_intern_text(
				     job.module->names, "main"), TN_FN_PLAIN);
		if (job.fn && check_opsets(&job)) {
			tn_onnx_scope_init(&job, &scope, NULL, job.fn->body);
			ok = run(&job, &scope);
			tn_onnx_scope_fini(&scope);
		}
	}
	status = outcome(&job, ok);
	fini(&job);
	return status;
}
