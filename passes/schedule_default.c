/*
 * The plain schedule of a fresh kernel: nothing clever, never wrong.
 *
 * In: an unscheduled kernel. Out: the same kernel after a few steps of
 * tn_schedule_apply, recorded as @scheduled. For C the outermost independent
 * loop of each nest goes to threads if they pay (schedule_work.c), the
 * innermost to vectors; sums are kept as tiles in registers
 * (schedule_sums.c). For CUDA the independent outer loops of a nest become
 * one, over the grid. A step that the kernel does not allow is left out.
 *
 *   for i { for j { y[i, j] = exp(x[i, j]) } }
 *   C:     vectorize(j), parallel(i)
 *   CUDA:  fuse(i, j), split(i__j, 256, tail=guard),
 *          bind(i__j__0, grid.x), bind(i__j__1, block.x)
 */
#include "passes/lower.h"
#include "passes/schedule.h"

/* ---- The shape of nests -------------------------------------------------- */

static struct tn_kstmt *first_loop(const struct tn_kblock *block)
{
	struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		if (tn_kstmt_is_loop(s))
			return s;
	return NULL;
}

/* The loop that is all there is in the body of this one, or NULL. */
static struct tn_kstmt *only_loop(const struct tn_kstmt *loop)
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

/* ---- Steps --------------------------------------------------------------- */

/* The body becomes what the copy holds. */
static void restore(struct tn_kernel *kernel, struct tn_kblock *copy)
{
	struct tn_kstmt *s;

	kernel->body = *copy;
	for (s = kernel->body.first; s; s = s->next)
		s->parent = &kernel->body;
}

struct plan {
	struct tn_kernel *kernel;
	const struct tn_target *target;
	struct tn_buf done;	/* the steps that were applied */
	bool failed;		/* out of memory */
};

/* Applies steps, all or none; a refusal leaves the kernel as it was. */
static bool step(struct plan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool step(struct plan *plan, const char *format, ...)
{
	struct tn_kernel *kernel = plan->kernel;
	struct tn_kblock copy = { NULL, NULL };
	struct tn_buf text, why;
	va_list args;
	bool good;

	tn_buf_init(&text);
	tn_buf_init(&why);
	va_start(args, format);
	tn_buf_vputf(&text, format, args);
	va_end(args);
	if (text.failed ||
	    !tn_kblock_clone(kernel, &kernel->body, &copy, NULL, NULL))
		plan->failed = true;
	good = !plan->failed &&
		tn_schedule_apply(kernel, tn_buf_text(&text), &why);
	if (good)
		tn_buf_putf(&plan->done, "%s%s", plan->done.len ? ", " : "",
			    tn_buf_text(&text));
	else if (!plan->failed)
		restore(kernel, &copy);
	tn_buf_fini(&text);
	tn_buf_fini(&why);
	return good;
}

/* What one nest may get; the names outlive the kernel's statements. */
struct choice {
	const char *parallel, *vector;
};

/* Chooses for a nest on a CPU, from the outside in. */
static struct choice choose_cpu(const struct plan *plan,
				const struct tn_kstmt *loop)
{
	struct choice choice = { NULL, NULL };

	for (; loop; loop = first_loop(&loop->body)) {
		if (!tn_schedule_is_independent(plan->kernel->module, loop))
			continue;
		if (is_straight(&loop->body) && is_contiguous(loop))
			choice.vector = loop->var->name;
		if (!choice.parallel && choice.vector != loop->var->name)
			choice.parallel = loop->var->name;
	}
	return choice;
}

/* Turns from which a loop has work for all threads. */
#define AMPLE 64

/* The loops of the name, and whether threads pay for them from *min turns. */
static enum tn_worth worth_of(struct plan *plan, const char *name,
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
static const struct tn_kstmt *partner(const struct plan *plan,
				      const struct tn_vec *loops)
{
	const struct tn_kstmt *loop = tn_vec_ptr(loops, 0), *inner;

	inner = loop ? only_loop(loop) : NULL;
	if (!inner || tn_kloop_most(loop) >= AMPLE ||
	    inner->loop != TN_LOOP_FOR ||
	    !tn_schedule_is_independent(plan->kernel->module, inner))
		return NULL;
	return inner;
}

/* Threads for the loops of the name, where and when they pay; a loop of few
 * turns becomes one with the next. */
static void plan_threads(struct plan *plan, const char *name)
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
	       step(plan, "fuse(%s, %s)", tn_buf_text(&fused),
		    inner->var->name)) {
		tn_buf_putf(&fused, "__%s", inner->var->name);
		worth = worth_of(plan, tn_buf_text(&fused), &loops, &min);
	}
	if (worth == TN_WORTH_FROM)
		step(plan, "parallel(%s, min=%lld)", tn_buf_text(&fused),
		     (long long)min);
	if (worth == TN_WORTH_ALWAYS)
		step(plan, "parallel(%s)", tn_buf_text(&fused));
	plan->failed |= fused.failed;
	tn_buf_fini(&fused);
	tn_vec_fini(&loops);
}

