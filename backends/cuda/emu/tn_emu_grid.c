/*
 * Runs a grid: in come a kernel, its arguments and the shape of the launch; out
 * comes what the kernel wrote, or the reason why a block got stuck.
 *
 * Blocks run one after another.  The threads of a block run on fibers, made
 * only when needed: a fiber runs threads one after another in a plain loop, and
 * a second fiber starts only when a thread has to wait.  So a kernel that never
 * waits runs on one fiber, and one that shuffles runs warp by warp on 32.
 *
 *	NEW -> (running) -> BARRIER | WARP -> READY -> (running) -> DONE
 *
 * Invariants: at most one thread runs; every thread in the ready ring has state
 * READY; waiting counts the BARRIER threads, done the DONE ones.  All state
 * belongs to the launch and to the operating system's thread, so launches on
 * several of those do not meet.
 */
#include "tn_emu_grid.h"
#include "tn_emu_fiber.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define TN_EMU_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TN_EMU_ASAN 1
#endif
#endif

#ifdef TN_EMU_ASAN
#include <sanitizer/asan_interface.h>
#endif

enum state { NEW, READY, BARRIER, WARP, DONE };

struct worker;

struct thread {
	struct worker *worker;
	enum state state;
	enum tn_emu_warp_op op;
	unsigned mask;
	int argument, width;
	unsigned long long value, result;
};

/* A fiber and the thread of the block that it runs now. */
struct worker {
	struct tn_emu_fiber fiber;
	struct grid *grid;
	unsigned index;
};

struct grid {
	const struct tn_emu_launch *launch;
	struct tn_emu_fiber home;
	struct thread *thread;
	struct worker *worker, **idle;
	unsigned char *stacks;
	unsigned *ring;
	unsigned threads, workers, idlers;
	unsigned next, first_ready, ready, waiting, done, running;
	const char *fault;
};

TN_EMU_THREAD_LOCAL uint3 tn_emu_thread, tn_emu_block;
TN_EMU_THREAD_LOCAL dim3 tn_emu_block_dim, tn_emu_grid_dim;

/* The array that device code declares as extern __shared__. */
extern TN_EMU_THREAD_LOCAL unsigned char tn_smem[TN_EMU_SHARED_MAX];
_Alignas(256) TN_EMU_THREAD_LOCAL unsigned char tn_smem[TN_EMU_SHARED_MAX];

static _Thread_local struct grid *current;

static void place_thread(struct grid *g, unsigned index)
{
	dim3 size = g->launch->block;

	g->running = index;
	tn_emu_thread.x = index % size.x;
	tn_emu_thread.y = index / size.x % size.y;
	tn_emu_thread.z = index / size.x / size.y;
}

static void make_ready(struct grid *g, unsigned index)
{
	g->thread[index].state = READY;
	g->ring[(g->first_ready + g->ready) % g->threads] = index;
	g->ready++;
}

static unsigned take_ready(struct grid *g)
{
	unsigned index = g->ring[g->first_ready];

	g->first_ready = (g->first_ready + 1) % g->threads;
	g->ready--;
	return index;
}

static void give_up(struct grid *g, const char *fault)
{
	if (g->fault == NULL)
		g->fault = fault;
}

/* Puts the running thread to sleep; returns when it is entered again. */
static void sleep_thread(struct grid *g, enum state state)
{
	unsigned index = g->running;

	g->thread[index].state = state;
	tn_emu_fiber_leave(&g->thread[index].worker->fiber);
	place_thread(g, index);
}

static void open_barrier(struct grid *g)
{
	if (g->waiting == 0 || g->waiting + g->done != g->threads)
		return;
	g->waiting = 0;
	for (unsigned i = 0; i < g->threads; i++)
		if (g->thread[i].state == BARRIER)
			make_ready(g, i);
}

void tn_emu_barrier(void)
{
	struct grid *g = current;

	g->waiting++;
	g->thread[g->running].state = BARRIER;
	open_barrier(g);
	sleep_thread(g, g->thread[g->running].state);
}

/* The source lane of a shuffle as PTX defines it for shfl.sync. */
static unsigned source_lane(const struct thread *t, unsigned lane)
{
	unsigned width = (unsigned)t->width;
	unsigned base = lane & ~(width - 1), last = base + width - 1;
	unsigned by = (unsigned)t->argument % TN_EMU_WARP;
	unsigned from = lane;

	if (t->op == TN_EMU_WARP_INDEX)
		return base | (by & (width - 1));
	if (t->op == TN_EMU_WARP_UP)
		return lane >= base + by ? lane - by : lane;
	if (t->op == TN_EMU_WARP_DOWN)
		from = lane + by;
	if (t->op == TN_EMU_WARP_XOR)
		from = lane ^ by;
	return from <= last ? from : lane;
}

