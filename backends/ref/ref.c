/*
 * The interpreter's core: frames, cells, blocks.
 *
 * A value has a cell while it has uses to come. Uses inside the regions of an
 * op count as uses by that op, so a loop does not free what its next pass
 * reads. A tensor whose last use is `yield` or `return` moves, others are
 * copied. Nothing recurses over ops; calls and regions nest up to a limit.
 */
#include "backends/ref/ref_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool tn_ref_fail(struct tn_ref *ref, enum tn_status status,
		 struct tn_span span, const char *format, ...)
{
	va_list args;

	if (ref->status != TN_OK)
		return false;
	ref->status = status;
	ref->result->span = span;
	va_start(args, format);
	vsnprintf(ref->result->message, sizeof(ref->result->message), format,
		  args);
	va_end(args);
	return false;
}

bool tn_ref_no_memory(struct tn_ref *ref)
{
	struct tn_span nowhere = { 0, 0, 0 };

	return tn_ref_fail(ref, TN_IO, nowhere, "out of memory");
}

void tn_ref_drop(int count, struct tn_tensor *tensors)
{
	int i;

	for (i = 0; i < count; i++)
		tn_tensor_fini(&tensors[i]);
}

bool tn_ref_copy(struct tn_ref *ref, const struct tn_tensor *from,
		 struct tn_tensor *to)
{
	int64_t bytes = tn_tensor_bytes(from);

	if (!tn_tensor_init(to, from->dtype, from->rank, from->shape))
		return tn_ref_no_memory(ref);
	if (bytes > 0)
		memcpy(to->data, from->data, (size_t)bytes);
	return true;
}

/* ---- Cells --------------------------------------------------------------- */

static int64_t count_uses(const struct tn_value *value)
{
	int64_t count = 0;
	const struct tn_use *use;

	for (use = value->uses; use; use = use->next)
		count++;
	return count;
}

static struct tn_ref_cell *get_cell(struct tn_ref_frame *frame,
				    const struct tn_value *value)
{
	struct tn_ref_cell *cell = tn_map_find(&frame->cells, value);

	if (cell)
		return cell;
	cell = calloc(1, sizeof(*cell));
	if (!cell || !tn_map_set(&frame->cells, value, cell)) {
		free(cell);
		tn_ref_no_memory(frame->ref);
		return NULL;
	}
	cell->next = frame->all;
	frame->all = cell;
	return cell;
}

bool tn_ref_set(struct tn_ref_frame *frame, const struct tn_value *value,
		struct tn_tensor *tensor)
{
	struct tn_ref_cell *cell = get_cell(frame, value);

	if (!cell) {
		tn_tensor_fini(tensor);
		return false;
	}
	tn_tensor_fini(&cell->tensor);
	cell->tensor = *tensor;
	memset(tensor, 0, sizeof(*tensor));
	cell->left = count_uses(value);
	if (cell->left == 0)
		tn_tensor_fini(&cell->tensor);
	return true;
}

static const struct tn_tensor *get_weight(struct tn_ref_frame *frame,
					  const struct tn_value *value)
{
	struct tn_ref *ref = frame->ref;
	const struct tn_weight *weight = tn_map_find(&ref->weights, value);

	if (!weight) {
		tn_ref_fail(ref, TN_BUG, value->span,
			    "'%s' is used before it is defined", value->name);
		return NULL;
	}
	if (weight->type && weight->type->dtype == TN_ENCODED) {
		tn_ref_fail(ref, TN_UNSUPPORTED, weight->span,
			    "weight '%s' is in a block encoding",
			    weight->name);
		return NULL;
	}
	if (!weight->data.data && tn_tensor_count(&weight->data) != 0) {
		tn_ref_fail(ref, TN_BAD_INPUT, weight->span,
			    "weight '%s' is not loaded", weight->name);
		return NULL;
	}
	return &weight->data;
}

const struct tn_tensor *tn_ref_get(struct tn_ref_frame *frame,
				   const struct tn_value *value)
{
	struct tn_ref_cell *cell = tn_map_find(&frame->cells, value);

	return cell ? &cell->tensor : get_weight(frame, value);
}

static const struct tn_block *home_of(const struct tn_value *value)
{
	return value->op ? value->op->block : value->block;
}

/* One use fewer of a value that lives in `home`. */
static void release(struct tn_ref_frame *frame, const struct tn_block *home,
		    const struct tn_value *value)
{
	struct tn_ref_cell *cell;

	if (home_of(value) != home)
		return;
	cell = tn_map_find(&frame->cells, value);
	if (cell && --cell->left == 0)
		tn_tensor_fini(&cell->tensor);
}

