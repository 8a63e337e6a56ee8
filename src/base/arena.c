/*
 * Region memory: chunks in a list, the newest in front.
 *
 * A chunk is twice as large as the one before, up to 1 MiB. A request that
 * would waste much of a chunk gets one of its own, put behind the head, so
 * that the room left in the head stays in use:
 *
 *   head (64 KiB, half full) -> own chunk (3 MiB, full) -> 32 KiB, full
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "base/numloc.h"

#define FIRST_CHUNK ((size_t)4096)
#define LAST_CHUNK ((size_t)1 << 20)
#define ALIGN (_Alignof(max_align_t))

struct tn_arena_chunk {
	struct tn_arena_chunk *next;
	size_t cap, used;
	max_align_t data[];
};

void tn_arena_init(struct tn_arena *arena)
{
	*arena = (struct tn_arena){0};
}

void tn_arena_fini(struct tn_arena *arena)
{
	struct tn_arena_chunk *chunk = arena->head;

	while (chunk) {
		struct tn_arena_chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	tn_arena_init(arena);
}

static struct tn_arena_chunk *chunk_new(size_t cap)
{
	struct tn_arena_chunk *chunk = calloc(1, sizeof(*chunk) + cap);

	if (chunk)
		chunk->cap = cap;
	return chunk;
}

static size_t next_cap(const struct tn_arena *arena)
{
	if (!arena->head)
		return FIRST_CHUNK;
	if (arena->head->cap >= LAST_CHUNK / 2)
		return LAST_CHUNK;
	return arena->head->cap * 2;
}

/* A chunk with room for `size` bytes, linked in; NULL: no memory. */
static struct tn_arena_chunk *chunk_add(struct tn_arena *arena, size_t size)
{
	size_t cap = next_cap(arena);
	bool own = size > cap / 2;
	struct tn_arena_chunk *chunk = chunk_new(own ? size : cap);

	if (!chunk)
		return NULL;
	if (own && arena->head) {
		chunk->next = arena->head->next;
		arena->head->next = chunk;
	} else {
		chunk->next = arena->head;
		arena->head = chunk;
	}
	return chunk;
}

void *tn_arena_alloc(struct tn_arena *arena, size_t size)
{
	struct tn_arena_chunk *chunk = arena->head;
	char *at;

	if (size > PTRDIFF_MAX - LAST_CHUNK) {
		arena->failed = true;
		return NULL;
	}
	size = (size ? size + ALIGN - 1 : ALIGN) / ALIGN * ALIGN;
	if (!chunk || chunk->cap - chunk->used < size)
		chunk = chunk_add(arena, size);
	if (!chunk) {
		arena->failed = true;
		return NULL;
	}
	at = (char *)chunk->data + chunk->used;
	chunk->used += size;
	arena->used += size;
	arena->count++;
	return at;
}

void *tn_arena_array(struct tn_arena *arena, size_t count, size_t size)
{
	size_t total;

	if (!tn_num_mul_size(count, size, &total)) {
		arena->failed = true;
		return NULL;
	}
	return tn_arena_alloc(arena, total);
}

void *tn_arena_copy(struct tn_arena *arena, const void *from, size_t size)
{
	void *to = tn_arena_alloc(arena, size);

	if (to && size)
		memcpy(to, from, size);
	return to;
}

char *tn_arena_strndup(struct tn_arena *arena, const char *text, size_t len)
{
	char *to = NULL;

	if (len == SIZE_MAX)
		arena->failed = true;
	else
		to = tn_arena_alloc(arena, len + 1);
	if (to && len)
		memcpy(to, text, len);
	return to;
}

char *tn_arena_printf(struct tn_arena *arena, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = tn_arena_vprintf(arena, format, args);
	va_end(args);
	return text;
}

char *tn_arena_vprintf(struct tn_arena *arena, const char *format,
		       va_list args)
{
	struct tn_numloc loc;
	va_list again;
	char *text = NULL;
	int len;

	va_copy(again, args);
	len = tn_numloc_enter(&loc) ? vsnprintf(NULL, 0, format, again) : -1;
	va_end(again);
	if (len >= 0)
		text = tn_arena_alloc(arena, (size_t)len + 1);
	else
		arena->failed = true;
	if (text)
		vsnprintf(text, (size_t)len + 1, format, args);
	tn_numloc_leave(&loc);
	return text;
}
