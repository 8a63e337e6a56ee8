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
	tn_c_put_work(emit, s);
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
		info->has_scratch = true;
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
	memset(dialect, 0, sizeof *dialect);
	dialect->function = "TN_INLINE";
	dialect->opaque = "TN_OPAQUE";
	dialect->restricted = "TN_RESTRICT";
	dialect->raise = "*tn_f |= %uu";
	dialect->flags = "&tn_flags";
	dialect->raise_here = "tn_flags |= %uu";
	dialect->bits_f32 = "\tfloat r;\n\n\tmemcpy(&r, &a, sizeof r);\n"
		"\treturn r;\n";
	dialect->f32_bits = "\tuint32_t r;\n\n\tmemcpy(&r, &a, sizeof r);\n"
		"\treturn r;\n";
	dialect->bits_f64 = "\tdouble r;\n\n\tmemcpy(&r, &a, sizeof r);\n"
		"\treturn r;\n";
	dialect->f64_bits = "\tuint64_t r;\n\n\tmemcpy(&r, &a, sizeof r);\n"
		"\treturn r;\n";
	dialect->mac_f32 = "#ifdef TN_FMA\n\treturn fmaf(a, b, acc);\n"
		"#else\n\treturn acc + a * b;\n#endif\n";
	dialect->mac_f64 = "#ifdef TN_FMA\n\treturn fma(a, b, acc);\n"
		"#else\n\treturn acc + a * b;\n#endif\n";
	dialect->vector_bytes = target->vector_bytes;
	dialect->loop = put_loop;
	dialect->alloc = put_alloc;
}

/* ---- Functions ---- */

static void put_comment(struct tn_buf *out, const struct tn_kernel *kernel)
{
	struct tn_buf text;

	tn_buf_init(&text);
	if (kernel->comment)
		tn_buf_putf(&text, "%s\n", kernel->comment);
	if (kernel->nparams <= TN_C_PARAMS)
		tn_kernel_print(&text, kernel);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = 0;
	tn_buf_put(out, "/*\n * ");
	tn_emit_comment(out, tn_buf_text(&text), " * ");
	tn_buf_put(out, "\n */\n");
	tn_buf_fini(&text);
}

static void put_separator(struct tn_buf *out, bool *first)
{
	if (!*first)
		tn_buf_put(out, ", ");
	*first = false;
}

static void put_param(struct tn_c *c, struct tn_emit *emit,
		      const struct tn_c_kernel *info,
		      const struct tn_kbuf *buf)
{
	const char *name = tn_names_get(&emit->names, buf, buf->name);

	tn_buf_putf(&c->text, "%s%s *%s%s",
		    buf->role == TN_KBUF_IN ? "const " : "",
		    tn_dtypes[buf->dtype].c_storage,
		    info->may_alias ? "" : "TN_RESTRICT ", name ? name : "");
}

/* Of the function, or of its piece `number` (from 0; -1: the whole). */
static void put_signature(struct tn_c *c, struct tn_emit *emit,
			  const struct tn_c_kernel *info, int number)
{
	struct tn_buf *out = &c->text;
	const struct tn_sym *sym;
	bool first = true;
	size_t i;

	tn_buf_putf(out, "TN_KERNEL %s %s", info->raises ? "uint32_t" : "void",
		    info->name);
	if (number >= 0)
		tn_buf_putf(out, "_part_%d", number);
	tn_buf_putc(out, '(');
	if (info->is_parallel) {
		put_separator(out, &first);
		tn_buf_put(out, "int tn_threads");
	}
	for (i = 0; i < info->syms.len; i++) {
		sym = tn_vec_ptr(&info->syms, i);
		put_separator(out, &first);
		tn_buf_putf(out, "int64_t %s",
			    tn_names_get(&emit->names, sym, sym->name));
	}
	for (i = 0; i < info->sizes.len; i++) {
		sym = tn_vec_ptr(&info->sizes, i);
		put_separator(out, &first);
		tn_buf_putf(out, "int64_t *tn_set_%s",
			    tn_names_get(&emit->names, sym, sym->name));
	}
	if (info->has_scratch) {
		put_separator(out, &first);
		tn_buf_put(out, "unsigned char *tn_scratch");
	}
	if (info->is_wide) {
		put_separator(out, &first);
		tn_buf_put(out, "const void *const *tn_in, "
			   "void *const *tn_out");
	}
	for (i = 0; !info->is_wide && i < (size_t)info->kernel->nparams; i++) {
		put_separator(out, &first);
		put_param(c, emit, info, info->kernel->params[i]);
	}
	tn_buf_put(out, first ? "void)\n{\n" : ")\n{\n");
}

/* Pointers from the tables, and what keeps compilers silent about the rest. */
static void put_opening(struct tn_buf *out, struct tn_emit *emit,
			const struct tn_c_kernel *info)
{
	const struct tn_kernel *kernel = info->kernel;
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
	if (info->raises)
		tn_buf_put(out, "\tuint32_t tn_flags = 0;\n\n");
}

static void put_whole(struct tn_c *c, struct tn_emit *emit,
		      struct tn_c_kernel *info, struct tn_buf *body)
{
	emit->out = body;
	tn_emit_block(emit, &info->kernel->body);
	if (!tn_emit_syms(emit, &info->syms))
		c->failed = true;
	put_comment(&c->text, info->kernel);
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
	const struct tn_kstmt *s = info->kernel->body.first;
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
	struct tn_buf *out = &c->text;
	const struct tn_sym *sym;
	const char *comma = before;
	size_t i;

