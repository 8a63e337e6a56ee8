/*
 * Schedules: a list of checked rewrites of a kernel, as text.
 *
 * A kernel with @schedule(...) gets these steps, and the annotation becomes
 * @scheduled(...); one whose loops are par, vec or unroll by hand is left as it
 * is; others get the target's default. Loops are named by their
 * variables; a step applies to every loop of that name (peeling makes twins).
 *
 *   split(i, 6)           i -> i__0 outside, i__1 inside with 6 turns; what is
 *                         left becomes a second nest of the same names
 *                         (tail=peel) or of single turns (tail=ones, for sizes
 *                         of run time), or all turns are guarded by an `if`
 *                         (tail=guard). Of a par loop i__0 stays so, of a vec
 *                         loop i__1
 *   reorder(i, j, k)      a perfect nest, outermost first
 *   fuse(i, j)            a perfect nest of two of one kind -> i__j
 *   peel(w, 1, 2)         the first turn and the last two of w become nests of
 *                         their own, of the same names, so that the bounds of
 *                         windows that borders clip are numbers in the middle
 *   vectorize(j)  unroll(i)  parallel(i)          the kind of loops
 *   parallel(i, min=40)   one thread where i has fewer turns, those of the
 *                         sized loops inside multiplied (ir/kernel.h)
 *   bind(i, grid.x)       to a CUDA axis: grid.x .. block.z, warp; threads
 *   tile(i, j)            the perfect nest i, j goes inside the reduction loops
 *                         of its body; scalars that live across become @reg
 *                         tiles, so that each element read is used for the
 *                         whole tile. Loops of windows that i or j clips run
 *                         over the whole window, under an `if`
 *   pack(w, j__0, k, j__1)         w is copied once, in the order of these
 *                         loops, to an @arena buffer w__packed that the body
 *                         reads
 *   stage(w, k, j__1)     at the start of each turn of k, what the body reads
 *                         of w over j__1 is copied to a @reg buffer w__staged;
 *                         space=stack and space=shared choose another place.
 *                         A copy may be staged again, by its name
 *   join(i, k, ..)        neighbours of equal bounds become one loop i
 *                         (schedule_join.c)
 *   part(i)               -> i__0, i__1, .. over the parts of its body
 *                         (schedule_part.c)
 *   shrink(t)             a buffer becomes what one turn touches of it, in
 *                         @reg or @stack or in space=.. (schedule_shrink.c)
 *   lanes(r, 16)          a sum becomes 16 at once, joined in halves: as
 *                         vectors to width=8 of them, then one by one
 *                         (schedule_lanes.c)
 *   rename(i, row)
 *
 * Every step is checked, and what it cannot prove it refuses: a loop may be
 * tiled, vectorised or run in parallel only if its turns are independent, and
 * loops that carry dependences keep their order. Results stay the same to the
 * last bit, and sums keep their order, but for `lanes`.
 */
#ifndef TN_PASSES_SCHEDULE_H
#define TN_PASSES_SCHEDULE_H

#include "ir/kernel_affine.h"
#include "ir/kernel_loop.h"
#include "ir/kernel_map.h"
#include "ir/kernel_walk.h"
#include "ir/target.h"

/* Applies the steps of `text` in order. False: *why says which step failed
 * and the reason (or memory ran out: the module has failed). The kernel may be
 * printed then, but is half rewritten. */
bool tn_schedule_apply(struct tn_kernel *kernel, const char *text,
		       struct tn_buf *why);

/* Does for every kernel of the module what its author asked for: applies
 * @schedule, holds loops with a kind against their turns. False after a report
 * for each kernel where that cannot be. */
bool tn_schedule_by_hand(struct tn_module *module);

/* The rest is for the files of the schedule. */

#define TN_STEP_ARGS 16

/* One step: `name(arg, ..., key=value)`. */
struct tn_step {
	const char *name;	/* interned, as are the arguments */
	int nargs;
	const char *args[TN_STEP_ARGS];
	const char *keys[TN_STEP_ARGS];	/* NULL: positional */
	struct tn_kernel *kernel;
	struct tn_buf *why;
};

