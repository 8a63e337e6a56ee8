/*
 * Stacks and the switch between them.  On x86-64 a switch is fourteen
 * instructions (ucontext makes two system calls for each); elsewhere, or with
 * TN_EMU_UCONTEXT defined, it is swapcontext.  AddressSanitizer is told of
 * every switch, so a kernel's own arrays are checked like any other.
 *
 * Each stack has a page below it that cannot be touched: a kernel whose local
 * arrays are too large faults there and harms no other thread.
 */
#define _DEFAULT_SOURCE 1

#include "tn_emu_fiber.h"

#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define TN_EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TN_EMU_ASAN 1
#endif
#endif

#ifdef TN_EMU_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

enum {
	GUARD_BYTES = 64 << 10,
#ifdef TN_EMU_ASAN
	STACK_BYTES = 512 << 10,
#else
	STACK_BYTES = 128 << 10,
#endif
	STACK_STRIDE = GUARD_BYTES + STACK_BYTES,
	STACK_COLOURS = 64,
	COLOUR_BYTES = 128
};

/* Set once for the process; a second taker at the same time maps its own. */
static _Atomic(unsigned char *) spare;

#ifndef TN_EMU_SWAP_UCONTEXT

/* Saves the registers that a call keeps, then takes up the other stack. */
void tn_emu_fiber_swap(void **from, void *to);
__asm__(".text\n"
	".p2align 4\n"
	".hidden tn_emu_fiber_swap\n"
	".globl tn_emu_fiber_swap\n"
	".type tn_emu_fiber_swap, @function\n"
	"tn_emu_fiber_swap:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	retq\n"
	".size tn_emu_fiber_swap, . - tn_emu_fiber_swap\n");

#endif

/* The fiber that a first entry begins; begin() has no argument to take. */
static _Thread_local struct tn_emu_fiber *beginning;

static void before_switch(struct tn_emu_fiber *from,
			  const struct tn_emu_fiber *to)
{
#ifdef TN_EMU_ASAN
	__sanitizer_start_switch_fiber(&from->fake, to->low, to->size);
#else
	(void)from;
	(void)to;
#endif
}

static void after_switch(struct tn_emu_fiber *self)
{
#ifdef TN_EMU_ASAN
	__sanitizer_finish_switch_fiber(self->fake, NULL, NULL);
#else
	(void)self;
#endif
}

static void swap(struct tn_emu_fiber *from, struct tn_emu_fiber *to)
{
	before_switch(from, to);
#ifdef TN_EMU_SWAP_UCONTEXT
	swapcontext(&from->context, &to->context);
#else
	tn_emu_fiber_swap(&from->top, to->top);
#endif
	after_switch(from);
}

static void begin(void)
{
	struct tn_emu_fiber *self = beginning;

#ifdef TN_EMU_ASAN
	__sanitizer_finish_switch_fiber(NULL, &self->home->low,
					&self->home->size);
#endif
	self->entry(self->argument);
}

static void unmap(unsigned char *stacks)
{
	if (stacks != NULL)
		munmap(stacks, (size_t)TN_EMU_STACKS * STACK_STRIDE);
}

static unsigned char *map(void)
{
	unsigned char *stacks =
		mmap(NULL, (size_t)TN_EMU_STACKS * STACK_STRIDE,
		     PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stacks == MAP_FAILED)
		return NULL;
	for (size_t i = 0; i < TN_EMU_STACKS; i++) {
		if (mprotect(stacks + i * STACK_STRIDE, GUARD_BYTES,
			     PROT_NONE) == 0)
			continue;
		unmap(stacks);
		return NULL;
	}
	return stacks;
}

/* When a shared object with the stand-in in it is unloaded, its spare set goes
 * too: a process may load thousands, one after the other. */
__attribute__((destructor)) static void unload(void)
{
	unmap(atomic_exchange(&spare, NULL));
}

unsigned char *tn_emu_fiber_take_stacks(void)
{
	unsigned char *stacks = atomic_exchange(&spare, NULL);

	return stacks != NULL ? stacks : map();
}

void tn_emu_fiber_give_stacks(unsigned char *stacks)
{
	if (stacks != NULL)
		unmap(atomic_exchange(&spare, stacks));
}

void tn_emu_fiber_drop_stacks(void)
{
	unmap(atomic_exchange(&spare, NULL));
}

/*
 * Stacks lie whole pages apart, so their tops would share a few sets of the
 * cache; each starts some lines lower than the one before.
 *
 * The first switch on x86-64 pops six registers and returns to begin(), which
 * then finds the stack as the ABI has it after a call: 8 modulo 16.
 */
void tn_emu_fiber_init(struct tn_emu_fiber *fiber, unsigned char *stacks,
		       size_t index, struct tn_emu_fiber *home,
		       void (*entry)(void *), void *argument)
{
	unsigned char *low = stacks + index * STACK_STRIDE + GUARD_BYTES;
	size_t size = STACK_BYTES - index % STACK_COLOURS * COLOUR_BYTES;

	fiber->home = home;
	fiber->entry = entry;
	fiber->argument = argument;
	fiber->fake = NULL;
	fiber->low = low;
	fiber->size = size;
#ifdef TN_EMU_SWAP_UCONTEXT
	getcontext(&fiber->context);
	fiber->context.uc_stack.ss_sp = low;
	fiber->context.uc_stack.ss_size = size;
	fiber->context.uc_link = NULL;
	makecontext(&fiber->context, begin, 0);
#else
	uintptr_t *top = (uintptr_t *)(void *)(low + size);

	*--top = 0;
	*--top = (uintptr_t)begin;
	for (int i = 0; i < 6; i++)
		*--top = 0;
	fiber->top = top;
#endif
}

/* The frames that a fiber leaves behind must not mark memory mapped later. */
void tn_emu_fiber_fini(struct tn_emu_fiber *fiber)
{
#ifdef TN_EMU_ASAN
	ASAN_UNPOISON_MEMORY_REGION(fiber->low, fiber->size);
#else
	(void)fiber;
#endif
}

void tn_emu_fiber_enter(struct tn_emu_fiber *fiber)
{
	beginning = fiber;
	swap(fiber->home, fiber);
}

void tn_emu_fiber_leave(struct tn_emu_fiber *fiber)
{
	swap(fiber, fiber->home);
}
