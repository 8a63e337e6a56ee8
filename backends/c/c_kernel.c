/*
 * Kernels as C functions: the dialect of C, signatures, threads.
 *
 * A kernel takes the number of threads if it has a parallel loop, its dims by
 * value, run-time dims that it sets by pointer, the base of its scratch, then
 * its buffers in order (in two tables if there are many). If it may raise, it
 * returns flags.
 */
#include "backends/c/c_impl.h"

#include <string.h>

#include "base/num.h"

/* ---- Threads ---- */

static bool raises_inside(const struct tn_emit *emit)
{
	return tn_emit_may_raise(emit->kernel);
}

/* Turns of a loop. */
static void put_turns(struct tn_emit *emit, const struct tn_kstmt *s)
{
	if (tn_kloop_is_const(s)) {
		tn_buf_putf(emit->out, "%lld", (long long)tn_kloop_turns(s));
		return;
	}
	if (tn_kloop_is_plain(s)) {
		tn_emit_expr(emit, s->to, TN_LEVEL_UNARY);
		return;
	}
	tn_buf_put(emit->out, s->step == 1 ? "(" : "((");
	tn_emit_expr(emit, s->to, TN_LEVEL_ADD);
	tn_buf_put(emit->out, " - ");
	tn_emit_expr(emit, s->from, TN_LEVEL_MUL);
	if (s->step == 1)
		tn_buf_putc(emit->out, ')');
	else
		tn_buf_putf(emit->out, " + %lld) / %lld)",
			    (long long)s->step - 1, (long long)s->step);
}

/* Whether the loop has the turns that it asks for, with those of the sized
 * loops inside of it. */
static void put_pays(struct tn_emit *emit, const struct tn_kstmt *s)
{
	const struct tn_kstmt *inner = tn_kloop_next_sized(s);

	if (!s->min) {
		tn_buf_putc(emit->out, '1');
		return;
	}
	if (inner)
		tn_buf_put(emit->out, "(double)");
	put_turns(emit, s);
	for (; inner; inner = tn_kloop_next_sized(inner)) {
		tn_buf_put(emit->out, " * (double)");
		put_turns(emit, inner);
	}
	tn_buf_putf(emit->out, " >= %lld", (long long)s->min);
}

static bool put_loop(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct tn_c_kernel *info = emit->data;

	if (s->loop == TN_LOOP_VEC && !tn_map_find(&emit->lanes, s) &&
	    !raises_inside(emit)) {
		tn_emit_line(emit, "TN_INDEPENDENT");
		return false;
	}
	if (s->loop != TN_LOOP_PAR || s->bind != TN_BIND_THREADS ||
	    emit->in_parallel)
		return false;
	info->is_parallel = true;
	emit->in_parallel = true;
	tn_emit_indent(emit);
	tn_buf_put(emit->out, raises_inside(emit) ? "TN_PARALLEL_RAISING(" :
		   "TN_PARALLEL(");
	put_pays(emit, s);
	tn_buf_put(emit->out, ")\n");
	tn_emit_plain_loop(emit, s);
	emit->in_parallel = false;
	return true;
}

/* ---- Buffers ---- */

static bool put_alloc(struct tn_emit *emit, const struct tn_kstmt *s)
{
	struct tn_c_kernel *info = emit->data;
	const char *type = tn_dtypes[s->buf->dtype].c_storage;
	const char *name = tn_emit_name(emit, s->buf, s->buf->name);
	int64_t bytes;

	if (s->buf->space == TN_SPACE_ARENA) {
		info->base.has_scratch = true;
		tn_emit_line(emit, "%s *const %s = TN_PUT(%s, tn_scratch + "
			     "%lld);", type, name, type,
			     (long long)s->buf->arena_offset);
		return true;
	}
	if (!tn_kbuf_bytes(s->buf, &bytes) ||
	    !tn_num_add(info->stack, bytes, &info->stack))
		emit->failed = true;
	return emit->failed;
}

void tn_c_dialect(struct tn_dialect *dialect, const struct tn_target *target)
{
	tn_api_dialect(dialect);
	dialect->function = "TN_INLINE";
	dialect->opaque = "TN_OPAQUE";
	dialect->raise = "*tn_f |= %uu";
	dialect->flags = "&tn_flags";
	dialect->raise_here = "tn_flags |= %uu";
	dialect->mac_f32 = "#ifdef TN_FMA\n\treturn fmaf(a, b, acc);\n"
		"#else\n\treturn acc + a * b;\n#endif\n";
	dialect->mac_f64 = "#ifdef TN_FMA\n\treturn fma(a, b, acc);\n"
		"#else\n\treturn acc + a * b;\n#endif\n";
	dialect->vector_bytes = target->vector_bytes;
	dialect->loop = put_loop;
	dialect->alloc = put_alloc;
}

