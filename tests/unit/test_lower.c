/*
 * The lowering: kernels against the reference for every class of operator,
 * element types, odd and empty sizes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lowering.h"
#include "ir/graph_edit.h"

static const enum tn_dtype all_types[] = {
	TN_f64, TN_f32, TN_f16, TN_bf16, TN_i64, TN_i32, TN_i16, TN_i8,
	TN_u64, TN_u32, TN_u16, TN_u8, TN_bool
};

#define NTYPES (sizeof(all_types) / sizeof(*all_types))

static void check_one(struct bench *t, struct tn_value *y)
{
	bench_return(t, 1, &y);
	bench_check(t);
}

/* ---- Maps ------------------------------------------------------------ */

static bool has_kind(enum tn_opcode code, enum tn_dtype dtype)
{
	return tn_dtype_is(dtype, (enum tn_kind)tn_ops[code].kinds);
}

static void check_map(enum tn_opcode code, enum tn_dtype dtype)
{
	static const int64_t full[] = { 3, 1, 5 }, small[] = { 5 };
	static const int64_t middle[] = { 2, 5 };
	struct tn_value *in[3];
	struct bench t;
	int n = tn_ops[code].nin_min, k = 0;

	bench_open(&t);
	if (code == TN_OP_select) {
		in[k++] = bench_in(&t, "c", TN_bool, 2, middle, 0, 1);
		in[k++] = bench_in(&t, "x", dtype, 3, full, 0, 1);
		in[k++] = bench_in(&t, "y", dtype, 1, small, 0, 1);
	} else {
		in[0] = bench_in(&t, "x", dtype, 3, full, 0, 1);
		in[1] = bench_in(&t, "y", dtype, 1, small, 0, 1);
		in[2] = bench_in(&t, "z", dtype, 2, middle, 0, 1);
		bench_special(&t, in[0]);
		bench_special(&t, in[1]);
	}
	check_one(&t, bench_op(&t, code, n, in, 0, NULL));
}

static void test_maps(void **state)
{
	int code;
	size_t k;

	(void)state;
	for (code = 0; code < TN_OP_COUNT; code++)
		for (k = 0; k < NTYPES; k++)
			if (tn_ops[code].op_class == TN_CLASS_MAP &&
			    code != TN_OP_cast && code != TN_OP_bitcast &&
			    has_kind((enum tn_opcode)code, all_types[k]))
				check_map((enum tn_opcode)code, all_types[k]);
}

static void test_casts(void **state)
{
	static const int64_t sizes[] = { 40 };
	size_t a, b;

	(void)state;
	for (a = 0; a < NTYPES; a++)
		for (b = 0; b < NTYPES; b++) {
			struct tn_attr attr;
			struct tn_value *x;
			struct bench t;

			bench_open(&t);
			x = bench_in(&t, "x", all_types[a], 1, sizes, 0, 90);
			bench_special(&t, x);
			attr = tn_attr_dtype("elem", all_types[b]);
			check_one(&t, bench_op1(&t, TN_OP_cast, x, 1, &attr));
		}
}

/* ---- Reductions --------------------------------------------------------- */

static void check_reduce(enum tn_opcode code, enum tn_dtype dtype,
			 const int64_t *sizes, bool keep)
{
	static const int64_t axes[][2] = { { 1 }, { 0, 2 }, { 2 } };
	struct tn_attr attrs[2];
	struct tn_value *x;
	struct bench t;
	int k;

	for (k = -1; k < 3; k++) {
		bench_open(&t);
		x = bench_in(&t, "x", dtype, 3, sizes, 0, 1);
		if (k == 2)
			bench_special(&t, x);
		attrs[0] = tn_attr_bool("keep", keep);
		if (k >= 0)
			attrs[1] = tn_attr_ints("axes", 1 + (k == 1), axes[k]);
		check_one(&t, bench_op1(&t, code, x, k < 0 ? 1 : 2, attrs));
	}
}

