/*
 * What the files of the reference evaluation share. Private to eval*.c.
 *
 * Loops over elements are compiled once for each element type, from
 * eval_map.inc, and reached through tables of functions on strided runs.
 * Everything else moves bytes.
 */
#ifndef TN_IR_EVAL_IMPL_H
#define TN_IR_EVAL_IMPL_H

#include "ir/eval.h"

/* One op at work. */
struct tn_eval_job {
	struct tn_eval *eval;
	const struct tn_op *op;
	const struct tn_tensor *const *in;
	struct tn_tensor *out;	/* made, by the types of the results */
};

/* A strided run of a map: steps in bytes, results adjacent. */
struct tn_eval_run {
	int64_t count;
	const char *in[3];
	int64_t step[3];
	char *out;
	bool raised;
};

typedef void tn_eval_map_fn(struct tn_eval_run *run);
/* acc (compute type) = acc OP element, for a strided run. */
typedef void tn_eval_fold_fn(int64_t count, const char *in, int64_t step,
			     void *acc);
/* Running fold: out[i] = acc before (exclusive) or after element i. */
typedef void tn_eval_scan_fn(int64_t count, const char *in, int64_t step,
			     char *out, int64_t out_step, bool exclusive,
			     void *acc);

/* What eval_map.inc makes for an element type. Accumulators are of the
 * compute type, `acc_bytes` each. */
struct tn_eval_kind {
	int acc_bytes;
	void (*load)(const void *element, void *acc);
	void (*store)(const void *acc, void *element);
	/* Order with NaN greatest: negative, 0, positive. */
	int (*compare)(const void *a, const void *b);
	/* Place of the extreme of a run of at least one element. */
	int64_t (*arg)(int64_t count, const char *in, int64_t step,
		       bool is_max, bool last);
	/* acc[i * acc_step] += a[i] * b[i]; steps of a, b in bytes. */
	void (*axpy)(int64_t count, void *acc, int64_t acc_step,
		     const char *a, int64_t a_step, const char *b,
		     int64_t b_step);
	/* *acc += sum of a[i] * b[i], in order. */
	void (*dot)(int64_t count, void *acc, const char *a, int64_t a_step,
		    const char *b, int64_t b_step);
	/* *acc /= count; floats only */
	void (*divide)(void *acc, int64_t count);
	/* acc[i] = acc[i] + element (a bias) */
	void (*shift)(int64_t count, void *acc, const char *element);
	/* acc = product of elements at the places, left to right, added */
	void (*product)(int count, const char *const *at, void *acc);
	bool (*is_zero)(const void *element);
};

/* NULL where the op or type has none. */
tn_eval_map_fn *tn_eval_map_of(enum tn_opcode code, enum tn_dtype dtype);
tn_eval_fold_fn *tn_eval_fold_of(enum tn_opcode code, enum tn_dtype dtype);
tn_eval_scan_fn *tn_eval_scan_of(enum tn_opcode code, enum tn_dtype dtype);
const struct tn_eval_kind *tn_eval_kind_of(enum tn_dtype dtype);

/* ---- eval.c ------------------------------------------------------------- */

const struct tn_attr *tn_eval_attr(const struct tn_op *op, const char *name);
void tn_eval_raise(struct tn_eval *eval, const struct tn_op *op,
		   uint32_t flag);
/* Value of a dim; false (and failed) on overflow. */
bool tn_eval_dim(struct tn_eval *eval, const struct tn_dim *dim,
		 int64_t *out);
/* `count` zeroed objects of `size` bytes; NULL: failed is set. */
void *tn_eval_alloc(struct tn_eval *eval, int64_t count, int64_t size);
/* A zeroed tensor; false: as above, and eval has failed. */
bool tn_eval_tensor(struct tn_eval *eval, struct tn_tensor *out,
		    enum tn_dtype dtype, int rank, const int64_t *shape);
/* Byte strides of a row-major tensor. */
void tn_eval_strides(const struct tn_tensor *tensor,
		     int64_t strides[TN_MAX_RANK]);
/* Advances an odometer over `shape`; false after the last place. */
bool tn_eval_next(int rank, const int64_t *shape, int64_t *place);
/* Product of sizes [from, to); sizes were checked before. */
int64_t tn_eval_product(const int64_t *shape, int from, int to);
/* Copies a block of elements between strided places. */
void tn_eval_copy(int size, int rank, const int64_t *shape, char *to,
		  const int64_t *to_step, const char *from,
		  const int64_t *from_step);
/* An index of any integer type; what exceeds int64 is INT64_MAX. */
int64_t tn_eval_index(const struct tn_tensor *tensor, int64_t at);
bool tn_eval_cast_all(const struct tn_tensor *from, struct tn_tensor *to);

/* ---- by class ------------------------------------------------------------ */

bool tn_eval_class_map(struct tn_eval_job *job);	/* eval_map.c */
bool tn_eval_class_move(struct tn_eval_job *job);
bool tn_eval_class_index(struct tn_eval_job *job);
bool tn_eval_class_reduce(struct tn_eval_job *job);
bool tn_eval_class_scan(struct tn_eval_job *job);
bool tn_eval_class_contract(struct tn_eval_job *job);
bool tn_eval_class_window(struct tn_eval_job *job);
bool tn_eval_resize(struct tn_eval_job *job);
bool tn_eval_class_order(struct tn_eval_job *job);
bool tn_eval_class_source(struct tn_eval_job *job);

#endif
