/*
 * Tree to graph: names get their meaning, calls their types, bodies become
 * operators.
 *
 * Comes in: the tree of a file (with errors or without), and of the files it
 * includes. Goes out: a module with its items in source order and all
 * functions as graphs. Faults are diagnostics E02xx, E07xx (and those of
 * inference); what failed is poison and not reported again.
 *
 *   struct tn_elab *elab = tn_elab_new(&options);
 *   struct tn_module *module = tn_elab_run(elab, tree);
 *   tn_elab_tests(elab, &tests);
 *   tn_elab_free(elab);
 *   tn_module_free(module);
 */
#ifndef TN_GRAMMAR_ELABORATE_H
#define TN_GRAMMAR_ELABORATE_H

#include "base/diag.h"
#include "base/intern.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/rule.h"

struct tn_tree;
struct tn_elab;

struct tn_elab_text {
	const char *name, *text;	/* as a source; NUL-terminated */
};

struct tn_elab_options {
	struct tn_intern *names;	/* borrowed; the trees use it too */
	struct tn_sink *sink;		/* borrowed */
	/* The text of std.tn, borrowed; NULL: there is no library. */
	const char *std_text;
	size_t std_size;
	/* Further texts of the library, whose names are new; borrowed. */
	const struct tn_elab_text *more;
	int nmore;
	/* The number of the source that `from` includes as `path`: one number
	 * for one file, by whatever path. 0 after a report; NULL callback:
	 * includes are refused. */
	uint32_t (*include)(void *data, const char *path, uint32_t from,
			    struct tn_span span);
	/* The tensor of a file, for load("x.npy") in the text of source
	 * `from`; `key` may be NULL. Fills an owned tensor. False: it cannot
	 * be read, not reported. NULL callback: `load` is refused. */
	bool (*load)(void *data, const char *file, const char *key,
		     uint32_t from, struct tn_tensor *out);
	void *data;			/* for the callbacks */
};

/* A library item hides behind the user's; elaboration keeps what is needed to
 * make tests later. NULL: out of memory. */
struct tn_elab *tn_elab_new(const struct tn_elab_options *options);
void tn_elab_free(struct tn_elab *elab);
/* Elaborates a file, once. The module belongs to the caller, who must free
 * the elab before it. NULL: out of memory (reported). Errors are in the
 * sink; the module then holds what could be made. */
struct tn_module *tn_elab_run(struct tn_elab *elab, struct tn_tree *tree);

enum tn_expect_kind {
	TN_EXPECT_TRUE,		/* every element of `left` is true */
	TN_EXPECT_EQ,		/* left and right are equal by bits, NaN too */
	TN_EXPECT_APPROX	/* |l - r| <= atol + rtol * |r| */
};

struct tn_expect {
	enum tn_expect_kind kind;
	struct tn_span span;
	int left, right;	/* result numbers of the test's function */
	double rtol, atol;
};

/* A test: a function without parameters to run, and what to compare. Dims
 * are constants in it. `reject` blocks were checked already. */
struct tn_test {
	const char *name;
	struct tn_span span;
	struct tn_annots annots;	/* @weights(random, seed=7) */
	struct tn_fn *fn;	/* NULL: it has errors, which the sink has */
	struct tn_vec expects;	/* struct tn_expect */
};

/* Makes the tests of the file (not of included ones), in source order, and
 * appends struct tn_test. Calls to check through passes carry an attribute
 * `passes` (string) on their call op. False: out of memory. */
bool tn_elab_tests(struct tn_elab *elab, struct tn_vec *tests);

/* A function of the file that is generic because a size in its parameters has
 * a name that nothing declares: the first such name, and the parameter's
 * place. NULL: `fn`, an interned name, is no such function. */
const char *tn_elab_open_dim(struct tn_elab *elab, const char *fn,
			     struct tn_span *span);

/* The body of a generic fn or op, user's or library's, for operands and
 * attributes: made once, then found again. NULL after a report. */
struct tn_fn *tn_elab_instance(struct tn_elab *elab, const char *name,
			       int nin, const struct tn_type *const *in,
			       int nattrs, const struct tn_attr *attrs,
			       struct tn_span span);

/* The rules of the file and of what it includes, in order, into `set`
 * (struct tn_rule *, which live as long as the elaborator). False: out of
 * memory. */
bool tn_elab_rules(struct tn_elab *elab, struct tn_rule_set *set);
/* The same of a source that holds rules alone, which see the library and
 * nothing else. Errors are in the sink. */
bool tn_elab_rule_source(struct tn_elab *elab, uint32_t file,
			 struct tn_rule_set *set);
/* What the `where` of a rule may ask, by number: the name, and what it means;
 * NULL past the last. */
const char *tn_elab_fact(int number, const char **doc);
/* Where to try a rule: at element types numbered `dtype`, packs of `rank`
 * axes, and else what the seed draws. */
struct tn_rule_place {
	int dtype, rank;
	uint64_t seed;
	bool is_symbolic;	/* sizes are symbols */
	int shape;		/* sizes 0 to 3 in order, as digits to the base
				 * 4, the first one last, with a 1 in front;
				 * 0: drawn */
};

/* A function to try a rule at: its left side there. The same place gives the
 * same function. NULL: what was drawn fits no left side.
 * It is the module's last function until it is dropped. */
struct tn_fn *tn_elab_rule_sample(struct tn_elab *elab,
				  const struct tn_rule *rule,
				  const struct tn_rule_place *place);
void tn_elab_rule_drop(struct tn_elab *elab, struct tn_fn *fn);

/* Statements of `text` at the end of a block: an expression, or a body with
 * `return`. Up to `max` results go to `out`; how many there are. -1 with a
 * line of reason in `why`: it did not fit, what was made of it is without
 * use. */
int tn_elab_text(struct tn_elab *elab, struct tn_block *block,
		 const struct tn_text *text, int max, struct tn_value **out,
		 struct tn_buf *why);

#endif