/* ---- Functions ---- */

static void put_comment(struct tn_c *c, const struct tn_c_kernel *info)
{
	tn_launch_comment(&c->text, info->base.kernel, !info->is_wide);
}

static void put_params(struct tn_params *p, struct tn_emit *emit,
		       const struct tn_c_kernel *info)
{
	if (info->is_parallel)
		tn_params_put(p, "int ", "", "tn_threads");
	tn_params_dims(p, emit, &info->base);
	if (info->is_wide) {
		tn_params_put(p, "const void *const *", "", "tn_in");
		tn_params_put(p, "void *const *", "", "tn_out");
	} else {
		tn_params_buffers(p, emit, &info->base, "TN_RESTRICT ");
	}
}

/* Of the function, or of its piece `number` (from 0; -1: the whole). */
static void put_signature(struct tn_c *c, struct tn_emit *emit,
			  const struct tn_c_kernel *info, int number)
{
	struct tn_buf *out = &c->text;
	struct tn_params p = { out, "", ", ", true, false };

	tn_buf_putf(out, "TN_KERNEL %s %s", info->base.raises ? "uint32_t" :
		    "void", info->base.name);
	if (number >= 0)
		tn_buf_putf(out, "_part_%d", number);
	tn_buf_putc(out, '(');
	put_params(&p, emit, info);
	tn_buf_put(out, p.any ? ")\n{\n" : "void)\n{\n");
}

/* Pointers from the tables, and what keeps compilers silent about the rest. */
static void put_opening(struct tn_buf *out, struct tn_emit *emit,
			const struct tn_c_kernel *info)
{
	const struct tn_kernel *kernel = info->base.kernel;
	const struct tn_kbuf *buf;
	const char *name, *type;
	int i, nin = 0, nout = 0;
	bool is_in, is_used;

	for (i = 0; i < kernel->nparams; i++) {
		buf = kernel->params[i];
		name = tn_names_get(&emit->names, buf, buf->name);
		type = tn_dtypes[buf->dtype].c_storage;
		is_in = buf->role == TN_KBUF_IN;
		is_used = tn_map_find(&emit->used, buf) != NULL;
		if (!info->is_wide && !is_used)
			tn_buf_putf(out, "\t(void)%s;\n", name);
		else if (info->is_wide && is_used)
			tn_buf_putf(out, "\t%s%s *const %s = (%s%s *)"
				    "tn_%s[%d];\n", is_in ? "const " : "",
				    type, name, is_in ? "const " : "", type,
				    is_in ? "in" : "out",
				    is_in ? nin : nout);
		if (is_in)
			nin++;
		else
			nout++;
	}
	if (info->is_wide)
		tn_buf_put(out, "\t(void)tn_in;\n\t(void)tn_out;\n");
	if (info->base.raises)
		tn_buf_put(out, "\tuint32_t tn_flags = 0;\n\n");
}

static void put_whole(struct tn_c *c, struct tn_emit *emit,
		      struct tn_c_kernel *info, struct tn_buf *body)
{
	emit->out = body;
	tn_emit_block(emit, &info->base.kernel->body);
	if (!tn_emit_syms(emit, &info->base.syms))
		c->failed = true;
	put_comment(c, info);
	put_signature(c, emit, info, -1);
	put_opening(&c->text, emit, info);
	tn_buf_putn(&c->text, tn_buf_text(body), body->len);
}

/* ---- Kernels of thousands of statements ---- */

/* Statements of a piece. */
#define PIECE 32

/* True if the outermost statements share no variable. */
static bool is_divisible(const struct tn_kblock *block)
{
	const struct tn_kstmt *s;
	int count = 0;

	for (s = block->first; s; s = s->next, count++)
		if (s->kind == TN_KSTMT_LET || s->kind == TN_KSTMT_ALLOC)
			return false;
	return count > 2 * PIECE;
}

static void forget_params(struct tn_emit *emit)
{
	const struct tn_kernel *kernel = emit->kernel;
	int i;

	for (i = 0; i < kernel->nparams; i++)
		if (tn_map_has(&emit->used, kernel->params[i]))
			(void)tn_map_set(&emit->used, kernel->params[i],
					 NULL);
}

