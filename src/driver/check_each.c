/*
 * check-each: after each pass that changed something the interpreter runs the
 * function on inputs made up for it, and the results must be those of before.
 *
 *   error[E0026]: pass 'simplify' changes result 'y'
 *     note: element [2] is 3 before it and 4 after it, for inputs 1 (N = 3)
 *     note: rewrite 7 does it: rule 'wrong' at 'add' of 'y', f.tn:5:7
 *     note: the module as that rewrite finds it: tenon-crash-f.tn
 *
 * Which rewrite of the pass it was is found by reading the module again and
 * running the passes up to that one with less fuel.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/plugin.h"
#include "driver/replay.h"
#include "driver/watch.h"
#include "driver/weights.h"

/* Sums in another order: bits of single precision and a few terms. */
#define REORDERED 1e-4
/* What a shell leaves as it is. */
#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789_-+.,:/%@"

static bool is_of_plugin(const struct tenon_context *context,
			 const char *name)
{
	const struct tn_pass *pass;
	size_t i;

	for (i = 0; i < context->passes.len; i++) {
		pass = tn_vec_ptr(&context->passes, i);
		if (!strcmp(pass->name, name))
			return true;
	}
	return false;
}

static bool has_layout(void *data, struct tn_op *op)
{
	bool *found = data;
	int i;

	for (i = 0; i < op->nout; i++)
		*found = *found || op->out[i]->layout;
	return !*found;
}

/* Some value lies otherwise than row by row: windows then sum in the order in
 * which their channels lie. */
static bool has_layouts(const struct tn_fn *entry)
{
	bool found = false;

	tn_pass_walk(entry->body, has_layout, &found);
	return found;
}

double tn_check_tolerance(const struct tenon_module *module,
			  const struct tn_fn *entry, const char *pass)
{
	bool licensed = module->context->settings.fp ||
			tn_annots_find(&entry->annots, "fp");

	if (!strcmp(pass, "schedule") ||
	    (!strcmp(pass, "lower") && has_layouts(entry)) ||
	    (licensed && (!strcmp(pass, "simplify") ||
			  is_of_plugin(module->context, pass))))
		return REORDERED;
	return 0;
}

enum tn_status tn_check_begin(struct tn_watch *watch)
{
	struct tenon_context *context = watch->module->context;
	enum tn_status status;
	struct tn_buf why;

	status = (enum tn_status)tn_weights_by_settings(watch->module);
	if (!status)
		status = tn_probe_init(&watch->probe, watch->entry,
				       context->settings.check_each);
	if (status)
		return status;
	if (watch->probe.nsets == 0) {
		tn_context_report(context, TN_E0027, "no inputs were found "
				  "that '%s' accepts", watch->entry->name);
		return TN_UNSUPPORTED;
	}
	watch->results = calloc((size_t)watch->probe.nsets,
				sizeof(*watch->results));
	if (!watch->results)
		return TN_IO;
	tn_buf_init(&why);
	status = tn_probe_run(&watch->probe, watch->entry, watch->results,
			      &why);
	tn_buf_fini(&why);
	if (!status && watch->base == 0)
		status = tn_replay_least(watch->module, watch->entry->name,
					 &watch->probe, watch->results);
	return status;
}

/* ---- Which rewrite ------------------------------------------------------- */

/* A result that came out otherwise, and what made it. */
struct fault {
	struct tn_watch *watch;
	int steps;		/* passes up to the one at fault */
	int set;		/* of inputs */
	double rtol;
	struct tn_probe_difference difference;
};

static enum tn_status replay(const struct fault *fault, int64_t fuel,
			     struct tn_replay *out)
{
	struct tn_replay_options options = {
		.of = fault->watch->module, .fn = fault->watch->entry->name,
		.passes = fault->watch->passes, .steps = fault->steps,
		.fuel = fuel
	};

	return tn_replay_open(&options, out);
}

/* Whether that much fuel is enough to get it wrong. */
static enum tn_status is_bad(void *data, int64_t fuel, bool *bad)
{
	const struct fault *fault = data;
	const struct tn_probe *probe = &fault->watch->probe;
	struct tn_probe_result results[TN_PROBE_MOST];
	struct tn_probe_difference difference;
	struct tn_replay again;
	enum tn_status status = replay(fault, fuel, &again);
	int set;

	*bad = false;
	if (!status) {
		status = tn_probe_run(probe, again.entry, results, NULL);
		*bad = status && status != TN_IO;
		for (set = 0; !status && set < probe->nsets; set++)
			*bad |= !tn_probe_same(&fault->watch->results[set],
					       &results[set], fault->rtol,
					       &difference);
		tn_probe_drop(probe, results);
	}
	tn_replay_close(&again);
	return *bad ? TN_OK : status;
}

