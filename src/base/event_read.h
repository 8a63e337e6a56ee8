/*
 * Reading lines of the stream of events (event.h), for what shows them.
 *
 *   {"event":"rewrite","pass":"fold","line":3}  ->  kind "rewrite", members
 */
#ifndef TN_BASE_EVENT_READ_H
#define TN_BASE_EVENT_READ_H

#include "base/arena.h"

#include <stdint.h>

struct tn_event_member {
	const char *name;
	const char *text;	/* NULL: a number: */
	int64_t number;		/* its whole part */
};

/* All of it lives in an arena. */
struct tn_event {
	const char *kind;
	int count;
	struct tn_event_member *members;	/* without "event" */
};

/* False: the line is no event, or out of memory (arena->failed). */
bool tn_event_read(struct tn_arena *arena, const char *line,
		   struct tn_event *event);
/* The member's text; NULL: it is not there, or a number. */
const char *tn_event_text_of(const struct tn_event *event, const char *name);
/* The member's number, or `fallback`. */
int64_t tn_event_int_of(const struct tn_event *event, const char *name,
			int64_t fallback);

#endif
