/*
 * The run function's body, for every back end that prints C on the host.
 *
 * In: an entry of launches, constants, views and flow, with places. Out: its
 * steps as statements. Blocks of more than PIECE operators are cut into
 * functions of their own, so that no compiler meets a function of thousands
 * of calls.
 */
#include "backends/emit_host.h"

#include <string.h>

#include "backends/emit_print.h"
#include "base/num.h"
#include "ir/view.h"

#define PIECE 64

void tn_host_init(struct tn_host *host, const struct tn_host_dialect *dialect,
		  const struct tn_fn *entry, const struct tn_weights *weights,
		  const char *name, struct tn_prelude *need)
{
	const struct tn_dim *dim;
	size_t i;

	memset(host, 0, sizeof(*host));
	host->dialect = dialect;
	host->module = entry->module;
	host->entry = entry;
	host->weights = weights;
	host->name = name;
	host->need = need;
	host->depth = 1;
	tn_arena_init(&host->arena);
	tn_buf_init(&host->functions);
	tn_names_init(&host->dims, &host->arena);
	host->dims.by_number = entry->module->is_foreign;
	for (i = 0; i < host->module->dims.syms.len; i++) {
		dim = tn_vec_ptr(&host->module->dims.syms, i);
		(void)tn_host_sym(host, dim->sym);
	}
}

void tn_host_fini(struct tn_host *host)
{
	tn_names_fini(&host->dims);
	tn_buf_fini(&host->functions);
	tn_arena_fini(&host->arena);
}

void tn_host_indent(struct tn_host *host)
{
	tn_buf_pad(host->out, '\t', (size_t)host->depth);
}

