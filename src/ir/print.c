/*
 * Modules and functions in canonical form.
 *
 *   tenon 1.0;
 *
 *   dim B in [1, 256] opt 1, 32;
 *
 *   weight w1: f32[784, 256] from "mlp.safetensors" : "fc1.weight_t";
 *
 *   fn mlp(x: f32[B, 784]) -> (p: f32[B, 256]) {
 *     p: f32[B, 256] = matmul(x, w1);
 *     return p;
 *   }
 */
#include "ir/print.h"

#include <string.h>

#include "ir/kernel.h"
#include "ir/print_inner.h"

#define HEADER "tenon 1.0;\n"
#define BRIEF "@@brief\n"

/* ---- Items ----------------------------------------------------------- */

static void put_leading_annots(struct tn_buf *buf,
			       const struct tn_annots *annots)
{
	int i;

	for (i = 0; i < annots->count; i++) {
		tn_buf_putf(buf, "%s@%s", i ? " " : "", annots->list[i].name);
		if (annots->list[i].args)
			tn_buf_putf(buf, "(%s)", annots->list[i].args);
	}
	if (annots->count)
		tn_buf_putc(buf, '\n');
}

static void put_dim(struct tn_buf *buf, const struct tn_sym *sym)
{
	int i;

	tn_buf_put(buf, "dim ");
	tn_print_name(buf, sym->name);
	tn_buf_putf(buf, " in [%lld, %lld]", (long long)sym->lo,
		    (long long)sym->hi);
	for (i = 0; i < sym->nopt; i++)
		tn_buf_putf(buf, "%s%lld", i ? ", " : " opt ",
			    (long long)sym->opt[i]);
	if (sym->mod > 1)
		tn_buf_putf(buf, " mod %lld", (long long)sym->mod);
	tn_buf_put(buf, ";\n");
}

/* The type of one member of a family. */
static void put_member_type(struct tn_buf *buf, const struct tn_type *type)
{
	struct tn_type member = *type;

	member.rank--;
	member.dims++;
	tn_type_print(buf, &member);
}

/* " = f(a, b)" of a derived weight. */
static void put_origin(struct tn_buf *buf, const struct tn_weight *weight)
{
	int i;

	tn_buf_put(buf, " = ");
	tn_print_name(buf, weight->maker->name);
	for (i = 0; i < weight->nsources; i++) {
		tn_buf_put(buf, i ? ", " : "(");
		tn_print_name(buf, weight->sources[i]->name);
	}
	tn_buf_put(buf, weight->nsources ? ")" : "()");
}

static void put_weight(struct tn_printer *p, const struct tn_weight *weight)
{
	bool family = weight->family >= 0 && weight->type->rank > 0;

	tn_buf_put(p->buf, "weight ");
	tn_print_name(p->buf, weight->name);
	if (family) {
		tn_buf_putc(p->buf, '[');
		tn_print_name(p->buf,
			      weight->index_name ? weight->index_name : "i");
		tn_buf_putf(p->buf, " in %lld..%lld]",
			    (long long)weight->family_from,
			    (long long)(weight->family_from + weight->family));
	}
	tn_buf_put(p->buf, ": ");
	if (family)
		put_member_type(p->buf, weight->type);
	else
		tn_type_print(p->buf, weight->type);
	if (family && weight->value)
		tn_print_member_layout(p->buf, weight->value->layout);
	else if (weight->value)
		tn_print_layout(p->buf, weight->value->layout);
	tn_printer_annots(p, &weight->annots);
	if (weight->file) {
		tn_buf_put(p->buf, " from ");
		tn_print_string(p->buf, weight->file);
	}
	if (weight->file && weight->key) {
		tn_buf_put(p->buf, " : ");
		tn_print_string(p->buf, weight->key);
	}
	if (weight->maker)
		put_origin(p->buf, weight);
	tn_buf_put(p->buf, ";\n");
}

/* `name: type` of each result; a single one without name is its type. */
static void put_results(struct tn_buf *buf, const struct tn_fn *fn)
{
	int i;

	if (fn->nresults == 1 && !fn->result_names[0]) {
		tn_type_print(buf, fn->result_types[0]);
		tn_print_layout(buf, tn_fn_result_layout(fn, 0));
		return;
	}
	tn_buf_putc(buf, '(');
	for (i = 0; i < fn->nresults; i++) {
		if (i)
			tn_buf_put(buf, ", ");
		if (fn->result_names[i])
			tn_print_name(buf, fn->result_names[i]);
		else
			tn_buf_putf(buf, "result__%d", i);
		tn_buf_put(buf, ": ");
		tn_type_print(buf, fn->result_types[i]);
		tn_print_layout(buf, tn_fn_result_layout(fn, i));
	}
	tn_buf_putc(buf, ')');
}

