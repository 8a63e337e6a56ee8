/*
 * Modules: reading text, printing, passes.
 */
#include "driver/module.h"

#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "driver/external.h"
#include "driver/foreign.h"
#include "driver/plugin.h"
#include "driver/source.h"
#include "driver/target.h"
#include "driver/watch.h"
#include "driver/weights.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/schedule.h"

static const char std_text[] = {
#include "grammar/std.tn.inc"
};

static const char rules_text[] = {
#include "passes/rules.tn.inc"
};

/* ---- Opening and closing ------------------------------------------------ */

/* The file name without folder and ending, as a C identifier. */
static const char *make_stem(struct tn_arena *arena, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t len, i;
	char *stem;

	base = base ? base + 1 : path;
	len = strcspn(base, ".");
	stem = tn_arena_printf(arena, "%s%.*s", len && tn_ascii_is_letter(
			       base[0]) ? "" : "m_",
			       (int)(len < 60 ? len : 60), base);
	for (i = 0; stem && stem[i]; i++)
		if (!tn_ascii_is_word(stem[i]))
			stem[i] = '_';
	return stem;
}

static uint32_t include(void *data, const char *path, uint32_t from,
			struct tn_span span)
{
	struct tenon_module *module = data;

	return tn_source_include(module->context, &module->arena, path, from,
				 span);
}

/* The operators of plug-ins as texts of the library; false: no memory. */
static bool add_texts(struct tenon_module *module,
		      struct tn_elab_options *options)
{
	const struct tn_plugin *plugin;
	struct tn_elab_text *texts;
	size_t i;

	texts = tn_arena_array(&module->arena, module->context->plugins.len +
			       1, sizeof(*texts));
	options->more = texts;
	for (i = 0; texts && (plugin = tn_plugin_at(module->context, i)); i++) {
		if (!plugin->table->ops)
			continue;
		texts[options->nmore].text = plugin->table->ops;
		texts[options->nmore++].name = plugin->table->name;
	}
	return texts != NULL;
}

struct tenon_module *tn_module_open(struct tenon_context *context,
				    const char *path)
{
	struct tenon_module *module = calloc(1, sizeof(*module));
	struct tn_elab_options options;

	if (!module)
		return NULL;
	module->context = context;
	tn_arena_init(&module->arena);
	tn_vec_init(&module->tests, sizeof(struct tn_test), NULL);
	tn_vec_init(&module->files, sizeof(struct tn_weight_file), NULL);
	tn_vec_init(&module->mappings, sizeof(struct tn_mapping), NULL);
	tn_vec_init(&module->rules.rules, sizeof(struct tn_rule *), NULL);
	tn_timing_init(&module->timing);
	options = (struct tn_elab_options){
		.names = &context->names, .sink = &context->sink,
		.std_text = std_text, .std_size = sizeof(std_text) - 1,
		.include = include, .load = tn_weights_read, .data = module
	};
	module->path = tn_arena_strndup(&module->arena, path, strlen(path));
	module->stem = make_stem(&module->arena, path);
	if (add_texts(module, &options))
		module->elab = tn_elab_new(&options);
	if (!module->path || !module->stem || !module->elab) {
		tenon_module_free(module);
		return NULL;
	}
	return module;
}

void tenon_module_free(struct tenon_module *module)
{
	if (!module)
		return;
	if (module->elab)
		tn_elab_free(module->elab);
	tn_module_free(module->ir);
	tn_weights_close(module);
	tn_foreign_close(module);
	tn_vec_fini(&module->tests);
	tn_vec_fini(&module->rules.rules);
	tn_timing_fini(&module->timing);
	tn_arena_fini(&module->arena);
	tenon_module_free(module->before);
	free(module);
}

/* ---- Reading ------------------------------------------------------------ */

/* What the sink's errors since `before` mean. */
static enum tn_status outcome(const struct tenon_module *module,
			      uint32_t before)
{
	const struct tn_sink *sink = &module->context->sink;

	if (sink->failed || module->arena.failed ||
	    (module->ir && module->ir->failed))
		return TN_IO;
	return sink->errors > before ? TN_BAD_INPUT : TN_OK;
}

enum tn_status tn_module_read(struct tenon_module *module, uint32_t file)
{
	uint32_t before = module->context->sink.errors;
	struct tn_tree *tree = tn_source_parse(module->context,
					       &module->arena, file);

	module->file = file;
	if (!tree)
		return TN_IO;
	module->ir = tn_elab_run(module->elab, tree);
	if (!module->ir)
		return TN_IO;
	return outcome(module, before);
}

/* A file as a module: source `file`, or one of another system. */
static enum tenon_status parse(struct tenon_context *context,
			       const char *path, uint32_t file,
			       struct tenon_module **out)
{
	struct tenon_module *module = tn_module_open(context, path);
	enum tn_status status;

