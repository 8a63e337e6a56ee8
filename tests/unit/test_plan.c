/*
 * The memory plan: what lives together lies apart, chains need two buffers,
 * and the independent checker sees every fault put into a sound plan.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ir/graph_edit.h"
#include "ir/verify.h"

#include "plan_kit.h"

static struct tn_interval *interval_at(const struct bench *b, size_t i)
{
	return tn_vec_at(&b->plan.intervals, i);
}

static int64_t *offset_of(struct tn_interval *interval)
{
	return interval->value ? &interval->value->place.offset :
		&interval->launch->scratch;
}

static bool are_together(const struct tn_interval *a,
			 const struct tn_interval *b)
{
	return a->first <= b->last && b->first <= a->last;
}

/* Bytes that nobody wants: an index of a loop that the body does not read,
 * a result without uses. */
static bool is_read(const struct tn_interval *interval)
{
	return !interval->value || interval->value->uses;
}

static bool is_inside(const struct tn_interval *interval,
		      const struct tn_block *region)
{
	const struct tn_block *block;

	block = interval->launch ? interval->launch->block :
		interval->value->op ? interval->value->op->block :
		interval->value->block;
	for (; block; block = block->parent ? block->parent->block : NULL)
		if (block == region)
			return true;
	return false;
}

/* Bytes of a view, for all of it. */
static bool is_bytes_of(const struct tn_value *view,
			const struct tn_value *value)
{
	return view == value || (view->place.kind == TN_PLACE_ALIAS &&
				 view->place.alias == value &&
				 view->place.offset == 0);
}

/* Bytes of a result of an `if` are free in its second branch, and may be those
 * of the value that the branch hands out. */
static bool spares_branch(const struct tn_interval *inner,
			  const struct tn_interval *outer)
{
	const struct tn_op *op = outer->value ? outer->value->op : NULL;
	int i;

	if (!op || op->code != TN_OP_if)
		return false;
	for (i = 0; i < 2; i++)
		if (inner->value &&
		    is_bytes_of(tn_graph_in(op->regions[i]->last,
					    outer->value->index),
				inner->value))
			return true;
	return is_inside(inner, op->regions[1]);
}

/* Whose launch writes the first bytes of the value, as which of its parts. */
static const struct tn_value *first_part(const struct tn_value *value)
{
	while (value && value->op && value->op->code == TN_OP_concat)
		value = tn_graph_in(value->op, 0);
	return value;
}

/* Bytes of a carry are free from its last use in the turn to the end of it, and
 * may be taken in place by that use. */
static bool spares_turn(const struct tn_interval *inner,
			const struct tn_interval *outer)
{
	const struct tn_value *carry = outer->value;
	const struct tn_value *made = first_part(inner->value);
	const struct tn_use *use;

	if (!carry || carry->op || !is_inside(inner, carry->block))
		return false;
	for (use = carry->uses; use; use = use->next)
		if (use->op->number >= inner->first &&
		    !(made && use->op == made->op &&
		      tn_plan_may_take(use->op, carry)))
			return false;
	return true;
}

/* What a loop begins with may lie where its carry does, and where the index
 * is set after it was read. */
static bool spares_start(const struct tn_interval *operand,
			 const struct tn_interval *param)
{
	const struct tn_op *loop;
	int i;

	if (!param->value || param->value->op || !operand->value)
		return false;
	loop = param->value->block->parent;
	i = param->value->index - (loop->code == TN_OP_for);
	return operand->last <= loop->number &&
		(i < 0 || tn_graph_in(loop, i) == operand->value);
}

/* Whether the launch may take the bytes of `value`, which one of its operands
 * is or lies in. */
static bool takes(const struct tn_op *op, const struct tn_value *value)
{
	const struct tn_value *root;
	int i;

	for (i = 0; i < op->nin; i++) {
		root = tn_graph_in(op, i);
		while (root != value && root->place.kind == TN_PLACE_ALIAS)
			root = root->place.alias;
		if (root == value &&
		    tn_plan_may_take(op, tn_graph_in(op, i)))
			return true;
	}
	return false;
}

