/*
 * What the files of the verb compare share: two sides, each a file of tensors,
 * an engine, or a module compiled for a target; and what is said of a pair.
 */
#ifndef TN_DRIVER_COMPARE_H
#define TN_DRIVER_COMPARE_H

#include "driver/command.h"

/* ---- Pairs (compare_put.c) ----------------------------------------------- */

struct compare_tolerance {
	double rtol, atol, ulp;
	bool is_given;
};

/* --rtol, --atol, --ulp; false after a report. */
bool compare_tolerance(const struct command *command,
		       struct compare_tolerance *out);
/* How far b is from a, with the tolerance given or of the type. False: their
 * types or shapes differ. */
bool compare_distance(const struct command *command,
		      const struct tenon_tensor *a,
		      const struct tenon_tensor *b,
		      struct tenon_difference *out);
/* The same, told on standard output. TENON_NO: past the tolerance. */
enum tenon_status compare_pair(const struct command *command,
			       const char *name, const struct tenon_tensor *a,
			       const struct tenon_tensor *b);
/* `[1, 2]` of a flat index. */
void compare_put_index(const struct tenon_tensor *t, int64_t at);
/* A number of JSON; null for what it has no word for. */
void compare_put_number(double x);

/* ---- Sides (compare_side.c) ---------------------------------------------- */

enum compare_kind { COMPARE_TENSORS, COMPARE_ENGINE, COMPARE_MODULE };

struct compare_side {
	const char *path;
	enum compare_kind kind;
	const char *target;		/* of a module; NULL: as usual */
	struct tenon_archive *archive;
	struct tenon_module *module;
	struct tenon_engine *engine;
	struct tenon_call *call;
	bool raised;			/* the error flag */
	const struct tenon_value *shown;	/* of a revealed module */
	size_t nshown;
};

enum compare_kind compare_side_kind(const char *path);
/* Opens the file, or makes and runs what it holds; `revealed`: with all values
 * as results. It is to be closed whatever comes of it. */
enum tenon_status compare_side_open(const struct command *command,
				    struct tenon_context *context,
				    bool revealed, struct compare_side *side);
void compare_side_close(struct compare_side *side);
int compare_side_count(const struct compare_side *side);
/* "" for the only one of a .npy. */
const char *compare_side_name(const struct compare_side *side, int i);
enum tenon_status compare_side_get(const struct compare_side *side, int i,
				   struct tenon_tensor *out);
/* Its number; the only one has any name. -1: there is none. */
int compare_side_find(const struct compare_side *side, const char *name);

/* ---- Operator by operator (compare_first.c) ------------------------------ */

/* The first value, in the order of the operators, that differs; tells it. Both
 * sides have been opened, revealed. */
enum tenon_status compare_first(const struct command *command,
				const struct compare_side *a,
				const struct compare_side *b);

#endif
