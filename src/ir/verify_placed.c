/*
 * The verifier of the property PLACED, and so of every memory plan.
 *
 * In: a placed function. It runs the function in the abstract, in the order in
 * which a back end does: every write stamps the bytes it covers with the
 * value that they now hold, every read demands that all its bytes still carry
 * that stamp. It shares no code with the planner (passes/plan.c).
 *
 *   spaces   the arena, then the caller's buffer of each result. Inputs,
 *            weights and constants may not be written at all.
 *   stamps   disjoint stretches of a space, sorted by offset. A view carries
 *            the stamp of what it views; a result in place stamps the bytes
 *            anew, so that a late read of the older value is seen.
 *   joins    a concatenation may be the bytes of its parts: each lies where it
 *            stands in it, or is copied there. The whole then carries the stamp
 *            of the result; a part is still there, and so is an older
 *            concatenation of some of them: what a stamp says of an address is
 *            followed down to the part that was written there.
 *   in place a launch may write a result over an operand if its kernel is
 *            proved to read there what the same turn writes
 *            (verify_inplace.c).
 *   loops    are run once. A second turn begins in the state in which the
 *            first one ended, so what the turn read from outside must still
 *            be there at its end; such reads are logged.
 */
#include "ir/verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ir/kernel.h"

struct stretch {
	int64_t from, to;
	const void *owner;	/* the value; of scratch the launch */
};

enum { ARENA = 0, READ_ONLY = -1, NOWHERE = -2 };

/* Bytes of a value: a stretch of one space. */
struct extent {
	int space;		/* ARENA, 1 + the result's number, READ_ONLY */
	int64_t from, to;
	const struct tn_value *owner;
};

struct checker {
	const struct tn_fn *fn;
	struct tn_vec *spaces;	/* each: struct stretch */
	int nspaces;
	struct tn_map joined;	/* concatenations run so far */
	struct tn_vec reads;	/* const struct tn_value *: of open loops */
	int loops;		/* open */
	struct tn_buf *faults;
	bool good, failed;
};

static void fault(struct checker *c, const struct tn_value *value,
		  const char *what)
{
	c->good = false;
	tn_buf_putf(c->faults, "'%s' %s\n", value->name, what);
}

/* ---- Stretches ------------------------------------------------------- */

static struct stretch *at(const struct tn_vec *space, size_t i)
{
	return tn_vec_at(space, i);
}

