/*
 * Numbers as C spells them, whatever locale the host program runs in.
 *
 * Between enter and leave the calling thread formats and reads numbers with
 * '.' as decimal point; other threads are not touched.
 */
#ifndef TN_BASE_NUMLOC_H
#define TN_BASE_NUMLOC_H

#include <locale.h>
#include <stdbool.h>

struct tn_numloc {
	locale_t own, old;
};

/* False when out of memory; leave may be called all the same. */
bool tn_numloc_enter(struct tn_numloc *loc);
void tn_numloc_leave(struct tn_numloc *loc);

#endif
