/*
 * Schedules: reads the steps and applies them one after the other.
 *
 * In: a kernel, "split(i, 6), reorder(j, i__0), ...". Out: the kernel
 * rewritten, or the reason why a step is refused.
 */
#include "passes/schedule.h"

#include <string.h>

#include "ir/kernel_check.h"
#include "passes/lower.h"

static const struct {
	const char *name;
	int least, most;	/* positional arguments */
	const char *key;	/* the option it takes */
	bool (*apply)(const struct tn_step *step);
} steps[] = {
	{ "split", 2, 2, "tail", tn_step_split },
	{ "reorder", 2, TN_STEP_ARGS, NULL, tn_step_reorder },
	{ "fuse", 2, 2, NULL, tn_step_fuse },
	{ "peel", 3, 3, NULL, tn_step_peel },
	{ "vectorize", 1, TN_STEP_ARGS, NULL, tn_step_kind },
	{ "unroll", 1, TN_STEP_ARGS, NULL, tn_step_kind },
	{ "parallel", 1, TN_STEP_ARGS, "min", tn_step_kind },
	{ "bind", 2, 2, NULL, tn_step_bind },
	{ "tile", 1, TN_STEP_ARGS, NULL, tn_step_tile },
	{ "pack", 2, TN_STEP_ARGS, "space", tn_step_pack },
	{ "stage", 3, TN_STEP_ARGS, "space", tn_step_pack },
	{ "rename", 2, 2, NULL, tn_step_rename },
	{ "join", 2, TN_STEP_ARGS, NULL, tn_step_join },
	{ "part", 1, 1, NULL, tn_step_part },
	{ "shrink", 1, 1, "space", tn_step_shrink },
	{ "lanes", 2, 2, "width", tn_step_lanes }
};

bool tn_step_refuse(const struct tn_step *step, const char *format, ...)
{
	va_list args;

	tn_buf_putf(step->why, "%s(", step->name);
	if (step->nargs)
		tn_buf_put(step->why, step->args[0]);
	tn_buf_put(step->why, "): ");
	va_start(args, format);
	tn_buf_vputf(step->why, format, args);
	va_end(args);
	return false;
}

const char *tn_step_option(const struct tn_step *step, const char *key,
			   const char *fallback)
{
	int i;

	for (i = 0; i < step->nargs; i++)
		if (step->keys[i] && !strcmp(step->keys[i], key))
			return step->args[i];
	return fallback;
}

int tn_step_positional(const struct tn_step *step)
{
	int i = 0;

	while (i < step->nargs && !step->keys[i])
		i++;
	return i;
}

bool tn_step_names_once(const struct tn_step *step, int first)
{
	int i, k, n = tn_step_positional(step);

	for (i = first; i < n; i++)
		for (k = i + 1; k < n; k++)
			if (step->args[i] == step->args[k])
				return tn_step_refuse(step, "'%s' is named "
						      "twice", step->args[i]);
	return true;
}

struct finding {
	const char *name;
	struct tn_vec *loops;
	bool failed;
};

static void find_loop(void *data, const struct tn_kstmt *s)
{
	struct finding *finding = data;

	if (tn_kstmt_is_loop(s) && s->var->name == finding->name &&
	    !tn_vec_push_ptr(finding->loops, s))
		finding->failed = true;
}

bool tn_schedule_find(const struct tn_kblock *block, const char *name,
		      struct tn_vec *loops)
{
	struct finding finding = { name, loops, false };
	struct tn_kvisitor visitor = { NULL, find_loop, &finding };

	tn_kblock_visit(block, &visitor);
	return !finding.failed;
}

bool tn_step_find(const struct tn_step *step, const char *name,
		  struct tn_vec *loops)
{
	bool good = tn_schedule_find(&step->kernel->body, name, loops);

	if (!good)
		step->kernel->module->failed = true;
	return good;
}

struct naming {
	bool (*test)(const void *data, const char *name);
	const void *data;
};

static bool has_name(void *data, const struct tn_kstmt *s)
{
	const struct naming *naming = data;

	return (s->var && naming->test(naming->data, s->var->name)) ||
		(s->buf && naming->test(naming->data, s->buf->name));
}

bool tn_schedule_has_name(const struct tn_kernel *kernel,
			  const struct tn_kblock *block,
			  bool (*test)(const void *data, const char *name),
			  const void *data)
{
	struct naming naming = { test, data };
	const struct tn_vec *syms = &kernel->module->dims.syms;
	const struct tn_dim *dim;
	size_t k;
	int i;

	for (i = 0; i < kernel->nparams; i++)
		if (test(data, kernel->params[i]->name))
			return true;
	for (k = 0; k < syms->len; k++) {
		dim = tn_vec_ptr(syms, k);
		if (test(data, dim->sym->name))
			return true;
	}
	return tn_kblock_find(block, has_name, &naming) != NULL;
}

/* Both are interned. */
static bool is_same_name(const void *data, const char *name)
{
	return name == data;
}

