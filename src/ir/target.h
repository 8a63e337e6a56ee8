/* What a pass must know of a back end: plain data, filled by the back end. */
#ifndef TN_IR_TARGET_H
#define TN_IR_TARGET_H

#include <stdbool.h>
#include <stdint.h>

struct tn_backend;	/* backends/backend.h */

/* What runs the turns of a `par` loop. */
enum tn_target_par {
	TN_PAR_NONE,	/* nothing: one after the other */
	TN_PAR_THREADS,	/* threads of a CPU, joined behind each loop */
	TN_PAR_GRID	/* a grid of blocks: nothing orders them; the nests of a
			 * kernel follow one another */
};

struct tn_target {
	const struct tn_backend *backend;	/* whose it is; not for passes */
	enum tn_target_par par;
	const char *name;	/* "c:avx512", "c:avx2", "c:generic", "cuda:sm_80" */
	const char *isa;	/* after the colon, or "" */
	int vector_bytes;	/* 64, 32, 16; 0: no vectors */
	int vector_registers;	/* 32, 16 */
	int threads_per_block;	/* CUDA default */
	int64_t shared_bytes;	/* CUDA, a block */
	int64_t stack_bytes;	/* largest @stack allocation of a kernel */
	bool (*claims)(const char *op_name);	/* keep this composite whole? */
};

#endif
