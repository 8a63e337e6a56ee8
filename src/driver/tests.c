/*
 * Test blocks: each is a function without parameters; it is run by the
 * interpreter and, for another target, compiled and run again, and what it
 * expects is held against the results.
 *
 * A call that asks for passes, `run(f, x, passes="default")`, gets a function
 * of its own: a copy of the callee after the passes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "driver/call.h"
#include "driver/engine.h"
#include "driver/plugin.h"
#include "driver/target.h"
#include "driver/tensors.h"
#include "driver/weights.h"
#include "ir/graph_edit.h"

struct runner {
	struct tenon_module *module;
	const struct tn_target *target;
	const struct tn_test *test;
	struct tn_buf why;
	void (*done)(void *data, const struct tenon_test *);
	void *data;
	bool any_failed;
};

/* ---- Expectations ----------------------------------------------------------- */

static void put_place(struct runner *r, struct tn_span span)
{
	uint32_t line, column;
	const char *name = tn_sink_place(&r->module->context->sink, span,
					 &line, &column);

	if (name)
		tn_buf_putf(&r->why, "%s:%u: ", name, (unsigned)line);
}

static void put_index(struct tn_buf *out, const struct tenon_tensor *t,
		      int64_t at)
{
	int64_t index[TN_MAX_RANK];
	int k;

	for (k = t->rank; k-- > 0; at /= t->shape[k])
		index[k] = at % t->shape[k];
	tn_buf_putc(out, '[');
	for (k = 0; k < t->rank; k++)
		tn_buf_putf(out, "%s%lld", k ? ", " : "",
			    (long long)index[k]);
	tn_buf_putc(out, ']');
}

static bool all_true(struct runner *r, const struct tn_expect *expect,
		     const struct tenon_tensor *value)
{
	const unsigned char *bytes = value->data;
	int64_t count = tenon_tensor_count(value), i;

	for (i = 0; i < count; i++)
		if (!bytes[i])
			break;
	if (i == count)
		return true;
	put_place(r, expect->span);
	tn_buf_put(&r->why, "expected true");
	if (value->rank) {
		tn_buf_put(&r->why, " at ");
		put_index(&r->why, value, i);
	}
	return false;
}

static bool near(struct runner *r, const struct tn_expect *expect,
		 const struct tenon_tensor *left,
		 const struct tenon_tensor *right)
{
	bool exact = expect->kind == TN_EXPECT_EQ;
	struct tenon_difference d;
	int64_t bad;

	/* The tolerance is relative to the right side. */
	if (!tenon_tensor_compare(right, left, exact ? 0 : expect->rtol,
				  exact ? 0 : expect->atol, 0, &d)) {
		put_place(r, expect->span);
		tn_buf_put(&r->why, "sides of different types or shapes");
		return false;
	}
	bad = d.beyond;
	if (!bad)
		return true;
	put_place(r, expect->span);
	tn_buf_putf(&r->why, "%lld of %lld elements differ; most at ",
		    (long long)bad, (long long)tenon_tensor_count(left));
	put_index(&r->why, left, d.where);
	tn_buf_putf(&r->why, ": %.9g against %.9g", d.right, d.left);
	return false;
}

static bool judge(struct runner *r, const struct tenon_call *call)
{
	const struct tenon_tensor *left, *right;
	size_t i;

	for (i = 0; i < r->test->expects.len; i++) {
		const struct tn_expect *expect =
			tn_vec_at(&r->test->expects, i);

		left = tenon_call_output(call, expect->left);
		right = tenon_call_output(call, expect->right);
		if (expect->kind == TN_EXPECT_TRUE ?
		    !all_true(r, expect, left) :
		    !near(r, expect, left, right))
			return false;
	}
	return true;
}

/* ---- Functions after passes --------------------------------------------------- */

static bool copy_params(struct tn_fn *from, struct tn_fn *to,
			struct tn_map *map)
{
	int i;

