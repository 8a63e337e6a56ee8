/*
 * Control flow: calls, branches and loops. Carries are tensors handed from
 * one pass through a region to the next; nothing is kept of passes gone by.
 */
#include "backends/ref/ref_impl.h"

#include "base/num.h"
#include "ir/kernel_eval.h"
#include "ir/layout.h"

#include <stdlib.h>
#include <string.h>

static const struct tn_attr *attr(const struct tn_op *op, const char *name)
{
	return tn_graph_attr(op, name);
}

static struct tn_tensor *new_tensors(struct tn_ref *ref, int count)
{
	struct tn_tensor *tensors =
		calloc((size_t)count + 1, sizeof(*tensors));

	if (!tensors)
		tn_ref_no_memory(ref);
	return tensors;
}

static bool dim_value(struct tn_ref_frame *frame, const struct tn_op *op,
		      const struct tn_dim *dim, int64_t *out)
{
	if (dim && tn_dim_eval(dim, frame->dims, out))
		return true;
	return tn_ref_fail(frame->ref, TN_BAD_INPUT, op->span,
			   "a bound of '%s' is not known",
			   tn_ops[op->code].name);
}

static bool is_true(const struct tn_tensor *tensor)
{
	return *(const char *)tensor->data != 0;
}

/* Values for region parameters from `shift` on, taken from `values`. */
static bool set_params(struct tn_ref_frame *frame,
		       const struct tn_block *region, int shift, int count,
		       struct tn_tensor *values)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!tn_ref_set(frame, region->params[shift + i], &values[i]))
			return false;
	}
	return true;
}

/* Unowned views, for a region that only reads. */
static bool set_views(struct tn_ref_frame *frame,
		      const struct tn_block *region, int count,
		      const struct tn_tensor *values)
{
	int i;

	for (i = 0; i < count; i++) {
		struct tn_tensor view = values[i];

		view.owned = false;
		if (!tn_ref_set(frame, region->params[i], &view))
			return false;
	}
	return true;
}

static bool copy_operands(struct tn_ref *ref, int count,
			  const struct tn_tensor *const *in,
			  struct tn_tensor *out)
{
	int i;

	for (i = 0; i < count; i++) {
		if (!tn_ref_copy(ref, in[i], &out[i])) {
			tn_ref_drop(i, out);
			return false;
		}
	}
	return true;
}

/* ---- for, while ---------------------------------------------------------- */

static bool run_for(struct tn_ref_frame *frame, const struct tn_op *op,
		    const struct tn_tensor *const *in, struct tn_tensor *out)
{
	const struct tn_block *body = op->regions[0];
	int64_t from, to, i;

	if (!dim_value(frame, op, attr(op, "from")->u.dim, &from) ||
	    !dim_value(frame, op, attr(op, "to")->u.dim, &to) ||
	    !copy_operands(frame->ref, op->nin, in, out))
		return false;
	for (i = from; i < to; i++) {
		struct tn_tensor index;

		if (!tn_tensor_init(&index, TN_i64, 0, NULL))
			return tn_ref_no_memory(frame->ref);
		tn_tensor_set_i64(&index, 0, i);
		if (!tn_ref_set(frame, body->params[0], &index) ||
		    !set_params(frame, body, 1, op->nin, out) ||
		    !tn_ref_block(frame, body, out))
			return false;
	}
	return true;
}

static bool run_while(struct tn_ref_frame *frame, const struct tn_op *op,
		      const struct tn_tensor *const *in, struct tn_tensor *out)
{
	const struct tn_attr *max = attr(op, "max");
	int64_t most = INT64_MAX;
	int64_t i;

	if (max && max->is_set && !dim_value(frame, op, max->u.dim, &most))
		return false;
	if (!copy_operands(frame->ref, op->nin, in, out))
		return false;
	for (i = 0; i < most; i++) {
		struct tn_tensor test = { 0 };
		bool goes_on;

		if (!set_views(frame, op->regions[0], op->nin, out) ||
		    !tn_ref_block(frame, op->regions[0], &test))
			return false;
		goes_on = is_true(&test);
		tn_tensor_fini(&test);
		if (!goes_on)
			break;
		if (!set_params(frame, op->regions[1], 0, op->nin, out) ||
		    !tn_ref_block(frame, op->regions[1], out))
			return false;
	}
	return true;
}

/* ---- scan ---------------------------------------------------------------- */

/* Slice `at` of `whole` along axis, to or from a tensor without that axis. */
static void move_slice(struct tn_tensor *whole, int axis, int64_t at,
		       struct tn_tensor *part, bool to_part)
{
	int64_t outer = 1, inner = tn_dtype_bytes(whole->dtype);
	int64_t size = whole->shape[axis];
	int i;
	int64_t o;

	for (i = 0; i < axis; i++)
		outer *= whole->shape[i];
	for (i = axis + 1; i < whole->rank; i++)
		inner *= whole->shape[i];
	if (inner == 0)
		return;
	for (o = 0; o < outer; o++) {
		char *big = (char *)whole->data + (o * size + at) * inner;
		char *small = (char *)part->data + o * inner;

		memcpy(to_part ? small : big, to_part ? big : small,
		       (size_t)inner);
	}
}

