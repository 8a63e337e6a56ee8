/*
 * Where the time of a pipeline goes: a tree of parts.
 *
 *   tn_timing_begin(timing, "matcher");
 *   ...
 *   tn_timing_end(timing);
 *
 * Parts of one name inside the same part are one, and counted. A timing that
 * is NULL takes all of it and does nothing.
 */
#ifndef TN_PASSES_TIMING_H
#define TN_PASSES_TIMING_H

#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"

/* What a pass did, beside taking time. */
struct tn_time_work {
	int64_t before, after;	/* operators of the function */
	int64_t rewrites;
	int64_t allocations;	/* from the module's arena */
	int64_t bytes;		/* of these */
};

struct tn_time {
	const char *name;	/* borrowed; outlives the timing */
	int parent;		/* its index, -1: none */
	int first, last, next;	/* children and sibling, -1: none */
	int children;
	int64_t times;		/* how often */
	double start, ms;
	bool is_pass;		/* then: */
	struct tn_time_work work;
};

struct tn_timing {
	struct tn_vec list;	/* struct tn_time, parents ahead */
	int current;		/* index, -1: none */
	bool failed;		/* sticky: out of memory; no more is kept */
};

/* Milliseconds since some moment. */
double tn_timing_now(void);
void tn_timing_init(struct tn_timing *timing);
void tn_timing_fini(struct tn_timing *timing);
/* The name has to live as long as the timing. A part with 64 others already
 * in its parent is added to one named "others". */
void tn_timing_begin(struct tn_timing *timing, const char *name);
/* As above; a part of its own, however many have the name. */
void tn_timing_begin_pass(struct tn_timing *timing, const char *name);
void tn_timing_end(struct tn_timing *timing);
void tn_timing_end_pass(struct tn_timing *timing,
			const struct tn_time_work *work);

/* A table, indented as the tree is; of the parts of a pass the ten slowest. */
void tn_timing_print(const struct tn_timing *timing, struct tn_buf *out);
/* An array of the roots: name, ms, share, times, of passes their work, and
 * parts. */
void tn_timing_json(const struct tn_timing *timing, struct tn_buf *out);

#endif
