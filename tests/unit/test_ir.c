/*
 * The graph: making, naming, linking, replacing, copying, comparing; and that
 * all of it is linear in 100,000 operators.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "build.h"
#include "ir/kernel.h"
#include "ir/print.h"
#include "ir/rewrite.h"
#include "ir/verify.h"
#include "tests/unit/ir_kit.h"

/* ---- Entry, names ---------------------------------------------------- */

static void test_entry(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *a, *b;

	assert_null(tn_module_entry(m, NULL));
	a = ir_add_fn(m, "a", 0);
	assert_ptr_equal(tn_module_entry(m, NULL), a);
	tn_graph_fn(m, "gelu", TN_FN_INSTANCE);
	assert_ptr_equal(tn_module_entry(m, NULL), a);
	b = ir_add_fn(m, "b", 0);
	assert_null(tn_module_entry(m, NULL));
	assert_ptr_equal(tn_module_entry(m, "b"), b);
	assert_null(tn_module_entry(m, "gelu"));
	/* Left the items: inlined. */
	m->items.len--;
	assert_ptr_equal(tn_module_entry(m, NULL), a);
	b = ir_add_fn(m, "main", 0);
	assert_ptr_equal(tn_module_entry(m, NULL), b);
	/* Without items all functions count. */
	m->items.len = 0;
	assert_ptr_equal(tn_module_entry(m, NULL), b);
}

