/*
 * What every back end with a C interface emits alike; see emit_api.h.
 */
#include "backends/emit_api.h"

#include <string.h>

#include "base/ascii.h"
#include "ir/print.h"
#include "ir/view.h"

/* Longest name in a table; compilers may refuse long strings. */
#define TEXT_LIMIT 1000

/* Ends a text that was printed into `out`, which fails if the text did. */
static void end_text(struct tn_buf *text, struct tn_buf *out)
{
	if (text->failed)
		out->failed = true;
	tn_buf_fini(text);
}

/* ---- The signature as text ---- */

static void put_port(struct tn_buf *out, const char *name,
		     const struct tn_type *type)
{
	if (name) {
		tn_print_name(out, name);
		tn_buf_put(out, ": ");
	}
	tn_type_print(out, type);
}

/* The dims and the head of the entry, as Tenon text. */
static void put_signature(const struct tn_host *host, struct tn_buf *out)
{
	const struct tn_vec *syms = &host->module->dims.syms;
	const struct tn_fn *fn = host->entry;
	const struct tn_dim *dim;
	size_t k;
	int i;

	for (k = 0; k < syms->len; k++) {
		dim = tn_vec_ptr(syms, k);
		tn_buf_put(out, "dim ");
		tn_print_name(out, dim->sym->name);
		tn_buf_putf(out, " in [%lld, %lld]", (long long)dim->sym->lo,
			    (long long)dim->sym->hi);
		if (dim->sym->mod > 1)
			tn_buf_putf(out, " mod %lld",
				    (long long)dim->sym->mod);
		tn_buf_put(out, ";\n");
	}
	tn_buf_put(out, "fn ");
	tn_print_name(out, fn->name);
	tn_buf_putc(out, '(');
	for (i = 0; i < fn->body->nparams; i++) {
		tn_buf_put(out, i ? ", " : "");
		put_port(out, fn->body->params[i]->name,
			 fn->body->params[i]->type);
	}
	tn_buf_put(out, ") -> (");
	for (i = 0; i < fn->nresults; i++) {
		tn_buf_put(out, i ? ", " : "");
		put_port(out, fn->result_names ? fn->result_names[i] : NULL,
			 fn->result_types[i]);
	}
	tn_buf_put(out, ");\n");
}

void tn_api_include_guard(const struct tn_host *host, struct tn_buf *out)
{
	const char *at;

	tn_buf_put(out, "TN_");
	for (at = host->name; *at; at++)
		tn_buf_putc(out, tn_ascii_upper(*at));
	tn_buf_put(out, "_H");
}

void tn_api_signature_comment(const struct tn_host *host,
			      struct tn_buf *out)
{
	struct tn_buf text;

	tn_buf_init(&text);
	put_signature(host, &text);
	while (text.len && text.data[text.len - 1] == '\n')
		text.data[--text.len] = 0;
	tn_buf_put(out, " * ");
	tn_emit_comment(out, tn_buf_text(&text), " * ");
	tn_buf_putc(out, '\n');
	end_text(&text, out);
}

void tn_api_dims(struct tn_host *host, struct tn_buf *out)
{
	const struct tn_vec *syms = &host->module->dims.syms;
	const struct tn_dim *dim;
	struct tn_buf text;
	size_t i;

	if (!syms->len)
		return;
	tn_buf_put(out, "/* Slots of `dims`. */\nenum {\n");
	for (i = 0; i < syms->len; i++) {
		dim = tn_vec_ptr(syms, i);
		tn_buf_init(&text);
		tn_buf_putf(&text, "%s in [%lld, %lld]%s", dim->sym->name,
			    (long long)dim->sym->lo, (long long)dim->sym->hi,
			    dim->sym->is_runtime ? ", set by the run" : "");
		tn_buf_putf(out, "\t%s_DIM_%s = %d%s\t/* ", host->name,
			    tn_host_sym(host, dim->sym), (int)i,
			    i + 1 < syms->len ? "," : "");
		tn_emit_comment(out, tn_buf_text(&text), "");
		tn_buf_put(out, " */\n");
		end_text(&text, out);
	}
	tn_buf_put(out, "};\n\n");
}

void tn_api_named(struct tn_buf *out, const char *text, const char *name)
{
	const char *begin = text;

	for (; *text; text++) {
		bool starts = text == begin ||
			!tn_ascii_is_word(text[-1]);

		if (*text == 'N' && starts &&
		    (text[1] == '_' || text[1] == '.'))
			tn_buf_put(out, name);
		else
			tn_buf_putc(out, *text);
	}
}

/* ---- Tables ---- */

