/*
 * Inputs made up for a function, and results held against each other.
 *
 * Sizes are drawn from the bounds and tuning points of the dims, small ones
 * first, until the function accepts them; values from what breaks compilers.
 */
#include "driver/probe.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/ref/ref.h"
#include "base/random.h"
#include "driver/reads.h"
#include "ir/eval.h"

/* Draws of sizes for one set before it is given up. */
#define DRAWS 60

/* ---- Values ------------------------------------------------------------ */

static double special_float(uint64_t number)
{
	static const double values[] = {
		0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-3, -7.25, 100.0, 2.5,
		-0.5, 1.5, 5e-324, 1e-40, 6e-8, 65504.0, 3.4e38, 1.7e308
	};
	size_t count = sizeof(values) / sizeof(values[0]);

	number %= count + 6;
	if (number < count)
		return values[number];
	switch ((int)(number - count)) {
	case 0:
		return (double)INFINITY;
	case 1:
		return -(double)INFINITY;
	case 2:
	case 3:
		return -0.0;
	default:
		return (double)NAN;
	}
}

static double pick_float(int set, uint64_t *state)
{
	double whole = (double)(tn_random(state) % 4001) - 2000;

	switch (set % 4) {
	case 0:
		return special_float(tn_random(state));
	case 1:
		return whole / 997;
	case 2:
		return trunc(whole / 400);
	default:
		return tn_random(state) % 12 ? whole / 8 :
			special_float(tn_random(state));
	}
}

static int64_t pick_int(int set, uint64_t *state)
{
	static const int64_t values[] = {
		0, 1, -1, 2, -2, 3, 7, INT8_MIN, INT8_MAX, INT16_MIN,
		INT16_MAX, INT32_MIN, INT32_MAX, INT64_MIN, INT64_MAX, 255
	};

	switch (set % 4) {
	case 0:
		return values[tn_random(state) % 16];
	case 1:
		return (int64_t)(tn_random(state) % 4);
	case 2:
		return (int64_t)(tn_random(state) % 41) - 20;
	default:
		return tn_random(state) % 12 ? (int64_t)(tn_random(state) % 9) - 2 :
			values[tn_random(state) % 16];
	}
}

void tn_probe_fill(struct tn_tensor *tensor, int set, uint64_t seed)
{
	int64_t count = tn_tensor_count(tensor), i;
	uint64_t state = seed * 2654435761u + (uint64_t)set + 1;

	for (i = 0; i < count; i++)
		if (tensor->dtype == TN_bool)
			tn_tensor_set_i64(tensor, i,
					  (int64_t)(tn_random(&state) & 1));
		else if (tn_dtype_holds(tensor->dtype, TN_KIND_INT))
			tn_tensor_set_i64(tensor, i, pick_int(set, &state));
		else
			tn_tensor_set_f64(tensor, i,
					  pick_float(set, &state));
}

/* ---- Sizes ------------------------------------------------------------- */

static int64_t pick_size(const struct tn_sym *sym, int turn, uint64_t *state)
{
	static const int64_t usual[] = { 1, 2, 3, 0, 5, 4, 7, 8, 16, 17 };
	int64_t span = sym->hi - sym->lo, size;

	if (turn < 3)
		size = usual[((uint64_t)turn + tn_random(state) % 2) % 10];
	else if (sym->nopt && tn_random(state) % 4 == 0)
		size = sym->opt[tn_random(state) % (uint64_t)sym->nopt];
	else if (tn_random(state) % 3)
		size = usual[tn_random(state) % 10];
	else
		size = sym->lo + (int64_t)(tn_random(state) % 20);
	if (size < sym->lo)
		size = sym->lo + (span > 0 && tn_random(state) % 2);
	if (sym->mod > 1)
		size += (sym->mod - size % sym->mod) % sym->mod;
	return size > sym->hi ? sym->hi - sym->hi % sym->mod : size;
}

static void pick_sizes(const struct tn_module *module, int turn,
		       uint64_t *state, int64_t *dims)
{
	const struct tn_sym *sym;
	size_t i;

	for (i = 0; i < module->dims.syms.len; i++) {
		sym = ((const struct tn_dim *)
		       tn_vec_ptr(&module->dims.syms, i))->sym;
		dims[i] = sym->is_runtime ? -1 : pick_size(sym, turn, state);
	}
}

/* ---- Sets -------------------------------------------------------------- */

