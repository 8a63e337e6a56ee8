/*
 * Engines: made from a module or opened from a file, and run.
 */
#include "driver/engine.h"

#include <stdlib.h>
#include <string.h>

#include "backends/ref/ref.h"
#include "driver/native.h"
#include "driver/recipe.h"
#include "driver/target.h"
#include "driver/tensors.h"
#include "driver/weights.h"
#include "ir/layout.h"

/* ---- Making --------------------------------------------------------------------- */

static struct tenon_engine *new_engine(struct tenon_context *context)
{
	struct tenon_engine *engine = calloc(1, sizeof(*engine));

	if (!engine)
		return NULL;
	engine->context = context;
	tn_arena_init(&engine->arena);
	return engine;
}

void tenon_engine_free(struct tenon_engine *engine)
{
	if (!engine)
		return;
	tn_native_free(engine->native);
	tenon_module_free(engine->own);
	tn_file_unmap(&engine->map);
	free(engine->text);
	free(engine->object);
	free(engine->weights);
	tn_arena_fini(&engine->arena);
	free(engine);
}

static bool print_signature(struct tenon_engine *engine)
{
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_signature_print(&engine->signature, &buf);
	engine->text = tn_buf_take(&buf);
	tn_buf_fini(&buf);
	return engine->text != NULL;
}

static enum tn_status take_parts(struct tenon_engine *engine,
				 const struct tn_engine_parts *parts)
{
	enum tn_status status;

	engine->workspace = parts->workspace;
	engine->native = tn_native_load(engine->context, parts->object,
					parts->object_size, parts->weights,
					parts->weights_size, &status);
	return engine->native ? TN_OK : status;
}

/* There is no machine code of the target. */
static enum tn_status no_engine(const struct tenon_engine *engine)
{
	tn_context_report(engine->context, TN_E0009, "an engine holds machine "
			  "code, which the target %s does not make",
			  engine->target.name);
	return TN_UNSUPPORTED;
}

/* Whether this machine can run what is compiled for the target. */
static enum tn_status check_machine(struct tenon_engine *engine,
				    const char *subject)
{
	const struct tn_target *target = &engine->target;
	bool emulated = target->backend->emulated &&
		engine->context->settings.emulate;

	if (target->backend->is_interpreter)
		return TN_OK;
	if (!tn_recipe_find(engine->context, target))
		return no_engine(engine);
	return tn_target_check(engine->context, target->name, emulated ?
			       TN_ISA_EMULATED : target->isa, subject);
}

/* Lowers and describes; what is common to running and building. */
static enum tn_status ready(struct tenon_engine *engine,
			    struct tenon_module *module, struct tn_fn *entry)
{
	enum tn_status status = tn_module_lower(module, &entry,
						&engine->target);

	if (status)
		return status;
	engine->module = module;
	engine->fn = entry;
	engine->target_name = engine->target.name;
	if (!tn_signature_of(&engine->arena, entry, &engine->signature) ||
	    !print_signature(engine))
		return TN_IO;
	return TN_OK;
}

static enum tn_status make(struct tenon_engine *engine,
			   struct tenon_module *module, struct tn_fn *entry)
{
	struct tn_engine_parts parts = {0};
	enum tn_status status = check_machine(engine, module->stem);

	if (!status)
		status = ready(engine, module, entry);
	if (status || engine->target.backend->is_interpreter)
		return status;
	status = tn_engine_compile(engine, &parts);
	return status ? status : take_parts(engine, &parts);
}

enum tn_status tn_engine_of(struct tenon_module *module, struct tn_fn *entry,
			    const struct tn_target *target,
			    struct tenon_engine **out)
{
	struct tenon_engine *engine = new_engine(module->context);
	enum tn_status status;

	*out = NULL;
	if (!engine)
		return TN_IO;
	engine->target = *target;
	status = make(engine, module, entry);
	if (status)
		tenon_engine_free(engine);
	else
		*out = engine;
	return status;
}

enum tenon_status tenon_engine_make(struct tenon_module *module,
				    struct tenon_engine **out)
{
	struct tn_target target;
	enum tn_status status;
	struct tn_fn *entry;

	*out = NULL;
	if (!module)
		return TENON_USAGE;
	status = tn_target_pick(module->context, &target);
	if (status)
		return tn_context_end(module->context, status);
	entry = tn_module_pick(module);
	if (!entry)
		return tn_context_end(module->context, TN_BAD_INPUT);
	status = tn_weights_by_settings(module);
	if (!status)
		status = tn_engine_of(module, entry, &target, out);
	return tn_context_end(module->context, status);
}

