/*
 * Modules lowered and planned, for tests of the memory plan; see plan_kit.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/verify.h"

#include "plan_kit.h"

/* Where the ops stand, for what is asked of uses below. */
static bool number_op(void *data, struct tn_op *op)
{
	const struct tn_plan *plan = data;

	op->number = (int)plan->order[op->id].step;
	return true;
}

void bench_plan(struct bench *b)
{
	b->options = (struct tn_pass_options){ .target = &b->target,
					       .fuel = -1 };
	b->rw = (struct tn_rw){ .module = b->module->ir, .fuel = -1 };
	b->pass = (struct tn_pass_context){
		.module = b->module->ir, .entry = b->entry, .rw = &b->rw,
		.options = &b->options, .target = &b->target,
		.analyses = &b->analyses
	};
	tn_analyses_init(&b->analyses, b->entry);
	b->plan = (struct tn_plan){ .context = &b->pass };
	tn_vec_init(&b->plan.intervals, sizeof(struct tn_interval), NULL);
	assert_true(tn_plan_collect(&b->plan));
	tn_pass_walk(b->entry->body, number_op, &b->plan);
	assert_true(tn_plan_assign(&b->plan));
	b->entry->arena_bytes = b->plan.size;
}

static void open_bench(struct bench *b, const char *target,
		       const char *passes)
{
	memset(b, 0, sizeof(*b));
	b->context = tenon_context_new();
	assert_non_null(b->context);
	assert_int_equal(tenon_context_set(b->context, "target", target),
			 TENON_OK);
	assert_int_equal(tenon_context_set(b->context, "passes", passes),
			 TENON_OK);
	assert_int_equal(tn_target_pick(b->context, &b->target), TN_OK);
}

static void lower(struct bench *b)
{
	assert_int_equal(tenon_module_run_passes(b->module), TENON_OK);
	b->entry = tn_module_pick(b->module);
	assert_non_null(b->entry);
	bench_plan(b);
}

static void open_file(struct bench *b, const char *name, const char *target,
		      const char *passes)
{
	const char *top = getenv("SRCDIR");
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/passes/inputs/%s",
		 top ? top : ".", name);
	open_bench(b, target, passes);
	assert_int_equal(tenon_parse_file(b->context, path, &b->module),
			 TENON_OK);
	lower(b);
}

void bench_open(struct bench *b, const char *target, const char *text)
{
	open_bench(b, target, "infer,inline,lower,schedule");
	assert_int_equal(tenon_parse_text(b->context, "t.tn", text,
					  strlen(text), &b->module), TENON_OK);
	lower(b);
}

void bench_close(struct bench *b)
{
	tn_vec_fini(&b->plan.intervals);
	tn_analyses_fini(&b->analyses);
	tenon_module_free(b->module);
	tenon_context_free(b->context);
}

bool bench_is_sound(const struct bench *b)
{
	struct tn_buf faults;
	bool good;

	tn_buf_init(&faults);
	good = tn_verify_placed(b->entry, &faults);
	assert_int_equal(good, faults.len == 0);
	tn_buf_fini(&faults);
	return good;
}

static const char *const files[] = {
	"views.tn", "loops.tn", "flow.tn", "index.tn", "calls.tn",
	"consts.tn", "guards.tn", "concat.tn"
};
#define NFILES (sizeof(files) / sizeof(*files))

static const char *const targets[] = { "c:generic", "cuda:sm_80" };
static const char *const pipelines[] = {
	"infer,inline,lower,schedule",
	("infer,inline,unroll{limit=1},fold,canonical,cse,dce,fuse,lower,"
	"schedule"),
	"infer,inline,unroll,fold,canonical,cse,dce,fuse,lower,schedule"
};

void bench_each_plan(void (*visit)(struct bench *b))
{
	struct bench b;
	size_t i, k, t;

	for (i = 0; i < NFILES; i++)
		for (k = 0; k < sizeof(pipelines) / sizeof(*pipelines); k++)
			for (t = 0; t < 2; t++) {
				open_file(&b, files[i], targets[t],
					  pipelines[k]);
				visit(&b);
				bench_close(&b);
			}
}

struct tn_op *bench_op_of(const struct bench *b, const char *name)
{
	struct tn_op *op;

	for (op = b->entry->body->first; op; op = op->next)
		if (op->nout && !strcmp(op->out[0]->name, name))
			return op;
	fail_msg("there is no '%s'", name);
	return NULL;
}
