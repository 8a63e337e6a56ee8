/* The command line, read by the table options.def. */
#ifndef TN_DRIVER_OPTIONS_H
#define TN_DRIVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum verb {
#define VERB(id, name, arguments, summary, details) VERB_##id,
#include "driver/options.def"
#undef VERB
	VERB_COUNT
};

struct verb_info {
	const char *name, *arguments, *summary, *details;
};

struct option_info {
	const char *name;	/* "--output" */
	char letter;		/* 0: none */
	const char *argument;	/* "": a switch */
	const char *setting;	/* or NULL */
	unsigned verbs;		/* bit 1 << verb */
	const char *help;
};

extern const struct verb_info verbs[VERB_COUNT];
extern const struct option_info options[];
extern const int noptions;

/* An option as it was given. */
struct given {
	const struct option_info *option;
	const char *value;	/* "yes" of a switch */
	bool is_word;		/* it stood apart: `-o FILE` */
};

struct command {
	enum verb verb;
	struct given *given;	/* in order */
	int ngiven;
	const char **files;
	int nfiles;
	bool *lost;	/* set when messages cannot be shown */
	FILE **events;	/* where --events go, once open */
	bool no_memory;
};

/* Reads the command line. On failure says why on stderr and returns false,
 * with command->no_memory set if that was it. */
bool command_read(struct command *command, int argc, char **argv);
void command_free(struct command *command);
/* The last value of the option, or NULL. */
const char *command_value(const struct command *command, const char *name);

void help_all(FILE *to);
void help_verb(FILE *to, enum verb verb);
void help_man(FILE *to);
void help_completion(FILE *to);

#endif
