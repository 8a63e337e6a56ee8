/* The handlers that onnx.def names. */
#ifndef TN_IMPORTERS_ONNX_TABLE_H
#define TN_IMPORTERS_ONNX_TABLE_H

#include "importers/onnx/onnx.h"

#define TEXT(domain, op, since, text)
#define NO(domain, op, why)
#define DO(domain, op, since, handler) void tn_onnx_do_##handler(struct tn_onnx *n);
#include "importers/onnx/onnx.def"
#undef TEXT
#undef DO
#undef NO

#endif
