/*
 * What stands beside NAME.c: an example program, a Makefile, a README.
 */
#include "backends/c/c_impl.h"

#include "backends/emit_main.h"

static const struct tn_main words = {
	.workspace = "reserve((size_t)@_ARENA_BYTES)",
	.device = "", .init_device = "", .end = ""
};

void tn_c_main(struct tn_c *c, struct tn_buf *out)
{
	tn_main_put(&c->host, &words, out);
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
