/* Operators and attributes: the rows of ops.def as data. */
#ifndef TN_IR_OP_H
#define TN_IR_OP_H

#include "ir/dim.h"
#include "ir/dtype.h"

enum tn_opcode {
#define OP(id, ...) TN_OP_##id,
#include "ir/ops.def"
#undef OP
	TN_OP_COUNT,
	TN_OP_none = TN_OP_COUNT
};

enum tn_op_class {
	TN_CLASS_MAP, TN_CLASS_REDUCE, TN_CLASS_SCAN, TN_CLASS_CONTRACT,
	TN_CLASS_WINDOW, TN_CLASS_MOVE, TN_CLASS_INDEX, TN_CLASS_ORDER,
	TN_CLASS_SOURCE, TN_CLASS_FLOW, TN_CLASS_CUSTOM
};

enum tn_op_flag {
	TN_FLAG_COMMUTES = 1,	/* operands may be exchanged */
	TN_FLAG_RAISES = 2,	/* may set the sticky error flag */
	TN_FLAG_ULP2 = 4,	/* within 2 ulp instead of 1 in f32 */
	TN_FLAG_ARG = 8,	/* result is an index, not a value */
	TN_FLAG_EFFECT = 16,	/* kept by dce, ordered among its kind */
	TN_FLAG_SIZES = 32,	/* sets a run-time dim */
	TN_FLAG_EXACT = 64,	/* a result needs no rounding to its type */
	TN_FLAG_LAZY = 128,	/* operands behind the first may not count */
	TN_FLAG_SHIFTS = 256,	/* raises for its count, not for a division */
	TN_FLAG_MEAN = 512,	/* divides by the number of what it joined */
	TN_FLAG_RANDOM = 1024,	/* drawn at run time: never folded */
	TN_FLAG_LITERAL = 2048,	/* known, not computed: op->literal or a dim */
	TN_FLAG_GATHERS = 4096,	/* reads operand 0 at indices */
	TN_FLAG_SCATTERS = 8192, /* writes into operand 0 at indices */
	TN_FLAG_TUPLES = 16384,	/* .. that are tuples, the last axis */
	TN_FLAG_ALONG = 32768,	/* .. one for each element */
	TN_FLAG_VIEW = 65536,	/* may be bytes of its operand, see view.h */
	TN_FLAG_PARTS = 131072,	/* elements come from one operand or another */
	TN_FLAG_STILL = 262144	/* of operand 0's type it is operand 0, if each
				 * `step` is 1, `perm` the order that is, and
				 * nothing is joined to it */
};

enum tn_drule {
	TN_DRULE_SAME, TN_DRULE_BOOL, TN_DRULE_ELEM, TN_DRULE_I64,
	TN_DRULE_FIRST, TN_DRULE_SELECT, TN_DRULE_NONE
};

enum tn_srule {
	TN_SRULE_BCAST, TN_SRULE_SAME, TN_SRULE_RESHAPE, TN_SRULE_TRANSPOSE,
	TN_SRULE_BROADCAST, TN_SRULE_SLICE, TN_SRULE_PAD, TN_SRULE_CONCAT,
	TN_SRULE_REVERSE, TN_SRULE_WINDOW, TN_SRULE_GATHER,
	TN_SRULE_GATHER_ND, TN_SRULE_TAKE_ALONG, TN_SRULE_SCATTER,
	TN_SRULE_SCATTER_ND, TN_SRULE_SCATTER_ALONG, TN_SRULE_REDUCE,
	TN_SRULE_ARGREDUCE, TN_SRULE_MATMUL, TN_SRULE_EINSUM, TN_SRULE_CONV,
	TN_SRULE_CONV_TRANSPOSE, TN_SRULE_POOL, TN_SRULE_RESIZE,
	TN_SRULE_TOPK, TN_SRULE_NONZERO, TN_SRULE_CONST, TN_SRULE_IOTA,
	TN_SRULE_IOTA_SHAPE, TN_SRULE_DIM, TN_SRULE_FLOW
};

enum tn_identity {
	TN_IDENTITY_NONE, TN_IDENTITY_0, TN_IDENTITY_1, TN_IDENTITY_LOWEST,
	TN_IDENTITY_HIGHEST
};

enum tn_attr_kind {
	TN_ATTR_INT,	/* int64 */
	TN_ATTR_FLOAT,	/* double */
	TN_ATTR_BOOL,
	TN_ATTR_STRING,
	TN_ATTR_DTYPE,	/* element type name */
	TN_ATTR_INTS,	/* list of int64; a scalar replicates where the op says */
	TN_ATTR_DIM,	/* one dim expression */
	TN_ATTR_DIMS,	/* list of dim expressions */
	TN_ATTR_PAIRS	/* list of [lo, hi] dims, flattened: 2n dims */
};

/* An attribute of an operator node. After inference lists are full-length
 * (scalars replicated, axes non-negative), so readers need no defaults. */
struct tn_attr {
	const char *name;	/* interned or static */
	enum tn_attr_kind kind;
	bool is_set;		/* false: absent (its default text is "") */
	int count;		/* INTS, DIMS; of PAIRS the dims, 2 a pair */
	union {
		int64_t i;
		double f;
		bool b;
		const char *s;
		enum tn_dtype dtype;
		const int64_t *ints;
		const struct tn_dim *dim;
		const struct tn_dim *const *dims;
	} u;
};

struct tn_attr_info {
	const char *name;
	enum tn_attr_kind kind;
	const char *fallback;	/* default text; NULL: required */
};

struct tn_op_info {
	const char *id, *name;
	enum tn_op_class op_class;
	int nin_min, nin_max;	/* nin_max -1: any number */
	int nout;		/* -1: by the node */
	unsigned flags;		/* tn_op_flag */
	unsigned kinds;		/* tn_kind mask of main operands */
	enum tn_drule drule;
	enum tn_srule srule;
	const struct tn_attr_info *attrs;	/* ends with name NULL */
	int nattrs;
	const char *fexpr, *iexpr, *bexpr, *vexpr;	/* or "NA" */
	enum tn_opcode combine;		/* TN_OP_none */
	enum tn_identity identity;
	const char *onnx;
	const char *doc;
};

extern const struct tn_op_info tn_ops[TN_OP_COUNT];

/* The operator named so, or TN_OP_none. */
enum tn_opcode tn_op_find(const char *name);
/* True if its row has one of the flags. */
bool tn_op_has(enum tn_opcode code, unsigned flags);
/* True if a region of its runs once a turn. */
bool tn_op_is_loop(enum tn_opcode code);
/* True if on floats it calls a function of the C library. */
bool tn_op_calls(enum tn_opcode code);
/* Of one kind and value, floats by bits; or both absent. Dims must be of one
 * pool. Names do not count. */
bool tn_attr_same(const struct tn_attr *a, const struct tn_attr *b);

#endif