static bool take_slice(struct tn_ref *ref, const struct tn_tensor *whole,
		       int axis, int64_t at, struct tn_tensor *part)
{
	struct tn_tensor from = *whole;
	int64_t shape[TN_MAX_RANK];
	int rank = 0;
	int i;

	for (i = 0; i < whole->rank; i++) {
		if (i != axis)
			shape[rank++] = whole->shape[i];
	}
	if (!tn_tensor_init(part, whole->dtype, rank, shape))
		return tn_ref_no_memory(ref);
	move_slice(&from, axis, at, part, true);
	return true;
}

/* Room for stacked emits; their sizes are those of the result types. */
static bool make_stacks(struct tn_ref_frame *frame, const struct tn_op *op,
			int carries, struct tn_tensor *out)
{
	struct tn_eval eval = { .dims = frame->dims };
	int64_t shape[TN_MAX_RANK];
	int i;

	for (i = carries; i < op->nout; i++) {
		const struct tn_type *type = op->out[i]->type;

		if (!tn_eval_shape(&eval, type, shape) ||
		    !tn_tensor_init(&out[i], type->dtype, type->rank, shape))
			return tn_ref_no_memory(frame->ref);
	}
	return true;
}

static bool same_shape(const struct tn_tensor *stack, int axis,
		       const struct tn_tensor *emit)
{
	int i;

	if (stack->rank != emit->rank + 1 || stack->dtype != emit->dtype)
		return false;
	for (i = 0; i < emit->rank; i++) {
		if (emit->shape[i] != stack->shape[i + (i >= axis)])
			return false;
	}
	return true;
}

/* One pass: slices in, carries and emits out. */
static bool scan_step(struct tn_ref_frame *frame, const struct tn_op *op,
		      const struct tn_tensor *const *in, int64_t at,
		      struct tn_tensor *out, struct tn_tensor *values)
{
	const struct tn_block *body = op->regions[0];
	int carries = (int)attr(op, "carries")->u.i;
	int axis = (int)attr(op, "axis")->u.i;
	int out_axis = (int)attr(op, "out_axis")->u.i;
	bool ok = true;
	int i;

	if (!set_params(frame, body, 0, carries, out))
		return false;
	for (i = carries; i < op->nin; i++) {
		struct tn_tensor part;

		if (!take_slice(frame->ref, in[i], axis, at, &part) ||
		    !tn_ref_set(frame, body->params[i], &part))
			return false;
	}
	if (!tn_ref_block(frame, body, values))
		return false;
	for (i = 0; i < carries; i++)
		out[i] = values[i];
	for (i = carries; i < op->nout; i++) {
		if (same_shape(&out[i], out_axis, &values[i]))
			move_slice(&out[i], out_axis, at, &values[i], false);
		else
			ok = tn_ref_fail(frame->ref, TN_BAD_INPUT, op->span,
					 "an emit of 'scan' changes its size");
		tn_tensor_fini(&values[i]);
	}
	return ok;
}

static bool run_scan(struct tn_ref_frame *frame, const struct tn_op *op,
		     const struct tn_tensor *const *in, struct tn_tensor *out)
{
	int carries = (int)attr(op, "carries")->u.i;
	int64_t length = in[carries]->shape[attr(op, "axis")->u.i];
	bool reverse = attr(op, "reverse")->u.b, ok;
	struct tn_tensor *values = new_tensors(frame->ref, op->nout);
	int64_t i;

	ok = values && copy_operands(frame->ref, carries, in, out) &&
	     make_stacks(frame, op, carries, out);
	for (i = 0; ok && i < length; i++)
		ok = scan_step(frame, op, in, reverse ? length - 1 - i : i,
			       out, values);
	free(values);
	return ok;
}

/* ---- Kernels ------------------------------------------------------------- */

/* The memory of each parameter: of what is updated in place the result's,
 * which begins as a copy of the operand. */
static bool set_buffers(struct tn_ref *ref, const struct tn_op *op,
			const struct tn_tensor *const *in,
			struct tn_tensor *out, void **buffers)
{
	const struct tn_kernel *kernel = op->kernel;
	int nin = 0, nout = 0;
	int i;

	for (i = 0; i < kernel->nparams; i++) {
		enum tn_kbuf_role role = kernel->params[i]->role;

		if (role == TN_KBUF_INOUT) {
			tn_tensor_fini(&out[nout]);
			if (!tn_ref_copy(ref, in[nin], &out[nout]))
				return false;
		}
		buffers[i] = role == TN_KBUF_IN ? in[nin]->data :
			     out[nout].data;
		nin += role != TN_KBUF_OUT;
		nout += role != TN_KBUF_IN;
	}
	return true;
}

/* Whose fault it is that a kernel fails: that of its text, or of the pass that
 * made it. */
static enum tn_status kernel_fault(const struct tn_op *op)
{
	return op->origin && !strcmp(op->origin, "lower") ? TN_BUG :
	       TN_BAD_INPUT;
}