	for (i = 0; i < from->body->nparams; i++) {
		struct tn_value *old = from->body->params[i];
		struct tn_value *made = tn_graph_param(to->body, old->name,
						       old->type);

		if (!made || !tn_map_set(map, old, made))
			return false;
	}
	return true;
}

static bool copy_guards(const struct tn_fn *from, struct tn_fn *to)
{
	struct tn_guard *guard;
	size_t i;

	for (i = 0; i < from->guards.len; i++) {
		guard = tn_vec_push(&to->guards);
		if (!guard)
			return false;
		*guard = *(const struct tn_guard *)tn_vec_at(&from->guards,
							     i);
	}
	return true;
}

/* A copy of the function under a name that no one calls. */
static struct tn_fn *copy_fn(struct tn_module *ir, struct tn_fn *fn)
{
	struct tn_rw rw = { .module = ir, .pass = "test", .fuel = -1 };
	struct tn_fn *copy = tn_graph_fn(ir, fn->name, TN_FN_INSTANCE);
	struct tn_map map;
	bool good;

	if (!copy)
		return NULL;
	copy->nresults = fn->nresults;
	copy->result_names = fn->result_names;
	copy->result_types = fn->result_types;
	copy->span = fn->span;
	if (!copy->body)
		copy->body = tn_graph_block(copy, NULL);
	tn_map_init_ptr(&map);
	good = copy->body && copy_params(fn, copy, &map) &&
		copy_guards(fn, copy) &&
		tn_rw_clone(&rw, fn->body, copy->body, NULL, &map, NULL);
	tn_map_fini(&map);
	return good && !rw.failed ? copy : NULL;
}

/* Up to where a function can still be interpreted by its operators. */
static const char *graph_passes(const char *passes)
{
	if (!strcmp(passes, "default"))
		return "infer,inline,unroll,fold,canonical,cse,dce,fuse";
	if (!strcmp(passes, "none"))
		return "infer";
	return passes;
}

static enum tn_status pass_call(struct runner *r, struct tn_op *op,
				const char *passes)
{
	struct tenon_module *module = r->module;
	unsigned props = module->ir->props;
	struct tn_fn *copy = copy_fn(module->ir, op->callee);
	enum tn_status status;

	if (!copy)
		return TN_IO;
	op->callee = copy;
	status = tn_module_pipeline(module, &copy, r->target,
				    graph_passes(passes));
	module->ir->props = props;
	return status;
}

static enum tn_status pass_calls(struct runner *r)
{
	enum tn_status status = TN_OK;
	const struct tn_attr *attr;
	struct tn_op *op;

	for (op = r->test->fn->body->first; op && !status; op = op->next) {
		attr = op->code == TN_OP_call ?
			tn_graph_attr(op, "passes") : NULL;
		if (attr && attr->is_set && attr->kind == TN_ATTR_STRING)
			status = pass_call(r, op, attr->u.s);
	}
	return status;
}

/* ---- One test -------------------------------------------------------------------- */

static void finish(struct runner *r, const char *target, bool passed)
{
	struct tenon_test test = {
		.name = r->test->name, .target = target, .passed = passed,
		.why = r->why.len ? tn_buf_text(&r->why) : NULL
	};

	r->any_failed |= !passed;
	r->done(r->data, &test);
	tn_buf_clear(&r->why);
}

static enum tn_status run_on(struct runner *r,
			     const struct tn_target *target)
{
	struct tenon_engine *engine = NULL;
	struct tenon_call *call = NULL;
	enum tn_status status;
	int outcome;

	status = tn_engine_of(r->module, r->test->fn, target, &engine);
	if (!status)
		status = (enum tn_status)tenon_call_new(engine, &call);
	if (!status) {
		outcome = (int)tenon_call_run(call);
		status = outcome == TENON_NO ? TN_OK :
			(enum tn_status)outcome;
	}
	if (!status)
		finish(r, target->name, judge(r, call));
	tenon_call_free(call);
	tenon_engine_free(engine);
	return status;
}

