/*
 * fuse: what one loop nest computes becomes one function each.
 *
 *   z = matmul(x, w);
 *   t = add(z, b);                 fn main__f0(x, w, b) -> f32[B, 256] @fused
 *   h = max(t, 0.0);       ->      h = main__f0(x, w, b);
 *
 * An operator joins the group of its readers when all of them are in one group
 * and nothing is computed twice by that:
 * - a map, when the group works on its shape;
 * - a contraction, window or reduction, the anchor of the group, of which there
 *   is one: the maps behind it are its epilogue;
 * - a map that a reduction alone reads, element by element: its prologue, if
 *   it is no epilogue of a contraction or window; no more is a map ahead of
 *   what follows another of them;
 * - a broadcast or a slice that maps alone read: they read what it was made of.
 * Scalar constants, sizes and iota are copied into the group. A group is closed
 * under paths: a member other than the last is read inside the group alone, and
 * the group stands at the place of its last member, after all its operands.
 *
 * So each group is one nest. fuse_rows.c then makes one of those that go over
 * the same rows, and what has several members is outlined.
 */
#include "passes/fuse.h"

static bool is_map(const struct tn_op *op)
{
	return tn_ops[op->code].op_class == TN_CLASS_MAP;
}

/* Elements that their place alone tells. */
static bool is_counting(const struct tn_value *value)
{
	return value->op && value->op->code == TN_OP_iota;
}

/* Constants and sizes that each group may hold a copy of. */
static bool is_source(const struct tn_value *value)
{
	return is_counting(value) || (value->op && value->type->rank == 0 &&
		tn_op_has(value->op->code, TN_FLAG_LITERAL));
}

/* What has a nest of its own, in which maps find room. */
static bool is_anchor(const struct tn_op *op)
{
	enum tn_op_class op_class = tn_ops[op->code].op_class;

	return op->nout == 1 &&
		(op_class == TN_CLASS_CONTRACT ||
		 op_class == TN_CLASS_WINDOW || op_class == TN_CLASS_REDUCE);
}

bool tn_fuse_is_contract(const struct tn_op *op)
{
	return tn_ops[op->code].op_class == TN_CLASS_CONTRACT;
}

/* What is read as well where it comes from: rows stay rows. */
static bool is_place(const struct tn_op *op)
{
	enum tn_srule srule = tn_ops[op->code].srule;

	return srule == TN_SRULE_BROADCAST || srule == TN_SRULE_SLICE;
}

static bool same_space(const struct tn_op *a, const struct tn_value *b)
{
	return tn_type_same_shape(a->out[0]->type, b->type);
}

struct tn_fuse_group *tn_fuse_readers(const struct tn_fuser *f,
				      const struct tn_op *op)
{
	struct tn_fuse_group *group = NULL, *other;
	const struct tn_use *use;

	for (use = op->out[0]->uses; use; use = use->next) {
		other = tn_map_find(&f->of, use->op);
		if (!other || use->op->block != op->block ||
		    (group && other != group))
			return NULL;
		group = other;
	}
	return group;
}

/* Adding `op` turns one operand into at most op->nin others. */
static bool has_room(const struct tn_fuse_group *group, const struct tn_op *op)
{
	return group->members < TN_FUSE_MEMBERS &&
		group->nin + op->nin <= TN_FUSE_OPERANDS;
}

bool tn_fuse_is_before(const struct tn_fuser *f, const struct tn_op *a,
		       const struct tn_op *b)
{
	return f->order[a->id].step < f->order[b->id].step;
}

bool tn_fuse_add(struct tn_fuser *f, struct tn_fuse_group *group,
		 struct tn_op *op)
{
	struct tn_fuse_member **at = &group->first, *member;
	int i;

	member = tn_arena_alloc(&f->arena, sizeof(*member));
	if (!member)
		return false;
	while (*at && tn_fuse_is_before(f, (*at)->op, op))
		at = &(*at)->next;
	member->op = op;
	member->next = *at;
	*at = member;
	group->anchors += is_anchor(op);
	group->nin -= group->members++ > 0;
	for (i = 0; i < op->nin; i++)
		group->nin += !is_source(tn_graph_in(op, i));
	return tn_map_set(&f->of, op, group);
}

/* A group that will end with the op, without members yet; NULL: out of
 * memory. */
static struct tn_fuse_group *new_group(struct tn_fuser *f, struct tn_op *root)
{
	struct tn_fuse_group *group = tn_arena_alloc(&f->arena, sizeof(*group));

	if (!group || !tn_vec_push_ptr(&f->groups, group))
		return NULL;
	group->root = root;
	return group;
}

