/*
 * Running a kernel by walking its tree.
 *
 * In: a kernel, sizes, buffers. Out: the buffers written. Scalars are held in
 * the storage form of their type and computed by the same functions as the
 * reference, so a difference is a fault of the kernel.
 */
#include "ir/kernel_eval.h"

#include <string.h>

#include "base/num.h"
#include "ir/eval.h"
#include "ir/kernel_loop.h"
#include "ir/kernel_walk.h"

union cell {
	uint64_t bits;
	int64_t i;
	uint8_t b;
	double f64;
	unsigned char bytes[8];
};

struct machine {
	const struct tn_kernel *kernel;
	int64_t *dims;
	struct tn_map vars;	/* tn_kvar -> union cell * */
	struct tn_map bufs;	/* tn_kbuf -> data */
	struct tn_arena arena;
	uint32_t *flags;
	struct tn_buf *why;
	bool failed;
};

static void fail(struct machine *m, const char *name, const char *what)
{
	if (!m->failed)
		tn_buf_putf(m->why, "kernel %s: %s %s", m->kernel->name,
			    name, what);
	m->failed = true;
}

static union cell eval_expr(struct machine *m, const struct tn_kexpr *e);

static int64_t extent(struct machine *m, const struct tn_kbuf *buf, int axis)
{
	const struct tn_dim *dim = buf->dims[axis];
	int64_t value = 0;

	if (dim->kind == TN_DIM_SYM && dim->sym->is_runtime)
		return m->dims[dim->sym->number] >= 0
			? m->dims[dim->sym->number] : dim->sym->hi;
	if (!tn_dim_eval(dim, m->dims, &value) || value < 0)
		fail(m, buf->name, "has no size");
	return value;
}

/* The address of an element; NULL: out of bounds. */
static unsigned char *address(struct machine *m, const struct tn_kbuf *buf,
			      int n, const struct tn_kexpr *const *index)
{
	unsigned char *data = tn_map_find(&m->bufs, buf);
	int64_t at = 0;
	int i;

	for (i = 0; i < n && !m->failed; i++) {
		int64_t k = eval_expr(m, index[i]).i;
		int64_t size = extent(m, buf, i);

		if (k < 0 || k >= size)
			fail(m, buf->name, "is indexed out of bounds");
		else
			at = at * size + k;
	}
	if (!m->failed && !data)
		fail(m, buf->name, "has no memory");
	return m->failed ? NULL : data + at * tn_dtype_bytes(buf->dtype);
}

static int64_t index_value(struct machine *m, enum tn_opcode code, int64_t a,
			   int64_t b)
{
	int64_t out = 0;
	bool good = true;

	if (code == TN_OP_add)
		good = tn_num_add(a, b, &out);
	else if (code == TN_OP_sub)
		good = tn_num_sub(a, b, &out);
	else if (code == TN_OP_mul)
		good = tn_num_mul(a, b, &out);
	else if (a < 0 || b <= 0)
		good = false;
	else
		out = code == TN_OP_fdiv ? a / b : a % b;
	if (!good)
		fail(m, tn_ops[code].name, "of indices is not plain");
	return out;
}

static union cell eval_op(struct machine *m, const struct tn_kexpr *e)
{
	union cell args[3], out = { 0 };
	const void *in[3];
	int i;

	if (e->code == TN_OP_select)
		return eval_expr(m, eval_expr(m, e->args[0]).b ? e->args[1]
							       : e->args[2]);
	for (i = 0; i < e->nargs; i++) {
		args[i] = eval_expr(m, e->args[i]);
		in[i] = args[i].bytes;
		if (i == 0 && e->nargs == 2 && tn_kexpr_is_branch(e, 1) &&
		    args[0].b == (e->code == TN_OP_or))
			return args[0];
	}
	if (m->failed)
		return out;
	if (e->is_index)
		out.i = index_value(m, e->code, args[0].i, args[1].i);
	else if (e->code == TN_OP_cast)
		tn_eval_cast(e->args[0]->dtype, in[0], e->dtype, out.bytes);
	else if (e->code == TN_OP_bitcast)
		tn_eval_bitcast(in[0], e->dtype, out.bytes);
	else
		tn_eval_scalar(e->code, e->args[0]->dtype, in, out.bytes,
			       m->flags);
	return out;
}

/* A literal goes through `cast` from its widest form, which is exact. */
static union cell literal(const struct tn_kexpr *e)
{
	union cell out = { 0 };

	if (e->kind == TN_KEXPR_FLOAT)
		tn_eval_cast(TN_f64, &e->f, e->dtype, out.bytes);
	else if (e->dtype == TN_u64)
		out.i = e->i;
	else
		tn_eval_cast(TN_i64, &e->i, e->dtype, out.bytes);
	return out;
}

static union cell eval_expr(struct machine *m, const struct tn_kexpr *e)
{
	union cell out = { 0 };
	const unsigned char *from;
	const union cell *held;

	if (m->failed)
		return out;
	switch (e->kind) {
	case TN_KEXPR_INT:
	case TN_KEXPR_FLOAT:
		return literal(e);
	case TN_KEXPR_VAR:
		held = tn_map_find(&m->vars, e->var);
		if (held)
			return *held;
		fail(m, e->var->name, "has no value");
		return out;
	case TN_KEXPR_DIM:
		if (!tn_dim_eval(e->dim, m->dims, &out.i))
			fail(m, "a dim", "cannot be evaluated");
		return out;
	case TN_KEXPR_LOAD:
		from = address(m, e->buf, e->nargs, e->args);
		if (from)
			memcpy(out.bytes, from,
			       (size_t)tn_dtype_bytes(e->buf->dtype));
		return out;
	case TN_KEXPR_OP:
		return eval_op(m, e);
	}
	return out;
}

