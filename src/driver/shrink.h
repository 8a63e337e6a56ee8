/*
 * Ways to make a module smaller: one change each, by number, so that a search
 * can try them in order and always in the same one.
 */
#ifndef TN_DRIVER_SHRINK_H
#define TN_DRIVER_SHRINK_H

#include "driver/module.h"

enum tn_shrink {
	TN_SHRINK_DONE,		/* the graph is changed */
	TN_SHRINK_NOTHING,	/* this number changes nothing */
	TN_SHRINK_END		/* there are no more numbers */
};

struct tn_shrink_way {
	const char *name;
	enum tn_shrink (*apply)(struct tenon_module *module,
				struct tn_fn *entry, int number);
};

extern const struct tn_shrink_way tn_shrink_ways[];
extern const int tn_shrink_nways;

/* After a change: what nothing reads goes, types and results are inferred
 * anew. Messages of what no longer fits go to the module's sink. */
void tn_shrink_settle(struct tn_fn *entry);

#endif
