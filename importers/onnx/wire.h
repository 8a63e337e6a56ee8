/*
 * The wire format of protocol buffers, read where it lies: fields one after
 * the other, each with a number and a value. Nothing is copied.
 */
#ifndef TN_IMPORTERS_ONNX_WIRE_H
#define TN_IMPORTERS_ONNX_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A stretch of the file. */
struct wire {
	const unsigned char *at, *end;
};

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_64 = 1,
	WIRE_BYTES = 2,
	WIRE_32 = 5
};

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;		/* VARINT, 64, 32: the bits */
	struct wire bytes;	/* BYTES */
};

struct wire wire_of(const void *data, size_t size);
size_t wire_size(const struct wire *wire);
/* The next field. False at the end, and where the bytes are no field: *bad is
 * set then. */
bool wire_next(struct wire *wire, struct wire_field *field, bool *bad);
/* The next number of a packed list. */
bool wire_varint(struct wire *wire, uint64_t *value);

#endif