static void test_reductions(void **state)
{
	static const int64_t sizes[] = { 3, 4, 5 }, empty[] = { 2, 0, 3 };
	int code;
	size_t k;

	(void)state;
	for (code = TN_OP_sum; code <= TN_OP_any; code++)
		for (k = 0; k < NTYPES; k++) {
			if (!has_kind((enum tn_opcode)code, all_types[k]))
				continue;
			check_reduce((enum tn_opcode)code, all_types[k], sizes,
				     false);
			check_reduce((enum tn_opcode)code, all_types[k], empty,
				     true);
		}
}

static void check_places(enum tn_opcode code, enum tn_dtype dtype, int axis,
			 bool last, bool special)
{
	static const int64_t sizes[] = { 3, 7, 2 };
	struct tn_attr attrs[4];
	struct tn_value *x;
	struct bench t;

	bench_open(&t);
	x = bench_in(&t, "x", dtype, 3, sizes, 0, 2);
	if (special)
		bench_special(&t, x);
	attrs[0] = tn_attr_int("axis", axis);
	attrs[1] = tn_attr_bool("last", last);
	attrs[2] = tn_attr_bool("keep", last);
	attrs[3] = tn_attr_dtype("elem", special ? TN_i32 : TN_i64);
	check_one(&t, bench_op1(&t, code, x, 4, attrs));
}

static void test_places(void **state)
{
	size_t k;
	int i;

	(void)state;
	for (k = 0; k < NTYPES - 1; k++)
		for (i = 0; i < 12; i++)
			check_places(i % 2 ? TN_OP_argmax : TN_OP_argmin,
				     all_types[k], i % 3, i / 2 % 2, i / 6);
}

static void test_running(void **state)
{
	static const int64_t sizes[] = { 3, 4, 2 };
	struct tn_attr attrs[3];
	struct bench t;
	size_t k;
	int code, i;

	(void)state;
	for (code = TN_OP_cumsum; code <= TN_OP_cummin; code++)
		for (k = 0; k < NTYPES - 1; k++)
			for (i = 0; i < 6; i++) {
				bench_open(&t);
				attrs[0] = tn_attr_int("axis", i % 3);
				attrs[1] = tn_attr_bool("exclusive", i % 2);
				attrs[2] = tn_attr_bool("reverse", i / 3);
				check_one(&t, bench_op1(
					&t, (enum tn_opcode)code, bench_in(
						&t, "x", all_types[k], 3,
						sizes, 0, 3), 3, attrs));
			}
}

/* ---- Contractions and windows ------------------------------------------- */

static void check_matmul(enum tn_dtype dtype, int ra, const int64_t *a,
			 int rb, const int64_t *b)
{
	struct bench t;

	bench_open(&t);
	t.tolerance = dtype == TN_f32 ? 1e-6 : 0;
	check_one(&t, bench_op2(&t, TN_OP_matmul,
				bench_in(&t, "a", dtype, ra, a, 0, 2),
				bench_in(&t, "b", dtype, rb, b, 0, 2), 0,
				NULL));
}

static void test_matmul(void **state)
{
	static const int64_t a[] = { 5, 7 }, b[] = { 7, 19 }, v[] = { 7 };
	static const int64_t p[] = { 2, 1, 3, 4 }, q[] = { 5, 4, 3 };
	static const int64_t none[] = { 5, 0 }, nil[] = { 0, 4 };
	size_t k;

	(void)state;
	for (k = 0; k < NTYPES - 1; k++) {
		check_matmul(all_types[k], 2, a, 2, b);
		check_matmul(all_types[k], 1, v, 2, b);
		check_matmul(all_types[k], 2, a, 1, v);
		check_matmul(all_types[k], 1, v, 1, v);
		check_matmul(all_types[k], 4, p, 3, q);
		check_matmul(all_types[k], 2, none, 2, nil);
	}
}

static void check_einsum(const char *spec, int n, const int ranks[],
			 const int64_t sizes[][4])
{
	struct tn_attr attr = tn_attr_string("spec", spec);
	struct tn_value *in[3];
	struct bench t;
	int i;

	bench_open(&t);
	t.tolerance = 1e-5;
	for (i = 0; i < n; i++)
		in[i] = bench_in(&t, "x", TN_f32, ranks[i], sizes[i], -2, 2);
	check_one(&t, bench_op(&t, TN_OP_einsum, n, in, 1, &attr));
}

