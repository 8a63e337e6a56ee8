/*
 * Types, interned in their module: equal types are one pointer.
 *
 * The table maps a hash to a chain of types of that hash.
 */
#include "ir/type.h"

#include <string.h>

#include "base/num.h"
#include "ir/graph.h"
#include "ir/print.h"
#include "ir/tensor.h"

/* A type in its chain. */
struct node {
	struct tn_type type;
	struct node *next;
};

static uint64_t hash_type(const struct tn_type *type)
{
	uint64_t hash = tn_hash_mix(type->dtype, (uint64_t)type->rank);
	int i;

	for (i = 0; i < type->rank; i++)
		hash = tn_hash_mix(hash, (uint64_t)type->dims[i]->id);
	return hash;
}

int tn_type_common_axes(const struct tn_type *a, const struct tn_type *b)
{
	int n = 0;

	while (n < a->rank && n < b->rank && a->dims[n] == b->dims[n])
		n++;
	return n;
}

bool tn_type_same_shape(const struct tn_type *a, const struct tn_type *b)
{
	return a->rank == b->rank && tn_type_common_axes(a, b) == a->rank;
}

static bool is_same(const struct tn_type *a, const struct tn_type *b)
{
	if (a->dtype != b->dtype)
		return false;
	if (a->encoding != b->encoding &&
	    (!a->encoding || !b->encoding ||
	     strcmp(a->encoding, b->encoding) != 0))
		return false;
	return tn_type_same_shape(a, b);
}

/* A scalar has dims, too, none of them: the sizes from some axis on are at
 * `dims + axis` for all types. */
static const struct tn_type *keep(struct tn_module *module,
				  const struct tn_type *like, const void *key,
				  struct node *next)
{
	struct node *node = tn_arena_alloc(&module->arena, sizeof(*node));
	const struct tn_dim **dims;

	if (!node)
		return NULL;
	node->type = *like;
	node->next = next;
	node->type.dims = NULL;
	dims = tn_arena_array(&module->arena, (size_t)like->rank + 1,
			      sizeof(*dims));
	if (!dims)
		return NULL;
	if (like->rank)
		memcpy(dims, like->dims, (size_t)like->rank * sizeof(*dims));
	node->type.dims = dims;
	return tn_map_set(&module->types, key, node) ? &node->type : NULL;
}

static const struct tn_type *intern(struct tn_module *module,
				    const struct tn_type *like)
{
	const void *key = (const void *)(uintptr_t)hash_type(like);
	struct node *first = tn_map_find(&module->types, key), *node;
	const struct tn_type *type;

	for (node = first; node; node = node->next)
		if (is_same(&node->type, like))
			return &node->type;
	type = keep(module, like, key, first);
	if (!type)
		module->failed = true;
	return type;
}

static bool has_dims(struct tn_module *module, int rank,
		     const struct tn_dim *const *dims)
{
	int i;

	if (rank < 0 || rank > TN_MAX_RANK)
		return false;
	for (i = 0; i < rank; i++)
		if (!dims[i]) {
			module->failed |= module->arena.failed;
			return false;
		}
	return true;
}

const struct tn_type *tn_type_get(struct tn_module *module,
				  enum tn_dtype dtype, int rank,
				  const struct tn_dim *const *dims)
{
	struct tn_type like = {.dtype = dtype, .rank = rank, .dims = dims};

	if (!has_dims(module, rank, dims))
		return NULL;
	return intern(module, &like);
}

const struct tn_type *tn_type_get_encoded(struct tn_module *module,
					  const char *encoding, int rank,
					  const struct tn_dim *const *dims)
{
	struct tn_type like = {.dtype = TN_ENCODED, .rank = rank,
			       .encoding = encoding, .dims = dims};

	if (!has_dims(module, rank, dims))
		return NULL;
	like.encoding = tn_intern_text(module->names, encoding);
	if (!like.encoding) {
		module->failed = true;
		return NULL;
	}
	return intern(module, &like);
}

const struct tn_type *tn_type_poison(struct tn_module *module)
{
	return module->poison;
}

bool tn_type_is_poison(const struct tn_type *type)
{
	return type->dtype == TN_POISON;
}

const struct tn_type *tn_type_subst(struct tn_module *module,
				    const struct tn_type *type,
				    const struct tn_dim *const *map)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	struct tn_type like = *type;
	int i;

	for (i = 0; i < type->rank; i++) {
		dims[i] = tn_dim_subst(&module->dims, type->dims[i], map);
		if (!dims[i])
			return NULL;
	}
	like.dims = dims;
	return intern(module, &like);
}

const struct tn_dim *tn_type_count(struct tn_module *module,
				   const struct tn_type *type)
{
	const struct tn_dim *count = tn_dim_const(&module->dims, 1);
	int i;

	for (i = 0; i < type->rank; i++)
		count = tn_dim_mul(&module->dims, count, type->dims[i]);
	return count;
}

int64_t tn_type_max_bytes(struct tn_module *module, const struct tn_type *type)
{
	int64_t bytes = tn_dtype_bytes(type->dtype), lo, hi;
	bool fits = true;
	int i;

	(void)module;
	for (i = 0; i < type->rank; i++) {
		tn_dim_bounds(type->dims[i], &lo, &hi);
		if (hi <= 0)
			return 0;
		fits = fits && hi != INT64_MAX && tn_num_mul(bytes, hi, &bytes);
	}
	return fits ? bytes : -1;
}

bool tn_type_is_static(const struct tn_type *type)
{
	int i;

	for (i = 0; i < type->rank; i++)
		if (!tn_dim_is_const(type->dims[i]))
			return false;
	return true;
}

bool tn_type_has_runtime(const struct tn_type *type)
{
	int i;

	for (i = 0; i < type->rank; i++)
		if (tn_dim_has_runtime(type->dims[i]))
			return true;
	return false;
}

void tn_type_print(struct tn_buf *buf, const struct tn_type *type)
{
	int i;

	if (type->encoding)
		tn_print_name(buf, type->encoding);
	else
		tn_buf_put(buf, tn_dtype_name(type->dtype));
	for (i = 0; i < type->rank; i++) {
		tn_buf_put(buf, i ? ", " : "[");
		tn_dim_print(buf, type->dims[i]);
	}
	if (type->rank)
		tn_buf_putc(buf, ']');
}

const struct tn_type *tn_tensor_type(struct tn_module *module,
				     const struct tn_tensor *tensor)
{
	const struct tn_dim *dims[TN_MAX_RANK];
	int i;

	for (i = 0; i < tensor->rank; i++)
		dims[i] = tn_dim_const(&module->dims, tensor->shape[i]);
	return tn_type_get(module, tensor->dtype, tensor->rank, dims);
}
