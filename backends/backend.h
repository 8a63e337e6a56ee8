/*
 * What a back end is: a row of data and functions. The driver asks the row
 * and never which one it is; passes see the struct tn_target alone.
 *
 * A target is "NAME" or "NAME:ISA", such as "c:avx2".
 */
#ifndef TN_BACKENDS_BACKEND_H
#define TN_BACKENDS_BACKEND_H

#include "backends/emission.h"
#include "base/status.h"
#include "ir/graph.h"
#include "ir/target.h"

/* In place of an instruction set: an engine that stands in for a device. */
#define TN_ISA_EMULATED "emulated"

/* The files of a build beside those of the emission. */
#define TN_BUILD_GLUE "tenon_glue.c"
#define TN_BUILD_OBJECT "engine.so"
/* The word that a compiler may refuse, for want of OpenMP. */
#define TN_BUILD_OPENMP "-fopenmp"
/* nodelete: threads of OpenMP may outlive the engine. */
#ifdef __ELF__
#define TN_BUILD_STAY " -Wl,-z,nodelete"
#else
#define TN_BUILD_STAY ""
#endif

/* How an emission becomes a shared object. */
struct tn_build {
	/* Commands, one a line, words parted by blanks. $cc, $cxx, $nvcc: what
	 * the user calls that compiler; %: the folder of the emission; @: its
	 * name; &: what `flags` of the back end says. */
	const char *recipe;
	const char *const *sources;	/* endings of the files that are
					 * compiled or included; NULL ends */
	const char *const *products;	/* made on the way; NULL ends */
	const char *glue;	/* the top of TN_BUILD_GLUE, @ is the name:
				 * WHY(report), what the device says or 0, and
				 * FINI(ctx) */
	const char *language;	/* that there must be a compiler of */
	const char *help;	/* if there is none */
};

/* What the entry must have been through before it is emitted. */
enum tn_stage {
	TN_STAGE_TEXT,		/* nothing: it is taken as it stands */
	TN_STAGE_CORE,		/* only primitives, no calls */
	TN_STAGE_PLACED		/* launches of kernels, all values placed */
};

struct tn_backend {
	const char *name;
	enum tn_stage stage;
	bool is_interpreter;	/* backends/ref runs it; nothing is emitted */
	bool has_weights;	/* emission needs the values of weights */
	bool has_memory;	/* of its own: a run is lent no workspace */
	const struct tn_target *const *targets;	/* all, ends with NULL */
	/* The target of an instruction set, "": the usual one; NULL: no such
	 * one. Without it: by name, the first one is the usual one. */
	const struct tn_target *(*find)(const char *isa);
	/* A few words for `tenon list targets`. */
	void (*describe)(const struct tn_target *target, struct tn_buf *out);
	/* Whether this computer runs code of the instruction set; if not, why,
	 * "this CPU lacks AVX2". NULL: every computer does. */
	bool (*runs)(const char *isa, struct tn_buf *why);
	const char *elsewhere;	/* the way out if not */
	/* Words for the compiler that choose the target; or NULL. */
	const char *(*flags)(const struct tn_target *target);
	const struct tn_build *native, *emulated;	/* or NULL: none */
	/* Emits `entry` under `name` (any text; made an identifier). Reports to
	 * the module's sink. `out` is fresh memory; tn_emission_fini is due in
	 * any case. TN_UNSUPPORTED, TN_BAD_INPUT (a weight without data),
	 * TN_IO (memory). */
	enum tn_status (*emit)(const struct tn_module *module,
			       const struct tn_fn *entry, const char *name,
			       const struct tn_target *target,
			       struct tn_emission *out);
	const void *data;	/* of the back end itself */
};

#define BACKEND(id) extern const struct tn_backend tn_backend_##id;
#include "backends/backends.def"
#undef BACKEND

extern const struct tn_backend *const tn_backends[];
extern const int tn_nbackends;

#endif
