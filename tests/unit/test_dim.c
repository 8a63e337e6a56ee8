/*
 * Dims: the normal form against plain arithmetic on random expressions, equal
 * polynomials as one pointer, text that reads back, proofs and bounds by
 * sampling, solving, overflow.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "ir/dim.h"

#define NSYMS 5

struct fixture {
	struct tn_arena arena;
	struct tn_dim_pool pool;
	const struct tn_dim *syms[NSYMS];
	uint64_t seed;
};

static const struct tn_sym decls[NSYMS] = {
	{.name = "B", .lo = 1, .hi = 8, .mod = 1},
	{.name = "S", .lo = 0, .hi = 64, .mod = 4},
	{.name = "H", .lo = 2, .hi = 9, .mod = 1},
	{.name = "K", .lo = 0, .hi = 30, .mod = 6},
	{.name = "N", .lo = -5, .hi = 5, .mod = 1},
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	int i;

	tn_arena_init(&f->arena);
	assert_true(tn_dim_pool_init(&f->pool, &f->arena));
	for (i = 0; i < NSYMS; i++)
		f->syms[i] = tn_dim_new_sym(&f->pool, &decls[i]);
	f->seed = 12345;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tn_dim_pool_fini(&f->pool);
	tn_arena_fini(&f->arena);
	free(f);
	return 0;
}

static int64_t roll(struct fixture *f, int64_t lo, int64_t hi)
{
	f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
	return lo + (int64_t)((f->seed >> 33) % (uint64_t)(hi - lo + 1));
}

static const struct tn_dim *num(struct fixture *f, int64_t value)
{
	return tn_dim_const(&f->pool, value);
}

/* ---- A reader of dims, apart from the one of the language ------------ */

struct reader {
	struct fixture *f;
	const char *at;
};

static const struct tn_dim *read_sum(struct reader *r);

static void skip_blanks(struct reader *r)
{
	while (*r->at == ' ')
		r->at++;
}

static bool take(struct reader *r, const char *text)
{
	skip_blanks(r);
	if (strncmp(r->at, text, strlen(text)) != 0)
		return false;
	r->at += strlen(text);
	return true;
}

static const struct tn_dim *read_unary(struct reader *r)
{
	const struct tn_dim *a, *b;
	bool is_min;
	char *end;
	int i;

	if (take(r, "-")) {
		if (isdigit((unsigned char)*r->at)) {
			int64_t value = strtoll(r->at - 1, &end, 10);

			r->at = end;
			return num(r->f, value);
		}
		return tn_dim_sub(&r->f->pool, num(r->f, 0), read_unary(r));
	}
	if (take(r, "(")) {
		a = read_sum(r);
		assert_true(take(r, ")"));
		return a;
	}
	is_min = take(r, "min(");
	if (is_min || take(r, "max(")) {
		a = read_sum(r);
		assert_true(take(r, ","));
		b = read_sum(r);
		assert_true(take(r, ")"));
		return is_min ? tn_dim_min(&r->f->pool, a, b) :
				tn_dim_max(&r->f->pool, a, b);
	}
	for (i = 0; i < NSYMS; i++)
		if (take(r, decls[i].name))
			return r->f->syms[i];
	assert_true(isdigit((unsigned char)*r->at));
	a = num(r->f, strtoll(r->at, &end, 10));
	r->at = end;
	return a;
}

static const struct tn_dim *read_product(struct reader *r)
{
	const struct tn_dim *a = read_unary(r);

	for (;;) {
		if (take(r, "//"))
			a = tn_dim_floordiv(&r->f->pool, a, read_unary(r));
		else if (take(r, "*"))
			a = tn_dim_mul(&r->f->pool, a, read_unary(r));
		else if (take(r, "%"))
			a = tn_dim_mod(&r->f->pool, a, read_unary(r));
		else
			return a;
	}
}