static enum tn_status build(struct tenon_module *module,
			    struct tenon_engine *engine, const char *path)
{
	struct tn_engine_parts parts = {0};
	struct tn_fn *entry = tn_module_pick(module);
	enum tn_status status;

	if (!entry)
		return TN_BAD_INPUT;
	if (!tn_recipe_find(module->context, &engine->target))
		return no_engine(engine);
	status = tn_weights_by_settings(module);
	if (!status)
		status = ready(engine, module, entry);
	if (!status)
		status = tn_engine_compile(engine, &parts);
	return status ? status : tn_engine_write(module->context, path,
						 &parts);
}

enum tenon_status tenon_module_build(struct tenon_module *module,
				     const char *path)
{
	struct tenon_engine *engine;
	enum tn_status status = TN_IO;

	if (!module || !path)
		return TENON_USAGE;
	engine = new_engine(module->context);
	if (engine)
		status = tn_target_pick(module->context, &engine->target);
	if (engine && !status)
		status = build(module, engine, path);
	tenon_engine_free(engine);
	return tn_context_end(module->context, status);
}

enum tenon_status tenon_engine_load(struct tenon_context *context,
				    const char *path,
				    struct tenon_engine **out)
{
	struct tn_engine_parts parts = {0};
	struct tenon_engine *engine;
	enum tn_status status;

	*out = NULL;
	if (!context || !path)
		return TENON_USAGE;
	engine = new_engine(context);
	if (!engine)
		return tn_context_end(context, TN_IO);
	status = tn_engine_open(engine, path, &parts);
	if (!status && !print_signature(engine))
		status = TN_IO;
	if (!status)
		status = take_parts(engine, &parts);
	if (status)
		tenon_engine_free(engine);
	else
		*out = engine;
	return tn_context_end(context, status);
}

/* ---- Asking ---------------------------------------------------------------------- */

const char *tenon_engine_signature(const struct tenon_engine *engine)
{
	return engine ? engine->text : NULL;
}

const char *tenon_engine_target(const struct tenon_engine *engine)
{
	return engine ? engine->target_name : NULL;
}

int tenon_engine_inputs(const struct tenon_engine *engine)
{
	return engine ? engine->signature.ninputs : 0;
}

int tenon_engine_outputs(const struct tenon_engine *engine)
{
	return engine ? engine->signature.noutputs : 0;
}

static const struct tn_port *input(const struct tenon_engine *engine, int i)
{
	return engine && i >= 0 && i < engine->signature.ninputs ?
		&engine->signature.inputs[i] : NULL;
}

static const struct tn_port *output(const struct tenon_engine *engine, int i)
{
	return engine && i >= 0 && i < engine->signature.noutputs ?
		&engine->signature.outputs[i] : NULL;
}

const char *tenon_engine_input_name(const struct tenon_engine *engine,
				    int i)
{
	return input(engine, i) ? input(engine, i)->name : NULL;
}

const char *tenon_engine_output_name(const struct tenon_engine *engine,
				     int i)
{
	return output(engine, i) ? output(engine, i)->name : NULL;
}

enum tenon_dtype tenon_engine_input_dtype(const struct tenon_engine *engine,
					  int i)
{
	return input(engine, i) ?
		(enum tenon_dtype)input(engine, i)->type->dtype : TENON_F32;
}

enum tenon_dtype tenon_engine_output_dtype(const struct tenon_engine *engine,
					   int i)
{
	return output(engine, i) ?
		(enum tenon_dtype)output(engine, i)->type->dtype : TENON_F32;
}

int64_t tenon_engine_workspace(const struct tenon_engine *engine)
{
	return engine ? engine->workspace : 0;
}

/* ---- Running ------------------------------------------------------------------------ */

static void put_flags(struct tn_buf *text, uint32_t flags)
{
	static const struct {
		uint32_t bit;
		const char *words;
	} names[] = {
		{ TN_RAISED_DIVISION, "integer division by zero" },
		{ TN_RAISED_INDEX, "index out of range" },
		{ TN_RAISED_SHIFT, "negative shift count" },
		{ TN_RAISED_ASSERT, "assertion failed" }
	};
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (flags & names[i].bit)
			tn_buf_putf(text, "%s%s", text->len ? ", " : "",
				    names[i].words);
}