/* First stretch that ends after `offset`. */
static size_t find(const struct tn_vec *space, int64_t offset)
{
	size_t lo = 0, hi = space->len, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (at(space, mid)->to > offset)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* Replaces stretches [i, j) by the `n` at `with`. */
static bool splice(struct tn_vec *space, size_t i, size_t j,
		   const struct stretch *with, size_t n)
{
	size_t tail = space->len - j, len = i + n + tail;
	struct stretch *base;

	while (space->len < len)
		if (!tn_vec_push(space))
			return false;
	base = space->data;
	memmove(base + i + n, base + j, tail * sizeof(*with));
	memcpy(base + i, with, n * sizeof(*with));
	space->len = len;
	return true;
}

static void stamp(struct checker *c, int number, int64_t from, int64_t to,
		  const void *owner)
{
	struct tn_vec *space = &c->spaces[number];
	struct stretch with[3];
	size_t i = find(space, from), j = i, n = 0;

	if (i < space->len && at(space, i)->from < from) {
		with[n] = *at(space, i);
		with[n++].to = from;
	}
	with[n].from = from;
	with[n].to = to;
	with[n++].owner = owner;
	while (j < space->len && at(space, j)->from < to)
		j++;
	if (j > i && at(space, j - 1)->to > to) {
		with[n] = *at(space, j - 1);
		with[n++].from = to;
	}
	if (!splice(space, i, j, with, n))
		c->failed = true;
}

/* ---- Values ---------------------------------------------------------- */

/* The value whose bytes a view shows, or a loop hands out; an update in place
 * is its own, and so is what is joined of parts. */
static const struct tn_value *version_of(const struct tn_value *value)
{
	const struct tn_op *op;

	while (value->place.kind == TN_PLACE_ALIAS) {
		op = value->op;
		if (op && (op->code == TN_OP_launch ||
			   op->code == TN_OP_concat))
			break;
		if (op && tn_op_has(op->code, TN_FLAG_VIEW))
			value = tn_graph_in(op, 0);
		else
			value = value->place.alias;
	}
	return value;
}

static int space_of(const struct checker *c, const struct tn_value *root)
{
	switch (root->place.kind) {
	case TN_PLACE_ARENA:
		return ARENA;
	case TN_PLACE_OUTPUT:
		if (root->place.number < 0 ||
		    root->place.number + 1 >= c->nspaces)
			break;
		return root->place.number + 1;
	case TN_PLACE_INPUT:
	case TN_PLACE_WEIGHT:
		return READ_ONLY;
	case TN_PLACE_NONE:
	case TN_PLACE_ALIAS:
		break;
	}
	return NOWHERE;
}

/* Where the value lies; what is wrong with that, or NULL. Sizes are the worst
 * case of the type, not what the planner noted. */
static const char *find_extent(const struct checker *c,
			       const struct tn_value *value,
			       struct extent *extent)
{
	int64_t bytes = tn_type_max_bytes(c->fn->module, value->type);
	int64_t whole, offset = 0;
	const struct tn_value *root = value;

	for (; root->place.kind == TN_PLACE_ALIAS; root = root->place.alias)
		offset += root->place.offset;
	whole = tn_type_max_bytes(c->fn->module, root->type);
	extent->owner = version_of(value);
	extent->space = space_of(c, root);
	if (extent->space == NOWHERE)
		return "has no place";
	if (bytes < 0 || whole < 0 || offset < 0 || offset > whole)
		return "begins outside the bytes that it views";
	if (bytes > whole - offset)
		bytes = whole - offset;
	if (extent->space == ARENA)
		offset += root->place.offset;
	extent->from = offset;
	extent->to = offset + bytes;
	if (extent->space != ARENA)
		return NULL;
	if (root->place.offset < 0 || extent->to > c->fn->arena_bytes)
		return "leaves the arena";
	return root->place.offset % TN_PLACE_ALIGN ? "is not aligned" : NULL;
}

/* The same; false after a fault. */
static bool locate(struct checker *c, const struct tn_value *value,
		   struct extent *extent)
{
	const char *what = find_extent(c, value, extent);

	if (what)
		fault(c, value, what);
	return !what;
}

/* ---- Parts ------------------------------------------------------------ */

/* The part of a concatenation that stands at the address, *to no more than its
 * end; NULL: it was copied there. */
static const struct tn_value *part_at(const struct checker *c,
				      const struct tn_value *whole,
				      int64_t address, int64_t *to)
{
	const struct tn_op *op = whole->op;
	struct extent all, part;
	int64_t at;
	int k;

	if (find_extent(c, whole, &all))
		return NULL;
	for (k = 0, at = all.from; k < op->nin; k++) {
		int64_t bytes = tn_type_max_bytes(c->fn->module,
						  tn_graph_in(op, k)->type);

		if (address >= at + bytes) {
			at += bytes;
			continue;
		}
		if (*to > at + bytes)
			*to = at + bytes;
		if (find_extent(c, tn_graph_in(op, k), &part) ||
		    part.space != all.space || part.from != at)
			return NULL;
		return part.owner;
	}
	return NULL;
}

/* What was written at the address to be the owner's bytes, or `end` if that
 * comes first on the way; *to: it goes no further. */
static const void *writer(const struct checker *c, const void *owner,
			  const void *end, int64_t address, int64_t *to)
{
	const struct tn_value *whole, *part;

	while (owner != end) {
		whole = tn_map_find(&c->joined, owner);
		part = whole ? part_at(c, whole, address, to) : NULL;
		if (!part)
			break;
		owner = part;
	}
	return owner;
}

/* True if bytes [from, to) stamped `holder` are those that `owner` has there. */
static bool shows(const struct checker *c, const void *holder,
		  const void *owner, int64_t from, int64_t to)
{
	const void *a;
	int64_t end;

	for (; from < to; from = end) {
		end = to;
		a = writer(c, holder, owner, from, &end);
		if (a != owner && a != writer(c, owner, a, from, &end))
			return false;
	}
	return true;
}

/* Who holds a byte of the extent that is not its owner's; NULL: nobody. A gap
 * counts as `nobody`. */
static const void *intruder(const struct checker *c,
			    const struct extent *extent, const void *nobody)
{
	const struct tn_vec *space = &c->spaces[extent->space];
	const struct stretch *held;
	int64_t from = extent->from, to;
	size_t i;

	for (i = find(space, from); from < extent->to; i++, from = to) {
		if (i == space->len || at(space, i)->from > from)
			return nobody;
		held = at(space, i);
		to = held->to < extent->to ? held->to : extent->to;
		if (held->owner != extent->owner &&
		    !shows(c, held->owner, extent->owner, from, to))
			return held->owner;
	}
	return NULL;
}

/* ---- Reads and writes ------------------------------------------------- */

static void write_value(struct checker *c, const struct tn_value *value)
{
	struct extent extent;

	if (!locate(c, value, &extent))
		return;
	if (extent.space == READ_ONLY)
		fault(c, value, "is written into an input or a weight");
	else if (extent.from < extent.to)
		stamp(c, extent.space, extent.from, extent.to, extent.owner);
}

/* Demands that the bytes are still the value's when `op` wants them. */
static void hold_value(struct checker *c, const struct tn_value *value,
		       const struct tn_op *op)
{
	struct extent extent;
	const void *by;

	if (!locate(c, value, &extent) || extent.space == READ_ONLY)
		return;
	by = intruder(c, &extent, value);
	if (!by)
		return;
	c->good = false;
	tn_buf_putf(c->faults, "'%s' is read by %s", value->name,
		    tn_ops[op->code].name);
	if (by == value)
		tn_buf_put(c->faults, " before it is written\n");
	else if (by == op)
		tn_buf_put(c->faults, " after its scratch took its bytes\n");
	else
		tn_buf_put(c->faults, " after its bytes were taken\n");
}

static void read_value(struct checker *c, const struct tn_value *value,
		       const struct tn_op *op)
{
	hold_value(c, value, op);
	if (c->loops && !tn_vec_push_ptr(&c->reads, version_of(value)))
		c->failed = true;
}

/* `from` is copied into the bytes of `to`, unless they are the same. */
static void copy_value(struct checker *c, const struct tn_value *from,
		       const struct tn_value *to, const struct tn_op *op)
{
	read_value(c, from, op);
	write_value(c, to);
}

/* ---- Operators ------------------------------------------------------- */

static void run_block(struct checker *c, const struct tn_block *block);

static bool is_inside(const struct tn_value *value, const struct tn_op *loop)
{
	const struct tn_block *block = value->op ? value->op->block :
		value->block;

	for (; block && block->parent; block = block->parent->block)
		if (block->parent == loop)
			return true;
	return false;
}

/* What the turn read from outside is there for the next one; it stays in the
 * log for the loops around. */
static void end_turn(struct checker *c, const struct tn_op *loop, size_t mark)
{
	const struct tn_value *value;
	struct tn_map seen;
	size_t i, n = mark;

	tn_map_init_ptr(&seen);
	for (i = mark; i < c->reads.len; i++) {
		value = tn_vec_ptr(&c->reads, i);
		if (is_inside(value, loop) || tn_map_has(&seen, value))
			continue;
		if (!tn_map_set(&seen, value, c))
			c->failed = true;
		hold_value(c, value, loop);
		*(const struct tn_value **)tn_vec_at(&c->reads, n++) = value;
	}
	c->reads.len = n;
	tn_map_fini(&seen);
}

static void run_loop(struct checker *c, const struct tn_op *op)
{
	const struct tn_block *body = op->regions[op->nregions - 1];
	int skip = op->code == TN_OP_for, i;
	size_t mark;

	for (i = 0; i < op->nin; i++)
		copy_value(c, tn_graph_in(op, i), body->params[i + skip], op);
	mark = c->reads.len;
	c->loops++;
	if (skip)
		write_value(c, body->params[0]);
	for (i = 0; i < op->nregions; i++)
		run_block(c, op->regions[i]);
	for (i = 0; i < body->last->nin; i++)
		copy_value(c, tn_graph_in(body->last, i),
			   body->params[i + skip], body->last);
	for (i = skip; i < body->nparams; i++)
		hold_value(c, body->params[i], op);
	end_turn(c, op, mark);
	c->loops--;
	if (!c->loops)
		c->reads.len = 0;
}

static void run_if(struct checker *c, const struct tn_op *op)
{
	const struct tn_op *end;
	int i, k;

	read_value(c, tn_graph_in(op, 0), op);
	for (k = 0; k < op->nregions; k++) {
		run_block(c, op->regions[k]);
		end = op->regions[k]->last;
		for (i = 0; i < end->nin; i++)
			copy_value(c, tn_graph_in(end, i), op->out[i], end);
		for (i = 0; i < op->nout; i++)
			hold_value(c, op->out[i], end);
	}
}

/* The parameter of result r. */
static const struct tn_kbuf *param_of(const struct tn_op *op, int r)
{
	const struct tn_kernel *kernel = op->kernel;
	int i;

	for (i = 0; i < kernel->nparams; i++)
		if (kernel->params[i]->role != TN_KBUF_IN && r-- == 0)
			return kernel->params[i];
	return NULL;
}

/* True if a result of the launch was written over the operand, the same bytes
 * from the first to the last, and the kernel's text allows that. */
static bool is_in_place(struct checker *c, const struct tn_op *op,
			const struct tn_value *operand,
			const struct tn_kbuf *param)
{
	struct extent from, to;
	int r;

	if (!locate(c, operand, &from))
		return false;
	for (r = 0; r < op->nout; r++)
		if (locate(c, op->out[r], &to) && from.space == to.space &&
		    from.from == to.from && from.to == to.to &&
		    from.space != READ_ONLY &&
		    operand->type == op->out[r]->type && param_of(op, r) &&
		    tn_verify_inplace(op->kernel, param, param_of(op, r)))
			return true;
	return false;
}

/* An operand is there until the launch ends, or is overwritten in place. */
static void hold_operands(struct checker *c, const struct tn_op *op)
{
	const struct tn_kernel *kernel = op->kernel;
	int k, in = 0;

	for (k = 0; k < kernel->nparams; k++) {
		if (kernel->params[k]->role == TN_KBUF_IN &&
		    !is_in_place(c, op, tn_graph_in(op, in),
				 kernel->params[k]))
			hold_value(c, tn_graph_in(op, in), op);
		in += kernel->params[k]->role != TN_KBUF_OUT;
	}
}

/* A part that does not lie at [from, ..) of the result is copied there; false
 * after a fault. */
static bool join_part(struct checker *c, const struct tn_op *op,
		      const struct tn_value *part, const struct extent *all,
		      int64_t *from)
{
	struct extent extent;
	int64_t at = *from;

	read_value(c, part, op);
	if (!locate(c, part, &extent))
		return false;
	*from += extent.to - extent.from;
	if (extent.from == at && extent.space == all->space)
		return true;
	if (*from > all->to || at == *from)
		return *from <= all->to;
	stamp(c, all->space, at, *from, op->out[0]);
	hold_value(c, part, op);
	return true;
}

/* Each part is in its place, and stays there while the others are copied. */
static void run_concat(struct checker *c, const struct tn_op *op)
{
	const struct tn_value *whole = op->out[0];
	struct extent all;
	int64_t from;
	int i;

	if (!locate(c, whole, &all))
		return;
	if (all.space == READ_ONLY) {
		fault(c, whole, "is written into an input or a weight");
		return;
	}
	for (i = 0, from = all.from; i < op->nin; i++)
		if (!join_part(c, op, tn_graph_in(op, i), &all, &from))
			return;
	if (from != all.to)
		fault(c, whole, "is not as large as its parts");
	for (i = 0; i < op->nin; i++)
		hold_value(c, tn_graph_in(op, i), op);
	if (from != all.to || from == all.from)
		return;
	stamp(c, all.space, all.from, all.to, whole);
	if (!tn_map_set(&c->joined, whole, (void *)(uintptr_t)whole))
		c->failed = true;
}

/* Operands, results and scratch are all in use together. */
static void run_launch(struct checker *c, const struct tn_op *op)
{
	int64_t scratch = op->kernel->scratch_bytes;
	int i;

	for (i = 0; i < op->nin; i++)
		read_value(c, tn_graph_in(op, i), op);
	for (i = 0; i < op->nout; i++)
		write_value(c, op->out[i]);
	if (scratch && (op->scratch < 0 || op->scratch % TN_PLACE_ALIGN ||
			op->scratch > c->fn->arena_bytes - scratch)) {
		c->good = false;
		tn_buf_putf(c->faults, "the scratch of '%s' leaves the "
			    "arena\n", op->kernel->name);
	} else if (scratch) {
		stamp(c, 0, op->scratch, op->scratch + scratch, op);
	}
	for (i = 0; i < op->nout; i++)
		hold_value(c, op->out[i], op);
	hold_operands(c, op);
}

/* Results that are not in their buffer yet are copied, one after another;
 * then all are there. */
static void run_return(struct checker *c, const struct tn_op *op)
{
	const struct tn_value *value;
	struct extent extent;
	int i;

	for (i = 0; i < op->nin; i++) {
		value = tn_graph_in(op, i);
		read_value(c, value, op);
		if (locate(c, value, &extent) && extent.from < extent.to &&
		    !(extent.space == i + 1 && extent.from == 0))
			stamp(c, i + 1, 0, extent.to - extent.from, value);
	}
	for (i = 0; i < op->nin; i++) {
		value = tn_graph_in(op, i);
		if (locate(c, value, &extent) && extent.space == i + 1 &&
		    extent.from == 0)
			hold_value(c, value, op);
	}
}

static void run_op(struct checker *c, const struct tn_op *op)
{
	int i;

	switch ((int)op->code) {
	case TN_OP_launch:
		run_launch(c, op);
		break;
	case TN_OP_concat:
		run_concat(c, op);
		break;
	case TN_OP_for:
	case TN_OP_while:
		run_loop(c, op);
		break;
	case TN_OP_if:
		run_if(c, op);
		break;
	case TN_OP_return:
		run_return(c, op);
		break;
	default:
		for (i = 0; i < op->nin &&
		     !tn_op_has(op->code, TN_FLAG_VIEW); i++)
			read_value(c, tn_graph_in(op, i), op);
		break;
	}
}

static void run_block(struct checker *c, const struct tn_block *block)
{
	const struct tn_op *op;

	for (op = block->first; op; op = op->next)
		run_op(c, op);
}

bool tn_verify_placed(const struct tn_fn *fn, struct tn_buf *faults)
{
	struct checker c = { .fn = fn, .faults = faults, .good = true };
	int i;

	c.nspaces = fn->body->last->nin + 1;
	c.spaces = calloc((size_t)c.nspaces, sizeof(*c.spaces));
	if (!c.spaces)
		return false;
	for (i = 0; i < c.nspaces; i++)
		tn_vec_init(&c.spaces[i], sizeof(struct stretch), NULL);
	tn_map_init_ptr(&c.joined);
	tn_vec_init(&c.reads, sizeof(struct tn_value *), NULL);
	run_block(&c, fn->body);
	tn_map_fini(&c.joined);
	tn_vec_fini(&c.reads);
	for (i = 0; i < c.nspaces; i++)
		tn_vec_fini(&c.spaces[i]);
	free(c.spaces);
	if (c.failed)
		tn_buf_clear(faults);
	return c.good && !c.failed;
}
