/*
 * The operator table as data: each row of ops.def becomes one tn_op_info.
 *
 * The rows are read twice: first their attribute lists become arrays, then
 * the table itself is filled. Expressions are kept as text for the emitters;
 * eval_map.inc compiles the same text for the reference.
 */
#include "ir/op.h"

#include <stddef.h>
#include <string.h>

/* The flags as the rows write them. */
enum {
	COMMUTES = TN_FLAG_COMMUTES, RAISES = TN_FLAG_RAISES,
	ULP2 = TN_FLAG_ULP2, ARG = TN_FLAG_ARG, EFFECT = TN_FLAG_EFFECT,
	SIZES = TN_FLAG_SIZES, EXACT = TN_FLAG_EXACT, LAZY = TN_FLAG_LAZY,
	SHIFTS = TN_FLAG_SHIFTS, MEAN = TN_FLAG_MEAN, RANDOM = TN_FLAG_RANDOM,
	LITERAL = TN_FLAG_LITERAL, GATHERS = TN_FLAG_GATHERS,
	SCATTERS = TN_FLAG_SCATTERS, TUPLES = TN_FLAG_TUPLES,
	ALONG = TN_FLAG_ALONG, VIEW = TN_FLAG_VIEW, STILL = TN_FLAG_STILL,
	PARTS = TN_FLAG_PARTS
};

#define ATTRS(...) __VA_ARGS__
#define A(name, kind, fallback) { #name, TN_ATTR_##kind, fallback },
#define N(count) count, count
#define M(lo, hi) lo, hi
#define V(lo) lo, -1

#define OP(id, name, cls, in, out, flags, kinds, drule, srule, attrs, fexpr, \
	   iexpr, bexpr, vexpr, combine, identity, onnx, doc) \
static const struct tn_attr_info attrs_##id[] = { \
	attrs { NULL, TN_ATTR_INT, NULL } \
};
#include "ir/ops.def"
#undef OP

#define OP(id, name, cls, in, out, flags, kinds, drule, srule, attrs, fexpr, \
	   iexpr, bexpr, vexpr, combine, identity, onnx, doc) \
	{ #id, name, TN_CLASS_##cls, in, out, flags, \
	  TN_KIND_##kinds, TN_DRULE_##drule, TN_SRULE_##srule, attrs_##id, \
	  (int)(sizeof(attrs_##id) / sizeof(attrs_##id[0])) - 1, \
	  #fexpr, #iexpr, #bexpr, #vexpr, TN_OP_##combine, \
	  TN_IDENTITY_##identity, onnx, doc },

const struct tn_op_info tn_ops[TN_OP_COUNT] = {
#include "ir/ops.def"
};

enum tn_opcode tn_op_find(const char *name)
{
	int i;

	for (i = 0; i < TN_OP_COUNT; i++) {
		if (strcmp(tn_ops[i].name, name) == 0)
			return (enum tn_opcode)i;
	}
	return TN_OP_none;
}

bool tn_op_has(enum tn_opcode code, unsigned flags)
{
	return code < TN_OP_COUNT && (tn_ops[code].flags & flags) != 0;
}

static bool same_list(const struct tn_attr *a, const struct tn_attr *b)
{
	int i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (a->kind == TN_ATTR_INTS ? a->u.ints[i] != b->u.ints[i] :
		    a->u.dims[i] != b->u.dims[i])
			return false;
	return true;
}

bool tn_op_is_loop(enum tn_opcode code)
{
	return code == TN_OP_for || code == TN_OP_while || code == TN_OP_scan;
}

bool tn_op_calls(enum tn_opcode code)
{
	return strstr(tn_ops[code].fexpr, "F(") != NULL;
}

bool tn_attr_same(const struct tn_attr *a, const struct tn_attr *b)
{
	if (a->is_set != b->is_set || a->kind != b->kind)
		return false;
	if (!a->is_set)
		return true;
	switch (a->kind) {
	case TN_ATTR_INT:
		return a->u.i == b->u.i;
	case TN_ATTR_FLOAT:
		return !memcmp(&a->u.f, &b->u.f, sizeof(a->u.f));
	case TN_ATTR_BOOL:
		return a->u.b == b->u.b;
	case TN_ATTR_STRING:
		return !strcmp(a->u.s, b->u.s);
	case TN_ATTR_DTYPE:
		return a->u.dtype == b->u.dtype;
	case TN_ATTR_DIM:
		return a->u.dim == b->u.dim;
	case TN_ATTR_INTS:
	case TN_ATTR_DIMS:
	case TN_ATTR_PAIRS:
		return same_list(a, b);
	}
	return false;
}
