/*
 * Rewrite rules as data. The grammar makes them of `rule` items; the pass
 * `simplify` finds where they fit; what their sides mean at the types found
 * there is asked of the grammar again, through `instance`.
 *
 *   rule merge<T: any>(x: T[*P], p: perm, q: perm) :
 *       transpose(transpose(x, p), q) => transpose(x, compose(p, q));
 *
 *   vars     x (value), p, q (attributes)
 *   pattern  OP transpose perm=q
 *              OP transpose perm=p
 *                VAR x
 *
 * The pattern says where it is worth looking, no more: a rule is applied only
 * where its left side, made at the types and attributes found, is the very
 * graph that was found, and the right side has the same result types.
 */
#ifndef TN_IR_RULE_H
#define TN_IR_RULE_H

#include "ir/graph.h"

/* Parameters of a rule, nodes of its left side. */
#define TN_RULE_VARS 48
#define TN_RULE_NODES 48
/* Float parameters that stand for numbers of a left side. */
#define TN_RULE_NUMBERS 4

enum tn_pattern_kind {
	TN_PATTERN_VAR,		/* any value; the same one each time */
	TN_PATTERN_OP,		/* a primitive, or a call of `callee` */
	TN_PATTERN_NUMBER	/* a constant with this value everywhere, or, of a
				 * float parameter, with any one value */
};

/* An attribute that a parameter is bound to. */
struct tn_pattern_attr {
	const char *name;
	int var;
};

/* A node of a left side, numbered as written; a value named in the rule and
 * used twice is one node. */
struct tn_pattern {
	enum tn_pattern_kind kind;
	int number;
	int var;			/* VAR; NUMBER: the parameter, or -1 */
	double value;			/* NUMBER without a parameter */
	enum tn_opcode code;		/* OP; TN_OP_call: of `callee` */
	const char *callee;
	int nargs, nattrs;
	const struct tn_pattern *const *args;
	const struct tn_pattern_attr *attrs;
};

struct tn_rule_var {
	const char *name;
	bool is_attr;
};

/* What a rule may do to floats beyond keeping every bit. */
enum tn_rule_licence {
	TN_RULE_EXACT,		/* nothing; but signs of zeros and payloads of
				 * NaNs, as the language leaves them open */
	TN_RULE_TOL,		/* rounding may differ: @tol */
	TN_RULE_FP		/* what @fp(...) names */
};

struct tn_rule {
	const char *name;		/* interned */
	const char *group;		/* of @group(name), or NULL */
	struct tn_span span;
	int number;			/* in its set, from 0 */
	int priority;			/* those with a higher one first, then
					 * the lower number; the nodes of the
					 * left side unless somebody asks for
					 * another order */
	enum tn_rule_licence licence;
	const char *fp;			/* FP: the words between the brackets */
	int benefit;			/* of @benefit(n): how many more ops it
					 * may leave than it takes away */
	int nvars;
	const struct tn_rule_var *vars;
	int nnodes;
	const struct tn_pattern *root;
	void *source;			/* the grammar's */
};

/* Where a rule may fit: the value each node stands for, and what each
 * parameter is. Nodes and parameters beyond are NULL. */
struct tn_rule_match {
	struct tn_op *root;
	struct tn_value *nodes[TN_RULE_NODES];
	struct tn_value *values[TN_RULE_VARS];
	const struct tn_attr *attrs[TN_RULE_VARS];
	int nnumbers;
	struct tn_attr numbers[TN_RULE_NUMBERS];	/* in attrs */
};

/* Why a rule does not apply where its pattern fits. */
enum tn_rule_refusal {
	TN_RULE_UNFIT,		/* it does not fit after all, or no memory */
	TN_RULE_WHERE,		/* its `where` does not hold */
	TN_RULE_TYPE		/* the right side has another type */
};

struct tn_rule_set {
	struct tn_vec rules;		/* struct tn_rule * */
	/* The right side at a match, as a function of the parameters that are
	 * values, in order; NULL: the rule does not apply there, *why says
	 * more, or the module has failed. */
	struct tn_fn *(*instance)(void *data, const struct tn_rule *rule,
				  const struct tn_rule_match *match,
				  enum tn_rule_refusal *why);
	void *data;
};

/* Whether the words of `granted` ("reassoc, nsz", or "fast" for all; NULL:
 * none) are what the rule needs. */
bool tn_rule_is_licensed(const struct tn_rule *rule, const char *granted);
/* The first word of the list that names no licence, *len bytes; NULL: none. */
const char *tn_rule_find_unknown(const char *words, size_t *len);
/* What there is, for messages. */
#define TN_RULE_WORDS \
	"nnan, ninf, nsz, reassoc, contract, arcp, afn, wide, tol, fast"

#endif
