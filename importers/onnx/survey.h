/* A look at all nodes before the import: a listing, and what is unknown. */
#ifndef TN_IMPORTERS_ONNX_SURVEY_H
#define TN_IMPORTERS_ONNX_SURVEY_H

#include "importers/onnx/onnx.h"

/* Registers the listing, notes each node's line, reports E1003. */
void tn_onnx_survey(struct tn_onnx_job *job);

#endif