/* A result may be written over an operand that dies with its launch, if all
 * that the kernel reads there is what the same turn writes. */
static bool spares_operand(const struct tn_interval *operand,
			   const struct tn_interval *result)
{
	const struct tn_op *op = result->value ? result->value->op : NULL;

	return op && op->code == TN_OP_launch && operand->value &&
		operand->last == result->first &&
		operand->bytes == result->bytes && takes(op, operand->value);
}

/* So may the first part of a concatenation, which is made in it. */
static bool spares_part(const struct tn_interval *operand,
			const struct tn_interval *whole)
{
	const struct tn_value *part = first_part(whole->value);

	return part && part != whole->value && operand->value && part->op &&
		part->op->code == TN_OP_launch &&
		operand->last == part->op->number &&
		operand->value->type == part->type &&
		takes(part->op, operand->value);
}

static bool may_share(const struct tn_interval *x,
		      const struct tn_interval *y)
{
	return spares_operand(x, y) || spares_operand(y, x) ||
		spares_part(x, y) || spares_part(y, x) ||
		spares_branch(x, y) || spares_branch(y, x) ||
		spares_turn(x, y) || spares_turn(y, x) ||
		spares_start(x, y) || spares_start(y, x);
}

/* ---- Sound plans ----------------------------------------------------- */

static int64_t taken;	/* buffers written in place */

/* No two buffers alive together share a byte, by the planner's own account
 * and by the checker's, unless one is written in place over the other. */
static void visit_sound(struct bench *b)
{
	const struct tn_interval *x, *y;
	size_t i, k;

	assert_true(bench_is_sound(b));
	for (i = 0; i < b->plan.intervals.len; i++) {
		x = interval_at(b, i);
		assert_int_equal(x->offset % TN_PLACE_ALIGN, 0);
		assert_true(x->offset + x->bytes <= b->plan.size);
		if (x->over) {
			assert_true(x->over->is_taken);
			assert_int_equal(x->over->last, x->first);
			assert_int_equal(x->over->offset, x->offset);
			assert_int_equal(x->over->bytes, x->bytes);
			taken++;
		}
		for (k = 0; k < i; k++) {
			y = interval_at(b, k);
			assert_true(x->over == y || !are_together(x, y) ||
				    x->offset + x->bytes <= y->offset ||
				    y->offset + y->bytes <= x->offset);
		}
	}
	assert_true(b->plan.peak <= b->plan.size);
	assert_true(b->plan.size * 100 <= b->plan.peak * 105);
}

static void test_sound(void **state)
{
	(void)state;
	taken = 0;
	bench_each_plan(visit_sound);
	assert_true(taken > 50);
}

/* Buffers at random: `n` of them over as many steps, some in the bytes of one
 * that ends as they begin. */
static void fill_random(struct tn_plan *plan, int n, uint64_t *seed)
{
	struct tn_interval *x, *y;
	int i;

	tn_vec_init(&plan->intervals, sizeof(*x), NULL);
	plan->steps = 2 * n + 8;
	for (i = 0; i < n; i++) {
		x = tn_vec_push(&plan->intervals);
		assert_non_null(x);
		*seed = *seed * 6364136223846793005u + 1442695040888963407u;
		x->first = i;
		x->last = i + (int64_t)(*seed >> 33) % 9;
		x->bytes = 64 * (1 + (int64_t)(*seed >> 40) % 50);
		x->until = x->last;
	}
	for (i = 1; i < n; i++) {
		x = tn_vec_at(&plan->intervals, (size_t)i);
		y = tn_vec_at(&plan->intervals, (size_t)i - 1);
		if (y->last != x->first || y->is_taken)
			continue;
		x->bytes = y->bytes;
		x->over = y;
		x->home = y->home ? y->home : y;
		x->home->until = x->last;
		y->is_taken = true;
	}
}

static bool share_bytes(const struct tn_interval *x,
			const struct tn_interval *y)
{
	return x->offset < y->offset + y->bytes &&
		y->offset < x->offset + x->bytes;
}

