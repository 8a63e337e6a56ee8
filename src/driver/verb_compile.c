/*
 * Verbs that read a module and write another form: import, opt, emit, report,
 * build.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/command.h"

typedef enum tenon_status (*action)(const struct command *command,
		      struct tenon_module *module);

/* Reads the one file and acts on it. */
static enum tenon_status with_module(const struct command *command, action act)
{
	struct tenon_module *module = NULL;
	struct tenon_context *context;
	enum tenon_status status, timed;

	if (!command_files(command, 1, 1))
		return TENON_USAGE;
	context = command_context(command, &status);
	if (!context)
		return status;
	status = tenon_parse_file(context, command->files[0], &module);
	if (status == TENON_OK) {
		status = act(command, module);
		timed = command_timing(command, module);
		if (status == TENON_OK)
			status = timed;
	}
	tenon_module_free(module);
	command_end(command, context);
	return status;
}

/* Prints the module, or writes it where -o says. */
static enum tenon_status put(const struct command *command,
			     struct tenon_module *module)
{
	const char *out = command_value(command, "--output");
	enum tenon_status status;
	char *text;

	if (out && strcmp(out, "-"))
		return tenon_module_save(module, out);
	status = tenon_module_print(module, &text);
	if (text)
		fputs(text, stdout);
	tenon_text_free(text);
	return status;
}

enum tenon_status verb_import(const struct command *command)
{
	return with_module(command, put);
}

static enum tenon_status opt(const struct command *command,
			     struct tenon_module *module)
{
	enum tenon_status status = tenon_module_run_passes(module);

	return status == TENON_OK ? put(command, module) : status;
}

enum tenon_status verb_opt(const struct command *command)
{
	return with_module(command, opt);
}

/* The name that -o gives, or the file's name in the working folder with
 * another ending. To be freed. */
static char *result_name(const struct command *command, const char *ending)
{
	const char *out = command_value(command, "--output");
	const char *base = strrchr(command->files[0], '/');
	char *name;

	if (out) {
		name = malloc(strlen(out) + 1);
		if (name)
			strcpy(name, out);
	} else {
		name = command_rename(base ? base + 1 : command->files[0],
				      ending);
	}
	if (!name)
		fputs("tenon: out of memory\n", stderr);
	return name;
}

static enum tenon_status emit(const struct command *command, struct tenon_module *module)
{
	const char *target = command_value(command, "--target");
	char ending[32], *folder;
	enum tenon_status status;

	snprintf(ending, sizeof(ending), "-%.*s", target ?
		 (int)strcspn(target, ":") : 1, target ? target : "c");
	folder = result_name(command, ending);
	if (!folder)
		return TENON_IO;
	status = tenon_module_emit(module, folder);
	if (status == TENON_OK)
		fprintf(stderr, "wrote %s\n", folder);
	free(folder);
	return status;
}

enum tenon_status verb_emit(const struct command *command)
{
	return with_module(command, emit);
}

static enum tenon_status report(const struct command *command,
				struct tenon_module *module)
{
	enum tenon_status status;
	char *text;

	status = tenon_module_report(module, command_value(command, "--json"),
				     &text);
	if (text)
		fputs(text, stdout);
	tenon_text_free(text);
	return status;
}

enum tenon_status verb_report(const struct command *command)
{
	return with_module(command, report);
}

static enum tenon_status build(const struct command *command, struct tenon_module *module)
{
	char *path = result_name(command, ".tne");
	enum tenon_status status;

	if (!path)
		return TENON_IO;
	status = tenon_module_build(module, path);
	if (status == TENON_OK)
		fprintf(stderr, "wrote %s\n", path);
	free(path);
	return status;
}

enum tenon_status verb_build(const struct command *command)
{
	return with_module(command, build);
}
