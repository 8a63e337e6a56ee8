/*
 * Nodes, one after the other: names become values, an operator its row or the
 * function of the model, results get their names.
 */
#include <string.h>

#include "importers/onnx/onnx.h"
#include "ir/graph_edit.h"
#include "ir/infer.h"

/* ---- Names that are not there ------------------------------------------------ */

/* Which node of the list gives the name; -1: none. */
static int producer(const struct tn_map *made, const char *name)
{
	const size_t *at = tn_map_find(made, name);

	return at ? (int)*at : -1;
}

static bool note_producers(struct tn_onnx_job *job, struct tn_map *made,
			   const struct onnx_node_list *nodes)
{
	size_t i, k, *number;

	for (i = 0; i < nodes->len; i++)
		for (k = 0; k < nodes->at[i].outputs.len; k++) {
			number = tn_arena_alloc(&job->arena, sizeof(*number));
			if (!number)
				return false;
			*number = i;
			if (!tn_map_set(made, nodes->at[i].outputs.at[k],
					number))
				return false;
		}
	return true;
}

/* Whether node `from` needs, by way of others, what node `to` gives. */
static bool reaches(struct tn_onnx_job *job, const struct tn_map *made,
		    const struct onnx_node_list *nodes, size_t from, size_t to)
{
	unsigned char *seen = tn_arena_alloc(&job->arena, nodes->len + 1);
	size_t *stack = tn_arena_array(&job->arena, nodes->len + 1,
				       sizeof(*stack));
	size_t top = 0, i, k;
	int next;

	if (!seen || !stack)
		return false;
	stack[top++] = from;
	seen[from] = 1;
	while (top) {
		i = stack[--top];
		for (k = 0; k < nodes->at[i].inputs.len; k++) {
			next = producer(made, nodes->at[i].inputs.at[k]);
			if (next == (int)to)
				return true;
			if (next < 0 || seen[next])
				continue;
			seen[next] = 1;
			stack[top++] = (size_t)next;
		}
	}
	return false;
}

static void report_missing(struct tn_onnx *n, const char *name,
			   const struct onnx_node_list *nodes)
{
	size_t here = (size_t)(n->node - nodes->at);
	struct tn_map made;
	int from = -1;

	tn_map_init_text(&made);
	if (note_producers(n->job, &made, nodes))
		from = producer(&made, name);
	if (from < 0)
		tn_onnx_report(n, TN_E1006, "nothing gives '%s'", name);
	else if (reaches(n->job, &made, nodes, (size_t)from, here))
		tn_onnx_report(n, TN_E1005, "'%s' is made of a result of "
			       "this node", name);
	else
		tn_onnx_report(n, TN_E1014, "'%s' is made by a node further "
			       "down", name);
	tn_map_fini(&made);
}

static bool read_inputs(struct tn_onnx *n, const struct onnx_node_list *nodes)
{
	struct tn_onnx_value *absent;
	int i;

	n->nin = (int)n->node->inputs.len;
	n->in = tn_arena_array(&n->job->arena, (size_t)n->nin + 1,
			       sizeof(*n->in));
	absent = tn_onnx_new(n->job, ONNX_ABSENT, "");
	if (!n->in || !absent)
		return false;
	for (i = 0; i < n->nin; i++) {
		const char *name = n->node->inputs.at[i];

		n->in[i] = name[0] ? tn_onnx_find(n->scope, name) : absent;
		if (n->in[i])
			continue;
		report_missing(n, name, nodes);
		n->in[i] = tn_onnx_new(n->job, ONNX_POISON, name);
		if (!n->in[i])
			return false;
	}
	return true;
}

/* ---- Results ------------------------------------------------------------------- */

static bool is_result(const struct tn_onnx *n, const struct tn_value *value)
{
	int i;

	for (i = 0; i < n->nout; i++)
		if (n->out[i] && n->out[i]->v == value)
			return true;
	return false;
}

/* A name of the model is not kept from it by what a text calls values in a
 * block of its own, the state of a scan. */
static void free_name(struct tn_onnx *n, const char *name)
{
	struct tn_fn *fn = n->job->fn;
	struct tn_value *holder = tn_map_find(&fn->names, name);
	const struct tn_block *block = !holder ? fn->body :
		holder->op ? holder->op->block : holder->block;
	const char *wish;

	if (!block || block == fn->body || block == n->scope->block)
		return;
	wish = tn_arena_printf(&n->job->arena, "%s__0", name);
	if (wish)
		tn_graph_name(fn, holder, wish);
}

