/*
 * Tensors of the model as ours: views of the mapped file where the bytes lie
 * as ours do, else copies; in the file or outside it; literals and weights.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "importers/onnx/onnx.h"
#include "ir/eval.h"
#include "ir/graph_edit.h"

/* Larger ones are weights. */
#define LITERAL 64

/* The place of data, in the schema. */
enum { EXTERNAL = 1 };

static bool fail(struct tn_onnx_job *job, enum tn_code code,
		 struct tn_span span, const struct onnx_tensor *from,
		 const char *what)
{
	const char *name = from->name && from->name[0] ? from->name : NULL;

	tn_diag_report(job->host->sink, code, span, "tensor%s%s%s: %s",
		       name ? " '" : "", name ? name : "", name ? "'" : "",
		       what);
	job->is_bad = true;
	return false;
}

static bool read_shape(const struct onnx_tensor *from, struct tn_tensor *out)
{
	size_t i;

	if (from->dims.len > TN_MAX_RANK)
		return false;
	out->rank = (int)from->dims.len;
	for (i = 0; i < from->dims.len; i++)
		out->shape[i] = from->dims.at[i];
	return tn_tensor_count(out) >= 0 && tn_tensor_bytes(out) >= 0;
}

/* ---- Bytes ---------------------------------------------------------------- */

/* Elements of fewer than 8 bits lie in a byte together, the lowest first. */
static bool is_packed(enum tn_dtype dtype)
{
	return tn_dtype_bits(dtype) < 8;
}

/* What a tensor takes in the model. */
static int64_t data_bytes(const struct tn_tensor *tensor)
{
	int64_t count = tn_tensor_count(tensor);
	int each = 8 / (is_packed(tensor->dtype) ?
			tn_dtype_bits(tensor->dtype) : 8);

	return each == 1 ? tn_tensor_bytes(tensor) :
		count / each + (count % each != 0);
}

static void unpack(struct tn_tensor *out, const unsigned char *from,
		   int64_t count)
{
	int bits = tn_dtype_bits(out->dtype), each = 8 / bits;
	unsigned char *to = out->data, byte;
	int64_t i;

	for (i = 0; i < count; i++) {
		byte = (unsigned char)(from[i / each] >> i % each * bits);
		tn_eval_bitcast(&byte, out->dtype, to + i);
	}
}

/* Ours are 0 or 1. */
static void make_bools(unsigned char *at, int64_t count)
{
	int64_t i;

	for (i = 0; i < count; i++)
		at[i] = at[i] != 0;
}

/* Bytes that lie as ours do stay where they are. A file does not align them: what
 * is looked into at import has to be aligned, weights are by who runs the module
 * (tn_weights_align). */
static bool may_stay(const struct tn_tensor *out, const void *at, int64_t count)
{
	size_t align = (size_t)tn_dtype_bytes(out->dtype);

	return out->dtype != TN_bool &&
	       (count > ONNX_KNOWN || (uintptr_t)at % align == 0);
}

static bool of_bytes(struct tn_onnx_job *job, const struct onnx_tensor *from,
		     struct tn_span span, struct wire raw,
		     struct tn_tensor *out)
{
	int64_t count = tn_tensor_count(out), bytes = tn_tensor_bytes(out);
	int64_t want = data_bytes(out);
	int64_t shape[TN_MAX_RANK];

	if ((int64_t)wire_size(&raw) != want)
		return fail(job, TN_E1008, span, from,
			    (int64_t)wire_size(&raw) < want ?
			    "the data is shorter than its shape" :
			    "the data is longer than its shape");
	memcpy(shape, out->shape, sizeof(shape));
	if (!is_packed(out->dtype) && may_stay(out, raw.at, count)) {
		tn_tensor_view(out, out->dtype, out->rank, shape, raw.at);
		return true;
	}
	if (!tn_tensor_init(out, out->dtype, out->rank, shape)) {
		job->module->failed = true;
		return false;
	}
	if (is_packed(out->dtype))
		unpack(out, raw.at, count);
	else if (bytes)
		memcpy(out->data, raw.at, (size_t)bytes);
	if (out->dtype == TN_bool)
		make_bools(out->data, count);
	return true;
}

/* ---- Lists of numbers ----------------------------------------------------- */

/* Element i of the list that the type is kept in. Half types, f8 and bools
 * lie as bits in the list of 32 bits. */