static bool is_ahead(const struct tn_fuser *f, const struct tn_op *op,
		     const struct tn_fuse_group *group)
{
	return tn_map_find(&f->ahead, op) == group;
}

/* The readers of an op, which are all in the group. */
struct readers {
	int all, ahead, maps;	/* ahead: the anchor and what it alone reads */
};

static struct readers count_readers(const struct tn_fuser *f,
				    const struct tn_fuse_group *group,
				    const struct tn_op *op)
{
	struct readers readers = { 0, 0, 0 };
	const struct tn_use *use;

	for (use = op->out[0]->uses; use; use = use->next) {
		readers.all++;
		readers.maps += is_map(use->op);
		readers.ahead += use->op == group->anchor ||
			is_ahead(f, use->op, group);
	}
	return readers;
}

/* Whether the op, all of whose readers are in the group, may join it; *ahead:
 * in its prologue. */
static bool fits(const struct tn_fuser *f, const struct tn_fuse_group *group,
		 const struct tn_op *op, bool *ahead)
{
	struct readers readers = count_readers(f, group, op);
	const struct tn_value *space = group->root->out[0];

	*ahead = readers.ahead > 0;
	if (!has_room(group, op) || (*ahead && readers.ahead < readers.all) ||
	    (!*ahead && readers.maps < readers.all))
		return false;
	if (*ahead && tn_ops[group->anchor->code].op_class != TN_CLASS_REDUCE)
		return false;
	if (*ahead)
		space = tn_graph_in(group->anchor, 0);
	if (!same_space(op, space) || (is_place(op) &&
				       readers.maps < readers.all))
		return false;
	return is_map(op) || is_place(op) || (!*ahead && !group->anchor);
}

/* ---- Epilogues ----------------------------------------------------------- */

static bool is_product(const struct tn_op *op)
{
	return is_anchor(op) &&
		tn_ops[op->code].op_class != TN_CLASS_REDUCE;
}

/* The last op of a prologue whose maps alone read `op`, element by element; or
 * NULL. */
static struct tn_op *end_of_prologue(const struct tn_fuser *f,
				     const struct tn_fuse_group *group,
				     const struct tn_op *op)
{
	struct tn_op *last = tn_graph_in(group->anchor, 0)->op;
	const struct tn_use *use;

	for (use = op->out[0]->uses; use; use = use->next)
		if (!is_map(use->op) || !is_ahead(f, use->op, group))
			return NULL;
	return same_space(op, last->out[0]) ? last : NULL;
}

/* The map that alone reads the op, if all else that it reads lies outside of
 * the group; or NULL. */
static struct tn_op *next_in_chain(const struct tn_fuser *f,
				   const struct tn_fuse_group *group,
				   const struct tn_op *op)
{
	const struct tn_use *use = op->out[0]->uses;
	struct tn_op *next = use ? use->op : NULL;
	int i;

	for (; use; use = use->next)
		if (use->op != next)
			return NULL;
	if (!next || !is_map(next) || !same_space(next, op->out[0]))
		return NULL;
	for (i = 0; i < next->nin; i++)
		if (tn_graph_in(next, i)->op != op &&
		    tn_graph_in(next, i)->op &&
		    tn_map_find(&f->of, tn_graph_in(next, i)->op) == group)
			return NULL;
	return next;
}

/* Marks those members of the group that are what follows `op`, a contraction
 * or window, alone: they are no matter of another one's. NULL: there are
 * none. */
static struct tn_op *mark_epilogue(struct tn_fuser *f,
				   const struct tn_fuse_group *group,
				   const struct tn_op *op)
{
	struct tn_op *last = NULL, *next;

	if (!group || !group->anchor || !is_product(op))
		return NULL;
	if (!is_product(group->anchor))
		return end_of_prologue(f, group, op);
	for (next = next_in_chain(f, group, op); next;
	     next = next_in_chain(f, group, next)) {
		if (!tn_map_set(&f->ahead, next, (void *)(uintptr_t)group))
			return NULL;
		last = next;
	}
	return last;
}

/* What is marked leaves the group and follows the anchor. */
static bool take_epilogue(struct tn_fuser *f, struct tn_fuse_group *from,
			  struct tn_op *anchor, struct tn_op *last)
{
	struct tn_fuse_group *to = new_group(f, last);
	struct tn_fuse_member *m = from->first;
	bool goes;

	if (!to || !tn_fuse_add(f, to, anchor))
		return false;
	to->anchor = anchor;
	from->first = NULL;
	from->members = from->anchors = from->nin = 0;
	for (; m; m = m->next) {
		goes = is_ahead(f, m->op, from);
		if (!tn_fuse_add(f, goes ? to : from, m->op) ||
		    (goes && !tn_map_set(&f->ahead, m->op, NULL)))
			return false;
	}
	return true;
}