/* What `print` hands over, to the context's function. */
static void hand_print(void *data, const char *label,
		       const struct tn_tensor *tensor)
{
	struct tenon_context *context = data;
	struct tenon_tensor lent = tn_tensors_out(tensor);

	if (context->print)
		context->print(context->print_data, label, &lent);
}

/* The warning of a run that raised, at the op, and of an engine from a file,
 * which has no ops, at its place. */
static enum tn_status raised(struct tenon_engine *engine, uint32_t flags,
			     const struct tn_op *op, const char *reason,
			     const char *place)
{
	struct tn_sink *sink = &engine->context->sink;
	struct tn_span nowhere = { 0, 0, 0 };
	struct tn_diag *diag;
	struct tn_buf text;

	tn_buf_init(&text);
	put_flags(&text, flags);
	if (reason)
		tn_buf_putf(&text, ": %s", reason);
	diag = tn_diag_report(sink, TN_W0018, op ? op->span : nowhere, "%s",
			      tn_buf_text(&text));
	if (!op && place)
		tn_diag_place(sink, diag, place);
	if (text.failed || engine->arena.failed)
		sink->failed = true;
	tn_buf_fini(&text);
	return sink->failed ? TN_IO : TN_NO;
}

/* Dims that the caller does not know are -1 for the interpreter. */
static void hide_runtime(const struct tn_signature *s, int64_t *dims)
{
	int i;

	for (i = 0; i < s->ir->dims.nsyms; i++)
		if (s->runtime[i])
			dims[i] = -1;
}

static enum tn_status run_ref(struct tenon_engine *engine, struct tn_run *run)
{
	const struct tn_signature *s = &engine->signature;
	struct tn_ref_result result = {
		.print = hand_print, .data = engine->context
	};
	enum tn_status status;

	hide_runtime(s, run->dims);
	status = tn_ref_run(s->ir, engine->fn, s->ninputs, run->inputs,
			    run->dims, run->outputs, &result);
	if (status == TN_IO)
		return tn_context_nomem(engine->context);
	if (status) {
		tn_diag_report(&engine->context->sink,
			       status == TN_UNSUPPORTED ? TN_E0009 :
			       TN_E0019, result.span, "%s", result.message);
		return status;
	}
	if (!result.flags)
		return TN_OK;
	return raised(engine, result.flags, result.raised, result.raised ?
		      tn_message_of(&engine->arena, result.raised) : NULL,
		      NULL);
}

/* A guard of the emitted code refused: one that only the run could tell. */
static enum tn_status refused(struct tenon_engine *engine, int fault)
{
	const struct tn_signature *s = &engine->signature;
	int guard = fault - s->ir->dims.nsyms;
	const struct tn_dim *dim;

	if (fault >= 0 && guard < 0) {
		dim = tn_vec_ptr(&s->ir->dims.syms, (size_t)fault);
		tn_diag_report(&engine->context->sink, TN_E0014,
			       dim->sym->span, "dim '%s' is out of bounds",
			       dim->sym->name);
	} else {
		tn_context_report(engine->context, TN_E0020,
				  "these sizes are refused");
	}
	return TN_BAD_INPUT;
}

/* Launch number *left of a block, in the order in which they are emitted. */
static const struct tn_op *find_launch(const struct tn_block *block,
				       int *left)
{
	const struct tn_op *op, *found = NULL;
	int i;

	for (op = block->first; op && !found; op = op->next) {
		for (i = 0; i < op->nregions && !found; i++)
			found = find_launch(op->regions[i], left);
		if (op->code == TN_OP_launch && (*left)-- == 0)
			found = op;
	}
	return found;
}

void tn_engine_help_memory(struct tenon_engine *engine, struct tn_diag *diag)
{
	const struct tn_module *ir = engine->signature.ir;
	bool is_imported = false;
	const struct tn_dim *dim;
	struct tn_buf list;
	int i;

	tn_buf_init(&list);
	for (i = 0; i < ir->dims.nsyms; i++) {
		dim = tn_vec_ptr(&ir->dims.syms, (size_t)i);
		if (i == 0)
			is_imported = !dim->sym->span.file;
		tn_buf_putf(&list, "%s%s%s", i ? is_imported ? "," : ", " : "",
			    dim->sym->name, is_imported ? "=LOW:HIGH" : "");
	}
	if (ir->dims.nsyms)
		tn_diag_help(&engine->context->sink, diag, "memory is laid out "
			     "for the largest sizes: narrow %s%s",
			     is_imported ? "them, --bounds=" :
			     "the bounds of ", tn_buf_text(&list));
	tn_buf_fini(&list);
}