/* Results have the names of the model, what lies between theirs with a
 * number. */
static void name_values(struct tn_onnx *n, struct tn_op *before)
{
	struct tn_op *op = before ? before->next : n->scope->block->first;
	const char *wish = NULL;
	int i;

	for (i = 0; i < n->nout; i++) {
		const char *name = n->node->outputs.at[i];
		struct tn_value *value = n->out[i] ? n->out[i]->v : NULL;

		if (value && value->op && !value->is_named && name[0]) {
			free_name(n, name);
			tn_graph_name(n->job->fn, value, name);
		}
		if (!wish && name[0])
			wish = tn_arena_printf(&n->job->arena, "%s__0", name);
	}
	for (; wish && op; op = op->next)
		for (i = 0; i < op->nout; i++)
			if (!op->out[i]->is_named && !is_result(n, op->out[i]))
				tn_graph_name(n->job->fn, op->out[i], wish);
}

/* A declared type that no size can reconcile with what came out. */
static void check_declared(struct tn_onnx *n, int i)
{
	const struct tn_type *have = n->out[i]->v->type;
	const struct tn_dim *dims[TN_MAX_RANK];
	const char *name = n->node->outputs.at[i];
	enum tn_dtype dtype = TN_POISON;
	struct tn_buf text;
	int rank = -1, k;
	bool same;

	if (!tn_onnx_declared(n->job, tn_map_find(&n->scope->infos, name),
			      &dtype, &rank, dims)) {
		if (dtype == TN_POISON || dtype == have->dtype)
			return;
		rank = have->rank;
		memcpy(dims, have->dims, (size_t)rank * sizeof(*dims));
	}
	same = dtype == have->dtype && rank == have->rank;
	for (k = 0; same && k < rank; k++)
		same = !dims[k] || !tn_dim_is_const(dims[k]) ||
		       !tn_dim_is_const(have->dims[k]) ||
		       dims[k] == have->dims[k];
	if (same)
		return;
	tn_buf_init(&text);
	tn_type_print(&text, have);
	tn_onnx_report(n, TN_E1011, "'%s' is %s, but declared another type",
		       name, tn_buf_text(&text));
	tn_buf_fini(&text);
}

static void bind_results(struct tn_onnx *n)
{
	int i;

	for (i = 0; i < n->nout; i++) {
		const char *name = n->node->outputs.at[i];

		if (!name[0])
			continue;
		if (!n->failed && n->out[i] && n->out[i]->v)
			check_declared(n, i);
		if (!n->failed && !n->out[i])
			tn_onnx_refuse(n, "result %d ('%s')", i, name);
		if (n->failed || !n->out[i])
			n->out[i] = tn_onnx_new(n->job, ONNX_POISON, name);
		if (!n->out[i])
			return;
		n->out[i]->span = n->span;
		tn_onnx_bind(n->job, n->scope, name, n->out[i]);
	}
}

/* ---- Functions of the model ------------------------------------------------------ */

static const struct onnx_function *function_of(const struct tn_onnx *n)
{
	const char *domain = n->node->domain ? n->node->domain : "";
	const char *key;

	if (!n->job->functions.len)
		return NULL;
	key = tn_arena_printf(&n->job->arena, "%s:%s:%s", domain, n->node->op,
			      n->node->overload ? n->node->overload : "");
	return key ? tn_map_find(&n->job->functions, key) : NULL;
}

static bool bind_arguments(struct tn_onnx *n, struct tn_onnx_scope *scope,
			   const struct onnx_function *function)
{
	struct tn_onnx_value *value;
	size_t i;

	for (i = 0; i < function->inputs.len; i++) {
		value = tn_onnx_new(n->job, ONNX_ABSENT, NULL);
		if (!value)
			return false;
		if (tn_onnx_has(n, (int)i))
			value = n->in[i];
		if (!tn_onnx_bind(n->job, scope, function->inputs.at[i],
				  value))
			return false;
	}
	return true;
}

/* What the node's results must be, the function's must. */
static bool hint_results(struct tn_onnx *n, struct tn_onnx_scope *scope,
			 const struct onnx_function *function)
{
	const struct onnx_shape *shape;
	int i;

	for (i = 0; i < n->nout && (size_t)i < function->outputs.len; i++) {
		shape = tn_onnx_shape_of(n->scope, n->node->outputs.at[i]);
		if (shape && !tn_map_set(&scope->hints,
					 function->outputs.at[i],
					 (void *)(uintptr_t)shape))
			return false;
	}
	return tn_onnx_hint(scope, &function->nodes);
}

