/* What the files of the interpreter share. */
#ifndef TN_BACKENDS_REF_IMPL_H
#define TN_BACKENDS_REF_IMPL_H

#include "backends/ref/ref.h"

/* The tensor of one value in one frame. */
struct tn_ref_cell {
	struct tn_tensor tensor;
	int64_t left;		/* uses to come; the tensor goes with the last */
	struct tn_ref_cell *next;	/* all of the frame */
};

struct tn_ref {
	const struct tn_module *module;
	struct tn_eval eval;
	struct tn_map weights;	/* value -> struct tn_weight * */
	struct tn_ref_result *result;
	enum tn_status status;	/* sticky */
	int depth;
	size_t nsyms;
};

/* One call at work. */
struct tn_ref_frame {
	struct tn_ref *ref;
	const struct tn_fn *fn;
	int64_t *dims;
	const int64_t *outer;	/* dims of the caller; NULL: there is none */
	struct tn_map cells;	/* value -> struct tn_ref_cell * */
	struct tn_ref_cell *all;
};

/* ---- ref.c --------------------------------------------------------------- */

/* Notes the first failure; always false. */
bool tn_ref_fail(struct tn_ref *ref, enum tn_status status,
		 struct tn_span span, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
bool tn_ref_no_memory(struct tn_ref *ref);
/* The tensor of a value that is alive; NULL after a failure. */
const struct tn_tensor *tn_ref_get(struct tn_ref_frame *frame,
				   const struct tn_value *value);
/* Gives a value its tensor, which is taken. */
bool tn_ref_set(struct tn_ref_frame *frame, const struct tn_value *value,
		struct tn_tensor *tensor);
/* An owned copy. */
bool tn_ref_copy(struct tn_ref *ref, const struct tn_tensor *from,
		 struct tn_tensor *to);
void tn_ref_drop(int count, struct tn_tensor *tensors);
/* Runs the ops of a block; the values of its last op to `out`, owned. */
bool tn_ref_block(struct tn_ref_frame *frame, const struct tn_block *block,
		  struct tn_tensor *out);
/* Runs a function; `dims` are those of the caller. */
bool tn_ref_fn(struct tn_ref *ref, const struct tn_fn *fn, int64_t *dims,
	       int nin, const struct tn_tensor *const *in,
	       struct tn_tensor *out);

/* ---- ref_bind.c ---------------------------------------------------------- */

/* Sets the dims that the shapes of the arguments fix, checks shapes, bounds
 * and guards. */
bool tn_ref_bind(struct tn_ref_frame *frame, int nin,
		 const struct tn_tensor *const *in);
/* A size found by an op of the body. */
bool tn_ref_bind_size(struct tn_ref_frame *frame, const struct tn_op *op,
		      int64_t size);

/* ---- ref_flow.c ---------------------------------------------------------- */

/* Runs a FLOW op that gives results; `out` are owned tensors. */
bool tn_ref_flow(struct tn_ref_frame *frame, const struct tn_op *op,
		 const struct tn_tensor *const *in, struct tn_tensor *out);

#endif
