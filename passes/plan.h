/*
 * The memory plan: intervals of life and places in one arena. Shared by the
 * planner (plan.c) and its lifetimes (plan_live.c). What holds of every plan is
 * checked elsewhere, by src/ir/verify_placed.c.
 */
#ifndef TN_PASSES_PLAN_H
#define TN_PASSES_PLAN_H

#include "passes/pass.h"

/* A buffer of the arena: from the step that first writes it to the step that
 * last reads it, both included. Steps number the ops in textual order; an op
 * with regions has one step before them and one after. */
struct tn_interval {
	struct tn_value *value;	/* or NULL: scratch of `launch` */
	struct tn_op *launch;
	int64_t first, last;
	int64_t bytes;		/* worst case, a multiple of TN_PLACE_ALIGN */
	int64_t offset;
};

struct tn_plan {
	struct tn_pass_context *context;
	struct tn_vec intervals;	/* struct tn_interval, by `first` */
	int64_t steps;
	int64_t peak;		/* most bytes alive at one step */
	int64_t size;		/* of the arena */
};

/* Gives every value of the entry a place or an interval. False after a
 * report or without memory. */
bool tn_plan_collect(struct tn_plan *plan);
/* Chooses offsets, sets size and peak. */
bool tn_plan_assign(struct tn_plan *plan);

#endif
