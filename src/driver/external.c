/*
 * The pass `external`; see external.h.
 */
#include "driver/external.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "driver/signature.h"
#include "driver/spawn.h"
#include "driver/weights.h"
#include "ir/print.h"

#define SECONDS 60	/* unless timeout=N stands before the command */
#define MOST_WORDS 64

/* One run. */
struct job {
	struct tn_pass_context *context;
	struct tenon_module *module;
	const char *command;		/* without timeout= */
	int seconds;
	struct tn_buf in, out;
	struct tn_arena arena;
};

static void put_failure(const struct job *job, enum tn_code code,
			const char *why)
{
	tn_context_report(job->module->context, code, "external{%s}: %s",
			  job->context->arguments, why);
}

/* ---- The program -------------------------------------------------------- */

/* "timeout=5 python3 x.py"; false: the number is none. */
static bool read_timeout(struct job *job)
{
	const char *at = job->context->arguments;
	char *end;
	long n;

	at += strspn(at, " ");
	job->seconds = SECONDS;
	job->command = at;
	if (strncmp(at, "timeout=", 8))
		return true;
	n = strtol(at + 8, &end, 10);
	job->command = end;
	job->seconds = (int)n;
	return end != at + 8 && *end == ' ' && n >= 1 && n <= 86400;
}

/* The words of the command; NULL: there is none, or no memory. */
static const char **split(struct job *job)
{
	char *at = tn_arena_strndup(&job->arena, job->command,
				    strlen(job->command));
	const char **words = tn_arena_array(&job->arena, MOST_WORDS,
					    sizeof(*words));
	int n = 0;

	if (!at || !words)
		return NULL;
	for (; *(at += strspn(at, " \t\n")) && n < MOST_WORDS - 1; n++) {
		words[n] = at;
		at += strcspn(at, " \t\n");
		if (*at)
			*at++ = '\0';
	}
	words[n] = NULL;
	return n > 0 && !*at ? words : NULL;
}

static void say_why(const struct job *job, int error, int code)
{
	struct tn_buf why;

	tn_buf_init(&why);
	if (error == ETIMEDOUT)
		tn_buf_putf(&why, "it took more than %d seconds; "
			    "timeout=SECONDS before the command allows more",
			    job->seconds);
	else if (error == EFBIG)
		tn_buf_put(&why, "it writes without end");
	else if (error)
		tn_buf_put(&why, strerror(error));
	else if (code >= 128)
		tn_buf_putf(&why, "it was ended by signal %d", code - 128);
	else
		tn_buf_putf(&why, "it exited with %d", code);
	put_failure(job, TN_E0046, tn_buf_text(&why));
	tn_buf_fini(&why);
}

static bool run_program(struct job *job)
{
	struct tn_print_options options = { 0 };
	const char **words = NULL;
	int error, code = 0;

	if (read_timeout(job))
		words = split(job);
	if (job->arena.failed)
		return false;
	if (!words) {
		put_failure(job, TN_E0046, "write external{COMMAND}, or "
			    "external{timeout=SECONDS COMMAND}");
		return false;
	}
	tn_print_module(&job->in, job->module->ir, &options);
	if (job->in.failed)
		return false;
	error = tn_spawn_filter(words, &job->in, &job->out, job->seconds,
				&code);
	if (error != ENOMEM && (error || code))
		say_why(job, error, code);
	return !error && !code && !job->out.failed;
}

/* ---- Its text as the module --------------------------------------------- */

/* The head of a function with the dims of its module. */
static char *head_of(struct job *job, const struct tn_fn *fn)
{
	struct tn_signature signature;
	struct tn_buf text;
	char *out = NULL;

	tn_buf_init(&text);
	if (tn_signature_of(&job->arena, fn, &signature)) {
		tn_signature_print(&signature, &text);
		if (!text.failed)
			out = tn_arena_strndup(&job->arena,
					       tn_buf_text(&text), text.len);
	}
	tn_buf_fini(&text);
	return out;
}

/* The function that takes the entry's place, or NULL after a report. */
static struct tn_fn *find_entry(struct job *job, struct tenon_module *made)
{
	const struct tn_fn *old = job->context->entry;
	struct tn_fn *fn = tn_module_entry(made->ir, old->name);
	const char *before = head_of(job, old), *after;
	struct tn_diag *diag;

	if (!fn) {
		put_failure(job, TN_E0047, "the function is gone");
		return NULL;
	}
	after = head_of(job, fn);
	if (!before || !after)
		return NULL;
	if (!strcmp(before, after) &&
	    made->ir->dims.nsyms == job->module->ir->dims.nsyms)
		return fn;
	diag = tn_context_report(job->module->context, TN_E0047,
				 "external{%s}: '%s' has another head, or the "
				 "module other dims", job->context->arguments,
				 old->name);
	tn_diag_note(&job->module->context->sink, diag, "before: %s", before);
	tn_diag_note(&job->module->context->sink, diag, "after: %s", after);
	return NULL;
}

