/*
 * Operators in canonical form: one statement, every result typed.
 *
 *   h: f32[B, 256] = matmul(x, w1);
 *   v: f32[B, 3], i: i64[B, 3] = topk(h, k=3);
 *   y: f32[B] = with (s = a) for i in 0..12 {
 *     s__0: f32[B] = add(s, b);
 *     yield s__0;
 *   };
 */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ir/kernel.h"
#include "ir/layout.h"
#include "ir/print_inner.h"

/* Constants of more elements go to a side file. */
#define SIDE_ELEMENTS 64
/* Constants of more elements are left out of a brief text. */
#define BRIEF_ELEMENTS 8

const char *tn_print_value_name(const struct tn_value *value)
{
	const struct tn_op *loop = value->block ? value->block->parent : NULL;
	const struct tn_block *cond;

	if (!loop || loop->code != TN_OP_while || loop->nregions < 2)
		return value->name;
	cond = loop->regions[0];
	if (value->index >= cond->nparams)
		return value->name;
	return cond->params[value->index]->name;
}

static void put_ref(struct tn_printer *p, const struct tn_value *value)
{
	const char *name = value ? tn_print_value_name(value) : NULL;

	tn_print_name(p->buf, name ? name : "?");
}

static void put_refs(struct tn_printer *p, const struct tn_op *op, int from,
		     int to)
{
	int i;

	for (i = from; i < to; i++) {
		if (i > from)
			tn_buf_put(p->buf, ", ");
		put_ref(p, tn_graph_in(op, i));
	}
}

/* ---- Annotations and places ------------------------------------------ */

static void put_annot(struct tn_buf *buf, const struct tn_annot *annot)
{
	tn_buf_putf(buf, "@%s", annot->name);
	if (annot->args)
		tn_buf_putf(buf, "(%s)", annot->args);
}

void tn_printer_annots(struct tn_printer *p, const struct tn_annots *annots)
{
	int i;

	for (i = 0; i < annots->count; i++) {
		tn_buf_putc(p->buf, ' ');
		put_annot(p->buf, &annots->list[i]);
	}
}

void tn_print_layout(struct tn_buf *buf, const struct tn_layout *layout)
{
	if (layout)
		tn_buf_putf(buf, " @layout(%s)", layout->text);
}

void tn_print_member_layout(struct tn_buf *buf,
			    const struct tn_layout *layout)
{
	if (!layout)
		return;
	tn_buf_put(buf, " @layout(");
	tn_layout_print(buf, layout->nparts - 1, layout->parts + 1, -1);
	tn_buf_putc(buf, ')');
}

static void put_place(struct tn_printer *p, const struct tn_place *place)
{
	switch (place->kind) {
	case TN_PLACE_NONE:
		break;
	case TN_PLACE_ARENA:
		tn_buf_putf(p->buf, " @at(arena, offset=%lld, bytes=%lld)",
			    (long long)place->offset, (long long)place->bytes);
		break;
	case TN_PLACE_INPUT:
		tn_buf_putf(p->buf, " @at(input, %d)", place->number);
		break;
	case TN_PLACE_OUTPUT:
		tn_buf_putf(p->buf, " @at(output, %d)", place->number);
		break;
	case TN_PLACE_WEIGHT:
		tn_buf_putf(p->buf, " @at(weight, %d)", place->number);
		break;
	case TN_PLACE_ALIAS:
		tn_buf_put(p->buf, " @at(alias, ");
		put_ref(p, place->alias);
		tn_buf_putf(p->buf, ", offset=%lld)", (long long)place->offset);
		break;
	}
}

void tn_printer_value(struct tn_printer *p, const struct tn_value *value)
{
	put_ref(p, value);
	tn_buf_put(p->buf, ": ");
	if (value->type)
		tn_type_print(p->buf, value->type);
	else
		tn_buf_putc(p->buf, '?');
	tn_print_layout(p->buf, value->layout);
	tn_printer_annots(p, &value->annots);
	if (p->options->places)
		put_place(p, &value->place);
}

