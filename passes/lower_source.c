/*
 * Sources: elements that are computed from their index alone.
 *
 * In: iota or random at an index. Out: an expression. random is SplitMix64
 * (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)
 * of the seed and the row-major position, as the reference has it.
 */
#include "passes/lower.h"

#include <math.h>

static const struct tn_kexpr *u64(struct tn_lower *lw, uint64_t value)
{
	return tn_kexpr_int(lw->kernel, TN_u64, (int64_t)value);
}

static const struct tn_kexpr *row_major(struct tn_lower *lw,
					const struct tn_type *type,
					const struct tn_kexpr *const *index)
{
	const struct tn_kexpr *at = tn_lower_int(lw, 0);
	int i;

	for (i = 0; i < type->rank; i++) {
		at = tn_kexpr_mul(lw->kernel, at,
				  tn_lower_dim(lw, type->dims[i]));
		at = tn_kexpr_add(lw->kernel, at, index[i]);
	}
	return at;
}

/* z = (z ^ (z >> shift)) * factor */
static const struct tn_kexpr *mix(struct tn_lower *lw,
				  const struct tn_kexpr *z, uint64_t shift,
				  uint64_t factor)
{
	z = tn_lower_let(lw, "z", z);
	z = tn_lower_binary(lw, TN_OP_xor, z,
			    tn_lower_binary(lw, TN_OP_shr, z,
					    u64(lw, shift)));
	if (factor != 1)
		z = tn_lower_binary(lw, TN_OP_mul, z, u64(lw, factor));
	return z;
}

static const struct tn_kexpr *splitmix(struct tn_lower *lw, uint64_t seed,
				       const struct tn_kexpr *at)
{
	const struct tn_kexpr *z;

	z = tn_lower_cast(lw, TN_u64, tn_kexpr_add(lw->kernel, at,
						   tn_lower_int(lw, 1)));
	z = tn_lower_binary(lw, TN_OP_mul, z,
			    u64(lw, UINT64_C(0x9e3779b97f4a7c15)));
	z = tn_lower_binary(lw, TN_OP_add, z, u64(lw, seed));
	z = mix(lw, z, 30, UINT64_C(0xbf58476d1ce4e5b9));
	z = mix(lw, z, 27, UINT64_C(0x94d049bb133111eb));
	return mix(lw, z, 31, 1);
}

/* Leading bits that the type holds exactly. */
static int random_bits(enum tn_dtype dtype)
{
	if (dtype == TN_f32)
		return 24;
	if (dtype == TN_f16)
		return 11;
	return dtype == TN_bf16 ? 8 : 53;
}

/* lo + u * (hi - lo) in double, u in [0, 1); of integers the floor. */
static const struct tn_kexpr *random_at(struct tn_lower *lw,
					const struct tn_op *op,
					const struct tn_kexpr *const *index)
{
	double lo = tn_graph_attr(op, "lo")->u.f;
	double hi = tn_graph_attr(op, "hi")->u.f;
	const struct tn_type *type = op->out[0]->type;
	int bits = random_bits(type->dtype);
	const struct tn_kexpr *u;

	u = splitmix(lw, (uint64_t)tn_lower_attr_int(op, "seed"),
		     row_major(lw, type, index));
	u = tn_lower_binary(lw, TN_OP_shr, u, u64(lw, (uint64_t)(64 - bits)));
	u = tn_lower_cast(lw, TN_f64, u);
	u = tn_lower_binary(lw, TN_OP_mul, u,
			    tn_kexpr_float(lw->kernel, TN_f64,
					   ldexp(1, -bits)));
	u = tn_lower_binary(lw, TN_OP_mul, u,
			    tn_kexpr_float(lw->kernel, TN_f64, hi - lo));
	u = tn_lower_binary(lw, TN_OP_add, u,
			    tn_kexpr_float(lw->kernel, TN_f64, lo));
	if (!tn_dtype_is(type->dtype, TN_KIND_F))
		u = tn_lower_unary(lw, TN_OP_floor, u);
	return tn_lower_cast(lw, type->dtype, u);
}

const struct tn_kexpr *tn_lower_source(struct tn_lower *lw,
				       const struct tn_op *op,
				       const struct tn_kexpr *const *index)
{
	enum tn_srule rule = tn_ops[op->code].srule;
	int64_t axis = tn_lower_attr_int(op, "axis");

	if (rule == TN_SRULE_IOTA)
		return tn_lower_cast(lw, op->out[0]->type->dtype, index[axis]);
	if (rule == TN_SRULE_IOTA_SHAPE)
		return random_at(lw, op, index);
	tn_lower_unfit(lw);
	return NULL;
}
