/*
 * The statements of a piece as the body of a __global__ function.
 *
 * Statements outside of the loops over threads keep their order for the whole
 * block: what reads or writes memory is separated by barriers, what writes is
 * done by one thread, names are had by each thread.
 *
 *   par(grid.x) i in 0..n {           const int64_t i = (int64_t)blockIdx.x;
 *     par(block.x) j in 0..256 {      const int64_t j = (int64_t)threadIdx.x;
 *       y[i * 256 + j] = 0;
 *     }                               y[i * 256 + j] = 0;
 *   }
 */
#include "backends/cuda/cuda_impl.h"

#include <string.h>

#include "base/num.h"

/* What printing one piece carries; emit->data. */
struct body {
	struct tn_cuda *c;
	struct tn_cuda_kernel *info;
	const struct tn_cuda_piece *piece;
	int threads;		/* of a block, together */
	int nested;		/* open loops and conditions around */
	bool is_touched;	/* memory, since the last barrier */
	int64_t shared;		/* bytes of the block */
};

static const char letters[] = "xyz";

/* ---- Buffers ---- */

static void put_shared(struct tn_emit *emit, const struct tn_kbuf *buf)
{
	struct body *body = emit->data;
	int64_t count, bytes;

	if (!tn_kbuf_count(buf, &count) || !tn_kbuf_bytes(buf, &bytes)) {
		emit->failed = true;
		return;
	}
	if (!tn_num_add(body->shared, bytes, &body->shared) ||
	    body->shared > body->c->target->shared_bytes)
		tn_cuda_refuse(body->c, emit->kernel, "its @shared buffers "
			       "are larger than a block may have");
	tn_emit_line(emit, "__shared__ %s %s[%lld];",
		     tn_dtypes[buf->dtype].c_storage,
		     tn_emit_name(emit, buf, buf->name),
		     (long long)(count ? count : 1));
}

static void put_scratch(struct tn_emit *emit, const struct tn_kbuf *buf)
{
	struct body *body = emit->data;
	const char *type = tn_dtypes[buf->dtype].c_storage;

	body->info->base.has_scratch = true;
	tn_emit_line(emit, "%s *const %s = (%s *)(tn_scratch + %lld);", type,
		     tn_emit_name(emit, buf, buf->name), type,
		     (long long)buf->arena_offset);
}

static bool put_alloc(struct tn_emit *emit, const struct tn_kstmt *s)
{
	if (s->buf->space == TN_SPACE_ARENA)
		put_scratch(emit, s->buf);
	else if (s->buf->space == TN_SPACE_SHARED)
		put_shared(emit, s->buf);
	else
		return false;
	return true;
}

/* A buffer of all turns of the block is shared by its threads. */
static void put_block_alloc(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;

	if (s->buf->space == TN_SPACE_ARENA) {
		put_scratch(emit, s->buf);
		return;
	}
	if (s->buf->space == TN_SPACE_REG &&
	    tn_emit_form_of(emit, s->buf) != TN_FORM_ARRAY)
		tn_cuda_refuse(body->c, emit->kernel, "a @reg buffer is "
			       "outside of its threads");
	put_shared(emit, s->buf);
}

/* ---- Memory ---- */

struct touch {
	bool reads, writes;
};

static void touch_expr(void *data, const struct tn_kexpr *e)
{
	struct touch *touch = data;

	if (e->kind == TN_KEXPR_LOAD)
		touch->reads = true;
}

static void touch_stmt(void *data, const struct tn_kstmt *s)
{
	struct touch *touch = data;

	if (s->kind == TN_KSTMT_STORE || s->kind == TN_KSTMT_RAISE ||
	    s->kind == TN_KSTMT_SIZE)
		touch->writes = true;
}

/* The statement alone. */
static struct tn_kstmt alone(const struct tn_kstmt *s)
{
	struct tn_kstmt one = *s;

	one.next = one.prev = NULL;
	return one;
}

