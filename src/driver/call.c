/*
 * Calls: the caller's side of a run.
 */
#include "driver/call.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "driver/probe.h"
#include "driver/tensorfile.h"
#include "driver/tensors.h"
#include "driver/weights.h"
#include "ir/eval.h"

/* Values of random inputs. */
#define RANDOM_LO -1.0
#define RANDOM_HI 1.0

static bool make_arrays(struct tenon_call *call)
{
	const struct tn_signature *s = &call->engine->signature;
	struct tn_arena *a = &call->arena;
	size_t in = (size_t)s->ninputs + 1, out = (size_t)s->noutputs + 1;
	size_t n = (size_t)s->ir->dims.nsyms + 1;

	call->inputs = tn_arena_array(a, in, sizeof(*call->inputs));
	call->tensors = tn_arena_array(a, in, sizeof(*call->tensors));
	call->outputs = tn_arena_array(a, out, sizeof(*call->outputs));
	call->shown = tn_arena_array(a, out, sizeof(*call->shown));
	call->dims = tn_arena_array(a, n, sizeof(*call->dims));
	call->wish = tn_arena_array(a, n, sizeof(*call->wish));
	call->bound = tn_arena_array(a, n, sizeof(*call->bound));
	call->asked = tn_arena_array(a, n, sizeof(*call->asked));
	call->from = tn_arena_array(a, n, sizeof(*call->from));
	call->map = tn_arena_array(a, n, sizeof(*call->map));
	return !a->failed;
}

enum tenon_status tenon_call_new(struct tenon_engine *engine,
				 struct tenon_call **out)
{
	struct tenon_call *call;

	*out = NULL;
	if (!engine)
		return TENON_USAGE;
	call = calloc(1, sizeof(*call));
	if (!call)
		return tn_context_end(engine->context, TN_IO);
	tn_arena_init(&call->arena);
	call->engine = engine;
	if (!make_arrays(call)) {
		tenon_call_free(call);
		return tn_context_end(engine->context, TN_IO);
	}
	*out = call;
	return TENON_OK;
}

static void clear_input(struct tn_call_input *input)
{
	if (input->state == TN_INPUT_OWNED || input->made)
		tn_tensor_fini(&input->tensor);
	*input = (struct tn_call_input){0};
}

static void clear_outputs(struct tenon_call *call)
{
	int i;

	for (i = 0; i < call->engine->signature.noutputs; i++) {
		tn_tensor_fini(&call->outputs[i]);
		call->outputs[i] = (struct tn_tensor){0};
	}
}

void tenon_call_free(struct tenon_call *call)
{
	int i;

	if (!call)
		return;
	if (!call->arena.failed) {
		for (i = 0; i < call->engine->signature.ninputs; i++)
			clear_input(&call->inputs[i]);
		clear_outputs(call);
	}
	free(call->workspace);
	tn_arena_fini(&call->arena);
	free(call);
}

/* ---- Inputs -------------------------------------------------------------------- */

static void suggest(struct tenon_call *call, struct tn_diag *diag,
		    const char *name)
{
	const struct tn_signature *s = &call->engine->signature;
	const char *names[64];
	int n = s->ninputs < 64 ? s->ninputs : 64, i;
	struct tn_buf list;

	tn_buf_init(&list);
	for (i = 0; i < n; i++) {
		names[i] = s->inputs[i].name;
		if (i < 6)
			tn_buf_putf(&list, "%s%s", i ? ", " : "it has: ",
				    names[i]);
	}
	tn_buf_put(&list, n > 6 ? ", .." : "");
	tn_context_suggest(call->engine->context, diag, name, names,
			   (size_t)n, n ? tn_buf_text(&list) : NULL);
	tn_buf_fini(&list);
}

