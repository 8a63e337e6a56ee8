/*
 * What became of a value, in sentences.
 *
 *   h (max, mlp.tn:5:7)
 *     rewritten by: inline; canonical order
 *     made by kernel main__h, together with
 *       z (matmul, mlp.tn:5:12)
 *     schedule (default): split(i, 6), vectorize(j)
 *     memory: bytes 0 to 1023 of the arena, steps 1 to 3
 *     not done:
 *       plan in-place with z (launch, mlp.tn:5:12): z is read again later
 */
#include "driver/explain.h"

#include <string.h>

/* " (op, file:line:col)" of the event, or of the other operator. */
static void put_operator(const struct tn_story *story,
			 const struct tn_event *event, bool of_other,
			 struct tn_buf *out)
{
	const char *op = tn_event_text_of(event, of_other ? "other_op" : "op");
	struct tn_buf place;

	tn_buf_init(&place);
	tn_story_place(story, event, of_other, &place);
	if (op || place.len)
		tn_buf_putf(out, " (%s%s%s)", op ? op : "",
			    op && place.len ? ", " : "",
			    tn_buf_text(&place));
	out->failed |= place.failed;
	tn_buf_fini(&place);
}

static void put_value(const struct tn_story *story,
		      const struct tn_event *event, struct tn_buf *out)
{
	const char *value = tn_event_text_of(event, "value");

	tn_buf_put(out, value ? value : "a result");
	put_operator(story, event, false, out);
}

static void put_rewrites(const struct tn_tale *tale, struct tn_buf *out)
{
	const struct tn_tale_rewrite *rewrite;
	const char *pass, *rule;
	size_t i;

	for (i = 0; i < tale->rewrites.len; i++) {
		rewrite = tn_vec_at(&tale->rewrites, i);
		pass = tn_event_text_of(rewrite->event, "pass");
		rule = tn_event_text_of(rewrite->event, "rule");
		tn_buf_put(out, i ? "; " : "  rewritten by: ");
		tn_buf_put(out, pass);
		if (strcmp(pass, rule))
			tn_buf_putf(out, " %s", rule);
		if (rewrite->times > 1)
			tn_buf_putf(out, " (%lld times)",
				    (long long)rewrite->times);
	}
	if (tale->rewrites.len)
		tn_buf_putc(out, '\n');
}

/* The kernel that makes it, and what else that kernel computes. */
static void put_kernel(const struct tn_story *story,
		       const struct tn_tale *tale, struct tn_buf *out)
{
	size_t i;

	tn_buf_putf(out, "  made by kernel %s",
		    tn_event_text_of(tale->launch, "kernel"));
	tn_buf_put(out, tale->with.len ? ", together with\n" : "\n");
	for (i = 0; i < tale->with.len; i++) {
		tn_buf_put(out, "    ");
		put_value(story, tn_vec_ptr(&tale->with, i), out);
		tn_buf_putc(out, '\n');
	}
}

static void put_schedule(const struct tn_event *schedule, struct tn_buf *out)
{
	const char *steps = tn_event_text_of(schedule, "steps");

	tn_buf_putf(out, "  schedule (%s): %s\n",
		    strcmp(tn_event_text_of(schedule, "by"), "hand") ?
		    "default" : "by hand", *steps ? steps : "plain loops");
}

/* Where it comes to be: a kernel of its own, one of another value, nowhere. */
static void put_making(const struct tn_story *story,
		       const struct tn_tale *tale, struct tn_buf *out)
{
	if (tale->launch)
		put_kernel(story, tale, out);
	else if (tale->outside)
		return;
	else if (tale->member)
		tn_buf_putf(out, "  made in the kernel of %s, and not stored\n",
			    tn_event_text_of(tale->member, "root"));
	else if (!tale->place)
		tn_buf_put(out, "  it is not in the compiled function\n");
	if (tale->schedule)
		put_schedule(tale->schedule, out);
}

static void put_layout(const struct tn_event *launch, struct tn_buf *out)
{
	const char *layout = launch ? tn_event_text_of(launch, "layout") :
				      NULL;

	if (layout)
		tn_buf_putf(out, "  layout: %s\n", layout);
}