/* C compilers need not take strings beyond 4095 characters. */
void tn_api_describe(const struct tn_host *host, struct tn_buf *out)
{
	struct tn_buf text;
	size_t i;

	tn_buf_init(&text);
	put_signature(host, &text);
	tn_buf_putf(out, "const char *%s_describe(void)\n{\n\tstatic const "
		    "char text[] = ", host->name);
	if (text.len < 4000) {
		tn_emit_string(out, tn_buf_text(&text));
	} else {
		tn_buf_put(out, "{");
		for (i = 0; i < text.len; i++)
			tn_buf_putf(out, "%s%d,", i % 16 ? " " : "\n\t\t",
				    text.data[i]);
		tn_buf_put(out, " 0\n\t}");
	}
	tn_buf_put(out, ";\n\n\treturn text;\n}\n\n");
	end_text(&text, out);
}

/* A function from numbers to texts. */
static void open_table(struct tn_buf *out, const struct tn_host *host,
		       const char *function, const char *argument)
{
	tn_buf_putf(out, "const char *%s_%s(int %s)\n{\n\tstatic const char "
		    "*const texts[] = {\n", host->name, function, argument);
}

static void close_table(struct tn_buf *out, const char *argument, int count)
{
	tn_buf_putf(out, "\t\tNULL\n\t};\n\n\treturn %s < 0 || %s > %d ? NULL "
		    ": texts[%s];\n}\n\n", argument, argument, count,
		    argument);
}

static void put_text(struct tn_buf *out, const char *text)
{
	size_t len = strlen(text);
	struct tn_buf start;

	tn_buf_init(&start);
	tn_buf_putn(&start, text, len < TEXT_LIMIT ? len : TEXT_LIMIT);
	if (len > TEXT_LIMIT)
		tn_buf_put(&start, "..");
	tn_buf_put(out, "\t\t");
	tn_emit_string(out, tn_buf_text(&start));
	tn_buf_put(out, ",\n");
	end_text(&start, out);
}

void tn_api_names(const struct tn_host *host, struct tn_buf *out)
{
	const struct tn_vec *syms = &host->module->dims.syms;
	const struct tn_fn *fn = host->entry;
	const struct tn_dim *dim;
	size_t k;
	int i;

	open_table(out, host, "dim_name", "number");
	for (k = 0; k < syms->len; k++) {
		dim = tn_vec_ptr(syms, k);
		put_text(out, dim->sym->name);
	}
	close_table(out, "number", (int)syms->len);
	open_table(out, host, "input_name", "number");
	for (i = 0; i < fn->body->nparams; i++)
		put_text(out, fn->body->params[i]->name);
	close_table(out, "number", fn->body->nparams);
	open_table(out, host, "output_name", "number");
	for (i = 0; i < fn->nresults; i++)
		put_text(out, fn->result_names && fn->result_names[i] ?
			 fn->result_names[i] : "");
	close_table(out, "number", fn->nresults);
}

static void spell(void *data, const struct tn_sym *sym, struct tn_buf *out)
{
	struct tn_host *host = data;

	tn_buf_putf(out, "dims[%s_DIM_%s]", host->name,
		    tn_host_sym(host, sym));
}

static void put_bytes(struct tn_host *host, struct tn_buf *out,
		      const struct tn_type *type, int number)
{
	int i;

	tn_buf_putf(out, "\tcase %d:\n\t\treturn (size_t)(%d", number,
		    tn_dtype_bytes(type->dtype));
	for (i = 0; i < type->rank; i++) {
		tn_buf_put(out, " * ");
		tn_emit_dim(out, host->need, type->dims[i], TN_LEVEL_MUL + 1,
			    spell, host);
	}
	tn_buf_put(out, ");\n");
}

static void put_sizes(struct tn_host *host, struct tn_buf *out, bool is_input)
{
	const struct tn_fn *fn = host->entry;
	int i, n = is_input ? fn->body->nparams : fn->nresults;

	tn_buf_putf(out, "size_t %s_%s_bytes(int number, const int64_t "
		    "*dims)\n{\n\t(void)dims;\n\tswitch (number) {\n",
		    host->name, is_input ? "input" : "output");
	for (i = 0; i < n; i++)
		put_bytes(host, out, is_input ? fn->body->params[i]->type :
			  fn->result_types[i], i);
	tn_buf_put(out, "\tdefault:\n\t\treturn 0;\n\t}\n}\n\n");
}

/* Without folders: the text must not depend on where the module lies. */
static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_places(const struct tn_host *host, const struct tn_block *block,
		       struct tn_buf *out, int *count)
{
	const struct tn_sink *sink = host->module->sink;
	const struct tn_source *source;
	const struct tn_op *op;
	struct tn_buf text;
	uint32_t row, column;
	int i;

