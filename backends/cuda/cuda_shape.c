/*
 * Which loops of a kernel become grid and blocks.
 *
 * A kernel's own block is cut into pieces, each a __global__ function of its
 * own: a nest that is bound to grid or block is one, and so is each run of
 * statements between such nests, done by one thread. Launches follow each
 * other in order, so every piece sees all of the one before.
 *
 *   kernel k(..) {
 *     par(grid.x) i { par(block.x) j { .. } }     k_1: a thread each (i, j)
 *     par(grid.x) i { par(block.x) j { .. } }     k_2
 *     size N = count;                             k_3: one thread
 *   }
 *
 * If names of the block itself (lets, buffers of threads) tie its statements
 * together, there is one piece; it is parallel if it has a single nest.
 */
#include "backends/cuda/cuda_impl.h"

static bool is_grid(const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_LOOP && s->loop == TN_LOOP_PAR &&
		s->bind >= TN_BIND_GRID_X && s->bind <= TN_BIND_GRID_Z;
}

static bool is_block(const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_LOOP && s->loop == TN_LOOP_PAR &&
		s->bind >= TN_BIND_BLOCK_X && s->bind <= TN_BIND_BLOCK_Z;
}

int tn_cuda_axis(const struct tn_kstmt *loop)
{
	return is_grid(loop) ? (int)loop->bind - (int)TN_BIND_GRID_X :
		(int)loop->bind - (int)TN_BIND_BLOCK_X;
}

bool tn_cuda_grid_holds(const struct tn_kstmt *loop)
{
	int64_t limit = tn_cuda_axis(loop) ? 65535 : INT32_MAX;

	int64_t most, unused;

	tn_kexpr_bounds(loop->to, &unused, &most);
	return loop->from->kind == TN_KEXPR_INT && loop->from->i >= 0 &&
		most <= limit;
}

enum tn_cuda_role tn_cuda_role(const struct tn_cuda_kernel *info,
			       const struct tn_kstmt *stmt)
{
	return (enum tn_cuda_role)(intptr_t)tn_map_find(&info->roles, stmt);
}

void tn_cuda_refuse(struct tn_cuda *c, const struct tn_kernel *kernel,
		    const char *why)
{
	if (c->status != TN_OK)
		return;
	tn_diag_report(c->module->sink, TN_E0906, kernel->span,
		       "kernel '%s' cannot run on a grid: %s", kernel->name,
		       why);
	c->status = TN_UNSUPPORTED;
}

/* ---- Finding ---- */

/* What the walk of a piece knows. */
struct shape {
	struct tn_cuda *c;
	struct tn_cuda_kernel *info;
	struct tn_cuda_piece *piece;
};

static void mark(struct shape *shape, const struct tn_kstmt *s,
		 enum tn_cuda_role role)
{
	if (!tn_map_set(&shape->info->roles, s, (void *)(intptr_t)role))
		shape->c->failed = true;
}

/* The host cannot tell its value. */
static bool is_inner(void *data, const struct tn_kexpr *e)
{
	(void)data;
	return e->kind == TN_KEXPR_VAR || e->kind == TN_KEXPR_LOAD;
}

static bool is_thread(void *data, const struct tn_kstmt *s)
{
	(void)data;
	return is_block(s) || s->kind == TN_KSTMT_BARRIER;
}

/* True if a loop shared out to threads, or a barrier, is inside. */
static bool has_threads(const struct tn_kblock *block)
{
	return tn_kblock_find(block, is_thread, NULL) != NULL;
}

static bool is_barrier(void *data, const struct tn_kstmt *s)
{
	(void)data;
	return s->kind == TN_KSTMT_BARRIER;
}

bool tn_cuda_has_barrier(const struct tn_kblock *block)
{
	return tn_kblock_find(block, is_barrier, NULL) != NULL;
}

/* May be shared out to a grid or a block's threads. */
static bool is_nest(const struct tn_kstmt *s)
{
	return is_grid(s) || is_block(s) ||
		(s->kind == TN_KSTMT_LOOP && has_threads(&s->body));
}

static const struct tn_kstmt *only(const struct tn_kblock *block)
{
	return block->first && !block->first->next ? block->first : NULL;
}

/* Loops tightly nested over different axes; threads are as many as the
 * largest needs. */
static void take_threads(struct shape *shape, const struct tn_kstmt *s)
{
	bool taken[3] = { false, false, false };
	int *threads = shape->piece->threads;
	int64_t turns;
	int axis;

	for (; s && is_block(s); s = only(&s->body)) {
		axis = tn_cuda_axis(s);
		if (taken[axis])
			break;
		taken[axis] = true;
		turns = tn_kloop_turns(s);
		if (turns < 0)
			turns = shape->c->target->threads_per_block;
		if (turns > (axis == 2 ? 64 : TN_CUDA_THREADS))
			turns = axis == 2 ? 64 : TN_CUDA_THREADS;
		if (turns > threads[axis])
			threads[axis] = (int)turns;
		mark(shape, s, TN_ROLE_BLOCK);
	}
}

static void take_level(struct shape *shape, const struct tn_kblock *block);

