/*
 * tile: a nest of independent loops goes inside the reduction loops of its
 * body.
 *
 *   for i { for j {                       alloc acc: f32[4, 16] @reg;
 *     let mut acc = 0;                    for i { for j { acc[i, j] = 0; } }
 *     for k { acc += a[i,k]*b[k,j]; }  -> for k { for i { for j {
 *     c[i, j] = acc;                        acc[i, j] += a[i,k]*b[k,j]; } } }
 *   } }                                   for i { for j { c[i,j] = acc[i,j] } }
 *
 * In: a perfect nest of constant extents, its body statements and loops. The
 * body is cut into runs of plain statements; each run gets the nest around it,
 * each loop keeps its place and is cut in turn. Scalars used by more than one
 * run become tiles in @reg; names for what is the same for the whole nest stay
 * in front of it.
 *
 * A loop whose bounds depend on the nest, but lie between two numbers, runs
 * over all between them; what it holds gets the condition of its bounds
 * (schedule_guard.c), so that windows clipped at a border can be tiled:
 *
 *   for w { for s in max(1 - w, 0)..3 { acc += x[w + s - 1]*f[s]; } }  ->
 *   for s in 0..3 { for w { if 1 - w <= s { acc[w] += x[w + s - 1]*f[s]; } } }
 *
 * Two iterations of an independent nest share nothing, so their statements may
 * be mixed as long as each keeps the order of its own.
 */
#include "passes/schedule.h"

#include "base/num.h"

/* Elements of a tile; what registers hold is far less. */
#define MOST_ELEMENTS 16384
/* Loops with a guard, one in another. */
#define MAX_GUARDS 8

struct tiler {
	const struct tn_step *step;
	struct tn_kstmt *chain[TN_STEP_ARGS];
	int n;
	struct tn_map run_of;	/* let var -> run number + 1 */
	struct tn_map tiles;	/* var -> its @reg buffer */
	struct tn_vec shared;	/* struct tn_kvar * used by several runs */
	struct tn_map guards;	/* loop -> when it has the turn, struct
				 * tn_kexpr *: those of bounds that varied */
	int nopen;		/* open loops with a guard */
	const struct tn_kstmt *open[MAX_GUARDS];
	int run;
	bool failed;
};

static bool find_chain(struct tiler *t, struct tn_kstmt *loop)
{
	const struct tn_step *step = t->step;
	int i, n = tn_step_positional(step);

	for (i = 0; i < n; i++) {
		if (!loop || loop->kind != TN_KSTMT_LOOP ||
		    loop->var->name != step->args[i])
			return tn_step_refuse(step, "the loops are not one "
					      "perfect nest");
		if (loop->loop == TN_LOOP_PAR)
			return tn_step_refuse(step, "'%s' is par already: "
					      "tile first", loop->var->name);
		if (tn_kloop_extent(loop) < 0)
			return tn_step_refuse(step, "'%s' has no constant "
					      "number of turns (split it with "
					      "tail=ones if its size is a dim)",
					      loop->var->name);
		if (!tn_schedule_is_independent(step->kernel->module, loop))
			return tn_step_refuse(step, "the turns of '%s' "
					      "depend on one another",
					      loop->var->name);
		if (i + 1 < n && loop->body.first != loop->body.last)
			return tn_step_refuse(step, "'%s' holds more than "
					      "the next loop",
					      loop->var->name);
		t->chain[i] = loop;
		loop = loop->body.first;
	}
	t->n = n;
	return true;
}

static bool is_small(const struct tiler *t)
{
	int64_t size = 1;
	int i;

	for (i = 0; i < t->n; i++)
		if (!tn_num_mul(size, tn_kloop_extent(t->chain[i]), &size))
			return false;
	return size > 0 && size <= MOST_ELEMENTS;
}

static void share(struct tiler *t, struct tn_kvar *var)
{
	size_t i;

	for (i = 0; i < t->shared.len; i++)
		if (tn_vec_ptr(&t->shared, i) == var)
			return;
	if (!tn_vec_push_ptr(&t->shared, var))
		t->failed = true;
}

/* Marks a variable of another run that is read or set. */
static void note_var(struct tiler *t, struct tn_kvar *var)
{
	size_t run = (size_t)tn_map_find(&t->run_of, var);

	if (run && run != (size_t)t->run + 1)
		share(t, var);
}

static void note_read(void *data, const struct tn_kexpr *e)
{
	if (e->kind == TN_KEXPR_VAR)
		note_var(data, e->var);
}

