/*
 * Reads the command line by the table, with suggestions for what is misspelt.
 */
#include "driver/options.h"

#include <stdlib.h>
#include <string.h>

const struct verb_info verbs[VERB_COUNT] = {
#define VERB(id, name, arguments, summary, details) \
	{ name, arguments, summary, details },
#include "driver/options.def"
#undef VERB
};

#define V(id) (1u << VERB_##id)
#define ALL ((1u << VERB_COUNT) - 1)
const struct option_info options[] = {
#define OPTION(long, short, argument, setting, verbs, help) \
	{ long, short, argument, setting, verbs, help },
#include "driver/options.def"
#undef OPTION
};
const int noptions = (int)(sizeof(options) / sizeof(*options));

/* ---- Suggestions --------------------------------------------------------- */

static int least(int a, int b, int c)
{
	int m = a < b ? a : b;

	return m < c ? m : c;
}

/* Edit distance with transposition; texts are cut at 31 characters. */
static int distance(const char *a, const char *b)
{
	int d[32][32], i, j, n = 0, m = 0;

	while (a[n] && n < 31)
		n++;
	while (b[m] && m < 31)
		m++;
	for (i = 0; i <= n; i++)
		d[i][0] = i;
	for (j = 0; j <= m; j++)
		d[0][j] = j;
	for (i = 1; i <= n; i++)
		for (j = 1; j <= m; j++) {
			d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1,
					d[i - 1][j - 1] +
					(a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < d[i][j])
				d[i][j] = d[i - 2][j - 2] + 1;
		}
	return d[n][m];
}

static void nearer(const char *word, const char *candidate, int *best,
		   const char **found)
{
	int d = distance(word, candidate);

	if (d < *best && d * 3 <= (int)strlen(candidate) + 2) {
		*best = d;
		*found = candidate;
	}
}

static bool unknown_verb(const char *word)
{
	const char *found = NULL;
	int best = 3, i;

	for (i = 0; i < VERB_COUNT; i++)
		nearer(word, verbs[i].name, &best, &found);
	fprintf(stderr, "tenon: there is no verb '%s'", word);
	if (found)
		fprintf(stderr, "; did you mean '%s'?\n", found);
	else
		fputs("; `tenon help` names them\n", stderr);
	return false;
}

static bool unknown_option(const char *word, enum verb verb)
{
	const char *found = NULL;
	int best = 3, i;

	for (i = 0; i < noptions; i++)
		if (options[i].verbs & 1u << verb)
			nearer(word, options[i].name, &best, &found);
	fprintf(stderr, "tenon %s: there is no option '%s'",
		verbs[verb].name, word);
	if (found)
		fprintf(stderr, "; did you mean '%s'?\n", found);
	else
		fprintf(stderr, "; `tenon help %s` names them\n",
			verbs[verb].name);
	return false;
}

/* ---- Reading ---------------------------------------------------------------- */

static const struct option_info *find(const char *name, size_t len,
				      char letter, enum verb verb)
{
	int i;

	for (i = 0; i < noptions; i++) {
		if (!(options[i].verbs & 1u << verb))
			continue;
		if (letter ? options[i].letter == letter :
		    strlen(options[i].name) == len &&
		    !strncmp(options[i].name, name, len))
			return &options[i];
	}
	return NULL;
}

struct reader {
	struct command *command;
	int argc, at;
	char **argv;
};

static bool give(struct reader *r, const struct option_info *option,
		 const char *value)
{
	struct given *given = &r->command->given[r->command->ngiven];

	if (!option->argument[0] && value) {
		fprintf(stderr, "tenon: %s takes no value\n", option->name);
		return false;
	}
	if (option->argument[0] && !value) {
		if (r->at + 1 >= r->argc) {
			fprintf(stderr, "tenon: %s needs a value: %s\n",
				option->name, option->argument);
			return false;
		}
		value = r->argv[++r->at];
		given->is_word = true;
	}
	if (option->argument[0] && !value[0]) {
		fprintf(stderr, "tenon: %s has an empty value; it takes %s\n",
			option->name, option->argument);
		return false;
	}
	given->option = option;
	given->value = value ? value : "yes";
	r->command->ngiven++;
	return true;
}

