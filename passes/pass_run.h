/*
 * What the files of the runner share: pass_text.c reads the pipeline's text,
 * pass_check.c holds the module against what it is said to be, pass_run.c runs.
 */
#ifndef TN_PASSES_PASS_RUN_H
#define TN_PASSES_PASS_RUN_H

#include "passes/pass.h"

/* One entry of the pipeline text. */
struct tn_pass_entry {
	const struct tn_pass *pass;
	char *name, *arguments;
	bool is_closed;		/* its braces */
	int number;		/* in the text, from 0 */
};

/* Cuts the next entry off *text (heap copy); false at the end. */
bool tn_pass_text_next(const struct tn_pass_options *options, char **text,
		       struct tn_pass_entry *entry);
/* All names and options, before anything is changed. TN_USAGE after a
 * report; the text is cut up. */
enum tn_status tn_pass_text_check(struct tn_module *module,
				  const struct tn_pass_options *options,
				  char *text);

/* What the pass needs holds, or is found to hold by the verifiers. */
enum tn_status tn_pass_check_needs(const struct tn_pass_context *context,
				   const struct tn_pass *pass);
/* All properties that the module is said to have. `pass` is the one before;
 * NULL: none yet. What a plug-in's broke is bad input, not our fault. */
enum tn_status tn_pass_check_props(const struct tn_pass_context *context,
				   const struct tn_pass *pass);
/* A pass that says SAME has left the graph as it was at `epoch`. */
enum tn_status tn_pass_check_claim(const struct tn_pass_context *context,
				   enum tn_pass_result result, uint64_t epoch,
				   const char *pass);
/* The analyses that are known are those of the graph as it is. */
enum tn_status tn_pass_check_analyses(const struct tn_pass_context *context,
				      const char *pass);

#endif
