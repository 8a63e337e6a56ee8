/*
 * sink: transposes go down through maps until they meet their inverse.
 *
 *   t = transpose(c, perm=[0, 2, 3, 1]);      t' = c + b';
 *   u = t + b;                           ->   r' = relu(t');
 *   r = relu(u);                              conv(r', w)
 *   conv(transpose(r, perm=[0, 3, 1, 2]), w)
 *
 * A model that was written channels-last around operators that are not has a
 * transpose on either side of each of them. A map, a concatenation or a pad all
 * of whose operands are transposed alike is computed on what they were made of,
 * and its result is transposed; operands that stretch along all axes but one
 * are reshaped to fit. That is done only where something below asks for the
 * inverse, so that two transposes vanish where they meet, and the operators in
 * between can be fused with those around them. No element is computed otherwise
 * than before.
 */
#include "passes/pass.h"

#include <string.h>

#include "ir/view.h"

struct sink {
	struct tn_rw *rw;
	struct tn_arena arena;
	struct tn_map wanted;	/* value -> struct perm: how it is read, perhaps
				 * through maps */
	bool changed;
};

/* ---- Permutations ------------------------------------------------------ */

struct perm {
	int rank;
	int64_t axes[TN_MAX_RANK];	/* operand's, by axis of the result */
};

static bool is_transpose(const struct tn_op *op)
{
	return op && op->code == TN_OP_transpose;
}

static struct perm perm_of(const struct tn_op *transpose)
{
	struct perm perm = { .rank = transpose->out[0]->type->rank };
	int i;

	for (i = 0; i < perm.rank; i++)
		perm.axes[i] = tn_view_axis(transpose, i);
	return perm;
}

/* First `a`, then `b`. */
static struct perm compose(const struct perm *a, const struct perm *b)
{
	struct perm perm = { .rank = a->rank };
	int i;

	for (i = 0; i < a->rank; i++)
		perm.axes[i] = a->axes[b->axes[i]];
	return perm;
}

static bool is_identity(const struct perm *perm)
{
	int i;

	for (i = 0; i < perm->rank; i++)
		if (perm->axes[i] != i)
			return false;
	return true;
}

static bool same_perm(const struct perm *a, const struct perm *b)
{
	return a->rank == b->rank &&
		!memcmp(a->axes, b->axes,
			(size_t)a->rank * sizeof(*a->axes));
}

static struct tn_value *build_transpose(struct tn_builder *builder,
					struct tn_value *value,
					const struct perm *perm,
					struct tn_span span)
{
	struct tn_attr attr = tn_attr_ints("perm", perm->rank, perm->axes);
	struct tn_op *op;

	op = tn_build_op(builder, TN_OP_transpose, 1, &value, 1, &attr, span);
	return op ? op->out[0] : NULL;
}

/* ---- What may be passed ------------------------------------------------ */

static bool is_passed(const struct tn_op *op)
{
	enum tn_srule srule = tn_ops[op->code].srule;

	if (op->nout != 1 || op->nregions)
		return false;
	return tn_ops[op->code].op_class == TN_CLASS_MAP ||
		srule == TN_SRULE_CONCAT || srule == TN_SRULE_PAD;
}

/* At most one axis is longer than 1: in any order the same bytes. */
static bool is_line(const struct tn_type *type)
{
	int i, n = 0;

	for (i = 0; i < type->rank; i++)
		n += !tn_dim_is(type->dims[i], 1);
	return n <= 1;
}

/* The permutation that all operands share but those that fit any; false: there
 * is none. */
static bool common_perm(const struct tn_op *op, struct perm *perm)
{
	bool found = false;
	int i;

	for (i = 0; i < op->nin; i++) {
		const struct tn_value *value = tn_graph_in(op, i);
		struct perm here;

		if (is_transpose(value->op) &&
		    value->type->rank == op->out[0]->type->rank) {
			here = perm_of(value->op);
			if (found && !same_perm(&here, perm))
				return false;
			*perm = here;
			found = true;
		} else if (!is_line(value->type) ||
			   (tn_ops[op->code].op_class != TN_CLASS_MAP &&
			    value->type->rank > 0)) {
			return false;
		}
	}
	return found;
}

