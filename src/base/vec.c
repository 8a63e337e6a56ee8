/*
 * The growing array: storage doubles, first 8 elements.
 */
#include "base/vec.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"

void tn_vec_init(struct tn_vec *vec, size_t size, struct tn_arena *arena)
{
	assert(size > 0);
	*vec = (struct tn_vec){.size = size, .arena = arena};
}

void tn_vec_fini(struct tn_vec *vec)
{
	if (!vec->arena)
		free(vec->data);
	vec->data = NULL;
	vec->len = vec->cap = 0;
}

bool tn_vec_reserve(struct tn_vec *vec, size_t count)
{
	size_t cap = vec->cap ? vec->cap : 8, bytes;
	void *data;

	if (count <= vec->cap)
		return true;
	while (cap < count)
		cap = cap > SIZE_MAX / 2 ? count : cap * 2;
	if (!tn_num_mul_size(cap, vec->size, &bytes) || bytes > PTRDIFF_MAX)
		return false;
	if (vec->arena) {
		data = tn_arena_alloc(vec->arena, bytes);
		if (data && vec->len)
			memcpy(data, vec->data, vec->len * vec->size);
	} else {
		data = realloc(vec->data, bytes);
	}
	if (!data)
		return false;
	vec->data = data;
	vec->cap = cap;
	return true;
}

void *tn_vec_push(struct tn_vec *vec)
{
	void *at;

	if (vec->len == vec->cap && !tn_vec_reserve(vec, vec->len + 1))
		return NULL;
	at = (char *)vec->data + vec->len * vec->size;
	memset(at, 0, vec->size);
	vec->len++;
	return at;
}

bool tn_vec_push_ptr(struct tn_vec *vec, const void *pointer)
{
	void *at;

	assert(vec->size == sizeof(pointer));
	at = tn_vec_push(vec);
	if (at)
		memcpy(at, &pointer, sizeof(pointer));
	return at != NULL;
}

void *tn_vec_at(const struct tn_vec *vec, size_t i)
{
	assert(i < vec->len);
	return (char *)vec->data + i * vec->size;
}

void *tn_vec_ptr(const struct tn_vec *vec, size_t i)
{
	void *pointer;

	assert(vec->size == sizeof(pointer));
	memcpy(&pointer, tn_vec_at(vec, i), sizeof(pointer));
	return pointer;
}

void tn_vec_pop(struct tn_vec *vec)
{
	assert(vec->len > 0);
	vec->len--;
}
