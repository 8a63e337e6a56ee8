/*
 * What stands beside the host program: the kernels' file, the side file of
 * the stand-in and its sources, a Makefile, a README.
 */
#include "backends/cuda/cuda_impl.h"

#include "backends/emit_main.h"

static const char emu_h[] = {
#include "backends/cuda/emu/tn_emu.h.inc"
};
static const char emu_grid_h[] = {
#include "backends/cuda/emu/tn_emu_grid.h.inc"
};
static const char emu_fiber_h[] = {
#include "backends/cuda/emu/tn_emu_fiber.h.inc"
};
static const char emu_grid_c[] = {
#include "backends/cuda/emu/tn_emu_grid.c.inc"
};
static const char emu_fiber_c[] = {
#include "backends/cuda/emu/tn_emu_fiber.c.inc"
};
static const char emu_host_c[] = {
#include "backends/cuda/emu/tn_emu_host.c.inc"
};
static const char runtime_h[] = {
#include "backends/cuda/emu/include/cuda_runtime.h.inc"
};

static const struct {
	const char *name, *text;
	size_t size;
} stand_in[] = {
	{ "emu/include/cuda_runtime.h", runtime_h, sizeof(runtime_h) - 1 },
	{ "emu/tn_emu.h", emu_h, sizeof(emu_h) - 1 },
	{ "emu/tn_emu_grid.h", emu_grid_h, sizeof(emu_grid_h) - 1 },
	{ "emu/tn_emu_fiber.h", emu_fiber_h, sizeof(emu_fiber_h) - 1 },
	{ "emu/tn_emu_grid.c", emu_grid_c, sizeof(emu_grid_c) - 1 },
	{ "emu/tn_emu_fiber.c", emu_fiber_c, sizeof(emu_fiber_c) - 1 },
	{ "emu/tn_emu_host.c", emu_host_c, sizeof(emu_host_c) - 1 }
};

const char *tn_cuda_stand_in(int number, const char **text, size_t *size)
{
	if (number < 0 ||
	    (size_t)number >= sizeof(stand_in) / sizeof(*stand_in))
		return NULL;
	*text = stand_in[number].text;
	*size = stand_in[number].size;
	return stand_in[number].name;
}

void tn_cuda_device_file(struct tn_cuda *c, struct tn_buf *out)
{
	tn_buf_putf(out, "/*\n * The kernels of %s, written by Tenon for "
		    "%s.\n *\n * To be compiled with -fmad=false: products "
		    "and sums round one by one, except\n * where tn_mac_* "
		    "says so.\n */\n#include <stdint.h>\n\n", c->name,
		    c->target->name);
	tn_prelude_print(out, &c->device_need, &c->device);
	tn_buf_put(out, tn_buf_text(&c->text));
	while (out->len > 1 && out->data[out->len - 2] == '\n')
		out->data[--out->len] = 0;
}

void tn_cuda_side_file(const struct tn_cuda *c, struct tn_buf *out)
{
	const struct tn_cuda_kernel *info;
	const struct tn_cuda_piece *piece;
	size_t i, k;

	tn_buf_putf(out, "/* The kernels of %s for the CPU: see emu/tn_emu.h. "
		    "*/\n#include \"tn_emu.h\"\n#include \"%s.cu\"\n",
		    c->name, c->name);
	for (i = 0; i < c->kernels.list.len; i++) {
		info = tn_vec_ptr(&c->kernels.list, i);
		for (k = 0; k < info->pieces.len; k++) {
			piece = tn_vec_ptr(&info->pieces, k);
			tn_buf_putf(out, "TN_EMU_KERNEL(%s)\n", piece->name);
		}
	}
}

static const struct tn_main words = {
	.workspace = "NULL",
	.init_device =
"	if (status == @_DEVICE) {\n"
"		fprintf(stderr, \"@-run: CUDA failed: there is no GPU, or \"\n"
"			\"too little memory on it\\n\");\n"
"		return 6;\n"
"	}\n",
	.device =
"	if (status == @_DEVICE) {\n"
"		fprintf(stderr, \"@-run: CUDA: %s\\n\", report.device);\n"
"		return 6;\n"
"	}\n",
	.end = "	@_fini(&ctx);\n"
};

void tn_cuda_main(struct tn_cuda *c, struct tn_buf *out)
{
	tn_main_put(&c->host, &words, out);
}