/* ---- Attributes ------------------------------------------------------ */

static void put_dim(struct tn_buf *buf, const struct tn_dim *dim)
{
	if (dim)
		tn_dim_print(buf, dim);
	else
		tn_buf_putc(buf, '_');
}

static void put_ints(struct tn_buf *buf, const struct tn_attr *attr)
{
	int i;

	tn_buf_putc(buf, '[');
	for (i = 0; i < attr->count; i++)
		tn_buf_putf(buf, "%s%lld", i ? ", " : "",
			    (long long)attr->u.ints[i]);
	tn_buf_putc(buf, ']');
}

static void put_dims(struct tn_buf *buf, const struct tn_attr *attr)
{
	bool pairs = attr->kind == TN_ATTR_PAIRS;
	int i;

	tn_buf_putc(buf, '[');
	for (i = 0; i < attr->count; i++) {
		if (i)
			tn_buf_put(buf, ", ");
		if (pairs && i % 2 == 0)
			tn_buf_putc(buf, '[');
		put_dim(buf, attr->u.dims[i]);
		if (pairs && i % 2 == 1)
			tn_buf_putc(buf, ']');
	}
	tn_buf_putc(buf, ']');
}

static void put_attr_value(struct tn_buf *buf, const struct tn_attr *attr)
{
	char text[40];

	switch (attr->kind) {
	case TN_ATTR_INT:
		tn_buf_putf(buf, "%lld", (long long)attr->u.i);
		break;
	case TN_ATTR_FLOAT:
		tn_num_print_f64(attr->u.f, text);
		tn_buf_put(buf, text);
		break;
	case TN_ATTR_BOOL:
		tn_buf_put(buf, attr->u.b ? "true" : "false");
		break;
	case TN_ATTR_STRING:
		tn_print_string(buf, attr->u.s);
		break;
	case TN_ATTR_DTYPE:
		tn_buf_put(buf, tn_dtype_name(attr->u.dtype));
		break;
	case TN_ATTR_INTS:
		put_ints(buf, attr);
		break;
	case TN_ATTR_DIM:
		put_dim(buf, attr->u.dim);
		break;
	case TN_ATTR_DIMS:
	case TN_ATTR_PAIRS:
		put_dims(buf, attr);
		break;
	}
}

void tn_print_attr(struct tn_buf *buf, const struct tn_attr *attr)
{
	tn_buf_putf(buf, "%s=", attr->name);
	put_attr_value(buf, attr);
}

/* True if all of the list are the number written in `text`. */
static bool is_default_list(const struct tn_attr *attr, const char *text)
{
	int64_t value = strtoll(text, NULL, 10);
	int i;

	if (!*text)
		return false;
	for (i = 0; i < attr->count; i++) {
		if (attr->kind == TN_ATTR_INTS ?
			    attr->u.ints[i] != value :
			    !attr->u.dims[i] ||
				    !tn_dim_is(attr->u.dims[i], value))
			return false;
	}
	return true;
}

/* A negative default counts axes from the end. */
static bool is_default_int(const struct tn_op *op, int64_t value,
			   const char *text)
{
	int64_t fallback = strtoll(text, NULL, 10);

	if (value == fallback)
		return true;
	return fallback < 0 && op->nin && tn_graph_in(op, 0)->type &&
	       value == fallback + tn_graph_in(op, 0)->type->rank;
}