static const struct tn_dim *read_sum(struct reader *r)
{
	const struct tn_dim *a = read_product(r);

	for (;;) {
		if (take(r, "+"))
			a = tn_dim_add(&r->f->pool, a, read_product(r));
		else if (take(r, "-"))
			a = tn_dim_sub(&r->f->pool, a, read_product(r));
		else
			return a;
	}
}

static const struct tn_dim *dim_of(struct fixture *f, const char *text)
{
	struct reader r = {f, text};
	const struct tn_dim *dim = read_sum(&r);

	skip_blanks(&r);
	assert_int_equal(*r.at, '\0');
	return dim;
}

static char *text_of(const struct tn_dim *dim)
{
	struct tn_buf buf;

	tn_buf_init(&buf);
	tn_dim_print(&buf, dim);
	return tn_buf_take(&buf);
}

static void assert_text(const struct tn_dim *dim, const char *want)
{
	char *text;

	assert_non_null(dim);
	text = text_of(dim);
	assert_string_equal(text, want);
	free(text);
}

/* ---- Random expressions against plain arithmetic --------------------- */

enum shape { LEAF_NUM, LEAF_SYM, ADD, SUB, MUL, DIV, MOD, MIN, MAX, SHAPES };

struct expr {
	enum shape shape;
	int64_t value;
	struct expr *a, *b;
};

static struct expr *grow(struct fixture *f, int depth)
{
	struct expr *e = calloc(1, sizeof(*e));

	e->shape = (enum shape)(depth ? roll(f, 0, SHAPES - 1) :
					roll(f, LEAF_NUM, LEAF_SYM));
	e->value = e->shape == LEAF_NUM ? roll(f, -9, 12) :
					  roll(f, 0, NSYMS - 1);
	if (e->shape > LEAF_SYM) {
		e->a = grow(f, depth - 1);
		e->b = grow(f, depth - 1);
	}
	return e;
}

static void drop(struct expr *e)
{
	if (!e)
		return;
	drop(e->a);
	drop(e->b);
	free(e);
}

/* The normal form; NULL: a constant divisor 0 or too large. */
static const struct tn_dim *build(struct fixture *f, const struct expr *e)
{
	const struct tn_dim *a, *b;

	if (e->shape == LEAF_NUM)
		return num(f, e->value);
	if (e->shape == LEAF_SYM)
		return f->syms[e->value];
	a = build(f, e->a);
	b = build(f, e->b);
	switch (e->shape) {
	case ADD:
		return tn_dim_add(&f->pool, a, b);
	case SUB:
		return tn_dim_sub(&f->pool, a, b);
	case MUL:
		return tn_dim_mul(&f->pool, a, b);
	case DIV:
		return tn_dim_floordiv(&f->pool, a, b);
	case MOD:
		return tn_dim_mod(&f->pool, a, b);
	case MIN:
		return tn_dim_min(&f->pool, a, b);
	case MAX:
		return tn_dim_max(&f->pool, a, b);
	case LEAF_NUM:
	case LEAF_SYM:
	case SHAPES:
		break;
	}
	return NULL;
}

static bool plain(const struct expr *e, const int64_t *values, int64_t *out)
{
	int64_t a, b;

	if (e->shape == LEAF_NUM || e->shape == LEAF_SYM) {
		*out = e->shape == LEAF_NUM ? e->value : values[e->value];
		return true;
	}
	if (!plain(e->a, values, &a) || !plain(e->b, values, &b))
		return false;
	switch (e->shape) {
	case ADD:
		return tn_num_add(a, b, out);
	case SUB:
		return tn_num_sub(a, b, out);
	case MUL:
		return tn_num_mul(a, b, out);
	case DIV:
	case MOD:
		if (b == 0)
			return false;
		*out = e->shape == DIV ? tn_num_floordiv(a, b) :
					 tn_num_floormod(a, b);
		return true;
	case MIN:
	case MAX:
		*out = (a < b) == (e->shape == MIN) ? a : b;
		return true;
	case LEAF_NUM:
	case LEAF_SYM:
	case SHAPES:
		break;
	}
	return false;
}