static void put_fn(struct tn_printer *p, const struct tn_fn *fn)
{
	int i;

	put_leading_annots(p->buf, &fn->annots);
	tn_buf_put(p->buf, "fn ");
	tn_print_name(p->buf, fn->name);
	tn_buf_putc(p->buf, '(');
	for (i = 0; i < fn->body->nparams; i++) {
		if (i)
			tn_buf_put(p->buf, ", ");
		tn_printer_value(p, fn->body->params[i]);
	}
	tn_buf_put(p->buf, ") -> ");
	put_results(p->buf, fn);
	tn_printer_block(p, fn->body);
	tn_buf_putc(p->buf, '\n');
}

static void put_text(struct tn_buf *buf, const char *text)
{
	size_t len = strlen(text);

	while (len && text[len - 1] == '\n')
		len--;
	tn_buf_putn(buf, text, len);
	tn_buf_putc(buf, '\n');
}

static void put_kernel(struct tn_buf *buf, const struct tn_kernel *kernel)
{
	size_t before = buf->len;

	tn_kernel_print(buf, kernel);
	if (buf->len > before && buf->data[buf->len - 1] != '\n')
		tn_buf_putc(buf, '\n');
}

static void put_item(struct tn_printer *p, const struct tn_item *item)
{
	switch (item->kind) {
	case TN_ITEM_DIM:
		put_dim(p->buf, item->u.dim->sym);
		break;
	case TN_ITEM_WEIGHT:
		put_weight(p, item->u.weight);
		break;
	case TN_ITEM_FN:
		put_fn(p, item->u.fn);
		break;
	case TN_ITEM_KERNEL:
		put_kernel(p->buf, item->u.kernel);
		break;
	case TN_ITEM_TEXT:
		put_text(p->buf, item->u.text);
		break;
	}
}

static bool is_one_line(const struct tn_item *item)
{
	const char *newline;

	if (item->kind == TN_ITEM_DIM || item->kind == TN_ITEM_WEIGHT)
		return true;
	if (item->kind != TN_ITEM_TEXT)
		return false;
	newline = strchr(item->u.text, '\n');
	return !newline || !newline[strspn(newline, "\n")];
}

/* Lines of one kind stand together; all else is set apart. */
static bool is_apart(const struct tn_item *a, const struct tn_item *b)
{
	return a->kind != b->kind || !is_one_line(a) || !is_one_line(b);
}

static void put_items(struct tn_printer *p, const struct tn_vec *items)
{
	size_t i;

	for (i = 0; i < items->len; i++) {
		const struct tn_item *item = tn_vec_at(items, i);

		if (i == 0 || is_apart(tn_vec_at(items, i - 1), item))
			tn_buf_putc(p->buf, '\n');
		if (item->kind == TN_ITEM_DIM &&
		    !tn_map_set(p->syms, item->u.dim, p->syms))
			p->buf->failed = true;
		put_item(p, item);
	}
}

/* ---- All of it ------------------------------------------------------ */

/* The names of items, which hide operators named alike. */
static bool find_names(const struct tn_module *module, struct tn_map *names)
{
	size_t i;

	for (i = 0; i < module->items.len; i++) {
		const struct tn_item *item = tn_vec_ptr(&module->items, i);

		if (item->name && item->kind != TN_ITEM_DIM &&
		    item->kind != TN_ITEM_WEIGHT &&
		    !tn_map_set(names, item->name, names))
			return false;
	}
	return true;
}

/* Prints one function, or the whole module if fn is NULL. */
static void print_all(struct tn_printer *p, const struct tn_module *module,
		      const struct tn_fn *fn)
{
	struct tn_map syms, names;
	struct tn_vec items;
	bool ok;

	tn_map_init_ptr(&syms);
	tn_map_init_text(&names);
	tn_vec_init(&items, sizeof(struct tn_item), NULL);
	p->syms = &syms;
	p->items = &names;
	ok = ((fn && p->options->alone) || find_names(module, &names)) &&
	     (fn || tn_module_list(module, &items));
	if (!ok)
		p->buf->failed = true;
	else if (fn)
		put_fn(p, fn);
	else
		put_items(p, &items);
	tn_vec_fini(&items);
	tn_map_fini(&names);
	tn_map_fini(&syms);
}

static const struct tn_print_options plain;

void tn_print_module(struct tn_buf *buf, const struct tn_module *module,
		     const struct tn_print_options *options)
{
	struct tn_printer p = {.buf = buf,
			       .options = options ? options : &plain};

	if (p.options->brief)
		tn_buf_put(buf, BRIEF);
	tn_buf_put(buf, HEADER);
	print_all(&p, module, NULL);
}

void tn_print_fn(struct tn_buf *buf, const struct tn_fn *fn,
		 const struct tn_print_options *options)
{
	struct tn_printer p = {.buf = buf,
			       .options = options ? options : &plain};

	print_all(&p, fn->module, fn);
}
