/*
 * Element expressions: any value of a group at any index.
 *
 * In: a value and one index expression an axis. Out: an expression, with
 * `let`s before it in the open block for what is used more than once and to
 * keep trees shallow. Values from outside the group are loaded; one-element
 * constants and dims are literals; maps and movement are inlined. The walk
 * keeps its own stack, for chains of maps may be thousands of operators long.
 *
 *   y = relu(transpose(x) + b) at [i, j]  ->  max(x[j, i] + b[j], 0.0)
 */
#include "passes/lower.h"

#define DEPTH_LIMIT 8

/* An operator whose operands are being written. */
struct frame {
	const struct tn_value *value;
	const struct tn_op *op;
	const struct tn_kexpr **index;
	int nrequests, next;	/* operand elements: needed, already got */
	const struct tn_kexpr **got;
	const struct tn_kexpr **conds;	/* movement: operand is meant if */
	int depth;		/* of the deepest tree among `got` */
};

struct tn_value *tn_lower_actual(const struct tn_lower *lw,
				 const struct tn_value *value)
{
	struct tn_value *actual = tn_map_find(&lw->actuals, value);

	return actual ? actual : (struct tn_value *)value;
}

bool tn_lower_in_group(const struct tn_lower *lw, const struct tn_op *op)
{
	if (!op)
		return false;
	return lw->group ? op->block == lw->group : op == lw->op;
}

bool tn_lower_is_literal(const struct tn_value *value)
{
	const struct tn_op *op = value->op;

	if (!op || !tn_dtype_is(value->type->dtype, TN_KIND_ANY))
		return false;
	return tn_op_has(op->code, TN_FLAG_LITERAL) &&
		(!op->literal || tn_tensor_count(op->literal) == 1);
}

static const struct tn_kexpr *literal(struct tn_lower *lw,
				      const struct tn_value *value)
{
	enum tn_dtype dtype = value->type->dtype;
	const struct tn_tensor *tensor = value->op->literal;
	const struct tn_kexpr *dim;

	if (!tensor) {
		dim = tn_lower_dim(lw, tn_graph_attr(value->op,
						     "value")->u.dim);
		return tn_lower_cast(lw, dtype, dim);
	}
	if (tn_dtype_is(dtype, TN_KIND_F))
		return tn_kexpr_float(lw->kernel, dtype,
				      tn_tensor_get_f64(tensor, 0));
	return tn_kexpr_int(lw->kernel, dtype, tn_tensor_get_i64(tensor, 0));
}

static const struct tn_kexpr *find_known(const struct tn_lower *lw,
					 const struct tn_value *value,
					 const struct tn_kexpr *const *index)
{
	struct tn_lower_known *known = tn_map_find(&lw->latest, value);
	int i;

	for (; known; known = known->before) {
		for (i = 0; i < known->nindex; i++)
			if (known->index[i] != index[i] &&
			    !(index[i]->kind == TN_KEXPR_INT &&
			      tn_kexpr_is_int(known->index[i], index[i]->i)))
				break;
		if (i == known->nindex)
			return known->expr;
	}
	return NULL;
}

void tn_lower_know(struct tn_lower *lw, const struct tn_value *value,
		   const struct tn_kexpr *const *index,
		   const struct tn_kexpr *expr)
{
	struct tn_lower_known *known;
	int i;

	known = tn_arena_alloc(&lw->module->arena, sizeof(*known));
	if (!known || !tn_vec_push_ptr(&lw->known, known)) {
		lw->failed = true;
		return;
	}
	known->value = value;
	known->nindex = value->type->rank;
	for (i = 0; i < known->nindex; i++)
		known->index[i] = index[i];
	known->expr = expr;
	known->before = tn_map_find(&lw->latest, value);
	if (!tn_map_set(&lw->latest, value, known))
		lw->failed = true;
}

/* How often the one op reads the value: told by the shorter list, that of the
 * value's uses or that of the op's operands. */
static int reads_of_op(const struct tn_op *op, const struct tn_value *value)
{
	const struct tn_use *use = value->uses;
	int i, by_use = 0, by_operand = 0;

	for (i = 0; i < op->nin; i++) {
		if (!use)
			return by_use;
		by_use += use->op == op;
		by_operand += tn_graph_in(op, i) == value;
		use = use->next;
	}
	return by_operand;
}

