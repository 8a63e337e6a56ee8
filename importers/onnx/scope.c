/*
 * Names of the model: scopes of graphs and functions, the values that names
 * stand for, declared types, symbolic sizes.
 */
#include <string.h>

#include "importers/onnx/onnx.h"

enum tn_dtype tn_onnx_dtype(int64_t type)
{
	static const unsigned char types[] = {
		[1] = TN_f32 + 1, [2] = TN_u8 + 1, [3] = TN_i8 + 1,
		[4] = TN_u16 + 1, [5] = TN_i16 + 1, [6] = TN_i32 + 1,
		[7] = TN_i64 + 1, [9] = TN_bool + 1, [10] = TN_f16 + 1,
		[11] = TN_f64 + 1, [12] = TN_u32 + 1, [13] = TN_u64 + 1,
		[16] = TN_bf16 + 1, [17] = TN_f8e4m3fn + 1,
		[18] = TN_f8e4m3fnuz + 1, [19] = TN_f8e5m2 + 1,
		[20] = TN_f8e5m2fnuz + 1, [21] = TN_u4 + 1, [22] = TN_i4 + 1,
		[23] = TN_f4e2m1 + 1, [24] = TN_f8e8m0 + 1, [25] = TN_u2 + 1,
		[26] = TN_i2 + 1,
	};

	if (type < 0 || type >= (int64_t)sizeof(types) || !types[type])
		return TN_POISON;
	return (enum tn_dtype)(types[type] - 1);
}

const char *tn_onnx_domain(const char *domain)
{
	return domain && strcmp(domain, "ai.onnx") != 0 ? domain : "";
}

struct tn_onnx_value *tn_onnx_new(struct tn_onnx_job *job,
				  enum tn_onnx_kind kind, const char *name)
{
	struct tn_onnx_value *value =
		tn_arena_alloc(&job->arena, sizeof(*value));

	if (!value)
		return NULL;
	value->kind = kind;
	value->name = name;
	return value;
}

bool tn_onnx_scope_init(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
			struct tn_onnx_scope *up, struct tn_block *block)
{
	memset(scope, 0, sizeof(*scope));
	scope->up = up;
	scope->block = block;
	tn_map_init_text(&scope->values);
	tn_map_init_text(&scope->infos);
	tn_map_init_text(&scope->hints);
	if (up) {
		scope->opsets = up->opsets;
		scope->caller = up->caller;
		scope->function = up->function;
	}
	return !job->module->failed;
}

void tn_onnx_scope_fini(struct tn_onnx_scope *scope)
{
	tn_map_fini(&scope->values);
	tn_map_fini(&scope->infos);
	tn_map_fini(&scope->hints);
}

struct tn_onnx_value *tn_onnx_find(struct tn_onnx_scope *scope,
				   const char *name)
{
	struct tn_onnx_value *value = NULL;

	for (; scope && !value; scope = scope->up)
		value = tn_map_find(&scope->values, name);
	return value;
}

bool tn_onnx_bind(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		  const char *name, struct tn_onnx_value *value)
{
	if (value && tn_map_has(&scope->values, name)) {
		tn_diag_report(job->host->sink, TN_E1007, value->span,
			       "'%s' is defined twice", name);
		job->is_bad = true;
		return false;
	}
	if (!value || !tn_map_set(&scope->values, name, value)) {
		job->module->failed = true;
		return false;
	}
	return true;
}

/* ---- Symbolic sizes ------------------------------------------------------ */

static void bounds_of(const struct tn_onnx_job *job, const char *name,
		      struct tn_sym *sym)
{
	const struct tn_import *host = job->host;
	int i;

	sym->lo = TN_IMPORT_LEAST;
	sym->hi = TN_IMPORT_MOST;
	for (i = 0; i < host->ndims; i++) {
		if (host->dims[i].same || strcmp(host->dims[i].said.name, name))
			continue;
		host->dims[i].said.is_used = true;
		sym->lo = host->dims[i].lo;
		sym->hi = host->dims[i].hi;
	}
}

void tn_onnx_bounds(const struct tn_onnx_job *job, const char *name,
		    int64_t *lo, int64_t *hi)
{
	struct tn_sym sym;

	bounds_of(job, name, &sym);
	*lo = sym.lo;
	*hi = sym.hi;
}

/* The name of the size that the user says the one of this name is, in one step:
 * two that are each other come to no end. */
