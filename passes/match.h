/*
 * The matcher of a set of rules: one tree for all patterns, so that finding
 * what may fit at an operator takes a walk down and no search of a list.
 *
 *   rules  a: transpose(transpose(x))    b: transpose(x + 0)
 *
 *   transpose ─ transpose ─ any: a
 *             └ add ─┬ any ── number: b
 *                    └ number ── any: b      (add commutes)
 */
#ifndef TN_PASSES_MATCH_H
#define TN_PASSES_MATCH_H

#include "base/arena.h"
#include "ir/rule.h"

struct tn_matcher;

/* Over the rules of the set in `group`, or all if that is NULL; in the arena.
 * NULL: out of memory. */
struct tn_matcher *tn_matcher_new(struct tn_arena *arena,
				  const struct tn_rule_set *set,
				  const char *group);
/* Whether no rule begins with this operator. */
bool tn_matcher_is_idle(const struct tn_matcher *matcher,
			const struct tn_op *op);
/* Calls `visit` with each rule whose pattern fits at `op`, in order of
 * priority, until it returns false: then false. */
bool tn_matcher_find(const struct tn_matcher *matcher, struct tn_op *op,
		     bool (*visit)(void *data, const struct tn_rule *rule,
				   const struct tn_rule_match *match),
		     void *data);

#endif
