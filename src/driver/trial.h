/*
 * Asking a program about a module: is this one good, is that one interesting?
 *
 * The command is words parted by blanks; no shell is started. `{}` stands for
 * the file's name, which else comes last.
 */
#ifndef TN_DRIVER_TRIAL_H
#define TN_DRIVER_TRIAL_H

#include "driver/module.h"

struct tn_trial {
	struct tenon_context *context;
	const char **words;	/* of the command, `{}` among them */
	int nwords;
	const char *folder, *path;	/* where the file is put */
	struct tn_arena arena;
	int64_t asked;
};

/* `name` is the file's name. tn_trial_fini is due in any case. */
enum tn_status tn_trial_init(struct tn_trial *trial,
			     struct tenon_context *context,
			     const char *command, const char *name);
void tn_trial_fini(struct tn_trial *trial);
/* Writes the module there and runs the command; *code is its exit. */
enum tn_status tn_trial_module(struct tn_trial *trial,
			       struct tenon_module *module, int *code);
/* The same of a text. */
enum tn_status tn_trial_text(struct tn_trial *trial, const char *text,
			     size_t size, int *code);

#endif