/* Of weights in two modules, whose sizes are numbers. */
static bool is_same_type(const struct tn_weight *a, const struct tn_weight *b)
{
	int i;

	if (a->type->dtype != b->type->dtype || a->family != b->family ||
	    a->type->rank != b->type->rank)
		return false;
	for (i = 0; i < a->type->rank; i++)
		if (!tn_dim_is_const(a->type->dims[i]) ||
		    !tn_dim_is(b->type->dims[i], a->type->dims[i]->value))
			return false;
	return true;
}

/* Values that were there before stay; what is new is loaded, if anything was,
 * and what is made of others is made again: its function may be another. */
static enum tn_status keep_weights(const struct tn_module *old,
				   struct tenon_module *made)
{
	bool had_any = false, has_all = true;
	struct tn_weight *weight, *before;
	size_t i;

	for (i = 0; i < old->weights.len; i++) {
		before = tn_vec_ptr(&old->weights, i);
		had_any |= before->data.data != NULL;
	}
	for (i = 0; had_any && i < made->ir->weights.len; i++) {
		weight = tn_vec_ptr(&made->ir->weights, i);
		if (weight->maker)
			continue;
		before = tn_map_find(&old->weight_names, weight->name);
		if (before && before->data.data &&
		    is_same_type(before, weight)) {
			weight->data = before->data;
			weight->data.owned = false;
		}
		has_all &= weight->data.data != NULL;
	}
	if (!had_any)
		return TN_OK;
	return has_all ? tn_weights_derive(made) :
		tn_weights_by_settings(made);
}

/* The old module with all that belongs to it lives on behind the new one. */
static void exchange(struct tenon_module *module, struct tenon_module *made)
{
	struct tenon_module old = *module;
	struct tn_timing timing = made->timing;

	*module = *made;
	module->context = old.context;
	module->timing = old.timing;
	module->has_passed = old.has_passed;
	module->npasses = old.npasses;
	module->path = old.path;
	module->stem = old.stem;
	module->file = old.file;
	*made = old;
	made->timing = timing;
	module->before = made;
}

static enum tn_pass_result take(struct job *job, struct tenon_module *made)
{
	const struct tn_external *external = job->context->pass->data;
	struct tenon_module *module = job->module;
	struct tn_events *events = module->ir->events;
	struct tn_fn *entry = find_entry(job, made);
	enum tn_status status;

	if (!entry)
		return TN_PASS_FAILED;
	status = keep_weights(module->ir, made);
	if (status)
		return TN_PASS_FAILED;
	exchange(module, made);
	module->ir->events = events;
	job->context->module = job->context->rw->module = module->ir;
	job->context->entry = *external->entry = entry;
	return TN_PASS_CHANGED;
}

static enum tn_pass_result parse(struct job *job)
{
	struct tenon_context *context = job->module->context;
	const char *name = tn_arena_printf(&job->arena, "%s (external)",
					   job->module->path);
	struct tenon_module *made = NULL;
	enum tn_pass_result result;
	enum tn_status status = TN_IO;
	uint32_t file;

	file = name ? tn_sink_add_source(&context->sink, name,
					 tn_buf_text(&job->out),
					 job->out.len) : 0;
	if (file)
		made = tn_module_open(context, name);
	if (made)
		status = tn_module_read(made, file);
	if (status == TN_BAD_INPUT)
		put_failure(job, TN_E0046, "what it wrote is no module; see "
			    "above");
	result = status ? TN_PASS_FAILED : take(job, made);
	if (job->module->before != made)
		tenon_module_free(made);
	return result;
}

static enum tn_pass_result run(struct tn_pass_context *context)
{
	const struct tn_external *external = context->pass->data;
	struct job job = { .context = context, .module = external->module };
	enum tn_pass_result result = TN_PASS_FAILED;

	if (!tn_rw_spend(context->rw, TN_EXTERNAL, context->entry->body->first))
		return TN_PASS_SAME;
	tn_arena_init(&job.arena);
	tn_buf_init(&job.in);
	tn_buf_init(&job.out);
	if (run_program(&job))
		result = parse(&job);
	tn_buf_fini(&job.in);
	tn_buf_fini(&job.out);
	tn_arena_fini(&job.arena);
	return result;
}

/* ---- Offering ----------------------------------------------------------- */

enum tn_status tn_external_offer(struct tn_external *external,
				 struct tenon_module *module,
				 struct tn_fn **entry,
				 struct tn_pass_options *options)
{
	const struct tn_vec *passes = &module->context->passes;
	const struct tn_pass **list;
	size_t i;

	list = tn_arena_array(&module->arena, passes->len + 1, sizeof(*list));
	if (!list)
		return TN_IO;
	for (i = 0; i < passes->len; i++)
		list[i] = tn_vec_ptr(passes, i);
	*external = (struct tn_external){
		.module = module, .entry = entry,
		.pass = {
			.name = TN_EXTERNAL, .option = "COMMAND",
			.needs = TN_PROP_TYPED, .run = run,
			.is_foreign = true, .takes_text = true,
			.data = external
		}
	};
	options->extra = list;
	options->nextra = (int)passes->len;
	if (tn_map_find(&module->ir->fn_names, (*entry)->name) == *entry &&
	    module->elab)
		list[options->nextra++] = &external->pass;
	return TN_OK;
}