static void note_stmt(void *data, const struct tn_kstmt *s)
{
	struct tiler *t = data;
	struct tn_kvisitor reads = { note_read, NULL, t };
	int i;

	tn_kexpr_visit(s->value, &reads);
	tn_kexpr_visit(s->from, &reads);
	tn_kexpr_visit(s->to, &reads);
	for (i = 0; i < s->nindex; i++)
		tn_kexpr_visit(s->index[i], &reads);
	if (s->kind == TN_KSTMT_LET &&
	    !tn_map_set(&t->run_of, s->var, (void *)((size_t)t->run + 1)))
		t->failed = true;
	if (s->kind == TN_KSTMT_SET)
		note_var(t, s->var);
}

/* The statement with all inside it. */
static void note_all(struct tiler *t, const struct tn_kstmt *s)
{
	struct tn_kvisitor visitor = { NULL, note_stmt, t };

	tn_kstmt_visit(s, &visitor);
}

/* Another value in each iteration of the nest. */
static bool varies(void *data, const struct tn_kexpr *e)
{
	const struct tiler *t = data;
	int i;

	if (e->kind == TN_KEXPR_LOAD)
		return e->buf->role != TN_KBUF_IN;
	if (e->kind != TN_KEXPR_VAR)
		return false;
	for (i = 0; i < t->n; i++)
		if (e->var == t->chain[i]->var)
			return true;
	return tn_map_has(&t->run_of, e->var);
}

/* A name for what is the same for the whole nest: it stays in front of it.
 * Where a guard decides whether it is read at all, memory is not. */
static bool is_fixed(struct tiler *t, const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_LET && !s->var->is_mutable &&
		!tn_map_has(&t->run_of, s->var) &&
		!tn_kexpr_find(s->value, varies, t) &&
		!(t->nopen && tn_kexpr_loads(s->value));
}

/* Bounds that differ in the nest become fixed ones and a guard. */
static bool enclose(struct tiler *t, struct tn_kstmt *loop)
{
	const struct tn_kexpr *from, *to, *cond = NULL;

	if (tn_kexpr_loads(loop->from) || tn_kexpr_loads(loop->to) ||
	    !tn_schedule_enclose(t->step->kernel, loop, &from, &to, &cond))
		return tn_step_refuse(t->step, "the bounds of '%s' are not the "
				      "same for the whole nest",
				      loop->var->name);
	if (t->nopen == MAX_GUARDS)
		return tn_step_refuse(t->step, "too many loops are clipped");
	loop->from = from;
	loop->to = to;
	if (cond && !tn_map_set(&t->guards, loop, (void *)(uintptr_t)cond))
		t->failed = true;
	return !t->failed;
}

/* What runs in turns that the loop around did not have must be harmless. */
static bool is_harmless(const struct tiler *t, const struct tn_kstmt *loop)
{
	int i;

	if (!t->nopen)
		return true;
	if (tn_kexpr_loads(loop->from) || tn_kexpr_loads(loop->to))
		return false;
	for (i = 0; i < t->nopen; i++)
		if (tn_kexpr_reads(loop->from, t->open[i]->var) ||
		    tn_kexpr_reads(loop->to, t->open[i]->var))
			return false;
	return true;
}

/* A loop that keeps its place while the nest goes inside it. */
static bool may_stay(struct tiler *t, struct tn_kstmt *loop)
{
	if (tn_kstmt_find_expr(loop, varies, t) && !enclose(t, loop))
		return false;
	if (!is_harmless(t, loop))
		return tn_step_refuse(t->step, "the bounds of '%s' follow a "
				      "loop that is clipped", loop->var->name);
	if (loop->loop == TN_LOOP_PAR || loop->loop == TN_LOOP_VEC)
		return tn_step_refuse(t->step, "'%s' is par or vec already: "
				      "tile first", loop->var->name);
	return true;
}

/* The loop is entered; leave it with close_guard. */
static bool open_guard(struct tiler *t, const struct tn_kstmt *loop)
{
	bool has = tn_map_has(&t->guards, loop);

	if (has)
		t->open[t->nopen++] = loop;
	return has;
}

static void close_guard(struct tiler *t, bool has)
{
	t->nopen -= has;
}

