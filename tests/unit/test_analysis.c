/*
 * Analyses: what they say of order, readers, life and bytes; that they are kept
 * while they hold and no longer; that a false claim is seen and named; and what
 * a target that claims an operator makes `inline` tell.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "build.h"
#include "ir/analysis.h"
#include "ir/rewrite.h"
#include "passes/pass_run.h"
#include "tests/unit/ir_kit.h"

/* The op that makes the value of the name. */
static struct tn_op *op_of(const struct tn_fn *fn, const char *name)
{
	const struct tn_value *value = tn_map_find(&fn->names, name);

	assert_non_null(value);
	return value->op;
}

/* ---- What they say ------------------------------------------------------ */

static void test_order(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_fn *fn = ir_make_flow(f->module);
	struct tn_op *loop = fn->body->first, *later = loop->next;
	struct tn_op *inner = loop->regions[0]->first;
	const struct tn_position *order;
	struct tn_analyses a;

	assert_int_equal(loop->code, TN_OP_for);
	tn_analyses_init(&a, fn);
	order = tn_analyses_order(&a);
	assert_non_null(order);
	assert_int_equal(order[loop->id].step, 1);
	assert_int_equal(order[inner->id].step, 2);
	assert_true(order[loop->id].end > order[inner->id].step);
	assert_int_equal(order[later->id].step, order[loop->id].end + 1);
	assert_int_equal(tn_analyses_steps(&a), order[fn->body->last->id].end);
	assert_true(tn_order_dominates(order, loop, later));
	assert_false(tn_order_dominates(order, later, loop));
	assert_false(tn_order_dominates(order, loop, inner));
	assert_false(tn_order_dominates(order, inner, later));
	assert_true(tn_order_dominates(order, loop,
				       later->regions[0]->first));
	assert_false(tn_order_dominates(order, loop, loop));
	tn_analyses_fini(&a);
}

/* x is read by the loop; what the loop body reads from outside is read until
 * the loop ends. */
static void test_life(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = ir_make_flow(m);
	struct tn_op *loop = fn->body->first, *inner;
	struct tn_value *outside, *x = fn->body->params[0];
	const struct tn_position *order;
	const int64_t *life, *readers;
	struct tn_analyses a;
	struct tn_builder b;

	tn_builder_init(&b, fn->body);
	b.before = loop;
	outside = build_unary(&b, TN_OP_neg, x, nowhere);
	inner = loop->regions[0]->first;
	while (inner->nin == 0 || tn_graph_in(inner, 0)->type != x->type)
		inner = inner->next;
	tn_graph_set_operand(inner, 0, outside);
	tn_analyses_init(&a, fn);
	life = tn_analyses_life(&a);
	readers = tn_analyses_readers(&a);
	order = tn_analyses_order(&a);
	assert_true(life && readers && order);
	assert_int_equal(readers[x->id], 2);
	assert_int_equal(readers[outside->id], 1);
	assert_int_equal(life[x->id], order[loop->id].step);
	assert_int_equal(life[outside->id], order[loop->id].end);
	assert_int_equal(life[fn->body->last->prev->out[0]->id], 0);
	tn_analyses_fini(&a);
}

static void test_bytes(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_fn *fn = ir_make_mlp(f->module);
	struct tn_analyses a;
	const int64_t *bytes;

	tn_analyses_init(&a, fn);
	bytes = tn_analyses_bytes(&a);
	assert_non_null(bytes);
	assert_int_equal(bytes[fn->body->params[0]->id], 256 * 4 * 4);
	assert_int_equal(bytes[op_of(fn, "h")->out[0]->id], 256 * 4 * 4);
	tn_analyses_fini(&a);
}

/* ---- When they hold ------------------------------------------------------ */

static void test_cache(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_fn *fn = ir_make_mlp(f->module);
	const struct tn_position *order;
	struct tn_analyses a;
	bool failed;

	tn_analyses_init(&a, fn);
	assert_int_equal(tn_analyses_known(&a), 0);
	order = tn_analyses_order(&a);
	assert_ptr_equal(order, tn_analyses_order(&a));
	assert_non_null(tn_analyses_readers(&a));
	assert_int_equal(tn_analyses_known(&a),
			 TN_KEEPS(ORDER) | TN_KEEPS(READERS));
	f->module->epoch++;
	assert_int_equal(tn_analyses_known(&a), 0);
	tn_analyses_keep(&a, TN_KEEPS(ORDER));
	assert_int_equal(tn_analyses_known(&a), TN_KEEPS(ORDER));
	assert_ptr_equal(order, tn_analyses_order(&a));
	assert_int_equal(tn_analyses_check(&a, &failed), TN_ANALYSIS_COUNT);
	assert_false(failed);
	tn_analyses_fini(&a);
}

