/*
 * The side file of weights: which values it holds, where, and its bytes.
 *
 * Data are borrowed from the module and streamed, never copied: files may be
 * larger than memory. What has a layout is streamed in its order, so that
 * weights are transposed and packed once, when they are written.
 */
#include "backends/emit_weights.h"

#include <string.h>

#include "base/num.h"
#include "base/sha256.h"
#include "ir/layout.h"

static bool add_part(struct tn_weights *weights, const struct tn_value *value,
		     const struct tn_tensor *tensor)
{
	struct tn_weights_part *part = tn_vec_push(&weights->parts);
	int64_t end;

	if (!part)
		return false;
	part->value = value;
	part->tensor = tensor;
	part->bytes = tn_tensor_bytes(tensor);
	part->offset = weights->size ? weights->size : TN_WEIGHTS_ALIGN;
	if (part->bytes < 0 ||
	    !tn_num_add(part->offset, part->bytes, &end) ||
	    !tn_num_align(end, TN_WEIGHTS_ALIGN, &weights->size))
		return false;
	return tn_map_set(&weights->offsets, value,
			  (void *)(uintptr_t)weights->parts.len);
}

/* All operands of the block and its regions. Regions nest little. */
static bool note_used(const struct tn_block *block, struct tn_map *used)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		for (i = 0; i < op->nin; i++)
			if (!tn_map_set(used, tn_graph_in(op, i), used))
				return false;
		for (i = 0; i < op->nregions; i++)
			if (!note_used(op->regions[i], used))
				return false;
	}
	return true;
}

static bool add_constants(struct tn_weights *weights,
			  const struct tn_block *block,
			  const struct tn_map *used)
{
	const struct tn_op *op;
	int i;

	for (op = block->first; op; op = op->next) {
		if (op->code == TN_OP_const &&
		    tn_map_has(used, op->out[0]) &&
		    !add_part(weights, op->out[0], op->literal))
			return false;
		for (i = 0; i < op->nregions; i++)
			if (!add_constants(weights, op->regions[i], used))
				return false;
	}
	return true;
}

static bool add_weights(struct tn_weights *weights,
			const struct tn_module *module,
			const struct tn_map *used)
{
	const struct tn_weight *weight;
	struct tn_diag *diag;
	size_t i;

	for (i = 0; i < module->weights.len; i++) {
		weight = tn_vec_ptr(&module->weights, i);
		if (!tn_map_has(used, weight->value))
			continue;
		if (!weight->data.data && tn_tensor_bytes(&weight->data)) {
			diag = tn_diag_report(module->sink, TN_E0902,
					      weight->span,
					      "weight '%s' is not loaded",
					      weight->name);
			tn_diag_help(module->sink, diag,
				     "give it a file: `from \"FILE\"`");
			return false;
		}
		if (!add_part(weights, weight->value, &weight->data))
			return false;
	}
	return true;
}

static bool add_to_digest(void *data, const void *bytes, size_t size)
{
	tn_sha256_add(data, bytes, size);
	return true;
}

/* The bytes in the order in which the value lies. */
static bool write_part(const struct tn_weights_part *part,
		       bool (*put)(void *data, const void *bytes, size_t size),
		       void *data)
{
	const struct tn_layout *layout = part->value->layout;

	if (layout)
		return tn_layout_stream(layout, part->tensor, put, data);
	return put(data, part->tensor->data, (size_t)part->bytes);
}

/* All bytes behind the header, with the gaps. */
static bool write_parts(const struct tn_weights *weights,
			bool (*put)(void *data, const void *bytes,
				    size_t size), void *data)
{
	static const unsigned char zeros[TN_WEIGHTS_ALIGN];
	const struct tn_weights_part *part;
	int64_t end = TN_WEIGHTS_ALIGN;
	size_t i;

	for (i = 0; i < weights->parts.len; i++) {
		part = tn_vec_at(&weights->parts, i);
		if (part->offset > end &&
		    !put(data, zeros, (size_t)(part->offset - end)))
			return false;
		if (part->bytes > 0 && !write_part(part, put, data))
			return false;
		end = part->offset + part->bytes;
	}
	return weights->size <= end ||
		put(data, zeros, (size_t)(weights->size - end));
}

bool tn_weights_init(struct tn_weights *weights, const struct tn_fn *entry)
{
	struct tn_sha256 sha;
	struct tn_map used;
	bool ok;

	memset(weights, 0, sizeof(*weights));
	tn_vec_init(&weights->parts, sizeof(struct tn_weights_part), NULL);
	tn_map_init_ptr(&weights->offsets);
	tn_map_init_ptr(&used);
	ok = note_used(entry->body, &used) &&
		add_weights(weights, entry->module, &used) &&
		add_constants(weights, entry->body, &used);
	tn_map_fini(&used);
	if (ok) {
		tn_sha256_init(&sha);
		ok = write_parts(weights, add_to_digest, &sha);
		tn_sha256_end(&sha, weights->digest);
	}
	return ok;
}

void tn_weights_fini(struct tn_weights *weights)
{
	tn_vec_fini(&weights->parts);
	tn_map_fini(&weights->offsets);
}

int64_t tn_weights_offset(const struct tn_weights *weights,
			  const struct tn_value *value)
{
	uintptr_t number = (uintptr_t)tn_map_find(&weights->offsets, value);
	const struct tn_weights_part *part;

	if (!number)
		return -1;
	part = tn_vec_at(&weights->parts, number - 1);
	return part->offset;
}

bool tn_weights_write(const struct tn_weights *weights,
		      bool (*put)(void *data, const void *bytes, size_t size),
		      void *data)
{
	unsigned char header[TN_WEIGHTS_ALIGN] = { 0 };
	int i;

	memcpy(header, "TNWGHT1", 8);
	for (i = 0; i < 8; i++)
		header[8 + i] = (unsigned char)
			((uint64_t)weights->size >> 8 * i);
	memcpy(header + 16, weights->digest, sizeof(weights->digest));
	return put(data, header, sizeof(header)) &&
		write_parts(weights, put, data);
}
