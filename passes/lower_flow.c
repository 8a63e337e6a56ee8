/*
 * Control flow in a lowered module.
 *
 * In: flow operators whose regions hold operators. Out: flow operators whose
 * regions hold launches, in the form below, which a memory plan and a back
 * end can carry out with copies of whole buffers alone.
 *
 *   launch   Operands are the kernel's IN and INOUT parameters in order,
 *            results its INOUT and OUT parameters in order. A result of an
 *            INOUT parameter is the same buffer as the operand, updated in
 *            place: the annotation @inplace(r, k) says that result r is
 *            operand k.
 *   for      operands: initial carries. One region; parameters: the index
 *            (an i64 scalar, set before each turn from `from` to `to` - 1),
 *            then the carries. Each carry has one buffer, that of its
 *            parameter. Before the loop the operand is copied into it; at the
 *            end of a turn the yielded value is copied into it, unless that
 *            value is the same buffer: the parameter itself, or a result
 *            @inplace of it. The loop's result is that buffer.
 *   while    operands: initial carries. Regions: condition, then body, both
 *            with the carries as parameters, which are the same buffers in
 *            both; the first yields a bool scalar. Carries as in `for`. With
 *            `max` the loop ends after that many turns.
 *   if       operand: a bool scalar. Two regions without parameters; what the
 *            one taken yields is copied into the buffers of the results.
 *   yield    In `for` and the body of `while`, value i is carry i's parameter
 *            (or @inplace of it), or a value that a launch or flow operator
 *            of this region made, in a buffer of its own that no other value
 *            yielded shares. So the copies at the end of a turn may be done
 *            in any order.
 *   return   Each value is the result of a launch or flow operator of the
 *            function's own block, in a buffer that no other one shares.
 *   scan     is gone: a `for` over the length of the inputs. Each turn begins
 *            with launches that copy the slices of the inputs at the index;
 *            a stacked result is a carry, filled with zeros before the loop,
 *            into which a launch @inplace writes the turn's slice.
 *   assert   is a launch without results that raises the flag; its words
 *            stand in an annotation of the kernel.
 *   print    stays.
 */
#include "passes/lower.h"

#include <stdio.h>

#include "ir/view.h"

/* The value whose buffer this one is: through reshapes, and through launches
 * in place. */
static struct tn_value *base_of(struct tn_value *value, bool *is_moved)
{
	int64_t offset;
	int k;

	for (;;) {
		if (!value->op)
			return value;
		if (tn_view_of(value->op, &offset)) {
			*is_moved = true;
			value = tn_graph_in(value->op, 0);
			continue;
		}
		k = tn_view_updated(value->op, value->index);
		if (k < 0)
			return value;
		value = tn_graph_in(value->op, k);
	}
}

/* True if the buffer of `value` may be handed out by `end` at place i. */
static bool is_own(struct tn_lower *lw, struct tn_op *end, int i,
		   struct tn_value *const *params, struct tn_map *seen)
{
	bool is_moved = false;
	struct tn_value *value = tn_graph_in(end, i);
	struct tn_value *base = base_of(value, &is_moved);
	bool is_local = base->op && base->op->block == end->block &&
		base->op->code != TN_OP_const;

	if (params && base == params[i] && !is_moved)
		return true;
	if (!is_local || tn_map_has(seen, base))
		return false;
	if (!tn_map_set(seen, base, base))
		lw->failed = true;
	return true;
}

bool tn_lower_ends(struct tn_lower *lw, struct tn_op *end,
		   struct tn_value *const *params)
{
	struct tn_map seen;
	int i;

	tn_map_init_ptr(&seen);
	for (i = 0; i < end->nin && !lw->failed; i++) {
		struct tn_value *copy;

		if (is_own(lw, end, i, params, &seen))
			continue;
		copy = tn_lower_copy(lw, tn_graph_in(end, i),
				     tn_graph_in(end, i)->layout, end);
		if (!copy)
			lw->failed = true;
		else
			tn_rw_set_operand(lw->rw, end, i, copy);
	}
	tn_map_fini(&seen);
	return !lw->failed;
}

bool tn_lower_assert(struct tn_lower *lw, struct tn_op *op)
{
	struct tn_value *value = tn_graph_in(op, 0);
	const struct tn_kexpr *index[TN_MAX_RANK], *holds;
	struct tn_op *launch;

	if (!tn_lower_begin(lw, op->block->fn->name, "assert"))
		return false;
	if (!tn_lower_is_literal(value))
		tn_lower_param(lw, value, TN_KBUF_IN);
	tn_lower_for_type(lw, value->type, index);
	holds = tn_lower_element(lw, value, index);
	tn_lower_raise(lw, tn_lower_unary(lw, TN_OP_not, holds),
		       TN_RAISED_ASSERT);
	tn_lower_close(lw, 0);
	lw->kernel->span = op->span;
	if (!tn_message_keep(lw->kernel, op))
		lw->failed = true;
	tn_rw_note(lw->rw, "assert", op);
	launch = tn_lower_launch(lw, op->block, op, op->span);
	if (!launch)
		return false;
	tn_rw_copy_annots(lw->rw, launch, op);
	tn_rw_erase(lw->rw, op);
	return true;
}