static void sample(struct fixture *f, int64_t *values)
{
	int i;

	for (i = 0; i < NSYMS; i++) {
		int64_t mod = decls[i].mod;

		values[i] = roll(f, decls[i].lo / mod, decls[i].hi / mod) * mod;
	}
}

static void check_value(const struct tn_dim *dim, const int64_t *values,
			int64_t want)
{
	int64_t have, lo, hi;

	if (!tn_dim_eval(dim, values, &have) || have != want) {
		char *text = text_of(dim);

		print_error("%s is not %lld at B=%lld S=%lld H=%lld K=%lld "
			    "N=%lld\n", text, (long long)want,
			    (long long)values[0], (long long)values[1],
			    (long long)values[2], (long long)values[3],
			    (long long)values[4]);
		fail();
	}
	tn_dim_bounds(dim, &lo, &hi);
	assert_true(lo <= want && want <= hi);
}

static void test_random_values(void **state)
{
	struct fixture *f = *state;
	int round, i, checked = 0, smaller = 0;

	for (round = 0; round < 20000; round++) {
		struct expr *e = grow(f, (int)roll(f, 1, 4));
		const struct tn_dim *dim = build(f, e);
		int64_t values[NSYMS], want;

		for (i = 0; dim && i < 12; i++) {
			sample(f, values);
			if (!plain(e, values, &want))
				continue;
			check_value(dim, values, want);
			checked++;
		}
		smaller += dim && tn_dim_is_const(dim);
		drop(e);
	}
	assert_true(checked > 100000);
	assert_true(smaller > 100);
}

static void test_random_text(void **state)
{
	struct fixture *f = *state;
	int round;

	for (round = 0; round < 5000; round++) {
		struct expr *e = grow(f, 4);
		const struct tn_dim *dim = build(f, e);

		drop(e);
		if (dim) {
			char *text = text_of(dim);

			if (dim_of(f, text) != dim) {
				char *again = text_of(dim_of(f, text));

				print_error("%s reads back as %s\n", text,
					    again);
				fail();
			}
			free(text);
		}
	}
}

/* a <= b, a divides b: what is proved holds at every sample. */
static void test_random_proofs(void **state)
{
	struct fixture *f = *state;
	int round, i, proved = 0, divides = 0;

	for (round = 0; round < 6000; round++) {
		struct expr *x = grow(f, 3), *y = grow(f, 2);
		const struct tn_dim *a = build(f, x), *b = build(f, y);
		bool le = a && b && tn_dim_proves_le(&f->pool, a, b);
		bool div = a && b && tn_dim_proves_divides(&f->pool, a, b);
		int64_t values[NSYMS], va, vb;

		for (i = 0; i < 20 && (le || div); i++) {
			sample(f, values);
			if (!plain(x, values, &va) || !plain(y, values, &vb))
				continue;
			if (le)
				assert_true(va <= vb);
			if (div)
				assert_true(vb != 0 && va % vb == 0);
		}
		proved += le;
		divides += div;
		drop(x);
		drop(y);
	}
	assert_true(proved > 500 && divides > 100);
}

/* ---- Polynomials ----------------------------------------------------- */

/* The sum of random products, added in the order of a permutation and with
 * factors in another. */
static const struct tn_dim *shuffled(struct fixture *f, int n,
				     const int64_t coef[], int atoms[][3])
{
	int order[8], i, j;
	const struct tn_dim *sum = num(f, 0);

	for (i = 0; i < n; i++) {
		j = (int)roll(f, 0, i);
		order[i] = order[j];
		order[j] = i;
	}
	for (i = 0; i < n; i++) {
		const struct tn_dim *product = num(f, coef[order[i]]);
		int first = (int)roll(f, 0, 2);

		for (j = 0; j < 3; j++) {
			const struct tn_dim *factor =
				f->syms[atoms[order[i]][(first + j) % 3]];

			product = roll(f, 0, 1) ?
				tn_dim_mul(&f->pool, product, factor) :
				tn_dim_mul(&f->pool, factor, product);
		}
		sum = roll(f, 0, 1) ? tn_dim_add(&f->pool, sum, product) :
				      tn_dim_add(&f->pool, product, sum);
	}
	return sum;
}

