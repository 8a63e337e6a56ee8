/*
 * Offsets: buffers into one arena, none over another that lives with it.
 *
 * In: buffers with the steps at which they live; those that take the bytes of
 * another are one with it. Out: offsets, and the size of the arena.
 *
 * Several ways are tried, and the smallest arena is taken; the first that is no
 * larger than the peak of live bytes ends it.
 * - By time: in order of first step; expired buffers return to a list of free
 *   ranges, kept sorted and merged, and the smallest range that fits is taken.
 *   Nearly linear.
 * - By size, and by size times life: the largest first, each into the smallest
 *   gap between those that live with it; then some orders that differ from
 *   these by chance, the same ones each time. Quadratic, so only for functions
 *   of some hundred buffers. (Pisarchyk, Lee: Efficient memory management for
 *   deep neural net inference, 2020, section 5.2.)
 */
#include "passes/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/random.h"

/* Most buffers that are placed by size, and steps for orders by chance. */
#define MAX_BY_SIZE 1024
#define MAX_STEPS (1 << 20)
#define MAX_ORDERS 64

/* ---- By time ------------------------------------------------------------- */

struct range {
	int64_t offset, bytes;
};

/* Free ranges by offset, and the buffers alive, as a heap by last step. */
struct ranges {
	struct range *free;
	int nfree, cap;
	struct tn_interval **heap;
	int nheap;
	int64_t end;		/* of the arena so far */
};

static void drop_range(struct ranges *r, int i)
{
	r->nfree--;
	memmove(r->free + i, r->free + i + 1,
		(size_t)(r->nfree - i) * sizeof(*r->free));
}