static void drop_tensors(struct tn_tensor *list, int count)
{
	int i;

	for (i = 0; list && i < count; i++)
		tn_tensor_fini(&list[i]);
	free(list);
}

static void drop_set(struct tn_probe *probe, int set)
{
	drop_tensors(probe->in[set], probe->nin);
	free(probe->dims[set]);
	probe->in[set] = NULL;
	probe->dims[set] = NULL;
}

/* Tensors of these sizes. BAD_INPUT: a size cannot be. */
static enum tn_status make_inputs(struct tn_probe *probe,
				  const struct tn_fn *fn, int set)
{
	struct tn_eval eval = { .dims = probe->dims[set] };
	int64_t shape[TN_MAX_RANK];
	const struct tn_type *type;
	struct tn_tensor *in;
	int i;

	for (i = 0; i < probe->nin; i++) {
		type = fn->body->params[i]->type;
		in = &probe->in[set][i];
		tn_tensor_fini(in);
		memset(in, 0, sizeof(*in));
		if (!tn_eval_shape(&eval, type, shape))
			return TN_BAD_INPUT;
		if (!tn_tensor_init(in, type->dtype, type->rank, shape))
			return TN_IO;
		tn_probe_fill(in, set, (uint64_t)i * 7919 + 17);
	}
	return TN_OK;
}

void tn_probe_drop_one(struct tn_probe_result *result)
{
	drop_tensors(result->out, result->nout);
	tn_vec_fini(&result->seen);
	tn_map_fini(&result->by_name);
	memset(result, 0, sizeof(*result));
}

/* Draws until the function runs. BAD_INPUT: it never did. */
static enum tn_status fit_set(struct tn_probe *probe, const struct tn_fn *fn,
			      int set)
{
	uint64_t state = (uint64_t)set * 977 + 5;
	enum tn_status status = TN_BAD_INPUT;
	struct tn_probe_result result;
	int turn;

	for (turn = 0; turn < DRAWS && status == TN_BAD_INPUT; turn++) {
		pick_sizes(fn->module, turn + set, &state, probe->dims[set]);
		status = make_inputs(probe, fn, set);
		if (status)
			continue;
		status = tn_probe_run_one(probe, fn, set, &result, NULL);
		tn_probe_drop_one(&result);
	}
	return status;
}

enum tn_status tn_probe_init(struct tn_probe *probe, const struct tn_fn *fn,
			     int count)
{
	enum tn_status status = TN_OK;
	int set;

	*probe = (struct tn_probe){
		.nin = fn->body->nparams, .nsyms = fn->module->dims.nsyms
	};
	if (count > TN_PROBE_MOST)
		count = TN_PROBE_MOST;
	for (set = 0; set < count && !status; set++) {
		probe->in[set] = calloc((size_t)probe->nin + 1,
					sizeof(**probe->in));
		probe->dims[set] = calloc((size_t)probe->nsyms + 1,
					  sizeof(**probe->dims));
		status = probe->in[set] && probe->dims[set] ?
			fit_set(probe, fn, set) : TN_IO;
		if (status)
			drop_set(probe, set);
		else
			probe->nsets++;
	}
	return status == TN_BAD_INPUT ? TN_OK : status;
}

void tn_probe_fini(struct tn_probe *probe)
{
	int set;

	for (set = 0; set < probe->nsets; set++)
		drop_set(probe, set);
	probe->nsets = 0;
}

/* ---- Running ----------------------------------------------------------- */

static uint64_t hash_of(const struct tn_tensor *tensor)
{
	uint64_t hash = tn_hash_bytes(tensor->shape, (size_t)tensor->rank *
				      sizeof(*tensor->shape));
	int64_t count = tn_tensor_count(tensor), i;
	double value;

	if (!tn_dtype_holds(tensor->dtype, TN_KIND_F))
		return count ? tn_hash_mix(hash, tn_hash_bytes(
			tensor->data, (size_t)tn_tensor_bytes(tensor))) : hash;
	for (i = 0; i < count; i++) {
		value = tn_tensor_get_f64(tensor, i);
		if (isnan(value))
			value = (double)NAN;
		if (value == 0)
			value = 0;
		hash = tn_hash_mix(hash, tn_hash_bytes(&value, sizeof(value)));
	}
	return hash;
}

