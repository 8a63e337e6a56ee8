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
 *
 * Where sizes are symbols both sides must have one type by proof, and are run
 * for some values of these. A rule that only moves elements is tried with
 * elements that are all different, for each shape of up to three axes of sizes
 * 0 to 3: equal results then are a proof for all elements, at the attributes
 * that were drawn.
 */
#include "base/random.h"
#include "driver/plugin.h"
#include "driver/rule_trial.h"

/* Orders of all rules that each rule's places are simplified in. */
#define ORDERS 3
/* Seeds tried, and places wanted, for each element type and rank. */
#define SEEDS 400
#define PLACES 6
#define RANKS 5
/* The same for each rank where sizes are symbols, and for each shape. */
#define SYMBOLIC_SEEDS 400
#define SYMBOLIC_PLACES 4
#define SHAPE_SEEDS 40
#define SHAPE_PLACES 4
#define SHAPE_RANKS 4

/* ---- Orders ------------------------------------------------------------ */

static void shuffle(struct tn_rule_trial *t, uint64_t seed)
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

static enum tn_rule_verdict try_orders(struct tn_rule_trial *t)
{
	enum tn_rule_verdict verdict = TN_RULE_GOOD;
	uint64_t order;

	for (order = 1; order <= ORDERS && verdict == TN_RULE_GOOD; order++) {
		shuffle(t, order * 7919 + t->place.seed);
		verdict = tn_rule_try_all(t);
	}
	shuffle(t, 0);
	return verdict;
}

/* ---- One rule ---------------------------------------------------------- */

static bool is_wrong(enum tn_rule_verdict verdict)
{
	return verdict == TN_RULE_BAD || verdict == TN_RULE_STOPPED;
}

/* Places of one element type and rank. */
static enum tn_rule_verdict try_places(struct tn_rule_trial *t,
				       struct tenon_rule *report)
{
	enum tn_rule_verdict verdict = TN_RULE_NOT_THERE, one;
	int seed, found = 0;

	for (seed = 0; seed < SEEDS && found < PLACES; seed++) {
		t->place.seed = (uint64_t)(seed * 131 + t->place.rank * 17 +
					   t->place.dtype + 1);
		one = tn_rule_try(t);
		report->places += one == TN_RULE_GOOD;
		if (one == TN_RULE_GOOD && !found)
			one = try_orders(t);
		found += one == TN_RULE_GOOD;
		if (is_wrong(one))
			return one;
		if (one == TN_RULE_GOOD)
			verdict = TN_RULE_GOOD;
	}
	return verdict;
}

static enum tn_rule_verdict try_types(struct tn_rule_trial *t,
				      struct tenon_rule *report)
{
	enum tn_rule_verdict verdict = TN_RULE_NOT_THERE, one;

	for (t->place.dtype = 0; t->place.dtype < TN_DTYPE_COUNT;
	     t->place.dtype++)
		for (t->place.rank = 0; t->place.rank < RANKS;
		     t->place.rank++) {
			one = try_places(t, report);
			if (is_wrong(one))
				return one;
			if (one == TN_RULE_GOOD)
				verdict = TN_RULE_GOOD;
		}
	return verdict;
}

/* Sizes that are symbols: how often the rule fits is told, no more; but where
 * it fits it has to be right. */
static enum tn_rule_verdict try_symbols(struct tn_rule_trial *t,
					struct tenon_rule *report)
{
	enum tn_rule_verdict one;
	int seed, found;

	t->place = (struct tn_rule_place){ .is_symbolic = true };
	for (t->place.rank = 1; t->place.rank < RANKS; t->place.rank++)
		for (seed = found = 0; seed < SYMBOLIC_SEEDS &&
		     found < SYMBOLIC_PLACES; seed++) {
			t->place.seed = (uint64_t)(seed * 137 + 5);
			t->place.dtype = seed;
			one = tn_rule_try(t);
			if (one == TN_RULE_BAD)
				return one;
			found += one == TN_RULE_GOOD;
			report->symbolic += one == TN_RULE_GOOD;
		}
	return TN_RULE_GOOD;
}

/* One shape at some attributes; *moves as tn_rule_prove has it. */
static enum tn_rule_verdict prove_shape(struct tn_rule_trial *t,
					struct tenon_rule *report, bool *moves)
{
	enum tn_rule_verdict one;
	int seed, found = 0;

	for (seed = 0; seed < SHAPE_SEEDS && found < SHAPE_PLACES && *moves;
	     seed++) {
		t->place.seed = (uint64_t)(seed * 139 + 7);
		one = tn_rule_prove(t, moves);
		if (one == TN_RULE_BAD)
			return one;
		found += one == TN_RULE_GOOD;
	}
	report->shapes += found > 0;
	return TN_RULE_GOOD;
}

/* All shapes of few axes and sizes, of a rule that moves elements alone. */
static enum tn_rule_verdict prove_shapes(struct tn_rule_trial *t,
					 struct tenon_rule *report)
{
	enum tn_rule_verdict one = TN_RULE_GOOD;
	bool moves = true;
	int shape;

	t->place = (struct tn_rule_place){ .dtype = TN_i32 };
	for (t->place.rank = 0; t->place.rank < SHAPE_RANKS && moves;
	     t->place.rank++)
		for (shape = 1 << 2 * t->place.rank;
		     shape < 2 << 2 * t->place.rank && moves; shape++) {
			t->place.shape = shape;
			one = prove_shape(t, report, &moves);
			if (one == TN_RULE_BAD)
				return one;
		}
	return TN_RULE_GOOD;
}

static enum tn_rule_verdict try_rule(struct tn_rule_trial *t,
				     struct tenon_rule *report)
{
	enum tn_rule_verdict verdict = try_types(t, report);

	if (verdict == TN_RULE_GOOD)
		verdict = try_symbols(t, report);
	if (verdict == TN_RULE_GOOD)
		verdict = prove_shapes(t, report);
	return verdict;
}

static enum tn_status check_rule(struct tenon_module *module, int number,
				 struct tenon_rule *report)
{
	const struct tn_rule *rule = tn_vec_ptr(&module->rules.rules,
						(size_t)number);
	struct tn_rule_trial t = {.module = module, .rule = rule,
				  .alone = module->rules};
	enum tn_rule_verdict verdict = TN_RULE_STOPPED;

	tn_vec_init(&t.alone.rules, sizeof(struct tn_rule *), NULL);
	tn_buf_init(&t.why);
	report->name = rule->name;
	if (tn_vec_push_ptr(&t.alone.rules, rule))
		verdict = try_rule(&t, report);
	report->passed = verdict == TN_RULE_GOOD;
	if (verdict == TN_RULE_NOT_THERE)
		tn_buf_put(&t.why, "nothing that was tried fits its left "
			   "side and its `where`");
	if (verdict == TN_RULE_STOPPED)
		tn_buf_put(&t.why, "the interpreter could not run it");
	report->why = tn_arena_strndup(&module->arena, tn_buf_text(&t.why),
				       t.why.len);
	tn_buf_fini(&t.why);
	tn_vec_fini(&t.alone.rules);
	return verdict == TN_RULE_STOPPED && module->ir->failed ? TN_IO : TN_OK;
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
	bool only_users = path || tn_plugin_at(context, 0);
	bool all_passed = true, more = true;
	int i, number;

	for (i = 0; more && status == TENON_OK; i++) {
		module = NULL;
		report = (struct tenon_rule){0};
		status = open_rules(context, path, &module);
		number = status == TENON_OK && only_users ?
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