static int is_together(const struct thread *a, const struct thread *b)
{
	return b->state == WARP && b->op == a->op && b->mask == a->mask;
}

/* Has every thread of the mask come or returned?  Looks last lane first. */
static int is_complete(const struct grid *g, unsigned first,
		       const struct thread *self)
{
	for (unsigned lane = TN_EMU_WARP; lane-- > 0;) {
		if ((self->mask >> lane & 1) == 0 || first + lane >= g->threads)
			continue;
		const struct thread *t = &g->thread[first + lane];
		if (t->state != DONE && !is_together(self, t))
			return 0;
	}
	return 1;
}

/* Bit l is set when lane l takes part, and its value is in value[l]. */
static unsigned gather_lanes(const struct grid *g, unsigned first,
			     const struct thread *self,
			     unsigned long long *value, unsigned *ballot)
{
	unsigned lanes = 0;

	*ballot = 0;
	for (unsigned l = 0; l < TN_EMU_WARP && first + l < g->threads; l++) {
		const struct thread *t = &g->thread[first + l];
		if ((self->mask >> l & 1) == 0 || !is_together(self, t))
			continue;
		lanes |= 1u << l;
		value[l] = t->value;
		if (t->value != 0)
			*ballot |= 1u << l;
	}
	return lanes;
}

/* Gives each thread that takes part its result and makes it ready. */
static void finish_warp(struct grid *g, unsigned first,
			const struct thread *one)
{
	struct thread self = *one;
	unsigned long long value[TN_EMU_WARP];
	unsigned ballot;
	unsigned lanes = gather_lanes(g, first, &self, value, &ballot);

	for (unsigned l = 0; l < TN_EMU_WARP; l++) {
		if ((lanes >> l & 1) == 0)
			continue;
		struct thread *t = &g->thread[first + l];
		unsigned from = source_lane(t, l);
		if (t->op == TN_EMU_WARP_SYNC || t->op == TN_EMU_WARP_BALLOT)
			t->result = ballot;
		else
			t->result = lanes >> from & 1 ? value[from] : ~0ull;
		make_ready(g, first + l);
	}
}

static int is_width(int width)
{
	return width > 0 && width <= TN_EMU_WARP && (width & (width - 1)) == 0;
}

unsigned long long tn_emu_warp(enum tn_emu_warp_op op, unsigned mask,
			       unsigned long long value, int argument,
			       int width)
{
	struct grid *g = current;
	unsigned index = g->running, lane = index % TN_EMU_WARP;
	struct thread *t = &g->thread[index];

	if ((mask >> lane & 1) == 0)
		give_up(g, "a thread is not in the mask of its warp operation");
	if (!is_width(width))
		give_up(g, "the width of a shuffle is no power of two to 32");
	t->op = op;
	t->mask = mask;
	t->value = value;
	t->argument = argument;
	t->width = width;
	t->state = WARP;
	if (g->fault == NULL && is_complete(g, index - lane, t))
		finish_warp(g, index - lane, t);
	sleep_thread(g, t->state);
	return t->result;
}

/* A thread that returned may be the one that its warp waited for. */
static void leave_warp(struct grid *g, unsigned index)
{
	unsigned first = index - index % TN_EMU_WARP;

	for (unsigned l = 0; l < TN_EMU_WARP && first + l < g->threads; l++) {
		const struct thread *t = &g->thread[first + l];
		if (t->state == NEW)
			return;
		if (t->state == WARP && is_complete(g, first, t))
			finish_warp(g, first, t);
	}
}

static void begin_thread(struct grid *g, struct worker *w)
{
	struct thread *t = &g->thread[g->next];

	w->index = g->next++;
	t->worker = w;
	t->state = READY;
	if (w->index % TN_EMU_WARP == 0)
		for (unsigned i = 1; i < TN_EMU_WARP; i++)
			if (w->index + i < g->threads)
				t[i].state = NEW;
}

static void end_thread(struct grid *g, unsigned index)
{
	g->thread[index].state = DONE;
	g->done++;
	if (g->workers - g->idlers == 1)
		return;
	leave_warp(g, index);
	open_barrier(g);
}

/* The body of every fiber: threads in a loop while none is ready to go on. */
static void work(void *argument)
{
	struct worker *w = argument;
	struct grid *g = w->grid;
	const struct tn_emu_launch *l = g->launch;

	for (;;) {
		place_thread(g, w->index);
		l->kernel->call(l->kernel->kernel, l->arguments);
		end_thread(g, w->index);
		if (g->ready == 0 && g->next < g->threads) {
			begin_thread(g, w);
			continue;
		}
		g->idle[g->idlers++] = w;
		tn_emu_fiber_leave(&w->fiber);
	}
}