	if (!module)
		return tn_context_end(context, tn_context_nomem(context));
	status = file ? tn_module_read(module, file) :
		tn_foreign_read(module, path);
	if (status == TN_OK) {
		*out = module;
		return tn_context_end(context, TN_OK);
	}
	tenon_module_free(module);
	return tn_context_end(context, status);
}

enum tenon_status tenon_parse_file(struct tenon_context *context,
				   const char *path,
				   struct tenon_module **out)
{
	enum tn_status status;
	uint32_t file;

	*out = NULL;
	if (!context || !path)
		return TENON_USAGE;
	if (tenon_engine_is(path)) {
		tn_diag_help(&context->sink,
			     tn_context_report(context, TN_E0002,
					       "%s: an engine, not a module",
					       path),
			     "`tenon run` takes engines");
		return tn_context_end(context, TN_BAD_INPUT);
	}
	if (tn_foreign_is(path))
		return parse(context, path, 0, out);
	file = tn_source_read(context, path, &status);
	if (!file)
		return tn_context_end(context, status);
	return parse(context, path, file, out);
}

enum tenon_status tenon_parse_text(struct tenon_context *context,
				   const char *name, const char *text,
				   size_t size, struct tenon_module **out)
{
	uint32_t file;

	*out = NULL;
	if (!context || !name || !text)
		return TENON_USAGE;
	file = tn_sink_add_source(&context->sink, name, text, size);
	if (!file)
		return tn_context_end(context, TN_IO);
	return parse(context, name, file, out);
}

enum tn_status tn_module_make_tests(struct tenon_module *module)
{
	uint32_t before = module->context->sink.errors;

	if (module->has_tests)
		return TN_OK;
	module->has_tests = true;
	if (!tn_elab_tests(module->elab, &module->tests))
		return TN_IO;
	return outcome(module, before);
}

enum tenon_status tenon_module_check_weights(struct tenon_module *module,
					     bool absent_ok)
{
	struct tn_weights_options options = {
		.headers_only = true, .absent_ok = absent_ok
	};
	enum tn_status status, tests;

	if (!module)
		return TENON_USAGE;
	tests = tn_module_make_tests(module);
	options.random = module->context->settings.random_weights;
	status = tn_weights_load(module, &options);
	return tn_context_end(module->context, tests ? tests : status);
}

enum tenon_status tenon_module_check_schedules(struct tenon_module *module)
{
	enum tn_status status = TN_OK;

	if (!module)
		return TENON_USAGE;
	if (!tn_schedule_by_hand(module->ir))
		status = module->ir->failed ? TN_IO : TN_BAD_INPUT;
	return tn_context_end(module->context, status);
}

/* ---- Printing ------------------------------------------------------------ */

enum tenon_status tenon_module_print(struct tenon_module *module, char **out)
{
	struct tn_print_options options = {0};
	struct tn_buf buf;

	*out = NULL;
	if (!module)
		return TENON_USAGE;
	tn_buf_init(&buf);
	tn_print_module(&buf, module->ir, &options);
	return tn_context_text(module->context, &buf, out);
}

/* ---- Rules ---------------------------------------------------------------- */

/* The rules of the file that --rules names. */
static enum tn_status read_rule_file(struct tenon_module *module)
{
	struct tenon_context *context = module->context;
	enum tn_status status;
	uint32_t file;

	if (!context->settings.rules)
		return TN_OK;
	file = tn_source_read(context, context->settings.rules, &status);
	if (!file)
		return status;
	return tn_elab_rule_source(module->elab, file, &module->rules) ?
		TN_OK : tn_context_nomem(context);
}

/* The rules of plug-ins. */
static enum tn_status read_plugin_rules(struct tenon_module *module)
{
	struct tenon_context *context = module->context;
	const struct tn_plugin *plugin;
	uint32_t file;
	size_t i;

	for (i = 0; (plugin = tn_plugin_at(context, i)); i++) {
		if (!plugin->table->rules)
			continue;
		file = tn_sink_add_source(&context->sink, plugin->table->name,
					  plugin->table->rules,
					  strlen(plugin->table->rules));
		if (!file || !tn_elab_rule_source(module->elab, file,
						  &module->rules))
			return tn_context_nomem(context);
	}
	return TN_OK;
}

enum tn_status tn_module_read_rules(struct tenon_module *module)
{
	struct tenon_context *context = module->context;
	uint32_t before = context->sink.errors, file;
	enum tn_status status;