static struct tn_call_input *find_input(struct tenon_call *call,
					const char *name)
{
	const struct tn_signature *s = &call->engine->signature;
	int i;

	for (i = 0; i < s->ninputs; i++)
		if (!strcmp(s->inputs[i].name, name))
			return &call->inputs[i];
	suggest(call, tn_context_report(call->engine->context, TN_E0011,
					"there is no input '%s'", name),
		name);
	return NULL;
}

enum tenon_status tenon_call_input(struct tenon_call *call,
				   const char *name,
				   const struct tenon_tensor *tensor)
{
	struct tn_call_input *input;

	if (!call || !name || !tensor)
		return TENON_USAGE;
	input = find_input(call, name);
	if (!input)
		return tn_context_end(call->engine->context, TN_USAGE);
	clear_input(input);
	input->state = TN_INPUT_LENT;
	input->tensor = tn_tensors_in(tensor);
	return TENON_OK;
}

static enum tn_status file_problem(struct tenon_call *call,
				   enum tn_status status, struct tn_buf *why)
{
	if (status)
		tn_context_report(call->engine->context, status == TN_IO ?
				  TN_E0002 : TN_E0022, "%s",
				  tn_buf_text(why));
	return status;
}

static enum tn_status take_key(struct tenon_call *call, int i,
			       struct tn_tensorfile *file, const char *key)
{
	struct tn_call_input *input = &call->inputs[i];
	struct tn_tensor view;
	struct tn_buf why;
	enum tn_status status;

	tn_buf_init(&why);
	status = tn_tensorfile_find(file, key, call->engine->signature.
				    inputs[i].type->dtype, &view, &why);
	file_problem(call, status, &why);
	tn_buf_fini(&why);
	if (status)
		return status;
	clear_input(input);
	if (!tn_tensors_copy(&view, &input->tensor))
		return TN_IO;
	input->state = TN_INPUT_OWNED;
	return TN_OK;
}

/* Every input that the file has a key for. */
static enum tn_status take_all(struct tenon_call *call,
			       struct tn_tensorfile *file)
{
	const struct tn_signature *s = &call->engine->signature;
	enum tn_status status = TN_OK;
	size_t k;
	int i;

	for (k = 0; k < tn_tensorfile_count(file) && !status; k++)
		for (i = 0; i < s->ninputs && !status; i++)
			if (!strcmp(s->inputs[i].name,
				    tn_tensorfile_key(file, k)))
				status = take_key(call, i, file,
						  s->inputs[i].name);
	return status;
}

static enum tn_status take_one(struct tenon_call *call, int i,
			       struct tn_tensorfile *file, const char *path)
{
	size_t count = tn_tensorfile_count(file);
	struct tn_diag *diag;

	if (count == 1)
		return take_key(call, i, file, tn_tensorfile_key(file, 0));
	diag = tn_context_report(call->engine->context, TN_E0010,
				 "%s holds %zu tensors", path, count);
	tn_diag_help(&call->engine->context->sink, diag,
		     "name one: @%s=KEY", path);
	return TN_USAGE;
}

/* `at` is what stands behind the @: PATH or PATH=KEY. */
static enum tn_status take_file(struct tenon_call *call, int i,
				const char *at)
{
	struct tn_tensorfile *file;
	enum tn_status status;
	char *path = tn_arena_strndup(&call->arena, at, strlen(at));
	const char *key = path ? tn_tensorfile_split(path) : NULL;
	struct tn_buf why;

	if (!path)
		return TN_IO;
	tn_buf_init(&why);
	file = tn_tensorfile_open(path, &status, &why);
	if (!file)
		file_problem(call, status, &why);
	tn_buf_fini(&why);
	if (!file)
		return status;
	if (i < 0)
		status = take_all(call, file);
	else if (key)
		status = take_key(call, i, file, key);
	else
		status = take_one(call, i, file, path);
	tn_tensorfile_close(file);
	return status;
}

