/*
 * Help, manual page and completion, from the table options.def.
 */
#include <string.h>

#include "driver/options.h"
#include "driver/tenon.h"

#define WIDTH 78

/* Text broken into lines of WIDTH, from `column`, indented by `indent`. */
static void put_wrapped(FILE *to, const char *text, int column, int indent)
{
	while (*text) {
		int len = (int)strcspn(text, " ");

		if (column > indent && column + 1 + len > WIDTH) {
			fprintf(to, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", len, text);
		column += len;
		text += len;
		text += strspn(text, " ");
	}
	fputc('\n', to);
}

static void put_option(FILE *to, const struct option_info *option)
{
	char head[80];
	int n;

	n = snprintf(head, sizeof(head), "  %s%c%s%s%s%s",
		     option->letter ? "-" : "  ",
		     option->letter ? option->letter : ' ',
		     option->letter ? ", " : " ", option->name,
		     option->argument[0] ? "=" : "", option->argument);
	fprintf(to, "%-26s", head);
	if (n > 25)
		fprintf(to, "\n%26s", "");
	put_wrapped(to, option->help, 26, 26);
}

void help_verb(FILE *to, enum verb verb)
{
	int i;

	fprintf(to, "usage: tenon %s [OPTION...] %s\n\n", verbs[verb].name,
		verbs[verb].arguments);
	put_wrapped(to, verbs[verb].details, 0, 0);
	fputc('\n', to);
	for (i = 0; i < noptions; i++)
		if (options[i].verbs & 1u << verb)
			put_option(to, &options[i]);
}

void help_all(FILE *to)
{
	int i;

	fputs("usage: tenon VERB [OPTION...] [ARGUMENT...]\n\n", to);
	for (i = 0; i < VERB_COUNT; i++)
		fprintf(to, "  %-11s %s\n", verbs[i].name, verbs[i].summary);
	fputs("\n`tenon help VERB` describes one. Exit: 0 yes, 1 no, "
	      "2 usage, 3 bad input,\n4 unsupported, 5 compiler failed, "
	      "6 files or memory, 70 fault of Tenon.\n", to);
}

/* ---- Manual page ------------------------------------------------------------ */

/* roff: hyphens and leading dots are written out. */
static void put_roff(FILE *to, const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", to);
	for (; *text; text++) {
		if (*text == '-')
			fputs("\\-", to);
		else if (*text == '\\')
			fputs("\\e", to);
		else
			fputc(*text, to);
	}
}

static void man_option(FILE *to, const struct option_info *option)
{
	fputs(".TP\n.B ", to);
	if (option->letter)
		fprintf(to, "\\-%c, ", option->letter);
	put_roff(to, option->name);
	if (option->argument[0])
		fprintf(to, "=\\fI%s\\fR", option->argument);
	fputc('\n', to);
	put_roff(to, option->help);
	fputs("\n(", to);
	if (option->verbs == (1u << VERB_COUNT) - 1) {
		fputs("all verbs", to);
	} else {
		int i, n = 0;

		for (i = 0; i < VERB_COUNT; i++)
			if (option->verbs & 1u << i)
				fprintf(to, "%s%s", n++ ? ", " : "",
					verbs[i].name);
	}
	fputs(")\n", to);
}

void help_man(FILE *to)
{
	int i;

	fputs(".TH TENON 1 \"\" \"Tenon " TENON_VERSION "\"\n"
	      ".SH NAME\ntenon \\- compiler for tensor graphs\n"
	      ".SH SYNOPSIS\n", to);
	for (i = 0; i < VERB_COUNT; i++) {
		fprintf(to, ".B tenon %s\n[OPTION...] ", verbs[i].name);
		put_roff(to, verbs[i].arguments);
		fputs("\n.br\n", to);
	}
	fputs(".SH DESCRIPTION\nTenon reads tensor graphs as text, shows "
	      "what is wrong with them, compiles them to C or CUDA C and runs "
	      "them.\n"
	      ".SH VERBS\n", to);
	for (i = 0; i < VERB_COUNT; i++) {
		fprintf(to, ".TP\n.B %s\n", verbs[i].name);
		put_roff(to, verbs[i].summary);
		fputs(".\n", to);
		put_roff(to, verbs[i].details);
		fputc('\n', to);
	}
	fputs(".SH OPTIONS\n", to);
	for (i = 0; i < noptions; i++)
		man_option(to, &options[i]);
	fputs(".SH EXIT STATUS\n"
	      "0 yes, 1 no (mismatch, not formatted, test failed), 2 usage, "
	      "3 bad input, 4 unsupported, 5 an external compiler failed, "
	      "6 files or memory, 70 a fault of Tenon.\n"
	      ".SH ENVIRONMENT\n.TP\n.B NO_COLOR\nno colour in messages\n"
	      ".TP\n.B XDG_CACHE_HOME\nwhere compiled objects are kept, in "
	      "the folder tenon; else ~/.cache\n", to);
}

/* ---- Completion -------------------------------------------------------------- */

void help_completion(FILE *to)
{
	int i, k;

	fputs("# bash completion of tenon: source this file\n"
	      "_tenon() {\n\tlocal cur=${COMP_WORDS[COMP_CWORD]} words=\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\twords='", to);
	for (i = 0; i < VERB_COUNT; i++)
		fprintf(to, "%s%s", i ? " " : "", verbs[i].name);
	fputs("'\n\telse\n\t\tcase ${COMP_WORDS[1]} in\n", to);
	for (i = 0; i < VERB_COUNT; i++) {
		fprintf(to, "\t\t%s) words='", verbs[i].name);
		for (k = 0; k < noptions; k++)
			if (options[k].verbs & 1u << i)
				fprintf(to, "%s%s ", options[k].name,
					options[k].argument[0] ? "=" : "");
		if (i == VERB_list)
			fputs("passes ops targets codes dtypes facts", to);
		fputs("' ;;\n", to);
	}
	fputs("\t\tesac\n\tfi\n"
	      "\tcase $cur in\n"
	      "\t-*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
	      "\t*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")"
	      " $(compgen -f -- \"$cur\")) ;;\n\tesac\n}\n"
	      "complete -o filenames -o nospace -F _tenon tenon\n", to);
}
