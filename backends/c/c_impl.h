/* What the files of the C back end share. */
#ifndef TN_BACKENDS_C_IMPL_H
#define TN_BACKENDS_C_IMPL_H

#include "backends/c/c.h"
#include "backends/emit.h"
#include "backends/emit_api.h"
#include "backends/emit_launch.h"

/* More buffers than this are passed in tables. */
#define TN_C_PARAMS 64

struct tn_c_kernel {
	struct tn_launched base;
	bool is_parallel;	/* takes the number of threads */
	bool is_wide;		/* takes tables of buffers */
	int64_t stack;		/* bytes of its buffers on the stack */
};

struct tn_c {
	const struct tn_module *module;
	const struct tn_fn *entry;
	const struct tn_target *target;
	const char *name;
	struct tn_arena *arena;
	struct tn_dialect dialect;
	struct tn_prelude need;
	struct tn_launch_set kernels;	/* of struct tn_c_kernel */
	struct tn_host host;
	struct tn_weights *weights;
	struct tn_buf text;		/* of the kernels */
	struct tn_buf run;		/* of the run function */
	int64_t stack;			/* worst kernel */
	bool has_parallel, has_vectors;
	bool failed;			/* out of memory */
};

/* c_kernel.c: prints the function of each kernel launched. */
void tn_c_kernels(struct tn_c *c);
/* The dialect for the target. */
void tn_c_dialect(struct tn_dialect *dialect, const struct tn_target *target);
/* c_launch.c: prints one launch. */
void tn_c_launch(struct tn_host *host, const struct tn_op *op);
/* c_text.c: what stands before the kernels. */
void tn_c_head(const struct tn_c *c, struct tn_buf *out);
/* c_api.c */
void tn_c_header(struct tn_c *c, struct tn_buf *out);
void tn_c_api(struct tn_c *c, struct tn_buf *out);
/* c_files.c */
void tn_c_main(struct tn_c *c, struct tn_buf *out);
void tn_c_makefile(struct tn_c *c, struct tn_buf *out);
void tn_c_readme(struct tn_c *c, struct tn_buf *out);

#endif
