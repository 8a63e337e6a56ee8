/*
 * What the files of the pass `fuse` share: groups of operators that become one
 * function, and the questions that are asked of them.
 *
 * fuse.c forms groups of one loop nest each; fuse_rows.c makes one of groups
 * that go over the same rows, and of the movement around them; fuse_cost.c
 * says what pays.
 */
#ifndef TN_PASSES_FUSE_H
#define TN_PASSES_FUSE_H

#include "base/map.h"
#include "base/vec.h"
#include "ir/analysis.h"
#include "passes/pass.h"

#define TN_FUSE_MEMBERS 128
#define TN_FUSE_OPERANDS 48

struct tn_fuse_member {
	struct tn_op *op;
	struct tn_fuse_member *next;
};

struct tn_fuse_group {
	struct tn_op *root;	/* the last op: the result is its */
	const struct tn_op *tail;	/* a transpose of the result; or NULL */
	const struct tn_op *anchor;	/* of a single nest; or NULL */
	struct tn_fuse_member *first;	/* in order of the text */
	int members;
	int anchors;
	bool is_rows;		/* several nests over the same rows */
	int nin;		/* operands, at most */
};

struct tn_fuser {
	struct tn_pass_context *context;
	struct tn_arena arena;	/* groups and members */
	struct tn_vec groups;	/* struct tn_fuse_group *, last ones first */
	struct tn_map of;	/* op -> group */
	struct tn_map ahead;	/* member of a prologue -> group */
	const struct tn_position *order;	/* by op */
	struct tn_map counting;	/* iota that is read: copied, then gone */
	int64_t *likely;	/* of each dim symbol: its largest opt */
	int made;
};

bool tn_fuse_is_contract(const struct tn_op *op);
/* True if `a` stands ahead of `b` in the text. */
bool tn_fuse_is_before(const struct tn_fuser *f, const struct tn_op *a,
		       const struct tn_op *b);
/* The one group that reads all of the op's result, or NULL. */
struct tn_fuse_group *tn_fuse_readers(const struct tn_fuser *f,
				      const struct tn_op *op);
/* The op is a member now, and the group reads its operands. */
bool tn_fuse_add(struct tn_fuser *f, struct tn_fuse_group *group,
		 struct tn_op *op);

/* fuse_rows.c: merges the groups of the block, and of its regions. False: out
 * of memory. */
bool tn_fuse_rows(struct tn_fuser *f, struct tn_block *block);

/* fuse_cost.c */

/* Fills `likely`; false: out of memory. */
bool tn_fuse_sizes(struct tn_fuser *f);
/* Whether it pays that `producer` and the one group that reads it become one
 * kernel over `rows` leading axes; if not `why` gets a sentence. */
bool tn_fuse_pays(const struct tn_fuser *f,
		  const struct tn_fuse_group *producer, int rows,
		  struct tn_buf *why);

#endif
