/*
 * Verb run: inputs and dims to a call, outputs to the terminal or to files.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "driver/command.h"

/* What compiling would ask for has no say in what is compiled. */
static bool is_for_engine(const struct command *command, const char *path)
{
	int i;

	for (i = 0; i < command->ngiven; i++) {
		const struct option_info *option = command->given[i].option;

		if (!option->setting || !strcmp(option->setting, "threads") ||
		    !strcmp(option->setting, "allow-outside"))
			continue;
		if (!strcmp(option->setting, "target"))
			fprintf(stderr, "tenon: %s: an engine runs on the "
				"target it was built for; leave out "
				"--target\n", path);
		else
			fprintf(stderr, "tenon: %s: an engine is compiled "
				"already; leave out %s\n", path,
				option->name);
		return false;
	}
	return true;
}

enum tenon_status command_engine(const struct command *command,
				 struct tenon_context *context,
				 const char *path,
				 struct tenon_module **module,
				 struct tenon_engine **engine)
{
	enum tenon_status status, timed;

	*module = NULL;
	*engine = NULL;
	if (tenon_engine_is(path))
		return is_for_engine(command, path) ?
			tenon_engine_load(context, path, engine) : TENON_USAGE;
	status = tenon_parse_file(context, path, module);
	if (status == TENON_OK)
		status = tenon_engine_make(*module, engine);
	if (!*module)
		return status;
	timed = command_timing(command, *module);
	return status == TENON_OK ? timed : status;
}

/* ---- Inputs ------------------------------------------------------------------- */

static enum tenon_status give_input(struct tenon_call *call,
				    const struct given *given)
{
	enum tenon_status status;
	const char *value;
	char *name;

	if (given->value[0] == '@')
		return tenon_call_input_text(call, NULL, given->value);
	status = command_split(given->option, given->value, &name, &value);
	if (status == TENON_OK)
		status = tenon_call_input_text(call, name, value);
	free(name);
	return status;
}

static enum tenon_status give_dim(struct tenon_call *call,
				  const struct given *given)
{
	const char *value;
	char *name;
	enum tenon_status status = command_split(given->option, given->value,
						 &name, &value);
	int64_t number;

	if (status != TENON_OK)
		return status;
	status = command_integer("--dim", value, &number) ?
		tenon_call_dim(call, name, number) : TENON_USAGE;
	free(name);
	return status;
}

/* Whether an option before number `at` gave a value of the same name. */
static bool is_given_twice(const struct command *command, int at)
{
	const struct given *given = &command->given[at];
	size_t len = strcspn(given->value, "=");
	int i;

	if (given->value[0] == '@')
		len = strlen(given->value);
	else if (!given->value[len])
		return false;
	for (i = 0; i < at; i++)
		if (command->given[i].option == given->option &&
		    !strncmp(command->given[i].value, given->value, len + 1))
			break;
	if (i == at)
		return false;
	fprintf(stderr, "tenon: %s %.*s is given twice\n",
		given->option->name, (int)len, given->value);
	return true;
}

static bool may_repeat(const struct given *given)
{
	return !strcmp(given->option->name, "--input") ||
	       !strcmp(given->option->name, "--dim");
}

enum tenon_status command_inputs(const struct command *command,
				 struct tenon_call *call)
{
	enum tenon_status status = TENON_OK;
	int i;

	for (i = 0; i < command->ngiven; i++)
		if (may_repeat(&command->given[i]) &&
		    is_given_twice(command, i))
			return TENON_USAGE;
	for (i = 0; i < command->ngiven && status == TENON_OK; i++) {
		const struct given *given = &command->given[i];

		if (!strcmp(given->option->name, "--input"))
			status = give_input(call, given);
		else if (!strcmp(given->option->name, "--dim"))
			status = give_dim(call, given);
	}
	return status;
}

/* ---- Outputs ------------------------------------------------------------------- */

struct outputs {
	const struct command *command;
	struct tenon_context *context;
	const struct tenon_engine *engine;
	const struct tenon_call *call;
	bool any;		/* -o was given */
};

static enum tenon_status no_memory(void)
{
	fputs("tenon: out of memory\n", stderr);
	return TENON_IO;
}

/* The file in what -o says: behind the last `=@`, or all of it. */
static const char *file_of(const char *text)
{
	const char *at;

	while ((at = strstr(text, "=@")))
		text = at + 2;
	return text;
}