struct watcher {
	struct tn_probe_result *result;
	const struct tn_fn *fn;
	struct tn_reads reads;
	bool failed;
};

/* Values of the function's own block that the user has named. */
static void see(void *data, const struct tn_value *value,
		const struct tn_tensor *tensor)
{
	struct watcher *w = data;
	struct tn_probe_seen *seen;

	if (!value->is_named || value->op->block != w->fn->body)
		return;
	seen = tn_vec_push(&w->result->seen);
	if (!seen) {
		w->failed = true;
		return;
	}
	seen->name = value->name;
	seen->op = tn_ops[value->op->code].name;
	seen->type = value->type;
	seen->hash = hash_of(tensor);
	if (!tn_map_set(&w->result->by_name, seen->name,
			(void *)(uintptr_t)w->result->seen.len))
		w->failed = true;
}

static bool counts(void *data, const struct tn_op *op)
{
	struct watcher *w = data;

	return tn_reads_is_sure(&w->reads, op);
}

/* Runs with a fresh copy of the sizes. */
static enum tn_status run_once(const struct tn_probe *probe,
			       const struct tn_fn *fn, int set,
			       struct tn_tensor *out,
			       struct tn_ref_result *ref)
{
	size_t nsyms = (size_t)fn->module->dims.nsyms, i;
	int64_t *dims = calloc(nsyms + 1, sizeof(*dims));
	enum tn_status status;

	if (!dims)
		return TN_IO;
	for (i = 0; i < nsyms; i++)
		dims[i] = (int)i < probe->nsyms ? probe->dims[set][i] : -1;
	status = tn_ref_run(fn->module, fn, probe->nin, probe->in[set], dims,
			    out, ref);
	free(dims);
	return status;
}

/* Runs again with what is not surely read in silence. */
static enum tn_status find_least(const struct tn_probe *probe,
				 const struct tn_fn *fn, int set,
				 struct tn_probe_result *result)
{
	struct watcher w = { .result = result, .fn = fn };
	struct tn_ref_result ref = { .counts = counts, .data = &w };
	struct tn_tensor *out = calloc((size_t)result->nout + 1,
				       sizeof(*out));
	enum tn_status status;

	if (!out)
		return TN_IO;
	tn_reads_init(&w.reads);
	status = run_once(probe, fn, set, out, &ref);
	result->least = ref.flags;
	if (w.reads.failed)
		status = TN_IO;
	tn_reads_fini(&w.reads);
	drop_tensors(out, result->nout);
	return status;
}

enum tn_status tn_probe_run_one(const struct tn_probe *probe,
				const struct tn_fn *fn, int set,
				struct tn_probe_result *result,
				struct tn_buf *why)
{
	struct watcher w = { .result = result, .fn = fn };
	struct tn_ref_result ref = { .see = see, .data = &w };
	enum tn_status status;

	memset(result, 0, sizeof(*result));
	tn_vec_init(&result->seen, sizeof(struct tn_probe_seen), NULL);
	tn_map_init_text(&result->by_name);
	result->nout = fn->nresults;
	result->out = calloc((size_t)result->nout + 1, sizeof(*result->out));
	if (!result->out)
		return TN_IO;
	status = run_once(probe, fn, set, result->out, &ref);
	result->flags = ref.flags;
	if (status && why)
		tn_buf_put(why, ref.message);
	if (!status && ref.flags)
		status = find_least(probe, fn, set, result);
	return w.failed ? TN_IO : status;
}

enum tn_status tn_probe_run(const struct tn_probe *probe,
			    const struct tn_fn *fn,
			    struct tn_probe_result *results,
			    struct tn_buf *why)
{
	enum tn_status status = TN_OK;
	int set;

	memset(results, 0, (size_t)probe->nsets * sizeof(*results));
	for (set = 0; set < probe->nsets && !status; set++)
		status = tn_probe_run_one(probe, fn, set, &results[set], why);
	return status;
}

void tn_probe_drop(const struct tn_probe *probe,
		   struct tn_probe_result *results)
{
	int set;

	for (set = 0; set < probe->nsets; set++)
		tn_probe_drop_one(&results[set]);
}

enum tn_status tn_probe_set_least(const struct tn_probe *probe,
				  const struct tn_fn *fn,
				  struct tn_probe_result *results)
{
	enum tn_status status = TN_OK;
	struct tn_probe_result one;
	int set;

