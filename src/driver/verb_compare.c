/*
 * Verbs that judge: compare two results, run the tests of modules.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/command.h"

/* ---- Tolerances ------------------------------------------------------------------ */

struct tolerance {
	double rtol, atol, ulp;
	bool is_given;
};

static bool read_tolerance(const struct command *command,
			   struct tolerance *out)
{
	const char *r = command_value(command, "--rtol");
	const char *a = command_value(command, "--atol");
	const char *u = command_value(command, "--ulp");

	*out = (struct tolerance){0};
	out->is_given = r || a || u;
	return (!r || command_number("--rtol", r, &out->rtol)) &&
	       (!a || command_number("--atol", a, &out->atol)) &&
	       (!u || command_number("--ulp", u, &out->ulp));
}

/* What holds unless something was given: integers exactly. */
static struct tolerance tolerance_for(const struct tolerance *given,
				      enum tenon_dtype dtype)
{
	struct tolerance t = *given;

	if (dtype > TENON_BF16)
		return (struct tolerance){0};
	if (given->is_given)
		return t;
	switch ((int)dtype) {
	case TENON_F64:
		t.rtol = t.atol = 1e-9;
		break;
	case TENON_F16:
		t.rtol = t.atol = 1e-2;
		break;
	case TENON_BF16:
		t.rtol = t.atol = 5e-2;
		break;
	default:
		t.rtol = 1e-4;
		t.atol = 1e-5;
	}
	return t;
}

/* ---- One output -------------------------------------------------------------------- */

static void put_index(const struct tenon_tensor *t, int64_t at)
{
	int64_t index[TENON_MAX_RANK];
	int k;

	for (k = t->rank; k-- > 0; at /= t->shape[k])
		index[k] = at % t->shape[k];
	putchar('[');
	for (k = 0; k < t->rank; k++)
		printf("%s%lld", k ? ", " : "", (long long)index[k]);
	putchar(']');
}

static void put_shape(const struct tenon_tensor *t)
{
	int k;

	fputs(tenon_dtype_name(t->dtype), stdout);
	for (k = 0; k < t->rank; k++)
		printf("%s%lld", k ? ", " : "[", (long long)t->shape[k]);
	if (t->rank)
		putchar(']');
}

static void put_text(const char *name, const struct tenon_tensor *t,
		     const struct tenon_difference *d)
{
	printf("%s: ", name);
	put_shape(t);
	if (!d->count) {
		puts(": equal");
		return;
	}
	printf(": %lld of %lld differ, %lld beyond tolerance\n"
	       "  largest: absolute %.3g, relative %.3g, ulp %.0f\n  at ",
	       (long long)d->count, (long long)tenon_tensor_count(t),
	       (long long)d->beyond, d->absolute, d->relative, d->ulp);
	put_index(t, d->where);
	printf(": %.9g and %.9g\n", d->left, d->right);
}

static void json_number(double x)
{
	if (x < 1e300)
		printf("%.9g", x);
	else
		fputs("null", stdout);
}

static void put_json(const char *name, const struct tenon_tensor *t,
		     const struct tenon_difference *d)
{
	fputs("{\"output\":", stdout);
	command_json(stdout, name);
	printf(",\"elements\":%lld,\"differ\":%lld,\"beyond\":%lld,"
	       "\"absolute\":", (long long)tenon_tensor_count(t),
	       (long long)d->count, (long long)d->beyond);
	json_number(d->absolute);
	fputs(",\"relative\":", stdout);
	json_number(d->relative);
	fputs(",\"ulp\":", stdout);
	json_number(d->ulp);
	printf(",\"where\":%lld}\n", (long long)d->where);
}

static enum tenon_status compare_pair(const struct command *command,
				      const char *name,
				      const struct tenon_tensor *a,
				      const struct tenon_tensor *b)
{
	struct tolerance given, t;
	struct tenon_difference d;

	if (!read_tolerance(command, &given))
		return TENON_USAGE;
	t = tolerance_for(&given, a->dtype);
	if (!tenon_tensor_compare(a, b, t.rtol, t.atol, t.ulp, &d)) {
		printf("%s: ", name);
		put_shape(a);
		fputs(" against ", stdout);
		put_shape(b);
		putchar('\n');
		return TENON_NO;
	}
	if (command_value(command, "--json"))
		put_json(name, a, &d);
	else
		put_text(name, a, &d);
	return d.beyond ? TENON_NO : TENON_OK;
}

/* ---- Two files ---------------------------------------------------------------------- */

static enum tenon_status compare_files(const struct command *command,
				       struct tenon_context *context)
{
	struct tenon_archive *a = NULL, *b = NULL;
	const char *name;
	struct tenon_tensor x, y;
	enum tenon_status status, worst = TENON_OK;
	size_t i;

	status = tenon_archive_open(context, command->files[0], &a);
	if (status == TENON_OK)
		status = tenon_archive_open(context, command->files[1], &b);
	for (i = 0; status == TENON_OK && i < tenon_archive_count(a); i++) {
		name = tenon_archive_name(a, i);
		status = tenon_archive_find(a, name, &x);
		if (status == TENON_OK)
			status = tenon_archive_find(b, name, &y);
		if (status == TENON_OK) {
			status = compare_pair(command, name[0] ? name :
					      command->files[0], &x, &y);
			if (status == TENON_NO) {
				worst = TENON_NO;
				status = TENON_OK;
			}
		}
	}
	if (status == TENON_OK && tenon_archive_count(b) >
	    tenon_archive_count(a)) {
		printf("%s holds more tensors than %s\n", command->files[1],
		       command->files[0]);
		worst = TENON_NO;
	}
	tenon_archive_close(a);
	tenon_archive_close(b);
	return status == TENON_OK ? worst : status;
}

