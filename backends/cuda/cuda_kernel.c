/*
 * Kernels as __global__ functions, and the C functions that launch them.
 *
 * Parameters of both: the dims by value, pointers to the run-time dims that
 * the kernel sets, the base of its @arena buffers, its word of flags, then its
 * buffers in order.
 *
 *   extern "C" __global__ void __launch_bounds__(256) m_k_relu(int64_t B,
 *           const float *__restrict__ x, float *__restrict__ y)
 *   static void launch_relu(struct m_state *tn_s, int tn_op, int64_t B,
 *           const float *x, float *y)
 */
#include "backends/cuda/cuda_impl.h"

#include <string.h>

/* ---- Parameters ---- */

struct params {
	struct tn_buf *out;
	bool is_device, is_call, any;
};

static void put_separator(struct params *p)
{
	if (p->any)
		tn_buf_put(p->out, ", ");
	p->any = true;
}

/* One parameter, or its address where the launch is printed. */
static void put_param(struct params *p, const char *type, const char *prefix,
		      const char *name)
{
	put_separator(p);
	if (p->is_call)
		tn_buf_putf(p->out, "&%s%s", prefix, name ? name : "");
	else
		tn_buf_putf(p->out, "%s%s%s", type, prefix, name ? name : "");
}

static void put_buffers(struct params *p, struct tn_emit *emit,
			const struct tn_cuda_kernel *info)
{
	const struct tn_kbuf *buf;
	const char *type;
	int i;

	for (i = 0; i < info->kernel->nparams; i++) {
		buf = info->kernel->params[i];
		type = tn_arena_printf(&emit->arena, "%s%s *%s",
				       buf->role == TN_KBUF_IN ? "const " : "",
				       tn_dtypes[buf->dtype].c_storage,
				       p->is_device && !info->may_alias ?
				       "__restrict__ " : "");
		put_param(p, type ? type : "", "",
			  tn_names_get(&emit->names, buf, buf->name));
	}
}

static void put_params(struct params *p, struct tn_emit *emit,
		       const struct tn_cuda_kernel *info)
{
	const struct tn_sym *sym;
	size_t i;

	for (i = 0; i < info->syms.len; i++) {
		sym = tn_vec_ptr(&info->syms, i);
		put_param(p, "int64_t ", "",
			  tn_names_get(&emit->names, sym, sym->name));
	}
	for (i = 0; i < info->sizes.len; i++) {
		sym = tn_vec_ptr(&info->sizes, i);
		put_param(p, "int64_t *", "tn_set_",
			  tn_names_get(&emit->names, sym, sym->name));
	}
	if (info->has_scratch)
		put_param(p, "unsigned char *", "", "tn_scratch");
	if (info->raises && (p->is_device || p->is_call))
		put_param(p, "uint32_t *", "", "tn_flags");
	put_buffers(p, emit, info);
}

/* ---- .cu ---- */

static void put_comment(struct tn_buf *out, const struct tn_kernel *kernel)
{
	struct tn_buf text;

	tn_buf_init(&text);
	if (kernel->comment)
		tn_buf_putf(&text, "%s\n", kernel->comment);
	tn_kernel_print(&text, kernel);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = 0;
	tn_buf_put(out, "/*\n * ");
	tn_emit_comment(out, tn_buf_text(&text), " * ");
	tn_buf_put(out, "\n */\n");
	if (text.failed)
		out->failed = true;
	tn_buf_fini(&text);
}

static bool has(const struct tn_vec *syms, const struct tn_sym *sym)
{
	size_t i;

	for (i = 0; i < syms->len; i++)
		if (tn_vec_ptr(syms, i) == sym)
			return true;
	return false;
}

static void put_void(struct tn_buf *out, const char *prefix, const char *name)
{
	tn_buf_putf(out, "\t(void)%s%s;\n", prefix, name ? name : "");
}

/* Keeps compilers silent about parameters for other pieces. */
static void put_unused(struct tn_cuda *c, struct tn_emit *emit,
		       const struct tn_cuda_kernel *info,
		       const struct tn_cuda_piece *piece)
{
	const char *body = tn_buf_text(&piece->body);
	const struct tn_kbuf *buf;
	const struct tn_sym *sym;
	size_t i;
	int k;

	for (i = 0; i < info->syms.len; i++) {
		sym = tn_vec_ptr(&info->syms, i);
		if (!has(&piece->syms, sym))
			put_void(&c->text, "", tn_names_get(&emit->names, sym,
							    sym->name));
	}
	for (i = 0; i < info->sizes.len; i++) {
		sym = tn_vec_ptr(&info->sizes, i);
		if (!strstr(body, "*tn_set_"))
			put_void(&c->text, "tn_set_",
				 tn_names_get(&emit->names, sym, sym->name));
	}
	if (info->has_scratch && !strstr(body, "tn_scratch"))
		put_void(&c->text, "", "tn_scratch");
	if (info->raises && !strstr(body, "tn_flags"))
		put_void(&c->text, "", "tn_flags");
	for (k = 0; k < info->kernel->nparams; k++) {
		buf = info->kernel->params[k];
		if (!piece->uses || piece->uses[k])
			continue;
		put_void(&c->text, "", tn_names_get(&emit->names, buf,
						    buf->name));
	}
}

