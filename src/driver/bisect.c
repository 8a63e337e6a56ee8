/*
 * bisect: which single rewrite makes a module wrong.
 *
 * Fuel is the number of rewrites that passes may do. With none the module has
 * to be good, with all of them it is bad; halving what lies between finds the
 * one after which it is bad. Good is what a command says of the printed
 * module, or that the interpreter gives what it gives without passes.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/diff.h"
#include "driver/replay.h"
#include "driver/trial.h"
#include "driver/watch.h"
#include "driver/weights.h"
#include "ir/print.h"

/* Sets of inputs when the interpreter judges. */
#define INPUT_SETS 8

struct search {
	struct tenon_module *module;
	struct tn_fn *entry;
	struct tn_replay_options options;
	struct tn_trial trial;		/* if a command judges; */
	bool has_trial;
	struct tn_probe probe;		/* else */
	struct tn_probe_result want[TN_PROBE_MOST];
	bool has_want;
	bool has_schedule;		/* sums may be in another order */
	int first;			/* set to try first: the last that told */
	int64_t tries;
};

/* ---- Judging ------------------------------------------------------------- */

static enum tn_status begin_probe(struct search *s)
{
	struct tenon_context *context = s->module->context;
	enum tn_status status = tn_probe_init(&s->probe, s->entry,
					      INPUT_SETS);
	int set;

	if (status)
		return status;
	if (!s->probe.nsets) {
		tn_context_report(context, TN_E0027, "no inputs were found "
				  "that '%s' accepts", s->entry->name);
		return TN_UNSUPPORTED;
	}
	s->has_want = true;
	status = tn_probe_run(&s->probe, s->entry, s->want, NULL);
	for (set = 0; set < s->probe.nsets; set++)
		s->want[set].least = 0;
	return status;
}

/* Up to the first set of inputs that tells. */
static enum tn_status judge_probe(struct search *s, struct tn_fn *fn,
				  bool *bad)
{
	struct tn_probe_difference difference;
	double rtol = tn_check_tolerance(s->module, s->entry, s->has_schedule ?
					 "schedule" : "simplify");
	enum tn_status status = TN_OK;
	struct tn_probe_result got;
	int i, set;

	*bad = false;
	for (i = 0; i < s->probe.nsets && !status && !*bad; i++) {
		set = (s->first + i) % s->probe.nsets;
		status = tn_probe_run_one(&s->probe, fn, set, &got, NULL);
		*bad = status ? status != TN_IO :
			!tn_probe_same(&s->want[set], &got, rtol, &difference);
		if (*bad)
			s->first = set;
		tn_probe_drop_one(&got);
	}
	return *bad ? TN_OK : status;
}

static enum tn_status judge(struct search *s, struct tn_replay *replay,
			    bool *bad)
{
	enum tn_status status;
	int code = 0;

	s->tries++;
	if (!s->has_trial)
		return judge_probe(s, replay->entry, bad);
	status = tn_trial_module(&s->trial, replay->module, &code);
	*bad = code != 0;
	return status;
}

/* A pipeline that fails with so much fuel is bad, too. */
static enum tn_status is_bad(void *data, int64_t fuel, bool *bad)
{
	struct search *s = data;
	struct tn_replay replay;
	enum tn_status status;

	s->options.fuel = fuel;
	status = tn_replay_open(&s->options, &replay);
	*bad = status == TN_BUG || status == TN_BAD_INPUT;
	if (!status)
		status = judge(s, &replay, bad);
	tn_replay_close(&replay);
	return *bad ? TN_OK : status;
}

/* ---- What was found ------------------------------------------------------ */

static enum tn_status print_at(struct search *s, int64_t fuel, int steps,
			       struct tn_buf *out)
{
	struct tn_print_options print = {0};
	struct tn_replay replay;
	enum tn_status status;

	s->options.fuel = fuel;
	s->options.steps = steps;
	status = tn_replay_open(&s->options, &replay);
	if (!status)
		tn_print_module(out, replay.module->ir, &print);
	tn_replay_close(&replay);
	return out->failed ? TN_IO : status;
}

/* The number of the pass in which the fuel goes out. */
static enum tn_status find_step(struct search *s, int64_t fuel,
				int *steps)
{
	struct tn_replay replay;
	enum tn_status status = TN_OK;
	int64_t spent = 0;

	for (*steps = 0; spent < fuel && !status; ++*steps) {
		s->options.fuel = fuel;
		s->options.steps = *steps + 1;
		status = tn_replay_open(&s->options, &replay);
		spent = replay.spent;
		if (replay.step + 1 < *steps + 1)
			spent = fuel;
		tn_replay_close(&replay);
	}
	return status;
}

static const char *keep(struct tenon_module *module, const char *text)
{
	return text ? tn_arena_strndup(&module->arena, text, strlen(text)) :
		NULL;
}

static enum tn_status describe(struct search *s, int64_t fuel, int steps,
			       struct tenon_bisection *out)
{
	struct tn_replay replay;
	enum tn_status status;
	struct tn_buf place;

	s->options.fuel = fuel;
	s->options.steps = steps;
	status = tn_replay_open(&s->options, &replay);
	tn_buf_init(&place);
	if (!status) {
		out->found = true;
		out->rewrite = fuel;
		out->pass = keep(s->module, replay.last.pass);
		out->rule = keep(s->module, replay.last.rule);
		out->op = keep(s->module, replay.last.op);
		out->value = keep(s->module, replay.last.value);
		tn_replay_put_place(&replay, replay.last.span, &place);
		out->place = keep(s->module, tn_buf_text(&place));
	}
	tn_buf_fini(&place);
	tn_replay_close(&replay);
	return status;
}

