/*
 * What the files of the default schedule share: steps that may be refused, the
 * shape of nests, threads.
 */
#include "passes/schedule_plan.h"

/* ---- The shape of nests -------------------------------------------------- */

struct tn_kstmt *tn_splan_first_loop(const struct tn_kblock *block)
{
	struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		if (tn_kstmt_is_loop(s))
			return s;
	return NULL;
}

struct tn_kstmt *tn_splan_only_loop(const struct tn_kstmt *loop)
{
	struct tn_kstmt *s = loop->body.first;

	return tn_kstmt_is_loop(s) && !s->next ? s : NULL;
}

/* Only lets and stores, so that lanes go together. */
static bool is_straight(const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		if (s->kind != TN_KSTMT_LET && s->kind != TN_KSTMT_STORE)
			return false;
	return true;
}

/* Every store of the body runs along its buffer's last axis. */
static bool is_contiguous(const struct tn_kstmt *loop)
{
	const struct tn_kstmt *s;

	for (s = loop->body.first; s; s = s->next)
		if (s->kind == TN_KSTMT_STORE &&
		    (s->nindex == 0 ||
		     !tn_kexpr_reads(s->index[s->nindex - 1],
					loop->var)))
			return false;
	return true;
}

bool tn_splan_is_vector(const struct tn_splan *plan,
			const struct tn_kstmt *loop)
{
	return is_straight(&loop->body) && is_contiguous(loop) &&
		tn_schedule_is_independent(plan->kernel->module, loop);
}

struct tn_kstmt *tn_splan_find(struct tn_splan *plan, const char *name)
{
	const char *interned = tn_intern_text(plan->kernel->module->names,
					      name);
	struct tn_kstmt *loop = NULL;
	struct tn_vec loops;

	tn_vec_init(&loops, sizeof(struct tn_kstmt *), NULL);
	if (!interned ||
	    !tn_schedule_find(&plan->kernel->body, interned, &loops))
		plan->failed = true;
	else if (loops.len)
		loop = tn_vec_ptr(&loops, 0);
	tn_vec_fini(&loops);
	return loop;
}

/* ---- Steps --------------------------------------------------------------- */

void tn_splan_save(struct tn_splan *plan, struct tn_splan_mark *mark)
{
	struct tn_kernel *kernel = plan->kernel;

	mark->body.first = mark->body.last = NULL;
	mark->scratch_bytes = kernel->scratch_bytes;
	mark->len = plan->done.len;
	if (!tn_kblock_clone(kernel, &kernel->body, &mark->body, NULL, NULL))
		plan->failed = true;
}

void tn_splan_restore(struct tn_splan *plan, struct tn_splan_mark *mark)
{
	struct tn_kernel *kernel = plan->kernel;
	struct tn_kstmt *s;

	if (plan->failed)
		return;
	kernel->body = mark->body;
	for (s = kernel->body.first; s; s = s->next)
		s->parent = &kernel->body;
	kernel->scratch_bytes = mark->scratch_bytes;
	plan->done.len = mark->len;
	if (plan->done.data)
		plan->done.data[mark->len] = '\0';
}

/* Steps that would have been good, and why they were not taken. */
static void tell_refusal(const struct tn_splan *plan, const char *steps,
			 const struct tn_buf *why)
{
	struct tn_events *events = plan->kernel->module->events;

	tn_event_begin(events, "miss");
	tn_event_text(events, "pass", "schedule");
	tn_event_text(events, "rule", steps);
	tn_event_text(events, "kernel", plan->kernel->name);
	tn_event_text(events, "reason", tn_buf_text(why));
	tn_event_end(events);
}

bool tn_splan_step(struct tn_splan *plan, const char *format, ...)
{
	struct tn_splan_mark mark;
	struct tn_buf text, why;
	va_list args;
	bool good;

	tn_buf_init(&text);
	tn_buf_init(&why);
	va_start(args, format);
	tn_buf_vputf(&text, format, args);
	va_end(args);
	tn_splan_save(plan, &mark);
	plan->failed |= text.failed;
	good = !plan->failed &&
		tn_schedule_apply(plan->kernel, tn_buf_text(&text), &why);
	if (good)
		tn_buf_putf(&plan->done, "%s%s", plan->done.len ? ", " : "",
			    tn_buf_text(&text));
	else
		tn_splan_restore(plan, &mark);
	if (!good && !plan->failed)
		tell_refusal(plan, tn_buf_text(&text), &why);
	tn_buf_fini(&text);
	tn_buf_fini(&why);
	return good;
}

