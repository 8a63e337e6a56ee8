/*
 * precompute: what is made of weights and constants alone becomes a weight.
 *
 *   d = sqrt(var);                  weight main__s: f32[16] =
 *   s = div(gamma, d);        ->        main__w0(var, gamma);
 *   y = mul(x, s);                  y = mul(x, main__s);
 *
 * An operator whose operands are all fixed joins the group of its readers if
 * that is one; else it is the root of a group, which becomes a function, and
 * its value a weight that the function makes when the program is built. Equal
 * groups share one function.
 *
 * Left at run time: views, which cost nothing, but for weights of windows; what
 * takes more bytes than the weights that it is made of, and more than `limit`;
 * what takes more than MAX_STEPS; what may raise the flag, and random numbers.
 */
#include "passes/pass.h"

#include <string.h>

#include "base/num.h"
#include "ir/fixed.h"
#include "ir/view.h"
#include "passes/fold.h"

/* Bytes of a weight that is larger than what it is made of. */
#define LIMIT 4096
#define MAX_MEMBERS 64
#define MAX_SOURCES 32
/* Elements that the interpreter makes for one weight, and for all: some ten
 * nanoseconds each. */
#define MAX_STEPS ((int64_t)1 << 28)
#define MAX_ALL_STEPS ((int64_t)1 << 30)
/* Bytes that all weights made here may have together. */
#define MAX_BYTES ((int64_t)1 << 32)

enum fixed { LOOSE, CONSTANT, FIXED };

/* What is known of an op, by its number. */
struct info {
	struct tn_op *op;
	enum fixed fixed;
	int64_t bytes;		/* of the result */
	int64_t source;		/* of the weights behind it, about */
	int64_t steps;
	struct group *group;
	struct info *next;	/* member of the group */
};

struct group {
	struct info *first, *root;	/* in order of the text */
	int nops;
	int64_t steps;
};

/* A function made for a group; those of the same form in a list. */
struct maker {
	struct tn_fn *fn;
	struct maker *next;
};

struct precompute {
	struct tn_pass_context *context;
	struct tn_arena arena;
	struct tn_vec infos;	/* struct info, in order of the text */
	struct tn_vec groups;	/* struct group *, the last one first */
	struct tn_map weights;	/* value -> struct tn_weight * */
	struct tn_map makers;	/* hash -> struct maker * */
	int64_t limit, bytes, steps;
	int made;		/* functions */
	bool changed;
};

/* ---- What is fixed ------------------------------------------------------ */

static struct info *info_of(const struct precompute *p,
			    const struct tn_op *op)
{
	return tn_vec_at(&p->infos, (size_t)op->number);
}

/* -1: no number, or not known. */
static int64_t bytes_of(const struct tn_type *type)
{
	return tn_type_is_static(type) ? tn_type_max_bytes(NULL, type) : -1;
}

/* Elements read and made; what moves reads no more than it makes. */
static int64_t steps_of(const struct tn_op *op)
{
	int64_t steps = tn_fold_steps(op), bytes;
	int i;

	if (tn_ops[op->code].op_class == TN_CLASS_MOVE)
		return steps;
	for (i = 0; i < op->nin && steps >= 0; i++) {
		bytes = bytes_of(tn_graph_in(op, i)->type);
		if (bytes < 0 || !tn_num_add(steps, bytes, &steps))
			return -1;
	}
	return steps;
}

/* How far an operand is fixed, and the bytes behind it. */
static enum fixed operand(const struct precompute *p,
			  const struct tn_value *value, int64_t *source)
{
	const struct info *info;

	if (tn_fixed_is_weight(value)) {
		*source = bytes_of(value->type);
		return *source >= 0 ? FIXED : LOOSE;
	}
	*source = 0;
	if (!value->op)
		return LOOSE;
	info = info_of(p, value->op);
	*source = info->source < info->bytes ? info->source : info->bytes;
	return info->fixed;
}

/* How far all operands are, and the bytes behind them. */
static enum fixed operands(const struct precompute *p, const struct tn_op *op,
			   int64_t *sources)
{
	enum fixed all = CONSTANT, one;
	int64_t source;
	int i;

	*sources = 0;
	for (i = 0; i < op->nin; i++) {
		one = operand(p, tn_graph_in(op, i), &source);
		if (one == LOOSE || !tn_num_add(*sources, source, sources))
			return LOOSE;
		if (one == FIXED)
			all = FIXED;
	}
	return all;
}

