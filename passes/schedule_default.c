/*
 * The plain schedule of a fresh kernel: nothing clever, never wrong.
 *
 * In: an unscheduled kernel. Out: the same kernel after a few steps of
 * tn_schedule_apply, recorded as @scheduled. For C the outermost independent
 * loop of each nest goes to threads if they pay (schedule_work.c), the
 * innermost to vectors; sums are kept as tiles in registers
 * (schedule_sums.c, schedule_windows.c). For CUDA the independent outer loops
 * of a nest become one, over the grid. Nests that share temporaries become one
 * first (schedule_rows.c). A step that the kernel does not allow is left out.
 *
 *   for i { for j { y[i, j] = exp(x[i, j]) } }
 *   C:     vectorize(j), parallel(i)
 *   CUDA:  fuse(i, j), split(i__j, 256, tail=guard),
 *          bind(i__j__0, grid.x), bind(i__j__1, block.x)
 */
#include "passes/lower.h"
#include "passes/schedule_plan.h"

/* What one nest may get; the names outlive the kernel's statements. */
struct choice {
	const char *parallel, *vector;
};

/* Chooses for a nest on a CPU, from the outside in. */
static struct choice choose_cpu(const struct tn_splan *plan,
				const struct tn_kstmt *loop)
{
	struct choice choice = { NULL, NULL };

	for (; loop; loop = tn_splan_first_loop(&loop->body)) {
		if (!tn_schedule_is_independent(plan->kernel->module, loop))
			continue;
		if (tn_splan_is_vector(plan, loop))
			choice.vector = loop->var->name;
		if (!choice.parallel && choice.vector != loop->var->name)
			choice.parallel = loop->var->name;
	}
	return choice;
}

/* Applies the steps if they were `found`, and the loop of threads; false: none
 * was. Ends both texts. */
static bool apply(struct tn_splan *plan, bool found, struct tn_buf *steps,
		  struct tn_buf *parallel)
{
	bool good = found && tn_splan_step(plan, "%s", tn_buf_text(steps));

	if (steps->failed || parallel->failed)
		plan->failed = true;
	if (good && !plan->failed)
		tn_splan_threads(plan, tn_buf_text(parallel));
	tn_buf_fini(steps);
	tn_buf_fini(parallel);
	return good;
}

/* A tile of sums, if the nest sums; false if that is refused. */
static bool plan_sums(struct tn_splan *plan, struct tn_kstmt *loop)
{
	struct tn_buf steps, parallel;
	bool found;

	tn_buf_init(&steps);
	tn_buf_init(&parallel);
	found = tn_schedule_sums(plan->kernel->module, loop, plan->target,
				 &steps, &parallel);
	return apply(plan, found, &steps, &parallel);
}

/* Windows over pixels; false if the nest is none, or all ways are refused. */
static bool plan_windows(struct tn_splan *plan)
{
	struct tn_kstmt *loop;
	struct tn_buf steps, parallel;
	bool good = false, found;
	int stages;

	for (stages = 1; stages >= 0 && !good; stages--) {
		tn_buf_init(&steps);
		tn_buf_init(&parallel);
		loop = tn_splan_first_loop(&plan->kernel->body);
		found = tn_schedule_windows(plan->kernel, loop, plan->target,
					    stages, &steps, &parallel);
		good = apply(plan, found, &steps, &parallel);
	}
	return good;
}

/* Vectors of sums; false if the nest does not sum along memory. */
static bool plan_vectors(struct tn_splan *plan, struct tn_kstmt *loop)
{
	struct tn_buf parallel;
	bool good;

	tn_buf_init(&parallel);
	good = tn_splan_sums(plan, loop, &parallel);
	if (good)
		tn_splan_threads(plan, tn_buf_text(&parallel));
	tn_buf_fini(&parallel);
	return good;
}

/* Nests that schedule_rows.c has made one and planned. */
static bool is_rows(const struct tn_splan *plan, const struct tn_kstmt *loop)
{
	int i;

	for (i = 0; i < plan->nrows; i++)
		if (plan->rows[i].names[0] == loop->var->name)
			return true;
	return false;
}

static void plan_cpu(struct tn_splan *plan, struct tn_kstmt *loop)
{
	struct choice choice = choose_cpu(plan, loop);

	if (is_rows(plan, loop)) {
		tn_splan_threads(plan, loop->var->name);
		return;
	}
	if (plan_windows(plan))
		return;
	loop = tn_splan_first_loop(&plan->kernel->body);
	if (plan_vectors(plan, loop))
		return;
	loop = tn_splan_first_loop(&plan->kernel->body);
	if (!tn_splan_lanes(plan, loop)) {
		loop = tn_splan_first_loop(&plan->kernel->body);
		if (plan_sums(plan, loop))
			return;
		if (choice.vector)
			tn_splan_step(plan, "vectorize(%s)", choice.vector);
	}
	if (choice.parallel)
		tn_splan_threads(plan, choice.parallel);
}

/* The loops of one nest for a GPU: all that are free and tightly nested. Each
 * nest of a kernel is bound, for each becomes a launch of its own. */
