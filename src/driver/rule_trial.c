/*
 * A rule at one place; see rule_trial.h.
 */
#include "driver/rule_trial.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backends/ref/ref.h"
#include "base/num.h"
#include "base/random.h"
#include "ir/print.h"
#include "passes/simplify.h"

/* Sets of inputs: special values, then moderate ones; and the one in which no
 * two elements are the same. */
#define INPUT_SETS 3
#define APART INPUT_SETS
/* Symbols that a module of rules comes to have. */
#define MAX_SYMBOLS 4096

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

static void fill_float(const struct tn_rule_trial *t, struct tn_tensor *x,
		       int set, uint64_t *state)
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

/* Values of symbols, by number; the last ones were made for the place. */
static bool pick_sizes(const struct tn_rule_trial *t, int set, int64_t *sizes)
{
	static const int64_t some[] = { 1, 2, 3, 5, 4, 7 };
	const struct tn_dim_pool *pool = &t->module->ir->dims;
	uint64_t state = t->place.seed + 31 * (uint64_t)set;
	int i;

	if (pool->nsyms > MAX_SYMBOLS)
		return false;
	for (i = 0; i < pool->nsyms; i++)
		sizes[i] = some[tn_random(&state) % 6];
	return true;
}

/* Elements of all operands, each another; false: too many for their type. */
static bool fill_apart(struct tn_tensor *x, int64_t *next)
{
	int64_t count = tn_tensor_count(x), i;

	for (i = 0; i < count; i++)
		tn_tensor_set_i64(x, i, (*next)++);
	return *next < INT16_MAX;
}

static bool fill(const struct tn_rule_trial *t, struct tn_tensor *x, int set,
		 uint64_t *state, int64_t *next)
{
	if (set == APART)
		return fill_apart(x, next);
	if (tn_dtype_is(x->dtype, TN_KIND_F))
		fill_float(t, x, set, state);
	else
		fill_int(x, set, state);
	return true;
}

