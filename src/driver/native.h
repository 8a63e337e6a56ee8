/*
 * Machine code of an engine in this process.
 *
 * The shared object is put into anonymous memory and loaded from there. Beside
 * the emitted code it holds one table, written by tn_native_glue, through which
 * it is called: so no name and no struct of the emitted header is guessed.
 */
#ifndef TN_DRIVER_NATIVE_H
#define TN_DRIVER_NATIVE_H

#include "base/buf.h"
#include "driver/context.h"

struct tn_native;

/* The C text of the table, for emitted code with that prefix; `top` is what
 * the back end says of it (struct tn_build). */
void tn_native_glue(struct tn_buf *out, const char *prefix,
		    const char *top);
/* Loads object and weights; both must outlive it. NULL after a report. */
struct tn_native *tn_native_load(struct tenon_context *context,
				 const void *object, size_t object_size,
				 const void *weights, size_t weights_size,
				 enum tn_status *status);
void tn_native_free(struct tn_native *native);
/* Processors that this process may run on. */
int tn_native_threads(void);

struct tn_native_report {
	int fault;		/* dim, or guard after all dims, refused */
	int op;			/* number of the launch that raised, or -1 */
	unsigned flags;		/* tn_eval_flag bits */
	const char *place;	/* of that launch, "file:line:column: name" */
	const char *reason;	/* what its assertion says; or NULL */
	const char *why;	/* the device failed: what CUDA says; or NULL */
};

/* Takes what the program prints; elements are lent for the call. */
typedef void tn_native_print(void *data, const char *label,
			     const char *dtype, int rank,
			     const int64_t *shape, const void *elements);

struct tn_native_call {
	int threads;
	const void *const *inputs;
	int64_t *dims;
	void *const *outputs;
	void *workspace;	/* CUDA takes none of the host: NULL */
	tn_native_print *print;	/* or NULL */
	void *print_data;
};

/* Runs. TN_NO: raised; TN_BAD_INPUT: a dim or guard was refused; TN_IO: the
 * device failed. */
enum tn_status tn_native_run(struct tn_native *native,
			     const struct tn_native_call *call,
			     struct tn_native_report *report);

#endif
