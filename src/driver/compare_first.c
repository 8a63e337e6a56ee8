/*
 * compare --first-divergence: both sides were run with every value as a result;
 * values of one name are held against each other in the order of the operators.
 *
 *   first divergence: h__2 = mul at model.tn:5:9
 *     f32[2, 3]: 1 of 6 differ, 1 beyond tolerance; 12 values before it agree
 *     first at [0, 2]: 1.5 and 1.75
 */
#include <string.h>

#include "driver/compare.h"

/* A walk over the values of one side, and what was met on the other. */
struct walk {
	const struct command *command;
	const struct compare_side *lead, *other;
	int at;		/* where the other's last value of one name stood */
	int agreed, absent, mistyped;
	bool swapped;	/* the lead is the second file */
};

/* The other's value of this name; most stand right behind the last one. */
static int find(struct walk *walk, const char *name)
{
	int n = compare_side_count(walk->other), i, k;

	for (k = 0; k < n; k++) {
		i = (walk->at + k) % n;
		if (strcmp(compare_side_name(walk->other, i), name) != 0)
			continue;
		walk->at = i + 1;
		return i;
	}
	return -1;
}

/* Where a revealed module hands the value out; of one that renames its
 * results, too. */
static int find_shown(struct walk *walk, const char *name)
{
	const struct compare_side *side = walk->other;
	size_t n = side->nshown, i, k;

	for (k = 0; k < n; k++) {
		i = ((size_t)walk->at + k) % n;
		if (strcmp(side->shown[i].name, name) != 0)
			continue;
		walk->at = (int)i + 1;
		return side->shown[i].output;
	}
	return -1;
}

static void put_text(const struct walk *walk, const struct tenon_value *value,
		     const struct tenon_tensor *t,
		     const struct tenon_difference *d)
{
	printf("first divergence: %s = %s", value->name, value->op);
	if (value->place)
		printf(" at %s", value->place);
	fputs("\n  ", stdout);
	command_type(stdout, t);
	printf(": %lld of %lld differ, %lld beyond tolerance; %d value%s "
	       "before it agree%s\n  first at ", (long long)d->count,
	       (long long)tenon_tensor_count(t), (long long)d->beyond,
	       walk->agreed, walk->agreed == 1 ? "" : "s",
	       walk->agreed == 1 ? "s" : "");
	compare_put_index(t, d->first);
	printf(": %.9g and %.9g\n", d->first_left, d->first_right);
	printf("  largest: absolute %.3g, relative %.3g, ulp %.0f\n",
	       d->absolute, d->relative, d->ulp);
}

static void put_json(const struct walk *walk, const struct tenon_value *value,
		     const struct tenon_difference *d)
{
	fputs("{\"value\":", stdout);
	command_json(stdout, value->name);
	fputs(",\"operator\":", stdout);
	command_json(stdout, value->op);
	fputs(",\"place\":", stdout);
	command_json(stdout, value->place ? value->place : "");
	printf(",\"element\":%lld,\"left\":", (long long)d->first);
	compare_put_number(d->first_left);
	fputs(",\"right\":", stdout);
	compare_put_number(d->first_right);
	printf(",\"agreed\":%d,\"differ\":%lld,\"beyond\":%lld}\n",
	       walk->agreed, (long long)d->count, (long long)d->beyond);
}

/* One value of the lead. TENON_NO: it is the one. */
static enum tenon_status step(struct walk *walk,
			      const struct tenon_value *value)
{
	struct tenon_tensor mine, theirs;
	const struct tenon_tensor *a, *b;
	struct tenon_difference d;
	enum tenon_status status;
	int i = walk->other->shown ? find_shown(walk, value->name) :
		find(walk, value->name);

	if (i < 0) {
		walk->absent++;
		return TENON_OK;
	}
	status = compare_side_get(walk->lead, value->output, &mine);
	if (status == TENON_OK)
		status = compare_side_get(walk->other, i, &theirs);
	if (status != TENON_OK)
		return status;
	a = walk->swapped ? &theirs : &mine;
	b = walk->swapped ? &mine : &theirs;
	if (!compare_distance(walk->command, a, b, &d)) {
		walk->mistyped++;
		return TENON_OK;
	}
	if (!d.beyond) {
		walk->agreed++;
		return TENON_OK;
	}
	if (command_value(walk->command, "--json"))
		put_json(walk, value, &d);
	else
		put_text(walk, value, a, &d);
	return TENON_NO;
}

static enum tenon_status put_end(const struct walk *walk)
{
	if (!walk->agreed) {
		fprintf(stderr, "tenon compare: no value of %s has name and "
			"type of one of %s\n", walk->lead->path,
			walk->other->path);
		return TENON_BAD_INPUT;
	}
	if (command_value(walk->command, "--json"))
		printf("{\"value\":null,\"agreed\":%d,\"absent\":%d,"
		       "\"mistyped\":%d}\n", walk->agreed, walk->absent,
		       walk->mistyped);
	else
		printf("no divergence: %d value%s agree%s\n", walk->agreed,
		       walk->agreed == 1 ? "" : "s",
		       walk->agreed == 1 ? "s" : "");
	return TENON_OK;
}

enum tenon_status compare_first(const struct command *command,
				const struct compare_side *a,
				const struct compare_side *b)
{
	struct walk walk = { .command = command, .lead = a, .other = b };
	enum tenon_status status = TENON_OK;
	size_t i;

	if (a->kind != COMPARE_MODULE) {
		walk.lead = b;
		walk.other = a;
		walk.swapped = true;
	}
	for (i = 0; status == TENON_OK && i < walk.lead->nshown; i++)
		status = step(&walk, &walk.lead->shown[i]);
	if (walk.absent + walk.mistyped)
		fprintf(stderr, "tenon compare: of %s, %d value%s not in %s, "
			"%d of another type there\n", walk.lead->path,
			walk.absent, walk.absent == 1 ? " is" : "s are",
			walk.other->path, walk.mistyped);
	return status == TENON_OK ? put_end(&walk) : status;
}
