/*
 * Functions that the C library has for one element at a time, for vectors.
 *
 * In: an operator on f32. Out: the body of its helper, for one element and for
 * a vector; both do the same steps and give the same bits, so that an element
 * has one value wherever in a row it stands. With FMA or without, as the
 * compiler is told, the greatest error over all f32 (tests/ops/functions.py):
 *
 *   exp   below 1 ulp, 0.956 (with FMA 0.979): x = n ln 2 + r, |r| < 0.347, and
 *         e^r by a polynomial of degree 7; 2^n in two factors, so that results
 *         below the normal numbers are rounded once
 *   tanh  below 2 ulp, 1.33: by exp(2 |x|), near 0 by a polynomial in x^2
 *   erf   below 2 ulp, 1.19 (with FMA 1.04): by 1 - exp of a polynomial in |x|,
 *         below 0.928 by a polynomial in x^2 (N. Juffa's, both)
 *
 * Words of the text: VEC, MASK, SELECT as in ops.def; SPLAT(a), a vector of a;
 * MAC(c, a, b), c + a * b.
 */
#include "backends/emit.h"

static const char exp_scalar[] =
"	const float m = 12582912.0f;\n"
"	const float x = a > 89.0f ? 89.0f : a < -104.0f ? -104.0f : a;\n"
"	const float z = tn_mac_f32(m, x, 1.44269502f), n = z - m;\n"
"	const float s = tn_mac_f32(x, n, -0.693359375f);\n"
"	const float r = tn_mac_f32(s, n, 2.12194440e-4f);\n"
"	float p = 1.9744878227e-4f, low, high;\n"
"	int32_t k;\n"
"	uint32_t bits;\n"
"\n"
"	if (a != a)\n"
"		return a;\n"
"	p = tn_mac_f32(1.3935469324e-3f, p, r);\n"
"	p = tn_mac_f32(8.3335656673e-3f, p, r);\n"
"	p = tn_mac_f32(4.1666459292e-2f, p, r);\n"
"	p = tn_mac_f32(1.6666665673e-1f, p, r);\n"
"	p = tn_mac_f32(0.5f, p, r);\n"
"	p = tn_mac_f32(r, p, r * r) + 1.0f;\n"
"	k = (int32_t)n;\n"
"	bits = (uint32_t)(k / 2 + 127) << 23;\n"
"	memcpy(&low, &bits, sizeof low);\n"
"	bits = (uint32_t)(k - k / 2 + 127) << 23;\n"
"	memcpy(&high, &bits, sizeof high);\n"
"	return p * low * high;\n";

static const char exp_vector[] =
"	const VEC m = SPLAT(12582912.0f), t = SPLAT(89.0f);\n"
"	const VEC u = SPLAT(-104.0f), v = SELECT((MASK)(a > t), t, a);\n"
"	const VEC x = SELECT((MASK)(v < u), u, v);\n"
"	const VEC z = MAC(m, x, SPLAT(1.44269502f)), n = z - m;\n"
"	const VEC s = MAC(x, n, SPLAT(-0.693359375f));\n"
"	const VEC r = MAC(s, n, SPLAT(2.12194440e-4f));\n"
"	const MASK k = (MASK)z - 0x4b400000, h = k >> 1;\n"
"	VEC p = SPLAT(1.9744878227e-4f);\n"
"\n"
"	p = MAC(SPLAT(1.3935469324e-3f), p, r);\n"
"	p = MAC(SPLAT(8.3335656673e-3f), p, r);\n"
"	p = MAC(SPLAT(4.1666459292e-2f), p, r);\n"
"	p = MAC(SPLAT(1.6666665673e-1f), p, r);\n"
"	p = MAC(SPLAT(0.5f), p, r);\n"
"	p = MAC(r, p, r * r) + SPLAT(1.0f);\n"
"	p = p * (VEC)((h + 127) << 23);\n"
"	return p * (VEC)((k - h + 127) << 23);\n";

static const char tanh_scalar[] =
"	const float x = a < 0.0f ? -a : a, q = x > 10.0f ? 10.0f : x;\n"
"	const float s = q * q, e = tn_exp_f32(q + q);\n"
"	float p = -5.70498872745e-3f;\n"
"\n"
"	p = tn_mac_f32(2.06390887954e-2f, p, s);\n"
"	p = tn_mac_f32(-5.37397155531e-2f, p, s);\n"
"	p = tn_mac_f32(1.33314422036e-1f, p, s);\n"
"	p = tn_mac_f32(-3.33332819422e-1f, p, s);\n"
"	p = x < 0.625f ? tn_mac_f32(q, p * s, q) : 1.0f - 2.0f / (e + 1.0f);\n"
"	return a < 0.0f ? -p : a == 0.0f ? a : p;\n";

static const char tanh_vector[] =
"	const VEC o = SPLAT(0.0f), t = SPLAT(10.0f);\n"
"	const VEC x = SELECT((MASK)(a < o), -a, a);\n"
"	const VEC q = SELECT((MASK)(x > t), t, x), s = q * q;\n"
"	const VEC e = CALL_exp(q + q), d = e + SPLAT(1.0f);\n"
"	VEC p = SPLAT(-5.70498872745e-3f);\n"
"\n"
"	p = MAC(SPLAT(2.06390887954e-2f), p, s);\n"
"	p = MAC(SPLAT(-5.37397155531e-2f), p, s);\n"
"	p = MAC(SPLAT(1.33314422036e-1f), p, s);\n"
"	p = MAC(SPLAT(-3.33332819422e-1f), p, s);\n"
"	p = SELECT((MASK)(x < SPLAT(0.625f)), MAC(q, p * s, q),\n"
"		   SPLAT(1.0f) - SPLAT(2.0f) / d);\n"
"	p = SELECT((MASK)(a < o), -p, p);\n"
"	return SELECT((MASK)(a == o), a, p);\n";

