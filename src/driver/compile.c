/*
 * Native targets: emission, then the compiler; and folders of emitted code.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/engine.h"
#include "driver/target.h"
#include "driver/toolchain.h"
#include "driver/weights.h"

/* One event a file of the emission; of weights the size is not known yet. */
static void tell_files(const struct tenon_module *module,
		       const struct tn_target *target,
		       const struct tn_emission *emission)
{
	struct tn_events *events = module->ir->events;
	const struct tn_emitted *file;
	int i;

	for (i = 0; i < emission->count && events; i++) {
		file = &emission->files[i];
		tn_event_begin(events, "file");
		tn_event_text(events, "target", target->name);
		tn_event_text(events, "name", file->name);
		if (!file->is_weights)
			tn_event_int(events, "bytes", (int64_t)file->text.len);
		tn_event_end(events);
	}
}

/* The code of the lowered entry; tn_emission_fini is due in any case. */
static enum tn_status emit_code(struct tenon_module *module,
				const struct tn_fn *entry,
				const struct tn_target *target,
				struct tn_emission *out)
{
	enum tn_status status;

	*out = (struct tn_emission){0};
	module->ir->events = tn_context_events(module->context);
	if (!target->backend->emit) {
		tn_context_report(module->context, TN_E0009, "target %s: there "
				  "is no code to write", target->name);
		return TN_UNSUPPORTED;
	}
	status = target->backend->emit(module->ir, entry, module->stem,
				       target, out);
	if (!status)
		tell_files(module, target, out);
	return status;
}

/* Object and weights of an emission, given to the engine. */
static enum tn_status finish(struct tenon_engine *engine,
			     const struct tn_emission *emission,
			     struct tn_engine_parts *parts)
{
	struct tn_buf object;
	enum tn_status status;

	tn_buf_init(&object);
	status = tn_toolchain_compile(engine->context, emission,
				      &engine->target, &object);
	if (!status)
		status = tn_toolchain_weights(engine->context, emission,
					      &engine->weights,
					      &parts->weights_size);
	parts->object_size = object.len;
	engine->object = tn_buf_take(&object);
	tn_buf_fini(&object);
	if (!status && !engine->object)
		status = TN_IO;
	parts->object = engine->object;
	parts->weights = engine->weights;
	return status;
}

enum tn_status tn_engine_compile(struct tenon_engine *engine,
				 struct tn_engine_parts *parts)
{
	struct tn_emission emission;
	enum tn_status status;

	*parts = (struct tn_engine_parts){
		.signature = &engine->signature,
		.target = engine->target.name, .isa = engine->target.isa,
		.workspace = engine->fn->arena_bytes
	};
	if (engine->target.backend->has_memory)
		parts->workspace = 0;
	if (engine->target.backend->emulated &&
	    engine->context->settings.emulate)
		parts->isa = TN_ISA_EMULATED;
	status = emit_code(engine->module, engine->fn, &engine->target,
			   &emission);
	if (!status)
		status = finish(engine, &emission, parts);
	tn_emission_fini(&emission);
	return status;
}

static enum tn_status emit(struct tenon_module *module, const char *folder)
{
	struct tn_emission emission;
	struct tn_target target;
	struct tn_fn *entry;
	enum tn_status status = tn_target_pick(module->context, &target);

	if (status)
		return status;
	entry = tn_module_pick(module);
	if (!entry)
		return TN_BAD_INPUT;
	if (target.backend->has_weights)
		status = tn_weights_by_settings(module);
	if (!status)
		status = tn_module_lower(module, &entry, &target);
	if (status)
		return status;
	status = emit_code(module, entry, &target, &emission);
	if (!status)
		status = tn_toolchain_write(module->context, &emission,
					    folder);
	tn_emission_fini(&emission);
	return status;
}

enum tenon_status tenon_module_emit(struct tenon_module *module,
				    const char *folder)
{
	if (!module || !folder)
		return TENON_USAGE;
	return tn_context_end(module->context, emit(module, folder));
}
