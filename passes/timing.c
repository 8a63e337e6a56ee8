/*
 * The tree of times: noted as parts begin and end, shown as table or JSON.
 *
 *           ms   share  before   after rewrites allocs     kB
 *        2.104  100.0%      12       9       14    310   21.4  pipeline
 *        0.400   19.0%      12      30        6    200   14.0    inline
 *        0.210   10.0%                                             gelu (3)
 */
#include "passes/timing.h"

#include <string.h>
#include <time.h>

#define MAX_CHILDREN 64
#define MAX_SHOWN 10

double tn_timing_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

void tn_timing_init(struct tn_timing *timing)
{
	*timing = (struct tn_timing){ .current = -1 };
	tn_vec_init(&timing->list, sizeof(struct tn_time), NULL);
}

void tn_timing_fini(struct tn_timing *timing)
{
	tn_vec_fini(&timing->list);
}

/* ---- Noting -------------------------------------------------------------- */

static struct tn_time *time_at(const struct tn_timing *timing, int index)
{
	return tn_vec_at(&timing->list, (size_t)index);
}

/* The first part of the name inside the current one; -1: none. */
static int find_part(const struct tn_timing *timing, const char *name)
{
	int at = -1;

	if (timing->current >= 0)
		at = time_at(timing, timing->current)->first;
	while (at >= 0 && strcmp(time_at(timing, at)->name, name))
		at = time_at(timing, at)->next;
	return at;
}

/* A new part inside the current one; -1: out of memory. */
static int new_part(struct tn_timing *timing, const char *name)
{
	int index = (int)timing->list.len;
	struct tn_time *part = tn_vec_push(&timing->list), *parent;

	if (!part) {
		timing->failed = true;
		return -1;
	}
	*part = (struct tn_time){
		.name = name, .parent = timing->current,
		.first = -1, .last = -1, .next = -1
	};
	if (timing->current < 0)
		return index;
	parent = time_at(timing, timing->current);
	if (parent->last >= 0)
		time_at(timing, parent->last)->next = index;
	else
		parent->first = index;
	parent->last = index;
	parent->children++;
	return index;
}

static int part_of(struct tn_timing *timing, const char *name)
{
	int at = find_part(timing, name);

	if (at >= 0)
		return at;
	if (timing->current < 0 ||
	    time_at(timing, timing->current)->children < MAX_CHILDREN)
		return new_part(timing, name);
	at = find_part(timing, "others");
	return at >= 0 ? at : new_part(timing, "others");
}

static void enter(struct tn_timing *timing, int index)
{
	if (index < 0)
		return;
	timing->current = index;
	time_at(timing, index)->start = tn_timing_now();
}

void tn_timing_begin(struct tn_timing *timing, const char *name)
{
	if (timing && !timing->failed)
		enter(timing, part_of(timing, name));
}

void tn_timing_begin_pass(struct tn_timing *timing, const char *name)
{
	int index;

	if (!timing || timing->failed)
		return;
	index = new_part(timing, name);
	if (index < 0)
		return;
	time_at(timing, index)->is_pass = true;
	enter(timing, index);
}

void tn_timing_end(struct tn_timing *timing)
{
	struct tn_time *part;

	if (!timing || timing->failed)
		return;
	part = time_at(timing, timing->current);
	part->ms += tn_timing_now() - part->start;
	part->times++;
	timing->current = part->parent;
}

void tn_timing_end_pass(struct tn_timing *timing,
			const struct tn_time_work *work)
{
	if (!timing || timing->failed)
		return;
	time_at(timing, timing->current)->work = *work;
	tn_timing_end(timing);
}

/* ---- Showing ------------------------------------------------------------- */

/* Of the whole, in per cent. */
static double share_of(const struct tn_timing *timing,
		       const struct tn_time *part)
{
	const struct tn_time *root = part;

	while (root->parent >= 0)
		root = time_at(timing, root->parent);
	return root->ms > 0 ? 100 * part->ms / root->ms : 0;
}

/* How many of its siblings took longer, or as long and stand ahead. */
static int rank_of(const struct tn_timing *timing, int index)
{
	const struct tn_time *part = time_at(timing, index), *other;
	int at = time_at(timing, part->parent)->first, rank = 0;

	for (; at >= 0; at = other->next) {
		other = time_at(timing, at);
		rank += other->ms > part->ms ||
			(other->ms == part->ms && at < index);
	}
	return rank;
}