static const char erf_scalar[] =
"	const float x = a < 0.0f ? -a : a, q = x > 4.0f ? 4.0f : x, s = q * q;\n"
"	float r = tn_mac_f32(3.83197126e-4f, -1.72853470e-5f, q);\n"
"	float p = tn_mac_f32(4.99119423e-3f, -5.96761703e-4f, s);\n"
"\n"
"	r = tn_mac_f32(tn_mac_f32(2.42546219e-2f, -3.88396438e-3f, q), r, s);\n"
"	r = tn_mac_f32(-1.06777877e-1f, r, q);\n"
"	r = tn_mac_f32(-6.34846687e-1f, r, q);\n"
"	r = tn_mac_f32(-1.28717512e-1f, r, q);\n"
"	r = 1.0f - tn_exp_f32(tn_mac_f32(-q, r, q));\n"
"	p = tn_mac_f32(-2.67681349e-2f, p, s);\n"
"	p = tn_mac_f32(1.12819925e-1f, p, s);\n"
"	p = tn_mac_f32(-3.76125336e-1f, p, s);\n"
"	p = tn_mac_f32(1.28379166e-1f, p, s);\n"
"	p = x > 0.927734375f ? r : tn_mac_f32(q, p, q);\n"
"	return a < 0.0f ? -p : a == 0.0f ? a : p;\n";

static const char erf_vector[] =
"	const VEC o = SPLAT(0.0f), t = SPLAT(4.0f);\n"
"	const VEC x = SELECT((MASK)(a < o), -a, a);\n"
"	const VEC q = SELECT((MASK)(x > t), t, x), s = q * q;\n"
"	VEC r = MAC(SPLAT(3.83197126e-4f), SPLAT(-1.72853470e-5f), q);\n"
"	VEC p = MAC(SPLAT(4.99119423e-3f), SPLAT(-5.96761703e-4f), s);\n"
"\n"
"	r = MAC(MAC(SPLAT(2.42546219e-2f), SPLAT(-3.88396438e-3f), q), r, s);\n"
"	r = MAC(SPLAT(-1.06777877e-1f), r, q);\n"
"	r = MAC(SPLAT(-6.34846687e-1f), r, q);\n"
"	r = MAC(SPLAT(-1.28717512e-1f), r, q);\n"
"	r = SPLAT(1.0f) - CALL_exp(MAC(-q, r, q));\n"
"	p = MAC(SPLAT(-2.67681349e-2f), p, s);\n"
"	p = MAC(SPLAT(1.12819925e-1f), p, s);\n"
"	p = MAC(SPLAT(-3.76125336e-1f), p, s);\n"
"	p = MAC(SPLAT(1.28379166e-1f), p, s);\n"
"	p = SELECT((MASK)(x > SPLAT(0.927734375f)), r, MAC(q, p, q));\n"
"	p = SELECT((MASK)(a < o), -p, p);\n"
"	return SELECT((MASK)(a == o), a, p);\n";

static const struct {
	enum tn_opcode code;
	enum tn_opcode calls;		/* TN_OP_none: no other */
	const char *scalar, *vector;
} functions[] = {
	{ TN_OP_exp, TN_OP_none, exp_scalar, exp_vector },
	{ TN_OP_tanh, TN_OP_exp, tanh_scalar, tanh_vector },
	{ TN_OP_erf, TN_OP_exp, erf_scalar, erf_vector }
};

#define COUNT (sizeof functions / sizeof *functions)

static bool has_function(const struct tn_dialect *dialect,
			 enum tn_opcode code, enum tn_dtype dtype, size_t *at)
{
	for (*at = 0; *at < COUNT; ++*at)
		if (functions[*at].code == code)
			return dtype == TN_f32 && dialect->vector_bytes;
	return false;
}

const char *tn_emit_function(const struct tn_dialect *dialect,
			     enum tn_opcode code, enum tn_dtype dtype,
			     bool is_vector)
{
	size_t i;

	if (!has_function(dialect, code, dtype, &i))
		return NULL;
	return is_vector ? functions[i].vector : functions[i].scalar;
}

/* What the helpers of the function call: that for an element, those for
 * vectors. */
static void close_function(struct tn_prelude *need, size_t i)
{
	need->of[TN_f32] |= TN_PART_MAC;
	if (functions[i].calls != TN_OP_none)
		need->ops[functions[i].calls][TN_f32] = true;
}

static void close_vectors(struct tn_prelude *need, size_t i, int width)
{
	need->vector_ops[width][TN_OP_select][TN_f32] = true;
	need->vectors[width][TN_f32] |= TN_PART_MAC | TN_PART_SPLAT;
	need->ops[functions[i].code][TN_f32] = true;
	if (functions[i].calls != TN_OP_none)
		need->vector_ops[width][functions[i].calls][TN_f32] = true;
}

void tn_prelude_close_functions(struct tn_prelude *need,
				const struct tn_dialect *dialect)
{
	size_t i = dialect->vector_bytes ? COUNT : 0;
	int width;

	while (i-- > 0) {
		for (width = 0; width < TN_WIDTHS; width++)
			if (need->vector_ops[width][functions[i].code][TN_f32])
				close_vectors(need, i, width);
		if (need->ops[functions[i].code][TN_f32])
			close_function(need, i);
	}
}