static void line(struct tn_host *host, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void line(struct tn_host *host, const char *format, ...)
{
	va_list args;

	tn_host_indent(host);
	va_start(args, format);
	tn_buf_vputf(host->out, format, args);
	va_end(args);
	tn_buf_putc(host->out, '\n');
}

/* ---- Places and sizes ---- */

const char *tn_host_sym(struct tn_host *host, const struct tn_sym *sym)
{
	const char *name = tn_names_make(&host->dims, sym, 'n', sym->name);

	if (!name)
		host->status = TN_IO;
	return name ? name : "";
}

void tn_host_spell(void *data, const struct tn_sym *sym, struct tn_buf *out)
{
	struct tn_host *host = data;

	tn_buf_putf(out, "dims[%s_DIM_%s]", host->name,
		    tn_host_sym(host, sym));
}

static void spell(void *data, const struct tn_sym *sym, struct tn_buf *out)
{
	struct tn_host *host = data;

	tn_buf_putf(out, "s->dims[%s_DIM_%s]", host->name,
		    tn_host_sym(host, sym));
}

void tn_host_dim(struct tn_host *host, const struct tn_dim *dim, int level)
{
	tn_emit_dim(host->out, host->need, dim, level, spell, host);
}

static const char *keep(struct tn_host *host, struct tn_buf *text)
{
	const char *copy = text->failed ? NULL :
		tn_arena_strndup(&host->arena, tn_buf_text(text), text->len);

	tn_buf_fini(text);
	if (!copy)
		host->status = TN_IO;
	return copy ? copy : "";
}

/* A placed value fits 64 bits at worst: if its constants alone do not, one of
 * its other sizes is always 0. */
const char *tn_host_bytes(struct tn_host *host, const struct tn_type *type)
{
	int64_t fixed = tn_dtype_bytes(type->dtype);
	struct tn_buf text;
	int i;

	tn_buf_init(&text);
	for (i = 0; i < type->rank; i++)
		if (tn_dim_is_const(type->dims[i]) &&
		    !tn_num_mul(fixed, type->dims[i]->value, &fixed))
			fixed = 0;
	tn_buf_putf(&text, "(size_t)(%lld", (long long)fixed);
	for (i = 0; i < type->rank; i++) {
		if (tn_dim_is_const(type->dims[i]))
			continue;
		tn_buf_put(&text, " * ");
		tn_emit_dim(&text, host->need, type->dims[i],
			    TN_LEVEL_MUL + 1, spell, host);
	}
	tn_buf_putc(&text, ')');
	return keep(host, &text);
}

static void unplaced(struct tn_host *host, const struct tn_value *value)
{
	tn_diag_report(host->module->sink, TN_E0903, value->span,
		       "'%s' has no place", value->name);
	host->status = TN_BUG;
}

/* The address `offset` bytes behind the first of a value that is no alias. */
static const char *place_at(struct tn_host *host, const struct tn_value *root,
			    int64_t offset)
{
	struct tn_buf text;
	int64_t start;

	tn_buf_init(&text);
	switch (root->place.kind) {
	case TN_PLACE_ARENA:
		offset += root->place.offset;
		tn_buf_put(&text, "s->work");
		break;
	case TN_PLACE_INPUT:
		tn_buf_putf(&text, "(const unsigned char *)s->in[%d]", root->place.number);
		break;
	case TN_PLACE_OUTPUT:
		tn_buf_putf(&text, "(unsigned char *)s->out[%d]", root->place.number);
		break;
	case TN_PLACE_WEIGHT:
		start = tn_weights_offset(host->weights, root);
		if (start < 0)
			unplaced(host, root);
		offset += start;
		tn_buf_put(&text, "s->weights");
		break;
	case TN_PLACE_NONE:
	case TN_PLACE_ALIAS:
		unplaced(host, root);
		break;
	}
	if (offset)
		tn_buf_putf(&text, " + %lld", (long long)offset);
	return keep(host, &text);
}

const char *tn_host_place(struct tn_host *host, const struct tn_value *value)
{
	int64_t offset;
	const struct tn_value *root = tn_place_root(value, &offset);

	return place_at(host, root, offset);
}

static void put_copy(struct tn_host *host, const struct tn_value *from,
		     const struct tn_value *to)
{
	int64_t a, b;

	if (tn_place_root(from, &a) == tn_place_root(to, &b) && a == b)
		return;
	line(host, "tn_copy(s, %s, %s, %s);", tn_host_place(host, to),
	     tn_host_place(host, from), tn_host_bytes(host, from->type));
}

/* ---- Flow ---- */

static void put_block(struct tn_host *host, const struct tn_block *block);

static void put_yields(struct tn_host *host, const struct tn_block *block,
		       struct tn_value *const *to, int skip)
{
	const struct tn_op *yield = block->last;
	int i;

	for (i = 0; i < yield->nin; i++)
		put_copy(host, tn_graph_in(yield, i), to[i + skip]);
}

static void put_if(struct tn_host *host, const struct tn_op *op)
{
	int i;

	tn_host_indent(host);
	tn_buf_put(host->out, "if (");
	host->dialect->test(host, tn_host_place(host, tn_graph_in(op, 0)));
	tn_buf_put(host->out, ") {\n");
	for (i = 0; i < 2; i++) {
		host->depth++;
		put_block(host, op->regions[i]);
		put_yields(host, op->regions[i], op->out, 0);
		host->depth--;
		line(host, i ? "}" : "} else {");
	}
}

static const struct tn_dim *dim_attr(const struct tn_op *op, const char *name)
{
	const struct tn_attr *attr = tn_graph_attr(op, name);

	return attr && attr->is_set ? attr->u.dim : NULL;
}

static void put_for(struct tn_host *host, const struct tn_op *op)
{
	struct tn_block *body = op->regions[0];
	int i, number = host->nloops++;
	const char *variable;

	for (i = 0; i < op->nin; i++)
		put_copy(host, tn_graph_in(op, i), body->params[i + 1]);
	tn_host_indent(host);
	tn_buf_putf(host->out, "for (int64_t tn_i%d = ", number);
	tn_host_dim(host, dim_attr(op, "from"), TN_LEVEL_OR);
	tn_buf_putf(host->out, "; tn_i%d < ", number);
	tn_host_dim(host, dim_attr(op, "to"), TN_LEVEL_ADD);
	tn_buf_putf(host->out, "; tn_i%d++) {\n", number);
	host->depth++;
	if (body->params[0]->place.kind != TN_PLACE_NONE) {
		variable = tn_arena_printf(&host->arena, "tn_i%d", number);
		host->dialect->set_index(host, tn_host_place(host,
					 body->params[0]),
					 variable ? variable : "");
	}
	put_block(host, body);
	put_yields(host, body, body->params, 1);
	host->depth--;
	line(host, "}");
}

static void put_while(struct tn_host *host, const struct tn_op *op)
{
	struct tn_block *cond = op->regions[0], *body = op->regions[1];
	const struct tn_dim *max = dim_attr(op, "max");
	int i, number = host->nloops++;

	for (i = 0; i < op->nin; i++)
		put_copy(host, tn_graph_in(op, i), body->params[i]);
	tn_host_indent(host);
	if (max) {
		tn_buf_putf(host->out, "for (int64_t tn_i%d = 0; tn_i%d < ",
			    number, number);
		tn_host_dim(host, max, TN_LEVEL_ADD);
		tn_buf_putf(host->out, "; tn_i%d++) {\n", number);
	} else {
		tn_buf_put(host->out, "for (;;) {\n");
	}
	host->depth++;
	put_block(host, cond);
	tn_host_indent(host);
	tn_buf_put(host->out, "if (!(");
	host->dialect->test(host, tn_host_place(host,
						tn_graph_in(cond->last, 0)));
	tn_buf_put(host->out, "))\n");
	line(host, "\tbreak;");
	put_block(host, body);
	put_yields(host, body, body->params, 0);
	host->depth--;
	line(host, "}");
}

static void put_return(struct tn_host *host, const struct tn_op *op)
{
	const struct tn_value *value, *root;
	int64_t offset;
	int i;

	for (i = 0; i < op->nin; i++) {
		value = tn_graph_in(op, i);
		root = tn_place_root(value, &offset);
		if (root->place.kind == TN_PLACE_OUTPUT &&
		    root->place.number == i && offset == 0)
			continue;
		line(host, "tn_copy(s, s->out[%d], %s, %s);", i,
		     tn_host_place(host, value),
		     tn_host_bytes(host, value->type));
	}
}

/* ---- Steps ---- */

/* Parts that were not made in place are copied there. */
static void put_concat(struct tn_host *host, const struct tn_op *op)
{
	int64_t at, from;
	const struct tn_value *whole = tn_place_root(op->out[0], &at);
	const struct tn_value *part;
	int k;

	for (k = 0; k < op->nin; k++) {
		part = tn_graph_in(op, k);
		if (tn_place_root(part, &from) != whole || from != at)
			line(host, "tn_copy(s, %s, %s, %s);",
			     place_at(host, whole, at),
			     tn_host_place(host, part),
			     tn_host_bytes(host, part->type));
		at += tn_view_part_bytes(op, k);
	}
}

static void refuse(struct tn_host *host, const struct tn_op *op)
{
	host->status = TN_UNSUPPORTED;
	tn_diag_report(host->module->sink, TN_E0901, op->span,
		       "'%s' is no kernel yet", tn_ops[op->code].name);
}

static void put_op(struct tn_host *host, const struct tn_op *op)
{
	switch ((int)op->code) {
	case TN_OP_launch:
		host->dialect->launch(host, op);
		host->nlaunches++;
		break;
	case TN_OP_const:
	case TN_OP_reshape:
	case TN_OP_transpose:
	case TN_OP_slice:
	case TN_OP_yield:
		break;
	case TN_OP_concat:
		put_concat(host, op);
		break;
	case TN_OP_if:
		put_if(host, op);
		break;
	case TN_OP_for:
		put_for(host, op);
		break;
	case TN_OP_while:
		put_while(host, op);
		break;
	case TN_OP_print:
		tn_print_step(host, op);
		break;
	case TN_OP_return:
		put_return(host, op);
		break;
	default:
		refuse(host, op);
		break;
	}
}

/* `count` operators from `op` as a function; the operator after them. */
static const struct tn_op *put_piece(struct tn_host *host,
				     const struct tn_op *op)
{
	struct tn_buf *out = host->out, text;
	int depth = host->depth, n, number;

	tn_buf_init(&text);
	host->out = &text;
	host->depth = 1;
	for (n = 0; op && n < PIECE; n++, op = op->next)
		put_op(host, op);
	number = host->nfunctions++;
	tn_buf_putf(&host->functions, "static void %s_part_%d(struct "
		    "%s_state *s)\n{\n", host->name, number, host->name);
	if (!text.len)
		tn_buf_put(&host->functions, "\t(void)s;\n");
	tn_buf_putn(&host->functions, tn_buf_text(&text), text.len);
	tn_buf_put(&host->functions, "}\n\n");
	if (text.failed)
		host->status = TN_IO;
	tn_buf_fini(&text);
	host->out = out;
	host->depth = depth;
	line(host, "%s_part_%d(s);", host->name, number);
	return op;
}

static void put_block(struct tn_host *host, const struct tn_block *block)
{
	const struct tn_op *op;
	int count = 0;

	for (op = block->first; op; op = op->next)
		count++;
	op = block->first;
	if (count > PIECE)
		while (op)
			op = put_piece(host, op);
	for (; op; op = op->next)
		put_op(host, op);
}

void tn_host_body(struct tn_host *host)
{
	put_block(host, host->entry->body);
	if (host->out->failed || host->functions.failed)
		host->status = TN_IO;
}
