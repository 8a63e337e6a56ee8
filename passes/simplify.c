/*
 * simplify: the rules of rules.tn, and of the user, until none applies.
 *
 *   y = transpose(x, perm=[1, 0]);      rule transpose_transpose
 *   z = transpose(y, perm=[1, 0]);  ->  z = transpose(x, perm=[0, 1]);
 *
 * Operators wait in a list; each is looked at, and after a rewrite what it
 * made and what reads it waits again. Operators on
 * constants are folded before their readers are looked at, so that rules see
 * the values. A rule is applied if it leaves no more
 * operators than it takes away (those whose results others read stay), or as
 * many more as its @benefit allows.
 */
#include <stdlib.h>
#include <string.h>

#include "ir/fixed.h"
#include "passes/fold.h"
#include "passes/match.h"
#include "passes/simplify.h"

/* Rewrites for an operator of the function, on average, after which the rules
 * are taken to go round in circles. */
#define MAX_ROUNDS 20

struct simplify {
	const struct tn_simplify *options;
	const struct tn_matcher *matcher;
	struct tn_fold fold;
	struct tn_vec waiting;		/* struct tn_op *, the next one last */
	struct tn_map is_waiting;
	int64_t left;			/* rewrites until it is too many */
	const struct tn_rule *last;
	bool changed, failed;
};

/* ---- The list ---------------------------------------------------------- */

static bool is_folded(const struct simplify *s, const struct tn_op *op)
{
	return !s->options->keeps_constants && tn_fold_is_due(op);
}

static void wait(struct simplify *s, struct tn_op *op)
{
	if ((tn_matcher_is_idle(s->matcher, op) && !is_folded(s, op)) ||
	    tn_map_find(&s->is_waiting, op))
		return;
	if (!tn_vec_push_ptr(&s->waiting, op) ||
	    !tn_map_set(&s->is_waiting, op, s))
		s->failed = true;
}

static struct tn_op *next(struct simplify *s)
{
	struct tn_op *op = tn_vec_ptr(&s->waiting, s->waiting.len - 1);

	tn_vec_pop(&s->waiting);
	if (!tn_map_set(&s->is_waiting, op, NULL))
		s->failed = true;
	return op;
}

static bool wait_for_all(void *data, struct tn_op *op)
{
	wait(data, op);
	return true;
}

static void turn_round(struct tn_vec *list)
{
	size_t i, n = list->len;
	void **at = list->data, *kept;

	for (i = 0; i < n / 2; i++) {
		kept = at[i];
		at[i] = at[n - 1 - i];
		at[n - 1 - i] = kept;
	}
}

static void wait_for_users(struct simplify *s, const struct tn_value *value)
{
	const struct tn_use *use;

	for (use = value->uses; use; use = use->next)
		wait(s, use->op);
}

/* ---- What a rewrite is worth ------------------------------------------- */

/* Whether only operators of dying nodes read the value. */
static bool is_unread(const struct tn_value *value,
		      const struct tn_rule_match *match, const bool *dies,
		      int nnodes)
{
	const struct tn_use *use;
	int k;

	for (use = value->uses; use; use = use->next) {
		for (k = 0; k < nnodes; k++)
			if (dies[k] && match->nodes[k]->op == use->op)
				break;
		if (k == nnodes)
			return false;
	}
	return true;
}

/* Operators on one side of a rewrite; those that take time are counted once
 * more. */
struct toll {
	int ops, heavy;
};

static void add_toll(struct toll *toll, const struct tn_op *op)
{
	enum tn_op_class op_class = tn_ops[op->code].op_class;

	toll->ops++;
	toll->heavy += op_class == TN_CLASS_CONTRACT ||
		op_class == TN_CLASS_WINDOW;
}

/* What a rewrite leaves unread: the root, and operators that only dying ones
 * read. */
static struct toll count_dying(const struct tn_rule_match *match,
			       const struct tn_rule *rule)
{
	bool dies[TN_RULE_NODES] = { false }, more = true;
	struct toll toll = { 0, 0 };
	int i;

	dies[rule->root->number] = true;
	add_toll(&toll, match->root);
	while (more) {
		more = false;
		for (i = 0; i < rule->nnodes; i++) {
			const struct tn_value *value = match->nodes[i];

			if (dies[i] || !value || !value->op ||
			    value->op->literal ||
			    !is_unread(value, match, dies, rule->nnodes))
				continue;
			dies[i] = more = true;
			add_toll(&toll, value->op);
		}
	}
	return toll;
}

/* Whether folding or `precompute` will know the value of a side. */
static bool is_known(const struct tn_value *value, const struct tn_fn *side,
		     const struct tn_rule *rule,
		     const struct tn_rule_match *match)
{
	int i, at = value->index;

	if (value->op)
		return value->op->number < 0;
	if (value->block != side->body)
		return false;
	for (i = 0; i < rule->nvars; i++)
		if (!rule->vars[i].is_attr && at-- == 0)
			return tn_fixed_value(match->values[i]);
	return false;
}

/* Operators of the right side but for those whose value will be known; these
 * are numbered -1. */
