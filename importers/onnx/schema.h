/*
 * Messages of ONNX in memory: structs and reader come from one list of fields.
 * Data of tensors stays in the file; all else is copied into an arena.
 */
#ifndef TN_IMPORTERS_ONNX_SCHEMA_H
#define TN_IMPORTERS_ONNX_SCHEMA_H

#include "base/arena.h"
#include "base/buf.h"
#include "importers/onnx/wire.h"

/* Messages nest at most so deep. */
#define ONNX_NESTING 64
/* All that is not data of tensors takes no more. */
#define ONNX_MEMORY ((size_t)1 << 30)

enum onnx_message {
	ONNX_none, ONNX_model, ONNX_opset, ONNX_graph, ONNX_node, ONNX_attr,
	ONNX_tensor, ONNX_sparse, ONNX_entry, ONNX_info, ONNX_type,
	ONNX_inner, ONNX_tensortype, ONNX_shape, ONNX_dim, ONNX_function,
	ONNX_MESSAGES
};

struct onnx_int { int64_t v; bool is_set; };
struct onnx_float { float v; bool is_set; };
struct onnx_bytes { struct wire v; bool is_set; };
struct onnx_ints { int64_t *at; size_t len, cap; };
struct onnx_floats { float *at; size_t len, cap; };
struct onnx_doubles { double *at; size_t len, cap; };
struct onnx_texts { const char **at; size_t len, cap; };
struct onnx_byteses { struct wire *at; size_t len, cap; };

/*
 * The messages, as far as they are read: names and numbers are those of the
 * public schema (onnx.proto, IR version 13).
 *
 * F(message, number, kind, member, of)
 *   kind  INT a number, FLOAT 4 bytes; TEXT a name, NUL-terminated, of UTF-8;
 *         BYTES left where it lies; MESSAGE another one; INTS FLOATS DOUBLES
 *         TEXTS BYTESES MESSAGES lists of these (numbers packed or not)
 *   of    the message within, or none
 */
#define ONNX_FIELDS_model(F) \
	F(model, 1, INT, ir_version, none) \
	F(model, 2, TEXT, producer, none) \
	F(model, 7, MESSAGE, graph, graph) \
	F(model, 8, MESSAGES, opsets, opset) \
	F(model, 20, MESSAGES, training, entry) \
	F(model, 25, MESSAGES, functions, function)
#define ONNX_FIELDS_opset(F) \
	F(opset, 1, TEXT, domain, none) \
	F(opset, 2, INT, version, none)
#define ONNX_FIELDS_graph(F) \
	F(graph, 1, MESSAGES, nodes, node) \
	F(graph, 2, TEXT, name, none) \
	F(graph, 5, MESSAGES, initializers, tensor) \
	F(graph, 11, MESSAGES, inputs, info) \
	F(graph, 12, MESSAGES, outputs, info) \
	F(graph, 13, MESSAGES, infos, info) \
	F(graph, 15, MESSAGES, sparse, sparse)
#define ONNX_FIELDS_node(F) \
	F(node, 1, TEXTS, inputs, none) \
	F(node, 2, TEXTS, outputs, none) \
	F(node, 3, TEXT, name, none) \
	F(node, 4, TEXT, op, none) \
	F(node, 5, MESSAGES, attrs, attr) \
	F(node, 7, TEXT, domain, none) \
	F(node, 8, TEXT, overload, none)
#define ONNX_FIELDS_attr(F) \
	F(attr, 1, TEXT, name, none) \
	F(attr, 2, FLOAT, f, none) \
	F(attr, 3, INT, i, none) \
	F(attr, 4, BYTES, s, none) \
	F(attr, 5, MESSAGE, t, tensor) \
	F(attr, 6, MESSAGE, g, graph) \
	F(attr, 7, FLOATS, floats, none) \
	F(attr, 8, INTS, ints, none) \
	F(attr, 9, BYTESES, strings, none) \
	F(attr, 10, MESSAGES, tensors, tensor) \
	F(attr, 14, MESSAGE, tp, type) \
	F(attr, 20, INT, type, none) \
	F(attr, 21, TEXT, ref, none) \
	F(attr, 22, MESSAGE, sparse, sparse)
#define ONNX_FIELDS_tensor(F) \
	F(tensor, 1, INTS, dims, none) \
	F(tensor, 2, INT, type, none) \
	F(tensor, 3, BYTES, segment, none) \
	F(tensor, 4, FLOATS, floats, none) \
	F(tensor, 5, INTS, ints, none) \
	F(tensor, 6, BYTESES, strings, none) \
	F(tensor, 7, INTS, longs, none) \
	F(tensor, 8, TEXT, name, none) \
	F(tensor, 9, BYTES, raw, none) \
	F(tensor, 10, DOUBLES, doubles, none) \
	F(tensor, 11, INTS, ulongs, none) \
	F(tensor, 13, MESSAGES, external, entry) \
	F(tensor, 14, INT, location, none)
#define ONNX_FIELDS_sparse(F) \
	F(sparse, 1, MESSAGE, values, tensor) \
	F(sparse, 2, MESSAGE, indices, tensor) \
	F(sparse, 3, INTS, dims, none)
