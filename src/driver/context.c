/*
 * Contexts: names, messages and settings of one user of the library.
 */
#include "driver/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "base/unit.h"
#include "driver/plugin.h"
#include "ir/rule.h"

struct tenon_context *tenon_context_new(void)
{
	struct tenon_context *context = calloc(1, sizeof(*context));

	if (!context)
		return NULL;
	tn_arena_init(&context->arena);
	tn_intern_init(&context->names);
	tn_sink_init(&context->sink);
	tn_events_init(&context->events, NULL, NULL);
	tn_vec_init(&context->plugins, sizeof(void *), NULL);
	tn_vec_init(&context->passes, sizeof(void *), NULL);
	tn_vec_init(&context->backends, sizeof(void *), NULL);
	context->settings = (struct tn_settings){
		.target = "c", .passes = "default", .cc = "cc", .cxx = "c++",
		.nvcc = "nvcc", .fuel = -1
	};
	return context;
}

void tenon_context_free(struct tenon_context *context)
{
	if (!context)
		return;
	tn_plugin_close(context);
	tn_events_fini(&context->events);
	tn_sink_fini(&context->sink);
	tn_intern_fini(&context->names);
	tn_arena_fini(&context->arena);
	free(context);
}

void tenon_context_on_message(struct tenon_context *context,
			      void (*report)(void *data,
					     const struct tenon_message *),
			      void *data)
{
	if (!context)
		return;
	context->report = report;
	context->report_data = data;
}

void tenon_context_on_pass(struct tenon_context *context,
			   void (*show)(void *data, const char *pass,
					const char *text),
			   void *data)
{
	if (!context)
		return;
	context->show = show;
	context->show_data = data;
}

void tenon_context_on_print(struct tenon_context *context,
			    void (*print)(void *data, const char *label,
					  const struct tenon_tensor *tensor),
			    void *data)
{
	if (!context)
		return;
	context->print = print;
	context->print_data = data;
}

void tenon_context_on_compile(struct tenon_context *context,
			      void (*hold)(void *data, bool begins),
			      void *data)
{
	if (!context)
		return;
	context->hold = hold;
	context->hold_data = data;
}

void tenon_context_on_event(struct tenon_context *context,
			    void (*event)(void *data, const char *line),
			    void *data)
{
	if (!context)
		return;
	context->events.write = event;
	context->events.data = data;
	context->has_events = event != NULL;
}

struct tn_events *tn_context_events(struct tenon_context *context)
{
	return context->has_events ? &context->events : NULL;
}

size_t tenon_context_errors(const struct tenon_context *context)
{
	return context ? context->sink.errors : 0;
}

struct tn_diag *tn_context_report(struct tenon_context *context,
				  enum tn_code code, const char *format, ...)
{
	struct tn_span nowhere = { 0, 0, 0 };
	struct tn_buf text;
	struct tn_diag *diag;
	va_list args;

	tn_buf_init(&text);
	va_start(args, format);
	tn_buf_vputf(&text, format, args);
	va_end(args);
	diag = tn_diag_report(&context->sink, code, nowhere, "%s",
			      tn_buf_text(&text));
	tn_buf_fini(&text);
	return diag;
}

enum tn_status tn_context_nomem(struct tenon_context *context)
{
	tn_context_report(context, TN_E0001, "out of memory");
	return TN_IO;
}

enum tn_status tn_context_file(struct tenon_context *context,
			       enum tn_code code, const char *path,
			       int error)
{
	if (error == ENOMEM)
		return tn_context_nomem(context);
	tn_context_report(context, code, "%s: %s", path,
			  tn_file_error(error));
	return TN_IO;
}

void tn_context_suggest(struct tenon_context *context, struct tn_diag *diag,
			const char *name, const char *const *candidates,
			size_t count, const char *otherwise)
{
	const char *nearest = tn_diag_nearest(name, candidates, count);

	if (nearest)
		tn_diag_help(&context->sink, diag, "did you mean '%s'?",
			     nearest);
	else if (otherwise)
		tn_diag_help(&context->sink, diag, "%s", otherwise);
}

/* A message as the callback sees it. */
static void hand_one(struct tenon_context *context,
		     const struct tn_diag *diag)
{
	struct tenon_message message = {
		.code = tn_codes[diag->code].name,
		.is_error = tn_codes[diag->code].severity == TN_ERROR,
		.text = diag->message, .help = diag->help
	};
	const struct tn_label *label = tn_vec_at(&diag->labels, 0);
	const struct tn_source *source;
	uint32_t line, column;

	if (diag->labels.len && label->span.file) {
		source = tn_vec_at(&context->sink.sources,
				   label->span.file - 1);
		tn_sink_locate(&context->sink, label->span.file,
			       label->span.begin, &line, &column);
		message.file = source->name;
		message.line = line;
		message.column = column;
	}
	context->report(context->report_data, &message);
}