/* Whatever the buffers, none that live together share a byte, the arena holds
 * all, and is no smaller than the peak; and mostly not much larger. */
static void test_random(void **state)
{
	const struct tn_interval *x, *y;
	int round, i, k, n, near = 0;
	struct tn_plan plan;
	uint64_t seed = 7;

	(void)state;
	for (round = 0; round < 300; round++) {
		plan = (struct tn_plan){ 0 };
		n = 1 + round % 60;
		fill_random(&plan, n, &seed);
		assert_true(tn_plan_find_peak(&plan, NULL, &plan.peak,
					      &plan.peak_step));
		assert_true(tn_plan_place(&plan));
		assert_true(plan.size >= plan.peak);
		near += plan.size * 100 <= plan.peak * 105;
		for (i = 0; i < n; i++) {
			x = tn_vec_at(&plan.intervals, (size_t)i);
			assert_true(x->offset >= 0 &&
				    x->offset + x->bytes <= plan.size);
			for (k = 0; k < i; k++) {
				y = tn_vec_at(&plan.intervals, (size_t)k);
				assert_true(x->over == y ||
					    y->last < x->first ||
					    !share_bytes(x, y));
			}
		}
		tn_vec_fini(&plan.intervals);
	}
	assert_true(near >= 280);
}

/* A place of its own behind all others is never a fault. */
static void visit_moved(struct bench *b)
{
	struct tn_interval *x;
	int64_t *offset, before;
	size_t i;

	for (i = 0; i < b->plan.intervals.len; i++) {
		x = interval_at(b, i);
		offset = offset_of(x);
		before = *offset;
		*offset = b->plan.size;
		b->entry->arena_bytes = b->plan.size + x->bytes;
		assert_true(bench_is_sound(b));
		*offset = before;
		b->entry->arena_bytes = b->plan.size;
	}
}

static void test_moved(void **state)
{
	(void)state;
	bench_each_plan(visit_moved);
}

/* Matrix products read what other turns write: two buffers. Maps, and sums
 * along an axis one element after the other, need one. */
static void test_chain(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, "c:generic", "tenon 1.0;\n"
		  "fn main(x: f32[8, 8]) -> (y: f32[8, 8]) {\n"
		  "  a = x @ x;\n  b = a @ x;\n  c = b @ x;\n"
		  "  d = c @ x;\n  y = d @ x;\n  return y;\n}\n");
	assert_int_equal(b.plan.size, 2 * 256);
	assert_int_equal(b.plan.peak, 2 * 256);
	assert_true(bench_is_sound(&b));
	bench_close(&b);
	bench_open(&b, "c:generic", "tenon 1.0;\n"
		  "fn main(x: f32[64]) -> (y: f32[64]) {\n"
		  "  a = cumsum(x, axis=0);\n  b = exp(a);\n"
		  "  c = cumsum(b, axis=0);\n  d = sin(c);\n"
		  "  y = cumsum(d, axis=0);\n  return y;\n}\n");
	assert_int_equal(b.plan.size, 256);
	assert_int_equal(b.plan.peak, 256);
	assert_true(bench_is_sound(&b));
	bench_close(&b);
}

/* ---- In place --------------------------------------------------------- */

/* Whether `name` is planned over operand i; and if not, that the checker sees
 * it when it is put there (given that it has a place in the arena). */
static bool is_over(struct bench *b, const char *name, int i)
{
	struct tn_op *op = bench_op_of(b, name);
	struct tn_value *result = op->out[0];
	const struct tn_value *operand = tn_graph_in(op, i);
	int64_t before = result->place.offset;

	assert_int_equal(result->place.kind, TN_PLACE_ARENA);
	assert_int_equal(operand->place.kind, TN_PLACE_ARENA);
	assert_true(bench_is_sound(b));
	if (before == operand->place.offset)
		return true;
	result->place.offset = operand->place.offset;
	b->entry->arena_bytes = 2 * b->plan.size;
	assert_false(bench_is_sound(b));
	result->place.offset = before;
	b->entry->arena_bytes = b->plan.size;
	return false;
}

