/*
 * Verb test: runs the tests of modules, in the interpreter and compiled.
 */
#include "driver/command.h"

struct tally {
	const struct command *command;
	const char *file;
	int passed, failed;
};

static void count(void *data, const struct tenon_test *test)
{
	struct tally *tally = data;

	if (test->passed)
		tally->passed++;
	else
		tally->failed++;
	if (command_value(tally->command, "--json")) {
		fputs("{\"file\":", stdout);
		command_json(stdout, tally->file);
		fputs(",\"test\":", stdout);
		command_json(stdout, test->name);
		printf(",\"target\":\"%s\",\"passed\":%s", test->target,
		       test->passed ? "true" : "false");
		if (test->why) {
			fputs(",\"why\":", stdout);
			command_json(stdout, test->why);
		}
		puts("}");
		return;
	}
	printf("%s %s: %s (%s)\n", test->passed ? "pass" : "FAIL",
	       tally->file, test->name, test->target);
	if (test->why)
		printf("     %s\n", test->why);
}

static enum tenon_status test_one(struct tally *tally)
{
	struct tenon_module *module = NULL;
	struct tenon_context *context;
	enum tenon_status status;

	context = command_context(tally->command, &status);
	if (!context)
		return status;
	status = tenon_parse_file(context, tally->file, &module);
	if (status == TENON_OK)
		status = tenon_module_test(module, count, tally);
	tenon_module_free(module);
	command_end(tally->command, context);
	return status;
}

enum tenon_status verb_test(const struct command *command)
{
	struct tally tally = { .command = command };
	enum tenon_status status = TENON_OK, one;
	int i;

	if (!command_files(command, 1, -1))
		return TENON_USAGE;
	for (i = 0; i < command->nfiles; i++) {
		tally.file = command->files[i];
		one = test_one(&tally);
		if (one > status)
			status = one;
	}
	if (!command_value(command, "--json"))
		printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return status;
}
