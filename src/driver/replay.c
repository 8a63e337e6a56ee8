/*
 * Replays: read again, run again, up to a step and an amount of fuel.
 */
#include "driver/replay.h"

#include "driver/external.h"
#include "driver/foreign.h"
#include "driver/plugin.h"
#include "driver/target.h"
#include "driver/weights.h"

/* Settings without what the user sees. */
static void take_settings(struct tenon_context *context,
			  const struct tenon_context *from)
{
	context->settings = from->settings;
	context->settings.check_each = 0;
	context->settings.print_changed = NULL;
	context->settings.dump_dir = NULL;
	context->settings.print_after = NULL;
	context->settings.time_passes = false;
	context->settings.fuel = -1;
}

/* From its text, or from the file of another system, which may be large. */
static enum tn_status read_again(const struct tenon_module *of,
				 struct tenon_context *context,
				 struct tenon_module **out)
{
	const struct tn_source *source;
	enum tn_status status;

	if (!of->file)
		return TN_UNSUPPORTED;
	source = tn_vec_at(&of->context->sink.sources, of->file - 1);
	if (tn_foreign_is(of->path))
		status = (enum tn_status)tenon_parse_file(context, of->path,
							  out);
	else
		status = (enum tn_status)tenon_parse_text(context,
							  source->name,
							  source->text,
							  source->size, out);
	return status ? status : tn_weights_by_settings(*out);
}

struct stop {
	struct tn_replay *replay;
	int steps;
};

static enum tn_status see_step(void *data,
			       const struct tn_pass_context *context,
			       const struct tn_pass_step *step)
{
	struct stop *stop = data;

	stop->replay->last = context->rw->last;
	stop->replay->last_pass = step->pass;
	stop->replay->step = step->number;
	stop->replay->spent = context->rw->spent;
	return stop->steps >= 0 && step->number + 1 >= stop->steps ?
		TN_NO : TN_OK;
}

static enum tn_status run(const struct tn_replay_options *options,
			  struct tn_replay *replay)
{
	const struct tn_settings *settings = &replay->context->settings;
	struct stop stop = { .replay = replay, .steps = options->steps };
	struct tn_pass_options pass_options = {
		.entry = replay->entry, .fuel = options->fuel,
		.rules = tn_module_rules, .rules_data = replay->module,
		.fp = settings->fp,
		.after = see_step, .after_data = &stop
	};
	struct tn_external external;
	struct tn_target target;
	enum tn_status status = tn_target_pick(replay->context, &target);

	pass_options.target = &target;
	if (!status)
		status = tn_external_offer(&external, replay->module,
					   &replay->entry, &pass_options);
	if (!status && options->steps != 0)
		status = tn_pipeline_run(replay->module->ir, options->passes,
					 &pass_options);
	if (status == TN_NO)
		status = TN_OK;
	return status ? status : tn_weights_derive(replay->module);
}

enum tn_status tn_replay_open(const struct tn_replay_options *options,
			      struct tn_replay *out)
{
	enum tn_status status;

	*out = (struct tn_replay){ .step = -1 };
	out->context = tenon_context_new();
	if (!out->context)
		return TN_IO;
	take_settings(out->context, options->of->context);
	status = tn_plugin_share(out->context, options->of->context);
	if (!status)
		status = read_again(options->of, out->context, &out->module);
	if (status)
		return status;
	out->entry = tn_module_entry(out->module->ir, options->fn);
	if (!out->entry)
		return TN_UNSUPPORTED;
	return (enum tn_status)tn_context_end(out->context, run(options, out));
}

void tn_replay_close(struct tn_replay *replay)
{
	tenon_module_free(replay->module);
	tenon_context_free(replay->context);
	*replay = (struct tn_replay){ .step = -1 };
}

enum tn_status tn_replay_least(const struct tenon_module *of, const char *fn,
			       const struct tn_probe *probe,
			       struct tn_probe_result *results)
{
	struct tn_replay_options options = {
		.of = of, .fn = fn, .passes = "infer,inline,dce",
		.steps = -1, .fuel = -1
	};
	struct tn_replay replay;
	enum tn_status status = tn_replay_open(&options, &replay);

	if (!status)
		status = tn_probe_set_least(probe, replay.entry, results);
	tn_replay_close(&replay);
	return status;
}

void tn_replay_put_place(const struct tn_replay *replay, struct tn_span span,
			 struct tn_buf *out)
{
	uint32_t line, column;
	const char *name = tn_sink_place(&replay->context->sink, span, &line,
					 &column);

	if (name)
		tn_buf_putf(out, "%s:%u:%u", name, (unsigned)line,
			    (unsigned)column);
}

/* The place goes along; the text there belongs to the replay. */
static void tell_one(const struct tn_sink *from, const struct tn_diag *diag,
		     struct tenon_context *to)
{
	const struct tn_label *label;
	uint32_t line, column;
	struct tn_diag *told;
	const char *name = NULL;

	told = tn_context_report(to, diag->code, "%s", diag->message);
	if (diag->labels.len) {
		label = tn_vec_at(&diag->labels, 0);
		name = tn_sink_place(from, label->span, &line, &column);
	}
	if (name)
		tn_diag_note(&to->sink, told, "at %s:%u:%u", name,
			     (unsigned)line, (unsigned)column);
	if (diag->help)
		tn_diag_help(&to->sink, told, "%s", diag->help);
}

void tn_replay_tell(const struct tn_replay *replay, struct tenon_context *to)
{
	const struct tn_sink *sink = &replay->context->sink;
	const struct tn_diag *diag;
	size_t i;

	for (i = 0; i < sink->diags.len; i++) {
		diag = tn_vec_ptr(&sink->diags, i);
		if (tn_codes[diag->code].severity == TN_ERROR)
			tell_one(sink, diag, to);
	}
}

/* ---- Bisecting ---------------------------------------------------------- */

enum tn_status tn_bisect_run(const struct tn_bisect *bisect, int64_t lo,
			     int64_t hi, int64_t *out)
{
	enum tn_status status = TN_OK;
	int64_t middle;
	bool bad;

	while (hi - lo > 1 && !status) {
		middle = lo + (hi - lo) / 2;
		status = bisect->is_bad(bisect->data, middle, &bad);
		if (!status && bad)
			hi = middle;
		else if (!status)
			lo = middle;
	}
	*out = hi;
	return status;
}