/* True if the op is written in the nest that is being made. */
static bool is_at_home(const struct tn_lower *lw, const struct tn_op *op)
{
	const void *home;

	if (op->block != lw->group)
		return false;
	home = lw->homes ? tn_map_find(lw->homes, op) : NULL;
	return !home || home == lw->home;
}

/* Uses inside the nest: whether a `let` is worth its line. */
bool tn_lower_is_shared(const struct tn_lower *lw,
			const struct tn_value *value)
{
	const struct tn_use *use;
	int count = 0;

	if (!lw->group)
		return lw->op && reads_of_op(lw->op, value) > 1;
	for (use = value->uses; use && count < 2; use = use->next)
		count += is_at_home(lw, use->op);
	return count > 1;
}

static const struct tn_kexpr *load(struct tn_lower *lw,
				   const struct tn_value *inner,
				   const struct tn_value *value,
				   const struct tn_kexpr *const *index)
{
	struct tn_kbuf *buf = tn_map_find(&lw->bufs, value);
	const struct tn_kexpr *expr;

	if (!buf) {
		tn_lower_unfit(lw);
		return NULL;
	}
	expr = tn_lower_load(lw, buf, index);
	if (!tn_lower_is_shared(lw, inner))
		return expr;
	expr = tn_lower_let(lw, buf->name, expr);
	tn_lower_know(lw, value, index, expr);
	return expr;
}

static bool is_gather(enum tn_opcode code)
{
	return tn_op_has(code, TN_FLAG_GATHERS);
}

/* True if operators of this class are written inline, operand by operand. */
static bool is_inline(const struct tn_op *op)
{
	enum tn_op_class op_class = tn_ops[op->code].op_class;

	return op_class == TN_CLASS_MAP || op_class == TN_CLASS_MOVE ||
		is_gather(op->code);
}

/* The expression if it needs no operands first; NULL: it does, or the group
 * is unfit. */
static const struct tn_kexpr *leaf(struct tn_lower *lw,
				   const struct tn_value *inner,
				   const struct tn_kexpr *const *index)
{
	const struct tn_value *value = tn_lower_actual(lw, inner);
	const struct tn_kexpr *expr = find_known(lw, value, index);

	if (expr)
		return expr;
	if (tn_lower_is_literal(value))
		return literal(lw, value);
	if (tn_map_has(&lw->bufs, value) ||
	    !tn_lower_in_group(lw, value->op))
		return load(lw, inner, value, index);
	if (tn_ops[value->op->code].op_class == TN_CLASS_SOURCE)
		return tn_lower_source(lw, value->op, index);
	if (!is_inline(value->op))
		tn_lower_unfit(lw);
	return NULL;
}

static void push(struct tn_lower *lw, struct tn_vec *stack,
		 const struct tn_value *value,
		 const struct tn_kexpr *const *index)
{
	struct tn_arena *arena = &lw->module->arena;
	struct frame *frame = tn_vec_push(stack);
	size_t n;
	int i;

	if (!frame) {
		lw->failed = true;
		return;
	}
	frame->value = value;
	frame->op = value->op;
	frame->nrequests = is_gather(value->op->code)
		? tn_lower_gather_requests(value->op) : value->op->nin;
	n = (size_t)frame->nrequests;
	frame->index = tn_arena_array(arena, TN_MAX_RANK, sizeof(void *));
	frame->got = tn_arena_array(arena, n, sizeof(void *));
	frame->conds = tn_arena_array(arena, n, sizeof(void *));
	if (!frame->index || !frame->got || !frame->conds) {
		lw->failed = true;
		return;
	}
	for (i = 0; i < value->type->rank; i++)
		frame->index[i] = index[i];
}

/* The index of a map's operand: right-aligned, 0 on axes that stretch. */
static void map_index(struct tn_lower *lw, const struct tn_type *type,
		      const struct tn_type *result,
		      const struct tn_kexpr *const *index,
		      const struct tn_kexpr **out)
{
	int skip = result->rank - type->rank;
	int i;

	for (i = 0; i < type->rank; i++)
		out[i] = tn_dim_is(type->dims[i], 1) ? tn_lower_int(lw, 0)
						     : index[skip + i];
}

