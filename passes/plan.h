/*
 * The memory plan: intervals of life and places in one arena. Shared by the
 * planner (plan.c), its lifetimes (plan_live.c), offsets (plan_place.c), what it
 * knows of work in place (plan_reuse.c) and what it tells (plan_tell.c). What
 * holds of every plan is checked elsewhere, by src/ir/verify_placed.c.
 */
#ifndef TN_PASSES_PLAN_H
#define TN_PASSES_PLAN_H

#include "ir/kernel.h"
#include "passes/pass.h"

/* A buffer of the arena: from the step that first writes it to the step that
 * last reads it, both included. Steps are those of the analysis `order`. */
struct tn_interval {
	struct tn_value *value;	/* or NULL: scratch of `launch` */
	struct tn_op *launch;
	int64_t first, last;
	int64_t bytes;		/* worst case, a multiple of TN_PLACE_ALIGN */
	int64_t offset;
	struct tn_interval *over;	/* whose bytes it took, in place */
	struct tn_interval *home;	/* where that chain began, or NULL */
	bool is_taken;		/* its bytes went on to a result */
	int64_t until;		/* the last step at which its bytes are used, by
				 * it or by who took them */
};

struct tn_plan {
	struct tn_pass_context *context;
	const struct tn_position *order;	/* of the entry's ops */
	const int64_t *life;	/* of its values */
	struct tn_vec intervals;	/* struct tn_interval, by `first` */
	int64_t steps;
	int64_t peak;		/* most bytes alive at one step: */
	int64_t peak_step;
	int64_t size;		/* of the arena */
};

/* Gives every value of the entry a place or an interval. False after a
 * report or without memory. */
bool tn_plan_collect(struct tn_plan *plan);
/* Chooses offsets, sets size and peak. A result takes the bytes of an operand
 * that dies with its launch where that is sound. */
bool tn_plan_assign(struct tn_plan *plan);

/* The most bytes alive at one step, and the first such step, if buffer i has
 * sizes[i] bytes (NULL: its own). False: no memory, or more than 64 bits. */
bool tn_plan_find_peak(const struct tn_plan *plan, const int64_t *sizes,
		       int64_t *peak, int64_t *step);
/* plan_place.c: offsets of all buffers, of which it is known who takes whose
 * bytes, and the size. */
bool tn_plan_place(struct tn_plan *plan);
/* plan_tell.c: the plan as events. */
void tn_plan_tell(const struct tn_plan *plan);

/* plan_reuse.c: true if the kernel reads of `in` only the element that it
 * writes to `out` in the same turn. */
bool tn_plan_is_pointwise(const struct tn_kernel *kernel,
			  const struct tn_kbuf *in, const struct tn_kbuf *out);
/* True if the launch's result may be written over `root`, whose bytes it reads
 * for the last time. */
bool tn_plan_may_take(const struct tn_op *launch,
		      const struct tn_value *root);

#endif