bool tn_print_is_default(const struct tn_op *op, int number)
{
	const struct tn_attr *attr = &op->attrs[number];
	const char *text;
	double real;

	if (!attr->is_set)
		return true;
	if (number >= tn_ops[op->code].nattrs)
		return false;
	text = tn_ops[op->code].attrs[number].fallback;
	if (!text)
		return false;
	switch (attr->kind) {
	case TN_ATTR_INT:
		return *text && is_default_int(op, attr->u.i, text);
	case TN_ATTR_FLOAT:
		return tn_num_parse_f64(text, &real) && attr->u.f == real;
	case TN_ATTR_BOOL:
		return strcmp(text, attr->u.b ? "true" : "false") == 0;
	case TN_ATTR_STRING:
		return strcmp(text, attr->u.s) == 0;
	case TN_ATTR_DTYPE:
		return strcmp(text, tn_dtype_name(attr->u.dtype)) == 0;
	case TN_ATTR_INTS:
	case TN_ATTR_DIMS:
	case TN_ATTR_PAIRS:
		return is_default_list(attr, text);
	case TN_ATTR_DIM:
		break;
	}
	return false;
}

/* Attributes that differ from their defaults; `skip` is left out. */
static bool put_attrs(struct tn_printer *p, const struct tn_op *op,
		      bool follows, const char *skip)
{
	int i;

	for (i = 0; i < op->nattrs; i++) {
		const struct tn_attr *attr = &op->attrs[i];

		if (tn_print_is_default(op, i) ||
		    (skip && strcmp(attr->name, skip) == 0))
			continue;
		if (follows)
			tn_buf_put(p->buf, ", ");
		tn_print_attr(p->buf, attr);
		follows = true;
	}
	return follows;
}

static bool has_attrs(const struct tn_op *op, const char *skip)
{
	int i;

	for (i = 0; i < op->nattrs; i++)
		if (!tn_print_is_default(op, i) &&
		    strcmp(op->attrs[i].name, skip) != 0)
			return true;
	return false;
}

/* ` (a=1, b=2)` without the blank, or nothing. */
static void put_options(struct tn_printer *p, const struct tn_op *op,
			const char *skip)
{
	if (!has_attrs(op, skip))
		return;
	tn_buf_putc(p->buf, '(');
	put_attrs(p, op, false, skip);
	tn_buf_putc(p->buf, ')');
}

/* ---- Right-hand sides ------------------------------------------------ */

static void put_call(struct tn_printer *p, const struct tn_op *op)
{
	const char *name = tn_ops[op->code].name;

	if (op->code == TN_OP_call && op->callee)
		name = op->callee->name;
	if (op->code == TN_OP_launch && op->kernel)
		name = op->kernel->name;
	if (!op->callee && !op->kernel && p->items && tn_map_has(p->items, name))
		tn_buf_put(p->buf, "std::");
	tn_print_name(p->buf, name);
	tn_buf_putc(p->buf, '(');
	put_refs(p, op, 0, op->nin);
	put_attrs(p, op, op->nin > 0, NULL);
	tn_buf_putc(p->buf, ')');
}

static void put_const(struct tn_printer *p, const struct tn_tensor *tensor)
{
	int64_t count = tensor ? tn_tensor_count(tensor) : -1;
	const char *file = NULL;

	if (!tensor) {
		tn_buf_putc(p->buf, '?');
		return;
	}
	if (p->options->brief && count > BRIEF_ELEMENTS) {
		tn_buf_put(p->buf, "[...]");
		return;
	}
	if (count > SIDE_ELEMENTS && p->options->side_file)
		file = p->options->side_file(p->options->data, tensor);
	if (!file) {
		tn_print_literal(p->buf, tensor);
		return;
	}
	tn_buf_put(p->buf, "load(");
	tn_print_string(p->buf, file);
	tn_buf_putc(p->buf, ')');
}

/* A dim stands bare; a constant one as a call, for it would read as a literal.
 */
static void put_dim_op(struct tn_printer *p, const struct tn_op *op)
{
	const struct tn_attr *value = tn_graph_attr(op, "value");

	if (value && value->is_set && value->u.dim &&
	    !tn_dim_is_const(value->u.dim))
		tn_dim_print(p->buf, value->u.dim);
	else
		put_call(p, op);
}

