/*
 * NAME_main.c: reads inputs, runs once, shows the outputs; for every back end
 * with the emitted interface.
 */
#include "backends/emit_main.h"

#include "backends/emission.h"
#include "backends/emit_api.h"
#include "backends/emit_print.h"

static const char main_head[] =
"/*\n"
" * Runs @ once.\n"
" *\n"
" *   @-run [-t THREADS] [-w @.weights] [-d DIM=SIZE].. [INPUT..]\n"
" *\n"
" * Each INPUT is a file of raw row-major elements, in order of the inputs; a\n"
" * missing one is all zeros. Outputs are printed as text, a line an element.\n"
" * Exit status: 0, 1 if the run raised, 2 usage, 3 bad sizes or weights, 6\n"
" * files or memory.\n"
" */\n"
"#include \"@.h\"\n"
"\n"
"#include <stdio.h>\n"
"#include <stdlib.h>\n"
"#include <string.h>\n"
"\n"
"static unsigned char *reserve(size_t size)\n"
"{\n"
"	size_t room = (size + 127) / 64 * 64;\n"
"	void *memory = room < size ? NULL : calloc(room, 1);\n"
"	size_t past = memory == NULL ? 0 : (size_t)(uintptr_t)memory % 64;\n"
"\n"
"	if (memory == NULL) {\n"
"		fprintf(stderr, \"@-run: out of memory\\n\");\n"
"		exit(6);\n"
"	}\n"
"	return (unsigned char *)memory + (past != 0 ? 64 - past : 0);\n"
"}\n"
"\n"
"static void load(const char *path, unsigned char *to, size_t size)\n"
"{\n"
"	FILE *file = fopen(path, \"rb\");\n"
"	size_t got = file == NULL ? 0 : fread(to, 1, size, file);\n"
"	int more = file == NULL ? EOF : fgetc(file);\n"
"\n"
"	if (file == NULL || got != size || more != EOF) {\n"
"		fprintf(stderr, \"@-run: %s: not a file of %lu bytes\\n\", path,\n"
"			(unsigned long)size);\n"
"		exit(6);\n"
"	}\n"
"	(void)fclose(file);\n"
"}\n"
"\n"
"static int set_dim(int64_t *dims, const char *text)\n"
"{\n"
"	const char *equals = strrchr(text, '=');\n"
"	size_t len = equals == NULL ? 0 : (size_t)(equals - text);\n"
"	const char *name;\n"
"	char *end;\n"
"	int i;\n"
"\n"
"	for (i = 0; equals != NULL && (name = @_dim_name(i)) != NULL; i++) {\n"
"		if (strlen(name) == len && strncmp(name, text, len) == 0) {\n"
"			dims[i] = (int64_t)strtoll(equals + 1, &end, 10);\n"
"			return end != equals + 1 && *end == '\\0';\n"
"		}\n"
"	}\n"
"	return 0;\n"
"}\n"
"\n"
"static int usage(void)\n"
"{\n"
"	fprintf(stderr, \"usage: @-run [-t THREADS] [-w FILE] \"\n"
"		\"[-d DIM=SIZE].. [INPUT..]\\n%s\", @_describe());\n"
"	return 2;\n"
"}\n"
"\n";

static const char main_body[] =
"int main(int argc, char **argv)\n"
"{\n"
"	struct @_ctx ctx;\n"
"	struct @_report report;\n"
"	int64_t dims[@_DIMS + 1] = { 0 };\n"
"	const void *inputs[@_INPUTS + 1];\n"
"	void *outputs[@_OUTPUTS + 1];\n"
"	unsigned char *memory;\n"
"	const char *weights = \"@.weights\", *reason;\n"
"	int i, status, threads = 1, first;\n"
"\n"
"	for (first = 1; first + 1 < argc && argv[first][0] == '-'; first += 2) {\n"
"		if (strcmp(argv[first], \"-t\") == 0)\n"
"			threads = (int)strtol(argv[first + 1], NULL, 10);\n"
"		else if (strcmp(argv[first], \"-w\") == 0)\n"
"			weights = argv[first + 1];\n"
"		else if (strcmp(argv[first], \"-d\") != 0 ||\n"
"			 !set_dim(dims, argv[first + 1]))\n"
"			return usage();\n"
"	}\n"
"	if (argc - first > @_INPUTS || (first < argc && argv[first][0] == '-'))\n"
"		return usage();\n"
"	memory = reserve((size_t)@_WEIGHTS_BYTES);\n"
"	if (@_WEIGHTS_BYTES != 0)\n"
"		load(weights, memory, (size_t)@_WEIGHTS_BYTES);\n"
"	status = @_init(&ctx, memory, (size_t)@_WEIGHTS_BYTES);\n";

static const char main_inputs[] =
"	if (status != @_OK) {\n"
"		fprintf(stderr, \"@-run: %s: other weights\\n\", weights);\n"
"		return 3;\n"
"	}\n"
"	ctx.threads = threads;\n"
"	ctx.report = &report;\n";

