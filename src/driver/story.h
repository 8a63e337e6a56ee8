/*
 * The story of a compilation: its events, kept and found again by value.
 *
 *   tn_story_begin(&story, module);
 *   tn_module_lower(module, entry, &target);
 *   if (tn_story_end(&story)) .. tn_story_of(&story, "y") ..
 *   tn_story_fini(&story);
 *
 * Views (explain, report) read this and hook nothing else.
 */
#ifndef TN_DRIVER_STORY_H
#define TN_DRIVER_STORY_H

#include "base/event_read.h"
#include "driver/module.h"

struct tn_story {
	struct tenon_module *module;
	struct tn_arena arena;
	struct tn_vec events;	/* const struct tn_event * */
	struct tn_map values;	/* name -> struct tn_vec * of events */
	struct tn_map schedules;	/* kernel -> its event */
	struct tn_map refusals;	/* kernel -> struct tn_vec * */
	struct tn_map launches;	/* kernel -> struct tn_vec * */
	struct tn_map misses;	/* what each says, told once */
	/* Who listened before, and still does. */
	void (*heard)(void *data, const char *line);
	void *heard_data;
	bool had_events;
};

/* What became of one value. Events are those of doc/events.md; NULL: none. */
struct tn_tale {
	const char *name;
	const struct tn_event *source;	/* of its operator and place */
	const struct tn_event *launch;	/* that makes it */
	const struct tn_event *member;	/* of a group with another root */
	const struct tn_event *schedule, *place, *outside;
	struct tn_vec rewrites;	/* struct tn_tale_rewrite */
	struct tn_vec with;	/* const struct tn_event *: members of it */
	struct tn_vec misses;	/* const struct tn_event * */
};

struct tn_tale_rewrite {
	const struct tn_event *event;
	int64_t times;
};

void tn_story_begin(struct tn_story *story, struct tenon_module *module);
/* No more is kept. False: out of memory. */
bool tn_story_end(struct tn_story *story);
void tn_story_fini(struct tn_story *story);
/* All that is told of the value; false: out of memory. */
bool tn_story_of(struct tn_story *story, const char *name,
		 struct tn_tale *tale);
/* Whether `name` is `wanted` or was made for it: wanted__3. */
bool tn_story_is(const char *name, const char *wanted);
/* "file:line:column" of the event, or of the other operator that it concerns;
 * false: it has no place. */
bool tn_story_place(const struct tn_story *story,
		    const struct tn_event *event, bool of_other,
		    struct tn_buf *out);
/* The same as members of JSON: ,"file":..,"line":..,"column":.. */
void tn_story_place_json(const struct tn_story *story,
			 const struct tn_event *event, bool of_other,
			 struct tn_buf *out);
/* Misses that the pass (NULL: any) tells of the value, or of those made for it
 * (NULL: any). False: out of memory. */
bool tn_story_misses(struct tn_story *story, const char *pass,
		     const char *value, struct tn_vec *out);

#endif