static void look_at(const struct precompute *p, struct info *info)
{
	const struct tn_op *op = info->op;
	struct tn_rw *rw = p->context->rw;
	enum fixed fixed = operands(p, op, &info->source);

	if (fixed == LOOSE || tn_ops[op->code].op_class == TN_CLASS_FLOW)
		return;
	if (!tn_fixed_op(op)) {
		if (fixed == FIXED && tn_op_has(op->code, TN_FLAG_RAISES))
			tn_rw_miss(rw, "precompute", op, NULL, "run time may "
				   "have to raise the flag for it");
		return;
	}
	info->bytes = bytes_of(op->out[0]->type);
	info->steps = steps_of(op);
	if (info->bytes >= 0 && info->steps >= 0 && info->steps <= MAX_STEPS)
		info->fixed = fixed;
	else if (fixed == FIXED)
		tn_rw_miss(rw, "precompute", op, NULL,
			   "computing it takes too many steps");
}

static bool collect(void *data, struct tn_op *op)
{
	struct precompute *p = data;
	struct info *info = tn_vec_push(&p->infos);

	if (!info)
		return false;
	info->op = op;
	op->number = (int)p->infos.len - 1;
	look_at(p, info);
	return true;
}

/* ---- Groups ------------------------------------------------------------- */

static bool is_literal(const struct tn_value *value)
{
	return value->op && tn_op_has(value->op->code, TN_FLAG_LITERAL);
}

/* The one group that reads all of the result in its own block, or NULL. */
static struct group *group_of_readers(const struct precompute *p,
				      const struct tn_op *op)
{
	struct group *group = NULL, *other;
	const struct tn_use *use;

	for (use = op->out[0]->uses; use; use = use->next) {
		other = info_of(p, use->op)->group;
		if (!other || (group && other != group) ||
		    use->op->block != op->block)
			return NULL;
		group = other;
	}
	return group;
}

/* The weights of a window, which will lie as its kernel likes them: as a weight
 * they can, as a view of another they must lie as that does. */
static bool is_for_window(const struct tn_value *value)
{
	const struct tn_use *use;

	for (use = value->uses; use; use = use->next)
		if (tn_ops[use->op->code].op_class != TN_CLASS_WINDOW)
			return false;
	return value->uses != NULL;
}

/* Whether the value is better kept than made at each run. */
static bool is_worthwhile(const struct precompute *p, const struct info *info)
{
	const struct tn_value *value = info->op->out[0];
	int64_t offset;

	if (info->fixed != FIXED || !value->uses ||
	    (tn_view_of(info->op, &offset) && !is_for_window(value)))
		return false;
	if (info->bytes <= info->source || info->bytes <= p->limit)
		return true;
	tn_rw_miss(p->context->rw, "precompute", info->op, NULL,
		   "it would take %lld bytes, the weights behind it have %lld",
		   (long long)info->bytes, (long long)info->source);
	return false;
}

static void join(struct group *group, struct info *info)
{
	info->group = group;
	info->next = group->first;
	group->first = info;
	group->nops++;
	group->steps += info->steps;
}

static bool place(struct precompute *p, struct info *info)
{
	struct group *group;

	if (info->fixed == LOOSE ||
	    tn_op_has(info->op->code, TN_FLAG_LITERAL))
		return true;
	group = group_of_readers(p, info->op);
	if (group && group->nops < MAX_MEMBERS &&
	    group->steps + info->steps <= MAX_STEPS) {
		join(group, info);
		return true;
	}
	if (!is_worthwhile(p, info))
		return true;
	group = tn_arena_alloc(&p->arena, sizeof(*group));
	if (!group || !tn_vec_push_ptr(&p->groups, group))
		return false;
	group->root = info;
	join(group, info);
	return true;
}

/* ---- Functions that there are ------------------------------------------- */

/* A group held against a function, op by op. */
struct pairing {
	struct tn_map map;	/* value of the group -> of the function */
	const struct tn_op *at;	/* next op of the function */
	const struct tn_fn *fn;
	int nparams;		/* met so far */
	bool failed;
};

static bool same_tensor(const struct tn_tensor *a, const struct tn_tensor *b)
{
	int64_t bytes = tn_tensor_bytes(a);

	return a->dtype == b->dtype && bytes == tn_tensor_bytes(b) &&
		(bytes == 0 || !memcmp(a->data, b->data, (size_t)bytes));
}

