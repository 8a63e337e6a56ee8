/*
 * A hash map from text or from a pointer to a pointer.
 *
 * Keys are borrowed and must outlive the map. Iteration goes in the order of
 * insertion, so output that depends on it is the same on every run.
 */
#ifndef TN_BASE_MAP_H
#define TN_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tn_map_entry {
	const void *key;
	void *value;
	uint64_t hash;
};

struct tn_map {
	struct tn_map_entry *entries;	/* in order of insertion */
	uint32_t *slots;		/* entry number + 1, 0: free */
	size_t len, cap, nslots;
	bool by_text;			/* keys are NUL-terminated strings */
};

/* Prepare an empty map keyed by string contents, or by pointer identity. */
void tn_map_init_text(struct tn_map *map);
void tn_map_init_ptr(struct tn_map *map);
void tn_map_fini(struct tn_map *map);
/* The value of `key`, or NULL. */
void *tn_map_find(const struct tn_map *map, const void *key);
/* Same for the first `len` bytes of a text; only for maps keyed by text. */
void *tn_map_find_n(const struct tn_map *map, const char *text, size_t len);
bool tn_map_has(const struct tn_map *map, const void *key);
/* Sets or replaces; false when out of memory (map unchanged). */
bool tn_map_set(struct tn_map *map, const void *key, void *value);

/* FNV-1a followed by a mixer; for hash tables only, not for content keys. */
uint64_t tn_hash_bytes(const void *data, size_t size);
uint64_t tn_hash_mix(uint64_t hash, uint64_t value);

#endif
