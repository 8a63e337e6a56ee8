/*
 * The kernels that an entry launches: collected, each once; the parameters of
 * their functions; what a launch passes for them.
 *
 *   struct my_kernel { struct tn_launched base; .. };
 *
 *   tn_launch_init(&set, arena, sizeof(struct my_kernel));
 *   tn_launch_collect(&set, entry->body);
 *
 * Parameters come in one order everywhere: dims by value, run-time dims that
 * the kernel sets by pointer, the base of its scratch, its buffers. A back end
 * puts what is its own before, between or behind.
 */
#ifndef TN_BACKENDS_EMIT_LAUNCH_H
#define TN_BACKENDS_EMIT_LAUNCH_H

#include "backends/emit_host.h"

/* What the callers of a kernel's function must know. */
struct tn_launched {
	const struct tn_kernel *kernel;
	const char *name;	/* of the function that a run calls */
	struct tn_vec syms;	/* const struct tn_sym *: passed by value */
	struct tn_vec sizes;	/* const struct tn_sym *: by pointer */
	bool raises;		/* may set flags */
	bool has_scratch;	/* takes the base of its @arena buffers */
	bool may_alias;		/* some launch works in place */
};

struct tn_launch_set {
	struct tn_arena *arena;	/* borrowed */
	size_t size;		/* of a back end's struct */
	struct tn_vec list;	/* struct tn_launched *, bases of those */
	struct tn_map of;	/* tn_kernel -> struct tn_launched * */
	struct tn_names names;	/* of functions */
	bool failed;		/* out of memory */
};

void tn_launch_init(struct tn_launch_set *set, struct tn_arena *arena,
		    size_t size);
void tn_launch_fini(struct tn_launch_set *set);
/* Adds the kernels of all launches in the block and its regions. */
void tn_launch_collect(struct tn_launch_set *set,
		       const struct tn_block *block);
/* Of the op; NULL: it was not collected. */
void *tn_launch_find(const struct tn_launch_set *set, const struct tn_op *op);

/* The comment above a kernel's function: what it is, and its text. */
void tn_launch_comment(struct tn_buf *out, const struct tn_kernel *kernel,
		       bool with_text);

/* A list of parameters, or of their names. */
struct tn_params {
	struct tn_buf *out;
	const char *before, *between;	/* the first, each further one */
	bool with_types;
	bool any;		/* something stands in the list */
};

void tn_params_put(struct tn_params *p, const char *type, const char *prefix,
		   const char *name);
/* Dims, sizes, scratch. */
void tn_params_dims(struct tn_params *p, struct tn_emit *emit,
		    const struct tn_launched *launched);
/* Buffers, `restricted` (with a blank) unless they may overlap. */
void tn_params_buffers(struct tn_params *p, struct tn_emit *emit,
		       const struct tn_launched *launched,
		       const char *restricted);

/* Of one launch, into host->out: its comment, with its number; copies of
 * buffers that are updated but not in place yet. */
void tn_launch_begin(struct tn_host *host, const struct tn_op *op);
/* What it passes for dims, sizes and scratch. */
void tn_launch_dims(struct tn_host *host, const struct tn_op *op,
		    const struct tn_launched *launched, struct tn_params *p);
/* .. and for its buffers. */
void tn_launch_buffers(struct tn_host *host, const struct tn_op *op,
		       struct tn_params *p);

#endif
