/*
 * Registers that get their first values as soon as they are there.
 *
 * In: an allocation whose buffer is kept in variables. Out: the literal that
 * the statements behind it put into every element, and the statement that
 * does, which need not be printed if the variables begin with the literal.
 *
 *   alloc acc: f32[8] @reg;
 *   vec j in 0..8 { acc[j] = 0.0; }   ->   tn_f32x8 acc_0 = splat(0.0f);
 */
#include "backends/emit.h"

/* for var in 0..n { one statement } */
static bool is_walk(const struct tn_kstmt *s)
{
	return s->kind == TN_KSTMT_LOOP &&
		(s->loop == TN_LOOP_VEC || s->loop == TN_LOOP_UNROLL) &&
		s->step == 1 && tn_kexpr_is_int(s->from, 0) &&
		s->to->kind == TN_KEXPR_INT && s->body.first &&
		!s->body.first->next;
}

/* The loop of the nest that walks along an axis of `buf`. */
static const struct tn_kstmt *walk_of(const struct tn_kstmt *nest,
				      const struct tn_kexpr *index,
				      const struct tn_dim *extent)
{
	if (index->kind != TN_KEXPR_VAR)
		return NULL;
	while (is_walk(nest) && nest->var != index->var)
		nest = nest->body.first;
	return is_walk(nest) && tn_dim_is(extent, nest->to->i) ? nest : NULL;
}

/* The store in a nest that gives each element of a buffer one literal. */
static const struct tn_kstmt *filling(const struct tn_kstmt *nest)
{
	const struct tn_kstmt *s = nest;
	int n = 0, i, k;

	for (; is_walk(s); s = s->body.first)
		n++;
	if (s->kind != TN_KSTMT_STORE || s->accumulate || s->nindex != n ||
	    s->buf->rank != n || (s->value->kind != TN_KEXPR_INT &&
				  s->value->kind != TN_KEXPR_FLOAT))
		return NULL;
	for (i = 0; i < n; i++) {
		if (!walk_of(nest, s->index[i], s->buf->dims[i]))
			return NULL;
		for (k = 0; k < i; k++)
			if (s->index[k]->var == s->index[i]->var)
				return NULL;
	}
	return s;
}

const struct tn_kstmt *tn_emit_fill(const struct tn_kstmt *alloc,
				    const struct tn_kexpr **value)
{
	const struct tn_kstmt *s, *store;

	for (s = alloc->next; s; s = s->next) {
		if (s->kind == TN_KSTMT_ALLOC)
			continue;
		store = filling(s);
		if (!store)
			return NULL;
		if (store->buf == alloc->buf) {
			*value = store->value;
			return s;
		}
	}
	return NULL;
}