static enum tn_status report_native(struct tenon_engine *engine,
				    enum tn_status status,
				    const struct tn_native_report *report)
{
	const char *why = report->why ? report->why : "failed";
	const struct tn_op *op = NULL;
	int number = report->op;
	struct tn_diag *diag;

	if (status == TN_BAD_INPUT)
		return refused(engine, report->fault);
	if (status == TN_IO) {
		diag = tn_context_report(engine->context, TN_E0019, "CUDA: %s",
					 why);
		if (!strcmp(why, "out of memory"))
			tn_engine_help_memory(engine, diag);
	}
	if (status != TN_NO)
		return status;
	if (engine->fn && number >= 0)
		op = find_launch(engine->fn->body, &number);
	return raised(engine, report->flags, op, report->reason,
		      report->place);
}

/* What compiled code prints, to the context's function. */
static void hand_native(void *data, const char *label, const char *dtype,
			int rank, const int64_t *shape, const void *elements)
{
	struct tn_tensor tensor = { .rank = rank };

	tensor.dtype = tn_dtype_find(dtype);
	if (tensor.dtype == TN_DTYPE_COUNT || rank > TN_MAX_RANK)
		return;
	if (rank > 0)
		memcpy(tensor.shape, shape, (size_t)rank * sizeof(*shape));
	tensor.data = (void *)(uintptr_t)elements;
	hand_print(data, label, &tensor);
}

static int thread_count(const struct tenon_engine *engine)
{
	int threads = engine->context->settings.threads;

	return threads > 0 ? threads : tn_native_threads();
}

/* Compiled code takes and gives bytes as the signature lays them out; tensors
 * are row-major. `packed` has one for each port, what they lend in `pointers`. */
static bool pack_ports(const struct tn_signature *s, const struct tn_run *run,
		       struct tn_tensor *packed, void **pointers)
{
	int i, n = s->ninputs + s->noutputs;

	for (i = 0; i < n; i++) {
		bool is_input = i < s->ninputs;
		int k = is_input ? i : i - s->ninputs;
		const struct tn_tensor *tensor = is_input ? &run->inputs[k] :
			&run->outputs[k];
		const struct tn_layout *layout = is_input ?
			s->inputs[k].layout : s->outputs[k].layout;

		pointers[i] = tensor->data;
		if (!layout)
			continue;
		if (!tn_layout_pack(layout, tensor, &packed[i]))
			return false;
		pointers[i] = packed[i].data;
	}
	return true;
}

static bool unpack_outputs(const struct tn_signature *s,
			   const struct tn_run *run,
			   const struct tn_tensor *packed)
{
	int i;

	for (i = 0; i < s->noutputs; i++)
		if (s->outputs[i].layout &&
		    !tn_layout_unpack(s->outputs[i].layout,
				      packed[s->ninputs + i].data,
				      &run->outputs[i]))
			return false;
	return true;
}

static enum tn_status run_native(struct tenon_engine *engine,
				 struct tn_run *run)
{
	const struct tn_signature *s = &engine->signature;
	size_t in = (size_t)s->ninputs, out = (size_t)s->noutputs, i;
	void **pointers = calloc(in + out + 1, sizeof(*pointers));
	struct tn_tensor *packed = calloc(in + out + 1, sizeof(*packed));
	struct tn_native_report report;
	enum tn_status status = TN_IO;
	bool ok;
	struct tn_native_call call = {
		.threads = thread_count(engine), .dims = run->dims,
		.workspace = run->workspace, .print_data = engine->context
	};

	if (engine->context->print)
		call.print = hand_native;
	ok = pointers && packed && pack_ports(s, run, packed, pointers);
	if (ok) {
		call.inputs = (const void *const *)pointers;
		call.outputs = pointers + in;
		status = tn_native_run(engine->native, &call, &report);
		ok = unpack_outputs(s, run, packed);
	}
	for (i = 0; packed && i < in + out; i++)
		tn_tensor_fini(&packed[i]);
	free(packed);
	free(pointers);
	return ok ? report_native(engine, status, &report) :
		tn_context_nomem(engine->context);
}

enum tn_status tn_engine_run(struct tenon_engine *engine, struct tn_run *run)
{
	return engine->native ? run_native(engine, run) :
		run_ref(engine, run);
}
