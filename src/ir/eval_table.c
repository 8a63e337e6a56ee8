/*
 * The tables of element loops: eval_map.inc, once for each element type.
 *
 * f16 and bf16 compute in float and round when stored. Integers go through
 * their unsigned twins, so that nothing overflows; what C makes of types
 * narrower than int is cut back at once.
 */
#include "ir/eval_impl.h"

#include "base/half.h"

#include <math.h>
#include <string.h>

/* a ** b, wrapped; a negative exponent gives 0 unless the base is 1 or -1. */
static uint64_t power(uint64_t a, uint64_t b, bool is_negative)
{
	uint64_t result = 1;

	if (is_negative) {
		if (a == UINT64_MAX)
			return b & 1 ? a : 1;
		return a == 1;
	}
	for (; b; b >>= 1) {
		if (b & 1)
			result *= a;
		a *= a;
	}
	return result;
}

#define P f64
#define T double
#define U double
#define S double
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) f
#define W 64
#define MINV 0
#define MAXV 0
#define NEG(x) ((x) < 0)
#define IPOW(a, b) ((T)0)
#define ISNAN(x) ((x) != (x))
#define ADD(x, y) ((x) + (y))
#define MUL(x, y) ((x) * (y))
#define DIVIDE(x, n) ((x) / (T)(n))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P f32
#define T float
#define U float
#define S float
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name##f
#define EXPR(f, i, b) f
#define W 32
#define MINV 0
#define MAXV 0
#define NEG(x) ((x) < 0)
#define IPOW(a, b) ((T)0)
#define ISNAN(x) ((x) != (x))
#define ADD(x, y) ((x) + (y))
#define MUL(x, y) ((x) * (y))
#define DIVIDE(x, n) ((x) / (T)(n))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P f16
#define T float
#define U float
#define S uint16_t
#define TO_T(s) tn_half_f16_to_f32(s)
#define FROM_T(t) tn_half_f16_from_f32(t)
#define F(name) name##f
#define EXPR(f, i, b) f
#define W 16
#define MINV 0
#define MAXV 0
#define NEG(x) ((x) < 0)
#define IPOW(a, b) ((T)0)
#define ISNAN(x) ((x) != (x))
#define ADD(x, y) ((x) + (y))
#define MUL(x, y) ((x) * (y))
#define DIVIDE(x, n) ((x) / (T)(n))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P bf16
#define T float
#define U float
#define S uint16_t
#define TO_T(s) tn_half_bf16_to_f32(s)
#define FROM_T(t) tn_half_bf16_from_f32(t)
#define F(name) name##f
#define EXPR(f, i, b) f
#define W 16
#define MINV 0
#define MAXV 0
#define NEG(x) ((x) < 0)
#define IPOW(a, b) ((T)0)
#define ISNAN(x) ((x) != (x))
#define ADD(x, y) ((x) + (y))
#define MUL(x, y) ((x) * (y))
#define DIVIDE(x, n) ((x) / (T)(n))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P i64
#define T int64_t
#define U uint64_t
#define S int64_t
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) i
#define W 64
#define MINV INT64_MIN
#define MAXV INT64_MAX
#define NEG(x) ((x) < 0)
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P i32
#define T int32_t
#define U uint32_t
#define S int32_t
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) i
#define W 32
#define MINV INT32_MIN
#define MAXV INT32_MAX
#define NEG(x) ((x) < 0)
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P i16
#define T int16_t
#define U uint16_t
#define S int16_t
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) i
#define W 16
#define MINV INT16_MIN
#define MAXV INT16_MAX
#define NEG(x) ((x) < 0)
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P i8
#define T int8_t
#define U uint8_t
#define S int8_t
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) i
#define W 8
#define MINV INT8_MIN
#define MAXV INT8_MAX
#define NEG(x) ((x) < 0)
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P u64
#define T uint64_t
#define U uint64_t
#define S uint64_t
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) i
#define W 64
#define MINV 0
#define MAXV UINT64_MAX
#define NEG(x) 0
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P u32
#define T uint32_t
#define U uint32_t
#define S uint32_t
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) i
#define W 32
#define MINV 0
#define MAXV UINT32_MAX
#define NEG(x) 0
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P u16
#define T uint16_t
#define U uint16_t
#define S uint16_t
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) i
#define W 16
#define MINV 0
#define MAXV UINT16_MAX
#define NEG(x) 0
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P u8
#define T uint8_t
#define U uint8_t
#define S uint8_t
#define TO_T(s) (s)
#define FROM_T(t) (t)
#define F(name) name
#define EXPR(f, i, b) i
#define W 8
#define MINV 0
#define MAXV UINT8_MAX
#define NEG(x) 0
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