	if (module->has_rules || !module->elab || !module->ir)
		return TN_OK;
	module->has_rules = true;
	file = tn_sink_add_source(&context->sink, "rules.tn", rules_text,
				  sizeof(rules_text) - 1);
	if (!file || !tn_elab_rule_source(module->elab, file, &module->rules))
		return tn_context_nomem(context);
	module->nlibrary_rules = (int)module->rules.rules.len;
	status = read_plugin_rules(module);
	if (status)
		return status;
	if (!tn_elab_rules(module->elab, &module->rules))
		return tn_context_nomem(context);
	status = read_rule_file(module);
	return status ? status : outcome(module, before);
}

const struct tn_rule_set *tn_module_rules(void *data)
{
	struct tenon_module *module = data;

	return tn_module_read_rules(module) ? NULL : &module->rules;
}

/* ---- Passes --------------------------------------------------------------- */

static void suggest_fn(struct tenon_module *module, struct tn_diag *diag,
		       const char *name)
{
	const char *names[32];
	size_t count = 0, i;

	for (i = 0; i < module->ir->fns.len && count < 32; i++) {
		const struct tn_fn *fn = tn_vec_ptr(&module->ir->fns, i);

		if (tn_module_may_enter(fn))
			names[count++] = fn->name;
	}
	tn_context_suggest(module->context, diag, name, names, count, NULL);
}

/* "name one with --fn: f, g"; the first few. */
static void help_fn(struct tenon_module *module, struct tn_diag *diag)
{
	struct tn_buf names;
	size_t count = 0, i;

	tn_buf_init(&names);
	for (i = 0; i < module->ir->fns.len && count < 6; i++) {
		const struct tn_fn *fn = tn_vec_ptr(&module->ir->fns, i);

		if (tn_module_may_enter(fn))
			tn_buf_putf(&names, "%s%s", count++ ? ", " : ": ",
				    fn->name);
	}
	if (i < module->ir->fns.len)
		tn_buf_put(&names, ", ..");
	tn_diag_help(&module->context->sink, diag, "name one with --fn%s",
		     tn_buf_text(&names));
	tn_buf_fini(&names);
}

/* A function that would be the one, had its sizes been declared. */
static bool is_open(struct tenon_module *module, const char *name)
{
	struct tenon_context *context = module->context;
	struct tn_span span = { 0, 0, 0 };
	const char *dim = NULL;
	struct tn_diag *diag;

	name = tn_intern_add(&context->names, name, strlen(name));
	if (name && module->elab)
		dim = tn_elab_open_dim(module->elab, name, &span);
	if (!dim)
		return false;
	diag = tn_diag_report(&context->sink, TN_E0006, span,
			      "dim '%s' is not declared, so '%s' is generic: "
			      "it can be called, but not compiled by itself",
			      dim, name);
	tn_diag_help(&context->sink, diag, "declare it ahead of the function: "
		     "dim %s in [1, 1024];", dim);
	return true;
}

struct tn_fn *tn_module_pick(struct tenon_module *module)
{
	const char *name = module->context->settings.fn;
	struct tn_fn *fn = tn_module_entry(module->ir, name);
	struct tn_diag *diag;

	if (fn)
		return fn;
	if (is_open(module, name ? name : "main"))
		return NULL;
	if (name) {
		diag = tn_context_report(module->context, TN_E0006,
					 "%s: there is no function '%s'",
					 module->path, name);
		suggest_fn(module, diag, name);
		return NULL;
	}
	diag = tn_context_report(module->context, TN_E0006,
				 "%s: no function 'main', and not exactly "
				 "one other", module->path);
	help_fn(module, diag);
	return NULL;
}

enum tn_status tn_module_pipeline(struct tenon_module *module,
				  struct tn_fn **entry,
				  const struct tn_target *target,
				  const char *passes)
{
	const struct tn_settings *settings = &module->context->settings;
	struct tn_pass_options options = {
		.target = target, .entry = *entry,
		.fuel = settings->fuel, .verify = settings->verify_each,
		.check_analyses = settings->check_analyses,
		.print_after = settings->print_after,
		.stop_after = settings->stop_after,
		.show = module->context->show,
		.data = module->context->show_data,
		.timing = settings->time_passes ? &module->timing : NULL,
		.rules = tn_module_rules, .rules_data = module,
		.fp = settings->fp
	};
	bool is_watched = tn_watch_is_asked(module);
	struct tn_external external;
	struct tn_watch watch;
	enum tn_status status;

	module->ir->events = tn_context_events(module->context);
	if (!tn_weights_align(module))
		return tn_context_nomem(module->context);
	status = tn_external_offer(&external, module, entry, &options);
	if (!status && settings->rules)
		status = tn_module_read_rules(module);
	if (!status && is_watched) {
		status = tn_watch_init(&watch, module, *entry, passes);
		options.after = tn_watch_after;
		options.after_data = &watch;
	}
	if (!status)
		status = tn_pipeline_run(module->ir, passes, &options);
	if (is_watched && options.after)
		tn_watch_fini(&watch);
	if (!status)
		status = tn_weights_derive(module);
	return status;
}