static void put_piece(struct tn_cuda *c, struct tn_emit *emit,
		      const struct tn_cuda_kernel *info,
		      const struct tn_cuda_piece *piece)
{
	struct params p = { &c->text, true, false, false };

	tn_buf_putf(&c->text, "extern \"C\" __global__ void "
		    "__launch_bounds__(%d) %s(", piece->threads[0] *
		    piece->threads[1] * piece->threads[2], piece->name);
	put_params(&p, emit, info);
	tn_buf_put(&c->text, ")\n{\n");
	put_unused(c, emit, info, piece);
	tn_buf_putn(&c->text, tn_buf_text(&piece->body), piece->body.len);
	tn_buf_put(&c->text, "}\n\n");
}

/* ---- Launches ---- */

static void put_grid(struct tn_emit *emit, const struct tn_cuda_piece *piece)
{
	struct tn_buf *out = emit->out;
	const struct tn_kstmt *loop;
	int axis;

	tn_buf_put(out, "tn_extent(");
	for (axis = 0; axis < 3; axis++) {
		loop = piece->grid[axis];
		tn_buf_put(out, axis ? ", " : "");
		if (!loop) {
			tn_buf_putc(out, '1');
			continue;
		}
		tn_buf_put(out, "tn_turns(");
		tn_emit_expr(emit, loop->from, TN_LEVEL_ANY);
		tn_buf_put(out, ", ");
		tn_emit_expr(emit, loop->to, TN_LEVEL_ANY);
		tn_buf_putf(out, ", %lld, %d)", (long long)loop->step,
			    axis ? 65535 : INT32_MAX);
	}
	tn_buf_putf(out, "),\n\t\t  tn_extent(%d, %d, %d)", piece->threads[0],
		    piece->threads[1], piece->threads[2]);
}

static void put_launch(struct tn_emit *emit,
		       const struct tn_cuda_piece *piece)
{
	tn_buf_putf(emit->out, "\ttn_launch(tn_s, (const void *)(uintptr_t)"
		    "%s,\n\t\t  ", piece->name);
	put_grid(emit, piece);
	tn_buf_put(emit->out, ", tn_arguments);\n");
}

/* The C declaration of a __global__ function. */
static void put_declaration(struct tn_cuda *c, struct tn_emit *emit,
			    const struct tn_cuda_kernel *info,
			    const struct tn_cuda_piece *piece)
{
	struct params p = { &c->launchers, false, false, false };
	struct tn_cuda_kernel bare = *info;

	tn_buf_putf(&c->launchers, "void %s(", piece->name);
	bare.may_alias = true;
	p.is_device = true;
	put_params(&p, emit, &bare);
	tn_buf_put(&c->launchers, p.any ? ");\n" : "void);\n");
}

static void put_launcher(struct tn_cuda *c, struct tn_emit *emit,
			 const struct tn_cuda_kernel *info,
			 const struct tn_buf *launches)
{
	struct params p = { &c->launchers, false, false, true };
	struct tn_buf *out = &c->launchers;
	size_t i;

	for (i = 0; i < info->pieces.len; i++)
		put_declaration(c, emit, info, tn_vec_ptr(&info->pieces, i));
	tn_buf_putf(out, "\nstatic void %s(struct %s_state *tn_s, int tn_op",
		    info->name, c->name);
	put_params(&p, emit, info);
	tn_buf_put(out, ")\n{\n");
	if (info->raises)
		tn_buf_put(out, "\tuint32_t *tn_flags = tn_s->flags + "
			   "tn_op;\n");
	tn_buf_put(out, "\tvoid *tn_arguments[] = { ");
	p.any = false;
	p.is_call = true;
	put_params(&p, emit, info);
	tn_buf_put(out, p.any ? ", NULL };\n\n" : "NULL };\n\n");
	if (!info->raises)
		tn_buf_put(out, "\t(void)tn_op;\n");
	tn_buf_putn(out, tn_buf_text(launches), launches->len);
	tn_buf_put(out, "}\n\n");
}

/* ---- Kernels ---- */

/* A function's name that no parameter of the kernel hides. */
static const char *function_name(struct tn_cuda *c, const struct tn_emit *emit,
				 const void *key, const char *wish)
{
	const char *name;
	int n = 0;

	do {
		name = wish ? tn_names_get(&c->functions,
					   (const char *)key + n, wish) : NULL;
		wish = tn_arena_printf(c->arena, "%s_%d", wish ? wish : "",
				       ++n);
	} while (name && tn_map_has(&emit->names.taken, name));
	if (!name)
		c->failed = true;
	return name;
}

