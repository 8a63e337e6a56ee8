/*
 * The model as a whole: operator sets, functions, parameters and results of
 * `main`; and what has no reader in the end goes.
 */
#include <string.h>

#include "importers/onnx/onnx.h"
#include "importers/onnx/survey.h"
#include "ir/graph_edit.h"
#include "ir/infer.h"

/* The operator sets that are known: those of the official tests. */
#define OLDEST 1
#define NEWEST 27

/* Tensors that the results are made of. */
#define RESULTS 4096

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
		if (tn_onnx_domain(sets->at[i].domain)[0])
			continue;
		if (sets->at[i].version.v >= OLDEST &&
		    sets->at[i].version.v <= NEWEST)
			return true;
		text = tn_arena_printf(&job->arena, "operator set %lld is not "
				       "supported: %d to %d are",
				       (long long)sets->at[i].version.v,
				       OLDEST, NEWEST);
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

/* ---- Results ---------------------------------------------------------------------- */

/* A result may not have a name that stands for another value. */
static const char *result_name(struct tn_onnx_job *job, const char *name,
			       const struct tn_value *value)
{
	const struct tn_value *holder = tn_map_find(&job->fn->names, name);

	if ((holder && (holder != value || !value->op)) ||
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

/* The tensors of a result; -1 after a report. */
static int leaves_of(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		     const char *name, int max, struct tn_onnx_leaf *out)
{
	struct tn_onnx_value *value = tn_onnx_find(scope, name);
	const char *text;
	int count;

	if (!name[0]) {
		fail(job, TN_E1012, "an output of the graph has no name");
		return -1;
	}
	if (!value) {
		text = tn_arena_printf(&job->arena, "nothing gives the result "
				       "'%s'", name);
		fail(job, TN_E1006, text ? text : name);
		return -1;
	}
	if (value->kind == ONNX_POISON)
		return -1;
	count = value->kind == ONNX_ABSENT ? -1 :
		tn_onnx_leaves(job, value, name, max, out);
	if (count >= 0)
		return count;
	text = tn_arena_printf(&job->arena, "result '%s' is made of too much, "
			       "or of nothing", name);
	fail(job, TN_E1015, text ? text : name);
	job->is_unsupported = true;
	return -1;
}

/* All tensors of the results; -1 after a report. */
static int all_leaves(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		      struct tn_onnx_leaf *out)
{
	const struct onnx_info_list *outputs = &job->model.graph->outputs;
	int count = 0, more;
	size_t i;

	for (i = 0; i < outputs->len; i++) {
		more = leaves_of(job, scope, outputs->at[i].name ?
				 outputs->at[i].name : "", RESULTS - count,
				 out + count);
		if (more < 0)
			return -1;
		count += more;
	}
	if (count)
		return count;
	if (!outputs->len) {
		fail(job, TN_E1012, "the graph has no outputs");
		return -1;
	}
	fail(job, TN_E1015, "the results are empty: nothing is left to "
	     "compute");
	job->is_unsupported = true;
	return -1;
}

static bool add_result(struct tn_onnx_job *job, int i,
		       const struct tn_onnx_leaf *leaf,
		       struct tn_value **value)
{
	const char *name;

	*value = tn_onnx_make(job, leaf->value);
	if (!*value)
		return false;
	name = result_name(job, leaf->name, *value);
	if (name && !is_taken(job->fn, i, name))
		job->fn->result_names[i] = name;
	job->fn->result_types[i] = (*value)->type;
	return true;
}

static bool add_results(struct tn_onnx_job *job, struct tn_onnx_scope *scope)
{
	struct tn_arena *arena = &job->module->arena;
	struct tn_span span = { job->file, 0, 0 };
	struct tn_onnx_leaf *leaves;
	struct tn_fn *fn = job->fn;
	struct tn_value **values;
	struct tn_op *op;
	int i, count;

	leaves = tn_arena_array(&job->arena, RESULTS, sizeof(*leaves));
	values = tn_arena_array(&job->arena, RESULTS, sizeof(*values));
	count = leaves && values ? all_leaves(job, scope, leaves) : -1;
	if (count < 0)
		return false;
	fn->result_names = tn_arena_array(arena, (size_t)count + 1,
					  sizeof(*fn->result_names));
	fn->result_types = tn_arena_array(arena, (size_t)count + 1,
					  sizeof(*fn->result_types));
	if (!fn->result_names || !fn->result_types)
		return false;
	for (i = 0; i < count; i++)
		if (!add_result(job, i, &leaves[i], &values[i]))
			return false;
	fn->nresults = count;
	op = tn_graph_op(fn, TN_OP_return, count, values, 0, span);
	if (!op)
		return false;
	tn_graph_insert(fn->body, op, NULL);
	return tn_infer_op(op);
}

/* ---- What has no reader -------------------------------------------------------------- */

/* From the end, so that what only dead ones read is dead when it comes. */
static void clean(struct tn_block *block, bool all)
{
	struct tn_op *op, *before;
	bool keep;
	int i;

	for (op = block->last; op; op = before) {
		before = op->prev;
		keep = !all && !tn_graph_is_dead(op);
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

	job->module->is_foreign = true;
	scope->opsets = &job->model.opsets;
	if (!tn_onnx_enter(job, scope, graph))
		return false;
	for (i = 0; i < graph->inputs.len; i++)
		if (!tn_onnx_param(job, scope, &graph->inputs.at[i]) &&
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
	tn_map_init_text(&job->readers);
	tn_map_init_ptr(&job->lines);
}

static void fini(struct tn_onnx_job *job)
{
	tn_map_fini(&job->known);
	tn_map_fini(&job->dims);
	tn_map_fini(&job->functions);
	tn_map_fini(&job->readers);
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
