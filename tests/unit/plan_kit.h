/*
 * Tools of the test_plan programs: a module lowered and planned, whose
 * intervals are kept, and what the checker of places says of it.
 */
#ifndef TN_TEST_PLAN_KIT_H
#define TN_TEST_PLAN_KIT_H

#include "driver/module.h"
#include "driver/target.h"
#include "driver/tenon.h"
#include "ir/kernel.h"
#include "passes/plan.h"

/* A module lowered and planned; its intervals are kept. */
struct bench {
	struct tenon_context *context;
	struct tenon_module *module;
	struct tn_fn *entry;
	struct tn_target target;
	struct tn_rw rw;
	struct tn_pass_options options;
	struct tn_analyses analyses;
	struct tn_pass_context pass;
	struct tn_plan plan;
};

/* The text, lowered for the target without optional passes, and planned. */
void bench_open(struct bench *b, const char *target, const char *text);
void bench_close(struct bench *b);
/* Plans the entry; what an older plan holds has been given back. */
void bench_plan(struct bench *b);
bool bench_is_sound(const struct bench *b);
/* The op that makes the named value. */
struct tn_op *bench_op_of(const struct bench *b, const char *name);
/* Plans of all files, targets and pipelines that they are tried with. */
void bench_each_plan(void (*visit)(struct bench *b));

#endif