static struct toll count_ops(struct tn_fn *side, const struct tn_rule *rule,
			     const struct tn_rule_match *match)
{
	struct toll toll = { 0, 0 };
	struct tn_op *op;
	int i;

	for (op = side->body->first; op != side->body->last; op = op->next) {
		op->number = -1;
		for (i = 0; i < op->nin; i++)
			if (!is_known(tn_graph_in(op, i), side, rule, match))
				op->number = 0;
		if (op->number == 0)
			add_toll(&toll, op);
	}
	return toll;
}

/* ---- A rewrite --------------------------------------------------------- */

/* Copies the right side before the root; its result. */
static struct tn_value *copy_side(struct simplify *s, const struct tn_fn *side,
				  const struct tn_rule *rule,
				  const struct tn_rule_match *match)
{
	struct tn_rw *rw = s->options->rw;
	struct tn_op *end;
	struct tn_value *result = NULL;
	struct tn_map map;
	int i, param = 0;
	bool good = true;

	tn_map_init_ptr(&map);
	for (i = 0; i < rule->nvars; i++)
		if (!rule->vars[i].is_attr)
			good &= tn_map_set(&map, side->body->params[param++],
					   match->values[i]);
	if (good && tn_rw_clone(rw, side->body, match->root->block,
				match->root, &map, NULL)) {
		end = match->root->prev;
		result = tn_graph_in(end, 0);
		tn_rw_erase(rw, end);
	}
	tn_map_fini(&map);
	return result;
}

/* The op of a node that nobody reads any longer, or NULL. */
static struct tn_op *unread(const struct simplify *s,
			    const struct tn_value *value)
{
	struct tn_op *op = value ? value->op : NULL;

	if (!op || !op->block || op->nout != 1 || op->nregions ||
	    !tn_graph_is_dead(op) ||
	    (op->code == TN_OP_call && !s->options->drops_calls))
		return NULL;
	return op;
}

/* What nobody reads any longer goes, so that uses stay counted right; a node
 * may come before those that read it. */
static void erase_unread(struct simplify *s, struct tn_value *const *values,
			 int count)
{
	bool more = true;
	int i, k;

	while (more) {
		more = false;
		for (i = 0; i < count; i++) {
			struct tn_op *op = unread(s, values[i]);

			if (!op)
				continue;
			for (k = 0; k < op->nin; k++)
				if (tn_graph_in(op, k)->op)
					wait(s, tn_graph_in(op, k)->op);
			tn_rw_erase(s->options->rw, op);
			more = true;
		}
	}
}

/* Whether the function, or whoever compiles it, grants what the rule needs. */
static bool is_licensed(const struct simplify *s, const struct tn_rule *rule)
{
	const struct tn_annot *fp = tn_annots_find(
		&s->options->fn->annots, "fp");

	return tn_rule_is_licensed(rule, s->options->fp) ||
	       (fp && tn_rule_is_licensed(rule, fp->args));
}

/* Told of rules whose pattern fits. */
static void miss_licence(const struct simplify *s, const struct tn_rule *rule,
			 const struct tn_rule_match *match)
{
	bool is_tol = rule->licence == TN_RULE_TOL;

	tn_rw_miss(s->options->rw, rule->name, match->root, NULL,
		   "it needs the licence @%s%s%s, which neither the function "
		   "nor --fp gives", is_tol ? "tol" : "fp(",
		   is_tol ? "" : rule->fp, is_tol ? "" : ")");
}

static void miss_condition(const struct simplify *s,
			   const struct tn_rule *rule,
			   const struct tn_rule_match *match,
			   enum tn_rule_refusal why)
{
	if (why == TN_RULE_WHERE)
		tn_rw_miss(s->options->rw, rule->name, match->root, NULL,
			   "the `where` of the rule does not hold here");
	else if (why == TN_RULE_TYPE)
		tn_rw_miss(s->options->rw, rule->name, match->root, NULL,
			   "what it would make has another type");
}

/* The right side, if it is worth it; NULL after the reason was told. */
static struct tn_fn *find_side(struct simplify *s, const struct tn_rule *rule,
			       const struct tn_rule_match *match)
{
	const struct tn_rule_set *set = s->options->rules;
	enum tn_rule_refusal why;
	struct toll made, dying;
	struct tn_fn *side;

	if (!is_licensed(s, rule)) {
		miss_licence(s, rule, match);
		return NULL;
	}
	side = set->instance(set->data, rule, match, &why);
	if (!side) {
		miss_condition(s, rule, match, why);
		return NULL;
	}
	made = count_ops(side, rule, match);
	dying = count_dying(match, rule);
	if (made.ops > dying.ops + rule->benefit)
		tn_rw_miss(s->options->rw, rule->name, match->root, NULL,
			   "it would make %d operator%s and only %d would go: "
			   "what it starts from is read by others", made.ops,
			   made.ops == 1 ? "" : "s", dying.ops);
	else if (made.heavy > dying.heavy)
		tn_rw_miss(s->options->rw, rule->name, match->root, NULL,
			   "a contraction or window would be computed twice: "
			   "what it starts from is read by others");
	else
		return side;
	return NULL;
}

