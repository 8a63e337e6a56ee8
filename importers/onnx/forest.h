/* Ensembles of trees, as they are read from the attributes of a node. */
#ifndef TN_IMPORTERS_ONNX_FOREST_H
#define TN_IMPORTERS_ONNX_FOREST_H

#include "importers/onnx/ml.h"

/* What a node asks of its feature. */
enum tn_forest_mode {
	FOREST_LEQ, FOREST_LT, FOREST_GEQ, FOREST_GT, FOREST_EQ, FOREST_NE,
	FOREST_MEMBER,		/* not after reading: a chain of EQ */
	FOREST_LEAF
};

/* The nodes, leaves first. */
struct tn_forest {
	struct tn_onnx *n;
	int64_t count, leaves, roots, targets;
	int64_t *root, *feature, *yes, *no;
	double *bound;
	unsigned char *how, *missing;
	double *weight;			/* [leaves, targets] */
	bool *is_set;			/* of each weight */
	bool is_negative;		/* one of the weights is */
	int depth;
};

/* Reads the nodes of the form with numbers of trees, and the weights of leaves
 * by the attributes PREFIX_treeids and so on; `targets` is set. */
bool tn_forest_older(struct tn_forest *f, const char *prefix);
/* Reads those of the form with leaves apart. */
bool tn_forest_newer(struct tn_forest *f);
/* The depth; false after a report: a feature that x may not have, no tree, or
 * nodes in a circle. */
bool tn_forest_check(struct tn_forest *f, const struct tn_value *x);

#endif
