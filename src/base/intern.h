/*
 * Interned names: one `const char *` for each distinct text, so that names
 * compare by pointer. Texts hold no NUL byte.
 */
#ifndef TN_BASE_INTERN_H
#define TN_BASE_INTERN_H

#include "base/arena.h"
#include "base/map.h"

struct tn_intern {
	struct tn_arena arena;
	struct tn_map map;
};

void tn_intern_init(struct tn_intern *pool);
void tn_intern_fini(struct tn_intern *pool);
/* The one copy of the first `len` bytes of `text`; NULL: no memory. */
const char *tn_intern_add(struct tn_intern *pool, const char *text,
			  size_t len);
/* Same for a NUL-terminated text. */
const char *tn_intern_text(struct tn_intern *pool, const char *text);

#endif
