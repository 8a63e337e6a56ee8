/*
 * Events: members are put behind one another in a buffer, which is handed on
 * as one line. Texts come from files of users and are escaped.
 */
#include "base/event.h"

void tn_events_init(struct tn_events *events,
		    void (*write)(void *data, const char *line), void *data)
{
	*events = (struct tn_events){ .write = write, .data = data };
	tn_buf_init(&events->line);
}

void tn_events_fini(struct tn_events *events)
{
	tn_buf_fini(&events->line);
}

static void put_name(struct tn_buf *line, const char *name)
{
	tn_buf_putf(line, ",\"%s\":", name);
}

void tn_event_begin(struct tn_events *events, const char *kind)
{
	if (!events)
		return;
	tn_buf_clear(&events->line);
	tn_buf_put(&events->line, "{\"event\":");
	tn_buf_put_json(&events->line, kind);
}

void tn_event_text(struct tn_events *events, const char *name,
		   const char *value)
{
	if (!events || !value)
		return;
	put_name(&events->line, name);
	tn_buf_put_json(&events->line, value);
}

void tn_event_int(struct tn_events *events, const char *name, int64_t value)
{
	if (!events)
		return;
	put_name(&events->line, name);
	tn_buf_putf(&events->line, "%lld", (long long)value);
}

/* The host program may have set a locale with another point than ours. */
void tn_event_real(struct tn_events *events, const char *name, double value)
{
	long long whole, thousandths = (long long)(value * 1e3 + 0.5);

	if (!events)
		return;
	whole = thousandths / 1000;
	put_name(&events->line, name);
	tn_buf_putf(&events->line, "%lld.%03lld", whole, thousandths % 1000);
}

void tn_event_end(struct tn_events *events)
{
	if (!events)
		return;
	tn_buf_putc(&events->line, '}');
	if (events->line.failed)
		events->failed = true;
	else
		events->write(events->data, tn_buf_text(&events->line));
}
