/* What the files of the CUDA back end share. */
#ifndef TN_BACKENDS_CUDA_IMPL_H
#define TN_BACKENDS_CUDA_IMPL_H

#include "backends/cuda/cuda.h"
#include "backends/emit.h"
#include "backends/emit_api.h"
#include "backends/emit_launch.h"

/* A launch passes at most 4 KiB of parameters. */
#define TN_CUDA_PARAMS 480
/* Threads of a block. */
#define TN_CUDA_THREADS 1024

/* What a statement of a piece is to the grid. */
enum tn_cuda_role {
	TN_ROLE_PLAIN,		/* the work of one thread */
	TN_ROLE_GRID,		/* a turn is a block */
	TN_ROLE_BLOCK,		/* turns are shared out to the block's threads */
	TN_ROLE_UNIFORM		/* all threads go through it together */
};

/* Statements that one __global__ function does: its launch ends what a
 * kernel's next piece may rely on. */
struct tn_cuda_piece {
	const char *name;	/* of the function */
	const struct tn_kstmt *first;	/* of the kernel's own block */
	int count;		/* of them, @arena allocations apart */
	bool is_parallel;	/* else one thread does all of it */
	const struct tn_kstmt *grid[3];	/* loops by axis, or NULL */
	int threads[3];		/* of a block, by axis; at least 1 */
	struct tn_vec syms;	/* const struct tn_sym * that the body names */
	bool *uses;		/* whether it names each of the parameters */
	struct tn_buf body;
};

/* A kernel of the module as one or more __global__ functions, and a C
 * function that launches them. */
struct tn_cuda_kernel {
	struct tn_launched base;	/* of the launching function */
	struct tn_vec pieces;	/* struct tn_cuda_piece * */
	struct tn_map roles;	/* statement -> (void *)role */
};

struct tn_cuda {
	const struct tn_module *module;
	const struct tn_fn *entry;
	const struct tn_target *target;
	const char *name;
	struct tn_arena *arena;
	struct tn_dialect device, plain;	/* of .cu and of the host */
	struct tn_prelude device_need, host_need;
	struct tn_launch_set kernels;	/* of struct tn_cuda_kernel */
	struct tn_host host;
	struct tn_weights *weights;
	struct tn_buf text;		/* the kernels */
	struct tn_buf launchers;	/* their declarations and launchers */
	struct tn_buf run;		/* steps of a run */
	bool raises;			/* some kernel may */
	enum tn_status status;		/* TN_UNSUPPORTED after a report */
	bool failed;			/* out of memory */
};

/* cuda_shape.c: cuts a kernel into pieces and finds the roles. */
void tn_cuda_shape(struct tn_cuda *c, struct tn_cuda_kernel *info);
enum tn_cuda_role tn_cuda_role(const struct tn_cuda_kernel *info,
			       const struct tn_kstmt *stmt);
/* 0 x, 1 y, 2 z of a loop bound to the grid or a block. */
int tn_cuda_axis(const struct tn_kstmt *loop);
bool tn_cuda_has_barrier(const struct tn_kblock *block);
/* True if a grid always holds all turns of the loop. */
bool tn_cuda_grid_holds(const struct tn_kstmt *loop);
/* Says that the kernel's schedule cannot be followed. */
void tn_cuda_refuse(struct tn_cuda *c, const struct tn_kernel *kernel,
		    const char *why);

/* cuda_body.c: the statements of a piece into piece->body. */
void tn_cuda_body(struct tn_cuda *c, struct tn_cuda_kernel *info,
		  struct tn_cuda_piece *piece);
/* The dialect of .cu. */
void tn_cuda_dialect(struct tn_dialect *dialect);

/* cuda_kernel.c: prints c->text and c->launchers for each kernel launched. */
void tn_cuda_kernels(struct tn_cuda *c);

/* cuda_host.c: callbacks of the run's steps. */
extern const struct tn_host_dialect tn_cuda_host_dialect;

/* cuda_api.c */
void tn_cuda_header(struct tn_cuda *c, struct tn_buf *out);
void tn_cuda_host_file(struct tn_cuda *c, struct tn_buf *out);

/* cuda_files.c */
void tn_cuda_device_file(struct tn_cuda *c, struct tn_buf *out);
void tn_cuda_side_file(const struct tn_cuda *c, struct tn_buf *out);
void tn_cuda_main(struct tn_cuda *c, struct tn_buf *out);
void tn_cuda_makefile(const struct tn_cuda *c, struct tn_buf *out);
void tn_cuda_readme(const struct tn_cuda *c, struct tn_buf *out);
/* The files of the stand-in: a path in the folder, NULL: no more. */
const char *tn_cuda_stand_in(int number, const char **text, size_t *size);

#endif
