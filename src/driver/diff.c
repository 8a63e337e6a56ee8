/*
 * Myers' difference in linear memory: the middle of a shortest script is
 * looked for from both ends, what lies before and behind it is solved alike.
 *
 *   before   a b c        @@ -1,3 +1,3 @@
 *   after    a x c        ` a`, `-b`, `+x`, ` c`
 *
 * Lines are numbered first, so comparing two is comparing numbers. Where the
 * script would be longer than LONGEST, the whole stretch counts as changed: a
 * module that nothing is left of is not worth quadratic time.
 *
 * E. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986.
 */
#include "driver/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* Lines shown around a change; edits on the way to the middle. */
#define AROUND 3
#define LONGEST 3000

/* One of the texts. */
struct side {
	char *text;		/* a copy, its lines ended by NUL */
	const char **lines;
	int *ids;		/* equal lines have equal ones */
	bool *changed;
	int count;
};

struct diff {
	struct side a, b;
	int *forth, *back;	/* furthest place on each diagonal */
	int middle;		/* index of diagonal 0 */
};

/* ---- Lines ------------------------------------------------------------- */

static int count_lines(const char *text)
{
	int count = 0;

	for (; *text; text++)
		count += *text == '\n' || !text[1];
	return count;
}

static bool number_lines(struct side *side, struct tn_map *ids)
{
	char *at = side->text;
	size_t id;
	int i;

	for (i = 0; i < side->count; i++) {
		side->lines[i] = at;
		at += strcspn(at, "\n");
		if (*at)
			*at++ = '\0';
		id = (size_t)(uintptr_t)tn_map_find(ids, side->lines[i]);
		if (!id) {
			id = ids->len + 1;
			if (!tn_map_set(ids, side->lines[i],
					(void *)(uintptr_t)id))
				return false;
		}
		side->ids[i] = (int)id;
	}
	return true;
}

static bool open_side(struct side *side, const char *text, struct tn_map *ids)
{
	size_t size = strlen(text) + 1, count;

	side->count = count_lines(text);
	count = (size_t)side->count + 1;
	side->text = malloc(size);
	side->lines = calloc(count, sizeof(*side->lines));
	side->ids = calloc(count, sizeof(*side->ids));
	side->changed = calloc(count, sizeof(*side->changed));
	if (!side->text || !side->lines || !side->ids || !side->changed)
		return false;
	memcpy(side->text, text, size);
	return number_lines(side, ids);
}

static void close_side(struct side *side)
{
	free(side->text);
	free(side->lines);
	free(side->ids);
	free(side->changed);
}

/* ---- The script -------------------------------------------------------- */

/* Lines [a, an) of one text against [b, bn) of the other. */
struct box {
	int a, an, b, bn;
};

/* One more edit from the front: true, and its place, if it meets what came
 * from behind. */
static bool step_forth(struct diff *d, const struct box *box, int edits,
		       int *x, int *y)
{
	int n = box->an - box->a, m = box->bn - box->b, delta = n - m, k;
	int *forth = d->forth + d->middle, *back = d->back + d->middle;

	for (k = -edits; k <= edits; k += 2) {
		*x = k == -edits || (k != edits && forth[k - 1] < forth[k + 1]) ?
			forth[k + 1] : forth[k - 1] + 1;
		*y = *x - k;
		while (*x < n && *y >= 0 && *y < m &&
		       d->a.ids[box->a + *x] == d->b.ids[box->b + *y]) {
			++*x;
			++*y;
		}
		forth[k] = *x;
		if ((delta & 1) && k - delta > -edits && k - delta < edits &&
		    *x <= n && *y >= 0 && *y <= m &&
		    *x + back[delta - k] >= n)
			return true;
	}
	return false;
}

/* The same from behind; places are counted from the end. */
static bool step_back(struct diff *d, const struct box *box, int edits,
		      int *x, int *y)
{
	int n = box->an - box->a, m = box->bn - box->b, delta = n - m, k;
	int *forth = d->forth + d->middle, *back = d->back + d->middle;

	for (k = -edits; k <= edits; k += 2) {
		*x = k == -edits || (k != edits && back[k - 1] < back[k + 1]) ?
			back[k + 1] : back[k - 1] + 1;
		*y = *x - k;
		while (*x < n && *y >= 0 && *y < m &&
		       d->a.ids[box->an - 1 - *x] ==
		       d->b.ids[box->bn - 1 - *y]) {
			++*x;
			++*y;
		}
		back[k] = *x;
		if (!(delta & 1) && k - delta >= -edits && k - delta <= edits &&
		    *x <= n && *y >= 0 && *y <= m &&
		    *x + forth[delta - k] >= n) {
			*x = n - *x;
			*y = m - *y;
			return true;
		}
	}
	return false;
}

/* A place on a shortest script, neither its begin nor its end; false: it would
 * be too long. */
