/*
 * The independent checker of the memory plan.
 *
 * In: a placed entry. It runs the function in the abstract: every write of an
 * op stamps the bytes it covers with the buffer's name, every read demands
 * that its bytes still carry the stamp. Loops run twice, so that what the
 * second turn reads is seen. It shares no code with the planner.
 *
 * The stamps are kept as disjoint stretches sorted by offset.
 */
#include "passes/plan.h"

#include <string.h>

#include "ir/kernel.h"

struct stretch {
	int64_t from, to;
	const struct tn_value *owner;	/* NULL: scratch, readable by nobody */
};

struct checker {
	const struct tn_fn *fn;
	struct tn_vec stretches;
	struct tn_buf *faults;
	bool good;
};

static struct stretch *at(const struct checker *c, size_t i)
{
	return tn_vec_at(&c->stretches, i);
}

/* First stretch that ends after `offset`. */
static size_t find(const struct checker *c, int64_t offset)
{
	size_t lo = 0, hi = c->stretches.len, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (at(c, mid)->to > offset)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Replaces stretches [i, j) by the `n` at `with`. */
static void splice(struct checker *c, size_t i, size_t j,
		   const struct stretch *with, size_t n)
{
	size_t tail = c->stretches.len - j;

	while (c->stretches.len < i + n + tail)
		if (!tn_vec_push(&c->stretches)) {
			c->good = false;
			return;
		}
	memmove(at(c, 0) + i + n, at(c, 0) + j, tail * sizeof *with);
	memcpy(at(c, 0) + i, with, n * sizeof *with);
	c->stretches.len = i + n + tail;
}

static void stamp(struct checker *c, int64_t from, int64_t to,
		  const struct tn_value *owner)
{
	struct stretch with[3];
	size_t i = find(c, from), j = i, n = 0;

	if (i < c->stretches.len && at(c, i)->from < from) {
		with[n] = *at(c, i);
		with[n++].to = from;
	}
	with[n].from = from;
	with[n].to = to;
	with[n++].owner = owner;
	while (j < c->stretches.len && at(c, j)->from < to)
		j++;
	if (j > i && at(c, j - 1)->to > to) {
		with[n] = *at(c, j - 1);
		with[n++].from = to;
	}
	splice(c, i, j, with, n);
}

static const struct tn_value *root_of(const struct tn_value *value)
{
	while (value->place.kind == TN_PLACE_ALIAS)
		value = value->place.alias;
	return value;
}

static void write_value(struct checker *c, const struct tn_value *value)
{
	const struct tn_value *root = root_of(value);

	if (root->place.kind == TN_PLACE_NONE) {
		c->good = false;
		tn_buf_putf(c->faults, "'%s' has no place\n", value->name);
	}
	if (root->place.kind != TN_PLACE_ARENA)
		return;
	if (root->place.offset < 0 || root->place.offset +
	    root->place.bytes > c->fn->arena_bytes) {
		c->good = false;
		tn_buf_putf(c->faults, "'%s' leaves the arena\n",
			    value->name);
	}
	stamp(c, root->place.offset, root->place.offset + root->place.bytes,
	      root);
}

static void read_value(struct checker *c, const struct tn_value *value,
		       const struct tn_op *op)
{
	const struct tn_value *root = root_of(value);
	int64_t end;
	size_t i;

	if (root->place.kind != TN_PLACE_ARENA)
		return;
	end = root->place.offset + root->place.bytes;
	for (i = find(c, root->place.offset); i < c->stretches.len; i++) {
		if (at(c, i)->from >= end)
			break;
		if (at(c, i)->owner == root)
			continue;
		c->good = false;
		tn_buf_putf(c->faults,
			    "'%s' is read by %s after '%s' took its bytes\n",
			    value->name, tn_ops[op->code].name,
			    at(c, i)->owner ? at(c, i)->owner->name :
			    "a kernel's scratch");
		return;
	}
}

static void run_block(struct checker *c, const struct tn_block *block);

static void run_loop(struct checker *c, const struct tn_op *op)
{
	const struct tn_block *body = op->regions[op->nregions - 1];
	int turn, i;

	for (i = 0; i < body->nparams; i++)
		write_value(c, body->params[i]);
	for (turn = 0; turn < 2; turn++) {
		for (i = 0; i < op->nregions; i++)
			run_block(c, op->regions[i]);
		for (i = 0; i < body->last->nin; i++)
			read_value(c, tn_graph_in(body->last, i), body->last);
		if (op->code == TN_OP_for)
			read_value(c, body->params[0], op);
		for (i = op->code == TN_OP_for; i < body->nparams; i++)
			write_value(c, body->params[i]);
	}
}

static void run_op(struct checker *c, const struct tn_op *op)
{
	int i;

	for (i = 0; i < op->nin; i++)
		read_value(c, tn_graph_in(op, i), op);
	if (op->code == TN_OP_for || op->code == TN_OP_while) {
		run_loop(c, op);
		return;
	}
	for (i = 0; i < op->nregions; i++)
		run_block(c, op->regions[i]);
	if (op->nout == 1 && op->out[0]->place.kind == TN_PLACE_ALIAS &&
	    op->code != TN_OP_launch)
		return;
	if (op->code == TN_OP_launch && op->kernel->scratch_bytes)
		stamp(c, op->scratch, op->scratch +
		      op->kernel->scratch_bytes, NULL);
	for (i = 0; i < op->nout; i++)
		write_value(c, op->out[i]);
	for (i = 0; op->code == TN_OP_launch && i < op->nin; i++)
		read_value(c, tn_graph_in(op, i), op);
}

static void run_block(struct checker *c, const struct tn_block *block)
{
	const struct tn_op *op;

	for (op = block->first; op; op = op->next)
		run_op(c, op);
}

bool tn_plan_check(const struct tn_fn *fn, struct tn_buf *faults)
{
	struct checker c = { .fn = fn, .faults = faults, .good = true };

	tn_vec_init(&c.stretches, sizeof(struct stretch), NULL);
	run_block(&c, fn->body);
	tn_vec_fini(&c.stretches);
	return c.good;
}
