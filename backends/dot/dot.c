/*
 * The dot back end: functions as a graph for Graphviz.
 *
 * In: an entry in any state. Out: NAME.dot with a box for each operator, a
 * cluster for each function that the entry calls and for each region, and an
 * arrow for each use. Values that a loop or a call passes on are drawn as the
 * arrows to it; parameters of regions have nodes of their own.
 *
 *   n4 [label="add\nc: f32[4]"];
 *   n1 -> n4;
 */
#include "backends/backend.h"

#include <string.h>

#include "ir/kernel.h"
#include "ir/print.h"

struct dot {
	struct tn_buf *out;
	struct tn_map nodes;	/* value or op -> number + 1 */
	struct tn_vec fns;	/* const struct tn_fn *, in order of calls */
	struct tn_map seen;	/* those of them */
	int count, clusters;
	bool failed;
};

/* ---- Text --------------------------------------------------------------- */

static void indent(struct dot *d, int depth)
{
	for (; depth > 0; depth--)
		tn_buf_putc(d->out, '\t');
}

/* Inside of a quoted label. */
static void put_label(struct dot *d, const char *text)
{
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			tn_buf_putc(d->out, '\\');
		if (*text == '\n')
			tn_buf_put(d->out, "\\n");
		else
			tn_buf_putc(d->out, *text);
	}
}

static void put_value(struct dot *d, const struct tn_value *value)
{
	struct tn_buf text;

	tn_buf_init(&text);
	tn_buf_putf(&text, "%s: ", value->name);
	tn_type_print(&text, value->type);
	put_label(d, tn_buf_text(&text));
	d->failed |= text.failed;
	tn_buf_fini(&text);
}

/* ---- Nodes -------------------------------------------------------------- */

/* The number of the node of a value's owner; a new one at the first call. */
static int node(struct dot *d, const void *key, bool *is_new)
{
	intptr_t n = (intptr_t)tn_map_find(&d->nodes, key);

	*is_new = n == 0;
	if (n)
		return (int)n;
	n = ++d->count;
	if (!tn_map_set(&d->nodes, key, (void *)n))
		d->failed = true;
	return (int)n;
}

static bool is_weight(const struct tn_value *value)
{
	return !value->op && !value->block;
}

/* What an arrow from the value starts at. */
static const void *owner(const struct tn_value *value)
{
	return value->op ? (const void *)value->op : value;
}

static void put_param(struct dot *d, const struct tn_value *value, int depth)
{
	bool is_new;
	int n = node(d, value, &is_new);

	if (!is_new)
		return;
	indent(d, depth);
	tn_buf_putf(d->out, "n%d [label=\"", n);
	put_value(d, value);
	tn_buf_putf(d->out, "\", shape=%s];\n", is_weight(value) ?
		    "cylinder" : "ellipse");
}

/* Attributes that are not at their defaults, as the text has them. */
static void put_attrs(struct dot *d, const struct tn_op *op)
{
	struct tn_buf text;
	int i;

	tn_buf_init(&text);
	for (i = 0; i < op->nattrs; i++) {
		if (!op->attrs[i].is_set || tn_print_is_default(op, i))
			continue;
		tn_buf_putc(&text, '\n');
		tn_print_attr(&text, &op->attrs[i]);
	}
	put_label(d, tn_buf_text(&text));
	d->failed |= text.failed;
	tn_buf_fini(&text);
}

static void put_head(struct dot *d, const struct tn_op *op)
{
	struct tn_buf text;

	if (op->code == TN_OP_const && tn_tensor_count(op->literal) <= 4) {
		tn_buf_init(&text);
		tn_print_literal(&text, op->literal);
		put_label(d, tn_buf_text(&text));
		d->failed |= text.failed;
		tn_buf_fini(&text);
		return;
	}
	put_label(d, op->kernel ? op->kernel->name : op->callee ?
		  op->callee->name : tn_ops[op->code].name);
	put_attrs(d, op);
}

