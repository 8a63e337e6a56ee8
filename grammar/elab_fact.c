/*
 * Facts: what the `where` of a rule may ask of the values and lists that the
 * rule has matched. Add one: a function and a row, which documents it.
 */
#include <math.h>
#include <string.h>

#include "grammar/elab_rule.h"
#include "ir/fixed.h"

/* What a fact is told: its arguments, evaluated. */
struct question {
	struct frame *frame;
	const struct ev *in;
	int count;
};

static const struct tn_value *value_of(const struct question *q, int i)
{
	return i < q->count && q->in[i].kind == EV_VALUE ? q->in[i].u.value :
							   NULL;
}

static const struct tn_tensor *const_of(const struct question *q, int i)
{
	const struct tn_value *value = value_of(q, i);

	return value && value->op ? value->op->literal : NULL;
}

static bool is_list(const struct question *q, int i)
{
	return i < q->count && q->in[i].kind == EV_LIST;
}

static bool is_const(const struct question *q)
{
	return const_of(q, 0) != NULL;
}

static bool is_weight(const struct question *q)
{
	const struct tn_value *value = value_of(q, 0);

	return value && tn_fixed_is_weight(value);
}

static bool is_fixed(const struct question *q)
{
	const struct tn_value *value = value_of(q, 0);

	return value && tn_fixed_value(value);
}

static bool is_used_once(const struct question *q)
{
	const struct tn_value *value = value_of(q, 0);

	return value && value->uses && !value->uses->next;
}

/* Every element of the constant passes. */
static bool every(const struct question *q, bool (*test)(double x))
{
	const struct tn_tensor *tensor = const_of(q, 0);
	int64_t count = tensor ? tn_tensor_count(tensor) : 0, i;

	for (i = 0; i < count; i++)
		if (!test(tn_tensor_get_f64(tensor, i)))
			return false;
	return count > 0;
}

static bool above_zero(double x)
{
	return x > 0;
}

static bool is_positive(const struct question *q)
{
	return every(q, above_zero);
}

static bool not_zero(double x)
{
	return isfinite(x) && x != 0;
}

static bool is_nonzero(const struct question *q)
{
	return every(q, not_zero);
}

/* Products and quotients by it are exact as long as nothing under- or
 * overflows; 2^40 leaves f16 out. */
static bool power_of_two(double x)
{
	int exponent;

	return isfinite(x) && fabs(frexp(x, &exponent)) == 0.5 &&
	       exponent > -12 && exponent < 14;
}

static bool is_power_of_two(const struct question *q)
{
	return every(q, power_of_two);
}

static bool is_identity(const struct question *q)
{
	int64_t at;
	int i;

	for (i = 0; is_list(q, 0) && i < q->in[0].u.list.len; i++)
		if (!ev_int(&q->in[0].u.list.at[i], &at) || at != i)
			return false;
	return is_list(q, 0);
}

/* Axis i of the list of sizes is longer than 1, or may be. */
static bool is_long(const struct ev *sizes, int64_t i)
{
	int64_t size;

	return i < 0 || i >= sizes->u.list.len ||
	       !ev_int(&sizes->u.list.at[i], &size) || size != 1;
}

/* An order of axes that only moves those of size 1 about. */
static bool keeps_order(const struct question *q)
{
	int64_t at, last = -1;
	int i;

	if (!is_list(q, 0) || !is_list(q, 1) ||
	    q->in[0].u.list.len != q->in[1].u.list.len)
		return false;
	for (i = 0; i < q->in[0].u.list.len; i++) {
		if (!ev_int(&q->in[0].u.list.at[i], &at))
			return false;
		if (!is_long(&q->in[1], at))
			continue;
		if (at < last)
			return false;
		last = at;
	}
	return true;
}

/* All numbers of the list, those of inner lists too, are x. */
static bool all_are(const struct ev *list, int64_t x)
{
	int64_t at;
	int i;

	if (list->kind != EV_LIST)
		return ev_int(list, &at) && at == x;
	for (i = 0; i < list->u.list.len; i++)
		if (!all_are(&list->u.list.at[i], x))
			return false;
	return true;
}

static bool all_zero(const struct question *q)
{
	return q->count == 1 && all_are(&q->in[0], 0);
}

static bool all_one(const struct question *q)
{
	return q->count == 1 && all_are(&q->in[0], 1);
}

/* Every value of the first type is one of the second, of the same kind, so
 * that going there and on is going at once. */
static bool widens(const struct question *q)
{
	enum tn_dtype from, to;
	int narrow, wide;

	if (q->count != 2 || q->in[0].kind != EV_ELEM ||
	    q->in[1].kind != EV_ELEM)
		return false;
	from = q->in[0].u.elem;
	to = q->in[1].u.elem;
	narrow = tn_dtype_bytes(from);
	wide = tn_dtype_bytes(to);
	if (from == to)
		return true;
	if (tn_dtype_is(from, TN_KIND_F))
		return tn_dtype_is(to, TN_KIND_F) && narrow < wide;
	if (tn_dtype_is(from, TN_KIND_U))
		return tn_dtype_is(to, TN_KIND_INT) && narrow < wide;
	return tn_dtype_is(from, TN_KIND_I) && tn_dtype_is(to, TN_KIND_I) &&
	       narrow < wide;
}

static const struct {
	const char *name;
	bool (*holds)(const struct question *question);
	bool of_const;		/* constants alone have it */
	const char *doc;
} facts[] = {
	{"is_const", is_const, true, "x: the value is a constant"},
	{"is_weight", is_weight, false, "x: the value is a weight"},
	{"is_fixed", is_fixed, true,
	 "x: the value is made of weights and constants alone"},
	{"used_once", is_used_once, false, "x: the value has one use"},
	{"positive", is_positive, true, "x: a constant, all above 0"},
	{"nonzero", is_nonzero, true, "x: a constant, all finite and none 0"},
	{"power_of_two", is_power_of_two, true,
	 "x: a constant, all powers of two or their negatives"},
	{"is_identity", is_identity, false, "p: the order moves nothing"},
	{"keeps_order", keeps_order, false,
	 "p, [*P]: the order moves only axes of size 1 past others"},
	{"all_zero", all_zero, false, "list: all its numbers are 0"},
	{"widens", widens, false,
	 "T, U: element type U holds every value of T, of the same kind"},
	{"all_one", all_one, false, "list: all its numbers are 1"},
};

#define NFACTS ((int)(sizeof(facts) / sizeof(facts[0])))

int elab_fact_find(const char *name)
{
	int i;

	for (i = 0; i < NFACTS; i++)
		if (strcmp(facts[i].name, name) == 0)
			return i;
	return -1;
}

const char *tn_elab_fact(int number, const char **doc)
{
	if (number < 0 || number >= NFACTS)
		return NULL;
	*doc = facts[number].doc;
	return facts[number].name;
}

bool elab_fact_is_const(int fact)
{
	return fact >= 0 && facts[fact].of_const;
}

bool elab_fact_holds(struct frame *frame, int fact,
		     const struct tn_args *args)
{
	struct question question = {.frame = frame};
	struct ev in[4];
	uint32_t i;

	if (args->len > 4)
		return false;
	for (i = 0; i < args->len; i++) {
		if (args->at[i]->kind != TN_ARG_POSITIONAL)
			return false;
		in[i] = elab_expr(frame, args->at[i]->value, ELAB_ANY);
	}
	question.in = in;
	question.count = (int)args->len;
	return facts[fact].holds(&question);
}
