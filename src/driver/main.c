/*
 * The command `tenon`: reads the command line, calls the verb, exits with its
 * status. Results go to stdout, messages to stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/command.h"
#include "driver/interrupt.h"

static enum tenon_status (*const run[VERB_COUNT])(const struct command *) = {
#define VERB(id, name, arguments, summary, details) [VERB_##id] = verb_##id,
#include "driver/options.def"
#undef VERB
};

enum tenon_status verb_help(const struct command *command)
{
	int i;

	if (command_value(command, "--man")) {
		help_man(stdout);
	} else if (command_value(command, "--completion")) {
		help_completion(stdout);
	} else if (command->nfiles == 0) {
		help_all(stdout);
	} else {
		for (i = 0; i < VERB_COUNT; i++)
			if (!strcmp(verbs[i].name, command->files[0]))
				break;
		if (i == VERB_COUNT) {
			fprintf(stderr, "tenon: there is no verb '%s'\n",
				command->files[0]);
			return TENON_USAGE;
		}
		help_verb(stdout, (enum verb)i);
	}
	return TENON_OK;
}

/* A result that could not be written is an error too. */
static int finish(enum tenon_status status)
{
	bool bad = fflush(stdout) != 0 || ferror(stdout);

	if (bad && status == TENON_OK) {
		fputs("tenon: cannot write to standard output\n", stderr);
		return TENON_IO;
	}
	return (int)status;
}

/*
 * How long threads of OpenMP wait before they sleep, unless the user has said
 * so: some microseconds. By default libgomp's spin for milliseconds, which on a
 * computer that has other work makes two threads slower than one, and LLVM's
 * for 200 ms. Both read the environment as they are loaded.
 */
static void set_patience(void)
{
	if (getenv("OMP_WAIT_POLICY"))
		return;
	(void)setenv("GOMP_SPINCOUNT", "1000", 0);
	(void)setenv("KMP_BLOCKTIME", "0", 0);
}

int main(int argc, char **argv)
{
	struct command command;
	enum tenon_status status = TENON_USAGE;
	FILE *events = NULL;
	bool lost = false;

	set_patience();
	interrupt_init();
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("tenon " TENON_VERSION);
		return finish(TENON_OK);
	}
	if (command_read(&command, argc, argv)) {
		if (command_value(&command, "--help")) {
			help_verb(stdout, command.verb);
			status = TENON_OK;
		} else {
			command.lost = &lost;
			command.events = &events;
			status = run[command.verb](&command);
			if (!command_events_close(&command) || lost)
				status = TENON_IO;
		}
	} else if (command.no_memory) {
		status = TENON_IO;
	}
	command_free(&command);
	return finish(status);
}
