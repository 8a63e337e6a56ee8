/*
 * The verifier finds what is broken, at any depth; a mistake that was reported
 * is not reported again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "build.h"
#include "ir/verify.h"
#include "tests/unit/ir_kit.h"

static void test_faults(void **state)
{
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = ir_make_mlp(m);
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
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = ir_make_flow(m);
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
	struct ir_fixture *f = *state;
	struct tn_module *m = f->module;
	struct tn_fn *fn = ir_add_fn(m, "f", 1);
	const struct tn_dim *two = tn_dim_const(&m->dims, 2);
	const struct tn_dim *three = tn_dim_const(&m->dims, 3);
	struct tn_value *x = tn_graph_param(fn->body, "x",
					    ir_f32_of(m, two, NULL));
	struct tn_value *y = tn_graph_param(fn->body, "y",
					    ir_f32_of(m, three, NULL)), *z;
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, ir_setup, ir_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_faults),
		TEST(test_region_faults),
		TEST(test_poison),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
