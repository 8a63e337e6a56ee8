/*
 * The default schedule of several nests that share temporaries, as one loop
 * over rows.
 *
 *   for i { m[i] = .. }  for i__1 { for j { y[i__1, j] = x[..] - m[i__1] } }
 *   C: join(i, i__1), shrink(m), lanes(..), vectorize(j), parallel(i)
 *
 * In: a kernel whose nests follow one another, with buffers of the workspace
 * between them. Their outer loops are joined as deep as they can be, the
 * buffers become what one turn needs, on the stack. If a product of matrices
 * is among the nests, rows go in blocks, so that it finds several for its tile
 * of registers. Where nothing becomes smaller, or too few rows are left to
 * share out, all stays as it was: each nest by itself.
 */
#include "passes/lower.h"
#include "passes/schedule_plan.h"

#include "base/num.h"

#define FEWEST_ROWS 64		/* that are worth blocks of them */
#define FEWEST_THREADS 1024	/* rows that fill a GPU, a thread for each */

/* ---- Joining and shrinking ----------------------------------------------- */

/* The names of the block's loops; -1: too many, or loops are not all that it
 * holds but allocs and, unless `strict`, names. */
static int loops_of(const struct tn_kblock *block, const char **names,
		    bool strict)
{
	const struct tn_kstmt *s;
	int n = 0;

	for (s = block->first; s; s = s->next) {
		if (tn_kstmt_is_loop(s)) {
			if (n == TN_SPLAN_NESTS)
				return -1;
			names[n++] = s->var->name;
		} else if (strict && s->kind != TN_KSTMT_ALLOC) {
			return -1;
		}
	}
	return n;
}

/* join(a, b, ..) of all of the names. */
static bool join_all(struct tn_splan *plan, const char *const *names, int n)
{
	struct tn_buf list;
	bool good;
	int i;

	tn_buf_init(&list);
	for (i = 0; i < n; i++)
		tn_buf_putf(&list, "%s%s", i ? ", " : "", names[i]);
	plan->failed |= list.failed;
	good = n > 1 && tn_splan_step(plan, "join(%s)", tn_buf_text(&list));
	tn_buf_fini(&list);
	return good;
}

/* Inside a joined loop the same, as long as all of it becomes one. */
static void join_inside(struct tn_splan *plan, struct tn_splan_rows *rows)
{
	const char *names[TN_SPLAN_NESTS];
	const struct tn_kstmt *loop;
	int n;

	while (rows->n < TN_SPLAN_ROWS && !plan->failed) {
		loop = tn_splan_find(plan, rows->names[rows->n - 1]);
		n = loop ? loops_of(&loop->body, names, true) : -1;
		if (n < 2 || !join_all(plan, names, n))
			break;
		rows->names[rows->n++] = names[0];
	}
}

static void add_rows(struct tn_splan *plan, const char *name, int nests)
{
	struct tn_splan_rows *rows = &plan->rows[plan->nrows];

	if (nests < 2)
		return;
	rows->names[0] = name;
	rows->n = 1;
	plan->nrows++;
	join_inside(plan, rows);
}

/* The nest had better not be joined with its neighbour. */
static bool is_apart(struct tn_splan *plan, const char *const *names, int n,
		     int i)
{
	const struct tn_kstmt *nest = tn_splan_find(plan, names[i]);
	const struct tn_kstmt *other;

	other = n > 1 ? tn_splan_find(plan, names[i ? i - 1 : 1]) : NULL;
	return nest && other && tn_splan_is_far(plan, nest, other);
}

/* The kernel's outermost loops, all or neighbours as they can. */
static void join_nests(struct tn_splan *plan)
{
	const char *names[TN_SPLAN_NESTS];
	bool apart[TN_SPLAN_NESTS], whole = true;
	int n = loops_of(&plan->kernel->body, names, false);
	int i, first = 0, nests = 1;

	for (i = 0; i < n; i++) {
		apart[i] = is_apart(plan, names, n, i);
		whole = whole && !apart[i];
	}
	if (n > 1 && whole && join_all(plan, names, n)) {
		add_rows(plan, names[0], n);
		return;
	}
	for (i = 1; i < n && !plan->failed; i++) {
		if (!apart[i] && !apart[first] &&
		    tn_splan_step(plan, "join(%s, %s)", names[first],
				  names[i])) {
			nests++;
			continue;
		}
		add_rows(plan, names[first], nests);
		first = i;
		nests = 1;
	}
	if (n > 0)
		add_rows(plan, names[first], nests);
}

