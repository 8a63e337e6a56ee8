/*
 * What the verbs of the command share. They use tenon.h alone: whatever the
 * command does, another C program can do.
 */
#ifndef TN_DRIVER_COMMAND_H
#define TN_DRIVER_COMMAND_H

#include "driver/options.h"
#include "driver/tenon.h"

/* A context with the settings that were given; NULL with *status after a
 * report. */
struct tenon_context *command_context(const struct command *command,
				      enum tenon_status *status);
/* Prints the context's messages to stderr as --diag and the terminal ask,
 * frees the context. */
void command_end(const struct command *command,
		 struct tenon_context *context);
/* Complains about the number of arguments unless it is in [least, most]. */
bool command_files(const struct command *command, int least, int most);
/* The file name with another ending, or none; to be freed. NULL: memory. */
char *command_rename(const char *path, const char *ending);
/* Writes `text` as a JSON string. */
void command_json(FILE *to, const char *text);
/* `f32[2, 3]`. */
void command_type(FILE *to, const struct tenon_tensor *t);
/* Parses NAME=REST: a copy of NAME (to be freed) and REST. Reports what is
 * wrong; *name is NULL then. */
enum tenon_status command_split(const struct option_info *option,
				const char *text, char **name,
				const char **rest);
/* A whole number; false after a report. */
bool command_integer(const char *name, const char *text, int64_t *out);
/* A number from 0; false after a report. */
bool command_number(const char *name, const char *text, double *out);
/* Whether a path has this ending. */
bool command_ends_with(const char *path, const char *ending);
/* Ends the file of --events, if one is open; false after a report. */
bool command_events_close(const struct command *command);
/* Prints what --time-passes asked for. */
enum tenon_status command_timing(const struct command *command,
				 const struct tenon_module *module);

enum tenon_status verb_check(const struct command *command);
enum tenon_status verb_fmt(const struct command *command);
enum tenon_status verb_import(const struct command *command);
enum tenon_status verb_opt(const struct command *command);
enum tenon_status verb_emit(const struct command *command);
enum tenon_status verb_build(const struct command *command);
enum tenon_status verb_run(const struct command *command);
enum tenon_status verb_compare(const struct command *command);
enum tenon_status verb_test(const struct command *command);
enum tenon_status verb_check_rules(const struct command *command);
enum tenon_status verb_bisect(const struct command *command);
enum tenon_status verb_reduce(const struct command *command);
enum tenon_status verb_list(const struct command *command);
enum tenon_status verb_explain(const struct command *command);
enum tenon_status verb_report(const struct command *command);
enum tenon_status verb_help(const struct command *command);

/* Runs: what -i and --dim say, given to a call. */
enum tenon_status command_inputs(const struct command *command,
				 struct tenon_call *call);
/* The engine of a file: an engine as it is, a module compiled. *module (may
 * be NULL) must be freed after the engine. */
enum tenon_status command_engine(const struct command *command,
				 struct tenon_context *context,
				 const char *path,
				 struct tenon_module **module,
				 struct tenon_engine **engine);

#endif