/* Says why the step is refused; returns false. */
bool tn_step_refuse(const struct tn_step *step, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* The value of `key`, or `fallback`. */
const char *tn_step_option(const struct tn_step *step, const char *key,
			   const char *fallback);
/* Positional arguments come first; how many there are. */
int tn_step_positional(const struct tn_step *step);
/* False, with the reason, if the positional arguments from `first` on name a
 * loop twice. */
bool tn_step_names_once(const struct tn_step *step, int first);
/* All loops named so inside `block`, outer ones first, appended to a vector
 * of struct tn_kstmt *. */
bool tn_schedule_find(const struct tn_kblock *block, const char *name,
		      struct tn_vec *loops);
/* The same over the step's kernel; without memory the module has failed. */
bool tn_step_find(const struct tn_step *step, const char *name,
		  struct tn_vec *loops);
/* Calls `apply` on each loop named by argument `arg`; refuses if there is
 * none. */
bool tn_step_each(const struct tn_step *step, int arg,
		  bool (*apply)(const struct tn_step *step,
				struct tn_kstmt *loop));
/* A fresh loop variable VAR__SUFFIX. */
struct tn_kvar *tn_step_derive(const struct tn_step *step,
			       const struct tn_kvar *var, const char *suffix);
/* True if a name passes, of the kernel's parameters, of dims, or of buffers and
 * variables in the block; if it is this one, which is interned. */
bool tn_schedule_has_name(const struct tn_kernel *kernel,
			  const struct tn_kblock *block,
			  bool (*test)(const void *data, const char *name),
			  const void *data);
bool tn_schedule_is_taken(const struct tn_kernel *kernel,
			  const struct tn_kblock *block, const char *name);
/* The alloc, let or loop is of that name. */
bool tn_schedule_declares(const struct tn_kstmt *s, const char *name);
/* Refuses when the name NAME__SUFFIX is taken. */
bool tn_step_may_derive(const struct tn_step *step, const char *name,
			const char *suffix);
/* `base`, or a name made of it, that nothing in the kernel has; NULL: no
 * memory. */
const char *tn_step_fresh(const struct tn_step *step, const char *base);
/* True if no two turns of the loop touch the same element, or only read it,
 * while the loops around stand still. */
bool tn_schedule_is_independent(struct tn_module *module,
				const struct tn_kstmt *loop);
/* True if no two iterations of `nest` that differ in `loop`, which is `nest`
 * or inside it, touch the same element, or only read it: the loop may then
 * stand anywhere in the nest. */
bool tn_schedule_is_free(struct tn_module *module,
			 const struct tn_kstmt *nest,
			 const struct tn_kstmt *loop);
/* True if turns of the loop and turns of what `second` does for the same value
 * of its variable touch the same element only where they are one turn, or only
 * read it. *where: the buffer in which they meet, NULL: something else. */
bool tn_schedule_may_join(struct tn_module *module,
			  const struct tn_kstmt *loop,
			  const struct tn_kblock *second,
			  const struct tn_kbuf **where);
/* schedule_apart.c: true if two loops side by side never touch the same
 * element, or only read it, of any buffer or of `only`; else *where they do. */
bool tn_schedule_are_apart(struct tn_kernel *kernel, const struct tn_kstmt *a,
			   const struct tn_kstmt *b,
			   const struct tn_kbuf *only,
			   const struct tn_kbuf **where);
/* True if iterations of `nest` that differ in `loop`, which is `nest` or inside
 * it, never touch the same element of the buffer, which stands outside. */
bool tn_schedule_is_private(struct tn_module *module,
			    const struct tn_kstmt *nest,
			    const struct tn_kstmt *loop,
			    const struct tn_kbuf *buf);

/* schedule_loops.c: true if no parameter, no dim and nothing in the block is
 * called NAME__0, NAME__1 and so on. */
bool tn_schedule_may_derive(const struct tn_kernel *kernel,
			    const struct tn_kblock *block, const char *name);

/* schedule_default.c: gives a fresh kernel the target's plain schedule and
 * writes it down as @scheduled. False: out of memory. */
bool tn_schedule_default(struct tn_kernel *kernel,
			 const struct tn_target *target);

/* schedule_sums.c: the steps that tile a nest of sums for the CPU, appended to
 * `steps`, and the loop for threads to `parallel`; false if the nest does not
 * sum. */
bool tn_schedule_sums(struct tn_module *module, struct tn_kstmt *loop,
		      const struct tn_target *target,
		      struct tn_buf *steps, struct tn_buf *parallel);

/* A nest of independent loops. */
struct tn_schedule_nest {
	int n;
	struct tn_kstmt *loops[8];	/* outermost first */
	const struct tn_kblock *body;
};
/* Lanes of a vector of what the nest sums along its innermost loop; 0: the
 * nest does not sum, or not along memory. */
int tn_schedule_nest_of(struct tn_module *module, struct tn_kstmt *loop,
			const struct tn_target *target,
			struct tn_schedule_nest *nest);
/* schedule_windows.c: the same steps for windows over pixels (the last loop but
 * one) of channels, which lie along memory; with copies of weights or
 * without. */
bool tn_schedule_windows(struct tn_kernel *kernel, struct tn_kstmt *loop,
			 const struct tn_target *target, bool stages,
			 struct tn_buf *steps, struct tn_buf *parallel);

/* schedule_work.c: when a team of threads pays for a loop. */
enum tn_worth {
	TN_WORTH_NEVER,		/* whatever the sizes are */
	TN_WORTH_FROM,		/* from *min turns on (struct tn_kstmt) */
	TN_WORTH_ALWAYS
};
/* Of the loops named so in the block; *min is that of the first. */
enum tn_worth tn_schedule_worth(const struct tn_vec *loops, int64_t *min);

/* schedule_tidy.c: lets of the block that name index arithmetic are written
 * where they are read, those that `wanted` says (NULL: all). */
bool tn_schedule_inline(struct tn_kernel *kernel, struct tn_kblock *block,
			bool (*wanted)(void *data, const struct tn_kstmt *let),
			void *data);
/* In these loops, struct tn_kstmt *, a minimum or maximum that is proved to be
 * one of its sides becomes that, and a quotient or remainder of a sum one part
 * of the sum. */
bool tn_schedule_tidy(struct tn_kernel *kernel, const struct tn_vec *nests);

/* schedule_guard.c: bounds that hold for every turn of the loops around.
 * *from <= loop->from and loop->to <= *to, both numbers, and *cond says which
 * of these turns the loop has; NULL: all. False: no such bounds are known, or
 * out of memory. */
bool tn_schedule_enclose(struct tn_kernel *kernel,
			 const struct tn_kstmt *loop,
			 const struct tn_kexpr **from,
			 const struct tn_kexpr **to,
			 const struct tn_kexpr **cond);

/* The steps: schedule_loops.c, schedule_tile.c, schedule_pack.c,
 * schedule_peel.c, schedule_join.c, schedule_part.c, schedule_shrink.c,
 * schedule_lanes.c */
bool tn_step_split(const struct tn_step *step);
bool tn_step_reorder(const struct tn_step *step);
bool tn_step_fuse(const struct tn_step *step);
bool tn_step_peel(const struct tn_step *step);
bool tn_step_kind(const struct tn_step *step);
bool tn_step_bind(const struct tn_step *step);
bool tn_step_tile(const struct tn_step *step);
bool tn_step_pack(const struct tn_step *step);
bool tn_step_rename(const struct tn_step *step);
bool tn_step_join(const struct tn_step *step);
bool tn_step_part(const struct tn_step *step);
bool tn_step_shrink(const struct tn_step *step);
bool tn_step_lanes(const struct tn_step *step);

#endif