/* The passes of `list` from `from` on. */
static const char *rest_of(const char *list, const char *from)
{
	size_t n = strlen(from);
	const char *at = list;

	while ((at = strstr(at, from))) {
		if ((at == list || at[-1] == ',') &&
		    (at[n] == '\0' || at[n] == ',' || at[n] == '{'))
			break;
		at += n;
	}
	return at ? at : "";
}

/* Where the list says `default`, outside of what passes are given; or NULL. */
static const char *find_default(const char *list)
{
	bool begins = true;
	int depth = 0;

	for (; *list; list++) {
		if (begins && !strncmp(list, "default", 7) &&
		    (list[7] == ',' || list[7] == ' ' || !list[7]))
			return list;
		depth += (*list == '{') - (*list == '}');
		begins = !depth && (*list == ',' || *list == ' ');
	}
	return NULL;
}

const char *tn_module_passes(struct tenon_module *module)
{
	const char *passes = module->context->settings.passes, *at, *all;

	if (!strcmp(passes, "none"))
		return tn_pipeline_default(false);
	at = find_default(passes);
	if (!at)
		return passes;
	all = tn_arena_printf(&module->arena, "%.*s%s%s", (int)(at - passes),
			      passes, tn_pipeline_default(true), at + 7);
	return all ? all : "";
}

/* The text is taken as it stands, as the interpreter does, unless passes are
 * named. */
static bool is_meaning(const struct tenon_module *module,
		       const struct tn_target *target)
{
	const char *passes = module->context->settings.passes;

	return target->backend->stage == TN_STAGE_TEXT &&
	       (!strcmp(passes, "default") || !strcmp(passes, "none"));
}

static bool has_reached(const struct tenon_module *module,
			enum tn_stage stage)
{
	unsigned need = stage == TN_STAGE_CORE ? TN_PROP_FLAT | TN_PROP_CORE :
		TN_PROP_PLACED;

	return (module->ir->props & need) == need;
}

/* The passes of `list` before `to`. */
static const char *up_to(struct tenon_module *module, const char *list,
			 const char *to)
{
	const char *rest = rest_of(list, to), *copy;
	size_t n = (size_t)(rest - list);

	if (!*rest || !n)
		return list;
	copy = tn_arena_strndup(&module->arena, list, n - 1);
	return copy ? copy : "";
}

/* Groups and kernels are not for those who want operators. */
static const char *passes_for(struct tenon_module *module, enum tn_stage stage)
{
	bool is_usual = find_default(module->context->settings.passes) ||
			!strcmp(module->context->settings.passes, "none");
	const char *passes = tn_module_passes(module);

	if (stage != TN_STAGE_CORE || !is_usual)
		return passes;
	return up_to(module, passes, *rest_of(passes, "fuse") ? "fuse" :
		     "lower");
}

enum tn_status tn_module_lower(struct tenon_module *module,
			       struct tn_fn **entry,
			       const struct tn_target *target)
{
	const char *least = tn_pipeline_default(false);
	enum tn_stage stage = target->backend->stage;
	enum tn_status status = TN_OK;

	if (!module->has_passed && !is_meaning(module, target))
		status = tn_module_pipeline(module, entry, target,
					    passes_for(module, stage));
	if (status || stage == TN_STAGE_TEXT || has_reached(module, stage))
		return status;
	if (stage == TN_STAGE_CORE)
		least = up_to(module, least, "lower");
	else if (module->ir->props & TN_PROP_KERNELS)
		least = rest_of(least, "schedule");
	else if (module->ir->props & TN_PROP_CORE)
		least = rest_of(least, "lower");
	return tn_module_pipeline(module, entry, target, least);
}

enum tenon_status tenon_module_run_passes(struct tenon_module *module)
{
	struct tn_target target;
	enum tn_status status;
	struct tn_fn *entry;

	if (!module)
		return TENON_USAGE;
	entry = tn_module_pick(module);
	if (!entry)
		return tn_context_end(module->context, TN_BAD_INPUT);
	status = tn_target_pick(module->context, &target);
	if (status == TN_OK)
		status = tn_module_pipeline(module, &entry, &target,
					    tn_module_passes(module));
	module->has_passed = true;
	return tn_context_end(module->context, status);
}

enum tenon_status tenon_module_timing(const struct tenon_module *module,
				      bool json, char **out)
{
	struct tn_buf text;

	*out = NULL;
	if (!module)
		return TENON_USAGE;
	tn_buf_init(&text);
	if (module->timing.failed)
		text.failed = true;
	else if (json)
		tn_timing_json(&module->timing, &text);
	else
		tn_timing_print(&module->timing, &text);
	return tn_context_text(module->context, &text, out);
}