static bool put_element(const struct onnx_tensor *from, struct tn_tensor *out,
			int64_t i)
{
	size_t at = (size_t)i;

	switch (out->dtype) {
	case TN_f32:
		memcpy((float *)out->data + i, &from->floats.at[at], 4);
		return true;
	case TN_f64:
		memcpy((double *)out->data + i, &from->doubles.at[at], 8);
		return true;
	case TN_i64:
		((int64_t *)out->data)[i] = from->longs.at[at];
		return true;
	case TN_u64:
		((uint64_t *)out->data)[i] = (uint64_t)from->ulongs.at[at];
		return true;
	case TN_u32:
		((uint32_t *)out->data)[i] = (uint32_t)from->ulongs.at[at];
		return true;
	case TN_i32:
		((int32_t *)out->data)[i] = (int32_t)from->ints.at[at];
		return true;
	case TN_f16:
	case TN_bf16:
	case TN_i16:
	case TN_u16:
		((uint16_t *)out->data)[i] = (uint16_t)from->ints.at[at];
		return true;
	case TN_i8:
	case TN_u8:
	case TN_f8e4m3fn:
	case TN_f8e5m2:
	case TN_f8e4m3fnuz:
	case TN_f8e5m2fnuz:
	case TN_f8e8m0:
		((uint8_t *)out->data)[i] = (uint8_t)from->ints.at[at];
		return true;
	case TN_bool:
		((uint8_t *)out->data)[i] = from->ints.at[at] != 0;
		return true;
	case TN_f4e2m1:
	case TN_i4:
	case TN_u4:
	case TN_i2:
	case TN_u2:
	case TN_DTYPE_COUNT:
	case TN_ENCODED:
	case TN_POISON:
		break;
	}
	return false;
}

static size_t list_length(const struct onnx_tensor *from, enum tn_dtype dtype)
{
	if (dtype == TN_f32)
		return from->floats.len;
	if (dtype == TN_f64)
		return from->doubles.len;
	if (dtype == TN_i64)
		return from->longs.len;
	if (dtype == TN_u64 || dtype == TN_u32)
		return from->ulongs.len;
	return from->ints.len;
}

/* The list of packed elements holds several in each number's low byte. */
static bool of_packed(struct tn_onnx_job *job, const struct onnx_tensor *from,
		       struct tn_span span, struct tn_tensor *out)
{
	unsigned char *bytes;
	size_t i;

	bytes = tn_arena_alloc(&job->arena, from->ints.len + 1);
	if (!bytes) {
		job->module->failed = true;
		return false;
	}
	for (i = 0; i < from->ints.len; i++)
		bytes[i] = (unsigned char)from->ints.at[i];
	return of_bytes(job, from, span, wire_of(bytes, from->ints.len), out);
}

static bool of_list(struct tn_onnx_job *job, const struct onnx_tensor *from,
		    struct tn_span span, struct tn_tensor *out)
{
	int64_t count = tn_tensor_count(out), i;
	int64_t shape[TN_MAX_RANK];
	size_t have = list_length(from, out->dtype);

	if (is_packed(out->dtype))
		return of_packed(job, from, span, out);
	if ((int64_t)have != count)
		return fail(job, TN_E1008, span, from, (int64_t)have < count ?
			    "the data is shorter than its shape" :
			    "the data is longer than its shape");
	memcpy(shape, out->shape, sizeof(shape));
	if (!tn_tensor_init(out, out->dtype, out->rank, shape)) {
		job->module->failed = true;
		return false;
	}
	for (i = 0; i < count; i++)
		if (!put_element(from, out, i))
			return fail(job, TN_E1008, span, from,
				    "no data of this element type");
	return true;
}

/* ---- External data -------------------------------------------------------- */

static const char *entry(const struct onnx_tensor *from, const char *key)
{
	size_t i;

	for (i = 0; i < from->external.len; i++) {
		const struct onnx_entry *e = &from->external.at[i];

		if (e->key && e->value && !strcmp(e->key, key))
			return e->value;
	}
	return NULL;
}

static bool number(const char *text, uint64_t fallback, uint64_t *out)
{
	*out = fallback;
	return !text || tn_num_parse_u64(text, out);
}

static bool of_file(struct tn_onnx_job *job, const struct onnx_tensor *from,
		    struct tn_span span, struct tn_tensor *out)
{
	const char *name = entry(from, "location");
	uint64_t offset, length;
	struct tn_buf why;
	const char *data, *folder, *path;
	size_t size = 0;

	if (!name || !tn_file_is_inside(name))
		return fail(job, TN_E1009, span, from, name ?
			    "its file lies outside the model's folder" :
			    "external data without a file");
	folder = tn_file_dirname(&job->arena, job->host->path);
	path = folder ? tn_file_join(&job->arena, folder, name) : NULL;
	if (!path) {
		job->module->failed = true;
		return false;
	}
	if (!tn_file_is_beside(&job->arena, path, job->host->path))
		return fail(job, TN_E1009, span, from, "its file is a link "
			    "that leads out of the model's folder");
	tn_buf_init(&why);
	data = job->host->map(job->host->host, path, &size, &why);
	if (!data && (why.len || tn_tensor_bytes(out)))
		fail(job, TN_E1010, span, from, tn_buf_text(&why));
	tn_buf_fini(&why);
	if (!data)
		return !tn_tensor_bytes(out);
	if (!number(entry(from, "offset"), 0, &offset) ||
	    !number(entry(from, "length"), 0, &length))
		return fail(job, TN_E1010, span, from,
			    "offset and length of its data are whole numbers");
	if (offset <= size && !entry(from, "length"))
		length = size - offset;
	if (offset > size || length > size - offset)
		return fail(job, TN_E1010, span, from,
			    "its file ends before the data");
	if (!entry(from, "length") && data_bytes(out) >= 0 &&
	    (uint64_t)data_bytes(out) < length)
		length = (uint64_t)data_bytes(out);
	return of_bytes(job, from, span,
			wire_of(data + offset, (size_t)length), out);
}