static struct touch touch_of(const struct tn_kstmt *s)
{
	struct touch touch = { false, false };
	struct tn_kvisitor visitor = { touch_expr, touch_stmt, &touch };
	struct tn_kstmt one = alone(s);
	struct tn_kblock block = { &one, &one };

	tn_kblock_visit(&block, &visitor);
	return touch;
}

static void put_alone(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct tn_kstmt one = alone(s);
	struct tn_kblock block = { &one, &one };

	tn_emit_block(emit, &block);
}

/* A barrier if memory was touched since the last. */
static void separate(struct tn_emit *emit)
{
	struct body *body = emit->data;

	if (body->is_touched && body->threads > 1)
		tn_emit_line(emit, "__syncthreads();");
	body->is_touched = false;
}

/* ---- Loops ---- */

/* The variable at the turn that `number` (text) counts. */
static void put_turn(struct tn_emit *emit, const struct tn_kstmt *s,
		     const char *number)
{
	struct tn_buf *out = emit->out;
	int64_t from;

	if (!tn_emit_const(emit, s->from, &from) || from != 0) {
		tn_emit_expr(emit, s->from, TN_LEVEL_ADD);
		tn_buf_put(out, " + ");
	}
	tn_buf_putf(out, "(int64_t)%s", number);
	if (s->step != 1)
		tn_buf_putf(out, " * %lld", (long long)s->step);
}

/* `const int64_t i = ..;`, unless nothing reads it. */
static void put_variable(struct tn_emit *emit, const struct tn_kstmt *s,
			 const char *number)
{
	if (!tn_map_has(&emit->reads, s->var))
		return;
	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "const int64_t %s = ",
		    tn_emit_name(emit, s->var, s->var->name));
	put_turn(emit, s, number);
	tn_buf_put(emit->out, ";\n");
}

/* Opens a loop that takes every `total`-th turn. */
static void open_turns(struct tn_emit *emit, const struct tn_kstmt *s,
		       const char *number, const char *total)
{
	const char *var = tn_emit_name(emit, s->var, s->var->name);

	tn_emit_indent(emit);
	tn_buf_putf(emit->out, "for (int64_t %s = ", var);
	put_turn(emit, s, number);
	tn_buf_putf(emit->out, "; %s < ", var);
	tn_emit_expr(emit, s->to, TN_LEVEL_ADD);
	tn_buf_putf(emit->out, "; %s += (int64_t)%s", var, total);
	if (s->step != 1)
		tn_buf_putf(emit->out, " * %lld", (long long)s->step);
	tn_buf_put(emit->out, ") {\n");
	emit->depth++;
}

static void close_brace(struct tn_emit *emit)
{
	emit->depth--;
	tn_emit_line(emit, "}");
}

static void put_level(struct tn_emit *emit, const struct tn_kblock *block);

/* Variables of loops stand at the head of the function. */
static void end_variables(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;
	enum tn_cuda_role role = s ? tn_cuda_role(body->info, s) :
		TN_ROLE_PLAIN;

	if (role != TN_ROLE_GRID && role != TN_ROLE_BLOCK)
		tn_buf_putc(emit->out, '\n');
}

static void put_grid(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;
	char number[16] = "blockIdx.?", total[16] = "gridDim.?";

	number[9] = total[8] = letters[tn_cuda_axis(s)];
	if (tn_cuda_grid_holds(s)) {
		put_variable(emit, s, number);
		end_variables(emit, s->body.first);
		put_level(emit, &s->body);
		return;
	}
	open_turns(emit, s, number, total);
	body->is_touched = true;
	body->nested++;
	put_level(emit, &s->body);
	body->nested--;
	close_brace(emit);
}

static void put_threads(struct tn_emit *emit, const struct tn_kstmt *s);

static void put_inner(struct tn_emit *emit, const struct tn_kstmt *s,
		      bool has_head)
{
	struct body *body = emit->data;
	const struct tn_kstmt *inner = s->body.first;

	if (inner && !inner->next &&
	    tn_cuda_role(body->info, inner) == TN_ROLE_BLOCK) {
		put_threads(emit, inner);
		return;
	}
	if (has_head)
		tn_buf_putc(emit->out, '\n');
	tn_emit_block(emit, &s->body);
}