/* An op more, and each analysis that is said to hold is refuted; bytes of a
 * value more are. */
static void test_lies(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_fn *fn = ir_make_mlp(f->module);
	struct tn_value *x = fn->body->params[0];
	struct tn_analyses a;
	struct tn_builder b;
	bool failed;
	int i;

	for (i = 0; i < TN_ANALYSIS_COUNT; i++) {
		tn_analyses_init(&a, fn);
		assert_non_null(tn_analyses_order(&a));
		assert_non_null(tn_analyses_readers(&a));
		assert_non_null(tn_analyses_life(&a));
		assert_non_null(tn_analyses_bytes(&a));
		tn_builder_init(&b, fn->body);
		b.before = fn->body->last;
		assert_non_null(build_unary(&b, TN_OP_neg, x, nowhere));
		tn_analyses_keep(&a, 1u << i);
		assert_int_equal(tn_analyses_check(&a, &failed), i);
		assert_false(failed);
		tn_analyses_fini(&a);
	}
}

static void test_lie_is_named(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_fn *fn = ir_make_mlp(f->module);
	struct tn_analyses a;
	struct tn_pass_context context = {
		.module = f->module, .entry = fn, .analyses = &a
	};
	const struct tn_diag *diag;

	tn_analyses_init(&a, fn);
	assert_non_null(tn_analyses_readers(&a));
	assert_int_equal(tn_pass_check_analyses(&context, "mine"), TN_OK);
	tn_graph_set_operand(fn->body->last, 0, fn->body->params[0]);
	assert_int_equal(tn_pass_check_analyses(&context, "mine"), TN_OK);
	tn_analyses_keep(&a, TN_KEEPS_ALL);
	assert_int_equal(tn_pass_check_analyses(&context, "mine"), TN_BUG);
	diag = tn_vec_ptr(&f->sink.diags, 0);
	assert_string_equal(diag->message, "'mine' says that it keeps the "
			    "analysis 'readers', and does not");
	tn_analyses_fini(&a);
}

/* ---- What a target computes by itself ------------------------------------ */

static bool claims_gelu(const char *name)
{
	return !strcmp(name, "gelu");
}

static void keep_line(void *data, const char *line)
{
	tn_buf_putf(data, "%s\n", line);
}

static void test_claimed(void **state)
{
	static const struct tn_target target = { .claims = claims_gelu };
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *gelu = ir_add_fn(m, "gelu", 1), *fn;
	const struct tn_type *type = ir_f32_of(m, NULL);
	struct tn_rw rw = { .module = m, .pass = "inline", .fuel = -1 };
	struct tn_pass_options options = { .target = &target };
	struct tn_pass_context context = {
		.module = m, .rw = &rw, .options = &options, .target = &target
	};
	struct tn_rw_spot spot;
	struct tn_events events;
	struct tn_value *x;
	struct tn_builder b;
	struct tn_buf lines;
	struct tn_op *call;

	gelu->kind = TN_FN_INSTANCE;
	x = tn_graph_param(gelu->body, "x", type);
	tn_builder_init(&b, gelu->body);
	ir_finish(gelu, &b, build_unary(&b, TN_OP_neg, x, nowhere));
	fn = ir_add_fn(m, "main", 1);
	x = tn_graph_param(fn->body, "x", type);
	spot = (struct tn_rw_spot){ fn->body, NULL };
	call = tn_rw_flow(&rw, &spot, TN_OP_call, 1, &x, nowhere);
	call->callee = gelu;
	tn_builder_init(&b, fn->body);
	ir_finish(fn, &b, tn_rw_result(&rw, call, type, "y"));
	context.entry = fn;
	tn_buf_init(&lines);
	tn_events_init(&events, keep_line, &lines);
	m->events = &events;
	assert_int_equal(tn_pass_inline(&context), TN_PASS_SAME);
	m->events = NULL;
	assert_text(&lines, "{\"event\":\"miss\",\"pass\":\"inline\",\"rule\":"
		    "\"inline\",\"fn\":\"main\",\"op\":\"call\","
		    "\"value\":\"y\",\"origin\":\"inline\",\"reason\":\"the target computes "
		    "gelu by itself\"}\n");
	tn_events_fini(&events);
	tn_buf_fini(&lines);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, ir_setup, ir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_order),
		TEST(test_life),
		TEST(test_bytes),
		TEST(test_cache),
		TEST(test_lies),
		TEST(test_lie_is_named),
		TEST(test_claimed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
