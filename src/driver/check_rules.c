/*
 * check-rules: each rule against the interpreter.
 *
 * A rule is tried at places made up for it: all element types it admits, ranks
 * 0 to 4, sizes 0 to 17. There `simplify` gets this rule alone; the function
 * before and after runs on special values (zeros of both signs, denormals,
 * extremes, infinities, NaNs) and on random ones, and must give the same,
 * the sticky flag included, as exactly as the rule's licence says. A rule
 * that never fits its own left side is a fault, too; so is an order of
 * all the rules in which they do not end.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ref/ref.h"
#include "base/random.h"
#include "base/num.h"
#include "driver/module.h"
#include "ir/print.h"
#include "passes/simplify.h"

/* Orders of all rules that each rule's places are simplified in. */
#define ORDERS 3
/* Seeds tried, and places wanted, for each element type and rank. */
#define SEEDS 400
#define PLACES 6
#define RANKS 5
#define INPUT_SETS 3

struct trial {
	struct tenon_module *module;
	const struct tn_rule *rule;
	struct tn_rule_set alone;	/* the rule, and nothing else */
	struct tenon_rule *report;
	struct tn_buf why;
	uint64_t seed;
};

/* ---- Inputs ------------------------------------------------------------ */

/* Words in `@fp(..)` that take values out of the question. */
static bool permits(const struct tn_rule *rule, const char *word)
{
	return rule->licence == TN_RULE_FP && rule->fp &&
	       strstr(rule->fp, word) != NULL;
}

static double special(const struct tn_rule *rule, uint64_t number)
{
	static const double values[] = {
		0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-3, -7.25, 100.0,
		5e-324, 1e-40, 6e-8, 65504.0, 3.4e38, 1.7e308
	};
	size_t count = sizeof(values) / sizeof(values[0]);

	number %= count + 4;
	if ((permits(rule, "reassoc") || permits(rule, "ninf")) &&
	    number >= 9 && number != count)
		return values[number - 9];
	if (number < count)
		return values[number];
	number -= count;
	if (number == 0)
		return -0.0;
	if (number == 3)
		return permits(rule, "nnan") ? 2.0 : (double)NAN;
	if (permits(rule, "ninf"))
		return -3.0;
	return number == 1 ? (double)INFINITY : -(double)INFINITY;
}

static void fill_float(const struct trial *t, struct tn_tensor *x, int set,
		       uint64_t *state)
{
	int64_t count = tn_tensor_count(x), i;

	for (i = 0; i < count; i++)
		tn_tensor_set_f64(x, i, set == 0 ?
				  special(t->rule, tn_random(state)) :
				  ((double)(tn_random(state) % 4001) - 2000) /
				  (set == 1 ? 8 : 997));
}

static void fill_int(struct tn_tensor *x, int set, uint64_t *state)
{
	static const int64_t values[] = {
		0, 1, -1, 2, -2, 3, 7, INT8_MIN, INT8_MAX, INT16_MIN,
		INT16_MAX, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, 255
	};
	int64_t count = tn_tensor_count(x), i;

	for (i = 0; i < count; i++)
		tn_tensor_set_i64(x, i, x->dtype == TN_bool ?
				  (int64_t)(tn_random(state) & 1) : set == 0 ?
				  values[tn_random(state) % 16] :
				  (int64_t)(tn_random(state) % 41) - 20);
}

/* One tensor a parameter; false: out of memory. */
static bool make_inputs(const struct trial *t, const struct tn_fn *fn,
			int set, struct tn_tensor *in)
{
	uint64_t state = t->seed + (uint64_t)set;
	const struct tn_type *type;
	int64_t shape[TN_MAX_RANK];
	int i, k;

	for (i = 0; i < fn->body->nparams; i++) {
		type = fn->body->params[i]->type;
		for (k = 0; k < type->rank; k++)
			shape[k] = type->dims[k]->value;
		if (!tn_tensor_init(&in[i], type->dtype, type->rank, shape))
			return false;
		if (tn_dtype_is(type->dtype, TN_KIND_F))
			fill_float(t, &in[i], set, &state);
		else
			fill_int(&in[i], set, &state);
	}
	return true;
}

static void free_all(struct tn_tensor *list, int count)
{
	int i;

	for (i = 0; i < count; i++)
		tn_tensor_fini(&list[i]);
}

/* ---- Comparing --------------------------------------------------------- */

/* The distance of 1 from its next neighbour. */
static double step_of(enum tn_dtype dtype)
{
	switch ((int)dtype) {
	case TN_f64:
		return 0x1p-52;
	case TN_f32:
		return 0x1p-23;
	case TN_f16:
		return 0x1p-10;
	default:
		return 0x1p-7;
	}
}

/* What has been computed in another order may be apart by rounding of what
 * stood in between, of which the operands give the size: SCALE, the square of
 * the largest of the moderate inputs. */
#define SCALE 1e5

