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

static void put_params(struct tn_params *p, struct tn_emit *emit,
		       const struct tn_cuda_kernel *info, bool has_flags,
		       const char *restricted)
{
	tn_params_dims(p, emit, &info->base);
	if (info->base.raises && has_flags)
		tn_params_put(p, "uint32_t *", "", "tn_flags");
	tn_params_buffers(p, emit, &info->base, restricted);
}

/* ---- .cu ---- */

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

	for (i = 0; i < info->base.syms.len; i++) {
		sym = tn_vec_ptr(&info->base.syms, i);
		if (!has(&piece->syms, sym))
			put_void(&c->text, "", tn_names_get(&emit->names, sym,
							    sym->name));
	}
	for (i = 0; i < info->base.sizes.len; i++) {
		sym = tn_vec_ptr(&info->base.sizes, i);
		if (!strstr(body, "*tn_set_"))
			put_void(&c->text, "tn_set_",
				 tn_names_get(&emit->names, sym, sym->name));
	}
	if (info->base.has_scratch && !strstr(body, "tn_scratch"))
		put_void(&c->text, "", "tn_scratch");
	if (info->base.raises && !strstr(body, "tn_flags"))
		put_void(&c->text, "", "tn_flags");
	for (k = 0; k < info->base.kernel->nparams; k++) {
		buf = info->base.kernel->params[k];
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
	struct tn_params p = { &c->text, "", ", ", true, false };

	tn_buf_putf(&c->text, "extern \"C\" __global__ void "
		    "__launch_bounds__(%d) %s(", piece->threads[0] *
		    piece->threads[1] * piece->threads[2], piece->name);
	put_params(&p, emit, info, true, "__restrict__ ");
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
	struct tn_params p = { &c->launchers, "", ", ", true, false };

	tn_buf_putf(&c->launchers, "void %s(", piece->name);
	put_params(&p, emit, info, true, "");
	tn_buf_put(&c->launchers, p.any ? ");\n" : "void);\n");
}

static void put_launcher(struct tn_cuda *c, struct tn_emit *emit,
			 const struct tn_cuda_kernel *info,
			 const struct tn_buf *launches)
{
	struct tn_params p = { &c->launchers, "", ", ", true, true };
	struct tn_params call = { &c->launchers, "&", ", &", false, false };
	struct tn_buf *out = &c->launchers;
	size_t i;

	for (i = 0; i < info->pieces.len; i++)
		put_declaration(c, emit, info, tn_vec_ptr(&info->pieces, i));
	tn_buf_putf(out, "\nstatic void %s(struct %s_state *tn_s, int tn_op",
		    info->base.name, c->name);
	put_params(&p, emit, info, false, "");
	tn_buf_put(out, ")\n{\n");
	if (info->base.raises)
		tn_buf_put(out, "\tuint32_t *tn_flags = tn_s->flags + "
			   "tn_op;\n");
	tn_buf_put(out, "\tvoid *tn_arguments[] = { ");
	put_params(&call, emit, info, true, "");
	tn_buf_put(out, call.any ? ", NULL };\n\n" : "NULL };\n\n");
	if (!info->base.raises)
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
		name = wish ? tn_names_make(&c->kernels.names,
					    (const char *)key + n, 'k', wish) :
			NULL;
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
	const char *kernel = info->base.kernel->name, *wish;
	size_t i;

	wish = tn_arena_printf(c->arena, "launch_%s", kernel);
	info->base.name = function_name(c, emit, info, wish);
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
		if (used && !tn_vec_push_ptr(&info->base.syms, dim->sym))
			c->failed = true;
	}
}

static void put_texts(struct tn_cuda *c, struct tn_cuda_kernel *info)
{
	struct tn_buf launches;
	struct tn_emit emit;
	size_t i;

	tn_buf_init(&launches);
	tn_emit_init(&emit, &c->plain, &c->host_need, &launches,
		     info->base.kernel);
	name_pieces(c, info, &emit);
	for (i = 0; i < info->pieces.len && !c->failed; i++)
		put_launch(&emit, tn_vec_ptr(&info->pieces, i));
	settle_syms(c, info, &emit);
	if (c->failed) {
		tn_emit_fini(&emit);
		tn_buf_fini(&launches);
		return;
	}
	tn_launch_comment(&c->text, info->base.kernel, true);
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
	size_t i, before = c->text.len;

	if (info->base.kernel->nparams > TN_CUDA_PARAMS) {
		tn_cuda_refuse(c, info->base.kernel, "it has too many buffers");
		return;
	}
	tn_map_init_ptr(&info->roles);
	tn_vec_init(&info->pieces, sizeof(void *), c->arena);
	c->raises = c->raises || info->base.raises;
	tn_cuda_shape(c, info);
	for (i = 0; i < info->pieces.len && !c->failed; i++)
		tn_cuda_body(c, info, tn_vec_ptr(&info->pieces, i));
	if (!c->failed)
		put_texts(c, info);
	if (!c->failed)
		tn_emit_tell(info->base.kernel, c->target, info->base.name,
			     c->text.len - before);
	for (i = 0; i < info->pieces.len; i++) {
		struct tn_cuda_piece *piece = tn_vec_ptr(&info->pieces, i);

		tn_buf_fini(&piece->body);
	}
	tn_map_fini(&info->roles);
}

void tn_cuda_kernels(struct tn_cuda *c)
{
	size_t i;

	tn_launch_collect(&c->kernels, c->entry->body);
	c->failed = c->failed || c->kernels.failed;
	for (i = 0; i < c->kernels.list.len && !c->failed; i++)
		put_kernel(c, tn_vec_ptr(&c->kernels.list, i));
}
