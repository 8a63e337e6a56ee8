/*
 * Views of the module after each pass, as the settings ask for them.
 */
#include "driver/watch.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "driver/diff.h"
#include "ir/print.h"

bool tn_watch_is_asked(const struct tenon_module *module)
{
	const struct tn_settings *s = &module->context->settings;

	return s->print_changed || s->dump_dir || s->check_each > 0;
}

static void print(struct tn_watch *watch, struct tn_buf *out)
{
	struct tn_print_options options = { .places = true };

	tn_buf_init(out);
	tn_print_module(out, watch->module->ir, &options);
}

enum tn_status tn_watch_init(struct tn_watch *watch,
			     struct tenon_module *module, struct tn_fn *entry,
			     const char *passes)
{
	const struct tn_settings *s = &module->context->settings;
	enum tn_status status = TN_OK;

	*watch = (struct tn_watch){
		.module = module, .entry = entry, .passes = passes,
		.base = module->npasses
	};
	tn_buf_init(&watch->before);
	if (s->print_changed)
		print(watch, &watch->before);
	if (s->dump_dir && tn_file_mkdirs(s->dump_dir))
		status = tn_context_file(module->context, TN_E0023,
					 s->dump_dir, errno);
	if (!status && s->check_each > 0)
		status = tn_check_begin(watch);
	return status;
}

void tn_watch_fini(struct tn_watch *watch)
{
	tn_buf_fini(&watch->before);
	if (watch->results)
		tn_probe_drop(&watch->probe, watch->results);
	free(watch->results);
	tn_probe_fini(&watch->probe);
}

/* The difference that a pass made to the text, shown as print-after shows the
 * whole. */
static enum tn_status show_change(struct tn_watch *watch, const char *pass)
{
	const struct tenon_context *context = watch->module->context;
	enum tn_status status = TN_OK;
	struct tn_buf after, diff;

	print(watch, &after);
	tn_buf_init(&diff);
	if (after.failed ||
	    !tn_diff(&diff, tn_buf_text(&watch->before), tn_buf_text(&after)))
		status = TN_IO;
	else if (diff.len && context->show)
		context->show(context->show_data, pass, tn_buf_text(&diff));
	tn_buf_fini(&diff);
	tn_buf_fini(&watch->before);
	watch->before = after;
	return status;
}

/* FOLDER/NN-pass.tn */
static enum tn_status dump(struct tn_watch *watch, int number,
			   const char *pass)
{
	struct tenon_module *module = watch->module;
	const char *path = tn_arena_printf(&module->arena, "%s/%02d-%s.tn",
					   module->context->settings.dump_dir,
					   number, pass);

	if (!path)
		return TN_IO;
	return (enum tn_status)tenon_module_save(module, path);
}

enum tn_status tn_watch_after(void *data,
			      const struct tn_pass_context *context,
			      const struct tn_pass_step *step)
{
	struct tn_watch *watch = data;
	const struct tn_settings *s = &watch->module->context->settings;
	enum tn_status status = TN_OK;
	int number = watch->base + step->number + 1;

	watch->module->npasses = number;
	watch->entry = context->entry;
	if (s->print_changed)
		status = show_change(watch, step->pass);
	if (!status && s->dump_dir)
		status = dump(watch, number, step->pass);
	if (!status && s->check_each > 0 && step->changed)
		status = tn_check_pass(watch, context, step);
	watch->spent = context->rw->spent;
	return status;
}