static enum tn_status load_weights(struct runner *r)
{
	const struct tn_settings *s = &r->module->context->settings;
	struct tn_weights_options options = {
		.random = s->random_weights, .seed = s->seed
	};
	const struct tn_annot *annot = tn_annots_find(&r->test->annots,
						      "weights");
	const char *seed;

	if (annot && annot->args && strstr(annot->args, "random")) {
		seed = strstr(annot->args, "seed=");
		options.random = true;
		options.seed = seed ? strtoll(seed + 5, NULL, 10) : 0;
	}
	return tn_weights_load(r->module, &options);
}

/* The first error of the context, as the reason of a failed test. */
static void put_error(struct runner *r, const struct tenon_context *context,
		      enum tn_status status)
{
	const struct tn_vec *diags = &context->sink.diags;
	const struct tn_diag *diag;
	size_t i;

	tn_buf_clear(&r->why);
	for (i = 0; i < diags->len; i++) {
		diag = tn_vec_ptr(diags, i);
		if (tn_codes[diag->code].severity != TN_ERROR)
			continue;
		tn_buf_putf(&r->why, "%s: %s", tn_codes[diag->code].name,
			    diag->message);
		if (diag->notes.len)
			tn_buf_putf(&r->why, " (%s)",
				    (const char *)tn_vec_ptr(&diag->notes,
							     0));
		return;
	}
	tn_buf_putf(&r->why, "status %d", (int)status);
}

/* Reads the module again, in a context of its own: passes change it. */
static enum tn_status read_again(const struct tenon_module *module,
				 struct tenon_context *context,
				 struct tenon_module **out)
{
	const struct tn_source *source = tn_vec_at(
		&module->context->sink.sources, module->file - 1);
	enum tn_status status;

	status = (enum tn_status)tenon_parse_text(context, source->name,
						  source->text, source->size,
						  out);
	return status ? status : tn_module_make_tests(*out);
}

/* Runs test number `at` on the target; whatever goes wrong fails it. */
static enum tn_status run_test(struct runner *all, size_t at,
			       const struct tn_target *target)
{
	struct tenon_context *context = tenon_context_new();
	struct runner r = *all;
	struct tenon_module *module = NULL;
	enum tn_status status;

	if (!context)
		return TN_IO;
	context->settings = all->module->context->settings;
	status = tn_plugin_share(context, all->module->context);
	if (!status)
		status = read_again(all->module, context, &module);
	r.module = module;
	if (!status) {
		r.test = tn_vec_at(&module->tests, at);
		r.target = target;
		status = load_weights(&r);
	}
	if (!status)
		status = pass_calls(&r);
	if (!status)
		status = run_on(&r, target);
	r.test = tn_vec_at(&all->module->tests, at);
	if (status) {
		put_error(&r, context, status);
		finish(&r, target->name, false);
	}
	all->any_failed |= r.any_failed;
	all->why = r.why;
	tenon_module_free(module);
	tenon_context_free(context);
	return status;
}

static enum tn_status run_tests(struct runner *r,
				const struct tn_target *target)
{
	const struct tn_target *ref = tn_target_interpreter();
	enum tn_status worst = TN_OK, status;
	size_t i;

	for (i = 0; i < r->module->tests.len; i++) {
		status = run_test(r, i, ref);
		if (status > worst)
			worst = status;
		if (target->backend->is_interpreter)
			continue;
		status = run_test(r, i, target);
		if (status > worst)
			worst = status;
	}
	return worst;
}

enum tenon_status tenon_module_test(struct tenon_module *module,
				    void (*done)(void *data,
						 const struct tenon_test *),
				    void *data)
{
	struct runner r = { .module = module, .done = done, .data = data };
	struct tn_target target;
	enum tn_status status;

	if (!module || !done)
		return TENON_USAGE;
	status = tn_target_pick(module->context, &target);
	if (!status)
		status = tn_module_make_tests(module);
	if (status)
		return tn_context_end(module->context, status);
	tn_buf_init(&r.why);
	status = run_tests(&r, &target);
	tn_buf_fini(&r.why);
	if (!status && r.any_failed)
		status = TN_NO;
	return tn_context_end(module->context, status);
}