static void hand(struct tenon_context *context)
{
	struct tn_vec *diags = &context->sink.diags;

	for (; context->handed < diags->len; context->handed++)
		if (context->report)
			hand_one(context, tn_vec_ptr(diags,
						     context->handed));
}

/* Whether memory ran out somewhere, whatever else was reported then. */
static bool lacked_memory(const struct tenon_context *context)
{
	const struct tn_vec *diags = &context->sink.diags;
	const struct tn_diag *diag;
	size_t i;

	for (i = 0; i < diags->len; i++) {
		diag = tn_vec_ptr(diags, i);
		if (diag->code == TN_E0001)
			return true;
	}
	return context->sink.failed || context->arena.failed ||
	       context->events.failed ||
	       context->names.arena.failed;
}

enum tenon_status tn_context_end(struct tenon_context *context,
				 enum tn_status status)
{
	bool short_of_memory;

	if (context->events.failed && status == TN_OK)
		status = TN_IO;
	short_of_memory = status && lacked_memory(context);
	if (status != TN_BUG && short_of_memory)
		status = TN_IO;
	if (status == TN_IO && !context->sink.errors)
		tn_context_nomem(context);
	hand(context);
	return (enum tenon_status)status;
}

enum tenon_status tn_context_text(struct tenon_context *context,
				  struct tn_buf *buf, char **out)
{
	tn_buf_put(buf, "");
	if (buf->len == 0)
		tn_buf_putn(buf, "", 0);
	*out = tn_buf_take(buf);
	tn_buf_fini(buf);
	if (!*out)
		return tn_context_end(context, tn_context_nomem(context));
	return tn_context_end(context, TN_OK);
}

enum tenon_status tenon_context_messages(const struct tenon_context *context,
					 enum tenon_style style, char **out)
{
	struct tn_buf buf;

	*out = NULL;
	if (!context)
		return TENON_USAGE;
	tn_buf_init(&buf);
	tn_buf_put(&buf, "");
	if (style == TENON_JSON)
		tn_sink_render_json(&context->sink, &buf);
	else
		tn_sink_render(&context->sink, &buf, style == TENON_COLOUR);
	*out = tn_buf_take(&buf);
	tn_buf_fini(&buf);
	return *out ? TENON_OK : TENON_IO;
}

void tenon_text_free(char *text)
{
	free(text);
}

/* ---- Settings ---------------------------------------------------------- */

enum kind { TEXT, LIST, LINES, YES, NUMBER, WEIGHTS, TARGET, WORDS, DIFF, PLUGIN };

struct setting {
	const char *name;
	enum kind kind;
	size_t offset;		/* of the field */
};

#define AT(field) offsetof(struct tn_settings, field)
static const struct setting settings[] = {
	{ "target", TARGET, AT(target) },
	{ "emulate", YES, AT(emulate) },
	{ "passes", TEXT, AT(passes) },
	{ "fn", TEXT, AT(fn) },
	{ "bounds", TEXT, AT(bounds) },
	{ "fix", LINES, AT(fixes) },
	{ "length", LIST, AT(lengths) },
	{ "shape", LIST, AT(shapes) },
	{ "no-composites", YES, AT(no_composites) },
	{ "fp", WORDS, AT(fp) },
	{ "rules", TEXT, AT(rules) },
	{ "plugin", PLUGIN, 0 },
	{ "weights", WEIGHTS, 0 },
	{ "threads", NUMBER, AT(threads) },
	{ "cc", TEXT, AT(cc) },
	{ "cxx", TEXT, AT(cxx) },
	{ "nvcc", TEXT, AT(nvcc) },
	{ "cache", TEXT, AT(cache) },
	{ "keep", TEXT, AT(keep) },
	{ "allow-outside", YES, AT(allow_outside) },
	{ "fuel", NUMBER, AT(fuel) },
	{ "verify-each", YES, AT(verify_each) },
	{ "check-analyses", YES, AT(check_analyses) },
	{ "print-after", TEXT, AT(print_after) },
	{ "print-changed", DIFF, AT(print_changed) },
	{ "dump-dir", TEXT, AT(dump_dir) },
	{ "check-each", NUMBER, AT(check_each) },
	{ "stop-after", TEXT, AT(stop_after) },
	{ "time-passes", YES, AT(time_passes) }
};
#undef AT
#define NSETTINGS (sizeof(settings) / sizeof(*settings))