static void test_names(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = ir_make_mlp(m);
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

/* ---- Surgery --------------------------------------------------------- */


static void keep_line(void *data, const char *line)
{
	tn_buf_putf(data, "%s\n", line);
}

static void test_surgery(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *n = tn_dim_const(&m->dims, 3);
	struct tn_fn *fn = ir_add_fn(m, "f", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    ir_f32_of(m, n, NULL));
	struct tn_rw rw = {.module = m, .pass = "test", .fuel = 2};
	struct tn_value *a, *b, *c, *d;
	struct tn_builder build;
	struct tn_events stream;
	struct tn_buf events;

	tn_buf_init(&events);
	tn_events_init(&stream, keep_line, &events);
	m->events = &stream;
	tn_builder_init(&build, fn->body);
	a = build_unary(&build, TN_OP_neg, x, nowhere);
	tn_graph_name(fn, a, "a");
	b = tn_build_binary(&build, TN_OP_mul, a, a, nowhere);
	c = tn_build_binary(&build, TN_OP_add, b, a, nowhere);
	ir_finish(fn, &build, c);
	assert_int_equal(ir_count_uses(a), 3);
	assert_int_equal(ir_count_uses(x), 1);

	/* a = neg(x) becomes abs(x), which keeps the name. */
	assert_true(tn_rw_spend(&rw, "neg", a->op));
	tn_rw_before(&rw, a->op, &build);
	d = build_unary(&build, TN_OP_abs, x, nowhere);
	tn_rw_replace(&rw, a->op, &d);
	assert_string_equal(d->name, "a");
	assert_true(d->is_named);
	assert_string_equal(d->op->origin, "test");
	assert_int_equal(ir_count_uses(d), 3);
	assert_int_equal(ir_count_uses(x), 1);
	assert_valid(m, TN_PROP_TYPED);

	/* One operand changes; what nobody reads goes. */
	assert_true(tn_rw_spend(&rw, "set", c->op));
	tn_rw_set_operand(&rw, c->op, 0, x);
	tn_rw_erase(&rw, b->op);
	assert_int_equal(ir_count_uses(d), 1);
	assert_false(tn_rw_spend(&rw, "no fuel", c->op));
	assert_int_equal(rw.count, 2);
	assert_valid(m, TN_PROP_TYPED);
	assert_module(m, "tenon 1.0;\n\nfn f(x: f32[3]) -> f32[3] {\n"
		      "  a: f32[3] = abs(x);\n"
		      "  t__1: f32[3] = add(x, a);\n"
		      "  return t__1;\n}\n");
	assert_text(&events,
		    "{\"event\":\"rewrite\",\"pass\":\"test\",\"rule\":\"neg\","
		    "\"fn\":\"f\",\"op\":\"neg\",\"value\":\"a\",\"fuel\":1}\n"
		    "{\"event\":\"rewrite\",\"pass\":\"test\",\"rule\":\"set\","
		    "\"fn\":\"f\",\"op\":\"add\",\"value\":\"t__1\",\"fuel\":0}\n");
	tn_events_fini(&stream);
	tn_buf_fini(&events);
}

/* The epoch moves with each change and with nothing else. */
static void test_epoch(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *n = tn_dim_const(&m->dims, 3);
	struct tn_fn *fn = ir_add_fn(m, "f", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    ir_f32_of(m, n, NULL));
	struct tn_rw rw = {.module = m, .pass = "test", .fuel = 0};
	struct tn_place place = {.kind = TN_PLACE_ARENA};
	struct tn_builder build;
	struct tn_value *a, *b;
	uint64_t epoch;

	tn_builder_init(&build, fn->body);
	a = build_unary(&build, TN_OP_neg, x, nowhere);
	b = build_unary(&build, TN_OP_abs, a, nowhere);
	ir_finish(fn, &build, b);
	epoch = m->epoch;
	assert_valid(m, TN_PROP_TYPED);
	assert_non_null(tn_graph_in(b->op, 0)->name);
	assert_false(tn_rw_spend(&rw, "no fuel", b->op));
	tn_rw_note(&rw, "no change", b->op);
	assert_int_equal(rw.count, 1);
	assert_true(m->epoch == epoch);
	tn_rw_set_operand(&rw, b->op, 0, x);
	assert_true(m->epoch > epoch);
	epoch = m->epoch;
	tn_rw_before(&rw, b->op, &build);
	assert_true(m->epoch == epoch);
	build_unary(&build, TN_OP_exp, x, nowhere);
	assert_true(m->epoch > epoch);
	epoch = m->epoch;
	tn_rw_erase(&rw, a->op);
	assert_true(m->epoch > epoch);
	epoch = m->epoch;
	tn_rw_place(&rw, b, &place);
	assert_true(m->epoch > epoch);
	epoch = m->epoch;
	tn_rw_replace(&rw, b->op, &x);
	assert_true(m->epoch > epoch);
	assert_valid(m, TN_PROP_TYPED);
}

/* Two operators become a function; the literal between them goes along. */
static bool is_literal(const struct tn_value *value)
{
	return value->op && value->op->code == TN_OP_const;
}

static void test_outline(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *n = tn_dim_const(&m->dims, 3);
	struct tn_fn *fn = ir_add_fn(m, "f", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    ir_f32_of(m, n, NULL));
	struct tn_rw rw = {.module = m, .pass = "test", .fuel = -1};
	struct tn_rw_group group = {.name = "f", .kind = "map", .nops = 2,
				    .is_source = is_literal};
	struct tn_builder build;
	struct tn_value *a, *b, *c, *two;
	struct tn_op *ops[2], *call;
	int number = 0;

	tn_builder_init(&build, fn->body);
	two = build_scalar_f64(&build, TN_f32, 2.0, nowhere);
	a = build_unary(&build, TN_OP_neg, x, nowhere);
	b = tn_build_binary(&build, TN_OP_mul, a, two, nowhere);
	tn_graph_name(fn, b, "b");
	c = build_unary(&build, TN_OP_abs, b, nowhere);
	ir_finish(fn, &build, c);
	ops[0] = a->op;
	ops[1] = b->op;
	group.ops = ops;
	group.number = &number;
	call = tn_rw_outline(&rw, &group);
	assert_non_null(call);
	assert_int_equal(number, 1);
	assert_string_equal(call->origin, "test");
	assert_true(tn_graph_in(c->op, 0) == call->out[0]);
	assert_valid(m, TN_PROP_TYPED | TN_PROP_FUSED | TN_PROP_CORE);
	assert_module(m, "tenon 1.0;\n\nfn f(x: f32[3]) -> f32[3] {\n"
		      "  t__0: f32 = 2.0;\n  b: f32[3] = f__f0(x);\n"
		      "  t__2: f32[3] = abs(b);\n  return t__2;\n}\n\n"
		      "@fused(map)\nfn f__f0(x: f32[3]) -> f32[3] {\n"
		      "  t__1: f32[3] = neg(x);\n  t__0: f32 = 2.0;\n"
		      "  b: f32[3] = mul(t__1, t__0);\n  return b;\n}\n");
}

/* ---- Copying --------------------------------------------------------- */

/* Copies flow's body into another function with S = 5. */
static void test_clone(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *from = ir_make_flow(m), *to = ir_add_fn(m, "copy", 1);
	const struct tn_dim *five = tn_dim_const(&m->dims, 5);
	const struct tn_dim *n = tn_dim_const(&m->dims, 3), *dims[1] = {five};
	struct tn_rw rw = {.module = m, .pass = "inline", .fuel = -1};
	struct tn_value *x, *xs;
	struct tn_buf buf;
	struct tn_map map;

	x = tn_graph_param(to->body, "x", ir_f32_of(m, NULL));
	xs = tn_graph_param(to->body, "xs", ir_f32_of(m, n, five, NULL));
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
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_sym sym = {.name = "Z", .lo = 0, .hi = 9, .mod = 1,
			     .is_runtime = true};
	const struct tn_dim *z = tn_dim_new_sym(&m->dims, &sym);
	const struct tn_dim *n = tn_dim_const(&m->dims, 9);
	struct tn_fn *fn = ir_add_fn(m, "f", 1), *to = ir_add_fn(m, "g", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    ir_f32_of(m, n, NULL));
	struct tn_rw rw = {.module = m, .fuel = -1};
	struct tn_map map;
	struct tn_builder b;
	struct tn_op *op;
	struct tn_buf buf;

	op = tn_graph_op(fn, TN_OP_nonzero, 1, &x, 1, nowhere);
	op->out[0]->type = tn_type_get(m, TN_i64, 1, &z);
	tn_graph_insert(fn->body, op, NULL);
	tn_builder_init(&b, fn->body);
	ir_finish(fn, &b, op->out[0]);
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
	struct ir_fixture *f = *state;
	struct tn_module *a = f->module;
	struct tn_module *b = tn_module_new(&f->names, &f->sink);
	struct tn_fn *fn;
	struct tn_op *op;

	/* Other numbers of dims and types do not matter. */
	tn_dim_const(&b->dims, 77);
	ir_make_mlp(a);
	ir_make_flow(a);
	fn = ir_make_mlp(b);
	ir_make_flow(b);
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
	ir_add_item(b, TN_ITEM_TEXT, "c")->u.text = "const c = 1;";
	assert_differs(a, b, "items");
	tn_module_free(b);
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
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *q = ir_add_dim(m, "Q", 1, 10);
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
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *b = ir_add_dim(m, "B", 1, 10);
	const struct tn_dim *k = tn_dim_const(&m->dims, 1024), *dims[1];
	const struct tn_type *t = ir_f32_of(m, b, k, NULL), *u;
	struct tn_buf buf;

	assert_ptr_equal(t, ir_f32_of(m, b, k, NULL));
	assert_ptr_not_equal(t, ir_f32_of(m, k, b, NULL));
	assert_ptr_not_equal(t, tn_type_get(m, TN_i32, t->rank,
					      t->dims));
	assert_int_equal(tn_type_max_bytes(m, t), 10 * 1024 * 4);
	assert_false(tn_type_is_static(t));
	dims[0] = k;
	u = tn_type_subst(m, t, dims);
	assert_ptr_equal(u, ir_f32_of(m, k, k, NULL));
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
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	const struct tn_dim *n = tn_dim_const(&m->dims, 3);
	struct tn_fn *fn = ir_add_fn(m, "deep", 1);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    ir_f32_of(m, n, NULL));
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
	ir_finish(fn, &b, y);
	assert_string_equal(y->name, "y__99999");
	assert_int_equal(ir_count_uses(x), MANY + 1);
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
	assert_int_equal(ir_count_uses(z), MANY + 1);
	assert_valid(m, TN_PROP_TYPED);
	tn_graph_set_operand(fn->body->last, 0, z);
	while (fn->body->last->prev != z->op)
		tn_rw_erase(&rw, fn->body->last->prev);
	assert_int_equal(ir_count_uses(z), 1);
	assert_valid(m, TN_PROP_TYPED);
}