static void test_equal_polynomials(void **state)
{
	struct fixture *f = *state;
	int round, i, j;

	for (round = 0; round < 2000; round++) {
		int64_t coef[8];
		int atoms[8][3], n = (int)roll(f, 1, 8);

		for (i = 0; i < n; i++) {
			coef[i] = roll(f, -3, 3);
			for (j = 0; j < 3; j++)
				atoms[i][j] = (int)roll(f, 0, NSYMS - 1);
		}
		assert_ptr_equal(shuffled(f, n, coef, atoms),
				 shuffled(f, n, coef, atoms));
	}
	assert_ptr_equal(dim_of(f, "(B + S) * (B - S)"),
			 dim_of(f, "B*B - S*S"));
	assert_ptr_equal(dim_of(f, "S*3 - S"), dim_of(f, "2*S"));
	assert_ptr_equal(dim_of(f, "(B + 1) * 2 - 2*B - 2"), num(f, 0));
}

/* ---- The rules, one by one ------------------------------------------- */

struct rule {
	const char *from, *to;
};

static const struct rule rules[] = {
	{"(B * 2 + 4) // 2", "B + 2"},
	{"2*B + S // 8", "2*B + S // 8"},
	{"(4*H + B + 6) // 4", "H + (B + 2) // 4 + 1"},
	{"(H - 1) // 2 + 1", "(H + 1) // 2"},
	{"4*H // 6", "2*H // 3"},
	{"H // 2 // 3", "H // 6"},
	{"((H + 1) // 2 + 1) // 2", "(H + 3) // 4"},
	{"S // 4 * 4", "S"},
	{"(S // 4 + S // 4) * 2", "S"},
	{"H // 2 * 2", "2*(H // 2)"},
	{"S % 4", "0"},
	{"S % 2", "0"},
	{"(S + 5) % 4", "1"},
	{"(S + 5) // 4", "S // 4 + 1"},
	{"(12*H + B) % 4", "B % 4"},
	{"5*H % 3", "-H % 3"},
	{"H % 6 % 3", "H % 3"},
	{"H % 3 % 6", "H % 3"},
	{"B % 16", "B"},
	{"B // 16", "0"},
	{"B // -2", "-B // 2"},
	{"B*S // B", "S"},
	{"B*H*768 // (12*H)", "64*B"},
	{"B*H // (B*4)", "H // 4"},
	{"(B*H + S) % B", "S % B"},
	{"(B + 1)*(H + 2) // (B + 1)", "H + 2"},
	{"K // S", "K // S"},
	{"S // S", "S // S"},
	{"H // H", "1"},
	{"min(B, 9)", "B"},
	{"max(B, 9)", "9"},
	{"min(B, H)", "min(B, H)"},
	{"min(H, B)", "min(B, H)"},
	{"min(min(B, H), B)", "min(B, H)"},
	{"min(B, max(B, H))", "B"},
	{"max(min(K, H), min(H, K))", "min(H, K)"},
	{"min(B, B + H)", "B"},
	{"min(S // 2, S)", "S // 2"},
	{"max(min(B, H), 1)", "min(B, H)"},
	{"-(S // 8)", "-(S // 8)"},
	{"B - S // 8", "B - S // 8"},
	{"B - 2*(S // 8) - 3", "B - 2*(S // 8) - 3"},
	{"7 // H", "7 // H"},
	{"(B*S + 1) // (H + 1)", "(B*S + 1) // (H + 1)"},
	{"B*(S // 8) % (H // 2)", "B*(S // 8) % (H // 2)"},
	{"S - S", "0"},
	{"N*N - 4", "N*N - 4"},
	{"7 + S*B + H", "B*S + H + 7"},
};

