/*
 * What stands beside NAME.c: an example program, a Makefile, a README.
 */
#include "backends/c/c_impl.h"

#include <string.h>

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
"	const char *weights = \"@.weights\";\n"
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
"	if (@_init(&ctx, memory, (size_t)@_WEIGHTS_BYTES) != @_OK) {\n"
"		fprintf(stderr, \"@-run: %s: other weights\\n\", weights);\n"
"		return 3;\n"
"	}\n"
"	ctx.threads = threads;\n"
"	ctx.report = &report;\n"
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
"		       reserve((size_t)@_ARENA_BYTES));\n"
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
"	if (status == @_RAISED)\n"
"		fprintf(stderr, \"@-run: raised at %s\\n\", @_place(report.op));\n"
"	return status == @_RAISED ? 1 : 0;\n"
"}\n";

static void put_show(const struct tn_c *c, struct tn_buf *out, int number)
{
	enum tn_dtype dtype = c->entry->result_types[number]->dtype;
	const char *type = tn_dtypes[dtype].c_storage;

	tn_buf_putf(out, "	case %d:\n		for (k = 0; k < size / "
		    "%d; k++) {\n			%s v;\n\n"
		    "			memcpy(&v, data + k * %d, sizeof v);\n"
		    "			printf(", number,
		    tn_dtype_bytes(dtype), type, tn_dtype_bytes(dtype));
	if (dtype == TN_f32 || dtype == TN_f64)
		tn_buf_putf(out, "\"%%.%dg\\n\", (double)v);\n",
			    dtype == TN_f32 ? 9 : 17);
	else if (tn_emit_held(dtype) == TN_f32)
		tn_buf_put(out, "\"0x%x\\n\", (unsigned)v);\n");
	else if (tn_dtype_is(dtype, TN_KIND_I) || dtype == TN_i4)
		tn_buf_put(out, "\"%lld\\n\", (long long)v);\n");
	else
		tn_buf_put(out, "\"%llu\\n\", (unsigned long long)v);\n");
	tn_buf_put(out, "		}\n		break;\n");
}

/* Bytes of an output before the run has set its run-time dims. */
static void put_most(struct tn_c *c, struct tn_buf *out)
{
	tn_emission_text(out, "/* Room for an output: sizes that the run sets "
			 "are at their most. */\nstatic size_t @_output_most("
			 "int number, int64_t *dims)\n{\n", c->name, 0);
	tn_api_most(&c->host, out);
	tn_emission_text(out, "	return @_output_bytes(number, dims);\n}\n\n",
			 c->name, 0);
}

void tn_c_main(struct tn_c *c, struct tn_buf *out)
{
	int i;

	tn_emission_text(out, main_head, c->name, 0);
	put_most(c, out);
	tn_emission_text(out, "static void show(int number, const int64_t *dims, "
		  "const unsigned char *data)\n{\n	size_t size = "
		  "@_output_bytes(number, dims), k;\n\n"
		  "	printf(\"# %s\\n\", @_output_name(number));\n"
		  "	(void)data;\n	(void)k;\n	(void)size;\n"
		  "	switch (number) {\n", c->name, 0);
	for (i = 0; i < c->entry->nresults; i++)
		put_show(c, out, i);
	tn_buf_put(out, "	default:\n		break;\n	}\n}\n\n");
	tn_emission_text(out, main_body, c->name, 0);
}

static const char makefile_body[] =
"CC ?= cc\n"
"AR ?= ar\n"
"CFLAGS ?= -O3\n"
"OPENMP ?= -fopenmp\n"
"flags = -std=c11 -fno-math-errno -ffp-contract=off -fPIC $(ISA) $(OPENMP) \\\n"
"	$(CFLAGS)\n"
"\n"
"all: lib@.a lib@.so @-run\n"
"\n"
"@.o: @.c @.h\n"
"	$(CC) $(flags) -c @.c\n"
"\n"
"lib@.a: @.o\n"
"	rm -f $%\n"
"	$(AR) rcs $% @.o\n"
"\n"
"# nodelete: threads of OpenMP outlive a dlclose.\n"
"lib@.so: @.o\n"
"	$(CC) $(flags) -shared -Wl,-z,nodelete -o $% @.o -lm\n"
"\n"
"@-run: @_main.c lib@.a\n"
"	$(CC) $(flags) -o $% @_main.c lib@.a -lm\n"
"\n"
"clean:\n"
"	rm -f @.o lib@.a lib@.so @-run\n"
"\n"
".PHONY: all clean\n";

void tn_c_makefile(struct tn_c *c, struct tn_buf *out)
{
	tn_buf_putf(out, "# %s, written by Tenon for %s.\n"
		    "# make ISA= builds for any computer of this kind, "
		    "OPENMP= without threads.\n"
		    "# -ffast-math would change results.\nISA ?= %s\n",
		    c->name, c->target->name, tn_target_c_flags(c->target));
	tn_emission_text(out, makefile_body, c->name, '%');
}

static const char readme[] =
"# @\n"
"\n"
"Written by Tenon. `make` builds `lib@.a`, `lib@.so` and the example\n"
"`@-run`; libc, libm and, if wanted, OpenMP are all that it needs.\n"
"\n"
"| file | holds |\n"
"|---|---|\n"
"| `@.h` | the interface: sizes, `@_init`, `@_run` |\n"
"| `@.c` | one function a kernel, the run function |\n"
"| `@_main.c` | an example program |\n"
"| `@.weights` | weights and constants, if there are any; map it read-only |\n"
"\n"
"C11, and C++ as well: `-x c++` compiles it. `-DTN_PLAIN` avoids vector types.\n"
"The same inputs give the same bits for any number of threads.\n";

void tn_c_readme(struct tn_c *c, struct tn_buf *out)
{
	tn_emission_text(out, readme, c->name, 0);
}
