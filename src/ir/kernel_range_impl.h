/* What the files of ranges share. */
#ifndef TN_IR_KERNEL_RANGE_IMPL_H
#define TN_IR_KERNEL_RANGE_IMPL_H

#include "ir/kernel_range.h"

/* Facts and bounds taken one after another. */
#define TN_KRANGE_DEPTH 14

/* The sum of an i64 expression, with the lets that are known. */
bool tn_krange_make(struct tn_krange *range, const struct tn_kexpr *expr,
		    struct tn_affine *out);
/* a += b * factor; a += number. */
bool tn_krange_add(struct tn_krange *range, struct tn_affine *a,
		   const struct tn_affine *b, int64_t factor);
bool tn_krange_add_number(struct tn_krange *range, struct tn_affine *a,
			  int64_t number);
/* True if the sum is not negative; at most `depth` things taken away. */
bool tn_krange_proves(struct tn_krange *range, const struct tn_affine *a,
		      int depth);
/* The term to take away first. */
int tn_krange_newest(const struct tn_krange *range, const struct tn_affine *a);
/* Takes the fact away as often as cancels the term; false: it bounds the term
 * on the other side, or not at all. */
bool tn_krange_take_away(struct tn_krange *range, struct tn_affine *a, int term,
			 const struct tn_affine *fact);

/* What the let and the loop's variable have of data (kernel_plain.c). */
void tn_krange_note_let(struct tn_krange *range, const struct tn_kstmt *let);
void tn_krange_note_loop(struct tn_krange *range, const struct tn_kstmt *loop);
/* True if the last step of the loop may leave 64 bits. */
bool tn_krange_steps_over(struct tn_krange *range, const struct tn_kstmt *loop);

#endif
