/*
 * A rule at one place made up for it: the left side as a function, the same
 * after the rewrite, and whether both give the same.
 */
#ifndef TN_DRIVER_RULE_TRIAL_H
#define TN_DRIVER_RULE_TRIAL_H

#include "driver/module.h"

/* NOT_THERE: the rule does not fit there. STOPPED: it could not be run. */
enum tn_rule_verdict {
	TN_RULE_NOT_THERE, TN_RULE_GOOD, TN_RULE_BAD, TN_RULE_STOPPED
};

struct tn_rule_trial {
	struct tenon_module *module;
	const struct tn_rule *rule;
	struct tn_rule_set alone;	/* the rule, and nothing else */
	struct tn_buf why;		/* what is wrong, of BAD */
	struct tn_rule_place place;
};

/* The rule alone at the place: rewritten, and run before and after on special
 * and random values. At sizes that are symbols, for some values of them. */
enum tn_rule_verdict tn_rule_try(struct tn_rule_trial *trial);
/* The same with elements that are all different. *moves is false where an
 * operator on either side does more than move them; then nothing is run. Else
 * GOOD holds for all values that the operands may have: it is a proof. */
enum tn_rule_verdict tn_rule_prove(struct tn_rule_trial *trial, bool *moves);
/* All rules of the module at the place, in the order of their priorities: they
 * end, and the value is what it was. */
enum tn_rule_verdict tn_rule_try_all(struct tn_rule_trial *trial);

#endif