/* ---- Passing one ------------------------------------------------------- */

/* A value that has one axis, as it must be to stretch along the others of the
 * operands of the transposes: result axis i is their axis perm[i]. */
static struct tn_value *turned(struct sink *s, struct tn_builder *builder,
			       struct tn_value *value, const struct perm *perm)
{
	const struct tn_dim *one = tn_dim_const(&s->rw->module->dims, 1);
	const struct tn_dim *dims[TN_MAX_RANK];
	const struct tn_type *type = value->type;
	int i, skip = perm->rank - type->rank, first = 0;

	for (i = 0; i < perm->rank; i++)
		dims[perm->axes[i]] = i < skip ? one : type->dims[i - skip];
	while (first < perm->rank && tn_dim_is(dims[first], 1))
		first++;
	if (first == perm->rank)
		first = perm->rank - type->rank;
	if (perm->rank - first == type->rank &&
	    !memcmp(dims + first, type->dims, (size_t)type->rank *
		    sizeof(*dims)))
		return value;
	return tn_build_reshape(builder, value, perm->rank - first,
				dims + first, value->span);
}

/* Attributes that name axes of the result name those of the operands. */
static bool turn_attrs(struct sink *s, const struct tn_op *op,
		       const struct perm *perm, struct tn_attr *attrs)
{
	const struct tn_dim **pairs;
	int i, k;

	for (i = 0; i < op->nattrs; i++) {
		attrs[i] = op->attrs[i];
		if (tn_ops[op->code].srule == TN_SRULE_CONCAT &&
		    strcmp(attrs[i].name, "axis") == 0)
			attrs[i].u.i = perm->axes[attrs[i].u.i];
		if (attrs[i].kind != TN_ATTR_PAIRS || !attrs[i].is_set)
			continue;
		pairs = tn_arena_array(&s->arena,
				       2 * (size_t)perm->rank, sizeof(*pairs));
		if (!pairs)
			return false;
		for (k = 0; k < 2 * perm->rank; k++)
			pairs[2 * perm->axes[k / 2] + k % 2] =
				op->attrs[i].u.dims[k];
		attrs[i].u.dims = pairs;
	}
	return true;
}

static struct tn_op *rebuild(struct sink *s, struct tn_builder *builder,
			     struct tn_op *op, const struct perm *perm)
{
	struct tn_arena *arena = &s->arena;
	struct tn_attr *attrs;
	struct tn_value **in;
	int i;

	in = tn_arena_array(arena, (size_t)op->nin + 1, sizeof(*in));
	attrs = tn_arena_array(arena, (size_t)op->nattrs + 1, sizeof(*attrs));
	if (!in || !attrs || !turn_attrs(s, op, perm, attrs))
		return NULL;
	for (i = 0; i < op->nin; i++) {
		struct tn_value *value = tn_graph_in(op, i);

		if (is_transpose(value->op) &&
		    value->type->rank == perm->rank)
			in[i] = tn_graph_in(value->op, 0);
		else if (value->type->rank > 0)
			in[i] = turned(s, builder, value, perm);
		else
			in[i] = value;
		if (!in[i])
			return NULL;
	}
	return tn_build_op(builder, op->code, op->nin, in, op->nattrs, attrs,
			   op->span);
}

/* Transposes that were read by the op alone. */
static void erase_unread(struct sink *s, struct tn_value *value)
{
	if (is_transpose(value->op) && !value->uses)
		tn_rw_erase(s->rw, value->op);
}

