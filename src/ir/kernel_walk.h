/*
 * Walks over kernels: statements in the order of the text, outer ones before
 * what they hold; of a statement its bounds, indices and value; expressions
 * from the outside in.
 *
 * A test says true for what is looked for, and the walk ends there. `data` is
 * handed through.
 */
#ifndef TN_IR_KERNEL_WALK_H
#define TN_IR_KERNEL_WALK_H

#include "ir/kernel.h"

typedef bool tn_kexpr_test(void *data, const struct tn_kexpr *expr);
typedef bool tn_kstmt_test(void *data, const struct tn_kstmt *stmt);

/* The first that passes, in the expression, in the expressions of the
 * statement itself, in all of the block; NULL: none, or no expression. */
const struct tn_kexpr *tn_kexpr_find(const struct tn_kexpr *expr,
				     tn_kexpr_test *test, void *data);
const struct tn_kexpr *tn_kstmt_find_expr(const struct tn_kstmt *stmt,
					  tn_kexpr_test *test, void *data);
const struct tn_kexpr *tn_kblock_find_expr(const struct tn_kblock *block,
					   tn_kexpr_test *test, void *data);
struct tn_kstmt *tn_kblock_find(const struct tn_kblock *block,
				tn_kstmt_test *test, void *data);

/* Calls for every statement, and for every expression and its parts. Either
 * may be NULL. */
struct tn_kvisitor {
	void (*expr)(void *data, const struct tn_kexpr *expr);
	void (*stmt)(void *data, const struct tn_kstmt *stmt);
	void *data;
};
void tn_kblock_visit(const struct tn_kblock *block,
		     const struct tn_kvisitor *visitor);
void tn_kstmt_visit(const struct tn_kstmt *stmt,
		    const struct tn_kvisitor *visitor);
void tn_kexpr_visit(const struct tn_kexpr *expr,
		    const struct tn_kvisitor *visitor);

/* True if the expression (NULL: no) reads the variable; any buffer. */
bool tn_kexpr_reads(const struct tn_kexpr *expr, const struct tn_kvar *var);
bool tn_kexpr_loads(const struct tn_kexpr *expr);
/* True if operand i is computed only where operand 0 says so: the branches of
 * `select`, the right side of `and` and `or` on bools. */
bool tn_kexpr_is_branch(const struct tn_kexpr *expr, int i);
/* Nodes alike, apart from their operands, variables and buffers. */
bool tn_kexpr_same_node(const struct tn_kexpr *a, const struct tn_kexpr *b);
/* Expressions that mean the same by the names in them; and where equal names
 * may be twins, by the variables and buffers themselves. */
bool tn_kexpr_same(const struct tn_kexpr *a, const struct tn_kexpr *b);
bool tn_kexpr_equal(const struct tn_kexpr *a, const struct tn_kexpr *b);

/* True if a loop or let of the block declares the variable, an alloc the
 * buffer. */
bool tn_kblock_declares(const struct tn_kblock *block, const void *what);
/* True if a statement of the block writes or declares the buffer. */
bool tn_kblock_touches(const struct tn_kblock *block,
		       const struct tn_kbuf *buf);
/* The loop or `if` around a statement, or NULL. */
struct tn_kstmt *tn_kstmt_around(const struct tn_kernel *kernel,
				 const struct tn_kstmt *stmt);

#endif
