/*
 * The GPUs that the CUDA back end knows.
 *
 * The emitted text is the same for all of them so far; the architecture is
 * what nvcc gets. A block has 48 KiB of shared memory without being asked.
 */
#include "backends/cuda/cuda.h"

#include <string.h>

#define TARGET(arch) \
	{ TN_TARGET_CUDA, TN_PAR_GRID, "cuda:" arch, arch, 0, 0, 256, \
	  48 * 1024, 64 * 1024, NULL }

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