/* The uses of an op, those in its regions included. */
static void release_uses(struct tn_ref_frame *frame,
			 const struct tn_block *home, const struct tn_op *op)
{
	int i, r;

	for (i = 0; i < op->nin; i++)
		release(frame, home, tn_graph_in(op, i));
	for (r = 0; r < op->nregions; r++) {
		const struct tn_op *inner = op->regions[r]->first;

		for (; inner; inner = inner->next)
			release_uses(frame, home, inner);
	}
}

/* ---- Ops ----------------------------------------------------------------- */

static bool eval_op(struct tn_ref_frame *frame, const struct tn_op *op,
		    const struct tn_tensor *const *in, struct tn_tensor *out)
{
	struct tn_eval *eval = &frame->ref->eval;

	eval->dims = frame->dims;
	if (!tn_eval_op(eval, op, in, out))
		return tn_ref_fail(frame->ref, TN_IO, op->span,
				   "'%s' cannot run: out of memory, or a size "
				   "out of range", tn_ops[op->code].name);
	if (tn_op_has(op->code, TN_FLAG_SIZES) &&
	    !tn_ref_bind_size(frame, op, out[0].shape[0])) {
		tn_ref_drop(op->nout, out);
		return false;
	}
	return true;
}

static bool set_results(struct tn_ref_frame *frame, const struct tn_op *op,
			struct tn_tensor *out)
{
	const struct tn_ref_result *result = frame->ref->result;
	bool ok = true;
	int i;

	for (i = 0; result->see && i < op->nout; i++)
		result->see(result->data, op->out[i], &out[i]);
	for (i = 0; i < op->nout; i++) {
		if (ok)
			ok = tn_ref_set(frame, op->out[i], &out[i]);
		else
			tn_tensor_fini(&out[i]);
	}
	return ok;
}

/* The flags are as they were if the op's do not count. */
static void settle_flags(struct tn_ref_frame *frame, const struct tn_op *op,
			 const struct tn_eval *before)
{
	const struct tn_ref_result *result = frame->ref->result;
	struct tn_eval *eval = &frame->ref->eval;

	if (!result->counts || eval->flags == before->flags ||
	    result->counts(result->data, op))
		return;
	eval->flags = before->flags;
	eval->raised = before->raised;
}

static bool run_op(struct tn_ref_frame *frame, const struct tn_op *op,
		   const struct tn_tensor **in, struct tn_tensor *out)
{
	const struct tn_eval before = frame->ref->eval;
	bool ok;
	int i;

	for (i = 0; i < op->nin; i++) {
		in[i] = tn_ref_get(frame, tn_graph_in(op, i));
		if (!in[i])
			return false;
	}
	if (tn_ops[op->code].op_class != TN_CLASS_FLOW)
		ok = eval_op(frame, op, in, out);
	else
		ok = tn_ref_flow(frame, op, in, out);
	if (!ok) {
		tn_ref_drop(op->nout, out);
		return false;
	}
	settle_flags(frame, op, &before);
	release_uses(frame, op->block, op);
	return set_results(frame, op, out);
}

/* Room for the operands and results of any op, on the heap if many. */
static bool step(struct tn_ref_frame *frame, const struct tn_op *op)
{
	const struct tn_tensor *few_in[8], **in = few_in;
	struct tn_tensor few_out[2] = { 0 }, *out = few_out;
	bool ok = true;

	if (op->nin > 8)
		in = calloc((size_t)op->nin, sizeof(*in));
	if (op->nout > 2)
		out = calloc((size_t)op->nout, sizeof(*out));
	if (!in || !out)
		ok = tn_ref_no_memory(frame->ref);
	ok = ok && run_op(frame, op, in, out);
	if (in != few_in)
		free(in);
	if (out != few_out)
		free(out);
	return ok;
}

/* ---- Blocks -------------------------------------------------------------- */

static bool is_end(const struct tn_op *op)
{
	return op->code == TN_OP_yield || op->code == TN_OP_return;
}

/* A value out of its block: moved if nothing else uses it. */
static bool hand_out(struct tn_ref_frame *frame, const struct tn_op *end,
		     int i, struct tn_tensor *out)
{
	const struct tn_value *value = tn_graph_in(end, i);
	struct tn_ref_cell *cell = tn_map_find(&frame->cells, value);
	const struct tn_tensor *tensor = tn_ref_get(frame, value);

	if (!tensor)
		return false;
	if (cell && cell->left == 1 && cell->tensor.owned &&
	    home_of(value) == end->block) {
		*out = cell->tensor;
		memset(&cell->tensor, 0, sizeof(cell->tensor));
		cell->left = 0;
		return true;
	}
	if (!tn_ref_copy(frame->ref, tensor, out))
		return false;
	release(frame, end->block, value);
	return true;
}

static bool run_block(struct tn_ref_frame *frame,
		      const struct tn_block *block, struct tn_tensor *out)
{
	const struct tn_op *op = block->first;
	int i;

	while (op && !is_end(op)) {
		if (!step(frame, op))
			return false;
		op = op->next;
	}
	for (i = 0; op && i < op->nin; i++) {
		if (!hand_out(frame, op, i, &out[i])) {
			tn_ref_drop(i, out);
			memset(out, 0, (size_t)i * sizeof(*out));
			return false;
		}
	}
	return true;
}