static void call_function(struct tn_onnx *n,
			  const struct onnx_function *function)
{
	struct tn_onnx_scope scope;
	int i;

	if (n->job->depth >= ONNX_DEPTH) {
		tn_onnx_report(n, TN_E1013, "more than %d functions inside "
			       "each other", ONNX_DEPTH);
		return;
	}
	n->job->depth++;
	tn_onnx_scope_init(n->job, &scope, NULL, n->scope->block);
	scope.opsets = &function->opsets;
	scope.caller = n;
	scope.function = function;
	if (bind_arguments(n, &scope, function) &&
	    hint_results(n, &scope, function))
		tn_onnx_nodes(n->job, &scope, &function->nodes);
	for (i = 0; i < n->nout && (size_t)i < function->outputs.len; i++) {
		n->out[i] = tn_onnx_find(&scope, function->outputs.at[i]);
		if (!n->out[i])
			tn_onnx_report(n, TN_E1006, "nothing in the function "
				       "gives its result '%s'",
				       function->outputs.at[i]);
		else if (n->out[i]->kind == ONNX_POISON)
			n->failed = true;
	}
	tn_onnx_scope_fini(&scope);
	n->job->depth--;
}

/* ---- A node ------------------------------------------------------------------------ */

static int64_t version_of(const struct tn_onnx_scope *scope,
			  const char *domain)
{
	size_t i;

	for (i = 0; i < scope->opsets->len; i++) {
		const struct onnx_opset *set = &scope->opsets->at[i];

		if (!strcmp(tn_onnx_domain(set->domain), domain))
			return set->version.v;
	}
	return domain[0] ? 1 : 0;
}

static void run_row(struct tn_onnx *n)
{
	if (n->row->text)
		tn_onnx_row_text(n);
	else
		n->row->handler(n);
}

/* What no version has, or never will have, was reported by the survey. */
static void report_version(struct tn_onnx *n)
{
	const char *domain = tn_onnx_domain(n->node->domain);
	const struct tn_onnx_row *row = tn_onnx_row(domain, n->node->op,
						    INT64_MAX);
	bool is_told = !row || row->why_not;

	if (!is_told && n->version > 0)
		tn_onnx_refuse(n, "not as operator set %lld has it",
			       (long long)n->version);
	else if (!is_told)
		tn_onnx_report(n, TN_E1002, "the model does not import its "
			       "operator set");
	n->failed = true;
}

static void one_node(struct tn_onnx *n, const struct onnx_node_list *nodes)
{
	struct tn_op *before = n->scope->block->last;
	const struct onnx_function *function;
	const struct tn_span *span = tn_map_find(&n->job->lines, n->node);
	const char *domain = tn_onnx_domain(n->node->domain);
	int i;

	if (span)
		n->span = *span;
	n->nout = (int)n->node->outputs.len;
	n->out = tn_arena_array(&n->job->arena, (size_t)n->nout + 1,
				sizeof(*n->out));
	if (!n->out || !read_inputs(n, nodes)) {
		n->job->module->failed = true;
		return;
	}
	for (i = 0; i < n->nin; i++)
		n->failed |= n->in[i]->kind == ONNX_POISON;
	n->version = version_of(n->scope, domain);
	n->row = tn_onnx_row(domain, n->node->op ? n->node->op : "",
			     n->version);
	function = n->node->op ? function_of(n) : NULL;
	if (!n->node->op || !n->node->op[0])
		tn_onnx_report(n, TN_E1012, "the node has no operator");
	if (n->failed || !tn_onnx_check_attrs(n))
		;
	else if (function)
		call_function(n, function);
	else if (n->row && !n->row->why_not)
		run_row(n);
	else
		report_version(n);
	if (!n->failed)
		name_values(n, before);
	bind_results(n);
}

void tn_onnx_nodes(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		   const struct onnx_node_list *nodes)
{
	size_t i;

	for (i = 0; i < nodes->len && !job->module->failed && !job->is_over;
	     i++) {
		struct tn_onnx n = { .job = job, .scope = scope,
				     .node = &nodes->at[i] };

		if (job->nruns++ > ONNX_RUNS + (int64_t)job->lines.len) {
			tn_onnx_report(&n, TN_E1013, "more than %d nodes, "
				       "when functions and loops are written "
				       "out", ONNX_RUNS);
			job->is_over = true;
			return;
		}
		one_node(&n, nodes);
	}
}
