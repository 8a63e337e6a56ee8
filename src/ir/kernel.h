/*
 * Kernels: loops over index ranges with scalar bodies, on buffers.
 *
 * The lowering makes one kernel of each operator or fused group, a perfect or
 * nearly perfect nest; a schedule rewrites it; back ends print what they get.
 *
 *   kernel mlp__f0(x: f32[B, 784] @in, w: f32[784, 256] @in,
 *                  h: f32[B, 256] @out) {
 *     par(threads) i in 0..B {
 *       vec j in 0..256 {
 *         let acc: f32 = 0.0;        # mutable only through `=` / `+=`
 *         ...
 *         h[i, j] = max(acc, 0.0);
 *       }
 *     }
 *   }
 *
 * Rules of meaning:
 * - Iterations of `par` and `vec` loops are independent of one another, apart
 *   from the order of `for` loops around them. `unroll` is a `for` whose copies
 *   are written out; its bounds are constants, TN_KLOOP_WRITTEN turns at most. `vec` likewise has a constant
 *   extent when the emitter shall use vector registers; otherwise it is a hint.
 * - `par(threads, min=W)` pays for a team of threads from W turns on. The turns
 *   of the loops inside that run to a size, one in another, multiply them.
 * - A `let` names a value; a `let mut` (is_mutable) may be assigned later.
 * - A buffer of rank 0 is read and written by its name alone.
 * - In text, infix on i64 is index arithmetic (is_index); the wrapping, raising
 *   operators on i64 values are written as calls, add(a, b). Arithmetic on
 *   sizes and literals alone is a dim (the makers fold it). i64 and f32
 *   literals are bare, others carry a suffix.
 * - The right side of `and` and `or` on bools is computed only where the left
 *   does not decide; of `select` one branch is.
 * - Buffers are row-major over their extents. An index expression is i64 and
 *   in bounds: proved (kernel_check.h), or the kernel is @unchecked. A kernel
 *   clamps what it reads from data.
 * - `target += value` on floats may contract to a fused multiply-add if
 *   value is a product and the kernel has @fp(contract).
 * - f16 and bf16 values are computed in f32; every op of those dtypes rounds
 *   its result once, unless the kernel has @fp(wide).
 */
#ifndef TN_IR_KERNEL_H
#define TN_IR_KERNEL_H

#include "ir/graph.h"

struct tn_kvar;
struct tn_kbuf;
struct tn_kstmt;

enum tn_kexpr_kind {
	TN_KEXPR_INT,	/* integer or bool literal */
	TN_KEXPR_FLOAT,	/* float literal: exact as double */
	TN_KEXPR_VAR,	/* loop index or let */
	TN_KEXPR_DIM,	/* dim expression, i64, a run-time argument */
	TN_KEXPR_LOAD,	/* element of a buffer */
	TN_KEXPR_OP	/* a MAP operator of ops.def, cast and select too */
};

/* Expressions are immutable and may be shared. */
struct tn_kexpr {
	enum tn_kexpr_kind kind;
	enum tn_dtype dtype;	/* of the value */
	int64_t i;		/* INT */
	double f;		/* FLOAT */
	struct tn_kvar *var;	/* VAR */
	const struct tn_dim *dim;	/* DIM */
	struct tn_kbuf *buf;	/* LOAD */
	enum tn_opcode code;	/* OP */
	bool is_index;		/* OP on i64 that cannot overflow, divisors
				 * positive: plain C arithmetic; fdiv and mod
				 * have non-negative dividends */
	int nargs;		/* OP operands, LOAD indices */
	const struct tn_kexpr *const *args;
};

struct tn_kvar {
	const char *name;	/* interned, unique in the kernel */
	enum tn_dtype dtype;	/* loop variables: i64 */
	bool is_mutable;
	int number;		/* scratch for printers and emitters */
};

enum tn_kbuf_role { TN_KBUF_IN, TN_KBUF_OUT, TN_KBUF_INOUT, TN_KBUF_LOCAL };

enum tn_kspace {
	TN_SPACE_GLOBAL,	/* parameters */
	TN_SPACE_REG,		/* registers: small, constant, all indices
				 * become literals after unrolling */
	TN_SPACE_STACK,		/* small and constant, private to the thread */
	TN_SPACE_SHARED,	/* one a CUDA block; on a CPU the stack */
	TN_SPACE_ARENA		/* in the workspace, one for the whole kernel */
};

struct tn_kbuf {
	const char *name;	/* interned, unique in the kernel */
	enum tn_dtype dtype;
	int rank;
	const struct tn_dim *const *dims;	/* extents, physical */
	const struct tn_layout *layout;	/* of the value that it holds,
					 * ir/layout.h, or NULL; in the text
					 * of parameters alone */
	enum tn_kbuf_role role;
	enum tn_kspace space;
	int64_t arena_offset;	/* ARENA: from the kernel's own scratch base */
	int number;		/* scratch */
};

