/*
 * The runner: checks what each pass needs, runs, times, verifies and shows.
 *
 * In: a module, "inline,fold{limit=64},...". Out: the module changed in
 * place, its property bits kept up to date.
 */
#include "passes/pass_run.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "ir/print.h"

static void show(const struct tn_module *module, const char *pass,
		 const struct tn_pass_options *options)
{
	struct tn_print_options print = { .places = true };
	struct tn_buf text;

	if (!options->print_after || !options->show)
		return;
	if (strcmp(options->print_after, "all") &&
	    strcmp(options->print_after, pass))
		return;
	tn_buf_init(&text);
	tn_print_module(&text, module, &print);
	options->show(options->data, pass, tn_buf_text(&text));
	tn_buf_fini(&text);
}

/* What the result of a pass means; `errors` were there before it. */
static enum tn_status outcome(const struct tn_pass_context *context,
			      enum tn_pass_result result, uint32_t errors)
{
	const struct tn_module *module = context->module;

	if (module->failed || context->rw->failed || module->sink->failed)
		return TN_IO;
	switch (result) {
	case TN_PASS_SAME:
	case TN_PASS_CHANGED:
		return TN_OK;
	case TN_PASS_UNSUPPORTED:
		return TN_UNSUPPORTED;
	case TN_PASS_BUG:
		return TN_BUG;
	case TN_PASS_FAILED:
		break;
	}
	return module->sink->errors > errors ? TN_BAD_INPUT : TN_IO;
}

/* What holds after a pass. One that ran out of fuel may have left work undone,
 * so what only optimisation gives is not claimed. */
static void note_props(struct tn_pass_context *context,
		       const struct tn_pass *pass,
		       enum tn_pass_result result)
{
	struct tn_module *module = context->module;

	if (result == TN_PASS_CHANGED)
		module->props &= ~pass->breaks;
	module->props |= pass->gives;
	if (context->rw->fuel == 0)
		module->props &= ~(unsigned)(TN_PROP_CANONICAL | TN_PROP_FUSED);
}

/* ---- What is told ------------------------------------------------------ */

static void tell_begin(const struct tn_pass_context *context, const char *pass)
{
	struct tn_events *events = context->module->events;

	if (!events)
		return;
	tn_event_begin(events, "pass-begin");
	tn_event_text(events, "pass", pass);
	tn_event_text(events, "fn", context->entry->name);
	tn_event_int(events, "ops", tn_pass_count(context->entry->body));
	tn_event_end(events);
}

/* One run of a pass. */
struct run {
	const char *pass;
	enum tn_pass_result result;
	struct tn_time_work work;
	double ms, verify_ms;
};

static void tell_end(const struct tn_pass_context *context,
		     const struct run *run)
{
	static const char *const results[] = {
		"same", "changed", "failed", "unsupported", "bug"
	};
	struct tn_events *events = context->module->events;

	if (!events)
		return;
	tn_event_begin(events, "pass-end");
	tn_event_text(events, "pass", run->pass);
	tn_event_text(events, "fn", context->entry->name);
	tn_event_text(events, "result", results[run->result]);
	tn_event_int(events, "ops", tn_pass_count(context->entry->body));
	tn_event_int(events, "kernels", (int64_t)context->module->kernels.len);
	tn_event_int(events, "rewrites", run->work.rewrites);
	if (context->rw->fuel >= 0)
		tn_event_int(events, "fuel", context->rw->fuel);
	tn_event_real(events, "ms", run->ms);
	tn_event_real(events, "verify_ms", run->verify_ms);
	tn_event_end(events);
}

/* What was done up to now; counting operators takes time, so only for who
 * asks. */
static struct tn_time_work work_so_far(const struct tn_pass_context *context)
{
	const struct tn_arena *arena = &context->module->arena;

	return (struct tn_time_work){
		.before = context->options->timing ?
			tn_pass_count(context->entry->body) : 0,
		.rewrites = context->rw->count,
		.allocations = (int64_t)arena->count,
		.bytes = (int64_t)arena->used
	};
}

/* What was done since `start`. */
static struct tn_time_work work_since(const struct tn_pass_context *context,
				      const struct tn_time_work *start)
{
	struct tn_time_work now = work_so_far(context);

	return (struct tn_time_work){
		.before = start->before, .after = now.before,
		.rewrites = now.rewrites - start->rewrites,
		.allocations = now.allocations - start->allocations,
		.bytes = now.bytes - start->bytes
	};
}

/* ---- Running ------------------------------------------------------------ */

/* Developers' builds verify after each pass, whatever the options. */
#ifdef TN_SANITIZED
#define IS_DEBUG true
#else
#define IS_DEBUG false
#endif

/* Runs the pass and notes what holds then. */
static enum tn_status run_alone(struct tn_pass_context *context,
				const struct tn_pass_entry *entry,
				struct run *run)
{
	const struct tn_module *module = context->module;
	struct tn_time_work before = work_so_far(context);
	unsigned known = tn_analyses_known(context->analyses);
	uint32_t errors = context->module->sink->errors;
	double start = tn_timing_now();
	enum tn_status status;

