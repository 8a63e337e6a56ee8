/*
 * The reader of messages: each is a table of fields, walked with the wire
 * format; what a table does not know is passed over. See schema.h.
 */
#include "importers/onnx/schema.h"

#include <string.h>

#include "base/utf8.h"

enum kind {
	KIND_INT, KIND_FLOAT, KIND_TEXT, KIND_BYTES, KIND_MESSAGE, KIND_INTS,
	KIND_FLOATS, KIND_DOUBLES, KIND_TEXTS, KIND_BYTESES, KIND_MESSAGES
};

struct row {
	uint32_t number;
	enum kind kind;
	size_t offset;
	enum onnx_message of;
	const char *name;
};

#define ROW(message, number, kind, member, of) \
	{ number, KIND_##kind, offsetof(struct onnx_##message, member), \
	  ONNX_##of, #message "." #member },
#define COUNT(message, number, kind, member, of) + 1

static const struct row model_rows[] = { ONNX_FIELDS_model(ROW) };
static const struct row opset_rows[] = { ONNX_FIELDS_opset(ROW) };
static const struct row graph_rows[] = { ONNX_FIELDS_graph(ROW) };
static const struct row node_rows[] = { ONNX_FIELDS_node(ROW) };
static const struct row attr_rows[] = { ONNX_FIELDS_attr(ROW) };
static const struct row tensor_rows[] = { ONNX_FIELDS_tensor(ROW) };
static const struct row sparse_rows[] = { ONNX_FIELDS_sparse(ROW) };
static const struct row entry_rows[] = { ONNX_FIELDS_entry(ROW) };
static const struct row info_rows[] = { ONNX_FIELDS_info(ROW) };
static const struct row type_rows[] = { ONNX_FIELDS_type(ROW) };
static const struct row inner_rows[] = { ONNX_FIELDS_inner(ROW) };
static const struct row tensortype_rows[] = { ONNX_FIELDS_tensortype(ROW) };
static const struct row shape_rows[] = { ONNX_FIELDS_shape(ROW) };
static const struct row dim_rows[] = { ONNX_FIELDS_dim(ROW) };
static const struct row function_rows[] = { ONNX_FIELDS_function(ROW) };

struct table {
	const struct row *rows;
	size_t len, size;
};

#define TABLE(message) [ONNX_##message] = { \
	message##_rows, 0 ONNX_FIELDS_##message(COUNT), \
	sizeof(struct onnx_##message) }

static const struct table tables[ONNX_MESSAGES] = {
	TABLE(model),
	TABLE(opset),
	TABLE(graph),
	TABLE(node),
	TABLE(attr),
	TABLE(tensor),
	TABLE(sparse),
	TABLE(entry),
	TABLE(info),
	TABLE(type),
	TABLE(inner),
	TABLE(tensortype),
	TABLE(shape),
	TABLE(dim),
	TABLE(function),
};

/* A list of any kind; all of schema.h look like this. */
struct list {
	void *at;
	size_t len, cap;
};

struct reader {
	struct tn_arena *arena;
	struct tn_buf *why;
	int depth;
};

static bool fail(struct reader *r, const char *what, const char *name)
{
	if (!r->why->len)
		tn_buf_putf(r->why, "%s%s%s", name ? name : "", name ? ": " : "",
			    what);
	return false;
}

/* Room for one more element of `size` bytes in a list; NULL after a report. */
static void *push(struct reader *r, void *member, size_t size)
{
	struct list list;
	size_t cap;
	void *at;

	memcpy(&list, member, sizeof(list));
	cap = list.cap ? list.cap * 2 : 4;
	if (list.len == list.cap) {
		at = tn_arena_array(r->arena, cap, size);
		if (!at || r->arena->used > ONNX_MEMORY) {
			fail(r, "out of memory", NULL);
			return NULL;
		}
		if (list.len)
			memcpy(at, list.at, list.len * size);
		list.at = at;
		list.cap = cap;
	}
	list.len++;
	memcpy(member, &list, sizeof(list));
	return (char *)list.at + (list.len - 1) * size;
}

static bool put_bits(struct reader *r, void *list, enum kind kind,
		     uint64_t bits)
{
	uint32_t low = (uint32_t)bits;
	void *at = push(r, list, kind == KIND_FLOATS ? 4 : 8);

	if (at && kind == KIND_FLOATS)
		memcpy(at, &low, 4);
	else if (at)
		memcpy(at, &bits, 8);
	return at != NULL;
}

/* The numbers of a list, of which `wire` holds as many as it has room for. */
static bool packed(struct reader *r, void *list, const struct row *row,
		   struct wire wire)
{
	size_t size = row->kind == KIND_FLOATS ? 4 : 8;
	uint64_t bits;

	while (wire.at < wire.end) {
		bits = 0;
		if (row->kind == KIND_INTS) {
			if (!wire_varint(&wire, &bits))
				return fail(r, "malformed number", row->name);
		} else if (wire_size(&wire) < size) {
			return fail(r, "not whole numbers", row->name);
		} else {
			memcpy(&bits, wire.at, size);
			wire.at += size;
		}
		if (!put_bits(r, list, row->kind, bits))
			return false;
	}
	return true;
}

static bool is_text(struct wire wire)
{
	const char *at = (const char *)wire.at;
	size_t left = wire_size(&wire), n;
	uint32_t point;

	for (; left; at += n, left -= n) {
		n = tn_utf8_next(at, left, &point);
		if (!point || point == TN_UTF8_BAD)
			return false;
	}
	return true;
}

static const char *text(struct reader *r, const struct row *row,
			struct wire wire)
{
	size_t size = wire_size(&wire);
	const char *copy;

	if (!is_text(wire)) {
		fail(r, "a name that is no UTF-8 text", row->name);
		return NULL;
	}
	copy = tn_arena_strndup(r->arena, size ? (const char *)wire.at : "",
				size);
	if (!copy || r->arena->used > ONNX_MEMORY)
		fail(r, "out of memory", NULL);
	return copy;
}

static bool read_message(struct reader *r, enum onnx_message what,
			 struct wire wire, void *out);

static bool read_one(struct reader *r, const struct row *row, struct wire wire,
		     void *member)
{
	void *one;

	memcpy(&one, member, sizeof(one));
	if (!one)
		one = tn_arena_alloc(r->arena, tables[row->of].size);
	if (!one || r->arena->used > ONNX_MEMORY)
		return fail(r, "out of memory", NULL);
	memcpy(member, &one, sizeof(one));
	return read_message(r, row->of, wire, one);
}

/* A field that has bytes. */
static bool read_bytes(struct reader *r, const struct row *row,
		       struct wire wire, void *member)
{
	struct onnx_bytes *bytes = member;
	const char *name;
	void *at;

	switch (row->kind) {
	case KIND_BYTES:
		bytes->v = wire;
		bytes->is_set = true;
		return true;
	case KIND_TEXT:
		name = text(r, row, wire);
		memcpy(member, &name, sizeof(name));
		return name != NULL;
	case KIND_TEXTS:
		name = text(r, row, wire);
		at = name ? push(r, member, sizeof(name)) : NULL;
		if (at)
			memcpy(at, &name, sizeof(name));
		return at != NULL;
	case KIND_BYTESES:
		at = push(r, member, sizeof(wire));
		if (at)
			memcpy(at, &wire, sizeof(wire));
		return at != NULL;
	case KIND_MESSAGE:
		return read_one(r, row, wire, member);
	case KIND_MESSAGES:
		at = push(r, member, tables[row->of].size);
		return at && read_message(r, row->of, wire, at);
	case KIND_INTS:
	case KIND_FLOATS:
	case KIND_DOUBLES:
		return packed(r, member, row, wire);
	case KIND_INT:
	case KIND_FLOAT:
		break;
	}
	return fail(r, "bytes where a number is due", row->name);
}

/* A field that is a number. */
static bool read_bits(struct reader *r, const struct row *row,
		      const struct wire_field *field, void *member)
{
	struct onnx_float *real = member;
	struct onnx_int *whole = member;
	uint32_t low = (uint32_t)field->value;
	bool is_int = field->type == WIRE_VARINT;

	switch (row->kind) {
	case KIND_INT:
		whole->v = (int64_t)field->value;
		whole->is_set = true;
		return is_int || fail(r, "a float where an integer is due",
				      row->name);
	case KIND_FLOAT:
		memcpy(&real->v, &low, 4);
		real->is_set = true;
		return field->type == WIRE_32 ||
		       fail(r, "not a float of 32 bits", row->name);
	case KIND_INTS:
		return is_int ? put_bits(r, member, row->kind, field->value) :
			fail(r, "not an integer", row->name);
	case KIND_FLOATS:
		return field->type == WIRE_32 ?
			put_bits(r, member, row->kind, field->value) :
			fail(r, "not a float of 32 bits", row->name);
	case KIND_DOUBLES:
		return field->type == WIRE_64 ?
			put_bits(r, member, row->kind, field->value) :
			fail(r, "not a float of 64 bits", row->name);
	case KIND_TEXT:
	case KIND_TEXTS:
	case KIND_BYTES:
	case KIND_BYTESES:
	case KIND_MESSAGE:
	case KIND_MESSAGES:
		break;
	}
	return fail(r, "a number where bytes are due", row->name);
}

static const struct row *find(const struct table *table, uint32_t number)
{
	size_t i;

	for (i = 0; i < table->len; i++)
		if (table->rows[i].number == number)
			return &table->rows[i];
	return NULL;
}

static bool read_message(struct reader *r, enum onnx_message what,
			 struct wire wire, void *out)
{
	const struct table *table = &tables[what];
	struct wire_field field;
	const struct row *row;
	bool bad = false, ok = true;
	void *member;

	if (r->depth == ONNX_NESTING)
		return fail(r, "messages nest too deeply", NULL);
	r->depth++;
	while (ok && wire_next(&wire, &field, &bad)) {
		row = find(table, field.number);
		if (!row)
			continue;
		member = (char *)out + row->offset;
		ok = field.type == WIRE_BYTES ?
			read_bytes(r, row, field.bytes, member) :
			read_bits(r, row, &field, member);
	}
	r->depth--;
	if (bad)
		return fail(r, "malformed field", table->rows[0].name);
	return ok;
}

bool onnx_schema_read(struct tn_arena *arena, enum onnx_message what,
		      struct wire wire, void *out, struct tn_buf *why)
{
	struct reader r = { .arena = arena, .why = why };

	return read_message(&r, what, wire, out);
}
