/*
 * Kernels that are launched, and launches; see emit_launch.h.
 */
#include "backends/emit_launch.h"

#include "ir/view.h"

static const struct tn_value *argument_of(const struct tn_op *op, int nin,
					  int nout, bool is_in)
{
	return is_in ? tn_graph_in(op, nin) : op->out[nout];
}

/* The value behind parameter `param` of the kernel. */
static const struct tn_value *argument(const struct tn_op *op, int param)
{
	const struct tn_kernel *kernel = op->kernel;
	int i, nin = 0, nout = 0;

	for (i = 0; i < param; i++) {
		nin += kernel->params[i]->role != TN_KBUF_OUT;
		nout += kernel->params[i]->role != TN_KBUF_IN;
	}
	return argument_of(op, nin, nout,
			   kernel->params[param]->role == TN_KBUF_IN);
}

/* ---- Collecting ---- */

/* True if both are pieces of one buffer, of constant sizes, and lie apart. */
static bool lie_apart(const struct tn_value *a, const struct tn_value *b)
{
	int64_t from, start;

	return tn_place_root(a, &from) == tn_place_root(b, &start) &&
		tn_type_is_static(a->type) && tn_type_is_static(b->type) &&
		(from + tn_type_max_bytes(NULL, a->type) <= start ||
		 start + tn_type_max_bytes(NULL, b->type) <= from);
}

/* True if the bytes of two values may overlap. */
static bool overlap(const struct tn_value *a, const struct tn_value *b)
{
	int64_t da, db;
	const struct tn_place *x = &tn_place_root(a, &da)->place;
	const struct tn_place *y = &tn_place_root(b, &db)->place;

	if (x->kind != y->kind || lie_apart(a, b))
		return false;
	if (x->kind != TN_PLACE_ARENA)
		return x->number == y->number;
	return x->offset < y->offset + (y->bytes ? y->bytes : 1) &&
		y->offset < x->offset + (x->bytes ? x->bytes : 1);
}

/* True if two buffers of the launch may overlap and one is written. */
static bool is_in_place(const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	int i, k;

	for (i = 0; i < kernel->nparams; i++)
		for (k = 0; k < kernel->nparams; k++)
			if (i != k && kernel->params[i]->role != TN_KBUF_IN &&
			    overlap(argument(op, i), argument(op, k)))
				return true;
	return false;
}

void tn_launch_init(struct tn_launch_set *set, struct tn_arena *arena,
		    size_t size)
{
	*set = (struct tn_launch_set){ .arena = arena, .size = size };
	tn_vec_init(&set->list, sizeof(void *), arena);
	tn_map_init_ptr(&set->of);
	tn_names_init(&set->names, arena);
}

void tn_launch_fini(struct tn_launch_set *set)
{
	tn_vec_fini(&set->list);
	tn_map_fini(&set->of);
	tn_names_fini(&set->names);
}

static void add_kernel(struct tn_launch_set *set, const struct tn_op *op)
{
	struct tn_launched *launched = tn_map_find(&set->of, op->kernel);

	set->names.by_number = op->kernel->module->is_foreign;
	if (!launched) {
		launched = tn_arena_alloc(set->arena, set->size);
		if (!launched || !tn_vec_push_ptr(&set->list, launched) ||
		    !tn_map_set(&set->of, op->kernel, launched)) {
			set->failed = true;
			return;
		}
		launched->kernel = op->kernel;
		launched->raises = tn_emit_may_raise(op->kernel);
		tn_vec_init(&launched->syms, sizeof(void *), set->arena);
		tn_vec_init(&launched->sizes, sizeof(void *), set->arena);
		if (!tn_emit_sizes(op->kernel, &launched->sizes))
			set->failed = true;
	}
	launched->may_alias = launched->may_alias || is_in_place(op);
}

void tn_launch_collect(struct tn_launch_set *set,
		       const struct tn_block *block)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		if (op->code == TN_OP_launch)
			add_kernel(set, op);
		for (i = 0; i < op->nregions; i++)
			tn_launch_collect(set, op->regions[i]);
	}
}

void *tn_launch_find(const struct tn_launch_set *set, const struct tn_op *op)
{
	return tn_map_find(&set->of, op->kernel);
}

/* ---- Functions ---- */

