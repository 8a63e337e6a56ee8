/*
 * The graph: making, naming, linking, replacing, copying, printing, comparing,
 * verifying; and that all of it is linear in 100,000 operators.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "build.h"
#include "ir/builder.h"
#include "ir/graph.h"
#include "ir/kernel.h"
#include "ir/print.h"
#include "ir/rewrite.h"
#include "ir/verify.h"

static const struct tn_span nowhere;

struct fixture {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_module *module;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	tn_intern_init(&f->names);
	tn_sink_init(&f->sink);
	f->module = tn_module_new(&f->names, &f->sink);
	assert_non_null(f->module);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tn_module_free(f->module);
	tn_sink_fini(&f->sink);
	tn_intern_fini(&f->names);
	free(f);
	return 0;
}

/* ---- Making modules -------------------------------------------------- */

static struct tn_item *add_item(struct tn_module *m, enum tn_item_kind kind,
				const char *name)
{
	struct tn_item *item = tn_arena_alloc(&m->arena, sizeof(*item));

	item->kind = kind;
	item->name = tn_intern_text(m->names, name);
	assert_true(tn_vec_push_ptr(&m->items, item));
	return item;
}

static const struct tn_dim *add_dim(struct tn_module *m, const char *name,
				    int64_t lo, int64_t hi)
{
	struct tn_sym sym = {.lo = lo, .hi = hi, .mod = 1};
	const struct tn_dim *dim;

	sym.name = tn_intern_text(m->names, name);
	dim = tn_dim_new_sym(&m->dims, &sym);
	assert_true(tn_map_set(&m->dim_names, sym.name, (void *)dim));
	add_item(m, TN_ITEM_DIM, name)->u.dim = dim;
	return dim;
}

/* f32 of the dims; the list ends with NULL. */
static const struct tn_type *f32_of(struct tn_module *m, ...)
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

static struct tn_fn *add_fn(struct tn_module *m, const char *name,
			    int nresults)
{
	struct tn_fn *fn = tn_graph_fn(m, name, TN_FN_PLAIN);

	fn->nresults = nresults;
	fn->result_names = tn_arena_array(&m->arena, (size_t)nresults + 1,
					  sizeof(*fn->result_names));
	fn->result_types = tn_arena_array(&m->arena, (size_t)nresults + 1,
					  sizeof(*fn->result_types));
	add_item(m, TN_ITEM_FN, name)->u.fn = fn;
	return fn;
}

static void finish(struct tn_fn *fn, struct tn_builder *b,
		   struct tn_value *result)
{
	fn->result_types[0] = result->type;
	assert_non_null(tn_build_op(b, TN_OP_return, 1, &result, 0, NULL,
				    nowhere));
}

static struct tn_weight *add_weight(struct tn_module *m, const char *name,
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
	add_item(m, TN_ITEM_WEIGHT, name)->u.weight = w;
	return w;
}

/* ---- Text ------------------------------------------------------------ */

static void assert_text(const struct tn_buf *buf, const char *want)
{
	assert_false(buf->failed);
	assert_string_equal(tn_buf_text(buf), want);
}

static void assert_module(const struct tn_module *m, const char *want)
{
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_print_module(&buf, m, NULL);
	assert_text(&buf, want);
	tn_buf_fini(&buf);
}

static void assert_valid(const struct tn_module *m, unsigned props)
{
	struct tn_buf faults;

	tn_buf_init(&faults);
	if (!tn_verify_module(m, props, &faults))
		print_error("%s", tn_buf_text(&faults));
	assert_text(&faults, "");
	tn_buf_fini(&faults);
}

