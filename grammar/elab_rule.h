/* Rules: what elab_pattern.c makes of an item and elab_apply.c reads. */
#ifndef TN_GRAMMAR_ELAB_RULE_H
#define TN_GRAMMAR_ELAB_RULE_H

#include "grammar/elab.h"
#include "ir/rule.h"

/* tn_rule.source. */
struct elab_rule {
	const struct tn_tree_item *item;
	struct decl *before, *after;	/* generic functions of its parameters */
	const struct tn_expr *where;	/* or NULL */
};

/* The rule of an item that was checked; NULL after a report. */
struct tn_rule *elab_rule_compile(struct tn_elab *e, const struct decl *decl);
/* One side made at the match, with its call as the last op of the frame's
 * block; found again for the same types and attributes. NULL: it cannot be. */
struct tn_fn *elab_rule_side(struct frame *frame, struct decl *side,
			     const struct tn_rule *rule,
			     const struct tn_rule_match *match);
/* The right side of a rule at a match, see tn_rule_set.instance; `data` is the
 * elaborator. */
struct tn_fn *elab_rule_instance(void *data, const struct tn_rule *rule,
				 const struct tn_rule_match *match,
				 enum tn_rule_refusal *why);

/* ---- elab_fact.c ------------------------------------------------------- */

/* The number of a fact that a `where` may ask for, or -1. */
int elab_fact_find(const char *name);
/* Whether only constants have it. */
bool elab_fact_is_const(int fact);
/* Arguments of another kind than the fact is about: false. */
bool elab_fact_holds(struct frame *frame, int fact,
		     const struct tn_args *args);

#endif