static bool pass_op(struct sink *s, struct tn_op *op, const struct perm *perm)
{
	struct tn_arena *arena = &s->arena;
	struct tn_builder builder;
	struct tn_value *result, **in;
	struct tn_op *made;
	int i, nin = op->nin;

	if (!tn_rw_spend(s->rw, "sink", op))
		return true;
	in = tn_arena_array(arena, (size_t)nin + 1, sizeof(*in));
	if (!in)
		return false;
	for (i = 0; i < nin; i++)
		in[i] = tn_graph_in(op, i);
	tn_rw_before(s->rw, op, &builder);
	made = rebuild(s, &builder, op, perm);
	result = made ? build_transpose(&builder, made->out[0], perm,
					op->span) : NULL;
	if (!result)
		return false;
	tn_rw_replace(s->rw, op, &result);
	for (i = 0; i < nin; i++)
		erase_unread(s, in[i]);
	s->changed = true;
	return true;
}

/* A transpose of a transpose is one, or none. */
static bool merge(struct sink *s, struct tn_op *op)
{
	struct tn_value *value = tn_graph_in(op, 0), *source;
	struct perm perm, inner, outer = perm_of(op);

	if (!is_transpose(value->op))
		return true;
	inner = perm_of(value->op);
	perm = compose(&inner, &outer);
	source = tn_graph_in(value->op, 0);
	if (!tn_rw_spend(s->rw, is_identity(&perm) ? "cancel" : "merge", op))
		return true;
	if (is_identity(&perm)) {
		tn_rw_replace(s->rw, op, &source);
	} else {
		struct tn_builder builder;

		tn_rw_before(s->rw, op, &builder);
		source = build_transpose(&builder, source, &perm, op->span);
		if (!source)
			return false;
		tn_rw_replace(s->rw, op, &source);
	}
	erase_unread(s, value);
	s->changed = true;
	return true;
}

/* ---- All --------------------------------------------------------------- */

static bool ask(struct sink *s, const struct tn_op *op,
		const struct perm *perm)
{
	int i;

	for (i = 0; i < op->nin; i++)
		if (!tn_map_set(&s->wanted, tn_graph_in(op, i),
				(void *)(uintptr_t)perm))
			return false;
	return true;
}

/* From the last op to the first: whose value is asked for transposed. */
static bool find_wanted(struct sink *s, const struct tn_block *block)
{
	const struct tn_op *op;
	struct perm *perm;
	int i;

	for (op = block->last; op; op = op->prev) {
		for (i = 0; i < op->nregions; i++)
			if (!find_wanted(s, op->regions[i]))
				return false;
		perm = is_passed(op) ? tn_map_find(&s->wanted, op->out[0])
				     : NULL;
		if (is_transpose(op)) {
			perm = tn_arena_alloc(&s->arena, sizeof(*perm));
			if (!perm)
				return false;
			*perm = perm_of(op);
		}
		if (perm && !ask(s, op, perm))
			return false;
	}
	return true;
}

/* True if the inverse of `perm` is asked for of the op's result. */
static bool meets(const struct sink *s, const struct tn_op *op,
		  const struct perm *perm)
{
	const struct perm *wanted = tn_map_find(&s->wanted, op->out[0]);
	struct perm both;

	if (!wanted || wanted->rank != perm->rank)
		return false;
	both = compose(perm, wanted);
	return is_identity(&both);
}

static bool run(struct sink *s, struct tn_block *block)
{
	struct tn_op *op, *next;
	struct perm perm;
	int i;

	for (op = block->first; op; op = next) {
		next = op->next;
		for (i = 0; i < op->nregions; i++)
			if (!run(s, op->regions[i]))
				return false;
		if (is_transpose(op) && !merge(s, op))
			return false;
		if (is_passed(op) && common_perm(op, &perm) &&
		    meets(s, op, &perm) && !pass_op(s, op, &perm))
			return false;
	}
	return true;
}

enum tn_pass_result tn_pass_sink(struct tn_pass_context *context)
{
	struct sink s = { .rw = context->rw };
	struct tn_block *body = context->entry->body;
	bool good;

	tn_arena_init(&s.arena);
	tn_map_init_ptr(&s.wanted);
	good = find_wanted(&s, body) && run(&s, body);
	tn_map_fini(&s.wanted);
	tn_arena_fini(&s.arena);
	if (!good) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return s.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