/* One tensor a parameter; false: out of memory, or sizes out of range. */
static bool make_inputs(const struct tn_rule_trial *t, const struct tn_fn *fn,
			int set, struct tn_tensor *in)
{
	uint64_t state = t->place.seed + (uint64_t)set;
	int64_t shape[TN_MAX_RANK], sizes[MAX_SYMBOLS], next = 1;
	const struct tn_type *type;
	int i, k;

	if (!pick_sizes(t, set, sizes))
		return false;
	for (i = 0; i < fn->body->nparams; i++) {
		type = fn->body->params[i]->type;
		for (k = 0; k < type->rank; k++)
			if (!tn_dim_eval(type->dims[k], sizes, &shape[k]))
				return false;
		if (!tn_tensor_init(&in[i], type->dtype, type->rank, shape) ||
		    !fill(t, &in[i], set, &state, &next))
			return false;
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
	     !permits(rule, "afn") && !permits(rule, "tol")))
		return x == y && signbit(x) == signbit(y);
	if (!isfinite(x) || !isfinite(y))
		return x == y || permits(rule, "reassoc");
	return fabs(x - y) <= 64 * step *
	       (fabs(x) + fabs(y) + (permits(rule, "reassoc") ? SCALE : 1));
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
static void differ(struct tn_rule_trial *t, const struct tn_fn *before,
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

/* The function before and after, on one set of inputs. */
static enum tn_rule_verdict compare(struct tn_rule_trial *t,
				    const struct tn_fn *before,
				    const struct tn_fn *after, int set)
{
	struct tn_ref_result a = {0}, b = {0};
	struct tn_tensor in[TN_RULE_VARS] = {{0}}, x = {0}, y = {0};
	enum tn_rule_verdict verdict = TN_RULE_STOPPED;
	int n = before->body->nparams;
	int64_t at = 0;

	if (make_inputs(t, before, set, in) &&
	    !tn_ref_run(t->module->ir, before, n, in, NULL, &x, &a) &&
	    !tn_ref_run(t->module->ir, after, n, in, NULL, &y, &b)) {
		verdict = same(t->rule, &x, &y, &at) && a.flags == b.flags ?
			  TN_RULE_GOOD : TN_RULE_BAD;
		if (verdict == TN_RULE_BAD)
			differ(t, before, &x, &y, at);
	}
	tn_tensor_fini(&x);
	tn_tensor_fini(&y);
	free_all(in, n);
	return verdict;
}

/* Applies the rules to the function; true if any fitted. */
static bool apply(struct tn_rule_trial *t, struct tn_fn *fn,
		  const struct tn_rule_set *rules, const char *fp)
{
	struct tn_rw rw = {.module = t->module->ir, .fuel = -1};
	struct tn_simplify options = {
		.rw = &rw, .fn = fn, .rules = rules, .fp = fp
	};
	bool changed;

	return tn_simplify(&options, &changed) && changed;
}

/* The left side twice; false: what was drawn fits no left side. */
struct sides {
	struct tn_fn *before, *after;
};

static bool make_sides(struct tn_rule_trial *t, struct sides *sides)
{
	struct tn_elab *elab = t->module->elab;

	sides->after = NULL;
	sides->before = tn_elab_rule_sample(elab, t->rule, &t->place);
	if (sides->before)
		sides->after = tn_elab_rule_sample(elab, t->rule, &t->place);
	return sides->after != NULL;
}

static void drop_sides(struct tn_rule_trial *t, struct sides *sides)
{
	if (sides->after)
		tn_elab_rule_drop(t->module->elab, sides->after);
	if (sides->before)
		tn_elab_rule_drop(t->module->elab, sides->before);
}

enum tn_rule_verdict tn_rule_try(struct tn_rule_trial *t)
{
	enum tn_rule_verdict verdict = TN_RULE_NOT_THERE;
	struct sides sides;
	int set;

	if (make_sides(t, &sides) &&
	    apply(t, sides.after, &t->alone, "fast"))
		verdict = TN_RULE_GOOD;
	for (set = 0; verdict == TN_RULE_GOOD && set < INPUT_SETS; set++)
		verdict = compare(t, sides.before, sides.after, set);
	drop_sides(t, &sides);
	return verdict;
}

static bool is_movement(const struct tn_fn *fn)
{
	const struct tn_op *op;

	for (op = fn->body->first; op != fn->body->last; op = op->next)
		if (tn_ops[op->code].op_class != TN_CLASS_MOVE &&
		    !op->literal)
			return false;
	return true;
}

enum tn_rule_verdict tn_rule_prove(struct tn_rule_trial *t, bool *moves)
{
	enum tn_rule_verdict verdict = TN_RULE_NOT_THERE;
	struct sides sides;

	*moves = true;
	if (make_sides(t, &sides) &&
	    apply(t, sides.after, &t->alone, "fast")) {
		*moves = is_movement(sides.before) &&
			is_movement(sides.after);
		if (*moves)
			verdict = compare(t, sides.before, sides.after, APART);
	}
	drop_sides(t, &sides);
	return verdict;
}

enum tn_rule_verdict tn_rule_try_all(struct tn_rule_trial *t)
{
	struct tn_sink *sink = &t->module->context->sink;
	enum tn_rule_verdict verdict = TN_RULE_NOT_THERE;
	uint32_t warnings = sink->warnings;
	struct sides sides;

	if (make_sides(t, &sides)) {
		apply(t, sides.after, &t->module->rules, NULL);
		verdict = compare(t, sides.before, sides.after, 0);
	}
	if (verdict == TN_RULE_GOOD && sink->warnings > warnings) {
		tn_buf_put(&t->why, "the rules do not end in some order");
		verdict = TN_RULE_BAD;
	}
	drop_sides(t, &sides);
	return verdict;
}