/* ---- Flow ------------------------------------------------------------ */

static void put_line_start(struct tn_printer *p)
{
	tn_buf_pad(p->buf, ' ', (size_t)p->depth * 2);
}

static void visit_sym(void *data, const struct tn_dim *dim)
{
	struct tn_printer *p = data;
	const struct tn_sym *sym = dim->sym;

	if (!sym->is_runtime || tn_map_has(p->syms, dim))
		return;
	if (!tn_map_set(p->syms, dim, p->syms))
		p->buf->failed = true;
	tn_buf_put(p->buf, "dim ");
	tn_print_name(p->buf, sym->name);
	tn_buf_putf(p->buf, " in [%lld, %lld]", (long long)sym->lo,
		    (long long)sym->hi);
	if (sym->mod > 1)
		tn_buf_putf(p->buf, " mod %lld", (long long)sym->mod);
	tn_buf_put(p->buf, ";\n");
	put_line_start(p);
}

/* Declarations of the run-time dims that the op is the first to use: it or
 * its kernel sets them. */
static void put_syms(struct tn_printer *p, const struct tn_op *op)
{
	int i, j;

	if (!p->syms)
		return;
	for (i = 0; i < op->nout; i++)
		for (j = 0; op->out[i]->type && j < op->out[i]->type->rank; j++)
			tn_dim_each_sym(op->out[i]->type->dims[j], visit_sym,
					p);
}

void tn_printer_block(struct tn_printer *p, const struct tn_block *block)
{
	const struct tn_op *op;

	if (p->one_line) {
		tn_buf_put(p->buf, " { ... }");
		return;
	}
	tn_buf_put(p->buf, " {\n");
	p->depth++;
	for (op = block->first; op; op = op->next) {
		put_line_start(p);
		tn_printer_op(p, op);
		tn_buf_putc(p->buf, '\n');
	}
	p->depth--;
	put_line_start(p);
	tn_buf_putc(p->buf, '}');
}

/* `with (a = x, b = y) `: parameters of the body from number `first` on. */
static void put_carries(struct tn_printer *p, const struct tn_op *op,
			const struct tn_block *body, int first, int count)
{
	int i;

	for (i = 0; i < count && first + i < body->nparams; i++) {
		tn_buf_put(p->buf, i ? ", " : "with (");
		put_ref(p, body->params[first + i]);
		tn_buf_put(p->buf, " = ");
		put_ref(p, tn_graph_in(op, i));
	}
	if (i)
		tn_buf_put(p->buf, ") ");
}

static void put_if(struct tn_printer *p, const struct tn_op *op)
{
	tn_buf_put(p->buf, "if ");
	put_refs(p, op, 0, 1);
	tn_printer_block(p, op->regions[0]);
	tn_buf_put(p->buf, " else");
	tn_printer_block(p, op->regions[1]);
}

static void put_attr_dim(struct tn_printer *p, const struct tn_op *op,
			 const char *name)
{
	const struct tn_attr *attr = tn_graph_attr(op, name);

	put_dim(p->buf, attr && attr->is_set ? attr->u.dim : NULL);
}

static void put_for(struct tn_printer *p, const struct tn_op *op)
{
	const struct tn_block *body = op->regions[0];

	put_carries(p, op, body, 1, op->nin);
	tn_buf_put(p->buf, "for ");
	if (body->nparams)
		put_ref(p, body->params[0]);
	tn_buf_put(p->buf, " in ");
	put_attr_dim(p, op, "from");
	tn_buf_put(p->buf, "..");
	put_attr_dim(p, op, "to");
	tn_printer_block(p, body);
}

static void put_while(struct tn_printer *p, const struct tn_op *op)
{
	put_carries(p, op, op->regions[1], 0, op->nin);
	tn_buf_put(p->buf, "while");
	put_options(p, op, "");
	tn_printer_block(p, op->regions[0]);
	tn_buf_put(p->buf, " do");
	tn_printer_block(p, op->regions[1]);
}