/* Kernels by hand: `r = k(a, c)` on arena values; `body` writes r. */
static void open_kernel(struct bench *b, const char *shape, const char *body,
			const char *late)
{
	char text[2048];

	snprintf(text, sizeof text, "tenon 1.0;\ndim N in [0, 8];\n"
		 "fn main(x: f32[%s], z: f32[%s]) -> (y: f32[%s]) {\n"
		 "  a = cumsum(x, axis=0);\n  c = cumsum(z, axis=0);\n"
		 "  r = k(a, c);\n  y = cumsum(r%s, axis=0);\n"
		 "  return y;\n}\n"
		 "kernel k(a: f32[%s] @in, c: f32[%s] @in, r: f32[%s] @out) "
		 "{\n%s}\n", shape, shape, shape, late, shape, shape, shape,
		 body);
	bench_open(b, "c:generic", text);
}

/* Accesses of `a` and whether r may lie over it. */
static const struct {
	const char *shape, *body;
	bool is_over;
} accesses[] = {
	{ "8", "for i in 0..8 { r[i] = a[i] + c[i]; }", true },
	{ "N", "par(threads) i in 0..N { r[i] = a[i] * a[i]; }", true },
	{ "4, N", "for i in 0..N { for j in 0..4 { r[j, i] = a[j, i]; } }",
	  true },
	{ "8", "for i in 0..8 { let v: f32 = a[i]; if v > 0.0 "
	  "{ r[i] = v; } }", true },
	{ "8", "for i in 0..2 { vec j in 0..4 "
	  "{ r[i * 4 + j] = a[i * 4 + j]; } }", true },
	{ "4, 3", "par(grid.x) i in 0..3 { par(block.x) j in 0..4 "
	  "{ if i * 4 + j < 12 { r[(i * 4 + j) // 3, (i * 4 + j) % 3] = "
	  "a[(i * 4 + j) // 3, (i * 4 + j) % 3]; } } }", true },
	/* shifted, turned round, another axis, broadcast */
	{ "8", "for i in 0..7 { r[i] = a[i + 1]; }", false },
	{ "8", "for i in 0..8 { r[i] = a[7 - i]; }", false },
	{ "4, 4", "for i in 0..4 { for j in 0..4 { r[i, j] = a[j, i]; } }",
	  false },
	{ "8", "for i in 0..8 { r[i] = a[0]; }", false },
	/* one reading is right, another is not */
	{ "8", "for i in 0..8 { r[i] = a[i] + a[i // 2]; }", false },
	{ "8", "for i in 0..8 { if a[0] > 0.0 { r[i] = a[i]; } }", false },
	{ "8", "let v: f32 = a[3]; for i in 0..8 { r[i] = a[i] + v; }",
	  false },
	{ "8", "for i in 0..8 { let mut s: f32 = 0.0; for k in 0..8 "
	  "{ s += a[k]; } r[i] = a[i] + s; }", false },
	/* after the store, in a second nest, twice stored */
	{ "8", "for i in 0..8 { r[i] = c[i]; if c[i] > 0.0 "
	  "{ let v: f32 = a[i]; raise(v > 1.0, 1); } }", false },
	{ "8", "for i in 0..8 { r[i] = c[i]; } for i in 0..8 "
	  "{ raise(a[i] > 1.0, 1); }", false },
	{ "8", "for i in 0..8 { r[i] = c[i]; } for i in 0..8 "
	  "{ r[i] = a[i]; }", false },
	{ "8", "for i in 0..8 { r[i] = 0.0; r[i] += a[i]; }", false },
	/* the same element in several turns */
	{ "8", "for i in 0..8 { for j in 0..2 { r[i] = a[i] + c[j]; } }",
	  false },
	{ "8", "for i in 0..4 { for j in 0..4 { r[i + j] = a[i + j]; } }",
	  false },
	{ "8", "for i in 0..8 { r[i // 2] = a[i // 2]; }", false },
	{ "8", "for i in 0..2 { for j in 0..5 { if i * 4 + j < 8 "
	  "{ r[i * 4 + j] = a[i * 4 + j] * 2.0; } } }", false },
	{ "4, 3", "for i in 0..12 { r[i // 4, i % 3] = a[i // 4, i % 3]; }",
	  false }
};