static bool near(const struct tn_rule *rule, const struct tn_tensor *a,
		 const struct tn_tensor *b, int64_t at)
{
	double x = tn_tensor_get_f64(a, at), y = tn_tensor_get_f64(b, at);
	double step = step_of(a->dtype);

	if (isnan(x) && isnan(y))
		return true;
	if (permits(rule, "nsz") && x == 0 && y == 0)
		return true;
	if (rule->licence == TN_RULE_EXACT ||
	    (rule->licence == TN_RULE_FP && !permits(rule, "reassoc") &&
	     !permits(rule, "arcp") && !permits(rule, "contract") &&
	     !permits(rule, "afn")))
		return x == y && signbit(x) == signbit(y);
	if (!isfinite(x) || !isfinite(y))
		return x == y || permits(rule, "reassoc");
	return fabs(x - y) <= 64 * step * (fabs(x) + fabs(y) +
					   (permits(rule, "reassoc") ? SCALE : 1));
}

static bool same(const struct tn_rule *rule, const struct tn_tensor *a,
		 const struct tn_tensor *b, int64_t *at)
{
	size_t width = (size_t)tn_dtype_bytes(a->dtype);
	int64_t count = tn_tensor_count(a);
	bool is_float = tn_dtype_is(a->dtype, TN_KIND_F);

	for (*at = 0; *at < count; ++*at)
		if (memcmp((const char *)a->data + (size_t)*at * width,
			   (const char *)b->data + (size_t)*at * width,
			   width) != 0 &&
		    (!is_float || !near(rule, a, b, *at)))
			return false;
	return true;
}

/* Element `at` as a literal of its type. */
static void put_element(const struct tn_tensor *tensor, int64_t at,
			char out[40])
{
	double value = tn_tensor_get_f64(tensor, at);

	if (tn_dtype_is(tensor->dtype, TN_KIND_F))
		tn_num_print_f64(value, out);
	else
		snprintf(out, 40, "%.0f", value);
}

/* Element `at` differs; past the last one: the flag alone does. */
static void differ(struct trial *t, const struct tn_fn *before,
		   const struct tn_tensor *a, const struct tn_tensor *b,
		   int64_t at)
{
	struct tn_print_options options = {.alone = true};
	char was[40], is[40];

	if (at < tn_tensor_count(a)) {
		put_element(a, at, was);
		put_element(b, at, is);
		tn_buf_putf(&t->why, "element %lld is %s, and %s after it, "
			    "in\n", (long long)at, was, is);
	} else {
		tn_buf_put(&t->why, "the elements are the same, but the flag "
			   "is not, in\n");
	}
	tn_print_fn(&t->why, before, &options);
}

/* ---- One place --------------------------------------------------------- */

enum verdict { NOT_THERE, GOOD, BAD, STOPPED };

static enum verdict compare_once(struct trial *t, const struct tn_fn *before,
				 const struct tn_fn *after, int set)
{
	struct tn_ref_result a = {0}, b = {0};
	struct tn_tensor in[TN_RULE_VARS] = {{0}}, x = {0}, y = {0};
	enum verdict verdict = STOPPED;
	int n = before->body->nparams;
	int64_t at = 0;

	if (make_inputs(t, before, set, in) &&
	    !tn_ref_run(t->module->ir, before, n, in, NULL, &x, &a) &&
	    !tn_ref_run(t->module->ir, after, n, in, NULL, &y, &b)) {
		verdict = same(t->rule, &x, &y, &at) && a.flags == b.flags ?
			  GOOD : BAD;
		if (verdict == BAD)
			differ(t, before, &x, &y, at);
	}
	tn_tensor_fini(&x);
	tn_tensor_fini(&y);
	free_all(in, n);
	return verdict;
}

/* Applies the rules to the function; true if any fitted. */
static bool apply(struct trial *t, struct tn_fn *fn,
		  const struct tn_rule_set *rules, const char *fp)
{
	struct tn_rw rw = {.module = t->module->ir, .fuel = -1};
	struct tn_simplify options = {
		.rw = &rw, .fn = fn, .rules = rules, .fp = fp
	};
	bool changed;

	return tn_simplify(&options, &changed) && changed;
}

static enum verdict try_place(struct trial *t, int dtype, int rank)
{
	struct tn_elab *elab = t->module->elab;
	struct tn_fn *before, *after;
	enum verdict verdict = NOT_THERE;
	int set;

	before = tn_elab_rule_sample(elab, t->rule, dtype, rank, t->seed);
	after = before ? tn_elab_rule_sample(elab, t->rule, dtype, rank,
					     t->seed) : NULL;
	if (after && apply(t, after, &t->alone, "fast")) {
		verdict = GOOD;
		t->report->places++;
	}
	for (set = 0; verdict == GOOD && set < INPUT_SETS; set++)
		verdict = compare_once(t, before, after, set);
	if (after)
		tn_elab_rule_drop(elab, after);
	if (before)
		tn_elab_rule_drop(elab, before);
	return verdict;
}

/* ---- Orders ------------------------------------------------------------ */

static void shuffle(struct trial *t, uint64_t seed)
{
	const struct tn_vec *rules = &t->module->rules.rules;
	struct tn_rule *rule;
	size_t i;

	for (i = 0; i < rules->len; i++) {
		rule = tn_vec_ptr(rules, i);
		rule->priority = seed ? (int)(tn_random(&seed) % 1000) :
					rule->nnodes;
	}
}