/* A scan on its way to a `for`. */
struct loop {
	struct tn_op *scan, *loop;
	struct tn_block *body;
	struct tn_value *turn;	/* index parameter */
	int ncarries, ninputs, nemits;
	struct tn_value **inputs;
	struct tn_value **slices;	/* parameters that become values */
	const struct tn_dim *length;
	int64_t axis, out_axis;
	bool reverse;
};

/* The index of this turn along `n`, from the parameter or turned round. */
static const struct tn_kexpr *turn_index(struct tn_lower *lw,
					 const struct loop *loop)
{
	const struct tn_kexpr *at, *last;

	at = tn_lower_element(lw, loop->turn, NULL);
	if (loop->reverse) {
		last = tn_kexpr_sub(lw->kernel, tn_lower_dim(lw, loop->length),
				    tn_lower_int(lw, 1));
		at = tn_kexpr_sub(lw->kernel, last, at);
	}
	return tn_lower_let(lw, "at", tn_lower_clamp(lw, at, loop->length));
}

/* Index of the whole tensor: `at` along axis, the slice's own elsewhere. */
static void whole_index(int rank, int64_t axis, const struct tn_kexpr *at,
			const struct tn_kexpr *const *slice,
			const struct tn_kexpr **whole)
{
	int i;

	for (i = 0; i < rank; i++)
		whole[i] = i == axis ? at : slice[i < axis ? i : i - 1];
}

/* `slice` becomes the result of a launch at the start of the body. */
static bool slice_in(struct tn_lower *lw, const struct loop *loop, int k)
{
	struct tn_value *slice = loop->slices[k], *input = loop->inputs[k];
	const struct tn_kexpr *index[TN_MAX_RANK], *whole[TN_MAX_RANK], *at;
	struct tn_kbuf *out;
	struct tn_op *launch;

	if (!tn_lower_begin(lw, loop->body->fn->name, slice->name))
		return false;
	tn_lower_param(lw, loop->turn, TN_KBUF_IN);
	if (!tn_lower_is_literal(input))
		tn_lower_param(lw, input, TN_KBUF_IN);
	out = tn_lower_param(lw, slice, TN_KBUF_OUT);
	at = turn_index(lw, loop);
	tn_lower_for_type(lw, slice->type, index);
	whole_index(input->type->rank, loop->axis, at, index, whole);
	tn_lower_store(lw, out, index, tn_lower_element(lw, input, whole));
	tn_lower_close(lw, 0);
	lw->kernel->comment = "the slice of one turn of a scan";
	launch = tn_lower_launch(lw, loop->body, loop->body->first,
				 loop->scan->span);
	return launch && tn_rw_define(lw->rw, slice, launch);
}

/* The stacked tensor `stack`, a carry, with `emit` put at this turn. */
static struct tn_value *slice_out(struct tn_lower *lw,
				  const struct loop *loop,
				  struct tn_value *emit,
				  struct tn_value *stack, struct tn_op *end)
{
	const struct tn_kexpr *index[TN_MAX_RANK], *whole[TN_MAX_RANK];
	const struct tn_kexpr *at, *value;
	struct tn_value *filled;
	struct tn_kbuf *out;
	struct tn_op *launch;
	char args[32];
	int operand;

	if (!tn_lower_begin(lw, loop->body->fn->name, stack->name))
		return NULL;
	tn_lower_param(lw, loop->turn, TN_KBUF_IN);
	if (!tn_lower_is_literal(emit) && emit != loop->turn)
		tn_lower_param(lw, emit, TN_KBUF_IN);
	operand = (int)lw->operands.len;
	out = tn_lower_param(lw, stack, TN_KBUF_INOUT);
	at = turn_index(lw, loop);
	tn_lower_for_type(lw, emit->type, index);
	whole_index(stack->type->rank, loop->out_axis, at, index, whole);
	value = tn_lower_element(lw, emit, index);
	tn_lower_store(lw, out, whole, value);
	tn_lower_close(lw, 0);
	lw->kernel->comment = "what one turn of a scan emits, in its place";
	launch = tn_lower_launch(lw, loop->body, end, loop->scan->span);
	if (!launch)
		return NULL;
	snprintf(args, sizeof(args), "0, %d", operand);
	filled = tn_rw_result(lw->rw, launch, stack->type, stack->name);
	if (!filled || !tn_rw_annotate(lw->rw, launch, "inplace", args))
		return NULL;
	return filled;
}

/* A tensor of zeros before the loop, to be filled by it. */
static struct tn_value *zeros(struct tn_lower *lw, const struct loop *loop,
			      struct tn_value *like)
{
	const struct tn_kexpr *index[TN_MAX_RANK];
	struct tn_block *block = loop->scan->block;
	struct tn_kbuf *out;
	struct tn_op *launch;

