/*
 * What compiling made of a module, in a screen: signature, kernels, memory,
 * weights; what became of single values; what passes did not do, and why.
 */
#include "driver/explain.h"

#include <stdlib.h>
#include <string.h>

#include "driver/signature.h"
#include "driver/target.h"
#include "ir/kernel.h"

struct tally {
	struct tn_buf *out;
	int launches, flow, ops;
	struct tn_map seen;	/* kernels shown */
	struct tn_map counts;	/* kernel -> launches of it */
	struct tn_map used;	/* values that are read */
};

static bool note_used(struct tally *t, const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nin; i++)
		if (!tn_map_set(&t->used, tn_graph_in(op, i), t))
			return false;
	return true;
}

static bool count_op(void *data, struct tn_op *op)
{
	struct tally *t = data;
	intptr_t n;

	if (!note_used(t, op))
		return false;
	t->ops++;
	if (op->nregions)
		t->flow++;
	if (op->code != TN_OP_launch)
		return true;
	t->launches++;
	n = (intptr_t)tn_map_find(&t->counts, op->kernel);
	return tn_map_set(&t->counts, op->kernel, (void *)(n + 1));
}

static void put_size(struct tn_buf *out, int64_t bytes)
{
	if (bytes < 10000)
		tn_buf_putf(out, "%lld bytes", (long long)bytes);
	else if (bytes < 10000000)
		tn_buf_putf(out, "%.1f kB", (double)bytes / 1e3);
	else
		tn_buf_putf(out, "%.1f MB", (double)bytes / 1e6);
}

static bool show_kernel(void *data, struct tn_op *op)
{
	struct tally *t = data;
	const struct tn_kernel *kernel = op->kernel;
	long times;

	if (op->code != TN_OP_launch || tn_map_has(&t->seen, kernel))
		return true;
	times = (long)(intptr_t)tn_map_find(&t->counts, kernel);
	tn_buf_putf(t->out, "  %s", kernel->name);
	if (times > 1)
		tn_buf_putf(t->out, " (%ld launches)", times);
	if (kernel->scratch_bytes) {
		tn_buf_put(t->out, ", scratch ");
		put_size(t->out, kernel->scratch_bytes);
	}
	tn_buf_putc(t->out, '\n');
	if (kernel->comment) {
		const char *at = kernel->comment;

		tn_buf_put(t->out, "      ");
		for (; *at; at++) {
			tn_buf_putc(t->out, *at);
			if (*at == '\n' && at[1])
				tn_buf_put(t->out, "      ");
		}
		if (at > kernel->comment && at[-1] != '\n')
			tn_buf_putc(t->out, '\n');
	}
	return tn_map_set(&t->seen, kernel, t);
}

/* Those that are read; others went into them when the program was built. */
static void put_weights(const struct tally *t, const struct tn_module *ir)
{
	const struct tn_weight *weight;
	int64_t total = 0, bytes;
	size_t i, n = 0;

	for (i = 0; i < ir->weights.len; i++) {
		weight = tn_vec_ptr(&ir->weights, i);
		if (!tn_map_has(&t->used, weight->value))
			continue;
		n++;
		bytes = tn_type_max_bytes((struct tn_module *)(uintptr_t)ir,
					  weight->type);
		total += bytes > 0 ? bytes : 0;
	}
	tn_buf_putf(t->out, "weights: %zu, ", n);
	put_size(t->out, total);
	tn_buf_putc(t->out, '\n');
}

static enum tn_status describe(struct tenon_module *module,
			       const struct tn_target *target,
			       struct tn_fn *entry, struct tn_buf *out)
{
	struct tally t = { .out = out };
	struct tn_signature signature;

