/*
 * Passes: each takes a module and a rewriter, says what it needs, gives and
 * breaks, and returns whether it changed anything.
 *
 * The list is passes.def; the order is pipeline.c. Add one: passes/<name>.c,
 * a row, a line in pipeline.c, tests/passes/<name>/.
 */
#ifndef TN_PASSES_PASS_H
#define TN_PASSES_PASS_H

#include "base/buf.h"
#include "base/status.h"
#include "ir/analysis.h"
#include "ir/graph.h"
#include "ir/rewrite.h"
#include "ir/rule.h"
#include "ir/target.h"
#include "passes/timing.h"

/* FAILED: the text's fault, if one was reported, else out of memory.
 * UNSUPPORTED: what the target cannot do. BUG: ours. Both are reported. */
enum tn_pass_result {
	TN_PASS_SAME, TN_PASS_CHANGED, TN_PASS_FAILED, TN_PASS_UNSUPPORTED,
	TN_PASS_BUG
};

struct tn_pass_context;
struct tn_pass_step;

/* Options of one run of the pipeline. */
struct tn_pass_options {
	const struct tn_target *target;
	struct tn_fn *entry;	/* what is compiled; NULL: the module's entry */
	int64_t fuel;		/* -1: unlimited */
	bool verify;		/* verify after each pass */
	bool check_analyses;	/* those that a pass says to keep, too */
	const char *print_after;	/* pass name, "all", or NULL */
	const char *stop_after;	/* pass name or NULL */
	void (*show)(void *data, const char *pass, const char *text);
	void *data;
	struct tn_timing *timing;	/* gets the times, or NULL */
	/* Gives the rules to `simplify`, which asks when it runs; NULL after a
	 * report, or for want of memory. May be NULL: there are none. */
	const struct tn_rule_set *(*rules)(void *data);
	void *rules_data;
	const char *fp;		/* licences for all of it, see ir/rule.h; or
				 * NULL */
	/* Passes beside those of passes.def, whose names they do not have. */
	const struct tn_pass *const *extra;
	int nextra;
	/* Called after each pass, may be NULL. What it returns, other than
	 * TN_OK, ends the pipeline and is the pipeline's result. */
	enum tn_status (*after)(void *data,
				const struct tn_pass_context *context,
				const struct tn_pass_step *step);
	void *after_data;
};

/* A pass that has run, as `after` of the options sees it. */
struct tn_pass_step {
	const char *pass;
	const char *arguments;	/* or NULL */
	int number;		/* from 0, in the pipeline */
	bool changed;
};

/* A pass may put another module and entry in place of these, for the passes
 * after it; the old ones stay alive. */
struct tn_pass_context {
	struct tn_module *module;
	struct tn_fn *entry;
	struct tn_rw *rw;
	const struct tn_pass_options *options;
	const struct tn_target *target;
	const char *arguments;	/* text in {..} after the name, or NULL */
	struct tn_analyses *analyses;	/* of the entry */
	const struct tn_pass *pass;	/* that is run */
};

/* The whole number named `key` in the pass's {key=value, ..}, or `fallback`. */
int64_t tn_pass_option(const struct tn_pass_context *context,
		       const char *key, int64_t fallback);
/* The word named `key`, in the module's arena; NULL: not given. */
const char *tn_pass_word(const struct tn_pass_context *context,
			 const char *key);
/* Calls `visit` for every op of the block and of its regions, in order, outer
 * op before its regions. `visit` may erase the op it is given. Stops when
 * visit returns false, and returns that. */
bool tn_pass_walk(struct tn_block *block,
		  bool (*visit)(void *data, struct tn_op *op), void *data);
/* The ops of the block and of its regions. */
int64_t tn_pass_count(const struct tn_block *block);

/* A part of the pass, for --time-passes; the name lives as long as the
 * module. */
void tn_pass_part(const struct tn_pass_context *context, const char *name);
void tn_pass_part_end(const struct tn_pass_context *context);

/* Reports that no memory can hold the value, E0861. */
void tn_pass_too_large(struct tn_module *module,
		       const struct tn_value *value);

struct tn_pass {
	const char *name, *summary;
	const char *option;	/* of {option=number}, "name=" of {name=word},
				 * or "" */
	unsigned needs, gives, breaks;	/* tn_prop masks */
	unsigned keeps;		/* analyses that hold still when it has changed
				 * something: TN_KEEPS(..) */
	enum tn_pass_result (*run)(struct tn_pass_context *context);
	/* Of those from elsewhere, which are verified after in every build: */
	bool is_foreign;
	bool takes_text;	/* any text may stand in {..}, and one has to */
	const char *owner;	/* the plug-in whose fault it is, or NULL */
	const void *data;	/* what `run` needs */
};

#define PASS(id, ...) \
	enum tn_pass_result tn_pass_##id(struct tn_pass_context *context);
#include "passes/passes.def"
#undef PASS

extern const struct tn_pass tn_passes[];
extern const int tn_npasses;

const struct tn_pass *tn_pass_find(const char *name);
/* The default pipeline as text for the target, "inline,fold,...". With
 * `optimise` false: only what lowering needs (--passes=none). */
const char *tn_pipeline_default(bool optimise);
/* Runs `pipeline` ("inline,fold{limit=64},..."). Faults go to the module's
 * sink. TN_BUG: a verifier failed; the message names the pass. */
enum tn_status tn_pipeline_run(struct tn_module *module,
			       const char *pipeline,
			       const struct tn_pass_options *options);

#endif