static void plan_gpu(struct tn_splan *plan, const struct tn_kstmt *loop)
{
	int threads = plan->target->threads_per_block
		? plan->target->threads_per_block : 256;
	const char *names[TN_MAX_RANK];
	struct tn_buf fused;
	int n = 0, i;

	for (; loop && n < TN_MAX_RANK &&
	     tn_schedule_is_independent(plan->kernel->module, loop);
	     loop = tn_splan_only_loop(loop))
		names[n++] = loop->var->name;
	if (!n)
		return;
	tn_buf_init(&fused);
	tn_buf_put(&fused, names[0]);
	for (i = 1; i < n &&
	     tn_splan_step(plan, "fuse(%s, %s)", tn_buf_text(&fused),
			   names[i]); i++)
		tn_buf_putf(&fused, "__%s", names[i]);
	tn_splan_step(plan, "split(%s, %d, tail=guard), bind(%s__0, grid.x), "
		      "bind(%s__1, block.x)", tn_buf_text(&fused), threads,
		      tn_buf_text(&fused), tn_buf_text(&fused));
	if (fused.failed)
		plan->failed = true;
	tn_buf_fini(&fused);
}

/* Names that a nest finds taken: those of the parameters and of what stands
 * around it. A let is listed as a buffer of its name. */
struct around {
	struct tn_kbuf **bufs;
	int n;
};

static bool list_around(struct tn_splan *plan, struct around *around)
{
	struct tn_kernel *k = plan->kernel;
	const struct tn_kstmt *s;
	size_t n = (size_t)k->nparams;
	int i;

	for (s = k->body.first; s; s = s->next)
		n++;
	around->bufs = tn_arena_array(&k->module->arena, n + 1,
				      sizeof(*around->bufs));
	if (!around->bufs)
		return false;
	for (i = 0; i < k->nparams; i++)
		around->bufs[around->n++] = k->params[i];
	for (s = k->body.first; s; s = s->next) {
		if (s->kind != TN_KSTMT_ALLOC && s->kind != TN_KSTMT_LET)
			continue;
		around->bufs[around->n] = s->kind == TN_KSTMT_ALLOC ? s->buf :
			tn_kernel_local(k, s->var->name, s->var->dtype, 0,
					NULL, TN_SPACE_REG);
		if (!around->bufs[around->n++])
			return false;
	}
	return true;
}

/* Loops get other names where steps would make of theirs what is taken around
 * the nest; the first loop, or NULL. */
static struct tn_kstmt *part_names(struct tn_splan *plan,
				   const struct tn_kstmt *loop)
{
	static const struct tn_kblock none;
	struct tn_splan_names list = { { loop->var->name }, 1 };
	int i;

	tn_splan_list(&loop->body, &list);
	for (i = 0; i < list.n && !plan->failed; i++)
		if (!tn_schedule_may_derive(plan->kernel, &none,
					    list.names[i]))
			list.names[i] = tn_splan_own_name(plan,
							  list.names[i]);
	return tn_splan_find(plan, list.names[0]);
}

/* Plans one nest as if it were all of the kernel, so that many nests take
 * time in proportion; what becomes of it returns to its place. */
static void plan_nest(struct tn_splan *plan, const struct around *around,
		      struct tn_kstmt *loop)
{
	struct tn_kernel *whole = plan->kernel, alone = *whole;
	struct tn_kblock *block = loop->parent;
	struct tn_kstmt *before = loop->next, *s;

	alone.params = around->bufs;
	alone.nparams = around->n;
	alone.body.first = alone.body.last = NULL;
	tn_kstmt_remove(loop);
	tn_kstmt_insert(&alone.body, loop, NULL);
	plan->kernel = &alone;
	if (!is_rows(plan, loop))
		loop = part_names(plan, loop);
	if (loop && plan->target->par == TN_PAR_THREADS)
		plan_cpu(plan, loop);
	else if (loop && plan->target->par == TN_PAR_GRID)
		plan_gpu(plan, loop);
	plan->kernel = whole;
	whole->scratch_bytes = alone.scratch_bytes;
	while ((s = alone.body.first)) {
		tn_kstmt_remove(s);
		tn_kstmt_insert(block, s, before);
	}
}

/* From the last nest to the first, so that steps are told in this order. */
static void plan_nests(struct tn_splan *plan)
{
	struct around around = { NULL, 0 };
	struct tn_kstmt *s, *prev;

	if (plan->target->par == TN_PAR_NONE)
		return;
	if (!list_around(plan, &around))
		plan->failed = true;
	for (s = plan->kernel->body.last; s && !plan->failed; s = prev) {
		prev = s->prev;
		if (tn_kstmt_is_loop(s))
			plan_nest(plan, &around, s);
	}
}

bool tn_schedule_default(struct tn_kernel *kernel,
			 const struct tn_target *target)
{
	struct tn_splan plan = { .kernel = kernel, .target = target };
	bool good;

	tn_buf_init(&plan.done);
	tn_splan_rows(&plan);
	plan_nests(&plan);
	good = !plan.failed && !plan.done.failed;
	if (good && plan.done.len)
		good = tn_annots_add(kernel->module, &kernel->annots,
				     "scheduled", tn_buf_text(&plan.done),
				     kernel->span);
	tn_buf_fini(&plan.done);
	return good && !kernel->module->arena.failed;
}
