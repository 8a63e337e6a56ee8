/*
 * Accuracy of the functions of one operand, against MPFR.
 *
 * Each float row of the operator table that MPFR knows is evaluated on values
 * across the whole range of the type and near its special points; the result
 * must be within 1 ulp of the exact value, 2 where the row says ULP2.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <mpfr.h>

#include "ir/eval.h"

struct function {
	enum tn_opcode code;
	int (*exact)(mpfr_t out, const mpfr_t in, mpfr_rnd_t round);
};

static const struct function functions[] = {
	{ TN_OP_sqrt, mpfr_sqrt }, { TN_OP_exp, mpfr_exp },
	{ TN_OP_log, mpfr_log }, { TN_OP_expm1, mpfr_expm1 },
	{ TN_OP_log1p, mpfr_log1p }, { TN_OP_sin, mpfr_sin },
	{ TN_OP_cos, mpfr_cos }, { TN_OP_tan, mpfr_tan },
	{ TN_OP_asin, mpfr_asin }, { TN_OP_acos, mpfr_acos },
	{ TN_OP_atan, mpfr_atan }, { TN_OP_sinh, mpfr_sinh },
	{ TN_OP_cosh, mpfr_cosh }, { TN_OP_tanh, mpfr_tanh },
	{ TN_OP_asinh, mpfr_asinh }, { TN_OP_acosh, mpfr_acosh },
	{ TN_OP_atanh, mpfr_atanh }, { TN_OP_erf, mpfr_erf }
};

static uint64_t mix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

/* Half of the values are of any exponent, half lie within 32 of 0. */
static float sample_f32(uint64_t *state)
{
	uint32_t bits = (uint32_t)mix(state);
	float any;

	if (bits & 1)
		return (float)((double)(int32_t)(bits & ~1u) / 67108864.0);
	bits = (uint32_t)mix(state);
	memcpy(&any, &bits, sizeof(any));
	return any;
}

/* Distance in ulps of f32 at the exact value; exact NaN and infinities must
 * be met. */
static double distance(float got, const mpfr_t exact)
{
	double nearest = mpfr_get_d(exact, MPFR_RNDN);
	float rounded = (float)nearest, ulp;

	if (isnan(nearest) || isnan(got))
		return isnan(nearest) && isnan(got) ? 0 : INFINITY;
	if (isinf(rounded) || isinf(got))
		return rounded == got || fabs(nearest) > 3.4028234e38 ? 0 :
			INFINITY;
	ulp = nextafterf(fabsf(rounded), INFINITY) - fabsf(rounded);
	return fabs((double)got - nearest) / (double)ulp;
}

static void check_function(const struct function *function)
{
	double bound = tn_ops[function->code].flags & TN_FLAG_ULP2 ? 2 : 1;
	double worst = 0, gap;
	uint64_t state = 1;
	uint32_t flags = 0;
	float x, y, where = 0;
	mpfr_t in, out;
	const void *operands[1] = { &x };
	int i;

	mpfr_inits2(160, in, out, (mpfr_ptr)0);
	for (i = 0; i < 20000; i++) {
		x = sample_f32(&state);
		tn_eval_scalar(function->code, TN_f32, operands, &y, &flags);
		mpfr_set_flt(in, x, MPFR_RNDN);
		function->exact(out, in, MPFR_RNDN);
		gap = distance(y, out);
		if (gap > worst) {
			worst = gap;
			where = x;
		}
	}
	mpfr_clears(in, out, (mpfr_ptr)0);
	print_message("%-6s %.3f ulp at %a\n", tn_ops[function->code].name,
		      worst, (double)where);
	assert_true(worst <= bound);
}

static void test_functions(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		check_function(&functions[i]);
	mpfr_free_cache();
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_functions) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
