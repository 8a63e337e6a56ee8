/*
 * The interpreter: runs a function of a module, op by op, with the reference
 * evaluation of src/ir. It defines what a program means; every other back end
 * is compared with it.
 *
 *   struct tn_ref_result result = { 0 };
 *   status = tn_ref_run(module, fn, nin, in, NULL, out, &result);
 */
#ifndef TN_BACKENDS_REF_REF_H
#define TN_BACKENDS_REF_REF_H

#include "base/status.h"
#include "ir/eval.h"
#include "ir/graph.h"

/* Deepest nesting of calls and regions. */
#define TN_REF_DEPTH 400

struct tn_ref_result {
	/* Set by the caller, may be NULL: takes what `print` prints. */
	void (*print)(void *data, const char *label,
		      const struct tn_tensor *tensor);
	/* The same; sees every result of an op as it is computed. */
	void (*see)(void *data, const struct tn_value *value,
		    const struct tn_tensor *tensor);
	/* The same; whether what the op raises counts. */
	bool (*counts)(void *data, const struct tn_op *op);
	void *data;
	/* Set by the run. */
	uint32_t flags;			/* sticky: tn_eval_flag */
	const struct tn_op *raised;	/* first op that set a flag, or NULL */
	struct tn_span span;		/* of a failure: a dim, guard, op */
	char message[400];		/* of a failure, else "" */
};

/*
 * Runs `fn` on `nin` inputs, one a parameter, which stay as they are. `dims`
 * holds what the caller knows of each symbol by number, -1 where unknown; it
 * may be NULL, and gets the values found. `out` gets one owned tensor a
 * result. TN_BAD_INPUT: an input, size or guard does not fit; TN_UNSUPPORTED:
 * a weight in a block encoding; TN_IO: out of memory. Then nothing is left in
 * `out`. A set flag is not a failure.
 */
enum tn_status tn_ref_run(const struct tn_module *module,
			  const struct tn_fn *fn, int nin,
			  const struct tn_tensor *in, int64_t *dims,
			  struct tn_tensor *out,
			  struct tn_ref_result *result);

#endif
