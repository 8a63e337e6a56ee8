/*
 * The "C" locale for one thread, for the length of one call. With glibc and
 * musl, newlocale gives a static object for it, so that this costs two
 * exchanges of a thread-local pointer and cannot fail.
 */
#include "base/numloc.h"

bool tn_numloc_enter(struct tn_numloc *loc)
{
	loc->old = (locale_t)0;
	loc->own = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (loc->own == (locale_t)0)
		return false;
	loc->old = uselocale(loc->own);
	return true;
}

void tn_numloc_leave(struct tn_numloc *loc)
{
	if (loc->own == (locale_t)0)
		return;
	uselocale(loc->old);
	freelocale(loc->own);
}
