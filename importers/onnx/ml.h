/* What the handlers of ai.onnx.ml share: long attributes, and tables of them
 * in the graph. */
#ifndef TN_IMPORTERS_ONNX_ML_H
#define TN_IMPORTERS_ONNX_ML_H

#include "importers/onnx/onnx.h"

struct tn_ml_ints { int64_t count; const int64_t *at; };
struct tn_ml_reals { int64_t count; const double *at; };

/* `count` zeroed objects, until the import ends, at least one; NULL: out of
 * memory, the node has failed. */
void *tn_ml_room(struct tn_onnx *n, int64_t count, size_t size);
/* An attribute of any length, a list or a tensor; none: count 0. False after
 * a report. Reals are also found as NAME_as_tensor. */
bool tn_ml_read_ints(struct tn_onnx *n, const char *name,
		     struct tn_ml_ints *out);
bool tn_ml_read_reals(struct tn_onnx *n, const char *name,
		      struct tn_ml_reals *out);

/* Literals or weights [count], [rows, columns], called after result 0 and
 * `name`; NULL after a report. */
struct tn_value *tn_ml_ints(struct tn_onnx *n, const char *name,
			    enum tn_dtype dtype, int64_t count,
			    const int64_t *at);
struct tn_value *tn_ml_vector(struct tn_onnx *n, const char *name,
			      enum tn_dtype dtype, int64_t count,
			      const double *at);
struct tn_value *tn_ml_matrix(struct tn_onnx *n, const char *name,
			      enum tn_dtype dtype, int64_t rows,
			      int64_t columns, const double *at);

/* Input 0 as floats [N, F]. */
struct tn_value *tn_ml_rows(struct tn_onnx *n);
/* The labels of classes, i64 [count]; strings are refused. */
struct tn_value *tn_ml_labels(struct tn_onnx *n, const char *ints,
			      const char *strings, int64_t *count);
/* post_transform of scores [N, targets]. */
struct tn_value *tn_ml_transform(struct tn_onnx *n, struct tn_value *scores,
				 const char *post, int64_t targets);

#endif
