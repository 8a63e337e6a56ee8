/*
 * The pipeline's text: "inline,fold{limit=64},...", entry by entry.
 */
#include "passes/pass_run.h"

#include <string.h>

/* The pass named so, of the options or of the list. */
static const struct tn_pass *find(const struct tn_pass_options *options,
				  const char *name)
{
	int i;

	for (i = 0; i < options->nextra; i++)
		if (!strcmp(options->extra[i]->name, name))
			return options->extra[i];
	return tn_pass_find(name);
}

bool tn_pass_text_next(const struct tn_pass_options *options, char **text,
		       struct tn_pass_entry *entry)
{
	char *at = *text;
	int depth = 0;

	while (*at == ',' || *at == ' ')
		at++;
	if (!*at)
		return false;
	entry->name = at;
	entry->arguments = NULL;
	for (; *at && (depth || *at != ','); at++) {
		if (*at == '{' && depth++ == 0) {
			*at = '\0';
			entry->arguments = at + 1;
		} else if (*at == '}' && --depth == 0) {
			*at = '\0';
		} else if (*at == ' ' && !depth) {
			*at = '\0';
		}
	}
	if (*at)
		*at++ = '\0';
	*text = at;
	entry->is_closed = depth == 0;
	entry->pass = find(options, entry->name);
	return true;
}

static const struct tn_span nowhere;

static enum tn_status unknown_pass(struct tn_module *module,
				   const struct tn_pass_options *options,
				   const char *name)
{
	const char *names[64];
	const char *nearest;
	struct tn_diag *diag;
	int i, n = 0;

	for (i = 0; i < tn_npasses && n < 64; i++)
		names[n++] = tn_passes[i].name;
	for (i = 0; i < options->nextra && n < 64; i++)
		names[n++] = options->extra[i]->name;
	nearest = tn_diag_nearest(name, names, (size_t)n);
	diag = tn_diag_report(module->sink, TN_E0851, nowhere,
			      "there is no pass '%s'", name);
	if (nearest)
		tn_diag_help(module->sink, diag, "did you mean '%s'?",
			     nearest);
	else
		tn_diag_help(module->sink, diag,
			     "`tenon list passes` names them all");
	return TN_USAGE;
}

static enum tn_status bad_option(struct tn_module *module,
				 const struct tn_pass_entry *entry)
{
	const char *option = entry->pass->option;
	struct tn_diag *diag;

	diag = tn_diag_report(module->sink, TN_E0851, nowhere,
			      "pass '%s' cannot be given {%s%s",
			      entry->name, entry->arguments ?
			      entry->arguments : "",
			      entry->is_closed ? "}" : "");
	if (entry->pass->takes_text)
		tn_diag_help(module->sink, diag, "write %s{%s}", entry->name,
			     option);
	else if (*option && option[strlen(option) - 1] == '=')
		tn_diag_help(module->sink, diag, "write %s{%sNAME}",
			     entry->name, option);
	else if (*option)
		tn_diag_help(module->sink, diag, "write %s{%s=NUMBER}",
			     entry->name, option);
	else
		tn_diag_help(module->sink, diag, "it has no options");
	return TN_USAGE;
}

#define WORD "abcdefghijklmnopqrstuvwxyz_"

/* True if what stands in the braces is the pass's one option, or its text. */
static bool is_option(const struct tn_pass_entry *entry)
{
	const char *option = entry->pass->option, *at = entry->arguments;
	size_t n = strlen(option);

	if (entry->pass->takes_text)
		return entry->is_closed && at && *at;
	if (!at || !*at)
		return entry->is_closed;
	if (n && option[n - 1] == '=')
		return entry->is_closed && !strncmp(at, option, n) &&
			at[n] && at[n + strspn(at + n, WORD)] == '\0';
	if (!n || strncmp(at, option, n) || at[n] != '=')
		return false;
	at += n + 1;
	n = strspn(at, "0123456789");
	return entry->is_closed && n > 0 && n < 19 && at[n] == '\0';
}

enum tn_status tn_pass_text_check(struct tn_module *module,
				  const struct tn_pass_options *options,
				  char *text)
{
	const char *names[2] = { options->print_after, options->stop_after };
	struct tn_pass_entry entry;
	int i;

	while (tn_pass_text_next(options, &text, &entry)) {
		if (!entry.pass)
			return unknown_pass(module, options, entry.name);
		if (!is_option(&entry))
			return bad_option(module, &entry);
	}
	for (i = 0; i < 2; i++)
		if (names[i] && !find(options, names[i]) &&
		    (i > 0 || strcmp(names[i], "all")))
			return unknown_pass(module, options, names[i]);
	return TN_OK;
}
