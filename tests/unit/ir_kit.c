/*
 * Modules made by hand, and what is asserted of their text and validity.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "tests/unit/ir_kit.h"

#include "build.h"
#include "ir/print.h"
#include "ir/verify.h"

const struct tn_span nowhere;

int ir_setup(void **state)
{
	struct ir_fixture *f = calloc(1, sizeof(*f));

	tn_intern_init(&f->names);
	tn_sink_init(&f->sink);
	f->module = tn_module_new(&f->names, &f->sink);
	assert_non_null(f->module);
	*state = f;
	return 0;
}

int ir_teardown(void **state)
{
	struct ir_fixture *f = *state;

	tn_module_free(f->module);
	tn_sink_fini(&f->sink);
	tn_intern_fini(&f->names);
	free(f);
	return 0;
}

/* ---- Making modules -------------------------------------------------- */

struct tn_item *ir_add_item(struct tn_module *m, enum tn_item_kind kind,
				const char *name)
{
	struct tn_item *item = tn_arena_alloc(&m->arena, sizeof(*item));

	item->kind = kind;
	item->name = tn_intern_text(m->names, name);
	assert_true(tn_vec_push_ptr(&m->items, item));
	return item;
}

const struct tn_dim *ir_add_dim(struct tn_module *m, const char *name,
				    int64_t lo, int64_t hi)
{
	struct tn_sym sym = {.lo = lo, .hi = hi, .mod = 1};
	const struct tn_dim *dim;

	sym.name = tn_intern_text(m->names, name);
	dim = tn_dim_new_sym(&m->dims, &sym);
	assert_true(tn_map_set(&m->dim_names, sym.name, (void *)dim));
	ir_add_item(m, TN_ITEM_DIM, name)->u.dim = dim;
	return dim;
}

const struct tn_type *ir_f32_of(struct tn_module *m, ...)
{
	const struct tn_dim *dims[TN_MAX_RANK], *dim;
	va_list args;
	int rank = 0;

	va_start(args, m);
	while ((dim = va_arg(args, const struct tn_dim *)) != NULL)
		dims[rank++] = dim;
	va_end(args);
	return tn_type_get(m, TN_f32, rank, dims);
}

struct tn_fn *ir_add_fn(struct tn_module *m, const char *name,
			    int nresults)
{
	struct tn_fn *fn = tn_graph_fn(m, name, TN_FN_PLAIN);

	fn->nresults = nresults;
	fn->result_names = tn_arena_array(&m->arena, (size_t)nresults + 1,
					  sizeof(*fn->result_names));
	fn->result_types = tn_arena_array(&m->arena, (size_t)nresults + 1,
					  sizeof(*fn->result_types));
	ir_add_item(m, TN_ITEM_FN, name)->u.fn = fn;
	return fn;
}

void ir_finish(struct tn_fn *fn, struct tn_builder *b,
		   struct tn_value *result)
{
	fn->result_types[0] = result->type;
	assert_non_null(tn_build_op(b, TN_OP_return, 1, &result, 0, NULL,
				    nowhere));
}

struct tn_weight *ir_add_weight(struct tn_module *m, const char *name,
				    const struct tn_type *type)
{
	struct tn_weight *w = tn_arena_alloc(&m->arena, sizeof(*w));
	struct tn_value *value = tn_arena_alloc(&m->arena, sizeof(*value));

	w->name = value->name = tn_intern_text(m->names, name);
	w->type = value->type = type;
	w->family = -1;
	w->value = value;
	assert_true(tn_vec_push_ptr(&m->weights, w));
	assert_true(tn_map_set(&m->weight_names, w->name, w));
	ir_add_item(m, TN_ITEM_WEIGHT, name)->u.weight = w;
	return w;
}

/* ---- Text ------------------------------------------------------------ */

void assert_text(const struct tn_buf *buf, const char *want)
{
	assert_false(buf->failed);
	assert_string_equal(tn_buf_text(buf), want);
}

void assert_module(const struct tn_module *m, const char *want)
{
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_print_module(&buf, m, NULL);
	assert_text(&buf, want);
	tn_buf_fini(&buf);
}