	for (op = block->first; op; op = op->next) {
		for (i = 0; i < op->nregions; i++)
			put_places(host, op->regions[i], out, count);
		if (op->code != TN_OP_launch)
			continue;
		tn_buf_init(&text);
		if (op->span.file && op->span.file <= sink->sources.len) {
			source = tn_vec_at(&sink->sources, op->span.file - 1);
			tn_sink_locate(sink, op->span.file, op->span.begin,
				       &row, &column);
			tn_buf_putf(&text, "%s:%u:%u: ",
				    base_name(source->name), (unsigned)row,
				    (unsigned)column);
		}
		tn_buf_put(&text, op->nout ? op->out[0]->name :
			   op->kernel->name);
		put_text(out, tn_buf_text(&text));
		end_text(&text, out);
		(*count)++;
	}
}

void tn_api_sizes(struct tn_host *host, struct tn_buf *out)
{
	put_sizes(host, out, true);
	put_sizes(host, out, false);
}

int tn_api_places(const struct tn_host *host, struct tn_buf *out)
{
	int count = 0;

	open_table(out, host, "place", "op");
	put_places(host, host->entry->body, out, &count);
	close_table(out, "op", count);
	return count;
}

void tn_api_seal(const struct tn_weights *weights, struct tn_buf *out)
{
	int i;

	tn_buf_put(out, "/* The first bytes of the weights: magic, size, "
		   "digest. */\nstatic const unsigned char tn_seal[48] = {\n"
		   "\t0x54, 0x4e, 0x57, 0x47, 0x48, 0x54, 0x31, 0x00");
	for (i = 0; i < 8; i++)
		tn_buf_putf(out, ",%s0x%02x", i ? " " : "\n\t",
			    (unsigned)((uint64_t)weights->size >> 8 * i &
				       0xff));
	for (i = 0; i < 32; i++)
		tn_buf_putf(out, ",%s0x%02x", i % 8 ? " " : "\n\t",
			    weights->digest[i]);
	tn_buf_put(out, "\n};\n\n");
}

/* ---- Launches ---- */

const struct tn_value *tn_api_argument(const struct tn_op *op, int param)
{
	const struct tn_kernel *kernel = op->kernel;
	int i, nin = 0, nout = 0;

	for (i = 0; i < param; i++) {
		if (kernel->params[i]->role != TN_KBUF_OUT)
			nin++;
		if (kernel->params[i]->role != TN_KBUF_IN)
			nout++;
	}
	return kernel->params[param]->role == TN_KBUF_IN ?
		tn_graph_in(op, nin) : op->out[nout];
}

static void indent(struct tn_host *host)
{
	tn_buf_pad(host->out, '\t', (size_t)host->depth);
}

/* y, z = k(x, w) in names of the IR, with their types. */
void tn_api_comment(struct tn_host *host, const struct tn_op *op)
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
	tn_buf_put(&text, " = (");
	for (i = 0; i < op->nin && i < 8; i++)
		tn_buf_putf(&text, "%s%s", i ? ", " : "",
			    tn_graph_in(op, i)->name);
	tn_buf_put(&text, op->nin > 8 ? ", ..)" : ")");
	indent(host);
	tn_buf_putf(host->out, "/* %d: ", host->nlaunches);
	tn_emit_comment(host->out, tn_buf_text(&text), "");
	tn_buf_put(host->out, " */\n");
	end_text(&text, host->out);
}

/* Where an updated buffer is not in place yet, it is copied first. */
void tn_api_updates(struct tn_host *host, const struct tn_op *op)
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
				indent(host);
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

/* True if the bytes of two values may overlap. */
static bool overlap(const struct tn_value *a, const struct tn_value *b)
{
	int64_t da, db;
	const struct tn_place *x = &tn_place_root(a, &da)->place;
	const struct tn_place *y = &tn_place_root(b, &db)->place;

	if (x->kind != y->kind)
		return false;
	if (x->kind != TN_PLACE_ARENA)
		return x->number == y->number;
	return x->offset < y->offset + (y->bytes ? y->bytes : 1) &&
		y->offset < x->offset + (x->bytes ? x->bytes : 1);
}

bool tn_api_in_place(const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	int i, k;

	for (i = 0; i < kernel->nparams; i++)
		for (k = 0; k < kernel->nparams; k++)
			if (i != k && kernel->params[i]->role != TN_KBUF_IN &&
			    overlap(tn_api_argument(op, i),
				    tn_api_argument(op, k)))
				return true;
	return false;
}