/* Passes that fail leave no module to show: what they said is told. */
static bool tell_failure(struct search *s, int64_t fuel,
			 struct tenon_bisection *out)
{
	struct tn_replay replay;
	enum tn_status status;

	s->options.fuel = fuel;
	s->options.steps = -1;
	status = tn_replay_open(&s->options, &replay);
	out->found = status == TN_BUG || status == TN_BAD_INPUT;
	out->rewrite = fuel;
	if (out->found)
		tn_replay_tell(&replay, s->module->context);
	tn_replay_close(&replay);
	return out->found;
}

static enum tn_status tell(struct search *s, int64_t fuel,
			   struct tenon_bisection *out)
{
	struct tn_buf before, after, diff;
	enum tn_status status;
	int steps;

	if (tell_failure(s, fuel, out))
		return TN_OK;

	tn_buf_init(&before);
	tn_buf_init(&after);
	tn_buf_init(&diff);
	status = find_step(s, fuel, &steps);
	if (!status)
		status = print_at(s, fuel - 1, steps, &before);
	if (!status)
		status = print_at(s, fuel, steps, &after);
	if (!status && !tn_diff(&diff, tn_buf_text(&before),
				tn_buf_text(&after)))
		status = TN_IO;
	if (!status)
		status = describe(s, fuel, steps, out);
	if (!status)
		out->diff = keep(s->module, tn_buf_text(&diff));
	tn_buf_fini(&before);
	tn_buf_fini(&after);
	tn_buf_fini(&diff);
	return status;
}

/* ---- The search ---------------------------------------------------------- */

/* Schedules may change the order of sums, which hides what is small: the
 * interpreter judges what comes before them first, exactly. The list up to
 * there, or NULL. */
static const char *until_schedule(struct search *s)
{
	const char *passes = s->options.passes;
	const char *at = strstr(passes, ",schedule");

	return at ? tn_arena_strndup(&s->module->arena, passes,
				     (size_t)(at - passes)) : NULL;
}

/* Rewrites that all passes do without a limit; `fails` if they do not end
 * well, and were counted up to the one that fails. */
static enum tn_status count_rewrites(struct search *s, int64_t *out,
				     bool *fails)
{
	struct tn_replay replay;
	enum tn_status status;

	s->options.fuel = -1;
	status = tn_replay_open(&s->options, &replay);
	*out = replay.spent;
	*fails = status == TN_BUG || status == TN_BAD_INPUT;
	tn_replay_close(&replay);
	return *fails ? TN_OK : status;
}

/* Fuel enough to fail, for passes that were not counted to their end. */
static enum tn_status reach_failure(struct search *s, int64_t *fuel)
{
	enum tn_status status = TN_OK;
	bool bad = false;

	while (!status && !bad && *fuel < INT32_MAX) {
		*fuel = *fuel * 2 + 1;
		status = is_bad(s, *fuel, &bad);
	}
	return status;
}

static enum tn_status search(struct search *s, struct tenon_bisection *out)
{
	struct tn_bisect bisect = { is_bad, s };
	int64_t all, found;
	bool bad = false, fails;
	enum tn_status status = count_rewrites(s, &all, &fails);

	out->rewrites = all;
	if (!status)
		status = is_bad(s, -1, &bad);
	if (status || !bad)
		return status;
	status = is_bad(s, 0, &bad);
	if (!status && bad) {
		tn_context_report(s->module->context, TN_E0028,
				  "it is wrong without any rewrite, too");
		return TN_NO;
	}
	if (!status && fails)
		status = reach_failure(s, &all);
	if (!status)
		status = tn_bisect_run(&bisect, 0, all, &found);
	if (!status)
		status = tell(s, found, out);
	if (out->rewrites < out->rewrite)
		out->rewrites = out->rewrite;
	out->tries = s->tries;
	return status ? status : TN_NO;
}

static enum tn_status begin(struct search *s, const char *command)
{
	enum tn_status status = tn_module_read_rules(s->module);

	if (status)
		return status;
	s->entry = tn_module_pick(s->module);
	if (!s->entry)
		return TN_BAD_INPUT;
	s->options = (struct tn_replay_options){
		.of = s->module, .fn = s->entry->name, .steps = -1,
		.passes = tn_module_passes(s->module)
	};
	if (command) {
		s->has_trial = true;
		status = tn_trial_init(&s->trial, s->module->context, command,
				       "module.tn");
	} else {
		status = (enum tn_status)tn_weights_by_settings(s->module);
		if (!status)
			status = begin_probe(s);
	}
	return status;
}

static enum tn_status search_all(struct search *s, struct tenon_bisection *out)
{
	const char *all = s->options.passes;
	enum tn_status status = TN_OK;

	s->options.passes = s->has_trial ? NULL : until_schedule(s);
	if (s->options.passes)
		status = search(s, out);
	if (status || out->found)
		return status;
	s->options.passes = all;
	s->options.steps = -1;
	s->has_schedule = strstr(all, "schedule") != NULL;
	return search(s, out);
}

enum tenon_status tenon_module_bisect(struct tenon_module *module,
				      const char *command,
				      struct tenon_bisection *out)
{
	enum tn_status status = TN_IO;
	struct search *s;

	if (!module || !out)
		return TENON_USAGE;
	*out = (struct tenon_bisection){0};
	s = calloc(1, sizeof(*s));
	if (s) {
		s->module = module;
		status = begin(s, command);
		if (!status)
			status = search_all(s, out);
		if (s->has_trial)
			tn_trial_fini(&s->trial);
		if (s->has_want)
			tn_probe_drop(&s->probe, s->want);
		tn_probe_fini(&s->probe);
		free(s);
	}
	return tn_context_end(module->context, status);
}