/* The verifier finds a fault whose text holds `part`. */
static void assert_fault(const struct tn_module *m, unsigned props,
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

static struct tn_fn *make_mlp(struct tn_module *m)
{
	const struct tn_dim *b = add_dim(m, "B", 1, 256);
	const struct tn_dim *n = tn_dim_const(&m->dims, 4);
	struct tn_weight *w = add_weight(m, "w1", f32_of(m, n, n, NULL));
	struct tn_fn *fn = add_fn(m, "mlp", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    f32_of(m, b, n, NULL)), *h, *p;
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
	finish(fn, &build, p);
	assert_false(build.failed);
	return fn;
}

static const char mlp_text[] =
	"tenon 1.0;\n"
	"\n"
	"dim B in [1, 256];\n"
	"\n"
	"weight w1: f32[4, 4] from \"mlp.safetensors\" : \"fc1.\\\"w\\\"\";\n"
	"\n"
	"fn mlp(x: f32[B, 4]) -> (p: f32[B, 4]) {\n"
	"  h: f32[B, 4] = matmul(x, w1);\n"
	"  t__0: f32 = 1.5;\n"
	"  t__1: f32[B, 4] = add(h, t__0);\n"
	"  `in`: f32[B, 4] @layout(0, 1) = sort(t__1);\n"
	"  return `in`;\n"
	"}\n";

static void test_print(void **state)
{
	struct fixture *f = *state;

	make_mlp(f->module);
	assert_module(f->module, mlp_text);
	assert_valid(f->module, TN_PROP_TYPED | TN_PROP_FLAT | TN_PROP_CORE |
				TN_PROP_CANONICAL);
	assert_ptr_equal(tn_module_entry(f->module, NULL),
			 tn_module_entry(f->module, "mlp"));
	assert_null(tn_module_entry(f->module, "other"));
}

static void test_print_options(void **state)
{
	struct fixture *f = *state;
	struct tn_print_options options = {.brief = true, .places = true};
	struct tn_fn *fn = make_mlp(f->module);
	struct tn_buf buf;

	fn->body->first->out[0]->place = (struct tn_place){
		.kind = TN_PLACE_ARENA, .offset = 64, .bytes = 4096};
	tn_buf_init(&buf);
	tn_print_module(&buf, f->module, &options);
	assert_int_equal(strncmp(tn_buf_text(&buf), "@@brief\n", 8), 0);
	assert_non_null(strstr(tn_buf_text(&buf), "h: f32[B, 4] @at(arena, "
			       "offset=64, bytes=4096) = matmul"));
	tn_buf_fini(&buf);
}

/* A function of the file hides the operator of its name. */
static void test_hidden(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = add_fn(m, "neg", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x", f32_of(m, NULL));
	struct tn_builder b;

	tn_builder_init(&b, fn->body);
	finish(fn, &b, build_unary(&b, TN_OP_neg, x, nowhere));
	assert_module(m, "tenon 1.0;\n\nfn neg(x: f32) -> f32 {\n"
		      "  t__0: f32 = std::neg(x);\n  return t__0;\n}\n");
}

static void test_entry(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *a, *b;

	assert_null(tn_module_entry(m, NULL));
	a = add_fn(m, "a", 0);
	assert_ptr_equal(tn_module_entry(m, NULL), a);
	tn_graph_fn(m, "gelu", TN_FN_INSTANCE);
	assert_ptr_equal(tn_module_entry(m, NULL), a);
	b = add_fn(m, "b", 0);
	assert_null(tn_module_entry(m, NULL));
	assert_ptr_equal(tn_module_entry(m, "b"), b);
	assert_null(tn_module_entry(m, "gelu"));
	/* Left the items: inlined. */
	m->items.len--;
	assert_ptr_equal(tn_module_entry(m, NULL), a);
	b = add_fn(m, "main", 0);
	assert_ptr_equal(tn_module_entry(m, NULL), b);
	/* Without items all functions count. */
	m->items.len = 0;
	assert_ptr_equal(tn_module_entry(m, NULL), b);
}

/* ---- Names ----------------------------------------------------------- */

static void test_names(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = make_mlp(m);
	struct tn_value *v[6];
	struct tn_builder b;
	int i;

	tn_builder_init(&b, fn->body);
	b.before = fn->body->last;
	for (i = 0; i < 6; i++)
		v[i] = build_unary(&b, TN_OP_neg, fn->body->params[0],
				      nowhere);
	assert_string_equal(v[0]->name, "t__2");
	assert_false(v[0]->is_named);
	tn_graph_name(fn, v[0], "y");
	assert_true(v[0]->is_named);
	tn_graph_name(fn, v[1], "y");
	assert_string_equal(v[1]->name, "y__1");
	assert_false(v[1]->is_named);
	tn_graph_name(fn, v[2], "y__1");
	assert_string_equal(v[2]->name, "y__2");
	tn_graph_name(fn, v[3], "h__0");
	assert_string_equal(v[3]->name, "h__0");
	tn_graph_name(fn, v[4], "h__0");
	assert_string_equal(v[4]->name, "h__1");
	/* Weights and dims are not hidden. */
	tn_graph_name(fn, v[5], "w1");
	assert_string_equal(v[5]->name, "w1__1");
	tn_graph_name(fn, v[5], "B");
	assert_string_equal(v[5]->name, "B__1");
	/* A name given up is free. */
	tn_graph_name(fn, v[0], "z");
	tn_graph_name(fn, v[5], "y");
	assert_string_equal(v[5]->name, "y");
	assert_valid(m, TN_PROP_TYPED);
}

static void put_quoted(const char *name, const char *want)
{
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_print_name(&buf, name);
	assert_text(&buf, want);
	tn_buf_fini(&buf);
}

static void test_quoting(void **state)
{
	(void)state;
	put_quoted("x_1", "x_1");
	put_quoted("std::gelu", "std::gelu");
	put_quoted("block", "block");
	put_quoted("yield", "`yield`");
	put_quoted("f32", "`f32`");
	put_quoted("inf_f16", "`inf_f16`");
	put_quoted("", "``");
	put_quoted("1x", "`1x`");
	put_quoted("/model/layers.0/Mul_3", "`/model/layers.0/Mul_3`");
	put_quoted("a`b\\c\x01", "`a\\`b\\\\c\\u{1}`");
	put_quoted("\xc3\xa4", "`\xc3\xa4`");
}

/* ---- Literals -------------------------------------------------------- */

static void literal(enum tn_dtype dtype, int rank, const int64_t *shape,
		    const void *data, const char *want)
{
	struct tn_tensor tensor;
	struct tn_buf buf;

	tn_tensor_view(&tensor, dtype, rank, shape, data);
	tn_buf_init(&buf);
	tn_print_literal(&buf, &tensor);
	assert_text(&buf, want);
	tn_buf_fini(&buf);
}

/* Every finite half and infinity reads back from its text, rounded once. */
static void test_halves(enum tn_dtype dtype, uint32_t infinity)
{
	uint16_t bits = 0, again = 0;
	struct tn_tensor from, to;
	struct tn_buf buf;
	uint32_t i;
	double value;

	tn_tensor_view(&from, dtype, 0, NULL, &bits);
	tn_tensor_view(&to, dtype, 0, NULL, &again);
	tn_buf_init(&buf);
	for (i = 0; i < infinity; i++) {
		bits = (uint16_t)i;
		tn_buf_clear(&buf);
		tn_print_literal(&buf, &from);
		assert_true(tn_num_parse_f64(tn_buf_text(&buf), &value));
		tn_tensor_set_f64(&to, 0, value);
		assert_int_equal(again, bits);
		assert_true(buf.len <= 22);
	}
	tn_buf_fini(&buf);
}

static void test_literals(void **state)
{
	const float f32s[] = {1.0f, -0.0f, 0.1f, INFINITY, -INFINITY, 3e20f};
	const uint32_t quiet = 0x7fc00000, payload = 0x7fc00001;
	const uint32_t minus = 0xffc00000;
	const int64_t least = INT64_MIN;
	const uint64_t most = UINT64_MAX;
	const uint16_t halves[] = {0x3c00, 0x2e66};
	const uint8_t bools[] = {1, 0};
	const int64_t two_three[] = {2, 3}, none[] = {3, 0}, two[] = {2};
	const double third = 1.0 / 3;

	(void)state;
	test_halves(TN_f16, 0x7c00);
	test_halves(TN_bf16, 0x7f80);
	literal(TN_f32, 2, two_three, f32s,
		"[[1.0, -0.0, 0.1], [inf, -inf, 3e20]]");
	literal(TN_f64, 0, NULL, &third, "0.3333333333333333");
	literal(TN_f32, 0, NULL, &quiet, "nan");
	literal(TN_f32, 0, NULL, &payload,
		"bitcast(0x7fc00001_u32, elem=f32)");
	literal(TN_f32, 0, NULL, &minus, "bitcast(0xffc00000_u32, elem=f32)");
	literal(TN_i64, 0, NULL, &least, "-9223372036854775808");
	literal(TN_u64, 0, NULL, &most, "18446744073709551615");
	literal(TN_f16, 1, two, halves, "[1.0, 0.1]");
	literal(TN_bool, 1, two, bools, "[true, false]");
	literal(TN_f32, 2, none, NULL, "[]");
}

/* ---- Surgery --------------------------------------------------------- */

static int count_uses(const struct tn_value *value)
{
	const struct tn_use *use;
	int count = 0;

	for (use = value->uses; use; use = use->next)
		count++;
	return count;
}

static void test_surgery(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *n = tn_dim_const(&m->dims, 3);
	struct tn_fn *fn = add_fn(m, "f", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x", f32_of(m, n, NULL));
	struct tn_rw rw = {.module = m, .pass = "test", .fuel = 2};
	struct tn_value *a, *b, *c, *d;
	struct tn_builder build;
	struct tn_buf events;

	tn_buf_init(&events);
	rw.events = &events;
	tn_builder_init(&build, fn->body);
	a = build_unary(&build, TN_OP_neg, x, nowhere);
	tn_graph_name(fn, a, "a");
	b = tn_build_binary(&build, TN_OP_mul, a, a, nowhere);
	c = tn_build_binary(&build, TN_OP_add, b, a, nowhere);
	finish(fn, &build, c);
	assert_int_equal(count_uses(a), 3);
	assert_int_equal(count_uses(x), 1);

	/* a = neg(x) becomes abs(x), which keeps the name. */
	assert_true(tn_rw_spend(&rw, "neg", a->op));
	tn_rw_before(&rw, a->op, &build);
	d = build_unary(&build, TN_OP_abs, x, nowhere);
	tn_rw_replace(&rw, a->op, &d);
	assert_string_equal(d->name, "a");
	assert_true(d->is_named);
	assert_string_equal(d->op->origin, "test");
	assert_int_equal(count_uses(d), 3);
	assert_int_equal(count_uses(x), 1);
	assert_valid(m, TN_PROP_TYPED);

	/* One operand changes; what nobody reads goes. */
	assert_true(tn_rw_spend(&rw, "set", c->op));
	tn_rw_set_operand(&rw, c->op, 0, x);
	tn_rw_erase(&rw, b->op);
	assert_int_equal(count_uses(d), 1);
	assert_false(tn_rw_spend(&rw, "no fuel", c->op));
	assert_int_equal(rw.count, 2);
	assert_valid(m, TN_PROP_TYPED);
	assert_module(m, "tenon 1.0;\n\nfn f(x: f32[3]) -> f32[3] {\n"
		      "  a: f32[3] = abs(x);\n"
		      "  t__1: f32[3] = add(x, a);\n"
		      "  return t__1;\n}\n");
	assert_text(&events,
		    "{\"event\":\"rewrite\",\"pass\":\"test\",\"rule\":\"neg\","
		    "\"fn\":\"f\",\"op\":\"neg\",\"value\":\"a\"}\n"
		    "{\"event\":\"rewrite\",\"pass\":\"test\",\"rule\":\"set\","
		    "\"fn\":\"f\",\"op\":\"add\",\"value\":\"t__1\"}\n");
	tn_buf_fini(&events);
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
	op->out[1]->type = f32_of(m, steps, len, NULL);
	tn_graph_attr(op, "carries")->is_set = true;
	tn_graph_attr(op, "carries")->u.i = 1;
	tn_graph_attr(op, "axis")->is_set = true;
	tn_graph_attr(op, "axis")->u.i = 1;
	tn_graph_insert(outer->block, op, NULL);
	tn_graph_name(outer->fn, op->out[1], "ys");
	s = tn_graph_param(body, "s", x->type);
	xt = tn_graph_param(body, "xt", f32_of(m, len, NULL));
	tn_builder_init(&b, body);
	sum = tn_build_binary(&b, TN_OP_add, xt, s, nowhere);
	in[0] = s;
	in[1] = sum;
	assert_non_null(tn_build_op(&b, TN_OP_yield, 2, in, 1, &emits,
				    nowhere));
}

static struct tn_fn *make_flow(struct tn_module *m)
{
	const struct tn_dim *s = add_dim(m, "S", 1, 9);
	const struct tn_dim *n = tn_dim_const(&m->dims, 3);
	struct tn_fn *fn = add_fn(m, "flow", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x", f32_of(m, NULL));
	struct tn_value *xs =
		tn_graph_param(fn->body, "xs", f32_of(m, n, s, NULL)), *y;
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
	finish(fn, &b, y);
	assert_false(b.failed);
	return fn;
}

static const char flow_text[] =
	"tenon 1.0;\n"
	"\n"
	"dim S in [1, 9];\n"
	"\n"
	"fn flow(x: f32, xs: f32[3, S]) -> f32 {\n"
	"  t__0: f32 = with (h = x) for i in 0..S {\n"
	"    t__1: f32 = neg(h);\n"
	"    yield t__1;\n"
	"  };\n"
	"  w: f32 = with (k = t__0) while(max=20) {\n"
	"    t__3: bool = lt(k, t__0);\n"
	"    yield t__3;\n"
	"  } do {\n"
	"    t__4: f32 = exp(k);\n"
	"    yield t__4;\n"
	"  };\n"
	"  t__5: bool = eq(w, w);\n"
	"  t__6: f32 = if t__5 {\n"
	"    yield w;\n"
	"  } else {\n"
	"    t__7: f32 = abs(w);\n"
	"    yield t__7;\n"
	"  };\n"
	"  t__8: f32, ys: f32[S, 3] = with (s = t__6) scan(axis=1) xt in xs {\n"
	"    t__9: f32[3] = add(xt, s);\n"
	"    emit t__9;\n"
	"    yield s;\n"
	"  };\n"
	"  t__10: i64 = 2*S;\n"
	"  return t__6;\n"
	"}\n";

static void test_flow(void **state)
{
	struct fixture *f = *state;

	make_flow(f->module);
	assert_module(f->module, flow_text);
	assert_valid(f->module, TN_PROP_TYPED);
}

/* Copies flow's body into another function with S = 5. */
static void test_clone(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *from = make_flow(m), *to = add_fn(m, "copy", 1);
	const struct tn_dim *five = tn_dim_const(&m->dims, 5);
	const struct tn_dim *n = tn_dim_const(&m->dims, 3), *dims[1] = {five};
	struct tn_rw rw = {.module = m, .pass = "inline", .fuel = -1};
	struct tn_value *x, *xs;
	struct tn_buf buf;
	struct tn_map map;

	x = tn_graph_param(to->body, "x", f32_of(m, NULL));
	xs = tn_graph_param(to->body, "xs", f32_of(m, n, five, NULL));
	tn_map_init_ptr(&map);
	tn_map_set(&map, from->body->params[0], x);
	tn_map_set(&map, from->body->params[1], xs);
	assert_true(tn_rw_clone(&rw, from->body, to->body, NULL, &map, dims));
	to->result_types[0] = x->type;
	assert_valid(m, TN_PROP_TYPED);
	tn_buf_init(&buf);
	tn_print_fn(&buf, to, NULL);
	assert_non_null(strstr(tn_buf_text(&buf), "for i in 0..5 {"));
	assert_non_null(strstr(tn_buf_text(&buf), "ys: f32[5, 3]"));
	assert_non_null(strstr(tn_buf_text(&buf), "i64 = `dim`(value=10);"));
	assert_null(strstr(tn_buf_text(&buf), "S"));

	/* Once more into the same function: names differ, all is valid. */
	tn_graph_remove(to->body->last);
	assert_true(tn_rw_clone(&rw, from->body, to->body, NULL, &map, dims));
	assert_valid(m, TN_PROP_TYPED);
	tn_map_fini(&map);
	tn_buf_fini(&buf);
}

/* A copy of an op that sets a run-time dim sets one of its own. */
static void test_clone_runtime(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_sym sym = {.name = "Z", .lo = 0, .hi = 9, .mod = 1,
			     .is_runtime = true};
	const struct tn_dim *z = tn_dim_new_sym(&m->dims, &sym);
	const struct tn_dim *n = tn_dim_const(&m->dims, 9);
	struct tn_fn *fn = add_fn(m, "f", 1), *to = add_fn(m, "g", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x", f32_of(m, n, NULL));
	struct tn_rw rw = {.module = m, .fuel = -1};
	struct tn_map map;
	struct tn_builder b;
	struct tn_op *op;
	struct tn_buf buf;

	op = tn_graph_op(fn, TN_OP_nonzero, 1, &x, 1, nowhere);
	op->out[0]->type = tn_type_get(m, TN_i64, 1, &z);
	tn_graph_insert(fn->body, op, NULL);
	tn_builder_init(&b, fn->body);
	finish(fn, &b, op->out[0]);
	tn_map_init_ptr(&map);
	tn_map_set(&map, x, tn_graph_param(to->body, "x", x->type));
	assert_true(tn_rw_clone(&rw, fn->body, to->body, NULL, &map, NULL));
	to->result_types[0] = to->body->first->out[0]->type;
	assert_ptr_not_equal(to->result_types[0], fn->result_types[0]);
	tn_buf_init(&buf);
	tn_print_fn(&buf, to, NULL);
	assert_text(&buf, "fn g(x: f32[9]) -> i64[Z__1] {\n"
		    "  dim Z__1 in [0, 9];\n"
		    "  t__0: i64[Z__1] = nonzero(x);\n"
		    "  return t__0;\n}\n");
	tn_buf_fini(&buf);
	tn_map_fini(&map);
}

/* ---- Equality -------------------------------------------------------- */

static void assert_differs(const struct tn_module *a,
			   const struct tn_module *b, const char *part)
{
	struct tn_buf why;

	tn_buf_init(&why);
	assert_false(tn_module_equal(a, b, &why));
	assert_non_null(strstr(tn_buf_text(&why), part));
	tn_buf_fini(&why);
	assert_false(tn_module_equal(b, a, NULL));
}

static void test_equal(void **state)
{
	struct fixture *f = *state;
	struct tn_module *a = f->module;
	struct tn_module *b = tn_module_new(&f->names, &f->sink);
	struct tn_fn *fn;
	struct tn_op *op;

	/* Other numbers of dims and types do not matter. */
	tn_dim_const(&b->dims, 77);
	make_mlp(a);
	make_flow(a);
	fn = make_mlp(b);
	make_flow(b);
	assert_true(tn_module_equal(a, b, NULL));

	op = fn->body->first;
	tn_graph_name(fn, op->out[0], "g");
	assert_differs(a, b, "value 'h' against 'g'");
	tn_graph_name(fn, op->out[0], "h");
	assert_true(tn_module_equal(a, b, NULL));
	*(float *)op->next->literal->data = 2.5f;
	assert_differs(a, b, "constant 't__0'");
	*(float *)op->next->literal->data = 1.5f;
	tn_graph_attr(op->next->next->next, "axis")->u.i = 0;
	assert_differs(a, b, "attributes of 'in':  against axis=0");
	tn_graph_attr(op->next->next->next, "axis")->u.i = 1;
	tn_annots_add(b, &op->annots, "fp", "wide", nowhere);
	assert_differs(a, b, "annotations of 'h'");
	op->annots.count = 0;
	add_item(b, TN_ITEM_TEXT, "c")->u.text = "const c = 1;";
	assert_differs(a, b, "items");
	tn_module_free(b);
}

/* ---- The verifier finds what is broken ------------------------------- */

static void test_faults(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = make_mlp(m);
	struct tn_op *op = fn->body->first;
	struct tn_value *h = op->out[0];
	struct tn_use *uses = h->uses;
	const struct tn_type *type = h->type;
	const char *name = h->name;

	h->uses = NULL;
	assert_fault(m, 0, "not among the uses");
	h->uses = uses;
	h->type = fn->body->params[0]->type;
	assert_valid(m, TN_PROP_TYPED);
	h->type = tn_type_get(m, TN_f32, 0, NULL);
	assert_fault(m, TN_PROP_TYPED, "another type");
	h->type = tn_type_poison(m);
	assert_fault(m, TN_PROP_TYPED, "has failed to check");
	h->type = NULL;
	assert_fault(m, 0, "has no type");
	h->type = type;
	h->name = fn->body->params[0]->name;
	assert_fault(m, 0, "given twice");
	h->name = name;
	tn_graph_set_operand(op, 0, op->next->next->out[0]);
	assert_fault(m, 0, "not defined before its use");
	tn_graph_set_operand(op, 0, fn->body->params[0]);
	assert_fault(m, TN_PROP_KERNELS, "is not a launch");
	assert_fault(m, TN_PROP_PLACED, "has no place");
	op->next->next->next->nattrs--;
	assert_fault(m, 0, "1 attributes");
	op->next->next->next->nattrs++;
	assert_valid(m, TN_PROP_TYPED);
	fn->nresults = 2;
	assert_fault(m, 0, "has 2 results");
	fn->nresults = 1;
	tn_graph_remove(fn->body->last);
	assert_fault(m, 0, "does not end");
}

static void test_region_faults(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = make_flow(m);
	struct tn_op *loop = fn->body->first;
	struct tn_value *inner = loop->regions[0]->first->out[0];
	struct tn_op *user = loop->next->next;

	assert_int_equal(user->code, TN_OP_eq);
	loop->nregions = 0;
	assert_fault(m, 0, "a region is missing");
	loop->nregions = 1;
	loop->regions[0]->nparams = 1;
	assert_fault(m, 0, "has 1 parameters instead of 2");
	loop->regions[0]->nparams = 2;
	assert_valid(m, TN_PROP_TYPED);
	tn_graph_set_operand(user, 0, inner);
	assert_fault(m, 0, "not defined before its use");
}

/* A mistake is reported once and later operators accept the poison. */
static void test_poison(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = add_fn(m, "f", 1);
	const struct tn_dim *two = tn_dim_const(&m->dims, 2);
	const struct tn_dim *three = tn_dim_const(&m->dims, 3);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    f32_of(m, two, NULL));
	struct tn_value *y = tn_graph_param(fn->body, "y",
					    f32_of(m, three, NULL)), *z;
	struct tn_builder b;

	tn_builder_init(&b, fn->body);
	z = tn_build_binary(&b, TN_OP_add, x, y, nowhere);
	assert_true(b.failed);
	assert_int_equal(f->sink.errors, 1);
	assert_true(tn_type_is_poison(z->type));
	z = build_unary(&b, TN_OP_neg, z, nowhere);
	assert_true(tn_type_is_poison(z->type));
	assert_int_equal(f->sink.errors, 1);
	assert_null(build_unary(&b, TN_OP_neg, NULL, nowhere));
}

/* ---- Guards and sizes of buffers ------------------------------------- */

static void test_guards(void **state)
{
	struct tn_guard divides = {.kind = TN_GUARD_DIVIDES};
	struct tn_guard at_most = {.kind = TN_GUARD_LE};

	(void)state;
	assert_true(tn_guard_holds(&divides, 12, 4));
	assert_true(tn_guard_holds(&divides, 0, 4));
	assert_true(tn_guard_holds(&divides, INT64_MIN, -1));
	assert_false(tn_guard_holds(&divides, 13, 4));
	assert_false(tn_guard_holds(&divides, 0, 0));
	assert_true(tn_guard_holds(&at_most, 4, 4));
	assert_false(tn_guard_holds(&at_most, 5, 4));
}

static void test_buffer_sizes(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *q = add_dim(m, "Q", 1, 10);
	const struct tn_dim *four = tn_dim_const(&m->dims, 4);
	const struct tn_dim *dims[2] = {four, four};
	struct tn_kbuf buf = {.dtype = TN_f32, .rank = 2, .dims = dims,
			      .space = TN_SPACE_STACK};
	int64_t n;

	assert_true(tn_kbuf_count(&buf, &n));
	assert_int_equal(n, 16);
	assert_true(tn_kbuf_bytes(&buf, &n));
	assert_int_equal(n, 64);
	assert_true(tn_kbuf_fits(&buf));
	dims[0] = tn_dim_const(&m->dims, INT64_C(4611686018427387905));
	assert_false(tn_kbuf_count(&buf, &n));
	assert_false(tn_kbuf_bytes(&buf, &n));
	assert_false(tn_kbuf_fits(&buf));
	dims[0] = q;
	assert_false(tn_kbuf_count(&buf, &n));
	assert_false(tn_kbuf_fits(&buf));
	buf.space = TN_SPACE_ARENA;
	assert_true(tn_kbuf_fits(&buf));
}

/* ---- Types ----------------------------------------------------------- */

static void test_types(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *b = add_dim(m, "B", 1, 10);
	const struct tn_dim *k = tn_dim_const(&m->dims, 1024), *dims[1];
	const struct tn_type *t = f32_of(m, b, k, NULL), *u;
	struct tn_buf buf;

	assert_ptr_equal(t, f32_of(m, b, k, NULL));
	assert_ptr_not_equal(t, f32_of(m, k, b, NULL));
	assert_ptr_not_equal(t, tn_type_get(m, TN_i32, t->rank,
					      t->dims));
	assert_int_equal(tn_type_max_bytes(m, t), 10 * 1024 * 4);
	assert_false(tn_type_is_static(t));
	dims[0] = k;
	u = tn_type_subst(m, t, dims);
	assert_ptr_equal(u, f32_of(m, k, k, NULL));
	assert_true(tn_type_is_static(u));
	assert_ptr_equal(tn_type_count(m, t), tn_dim_mul(&m->dims, k, b));
	u = tn_type_get_encoded(m, "q8_0", 1, &k);
	assert_ptr_equal(u, tn_type_get_encoded(m, "q8_0", 1, &k));
	tn_buf_init(&buf);
	tn_type_print(&buf, u);
	tn_buf_putc(&buf, ' ');
	tn_type_print(&buf, t);
	assert_text(&buf, "q8_0[1024] f32[B, 1024]");
	tn_buf_fini(&buf);
	dims[0] = NULL;
	assert_null(tn_type_get(m, TN_f32, 1, dims));
	dims[0] = tn_dim_const(&m->dims, INT64_MAX);
	assert_int_equal(tn_type_max_bytes(m, tn_type_get(m, TN_f32, 1, dims)),
			 -1);
}

/* ---- Size ------------------------------------------------------------ */

#define MANY 100000

/* 100,000 ops that wish the same name, all reading one value and the last;
 * quadratic steps would take minutes. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *n = tn_dim_const(&m->dims, 3);
	struct tn_fn *fn = add_fn(m, "deep", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x", f32_of(m, n, NULL));
	struct tn_value *y = x, *z;
	struct tn_rw rw = {.module = m, .fuel = -1};
	struct tn_builder b;
	struct tn_buf buf;
	int i;

	tn_builder_init(&b, fn->body);
	for (i = 0; i < MANY; i++) {
		y = tn_build_binary(&b, TN_OP_add, y, x, nowhere);
		assert_non_null(y);
		assert_true(tn_graph_name(fn, y, "y"));
	}
	finish(fn, &b, y);
	assert_string_equal(y->name, "y__99999");
	assert_int_equal(count_uses(x), MANY + 1);
	tn_buf_init(&buf);
	tn_print_module(&buf, m, NULL);
	assert_false(buf.failed);
	assert_true(buf.len > 30 * (size_t)MANY);
	assert_true(buf.len < 45 * (size_t)MANY);
	tn_buf_fini(&buf);
	assert_valid(m, TN_PROP_TYPED);

	/* All uses move at once; then all ops go, last first. */
	b.before = fn->body->first;
	z = build_unary(&b, TN_OP_neg, x, nowhere);
	tn_graph_replace_uses(x, z);
	tn_graph_set_operand(z->op, 0, x);
	assert_int_equal(count_uses(z), MANY + 1);
	assert_valid(m, TN_PROP_TYPED);
	tn_graph_set_operand(fn->body->last, 0, z);
	while (fn->body->last->prev != z->op)
		tn_rw_erase(&rw, fn->body->last->prev);
	assert_int_equal(count_uses(z), 1);
	assert_valid(m, TN_PROP_TYPED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_print),
		TEST(test_print_options),
		TEST(test_hidden),
		TEST(test_entry),
		TEST(test_names),
		TEST(test_quoting),
		TEST(test_literals),
		TEST(test_surgery),
		TEST(test_flow),
		TEST(test_clone),
		TEST(test_clone_runtime),
		TEST(test_equal),
		TEST(test_faults),
		TEST(test_region_faults),
		TEST(test_poison),
		TEST(test_guards),
		TEST(test_buffer_sizes),
		TEST(test_types),
		TEST(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