static bool find_middle(struct diff *d, const struct box *box, int *x, int *y)
{
	int edits;

	d->forth[d->middle + 1] = 0;
	d->back[d->middle + 1] = 0;
	for (edits = 0; edits <= LONGEST; edits++)
		if (step_forth(d, box, edits, x, y) ||
		    step_back(d, box, edits, x, y))
			return true;
	return false;
}

static void mark(struct diff *d, const struct box *box)
{
	int i;

	for (i = box->a; i < box->an; i++)
		d->a.changed[i] = true;
	for (i = box->b; i < box->bn; i++)
		d->b.changed[i] = true;
}

/* Each half has half the edits, so this nests as deep as the logarithm of the
 * number of lines. */
static void solve(struct diff *d, struct box box)
{
	struct box rest;
	int x, y;

	while (box.a < box.an && box.b < box.bn &&
	       d->a.ids[box.a] == d->b.ids[box.b]) {
		box.a++;
		box.b++;
	}
	while (box.a < box.an && box.b < box.bn &&
	       d->a.ids[box.an - 1] == d->b.ids[box.bn - 1]) {
		box.an--;
		box.bn--;
	}
	if (box.a == box.an || box.b == box.bn ||
	    !find_middle(d, &box, &x, &y)) {
		mark(d, &box);
		return;
	}
	rest = box;
	rest.a = box.an = box.a + x;
	rest.b = box.bn = box.b + y;
	solve(d, box);
	solve(d, rest);
}

/* ---- Writing ----------------------------------------------------------- */

/* Moves *i and *j past a stretch of changed lines, or of equal ones. */
static void skip(const struct diff *d, bool changed, int *i, int *j)
{
	if (!changed) {
		while (*i < d->a.count && *j < d->b.count &&
		       !d->a.changed[*i] && !d->b.changed[*j]) {
			++*i;
			++*j;
		}
		return;
	}
	while (*i < d->a.count && d->a.changed[*i])
		++*i;
	while (*j < d->b.count && d->b.changed[*j])
		++*j;
}

/* Where a hunk that begins with the change at (i, j) ends: behind the last
 * change that no more than twice AROUND equal lines part from the one before. */
static void find_end(const struct diff *d, int i, int j, int *ei, int *ej)
{
	int from;

	do {
		skip(d, true, &i, &j);
		*ei = i;
		*ej = j;
		from = i;
		skip(d, false, &i, &j);
	} while (i - from <= 2 * AROUND &&
		 (i < d->a.count || j < d->b.count));
}

static void put_lines(struct tn_buf *out, const struct diff *d,
		      const struct box *hunk)
{
	int i = hunk->a, j = hunk->b;

	while (i < hunk->an || j < hunk->bn) {
		if (i < hunk->an && d->a.changed[i])
			tn_buf_putf(out, "-%s\n", d->a.lines[i++]);
		else if (j < hunk->bn && d->b.changed[j])
			tn_buf_putf(out, "+%s\n", d->b.lines[j++]);
		else {
			tn_buf_putf(out, " %s\n", d->a.lines[i++]);
			j++;
		}
	}
}

/* `3,2`: from line 3 two lines; of none, the line before. */
static void put_range(struct tn_buf *out, char sign, int from, int end)
{
	tn_buf_putf(out, "%c%d", sign, end > from ? from + 1 : from);
	if (end - from != 1)
		tn_buf_putf(out, ",%d", end - from);
}

static void put_hunks(struct tn_buf *out, const struct diff *d)
{
	int i = 0, j = 0, before, behind;
	struct box hunk;

	skip(d, false, &i, &j);
	while (i < d->a.count || j < d->b.count) {
		before = i < AROUND ? i : AROUND;
		hunk.a = i - before;
		hunk.b = j - before;
		find_end(d, i, j, &i, &j);
		behind = d->a.count - i < AROUND ? d->a.count - i : AROUND;
		hunk.an = i + behind;
		hunk.bn = j + behind;
		tn_buf_put(out, "@@ ");
		put_range(out, '-', hunk.a, hunk.an);
		tn_buf_putc(out, ' ');
		put_range(out, '+', hunk.b, hunk.bn);
		tn_buf_put(out, " @@\n");
		put_lines(out, d, &hunk);
		skip(d, false, &i, &j);
	}
}

bool tn_diff(struct tn_buf *out, const char *before, const char *after)
{
	struct diff d = {0};
	struct tn_map ids;
	struct box all = {0};
	size_t room;
	bool good;

	tn_map_init_text(&ids);
	good = open_side(&d.a, before, &ids) && open_side(&d.b, after, &ids);
	room = 2 * ((size_t)d.a.count + (size_t)d.b.count) + 8;
	d.middle = (int)(room / 2);
	d.forth = calloc(room, sizeof(*d.forth));
	d.back = calloc(room, sizeof(*d.back));
	good = good && d.forth && d.back;
	if (good) {
		all.an = d.a.count;
		all.bn = d.b.count;
		solve(&d, all);
		put_hunks(out, &d);
	}
	free(d.forth);
	free(d.back);
	close_side(&d.a);
	close_side(&d.b);
	tn_map_fini(&ids);
	return good && !out->failed;
}