static bool read_long(struct reader *r, char *word)
{
	char *equals = strchr(word, '=');
	size_t len = equals ? (size_t)(equals - word) : strlen(word);
	const struct option_info *option = find(word, len, 0,
						r->command->verb);

	if (!option) {
		word[len] = '\0';
		return unknown_option(word, r->command->verb);
	}
	return give(r, option, equals ? equals + 1 : NULL);
}

static bool read_short(struct reader *r, char *word)
{
	const struct option_info *option = find(NULL, 0, word[1],
						r->command->verb);

	if (!option)
		return unknown_option(word, r->command->verb);
	if (word[2] && !option->argument[0])
		return unknown_option(word, r->command->verb);
	return give(r, option, word[2] ? word + 2 : NULL);
}

static bool read_rest(struct reader *r)
{
	struct command *command = r->command;
	bool only_files = false;

	for (; r->at < r->argc; r->at++) {
		char *word = r->argv[r->at];
		bool is_option = !only_files && word[0] == '-' && word[1];

		if (is_option && !strcmp(word, "--")) {
			only_files = true;
		} else if (!is_option) {
			command->files[command->nfiles++] = word;
		} else if (word[1] == '-') {
			if (!read_long(r, word))
				return false;
		} else if (!read_short(r, word)) {
			return false;
		}
	}
	return true;
}

/* ---- What does not go together ------------------------------------------- */

/* Whether the option adds to what it said before. */
static bool may_repeat(const struct option_info *option, enum verb verb)
{
	return !strcmp(option->name, "--input") ||
	       !strcmp(option->name, "--dim") ||
	       !strcmp(option->name, "--plugin") ||
	       !strcmp(option->name, "--fix") ||
	       !strcmp(option->name, "--length") ||
	       !strcmp(option->name, "--shape") ||
	       (!strcmp(option->name, "--output") && verb == VERB_run) ||
	       (!strcmp(option->name, "--target") && verb == VERB_compare);
}

static const struct {
	enum verb verb;
	const char *one, *other, *why;
} contradictions[] = {
	{ VERB_fmt, "--write", "--check", "one changes files, the other "
	  "writes nothing" },
	{ VERB_help, "--man", "--completion", "there is one standard output" },
	{ VERB_run, "--json", "--output", "one prints the results, the other "
	  "writes them to files" },
};

static bool is_sound(const struct command *command)
{
	const int n = (int)(sizeof(contradictions) / sizeof(*contradictions));
	const struct option_info *option;
	int i, j;

	for (i = 0; i < command->ngiven; i++) {
		option = command->given[i].option;
		for (j = 0; j < i && command->given[j].option != option; j++)
			continue;
		if (j == i || may_repeat(option, command->verb))
			continue;
		fprintf(stderr, "tenon: %s is given twice\n", option->name);
		return false;
	}
	for (i = 0; i < n; i++)
		if (contradictions[i].verb == command->verb &&
		    command_value(command, contradictions[i].one) &&
		    command_value(command, contradictions[i].other)) {
			fprintf(stderr, "tenon %s: %s and %s do not go "
				"together: %s\n", verbs[command->verb].name,
				contradictions[i].one, contradictions[i].other,
				contradictions[i].why);
			return false;
		}
	return true;
}

bool command_read(struct command *command, int argc, char **argv)
{
	struct reader r = { command, argc, 2, argv };
	const char *word = argc > 1 ? argv[1] : "help";
	int i;

	*command = (struct command){0};
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		word = "help";
	for (i = 0; i < VERB_COUNT && strcmp(verbs[i].name, word); i++)
		continue;
	if (i == VERB_COUNT)
		return unknown_verb(word);
	command->verb = (enum verb)i;
	command->given = calloc((size_t)argc + 1, sizeof(*command->given));
	command->files = calloc((size_t)argc + 1, sizeof(*command->files));
	if (!command->given || !command->files) {
		fputs("tenon: out of memory\n", stderr);
		command->no_memory = true;
		return false;
	}
	return read_rest(&r) && is_sound(command);
}

void command_free(struct command *command)
{
	free(command->given);
	free(command->files);
}

const char *command_value(const struct command *command, const char *name)
{
	int i;

	for (i = command->ngiven; i-- > 0;)
		if (!strcmp(command->given[i].option->name, name))
			return command->given[i].value;
	return NULL;
}