	if (info->is_parallel) {
		tn_buf_putf(out, "%stn_threads", comma);
		comma = between;
	}
	for (i = 0; i < info->syms.len + info->sizes.len; i++) {
		sym = i < info->syms.len ? tn_vec_ptr(&info->syms, i) :
			tn_vec_ptr(&info->sizes, i - info->syms.len);
		tn_buf_putf(out, "%s%s%s", comma, i < info->syms.len ? "" :
			    "tn_set_", tn_names_get(&emit->names, sym,
						    sym->name));
		comma = between;
	}
	if (info->has_scratch) {
		tn_buf_putf(out, "%stn_scratch", comma);
		comma = between;
	}
	if (info->is_wide)
		tn_buf_putf(out, "%stn_in%stn_out", comma, between);
	for (i = 0; !info->is_wide && i < (size_t)info->kernel->nparams;
	     i++) {
		tn_buf_putf(out, "%s%s", comma,
			    tn_names_get(&emit->names,
					 info->kernel->params[i],
					 info->kernel->params[i]->name));
		comma = between;
	}
}

/* One function a piece, and one that calls them: compilers need more than
 * linear time for long functions. */
static void put_divided(struct tn_c *c, struct tn_emit *emit,
			struct tn_c_kernel *info, struct tn_buf *bodies)
{
	int pieces = put_bodies(emit, info, bodies), i;
	const char *at = tn_buf_text(bodies), *end;

	if (!tn_emit_syms(emit, &info->syms))
		c->failed = true;
	put_comment(&c->text, info->kernel);
	for (i = 0; i < pieces && !bodies->failed; i++) {
		end = strchr(at, '\f');
		put_signature(c, emit, info, i);
		put_names(c, emit, info, "\t(void)", ";\n\t(void)");
		tn_buf_put(&c->text, ";\n");
		tn_buf_putn(&c->text, at, (size_t)(end - at));
		tn_buf_put(&c->text, info->raises ?
			   "\treturn tn_flags;\n}\n\n" : "}\n\n");
		at = end + 1;
	}
	put_signature(c, emit, info, -1);
	if (info->raises)
		tn_buf_put(&c->text, "\tuint32_t tn_flags = 0;\n\n");
	for (i = 0; i < pieces; i++) {
		tn_buf_putf(&c->text, "\t%s%s_part_%d(", info->raises ?
			    "tn_flags |= " : "", info->name, i);
		put_names(c, emit, info, "", ", ");
		tn_buf_put(&c->text, ");\n");
	}
}

static void put_kernel(struct tn_c *c, struct tn_c_kernel *info)
{
	const struct tn_kernel *kernel = info->kernel;
	struct tn_emit emit;
	struct tn_buf body;

	tn_buf_init(&body);
	tn_emit_init(&emit, &c->dialect, &c->need, &body, kernel);
	emit.data = info;
	info->is_wide = kernel->nparams > TN_C_PARAMS;
	info->raises = tn_emit_may_raise(kernel);
	info->name = tn_names_get(&c->functions, kernel,
				  tn_arena_printf(c->arena, "k_%s",
						  kernel->name));
	if (!tn_emit_sizes(kernel, &info->sizes) || !info->name)
		c->failed = true;
	if (is_divisible(&kernel->body))
		put_divided(c, &emit, info, &body);
	else
		put_whole(c, &emit, info, &body);
	tn_buf_put(&c->text, info->raises ? "\treturn tn_flags;\n}\n\n" :
		   "}\n\n");
	if (info->is_parallel)
		c->has_parallel = true;
	if (c->stack < info->stack)
		c->stack = info->stack;
	if (emit.failed || emit.arena.failed || body.failed)
		c->failed = true;
	tn_emit_fini(&emit);
	tn_buf_fini(&body);
}

/* ---- Which kernels ---- */

static void add_kernel(struct tn_c *c, const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	struct tn_c_kernel *info = tn_map_find(&c->by_kernel, kernel);

	if (!info) {
		info = tn_arena_alloc(c->arena, sizeof *info);
		if (!info || !tn_vec_push_ptr(&c->kernels, info) ||
		    !tn_map_set(&c->by_kernel, kernel, info)) {
			c->failed = true;
			return;
		}
		info->kernel = kernel;
		tn_vec_init(&info->syms, sizeof(void *), c->arena);
		tn_vec_init(&info->sizes, sizeof(void *), c->arena);
	}
	if (op->kernel != kernel &&
	    !tn_map_set(&c->by_kernel, op->kernel, info))
		c->failed = true;
	info->may_alias = info->may_alias || tn_api_in_place(op) ||
		op->kernel->nparams > TN_C_PARAMS;
}

static void collect(struct tn_c *c, const struct tn_block *block)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		if (op->code == TN_OP_launch)
			add_kernel(c, op);
		for (i = 0; i < op->nregions; i++)
			collect(c, op->regions[i]);
	}
}

void tn_c_kernels(struct tn_c *c)
{
	size_t i;

	collect(c, c->entry->body);
	for (i = 0; i < c->kernels.len && !c->failed; i++)
		put_kernel(c, tn_vec_ptr(&c->kernels, i));
}