enum tn_kloop_kind {
	TN_LOOP_FOR, TN_LOOP_PAR, TN_LOOP_VEC, TN_LOOP_UNROLL
};

/* What a `par` loop is bound to. */
enum tn_kbind {
	TN_BIND_THREADS,	/* OpenMP threads */
	TN_BIND_GRID_X, TN_BIND_GRID_Y, TN_BIND_GRID_Z,
	TN_BIND_BLOCK_X, TN_BIND_BLOCK_Y, TN_BIND_BLOCK_Z,
	TN_BIND_WARP
};

enum tn_kstmt_kind {
	TN_KSTMT_LOOP,
	TN_KSTMT_LET,		/* var = value */
	TN_KSTMT_SET,		/* var = value, var += value (mutable) */
	TN_KSTMT_ALLOC,		/* buf */
	TN_KSTMT_STORE,		/* buf[index] = value, += value */
	TN_KSTMT_IF,		/* cond, body, orelse */
	TN_KSTMT_BARRIER,	/* all threads of the block */
	TN_KSTMT_RAISE,		/* sets bits of the sticky flag if cond */
	TN_KSTMT_SIZE		/* sets a run-time dim: sym = value */
};

/* A list of statements, doubly linked. */
struct tn_kblock {
	struct tn_kstmt *first, *last;
};

struct tn_kstmt {
	enum tn_kstmt_kind kind;
	/* LOOP: for var in from..to step */
	enum tn_kloop_kind loop;
	enum tn_kbind bind;
	int64_t min;			/* PAR over threads: fewer turns than
					 * these, tn_kloop_next_sized(), run in
					 * one thread; 0: all threads always */
	struct tn_kvar *var;		/* LOOP, LET, SET */
	const struct tn_kexpr *from, *to;
	int64_t step;
	bool is_independent;		/* proved by a schedule step; not text */
	struct tn_kbuf *buf;		/* ALLOC, STORE */
	int nindex;			/* STORE */
	const struct tn_kexpr *const *index;
	const struct tn_kexpr *value;	/* LET SET STORE SIZE, cond of IF RAISE */
	bool accumulate;		/* SET, STORE: += */
	uint32_t flags;			/* RAISE: tn_eval_flag bits */
	const struct tn_sym *sym;	/* SIZE */
	struct tn_kblock body, orelse;
	struct tn_kblock *parent;
	struct tn_kstmt *next, *prev;
};

struct tn_kernel {
	const char *name;	/* interned, unique in the module */
	struct tn_module *module;
	int nparams;
	struct tn_kbuf **params;	/* IN (operand order) then OUT */
	struct tn_kblock body;
	struct tn_annots annots;	/* @schedule(..) to do, @scheduled(..) done,
					 * @fp(..) */
	const char *comment;	/* canonical IR of what it computes, or NULL */
	const struct tn_vec *guards;	/* struct tn_guard: what the entry of the
					 * function that launches it has seen
					 * to; or NULL */
	int64_t scratch_bytes;	/* ARENA allocs, worst case */
	struct tn_span span;
	int number;
};

/* Makers, in the module's arena; NULL: out of memory (NULL arguments give
 * NULL, so calls nest). Index arithmetic folds constants and 0/1. */
struct tn_kernel *tn_kernel_new(struct tn_module *module, const char *name);
struct tn_kbuf *tn_kernel_param(struct tn_kernel *kernel, const char *name,
				enum tn_dtype dtype, int rank,
				const struct tn_dim *const *dims,
				enum tn_kbuf_role role);
struct tn_kbuf *tn_kernel_local(struct tn_kernel *kernel, const char *name,
				enum tn_dtype dtype, int rank,
				const struct tn_dim *const *dims,
				enum tn_kspace space);
struct tn_kvar *tn_kernel_var(struct tn_kernel *kernel, const char *name,
			      enum tn_dtype dtype);

/* Most bytes of one buffer in @reg, @stack or @shared, for every target. */
#define TN_KBUF_LIMIT (INT64_C(1) << 24)
/* The type of the value that a parameter holds. NULL: out of memory. */
const struct tn_type *tn_kbuf_value_type(struct tn_module *module,
					 const struct tn_kbuf *buf);
/* The elements, the bytes of a buffer; false: an extent is not a constant, is
 * negative, or the product is beyond 64 bits. */
bool tn_kbuf_count(const struct tn_kbuf *buf, int64_t *count);
bool tn_kbuf_bytes(const struct tn_kbuf *buf, int64_t *bytes);
/* True if sizes of the buffer can be computed: the product of its constant
 * extents fits 64 bits, and in @reg, @stack and @shared all extents are
 * constants and at most TN_KBUF_LIMIT bytes together. */
bool tn_kbuf_fits(const struct tn_kbuf *buf);
/* Most turns of an `unroll` loop. */
#define TN_KLOOP_WRITTEN 64
/* True if the distance of constant bounds, and the first value of the variable
 * that ends the loop, fit 64 bits. */