/* An output goes to one file, and a file takes what one -o says. */
static bool are_apart(const struct command *command)
{
	const struct given *given = command->given;
	int i, j;

	for (i = 0; i < command->ngiven; i++)
		for (j = 0; j < i; j++) {
			const char *a = given[j].value, *b = given[i].value;
			size_t n = (size_t)(file_of(a) - a);

			if (given[i].option != given[j].option ||
			    strcmp(given[i].option->name, "--output") ||
			    (strcmp(file_of(a), file_of(b)) &&
			     (!n || n != (size_t)(file_of(b) - b) ||
			      strncmp(a, b, n))))
				continue;
			fprintf(stderr, "tenon: -o %s and -o %s: an output "
				"goes to one file, and a file takes one\n", a,
				b);
			return false;
		}
	return true;
}

static int find_output(const struct outputs *o, const char *name)
{
	int i, n = tenon_engine_outputs(o->engine);

	for (i = 0; i < n; i++)
		if (!strcmp(tenon_engine_output_name(o->engine, i), name))
			return i;
	fprintf(stderr, "tenon: there is no output '%s'; there %s:", name,
		n == 1 ? "is" : "are");
	for (i = 0; i < n; i++)
		fprintf(stderr, " %s", tenon_engine_output_name(o->engine,
								i));
	fputc('\n', stderr);
	return -1;
}

static enum tenon_status write_all(struct outputs *o, const char *path)
{
	int n = tenon_engine_outputs(o->engine), i;
	const char **names = calloc((size_t)n + 1, sizeof(*names));
	const struct tenon_tensor **tensors = calloc((size_t)n + 1,
						     sizeof(*tensors));
	enum tenon_status status = TENON_IO;

	for (i = 0; names && tensors && i < n; i++) {
		names[i] = tenon_engine_output_name(o->engine, i);
		tensors[i] = tenon_call_output(o->call, i);
	}
	if (names && tensors)
		status = tenon_tensor_write_all(o->context, path, (size_t)n,
						names, tensors);
	else
		status = no_memory();
	free(names);
	free(tensors);
	return status;
}

static enum tenon_status write_one(struct outputs *o, int i,
				   const char *path)
{
	return tenon_tensor_write(o->context, path,
				  tenon_call_output(o->call, i));
}

/* Whether what stands before the first `=` is an output. */
static bool names_output(const struct outputs *o, const char *text)
{
	int i, n = tenon_engine_outputs(o->engine);
	size_t len = strcspn(text, "=");

	for (i = 0; i < n; i++) {
		const char *name = tenon_engine_output_name(o->engine, i);

		if (strlen(name) == len && !strncmp(name, text, len))
			return true;
	}
	return false;
}

/* NAME=@FILE, FILE.npz, or FILE.npy. */
static enum tenon_status write_given(struct outputs *o,
				     const struct given *given)
{
	const char *text = given->value, *at = strstr(text, "=@"), *next;
	enum tenon_status status = TENON_USAGE;
	char *name;
	int i;

	if (!at && strchr(text, '=') && names_output(o, text)) {
		fprintf(stderr, "tenon: -o %s: a file stands behind `=@`: "
			"%.*s=@%s\n", text, (int)strcspn(text, "="), text,
			strchr(text, '=') + 1);
		return TENON_USAGE;
	}
	if (!at && command_ends_with(text, ".npz"))
		return write_all(o, text);
	if (!at && command_ends_with(text, ".npy") &&
	    tenon_engine_outputs(o->engine) == 1)
		return write_one(o, 0, text);
	if (!at) {
		fprintf(stderr, "tenon: -o is written NAME=@FILE.npy, or "
			"FILE.npz for all outputs, not '%s'\n", text);
		return TENON_USAGE;
	}
	while ((next = strstr(at + 1, "=@")))
		at = next;
	name = calloc((size_t)(at - text) + 1, 1);
	if (!name)
		return no_memory();
	memcpy(name, text, (size_t)(at - text));
	i = find_output(o, name);
	free(name);
	if (i >= 0)
		status = write_one(o, i, at + 2);
	return status;
}

static enum tenon_status show(const struct outputs *o, int i)
{
	const struct tenon_tensor *t = tenon_call_output(o->call, i);
	char *text;

	if (tenon_tensor_print(t, &text) != TENON_OK)
		return no_memory();
	printf("%s: ", tenon_engine_output_name(o->engine, i));
	command_type(stdout, t);
	printf(" =\n%s\n", text);
	tenon_text_free(text);
	return TENON_OK;
}

