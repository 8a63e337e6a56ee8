/*
 * Structural equality of two modules: the same items in the same order, with
 * the same names, types, attributes, annotations and literals.
 *
 * The modules have dims and types of their own, so these are compared by
 * their text, which is the same exactly when they are. Constants count by
 * bits. The first difference is told:
 *
 *   fn 'mlp', value 'h': f32[B, 4] against f32[B, 8]
 */
#include <stdarg.h>
#include <string.h>

#include "ir/kernel.h"
#include "ir/layout.h"
#include "ir/print.h"

struct equal {
	struct tn_buf *why;	/* or NULL */
	const struct tn_fn *fn;
	struct tn_buf a, b;	/* scratch texts */
};

static bool differ(struct equal *eq, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static bool differ(struct equal *eq, const char *format, ...)
{
	va_list args;

	if (!eq->why)
		return false;
	if (eq->fn)
		tn_buf_putf(eq->why, "fn '%s', ", eq->fn->name);
	va_start(args, format);
	tn_buf_vputf(eq->why, format, args);
	va_end(args);
	return false;
}

static const char *text_of(const char *text)
{
	return text ? text : "(none)";
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- Types, annotations, attributes ---------------------------------- */

static void clear(struct equal *eq)
{
	tn_buf_clear(&eq->a);
	tn_buf_clear(&eq->b);
}

/* Compares the scratch texts; `what` and `name` say of what they are. */
static bool same_scratch(struct equal *eq, const char *what, const char *name)
{
	if (eq->a.failed || eq->b.failed)
		return differ(eq, "out of memory");
	if (strcmp(tn_buf_text(&eq->a), tn_buf_text(&eq->b)) == 0)
		return true;
	return differ(eq, "%s '%s': %s against %s", what, name,
		      tn_buf_text(&eq->a), tn_buf_text(&eq->b));
}

static bool same_type(struct equal *eq, const char *name,
		      const struct tn_type *a, const struct tn_type *b)
{
	clear(eq);
	if (a)
		tn_type_print(&eq->a, a);
	if (b)
		tn_type_print(&eq->b, b);
	return same_scratch(eq, "type of", name);
}

static void put_annots(struct tn_buf *buf, const struct tn_annots *annots)
{
	int i;

	for (i = 0; i < annots->count; i++)
		tn_buf_putf(buf, "@%s(%s) ", annots->list[i].name,
			    annots->list[i].args ? annots->list[i].args : "");
}

static bool same_layout(struct equal *eq, const char *name,
			const struct tn_layout *a, const struct tn_layout *b)
{
	return same_text(a ? a->text : NULL, b ? b->text : NULL) ||
	       differ(eq, "layout of '%s': %s against %s", text_of(name),
		      text_of(a ? a->text : NULL), text_of(b ? b->text : NULL));
}

static bool same_annots(struct equal *eq, const char *name,
			const struct tn_annots *a, const struct tn_annots *b)
{
	clear(eq);
	put_annots(&eq->a, a);
	put_annots(&eq->b, b);
	return same_scratch(eq, "annotations of", name);
}

static void put_attrs(struct tn_buf *buf, const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nattrs; i++) {
		if (tn_print_is_default(op, i))
			continue;
		tn_print_attr(buf, &op->attrs[i]);
		tn_buf_putc(buf, ' ');
	}
}

static bool same_attrs(struct equal *eq, const char *name,
		       const struct tn_op *a, const struct tn_op *b)
{
	clear(eq);
	put_attrs(&eq->a, a);
	put_attrs(&eq->b, b);
	return same_scratch(eq, "attributes of", name);
}

/* ---- Literals -------------------------------------------------------- */

static bool same_tensor(const struct tn_tensor *a, const struct tn_tensor *b)
{
	int64_t bytes;
	int i;

	if (!a || !b)
		return a == b;
	if (a->dtype != b->dtype || a->rank != b->rank)
		return false;
	for (i = 0; i < a->rank; i++)
		if (a->shape[i] != b->shape[i])
			return false;
	bytes = tn_tensor_bytes(a);
	return bytes <= 0 || memcmp(a->data, b->data, (size_t)bytes) == 0;
}

/* ---- Operators ------------------------------------------------------- */

static const char *op_name(const struct tn_op *op)
{
	if (op->nout)
		return op->out[0]->name;
	return tn_ops[op->code].name;
}

static const char *shown_operand(const struct tn_op *op, int i)
{
	const struct tn_value *value = tn_graph_in(op, i);

	return value ? tn_print_value_name(value) : NULL;
}

static bool same_operands(struct equal *eq, const struct tn_op *a,
			  const struct tn_op *b)
{
	int i;

	if (a->nin != b->nin)
		return differ(eq, "op '%s': %d against %d operands",
			      op_name(a), a->nin, b->nin);
	for (i = 0; i < a->nin; i++) {
		const char *x = shown_operand(a, i), *y = shown_operand(b, i);

		if (!same_text(x, y))
			return differ(eq, "operand %d of '%s': %s against %s",
				      i, op_name(a), text_of(x), text_of(y));
	}
	return true;
}

static bool same_value(struct equal *eq, const struct tn_value *a,
		       const struct tn_value *b)
{
	if (!same_text(tn_print_value_name(a), tn_print_value_name(b)))
		return differ(eq, "value '%s' against '%s'",
			      text_of(a->name), text_of(b->name));
	return same_type(eq, a->name, a->type, b->type) &&
	       same_layout(eq, a->name, a->layout, b->layout) &&
	       same_annots(eq, a->name, &a->annots, &b->annots);
}

/* Annotations of an op stand in the text with its first result. */
static bool same_results(struct equal *eq, const struct tn_op *a,
			 const struct tn_op *b)
{
	int i;

	if (a->nout != b->nout)
		return differ(eq, "op '%s': %d against %d results", op_name(a),
			      a->nout, b->nout);
	for (i = 0; i < a->nout; i++) {
		if (!same_text(a->out[i]->name, b->out[i]->name))
			return differ(eq, "value '%s' against '%s'",
				      text_of(a->out[i]->name),
				      text_of(b->out[i]->name));
		if (!same_type(eq, a->out[i]->name, a->out[i]->type,
			       b->out[i]->type) ||
		    !same_layout(eq, a->out[i]->name, a->out[i]->layout,
				 b->out[i]->layout))
			return false;
		clear(eq);
		put_annots(&eq->a, &a->out[i]->annots);
		put_annots(&eq->b, &b->out[i]->annots);
		if (i == 0) {
			put_annots(&eq->a, &a->annots);
			put_annots(&eq->b, &b->annots);
		}
		if (!same_scratch(eq, "annotations of", a->out[i]->name))
			return false;
	}
	return true;
}

static const char *called(const struct tn_op *op)
{
	if (op->callee)
		return op->callee->name;
	return op->kernel ? op->kernel->name : NULL;
}

static bool same_block(struct equal *eq, const struct tn_block *a,
		       const struct tn_block *b);

static bool same_op(struct equal *eq, const struct tn_op *a,
		    const struct tn_op *b)
{
	int i;

	if (a->code != b->code)
		return differ(eq, "op '%s': %s against %s", op_name(a),
			      tn_ops[a->code].name, tn_ops[b->code].name);
	if (!same_results(eq, a, b) || !same_operands(eq, a, b) ||
	    !same_attrs(eq, op_name(a), a, b))
		return false;
	if (!same_text(called(a), called(b)))
		return differ(eq, "op '%s': calls %s against %s", op_name(a),
			      text_of(called(a)), text_of(called(b)));
	if (!same_tensor(a->literal, b->literal))
		return differ(eq, "constant '%s': other elements", op_name(a));
	if (a->nregions != b->nregions)
		return differ(eq, "op '%s': %d against %d regions", op_name(a),
			      a->nregions, b->nregions);
	for (i = 0; i < a->nregions; i++)
		if (!same_block(eq, a->regions[i], b->regions[i]))
			return false;
	return true;
}

static bool same_block(struct equal *eq, const struct tn_block *a,
		       const struct tn_block *b)
{
	const struct tn_op *x = a->first, *y = b->first;
	int i;

	if (a->nparams != b->nparams)
		return differ(eq, "a block has %d against %d parameters",
			      a->nparams, b->nparams);
	for (i = 0; i < a->nparams; i++)
		if (!same_value(eq, a->params[i], b->params[i]))
			return false;
	for (; x && y; x = x->next, y = y->next)
		if (!same_op(eq, x, y))
			return false;
	if (x || y)
		return differ(eq, "op '%s' has no counterpart",
			      op_name(x ? x : y));
	return true;
}

/* ---- Items ----------------------------------------------------------- */

static bool same_fn(struct equal *eq, const struct tn_fn *a,
		    const struct tn_fn *b)
{
	int i;

	if (a->nresults != b->nresults)
		return differ(eq, "%d against %d results", a->nresults,
			      b->nresults);
	for (i = 0; i < a->nresults; i++) {
		if (!same_text(a->result_names[i], b->result_names[i]))
			return differ(eq, "result '%s' against '%s'",
				      text_of(a->result_names[i]),
				      text_of(b->result_names[i]));
		if (!same_type(eq, "a result", a->result_types[i],
			       b->result_types[i]) ||
		    !same_layout(eq, "a result", tn_fn_result_layout(a, i),
				 tn_fn_result_layout(b, i)))
			return false;
	}
	return same_annots(eq, a->name, &a->annots, &b->annots) &&
	       same_block(eq, a->body, b->body);
}

static bool same_sym(struct equal *eq, const struct tn_sym *a,
		     const struct tn_sym *b)
{
	bool same = a->lo == b->lo && a->hi == b->hi && a->mod == b->mod &&
		    a->nopt == b->nopt;
	int i;

	for (i = 0; same && i < a->nopt; i++)
		same = a->opt[i] == b->opt[i];
	return same || differ(eq, "dim '%s': another declaration", a->name);
}

static bool same_origin(const struct tn_weight *a, const struct tn_weight *b)
{
	int i;

	if (!a->maker || !b->maker)
		return a->maker == b->maker;
	if (strcmp(a->maker->name, b->maker->name) != 0 ||
	    a->nsources != b->nsources)
		return false;
	for (i = 0; i < a->nsources; i++)
		if (strcmp(a->sources[i]->name, b->sources[i]->name) != 0)
			return false;
	return true;
}

static bool same_weight(struct equal *eq, const struct tn_weight *a,
			const struct tn_weight *b)
{
	if (!same_type(eq, a->name, a->type, b->type) ||
	    !same_layout(eq, a->name, a->value ? a->value->layout : NULL,
			 b->value ? b->value->layout : NULL) ||
	    !same_annots(eq, a->name, &a->annots, &b->annots))
		return false;
	if (a->family == b->family && same_text(a->file, b->file) &&
	    same_text(a->key, b->key) && same_origin(a, b) &&
	    (a->family < 0 || (a->family_from == b->family_from &&
			       same_text(a->index_name, b->index_name))))
		return true;
	return differ(eq, "weight '%s': another source", a->name);
}

static bool same_kernel(struct equal *eq, const struct tn_kernel *a,
			const struct tn_kernel *b)
{
	clear(eq);
	tn_kernel_print(&eq->a, a);
	tn_kernel_print(&eq->b, b);
	if (strcmp(tn_buf_text(&eq->a), tn_buf_text(&eq->b)) == 0)
		return true;
	return differ(eq, "kernel '%s': another body", a->name);
}

static const char *item_name(const struct tn_item *item)
{
	switch (item->kind) {
	case TN_ITEM_DIM:
		return item->u.dim->sym->name;
	case TN_ITEM_WEIGHT:
		return item->u.weight->name;
	case TN_ITEM_FN:
		return item->u.fn->name;
	case TN_ITEM_KERNEL:
		return item->u.kernel->name;
	case TN_ITEM_TEXT:
		break;
	}
	return item->name ? item->name : "(text)";
}

static bool same_item(struct equal *eq, const struct tn_item *a,
		      const struct tn_item *b)
{
	bool same = false;

	if (a->kind != b->kind || strcmp(item_name(a), item_name(b)) != 0)
		return differ(eq, "item '%s' against '%s'", item_name(a),
			      item_name(b));
	switch (a->kind) {
	case TN_ITEM_DIM:
		return same_sym(eq, a->u.dim->sym, b->u.dim->sym);
	case TN_ITEM_WEIGHT:
		return same_weight(eq, a->u.weight, b->u.weight);
	case TN_ITEM_FN:
		eq->fn = a->u.fn;
		same = same_fn(eq, a->u.fn, b->u.fn);
		eq->fn = NULL;
		break;
	case TN_ITEM_KERNEL:
		return same_kernel(eq, a->u.kernel, b->u.kernel);
	case TN_ITEM_TEXT:
		return strcmp(a->u.text, b->u.text) == 0 ||
		       differ(eq, "item '%s': other text", item_name(a));
	}
	return same;
}

static bool same_items(struct equal *eq, const struct tn_vec *a,
		       const struct tn_vec *b)
{
	size_t i;

	for (i = 0; i < a->len && i < b->len; i++)
		if (!same_item(eq, tn_vec_at(a, i), tn_vec_at(b, i)))
			return false;
	if (a->len != b->len)
		return differ(eq, "%zu against %zu items", a->len, b->len);
	return true;
}

bool tn_module_equal(const struct tn_module *a, const struct tn_module *b,
		     struct tn_buf *why)
{
	struct equal eq = {.why = why};
	struct tn_vec of_a, of_b;
	bool same;

	tn_buf_init(&eq.a);
	tn_buf_init(&eq.b);
	tn_vec_init(&of_a, sizeof(struct tn_item), NULL);
	tn_vec_init(&of_b, sizeof(struct tn_item), NULL);
	if (tn_module_list(a, &of_a) && tn_module_list(b, &of_b))
		same = same_items(&eq, &of_a, &of_b);
	else
		same = differ(&eq, "out of memory");
	tn_vec_fini(&of_a);
	tn_vec_fini(&of_b);
	tn_buf_fini(&eq.a);
	tn_buf_fini(&eq.b);
	return same;
}