static void test_einsum(void **state)
{
	static const int64_t cube[][4] = { { 3, 4, 5 }, { 5, 4 }, { 3 } };
	static const int64_t square[][4] = { { 4, 4 } };

	(void)state;
	check_einsum("ijk,kj->ki", 2, (const int[]){ 3, 2 }, cube);
	check_einsum("ijk,kj,i->j", 3, (const int[]){ 3, 2, 1 }, cube);
	check_einsum("ii->i", 1, (const int[]){ 2 }, square);
	check_einsum("ii->", 1, (const int[]){ 2 }, square);
	check_einsum("ij->ji", 1, (const int[]){ 2 }, square);
}

/* One convolution: attributes of two axes. */
struct conv {
	enum tn_opcode code;
	int64_t in[2], kernel[2], stride[2], dilation[2], pad[4], extra[2];
	int64_t groups;
	bool bias;
};

static void check_conv(const struct conv *c, enum tn_dtype dtype)
{
	bool back = c->code == TN_OP_conv_transpose;
	int64_t x[] = { 2, 4, c->in[0], c->in[1] };
	int64_t w[] = { 6, 4 / c->groups, c->kernel[0], c->kernel[1] };
	int64_t m[] = { 6 };
	const struct tn_dim *pad[4];
	struct tn_attr attrs[5];
	struct tn_value *in[3];
	struct bench t;
	int i;

	bench_open(&t);
	t.tolerance = dtype == TN_f32 ? 1e-5 : dtype == TN_f64 ? 1e-13 : 2e-3;
	if (dtype == TN_bf16)
		t.tolerance = 1e-2;
	if (back) {
		w[0] = 4;
		w[1] = 6 / c->groups;
	}
	for (i = 0; i < 4; i++)
		pad[i] = bench_int(&t, c->pad[i]);
	in[0] = bench_in(&t, "x", dtype, 4, x, 0, 2);
	in[1] = bench_in(&t, "w", dtype, 4, w, 0, 2);
	in[2] = bench_in(&t, "bias", dtype, 1, m, 0, 2);
	attrs[0] = tn_attr_ints("stride", 2, c->stride);
	attrs[1] = tn_attr_ints("dilation", 2, c->dilation);
	attrs[2] = tn_attr_pairs("pad", 2, pad);
	attrs[3] = tn_attr_int("groups", c->groups);
	attrs[4] = tn_attr_ints("output_pad", 2, c->extra);
	check_one(&t, bench_op(&t, c->code, 2 + c->bias, in, 4 + back, attrs));
}