static bool same_op(const struct tn_op *a, const struct tn_op *b)
{
	int i;

	if (a->code != b->code || a->nin != b->nin ||
	    a->out[0]->type != b->out[0]->type || !a->literal != !b->literal ||
	    (a->literal && !same_tensor(a->literal, b->literal)))
		return false;
	for (i = 0; i < a->nattrs; i++)
		if (!tn_attr_same(&a->attrs[i], &b->attrs[i]))
			return false;
	return true;
}

/* A value from outside: the function's next parameter, or its next op. */
static bool pair_outer(struct pairing *pair, const struct tn_value *value)
{
	const struct tn_block *body = pair->fn->body;
	const struct tn_value *to;

	if (is_literal(value)) {
		if (!pair->at || !same_op(value->op, pair->at))
			return false;
		to = pair->at->out[0];
		pair->at = pair->at->next;
	} else {
		if (pair->nparams == body->nparams)
			return false;
		to = body->params[pair->nparams++];
		if (to->type != value->type)
			return false;
	}
	if (tn_map_set(&pair->map, value, (void *)(uintptr_t)to))
		return true;
	pair->failed = true;
	return false;
}

static bool pair_op(struct pairing *pair, const struct tn_op *op)
{
	const struct tn_value *value;
	int i;

	for (i = 0; i < op->nin; i++) {
		value = tn_graph_in(op, i);
		if (!tn_map_has(&pair->map, value) &&
		    !pair_outer(pair, value))
			return false;
	}
	if (!pair->at || !same_op(op, pair->at))
		return false;
	for (i = 0; i < op->nin; i++)
		if (tn_map_find(&pair->map, tn_graph_in(op, i)) !=
		    tn_graph_in(pair->at, i))
			return false;
	if (!tn_map_set(&pair->map, op->out[0], pair->at->out[0])) {
		pair->failed = true;
		return false;
	}
	pair->at = pair->at->next;
	return true;
}

/* Whether the function is what the group would become. */
static bool is_maker(const struct group *group, const struct tn_fn *fn)
{
	struct pairing pair = { .fn = fn, .at = fn->body->first };
	const struct info *info;
	bool same = true;

	tn_map_init_ptr(&pair.map);
	for (info = group->first; info && same; info = info->next)
		same = pair_op(&pair, info->op);
	same = same && pair.at == fn->body->last &&
		pair.nparams == fn->body->nparams &&
		tn_map_find(&pair.map, group->root->op->out[0]) ==
		tn_graph_in(fn->body->last, 0);
	tn_map_fini(&pair.map);
	return same;
}

/* Ops and types in order. */
static const void *key_of(const struct group *group)
{
	uint64_t hash = 1;
	const struct info *info;

	for (info = group->first; info; info = info->next) {
		hash = tn_hash_mix(hash, (uint64_t)info->op->code);
		hash = tn_hash_mix(hash, (uintptr_t)info->op->out[0]->type);
	}
	return (const void *)(uintptr_t)hash;
}

/* ---- Weights ------------------------------------------------------------ */

/* Operands from outside in order, as the maker's parameters have them; -1:
 * one is no weight, or there are too many. */
static int find_sources(const struct precompute *p, const struct group *group,
			struct tn_weight *sources[MAX_SOURCES])
{
	const struct tn_value *value;
	struct tn_weight *weight;
	const struct info *info;
	int count = 0, i, k;

	for (info = group->first; info; info = info->next)
		for (i = 0; i < info->op->nin; i++) {
			value = tn_graph_in(info->op, i);
			if (is_literal(value) || (value->op &&
			    info_of(p, value->op)->group == group))
				continue;
			weight = tn_map_find(&p->weights, value);
			for (k = 0; k < count && sources[k] != weight; k++)
				;
			if (!weight || k == MAX_SOURCES)
				return -1;
			sources[k] = weight;
			count += k == count;
		}
	return count;
}

static struct tn_fn *make_fn(struct precompute *p, const struct group *group)
{
	struct tn_op *ops[MAX_MEMBERS];
	struct tn_rw_group outlined = {
		.name = p->context->entry->name, .number = &p->made,
		.ops = ops, .is_source = is_literal
	};
	const struct info *info;
	struct tn_vec operands;
	struct tn_fn *fn;

