/*
 * The CUDA back end: a lowered, placed entry as CUDA kernels and a host
 * program in plain C.
 *
 * In: launches, constants, views, flow, as for the C back end. Out: a folder:
 * NAME.h (the interface of the C back end and a little more), NAME.cu (the
 * kernels), NAME_host.c, Makefile, README, the side file of weights, and the
 * stand-in (NAME_emu.cpp, emu/), with which the same texts run on a CPU. The
 * same input gives the same bytes on every run and host.
 */
#ifndef TN_BACKENDS_CUDA_H
#define TN_BACKENDS_CUDA_H

#include "backends/emission.h"
#include "base/status.h"
#include "ir/graph.h"
#include "ir/target.h"

/* Emits `entry` under `name` (any text; made an identifier). Reports to the
 * module's sink. `out` is fresh memory; tn_emission_fini is due in any case.
 * TN_UNSUPPORTED (E0906: a schedule that no grid can follow), TN_BAD_INPUT (a
 * weight without data), TN_IO (memory). */
enum tn_status tn_emit_cuda(const struct tn_module *module,
			    const struct tn_fn *entry, const char *name,
			    const struct tn_target *target,
			    struct tn_emission *out);

/* Targets: "sm_80", "sm_90"; NULL or "": the first. NULL: no such one. */
const struct tn_target *tn_target_cuda(const char *arch);
/* gpu.c: whether there is a GPU for the architecture "sm_NN"; if not, why. */
bool tn_cuda_has_gpu(const char *arch, struct tn_buf *why);
/* All targets, ends with NULL. */
extern const struct tn_target *const tn_targets_cuda[];

#endif