bool tn_onnx_tensor(struct tn_onnx_job *job, const struct onnx_tensor *from,
		    struct tn_span span, struct tn_tensor *out)
{
	memset(out, 0, sizeof(*out));
	out->dtype = tn_onnx_dtype(from->type.v);
	if (out->dtype == TN_POISON) {
		fail(job, TN_E1015, span, from, "its element type is not "
		     "supported");
		job->is_unsupported = true;
		return false;
	}
	if (!read_shape(from, out))
		return fail(job, TN_E1008, span, from,
			    "its sizes are not those of a tensor");
	if (from->segment.is_set)
		return fail(job, TN_E1008, span, from, "data in segments");
	if (from->location.v == EXTERNAL)
		return of_file(job, from, span, out);
	if (from->raw.is_set)
		return of_bytes(job, from, span, from->raw.v, out);
	return of_list(job, from, span, out);
}

/* ---- Literals and weights ------------------------------------------------- */

static struct tn_value *no_memory(struct tn_onnx_job *job)
{
	job->module->failed = true;
	return NULL;
}

/* A name that no weight, dim or value has. */
static const char *free_name(struct tn_onnx_job *job, const char *wish)
{
	struct tn_module *module = job->module;
	const char *name = wish && wish[0] ? wish : "weight";
	int i;

	for (i = 1; name && (tn_map_has(&module->weight_names, name) ||
			     tn_map_has(&module->dim_names, name) ||
			     tn_map_has(&job->fn->names, name)); i++)
		name = tn_arena_printf(&job->arena, "%s_%d",
				       wish && wish[0] ? wish : "weight", i);
	return name ? tn_intern_text(module->names, name) : NULL;
}

static struct tn_value *weight(struct tn_onnx_job *job,
			       struct tn_tensor *tensor, const char *wish,
			       struct tn_span span)
{
	struct tn_module *module = job->module;
	struct tn_weight *w = tn_arena_alloc(&module->arena, sizeof(*w));
	struct tn_value *value = tn_arena_alloc(&module->arena,
						sizeof(*value));
	struct tn_item *item = tn_arena_alloc(&module->arena, sizeof(*item));

	if (!w || !value || !item)
		return no_memory(job);
	w->name = free_name(job, wish);
	w->type = value->type = tn_tensor_type(module, tensor);
	w->family = -1;
	w->span = value->span = span;
	w->value = value;
	w->number = (int)module->weights.len;
	value->name = w->name;
	value->is_named = true;
	item->kind = TN_ITEM_WEIGHT;
	item->name = w->name;
	item->u.weight = w;
	if (!w->name || !w->type ||
	    !tn_vec_push_ptr(&module->weights, w))
		return no_memory(job);
	w->data = *tensor;
	if (!tn_vec_push_ptr(&module->items, item) ||
	    !tn_map_set(&module->weight_names, w->name, w))
		return no_memory(job);
	return value;
}

struct tn_value *tn_onnx_literal(struct tn_onnx_job *job,
				 struct tn_tensor *tensor, const char *name,
				 struct tn_span span)
{
	struct tn_builder b;
	struct tn_value *value;

	if (tn_tensor_count(tensor) > LITERAL)
		return weight(job, tensor, name, span);
	tn_builder_init(&b, job->fn->body);
	b.before = job->constants ? job->constants->next :
		job->fn->body->first;
	value = tn_build_const(&b, tensor, span);
	tn_tensor_fini(tensor);
	if (!value)
		return no_memory(job);
	job->constants = value->op;
	if (name && name[0])
		tn_graph_name(job->fn, value, name);
	tn_onnx_note(job, value->op);
	return value;
}

struct tn_value *tn_onnx_make(struct tn_onnx_job *job,
			      struct tn_onnx_value *value)
{
	struct tn_tensor tensor;

	if (value->v || value->kind != ONNX_TENSOR)
		return value->v;
	if (!value->source ||
	    !tn_onnx_tensor(job, value->source, value->span, &tensor)) {
		value->kind = ONNX_POISON;
		return NULL;
	}
	value->v = tn_onnx_literal(job, &tensor, value->name, value->span);
	return value->v;
}
