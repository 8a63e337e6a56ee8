/* The rules at one function: of the pass `simplify`, and of check-rules. */
#ifndef TN_PASSES_SIMPLIFY_H
#define TN_PASSES_SIMPLIFY_H

#include "passes/pass.h"

struct tn_simplify {
	struct tn_rw *rw;
	struct tn_fn *fn;
	const struct tn_rule_set *rules;
	const char *fp;		/* licences beside those of fn, or NULL */
	struct tn_timing *timing;	/* or NULL */
	const char *group;	/* rules of this one alone; NULL: all */
	bool keeps_constants;	/* operators on constants are not folded */
	bool drops_calls;	/* calls have no effect: unread, they go */
};

/* Applies the rules until none fits; what the rules were is W0856 if they go
 * round in circles. False: out of memory. */
bool tn_simplify(const struct tn_simplify *options, bool *changed);

#endif
