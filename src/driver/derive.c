/*
 * Derived weights: computed by the interpreter, so that the folder, the
 * reference and compiled code read the same bits.
 *
 * In: a module whose other weights have their data. Out: data of the derived
 * ones, in order; each is made of weights before it. What lacks a source is
 * left without.
 */
#include <stdint.h>
#include <string.h>

#include "backends/ref/ref.h"
#include "driver/weights.h"

/* A tensor without elements has no data, and has its type. */
static bool has_data(const struct tn_weight *weight)
{
	return weight->data.data ||
		(weight->data.dtype == weight->type->dtype &&
		 weight->data.rank == weight->type->rank &&
		 tn_tensor_count(&weight->data) == 0);
}

static bool is_due(const struct tn_weight *weight)
{
	int i;

	if (!weight->maker || has_data(weight))
		return false;
	for (i = 0; i < weight->nsources; i++)
		if (!has_data(weight->sources[i]))
			return false;
	return true;
}

static enum tn_status complain(struct tenon_module *module,
			       const struct tn_weight *weight,
			       const struct tn_ref_result *result)
{
	struct tn_sink *sink = &module->context->sink;
	struct tn_diag *diag;

	diag = tn_diag_report(sink, TN_E0608, weight->span,
			      "weight '%s' cannot be computed: %s",
			      weight->name, result->message[0] ?
			      result->message : "its function raises the flag");
	if (result->raised)
		tn_diag_also(sink, diag, result->raised->span, "here");
	return TN_BAD_INPUT;
}

static enum tn_status compute(struct tenon_module *module,
			      struct tn_weight *weight)
{
	struct tn_ref_result result = { 0 };
	struct tn_tensor *in;
	enum tn_status status;
	int i;

	in = tn_arena_array(&module->arena, (size_t)weight->nsources + 1,
			    sizeof(*in));
	if (!in)
		return TN_IO;
	for (i = 0; i < weight->nsources; i++)
		in[i] = weight->sources[i]->data;
	memset(&weight->data, 0, sizeof(weight->data));
	status = tn_ref_run(module->ir, weight->maker, weight->nsources, in,
			    NULL, &weight->data, &result);
	if (status == TN_IO)
		return tn_context_nomem(module->context);
	return status || result.flags ? complain(module, weight, &result) :
		TN_OK;
}

bool tn_weights_align(struct tenon_module *module)
{
	const struct tn_vec *weights = &module->ir->weights;
	struct tn_weight *weight;
	struct tn_tensor *data, copy;
	size_t i;

	for (i = 0; i < weights->len; i++) {
		weight = tn_vec_ptr(weights, i);
		data = &weight->data;
		if (!data->data || data->owned ||
		    data->dtype >= TN_DTYPE_COUNT || (uintptr_t)data->data %
		    (size_t)tn_dtype_bytes(data->dtype) == 0)
			continue;
		if (!tn_tensor_init(&copy, data->dtype, data->rank,
				    data->shape))
			return false;
		memcpy(copy.data, data->data, (size_t)tn_tensor_bytes(data));
		*data = copy;
	}
	return true;
}

enum tn_status tn_weights_derive(struct tenon_module *module)
{
	struct tn_vec *weights = &module->ir->weights;
	enum tn_status status = TN_OK;
	struct tn_weight *weight;
	size_t i;

	for (i = 0; i < weights->len && status == TN_OK; i++) {
		weight = tn_vec_ptr(weights, i);
		if (is_due(weight))
			status = compute(module, weight);
	}
	return status;
}
