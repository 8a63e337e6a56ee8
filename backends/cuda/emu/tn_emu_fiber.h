/*
 * Fibers: stacks of their own that run until they give the processor back.
 * A fiber is entered from a home (the stack that schedules) and leaves to that
 * home; fibers never switch among themselves.
 */
#ifndef TN_EMU_FIBER_H
#define TN_EMU_FIBER_H

#include <stddef.h>

#if !defined(__x86_64__) || defined(TN_EMU_UCONTEXT)
#include <ucontext.h>
#define TN_EMU_SWAP_UCONTEXT 1
#endif

struct tn_emu_fiber {
#ifdef TN_EMU_SWAP_UCONTEXT
	ucontext_t context;
#else
	void *top;
#endif
	struct tn_emu_fiber *home;
	void (*entry)(void *argument);
	void *argument;
	void *fake;
	const void *low;
	size_t size;
};

enum { TN_EMU_STACKS = 1024 };

/*
 * Room for TN_EMU_STACKS stacks; NULL when there is no memory.  What was given
 * back last is kept for the next taker, since to map and first touch stacks
 * costs more than most kernels; drop unmaps it.
 */
unsigned char *tn_emu_fiber_take_stacks(void);
void tn_emu_fiber_give_stacks(unsigned char *stacks);
void tn_emu_fiber_drop_stacks(void);

/*
 * Makes a fiber on the index-th stack: entering it calls entry(argument), which
 * must never return.
 */
void tn_emu_fiber_init(struct tn_emu_fiber *fiber, unsigned char *stacks,
		       size_t index, struct tn_emu_fiber *home,
		       void (*entry)(void *), void *argument);
void tn_emu_fiber_fini(struct tn_emu_fiber *fiber);

/* Called at home: runs the fiber until it leaves. */
void tn_emu_fiber_enter(struct tn_emu_fiber *fiber);
/* Called in the fiber: back to its home. */
void tn_emu_fiber_leave(struct tn_emu_fiber *fiber);

#endif