static enum tn_status take_text(struct tenon_call *call,
				struct tn_call_input *input,
				const char *name, const char *text)
{
	struct tenon_context *context = call->engine->context;
	size_t word = strcspn(text, ":");
	enum tn_status status;

	if (!strcmp(text, "zero") ||
	    (word == 6 && !strncmp(text, "random", 6)) ||
	    (word == 7 && !strncmp(text, "special", 7))) {
		clear_input(input);
		input->state = text[0] == 'z' ? TN_INPUT_ZERO :
			text[0] == 'r' ? TN_INPUT_RANDOM : TN_INPUT_SPECIAL;
		if (!text[word] ||
		    tn_num_parse_u64(text + word + 1, &input->seed))
			return TN_OK;
		tn_context_report(context, TN_E0010,
				  "input '%s': the seed in '%s' is no number",
				  name, text);
		return TN_USAGE;
	}
	clear_input(input);
	status = tn_call_parse(context, name, text, &input->tensor);
	if (!status)
		input->state = TN_INPUT_OWNED;
	return status;
}

enum tenon_status tenon_call_input_text(struct tenon_call *call,
					const char *name, const char *text)
{
	struct tn_call_input *input = NULL;
	enum tn_status status;

	if (!call || !text || (!name && text[0] != '@'))
		return TENON_USAGE;
	if (name && !(input = find_input(call, name)))
		status = TN_USAGE;
	else if (text[0] == '@')
		status = take_file(call, input ? (int)(input - call->inputs) :
				   -1, text + 1);
	else
		status = take_text(call, input, name, text);
	return tn_context_end(call->engine->context, status);
}

enum tenon_status tenon_call_dim(struct tenon_call *call, const char *name,
				 int64_t value)
{
	const char *names[64];
	const struct tn_dim *dim;
	struct tn_module *ir;
	int i;

	if (!call || !name)
		return TENON_USAGE;
	ir = call->engine->signature.ir;
	for (i = 0; i < ir->dims.nsyms; i++) {
		dim = tn_vec_ptr(&ir->dims.syms, (size_t)i);
		names[i & 63] = dim->sym->name;
		if (strcmp(dim->sym->name, name))
			continue;
		call->asked[i] = true;
		call->wish[i] = value;
		return TENON_OK;
	}
	tn_context_suggest(call->engine->context,
			   tn_context_report(call->engine->context, TN_E0011,
					     "there is no dim '%s'", name),
			   name, names, (size_t)(i < 64 ? i : 64), NULL);
	return tn_context_end(call->engine->context, TN_USAGE);
}

/* ---- Running --------------------------------------------------------------------- */

static enum tn_status too_large(struct tenon_call *call, const char *name)
{
	tn_context_report(call->engine->context, TN_E0001,
			  "no memory for '%s'", name);
	return TN_IO;
}

/* The concrete shape of a type, run-time dims at their greatest. */
static bool shape_of(const struct tenon_call *call,
		     const struct tn_type *type,
		     int64_t shape[TN_MAX_RANK])
{
	struct tn_eval eval = { .dims = call->dims };

	return tn_eval_shape(&eval, type, shape);
}

static enum tn_status make_input(struct tenon_call *call, int i)
{
	const struct tn_port *port = &call->engine->signature.inputs[i];
	struct tn_call_input *input = &call->inputs[i];
	int64_t shape[TN_MAX_RANK];
	double lo = RANDOM_LO, hi = RANDOM_HI;

	if (input->state == TN_INPUT_LENT || input->state == TN_INPUT_OWNED)
		return TN_OK;
	if (input->made)
		tn_tensor_fini(&input->tensor);
	input->made = false;
	if (!shape_of(call, port->type, shape) ||
	    !tn_tensor_init(&input->tensor, port->type->dtype,
			    port->type->rank, shape))
		return too_large(call, port->name);
	input->made = true;
	if (input->state == TN_INPUT_SPECIAL)
		tn_probe_fill(&input->tensor, (int)(input->seed % 4),
			      input->seed + (uint64_t)i * 7919);
	if (input->state != TN_INPUT_RANDOM)
		return TN_OK;
	if (!tn_dtype_holds(port->type->dtype, TN_KIND_F)) {
		hi = 10;
		lo = -10;
	}
	tn_weights_limit(port->type->dtype, &lo, &hi);
	tn_weights_fill(&input->tensor, input->seed, lo, hi);
	return TN_OK;
}

