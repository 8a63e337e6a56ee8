/*
 * Weights of a module: finds files, holds tensors against declarations, fills
 * random ones. See weights.h.
 */
#include "driver/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/num.h"
#include "driver/source.h"
#include "driver/tensors.h"

/* ---- Random values ----------------------------------------------------- */

/* As the operator `random` draws them: SplitMix64 of seed and flat index. */
static uint64_t draw(uint64_t seed, uint64_t at)
{
	uint64_t z = seed + (at + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

void tn_weights_fill(struct tn_tensor *tensor, uint64_t seed, double lo,
		     double hi)
{
	int64_t count = tn_tensor_count(tensor), i;
	double unit, value;

	for (i = 0; i < count; i++) {
		unit = (double)(draw(seed, (uint64_t)i) >> 11) * 0x1p-53;
		value = lo + unit * (hi - lo);
		if (!tn_dtype_holds(tensor->dtype, TN_KIND_F))
			value = floor(value);
		tn_tensor_set_f64(tensor, i, value);
	}
}

void tn_weights_limit(enum tn_dtype dtype, double *lo, double *hi)
{
	int bits = tn_dtype_bits(dtype);
	bool is_signed = tn_dtype_holds(dtype, TN_KIND_I);
	double least, most;

	if (dtype == TN_f8e8m0)
		*lo = fmax(*lo, 0.125);
	if (tn_dtype_holds(dtype, TN_KIND_F))
		return;
	most = dtype == TN_bool ? 2 : ldexp(1.0, bits - is_signed);
	least = is_signed ? -most : 0;
	*lo = fmax(*lo, least);
	*hi = fmin(*hi, most);
}

static void range_of(const struct tn_weight *weight, double *lo, double *hi)
{
	const struct tn_tensor *t = &weight->data;
	int first = weight->family >= 0, rank = t->rank - first;
	int64_t count = 1, wide;
	int i;

	*lo = -1;
	*hi = 1;
	if (!tn_dtype_holds(t->dtype, TN_KIND_F)) {
		*hi = 8;
		*lo = -8;
		return;
	}
	if (strstr(weight->name, "var")) {
		*lo = 0.5;
		*hi = 1.5;
		return;
	}
	if (rank < 2)
		return;
	for (i = first; i < t->rank; i++)
		count *= t->shape[i];
	wide = t->shape[first] > t->shape[t->rank - 1] ? t->shape[first] :
		t->shape[t->rank - 1];
	if (count > 0)
		*hi = sqrt(3.0 * (double)wide / (double)count);
	*lo = -*hi;
}

/* ---- Files ------------------------------------------------------------- */

static struct tn_tensorfile *open_file(struct tenon_module *module,
				       const char *path,
				       enum tn_status *status,
				       struct tn_buf *why)
{
	struct tn_weight_file *entry;
	struct tn_tensorfile *file;
	size_t i;

	for (i = 0; i < module->files.len; i++) {
		entry = tn_vec_at(&module->files, i);
		if (entry->file && !strcmp(entry->path, path))
			return entry->file;
	}
	file = tn_tensorfile_open(path, status, why);
	if (!file)
		return NULL;
	entry = tn_vec_push(&module->files);
	if (!entry) {
		tn_tensorfile_close(file);
		*status = TN_IO;
		return NULL;
	}
	entry->path = path;
	entry->file = file;
	return file;
}

void tn_weights_close(struct tenon_module *module)
{
	struct tn_weight_file *entry;
	size_t i;

	for (i = 0; i < module->files.len; i++) {
		entry = tn_vec_at(&module->files, i);
		tn_tensorfile_close(entry->file);
	}
	tn_vec_fini(&module->files);
}

bool tn_weights_read(void *data, const char *name, const char *key,
		     uint32_t from, struct tn_tensor *out)
{
	struct tenon_module *module = data;
	enum tn_status status = TN_BAD_INPUT;
	struct tn_tensorfile *file = NULL;
	struct tn_tensor view;
	struct tn_buf why;
	const char *path;

	if (!tn_file_is_inside(name) &&
	    !module->context->settings.allow_outside)
		return false;
	tn_buf_init(&why);
	path = tn_source_beside(module->context, &module->arena, from, name);
	if (path)
		file = open_file(module, path, &status, &why);
	if (file && !key && tn_tensorfile_count(file) == 1)
		key = tn_tensorfile_key(file, 0);
	if (file && key)
		status = tn_tensorfile_find(file, key, TN_POISON, &view,
					    &why);
	tn_buf_fini(&why);
	return file && key && !status && tn_tensors_copy(&view, out);
}

/* ---- One weight --------------------------------------------------------- */

struct job {
	struct tenon_module *module;
	const struct tn_weights_options *options;
	struct tn_weight *weight;
	struct tn_tensorfile *file;
	int64_t shape[TN_MAX_RANK];	/* declared, of one member */
	int rank;
	enum tn_status status;
	bool valueless;		/* said for all such weights at once */
};

static struct tn_diag *complain(struct job *job, enum tn_code code,
				enum tn_status status, const char *text)
{
	struct tn_sink *sink = &job->module->context->sink;
	struct tn_diag *diag = tn_diag_report(sink, code, job->weight->span,
					      "weight '%s': %s",
					      job->weight->name, text);

	job->status = status;
	return diag;
}

/* The declared shape, without the axis of a family. */
static bool declared_shape(struct job *job)
{
	const struct tn_type *type = job->weight->type;
	int first = job->weight->family >= 0, i;

	if (tn_type_is_poison(type)) {
		job->status = job->module->context->sink.errors ?
			TN_BAD_INPUT : TN_IO;
		return false;
	}
	if (type->dtype == TN_ENCODED) {
		complain(job, TN_E0606, TN_UNSUPPORTED,
			 "block encodings cannot be loaded yet");
		return false;
	}
	job->rank = type->rank - first;
	for (i = 0; i < job->rank; i++) {
		if (!tn_dim_is_const(type->dims[first + i])) {
			complain(job, TN_E0603, TN_BAD_INPUT,
				 "sizes of weights must be known");
			return false;
		}
		job->shape[i] = type->dims[first + i]->value;
	}
	return true;
}

static void put_shape(struct tn_buf *buf, enum tn_dtype dtype, int rank,
		      const int64_t *shape)
{
	int i;

	tn_buf_put(buf, tn_dtype_name(dtype));
	for (i = 0; i < rank; i++)
		tn_buf_putf(buf, "%s%lld", i ? ", " : "[",
			    (long long)shape[i]);
	if (rank)
		tn_buf_putc(buf, ']');
}

static bool fits(struct job *job, const struct tn_tensor *found,
		 const char *key)
{
	enum tn_dtype dtype = job->weight->type->dtype;
	struct tn_buf text;

	if (found->dtype == dtype && found->rank == job->rank &&
	    !memcmp(found->shape, job->shape,
		    (size_t)job->rank * sizeof(*job->shape)))
		return true;
	tn_buf_init(&text);
	tn_buf_putf(&text, "%s%s%s holds ", job->weight->file,
		    key[0] ? ":" : "", key);
	tn_tensors_put_type(&text, found);
	tn_buf_put(&text, ", declared is ");
	put_shape(&text, dtype, job->rank, job->shape);
	complain(job, TN_E0603, TN_BAD_INPUT, tn_buf_text(&text));
	tn_buf_fini(&text);
	return false;
}

/* The key of a member: {i} replaced by its index. */
static char *member_key(struct job *job, int64_t member)
{
	const struct tn_weight *weight = job->weight;
	const char *at = weight->key, *hole;
	struct tn_buf buf;
	char *key;
	size_t n;

	tn_buf_init(&buf);
	while (weight->index_name && (hole = strchr(at, '{'))) {
		n = strlen(weight->index_name);
		tn_buf_putn(&buf, at, (size_t)(hole - at));
		at = hole + 1;
		if (!strncmp(at, weight->index_name, n) && at[n] == '}') {
			tn_buf_putf(&buf, "%lld",
				    (long long)(weight->family_from +
						member));
			at += n + 1;
		} else {
			tn_buf_putc(&buf, '{');
		}
	}
	tn_buf_put(&buf, at);
	key = buf.failed ? NULL :
		tn_arena_strndup(&job->module->arena, tn_buf_text(&buf),
				 buf.len);
	tn_buf_fini(&buf);
	return key;
}

/* Finds and checks one tensor of the file. */
static bool find_member(struct job *job, int64_t member,
			struct tn_tensor *out)
{
	const struct tn_weight *weight = job->weight;
	const char *key = weight->key ? member_key(job, member) : NULL;
	struct tn_buf why;
	enum tn_status status;

	if (weight->key && !key) {
		job->status = TN_IO;
		return false;
	}
	if (!key)
		key = tn_tensorfile_count(job->file) == 1 ?
			tn_tensorfile_key(job->file, 0) : weight->name;
	tn_buf_init(&why);
	status = tn_tensorfile_find(job->file, key, weight->type->dtype, out,
				    &why);
	if (status != TN_OK)
		complain(job, status == TN_BAD_INPUT ? TN_E0602 : TN_E0607,
			 status, tn_buf_text(&why));
	tn_buf_fini(&why);
	return status == TN_OK && fits(job, out, key);
}

static bool load_family(struct job *job)
{
	struct tn_weight *weight = job->weight;
	struct tn_tensor found;
	int64_t shape[TN_MAX_RANK], bytes, i;
	bool wanted = !job->options->headers_only;

	shape[0] = weight->family;
	memcpy(shape + 1, job->shape, (size_t)job->rank * sizeof(*shape));
	if (wanted && !tn_tensor_init(&weight->data, weight->type->dtype,
				      job->rank + 1, shape)) {
		complain(job, TN_E0001, TN_IO, "out of memory");
		return false;
	}
	for (i = 0; i < weight->family; i++) {
		if (!find_member(job, i, &found))
			return false;
		bytes = tn_tensor_bytes(&found);
		if (wanted && bytes > 0)
			memcpy((char *)weight->data.data + i * bytes,
			       found.data, (size_t)bytes);
	}
	return true;
}

static bool load_single(struct job *job)
{
	struct tn_tensor found;

	if (!find_member(job, 0, &found))
		return false;
	if (!job->options->headers_only)
		tn_tensor_view(&job->weight->data, found.dtype, found.rank,
			       found.shape, found.data);
	return true;
}

/* True the first time that this path is found missing. */
static bool is_news(struct job *job, const char *path)
{
	struct tn_weight_file *entry;
	size_t i;

	for (i = 0; i < job->module->files.len; i++) {
		entry = tn_vec_at(&job->module->files, i);
		if (!strcmp(entry->path, path))
			return false;
	}
	entry = tn_vec_push(&job->module->files);
	if (!entry)
		return false;
	entry->path = path;
	entry->file = NULL;
	return true;
}

static bool open_for(struct job *job)
{
	struct tenon_module *module = job->module;
	const struct tn_weight *weight = job->weight;
	struct tn_buf why;
	enum tn_status status = TN_OK;
	char *path;

	if (!weight->file) {
		job->valueless = !job->options->absent_ok;
		if (job->valueless)
			job->status = TN_BAD_INPUT;
		return false;
	}
	if (!tn_file_is_inside(weight->file) &&
	    !module->context->settings.allow_outside) {
		tn_diag_help(&module->context->sink,
			     complain(job, TN_E0604, TN_BAD_INPUT,
				      "its file lies outside the folder"),
			     "--allow-outside permits `..` and absolute "
			     "paths");
		return false;
	}
	path = tn_source_beside(module->context, &module->arena,
				weight->span.file, weight->file);
	if (!path) {
		job->status = TN_IO;
		return false;
	}
	tn_buf_init(&why);
	job->file = open_file(module, path, &status, &why);
	if (!job->file && status == TN_IO && job->options->absent_ok &&
	    !tn_file_exists(path)) {
		if (is_news(job, path))
			complain(job, TN_W0601, TN_OK, tn_buf_text(&why));
	} else if (!job->file) {
		complain(job, tn_file_exists(path) ? TN_E0607 : TN_E0601, status,
			 tn_buf_text(&why));
	}
	tn_buf_fini(&why);
	return job->file != NULL;
}

static bool has_files(const struct job *job)
{
	const struct tn_weight *weight = job->weight;
	char *path;

	if (!weight->file)
		return false;
	path = tn_source_beside(job->module->context, &job->module->arena,
				weight->span.file, weight->file);
	return path && tn_file_exists(path);
}

/* The seed of `@weights(random, seed=7)`, 0 without one. */
static bool annotated(const struct tn_annots *annots, int64_t *seed)
{
	const struct tn_annot *annot = tn_annots_find(annots, "weights");
	const char *at;

	if (!annot || !annot->args || !strstr(annot->args, "random"))
		return false;
	at = strstr(annot->args, "seed=");
	*seed = at ? strtoll(at + 5, NULL, 10) : 0;
	return true;
}

static bool fill_random(struct job *job, int64_t seed)
{
	struct tn_weight *weight = job->weight;
	int64_t shape[TN_MAX_RANK];
	double lo, hi;
	int first = weight->family >= 0;

	if (job->options->headers_only)
		return true;
	if (first)
		shape[0] = weight->family;
	memcpy(shape + first, job->shape,
	       (size_t)job->rank * sizeof(*shape));
	if (!tn_tensor_init(&weight->data, weight->type->dtype,
			    job->rank + first, shape)) {
		complain(job, TN_E0001, TN_IO, "out of memory");
		return false;
	}
	range_of(weight, &lo, &hi);
	tn_weights_limit(weight->data.dtype, &lo, &hi);
	tn_weights_fill(&weight->data,
			(uint64_t)seed ^ tn_hash_bytes(weight->name,
						       strlen(weight->name)),
			lo, hi);
	return true;
}

static bool load_one(struct job *job)
{
	int64_t seed = job->options->seed;

	if (!declared_shape(job))
		return false;
	if (job->options->random)
		return fill_random(job, seed);
	if (annotated(&job->weight->annots, &seed) && !has_files(job))
		return fill_random(job, seed);
	if (!open_for(job))
		return false;
	return job->weight->family >= 0 ? load_family(job) :
		load_single(job);
}

/* Data that came with the graph: given by the builder, or by `load`. */
static bool has_own_data(const struct tenon_module *module,
			 const struct tn_weight *weight)
{
	if (tn_map_find(&module->ir->weight_names, weight->name) != weight)
		return true;
	return module->has_weights;
}

/* The names, at most SHOWN, of `count` weights that nothing gives values. */
#define SHOWN 8

struct valueless {
	const struct tn_weight *first;
	struct tn_buf names;
	size_t count;
};

static void note_valueless(struct valueless *all,
			   const struct tn_weight *weight)
{
	if (!all->first)
		all->first = weight;
	if (all->count < SHOWN)
		tn_buf_putf(&all->names, "%s'%s'", all->count ? ", " : "",
			    weight->name);
	all->count++;
}

static void report_valueless(struct tenon_module *module,
			     struct valueless *all)
{
	struct tn_sink *sink = &module->context->sink;
	struct tn_diag *diag;

	if (all->count > SHOWN)
		tn_buf_putf(&all->names, " and %zu more", all->count - SHOWN);
	if (all->count == 1)
		diag = tn_diag_report(sink, TN_E0605, all->first->span,
				      "weight %s has no values",
				      tn_buf_text(&all->names));
	else
		diag = tn_diag_report(sink, TN_E0605, all->first->span,
				      "%zu weights have no values: %s",
				      all->count, tn_buf_text(&all->names));
	tn_diag_help(sink, diag, "write `from \"FILE\"` behind each, or try "
		     "with made-up values: --weights=random:1");
}

enum tn_status tn_weights_load(struct tenon_module *module,
			       const struct tn_weights_options *options)
{
	struct valueless valueless = {0};
	enum tn_status status = TN_OK;
	size_t i;

	if (!options->headers_only && !tn_weights_align(module))
		return tn_context_nomem(module->context);
	tn_buf_init(&valueless.names);
	for (i = 0; i < module->ir->weights.len; i++) {
		struct job job = {
			.module = module, .options = options,
			.weight = tn_vec_ptr(&module->ir->weights, i)
		};

		if (!job.weight->maker && has_own_data(module, job.weight))
			continue;
		if (!options->headers_only) {
			tn_tensor_fini(&job.weight->data);
			memset(&job.weight->data, 0,
			       sizeof(job.weight->data));
		}
		if (job.weight->maker)
			continue;
		if (!load_one(&job) && status == TN_OK)
			status = job.status;
		if (job.valueless)
			note_valueless(&valueless, job.weight);
	}
	if (valueless.count)
		report_valueless(module, &valueless);
	tn_buf_fini(&valueless.names);
	if (status == TN_OK && !options->headers_only)
		status = tn_weights_derive(module);
	return status;
}

enum tn_status tn_weights_by_settings(struct tenon_module *module)
{
	struct tn_weights_options options = {
		.random = module->context->settings.random_weights,
		.seed = module->context->settings.seed
	};

	return tn_weights_load(module, &options);
}
