/*
 * What compiling costs: the memory plan held against the least that any plan
 * needs. A view of the events `plan`, `live` and `peak`.
 */
#include "driver/story.h"

#include <string.h>

#include "driver/target.h"

static const struct tn_event *find_last(const struct tn_story *story,
					const char *kind)
{
	const struct tn_event *event;
	size_t i = story->events.len;

	while (i--) {
		event = tn_vec_ptr(&story->events, i);
		if (!strcmp(event->kind, kind))
			return event;
	}
	return NULL;
}

static double ratio_of(const struct tn_event *plan)
{
	int64_t arena = tn_event_int_of(plan, "arena", 0);
	int64_t peak = tn_event_int_of(plan, "peak", 0);

	return peak > 0 ? (double)arena / (double)peak : 1;
}

static void put_live(const struct tn_event *live, struct tn_buf *out)
{
	const char *scratch = tn_event_text_of(live, "scratch");

	tn_buf_putf(out, "%14lld  %s%s, steps %lld to %lld\n",
		    (long long)tn_event_int_of(live, "bytes", 0),
		    scratch ? "own buffers of kernel " : "",
		    scratch ? scratch : tn_event_text_of(live, "value"),
		    (long long)tn_event_int_of(live, "first", 0),
		    (long long)tn_event_int_of(live, "last", 0));
}

static void put_text(const struct tn_story *story,
		     const struct tn_event *plan, struct tn_buf *out)
{
	const struct tn_event *event;
	int lives = 0;
	size_t i;

	tn_buf_putf(out, "memory of %s, bytes\n",
		    tn_event_text_of(plan, "fn"));
	tn_buf_putf(out, "%14lld  arena, for the largest sizes: %lld buffers, "
		    "%lld steps\n",
		    (long long)tn_event_int_of(plan, "arena", 0),
		    (long long)tn_event_int_of(plan, "buffers", 0),
		    (long long)tn_event_int_of(plan, "steps", 0));
	tn_buf_putf(out, "%14lld  alive at step %lld: no plan can do with "
		    "less (ratio %.3f)\n",
		    (long long)tn_event_int_of(plan, "peak", 0),
		    (long long)tn_event_int_of(plan, "step", 0),
		    ratio_of(plan));
	for (i = 0; i < story->events.len; i++) {
		event = tn_vec_ptr(&story->events, i);
		if (!strcmp(event->kind, "peak"))
			tn_buf_putf(out, "%14lld  alive at most with %s\n",
				    (long long)tn_event_int_of(event, "bytes",
							       0),
				    tn_event_text_of(event, "dims"));
	}
	for (i = 0; i < story->events.len; i++) {
		event = tn_vec_ptr(&story->events, i);
		if (strcmp(event->kind, "live"))
			continue;
		if (!lives++)
			tn_buf_put(out, "largest at that step\n");
		put_live(event, out);
	}
}

static void put_member(const struct tn_event *event, const char *name,
		       struct tn_buf *out)
{
	const char *text = tn_event_text_of(event, name);

	tn_buf_putf(out, ",\"%s\":", name);
	if (text)
		tn_buf_put_json(out, text);
	else
		tn_buf_putf(out, "%lld",
			    (long long)tn_event_int_of(event, name, 0));
}

/* Objects of all members of the events of the kind. */
static void put_list(const struct tn_story *story, const char *name,
		     const char *kind, struct tn_buf *out)
{
	const struct tn_event *event;
	int count = 0, k;
	size_t i;

	tn_buf_putf(out, ",\"%s\":[", name);
	for (i = 0; i < story->events.len; i++) {
		event = tn_vec_ptr(&story->events, i);
		if (strcmp(event->kind, kind))
			continue;
		tn_buf_putf(out, "%s{\"number\":%d", count ? "," : "", count);
		count++;
		for (k = 0; k < event->count; k++)
			put_member(event, event->members[k].name, out);
		tn_buf_putc(out, '}');
	}
	tn_buf_putc(out, ']');
}

static void put_json(const struct tn_story *story,
		     const struct tn_event *plan, struct tn_buf *out)
{
	static const char *const names[] = {
		"arena", "peak", "step", "buffers", "steps"
	};
	long long thousandths = (long long)(ratio_of(plan) * 1e3 + 0.5);
	size_t i;

	tn_buf_put(out, "{\"fn\":");
	tn_buf_put_json(out, tn_event_text_of(plan, "fn"));
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		put_member(plan, names[i], out);
	tn_buf_putf(out, ",\"ratio\":%lld.%03lld", thousandths / 1000,
		    thousandths % 1000);
	put_list(story, "points", "peak", out);
	put_list(story, "live", "live", out);
	tn_buf_put(out, "}\n");
}

static enum tn_status report(struct tenon_module *module, bool json,
			     struct tn_buf *out)
{
	const struct tn_event *plan;
	struct tn_story story;
	struct tn_target target;
	enum tn_status status = tn_target_pick(module->context, &target);
	struct tn_fn *entry = status ? NULL : tn_module_pick(module);

	if (!entry)
		return status ? status : TN_BAD_INPUT;
	tn_story_begin(&story, module);
	status = tn_module_lower(module, &entry, &target);
	if (!tn_story_end(&story) && !status)
		status = TN_IO;
	plan = find_last(&story, "plan");
	if (!status && !plan) {
		tn_diag_help(&module->context->sink,
			     tn_context_report(module->context, TN_E0009,
					       "%s: there is no memory plan "
					       "to report", module->path),
			     "the target ref and --passes without plan make "
			     "none");
		status = TN_UNSUPPORTED;
	}
	if (!status && json)
		put_json(&story, plan, out);
	else if (!status)
		put_text(&story, plan, out);
	tn_story_fini(&story);
	return status;
}

enum tenon_status tenon_module_report(struct tenon_module *module, bool json,
				      char **out)
{
	enum tn_status status;
	struct tn_buf buf;

	*out = NULL;
	if (!module)
		return TENON_USAGE;
	tn_buf_init(&buf);
	status = report(module, json, &buf);
	if (!status)
		return tn_context_text(module->context, &buf, out);
	tn_buf_fini(&buf);
	return tn_context_end(module->context, status);
}