	for (set = 0; set < probe->nsets && !status; set++) {
		status = tn_probe_run_one(probe, fn, set, &one, NULL);
		results[set].least = one.least;
		tn_probe_drop_one(&one);
	}
	return status;
}

/* ---- Comparing --------------------------------------------------------- */

static double largest(const struct tn_tensor *tensor)
{
	int64_t count = tn_tensor_count(tensor), i;
	double most = 0, value;

	for (i = 0; i < count; i++) {
		value = fabs(tn_tensor_get_f64(tensor, i));
		if (isfinite(value) && value > most)
			most = value;
	}
	return most;
}

static bool same_float(const struct tn_tensor *a, const struct tn_tensor *b,
		       int64_t at, double most)
{
	double x = tn_tensor_get_f64(a, at), y = tn_tensor_get_f64(b, at);

	if (isnan(x) && isnan(y))
		return true;
	if (most > 0)
		return !isfinite(x) || !isfinite(y) || fabs(x - y) <= most;
	return x == y;
}

static bool same_tensor(const struct tn_tensor *a, const struct tn_tensor *b,
			double rtol, int64_t *at)
{
	size_t width = (size_t)tn_dtype_bytes(a->dtype);
	bool is_float = tn_dtype_holds(a->dtype, TN_KIND_F);
	int64_t count = tn_tensor_count(a);
	double most = is_float && rtol > 0 ?
		rtol * (largest(a) + 1e-30) : 0;

	*at = 0;
	if (a->rank != b->rank ||
	    memcmp(a->shape, b->shape, (size_t)a->rank * sizeof(*a->shape)))
		return false;
	for (; *at < count; ++*at)
		if (memcmp((const char *)a->data + (size_t)*at * width,
			   (const char *)b->data + (size_t)*at * width,
			   width) != 0 &&
		    !(is_float && same_float(a, b, *at, most)))
			return false;
	return true;
}

static void put_element(const struct tn_tensor *tensor, int64_t at,
			char text[32])
{
	if (at >= tn_tensor_count(tensor))
		snprintf(text, 32, "not there");
	else if (tn_dtype_holds(tensor->dtype, TN_KIND_F))
		snprintf(text, 32, "%.17g", tn_tensor_get_f64(tensor, at));
	else if (tn_dtype_is(tensor->dtype, TN_KIND_U))
		snprintf(text, 32, "%" PRIu64,
			 (uint64_t)tn_tensor_get_i64(tensor, at));
	else
		snprintf(text, 32, "%" PRId64, tn_tensor_get_i64(tensor, at));
}

/* The first named value, in the order of the later run, that both have and
 * that differs. */
static const struct tn_probe_seen *first_apart(
	const struct tn_probe_result *before,
	const struct tn_probe_result *after)
{
	const struct tn_probe_seen *one, *other;
	size_t i, at;

	for (i = 0; i < after->seen.len; i++) {
		one = tn_vec_at(&after->seen, i);
		at = (size_t)(uintptr_t)tn_map_find(&before->by_name,
						    one->name);
		if (!at)
			continue;
		other = tn_vec_at(&before->seen, at - 1);
		if (other->hash != one->hash)
			return one;
	}
	return NULL;
}

bool tn_probe_same(const struct tn_probe_result *before,
		   const struct tn_probe_result *after, double rtol,
		   struct tn_probe_difference *out)
{
	int i;

	*out = (struct tn_probe_difference){ .output = -1 };
	for (i = 0; i < before->nout; i++) {
		if (same_tensor(&before->out[i], &after->out[i], rtol,
				&out->at))
			continue;
		out->output = i;
		put_element(&before->out[i], out->at, out->before);
		put_element(&after->out[i], out->at, out->after);
		out->first = first_apart(before, after);
		return false;
	}
	return !(after->flags & ~before->flags) &&
	       !(before->least & ~after->flags);
}

void tn_probe_put_dims(const struct tn_probe *probe, int set,
		       const struct tn_module *module, struct tn_buf *out)
{
	const struct tn_dim *dim;
	bool any = false;
	int i;

	for (i = 0; i < probe->nsyms; i++) {
		dim = tn_vec_ptr(&module->dims.syms, (size_t)i);
		if (dim->sym->is_runtime)
			continue;
		tn_buf_putf(out, "%s%s = %lld", any ? ", " : "",
			    dim->sym->name, (long long)probe->dims[set][i]);
		any = true;
	}
}