static void put_arena(const struct tn_event *place, struct tn_buf *out)
{
	const char *over = tn_event_text_of(place, "over");
	int64_t offset = tn_event_int_of(place, "offset", 0);
	int64_t bytes = tn_event_int_of(place, "bytes", 0);

	tn_buf_putf(out, "  memory: bytes %lld to %lld of the arena, steps "
		    "%lld to %lld", (long long)offset,
		    (long long)(offset + bytes - 1),
		    (long long)tn_event_int_of(place, "first", 0),
		    (long long)tn_event_int_of(place, "last", 0));
	if (over)
		tn_buf_putf(out, ", written over %s", over);
	tn_buf_putc(out, '\n');
}

static void put_outside(const struct tn_event *outside, struct tn_buf *out)
{
	const char *in = tn_event_text_of(outside, "in");
	int64_t number = tn_event_int_of(outside, "number", 0);

	tn_buf_put(out, "  memory: ");
	if (!strcmp(in, "view"))
		tn_buf_putf(out, "those of %s from byte %lld on\n",
			    tn_event_text_of(outside, "of"),
			    (long long)tn_event_int_of(outside, "offset", 0));
	else if (!strcmp(in, "weight"))
		tn_buf_put(out, "a constant, among the weights\n");
	else
		tn_buf_putf(out, "the caller's buffer of %s %lld\n", in,
			    (long long)number);
}

/* "fuse with p (matmul, mlp.tn:6:7): the reason", of one of the two. */
static void put_reason(const struct tn_story *story, const char *name,
		       const struct tn_event *miss, struct tn_buf *out)
{
	const char *pass = tn_event_text_of(miss, "pass");
	const char *rule = tn_event_text_of(miss, "rule");
	const char *value = tn_event_text_of(miss, "value");
	const char *other = tn_event_text_of(miss, "other");
	bool is_other = value && strcmp(value, name);

	tn_buf_put(out, pass);
	if (strcmp(pass, rule))
		tn_buf_putf(out, " %s", rule);
	if (is_other || other) {
		tn_buf_putf(out, " with %s", is_other ? value : other);
		put_operator(story, miss, !is_other, out);
	}
	tn_buf_putf(out, ": %s\n", tn_event_text_of(miss, "reason"));
}

void tn_explain_tale(const struct tn_story *story,
		     const struct tn_tale *tale, struct tn_buf *out)
{
	size_t i;

	tn_buf_put(out, tale->name);
	if (tale->source)
		put_operator(story, tale->source, false, out);
	tn_buf_putc(out, '\n');
	put_rewrites(tale, out);
	put_making(story, tale, out);
	put_layout(tale->launch, out);
	if (tale->place)
		put_arena(tale->place, out);
	else if (tale->outside)
		put_outside(tale->outside, out);
	if (tale->misses.len)
		tn_buf_put(out, "  not done:\n");
	for (i = 0; i < tale->misses.len; i++) {
		tn_buf_put(out, "    ");
		put_reason(story, tale->name, tn_vec_ptr(&tale->misses, i),
			   out);
	}
}

void tn_explain_miss(const struct tn_story *story,
		     const struct tn_event *miss, struct tn_buf *out)
{
	const char *pass = tn_event_text_of(miss, "pass");
	const char *rule = tn_event_text_of(miss, "rule");
	const char *value = tn_event_text_of(miss, "value");
	const char *other = tn_event_text_of(miss, "other");
	const char *kernel = tn_event_text_of(miss, "kernel");

	if (tn_story_place(story, miss, false, out))
		tn_buf_put(out, ": ");
	if (kernel)
		tn_buf_putf(out, "kernel %s", kernel);
	else
		tn_buf_putf(out, "%s (%s)", value ? value : "a result",
			    tn_event_text_of(miss, "op"));
	if (other) {
		tn_buf_putf(out, " with %s", other);
		put_operator(story, miss, true, out);
	}
	tn_buf_putf(out, ": %s", pass);
	if (strcmp(pass, rule))
		tn_buf_putf(out, " %s", rule);
	tn_buf_putf(out, " not done: %s\n", tn_event_text_of(miss, "reason"));
}