/* Loops over threads, tightly nested; inside, all is one thread's. */
static void put_threads(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;
	int axis = tn_cuda_axis(s), threads = body->piece->threads[axis];
	char number[16] = "threadIdx.?", total[16] = "blockDim.?";

	number[10] = total[9] = letters[axis];
	if (tn_kloop_turns(s) == threads) {
		put_variable(emit, s, number);
		put_inner(emit, s, true);
		return;
	}
	if (tn_cuda_has_barrier(&s->body))
		tn_cuda_refuse(body->c, emit->kernel, "a barrier is in a loop "
			       "that not all threads of the block share");
	open_turns(emit, s, number, total);
	put_inner(emit, s, false);
	close_brace(emit);
}

static bool uses_axis(const struct tn_cuda_kernel *info,
		      const struct tn_kstmt *s, int axis)
{
	for (; s && tn_cuda_role(info, s) == TN_ROLE_BLOCK; s = s->body.first)
		if (tn_cuda_axis(s) == axis)
			return true;
	return false;
}

/* `if` for the threads that are first on the axes where no loop of `s` (NULL:
 * none at all) shares out; false: there is nothing to ask. */
static bool open_first(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;
	bool any = false;
	int axis;

	for (axis = 0; axis < 3; axis++) {
		if (body->piece->threads[axis] == 1 ||
		    (s && uses_axis(body->info, s, axis)))
			continue;
		if (!any)
			tn_emit_indent(emit);
		tn_buf_putf(emit->out, "%sthreadIdx.%c == 0",
			    any ? " && " : "if (", letters[axis]);
		any = true;
	}
	if (any) {
		tn_buf_put(emit->out, ") {\n");
		emit->depth++;
	}
	return any;
}

static void put_block_loop(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;
	bool asks, opens;

	separate(emit);
	asks = open_first(emit, s);
	opens = !asks && (body->nested || s->next);
	if (opens) {
		tn_emit_line(emit, "{");
		emit->depth++;
	}
	if (asks && tn_cuda_has_barrier(&s->body))
		tn_cuda_refuse(body->c, emit->kernel, "a barrier is in a loop "
			       "that not all threads of the block share");
	put_threads(emit, s);
	if (asks || opens)
		close_brace(emit);
	body->is_touched = true;
}

/* ---- What all threads go through ---- */

static void put_uniform(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;
	const char *var;

	separate(emit);
	tn_emit_indent(emit);
	if (s->kind == TN_KSTMT_IF) {
		tn_buf_put(emit->out, "if (");
		tn_emit_expr(emit, s->value, TN_LEVEL_OR);
	} else {
		var = tn_emit_name(emit, s->var, s->var->name);
		tn_buf_putf(emit->out, "for (int64_t %s = ", var);
		tn_emit_expr(emit, s->from, TN_LEVEL_OR);
		tn_buf_putf(emit->out, "; %s < ", var);
		tn_emit_expr(emit, s->to, TN_LEVEL_ADD);
		tn_buf_putf(emit->out, "; %s += %lld", var,
			    (long long)s->step);
	}
	tn_buf_put(emit->out, ") {\n");
	emit->depth++;
	body->is_touched = true;
	body->nested++;
	put_level(emit, &s->body);
	if (s->orelse.first) {
		emit->depth--;
		tn_emit_line(emit, "} else {");
		emit->depth++;
		body->is_touched = true;
		put_level(emit, &s->orelse);
	}
	body->nested--;
	close_brace(emit);
	body->is_touched = true;
}

static void put_plain(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;
	struct touch touch = touch_of(s);
	bool asks;

	if (touch.reads || touch.writes)
		separate(emit);
	asks = touch.writes && open_first(emit, NULL);
	put_alone(emit, s);
	if (asks)
		close_brace(emit);
	if (touch.reads || touch.writes)
		body->is_touched = true;
}

