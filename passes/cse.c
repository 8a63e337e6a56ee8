/*
 * cse: equal operators are computed once.
 *
 * Two ops are equal when opcode, operands, attributes, annotations, result
 * types and, for constants, bits agree; of results one may be annotated and the
 * other not. A region sees what its outer blocks
 * computed; what a region computed is forgotten when it ends.
 */
#include "passes/pass.h"

#include <stdlib.h>
#include <string.h>

struct seen {
	uint64_t hash;
	struct tn_op *op;
	uint32_t next;		/* in the bucket, number + 1 */
};

struct table {
	struct tn_rw *rw;
	struct tn_vec seen;	/* struct seen, a stack */
	uint32_t *buckets;	/* number + 1 of the newest */
	size_t nbuckets;
	bool changed;
};

static bool is_pure(const struct tn_op *op)
{
	const struct tn_op_info *info = &tn_ops[op->code];

	return info->op_class != TN_CLASS_FLOW && op->nout > 0 &&
		!(info->flags & (TN_FLAG_EFFECT | TN_FLAG_SIZES));
}

static uint64_t hash_attr(uint64_t hash, const struct tn_attr *attr)
{
	int i;

	hash = tn_hash_mix(hash, attr->is_set ? (uint64_t)attr->kind : 99);
	if (!attr->is_set)
		return hash;
	switch (attr->kind) {
	case TN_ATTR_INT:
		return tn_hash_mix(hash, (uint64_t)attr->u.i);
	case TN_ATTR_FLOAT:
		return tn_hash_mix(hash, tn_hash_bytes(&attr->u.f, 8));
	case TN_ATTR_BOOL:
		return tn_hash_mix(hash, attr->u.b);
	case TN_ATTR_STRING:
		return tn_hash_mix(hash, tn_hash_bytes(attr->u.s,
						       strlen(attr->u.s)));
	case TN_ATTR_DTYPE:
		return tn_hash_mix(hash, attr->u.dtype);
	case TN_ATTR_DIM:
		return tn_hash_mix(hash, (uintptr_t)attr->u.dim);
	case TN_ATTR_INTS:
		for (i = 0; i < attr->count; i++)
			hash = tn_hash_mix(hash, (uint64_t)attr->u.ints[i]);
		return hash;
	case TN_ATTR_DIMS:
	case TN_ATTR_PAIRS:
		for (i = 0; i < attr->count; i++)
			hash = tn_hash_mix(hash, (uintptr_t)attr->u.dims[i]);
		return hash;
	}
	return hash;
}

static uint64_t hash_op(const struct tn_op *op)
{
	uint64_t hash = tn_hash_mix(0, op->code);
	int64_t bytes;
	int i;

	for (i = 0; i < op->nin; i++)
		hash = tn_hash_mix(hash, (uintptr_t)tn_graph_in(op, i));
	for (i = 0; i < op->nattrs; i++)
		hash = hash_attr(hash, &op->attrs[i]);
	for (i = 0; i < op->nout; i++)
		hash = tn_hash_mix(hash, (uintptr_t)op->out[i]->type);
	if (!op->literal)
		return hash;
	bytes = tn_tensor_bytes(op->literal);
	return tn_hash_mix(hash, tn_hash_bytes(op->literal->data,
					       (size_t)bytes));
}

static bool same_literal(const struct tn_op *a, const struct tn_op *b)
{
	if (!a->literal || !b->literal)
		return a->literal == b->literal;
	return tn_tensor_bytes(a->literal) == 0 ||
		!memcmp(a->literal->data, b->literal->data,
			(size_t)tn_tensor_bytes(a->literal));
}

static bool same_annots(const struct tn_annots *a, const struct tn_annots *b)
{
	const char *x, *y;
	int i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++) {
		x = a->list[i].args ? a->list[i].args : "";
		y = b->list[i].args ? b->list[i].args : "";
		if (strcmp(a->list[i].name, b->list[i].name) || strcmp(x, y))
			return false;
	}
	return true;
}

/* Results that are one are annotated as either is, so not as both, and lie as
 * the text says of `b`. */