/* ---- Names --------------------------------------------------------------- */

static void list_loop(void *data, const struct tn_kstmt *s)
{
	struct tn_splan_names *list = data;

	if (tn_kstmt_is_loop(s) && list->n < TN_SPLAN_NAMES)
		list->names[list->n++] = s->var->name;
}

void tn_splan_list(const struct tn_kblock *block, struct tn_splan_names *list)
{
	struct tn_kvisitor visitor = { NULL, list_loop, list };

	tn_kblock_visit(block, &visitor);
}

const char *tn_splan_own_name(struct tn_splan *plan, const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
	const struct tn_kernel *kernel = plan->kernel;
	char text[2] = { 0 };
	const char *letter;
	size_t i;

	if (tn_schedule_may_derive(kernel, &kernel->body, name))
		return name;
	for (i = 0; letters[i] && !plan->failed; i++) {
		text[0] = letters[i];
		letter = tn_intern_text(plan->kernel->module->names, text);
		if (!letter)
			plan->failed = true;
		else if (tn_schedule_may_derive(kernel, &kernel->body,
						letter) &&
			 tn_splan_step(plan, "rename(%s, %s)", name, letter))
			return letter;
	}
	return name;
}

struct tn_kstmt *tn_splan_own_names(struct tn_splan *plan,
				    const struct tn_kstmt *loop)
{
	struct tn_splan_names list = { { loop->var->name }, 1 };
	int i;

	tn_splan_list(&loop->body, &list);
	for (i = 0; i < list.n && !plan->failed; i++)
		list.names[i] = tn_splan_own_name(plan, list.names[i]);
	return tn_splan_find(plan, list.names[0]);
}

/* ---- Threads ------------------------------------------------------------- */

/* Turns from which a loop has work for all threads. */
#define AMPLE 64

/* The loops of the name, and whether threads pay for them from *min turns. */
static enum tn_worth worth_of(struct tn_splan *plan, const char *name,
			      struct tn_vec *loops, int64_t *min)
{
	const char *interned = tn_intern_text(plan->kernel->module->names,
					      name);

	loops->len = 0;
	if (!interned ||
	    !tn_schedule_find(&plan->kernel->body, interned, loops)) {
		plan->failed = true;
		return TN_WORTH_NEVER;
	}
	return tn_schedule_worth(loops, min);
}

/* The loop inside the first of the list with which it may become one: all that
 * it holds, and as free. NULL: none, or it has turns enough. */
static const struct tn_kstmt *partner(const struct tn_splan *plan,
				      const struct tn_vec *loops)
{
	const struct tn_kstmt *loop = tn_vec_ptr(loops, 0), *inner;

	inner = loop ? tn_splan_only_loop(loop) : NULL;
	if (!inner || tn_kloop_most(loop) >= AMPLE ||
	    inner->loop != TN_LOOP_FOR ||
	    !tn_schedule_is_independent(plan->kernel->module, inner))
		return NULL;
	return inner;
}

void tn_splan_threads(struct tn_splan *plan, const char *name)
{
	const struct tn_kstmt *inner;
	enum tn_worth worth;
	struct tn_vec loops;
	struct tn_buf fused;
	int64_t min = 0;

	tn_vec_init(&loops, sizeof(struct tn_kstmt *), NULL);
	tn_buf_init(&fused);
	tn_buf_put(&fused, name);
	worth = worth_of(plan, name, &loops, &min);
	while (worth != TN_WORTH_NEVER && (inner = partner(plan, &loops)) &&
	       tn_splan_step(plan, "fuse(%s, %s)", tn_buf_text(&fused),
		    inner->var->name)) {
		tn_buf_putf(&fused, "__%s", inner->var->name);
		worth = worth_of(plan, tn_buf_text(&fused), &loops, &min);
	}
	if (worth == TN_WORTH_FROM)
		tn_splan_step(plan, "parallel(%s, min=%lld)",
			      tn_buf_text(&fused), (long long)min);
	if (worth == TN_WORTH_ALWAYS)
		tn_splan_step(plan, "parallel(%s)", tn_buf_text(&fused));
	plan->failed |= fused.failed;
	tn_buf_fini(&fused);
	tn_vec_fini(&loops);
}