/* A tile of sums, if the nest sums; false if that is refused. */
static bool plan_sums(struct plan *plan, struct tn_kstmt *loop)
{
	struct tn_buf steps, parallel;
	bool good;

	tn_buf_init(&steps);
	tn_buf_init(&parallel);
	good = tn_schedule_sums(plan->kernel->module, loop, plan->target,
				&steps, &parallel) &&
		step(plan, "%s", tn_buf_text(&steps));
	if (steps.failed || parallel.failed)
		plan->failed = true;
	if (good && !plan->failed)
		plan_threads(plan, tn_buf_text(&parallel));
	tn_buf_fini(&steps);
	tn_buf_fini(&parallel);
	return good;
}

static void plan_cpu(struct plan *plan, struct tn_kstmt *loop)
{
	struct choice choice = choose_cpu(plan, loop);

	if (plan_sums(plan, loop))
		return;
	if (choice.vector)
		step(plan, "vectorize(%s)", choice.vector);
	if (choice.parallel)
		plan_threads(plan, choice.parallel);
}

/* The loops of one nest for a GPU: all that are free and tightly nested. Each
 * nest of a kernel is bound, for each becomes a launch of its own. */
static void plan_gpu(struct plan *plan, const struct tn_kstmt *loop)
{
	int threads = plan->target->threads_per_block
		? plan->target->threads_per_block : 256;
	const char *names[TN_MAX_RANK];
	struct tn_buf fused;
	int n = 0, i;

	for (; loop && n < TN_MAX_RANK &&
	     tn_schedule_is_independent(plan->kernel->module, loop);
	     loop = only_loop(loop))
		names[n++] = loop->var->name;
	if (!n)
		return;
	tn_buf_init(&fused);
	tn_buf_put(&fused, names[0]);
	for (i = 1; i < n && step(plan, "fuse(%s, %s)", tn_buf_text(&fused),
				  names[i]); i++)
		tn_buf_putf(&fused, "__%s", names[i]);
	step(plan, "split(%s, %d, tail=guard), bind(%s__0, grid.x), "
	     "bind(%s__1, block.x)", tn_buf_text(&fused), threads,
	     tn_buf_text(&fused), tn_buf_text(&fused));
	if (fused.failed)
		plan->failed = true;
	tn_buf_fini(&fused);
}

/* Plans one nest as if it were all of the kernel, so that many nests take
 * time in proportion; what becomes of it returns to its place. */
static void plan_nest(struct plan *plan, struct tn_kstmt *loop)
{
	struct tn_kernel *whole = plan->kernel, alone = *whole;
	struct tn_kblock *block = loop->parent;
	struct tn_kstmt *before = loop->next, *s;

	alone.body.first = alone.body.last = NULL;
	tn_kstmt_remove(loop);
	tn_kstmt_insert(&alone.body, loop, NULL);
	plan->kernel = &alone;
	if (plan->target->par == TN_PAR_THREADS)
		plan_cpu(plan, loop);
	else if (plan->target->par == TN_PAR_GRID)
		plan_gpu(plan, loop);
	plan->kernel = whole;
	while ((s = alone.body.first)) {
		tn_kstmt_remove(s);
		tn_kstmt_insert(block, s, before);
	}
}

/* From the last nest to the first, so that steps are told in this order. */
static void plan_nests(struct plan *plan)
{
	struct tn_kstmt *s, *prev;

	for (s = plan->kernel->body.last; s && !plan->failed; s = prev) {
		prev = s->prev;
		if (tn_kstmt_is_loop(s))
			plan_nest(plan, s);
	}
}

bool tn_schedule_default(struct tn_kernel *kernel,
			 const struct tn_target *target)
{
	struct plan plan = { .kernel = kernel, .target = target };
	bool good;

	tn_buf_init(&plan.done);
	plan_nests(&plan);
	good = !plan.failed && !plan.done.failed;
	if (good && plan.done.len)
		good = tn_annots_add(kernel->module, &kernel->annots,
				     "scheduled", tn_buf_text(&plan.done),
				     kernel->span);
	tn_buf_fini(&plan.done);
	return good && !kernel->module->arena.failed;
}
