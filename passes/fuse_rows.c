/*
 * Groups that go over the same rows become one.
 *
 * In: groups of one loop nest each. Out: fewer, some with several anchors. A
 * producer whose result one other group alone reads joins it if both go over
 * the same rows, the leading axes that every value handed on inside has in
 * common, and if that pays. A schedule then joins the nests, and one pass over
 * each row, or block of rows, is left.
 *
 *   m = max(x, axis 1)     e = exp(x - m)                 1 row: x[i, :]
 *   s = sum(e, axis 1)     y = e / s              ->      one group
 *
 * So norms and softmax, norms ahead of a contraction, and attention: scores,
 * mask, softmax and the product with the values. Movement that a contraction
 * alone reads joins it, for it reads as well where the elements were; so does
 * a transpose of the result that leaves the last axis last. Windows have
 * kernels of their own.
 */
#include "passes/fuse.h"

#include "ir/infer.h"

/* ---- Rows ---------------------------------------------------------------- */

static int rows_of_reduce(const struct tn_op *op)
{
	const struct tn_attr *axes = tn_graph_attr(op, "axes");
	int rank = tn_graph_in(op, 0)->type->rank, i, first = rank;

	if (!axes)
		return (int)tn_graph_attr(op, "axis")->u.i;
	if (!axes->is_set)
		return 0;
	for (i = 0; i < axes->count; i++)
		if (axes->u.ints[i] < first)
			first = (int)axes->u.ints[i];
	return first;
}

static int rows_of_contract(const struct tn_op *op, int k)
{
	const struct tn_type *type = tn_graph_in(op, k)->type;
	struct tn_einsum sum;
	const char *why;
	int n = 0;

	if (!tn_einsum_of(op, &sum, &why))
		return 0;
	while (n < sum.out_rank && n < type->rank &&
	       sum.index[k][n] == sum.out[n] &&
	       type->dims[n] == op->out[0]->type->dims[n])
		n++;
	return n;
}

static int rows_of_transpose(const struct tn_op *op)
{
	const struct tn_attr *perm = tn_graph_attr(op, "perm");
	int n = 0;

	while (n < perm->count && perm->u.ints[n] == n)
		n++;
	return n;
}

static int rows_of_move(const struct tn_op *op)
{
	const struct tn_type *from = tn_graph_in(op, 0)->type;
	const struct tn_type *to = op->out[0]->type;
	enum tn_srule srule = tn_ops[op->code].srule;

	if (op->nin != 1)
		return 0;
	if (srule == TN_SRULE_TRANSPOSE)
		return rows_of_transpose(op);
	if (srule == TN_SRULE_SLICE || srule == TN_SRULE_RESHAPE ||
	    (srule == TN_SRULE_BROADCAST && from->rank == to->rank))
		return tn_type_common_axes(from, to);
	return 0;
}

/* How many leading axes the result shares with operand `k`: what the result
 * has at an index of theirs comes from that index of the operand alone. */
static int rows_kept(const struct tn_op *op, int k)
{
	const struct tn_type *from = tn_graph_in(op, k)->type;
	const struct tn_type *to = op->out[0]->type;

	switch (tn_ops[op->code].op_class) {
	case TN_CLASS_MAP:
		return from->rank == to->rank ?
			tn_type_common_axes(from, to) : 0;
	case TN_CLASS_REDUCE:
		return rows_of_reduce(op);
	case TN_CLASS_CONTRACT:
		return rows_of_contract(op, k);
	case TN_CLASS_MOVE:
		return rows_of_move(op);
	case TN_CLASS_SCAN:
	case TN_CLASS_WINDOW:
	case TN_CLASS_ORDER:
	case TN_CLASS_INDEX:
	case TN_CLASS_SOURCE:
	case TN_CLASS_FLOW:
	case TN_CLASS_CUSTOM:
		break;
	}
	return 0;
}

/* True if the op is a member of either group. */
static bool is_member(const struct tn_fuser *f, const struct tn_op *op,
		      const struct tn_fuse_group *a,
		      const struct tn_fuse_group *b)
{
	const struct tn_fuse_group *group = op ? tn_map_find(&f->of, op) : NULL;

	return group && (group == a || group == b);
}

static bool is_move(const struct tn_op *op)
{
	return op->nout == 1 && op->nin == 1 &&
		tn_ops[op->code].op_class == TN_CLASS_MOVE;
}

/* The least rows of the group's inner edges and of those that read `more`.
 * What movement alone brings from outside may be read anywhere, and nests do
 * not go by the axes of what a tail makes. */
static int rows_of(const struct tn_fuser *f,
		   const struct tn_fuse_group *group,
		   const struct tn_fuse_group *more)
{
	const struct tn_fuse_member *m;
	const struct tn_op *from;
	int rows = TN_MAX_RANK, kept, i;

	for (m = group->first; m; m = m->next)
		for (i = 0; i < m->op->nin && m->op != group->tail; i++) {
			from = tn_graph_in(m->op, i)->op;
			while (is_member(f, from, group, more) &&
			       is_move(from))
				from = tn_graph_in(from, 0)->op;
			if (!is_member(f, from, group, more))
				continue;
			kept = rows_kept(m->op, i);
			if (kept < rows)
				rows = kept;
		}
	return rows;
}