static void take_stmt(struct shape *shape, const struct tn_kstmt *s)
{
	if (is_block(s)) {
		take_threads(shape, s);
		return;
	}
	if (!has_threads(&s->body) && !has_threads(&s->orelse))
		return;
	if (s->loop == TN_LOOP_UNROLL && s->kind == TN_KSTMT_LOOP)
		tn_cuda_refuse(shape->c, shape->info->base.kernel,
			       "an unrolled loop is around its threads");
	mark(shape, s, TN_ROLE_UNIFORM);
	take_level(shape, &s->body);
	take_level(shape, &s->orelse);
}

/* Statements outside of all loops over threads. */
static void take_level(struct shape *shape, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		take_stmt(shape, s);
}

/* Fewer threads where they are too many: loops then take several turns. */
static void fit_threads(int threads[3])
{
	int axis;

	for (axis = 2; axis >= 0; axis--)
		while (threads[axis] > 1 && threads[0] * threads[1] *
		       threads[2] > TN_CUDA_THREADS)
			threads[axis] = (threads[axis] + 1) / 2;
}

/* Marks a nest bound to grid or block; false: it is not. */
static bool take_nest(struct shape *shape, const struct tn_kstmt *s)
{
	const struct tn_kstmt *inner = s;
	struct tn_cuda_piece *piece = shape->piece;
	int axis;

	if (!is_nest(s))
		return false;
	for (; s && is_grid(s); s = only(&s->body)) {
		axis = tn_cuda_axis(s);
		if (piece->grid[axis] ||
		    tn_kstmt_find_expr(s, is_inner, NULL))
			break;
		piece->grid[axis] = s;
		mark(shape, s, TN_ROLE_GRID);
		inner = s;
	}
	if (tn_cuda_role(shape->info, inner) == TN_ROLE_GRID)
		take_level(shape, &inner->body);
	else
		take_stmt(shape, inner);
	fit_threads(piece->threads);
	return tn_cuda_role(shape->info, inner) != TN_ROLE_PLAIN;
}

/* ---- Pieces ---- */

static struct tn_cuda_piece *add_piece(struct tn_cuda *c,
				       struct tn_cuda_kernel *info,
				       const struct tn_kstmt *first)
{
	struct tn_cuda_piece *piece = tn_arena_alloc(c->arena, sizeof(*piece));

	if (!piece || !tn_vec_push_ptr(&info->pieces, piece)) {
		c->failed = true;
		return NULL;
	}
	tn_vec_init(&piece->syms, sizeof(void *), c->arena);
	piece->uses = tn_arena_array(c->arena,
				     (size_t)info->base.kernel->nparams + 1,
				     sizeof(*piece->uses));
	piece->first = first;
	piece->threads[0] = piece->threads[1] = piece->threads[2] = 1;
	tn_buf_init(&piece->body);
	return piece;
}

static bool is_scratch(const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_ALLOC && s->buf->space == TN_SPACE_ARENA;
}

static bool is_local(const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_LET ||
		(s->kind == TN_KSTMT_ALLOC && !is_scratch(s));
}

/* A name that each thread may have for itself. */
static bool is_copied(const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_LET ? !s->var->is_mutable :
		s->buf->space == TN_SPACE_SHARED;
}

/* The nest that is all the work of a block with names of its own; NULL: one
 * thread must do it. */
static const struct tn_kstmt *only_work(const struct tn_kblock *block)
{
	const struct tn_kstmt *s, *work = NULL;

	for (s = block->first; s; s = s->next) {
		if (is_scratch(s))
			continue;
		if (is_local(s) ? !is_copied(s) : work != NULL)
			return NULL;
		if (!is_local(s))
			work = s;
	}
	return work;
}

static void shape_whole(struct tn_cuda *c, struct tn_cuda_kernel *info)
{
	const struct tn_kblock *block = &info->base.kernel->body;
	const struct tn_kstmt *s, *work = only_work(block);
	struct shape shape = { c, info, add_piece(c, info, block->first) };

	if (!shape.piece)
		return;
	for (s = block->first; s; s = s->next)
		shape.piece->count += !is_scratch(s);
	if (work)
		shape.piece->is_parallel = take_nest(&shape, work);
}

static void shape_pieces(struct tn_cuda *c, struct tn_cuda_kernel *info)
{
	struct tn_cuda_piece *serial = NULL;
	const struct tn_kstmt *s;
	struct shape shape = { c, info, NULL };

	for (s = info->base.kernel->body.first; s; s = s->next) {
		if (is_scratch(s))
			continue;
		if (serial && !is_nest(s)) {
			serial->count++;
			continue;
		}
		shape.piece = add_piece(c, info, s);
		if (!shape.piece)
			return;
		shape.piece->count = 1;
		shape.piece->is_parallel = take_nest(&shape, s);
		serial = shape.piece->is_parallel ? NULL : shape.piece;
	}
}

void tn_cuda_shape(struct tn_cuda *c, struct tn_cuda_kernel *info)
{
	const struct tn_kstmt *s;
	bool has_locals = false;

	for (s = info->base.kernel->body.first; s; s = s->next)
		has_locals = has_locals || is_local(s);
	if (has_locals)
		shape_whole(c, info);
	else
		shape_pieces(c, info);
}
