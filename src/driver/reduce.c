/*
 * reduce: the smallest module that a command still finds interesting.
 *
 * As creduce does: one small change at a time is made to the module, the text
 * is printed and read again, and if it is valid and the command exits 0 on it,
 * it is what the next change is made to. All ways are tried in turn until a
 * whole round changes nothing, or the command has been asked often enough.
 */
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "driver/plugin.h"
#include "driver/shrink.h"
#include "driver/trial.h"
#include "ir/print.h"

/* How often the command is asked at most. */
#define MOST_TRIALS 3000

struct reducer {
	struct tenon_context *context;
	struct tn_trial trial;
	struct tn_buf text;	/* the smallest so far */
	int64_t kept;
};

/* A context for one reading, with the user's settings. */
static struct tenon_context *open_context(const struct reducer *r)
{
	struct tenon_context *context = tenon_context_new();

	if (!context)
		return NULL;
	context->settings = r->context->settings;
	context->settings.allow_outside = true;
	if (!tn_plugin_share(context, r->context))
		return context;
	tenon_context_free(context);
	return NULL;
}

static enum tn_status read_text(struct tenon_context *context,
				const struct reducer *r,
				const struct tn_buf *text,
				struct tenon_module **out)
{
	return (enum tn_status)tenon_parse_text(context, r->trial.path,
						tn_buf_text(text), text->len,
						out);
}

/* Whether the text is a module with an entry. */
static bool is_valid(const struct reducer *r, const struct tn_buf *text)
{
	struct tenon_context *context = open_context(r);
	struct tenon_module *module = NULL;
	bool valid;

	if (!context)
		return false;
	valid = !read_text(context, r, text, &module) &&
		tn_module_entry(module->ir, context->settings.fn);
	tenon_module_free(module);
	tenon_context_free(context);
	return valid;
}

/* The text after change `number` of a way. */
static enum tn_shrink change(struct reducer *r,
			     const struct tn_shrink_way *way, int number,
			     struct tn_buf *out)
{
	struct tn_print_options options = {0};
	struct tenon_context *context = open_context(r);
	struct tenon_module *module = NULL;
	enum tn_shrink result = TN_SHRINK_END;
	struct tn_fn *entry;

	if (!context)
		return TN_SHRINK_END;
	if (!read_text(context, r, &r->text, &module)) {
		entry = tn_module_entry(module->ir, context->settings.fn);
		if (entry)
			result = way->apply(module, entry, number);
		if (result == TN_SHRINK_DONE) {
			tn_shrink_settle(entry);
			tn_print_module(out, module->ir, &options);
		}
	}
	tenon_module_free(module);
	tenon_context_free(context);
	return result;
}

/* Whether the change leaves the text valid, other, and interesting; then it is
 * taken. */
static enum tn_status attempt(struct reducer *r, struct tn_buf *text,
			      bool *taken)
{
	enum tn_status status;
	struct tn_buf old;
	int code = 1;

	*taken = false;
	if (text->failed)
		return TN_IO;
	if (!strcmp(tn_buf_text(text), tn_buf_text(&r->text)) ||
	    !is_valid(r, text))
		return TN_OK;
	status = tn_trial_text(&r->trial, tn_buf_text(text), text->len,
			       &code);
	if (status || code != 0)
		return status;
	old = r->text;
	r->text = *text;
	*text = old;
	*taken = true;
	r->kept++;
	return TN_OK;
}

/* All numbers of one way. What was taken leaves other things under the same
 * number. */
static enum tn_status try_way(struct reducer *r,
			      const struct tn_shrink_way *way)
{
	enum tn_status status = TN_OK;
	enum tn_shrink result = TN_SHRINK_DONE;
	struct tn_buf text;
	bool taken;
	int number = 0;

	while (!status && result != TN_SHRINK_END &&
	       r->trial.asked < MOST_TRIALS) {
		taken = false;
		tn_buf_init(&text);
		result = change(r, way, number, &text);
		if (result == TN_SHRINK_DONE)
			status = attempt(r, &text, &taken);
		tn_buf_fini(&text);
		number += !taken;
	}
	return status;
}

static enum tn_status rounds(struct reducer *r)
{
	enum tn_status status = TN_OK;
	int64_t before;
	int i;

	do {
		before = r->kept;
		for (i = 0; i < tn_shrink_nways && !status; i++)
			status = try_way(r, &tn_shrink_ways[i]);
	} while (!status && r->kept > before &&
		 r->trial.asked < MOST_TRIALS);
	return status;
}

/* The module as the command will see it: in the scratch folder. */
static enum tn_status begin(struct reducer *r, struct tenon_module *module)
{
	enum tn_status status;
	int code = 1, error;
	size_t size;
	char *text;

	status = tn_trial_module(&r->trial, module, &code);
	if (status)
		return status;
	if (code != 0) {
		tn_context_report(r->context, TN_E0029,
				  "the command exits %d on the module as it "
				  "is: there is nothing to keep", code);
		return TN_USAGE;
	}
	error = tn_file_read(r->trial.path, &text, &size);
	if (error)
		return tn_context_file(r->context, TN_E0002, r->trial.path,
				       error);
	tn_buf_putn(&r->text, text, size);
	free(text);
	return r->text.failed ? TN_IO : TN_OK;
}

/* Paths of weights hold from where the result goes. */
static enum tn_status write_result(struct reducer *r, const char *path)
{
	struct tenon_context *context = open_context(r);
	struct tenon_module *module = NULL;
	enum tn_status status;

	if (!context)
		return TN_IO;
	status = read_text(context, r, &r->text, &module);
	if (!status)
		status = (enum tn_status)tenon_module_save(module, path);
	if (status)
		tn_context_report(r->context, TN_E0023,
				  "%s: cannot be written", path);
	tenon_module_free(module);
	tenon_context_free(context);
	return status ? TN_IO : TN_OK;
}

static int64_t count_lines(const struct tn_buf *text)
{
	const char *at = tn_buf_text(text);
	int64_t count = 0;

	for (; *at; at++)
		count += *at == '\n';
	return count;
}

enum tenon_status tenon_module_reduce(struct tenon_module *module,
				      const char *command, const char *path,
				      struct tenon_reduction *out)
{
	struct reducer r = {0};
	enum tn_status status;

	if (!module || !command || !path || !out)
		return TENON_USAGE;
	*out = (struct tenon_reduction){0};
	r.context = module->context;
	tn_buf_init(&r.text);
	status = tn_trial_init(&r.trial, r.context, command, "module.tn");
	if (!status)
		status = begin(&r, module);
	out->lines_before = count_lines(&r.text);
	if (!status)
		status = rounds(&r);
	out->lines = count_lines(&r.text);
	out->tries = r.trial.asked;
	if (!status)
		status = write_result(&r, path);
	tn_trial_fini(&r.trial);
	tn_buf_fini(&r.text);
	return tn_context_end(module->context, status);
}