void tn_launch_comment(struct tn_buf *out, const struct tn_kernel *kernel,
		       bool with_text)
{
	struct tn_buf text;

	tn_buf_init(&text);
	if (kernel->comment)
		tn_buf_putf(&text, "%s\n", kernel->comment);
	if (with_text)
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

void tn_params_put(struct tn_params *p, const char *type, const char *prefix,
		   const char *name)
{
	tn_buf_putf(p->out, "%s%s%s%s", p->any ? p->between : p->before,
		    p->with_types ? type : "", prefix, name ? name : "");
	p->any = true;
}

void tn_params_dims(struct tn_params *p, struct tn_emit *emit,
		    const struct tn_launched *launched)
{
	const struct tn_sym *sym;
	size_t i;

	for (i = 0; i < launched->syms.len; i++) {
		sym = tn_vec_ptr(&launched->syms, i);
		tn_params_put(p, "int64_t ", "",
			      tn_names_get(&emit->names, sym, sym->name));
	}
	for (i = 0; i < launched->sizes.len; i++) {
		sym = tn_vec_ptr(&launched->sizes, i);
		tn_params_put(p, "int64_t *", "tn_set_",
			      tn_names_get(&emit->names, sym, sym->name));
	}
	if (launched->has_scratch)
		tn_params_put(p, "unsigned char *", "", "tn_scratch");
}

void tn_params_buffers(struct tn_params *p, struct tn_emit *emit,
		       const struct tn_launched *launched,
		       const char *restricted)
{
	const struct tn_kernel *kernel = launched->kernel;
	const struct tn_kbuf *buf;
	const char *type;
	int i;

	for (i = 0; i < kernel->nparams; i++) {
		buf = kernel->params[i];
		type = tn_arena_printf(&emit->arena, "%s%s *%s",
				       buf->role == TN_KBUF_IN ? "const " : "",
				       tn_dtypes[buf->dtype].c_storage,
				       launched->may_alias ? "" : restricted);
		tn_params_put(p, type ? type : "", "",
			      tn_names_get(&emit->names, buf, buf->name));
	}
}

/* ---- Launches ---- */

/* y: f32[B], z: f32[B] = k(x, w) in names of the IR. */
static void put_comment(struct tn_host *host, const struct tn_op *op)
{
	struct tn_buf text;
	int i;

	tn_buf_init(&text);
	for (i = 0; i < op->nout && i < 8; i++) {
		tn_buf_putf(&text, "%s%s: ", i ? ", " : "", op->out[i]->name);
		tn_type_print(&text, op->out[i]->type);
	}
	if (op->nout > 8)
		tn_buf_put(&text, ", ..");
	tn_buf_putf(&text, " = %s(", op->kernel->name);
	for (i = 0; i < op->nin && i < 8; i++)
		tn_buf_putf(&text, "%s%s", i ? ", " : "",
			    tn_graph_in(op, i)->name);
	tn_buf_put(&text, op->nin > 8 ? ", ..)" : ")");
	tn_host_indent(host);
	tn_buf_putf(host->out, "/* %d: ", host->nlaunches);
	tn_emit_comment(host->out, tn_buf_text(&text), "");
	tn_buf_put(host->out, " */\n");
	if (text.failed)
		host->out->failed = true;
	tn_buf_fini(&text);
}

/* Where an updated buffer is not in place yet, it is copied first. */
static void put_updates(struct tn_host *host, const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	const struct tn_value *from, *to;
	int i, nin = 0, nout = 0;
	int64_t a, b;

	for (i = 0; i < kernel->nparams; i++) {
		if (kernel->params[i]->role == TN_KBUF_INOUT) {
			from = tn_graph_in(op, nin);
			to = op->out[nout];
			if (tn_place_root(from, &a) != tn_place_root(to, &b) ||
			    a != b) {
				tn_host_indent(host);
				tn_buf_putf(host->out, "tn_copy(s, %s, %s, "
					    "%s);\n", tn_host_place(host, to),
					    tn_host_place(host, from),
					    tn_host_bytes(host, from->type));
			}
		}
		nin += kernel->params[i]->role != TN_KBUF_OUT;
		nout += kernel->params[i]->role != TN_KBUF_IN;
	}
}

void tn_launch_begin(struct tn_host *host, const struct tn_op *op)
{
	put_comment(host, op);
	put_updates(host, op);
}

void tn_launch_dims(struct tn_host *host, const struct tn_op *op,
		    const struct tn_launched *launched, struct tn_params *p)
{
	const struct tn_host_dialect *dialect = host->dialect;
	const struct tn_sym *sym;
	size_t i;

	for (i = 0; i < launched->syms.len; i++) {
		sym = tn_vec_ptr(&launched->syms, i);
		tn_params_put(p, "", "s->dims[", host->name);
		tn_buf_putf(p->out, "_DIM_%s]", tn_host_sym(host, sym));
	}
	for (i = 0; i < launched->sizes.len; i++) {
		sym = tn_vec_ptr(&launched->sizes, i);
		tn_params_put(p, "", dialect->size, host->name);
		tn_buf_putf(p->out, "_DIM_%s%s", tn_host_sym(host, sym),
			    dialect->size_end);
	}
	if (launched->has_scratch) {
		tn_params_put(p, "", "s->work + ", "");
		tn_buf_putf(p->out, "%lld", (long long)op->scratch);
	}
}

void tn_launch_buffers(struct tn_host *host, const struct tn_op *op,
		       struct tn_params *p)
{
	const struct tn_kernel *kernel = op->kernel;
	const struct tn_kbuf *param;
	int i, nin = 0, nout = 0;

	for (i = 0; i < kernel->nparams; i++) {
		param = kernel->params[i];
		tn_params_put(p, "", param->role == TN_KBUF_IN ? "TN_GET(" :
			      "TN_PUT(", tn_dtypes[param->dtype].c_storage);
		tn_buf_putf(p->out, ", %s)", tn_host_place(host,
			    argument_of(op, nin, nout,
					param->role == TN_KBUF_IN)));
		nin += param->role != TN_KBUF_OUT;
		nout += param->role != TN_KBUF_IN;
	}
}