static void test_rules(void **state)
{
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		assert_text(dim_of(f, rules[i].from), rules[i].to);
	assert_false(f->pool.overflowed);
}

static void test_proofs(void **state)
{
	struct fixture *f = *state;
	static const struct rule less[] = {
		{"S // 2", "S"}, {"B", "B*H"}, {"S % 8", "S"},
		{"min(B, H)", "H"}, {"B", "max(B, H)"}, {"H % B", "B - 1"},
		{"S", "2*((S + 1) // 2)"}, {"2*(H // 2)", "H"},
		{"H // B", "H"}, {"B + S", "B + S + 1"},
	};
	size_t i;

	for (i = 0; i < sizeof(less) / sizeof(less[0]); i++) {
		const struct tn_dim *a = dim_of(f, less[i].from);
		const struct tn_dim *b = dim_of(f, less[i].to);

		assert_true(tn_dim_proves_le(&f->pool, a, b));
		assert_false(tn_dim_proves_le(
			&f->pool, tn_dim_add(&f->pool, b, num(f, 1000)), a));
	}
	assert_false(tn_dim_proves_le(&f->pool, f->syms[0], f->syms[2]));
	assert_true(tn_dim_proves_divides(&f->pool, dim_of(f, "B*S"),
					  num(f, 4)));
	assert_false(tn_dim_proves_divides(&f->pool, f->syms[2], num(f, 2)));
	assert_false(tn_dim_proves_divides(&f->pool, f->syms[1], num(f, 0)));
}

/* ---- Overflow -------------------------------------------------------- */

static void test_overflow(void **state)
{
	struct fixture *f = *state;
	const struct tn_dim *big = num(f, INT64_MAX), *dim, *sum;
	int i;

	assert_null(tn_dim_mul(&f->pool, big, num(f, 2)));
	assert_true(f->pool.overflowed);
	f->pool.overflowed = false;
	dim = tn_dim_mul(&f->pool, f->syms[0], big);
	assert_non_null(dim);
	assert_null(tn_dim_add(&f->pool, dim, dim));
	assert_true(f->pool.overflowed);
	assert_null(tn_dim_mul(&f->pool, NULL, f->syms[0]));
	assert_null(tn_dim_floordiv(&f->pool, f->syms[0], num(f, 0)));
	assert_null(tn_dim_mod(&f->pool, f->syms[0], num(f, 0)));

	/* Growth without bound ends, too. */
	f->pool.overflowed = false;
	sum = tn_dim_add(&f->pool, dim_of(f, "B + S"), dim_of(f, "H + N"));
	for (i = 0, dim = sum; dim && i < 100; i++)
		dim = tn_dim_mul(&f->pool, dim, sum);
	assert_null(dim);
	assert_true(f->pool.overflowed);
	dim = f->syms[2];
	for (i = 0; dim && i < 100; i++)
		dim = tn_dim_mod(&f->pool, tn_dim_mul(&f->pool, dim, dim),
				 num(f, 1000003 + i));
	assert_null(dim);
}

static void test_unbounded(void **state)
{
	struct fixture *f = *state;
	struct tn_sym sym = {.name = "U", .lo = 1, .hi = INT64_MAX, .mod = 1};
	const struct tn_dim *u = tn_dim_new_sym(&f->pool, &sym);
	int64_t lo, hi;

	tn_dim_bounds(tn_dim_mul(&f->pool, u, u), &lo, &hi);
	assert_int_equal(lo, 1);
	assert_int_equal(hi, INT64_MAX);
	tn_dim_bounds(tn_dim_sub(&f->pool, num(f, 0), u), &lo, &hi);
	assert_int_equal(lo, INT64_MIN);
	assert_int_equal(hi, -1);
	tn_dim_bounds(tn_dim_floordiv(&f->pool, u, num(f, 4)), &lo, &hi);
	assert_int_equal(lo, 0);
	assert_int_equal(hi, INT64_MAX);
	assert_true(tn_dim_proves_le(&f->pool, num(f, 1), u));
	assert_false(tn_dim_proves_le(&f->pool, u, num(f, 1 << 30)));
}

