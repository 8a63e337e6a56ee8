/*
 * Interned names: a map from each text to its copy in the arena.
 */
#include "base/intern.h"

#include <string.h>

void tn_intern_init(struct tn_intern *pool)
{
	tn_arena_init(&pool->arena);
	tn_map_init_text(&pool->map);
}

void tn_intern_fini(struct tn_intern *pool)
{
	tn_map_fini(&pool->map);
	tn_arena_fini(&pool->arena);
}

const char *tn_intern_add(struct tn_intern *pool, const char *text,
			  size_t len)
{
	char *copy;

	len = strnlen(text, len);
	copy = tn_map_find_n(&pool->map, text, len);
	if (copy)
		return copy;
	copy = tn_arena_strndup(&pool->arena, text, len);
	if (!copy || !tn_map_set(&pool->map, copy, copy))
		return NULL;
	return copy;
}

const char *tn_intern_text(struct tn_intern *pool, const char *text)
{
	return tn_intern_add(pool, text, strlen(text));
}