static void put_stmt(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct body *body = emit->data;

	switch (tn_cuda_role(body->info, s)) {
	case TN_ROLE_GRID:
		put_grid(emit, s);
		return;
	case TN_ROLE_BLOCK:
		put_block_loop(emit, s);
		return;
	case TN_ROLE_UNIFORM:
		put_uniform(emit, s);
		return;
	case TN_ROLE_PLAIN:
		break;
	}
	if (s->kind == TN_KSTMT_ALLOC && body->threads > 1) {
		put_block_alloc(emit, s);
	} else if (s->kind == TN_KSTMT_BARRIER) {
		body->is_touched = true;
		separate(emit);
	} else {
		put_plain(emit, s);
	}
}

static void put_level(struct tn_emit *emit, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	for (s = block->first; s; s = s->next)
		put_stmt(emit, s);
}

/* ---- Pieces ---- */

static void put_barrier(struct tn_emit *emit)
{
	tn_emit_line(emit, "__syncthreads();");
}

void tn_cuda_dialect(struct tn_dialect *dialect)
{
	memset(dialect, 0, sizeof(*dialect));
	dialect->function = "static __device__ __forceinline__";
	dialect->raise = "atomicOr(tn_f, %uu)";
	dialect->flags = "tn_flags";
	dialect->raise_here = "atomicOr(tn_flags, %uu)";
	dialect->bits_f32 = "\treturn __uint_as_float(a);\n";
	dialect->f32_bits = "\treturn __float_as_uint(a);\n";
	dialect->bits_f64 = "\treturn __longlong_as_double((long long)a);\n";
	dialect->f64_bits = "\treturn (uint64_t)__double_as_longlong(a);\n";
	dialect->mac_f32 = "\treturn __fmaf_rn(a, b, acc);\n";
	dialect->mac_f64 = "\treturn __fma_rn(a, b, acc);\n";
	dialect->alloc = put_alloc;
	dialect->barrier = put_barrier;
}

/* The @arena buffers of the kernel's own block, where the piece names them. */
static void put_scratches(struct tn_emit *emit, struct tn_buf *out)
{
	const struct tn_kstmt *s;
	struct tn_buf *body = emit->out;

	emit->out = out;
	for (s = emit->kernel->body.first; s; s = s->next)
		if (s->kind == TN_KSTMT_ALLOC &&
		    s->buf->space == TN_SPACE_ARENA &&
		    tn_map_has(&emit->used, s->buf))
			put_scratch(emit, s->buf);
	emit->out = body;
}

static void note_buffers(const struct tn_emit *emit,
			 struct tn_cuda_piece *piece)
{
	const struct tn_kernel *kernel = emit->kernel;
	int i;

	for (i = 0; i < kernel->nparams; i++)
		if (piece->uses)
			piece->uses[i] = tn_map_has(&emit->used,
						    kernel->params[i]);
}

void tn_cuda_body(struct tn_cuda *c, struct tn_cuda_kernel *info,
		  struct tn_cuda_piece *piece)
{
	struct body body = { .c = c, .info = info, .piece = piece };
	const struct tn_kstmt *s = piece->first;
	struct tn_emit emit;
	struct tn_buf text;
	int i;

	tn_buf_init(&text);
	tn_emit_init(&emit, &c->device, &c->device_need, &text,
		     info->base.kernel);
	emit.data = &body;
	body.threads = piece->threads[0] * piece->threads[1] *
		piece->threads[2];
	for (i = 0; i < piece->count; s = s->next) {
		if (s->kind == TN_KSTMT_ALLOC &&
		    s->buf->space == TN_SPACE_ARENA)
			continue;
		put_stmt(&emit, s);
		i++;
	}
	note_buffers(&emit, piece);
	put_scratches(&emit, &piece->body);
	tn_buf_putn(&piece->body, tn_buf_text(&text), text.len);
	if (!tn_emit_syms(&emit, &piece->syms) || emit.failed ||
	    emit.arena.failed || text.failed || piece->body.failed)
		c->failed = true;
	tn_emit_fini(&emit);
	tn_buf_fini(&text);
}
