/*
 * A bench for one operator: operands and attributes are laid on it, the op is
 * inferred and evaluated, and its results are compared exactly.
 *
 *	struct bench *b = bench_new();
 *	give(b, TN_f32, SHAPE(3), VALUES(1, 2, 3));
 *	with(b, tn_attr_bool("keep", true));
 *	run(b, TN_OP_sum);
 *	expect(b, 0, SHAPE(1), VALUES(6));
 *	bench_free(b);
 */
#ifndef TESTS_UNIT_OPS_H
#define TESTS_UNIT_OPS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/builder.h"
#include "ir/eval.h"
#include "ir/graph_edit.h"
#include "ir/infer.h"

#define COUNT(...) (sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t))
#define SHAPE(...) (int)COUNT(__VA_ARGS__), (const int64_t[]){ __VA_ARGS__ }
#define SCALAR 0, NULL
#define VALUES(...) (const double[]){ __VA_ARGS__ }
#define INTS(name, ...) \
	tn_attr_ints(name, (int)COUNT(__VA_ARGS__), \
		     (const int64_t[]){ __VA_ARGS__ })

struct bench {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_module *module;
	struct tn_builder builder;
	int nin, nattrs;
	struct tn_value *in[8];
	struct tn_tensor tensors[8];
	struct tn_attr attrs[12];
	struct tn_op *op;
	struct tn_tensor out[2];
	struct tn_eval eval;
	int64_t dims[32];
};

static inline struct bench *bench_new(void)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct tn_fn *fn;

	assert_non_null(b);
	tn_intern_init(&b->names);
	tn_sink_init(&b->sink);
	b->module = tn_module_new(&b->names, &b->sink);
	fn = tn_graph_fn(b->module, "f", TN_FN_PLAIN);
	assert_non_null(fn);
	tn_builder_init(&b->builder, fn->body);
	return b;
}

static inline void bench_free(struct bench *b)
{
	int i;

	for (i = 0; i < b->nin; i++)
		tn_tensor_fini(&b->tensors[i]);
	for (i = 0; i < 2; i++)
		tn_tensor_fini(&b->out[i]);
	tn_module_free(b->module);
	tn_sink_fini(&b->sink);
	tn_intern_fini(&b->names);
	free(b);
}

/* An operand whose dims are given; its tensor is all zero. */
static inline struct tn_tensor *give_dims(struct bench *b,
					  enum tn_dtype dtype, int rank,
					  const struct tn_dim *const *dims)
{
	struct tn_tensor *tensor = &b->tensors[b->nin];
	const struct tn_type *type =
		tn_type_get(b->module, dtype, rank, dims);
	int64_t shape[TN_MAX_RANK] = { 0 };

	b->eval.dims = b->dims;
	assert_true(tn_eval_shape(&b->eval, type, shape));
	assert_true(tn_tensor_init(tensor, dtype, rank, shape));
	b->in[b->nin] = tn_graph_param(b->builder.block, "x", type);
	assert_non_null(b->in[b->nin]);
	b->nin++;
	return tensor;
}

static inline struct tn_tensor *give(struct bench *b, enum tn_dtype dtype,
				     int rank, const int64_t *shape,
				     const double *values)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_tensor *tensor;
	int64_t count, i;

	for (i = 0; i < rank; i++)
		dims[i] = tn_dim_const(&b->module->dims, shape[i]);
	tensor = give_dims(b, dtype, rank, dims);
	count = tn_tensor_count(tensor);
	for (i = 0; values && i < count; i++)
		tn_tensor_set_f64(tensor, i, values[i]);
	return tensor;
}

/* An attribute; a list of integers is copied. */
static inline void with(struct bench *b, struct tn_attr attr)
{
	if (attr.kind == TN_ATTR_INTS)
		attr.u.ints = tn_arena_copy(&b->module->arena, attr.u.ints,
					    (size_t)attr.count *
					    sizeof(*attr.u.ints));
	b->attrs[b->nattrs++] = attr;
}

static inline const struct tn_dim *constant(struct bench *b, int64_t value)
{
	return tn_dim_const(&b->module->dims, value);
}

/* `values` as a list of dims; for pads the flattened pairs. */
static inline void with_dims(struct bench *b, const char *name, bool pairs,
			     int count, const int64_t *values)
{
	const struct tn_dim *dims[2 * TN_MAX_RANK];
	const struct tn_dim **kept;
	int i;

	for (i = 0; i < count; i++)
		dims[i] = constant(b, values[i]);
	kept = tn_arena_copy(&b->module->arena, dims,
			     (size_t)count * sizeof(*dims));
	with(b, pairs ? tn_attr_pairs(name, count / 2, kept) :
	     tn_attr_dims(name, count, kept));
}

/* Builds and infers; whether it was accepted. */
static inline bool infer(struct bench *b, enum tn_opcode code)
{
	static const struct tn_span nowhere;

	b->op = tn_build_op(&b->builder, code, b->nin, b->in, b->nattrs,
			    b->attrs, nowhere);
	assert_non_null(b->op);
	return !b->builder.failed;
}

static inline void run(struct bench *b, enum tn_opcode code)
{
	const struct tn_tensor *in[8];
	int i;

	if (!infer(b, code)) {
		struct tn_buf text;

		tn_buf_init(&text);
		tn_sink_render(&b->sink, &text, false);
		print_error("%s\n", tn_buf_text(&text));
		tn_buf_fini(&text);
		fail();
	}
	for (i = 0; i < b->nin; i++)
		in[i] = &b->tensors[i];
	b->eval.dims = b->dims;
	assert_true(tn_eval_op(&b->eval, b->op, in, b->out));
}

/* Clears the bench for the next op. */
static inline void next(struct bench *b)
{
	int i;

	for (i = 0; i < b->nin; i++)
		tn_tensor_fini(&b->tensors[i]);
	for (i = 0; i < 2; i++)
		tn_tensor_fini(&b->out[i]);
	b->nin = b->nattrs = 0;
	memset(&b->eval, 0, sizeof(b->eval));
	b->builder.failed = false;
}

static inline void expect_shape(const struct bench *b, int i, int rank,
				const int64_t *shape)
{
	int at;

	assert_int_equal(b->out[i].rank, rank);
	for (at = 0; at < rank; at++)
		assert_int_equal(b->out[i].shape[at], shape[at]);
}

/* Equal as numbers, NaN to NaN, zeros with their sign if `signs`. */
static inline void expect_all(const struct bench *b, int i, int rank,
			      const int64_t *shape, const double *values,
			      bool signs)
{
	int64_t count = tn_tensor_count(&b->out[i]);
	int64_t at;

	expect_shape(b, i, rank, shape);
	for (at = 0; at < count; at++) {
		double have = tn_tensor_get_f64(&b->out[i], at);
		double want = values[at];

		if (have != want && !(isnan(have) && isnan(want))) {
			print_error("element %d: %.17g, expected %.17g\n",
				    (int)at, have, want);
			fail();
		}
		if (signs && !isnan(want))
			assert_int_equal(!signbit(have), !signbit(want));
	}
}

static inline void expect(const struct bench *b, int i, int rank,
			  const int64_t *shape, const double *values)
{
	expect_all(b, i, rank, shape, values, false);
}

#endif
