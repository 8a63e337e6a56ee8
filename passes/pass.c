/*
 * The runner: parses the pipeline text, checks what each pass needs, runs,
 * times, verifies and shows.
 *
 * In: a module, "inline,fold{limit=64},...". Out: the module changed in
 * place, its property bits kept up to date.
 */
#include "passes/pass.h"

#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/num.h"
#include "ir/print.h"
#include "ir/verify.h"

#define TYPED TN_PROP_TYPED
#define FLAT TN_PROP_FLAT
#define CORE TN_PROP_CORE
#define CANONICAL TN_PROP_CANONICAL
#define FUSED TN_PROP_FUSED
#define KERNELS TN_PROP_KERNELS
#define PLACED TN_PROP_PLACED

const struct tn_pass tn_passes[] = {
#define PASS(id, name, needs, gives, breaks, option, summary) \
	{ name, summary, option, needs, gives, breaks, tn_pass_##id },
#include "passes/passes.def"
#undef PASS
};

const int tn_npasses = (int)(sizeof tn_passes / sizeof *tn_passes);

static const struct {
	unsigned prop;
	const char *name;
} prop_names[] = {
	{ TYPED, "typed" }, { FLAT, "flat" }, { CORE, "core" },
	{ CANONICAL, "canonical" }, { FUSED, "fused" },
	{ KERNELS, "kernels" }, { PLACED, "placed" }
};

const struct tn_pass *tn_pass_find(const char *name)
{
	int i;

	for (i = 0; i < tn_npasses; i++)
		if (!strcmp(tn_passes[i].name, name))
			return &tn_passes[i];
	return NULL;
}

int64_t tn_pass_option(const struct tn_pass_context *context,
		       const char *key, int64_t fallback)
{
	const char *at = context->arguments;
	size_t n = strlen(key);

	while (at && (at = strstr(at, key))) {
		if ((at == context->arguments || strchr(" ,", at[-1])) &&
		    at[n] == '=')
			return strtoll(at + n + 1, NULL, 10);
		at += n;
	}
	return fallback;
}

bool tn_pass_walk(struct tn_block *block,
		  bool (*visit)(void *data, struct tn_op *op), void *data)
{
	struct tn_op *op, *next;
	struct tn_block **regions;
	int i, n;

	for (op = block->first; op; op = next) {
		next = op->next;
		regions = op->regions;
		n = op->nregions;
		if (!visit(data, op))
			return false;
		for (i = 0; i < n; i++)
			if (!tn_pass_walk(regions[i], visit, data))
				return false;
	}
	return true;
}

int64_t tn_pass_count(const struct tn_block *block)
{
	const struct tn_op *op;
	int64_t count = 0;
	int i;

	for (op = block->first; op; op = op->next) {
		count++;
		for (i = 0; i < op->nregions; i++)
			count += tn_pass_count(op->regions[i]);
	}
	return count;
}

void tn_pass_too_large(struct tn_module *module, const struct tn_value *value)
{
	struct tn_diag *diag;
	struct tn_buf type;

	tn_buf_init(&type);
	tn_type_print(&type, value->type);
	diag = tn_diag_report(module->sink, TN_E0861, value->span,
			      "'%s' of type %s is too large to place",
			      value->name, tn_buf_text(&type));
	tn_diag_help(module->sink, diag,
		     "lower the upper bounds of its dims");
	tn_buf_fini(&type);
}

/* One entry of the pipeline text. */
struct entry {
	const struct tn_pass *pass;
	char *name, *arguments;
	bool is_closed;		/* its braces */
	int number;		/* in the text, from 0 */
};

/* Cuts the next entry off *text (heap copy); false at the end. */
static bool next_entry(char **text, struct entry *entry)
{
	char *at = *text;
	int depth = 0;

	while (*at == ',' || *at == ' ')
		at++;
	if (!*at)
		return false;
	entry->name = at;
	entry->arguments = NULL;
	for (; *at && (depth || *at != ','); at++) {
		if (*at == '{' && depth++ == 0) {
			*at = '\0';
			entry->arguments = at + 1;
		} else if (*at == '}' && --depth == 0) {
			*at = '\0';
		} else if (*at == ' ' && !depth) {
			*at = '\0';
		}
	}
	if (*at)
		*at++ = '\0';
	*text = at;
	entry->is_closed = depth == 0;
	entry->pass = tn_pass_find(entry->name);
	return true;
}

static const struct tn_span nowhere;

static enum tn_status unknown_pass(struct tn_module *module,
				   const char *name)
{
	const char *names[64];
	const char *nearest;
	struct tn_diag *diag;
	int i;

	for (i = 0; i < tn_npasses && i < 64; i++)
		names[i] = tn_passes[i].name;
	nearest = tn_diag_nearest(name, names, (size_t)i);
	diag = tn_diag_report(module->sink, TN_E0851, nowhere,
			      "there is no pass '%s'", name);
	if (nearest)
		tn_diag_help(module->sink, diag, "did you mean '%s'?",
			     nearest);
	else
		tn_diag_help(module->sink, diag,
			     "`tenon list passes` names them all");
	return TN_USAGE;
}

static enum tn_status bad_option(struct tn_module *module,
				 const struct entry *entry)
{
	const char *option = entry->pass->option;
	struct tn_diag *diag;

	diag = tn_diag_report(module->sink, TN_E0851, nowhere,
			      "pass '%s' cannot be given {%s%s",
			      entry->name, entry->arguments,
			      entry->is_closed ? "}" : "");
	if (*option)
		tn_diag_help(module->sink, diag, "write %s{%s=NUMBER}",
			     entry->name, option);
	else
		tn_diag_help(module->sink, diag, "it has no options");
	return TN_USAGE;
}

/* True if what stands in the braces is the pass's one option. */
static bool is_option(const struct entry *entry)
{
	const char *option = entry->pass->option, *at = entry->arguments;
	size_t n = strlen(option);

	if (!at || !*at)
		return entry->is_closed;
	if (!n || strncmp(at, option, n) || at[n] != '=')
		return false;
	at += n + 1;
	n = strspn(at, "0123456789");
	return entry->is_closed && n > 0 && n < 19 && at[n] == '\0';
}

/* All names and options, before anything is changed. */
static enum tn_status check_entries(struct tn_module *module,
				    const struct tn_pass_options *options,
				    char *text)
{
	const char *names[2] = { options->print_after, options->stop_after };
	struct entry entry;
	int i;

	while (next_entry(&text, &entry)) {
		if (!entry.pass)
			return unknown_pass(module, entry.name);
		if (!is_option(&entry))
			return bad_option(module, &entry);
	}
	for (i = 0; i < 2; i++)
		if (names[i] && !tn_pass_find(names[i]) &&
		    (i > 0 || strcmp(names[i], "all")))
			return unknown_pass(module, names[i]);
	return TN_OK;
}

static enum tn_status missing_prop(struct tn_module *module,
				   const struct tn_pass *pass,
				   unsigned missing)
{
	struct tn_diag *diag;
	size_t i;
	int k;

	for (i = 0; i < sizeof prop_names / sizeof *prop_names; i++)
		if (prop_names[i].prop & missing)
			break;
	diag = tn_diag_report(module->sink, TN_E0852, nowhere,
			      "pass '%s' needs a module that is %s",
			      pass->name, prop_names[i].name);
	for (k = 0; k < tn_npasses; k++)
		if (tn_passes[k].gives & prop_names[i].prop)
			tn_diag_help(module->sink, diag,
				     "run '%s' before it", tn_passes[k].name);
	return TN_USAGE;
}

/* In milliseconds. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void report_faults(const struct tn_pass_context *context,
			  enum tn_code code, const char *what,
			  const struct tn_buf *faults)
{
	struct tn_sink *sink = context->module->sink;
	struct tn_diag *diag = tn_diag_report(sink, code, nowhere, "%s", what);

	tn_diag_note(sink, diag, "%s", tn_buf_text(faults));
}

/* Places are believed in by code that writes memory: their faults have a code
 * of their own. The structure is sound. */
static enum tn_status verify_places(const struct tn_pass_context *context)
{
	enum tn_status status = TN_OK;
	struct tn_buf faults;

	tn_buf_init(&faults);
	if (!tn_verify_placed(context->entry, &faults))
		status = faults.len ? TN_BUG : TN_IO;
	if (status == TN_BUG)
		report_faults(context, TN_E0862, "the memory plan is unsound",
			      &faults);
	tn_buf_fini(&faults);
	return status;
}

/* All properties that the module is said to have. `pass` is the one before;
 * NULL: none yet. */
static enum tn_status verify(const struct tn_pass_context *context,
			     const char *pass)
{
	unsigned props = context->module->props;
	struct tn_buf faults, what;
	enum tn_status status;

	tn_buf_init(&faults);
	tn_buf_init(&what);
	status = tn_verify_entry(context->module, context->entry,
				 props & ~(unsigned)PLACED, &faults);
	if (pass)
		tn_buf_putf(&what, "the module is not valid after '%s'", pass);
	else
		tn_buf_put(&what, "the module is not valid before the passes");
	if (status == TN_BUG)
		report_faults(context, TN_E0853, tn_buf_text(&what), &faults);
	tn_buf_fini(&faults);
	tn_buf_fini(&what);
	if (!status && (props & PLACED))
		status = verify_places(context);
	return status;
}

/* A pass that says SAME has left the graph as it was. */
static enum tn_status check_claim(const struct tn_pass_context *context,
				  enum tn_pass_result result, uint64_t epoch,
				  const char *pass)
{
	if (result != TN_PASS_SAME || epoch == context->module->epoch)
		return TN_OK;
	tn_diag_report(context->module->sink, TN_E0853, nowhere,
		       "'%s' changed the module and says it did not", pass);
	return TN_BUG;
}

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

/* Text written by hand or by an earlier run may have the properties already:
 * their verifiers tell, one by one. Leaves in *missing what does not hold. */
static enum tn_status find_missing(const struct tn_pass_context *context,
				   unsigned *missing)
{
	struct tn_module *module = context->module;
	enum tn_status status = TN_OK;
	struct tn_buf faults;
	unsigned prop;
	size_t i;

	for (i = 0; i < sizeof prop_names / sizeof *prop_names; i++) {
		prop = prop_names[i].prop & *missing;
		if (!prop || status == TN_IO)
			continue;
		tn_buf_init(&faults);
		status = tn_verify_entry(module, context->entry, prop,
					 &faults);
		tn_buf_fini(&faults);
		if (status)
			continue;
		module->props |= prop;
		*missing &= ~prop;
	}
	return status == TN_IO ? TN_IO : TN_OK;
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
		module->props &= ~(unsigned)(CANONICAL | FUSED);
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
	int64_t rewrites;
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
	tn_event_int(events, "rewrites", run->rewrites);
	if (context->rw->fuel >= 0)
		tn_event_int(events, "fuel", context->rw->fuel);
	tn_event_real(events, "ms", run->ms);
	tn_event_real(events, "verify_ms", run->verify_ms);
	tn_event_end(events);
}

static void tell_time(struct tn_buf *timing, const struct run *run)
{
	if (timing)
		tn_buf_putf(timing, "%10.3f ms %10.3f ms %8lld  %s\n",
			    run->ms, run->verify_ms,
			    (long long)run->rewrites, run->pass);
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
				const struct entry *entry, struct run *run)
{
	uint32_t errors = context->module->sink->errors;
	int64_t before = context->rw->count;
	double start = now();
	enum tn_status status;

	context->arguments = entry->arguments;
	context->rw->pass = run->pass = entry->pass->name;
	run->result = entry->pass->run(context);
	status = outcome(context, run->result, errors);
	if (!status)
		note_props(context, entry->pass, run->result);
	run->ms = now() - start;
	run->rewrites = context->rw->count - before;
	return status;
}

static enum tn_status tell_after(const struct tn_pass_context *context,
				 const struct entry *entry,
				 enum tn_pass_result result)
{
	const struct tn_pass_options *options = context->options;
	struct tn_pass_step step = {
		.pass = entry->pass->name, .arguments = entry->arguments,
		.number = entry->number, .changed = result == TN_PASS_CHANGED
	};

	if (!options->after)
		return TN_OK;
	return options->after(options->after_data, context, &step);
}

static enum tn_status run_pass(struct tn_pass_context *context,
			       const struct entry *entry)
{
	const struct tn_pass_options *options = context->options;
	struct tn_module *module = context->module;
	unsigned missing = entry->pass->needs & ~module->props;
	enum tn_status status = find_missing(context, &missing);
	uint64_t epoch = module->epoch;
	struct run run = { 0 };
	double start;

	if (missing || status)
		return status ? status :
			missing_prop(module, entry->pass, missing);
	tell_begin(context, entry->pass->name);
	status = run_alone(context, entry, &run);
	start = now();
	if (!status && (options->verify || IS_DEBUG)) {
		status = check_claim(context, run.result, epoch, run.pass);
		if (!status)
			status = verify(context, run.pass);
	}
	run.verify_ms = now() - start;
	tell_end(context, &run);
	tell_time(options->timing, &run);
	if (!status || status == TN_BUG)
		show(module, run.pass, options);
	return status ? status : tell_after(context, entry, run.result);
}

/* What comes in and what goes out is verified in every build: these are the
 * borders of the module. */
static enum tn_status run_entries(struct tn_pass_context *context,
				  char *text)
{
	const char *stop = context->options->stop_after, *last = NULL;
	enum tn_status status = verify(context, NULL);
	struct entry entry;
	int number = 0;

	if (context->options->timing)
		tn_buf_put(context->options->timing,
			   "      pass     verifying rewrites  name\n");
	while (status == TN_OK && next_entry(&text, &entry)) {
		entry.number = number++;
		status = run_pass(context, &entry);
		last = entry.name;
		if (stop && !strcmp(stop, entry.name))
			break;
	}
	if (!status && last && !context->options->verify && !IS_DEBUG)
		status = verify(context, last);
	return status;
}

enum tn_status tn_pipeline_run(struct tn_module *module,
			       const char *pipeline,
			       const struct tn_pass_options *options)
{
	struct tn_rw rw = { .module = module, .fuel = options->fuel };
	struct tn_pass_context context = {
		.module = module, .rw = &rw, .options = options,
		.target = options->target, .entry = options->entry
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
	status = check_entries(module, options, copy);
	if (!status)
		status = run_entries(&context, text);
	free(text);
	return status;
}
