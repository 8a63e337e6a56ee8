/*
 * Region memory: many small objects with one lifetime.
 *
 * An arena hands out zeroed memory and gives all of it back at once. When
 * the host is out of memory an allocation returns NULL and the arena's
 * `failed` flag stays set, so a stage may check each call or once at its end,
 * as long as it never writes through NULL.
 */
#ifndef TN_BASE_ARENA_H
#define TN_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct tn_arena_chunk;

struct tn_arena {
	struct tn_arena_chunk *head;
	size_t used;	/* bytes handed out */
	size_t count;	/* in so many pieces */
	bool failed;	/* sticky: some allocation returned NULL */
};

/* Prepares an empty arena; cannot fail. */
void tn_arena_init(struct tn_arena *arena);
/* Frees all memory of the arena; it may be used again afterwards. */
void tn_arena_fini(struct tn_arena *arena);
/* `size` zeroed bytes aligned for any type; NULL when out of memory. */
void *tn_arena_alloc(struct tn_arena *arena, size_t size);
/* `count` zeroed objects of `size` bytes; NULL on overflow or no memory. */
void *tn_arena_array(struct tn_arena *arena, size_t count, size_t size);
/* A copy of `size` bytes. */
void *tn_arena_copy(struct tn_arena *arena, const void *from, size_t size);
/* A NUL-terminated copy of the first `len` bytes of `text`. */
char *tn_arena_strndup(struct tn_arena *arena, const char *text, size_t len);
/* Formatted text, NUL-terminated. */
char *tn_arena_printf(struct tn_arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
char *tn_arena_vprintf(struct tn_arena *arena, const char *format,
		       va_list args) __attribute__((format(printf, 2, 0)));

#endif
