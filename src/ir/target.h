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

/* What an order of a convolution's operand or result costs, in percent of its
 * bytes: as the axes are, N C H W; channels last; channels in blocks,
 * innermost. */
struct tn_layout_taste {
	int rows, last, blocks;
};

/* Short loops of f32 take half or a quarter of a vector, down to the 16 bytes of
 * any instruction set: so many lanes. */
#define TN_LEAST_LANES 4

/* What kernels of a target like. */
struct tn_target_layouts {
	int block_bytes;	/* of a block of channels; 0: no blocks */
	struct tn_layout_taste dense_in, dense_out;
	struct tn_layout_taste depthwise_in, depthwise_out;
	int weights;		/* percent, if weights lie otherwise than as
				 * the channels of the result */
};

struct tn_target {
	const struct tn_backend *backend;	/* whose; not for passes */
	enum tn_target_par par;
	const char *name;	/* "c:avx512", "c:avx2", "c:generic", "cuda:sm_80" */
	const char *isa;	/* after the colon, or "" */
	int vector_bytes;	/* 64, 32, 16; 0: no vectors */
	int vector_registers;	/* 32, 16 */
	int threads_per_block;	/* CUDA default */
	int64_t shared_bytes;	/* CUDA, a block */
	int64_t stack_bytes;	/* largest @stack allocation of a kernel */
	int64_t near_bytes;	/* that stay close to a core while it works */
	const struct tn_target_layouts *layouts;	/* NULL: all the same */
	bool (*claims)(const char *op_name);	/* keep this composite whole? */
};

#endif
