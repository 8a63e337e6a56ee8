/*
 * A growing array on the heap or in an arena.
 *
 * `struct tn_vec` holds elements of one size. With an arena, old storage is
 * left behind in it and tn_vec_fini is a no-op; without, the vector owns heap
 * memory. Pointers into it are valid until the next push.
 */
#ifndef TN_BASE_VEC_H
#define TN_BASE_VEC_H

#include "base/arena.h"

struct tn_vec {
	void *data;
	size_t len, cap;	/* in elements */
	size_t size;		/* bytes of an element */
	struct tn_arena *arena;	/* borrowed; NULL: heap */
};

/* An empty vector of `size`-byte elements; `arena` may be NULL (heap). */
void tn_vec_init(struct tn_vec *vec, size_t size, struct tn_arena *arena);
void tn_vec_fini(struct tn_vec *vec);
/* Room for `count` elements in all; false when out of memory. */
bool tn_vec_reserve(struct tn_vec *vec, size_t count);
/* A new zeroed element at the end; NULL when out of memory. */
void *tn_vec_push(struct tn_vec *vec);
/* Appends one pointer to a vector of pointers; false: out of memory. */
bool tn_vec_push_ptr(struct tn_vec *vec, const void *pointer);
/* Element `i`; borrowed. */
void *tn_vec_at(const struct tn_vec *vec, size_t i);
/* Pointer stored at `i` in a vector of pointers. */
void *tn_vec_ptr(const struct tn_vec *vec, size_t i);
/* Drops the last element; the vector must not be empty. */
void tn_vec_pop(struct tn_vec *vec);

#endif