	if (!tn_signature_of(&module->arena, entry, &signature))
		return TN_IO;
	tn_signature_print(&signature, out);
	tn_map_init_ptr(&t.seen);
	tn_map_init_ptr(&t.counts);
	tn_map_init_ptr(&t.used);
	tn_pass_walk(entry->body, count_op, &t);
	tn_buf_putf(out, "\ntarget: %s\n", target->name);
	put_weights(&t, module->ir);
	tn_buf_put(out, "arena: ");
	put_size(out, entry->arena_bytes);
	tn_buf_put(out, " for the largest sizes\n");
	tn_buf_putf(out, "guards at entry: %zu\n", entry->guards.len);
	tn_buf_putf(out, "kernels: %zu, launches: %d\n", t.counts.len,
		    t.launches);
	tn_pass_walk(entry->body, show_kernel, &t);
	tn_map_fini(&t.seen);
	tn_map_fini(&t.counts);
	tn_map_fini(&t.used);
	return TN_OK;
}

/* ---- Questions ----------------------------------------------------------- */

struct asked {
	struct tenon_module *module;
	struct tn_story *story;
	const struct tenon_question *question;
	struct tn_buf *out;
};

/* After a report. */
static enum tn_status unknown_value(const struct asked *a)
{
	struct tenon_context *context = a->module->context;
	const struct tn_map *values = &a->story->values;
	const char *names[200];
	struct tn_diag *diag;
	size_t count;

	for (count = 0; count < values->len && count < 200; count++)
		names[count] = values->entries[count].key;
	diag = tn_context_report(context, TN_E0004, "%s: no value '%s' was "
				 "met in compiling it", a->module->path,
				 a->question->op);
	tn_context_suggest(context, diag, a->question->op, names, count,
			   "`tenon opt --passes=inline` shows the values");
	return TN_USAGE;
}

static enum tn_status check_pass(const struct asked *a)
{
	const char *pass = a->question->why_not, *names[64];
	struct tenon_context *context = a->module->context;
	const struct tn_pass *more;
	struct tn_diag *diag;
	size_t k;
	int i;

	if (!pass || tn_pass_find(pass))
		return TN_OK;
	for (i = 0; i < tn_npasses && i < 64; i++)
		names[i] = tn_passes[i].name;
	for (k = 0; k < context->passes.len && i < 64; k++) {
		more = tn_vec_ptr(&context->passes, k);
		if (!strcmp(more->name, pass))
			return TN_OK;
		names[i++] = more->name;
	}
	diag = tn_context_report(context, TN_E0004, "there is no pass '%s'",
				 pass);
	tn_context_suggest(context, diag, pass, names, (size_t)i,
			   "`tenon list passes` names them all");
	return TN_USAGE;
}

static bool is_known(const struct asked *a)
{
	const struct tn_map *values = &a->story->values;
	size_t i;

	for (i = 0; i < values->len; i++)
		if (tn_story_is(values->entries[i].key, a->question->op))
			return true;
	return false;
}

/* Whether the value is one that is asked for: without a name, each that a
 * kernel makes. */
static bool is_asked(const struct asked *a, const struct tn_tale *tale)
{
	return a->question->op ? tn_story_is(tale->name, a->question->op) :
				 tale->launch != NULL;
}

/* Each value asked for, in the order in which compiling met them. */
static bool put_tales(const struct asked *a)
{
	const struct tn_map *values = &a->story->values;
	struct tn_tale tale;
	int count = 0;
	size_t i;

	for (i = 0; i < values->len; i++) {
		if (!tn_story_of(a->story, values->entries[i].key, &tale))
			return false;
		if (!is_asked(a, &tale))
			continue;
		if (!a->question->json) {
			tn_buf_put(a->out, count++ ? "\n" : "");
			tn_explain_tale(a->story, &tale, a->out);
			continue;
		}
		tn_buf_put(a->out, count++ ? ",\n" : "");
		tn_explain_tale_json(a->story, &tale, a->out);
	}
	return true;
}

