/*
 * "Did you mean": the nearest name by edit distance, where inserting,
 * deleting, replacing a byte or swapping two neighbours costs one (optimal
 * string alignment). Three rows of the table are enough.
 */
#include "base/diag.h"

#include <string.h>

/* Names longer than this are no typing mistakes of one another. */
#define LONGEST 255
/* Edits beyond which a name is another name. */
#define FARTHEST 2

static size_t min_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t distance(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t rows[3][LONGEST + 1], i, j;

	for (j = 0; j <= blen; j++)
		rows[0][j] = j;
	for (i = 1; i <= alen; i++) {
		size_t *row = rows[i % 3], *up = rows[(i + 2) % 3];
		const size_t *up2 = rows[(i + 1) % 3];

		row[0] = i;
		for (j = 1; j <= blen; j++) {
			size_t cost = a[i - 1] != b[j - 1];

			row[j] = min_of(up[j - 1] + cost,
					min_of(up[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
			    a[i - 2] == b[j - 1])
				row[j] = min_of(row[j], up2[j - 2] + 1);
		}
	}
	return rows[alen % 3][blen];
}

const char *tn_diag_nearest(const char *name, const char *const *candidates,
			    size_t count)
{
	size_t len = strlen(name), best = min_of(FARTHEST, len / 3) + 1, i;
	const char *found = NULL;

	if (len > LONGEST)
		return NULL;
	for (i = 0; i < count; i++) {
		size_t other = strlen(candidates[i]), far;

		if (other > LONGEST || other + best <= len ||
		    len + best <= other)
			continue;
		far = distance(name, len, candidates[i], other);
		if (far < best) {
			best = far;
			found = candidates[i];
		}
	}
	return found;
}