	for (info = group->first; info; info = info->next)
		ops[outlined.nops++] = info->op;
	tn_vec_init(&operands, sizeof(struct tn_value *), NULL);
	fn = tn_rw_outline_fn(p->context->rw, &outlined, &operands);
	tn_vec_fini(&operands);
	return fn;
}

/* The function for the group: one that there is, or a new one. */
static struct tn_fn *find_fn(struct precompute *p, const struct group *group)
{
	const void *key = key_of(group);
	struct maker *first = tn_map_find(&p->makers, key), *maker;

	for (maker = first; maker; maker = maker->next)
		if (is_maker(group, maker->fn))
			return maker->fn;
	maker = tn_arena_alloc(&p->arena, sizeof(*maker));
	if (!maker || !tn_map_set(&p->makers, key, maker))
		return NULL;
	maker->next = first;
	maker->fn = make_fn(p, group);
	return maker->fn;
}

/* The weight takes the root's place, and the members go, the last ones first,
 * so that none is read any more. */
static bool put_weight(struct precompute *p, struct group *group,
		       struct tn_value *value)
{
	struct tn_weight *weight = tn_map_find(
		&p->context->module->weight_names, value->name);
	struct tn_op *ops[MAX_MEMBERS];
	const struct info *info;
	int count = 0;

	if (!weight || !tn_map_set(&p->weights, value, weight))
		return false;
	for (info = group->first; info; info = info->next)
		ops[count++] = info->op;
	tn_rw_replace(p->context->rw, ops[--count], &value);
	while (count-- > 0)
		tn_rw_erase(p->context->rw, ops[count]);
	p->changed = true;
	return true;
}

static bool materialise(struct precompute *p, struct group *group)
{
	struct tn_weight *sources[MAX_SOURCES];
	struct tn_rw *rw = p->context->rw;
	const struct tn_op *root = group->root->op;
	struct tn_value *value;
	struct tn_fn *fn;

	if (find_sources(p, group, sources) < 0)
		return true;
	if (p->steps + group->steps > MAX_ALL_STEPS ||
	    p->bytes + group->root->bytes > MAX_BYTES) {
		tn_rw_miss(rw, "precompute", root, NULL,
			   "with it all weights that are computed would be too "
			   "large, or take too many steps");
		return true;
	}
	if (!tn_rw_spend(rw, "precompute", root))
		return true;
	p->steps += group->steps;
	p->bytes += group->root->bytes;
	fn = find_fn(p, group);
	value = fn ? tn_rw_weight(rw, root->out[0], fn, sources) : NULL;
	return value && put_weight(p, group, value);
}

static bool note_weights(struct precompute *p)
{
	const struct tn_vec *weights = &p->context->module->weights;
	struct tn_weight *weight;
	size_t i;

	for (i = 0; i < weights->len; i++) {
		weight = tn_vec_ptr(weights, i);
		if (!tn_map_set(&p->weights, weight->value, weight))
			return false;
	}
	return true;
}

static bool run(struct precompute *p)
{
	size_t i;

	if (!note_weights(p) ||
	    !tn_pass_walk(p->context->entry->body, collect, p))
		return false;
	for (i = p->infos.len; i-- > 0;)
		if (!place(p, tn_vec_at(&p->infos, i)))
			return false;
	for (i = p->groups.len; i-- > 0;)
		if (!materialise(p, tn_vec_ptr(&p->groups, i)))
			return false;
	return true;
}

enum tn_pass_result tn_pass_precompute(struct tn_pass_context *context)
{
	struct precompute p = { .context = context };
	bool good;

	p.limit = tn_pass_option(context, "limit", LIMIT);
	tn_arena_init(&p.arena);
	tn_vec_init(&p.infos, sizeof(struct info), NULL);
	tn_vec_init(&p.groups, sizeof(struct group *), NULL);
	tn_map_init_ptr(&p.weights);
	tn_map_init_ptr(&p.makers);
	good = run(&p);
	tn_map_fini(&p.weights);
	tn_map_fini(&p.makers);
	tn_vec_fini(&p.infos);
	tn_vec_fini(&p.groups);
	tn_arena_fini(&p.arena);
	if (!good) {
		context->rw->failed = true;
		return TN_PASS_FAILED;
	}
	return p.changed ? TN_PASS_CHANGED : TN_PASS_SAME;
}