/* ---- Misses ------------------------------------------------------------ */

/* A text that ends the test if anybody reads it. */
static const char *bad_text(void)
{
	return (const char *)(uintptr_t)8;
}

static void test_miss(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_fn *fn = ir_make_mlp(f->module);
	struct tn_op *op = fn->body->last->prev, *other = fn->body->first;
	struct tn_rw rw = { .module = f->module, .pass = "see", .fuel = 0 };
	uint64_t epoch = f->module->epoch;
	struct tn_events events;
	struct tn_buf lines;

	assert_false(tn_rw_is_heard(&rw));
	tn_rw_miss(&rw, "r", op, NULL, "%s", bad_text());
	tn_buf_init(&lines);
	tn_events_init(&events, keep_line, &lines);
	f->module->events = &events;
	assert_true(tn_rw_is_heard(&rw));
	tn_rw_miss(&rw, "r", op, NULL, "it has %d \"parts\"", 3);
	tn_rw_miss(&rw, "r", op, other, "no room");
	f->module->events = NULL;
	assert_text(&lines,
		"{\"event\":\"miss\",\"pass\":\"see\",\"rule\":\"r\","
		"\"fn\":\"mlp\",\"op\":\"sort\",\"value\":\"in\","
		"\"reason\":\"it has 3 \\\"parts\\\"\"}\n"
		"{\"event\":\"miss\",\"pass\":\"see\",\"rule\":\"r\","
		"\"fn\":\"mlp\",\"op\":\"sort\",\"value\":\"in\","
		"\"other_op\":\"matmul\",\"other\":\"h\","
		"\"reason\":\"no room\"}\n");
	assert_int_equal(rw.count, 0);
	assert_int_equal(rw.spent, 0);
	assert_true(f->module->epoch == epoch);
	tn_events_fini(&events);
	tn_buf_fini(&lines);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ir_setup, ir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_entry),
		TEST(test_names),
		TEST(test_surgery),
		TEST(test_epoch),
		TEST(test_outline),
		TEST(test_clone),
		TEST(test_clone_runtime),
		TEST(test_equal),
		TEST(test_guards),
		TEST(test_buffer_sizes),
		TEST(test_types),
		TEST(test_many),
		TEST(test_miss),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