void assert_valid(const struct tn_module *m, unsigned props)
{
	struct tn_buf faults;

	tn_buf_init(&faults);
	if (!tn_verify_module(m, props, &faults))
		print_error("%s", tn_buf_text(&faults));
	assert_text(&faults, "");
	tn_buf_fini(&faults);
}

void assert_fault(const struct tn_module *m, unsigned props,
			 const char *part)
{
	struct tn_buf faults;

	tn_buf_init(&faults);
	assert_false(tn_verify_module(m, props, &faults));
	if (!strstr(tn_buf_text(&faults), part))
		print_error("no '%s' in: %s", part, tn_buf_text(&faults));
	assert_non_null(strstr(tn_buf_text(&faults), part));
	tn_buf_fini(&faults);
}

/* ---- A small network ------------------------------------------------- */

struct tn_fn *ir_make_mlp(struct tn_module *m)
{
	const struct tn_dim *b = ir_add_dim(m, "B", 1, 256);
	const struct tn_dim *n = tn_dim_const(&m->dims, 4);
	struct tn_weight *w = ir_add_weight(m, "w1", ir_f32_of(m, n, n, NULL));
	struct tn_fn *fn = ir_add_fn(m, "mlp", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    ir_f32_of(m, b, n, NULL)), *h, *p;
	struct tn_attr axis = tn_attr_int("axis", -1);
	struct tn_builder build;

	w->file = "mlp.safetensors";
	w->key = "fc1.\"w\"";
	fn->result_names[0] = tn_intern_text(m->names, "p");
	tn_builder_init(&build, fn->body);
	h = tn_build_binary(&build, TN_OP_matmul, x, w->value, nowhere);
	assert_true(tn_graph_name(fn, h, "h"));
	p = tn_build_binary(&build, TN_OP_add, h,
			    build_scalar_f64(&build, TN_f32, 1.5, nowhere),
			    nowhere);
	p = tn_build_op(&build, TN_OP_sort, 1, &p, 1, &axis, nowhere)->out[0];
	assert_true(tn_graph_name(fn, p, "in"));
	assert_true(tn_annots_add(m, &p->annots, "layout", "0, 1", nowhere));
	ir_finish(fn, &build, p);
	assert_false(build.failed);
	return fn;
}

int ir_count_uses(const struct tn_value *value)
{
	const struct tn_use *use;
	int count = 0;

	for (use = value->uses; use; use = use->next)
		count++;
	return count;
}


/* ---- Flow, copying --------------------------------------------------- */

static struct tn_op *flow_op(struct tn_builder *b, enum tn_opcode code,
			     int nin, struct tn_value *const *in,
			     const struct tn_type *type)
{
	struct tn_op *op = tn_graph_op(b->fn, code, nin, in, 1, nowhere);

	op->out[0]->type = type;
	tn_graph_insert(b->block, op, NULL);
	return op;
}

static void set_dim(struct tn_op *op, const char *name,
		    const struct tn_dim *dim)
{
	struct tn_attr *attr = tn_graph_attr(op, name);

	attr->is_set = true;
	attr->u.dim = dim;
}

static void yield_one(struct tn_builder *b, struct tn_value *value)
{
	assert_non_null(tn_build_op(b, TN_OP_yield, 1, &value, 0, NULL,
				    nowhere));
}

static struct tn_value *make_for(struct tn_builder *outer, struct tn_value *x,
				 const struct tn_dim *to)
{
	struct tn_module *m = outer->module;
	struct tn_op *op = flow_op(outer, TN_OP_for, 1, &x, x->type);
	struct tn_block *body = tn_graph_block(outer->fn, op);
	struct tn_builder b;
	struct tn_value *h;

	set_dim(op, "from", tn_dim_const(&m->dims, 0));
	set_dim(op, "to", to);
	tn_graph_param(body, "i", tn_type_get(m, TN_i64, 0, NULL));
	h = tn_graph_param(body, "h", x->type);
	tn_builder_init(&b, body);
	yield_one(&b, build_unary(&b, TN_OP_neg, h, nowhere));
	return op->out[0];
}