static bool apply(struct simplify *s, const struct tn_rule *rule,
		  const struct tn_rule_match *match)
{
	struct tn_op *last = match->root->prev, *end = match->root->next;
	const struct tn_block *block = match->root->block;
	struct tn_value *result;
	struct tn_fn *side;

	side = find_side(s, rule, match);
	if (!side || !tn_rw_spend(s->options->rw, rule->name, match->root))
		return false;
	result = copy_side(s, side, rule, match);
	if (!result) {
		s->failed = true;
		return false;
	}
	tn_rw_replace(s->options->rw, match->root, &result);
	if (result->op)
		wait(s, result->op);
	wait_for_users(s, result);
	for (end = end ? end->prev : block->last; end != last; end = end->prev)
		wait(s, end);
	erase_unread(s, match->nodes, rule->nnodes);
	s->last = rule;
	s->left--;
	s->changed = true;
	return true;
}

static bool visit(void *data, const struct tn_rule *rule,
		  const struct tn_rule_match *match)
{
	struct simplify *s = data;
	bool applied;

	tn_timing_begin(s->options->timing, "rewrite");
	applied = apply(s, rule, match);
	tn_timing_end(s->options->timing);
	return !applied && !s->failed;
}

/* ---- The pass ---------------------------------------------------------- */

static void report_circle(const struct simplify *s)
{
	struct tn_sink *sink = s->options->rw->module->sink;
	struct tn_diag *diag;

	diag = tn_diag_report(sink, TN_W0856, s->last->span,
			      "the rules go round in circles; '%s' was the "
			      "last one applied", s->last->name);
	tn_diag_help(sink, diag, "--fuel=N shows the steps; no rule may undo "
		     "what another does");
}

/* What has constants alone for operands is folded or left. */
static void look_at(struct simplify *s, struct tn_op *op)
{
	struct tn_value *value = NULL;

	if (!op->block || op->nout != 1)
		return;
	if (is_folded(s, op)) {
		tn_timing_begin(s->options->timing, "fold");
		value = tn_fold_op(&s->fold, op);
		tn_timing_end(s->options->timing);
		s->failed |= s->fold.failed;
		s->changed |= value != NULL;
	}
	if (value) {
		if (value->op)
			wait(s, value->op);
		wait_for_users(s, value);
	} else if (op->block && !tn_fold_is_constant(op)) {
		tn_timing_begin(s->options->timing, "match");
		tn_matcher_find(s->matcher, op, visit, s);
		tn_timing_end(s->options->timing);
	}
}

static void run(struct simplify *s)
{
	tn_pass_walk(s->options->fn->body, wait_for_all, s);
	turn_round(&s->waiting);
	s->left = MAX_ROUNDS * ((int64_t)s->waiting.len + 10);
	while (s->waiting.len && !s->failed && s->left)
		look_at(s, next(s));
	if (!s->left)
		report_circle(s);
}

bool tn_simplify(const struct tn_simplify *options, bool *changed)
{
	struct simplify s = {
		.options = options,
		.fold = { .rw = options->rw, .limit = TN_FOLD_LIMIT }
	};
	struct tn_arena arena;

	tn_arena_init(&arena);
	tn_vec_init(&s.waiting, sizeof(struct tn_op *), NULL);
	tn_map_init_ptr(&s.is_waiting);
	tn_timing_begin(options->timing, "matcher");
	s.matcher = tn_matcher_new(&arena, options->rules, options->group);
	tn_timing_end(options->timing);
	if (s.matcher)
		run(&s);
	s.failed |= !s.matcher || options->rw->module->failed;
	tn_vec_fini(&s.waiting);
	tn_map_fini(&s.is_waiting);
	tn_arena_fini(&arena);
	*changed = s.changed;
	return !s.failed;
}

/* False after a report. */
static bool has_group(const struct tn_rule_set *rules, const char *group,
		      struct tn_module *module)
{
	const struct tn_span nowhere = { 0, 0, 0 };
	const struct tn_rule *rule;
	size_t i;

	for (i = 0; group && i < rules->rules.len; i++) {
		rule = tn_vec_ptr(&rules->rules, i);
		if (rule->group && !strcmp(rule->group, group))
			return true;
	}
	if (group)
		tn_diag_report(module->sink, TN_E0851, nowhere,
			       "no rule is in the group '%s'", group);
	return !group;
}

enum tn_pass_result tn_pass_simplify(struct tn_pass_context *context)
{
	const struct tn_pass_options *asked = context->options;
	struct tn_simplify options = {
		.rw = context->rw, .fn = context->entry, .fp = asked->fp,
		.timing = asked->timing,
		.group = tn_pass_word(context, "group")
	};
	bool changed;

	if (!asked->rules)
		return TN_PASS_SAME;
	options.rules = asked->rules(asked->rules_data);
	if (!options.rules ||
	    !has_group(options.rules, options.group, context->module))
		return TN_PASS_FAILED;
	if (!tn_simplify(&options, &changed)) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
