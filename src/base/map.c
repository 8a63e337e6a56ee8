/*
 * The hash map: entries in order of insertion, and a table of their numbers
 * probed linearly, at most two thirds full.
 *
 *   slots    [0 2 0 1]        a slot holds the entry's number + 1
 *   entries  [{"x", ..}, {"y", ..}]
 */
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"

uint64_t tn_hash_mix(uint64_t hash, uint64_t value)
{
	hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
	hash ^= hash >> 33;
	hash *= 0xff51afd7ed558ccdu;
	hash ^= hash >> 33;
	hash *= 0xc4ceb9fe1a85ec53u;
	hash ^= hash >> 33;
	return hash;
}

uint64_t tn_hash_bytes(const void *data, size_t size)
{
	const unsigned char *bytes = data;
	uint64_t hash = 0xcbf29ce484222325u;
	size_t i;

	for (i = 0; i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3u;
	return tn_hash_mix(hash, size);
}

void tn_map_init_text(struct tn_map *map)
{
	*map = (struct tn_map){.by_text = true};
}

void tn_map_init_ptr(struct tn_map *map)
{
	*map = (struct tn_map){0};
}

void tn_map_fini(struct tn_map *map)
{
	bool by_text = map->by_text;

	free(map->entries);
	free(map->slots);
	*map = (struct tn_map){.by_text = by_text};
}

static bool is_same(const struct tn_map *map, const void *a, const void *key,
		    size_t len)
{
	const char *text = a;

	if (!map->by_text)
		return a == key;
	return strncmp(text, key, len) == 0 && text[len] == '\0';
}

static uint64_t hash_key(const struct tn_map *map, const void *key,
			 size_t len)
{
	if (map->by_text)
		return tn_hash_bytes(key, len);
	return tn_hash_mix(0, (uintptr_t)key);
}

static struct tn_map_entry *entry_find(const struct tn_map *map,
				       const void *key, size_t len,
				       uint64_t hash)
{
	size_t mask = map->nslots - 1, at;

	if (!map->nslots)
		return NULL;
	for (at = (size_t)hash & mask; map->slots[at]; at = (at + 1) & mask) {
		struct tn_map_entry *entry =
			&map->entries[map->slots[at] - 1];

		if (entry->hash == hash && is_same(map, entry->key, key, len))
			return entry;
	}
	return NULL;
}

static size_t key_len(const struct tn_map *map, const void *key)
{
	return map->by_text ? strlen(key) : 0;
}

static struct tn_map_entry *find_any(const struct tn_map *map,
				     const void *key)
{
	size_t len = key_len(map, key);

	return entry_find(map, key, len, hash_key(map, key, len));
}

void *tn_map_find(const struct tn_map *map, const void *key)
{
	const struct tn_map_entry *entry = find_any(map, key);

	return entry ? entry->value : NULL;
}

void *tn_map_find_n(const struct tn_map *map, const char *text, size_t len)
{
	const struct tn_map_entry *entry =
		entry_find(map, text, len, hash_key(map, text, len));

	return entry ? entry->value : NULL;
}

bool tn_map_has(const struct tn_map *map, const void *key)
{
	return find_any(map, key) != NULL;
}

static void slot_put(uint32_t *slots, size_t nslots, uint64_t hash,
		     size_t number)
{
	size_t at = (size_t)hash & (nslots - 1);

	while (slots[at])
		at = (at + 1) & (nslots - 1);
	slots[at] = (uint32_t)number + 1;
}

static bool slots_grow(struct tn_map *map)
{
	size_t nslots = map->nslots ? map->nslots * 2 : 16, i;
	uint32_t *slots;

	if (map->nslots && (map->len + 1) * 3 <= map->nslots * 2)
		return true;
	slots = calloc(nslots, sizeof(*slots));
	if (!slots)
		return false;
	for (i = 0; i < map->len; i++)
		slot_put(slots, nslots, map->entries[i].hash, i);
	free(map->slots);
	map->slots = slots;
	map->nslots = nslots;
	return true;
}

static bool entries_grow(struct tn_map *map)
{
	size_t cap = map->cap ? map->cap * 2 : 8, bytes;
	struct tn_map_entry *entries;

	if (map->len < map->cap)
		return true;
	if (!tn_num_mul_size(cap, sizeof(*entries), &bytes))
		return false;
	entries = realloc(map->entries, bytes);
	if (!entries)
		return false;
	map->entries = entries;
	map->cap = cap;
	return true;
}

bool tn_map_set(struct tn_map *map, const void *key, void *value)
{
	size_t len = key_len(map, key);
	uint64_t hash = hash_key(map, key, len);
	struct tn_map_entry *entry = entry_find(map, key, len, hash);

	if (entry) {
		entry->value = value;
		return true;
	}
	if (map->len >= UINT32_MAX / 2 || !slots_grow(map) ||
	    !entries_grow(map))
		return false;
	map->entries[map->len] = (struct tn_map_entry){key, value, hash};
	slot_put(map->slots, map->nslots, hash, map->len);
	map->len++;
	return true;
}
