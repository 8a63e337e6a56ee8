/*
 * The GPUs that the CUDA back end knows.
 *
 * The emitted text is the same for all of them so far; the architecture is
 * what nvcc gets. A block has 48 KiB of shared memory without being asked.
 */
#include "backends/cuda/cuda.h"

#include "backends/backend.h"

#include <string.h>

#define TARGET(arch) \
	{ &tn_backend_cuda, TN_PAR_GRID, "cuda:" arch, arch, 0, 0, 256, \
	  48 * 1024, 64 * 1024, 512 * 1024, NULL, NULL }

static const struct tn_target sm_80 = TARGET("sm_80");
static const struct tn_target sm_90 = TARGET("sm_90");

const struct tn_target *const tn_targets_cuda[] = { &sm_80, &sm_90, NULL };

const struct tn_target *tn_target_cuda(const char *arch)
{
	size_t i;

	if (!arch || !*arch)
		return tn_targets_cuda[0];
	for (i = 0; tn_targets_cuda[i]; i++)
		if (!strcmp(tn_targets_cuda[i]->isa, arch))
			return tn_targets_cuda[i];
	return NULL;
}

/* ---- The row ------------------------------------------------------------ */

static void describe(const struct tn_target *target, struct tn_buf *out)
{
	tn_buf_putf(out, "CUDA for GPUs of %s, or with --emulate",
		    target->isa);
}

static const char *flags(const struct tn_target *target)
{
	return target->isa;
}

static const char *const sources[] = { ".h", ".c", ".cu", ".cpp", NULL };
static const char *const products[] = { "kernels.o", NULL };
static const char glue[] =
	"#define WHY(report) (report).device\n"
	"#define FINI(ctx) @_fini(ctx)\n";

static const struct tn_build native = {
	"$nvcc -arch=& -fmad=false -O3 -w -Xcompiler -fPIC -shared %/@.cu "
	"%/@_host.c %/" TN_BUILD_GLUE " -o %/" TN_BUILD_OBJECT "\n",
	sources, products, glue, "CUDA",
	"name one with --nvcc, or use --emulate, which runs the kernels on "
	"this CPU"
};

static const struct tn_build emulated = {
	"$cxx -std=c++11 -O2 -w -ffp-contract=off -fno-exceptions -fPIC "
	"-I%/emu -I%/emu/include -c %/@_emu.cpp -o %/kernels.o\n"
	"$cc -std=c11 -D_POSIX_C_SOURCE=200809L -O2 -w -fPIC "
	"-I%/emu/include -shared %/@_host.c %/" TN_BUILD_GLUE " %/kernels.o "
	"%/emu/tn_emu_grid.c %/emu/tn_emu_fiber.c %/emu/tn_emu_host.c "
	"-o %/" TN_BUILD_OBJECT " -lm -lpthread\n",
	sources, products, glue, "C",
	"name them with --cc and --cxx, or use --target=ref, which needs none"
};

const struct tn_backend tn_backend_cuda = {
	.name = "cuda", .stage = TN_STAGE_PLACED, .has_weights = true,
	.has_memory = true, .targets = tn_targets_cuda,
	.describe = describe,
	.runs = tn_cuda_has_gpu,
	.elsewhere = "--emulate makes the same kernels run on this CPU",
	.flags = flags, .native = &native, .emulated = &emulated,
	.emit = tn_emit_cuda
};
