/*
 * A kernel for other sizes: what a launch inside of an inlined function needs
 * when the function is called with sizes of its own.
 *
 *   kernel rows(x: f32[B, 8] @in, ..)  with B = 3  ->  rows(x: f32[3, 8] ..)
 */
#include "passes/inline.h"

#include "ir/kernel_map.h"

struct resize {
	struct tn_kernel *kernel;	/* the new one */
	const struct tn_kernel *from;
	const struct tn_dim *const *dims;
	struct tn_map bufs;		/* parameter -> new parameter */
	bool failed;
};

static const struct tn_dim *resized(struct resize *r,
				    const struct tn_dim *dim)
{
	const struct tn_dim *other;

	other = tn_dim_subst(&r->kernel->module->dims, dim, r->dims);
	if (!other)
		r->failed = true;
	return other;
}

static const struct tn_dim *const *resized_all(struct resize *r,
					       const struct tn_kbuf *buf)
{
	const struct tn_dim **dims;
	int i;

	dims = tn_arena_array(&r->kernel->module->arena,
			      (size_t)buf->rank + 1, sizeof(*dims));
	for (i = 0; dims && i < buf->rank; i++)
		dims[i] = resized(r, buf->dims[i]);
	if (!dims)
		r->failed = true;
	return dims;
}

static struct tn_kbuf *twin_of(const struct resize *r, struct tn_kbuf *buf)
{
	struct tn_kbuf *twin = buf ? tn_map_find(&r->bufs, buf) : NULL;

	return twin ? twin : buf;
}

static const struct tn_kexpr *change(struct tn_kmap *rewrite,
				     const struct tn_kexpr *e)
{
	struct resize *r = rewrite->data;

	if (e->kind == TN_KEXPR_DIM)
		return tn_kexpr_dim(r->kernel, resized(r, e->dim));
	if (e->kind == TN_KEXPR_LOAD && twin_of(r, e->buf) != e->buf)
		return tn_kexpr_load(r->kernel, twin_of(r, e->buf), e->nargs,
				     e->args);
	return e;
}

/* Buffers of statements: parameters become the new ones, what is allocated
 * gets its new extents. */
static void change_bufs(struct resize *r, struct tn_kblock *block)
{
	struct tn_kstmt *s;

	for (s = block->first; s; s = s->next) {
		if (s->kind == TN_KSTMT_ALLOC)
			s->buf->dims = resized_all(r, s->buf);
		else
			s->buf = twin_of(r, s->buf);
		change_bufs(r, &s->body);
		change_bufs(r, &s->orelse);
	}
}

static bool make_params(struct resize *r)
{
	const struct tn_dim *const *dims;
	struct tn_kbuf *buf, *twin;
	int i;

	for (i = 0; i < r->from->nparams; i++) {
		buf = r->from->params[i];
		dims = resized_all(r, buf);
		twin = r->failed ? NULL :
			tn_kernel_param(r->kernel, buf->name, buf->dtype,
					buf->rank, dims, buf->role);
		if (twin)
			twin->layout = buf->layout;
		if (!twin || !tn_map_set(&r->bufs, buf, twin))
			return false;
	}
	return true;
}

static bool fill(struct resize *r)
{
	struct tn_kmap rewrite = { .kernel = r->kernel, .change = change,
				      .data = r };

	if (!make_params(r) ||
	    !tn_kblock_clone(r->kernel, &r->from->body, &r->kernel->body,
			     NULL, NULL))
		return false;
	change_bufs(r, &r->kernel->body);
	return !r->failed && tn_kblock_map(&rewrite, &r->kernel->body);
}

struct tn_kernel *tn_inline_kernel(struct tn_kernel *kernel,
				   const struct tn_dim *const *dims)
{
	struct tn_module *module = kernel->module;
	struct resize r = { .from = kernel, .dims = dims };
	char *name;
	bool good;

	name = tn_arena_printf(&module->arena, "%s__%zu", kernel->name,
			       module->kernels.len);
	r.kernel = name ? tn_kernel_new(module, name) : NULL;
	if (!r.kernel)
		return NULL;
	tn_map_init_ptr(&r.bufs);
	r.kernel->annots = kernel->annots;
	r.kernel->comment = kernel->comment;
	r.kernel->guards = kernel->guards;
	r.kernel->scratch_bytes = kernel->scratch_bytes;
	r.kernel->span = kernel->span;
	good = fill(&r);
	tn_map_fini(&r.bufs);
	return good ? r.kernel : NULL;
}