static void add_stack(void *data, const struct tn_kstmt *s)
{
	int64_t *sum = data, bytes;

	if (s->kind != TN_KSTMT_ALLOC || s->buf->space == TN_SPACE_ARENA)
		return;
	if (!tn_kbuf_bytes(s->buf, &bytes) ||
	    !tn_num_add(*sum, bytes, sum))
		*sum = INT64_MAX;
}

/* A part of the stack stays free for what later steps put there. */
static bool fits_stack(const struct tn_splan *plan)
{
	int64_t sum = 0;
	struct tn_kvisitor visitor = { NULL, add_stack, &sum };

	tn_kblock_visit(&plan->kernel->body, &visitor);
	return sum <= plan->target->stack_bytes / 4 * 3;
}

/* Shrinks what can be; how many buffers that are. */
static int shrink_all(struct tn_splan *plan)
{
	const char *names[TN_SPLAN_NAMES];
	const struct tn_kstmt *s;
	struct tn_splan_mark mark;
	int i, n = 0, shrunk = 0;

	for (s = plan->kernel->body.first; s && n < TN_SPLAN_NAMES; s = s->next)
		if (s->kind == TN_KSTMT_ALLOC &&
		    s->buf->space == TN_SPACE_ARENA)
			names[n++] = s->buf->name;
	for (i = 0; i < n && !plan->failed; i++) {
		tn_splan_save(plan, &mark);
		if (!tn_splan_step(plan, "shrink(%s)", names[i]))
			continue;
		if (fits_stack(plan))
			shrunk++;
		else
			tn_splan_restore(plan, &mark);
	}
	return shrunk;
}

/* ---- Sums by lanes ------------------------------------------------------- */

/* Reads of a summing loop. */
struct along {
	struct tn_dim_pool *pool;
	const struct tn_kstmt *loop;
	enum tn_dtype dtype;	/* of the sums */
	bool found;		/* one that runs along memory */
};

static bool is_of_body(void *data, const struct tn_kexpr *e)
{
	const struct along *a = data;

	return e->kind == TN_KEXPR_VAR &&
		tn_kblock_declares(&a->loop->body, e->var);
}

/* Neither along memory nor the same for all turns. */
static bool is_scattered(struct along *a, const struct tn_kexpr *e)
{
	struct tn_affine_scope scope = { a->pool, NULL, NULL };
	const struct tn_kvar *var = a->loop->var;
	struct tn_affine sum;
	int64_t step;
	int i;

	if (tn_kexpr_find(e, is_of_body, a))
		return true;
	if (!tn_kexpr_reads(e, var))
		return false;
	for (i = 0; i + 1 < e->nargs; i++)
		if (tn_kexpr_reads(e->args[i], var))
			return true;
	a->found = true;
	return !e->nargs ||
		!tn_affine_make(&scope, e->args[e->nargs - 1], &sum) ||
		!tn_affine_coef(&sum, var, &step) || step != 1;
}

/* What lanes of vectors do not compute. */
static bool is_no_lane(void *data, const struct tn_kexpr *e)
{
	struct along *a = data;

	if (e->kind == TN_KEXPR_LOAD)
		return tn_lower_wide(e->dtype) != a->dtype ||
			is_scattered(a, e);
	if (e->kind != TN_KEXPR_OP || e->is_index)
		return false;
	if (e->code == TN_OP_cast || e->code == TN_OP_bitcast)
		return !tn_dtype_is(e->args[0]->dtype, TN_KIND_F) ||
			e->code == TN_OP_bitcast;
	return e->dtype != TN_bool && tn_lower_wide(e->dtype) != a->dtype;
}

static bool is_lane_body(struct along *a)
{
	const struct tn_kstmt *s;

	for (s = a->loop->body.first; s; s = s->next) {
		if (s->kind == TN_KSTMT_SET && a->dtype == TN_POISON)
			a->dtype = s->var->dtype;
		if (s->kind != TN_KSTMT_SET &&
		    (s->kind != TN_KSTMT_LET || s->var->is_mutable))
			return false;
	}
	if (a->dtype != TN_f32 && a->dtype != TN_f64)
		return false;
	for (s = a->loop->body.first; s; s = s->next)
		if ((s->kind == TN_KSTMT_SET && s->var->dtype != a->dtype) ||
		    tn_kexpr_find(s->value, is_no_lane, a))
			return false;
	return a->found;
}

/* How many sums at once: more vectors hide what an addition takes. */
static int64_t lanes_for(int64_t turns, int64_t vector)
{
	if (turns >= 16 * vector)
		return 4 * vector;
	return turns >= 8 * vector ? 2 * vector : vector;
}