static bool agree(const struct tn_op *a, const struct tn_op *b)
{
	const struct tn_annots *x, *y;
	int i;

	for (i = 0; i < a->nout; i++) {
		x = &a->out[i]->annots;
		y = &b->out[i]->annots;
		if (x->count && y->count && !same_annots(x, y))
			return false;
		if (b->out[i]->layout && b->out[i]->layout != a->out[i]->layout)
			return false;
	}
	return same_annots(&a->annots, &b->annots);
}

/* True if both compute the same, whatever their annotations. */
static bool same_work(const struct tn_op *a, const struct tn_op *b)
{
	int i;

	if (a->code != b->code || a->nin != b->nin || a->nout != b->nout ||
	    a->nattrs != b->nattrs)
		return false;
	for (i = 0; i < a->nout; i++)
		if (a->out[i]->type != b->out[i]->type)
			return false;
	for (i = 0; i < a->nin; i++)
		if (tn_graph_in(a, i) != tn_graph_in(b, i))
			return false;
	for (i = 0; i < a->nattrs; i++)
		if (!tn_attr_same(&a->attrs[i], &b->attrs[i]))
			return false;
	return same_literal(a, b);
}

static struct seen *entry_at(const struct table *t, uint32_t number)
{
	return tn_vec_at(&t->seen, number - 1);
}

/* The equal op that was met. One that differs in annotations alone is told. */
static struct tn_op *find(const struct table *t, const struct tn_op *op,
			  uint64_t hash)
{
	uint32_t at = t->buckets[hash % t->nbuckets];
	struct tn_op *other, *near = NULL;

	for (; at; at = entry_at(t, at)->next) {
		other = entry_at(t, at)->op;
		if (entry_at(t, at)->hash != hash || !same_work(other, op))
			continue;
		if (agree(other, op))
			return other;
		near = other;
	}
	if (near)
		tn_rw_miss(t->rw, "cse", op, near,
			   "both compute the same, but are annotated "
			   "otherwise");
	return NULL;
}

static bool remember(struct table *t, struct tn_op *op, uint64_t hash)
{
	struct seen *entry = tn_vec_push(&t->seen);

	if (!entry)
		return false;
	entry->hash = hash;
	entry->op = op;
	entry->next = t->buckets[hash % t->nbuckets];
	t->buckets[hash % t->nbuckets] = (uint32_t)t->seen.len;
	return true;
}

static void forget(struct table *t, size_t keep)
{
	struct seen *entry;

	while (t->seen.len > keep) {
		entry = entry_at(t, (uint32_t)t->seen.len);
		t->buckets[entry->hash % t->nbuckets] = entry->next;
		tn_vec_pop(&t->seen);
	}
}

static bool visit_block(struct table *t, struct tn_block *block)
{
	size_t keep = t->seen.len;
	struct tn_op *op, *next, *twin;
	uint64_t hash;
	int i;

	for (op = block->first; op; op = next) {
		next = op->next;
		for (i = 0; i < op->nregions; i++)
			if (!visit_block(t, op->regions[i]))
				return false;
		if (!is_pure(op))
			continue;
		hash = hash_op(op);
		twin = find(t, op, hash);
		if (twin && tn_rw_spend(t->rw, "cse", op)) {
			tn_rw_replace(t->rw, op, twin->out);
			t->changed = true;
		} else if (!twin && !remember(t, op, hash)) {
			return false;
		}
	}
	forget(t, keep);
	return true;
}

enum tn_pass_result tn_pass_cse(struct tn_pass_context *context)
{
	int64_t steps = tn_analyses_steps(context->analyses);
	struct table t = { .rw = context->rw };
	bool good;

	if (steps < 0) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	t.nbuckets = 2 * (size_t)steps + 1;
	t.buckets = calloc(t.nbuckets, sizeof(*t.buckets));
	tn_vec_init(&t.seen, sizeof(struct seen), NULL);
	good = t.buckets && visit_block(&t, context->entry->body);
	free(t.buckets);
	tn_vec_fini(&t.seen);
	if (!good) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return t.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
