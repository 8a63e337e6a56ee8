/*
 * Verb compare: the results of two files, or of one module on two targets, held
 * against each other.
 */
#include <string.h>

#include "driver/compare.h"

/* ---- What is compared ---------------------------------------------------- */

/* The n-th --target, or NULL. */
static const char *nth_target(const struct command *command, int n)
{
	int i;

	for (i = 0; i < command->ngiven; i++)
		if (!strcmp(command->given[i].option->name, "--target") &&
		    n-- == 0)
			return command->given[i].value;
	return NULL;
}

/* One module runs in the interpreter and on a target, or on two; two modules
 * on one target each, or both on the same. */
static void pick_targets(const struct command *command,
			 struct compare_side *sides)
{
	const char *first = nth_target(command, 0);
	const char *second = nth_target(command, 1);
	int i;

	if (command->nfiles == 1) {
		sides[0].target = second ? first : "ref";
		sides[1].target = second ? second : first;
		return;
	}
	sides[0].target = first;
	sides[1].target = second ? second : first;
	for (i = 0; i < 2; i++)
		if (sides[i].kind != COMPARE_MODULE)
			sides[!i].target = first;
}

static bool refuse(const char *what, const char *why)
{
	fprintf(stderr, "tenon compare: %s %s\n", what, why);
	return false;
}

/* Only what is compiled takes settings, and only what runs takes inputs. */
static bool fits(const struct command *command,
		 const struct compare_side *sides)
{
	int modules = (sides[0].kind == COMPARE_MODULE) +
		      (sides[1].kind == COMPARE_MODULE);
	int files = (sides[0].kind == COMPARE_TENSORS) +
		    (sides[1].kind == COMPARE_TENSORS);
	int i;

	for (i = 0; i < command->ngiven; i++) {
		const struct option_info *option = command->given[i].option;
		const char *setting = option->setting;

		if (files == 2 && (!strcmp(option->name, "--input") ||
				   !strcmp(option->name, "--dim")))
			return refuse(option->name, "is for what runs, not "
				      "for two files of tensors");
		if (!modules && setting && strcmp(setting, "threads") &&
		    strcmp(setting, "allow-outside"))
			return refuse(option->name, "is for modules; neither "
				      "file is one");
	}
	if (modules == 1 && nth_target(command, 1))
		return refuse("--target", "is given twice, but one file alone "
			      "is a module");
	return true;
}

/* Operators are what --first-divergence goes by. */
static bool has_operators(const struct command *command,
			  const struct compare_side *sides)
{
	int i;

	if (!command_value(command, "--first-divergence"))
		return true;
	for (i = 0; i < 2; i++) {
		if (sides[i].kind != COMPARE_ENGINE)
			continue;
		fprintf(stderr, "tenon compare: %s: an engine has no "
			"operators any more; give the module that it was "
			"built from, or leave out --first-divergence\n",
			sides[i].path);
		return false;
	}
	if (sides[0].kind == COMPARE_TENSORS &&
	    sides[1].kind == COMPARE_TENSORS)
		return refuse("--first-divergence", "needs a module; files of "
			      "tensors have no operators");
	return true;
}

/* ---- Results ------------------------------------------------------------- */

static enum tenon_status absent(const char *path, const char *name)
{
	printf("%s: not in %s\n", name, path);
	return TENON_NO;
}

/* Output i of a, and b's of that name; the only ones need not be called
 * alike. */
static enum tenon_status compare_output(const struct command *command,
					const struct compare_side *a, int i,
					const struct compare_side *b)
{
	const char *name = compare_side_name(a, i);
	int at = compare_side_find(b, name);
	struct tenon_tensor x, y;
	enum tenon_status status;

	if (at < 0 && compare_side_count(a) == 1 && compare_side_count(b) == 1)
		at = 0;
	if (!name[0])
		name = b->archive ? a->path : compare_side_name(b, at < 0 ? 0 :
								at);
	if (at < 0)
		return absent(b->path, name);
	status = compare_side_get(a, i, &x);
	if (status == TENON_OK)
		status = compare_side_get(b, at, &y);
	return status == TENON_OK ? compare_pair(command, name, &x, &y) :
		status;
}

static enum tenon_status compare_all(const struct command *command,
				     const struct compare_side *a,
				     const struct compare_side *b)
{
	enum tenon_status worst = TENON_OK, status;
	int n = compare_side_count(a), i;

	for (i = 0; i < n; i++) {
		status = compare_output(command, a, i, b);
		if (status > worst)
			worst = status;
	}
	for (i = 0; i < compare_side_count(b); i++) {
		if (compare_side_find(a, compare_side_name(b, i)) >= 0 ||
		    (n == 1 && compare_side_count(b) == 1))
			continue;
		status = absent(a->path, compare_side_name(b, i));
		if (status > worst)
			worst = status;
	}
	if (a->raised != b->raised && !a->archive && !b->archive) {
		puts("one side raised the error flag, the other did not");
		return worst > TENON_NO ? worst : TENON_NO;
	}
	return worst;
}

static enum tenon_status with_sides(const struct command *command,
				    struct tenon_context *context,
				    struct compare_side *sides, bool revealed)
{
	enum tenon_status status;

	status = compare_side_open(command, context, revealed, &sides[0]);
	if (status == TENON_OK)
		status = compare_side_open(command, context, revealed,
					   &sides[1]);
	if (status == TENON_OK)
		status = revealed ?
			compare_first(command, &sides[0], &sides[1]) :
			compare_all(command, &sides[0], &sides[1]);
	compare_side_close(&sides[0]);
	compare_side_close(&sides[1]);
	return status;
}

/* Values that agree when each is kept may differ once operators are computed
 * together: the results tell. */
static enum tenon_status by_operator(const struct command *command,
				     struct tenon_context *context,
				     struct compare_side *sides)
{
	enum tenon_status status = with_sides(command, context, sides, true);

	if (status != TENON_OK || sides[0].kind != COMPARE_MODULE ||
	    sides[1].kind != COMPARE_MODULE)
		return status;
	status = with_sides(command, context, sides, false);
	if (status == TENON_NO)
		fprintf(stderr, "tenon compare: results differ only when "
			"operators are computed together; `tenon bisect "
			"--against=ref` finds the rewrite\n");
	return status;
}

enum tenon_status verb_compare(const struct command *command)
{
	struct compare_side sides[2] = {0};
	struct compare_tolerance tolerance;
	struct tenon_context *context;
	enum tenon_status status;
	int i;

	if (!command_files(command, 1, 2) ||
	    !compare_tolerance(command, &tolerance))
		return TENON_USAGE;
	for (i = 0; i < 2; i++) {
		sides[i].path = command->files[command->nfiles == 1 ? 0 : i];
		sides[i].kind = command->nfiles == 1 ? COMPARE_MODULE :
			compare_side_kind(sides[i].path);
	}
	pick_targets(command, sides);
	if (!fits(command, sides) || !has_operators(command, sides))
		return TENON_USAGE;
	context = command_context(command, &status);
	if (!context)
		return status;
	status = command_value(command, "--first-divergence") ?
		by_operator(command, context, sides) :
		with_sides(command, context, sides, false);
	command_end(command, context);
	return status;
}