/* ---- Substitution and solving ---------------------------------------- */

static void test_subst(void **state)
{
	struct fixture *f = *state;
	const struct tn_dim *map[NSYMS] = {0};

	map[0] = num(f, 2);
	map[2] = dim_of(f, "N + 7");
	assert_text(tn_dim_subst(&f->pool, dim_of(f, "B*H + K // 7"), map),
		    "2*N + K // 7 + 14");
	assert_text(tn_dim_subst(&f->pool, dim_of(f, "min(H, 8) % 3"), map),
		    "min(N + 7, 8) % 3");
}

/* pattern == value binds `sym` to `want`; want NULL: no solution. */
static void check_unify(struct fixture *f, const char *pattern,
			const char *value, int sym, const char *want)
{
	const struct tn_dim *map[NSYMS] = {0};
	bool found = tn_dim_unify(&f->pool, dim_of(f, pattern),
				  dim_of(f, value), map);

	assert_int_equal(found, want != NULL);
	if (want)
		assert_ptr_equal(map[sym], dim_of(f, want));
}

static void test_unify(void **state)
{
	struct fixture *f = *state;
	const struct tn_dim *map[NSYMS] = {0};

	check_unify(f, "B", "B", 0, "B");
	check_unify(f, "S", "H", 1, "H");
	check_unify(f, "2*S", "2*H + 4", 1, "H + 2");
	check_unify(f, "2*S", "H", 1, NULL);
	check_unify(f, "S + 1", "S + 1", 1, "S");
	check_unify(f, "S - 3", "5", 1, "8");
	check_unify(f, "S + 4", "2", 1, NULL);
	check_unify(f, "S // 4", "8", 1, NULL);
	check_unify(f, "S*S", "9", 1, NULL);
	check_unify(f, "S*B", "9", 1, NULL);
	check_unify(f, "4*B", "S", 0, "S // 4");

	assert_true(tn_dim_unify(&f->pool, num(f, 7), num(f, 7), map));
	assert_false(tn_dim_unify(&f->pool, num(f, 7), num(f, 8), map));
	map[0] = f->syms[2];
	assert_true(tn_dim_unify(&f->pool, dim_of(f, "B*S"),
				 dim_of(f, "12*H*K"), map));
	assert_ptr_equal(map[1], dim_of(f, "12*K"));
	assert_false(tn_dim_unify(&f->pool, dim_of(f, "B + S"),
				  dim_of(f, "H"), map));
}

static void count_sym(void *data, const struct tn_dim *sym)
{
	char **at = data;

	*(*at)++ = sym->sym->name[0];
	**at = '\0';
}

static void test_each_sym(void **state)
{
	struct fixture *f = *state;
	char seen[16], *at = seen;

	tn_dim_each_sym(dim_of(f, "B*S + (H + B) // 3 + min(K, S) + B"),
			count_sym, &at);
	assert_int_equal(strlen(seen), 4);
	assert_non_null(strchr(seen, 'B'));
	assert_non_null(strchr(seen, 'K'));
	at = seen;
	*at = '\0';
	tn_dim_each_sym(num(f, 3), count_sym, &at);
	assert_string_equal(seen, "");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_random_values),
		TEST(test_random_text),
		TEST(test_random_proofs),
		TEST(test_equal_polynomials),
		TEST(test_rules),
		TEST(test_proofs),
		TEST(test_overflow),
		TEST(test_unbounded),
		TEST(test_subst),
		TEST(test_unify),
		TEST(test_each_sym),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