static void name_pieces(struct tn_cuda *c, struct tn_cuda_kernel *info,
			const struct tn_emit *emit)
{
	const char *kernel = info->kernel->name, *wish;
	size_t i;

	wish = tn_arena_printf(c->arena, "launch_%s", kernel);
	info->name = function_name(c, emit, info, wish);
	for (i = 0; i < info->pieces.len; i++) {
		struct tn_cuda_piece *piece = tn_vec_ptr(&info->pieces, i);

		wish = info->pieces.len == 1 ?
			tn_arena_printf(c->arena, "%s_k_%s", c->name,
					kernel) :
			tn_arena_printf(c->arena, "%s_k_%s_%d", c->name,
					kernel, (int)i + 1);
		piece->name = function_name(c, emit, piece, wish);
	}
}

/* In order of number: what bodies and grids name. */
static void settle_syms(struct tn_cuda *c, struct tn_cuda_kernel *info,
			const struct tn_emit *emit)
{
	const struct tn_vec *all = &c->module->dims.syms;
	const struct tn_cuda_piece *piece;
	const struct tn_dim *dim;
	size_t i, k;
	bool used;

	for (i = 0; i < all->len; i++) {
		dim = tn_vec_ptr(all, i);
		used = tn_map_has(&emit->used, dim->sym);
		for (k = 0; k < info->pieces.len && !used; k++) {
			piece = tn_vec_ptr(&info->pieces, k);
			used = has(&piece->syms, dim->sym);
		}
		if (used && !tn_vec_push_ptr(&info->syms, dim->sym))
			c->failed = true;
	}
	if (!tn_emit_sizes(info->kernel, &info->sizes))
		c->failed = true;
}

static void put_texts(struct tn_cuda *c, struct tn_cuda_kernel *info)
{
	struct tn_buf launches;
	struct tn_emit emit;
	size_t i;

	tn_buf_init(&launches);
	tn_emit_init(&emit, &c->plain, &c->host_need, &launches,
		     info->kernel);
	name_pieces(c, info, &emit);
	for (i = 0; i < info->pieces.len && !c->failed; i++)
		put_launch(&emit, tn_vec_ptr(&info->pieces, i));
	settle_syms(c, info, &emit);
	if (c->failed) {
		tn_emit_fini(&emit);
		tn_buf_fini(&launches);
		return;
	}
	put_comment(&c->text, info->kernel);
	for (i = 0; i < info->pieces.len; i++)
		put_piece(c, &emit, info, tn_vec_ptr(&info->pieces, i));
	put_launcher(c, &emit, info, &launches);
	if (emit.failed || emit.arena.failed || launches.failed)
		c->failed = true;
	tn_emit_fini(&emit);
	tn_buf_fini(&launches);
}

static void put_kernel(struct tn_cuda *c, struct tn_cuda_kernel *info)
{
	size_t i;

	if (info->kernel->nparams > TN_CUDA_PARAMS) {
		tn_cuda_refuse(c, info->kernel, "it has too many buffers");
		return;
	}
	info->raises = tn_emit_may_raise(info->kernel);
	c->raises = c->raises || info->raises;
	tn_cuda_shape(c, info);
	for (i = 0; i < info->pieces.len && !c->failed; i++)
		tn_cuda_body(c, info, tn_vec_ptr(&info->pieces, i));
	if (!c->failed)
		put_texts(c, info);
	for (i = 0; i < info->pieces.len; i++) {
		struct tn_cuda_piece *piece = tn_vec_ptr(&info->pieces, i);

		tn_buf_fini(&piece->body);
	}
	tn_map_fini(&info->roles);
}

static void add_kernel(struct tn_cuda *c, const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	struct tn_cuda_kernel *info = tn_map_find(&c->by_kernel, kernel);

	if (!info) {
		info = tn_arena_alloc(c->arena, sizeof *info);
		if (!info || !tn_vec_push_ptr(&c->kernels, info) ||
		    !tn_map_set(&c->by_kernel, kernel, info)) {
			c->failed = true;
			return;
		}
		info->kernel = kernel;
		tn_map_init_ptr(&info->roles);
		tn_vec_init(&info->pieces, sizeof(void *), c->arena);
		tn_vec_init(&info->syms, sizeof(void *), c->arena);
		tn_vec_init(&info->sizes, sizeof(void *), c->arena);
	}
	if (op->kernel != kernel &&
	    !tn_map_set(&c->by_kernel, op->kernel, info))
		c->failed = true;
	info->may_alias = info->may_alias || tn_api_in_place(op);
}

static void collect(struct tn_cuda *c, const struct tn_block *block)
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

void tn_cuda_kernels(struct tn_cuda *c)
{
	size_t i;

	collect(c, c->entry->body);
	for (i = 0; i < c->kernels.len && !c->failed; i++)
		put_kernel(c, tn_vec_ptr(&c->kernels, i));
}