static const char *same_as(const struct tn_onnx_job *job, const char *name)
{
	const struct tn_import *host = job->host;
	int i;

	for (i = 0; i < host->ndims; i++)
		if (host->dims[i].same && !strcmp(host->dims[i].said.name, name)) {
			host->dims[i].said.is_used = true;
			return host->dims[i].same;
		}
	return name;
}

static bool add_item(struct tn_onnx_job *job, const struct tn_dim *dim)
{
	struct tn_module *module = job->module;
	struct tn_item *item = tn_arena_alloc(&module->arena, sizeof(*item));

	if (!item || !tn_vec_push_ptr(&module->items, item))
		return false;
	item->kind = TN_ITEM_DIM;
	item->name = dim->sym->name;
	item->u.dim = dim;
	return tn_map_set(&module->dim_names, dim->sym->name,
			  (void *)(uintptr_t)dim) &&
	       tn_map_set(&job->dims, dim->sym->name,
			  (void *)(uintptr_t)dim);
}

const struct tn_dim *tn_onnx_symbol(struct tn_onnx_job *job, const char *name)
{
	struct tn_sym sym = { .mod = 1 };
	const struct tn_dim *dim;

	name = same_as(job, name);
	sym.name = tn_intern_text(job->module->names, name);
	dim = sym.name ? tn_map_find(&job->dims, sym.name) : NULL;
	if (dim || !sym.name)
		return dim;
	bounds_of(job, name, &sym);
	if (sym.lo == sym.hi)
		return tn_dim_const(&job->module->dims, sym.lo);
	dim = tn_dim_new_sym(&job->module->dims, &sym);
	if (!dim || !add_item(job, dim)) {
		job->module->failed = true;
		return NULL;
	}
	return dim;
}

/* ---- Declared types ------------------------------------------------------ */

/* Some write `?` for any number of sizes that have nothing in common. */
bool tn_onnx_names_size(const char *name)
{
	return name && name[0] && strcmp(name, "?") != 0;
}

static const struct tn_dim *declared_dim(struct tn_onnx_job *job,
					 const struct onnx_dim *dim)
{
	if (dim->value.is_set && dim->value.v >= 0)
		return tn_dim_const(&job->module->dims, dim->value.v);
	if (!tn_onnx_names_size(dim->param))
		return NULL;
	return tn_map_find(&job->dims, same_as(job, dim->param));
}

bool tn_onnx_shape_dims(struct tn_onnx_job *job,
			const struct onnx_shape *shape, int *rank,
			const struct tn_dim **dims)
{
	size_t i;

	if (!shape || shape->dims.len > TN_MAX_RANK)
		return false;
	*rank = (int)shape->dims.len;
	for (i = 0; i < shape->dims.len; i++)
		dims[i] = declared_dim(job, &shape->dims.at[i]);
	return true;
}

bool tn_onnx_declared(struct tn_onnx_job *job, const struct onnx_type *type,
		      enum tn_dtype *dtype, int *rank,
		      const struct tn_dim **dims)
{
	if (!type || !type->tensor)
		return false;
	*dtype = tn_onnx_dtype(type->tensor->elem.v);
	return tn_onnx_shape_dims(job, type->tensor->shape, rank, dims);
}

static bool note_infos(struct tn_onnx_scope *scope,
		       const struct onnx_info_list *infos)
{
	size_t i;

	for (i = 0; i < infos->len; i++)
		if (infos->at[i].name && infos->at[i].type &&
		    !tn_map_set(&scope->infos, infos->at[i].name,
				infos->at[i].type))
			return false;
	return true;
}

bool tn_onnx_enter(struct tn_onnx_job *job, struct tn_onnx_scope *scope,
		   const struct onnx_graph *graph)
{
	struct tn_onnx_value *value;
	size_t i;

	if (!note_infos(scope, &graph->infos) ||
	    !note_infos(scope, &graph->outputs) ||
	    !tn_onnx_hint(scope, &graph->nodes)) {
		job->module->failed = true;
		return false;
	}
	for (i = 0; i < graph->initializers.len; i++) {
		const struct onnx_tensor *tensor = &graph->initializers.at[i];
		const char *name = tensor->name ? tensor->name : "";

		value = tn_onnx_new(job, ONNX_TENSOR, name);
		if (!value)
			return false;
		value->source = tensor;
		if (!tn_onnx_bind(job, scope, name, value))
			return false;
	}
	return true;
}
