/*
 * What became of a value, as JSON: the members of explain_text.c's sentences.
 */
#include "driver/explain.h"

#include <string.h>

/* ,"name":"text" unless the event has it not. */
static void put_text(const struct tn_event *event, const char *name,
		     struct tn_buf *out)
{
	const char *text = tn_event_text_of(event, name);

	if (!text)
		return;
	tn_buf_putf(out, ",\"%s\":", name);
	tn_buf_put_json(out, text);
}

static void put_int(const struct tn_event *event, const char *name,
		    struct tn_buf *out)
{
	tn_buf_putf(out, ",\"%s\":%lld", name,
		    (long long)tn_event_int_of(event, name, 0));
}

static void put_rewrites(const struct tn_tale *tale, struct tn_buf *out)
{
	const struct tn_tale_rewrite *rewrite;
	size_t i;

	tn_buf_put(out, ",\"rewrites\":[");
	for (i = 0; i < tale->rewrites.len; i++) {
		rewrite = tn_vec_at(&tale->rewrites, i);
		tn_buf_putf(out, "%s{\"times\":%lld", i ? "," : "",
			    (long long)rewrite->times);
		put_text(rewrite->event, "pass", out);
		put_text(rewrite->event, "rule", out);
		tn_buf_putc(out, '}');
	}
	tn_buf_putc(out, ']');
}

static void put_with(const struct tn_story *story,
		     const struct tn_tale *tale, struct tn_buf *out)
{
	const struct tn_event *member;
	size_t i;

	tn_buf_put(out, ",\"with\":[");
	for (i = 0; i < tale->with.len; i++) {
		member = tn_vec_ptr(&tale->with, i);
		tn_buf_putf(out, "%s{\"value\":", i ? "," : "");
		tn_buf_put_json(out, tn_event_text_of(member, "value"));
		put_text(member, "op", out);
		tn_story_place_json(story, member, false, out);
		tn_buf_putc(out, '}');
	}
	tn_buf_putc(out, ']');
}

static void put_memory(const struct tn_tale *tale, struct tn_buf *out)
{
	if (tale->place) {
		tn_buf_put(out, ",\"memory\":{\"in\":\"arena\"");
		put_int(tale->place, "offset", out);
		put_int(tale->place, "bytes", out);
		put_int(tale->place, "first", out);
		put_int(tale->place, "last", out);
		put_text(tale->place, "over", out);
		tn_buf_putc(out, '}');
	} else if (tale->outside) {
		bool is_view = tn_event_text_of(tale->outside, "of") != NULL;

		tn_buf_put(out, ",\"memory\":{\"in\":");
		tn_buf_put_json(out, tn_event_text_of(tale->outside, "in"));
		put_text(tale->outside, "of", out);
		put_int(tale->outside, is_view ? "offset" : "number", out);
		tn_buf_putc(out, '}');
	}
}

static void put_kernel(const struct tn_story *story,
		       const struct tn_tale *tale, struct tn_buf *out)
{
	put_text(tale->launch, "kernel", out);
	put_with(story, tale, out);
	put_text(tale->launch, "layout", out);
	if (!tale->schedule)
		return;
	tn_buf_put(out, ",\"schedule\":{\"by\":");
	tn_buf_put_json(out, tn_event_text_of(tale->schedule, "by"));
	put_text(tale->schedule, "steps", out);
	tn_buf_putc(out, '}');
}

void tn_explain_tale_json(const struct tn_story *story,
			  const struct tn_tale *tale, struct tn_buf *out)
{
	size_t i;

	tn_buf_put(out, "{\"value\":");
	tn_buf_put_json(out, tale->name);
	if (tale->source) {
		put_text(tale->source, "op", out);
		tn_story_place_json(story, tale->source, false, out);
	}
	put_rewrites(tale, out);
	if (tale->launch)
		put_kernel(story, tale, out);
	else if (tale->member)
		put_text(tale->member, "root", out);
	put_memory(tale, out);
	tn_buf_put(out, ",\"missed\":[");
	for (i = 0; i < tale->misses.len; i++) {
		tn_buf_put(out, i ? "," : "");
		tn_explain_miss_json(story, tn_vec_ptr(&tale->misses, i), out);
	}
	tn_buf_put(out, "]}");
}

void tn_explain_miss_json(const struct tn_story *story,
			  const struct tn_event *miss, struct tn_buf *out)
{
	tn_buf_put(out, "{\"pass\":");
	tn_buf_put_json(out, tn_event_text_of(miss, "pass"));
	put_text(miss, "rule", out);
	put_text(miss, "kernel", out);
	put_text(miss, "op", out);
	put_text(miss, "value", out);
	tn_story_place_json(story, miss, false, out);
	if (tn_event_text_of(miss, "other_op")) {
		tn_buf_put(out, ",\"with\":{\"op\":");
		tn_buf_put_json(out, tn_event_text_of(miss, "other_op"));
		if (tn_event_text_of(miss, "other")) {
			tn_buf_put(out, ",\"value\":");
			tn_buf_put_json(out, tn_event_text_of(miss, "other"));
		}
		tn_story_place_json(story, miss, true, out);
		tn_buf_putc(out, '}');
	}
	put_text(miss, "reason", out);
	tn_buf_putc(out, '}');
}