static void test_accesses(void **state)
{
	struct tn_op *op;
	struct bench b;
	bool over;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof accesses / sizeof *accesses; i++) {
		open_kernel(&b, accesses[i].shape, accesses[i].body, "");
		op = bench_op_of(&b, "r");
		over = is_over(&b, "r", 0);
		if (over != accesses[i].is_over)
			print_error("%s\n", accesses[i].body);
		assert_int_equal(over, accesses[i].is_over);
		assert_int_equal(tn_plan_is_pointwise(op->kernel,
						      op->kernel->params[0],
						      op->kernel->params[2]),
				 over);
		assert_int_equal(tn_verify_inplace(op->kernel,
						   op->kernel->params[0],
						   op->kernel->params[2]),
				 over);
		bench_close(&b);
	}
}

/* A value that lives on, is an operand twice, or is another type. */
static void test_living(void **state)
{
	static const char body[] = "for i in 0..8 { r[i] = a[i] + c[7 - i]; }";
	struct tn_op *op;
	struct bench b;

	(void)state;
	open_kernel(&b, "8", body, "");
	assert_true(is_over(&b, "r", 0));
	assert_false(is_over(&b, "r", 1));
	op = bench_op_of(&b, "r");
	tn_graph_set_operand(op, 1, tn_graph_in(op, 0));
	tn_vec_fini(&b.plan.intervals);
	tn_analyses_fini(&b.analyses);
	bench_plan(&b);
	assert_false(is_over(&b, "r", 0));
	bench_close(&b);
	open_kernel(&b, "8", body, " + a");
	assert_false(is_over(&b, "r", 0));
	bench_close(&b);
	bench_open(&b, "c:generic", "tenon 1.0;\n"
		  "fn main(x: f32[8]) -> (y: i32[8]) {\n"
		  "  a = cumsum(x, axis=0);\n  r = bitcast(a, elem=i32);\n"
		  "  y = cumsum(r, axis=0);\n  return y;\n}\n");
	assert_false(is_over(&b, "r", 0));
	bench_close(&b);
}

/* In a loop: what comes from outside is read again by the next turn. */
static void test_turns(void **state)
{
	struct tn_op *loop, *op;
	struct bench b;

	(void)state;
	bench_open(&b, "c:generic", "tenon 1.0;\n"
		  "fn main(x: f32[16]) -> (y: f32[16]) {\n"
		  "  inv = cumsum(x, axis=0);\n"
		  "  y = with (h = x) for i in 0..3 {\n"
		  "    t = exp(inv);\n    u = sin(t);\n"
		  "    yield cumsum(u + h, axis=0);\n  };\n"
		  "  return y;\n}\n");
	loop = bench_op_of(&b, "y");
	assert_int_equal(loop->code, TN_OP_for);
	op = loop->regions[0]->first;
	assert_string_equal(op->out[0]->name, "t");
	assert_int_not_equal(op->out[0]->place.offset,
			     tn_graph_in(op, 0)->place.offset);
	assert_int_equal(op->next->out[0]->place.offset,
			 op->out[0]->place.offset);
	assert_true(bench_is_sound(&b));
	op->out[0]->place.offset = tn_graph_in(op, 0)->place.offset;
	assert_false(bench_is_sound(&b));
	bench_close(&b);
}

/* What a loop reads from outside lives until it ends: only then may `late`
 * take its place. */
static void test_invariant(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, "c:generic", "tenon 1.0;\n"
		  "fn main(x: f32[16]) -> (y: f32[16]) {\n"
		  "  inv = cumsum(x, axis=0);\n"
		  "  y = with (h = x) for i in 0..3 {\n"
		  "    t = cumsum(inv, axis=0);\n"
		  "    u = cumsum(t, axis=0);\n"
		  "    yield cumsum(u, axis=0);\n  };\n"
		  "  return y;\n}\n");
	assert_true(bench_is_sound(&b));
	bench_close(&b);
}