static struct tn_value *make_while(struct tn_builder *outer,
				   struct tn_value *x)
{
	struct tn_module *m = outer->module;
	struct tn_op *op = flow_op(outer, TN_OP_while, 1, &x, x->type);
	struct tn_block *cond = tn_graph_block(outer->fn, op);
	struct tn_block *body = tn_graph_block(outer->fn, op);
	struct tn_value *in_cond = tn_graph_param(cond, "k", x->type);
	struct tn_value *in_body = tn_graph_param(body, "k", x->type);
	struct tn_builder b;

	set_dim(op, "max", tn_dim_const(&m->dims, 20));
	tn_builder_init(&b, cond);
	yield_one(&b, tn_build_binary(&b, TN_OP_lt, in_cond, x, nowhere));
	tn_builder_init(&b, body);
	yield_one(&b, build_unary(&b, TN_OP_exp, in_body, nowhere));
	return op->out[0];
}

static struct tn_value *make_if(struct tn_builder *outer, struct tn_value *x)
{
	struct tn_value *cond = tn_build_binary(outer, TN_OP_eq, x, x, nowhere);
	struct tn_op *op = flow_op(outer, TN_OP_if, 1, &cond, x->type);
	struct tn_block *yes = tn_graph_block(outer->fn, op);
	struct tn_block *no = tn_graph_block(outer->fn, op);
	struct tn_builder b;

	tn_builder_init(&b, yes);
	yield_one(&b, x);
	tn_builder_init(&b, no);
	yield_one(&b, build_unary(&b, TN_OP_abs, x, nowhere));
	return op->out[0];
}

/* with (s = x) scan(axis=1) xt in xs { emit e; yield s; } of f32[3, S]. */
static void make_scan(struct tn_builder *outer, struct tn_value *x,
		      struct tn_value *xs, const struct tn_dim *steps,
		      const struct tn_dim *len)
{
	struct tn_module *m = outer->module;
	struct tn_value *in[] = {x, xs}, *s, *xt, *sum;
	struct tn_op *op = tn_graph_op(outer->fn, TN_OP_scan, 2, in, 2,
				       nowhere);
	struct tn_block *body = tn_graph_block(outer->fn, op);
	struct tn_attr emits = tn_attr_int("emits", 1);
	struct tn_builder b;

	op->out[0]->type = x->type;
	op->out[1]->type = ir_f32_of(m, steps, len, NULL);
	tn_graph_attr(op, "carries")->is_set = true;
	tn_graph_attr(op, "carries")->u.i = 1;
	tn_graph_attr(op, "axis")->is_set = true;
	tn_graph_attr(op, "axis")->u.i = 1;
	tn_graph_insert(outer->block, op, NULL);
	tn_graph_name(outer->fn, op->out[1], "ys");
	s = tn_graph_param(body, "s", x->type);
	xt = tn_graph_param(body, "xt", ir_f32_of(m, len, NULL));
	tn_builder_init(&b, body);
	sum = tn_build_binary(&b, TN_OP_add, xt, s, nowhere);
	in[0] = s;
	in[1] = sum;
	assert_non_null(tn_build_op(&b, TN_OP_yield, 2, in, 1, &emits,
				    nowhere));
}

struct tn_fn *ir_make_flow(struct tn_module *m)
{
	const struct tn_dim *s = ir_add_dim(m, "S", 1, 9);
	const struct tn_dim *n = tn_dim_const(&m->dims, 3);
	struct tn_fn *fn = ir_add_fn(m, "flow", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x", ir_f32_of(m, NULL));
	struct tn_value *xs =
		tn_graph_param(fn->body, "xs", ir_f32_of(m, n, s, NULL)), *y;
	struct tn_attr dim = tn_attr_dim("value",
		tn_dim_mul(&m->dims, s, tn_dim_const(&m->dims, 2)));
	struct tn_builder b;

	tn_builder_init(&b, fn->body);
	y = make_for(&b, x, s);
	y = make_while(&b, y);
	tn_graph_name(fn, y, "w");
	y = make_if(&b, y);
	make_scan(&b, y, xs, s, n);
	tn_build_op(&b, TN_OP_dim, 0, NULL, 1, &dim, nowhere);
	ir_finish(fn, &b, y);
	assert_false(b.failed);
	return fn;
}
