/*
 * A mutator for libFuzzer that keeps protocol buffers whole: it goes down to
 * one field, changes that, and writes the lengths of all around it anew. What
 * it makes is read as a model far more often than bytes changed at random are.
 *
 * A field of bytes is taken for a message if it reads as one.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
			       unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na,
				 const uint8_t *b, size_t nb, uint8_t *out,
				 size_t most, unsigned seed);

#define MOST_FIELDS 512
#define MOST_DEPTH 24
#define MOST_BYTES (1 << 20)

struct field {
	const uint8_t *at;	/* of the key */
	size_t size;		/* with the key */
	const uint8_t *body;	/* of a field of bytes; else NULL */
	size_t length;
	uint64_t key;
};

/* ---- Reading and writing ---------------------------------------------------- */

static size_t read_varint(const uint8_t *at, size_t size, uint64_t *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < size && i < 10; i++) {
		if (i < 9 || at[i] < 2)
			*value |= (uint64_t)(at[i] & 0x7f) << (7 * i);
		if (!(at[i] & 0x80))
			return i + 1;
	}
	return 0;
}

static size_t write_varint(uint8_t *at, uint64_t value)
{
	size_t n = 0;

	for (; value > 0x7f; value >>= 7)
		at[n++] = (uint8_t)(value | 0x80);
	at[n++] = (uint8_t)value;
	return n;
}

/* The next field; false: the bytes are none. */
static bool next(const uint8_t *at, size_t size, struct field *field)
{
	uint64_t length = 0;
	size_t n = read_varint(at, size, &field->key), more = 0;

	field->at = at;
	field->body = NULL;
	if (!n || !(field->key >> 3) || field->key >> 3 > 100)
		return false;
	switch (field->key & 7) {
	case 0:
		more = read_varint(at + n, size - n, &length);
		if (!more)
			return false;
		break;
	case 1:
		more = 8;
		break;
	case 5:
		more = 4;
		break;
	case 2:
		more = read_varint(at + n, size - n, &length);
		if (!more || length > size - n - more)
			return false;
		field->body = at + n + more;
		field->length = (size_t)length;
		more += (size_t)length;
		break;
	default:
		return false;
	}
	field->size = n + more;
	return field->size <= size;
}

/* The fields of a message; -1: it is none, or too long. */
static int split(const uint8_t *at, size_t size, struct field *fields)
{
	int n = 0;

	while (size) {
		if (n == MOST_FIELDS || !next(at, size, &fields[n]))
			return -1;
		at += fields[n].size;
		size -= fields[n].size;
		n++;
	}
	return n;
}

static size_t put(uint8_t *out, const void *from, size_t size)
{
	memcpy(out, from, size);
	return size;
}

static size_t put_bytes(uint8_t *out, uint64_t key, const uint8_t *body,
			size_t length)
{
	size_t n = write_varint(out, key);

	n += write_varint(out + n, length);
	memmove(out + n, body, length);
	return n + length;
}

/* ---- Changes ------------------------------------------------------------------ */

/* Numbers at which sizes, axes and types go wrong. */
static uint64_t odd_number(uint64_t old)
{
	static const uint64_t odd[] = {
		0, 1, 2, 3, 7, 16, 17, 64, 65, 255, 256, 4096, 65536,
		INT32_MAX, UINT64_C(1) << 31, UINT64_C(1) << 32,
		INT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 62
	};
	size_t n = sizeof(odd) / sizeof(*odd);

	switch (rand() % 4) {
	case 0:
		return odd[(size_t)rand() % n];
	case 1:
		return (uint64_t)0 - odd[(size_t)rand() % n];
	case 2:
		return old + 1;
	default:
		return (uint64_t)rand() % 32;
	}
}

/* The field with other contents. */
static size_t change(const struct field *field, uint8_t *out)
{
	uint64_t value;
	size_t n, length;
	uint8_t *copy;

	if (field->body) {
		copy = malloc(field->length + 64);
		if (!copy)
			return put(out, field->at, field->size);
		memcpy(copy, field->body, field->length);
		length = LLVMFuzzerMutate(copy, field->length,
					  field->length + 64);
		n = put_bytes(out, field->key, copy, length);
		free(copy);
		return n;
	}
	n = write_varint(out, field->key);
	if ((field->key & 7) == 0) {
		read_varint(field->at + n, field->size - n, &value);
		return n + write_varint(out + n, odd_number(value));
	}
	n = put(out, field->at, field->size);
	out[n - 1 - (size_t)rand() % 4] = (uint8_t)rand();
	return n;
}

static size_t message(const uint8_t *at, size_t size, uint8_t *out, int depth);

/* A chosen field: what lies in it is changed, or it is. */
static size_t enter(const struct field *field, uint8_t *out, int depth)
{
	struct field *inner = malloc(MOST_FIELDS * sizeof(*inner));
	size_t n, length;
	uint8_t *body;

	n = 0;
	if (inner && field->body && field->length && depth < MOST_DEPTH &&
	    rand() % 8 && split(field->body, field->length, inner) > 0) {
		body = malloc(field->length * 2 + 4096);
		if (body) {
			length = message(field->body, field->length, body,
					 depth + 1);
			n = put_bytes(out, field->key, body, length);
			free(body);
		}
	}
	free(inner);
	return n ? n : change(field, out);
}

/* One field of the message goes, comes twice, changes place, number or
 * contents. */
static size_t message(const uint8_t *at, size_t size, uint8_t *out, int depth)
{
	struct field *fields = malloc(MOST_FIELDS * sizeof(*fields)), swap;
	int n = fields ? split(at, size, fields) : -1, i, pick, other, how;
	size_t len = 0;

	if (n <= 0) {
		free(fields);
		return put(out, at, size);
	}
	pick = rand() % n;
	other = rand() % n;
	how = rand() % 16;
	if (how == 0) {
		swap = fields[pick];
		fields[pick] = fields[other];
		fields[other] = swap;
	}
	for (i = 0; i < n; i++) {
		if (i == pick && how == 1)
			continue;
		if (i == pick && how > 3)
			len += enter(&fields[i], out + len, depth);
		else
			len += put(out + len, fields[i].at, fields[i].size);
		if (i == pick && how == 2)
			len += put(out + len, fields[other].at,
				   fields[other].size);
		if (i == pick && how == 3 && fields[i].body)
			len += put_bytes(out + len, fields[other].key & ~7u |
					 2u, fields[i].body,
					 fields[i].length);
	}
	free(fields);
	return len;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most,
			       unsigned seed)
{
	uint8_t *out;
	size_t n;

	srand(seed);
	if (size > MOST_BYTES || rand() % 10 == 0)
		return LLVMFuzzerMutate(data, size, most);
	out = malloc(size * 2 + (MOST_DEPTH + 1) * 4096);
	if (!out)
		return size;
	n = message(data, size, out, 0);
	if (n <= most)
		memcpy(data, out, n);
	free(out);
	return n <= most ? n : size;
}

/* A field of one model in the other: models are messages, and messages that
 * stand behind each other are one. */
size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t na,
				 const uint8_t *b, size_t nb, uint8_t *out,
				 size_t most, unsigned seed)
{
	struct field *fields = malloc(MOST_FIELDS * sizeof(*fields));
	int n = fields ? split(b, nb, fields) : -1, pick;
	size_t len = na < most ? na : most;

	memcpy(out, a, len);
	if (n > 0) {
		pick = (int)(seed % (unsigned)n);
		if (fields[pick].size <= most - len)
			len += put(out + len, fields[pick].at,
				   fields[pick].size);
	}
	free(fields);
	return len;
}