#define ONNX_FIELDS_entry(F) \
	F(entry, 1, TEXT, key, none) \
	F(entry, 2, TEXT, value, none)
#define ONNX_FIELDS_info(F) \
	F(info, 1, TEXT, name, none) \
	F(info, 2, MESSAGE, type, type)
#define ONNX_FIELDS_type(F) \
	F(type, 1, MESSAGE, tensor, tensortype) \
	F(type, 4, MESSAGE, sequence, inner) \
	F(type, 8, MESSAGE, sparse, tensortype) \
	F(type, 9, MESSAGE, optional, inner)
#define ONNX_FIELDS_inner(F) \
	F(inner, 1, MESSAGE, type, type)
#define ONNX_FIELDS_tensortype(F) \
	F(tensortype, 1, INT, elem, none) \
	F(tensortype, 2, MESSAGE, shape, shape)
#define ONNX_FIELDS_shape(F) \
	F(shape, 1, MESSAGES, dims, dim)
#define ONNX_FIELDS_dim(F) \
	F(dim, 1, INT, value, none) \
	F(dim, 2, TEXT, param, none)
#define ONNX_FIELDS_function(F) \
	F(function, 1, TEXT, name, none) \
	F(function, 4, TEXTS, inputs, none) \
	F(function, 5, TEXTS, outputs, none) \
	F(function, 6, TEXTS, attrs, none) \
	F(function, 7, MESSAGES, nodes, node) \
	F(function, 9, MESSAGES, opsets, opset) \
	F(function, 10, TEXT, domain, none) \
	F(function, 11, MESSAGES, defaults, attr) \
	F(function, 12, MESSAGES, infos, info) \
	F(function, 13, TEXT, overload, none)

#define ONNX_LIST(name) \
	struct onnx_##name; \
	struct onnx_##name##_list { struct onnx_##name *at; size_t len, cap; }
ONNX_LIST(opset);
ONNX_LIST(node);
ONNX_LIST(attr);
ONNX_LIST(tensor);
ONNX_LIST(sparse);
ONNX_LIST(entry);
ONNX_LIST(info);
ONNX_LIST(type);
ONNX_LIST(graph);
ONNX_LIST(inner);
ONNX_LIST(tensortype);
ONNX_LIST(shape);
ONNX_LIST(dim);
ONNX_LIST(function);
struct onnx_none;
struct onnx_none_list;

/* A member of each kind of schema.def. */
#define ONNX_KIND_INT(member, of) struct onnx_int member;
#define ONNX_KIND_FLOAT(member, of) struct onnx_float member;
#define ONNX_KIND_TEXT(member, of) const char *member;
#define ONNX_KIND_BYTES(member, of) struct onnx_bytes member;
#define ONNX_KIND_MESSAGE(member, of) struct onnx_##of *member;
#define ONNX_KIND_INTS(member, of) struct onnx_ints member;
#define ONNX_KIND_FLOATS(member, of) struct onnx_floats member;
#define ONNX_KIND_DOUBLES(member, of) struct onnx_doubles member;
#define ONNX_KIND_TEXTS(member, of) struct onnx_texts member;
#define ONNX_KIND_BYTESES(member, of) struct onnx_byteses member;
#define ONNX_KIND_MESSAGES(member, of) struct onnx_##of##_list member;

#define ONNX_MEMBER(message, number, kind, member, of) \
	ONNX_KIND_##kind(member, of)
struct onnx_model { ONNX_FIELDS_model(ONNX_MEMBER) };
struct onnx_opset { ONNX_FIELDS_opset(ONNX_MEMBER) };
struct onnx_graph { ONNX_FIELDS_graph(ONNX_MEMBER) };
struct onnx_node { ONNX_FIELDS_node(ONNX_MEMBER) };
struct onnx_attr { ONNX_FIELDS_attr(ONNX_MEMBER) };
struct onnx_tensor { ONNX_FIELDS_tensor(ONNX_MEMBER) };
struct onnx_sparse { ONNX_FIELDS_sparse(ONNX_MEMBER) };
struct onnx_entry { ONNX_FIELDS_entry(ONNX_MEMBER) };
struct onnx_info { ONNX_FIELDS_info(ONNX_MEMBER) };
struct onnx_type { ONNX_FIELDS_type(ONNX_MEMBER) };
struct onnx_inner { ONNX_FIELDS_inner(ONNX_MEMBER) };
struct onnx_tensortype { ONNX_FIELDS_tensortype(ONNX_MEMBER) };
struct onnx_shape { ONNX_FIELDS_shape(ONNX_MEMBER) };
struct onnx_dim { ONNX_FIELDS_dim(ONNX_MEMBER) };
struct onnx_function { ONNX_FIELDS_function(ONNX_MEMBER) };

/* Reads a message of kind `what` into `out`, a zeroed struct of that message.
 * False with a line of reason: malformed, nested too deeply, out of memory. */
bool onnx_schema_read(struct tn_arena *arena, enum onnx_message what,
		      struct wire wire, void *out, struct tn_buf *why);

#endif
