/*
 * fuse: chains and trees of maps become one function each.
 *
 *   t = add(z, b);                 fn main__f0(z, b) -> f32[B, 256] @fused
 *   h = max(t, 0.0);       ->      h = main__f0(z, b);
 *
 * A map joins the group of its readers when all of them are in one group and
 * work on the same shape, so nothing is computed twice. Scalar constants and
 * sizes are copied into the group. A group is closed under paths: a member
 * other than the last is read inside the group alone, and the group stands at
 * the place of its last member, after all its operands.
 */
#include "passes/pass.h"

#include <string.h>

enum tn_pass_result tn_pass_fuse(struct tn_pass_context *context);

#define MAX_MEMBERS 128
#define MAX_OPERANDS 48

struct member {
	struct tn_op *op;
	struct member *next;
};

struct group {
	struct tn_op *root;
	struct member *first;	/* in order of the text; root is the last */
	int members;
	int nin;		/* operands, at most */
};

struct fuser {
	struct tn_pass_context *context;
	struct tn_arena arena;	/* groups and members */
	struct tn_vec groups;	/* struct group * */
	struct tn_map of;	/* op -> group */
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

static bool same_space(const struct tn_op *a, const struct tn_op *b)
{
	const struct tn_type *s = a->out[0]->type, *t = b->out[0]->type;

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
	struct member *member = tn_arena_alloc(&f->arena, sizeof *member);
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
	struct group *group = tn_arena_alloc(&f->arena, sizeof *group);

	if (!group || !tn_vec_push_ptr(&f->groups, group))
		return NULL;
	group->root = root;
	return group;
}

static bool form_groups(struct fuser *f, struct tn_block *block)
{
	struct group *group;
	struct tn_op *op;
	int i;

	for (op = block->last; op; op = op->prev) {
		for (i = 0; i < op->nregions; i++)
			if (!form_groups(f, op->regions[i]))
				return false;
		if (!is_map(op))
			continue;
		group = group_of_readers(f, op);
		if (!group || !same_space(op, group->root) ||
		    !has_room(group, op))
			group = new_group(f, op);
		if (!group || !join(f, group, op))
			return false;
	}
	return true;
}

/* A group of several becomes a function. */
static bool outline(struct fuser *f, const struct group *group)
{
	struct tn_rw *rw = f->context->rw;
	struct tn_op *list[MAX_MEMBERS];
	struct tn_rw_group outlined = {
		.name = f->context->entry->name, .number = &f->made,
		.kind = "map", .ops = list, .is_source = is_scalar_source
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
	good = form_groups(&f, context->entry->body);
	for (i = f.groups.len; good && i-- > 0;)
		good = outline(&f, tn_vec_ptr(&f.groups, i));
	tn_vec_fini(&f.groups);
	tn_map_fini(&f.of);
	tn_arena_fini(&f.arena);
	if (!good) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return f.made ? TN_PASS_CHANGED : TN_PASS_SAME;
}