static enum tn_status make_outputs(struct tenon_call *call)
{
	const struct tn_signature *s = &call->engine->signature;
	int64_t shape[TN_MAX_RANK];
	const struct tn_type *type;
	int i;

	for (i = 0; i < s->noutputs; i++) {
		type = s->outputs[i].type;
		if (!shape_of(call, type, shape) ||
		    !tn_tensor_init(&call->outputs[i], type->dtype,
				    type->rank, shape))
			return too_large(call, s->outputs[i].name);
	}
	return TN_OK;
}

/* Run-time dims stand at their bound until the run has set them. */
static void raise_runtime(struct tenon_call *call)
{
	const struct tn_signature *s = &call->engine->signature;
	const struct tn_dim *dim;
	int i;

	for (i = 0; i < s->ir->dims.nsyms; i++) {
		dim = tn_vec_ptr(&s->ir->dims.syms, (size_t)i);
		if (s->runtime[i])
			call->dims[i] = dim->sym->hi;
	}
}

/* Shrinks outputs to the run-time dims: rows are adjacent already. */
static void shrink_outputs(struct tenon_call *call)
{
	const struct tn_signature *s = &call->engine->signature;
	int64_t shape[TN_MAX_RANK];
	int i;

	for (i = 0; i < s->noutputs; i++) {
		if (shape_of(call, s->outputs[i].type, shape))
			memcpy(call->outputs[i].shape, shape, sizeof(shape));
		call->shown[i] = tn_tensors_out(&call->outputs[i]);
	}
}

static enum tn_status make_workspace(struct tenon_call *call)
{
	struct tenon_engine *engine = call->engine;
	size_t size = (size_t)engine->workspace;
	struct tn_diag *diag;

	if (call->workspace || size == 0)
		return TN_OK;
	if (!posix_memalign(&call->workspace, 64, size))
		return TN_OK;
	call->workspace = NULL;
	diag = tn_context_report(engine->context, TN_E0001,
				 "no memory for the workspace, %zu bytes",
				 size);
	tn_engine_help_memory(engine, diag);
	return TN_IO;
}

static enum tn_status prepare(struct tenon_call *call)
{
	const struct tn_signature *s = &call->engine->signature;
	enum tn_status status = tn_call_bind(call);
	int i;

	for (i = 0; i < s->ninputs && !status; i++)
		status = make_input(call, i);
	for (i = 0; i < s->ninputs; i++)
		call->tensors[i] = call->inputs[i].tensor;
	raise_runtime(call);
	clear_outputs(call);
	if (!status && call->engine->native)
		status = make_outputs(call);
	return status ? status : make_workspace(call);
}

enum tenon_status tenon_call_run(struct tenon_call *call)
{
	enum tn_status status;
	struct tn_run run;

	if (!call)
		return TENON_USAGE;
	call->has_run = false;
	status = prepare(call);
	if (status)
		return tn_context_end(call->engine->context, status);
	run = (struct tn_run){
		.inputs = call->tensors, .dims = call->dims,
		.outputs = call->outputs, .workspace = call->workspace
	};
	status = tn_engine_run(call->engine, &run);
	call->has_run = status == TN_OK || status == TN_NO;
	if (call->has_run)
		shrink_outputs(call);
	return tn_context_end(call->engine->context, status);
}

const struct tenon_tensor *tenon_call_output(const struct tenon_call *call,
					     int i)
{
	if (!call || !call->has_run || i < 0 ||
	    i >= call->engine->signature.noutputs)
		return NULL;
	return &call->shown[i];
}