/* The unit of fuel that makes it wrong; -1: fuel cannot tell. */
static int64_t find_rewrite(struct fault *fault, int64_t lo, int64_t hi)
{
	struct tn_bisect bisect = { is_bad, fault };
	int64_t found;
	bool bad;

	if (hi <= lo || is_bad(fault, lo, &bad) || bad ||
	    is_bad(fault, hi, &bad) || !bad ||
	    tn_bisect_run(&bisect, lo, hi, &found))
		return -1;
	return found;
}

/* ---- The report ---------------------------------------------------------- */

static void put_index(struct tn_buf *out, const struct tn_tensor *tensor,
		      int64_t at)
{
	int64_t index[TN_MAX_RANK];
	int k;

	for (k = tensor->rank; k-- > 0; at /= tensor->shape[k] ?
					     tensor->shape[k] : 1)
		index[k] = tensor->shape[k] ? at % tensor->shape[k] : 0;
	tn_buf_putc(out, '[');
	for (k = 0; k < tensor->rank; k++)
		tn_buf_putf(out, "%s%lld", k ? ", " : "",
			    (long long)index[k]);
	tn_buf_putc(out, ']');
}

static void note_element(const struct fault *fault, struct tn_diag *diag)
{
	const struct tn_watch *watch = fault->watch;
	const struct tn_probe_difference *d = &fault->difference;
	struct tn_buf text;

	tn_buf_init(&text);
	if (d->output < 0) {
		tn_buf_put(&text, "the error flag is raised where it was not, "
			   "or not by what is read");
	} else {
		tn_buf_put(&text, "element ");
		put_index(&text, &watch->results[fault->set].out[d->output],
			  d->at);
		tn_buf_putf(&text, " is %s before it and %s after it",
			    d->before, d->after);
	}
	tn_buf_putf(&text, ", for inputs %d", fault->set);
	if (watch->module->ir->dims.nsyms) {
		tn_buf_put(&text, " (");
		tn_probe_put_dims(&watch->probe, fault->set,
				  watch->module->ir, &text);
		tn_buf_putc(&text, ')');
	}
	tn_diag_note(watch->module->ir->sink, diag, "%s", tn_buf_text(&text));
	if (d->output >= 0 && d->first)
		tn_diag_note(watch->module->ir->sink, diag, "the first value "
			     "that differs is '%s', of '%s'", d->first->name,
			     d->first->op);
	tn_buf_fini(&text);
}

static void note_rewrite(const struct fault *fault, struct tn_diag *diag,
			 int64_t fuel)
{
	struct tn_sink *sink = fault->watch->module->ir->sink;
	struct tn_replay again;
	struct tn_buf text;

	tn_buf_init(&text);
	if (!replay(fault, fuel, &again) && again.last.rule) {
		tn_buf_putf(&text, "rewrite %lld does it: '%s'",
			    (long long)fuel, again.last.rule);
		if (again.last.op)
			tn_buf_putf(&text, " at '%s'", again.last.op);
		if (again.last.value)
			tn_buf_putf(&text, " of '%s'", again.last.value);
		tn_buf_put(&text, again.last.span.file ? ", " : "");
		tn_replay_put_place(&again, again.last.span, &text);
		tn_diag_note(sink, diag, "%s", tn_buf_text(&text));
	}
	tn_replay_close(&again);
	tn_buf_fini(&text);
}

/* " --name=VALUE", in quotes if a shell would part it or read more into it. */
static void put_setting(struct tn_buf *out, const char *name,
			const char *value)
{
	const char *quote = value[strspn(value, PLAIN)] ? "'" : "";

	tn_buf_putf(out, "--%s=%s%s%s ", name, quote, value, quote);
}

/* What else the passes were told, so that they do the same again. */
static void put_settings(struct tn_buf *out,
			 const struct tenon_context *context)
{
	const struct tn_settings *settings = &context->settings;
	const struct tn_plugin *plugin;
	size_t i;

	for (i = 0; (plugin = tn_plugin_at(context, i)); i++)
		if (plugin->path)
			put_setting(out, "plugin", plugin->path);
	if (settings->rules)
		put_setting(out, "rules", settings->rules);
	if (settings->fp)
		put_setting(out, "fp", settings->fp);
	if (settings->fn)
		put_setting(out, "fn", settings->fn);
	if (settings->random_weights)
		tn_buf_putf(out, "--weights=random:%lld ",
			    (long long)settings->seed);
}