static const char makefile[] =
"# make        lib@.so and @-run, with nvcc; ARCH=sm_90 for another GPU\n"
"# make emu    lib@_emu.so and @-run-emu, the same kernels on this CPU, without\n"
"#             CUDA\n"
"NVCC ?= nvcc\n"
"CC ?= cc\n"
"CXX ?= c++\n"
"CFLAGS ?= -O2\n"
"CXXFLAGS ?= -O2\n"
"# Where cuda_runtime.h is found.\n"
"CUDA_INCLUDE ?= $(dir $(shell command -v $(NVCC)))../include\n"
"\n"
"emulated = emu/@_host.o emu/@_emu.o emu/tn_emu_grid.o emu/tn_emu_fiber.o \\\n"
"	emu/tn_emu_host.o\n"
"c_emulated = $(CC) -std=c11 -D_POSIX_C_SOURCE=200809L $(CFLAGS) -fPIC -Iemu/include\n"
"\n"
"all: lib@.so @-run\n"
"emu: lib@_emu.so @-run-emu\n"
"\n"
"# The libraries are looked for beside the programs.\n"
"@-run: @_main.c @.h lib@.so\n"
"	$(CC) -std=c11 $(CFLAGS) -o $% @_main.c -L. -l@ '-Wl,-rpath,$$ORIGIN'\n"
"\n"
"@-run-emu: @_main.c @.h lib@_emu.so\n"
"	$(CC) -std=c11 $(CFLAGS) -o $% @_main.c -L. -l@_emu '-Wl,-rpath,$$ORIGIN'\n"
"\n"
"lib@.so: @.o @_host.o\n"
"	$(NVCC) -arch=$(ARCH) -shared -o $% @.o @_host.o\n"
"\n"
"@.o: @.cu\n"
"	$(NVCC) -arch=$(ARCH) -fmad=false -O3 -Xcompiler -fPIC -c -o $% @.cu\n"
"\n"
"@_host.o: @_host.c @.h\n"
"	$(CC) -std=c11 $(CFLAGS) -fPIC -isystem $(CUDA_INCLUDE) -c -o $% "
"@_host.c\n"
"\n"
"lib@_emu.so: $(emulated)\n"
"	$(CC) -shared -o $% $(emulated) -lm -lpthread\n"
"\n"
"emu/@_emu.o: @_emu.cpp @.cu emu/tn_emu.h\n"
"	$(CXX) -std=c++11 $(CXXFLAGS) -ffp-contract=off -fno-exceptions -fPIC \\\n"
"	    -Iemu -Iemu/include -c -o $% @_emu.cpp\n"
"\n"
"emu/@_host.o: @_host.c @.h emu/include/cuda_runtime.h\n"
"	$(c_emulated) -c -o $% @_host.c\n"
"\n"
"emu/tn_emu_grid.o: emu/tn_emu_grid.c\n"
"	$(c_emulated) -c -o $% emu/tn_emu_grid.c\n"
"emu/tn_emu_fiber.o: emu/tn_emu_fiber.c\n"
"	$(c_emulated) -c -o $% emu/tn_emu_fiber.c\n"
"emu/tn_emu_host.o: emu/tn_emu_host.c\n"
"	$(c_emulated) -c -o $% emu/tn_emu_host.c\n"
"\n"
"clean:\n"
"	rm -f *.o emu/*.o lib@.so lib@_emu.so @-run @-run-emu\n"
"\n"
".PHONY: all emu clean\n";

void tn_cuda_makefile(const struct tn_cuda *c, struct tn_buf *out)
{
	tn_buf_putf(out, "# %s, written by Tenon for %s.\nARCH ?= %s\n",
		    c->name, c->target->name, c->target->isa);
	tn_emission_text(out, makefile, c->name, '%');
}

static const char readme[] =
"# @\n"
"\n"
"Written by Tenon. `make` builds `lib@.so` with nvcc for a GPU; `make emu` builds\n"
"`lib@_emu.so` with a C and a C++ compiler alone: the same kernels and the same\n"
"host program on the CPU, slow, to see and debug them without a GPU.\n"
"\n"
"| file | holds |\n"
"|---|---|\n"
"| `@.h` | the interface: sizes, `@_init`, `@_run`, `@_run_device` |\n"
"| `@.cu` | the kernels; the comment above each is what it computes |\n"
"| `@_host.c` | plain C: checks, launches in order, copies |\n"
"| `@_main.c` | an example program, `@-run` or `@-run-emu` |\n"
"| `@.weights` | weights and constants, if there are any |\n"
"| `@_emu.cpp`, `emu/` | the stand-in for CUDA |\n"
"\n"
"Compile kernels with `-fmad=false`, and without `-use_fast_math`: either changes\n"
"results. Kernels and host program must be linked into the same program or\n"
"library. The same inputs give the same bits on every run.\n";

void tn_cuda_readme(const struct tn_cuda *c, struct tn_buf *out)
{
	tn_emission_text(out, readme, c->name, 0);
}
