/* What the two files of kernel elaboration share. */
#ifndef TN_GRAMMAR_ELAB_KERNEL_H
#define TN_GRAMMAR_ELAB_KERNEL_H

#include "grammar/elab.h"
#include "ir/kernel.h"

/* A name in reach: a variable or a buffer. */
struct kname {
	const char *name;
	struct tn_span span;
	struct tn_kvar *var;
	struct tn_kbuf *buf;
};

struct kctx {
	struct tn_elab *e;
	struct frame frame;		/* for sizes and types */
	struct tn_kernel *kernel;
	struct tn_map names;		/* name -> struct kname * */
	struct tn_vec bound;		/* struct kname *, open ones */
	struct tn_map places;		/* load, store -> its struct tn_expr */
};

/* An expression; `soft`: a number without type, which adopts one. NULL
 * expression: failed and reported. */
struct kv {
	const struct tn_kexpr *e;
	bool soft;
	struct tn_span span;
};

struct kv elab_kexpr(struct kctx *k, const struct tn_expr *expr);
/* As a value of the type; NULL after a report. */
const struct tn_kexpr *elab_kexpr_as(struct kctx *k,
				     const struct tn_expr *expr,
				     enum tn_dtype dtype);
/* The literal in another type, or the value itself if it has that type. */
const struct tn_kexpr *elab_kexpr_retype(struct kctx *k, const struct kv *kv,
					 enum tn_dtype dtype);
/* Indices of an access, i64 each; false after a report. */
bool elab_kexpr_index(struct kctx *k, const struct tn_expr *expr,
		      const struct tn_kbuf *buf,
		      const struct tn_kexpr *out[TN_MAX_RANK]);

/* Reports indices that are not inside of their buffers, or not proved so. */
void elab_kernel_check(struct kctx *k);

#endif
