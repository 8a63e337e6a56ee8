/*
 * The story of a compilation: events kept as they come, found by value.
 */
#include "driver/story.h"

#include <string.h>

#include "base/ascii.h"

/* ---- Keeping ------------------------------------------------------------ */

static bool note_under(struct tn_story *story, struct tn_map *map,
		       const char *name, const struct tn_event *event)
{
	struct tn_vec *list = tn_map_find(map, name);

	if (!list) {
		list = tn_arena_alloc(&story->arena, sizeof(*list));
		if (!list || !tn_map_set(map, name, list))
			return false;
		tn_vec_init(list, sizeof(const struct tn_event *),
			    &story->arena);
	}
	if (list->len && tn_vec_ptr(list, list->len - 1) == event)
		return true;
	return tn_vec_push_ptr(list, event);
}

static const char *or_empty(const struct tn_event *event, const char *name)
{
	const char *text = tn_event_text_of(event, name);

	return text ? text : "";
}

/* True if the miss was told before. */
static bool is_old_miss(struct tn_story *story, const struct tn_event *event)
{
	const char *key = tn_arena_printf(&story->arena, "%s\n%s\n%s\n%s\n%s",
					  or_empty(event, "pass"),
					  or_empty(event, "rule"),
					  or_empty(event, tn_event_text_of(
						event, "kernel") ?
						"kernel" : "value"),
					  or_empty(event, "other"),
					  or_empty(event, "reason"));

	if (key && tn_map_has(&story->misses, key))
		return true;
	if (!key || !tn_map_set(&story->misses, key, story))
		story->arena.failed = true;
	return false;
}

/* Under each value that the event names. */
static bool note_event(struct tn_story *story, const struct tn_event *event)
{
	static const char *const names[] = { "value", "root", "other" };
	const char *name;
	size_t i;

	if (!strcmp(event->kind, "miss") && is_old_miss(story, event))
		return true;
	name = tn_event_text_of(event, "kernel");
	if (!strcmp(event->kind, "miss") && name &&
	    !note_under(story, &story->refusals, name, event))
		return false;
	if (!strcmp(event->kind, "launch") &&
	    !note_under(story, &story->launches, name, event))
		return false;
	if (!strcmp(event->kind, "schedule") &&
	    !tn_map_set(&story->schedules, tn_event_text_of(event, "kernel"),
			(void *)(uintptr_t)event))
		return false;
	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		name = tn_event_text_of(event, names[i]);
		if (name && !note_under(story, &story->values, name, event))
			return false;
	}
	return tn_vec_push_ptr(&story->events, event);
}

static void keep(void *data, const char *line)
{
	struct tn_story *story = data;
	struct tn_event *event = tn_arena_alloc(&story->arena, sizeof(*event));

	if (!event || !tn_event_read(&story->arena, line, event) ||
	    !note_event(story, event))
		story->arena.failed = true;
	if (story->had_events)
		story->heard(story->heard_data, line);
}

void tn_story_begin(struct tn_story *story, struct tenon_module *module)
{
	struct tenon_context *context = module->context;

	*story = (struct tn_story){
		.module = module, .heard = context->events.write,
		.heard_data = context->events.data,
		.had_events = context->has_events
	};
	tn_arena_init(&story->arena);
	tn_vec_init(&story->events, sizeof(const struct tn_event *),
		    &story->arena);
	tn_map_init_text(&story->values);
	tn_map_init_text(&story->misses);
	tn_map_init_text(&story->schedules);
	tn_map_init_text(&story->refusals);
	tn_map_init_text(&story->launches);
	tenon_context_on_event(context, keep, story);
}

bool tn_story_end(struct tn_story *story)
{
	struct tenon_context *context = story->module->context;

	context->events.write = story->heard;
	context->events.data = story->heard_data;
	context->has_events = story->had_events;
	return !story->arena.failed;
}

void tn_story_fini(struct tn_story *story)
{
	tn_map_fini(&story->values);
	tn_map_fini(&story->misses);
	tn_map_fini(&story->schedules);
	tn_map_fini(&story->refusals);
	tn_map_fini(&story->launches);
	tn_arena_fini(&story->arena);
}

/* ---- Places -------------------------------------------------------------- */

struct place {
	const char *file;
	uint32_t line, column;
};

/* Sources are few. */
static uint32_t find_source(const struct tn_sink *sink, const char *name)
{
	const struct tn_source *source;
	size_t i;

	for (i = 0; i < sink->sources.len; i++) {
		source = tn_vec_at(&sink->sources, i);
		if (!strcmp(source->name, name))
			return (uint32_t)i + 1;
	}
	return 0;
}

static bool find_place(const struct tn_story *story,
		       const struct tn_event *event, bool of_other,
		       struct place *place)
{
	const struct tn_sink *sink = &story->module->context->sink;
	uint32_t begin = (uint32_t)tn_event_int_of(event, of_other ?
						   "other_begin" : "begin", 0);

	place->file = tn_event_text_of(event, of_other ? "other_file" :
				       "file");
	if (!place->file)
		return false;
	tn_sink_locate(sink, find_source(sink, place->file), begin,
		       &place->line, &place->column);
	return true;
}

bool tn_story_place(const struct tn_story *story,
		    const struct tn_event *event, bool of_other,
		    struct tn_buf *out)
{
	struct place place;

	if (!find_place(story, event, of_other, &place))
		return false;
	tn_buf_putf(out, "%s:%u:%u", place.file, place.line, place.column);
	return true;
}

void tn_story_place_json(const struct tn_story *story,
			 const struct tn_event *event, bool of_other,
			 struct tn_buf *out)
{
	struct place place;

