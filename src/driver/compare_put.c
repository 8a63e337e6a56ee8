/*
 * What compare says of two tensors: tolerances, distances and places.
 */
#include <stdlib.h>
#include <string.h>

#include "driver/compare.h"

/* ---- Tolerances ---------------------------------------------------------- */

bool compare_tolerance(const struct command *command,
		       struct compare_tolerance *out)
{
	const char *r = command_value(command, "--rtol");
	const char *a = command_value(command, "--atol");
	const char *u = command_value(command, "--ulp");

	*out = (struct compare_tolerance){0};
	out->is_given = r || a || u;
	return (!r || command_number("--rtol", r, &out->rtol)) &&
	       (!a || command_number("--atol", a, &out->atol)) &&
	       (!u || command_number("--ulp", u, &out->ulp));
}

/* What holds unless something was given: integers exactly. */
static struct compare_tolerance
tolerance_for(const struct compare_tolerance *given, enum tenon_dtype dtype)
{
	struct compare_tolerance t = *given;

	if (dtype > TENON_BF16)
		return (struct compare_tolerance){0};
	if (given->is_given)
		return t;
	switch ((int)dtype) {
	case TENON_F64:
		t.rtol = t.atol = 1e-9;
		break;
	case TENON_F16:
		t.rtol = t.atol = 1e-2;
		break;
	case TENON_BF16:
		t.rtol = t.atol = 5e-2;
		break;
	default:
		t.rtol = 1e-4;
		t.atol = 1e-5;
	}
	return t;
}

/* ---- One pair ------------------------------------------------------------ */

void compare_put_index(const struct tenon_tensor *t, int64_t at)
{
	int64_t index[TENON_MAX_RANK];
	int k;

	for (k = t->rank; k-- > 0; at /= t->shape[k])
		index[k] = at % t->shape[k];
	putchar('[');
	for (k = 0; k < t->rank; k++)
		printf("%s%lld", k ? ", " : "", (long long)index[k]);
	putchar(']');
}

/* Where the largest of one kind lies, if that is not told yet. */
static void put_where(const char *what, const struct tenon_tensor *t,
		      int64_t at, int64_t told)
{
	if (at < 0 || at == told)
		return;
	printf("  %s at ", what);
	compare_put_index(t, at);
	putchar('\n');
}

static void put_text(const char *name, const struct tenon_tensor *t,
		     const struct tenon_difference *d)
{
	printf("%s: ", name);
	command_type(stdout, t);
	if (!d->count) {
		puts(": equal");
		return;
	}
	printf(": %lld of %lld differ, %lld beyond tolerance\n"
	       "  largest: absolute %.3g, relative %.3g, ulp %.0f\n  at ",
	       (long long)d->count, (long long)tenon_tensor_count(t),
	       (long long)d->beyond, d->absolute, d->relative, d->ulp);
	compare_put_index(t, d->where);
	printf(": %.9g and %.9g\n", d->left, d->right);
	put_where("relative", t, d->where_relative, d->where);
	put_where("ulp", t, d->ulp > 0 ? d->where_ulp : -1, d->where);
}

void compare_put_number(double x)
{
	if (x < 1e300 && x > -1e300)
		printf("%.9g", x);
	else
		fputs("null", stdout);
}

static void put_json(const char *name, const struct tenon_tensor *t,
		     const struct tenon_difference *d)
{
	fputs("{\"output\":", stdout);
	command_json(stdout, name);
	printf(",\"elements\":%lld,\"differ\":%lld,\"beyond\":%lld,"
	       "\"absolute\":", (long long)tenon_tensor_count(t),
	       (long long)d->count, (long long)d->beyond);
	compare_put_number(d->absolute);
	fputs(",\"relative\":", stdout);
	compare_put_number(d->relative);
	fputs(",\"ulp\":", stdout);
	compare_put_number(d->ulp);
	printf(",\"where\":%lld,\"where_relative\":%lld,\"where_ulp\":%lld,"
	       "\"first_beyond\":%lld}\n", (long long)d->where,
	       (long long)d->where_relative, (long long)d->where_ulp,
	       (long long)d->first);
}

bool compare_distance(const struct command *command,
		      const struct tenon_tensor *a,
		      const struct tenon_tensor *b,
		      struct tenon_difference *out)
{
	struct compare_tolerance given, t;

	*out = (struct tenon_difference){ .where = -1, .first = -1 };
	if (!compare_tolerance(command, &given))
		return false;
	t = tolerance_for(&given, a->dtype);
	return tenon_tensor_compare(a, b, t.rtol, t.atol, t.ulp, out);
}

enum tenon_status compare_pair(const struct command *command,
			       const char *name, const struct tenon_tensor *a,
			       const struct tenon_tensor *b)
{
	struct tenon_difference d;

	if (!compare_distance(command, a, b, &d)) {
		printf("%s: ", name);
		command_type(stdout, a);
		fputs(" against ", stdout);
		command_type(stdout, b);
		putchar('\n');
		return TENON_NO;
	}
	if (command_value(command, "--json"))
		put_json(name, a, &d);
	else
		put_text(name, a, &d);
	return d.beyond ? TENON_NO : TENON_OK;
}