/* ---- Merging ------------------------------------------------------------- */

/* The producer's members become the consumer's, in the order of the text. */
static bool merge(struct tn_fuser *f, struct tn_fuse_group *consumer,
		  struct tn_fuse_group *producer)
{
	struct tn_fuse_member **at = &consumer->first, *m = producer->first;
	struct tn_fuse_member *next;

	for (; m; m = next) {
		next = m->next;
		while (*at && tn_fuse_is_before(f, (*at)->op, m->op))
			at = &(*at)->next;
		m->next = *at;
		*at = m;
		if (!tn_map_set(&f->of, m->op, consumer))
			return false;
	}
	consumer->members += producer->members;
	consumer->anchors += producer->anchors;
	consumer->is_rows = true;
	consumer->nin += producer->nin - 1;
	producer->first = NULL;
	producer->members = 0;
	return true;
}

static bool miss(const struct tn_fuser *f,
		 const struct tn_fuse_group *producer,
		 const struct tn_fuse_group *consumer, const char *why)
{
	tn_rw_miss(f->context->rw, "fuse", producer->root, consumer->root,
		   "%s", why);
	return false;
}

static bool has_window(const struct tn_fuse_group *group)
{
	return group->anchor && tn_ops[group->anchor->code].op_class ==
		TN_CLASS_WINDOW;
}

/* What takes far longer than a step of a product: a call, a division, a float
 * to an integer. */
static bool is_dear(const struct tn_op *op)
{
	return tn_op_calls(op->code) || op->code == TN_OP_div ||
		(op->code == TN_OP_cast &&
		 tn_dtype_is(op->out[0]->type->dtype, TN_KIND_INT) &&
		 tn_dtype_is(tn_graph_in(op, 0)->type->dtype, TN_KIND_F));
}

/* Whether a group with an anchor makes an operand of the member, so that it may
 * join, too. */
static bool follows_anchor(const struct tn_fuser *f,
			   const struct tn_fuse_member *m)
{
	const struct tn_fuse_group *group;
	const struct tn_op *from;
	int i;

	for (i = 0; i < m->op->nin; i++) {
		from = tn_graph_in(m->op, i)->op;
		group = from && from->out[0]->type->rank ?
			tn_map_find(&f->of, from) : NULL;
		if (group && group->anchors)
			return true;
	}
	return false;
}

/* Maps alone, ahead of a contraction alone, have no nest in its kernel: they
 * are computed where they are read, anew for each block of columns. */
static bool is_read_anew(const struct tn_fuser *f,
			 const struct tn_fuse_group *producer,
			 const struct tn_fuse_group *consumer)
{
	const struct tn_fuse_member *m;
	bool dear = false;

	if (producer->anchors || consumer->anchors != 1 ||
	    !consumer->anchor || !tn_fuse_is_contract(consumer->anchor))
		return false;
	for (m = producer->first; m; m = m->next) {
		if (follows_anchor(f, m))
			return false;
		dear |= is_dear(m->op);
	}
	return dear;
}

/* Whether the groups become one; if not the reason is told. */
static bool may_merge(struct tn_fuser *f,
		      const struct tn_fuse_group *producer,
		      const struct tn_fuse_group *consumer)
{
	int rows, own;
	struct tn_buf why;
	bool pays;

	if (producer->anchors + consumer->anchors == 0)
		return false;
	if (has_window(producer) || has_window(consumer))
		return miss(f, producer, consumer,
			    "a window has a kernel of its own, which goes by "
			    "blocks of pixels");
	if (producer->members + consumer->members > TN_FUSE_MEMBERS ||
	    producer->nin + consumer->nin > TN_FUSE_OPERANDS)
		return miss(f, producer, consumer,
			    "together they would be more operators, or read "
			    "more values, than one kernel may");
	rows = rows_of(f, consumer, producer);
	own = rows_of(f, producer, NULL);
	rows = own < rows ? own : rows;
	if (producer->tail && rows_kept(producer->tail, 0) < rows)
		rows = rows_kept(producer->tail, 0);
	if (rows < 1)
		return miss(f, producer, consumer,
			    "they have no rows in common: what one reads of "
			    "the other lies across them");
	if (is_read_anew(f, producer, consumer))
		return miss(f, producer, consumer,
			    "the product would compute it anew for each block "
			    "of columns");
	tn_buf_init(&why);
	pays = tn_fuse_pays(f, producer, rows, &why);
	if (!pays)
		miss(f, producer, consumer, tn_buf_text(&why));
	tn_buf_fini(&why);
	return pays;
}

/* ---- Movement ------------------------------------------------------------ */

static bool is_last_kept(const struct tn_op *op)
{
	const struct tn_attr *perm = tn_graph_attr(op, "perm");
	int rank = op->out[0]->type->rank;

	return perm->count == rank && rank &&
		perm->u.ints[rank - 1] == rank - 1;
}