#define P b
#define T uint8_t
#define U uint8_t
#define S uint8_t
#define TO_T(s) ((uint8_t)((s) != 0))
#define FROM_T(t) ((uint8_t)((t) != 0))
#define F(name) name
#define EXPR(f, i, b) b
#define W 8
#define MINV 0
#define MAXV 1
#define NEG(x) 0
#define IPOW(a, b) \
	((T)(U)power((uint64_t)(a), (uint64_t)(b), NEG(b)))
#define ISNAN(x) 0
#define ADD(x, y) ((T)((U)(x) + (U)(y)))
#define MUL(x, y) ((T)(1u * (U)(x) * (U)(y)))
#define DIVIDE(x, n) ((void)(n), (x))
#include "ir/eval_map.inc"
#undef P
#undef T
#undef U
#undef S
#undef TO_T
#undef FROM_T
#undef F
#undef EXPR
#undef W
#undef MINV
#undef MAXV
#undef NEG
#undef IPOW
#undef ISNAN
#undef ADD
#undef MUL
#undef DIVIDE

static tn_eval_map_fn *const *const maps[TN_DTYPE_COUNT] = {
	[TN_f64] = f64_maps,
	[TN_f32] = f32_maps,
	[TN_f16] = f16_maps,
	[TN_bf16] = bf16_maps,
	[TN_i64] = i64_maps,
	[TN_i32] = i32_maps,
	[TN_i16] = i16_maps,
	[TN_i8] = i8_maps,
	[TN_u64] = u64_maps,
	[TN_u32] = u32_maps,
	[TN_u16] = u16_maps,
	[TN_u8] = u8_maps,
	[TN_bool] = b_maps,
};

static tn_eval_fold_fn *const *const folds[TN_DTYPE_COUNT] = {
	[TN_f64] = f64_folds,
	[TN_f32] = f32_folds,
	[TN_f16] = f16_folds,
	[TN_bf16] = bf16_folds,
	[TN_i64] = i64_folds,
	[TN_i32] = i32_folds,
	[TN_i16] = i16_folds,
	[TN_i8] = i8_folds,
	[TN_u64] = u64_folds,
	[TN_u32] = u32_folds,
	[TN_u16] = u16_folds,
	[TN_u8] = u8_folds,
	[TN_bool] = b_folds,
};

static tn_eval_scan_fn *const *const scans[TN_DTYPE_COUNT] = {
	[TN_f64] = f64_scans,
	[TN_f32] = f32_scans,
	[TN_f16] = f16_scans,
	[TN_bf16] = bf16_scans,
	[TN_i64] = i64_scans,
	[TN_i32] = i32_scans,
	[TN_i16] = i16_scans,
	[TN_i8] = i8_scans,
	[TN_u64] = u64_scans,
	[TN_u32] = u32_scans,
	[TN_u16] = u16_scans,
	[TN_u8] = u8_scans,
	[TN_bool] = b_scans,
};

static const struct tn_eval_kind *const kinds[TN_DTYPE_COUNT] = {
	[TN_f64] = &f64_kind,
	[TN_f32] = &f32_kind,
	[TN_f16] = &f16_kind,
	[TN_bf16] = &bf16_kind,
	[TN_i64] = &i64_kind,
	[TN_i32] = &i32_kind,
	[TN_i16] = &i16_kind,
	[TN_i8] = &i8_kind,
	[TN_u64] = &u64_kind,
	[TN_u32] = &u32_kind,
	[TN_u16] = &u16_kind,
	[TN_u8] = &u8_kind,
	[TN_bool] = &b_kind,
};

/* Of what is only stored there is `select`, which takes bytes. */
tn_eval_map_fn *tn_eval_map_of(enum tn_opcode code, enum tn_dtype dtype)
{
	if (tn_dtype_is(dtype, TN_KIND_X))
		dtype = TN_u8;
	return dtype < TN_DTYPE_COUNT && maps[dtype] ? maps[dtype][code] : NULL;
}

tn_eval_fold_fn *tn_eval_fold_of(enum tn_opcode code, enum tn_dtype dtype)
{
	return dtype < TN_DTYPE_COUNT && folds[dtype] ? folds[dtype][code] :
	       NULL;
}

tn_eval_scan_fn *tn_eval_scan_of(enum tn_opcode code, enum tn_dtype dtype)
{
	return dtype < TN_DTYPE_COUNT && scans[dtype] ? scans[dtype][code] :
	       NULL;
}

const struct tn_eval_kind *tn_eval_kind_of(enum tn_dtype dtype)
{
	return dtype < TN_DTYPE_COUNT ? kinds[dtype] : NULL;
}