static const char main_run[] =
"	for (i = 0; i < @_INPUTS; i++) {\n"
"		memory = reserve(@_input_bytes(i, dims));\n"
"		if (first + i < argc)\n"
"			load(argv[first + i], memory, @_input_bytes(i, dims));\n"
"		inputs[i] = memory;\n"
"	}\n"
"	inputs[@_INPUTS] = NULL;\n"
"	for (i = 0; i < @_OUTPUTS; i++)\n"
"		outputs[i] = reserve(@_output_most(i, dims));\n"
"	outputs[@_OUTPUTS] = NULL;\n"
"	status = @_run(&ctx, inputs, dims, outputs,\n"
"		       ";

static const char main_outputs[] =
"	if (status == @_BAD_DIM) {\n"
"		if (@_dim_name(report.fault) != NULL)\n"
"			fprintf(stderr, \"@-run: dim %s = %lld does not fit; \"\n"
"				\"give it with -d\\n%s\", @_dim_name(report.fault),\n"
"				(long long)dims[report.fault], @_describe());\n"
"		else\n"
"			fprintf(stderr, \"@-run: the sizes violate condition %d\"\n"
"				\"\\n%s\", report.fault - @_DIMS, @_describe());\n"
"		return 3;\n"
"	}\n"
"	for (i = 0; i < @_OUTPUTS; i++)\n"
"		show(i, dims, (const unsigned char *)outputs[i]);\n"
"	if (status == @_RAISED) {\n"
"		reason = @_reason(report.op);\n"
"		fprintf(stderr, \"@-run: raised at %s%s%s\\n\",\n"
"			@_place(report.op), reason != NULL ? \": \" : \"\",\n"
"			reason != NULL ? reason : \"\");\n"
"	}\n";

static const char main_end[] =
"	return status == @_RAISED ? 1 : 0;\n"
"}\n";

static void put_show(const struct tn_host *host, struct tn_buf *out, int number)
{
	enum tn_dtype dtype = host->entry->result_types[number]->dtype;
	const char *type = tn_dtypes[dtype].c_storage;

	tn_buf_putf(out, "	case %d:\n		for (k = 0; k < size / "
		    "%d; k++) {\n			%s v;\n\n"
		    "			memcpy(&v, data + k * %d, sizeof v);\n"
		    "			printf(", number,
		    tn_dtype_bytes(dtype), type, tn_dtype_bytes(dtype));
	if (dtype == TN_f32 || dtype == TN_f64)
		tn_buf_putf(out, "\"%%.%dg\\n\", (double)v);\n",
			    dtype == TN_f32 ? 9 : 17);
	else if (tn_dtype_holds(dtype, TN_KIND_F))
		tn_buf_put(out, "\"0x%x\\n\", (unsigned)v);\n");
	else if (tn_dtype_holds(dtype, TN_KIND_I))
		tn_buf_put(out, "\"%lld\\n\", (long long)v);\n");
	else
		tn_buf_put(out, "\"%llu\\n\", (unsigned long long)v);\n");
	tn_buf_put(out, "		}\n		break;\n");
}

/* Bytes of an output before the run has set its run-time dims. */
static void put_most(struct tn_host *host, struct tn_buf *out)
{
	tn_emission_text(out, "/* Room for an output: sizes that the run sets "
			 "are at their most. */\nstatic size_t @_output_most("
			 "int number, int64_t *dims)\n{\n", host->name, 0);
	tn_api_most(host, out);
	tn_emission_text(out, "	return @_output_bytes(number, dims);\n}\n\n",
			 host->name, 0);
}

static const char hook[] =
"static void put(void *data, const char *text, size_t size)\n"
"{\n"
"	(void)fwrite(text, 1, size, (FILE *)data);\n"
"}\n"
"\n"
"static void print(void *data, const struct @_printed *value)\n"
"{\n"
"	@_print_text(value, put, data);\n"
"}\n"
"\n";

static const char set_hook[] =
"	ctx.print = print;\n"
"	ctx.print_data = stderr;\n";

static void put_shows(const struct tn_host *host, struct tn_buf *out)
{
	int i;

	tn_emission_text(out, "static void show(int number, const int64_t "
			 "*dims, const unsigned char *data)\n{\n"
			 "	size_t size = @_output_bytes(number, dims), "
			 "k;\n\n	printf(\"# %s\\n\", "
			 "@_output_name(number));\n	(void)data;\n"
			 "	(void)k;\n	(void)size;\n"
			 "	switch (number) {\n", host->name, 0);
	for (i = 0; i < host->entry->nresults; i++)
		put_show(host, out, i);
	tn_buf_put(out, "	default:\n		break;\n	}\n}\n\n");
}

void tn_main_put(struct tn_host *host, const struct tn_main *words,
		 struct tn_buf *out)
{
	const char *name = host->name;
	bool prints = tn_print_is_used(host);

	tn_emission_text(out, main_head, name, 0);
	put_most(host, out);
	put_shows(host, out);
	if (prints)
		tn_emission_text(out, hook, name, 0);
	tn_emission_text(out, main_body, name, 0);
	tn_emission_text(out, words->init_device, name, 0);
	tn_emission_text(out, main_inputs, name, 0);
	if (prints)
		tn_buf_put(out, set_hook);
	tn_emission_text(out, main_run, name, 0);
	tn_emission_text(out, words->workspace, name, 0);
	tn_buf_put(out, ");\n");
	tn_emission_text(out, words->device, name, 0);
	tn_emission_text(out, main_outputs, name, 0);
	tn_emission_text(out, words->end, name, 0);
	tn_emission_text(out, main_end, name, 0);
}
