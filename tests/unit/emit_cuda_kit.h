/*
 * Tools of test_emit_cuda.c: a text is compiled for CUDA, built with the
 * stand-in by several compilers, run, and compared with the interpreter.
 */
#ifndef TN_TEST_EMIT_CUDA_KIT_H
#define TN_TEST_EMIT_CUDA_KIT_H

#include <stdbool.h>
#include <stdint.h>

#include "backends/cuda/cuda.h"
#include "base/arena.h"
#include "base/intern.h"
#include "grammar/elaborate.h"

/* A text read and elaborated. */
struct cuda_module {
	struct tn_intern names;
	struct tn_sink sink;
	struct tn_arena arena;
	struct tn_elab *elab;
	struct tn_module *module;
	struct tn_fn *fn;
};

void cuda_read(struct cuda_module *m, const char *text);
/* Takes it through the pipeline to placed kernels. */
void cuda_lower(struct cuda_module *m, const char *arch, bool optimise);
void cuda_close(struct cuda_module *m);

struct cuda_case {
	const char *name;
	const char *text;	/* without the header `tenon 1.0;` */
	const char *dims;	/* "B=5 N=7", sizes of the inputs */
	double tolerance;	/* relative; 0: the same bits, NaN alike */
	int range;		/* integers lie in 0..range; 0: 0..7; -1: all
				 * inputs hold special values */
	uint32_t flags;		/* what the run must raise */
};

/* Around a group: the objects of the stand-in, compiled once. */
int cuda_setup(void **state);
int cuda_teardown(void **state);

/* Runs the case with each compiler, passes on and off. */
void cuda_check(const struct cuda_case *c);
/* Compiles the kernels with nvcc for both GPUs; false: there is no nvcc. */
bool cuda_nvcc(const struct cuda_case *c);
/* Emission must refuse the text with E0906 and this message. */
void cuda_refuses(const char *text, const char *message);
/* The text of file `ending` of what is emitted; to be freed. */
char *cuda_text(const char *text, const char *ending);

#endif