static void put_op(struct dot *d, const struct tn_op *op, int depth)
{
	bool is_new, is_end = op->code == TN_OP_return ||
			      op->code == TN_OP_yield;
	int n = node(d, op, &is_new), from, i;

	for (i = 0; i < op->nin; i++)
		if (is_weight(tn_graph_in(op, i)))
			put_param(d, tn_graph_in(op, i), depth);
	indent(d, depth);
	tn_buf_putf(d->out, "n%d [label=\"", n);
	put_head(d, op);
	for (i = 0; i < op->nout; i++) {
		tn_buf_put(d->out, "\\n");
		put_value(d, op->out[i]);
	}
	tn_buf_putf(d->out, "\"%s];\n", is_end ? ", shape=ellipse" :
		    op->code == TN_OP_const ? ", shape=plaintext" : "");
	for (i = 0; i < op->nin; i++) {
		from = node(d, owner(tn_graph_in(op, i)), &is_new);
		indent(d, depth);
		tn_buf_putf(d->out, "n%d -> n%d;\n", from, n);
	}
}

/* ---- Blocks and functions ----------------------------------------------- */

static void note_call(struct dot *d, const struct tn_op *op)
{
	const struct tn_fn *fn = op->callee;

	if (!fn || fn->is_library || tn_map_has(&d->seen, fn))
		return;
	if (!tn_map_set(&d->seen, fn, d) ||
	    !tn_vec_push_ptr(&d->fns, (void *)(uintptr_t)fn))
		d->failed = true;
}

static void open_cluster(struct dot *d, const char *label, int depth)
{
	indent(d, depth);
	tn_buf_putf(d->out, "subgraph cluster_%d {\n", d->clusters++);
	indent(d, depth + 1);
	tn_buf_put(d->out, "label=\"");
	put_label(d, label);
	tn_buf_put(d->out, "\";\n");
}

/* Regions nest only so deep as the text does. */
static void put_block(struct dot *d, const struct tn_block *block, int depth)
{
	const struct tn_op *op;
	int i;

	for (i = 0; i < block->nparams; i++)
		put_param(d, block->params[i], depth);
	for (op = block->first; op; op = op->next) {
		note_call(d, op);
		put_op(d, op, depth);
		for (i = 0; i < op->nregions; i++) {
			open_cluster(d, tn_ops[op->code].name, depth);
			put_block(d, op->regions[i], depth + 1);
			indent(d, depth);
			tn_buf_put(d->out, "}\n");
		}
	}
}

static void put_graph(struct dot *d, const struct tn_fn *entry)
{
	const struct tn_fn *fn;
	size_t i;

	tn_buf_put(d->out, "digraph \"");
	put_label(d, entry->name);
	tn_buf_put(d->out, "\" {\n\tnode [shape=box, style=rounded];\n");
	put_block(d, entry->body, 1);
	for (i = 0; i < d->fns.len; i++) {
		fn = tn_vec_ptr(&d->fns, i);
		open_cluster(d, fn->name, 1);
		put_block(d, fn->body, 2);
		tn_buf_put(d->out, "\t}\n");
	}
	tn_buf_put(d->out, "}\n");
}

static enum tn_status emit(const struct tn_module *module,
			   const struct tn_fn *entry, const char *name,
			   const struct tn_target *target,
			   struct tn_emission *out)
{
	enum tn_status status = tn_emission_open(out, name);
	struct dot d = { 0 };

	(void)module;
	(void)target;
	if (status)
		return status;
	d.out = tn_emission_file(out, ".dot");
	tn_map_init_ptr(&d.nodes);
	tn_map_init_ptr(&d.seen);
	tn_vec_init(&d.fns, sizeof(const struct tn_fn *), NULL);
	put_graph(&d, entry);
	tn_map_fini(&d.nodes);
	tn_map_fini(&d.seen);
	tn_vec_fini(&d.fns);
	return !tn_emission_end(out) || d.failed ? TN_IO : TN_OK;
}

/* ---- The row ------------------------------------------------------------ */

static const struct tn_target target = {
	.backend = &tn_backend_dot, .name = "dot", .isa = ""
};

static const struct tn_target *const targets[] = { &target, NULL };

static void describe(const struct tn_target *which, struct tn_buf *out)
{
	(void)which;
	tn_buf_put(out, "the graph as a picture, for Graphviz; emit alone");
}

const struct tn_backend tn_backend_dot = {
	.name = "dot", .stage = TN_STAGE_TEXT, .targets = targets,
	.describe = describe, .emit = emit
};