/* How many sums the loop may go by at once, of *vector in a register; 0: it had
 * better not. Sums of a kernel that Tenon made may go in any order that is
 * fixed; those of one written by hand keep theirs. */
static int64_t count_lanes(const struct tn_splan *plan,
			   const struct tn_kstmt *loop, int64_t *vector)
{
	struct along along = { &plan->kernel->module->dims, loop, TN_POISON,
			       false };
	int64_t turns = tn_kloop_most(loop);

	if (!plan->kernel->comment || loop->loop != TN_LOOP_FOR ||
	    !is_lane_body(&along))
		return 0;
	*vector = plan->target->vector_bytes / tn_dtype_bytes(along.dtype);
	return *vector > 1 && turns >= 4 * *vector ?
		lanes_for(turns, *vector) : 0;
}

static bool plan_lanes(struct tn_splan *plan, const struct tn_kstmt *loop)
{
	int64_t vector, n = count_lanes(plan, loop, &vector);
	const char *name;

	if (!n)
		return false;
	name = tn_splan_own_name(plan, loop->var->name);
	return tn_splan_step(plan, "lanes(%s, %lld, width=%lld)", name,
			     (long long)n, (long long)vector);
}

bool tn_splan_lanes(struct tn_splan *plan, const struct tn_kstmt *loop)
{
	const struct tn_kstmt *inner;

	for (; loop; loop = inner) {
		inner = tn_splan_first_loop(&loop->body);
		if (!inner)
			return plan_lanes(plan, loop);
	}
	return false;
}

/* ---- Products of matrices ------------------------------------------------ */

/* A read that rows share, and along memory. */
struct sharing {
	const struct tn_kstmt *row;
	const struct tn_kvar *along;
};

static bool is_shared(void *data, const struct tn_kexpr *e)
{
	const struct sharing *s = data;

	return e->kind == TN_KEXPR_LOAD && e->nargs &&
		!tn_kexpr_reads(e, s->row->var) &&
		!tn_kblock_declares(&s->row->body, e->buf) &&
		tn_kexpr_reads(e->args[e->nargs - 1], s->along);
}

static bool is_shared_sum(void *data, const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_SET &&
		tn_kexpr_find(s->value, is_shared, data);
}

/* The nest sums along memory, so that lanes of a vector are sums. */
static bool sums_by_vectors(const struct tn_splan *plan, struct tn_kstmt *loop)
{
	struct tn_schedule_nest nest;

	return tn_schedule_nest_of(plan->kernel->module, loop, plan->target,
				   &nest) > 0;
}

bool tn_splan_sums(struct tn_splan *plan, struct tn_kstmt *loop,
		   struct tn_buf *parallel)
{
	struct tn_buf steps, unused;
	bool good;

	tn_buf_init(&steps);
	tn_buf_init(&unused);
	if (!parallel)
		parallel = &unused;
	good = sums_by_vectors(plan, loop) &&
		tn_schedule_sums(plan->kernel->module, loop, plan->target,
				 &steps, parallel);
	plan->failed |= steps.failed || parallel->failed;
	good = good && !plan->failed &&
		tn_splan_step(plan, "%s", tn_buf_text(&steps));
	tn_buf_fini(&steps);
	tn_buf_fini(&unused);
	return good;
}

/* A nest of the row's body is a product: it wants several rows at once. */
static bool has_product(struct tn_splan *plan, const struct tn_kstmt *row)
{
	struct sharing sharing = { row, NULL };
	struct tn_kstmt *s, *inner;
	bool found = false;

	for (s = row->body.first; s && !found; s = s->next) {
		if (!tn_kstmt_is_loop(s))
			continue;
		for (inner = s; tn_splan_only_loop(inner); )
			inner = tn_splan_only_loop(inner);
		sharing.along = inner->var;
		found = tn_kblock_find(&inner->body, is_shared_sum,
				       &sharing) &&
			(!plan->target->vector_bytes ||
			 sums_by_vectors(plan, s));
	}
	return found;
}

/* ---- What a row does ----------------------------------------------------- */

static bool is_kind(void *data, const struct tn_kstmt *s)
{
	(void)data;
	return tn_kstmt_is_loop(s) && s->loop != TN_LOOP_FOR;
}

/* Vectors, vectors of sums, or lanes of a sum; what a step has made of a loop
 * is left alone. */
