/*
 * Fields of protocol buffers ("Protocol Buffers: Encoding", developers.google
 * .com): a varint of number and type, then a varint, 4 or 8 bytes, or a length
 * and so many bytes. Groups, which nobody writes, are refused.
 */
#include "importers/onnx/wire.h"

#include <string.h>

struct wire wire_of(const void *data, size_t size)
{
	struct wire wire = { data, data };

	if (size)
		wire.end = wire.at + size;
	return wire;
}

size_t wire_size(const struct wire *wire)
{
	return (size_t)(wire->end - wire->at);
}

bool wire_varint(struct wire *wire, uint64_t *value)
{
	uint64_t bits = 0;
	int shift;

	for (shift = 0; shift < 70 && wire->at < wire->end; shift += 7) {
		unsigned char byte = *wire->at++;

		if (shift < 64)
			bits |= (uint64_t)(byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		*value = bits;
		return true;
	}
	return false;
}

/* `size` bytes, the least significant first. */
static bool fixed(struct wire *wire, size_t size, uint64_t *value)
{
	size_t i;

	if (wire_size(wire) < size)
		return false;
	*value = 0;
	for (i = 0; i < size; i++)
		*value |= (uint64_t)wire->at[i] << (8 * i);
	wire->at += size;
	return true;
}

static bool bytes(struct wire *wire, struct wire *out)
{
	uint64_t size;

	if (!wire_varint(wire, &size) || size > wire_size(wire))
		return false;
	out->at = wire->at;
	wire->at += size;
	out->end = wire->at;
	return true;
}

static bool read_value(struct wire *wire, struct wire_field *field)
{
	switch (field->type) {
	case WIRE_VARINT:
		return wire_varint(wire, &field->value);
	case WIRE_64:
		return fixed(wire, 8, &field->value);
	case WIRE_BYTES:
		return bytes(wire, &field->bytes);
	case WIRE_32:
		return fixed(wire, 4, &field->value);
	}
	return false;
}

bool wire_next(struct wire *wire, struct wire_field *field, bool *bad)
{
	uint64_t key;

	if (wire->at >= wire->end)
		return false;
	memset(field, 0, sizeof(*field));
	if (wire_varint(wire, &key) && key >> 3 && key >> 3 < 1u << 29) {
		field->number = (uint32_t)(key >> 3);
		field->type = (enum wire_type)(key & 7);
		if (read_value(wire, field))
			return true;
	}
	*bad = true;
	return false;
}