/* `tenon opt` that runs the pass alone, as a shell reads it. */
static void help_again(const struct fault *fault, struct tn_diag *diag,
		       const struct tn_pass_step *step, const char *path)
{
	struct tenon_module *module = fault->watch->module;
	const char *args = step->arguments;
	struct tn_buf command;

	tn_buf_init(&command);
	put_settings(&command, module->context);
	if (args)
		tn_buf_putf(&command, "--passes='%s{%s}'", step->pass, args);
	else
		tn_buf_putf(&command, "--passes=%s", step->pass);
	tn_diag_help(module->ir->sink, diag, "`tenon opt %s --check-each=%d "
		     "%s` shows it again", tn_buf_text(&command),
		     module->context->settings.check_each, path);
	tn_buf_fini(&command);
}

/* The module as the rewrite, or the pass, finds it, to a file. */
static void write_crash(const struct fault *fault, struct tn_diag *diag,
			const struct tn_pass_step *step, int64_t fuel)
{
	struct tenon_module *module = fault->watch->module;
	const char *dir = module->context->settings.dump_dir;
	struct fault before = *fault;
	struct tn_replay again;
	enum tn_status status;
	const char *path;

	path = tn_arena_printf(&module->arena, "%s%stenon-crash-%s.tn",
			       dir ? dir : "", dir ? "/" : "", module->stem);
	before.steps -= fuel < 0;
	status = path ? replay(&before, fuel < 0 ? -1 : fuel - 1, &again) :
			TN_IO;
	if (!status)
		status = (enum tn_status)tenon_module_save(again.module, path);
	if (path)
		tn_replay_close(&again);
	if (!status)
		help_again(fault, diag, step, path);
}

static enum tn_status report(struct fault *fault, int64_t spent,
			     const struct tn_pass_step *step)
{
	struct tn_watch *watch = fault->watch;
	struct tn_span span = watch->entry->span;
	const char *name = NULL;
	struct tn_diag *diag;
	int64_t fuel = -1;

	if (fault->difference.output >= 0)
		name = watch->entry->result_names[fault->difference.output];
	diag = tn_diag_report(watch->module->ir->sink, TN_E0026, span,
			      name ? "pass '%s' changes result '%s'" :
			      fault->difference.output < 0 ?
			      "pass '%s' changes what raises the flag" :
			      "pass '%s' changes a result", step->pass, name);
	note_element(fault, diag);
	if (watch->base == 0)
		fuel = find_rewrite(fault, watch->spent, spent);
	if (fuel > 0)
		note_rewrite(fault, diag, fuel);
	if (watch->base == 0)
		write_crash(fault, diag, step, fuel);
	return TN_NO;
}

/* ---- After a pass --------------------------------------------------------- */

static enum tn_status fails_to_run(const struct tn_watch *watch,
				   const struct tn_pass_step *step,
				   const char *why)
{
	tn_diag_report(watch->module->ir->sink, TN_E0026, watch->entry->span,
		       "after pass '%s' the function does not run: %s",
		       step->pass, why);
	return TN_NO;
}

/* Passes that find out that a value does not matter: `x - x`, `x * 0`. Then
 * what it would have raised does not either. */
static bool may_drop(const char *pass)
{
	return !strcmp(pass, "simplify") || !strcmp(pass, "fold") ||
	       !strcmp(pass, "canonical");
}

enum tn_status tn_check_pass(struct tn_watch *watch,
			     const struct tn_pass_context *context,
			     const struct tn_pass_step *step)
{
	struct fault fault = {
		.watch = watch, .steps = step->number + 1,
		.rtol = tn_check_tolerance(watch->module, watch->entry,
					   step->pass)
	};
	struct tn_probe_result *results;
	enum tn_status status;
	struct tn_buf why;
	int set;

	results = calloc((size_t)watch->probe.nsets, sizeof(*results));
	if (!results)
		return TN_IO;
	tn_buf_init(&why);
	status = tn_weights_derive(watch->module);
	if (!status)
		status = tn_probe_run(&watch->probe, watch->entry, results,
				      &why);
	if (status && status != TN_IO)
		status = fails_to_run(watch, step, tn_buf_text(&why));
	for (set = 0; !status && set < watch->probe.nsets; set++) {
		fault.set = set;
		if (may_drop(step->pass))
			watch->results[set].least &= results[set].flags;
		if (!tn_probe_same(&watch->results[set], &results[set],
				   fault.rtol, &fault.difference))
			status = report(&fault, context->rw->spent, step);
		results[set].least = may_drop(step->pass) ?
			watch->results[set].least & results[set].least :
			watch->results[set].least;
	}
	tn_probe_drop(&watch->probe, watch->results);
	free(watch->results);
	watch->results = results;
	tn_buf_fini(&why);
	return status;
}