static void put_scan(struct tn_printer *p, const struct tn_op *op)
{
	const struct tn_attr *attr = tn_graph_attr(op, "carries");
	int carries = attr && attr->is_set ? (int)attr->u.i : 0, i;
	const struct tn_block *body = op->regions[0];

	put_carries(p, op, body, 0, carries);
	tn_buf_put(p->buf, "scan");
	put_options(p, op, "carries");
	for (i = carries; i < op->nin && i < body->nparams; i++) {
		tn_buf_put(p->buf, i > carries ? ", " : " ");
		put_ref(p, body->params[i]);
		tn_buf_put(p->buf, " in ");
		put_ref(p, tn_graph_in(op, i));
	}
	tn_printer_block(p, body);
}

/* `emit e;` on a line of its own, then `yield a, b;`. */
static void put_yield(struct tn_printer *p, const struct tn_op *op)
{
	const struct tn_attr *attr = tn_graph_attr(op, "emits");
	int emits = attr && attr->is_set ? (int)attr->u.i : 0;

	if (emits > 0 && emits <= op->nin) {
		tn_buf_put(p->buf, "emit ");
		put_refs(p, op, op->nin - emits, op->nin);
		if (emits == op->nin)
			return;
		tn_buf_put(p->buf, ";");
		if (p->one_line) {
			tn_buf_putc(p->buf, ' ');
		} else {
			tn_buf_putc(p->buf, '\n');
			put_line_start(p);
		}
	}
	tn_buf_put(p->buf, "yield");
	if (op->nin > emits)
		tn_buf_putc(p->buf, ' ');
	put_refs(p, op, 0, op->nin - emits);
}

static int regions_needed(enum tn_opcode code)
{
	if (code == TN_OP_if || code == TN_OP_while)
		return 2;
	return code == TN_OP_for || code == TN_OP_scan;
}

static void put_rhs(struct tn_printer *p, const struct tn_op *op)
{
	switch ((int)op->code) {
	case TN_OP_const:
		put_const(p, op->literal);
		break;
	case TN_OP_dim:
		put_dim_op(p, op);
		break;
	case TN_OP_if:
		put_if(p, op);
		break;
	case TN_OP_for:
		put_for(p, op);
		break;
	case TN_OP_while:
		put_while(p, op);
		break;
	case TN_OP_scan:
		put_scan(p, op);
		break;
	case TN_OP_yield:
		put_yield(p, op);
		break;
	case TN_OP_return:
		tn_buf_put(p->buf, op->nin ? "return " : "return");
		put_refs(p, op, 0, op->nin);
		break;
	default:
		put_call(p, op);
		break;
	}
}

void tn_printer_op(struct tn_printer *p, const struct tn_op *op)
{
	int i;

	put_syms(p, op);
	for (i = 0; i < op->nout; i++) {
		if (i)
			tn_buf_put(p->buf, ", ");
		tn_printer_value(p, op->out[i]);
		if (i == 0)
			tn_printer_annots(p, &op->annots);
	}
	if (op->nout)
		tn_buf_put(p->buf, " = ");
	if (op->nregions < regions_needed(op->code))
		put_call(p, op);
	else
		put_rhs(p, op);
	tn_buf_putc(p->buf, ';');
}

void tn_print_op(struct tn_buf *buf, const struct tn_op *op,
		 const struct tn_print_options *options)
{
	static const struct tn_print_options plain;
	struct tn_printer p = {.buf = buf,
			       .options = options ? options : &plain};

	tn_printer_op(&p, op);
}

void tn_print_op_line(struct tn_buf *buf, const struct tn_op *op)
{
	static const struct tn_print_options brief = {.brief = true};
	struct tn_printer p = {.buf = buf, .options = &brief,
			       .one_line = true};

	tn_printer_op(&p, op);
}
