/*
 * Positions in written-out code as one base and a constant.
 *
 *   x[((h + (q * 6 + 1)) * 64 + c]   ->   x[(h + q * 6) * 64 + c + 64]
 *
 * In: the indices of an access under written-out loops. Out: the same without
 * what is constant, and that apart. Compilers do not distribute the products
 * themselves, and would keep an address for each copy of the body: with six
 * pixels of a convolution gcc spilled five of them.
 */
#include "backends/emit.h"

#include "base/num.h"

/* rest + offset; no rest: NULL. */
struct part {
	const struct tn_kexpr *rest;
	int64_t offset;
};

static bool is_written_out(void *data, const struct tn_kexpr *e)
{
	const struct tn_emit *emit = data;

	return e->kind == TN_KEXPR_VAR &&
		tn_map_find(&emit->consts, e->var) != NULL;
}

/* The node on other operands; NULL: out of memory. */
static const struct tn_kexpr *remake(struct tn_emit *emit,
				     const struct tn_kexpr *e,
				     const struct tn_kexpr *a,
				     const struct tn_kexpr *b)
{
	const struct tn_kexpr **args;
	struct tn_kexpr *node;

	args = tn_arena_array(&emit->arena, 2, sizeof(*args));
	node = tn_arena_copy(&emit->arena, e, sizeof(*e));
	if (!args || !node) {
		emit->failed = true;
		return NULL;
	}
	args[0] = a;
	args[1] = b;
	node->args = args;
	return node;
}

static struct part part_of(struct tn_emit *emit, const struct tn_kexpr *e);

static struct part product(struct tn_emit *emit, const struct tn_kexpr *e)
{
	struct part whole = { e, 0 }, a = part_of(emit, e->args[0]), r;
	int64_t factor;

	if (!a.rest || a.offset == 0 ||
	    !tn_emit_const(emit, e->args[1], &factor) ||
	    !tn_num_mul(a.offset, factor, &r.offset))
		return whole;
	r.rest = remake(emit, e, a.rest, e->args[1]);
	return r.rest ? r : whole;
}

static struct part part_of(struct tn_emit *emit, const struct tn_kexpr *e)
{
	struct part whole = { e, 0 }, a, b, r;
	bool is_sub = e->code == TN_OP_sub;

	if (tn_emit_const(emit, e, &whole.offset)) {
		whole.rest = NULL;
		return whole;
	}
	whole.offset = 0;
	if (e->kind != TN_KEXPR_OP || !e->is_index || e->nargs != 2)
		return whole;
	if (e->code == TN_OP_mul)
		return product(emit, e);
	if (e->code != TN_OP_add && !is_sub)
		return whole;
	a = part_of(emit, e->args[0]);
	b = part_of(emit, e->args[1]);
	if ((a.offset == 0 && b.offset == 0) || (is_sub && !a.rest) ||
	    !(is_sub ? tn_num_sub(a.offset, b.offset, &r.offset)
		     : tn_num_add(a.offset, b.offset, &r.offset)))
		return whole;
	r.rest = !a.rest ? b.rest : !b.rest ? a.rest :
		remake(emit, e, a.rest, b.rest);
	return r.rest ? r : whole;
}

static const struct tn_kexpr *zero(struct tn_emit *emit)
{
	struct tn_kexpr *e = tn_arena_alloc(&emit->arena, sizeof(*e));

	if (!e) {
		emit->failed = true;
		return NULL;
	}
	e->kind = TN_KEXPR_INT;
	e->dtype = TN_i64;
	return e;
}

bool tn_emit_offset(struct tn_emit *emit, const struct tn_kbuf *buf, int n,
		    const struct tn_kexpr *const *index,
		    const struct tn_kexpr **rest, int64_t *offset)
{
	bool found = false, has_rest = false;
	int64_t stride = 1, more;
	struct part part;
	int i;

	*offset = 0;
	for (i = n - 1; i >= 0; i--) {
		found = found || tn_kexpr_find(index[i], is_written_out, emit);
		part = part_of(emit, index[i]);
		has_rest = has_rest || part.rest;
		rest[i] = part.rest ? part.rest : zero(emit);
		if (!rest[i] || !tn_num_mul(part.offset, stride, &more) ||
		    !tn_num_add(*offset, more, offset))
			return false;
		if (i > 0 && (!tn_dim_is_const(buf->dims[i]) ||
			      !tn_num_mul(stride, buf->dims[i]->value,
					  &stride)))
			return false;
	}
	return found && has_rest && *offset != 0 && *offset != INT64_MIN;
}
