/*
 * Verbs that find faults: bisect and reduce.
 */
#include <string.h>

#include "driver/command.h"

static void put_json(const struct tenon_bisection *found)
{
	printf("{\"found\":%s,\"rewrites\":%lld,\"tries\":%lld",
	       found->found ? "true" : "false", (long long)found->rewrites,
	       (long long)found->tries);
	if (found->found) {
		printf(",\"rewrite\":%lld,\"pass\":",
		       (long long)found->rewrite);
		command_json(stdout, found->pass ? found->pass : "");
		fputs(",\"rule\":", stdout);
		command_json(stdout, found->rule ? found->rule : "");
		fputs(",\"op\":", stdout);
		command_json(stdout, found->op ? found->op : "");
		fputs(",\"value\":", stdout);
		command_json(stdout, found->value ? found->value : "");
		fputs(",\"place\":", stdout);
		command_json(stdout, found->place ? found->place : "");
		fputs(",\"diff\":", stdout);
		command_json(stdout, found->diff ? found->diff : "");
	}
	puts("}");
}

static void put_found(const struct tenon_bisection *found)
{
	if (!found->found) {
		printf("good after all %lld rewrites\n",
		       (long long)found->rewrites);
		return;
	}
	if (!found->pass) {
		printf("rewrite %lld makes the passes fail\n",
		       (long long)found->rewrite);
		return;
	}
	printf("rewrite %lld of %lld makes it wrong: pass '%s'",
	       (long long)found->rewrite, (long long)found->rewrites,
	       found->pass);
	if (found->rule)
		printf(", rule '%s'", found->rule);
	if (found->op)
		printf(", at '%s'", found->op);
	if (found->value)
		printf(" of '%s'", found->value);
	if (found->place && found->place[0])
		printf(", %s", found->place);
	putchar('\n');
	if (found->diff)
		fputs(found->diff, stdout);
}

/* --check=CMD or --against=ref, one of them. */
static bool read_judge(const struct command *command, const char **check)
{
	const char *against = command_value(command, "--against");

	*check = command_value(command, "--check");
	if (!*check && against && !strcmp(against, "ref"))
		return true;
	if (*check && !against)
		return true;
	if (against && strcmp(against, "ref"))
		fprintf(stderr, "tenon bisect: --against takes ref, not "
			"'%s'\n", against);
	else
		fputs("tenon bisect: who judges? --check=COMMAND or "
		      "--against=ref\n", stderr);
	return false;
}

enum tenon_status verb_bisect(const struct command *command)
{
	struct tenon_module *module = NULL;
	struct tenon_bisection found = {0};
	struct tenon_context *context;
	enum tenon_status status;
	const char *check;

	if (!command_files(command, 1, 1) || !read_judge(command, &check))
		return TENON_USAGE;
	context = command_context(command, &status);
	if (!context)
		return status;
	status = tenon_parse_file(context, command->files[0], &module);
	if (status == TENON_OK)
		status = tenon_module_bisect(module, check, &found);
	if (status == TENON_OK || found.found) {
		if (command_value(command, "--json"))
			put_json(&found);
		else
			put_found(&found);
	}
	tenon_module_free(module);
	command_end(command, context);
	return status;
}

enum tenon_status verb_reduce(const struct command *command)
{
	const char *check = command_value(command, "--check");
	const char *out = command_value(command, "--output");
	struct tenon_module *module = NULL;
	struct tenon_reduction reduction;
	struct tenon_context *context;
	enum tenon_status status;

	if (!command_files(command, 1, 1))
		return TENON_USAGE;
	if (!check || !out) {
		fputs("tenon reduce: --check=COMMAND says what to keep, "
		      "-o FILE where it goes\n", stderr);
		return TENON_USAGE;
	}
	context = command_context(command, &status);
	if (!context)
		return status;
	status = tenon_parse_file(context, command->files[0], &module);
	if (status == TENON_OK)
		status = tenon_module_reduce(module, check, out, &reduction);
	if (status == TENON_OK)
		fprintf(stderr, "%lld lines of %lld left, after %lld "
			"trials: %s\n", (long long)reduction.lines,
			(long long)reduction.lines_before,
			(long long)reduction.tries, out);
	tenon_module_free(module);
	command_end(command, context);
	return status;
}