static bool is_dense(const struct tn_op *op)
{
	const struct tn_attr *step = tn_graph_attr(op, "step");
	int rank = op->out[0]->type->rank;

	return rank && (!step->is_set || !step->count ||
			step->u.ints[rank - 1] == 1);
}

/* Splits axes, so that the index in the operand is a sum of products. */
static bool is_split(const struct tn_op *op)
{
	const struct tn_type *from = tn_graph_in(op, 0)->type;
	const struct tn_type *to = op->out[0]->type;
	int i, k = 0;

	for (i = 0; i < from->rank; i++) {
		if (k < to->rank && from->dims[i] == to->dims[k]) {
			k++;
			continue;
		}
		return i == from->rank - 1 && k < to->rank;
	}
	return k == to->rank;
}

/* Movement after which the last axis still runs along memory. */
static bool keeps_lines(const struct tn_op *op)
{
	enum tn_srule srule = tn_ops[op->code].srule;

	if (!is_move(op))
		return false;
	if (srule == TN_SRULE_TRANSPOSE)
		return is_last_kept(op);
	if (srule == TN_SRULE_SLICE)
		return is_dense(op);
	return srule == TN_SRULE_RESHAPE && is_split(op);
}

/* The contraction sums over axis `axis` of the value. */
static bool sums_over(const struct tn_op *op, const struct tn_value *value,
		      int axis)
{
	struct tn_einsum sum;
	const char *why;
	int k, n;

	if (!tn_einsum_of(op, &sum, &why))
		return false;
	for (k = 0; k < op->nin; k++)
		for (n = 0; n < sum.out_rank; n++)
			if (tn_graph_in(op, k) == value &&
			    sum.index[k][axis] == sum.out[n])
				return false;
	return true;
}

/* A transpose after which what lay along memory is summed over: the sums go
 * along memory without it. */
static bool is_summed_line(const struct tn_op *op)
{
	const struct tn_attr *perm;
	const struct tn_use *use;
	int line, axis = 0;

	if (!is_move(op) || tn_ops[op->code].srule != TN_SRULE_TRANSPOSE)
		return false;
	perm = tn_graph_attr(op, "perm");
	line = op->out[0]->type->rank - 1;
	while (perm->count && axis < line && perm->u.ints[axis] != line)
		axis++;
	for (use = op->out[0]->uses; use; use = use->next)
		if (!tn_fuse_is_contract(use->op) ||
		    !sums_over(use->op, op->out[0], axis))
			return false;
	return line > 0;
}

/* The op, which the group alone reads, may be read through: by contractions
 * and by movement that they read through. */
static bool is_factor(const struct tn_fuse_group *group,
		      const struct tn_op *op)
{
	const struct tn_use *use;

	if (group->is_rows && is_summed_line(op))
		return true;
	for (use = op->out[0]->uses; use; use = use->next)
		if (!tn_fuse_is_contract(use->op) && !is_move(use->op))
			return false;
	return keeps_lines(op);
}

/* A transpose that alone reads the group's result becomes its result. */
static bool append_move(struct tn_fuser *f, struct tn_fuse_group *group)
{
	const struct tn_use *use = group->root->out[0]->uses;
	struct tn_fuse_member **at = &group->first;
	struct tn_op *op = use ? use->op : NULL;

	if (!op || use->next || !is_move(op) ||
	    op->block != group->root->block || tn_map_has(&f->of, op) ||
	    tn_ops[op->code].srule != TN_SRULE_TRANSPOSE ||
	    !is_last_kept(op) || !group->anchors ||
	    group->members == TN_FUSE_MEMBERS)
		return true;
	while (*at)
		at = &(*at)->next;
	*at = tn_arena_alloc(&f->arena, sizeof(**at));
	if (!*at)
		return false;
	(*at)->op = op;
	group->members++;
	group->root = op;
	group->tail = op;
	return tn_map_set(&f->of, op, group);
}

/* ---- The walk ------------------------------------------------------------ */

static bool visit_root(struct tn_fuser *f, struct tn_fuse_group *group)
{
	struct tn_fuse_group *consumer;

	if (!append_move(f, group))
		return false;
	consumer = tn_fuse_readers(f, group->root);
	if (!consumer || consumer == group ||
	    !may_merge(f, group, consumer))
		return true;
	return merge(f, consumer, group);
}

static bool visit(struct tn_fuser *f, struct tn_op *op)
{
	struct tn_fuse_group *group = tn_map_find(&f->of, op);

	if (group)
		return group->root != op || visit_root(f, group);
	group = is_move(op) ? tn_fuse_readers(f, op) : NULL;
	if (!group || !is_factor(group, op) ||
	    group->members == TN_FUSE_MEMBERS ||
	    group->nin >= TN_FUSE_OPERANDS)
		return true;
	return tn_fuse_add(f, group, op);
}

bool tn_fuse_rows(struct tn_fuser *f, struct tn_block *block)
{
	struct tn_op *op;
	int i;

	for (op = block->last; op; op = op->prev) {
		for (i = 0; i < op->nregions; i++)
			if (!tn_fuse_rows(f, op->regions[i]))
				return false;
		if (op->nout == 1 && !visit(f, op))
			return false;
	}
	return true;
}
