/*
 * The signs of operators as data: each row of infix.def becomes one
 * tn_infix_info. What the rows say of C is for the back ends, which read them
 * on their own.
 */
#include "ir/infix.h"

/* The flags as the rows write them. */
enum {
	SWAPS = TN_INFIX_SWAPS, NEGATES = TN_INFIX_NEGATES,
	COMPARES = TN_INFIX_COMPARES, LOGICAL = TN_INFIX_LOGICAL,
	BITS = TN_INFIX_BITS, RIGHT = TN_INFIX_RIGHT
};

#define INFIX(id, text, level, op, how, ctext, clevel, ckinds) \
	{ text, level, TN_OP_##op, how },

const struct tn_infix_info tn_infixes[TN_INFIX_COUNT] = {
#include "ir/infix.def"
};

bool tn_infix_has(enum tn_infix infix, unsigned how)
{
	return (tn_infixes[infix].how & how) != 0;
}