static void test_conv(void **state)
{
	static const struct conv cases[] = {
		{ TN_OP_conv, { 7, 6 }, { 3, 3 }, { 1, 1 }, { 1, 1 },
		  { 1, 1, 1, 1 }, { 0, 0 }, 1, true },
		{ TN_OP_conv, { 8, 5 }, { 3, 2 }, { 2, 3 }, { 2, 1 },
		  { 0, 2, 3, 0 }, { 0, 0 }, 2, false },
		{ TN_OP_conv, { 5, 5 }, { 1, 1 }, { 2, 1 }, { 1, 1 },
		  { 0, 0, 0, 0 }, { 0, 0 }, 1, false },
		{ TN_OP_conv, { 2, 2 }, { 3, 3 }, { 1, 1 }, { 3, 2 },
		  { 6, 6, 4, 4 }, { 0, 0 }, 1, true },
		{ TN_OP_conv_transpose, { 4, 3 }, { 3, 3 }, { 2, 1 }, { 1, 1 },
		  { 1, 1, 0, 1 }, { 1, 0 }, 1, true },
		{ TN_OP_conv_transpose, { 3, 4 }, { 2, 3 }, { 3, 2 }, { 2, 1 },
		  { 0, 0, 1, 0 }, { 0, 1 }, 2, false }
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (k = 0; k < NTYPES - 1; k++)
			check_conv(&cases[i], all_types[k]);
}

static void check_pool(enum tn_opcode code, enum tn_dtype dtype,
		       const char *count, const int64_t *attr)
{
	static const int64_t sizes[] = { 2, 3, 6, 5 };
	const struct tn_dim *pad[4];
	struct tn_attr attrs[5];
	struct tn_value *x;
	struct bench t;
	int i;

	bench_open(&t);
	for (i = 0; i < 4; i++)
		pad[i] = bench_int(&t, attr[6 + i]);
	x = bench_in(&t, "x", dtype, 4, sizes, 0, 3);
	if (code == TN_OP_maxpool)
		bench_special(&t, x);
	attrs[0] = tn_attr_ints("size", 2, attr);
	attrs[1] = tn_attr_ints("stride", 2, attr + 2);
	attrs[2] = tn_attr_ints("dilation", 2, attr + 4);
	attrs[3] = tn_attr_pairs("pad", 2, pad);
	attrs[4] = tn_attr_string("count", count);
	check_one(&t, bench_op1(&t, code, x, code == TN_OP_avgpool ? 5 : 4,
				attrs));
}

static void test_pools(void **state)
{
	static const int64_t cases[][10] = {
		{ 2, 2, 2, 2, 1, 1, 0, 0, 0, 0 },
		{ 3, 3, 1, 2, 1, 1, 1, 1, 1, 1 },
		{ 3, 2, 2, 1, 2, 3, 1, 0, 0, 2 },
		{ 2, 1, 1, 1, 1, 1, 3, 3, 0, 0 }
	};
	size_t i, k;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		for (k = 0; k < NTYPES - 1; k++) {
			check_pool(TN_OP_maxpool, all_types[k], "", cases[i]);
			if (k > 3)
				continue;
			check_pool(TN_OP_avgpool, all_types[k], "valid",
				   cases[i]);
			check_pool(TN_OP_avgpool, all_types[k], "pad",
				   cases[i]);
		}
}

/* ---- Movement ----------------------------------------------------------- */

static const int64_t cube[] = { 3, 4, 5 };

static void check_move(enum tn_opcode code, int nattrs,
		       const struct tn_attr *attrs)
{
	static const enum tn_dtype types[] = { TN_f64, TN_f16, TN_i32,
					       TN_bool };
	struct bench t;
	size_t k;

	for (k = 0; k < 4; k++) {
		struct tn_value *x;

		bench_open(&t);
		x = bench_in(&t, "x", types[k], 3, cube, 0, 1);
		bench_special(&t, x);
		check_one(&t, bench_op1(&t, code, x, nattrs, attrs));
	}
}

/* Dims of constants in a module of their own are not shared between benches,
 * so each case makes its own. */
static void check_slices(void)
{
	static const int64_t step[] = { 1, 2, 3 };
	struct bench t;
	struct tn_attr attrs[3];
	const struct tn_dim *start[3], *stop[3];
	int i;

	bench_open(&t);
	for (i = 0; i < 3; i++) {
		start[i] = bench_int(&t, i);
		stop[i] = bench_int(&t, 3 + i);
	}
	attrs[0] = tn_attr_dims("start", 3, start);
	attrs[1] = tn_attr_dims("stop", 3, stop);
	attrs[2] = tn_attr_ints("step", 3, step);
	check_one(&t, bench_op1(&t, TN_OP_slice, bench_in(
		&t, "x", TN_f32, 3, cube, 0, 9), 3, attrs));
}

static void check_pads(bool value, const int64_t *pads, enum tn_target_par k)
{
	struct bench t;
	struct tn_attr attr;
	const struct tn_dim *dims[6];
	struct tn_value *in[2];
	int i;

	bench_open(&t);
	t.target.par = k;
	for (i = 0; i < 6; i++)
		dims[i] = bench_int(&t, pads[i]);
	attr = tn_attr_pairs("pad", 3, dims);
	in[0] = bench_in(&t, "x", TN_f32, 3, cube, 1, 9);
	in[1] = bench_in(&t, "v", TN_f32, 0, NULL, 5, 5);
	check_one(&t, bench_op(&t, TN_OP_pad, 1 + value, in, 1, &attr));
}

static void check_concat(int axis, enum tn_target_par k)
{
	static const int64_t other[][3] = { { 1, 4, 5 }, { 3, 2, 5 },
					    { 3, 4, 0 } };
	struct tn_attr attr = tn_attr_int("axis", axis);
	struct tn_value *in[3];
	struct bench t;

	bench_open(&t);
	t.target.par = k;
	in[0] = bench_in(&t, "x", TN_i16, 3, cube, 0, 99);
	in[1] = bench_in(&t, "y", TN_i16, 3, other[axis], 0, 99);
	in[2] = in[0];
	check_one(&t, bench_op(&t, TN_OP_concat, 3, in, 1, &attr));
}

static void test_movement(void **state)
{
	static const int64_t perm[] = { 2, 0, 1 }, axes[] = { 0, 2 };
	static const int64_t window[] = { 1, 2 }, size[] = { 2, 3 };
	static const int64_t stride[] = { 2, 1 }, dilation[] = { 1, 2 };
	static const int64_t pads[] = { 0, 0, 2, 1, 0, 3 };
	struct tn_attr attrs[4];
	int i;

	(void)state;
	attrs[0] = tn_attr_ints("perm", 3, perm);
	check_move(TN_OP_transpose, 1, attrs);
	check_move(TN_OP_transpose, 0, NULL);
	attrs[0] = tn_attr_ints("axes", 2, axes);
	check_move(TN_OP_reverse, 1, attrs);
	attrs[0] = tn_attr_ints("axes", 2, window);
	attrs[1] = tn_attr_ints("size", 2, size);
	attrs[2] = tn_attr_ints("stride", 2, stride);
	attrs[3] = tn_attr_ints("dilation", 2, dilation);
	check_move(TN_OP_window, 4, attrs);
	check_slices();
	for (i = 0; i < 4; i++) {
		enum tn_target_par k = i % 2 ? TN_PAR_GRID : TN_PAR_THREADS;

		check_pads(i / 2, pads, k);
		check_concat(0, k);
		check_concat(1, k);
		check_concat(2, k);
	}
}

/* ---- Indices ------------------------------------------------------------ */

static void check_gather(enum tn_opcode code, enum tn_dtype index, int rank,
			 const int64_t *sizes, int axis, int lo, int hi)
{
	struct tn_attr attr = tn_attr_int("axis", axis);
	struct tn_value *in[2];
	struct bench t;

	bench_open(&t);
	in[0] = bench_in(&t, "x", TN_f32, 3, cube, 0, 99);
	in[1] = bench_in(&t, "at", index, rank, sizes, lo, hi);
	if (hi > 9)
		bench_special(&t, in[1]);
	check_one(&t, bench_op(&t, code, 2, in,
			       code == TN_OP_gather_nd ? 0 : 1, &attr));
}

static void check_scatter(enum tn_opcode code, const char *combine, int ri,
			  const int64_t *index, int ru, const int64_t *update,
			  int axis, int lo, int hi)
{
	struct tn_attr attrs[2];
	struct tn_value *in[3];
	struct bench t;
	bool plain = code == TN_OP_scatter_nd;

	bench_open(&t);
	attrs[0] = tn_attr_string("combine", combine);
	attrs[1] = tn_attr_int("axis", axis);
	in[0] = bench_in(&t, "x", TN_f32, 3, cube, 0, 9);
	in[1] = bench_in(&t, "at", TN_i32, ri, index, lo, hi);
	in[2] = bench_in(&t, "u", TN_f32, ru, update, 0, 9);
	check_one(&t, bench_op(&t, code, 3, in, plain ? 1 : 2, attrs));
}

static void test_indices(void **state)
{
	static const char *const words[] = { "set", "add", "mul", "max",
					     "min" };
	static const int64_t two[] = { 2, 3 }, along[] = { 3, 7, 5 };
	static const int64_t tuples[] = { 2, 4, 2 }, whole[] = { 6, 3 };
	static const int64_t updates[] = { 3, 2, 3, 5 };
	static const int64_t rows[] = { 2, 4, 5 }, cells[] = { 6 };
	size_t k;
	int i;

	(void)state;
	for (k = 4; k < NTYPES - 1; k++) {
		check_gather(TN_OP_gather, all_types[k], 2, two, 1, 0, 3);
		check_gather(TN_OP_gather, all_types[k], 2, two, 2, 0, 99);
		check_gather(TN_OP_gather, all_types[k], 0, NULL, 0, 0, 2);
		check_gather(TN_OP_take_along, all_types[k], 3, along, 1, 0,
			     40);
		check_gather(TN_OP_gather_nd, all_types[k], 3, tuples, 0, 0,
			     2);
		check_gather(TN_OP_gather_nd, all_types[k], 2, whole, 0, 0,
			     10);
	}
	for (k = 0; k < 5; k++)
		for (i = 0; i < 2; i++) {
			check_scatter(TN_OP_scatter, words[k], 2, two, 4,
				      updates, 1, -i, 3 + i);
			check_scatter(TN_OP_scatter_nd, words[k], 3, tuples,
				      3, rows, 0, -i, 2);
			check_scatter(TN_OP_scatter_nd, words[k], 2, whole, 1,
				      cells, 0, -i, 2);
			check_scatter(TN_OP_scatter_along, words[k], 3, along,
				      3, along, 1, -i, 3 + i);
		}
}

/* ---- Order ------------------------------------------------------------ */

static void check_sort(enum tn_opcode code, enum tn_dtype dtype, int axis,
		       bool flag, const int64_t *sizes)
{
	struct tn_attr attrs[3];
	struct tn_value *x, *both[2];
	struct bench t;
	int n = 2;

	bench_open(&t);
	x = bench_in(&t, "x", dtype, 3, sizes, 0, 2);
	bench_special(&t, x);
	attrs[0] = tn_attr_int("axis", axis);
	attrs[1] = tn_attr_bool(code == TN_OP_topk ? "largest" : "descending",
				flag);
	if (code == TN_OP_topk)
		attrs[n++] = tn_attr_dim("k", bench_int(&t, 2));
	both[0] = bench_op1(&t, code, x, n, attrs);
	both[1] = both[0]->op->out[both[0]->op->nout - 1];
	bench_return(&t, both[0]->op->nout, both);
	bench_check(&t);
}

/* The size that run time finds: the reference is told it. */
static void count_nonzero(struct bench *t, const struct tn_value *x,
			  int64_t *count)
{
	const struct tn_tensor *tensor = bench_of(t, x);
	int64_t i, n = tn_tensor_count(tensor);

	*count = 0;
	for (i = 0; i < n; i++)
		*count += tn_tensor_get_f64(tensor, i) != 0;
}

static void check_nonzero(enum tn_dtype dtype, int64_t n)
{
	struct tn_sym sym = { .lo = 0, .mod = 1, .is_runtime = true };
	const struct tn_dim *size;
	struct tn_value *x;
	struct tn_op *op;
	struct bench t;

	bench_open(&t);
	x = bench_in(&t, "x", dtype, 1, &n, 0, 1);
	sym.name = tn_intern_text(&t.names, "Z");
	sym.hi = n;
	size = tn_dim_new_sym(&t.module->dims, &sym);
	op = tn_graph_op(t.fn, TN_OP_nonzero, 1, &x, 1, nowhere);
	assert_non_null(op);
	tn_graph_insert(t.fn->body, op, NULL);
	op->out[0]->type = tn_type_get(t.module, TN_i64, 1, &size);
	assert_true(tn_graph_name(t.fn, op->out[0], "z"));
	assert_true(tn_infer_attrs(op) && tn_infer_op(op));
	count_nonzero(&t, x, &t.dims[size->sym->number]);
	check_one(&t, op->out[0]);
}

static void test_order(void **state)
{
	static const int64_t sizes[] = { 3, 7, 9 }, ones[] = { 2, 2, 2 };
	size_t k;
	int i;

	(void)state;
	for (k = 0; k < NTYPES - 1; k++)
		for (i = 0; i < 6; i++) {
			check_sort(TN_OP_sort, all_types[k], i % 3, i / 3,
				   sizes);
			check_sort(TN_OP_argsort, all_types[k], i % 3, i / 3,
				   ones);
			check_sort(TN_OP_argsort, all_types[k], i % 3, i / 3,
				   sizes);
			check_sort(TN_OP_topk, all_types[k], i % 3, i / 3,
				   sizes);
		}
	for (k = 0; k < NTYPES; k++) {
		check_nonzero(all_types[k], 11);
		check_nonzero(all_types[k], 0);
	}
}

/* ---- Sources and resampling --------------------------------------------- */

static void test_sources(void **state)
{
	struct tn_attr attrs[3];
	size_t k;

	(void)state;
	for (k = 0; k < NTYPES - 1; k++) {
		const struct tn_dim *dims[2];
		struct tn_value *both[2];
		struct bench t;

		bench_open(&t);
		dims[0] = bench_int(&t, 3);
		dims[1] = bench_sym(&t, "N", 1, 9, 5);
		attrs[0] = tn_attr_dims("shape", 2, dims);
		attrs[1] = tn_attr_dtype("elem", all_types[k]);
		attrs[2] = tn_attr_int("axis", 1);
		both[0] = bench_op(&t, TN_OP_iota, 0, NULL, 3, attrs);
		attrs[2] = tn_attr_float("hi", 40.5);
		both[1] = bench_op(&t, TN_OP_random, 0, NULL, 3, attrs);
		bench_return(&t, 2, both);
		bench_check(&t);
	}
}

static void check_resize(enum tn_dtype dtype, const char *mode,
			 const char *coord, const char *round, int64_t a,
			 int64_t b)
{
	static const int64_t sizes[] = { 2, 1, 5, 4 };
	const struct tn_dim *dims[4];
	struct tn_attr attrs[4];
	struct bench t;

	bench_open(&t);
	dims[0] = bench_int(&t, 2);
	dims[1] = bench_int(&t, 1);
	dims[2] = bench_int(&t, a);
	dims[3] = bench_sym(&t, "W", 1, 64, b);
	attrs[0] = tn_attr_dims("shape", 4, dims);
	attrs[1] = tn_attr_string("mode", mode);
	attrs[2] = tn_attr_string("coord", coord);
	attrs[3] = tn_attr_string("round", round);
	check_one(&t, bench_op1(&t, TN_OP_resize, bench_in(
		&t, "x", dtype, 4, sizes, 0, 9), 4, attrs));
}

static void test_resize(void **state)
{
	static const char *const coords[] = { "half_pixel", "asymmetric",
					      "align_corners" };
	static const char *const rounds[] = { "prefer_floor", "prefer_ceil",
					      "floor", "ceil" };
	int i, k;

	(void)state;
	for (i = 0; i < 3; i++)
		for (k = 0; k < 4; k++) {
			enum tn_dtype dtype = all_types[k];

			check_resize(dtype, "nearest", coords[i], rounds[k],
				     7, 9);
			check_resize(dtype, "nearest", coords[i], rounds[k],
				     3, 1);
			check_resize(dtype, "linear", coords[i], rounds[k],
				     8, 7);
			check_resize(dtype, "linear", coords[i], rounds[k],
				     2, 1);
		}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_casts),
		cmocka_unit_test(test_reductions),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_running),
		cmocka_unit_test(test_matmul),
		cmocka_unit_test(test_einsum),
		cmocka_unit_test(test_conv),
		cmocka_unit_test(test_pools),
		cmocka_unit_test(test_movement),
		cmocka_unit_test(test_indices),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_sources),
		cmocka_unit_test(test_resize),
	};

	int failed;

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	failed = cmocka_run_group_tests_name("c", tests, NULL, NULL);
	bench_par = TN_PAR_GRID;
	failed += cmocka_run_group_tests_name("cuda", tests, NULL, NULL);
	return failed;
}