bool tn_kloop_fits(const struct tn_kexpr *from, const struct tn_kexpr *to,
		   int64_t step);

const struct tn_kexpr *tn_kexpr_int(struct tn_kernel *, enum tn_dtype,
				    int64_t);
const struct tn_kexpr *tn_kexpr_float(struct tn_kernel *, enum tn_dtype,
				      double);
const struct tn_kexpr *tn_kexpr_var(struct tn_kernel *, struct tn_kvar *);
const struct tn_kexpr *tn_kexpr_dim(struct tn_kernel *,
				    const struct tn_dim *);
const struct tn_kexpr *tn_kexpr_load(struct tn_kernel *, struct tn_kbuf *,
				     int nindex,
				     const struct tn_kexpr *const *index);
const struct tn_kexpr *tn_kexpr_op(struct tn_kernel *, enum tn_opcode,
				   enum tn_dtype, int nargs,
				   const struct tn_kexpr *const *args);
/* i64 index arithmetic (is_index). */
const struct tn_kexpr *tn_kexpr_add(struct tn_kernel *,
				    const struct tn_kexpr *,
				    const struct tn_kexpr *);
const struct tn_kexpr *tn_kexpr_sub(struct tn_kernel *,
				    const struct tn_kexpr *,
				    const struct tn_kexpr *);
const struct tn_kexpr *tn_kexpr_mul(struct tn_kernel *,
				    const struct tn_kexpr *,
				    const struct tn_kexpr *);
const struct tn_kexpr *tn_kexpr_fdiv(struct tn_kernel *,
				     const struct tn_kexpr *,
				     const struct tn_kexpr *);
const struct tn_kexpr *tn_kexpr_mod(struct tn_kernel *,
				    const struct tn_kexpr *,
				    const struct tn_kexpr *);
bool tn_kexpr_is_int(const struct tn_kexpr *expr, int64_t value);

/* Statements, appended to `block`. */
struct tn_kstmt *tn_kstmt_loop(struct tn_kernel *, struct tn_kblock *block,
			       enum tn_kloop_kind, struct tn_kvar *,
			       const struct tn_kexpr *from,
			       const struct tn_kexpr *to);
struct tn_kstmt *tn_kstmt_let(struct tn_kernel *, struct tn_kblock *,
			      struct tn_kvar *, const struct tn_kexpr *);
struct tn_kstmt *tn_kstmt_set(struct tn_kernel *, struct tn_kblock *,
			      struct tn_kvar *, const struct tn_kexpr *,
			      bool accumulate);
struct tn_kstmt *tn_kstmt_alloc(struct tn_kernel *, struct tn_kblock *,
				struct tn_kbuf *);
struct tn_kstmt *tn_kstmt_store(struct tn_kernel *, struct tn_kblock *,
				struct tn_kbuf *, int nindex,
				const struct tn_kexpr *const *index,
				const struct tn_kexpr *value,
				bool accumulate);
struct tn_kstmt *tn_kstmt_if(struct tn_kernel *, struct tn_kblock *,
			     const struct tn_kexpr *cond);
struct tn_kstmt *tn_kstmt_raise(struct tn_kernel *, struct tn_kblock *,
				const struct tn_kexpr *cond, uint32_t flags);
struct tn_kstmt *tn_kstmt_size(struct tn_kernel *, struct tn_kblock *,
			       const struct tn_sym *,
			       const struct tn_kexpr *);
struct tn_kstmt *tn_kstmt_barrier(struct tn_kernel *, struct tn_kblock *);
/* Unlinks; links before `before` (NULL: at the end). */
void tn_kstmt_remove(struct tn_kstmt *stmt);
void tn_kstmt_insert(struct tn_kblock *block, struct tn_kstmt *stmt,
		     struct tn_kstmt *before);
/* A deep copy with fresh variables and local buffers where declared inside;
 * `var` (may be NULL) replaced by `with`. */
bool tn_kblock_clone(struct tn_kernel *, const struct tn_kblock *from,
		     struct tn_kblock *to, const struct tn_kvar *var,
		     const struct tn_kexpr *with);

/* Canonical text; parses back. */
void tn_kernel_print(struct tn_buf *buf, const struct tn_kernel *kernel);
void tn_kexpr_print(struct tn_buf *buf, const struct tn_kexpr *expr);
/* The same text with numbers for names: equal kernels give equal texts. */
void tn_kernel_print_shape(struct tn_buf *buf,
			   const struct tn_kernel *kernel);
/* Equal up to the names of the kernel, parameters and variables. Without
 * memory the module has failed. */
bool tn_kernel_same(const struct tn_kernel *a, const struct tn_kernel *b);
/* Faults, one a line; true if none: scopes, ranks, dtypes, constant vec and
 * unroll bounds, stores only to OUT/INOUT/LOCAL. Without memory false, and the
 * module has failed. */
bool tn_kernel_verify(const struct tn_kernel *kernel, struct tn_buf *faults);

/* Schedules, the checked rewrites of kernels: passes/schedule.h. */

#endif
