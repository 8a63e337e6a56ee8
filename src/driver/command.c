/*
 * Helpers of the verbs: contexts from options, messages, files.
 */
#include "driver/command.h"
#include "driver/interrupt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDERR_FILENO) && !(no && no[0]) &&
	       !(term && !strcmp(term, "dumb"));
}

static void put_messages(const struct command *command,
			 const struct tenon_context *context)
{
	const char *form = command_value(command, "--diag");
	enum tenon_style style = wants_colour() ? TENON_COLOUR : TENON_PLAIN;
	char *text;

	if (form && !strcmp(form, "json"))
		style = TENON_JSON;
	if (tenon_context_messages(context, style, &text) != TENON_OK) {
		fputs("tenon: out of memory\n", stderr);
		*command->lost = true;
		return;
	}
	fputs(text, stderr);
	tenon_text_free(text);
}

void command_end(const struct command *command,
		 struct tenon_context *context)
{
	if (!context)
		return;
	fflush(stdout);
	put_messages(command, context);
	tenon_context_free(context);
}

static void show_pass(void *data, const char *pass, const char *text)
{
	(void)data;
	fprintf(stderr, "# ---- after %s\n%s", pass, text);
}

void command_type(FILE *to, const struct tenon_tensor *t)
{
	int i;

	fputs(tenon_dtype_name(t->dtype), to);
	for (i = 0; i < t->rank; i++)
		fprintf(to, "%s%lld", i ? ", " : "[", (long long)t->shape[i]);
	if (t->rank)
		fputc(']', to);
}

/* --emulate needs a target whose code it can run. */
static bool can_emulate(const struct command *command,
			const struct tenon_context *context)
{
	int i;

	if (!command_value(command, "--emulate"))
		return true;
	for (i = 0; i < command->ngiven; i++)
		if (!strcmp(command->given[i].option->name, "--target") &&
		    tenon_target_emulates(context, command->given[i].value))
			return true;
	return false;
}

static void show_print(void *data, const char *label,
		       const struct tenon_tensor *tensor)
{
	char *text;

	(void)data;
	if (tenon_tensor_print(tensor, &text) != TENON_OK)
		return;
	fprintf(stderr, "%s: ", label);
	command_type(stderr, tensor);
	fprintf(stderr, " =\n%s\n", text);
	tenon_text_free(text);
}

static void put_event(void *data, const char *line)
{
	FILE *to = data;

	fputs(line, to);
	fputc('\n', to);
}

/* Lines are written as they come, so that what was done before a crash or
 * while something runs long can be read. */
static enum tenon_status open_events(const struct command *command,
				     struct tenon_context *context)
{
	const char *path = command_value(command, "--events");
	bool is_free = command->verb == VERB_emit ||
		       command->verb == VERB_build;

	if (!path)
		return TENON_OK;
	if (!*command->events && !strcmp(path, "-"))
		*command->events = is_free ? stdout : stderr;
	else if (!*command->events)
		*command->events = fopen(path, "wb");
	if (!*command->events) {
		fprintf(stderr, "tenon: %s: %s\n", path, strerror(errno));
		return TENON_IO;
	}
	tenon_context_on_event(context, put_event, *command->events);
	return TENON_OK;
}

bool command_events_close(const struct command *command)
{
	FILE *to = *command->events;
	bool bad;

	if (!to)
		return true;
	*command->events = NULL;
	bad = fflush(to) != 0 || ferror(to);
	if (to != stdout && to != stderr)
		bad |= fclose(to) != 0;
	if (bad)
		fprintf(stderr, "tenon: cannot write the events to %s\n",
			command_value(command, "--events"));
	return !bad;
}

struct tenon_context *command_context(const struct command *command,
				      enum tenon_status *status)
{
	struct tenon_context *context = tenon_context_new();
	const char *form = command_value(command, "--diag");
	int i;

