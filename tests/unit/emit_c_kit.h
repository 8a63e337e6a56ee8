/*
 * Tools of the test_emit_c programs: a module with one entry, kernels made in
 * short calls, places, and a run of the emitted code by several compilers next
 * to the interpreter of kernels.
 */
#ifndef TN_TEST_EMIT_C_KIT_H
#define TN_TEST_EMIT_C_KIT_H

#include <stdbool.h>

#include "backends/c/c.h"
#include "ir/kernel.h"
#include "ir/graph_edit.h"

#define KIT_BUFFERS 4096

struct kit {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_module *module;
	struct tn_fn *fn;
	struct tn_kernel *k;	/* under construction */
	struct tn_kblock *block;
	int64_t arena;
	int64_t dims[16];
};

typedef const struct tn_kexpr *ex;

void kit_init(struct kit *kit);
void kit_fini(struct kit *kit);
/* A dim; an input, weight, constant value of the entry. */
const struct tn_dim *kit_sym(struct kit *, const char *name, int64_t lo,
			     int64_t hi);
const struct tn_dim *kit_dim(struct kit *, int64_t value);
struct tn_value *kit_input(struct kit *, const char *name, enum tn_dtype,
			   int rank, const struct tn_dim *const *dims);
/* Starts a kernel; parameters by tn_kernel_param on kit->k. */
void kit_kernel(struct kit *, const char *name);
void kit_annot(struct kit *, const char *name, const char *args);
ex kit_int(struct kit *, int64_t value);
ex kit_op(struct kit *, enum tn_opcode, enum tn_dtype, int n, ex a, ex b,
	  ex c);
/* Opens a loop in kit->block; the old block comes back. */
struct tn_kblock *kit_loop(struct kit *, enum tn_kloop_kind,
			   const char *name, ex from, ex to, ex *index);
/* A launch at the end of `block` of the entry; results are placed in the
 * arena. */
struct tn_op *kit_launch(struct kit *, struct tn_block *block, int nin,
			 struct tn_value *const *in, int nout,
			 const char *const *names,
			 const struct tn_type *const *types);
/* Places a value in the arena. */
void kit_place(struct kit *, struct tn_value *value);
/* Ends the entry: returns the values; those of launches in the body become
 * the caller's buffers. */
void kit_return(struct kit *, int count, struct tn_value *const *values);

/* What a run left behind. */
struct kit_run {
	int status, fault, op;
	uint32_t flags;
};

/* Emits the entry as `name` for the target, compiles with the arguments
 * (compiler first, ends with NULL), loads and runs it. False: there is no such
 * compiler. Any other failure fails the test. */
bool kit_run_c(struct kit *, const char *name, const char *isa,
	       const char *const *compiler, int threads,
	       const void *const *inputs, void *const *outputs,
	       struct kit_run *run);
/* All compilers that the tests know, one after the other; NULL at the end. */
const char *const *kit_compiler(int number);
/* Processor time of all compilers so far. */
double kit_seconds(void);
/* The next of a fixed row of numbers in [-4, 4). */
float kit_random(uint64_t *state);
/* Runs the kernel of the only launch both ways; results must be the same
 * bits, or close where a sum of products may contract. `share` not negative:
 * with a third of the compilers. */
void kit_compare(struct kit *, const char *isa, int nin, void *const *in,
		 int nout, const size_t *bytes, bool is_exact, int share);

#endif
