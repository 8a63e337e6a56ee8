/*
 * A module in a file of its own, and what a program says of it.
 */
#include "driver/trial.h"

#include <string.h>

#include "base/file.h"
#include "driver/scratch.h"
#include "driver/spawn.h"

/* Cuts the command at its blanks; a word is never empty. */
static bool split(struct tn_trial *trial, const char *command)
{
	char *text = tn_arena_strndup(&trial->arena, command,
				      strlen(command));
	size_t most = strlen(command) / 2 + 3;
	bool has_file = false;
	char *at = text;

	trial->words = tn_arena_array(&trial->arena, most,
				      sizeof(*trial->words));
	if (!text || !trial->words)
		return false;
	for (; *(at += strspn(at, " \t\n")); trial->nwords++) {
		trial->words[trial->nwords] = at;
		at += strcspn(at, " \t\n");
		if (*at)
			*at++ = '\0';
		has_file |= !strcmp(trial->words[trial->nwords], "{}");
	}
	if (!has_file)
		trial->words[trial->nwords++] = "{}";
	return true;
}

enum tn_status tn_trial_init(struct tn_trial *trial,
			     struct tenon_context *context,
			     const char *command, const char *name)
{
	int error, i;

	*trial = (struct tn_trial){ .context = context };
	tn_arena_init(&trial->arena);
	error = tn_scratch_make(&trial->arena, &trial->folder);
	if (error)
		return tn_context_file(context, TN_E0023, "temporary folder",
				       error);
	trial->path = tn_file_join(&trial->arena, trial->folder, name);
	if (!trial->path || !split(trial, command))
		return TN_IO;
	if (trial->nwords < 2) {
		tn_context_report(context, TN_E0004,
				  "the command to ask is empty");
		return TN_USAGE;
	}
	for (i = 0; i < trial->nwords; i++)
		if (!strcmp(trial->words[i], "{}"))
			trial->words[i] = trial->path;
	return TN_OK;
}

void tn_trial_fini(struct tn_trial *trial)
{
	if (trial->folder)
		tn_scratch_drop(trial->folder);
	tn_arena_fini(&trial->arena);
}

static enum tn_status ask(struct tn_trial *trial, int *code)
{
	struct tn_buf output;
	int error;

	tn_buf_init(&output);
	error = tn_spawn(trial->words, &output, code);
	tn_buf_fini(&output);
	trial->asked++;
	return error ? tn_context_file(trial->context, TN_E0002,
				       trial->words[0], error) : TN_OK;
}

enum tn_status tn_trial_module(struct tn_trial *trial,
			       struct tenon_module *module, int *code)
{
	enum tn_status status;

	status = (enum tn_status)tenon_module_save(module, trial->path);
	return status ? status : ask(trial, code);
}

enum tn_status tn_trial_text(struct tn_trial *trial, const char *text,
			     size_t size, int *code)
{
	int error = tn_file_write(trial->path, text, size);

	if (error)
		return tn_context_file(trial->context, TN_E0023, trial->path,
				       error);
	return ask(trial, code);
}