/* Elements as a flat JSON list; what JSON has no word for is a string. */
static enum tenon_status json_elements(const struct tenon_tensor *t)
{
	struct tenon_tensor one = *t;
	size_t width = (size_t)tenon_dtype_bytes(t->dtype);
	int64_t n = tenon_tensor_count(t), i;
	char *text;

	one.rank = 0;
	for (i = 0; i < n; i++) {
		one.data = (char *)t->data + (size_t)i * width;
		if (tenon_tensor_print(&one, &text) != TENON_OK)
			return no_memory();
		if (i)
			putchar(',');
		if (strchr("-0123456789tf", text[0]) && text[1] != 'i')
			fputs(text, stdout);
		else
			command_json(stdout, text);
		tenon_text_free(text);
	}
	return TENON_OK;
}

static enum tenon_status show_json(const struct outputs *o)
{
	enum tenon_status status = TENON_OK;
	int n = tenon_engine_outputs(o->engine), i, k;

	putchar('{');
	for (i = 0; i < n && status == TENON_OK; i++) {
		const struct tenon_tensor *t = tenon_call_output(o->call, i);

		fputs(i ? ",\n" : "", stdout);
		command_json(stdout, tenon_engine_output_name(o->engine, i));
		printf(":{\"dtype\":\"%s\",\"shape\":[",
		       tenon_dtype_name(t->dtype));
		for (k = 0; k < t->rank; k++)
			printf("%s%lld", k ? "," : "",
			       (long long)t->shape[k]);
		fputs("],\"data\":[", stdout);
		status = json_elements(t);
		fputs("]}", stdout);
	}
	puts("}");
	return status;
}

static enum tenon_status put_outputs(struct outputs *o)
{
	const struct command *command = o->command;
	enum tenon_status status = TENON_OK;
	int n = tenon_engine_outputs(o->engine), i;

	for (i = 0; i < command->ngiven && status == TENON_OK; i++)
		if (!strcmp(command->given[i].option->name, "--output")) {
			o->any = true;
			status = write_given(o, &command->given[i]);
		}
	if (o->any || status != TENON_OK)
		return status;
	if (command_value(command, "--json"))
		return show_json(o);
	for (i = 0; i < n && status == TENON_OK; i++)
		status = show(o, i);
	return status;
}

/* ---- Running ----------------------------------------------------------------------- */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Runs again for about a third of a second and tells the best. */
static enum tenon_status measure(struct tenon_call *call)
{
	enum tenon_status status = TENON_OK;
	double start = now(), best = 1e300, from, took;
	int runs = 0;

	while (status == TENON_OK && runs < 1000 &&
	       (runs < 3 || now() - start < 0.3)) {
		from = now();
		status = tenon_call_run(call);
		took = now() - from;
		if (took < best)
			best = took;
		runs++;
	}
	if (status == TENON_OK)
		fprintf(stderr, "%.3f ms a run (best of %d)\n", 1e3 * best,
			runs);
	return status;
}

static enum tenon_status run_call(struct outputs *o, struct tenon_call *call)
{
	enum tenon_status status = TENON_USAGE, wrote;

	if (are_apart(o->command))
		status = command_inputs(o->command, call);
	if (status == TENON_OK)
		status = tenon_call_run(call);
	if (status == TENON_OK && command_value(o->command, "--time"))
		status = measure(call);
	if (status != TENON_OK && status != TENON_NO)
		return status;
	o->call = call;
	wrote = put_outputs(o);
	return wrote == TENON_OK ? status : wrote;
}

static enum tenon_status run_engine(const struct command *command,
				    struct tenon_context *context,
				    struct tenon_engine *engine)
{
	struct outputs o = { .command = command, .context = context,
			     .engine = engine };
	struct tenon_call *call;
	enum tenon_status status = tenon_call_new(engine, &call);

	if (status == TENON_OK)
		status = run_call(&o, call);
	tenon_call_free(call);
	return status;
}

enum tenon_status verb_run(const struct command *command)
{
	struct tenon_context *context;
	struct tenon_module *module;
	struct tenon_engine *engine;
	enum tenon_status status;

	if (!command_files(command, 1, 1))
		return TENON_USAGE;
	context = command_context(command, &status);
	if (!context)
		return status;
	status = command_engine(command, context, command->files[0], &module,
				&engine);
	if (status == TENON_OK)
		status = run_engine(command, context, engine);
	tenon_engine_free(engine);
	tenon_module_free(module);
	command_end(command, context);
	return status;
}
