/*
 * Verbs about text: check, fmt, list, explain.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/command.h"

/* ---- check ---------------------------------------------------------------- */

static enum tenon_status check_one(const struct command *command, const char *path)
{
	struct tenon_module *module = NULL;
	struct tenon_context *context;
	enum tenon_status status, schedules;

	context = command_context(command, &status);
	if (!context)
		return status;
	status = tenon_parse_file(context, path, &module);
	if (status == TENON_OK) {
		status = tenon_module_check_weights(module, true);
		schedules = tenon_module_check_schedules(module);
		if (status < schedules)
			status = schedules;
	}
	tenon_module_free(module);
	command_end(command, context);
	return status;
}

enum tenon_status verb_check(const struct command *command)
{
	enum tenon_status status = TENON_OK, one;
	int i;

	if (!command_files(command, 1, -1))
		return TENON_USAGE;
	for (i = 0; i < command->nfiles; i++) {
		one = check_one(command, command->files[i]);
		if (one > status)
			status = one;
	}
	return status;
}

/* ---- fmt ------------------------------------------------------------------ */

/* Texts are at most so large; some devices have no end. */
#define MOST ((size_t)1 << 30)

/* A file or standard input whole; NULL after a report. */
static char *read_text(const char *path, size_t *size)
{
	FILE *from = strcmp(path, "-") ? fopen(path, "rb") : stdin;
	char *text = NULL, *more;
	size_t cap = 0, n = 1;

	*size = 0;
	while (from && n > 0 && *size <= MOST) {
		if (cap - *size < 65536) {
			cap = cap * 2 + 131072;
			more = realloc(text, cap);
			if (!more)
				break;
			text = more;
		}
		n = fread(text + *size, 1, cap - *size, from);
		*size += n;
	}
	if (*size > MOST)
		errno = EFBIG;
	if (!from || ferror(from) || n > 0) {
		fprintf(stderr, "tenon: %s: %s\n", path, strerror(errno));
		free(text);
		text = NULL;
	}
	if (from && from != stdin)
		fclose(from);
	return text;
}

/* Replaces the file by a temporary one beside it. */
static enum tenon_status replace(const char *path, const char *text)
{
	size_t len = strlen(path);
	char *temp = malloc(len + 8);
	struct stat info;
	FILE *to = NULL;
	int fd = -1, bad = 1;

	if (temp) {
		memcpy(temp, path, len);
		strcpy(temp + len, ".XXXXXX");
		fd = mkstemp(temp);
	}
	if (fd >= 0)
		to = fdopen(fd, "wb");
	if (to) {
		if (stat(path, &info) == 0)
			(void)fchmod(fd, info.st_mode & 07777);
		bad = fputs(text, to) < 0;
		bad |= fclose(to) != 0;
		bad = bad || rename(temp, path) != 0;
	}
	if (bad) {
		fprintf(stderr, "tenon: %s: %s\n", path, strerror(errno));
		if (fd >= 0)
			unlink(temp);
	}
	free(temp);
	return bad ? TENON_IO : TENON_OK;
}

static enum tenon_status put_formatted(const struct command *command, const char *path,
			 const char *before, size_t size, const char *after)
{
	bool same = strlen(after) == size && !memcmp(before, after, size);

	if (command_value(command, "--check")) {
		if (!same)
			printf("%s\n", path);
		return same ? TENON_OK : TENON_NO;
	}
	if (!command_value(command, "--write") || !strcmp(path, "-")) {
		fputs(after, stdout);
		return TENON_OK;
	}
	return same ? TENON_OK : replace(path, after);
}

static enum tenon_status fmt_one(const struct command *command, const char *path)
{
	struct tenon_context *context;
	char *before, *after;
	size_t size;
	enum tenon_status status;

	before = read_text(path, &size);
	if (!before)
		return TENON_IO;
	context = command_context(command, &status);
	if (context) {
		status = tenon_format(context, strcmp(path, "-") ? path :
				      "<stdin>", before, size, &after);
		if (status == TENON_OK)
			status = put_formatted(command, path, before, size,
					       after);
		tenon_text_free(after);
		command_end(command, context);
	}
	free(before);
	return status;
}

enum tenon_status verb_fmt(const struct command *command)
{
	enum tenon_status status = TENON_OK, one;
	int i;

	if (command_value(command, "--write") && !command_files(command, 1, -1))
		return TENON_USAGE;
	if (command->nfiles == 0)
		return fmt_one(command, "-");
	for (i = 0; i < command->nfiles; i++) {
		one = fmt_one(command, command->files[i]);
		if (one > status)
			status = one;
	}
	return status;
}

/* ---- list and explain ------------------------------------------------------- */

enum tenon_status verb_list(const struct command *command)
{
	struct tenon_context *context;
	enum tenon_status status;
	char *text;

	if (!command_files(command, 1, 1))
		return TENON_USAGE;
	context = command_context(command, &status);
	if (!context)
		return status;
	status = tenon_list(context, command->files[0],
			    command_value(command, "--json") != NULL, &text);
	if (status == TENON_OK)
		fputs(text, stdout);
	tenon_text_free(text);
	command_end(command, context);
	return status;
}

/* Whether the word looks like a code, E0312, and not like a file. */
static bool is_code(const char *word)
{
	return (word[0] == 'E' || word[0] == 'W' || word[0] == 'e' ||
		word[0] == 'w') &&
	       strspn(word + 1, "0123456789") == strlen(word + 1) &&
	       word[1];
}

enum tenon_status verb_explain(const struct command *command)
{
	struct tenon_question question = {
		.op = command_value(command, "--op"),
		.why_not = command_value(command, "--why-not"),
		.json = command_value(command, "--json")
	};
	struct tenon_module *module = NULL;
	struct tenon_context *context;
	char *text = NULL;
	enum tenon_status status;

	if (!command_files(command, 1, 1))
		return TENON_USAGE;
	context = command_context(command, &status);
	if (!context)
		return status;
	if (is_code(command->files[0])) {
		status = tenon_explain_code(context, command->files[0],
					    &text);
	} else {
		status = tenon_parse_file(context, command->files[0],
					  &module);
		if (status == TENON_OK)
			status = tenon_module_explain(module, &question,
						      &text);
	}
	if (text)
		fputs(text, stdout);
	tenon_text_free(text);
	tenon_module_free(module);
	command_end(command, context);
	return status;
}