/* ---- The walk ------------------------------------------------------------ */

static bool place(struct tn_fuser *f, struct tn_op *op)
{
	struct tn_fuse_group *group = tn_fuse_readers(f, op);
	struct tn_op *last;
	bool ahead = false;

	last = mark_epilogue(f, group, op);
	if (last)
		return take_epilogue(f, group, op, last);
	if (is_place(op) && (!group || !fits(f, group, op, &ahead)))
		return true;
	if (!group || !fits(f, group, op, &ahead)) {
		group = new_group(f, op);
		ahead = false;
	}
	if (!group || !tn_fuse_add(f, group, op) ||
	    (ahead && !tn_map_set(&f->ahead, op, group)))
		return false;
	if (is_anchor(op))
		group->anchor = op;
	return true;
}

static bool form_groups(struct tn_fuser *f, struct tn_block *block)
{
	struct tn_op *op;
	int i;

	for (op = block->last; op; op = op->prev) {
		for (i = 0; i < op->nregions; i++)
			if (!form_groups(f, op->regions[i]))
				return false;
		if ((is_map(op) || is_anchor(op) || is_place(op)) &&
		    !place(f, op))
			return false;
		if (op->nout == 1 && is_counting(op->out[0]) &&
		    op->out[0]->uses && !tn_map_set(&f->counting, op, op))
			return false;
	}
	return true;
}

static const char *kind_of(const struct tn_fuse_group *group)
{
	if (group->is_rows)
		return "rows";
	if (!group->anchors)
		return "map";
	switch ((int)tn_ops[group->anchor->code].op_class) {
	case TN_CLASS_CONTRACT:
		return "contract";
	case TN_CLASS_WINDOW:
		return "window";
	default:
		return "reduce";
	}
}

static bool counts(const struct tn_fuse_group *group)
{
	const struct tn_op *op = group->first ? group->first->op : NULL;
	int i;

	for (i = 0; op && i < op->nin; i++)
		if (is_counting(tn_graph_in(op, i)))
			return true;
	return false;
}

/* A group of several becomes a function. */
static bool outline(struct tn_fuser *f, const struct tn_fuse_group *group)
{
	struct tn_rw *rw = f->context->rw;
	struct tn_op *list[TN_FUSE_MEMBERS];
	struct tn_rw_group outlined = {
		.name = f->context->entry->name, .number = &f->made,
		.kind = kind_of(group), .ops = list,
		.is_source = is_source
	};
	const struct tn_fuse_member *member;

	if ((group->members < 2 && !counts(group)) ||
	    !tn_rw_spend(rw, "fuse", group->root))
		return true;
	for (member = group->first; member; member = member->next)
		list[outlined.nops++] = member->op;
	return tn_rw_outline(rw, &outlined) != NULL;
}

/* What every reader has a copy of. */
static void drop_copied(struct tn_fuser *f, struct tn_block *block)
{
	struct tn_op *op, *prev;
	int i;

	for (op = block->last; op; op = prev) {
		prev = op->prev;
		for (i = 0; i < op->nregions; i++)
			drop_copied(f, op->regions[i]);
		if (tn_map_has(&f->counting, op) && !op->out[0]->uses)
			tn_rw_erase(f->context->rw, op);
	}
}

static bool fuse(struct tn_fuser *f)
{
	struct tn_block *body = f->context->entry->body;
	size_t i;

	f->order = tn_analyses_order(f->context->analyses);
	if (!f->order || !tn_fuse_sizes(f) || !form_groups(f, body) ||
	    !tn_fuse_rows(f, body))
		return false;
	for (i = f->groups.len; i-- > 0;)
		if (!outline(f, tn_vec_ptr(&f->groups, i)))
			return false;
	drop_copied(f, body);
	return true;
}

enum tn_pass_result tn_pass_fuse(struct tn_pass_context *context)
{
	struct tn_fuser f = { .context = context };
	bool good;

	tn_arena_init(&f.arena);
	tn_vec_init(&f.groups, sizeof(struct tn_fuse_group *), NULL);
	tn_map_init_ptr(&f.of);
	tn_map_init_ptr(&f.ahead);
	tn_map_init_ptr(&f.counting);
	good = fuse(&f);
	tn_vec_fini(&f.groups);
	tn_map_fini(&f.of);
	tn_map_fini(&f.ahead);
	tn_map_fini(&f.counting);
	tn_arena_fini(&f.arena);
	if (!good) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return f.made ? TN_PASS_CHANGED : TN_PASS_SAME;
}