static void assign(struct machine *m, const struct tn_kvar *var,
		   union cell value)
{
	union cell *held = tn_map_find(&m->vars, var);

	if (!held) {
		held = tn_arena_alloc(&m->arena, sizeof *held);
		if (!held || !tn_map_set(&m->vars, var, held)) {
			fail(m, var->name, "has no memory");
			return;
		}
	}
	*held = value;
}

static union cell sum(struct machine *m, enum tn_dtype dtype, union cell a,
		      union cell b)
{
	const void *in[2];
	union cell out = { 0 };

	in[0] = a.bytes;
	in[1] = b.bytes;
	tn_eval_scalar(TN_OP_add, dtype, in, out.bytes, m->flags);
	return out;
}

static void run_set(struct machine *m, const struct tn_kstmt *s)
{
	union cell value = eval_expr(m, s->value);
	const union cell *old = tn_map_find(&m->vars, s->var);

	if (s->kind == TN_KSTMT_SET && !old)
		fail(m, s->var->name, "is set before its let");
	if (m->failed)
		return;
	if (s->value->dtype != s->var->dtype)
		fail(m, s->var->name, "gets another element type");
	if (s->kind == TN_KSTMT_SET && s->accumulate)
		value = sum(m, s->var->dtype, *old, value);
	assign(m, s->var, value);
}

static void run_store(struct machine *m, const struct tn_kstmt *s)
{
	union cell value = eval_expr(m, s->value), old = { 0 };
	unsigned char *to = address(m, s->buf, s->nindex, s->index);
	size_t bytes = (size_t)tn_dtype_bytes(s->buf->dtype);

	if (m->failed)
		return;
	if (s->value->dtype != s->buf->dtype)
		fail(m, s->buf->name, "gets another element type");
	if (s->accumulate) {
		memcpy(old.bytes, to, bytes);
		value = sum(m, s->buf->dtype, old, value);
	}
	memcpy(to, value.bytes, bytes);
}

/* Memory of a local buffer, filled with a pattern that is no sane value. */
static void run_alloc(struct machine *m, const struct tn_kbuf *buf)
{
	int64_t bytes = tn_dtype_bytes(buf->dtype);
	void *data;
	int i;

	for (i = 0; i < buf->rank && !m->failed; i++)
		if (!tn_num_mul(bytes, extent(m, buf, i), &bytes))
			fail(m, buf->name, "is too large");
	if (buf->space == TN_SPACE_ARENA &&
	    (buf->arena_offset < 0 ||
	     bytes > m->kernel->scratch_bytes - buf->arena_offset))
		fail(m, buf->name, "is not inside the kernel's scratch");
	if (m->failed)
		return;
	data = tn_arena_alloc(&m->arena, (size_t)bytes + 1);
	if (!data || !tn_map_set(&m->bufs, buf, data)) {
		fail(m, buf->name, "has no memory");
		return;
	}
	memset(data, 0xA5, (size_t)bytes);
}

static void run_block(struct machine *m, const struct tn_kblock *block);

static void run_loop(struct machine *m, const struct tn_kstmt *s)
{
	int64_t from = eval_expr(m, s->from).i, to = eval_expr(m, s->to).i;
	bool backwards = s->loop == TN_LOOP_PAR || s->loop == TN_LOOP_VEC;
	int64_t n, k;

	if (m->failed || to <= from)
		return;
	n = tn_kloop_count(from, to, s->step);
	for (k = 0; k < n && !m->failed; k++) {
		union cell at = { 0 };

		at.i = from + (backwards ? n - 1 - k : k) * s->step;
		assign(m, s->var, at);
		run_block(m, &s->body);
	}
}

static void run_stmt(struct machine *m, const struct tn_kstmt *s)
{
	switch (s->kind) {
	case TN_KSTMT_LOOP:
		run_loop(m, s);
		break;
	case TN_KSTMT_LET:
	case TN_KSTMT_SET:
		run_set(m, s);
		break;
	case TN_KSTMT_ALLOC:
		run_alloc(m, s->buf);
		break;
	case TN_KSTMT_STORE:
		run_store(m, s);
		break;
	case TN_KSTMT_IF:
		run_block(m, eval_expr(m, s->value).b ? &s->body : &s->orelse);
		break;
	case TN_KSTMT_BARRIER:
		break;
	case TN_KSTMT_RAISE:
		if (eval_expr(m, s->value).b)
			*m->flags |= s->flags;
		break;
	case TN_KSTMT_SIZE:
		m->dims[s->sym->number] = eval_expr(m, s->value).i;
		break;
	}
}

static void run_block(struct machine *m, const struct tn_kblock *block)
{
	const struct tn_kstmt *s;

	for (s = block->first; s && !m->failed; s = s->next)
		run_stmt(m, s);
}

bool tn_kernel_eval(const struct tn_kernel *kernel, int64_t *dims,
		    void *const *buffers, uint32_t *flags, struct tn_buf *why)
{
	struct machine m = { .kernel = kernel, .dims = dims, .flags = flags,
			     .why = why };
	int i;

	tn_map_init_ptr(&m.vars);
	tn_map_init_ptr(&m.bufs);
	tn_arena_init(&m.arena);
	for (i = 0; i < kernel->nparams; i++)
		if (!tn_map_set(&m.bufs, kernel->params[i], buffers[i]))
			fail(&m, kernel->params[i]->name, "has no memory");
	run_block(&m, &kernel->body);
	tn_map_fini(&m.vars);
	tn_map_fini(&m.bufs);
	tn_arena_fini(&m.arena);
	return !m.failed;
}