static bool put_misses(const struct asked *a)
{
	const struct tenon_question *q = a->question;
	struct tn_vec misses;
	size_t i;

	if (!tn_story_misses(a->story, q->why_not, q->op, &misses))
		return false;
	for (i = 0; i < misses.len; i++) {
		if (!q->json) {
			tn_explain_miss(a->story, tn_vec_ptr(&misses, i),
					a->out);
			continue;
		}
		tn_buf_put(a->out, i ? ",\n" : "");
		tn_explain_miss_json(a->story, tn_vec_ptr(&misses, i),
				     a->out);
	}
	if (!misses.len && !q->json)
		tn_buf_putf(a->out, "%s tells of nothing that it left as it "
			    "was\n", q->why_not);
	return true;
}

/* "what passes left as it was: fold 1, cse 2". */
static bool count_misses(const struct asked *a)
{
	struct tn_vec misses;
	int counts[64] = { 0 }, i, shown = 0;
	const struct tn_event *miss;
	size_t k;

	if (!tn_story_misses(a->story, NULL, NULL, &misses))
		return false;
	for (k = 0; k < misses.len; k++) {
		miss = tn_vec_ptr(&misses, k);
		for (i = 0; i < tn_npasses && i < 64; i++)
			counts[i] += !strcmp(tn_passes[i].name,
					     tn_event_text_of(miss, "pass"));
	}
	for (i = 0; i < tn_npasses && i < 64; i++)
		if (counts[i])
			tn_buf_putf(a->out, "%s%s %d", shown++ ? ", " :
				    "what passes left as it was: ",
				    tn_passes[i].name, counts[i]);
	tn_buf_put(a->out, shown ? "; --why-not=PASS says why\n" : "");
	return true;
}

/* {"values":[..],"missed":[..]}, or the one that is asked for. */
static bool answer_json(const struct asked *a)
{
	const struct tenon_question *q = a->question;
	bool all = !q->op && !q->why_not, good = true;

	tn_buf_putc(a->out, '{');
	if (!q->why_not) {
		tn_buf_put(a->out, "\"values\":[");
		good = put_tales(a);
		tn_buf_put(a->out, all ? "],\n" : "]");
	}
	if (q->why_not || all) {
		tn_buf_put(a->out, "\"missed\":[");
		good = good && put_misses(a);
		tn_buf_putc(a->out, ']');
	}
	tn_buf_put(a->out, "}\n");
	return good;
}

static enum tn_status answer(const struct asked *a,
			     const struct tn_target *target,
			     struct tn_fn *entry)
{
	const struct tenon_question *q = a->question;
	enum tn_status status = TN_OK;
	bool good = true;

	if (q->op && !is_known(a))
		return unknown_value(a);
	if (q->json) {
		good = answer_json(a);
	} else if (q->why_not) {
		good = put_misses(a);
	} else if (q->op) {
		good = put_tales(a);
	} else {
		status = describe(a->module, target, entry, a->out);
		good = count_misses(a);
	}
	return status || good ? status : TN_IO;
}

static enum tn_status explain(struct tenon_module *module,
			      const struct tenon_question *question,
			      struct tn_buf *out)
{
	struct tn_story story;
	struct asked a = { module, &story, question, out };
	struct tn_target target;
	enum tn_status status = tn_target_pick(module->context, &target);
	struct tn_fn *entry = status ? NULL : tn_module_pick(module);

	if (!entry)
		return status ? status : TN_BAD_INPUT;
	status = check_pass(&a);
	if (status)
		return status;
	tn_story_begin(&story, module);
	status = tn_module_lower(module, &entry, &target);
	if (!tn_story_end(&story) && !status)
		status = TN_IO;
	if (!status)
		status = answer(&a, &target, entry);
	tn_story_fini(&story);
	return status;
}

enum tenon_status tenon_module_explain(struct tenon_module *module,
				       const struct tenon_question *question,
				       char **out)
{
	static const struct tenon_question none;
	enum tn_status status;
	struct tn_buf buf;

	*out = NULL;
	if (!module)
		return TENON_USAGE;
	tn_buf_init(&buf);
	status = explain(module, question ? question : &none, &buf);
	if (!status)
		return tn_context_text(module->context, &buf, out);
	tn_buf_fini(&buf);
	return tn_context_end(module->context, status);
}