static const struct tn_value *request(struct tn_lower *lw,
				      struct frame *frame,
				      const struct tn_kexpr **out)
{
	const struct tn_op *op = frame->op;
	const struct tn_value *operand;

	if (is_gather(op->code))
		return tn_lower_gather_request(lw, op, frame->next,
					       frame->index, frame->got, out);
	operand = tn_graph_in(op, frame->next);
	if (tn_ops[op->code].op_class == TN_CLASS_MAP)
		map_index(lw, operand->type, frame->value->type, frame->index,
			  out);
	else
		tn_lower_move_index(lw, op, frame->next, frame->index, out,
				    &frame->conds[frame->next]);
	return operand;
}

/* Joins the operands of pad and concat: the first whose condition holds, else
 * the last; 0 if this, the fill of a pad, was left out. */
static const struct tn_kexpr *choose(struct tn_lower *lw,
				     const struct frame *frame)
{
	int n = frame->nrequests;
	const struct tn_kexpr *expr = frame->got[n - 1];
	int i;

	if (n < tn_ops[frame->op->code].nin_max)
		expr = tn_lower_number(lw, frame->value->type->dtype, 0);
	else
		n--;
	for (i = n - 1; i >= 0; i--)
		expr = frame->conds[i]
			? tn_lower_select(lw, frame->conds[i], frame->got[i],
					  expr) : frame->got[i];
	return expr;
}

static const struct tn_kexpr *finish(struct tn_lower *lw,
				     const struct frame *frame)
{
	enum tn_dtype dtype = frame->value->type->dtype;

	if (is_gather(frame->op->code))
		return tn_lower_gather_finish(lw, frame->op, frame->got);
	if (tn_ops[frame->op->code].op_class == TN_CLASS_MOVE)
		return choose(lw, frame);
	if (tn_ops[frame->op->code].drule == TN_DRULE_ELEM)
		if (frame->got[0] && frame->got[0]->dtype == dtype)
			return frame->got[0];
	return tn_kexpr_op(lw->kernel, frame->op->code, dtype,
			   frame->nrequests, frame->got);
}

/* Ends the top frame: its expression goes to the one below. */
static const struct tn_kexpr *complete(struct tn_lower *lw,
				       struct tn_vec *stack)
{
	struct frame *frame = tn_vec_at(stack, stack->len - 1);
	const struct tn_kexpr *expr = finish(lw, frame);
	int depth = frame->depth + 1;

	if (expr && (depth > DEPTH_LIMIT ||
		     tn_lower_is_shared(lw, frame->value))) {
		expr = tn_lower_let(lw, frame->value->name, expr);
		depth = 0;
	}
	if (expr)
		tn_lower_know(lw, frame->value, frame->index, expr);
	tn_vec_pop(stack);
	if (stack->len == 0)
		return expr;
	frame = tn_vec_at(stack, stack->len - 1);
	frame->got[frame->next++] = expr;
	if (depth > frame->depth)
		frame->depth = depth;
	return expr;
}

static void step(struct tn_lower *lw, struct tn_vec *stack)
{
	const struct tn_kexpr *index[TN_MAX_RANK] = { NULL };
	struct frame *frame = tn_vec_at(stack, stack->len - 1);
	const struct tn_value *operand = request(lw, frame, index);
	const struct tn_kexpr *expr;
	int i;

	for (i = 0; i < operand->type->rank; i++)
		if (!index[i])
			lw->failed = true;
	if (lw->failed)
		return;
	expr = leaf(lw, operand, index);
	if (expr)
		frame->got[frame->next++] = expr;
	else if (!lw->unfit && !lw->module->arena.failed)
		push(lw, stack, tn_lower_actual(lw, operand), index);
}

const struct tn_kexpr *tn_lower_element(struct tn_lower *lw,
					const struct tn_value *value,
					const struct tn_kexpr *const *index)
{
	const struct tn_kexpr *expr = leaf(lw, value, index);
	struct tn_vec stack;

	if (expr || lw->unfit || lw->failed || lw->module->arena.failed)
		return expr;
	tn_vec_init(&stack, sizeof(struct frame), NULL);
	push(lw, &stack, tn_lower_actual(lw, value), index);
	while (stack.len && !lw->failed && !lw->unfit &&
	       !lw->module->arena.failed) {
		struct frame *frame = tn_vec_at(&stack, stack.len - 1);

		if (frame->next < frame->nrequests)
			step(lw, &stack);
		else
			expr = complete(lw, &stack);
	}
	if (stack.len)
		expr = NULL;
	tn_vec_fini(&stack);
	return expr;
}