static enum tn_status malformed(struct tenon_context *context,
				const char *name, const char *value,
				const char *wanted)
{
	struct tn_diag *diag = tn_context_report(context, TN_E0004,
						 "'%s' is no value of %s",
						 value, name);

	tn_diag_help(&context->sink, diag, "it takes %s", wanted);
	return TN_USAGE;
}

/* A whole decimal number that fits; false if not. */
static bool parse_number(const char *text, int64_t *out)
{
	uint64_t value;
	bool negative = text[0] == '-';

	if (!tn_num_parse_u64(text + negative, &value) || value > INT64_MAX)
		return false;
	*out = negative ? -(int64_t)value : (int64_t)value;
	return true;
}

static enum tn_status set_yes(struct tenon_context *context,
			      const struct setting *setting, bool *field,
			      const char *value)
{
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return malformed(context, setting->name, value, "yes or no");
	*field = value[0] == 'y';
	return TN_OK;
}

static enum tn_status set_number(struct tenon_context *context,
				 const struct setting *setting,
				 const char *value)
{
	bool is_fuel = !strcmp(setting->name, "fuel");
	int64_t number;

	if (!parse_number(value, &number) || number < (is_fuel ? -1 : 0) ||
	    (!is_fuel && number > 4096))
		return malformed(context, setting->name, value, is_fuel ?
				 "a number, -1 for any" :
				 "a number from 0 to 4096");
	if (is_fuel)
		context->settings.fuel = number;
	else
		memcpy((char *)&context->settings + setting->offset,
		       &(int){ (int)number }, sizeof(int));
	return TN_OK;
}

static enum tn_status set_weights(struct tenon_context *context,
				  const char *value)
{
	struct tn_settings *s = &context->settings;

	s->random_weights = !strncmp(value, "random", 6);
	s->seed = 0;
	if (!strcmp(value, "files") || !strcmp(value, "random"))
		return TN_OK;
	if (s->random_weights && value[6] == ':' &&
	    parse_number(value + 7, &s->seed))
		return TN_OK;
	s->random_weights = false;
	return malformed(context, "weights", value,
			 "files, random or random:SEED");
}

static enum tn_status set_text(struct tenon_context *context,
			       const char **field, const char *value)
{
	*field = tn_arena_strndup(&context->arena, value, strlen(value));
	return *field ? TN_OK : TN_IO;
}

/* Behind what was given before. */
static enum tn_status add_text(struct tenon_context *context,
			       const char **field, char between,
			       const char *value)
{
	if (*field && (*field)[0])
		*field = tn_arena_printf(&context->arena, "%s%c%s", *field,
					 between, value);
	else
		return set_text(context, field, value);
	return *field ? TN_OK : TN_IO;
}

static enum tn_status apply(struct tenon_context *context,
			    const struct setting *setting, const char *value)
{
	void *field = (char *)&context->settings + setting->offset;

	size_t len;

	switch (setting->kind) {
	case YES:
		return set_yes(context, setting, field, value);
	case NUMBER:
		return set_number(context, setting, value);
	case WEIGHTS:
		return set_weights(context, value);
	case WORDS:
		if (strcmp(value, "none") && tn_rule_find_unknown(value, &len))
			return malformed(context, setting->name, value,
					 TN_RULE_WORDS ", none");
		break;
	case DIFF:
		if (strcmp(value, "diff"))
			return malformed(context, setting->name, value,
					 "diff");
		break;
	case PLUGIN:
		return tn_plugin_load(context, value);
	case LIST:
		return add_text(context, field, ',', value);
	case LINES:
		return add_text(context, field, '\n', value);
	case TARGET:
	case TEXT:
		break;
	}
	return set_text(context, field, value);
}

enum tenon_status tenon_context_set(struct tenon_context *context,
				    const char *name, const char *value)
{
	const char *names[NSETTINGS];
	size_t i;

	if (!context || !name || !value)
		return TENON_USAGE;
	for (i = 0; i < NSETTINGS; i++) {
		names[i] = settings[i].name;
		if (!strcmp(settings[i].name, name))
			return tn_context_end(context,
					      apply(context, &settings[i],
						    value));
	}
	tn_context_suggest(context,
			   tn_context_report(context, TN_E0004,
					     "there is no setting '%s'",
					     name),
			   name, names, NSETTINGS, NULL);
	return tn_context_end(context, TN_USAGE);
}
