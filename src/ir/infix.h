/* Signs of operators: the rows of infix.def as data. */
#ifndef TN_IR_INFIX_H
#define TN_IR_INFIX_H

#include "ir/op.h"

enum tn_infix {
#define INFIX(id, ...) TN_INFIX_##id,
#include "ir/infix.def"
#undef INFIX
	TN_INFIX_COUNT
};

enum tn_infix_how {
	TN_INFIX_SWAPS = 1,	/* operands are exchanged: a > b is b < a */
	TN_INFIX_NEGATES = 2,	/* the result is negated: a != b is !(a == b) */
	TN_INFIX_COMPARES = 4,	/* asks for order or equality */
	TN_INFIX_LOGICAL = 8,	/* of bools alone */
	TN_INFIX_BITS = 16,	/* of integers alone */
	TN_INFIX_RIGHT = 32	/* a ** b ** c is a ** (b ** c) */
};

struct tn_infix_info {
	const char *text;
	int level;
	enum tn_opcode op;	/* TN_OP_none: in tests alone */
	unsigned how;		/* tn_infix_how */
};

extern const struct tn_infix_info tn_infixes[TN_INFIX_COUNT];

bool tn_infix_has(enum tn_infix infix, unsigned how);

#endif