	if (!tn_lower_begin(lw, block->fn->name, like->name))
		return NULL;
	out = tn_lower_param(lw, like, TN_KBUF_OUT);
	tn_lower_for_type(lw, like->type, index);
	tn_lower_store(lw, out, index,
		       tn_lower_number(lw, like->type->dtype, 0));
	tn_lower_close(lw, 0);
	lw->kernel->comment = "zeros";
	launch = tn_lower_launch(lw, block, loop->scan, loop->scan->span);
	return launch ? tn_rw_result(lw->rw, launch, like->type, NULL) : NULL;
}

/* The parameters of the body become: index, carries, stacked results; then
 * the slices, each until it is defined by a launch. */
static bool set_params(struct tn_lower *lw, struct loop *loop)
{
	const struct tn_type *type = tn_type_get(lw->module, TN_i64, 0, NULL);
	const struct tn_value *stack;
	int i;

	if (!type)
		return false;
	loop->turn = tn_rw_param(lw->rw, loop->body, 0, type, NULL);
	for (i = 0; i < loop->nemits && loop->turn; i++) {
		stack = loop->scan->out[loop->ncarries + i];
		if (!tn_rw_param(lw->rw, loop->body, 1 + loop->ncarries + i,
				 stack->type, stack->name))
			return false;
	}
	return loop->turn != NULL;
}

static bool read_scan(struct tn_lower *lw, struct tn_op *op,
		      struct loop *loop)
{
	struct tn_arena *arena = &lw->module->arena;
	size_t n;
	int i;

	loop->scan = op;
	loop->body = op->regions[0];
	loop->ncarries = (int)tn_lower_attr_int(op, "carries");
	loop->ninputs = op->nin - loop->ncarries;
	loop->nemits = op->nout - loop->ncarries;
	loop->axis = tn_lower_attr_int(op, "axis");
	loop->out_axis = tn_lower_attr_int(op, "out_axis");
	loop->reverse = tn_lower_attr_bool(op, "reverse");
	n = (size_t)loop->ninputs;
	loop->inputs = tn_arena_array(arena, n, sizeof(void *));
	loop->slices = tn_arena_array(arena, n, sizeof(void *));
	if (!loop->inputs || !loop->slices)
		return false;
	for (i = 0; i < loop->ninputs; i++) {
		loop->inputs[i] = tn_graph_in(op, loop->ncarries + i);
		loop->slices[i] = loop->body->params[loop->ncarries + i];
	}
	loop->length = loop->inputs[0]->type->dims[loop->axis];
	return true;
}

/* The `for` that takes the scan's place, results and all. */
static bool replace_scan(struct tn_lower *lw, struct loop *loop)
{
	struct tn_op *scan = loop->scan, *made;
	int nin = loop->ncarries + loop->nemits, i;
	struct tn_rw_spot spot = { scan->block, scan };
	struct tn_value **in;

	in = tn_arena_array(&lw->module->arena, (size_t)nin, sizeof(*in));
	if (!in)
		return false;
	for (i = 0; i < nin; i++) {
		in[i] = i < loop->ncarries ? tn_graph_in(scan, i)
					   : zeros(lw, loop, scan->out[i]);
		if (!in[i])
			return false;
	}
	made = tn_rw_flow(lw->rw, &spot, TN_OP_for, nin, in, scan->span);
	if (!made)
		return false;
	tn_rw_set_attr(lw->rw, made,
		       tn_attr_dim("from", tn_lower_dim_int(lw, 0)));
	tn_rw_set_attr(lw->rw, made, tn_attr_dim("to", loop->length));
	tn_rw_move_regions(lw->rw, scan, made);
	tn_rw_copy_annots(lw->rw, made, scan);
	tn_rw_move_results(lw->rw, scan, made);
	loop->loop = made;
	tn_rw_erase(lw->rw, scan);
	return true;
}

struct tn_op *tn_lower_scan_loop(struct tn_lower *lw, struct tn_op *op)
{
	struct loop loop = { 0 };
	struct tn_op *end;
	int i;

	tn_rw_note(lw->rw, "scan-to-for", op);
	if (!read_scan(lw, op, &loop) || !set_params(lw, &loop))
		return NULL;
	end = loop.body->last;
	for (i = 0; i < loop.nemits; i++) {
		struct tn_value *stack;
		int at = loop.ncarries + i;

		stack = slice_out(lw, &loop, tn_graph_in(end, at),
				  loop.body->params[1 + at], end);
		if (!stack)
			return NULL;
		tn_rw_set_operand(lw->rw, end, at, stack);
	}
	for (i = loop.ninputs - 1; i >= 0; i--)
		if (!slice_in(lw, &loop, i))
			return NULL;
	if (tn_graph_attr(end, "emits"))
		tn_rw_set_attr(lw->rw, end, tn_attr_int("emits", 0));
	return replace_scan(lw, &loop) ? loop.loop : NULL;
}
