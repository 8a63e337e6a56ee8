/*
 * A bench for the lowering: one small function is built, run operator by
 * operator by the reference, lowered, run kernel by kernel, and compared.
 */
#ifndef TN_TESTS_LOWERING_H
#define TN_TESTS_LOWERING_H

#include "ir/builder.h"
#include "ir/print.h"
#include "passes/lower.h"

#define NVALUES 4096
#define NDIMS 16

extern const struct tn_span nowhere;
/* The target of the schedules; the tests run for each. */
extern enum tn_target_par bench_par;

struct bench {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_module *module;
	struct tn_fn *fn;
	struct tn_builder b;
	struct tn_target target;
	int64_t dims[NDIMS];		/* by symbol number */
	struct tn_map tensors;		/* value -> struct tn_tensor * */
	struct tn_tensor pool[NVALUES];
	int npool;
	uint64_t seed;
	uint32_t flags;
	size_t nkernels;		/* expected; 0: any */
	double tolerance;		/* relative; 0: equal bits, NaN alike */
};

/* An empty function `main`, and the end of all that belongs to it. */
void bench_open(struct bench *t);
void bench_close(struct bench *t);
/* The tensor of a value. */
struct tn_tensor *bench_of(struct bench *t, const struct tn_value *value);
/* A constant dim, and a symbol with the value it has when run. */
const struct tn_dim *bench_int(struct bench *t, int64_t value);
const struct tn_dim *bench_sym(struct bench *t, const char *name,
	int64_t lo, int64_t hi, int64_t value);
/* A parameter with zeros. */
struct tn_value *bench_param(struct bench *t, const char *name,
	enum tn_dtype dtype, int rank, const struct tn_dim *const *dims);
/* A parameter of constant sizes with whole numbers in [lo, hi], of floats
 * with 64ths between. */
struct tn_value *bench_in(struct bench *t, const char *name, enum
	tn_dtype dtype, int rank, const int64_t *sizes, int lo, int hi);
/* Sprinkles NaN, infinities, zeros and extreme integers. */
void bench_special(struct bench *t, const struct tn_value *value);
/* An operator and its first result. */
struct tn_value *bench_op(struct bench *t, enum tn_opcode code,
	int nin, struct tn_value *const *in, int nattrs, const struct
	tn_attr *attrs);
struct tn_value *bench_op1(struct bench *t, enum tn_opcode code,
	struct tn_value *a, int nattrs, const struct tn_attr *attrs);
struct tn_value *bench_op2(struct bench *t, enum tn_opcode code,
	struct tn_value *a, struct tn_value *b, int nattrs, const struct
	tn_attr *attrs);
/* Ends the function with its results. */
void bench_return(struct bench *t, int n, struct tn_value *const *out);
/* Lowers and verifies. */
void bench_lower(struct bench *t);
/* Runs a lowered block, kernel by kernel. */
void bench_run(struct bench *t, const struct tn_block *block);
/* Runs the reference, lowers, runs the kernels, compares; then schedules for
 * the target, runs and compares again; and closes the bench. */
void bench_check(struct bench *t);

#endif