bool tn_ref_block(struct tn_ref_frame *frame, const struct tn_block *block,
		  struct tn_tensor *out)
{
	struct tn_ref *ref = frame->ref;
	bool ok;

	if (ref->depth >= TN_REF_DEPTH)
		return tn_ref_fail(ref, TN_UNSUPPORTED, block->fn->span,
				   "calls and regions nest deeper than %d",
				   TN_REF_DEPTH);
	ref->depth++;
	ok = run_block(frame, block, out);
	ref->depth--;
	return ok;
}

/* ---- Functions ----------------------------------------------------------- */

static void end_frame(struct tn_ref_frame *frame)
{
	while (frame->all) {
		struct tn_ref_cell *cell = frame->all;

		frame->all = cell->next;
		tn_tensor_fini(&cell->tensor);
		free(cell);
	}
	tn_map_fini(&frame->cells);
}

static bool set_inputs(struct tn_ref_frame *frame, int nin,
		       const struct tn_tensor *const *in)
{
	int i;

	for (i = 0; i < nin; i++) {
		struct tn_tensor view = *in[i];

		view.owned = false;
		if (!tn_ref_set(frame, frame->fn->body->params[i], &view))
			return false;
	}
	return true;
}

bool tn_ref_fn(struct tn_ref *ref, const struct tn_fn *fn, int64_t *dims,
	       int nin, const struct tn_tensor *const *in,
	       struct tn_tensor *out)
{
	struct tn_ref_frame frame = { .ref = ref, .fn = fn };
	bool is_entry = ref->depth == 0, ok;

	if (ref->depth >= TN_REF_DEPTH)
		return tn_ref_fail(ref, TN_UNSUPPORTED, fn->span,
				   "calls and regions nest deeper than %d",
				   TN_REF_DEPTH);
	ref->depth++;
	tn_map_init_ptr(&frame.cells);
	frame.dims = dims;
	if (!is_entry) {
		frame.dims = malloc((ref->nsyms + 1) * sizeof(*dims));
		if (frame.dims)
			memcpy(frame.dims, dims, ref->nsyms * sizeof(*dims));
		frame.outer = dims;
	}
	ok = frame.dims || tn_ref_no_memory(ref);
	ok = ok && tn_ref_bind(&frame, nin, in) &&
	     set_inputs(&frame, nin, in) && tn_ref_block(&frame, fn->body, out);
	end_frame(&frame);
	if (!is_entry)
		free(frame.dims);
	ref->depth--;
	return ok;
}

static bool map_weights(struct tn_ref *ref)
{
	const struct tn_vec *weights = &ref->module->weights;
	size_t i;

	for (i = 0; i < weights->len; i++) {
		struct tn_weight *weight = tn_vec_ptr(weights, i);

		if (weight->value &&
		    !tn_map_set(&ref->weights, weight->value, weight))
			return tn_ref_no_memory(ref);
	}
	return true;
}

/* The entry with its own list of dims and of pointers to the inputs. */
static void run_entry(struct tn_ref *ref, const struct tn_fn *fn, int nin,
		      const struct tn_tensor *in, int64_t *dims,
		      struct tn_tensor *out)
{
	const struct tn_tensor **list =
		calloc((size_t)nin + 1, sizeof(*list));
	int64_t *own = malloc((ref->nsyms + 1) * sizeof(*own));

	if (!list || !own) {
		tn_ref_no_memory(ref);
	} else {
		size_t sym;
		int i;

		for (sym = 0; sym < ref->nsyms; sym++)
			own[sym] = dims ? dims[sym] : -1;
		for (i = 0; i < nin; i++)
			list[i] = &in[i];
		tn_ref_fn(ref, fn, own, nin, list, out);
		if (dims)
			memcpy(dims, own, ref->nsyms * sizeof(*own));
	}
	free(own);
	free(list);
}

enum tn_status tn_ref_run(const struct tn_module *module,
			  const struct tn_fn *fn, int nin,
			  const struct tn_tensor *in, int64_t *dims,
			  struct tn_tensor *out,
			  struct tn_ref_result *result)
{
	struct tn_ref ref = {
		.module = module, .result = result, .status = TN_OK,
		.nsyms = (size_t)module->dims.nsyms,
	};

	result->flags = 0;
	result->raised = NULL;
	result->message[0] = '\0';
	memset(&result->span, 0, sizeof(result->span));
	tn_map_init_ptr(&ref.weights);
	if (map_weights(&ref))
		run_entry(&ref, fn, nin, in, dims, out);
	tn_map_fini(&ref.weights);
	result->flags = ref.eval.flags;
	result->raised = ref.eval.raised;
	return ref.status;
}