	*status = TENON_IO;
	if (!context) {
		fputs("tenon: out of memory\n", stderr);
		return NULL;
	}
	*status = TENON_OK;
	if (form && strcmp(form, "json") && strcmp(form, "text")) {
		fprintf(stderr, "tenon: --diag takes text or json, not "
			"'%s'\n", form);
		*status = TENON_USAGE;
	}
	for (i = 0; i < command->ngiven && *status == TENON_OK; i++) {
		const struct given *given = &command->given[i];

		if (given->option->setting)
			*status = tenon_context_set(context,
						    given->option->setting,
						    given->value);
	}
	if (*status == TENON_OK && !can_emulate(command, context)) {
		fputs("tenon: --emulate is for --target=cuda\n", stderr);
		*status = TENON_USAGE;
	}
	tenon_context_on_compile(context, interrupt_hold, NULL);
	if (*status == TENON_OK)
		*status = open_events(command, context);
	tenon_context_on_pass(context, show_pass, NULL);
	tenon_context_on_print(context, show_print, NULL);
	if (*status == TENON_OK)
		return context;
	command_end(command, context);
	return NULL;
}

/* The word before the end that an option took, where a file is missing. */
static void put_taken(const struct command *command)
{
	const struct given *given;
	int i;

	for (i = command->ngiven; i-- > 0;) {
		given = &command->given[i];
		if (!given->is_word)
			continue;
		fprintf(stderr, "tenon %s: '%s' was taken as the value of %s "
			"(%s)\n", verbs[command->verb].name, given->value,
			given->option->name, given->option->argument);
		return;
	}
}

bool command_files(const struct command *command, int least, int most)
{
	const char *name = verbs[command->verb].name;

	if (command->nfiles >= least &&
	    (most < 0 || command->nfiles <= most))
		return true;
	if (command->nfiles < least)
		put_taken(command);
	fprintf(stderr, "usage: tenon %s [OPTION...] %s\n"
		"`tenon help %s` says more\n", name,
		verbs[command->verb].arguments, name);
	return false;
}

char *command_rename(const char *path, const char *ending)
{
	const char *base = strrchr(path, '/'), *dot;
	size_t len = strlen(path);
	char *out;

	base = base ? base + 1 : path;
	dot = strrchr(base, '.');
	if (dot && dot != base)
		len = (size_t)(dot - path);
	out = malloc(len + strlen(ending) + 1);
	if (!out)
		return NULL;
	memcpy(out, path, len);
	strcpy(out + len, ending);
	return out;
}

void command_json(FILE *to, const char *text)
{
	fputc('"', to);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(to, "\\%c", c);
		else if (c < 32)
			fprintf(to, "\\u%04x", c);
		else
			fputc(c, to);
	}
	fputc('"', to);
}

enum tenon_status command_split(const struct option_info *option,
				const char *text, char **name,
				const char **rest)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : 0;

	*name = NULL;
	if (!len) {
		fprintf(stderr, "tenon: %s is written %s, not '%s'\n",
			option->name, option->argument, text);
		return TENON_USAGE;
	}
	*name = malloc(len + 1);
	if (!*name) {
		fputs("tenon: out of memory\n", stderr);
		return TENON_IO;
	}
	memcpy(*name, text, len);
	(*name)[len] = '\0';
	*rest = equals + 1;
	return TENON_OK;
}

bool command_integer(const char *name, const char *text, int64_t *out)
{
	const char *digits = text + (*text == '-');
	long long value;

	errno = 0;
	value = strtoll(text, NULL, 10);
	*out = value;
	if (*digits && strspn(digits, "0123456789") == strlen(digits) &&
	    errno != ERANGE)
		return true;
	fprintf(stderr, "tenon: %s: '%s' is no whole number%s\n", name, text,
		errno == ERANGE ? " below 2^63" : "");
	return false;
}

bool command_ends_with(const char *path, const char *ending)
{
	size_t n = strlen(path), m = strlen(ending);

	return n >= m && !strcmp(path + n - m, ending);
}

bool command_number(const char *name, const char *text, double *out)
{
	char *end;

	*out = strtod(text, &end);
	if (strchr("0123456789.", *text) && !*end && *out >= 0 &&
	    isfinite(*out))
		return true;
	fprintf(stderr, "tenon: %s takes a finite number from 0, not '%s'\n", name,
		text);
	return false;
}

enum tenon_status command_timing(const struct command *command,
				 const struct tenon_module *module)
{
	enum tenon_status status;
	char *text;

	if (!command_value(command, "--time-passes"))
		return TENON_OK;
	status = tenon_module_timing(module, command_value(command, "--json"),
				     &text);
	if (text)
		fputs(text, stderr);
	tenon_text_free(text);
	return status;
}
