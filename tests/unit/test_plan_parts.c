/*
 * Parts of concatenations in the memory plan: made where they lie in the
 * result, and each fault put into such a plan is seen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ir/graph_edit.h"
#include "ir/view.h"

#include "plan_kit.h"

static int64_t parts;	/* made in place */

static void seed_part(struct bench *b, struct tn_value *part)
{
	const struct tn_place before = part->place;

	part->place.offset += 4;
	assert_false(bench_is_sound(b));
	part->place.offset -= 8;
	assert_false(bench_is_sound(b));
	part->place = before;
	part->place.kind = TN_PLACE_NONE;
	assert_false(bench_is_sound(b));
	part->place = before;
	part->place.alias = b->entry->body->params[0];
	assert_false(bench_is_sound(b));
	part->place = (struct tn_place){ .kind = TN_PLACE_ARENA,
					 .offset = b->plan.size };
	assert_false(bench_is_sound(b));
	part->place = before;
	parts++;
}

/* Where the parts that are made in place lie, and nowhere else. */
static bool seed_parts(void *data, struct tn_op *op)
{
	struct bench *b = data;
	const struct tn_value *root;
	struct tn_value *part;
	int64_t at, from;
	int k;

	if (op->code != TN_OP_concat)
		return true;
	root = tn_place_root(op->out[0], &at);
	for (k = 0; k < op->nin; k++) {
		part = tn_graph_in(op, k);
		if (tn_place_root(part, &from) == root && from == at &&
		    part->op->code == TN_OP_launch)
			seed_part(b, part);
		at += tn_view_part_bytes(op, k);
	}
	return true;
}

static void visit_parts(struct bench *b)
{
	tn_pass_walk(b->entry->body, seed_parts, b);
	assert_true(bench_is_sound(b));
}

static void test_parts(void **state)
{
	(void)state;
	parts = 0;
	bench_each_plan(visit_parts);
	assert_true(parts > 40);
}

/* One in another, and both read late: a kernel made of two, on four steps. */
static const char nested[] = "tenon 1.0;\n"
	"fn main(x: f32[8]) -> (y: f32[16], z: f32[24], e: f32[16]) {\n"
	"  a = cumsum(x, axis=0);\n  b = cumsum(a, axis=0);\n"
	"  c = concat(a, b, axis=0);\n  d = cumsum(b, axis=0);\n"
	"  f = cumsum(c, axis=0);\n"
	"  g = concat(c, d, axis=0);\n  y = cumsum(c, axis=0);\n"
	"  z = cumsum(g, axis=0);\n  e = cumsum(f, axis=0);\n"
	"  return y, z, e;\n}\n";

/* What is put over an older concatenation is seen where that is read. */
static void test_joined(void **state)
{
	struct tn_value *a, *b_value, *c, *f;
	struct tn_op *g;
	struct bench b;

	(void)state;
	bench_open(&b, "c:generic", nested);
	g = bench_op_of(&b, "g");
	c = tn_graph_in(g, 0);
	a = tn_graph_in(c->op, 0);
	b_value = tn_graph_in(c->op, 1);
	assert_int_equal(g->out[0]->place.kind, TN_PLACE_ARENA);
	assert_int_equal(a->place.kind, TN_PLACE_ALIAS);
	assert_int_equal(b_value->place.offset, 32);
	assert_true(a->place.alias == g->out[0]);
	assert_true(c->place.alias == g->out[0]);
	assert_true(bench_is_sound(&b));
	b_value->place.offset = 0;
	a->place.offset = 32;
	assert_false(bench_is_sound(&b));
	b_value->place.offset = 32;
	assert_false(bench_is_sound(&b));
	a->place.offset = 0;
	c->place.offset = 32;
	assert_false(bench_is_sound(&b));
	c->place.offset = 0;
	assert_true(bench_is_sound(&b));
	f = bench_op_of(&b, "f")->out[0];
	tn_graph_set_operand(g, 0, f);
	assert_false(bench_is_sound(&b));
	tn_graph_set_operand(bench_op_of(&b, "y"), 0, f);
	assert_true(bench_is_sound(&b));
	tn_graph_set_operand(bench_op_of(&b, "y"), 0, c);
	tn_graph_set_operand(g, 0, c);
	assert_true(bench_is_sound(&b));
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_joined)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
