/*
 * A default schedule in the making: what its files share.
 *
 * A plan holds a kernel and the steps that it took. A step that is refused
 * leaves the kernel as it was, but pointers into it die with every step: hold
 * names.
 */
#ifndef TN_PASSES_SCHEDULE_PLAN_H
#define TN_PASSES_SCHEDULE_PLAN_H

#include "passes/schedule.h"

#define TN_SPLAN_ROWS 8		/* most loops that rows are counted by */
#define TN_SPLAN_NAMES 64	/* most loops of a nest that are looked at */
#define TN_SPLAN_NESTS 16	/* most nests that may become one */

/* Nests made one: the loops that they share, outermost first. */
struct tn_splan_rows {
	const char *names[TN_SPLAN_ROWS];
	int n;
};

struct tn_splan {
	struct tn_kernel *kernel;
	const struct tn_target *target;
	struct tn_buf done;	/* the steps that were applied */
	int nrows;
	struct tn_splan_rows rows[TN_SPLAN_NESTS];
	bool failed;		/* out of memory */
};

/* A kernel as it was. */
struct tn_splan_mark {
	struct tn_kblock body;
	int64_t scratch_bytes;
	size_t len;		/* of `done` */
};

void tn_splan_save(struct tn_splan *plan, struct tn_splan_mark *mark);
/* Once for each mark. */
void tn_splan_restore(struct tn_splan *plan, struct tn_splan_mark *mark);
/* Applies steps, all or none; a refusal leaves the kernel as it was. */
bool tn_splan_step(struct tn_splan *plan, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The first loop of the name, or NULL. */
struct tn_kstmt *tn_splan_find(struct tn_splan *plan, const char *name);
/* The first loop of the block; the loop that is all there is in the body of
 * this one; NULL: there is none. */
struct tn_kstmt *tn_splan_first_loop(const struct tn_kblock *block);
struct tn_kstmt *tn_splan_only_loop(const struct tn_kstmt *loop);
/* True if turns of the loop can go together as lanes of vectors. */
bool tn_splan_is_vector(const struct tn_splan *plan,
			const struct tn_kstmt *loop);
/* Names of loops, outer ones first. */
struct tn_splan_names {
	const char *names[TN_SPLAN_NAMES];
	int n;
};
/* Those in the block are appended. */
void tn_splan_list(const struct tn_kblock *block, struct tn_splan_names *list);
/* A name that steps can make others of: the loop's, or a letter that it is
 * given; names of nests (l, l__1) and of values look like those of steps. */
const char *tn_splan_own_name(struct tn_splan *plan, const char *name);
/* The same for the loop and all inside it; the loop, or NULL. */
struct tn_kstmt *tn_splan_own_names(struct tn_splan *plan,
				    const struct tn_kstmt *loop);
/* Threads for the loops of the name, where and when they pay; a loop of few
 * turns becomes one with the next. */
void tn_splan_threads(struct tn_splan *plan, const char *name);

/* schedule_sums.c's steps for a nest that sums, if they take vectors; false:
 * none was applied. *parallel is for the loop of threads, or NULL. */
bool tn_splan_sums(struct tn_splan *plan, struct tn_kstmt *loop,
		   struct tn_buf *parallel);
/* schedule_rows.c: sums of the nest's last axis by lanes; false: it has none
 * that may be. */
bool tn_splan_lanes(struct tn_splan *plan, const struct tn_kstmt *loop);
/* schedule_far.c: a product in the nest that reads, for every row that it has
 * in common with the other nest, more than stays near. */
bool tn_splan_is_far(const struct tn_splan *plan,
		     const struct tn_kstmt *nest,
		     const struct tn_kstmt *other);
/* Makes one of nests that share temporaries, if that leaves little of these,
 * and plans it, but for the loops of threads or grid. */
void tn_splan_rows(struct tn_splan *plan);

#endif
