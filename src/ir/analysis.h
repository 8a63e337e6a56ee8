/*
 * Analyses of one function, computed when they are asked for and kept while
 * the graph is as it was.
 *
 *   order = tn_analyses_order(analyses);
 *   if (tn_order_dominates(order, a, b)) ..
 *
 * Each is an array by the `id` of operators or values. It is computed anew when
 * the module's epoch has moved since, unless who changed the graph has said
 * that it still holds (tn_analyses_keep), which tn_analyses_check proves or
 * refutes. Who changes the graph asks first, works, and asks again: the old
 * array is gone then. NULL: out of memory.
 */
#ifndef TN_IR_ANALYSIS_H
#define TN_IR_ANALYSIS_H

#include "ir/graph.h"

enum tn_analysis {
	TN_ANALYSIS_ORDER,	/* struct tn_position by operator */
	TN_ANALYSIS_READERS,	/* int64_t by value: uses in the function */
	TN_ANALYSIS_LIFE,	/* int64_t by value: last step that reads it */
	TN_ANALYSIS_BYTES,	/* int64_t by value: its worst case */
	TN_ANALYSIS_COUNT
};

/* Bits of a set of analyses. */
#define TN_KEEPS(analysis) (1u << TN_ANALYSIS_##analysis)
#define TN_KEEPS_ALL ((1u << TN_ANALYSIS_COUNT) - 1)

/* Steps number the ops of the function in the order of the text, from 1; an op
 * with regions has one step before them and one, `end`, after. 0: the op is
 * not in the function. */
struct tn_position {
	int64_t step, end;
};

struct tn_analysis_array {
	void *data;
	size_t len;		/* elements, by id */
	uint64_t epoch;		/* of the module when it held */
	bool is_known;
};

struct tn_analyses {
	const struct tn_fn *fn;
	struct tn_analysis_array arrays[TN_ANALYSIS_COUNT];
};

void tn_analyses_init(struct tn_analyses *analyses, const struct tn_fn *fn);
void tn_analyses_fini(struct tn_analyses *analyses);

const struct tn_position *tn_analyses_order(struct tn_analyses *analyses);
/* How many steps there are; -1: out of memory. */
int64_t tn_analyses_steps(struct tn_analyses *analyses);
const int64_t *tn_analyses_readers(struct tn_analyses *analyses);
/* What a loop reads from outside is read by its end. 0: nobody reads it. */
const int64_t *tn_analyses_life(struct tn_analyses *analyses);
/* -1: more than 64 bits can say. */
const int64_t *tn_analyses_bytes(struct tn_analyses *analyses);

/* True if `a` is done whenever and before `b` is. */
bool tn_order_dominates(const struct tn_position *order,
			const struct tn_op *a, const struct tn_op *b);

const char *tn_analysis_name(enum tn_analysis analysis);
/* The set of those that hold for the graph as it is. */
unsigned tn_analyses_known(const struct tn_analyses *analyses);
/* Of the analyses `set`, which held before the graph was changed, it is said
 * that they hold for the graph as it is now. */
void tn_analyses_keep(struct tn_analyses *analyses, unsigned set);
/* Computes anew what is said to hold, and compares. The first that does not, or
 * TN_ANALYSIS_COUNT; then *failed tells of want of memory. */
enum tn_analysis tn_analyses_check(const struct tn_analyses *analyses,
				   bool *failed);

#endif
