/*
 * Lines of events: an object of texts and numbers, nothing inside another.
 */
#include "base/event_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

struct reader {
	struct tn_arena *arena;
	const char *at;
	bool bad;
};

static void expect(struct reader *r, char c)
{
	if (*r->at == c)
		r->at++;
	else
		r->bad = true;
}

/* Four hexadecimal digits. */
static uint32_t read_unit(struct reader *r)
{
	uint32_t unit = 0;
	int i;

	for (i = 0; i < 4; i++, r->at++) {
		unit <<= 4;
		if (*r->at >= '0' && *r->at <= '9')
			unit += (uint32_t)(*r->at - '0');
		else if (*r->at >= 'a' && *r->at <= 'f')
			unit += (uint32_t)(*r->at - 'a' + 10);
		else if (*r->at >= 'A' && *r->at <= 'F')
			unit += (uint32_t)(*r->at - 'A' + 10);
		else {
			r->bad = true;
			return 0;
		}
	}
	return unit;
}

static char *put_point(char *to, uint32_t point)
{
	if (point < 0x80) {
		*to++ = (char)point;
	} else if (point < 0x800) {
		*to++ = (char)(0xc0 | point >> 6);
		*to++ = (char)(0x80 | (point & 0x3f));
	} else if (point < 0x10000) {
		*to++ = (char)(0xe0 | point >> 12);
		*to++ = (char)(0x80 | (point >> 6 & 0x3f));
		*to++ = (char)(0x80 | (point & 0x3f));
	} else {
		*to++ = (char)(0xf0 | point >> 18);
		*to++ = (char)(0x80 | (point >> 12 & 0x3f));
		*to++ = (char)(0x80 | (point >> 6 & 0x3f));
		*to++ = (char)(0x80 | (point & 0x3f));
	}
	return to;
}

/* Behind \u: one unit, or two that are one code point. */
static uint32_t read_point(struct reader *r)
{
	uint32_t high = read_unit(r), low;

	if (high < 0xd800 || high >= 0xdc00)
		return high;
	expect(r, '\\');
	expect(r, 'u');
	low = r->bad ? 0 : read_unit(r);
	if (low < 0xdc00 || low >= 0xe000)
		r->bad = true;
	return 0x10000 + ((high - 0xd800) << 10) + (low & 0x3ff);
}

/* Behind a backslash. */
static char *read_escape(struct reader *r, char *to)
{
	static const char from[] = "\"\\/bfnrt", into[] = "\"\\/\b\f\n\r\t";
	const char *found;

	if (*r->at == 'u') {
		r->at++;
		return put_point(to, read_point(r));
	}
	found = *r->at ? strchr(from, *r->at) : NULL;
	if (!found) {
		r->bad = true;
		return to;
	}
	r->at++;
	*to++ = into[found - from];
	return to;
}

/* No text is longer than what stands for it. */
static const char *read_text(struct reader *r)
{
	const char *end = r->at;
	char *text, *to;

	expect(r, '"');
	while (*end && (end == r->at - 1 || *end != '"'))
		end += *end == '\\' && end[1] ? 2 : 1;
	text = to = tn_arena_alloc(r->arena, (size_t)(end - r->at) + 2);
	while (text && !r->bad && *r->at && *r->at != '"') {
		if (*r->at == '\\') {
			r->at++;
			to = read_escape(r, to);
		} else {
			*to++ = *r->at++;
		}
	}
	expect(r, '"');
	return text;
}

static void read_number(struct reader *r, struct tn_event_member *member)
{
	size_t len = strspn(r->at, "+-.0123456789eE");

	member->number = strtoll(r->at, NULL, 10);
	r->at += len;
	r->bad |= len == 0;
}

static void read_member(struct reader *r, struct tn_event_member *member)
{
	member->name = read_text(r);
	expect(r, ':');
	if (r->bad)
		return;
	if (*r->at == '"')
		member->text = read_text(r);
	else
		read_number(r, member);
}

bool tn_event_read(struct tn_arena *arena, const char *line,
		   struct tn_event *event)
{
	struct reader r = { .arena = arena, .at = line };
	struct tn_event_member *member;
	struct tn_vec members;

	tn_vec_init(&members, sizeof(*member), arena);
	expect(&r, '{');
	while (!r.bad && !arena->failed) {
		member = tn_vec_push(&members);
		if (!member)
			break;
		read_member(&r, member);
		if (*r.at != ',')
			break;
		r.at++;
	}
	expect(&r, '}');
	if (r.bad || *r.at || arena->failed)
		return false;
	member = members.data;
	*event = (struct tn_event){
		.kind = member->text, .count = (int)members.len - 1,
		.members = member + 1
	};
	return event->kind && !strcmp(member->name, "event");
}

static const struct tn_event_member *find(const struct tn_event *event,
					  const char *name)
{
	int i;

	for (i = 0; i < event->count; i++)
		if (!strcmp(event->members[i].name, name))
			return &event->members[i];
	return NULL;
}

const char *tn_event_text_of(const struct tn_event *event, const char *name)
{
	const struct tn_event_member *member = find(event, name);

	return member ? member->text : NULL;
}

int64_t tn_event_int_of(const struct tn_event *event, const char *name,
			int64_t fallback)
{
	const struct tn_event_member *member = find(event, name);

	return member && !member->text ? member->number : fallback;
}