	if (!find_place(story, event, of_other, &place))
		return;
	tn_buf_put(out, ",\"file\":");
	tn_buf_put_json(out, place.file);
	tn_buf_putf(out, ",\"line\":%u,\"column\":%u", place.line,
		    place.column);
}

/* ---- Finding ------------------------------------------------------------- */

bool tn_story_is(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	if (strncmp(name, wanted, len))
		return false;
	name += len;
	return !*name || (name[0] == '_' && name[1] == '_' &&
			  tn_ascii_is_digit(name[2]));
}

static bool is_kind(const struct tn_event *event, const char *kind)
{
	return !strcmp(event->kind, kind);
}

static bool same_text(const struct tn_event *a, const struct tn_event *b,
		      const char *name)
{
	const char *x = tn_event_text_of(a, name);
	const char *y = tn_event_text_of(b, name);

	return x && y ? !strcmp(x, y) : x == y;
}

/* Rewrites of one rule are told once, with their number. */
static bool add_rewrite(struct tn_tale *tale, const struct tn_event *event)
{
	struct tn_tale_rewrite *rewrite;
	size_t i;

	for (i = 0; i < tale->rewrites.len; i++) {
		rewrite = tn_vec_at(&tale->rewrites, i);
		if (same_text(rewrite->event, event, "pass") &&
		    same_text(rewrite->event, event, "rule")) {
			rewrite->times++;
			return true;
		}
	}
	rewrite = tn_vec_push(&tale->rewrites);
	if (!rewrite)
		return false;
	rewrite->event = event;
	rewrite->times = 1;
	return true;
}

static bool add_member(struct tn_tale *tale, const struct tn_event *event)
{
	const char *root = tn_event_text_of(event, "root");
	const char *value = tn_event_text_of(event, "value");

	if (strcmp(root, tale->name))
		tale->member = event;
	else if (strcmp(value, root))
		return tn_vec_push_ptr(&tale->with, event);
	return true;
}

/* The first that has a place, and then what is more than a call. */
static bool tells_source(const struct tn_tale *tale,
			 const struct tn_event *event)
{
	const char *op = tn_event_text_of(event, "op");

	return op && (!tale->source || strcmp(op, "call"));
}

static bool add_event(struct tn_tale *tale, const struct tn_event *event)
{
	const char *value = tn_event_text_of(event, "value");
	bool is_own = value && !strcmp(value, tale->name);

	if (is_kind(event, "miss"))
		return tn_vec_push_ptr(&tale->misses, event);
	if (is_kind(event, "member") && !add_member(tale, event))
		return false;
	if (!is_own)
		return true;
	if (tells_source(tale, event))
		tale->source = event;
	if (is_kind(event, "rewrite"))
		return add_rewrite(tale, event);
	if (is_kind(event, "launch"))
		tale->launch = event;
	else if (is_kind(event, "place"))
		tale->place = event;
	else if (is_kind(event, "outside"))
		tale->outside = event;
	return true;
}

/* What is told of the kernel that makes the value. */
static bool add_schedule(const struct tn_story *story, struct tn_tale *tale)
{
	const char *kernel = tn_event_text_of(tale->launch, "kernel");
	const struct tn_vec *refusals = tn_map_find(&story->refusals, kernel);
	size_t i;

	tale->schedule = tn_map_find(&story->schedules, kernel);
	for (i = 0; refusals && i < refusals->len; i++)
		if (!tn_vec_push_ptr(&tale->misses, tn_vec_ptr(refusals, i)))
			return false;
	return true;
}

bool tn_story_of(struct tn_story *story, const char *name,
		 struct tn_tale *tale)
{
	const struct tn_vec *list = tn_map_find(&story->values, name);
	struct tn_arena *arena = &story->arena;
	size_t i;

	*tale = (struct tn_tale){ .name = name };
	tn_vec_init(&tale->rewrites, sizeof(struct tn_tale_rewrite), arena);
	tn_vec_init(&tale->with, sizeof(const struct tn_event *), arena);
	tn_vec_init(&tale->misses, sizeof(const struct tn_event *), arena);
	for (i = 0; list && i < list->len; i++)
		if (!add_event(tale, tn_vec_ptr(list, i)))
			return false;
	return !tale->launch || add_schedule(story, tale);
}

/* Whether the kernel makes the value that is asked for. */
static bool makes(const struct tn_story *story, const char *kernel,
		  const char *wanted)
{
	const struct tn_vec *launches = tn_map_find(&story->launches, kernel);
	size_t i;

	for (i = 0; launches && i < launches->len; i++)
		if (tn_story_is(tn_event_text_of(tn_vec_ptr(launches, i),
						 "value"), wanted))
			return true;
	return false;
}

static bool concerns(const struct tn_story *story,
		     const struct tn_event *event, const char *wanted)
{
	const char *value = tn_event_text_of(event, "value");
	const char *other = tn_event_text_of(event, "other");
	const char *kernel = tn_event_text_of(event, "kernel");

	return !wanted || (value && tn_story_is(value, wanted)) ||
		(other && tn_story_is(other, wanted)) ||
		(kernel && makes(story, kernel, wanted));
}

bool tn_story_misses(struct tn_story *story, const char *pass,
		     const char *value, struct tn_vec *out)
{
	const struct tn_event *event;
	size_t i;

	tn_vec_init(out, sizeof(const struct tn_event *), &story->arena);
	for (i = 0; i < story->events.len; i++) {
		event = tn_vec_ptr(&story->events, i);
		if (!is_kind(event, "miss") || !concerns(story, event, value) ||
		    (pass && strcmp(tn_event_text_of(event, "pass"), pass)))
			continue;
		if (!tn_vec_push_ptr(out, event))
			return false;
	}
	return true;
}