/* ---- Two targets ---------------------------------------------------------------------- */

struct side {
	struct tenon_module *module;
	struct tenon_engine *engine;
	struct tenon_call *call;
	bool raised;
};

static enum tenon_status run_side(const struct command *command,
				  struct tenon_context *context,
				  const char *target, struct side *side)
{
	enum tenon_status status = tenon_context_set(context, "target",
						     target);

	if (status == TENON_OK)
		status = command_engine(command, context, command->files[0],
					&side->module, &side->engine);
	if (status == TENON_OK)
		status = tenon_call_new(side->engine, &side->call);
	if (status == TENON_OK)
		status = command_inputs(command, side->call);
	if (status == TENON_OK)
		status = tenon_call_run(side->call);
	side->raised = status == TENON_NO;
	return side->raised ? TENON_OK : status;
}

static void end_side(struct side *side)
{
	tenon_call_free(side->call);
	tenon_engine_free(side->engine);
	tenon_module_free(side->module);
}

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

static enum tenon_status compare_sides(const struct command *command,
				       const struct side *a,
				       const struct side *b)
{
	enum tenon_status worst = TENON_OK, status;
	int n = tenon_engine_outputs(a->engine), i;

	for (i = 0; i < n; i++) {
		status = compare_pair(command, tenon_engine_output_name(
				      a->engine, i),
				      tenon_call_output(a->call, i),
				      tenon_call_output(b->call, i));
		if (status > worst)
			worst = status;
	}
	if (a->raised != b->raised) {
		puts("one target raised the error flag, the other did not");
		return TENON_NO;
	}
	return worst;
}

static enum tenon_status compare_targets(const struct command *command,
					 struct tenon_context *context)
{
	const char *first = nth_target(command, 0);
	const char *second = nth_target(command, 1);
	struct side a = {0}, b = {0};
	enum tenon_status status;

	if (!second) {
		second = first ? first : "c";
		first = "ref";
	}
	status = run_side(command, context, first, &a);
	if (status == TENON_OK)
		status = run_side(command, context, second, &b);
	if (status == TENON_OK)
		status = compare_sides(command, &a, &b);
	end_side(&a);
	end_side(&b);
	return status;
}

/* Of two files there is nothing to run. */
static bool is_for_files(const struct command *command)
{
	int i;

	for (i = 0; i < command->ngiven; i++) {
		const char *name = command->given[i].option->name;

		if (strcmp(name, "--input") && strcmp(name, "--dim") &&
		    strcmp(name, "--target"))
			continue;
		fprintf(stderr, "tenon compare: %s is for one module on two "
			"targets, not for two files\n", name);
		return false;
	}
	return true;
}

enum tenon_status verb_compare(const struct command *command)
{
	struct tenon_context *context;
	struct tolerance tolerance;
	enum tenon_status status;

	if (!command_files(command, 1, 2) ||
	    !read_tolerance(command, &tolerance) ||
	    (command->nfiles == 2 && !is_for_files(command)))
		return TENON_USAGE;
	context = command_context(command, &status);
	if (!context)
		return status;
	status = command->nfiles == 2 ? compare_files(command, context) :
		compare_targets(command, context);
	command_end(command, context);
	return status;
}

/* ---- test -------------------------------------------------------------------------------- */

struct tally {
	const struct command *command;
	const char *file;
	int passed, failed;
};

static void count(void *data, const struct tenon_test *test)
{
	struct tally *tally = data;

	if (test->passed)
		tally->passed++;
	else
		tally->failed++;
	if (command_value(tally->command, "--json")) {
		fputs("{\"file\":", stdout);
		command_json(stdout, tally->file);
		fputs(",\"test\":", stdout);
		command_json(stdout, test->name);
		printf(",\"target\":\"%s\",\"passed\":%s", test->target,
		       test->passed ? "true" : "false");
		if (test->why) {
			fputs(",\"why\":", stdout);
			command_json(stdout, test->why);
		}
		puts("}");
		return;
	}
	printf("%s %s: %s (%s)\n", test->passed ? "pass" : "FAIL",
	       tally->file, test->name, test->target);
	if (test->why)
		printf("     %s\n", test->why);
}

static enum tenon_status test_one(struct tally *tally)
{
	struct tenon_module *module = NULL;
	struct tenon_context *context;
	enum tenon_status status;

	context = command_context(tally->command, &status);
	if (!context)
		return status;
	status = tenon_parse_file(context, tally->file, &module);
	if (status == TENON_OK)
		status = tenon_module_test(module, count, tally);
	tenon_module_free(module);
	command_end(tally->command, context);
	return status;
}

enum tenon_status verb_test(const struct command *command)
{
	struct tally tally = { .command = command };
	enum tenon_status status = TENON_OK, one;
	int i;

	if (!command_files(command, 1, -1))
		return TENON_USAGE;
	for (i = 0; i < command->nfiles; i++) {
		tally.file = command->files[i];
		one = test_one(&tally);
		if (one > status)
			status = one;
	}
	if (!command_value(command, "--json"))
		printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return status;
}