/* All rules at a place, in some order: they end, and what an exact rule found
 * there is still the same. */
static enum verdict try_order(struct trial *t, int dtype, int rank,
			      uint64_t order)
{
	struct tn_elab *elab = t->module->elab;
	struct tn_sink *sink = &t->module->context->sink;
	uint32_t warnings = sink->warnings;
	struct tn_fn *before, *after;
	enum verdict verdict = NOT_THERE;

	before = tn_elab_rule_sample(elab, t->rule, dtype, rank, t->seed);
	after = before ? tn_elab_rule_sample(elab, t->rule, dtype, rank,
					     t->seed) : NULL;
	if (after) {
		shuffle(t, order);
		apply(t, after, &t->module->rules, NULL);
		shuffle(t, 0);
		verdict = compare_once(t, before, after, 0);
	}
	if (verdict == GOOD && sink->warnings > warnings) {
		tn_buf_put(&t->why, "the rules do not end in some order");
		verdict = BAD;
	}
	if (after)
		tn_elab_rule_drop(elab, after);
	if (before)
		tn_elab_rule_drop(elab, before);
	return verdict;
}

static enum verdict try_orders(struct trial *t, int dtype, int rank)
{
	enum verdict verdict = GOOD;
	uint64_t order;

	for (order = 1; order <= ORDERS && verdict == GOOD; order++)
		verdict = try_order(t, dtype, rank, order * 7919 + t->seed);
	return verdict;
}

/* ---- One rule ---------------------------------------------------------- */

static enum verdict try_rule(struct trial *t)
{
	enum verdict verdict = NOT_THERE, one;
	int dtype, rank, seed, found;

	for (dtype = 0; dtype < TN_DTYPE_COUNT; dtype++)
		for (rank = 0; rank < RANKS; rank++)
			for (seed = found = 0; seed < SEEDS && found < PLACES;
			     seed++) {
				t->seed = (uint64_t)(seed * 131 + rank * 17 +
						     dtype + 1);
				one = try_place(t, dtype, rank);
				if (one == GOOD && !found)
					one = try_orders(t, dtype, rank);
				found += one == GOOD;
				if (one == BAD || one == STOPPED)
					return one;
				if (one == GOOD)
					verdict = GOOD;
			}
	return verdict;
}

static enum tn_status check_rule(struct tenon_module *module, int number,
				 struct tenon_rule *report)
{
	const struct tn_rule *rule = tn_vec_ptr(&module->rules.rules,
						(size_t)number);
	struct trial t = {.module = module, .rule = rule, .report = report,
			  .alone = module->rules};
	enum verdict verdict = STOPPED;

	tn_vec_init(&t.alone.rules, sizeof(struct tn_rule *), NULL);
	tn_buf_init(&t.why);
	report->name = rule->name;
	if (tn_vec_push_ptr(&t.alone.rules, rule))
		verdict = try_rule(&t);
	report->passed = verdict == GOOD;
	if (verdict == NOT_THERE)
		tn_buf_put(&t.why, "nothing that was tried fits its left "
			   "side and its `where`");
	if (verdict == STOPPED)
		tn_buf_put(&t.why, "the interpreter could not run it");
	report->why = tn_arena_strndup(&module->arena, tn_buf_text(&t.why),
				       t.why.len);
	tn_buf_fini(&t.why);
	tn_vec_fini(&t.alone.rules);
	return verdict == STOPPED && module->ir->failed ? TN_IO : TN_OK;
}

/* A module of its own for each rule: what was made up for one goes with it. */
static enum tenon_status open_rules(struct tenon_context *context,
				    const char *path,
				    struct tenon_module **out)
{
	static const char empty[] = "tenon 1.0;\n";
	enum tenon_status status;

	status = path ? tenon_parse_file(context, path, out) :
		 tenon_parse_text(context, "rules", empty,
				  sizeof(empty) - 1, out);
	if (status == TENON_OK)
		status = (enum tenon_status)tn_module_read_rules(*out);
	return status;
}

enum tenon_status tenon_check_rules(struct tenon_context *context,
				    const char *path,
				    void (*done)(void *data,
						 const struct tenon_rule *),
				    void *data)
{
	enum tenon_status status = TENON_OK;
	struct tenon_module *module;
	struct tenon_rule report;
	bool all_passed = true, more = true;
	int i, number;

	for (i = 0; more && status == TENON_OK; i++) {
		module = NULL;
		report = (struct tenon_rule){0};
		status = open_rules(context, path, &module);
		number = status == TENON_OK && path ?
			 module->nlibrary_rules + i : i;
		more = status == TENON_OK &&
		       (size_t)number < module->rules.rules.len;
		if (more)
			status = (enum tenon_status)check_rule(module, number,
							       &report);
		if (more && status == TENON_OK) {
			all_passed &= report.passed;
			done(data, &report);
		}
		tenon_module_free(module);
	}
	if (status == TENON_OK && !all_passed)
		status = TENON_NO;
	return tn_context_end(context, (enum tn_status)status);
}
