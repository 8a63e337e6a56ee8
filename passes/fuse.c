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
 * - a map that a reduction alone reads, element by element: its prologue;
 * - a broadcast or a slice that maps alone read: they read what it was made of.
 * Scalar constants and sizes are copied into the group. A group is closed under
 * paths: a member other than the last is read inside the group alone, and the
 * group stands at the place of its last member, after all its operands.
 */
#include "passes/pass.h"

#include <string.h>

#define MAX_MEMBERS 128
#define MAX_OPERANDS 48

struct member {
	struct tn_op *op;
	struct member *next;
};

struct group {
	struct tn_op *root;
	const struct tn_op *anchor;	/* or NULL */
	struct member *first;	/* in order of the text; root is the last */
	int members;
	int nin;		/* operands, at most */
};

struct fuser {
	struct tn_pass_context *context;
	struct tn_arena arena;	/* groups and members */
	struct tn_vec groups;	/* struct group * */
	struct tn_map of;	/* op -> group */
	struct tn_map ahead;	/* member of a prologue -> group */
	int made;
};

static bool is_map(const struct tn_op *op)
{
	return tn_ops[op->code].op_class == TN_CLASS_MAP;
}

/* Constants that each group may hold a copy of. */
static bool is_scalar_source(const struct tn_value *value)
{
	return value->op && value->type->rank == 0 &&
		tn_op_has(value->op->code, TN_FLAG_LITERAL);
}

/* What has a nest of its own, in which maps find room. */
static bool is_anchor(const struct tn_op *op)
{
	enum tn_op_class op_class = tn_ops[op->code].op_class;

	return op->nout == 1 &&
		(op_class == TN_CLASS_CONTRACT ||
		 op_class == TN_CLASS_WINDOW || op_class == TN_CLASS_REDUCE);
}

/* What is read as well where it comes from: rows stay rows. */
static bool is_place(const struct tn_op *op)
{
	enum tn_srule srule = tn_ops[op->code].srule;

	return srule == TN_SRULE_BROADCAST || srule == TN_SRULE_SLICE;
}

static bool same_space(const struct tn_op *a, const struct tn_value *b)
{
	const struct tn_type *s = a->out[0]->type, *t = b->type;

	return s->rank == t->rank &&
		(s->rank == 0 || !memcmp(s->dims, t->dims, (size_t)s->rank *
					 sizeof(const struct tn_dim *)));
}

/* The one group that reads all of the op's result, or NULL. */
static struct group *group_of_readers(const struct fuser *f,
				      const struct tn_op *op)
{
	struct group *group = NULL, *other;
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
static bool has_room(const struct group *group, const struct tn_op *op)
{
	return group->members < MAX_MEMBERS &&
		group->nin + op->nin <= MAX_OPERANDS;
}

/* Ops join from the last to the first. */
static bool join(struct fuser *f, struct group *group, struct tn_op *op)
{
	struct member *member = tn_arena_alloc(&f->arena, sizeof(*member));
	int i;

	if (!member)
		return false;
	member->op = op;
	member->next = group->first;
	group->first = member;
	group->nin -= group->members++ > 0;
	for (i = 0; i < op->nin; i++)
		group->nin += !is_scalar_source(tn_graph_in(op, i));
	return tn_map_set(&f->of, op, group);
}

static struct group *new_group(struct fuser *f, struct tn_op *root)
{
	struct group *group = tn_arena_alloc(&f->arena, sizeof(*group));

	if (!group || !tn_vec_push_ptr(&f->groups, group))
		return NULL;
	group->root = root;
	return group;
}

/* The readers of an op, which are all in the group. */
struct readers {
	int all, ahead, maps;	/* ahead: the anchor and what it alone reads */
};

static struct readers count_readers(const struct fuser *f,
				    const struct group *group,
				    const struct tn_op *op)
{
	struct readers readers = { 0, 0, 0 };
	const struct tn_use *use;

	for (use = op->out[0]->uses; use; use = use->next) {
		readers.all++;
		readers.maps += is_map(use->op);
		readers.ahead += use->op == group->anchor ||
			tn_map_has(&f->ahead, use->op);
	}
	return readers;
}

/* Whether the op, all of whose readers are in the group, may join it; *ahead:
 * in its prologue. */
static bool fits(const struct fuser *f, const struct group *group,
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

static bool place(struct fuser *f, struct tn_op *op)
{
	struct group *group = group_of_readers(f, op);
	bool ahead = false;

	if (is_place(op) && (!group || !fits(f, group, op, &ahead)))
		return true;
	if (!group || !fits(f, group, op, &ahead)) {
		group = new_group(f, op);
		ahead = false;
	}
	if (!group || !join(f, group, op) ||
	    (ahead && !tn_map_set(&f->ahead, op, group)))
		return false;
	if (is_anchor(op))
		group->anchor = op;
	return true;
}

static bool form_groups(struct fuser *f, struct tn_block *block)
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
	}
	return true;
}

static const char *kind_of(const struct group *group)
{
	if (!group->anchor)
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

/* A group of several becomes a function. */
static bool outline(struct fuser *f, const struct group *group)
{
	struct tn_rw *rw = f->context->rw;
	struct tn_op *list[MAX_MEMBERS];
	struct tn_rw_group outlined = {
		.name = f->context->entry->name, .number = &f->made,
		.kind = kind_of(group), .ops = list, .is_source = is_scalar_source
	};
	const struct member *member;

	if (group->members < 2 || !tn_rw_spend(rw, "fuse", group->root))
		return true;
	for (member = group->first; member; member = member->next)
		list[outlined.nops++] = member->op;
	return tn_rw_outline(rw, &outlined) != NULL;
}

enum tn_pass_result tn_pass_fuse(struct tn_pass_context *context)
{
	struct fuser f = { .context = context };
	bool good;
	size_t i;

	tn_arena_init(&f.arena);
	tn_vec_init(&f.groups, sizeof(struct group *), NULL);
	tn_map_init_ptr(&f.of);
	tn_map_init_ptr(&f.ahead);
	good = form_groups(&f, context->entry->body);
	for (i = f.groups.len; good && i-- > 0;)
		good = outline(&f, tn_vec_ptr(&f.groups, i));
	tn_vec_fini(&f.groups);
	tn_map_fini(&f.of);
	tn_map_fini(&f.ahead);
	tn_arena_fini(&f.arena);
	if (!good) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return f.made ? TN_PASS_CHANGED : TN_PASS_SAME;
}