bool tn_schedule_is_taken(const struct tn_kernel *kernel,
			  const struct tn_kblock *block, const char *name)
{
	return tn_schedule_has_name(kernel, block, is_same_name, name);
}

bool tn_schedule_declares(const struct tn_kstmt *s, const char *name)
{
	if (s->kind == TN_KSTMT_ALLOC)
		return s->buf->name == name;
	return (s->kind == TN_KSTMT_LET || s->kind == TN_KSTMT_LOOP) &&
		s->var->name == name;
}

const char *tn_step_fresh(const struct tn_step *step, const char *base)
{
	struct tn_module *module = step->kernel->module;
	const char *name = tn_intern_text(module->names, base), *text;
	int i;

	for (i = 1; name && tn_schedule_is_taken(step->kernel,
						  &step->kernel->body,
						  name); i++) {
		text = tn_arena_printf(&module->arena, "%s__%d", base, i);
		name = text ? tn_intern_text(module->names, text) : NULL;
	}
	return name;
}

static const char *skip(const char *at)
{
	while (*at && strchr(" ,\t\r\n", *at))
		at++;
	return at;
}

/* Reads a word up to one of `ends`, interned; NULL: no memory or empty. */
static const char *word(struct tn_kernel *kernel, const char **at,
			const char *ends)
{
	const char *from = skip(*at);
	size_t n = strcspn(from, ends);

	*at = from + n;
	while (n && strchr(" \t\r\n", from[n - 1]))
		n--;
	return n ? tn_intern_add(kernel->module->names, from, n) : NULL;
}

static bool read_arg(struct tn_step *step, const char **at)
{
	const char *text;

	if (step->nargs == TN_STEP_ARGS)
		return tn_step_refuse(step, "too many arguments");
	text = word(step->kernel, at, ",=)");
	if (text && **at == '=') {
		step->keys[step->nargs] = text;
		++*at;
		text = word(step->kernel, at, ",)");
	}
	if (!text)
		return tn_step_refuse(step, "an argument is missing");
	step->args[step->nargs++] = text;
	return true;
}

/* Reads one step; false with a reason when the text is wrong. */
static bool read_step(struct tn_step *step, const char **at)
{
	step->nargs = 0;
	memset(step->keys, 0, sizeof step->keys);
	step->name = word(step->kernel, at, "(,)");
	if (!step->name || **at != '(') {
		tn_buf_put(step->why, "a step is written name(arguments)");
		return false;
	}
	++*at;
	while (*skip(*at) && *skip(*at) != ')')
		if (!read_arg(step, at))
			return false;
	*at = skip(*at);
	if (**at != ')')
		return tn_step_refuse(step, "a closing ')' is missing");
	++*at;
	return true;
}

static bool check_args(const struct tn_step *step, int least, int most,
		       const char *key)
{
	int i, n = tn_step_positional(step);

	if (n < least && least == most)
		return tn_step_refuse(step, "needs %d arguments", least);
	if (n < least)
		return tn_step_refuse(step, "needs at least %d argument%s",
				      least, least == 1 ? "" : "s");
	if (n > most)
		return tn_step_refuse(step, "takes %d arguments", most);
	for (i = n; i < step->nargs; i++) {
		if (!step->keys[i])
			return tn_step_refuse(step, "'%s' stands behind an "
					      "option", step->args[i]);
		if (!key || strcmp(step->keys[i], key) != 0)
			return tn_step_refuse(step, "there is no option '%s'",
					      step->keys[i]);
	}
	return true;
}

static bool apply_step(const struct tn_step *step)
{
	size_t i, n = sizeof steps / sizeof *steps;
	const char *names[sizeof steps / sizeof *steps];
	const char *nearest;
	struct tn_buf list;

	for (i = 0; i < n; i++) {
		names[i] = steps[i].name;
		if (!strcmp(steps[i].name, step->name))
			return check_args(step, steps[i].least, steps[i].most,
					  steps[i].key) &&
				steps[i].apply(step);
	}
	nearest = tn_diag_nearest(step->name, names, n);
	if (nearest)
		return tn_step_refuse(step, "there is no such step; did you "
				      "mean %s", nearest);
	tn_buf_init(&list);
	for (i = 0; i < n; i++)
		tn_buf_putf(&list, "%s%s", i ? ", " : "", names[i]);
	tn_step_refuse(step, "there is no such step; there are: %s",
		       tn_buf_text(&list));
	tn_buf_fini(&list);
	return false;
}

bool tn_schedule_apply(struct tn_kernel *kernel, const char *text,
		       struct tn_buf *why)
{
	struct tn_step step = { .kernel = kernel, .why = why };
	const char *at = skip(text);

	while (*at) {
		if (!read_step(&step, &at) || !apply_step(&step))
			return false;
		at = skip(at);
	}
	return !kernel->module->failed && !kernel->module->arena.failed;
}

static struct tn_annot *wanted(struct tn_kernel *kernel)
{
	int i;

	for (i = 0; i < kernel->annots.count; i++)
		if (!strcmp(kernel->annots.list[i].name, "schedule"))
			return &kernel->annots.list[i];
	return NULL;
}