/* ---- Faults ---------------------------------------------------------- */

static int64_t seeded, caught;

/* Each pair that is alive together, put on one place. */
static void visit_overlaps(struct bench *b)
{
	struct tn_interval *x, *y;
	int64_t *offset, before;
	size_t i, k;

	for (i = 0; i < b->plan.intervals.len; i++)
		for (k = 0; k < b->plan.intervals.len; k++) {
			x = interval_at(b, i);
			y = interval_at(b, k);
			if (i == k || !are_together(x, y) || !is_read(x) ||
			    !is_read(y) || may_share(x, y))
				continue;
			offset = offset_of(x);
			before = *offset;
			*offset = *offset_of(y);
			b->entry->arena_bytes = b->plan.size + x->bytes;
			seeded++;
			if (!bench_is_sound(b))
				caught++;
			else
				print_error("'%s' over '%s' was not seen\n",
					    x->value ? x->value->name :
					    "scratch", y->value ?
					    y->value->name : "scratch");
			*offset = before;
			b->entry->arena_bytes = b->plan.size;
		}
	assert_true(bench_is_sound(b));
}

static void test_overlaps(void **state)
{
	(void)state;
	seeded = caught = 0;
	bench_each_plan(visit_overlaps);
	assert_true(seeded > 500);
	assert_int_equal(caught, seeded);
}

/* One wrong place each. */
static void visit_places(struct bench *b)
{
	struct tn_interval *x;
	struct tn_place before;
	int64_t *offset;
	size_t i;

	for (i = 0; i < b->plan.intervals.len; i++) {
		x = interval_at(b, i);
		offset = offset_of(x);
		*offset += 4;
		b->entry->arena_bytes += 64;
		assert_false(bench_is_sound(b));
		*offset -= 4 + 4 * 64;
		if (*offset < 0)
			assert_false(bench_is_sound(b));
		*offset += 4 * 64;
		b->entry->arena_bytes -= 64;
		if (!x->value || !x->value->uses || !x->value->op ||
		    x->value->op->code != TN_OP_launch)
			continue;
		before = x->value->place;
		x->value->place.kind = TN_PLACE_NONE;
		assert_false(bench_is_sound(b));
		x->value->place = before;
		x->value->place.kind = TN_PLACE_INPUT;
		assert_false(bench_is_sound(b));
		x->value->place.kind = TN_PLACE_OUTPUT;
		x->value->place.number = 99;
		assert_false(bench_is_sound(b));
		x->value->place = before;
	}
	if (b->plan.size) {
		b->entry->arena_bytes -= 64;
		assert_false(bench_is_sound(b));
		b->entry->arena_bytes += 64;
	}
	assert_true(bench_is_sound(b));
}

static void test_places(void **state)
{
	(void)state;
	bench_each_plan(visit_places);
}

/* A result buffer that another value takes before the return. */
static void test_outputs(void **state)
{
	struct tn_value *a, *b_value, *view;
	struct tn_op *op;
	struct bench b;

	(void)state;
	bench_open(&b, "c:generic", "tenon 1.0;\n"
		  "fn main(x: f32[8]) -> (a: f32[8], b: f32[8], c: f32[2]) {\n"
		  "  a = exp(x);\n  b = sin(a);\n  d = cumsum(b, axis=0);\n"
		  "  c = cumsum(reshape(d[4:8], [4])[2:4], axis=0);\n"
		  "  return a, b, c;\n}\n");
	op = b.entry->body->last;
	a = tn_graph_in(op, 0);
	b_value = tn_graph_in(op, 1);
	assert_int_equal(a->place.kind, TN_PLACE_OUTPUT);
	assert_int_equal(b_value->place.number, 1);
	assert_true(bench_is_sound(&b));
	b_value->place.number = 0;
	assert_false(bench_is_sound(&b));
	b_value->place.number = 2;
	assert_false(bench_is_sound(&b));
	b_value->place.number = 1;
	view = tn_graph_in(tn_graph_in(op, 2)->op, 0);
	assert_int_equal(view->op->code, TN_OP_slice);
	assert_int_equal(view->place.kind, TN_PLACE_ALIAS);
	view->place.offset = 64;
	assert_false(bench_is_sound(&b));
	view->place.offset = -16;
	assert_false(bench_is_sound(&b));
	bench_close(&b);
}