/* Numbers the runs of a body and finds what they share. */
static bool survey(struct tiler *t, struct tn_kblock *block)
{
	struct tn_kstmt *s;
	bool guarded;

	t->run++;
	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_ALLOC)
			return tn_step_refuse(t->step, "the body allocates "
					      "'%s'", s->buf->name);
		if (s->kind != TN_KSTMT_LOOP) {
			if (!is_fixed(t, s))
				note_all(t, s);
			continue;
		}
		if (!may_stay(t, s))
			return false;
		guarded = open_guard(t, s);
		if (!survey(t, &s->body))
			return false;
		close_guard(t, guarded);
		s->is_independent = false;
		t->run++;
	}
	return true;
}

/* acc[i, j]: the tile at the nest's own variables. */
static bool tile_index(struct tiler *t, const struct tn_kexpr **index)
{
	struct tn_kernel *k = t->step->kernel;
	int i;

	for (i = 0; i < t->n; i++) {
		index[i] = tn_kexpr_sub(k, tn_kexpr_var(k, t->chain[i]->var),
					t->chain[i]->from);
		if (!index[i])
			return false;
	}
	return true;
}

static bool make_tiles(struct tiler *t, struct tn_kblock *out)
{
	struct tn_kernel *k = t->step->kernel;
	const struct tn_dim *dims[TN_STEP_ARGS];
	struct tn_kvar *var;
	struct tn_kbuf *buf;
	size_t i;
	int d;

	for (d = 0; d < t->n; d++) {
		dims[d] = tn_dim_const(&k->module->dims,
				       tn_kloop_extent(t->chain[d]));
		if (!dims[d])
			return false;
	}
	for (i = 0; i < t->shared.len; i++) {
		var = tn_vec_ptr(&t->shared, i);
		buf = tn_kernel_local(k, var->name, var->dtype, t->n, dims,
				      TN_SPACE_REG);
		if (!buf || !tn_kstmt_alloc(k, out, buf) ||
		    !tn_map_set(&t->tiles, var, buf)) {
			t->failed = true;
			return false;
		}
	}
	return true;
}

static const struct tn_kexpr *read_tile(struct tn_kmap *r,
					const struct tn_kexpr *e)
{
	struct tiler *t = r->data;
	const struct tn_kexpr *index[TN_STEP_ARGS];
	struct tn_kbuf *buf;

	if (e->kind != TN_KEXPR_VAR)
		return e;
	buf = tn_map_find(&t->tiles, e->var);
	if (!buf)
		return e;
	if (!tile_index(t, index))
		return NULL;
	return tn_kexpr_load(r->kernel, buf, t->n, index);
}

/* Sets of a tiled variable become stores to its tile. */
static bool write_tiles(struct tiler *t, struct tn_kblock *block)
{
	struct tn_kernel *k = t->step->kernel;
	const struct tn_kexpr *index[TN_STEP_ARGS];
	struct tn_kstmt *s;
	struct tn_kbuf *buf;

	for (s = block->first; s; s = s->next) {
		if (!write_tiles(t, &s->body) || !write_tiles(t, &s->orelse))
			return false;
		buf = s->kind == TN_KSTMT_LET || s->kind == TN_KSTMT_SET ?
			tn_map_find(&t->tiles, s->var) : NULL;
		if (!buf)
			continue;
		if (!tile_index(t, index))
			return false;
		s->kind = TN_KSTMT_STORE;
		s->var = NULL;
		s->buf = buf;
		s->nindex = t->n;
		s->index = tn_arena_copy(&k->module->arena, index,
					 (size_t)t->n * sizeof *index);
		if (!s->index)
			return false;
	}
	return true;
}

/* The last loop of the nest that the expression reads; -1: none. */
static int depth_of(const struct tiler *t, const struct tn_kexpr *e)
{
	int i = t->n - 1;

	while (i >= 0 && !tn_kexpr_reads(e, t->chain[i]->var))
		i--;
	return i;
}

/* The guards that are known from loop `depth` of the nest on, one `if` in
 * another; the innermost block. */
static struct tn_kblock *put_guards(struct tiler *t, struct tn_kblock *out,
				    int depth)
{
	const struct tn_kexpr *cond;
	struct tn_kstmt *s;
	int i;

	for (i = 0; i < t->nopen && out; i++) {
		cond = tn_map_find(&t->guards, t->open[i]);
		if (depth_of(t, cond) != depth)
			continue;
		s = tn_kstmt_if(t->step->kernel, out, cond);
		out = s ? &s->body : NULL;
	}
	return out;
}