/* Tensors here are row-major; a kernel gets its own order: a buffer of the
 * packed elements in the place of the tensor's. */
static bool pack(struct tn_ref *ref, const struct tn_op *op,
		 const struct tn_tensor *const *in,
		 const struct tn_tensor *out, void **buffers,
		 struct tn_tensor *packed)
{
	const struct tn_kernel *kernel = op->kernel;
	int i, nin = 0, nout = 0;

	for (i = 0; i < kernel->nparams; i++) {
		const struct tn_kbuf *buf = kernel->params[i];
		const struct tn_tensor *from = buf->role == TN_KBUF_IN ?
			in[nin] : &out[nout];

		nin += buf->role != TN_KBUF_OUT;
		nout += buf->role != TN_KBUF_IN;
		if (!buf->layout)
			continue;
		if (!tn_layout_pack(buf->layout, from, &packed[i]))
			return tn_ref_no_memory(ref);
		buffers[i] = packed[i].data;
	}
	return true;
}

static bool unpack(struct tn_ref *ref, const struct tn_op *op,
		   struct tn_tensor *out, const struct tn_tensor *packed)
{
	const struct tn_kernel *kernel = op->kernel;
	int i, nout = 0;

	for (i = 0; i < kernel->nparams; i++) {
		const struct tn_kbuf *buf = kernel->params[i];

		if (buf->role == TN_KBUF_IN)
			continue;
		if (buf->layout &&
		    !tn_layout_unpack(buf->layout, packed[i].data, &out[nout]))
			return tn_ref_no_memory(ref);
		nout++;
	}
	return true;
}

static bool run_launch(struct tn_ref_frame *frame, const struct tn_op *op,
		       const struct tn_tensor *const *in,
		       struct tn_tensor *out)
{
	size_t count = (size_t)op->kernel->nparams;
	void **buffers = calloc(count + 1, sizeof(*buffers));
	uint32_t flags = 0;
	struct tn_buf why;
	struct tn_tensor *packed;
	bool ok;

	packed = calloc(count + 1, sizeof(*packed));
	if (!buffers || !packed) {
		free(buffers);
		free(packed);
		return tn_ref_no_memory(frame->ref);
	}
	tn_buf_init(&why);
	ok = make_stacks(frame, op, 0, out) &&
	     set_buffers(frame->ref, op, in, out, buffers) &&
	     pack(frame->ref, op, in, out, buffers, packed);
	if (ok && !tn_kernel_eval(op->kernel, frame->dims, buffers, &flags,
				  &why))
		ok = why.failed || strstr(tn_buf_text(&why), "has no memory") ?
			tn_ref_no_memory(frame->ref) : tn_ref_fail(frame->ref, kernel_fault(op), op->span, "%s",
				 tn_buf_text(&why));
	ok = ok && unpack(frame->ref, op, out, packed);
	frame->ref->eval.flags |= flags;
	if (flags && !frame->ref->eval.raised)
		frame->ref->eval.raised = op;
	tn_buf_fini(&why);
	tn_ref_drop((int)count, packed);
	free(packed);
	free(buffers);
	return ok;
}

/* ---- All ------------------------------------------------------------------ */

static bool run_assert(struct tn_ref_frame *frame, const struct tn_op *op,
		       const struct tn_tensor *in)
{
	struct tn_eval *eval = &frame->ref->eval;
	int64_t count = tn_tensor_count(in);
	const char *data = in->data;
	int64_t i;

	for (i = 0; i < count; i++) {
		if (data[i])
			continue;
		eval->flags |= TN_RAISED_ASSERT;
		if (!eval->raised)
			eval->raised = op;
		break;
	}
	return true;
}

static bool run_print(struct tn_ref_frame *frame, const struct tn_op *op,
		      const struct tn_tensor *in)
{
	struct tn_ref_result *result = frame->ref->result;
	const struct tn_attr *label = attr(op, "label");

	if (result->print)
		result->print(result->data, label && label->is_set &&
			      label->u.s[0] ? label->u.s :
			      tn_graph_in(op, 0)->name, in);
	return true;
}

bool tn_ref_flow(struct tn_ref_frame *frame, const struct tn_op *op,
		 const struct tn_tensor *const *in, struct tn_tensor *out)
{
	switch ((int)op->code) {
	case TN_OP_call:
		return tn_ref_fn(frame->ref, op->callee, frame->dims, op->nin,
				 in, out);
	case TN_OP_if:
		return tn_ref_block(frame, op->regions[is_true(in[0]) ? 0 : 1],
				    out);
	case TN_OP_for:
		return run_for(frame, op, in, out);
	case TN_OP_while:
		return run_while(frame, op, in, out);
	case TN_OP_scan:
		return run_scan(frame, op, in, out);
	case TN_OP_launch:
		return run_launch(frame, op, in, out);
	case TN_OP_assert:
		return run_assert(frame, op, in[0]);
	case TN_OP_print:
		return run_print(frame, op, in[0]);
	}
	return tn_ref_fail(frame->ref, TN_UNSUPPORTED, op->span,
			   "'%s' cannot be interpreted",
			   tn_ops[op->code].name);
}