static struct worker *take_worker(struct grid *g)
{
	struct worker *w = &g->worker[g->workers];

	if (g->idlers > 0)
		return g->idle[--g->idlers];
	w->grid = g;
	tn_emu_fiber_init(&w->fiber, g->stacks, g->workers, &g->home, work, w);
	g->workers++;
	return w;
}

static void begin_worker(struct grid *g)
{
	struct worker *w = take_worker(g);

	begin_thread(g, w);
	tn_emu_fiber_enter(&w->fiber);
}

static void resume_worker(struct grid *g)
{
	tn_emu_fiber_enter(&g->thread[take_ready(g)].worker->fiber);
}

static cudaError_t run_block(struct grid *g)
{
	g->next = g->first_ready = g->ready = g->waiting = g->done = 0;
	memset(tn_smem, 0xff, g->launch->shared);
	while (g->fault == NULL && (g->ready > 0 || g->next < g->threads)) {
		if (g->ready > 0)
			resume_worker(g);
		else
			begin_worker(g);
	}
	if (g->done < g->threads)
		give_up(g, "threads wait for each other for ever");
	return g->fault == NULL ? cudaSuccess : cudaErrorLaunchFailure;
}

static cudaError_t run_blocks(struct grid *g)
{
	dim3 n = g->launch->grid;
	unsigned long long blocks = (unsigned long long)n.x * n.y * n.z;
	cudaError_t error = cudaSuccess;

	tn_emu_block_dim = g->launch->block;
	tn_emu_grid_dim = n;
	for (unsigned long long i = 0; i < blocks && error == cudaSuccess;
	     i++) {
		tn_emu_block.x = (unsigned)(i % n.x);
		tn_emu_block.y = (unsigned)(i / n.x % n.y);
		tn_emu_block.z = (unsigned)(i / n.x / n.y);
		error = run_block(g);
	}
	return error;
}

static void describe(const struct grid *g, char *message, size_t size)
{
	unsigned in_warp = 0;

	for (unsigned i = 0; i < g->next; i++)
		in_warp += g->thread[i].state == WARP;
	snprintf(message, size,
		 "kernel %s, block (%u, %u, %u): %s (%u threads at a barrier, "
		 "%u at a warp operation, %u returned)",
		 g->launch->kernel->name, tn_emu_block.x, tn_emu_block.y,
		 tn_emu_block.z, g->fault, g->waiting, in_warp, g->done);
}

_Static_assert((int)TN_EMU_STACKS >= (int)TN_EMU_BLOCK_MAX,
	       "each thread of a block may need a stack");

static int init_grid(struct grid *g, const struct tn_emu_launch *launch)
{
	memset(g, 0, sizeof *g);
	g->launch = launch;
	g->threads = launch->block.x * launch->block.y * launch->block.z;
	g->thread = calloc(g->threads, sizeof *g->thread);
	g->worker = calloc(g->threads, sizeof *g->worker);
	g->idle = calloc(g->threads, sizeof *g->idle);
	g->ring = calloc(g->threads, sizeof *g->ring);
	g->stacks = tn_emu_fiber_take_stacks();
	return g->thread != NULL && g->worker != NULL && g->idle != NULL &&
	       g->ring != NULL && g->stacks != NULL;
}

static void fini_grid(struct grid *g)
{
	for (unsigned i = 0; i < g->workers; i++)
		tn_emu_fiber_fini(&g->worker[i].fiber);
	tn_emu_fiber_give_stacks(g->stacks);
	free(g->ring);
	free(g->idle);
	free(g->worker);
	free(g->thread);
}

/* Under AddressSanitizer, what the launch did not ask for faults on access. */
static void fence_shared(size_t used, int closed)
{
#ifdef TN_EMU_ASAN
	if (closed)
		ASAN_POISON_MEMORY_REGION(tn_smem + used,
					  sizeof tn_smem - used);
	else
		ASAN_UNPOISON_MEMORY_REGION(tn_smem, sizeof tn_smem);
#else
	(void)used;
	(void)closed;
#endif
}

cudaError_t tn_emu_run(const struct tn_emu_launch *launch, char *message,
		       size_t message_size)
{
	struct grid g;
	cudaError_t error = cudaErrorMemoryAllocation;

	if (init_grid(&g, launch)) {
		current = &g;
		fence_shared(launch->shared, 1);
		error = run_blocks(&g);
		fence_shared(launch->shared, 0);
		current = NULL;
	}
	if (error == cudaErrorLaunchFailure)
		describe(&g, message, message_size);
	fini_grid(&g);
	return error;
}
