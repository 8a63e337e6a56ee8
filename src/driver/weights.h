/*
 * Weights: from files beside the text, or random.
 *
 * Random ones are uniform, by the generator of the operator `random`, from the
 * seed and the weight's name: in [-s, s) with s = sqrt(3 / fan) for tensors of
 * two axes and more, fan being the elements for one entry of the larger of the
 * first and last axis; in [-1, 1) for vectors; in [0.5, 1.5) if the name holds
 * "var"; whole numbers from -8 to 7, or 0 to 7 if unsigned.
 */
#ifndef TN_DRIVER_WEIGHTS_H
#define TN_DRIVER_WEIGHTS_H

#include "driver/module.h"

struct tn_weights_options {
	bool random;		/* whatever the files hold */
	int64_t seed;
	bool headers_only;	/* check, and leave data alone */
	bool absent_ok;		/* a missing file is a warning */
};

/* Gives every weight its data, or only checks. Reports at declarations. */
enum tn_status tn_weights_load(struct tenon_module *module,
			       const struct tn_weights_options *options);
/* The same as the context's settings say. */
enum tn_status tn_weights_by_settings(struct tenon_module *module);
/* Computes the derived weights that have no data yet, as the interpreter does,
 * of sources that have. Reports E0608 at the declaration. (derive.c) */
enum tn_status tn_weights_derive(struct tenon_module *module);
/* Copies data that came with the graph and are not aligned for their elements,
 * as in the files of other systems. False: no memory. (derive.c) */
bool tn_weights_align(struct tenon_module *module);
void tn_weights_close(struct tenon_module *module);
/* Fills a tensor uniformly from [lo, hi). */
void tn_weights_fill(struct tn_tensor *tensor, uint64_t seed, double lo,
		     double hi);
/* Cuts a range to that of an integer type; of f8e8m0 to what is positive. */
void tn_weights_limit(enum tn_dtype dtype, double *lo, double *hi);
/* For the elaborator: the tensor that `load` names in source `from`. */
bool tn_weights_read(void *module, const char *file, const char *key,
		     uint32_t from, struct tn_tensor *out);

#endif