static void plan_loop(struct tn_splan *plan, const char *name)
{
	struct tn_kstmt *loop = tn_splan_find(plan, name);

	if (!loop || loop->loop != TN_LOOP_FOR ||
	    tn_kblock_find(&loop->body, is_kind, NULL))
		return;
	if (tn_splan_is_vector(plan, loop)) {
		tn_splan_step(plan, "vectorize(%s)", name);
		return;
	}
	if (sums_by_vectors(plan, loop)) {
		loop = tn_splan_own_names(plan, loop);
		if (!loop)
			return;
		name = loop->var->name;
		if (tn_splan_sums(plan, loop, NULL))
			return;
		loop = tn_splan_find(plan, name);
	}
	if (loop)
		plan_lanes(plan, loop);
}

/* From the outside in. */
static void plan_inside(struct tn_splan *plan, const struct tn_kblock *block)
{
	struct tn_splan_names list = { .n = 0 };
	int i;

	tn_splan_list(block, &list);
	for (i = 0; i < list.n && !plan->failed; i++)
		plan_loop(plan, list.names[i]);
}

/* Rows in blocks, each nest for itself inside of a block. */
static bool plan_blocks(struct tn_splan *plan, struct tn_splan_rows *rows)
{
	static const int sizes[] = { 32, 16, 8 };
	const char *name = rows->names[rows->n - 1], *outer;
	struct tn_splan_mark mark;
	size_t i;

	name = rows->names[rows->n - 1] = tn_splan_own_name(plan, name);
	outer = tn_arena_printf(&plan->kernel->module->arena, "%s__0", name);
	outer = outer ? tn_intern_text(plan->kernel->module->names, outer) :
		NULL;
	if (!outer)
		plan->failed = true;
	for (i = 0; i < sizeof sizes / sizeof *sizes && !plan->failed; i++) {
		tn_splan_save(plan, &mark);
		if (!tn_splan_step(plan, "split(%s, %d), part(%s__1)", name,
				   sizes[i], name))
			return false;
		if (fits_stack(plan)) {
			rows->names[rows->n - 1] = outer;
			return true;
		}
		tn_splan_restore(plan, &mark);
	}
	return false;
}

/* How many rows there are, at the sizes that the author thinks of. */
static double rows_of(struct tn_splan *plan, const struct tn_splan_rows *rows)
{
	const struct tn_kstmt *loop;
	const struct tn_dim *dim;
	int64_t lo, hi, unused;
	double all = 1;
	int i;

	for (i = 0; i < rows->n; i++) {
		loop = tn_splan_find(plan, rows->names[i]);
		if (!loop)
			return 0;
		dim = tn_kexpr_as_dim(&plan->kernel->module->dims, loop->to);
		tn_kexpr_bounds(loop->to, &lo, &hi);
		if (dim && dim->kind == TN_DIM_SYM && dim->sym->nopt)
			lo = dim->sym->opt[dim->sym->nopt - 1];
		tn_kexpr_bounds(loop->from, &unused, &hi);
		all *= lo > hi ? (double)lo - (double)hi : 0;
	}
	return all;
}

/* True if the rows are planned; false: they had better stay apart. */
static bool plan_rows(struct tn_splan *plan, struct tn_splan_rows *rows)
{
	const struct tn_kstmt *row;
	bool is_product;

	row = tn_splan_find(plan, rows->names[rows->n - 1]);
	is_product = row && has_product(plan, row);
	if (!row || plan->failed)
		return false;
	if (plan->target->par == TN_PAR_GRID)
		return !is_product && plan->kernel->scratch_bytes == 0 &&
			rows_of(plan, rows) >= FEWEST_THREADS;
	if (is_product && (rows_of(plan, rows) < FEWEST_ROWS ||
			   !plan_blocks(plan, rows)))
		return false;
	row = tn_splan_find(plan, rows->names[rows->n - 1]);
	if (row)
		plan_inside(plan, &row->body);
	return row != NULL;
}

static bool has_workspace(const struct tn_kernel *kernel)
{
	const struct tn_kstmt *s;

	for (s = kernel->body.first; s; s = s->next)
		if (s->kind == TN_KSTMT_ALLOC &&
		    s->buf->space == TN_SPACE_ARENA)
			return true;
	return false;
}

void tn_splan_rows(struct tn_splan *plan)
{
	struct tn_splan_mark mark;
	bool good;
	int i;

	if (!has_workspace(plan->kernel) ||
	    plan->target->par == TN_PAR_NONE)
		return;
	tn_splan_save(plan, &mark);
	join_nests(plan);
	good = plan->nrows > 0 && shrink_all(plan) > 0;
	for (i = 0; good && i < plan->nrows; i++)
		good = plan_rows(plan, &plan->rows[i]);
	if (good || plan->failed)
		return;
	plan->nrows = 0;
	tn_splan_restore(plan, &mark);
}
