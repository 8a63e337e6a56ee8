/*
 * The stream of events: one JSON object a line, of what the stages did.
 *
 *   {"event":"rewrite","pass":"fold","rule":"fold","fn":"mlp","op":"add"}
 *
 * doc/events.md names every event and field. A stream that is NULL takes
 * events and drops them, so writers need not ask.
 */
#ifndef TN_BASE_EVENT_H
#define TN_BASE_EVENT_H

#include <stdint.h>

#include "base/buf.h"

struct tn_events {
	/* Gets each line without its newline, NUL-terminated. */
	void (*write)(void *data, const char *line);
	void *data;
	struct tn_buf line;	/* the event being written */
	bool failed;		/* out of memory: an event was dropped */
};

void tn_events_init(struct tn_events *events,
		    void (*write)(void *data, const char *line), void *data);
void tn_events_fini(struct tn_events *events);

/* One event: begin, its members in order, end. */
void tn_event_begin(struct tn_events *events, const char *kind);
/* Any bytes; what is not UTF-8 becomes U+FFFD. NULL: the member is left
 * out. */
void tn_event_text(struct tn_events *events, const char *name,
		   const char *value);
void tn_event_int(struct tn_events *events, const char *name, int64_t value);
/* With three digits behind the point. */
void tn_event_real(struct tn_events *events, const char *name, double value);
void tn_event_end(struct tn_events *events);

#endif