/* The older value of an update in place must not be read any more. */
static void test_in_place(void **state)
{
	static const char text[] = "tenon 1.0;\n"
		"fn main(x: f32[8], i: i32[2], u: f32[2]) -> "
		"(y: f32[8], z: f32[8]) {\n  a = cumsum(x, axis=0);\n"
		"  y = scatter(a, i, u, axis=0);\n  z = sin(a);\n"
		"  return y, z;\n}\n";
	struct tn_op *op, *update = NULL, *late = NULL;
	struct tn_value *operand;
	struct bench b;
	int i;

	(void)state;
	bench_open(&b, "cuda:sm_80", text);
	for (op = b.entry->body->first; op; op = op->next) {
		if (op->code != TN_OP_launch)
			continue;
		for (i = 0; i < op->kernel->nparams; i++)
			if (op->kernel->params[i]->role == TN_KBUF_INOUT)
				update = op;
		late = op;
	}
	assert_non_null(update);
	assert_true(bench_is_sound(&b));
	assert_int_equal(update->out[0]->place.kind, TN_PLACE_ALIAS);
	operand = update->out[0]->place.alias;
	assert_int_equal(operand->place.kind, TN_PLACE_OUTPUT);
	tn_graph_set_operand(late, 0, operand);
	assert_false(bench_is_sound(&b));
	bench_close(&b);
}

/* Our own faults are told as such, with the code and an exit of its own. */
static void run_bug(struct bench *b, const char *passes,
		    enum tn_code code)
{
	struct tn_sink *sink = b->module->ir->sink;
	const struct tn_diag *diag;

	b->options.verify = true;
	b->options.entry = b->entry;
	assert_int_equal(tn_pipeline_run(b->module->ir, passes, &b->options),
			 TN_BUG);
	assert_true(sink->diags.len > 0);
	diag = tn_vec_ptr(&sink->diags, sink->diags.len - 1);
	assert_int_equal(diag->code, code);
}

static const char small[] = "tenon 1.0;\n"
	"fn main(x: f32[8]) -> (y: f32[8]) {\n  y = exp(x);\n"
	"  return y;\n}\n";

/* A kernel that updates an input: no plan can be sound. */
static void test_unsound(void **state)
{
	struct tn_op *update;
	struct bench b;

	(void)state;
	bench_open(&b, "c:generic", "tenon 1.0;\n"
		  "fn main(x: f32[8]) -> (y: f32[8]) {\n"
		  "  t = exp(x);\n  y = bump(t);\n  return y;\n}\n"
		  "kernel bump(x: f32[8] @inout) {\n"
		  "  for i in 0..8 { x[i] = x[i] + 1.0; }\n}\n");
	update = b.entry->body->last->prev;
	assert_int_equal(update->kernel->params[0]->role, TN_KBUF_INOUT);
	tn_graph_set_operand(update, 0, b.entry->body->params[0]);
	run_bug(&b, "plan", TN_E0862);
	bench_close(&b);
}

/* A function whose result is not what it declares. */
static void test_invalid(void **state)
{
	struct bench b;

	(void)state;
	bench_open(&b, "c:generic", small);
	b.entry->result_types[0] = b.module->ir->poison;
	run_bug(&b, "dce", TN_E0853);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unsound),
		cmocka_unit_test(test_invalid),
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_moved),
		cmocka_unit_test(test_chain),
		cmocka_unit_test(test_accesses),
		cmocka_unit_test(test_living),
		cmocka_unit_test(test_turns),
		cmocka_unit_test(test_invariant),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_overlaps),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_outputs),
		cmocka_unit_test(test_in_place)
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
