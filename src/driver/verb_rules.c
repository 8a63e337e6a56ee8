/*
 * check-rules: what became of each rule, one a line.
 *
 *   ok   transpose_transpose    342 places, 12 of any size, 85 shapes by index
 *   FAIL mul_zero               element 3 is nan, and 0 after it, in
 */
#include "driver/command.h"

struct tally {
	bool json;
	int passed, failed;
};

static void put_json(const struct tenon_rule *rule)
{
	fputs("{\"rule\":", stdout);
	command_json(stdout, rule->name);
	printf(",\"places\":%lld,\"symbolic\":%lld,\"shapes\":%lld",
	       (long long)rule->places, (long long)rule->symbolic,
	       (long long)rule->shapes);
	printf(",\"passed\":%s", rule->passed ? "true" : "false");
	if (!rule->passed) {
		fputs(",\"why\":", stdout);
		command_json(stdout, rule->why);
	}
	puts("}");
}

static void put_passed(const struct tenon_rule *rule)
{
	printf("ok   %-32s %6lld places, %lld of any size", rule->name,
	       (long long)rule->places, (long long)rule->symbolic);
	if (rule->shapes)
		printf(", %lld shapes by index", (long long)rule->shapes);
	putchar('\n');
}

static void done(void *data, const struct tenon_rule *rule)
{
	struct tally *tally = data;

	tally->passed += rule->passed;
	tally->failed += !rule->passed;
	if (tally->json)
		put_json(rule);
	else if (rule->passed)
		put_passed(rule);
	else
		printf("FAIL %-32s %s\n", rule->name, rule->why);
	fflush(stdout);
}

enum tenon_status verb_check_rules(const struct command *command)
{
	struct tally tally = {.json = command_value(command, "--json")};
	struct tenon_context *context;
	enum tenon_status status;

	if (!command_files(command, 0, 1))
		return TENON_USAGE;
	context = command_context(command, &status);
	if (!context)
		return status;
	status = tenon_check_rules(context, command->nfiles ?
				   command->files[0] : NULL, done, &tally);
	command_end(command, context);
	if (!tally.json && (tally.passed || tally.failed))
		printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return status;
}