static bool is_shown(const struct tn_timing *timing, int index)
{
	const struct tn_time *part = time_at(timing, index);

	return part->is_pass || part->parent < 0 ||
		!time_at(timing, part->parent)->is_pass ||
		rank_of(timing, index) < MAX_SHOWN;
}

static void print_part(const struct tn_timing *timing,
		       const struct tn_time *part, int depth,
		       struct tn_buf *out)
{
	const struct tn_time_work *work = &part->work;

	tn_buf_putf(out, "%10.3f %6.1f%% ", part->ms,
		    share_of(timing, part));
	if (part->is_pass)
		tn_buf_putf(out, "%7lld %7lld %8lld %7lld %8.1f  ",
			    (long long)work->before, (long long)work->after,
			    (long long)work->rewrites,
			    (long long)work->allocations,
			    (double)work->bytes / 1e3);
	else
		tn_buf_pad(out, ' ', 43);
	tn_buf_pad(out, ' ', (size_t)(2 * depth));
	tn_buf_put(out, part->name);
	if (part->times > 1)
		tn_buf_putf(out, " (%lld)", (long long)part->times);
	tn_buf_putc(out, '\n');
}

/* The part behind this one in the order of the tree; *depth moves along. */
static int next_part(const struct tn_timing *timing, int index, int *depth)
{
	const struct tn_time *part = time_at(timing, index);

	if (part->first >= 0) {
		++*depth;
		return part->first;
	}
	while (part->next < 0 && part->parent >= 0) {
		part = time_at(timing, part->parent);
		--*depth;
	}
	return part->next;
}

/* The root behind this part; -1: none. */
static int next_root(const struct tn_timing *timing, int index)
{
	int n = (int)timing->list.len;

	while (++index < n && time_at(timing, index)->parent >= 0)
		continue;
	return index < n ? index : -1;
}

void tn_timing_print(const struct tn_timing *timing, struct tn_buf *out)
{
	int root, at, depth;

	if (!timing->list.len)
		return;
	tn_buf_put(out, "        ms   share  before   after rewrites  "
		   "allocs       kB  what\n");
	for (root = 0; root >= 0; root = next_root(timing, root))
		for (at = root, depth = 0; at >= 0;
		     at = next_part(timing, at, &depth))
			if (is_shown(timing, at))
				print_part(timing, time_at(timing, at), depth,
					   out);
}

/* Without the point that a locale may have. */
static void put_fixed(struct tn_buf *out, double value)
{
	long long millionths = (long long)(value * 1e6 + 0.5);

	tn_buf_putf(out, "%lld.%06lld", millionths / 1000000,
		    millionths % 1000000);
}

/* All of the part but its own parts. */
static void json_part(const struct tn_timing *timing,
		      const struct tn_time *part, struct tn_buf *out)
{
	const struct tn_time_work *work = &part->work;

	tn_buf_put(out, "{\"name\":");
	tn_buf_put_json(out, part->name);
	tn_buf_put(out, ",\"ms\":");
	put_fixed(out, part->ms);
	tn_buf_put(out, ",\"share\":");
	put_fixed(out, share_of(timing, part) / 100);
	tn_buf_putf(out, ",\"times\":%lld", (long long)part->times);
	if (part->is_pass)
		tn_buf_putf(out, ",\"before\":%lld,\"after\":%lld,"
			    "\"rewrites\":%lld,\"allocations\":%lld,"
			    "\"bytes\":%lld", (long long)work->before,
			    (long long)work->after, (long long)work->rewrites,
			    (long long)work->allocations,
			    (long long)work->bytes);
	tn_buf_put(out, ",\"parts\":[");
}

/* The part, all inside it, and what closes the brackets. */
static void json_tree(const struct tn_timing *timing, int root,
		      struct tn_buf *out)
{
	int at = root, depth = 0, before;

	while (at >= 0) {
		json_part(timing, time_at(timing, at), out);
		before = depth;
		at = next_part(timing, at, &depth);
		if (depth > before)
			continue;
		for (; before >= depth; before--)
			tn_buf_put(out, "]}");
		tn_buf_put(out, at >= 0 ? "," : "");
	}
}

void tn_timing_json(const struct tn_timing *timing, struct tn_buf *out)
{
	int root = timing->list.len ? 0 : -1;

	tn_buf_putc(out, '[');
	for (; root >= 0; root = next_root(timing, root)) {
		tn_buf_put(out, root ? "," : "");
		json_tree(timing, root, out);
	}
	tn_buf_put(out, "]\n");
}