static bool by_annotation(struct tn_kernel *kernel, struct tn_annot *annot)
{
	struct tn_module *module = kernel->module;
	struct tn_diag *diag;
	struct tn_buf why;
	bool good;

	tn_buf_init(&why);
	good = tn_schedule_apply(kernel, annot->args ? annot->args : "",
				 &why);
	annot->name = tn_intern_text(module->names, "scheduled");
	if (!annot->name || module->arena.failed)
		module->failed = true;
	if (!good && !module->failed) {
		diag = tn_diag_report(module->sink, TN_E0801, annot->span,
				      "the schedule of kernel '%s' cannot be "
				      "applied", kernel->name);
		tn_diag_note(module->sink, diag, "%s", tn_buf_text(&why));
	}
	tn_buf_fini(&why);
	return good && !module->failed;
}

/* A loop that somebody has chosen a kind for. */
static bool is_chosen(void *data, const struct tn_kstmt *s)
{
	(void)data;
	return tn_kstmt_is_loop(s) && s->loop != TN_LOOP_FOR;
}

/* Loops that a CPU runs at once; on a GPU turns may work together, with
 * barriers and shared buffers between them. */
static bool is_at_once(const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_LOOP &&
		(s->loop == TN_LOOP_VEC ||
		 (s->loop == TN_LOOP_PAR && s->bind == TN_BIND_THREADS));
}

static bool is_tied(void *data, const struct tn_kstmt *s)
{
	return is_at_once(s) && !tn_schedule_is_free(data, s, s);
}

/* Turns of such loops written by hand must be independent. */
static bool may_run_at_once(struct tn_kernel *kernel)
{
	struct tn_module *module = kernel->module;
	const struct tn_kstmt *tied;
	struct tn_diag *diag;

	tied = tn_kblock_find(&kernel->body, is_tied, module);
	if (!tied)
		return true;
	diag = tn_diag_report(module->sink, TN_E0804, kernel->span,
			      "the turns of loop '%s' of kernel '%s' depend on "
			      "one another", tied->var->name, kernel->name);
	tn_diag_help(module->sink, diag, "write it as `for`");
	return false;
}

/* What a kernel's author asked for: loops of a kind, a schedule. */
static bool by_hand(struct tn_kernel *kernel)
{
	bool chosen = tn_kblock_find(&kernel->body, is_chosen, NULL);
	struct tn_annot *annot = wanted(kernel);

	if (tn_annots_find(&kernel->annots, "scheduled"))
		return true;
	if (chosen && !may_run_at_once(kernel))
		return false;
	return !annot || by_annotation(kernel, annot);
}

/* True if the text says how its loops run. */
static bool is_decided(struct tn_kernel *kernel)
{
	return tn_annots_find(&kernel->annots, "scheduled") ||
		tn_annots_find(&kernel->annots, "schedule") ||
		tn_kblock_find(&kernel->body, is_chosen, NULL);
}

/* A kernel with a schedule gets it, one whose loops have kinds by hand keeps
 * them, all others get the target's default. */
static bool schedule_kernel(struct tn_pass_context *context,
			    struct tn_kernel *kernel)
{
	bool was_chosen = tn_kblock_find(&kernel->body, is_chosen, NULL);

	if (!by_hand(kernel))
		return false;
	return was_chosen || tn_annots_find(&kernel->annots, "scheduled") ||
		tn_schedule_default(kernel, context->target);
}

bool tn_schedule_by_hand(struct tn_module *module)
{
	bool good = true;
	size_t i;

	for (i = 0; i < module->kernels.len; i++)
		good &= by_hand(tn_vec_ptr(&module->kernels, i));
	return good;
}

/* What its loops became, and who says so. */
static void tell_schedule(const struct tn_pass_context *context,
			  const struct tn_kernel *kernel, bool by_hand)
{
	const struct tn_annot *made = tn_annots_find(&kernel->annots,
						     "scheduled");
	struct tn_events *events = context->module->events;

	tn_event_begin(events, "schedule");
	tn_event_text(events, "kernel", kernel->name);
	tn_event_text(events, "by", by_hand ? "hand" : "default");
	tn_event_text(events, "steps", made && made->args ? made->args : "");
	tn_event_end(events);
}

enum tn_pass_result tn_pass_schedule(struct tn_pass_context *context)
{
	struct tn_vec *kernels = &context->module->kernels;
	struct tn_kernel *kernel;
	bool good = true, by_hand;
	size_t i;

	for (i = 0; good && i < kernels->len; i++) {
		kernel = tn_vec_ptr(kernels, i);
		tn_pass_part(context, kernel->name);
		by_hand = is_decided(kernel);
		good = schedule_kernel(context, kernel) &&
			tn_kernel_mark_unchecked(kernel);
		tn_pass_part_end(context);
		if (good)
			tell_schedule(context, kernel, by_hand);
	}
	if (!good)
		return TN_PASS_FAILED;
	return kernels->len ? TN_PASS_CHANGED : TN_PASS_SAME;
}