	context->arguments = entry->arguments;
	context->rw->pass = run->pass = entry->pass->name;
	context->pass = entry->pass;
	run->result = entry->pass->run(context);
	if (context->module != module) {
		before.allocations = before.bytes = 0;
		tn_analyses_fini(context->analyses);
		tn_analyses_init(context->analyses, context->entry);
	}
	status = outcome(context, run->result, errors);
	if (!status)
		note_props(context, entry->pass, run->result);
	tn_analyses_keep(context->analyses, known & entry->pass->keeps);
	run->ms = tn_timing_now() - start;
	run->work = work_since(context, &before);
	return status;
}

static enum tn_status check_props(const struct tn_pass_context *context,
				  const struct run *run, uint64_t epoch)
{
	enum tn_status status;

	status = tn_pass_check_claim(context, run->result, epoch, run->pass);
	return status ? status : tn_pass_check_props(context, context->pass);
}

static enum tn_status check_alone(const struct tn_pass_context *context,
				  struct run *run, uint64_t epoch)
{
	const struct tn_pass_options *options = context->options;
	double start = tn_timing_now();
	enum tn_status status = TN_OK;

	tn_pass_part(context, "verify");
	if (options->verify || IS_DEBUG || context->pass->is_foreign)
		status = check_props(context, run, epoch);
	if (!status && (options->check_analyses || IS_DEBUG))
		status = tn_pass_check_analyses(context, run->pass);
	tn_pass_part_end(context);
	run->verify_ms = tn_timing_now() - start;
	return status;
}

static enum tn_status tell_after(const struct tn_pass_context *context,
				 const struct tn_pass_entry *entry,
				 enum tn_pass_result result)
{
	const struct tn_pass_options *options = context->options;
	struct tn_pass_step step = {
		.pass = entry->pass->name, .arguments = entry->arguments,
		.number = entry->number, .changed = result == TN_PASS_CHANGED
	};
	enum tn_status status;

	if (!options->after)
		return TN_OK;
	tn_pass_part(context, "watch");
	status = options->after(options->after_data, context, &step);
	tn_pass_part_end(context);
	return status;
}

static enum tn_status run_known(struct tn_pass_context *context,
				const struct tn_pass_entry *entry,
				struct run *run)
{
	uint64_t epoch = context->module->epoch;
	enum tn_status status;

	tell_begin(context, entry->pass->name);
	status = run_alone(context, entry, run);
	if (!status)
		status = check_alone(context, run, epoch);
	tell_end(context, run);
	if (!status || status == TN_BUG)
		show(context->module, run->pass, context->options);
	return status ? status : tell_after(context, entry, run->result);
}

static enum tn_status run_pass(struct tn_pass_context *context,
			       const struct tn_pass_entry *entry)
{
	struct tn_timing *timing = context->options->timing;
	enum tn_status status;
	struct run run = { 0 };

	tn_timing_begin_pass(timing, entry->pass->name);
	status = tn_pass_check_needs(context, entry->pass);
	if (!status)
		status = run_known(context, entry, &run);
	tn_timing_end_pass(timing, &run.work);
	return status;
}

/* At the borders of the module, in every build. */
static enum tn_status check_border(const struct tn_pass_context *context,
				   const struct tn_pass *last)
{
	enum tn_status status;

	tn_pass_part(context, "verify");
	status = tn_pass_check_props(context, last);
	tn_pass_part_end(context);
	return status;
}

static enum tn_status run_entries(struct tn_pass_context *context,
				  char *text)
{
	const char *stop = context->options->stop_after;
	const struct tn_pass *last = NULL;
	enum tn_status status = check_border(context, NULL);
	struct tn_pass_entry entry;
	int number = 0;

	while (status == TN_OK &&
	       tn_pass_text_next(context->options, &text, &entry)) {
		entry.number = number++;
		status = run_pass(context, &entry);
		last = entry.pass;
		if (stop && !strcmp(stop, entry.name))
			break;
	}
	if (!status && last && !context->options->verify && !IS_DEBUG)
		status = check_border(context, last);
	return status;
}

enum tn_status tn_pipeline_run(struct tn_module *module,
			       const char *pipeline,
			       const struct tn_pass_options *options)
{
	struct tn_rw rw = { .module = module, .fuel = options->fuel };
	struct tn_analyses analyses;
	struct tn_pass_context context = {
		.module = module, .rw = &rw, .options = options,
		.target = options->target, .entry = options->entry,
		.analyses = &analyses
	};
	size_t size = strlen(pipeline) + 1;
	enum tn_status status;
	char *text, *copy;

	if (!context.entry)
		context.entry = tn_module_entry(module, NULL);
	if (!context.entry)
		return TN_BAD_INPUT;
	text = malloc(2 * size);
	if (!text)
		return TN_IO;
	copy = text + size;
	memcpy(text, pipeline, size);
	memcpy(copy, pipeline, size);
	status = tn_pass_text_check(module, options, copy);
	if (!status) {
		tn_analyses_init(&analyses, context.entry);
		tn_timing_begin(options->timing, "pipeline");
		status = run_entries(&context, text);
		tn_timing_end(options->timing);
		tn_analyses_fini(&analyses);
	}
	free(text);
	return status;
}
