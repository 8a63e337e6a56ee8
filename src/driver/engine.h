/*
 * Engines: a function ready to run, by the interpreter or as machine code.
 */
#ifndef TN_DRIVER_ENGINE_H
#define TN_DRIVER_ENGINE_H

#include "base/file.h"
#include "driver/context.h"
#include "driver/module.h"
#include "driver/signature.h"

struct tn_native;	/* native.h */

struct tenon_engine {
	struct tenon_context *context;	/* borrowed */
	struct tn_arena arena;
	struct tenon_module *module;	/* of REF: what is interpreted */
	struct tenon_module *own;	/* loaded: the signature's; or NULL */
	struct tn_fn *fn;		/* REF */
	struct tn_target target;
	const char *target_name;
	struct tn_signature signature;
	char *text;			/* of the signature, for people */
	struct tn_native *native;	/* or NULL: REF */
	struct tn_file_map map;		/* of the engine file */
	int64_t workspace;		/* bytes */
	void *object, *weights;		/* heap memory of its own, or NULL */
};

/* The parts of an engine file, and of one in memory. */
struct tn_engine_parts {
	const struct tn_signature *signature;
	const char *target;	/* "c:avx2" */
	const char *isa;	/* what the CPU must have */
	int64_t workspace;
	const void *object;
	size_t object_size;
	const void *weights;
	size_t weights_size;
};

/* Compiles the engine's function to object and weights, which it then owns;
 * `parts` borrows them. The module must be lowered. */
enum tn_status tn_engine_compile(struct tenon_engine *engine,
				 struct tn_engine_parts *parts);
/* An engine of `entry`; tenon_engine_make takes the picked one. */
enum tn_status tn_engine_of(struct tenon_module *module, struct tn_fn *entry,
			    const struct tn_target *target,
			    struct tenon_engine **out);
/* Runs it once. Outputs are allocated for the sizes at hand. */
struct tn_run {
	const struct tn_tensor *inputs;
	int64_t *dims;			/* by symbol; run-time ones written */
	struct tn_tensor *outputs;
	void *workspace;
};
enum tn_status tn_engine_run(struct tenon_engine *engine, struct tn_run *run);
/* Memory for a run was refused: which dims ask for so much of it, if any. */
void tn_engine_help_memory(struct tenon_engine *engine, struct tn_diag *diag);

/* engine_file.c */
enum tn_status tn_engine_write(struct tenon_context *context,
			       const char *path,
			       const struct tn_engine_parts *parts);
enum tn_status tn_engine_open(struct tenon_engine *engine, const char *path,
			      struct tn_engine_parts *parts);

#endif