/* First range whose offset is above `offset`. */
static int find_range(const struct ranges *r, int64_t offset)
{
	int lo = 0, hi = r->nfree, mid;

	while (lo < hi) {
		mid = (lo + hi) / 2;
		if (r->free[mid].offset > offset)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void give_range(struct ranges *r, int64_t offset, int64_t bytes)
{
	int i = find_range(r, offset);

	if (i > 0 && r->free[i - 1].offset + r->free[i - 1].bytes == offset) {
		i--;
		r->free[i].bytes += bytes;
	} else {
		memmove(r->free + i + 1, r->free + i,
			(size_t)(r->nfree - i) * sizeof(*r->free));
		r->free[i].offset = offset;
		r->free[i].bytes = bytes;
		r->nfree++;
	}
	if (i + 1 < r->nfree && r->free[i].offset + r->free[i].bytes ==
	    r->free[i + 1].offset) {
		r->free[i].bytes += r->free[i + 1].bytes;
		drop_range(r, i + 1);
	}
}

/* The smallest free range that fits; else the arena grows, from its last
 * free range if that touches the end. */
static bool take_range(struct ranges *r, int64_t bytes, int64_t *offset)
{
	int i, best = -1;

	for (i = 0; i < r->nfree; i++)
		if (r->free[i].bytes >= bytes &&
		    (best < 0 || r->free[i].bytes < r->free[best].bytes))
			best = i;
	if (best < 0) {
		best = r->nfree - 1;
		if (best < 0 || r->free[best].offset + r->free[best].bytes !=
		    r->end) {
			*offset = r->end;
			return tn_num_add(r->end, bytes, &r->end);
		}
		*offset = r->free[best].offset;
		drop_range(r, best);
		return tn_num_add(*offset, bytes, &r->end);
	}
	*offset = r->free[best].offset;
	r->free[best].offset += bytes;
	r->free[best].bytes -= bytes;
	if (r->free[best].bytes == 0)
		drop_range(r, best);
	return true;
}

static void sift_down(struct ranges *r, int i)
{
	struct tn_interval *moved = r->heap[i];
	int child;

	while ((child = 2 * i + 1) < r->nheap) {
		if (child + 1 < r->nheap &&
		    r->heap[child + 1]->until < r->heap[child]->until)
			child++;
		if (moved->until <= r->heap[child]->until)
			break;
		r->heap[i] = r->heap[child];
		i = child;
	}
	r->heap[i] = moved;
}

static void push_heap(struct ranges *r, struct tn_interval *interval)
{
	int i = r->nheap++;

	while (i > 0 && r->heap[(i - 1) / 2]->until > interval->until) {
		r->heap[i] = r->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	r->heap[i] = interval;
}

/* Returns what ended before `step`. */
static void expire(struct ranges *r, int64_t step)
{
	struct tn_interval *top;

	while (r->nheap && r->heap[0]->until < step) {
		top = r->heap[0];
		give_range(r, top->offset, top->bytes);
		r->heap[0] = r->heap[--r->nheap];
		if (r->nheap)
			sift_down(r, 0);
	}
}

static bool place_by_time(const struct tn_plan *plan, struct ranges *r)
{
	struct tn_interval *interval;
	size_t i;

	for (i = 0; i < plan->intervals.len; i++) {
		interval = tn_vec_at(&plan->intervals, i);
		if (interval->over)
			continue;
		expire(r, interval->first);
		if (!take_range(r, interval->bytes, &interval->offset))
			return false;
		push_heap(r, interval);
	}
	return true;
}

static bool by_time(struct tn_plan *plan)
{
	struct ranges r = { 0 };
	size_t n = plan->intervals.len + 1;
	bool good;

	r.free = calloc(n, sizeof(*r.free));
	r.heap = calloc(n, sizeof(*r.heap));
	good = r.free && r.heap && place_by_time(plan, &r);
	plan->size = r.end;
	free(r.free);
	free(r.heap);
	return good;
}

/* ---- By size ------------------------------------------------------------- */

/* A buffer, and where this way puts it. */
struct block {
	struct tn_interval *interval;
	int64_t offset;
	double weight;
};

static int by_weight(const void *a, const void *b)
{
	const struct block *x = a, *y = b;

	if (x->weight > y->weight || x->weight < y->weight)
		return x->weight > y->weight ? -1 : 1;
	return x->interval < y->interval ? -1 : x->interval > y->interval;
}

static bool live_together(const struct tn_interval *a,
			  const struct tn_interval *b)
{
	return a->first <= b->until && b->first <= a->until;
}

/* The smallest gap between those of `placed`, which are sorted by offset, that
 * live with the block; else behind them. False: beyond 64 bits. */
static bool find_gap(struct block *const *placed, int n, struct block *block)
{
	int64_t bytes = block->interval->bytes, at = 0, best = INT64_MAX, gap;
	int64_t found = -1, end;
	int i;

	for (i = 0; i < n; i++) {
		if (!live_together(placed[i]->interval, block->interval))
			continue;
		gap = placed[i]->offset - at;
		if (gap >= bytes && gap < best) {
			best = gap;
			found = at;
		}
		end = placed[i]->offset + placed[i]->interval->bytes;
		at = end > at ? end : at;
	}
	block->offset = found < 0 ? at : found;
	return tn_num_add(block->offset, bytes, &end);
}

static void insert(struct block **placed, int n, struct block *block)
{
	for (; n > 0 && placed[n - 1]->offset > block->offset; n--)
		placed[n] = placed[n - 1];
	placed[n] = block;
}

/* Places in the order of the list; the size of the arena, INT64_MAX: none. */
static int64_t place_in_order(struct block *blocks, int n,
			      struct block **placed)
{
	int64_t size = 0, end;
	int i;

	for (i = 0; i < n; i++) {
		if (!find_gap(placed, i, &blocks[i]))
			return INT64_MAX;
		insert(placed, i, &blocks[i]);
		end = blocks[i].offset + blocks[i].interval->bytes;
		size = end > size ? end : size;
	}
	return size;
}

/* Takes the offsets of this order if the arena is smaller so. */
static void try_order(struct tn_plan *plan, struct block *blocks, int n,
		      struct block **placed)
{
	int64_t size;
	int i;

	if (plan->size <= plan->peak)
		return;
	qsort(blocks, (size_t)n, sizeof(*blocks), by_weight);
	size = place_in_order(blocks, n, placed);
	if (size >= plan->size)
		return;
	plan->size = size;
	for (i = 0; i < n; i++)
		blocks[i].interval->offset = blocks[i].offset;
}

static int collect(const struct tn_plan *plan, struct block *blocks)
{
	struct tn_interval *interval;
	size_t i;
	int n = 0;

	for (i = 0; i < plan->intervals.len; i++) {
		interval = tn_vec_at(&plan->intervals, i);
		if (!interval->over)
			blocks[n++].interval = interval;
	}
	return n;
}

/* Orders near those by size and by area, as many as are cheap. */
static void try_chance(struct tn_plan *plan, struct block *blocks, int n,
		       struct block **placed)
{
	uint64_t state = 1;
	const struct tn_interval *x;
	int order, i, orders = MAX_STEPS / (n * n + 1);
	double life;

	orders = orders < MAX_ORDERS ? orders : MAX_ORDERS;
	for (order = 0; order < orders && plan->size > plan->peak; order++) {
		for (i = 0; i < n; i++) {
			x = blocks[i].interval;
			life = order % 2 ? (double)(x->until - x->first + 1) :
					   1.0;
			blocks[i].weight = (double)x->bytes * life *
				(double)(tn_random(&state) % 1024 + 512);
		}
		try_order(plan, blocks, n, placed);
	}
}

static bool by_size(struct tn_plan *plan)
{
	size_t count = plan->intervals.len;
	struct block *blocks = calloc(count, sizeof(*blocks));
	struct block **placed = calloc(count, sizeof(*placed));
	const struct tn_interval *interval;
	bool good = blocks && placed;
	int n = good ? collect(plan, blocks) : 0, i;

	for (i = 0; i < n; i++)
		blocks[i].weight = (double)blocks[i].interval->bytes;
	try_order(plan, blocks, n, placed);
	for (i = 0; i < n; i++) {
		interval = blocks[i].interval;
		blocks[i].weight = (double)interval->bytes *
			(double)(interval->until - interval->first + 1);
	}
	try_order(plan, blocks, n, placed);
	try_chance(plan, blocks, n, placed);
	free(blocks);
	free(placed);
	return good;
}

/* ---- The smallest -------------------------------------------------------- */

bool tn_plan_place(struct tn_plan *plan)
{
	struct tn_interval *interval;
	size_t i;

	if (!by_time(plan))
		return false;
	if (plan->size > plan->peak && plan->intervals.len <= MAX_BY_SIZE &&
	    !by_size(plan))
		return false;
	for (i = 0; i < plan->intervals.len; i++) {
		interval = tn_vec_at(&plan->intervals, i);
		if (interval->over)
			interval->offset = interval->over->offset;
	}
	return true;
}