/* The texts of all pieces, between lines of the separator. */
static int put_bodies(struct tn_emit *emit, const struct tn_c_kernel *info,
		      struct tn_buf *bodies)
{
	const struct tn_kstmt *s = info->base.kernel->body.first;
	struct tn_buf text;
	int n, pieces = 0;

	for (; s; pieces++) {
		tn_buf_init(&text);
		emit->out = &text;
		forget_params(emit);
		for (n = 0; s && n < PIECE; n++, s = s->next)
			tn_emit_stmt(emit, s);
		put_opening(bodies, emit, info);
		tn_buf_putn(bodies, tn_buf_text(&text), text.len);
		tn_buf_putc(bodies, '\f');
		if (text.failed)
			emit->failed = true;
		tn_buf_fini(&text);
	}
	return pieces;
}

/* Names of all parameters, as arguments of the pieces. */
static void put_names(struct tn_c *c, struct tn_emit *emit,
		      const struct tn_c_kernel *info, const char *before,
		      const char *between)
{
	struct tn_params p = { &c->text, before, between, false, false };

	put_params(&p, emit, info);
}

/* One function a piece, and one that calls them: compilers need more than
 * linear time for long functions. */
static void put_divided(struct tn_c *c, struct tn_emit *emit,
			struct tn_c_kernel *info, struct tn_buf *bodies)
{
	int pieces = put_bodies(emit, info, bodies), i;
	const char *at = tn_buf_text(bodies), *end;

	if (!tn_emit_syms(emit, &info->base.syms))
		c->failed = true;
	put_comment(c, info);
	for (i = 0; i < pieces && !bodies->failed; i++) {
		end = strchr(at, '\f');
		put_signature(c, emit, info, i);
		put_names(c, emit, info, "\t(void)", ";\n\t(void)");
		tn_buf_put(&c->text, ";\n");
		tn_buf_putn(&c->text, at, (size_t)(end - at));
		tn_buf_put(&c->text, info->base.raises ?
			   "\treturn tn_flags;\n}\n\n" : "}\n\n");
		at = end + 1;
	}
	put_signature(c, emit, info, -1);
	if (info->base.raises)
		tn_buf_put(&c->text, "\tuint32_t tn_flags = 0;\n\n");
	for (i = 0; i < pieces; i++) {
		tn_buf_putf(&c->text, "\t%s%s_part_%d(", info->base.raises ?
			    "tn_flags |= " : "", info->base.name, i);
		put_names(c, emit, info, "", ", ");
		tn_buf_put(&c->text, ");\n");
	}
}

static void put_kernel(struct tn_c *c, struct tn_c_kernel *info)
{
	struct tn_launched *base = &info->base;
	size_t before = c->text.len;
	struct tn_emit emit;
	struct tn_buf body;

	tn_buf_init(&body);
	tn_emit_init(&emit, &c->dialect, &c->need, &body, base->kernel);
	emit.data = info;
	info->is_wide = base->kernel->nparams > TN_C_PARAMS;
	base->may_alias = base->may_alias || info->is_wide;
	base->name = tn_names_make(&c->kernels.names, base->kernel, 'k',
				   tn_arena_printf(c->arena, "k_%s",
						   base->kernel->name));
	if (!base->name)
		c->failed = true;
	if (is_divisible(&base->kernel->body))
		put_divided(c, &emit, info, &body);
	else
		put_whole(c, &emit, info, &body);
	tn_buf_put(&c->text, base->raises ? "\treturn tn_flags;\n}\n\n" :
		   "}\n\n");
	if (info->is_parallel)
		c->has_parallel = true;
	if (c->stack < info->stack)
		c->stack = info->stack;
	if (emit.failed || emit.arena.failed || body.failed)
		c->failed = true;
	if (!c->failed)
		tn_emit_tell(base->kernel, c->target, base->name,
			     c->text.len - before);
	tn_emit_fini(&emit);
	tn_buf_fini(&body);
}

void tn_c_kernels(struct tn_c *c)
{
	size_t i;

	tn_launch_collect(&c->kernels, c->entry->body);
	c->failed = c->failed || c->kernels.failed;
	for (i = 0; i < c->kernels.list.len && !c->failed; i++)
		put_kernel(c, tn_vec_ptr(&c->kernels.list, i));
}