/* The nest, empty, at the end of `out`; its innermost body. */
static struct tn_kblock *open_nest(struct tiler *t, struct tn_kblock *out)
{
	struct tn_kstmt *loop;
	int i;

	out = put_guards(t, out, -1);
	for (i = 0; i < t->n && out; i++) {
		loop = tn_kstmt_loop(t->step->kernel, out, t->chain[i]->loop,
				     t->chain[i]->var, t->chain[i]->from,
				     t->chain[i]->to);
		if (!loop)
			return NULL;
		loop->is_independent = true;
		out = put_guards(t, &loop->body, i);
	}
	return out;
}

/* Moves all statements of `from` to the empty block `to`. */
static void move_all(struct tn_kblock *from, struct tn_kblock *to)
{
	struct tn_kstmt *s;

	while ((s = from->first)) {
		tn_kstmt_remove(s);
		tn_kstmt_insert(to, s, NULL);
	}
}

static bool distribute(struct tiler *t, struct tn_kblock *from,
		       struct tn_kblock *out)
{
	struct tn_kblock inner = { NULL, NULL }, *nest = NULL;
	struct tn_kstmt *s;
	bool guarded;

	while ((s = from->first)) {
		tn_kstmt_remove(s);
		if (s->kind == TN_KSTMT_LOOP) {
			nest = NULL;
			move_all(&s->body, &inner);
			tn_kstmt_insert(out, s, NULL);
			guarded = open_guard(t, s);
			if (!distribute(t, &inner, &s->body))
				return false;
			close_guard(t, guarded);
			continue;
		}
		if (is_fixed(t, s)) {
			tn_kstmt_insert(out, s, nest ? out->last : NULL);
			continue;
		}
		if (!nest)
			nest = open_nest(t, out);
		if (!nest)
			return false;
		tn_kstmt_insert(nest, s, NULL);
	}
	return true;
}

static bool apply(struct tiler *t, struct tn_kstmt *outer)
{
	struct tn_kmap rewrite = { .kernel = t->step->kernel,
				      .change = read_tile, .data = t };
	struct tn_kblock *body = &t->chain[t->n - 1]->body;
	struct tn_kblock out = { NULL, NULL };
	struct tn_kstmt *s;

	if (!make_tiles(t, &out) || !write_tiles(t, body) ||
	    !tn_kblock_map(&rewrite, body) ||
	    !distribute(t, body, &out))
		return false;
	while ((s = out.first)) {
		tn_kstmt_remove(s);
		tn_kstmt_insert(outer->parent, s, outer);
	}
	tn_kstmt_remove(outer);
	return true;
}

/* Index arithmetic that differs in the nest is no tile of integers. */
static bool is_loose_let(void *data, const struct tn_kstmt *let)
{
	return tn_kexpr_find(let->value, varies, data) != NULL;
}

static bool tile_nest(const struct tn_step *step, struct tn_kstmt *outer)
{
	struct tiler t = { .step = step };
	bool good;

	tn_map_init_ptr(&t.run_of);
	tn_map_init_ptr(&t.tiles);
	tn_map_init_ptr(&t.guards);
	tn_vec_init(&t.shared, sizeof(struct tn_kvar *), NULL);
	good = find_chain(&t, outer);
	if (good && !is_small(&t))
		good = tn_step_refuse(step, "the tile is empty or has more "
				      "than %d elements", MOST_ELEMENTS);
	good = good && tn_schedule_inline(step->kernel,
					  &t.chain[t.n - 1]->body,
					  is_loose_let, &t);
	good = good && survey(&t, &t.chain[t.n - 1]->body) && !t.failed &&
		apply(&t, outer);
	if (t.failed)
		step->kernel->module->failed = true;
	tn_map_fini(&t.run_of);
	tn_map_fini(&t.tiles);
	tn_map_fini(&t.guards);
	tn_vec_fini(&t.shared);
	return good;
}

bool tn_step_tile(const struct tn_step *step)
{
	struct tn_vec loops;
	bool good;
	size_t i;

	tn_vec_init(&loops, sizeof(struct tn_kstmt *), NULL);
	good = tn_step_find(step, step->args[0], &loops);
	if (good && loops.len == 0)
		good = tn_step_refuse(step, "there is no loop '%s'",
				      step->args[0]);
	for (i = 0; good && i < loops.len; i++)
		good = tile_nest(step, tn_vec_ptr(&loops, i));
	tn_vec_fini(&loops);
	return good;
}
